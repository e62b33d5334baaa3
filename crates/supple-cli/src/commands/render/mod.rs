//! `supple render`: pictures and video without a window.

pub(crate) mod played;
mod shot;
mod show;

use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use glam::Vec3;
use supple::mesh::section::Plane;
use supple_gpu::encode::{self, Animation};
use supple_gpu::sheet::{contact_sheet, spread_frames};
use supple_gpu::view::Backdrop;
use supple_gpu::{Image, Renderer};

use self::played::PlayedScene;
use self::shot::Shot;
pub(crate) use self::show::Show;
use super::number;
use crate::shell::Shell;

/// Take pictures or video of a scene, a mesh or a bake, without a window
///
/// The ending of the output says what is made: .png for a picture, .webp or .gif for an animation,
/// .mp4, .mov, .mkv or .webm for video (through ffmpeg, when it is installed).
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// A scene (.toml), a mesh or character, or a folder with a baked GLB
    input: PathBuf,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Which frame a picture shows, counted from 0; by default the first, or the last if bodies are only edited
    #[arg(long, value_name = "N", conflicts_with_all = ["frames", "sheet"])]
    frame: Option<u32>,
    /// Which frames an animation or sheet shows, the end not included: 10..20
    #[arg(long, value_name = "A..B", value_parser = super::bake::frame_range)]
    frames: Option<Range<u32>>,
    /// Put this many frames on one page
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    sheet: Option<u32>,
    /// Columns of the page; about a square of pictures if not given
    #[arg(long, value_name = "N", requires = "sheet", default_value_t = 0)]
    columns: u32,
    /// Turn once round the subject in this many frames
    #[arg(long, value_name = "FRAMES", conflicts_with_all = ["frames", "sheet"],
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    turntable: Option<u32>,
    /// Play more than 100,000 frames
    #[arg(long)]
    yes: bool,
    /// Take longer to make a PNG of about half the size
    #[arg(long)]
    small: bool,
    #[command(flatten)]
    look: Look,
}

const EXAMPLES: &str = "\
Examples:
  supple render cow.glb -o cow.png --from 1,0.3,1
  supple render cow.glb -o softness.png --field softness
  supple render scene.toml -o moments.png --sheet 4 --columns 4 --size 320x360
  supple render scene.toml -o take.mp4 --show springs,colliders --opacity 0.6
  supple render heart.toml -o heart.png --frame 8 --section y=0 --from 0.3,1,0.3
  supple render before.ply --compare after.ply -o both.png --label \"before|after\"
  supple render scan.ply -o round.webp --turntable 48";

/// How it looks and from where.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Look {
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size)]
    pub(crate) size: [u32; 2],
    /// Colour by a painted field, or by `displacement` from the rest shape
    #[arg(long, value_name = "NAME")]
    pub(crate) field: Option<String>,
    /// Show another shape with the same vertices beside it, coloured by the difference
    #[arg(long, value_name = "OTHER",
          conflicts_with_all = ["field", "show", "opacity", "backdrop", "eye", "camera"])]
    pub(crate) compare: Option<PathBuf>,
    /// Take away what lies beyond a plane and fill the cut: y=0.1, -x=0, or 1,1,0=0.5 for a normal and a distance
    #[arg(long, value_name = "PLANE", value_parser = plane, allow_hyphen_values = true, conflicts_with = "compare")]
    pub(crate) section: Option<Plane>,
    /// Draw the edges of the triangles
    #[arg(long)]
    pub(crate) wireframe: bool,
    /// Shade every triangle flat
    #[arg(long)]
    pub(crate) flat: bool,
    /// Show how the bodies are moved, over the picture
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) show: Vec<Show>,
    /// What stands behind and below
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub(crate) backdrop: Behind,
    /// How much the bodies cover of what is behind and inside them, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share)]
    pub(crate) opacity: f32,
    /// Which camera of the file, by its name or number; the first if not given
    #[arg(long, value_name = "NAME", conflicts_with_all = ["from", "eye"])]
    pub(crate) camera: Option<String>,
    /// Direction from the subject to the camera; the distance is found by itself
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true)]
    pub(crate) from: Option<Vec3>,
    /// Where the camera is; with --target
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true, requires = "target")]
    pub(crate) eye: Option<Vec3>,
    /// What the camera looks at; with --eye
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true, requires = "eye")]
    pub(crate) target: Option<Vec3>,
    /// How much the camera of --eye sees from top to bottom, in degrees
    #[arg(long, value_parser = number::<f64>, value_name = "DEGREES", default_value_t = 35.0, requires = "eye")]
    pub(crate) fov: f64,
    /// Which way is up
    #[arg(long, value_name = "AXIS", default_value = "y", value_parser = axis)]
    pub(crate) up: Vec3,
    /// Words in the corner of the picture; with --compare, of both: "first|second"
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<String>,
}

/// What stands behind and below the subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Behind {
    /// A floor that takes shadows and fades into the background
    #[default]
    Studio,
    /// The same with a wall close behind that takes shadows too
    Wall,
    /// The background alone
    Plain,
    /// Nothing: transparent but for the subject and its shadow
    Clear,
    /// A dark background without a floor: for white smoke
    Dark,
}

impl From<Behind> for Backdrop {
    fn from(behind: Behind) -> Self {
        match behind {
            Behind::Studio => Self::Studio,
            Behind::Wall => Self::Wall,
            Behind::Plain => Self::Plain,
            Behind::Clear => Self::Clear,
            Behind::Dark => Self::Dark,
        }
    }
}

impl Default for Look {
    fn default() -> Self {
        Self {
            size: [1280, 720],
            field: None,
            compare: None,
            section: None,
            wireframe: false,
            flat: false,
            show: Vec::new(),
            backdrop: Behind::Studio,
            opacity: 1.0,
            camera: None,
            from: None,
            eye: None,
            target: None,
            fov: 35.0,
            up: Vec3::Y,
            label: None,
        }
    }
}

/// Frames that are played without being asked for one by one: more than an hour of film.
const MOST_FRAMES: u32 = 100_000;

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    check_output(args)?;
    check_camera(&args.look)?;
    // A driver takes a while to wake up; the input is read meanwhile.
    let (renderer, played) = shell.both(Renderer::new, || PlayedScene::open(&args.input, shell));
    let (mut renderer, mut played) = (renderer?, played?);
    supple::io::check_output(&args.output)?;
    match &args.look.compare {
        Some(other) => compare(args, &mut played, other, &mut renderer, shell)?,
        None => take(args, &mut played, &mut renderer, shell)?,
    }
    let crowded = renderer.crowded_pixels();
    if crowded > 0 {
        let layers = format!(
            "{crowded} pixels have more than 64 transparent layers; what lies behind the nearest 64 is \
             shown in its mean colour: raise --opacity to see less of it"
        );
        shell.warn("render", &[layers]);
    }
    shell.say(args.output.display().to_string());
    if shell.options().json {
        shell.print_json(&serde_json::json!({ "file": args.output, "size": args.look.size }))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Says what is wrong with the name of the output before any work is done for it.
fn check_output(args: &Args) -> anyhow::Result<()> {
    let path = &args.output;
    if (args.sheet.is_some() || args.look.compare.is_some()) && ending(path) != "png" {
        bail!("{}: a single picture is written as .png", path.display());
    }
    encode::check(path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => {
            bail!("cannot write {}: there is no folder {}", path.display(), folder.display())
        }
        _ => Ok(()),
    }
}

/// Says what is wrong with a camera that sees nothing.
fn check_camera(look: &Look) -> anyhow::Result<()> {
    if look.eye.is_some() && look.eye == look.target {
        bail!("--eye and --target are the same point: the camera looks nowhere; move one of them");
    }
    if look.from == Some(Vec3::ZERO) {
        bail!("--from 0,0,0 is no direction; write one like 1,0.5,1");
    }
    if !(0.1..180.0).contains(&look.fov) {
        bail!("--fov {}: give an angle between 0.1 and 180 degrees", look.fov);
    }
    Ok(())
}

fn take(
    args: &Args,
    played: &mut PlayedScene,
    renderer: &mut Renderer,
    shell: &Shell,
) -> anyhow::Result<()> {
    let is_picture = ending(&args.output) == "png";
    if let Some(count) = args.turntable {
        return turntable(args, played, renderer, count, shell);
    }
    if let Some(count) = args.sheet {
        return save(&sheet(args, played, renderer, count, shell)?, &args.output, args.small);
    }
    if is_picture && args.frames.is_none() {
        let frame = args.frame.unwrap_or_else(|| played.player().shown_frame());
        check_length(frame, args.yes)?;
        let shot = Shot::new(played, &[frame], &args.look, shell)?;
        return save(&shot.take(played, frame, renderer, shell)?, &args.output, args.small);
    }
    let frames = wanted_frames(played, args)?;
    animate(args, played, renderer, frames, shell)
}

/// All pictures of a range of frames, one after the other.
fn animate(
    args: &Args,
    played: &mut PlayedScene,
    renderer: &mut Renderer,
    frames: Range<u32>,
    shell: &Shell,
) -> anyhow::Result<()> {
    let numbers: Vec<u32> = frames.clone().collect();
    let shot = Shot::new(played, &numbers, &args.look, shell)?;
    let mut animation = Animation::create(&args.output, played.fps() as f32)?;
    shell.with_progress("rendering", |run| {
        for frame in frames.clone() {
            run.check()?;
            animation.push(&shot.take(played, frame, renderer, shell)?)?;
            run.report(u64::from(frame - frames.start) + 1, frames.len() as u64);
        }
        Ok::<_, anyhow::Error>(())
    })?;
    Ok(animation.finish()?)
}

fn turntable(
    args: &Args,
    played: &mut PlayedScene,
    renderer: &mut Renderer,
    count: u32,
    shell: &Shell,
) -> anyhow::Result<()> {
    const FPS: f32 = 24.0;
    let frame = args.frame.unwrap_or_else(|| played.player().shown_frame());
    let shot = Shot::turning(played, frame, &args.look, shell)?;
    let mut animation = Animation::create(&args.output, FPS)?;
    shell.with_progress("rendering", |run| {
        for (i, camera) in shot.camera().turntable(count).enumerate() {
            run.check()?;
            let shot = shot.with_camera(camera);
            animation.push(&shot.take(played, frame, renderer, shell)?)?;
            run.report(i as u64 + 1, u64::from(count));
        }
        Ok::<_, anyhow::Error>(())
    })?;
    Ok(animation.finish()?)
}

/// Frames spread evenly over the scene, on one page.
fn sheet(
    args: &Args,
    played: &mut PlayedScene,
    renderer: &mut Renderer,
    count: u32,
    shell: &Shell,
) -> anyhow::Result<Image> {
    let frames = wanted_frames(played, args)?;
    let spread = spread_frames(frames.len(), count as usize);
    let numbers: Vec<u32> = spread.iter().map(|&i| frames.start + i as u32).collect();
    let layout = Sheet { frames: &numbers, columns: args.columns };
    sheet_of(played, &layout, &args.look, renderer, shell)
}

/// Which frames are put on one page, and how.
pub(crate) struct Sheet<'a> {
    pub(crate) frames: &'a [u32],
    /// 0 for about a square of pictures.
    pub(crate) columns: u32,
}

/// The given frames on one page.
pub(crate) fn sheet_of(
    played: &mut PlayedScene,
    sheet: &Sheet<'_>,
    look: &Look,
    renderer: &mut Renderer,
    shell: &Shell,
) -> anyhow::Result<Image> {
    let shot = Shot::new(played, sheet.frames, look, shell)?;
    let take = |&frame: &u32| shot.take(played, frame, renderer, shell);
    let pictures: Result<Vec<Image>, _> = sheet.frames.iter().map(take).collect();
    Ok(contact_sheet(&pictures?, sheet.columns))
}

/// The shape and another one, before and after.
fn compare(
    args: &Args,
    played: &mut PlayedScene,
    other: &Path,
    renderer: &mut Renderer,
    shell: &Shell,
) -> anyhow::Result<()> {
    let mut after = PlayedScene::open(other, shell)?;
    let picture =
        shot::before_after(played, &mut after, args.frame.unwrap_or(0), args, renderer, shell)?;
    save(&picture, &args.output, args.small)
}

fn wanted_frames(played: &PlayedScene, args: &Args) -> anyhow::Result<Range<u32>> {
    let have = played.frames();
    let frames = args.frames.clone().unwrap_or(0..have);
    if frames.end > have {
        bail!("frames {}..{} were asked for, but there are {have}", frames.start, frames.end);
    }
    check_length(frames.end, args.yes)?;
    Ok(frames)
}

/// A file of a kilobyte can name a clip of a year.
pub(crate) fn check_length(frames: u32, yes: bool) -> anyhow::Result<()> {
    if frames > MOST_FRAMES && !yes {
        bail!(
            "{frames} frames are more than {MOST_FRAMES}: choose fewer with --frames 0..{MOST_FRAMES}, or \
             say --yes to play them all"
        );
    }
    Ok(())
}

/// Writes a single picture as small as was asked for.
pub(crate) fn save(picture: &Image, path: &Path, small: bool) -> anyhow::Result<()> {
    if !small {
        return write(picture, path);
    }
    let bytes = encode::png::encode_small(picture)?;
    Ok(supple::io::save(path, |out| out.write_all(&bytes))?)
}

pub(crate) fn write(picture: &Image, path: &Path) -> anyhow::Result<()> {
    Ok(encode::png::write(picture, path)?)
}

fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

pub(crate) fn size(text: &str) -> Result<[u32; 2], String> {
    let wrong = || format!("'{text}' is no size; write it like 1280x720");
    let (width, height) = text.split_once(['x', '×']).ok_or_else(wrong)?;
    let number = |part: &str| part.trim().parse::<u32>().ok().filter(|&n| n > 0);
    number(width).zip(number(height)).map(|(w, h)| [w, h]).ok_or_else(wrong)
}

fn share(text: &str) -> Result<f32, String> {
    let share = text.parse::<f32>().ok().filter(|s| (0.0..=1.0).contains(s));
    share.ok_or_else(|| format!("'{text}' is no share; take a number from 0 to 1"))
}

/// An axis with a sign or a normal, and where along it: `y=0.1`, `-x=0`, `1,1,0=0.5`.
fn plane(text: &str) -> Result<Plane, String> {
    let wrong = || format!("'{text}' is no plane; write y=0.1, -x=0, or 1,1,0=0.5");
    let (normal, distance) = text.split_once('=').ok_or_else(wrong)?;
    let distance = distance.trim().parse::<f32>().ok().filter(|d| d.is_finite());
    let (sign, axis) = match normal.strip_prefix('-') {
        Some(axis) => (-1.0, axis),
        None => (1.0, normal.strip_prefix('+').unwrap_or(normal)),
    };
    let (normal, sign) = match axis {
        "x" => (Vec3::X, sign),
        "y" => (Vec3::Y, sign),
        "z" => (Vec3::Z, sign),
        _ => (vector(normal).ok().filter(|n| n.length_squared() > 0.0).ok_or_else(wrong)?, 1.0),
    };
    Ok(Plane { normal: sign * normal, distance: sign * distance.ok_or_else(wrong)? })
}

/// `x,y,z` without spaces.
pub(crate) fn vector(text: &str) -> Result<Vec3, String> {
    let numbers: Vec<f32> = text.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    match numbers[..] {
        [x, y, z] if text.split(',').count() == 3 && (x + y + z).is_finite() => {
            Ok(Vec3::new(x, y, z))
        }
        _ => Err(format!("'{text}' is not three numbers; write them like 0,1.5,-2")),
    }
}

pub(crate) fn axis(text: &str) -> Result<Vec3, String> {
    match text {
        "x" => Ok(Vec3::X),
        "y" => Ok(Vec3::Y),
        "z" => Ok(Vec3::Z),
        _ => Err(format!("'{text}' is no axis; take x, y or z")),
    }
}

//! Where the frames go.

use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::bail;
use supple::mesh::Values;
use supple::mesh::attribute::COLOR;
use supple::player::{BodyFrame, Frame};
use supple::{Asset, Run, TriMesh, io};
use supple_gpu::Renderer;
use supple_gpu::encode::{self, Animation};

use super::Args;
use super::cast::Cast;
use super::checkpoint::Checkpoint;
use super::picture::{Camerawork, Seen};
use crate::shell::Shell;

/// Frames a second of video.
const FPS: f32 = 24.0;

/// What the ending of the output asks for.
pub(super) enum Output {
    /// The last frame.
    Picture(PathBuf),
    Animation(PathBuf),
    /// A mesh a frame, and the list of them for `.pvd`.
    Meshes(PathBuf),
}

impl Output {
    /// Says what is wrong with a name before any work is done for it.
    pub(super) fn check(path: &Path) -> anyhow::Result<Self> {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let kind = match ending.as_str() {
            "png" => Self::Picture,
            "webp" | "gif" | "mp4" | "mov" | "mkv" | "webm" => Self::Animation,
            "ply" | "glb" | "obj" | "pvd" => Self::Meshes,
            _ => bail!(
                "{}: unknown kind of file; use .png, .webp, .gif, .mp4, .ply, .glb, .obj or .pvd",
                path.display()
            ),
        };
        if matches!(ending.as_str(), "mp4" | "mov" | "mkv" | "webm") {
            encode::check(path)?;
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)?;
        }
        Ok(kind(path.to_owned()))
    }

    pub(super) fn write(
        &self,
        cast: &mut Cast,
        args: &Args,
        shell: &Shell,
    ) -> anyhow::Result<Vec<PathBuf>> {
        let frames = args.frames.clone().unwrap_or(0..cast.frames());
        match self {
            Self::Picture(path) => {
                io::check_output(path)?;
                let mut renderer = Renderer::new()?;
                let last = frames.end - 1;
                let mut checkpoint = Checkpoint::open(path, cast, args);
                checkpoint.resume(cast, last, shell);
                let (shown, ended) = shell.with_progress("smoke", |run| {
                    let mut shown = None;
                    let ended = for_frames(
                        cast,
                        checkpoint.from()..frames.end,
                        &mut checkpoint,
                        run,
                        |_, i, frame| {
                            let before = shown.replace((i, frame));
                            Ok(before.map(|(_, frame)| frame))
                        },
                    )?;
                    Ok::<_, anyhow::Error>((shown, ended))
                })?;
                let Some((last, shown)) = shown else { bail!("there is no frame {last}") };
                let mut seen = Seen::default();
                seen.look(args, &shown);
                let camera = Camerawork::new(cast, args, seen);
                let picture = camera.take(&shown, last, cast, &mut renderer)?;
                crate::commands::render::save(&picture, path, args.small)?;
                ended.whole(path)?;
                checkpoint.remove();
                Ok(vec![path.clone()])
            }
            Self::Animation(path) => {
                io::check_output(path)?;
                let mut renderer = Renderer::new()?;
                let camera = Camerawork::of_take(cast, args, frames.clone(), shell)?;
                let mut animation = Animation::create(path, FPS)?;
                let mut none = Checkpoint::none();
                let ended = shell.with_progress("smoke", |run| {
                    for_frames(cast, frames, &mut none, run, |cast, i, frame| {
                        animation.push(&camera.take(&frame, i, cast, &mut renderer)?)?;
                        Ok(Some(frame))
                    })
                })?;
                animation.finish()?;
                ended.whole(path)?;
                Ok(vec![path.clone()])
            }
            Self::Meshes(path) => meshes(path, cast, args, frames, shell),
        }
    }
}

/// Plays a range of frames and hands each over with its number; the memory of those that come back is used again. Where it
/// is is noted in the checkpoint.
pub(super) fn for_frames(
    cast: &mut Cast,
    frames: Range<u32>,
    checkpoint: &mut Checkpoint,
    run: &Run<'_>,
    mut each: impl FnMut(&mut Cast, u32, Frame) -> anyhow::Result<Option<Frame>>,
) -> anyhow::Result<Ended> {
    for i in frames.clone() {
        run.check()?;
        let frame = match cast.frame(i, run) {
            Ok(frame) => frame,
            // A record that breaks off is played up to there.
            Err(error) if i > frames.start && !run.is_cancelled() => {
                return Ok(Ended::Early(i, error));
            }
            Err(error) => return Err(error),
        };
        if let Some(done) = each(cast, i, frame)? {
            cast.player().take_back(done.bodies);
        }
        checkpoint.note(cast, i);
        run.report(u64::from(i - frames.start) + 1, frames.len() as u64);
    }
    Ok(Ended::Whole)
}

/// How far a flow was played.
#[must_use]
pub(super) enum Ended {
    Whole,
    /// To before this frame.
    Early(u32, anyhow::Error),
}

impl Ended {
    /// What was written stands; but it is not all that was asked for.
    fn whole(self, written: &Path) -> anyhow::Result<()> {
        match self {
            Self::Whole => Ok(()),
            Self::Early(frame, error) => {
                let path = written.display();
                Err(error.context(format!("played up to frame {frame}; {path} ends there")))
            }
        }
    }

    /// The end of the frames that were played.
    fn end(&self, asked: u32) -> u32 {
        match self {
            Self::Whole => asked,
            Self::Early(frame, _) => *frame,
        }
    }
}

/// A body of a frame as a mesh.
pub(super) fn mesh_of(body: &BodyFrame) -> TriMesh {
    let mut mesh = TriMesh::new(body.positions.clone(), body.topology.triangles().to_vec());
    mesh.attributes = body.channels.clone();
    mesh
}

/// `out/frame.ply` becomes `out/frame.0000.ply`; of several surfaces `out/frame.0.0000.ply`.
fn numbered(path: &Path, surface: Option<usize>, frame: u32, ending: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let of = surface.map_or_else(String::new, |i| format!(".{i}"));
    path.with_file_name(format!("{stem}{of}.{frame:04}.{ending}"))
}

fn meshes(
    path: &Path,
    cast: &mut Cast,
    args: &Args,
    frames: Range<u32>,
    shell: &Shell,
) -> anyhow::Result<Vec<PathBuf>> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let listed = ending == "pvd";
    let ending = if listed { "vtp" } else { &ending };
    let count = cast.player().cast().len();
    let several = |i: usize| (count > 1).then_some(i);
    let files_of = |frame: u32| (0..count).map(move |i| numbered(path, several(i), frame, ending));
    let mut checkpoint = Checkpoint::open(path, cast, args);
    checkpoint.resume(cast, frames.end, shell);
    // Frames that an earlier run wrote are not written again.
    let first = frames.start.max(checkpoint.from());
    let is_there = (frames.start..first).all(|i| files_of(i).all(|file| file.exists()));
    let first = if is_there { first } else { frames.start };
    let ended = shell.with_progress("smoke", |run| {
        for_frames(cast, first..frames.end, &mut checkpoint, run, |_, number, frame| {
            for (body, file) in frame.bodies.iter().zip(files_of(number)) {
                let mut mesh = mesh_of(body);
                if ending == "ply"
                    && let Some(Values::Vec4(colors)) = mesh.attributes.get_mut(COLOR)
                {
                    // All of the opacity is in its own channel.
                    io::round_colors(colors);
                }
                io::check_output(&file)?;
                if listed {
                    io::save(&file, |out| io::vtp::write(&mesh, out))?;
                } else {
                    io::write(&file, &Asset::from_mesh(mesh))?;
                }
            }
            Ok(Some(frame))
        })
    })?;
    let frames = frames.start..ended.end(frames.end);
    let mut files: Vec<PathBuf> = frames.clone().flat_map(files_of).collect();
    if listed {
        let name =
            |file: PathBuf| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let series: Vec<(f64, String)> = frames
            .flat_map(|i| files_of(i).map(move |file| (i, file)))
            .map(|(i, file)| (cast.time(i), name(file)))
            .collect();
        io::save(path, |out| io::vtp::write_series(&series, out))?;
        files.insert(0, path.to_owned());
    }
    ended.whole(path)?;
    checkpoint.remove();
    Ok(files)
}

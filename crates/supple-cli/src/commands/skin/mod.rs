//! `supple skin`: a skinned character posed or played, with its volume kept.

mod results;

use std::io as stdio;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::ValueEnum;
use glam::Vec3;
use supple::bake::{TakeOf, holds_takes, write_take};
use supple::io;
use supple::mesh::surface_frames::SurfaceFrames;
use supple::modifier::Modifier as _;
use supple::player::Player;
use supple::rig::{Clip, Skinning};
use supple::scene::{ClipChoice, Entry, Keyframes, Motion, Repeat, Scene, Source, Time};
use supple::skinning::{self, Params, Report, Solver, modifier};
use supple::{Asset, Run};

use self::results::{Measuring, Moved, Results, tell};
use super::folds::Watch;
use super::{number, one_shot};
use crate::shell::Shell;

/// Move a character by its skeleton; with --volume the blends around its joints keep its volume
///
/// Writes a clip as a take (GLB, USD, PC2, MDD) or, with --time, one moment of it as a mesh (any format).
/// A file without clips is written in its rest pose.
///
/// --volume gives back what the turns of joints take away, by a displacement that retreats wherever it would do
/// harm: no triangles intersect that plain skinning keeps apart, no edge is longer than 1.25 times the longer of its
/// plain and its rest length, no triangle is turned round. What is told counts that, and says joint by joint what
/// was lost, what came back, and why not more. --volume=closed-form is exact for each closed piece and faster, and
/// looks after none of this.
///
/// Where the displaced volume goes can be painted:
/// the vertex attribute `_VOLUME` multiplies the weights of all joints, `_VOLUME_JOINT` replaces those of
/// one joint, with either sign.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The character: a skinned glTF file
    input: PathBuf,
    /// File to write; its ending says the format
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Give back the volume that the blends around joints take away: retreating from harm, or closed-form
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "retreating", value_name = "HOW")]
    volume: Option<Keeping>,
    /// How joints are blended
    #[arg(long, value_enum, default_value_t = Method::Linear)]
    method: Method,
    /// Which clip to play, by name or by number from 0; the first if not given
    #[arg(long, value_name = "CLIP")]
    clip: Option<String>,
    /// Frames a second of the take
    #[arg(long, value_parser = number::<f64>, default_value_t = 24.0, value_name = "N")]
    fps: f64,
    /// Write only the moment at this many seconds into the clip, as a mesh
    #[arg(long, value_parser = number::<f64>, value_name = "SECONDS")]
    time: Option<f64>,
    /// The painted field that says where volume goes; `_VOLUME` and `_VOLUME_JOINT` if not given
    #[arg(long, value_name = "NAME", requires = "volume")]
    weights: Option<String>,
    /// Keep what was played as a scene, for `supple bake`
    #[arg(long, value_name = "FILE")]
    scene: Option<PathBuf>,
    /// The largest turn of a joint that --volume=closed-form corrects at once, in degrees
    #[arg(long, value_parser = number::<f64>, default_value_t = 30.0, value_name = "DEGREES", requires = "volume")]
    step: f64,
}

const EXAMPLES: &str = "\
Examples:
  supple skin fox.glb -o run.glb --volume --clip Run
  supple skin fox.glb -o run.pc2 --volume --clip Run --fps 30
  supple skin man.glb -o pose.obj --volume --time 0.5
  supple zoo arm -o arm.glb
  supple skin arm.glb -o bulge.glb --volume          (painted _VOLUME_ELBOW: the biceps bulges)
  supple zoo rigged-bar -o bar.glb
  supple skin bar.glb -o twist.glb --volume --clip twist --method dual-quaternion
  supple skin bar.glb -o bend.glb --volume=closed-form --clip bend
  supple skin bar.glb -o bend.glb --volume --scene bend.toml           (then: supple bake bend.toml -o out)";

/// Frames of a take: more than an hour of film. A file of a kilobyte can name a clip of a year.
const MOST_FRAMES: u32 = 100_000;

/// How joints are blended.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Method {
    /// The mean of the matrices
    Linear,
    /// The mean of the rigid motions
    DualQuaternion,
}

impl From<Method> for Skinning {
    fn from(method: Method) -> Self {
        match method {
            Method::Linear => Self::Linear,
            Method::DualQuaternion => Self::DualQuaternion,
        }
    }
}

/// How volume is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Keeping {
    /// Plain skinning plus a displacement that retreats wherever it would do harm
    Retreating,
    /// Joint by joint, exactly for every closed piece, fast; may fold and stretch
    ClosedForm,
}

impl From<Keeping> for skinning::Method {
    fn from(keeping: Keeping) -> Self {
        match keeping {
            Keeping::Retreating => Self::Retreating,
            Keeping::ClosedForm => Self::ClosedForm,
        }
    }
}

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    if !(0.01..=10_000.0).contains(&args.fps) {
        bail!("--fps {}: give a rate between 0.01 and 10000", args.fps);
    }
    one_shot::apart(&[("--output", Some(&args.output)), ("--scene", args.scene.as_deref())])?;
    let asset = super::read(&args.input, shell)?;
    io::check_output(&args.output)?;
    let file = || args.input.display().to_string();
    if asset.nodes.iter().all(|node| node.mesh.is_none() || node.skin.is_none()) {
        bail!(
            "{} has no skin: nothing in it is bound to a skeleton; deform it with 'supple deform', or \
             convert it with 'supple convert'",
            file()
        );
    }
    let clip = choose_clip(args, &asset)?;
    let is_take = args.time.is_none() && clip.is_some();
    if is_take && !holds_takes(&args.output) {
        bail!(
            "{}: a take is written as .glb, .usda, .pc2 or .mdd; other formats hold one moment: \
             choose it with --time",
            args.output.display()
        );
    }
    let scene = scene_of(args, clip)?;
    one_shot::keep(&scene, args.scene.as_deref(), shell)?;
    let player = one_shot::play(&scene, asset, args.scene.as_deref(), shell).with_context(file)?;
    let mut take = Take::new(args, player, &shell.quiet_run())?;
    match is_take {
        true => take.write(args, shell)?,
        false => take.write_moment(args, shell)?,
    }
    take.told.finish();
    take.told.folds = match take.watch {
        Some(watch) => Some(shell.with_progress("self-intersections", |run| watch.finish(run))?),
        None => None,
    };
    tell(&take.told, args.volume, shell)?;
    Ok(ExitCode::SUCCESS)
}

/// The clip to play, by its number.
fn choose_clip<'a>(args: &Args, asset: &'a Asset) -> anyhow::Result<Option<(usize, &'a Clip)>> {
    let found = one_shot::clip(args.clip.as_deref(), asset);
    let found = found.with_context(|| args.input.display().to_string())?;
    let clip = found.map(|number| (number, &asset.clips[number]));
    clip.iter().try_for_each(|(_, clip)| clip.check(asset))?;
    Ok(clip)
}

/// What is played: the clip once, or one moment of it.
fn scene_of(args: &Args, clip: Option<(usize, &Clip)>) -> anyhow::Result<Scene> {
    let file = one_shot::named(&args.input, args.scene.as_deref())?;
    let source = Source::File { file };
    let mut scene = Scene::of(&source.name(), source);
    let (first, last) = clip.and_then(|c| c.1.span()).unwrap_or_default();
    let length = f64::from(last) - f64::from(first);
    let [start, end] = args.time.map_or([0.0, length], |time| [time; 2]);
    scene.time = Time { start, end, fps: args.fps };
    let actor = &mut scene.assets[0];
    if let Some((number, clip)) = clip {
        let frames = length * args.fps;
        if args.time.is_none() && frames >= f64::from(MOST_FRAMES) {
            bail!(
                "clip '{}' has {:.0} frames at {} a second, more than {MOST_FRAMES}: choose a lower --fps, \
                 or a moment with --time",
                clip.name,
                frames.floor() + 1.0,
                args.fps
            );
        }
        actor.motion = Motion::Keyframes(Keyframes {
            clip: ClipChoice::Index(number as u32),
            skinning: args.method.into(),
            // Where volume is kept, the end of a loop counts at its beginning: its last frame meets its first.
            repeat: if args.time.is_none() && args.volume.is_some() {
                Repeat::Auto
            } else {
                Repeat::Once
            },
            ..Keyframes::default()
        });
    }
    if let Some(how) = args.volume {
        let (method, weights) = (how.into(), args.weights.clone());
        let params = Params { method, step_degrees: args.step, weights };
        actor.pose = vec![Entry::of(modifier::Skinning::KIND, &params)];
    }
    Ok(scene)
}

/// A character that is played and measured on the way.
struct Take {
    player: Player,
    /// What measures frames if nothing keeps their volume.
    own: Option<Solver>,
    method: Skinning,
    /// The body at rest, under the name it has in its file.
    rest: Asset,
    told: Results,
    /// Looks for folds where nothing keeps the volume: `told` counts them otherwise.
    watch: Option<Watch>,
}

impl Take {
    fn new(args: &Args, player: Player, run: &Run<'_>) -> anyhow::Result<Self> {
        let cast = &player.cast()[0];
        let keeps = cast.modifier::<modifier::Skinning>(0).is_some();
        let plain = || Solver::new(&cast.body, &Params::default(), run);
        let own = if keeps { None } else { Some(plain()?) };
        let mut rest = Asset::clone(&cast.rest);
        rest.meshes[0].name.clone_from(&cast.body.mesh.name);
        rest.nodes[0].name.clone_from(&cast.body.mesh.name);
        let vertices = cast.body.mesh.positions.len();
        let told = Results::of(args.output.clone(), player.frames(), vertices);
        let watch = || Watch::new(&rest.meshes[0].positions, &rest.meshes[0].triangles);
        let watch = (!keeps).then(watch);
        Ok(Self { player, own, method: args.method.into(), rest, told, watch })
    }

    /// Plays a frame, and tells of it.
    fn frame(&mut self, number: u32, run: &Run<'_>) -> anyhow::Result<Vec<Vec3>> {
        let mut frame = self.player.frame_without_normals(number, run)?;
        let cast = &self.player.cast()[0];
        let prepared =
            cast.modifier::<modifier::Skinning>(0).map(|(skinning, _)| skinning.solver());
        let solver = prepared.or(self.own.as_ref()).context("a solver was prepared")?;
        let (pose, matrices) = self.player.pose(0, number).context("a clip gives each pose")?;
        let rest = &cast.rest.meshes[0].positions;
        let measuring = Measuring { solver, body: &cast.body, rest, method: self.method };
        let written = frame.bodies.swap_remove(0).positions;
        let report = frame.report.details.of::<Report>(0).next();
        let moved = Moved { pose: (&pose, &matrices), written: &written, report };
        self.told.add(&measuring, &moved, run)?;
        self.watch.iter_mut().for_each(|w| w.see(number, &written));
        Ok(written)
    }

    fn write(&mut self, args: &Args, shell: &Shell) -> anyhow::Result<()> {
        let (rest, frames) = (std::mem::take(&mut self.rest), self.told.frames);
        let of = TakeOf { asset: &rest, fps: args.fps, frames };
        let written = shell.with_progress("skinning", |run| {
            let quiet = Run { progress: None, ..*run };
            let mut make = |number: u32| {
                let positions = self.frame(number, &quiet).map_err(stdio::Error::other)?;
                run.report(u64::from(number) + 1, u64::from(frames));
                Ok(positions)
            };
            write_take(&args.output, of, &mut make)
        });
        written.with_context(|| format!("cannot write {}", args.output.display()))
    }

    fn write_moment(&mut self, args: &Args, shell: &Shell) -> anyhow::Result<()> {
        let run = shell.quiet_run();
        let posed = self.frame(0, &run)?;
        let mesh = &mut self.rest.meshes[0];
        SurfaceFrames::of(mesh).place(mesh, posed, &run);
        let warnings = io::write(&args.output, &self.rest)?;
        shell.warn(&args.output.display().to_string(), &warnings);
        Ok(())
    }
}

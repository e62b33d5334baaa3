//! `supple skin`: a skinned character posed or played, with its volume kept.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self as stdio, BufWriter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use clap::ValueEnum;
use glam::Vec3;
use serde::Serialize;
use supple::asset::UvOrigin;
use supple::bake::{WRITERS, Writer};
use supple::io::{self, Take};
use supple::mesh::Values;
use supple::mesh::attribute::NORMAL;
use supple::mesh::normals::vertex_normals;
use supple::mesh::tangents;
use supple::rig::{Body, Clip, Node, Pose, Skinning};
use supple::scene::Format;
use supple::skinning::{self, Report, Solver};
use supple::{Asset, Run};

use super::number;
use crate::shell::Shell;

/// Move a character by its skeleton; with --volume the blends around its joints keep its volume
///
/// Writes a clip as a take (GLB, USD, PC2, MDD) or, with --time, one moment of it as a mesh (any format).
/// A file without clips is written in its rest pose. Where the displaced volume goes can be painted:
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
    /// Give back the volume that the blends around joints take away
    #[arg(long)]
    volume: bool,
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
    /// The largest turn of a joint that is corrected at once, in degrees
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
  supple skin bar.glb -o twist.glb --volume --clip twist --method dual-quaternion";

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

/// What `skin` tells, under the names it has in JSON.
#[derive(Debug, Default, Serialize)]
struct Told {
    file: PathBuf,
    frames: u32,
    vertices: usize,
    /// Largest volume error of any piece and frame, as plain blending leaves it and as written.
    volume_error_plain: Option<f64>,
    volume_error: Option<f64>,
    largest_lambda: f64,
    /// Joints that were corrected, with their largest λ.
    joints: BTreeMap<String, f64>,
    /// Joints with scale: the volume that makes or takes stays.
    scaled: BTreeSet<String>,
    /// What was not done, and why.
    left: BTreeSet<String>,
}

/// A character and how it is to be moved.
struct Player<'a> {
    body: &'a Body,
    solver: &'a Solver,
    clip: Option<&'a Clip>,
    method: Skinning,
    keeps_volume: bool,
    run: Run<'a>,
}

impl Player<'_> {
    fn at(&self, secs: f64, told: Option<&mut Told>) -> anyhow::Result<Vec<Vec3>> {
        let mut pose = self.body.rest_pose().clone();
        if let Some(clip) = self.clip {
            clip.sample(secs as f32, &mut pose);
        }
        let (body, run) = (self.body, &self.run);
        let matrices = body.matrices(&pose);
        let positions = if self.keeps_volume {
            let skinned = self.solver.pose(body, &pose, &matrices, self.method, run)?;
            if let Some(told) = told {
                let plain = body.skin(&pose, &matrices, self.method, run);
                told.measure(self, &pose, &plain, &skinned.positions);
                told.add(self.solver, &skinned.report);
            }
            skinned.positions
        } else {
            let plain = body.skin(&pose, &matrices, self.method, run);
            if let Some(told) = told {
                told.measure(self, &pose, &plain, &plain);
            }
            plain
        };
        Ok(positions)
    }
}

impl Told {
    fn measure(&mut self, player: &Player<'_>, pose: &Pose, plain: &[Vec3], written: &[Vec3]) {
        let (body, run) = (player.body, &player.run);
        let matrices = body.matrices(pose);
        let worst = |positions: &[Vec3]| {
            let errors = player.solver.volume_errors(body, pose, &matrices, positions, run);
            errors.into_iter().flatten().reduce(|a, b| if b.abs() > a.abs() { b } else { a })
        };
        let keep = |worst: &mut Option<f64>, now: Option<f64>| {
            let larger = now.filter(|n| worst.is_none_or(|w| n.abs() > w.abs()));
            *worst = larger.or(*worst);
        };
        keep(&mut self.volume_error_plain, worst(plain));
        keep(&mut self.volume_error, worst(written));
    }

    fn add(&mut self, solver: &Solver, report: &Report) {
        let largest = report.largest_lambda();
        if largest.abs() > self.largest_lambda.abs() {
            self.largest_lambda = largest;
        }
        for joint in &report.joints {
            let lambda = self.joints.entry(joint.joint.clone()).or_default();
            if joint.lambda.abs() > lambda.abs() {
                *lambda = joint.lambda;
            }
            if joint.scaled {
                self.scaled.insert(joint.joint.clone());
            }
        }
        self.left.extend(skinning::warnings(solver, report));
    }
}

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    if !(0.01..=10_000.0).contains(&args.fps) {
        bail!("--fps {}: give a rate between 0.01 and 10000", args.fps);
    }
    let asset = super::read(&args.input, shell)?;
    io::check_output(&args.output)?;
    let body = Body::from_asset(&asset).with_context(|| args.input.display().to_string())?;
    if body.parts.iter().all(|p| !p.skinned) {
        bail!(
            "{} has no skin: nothing in it is bound to a skeleton; deform it with 'supple deform', or \
             convert it with 'supple convert'",
            args.input.display()
        );
    }
    let params = skinning::Params { step_degrees: args.step, weights: args.weights.clone() };
    let run = shell.quiet_run();
    let solver =
        Solver::new(&body, &params, &run).with_context(|| args.input.display().to_string())?;
    let clip = choose_clip(args, &asset)?;
    let rest = rest_asset(&body, &asset, &run);
    let player = Player {
        body: &body,
        solver: &solver,
        clip,
        method: args.method.into(),
        keeps_volume: args.volume,
        run,
    };
    let told = match (args.time, clip) {
        (None, Some(clip)) => write_take(args, &player, clip, &rest, shell)?,
        (time, _) => write_moment(args, &player, time.unwrap_or(0.0), rest, shell)?,
    };
    tell(&told, args.volume, shell)?;
    Ok(ExitCode::SUCCESS)
}

fn choose_clip<'a>(args: &Args, asset: &'a Asset) -> anyhow::Result<Option<&'a Clip>> {
    let Some(wanted) = &args.clip else {
        let first = asset.clips.first();
        if let Some(clip) = first {
            clip.check(asset)?;
        }
        return Ok(first);
    };
    let numbered = || wanted.parse::<usize>().ok().and_then(|i| asset.clips.get(i));
    let found = asset.clips.iter().find(|c| c.name == *wanted).or_else(numbered);
    let names: Vec<&str> = asset.clips.iter().take(20).map(|c| c.name.as_str()).collect();
    let has = if names.is_empty() {
        "it has none".into()
    } else {
        format!("it has {}", names.join(", "))
    };
    let clip =
        found.ok_or_else(|| anyhow!("{} has no clip '{wanted}'; {has}", args.input.display()))?;
    clip.check(asset)?;
    Ok(Some(clip))
}

/// The body at rest as a plain mesh with its materials.
fn rest_asset(body: &Body, asset: &Asset, run: &Run<'_>) -> Asset {
    let mesh = body.rest_mesh(run);
    let node = Node { name: mesh.name.clone(), mesh: Some(0), ..Node::default() };
    Asset {
        meshes: vec![mesh],
        nodes: vec![node],
        materials: asset.materials.clone(),
        images: asset.images.clone(),
        uv_origin: UvOrigin::Top,
        ..Asset::default()
    }
}

fn write_take(
    args: &Args,
    player: &Player<'_>,
    clip: &Clip,
    rest: &Asset,
    shell: &Shell,
) -> anyhow::Result<Told> {
    let ending = args.output.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let format = Format::ALL.iter().find(|f| f.0 == ending).map(|f| f.1);
    let writer = WRITERS.iter().find(|w| Some(w.0) == format).map(|w| w.1);
    let (first, last) = clip.span().unwrap_or_default();
    let (first, last) = (f64::from(first), f64::from(last));
    let frames = ((last - first) * args.fps + 1e-6).floor().max(0.0) + 1.0;
    if frames > f64::from(MOST_FRAMES) {
        bail!(
            "clip '{}' has {frames:.0} frames at {} a second, more than {MOST_FRAMES}: choose a lower --fps, \
             or a moment with --time",
            clip.name,
            args.fps
        );
    }
    let frames = frames as u32;
    let told = RefCell::new(Told { frames, ..new_told(args, player) });
    let seen = RefCell::new(BTreeSet::new());
    shell.with_progress("skinning", |run| {
        let mut positions = |i: u32, positions: &mut [Vec3]| {
            let mut told = told.borrow_mut();
            let fresh = seen.borrow_mut().insert(i);
            let secs = first + f64::from(i) / args.fps;
            let found = player.at(secs, fresh.then_some(&mut *told));
            positions.copy_from_slice(&found.map_err(stdio::Error::other)?);
            run.report(seen.borrow().len() as u64, u64::from(frames));
            Ok(())
        };
        let take =
            Take { asset: rest, fps: args.fps, first_frame: 0, frames, positions: &mut positions };
        save(&args.output, writer, take)
    })?;
    Ok(told.into_inner())
}

fn save(path: &Path, writer: Option<Writer>, take: Take<'_>) -> anyhow::Result<()> {
    let mut takes = [take];
    let write = |out: &mut BufWriter<File>| match writer {
        Some(Writer::Together(write)) => write(&mut takes, out),
        Some(Writer::Each(write)) => write(&mut takes[0], out),
        Some(Writer::Sequence(_)) | None => Err(stdio::Error::other("not a format of takes")),
    };
    if matches!(writer, Some(Writer::Sequence(_)) | None) {
        bail!(
            "{}: a take is written as .glb, .usda, .pc2 or .mdd; other formats hold one moment: \
             choose it with --time",
            path.display()
        );
    }
    io::save(path, write).with_context(|| format!("cannot write {}", path.display()))
}

fn write_moment(
    args: &Args,
    player: &Player<'_>,
    secs: f64,
    mut asset: Asset,
    shell: &Shell,
) -> anyhow::Result<Told> {
    let mut told = Told { frames: 1, ..new_told(args, player) };
    let start = player.clip.and_then(Clip::span).map_or(0.0, |s| f64::from(s.0));
    let mesh = &mut asset.meshes[0];
    let posed = player.at(start + secs, Some(&mut told))?;
    let before = std::mem::replace(&mut mesh.positions, posed);
    tangents::follow(mesh, &before);
    if mesh.attributes.normals().is_some() {
        let normals = vertex_normals(&mesh.positions, &mesh.triangles, &player.run);
        mesh.attributes.set(NORMAL, Values::Vec3(normals));
    }
    // Split normals of the rest shape do not fit the posed one.
    mesh.corners.retain(|c| c.name != NORMAL);
    let warnings = io::write(&args.output, &asset)?;
    shell.warn(&args.output.display().to_string(), &warnings);
    Ok(told)
}

fn new_told(args: &Args, player: &Player<'_>) -> Told {
    let (file, vertices) = (args.output.clone(), player.body.mesh.positions.len());
    Told { file, vertices, ..Told::default() }
}

fn tell(told: &Told, kept: bool, shell: &Shell) -> anyhow::Result<()> {
    let left: Vec<&String> = told.left.iter().collect();
    shell.warn("skin", &left);
    if shell.options().json {
        return shell.print_json(told);
    }
    let file = told.file.display();
    shell.say(format!("{file}: {} frames of {} vertices", told.frames, told.vertices));
    let percent = |e: f64| {
        if e.abs() < 1e-4 { format!("{e:+.1e}") } else { format!("{:+.3} %", 100.0 * e) }
    };
    match (told.volume_error_plain, told.volume_error) {
        (Some(plain), Some(error)) if kept => shell.say(format!(
            "largest volume error of a piece: {} (plain skinning: {}), largest |λ| {:.3}, {} joints",
            percent(error),
            percent(plain),
            told.largest_lambda.abs(),
            told.joints.len()
        )),
        (Some(plain), _) => shell.say(format!(
            "largest volume error of a piece: {}; give it back with --volume",
            percent(plain)
        )),
        _ => shell.say("it encloses no volume that could be measured"),
    }
    if !told.scaled.is_empty() {
        let names: Vec<&str> = told.scaled.iter().take(8).map(String::as_str).collect();
        shell.say(format!(
            "{} joints are scaled, and the volume with them: {}",
            told.scaled.len(),
            names.join(", ")
        ));
    }
    Ok(())
}

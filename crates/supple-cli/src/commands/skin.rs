//! `supple skin`: a skinned character posed or played, with its volume kept.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
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
use supple::mesh::intersect::self_intersections;
use supple::mesh::normals::vertex_normals;
use supple::mesh::tangents;
use supple::rig::{Body, Clip, Node, Pose, Skinning};
use supple::scene::Format;
use supple::skinning::{self, Instant, JointReport, Left, Memo, Skinned, Solver};
use supple::{Asset, Run};

use super::number;
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
  supple skin bar.glb -o bend.glb --volume=closed-form --clip bend";

/// Frames of a take: more than an hour of film. A file of a kilobyte can name a clip of a year.
const MOST_FRAMES: u32 = 100_000;

/// Joints that take less than this of the volume are not told, and no more than so many.
const TOLD: f64 = 1e-4;
const MOST_JOINTS: usize = 24;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<Kept>,
    /// Joints that turned, those that lost most first.
    joints: Vec<JointTold>,
    /// Joints with scale: the volume that makes or takes stays.
    scaled: BTreeSet<String>,
    /// What was not done, and why.
    left: BTreeSet<String>,
}

/// How the promises were kept, over all frames.
#[derive(Debug, Default, Serialize)]
struct Kept {
    /// What joints took by turning, all signs alike: the mean of the frames and the most, as shares of the volume.
    lost: f64,
    most_lost: f64,
    /// The share of it that came back.
    back: f64,
    /// The longest edge, by the longer of plain and rest, and of dual quaternions where joints twist by more than 90°;
    /// and without these.
    stretch: f64,
    stretch_alone: f64,
    /// Pairs of triangles that intersect under plain skinning, as written, and only as written; all frames together.
    pairs_plain: usize,
    pairs: usize,
    pairs_added: usize,
    /// Edges along which copies of vertices came apart, the most of any frame: always 0.
    opened_edges: usize,
    /// Triangles turned by more than 90° against plain skinning, all frames together.
    turned: usize,
}

/// One joint over all frames.
#[derive(Debug, Default, Serialize)]
struct JointTold {
    joint: String,
    /// Its largest turn and λ.
    degrees: f64,
    lambda: f64,
    /// What it took, all signs alike: the mean of the frames, as a share of the volume; what of it came back.
    lost: f64,
    returned: f64,
    back: f64,
    /// The least mean of α, and the most vertices that were drawn back, by which harm.
    freedom: f64,
    drawn_back: usize,
    by_edge: usize,
    by_pair: usize,
    by_turn: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    hangs_on: Option<String>,
    /// Why less than half came back, in so many frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<Left>,
    left_in: u32,
}

/// A character and how it is to be moved.
struct Player<'a> {
    body: &'a Body,
    /// Where plain skinning puts the vertices at rest.
    rest: Vec<Vec3>,
    solver: &'a Solver,
    clip: Option<&'a Clip>,
    method: Skinning,
    keeps_volume: bool,
    run: Run<'a>,
}

/// The frames of a take.
#[derive(Clone, Copy)]
struct Frames {
    first: f64,
    fps: f64,
    count: u32,
}

impl Frames {
    fn secs(&self, number: i64) -> f64 {
        self.first + number as f64 / self.fps
    }
}

impl Player<'_> {
    fn pose(&self, secs: f64) -> Pose {
        let mut pose = self.body.rest_pose().clone();
        if let Some(clip) = self.clip {
            clip.sample(secs as f32, &mut pose);
        }
        pose
    }

    /// One moment by itself.
    fn at(&self, secs: f64, told: &mut Told) -> anyhow::Result<Vec<Vec3>> {
        let pose = self.pose(secs);
        let matrices = self.body.matrices(&pose);
        if !self.keeps_volume {
            return Ok(self.plain(&pose, Some(told)));
        }
        let skinned = self.solver.pose(self.body, &pose, &matrices, self.method, &self.run)?;
        told.add(self, &pose, &skinned)?;
        Ok(skinned.positions)
    }

    /// A frame of a take.
    fn frame(
        &self,
        frames: Frames,
        number: i64,
        memo: &Memo,
        told: Option<&mut Told>,
    ) -> anyhow::Result<Vec<Vec3>> {
        let (body, run) = (self.body, &self.run);
        let pose = self.pose(frames.secs(number));
        if !self.keeps_volume {
            return Ok(self.plain(&pose, told));
        }
        let instants = |number: i64| {
            let inside = (0..i64::from(frames.count)).contains(&number);
            inside.then(|| {
                let pose = self.pose(frames.secs(number));
                Instant { bound: body.morphed(&pose, run), matrices: body.matrices(&pose) }
            })
        };
        let take = skinning::Take { body, skinning: self.method, instants: &instants, memo };
        let now = Instant { bound: body.morphed(&pose, run), matrices: body.matrices(&pose) };
        let skinned = self.solver.frame(&take, number, &now, run)?;
        if let Some(told) = told {
            told.add(self, &pose, &skinned)?;
        }
        Ok(skinned.positions)
    }

    fn plain(&self, pose: &Pose, told: Option<&mut Told>) -> Vec<Vec3> {
        let plain = self.body.skin(pose, &self.body.matrices(pose), self.method, &self.run);
        if let Some(told) = told {
            told.measure(self, pose, &plain, &plain);
        }
        plain
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

    /// Adds a frame.
    fn add(&mut self, player: &Player<'_>, pose: &Pose, skinned: &Skinned) -> anyhow::Result<()> {
        let (body, run) = (player.body, &player.run);
        let plain = body.skin(pose, &body.matrices(pose), player.method, run);
        self.measure(player, pose, &plain, &skinned.positions);
        let report = &skinned.report;
        let largest = report.largest_lambda();
        if largest.abs() > self.largest_lambda.abs() {
            self.largest_lambda = largest;
        }
        let triangles = &body.mesh.triangles;
        let before: HashSet<[u32; 2]> =
            self_intersections(&plain, triangles, run)?.into_iter().collect();
        let after = self_intersections(&skinned.positions, triangles, run)?;
        let kept = self.kept.get_or_insert_default();
        kept.lost += report.lost();
        kept.most_lost = kept.most_lost.max(report.lost());
        // Until all frames are in, what is missing.
        kept.back += report.missing();
        kept.stretch = kept.stretch.max(report.stretch);
        let alone = stretch(triangles, [&player.rest, &plain, &skinned.positions]);
        kept.stretch_alone = kept.stretch_alone.max(alone);
        kept.pairs_plain += before.len();
        kept.pairs += after.len();
        kept.pairs_added += after.iter().filter(|p| !before.contains(*p)).count();
        let opened = body.welding().opened(triangles, &plain, &skinned.positions);
        kept.opened_edges = kept.opened_edges.max(opened);
        let normal = |t: &[u32; 3], at: &[Vec3]| {
            let [a, b, c] = t.map(|v| at[v as usize].as_dvec3());
            (b - a).cross(c - a)
        };
        let is_turned = |t: &&[u32; 3]| normal(t, &plain).dot(normal(t, &skinned.positions)) < 0.0;
        kept.turned += triangles.iter().filter(is_turned).count();
        for joint in &report.joints {
            self.add_joint(joint);
        }
        let is_whole = |j: &&JointReport| j.left == Some(Left::Flattened);
        let flat = report.joints.iter().filter(is_whole);
        self.left.extend(flat.map(|j| format!("'{}': a joint flattens all it carries", j.joint)));
        if report.joints.iter().any(|j| j.piece.is_some()) {
            self.left.extend(skinning::warnings(player.solver, report));
        }
        Ok(())
    }

    fn add_joint(&mut self, joint: &JointReport) {
        let known = self.joints.iter().position(|j| j.joint == joint.joint);
        let place = known.unwrap_or_else(|| {
            let new =
                JointTold { joint: joint.joint.clone(), freedom: 1.0, ..JointTold::default() };
            self.joints.push(new);
            self.joints.len() - 1
        });
        let told = &mut self.joints[place];
        told.degrees = told.degrees.max(joint.degrees);
        if joint.lambda.abs() > told.lambda.abs() {
            told.lambda = joint.lambda;
        }
        told.lost += joint.lost.abs();
        // Until all frames are in, what is missing.
        told.back += (joint.lost - joint.returned).abs();
        told.freedom = told.freedom.min(joint.freedom);
        told.drawn_back = told.drawn_back.max(joint.drawn_back);
        told.by_edge = told.by_edge.max(joint.by_edge);
        told.by_pair = told.by_pair.max(joint.by_pair);
        told.by_turn = told.by_turn.max(joint.by_turn);
        told.hangs_on.clone_from(&joint.hangs_on);
        if joint.left.is_some() {
            told.left = joint.left;
            told.left_in += 1;
        }
        if joint.scaled {
            self.scaled.insert(joint.joint.clone());
        }
    }

    /// All frames are in: sums become means and shares.
    fn finish(&mut self) {
        let back = |lost: f64, missing: f64| if lost > 0.0 { 1.0 - missing / lost } else { 1.0 };
        let frames = f64::from(self.frames.max(1));
        if let Some(kept) = &mut self.kept {
            kept.back = back(kept.lost, kept.back);
            kept.lost /= frames;
        }
        for joint in &mut self.joints {
            joint.back = back(joint.lost, joint.back);
            joint.lost /= frames;
            joint.returned = joint.lost * joint.back;
        }
        self.joints.sort_by(|a, b| b.lost.total_cmp(&a.lost).then(a.joint.cmp(&b.joint)));
    }
}

/// The most that an edge is longer than the longer of rest and plain skinning.
fn stretch(triangles: &[[u32; 3]], [rest, plain, now]: [&[Vec3]; 3]) -> f64 {
    let sides = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let ratio = |side: [u32; 2]| {
        let [a, b] = side.map(|v| v as usize);
        let length = |at: &[Vec3]| f64::from(at[a].distance(at[b]));
        let longest = length(plain).max(length(rest));
        if longest > 0.0 { length(now) / longest } else { 1.0 }
    };
    sides.map(ratio).fold(1.0, f64::max)
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
    let params = skinning::Params {
        method: args.volume.map(skinning::Method::from).unwrap_or_default(),
        step_degrees: args.step,
        weights: args.weights.clone(),
    };
    let run = shell.quiet_run();
    let solver =
        Solver::new(&body, &params, &run).with_context(|| args.input.display().to_string())?;
    let clip = choose_clip(args, &asset)?;
    let rest = rest_asset(&body, &asset, &run);
    let player = Player {
        body: &body,
        rest: body.pose(body.rest_pose(), Skinning::Linear, &run),
        solver: &solver,
        clip,
        method: args.method.into(),
        keeps_volume: args.volume.is_some(),
        run,
    };
    let mut told = match (args.time, clip) {
        (None, Some(clip)) => write_take(args, &player, clip, &rest, shell)?,
        (time, _) => write_moment(args, &player, time.unwrap_or(0.0), rest, shell)?,
    };
    told.finish();
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
    let (taken, memo) = (Frames { first, fps: args.fps, count: frames }, Memo::default());
    shell.with_progress("skinning", |run| {
        let mut positions = |i: u32, positions: &mut [Vec3]| {
            let mut told = told.borrow_mut();
            let fresh = seen.borrow_mut().insert(i);
            let told = fresh.then_some(&mut *told);
            let found = player.frame(taken, i64::from(i), &memo, told);
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
    let posed = player.at(start + secs, &mut told)?;
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

fn tell(told: &Told, volume: Option<Keeping>, shell: &Shell) -> anyhow::Result<()> {
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
        (Some(plain), Some(error)) if volume.is_some() => shell.say(format!(
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
    if let Some(kept) = &told.kept {
        tell_kept(kept, volume == Some(Keeping::Retreating), shell);
    }
    told.joints
        .iter()
        .filter(|j| j.lost > TOLD)
        .take(MOST_JOINTS)
        .for_each(|j| tell_joint(j, shell));
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

fn tell_kept(kept: &Kept, measures: bool, shell: &Shell) {
    if measures {
        let twisted = match kept.stretch_alone > kept.stretch + 1e-3 {
            true => format!(
                " ({:.3} where joints twist by more than 90°, against dual quaternions less)",
                kept.stretch_alone
            ),
            false => String::new(),
        };
        shell.say(format!(
            "the turns of joints take {:.2} % of the volume (at most {:.2} %): {:.1} % of that is back; edges \
             ≤ {:.3} times plain or rest{twisted}",
            100.0 * kept.lost,
            100.0 * kept.most_lost,
            100.0 * kept.back,
            kept.stretch
        ));
    }
    shell.say(format!(
        "intersecting pairs: {} (plain skinning: {}), {} of them added; {} triangles turned round, {} edges opened",
        kept.pairs, kept.pairs_plain, kept.pairs_added, kept.turned, kept.opened_edges
    ));
}

fn tell_joint(joint: &JointTold, shell: &Shell) {
    let mut line = format!(
        "  {}: turns by up to {:.0}°, takes {:.3} %, {:.1} % of it back",
        joint.joint,
        joint.degrees,
        100.0 * joint.lost,
        100.0 * joint.back
    );
    let causes = [
        (joint.by_edge, "stretched edges"),
        (joint.by_pair, "parts that would intersect"),
        (joint.by_turn, "triangles that would turn round"),
    ];
    let causes = causes.iter().filter(|c| c.0 > 0).map(|c| format!("{} by {}", c.0, c.1));
    let causes: Vec<String> = causes.collect();
    if joint.drawn_back > 0 {
        line += &format!("; {} vertices drawn back", joint.drawn_back);
        if !causes.is_empty() {
            line += &format!(" ({})", causes.join(", "));
        }
    }
    if let Some(left) = joint.left {
        line += &format!("; left in {} frames: {left}", joint.left_in);
    }
    if let Some(other) = &joint.hangs_on {
        line += &format!("; hangs on '{other}' by its skin");
    }
    shell.say(line);
}

//! What `supple skin` tells of a take: how its volume was kept, and what that cost.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;

use glam::{Mat4, Vec3};
use serde::Serialize;
use supple::Run;
use supple::bake::Folds;
use supple::mesh::intersect::self_intersections;
use supple::rig::{Body, Pose, Skinning};
use supple::skinning::{self, JointReport, Left, Report, Solver};

use super::super::folds;
use super::Keeping;
use crate::shell::Shell;

/// Joints that take less than this of the volume are not told, and no more than so many.
const TOLD: f64 = 1e-4;
const MOST_JOINTS: usize = 24;

/// What `skin` tells, under the names it has in JSON.
#[derive(Debug, Default, Serialize)]
pub(super) struct Results {
    file: PathBuf,
    pub(super) frames: u32,
    vertices: usize,
    /// Largest volume error of any piece and frame, as plain blending leaves it and as written.
    volume_error_plain: Option<f64>,
    volume_error: Option<f64>,
    largest_lambda: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<Kept>,
    /// Self-intersections of some frames of plain skinning, against the rest pose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) folds: Option<Folds>,
    /// Joints that turned, those that lost most first.
    joints: Vec<JointResults>,
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
struct JointResults {
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

/// What frames are measured with.
#[derive(Clone, Copy)]
pub(super) struct Measuring<'a> {
    pub(super) solver: &'a Solver,
    pub(super) body: &'a Body,
    /// The body at rest.
    pub(super) rest: &'a [Vec3],
    pub(super) method: Skinning,
}

/// A frame that is to be measured.
pub(super) struct Moved<'a> {
    /// The pose, and where the joints are.
    pub(super) pose: (&'a Pose, &'a [Mat4]),
    pub(super) written: &'a [Vec3],
    /// How the volume was kept, if it was to be.
    pub(super) report: Option<&'a Report>,
}

impl Results {
    pub(super) fn of(file: PathBuf, frames: u32, vertices: usize) -> Self {
        Self { file, frames, vertices, ..Self::default() }
    }

    fn measure(
        &mut self,
        measuring: &Measuring<'_>,
        frame: &Moved<'_>,
        plain: &[Vec3],
        run: &Run<'_>,
    ) {
        let Measuring { solver, body, .. } = *measuring;
        let (pose, matrices) = frame.pose;
        let worst = |positions: &[Vec3]| {
            let errors = solver.volume_errors(body, pose, matrices, positions, run);
            errors.into_iter().flatten().reduce(|a, b| if b.abs() > a.abs() { b } else { a })
        };
        let keep = |worst: &mut Option<f64>, now: Option<f64>| {
            let larger = now.filter(|n| worst.is_none_or(|w| n.abs() > w.abs()));
            *worst = larger.or(*worst);
        };
        keep(&mut self.volume_error_plain, worst(plain));
        keep(&mut self.volume_error, worst(frame.written));
    }

    /// Adds a frame.
    pub(super) fn add(
        &mut self,
        measuring: &Measuring<'_>,
        frame: &Moved<'_>,
        run: &Run<'_>,
    ) -> anyhow::Result<()> {
        let (body, written) = (measuring.body, frame.written);
        let (pose, matrices) = frame.pose;
        let plain = body.skin(pose, matrices, measuring.method, run);
        self.measure(measuring, frame, &plain, run);
        let Some(report) = frame.report else { return Ok(()) };
        let largest = report.largest_lambda();
        if largest.abs() > self.largest_lambda.abs() {
            self.largest_lambda = largest;
        }
        let triangles = &body.mesh.triangles;
        let pairs = self_intersections(&plain, triangles, run)?;
        // What nothing displaced need not be counted twice.
        let after = match written == plain {
            true => pairs.clone(),
            false => self_intersections(written, triangles, run)?,
        };
        let before: HashSet<[u32; 2]> = pairs.into_iter().collect();
        let kept = self.kept.get_or_insert_default();
        kept.lost += report.lost();
        kept.most_lost = kept.most_lost.max(report.lost());
        // Until all frames are in, what is missing.
        kept.back += report.missing();
        kept.stretch = kept.stretch.max(report.stretch);
        let alone = stretch(triangles, [measuring.rest, &plain, written]);
        kept.stretch_alone = kept.stretch_alone.max(alone);
        kept.pairs_plain += before.len();
        kept.pairs += after.len();
        kept.pairs_added += after.iter().filter(|p| !before.contains(*p)).count();
        let opened = body.welding().opened(triangles, &plain, written);
        kept.opened_edges = kept.opened_edges.max(opened);
        let normal = |t: &[u32; 3], at: &[Vec3]| {
            let [a, b, c] = t.map(|v| at[v as usize].as_dvec3());
            (b - a).cross(c - a)
        };
        let is_turned = |t: &&[u32; 3]| normal(t, &plain).dot(normal(t, written)) < 0.0;
        kept.turned += triangles.iter().filter(is_turned).count();
        for joint in &report.joints {
            self.add_joint(joint);
        }
        let is_whole = |j: &&JointReport| j.left == Some(Left::Flattened);
        let flat = report.joints.iter().filter(is_whole);
        self.left.extend(flat.map(|j| format!("'{}': a joint flattens all it carries", j.joint)));
        if report.joints.iter().any(|j| j.piece.is_some()) {
            self.left.extend(skinning::warnings(measuring.solver, report));
        }
        Ok(())
    }

    fn add_joint(&mut self, joint: &JointReport) {
        let known = self.joints.iter().position(|j| j.joint == joint.joint);
        let place = known.unwrap_or_else(|| {
            let new = JointResults {
                joint: joint.joint.clone(),
                freedom: 1.0,
                ..JointResults::default()
            };
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
    pub(super) fn finish(&mut self) {
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

pub(super) fn tell(told: &Results, volume: Option<Keeping>, shell: &Shell) -> anyhow::Result<()> {
    let left: Vec<&String> = told.left.iter().collect();
    shell.warn("skin", &left);
    if shell.options().json {
        told.folds.iter().for_each(|f| folds::tell(f, "skin", shell));
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
    told.folds.iter().for_each(|f| folds::tell(f, "skin", shell));
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

fn tell_joint(joint: &JointResults, shell: &Shell) {
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

//! Plain skinning plus a displacement that gives lost volume back and retreats wherever it would do harm.
//!
//! | file | does |
//! |---|---|
//! | `welded.rs` | the skin without its seams, closed for measuring |
//! | `tree.rs` | which joint a bone's skin really hangs on |
//! | `field.rs` | where each joint may displace |
//! | `frame.rs` | one pose: plain skinning, ways out, what each turn cost |
//! | `lambda.rs` | how far each joint displaces |
//! | `harm.rs` | what must not be done |
//! | `take.rs` | poses that follow each other |

mod field;
mod frame;
mod harm;
mod lambda;
mod take;
#[cfg(test)]
mod tests;
mod tree;
mod welded;

use glam::{DVec3, Mat4, Vec3};

use self::field::Joint;
pub(super) use self::frame::Posing;
use self::frame::{Frame, Twist};
use self::harm::{Cause, Guard};
use self::lambda::Displacement;
use self::welded::Welded;
use super::bones::Bones;
use super::paint::Paint;
use super::surface::NONE;
use super::{JointReport, Left, Report};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::mesh::adjacency::edges;
use crate::mesh::measure::Bounds;
use crate::rig::{Body, Skinning};
use crate::run::Cancelled;

pub(super) use self::take::Taking;
pub use self::take::{Instant, Instants, Memo};

/// Rounds of giving back and retreating in a single pose.
const ROUNDS: usize = 6;

/// Evaluations of the volume to find λ: from nothing, and from the λ of the round before.
const FIRST: usize = 24;
const AGAIN: usize = 6;

/// The share of what was lost that may be missing before another round is worth it.
const ENOUGH: f64 = 1e-6;

/// What harm leaves of α; in the last retreat of a take, which nothing smooths any more, and below what it is nothing.
const LESS: f32 = 0.7;
const LAST_LESS: f32 = 0.9;
const LEAST: f32 = 0.12;

/// The most that α differs between neighbours.
const STEP: f32 = 0.5;

/// Shares given back below this are worth a word.
const LITTLE: f64 = 0.5;

/// A body prepared for any number of poses.
#[derive(Clone, Debug)]
pub(super) struct Skin {
    bones: Bones,
    /// Bones that hang elsewhere than in the skeleton.
    rehung: Vec<u32>,
    names: Vec<String>,
    welded: Welded,
    joints: Vec<Joint>,
    /// Vertices that a joint may displace, and rims with such a vertex.
    live: Vec<bool>,
    live_rims: Vec<bool>,
    /// The way from the bones to each vertex, where it is bound.
    away: Vec<DVec3>,
    /// The body's triangles, and the edges of those with a skin.
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    /// How long the edges are at rest, at most that long where they are bound, too, and how large the body is: for a
    /// root that does not scale.
    seen: Vec<f32>,
    rest: Vec<f32>,
    extent: f64,
    /// How large the body is where it is bound.
    size: f64,
}

/// How a frame is drawn back, and how far it is displaced.
#[derive(Clone, Debug)]
struct Outcome {
    alpha: Vec<f32>,
    causes: Vec<Cause>,
    displacement: Displacement,
    positions: Vec<Vec3>,
}

impl Skin {
    pub(super) fn new(
        body: &Body,
        mut bones: Bones,
        paint: &Paint<'_>,
        names: &[String],
        run: &Run<'_>,
    ) -> Self {
        let welded = Welded::new(body, &bones);
        let rehung = tree::repair(&mut bones, &welded);
        let joints = field::joints(body, &bones, paint, &welded, run);
        let live = field::live(&welded, &joints);
        let live_rims = welded.rims.iter().map(|r| r.iter().any(|&v| live[v as usize])).collect();
        let away = |(row, x): (&welded::Row, &DVec3)| {
            row.iter().map(|&(b, w)| w * bones.bones[b as usize].away(*x)).sum()
        };
        let away = welded.rows.iter().zip(&welded.at).map(away).collect();
        let has_skin = |t: &&[u32; 3]| t.iter().all(|&v| welded.of_vertex[v as usize] != NONE);
        let skinned: Vec<_> = body.mesh.triangles.iter().filter(has_skin).copied().collect();
        let mut skin = Self {
            edges: edges(body.mesh.positions.len(), &skinned),
            triangles: body.mesh.triangles.clone(),
            bones,
            rehung,
            names: names.to_vec(),
            welded,
            joints,
            live,
            live_rims,
            away,
            seen: Vec::new(),
            rest: Vec::new(),
            extent: 0.0,
            size: super::size(body),
        };
        (skin.seen, skin.extent) = skin.at_rest(body, run);
        skin.rest = (0..skin.edges.len())
            .map(|e| skin.seen[e].min(skin.bound_edge(e).norm() as f32))
            .collect();
        skin
    }

    /// An edge where the body is bound.
    fn bound_edge(&self, edge: usize) -> DVec3 {
        let [a, b] = self.edges[edge].map(|v| self.welded.of_vertex[v as usize] as usize);
        self.welded.at[b] - self.welded.at[a]
    }

    /// The lengths of edges where the file shows the body, or where it is bound if that is nowhere; how large that is.
    fn at_rest(&self, body: &Body, run: &Run<'_>) -> (Vec<f32>, f64) {
        let matrices = body.matrices(body.rest_pose());
        let shown = body.skin(body.rest_pose(), &matrices, Skinning::Linear, run);
        let scale = self.scale(&matrices) as f32;
        let length = |e: usize| {
            let [a, b] = self.edges[e].map(|v| shown[v as usize]);
            let seen = a.distance_to(b) / scale;
            if seen.is_finite() { seen } else { self.bound_edge(e).norm() as f32 }
        };
        let lengths = (0..self.edges.len()).map(length).collect();
        let extent = Bounds::of(&shown).map_or(1.0, |b| b.diagonal() / scale);
        (lengths, f64::from(extent))
    }

    /// How the root scales lengths.
    fn scale(&self, matrices: &[Mat4]) -> f64 {
        if self.bones.bones.is_empty() {
            return 1.0;
        }
        let root = &self.bones.bones[self.bones.root(0) as usize];
        root.matrix(matrices).determinant().abs().cbrt()
    }

    /// Whether a vertex, or the mean of a rim, may move.
    fn is_live(&self, place: usize) -> bool {
        match place.checked_sub(self.live.len()) {
            None => self.live[place],
            Some(rim) => self.live_rims[rim],
        }
    }

    /// A value of welded vertices at one of the body; none without a skin.
    fn at(&self, values: &[f64], vertex: u32) -> f64 {
        match self.welded.of_vertex[vertex as usize] {
            NONE => 0.0,
            welded => values[welded as usize],
        }
    }

    /// What the length of an edge is measured by: the longest of plain and rest, and of what dual quaternions make of it
    /// as far as they take over.
    fn measure_of(&self, frame: &Frame, edge: usize) -> f32 {
        let [a, b] = self.edges[edge];
        let plain = |v: u32| frame.plain[v as usize];
        let known = plain(a).distance_to(plain(b)).max(self.rest_in(frame, edge));
        let twisted = |t: &Twist| {
            let counts = self.at(&t.edges, a).min(self.at(&t.edges, b)) as f32;
            let at = |v: u32| match self.welded.of_vertex[v as usize] {
                NONE => plain(v),
                welded => plain(v) + t.by[welded as usize].as_vec3(),
            };
            let longer = if counts > 0.0 { at(a).distance_to(at(b)) - known } else { 0.0 };
            known + counts * longer.max(0.0)
        };
        frame.twist.as_ref().map_or(known, twisted)
    }

    /// How long an edge is at rest, carried by its root.
    fn rest_in(&self, frame: &Frame, edge: usize) -> f32 {
        let scale = frame.scale as f32;
        let welded = self.welded.of_vertex[self.edges[edge][0] as usize];
        match frame.roots.uneven(&self.welded.rows[welded as usize]) {
            Some(linear) => {
                let carried = (linear * self.bound_edge(edge)).norm() as f32;
                carried.min(self.seen[edge] * scale)
            }
            None => self.rest[edge] * scale,
        }
    }

    /// One pose by itself.
    pub(super) fn pose(
        &self,
        posing: &Posing<'_>,
        run: &Run<'_>,
    ) -> Result<(Vec<Vec3>, Report), Cancelled> {
        let frame = Frame::new(self, posing, run);
        run.check()?;
        if frame.is_still() {
            let report = self.report(&frame, None, run);
            return Ok((frame.plain, report));
        }
        let outcome = self.settle(&frame, run)?;
        let report = self.report(&frame, Some(&outcome), run);
        Ok((outcome.positions, report))
    }

    /// Gives back and retreats until enough is back or nothing more is to be had.
    fn settle(&self, frame: &Frame, run: &Run<'_>) -> Result<Outcome, Cancelled> {
        let mut guard = Guard::new(self, frame, run);
        let lost: f64 = frame.turned.iter().map(|t| t.lost.abs()).sum();
        let mut alpha = vec![1.0; self.welded.len()];
        let mut causes = vec![Cause::default(); alpha.len()];
        let mut lambda = vec![0.0; frame.turned.len()];
        let mut best: Option<(f64, Outcome)> = None;
        for round in 0..ROUNDS {
            let count = if round == 0 { FIRST } else { AGAIN };
            let displacement = lambda::solve(self, frame, &alpha, lambda, count, run);
            lambda = displacement.lambda.clone();
            let mut outcome = Outcome { alpha, causes, displacement, positions: Vec::new() };
            let fell = self.retreat(&mut guard, frame, &mut outcome, true, run)?;
            lambda::returned(self, frame, &outcome.alpha, &mut outcome.displacement, run);
            let missing = outcome.displacement.missing(frame);
            (alpha, causes) = (outcome.alpha.clone(), outcome.causes.clone());
            if best.as_ref().is_none_or(|b| missing < b.0) {
                best = Some((missing, outcome));
            }
            if !fell || missing <= ENOUGH * lost {
                break;
            }
        }
        Ok(best.expect("at least one round").1)
    }

    /// Lowers α until the displacement does no harm. True if it had to be lowered.
    fn retreat(
        &self,
        guard: &mut Guard<'_>,
        frame: &Frame,
        outcome: &mut Outcome,
        spreads: bool,
        run: &Run<'_>,
    ) -> Result<bool, Cancelled> {
        let mut fell = false;
        loop {
            outcome.positions = self.place(frame, &outcome.alpha, &outcome.displacement.whole, run);
            let harm = guard.look(&outcome.positions, run)?;
            if harm.vertices.is_empty() {
                return Ok(fell);
            }
            fell = true;
            self.draw_back(&harm.vertices, outcome, spreads);
        }
    }

    fn draw_back(&self, vertices: &[(u32, Cause)], outcome: &mut Outcome, spreads: bool) {
        let mut drawn: Vec<u32> = Vec::new();
        for &(v, cause) in vertices {
            let welded = self.welded.of_vertex[v as usize];
            if welded == NONE {
                continue;
            }
            outcome.causes[welded as usize].join(cause);
            drawn.push(welded);
        }
        drawn.sort_unstable();
        drawn.dedup();
        let alpha = &mut outcome.alpha;
        let left = if spreads { LESS } else { LAST_LESS };
        for &v in &drawn {
            let less = left * alpha[v as usize];
            alpha[v as usize] = if less < LEAST { 0.0 } else { less };
        }
        // What is below half at most leaves a half: one ring is all that can follow.
        for &v in drawn.iter().filter(|_| spreads) {
            let most = alpha[v as usize] + STEP;
            for &o in self.welded.around.row(v as usize) {
                alpha[o as usize] = alpha[o as usize].min(most);
            }
        }
    }

    /// The body with its displacement.
    fn place(&self, frame: &Frame, alpha: &[f32], whole: &[DVec3], run: &Run<'_>) -> Vec<Vec3> {
        run.map(frame.plain.len(), |v| {
            let plain = frame.plain[v];
            let welded = self.welded.of_vertex[v] as usize;
            if self.welded.of_vertex[v] == NONE || alpha[welded] == 0.0 || !self.live[welded] {
                return plain;
            }
            let moved = (plain.as_dvec3() + f64::from(alpha[welded]) * whole[welded]).as_vec3();
            if moved.is_finite() { moved } else { plain }
        })
    }

    fn report(&self, frame: &Frame, outcome: Option<&Outcome>, run: &Run<'_>) -> Report {
        let volume = frame.rest_volume.abs();
        let share = |x: f64| if volume > 0.0 { x / volume } else { 0.0 };
        let mut report = Report { rest_volume: volume, ..Report::default() };
        let joints = frame.turned.iter().enumerate();
        report.joints = joints
            .map(|(k, turned)| {
                let joint = &self.joints[turned.joint];
                let (lambda, returned) = outcome
                    .map_or((0.0, 0.0), |o| (o.displacement.lambda[k], o.displacement.returned[k]));
                let mut told = JointReport {
                    joint: self.names[joint.bone as usize].clone(),
                    degrees: turned.degrees,
                    lambda,
                    lost: -share(turned.lost),
                    returned: share(returned),
                    scaled: turned.is_scaled,
                    hangs_on: self.hangs_on(joint.bone),
                    ..JointReport::default()
                };
                if let Some(outcome) = outcome {
                    told.count(joint, outcome);
                }
                told.left = told.why_left(joint);
                told
            })
            .collect();
        let flat = frame.flattened.iter().map(|&j| JointReport {
            joint: self.names[self.joints[j].bone as usize].clone(),
            left: Some(Left::Flattened),
            ..JointReport::default()
        });
        report.joints.extend(flat);
        report.kept = share(frame.volume - frame.rest_volume)
            + report.joints.iter().map(|j| j.lost).sum::<f64>();
        report.stretch = outcome.map_or(1.0, |o| self.stretch(frame, &o.positions, run));
        report
    }

    /// The most that an edge is longer than what it is measured by; 1 if none is.
    fn stretch(&self, frame: &Frame, positions: &[Vec3], run: &Run<'_>) -> f64 {
        let ratio = |e: usize| {
            let [a, b] = self.edges[e].map(|v| positions[v as usize]);
            let ratio = f64::from(a.distance_to(b)) / f64::from(self.measure_of(frame, e));
            if ratio.is_finite() { ratio } else { 1.0 }
        };
        run.map(self.edges.len(), ratio).into_iter().fold(1.0, f64::max)
    }

    /// What a bone was hung on, if not on its parent in the skeleton.
    fn hangs_on(&self, bone: u32) -> Option<String> {
        let parent = self.bones.bones[bone as usize].parent.filter(|_| self.rehung.contains(&bone));
        parent.map(|p| self.names[p as usize].clone())
    }

    /// How many closed triangles the joint called `name` deforms.
    pub(super) fn blended_triangles(&self, name: &str) -> usize {
        let called = |j: &&Joint| self.names[j.bone as usize] == name;
        self.joints.iter().filter(called).map(|j| j.triangles.len()).sum()
    }
}

impl JointReport {
    fn count(&mut self, joint: &Joint, outcome: &Outcome) {
        let (mut sum, mut total) = (0.0, 0.0);
        for &(v, s) in &joint.field {
            let (alpha, cause) = (outcome.alpha[v as usize], outcome.causes[v as usize]);
            sum += s.abs() * f64::from(alpha);
            total += s.abs();
            self.drawn_back += usize::from(alpha < 1.0);
            self.by_edge += usize::from(cause.edge);
            self.by_pair += usize::from(cause.pair);
            self.by_turn += usize::from(cause.turned);
        }
        self.freedom = if total > 0.0 { sum / total } else { 0.0 };
    }

    fn why_left(&self, joint: &Joint) -> Option<Left> {
        let matters = self.lost.abs() > 1e-4;
        if !matters || self.back() >= LITTLE {
            return None;
        }
        let free = joint.field.iter().any(|f| f.1.abs() > 0.02);
        let most = self.by_edge.max(self.by_pair).max(self.by_turn);
        Some(match (free, most) {
            (false, _) => Left::Immovable,
            (true, 0) => Left::OutOfReach,
            (true, most) if most == self.by_pair => Left::Touching,
            (true, most) if most == self.by_edge => Left::Stretched,
            (true, _) => Left::Turned,
        })
    }
}

/// The volume inside closed triangles.
fn volume(closed: &[[u32; 3]], at: &[DVec3], run: &Run<'_>) -> f64 {
    let Some(origin) = closed.first().map(|t| at[t[0] as usize]) else { return 0.0 };
    let six = run.sum(closed.len(), |t| {
        let [a, b, c] = closed[t].map(|v| at[v as usize] - origin);
        a.dot(b.cross(c))
    });
    six / 6.0
}

//! What a displacement must not do: make triangles intersect that plain skinning keeps apart, stretch edges, turn
//! triangles round.
//!
//! Pairs are decided exactly, as in [`intersect`](crate::mesh::intersect).

use glam::Vec3;

use super::Skin;
use super::frame::{Frame, Twist};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::mesh::intersect::added::AddedPairs;
use crate::run::Cancelled;

/// Edges may become so many times as long as under plain skinning or at rest, whichever is longer. A little less than
/// the 1.25 that is promised, so that rounding cannot break it.
pub(super) const STRETCH: f32 = 1.249;

/// Why a vertex was drawn back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cause {
    pub(super) edge: bool,
    pub(super) pair: bool,
    pub(super) turned: bool,
}

impl Cause {
    /// This or another.
    pub(super) fn join(&mut self, other: Self) {
        self.edge |= other.edge;
        self.pair |= other.pair;
        self.turned |= other.turned;
    }
}

/// Looks after one frame.
#[derive(Debug)]
pub(super) struct Guard<'a> {
    skin: &'a Skin,
    frame: &'a Frame,
    /// How long each edge may be.
    longest: Vec<f32>,
    pairs: AddedPairs<'a>,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Harm {
    pub(super) vertices: Vec<(u32, Cause)>,
}

impl<'a> Guard<'a> {
    pub(super) fn new(skin: &'a Skin, frame: &'a Frame, run: &Run<'_>) -> Self {
        let pairs = AddedPairs::new(&frame.plain, &skin.triangles, run);
        let longest = run.map(skin.edges.len(), |e| STRETCH * skin.measure_of(frame, e));
        Self { skin, frame, longest, pairs }
    }

    /// The vertices of the body where positions do harm.
    pub(super) fn look(&mut self, positions: &[Vec3], run: &Run<'_>) -> Result<Harm, Cancelled> {
        let mut harm = Harm::default();
        for (e, &[a, b]) in self.skin.edges.iter().enumerate() {
            let length = positions[a as usize].distance_to(positions[b as usize]);
            if length > self.longest[e] {
                let cause = Cause { edge: true, ..Cause::default() };
                harm.vertices.extend([(a, cause), (b, cause)]);
            }
        }
        let plain = &self.frame.plain;
        let moved = |t: &&[u32; 3]| t.iter().any(|&v| positions[v as usize] != plain[v as usize]);
        let triangles = &self.skin.triangles;
        for t in triangles.iter().filter(moved) {
            if is_turned(self.skin, self.frame, t, positions) {
                let cause = Cause { turned: true, ..Cause::default() };
                harm.vertices.extend(t.map(|v| (v, cause)));
            }
        }
        for t in self.pairs.look(positions, run)?.as_flattened() {
            let cause = Cause { pair: true, ..Cause::default() };
            harm.vertices.extend(triangles[*t as usize].map(|v| (v, cause)));
        }
        Ok(harm)
    }
}

/// Plain triangles of less than this share of the area that dual quaternions give them are no measure: the waist of a twist.
const WAIST: f64 = 0.5;

/// Whether a triangle faces away from where plain skinning has it; in the waist of a far twist, from where dual
/// quaternions have it, too.
fn is_turned(skin: &Skin, frame: &Frame, triangle: &[u32; 3], positions: &[Vec3]) -> bool {
    let normal = |at: &[Vec3]| {
        let [a, b, c] = triangle.map(|v| at[v as usize].as_dvec3());
        (b - a).cross(c - a)
    };
    let (now, plain) = (normal(positions), normal(&frame.plain));
    let keeps = |twist: &Twist| {
        let twists = triangle.iter().any(|&v| skin.at(&twist.faces, v) > 0.5);
        let dual = normal(&twist.dual);
        twists && plain.norm() < WAIST * dual.norm() && now.dot(dual) >= 0.0
    };
    now.dot(plain) < 0.0 && !frame.twist.as_ref().is_some_and(keeps)
}

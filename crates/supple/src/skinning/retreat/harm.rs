//! What a displacement must not do: make triangles intersect that plain skinning keeps apart, stretch edges, turn
//! triangles round.
//!
//! Pairs are decided exactly, as in [`intersect`](crate::mesh::intersect), and looked for only around triangles that
//! moved since they were last looked at.

use glam::Vec3;

use super::Skin;
use super::frame::{Frame, Twist};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::mesh::bvh::Bvh;
use crate::mesh::intersect::intersecting;
use crate::mesh::measure::Bounds;
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

/// Looks after one frame.
#[derive(Debug)]
pub(super) struct Guard<'a> {
    skin: &'a Skin,
    frame: &'a Frame,
    /// How long each edge may be.
    longest: Vec<f32>,
    tree: Bvh,
    /// The positions that were looked at last.
    seen: Vec<Vec3>,
    /// Pairs that were found then.
    pairs: Vec<[u32; 2]>,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Harm {
    pub(super) vertices: Vec<(u32, Cause)>,
}

impl<'a> Guard<'a> {
    pub(super) fn new(skin: &'a Skin, frame: &'a Frame, run: &Run<'_>) -> Self {
        let tree = Bvh::new(&frame.plain, &skin.triangles, run);
        let longest = run.map(skin.edges.len(), |e| STRETCH * skin.measure_of(frame, e));
        Self { skin, frame, longest, tree, seen: frame.plain.clone(), pairs: Vec::new() }
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
        let moved = |t: &[u32; 3], old: &[Vec3]| {
            t.iter().any(|&v| positions[v as usize] != old[v as usize])
        };
        let triangles = &self.skin.triangles;
        for t in triangles.iter().filter(|t| moved(t, &self.frame.plain)) {
            if is_turned(self.skin, self.frame, t, positions) {
                let cause = Cause { turned: true, ..Cause::default() };
                harm.vertices.extend(t.map(|v| (v, cause)));
            }
        }
        let fresh: Vec<bool> = run.map(triangles.len(), |t| moved(&triangles[t], &self.seen));
        self.look_for_pairs(positions, &fresh, run)?;
        for t in self.pairs.as_flattened() {
            let cause = Cause { pair: true, ..Cause::default() };
            harm.vertices.extend(triangles[*t as usize].map(|v| (v, cause)));
        }
        self.seen.copy_from_slice(positions);
        Ok(harm)
    }

    fn look_for_pairs(
        &mut self,
        positions: &[Vec3],
        fresh: &[bool],
        run: &Run<'_>,
    ) -> Result<(), Cancelled> {
        let triangles = &self.skin.triangles;
        self.tree.refit(positions, triangles, run);
        let corners = |t: u32, at: &[Vec3]| triangles[t as usize].map(|v| at[v as usize]);
        let plain = &self.frame.plain;
        let is_new = |a: u32, b: u32| {
            intersecting(&corners(a, positions), &corners(b, positions))
                && !intersecting(&corners(a, plain), &corners(b, plain))
        };
        let moved: Vec<u32> = (0..fresh.len() as u32).filter(|&t| fresh[t as usize]).collect();
        let tree = &self.tree;
        let found = run.map(moved.len(), |k| {
            let t = moved[k];
            let near = match Bounds::of(&corners(t, positions)) {
                Some(around) if !run.is_cancelled() => tree.in_box(&around),
                _ => Vec::new(),
            };
            // Of two that moved the first finds the other.
            let other = |&o: &u32| o != t && !(o < t && fresh[o as usize]) && is_new(t, o);
            near.into_iter().filter(other).map(|o| [t.min(o), t.max(o)]).collect::<Vec<_>>()
        });
        run.check()?;
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.retain(|p| p.iter().all(|&t| !fresh[t as usize]));
        pairs.extend(found.into_iter().flatten());
        pairs.sort_unstable();
        self.pairs = pairs;
        Ok(())
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

//! Pairs of triangles that intersect in a shape and did not before it was changed, kept up to date while it changes.
//!
//! Pairs are looked for only around triangles that moved since they were last looked at, and decided exactly.

use glam::Vec3;

use super::{intersect, intersecting};
use crate::Run;
use crate::mesh::bvh::Bvh;
use crate::mesh::measure::{Bounds, is_flat};
use crate::run::Cancelled;

/// Watches a shape whose vertices move.
#[derive(Debug)]
pub(crate) struct AddedPairs<'a> {
    before: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    tree: Bvh,
    /// The positions that were looked at last.
    seen: Vec<Vec3>,
    /// Triangles that had no area then.
    flat: Vec<bool>,
    /// Pairs that were found then, smaller index first, sorted.
    pairs: Vec<[u32; 2]>,
    /// Pairs known to intersect before, sorted: exact answers take long.
    known: Vec<[u32; 2]>,
}

impl<'a> AddedPairs<'a> {
    /// For a shape as it is before anything moves.
    pub(crate) fn new(before: &'a [Vec3], triangles: &'a [[u32; 3]], run: &Run<'_>) -> Self {
        let tree = Bvh::new(before, triangles, run);
        let flat = run
            .map(triangles.len(), |t| is_flat(corners(&triangles[t], before).map(Vec3::as_dvec3)));
        let (pairs, known) = (Vec::new(), Vec::new());
        Self { before, triangles, tree, seen: before.to_vec(), flat, pairs, known }
    }

    /// The pairs with the vertices at `positions`, sorted.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] when the caller asked to stop.
    pub(crate) fn look(
        &mut self,
        positions: &[Vec3],
        run: &Run<'_>,
    ) -> Result<&[[u32; 2]], Cancelled> {
        let triangles = self.triangles;
        let moved =
            |t: &[u32; 3]| t.iter().any(|&v| positions[v as usize] != self.seen[v as usize]);
        let fresh: Vec<bool> = run.map(triangles.len(), |t| moved(&triangles[t]));
        let moved: Vec<u32> = (0..fresh.len() as u32).filter(|&t| fresh[t as usize]).collect();
        self.tree.refit(positions, triangles, run);
        for &t in &moved {
            let at = corners(&triangles[t as usize], positions);
            self.flat[t as usize] = is_flat(at.map(Vec3::as_dvec3));
        }
        let found = run.map(moved.len(), |k| match run.is_cancelled() {
            true => Vec::new(),
            false => self.met_by(moved[k], positions, &fresh),
        });
        run.check()?;
        self.pairs.retain(|p| p.iter().all(|&t| !fresh[t as usize]));
        for (pair, is_new) in found.into_iter().flatten() {
            if is_new { self.pairs.push(pair) } else { self.known.push(pair) }
        }
        self.pairs.sort_unstable();
        self.known.sort_unstable();
        self.seen.copy_from_slice(positions);
        Ok(&self.pairs)
    }

    /// The pairs of a triangle that moved, as far as they are not known, and whether they are new.
    fn met_by(&self, t: u32, positions: &[Vec3], fresh: &[bool]) -> Vec<([u32; 2], bool)> {
        let now = |t: u32| corners(&self.triangles[t as usize], positions);
        let before = |t: u32| corners(&self.triangles[t as usize], self.before);
        let around = Bounds::of(&now(t)).filter(|_| !self.flat[t as usize]);
        let near = around.map_or_else(Vec::new, |around| self.tree.in_box(&around));
        // Of two that moved the first finds the other.
        let others = near.into_iter().filter(|&o| o != t && !(o < t && fresh[o as usize]));
        let meets = |o: u32| {
            let pair = [t.min(o), t.max(o)];
            let is_open = !self.flat[o as usize] && self.known.binary_search(&pair).is_err();
            let meets = is_open && intersect(&now(t), &now(o));
            meets.then(|| (pair, !intersecting(&before(t), &before(o))))
        };
        others.filter_map(meets).collect()
    }

    /// What was found last.
    pub(crate) fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }
}

fn corners(triangle: &[u32; 3], at: &[Vec3]) -> [Vec3; 3] {
    triangle.map(|v| at[v as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::intersect::self_intersections;
    use crate::mesh::sample;

    /// Step by step what a search from scratch finds.
    #[test]
    fn watching_finds_what_counting_anew_does() {
        let (before, triangles) = sample::bumpy_sphere(8);
        let run = Run::default();
        let known = self_intersections(&before, &triangles, &run).unwrap();
        let mut watch = AddedPairs::new(&before, &triangles, &run);
        let mut most = 0;
        for step in 0..8 {
            // One half is pushed through the other and comes back.
            let deep = (step as f32 * 0.8).sin() * 1.5;
            let push =
                |x: &Vec3| if x.z > 0.2 { *x - Vec3::Z * deep * (x.z - 0.2) * 2.0 } else { *x };
            let positions: Vec<Vec3> = before.iter().map(push).collect();
            let mut all = self_intersections(&positions, &triangles, &run).unwrap();
            all.retain(|p| known.binary_search(p).is_err());
            assert_eq!(watch.look(&positions, &run).unwrap(), all, "step {step}");
            most = most.max(all.len());
        }
        assert!(most > 50, "a real case: {most}");
    }
}

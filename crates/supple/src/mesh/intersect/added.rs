//! Pairs of triangles that intersect in a shape and did not before it was changed, kept up to date while it changes.
//!
//! Pairs are looked for only around triangles that moved since they were last looked at, and decided exactly.

use glam::Vec3;

use super::intersecting;
use crate::Run;
use crate::mesh::bvh::Bvh;
use crate::mesh::measure::Bounds;
use crate::run::Cancelled;

/// Watches a shape whose vertices move.
#[derive(Debug)]
pub(crate) struct AddedPairs<'a> {
    before: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    tree: Bvh,
    /// The positions that were looked at last.
    seen: Vec<Vec3>,
    /// Pairs that were found then, smaller index first, sorted.
    pairs: Vec<[u32; 2]>,
}

impl<'a> AddedPairs<'a> {
    /// For a shape as it is before anything moves.
    pub(crate) fn new(before: &'a [Vec3], triangles: &'a [[u32; 3]], run: &Run<'_>) -> Self {
        let tree = Bvh::new(before, triangles, run);
        Self { before, triangles, tree, seen: before.to_vec(), pairs: Vec::new() }
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
        self.tree.refit(positions, triangles, run);
        let corners = |t: u32, at: &[Vec3]| triangles[t as usize].map(|v| at[v as usize]);
        let is_new = |a: u32, b: u32| {
            intersecting(&corners(a, positions), &corners(b, positions))
                && !intersecting(&corners(a, self.before), &corners(b, self.before))
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
        self.pairs.retain(|p| p.iter().all(|&t| !fresh[t as usize]));
        self.pairs.extend(found.into_iter().flatten());
        self.pairs.sort_unstable();
        self.seen.copy_from_slice(positions);
        Ok(&self.pairs)
    }

    /// What was found last.
    pub(crate) fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }
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

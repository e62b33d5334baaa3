//! What an operation did to the self-intersections of a shape.
//!
//! # Method
//!
//! Pairs are counted before and after ([`count_self_intersections`]). If the triangles are the same, those that
//! intersect afterwards and did not before are counted one by one; otherwise it is how many more there are.
//!
//! # Limits
//!
//! Above a million pairs only the difference of the numbers is told, which is a lower bound of what was added.

use glam::Vec3;
use serde::Serialize;

use super::intersect::{Count, count_self_intersections, self_intersections};
use crate::Run;
use crate::run::Cancelled;

/// So many pairs are held in memory.
const MOST_NAMED: u64 = 1_000_000;

/// Pairs of intersecting triangles before and after an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Folding {
    /// Pairs before.
    pub before: u64,
    /// Pairs after.
    pub after: u64,
    /// Pairs that intersect now and did not, or how many more there are if the triangles are others.
    pub added: u64,
    /// False if counting ended before all were found.
    pub is_all: bool,
}

/// A shape: positions and triangles.
pub type Soup<'a> = (&'a [Vec3], &'a [[u32; 3]]);

impl Folding {
    /// Counts the pairs of both shapes.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] when the caller asked to stop.
    ///
    /// # Panics
    ///
    /// If a triangle names a vertex that does not exist.
    pub fn between(before: Soup<'_>, after: Soup<'_>, run: &Run<'_>) -> Result<Self, Cancelled> {
        let [old, new]: [Count; 2] = [
            count_self_intersections(before.0, before.1, run)?,
            count_self_intersections(after.0, after.1, run)?,
        ];
        let is_all = old.is_all && new.is_all;
        let same = before.1 == after.1 && old.pairs > 0 && new.pairs > 0;
        let added = if same && is_all && old.pairs.max(new.pairs) <= MOST_NAMED {
            let known = self_intersections(before.0, before.1, run)?;
            let found = self_intersections(after.0, after.1, run)?;
            found.iter().filter(|pair| known.binary_search(pair).is_err()).count() as u64
        } else {
            new.pairs.saturating_sub(old.pairs)
        };
        Ok(Self { before: old.pairs, after: new.pairs, added, is_all })
    }

    /// What a person should know, if anything was added.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let at_least = if self.is_all { "" } else { "at least " };
        match self.added {
            0 => None,
            1 => Some(format!("{at_least}1 pair of triangles intersects that did not")),
            n => Some(format!("{at_least}{n} pairs of triangles intersect that did not")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flat triangle, and an upright one that goes through it if it is low enough.
    fn shape(height: f32) -> Vec<Vec3> {
        let up = |x: f32, y: f32, z: f32| Vec3::new(x, y, z + height);
        let upright = [up(0.5, 0.5, -1.0), up(0.5, 0.5, 1.0), up(5.0, 5.0, 0.0)];
        [[Vec3::ZERO, Vec3::X * 2.0, Vec3::Y * 2.0], upright].concat()
    }

    #[test]
    fn what_was_added_is_told_and_what_was_there_is_not() {
        let (triangles, run) = ([[0, 1, 2], [3, 4, 5]], Run::default());
        let between = |from: f32, to: f32| {
            Folding::between((&shape(from), &triangles), (&shape(to), &triangles), &run).unwrap()
        };
        assert_eq!(between(3.0, 3.0), Folding { is_all: true, ..Folding::default() });
        let folded = between(3.0, 0.0);
        assert_eq!((folded.before, folded.after, folded.added), (0, 1, 1));
        assert!(folded.warning().is_some_and(|w| w.starts_with("1 pair")), "told");
        assert_eq!((between(0.0, 0.1).added, between(0.0, 3.0).added), (0, 0));
    }
}

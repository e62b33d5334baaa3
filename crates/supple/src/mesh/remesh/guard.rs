//! What a change of a few triangles must not do: fold, flatten, or run into the rest of the mesh.

use glam::{DVec3, Vec3};

use super::beside::Beside;
use super::index::{Index, bounds_of};
use super::work::Work;
use crate::lengths::Lengths as _;
use crate::mesh::intersect::intersecting;
use crate::mesh::measure::Bounds;

/// Triangles thinner than this (height over longest side) are not made.
const THINNEST: f64 = 1e-3;

/// What a change may meet, and scratch lists of [`Guard::admits`].
#[derive(Debug, Default)]
pub(super) struct Guard<'a> {
    /// Whether the mesh met itself, or what stands beside it, to begin with: then a change must not add to that.
    pub(super) dirty: bool,
    pub(super) beside: Option<&'a Beside>,
    near: Vec<([Vec3; 3], Bounds)>,
}

impl<'a> Guard<'a> {
    pub(super) fn new(dirty: bool, beside: Option<&'a Beside>) -> Self {
        Self { dirty, beside, near: Vec::new() }
    }

    /// Whether triangles `old` may be replaced by `new` without a pair more that intersects.
    pub(super) fn admits(
        &mut self,
        work: &Work,
        index: &Index,
        new: &[[Vec3; 3]],
        old: &[u32],
    ) -> bool {
        self.gather(work, index, new, old);
        if !self.dirty {
            return self.count(new, 1) == 0;
        }
        let found = self.count(new, usize::MAX);
        if found == 0 {
            return true;
        }
        let before: Vec<[Vec3; 3]> = old.iter().map(|&t| work.corners_of(t)).collect();
        self.gather(work, index, &before, old);
        found <= self.count(&before, found)
    }

    /// Collects the triangles near `new` that are not replaced.
    fn gather(&mut self, work: &Work, index: &Index, new: &[[Vec3; 3]], old: &[u32]) {
        let all = new.iter().fold(Bounds::EMPTY, |b, t| b.union(&bounds_of(t)));
        self.near.clear();
        index.near(&all, |t| {
            if work.is_alive(t) && !old.contains(&t) {
                let corners = work.corners_of(t);
                let bounds = bounds_of(&corners);
                if bounds.overlaps(&all) {
                    self.near.push((corners, bounds));
                }
            }
            false
        });
        if let Some(beside) = self.beside {
            self.near.extend(beside.near(&all).map(|corners| (corners, bounds_of(&corners))));
        }
    }

    /// Pairs of `new` among themselves and with what is near, up to `enough`.
    fn count(&self, new: &[[Vec3; 3]], enough: usize) -> usize {
        let mut pairs = 0;
        for (i, a) in new.iter().enumerate() {
            let own = bounds_of(a);
            let others = self.near.iter().filter(|(_, b)| b.overlaps(&own)).map(|(c, _)| c);
            for b in others.chain(&new[i + 1..]) {
                pairs += usize::from(intersecting(a, b));
                if pairs >= enough {
                    return pairs;
                }
            }
        }
        pairs
    }
}

/// Twice the area, along the normal.
pub(super) fn normal(corners: &[Vec3; 3]) -> DVec3 {
    let [a, b, c] = corners.map(Vec3::as_dvec3);
    (b - a).cross(c - a)
}

/// The normal of a triangle that is not too thin.
pub(super) fn sound_normal(corners: &[Vec3; 3]) -> Option<DVec3> {
    let n = normal(corners);
    let [a, b, c] = corners.map(Vec3::as_dvec3);
    let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
    let size = n.norm();
    (size > THINNEST * longest).then(|| n / size)
}

/// Smallest of the shape measures of triangles: 1 for an equilateral one, 0 for a flat one.
pub(super) fn quality(corners: &[Vec3; 3]) -> f64 {
    let [a, b, c] = corners.map(Vec3::as_dvec3);
    let sum = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
    if sum > 0.0 { normal(corners).norm() * 2.0 * 3.0_f64.sqrt() / sum } else { 0.0 }
}

//! Bounds, area, and how far one pose of a mesh is from another.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::{Run, mesh::measure};
//!
//! let rest = [Vec3::ZERO, Vec3::X, Vec3::Y];
//! let moved = rest.map(|p| Vec3::new(3.0 * p.x, p.y, p.z));
//! assert_eq!(measure::area(&rest, &[[0, 1, 2]], &Run::default()), 0.5);
//! assert_eq!(measure::max_edge_stretch(&rest, &moved, &[[0, 1, 2]], &Run::default()), 3.0);
//! assert_eq!(measure::displacement(&rest, &moved, &Run::default()).max, 2.0);
//! ```

use glam::{DVec3, Vec3};

use crate::Run;
use crate::lengths::Lengths as _;

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Smallest coordinates.
    pub min: Vec3,
    /// Largest coordinates.
    pub max: Vec3,
}

impl Bounds {
    /// The box around nothing: growing it by a point gives that point.
    pub const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// The smallest box around the points; `None` if there are none.
    #[must_use]
    pub fn of(points: &[Vec3]) -> Option<Self> {
        let first = *points.first()?;
        let grow = |b: Self, &p: &Vec3| Self { min: b.min.min(p), max: b.max.max(p) };
        Some(points.iter().fold(Self { min: first, max: first }, grow))
    }

    /// Middle of the box.
    #[must_use]
    pub fn center(&self) -> Vec3 {
        0.5 * (self.min + self.max)
    }

    /// Edge lengths.
    #[must_use]
    pub fn size(&self) -> Vec3 {
        self.max - self.min
    }

    /// Length of the diagonal.
    #[must_use]
    pub fn diagonal(&self) -> f32 {
        self.size().norm()
    }

    /// The smallest box around both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box with its faces farther out by a distance.
    #[must_use]
    pub fn grown(&self, by: f32) -> Self {
        Self { min: self.min - by, max: self.max + by }
    }

    /// True if the boxes share a point; touching counts.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }
}

/// Surface area.
#[must_use]
pub fn area(positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> f64 {
    let twice = run.sum(triangles.len(), |t| {
        let [a, b, c] = triangles[t].map(|i| positions[i as usize].as_dvec3());
        (b - a).cross(c - a).norm()
    });
    0.5 * twice
}

/// How many triangles have no area: their corners lie on one line or one point, exactly.
#[must_use]
pub fn degenerate_triangles(positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> usize {
    let count = run.sum(triangles.len(), |t| {
        let corners = triangles[t].map(|i| positions[i as usize].as_dvec3());
        f64::from(u8::from(is_flat(corners)))
    });
    count as usize
}

/// True if three points are exactly on one line: all three projections along an axis have no area.
#[must_use]
pub(crate) fn is_flat([a, b, c]: [DVec3; 3]) -> bool {
    let side = |u: usize, v: usize| {
        let [a, b, c] = [a, b, c].map(|p| robust::Coord { x: p[u], y: p[v] });
        robust::orient2d(a, b, c)
    };
    // Rounded, but far from zero: the common case.
    let normal = (b - a).cross(c - a).abs().max_element();
    let size = (b - a).abs().max_element().max((c - a).abs().max_element());
    if normal > 1e-9 * size * size {
        return false;
    }
    side(0, 1) == 0.0 && side(1, 2) == 0.0 && side(2, 0) == 0.0
}

/// How far vertices moved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Displacement {
    /// The largest distance.
    pub max: f64,
    /// The mean distance.
    pub mean: f64,
}

/// How far each vertex of `rest` is from the same vertex of `moved`; zero without vertices.
///
/// Vertices that only one of the two has are left out.
#[must_use]
pub fn displacement(rest: &[Vec3], moved: &[Vec3], run: &Run<'_>) -> Displacement {
    let n = rest.len().min(moved.len());
    let distance = |i: usize| moved[i].as_dvec3().distance_to(rest[i].as_dvec3());
    let sum = run.sum(n, distance);
    Displacement { max: (0..n).map(distance).fold(0.0, f64::max), mean: sum / n.max(1) as f64 }
}

/// The largest ratio of an edge's length in `moved` to its length in `rest`; one without edges.
///
/// Edges of no length in `rest` are left out. A value below one means that every edge shrank.
///
/// # Panics
///
/// If a triangle names a vertex that either list does not have.
#[must_use]
pub fn max_edge_stretch(
    rest: &[Vec3],
    moved: &[Vec3],
    triangles: &[[u32; 3]],
    run: &Run<'_>,
) -> f64 {
    let length =
        |p: &[Vec3], a: u32, b: u32| p[a as usize].as_dvec3().distance_to(p[b as usize].as_dvec3());
    let ratio = |a, b| match length(rest, a, b) {
        0.0 => f64::NEG_INFINITY,
        before => length(moved, a, b) / before,
    };
    let of_triangle = |t: usize| {
        let [a, b, c] = triangles[t];
        ratio(a, b).max(ratio(b, c)).max(ratio(c, a))
    };
    let tasks = run.map_tasks(triangles.len().div_ceil(TASK), |task| {
        let end = ((task + 1) * TASK).min(triangles.len());
        (task * TASK..end).map(of_triangle).fold(f64::NEG_INFINITY, f64::max)
    });
    let largest = tasks.into_iter().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY { 1.0 } else { largest }
}

/// Triangles a task looks at.
const TASK: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_triangle_is_found_and_a_thin_one_is_not() {
        let run = Run::default();
        let a = Vec3::new(0.1, 0.7, -0.3);
        let along = Vec3::new(1.0, 0.5, 0.25);
        let points = [a, a, Vec3::ZERO, along, 3.0 * along, 3.0 * along + Vec3::Y * 1e-6];
        let flat = [[0, 1, 2], [2, 3, 4], [5, 5, 0]];
        let thin = [[2, 3, 5], [0, 2, 3]];
        assert_eq!(degenerate_triangles(&points, &flat, &run), 3);
        assert_eq!(degenerate_triangles(&points, &thin, &run), 0);
    }

    #[test]
    fn stretch_and_displacement_of_a_known_map() {
        let run = Run::default();
        let rest = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ZERO];
        let moved = [Vec3::ZERO, Vec3::X * 0.5, Vec3::Y * 0.25, Vec3::Z];
        let stretch = max_edge_stretch(&rest, &moved, &[[0, 1, 2]], &run);
        assert!((stretch - 0.5).abs() < 1e-12, "every edge shrank: {stretch}");
        let stretch = max_edge_stretch(&rest, &moved, &[[0, 3, 1]], &run);
        assert!((stretch - 1.25_f64.sqrt()).abs() < 1e-12, "no length at rest: {stretch}");
        assert_eq!(max_edge_stretch(&rest, &moved, &[], &run).to_bits(), 1.0_f64.to_bits());
        let moved_by = displacement(&rest, &moved, &run);
        assert_eq!(moved_by, Displacement { max: 1.0, mean: (0.5 + 0.75 + 1.0) / 4.0 });
        assert_eq!(displacement(&[], &[], &run), Displacement::default());
    }

    #[test]
    fn boxes_that_touch_overlap() {
        let a = Bounds { min: Vec3::ZERO, max: Vec3::ONE };
        let b = Bounds { min: Vec3::X, max: Vec3::splat(2.0) };
        assert!(a.overlaps(&b) && b.overlaps(&a), "touching counts");
        let c = Bounds { min: Vec3::X * 1.5, max: Vec3::splat(2.0) };
        assert!(!a.overlaps(&c) && b.overlaps(&c), "apart along x");
        assert_eq!(a.union(&Bounds::EMPTY), a);
    }
}

//! Enclosed volume.
//!
//! # Method
//!
//! The divergence theorem turns the enclosed volume into a sum over triangles of the signed volume
//! of the tetrahedron they span with a reference point. For a closed mesh the point does not matter;
//! the centroid of the vertices keeps the terms, and so the rounding, small. Sums are f64.

use glam::{DVec3, Vec3};

use crate::Run;

/// Signed volume: positive if triangles are counter-clockwise seen from outside.
///
/// For an open mesh this is the volume closed by the cone from the boundary to the centroid.
#[must_use]
pub fn volume(positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> f64 {
    let origin = centroid(positions, run);
    let six = run.sum(triangles.len(), |t| {
        let [a, b, c] = triangles[t].map(|i| positions[i as usize].as_dvec3() - origin);
        a.dot(b.cross(c))
    });
    six / 6.0
}

/// Mean of the vertices; the origin if there are none.
#[must_use]
pub fn centroid(positions: &[Vec3], run: &Run<'_>) -> DVec3 {
    let n = positions.len();
    let mean = |axis: usize| run.sum(n, |i| f64::from(positions[i][axis])) / n.max(1) as f64;
    DVec3::new(mean(0), mean(1), mean(2))
}

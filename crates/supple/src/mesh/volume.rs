//! Enclosed volume.
//!
//! # Method
//!
//! The divergence theorem turns the enclosed volume into a sum over triangles of the signed volume
//! of the tetrahedron they span with a reference point. For a closed mesh the point does not matter;
//! the centroid of the vertices keeps the terms, and so the rounding, small. Sums are f64.
//!
//! # Limits
//!
//! Far from the origin the positions themselves are coarse; what they enclose is still measured to
//! about fifteen digits (`far_from_the_origin_nothing_is_lost`).
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::{Run, mesh::volume::volume};
//!
//! let corner = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
//! let tetrahedron = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
//! let sixth = volume(&corner, &tetrahedron, &Run::default());
//! assert!((sixth - 1.0 / 6.0).abs() < 1e-15);
//! ```

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

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: [[u32; 3]; 12] = [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ];

    fn corners(at: Vec3, size: Vec3) -> Vec<Vec3> {
        let bit = |i: u32, axis: u32| (i >> axis & 1) as f32;
        (0..8).map(|i| at + size * Vec3::new(bit(i, 0), bit(i, 1), bit(i, 2))).collect()
    }

    #[test]
    fn a_box_has_its_volume_and_its_sign() {
        let run = Run::default();
        let points = corners(Vec3::new(-3.0, 1.0, 0.5), Vec3::new(2.0, 3.0, 0.5));
        assert!((volume(&points, &BOX, &run) - 3.0).abs() < 1e-14, "2 · 3 · ½");
        let inside_out = BOX.map(|[a, b, c]| [a, c, b]);
        assert!((volume(&points, &inside_out, &run) + 3.0).abs() < 1e-14, "negative inside out");
    }

    /// The positions below are exact in f32, so only the sum can lose digits.
    #[test]
    fn far_from_the_origin_nothing_is_lost() {
        let run = Run::default();
        let points = corners(Vec3::splat(1e6), Vec3::new(1.0, 2.0, 0.25));
        let found = volume(&points, &BOX, &run);
        assert!((found - 0.5).abs() < 1e-12, "{found}");
    }
}

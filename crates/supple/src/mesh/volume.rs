//! Enclosed volume.
//!
//! # Method
//!
//! The divergence theorem turns the enclosed volume into a sum over triangles of the signed volume
//! of the tetrahedron they span with a reference point, (6.1). For a closed mesh the point does not matter;
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
use pulp::{Simd, WithSimd};

use crate::Run;
use crate::lanes::{Lanes, WIDTH};

/// Vertices summed up in one task, and blocks of triangles: fixed, so that the thread count changes no
/// bits.
const CHUNK: usize = 1024;
const BLOCKS: usize = CHUNK / WIDTH;

/// Blocks that are loaded before they are measured: a block that was written lane by lane cannot be read
/// at once.
const GROUP: usize = 8;

/// Signed volume: positive if triangles are counter-clockwise seen from outside.
///
/// For an open mesh this is the volume closed by the cone from the boundary to the centroid.
#[must_use]
pub fn volume(positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> f64 {
    let origin = centroid(positions, run);
    let arch = pulp::Arch::new();
    let mut six_volumes = vec![0.0; triangles.len().div_ceil(WIDTH)];
    run.for_each_piece(&mut six_volumes, BLOCKS, |start, six_volumes| {
        let triangles = &triangles[start * WIDTH..];
        arch.dispatch(Cones { positions, triangles, origin, six_volumes });
    });
    six_volumes.iter().sum::<f64>() / 6.0
}

/// Mean of the vertices; the origin if there are none.
#[must_use]
pub fn centroid(positions: &[Vec3], run: &Run<'_>) -> DVec3 {
    let n = positions.len();
    let sum: DVec3 = run
        .map_tasks(n.div_ceil(CHUNK), |c| sum(&positions[c * CHUNK..n.min((c + 1) * CHUNK)]))
        .into_iter()
        .sum();
    sum / n.max(1) as f64
}

/// Four sums beside each other, so that no addition waits for the last one.
fn sum(points: &[Vec3]) -> DVec3 {
    let mut sums = [DVec3::ZERO; 4];
    let fours = points.chunks_exact(4);
    let rest: DVec3 = fours.remainder().iter().map(|x| x.as_dvec3()).sum();
    for four in fours {
        for (sum, x) in sums.iter_mut().zip(four) {
            *sum += x.as_dvec3();
        }
    }
    sums.into_iter().sum::<DVec3>() + rest
}

/// Six times the volumes of tetrahedra with a common tip, in blocks.
struct Cones<'a> {
    positions: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    origin: DVec3,
    six_volumes: &'a mut [f64],
}

impl WithSimd for Cones<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let groups = self.triangles.chunks(GROUP * WIDTH);
        for (triangles, sums) in groups.zip(self.six_volumes.chunks_mut(GROUP)) {
            let mut blocks = [[Lanes::ZERO; 3]; GROUP];
            for (triangles, corners) in triangles.chunks(WIDTH).zip(&mut blocks) {
                load(self.positions, triangles, corners);
            }
            for (corners, sum) in blocks.iter().zip(sums) {
                let mut six_volumes = [0.0; WIDTH];
                for (i, volume) in six_volumes.iter_mut().enumerate() {
                    *volume = cone(corners, self.origin, i);
                }
                *sum = six_volumes.iter().sum();
            }
        }
    }
}

/// The corners of some triangles; lanes beyond the last hold one that has shrunk to a point: it has
/// neither area nor volume.
#[inline(always)]
pub(super) fn corners(positions: &[Vec3], triangles: &[[u32; 3]]) -> [Lanes<WIDTH>; 3] {
    let mut corners = [Lanes::ZERO; 3];
    load(positions, triangles, &mut corners);
    corners
}

#[inline(always)]
fn load(positions: &[Vec3], triangles: &[[u32; 3]], corners: &mut [Lanes<WIDTH>; 3]) {
    for (lane, &[a, b, c]) in triangles.iter().enumerate() {
        corners[0].set(lane, positions[a as usize]);
        corners[1].set(lane, positions[b as usize]);
        corners[2].set(lane, positions[c as usize]);
    }
    for lane in triangles.len()..WIDTH {
        for corner in &mut *corners {
            corner.set(lane, positions[triangles[0][0] as usize]);
        }
    }
}

/// Six times the volume between the triangle in a lane and the origin.
#[inline(always)]
fn cone([a, b, c]: &[Lanes<WIDTH>; 3], origin: DVec3, i: usize) -> f64 {
    let (ax, bx, cx) = (f64::from(a.x[i]), f64::from(b.x[i]), f64::from(c.x[i]));
    let (ay, by, cy) = (f64::from(a.y[i]), f64::from(b.y[i]), f64::from(c.y[i]));
    let (az, bz, cz) = (f64::from(a.z[i]), f64::from(b.z[i]), f64::from(c.z[i]));
    let (ax, bx, cx) = (ax - origin.x, bx - origin.x, cx - origin.x);
    let (ay, by, cy) = (ay - origin.y, by - origin.y, cy - origin.y);
    let (az, bz, cz) = (az - origin.z, bz - origin.z, cz - origin.z);
    ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
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

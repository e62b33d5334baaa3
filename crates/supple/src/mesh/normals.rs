//! Angle-weighted vertex normals.
//!
//! # Method
//!
//! The normal of a vertex is the sum of the unit normals of its triangles, each weighted by the
//! triangle's angle at the vertex, made unit length. Unlike weights by area, this does not depend on
//! how a flat region is cut into triangles. With `n = (b − a) × (c − a)`, the angle at a corner with
//! sides `u`, `v` is `atan2(|n|, u·v)`: good for needles as for right angles, and never NaN.
//!
//! Triangles are weighed in parallel, a block at a time, and added up in their order: the same bits
//! for any thread count. For one mesh again and again there is [`Shading`](super::shading::Shading).
//!
//! # Where we differ
//!
//! Cross products and lengths are f64, so that neither tiny nor huge triangles are lost; the angle
//! is a polynomial good to 2⁻²², the same bits on every machine.
//!
//! # References
//!
//! - G. Thürmer, C. A. Wüthrich. Computing Vertex Normals from Polygonal Facets.
//!   Journal of Graphics Tools, 1998.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::{Run, mesh::normals::vertex_normals};
//!
//! let normals = vertex_normals(&[Vec3::ZERO, Vec3::X, Vec3::Y], &[[0, 1, 2]], &Run::default());
//! assert_eq!(normals, [Vec3::Z; 3]);
//! ```

use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use glam::{Vec3, Vec3A};
use pulp::{Simd, WithSimd};

use super::adjacency::{others, vertex_triangles};
use super::attribute::NORMAL;
use super::volume::corners;
use super::{CornerAttribute, TriMesh, Values};
use crate::Run;
use crate::lanes::{Lanes, WIDTH};
use crate::lengths::Lengths as _;

/// Triangles weighed before their normals are added up: bounds the memory, not the result.
const BATCH: usize = 1 << 16;

/// Blocks weighed in one task.
const BLOCKS_A_TASK: usize = 16;

/// Sixteen triangles, weighed.
#[derive(Clone, Copy)]
pub(super) struct Fans {
    /// Of unit length; zero for a triangle without an area.
    pub(super) normals: Lanes<WIDTH>,
    /// At the three corners.
    pub(super) angles: [[f32; WIDTH]; 3],
}

impl Fans {
    pub(super) const NONE: Self = Self { normals: Lanes::ZERO, angles: [[0.0; WIDTH]; 3] };
}

/// Unit normals, each the sum of the adjacent triangles' normals weighted by their angle at the
/// vertex.
///
/// Zero for a vertex without a triangle of positive area. A run that is cancelled gives some of the
/// sums only.
#[must_use]
pub fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> Vec<Vec3> {
    let arch = pulp::Arch::new();
    let mut sums = vec![Vec3A::ZERO; positions.len()];
    let mut weighed = vec![Fans::NONE; triangles.len().min(BATCH).div_ceil(WIDTH)];
    for batch in triangles.chunks(BATCH) {
        let weighed = &mut weighed[..batch.len().div_ceil(WIDTH)];
        run.for_each_piece(weighed, BLOCKS_A_TASK, |start, weighed| {
            arch.dispatch(Weigh { positions, triangles: &batch[start * WIDTH..], weighed });
        });
        if run.is_cancelled() {
            break;
        }
        add_up(batch, weighed, &mut sums);
    }
    run.map(sums.len(), |i| Vec3::from(sums[i]).unit_or_zero())
}

/// Unit normals of corners, smooth across the edges whose triangles meet at no more than `degrees`.
///
/// Each is the sum of the triangles' normals that are linked to its own around the vertex, weighted by their angles
/// there. At 0 degrees every triangle has its own, and the shape is shaded flat.
#[must_use]
pub fn creased_normals(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    degrees: f32,
    run: &Run<'_>,
) -> CornerAttribute {
    let cosine = degrees.to_radians().cos();
    let corner = |t: usize, k: usize| positions[triangles[t][k % 3] as usize];
    let normals = run.map(triangles.len(), |t| {
        (corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0)).unit_or_zero()
    });
    let around = vertex_triangles(positions.len(), triangles);
    let smooth = degrees > 0.0;
    let links = |t: u32, u: u32| smooth && normals[t as usize].dot(normals[u as usize]) >= cosine;
    // The first is for triangles that name a vertex twice.
    let mut values = vec![Vec3::Z];
    let mut rows = vec![[0; 3]; triangles.len()];
    for v in 0..positions.len() {
        let (here, first) = (around.row(v), values.len());
        let fans = fans(triangles, here, v as u32, links);
        values.resize(first + here.len(), Vec3::ZERO);
        for (&t, &fan) in here.iter().zip(&fans) {
            let k = triangles[t as usize].iter().position(|&w| w as usize == v).unwrap_or(0);
            let [a, b] = [1, 2].map(|i| corner(t as usize, k + i) - corner(t as usize, k));
            let angle = a.cross(b).norm().atan2(a.dot(b));
            values[first + fan as usize] += angle * normals[t as usize];
            rows[t as usize][k] = first as u32 + fan;
        }
    }
    let values = values.into_iter().map(|n| n.unit_or_zero()).collect();
    CornerAttribute { name: NORMAL.to_owned(), values: Values::Vec3(values), triangles: rows }
}

/// For each triangle around a vertex the first of its fan: those linked across edges of which `links` says so.
fn fans(
    triangles: &[[u32; 3]],
    here: &[u32],
    v: u32,
    links: impl Fn(u32, u32) -> bool,
) -> Vec<u32> {
    let mut fans: Vec<u32> = (0..here.len() as u32).collect();
    let root = |fans: &mut Vec<u32>, mut i: u32| {
        while fans[i as usize] != i {
            fans[i as usize] = fans[fans[i as usize] as usize];
            i = fans[i as usize];
        }
        i
    };
    let mut spokes: Vec<(u32, u32)> = (0..)
        .zip(here)
        .flat_map(|(i, &t)| others(triangles[t as usize], v).map(|end| (end, i)))
        .collect();
    spokes.sort_unstable();
    for pair in spokes.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let [i, j] = [pair[0].1, pair[1].1];
        if links(here[i as usize], here[j as usize]) {
            let (a, b) = (root(&mut fans, i), root(&mut fans, j));
            fans[a.max(b) as usize] = a.min(b);
        }
    }
    (0..here.len() as u32).map(|i| root(&mut fans, i)).collect()
}

/// Corners of a shape that is shaded flat have the normals of their triangles: nearly all, by nearly all of a
/// right angle.
const FLAT_SHARE: f64 = 0.99;
const FLAT_COSINE: f32 = 0.999;

/// Whether the normals of a mesh are those of its triangles.
#[must_use]
pub fn is_flat_shaded(mesh: &TriMesh) -> bool {
    let corner = mesh.corners.iter().find(|c| c.name == NORMAL);
    let (values, rows) = match (corner, mesh.attributes.get(NORMAL)) {
        (Some(corner), _) => (&corner.values, &corner.triangles),
        (None, Some(values)) => (values, &mesh.triangles),
        (None, None) => return false,
    };
    let Values::Vec3(values) = values else { return false };
    let flat = |t: usize| {
        let [a, b, c] = mesh.corners_of(t);
        let normal = (b - a).cross(c - a).unit_or_zero();
        rows[t].iter().filter(|&&i| values[i as usize].dot(normal) > FLAT_COSINE).count()
    };
    let found: usize = (0..rows.len()).map(flat).sum();
    found as f64 >= FLAT_SHARE * 3.0 * rows.len() as f64
}

/// Adds the triangles up at their corners, in their order.
fn add_up(triangles: &[[u32; 3]], weighed: &[Fans], sums: &mut [Vec3A]) {
    for (triangles, fans) in triangles.chunks(WIDTH).zip(weighed) {
        for (lane, triangle) in triangles.iter().enumerate() {
            let normal = Vec3A::from(fans.normals.get(lane));
            for (&vertex, angles) in triangle.iter().zip(&fans.angles) {
                sums[vertex as usize] += angles[lane] * normal;
            }
        }
    }
}

/// Weighs triangles, a block of lanes at a time.
struct Weigh<'a> {
    positions: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    weighed: &'a mut [Fans],
}

impl WithSimd for Weigh<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (triangles, fans) in self.triangles.chunks(WIDTH).zip(self.weighed) {
            *fans = weigh(&corners(self.positions, triangles)).0;
        }
    }
}

/// Weighs the triangles of a block; also returns their normals with twice the area as length.
#[inline(always)]
pub(super) fn weigh(triangles: &[Lanes<WIDTH>; 3]) -> (Fans, [[f64; WIDTH]; 3]) {
    let mut normals = Lanes::<WIDTH>::ZERO;
    let mut cotangents = [[0.0; WIDTH]; 3];
    let mut areas = [[0.0; WIDTH]; 3];
    for i in 0..WIDTH {
        let ([ux, uy, uz], [vx, vy, vz], [wx, wy, wz]) = sides(triangles, i);
        let (nx, ny, nz) = (wy * uz - wz * uy, wz * ux - wx * uz, wx * uy - wy * ux);
        (areas[0][i], areas[1][i], areas[2][i]) = (nx, ny, nz);
        // Infinite without an area: then nothing is left of the triangle.
        let per_length = 1.0 / (nx * nx + ny * ny + nz * nz).sqrt();
        let per_length = if per_length < f64::INFINITY { per_length } else { 0.0 };
        normals.x[i] = (nx * per_length) as f32;
        normals.y[i] = (ny * per_length) as f32;
        normals.z[i] = (nz * per_length) as f32;
        // The products of an angle's sides over twice the area.
        cotangents[0][i] = ((wx * ux + wy * uy + wz * uz) * -per_length) as f32;
        cotangents[1][i] = ((ux * vx + uy * vy + uz * vz) * -per_length) as f32;
        cotangents[2][i] = ((vx * wx + vy * wy + vz * wz) * -per_length) as f32;
    }
    // One by one: a closure would not be compiled for the vector instructions at hand.
    let angles = [angles_of(&cotangents[0]), angles_of(&cotangents[1]), angles_of(&cotangents[2])];
    (Fans { normals, angles }, areas)
}

/// The sides of the triangle in a lane, from the first corner on, component by component: the
/// compiler makes vector instructions of it.
#[inline(always)]
fn sides([a, b, c]: &[Lanes<WIDTH>; 3], i: usize) -> ([f64; 3], [f64; 3], [f64; 3]) {
    let [ax, ay, az] = [a.x[i], a.y[i], a.z[i]].map(f64::from);
    let [bx, by, bz] = [b.x[i], b.y[i], b.z[i]].map(f64::from);
    let [cx, cy, cz] = [c.x[i], c.y[i], c.z[i]].map(f64::from);
    ([bx - ax, by - ay, bz - az], [cx - bx, cy - by, cz - bz], [ax - cx, ay - cy, az - cz])
}

/// The angle of each cotangent, in `0..=π`, within 3e-7.
///
/// Step by step and without a branch, so that the compiler makes vector instructions of it.
#[inline(always)]
pub(crate) fn angles_of<const L: usize>(cotangents: &[f32; L]) -> [f32; L] {
    const TAN_OF_EIGHTH: f32 = 0.414_213_57;
    let mut angles = [0.0; L];
    for i in 0..L {
        let steepness = cotangents[i].abs();
        // The angle to the nearer axis has a tangent of at most one.
        let is_flat = steepness > 1.0;
        let (small, large) = if is_flat { (1.0, steepness) } else { (steepness, 1.0) };
        // Nearer to the diagonal it is the angle to that. Both sides of the fraction are chosen, so that
        // there is one division and no branch.
        let is_diagonal = small > TAN_OF_EIGHTH * large;
        let over = if is_diagonal { small - large } else { small };
        let under = if is_diagonal { small + large } else { large };
        let offset = if is_diagonal { FRAC_PI_4 } else { 0.0 };
        // The odd polynomial of Cephes' `atanf`.
        let t = over / under;
        let z = t * t;
        let p = ((0.080_537_44 * z - 0.138_776_85) * z + 0.199_777_11) * z - 0.333_329_5;
        let acute = offset + (p * z * t + t);
        let first_quadrant = if is_flat { acute } else { FRAC_PI_2 - acute };
        angles[i] = if cotangents[i] < 0.0 { PI - first_quadrant } else { first_quadrant };
    }
    angles
}

#[cfg(test)]
mod tests {
    use glam::{DVec3, Quat};

    use super::*;

    /// The plain loop of the definition, in f64.
    fn oracle(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<DVec3> {
        let mut normals = vec![DVec3::ZERO; positions.len()];
        for triangle in triangles {
            let p = triangle.map(|i| positions[i as usize].as_dvec3());
            let face = (p[1] - p[0]).cross(p[2] - p[0]).normalize_or_zero();
            for k in 0..3 {
                let (u, v) = (p[(k + 1) % 3] - p[k], p[(k + 2) % 3] - p[k]);
                normals[triangle[k] as usize] += u.cross(v).length().atan2(u.dot(v)) * face;
            }
        }
        normals.into_iter().map(DVec3::normalize_or_zero).collect()
    }

    /// A bumpy patch of `n × n` squares, twisted enough that all angles occur.
    fn patch(n: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let point = |i: u32| {
            let (x, y) = ((i % (n + 1)) as f32, (i / (n + 1)) as f32);
            Vec3::new(x + 0.4 * (3.0 * y).sin(), y + 0.3 * x.cos(), 1.5 * (x * 0.7 + y).sin())
        };
        let positions = (0..(n + 1) * (n + 1)).map(point).collect();
        let square = |i: u32| {
            let v = i / n * (n + 1) + i % n;
            [[v, v + 1, v + n + 2], [v, v + n + 2, v + n + 1]]
        };
        (positions, (0..n * n).flat_map(square).collect())
    }

    #[test]
    fn agrees_with_the_definition() {
        let (positions, triangles) = patch(40);
        let found = vertex_normals(&positions, &triangles, &Run::default());
        for (f, o) in found.iter().zip(oracle(&positions, &triangles)) {
            assert!(f.as_dvec3().distance(o) < 1e-6, "{f} instead of {o}");
        }
    }

    /// The corner of a cube: three right angles however its faces are cut.
    #[test]
    fn a_cube_corner_points_along_the_diagonal() {
        let p = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::new(1.0, 1.0, 0.0)];
        let cut = [[0, 4, 1], [0, 2, 4], [0, 1, 3], [0, 3, 2]];
        let n = vertex_normals(&p, &cut, &Run::default())[0];
        assert!(n.distance(-Vec3::ONE.normalize_or_zero()) < 1e-6, "{n}");
    }

    #[test]
    fn turns_and_scales_with_the_mesh() {
        let (positions, triangles) = patch(20);
        let turn = Quat::from_xyzw(0.1, -0.5, 0.3, 0.8).normalize();
        let plain = vertex_normals(&positions, &triangles, &Run::default());
        for scale in [1e-15, 1.0, 1e15] {
            let moved: Vec<Vec3> = positions.iter().map(|&p| turn * p * scale).collect();
            let turned = vertex_normals(&moved, &triangles, &Run::default());
            for (t, p) in turned.iter().zip(&plain) {
                assert!(t.distance(turn * *p) < 1e-5, "{t} at scale {scale}");
            }
        }
    }

    #[test]
    fn degenerate_triangles_give_no_nan() {
        let p = [Vec3::ZERO, Vec3::X, Vec3::X * 2.0, Vec3::Y, Vec3::ZERO];
        let n = vertex_normals(&p, &[[0, 1, 2], [0, 0, 1], [0, 1, 3], [4, 4, 4]], &Run::default());
        assert_eq!(n, [Vec3::Z, Vec3::Z, Vec3::ZERO, Vec3::Z, Vec3::ZERO]);
    }

    #[test]
    fn the_angle_is_atan2() {
        for i in 0..=10_000 {
            let a = 3.2 * f64::from(i) / 10_000.0;
            let (y, x) = (a.sin().max(1e-300), a.cos());
            let error = (f64::from(angles_of(&[(x / y) as f32])[0]) - y.atan2(x)).abs();
            assert!(error < 3e-7, "off by {error} at {a}");
        }
    }

    #[test]
    fn same_bits_for_any_thread_count() {
        let (positions, triangles) = patch(200);
        let serial = vertex_normals(&positions, &triangles, &Run::default());
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = Run { threads: Some(&pool), ..Run::default() };
            assert_eq!(vertex_normals(&positions, &triangles, &run), serial, "{threads} threads");
        }
    }
}

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
//! for any thread count.
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

use glam::{DVec3, Vec3, Vec3A};
use pulp::{Simd, WithSimd};

use super::volume::{centroid, cone, corners, volume_of};
use crate::Run;
use crate::field::lanes::{Lanes, WIDTH};

/// Triangles weighed before their normals are added up: bounds the memory, not the result.
const BATCH: usize = 1 << 16;

/// Blocks weighed in one task.
const BLOCKS_A_TASK: usize = 16;

/// Sixteen triangles.
#[derive(Clone, Copy)]
struct Weighed {
    triangles: [Fan; WIDTH],
    /// Six times what they enclose with the origin, added up.
    six_volumes: f64,
}

/// The unit normal of a triangle and its angles at the three corners.
#[derive(Clone, Copy)]
struct Fan {
    normal: Vec3A,
    angles: [f32; 3],
}

impl Weighed {
    const NONE: Self = Self {
        triangles: [Fan { normal: Vec3A::ZERO, angles: [0.0; 3] }; WIDTH],
        six_volumes: 0.0,
    };
}

/// Unit normals, each the sum of the adjacent triangles' normals weighted by their angle at the
/// vertex.
///
/// Zero for a vertex without a triangle of positive area. A run that is cancelled gives some of the
/// sums only.
#[must_use]
pub fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> Vec<Vec3> {
    let mut sums = vec![Vec3A::ZERO; positions.len()];
    let mut weighed = vec![Weighed::NONE; triangles.len().min(BATCH).div_ceil(WIDTH)];
    for batch in triangles.chunks(BATCH) {
        let weighed = &mut weighed[..batch.len().div_ceil(WIDTH)];
        let weigh = Weigh { positions, triangles: batch, origin: DVec3::ZERO };
        weigh.all(weighed, run);
        if run.is_cancelled() {
            break;
        }
        add_up(batch, weighed, &mut sums);
    }
    run.map(sums.len(), |i| Vec3::from(sums[i]).normalize_or_zero())
}

/// Adds the triangles up at their corners, in their order.
fn add_up(triangles: &[[u32; 3]], weighed: &[Weighed], sums: &mut [Vec3A]) {
    for (triangles, weighed) in triangles.chunks(WIDTH).zip(weighed) {
        for (triangle, fan) in triangles.iter().zip(&weighed.triangles) {
            for (&vertex, &angle) in triangle.iter().zip(&fan.angles) {
                sums[vertex as usize] += angle * fan.normal;
            }
        }
    }
}

/// The triangles around every vertex, for normals of one mesh again and again: the same bits as
/// [`vertex_normals`], added up on all threads.
///
/// ```
/// use glam::Vec3;
/// use supple::{Run, mesh::normals::{Buffers, Shading}};
///
/// let triangles = [[0, 1, 2]];
/// let shading = Shading::new(3, &triangles);
/// let mut buffers = Buffers::default();
/// for x in [Vec3::X, 2.0 * Vec3::X] {
///     let positions = [Vec3::ZERO, x, Vec3::Y];
///     let normals = shading.normals(&positions, &triangles, &mut buffers, &Run::default());
///     assert_eq!(normals, [Vec3::Z; 3]);
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Shading {
    /// The corners at vertex `i` are `corners[starts[i]..starts[i + 1]]`, in order of triangles.
    starts: Vec<u32>,
    /// Four times the triangle plus the corner.
    corners: Vec<u32>,
}

/// Memory of [`Shading::normals`], for the next time.
#[derive(Clone, Default)]
pub struct Buffers {
    weighed: Vec<Weighed>,
    sums: Vec<Vec3A>,
    normals: Vec<Vec3>,
}

impl std::fmt::Debug for Buffers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Buffers").field("vertices", &self.normals.len()).finish()
    }
}

impl Buffers {
    /// Takes the normals that were computed last; the rest of the memory stays for the next time.
    #[must_use]
    pub fn take_normals(&mut self) -> Vec<Vec3> {
        std::mem::take(&mut self.normals)
    }

    /// The signed volume of the mesh whose normals were computed last: the same bits as
    /// [`volume`](crate::mesh::volume::volume), at almost no cost.
    #[must_use]
    pub fn volume(&self) -> f64 {
        volume_of(self.weighed.iter().map(|w| w.six_volumes))
    }
}

impl Shading {
    /// Gathers the triangles around each of so many vertices.
    ///
    /// # Panics
    ///
    /// If a triangle names a vertex beyond them.
    #[must_use]
    pub fn new(vertices: usize, triangles: &[[u32; 3]]) -> Self {
        let mut starts = vec![0_u32; vertices + 1];
        for &vertex in triangles.iter().flatten() {
            starts[vertex as usize + 1] += 1;
        }
        for i in 0..vertices {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut corners = vec![0_u32; 3 * triangles.len()];
        for (triangle, vertices) in (0..).zip(triangles) {
            for (k, &vertex) in (0..).zip(vertices) {
                corners[next[vertex as usize] as usize] = 4 * triangle + k;
                next[vertex as usize] += 1;
            }
        }
        Self { starts, corners }
    }

    /// The normals of the mesh this was made for, with its vertices elsewhere.
    ///
    /// # Panics
    ///
    /// If it was made for another mesh.
    pub fn normals<'b>(
        &self,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        buffers: &'b mut Buffers,
        run: &Run<'_>,
    ) -> &'b [Vec3] {
        assert_eq!(positions.len() + 1, self.starts.len(), "the vertices it was made for");
        assert_eq!(3 * triangles.len(), self.corners.len(), "the triangles it was made for");
        let Buffers { weighed, sums, normals } = buffers;
        weighed.resize(triangles.len().div_ceil(WIDTH), Weighed::NONE);
        normals.resize(positions.len(), Vec3::ZERO);
        Weigh { positions, triangles, origin: centroid(positions, run) }.all(weighed, run);
        // Alone, a thread adds up triangle by triangle faster than vertex by vertex.
        if run.thread_count() == 1 {
            sums.clear();
            sums.resize(positions.len(), Vec3A::ZERO);
            add_up(triangles, weighed, sums);
            run.for_each(normals, |i, normal| *normal = Vec3::from(sums[i]).normalize_or_zero());
        } else {
            let sum = |i| Vec3::from(self.sum_around(i, weighed)).normalize_or_zero();
            run.for_each(normals, |i, normal| *normal = sum(i));
        }
        normals
    }

    /// What [`add_up`] gives one vertex.
    fn sum_around(&self, vertex: usize, weighed: &[Weighed]) -> Vec3A {
        let mut sum = Vec3A::ZERO;
        for &corner in &self.corners[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
        {
            let (triangle, k) = (corner as usize / 4, corner as usize % 4);
            let fan = &weighed[triangle / WIDTH].triangles[triangle % WIDTH];
            sum += fan.angles[k] * fan.normal;
        }
        sum
    }
}

/// Weighs triangles, a block of lanes at a time.
#[derive(Clone, Copy)]
struct Weigh<'a> {
    positions: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    /// Whence volumes are measured.
    origin: DVec3,
}

impl Weigh<'_> {
    fn all(self, weighed: &mut [Weighed], run: &Run<'_>) {
        let arch = pulp::Arch::new();
        run.for_each_piece(weighed, BLOCKS_A_TASK, |start, weighed| {
            let first = start * WIDTH;
            let last = self.triangles.len().min(first + weighed.len() * WIDTH);
            arch.dispatch(Task {
                weigh: Self { triangles: &self.triangles[first..last], ..self },
                weighed,
            });
        });
    }
}

struct Task<'a> {
    weigh: Weigh<'a>,
    weighed: &'a mut [Weighed],
}

impl WithSimd for Task<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Weigh { positions, triangles, origin } = self.weigh;
        for (triangles, weighed) in triangles.chunks(WIDTH).zip(self.weighed) {
            weigh(&corners(positions, triangles), origin, weighed);
        }
    }
}

#[inline(always)]
fn weigh(triangles: &[Lanes<WIDTH>; 3], origin: DVec3, weighed: &mut Weighed) {
    let mut normals = Lanes::<WIDTH>::ZERO;
    let mut cotangents = [[0.0; WIDTH]; 3];
    let mut six_volumes = [0.0; WIDTH];
    for i in 0..WIDTH {
        let ([ux, uy, uz], [vx, vy, vz], [wx, wy, wz]) = sides(triangles, i);
        let (nx, ny, nz) = (wy * uz - wz * uy, wz * ux - wx * uz, wx * uy - wy * ux);
        six_volumes[i] = cone(triangles, origin, i);
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
    let angles = cotangents.map(|cotangents| angles_of(&cotangents));
    for (i, fan) in weighed.triangles.iter_mut().enumerate() {
        *fan = Fan { normal: normals.get(i).into(), angles: angles.map(|a| a[i]) };
    }
    weighed.six_volumes = six_volumes.iter().sum();
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
    let mut tangent = [0.0; L];
    for i in 0..L {
        let steepness = cotangents[i].abs();
        // The angle to the nearer axis has a tangent of at most one.
        let (small, large) = if steepness > 1.0 { (1.0, steepness) } else { (steepness, 1.0) };
        tangent[i] = small / large;
    }
    let acute = atan_up_to_one(&tangent);
    let mut angles = [0.0; L];
    for i in 0..L {
        let is_steep = cotangents[i].abs() <= 1.0;
        let first_quadrant = if is_steep { FRAC_PI_2 - acute[i] } else { acute[i] };
        angles[i] = if cotangents[i] < 0.0 { PI - first_quadrant } else { first_quadrant };
    }
    angles
}

/// Arc tangent of `0..=1`: the odd polynomial of Cephes' `atanf`, after halving the range.
#[inline(always)]
fn atan_up_to_one<const L: usize>(tangent: &[f32; L]) -> [f32; L] {
    const TAN_OF_EIGHTH: f32 = 0.414_213_57;
    let mut angle = [0.0; L];
    for lane in 0..L {
        let t = tangent[lane];
        let is_large = t > TAN_OF_EIGHTH;
        // Both sides of the fraction are chosen, so that there is one division and no branch.
        let over = if is_large { t - 1.0 } else { t };
        let under = if is_large { t + 1.0 } else { 1.0 };
        let offset = if is_large { FRAC_PI_4 } else { 0.0 };
        let t = over / under;
        let z = t * t;
        let p = ((0.080_537_44 * z - 0.138_776_85) * z + 0.199_777_11) * z - 0.333_329_5;
        angle[lane] = offset + (p * z * t + t);
    }
    angle
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::mesh::volume::volume;

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
        let (shading, mut buffers) =
            (Shading::new(positions.len(), &triangles), Buffers::default());
        for _ in 0..2 {
            let again = shading.normals(&positions, &triangles, &mut buffers, &Run::default());
            assert_eq!(again, serial, "prepared");
        }
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = Run { threads: Some(&pool), ..Run::default() };
            assert_eq!(vertex_normals(&positions, &triangles, &run), serial, "{threads} threads");
            let again = shading.normals(&positions, &triangles, &mut buffers, &run);
            assert_eq!(again, serial, "prepared, {threads} threads");
            let volume = volume(&positions, &triangles, &Run::default());
            assert_eq!(buffers.volume().to_bits(), volume.to_bits(), "{threads} threads");
        }
    }
}

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

use glam::Vec3;
use pulp::{Simd, WithSimd};

use crate::Run;

/// Triangles weighed before their normals are added up: bounds the memory, not the result.
const BLOCK: usize = 1 << 16;

/// Triangles weighed at a time, in lanes.
const WIDTH: usize = 8;

/// A triangle's unit normal and its angles at the three corners.
#[derive(Clone, Copy, Default)]
struct Weighed {
    normal: Vec3,
    angles: [f32; 3],
}

/// Unit normals, each the sum of the adjacent triangles' normals weighted by their angle at the
/// vertex.
///
/// Zero for a vertex without a triangle of positive area. A run that is cancelled gives some of the
/// sums only.
#[must_use]
pub fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; positions.len()];
    let arch = pulp::Arch::new();
    let mut weighed = vec![Weighed::default(); triangles.len().min(BLOCK)];
    for block in triangles.chunks(BLOCK) {
        let weighed = &mut weighed[..block.len()];
        run.for_each_chunk(weighed, |start, weighed| {
            let triangles = &block[start..start + weighed.len()];
            arch.dispatch(Weigh { positions, triangles, weighed });
        });
        if run.is_cancelled() {
            break;
        }
        for (triangle, w) in block.iter().zip(weighed.iter()) {
            for k in 0..3 {
                normals[triangle[k] as usize] += w.angles[k] * w.normal;
            }
        }
    }
    run.for_each(&mut normals, |_, n| *n = n.normalize_or_zero());
    normals
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
    /// Three times the triangle plus the corner.
    corners: Vec<u32>,
}

/// Memory of [`Shading::normals`], for the next time.
#[derive(Clone, Default)]
pub struct Buffers {
    weighed: Vec<Weighed>,
    normals: Vec<Vec3>,
}

impl std::fmt::Debug for Buffers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Buffers").field("triangles", &self.weighed.len()).finish()
    }
}

impl Buffers {
    /// The normals that were computed last.
    #[must_use]
    pub fn into_normals(self) -> Vec<Vec3> {
        self.normals
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
        for (corner, &vertex) in (0..).zip(triangles.iter().flatten()) {
            corners[next[vertex as usize] as usize] = corner;
            next[vertex as usize] += 1;
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
        let Buffers { weighed, normals } = buffers;
        weighed.resize(triangles.len(), Weighed::default());
        normals.resize(positions.len(), Vec3::ZERO);
        let arch = pulp::Arch::new();
        run.for_each_chunk(weighed, |start, weighed| {
            let triangles = &triangles[start..start + weighed.len()];
            arch.dispatch(Weigh { positions, triangles, weighed });
        });
        run.for_each(normals, |i, normal| {
            let around = &self.corners[self.starts[i] as usize..self.starts[i + 1] as usize];
            let mut sum = Vec3::ZERO;
            for &corner in around {
                let w = &weighed[corner as usize / 3];
                sum += w.angles[corner as usize % 3] * w.normal;
            }
            *normal = sum.normalize_or_zero();
        });
        normals
    }
}

/// Weighs triangles, a block of lanes at a time.
struct Weigh<'a> {
    positions: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    weighed: &'a mut [Weighed],
}

impl WithSimd for Weigh<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (triangles, weighed) in self.triangles.chunks(WIDTH).zip(self.weighed.chunks_mut(WIDTH))
        {
            // Lanes beyond the last triangle repeat it.
            let corners = |lane: usize| {
                triangles[lane.min(triangles.len() - 1)].map(|i| self.positions[i as usize])
            };
            weigh(&std::array::from_fn(corners), weighed);
        }
    }
}

#[inline(always)]
fn weigh(triangles: &[[Vec3; 3]; WIDTH], weighed: &mut [Weighed]) {
    let mut normal = [Vec3::ZERO; WIDTH];
    let mut twice_area = [0.0; WIDTH];
    let mut cosine = [[0.0; WIDTH]; 3];
    for lane in 0..WIDTH {
        let [a, b, c] = triangles[lane].map(Vec3::as_dvec3);
        let (ab, bc, ca) = (b - a, c - b, a - c);
        let cross = ab.cross(-ca);
        let length = cross.length();
        normal[lane] = (cross / length).as_vec3();
        twice_area[lane] = length;
        cosine[0][lane] = -ca.dot(ab);
        cosine[1][lane] = -ab.dot(bc);
        cosine[2][lane] = -bc.dot(ca);
    }
    let angles = cosine.map(|cosine| angles(&twice_area, &cosine));
    for (lane, w) in weighed.iter_mut().enumerate() {
        *w = Weighed { normal: normal[lane], angles: angles.map(|a| a[lane]) };
        if twice_area[lane] == 0.0 {
            *w = Weighed::default();
        }
    }
}

/// `atan2(y, x)` in each lane for `y > 0`: in `0..=π`, within 3e-7.
///
/// Step by step and without a branch, so that the compiler makes vector instructions of it.
#[inline(always)]
pub(crate) fn angles<const L: usize>(y: &[f64; L], x: &[f64; L]) -> [f32; L] {
    let mut tangent = [0.0; L];
    let mut is_steep = [false; L];
    for lane in 0..L {
        let (y, ax) = (y[lane], x[lane].abs());
        // The angle to the nearer axis has a tangent of at most one.
        is_steep[lane] = y >= ax;
        let (small, large) = if y < ax { (y, ax) } else { (ax, y) };
        tangent[lane] = (small / large) as f32;
    }
    let acute = atan_up_to_one(&tangent);
    let mut angles = [0.0; L];
    for lane in 0..L {
        let first_quadrant = if is_steep[lane] { FRAC_PI_2 - acute[lane] } else { acute[lane] };
        angles[lane] = if x[lane] < 0.0 { PI - first_quadrant } else { first_quadrant };
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
            let error = (f64::from(angles(&[y], &[x])[0]) - y.atan2(x)).abs();
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
        }
    }
}

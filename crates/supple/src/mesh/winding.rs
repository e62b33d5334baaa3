//! Generalised winding numbers: is a point inside, even if the mesh is slightly open?
//!
//! # Method
//!
//! The winding number of a mesh about a point is the sum of the signed solid angles of its triangles
//! divided by 4π: one inside a closed outward shape, zero outside, and in between, without a jump,
//! where the shape has holes. Seen from afar a group of triangles acts like a dipole, so with the
//! tree of [`bvh`](super::bvh) most of the sum costs one term a node:
//!
//! ```text
//! w(q) ≈ (1/4π) [ N·d/|d|³ − 3 C(d,d)/|d|⁵ + 15 T(d,d,d)/|d|⁷ ]      d = p − q
//! N = ∫ n        C = ∫ (x − p) n        T = ½ ∫ (x − p) (x − p) n
//! ```
//!
//! over the points `x` of the group with normal `n`, where `p` is its area-weighted centre. Groups nearer than [`ACCURACY`] times their
//! radius are opened; single triangles are summed exactly, by the formula of Van Oosterom and
//! Strackee.
//!
//! # Where we differ from the paper
//!
//! The derivatives of a dipole are those of the harmonic 1/|d|: symmetric and without trace. So only
//! the symmetric, trace-free parts of `C` and `T` matter (the formula above is for those), 6 and 10
//! numbers in place of 9 and 27. The tree is the one that also answers closest points, in place of
//! an octree.
//!
//! # Limits
//!
//! The sum of all groups is within 0.005 of the exact one (`agrees_with_the_exact_sum` pins it): far
//! from the one half that separates inside from outside, unless a hole is near. On the surface itself
//! the winding number jumps, and either answer may come.
//!
//! # References
//!
//! - G. Barill, N. G. Dickson, R. Schmidt, D. I. W. Levin, A. Jacobson. Fast Winding Numbers for
//!   Soups and Clouds. ACM Transactions on Graphics (SIGGRAPH), 2018.
//! - A. Jacobson, L. Kavan, O. Sorkine-Hornung. Robust Inside-Outside Segmentation using Generalized
//!   Winding Numbers. ACM Transactions on Graphics (SIGGRAPH), 2013.
//! - A. Van Oosterom, J. Strackee. The Solid Angle of a Plane Triangle. IEEE Transactions on
//!   Biomedical Engineering, 1983.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::{Run, mesh::winding::Winding};
//!
//! let corner = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
//! let tetrahedron = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
//! let winding = Winding::new(&corner, &tetrahedron, &Run::default());
//! assert!(winding.inside(Vec3::splat(0.1)));
//! assert!(!winding.inside(Vec3::splat(0.5)));
//! ```

use std::f64::consts::PI;

use glam::{DMat3, DVec3, Vec3};

use super::bvh::{Below, Bvh, LEAF, Stack};
use super::normals::angle;
use crate::Run;
use crate::run::Cancelled;

/// A group of triangles is summed as one if it is farther away than this many of its radii.
pub const ACCURACY: f64 = 2.0;

/// Below this many nodes a subtree is not worth a task of its own.
const SMALLEST_TASK: usize = 4096;

/// Points a task answers; fixed, so that the work is cut the same way for any thread count.
const TASK: usize = 256;

/// What a group of triangles looks like from afar, in units of its radius.
#[derive(Clone, Copy, Debug, Default)]
struct Dipole {
    /// `p` of the module.
    center: Vec3,
    /// Radius about the centre that holds all triangles of the group.
    radius: f32,
    /// `N`, over the radius squared.
    normal: Vec3,
    /// `−3 C`, over the radius cubed: xx, yy, zz, then twice xy, yz, zx.
    second: [f32; 6],
    /// `15 T`, over the radius to the fourth, in the order of [`TRIPLES`], each as often as it
    /// occurs.
    third: [f32; 10],
}

/// The distinct entries of a symmetric tensor of third order.
const TRIPLES: [[usize; 3]; 10] = [
    [0, 0, 0],
    [1, 1, 1],
    [2, 2, 2],
    [0, 0, 1],
    [0, 0, 2],
    [0, 1, 1],
    [1, 1, 2],
    [0, 2, 2],
    [1, 2, 2],
    [0, 1, 2],
];

/// How often each of [`TRIPLES`] occurs.
const TIMES: [f64; 10] = [1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 6.0];

/// A group while the tree is summed up; its moments are about the centre.
#[derive(Clone, Copy)]
struct Moments {
    center: DVec3,
    radius: f64,
    area: f64,
    normal: DVec3,
    /// The symmetric part of `C`.
    second: DMat3,
    /// The symmetric part of `T`.
    third: [f64; 10],
}

/// A mesh prepared for fast winding numbers.
#[derive(Clone, Debug)]
pub struct Winding {
    bvh: Bvh,
    dipoles: Vec<Dipole>,
}

impl Winding {
    /// Prepares a mesh.
    ///
    /// # Panics
    ///
    /// If a triangle names a vertex that does not exist.
    #[must_use]
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> Self {
        Self::with_bvh(Bvh::new(positions, triangles, run), run)
    }

    /// Prepares a mesh whose hierarchy is already there.
    #[must_use]
    pub fn with_bvh(bvh: Bvh, run: &Run<'_>) -> Self {
        let mut dipoles = vec![Dipole::default(); bvh.node_count()];
        if !dipoles.is_empty() {
            let parallel = run.threads.is_some();
            run.install(|| Summing { bvh: &bvh, parallel }.sum_up(0, &mut dipoles));
        }
        Self { bvh, dipoles }
    }

    /// The hierarchy of the mesh.
    #[must_use]
    pub fn bvh(&self) -> &Bvh {
        &self.bvh
    }

    /// The winding number about a point: one inside a closed outward shape, zero outside.
    #[must_use]
    pub fn at(&self, point: Vec3) -> f64 {
        let q = point.as_dvec3();
        let mut solid_angle = 0.0;
        let mut stack = Stack::default();
        if !self.dipoles.is_empty() {
            stack.push(0);
        }
        while let Some(n) = stack.pop() {
            if let Some(far) = self.dipoles[n].seen_from(q) {
                solid_angle += far;
                continue;
            }
            match self.bvh.below(n) {
                Below::Nodes([first, second]) => {
                    stack.push(second);
                    stack.push(first);
                }
                Below::Leaf(slots) => {
                    let corners = &self.bvh.corners()[slots];
                    solid_angle +=
                        corners.iter().map(|c| triangle_angle(c, q, fast_angle)).sum::<f64>();
                }
            }
        }
        solid_angle / (4.0 * PI)
    }

    /// Winding numbers about many points, in their order.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] when the caller asked to stop.
    pub fn at_points(&self, points: &[Vec3], run: &Run<'_>) -> Result<Vec<f64>, Cancelled> {
        let parts = run.map_tasks(points.len().div_ceil(TASK), |task| {
            run.check()?;
            let end = ((task + 1) * TASK).min(points.len());
            Ok(points[task * TASK..end].iter().map(|&p| self.at(p)).collect::<Vec<f64>>())
        });
        let mut all = Vec::with_capacity(points.len());
        for part in parts {
            all.extend(part?);
        }
        Ok(all)
    }

    /// True if a point is inside, whichever way the triangles face.
    #[must_use]
    pub fn inside(&self, point: Vec3) -> bool {
        self.at(point).abs() > 0.5
    }
}

/// The winding number as the plain sum over all triangles: slow, and exact up to rounding.
///
/// # Panics
///
/// If a triangle names a vertex that does not exist.
#[must_use]
pub fn exact(positions: &[Vec3], triangles: &[[u32; 3]], point: Vec3, run: &Run<'_>) -> f64 {
    let q = point.as_dvec3();
    let sum = run.sum(triangles.len(), |t| {
        triangle_angle(&triangles[t].map(|i| positions[i as usize]), q, libm::atan2)
    });
    sum / (4.0 * PI)
}

/// Signed solid angle of a triangle seen from `q`: `2 atan2(a·(b×c), …)`; zero from its own plane.
fn triangle_angle(corners: &[Vec3; 3], q: DVec3, angle: impl Fn(f64, f64) -> f64) -> f64 {
    let [a, b, c] = corners.map(|p| p.as_dvec3() - q);
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let numerator = a.dot(b.cross(c));
    if numerator == 0.0 {
        return 0.0;
    }
    let denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * angle(numerator, denominator)
}

/// `atan2` within 3e-7, for `y ≠ 0`.
fn fast_angle(y: f64, x: f64) -> f64 {
    f64::from(angle(y.abs(), x)).copysign(y)
}

impl Dipole {
    /// The solid angle of the group from far away; `None` if it is too near.
    fn seen_from(&self, q: DVec3) -> Option<f64> {
        let d = self.center.as_dvec3() - q;
        let squared = d.length_squared();
        let radius = f64::from(self.radius);
        if squared <= ACCURACY * ACCURACY * radius * radius || self.radius == 0.0 {
            return None;
        }
        let inverse = squared.sqrt().recip();
        let (d, s) = (d * inverse, radius * inverse);
        let first = self.normal.as_dvec3().dot(d);
        Some(s * s * (first + s * (self.second_of(d) + s * self.third_of(d))))
    }

    fn second_of(&self, DVec3 { x, y, z }: DVec3) -> f64 {
        let [xx, yy, zz, xy, yz, zx] = self.second.map(f64::from);
        (xx * x + xy * y) * x + (yy * y + yz * z) * y + (zz * z + zx * x) * z
    }

    fn third_of(&self, DVec3 { x, y, z }: DVec3) -> f64 {
        let [xxx, yyy, zzz, xxy, xxz, xyy, yyz, xzz, yzz, xyz] = self.third.map(f64::from);
        (xxx * x + xxy * y + xxz * z) * x * x
            + (yyy * y + xyy * x + yyz * z) * y * y
            + (zzz * z + xzz * x + yzz * y) * z * z
            + xyz * x * y * z
    }
}

/// Fills the dipoles of subtrees, both halves at the same time if there are threads.
struct Summing<'a> {
    bvh: &'a Bvh,
    parallel: bool,
}

impl Summing<'_> {
    /// Fills `dipoles`, those of the subtree at `n`, children first.
    fn sum_up(&self, n: usize, dipoles: &mut [Dipole]) -> Moments {
        let parallel = self.parallel && dipoles.len() >= SMALLEST_TASK;
        let (dipole, rest) = dipoles.split_first_mut().expect("a subtree has at least its root");
        let sum = match self.bvh.below(n) {
            Below::Nodes([first, second]) => {
                let (left, right) = rest.split_at_mut(second - first);
                let mut left = || self.sum_up(first, left);
                let mut right = || self.sum_up(second, right);
                let (l, r) = if parallel { rayon::join(left, right) } else { (left(), right()) };
                Moments::combined(&[l, r])
            }
            Below::Leaf(slots) => {
                let mut parts = [Moments::ZERO; LEAF];
                let corners = &self.bvh.corners()[slots];
                for (part, corners) in parts.iter_mut().zip(corners) {
                    *part = Moments::of(corners);
                }
                Moments::combined(&parts[..corners.len()])
            }
        };
        *dipole = sum.seen_from_afar();
        sum
    }
}

/// The symmetric part of `x nᵀ`.
fn symmetric(x: DVec3, n: DVec3) -> DMat3 {
    let half = 0.5 * n;
    let outer = DMat3::from_cols(x * half.x, x * half.y, x * half.z);
    outer + outer.transpose()
}

/// The symmetric part of the product of a vector and a symmetric matrix.
fn symmetric_third(x: DVec3, m: &DMat3) -> [f64; 10] {
    TRIPLES.map(|[i, j, k]| (x[i] * m.col(j)[k] + x[j] * m.col(k)[i] + x[k] * m.col(i)[j]) / 3.0)
}

impl Moments {
    /// Of nothing.
    const ZERO: Self = Self {
        center: DVec3::ZERO,
        radius: 0.0,
        area: 0.0,
        normal: DVec3::ZERO,
        second: DMat3::ZERO,
        third: [0.0; 10],
    };

    /// Of one triangle, about its centroid: `C` is zero.
    fn of(corners: &[Vec3; 3]) -> Self {
        let corners = corners.map(Vec3::as_dvec3);
        let [a, b, c] = corners;
        let normal = 0.5 * (b - a).cross(c - a);
        let center = (a + b + c) / 3.0;
        let mut sum = Self { center, area: normal.length(), normal, ..Self::ZERO };
        for corner in corners {
            let x = corner - center;
            // ∫ x xᵀ over a triangle is a twelfth of its area times the sum over its corners.
            add(&mut sum.third, &symmetric_third(x / 24.0, &symmetric(x, normal)));
            sum.radius = sum.radius.max(x.length());
        }
        sum
    }

    /// Of several groups together.
    fn combined(parts: &[Self]) -> Self {
        let area: f64 = parts.iter().map(|p| p.area).sum();
        let weighed = if area > 0.0 {
            parts.iter().map(|p| p.area * p.center).sum::<DVec3>() / area
        } else {
            parts.iter().map(|p| p.center).sum::<DVec3>() / parts.len() as f64
        };
        // The dipole keeps a rounded centre; the moments must be about that one.
        let center = weighed.as_vec3().as_dvec3();
        let mut sum = Self { center, area, ..Self::ZERO };
        for part in parts {
            let x = part.center - center;
            let moved = symmetric(x, part.normal);
            add(&mut sum.third, &part.third);
            add(&mut sum.third, &symmetric_third(x, &(part.second + 0.5 * moved)));
            sum.second += part.second + moved;
            sum.normal += part.normal;
            sum.radius = sum.radius.max(x.length() + part.radius);
        }
        sum
    }

    fn seen_from_afar(&self) -> Dipole {
        let center = self.center.as_vec3();
        // A little more than rounding could take away.
        let radius = (self.radius * (1.0 + 1e-6)) as f32;
        if radius == 0.0 {
            return Dipole { center, ..Dipole::default() };
        }
        let r = f64::from(radius);
        let (m, t) = (self.second * (-3.0 / (r * r * r)), self.third.map(|t| t / (r * r * r * r)));
        let mean = (m.x_axis.x + m.y_axis.y + m.z_axis.z) / 3.0;
        let diagonal = |i: usize| m.col(i)[i] - mean;
        let twice = |i: usize, j: usize| 2.0 * m.col(i)[j];
        let second = [diagonal(0), diagonal(1), diagonal(2), twice(0, 1), twice(1, 2), twice(2, 0)];
        Dipole {
            center,
            radius,
            normal: (self.normal / (r * r)).as_vec3(),
            second: second.map(|x| x as f32),
            third: std::array::from_fn(|e| (15.0 * TIMES[e] * trace_free(&t, e)) as f32),
        }
    }
}

/// Entry `e` of the trace-free part of a symmetric tensor of third order.
fn trace_free(t: &[f64; 10], e: usize) -> f64 {
    let [xxx, yyy, zzz, xxy, xxz, xyy, yyz, xzz, yzz, _] = *t;
    let trace = DVec3::new(xxx + xyy + xzz, xxy + yyy + yzz, xxz + yyz + zzz);
    let [i, j, k] = TRIPLES[e];
    let part = |same: bool, other: usize| if same { trace[other] } else { 0.0 };
    t[e] - 0.2 * (part(i == j, k) + part(i == k, j) + part(j == k, i))
}

fn add(sum: &mut [f64; 10], terms: &[f64; 10]) {
    for (s, t) in sum.iter_mut().zip(terms) {
        *s += t;
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Random, bumpy_sphere, soup};
    use super::*;

    fn prepared((positions, triangles): &(Vec<Vec3>, Vec<[u32; 3]>)) -> Winding {
        Winding::new(positions, triangles, &Run::default())
    }

    #[test]
    fn agrees_with_the_exact_sum() {
        let mut random = Random(21);
        for shape in [bumpy_sphere(40), soup(2000, 0.05, &mut random)] {
            let winding = prepared(&shape);
            let mut worst = 0.0_f64;
            for _ in 0..300 {
                let q = 1.3 * random.point();
                let exact = exact(&shape.0, &shape.1, q, &Run::default());
                worst = worst.max((winding.at(q) - exact).abs());
            }
            assert!(worst < 0.005, "off by {worst}");
            assert!(worst > 0.0, "the expansion was used");
        }
    }

    #[test]
    fn one_inside_and_zero_outside_wherever_and_however_large() {
        let (positions, triangles) = bumpy_sphere(20);
        for (scale, at) in
            [(1.0, Vec3::ZERO), (1e-12, Vec3::ZERO), (1e12, Vec3::ZERO), (64.0, Vec3::splat(1e5))]
        {
            let moved: Vec<Vec3> = positions.iter().map(|&p| p * scale + at).collect();
            let winding = Winding::new(&moved, &triangles, &Run::default());
            let mut random = Random(22);
            for _ in 0..200 {
                let q = 2.0 * random.point();
                let w = winding.at(q * scale + at);
                let exact = exact(&moved, &triangles, q * scale + at, &Run::default());
                let whole = exact.round();
                assert!(
                    (exact - whole).abs() < 1e-6 && (w - whole).abs() < 0.01,
                    "{w}, {exact} at {scale}"
                );
                assert_eq!(winding.inside(q * scale + at), whole == 1.0);
            }
        }
    }

    #[test]
    fn a_small_hole_does_not_matter_and_inside_out_is_inside() {
        let (positions, mut triangles) = bumpy_sphere(20);
        triangles.drain(100..110);
        for t in &mut triangles {
            t.swap(0, 1);
        }
        let winding = Winding::new(&positions, &triangles, &Run::default());
        assert!(winding.inside(Vec3::new(0.1, 0.2, -0.1)), "inside");
        assert!(!winding.inside(Vec3::new(1.4, 0.2, -0.1)), "outside");
    }

    #[test]
    fn degenerate_input_gives_numbers() {
        let p = [Vec3::ZERO, Vec3::X, Vec3::X * 2.0];
        let winding = Winding::new(&p, &[[0, 1, 2], [0, 0, 0]], &Run::default());
        for q in [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::splat(1e30)] {
            assert_eq!(winding.at(q).abs().to_bits(), 0.0_f64.to_bits(), "at {q}");
        }
        assert!(!Winding::new(&[], &[], &Run::default()).inside(Vec3::ZERO), "nothing to be in");
    }

    #[test]
    fn same_bits_for_any_thread_count() {
        let shape = bumpy_sphere(30);
        let mut random = Random(23);
        let points: Vec<Vec3> = (0..2000).map(|_| random.point()).collect();
        let serial = prepared(&shape).at_points(&points, &Run::default()).unwrap();
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = Run { threads: Some(&pool), ..Run::default() };
            let parallel = Winding::new(&shape.0, &shape.1, &run).at_points(&points, &run).unwrap();
            assert_eq!(parallel, serial, "{threads} threads");
        }
    }
}

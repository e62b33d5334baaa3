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
//! over the points `x` of the group with normal `n`, where `p` is its area-weighted centre. Groups
//! nearer than [`ACCURACY`] times their radius are opened; single triangles are summed exactly, by
//! the formula of Van Oosterom and Strackee.
//!
//! Points that are near each other walk down the tree together, a block of lanes at a time, so that
//! a group is fetched once and summed for all lanes with vector instructions. Each lane decides for
//! itself which groups it opens: its bits do not depend on its company.
//!
//! # Where we differ from the paper
//!
//! The derivatives of a dipole are those of the harmonic 1/|d|: symmetric and without trace. So only
//! the symmetric, trace-free parts of `C` and `T` matter (the formula above is for those), 6 and 10
//! numbers in place of 9 and 27. The tree is the one that also answers closest points, in place of
//! an octree. Groups are summed in f32, in a unit that is a power of two near the size of the mesh,
//! so that neither tiny nor huge meshes overflow; triangles in f64, whose sides must be told apart.
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

use pulp::{Simd, WithSimd};

use super::bvh::{Below, Bvh, LEAF, STACK, along_curve};
use super::normals::angles_of;
use crate::Run;
use crate::lanes::Lanes;
use crate::lengths::Lengths as _;
use crate::run::Cancelled;

/// A group of triangles is summed as one if it is farther away than this many of its radii.
pub const ACCURACY: f64 = 2.0;

/// Below this many nodes a subtree is not worth a task of its own.
const SMALLEST_TASK: usize = 4096;

/// Points a task answers; fixed, so that the work is cut the same way for any thread count.
const TASK: usize = 256;

/// Points that walk down the tree together.
const WIDTH: usize = 8;

/// What a group of triangles looks like from afar, in units of its radius.
#[derive(Clone, Copy, Debug, Default)]
struct Dipole {
    /// `p` of the module, in the unit of the mesh, as the radius.
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
    /// Power of two that takes lengths to the unit of the dipoles.
    unit: f32,
}

impl Winding {
    /// Prepares a mesh. A run that is cancelled gives one that must not be asked.
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
        let unit = bvh.bounds().map_or(1.0, |b| unit_of(b.size().max_element()));
        if !dipoles.is_empty() {
            run.install(|| Summing { bvh: &bvh, unit, run }.sum_up(0, &mut dipoles));
        }
        Self { bvh, dipoles, unit }
    }

    /// The hierarchy of the mesh.
    #[must_use]
    pub fn bvh(&self) -> &Bvh {
        &self.bvh
    }

    /// The winding number about a point: one inside a closed outward shape, zero outside.
    #[must_use]
    pub fn at(&self, point: Vec3) -> f64 {
        let mut answer = [0.0];
        let walk = Walk { winding: self, points: &[point], places: &[0], answers: &mut answer };
        pulp::Arch::new().dispatch(walk);
        answer[0]
    }

    /// Winding numbers about many points, in their order: those of [`at`](Self::at), faster.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] when the caller asked to stop.
    pub fn at_points(&self, points: &[Vec3], run: &Run<'_>) -> Result<Vec<f64>, Cancelled> {
        let places = along_curve(points, run);
        let arch = pulp::Arch::new();
        let parts = run.map_tasks(points.len().div_ceil(TASK), |task| {
            run.check()?;
            let end = ((task + 1) * TASK).min(points.len());
            let places = &places[task * TASK..end];
            let mut answers = vec![0.0; places.len()];
            arch.dispatch(Walk { winding: self, points, places, answers: &mut answers });
            Ok(answers)
        });
        let mut all = vec![0.0; points.len()];
        for (part, places) in parts.into_iter().zip(places.chunks(TASK)) {
            for (answer, &place) in part?.into_iter().zip(places) {
                all[place as usize] = answer;
            }
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
        let corners = triangles[t].map(|i| positions[i as usize].as_dvec3());
        let (numerator, denominator) = half_angle(&corners, q);
        if numerator == 0.0 { 0.0 } else { 2.0 * libm::atan2(numerator, denominator) }
    });
    sum / (4.0 * PI)
}

/// The tangent of half the signed solid angle of a triangle seen from `q`, as a fraction:
/// `a·(b×c)` over `|a||b||c| + …`; the first is zero from the triangle's own plane.
#[inline(always)]
fn half_angle(corners: &[DVec3; 3], q: DVec3) -> (f64, f64) {
    let [a, b, c] = corners.map(|p| p - q);
    let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
    let numerator = a.dot(b.cross(c));
    (numerator, la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb)
}

/// A power of two that takes `size` near one, if it is not already near it.
fn unit_of(size: f32) -> f32 {
    let exponent = (size.to_bits() >> 23) as i32 - 127;
    // Both it and its reciprocal are normal numbers.
    f32::from_bits(((127 - exponent.clamp(-120, 120)) as u32) << 23)
}

/// The winding numbers about the points at some places, a block of lanes at a time.
struct Walk<'a> {
    winding: &'a Winding,
    points: &'a [Vec3],
    places: &'a [u32],
    answers: &'a mut [f64],
}

impl WithSimd for Walk<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let blocks = self.places.chunks(WIDTH).zip(self.answers.chunks_mut(WIDTH));
        for (places, answers) in blocks {
            // Lanes beyond the last point repeat it, and are not awake.
            let point = |lane: usize| self.points[places[lane.min(places.len() - 1)] as usize];
            let awake = u8::MAX >> (WIDTH - places.len());
            let angles = self.winding.solid_angles(&std::array::from_fn(point), awake);
            for (answer, angle) in answers.iter_mut().zip(angles) {
                *answer = angle / (4.0 * PI);
            }
        }
    }
}

impl Winding {
    /// The solid angle of the mesh from each of the points that are `awake` (a bit a lane).
    #[inline(always)]
    fn solid_angles(&self, points: &[Vec3; WIDTH], awake: u8) -> [f64; WIDTH] {
        let mut scaled = Lanes::<WIDTH>::ZERO;
        for (lane, &point) in points.iter().enumerate() {
            scaled.set(lane, point * self.unit);
        }
        let mut sums = [0.0; WIDTH];
        let mut stack = [(0_u32, 0_u8); STACK];
        let mut height = usize::from(!self.dipoles.is_empty());
        stack[0].1 = awake;
        while height > 0 {
            height -= 1;
            let (n, awake) = stack[height];
            let dipole = &self.dipoles[n as usize];
            let near = awake & dipole.add_far(&scaled, awake, &mut sums);
            if near == 0 {
                continue;
            }
            match self.bvh.below(n as usize) {
                Below::Nodes([first, second]) => {
                    stack[height] = (second as u32, near);
                    stack[height + 1] = (first as u32, near);
                    height += 2;
                }
                Below::Leaf(slots) => {
                    for corners in &self.bvh.corners()[slots] {
                        add_triangle(corners, points, near, &mut sums);
                    }
                }
            }
        }
        sums
    }
}

/// Adds the exact solid angle of a triangle to the lanes that are near it.
#[inline(always)]
fn add_triangle(corners: &[Vec3; 3], points: &[Vec3; WIDTH], near: u8, sums: &mut [f64; WIDTH]) {
    let corners = corners.map(Vec3::as_dvec3);
    let (mut numerator, mut cotangent) = ([0.0; WIDTH], [0.0; WIDTH]);
    for lane in 0..WIDTH {
        let denominator;
        (numerator[lane], denominator) = half_angle(&corners, points[lane].as_dvec3());
        cotangent[lane] = (denominator / numerator[lane].abs()) as f32;
    }
    let angle = angles_of(&cotangent);
    for lane in 0..WIDTH {
        let counts = near >> lane & 1 == 1 && numerator[lane] != 0.0;
        let twice = 2.0 * f64::from(angle[lane]).copysign(numerator[lane]);
        sums[lane] += if counts { twice } else { 0.0 };
    }
}

impl Dipole {
    /// Adds the solid angle of the group to the lanes that are awake and far from it; which lanes
    /// are near.
    #[inline(always)]
    fn add_far(&self, points: &Lanes<WIDTH>, awake: u8, sums: &mut [f64; WIDTH]) -> u8 {
        let reach = ACCURACY as f32 * self.radius;
        let mut d = Lanes::<WIDTH>::ZERO;
        let mut squared = [0.0; WIDTH];
        let mut near = 0_u8;
        for (lane, squared) in squared.iter_mut().enumerate() {
            let [x, y, z] = (self.center - points.get(lane)).to_array();
            (d.x[lane], d.y[lane], d.z[lane]) = (x, y, z);
            *squared = x * x + y * y + z * z;
            near |= u8::from(*squared <= reach * reach) << lane;
        }
        // A group without size has no expansion; its triangles have no area.
        if self.radius == 0.0 || awake & !near == 0 {
            return if self.radius == 0.0 { 0 } else { u8::MAX };
        }
        for (lane, squared) in squared.iter().enumerate() {
            let is_far = awake & !near & 1 << lane != 0;
            let inverse = 1.0 / squared.sqrt();
            let s = self.radius * inverse;
            let [x, y, z] = [d.x[lane], d.y[lane], d.z[lane]].map(|d| d * inverse);
            let first = self.normal.x * x + self.normal.y * y + self.normal.z * z;
            let far = s * s * (first + s * (self.second_of(x, y, z) + s * self.third_of(x, y, z)));
            sums[lane] += f64::from(if is_far { far } else { 0.0 });
        }
        near
    }

    #[inline(always)]
    fn second_of(&self, x: f32, y: f32, z: f32) -> f32 {
        let [xx, yy, zz, xy, yz, zx] = self.second;
        (xx * x + xy * y) * x + (yy * y + yz * z) * y + (zz * z + zx * x) * z
    }

    #[inline(always)]
    fn third_of(&self, x: f32, y: f32, z: f32) -> f32 {
        let [xxx, yyy, zzz, xxy, xxz, xyy, yyz, xzz, yzz, xyz] = self.third;
        (xxx * x + xxy * y + xxz * z) * x * x
            + (yyy * y + xyy * x + yyz * z) * y * y
            + (zzz * z + xzz * x + yzz * y) * z * z
            + xyz * x * y * z
    }
}

/// Fills the dipoles of subtrees, both halves at the same time if there are threads.
struct Summing<'a> {
    bvh: &'a Bvh,
    unit: f32,
    run: &'a Run<'a>,
}

impl Summing<'_> {
    /// Fills `dipoles`, those of the subtree at `n`, children first.
    fn sum_up(&self, n: usize, dipoles: &mut [Dipole]) -> Moments {
        let parallel = self.run.threads.is_some() && dipoles.len() >= SMALLEST_TASK;
        if dipoles.len() >= SMALLEST_TASK && self.run.is_cancelled() {
            return Moments::ZERO;
        }
        let (dipole, rest) = dipoles.split_first_mut().expect("a subtree has at least its root");
        let mut sum = match self.bvh.below(n) {
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
        let bounds = self.bvh.node_bounds(n);
        let (min, max) = (bounds.min.as_dvec3(), bounds.max.as_dvec3());
        let to_corner = (max - sum.center).max(sum.center - min).norm();
        sum.radius = sum.radius.min(to_corner);
        *dipole = sum.seen_from_afar(self.unit);
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
        let mut sum = Self { center, area: normal.norm(), normal, ..Self::ZERO };
        for corner in corners {
            let x = corner - center;
            // ∫ x xᵀ over a triangle is a twelfth of its area times the sum over its corners.
            add(&mut sum.third, &symmetric_third(x / 24.0, &symmetric(x, normal)));
            sum.radius = sum.radius.max(x.norm());
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
            sum.radius = sum.radius.max(x.norm() + part.radius);
        }
        sum
    }

    /// The same in units of the radius, its centre and radius in another unit.
    fn seen_from_afar(&self, unit: f32) -> Dipole {
        let center = self.center.as_vec3() * unit;
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
            radius: radius * unit,
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
        let winding = prepared(&shape);
        for (&point, together) in points.iter().zip(serial) {
            assert_eq!(winding.at(point).to_bits(), together.to_bits(), "alone as together");
        }
    }
}

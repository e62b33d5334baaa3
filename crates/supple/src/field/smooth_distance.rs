//! Smooth distances to points, curves and surfaces.
//!
//! # Method
//!
//! To a few points, `d = (Σ lᵢ⁻²)^(-1/2)`. A curve or a surface is not a few points: that sum would
//! shrink with every sample added. The integrals do not depend on the sampling,
//!
//! ```text
//! curve:   d = (½ ∫ l⁻³ ds)^(-1/2)        surface:   d = (1/π ∫ l⁻⁴ dA)^(-1/2)
//! ```
//!
//! and both equal the true distance to an infinite line or plane. A segment's integral is closed: with
//! `s₀, s₁` its ends' coordinates along it seen from x, `r₀, r₁` their distances, `h` the distance to
//! its line and `gᵢ = sᵢ/rᵢ`, `∫ l⁻³ ds = (g₁ − g₀)/h²`, written so that nothing cancels beyond the
//! ends. The surface is summed over area-weighted samples.
//!
//! # Where we differ from the paper
//!
//! The source sums `lᵢ⁻²` over the segments of a polyline: 0.1 away from a ring that gives 0.093 with
//! 8 segments and 0.027 with 256. The integral gives 0.102 from 64 segments on
//! (`a_ring_has_the_same_distance_for_any_sampling`).
//!
//! # Limits
//!
//! On the shape itself d is 1e-6 of its size instead of 0, so that nothing is infinite. Surface samples
//! show as soon as x is nearer than their spacing.
//!
//! # References
//!
//! - A. Biswas, V. Shapiro. Approximate distance fields with non-vanishing gradients. Graphical
//!   Models, 2004.

use glam::{DVec3, Vec3};

use super::jet::Jet;
use super::lanes::{Lanes, ScalarLanes};

/// Square of the smallest distance told apart, in units of the shape's size.
const FLOOR_SQUARED: f32 = 1e-12;

/// Points about their middle, in units of their size: distances to the fifth power stay in range.
#[derive(Clone, Debug, PartialEq)]
struct Scaled {
    middle: Vec3,
    size: f32,
    scaled: Vec<Vec3>,
    given: Vec<Vec3>,
}

impl Scaled {
    fn new(given: Vec<Vec3>) -> Self {
        let bounds = crate::mesh::measure::Bounds::of(&given);
        let middle = bounds.map_or(Vec3::ZERO, |b| b.center());
        let size = bounds.map_or(0.0, |b| 0.5 * b.diagonal());
        let size = if size > 0.0 { size } else { 1.0 };
        let scaled = given.iter().map(|&p| (p - middle) / size).collect();
        Self { middle, size, scaled, given }
    }

    #[inline(always)]
    fn enter<const L: usize>(&self, x: &Lanes<L>) -> Lanes<L> {
        let inverse = 1.0 / self.size;
        let mut scaled = Lanes::ZERO;
        for i in 0..L {
            scaled.set(i, (x.get(i) - self.middle) * inverse);
        }
        scaled
    }

    fn enter_f64(&self, x: DVec3) -> DVec3 {
        (x - self.middle.as_dvec3()) / f64::from(self.size)
    }

    /// From units of the size to the caller's: values grow, gradients stay, Hessians shrink.
    fn leave(&self, d: Jet) -> Jet {
        let size = f64::from(self.size);
        Jet { value: size * d.value, gradient: d.gradient, hessian: 1.0 / size * d.hessian }
    }

    /// `d = scale · sum^(-1/2)` from the sum of the kernel and its gradient.
    #[inline(always)]
    fn finish<const L: usize>(&self, sum: &ScalarLanes<L>) -> ScalarLanes<L> {
        let mut d = ScalarLanes::ZERO;
        for i in 0..L {
            let scaled = 1.0 / sum.value[i].max(f32::MIN_POSITIVE).sqrt();
            d.value[i] = self.size * scaled;
            d.gradient.set(i, sum.gradient.get(i) * (-0.5 * scaled * scaled * scaled));
        }
        d
    }
}

/// Smooth distance to a few points.
#[derive(Clone, Debug, PartialEq)]
pub struct PointsDistance {
    shape: Scaled,
}

impl PointsDistance {
    /// The distance to these points; infinite if there are none.
    #[must_use]
    pub fn new(points: Vec<Vec3>) -> Self {
        Self { shape: Scaled::new(points) }
    }

    /// The points.
    #[must_use]
    pub fn points(&self) -> &[Vec3] {
        self.shape.given.as_slice()
    }

    /// True distance beyond which the smooth one exceeds `d`: `l ≤ d √n`.
    pub(crate) fn reach(&self, d: f32) -> f32 {
        d * (self.points().len() as f32).sqrt()
    }

    pub(crate) fn map(&self, f: impl Fn(Vec3) -> Vec3) -> Self {
        Self::new(self.points().iter().map(|&p| f(p)).collect())
    }

    #[inline(always)]
    pub(crate) fn eval<const L: usize>(&self, x: &Lanes<L>) -> ScalarLanes<L> {
        let x = self.shape.enter(x);
        let mut sum = ScalarLanes::<L>::ZERO;
        for &p in &self.shape.scaled {
            for i in 0..L {
                let xi = x.get(i) - p;
                let inverse = 1.0 / xi.dot(xi).max(FLOOR_SQUARED);
                sum.value[i] += inverse;
                let g = sum.gradient.get(i) - xi * (2.0 * inverse * inverse);
                sum.gradient.set(i, g);
            }
        }
        self.shape.finish(&sum)
    }

    pub(crate) fn jet(&self, x: DVec3) -> Jet {
        let x = self.shape.enter_f64(x);
        let term = |p: &Vec3| floored(Jet::length_squared(x - p.as_dvec3())).recip();
        let sum = self.shape.scaled.iter().map(term).fold(Jet::constant(0.0), |a, b| a + b);
        self.shape.leave(sum.pow(-0.5))
    }
}

/// Smooth distance to a polyline.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveDistance {
    shape: Scaled,
    closed: bool,
    segments: Vec<Segment>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Segment {
    start: Vec3,
    /// Unit vector from start to end.
    along: Vec3,
    length: f32,
}

impl CurveDistance {
    /// The distance to the line through the points, back to the first one if it is closed.
    #[must_use]
    pub fn new(points: Vec<Vec3>, closed: bool) -> Self {
        let shape = Scaled::new(points);
        let p = &shape.scaled;
        let count = if closed { p.len() } else { p.len().saturating_sub(1) };
        let segments = (0..count)
            .map(|i| (p[i], p[(i + 1) % p.len()] - p[i]))
            .filter(|(_, edge)| edge.length() > 1e-7)
            .map(|(start, edge)| Segment {
                start,
                along: edge / edge.length(),
                length: edge.length(),
            })
            .collect();
        Self { shape, closed, segments }
    }

    /// The corners.
    #[must_use]
    pub fn points(&self) -> &[Vec3] {
        self.shape.given.as_slice()
    }

    /// True distance beyond which the smooth one exceeds `d`: `½ length l⁻³ ≥ d⁻²`.
    pub(crate) fn reach(&self, d: f32) -> f32 {
        let length = self.shape.size * self.segments.iter().map(|s| s.length).sum::<f32>();
        d.max((0.5 * length * d * d).cbrt())
    }

    pub(crate) fn map(&self, f: impl Fn(Vec3) -> Vec3) -> Self {
        Self::new(self.points().iter().map(|&p| f(p)).collect(), self.closed)
    }

    #[inline(always)]
    pub(crate) fn eval<const L: usize>(&self, x: &Lanes<L>) -> ScalarLanes<L> {
        let x = self.shape.enter(x);
        let mut sum = ScalarLanes::<L>::ZERO;
        let mut start = [0.0; L];
        for (k, segment) in self.segments.iter().enumerate() {
            let is_chained = k > 0 && self.segments[k - 1].joins(segment);
            if !is_chained {
                for (i, distance) in start.iter_mut().enumerate() {
                    let xi = x.get(i) - segment.start;
                    *distance = xi.dot(xi).max(FLOOR_SQUARED).sqrt();
                }
            }
            for (i, distance) in start.iter_mut().enumerate() {
                let (value, gradient, end) = segment.integral(x.get(i), *distance);
                *distance = end;
                sum.value[i] += 0.5 * value;
                let g = sum.gradient.get(i) + 0.5 * gradient;
                sum.gradient.set(i, g);
            }
        }
        self.shape.finish(&sum)
    }

    pub(crate) fn jet(&self, x: DVec3) -> Jet {
        let x = self.shape.enter_f64(x);
        let terms = self.segments.iter().map(|s| s.integral_jet(x));
        let sum = terms.fold(Jet::constant(0.0), |a, b| a + b);
        self.shape.leave((0.5 * sum).pow(-0.5))
    }
}

impl Segment {
    fn joins(&self, next: &Self) -> bool {
        (self.start + self.length * self.along).abs_diff_eq(next.start, 1e-6)
    }

    /// `∫ l⁻³ ds`, its gradient `−3 ∫ l⁻⁵ (x − y) ds`, and the distance to the end, given that to the start.
    #[inline(always)]
    fn integral(&self, x: Vec3, r0: f32) -> (f32, Vec3, f32) {
        let xi = x - self.start;
        let before = self.along.dot(xi);
        let (s0, s1) = (-before, self.length - before);
        let out = xi - before * self.along;
        let h2 = out.dot(out).max(FLOOR_SQUARED);
        let far = h2 + s1 * s1;
        let r1 = far.sqrt();
        let (product, sum) = (r0 * r1, r0 + r1);
        let squares = r0 * r0 + far;
        let drop = self.length * (s0 + s1);
        let (g0, g1) = (s0 * r1, s1 * r0);
        let both = s0 * s1;
        let beyond = both > 0.0;
        let bottom_cubic = if beyond { (g0 + g1).abs() } else { h2 };
        let bottom_rest = if beyond { product + both } else { h2 };
        let bottoms = bottom_cubic * bottom_rest;
        let lengths = product * sum;
        // All quotients by one division.
        let inverse = 1.0 / (bottoms * lengths).max(f32::MIN_POSITIVE);
        let (by_bottoms, by_lengths) = (lengths * inverse, bottoms * inverse);
        let by_product = sum * by_lengths;
        let cubic =
            if beyond { drop.abs() } else { g1 - g0 } * by_product * (bottom_rest * by_bottoms);
        let rest = if beyond { squares - h2 } else { product - both } * (bottom_cubic * by_bottoms);
        let ends = drop * (squares + product) * (by_product * by_product) * by_lengths;
        (cubic, ends * self.along - cubic * by_product * (rest + squares * by_product) * out, r1)
    }

    fn integral_jet(&self, x: DVec3) -> Jet {
        let along = self.along.as_dvec3();
        let xi = x - self.start.as_dvec3();
        let before = Jet::linear(along.dot(xi), along);
        let h2 = floored(Jet::length_squared(xi) - before * before);
        let s0 = -1.0 * before;
        let s1 = Jet::constant(f64::from(self.length)) - before;
        let (r0, r1) = ((h2 + s0 * s0).sqrt(), (h2 + s1 * s1).sqrt());
        if s0.value * s1.value > 0.0 {
            let bottom = r0 * r1 * (s1 * r0 + s0 * r1);
            f64::from(self.length) * ((s0 + s1) * bottom.recip())
        } else {
            (s1 * r1.recip() - s0 * r0.recip()) * h2.recip()
        }
    }
}

/// Smooth distance to a surface, from samples that each stand for a piece of its area.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceDistance {
    shape: Scaled,
    /// Area of each sample over π, in units of the size squared.
    weights: Vec<f32>,
}

impl SurfaceDistance {
    /// The distance to a surface given by samples and the area each of them stands for.
    ///
    /// # Panics
    ///
    /// If there are not as many areas as samples.
    #[must_use]
    pub fn new(samples: Vec<Vec3>, areas: &[f32]) -> Self {
        assert_eq!(samples.len(), areas.len(), "one area for each sample");
        let shape = Scaled::new(samples);
        let unit = std::f32::consts::PI * shape.size * shape.size;
        let weights = areas.iter().map(|a| a / unit).collect();
        Self { shape, weights }
    }

    /// One sample a triangle: its centroid with its area.
    #[must_use]
    pub fn of_triangles(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let corners = |t: &[u32; 3]| t.map(|i| positions[i as usize]);
        let samples = triangles.iter().map(|t| corners(t).iter().sum::<Vec3>() / 3.0).collect();
        let area = |[a, b, c]: [Vec3; 3]| 0.5 * (b - a).cross(c - a).length();
        let areas: Vec<f32> = triangles.iter().map(|t| area(corners(t))).collect();
        Self::new(samples, &areas)
    }

    /// The samples.
    #[must_use]
    pub fn points(&self) -> &[Vec3] {
        self.shape.given.as_slice()
    }

    /// True distance beyond which the smooth one exceeds `d`: `area/π l⁻⁴ ≥ d⁻²`.
    pub(crate) fn reach(&self, d: f32) -> f32 {
        let area = self.shape.size * self.shape.size * self.weights.iter().sum::<f32>();
        d.max((area * d * d).sqrt().sqrt())
    }

    pub(crate) fn map(&self, f: impl Fn(Vec3) -> Vec3) -> Self {
        let unit = std::f32::consts::PI * self.shape.size * self.shape.size;
        let areas: Vec<f32> = self.weights.iter().map(|w| w * unit).collect();
        Self::new(self.points().iter().map(|&p| f(p)).collect(), &areas)
    }

    #[inline(always)]
    pub(crate) fn eval<const L: usize>(&self, x: &Lanes<L>) -> ScalarLanes<L> {
        let x = self.shape.enter(x);
        let mut sum = ScalarLanes::<L>::ZERO;
        for (&p, &weight) in self.shape.scaled.iter().zip(&self.weights) {
            for i in 0..L {
                let xi = x.get(i) - p;
                let inverse = 1.0 / xi.dot(xi).max(FLOOR_SQUARED);
                let term = weight * inverse * inverse;
                sum.value[i] += term;
                let g = sum.gradient.get(i) - xi * (4.0 * term * inverse);
                sum.gradient.set(i, g);
            }
        }
        self.shape.finish(&sum)
    }

    pub(crate) fn jet(&self, x: DVec3) -> Jet {
        let x = self.shape.enter_f64(x);
        let mut sum = Jet::constant(0.0);
        for (p, &weight) in self.shape.scaled.iter().zip(&self.weights) {
            let inverse = floored(Jet::length_squared(x - p.as_dvec3())).recip();
            sum = sum + f64::from(weight) * (inverse * inverse);
        }
        self.shape.leave(sum.pow(-0.5))
    }
}

/// Keeps a squared distance from vanishing.
fn floored(squared: Jet) -> Jet {
    if squared.value > f64::from(FLOOR_SQUARED) {
        squared
    } else {
        Jet::constant(f64::from(FLOOR_SQUARED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(d: &CurveDistance, x: Vec3) -> f32 {
        d.eval(&Lanes::<1>::gather(&[x], &[0])).value[0]
    }

    fn ring(n: usize) -> Vec<Vec3> {
        let at = |i: usize| {
            let (s, c) = (std::f32::consts::TAU * i as f32 / n as f32).sin_cos();
            Vec3::new(c, s, 0.0)
        };
        (0..n).map(at).collect()
    }

    #[test]
    fn a_ring_has_the_same_distance_for_any_sampling() {
        for n in [64, 256, 1024] {
            let d = value(&CurveDistance::new(ring(n), true), Vec3::new(1.1, 0.0, 0.0));
            assert!((d - 0.102).abs() < 1.5e-3, "{n} segments: {d}");
        }
    }

    #[test]
    fn a_long_line_has_the_true_distance() {
        let ends = vec![Vec3::new(-1000.0, 0.0, 0.0), Vec3::new(1000.0, 0.0, 0.0)];
        let d = value(&CurveDistance::new(ends, false), Vec3::new(3.0, 0.6, 0.8));
        assert!((d - 1.0).abs() < 1e-4, "{d}");
    }

    #[test]
    fn on_the_curve_it_is_zero_and_finite() {
        let curve = CurveDistance::new(ring(16), true);
        for x in [Vec3::X, 0.5 * (ring(16)[0] + ring(16)[1])] {
            let d = curve.eval(&Lanes::<1>::gather(&[x], &[0]));
            assert!(d.value[0] < 1e-5, "{}", d.value[0]);
            assert!(d.gradient.get(0).is_finite(), "gradient {}", d.gradient.get(0));
        }
    }

    #[test]
    fn a_fine_plane_has_the_true_distance() {
        let n = 200;
        let at = |i: usize| (i as f32 + 0.5) / n as f32 * 20.0 - 10.0;
        let samples: Vec<Vec3> = (0..n * n).map(|k| Vec3::new(at(k / n), at(k % n), 0.0)).collect();
        let areas = vec![0.01; n * n];
        let d = SurfaceDistance::new(samples, &areas);
        let d = d.eval(&Lanes::<1>::gather(&[Vec3::new(0.0, 0.0, 0.5)], &[0])).value[0];
        assert!((d - 0.5).abs() < 5e-3, "{d}");
    }
}

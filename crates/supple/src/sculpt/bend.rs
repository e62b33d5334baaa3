//! Bending about an axis, exactly.
//!
//! # Method
//!
//! With `s, y, z` the coordinates of `x − c` along the bar, across it and along the axis, w the width of
//! the fade and `u = clamp(s/w + ½, 0, 1)`, the bar's middle line becomes a curve γ(s) whose tangent T has
//! turned by `φ = θ(10u³ − 15u⁴ + 6u⁵)`, with curvature `κ = 30θu²(1−u)²/w`, and
//!
//! ```text
//! x' = γ(s) + η N + z axis        η = 2y/(1 + √(1 − 2κy))        N = axis × T
//! ```
//!
//! η makes each slice as thick as it must be: the determinant is 1, so volume is kept, with no
//! integration but that of T (24-point Gauss). What lies before the fade stays, what lies after it turns
//! by exactly θ.
//!
//! # Where we differ from the paper
//!
//! The printed field ([`printed::bend`](super::printed::bend)) bulges sideways and turns the far end
//! exactly only if the bar is long enough.
//!
//! # Limits
//!
//! A point with `2κy ≥ 1` lies beyond the centre of the bend; that is an error which names the largest
//! angle and the smallest width that work.

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::cylinder::Cylinder;
use super::error::{Problem, check_finite, check_point, check_positive, direction};
use crate::Run;

/// Bends about an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bend {
    /// A point of the axis, usually in the middle of the shape: the fade lies around it.
    pub center: Vec3,
    /// Direction of the axis, of any length; the bend is right-handed about it. z by default.
    pub axis: Vec3,
    /// Direction of the shape, from the part that stays to the part that turns; what it has along the
    /// axis is dropped. x by default.
    pub along: Vec3,
    /// Angle of what lies after the fade. 90 by default.
    pub degrees: f32,
    /// Length of the fade. 1 by default. A bend by θ radians of a shape that reaches y towards its
    /// inner side needs more than 3.75 y θ.
    pub width: f32,
    /// Only what is this near to the line through the centre along `along` bends. No limit by default.
    /// The shape must not cross it.
    pub radius: Option<f32>,
}

impl Default for Bend {
    fn default() -> Self {
        Self {
            center: Vec3::ZERO,
            axis: Vec3::Z,
            along: Vec3::X,
            degrees: 90.0,
            width: 1.0,
            radius: None,
        }
    }
}

/// A bend with its parameters checked.
#[derive(Clone, Debug, PartialEq)]
pub struct BendMap {
    center: DVec3,
    axis: DVec3,
    along: DVec3,
    across: DVec3,
    radians: f64,
    width: f64,
    radius: Option<f32>,
}

impl Bend {
    pub(super) fn prepare(&self) -> Result<BendMap, Problem> {
        check_point("the centre", self.center)?;
        check_finite("the angle", self.degrees)?;
        check_positive("the width", self.width)?;
        if let Some(radius) = self.radius {
            check_positive("the radius", radius)?;
        }
        let axis = direction("the axis", self.axis)?.as_dvec3().normalize();
        let along = direction("the direction along the shape", self.along)?.as_dvec3();
        let flat = along - axis * axis.dot(along);
        if flat.length() < 1e-3 {
            return Err(Problem::AlongTheAxis { along: self.along, axis: self.axis });
        }
        let along = flat.normalize();
        Ok(BendMap {
            center: self.center.as_dvec3(),
            axis,
            along,
            across: axis.cross(along),
            radians: f64::from(self.degrees).to_radians(),
            width: f64::from(self.width),
            radius: self.radius,
        })
    }

    pub(super) fn run(
        &self,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        run: &Run<'_>,
    ) -> Result<BendMap, Problem> {
        let map = self.prepare()?;
        map.check_barrel(positions)?;
        let rest = positions.to_vec();
        run.for_each(positions, |_, x| *x = map.forward(*x));
        map.cylinder().check(&rest, positions, triangles)?;
        Ok(map)
    }
}

impl BendMap {
    /// Where a point goes; NaN for one beyond the centre of the bend.
    #[must_use]
    pub fn forward(&self, x: Vec3) -> Vec3 {
        let [s, y, z] = self.coordinates(x.as_dvec3());
        if s <= -0.5 * self.width || !self.cylinder().contains(x) {
            return x;
        }
        let (tangent, normal, curvature) = self.frame(s);
        let eta = 2.0 * y / (1.0 + (1.0 - 2.0 * curvature * y).sqrt());
        let line = self.line(s, tangent);
        (line + eta * normal + z * self.axis).as_vec3()
    }

    /// Where a point came from.
    #[must_use]
    pub fn backward(&self, x: Vec3) -> Vec3 {
        let target = x.as_dvec3();
        let [before, ..] = self.coordinates(target);
        if before <= -0.5 * self.width && self.gap(before, target) >= 0.0 {
            return x;
        }
        let s = self.nearest(target);
        if s <= -0.5 * self.width {
            return x;
        }
        let (tangent, normal, curvature) = self.frame(s);
        let offset = target - self.line(s, tangent);
        let eta = offset.dot(normal);
        let y = eta - 0.5 * curvature * eta * eta;
        let z = offset.dot(self.axis);
        (self.center + s * self.along + y * self.across + z * self.axis).as_vec3()
    }

    /// The share of the whole angle by which the slice of a point turns: 0 before, 1 after.
    #[must_use]
    pub fn share(&self, x: Vec3) -> f64 {
        if !self.cylinder().contains(x) {
            return 0.0;
        }
        share(self.fade(self.coordinates(x.as_dvec3())[0]))
    }

    pub(super) fn is_limited(&self) -> bool {
        self.radius.is_some()
    }

    fn coordinates(&self, x: DVec3) -> [f64; 3] {
        let xi = x - self.center;
        [self.along.dot(xi), self.across.dot(xi), self.axis.dot(xi)]
    }

    fn fade(&self, s: f64) -> f64 {
        (s / self.width + 0.5).clamp(0.0, 1.0)
    }

    fn tangent(&self, s: f64) -> DVec3 {
        let (sin, cos) = libm::sincos(self.radians * share(self.fade(s)));
        cos * self.along + sin * self.across
    }

    /// T, N and κ of the middle line.
    fn frame(&self, s: f64) -> (DVec3, DVec3, f64) {
        let u = self.fade(s);
        let tangent = self.tangent(s);
        let curvature = 30.0 * self.radians * u * u * (1.0 - u) * (1.0 - u) / self.width;
        (tangent, self.axis.cross(tangent), curvature)
    }

    /// γ(s): straight before and after the fade.
    fn line(&self, s: f64, tangent: DVec3) -> DVec3 {
        let half = 0.5 * self.width;
        let inside = s.clamp(-half, half);
        let (middle, radius) = (0.5 * (inside - half), 0.5 * (inside + half));
        let mut curved = DVec3::ZERO;
        for (node, weight) in GAUSS_24 {
            let pair = self.tangent(middle - radius * node) + self.tangent(middle + radius * node);
            curved += radius * weight * pair;
        }
        self.center - half * self.along + curved + (s - inside) * tangent
    }

    /// `(x − γ(s))·T(s)`: falls through zero where s is the coordinate of x.
    fn gap(&self, s: f64, x: DVec3) -> f64 {
        let tangent = self.tangent(s);
        (x - self.line(s, tangent)).dot(tangent)
    }

    /// s from `(x − γ(s))·T(s) = 0`: bisection inside the fade, closed outside.
    fn nearest(&self, x: DVec3) -> f64 {
        let half = 0.5 * self.width;
        let (before, after) = (self.gap(-half, x), self.gap(half, x));
        if before <= 0.0 {
            return -half + before;
        }
        if after >= 0.0 {
            return half + after;
        }
        let (mut low, mut high) = (-half, half);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.gap(middle, x) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    fn check_barrel(&self, positions: &[Vec3]) -> Result<(), Problem> {
        // Largest 2κy/θ, and y towards the inner side.
        let (mut steepest, mut widest, mut first) = (0.0_f64, 0.0_f64, None);
        for (vertex, &x) in positions.iter().enumerate() {
            let [s, y, _] = self.coordinates(x.as_dvec3());
            let u = self.fade(s);
            let steep =
                60.0 * u * u * (1.0 - u) * (1.0 - u) / self.width * y * self.radians.signum();
            if steep > 0.0 && self.cylinder().contains(x) {
                steepest = steepest.max(steep);
                widest = widest.max(y.abs());
                let beyond = steep * self.radians.abs() >= 1.0;
                first = first.or(beyond.then_some(vertex));
            }
        }
        let Some(vertex) = first else { return Ok(()) };
        Err(Problem::InsideTheBarrel {
            vertex,
            degrees: (0.999 / steepest).to_degrees() as f32,
            width: (3.76 * widest * self.radians.abs()) as f32,
        })
    }

    fn cylinder(&self) -> Cylinder {
        Cylinder { center: self.center, axis: self.along, radius: self.radius }
    }
}

/// `10u³ − 15u⁴ + 6u⁵`.
fn share(u: f64) -> f64 {
    u * u * u * (10.0 + u * (6.0 * u - 15.0))
}

/// Nodes and weights of the 24-point Gauss–Legendre rule; each node stands for itself and its negative.
const GAUSS_24: [(f64, f64); 12] = [
    (0.064_056_892_862_605_63, 0.127_938_195_346_752_02),
    (0.191_118_867_473_616_3, 0.125_837_456_346_828_25),
    (0.315_042_679_696_163_4, 0.121_670_472_927_803_3),
    (0.433_793_507_626_045_1, 0.115_505_668_053_725_52),
    (0.545_421_471_388_839_6, 0.107_444_270_115_965_56),
    (0.648_093_651_936_975_5, 0.097_618_652_104_113_93),
    (0.740_124_191_578_554_4, 0.086_190_161_531_953_2),
    (0.820_001_985_973_903, 0.073_346_481_411_080_16),
    (0.886_415_527_004_401_1, 0.059_298_584_915_436_36),
    (0.938_274_552_002_732_8, 0.044_277_438_817_419_41),
    (0.974_728_555_971_309_5, 0.028_531_388_628_933_56),
    (0.995_187_219_997_021_3, 0.012_341_229_799_988_69),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn right_angle() -> BendMap {
        Bend { width: 4.0, ..Bend::default() }.prepare().unwrap()
    }

    #[test]
    fn the_middle_line_ends_where_it_must() {
        let end = right_angle().forward(Vec3::new(2.0, 0.0, 0.0));
        assert!(end.abs_diff_eq(Vec3::new(0.3537, 2.3537, 0.0), 1e-4), "{end}");
    }

    #[test]
    fn both_ends_are_rigid() {
        let map = right_angle();
        let still = Vec3::new(-2.0, 0.4, -0.3);
        assert_eq!(map.forward(still), still);
        let (a, b) =
            (map.forward(Vec3::new(2.1, 0.4, 0.2)), map.forward(Vec3::new(3.0, -0.5, 0.1)));
        let turned = b - a;
        assert!(turned.abs_diff_eq(Vec3::new(0.9, 0.9, -0.1), 1e-6), "{turned}");
    }

    #[test]
    fn the_determinant_is_one() {
        let map = right_angle();
        let h = 1e-2;
        for k in 0..60 {
            let t = 0.618 * k as f32;
            let x = Vec3::new(2.5 * (3.1 * t).sin(), 0.5 * (4.7 * t).sin(), (5.9 * t).sin());
            let column = |axis: Vec3| {
                let (p, q) = (x + h * axis, x - h * axis);
                (map.forward(p) - map.forward(q)).as_dvec3() / f64::from((p - q).dot(axis))
            };
            let [a, b, c] = Vec3::AXES.map(column);
            let determinant = a.dot(b.cross(c));
            assert!((determinant - 1.0).abs() < 1e-3, "{determinant} at {x}");
        }
    }

    #[test]
    fn going_back_returns() {
        for degrees in [90.0, -60.0, 20.0] {
            let map = Bend { width: 4.0, degrees, ..Bend::default() }.prepare().unwrap();
            for k in 0..200 {
                let t = 0.618 * k as f32;
                let x = Vec3::new(3.5 * (3.1 * t).sin(), 0.5 * (4.7 * t).sin(), (5.9 * t).sin());
                let back = map.backward(map.forward(x));
                assert!(back.abs_diff_eq(x, 2e-6), "{x} came back to {back} at {degrees}°");
            }
        }
    }

    #[test]
    fn a_bend_beyond_its_centre_names_what_works() {
        let bend = Bend { width: 1.0, ..Bend::default() };
        let shape = [Vec3::new(0.0, 0.5, 0.0), Vec3::new(0.0, -0.5, 0.0)];
        let problem = bend.run(&mut shape.clone(), &[], &Run::default()).unwrap_err();
        let Problem::InsideTheBarrel { vertex: 0, degrees, width } = problem else {
            panic!("{problem}");
        };
        assert!((degrees - 30.5).abs() < 0.1, "{degrees}");
        for works in [Bend { degrees, ..bend.clone() }, Bend { width, ..bend }] {
            works.run(&mut shape.clone(), &[], &Run::default()).unwrap();
        }
    }
}

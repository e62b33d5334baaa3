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
//! A point with `2κy ≥ 1` lies beyond the centre of the bend. Every line along the bar may be the one that
//! keeps its length: what stays and the angle are the same. So if the shape reaches farther towards the
//! inner side than `0.45/max κ`, the line is moved there until it does not, and a warning tells how far.
//! For a bend that grows this is steady, and it does not depend on how fine the mesh is: the reach is
//! that of the surface, not of its vertices.
//!
//! # Limits
//!
//! A shape that reaches farther than the mean radius w/θ is refused; the error names the largest angle and
//! the smallest width that work (`a_shape_thicker_than_the_bend_is_refused`).

use glam::{DVec3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cylinder::Cylinder;
use super::error::{Problem, check_finite, check_point, check_positive, direction};
use crate::Run;

/// Largest κ of a bend by one radian over a width of one.
const STEEPEST: f64 = 1.875;

/// Largest 2κy that is left where the shape reaches farthest: slices there are 1/√(1 − ROOM) as thick.
const ROOM: f64 = 0.9;

/// Bends about an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bend {
    /// A point of the axis, usually in the middle of the shape: the fade lies around it.
    #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
    pub center: Vec3,
    /// Direction of the axis, of any length; the bend is right-handed about it. z by default.
    #[schemars(with = "[f32; 3]")]
    pub axis: Vec3,
    /// Direction of the shape, from the part that stays to the part that turns; what it has along the
    /// axis is dropped. x by default.
    #[schemars(with = "[f32; 3]")]
    pub along: Vec3,
    /// Angle of what lies after the fade. 90 by default.
    #[schemars(extend("unit" = "deg"))]
    pub degrees: f32,
    /// Length of the fade. 1 by default. A bend by θ radians of a shape that reaches y towards its
    /// inner side needs more than y θ; below 4.2 y θ the line through the centre is moved inwards.
    #[schemars(extend("unit" = "m"))]
    pub width: f32,
    /// Only what is this near to the line through the centre along `along` bends. No limit by default.
    /// The shape must not cross it.
    #[schemars(extend("unit" = "m"))]
    pub radius: Option<f32>,
    /// Integrate the field that the source prints, tool and cylinder, in place of the exact form. Not by default.
    pub as_printed: bool,
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
            as_printed: false,
        }
    }
}

/// A bend with its parameters checked.
#[derive(Clone, Debug, PartialEq)]
pub struct BendMap {
    /// A point of the line that keeps its length.
    center: DVec3,
    /// The centre that was given.
    given: DVec3,
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
            given: self.center.as_dvec3(),
            axis,
            along,
            across: axis.cross(along),
            radians: f64::from(self.degrees).to_radians(),
            width: f64::from(self.width),
            radius: self.radius,
        })
    }

    /// Bends the positions, each by a share that is one without a mask.
    pub(super) fn run(
        &self,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        mask: &[f32],
        run: &Run<'_>,
    ) -> Result<(BendMap, Option<String>), Problem> {
        let mut map = self.prepare()?;
        let warning = map.make_room(positions, triangles)?;
        let rest = positions.to_vec();
        run.for_each(positions, |i, x| *x = map.partly(*x, mask.get(i).copied().unwrap_or(1.0)));
        map.cylinder().check(&rest, positions, triangles)?;
        Ok((map, warning))
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

    /// Where it goes if it takes part by a share only.
    pub(super) fn partly(&self, x: Vec3, share: f32) -> Vec3 {
        if share > 0.0 {
            Self { radians: f64::from(share) * self.radians, ..self.clone() }.forward(x)
        } else {
            x
        }
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

    /// Moves the line towards the inner side if the shape reaches too far; tells by how much.
    fn make_room(
        &mut self,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
    ) -> Result<Option<String>, Problem> {
        let reach = self.reach(positions, triangles);
        let angle = self.radians.abs();
        if reach * angle >= self.width {
            let degrees = (0.999 * self.width / reach).to_degrees() as f32;
            return Err(Problem::InsideTheBarrel {
                degrees,
                width: (1.001 * reach * angle) as f32,
            });
        }
        let allowed = ROOM * self.width / (2.0 * STEEPEST * angle);
        if angle == 0.0 || reach <= allowed {
            return Ok(None);
        }
        let shift = reach - allowed;
        self.center += shift * self.radians.signum() * self.across;
        let width = reach * angle * 2.0 * STEEPEST / ROOM;
        Ok(Some(format!(
            "the line that keeps its length was moved by {shift:.4} towards the inner side, where the shape \
             reaches beyond the centre of the bend; a width of {width:.4} would leave it in place"
        )))
    }

    /// How far the surface between the ends of the fade lies towards the inner side of the line.
    fn reach(&self, positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
        let inwards = |x: Vec3| {
            let [s, y, _] = self.coordinates(x.as_dvec3());
            (s, y * self.radians.signum())
        };
        let half = 0.5 * self.width;
        let is_in = |x: Vec3| self.cylinder().contains(x);
        let vertices = positions.iter().filter(|&&x| is_in(x)).map(|&x| inwards(x));
        let inside = vertices.filter(|(s, _)| s.abs() <= half).map(|(_, y)| y);
        let farthest = inside.fold(0.0, f64::max);
        let sides = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let ends = sides.map(|side| side.map(|v| positions[v as usize]));
        let cut = ends.filter(|[p, q]| is_in(*p) && is_in(*q)).flat_map(|[p, q]| {
            let ((s, y), (t, z)) = (inwards(p), inwards(q));
            // Where the side crosses an end of the fade.
            let crossing = move |end: f64| {
                let share = (end - s) / (t - s);
                (0.0..=1.0).contains(&share).then_some(y + share * (z - y))
            };
            [-half, half].into_iter().filter_map(crossing)
        });
        cut.fold(farthest, f64::max)
    }

    pub(super) fn cylinder(&self) -> Cylinder {
        Cylinder { center: self.given, axis: self.along, radius: self.radius }
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
    fn a_shape_thicker_than_the_bend_is_refused() {
        let bend = Bend { width: 0.5, ..Bend::default() };
        let shape = [Vec3::new(0.0, 0.5, 0.0), Vec3::new(0.0, -0.5, 0.0)];
        let problem = bend.run(&mut shape.clone(), &[], &[], &Run::default()).unwrap_err();
        let Problem::InsideTheBarrel { degrees, width } = problem else { panic!("{problem}") };
        assert!((degrees - 57.2).abs() < 0.1, "{degrees}");
        for works in [Bend { degrees, ..bend.clone() }, Bend { width, ..bend }] {
            works.run(&mut shape.clone(), &[], &[], &Run::default()).unwrap();
        }
    }

    /// The line moves inwards; what stays, and the angle, are those of the bend as given.
    #[test]
    fn a_line_with_the_shape_beyond_its_centre_is_moved() {
        for degrees in [90.0, -90.0] {
            let bend = Bend { width: 1.0, degrees, ..Bend::default() };
            let rest = [-2.0, -0.2, 0.1, 1.0, 2.0]
                .map(|x| [0.5, -0.5].map(|y| Vec3::new(x, y, 0.0)))
                .concat();
            let mut moved = rest.clone();
            let (map, warning) = bend.run(&mut moved, &[], &[], &Run::default()).unwrap();
            let text = warning.expect("it is told");
            assert!(text.contains("0.3472") && text.contains("3.2725"), "{text}");
            assert_eq!(moved[..2], rest[..2], "what lies before stays");
            let turned = moved[8] - moved[6];
            assert!(turned.abs_diff_eq(Vec3::Y * degrees.signum(), 1e-6), "{turned}");
            for (x, y) in rest.iter().zip(&moved) {
                let back = map.backward(*y);
                assert!(back.abs_diff_eq(*x, 1e-5), "{x} came back to {back}");
            }
        }
    }

    /// A line is moved by what its surface needs: more vertices on the same surface change nothing.
    #[test]
    fn the_line_does_not_depend_on_the_mesh() {
        let bend = Bend { width: 1.0, ..Bend::default() };
        let coarse =
            vec![Vec3::new(-3.0, 0.1, 0.0), Vec3::new(1.0, 0.5, 0.0), Vec3::new(3.0, 0.2, 0.1)];
        let mut fine = coarse.clone();
        fine.push(0.5 * (coarse[0] + coarse[1]));
        let cut = [[0, 3, 2], [3, 1, 2]];
        let run = Run::default();
        let (one, _) = bend.run(&mut coarse.clone(), &[[0, 1, 2]], &[], &run).unwrap();
        let (two, _) = bend.run(&mut fine.clone(), &cut, &[], &run).unwrap();
        assert!(one.center.abs_diff_eq(two.center, 1e-6), "{} and {}", one.center, two.center);
        assert!(one.center.y > 0.2, "{}", one.center);
    }
}

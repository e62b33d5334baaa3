//! Curves along which a handle is guided, and the frame that follows them.

use glam::{DMat3, DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::error::{Problem, check_point};
use crate::field::Generator;
use crate::field::motion::rotation;

/// A curve for the time from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guide {
    /// Through the points, smoothly (Catmull–Rom); straight through two.
    Through(Vec<Vec3>),
    /// Cubic Bézier curves in a row: 4, 7, 10 … points.
    Bezier(Vec<Vec3>),
    /// A uniform cubic B-spline with these control points, from the first to the last; at least 4.
    BSpline(Vec<Vec3>),
}

impl Default for Guide {
    fn default() -> Self {
        Self::Through(Vec::new())
    }
}

/// How a handle turns while it follows a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Orientation {
    /// With the curve.
    #[default]
    Follow,
    /// Not at all.
    Keep,
}

/// A curve as cubic Bézier pieces of equal time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pieces(Vec<[DVec3; 4]>);

impl Guide {
    pub(super) fn pieces(&self) -> Result<Pieces, Problem> {
        let (points, least) = match self {
            Self::Through(points) => (points, 2),
            Self::Bezier(points) | Self::BSpline(points) => (points, 4),
        };
        for &p in points {
            check_point("a point of the curve", p)?;
        }
        if points.len() < least {
            return Err(Problem::TooFew { what: "the curve", least });
        }
        let p: Vec<DVec3> = points.iter().map(|p| p.as_dvec3()).collect();
        match self {
            Self::Through(_) => Ok(Pieces(through(&p))),
            Self::BSpline(_) => Ok(Pieces(b_spline(&p))),
            Self::Bezier(_) if p.len() % 3 == 1 => {
                let piece = |k: usize| [p[3 * k], p[3 * k + 1], p[3 * k + 2], p[3 * k + 3]];
                Ok(Pieces((0..p.len() / 3).map(piece).collect()))
            }
            Self::Bezier(_) => Err(Problem::BezierPoints { found: p.len() }),
        }
    }
}

/// Catmull–Rom: the tangent at a point is half the way between its neighbours.
fn through(p: &[DVec3]) -> Vec<[DVec3; 4]> {
    let last = p.len() - 1;
    let tangent = |i: usize| (p[(i + 1).min(last)] - p[i.saturating_sub(1)]) / 6.0;
    // At the ends the neighbour is missing: the full way to the only one.
    let end = |i: usize| if i == 0 || i == last { 2.0 * tangent(i) } else { tangent(i) };
    (0..last).map(|i| [p[i], p[i] + end(i), p[i + 1] - end(i + 1), p[i + 1]]).collect()
}

/// Bézier points of a uniform cubic B-spline; a mirrored control point before the first and after the
/// last makes it start and end there.
fn b_spline(p: &[DVec3]) -> Vec<[DVec3; 4]> {
    let last = p.len() - 1;
    let corner = |i: usize| {
        let before = if i == 0 { 2.0 * p[0] - p[1] } else { p[i - 1] };
        let after = if i == last { 2.0 * p[last] - p[last - 1] } else { p[i + 1] };
        (before + 4.0 * p[i] + after) / 6.0
    };
    let piece = |i: usize| {
        let (a, b) = (p[i], p[i + 1]);
        [corner(i), (2.0 * a + b) / 3.0, (a + 2.0 * b) / 3.0, corner(i + 1)]
    };
    (0..last).map(piece).collect()
}

impl Pieces {
    /// Position, velocity and acceleration at a time.
    pub(super) fn at(&self, t: f64) -> [DVec3; 3] {
        let count = self.0.len() as f64;
        let scaled = (t * count).clamp(0.0, count);
        let k = (scaled as usize).min(self.0.len() - 1);
        let (u, v) = (scaled - k as f64, 1.0 - (scaled - k as f64));
        let [a, b, c, d] = self.0[k];
        let position = v * v * v * a + 3.0 * v * v * u * b + 3.0 * v * u * u * c + u * u * u * d;
        let first = 3.0 * (v * v * (b - a) + 2.0 * v * u * (c - b) + u * u * (d - c));
        let second = 6.0 * (v * (c - 2.0 * b + a) + u * (d - 2.0 * c + b));
        [position, count * first, count * count * second]
    }

    /// How often the curve's pieces meet: a step should not reach across.
    pub(super) fn count(&self) -> u32 {
        self.0.len() as u32
    }
}

/// The rigid motion of a handle: a curve, its orientation, and a twist about its tangent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ride {
    pub(super) curve: Pieces,
    pub(super) orientation: Orientation,
    /// Radians over the whole way.
    pub(super) twist: f64,
    /// How far behind the curve's point the twist has its centre.
    pub(super) behind: f64,
}

impl Ride {
    /// The generators of the motion at a time: along the curve, and the twist if there is one.
    pub(super) fn generators(&self, t: f64) -> [Generator; 2] {
        let [c, dc, ddc] = self.curve.at(t).map(|v| v.as_vec3());
        let along = match self.orientation {
            Orientation::Follow => Generator::along_curve(c, dc, ddc),
            Orientation::Keep => Generator::translation(c, dc),
        };
        let tangent = dc.normalize_or(Vec3::X);
        let twist = if dc.length_squared() > 0.0 { self.twist as f32 } else { 0.0 };
        [along, Generator::rotation(c - self.behind as f32 * tangent, tangent, twist)]
    }

    /// Angular velocity at a time.
    fn turning(&self, t: f64) -> DVec3 {
        let [_, dc, ddc] = self.curve.at(t);
        let squared = dc.length_squared();
        if squared <= 0.0 {
            return DVec3::ZERO;
        }
        let follow = match self.orientation {
            Orientation::Follow => dc.cross(ddc) / squared,
            Orientation::Keep => DVec3::ZERO,
        };
        follow + self.twist * dc / squared.sqrt()
    }

    /// The turn of the handle from the start to the end, from small exact rotations about the mean
    /// angular velocity of each step (of order four by Gauss points).
    pub(super) fn turn(&self) -> DMat3 {
        let steps = 512 * self.curve.count();
        let h = 1.0 / f64::from(steps);
        let offset = 0.5 / 3.0_f64.sqrt();
        let mut turn = DMat3::IDENTITY;
        for k in 0..steps {
            let middle = (f64::from(k) + 0.5) * h;
            let (a, b) = (self.turning(middle - offset * h), self.turning(middle + offset * h));
            let commutator = 3.0_f64.sqrt() / 12.0 * h * h * b.cross(a);
            let vector = 0.5 * h * (a + b) + commutator;
            if let Some(axis) = vector.try_normalize() {
                turn = rotation(axis, vector.length()) * turn;
            }
        }
        turn
    }

    /// Where a point that is rigidly tied to the handle ends.
    pub(super) fn carry(&self, turn: DMat3, x: Vec3) -> Vec3 {
        let (start, end) = (self.curve.at(0.0)[0], self.curve.at(1.0)[0]);
        (end + turn * (x.as_dvec3() - start)).as_vec3()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quarter_circle() -> Guide {
        // The usual Bézier approximation of a quarter of the unit circle, from x to y.
        let k = 0.552_284_8;
        Guide::Bezier(vec![Vec3::X, Vec3::new(1.0, k, 0.0), Vec3::new(k, 1.0, 0.0), Vec3::Y])
    }

    #[test]
    fn following_a_quarter_circle_turns_by_a_right_angle() {
        let curve = quarter_circle().pieces().unwrap();
        let ride = Ride { curve, orientation: Orientation::Follow, twist: 0.0, behind: 0.0 };
        let turned = ride.turn() * DVec3::new(0.3, 0.5, 0.2);
        assert!((turned - DVec3::new(-0.5, 0.3, 0.2)).length() < 1e-6, "{turned}");
        let kept = Ride { orientation: Orientation::Keep, ..ride.clone() }.turn();
        assert!((kept * DVec3::X - DVec3::X).length() < 1e-12, "kept");
    }

    #[test]
    fn a_twist_on_a_straight_way_is_a_rotation_about_it() {
        let curve = Guide::Through(vec![Vec3::ZERO, Vec3::X]).pieces().unwrap();
        let twist = std::f64::consts::FRAC_PI_2;
        let ride = Ride { curve, orientation: Orientation::Follow, twist, behind: 0.0 };
        let turned = ride.turn() * DVec3::Y;
        assert!((turned - DVec3::Z).length() < 1e-9, "{turned}");
    }

    #[test]
    fn curves_start_and_end_where_they_must() {
        let points = vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::ONE, Vec3::Z];
        for guide in [Guide::Through(points.clone()), Guide::BSpline(points.clone())] {
            let curve = guide.pieces().unwrap();
            assert!(curve.at(0.0)[0].length() < 1e-12, "{guide:?}");
            assert!((curve.at(1.0)[0] - DVec3::Z).length() < 1e-12, "{guide:?}");
            let h = 1e-6;
            for k in 1..20 {
                let t = f64::from(k) / 20.3;
                let slope = (curve.at(t + h)[0] - curve.at(t - h)[0]) / (2.0 * h);
                assert!((slope - curve.at(t)[1]).length() < 1e-6, "{guide:?} at {t}");
                let second = (curve.at(t + h)[1] - curve.at(t - h)[1]) / (2.0 * h);
                assert!((second - curve.at(t)[2]).length() < 1e-4, "{guide:?} at {t}");
            }
        }
        let odd = Guide::Bezier(vec![Vec3::ZERO; 5]).pieces();
        assert!(matches!(odd, Err(Problem::BezierPoints { found: 5 })), "{odd:?}");
    }
}

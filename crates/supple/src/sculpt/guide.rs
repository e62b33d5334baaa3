//! Curves along which a handle is guided, and the frame that follows them.

use glam::{DMat3, DVec3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{Problem, check_finite, check_point, direction};
use crate::field::Generator;
use crate::field::motion::rotation;

/// A curve for the time from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Guide {
    /// Through the points, smoothly (Catmull–Rom); straight through two.
    Through(#[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))] Vec<Vec3>),
    /// Cubic Bézier curves in a row: 4, 7, 10 … points.
    Bezier(#[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))] Vec<Vec3>),
    /// A uniform cubic B-spline with these control points, from the first to the last; at least 4.
    BSpline(#[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))] Vec<Vec3>),
    /// From one handle to another: a cubic curve that leaves along the first normal and arrives along
    /// the second, with the twist that takes one binormal to the other.
    Handles {
        /// Where it starts.
        from: Handle,
        /// Where it ends.
        to: Handle,
    },
    /// A rotation in place.
    Turn {
        /// A point of the axis.
        #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
        center: Vec3,
        /// Its direction, of any length.
        #[schemars(with = "[f32; 3]")]
        axis: Vec3,
        /// Angle, right-handed.
        #[schemars(extend("unit" = "deg"))]
        degrees: f32,
    },
}

/// A place with two directions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handle {
    /// The place.
    #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
    pub position: Vec3,
    /// First direction, of any length.
    #[schemars(with = "[f32; 3]")]
    pub normal: Vec3,
    /// Second direction, across the first; what it has along the first is dropped.
    #[schemars(with = "[f32; 3]")]
    pub binormal: Vec3,
}

impl Default for Guide {
    fn default() -> Self {
        Self::Through(Vec::new())
    }
}

/// How a handle turns while it follows a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Points along it from its start to the time `until`, for pictures; none for a turn in place or a
    /// curve that makes no sense.
    #[must_use]
    pub fn sampled(&self, until: f32, count: u32) -> Vec<Vec3> {
        let Ok(Ride { way: Way::Along { curve, .. }, .. }) = self.ride(Orientation::Keep, 0.0)
        else {
            return Vec::new();
        };
        let time = |i: u32| f64::from(until) * f64::from(i) / f64::from(count.max(2) - 1);
        (0..count).map(|i| curve.at(time(i))[0].as_vec3()).collect()
    }

    /// The motion along the guide, with a twist in radians added.
    pub(super) fn ride(&self, orientation: Orientation, twist: f64) -> Result<Ride, Problem> {
        let along = |curve: Pieces, twist: f64| Ride {
            way: Way::Along { curve, orientation },
            twist,
            behind: 0.0,
            until: 1.0,
        };
        match self {
            Self::Turn { center, axis, degrees } => {
                check_point("the centre", *center)?;
                check_finite("the angle", *degrees)?;
                let axis = direction("the axis", *axis)?.as_dvec3().normalize();
                let radians = f64::from(*degrees).to_radians();
                let way = Way::Turn { center: center.as_dvec3(), axis, radians };
                Ok(Ride { way, twist: 0.0, behind: 0.0, until: 1.0 })
            }
            Self::Handles { from, to } => {
                let straight = along(handle_curve(from, to)?, 0.0);
                let carried = straight.turn() * from.binormal.as_dvec3();
                let normal = direction("the normal", to.normal)?.as_dvec3();
                let flat = |v: DVec3| v - normal * normal.dot(v);
                let (have, want) = (flat(carried), flat(to.binormal.as_dvec3()));
                let rest = normal.dot(have.cross(want)).atan2(have.dot(want));
                Ok(Ride { twist: twist + rest, ..straight })
            }
            Self::Through(points) => Ok(along(Pieces(through(&checked(points, 2)?)), twist)),
            Self::BSpline(points) => Ok(along(Pieces(b_spline(&checked(points, 4)?)), twist)),
            Self::Bezier(points) => {
                let p = checked(points, 4)?;
                if p.len() % 3 != 1 {
                    return Err(Problem::BezierPoints { found: p.len() });
                }
                let piece = |k: usize| [p[3 * k], p[3 * k + 1], p[3 * k + 2], p[3 * k + 3]];
                Ok(along(Pieces((0..p.len() / 3).map(piece).collect()), twist))
            }
        }
    }
}

fn checked(points: &[Vec3], least: usize) -> Result<Vec<DVec3>, Problem> {
    for &p in points {
        check_point("a point of the curve", p)?;
    }
    if points.len() < least {
        return Err(Problem::TooFew { what: "the curve", least });
    }
    if points.iter().all(|p| *p == points[0]) {
        return Err(Problem::NoWay);
    }
    Ok(points.iter().map(|p| p.as_dvec3()).collect())
}

/// (4.12). Where the way does not run along a normal, a third of its length is taken instead, so that
/// the curve still leaves and arrives along the normals.
fn handle_curve(from: &Handle, to: &Handle) -> Result<Pieces, Problem> {
    check_point("the first handle", from.position)?;
    check_point("the second handle", to.position)?;
    direction("the first binormal", from.binormal)?;
    direction("the second binormal", to.binormal)?;
    let leave = direction("the first normal", from.normal)?.as_dvec3();
    let arrive = direction("the second normal", to.normal)?.as_dvec3();
    let (start, end) = (from.position.as_dvec3(), to.position.as_dvec3());
    let way = end - start;
    if way.length() <= 0.0 {
        return Err(Problem::NoDirection { what: "the way between the handles (use a turn)" });
    }
    let least = 0.1 * way.length();
    let (a, b) = (leave.dot(way), arrive.dot(way));
    let (a, b) = if a > least && b > least { (a, b) } else { (way.length(), way.length()) };
    Ok(Pieces(vec![[start, start + a / 3.0 * leave, end - b / 3.0 * arrive, end]]))
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
}

/// The rigid motion of what is guided.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ride {
    pub(super) way: Way,
    /// Radians about the tangent over the whole way.
    pub(super) twist: f64,
    /// How far behind the curve's point the twist has its centre.
    pub(super) behind: f64,
    /// The time at which it stops, up to 1.
    pub(super) until: f64,
}

/// Where a ride leads.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Way {
    Along { curve: Pieces, orientation: Orientation },
    Turn { center: DVec3, axis: DVec3, radians: f64 },
}

impl Ride {
    /// How often the pieces of the way meet: a step should not reach across.
    pub(super) fn pieces(&self) -> u32 {
        match &self.way {
            Way::Along { curve, .. } => curve.0.len() as u32,
            Way::Turn { .. } => 1,
        }
    }

    /// Where the ride starts, and in which direction.
    pub(super) fn start(&self) -> (DVec3, DVec3) {
        match &self.way {
            Way::Along { curve, .. } => {
                let [start, velocity, _] = curve.at(0.0);
                (start, velocity.normalize_or_zero())
            }
            Way::Turn { center, .. } => (*center, DVec3::ZERO),
        }
    }

    /// The generators of the motion at a time: along the curve, and the twist if there is one.
    pub(super) fn generators(&self, t: f64) -> Vec<Generator> {
        match &self.way {
            Way::Along { curve, orientation } => {
                let [c, dc, ddc] = curve.at(t).map(|v| v.as_vec3());
                let along = match orientation {
                    Orientation::Follow => Generator::along_curve(c, dc, ddc),
                    Orientation::Keep => Generator::translation(c, dc),
                };
                let tangent = dc.normalize_or(Vec3::X);
                let mut generators = vec![along];
                if dc.length_squared() > 0.0 && self.twist != 0.0 {
                    let behind = c - self.behind as f32 * tangent;
                    generators.push(Generator::rotation(behind, tangent, self.twist as f32));
                }
                generators
            }
            Way::Turn { center, axis, radians } => {
                let (center, axis) = (center.as_vec3(), axis.as_vec3());
                vec![Generator::rotation(center, axis, *radians as f32)]
            }
        }
    }

    /// Angular velocity at a time.
    fn turning(&self, t: f64) -> DVec3 {
        let (curve, orientation) = match &self.way {
            Way::Turn { axis, radians, .. } => return *radians * *axis,
            Way::Along { curve, orientation } => (curve, orientation),
        };
        let [_, dc, ddc] = curve.at(t);
        let squared = dc.length_squared();
        if squared <= 0.0 {
            return DVec3::ZERO;
        }
        let follow = match orientation {
            Orientation::Follow => dc.cross(ddc) / squared,
            Orientation::Keep => DVec3::ZERO,
        };
        follow + self.twist * dc / squared.sqrt()
    }

    /// The turn from the start to the end, from small rotations, of order four by Gauss points.
    pub(super) fn turn(&self) -> DMat3 {
        let steps = 512 * self.pieces();
        let h = self.until / f64::from(steps);
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

    /// Where a point that is rigidly tied to the ride ends, given its turn.
    pub(super) fn carry(&self, turn: DMat3, x: Vec3) -> Vec3 {
        let (start, end) = match &self.way {
            Way::Along { curve, .. } => (curve.at(0.0)[0], curve.at(self.until)[0]),
            Way::Turn { center, .. } => (*center, *center),
        };
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
        let ride = quarter_circle().ride(Orientation::Follow, 0.0).unwrap();
        let turned = ride.turn() * DVec3::new(0.3, 0.5, 0.2);
        assert!((turned - DVec3::new(-0.5, 0.3, 0.2)).length() < 1e-6, "{turned}");
        let kept = quarter_circle().ride(Orientation::Keep, 0.0).unwrap().turn();
        assert!((kept * DVec3::X - DVec3::X).length() < 1e-12, "kept");
    }

    #[test]
    fn a_twist_on_a_straight_way_is_a_rotation_about_it() {
        let straight = Guide::Through(vec![Vec3::ZERO, Vec3::X]);
        let ride = straight.ride(Orientation::Follow, std::f64::consts::FRAC_PI_2).unwrap();
        let turned = ride.turn() * DVec3::Y;
        assert!((turned - DVec3::Z).length() < 1e-9, "{turned}");
    }

    #[test]
    fn curves_start_and_end_where_they_must() {
        let points = vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::ONE, Vec3::Z];
        for guide in [Guide::Through(points.clone()), Guide::BSpline(points.clone())] {
            let Way::Along { curve, .. } = guide.ride(Orientation::Follow, 0.0).unwrap().way else {
                panic!("a curve")
            };
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
        let odd = Guide::Bezier(vec![Vec3::ZERO; 5]).ride(Orientation::Follow, 0.0);
        assert!(matches!(odd, Err(Problem::NoWay)), "{odd:?}");
        let odd = Guide::Bezier(points).ride(Orientation::Follow, 0.0);
        assert!(matches!(odd, Err(Problem::BezierPoints { found: 5 })), "{odd:?}");
    }
    #[test]
    fn a_handle_arrives_in_its_place_and_orientation() {
        let from = Handle { position: Vec3::ZERO, normal: Vec3::X, binormal: Vec3::Y };
        let ways = [
            (Vec3::new(2.0, 1.0, 0.5), Vec3::new(0.6, 0.8, 0.0), Vec3::Z),
            (Vec3::new(2.0, 0.0, 0.0), Vec3::X, Vec3::Z),
            (Vec3::new(0.0, 2.0, 0.0), Vec3::Z, -Vec3::X),
        ];
        for (position, normal, binormal) in ways {
            let to = Handle { position, normal, binormal };
            let ride = Guide::Handles { from, to }.ride(Orientation::Follow, 0.0).unwrap();
            let turn = ride.turn();
            assert!(ride.carry(turn, Vec3::ZERO).abs_diff_eq(position, 1e-6), "{position}");
            let tip = ride.carry(turn, Vec3::X) - position;
            assert!(tip.abs_diff_eq(normal, 1e-5), "{tip} instead of {normal}");
            let side = ride.carry(turn, Vec3::Y) - position;
            assert!(side.abs_diff_eq(binormal, 1e-5), "{side} instead of {binormal}");
        }
    }

    #[test]
    fn a_turn_stays_in_its_place() {
        let guide = Guide::Turn { center: Vec3::X, axis: 2.0 * Vec3::Z, degrees: 90.0 };
        let ride = guide.ride(Orientation::Follow, 0.0).unwrap();
        let end = ride.carry(ride.turn(), Vec3::new(2.0, 0.0, 1.0));
        assert!(end.abs_diff_eq(Vec3::new(1.0, 1.0, 1.0), 1e-6), "{end}");
    }
}

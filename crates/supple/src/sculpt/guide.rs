//! Curves along which a handle is guided, and the frame that follows them.

use glam::{DMat3, DVec3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{Problem, check_finite, check_point, direction};
use super::twisting::Twisting;
use crate::field::motion::rotation;
use crate::field::{Generator, RigidMotion};

/// A curve for the time from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Guide {
    /// Through the points, smoothly (Catmull–Rom); straight through two.
    Through(#[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))] Vec<Vec3>),
    /// Straight from each point to the next, as drawn: at a corner what is guided turns in place, if it turns. Every leg
    /// and every corner takes the same time.
    Polyline(#[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))] Vec<Vec3>),
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
        if matches!(self, Self::Turn { .. }) {
            return Vec::new();
        }
        let Ok(ride) = self.ride(Orientation::Keep, Twisting::default()) else {
            return Vec::new();
        };
        let time = |i: u32| f64::from(until) * f64::from(i) / f64::from(count.max(2) - 1);
        (0..count).map(|i| ride.place(time(i)).as_vec3()).collect()
    }

    /// The motion along the guide, with a twist added.
    pub(super) fn ride(&self, orientation: Orientation, twist: Twisting) -> Result<Ride, Problem> {
        let along = |curve: Pieces, twist: Twisting| Ride {
            way: RidePath::Along { curve, orientation },
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
                let way = RidePath::Turn { center: center.as_dvec3(), axis, radians };
                Ok(Ride { way, twist: Twisting::default(), behind: 0.0, until: 1.0 })
            }
            Self::Polyline(points) => {
                let way = RidePath::Drawn(Drawn::new(&checked(points, 2)?, orientation)?);
                Ok(Ride { way, twist, behind: 0.0, until: 1.0 })
            }
            Self::Handles { from, to } => {
                let straight = along(handle_curve(from, to)?, Twisting::default());
                let carried = straight.turn() * from.binormal.as_dvec3();
                let normal = direction("the normal", to.normal)?.as_dvec3();
                let flat = |v: DVec3| v - normal * normal.dot(v);
                let (have, want) = (flat(carried), flat(to.binormal.as_dvec3()));
                let rest = normal.dot(have.cross(want)).atan2(have.dot(want));
                Ok(Ride { twist: twist.and(rest), ..straight })
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
    pub(super) way: RidePath,
    /// The turn about the tangent.
    pub(super) twist: Twisting,
    /// How far behind the curve's point the twist has its centre.
    pub(super) behind: f64,
    /// The time at which it stops, up to 1.
    pub(super) until: f64,
}

/// Where a ride leads.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RidePath {
    Along { curve: Pieces, orientation: Orientation },
    Drawn(Drawn),
    Turn { center: DVec3, axis: DVec3, radians: f64 },
}

/// Most corners of a way as drawn: each is a step of its own.
const MOST_CORNERS: usize = 4096;

/// Legs, and turns at the corners between them, each for the same time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Drawn(Vec<Leg>);

/// A straight way, or a turn in place.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Leg {
    from: DVec3,
    way: DVec3,
    /// Direction at the start.
    along: DVec3,
    axis: DVec3,
    radians: f64,
}

impl Drawn {
    fn new(points: &[DVec3], orientation: Orientation) -> Result<Self, Problem> {
        let ways = points.windows(2).filter(|pair| pair[0] != pair[1]);
        let (mut legs, mut last): (Vec<Leg>, Option<DVec3>) = (Vec::new(), None);
        for pair in ways {
            let (from, way) = (pair[0], pair[1] - pair[0]);
            let along = way.normalize();
            if let Some(last) =
                last.filter(|last| orientation == Orientation::Follow && *last != along)
            {
                let radians = last.cross(along).length().atan2(last.dot(along));
                let axis = last.cross(along).try_normalize();
                let axis = axis.unwrap_or_else(|| last.any_orthonormal_vector());
                legs.push(Leg { from, way: DVec3::ZERO, along: last, axis, radians });
            }
            legs.push(Leg { from, way, along, axis: DVec3::ZERO, radians: 0.0 });
            last = Some(along);
        }
        if legs.len() > MOST_CORNERS {
            let most = MOST_CORNERS / 2;
            return Err(Problem::TooManyCorners { corners: points.len(), most });
        }
        Ok(Self(legs))
    }

    /// The leg at a time, and how far along it that is.
    fn at(&self, t: f64) -> (&Leg, f64) {
        let scaled = (t * self.0.len() as f64).clamp(0.0, self.0.len() as f64);
        let k = (scaled as usize).min(self.0.len() - 1);
        (&self.0[k], scaled - k as f64)
    }

    /// Place and direction at a time.
    fn place(&self, t: f64) -> (DVec3, DVec3) {
        let (leg, u) = self.at(t);
        let along = if leg.radians == 0.0 {
            leg.along
        } else {
            rotation(leg.axis, u * leg.radians) * leg.along
        };
        (leg.from + u * leg.way, along)
    }

    /// Velocity and angular velocity at a time.
    fn speeds(&self, t: f64) -> (DVec3, DVec3) {
        let (leg, _) = self.at(t);
        let rate = self.0.len() as f64;
        (rate * leg.way, rate * leg.radians * leg.axis)
    }
}

impl Ride {
    /// A rigid motion that is no curve's.
    pub(super) fn of(motion: RigidMotion) -> Self {
        let straight = |by: Vec3| RidePath::Along {
            curve: Pieces(through(&[DVec3::ZERO, by.as_dvec3()])),
            orientation: Orientation::Keep,
        };
        let way = match motion {
            RigidMotion::Still => straight(Vec3::ZERO),
            RigidMotion::Translation { velocity } => straight(velocity),
            RigidMotion::Rotation { center, axis, speed }
            | RigidMotion::Swing { center, axis, speed, .. } => {
                let (center, axis) = (center.as_dvec3(), axis.as_dvec3());
                RidePath::Turn { center, axis, radians: f64::from(speed) }
            }
        };
        Self { way, twist: Twisting::default(), behind: 0.0, until: 1.0 }
    }

    /// How often the pieces of the way meet: a step should not reach across.
    pub(super) fn pieces(&self) -> u32 {
        match &self.way {
            RidePath::Along { curve, .. } => curve.0.len() as u32,
            RidePath::Drawn(drawn) => drawn.0.len() as u32,
            RidePath::Turn { .. } => 1,
        }
    }

    /// Where the curve is at a time.
    fn place(&self, t: f64) -> DVec3 {
        match &self.way {
            RidePath::Along { curve, .. } => curve.at(t)[0],
            RidePath::Drawn(drawn) => drawn.place(t).0,
            RidePath::Turn { center, .. } => *center,
        }
    }

    /// Where the ride starts, and in which direction.
    pub(super) fn start(&self) -> (DVec3, DVec3) {
        match &self.way {
            RidePath::Along { curve, .. } => {
                let [start, velocity, _] = curve.at(0.0);
                (start, velocity.normalize_or_zero())
            }
            RidePath::Drawn(drawn) => drawn.place(0.0),
            RidePath::Turn { center, .. } => (*center, DVec3::ZERO),
        }
    }

    /// The generators of the motion at a time: along the curve, and the twist if there is one.
    pub(super) fn generators(&self, t: f64) -> Vec<Generator> {
        match &self.way {
            RidePath::Along { curve, orientation } => {
                let [c, dc, ddc] = curve.at(t).map(|v| v.as_vec3());
                let along = match orientation {
                    Orientation::Follow => Generator::along_curve(c, dc, ddc),
                    Orientation::Keep => Generator::translation(c, dc),
                };
                let tangent = dc.normalize_or(Vec3::X);
                let is_moving = dc.length_squared() > 0.0;
                let twist = is_moving.then(|| self.twisting(t, c, tangent)).flatten();
                std::iter::once(along).chain(twist).collect()
            }
            RidePath::Drawn(drawn) => {
                let ((c, tangent), (velocity, turning)) = (drawn.place(t), drawn.speeds(t));
                let (c, tangent) = (c.as_vec3(), tangent.as_vec3());
                let speed = turning.length();
                let along = if speed > 0.0 {
                    Generator::rotation(c, (turning / speed).as_vec3(), speed as f32)
                } else {
                    Generator::translation(c, velocity.as_vec3())
                };
                std::iter::once(along).chain(self.twisting(t, c, tangent)).collect()
            }
            RidePath::Turn { center, axis, radians } => {
                let (center, axis) = (center.as_vec3(), axis.as_vec3());
                vec![Generator::rotation(center, axis, *radians as f32)]
            }
        }
    }

    /// The twist at a place of the curve, if there is one.
    fn twisting(&self, t: f64, c: Vec3, tangent: Vec3) -> Option<Generator> {
        let behind = c - self.behind as f32 * tangent;
        let rate = self.twist.rate(t) as f32;
        (!self.twist.is_none()).then(|| Generator::rotation(behind, tangent, rate))
    }

    /// Angular velocity at a time.
    fn turning(&self, t: f64) -> DVec3 {
        let (curve, orientation) = match &self.way {
            RidePath::Turn { axis, radians, .. } => return *radians * *axis,
            RidePath::Drawn(drawn) => {
                return drawn.speeds(t).1 + self.twist.rate(t) * drawn.place(t).1;
            }
            RidePath::Along { curve, orientation } => (curve, orientation),
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
        follow + self.twist.rate(t) * dc / squared.sqrt()
    }

    /// The turn from the start to the end, from small rotations, of order four by Gauss points.
    pub(super) fn turn(&self) -> DMat3 {
        const STEPS: u32 = 512;
        let pieces = f64::from(self.pieces());
        let offset = 0.5 / 3.0_f64.sqrt();
        let mut turn = DMat3::IDENTITY;
        for piece in 0..self.pieces() {
            // A step never reaches from one piece into the next, where the speed may jump.
            let [from, to] = [piece, piece + 1].map(|k| (f64::from(k) / pieces).min(self.until));
            let h = (to - from) / f64::from(STEPS);
            for k in 0..STEPS {
                let middle = from + (f64::from(k) + 0.5) * h;
                let (a, b) = (self.turning(middle - offset * h), self.turning(middle + offset * h));
                let commutator = 3.0_f64.sqrt() / 12.0 * h * h * b.cross(a);
                let vector = 0.5 * h * (a + b) + commutator;
                if let Some(axis) = vector.try_normalize() {
                    turn = rotation(axis, vector.length()) * turn;
                }
            }
        }
        turn
    }

    /// Where a point that is rigidly tied to the ride ends, given its turn.
    pub(super) fn carry(&self, turn: DMat3, x: Vec3) -> Vec3 {
        let (start, end) = (self.place(0.0), self.place(self.until));
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
        let ride = quarter_circle().ride(Orientation::Follow, Twisting::default()).unwrap();
        let turned = ride.turn() * DVec3::new(0.3, 0.5, 0.2);
        assert!((turned - DVec3::new(-0.5, 0.3, 0.2)).length() < 1e-6, "{turned}");
        let kept = quarter_circle().ride(Orientation::Keep, Twisting::default()).unwrap().turn();
        assert!((kept * DVec3::X - DVec3::X).length() < 1e-12, "kept");
    }

    #[test]
    fn a_twist_on_a_straight_way_is_a_rotation_about_it() {
        let straight = Guide::Through(vec![Vec3::ZERO, Vec3::X]);
        let ride = straight
            .ride(Orientation::Follow, Twisting::default().and(std::f64::consts::FRAC_PI_2))
            .unwrap();
        let turned = ride.turn() * DVec3::Y;
        assert!((turned - DVec3::Z).length() < 1e-9, "{turned}");
    }

    #[test]
    fn curves_start_and_end_where_they_must() {
        let points = vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::ONE, Vec3::Z];
        for guide in [Guide::Through(points.clone()), Guide::BSpline(points.clone())] {
            let RidePath::Along { curve, .. } =
                guide.ride(Orientation::Follow, Twisting::default()).unwrap().way
            else {
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
        let odd = Guide::Bezier(vec![Vec3::ZERO; 5]).ride(Orientation::Follow, Twisting::default());
        assert!(matches!(odd, Err(Problem::NoWay)), "{odd:?}");
        let odd = Guide::Bezier(points).ride(Orientation::Follow, Twisting::default());
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
            let ride =
                Guide::Handles { from, to }.ride(Orientation::Follow, Twisting::default()).unwrap();
            let turn = ride.turn();
            assert!(ride.carry(turn, Vec3::ZERO).abs_diff_eq(position, 1e-6), "{position}");
            let tip = ride.carry(turn, Vec3::X) - position;
            assert!(tip.abs_diff_eq(normal, 1e-5), "{tip} instead of {normal}");
            let side = ride.carry(turn, Vec3::Y) - position;
            assert!(side.abs_diff_eq(binormal, 1e-5), "{side} instead of {binormal}");
        }
    }

    /// Straight legs, a turn at each corner, and the end exactly where it was drawn.
    #[test]
    fn a_polyline_is_followed_as_drawn() {
        let corner = Vec3::new(2.0, 0.0, 0.0);
        let points = vec![Vec3::ZERO, corner, Vec3::new(2.0, 3.0, 0.0), Vec3::new(2.0, 3.0, 1.0)];
        let guide = Guide::Polyline(points);
        let mut ride = guide.ride(Orientation::Follow, Twisting::default()).unwrap();
        assert_eq!(ride.pieces(), 5, "three legs and two turns");
        let tip = |ride: &Ride| ride.carry(ride.turn(), Vec3::new(0.5, 0.0, 0.0));
        assert!(tip(&ride).abs_diff_eq(Vec3::new(2.0, 3.0, 1.5), 1e-6), "{}", tip(&ride));
        ride.until = 0.3;
        // In the middle of the first corner: half of the right angle.
        let half = std::f32::consts::FRAC_1_SQRT_2 * 0.5;
        let there = corner + Vec3::new(half, half, 0.0);
        assert!(tip(&ride).abs_diff_eq(there, 1e-6), "{}", tip(&ride));
        let kept = guide.ride(Orientation::Keep, Twisting::default()).unwrap();
        assert!(tip(&kept).abs_diff_eq(Vec3::new(2.5, 3.0, 1.0), 1e-6), "{}", tip(&kept));
        assert_eq!(guide.sampled(1.0, 4)[1], Vec3::new(2.0, 0.0, 0.0), "a third of the time");
        let many = (0..6000_u16).map(|k| Vec3::new(f32::from(k), f32::from(k % 2), 0.0)).collect();
        let refused = Guide::Polyline(many).ride(Orientation::Follow, Twisting::default());
        assert!(matches!(refused, Err(Problem::TooManyCorners { .. })), "{refused:?}");
    }

    /// Every guide there is, with and without a twist on the way.
    fn rides() -> Vec<Ride> {
        let points = vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::ONE, 2.0 * Vec3::Z];
        let at =
            |position: Vec3, normal: Vec3, binormal: Vec3| Handle { position, normal, binormal };
        let (from, to) = (at(Vec3::ZERO, Vec3::X, Vec3::Y), at(Vec3::ONE, Vec3::Y, Vec3::Z));
        let guides = [
            quarter_circle(),
            Guide::Through(points.clone()),
            Guide::BSpline(points.clone()),
            Guide::Polyline(points),
            Guide::Handles { from, to },
            Guide::Turn { center: Vec3::X, axis: Vec3::ONE, degrees: 70.0 },
        ];
        let ways = guides.iter().flat_map(|g| [(g, Orientation::Follow), (g, Orientation::Keep)]);
        let twists = [Twisting::default(), Twisting::default().and(0.8)];
        ways.flat_map(|(g, o)| twists.clone().map(|t| g.ride(o, t).unwrap())).collect()
    }

    /// How far the velocity of the field at a point it moves fully is from that of the rigid motion, as a share of one and that.
    fn field_off(ride: &Ride, t: f64, x: Vec3) -> f64 {
        let h = 1e-6;
        let of = |g: &Generator| {
            let (_, grad_e, _, grad_f) = g.eval(x);
            grad_e.cross(grad_f).as_dvec3()
        };
        let found: DVec3 = ride.generators(t).iter().map(of).sum();
        let drift = (ride.place(t + h) - ride.place(t - h)) / (2.0 * h);
        let expected = drift + ride.turning(t).cross(x.as_dvec3() - ride.place(t));
        (found - expected).length() / (1.0 + expected.length())
    }

    /// With the place it has and the turn it makes.
    #[test]
    fn the_field_moves_what_is_guided_as_the_ride_does() {
        for ride in rides() {
            for t in (0..9).map(|k| (f64::from(k) + 0.4) / 9.0) {
                for x in [Vec3::new(0.4, -0.3, 0.7), Vec3::new(-0.6, 0.5, 0.2)] {
                    let off = field_off(&ride, t, x);
                    assert!(off < 1e-5, "{ride:?} at {t}: {off}");
                }
            }
        }
    }

    #[test]
    fn two_points_are_a_straight_way_at_an_even_speed() {
        let ride = Guide::Through(vec![Vec3::X, Vec3::new(1.0, 4.0, 0.0)])
            .ride(Orientation::Follow, Twisting::default())
            .unwrap();
        for share in [0.25, 0.5, 0.75] {
            let there = DVec3::new(1.0, 4.0 * share, 0.0);
            assert!((ride.place(share) - there).length() < 1e-12, "{share}");
        }
    }

    #[test]
    fn a_turn_stays_in_its_place() {
        let guide = Guide::Turn { center: Vec3::X, axis: 2.0 * Vec3::Z, degrees: 90.0 };
        let ride = guide.ride(Orientation::Follow, Twisting::default()).unwrap();
        let end = ride.carry(ride.turn(), Vec3::new(2.0, 0.0, 1.0));
        assert!(end.abs_diff_eq(Vec3::new(1.0, 1.0, 1.0), 1e-6), "{end}");
    }
}

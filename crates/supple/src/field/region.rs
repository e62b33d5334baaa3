//! Region fields `r`: how far a point is from the tool.
//!
//! The distances to a segment and to a box have continuous gradients, but their second
//! derivatives jump where the nearest feature changes; a field built on them is Lipschitz there and
//! C¹ everywhere else, the borders of its regions included.

use glam::{DVec3, Vec3};

use super::jet::Jet;
use super::smooth_distance::{CurveDistance, PointsDistance, SurfaceDistance};
use super::solid::SolidDistance;
use crate::lanes::{Lanes, ScalarLanes};
use crate::mesh::measure::Bounds;

/// A scalar field that grows away from a shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// Distance to a point: the tool is a sphere.
    Point(Vec3),
    /// Distance to a segment between two points: the tool is a capsule.
    Segment([Vec3; 2]),
    /// Signed height above a plane.
    Plane {
        /// A point of the plane.
        origin: Vec3,
        /// Unit normal; r grows along it.
        normal: Vec3,
    },
    /// Distance to an axis-aligned box, zero inside.
    Box(Bounds),
    /// Smooth distance to a few points.
    Points(PointsDistance),
    /// Smooth distance to a polyline, whatever its sampling.
    Curve(CurveDistance),
    /// Smooth distance to a surface, whatever its sampling.
    Surface(SurfaceDistance),
    /// Zero in a solid, the smooth distance to it outside.
    Solid(SolidDistance),
}

impl Region {
    /// `r` and `∇r` in each lane.
    #[inline(always)]
    pub(crate) fn eval<const L: usize>(&self, x: &Lanes<L>) -> ScalarLanes<L> {
        match self {
            Self::Point(center) => distances(x, |x| x - *center),
            Self::Segment([a, b]) => {
                let along = *b - *a;
                let scale = 1.0 / along.length_squared().max(f32::MIN_POSITIVE);
                distances(x, |x| {
                    let s = (along.dot(x - *a) * scale).clamp(0.0, 1.0);
                    x - (*a + s * along)
                })
            }
            Self::Plane { origin, normal } => {
                let mut r = ScalarLanes::ZERO;
                for i in 0..L {
                    r.value[i] = normal.dot(x.get(i) - *origin);
                    r.gradient.set(i, *normal);
                }
                r
            }
            Self::Box(bounds) => distances(x, |x| {
                let clamp = |v: f32, lo: f32, hi: f32| {
                    if v < lo {
                        v - lo
                    } else if v > hi {
                        v - hi
                    } else {
                        0.0
                    }
                };
                let (lo, hi) = (bounds.min, bounds.max);
                Vec3::new(clamp(x.x, lo.x, hi.x), clamp(x.y, lo.y, hi.y), clamp(x.z, lo.z, hi.z))
            }),
            Self::Points(points) => points.eval(x),
            Self::Curve(curve) => curve.eval(x),
            Self::Surface(surface) => surface.eval(x),
            Self::Solid(solid) => solid.eval(x),
        }
    }

    /// `r` with its derivatives.
    #[must_use]
    pub fn jet(&self, x: DVec3) -> Jet {
        match self {
            Self::Point(center) => Jet::length_squared(x - center.as_dvec3()).sqrt(),
            Self::Segment(ends) => segment_jet(ends.map(|p| p.as_dvec3()), x),
            Self::Plane { origin, normal } => {
                let normal = normal.as_dvec3();
                Jet::linear(normal.dot(x - origin.as_dvec3()), normal)
            }
            Self::Box(bounds) => box_jet(bounds, x),
            Self::Points(points) => points.jet(x),
            Self::Curve(curve) => curve.jet(x),
            Self::Surface(surface) => surface.jet(x),
            Self::Solid(solid) => solid.jet(x),
        }
    }

    /// A box outside which `r` exceeds `outer`; `None` if there is no such box.
    pub(crate) fn bounds(&self, outer: f32) -> Option<Bounds> {
        let around = |points: &[Vec3], reach: f32| {
            let tight = Bounds::of(points)?;
            Some(Bounds { min: tight.min - reach, max: tight.max + reach })
        };
        match self {
            Self::Point(center) => around(&[*center], outer),
            Self::Segment(ends) => around(ends, outer),
            Self::Plane { .. } => None,
            Self::Box(b) => around(&[b.min, b.max], outer),
            Self::Points(points) => around(points.points(), points.reach(outer)),
            Self::Curve(curve) => around(curve.points(), curve.reach(outer)),
            Self::Surface(surface) => around(surface.points(), surface.reach(outer)),
            Self::Solid(solid) => around(solid.points(), solid.reach(outer)),
        }
    }

    /// A bound of `r ‖H_r‖` where `|∇r| ≤ 1`; `None` if r may be steeper, as it is far from a curve
    /// or a surface of finite size.
    pub(crate) fn roundness(&self) -> Option<f32> {
        match self {
            Self::Plane { .. } => Some(0.0),
            Self::Point(_) | Self::Segment(_) | Self::Box(_) => Some(1.0),
            Self::Points(_) => Some(3.0),
            Self::Curve(_) | Self::Surface(_) | Self::Solid(_) => None,
        }
    }

    /// The same region on the other side of a plane through `origin` with a unit `normal`.
    #[must_use]
    pub fn mirrored(&self, origin: Vec3, normal: Vec3) -> Self {
        let flip = |p: Vec3| p - 2.0 * normal.dot(p - origin) * normal;
        match self {
            Self::Point(p) => Self::Point(flip(*p)),
            Self::Segment(ends) => Self::Segment(ends.map(flip)),
            Self::Plane { origin: o, normal: n } => {
                Self::Plane { origin: flip(*o), normal: *n - 2.0 * normal.dot(*n) * normal }
            }
            Self::Box(b) => {
                let corners = [flip(b.min), flip(b.max)];
                Self::Box(Bounds::of(&corners).unwrap_or(*b))
            }
            Self::Points(points) => Self::Points(points.map(flip)),
            Self::Curve(curve) => Self::Curve(curve.map(flip)),
            Self::Surface(surface) => Self::Surface(surface.map(flip)),
            Self::Solid(solid) => Self::Solid(solid.mirrored(origin, normal)),
        }
    }
}

/// Lengths of `offset(x)` and the unit vectors along it; a zero gradient at length zero.
#[inline(always)]
fn distances<const L: usize>(x: &Lanes<L>, offset: impl Fn(Vec3) -> Vec3) -> ScalarLanes<L> {
    let mut r = ScalarLanes::ZERO;
    for i in 0..L {
        let out = offset(x.get(i));
        let length = out.dot(out).sqrt();
        r.value[i] = length;
        r.gradient.set(i, out * (1.0 / length.max(f32::MIN_POSITIVE)));
    }
    r
}

fn segment_jet([a, b]: [DVec3; 2], x: DVec3) -> Jet {
    let along = (b - a).normalize_or_zero();
    let s = along.dot(x - a);
    if s <= 0.0 {
        return Jet::length_squared(x - a).sqrt();
    }
    if s >= (b - a).length() {
        return Jet::length_squared(x - b).sqrt();
    }
    let s = Jet::linear(s, along);
    (Jet::length_squared(x - a) - s * s).sqrt()
}

fn box_jet(bounds: &Bounds, x: DVec3) -> Jet {
    let (min, max) = (bounds.min.as_dvec3(), bounds.max.as_dvec3());
    let mut squared = Jet::constant(0.0);
    for (k, axis) in DVec3::AXES.into_iter().enumerate() {
        let out = x[k] - x[k].clamp(min[k], max[k]);
        if out.abs() > 0.0 {
            let out = Jet::linear(out, axis);
            squared = squared + out * out;
        }
    }
    squared.sqrt()
}

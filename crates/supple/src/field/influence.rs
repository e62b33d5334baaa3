//! How much of a motion a point takes part in: `β`, one inside, zero outside.

use glam::{DVec3, Vec3};

use super::blend::{fade, fade_jet};
use super::jet::Jet;
use super::motion::{Pose, RigidMotion};
use super::region::Region;
use super::smooth_distance::CurveDistance;
use crate::lanes::{Lanes, ScalarLanes};
use crate::mesh::measure::Bounds;

/// `β` of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum Influence {
    /// One everywhere.
    Full,
    /// Fades with a region field (2.5), `β = 1 − b((r − inner)/(outer − inner))`.
    Fade(Fade),
    /// Fades between two closed curves (thesis, chapter 3).
    Between(Between),
}

/// Full where `r ≤ inner`, none where `r ≥ outer`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fade {
    /// The region field.
    pub region: Region,
    /// How the region moves.
    pub motion: RigidMotion,
    /// Value of r up to which everything follows.
    pub inner: f32,
    /// Value of r from which nothing moves; greater than `inner`.
    pub outer: f32,
}

/// `β = w D_o³/(D_i³ + w D_o³)` (3.7), where `D` is the distance to a curve less the tube around it.
///
/// Full inside the inner tube, none inside the outer one. The caller decides which points lie
/// between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Between {
    /// The curve where the motion is full.
    pub inner: Tube,
    /// The curve where it has faded.
    pub outer: Tube,
    /// `w`: above one the inner curve reaches farther.
    pub weight: f32,
}

/// A closed curve, its thickness, and how it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Tube {
    /// Distance to the curve at the start.
    pub curve: CurveDistance,
    /// Radius of the tube.
    pub thickness: f32,
    /// How the curve moves.
    pub motion: RigidMotion,
}

impl Influence {
    #[inline(always)]
    pub(crate) fn at(&self, t: f32) -> PosedInfluence<'_> {
        match self {
            Self::Full => PosedInfluence::Full,
            Self::Fade(fade) => PosedInfluence::Fade(fade, fade.motion.at(t)),
            Self::Between(between) => {
                let poses = [between.inner.motion.at(t), between.outer.motion.at(t)];
                PosedInfluence::Between(between, poses)
            }
        }
    }

    /// `β` with its derivatives.
    #[must_use]
    pub fn jet(&self, x: DVec3, t: f64) -> Jet {
        match self {
            Self::Full => Jet::constant(1.0),
            Self::Fade(fade) => {
                let r = moved_jet(&fade.motion, x, t, |x| fade.region.jet(x));
                fade_jet(r, f64::from(fade.inner), f64::from(fade.outer))
            }
            Self::Between(between) => between.jet(x, t),
        }
    }

    /// A box that holds every point the tool reaches between the times 0 and `end`.
    pub(crate) fn reach(&self, end: f32) -> Option<Bounds> {
        let Self::Fade(fade) = self else { return None };
        let start = fade.region.bounds(fade.outer)?;
        match fade.motion {
            RigidMotion::Still => Some(start),
            RigidMotion::Translation { velocity } => Some(Bounds {
                min: start.min.min(start.min + end * velocity),
                max: start.max.max(start.max + end * velocity),
            }),
            RigidMotion::Rotation { .. } | RigidMotion::Swing { .. } => None,
        }
    }

    /// Whether it needs the distance to a curve.
    pub(crate) fn has_curves(&self) -> bool {
        match self {
            Self::Full => false,
            Self::Fade(fade) => matches!(fade.region, Region::Curve(_)),
            Self::Between(_) => true,
        }
    }

    /// Which points are in the inner region at a time.
    #[inline(always)]
    pub(crate) fn holds<const L: usize>(&self, x: &Lanes<L>, t: f32) -> [bool; L] {
        let Self::Fade(fade) = self else { return [false; L] };
        fade.region.eval(&fade.motion.at(t).to_rest(x)).value.map(|r| r <= fade.inner)
    }
}

impl Between {
    fn jet(&self, x: DVec3, t: f64) -> Jet {
        let depth = |tube: &Tube| {
            let d = moved_jet(&tube.motion, x, t, |x| tube.curve.jet(x));
            d - Jet::constant(f64::from(tube.thickness))
        };
        let (inner, outer) = (depth(&self.inner), depth(&self.outer));
        if inner.value <= 0.0 {
            return Jet::constant(1.0);
        }
        if outer.value <= 0.0 {
            return Jet::constant(0.0);
        }
        let top = f64::from(self.weight) * (outer * outer * outer);
        top * (inner * inner * inner + top).recip()
    }
}

/// A field of the tool's rest shape, at `x` and `t`.
fn moved_jet(motion: &RigidMotion, x: DVec3, t: f64, field: impl Fn(DVec3) -> Jet) -> Jet {
    let (rest, turn) = motion.rest(x, t);
    let jet = field(rest);
    Jet {
        value: jet.value,
        gradient: turn * jet.gradient,
        hessian: turn * jet.hessian * turn.transpose(),
    }
}

/// An influence at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PosedInfluence<'a> {
    Full,
    Fade(&'a Fade, Pose),
    Between(&'a Between, [Pose; 2]),
}

impl PosedInfluence<'_> {
    /// `β` and `∇β` in each lane.
    #[inline(always)]
    pub(crate) fn eval<const L: usize>(&self, x: &Lanes<L>) -> ScalarLanes<L> {
        match self {
            Self::Full => ScalarLanes { value: [1.0; L], gradient: Lanes::ZERO },
            Self::Fade(fade, pose) => {
                let mut beta = fade.region.eval(&pose.to_rest(x));
                pose.turn_gradient(&mut beta);
                fade_lanes(&mut beta, fade.inner, fade.outer);
                beta
            }
            Self::Between(between, poses) => {
                let tubes = [&between.inner, &between.outer];
                let mut depths = [ScalarLanes::<L>::ZERO; 2];
                for k in 0..2 {
                    depths[k] = tubes[k].curve.eval(&poses[k].to_rest(x));
                    poses[k].turn_gradient(&mut depths[k]);
                    for depth in &mut depths[k].value {
                        *depth = (*depth - tubes[k].thickness).max(0.0);
                    }
                }
                blend_depths(&depths[0], &depths[1], between.weight)
            }
        }
    }
}

/// Turns `r` into `β`.
#[inline(always)]
fn fade_lanes<const L: usize>(r: &mut ScalarLanes<L>, inner: f32, outer: f32) {
    let scale = 1.0 / (outer - inner);
    for i in 0..L {
        let (beta, slope) = fade((r.value[i] - inner) * scale);
        r.value[i] = beta;
        let g = r.gradient.get(i) * (slope * scale);
        r.gradient.set(i, g);
    }
}

/// `w D_o³/(D_i³ + w D_o³)`, scaled by the larger depth so that nothing over- or underflows.
#[inline(always)]
fn blend_depths<const L: usize>(
    inner: &ScalarLanes<L>,
    outer: &ScalarLanes<L>,
    weight: f32,
) -> ScalarLanes<L> {
    let mut beta = ScalarLanes::ZERO;
    for i in 0..L {
        let (a, b) = (inner.value[i], outer.value[i]);
        let scale = 1.0 / a.max(b).max(f32::MIN_POSITIVE);
        let (a, b) = (a * scale, b * scale);
        let (a2, b2) = (a * a, b * b);
        let inverse = 1.0 / (a2 * a + weight * b2 * b).max(f32::MIN_POSITIVE);
        beta.value[i] = if a > 0.0 { weight * b2 * b * inverse } else { 1.0 };
        let slope = 3.0 * weight * a2 * b2 * inverse * inverse * scale;
        let g: Vec3 = (a * outer.gradient.get(i) - b * inner.gradient.get(i)) * slope;
        beta.gradient.set(i, g);
    }
    beta
}

//! Rigid motion of a tool over time: what moves with it has its velocity, (2.21). Fields are evaluated where the tool is, in the
//! place of a blend of two that stand still, (2.22).

use glam::{DMat3, DVec3, Mat3, Vec3};

use crate::lanes::{Lanes, ScalarLanes};

/// How a tool moves from where it was placed, with time measured from the start of its phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RigidMotion {
    /// Not at all.
    #[default]
    Still,
    /// Along a straight line.
    Translation {
        /// Units of length per unit of time.
        velocity: Vec3,
    },
    /// About a fixed axis.
    Rotation {
        /// A point of the axis.
        center: Vec3,
        /// Unit direction of the axis.
        axis: Vec3,
        /// Radians per unit of time, right-handed.
        speed: f32,
    },
    /// About a fixed axis, while it moves on evenly in its own frame.
    Swing {
        /// A point of the axis.
        center: Vec3,
        /// Unit direction of the axis.
        axis: Vec3,
        /// Radians per unit of time, right-handed.
        speed: f32,
        /// Units of length per unit of time, turning with the tool.
        drift: Vec3,
    },
}

impl RigidMotion {
    /// The same motion at a share of the speed.
    #[must_use]
    pub fn slowed(self, share: f32) -> Self {
        match self {
            Self::Still => Self::Still,
            Self::Translation { velocity } => Self::Translation { velocity: share * velocity },
            Self::Rotation { center, axis, speed } => {
                Self::Rotation { center, axis, speed: share * speed }
            }
            Self::Swing { center, axis, speed, drift } => {
                Self::Swing { center, axis, speed: share * speed, drift: share * drift }
            }
        }
    }

    /// Where `x` has been carried by the time `t`.
    #[must_use]
    pub fn carry(self, x: Vec3, t: f32) -> Vec3 {
        self.carrier(t)(x)
    }

    /// As [`carry`](Self::carry), for many points.
    pub(crate) fn carrier(self, t: f32) -> impl Fn(Vec3) -> Vec3 {
        let turn = self.turn(f64::from(t));
        move |x| match self {
            Self::Still => x,
            Self::Translation { velocity } => x + t * velocity,
            Self::Rotation { center, .. } => {
                let offset = x.as_dvec3() - center.as_dvec3();
                (center.as_dvec3() + turn * offset).as_vec3()
            }
            Self::Swing { center, drift, .. } => {
                let offset = x.as_dvec3() - center.as_dvec3() + f64::from(t) * drift.as_dvec3();
                (center.as_dvec3() + turn * offset).as_vec3()
            }
        }
    }

    /// The place of the tool at a time.
    #[inline(always)]
    pub(crate) fn at(&self, t: f32) -> Pose {
        match *self {
            Self::Still => Pose { turn: None, shift: Vec3::ZERO },
            Self::Translation { velocity } => Pose { turn: None, shift: t * velocity },
            Self::Rotation { center, .. } => {
                let turn = self.turn(f64::from(t)).as_mat3();
                Pose { turn: Some(turn), shift: center - turn * center }
            }
            Self::Swing { center, drift, .. } => {
                let turn = self.turn(f64::from(t)).as_mat3();
                Pose { turn: Some(turn), shift: center - turn * (center - t * drift) }
            }
        }
    }

    /// The point of the tool's rest shape that lies at `x`, and the turn of the tool.
    pub(crate) fn rest(&self, x: DVec3, t: f64) -> (DVec3, DMat3) {
        match *self {
            Self::Still => (x, DMat3::IDENTITY),
            Self::Translation { velocity } => (x - t * velocity.as_dvec3(), DMat3::IDENTITY),
            Self::Rotation { center, .. } => {
                let turn = self.turn(t);
                let center = center.as_dvec3();
                (center + turn.transpose() * (x - center), turn)
            }
            Self::Swing { center, drift, .. } => {
                let turn = self.turn(t);
                let center = center.as_dvec3();
                (center + turn.transpose() * (x - center) - t * drift.as_dvec3(), turn)
            }
        }
    }

    fn turn(&self, t: f64) -> DMat3 {
        match *self {
            Self::Rotation { axis, speed, .. } | Self::Swing { axis, speed, .. } => {
                rotation(axis.as_dvec3(), f64::from(speed) * t)
            }
            Self::Still | Self::Translation { .. } => DMat3::IDENTITY,
        }
    }
}

/// Rotation about a unit axis, right-handed, the same bits on every machine.
#[must_use]
pub fn rotation(axis: DVec3, angle: f64) -> DMat3 {
    let (s, c) = libm::sincos(angle);
    let skew = DMat3::from_cols(
        DVec3::new(0.0, axis.z, -axis.y),
        DVec3::new(-axis.z, 0.0, axis.x),
        DVec3::new(axis.y, -axis.x, 0.0),
    );
    DMat3::IDENTITY + s * skew + (1.0 - c) * (skew * skew)
}

/// `x = turn · rest + shift`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pose {
    turn: Option<Mat3>,
    shift: Vec3,
}

impl Pose {
    #[inline(always)]
    pub(crate) fn to_rest<const L: usize>(self, x: &Lanes<L>) -> Lanes<L> {
        let mut rest = Lanes::ZERO;
        match self.turn {
            None => {
                for i in 0..L {
                    rest.set(i, x.get(i) - self.shift);
                }
            }
            Some(turn) => {
                let back = turn.transpose();
                for i in 0..L {
                    rest.set(i, apply(&back, x.get(i) - self.shift));
                }
            }
        }
        rest
    }

    #[inline(always)]
    pub(crate) fn turn_gradient<const L: usize>(self, scalar: &mut ScalarLanes<L>) {
        if let Some(turn) = self.turn {
            for i in 0..L {
                let g = scalar.gradient.get(i);
                scalar.gradient.set(i, apply(&turn, g));
            }
        }
    }
}

/// `Mat3 · Vec3` without the vector types that keep the loop around it from vectorising.
#[inline(always)]
fn apply(m: &Mat3, v: Vec3) -> Vec3 {
    m.x_axis * v.x + m.y_axis * v.y + m.z_axis * v.z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_turn_about_z() {
        let motion = RigidMotion::Rotation { center: Vec3::X, axis: Vec3::Z, speed: 0.5 };
        let carried = motion.carry(Vec3::new(2.0, 0.0, 3.0), std::f32::consts::PI);
        assert!(carried.abs_diff_eq(Vec3::new(1.0, 1.0, 3.0), 1e-6), "{carried}");
        let (rest, _) = motion.rest(carried.as_dvec3(), std::f64::consts::PI);
        assert!(rest.abs_diff_eq(DVec3::new(2.0, 0.0, 3.0), 1e-6), "{rest}");
    }

    #[test]
    fn a_swing_turns_what_has_moved_on() {
        let (center, axis, drift) = (Vec3::X, Vec3::Z, Vec3::new(0.5, 0.0, 0.0));
        let motion = RigidMotion::Swing { center, axis, speed: std::f32::consts::FRAC_PI_2, drift };
        let start = Vec3::new(2.0, 0.0, 3.0);
        let carried = motion.carry(start, 1.0);
        assert!(carried.abs_diff_eq(Vec3::new(1.0, 1.5, 3.0), 1e-6), "{carried}");
        let (rest, _) = motion.rest(carried.as_dvec3(), 1.0);
        assert!(rest.abs_diff_eq(start.as_dvec3(), 1e-6), "{rest}");
        let posed = motion.at(1.0).to_rest(&Lanes::<1>::gather(&[carried], &[0])).get(0);
        assert!(posed.abs_diff_eq(start, 1e-5), "{posed}");
    }
}

//! How a bone moves against its parent, in steps small enough to be blended one after the other.

use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3};

use crate::lengths::Lengths as _;
use crate::rig::skin::nearest_rotation;

/// Stretches closer to none than this are rounding.
const NO_STRETCH: f64 = 1e-5;

/// Where a bone carries what its parent carried: a stretch about the joint, then a turn about it and a
/// move.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    /// The joint where the parent carries it, and where the bone itself is.
    pub(super) from: DVec3,
    pub(super) to: DVec3,
    stretch: Option<DMat3>,
    /// A stretch too small to be meant: what rounding the matrices cost.
    pub(super) noise: f64,
    axis: DVec3,
    /// In radians, 0 to π.
    pub(super) angle: f64,
}

/// One step of a motion: a turn about `from`, which goes to `to`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) from: DVec3,
    pub(super) to: DVec3,
    pub(super) turn: DQuat,
    /// The same as a matrix; a stretch instead of a turn for the step that stretches.
    pub(super) linear: DMat3,
}

/// A parent that cannot be undone: it flattens what it carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flat;

impl Motion {
    /// From where the parent carries things to where the bone does; `at` is the joint where it is bound.
    pub(super) fn new(parent: &DMat4, bone: &DMat4, at: DVec3) -> Result<Self, Flat> {
        let relative = *bone * parent.inverse();
        let from = parent.transform_point3(at);
        let to = bone.transform_point3(at);
        if !relative.is_finite() || !from.is_finite() || !to.is_finite() {
            return Err(Flat);
        }
        let linear = DMat3::from_mat4(relative);
        let rotation = nearest_rotation(&linear);
        let stretch = DMat3::from_quat(rotation.conjugate()) * linear;
        let off = (stretch - DMat3::IDENTITY).to_cols_array();
        let most = off.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let stretched = most > NO_STRETCH;
        let noise = if stretched { 0.0 } else { most };
        let (axis, angle) = axis_angle(rotation);
        Ok(Self { from, to, stretch: stretched.then_some(stretch), noise, axis, angle })
    }

    /// The motion seen from another origin.
    pub(super) fn relative_to(&self, origin: DVec3) -> Self {
        Self { from: self.from - origin, to: self.to - origin, ..*self }
    }

    /// The farthest it moves anything within `reach` of the joint.
    pub(super) fn displacement(&self, reach: f64) -> f64 {
        let off = |s: DMat3| (s - DMat3::IDENTITY).to_cols_array().iter().map(|x| x.abs()).sum();
        let stretch: f64 = self.stretch.map_or(0.0, off);
        self.from.distance_to(self.to) + reach * (self.angle + stretch)
    }

    /// Its stretch and its move alone, about the joint.
    pub(super) fn without_turn(&self) -> DMat4 {
        let stretch = DMat4::from_mat3(self.stretch.unwrap_or(DMat3::IDENTITY));
        DMat4::from_translation(self.to) * stretch * DMat4::from_translation(-self.from)
    }

    /// Whether it scales or shears.
    pub(super) fn stretches(&self) -> bool {
        self.stretch.is_some()
    }

    /// The stretch as a step about the joint.
    pub(super) fn stretch_step(&self) -> Option<Step> {
        let (from, to, turn) = (self.from, self.from, DQuat::IDENTITY);
        self.stretch.map(|linear| Step { from, to, turn, linear })
    }

    /// How many turns of at most `most` radians it takes; at least one.
    pub(super) fn steps(&self, most: f64) -> usize {
        // An angle of exactly a few steps must not need another one for its rounding.
        ((self.angle / most - 1e-6).ceil()).clamp(1.0, 1e4) as usize
    }

    /// Turn `k`: all but the last are by `most`, so that the number of steps never makes a jump.
    pub(super) fn step(&self, k: usize, most: f64) -> Step {
        let last = k + 1 == self.steps(most);
        let done = |k: usize| if self.angle > 0.0 { k as f64 * most / self.angle } else { 0.0 };
        let start = done(k);
        let end = if last { 1.0 } else { done(k + 1) };
        let turn = DQuat::from_axis_angle(self.axis, (end - start) * self.angle);
        Step {
            from: self.from.lerp(self.to, start),
            to: self.from.lerp(self.to, end),
            turn,
            linear: DMat3::from_quat(turn),
        }
    }
}

impl Step {
    /// What it adds to a position or, with the linear part alone, to a vector: `B x + t`.
    pub(super) fn displacement(&self) -> DAffine3 {
        let matrix3 = self.linear - DMat3::IDENTITY;
        // x ↦ to + L (x − from) − x, sorted so that nothing large cancels.
        DAffine3 { matrix3, translation: (self.to - self.from) - matrix3 * self.from }
    }
}

/// The axis and the angle from 0 to π of a turn.
fn axis_angle(q: DQuat) -> (DVec3, f64) {
    let q = if q.w < 0.0 { -q } else { q };
    let v = DVec3::new(q.x, q.y, q.z);
    let sin = v.norm();
    (v.try_normalize().unwrap_or(DVec3::X), 2.0 * sin.atan2(q.w))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_make_the_motion() {
        let parent = DMat4::from_rotation_translation(DQuat::from_rotation_y(0.3), DVec3::X);
        let turn = DQuat::from_scaled_axis(DVec3::new(1.1, -0.7, 1.9));
        let stretch = DVec3::new(1.3, 0.8, 1.0);
        let bone = DMat4::from_scale_rotation_translation(stretch, turn, DVec3::Y) * parent;
        let motion = Motion::new(&parent, &bone, DVec3::new(0.2, 0.4, -0.1)).unwrap();
        let most = 30.0_f64.to_radians();
        let start = DVec3::new(0.5, -1.5, 2.5);
        let mut x = parent.transform_point3(start);
        let stretch = motion.stretch_step();
        let turns = (0..motion.steps(most)).map(|k| motion.step(k, most));
        for step in stretch.into_iter().chain(turns) {
            assert!(step.turn.to_axis_angle().1 <= most + 1e-9, "at most 30° at a time");
            x += step.displacement().transform_point3(x);
        }
        assert!(x.distance(bone.transform_point3(start)) < 1e-12, "{x}");
    }

    #[test]
    fn an_angle_of_whole_steps_needs_no_more() {
        for (degrees, steps) in [(0.0, 1), (29.0, 1), (30.0, 1), (31.0, 2), (90.0, 3), (180.0, 6)] {
            let bone = DMat4::from_rotation_z(f64::to_radians(degrees));
            let motion = Motion::new(&DMat4::IDENTITY, &bone, DVec3::X).unwrap();
            assert_eq!(motion.steps(30.0_f64.to_radians()), steps, "{degrees}°");
        }
    }

    #[test]
    fn what_a_flat_parent_carries_cannot_be_undone() {
        let flat = DMat4::from_scale(DVec3::new(1.0, 0.0, 1.0));
        assert!(Motion::new(&flat, &DMat4::IDENTITY, DVec3::X).is_err(), "not invertible");
    }
}

//! Where the masses are: a small value, advanced in closed form.

use glam::{DQuat, DVec3, Mat4};
use serde::{Deserialize, Serialize};

use super::flesh::{Flesh, Root};
use crate::spring::Mass;

/// Where all masses are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// One for each set.
    pub swings: Vec<Swing>,
}

/// Where one mass is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Swing {
    /// The mass on its spring.
    pub mass: Mass,
    /// How it lags in rotation, for a turning set.
    pub turning: Option<Turning>,
}

/// How a mass lags in rotation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turning {
    /// The rotation vector of the mass against its anchor, and its angular velocity; the anchor is the
    /// origin.
    pub angle: Mass,
    /// How the bone was turned against its rest pose at the end of the last step.
    pub frame: DQuat,
}

/// A step of the simulation.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// From bind to world, for each joint, at the end of the step.
    pub joints: &'a [Mat4],
    /// For each set, how far from its anchor a hand holds the mass; `None`, or nothing at all, leaves it
    /// to its spring.
    pub hands: &'a [Option<DVec3>],
    /// For each set, how far morph targets and edits of the body take its anchor from where the bone carries it;
    /// nothing at all if there are none.
    pub shifts: &'a [DVec3],
    /// How long it takes.
    pub dt_secs: f64,
}

impl State {
    /// True while every number is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        let turning = |t: &Turning| t.angle.is_finite() && t.frame.is_finite();
        self.swings.iter().all(|s| s.mass.is_finite() && s.turning.as_ref().is_none_or(turning))
    }
}

impl Swing {
    /// At rest on its anchor.
    pub(super) fn begin(root: &Root, joints: &[Mat4], shift: DVec3) -> Self {
        let turning = root
            .turns
            .then(|| Turning { angle: Mass::at_rest(DVec3::ZERO), frame: root.frame(joints) });
        Self { mass: Mass::at_rest(root.anchor(joints) + shift), turning }
    }

    pub(super) fn step(
        &mut self,
        flesh: &Flesh,
        root: &Root,
        (hand, shift): (Option<DVec3>, DVec3),
        step: &Step<'_>,
    ) {
        let (anchor, frame) = (root.anchor(step.joints) + shift, root.frame(step.joints));
        // The spring is loaded with the weight it has in the rest pose, which turns with the bone.
        let gravity = flesh.gravity - frame * flesh.gravity;
        match hand {
            Some(hand) if root.stretches => self.hold(anchor, anchor + hand, step.dt_secs),
            _ if root.stretches => self.mass.step(&root.spring, anchor, gravity, step.dt_secs),
            _ => self.mass = Mass::at_rest(anchor),
        }
        if let Some(turning) = &mut self.turning {
            turning.step(root, frame, step.dt_secs);
        }
    }

    /// The hand takes the mass to a place.
    fn hold(&mut self, anchor: DVec3, place: DVec3, dt_secs: f64) {
        if dt_secs > 0.0 {
            self.mass.velocity = (place - self.mass.position) / dt_secs;
        }
        self.mass.position = place;
        self.mass.anchor = anchor;
    }
}

impl Turning {
    fn step(&mut self, root: &Root, frame: DQuat, dt_secs: f64) {
        let turned = (frame * self.frame.conjugate()).normalize();
        let turned = if turned.w < 0.0 { -turned } else { turned };
        let by = turned.to_scaled_axis();
        self.angle.step(&root.spring, by, DVec3::ZERO, dt_secs);
        // Seen from the bone again.
        self.angle.position -= by;
        self.angle.anchor = DVec3::ZERO;
        self.frame = frame;
    }
}

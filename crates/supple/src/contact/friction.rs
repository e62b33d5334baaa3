//! Friction in position form: `Δ ← Δ (1 − min(1, δ / hypot(a/μ_a, s/μ_s)))` for a tick's tangential motion `Δ` of a
//! particle that was pushed by `δ`, with `a` the part of `Δ` along its way forward, `s` the part across, and `μ_a` forward
//! or backward by the sign of `a`. Below the cone nothing slides: it is Coulomb's law, with the push in place of the
//! normal force.

use glam::{DVec3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Friction that may differ with the direction of the motion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Friction {
    /// Against motion along the primary direction.
    pub forward: f32,
    /// Against motion the other way.
    pub backward: f32,
    /// Against motion across it.
    pub sideways: f32,
}

impl Friction {
    /// The same in all directions.
    #[must_use]
    pub fn uniform(coefficient: f32) -> Self {
        Self { forward: coefficient, backward: coefficient, sideways: coefficient }
    }
}

impl Default for Friction {
    fn default() -> Self {
        Self::uniform(0.6)
    }
}

/// A plane that nothing sinks through.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ground {
    /// Away from the ground, of length 1.
    #[schemars(with = "[f64; 3]")]
    pub normal: DVec3,
    /// How far from the origin the plane is along its normal, in metres.
    pub height: f64,
    /// How it holds what lies on it.
    pub friction: Friction,
}

impl Default for Ground {
    fn default() -> Self {
        Self { normal: DVec3::Y, height: 0.0, friction: Friction::default() }
    }
}

/// Smallest coefficient of friction that is divided by.
const LEAST_FRICTION: f32 = 1e-9;

impl Friction {
    /// The share of a tick's tangential motion that a push of `depth` takes away, `along` being the forward direction.
    pub(crate) fn share(&self, depth: f32, motion: Vec3, along: Vec3) -> f32 {
        let size = motion.length_squared();
        if size == 0.0 {
            return 0.0;
        }
        let a = motion.dot(along);
        let s = (size - a * a).max(0.0).sqrt();
        let ahead = if a > 0.0 { self.forward } else { self.backward };
        let (a, s) = (a / ahead.max(LEAST_FRICTION), s / self.sideways.max(LEAST_FRICTION));
        (depth / (a * a + s * s).sqrt()).min(1.0)
    }

    pub(crate) fn is_uniform(&self) -> bool {
        self.forward == self.backward && self.forward == self.sideways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friction_stops_below_the_cone_and_brakes_above_it() {
        let friction = Friction { forward: 0.2, backward: 1.0, sideways: 0.5 };
        let left = |motion: Vec3| (1.0 - friction.share(0.1, motion, Vec3::X)) * motion;
        assert_eq!(left(Vec3::new(0.019, 0.0, 0.0)), Vec3::ZERO, "held forward");
        assert_eq!(left(Vec3::new(-0.09, 0.0, 0.0)), Vec3::ZERO, "held backward");
        assert_eq!(left(Vec3::new(0.0, 0.0, 0.049)), Vec3::ZERO, "held sideways");
        // Above it the motion loses the coefficient times the push.
        assert!((left(Vec3::new(0.3, 0.0, 0.0)).x - 0.28).abs() < 1e-6);
        assert!((left(Vec3::new(-0.3, 0.0, 0.0)).x + 0.2).abs() < 1e-6);
        assert!((left(Vec3::new(0.0, 0.0, 0.3)).z - 0.25).abs() < 1e-6);
    }
}

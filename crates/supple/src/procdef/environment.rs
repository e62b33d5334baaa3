//! What is around a body: a ground that it lies on, water that it swims in.
//!
//! # Method
//!
//! *Ground*: a vertex that a tick left at depth `δ` is put onto the plane and keeps of its tangential motion `Δ` what
//! friction leaves, in position form: `Δ ← Δ (1 − min(1, δ / hypot(a/μ_a, s/μ_s)))`, with `a` the part of `Δ` along the
//! turned primary direction of the vertex, `s` the part across, and `μ_a` forward or backward by the sign of `a`.
//!
//! *Water*: at a surface vertex with area vector `a` (a third of its triangles') the velocity's parts along and across
//! `a` become `v/(1 + hκ|v|)`, `κ = ½ C |a| / volume`: implicit, so that no step reverses a velocity.

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

/// Still water, or a current.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Water {
    /// Drag against motion along the surface normal; 1 by default.
    pub normal_drag: f32,
    /// Drag against motion along the surface; 0.05 by default.
    pub tangential_drag: f32,
    /// Density of the water as a multiple of the body's; 1 by default.
    pub density: f32,
    /// How the water moves, in metres a second.
    #[schemars(with = "[f32; 3]", extend("unit" = "m/s"))]
    pub current: Vec3,
}

impl Default for Water {
    fn default() -> Self {
        Self { normal_drag: 1.0, tangential_drag: 0.05, density: 1.0, current: Vec3::ZERO }
    }
}

/// Smallest coefficient of friction that is divided by.
const LEAST_FRICTION: f32 = 1e-9;

impl Friction {
    /// The share of a tick's tangential motion that a push of `depth` takes away, `along` being the forward direction.
    pub(super) fn share(&self, depth: f32, motion: Vec3, along: Vec3) -> f32 {
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

    pub(super) fn is_uniform(&self) -> bool {
        self.forward == self.backward && self.forward == self.sideways
    }
}

impl Water {
    /// A velocity relative to the water after `h` seconds of drag on an area vector, `volume` being the vertex' own.
    pub(super) fn dragged(&self, v: Vec3, area: Vec3, volume: f32, h: f32) -> Vec3 {
        let size = area.length_squared().sqrt();
        if size == 0.0 {
            return v;
        }
        let normal = area / size;
        let along = v.dot(normal);
        let across = v - along * normal;
        let rate = 0.5 * self.density * h * size / volume;
        let slip = across.length_squared().sqrt();
        along / (1.0 + rate * self.normal_drag * along.abs()) * normal
            + across / (1.0 + rate * self.tangential_drag * slip)
    }
}

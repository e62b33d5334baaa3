//! The water that a body swims in; ground, colliders and other bodies are matters of [`contact`](crate::contact).
//!
//! # Method
//!
//! At a surface vertex with area vector `a` (a third of its triangles') the velocity's parts along and across
//! `a` become `v/(1 + hκ|v|)`, `κ = ½ C |a| / volume`: implicit, so that no step reverses a velocity.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

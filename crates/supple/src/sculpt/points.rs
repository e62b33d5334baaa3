//! Dragging a set of points and what is near them (thesis, 2.3.3).
//!
//! The region is the smooth distance to the set, so that its inner part may consist of pieces that are
//! not connected. The centre of the motion's potentials is the middle of the set, as printed.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drag::{dragged, shifted};
use super::error::{Problem, check_point};
use super::tool::{Drag, Keep, Mirror};
use crate::field::Flow;

/// Drags a set of points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Points {
    /// The points, usually on the surface; at least one.
    #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
    pub points: Vec<Vec3>,
    /// The way they go, leg by leg: each a displacement. Empty by default.
    #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
    pub by: Vec<Vec3>,
    /// Smooth distance up to which everything follows. 0 by default: only the points themselves.
    #[schemars(extend("unit" = "m"))]
    pub inner: f32,
    /// Smooth distance from which nothing moves. 1 by default.
    #[schemars(extend("unit" = "m"))]
    pub outer: f32,
    /// Share of the sideways flow that makes room, 0 to 1; see [`Move`](super::Move). 1 by default.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub lateral: f32,
    /// Places that stay as they are. None by default.
    pub keep: Vec<Keep>,
    /// Do the same on the other side of a plane. Not by default.
    pub mirror: Option<Mirror>,
}

impl Default for Points {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            by: Vec::new(),
            inner: 0.0,
            outer: 1.0,
            lateral: 1.0,
            keep: Vec::new(),
            mirror: None,
        }
    }
}

impl Points {
    /// The motion as a flow: one phase a leg, each lasting one unit of time.
    ///
    /// # Errors
    ///
    /// A [`Problem`] with the parameters.
    pub fn flow(&self) -> Result<Flow, Problem> {
        if self.points.is_empty() {
            return Err(Problem::TooFew { what: "the list of points", least: 1 });
        }
        for &p in &self.points {
            check_point("a point", p)?;
        }
        let center = self.points.iter().sum::<Vec3>() / self.points.len() as f32;
        dragged(&self.by, |shift| Drag {
            region: shifted(&self.points, shift),
            center: center + shift,
            inner: self.inner,
            outer: self.outer,
            lateral: self.lateral,
            keep: &self.keep,
            mirror: self.mirror,
        })
    }
}

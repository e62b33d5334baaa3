//! Dragging a tool through or along a shape (thesis, 2.3.1), whose region is of any kind.
//!
//! What lies in the inner region follows the tool exactly; what lies outside the outer region does not
//! move; a shape that starts outside the inner region never enters it.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{Problem, check_point};
use super::tool::{Drag, Keep, Mirror, Tool};
use crate::field::{Flow, Motion, Phase};

/// Drags a tool from where it is placed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Move {
    /// Where the tool starts.
    #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
    pub center: Vec3,
    /// The way it goes, leg by leg: each a displacement. Empty by default: it stays.
    #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
    pub by: Vec<Vec3>,
    /// Shape of the tool. A sphere by default.
    pub tool: Tool,
    /// Distance up to which everything follows the tool. 0.5 by default; 0 takes only the centre.
    #[schemars(extend("unit" = "m"))]
    pub inner: f32,
    /// Distance from which nothing moves; more than `inner`. 1 by default. A narrow fade shears more.
    #[schemars(extend("unit" = "m"))]
    pub outer: f32,
    /// Share of the sideways flow that makes room, 0 to 1. 1 by default, which keeps volume. Less
    /// pushes less aside: for cloth and other open shells, where 0 simply grabs.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub lateral: f32,
    /// Places that stay as they are. None by default.
    pub keep: Vec<Keep>,
    /// Do the same on the other side of a plane. Not by default.
    pub mirror: Option<Mirror>,
}

impl Default for Move {
    fn default() -> Self {
        Self {
            center: Vec3::ZERO,
            by: Vec::new(),
            tool: Tool::Sphere,
            inner: 0.5,
            outer: 1.0,
            lateral: 1.0,
            keep: Vec::new(),
            mirror: None,
        }
    }
}

impl Move {
    /// The motion as a flow: one phase a leg, each lasting one unit of time.
    ///
    /// # Errors
    ///
    /// A [`Problem`] with the parameters.
    pub fn flow(&self) -> Result<Flow, Problem> {
        check_point("the centre", self.center)?;
        let middle = self.center + self.tool.middle();
        dragged(&self.by, |shift| {
            Ok(Drag {
                region: self.tool.region(self.center + shift, self.inner)?,
                center: middle + shift,
                inner: self.inner,
                outer: self.outer,
                lateral: self.lateral,
                keep: &self.keep,
                mirror: self.mirror,
            })
        })
    }

    /// Checks it, as far as that can be done before a tool that is a file is there.
    pub(super) fn check(&self) -> Result<(), Problem> {
        self.tool.check()?;
        for keep in &self.keep {
            keep.tool.check()?;
        }
        match self.flow() {
            Ok(_) | Err(Problem::ToolNotLoaded { .. }) => Ok(()),
            Err(problem) => Err(problem),
        }
    }
}

/// A phase for each leg of a path, with the tool that `at` gives for the way done before it.
pub(super) fn dragged<'a>(
    legs: &[Vec3],
    at: impl Fn(Vec3) -> Result<Drag<'a>, Problem>,
) -> Result<Flow, Problem> {
    let mut shift = Vec3::ZERO;
    let mut flow = Flow::default();
    // Bad parameters are bad even if there is no way to go.
    at(shift)?.fields(Vec3::X, Motion::Still)?;
    for &leg in legs {
        check_point("the displacement", leg)?;
        let fields = at(shift)?.fields(leg, Motion::Translation { velocity: leg })?;
        flow.phases.push(Phase { fields, duration: 1.0 });
        shift += leg;
    }
    Ok(flow)
}

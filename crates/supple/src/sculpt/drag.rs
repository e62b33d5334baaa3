//! Dragging a tool through or along a shape (thesis, 2.3.1), whose region is of any kind.
//!
//! What lies in the inner region follows the tool exactly; what lies outside the outer region does not
//! move; a shape that starts outside the inner region never enters it.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{Problem, check_point};
use super::tool::{Drag, Keep, Mirror, Tool};
use crate::field::{Flow, Phase, RigidMotion};

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
    at(shift)?.fields(Vec3::X, RigidMotion::Still)?;
    for &leg in legs {
        check_point("the displacement", leg)?;
        let fields = at(shift)?.fields(leg, RigidMotion::Translation { velocity: leg })?;
        flow.phases.push(Phase { fields, duration: 1.0 });
        shift += leg;
    }
    Ok(flow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sculpt::{Op, Params, ToolShape, apply};
    use crate::{Run, TriMesh, zoo};

    fn ball() -> TriMesh {
        let size = zoo::Size { triangles: Some(8000) };
        zoo::build("ball", &size, &Run::default()).unwrap().meshes.swap_remove(0)
    }

    /// A tool about a point above the ball's top, and whether a point at rest lies in its core or out of its reach.
    type Case = (Tool, fn(Vec3) -> bool, fn(Vec3) -> bool);

    fn solid(name: &str, scale: f32) -> Tool {
        let size = zoo::Size { triangles: Some(500) };
        let mesh = zoo::build(name, &size, &Run::default()).unwrap().meshes.swap_remove(0);
        let mesh = ToolShape::Mesh { positions: mesh.positions, triangles: mesh.triangles };
        Tool::Solid { mesh, scale }
    }

    /// Whatever the region: its core goes along exactly, what is out of reach stays, and the volume is kept.
    #[test]
    fn a_tool_of_any_region_takes_its_core_along() {
        let line = |n: u8| -> Vec<Vec3> {
            (0..=n).map(|k| Vec3::X * (f32::from(k) / f32::from(n) - 0.5)).collect()
        };
        let cases: [Case; 5] = [
            (Tool::Plane { normal: -Vec3::Z }, |x| x.z > 1.0 - 0.19, |x| x.z < 0.3),
            (
                Tool::Curve { points: line(4), closed: false },
                |x| x.x.abs() < 0.4 && x.y.abs() < 0.1 && x.z > 0.9,
                |x| x.z < 0.0,
            ),
            (
                Tool::Points { points: vec![Vec3::X * 0.3, Vec3::X * -0.3] },
                |x| (x - Vec3::Z).abs_diff_eq(0.3 * Vec3::X, 0.1),
                |x| x.z < -0.3,
            ),
            (
                solid("box", 0.3),
                |x| x.z > 0.71 && x.x.abs() < 0.29 && x.y.abs() < 0.29,
                |x| x.z < -0.2,
            ),
            (solid("ball", 0.4), |x| x.distance(Vec3::Z) < 0.4, |x| x.z < -0.2),
        ];
        let by = Vec3::new(0.1, 0.0, 0.3);
        for (tool, in_core, out_of_reach) in cases {
            let mut mesh = ball();
            let rest = mesh.positions.clone();
            let pull = Move {
                center: Vec3::Z,
                by: vec![by],
                tool: tool.clone(),
                inner: 0.2,
                outer: 0.7,
                ..Move::default()
            };
            let ops = [Op::Move(pull)];
            let params = Params::default();
            let done = apply(&mut mesh.positions, &mesh.triangles, &ops, &params, &Run::default());
            let error = done.unwrap().report.volume_error();
            assert!(error.abs() < 4e-3, "{tool:?}: volume off by {error}");
            let mut followed = 0;
            for (a, b) in rest.iter().zip(&mesh.positions) {
                if in_core(*a) {
                    assert!(b.abs_diff_eq(*a + by, 1e-5), "{tool:?}: {a} went to {b}");
                    followed += 1;
                } else if out_of_reach(*a) {
                    assert_eq!(a, b, "{tool:?}: out of reach");
                }
            }
            assert!(followed > 3, "{tool:?}: {followed} in the core");
        }
    }

    /// A solid that comes from outside is not entered.
    #[test]
    fn a_solid_makes_room_for_itself() {
        let mut mesh = ball();
        let push = Move {
            center: 1.6 * Vec3::Z,
            by: vec![-0.6 * Vec3::Z],
            tool: solid("box", 0.2),
            inner: 0.1,
            outer: 0.7,
            ..Move::default()
        };
        let (params, run) = (Params::default(), Run::default());
        apply(&mut mesh.positions, &mesh.triangles, &[Op::Move(push)], &params, &run).unwrap();
        let inside = |p: &&Vec3| (**p - Vec3::Z).abs().max_element() < 0.25;
        assert_eq!(mesh.positions.iter().find(inside), None, "a vertex is in the box");
    }

    #[test]
    fn tools_that_make_no_sense_are_refused() {
        let refused = |tool: Tool, inner: f32| {
            let by = vec![Vec3::X];
            Op::Move(Move { tool, inner, by, ..Move::default() }).check().unwrap_err()
        };
        let short = refused(Tool::Curve { points: vec![Vec3::X], closed: false }, 0.1);
        assert!(matches!(short, Problem::TooFew { least: 2, .. }), "{short}");
        let flat = refused(Tool::Plane { normal: Vec3::ZERO }, 0.1);
        assert!(matches!(flat, Problem::NoDirection { .. }), "{flat}");
        let near = refused(solid("ball", 1.0), 0.0);
        let Problem::InTheSolid { least } = near else { panic!("{near}") };
        assert!((0.001..0.2).contains(&least), "{least}");
        let Tool::Solid { mesh: ToolShape::Mesh { positions, triangles }, .. } = solid("box", 1.0)
        else {
            panic!("a mesh")
        };
        let mesh = ToolShape::Mesh { positions, triangles: triangles[1..].to_vec() };
        let open = refused(Tool::Solid { mesh, scale: 1.0 }, 0.1);
        assert!(matches!(open, Problem::ToolNotClosed { .. }), "{open}");
        // A name is not loaded yet: that is no mistake of the document.
        let named = Tool::Solid { mesh: ToolShape::Zoo("ball".to_owned()), scale: 1.0 };
        assert_eq!(Op::Move(Move { tool: named, ..Move::default() }).check(), Ok(()));
    }
}

//! Shape editing by divergence-free vector fields.
//!
#![doc = include_str!("../../../../docs/pictures/sculpt.md")]
//!
//! Every edit is a plain value, an [`Op`]; [`apply`] runs a list of them on positions and triangles,
//! and returns beside a [`Report`] the [`Path`] the points took, through which other points can be
//! sent ([`Path::replay`]) and along which an edit can be taken back ([`Path::undo`]).
//!
//! | operation | what it does |
//! |---|---|
//! | [`Move`] | drags a tool of any shape along a path; what is inside follows, what is around makes room |
//! | [`Points`] | drags a set of points or a curve and what is near them |
//! | [`Paint`] | pushes the surface in or out along a stroke |
//! | [`Stamp`] | pushes a closed mesh into the shape, which makes room for it |
//! | [`Twist`] | turns about an axis, more with the height; exact, no integration |
//! | [`Bend`] | bends about an axis; exact, no integration |
//! | [`Curve`] | guides part of a surface along a curve |
//! | [`Boundary`] | moves what lies inside one curve on the surface and leaves what lies outside another |
//!
//! A painted mask ([`Params::mask`]) says how much each vertex takes part. Points of edits may be picked vertices of the
//! mesh, and the extent of a curve its painted values, by name ([`Op::look_up`]).
//!
//! Vertices at the same position, which files split at seams, move as one
//! ([`mesh::welding`](crate::mesh::welding)): edits see the surface as if it were whole.
//!
//! # Limits
//!
//! A field keeps volume, a mesh moved through it only up to the size of its triangles (of the order of
//! one over the vertices). [`Params::exact_volume`] takes that error away. Edits that live on the surface
//! may make parts of it meet that are far apart along it; [`Params::on_contact`] tells, or stops there.
//!
//! # References
//!
//! - W. von Funck, H. Theisel, H.-P. Seidel. Vector Field Based Shape Deformations. ACM
//!   Transactions on Graphics (SIGGRAPH), 2006.
//! - W. von Funck. Shape Deformations Based on Vector Fields. Thesis, Saarbrücken, 2008; chapters
//!   2 to 4.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::sculpt::{self, Move, Op};
//!
//! let mut positions = vec![Vec3::ZERO, Vec3::X * 9.0];
//! let push = Move { by: vec![Vec3::Z], inner: 0.5, outer: 2.0, ..Move::default() };
//! let (ops, params, run) = ([Op::Move(push)], sculpt::Params::default(), supple::Run::default());
//! let done = sculpt::apply(&mut positions, &[], &ops, &params, &run)?;
//! assert_eq!(positions, [Vec3::Z, Vec3::X * 9.0]);
//! assert_eq!(done.report.moved, 1);
//! # Ok::<(), sculpt::Error>(())
//! ```

mod bend;
mod boundary;
mod contact;
mod correct;
mod course;
mod curve;
mod cylinder;
mod drag;
mod error;
mod freedom;
mod guide;
mod log;
mod masked;
pub mod modifier;
mod nearest;
mod paint;
mod partial;
mod path;
mod picked;
mod points;
pub mod printed;
mod refined;
mod regions;
mod seams;
mod stamp;
mod surface;
mod tool;
mod twist;
mod twisting;

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use bend::{Bend, BendMap};
pub use boundary::{Boundary, BoundaryMap, Knob};
pub use contact::{Collision, OnContact};
pub use curve::{Curve, Extent};
pub use drag::Move;
pub use error::{Error, Problem};
pub use guide::{Guide, Handle, Orientation};
pub use log::{Log, LogError, Stroke, Undone};
pub use paint::{Paint, Side};
pub use partial::partial;
pub use path::{NotReversible, Path, SpaceMap, Stored};
pub use points::{Form, Points};
pub use refined::{RefineError, apply_refined, refined};
pub use regions::Part;
pub use stamp::{Stamp, ToolShape};
pub use tool::{Keep, Mirror, Tool};
pub use twist::{Twist, TwistMap};

use crate::Run;
use crate::field::Flow;
use crate::mesh::attribute::Attributes;
use crate::mesh::volume::volume;
use crate::pathline::{self, Direction};
use cylinder::Cylinder;

/// One edit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Op {
    /// Drag a tool: what is inside follows exactly, what is around makes room.
    Move(Move),
    /// Drag a set of points, which may be far apart, and what is near them.
    Points(Points),
    /// Push the surface in or out along a stroke.
    Paint(Paint),
    /// Push a closed mesh into the shape: what it meets makes room, and keeps its footprint.
    Stamp(Stamp),
    /// Turn about an axis: still below `from`, by the whole angle above `to`.
    Twist(Twist),
    /// Bend about an axis: what lies before the fade stays, what lies after it turns by the whole angle.
    Bend(Bend),
    /// Move what lies inside one closed curve on the surface, leave what lies outside another.
    Boundary(Boundary),
    /// Guide part of the surface along a curve.
    Curve(Curve),
}

/// How all edits of a call are carried out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// How finely path lines are integrated.
    pub integration: pathline::Params,
    /// Restore the volume of a closed shape exactly at the end, by moving along the normals what was partly
    /// moved, where nothing crosses for it. What lies in the last edit's inner region and what no edit
    /// moved stays where it is. Off by default.
    pub exact_volume: bool,
    /// How much each vertex takes part, 0 to 1. It multiplies the blend of tools, points, strokes, stamps, boundaries and
    /// curves, so that volume is kept. Twists and bends in closed form have no blend: there a vertex turns by a share of
    /// the angle, which keeps volume with `exact_volume` only. None, which is all of it, by default.
    #[serde(skip)]
    pub mask: Vec<f32>,
    /// What to do where parts of the surface meet that an edit between curves, along a curve or about an
    /// axis moves towards each other. They are reported by default.
    pub on_contact: OnContact,
}

/// What the edits did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Integration steps, over all edits.
    pub steps: u64,
    /// How many points are no longer where they were.
    pub moved: usize,
    /// The farthest that one of them went.
    pub max_displacement: f32,
    /// Signed volume before; zero without triangles.
    pub volume_before: f64,
    /// Signed volume after.
    pub volume_after: f64,
    /// Where parts of the surface met, for each edit that made them.
    #[serde(default)]
    pub contacts: Vec<Collision>,
    /// What the caller should know.
    pub warnings: Vec<String>,
}

impl Report {
    /// Relative change of the volume; zero if there was none to change.
    #[must_use]
    pub fn volume_error(&self) -> f64 {
        if self.volume_before.abs() > 0.0 {
            self.volume_after / self.volume_before - 1.0
        } else {
            0.0
        }
    }
}

/// What [`apply`] returns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Figures.
    pub report: Report,
    /// Where every point of space went.
    pub path: Path,
}

/// What one edit did.
struct Done {
    map: SpaceMap,
    taken: pathline::Report,
    warnings: Vec<String>,
}

impl Op {
    /// Its name on the command line and in scenes.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Move(_) => "move",
            Self::Points(_) => "points",
            Self::Paint(_) => "paint",
            Self::Stamp(_) => "stamp",
            Self::Twist(_) => "twist",
            Self::Bend(_) => "bend",
            Self::Boundary(_) => "boundary",
            Self::Curve(_) => "curve",
        }
    }

    /// Checks what can be checked before there is a shape.
    ///
    /// # Errors
    ///
    /// A [`Problem`] with the parameters.
    pub fn check(&self) -> Result<(), Problem> {
        match self {
            Self::Move(op) => op.check(),
            Self::Points(op) => op.check(),
            Self::Paint(op) => op.check(),
            Self::Stamp(op) => op.check(),
            Self::Twist(op) => op.prepare().map(drop),
            Self::Bend(op) => op.prepare().map(drop),
            Self::Boundary(op) => op.check(),
            Self::Curve(op) => op.ride().map(drop),
        }
    }

    /// True if parts of a surface that were apart may meet.
    fn may_meet_itself(&self) -> bool {
        matches!(self, Self::Bend(_) | Self::Boundary(_) | Self::Curve(_))
    }

    /// Checks that it fits a surface of so many vertices.
    fn check_on(&self, vertices: usize, triangles: usize) -> Result<(), Problem> {
        self.check()?;
        match self {
            Self::Paint(_) | Self::Stamp(_) | Self::Boundary(_) | Self::Curve(_)
                if triangles == 0 =>
            {
                Err(Problem::NeedsTriangles { what: "the edit follows it" })
            }
            Self::Curve(op) => op.extent.check_on(vertices),
            _ => Ok(()),
        }
    }

    /// Puts painted values of a mesh in the places of their names.
    ///
    /// # Errors
    ///
    /// [`Problem::NotPainted`] with the names there are.
    pub fn look_up(&mut self, painted: &Attributes) -> Result<(), Problem> {
        if let Self::Curve(op) = self { op.extent.look_up(painted) } else { Ok(()) }
    }

    /// The tools that are meshes, for whoever loads those that are only names.
    pub fn tool_shapes(&mut self) -> Vec<&mut ToolShape> {
        let (tool, keep) = match self {
            Self::Move(op) => (op.tool.mesh_mut(), &mut op.keep),
            Self::Points(op) => (None, &mut op.keep),
            Self::Paint(op) => (None, &mut op.keep),
            Self::Stamp(op) => (Some(&mut op.tool), &mut op.keep),
            Self::Twist(_) | Self::Bend(_) | Self::Boundary(_) | Self::Curve(_) => {
                return Vec::new();
            }
        };
        let kept = keep.iter_mut().filter_map(|keep| keep.tool.mesh_mut());
        tool.into_iter().chain(kept).collect()
    }

    fn run(
        &self,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        params: &Params,
        run: &Run<'_>,
    ) -> Result<Done, Problem> {
        let op = self.placed(positions, triangles)?;
        if params.mask.is_empty() {
            op.run_free(positions, triangles, &params.integration, run)
        } else {
            op.run_masked(positions, triangles, params, run)
        }
    }

    /// Carries it out where all vertices take part.
    fn run_free(
        &self,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        params: &pathline::Params,
        run: &Run<'_>,
    ) -> Result<Done, Problem> {
        // A stamp tells its own progress.
        let quiet = Run { progress: None, ..*run };
        let carry = |flow: &Flow, positions: &mut [Vec3]| {
            Ok(pathline::advect(positions, flow, params, Direction::Forward, &quiet)?)
        };
        let exact = pathline::Report::default();
        let (map, taken) = match self {
            Self::Stamp(op) => return op.run(positions, triangles, &carry, run),
            Self::Twist(op) if !op.as_printed => {
                (SpaceMap::Twist(op.run(positions, triangles, &[], run)?), exact)
            }
            Self::Bend(op) if !op.as_printed => {
                let (map, warning) = op.run(positions, triangles, &[], run)?;
                let warnings = warning.into_iter().collect();
                return Ok(Done { map: SpaceMap::Bend(map), taken: exact, warnings });
            }
            Self::Twist(_) | Self::Bend(_) => {
                self.run_printed(positions, triangles, params, &carry, run)?
            }
            Self::Boundary(op) => {
                let (map, report) = op.run(positions, triangles, params, run)?;
                (SpaceMap::Boundary(map), report)
            }
            Self::Curve(op) => {
                let before = positions.to_vec();
                let (values, steps) = op.run(positions, triangles, &[], run)?;
                let stored = Stored { before, after: positions.to_vec(), values };
                (SpaceMap::Stored(stored), pathline::Report { steps, ..exact })
            }
            Self::Move(_) | Self::Points(_) | Self::Paint(_) => {
                let (flow, taken) = self.flow_through(positions, triangles, params, &carry, run)?;
                (SpaceMap::Flow(flow), taken)
            }
        };
        Ok(Done { map, taken, warnings: Vec::new() })
    }

    /// A twist or a bend as the source prints it, in its cylinder if it has one.
    fn run_printed(
        &self,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        params: &pathline::Params,
        carry: &Carry<'_>,
        run: &Run<'_>,
    ) -> Result<(SpaceMap, pathline::Report), Problem> {
        let Some(cylinder) = self.cylinder()? else {
            let (flow, taken) = self.flow_through(positions, triangles, params, carry, run)?;
            return Ok((SpaceMap::Flow(flow), taken));
        };
        let within = printed::Within::new(self.flow()?, cylinder, positions);
        let taken = within.run(positions, triangles, params, run)?;
        Ok((SpaceMap::Within(within), taken))
    }

    /// Carries the positions through the flow of an edit that is one.
    fn flow_through(
        &self,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        params: &pathline::Params,
        carry: &Carry<'_>,
        run: &Run<'_>,
    ) -> Result<(Flow, pathline::Report), Problem> {
        if let Self::Paint(op) = self {
            return op.run(positions, triangles, params, carry, run);
        }
        let flow = self.flow()?;
        let taken = carry(&flow, positions)?;
        Ok((flow, taken))
    }

    /// The flow of an edit that is one whatever the shape; none of the others.
    fn flow(&self) -> Result<Flow, Problem> {
        match self {
            Self::Move(op) => op.flow(),
            Self::Points(op) => op.flow(),
            Self::Twist(op) => printed::twist(op),
            Self::Bend(op) => printed::bend(op),
            Self::Paint(_) | Self::Stamp(_) | Self::Boundary(_) | Self::Curve(_) => {
                Ok(Flow::default())
            }
        }
    }

    /// The cylinder that limits it, if one does.
    fn cylinder(&self) -> Result<Option<Cylinder>, Problem> {
        let cylinder = match self {
            Self::Twist(op) => op.prepare()?.cylinder(),
            Self::Bend(op) => op.prepare()?.cylinder(),
            _ => return Ok(None),
        };
        Ok(cylinder.radius.is_some().then_some(cylinder))
    }
}

/// Carries points along a flow.
type Carry<'a> = dyn Fn(&Flow, &mut [Vec3]) -> Result<pathline::Report, Problem> + 'a;

/// Checks that edits fit a surface, as far as that can be known before it moves.
///
/// # Errors
///
/// [`Error`] names the edit and what is wrong with it.
pub fn check(ops: &[Op], vertices: usize, triangles: usize) -> Result<(), Error> {
    for (index, op) in ops.iter().enumerate() {
        let fail = |problem| Error { number: index + 1, name: op.name(), problem };
        op.check_on(vertices, triangles).map_err(fail)?;
    }
    Ok(())
}

/// Carries out the edits one after the other.
///
/// `triangles` may be empty: point clouds and curves are moved as well; painting needs them.
///
/// # Errors
///
/// [`Error`] names the edit and what is wrong with it. The positions are then as they were.
pub fn apply(
    positions: &mut [Vec3],
    triangles: &[[u32; 3]],
    ops: &[Op],
    params: &Params,
    run: &Run<'_>,
) -> Result<Outcome, Error> {
    let target = volume(positions, triangles, run);
    apply_keeping(target, positions, triangles, ops, params, run)
}

/// As [`apply`], for a shape whose volume is to become `target`.
fn apply_keeping(
    target: f64,
    positions: &mut [Vec3],
    triangles: &[[u32; 3]],
    ops: &[Op],
    params: &Params,
    run: &Run<'_>,
) -> Result<Outcome, Error> {
    let rest = positions.to_vec();
    match run.install(|| seams::apply_welded(target, positions, triangles, ops, params, run)) {
        Ok((path, told)) => {
            let Report { steps, contacts, warnings, .. } = told;
            let measured = measure(&rest, positions, triangles, run);
            let report = Report { steps, contacts, warnings, volume_before: target, ..measured };
            Ok(Outcome { report, path })
        }
        Err(error) => {
            positions.copy_from_slice(&rest);
            Err(error)
        }
    }
}

fn apply_all(
    target: f64,
    positions: &mut [Vec3],
    triangles: &[[u32; 3]],
    ops: &[Op],
    params: &Params,
    run: &Run<'_>,
) -> Result<(Path, Report), Error> {
    let (mut path, mut told, mut frozen) = (Path::default(), Report::default(), 0);
    let mut freedom = vec![0.0; positions.len()];
    for (index, op) in ops.iter().enumerate() {
        let fail = |problem| Error { number: index + 1, name: op.name(), problem };
        let before = params.exact_volume.then(|| positions.to_vec());
        let (done, contact) =
            contact::carry_out(op, positions, triangles, params, run).map_err(fail)?;
        if !positions.iter().all(|x| x.is_finite()) {
            return Err(fail(Problem::OutOfRange));
        }
        let met = contact.as_ref().map(Collision::warning);
        let warning = |w: &String| format!("operation {} ({}): {w}", index + 1, op.name());
        told.warnings.extend(done.warnings.iter().chain(&met).map(warning));
        told.contacts.extend(contact.map(|c| Collision { operation: index + 1, ..c }));
        if let Some(before) = before {
            freedom::combine(&mut freedom, &done.map, &before, positions, run);
        }
        path.maps.push(done.map);
        told.steps += done.taken.steps;
        frozen += done.taken.frozen;
        run.report(index as u64 + 1, ops.len() as u64);
    }
    if frozen > 0 {
        let what = format!("{frozen} points met a singular place of the motion and stayed");
        told.warnings.push(what);
    }
    if params.exact_volume && !triangles.is_empty() {
        let (number, name) = (ops.len(), ops.last().map_or("", Op::name));
        let not_done = correct::restore_volume(positions, triangles, target, freedom, run)
            .map_err(|cancelled| Error { number, name, problem: cancelled.into() })?;
        told.warnings.extend(not_done);
    }
    Ok((path, told))
}

fn measure(rest: &[Vec3], positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> Report {
    let pairs = || rest.iter().zip(positions);
    Report {
        moved: pairs().filter(|(a, b)| a != b).count(),
        max_displacement: pairs().map(|(a, b)| a.distance(*b)).fold(0.0, f32::max),
        volume_after: volume(positions, triangles, run),
        ..Report::default()
    }
}

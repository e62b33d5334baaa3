//! `sculpt`: edits the shape by volume-keeping fields, constantly or driven by a track.
//!
//! The edits are those of [`crate::sculpt`], with their parameters as keys; each is a table
//! `[[asset.world.op]]` whose `kind` is the edit's name. They act on the body as posed and placed:
//! lengths and places are those of the scene. `amount` is how far along the list the body is
//! ([`partial`](super::partial)); a track makes the edits happen over time. The tool of a stamp is
//! `tool = { file = "tool.ply" }`, `{ zoo = "torus" }` or a mesh written out. With `remesh = true` the body is
//! split, before the scene starts, wherever its shape after all edits needs more triangles, for what it looks like and
//! for a volume within about 1e-4 ([`mesh::refine`](crate::mesh::refine)): the whole take has one connectivity.
//!
//! # Limits
//!
//! What is wrong whatever the shape is refused on load. An edit that fails on the shape of one frame (a
//! bend that would turn part of it inside out) leaves that frame as it was before this modifier, and a
//! warning in its report. The centroid that modifiers after it are told of stays where it was; markers (what flesh hangs
//! on) follow the edits: exactly where these move space itself, and as they move the body at rest where they need its
//! surface (`paint`, `stamp`, `boundary`, `curve`, and all with a mask).
//!
//! ```
//! use supple::scene::Scene;
//! use supple::sculpt::modifier::Params;
//!
//! let scene = Scene::parse(r#"
//!     supple = 2
//!     [[asset]]
//!     zoo = "bar"
//!     [[asset.world]]
//!     kind = "sculpt"
//!     amount = "turn"
//!     [[asset.world.op]]
//!     kind = "twist"
//!     axis = [1, 0, 0]
//!     degrees = 180
//!     [track.turn]
//!     keys = [[0, 0], [1, 1]]
//! "#, None)?;
//! let params: Params = scene.assets[0].world[0].read()?;
//! assert_eq!(params.ops.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::course::Course;
use super::{OnContact, Op, ToolShape};
use crate::Run;
use crate::mesh::{Attributes, Shape, TriMesh, refine};
use crate::modifier::{
    Halt, Inputs, Key, Loaded, Modifier, Moment, Nature, Need, OnItsWay, Report, Source, Stage,
    Stateless, Value, Wrong,
};
use crate::rig::Body;

/// How far the middle of an edge may land beside the middle of its ends, as a share of the body's size: a
/// scene moves all vertices in every frame, so a body is refined less than one that is written once.
const TOLERANCE: f32 = 2e-4;

/// How much of the volume of a closed body its straight edges may gain or lose by the edits.
const VOLUME_REL: f32 = 6e-5;

/// Which edits, and how much of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["op"]))]
pub struct Params {
    /// How much of the list is carried out: 0 is nothing, 1 all of it. Default: 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub amount: Value,
    /// Restore the volume exactly at the end; see [`Params`](super::Params). Default: no.
    pub exact_volume: bool,
    /// What to do where parts of the surface meet: `report`, `stop` or `ignore`; see
    /// [`OnContact`]. Default: report.
    pub on_contact: OnContact,
    /// Name of painted vertex values, 0 to 1, that say how much each vertex takes part; see
    /// [`Params`](super::Params). Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "name"))]
    pub mask: Option<String>,
    /// Split triangles at rest wherever the edited shape needs them finer; for bodies that do not move
    /// otherwise. Default: no.
    pub remesh: bool,
    /// The edits, in order. Default: none.
    #[serde(rename = "op")]
    pub ops: Vec<Op>,
}

impl Default for Params {
    fn default() -> Self {
        let on_contact = OnContact::default();
        let amount = Value::Number(1.0);
        Self { amount, exact_volume: false, on_contact, mask: None, remesh: false, ops: Vec::new() }
    }
}

/// The name of a tool's file or model, if it has one.
fn source(tool: &ToolShape) -> Option<Source> {
    match tool {
        ToolShape::Mesh { .. } => None,
        ToolShape::File(file) => Some(Source::File { file: file.clone() }),
        ToolShape::Zoo(zoo) => Some(Source::Zoo { zoo: zoo.clone(), triangles: None }),
    }
}

/// The edits, with meshes in the places of the names of tools and painted values in the places of theirs.
fn with_tools(
    ops: &[Op],
    sources: &[Loaded],
    painted: &Attributes,
    run: &Run<'_>,
) -> Result<Vec<Op>, String> {
    let mut ops = ops.to_vec();
    ops.iter_mut().try_for_each(|op| op.look_up(painted)).map_err(|e| e.to_string())?;
    let mut sources = sources.iter();
    let tools = ops.iter_mut().flat_map(Op::tool_shapes);
    for tool in tools.filter(|tool| source(tool).is_some()) {
        let model = sources.next().and_then(Loaded::model).ok_or("a tool is missing")?;
        let mesh = Body::from_asset(model).map_err(|e| e.to_string())?.rest_mesh(run);
        *tool = ToolShape::Mesh { positions: mesh.positions, triangles: mesh.triangles };
    }
    Ok(ops)
}

/// Edits of a body.
#[derive(Debug)]
pub struct Sculpt {
    /// With their tools.
    ops: Vec<Op>,
    mask: Vec<f32>,
    /// How many vertices the body has.
    vertices: usize,
    /// What the edits do to the body at rest, if they need its surface.
    course: Option<Course>,
}

impl Sculpt {
    /// The edits at an amount, with their tools: all that are done, and the one that is on its way cut short.
    #[must_use]
    pub fn at(&self, amount: f64) -> Vec<Op> {
        super::partial(&self.ops, amount)
    }
}

impl Modifier for Sculpt {
    const KIND: &'static str = "sculpt";
    const STAGES: &'static [Stage] = &[Stage::World, Stage::Rest];
    type Params = Params;
    type State = Stateless;

    fn check(params: &Params) -> Result<(), Wrong> {
        for (i, op) in params.ops.iter().enumerate() {
            op.check().map_err(|problem| Wrong {
                at: vec![Key::Name("op".to_owned()), Key::Entry(i)],
                what: format!("this {} cannot be carried out", op.name()),
                fix: problem.to_string(),
            })?;
        }
        Ok(())
    }

    fn needs(params: &Params) -> Vec<Need> {
        let mut ops = params.ops.clone();
        let tools = ops.iter_mut().flat_map(Op::tool_shapes);
        tools.filter_map(|tool| source(tool)).map(Need::Model).collect()
    }

    fn remeshes(params: &Params) -> bool {
        params.remesh
    }

    fn remesh(
        params: &Params,
        mesh: &TriMesh,
        sources: &[Loaded],
        run: &Run<'_>,
    ) -> Result<TriMesh, String> {
        let quiet = Run { progress: None, ..*run };
        let fineness = refine::Params {
            tolerance_rel_bbox: TOLERANCE,
            volume_rel: Some(VOLUME_REL),
            ..refine::Params::default()
        };
        let ops = with_tools(&params.ops, sources, &mesh.attributes, run)?;
        super::refined(mesh, &ops, &fineness, &quiet).map_err(|e| e.to_string())
    }

    fn prepare(params: &Params, from: &Inputs<'_>) -> Result<Self, String> {
        let attributes = &from.rest.channels;
        let ops = with_tools(&params.ops, from.sources, attributes, from.run)?;
        let mask = match &params.mask {
            None => Vec::new(),
            Some(name) => attributes.scalar(name).map(<[f32]>::to_vec).ok_or_else(|| {
                format!("there are no painted values '{name}' ({})", attributes.known_scalars())
            })?,
        };
        if let (Some(name), Some(value)) =
            (&params.mask, mask.iter().find(|m| !(0.0..=1.0).contains(*m)))
        {
            return Err(format!(
                "a painted value of '{name}' is {value}: a mask is painted with 0 to 1"
            ));
        }
        let (rest, triangles) = (&from.rest.positions, from.rest.topology.triangles());
        super::check(&ops, rest.len(), triangles.len()).map_err(|e| e.to_string())?;
        let of_points = |op: &Op| {
            !op.names_vertices()
                && matches!(op, Op::Move(_) | Op::Points(_) | Op::Twist(_) | Op::Bend(_))
        };
        let moves_points = params.mask.is_none() && ops.iter().all(of_points);
        let course = (!moves_points).then(|| Course::new(rest.clone(), triangles.to_vec()));
        Ok(Self { ops, mask, vertices: rest.len(), course })
    }

    fn nature(&self, params: &Params) -> Nature {
        let still = matches!(params.amount, Value::Number(_));
        Nature { warms_up: true, carries: true, still, ..Nature::default() }
    }

    fn begin(&self, _: &Params, _: &Moment<'_>) -> Stateless {
        Stateless {}
    }

    fn carry(
        &self,
        params: &Params,
        now: &Moment<'_>,
        _: &Stateless,
        markers: &mut [OnItsWay<'_>],
    ) {
        let amount = now.value(&params.amount);
        if let Some(course) = &self.course {
            for marker in markers {
                marker.shift += course.way((&self.ops, &self.mask), marker, amount);
            }
            return;
        }
        let before: Vec<Vec3> = markers.iter().map(|m| m.position().as_vec3()).collect();
        let mut after = before.clone();
        let (ops, params) = (self.at(amount), super::Params::default());
        // An edit that fails leaves the points, and is told when the body is deformed.
        let _ = super::apply(&mut after, &[], &ops, &params, &Run::default());
        for (marker, (a, b)) in markers.iter_mut().zip(before.iter().zip(&after)) {
            marker.shift += (*b - *a).as_dvec3();
        }
    }

    fn deform(
        &self,
        params: &Params,
        now: &Moment<'_>,
        _: &Stateless,
        shape: &mut Shape,
        report: &mut Report,
    ) -> Result<(), Halt> {
        let ops = self.at(now.value(&params.amount));
        if ops.is_empty() {
            return Ok(());
        }
        if shape.positions.len() != self.vertices {
            report.warn("a modifier before it changed the vertices; left out of this frame");
            return Ok(());
        }
        let how = super::Params {
            exact_volume: params.exact_volume,
            on_contact: params.on_contact,
            mask: self.mask.clone(),
            ..super::Params::default()
        };
        // Progress is counted in frames, not in edits.
        let quiet = Run { progress: None, ..*now.run };
        let Shape { positions, topology, .. } = shape;
        match super::apply(positions, topology.triangles(), &ops, &how, &quiet) {
            Ok(done) if done.report.warnings.is_empty() => {}
            Ok(done) => report.warn(done.report.warnings.join("; ")),
            Err(error) => report.warn(format!("{error}; left out of this frame")),
        }
        Ok(())
    }
}

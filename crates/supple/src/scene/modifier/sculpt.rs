//! `sculpt`: edits the shape by volume-keeping fields, constantly or driven by a track.
//!
//! The edits are those of [`crate::sculpt`], with their parameters as keys; each is a table
//! `[[asset.modifier.op]]` whose `kind` is the edit's name. They act on the body as posed and placed:
//! lengths and places are those of the scene. `amount` is how far along the list the body is
//! ([`sculpt::partial`]); a track makes the edits happen over time. The tool of a stamp is
//! `tool = { file = "tool.ply" }`, `{ zoo = "torus" }` or a mesh written out. With `remesh = true` the body is
//! split, before the scene starts, wherever its shape after all edits needs more triangles
//! ([`mesh::refine`](crate::mesh::refine)): the whole take has one connectivity.
//!
//! # Limits
//!
//! What is wrong whatever the shape is refused on load. An edit that fails on the shape of one frame (a
//! bend that would turn part of it inside out) leaves that frame as it was before this modifier, and a
//! warning in its report. The centroid that modifiers after it are told of stays where it was.
//!
//! ```
//! use supple::scene::{Modifier, Scene};
//!
//! let scene = Scene::parse(r#"
//!     supple = 1
//!     [[asset]]
//!     zoo = "bar"
//!     [[asset.modifier]]
//!     kind = "sculpt"
//!     amount = "turn"
//!     [[asset.modifier.op]]
//!     kind = "twist"
//!     axis = [1, 0, 0]
//!     degrees = 180
//!     [track.turn]
//!     keys = [[0, 0], [1, 1]]
//! "#, None)?;
//! assert!(matches!(&scene.assets[0].modifiers[0], Modifier::Sculpt(s) if s.ops.len() == 1));
//! # Ok::<(), supple::scene::Problem>(())
//! ```

use glam::{DAffine3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::course::Course;
use super::{Carried, LoadError, Moment, Prepared};
use crate::Run;
use crate::mesh::{TriMesh, refine};
use crate::rig::{Body, Skinning};
use crate::scene::document::Place;
use crate::scene::{Problem, Source, Value};
use crate::sculpt::{self, OnContact, Op, RefineError, ToolShape};

/// How far the middle of an edge may land beside the middle of its ends, as a share of the body's size: a
/// scene moves all vertices in every frame, so a body is refined less than one that is written once.
const TOLERANCE: f32 = 2e-4;

/// Which edits, and how much of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Params {
    /// How much of the list is carried out: 0 is nothing, 1 all of it. Default: 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub amount: Value,
    /// Restore the volume exactly at the end; see [`sculpt::Params`]. Default: no.
    pub exact_volume: bool,
    /// What to do where parts of the surface meet: `report`, `stop` or `ignore`; see
    /// [`sculpt::OnContact`]. Default: report.
    pub on_contact: OnContact,
    /// Name of painted vertex values, 0 to 1, that say how much each vertex takes part; see
    /// [`sculpt::Params`]. Default: none.
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

impl Params {
    pub(super) fn check_document(&self, at: Place<'_>) -> Result<(), Problem> {
        at.need("op", "[[asset.modifier]]")?;
        for (i, op) in self.ops.iter().enumerate() {
            let wrong = |problem: sculpt::Problem| {
                let what = format!("this {} cannot be carried out", op.name());
                at.get("op").entry(i).wrong(&what, &problem.to_string())
            };
            op.check().map_err(wrong)?;
        }
        Ok(())
    }

    /// Puts meshes in the places of the names of tools.
    pub(super) fn load(
        &mut self,
        load: &mut dyn FnMut(&Source) -> Result<TriMesh, LoadError>,
    ) -> Result<(), LoadError> {
        for tool in self.ops.iter_mut().flat_map(Op::tool_shapes) {
            let source = match &*tool {
                ToolShape::Mesh { .. } => continue,
                ToolShape::File(file) => Source::File { file: file.clone() },
                ToolShape::Zoo(zoo) => Source::Zoo { zoo: zoo.clone(), triangles: None },
            };
            let mesh = load(&source)?;
            *tool = ToolShape::Mesh { positions: mesh.positions, triangles: mesh.triangles };
        }
        Ok(())
    }

    /// The placed body at rest, split as far as the edited shape needs it.
    pub(crate) fn refined(&self, mesh: &TriMesh, run: &Run<'_>) -> Result<TriMesh, RefineError> {
        let quiet = Run { progress: None, ..*run };
        let fineness = refine::Params {
            tolerance_rel_bbox: TOLERANCE,
            volume_rel: None,
            ..refine::Params::default()
        };
        sculpt::refined(mesh, &self.ops, &fineness, &quiet)
    }

    pub(super) fn check(&self, body: &Body) -> Result<(), String> {
        let (vertices, triangles) = (body.mesh.positions.len(), body.mesh.triangles.len());
        self.painted(body)?;
        sculpt::check(&Self::looked_up(&self.ops, body)?, vertices, triangles)
            .map_err(|e| e.to_string())
    }

    /// Edits with the painted values of the body in the places of their names.
    fn looked_up(ops: &[Op], body: &Body) -> Result<Vec<Op>, String> {
        let mut ops = ops.to_vec();
        for op in &mut ops {
            op.look_up(&body.mesh.attributes).map_err(|e| e.to_string())?;
        }
        Ok(ops)
    }

    /// The values of its mask.
    fn painted(&self, body: &Body) -> Result<Vec<f32>, String> {
        let Some(name) = &self.mask else { return Ok(Vec::new()) };
        let attributes = &body.mesh.attributes;
        attributes.scalar(name).map(<[f32]>::to_vec).ok_or_else(|| {
            format!("there are no painted values '{name}' ({})", attributes.known_scalars())
        })
    }

    /// Whether all edits move points without a surface.
    fn moves_points(&self) -> bool {
        let of_points =
            |op: &Op| matches!(op, Op::Move(_) | Op::Points(_) | Op::Twist(_) | Op::Bend(_));
        self.mask.is_none() && self.ops.iter().all(of_points)
    }

    /// What the edits do to points near the body at rest, if they need its surface.
    pub(super) fn course(&self, body: &Body, placement: &DAffine3) -> Option<Course> {
        if self.moves_points() {
            return None;
        }
        let mask = self.painted(body).ok()?;
        let ops = Self::looked_up(&self.ops, body).ok()?;
        let rest = body.pose(body.rest_pose(), Skinning::Linear, &Run::default());
        let placed = |x: &Vec3| placement.transform_point3(x.as_dvec3()).as_vec3();
        let rest = rest.iter().map(placed).collect();
        Some(Course::new(ops, mask, rest, body.mesh.triangles.clone()))
    }

    /// Tells flesh after it of the edits at a moment.
    pub(super) fn carry(&self, prepared: &Prepared, moment: &Moment<'_>, carried: &mut Carried) {
        let amount = self.amount.at(moment.secs, moment.tracks);
        if self.moves_points() {
            carried.edits.extend(sculpt::partial(&self.ops, amount));
        } else if let Prepared::Sculpt(course) = prepared {
            carried.courses.push((course.clone(), amount));
        }
    }

    pub(super) fn deform(
        &self,
        moment: &Moment<'_>,
        body: &Body,
        positions: &mut [Vec3],
        run: &Run<'_>,
    ) -> Option<String> {
        let ops = sculpt::partial(&self.ops, self.amount.at(moment.secs, moment.tracks));
        if ops.is_empty() {
            return None;
        }
        let ops = match Self::looked_up(&ops, body) {
            Ok(ops) => ops,
            Err(what) => return Some(format!("{what}; left out of this frame")),
        };
        let params = sculpt::Params {
            exact_volume: self.exact_volume,
            on_contact: self.on_contact,
            mask: self.painted(body).unwrap_or_default(),
            ..sculpt::Params::default()
        };
        // Progress is counted in frames, not in edits.
        let quiet = Run { progress: None, ..*run };
        match sculpt::apply(positions, &body.mesh.triangles, &ops, &params, &quiet) {
            Ok(done) if done.report.warnings.is_empty() => None,
            Ok(done) => Some(done.report.warnings.join("; ")),
            Err(error) => Some(format!("{error}; left out of this frame")),
        }
    }
}

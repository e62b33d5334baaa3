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

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::{LoadError, Moment};
use crate::Run;
use crate::mesh::{TriMesh, refine};
use crate::rig::Body;
use crate::scene::document::{Field, Range, Table};
use crate::scene::{Problem, Source, Unit, Value};
use crate::sculpt::{self, OnContact, Op, RefineError, ToolShape};

/// Keys of edits under which a row of numbers is not a point: values and vertices.
const ROWS: [&str; 3] = ["values", "inner", "outer"];

/// How far the middle of an edge may land beside the middle of its ends, as a share of the body's size: a
/// scene moves all vertices in every frame, so a body is refined less than one that is written once.
const TOLERANCE: f32 = 2e-4;

/// The words for what to do on a contact.
const ON_CONTACT: [(&str, OnContact); 3] =
    [("report", OnContact::Report), ("stop", OnContact::Stop), ("ignore", OnContact::Ignore)];

/// Which edits, and how much of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// How much of the list is carried out: 0 is nothing, 1 all of it. Default: 1.
    pub amount: Value,
    /// Restore the volume exactly at the end; see [`sculpt::Params`]. Default: no.
    pub exact_volume: bool,
    /// What to do where parts of the surface meet: `report`, `stop` or `ignore`; see
    /// [`sculpt::OnContact`]. Default: report.
    #[serde(default)]
    pub on_contact: OnContact,
    /// Name of painted vertex values, 0 to 1, that scale the blend of tools, points and strokes; see
    /// [`sculpt::Params`]. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
    /// Split triangles at rest wherever the edited shape needs them finer; for bodies that do not move
    /// otherwise. Default: no.
    #[serde(default)]
    pub remesh: bool,
    /// The edits, in order. Default: none.
    #[serde(rename = "op", default)]
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
    pub(super) fn read(table: &Table<'_>) -> Result<Self, Problem> {
        table.only(&["kind", "amount", "exact_volume", "on_contact", "mask", "remesh", "op"])?;
        let default = Self::default();
        let share = Range { least: 0.0, most: 1.0 };
        let ops = table.need("op")?;
        Ok(Self {
            amount: table.get("amount").map_or(Ok(default.amount), |f| f.value(Unit(""), share))?,
            exact_volume: table
                .get("exact_volume")
                .map_or(Ok(default.exact_volume), |f| f.flag())?,
            on_contact: table
                .get("on_contact")
                .map_or(Ok(default.on_contact), |f| f.choice(&ON_CONTACT))?,
            mask: table.get("mask").map(|f| f.name()).transpose()?,
            remesh: table.get("remesh").map_or(Ok(default.remesh), |f| f.flag())?,
            ops: ops.tables("[[asset.modifier.op]]")?.iter().map(read).collect::<Result<_, _>>()?,
        })
    }

    /// Puts meshes in the places of the names of tools.
    pub(super) fn load(
        &mut self,
        load: &mut dyn FnMut(&Source) -> Result<TriMesh, LoadError>,
    ) -> Result<(), LoadError> {
        for op in &mut self.ops {
            let Op::Stamp(stamp) = op else { continue };
            let source = match &stamp.tool {
                ToolShape::Mesh { .. } => continue,
                ToolShape::File(file) => Source::File { file: file.clone() },
                ToolShape::Zoo(zoo) => Source::Zoo { zoo: zoo.clone(), triangles: None },
            };
            let mesh = load(&source)?;
            stamp.tool = ToolShape::Mesh { positions: mesh.positions, triangles: mesh.triangles };
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
        sculpt::check(&self.ops, vertices, triangles).map_err(|e| e.to_string())
    }

    /// The values of its mask.
    fn painted(&self, body: &Body) -> Result<Vec<f32>, String> {
        let Some(name) = &self.mask else { return Ok(Vec::new()) };
        let attributes = &body.mesh.attributes;
        attributes.scalar(name).map(<[f32]>::to_vec).ok_or_else(|| {
            format!("there are no painted values '{name}' ({})", attributes.known_scalars())
        })
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

/// Reads an edit of one kind.
type Reader = fn(&Table<'_>) -> Result<Op, Problem>;

/// Reads one edit.
fn read(table: &Table<'_>) -> Result<Op, Problem> {
    let kinds: [(&str, Reader); 8] = [
        ("move", |t| t.parse("kind").map(Op::Move)),
        ("points", |t| t.parse("kind").map(Op::Points)),
        ("paint", |t| t.parse("kind").map(Op::Paint)),
        ("stamp", |t| t.parse("kind").map(Op::Stamp)),
        ("twist", |t| t.parse("kind").map(Op::Twist)),
        ("bend", |t| t.parse("kind").map(Op::Bend)),
        ("boundary", |t| t.parse("kind").map(Op::Boundary)),
        ("curve", |t| t.parse("kind").map(Op::Curve)),
    ];
    let op = table.need("kind")?.choice(&kinds)?(table)?;
    table.entries().try_for_each(|field| field.check_points(&ROWS))?;
    if let (Op::Stamp(_), Some(tool)) = (&op, table.get("tool")) {
        check_tool(&tool)?;
    }
    let what = || format!("this {} cannot be carried out", op.name());
    op.check().map_err(|problem| table.wrong(&what(), &problem.to_string()))?;
    Ok(op)
}

/// Refuses a tool whose file or model is not there.
fn check_tool(tool: &Field<'_>) -> Result<(), Problem> {
    let table = tool.table("tool = { file = \"tool.ply\" }")?;
    if let Some(file) = table.get("file") {
        file.file()?;
    }
    if let Some(zoo) = table.get("zoo") {
        zoo.zoo()?;
    }
    Ok(())
}

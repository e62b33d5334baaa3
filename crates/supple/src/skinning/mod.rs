//! Skinning that keeps volume: what the turns of joints take away is given back around them, and nothing gets worse.
//!
#![doc = include_str!("../../../../docs/pictures/skinning.md")]
//!
//! # Method
//!
//! Plain skinning is the base, to the bit: `P = Σ w_b M_b x`. All else is a displacement that retreats:
//!
//! ```text
//! Δ = α U c tanh(x / c),   x = Σ λ_b s_b,   c = ½
//! ```
//!
//! - **Loss.** All bones move as their root; then, parents first, each joint gets its move and stretch, and then its
//!   turn. What the turn changes under plain skinning is the joint's loss `L_b`, summed over all pieces of the body.
//!   What moves and stretches do is the artist's. A bone whose skin blends with another bone than its parent (feet
//!   that hang on the root) counts as hanging on that one.
//! - **Field.** `s_b` is `4 w (1 − w)` of the subtree's weight, smoothed over the surface and averaged in space over
//!   all layers there. `U` points out of the skeleton: the blend of the vectors from the nearest point of each bone (a
//!   segment to each child), turned by the mean of their turns.
//! - **λ**, for all joints at once in the final pose: the volume is a cubic along Δ, so that what each joint gives back
//!   is integrated exactly, and `λ_b ← −L_b / J_b`.
//! - **Retreat.** `0 ≤ α ≤ 1` at every vertex is lowered wherever triangles intersect that do not under plain
//!   skinning, an edge is longer than 1.25 times the longer of plain and rest, or a triangle is turned by more than
//!   90° against plain; until nothing of it is left. Then λ is found anew: volume goes where there is room. It ends,
//!   since α only falls, and where it is zero the shape is plain skinning's.
//! - **Takes.** α is smoothed over time, never upwards ([`Solver::frame`]).
//! - **Twists** beyond 60° to 120° have a waist that no displacement along `U` fills: dual quaternions are faded in.
//!   For edges they come to count as plain between 90° and 120°, for triangles in the waist from 165° on.
//!
//! Painted weights say where volume goes, with either sign, for muscles that bulge and skin that folds:
//!
//! | vertex attribute | meaning |
//! |---|---|
//! | `volume` (in a glTF file `_VOLUME`) | multiplies `s` of all joints |
//! | `volume_JOINT` (`_VOLUME_JOINT`) | replaces `s` of the joint of that name |
//!
//! Vertices at one place that are bound alike move alike, so that seams stay closed; a piece that one bone carries
//! stays rigid. Everything that does not depend on the pose is prepared once, in a [`Solver`].
//!
//! [`Method::ClosedForm`] is the thesis' own: joint by joint, each piece exact, a hundred times faster, and with no eye
//! on folds. It is for closed bodies with wide blends, played live.
//!
//! # Where we differ from the thesis
//!
//! It moves joints one after the other, which is plain skinning only where the bones of a vertex lie on one chain; on
//! characters with feet on the root it tears boots apart with λ = 0. Its fields live on single vertices and it
//! corrects each piece by itself. Here the base is plain skinning, losses are told apart before anything is displaced,
//! layers share λ and field, and harm is looked for instead of hoped against.
//!
//! # Limits
//!
//! A joint that no weight blends (a robot) has no field to give back with; it is left as it is and
//! [reported](JointReport::left), as is one at which the retreat left less than half. One λ a joint serves the body as
//! a whole: single pieces of a layered one keep an error of their own. A turn by more than 180° is taken the short way
//! round: a pose does not say more.
//!
//! # References
//!
//! - W. von Funck, H. Theisel, H.-P. Seidel. Volume-preserving Mesh Skinning. Vision, Modeling and
//!   Visualization, 2008.
//! - W. von Funck. Shape Deformations Based on Vector Fields. Dissertation, Universität des Saarlandes,
//!   Saarbrücken, 2008, chapter 6.
//! - L. Kavan, S. Collins, J. Žára, C. O'Sullivan. Geometric Skinning with Approximate Dual Quaternion
//!   Blending. ACM Transactions on Graphics 27(4), 2008.
//!
//! # Example
//!
//! ```
//! use glam::Quat;
//! use supple::rig::{Body, Skinning, Transform};
//! use supple::{Run, skinning, zoo};
//!
//! let run = Run::default();
//! let bar = zoo::build("rigged-bar", &zoo::Size { triangles: Some(2000) }, &run)?;
//! let body = Body::from_asset(&bar)?;
//! let solver = skinning::Solver::new(&body, &skinning::Params::default(), &run)?;
//! let mut pose = body.rest_pose().clone();
//! if let Transform::Trs { rotation, .. } = &mut pose.locals[1] {
//!     *rotation = Quat::from_rotation_z(2.0); // bends the bar by 115°
//! }
//! let skinned = solver.pose(&body, &pose, &body.matrices(&pose), Skinning::Linear, &run)?;
//! let error = solver.volume_errors(&body, &pose, &body.matrices(&pose), &skinned.positions, &run);
//! assert!(error[0].is_some_and(|e| e.abs() < 1e-6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bones;
mod closed_form;
pub mod modifier;
mod motion;
mod neighbours;
mod paint;
mod retreat;
mod surface;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;

use glam::{Mat4, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::bones::Bones;
use self::closed_form::ClosedForm;
use self::paint::Paint;
use self::retreat::{Posing, Skin, Taking};
use self::surface::Piece;
use crate::Run;
use crate::mesh::measure::Bounds;
use crate::rig::{Body, Pose, Skinning};
use crate::run::Cancelled;

pub use self::retreat::{Instant, Instants, Memo};
pub use self::surface::Refusal;

/// Motions that move nothing farther than this share of the body's size are rounding.
const STILL: f64 = 1e-6;

/// How volume is given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// By a displacement that retreats wherever it would do harm: never worse than plain skinning.
    #[default]
    Retreating,
    /// Joint by joint, exactly for every closed piece, and fast; folds on characters with narrow blends or layers.
    ClosedForm,
}

/// What the artist sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Params {
    /// How volume is given back. Default: `retreating`; `closed-form` is for closed bodies with wide blends, live.
    pub method: Method,
    /// The largest turn that the closed form blends and corrects at once, in degrees. Smaller keeps
    /// cross-sections rounder at large angles and costs more. Default: 30; with dual quaternions three
    /// times as much is taken.
    #[serde(rename = "step")]
    #[schemars(range(min = 1.0, max = 90.0), extend("unit" = "deg"))]
    pub step_degrees: f64,
    /// The painted field that says where volume goes, with or without the underscore it has in a glTF
    /// file. It must be there if it is named. Default: `volume`, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
}

impl Default for Params {
    fn default() -> Self {
        Self { method: Method::Retreating, step_degrees: 30.0, weights: None }
    }
}

/// Why a body cannot be prepared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The step is no angle that can be used.
    #[error("steps of {degrees}° make no sense: use 1 to 90")]
    BadStep {
        /// What was given.
        degrees: f64,
    },
    /// The painted field that was named is not there.
    #[error("there is no painted field '{wanted}'{}", listed(" (there are: ", has))]
    NoWeights {
        /// What was named.
        wanted: String,
        /// The painted fields of the body.
        has: Vec<String>,
    },
    /// A painted field is not one number a vertex, or not finite.
    #[error("the painted field '{attribute}' {what}")]
    BadWeights {
        /// Which attribute.
        attribute: String,
        /// What is wrong.
        what: String,
    },
    /// A painted field names a joint that does not exist.
    #[error(
        "the painted field '{attribute}' names no joint{}",
        listed(" (the joints are: ", joints)
    )]
    NoJoint {
        /// Which attribute.
        attribute: String,
        /// The joints there are.
        joints: Vec<String>,
    },
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// The first names of a list, in brackets.
fn listed(before: &str, names: &[String]) -> String {
    const SHOWN: usize = 12;
    if names.is_empty() {
        return String::new();
    }
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!("{before}{}{more})", names[..names.len().min(SHOWN)].join(", "))
}

/// Why the volume that a joint changes was not given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Left {
    /// Nothing that may be displaced changes the volume.
    #[error("nothing that may be displaced changes the volume")]
    Immovable,
    /// It would take more than vertices may move.
    #[error("vertices would have to move farther than they may, seen from the bone")]
    OutOfReach,
    /// More would make triangles intersect.
    #[error("more would make parts intersect that plain skinning keeps apart")]
    Touching,
    /// More would stretch edges.
    #[error("more would stretch edges beyond 1.25 times their plain or rest length")]
    Stretched,
    /// More would turn triangles round.
    #[error("more would turn triangles round")]
    Turned,
    /// The joint's parent flattens all it carries.
    #[error("a joint flattens all it carries")]
    Flattened,
}

/// What one joint did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JointReport {
    /// The joint's name, or its node's number.
    pub joint: String,
    /// Which piece of the body, if pieces are corrected one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub piece: Option<usize>,
    /// How far it turned against its parent, in degrees.
    pub degrees: f64,
    /// The λ of largest size.
    pub lambda: f64,
    /// The volume that its turn took, as a share of the volume at rest; negative if it made some.
    pub lost: f64,
    /// The volume that was given back for it.
    pub returned: f64,
    /// The mean of α over its field: one where nothing was drawn back.
    pub freedom: f64,
    /// Vertices of its field that were drawn back, and because of what: edges that would be too long, triangles that
    /// would intersect, triangles that would turn round.
    pub drawn_back: usize,
    #[expect(missing_docs, reason = "said above")]
    pub by_edge: usize,
    #[expect(missing_docs, reason = "said above")]
    pub by_pair: usize,
    #[expect(missing_docs, reason = "said above")]
    pub by_turn: usize,
    /// Whether it is scaled against its parent: the change of volume that makes is kept.
    pub scaled: bool,
    /// The joint it hangs on by its skin, if that is not its parent in the skeleton.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hangs_on: Option<String>,
    /// Why the volume was not given back, if less than half of it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
}

impl JointReport {
    /// The share of what was lost that came back; one if nothing was lost.
    #[must_use]
    pub fn back(&self) -> f64 {
        if self.lost == 0.0 { 1.0 } else { 1.0 - ((self.lost - self.returned) / self.lost).abs() }
    }
}

/// One piece of the body: a surface that hangs together.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceReport {
    /// Name of the part of the body it is in.
    pub part: String,
    /// How many triangles it has.
    pub triangles: usize,
    /// How many holes were closed to measure it.
    pub holes: usize,
    /// Why it encloses no volume of its own, if it does not.
    pub refusal: Option<Refusal>,
}

/// How a pose went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The joints that moved and blend something, parents first.
    pub joints: Vec<JointReport>,
    /// The volume of the body where its roots alone carry it.
    pub rest_volume: f64,
    /// What moves and stretches of joints added to the volume, as a share of it: the artist's.
    pub kept: f64,
    /// The largest length of an edge, measured by the longer of plain and rest (and dual quaternions in twists).
    pub stretch: f64,
    /// Pieces that the closed form skinned plainly since a joint's parent flattens all it carries.
    pub flattened: Vec<usize>,
}

impl Report {
    /// The λ of largest size.
    #[must_use]
    pub fn largest_lambda(&self) -> f64 {
        let larger = |a: f64, j: &JointReport| if j.lambda.abs() > a.abs() { j.lambda } else { a };
        self.joints.iter().fold(0.0, larger)
    }

    /// The joints whose volume was not given back.
    pub fn left(&self) -> impl Iterator<Item = (&JointReport, Left)> {
        self.joints.iter().filter_map(|j| Some((j, j.left?)))
    }

    /// What the joints lost, all signs alike, as a share of the volume at rest.
    #[must_use]
    pub fn lost(&self) -> f64 {
        self.joints.iter().map(|j| j.lost.abs()).sum()
    }

    /// What is missing of it.
    #[must_use]
    pub fn missing(&self) -> f64 {
        self.joints.iter().map(|j| (j.lost - j.returned).abs()).sum()
    }
}

/// What a person should know of a pose.
#[must_use]
pub fn warnings(solver: &Solver, report: &Report) -> Vec<String> {
    let part = |piece: usize| &solver.pieces()[piece].part;
    // A head of hair has many pieces: what is said of each is said once.
    let mut refused: BTreeMap<(&str, String), [usize; 2]> = BTreeMap::new();
    let is_exact = matches!(solver.way, Way::ClosedForm(_));
    for piece in solver.pieces().iter().filter(|_| is_exact) {
        if let Some(why) = piece.refusal {
            let entry = refused.entry((piece.part.as_str(), why.to_string())).or_default();
            *entry = [entry[0] + 1, entry[1] + piece.triangles];
        }
    }
    let refused = refused.into_iter().map(|((part, why), [pieces, triangles])| {
        let of = if pieces > 1 { format!("{pieces} pieces of ") } else { String::new() };
        format!("{of}'{part}' ({triangles} triangles), skinned plainly: {why}")
    });
    let flat = report
        .flattened
        .iter()
        .map(|&p| format!("'{}' is skinned plainly: a joint flattens all it carries", part(p)));
    let left = report.left().map(|(j, why)| {
        let of = j.piece.map_or_else(String::new, |p| format!(" of '{}'", part(p)));
        format!("the volume at joint '{}'{of} is not restored: {why}", j.joint)
    });
    refused.chain(flat).chain(left).collect()
}

/// A body in one pose.
#[derive(Clone, Debug, PartialEq)]
pub struct Skinned {
    /// Where its vertices are.
    pub positions: Vec<Vec3>,
    /// How it went.
    pub report: Report,
}

/// A body prepared for any number of poses.
#[derive(Clone, Debug)]
pub struct Solver {
    bones: Bones,
    surfaces: Vec<Piece>,
    pieces: Vec<PieceReport>,
    way: Way,
}

#[derive(Clone, Debug)]
enum Way {
    Retreating(Box<Skin>),
    ClosedForm(Box<ClosedForm>),
}

/// How large a body is where it is bound.
fn size(body: &Body) -> f64 {
    f64::from(Bounds::of(&body.mesh.positions).map_or(1.0, |b| b.diagonal()))
}

impl Solver {
    /// Prepares a body.
    ///
    /// # Errors
    ///
    /// [`Error`] if the parameters or painted weights make no sense.
    pub fn new(body: &Body, params: &Params, run: &Run<'_>) -> Result<Self, Error> {
        let degrees = params.step_degrees;
        if !(1.0..=90.0).contains(&degrees) {
            return Err(Error::BadStep { degrees });
        }
        let bones = Bones::new(body);
        let paint = Paint::find(body, &bones, params.weights.as_deref())?;
        let surfaces = surface::pieces(body, &bones, run);
        run.check()?;
        let report = |p: &Piece| PieceReport {
            part: body.parts[p.part as usize].name.clone(),
            triangles: p.own,
            holes: p.rims.len(),
            refusal: p.refusal,
        };
        let pieces = surfaces.iter().map(report).collect();
        let name = |b: &bones::Bone| match body.node_names[b.node as usize].as_str() {
            "" => format!("node {}", b.node),
            name => name.to_owned(),
        };
        let names: Vec<String> = bones.bones.iter().map(name).collect();
        let way = match params.method {
            Method::Retreating => {
                Way::Retreating(Box::new(Skin::new(body, bones.clone(), &paint, &names, run)))
            }
            Method::ClosedForm => {
                let (surfaces, how) = (&surfaces, (&names[..], degrees));
                Way::ClosedForm(Box::new(ClosedForm::new(body, &bones, &paint, surfaces, how, run)))
            }
        };
        run.check()?;
        Ok(Self { bones, surfaces, pieces, way })
    }

    /// The pieces of the body, in the order of their first vertices.
    #[must_use]
    pub fn pieces(&self) -> &[PieceReport] {
        &self.pieces
    }

    /// How many triangles the joint called `name` changes.
    #[must_use]
    pub fn blended_triangles(&self, name: &str) -> usize {
        match &self.way {
            Way::Retreating(skin) => skin.blended_triangles(name),
            Way::ClosedForm(form) => form.blended_triangles(name),
        }
    }

    /// Where the vertices are if the joints move by `matrices` and the mesh is morphed as in `pose`: one pose by
    /// itself. Poses of a take are better asked for by [`frame`](Self::frame).
    ///
    /// # Errors
    ///
    /// [`Cancelled`] when the caller asked to stop.
    ///
    /// # Panics
    ///
    /// If the body is not the one that was prepared, or there is not a matrix for each joint.
    pub fn pose(
        &self,
        body: &Body,
        pose: &Pose,
        matrices: &[Mat4],
        skinning: Skinning,
        run: &Run<'_>,
    ) -> Result<Skinned, Cancelled> {
        // Inside the pool from the first to the last: a pose is many small pieces of work.
        run.install(|| self.pose_bound(body, body.morphed(pose, run), matrices, skinning, run))
    }

    /// As [`pose`](Self::pose), for vertices that are bound at `bound`: borrowed if these are the body's own.
    pub(crate) fn pose_bound(
        &self,
        body: &Body,
        bound: Cow<'_, [Vec3]>,
        matrices: &[Mat4],
        skinning: Skinning,
        run: &Run<'_>,
    ) -> Result<Skinned, Cancelled> {
        match &self.way {
            Way::Retreating(skin) => {
                let posing = Posing { body, bound: &bound, matrices, skinning };
                let (positions, report) = skin.pose(&posing, run)?;
                Ok(Skinned { positions, report })
            }
            Way::ClosedForm(form) => form.pose(body, bound, matrices, skinning, run),
        }
    }

    /// Frame `number` of a take, moved as `instant` says, so that nothing pops: what retreats in some frames does so
    /// smoothly over their neighbours, which `instants` gives. The memo belongs to the take; a frame is the same
    /// whichever were asked for before it.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] when the caller asked to stop.
    ///
    /// # Panics
    ///
    /// If the body is not the one that was prepared, or there is not a matrix for each joint.
    pub fn frame(
        &self,
        take: &Take<'_>,
        number: i64,
        instant: &Instant<'_>,
        run: &Run<'_>,
    ) -> Result<Skinned, Cancelled> {
        self.between(take, (number, 0.0), instant, run)
    }

    /// As [`frame`](Self::frame), after frame `number` by a part of the way to the next: the two say what retreats.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] when the caller asked to stop.
    ///
    /// # Panics
    ///
    /// If the body is not the one that was prepared, or there is not a matrix for each joint.
    pub fn between(
        &self,
        take: &Take<'_>,
        (number, part): (i64, f64),
        instant: &Instant<'_>,
        run: &Run<'_>,
    ) -> Result<Skinned, Cancelled> {
        let &Take { body, skinning, instants, memo } = take;
        run.install(|| match &self.way {
            Way::Retreating(skin) => {
                let taking = Taking { skin, body, skinning, instants, memo };
                let (positions, report) = taking.frame((number, part), instant, run)?;
                Ok(Skinned { positions, report })
            }
            Way::ClosedForm(form) => {
                let bound = Cow::Borrowed(&instant.bound[..]);
                form.pose(body, bound, &instant.matrices, skinning, run)
            }
        })
    }

    /// How far the volume of each piece is off, as a share of what it is in the bound, morphed shape
    /// moved by the root alone; `None` for pieces that are refused. The volume that scaled joints make
    /// or take counts as an error here.
    ///
    /// # Panics
    ///
    /// If the body is not the one that was prepared, or there is not a matrix for each joint.
    #[must_use]
    pub fn volume_errors(
        &self,
        body: &Body,
        pose: &Pose,
        matrices: &[Mat4],
        positions: &[Vec3],
        run: &Run<'_>,
    ) -> Vec<Option<f64>> {
        let bound = body.morphed(pose, run);
        let error = |piece: &Piece| {
            if piece.refusal.is_some() {
                return None;
            }
            let root = self.bones.binding(piece.part as usize)?.root(&self.bones)?;
            let scale = self.bones.bones[root as usize].matrix(matrices).determinant();
            let rest = scale * piece.volume(|v| bound[v as usize].as_dvec3(), run);
            let now = piece.volume(|v| positions[v as usize].as_dvec3(), run);
            let error = now / rest - 1.0;
            error.is_finite().then_some(error)
        };
        self.surfaces.iter().map(error).collect()
    }
}

/// Poses that follow each other.
#[derive(Clone, Copy)]
pub struct Take<'a> {
    /// The body that was prepared.
    pub body: &'a Body,
    /// How joints are blended.
    pub skinning: Skinning,
    /// The poses.
    pub instants: Instants<'a>,
    /// What is known of them.
    pub memo: &'a Memo,
}

impl std::fmt::Debug for Take<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Take").field("skinning", &self.skinning).finish_non_exhaustive()
    }
}

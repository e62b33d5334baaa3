//! Skinning that keeps volume: what a joint's blend takes away is given back around that joint.
//!
#![doc = include_str!("../../../../docs/pictures/skinning.md")]
//!
//! # Method
//!
//! Linear blending loses volume where joints bend or twist. Here the joints move one at a time, parents
//! first. With `w` the summed weights of a joint's subtree and `D` its motion against its parent,
//!
//! ```text
//! P ← (1−w) P + w D(P)        U ← (1−w) U + w D U        V = S U
//! ```
//!
//! `U` points out of the skeleton: the blend of the vectors from the nearest point of each bone (a
//! segment to each child; a point at a leaf). `volume(P + λV)` is a cubic in λ; its root of smallest size
//! restores the volume, in closed form, and `P ← P + λV`. By default `S = w (1−w)`, so that only the blend
//! around the joint is displaced; painted weights say otherwise, with either sign, for muscles that bulge
//! and skin that folds:
//!
//! | vertex attribute | meaning |
//! |---|---|
//! | `volume` (in a glTF file `_VOLUME`) | multiplies `S` of all joints |
//! | `volume_JOINT` (`_VOLUME_JOINT`) | replaces `S` of the joint of that name |
//!
//! Everything that does not depend on the pose is prepared once, in a [`Solver`]. The sums run over the
//! triangles that a joint changes, seen from the joint: what moves rigidly is replaced by a cone to its
//! rim. Sums are f64, positions f32; a vertex that no moving joint blends has the bits of plain skinning.
//!
//! # Where we differ from the thesis
//!
//! - Subtree weights in place of `W_i W_j` of joint and parent, which vanishes through helper joints.
//! - One step is wrong for large angles (a twist by 180° leaves the middle a point). Turns are taken
//!   30° at a time, each corrected; all but the last are whole, so that nothing jumps when an angle passes
//!   a multiple of it. Dual quaternions instead of the linear blend need fewer steps.
//! - Bones of one level that change the same triangles (both hips) move together: each has its own λ,
//!   and one for all mends what their overlap costs. A mirrored pose gives the mirrored shape.
//! - Every piece of the body is corrected by itself. Holes are closed for measuring by a fan to the
//!   centroid of their rim.
//! - Scale is the artist's: a stretch is blended first, and what it does to the volume stays.
//!
//! # Limits
//!
//! Where the blend is narrower than about twice the thickness, every method folds at strong bends. A
//! joint that no weight blends (a robot) has no field to restore its volume with; it is left as it is
//! and [reported](JointReport::left). Non-manifold pieces are skinned plainly, with the
//! [reason](PieceReport::refusal). A turn by more than 180° is taken the short way round: a pose does not
//! say more.
//!
//! # References
//!
//! - W. von Funck, H. Theisel, H.-P. Seidel. Volume-preserving Mesh Skinning. Vision, Modeling and
//!   Visualization, 2008.
//! - W. von Funck. Shape Deformations Based on Vector Fields. Dissertation, Otto-von-Guericke-Universität
//!   Magdeburg, 2008, chapter 6.
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

mod blend;
mod bones;
mod motion;
mod paint;
mod region;
mod solve;
mod sums;
mod surface;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;

use glam::{DMat4, DVec3, Mat4, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::bones::Bones;
use self::motion::Motion;
use self::paint::Paint;
use self::region::{Prepared, Region, Source};
use self::solve::{Mover, Plan, Work};
use self::sums::{Block, Record, WIDTH};
use self::surface::NONE;
use crate::Run;
use crate::mesh::exact_volume::smallest_root;
use crate::mesh::measure::Bounds;
use crate::rig::{Body, Pose, Skinning};
use crate::run::Cancelled;

pub use self::surface::Refusal;

/// Motions that move nothing farther than this share of the body's size are rounding.
const STILL: f64 = 1e-6;

/// Summed rounding of the joints' matrices from which the volume is measured and mended at the end.
const NOISE: f64 = 2e-7;

/// The most that is mended then, as a share of a vertex' distance from its bone.
const TOUCH: f64 = 1e-3;

/// λ times the largest weight from which a correction counts as strong.
const STRONG: f64 = 0.5;

/// Blocks of vertices that a thread gathers at a time.
const GATHERED: usize = 64;

/// What the artist sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Params {
    /// The largest turn that is blended and corrected at once, in degrees. Smaller keeps
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
        Self { step_degrees: 30.0, weights: None }
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Left {
    /// Nothing that may be displaced changes the volume.
    #[error("nothing that may be displaced changes the volume")]
    Immovable,
    /// It would take more than moving vertices by their distance from the bone.
    #[error("vertices would have to move farther than they are from the bone")]
    OutOfReach,
}

/// What one joint did to one piece.
#[derive(Clone, Debug, PartialEq)]
pub struct JointReport {
    /// The joint's name, or its node's number.
    pub joint: String,
    /// Which piece of the body.
    pub piece: usize,
    /// How far it turned against its parent, in degrees.
    pub degrees: f64,
    /// In how many steps.
    pub steps: u32,
    /// The λ of largest size of these steps.
    pub lambda: f64,
    /// The volume it gave back, as a share of the piece's.
    pub restored: f64,
    /// Whether some vertex moved by more than half of its distance from the bone.
    pub strong: bool,
    /// Whether it is scaled against its parent: the change of volume that makes is kept.
    pub scaled: bool,
    /// Why the volume was not given back, if it was not.
    pub left: Option<Left>,
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
    /// Why it is skinned plainly, if it is.
    pub refusal: Option<Refusal>,
}

/// How a pose went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The joints that moved and blend something, parents first, piece by piece.
    pub joints: Vec<JointReport>,
    /// Pieces that were skinned plainly since a joint's parent flattens all it carries.
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
}

/// What a person should know of a pose.
#[must_use]
pub fn warnings(solver: &Solver, report: &Report) -> Vec<String> {
    let part = |piece: usize| &solver.pieces()[piece].part;
    // A head of hair has many pieces: what is said of each is said once.
    let mut refused: BTreeMap<(&str, String), [usize; 2]> = BTreeMap::new();
    for piece in solver.pieces() {
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
        format!("the volume at joint '{}' of '{}' is not restored: {why}", j.joint, part(j.piece))
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
    /// Names of the bones.
    names: Vec<String>,
    prepared: Vec<Prepared>,
    pieces: Vec<PieceReport>,
    step_degrees: f64,
    /// How large the body is where it is bound.
    size: f64,
}

/// The bones in one pose.
struct Posed {
    /// From the skeleton's space to where each bone carries it.
    matrices: Vec<DMat4>,
    /// Each bone's motion against its parent; `None` if it stands still or is a root.
    motions: Vec<Option<Motion>>,
    /// Bones whose parent flattens all it carries.
    flat: Vec<bool>,
}

/// The vertices of a piece that are ever blended, in the course of a pose.
struct Live {
    /// For each way of carrying, the matrix of positions and that of ways out of the skeleton.
    carried: Vec<(DMat4, DMat4)>,
    vertices: Vec<LiveVertex>,
}

/// One of them.
#[derive(Clone, Copy, Default)]
struct LiveVertex {
    /// Position and way out of the skeleton, from when a moving joint first needs it.
    state: Record,
    /// How freely the joints that moved let it be displaced.
    freedom: f64,
    has_begun: bool,
    /// Whether a moving joint blended or displaced it.
    is_touched: bool,
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
        let pieces = surface::pieces(body, &bones, run);
        run.check()?;
        let report = |p: &surface::Piece| PieceReport {
            part: body.parts[p.part as usize].name.clone(),
            triangles: p.own,
            holes: p.rims.len(),
            refusal: p.refusal,
        };
        let reports = pieces.iter().map(report).collect();
        let prepared = run
            .map_tasks(pieces.len(), |i| region::prepare(body, &bones, &paint, pieces[i].clone()));
        let name = |b: &bones::Bone| match body.node_names[b.node as usize].as_str() {
            "" => format!("node {}", b.node),
            name => name.to_owned(),
        };
        Ok(Self {
            names: bones.bones.iter().map(name).collect(),
            bones,
            prepared,
            pieces: reports,
            step_degrees: degrees,
            size: f64::from(Bounds::of(&body.mesh.positions).map_or(1.0, |b| b.diagonal())),
        })
    }

    /// The pieces of the body, in the order of their first vertices.
    #[must_use]
    pub fn pieces(&self) -> &[PieceReport] {
        &self.pieces
    }

    /// How many triangles the joint called `name` changes.
    #[must_use]
    pub fn blended_triangles(&self, name: &str) -> usize {
        let regions = self.prepared.iter().flat_map(|p| &p.regions);
        let names = |r: &&Region| r.members.iter().any(|m| self.names[m.bone as usize] == name);
        regions.filter(names).map(|r| r.triangles).sum()
    }

    /// Where the vertices are if the joints move by `matrices` and the mesh is morphed as in `pose`.
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
        let mut positions = body.skin_bound(&bound, matrices, skinning, run);
        let mut report = Report::default();
        let posed = self.posed(matrices);
        if posed.motions.iter().all(Option::is_none) && !posed.flat.contains(&true) {
            return Ok(Skinned { positions, report });
        }
        let is_morphed = matches!(bound, Cow::Owned(_));
        let course =
            Course { solver: self, posed: &posed, bound: &bound, is_morphed, skinning, run: *run };
        for (number, prepared) in self.prepared.iter().enumerate() {
            run.check()?;
            if prepared.is_flattened(&posed) {
                report.flattened.push(number);
            } else if prepared.moves(&posed) {
                let joints = course.solve(prepared, &mut positions);
                report
                    .joints
                    .extend(joints.into_iter().map(|j| JointReport { piece: number, ..j }));
            }
        }
        Ok(Skinned { positions, report })
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
        let error = |prepared: &Prepared| {
            let piece = &prepared.piece;
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
        self.prepared.iter().map(error).collect()
    }

    fn posed(&self, matrices: &[Mat4]) -> Posed {
        let bones = &self.bones.bones;
        let matrices: Vec<DMat4> = bones.iter().map(|b| b.matrix(matrices)).collect();
        let mut posed = Posed {
            motions: vec![None; bones.len()],
            flat: vec![false; bones.len()],
            matrices: Vec::new(),
        };
        for (i, bone) in bones.iter().enumerate() {
            let Some(parent) = bone.parent else { continue };
            match Motion::new(&matrices[parent as usize], &matrices[i], bone.at) {
                Err(motion::Flat) => posed.flat[i] = true,
                Ok(motion) => {
                    let scale = matrices[parent as usize].determinant().abs().cbrt();
                    let size = self.size * scale;
                    posed.motions[i] = (motion.displacement(size) > STILL * size).then_some(motion);
                }
            }
        }
        posed.matrices = matrices;
        posed
    }
}

impl Prepared {
    fn bones(&self) -> impl Iterator<Item = usize> + '_ {
        self.regions.iter().flat_map(|r| &r.members).map(|m| m.bone as usize)
    }

    fn is_flattened(&self, posed: &Posed) -> bool {
        self.bones().any(|b| posed.flat[b])
    }

    fn moves(&self, posed: &Posed) -> bool {
        self.bones().any(|b| posed.motions[b].is_some())
    }
}

/// One pose of a solver's body.
struct Course<'a> {
    solver: &'a Solver,
    posed: &'a Posed,
    bound: &'a [Vec3],
    is_morphed: bool,
    skinning: Skinning,
    run: Run<'a>,
}

impl Course<'_> {
    /// Moves one piece, region by region.
    fn solve(&self, prepared: &Prepared, positions: &mut [Vec3]) -> Vec<JointReport> {
        let piece = &prepared.piece;
        let vertices = vec![LiveVertex::default(); prepared.live.len()];
        let mut live = Live { carried: self.carried(prepared), vertices };
        let scale = self.scale(prepared);
        let most = match self.skinning {
            Skinning::Linear => self.solver.step_degrees,
            Skinning::DualQuaternion => 3.0 * self.solver.step_degrees,
        };
        let most = most.min(120.0).to_radians();
        let plan = Plan { skinning: self.skinning, most, volume: piece.bound_volume * scale };
        let mut reports = Vec::new();
        for region in &prepared.regions {
            self.pass(prepared, region, plan, &mut live, &mut reports);
        }
        self.place(prepared, &live, positions);
        let noise = prepared.bones().filter_map(|b| Some(self.posed.motions[b]?.noise));
        let excused = reports.iter().any(|j: &JointReport| j.scaled || j.left.is_some());
        if !excused && noise.sum::<f64>() > NOISE {
            self.touch_up(prepared, &live, positions);
        }
        reports
    }

    /// Puts the vertices that were blended or displaced where they have come.
    fn place(&self, prepared: &Prepared, live: &Live, positions: &mut [Vec3]) {
        let body_vertex = |k: usize| prepared.piece.vertices[prepared.live[k] as usize] as usize;
        let Some(last) = prepared.live.len().checked_sub(1) else { return };
        // They are in the order of the body's vertices.
        let first = body_vertex(0);
        let range = &mut positions[first..=body_vertex(last)];
        self.run.for_each_piece(range, GATHERED * WIDTH, |start, range| {
            let (start, end) = (first + start, first + start + range.len());
            let before = |&place: &u32| (prepared.piece.vertices[place as usize] as usize) < start;
            let from = prepared.live.partition_point(before);
            for k in from..=last {
                let (vertex, live) = (body_vertex(k), &live.vertices[k]);
                if vertex >= end {
                    break;
                }
                if live.is_touched {
                    let [x, y, z, ..] = live.state;
                    range[vertex - start] = DVec3::new(x, y, z).as_vec3();
                }
            }
        });
    }

    /// Gives back what rounding the matrices of many joints costs.
    fn touch_up(&self, prepared: &Prepared, live: &Live, positions: &mut [Vec3]) {
        let piece = &prepared.piece;
        let bound = if self.is_morphed {
            piece.volume(|v| self.bound[v as usize].as_dvec3(), &self.run)
        } else {
            piece.bound_volume
        };
        let target = bound * self.scale(prepared);
        let origin = positions[piece.vertices[0] as usize].as_dvec3();
        // The vertices, the middles of rims, and zeros.
        let zero = piece.vertices.len() + piece.rims.len();
        let mut records = sums::in_blocks(zero + 1, |i| match piece.vertices.get(i) {
            Some(&vertex) => {
                let x = positions[vertex as usize].as_dvec3() - origin;
                [x.x, x.y, x.z, 0.0, 0.0, 0.0]
            }
            None => [0.0; 6],
        });
        let all = || prepared.live.iter().zip(&live.vertices);
        let touched = || all().filter(|(_, vertex)| vertex.is_touched);
        for (&place, vertex) in touched() {
            let [_, _, _, u, v, w] = vertex.state.map(|x| vertex.freedom * x);
            let [x, y, z, ..] = sums::record(&records, place as usize);
            sums::set_record(&mut records, place as usize, [x, y, z, u, v, w]);
        }
        for (place, rim) in (piece.vertices.len()..).zip(&piece.rims) {
            let mean = solve::mean(&records, rim);
            sums::set_record(&mut records, place, mean);
        }
        let alone = |&[a, b, c]: &[u32; 3]| [a, zero as u32, b, c];
        let pairs: Vec<_> = piece.triangles.iter().map(alone).collect();
        let [c0, c1, c2, c3] = sums::cubic(&records, &pairs, &self.run);
        let most = touched().map(|(_, vertex)| vertex.freedom.abs()).fold(0.0, f64::max);
        let unit = TOUCH / most;
        let scaled = [c0 - target, c1 * unit, c2 * unit * unit, c3 * unit * unit * unit];
        let Some(root) = smallest_root(scaled).filter(|_| most > 0.0) else { return };
        for (&place, vertex) in touched() {
            let [x, y, z, ..] = vertex.state;
            let [_, _, _, u, v, w] = sums::record(&records, place as usize);
            positions[piece.vertices[place as usize] as usize] =
                (DVec3::new(x, y, z) + root * unit * DVec3::new(u, v, w)).as_vec3();
        }
    }

    /// How the root scales volumes.
    fn scale(&self, prepared: &Prepared) -> f64 {
        let bones = &self.solver.bones;
        let root = bones.binding(prepared.piece.part as usize).and_then(|b| b.root(bones));
        root.map_or(1.0, |r| self.posed.matrices[r as usize].determinant())
    }

    /// For each way of carrying, the matrix of positions and that of ways out of the skeleton.
    fn carried(&self, prepared: &Prepared) -> Vec<(DMat4, DMat4)> {
        let matrices = |c: &region::Carrier| {
            if c.bone == NONE {
                return (DMat4::IDENTITY, DMat4::IDENTITY);
            }
            let bone = self.posed.matrices[c.bone as usize];
            let binding = self.solver.bones.binding(c.part as usize);
            let to_skeleton = binding.map_or(DMat4::IDENTITY, |b| b.to_skeleton());
            (bone * to_skeleton, bone)
        };
        prepared.carriers.iter().map(matrices).collect()
    }

    /// Where a vertex is before anything blends or displaces it.
    fn beginning(&self, prepared: &Prepared, live: &Live, k: usize) -> Record {
        let (carrier, out) = prepared.start[k];
        let vertex = prepared.piece.vertices[prepared.live[k] as usize];
        let (positions, ways) = &live.carried[carrier as usize];
        let x = positions.transform_point3(self.bound[vertex as usize].as_dvec3());
        let u = ways.transform_vector3(out);
        [x.x, x.y, x.z, u.x, u.y, u.z]
    }

    /// One region: out of the live vertices, through its steps, and back.
    fn pass(
        &self,
        prepared: &Prepared,
        region: &Region,
        plan: Plan,
        live: &mut Live,
        reports: &mut Vec<JointReport>,
    ) {
        let motion = |(number, member): (usize, &'_ region::Member)| {
            let motion = self.posed.motions[member.bone as usize]?;
            Some((number, motion))
        };
        let moving: Vec<_> = region.members.iter().enumerate().filter_map(motion).collect();
        let Some((_, first)) = moving.first() else { return };
        let origin = first.from;
        let mover = |&(number, motion): &(usize, Motion)| Mover {
            member: &region.members[number],
            motion: motion.relative_to(origin),
            number,
        };
        let movers: Vec<Mover<'_>> = moving.iter().map(mover).collect();
        let state = self.gather(prepared, region, live, origin);
        let mut work = Work::new(region, &movers, plan, state, self.run);
        let done = work.solve();
        put_back(&work, &movers, origin, live);
        reports.extend(movers.iter().zip(done).map(|(mover, done)| JointReport {
            joint: self.solver.names[mover.member.bone as usize].clone(),
            piece: 0,
            degrees: mover.motion.angle.to_degrees(),
            steps: done.steps,
            lambda: done.lambda,
            restored: done.restored,
            strong: done.lambda.abs() * mover.member.most_freedom > STRONG,
            scaled: mover.motion.stretches(),
            left: done.left,
        }));
    }

    /// The vertices of a region, seen from `origin`.
    fn gather(
        &self,
        prepared: &Prepared,
        region: &Region,
        live: &Live,
        origin: DVec3,
    ) -> Vec<Block> {
        let vertex = |k: usize| match region.sources[k] {
            Source::Live(number) => {
                let number = number as usize;
                let vertex = &live.vertices[number];
                let [x, y, z, u, v, w] = if vertex.has_begun {
                    vertex.state
                } else {
                    self.beginning(prepared, live, number)
                };
                [x - origin.x, y - origin.y, z - origin.z, u, v, w]
            }
            Source::Carried(carrier) => {
                let vertex = prepared.piece.vertices[region.vertices[k] as usize];
                let matrix = &live.carried[carrier as usize].0;
                let x = matrix.transform_point3(self.bound[vertex as usize].as_dvec3()) - origin;
                // What is only carried is never displaced: it needs no way out.
                [x.x, x.y, x.z, 0.0, 0.0, 0.0]
            }
        };
        let count = region.vertices.len();
        let mut blocks = vec![[[0.0; WIDTH]; 6]; (region.zero() as usize + 1).div_ceil(WIDTH)];
        let own = &mut blocks[..count.div_ceil(WIDTH)];
        self.run.for_each_piece(own, GATHERED, |start, blocks| {
            let first = start * WIDTH;
            for k in first..count.min(first + blocks.len() * WIDTH) {
                sums::set_record(blocks, k - first, vertex(k));
            }
        });
        blocks
    }
}

/// Takes over where the live vertices of a region have come.
fn put_back(work: &Work<'_>, movers: &[Mover<'_>], origin: DVec3, live: &mut Live) {
    let numbers = &work.region.live;
    let [Some(&[first, _]), Some(&[last, _])] = [numbers.first(), numbers.last()] else { return };
    let first = first as usize;
    let vertices = &mut live.vertices[first..=last as usize];
    work.run.for_each_piece(vertices, GATHERED * WIDTH, |start, vertices| {
        let (start, end) = (first + start, first + start + vertices.len());
        let from = numbers.partition_point(|&[number, _]| (number as usize) < start);
        let here = numbers[from..].iter().map(|n| n.map(|n| n as usize));
        for [number, k] in here.take_while(|&[number, _]| number < end) {
            let vertex = &mut vertices[number - start];
            let [x, y, z, u, v, w] = sums::record(&work.state, k);
            vertex.state = [x + origin.x, y + origin.y, z + origin.z, u, v, w];
            vertex.has_begun = true;
            for mover in movers {
                vertex.is_touched |= mover.member.touches(k);
                vertex.freedom += mover.member.freedom[k];
            }
        }
    });
}

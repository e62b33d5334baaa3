//! The thesis' method: joints move one at a time, and each gives back what it took, in closed form.
//!
//! Fast and exact for every closed piece, and without an eye on what else happens: where blends are narrow, layers
//! lie over each other or bones hang on other joints than their skin does, it folds and stretches.
//!
//! With `w` the summed weights of a joint's subtree and `D` its motion against its parent,
//!
//! ```text
//! P ← (1−w) P + w D(P)        U ← (1−w) U + w D U   (6.8)        V = S U   (6.9),   S = w (1−w)
//! ```
//!
//! `volume(P + λV)` is a cubic in λ; its root of smallest size restores the volume, and `P ← P + λV`. Turns are taken
//! 30° at a time, each corrected; all but the last are whole, so that nothing jumps when an angle passes a multiple
//! of it. Bones of one level that change the same triangles (both hips) move together: each has its own λ, and one
//! for all mends what their overlap costs. The sums run over the triangles that a joint changes, seen from the joint:
//! what moves rigidly is replaced by a cone to its rim. Every piece of the body is corrected by itself.

mod blend;
mod region;
mod solve;
mod sums;

use std::borrow::Cow;

use glam::{DMat4, DVec3, Mat4, Vec3};

use self::region::{Prepared, Region, Source};
use self::solve::{Mover, Plan, Work};
use self::sums::{Block, Record, WIDTH};
use super::bones::Bones;
use super::motion::{self, Motion};
use super::paint::Paint;
use super::surface::{NONE, Piece};
use super::{JointReport, Report, STILL, Skinned};
use crate::Run;
use crate::mesh::exact_volume::smallest_root;
use crate::rig::{Body, Skinning};
use crate::run::Cancelled;

/// Summed rounding of the joints' matrices from which the volume is measured and mended at the end.
const NOISE: f64 = 2e-7;

/// The most that is mended then, as a share of a vertex' distance from its bone.
const TOUCH: f64 = 1e-3;

/// Blocks of vertices that a thread gathers at a time.
const GATHERED: usize = 64;

/// A body prepared for any number of poses.
#[derive(Clone, Debug)]
pub(super) struct ClosedForm {
    bones: Bones,
    /// Names of the bones.
    names: Vec<String>,
    prepared: Vec<Prepared>,
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

impl ClosedForm {
    pub(super) fn new(
        body: &Body,
        bones: &Bones,
        paint: &Paint<'_>,
        pieces: &[Piece],
        (names, step_degrees): (&[String], f64),
        run: &Run<'_>,
    ) -> Self {
        let prepared =
            run.map_tasks(pieces.len(), |i| region::prepare(body, bones, paint, pieces[i].clone()));
        let (bones, names) = (bones.clone(), names.to_vec());
        Self { bones, names, prepared, step_degrees, size: super::size(body) }
    }

    /// How many triangles the joint called `name` changes.
    pub(super) fn blended_triangles(&self, name: &str) -> usize {
        let regions = self.prepared.iter().flat_map(|p| &p.regions);
        let names = |r: &&Region| r.members.iter().any(|m| self.names[m.bone as usize] == name);
        regions.filter(names).map(|r| r.triangles).sum()
    }

    /// Where vertices that are bound at `bound` come: borrowed if these are the body's own.
    pub(super) fn pose(
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
                    .extend(joints.into_iter().map(|j| JointReport { piece: Some(number), ..j }));
            }
        }
        Ok(Skinned { positions, report })
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

/// One pose of a body.
struct Course<'a> {
    solver: &'a ClosedForm,
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
            degrees: mover.motion.angle.to_degrees(),
            lambda: done.lambda,
            lost: done.restored,
            returned: done.restored,
            freedom: 1.0,
            scaled: mover.motion.stretches(),
            left: done.left,
            ..JointReport::default()
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

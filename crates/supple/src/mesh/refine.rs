//! Refining a shape for a deformation: splitting, at rest, what the deformed shape needs finer.
//!
//! # Method
//!
//! The refinement is done on the undeformed shape, and new vertices undergo the same deformation as the
//! old ones (thesis, section 2.4.2). An edge is split in the middle if, deformed, it is longer than a
//! threshold, if its ends' normals differ by more than an angle, or if its middle lands beside the deformed
//! triangles by more than a tolerance. Triangles of which one, two or three sides are split
//! become two, three or four, so that nothing tears and no rest position changes. Last, triangles that
//! intersect only when deformed are split further: the deformation of space is one to one, so that
//! finer triangles come apart.
//!
//! Copies of a vertex, which files split at seams, are one: their edges are split together or not at all.
//!
//! A set of deformations refines once for all of them: a whole take has one connectivity.
//!
//! # Where we differ from the paper
//!
//! The third test is ours. It measures what costs volume, and finds what the other two miss: a long edge
//! whose two ends come to lie alike. The middles `m` of all edges also tell how much volume the straight
//! edges of a closed shape lose, `Σ A/3 n·(m − ½(p + q))` over the sides of its triangles: while that is too
//! much, the tolerance is lowered.
//!
//! # Limits
//!
//! - Triangles that intersect at rest are left whole: splitting them would make more pairs of the same
//!   intersection.
//! - Refinement stops at [`Params::most_triangles`]; of the edges that are due, those with the largest error
//!   are split.
//!
//! # References
//!
//! - W. von Funck. Shape Deformations Based on Vector Fields. Thesis, Saarbrücken, 2008; section
//!   2.4.2.
//! - J. Gain, N. Dodgson. Adaptive Refinement and Decimation under Free-Form Deformation. Eurographics UK,
//!   1999.

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::Range;

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::adjacency::renamed;
use super::intersect::{intersecting, self_intersections};
use super::measure::Bounds;
use super::normals::vertex_normals;
use super::remesh::carry::{Source, interpolated};
use super::volume::volume;
use super::welding::Welding;
use super::{CornerAttribute, TriMesh, Values};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::run::Cancelled;

/// Rounds of splitting that no mesh needs: edges become a thousand times shorter.
const MOST_ROUNDS: usize = 10;

/// How many times farther than off its triangles the middle of an edge may land along them: there it
/// shifts a texture, not the shape.
const ALONG: f32 = 8.0;

/// The tolerance is lowered to no less than half of it at a time, and so often in a round: then the
/// middles of halved edges are due.
const LOWERED: f32 = 0.5;
const MOST_LOWERED: usize = 3;

/// Refinements from the start: where one cannot bring triangles apart, the next leaves them whole.
const ATTEMPTS: usize = 4;

/// Rounds of splitting for a deformation of which only the vertices are known, and how many times the tolerance its
/// guessed middles have: a guess is no reason to split as finely.
const GUESSED_ROUNDS: usize = 3;
const GUESSED: f32 = 8.0;

/// Rounds of splitting for a deformation that needs the whole surface: edges become 32 times shorter.
const WHOLE_ROUNDS: usize = 5;

/// Rounds of splitting what intersects, and how many of them in a row may bring nothing: a pair often becomes
/// several before its parts come apart, and against triangles that stay whole it only becomes more.
const UNTANGLING_ROUNDS: usize = 8;
const PATIENCE: usize = 3;

/// When an edge is split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// How far the middle of an edge may land off the plane of its deformed triangles, as a share of the
    /// bounding box's diagonal; along the plane eight times as far. 1e-4 by default; four times less means
    /// twice as many edges along a bend.
    pub tolerance_rel_bbox: f32,
    /// How much of the volume of a closed shape its straight edges may gain or lose, as a share. 3e-5 by
    /// default; nobody looks at it if it is not given.
    pub volume_rel: Option<f32>,
    /// Longest deformed edge, as a share of the bounding box's diagonal. 0.05 by default.
    pub longest_rel_bbox: f32,
    /// Largest angle between the deformed normals at an edge's ends, beyond that at rest, in degrees.
    /// 20 by default.
    pub angle_degrees: f32,
    /// Edges shorter than this share of the bounding box's diagonal are split only to bring triangles
    /// apart. 5e-4 by default.
    pub shortest_rel_bbox: f32,
    /// Triangles of the result at most; never fewer than there were. 500,000 by default.
    pub most_triangles: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            tolerance_rel_bbox: 1e-4,
            volume_rel: Some(3e-5),
            longest_rel_bbox: 0.05,
            angle_degrees: 20.0,
            shortest_rel_bbox: 5e-4,
            most_triangles: 500_000,
        }
    }
}

impl Params {
    /// For shapes that cross if they are split as finely as asked for.
    fn coarser(&self) -> Self {
        Self {
            tolerance_rel_bbox: 8.0 * self.tolerance_rel_bbox,
            angle_degrees: 2.0 * self.angle_degrees,
            volume_rel: None,
            ..self.clone()
        }
    }
}

/// A refined shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refined {
    /// The shape at rest; its first vertices are those it had, in their order.
    pub mesh: TriMesh,
    /// Where its vertices go, for each deformation.
    pub frames: Vec<Vec<Vec3>>,
    /// Edges that were split.
    pub splits: usize,
    /// Pairs of triangles that intersect in a frame and did not at rest; the most of any frame.
    pub intersections_added: usize,
}

/// Why a shape was not refined.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error<E: std::error::Error + 'static = Infallible> {
    /// The deformation failed.
    #[error(transparent)]
    Deformation(E),
    /// A deformation gave too few or too many positions.
    #[error("a deformation of {expected} points gave {found}")]
    WrongCount {
        /// Points given.
        expected: usize,
        /// Positions returned.
        found: usize,
    },
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Where points of the shape at rest go, in each frame: they come as a mesh with all that vertices carry; without
/// triangles, unless the whole surface is asked for.
pub type Deformation<'a, E> = &'a dyn Fn(&TriMesh) -> Result<Vec<Vec<Vec3>>, E>;

/// Refines a mesh for a deformation, or for all frames of a take.
///
/// # Errors
///
/// [`Error::Deformation`] if the deformation fails.
pub fn refine<E: std::error::Error + 'static>(
    mesh: &TriMesh,
    deform: Deformation<'_, E>,
    params: &Params,
    run: &Run<'_>,
) -> Result<Refined, Error<E>> {
    let frames = deformed(deform, mesh)?;
    let diagonal = Bounds::of(&mesh.positions).map_or(0.0, |b| b.diagonal());
    let start = State::new(mesh.clone(), frames, intersecting_at_rest(mesh, run)?);
    let mut best = attempt(start.clone(), deform, params, diagonal, run)?;
    let mut locked = start.locked.clone();
    for _ in 1..ATTEMPTS {
        if best.1 == 0 {
            break;
        }
        for (&whole, tangled) in best.0.whole.iter().zip(&best.2) {
            locked[whole as usize] |= *tangled;
        }
        let again = State { locked: locked.clone(), ..start.clone() };
        let next = attempt(again, deform, params, diagonal, run)?;
        best = if next.1 < best.1 { next } else { break };
    }
    if best.1 > 0 {
        // Sheets that are pressed together cross where one is split and the other is not: less fine, or not at all,
        // they may not.
        let again = State { locked, ..start.clone() };
        let coarse = attempt(again, deform, &params.coarser(), diagonal, run)?;
        best = if coarse.1 < best.1 { coarse } else { best };
        let (added, tangled) = start.tangled(run)?;
        best = if added < best.1 { (start, added, tangled) } else { best };
    }
    let (State { mesh, frames, splits, .. }, intersections_added, _) = best;
    Ok(Refined { mesh, frames, splits, intersections_added })
}

/// Which triangles intersect others at rest.
fn intersecting_at_rest(mesh: &TriMesh, run: &Run<'_>) -> Result<Vec<bool>, Cancelled> {
    let pairs = self_intersections(&mesh.positions, &mesh.triangles, run)?;
    let mut locked = vec![false; mesh.triangles.len()];
    pairs.as_flattened().iter().for_each(|&t| locked[t as usize] = true);
    Ok(locked)
}

/// Splits a mesh, at rest, where it needs to be finer for a deformation of which only the vertices are known.
///
/// Where the middles of edges go is guessed from the ends and their normals, less what the same guess says at rest.
/// Triangles that intersect only when deformed are split, too. `None` if the mesh is as fine as it needs to be.
///
/// # Errors
///
/// [`Cancelled`] when the caller asked to stop.
pub fn split_for(
    mesh: &TriMesh,
    moved: &[Vec3],
    params: &Params,
    run: &Run<'_>,
) -> Result<Option<TriMesh>, Cancelled> {
    let locked = intersecting_at_rest(mesh, run)?;
    let mut state = State::new(mesh.clone(), vec![moved.to_vec()], locked);
    let diagonal = Bounds::of(&mesh.positions).map_or(0.0, |b| b.diagonal());
    let loose =
        Params { tolerance_rel_bbox: GUESSED * params.tolerance_rel_bbox, ..params.clone() };
    let limits = Limits::new(&loose, diagonal);
    let (_, tangled) = state.tangled(run)?;
    for round in 0..GUESSED_ROUNDS {
        run.check()?;
        let edges = state.free_edges();
        let middles = state.middles(&edges);
        let landed = vec![state.guessed(&edges, &state.frames[0], run)];
        let mut errors = state.errors(&edges, &landed, &limits, run);
        if round == 0 {
            for (error, edge) in errors.iter_mut().zip(&edges) {
                let is_tangled = edge.around.iter().any(|&h| tangled[h as usize / 3]);
                *error = if is_tangled { error.max(2.0) } else { *error };
            }
        }
        let room = params.most_triangles.saturating_sub(state.mesh.triangles.len());
        if !state.split_worst(&edges, &middles, &landed, &errors, room) {
            break;
        }
    }
    Ok((state.splits > 0).then_some(state.mesh))
}

/// Refines a mesh for a deformation that needs its whole surface: what moves the middle of an edge is not known before
/// it is a vertex.
///
/// Where the middles go is guessed as in [`split_for`], for each frame; after each round of splitting the finer mesh is
/// deformed again, so that a guess lasts for one round.
///
/// # Errors
///
/// [`Error::Deformation`] if the deformation fails.
pub fn refine_whole<E: std::error::Error + 'static>(
    mesh: &TriMesh,
    deform: Deformation<'_, E>,
    params: &Params,
    run: &Run<'_>,
) -> Result<Refined, Error<E>> {
    let diagonal = Bounds::of(&mesh.positions).map_or(0.0, |b| b.diagonal());
    let limits = Limits::new(params, diagonal);
    let locked = intersecting_at_rest(mesh, run)?;
    let mut state = State::new(mesh.clone(), deformed(deform, mesh)?, locked);
    for round in 0..WHOLE_ROUNDS {
        run.check()?;
        run.report(round as u64, WHOLE_ROUNDS as u64);
        let edges = state.free_edges();
        let middles = state.middles(&edges);
        let landed: Vec<_> =
            state.frames.iter().map(|frame| state.guessed(&edges, frame, run)).collect();
        let errors = state.errors(&edges, &landed, &limits, run);
        let room = params.most_triangles.saturating_sub(state.mesh.triangles.len());
        if !state.split_worst(&edges, &middles, &landed, &errors, room) {
            break;
        }
        state.frames = deformed(deform, &state.mesh)?;
    }
    let (intersections_added, _) = state.tangled(run)?;
    let State { mesh, frames, splits, .. } = state;
    Ok(Refined { mesh, frames, splits, intersections_added })
}

/// Refines once: the result, how many pairs intersect only when deformed, and which triangles do.
fn attempt<E: std::error::Error + 'static>(
    mut state: State,
    deform: Deformation<'_, E>,
    params: &Params,
    diagonal: f32,
    run: &Run<'_>,
) -> Result<(State, usize, Vec<bool>), Error<E>> {
    let mut limits = Limits::new(params, diagonal);
    for round in 0..MOST_ROUNDS {
        run.check()?;
        run.report(round as u64, (MOST_ROUNDS + UNTANGLING_ROUNDS) as u64);
        let edges = state.free_edges();
        let middles = state.middles(&edges);
        let landed = deformed(deform, &middles)?;
        let errors = state.due(&edges, &landed, params.volume_rel, &mut limits, run);
        let room = params.most_triangles.saturating_sub(state.mesh.triangles.len());
        if !state.split_worst(&edges, &middles, &landed, &errors, room) {
            break;
        }
    }
    untangle(&mut state, deform, params, run)?;
    let (added, tangled) = state.tangled(run)?;
    Ok((state, added, tangled))
}

fn deformed<E: std::error::Error + 'static>(
    deform: Deformation<'_, E>,
    points: &TriMesh,
) -> Result<Vec<Vec<Vec3>>, Error<E>> {
    let frames = deform(points).map_err(Error::Deformation)?;
    let expected = points.positions.len();
    match frames.iter().find(|frame| frame.len() != expected) {
        Some(frame) => Err(Error::WrongCount { expected, found: frame.len() }),
        None => Ok(frames),
    }
}

/// Splits triangles that intersect only when deformed, as long as that helps.
fn untangle<E: std::error::Error + 'static>(
    state: &mut State,
    deform: Deformation<'_, E>,
    params: &Params,
    run: &Run<'_>,
) -> Result<(), Error<E>> {
    let (mut least, mut tangled) = state.tangled(run)?;
    let (mut best, mut in_vain) = (state.clone(), 0);
    for round in 0..UNTANGLING_ROUNDS {
        run.report((MOST_ROUNDS + round) as u64, (MOST_ROUNDS + UNTANGLING_ROUNDS) as u64);
        if least == 0 || in_vain == PATIENCE {
            break;
        }
        let edges = state.free_edges();
        let middles = state.middles(&edges);
        let landed = deformed(deform, &middles)?;
        let is_due = |edge: &Edge| edge.around.iter().any(|&h| tangled[h as usize / 3]);
        let errors: Vec<f32> = edges.iter().map(|e| if is_due(e) { 2.0 } else { 0.0 }).collect();
        let room = params.most_triangles.saturating_sub(state.mesh.triangles.len());
        if !state.split_worst(&edges, &middles, &landed, &errors, room.max(tangled.len())) {
            break;
        }
        let left;
        (left, tangled) = state.tangled(run)?;
        if left < least {
            (least, in_vain) = (left, 0);
            best.clone_from(state);
        } else {
            in_vain += 1;
        }
    }
    *state = best;
    Ok(())
}

/// Lengths and angles beyond which an edge is split.
struct Limits {
    tolerance: f32,
    longest: f32,
    shortest: f32,
    angle: f32,
}

impl Limits {
    fn new(params: &Params, diagonal: f32) -> Self {
        let [tolerance, longest, shortest] =
            [params.tolerance_rel_bbox, params.longest_rel_bbox, params.shortest_rel_bbox]
                .map(|share| (share * diagonal).max(f32::MIN_POSITIVE));
        Self { tolerance, longest, shortest, angle: params.angle_degrees.to_radians().max(1e-3) }
    }
}

/// An edge that may be split. Where vertices have copies it is one edge all the same, with a middle for
/// each pair of copies.
struct Edge {
    /// The first copies of its ends.
    ends: [u32; 2],
    /// Its half-edges: corner `h % 3` of triangle `h / 3` and the next one; those of the same two vertices
    /// one after the other.
    around: Vec<u32>,
    /// Which of the middles of all edges are its own.
    middles: Range<u32>,
}

#[derive(Clone)]
struct State {
    mesh: TriMesh,
    frames: Vec<Vec<Vec3>>,
    /// Triangles that stay whole.
    locked: Vec<bool>,
    /// Which triangle of the mesh at first each is part of.
    whole: Vec<u32>,
    splits: usize,
    /// Whether vertices have copies.
    has_copies: bool,
}

impl State {
    fn new(mesh: TriMesh, frames: Vec<Vec<Vec3>>, locked: Vec<bool>) -> Self {
        let whole = (0..locked.len() as u32).collect();
        let has_copies = !Welding::of(&mesh.positions).is_trivial();
        Self { mesh, frames, locked, whole, splits: 0, has_copies }
    }

    /// The triangles with the first copies of their vertices.
    fn joined(&self) -> Cow<'_, [[u32; 3]]> {
        if !self.has_copies {
            return Cow::Borrowed(&self.mesh.triangles);
        }
        Cow::Owned(renamed(&self.mesh.triangles, &Welding::of(&self.mesh.positions).firsts()))
    }

    /// All edges of which no triangle must stay whole.
    fn free_edges(&self) -> Vec<Edge> {
        let first = match self.has_copies {
            true => Welding::of(&self.mesh.positions).firsts(),
            false => (0..self.mesh.positions.len() as u32).collect(),
        };
        let mut halves: Vec<([u32; 2], [u32; 2], u32)> =
            Vec::with_capacity(3 * self.mesh.triangles.len());
        for h in 0..3 * self.mesh.triangles.len() as u32 {
            let [a, b] = self.ends(h);
            let [p, q] = [first[a as usize], first[b as usize]];
            halves.push(([p.min(q), p.max(q)], [a, b], h));
        }
        halves.sort_unstable();
        let is_free = |group: &[([u32; 2], [u32; 2], u32)]| {
            group[0].0[0] != group[0].0[1]
                && group.iter().all(|(.., h)| !self.locked[*h as usize / 3])
        };
        let mut count = 0;
        halves
            .chunk_by(|x, y| x.0 == y.0)
            .filter(|group| is_free(group))
            .map(|group| {
                let start = count;
                count += group.chunk_by(|x, y| x.1 == y.1).count() as u32;
                let around = group.iter().map(|(.., h)| *h).collect();
                Edge { ends: group[0].0, around, middles: start..count }
            })
            .collect()
    }

    /// Where the middles of edges would go on a smooth surface through the deformed vertices, beyond what the same says
    /// of the surface at rest: one for each pair of copies.
    fn guessed(&self, edges: &[Edge], frame: &[Vec3], run: &Run<'_>) -> Vec<Vec3> {
        let joined = self.joined();
        let [rest_normals, normals] =
            [&self.mesh.positions[..], frame].map(|at| vertex_normals(at, &joined, run));
        // The middle of the cubic with tangents across the normals at both ends, from that of the ends.
        let bulge = |at: &[Vec3], normals: &[Vec3], [p, q]: [usize; 2]| {
            let way = at[q] - at[p];
            0.125 * (way.dot(normals[q]) * normals[q] - way.dot(normals[p]) * normals[p])
        };
        let guess = |edge: &Edge| {
            let ends = edge.ends.map(|v| v as usize);
            let now = bulge(frame, &normals, ends);
            let before = bulge(&self.mesh.positions, &rest_normals, ends).norm();
            let size = now.norm();
            let more = if size > before { now * (1.0 - before / size) } else { Vec3::ZERO };
            0.5 * (frame[ends[0]] + frame[ends[1]]) + more
        };
        let guesses = run.map(edges.len(), |i| guess(&edges[i]));
        let copies = |(edge, guess): (&Edge, Vec3)| std::iter::repeat_n(guess, edge.middles.len());
        edges.iter().zip(guesses).flat_map(copies).collect()
    }

    /// The vertices of a half-edge, the smaller first.
    fn ends(&self, h: u32) -> [u32; 2] {
        let corners = self.mesh.triangles[h as usize / 3];
        let [a, b] = [corners[h as usize % 3], corners[(h as usize + 1) % 3]];
        [a.min(b), a.max(b)]
    }

    /// The half-edges of an edge, those of each middle together.
    fn strands<'a>(&'a self, edge: &'a Edge) -> impl Iterator<Item = &'a [u32]> {
        edge.around.chunk_by(|&g, &h| self.ends(g) == self.ends(h))
    }

    /// The middles of edges, with all that vertices carry.
    fn middles(&self, edges: &[Edge]) -> TriMesh {
        let source = |strand: &[u32]| {
            let h = strand[0];
            let mut weights = [0.5; 3];
            weights[(h as usize + 2) % 3] = 0.0;
            Source { triangle: h / 3, weights }
        };
        let sources: Vec<Source> =
            edges.iter().flat_map(|edge| self.strands(edge).map(source)).collect();
        interpolated(&self.mesh, &sources)
    }

    /// How much each edge needs to be split. If none is due and yet too much volume is lost, the tolerance
    /// is lowered until one is.
    fn due(
        &self,
        edges: &[Edge],
        landed: &[Vec<Vec3>],
        volume_rel: Option<f32>,
        limits: &mut Limits,
        run: &Run<'_>,
    ) -> Vec<f32> {
        let none_is_due = |errors: &[f32]| errors.iter().all(|&e| e <= 1.0);
        let mut errors = self.errors(edges, landed, limits, run);
        let Some(allowed) = volume_rel.filter(|_| none_is_due(&errors)) else { return errors };
        let lost = self.volume_lost(edges, landed, run);
        if lost <= f64::from(allowed) {
            return errors;
        }
        for _ in 0..MOST_LOWERED {
            limits.tolerance *= (allowed / lost as f32).max(LOWERED);
            errors = self.errors(edges, landed, limits, run);
            if !none_is_due(&errors) {
                break;
            }
        }
        errors
    }

    /// How much each edge needs to be split: more than 1 if it is due.
    fn errors(
        &self,
        edges: &[Edge],
        landed: &[Vec<Vec3>],
        limits: &Limits,
        run: &Run<'_>,
    ) -> Vec<f32> {
        let between = |normals: &[Vec3], [a, b]: [usize; 2]| normals[a].angle_between(normals[b]);
        let joined = self.joined();
        let rest_normals = vertex_normals(&self.mesh.positions, &joined, run);
        let mut errors = vec![0.0_f32; edges.len()];
        for (frame, landed) in self.frames.iter().zip(landed) {
            let normals = vertex_normals(frame, &joined, run);
            run.for_each(&mut errors, |i, error| {
                let landed = landed[edges[i].middles.start as usize];
                let ends = edges[i].ends.map(|v| v as usize);
                let [p, q] = ends.map(|v| frame[v]);
                let length = p.distance_to(q);
                // An edge that hardly moves is as fine as the artist wanted it.
                let rest = self.mesh.positions[ends[0]].distance_to(self.mesh.positions[ends[1]]);
                if length < limits.shortest || !landed.is_finite() {
                    return;
                }
                let sag = self.sag(&edges[i], frame, landed) / limits.tolerance;
                let stretched = if length > 1.01 * rest { length / limits.longest } else { 0.0 };
                let turn = between(&normals, ends) - between(&rest_normals, ends);
                let bent = if sag > 0.05 { turn / limits.angle } else { 0.0 };
                *error = error.max(sag).max(stretched).max(bent);
            });
        }
        errors
    }

    /// How far the middle of an edge lands off its triangles: all of the way at a border.
    fn sag(&self, edge: &Edge, frame: &[Vec3], landed: Vec3) -> f32 {
        let beside = self.beside(edge, frame, landed);
        if edge.around.len() != 2 {
            return beside.norm();
        }
        let off = |h: &u32| self.area_normal(*h, frame).unit_or_zero().dot(beside).abs();
        edge.around.iter().map(off).fold(beside.norm() / ALONG, f32::max)
    }

    /// From the middle of an edge to where its middle at rest lands.
    fn beside(&self, edge: &Edge, frame: &[Vec3], landed: Vec3) -> Vec3 {
        let [p, q] = edge.ends.map(|v| frame[v as usize]);
        landed - 0.5 * (p + q)
    }

    /// The normal of a half-edge's triangle, twice as long as its area.
    fn area_normal(&self, h: u32, frame: &[Vec3]) -> Vec3 {
        let [a, b, c] = self.mesh.triangles[h as usize / 3].map(|v| frame[v as usize]);
        (b - a).cross(c - a)
    }

    /// How much volume the straight edges gain or lose, as a share; the most of any frame. An open shape
    /// has none to lose.
    fn volume_lost(&self, edges: &[Edge], landed: &[Vec<Vec3>], run: &Run<'_>) -> f64 {
        if edges.iter().any(|edge| edge.around.len() != 2) {
            return 0.0;
        }
        let lost = |(frame, landed): (&Vec<Vec3>, &Vec<Vec3>)| {
            let at_edge = |i: usize| {
                let middle = landed[edges[i].middles.start as usize];
                let beside = self.beside(&edges[i], frame, middle);
                let normals = edges[i].around.iter().map(|&h| self.area_normal(h, frame));
                f64::from(normals.sum::<Vec3>().dot(beside))
            };
            let six = run.sum(edges.len(), at_edge);
            let whole = volume(frame, &self.mesh.triangles, run).abs();
            if whole > 0.0 && six.is_finite() { (six / 6.0 / whole).abs() } else { 0.0 }
        };
        self.frames.iter().zip(landed).map(lost).fold(0.0, f64::max)
    }

    /// Splits the edges that are due, those with the largest errors if there is not room for all.
    /// Returns whether any was.
    fn split_worst(
        &mut self,
        edges: &[Edge],
        middles: &TriMesh,
        landed: &[Vec<Vec3>],
        errors: &[f32],
        room: usize,
    ) -> bool {
        let mut due: Vec<u32> =
            (0..edges.len() as u32).filter(|&i| errors[i as usize] > 1.0).collect();
        // Each split edge adds at most two triangles.
        if due.len() > room / 2 {
            due.sort_by(|&a, &b| errors[b as usize].total_cmp(&errors[a as usize]).then(a.cmp(&b)));
            due.truncate(room / 2);
            due.sort_unstable();
        }
        if due.is_empty() {
            return false;
        }
        let mut middle_of = vec![u32::MAX; 3 * self.mesh.triangles.len()];
        let mut picked: Vec<u32> = Vec::with_capacity(due.len());
        let first = self.mesh.positions.len() as u32;
        for edge in due.iter().map(|&i| &edges[i as usize]) {
            for (middle, strand) in edge.middles.clone().zip(self.strands(edge)) {
                let vertex = first + picked.len() as u32;
                strand.iter().for_each(|&h| middle_of[h as usize] = vertex);
                picked.push(middle);
            }
        }
        append_vertices(&mut self.mesh, middles, &picked);
        for (frame, landed) in self.frames.iter_mut().zip(landed) {
            frame.extend(picked.iter().map(|&i| landed[i as usize]));
        }
        self.splits += due.len();
        self.split_triangles(&middle_of);
        true
    }

    fn split_triangles(&mut self, middle_of: &[u32]) {
        let shape = self.frames.first().unwrap_or(&self.mesh.positions);
        let old = std::mem::take(&mut self.mesh.triangles);
        let mut patterns: Vec<Pattern> = Vec::with_capacity(old.len());
        let mut triangles = Vec::with_capacity(old.len());
        let (mut locked, mut whole) = (Vec::new(), Vec::new());
        for (t, corners) in old.iter().enumerate() {
            let middles = [0, 1, 2].map(|k| middle_of[3 * t + k]);
            let names = [corners[0], corners[1], corners[2], middles[0], middles[1], middles[2]];
            let pattern = Pattern::of(&names, shape);
            triangles.extend(pattern.parts().iter().map(|part| part.map(|i| names[i as usize])));
            locked.extend(pattern.parts().iter().map(|_| self.locked[t]));
            whole.extend(pattern.parts().iter().map(|_| self.whole[t]));
            patterns.push(pattern);
        }
        for corner in &mut self.mesh.corners {
            split_corner(corner, &patterns);
        }
        let (mut start, mut end) = (0, 0);
        for group in &mut self.mesh.groups {
            for t in group.triangles.clone() {
                end += patterns[t as usize].parts().len() as u32;
            }
            group.triangles = start..end;
            start = end;
        }
        self.mesh.triangles = triangles;
        (self.locked, self.whole) = (locked, whole);
    }

    /// How many pairs intersect in a frame and not at rest, and which triangles do in any frame.
    fn tangled(&self, run: &Run<'_>) -> Result<(usize, Vec<bool>), Cancelled> {
        let triangles = &self.mesh.triangles;
        let at_rest = |pair: &[u32; 2]| {
            let [a, b] = pair.map(|t| self.mesh.corners_of(t as usize));
            intersecting(&a, &b)
        };
        let (mut most, mut tangled) = (0, vec![false; triangles.len()]);
        for frame in &self.frames {
            let mut pairs = self_intersections(frame, triangles, run)?;
            pairs.retain(|pair| !at_rest(pair));
            most = most.max(pairs.len());
            for t in pairs.into_flattened() {
                tangled[t as usize] = true;
            }
        }
        Ok((most, tangled))
    }
}

fn append_vertices(mesh: &mut TriMesh, middles: &TriMesh, picked: &[u32]) {
    let mut new = middles.clone();
    new.gather_vertices(picked);
    mesh.positions.extend(&new.positions);
    for (name, values) in mesh.attributes.values_mut() {
        let added = new.attributes.get(name).map_or(&[][..], Values::as_floats);
        let floats = [values.as_floats(), added].concat();
        *values = Values::from_floats(values.width(), floats).expect("the same width");
    }
    if let (Some(skin), Some(added)) = (&mut mesh.skin_weights, &new.skin_weights) {
        (0..added.len()).for_each(|v| skin.push(added.of(v)));
    }
    for (morph, added) in mesh.morphs.iter_mut().zip(&new.morphs) {
        morph.positions.extend(&added.positions);
        if let (Some(normals), Some(added)) = (&mut morph.normals, &added.normals) {
            normals.extend(added);
        }
    }
}

/// The parts of a triangle: 0 to 2 are its corners, 3 to 5 the middles of its sides.
struct Pattern {
    parts: [[u8; 3]; 4],
    count: usize,
}

impl Pattern {
    fn parts(&self) -> &[[u8; 3]] {
        &self.parts[..self.count]
    }

    fn of(names: &[u32; 6], shape: &[Vec3]) -> Self {
        let split = [3, 4, 5].map(|i| names[i] != u32::MAX);
        let whole = [0, 1, 2];
        let (parts, count) = match split {
            [false, false, false] => ([whole; 4], 1),
            [true, true, true] => ([[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]], 4),
            _ if split.iter().filter(|s| **s).count() == 1 => {
                let k = split.iter().position(|s| *s).unwrap_or(0) as u8;
                let [a, b, c] = [k, (k + 1) % 3, (k + 2) % 3];
                ([[a, 3 + k, c], [3 + k, b, c], whole, whole], 2)
            }
            _ => {
                // The side that stays whole runs from c to a; both others meet in b.
                let k = split.iter().position(|s| !*s).unwrap_or(0) as u8;
                let [c, a, b] = [k, (k + 1) % 3, (k + 2) % 3];
                let [x, y] = [3 + a, 3 + b];
                let at = |i: u8| shape[names[i as usize] as usize];
                if at(a).distance_squared(at(y)) < at(x).distance_squared(at(c)) {
                    ([[x, b, y], [a, x, y], [a, y, c], whole], 3)
                } else {
                    ([[x, b, y], [a, x, c], [x, y, c], whole], 3)
                }
            }
        };
        Self { parts, count }
    }
}

/// Splits the rows of a corner attribute; middles that both sides share stay one value.
fn split_corner(corner: &mut CornerAttribute, patterns: &[Pattern]) {
    let width = corner.values.width();
    let mut floats = corner.values.as_floats().to_vec();
    let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
    let mut middle = |a: u32, b: u32| {
        let ends = [a.min(b), a.max(b)];
        *middles.entry(ends).or_insert_with(|| {
            let new = (floats.len() / width) as u32;
            for k in 0..width {
                let [p, q] = ends.map(|v| floats[v as usize * width + k]);
                floats.push(0.5 * (p + q));
            }
            new
        })
    };
    let mut rows = Vec::with_capacity(corner.triangles.len());
    for (row, pattern) in corner.triangles.iter().zip(patterns) {
        let mut value = |i: u8| match i {
            0..3 => row[i as usize],
            _ => middle(row[i as usize - 3], row[(i as usize - 2) % 3]),
        };
        rows.extend(pattern.parts().iter().map(|part| part.map(&mut value)));
    }
    corner.triangles = rows;
    corner.values = Values::from_floats(width, floats).expect("the same width");
}

#[cfg(test)]
mod tests {
    use std::f32::consts::PI;

    use super::*;
    use crate::mesh::adjacency::topology;

    /// A box of two by two by eight in twelve triangles.
    fn bar() -> TriMesh {
        let corner = |i: u32| {
            let [x, y, z] = [i & 1, i >> 1 & 1, i >> 2].map(|bit| 2.0 * bit as f32 - 1.0);
            Vec3::new(x, y, 4.0 * z)
        };
        let quads =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        let mut bar = TriMesh::new((0..8).map(corner).collect(), triangles);
        let height = bar.positions.iter().map(|p| p.z).collect();
        bar.attributes.set("height", Values::Scalar(height));
        bar
    }

    /// A quarter turn about z from one end to the other.
    fn twisted(points: &TriMesh) -> Result<Vec<Vec<Vec3>>, Infallible> {
        let turn = |p: &Vec3| glam::Quat::from_rotation_z(PI / 16.0 * (p.z + 4.0)) * *p;
        Ok(vec![points.positions.iter().map(turn).collect()])
    }

    #[test]
    fn a_coarse_box_is_split_until_its_twist_keeps_the_volume() {
        let (old, run) = (bar(), Run::default());
        let params = Params { tolerance_rel_bbox: 2e-4, ..Params::default() };
        let fine = refine(&old, &twisted, &params, &run).unwrap();
        assert_eq!(fine.mesh.validate(), Ok(()));
        assert_eq!(fine.mesh.positions[..8], old.positions[..], "the old vertices come first");
        assert_eq!(fine.intersections_added, 0);
        let found = topology(fine.mesh.positions.len(), &fine.mesh.triangles, &run);
        assert!(found.is_closed() && found.is_oriented() && found.euler_characteristic == 2);
        let rest = volume(&fine.mesh.positions, &fine.mesh.triangles, &run);
        assert!((rest - 32.0).abs() < 1e-9, "at rest {rest}");
        let coarse = volume(&twisted(&old).unwrap()[0], &old.triangles, &run);
        let kept = volume(&fine.frames[0], &fine.mesh.triangles, &run);
        assert!((coarse / 32.0 - 1.0).abs() > 0.05, "twelve triangles are too few: {coarse}");
        assert!((kept / 32.0 - 1.0).abs() < 5e-5, "volume {kept}");
        let heights = fine.mesh.attributes.scalar("height").unwrap();
        for (p, height) in fine.mesh.positions.iter().zip(heights) {
            assert!((p.z - height).abs() < 1e-5, "{p} has {height}");
        }
    }

    /// Coarse otherwise, the mesh is as fine as volume needs it.
    #[test]
    fn the_tolerance_is_lowered_until_volume_is_kept() {
        let error = |volume_rel: Option<f32>| {
            let params = Params { tolerance_rel_bbox: 1e-2, volume_rel, ..loose() };
            let fine = refine(&bar(), &twisted, &params, &Run::default()).unwrap();
            let kept = volume(&fine.frames[0], &fine.mesh.triangles, &Run::default());
            ((kept / 32.0 - 1.0).abs(), fine.mesh.triangles.len())
        };
        let (by_eye, by_volume) = (error(None), error(Some(1e-3)));
        assert!(by_eye.0 > 4e-3 && by_volume.0 < 1.2e-3, "{by_eye:?} {by_volume:?}");
    }

    /// Edges may be as long and as bent as they like.
    fn loose() -> Params {
        Params { longest_rel_bbox: 1.0, angle_degrees: 180.0, ..Params::default() }
    }

    /// All points slide along the sides of the bar: it is the same bar.
    #[test]
    fn what_slides_along_the_surface_is_not_split() {
        let slid = |points: &TriMesh| {
            let slide = |p: &Vec3| *p + Vec3::Z * 0.03 * (16.0 - p.z * p.z);
            Ok::<_, Infallible>(vec![points.positions.iter().map(slide).collect()])
        };
        let params = Params { tolerance_rel_bbox: 1e-2, ..loose() };
        let fine = refine(&bar(), &slid, &params, &Run::default()).unwrap();
        assert_eq!(fine.splits, 0);
    }

    #[test]
    fn what_stays_as_it_is_is_not_split() {
        let still = |points: &TriMesh| Ok::<_, Infallible>(vec![points.positions.clone()]);
        let fine = refine(&bar(), &still, &Params::default(), &Run::default()).unwrap();
        assert_eq!((fine.splits, fine.mesh), (0, bar()));
    }

    #[test]
    fn the_number_of_triangles_is_bounded() {
        let params = Params { tolerance_rel_bbox: 1e-7, most_triangles: 500, ..Params::default() };
        let fine = refine(&bar(), &twisted, &params, &Run::default()).unwrap();
        assert!(fine.mesh.triangles.len() <= 500, "{}", fine.mesh.triangles.len());
        assert!(fine.mesh.triangles.len() > 300, "{}", fine.mesh.triangles.len());
    }

    #[test]
    fn corner_values_and_groups_follow() {
        let mut old = bar();
        let rows: Vec<[u32; 3]> = (0..12).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let heights = old.triangles.as_flattened().iter().map(|&v| old.positions[v as usize].z);
        old.corners.push(CornerAttribute {
            name: "corner_height".to_owned(),
            values: Values::Scalar(heights.collect()),
            triangles: rows,
        });
        let group = |r| super::super::Group { triangles: r, ..Default::default() };
        old.groups = vec![group(0..2), group(2..12)];
        let params = Params { tolerance_rel_bbox: 1e-3, ..Params::default() };
        let fine = refine(&old, &twisted, &params, &Run::default()).unwrap().mesh;
        assert_eq!(fine.validate(), Ok(()));
        let Values::Scalar(values) = &fine.corners[0].values else { panic!("still numbers") };
        for (row, corners) in fine.corners[0].triangles.iter().zip(&fine.triangles) {
            for (&i, &v) in row.iter().zip(corners) {
                let (value, z) = (values[i as usize], fine.positions[v as usize].z);
                assert!((value - z).abs() < 1e-5, "{value} at height {z}");
            }
        }
        let cap = fine.groups[0].triangles.clone();
        let below = |t: u32| fine.corners_of(t as usize).iter().all(|p| p.z == -4.0);
        assert!(cap.clone().all(below) && !cap.is_empty(), "the first group is the lower end");
    }
}

//! The closed surfaces of a body: what encloses a volume, part by part.
//!
//! A piece is what hangs together once seams are merged: vertices at the same place with the same
//! weights. (Lips that touch but move apart have different weights and stay apart.) Its holes are closed
//! for measuring by a fan to the centroid of their rim, which moves with the rim's mean.

use std::collections::HashMap;

use glam::{DVec3, Vec3};

use super::bones::Bones;
use crate::Run;
use crate::lengths::Lengths as _;
use crate::mesh::adjacency::{
    boundary_loops, coincident, components, is_index_degenerate, renamed, topology,
};
use crate::rig::Body;

/// No triangle, or no number.
pub(super) const NONE: u32 = u32::MAX;

/// Fans that make up more of a surface than this close nothing: it is a sheet, a cape or a strip.
const MOSTLY_HOLE: f64 = 0.6;

/// Why the volume of a piece is not looked after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Edges with more than two triangles: what is inside is not defined.
    #[error(
        "{edges} edges have more than two triangles, so that no inside is defined; mend the mesh"
    )]
    NonManifold {
        /// How many.
        edges: usize,
    },
    /// Neighbours that face opposite ways.
    #[error(
        "{edges} edges have triangles that face opposite ways; turn them round with \
         'supple convert --repair'"
    )]
    Misoriented {
        /// How many.
        edges: usize,
    },
    /// A sheet: its rim is nearly as large as itself.
    #[error("it is an open sheet that encloses nothing")]
    Sheet,
    /// It has no thickness.
    #[error("it encloses no volume")]
    Flat,
}

/// One surface that hangs together.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Which vertices of the body.
    pub(super) vertices: Vec<u32>,
    /// Which part of the body the first of them is in.
    pub(super) part: u32,
    /// Triangles between them (places in `vertices`), then fans: rim `k` has its centroid at
    /// `vertices.len() + k`.
    pub(super) triangles: Vec<[u32; 3]>,
    /// How many of the triangles are the body's own.
    pub(super) own: usize,
    pub(super) rims: Vec<Vec<u32>>,
    /// The triangle across each side of each triangle.
    pub(super) across: Vec<[u32; 3]>,
    pub(super) refusal: Option<Refusal>,
    /// The volume where it is bound, without morph targets.
    pub(super) bound_volume: f64,
    /// The body's vertex in whose place each vertex stands at seams.
    names: Vec<u32>,
}

impl Piece {
    /// How many numbers its triangles use: vertices and centroids.
    pub(super) fn places(&self) -> usize {
        self.vertices.len() + self.rims.len()
    }

    /// The volume for positions of the body, its holes closed.
    pub(super) fn volume(&self, positions: impl Fn(u32) -> DVec3 + Sync, run: &Run<'_>) -> f64 {
        let mut places: Vec<DVec3> = self.vertices.iter().map(|&v| positions(v)).collect();
        let origin = places.iter().sum::<DVec3>() / places.len().max(1) as f64;
        places.iter_mut().for_each(|p| *p -= origin);
        for rim in &self.rims {
            places.push(rim.iter().map(|&v| places[v as usize]).sum::<DVec3>() / rim.len() as f64);
        }
        let six = run.sum(self.triangles.len(), |t| {
            let [a, b, c] = self.triangles[t].map(|v| places[v as usize]);
            a.dot(b.cross(c))
        });
        six / 6.0
    }
}

/// The pieces of all skinned parts, by their first vertex.
pub(super) fn pieces(body: &Body, bones: &Bones, run: &Run<'_>) -> Vec<Piece> {
    let names = merged(body, bones);
    let skinned = |t: &[u32; 3]| names[t[0] as usize] != NONE;
    let triangles: Vec<[u32; 3]> = body.mesh.triangles.iter().copied().filter(skinned).collect();
    let joined = renamed(&triangles, &names);
    let vertices = body.mesh.positions.len();
    let parts = components(vertices, &joined);
    let mut pieces: Vec<Piece> = (0..parts.count).map(|_| Piece::empty()).collect();
    let piece_of = |v: u32| match names[v as usize] {
        NONE => NONE,
        name => parts.of_vertex[name as usize],
    };
    let mut place = vec![NONE; vertices];
    for v in 0..vertices as u32 {
        let piece = piece_of(v);
        if piece != NONE {
            let piece = &mut pieces[piece as usize];
            place[v as usize] = piece.vertices.len() as u32;
            piece.vertices.push(v);
            // The first at a place has the smallest number, and so its place already.
            piece.names.push(place[names[v as usize] as usize]);
        }
    }
    for (own, named) in triangles.iter().zip(&joined) {
        let piece = parts.of_vertex[named[0] as usize];
        if piece != NONE && !is_index_degenerate(*named) {
            pieces[piece as usize].triangles.push(own.map(|v| place[v as usize]));
        }
    }
    for piece in &mut pieces {
        piece.part = part_of(body, piece.vertices[0]);
        piece.finish(&body.mesh.positions, run);
    }
    pieces
}

/// The part of the body a vertex is in.
pub(super) fn part_of(body: &Body, vertex: u32) -> u32 {
    body.parts.partition_point(|p| p.vertices.end <= vertex) as u32
}

/// For each vertex the first one at its place that moves with it; `NONE` for those without a skin.
fn merged(body: &Body, bones: &Bones) -> Vec<u32> {
    let at = coincident(&body.mesh.positions);
    let weights = body.weights();
    let mut first: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
    let mut names = vec![NONE; at.len()];
    for (part, own) in body.parts.iter().enumerate() {
        let Some(binding) = bones.binding(part) else { continue };
        let row = |v: u32| weights.of(v as usize);
        for v in own.vertices.clone() {
            let here = first.entry((at[v as usize], binding.skeleton())).or_default();
            let same = here.iter().copied().find(|&o| alike(bones, body, [o, v], row(o), row(v)));
            if same.is_none() {
                here.push(v);
            }
            names[v as usize] = same.unwrap_or(v);
        }
    }
    names
}

/// Whether two vertices are bound to the same bones with the same weights.
fn alike(
    bones: &Bones,
    body: &Body,
    [a, b]: [u32; 2],
    mut row_a: impl ExactSizeIterator<Item = (u16, f32)>,
    mut row_b: impl ExactSizeIterator<Item = (u16, f32)>,
) -> bool {
    let binding = |v: u32| bones.binding(part_of(body, v) as usize);
    let (Some(of_a), Some(of_b)) = (binding(a), binding(b)) else { return false };
    row_a.len() == row_b.len()
        && row_a.all(|(joint, w)| {
            let other = row_b.next();
            other.is_some_and(|(j, x)| of_a.bone(joint) == of_b.bone(j) && w == x)
        })
}

impl Piece {
    fn empty() -> Self {
        Self {
            vertices: Vec::new(),
            part: 0,
            triangles: Vec::new(),
            own: 0,
            rims: Vec::new(),
            across: Vec::new(),
            refusal: None,
            bound_volume: 0.0,
            names: Vec::new(),
        }
    }

    /// Closes the holes and finds neighbours, or the reason why the piece has no inside.
    fn finish(&mut self, positions: &[Vec3], run: &Run<'_>) {
        self.own = self.triangles.len();
        let joined = renamed(&self.triangles, &self.names);
        let kind = topology(self.vertices.len(), &joined, run);
        if kind.nonmanifold_edges > 0 {
            self.refusal = Some(Refusal::NonManifold { edges: kind.nonmanifold_edges });
        } else if kind.misoriented_edges > 0 {
            self.refusal = Some(Refusal::Misoriented { edges: kind.misoriented_edges });
        }
        if self.refusal.is_some() {
            return;
        }
        if kind.boundary_edges > 0 {
            self.rims = boundary_loops(self.vertices.len(), &joined);
            for (k, rim) in self.rims.iter().enumerate() {
                let center = (self.vertices.len() + k) as u32;
                let next = rim.iter().cycle().skip(1);
                self.triangles.extend(rim.iter().zip(next).map(|(&a, &b)| [b, a, center]));
            }
        }
        self.bound_volume = self.volume(|v| positions[v as usize].as_dvec3(), run);
        self.refusal = self.hollow(positions);
        let names: Vec<u32> = (0..self.places() as u32)
            .map(|v| self.names.get(v as usize).copied().unwrap_or(v))
            .collect();
        self.across = across(&renamed(&self.triangles, &names));
    }

    /// Whether it encloses nothing worth the name.
    fn hollow(&self, positions: &[Vec3]) -> Option<Refusal> {
        let at = |v: u32| positions[v as usize].as_dvec3();
        let mut places: Vec<DVec3> = self.vertices.iter().map(|&v| at(v)).collect();
        for rim in &self.rims {
            places.push(rim.iter().map(|&v| places[v as usize]).sum::<DVec3>() / rim.len() as f64);
        }
        let area = |triangles: &[[u32; 3]]| -> f64 {
            let one = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|v| places[v as usize]);
                0.5 * (b - a).cross(c - a).norm()
            };
            triangles.iter().map(one).sum()
        };
        let (own, fans) = (area(&self.triangles[..self.own]), area(&self.triangles[self.own..]));
        if fans > MOSTLY_HOLE * own {
            return Some(Refusal::Sheet);
        }
        let volume = self.bound_volume.abs();
        let flat = volume.is_nan() || volume <= 1e-6 * own.powf(1.5);
        flat.then_some(Refusal::Flat)
    }
}

/// The triangle on the other side of every side.
fn across(triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut sides: Vec<([u32; 2], u32, bool)> = Vec::with_capacity(3 * triangles.len());
    for (t, &[a, b, c]) in (0..).zip(triangles) {
        for (k, [from, to]) in (0..).zip([[a, b], [b, c], [c, a]]) {
            sides.push(([from.min(to), from.max(to)], 3 * t + k, from < to));
        }
    }
    sides.sort_unstable();
    let mut across = vec![[NONE; 3]; triangles.len()];
    for edge in sides.chunk_by(|a, b| a.0 == b.0) {
        if let [one, other] = edge {
            across[one.1 as usize / 3][one.1 as usize % 3] = other.1 / 3;
            across[other.1 as usize / 3][other.1 as usize % 3] = one.1 / 3;
        }
    }
    across
}

//! The skin as it moves: vertices at one place that are bound alike are one, and what encloses a volume is closed.
//!
//! Files split vertices by normals, texture coordinates and materials; all of them get one displacement. For the
//! volume only the orientation counts: what the triangles leave open, as a chain of edges, is closed by fans to the
//! mean of each rim. That holds for edges with three triangles and for triangles that face the wrong way, too: a
//! flipped one is given back twice by its fan.

use std::collections::BTreeMap;

use glam::{DVec3, Vec3};

use super::super::bones::Bones;
use super::super::surface::{NONE, part_of};
use crate::lengths::Lengths as _;
use crate::mesh::adjacency::{
    Rows, coincident, components, is_index_degenerate, renamed, vertex_corners, vertex_vertices,
};
use crate::rig::Body;

/// Weights that differ by less are one: those of a seam, rounded by an exporter.
const ALIKE: f64 = 0.005;

/// Fans that make up more of a piece than this close nothing: it is a sheet, a cape or a strip.
const MOSTLY_HOLE: f64 = 0.6;

/// The bones of a vertex with their weights, which add up to one; empty for a vertex that nothing moves.
pub(super) type Row = Vec<(u32, f64)>;

/// The welded skin of a body.
#[derive(Clone, Debug)]
pub(super) struct Welded {
    /// The welded vertex of each vertex of the body; `NONE` without a skin.
    pub(super) of_vertex: Vec<u32>,
    /// The first vertex of the body in each.
    pub(super) first: Vec<u32>,
    pub(super) rows: Vec<Row>,
    /// Where each is bound, in the space of its skeleton.
    pub(super) at: Vec<DVec3>,
    /// Neighbours along edges.
    pub(super) around: Rows,
    /// Its triangles, without those that are none.
    pub(super) triangles: Vec<[u32; 3]>,
    /// Vertices of pieces that one bone carries.
    pub(super) rigid: Vec<bool>,
    /// The triangles of pieces that enclose something, facing out, then fans: the mean of rim `k` is at
    /// `first.len() + k`.
    pub(super) closed: Vec<[u32; 3]>,
    pub(super) rims: Vec<Vec<u32>>,
    /// The corners of `closed` at each place.
    pub(super) corners: Rows,
}

impl Welded {
    pub(super) fn new(body: &Body, bones: &Bones) -> Self {
        let bound = bound(body, bones, &body.mesh.positions);
        let (of_vertex, first, rows) = weld(body, bones, &bound);
        let at: Vec<DVec3> = first.iter().map(|&v| bound[v as usize]).collect();
        let skinned = |t: &&[u32; 3]| t.iter().all(|&v| of_vertex[v as usize] != NONE);
        let own: Vec<[u32; 3]> = body.mesh.triangles.iter().filter(skinned).copied().collect();
        let mut triangles = renamed(&own, &of_vertex);
        triangles.retain(|t| !is_index_degenerate(*t));
        let around = vertex_vertices(first.len(), &triangles);
        let mut welded = Self {
            of_vertex,
            first,
            rows,
            at,
            around,
            triangles,
            rigid: Vec::new(),
            closed: Vec::new(),
            rims: Vec::new(),
            corners: vertex_corners(0, &[]),
        };
        welded.close();
        welded.corners = vertex_corners(welded.places(), &welded.closed);
        welded
    }

    pub(super) fn len(&self) -> usize {
        self.first.len()
    }

    /// How many numbers the closed triangles use: vertices and means of rims.
    pub(super) fn places(&self) -> usize {
        self.first.len() + self.rims.len()
    }

    /// Where the welded vertices are for positions of the body that are bound, in their skeleton's space.
    pub(super) fn bound(&self, body: &Body, bones: &Bones, positions: &[Vec3]) -> Vec<DVec3> {
        let bound = bound(body, bones, positions);
        self.first.iter().map(|&v| bound[v as usize]).collect()
    }

    /// Adds the means of rims to values at the vertices.
    pub(super) fn with_means(&self, values: &mut Vec<DVec3>) {
        values.truncate(self.len());
        for rim in &self.rims {
            let sum: DVec3 = rim.iter().map(|&v| values[v as usize]).sum();
            values.push(sum / rim.len() as f64);
        }
    }

    /// Finds the pieces, which of them are rigid, and closes those that enclose something.
    fn close(&mut self) {
        let pieces = components(self.len(), &self.triangles);
        let mut bone: Vec<Option<u32>> = vec![None; pieces.count];
        let mut is_rigid = vec![true; pieces.count];
        for (row, &piece) in self.rows.iter().zip(&pieces.of_vertex).filter(|p| *p.1 != NONE) {
            let only = match row[..] {
                [(bone, _)] => Some(bone),
                _ => None,
            };
            let known = *bone[piece as usize].get_or_insert(only.unwrap_or(NONE));
            is_rigid[piece as usize] &= only == Some(known);
        }
        self.rigid = pieces.of_vertex.iter().map(|&p| p == NONE || is_rigid[p as usize]).collect();
        let mut of_piece: Vec<Vec<[u32; 3]>> = vec![Vec::new(); pieces.count];
        for t in &self.triangles {
            of_piece[pieces.of_vertex[t[0] as usize] as usize].push(*t);
        }
        for triangles in of_piece {
            self.close_piece(triangles);
        }
    }

    fn close_piece(&mut self, mut triangles: Vec<[u32; 3]>) {
        let own = triangles.len();
        let rims = rims(&triangles);
        let mut means = Vec::new();
        for (rim, sides) in &rims {
            let mean = (self.places() + means.len()) as u32;
            let sum: DVec3 = rim.iter().map(|&v| self.at[v as usize]).sum();
            means.push(sum / rim.len() as f64);
            triangles.extend(sides.iter().map(|&[a, b]| [b, a, mean]));
        }
        let first_mean = self.places();
        let at = |v: u32| match (v as usize).checked_sub(first_mean) {
            Some(k) => means[k],
            None => self.at[v as usize],
        };
        let Some(origin) = triangles.first().map(|t| at(t[0])) else { return };
        let corners = |t: &[u32; 3]| t.map(|v| at(v) - origin);
        let area = |t: &[u32; 3]| {
            let [a, b, c] = corners(t);
            0.5 * (b - a).cross(c - a).norm()
        };
        let [shell, fans] =
            [&triangles[..own], &triangles[own..]].map(|t| t.iter().map(area).sum::<f64>());
        let six = |t: &[u32; 3]| {
            let [a, b, c] = corners(t);
            a.dot(b.cross(c))
        };
        let volume = triangles.iter().map(six).sum::<f64>() / 6.0;
        let encloses = fans <= MOSTLY_HOLE * shell && volume.abs() > 1e-6 * shell.powf(1.5);
        if !encloses {
            return;
        }
        if volume < 0.0 {
            triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        self.closed.extend(triangles);
        self.rims.extend(rims.into_iter().map(|r| r.0));
    }
}

/// Where the vertices are bound, in the space of their skeleton.
fn bound(body: &Body, bones: &Bones, positions: &[Vec3]) -> Vec<DVec3> {
    let mut bound: Vec<DVec3> = positions.iter().map(|x| x.as_dvec3()).collect();
    for (part, own) in body.parts.iter().enumerate() {
        let Some(binding) = bones.binding(part) else { continue };
        let to_skeleton = binding.to_skeleton();
        if to_skeleton != glam::DMat4::IDENTITY {
            for x in &mut bound[own.vertices.start as usize..own.vertices.end as usize] {
                *x = to_skeleton.transform_point3(*x);
            }
        }
    }
    bound
}

/// For each vertex the welded one it belongs to, the first of each of these, and their rows.
fn weld(body: &Body, bones: &Bones, bound: &[DVec3]) -> (Vec<u32>, Vec<u32>, Vec<Row>) {
    let rounded: Vec<Vec3> = bound.iter().map(|x| x.as_vec3()).collect();
    let place = coincident(&rounded);
    let (mut first, mut rows): (Vec<u32>, Vec<Row>) = (Vec::new(), Vec::new());
    // The skeleton and the welded vertices at each place.
    let mut at_place: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    let mut of_vertex = vec![NONE; bound.len()];
    for v in 0..bound.len() as u32 {
        let Some(binding) = bones.binding(part_of(body, v) as usize) else { continue };
        let row = row(body, bones, v);
        let here = at_place.entry((place[v as usize], binding.skeleton())).or_default();
        let same = here.iter().copied().find(|&w| alike(&rows[w as usize], &row));
        let welded = same.unwrap_or(first.len() as u32);
        if same.is_none() {
            here.push(welded);
            first.push(v);
            rows.push(row);
        }
        of_vertex[v as usize] = welded;
    }
    (of_vertex, first, rows)
}

/// The bones of a vertex, each once, in rising order.
fn row(body: &Body, bones: &Bones, vertex: u32) -> Row {
    let Some(binding) = bones.binding(part_of(body, vertex) as usize) else { return Row::new() };
    let mut row = Row::new();
    for (joint, w) in body.weights().of(vertex as usize) {
        let (bone, w) = (binding.bone(joint), f64::from(w));
        match row.iter_mut().find(|r| r.0 == bone) {
            Some(known) => known.1 += w,
            None => row.push((bone, w)),
        }
    }
    row.retain(|r| r.1 != 0.0);
    row.sort_unstable_by_key(|r| r.0);
    let total: f64 = row.iter().map(|r| r.1).sum();
    let share = total.recip();
    if !share.is_finite() || share == 0.0 {
        return Row::new();
    }
    row.iter_mut().for_each(|r| r.1 *= share);
    row
}

fn alike(a: &Row, b: &Row) -> bool {
    let of = |row: &Row, bone: u32| row.iter().find(|r| r.0 == bone).map_or(0.0, |r| r.1);
    let near = |row: &Row| row.iter().all(|&(bone, _)| (of(a, bone) - of(b, bone)).abs() < ALIKE);
    a.is_empty() == b.is_empty() && near(a) && near(b)
}

/// The rims of some triangles: vertices and sides that run as the triangles do, as often as they are left over.
fn rims(triangles: &[[u32; 3]]) -> Vec<(Vec<u32>, Vec<[u32; 2]>)> {
    let mut net: BTreeMap<[u32; 2], i32> = BTreeMap::new();
    for &[a, b, c] in triangles {
        for [from, to] in [[a, b], [b, c], [c, a]] {
            let (key, sign) = if from < to { ([from, to], 1) } else { ([to, from], -1) };
            *net.entry(key).or_default() += sign;
        }
    }
    let mut sides = Vec::new();
    for ([a, b], count) in net {
        let side = if count > 0 { [a, b] } else { [b, a] };
        sides.extend(std::iter::repeat_n(side, count.unsigned_abs() as usize));
    }
    // Numbered among themselves, so that many small pieces cost no more than they are.
    let mut names: Vec<u32> = sides.as_flattened().to_vec();
    names.sort_unstable();
    names.dedup();
    let number = |v: u32| names.partition_point(|&n| n < v) as u32;
    let links: Vec<[u32; 2]> = sides.iter().map(|side| side.map(number)).collect();
    let parts = joined(names.len(), &links);
    let count = parts.iter().max().map_or(0, |m| *m as usize + 1);
    let mut rims: Vec<(Vec<u32>, Vec<[u32; 2]>)> = vec![(Vec::new(), Vec::new()); count];
    for (&name, &part) in names.iter().zip(&parts) {
        rims[part as usize].0.push(name);
    }
    for (side, link) in sides.iter().zip(&links) {
        rims[parts[link[0] as usize] as usize].1.push(*side);
    }
    rims
}

/// Which part each of some vertices is in that links hold together, numbered by first vertex.
fn joined(vertices: usize, links: &[[u32; 2]]) -> Vec<u32> {
    let mut lowest: Vec<u32> = (0..vertices as u32).collect();
    let root = |lowest: &[u32], mut v: u32| {
        while lowest[v as usize] != v {
            v = lowest[v as usize];
        }
        v
    };
    for &[a, b] in links {
        let (a, b) = (root(&lowest, a), root(&lowest, b));
        lowest[a.max(b) as usize] = a.min(b);
    }
    let (mut part, mut count) = (vec![0; vertices], 0);
    for v in 0..vertices {
        let root = root(&lowest, v as u32) as usize;
        if root == v {
            part[v] = count;
            count += 1;
        } else {
            part[v] = part[root];
        }
    }
    part
}

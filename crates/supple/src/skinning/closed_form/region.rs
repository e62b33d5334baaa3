//! Where a joint blends: the triangles whose volume it changes, prepared once.
//!
//! For each bone, `w` is the summed weight of its subtree. Triangles whose corners all have `w = 0` stay,
//! those with `w = 1` move rigidly about the joint: only the others are summed. The rigid rest is
//! replaced by a cone from the joint to its rim, which has the same volume change and a few hundred
//! triangles at most. Bones of one level whose triangles overlap (both hips) are one region and move
//! together, so that their order does not matter.

use std::collections::HashMap;

use glam::DVec3;

use super::super::bones::Bones;
use super::super::paint::Paint;
use super::super::surface::{NONE, Piece};
use super::sums::{Pair, WIDTH, paired};
use crate::mesh::adjacency::{Rows, vertex_triangles};
use crate::rig::Body;

/// Weights this near to 0 or 1 are rounding.
const SNAP: f64 = 1e-6;

/// Where a vertex that is not blended is: with which bone, bound in which part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Carrier {
    /// `NONE` for a vertex without weights, which stays where it is bound.
    pub(super) bone: u32,
    pub(super) part: u32,
}

/// A piece with all that can be known before a pose.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub(super) piece: Piece,
    /// The ways unblended vertices are carried.
    pub(super) carriers: Vec<Carrier>,
    /// Vertices that some bone blends or displaces: places in the piece.
    pub(super) live: Vec<u32>,
    /// How each of them is carried until then, and its way out of the skeleton, (6.7).
    pub(super) start: Vec<(u32, DVec3)>,
    /// The regions, parents first.
    pub(super) regions: Vec<Region>,
}

/// Bones of one level whose triangles overlap; mostly one.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub(super) members: Vec<Member>,
    /// Its vertices: places in the piece.
    pub(super) vertices: Vec<u32>,
    /// Where each comes from: one of the live ones, or carried.
    pub(super) sources: Vec<Source>,
    /// The live ones in rising order: their numbers, and which of its vertices they are.
    pub(super) live: Vec<[u32; 2]>,
    /// Rims of holes, as places in `vertices`; their centroids come after the vertices.
    pub(super) rims: Vec<Vec<u32>>,
    /// How many triangles there are.
    pub(super) triangles: usize,
    /// They, two by two: vertices, then centroids, then the joint of each member, then zero.
    pub(super) pairs: Vec<Pair>,
}

impl Region {
    /// The place of the record of zeros.
    pub(super) fn zero(&self) -> u32 {
        (self.vertices.len() + self.rims.len() + self.members.len()) as u32
    }
}

/// One bone of a region.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) bone: u32,
    /// Summed weight of its subtree at each vertex, zero up to the end of a block.
    pub(super) weights: Vec<f64>,
    /// How freely each vertex may be displaced for it: S of (6.9).
    pub(super) freedom: Vec<f64>,
    /// The largest of them.
    pub(super) most_freedom: f64,
}

/// Where a vertex of a region comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// This one of the live vertices.
    Live(u32),
    /// Carried in this way.
    Carried(u32),
}

/// What is known of a piece while its regions are made.
struct Building<'a> {
    body: &'a Body,
    bones: &'a Bones,
    paint: &'a Paint<'a>,
    piece: &'a Piece,
    /// For each vertex its bones with their subtree weights, never zero.
    rows: Vec<Vec<(u32, f64)>>,
    /// The deepest bone that carries it whole; `NONE` without weights.
    anchors: Vec<u32>,
    /// The first level at which it is blended or displaced.
    live_from: Vec<u32>,
    parts: Vec<u32>,
    around: Rows,
    carriers: HashMap<Carrier, u32>,
    live_number: Vec<u32>,
}

/// What one bone does to a piece.
struct Reach {
    bone: u32,
    /// By place in the piece, centroids included.
    weights: Vec<f64>,
    freedom: Vec<f64>,
    triangles: Vec<u32>,
    /// Vertices it must carry though none of their triangles changes.
    carried: Vec<u32>,
}

/// Finds the regions of a piece.
pub(super) fn prepare(body: &Body, bones: &Bones, paint: &Paint<'_>, piece: Piece) -> Prepared {
    let mut building = Building::new(body, bones, paint, &piece);
    let (live, start) = building.live();
    let mut regions = Vec::new();
    if piece.refusal.is_none() {
        let deepest = bones.bones.iter().map(|b| b.level).max().unwrap_or(0);
        for level in 1..=deepest {
            let reaches = building.reaches(level);
            for group in overlapping(&reaches, piece.triangles.len()) {
                let group: Vec<&Reach> = group.into_iter().map(|i| &reaches[i]).collect();
                regions.push(building.region(&group, level));
            }
        }
    }
    let mut carriers = vec![Carrier { bone: NONE, part: 0 }; building.carriers.len()];
    let numbered = std::mem::take(&mut building.carriers);
    // Numbers are unique: the order in which they are met does not matter.
    #[expect(clippy::iter_over_hash_type, reason = "each entry goes to its own place")]
    for (carrier, number) in numbered {
        carriers[number as usize] = carrier;
    }
    Prepared { carriers, live, start, regions, piece }
}

impl<'a> Building<'a> {
    fn new(body: &'a Body, bones: &'a Bones, paint: &'a Paint<'a>, piece: &'a Piece) -> Self {
        let n = piece.vertices.len();
        let mut building = Self {
            body,
            bones,
            paint,
            piece,
            rows: Vec::with_capacity(n),
            anchors: Vec::with_capacity(n),
            live_from: Vec::with_capacity(n),
            parts: Vec::with_capacity(n),
            around: vertex_triangles(piece.places(), &piece.triangles),
            carriers: HashMap::new(),
            live_number: vec![NONE; n],
        };
        let mut part = piece.part;
        for &v in &piece.vertices {
            while body.parts[part as usize].vertices.end <= v {
                part += 1;
            }
            let row = building.subtree_weights(v, part);
            let level = |b: &(u32, f64)| bones.bones[b.0 as usize].level;
            let whole = row.iter().filter(|b| b.1 == 1.0);
            let anchor = whole.max_by_key(|b| level(b)).map_or(NONE, |b| b.0);
            let moved = |b: &&(u32, f64)| {
                b.1 != 1.0 || paint.freedom(b.0, part as usize, v, b.1 * (1.0 - b.1)) != 0.0
            };
            let blended = row.iter().filter(moved).map(level);
            let painted = paint.own().iter().filter(|(_, s)| s[v as usize] != 0.0);
            let painted = painted.map(|(b, _)| bones.bones[*b as usize].level);
            let first = blended.chain(painted).min().unwrap_or(NONE);
            building.rows.push(row);
            building.anchors.push(anchor);
            building.live_from.push(first);
            building.parts.push(part);
        }
        building
    }

    /// The bones that have a share in a vertex, their own or a descendant's.
    fn subtree_weights(&self, vertex: u32, part: u32) -> Vec<(u32, f64)> {
        let mut row: Vec<(u32, f64)> = Vec::new();
        let weights = self.body.weights();
        let total: f64 = weights.of(vertex as usize).map(|(_, w)| f64::from(w)).sum();
        let Some(binding) = self.bones.binding(part as usize) else { return row };
        if total == 0.0 || !total.is_finite() {
            return row;
        }
        for (joint, w) in weights.of(vertex as usize) {
            let mut bone = Some(binding.bone(joint));
            while let Some(b) = bone {
                let share = f64::from(w) / total;
                match row.iter_mut().find(|r| r.0 == b) {
                    Some(known) => known.1 += share,
                    None => row.push((b, share)),
                }
                bone = self.bones.bones[b as usize].parent;
            }
        }
        for (_, w) in &mut row {
            if (*w - 1.0).abs() < SNAP {
                *w = 1.0;
            }
        }
        row.retain(|b| b.1.abs() >= SNAP);
        row
    }

    /// The vertices that are ever blended, and how they begin.
    fn live(&mut self) -> (Vec<u32>, Vec<(u32, DVec3)>) {
        let mut live = Vec::new();
        let mut start = Vec::new();
        for v in 0..self.rows.len() {
            let level = self.live_from[v];
            if level != NONE && self.piece.refusal.is_none() {
                self.live_number[v] = live.len() as u32;
                live.push(v as u32);
                let carrier = self.carrier(v, level.saturating_sub(1));
                start.push((carrier, self.way_out(v)));
            }
        }
        (live, start)
    }

    /// The number of the way a vertex is carried at a level.
    fn carrier(&mut self, place: usize, level: u32) -> u32 {
        let bone = match self.anchors[place] {
            NONE => NONE,
            anchor => self.bones.climb(anchor, level),
        };
        let next = self.carriers.len() as u32;
        *self.carriers.entry(Carrier { bone, part: self.parts[place] }).or_insert(next)
    }

    /// (6.7), in the skeleton's space.
    fn way_out(&self, place: usize) -> DVec3 {
        let vertex = self.piece.vertices[place] as usize;
        let Some(binding) = self.bones.binding(self.parts[place] as usize) else {
            return DVec3::ZERO;
        };
        let x = binding.to_skeleton().transform_point3(self.body.mesh.positions[vertex].as_dvec3());
        let weights = self.body.weights();
        let total: f64 = weights.of(vertex).map(|(_, w)| f64::from(w)).sum();
        if total == 0.0 || !total.is_finite() {
            return DVec3::ZERO;
        }
        let away = |(joint, w): (u16, f32)| {
            f64::from(w) / total * self.bones.bones[binding.bone(joint) as usize].away(x)
        };
        let out: DVec3 = weights.of(vertex).map(away).sum();
        if out.is_finite() { out } else { DVec3::ZERO }
    }

    /// What the bones of one level do.
    fn reaches(&self, level: u32) -> Vec<Reach> {
        let at_level = |b: &u32| {
            let bone = &self.bones.bones[*b as usize];
            bone.level == level && bone.parent.is_some()
        };
        let mut by_bone: HashMap<u32, Vec<u32>> = HashMap::new();
        for (v, row) in (0..).zip(&self.rows) {
            for (bone, _) in row.iter().filter(|b| at_level(&b.0)) {
                by_bone.entry(*bone).or_default().push(v);
            }
        }
        let own = self.paint.own().iter().map(|o| o.0).filter(at_level);
        let mut bones: Vec<u32> = by_bone.keys().copied().chain(own).collect();
        bones.sort_unstable();
        bones.dedup();
        let reach = |b: u32| self.reach(b, by_bone.get(&b).map_or(&[][..], |v| v), level);
        bones
            .into_iter()
            .map(reach)
            .filter(|r| !r.triangles.is_empty() || !r.carried.is_empty())
            .collect()
    }

    fn reach(&self, bone: u32, moved: &[u32], level: u32) -> Reach {
        let places = self.piece.places();
        let (mut weights, mut freedom) = (vec![0.0; places], vec![0.0; places]);
        let mut carried = Vec::new();
        for &v in moved {
            let v = v as usize;
            let w = self.rows[v].iter().find(|b| b.0 == bone).map_or(0.0, |b| b.1);
            weights[v] = w;
            freedom[v] = self.paint.freedom(
                bone,
                self.parts[v] as usize,
                self.piece.vertices[v],
                w * (1.0 - w),
            );
            if self.live_from[v] <= level {
                carried.push(v as u32);
            }
        }
        let mut touched = moved.to_vec();
        if let Some((_, painted)) = self.paint.own().iter().find(|o| o.0 == bone) {
            for (v, &vertex) in self.piece.vertices.iter().enumerate() {
                freedom[v] = f64::from(painted[vertex as usize]);
                if freedom[v] != 0.0 {
                    touched.push(v as u32);
                }
            }
        }
        self.mark_centroids(&mut weights, &mut freedom);
        let mut triangles: Vec<u32> =
            touched.iter().flat_map(|&v| self.around.row(v as usize)).copied().collect();
        triangles.sort_unstable();
        triangles.dedup();
        triangles.retain(|&t| {
            let corners = self.piece.triangles[t as usize].map(|v| v as usize);
            let still = corners.iter().all(|&v| freedom[v] == 0.0);
            let all = |w: f64| corners.iter().all(|&v| weights[v] == w);
            !(still && (all(0.0) || all(1.0)))
        });
        Reach { bone, weights, freedom, triangles, carried }
    }

    /// Rims that move as one carry their centroid; those that do not make all their fans change.
    fn mark_centroids(&self, weights: &mut [f64], freedom: &mut [f64]) {
        for (k, rim) in self.piece.rims.iter().enumerate() {
            let center = self.piece.vertices.len() + k;
            let first = weights[rim[0] as usize];
            let rigid = (first == 0.0 || first == 1.0)
                && rim.iter().all(|&v| weights[v as usize] == first && freedom[v as usize] == 0.0);
            weights[center] = if rigid { first } else { 0.5 };
            freedom[center] = 0.0;
        }
    }

    fn region(&mut self, group: &[&Reach], level: u32) -> Region {
        let mut triangles: Vec<u32> = group.iter().flat_map(|r| &r.triangles).copied().collect();
        triangles.sort_unstable();
        triangles.dedup();
        let own = self.piece.vertices.len() as u32;
        let corners = triangles.iter().flat_map(|&t| self.piece.triangles[t as usize]);
        let (mut vertices, mut centers): (Vec<u32>, Vec<u32>) = corners.partition(|&v| v < own);
        vertices.extend(group.iter().flat_map(|r| &r.carried));
        for list in [&mut vertices, &mut centers] {
            list.sort_unstable();
            list.dedup();
        }
        let place = |v: u32| -> u32 {
            let found = if v < own {
                vertices.partition_point(|&o| o < v)
            } else {
                vertices.len() + centers.partition_point(|&o| o < v)
            };
            found as u32
        };
        let rims: Vec<Vec<u32>> = centers
            .iter()
            .map(|&c| self.piece.rims[(c - own) as usize].iter().map(|&v| place(v)).collect())
            .collect();
        let mut local: Vec<[u32; 3]> =
            triangles.iter().map(|&t| self.piece.triangles[t as usize].map(place)).collect();
        let first_joint = (vertices.len() + centers.len()) as u32;
        for [a, b, member] in self.rims_of_rest(group, &triangles) {
            local.push([place(a), place(b), first_joint + member]);
        }
        let members: Vec<_> = group.iter().map(|r| Member::new(r, &vertices)).collect();
        let sources: Vec<Source> =
            vertices.iter().map(|&v| self.source(v as usize, level)).collect();
        let live = (0..).zip(&sources).filter_map(|(k, source)| match *source {
            Source::Live(number) => Some([number, k]),
            Source::Carried(_) => None,
        });
        let live = live.collect();
        let zero = vertices.len() + rims.len() + members.len();
        let pairs = paired(&local, zero as u32);
        Region { members, vertices, sources, live, rims, triangles: local.len(), pairs }
    }

    fn source(&mut self, place: usize, level: u32) -> Source {
        if self.live_from[place] <= level {
            return Source::Live(self.live_number[place]);
        }
        Source::Carried(self.carrier(place, level - 1))
    }

    /// Sides at which the region meets what a member moves rigidly, as the rigid side runs along them,
    /// with the member's number.
    fn rims_of_rest(&self, group: &[&Reach], active: &[u32]) -> Vec<[u32; 3]> {
        let mut rims = Vec::new();
        for &t in active {
            let [a, b, c] = self.piece.triangles[t as usize];
            for ([from, to], other) in
                [[a, b], [b, c], [c, a]].into_iter().zip(self.piece.across[t as usize])
            {
                if other == NONE || active.binary_search(&other).is_ok() {
                    continue;
                }
                let corner = self.piece.triangles[other as usize][0] as usize;
                let whole = |r: &&&Reach| r.weights[corner] == 1.0;
                if let Some(member) = group.iter().position(|r| whole(&r)) {
                    rims.push([to, from, member as u32]);
                }
            }
        }
        rims
    }
}

impl Member {
    /// Whether it blends or displaces a vertex of its region.
    pub(super) fn touches(&self, vertex: usize) -> bool {
        let w = self.weights[vertex];
        self.freedom[vertex] != 0.0 || (w != 0.0 && w != 1.0)
    }

    fn new(reach: &Reach, vertices: &[u32]) -> Self {
        let of_blocks = |all: &[f64]| {
            let mut some: Vec<f64> = vertices.iter().map(|&v| all[v as usize]).collect();
            some.resize(vertices.len().next_multiple_of(WIDTH), 0.0);
            some
        };
        let (weights, freedom) = (of_blocks(&reach.weights), of_blocks(&reach.freedom));
        let most_freedom = freedom.iter().fold(0.0_f64, |m, s| m.max(s.abs()));
        Self { bone: reach.bone, weights, freedom, most_freedom }
    }
}

/// Groups of bones that change the same triangles, by their first bone.
fn overlapping(reaches: &[Reach], triangles: usize) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..reaches.len()).collect();
    let mut owner = vec![NONE; triangles];
    for (i, reach) in reaches.iter().enumerate() {
        for &t in &reach.triangles {
            let other = owner[t as usize];
            owner[t as usize] = i as u32;
            if other != NONE && group[other as usize] != group[i] {
                let (from, to) =
                    (group[i].max(group[other as usize]), group[i].min(group[other as usize]));
                group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
            }
        }
    }
    let heads = (0..reaches.len()).filter(|&i| group[i] == i);
    heads.map(|head| (0..reaches.len()).filter(|&i| group[i] == head).collect()).collect()
}

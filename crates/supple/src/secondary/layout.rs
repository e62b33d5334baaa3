//! The vertices of a body in blocks of neighbours that hang on the same joints.

use std::ops::Range;

use glam::{Mat4, Vec3};

use crate::lanes::{Lanes, WIDTH};
use crate::mesh::measure::Bounds;
use crate::rig::Body;

/// Vertices of a block: two registers full, so that the long chains of operations of one fill the waits of
/// the other.
pub(super) const BLOCK: usize = 2 * WIDTH;

/// A vertex that no set can move.
const NOWHERE: u32 = u32::MAX;

/// All vertices that sets may move, in blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) blocks: Vec<VertexBlock>,
    influences: Vec<Influence>,
    /// For each vertex of the body, [`BLOCK`] times its block plus its lane.
    slots: Vec<u32>,
}

/// [`BLOCK`] vertices; where there are fewer the last is repeated.
#[derive(Clone, Debug)]
pub(super) struct VertexBlock {
    vertices: [u32; BLOCK],
    /// How many of them count.
    pub(super) count: usize,
    /// Where they were bound.
    bound: Lanes<BLOCK>,
    /// How much of the effect each takes.
    pub(super) shares: [f32; BLOCK],
    influences: Range<usize>,
    /// True if every vertex hangs on one joint alone: it is where that joint carries it.
    is_rigid: bool,
}

/// What one joint means to the vertices of a block; weights add up to one over the joints.
#[derive(Clone, Debug)]
pub(super) struct Influence {
    pub(super) joint: u16,
    pub(super) weights: [f32; BLOCK],
}

impl Layout {
    /// Gathers the vertices that hang on a joint with sets; `shares` are painted weights.
    pub(super) fn new(body: &Body, has_sets: &[bool], shares: Option<&[f32]>) -> Self {
        let rows = rows(body, has_sets, shares);
        let mut layout =
            Self { slots: vec![NOWHERE; body.mesh.positions.len()], ..Self::default() };
        for members in rows.chunks(BLOCK) {
            let block = layout.blocks.len();
            for (lane, row) in members.iter().enumerate() {
                layout.slots[row.vertex as usize] = (block * BLOCK + lane) as u32;
            }
            layout.add(body, members, shares);
        }
        layout
    }

    fn add(&mut self, body: &Body, members: &[Row], shares: Option<&[f32]>) {
        let vertices: [u32; BLOCK] =
            std::array::from_fn(|lane| members[lane.min(members.len() - 1)].vertex);
        let mut joints: Vec<u16> =
            members.iter().flat_map(|r| r.weights.iter().map(|w| w.0)).collect();
        joints.sort_unstable();
        joints.dedup();
        let start = self.influences.len();
        for joint in joints {
            let weight = |lane: usize| {
                let row = &members[lane.min(members.len() - 1)].weights;
                row.iter().filter(|w| w.0 == joint).map(|w| w.1).sum()
            };
            self.influences.push(Influence { joint, weights: std::array::from_fn(weight) });
        }
        let mut bound = Lanes::ZERO;
        for (lane, &vertex) in vertices.iter().enumerate() {
            bound.set(lane, body.mesh.positions[vertex as usize]);
        }
        self.blocks.push(VertexBlock {
            vertices,
            count: members.len(),
            bound,
            shares: vertices.map(|v| shares.map_or(1.0, |s| s[v as usize])),
            influences: start..self.influences.len(),
            is_rigid: self.influences.len() == start + 1,
        });
    }

    /// How many vertices the body has.
    pub(super) fn vertices(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn influences(&self, block: &VertexBlock) -> &[Influence] {
        &self.influences[block.influences.clone()]
    }

    /// Block and lane of a vertex, if sets may move it.
    pub(super) fn place(&self, vertex: usize) -> Option<(usize, usize)> {
        let slot = self.slots[vertex];
        (slot != NOWHERE).then_some((slot as usize / BLOCK, slot as usize % BLOCK))
    }
}

impl VertexBlock {
    /// Where its vertices are.
    #[inline(always)]
    pub(super) fn gather(&self, positions: &[Vec3]) -> Lanes<BLOCK> {
        let mut lanes = Lanes::ZERO;
        for (lane, &vertex) in self.vertices.iter().enumerate() {
            lanes.set(lane, positions[vertex as usize]);
        }
        lanes
    }

    /// `e` of the source's (18): where its vertices are, minus where the plain blend puts them; `None`
    /// if one joint carries all of them to where they are.
    #[inline(always)]
    pub(super) fn beyond_blend(
        &self,
        at: &Lanes<BLOCK>,
        influences: &[Influence],
        joints: &[Mat4],
    ) -> Option<Lanes<BLOCK>> {
        if self.is_rigid {
            return None;
        }
        let mut beyond = *at;
        for influence in influences {
            let carried = carry(&self.bound, &joints[usize::from(influence.joint)]);
            for i in 0..BLOCK {
                beyond.x[i] -= influence.weights[i] * carried.x[i];
                beyond.y[i] -= influence.weights[i] * carried.y[i];
                beyond.z[i] -= influence.weights[i] * carried.z[i];
            }
        }
        Some(beyond)
    }

    /// `M x + e`.
    #[inline(always)]
    pub(super) fn carried(&self, joint: &Mat4, beyond: &Lanes<BLOCK>) -> Lanes<BLOCK> {
        let mut lanes = carry(&self.bound, joint);
        for i in 0..BLOCK {
            lanes.x[i] += beyond.x[i];
            lanes.y[i] += beyond.y[i];
            lanes.z[i] += beyond.z[i];
        }
        lanes
    }
}

#[inline(always)]
fn carry(x: &Lanes<BLOCK>, m: &Mat4) -> Lanes<BLOCK> {
    let (a, b, c, t) = (m.x_axis, m.y_axis, m.z_axis, m.w_axis);
    let mut y = Lanes::ZERO;
    for i in 0..BLOCK {
        y.x[i] = a.x * x.x[i] + b.x * x.y[i] + c.x * x.z[i] + t.x;
        y.y[i] = a.y * x.x[i] + b.y * x.y[i] + c.y * x.z[i] + t.y;
        y.z[i] = a.z * x.x[i] + b.z * x.y[i] + c.z * x.z[i] + t.z;
    }
    y
}

/// A vertex with its joints.
struct Row {
    vertex: u32,
    /// In order of joints, adding up to one.
    weights: Vec<(u16, f32)>,
    /// Neighbours in space have neighbouring places.
    place: u32,
}

/// The vertices that sets may move, those on the same joints and near each other together.
fn rows(body: &Body, has_sets: &[bool], shares: Option<&[f32]>) -> Vec<Row> {
    let Some(weights) = &body.mesh.skin_weights else { return Vec::new() };
    let bounds = Bounds::of(&body.mesh.positions).unwrap_or(Bounds::EMPTY);
    let mut rows = Vec::new();
    for (vertex, &x) in body.mesh.positions.iter().enumerate() {
        let total: f32 = weights.of(vertex).map(|w| w.1).sum();
        let is_still = shares.is_some_and(|s| s[vertex] == 0.0);
        let is_near = weights.of(vertex).any(|(joint, _)| has_sets[usize::from(joint)]);
        if is_still || !is_near || total == 0.0 || !total.is_finite() || !x.is_finite() {
            continue;
        }
        let mut own: Vec<(u16, f32)> = weights.of(vertex).map(|(j, w)| (j, w / total)).collect();
        own.sort_unstable_by_key(|w| w.0);
        rows.push(Row { vertex: vertex as u32, weights: own, place: morton(x, &bounds) });
    }
    rows.sort_by(|a, b| {
        let joints = |r: &Row| r.weights.iter().map(|w| w.0).collect::<Vec<_>>();
        joints(a).cmp(&joints(b)).then(a.place.cmp(&b.place))
    });
    rows
}

/// Ten bits of each coordinate, interleaved.
fn morton(x: Vec3, bounds: &Bounds) -> u32 {
    let size = bounds.size().max_element().max(f32::MIN_POSITIVE);
    let cell = (1023.0 * (x - bounds.min) / size).clamp(Vec3::ZERO, Vec3::splat(1023.0));
    let spread = |v: f32| {
        let mut v = v as u32;
        v = (v | v << 16) & 0x0300_00ff;
        v = (v | v << 8) & 0x0300_f00f;
        v = (v | v << 4) & 0x030c_30c3;
        (v | v << 2) & 0x0924_9249
    };
    spread(cell.x) | spread(cell.y) << 1 | spread(cell.z) << 2
}

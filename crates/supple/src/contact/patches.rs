//! The surface of a body in patches, made once a shape: what of two bodies may touch is looked for patch by patch.

use std::cmp::Reverse;

use glam::Vec3;

use super::DistanceField;
use crate::Run;
use crate::lanes::{Lanes, WIDTH};
use crate::mesh::bvh::Bvh;
use crate::mesh::measure::Bounds;

/// Most particles of a patch: patches about as long as a rod is thick, whose boxes fit however it is turned.
const LARGEST: usize = 12;

/// An edge of the surface that carries points between its particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The particles.
    pub of: [u32; 2],
    /// From the first to the second, at rest.
    pub along: Vec3,
    /// How many points are between them, evenly spread.
    pub points: u32,
}

/// The particles of a surface and points between them, in patches.
#[derive(Clone, Debug, Default)]
pub struct Patches {
    /// Which particles are together.
    pub(super) patches: Vec<Patch>,
    /// Their edges that carry points, sixteen at a time.
    pub(super) spans: Vec<Span>,
    /// How many blocks of points there are.
    pub(super) blocks: usize,
    /// How many particles there are.
    pub(super) particles: usize,
    /// Around each particle, middle and half the size of a box at rest: together they hold the inside of the body. None for a body
    /// that others may pass through.
    pub(super) cells: Vec<Cell>,
}

/// Particles that are near each other.
#[derive(Clone, Debug)]
pub(super) struct Patch {
    /// Its particles.
    pub(super) own: Box<[u32]>,
    /// Particles of others at the far ends of its spans.
    pub(super) ends: Box<[u32]>,
    /// Where its spans begin and end.
    pub(super) spans: [usize; 2],
    /// Its first block of points; those of its particles come first, then those of its spans.
    pub(super) first: usize,
}

/// Edges with points between their ends.
#[derive(Clone, Debug)]
pub(super) struct Span {
    /// Both ends of each edge.
    pub(super) of: [[u32; WIDTH]; 2],
    /// From end to end, at rest.
    pub(super) along: Lanes<WIDTH>,
    /// How many points each carries; none of those that only fill the span.
    pub(super) points: [u32; WIDTH],
    /// The most of them.
    pub(super) most: u32,
}

impl Patches {
    /// Of the surface that particles and triangles between them are at rest, and the distances to it.
    #[must_use]
    pub fn new(
        particles: &[Vec3],
        triangles: &[[u32; 3]],
        edges: &[Edge],
        field: &DistanceField,
        run: &Run<'_>,
    ) -> Self {
        let mut order: Vec<u32> = (0..particles.len() as u32).collect();
        let mut groups = Vec::new();
        split(particles, &mut order, &mut groups);
        let mut patch_of = vec![0; particles.len()];
        for (k, own) in groups.iter().enumerate() {
            own.iter().for_each(|&p| patch_of[p as usize] = k);
        }
        let mut carried = vec![Vec::new(); groups.len()];
        for edge in edges.iter().filter(|edge| edge.points > 0) {
            carried[patch_of[edge.of[0] as usize]].push(*edge);
        }
        let cells = cells(particles, triangles, field, run);
        let mut all = Self { particles: particles.len(), cells, ..Self::default() };
        for (own, mut edges) in groups.into_iter().zip(carried) {
            // Edges with as many points stand together, so that spans are full.
            edges.sort_by_key(|edge| (Reverse(edge.points), edge.of));
            all.add(own, &edges);
        }
        all
    }

    /// Particles of which nothing is known.
    pub(super) fn plain(count: usize) -> Self {
        let mut all = Self { particles: count, ..Self::default() };
        for start in (0..count).step_by(LARGEST) {
            let own = (start..count.min(start + LARGEST)).map(|p| p as u32).collect();
            all.add(own, &[]);
        }
        all
    }

    fn add(&mut self, own: Box<[u32]>, edges: &[Edge]) {
        let ends = edges.iter().map(|edge| edge.of[1]).filter(|p| !own.contains(p)).collect();
        let (spans, first) = (self.spans.len(), self.blocks);
        self.spans.extend(edges.chunks(WIDTH).map(Span::new));
        let between: u32 = self.spans[spans..].iter().map(|span| span.most).sum();
        self.blocks += own.len().div_ceil(WIDTH) + between as usize;
        let spans = [spans, self.spans.len()];
        self.patches.push(Patch { own, ends: sorted(ends), spans, first });
    }
}

impl Patch {
    /// Its points, block by block.
    pub(super) fn blocks(&self, of: &Patches) -> std::ops::Range<usize> {
        let spans = &of.spans[self.spans[0]..self.spans[1]];
        let between: u32 = spans.iter().map(|span| span.most).sum();
        self.first..self.first + self.own.len().div_ceil(WIDTH) + between as usize
    }
}

impl Span {
    /// One of its edges.
    #[inline(always)]
    pub(super) fn edge(&self, lane: usize) -> Edge {
        let of = [self.of[0][lane], self.of[1][lane]];
        Edge { of, along: self.along.get(lane), points: self.points[lane] }
    }

    fn new(edges: &[Edge]) -> Self {
        let of = |end: usize| std::array::from_fn(|lane| edges[lane.min(edges.len() - 1)].of[end]);
        let points = std::array::from_fn(|lane| edges.get(lane).map_or(0, |edge| edge.points));
        let mut along = Lanes::ZERO;
        edges.iter().enumerate().for_each(|(lane, edge)| along.set(lane, edge.along));
        let most = points.into_iter().max().unwrap_or(0);
        Self { of: [of(0), of(1)], along, points, most }
    }
}

/// How far one of some points between two ends is from the first end.
#[inline(always)]
pub(super) fn share(k: u32, points: u32) -> f32 {
    k as f32 / (points + 1) as f32
}

fn sorted(mut particles: Vec<u32>) -> Box<[u32]> {
    particles.sort_unstable();
    particles.dedup();
    particles.into()
}

/// Parts particles across their longest side, where the widest gap is, until few are left.
fn split(particles: &[Vec3], order: &mut [u32], groups: &mut Vec<Box<[u32]>>) {
    if order.len() <= LARGEST {
        if !order.is_empty() {
            order.sort_unstable();
            groups.push((&*order).into());
        }
        return;
    }
    let place = |p: u32| particles[p as usize];
    let around =
        |b: Bounds, &p: &u32| Bounds { min: b.min.min(place(p)), max: b.max.max(place(p)) };
    let size = order.iter().fold(Bounds::EMPTY, around).size();
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    let along = |p: u32| place(p)[axis];
    order.sort_unstable_by(|&p, &q| along(p).total_cmp(&along(q)).then(p.cmp(&q)));
    // Sections of a rod stay whole; the two sides are about as many.
    let gap = |k: &usize| along(order[*k]) - along(order[*k - 1]);
    let (least, half) = (order.len() / 3, order.len() / 2);
    let best = |k: &usize, m: &usize| {
        gap(k).total_cmp(&gap(m)).then(m.abs_diff(half).cmp(&k.abs_diff(half)))
    };
    let middle = (least.max(1)..=order.len() - least.max(1)).max_by(best).unwrap_or(half);
    let (low, high) = order.split_at_mut(middle);
    split(particles, low, groups);
    split(particles, high, groups);
}

/// A box: its middle and half its size.
pub(super) type Cell = [Vec3; 2];

/// How much larger the box of a particle is than what is nearest to it at rest: a bent body is carried by the maps of
/// neighbours there, too.
const OVERLAP: f32 = 1.25;

/// Boxes around all that is nearer to a corner of a triangle than to the others, of what is inside and nearest to that triangle.
fn cells(
    particles: &[Vec3],
    triangles: &[[u32; 3]],
    field: &DistanceField,
    run: &Run<'_>,
) -> Vec<Cell> {
    let bvh = Bvh::new(particles, triangles, run);
    let nodes: Vec<Vec3> = field.nodes_inside().collect();
    let nearest = run.map(nodes.len(), |k| {
        let found = bvh.closest_point(nodes[k])?;
        let square = |p: u32| particles[p as usize].distance_squared(nodes[k]);
        let corners = triangles[found.triangle as usize].into_iter();
        let corner = corners.min_by(|&p, &q| square(p).total_cmp(&square(q)))?;
        Some((corner as usize, found.point))
    });
    let grow = |b: &mut Bounds, x: Vec3| (b.min, b.max) = (b.min.min(x), b.max.max(x));
    let mut boxes: Vec<Bounds> = particles.iter().map(|&x| Bounds { min: x, max: x }).collect();
    let mut whole = Bounds::EMPTY;
    for (x, found) in nodes.iter().zip(nearest) {
        let Some((corner, point)) = found else { continue };
        grow(&mut boxes[corner], *x);
        grow(&mut boxes[corner], point);
    }
    particles.iter().for_each(|&x| grow(&mut whole, x));
    // Nodes stand for what is no farther from them than to the next; nothing inside is beyond the whole.
    let cell = |b: &Bounds| {
        let half = OVERLAP * (0.5 * b.size() + field.cell());
        let low = (b.center() - half).max(whole.min);
        let high = (b.center() + half).min(whole.max);
        [0.5 * (low + high), 0.5 * (high - low)]
    };
    boxes.iter().map(cell).collect()
}

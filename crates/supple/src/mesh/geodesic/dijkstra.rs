//! Shortest paths over a surface, from edge to edge.
//!
//! # Method
//!
//! Dijkstra's algorithm over the edges and over the straight lines that join the far corners of two
//! triangles with a common edge, unfolded into a plane. The lines across cut the error of edge paths on
//! a regular mesh from some 15 % to some 4 %. [`smoothed`](super::smoothed) then averages over the
//! neighbours, as the source does, to take out the creases.
//!
//! # Limits
//!
//! The error does not shrink with the triangles; see [`heat`](super::heat).
//!
//! # References
//!
//! - E. W. Dijkstra. A note on two problems in connexion with graphs. Numerische Mathematik, 1959.
//! - W. von Funck. Shape Deformations Based on Vector Fields. Thesis, Saarbrücken, 2008; 4.4.1.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::Vec3;

use crate::lengths::Lengths as _;
use crate::mesh::adjacency::{Rows, others, vertex_triangles};

/// Distance of every vertex to the nearest source; infinite where none can be reached.
///
/// # Panics
///
/// If a triangle or a source names a vertex that does not exist.
#[must_use]
pub fn distances(positions: &[Vec3], triangles: &[[u32; 3]], sources: &[u32]) -> Vec<f32> {
    let ways = ways(positions, triangles, Ways::AlongAndAcross);
    Links::new(positions.len(), &ways).distances(sources)
}

/// Overlapping discs on a surface, with the distance of each of their vertices from the centre. Every vertex
/// lies within three quarters of the radius of the centre of one.
pub(crate) fn cover(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    radius: f32,
) -> Vec<Vec<(u32, f32)>> {
    let links = Links::new(positions.len(), &ways(positions, triangles, Ways::AlongAndAcross));
    let mut distance = vec![f32::INFINITY; positions.len()];
    let mut is_covered = vec![false; positions.len()];
    let mut discs = Vec::new();
    for center in 0..positions.len() {
        if is_covered[center] {
            continue;
        }
        let reached = links.spread(&[center as u32], radius, &mut distance);
        let disc: Vec<_> = reached.iter().map(|&v| (v, distance[v as usize])).collect();
        for &(v, d) in &disc {
            is_covered[v as usize] |= d <= 0.75 * radius;
            distance[v as usize] = f32::INFINITY;
        }
        is_covered[center] = true;
        discs.push(disc);
    }
    discs
}

/// The same over edges alone: up to 15 % more, and never less than the true distance.
pub(super) fn edge_distances(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    sources: &[u32],
) -> Vec<f32> {
    Links::new(positions.len(), &ways(positions, triangles, Ways::Along)).distances(sources)
}

/// The vertices along the shortest ways over edges from each of some vertices to the next.
///
/// If `closed` also back to the first; those in a row that are neighbours are joined by their edge. `None` if one cannot
/// be reached.
///
/// # Panics
///
/// If a triangle or one of the vertices names a vertex that does not exist.
#[must_use]
pub fn edge_path(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    through: &[u32],
    closed: bool,
) -> Option<Vec<u32>> {
    let links = Links::new(positions.len(), &ways(positions, triangles, Ways::Along));
    let mut path: Vec<u32> = through.first().copied().into_iter().collect();
    let back = through.first().filter(|_| closed && through.len() > 1);
    for &next in through.iter().skip(1).chain(back) {
        let last = *path.last()?;
        if links.of(last).iter().any(|(v, _)| *v == next) || last == next {
            path.push(next);
            continue;
        }
        let distance = links.distances(&[next]);
        let mut at = last;
        while at != next {
            let (v, _) = links.of(at).iter().min_by(|a, b| {
                let through = |(v, length): &(u32, f32)| distance[*v as usize] + length;
                through(a).total_cmp(&through(b))
            })?;
            // Farther, or both are infinitely far.
            if distance[*v as usize] >= distance[at as usize] {
                return None;
            }
            path.push(*v);
            at = *v;
        }
    }
    if back.is_some() {
        path.pop();
    }
    Some(path)
}

/// A straight way between two vertices.
struct Edge {
    ends: [u32; 2],
    length: f32,
}

/// The ways from every vertex: where each leads, and how long it is.
struct Links(Rows<(u32, f32)>);

impl Links {
    fn new(vertices: usize, ways: &[Edge]) -> Self {
        let both = |&Edge { ends: [a, b], length }: &Edge| [(a, (b, length)), (b, (a, length))];
        Self(Rows::sorted(vertices, ways.iter().flat_map(both)))
    }

    /// Where the ways from a vertex lead, and how long they are.
    fn of(&self, vertex: u32) -> &[(u32, f32)] {
        self.0.row(vertex as usize)
    }

    fn distances(&self, sources: &[u32]) -> Vec<f32> {
        let mut distance = vec![f32::INFINITY; self.0.len()];
        self.spread(sources, f32::INFINITY, &mut distance);
        distance
    }

    /// Lowers the distances of what is nearer to a source than the radius; returns what was reached, each
    /// vertex once, in the order of its distance.
    fn spread(&self, sources: &[u32], radius: f32, distance: &mut [f32]) -> Vec<u32> {
        let mut reached = Vec::new();
        let mut queue = BinaryHeap::new();
        for &source in sources {
            distance[source as usize] = 0.0;
            queue.push(Reverse(key(0.0, source)));
        }
        while let Some(Reverse(first)) = queue.pop() {
            let (d, vertex) = (f32::from_bits((first >> 32) as u32), first as u32);
            let v = vertex as usize;
            if d > distance[v] || reached.last() == Some(&vertex) {
                continue;
            }
            reached.push(vertex);
            for &(next, length) in self.0.row(v) {
                let through = d + length;
                if through < distance[next as usize] && through < radius {
                    distance[next as usize] = through;
                    queue.push(Reverse(key(through, next)));
                }
            }
        }
        reached
    }
}

/// A number that is ordered like a distance, which is not negative, and then like the vertex.
fn key(distance: f32, vertex: u32) -> u64 {
    u64::from(distance.to_bits()) << 32 | u64::from(vertex)
}

/// Which ways there are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ways {
    /// Along edges.
    Along,
    /// Along edges, and across them from one triangle to the next.
    AlongAndAcross,
}

/// The ways over a surface: each edge once, sorted, and the lines across it.
fn ways(positions: &[Vec3], triangles: &[[u32; 3]], which: Ways) -> Vec<Edge> {
    let at = |i: u32| positions[i as usize];
    let around = vertex_triangles(positions.len(), triangles);
    let mut ways = Vec::with_capacity(triangles.len() * 3);
    // The edges from a vertex to larger ones, each with what lies opposite.
    let mut sides: Vec<[u32; 2]> = Vec::new();
    for v in 0..positions.len() as u32 {
        sides.clear();
        for &t in around.row(v as usize) {
            let [next, last] = others(triangles[t as usize], v);
            sides.extend([[next, last], [last, next]].into_iter().filter(|side| side[0] > v));
        }
        sides.sort_unstable();
        for same in sides.chunk_by(|a, b| a[0] == b[0]) {
            let end = same[0][0];
            ways.push(Edge { ends: [v, end], length: at(v).distance_to(at(end)) });
            for pair in same.windows(2).filter(|_| which == Ways::AlongAndAcross) {
                let ends = [pair[0][1], pair[1][1]];
                let length = unfolded(at(v), at(end), at(ends[0]), at(ends[1]));
                ways.extend(length.map(|length| Edge { ends, length }));
            }
        }
    }
    ways
}

/// Distance between the apices of two triangles over an edge laid into one plane, if the line between
/// them crosses the edge.
fn unfolded(start: Vec3, end: Vec3, one: Vec3, other: Vec3) -> Option<f32> {
    let along = (end - start).try_normalize()?;
    let flat = |p: Vec3| {
        let s = along.dot(p - start);
        (s, (p - start - s * along).norm())
    };
    let ((s0, h0), (s1, h1)) = (flat(one), flat(other));
    let crossing = (s0 * h1 + s1 * h0) / (h0 + h1).max(f32::MIN_POSITIVE);
    let inside = crossing >= 0.0 && crossing <= start.distance_to(end);
    inside.then(|| (s1 - s0).hypot(h0 + h1))
}

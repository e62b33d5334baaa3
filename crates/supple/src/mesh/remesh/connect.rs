//! Triangles with their neighbours: half-edges in flat arrays.
//!
//! Half-edge `3 t + k` runs from corner `k` of triangle `t` to the next one; its twin is the half-edge
//! the other way, or [`NONE`] at a border. All that is not a manifold is cut: an edge of more than two
//! triangles, or of two that face opposite ways, is a border of each of them, and a vertex of several
//! fans is a vertex for each fan. [`Cut::origin`] tells which were one. Borders that lie on each other, of
//! vertices that are copies but move differently, are torn as well: either side stays as it is. Borders that other
//! meshes share are held.

use glam::Vec3;

use super::beside::Beside;
use crate::mesh::adjacency::is_index_degenerate;
use crate::mesh::welding::Welding;

/// No half-edge, triangle or vertex.
pub(super) const NONE: u32 = u32::MAX;

pub(super) fn next(h: u32) -> u32 {
    if h % 3 == 2 { h - 2 } else { h + 1 }
}

pub(super) fn prev(h: u32) -> u32 {
    if h.is_multiple_of(3) { h + 2 } else { h - 1 }
}

/// A mesh cut into manifold pieces.
#[derive(Clone, Debug, Default)]
pub(super) struct Cut {
    /// Sound triangles with cut vertices.
    pub(super) triangles: Vec<[u32; 3]>,
    /// Which triangle of the mesh each is.
    pub(super) source: Vec<u32>,
    pub(super) twin: Vec<u32>,
    /// Which vertex of the mesh each cut vertex is.
    pub(super) origin: Vec<u32>,
    /// Half-edges along which the mesh is no manifold.
    pub(super) torn: Vec<bool>,
    /// Cut vertices whose vertex has several fans.
    pub(super) pinched: Vec<bool>,
    /// Half-edges of borders whose ends other meshes share, and cut vertices of borders that they share.
    pub(super) held: Vec<bool>,
    pub(super) shared: Vec<bool>,
}

impl Cut {
    pub(super) fn new(positions: &[Vec3], triangles: &[[u32; 3]], beside: Option<&Beside>) -> Self {
        let sound = (0..).zip(triangles).filter(|(_, t)| !is_index_degenerate(**t));
        let (source, sound): (Vec<u32>, Vec<[u32; 3]>) = sound.map(|(i, t)| (i, *t)).unzip();
        let (twin, torn) = twins(&sound);
        let mut cut = Self { triangles: sound, source, twin, torn, ..Self::default() };
        cut.name_fans(positions.len());
        cut.hold_copies(&Welding::of(positions), triangles);
        cut.hold_shared(positions, beside);
        cut
    }

    /// Holds the borders that other meshes share: they would part.
    fn hold_shared(&mut self, positions: &[Vec3], beside: Option<&Beside>) {
        self.held = vec![false; self.twin.len()];
        self.shared = vec![false; self.origin.len()];
        let Some(beside) = beside else { return };
        let is_shared = |v: u32| beside.shares(positions[self.origin[v as usize] as usize]);
        for h in (0..self.twin.len()).filter(|&h| self.twin[h] == NONE) {
            let ends = [h % 3, (h % 3 + 1) % 3].map(|k| self.triangles[h / 3][k]);
            let shared = ends.map(is_shared);
            self.held[h] = shared == [true; 2];
            for (v, _) in ends.into_iter().zip(shared).filter(|(_, shared)| *shared) {
                self.shared[v as usize] = true;
            }
        }
    }

    /// Holds the borders that lie on each other, and their vertices.
    fn hold_copies(&mut self, welding: &Welding, triangles: &[[u32; 3]]) {
        if welding.is_trivial() {
            return;
        }
        let place = |h: usize| {
            let t = triangles[self.source[h / 3] as usize];
            [t[h % 3], t[(h % 3 + 1) % 3]].map(|v| welding.place(v))
        };
        let mut borders: Vec<([u32; 2], usize)> = (0..self.twin.len())
            .filter(|&h| self.twin[h] == NONE)
            .map(|h| {
                let [a, b] = place(h);
                ([a.min(b), a.max(b)], h)
            })
            .collect();
        borders.sort_unstable();
        for here in borders.chunk_by(|a, b| a.0 == b.0).filter(|here| here.len() > 1) {
            here.iter().for_each(|&(_, h)| self.torn[h] = true);
        }
        let mut count = vec![0_u32; welding.places()];
        (0..welding.vertices() as u32).for_each(|v| count[welding.place(v) as usize] += 1);
        for (pinched, &v) in self.pinched.iter_mut().zip(&self.origin) {
            *pinched |= count[welding.place(v) as usize] > 1;
        }
    }

    /// Gives each fan of triangles a vertex of its own; the first keeps its number's place.
    fn name_fans(&mut self, vertices: usize) {
        let old = self.triangles.clone();
        let mut fans = vec![0_u32; vertices];
        let mut seen = vec![false; self.twin.len()];
        for start in 0..self.twin.len() as u32 {
            if seen[start as usize] {
                continue;
            }
            let vertex = old[start as usize / 3][start as usize % 3];
            let name = self.origin.len() as u32;
            self.origin.push(vertex);
            fans[vertex as usize] += 1;
            let mut h = first_of_fan(&self.twin, start);
            while h != NONE && !seen[h as usize] {
                seen[h as usize] = true;
                self.triangles[h as usize / 3][h as usize % 3] = name;
                h = self.twin[prev(h) as usize];
            }
        }
        self.pinched = self.origin.iter().map(|&v| fans[v as usize] > 1).collect();
    }
}

/// The half-edge of a fan from which [`prev`] and twin reach all others.
pub(super) fn first_of_fan(twin: &[u32], start: u32) -> u32 {
    let mut h = start;
    while twin[h as usize] != NONE {
        h = next(twin[h as usize]);
        if h == start {
            break;
        }
    }
    h
}

/// Twins of half-edges, and which have none although other triangles share their edge.
fn twins(triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<bool>) {
    let ends = |h: usize| (triangles[h / 3][h % 3], triangles[h / 3][(h % 3 + 1) % 3]);
    let count = 3 * triangles.len();
    let mut order: Vec<(u32, u32, u32)> = (0..count)
        .map(|h| {
            let (a, b) = ends(h);
            (a.min(b), a.max(b), h as u32)
        })
        .collect();
    order.sort_unstable();
    let (mut twin, mut torn) = (vec![NONE; count], vec![false; count]);
    for edge in order.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
        match edge {
            [_] => {}
            [(.., h), (.., g)] if ends(*h as usize).0 != ends(*g as usize).0 => {
                twin[*h as usize] = *g;
                twin[*g as usize] = *h;
            }
            _ => edge.iter().for_each(|(.., h)| torn[*h as usize] = true),
        }
    }
    (twin, torn)
}

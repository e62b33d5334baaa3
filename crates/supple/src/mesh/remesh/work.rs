//! The mesh while it is changed: half-edges in flat arrays, and the three local operations.
//!
//! The operations change connectivity only; whether one may happen is asked beforehand. Triangles that
//! die stay as holes until [`Work::compact`] closes them.

use glam::Vec3;

use super::connect::{NONE, first_of_fan, next, prev};
use super::surface::{Constraint, Surface, groups_of};
use crate::lengths::Lengths as _;
use crate::mesh::TriMesh;

#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    pub(super) positions: Vec<Vec3>,
    pub(super) places: Vec<Constraint>,
    /// A half-edge out of each vertex, the one on the border if there is one; [`NONE`] once it is gone.
    pub(super) out: Vec<u32>,
    /// Corners; all [`NONE`] once it is gone.
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) groups: Vec<u32>,
    pub(super) twin: Vec<u32>,
    pub(super) label: Vec<i32>,
    /// Triangles that are not gone.
    pub(super) alive: usize,
}

/// The triangles on both sides of an edge: `h` from `v` to `w`, with `a` on its left and `b` on its
/// right.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) h: u32,
    /// [`NONE`] at a border.
    pub(super) g: u32,
    pub(super) v: u32,
    pub(super) w: u32,
    pub(super) a: u32,
    pub(super) b: u32,
}

impl Work {
    pub(super) fn new(surface: &Surface, mesh: &TriMesh) -> Self {
        let groups = groups_of(mesh);
        let mut places: Vec<Constraint> =
            surface.out.iter().map(|&h| Constraint::Face(h / 3)).collect();
        for (c, curve) in (0..).zip(&surface.curves) {
            for (&v, &at) in curve.vertices.iter().zip(&curve.lengths) {
                places[v as usize] = Constraint::Curve(c, at);
            }
        }
        for (v, place) in (0..).zip(&mut places) {
            if surface.corner[v as usize] {
                *place = Constraint::Corner(v);
            }
        }
        let twin = surface.cut.twin.clone();
        Self {
            positions: surface.positions.clone(),
            places,
            out: surface.out.iter().map(|&h| first_of_fan(&twin, h)).collect(),
            triangles: surface.cut.triangles.clone(),
            groups: surface.cut.source.iter().map(|&t| groups[t as usize]).collect(),
            alive: surface.cut.triangles.len(),
            twin,
            label: surface.label.clone(),
        }
    }

    pub(super) fn is_alive(&self, t: u32) -> bool {
        self.triangles[t as usize][0] != NONE
    }

    pub(super) fn from(&self, h: u32) -> u32 {
        self.triangles[h as usize / 3][h as usize % 3]
    }

    pub(super) fn to(&self, h: u32) -> u32 {
        self.from(next(h))
    }

    pub(super) fn at(&self, v: u32) -> Vec3 {
        self.positions[v as usize]
    }

    pub(super) fn corners_of(&self, t: u32) -> [Vec3; 3] {
        self.triangles[t as usize].map(|v| self.positions[v as usize])
    }

    pub(super) fn length(&self, h: u32) -> f32 {
        self.at(self.from(h)).distance_to(self.at(self.to(h)))
    }

    pub(super) fn edge(&self, h: u32) -> Edge {
        let g = self.twin[h as usize];
        let b = if g == NONE { NONE } else { self.from(prev(g)) };
        Edge { h, g, v: self.from(h), w: self.to(h), a: self.from(prev(h)), b }
    }

    /// The half-edges out of a vertex, counter-clockwise.
    pub(super) fn spokes(&self, v: u32) -> Spokes<'_> {
        Spokes { work: self, start: self.out[v as usize], h: self.out[v as usize] }
    }

    pub(super) fn is_border(&self, v: u32) -> bool {
        self.twin[self.out[v as usize] as usize] == NONE
    }

    /// The neighbours of a vertex, counter-clockwise.
    pub(super) fn neighbours(&self, v: u32, into: &mut Vec<u32>) {
        into.clear();
        let mut last = NONE;
        for h in self.spokes(v) {
            into.push(self.to(h));
            last = h;
        }
        if self.twin[prev(last) as usize] == NONE {
            into.push(self.from(prev(last)));
        }
    }

    pub(super) fn valence(&self, v: u32) -> usize {
        self.spokes(v).count() + usize::from(self.is_border(v))
    }

    fn link(&mut self, h: u32, g: u32) {
        if h != NONE {
            self.twin[h as usize] = g;
        }
        if g != NONE {
            self.twin[g as usize] = h;
        }
    }

    fn push_triangle(&mut self, corners: [u32; 3], group: u32) -> u32 {
        self.triangles.push(corners);
        self.groups.push(group);
        self.twin.extend([NONE; 3]);
        self.label.extend([0; 3]);
        self.alive += 1;
        3 * (self.triangles.len() as u32 - 1)
    }

    /// Puts a vertex on an edge. The triangles of the edge shrink towards its start on their side; the
    /// new ones come last.
    pub(super) fn split(&mut self, h: u32, at: Vec3, place: Constraint) -> u32 {
        let Edge { g, v, w, a, b, .. } = self.edge(h);
        let m = self.positions.len() as u32;
        self.positions.push(at);
        self.places.push(place);
        let n0 = self.split_side(h, [m, w, a]);
        self.out.push(n0);
        if g == NONE {
            return m;
        }
        let p0 = self.split_side(g, [m, v, b]);
        self.link(h, p0);
        self.link(n0, g);
        m
    }

    /// Cuts the triangle of `h` at its new vertex and returns the new part's half of the edge.
    fn split_side(&mut self, h: u32, corners: [u32; 3]) -> u32 {
        let [m, w, _] = corners;
        let h1 = next(h);
        let n0 = self.push_triangle(corners, self.groups[h as usize / 3]);
        self.triangles[h1 as usize / 3][h1 as usize % 3] = m;
        self.label[n0 as usize] = self.label[h as usize];
        self.label[n0 as usize + 1] = self.label[h1 as usize];
        self.label[h1 as usize] = 0;
        self.link(n0 + 1, self.twin[h1 as usize]);
        self.link(n0 + 2, h1);
        if self.out[w as usize] == h1 {
            self.out[w as usize] = n0 + 1;
        }
        n0
    }

    /// Turns an inner edge: it joins `a` and `b` afterwards.
    pub(super) fn flip(&mut self, h: u32) {
        let Edge { g, v, w, a, b, .. } = self.edge(h);
        let [h1, h2, g1, g2] = [next(h), prev(h), next(g), prev(g)];
        let sides = [g2, h1, h2, g1].map(|x| (self.twin[x as usize], self.label[x as usize]));
        let leaves =
            |work: &Self, vertex: u32, from: &[u32]| from.contains(&work.out[vertex as usize]);
        let (v_moves, w_moves) = (leaves(self, v, &[h, g1]), leaves(self, w, &[g, h1]));
        let (a_moves, b_moves) = (leaves(self, a, &[h2]), leaves(self, b, &[g2]));
        let (e, f) = (3 * (h / 3), 3 * (g / 3));
        self.triangles[h as usize / 3] = [b, w, a];
        self.triangles[g as usize / 3] = [a, v, b];
        for (half, (twin, label)) in [e, e + 1, f, f + 1].into_iter().zip(sides) {
            self.link(half, twin);
            self.label[half as usize] = label;
        }
        self.link(e + 2, f + 2);
        self.label[e as usize + 2] = 0;
        self.label[f as usize + 2] = 0;
        for (vertex, moves, half) in
            [(v, v_moves, f + 1), (w, w_moves, e + 1), (a, a_moves, f), (b, b_moves, e)]
        {
            if moves {
                self.out[vertex as usize] = half;
            }
        }
    }

    /// Merges the end of an edge into its start.
    pub(super) fn collapse(&mut self, h: u32) {
        let Edge { g, v, w, a, b, .. } = self.edge(h);
        let mut around: Vec<u32> = self.spokes(w).collect();
        for &spoke in &around {
            self.triangles[spoke as usize / 3][spoke as usize % 3] = v;
        }
        around.extend(self.spokes(v));
        for (side, third) in [(h, a), (g, b)] {
            if side != NONE {
                self.close(side, third);
            }
        }
        let kept = around.into_iter().find(|&s| self.is_alive(s / 3));
        let kept = kept.expect("an edge whose triangles are a whole piece is not merged");
        self.out[v as usize] = first_of_fan(&self.twin, kept);
        self.out[w as usize] = NONE;
    }

    /// Removes the triangle of a merged edge and joins its other two sides.
    fn close(&mut self, side: u32, third: u32) {
        let [h1, h2] = [next(side), prev(side)];
        let (x, y) = (self.twin[h1 as usize], self.twin[h2 as usize]);
        let label = if self.label[h1 as usize] != 0 {
            self.label[h1 as usize]
        } else {
            -self.label[h2 as usize]
        };
        for (half, label) in [(x, -label), (y, label)] {
            if half != NONE {
                self.label[half as usize] = label;
            }
        }
        self.link(x, y);
        if self.out[third as usize] / 3 == side / 3 {
            self.out[third as usize] = if x == NONE { next(y) } else { x };
        }
        self.triangles[side as usize / 3] = [NONE; 3];
        self.alive -= 1;
        let out = self.out[third as usize];
        self.out[third as usize] = first_of_fan(&self.twin, out);
    }

    /// Closes the holes: triangles in the given order, vertices as these name them.
    pub(super) fn compact(&mut self, order: &[u32]) {
        let mut new_triangle = vec![NONE; self.triangles.len()];
        for (new, &old) in (0..).zip(order) {
            new_triangle[old as usize] = new;
        }
        let mut new_vertex = vec![NONE; self.positions.len()];
        let mut packed = Self { alive: order.len(), ..Self::default() };
        packed.triangles.reserve(order.len());
        for &old in order {
            let corners = self.triangles[old as usize].map(|v| {
                if new_vertex[v as usize] == NONE {
                    new_vertex[v as usize] = packed.positions.len() as u32;
                    packed.positions.push(self.positions[v as usize]);
                    packed.places.push(self.places[v as usize]);
                    packed.out.push(self.out[v as usize]);
                }
                new_vertex[v as usize]
            });
            packed.triangles.push(corners);
            packed.groups.push(self.groups[old as usize]);
            for h in 3 * old..3 * old + 3 {
                let twin = self.twin[h as usize];
                packed.twin.push(renamed(&new_triangle, twin));
                packed.label.push(self.label[h as usize]);
            }
        }
        for out in &mut packed.out {
            *out = renamed(&new_triangle, *out);
        }
        *self = packed;
    }
}

/// A half-edge after its triangle got a new number.
fn renamed(new_triangle: &[u32], h: u32) -> u32 {
    if h == NONE { NONE } else { 3 * new_triangle[h as usize / 3] + h % 3 }
}

/// The half-edges out of a vertex.
pub(super) struct Spokes<'a> {
    work: &'a Work,
    start: u32,
    h: u32,
}

impl Iterator for Spokes<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let h = self.h;
        if h == NONE {
            return None;
        }
        let on = self.work.twin[prev(h) as usize];
        self.h = if on == self.start { NONE } else { on };
        Some(h)
    }
}

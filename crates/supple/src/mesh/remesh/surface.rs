//! The surface as it was: what vertices are projected to, and its feature curves.
//!
//! An edge is a feature if it is a border, if its triangles meet at more than the feature angle, if
//! they are of different groups, or if a corner attribute jumps across it. Features make curves between
//! corners: vertices where other than two of them meet, or where they turn sharply. Curves are walls:
//! a vertex inside a patch never leaves it, so its source triangle is always on its own side of a
//! seam.

use glam::{DVec3, Vec3};

use super::beside::Beside;
use super::connect::{Cut, NONE, next, prev};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::mesh::TriMesh;
use crate::mesh::bvh::{blend, closest_weights};

/// Steps of a walk over the surface; only a spiral without end would need more.
const FARTHEST_WALK: usize = 256;

/// A chain of feature edges between two corners.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve {
    /// The vertices along it.
    pub(super) vertices: Vec<u32>,
    /// Length of the way up to each vertex.
    pub(super) lengths: Vec<f64>,
    /// The half-edges along it and against it, [`NONE`] on the far side of a border.
    pub(super) sides: Vec<[u32; 2]>,
    /// Whether it must stay as it is: other pieces of the mesh hang on it.
    pub(super) locked: bool,
}

/// Where a vertex sits on the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constraint {
    /// Inside a patch, on this triangle.
    Face(u32),
    /// On a curve, so far along it.
    Curve(u32, f64),
    /// At this vertex, for good.
    Corner(u32),
}

#[derive(Clone, Debug)]
pub(super) struct Surface {
    pub(super) cut: Cut,
    pub(super) positions: Vec<Vec3>,
    /// For each half-edge 0, or one more than its curve, negative against its direction.
    pub(super) label: Vec<i32>,
    pub(super) curves: Vec<Curve>,
    pub(super) corner: Vec<bool>,
    /// A half-edge out of each vertex.
    pub(super) out: Vec<u32>,
}

impl Surface {
    pub(super) fn new(
        mesh: &TriMesh,
        feature_degrees: f32,
        beside: Option<&Beside>,
        run: &Run<'_>,
    ) -> Self {
        let cut = Cut::new(&mesh.positions, &mesh.triangles, beside);
        let positions = cut.origin.iter().map(|&v| mesh.positions[v as usize]).collect();
        let mut out = vec![NONE; cut.origin.len()];
        for (h, &v) in (0..).zip(cut.triangles.as_flattened()) {
            if out[v as usize] == NONE || cut.twin[h as usize] == NONE {
                out[v as usize] = h;
            }
        }
        let halves = cut.twin.len();
        let corner = cut.pinched.iter().zip(&cut.shared).map(|(a, b)| *a || *b).collect();
        let curves = Vec::new();
        let mut surface = Self { cut, positions, label: vec![0; halves], curves, corner, out };
        let cosine = f64::from(feature_degrees.clamp(0.0, 180.0)).to_radians().cos();
        let groups = groups_of(mesh);
        let is_feature = run.map(halves, |h| surface.is_feature(mesh, &groups, h as u32, cosine));
        Tracer::new(&mut surface, &is_feature).trace(cosine);
        surface
    }

    pub(super) fn from(&self, h: u32) -> u32 {
        self.cut.triangles[h as usize / 3][h as usize % 3]
    }

    pub(super) fn to(&self, h: u32) -> u32 {
        self.from(next(h))
    }

    pub(super) fn corners_of(&self, t: u32) -> [Vec3; 3] {
        self.cut.triangles[t as usize].map(|v| self.positions[v as usize])
    }

    fn normal(&self, t: u32) -> DVec3 {
        let [a, b, c] = self.corners_of(t).map(Vec3::as_dvec3);
        (b - a).cross(c - a)
    }

    fn is_feature(&self, mesh: &TriMesh, groups: &[u32], h: u32, cosine: f64) -> bool {
        let g = self.cut.twin[h as usize];
        if g == NONE {
            return true;
        }
        let (t, u) = (h / 3, g / 3);
        let [t_in, u_in] = [t, u].map(|t| self.cut.source[t as usize] as usize);
        if groups[t_in] != groups[u_in] {
            return true;
        }
        let (n, m) = (self.normal(t), self.normal(u));
        let size = n.norm() * m.norm();
        if size > 0.0 && n.dot(m) < cosine * size {
            return true;
        }
        mesh.corners.iter().any(|corner| {
            let (width, floats) = (corner.values.width(), corner.values.as_floats());
            let value = |row: usize, k: u32| {
                &floats[corner.triangles[row][k as usize % 3] as usize * width..][..width]
            };
            value(t_in, h) != value(u_in, next(g)) || value(t_in, next(h)) != value(u_in, g)
        })
    }

    /// Where a point so far along a curve is: the segment, and the share of it.
    pub(super) fn along(&self, curve: u32, at: f64) -> (usize, f64) {
        let lengths = &self.curves[curve as usize].lengths;
        let segment = lengths.partition_point(|&l| l <= at).clamp(1, lengths.len() - 1) - 1;
        let length = lengths[segment + 1] - lengths[segment];
        let share = if length > 0.0 { (at - lengths[segment]) / length } else { 0.0 };
        (segment, share.clamp(0.0, 1.0))
    }

    pub(super) fn point_on_curve(&self, curve: u32, at: f64) -> Vec3 {
        let (segment, share) = self.along(curve, at);
        let vertices = &self.curves[curve as usize].vertices;
        let [a, b] = [0, 1].map(|k| self.positions[vertices[segment + k] as usize].as_dvec3());
        if share == 0.0 {
            return a.as_vec3();
        }
        (a + share * (b - a)).as_vec3()
    }

    /// The point of the patch near `point` that a walk from triangle `start` finds: downhill in
    /// distance, from triangle to triangle, not across a feature.
    pub(super) fn project(&self, point: Vec3, start: u32) -> (u32, Vec3) {
        let q = point.as_dvec3();
        let mut best = self.nearest_in(start, q);
        let mut t = start;
        for _ in 0..FARTHEST_WALK {
            let mut found = None;
            self.around(t, best.1, |u| {
                let there = self.nearest_in(u, q);
                if there.0 < best.0 * (1.0 - 1e-9) {
                    best = there;
                    found = Some(u);
                }
            });
            let Some(u) = found else { break };
            t = u;
        }
        (t, blend(&self.corners_of(t), best.1).as_vec3())
    }

    /// Squared distance to a triangle, and the weights of its nearest point.
    fn nearest_in(&self, t: u32, q: DVec3) -> (f64, DVec3) {
        let corners = self.corners_of(t);
        let weights = closest_weights(&corners.map(Vec3::as_dvec3), q);
        (blend(&corners, weights).distance_squared(q), weights)
    }

    /// The triangles that share the point of `t` with the given weights, unless it is inside.
    fn around(&self, t: u32, weights: DVec3, mut visit: impl FnMut(u32)) {
        let zero = weights.to_array().map(|w| w == 0.0);
        let first = 3 * t;
        match zero {
            [false, false, false] => {}
            [false, true, true] => self.around_vertex(first, &mut visit),
            [true, false, true] => self.around_vertex(first + 1, &mut visit),
            [true, true, false] => self.around_vertex(first + 2, &mut visit),
            _ => {
                let k = zero.iter().position(|&z| z).unwrap_or(0) as u32;
                if let Some(g) = self.over(next(first + k)) {
                    visit(g / 3);
                }
            }
        }
    }

    /// The triangles around the start of `h` that can be reached without crossing a feature.
    fn around_vertex(&self, h: u32, visit: &mut impl FnMut(u32)) {
        let mut g = h;
        while let Some(other) = self.over(prev(g)) {
            g = other;
            if g == h {
                return;
            }
            visit(g / 3);
        }
        let mut g = h;
        while let Some(other) = self.over(g) {
            g = next(other);
            visit(g / 3);
        }
    }

    /// The twin of a half-edge that is no feature.
    fn over(&self, h: u32) -> Option<u32> {
        (self.label[h as usize] == 0).then(|| self.cut.twin[h as usize])
    }
}

/// Which group each triangle of a mesh is in.
pub(super) fn groups_of(mesh: &TriMesh) -> Vec<u32> {
    let mut groups = vec![0; mesh.triangles.len()];
    for (g, group) in (0..).zip(&mesh.groups) {
        groups[group.triangles.start as usize..group.triangles.end as usize].fill(g);
    }
    groups
}

/// Joins feature edges to curves.
struct Tracer<'a> {
    surface: &'a mut Surface,
    /// The feature edges at each vertex: a half-edge, and whether it runs away from the vertex.
    spokes: Vec<Vec<(u32, bool)>>,
}

impl<'a> Tracer<'a> {
    fn new(surface: &'a mut Surface, is_feature: &[bool]) -> Self {
        let mut spokes = vec![Vec::new(); surface.positions.len()];
        for h in 0..surface.cut.twin.len() as u32 {
            let twin = surface.cut.twin[h as usize];
            let once = twin == NONE || h < twin;
            let marked = is_feature[h as usize] || (twin != NONE && is_feature[twin as usize]);
            if once && marked {
                spokes[surface.from(h) as usize].push((h, true));
                spokes[surface.to(h) as usize].push((h, false));
            }
        }
        Self { surface, spokes }
    }

    fn trace(&mut self, cosine: f64) {
        for v in 0..self.spokes.len() {
            let torn = self.spokes[v].iter().any(|&(h, _)| self.surface.cut.torn[h as usize]);
            let plain = match self.spokes[v][..] {
                [] => true,
                [a, b] => !torn && !self.turns(v, a, b, cosine),
                _ => false,
            };
            self.surface.corner[v] |= !plain;
        }
        for v in 0..self.spokes.len() {
            if self.surface.corner[v] {
                self.trace_from(v);
            }
        }
        // What is left are loops without a corner: their first vertex becomes one.
        for v in 0..self.spokes.len() {
            if self.spokes[v].iter().any(|&(h, _)| self.surface.label[h as usize] == 0) {
                self.surface.corner[v] = true;
                self.trace_from(v);
            }
        }
    }

    fn trace_from(&mut self, v: usize) {
        for k in 0..self.spokes[v].len() {
            let spoke = self.spokes[v][k];
            if self.surface.label[spoke.0 as usize] == 0 {
                self.trace_curve(v as u32, spoke);
            }
        }
    }

    fn trace_curve(&mut self, start: u32, mut spoke: (u32, bool)) {
        let name = self.surface.curves.len() as i32 + 1;
        let mut curve = Curve { vertices: vec![start], lengths: vec![0.0], ..Curve::default() };
        let mut length = 0.0;
        loop {
            let (h, away) = spoke;
            let twin = self.surface.cut.twin[h as usize];
            curve.locked |= self.surface.cut.torn[h as usize] || self.surface.cut.held[h as usize];
            self.surface.label[h as usize] = if away { name } else { -name };
            if twin != NONE {
                self.surface.label[twin as usize] = if away { -name } else { name };
            }
            curve.sides.push(if away { [h, twin] } else { [twin, h] });
            let end = self.far_end(spoke);
            let here = *curve.vertices.last().unwrap_or(&start);
            let [a, b] = [here, end].map(|v| self.surface.positions[v as usize].as_dvec3());
            length += a.distance_to(b);
            curve.vertices.push(end);
            curve.lengths.push(length);
            if self.surface.corner[end as usize] {
                break;
            }
            let on = self.spokes[end as usize].iter().find(|s| s.0 != h);
            let Some(&on) = on.filter(|s| self.surface.label[s.0 as usize] == 0) else { break };
            spoke = on;
        }
        self.surface.curves.push(curve);
    }

    fn far_end(&self, (h, away): (u32, bool)) -> u32 {
        if away { self.surface.to(h) } else { self.surface.from(h) }
    }

    /// Whether a chain of two edges turns sharply at their common vertex.
    fn turns(&self, v: usize, a: (u32, bool), b: (u32, bool), cosine: f64) -> bool {
        let at = self.surface.positions[v].as_dvec3();
        let [u, w] = [a, b]
            .map(|s| self.surface.positions[self.far_end(s) as usize].as_dvec3() - at)
            .map(|d| d.unit_or_zero());
        -u.dot(w) < cosine
    }
}

//! Vertices picked on a surface, in the places of points.
//!
//! Picked vertices mean where they are when their edit begins. Strokes and loops run from each to the next the shortest
//! way over edges: a loop of edges is picked by all its vertices or by a few of them.

use std::borrow::Cow;

use glam::Vec3;

use super::error::Problem;
use super::{Boundary, Curve, Extent, Op, Paint, Points};
use crate::mesh::geodesic::dijkstra::edge_path;

/// A surface on which vertices are picked.
struct Ground<'a> {
    positions: &'a [Vec3],
    triangles: &'a [[u32; 3]],
}

impl Op {
    /// Whether it names vertices, so that it means one mesh and no other.
    pub(super) fn names_vertices(&self) -> bool {
        match self {
            Self::Points(op) => !op.vertices.is_empty(),
            Self::Paint(op) => !op.vertices.is_empty(),
            Self::Boundary(op) => op.loops().iter().any(|picked| !picked.is_empty()),
            Self::Curve(op) => !matches!(op.extent, Extent::Geodesic { .. } | Extent::Drawn { .. }),
            Self::Move(_) | Self::Stamp(_) | Self::Twist(_) | Self::Bend(_) => false,
        }
    }

    /// Calls `f` with every list of vertices it names.
    pub(super) fn for_each_pick(&mut self, mut f: impl FnMut(&mut Vec<u32>)) {
        match self {
            Self::Points(Points { vertices, .. }) | Self::Paint(Paint { vertices, .. }) => {
                f(vertices);
            }
            Self::Boundary(op) => {
                f(&mut op.inner_vertices);
                f(&mut op.middle_vertices);
                f(&mut op.outer_vertices);
            }
            Self::Curve(Curve {
                extent: Extent::Between { inner, outer } | Extent::Loops { inner, outer },
                ..
            }) => {
                f(inner);
                f(outer);
            }
            Self::Curve(_) | Self::Move(_) | Self::Stamp(_) | Self::Twist(_) | Self::Bend(_) => {}
        }
    }

    /// The edit with the places of its vertices on a surface.
    pub(super) fn placed<'o>(
        &'o self,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
    ) -> Result<Cow<'o, Self>, Problem> {
        if !self.names_vertices() {
            return Ok(Cow::Borrowed(self));
        }
        let ground = Ground { positions, triangles };
        let mut op = self.clone();
        match &mut op {
            Self::Points(Points { points, vertices, .. }) => {
                points.extend(ground.places(&std::mem::take(vertices))?);
            }
            Self::Paint(Paint { stroke, vertices, .. }) => {
                stroke.extend(ground.way(&std::mem::take(vertices), false)?);
            }
            Self::Boundary(Boundary {
                inner,
                outer,
                middle,
                inner_vertices,
                outer_vertices,
                middle_vertices,
                ..
            }) => {
                for (curve, picked) in
                    [(inner, inner_vertices), (outer, outer_vertices), (middle, middle_vertices)]
                {
                    curve.extend(ground.way(&std::mem::take(picked), true)?);
                }
            }
            Self::Curve(Curve { extent, .. }) => {
                if let Extent::Loops { inner, outer } = extent {
                    let (inner, outer) = (ground.way(inner, true)?, ground.way(outer, true)?);
                    *extent = Extent::Drawn { inner, outer };
                }
            }
            Self::Move(_) | Self::Stamp(_) | Self::Twist(_) | Self::Bend(_) => {}
        }
        Ok(Cow::Owned(op))
    }
}

impl Ground<'_> {
    fn places(&self, picked: &[u32]) -> Result<Vec<Vec3>, Problem> {
        let vertices = self.positions.len();
        let place = |&vertex: &u32| {
            let found = self.positions.get(vertex as usize).copied();
            found.ok_or(Problem::NoSuchVertex { vertex, vertices })
        };
        picked.iter().map(place).collect()
    }

    /// The places along the shortest way over edges.
    fn way(&self, picked: &[u32], closed: bool) -> Result<Vec<Vec3>, Problem> {
        self.places(picked)?;
        let path = edge_path(self.positions, self.triangles, picked, closed);
        self.places(&path.ok_or(Problem::NotJoined)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sculpt::{Guide, Knob, Params, apply};
    use crate::{Run, TriMesh, zoo};

    fn bar() -> TriMesh {
        let size = zoo::Size { triangles: Some(3328) };
        zoo::build("bar", &size, &Run::default()).unwrap().meshes.swap_remove(0)
    }

    fn nearest(mesh: &TriMesh, x: Vec3) -> u32 {
        let off = |i: &u32| mesh.positions[*i as usize].distance(x);
        (0..mesh.positions.len() as u32).min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(0)
    }

    /// The four corners of a ring around the bar.
    fn ring(mesh: &TriMesh, x: f32) -> Vec<u32> {
        let corners = [(0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5), (0.5, -0.5)];
        corners.map(|(y, z)| nearest(mesh, Vec3::new(x, y, z))).to_vec()
    }

    fn edited(mesh: &TriMesh, op: Op) -> Result<Vec<Vec3>, Problem> {
        let (params, run) = (Params::default(), Run::default());
        let mut positions = mesh.positions.clone();
        let done = apply(&mut positions, &mesh.triangles, &[op], &params, &run);
        done.map(|_| positions).map_err(|error| error.problem)
    }

    /// A loop of edges is drawn by a few of its vertices: handle and rest are those of the same curve in points.
    #[test]
    fn picked_loops_bound_what_moves() {
        let mesh = bar();
        let boundary = Boundary {
            inner_vertices: ring(&mesh, 1.0),
            outer_vertices: ring(&mesh, -1.0),
            knob: Knob::Translate { by: Vec3::new(0.3, 0.2, 0.0) },
            ..Boundary::default()
        };
        let guide = Guide::Polyline(vec![Vec3::X, Vec3::new(1.3, 0.2, 0.0)]);
        let orientation = crate::sculpt::Orientation::Keep;
        let extent = Extent::Loops { inner: ring(&mesh, 1.0), outer: ring(&mesh, -1.0) };
        let along = Curve { guide, orientation, extent, ..Curve::default() };
        for op in [Op::Boundary(boundary), Op::Curve(along)] {
            let moved = edited(&mesh, op.clone()).unwrap();
            let mut between = 0;
            for (a, b) in mesh.positions.iter().zip(&moved) {
                if a.x > 1.06 {
                    assert!(
                        b.abs_diff_eq(*a + Vec3::new(0.3, 0.2, 0.0), 1e-5),
                        "{}: {a} {b}",
                        op.name()
                    );
                } else if a.x < -1.06 {
                    assert_eq!(a, b, "{}", op.name());
                } else if a.x.abs() < 0.5 {
                    between += usize::from(a != b);
                }
            }
            assert!(between > 50, "{}: {between} between move", op.name());
        }
    }

    /// A stroke through two vertices runs over the edges between them.
    #[test]
    fn a_stroke_follows_the_surface_between_its_vertices() {
        let mesh = bar();
        let ends = [Vec3::new(0.0, 0.5, 0.0), Vec3::new(0.0, 0.0, 0.5)];
        let vertices = ends.map(|x| nearest(&mesh, x)).to_vec();
        let paint = Paint { vertices, radius: 0.3, depth: 0.05, ..Paint::default() };
        let moved = edited(&mesh, Op::Paint(paint)).unwrap();
        let corner = nearest(&mesh, Vec3::new(0.0, 0.5, 0.5)) as usize;
        let sunk = mesh.positions[corner].distance(moved[corner]);
        assert!(sunk > 0.02, "the edge between the faces lies on the way: {sunk}");
        for (a, b) in mesh.positions.iter().zip(&moved) {
            assert!(a.x.abs() < 0.5 || a == b, "out of reach");
        }
    }

    #[test]
    fn points_may_be_vertices() {
        let mesh = bar();
        let corner = Vec3::new(3.0, 0.5, 0.5);
        let drag = Points { by: vec![Vec3::Y * 0.3], inner: 0.1, outer: 0.8, ..Points::default() };
        let picked = Points { vertices: vec![nearest(&mesh, corner)], ..drag.clone() };
        let typed = Points { points: vec![corner], ..drag };
        let (a, b) = (edited(&mesh, Op::Points(picked)), edited(&mesh, Op::Points(typed)));
        assert_eq!(a.unwrap(), b.unwrap());
    }

    #[test]
    fn what_cannot_be_picked_is_refused() {
        let mesh = bar();
        let far = Points { vertices: vec![99_999], by: vec![Vec3::Y], ..Points::default() };
        let refused = edited(&mesh, Op::Points(far)).unwrap_err();
        assert!(matches!(refused, Problem::NoSuchVertex { vertex: 99_999, .. }), "{refused}");
        let mut two = mesh.clone();
        let shift = mesh.positions.len() as u32;
        two.positions.extend(mesh.positions.iter().map(|p| *p + 9.0 * Vec3::Y));
        two.triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| v + shift)));
        let across = Paint { vertices: vec![0, shift], ..Paint::default() };
        assert_eq!(edited(&two, Op::Paint(across)), Err(Problem::NotJoined));
    }

    /// Copies of a vertex at a seam are one place, whichever of them is picked.
    #[test]
    fn picks_mean_places() {
        let mesh = bar();
        let corner = nearest(&mesh, Vec3::new(3.0, 0.5, 0.5));
        let mut seamed = mesh.clone();
        let copy = seamed.positions.len() as u32;
        seamed.positions.push(mesh.positions[corner as usize]);
        let last = seamed.triangles.iter_mut().rev().find(|t| t.contains(&corner)).unwrap();
        last.iter_mut().filter(|v| **v == corner).for_each(|v| *v = copy);
        let drag = Points { by: vec![Vec3::Y * 0.3], inner: 0.1, outer: 0.8, ..Points::default() };
        let of =
            |vertices: Vec<u32>| edited(&seamed, Op::Points(Points { vertices, ..drag.clone() }));
        assert_eq!(of(vec![corner]).unwrap(), of(vec![copy]).unwrap());
    }
}

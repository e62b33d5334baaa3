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

//! What stands beside a mesh while it is remeshed: other meshes of the same body, which stay as they are.

use std::collections::HashSet;

use glam::Vec3;

use super::index::bounds_of;
use crate::Run;
use crate::mesh::bvh::Bvh;
use crate::mesh::intersect::intersecting;
use crate::mesh::measure::Bounds;
use crate::run::Cancelled;

/// Triangles that a mesh must not run into, and places where it hangs together with them.
#[derive(Debug)]
pub struct Beside {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    tree: Bvh,
    places: HashSet<[u32; 3]>,
}

impl Beside {
    /// Triangles, and the places of vertices of other meshes; all in the space of the mesh.
    ///
    /// # Panics
    ///
    /// If a triangle names a vertex that does not exist.
    #[must_use]
    pub fn new(
        positions: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
        places: impl IntoIterator<Item = Vec3>,
        run: &Run<'_>,
    ) -> Self {
        let tree = Bvh::new(&positions, &triangles, run);
        let places = places.into_iter().map(bits).collect();
        Self { positions, triangles, tree, places }
    }

    /// Whether another mesh has a vertex there.
    pub(super) fn shares(&self, place: Vec3) -> bool {
        self.places.contains(&bits(place))
    }

    /// The triangles whose boxes share a point with `query`.
    pub(super) fn near(&self, query: &Bounds) -> impl Iterator<Item = [Vec3; 3]> {
        self.tree.in_box(query).into_iter().map(|t| self.corners_of(t))
    }

    fn corners_of(&self, t: u32) -> [Vec3; 3] {
        self.triangles[t as usize].map(|v| self.positions[v as usize])
    }

    /// Pairs of a triangle of the mesh and one beside it that intersect, sorted.
    pub(super) fn pairs(
        &self,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        run: &Run<'_>,
    ) -> Result<Vec<[u32; 2]>, Cancelled> {
        let met = run.map(triangles.len(), |t| {
            if run.is_cancelled() {
                return Vec::new();
            }
            let corners = triangles[t].map(|v| positions[v as usize]);
            let mut met = self.tree.in_box(&bounds_of(&corners));
            met.retain(|&o| intersecting(&corners, &self.corners_of(o)));
            met.sort_unstable();
            met
        });
        run.check()?;
        let row = |(t, met): (u32, Vec<u32>)| met.into_iter().map(move |o| [t, o]);
        Ok((0..).zip(met).flat_map(row).collect())
    }
}

/// A place by its bits; both zeros are one.
fn bits(place: Vec3) -> [u32; 3] {
    place.to_array().map(|x| (x + 0.0).to_bits())
}

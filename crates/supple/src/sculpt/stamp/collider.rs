//! The tool as an obstacle: which triangles of a shape meet it, now or during a step.
//!
//! The tool does not move here; the shape moves against it.

use glam::Vec3;

use crate::Run;
use crate::mesh::adjacency::{coincident, renamed, topology};
use crate::mesh::bvh::Bvh;
use crate::mesh::intersect::intersections_between;
use crate::mesh::measure::Bounds;
use crate::mesh::volume::volume;
use crate::mesh::welding::open_edges;
use crate::mesh::winding::Winding;
use crate::run::Cancelled;
use crate::sculpt::error::{Problem, check_point};

/// Triangles of a prism beside the one it starts from, which is known to be outside.
const FACES: usize = 7;

/// Checks that a tool encloses something, and from the right side.
pub(super) fn check(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    run: &Run<'_>,
) -> Result<(), Problem> {
    if triangles.is_empty() {
        return Err(Problem::EmptyTool);
    }
    for &p in positions {
        check_point("a vertex of the tool", p)?;
    }
    if let Some(&vertex) = triangles.iter().flatten().find(|&&v| v as usize >= positions.len()) {
        return Err(Problem::NoSuchVertex { vertex, vertices: positions.len() });
    }
    let joined = renamed(triangles, &coincident(positions));
    let found = topology(positions.len(), &joined, run);
    let open = open_edges(positions, triangles);
    if open > 0 {
        return Err(Problem::ToolNotClosed { open, edges: found.edges });
    }
    if found.misoriented_edges > 0 || volume(positions, triangles, run) <= 0.0 {
        return Err(Problem::ToolInsideOut);
    }
    Ok(())
}

/// A closed mesh that others may run into.
pub(super) struct Collider {
    winding: Winding,
    bounds: Bounds,
}

impl Collider {
    pub(super) fn new(positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> Self {
        let winding = Winding::new(positions, triangles, run);
        let bounds = winding.bvh().bounds().unwrap_or(Bounds::EMPTY);
        Self { winding, bounds }
    }

    /// Its box.
    pub(super) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Its smallest extent.
    pub(super) fn thickness(&self) -> f32 {
        self.bounds.size().min_element()
    }

    /// Triangles that meet the tool or have a corner inside, in rising order.
    pub(super) fn inside(
        &self,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        run: &Run<'_>,
    ) -> Result<Vec<u32>, Cancelled> {
        let near = self.near(positions, triangles, [Vec3::ZERO; 2], run);
        let is_in = |&t: &u32| {
            let corners = triangles[t as usize].map(|v| positions[v as usize]);
            corners.iter().any(|&p| self.winding.inside(p))
        };
        let inside = run.map(near.len(), |k| is_in(&near[k]));
        let mut found = self.met(positions, triangles, Vec3::ZERO, &[], run)?;
        found.extend(near.iter().zip(inside).filter(|(_, is_in)| *is_in).map(|(t, _)| *t));
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Triangles, but for those of a sorted list, that meet the tool displaced by `at`.
    pub(super) fn met(
        &self,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        at: Vec3,
        except: &[u32],
        run: &Run<'_>,
    ) -> Result<Vec<u32>, Cancelled> {
        let mut near = self.near(positions, triangles, [at, Vec3::ZERO], run);
        near.retain(|t| except.binary_search(t).is_err());
        let corner = |v: u32| positions[v as usize] - at;
        let corners: Vec<Vec3> =
            near.iter().flat_map(|&t| triangles[t as usize].map(corner)).collect();
        let alone: Vec<[u32; 3]> =
            (0..near.len() as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        self.meeting(&near, &corners, &alone, run)
    }

    /// Triangles that the tool, displaced by `at`, would run into while it goes on `by`.
    pub(super) fn swept(
        &self,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        [at, by]: [Vec3; 2],
        run: &Run<'_>,
    ) -> Result<Vec<u32>, Cancelled> {
        let near = self.near(positions, triangles, [at, by], run);
        let prism = |&t: &u32| {
            let start = triangles[t as usize].map(|v| positions[v as usize] - at);
            let end = start.map(|p| p - by);
            [start, end].concat()
        };
        let corners: Vec<Vec3> = near.iter().flat_map(prism).collect();
        let faces = |k: u32| {
            let side = |a: u32, b: u32| [[a, b, a + 3], [b, a + 3, b + 3]];
            let sides = [side(0, 1), side(1, 2), side(2, 0)].concat();
            let all = std::iter::once([3, 4, 5]).chain(sides);
            all.map(move |face| face.map(|i| 6 * k + i))
        };
        let prisms: Vec<[u32; 3]> = (0..near.len() as u32).flat_map(faces).collect();
        self.meeting(&near, &corners, &prisms, run)
    }

    /// Which of the triangles `near`, each standing for as many faces as all others, meet the tool.
    fn meeting(
        &self,
        near: &[u32],
        corners: &[Vec3],
        faces: &[[u32; 3]],
        run: &Run<'_>,
    ) -> Result<Vec<u32>, Cancelled> {
        let each = if faces.len() == near.len() { 1 } else { FACES };
        let moving = Bvh::new(corners, faces, run);
        let pairs = intersections_between(&moving, self.winding.bvh(), run)?;
        let mut met: Vec<u32> = pairs.iter().map(|[face, _]| near[*face as usize / each]).collect();
        met.sort_unstable();
        met.dedup();
        Ok(met)
    }

    /// Triangles whose boxes the tool's touches on its way, in rising order.
    fn near(
        &self,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        [at, by]: [Vec3; 2],
        run: &Run<'_>,
    ) -> Vec<u32> {
        let start = Bounds { min: self.bounds.min + at, max: self.bounds.max + at };
        let swept = start.union(&Bounds { min: start.min + by, max: start.max + by });
        let touches = run.map(triangles.len(), |t| {
            let corners = triangles[t].map(|v| positions[v as usize]);
            Bounds::of(&corners).is_some_and(|b| b.overlaps(&swept))
        });
        (0..triangles.len() as u32).filter(|&t| touches[t as usize]).collect()
    }
}

//! Which points are inside a surface: crossings along lines first, winding numbers where those leave doubt.
//!
//! A line that crosses a closed surface enters as often as it leaves. Lattice points share lines: one walk through the
//! tree answers for all points on it, and each point is on three, which vote. A line that does not add up to
//! nothing (it met an edge, an open or flipped part) has no vote; points with no vote or differing ones, and all that
//! are no lattice when the surface is not closed, ask the [winding number](crate::mesh::winding).

use std::sync::OnceLock;

use glam::Vec3;

use super::lattice::Lattice;
use crate::Run;
use crate::mesh::bvh::{Bvh, Ray};
use crate::mesh::winding::Winding;
use crate::run::Cancelled;

/// Points a task answers.
const TASK: usize = 1024;

/// Directions of the rays of single points: along no axis, edge or diagonal that models like.
const SLANTED: [Vec3; 2] =
    [Vec3::new(0.371_3, 0.789_1, 0.488_9), Vec3::new(-0.613_1, 0.291_7, 0.734_3)];

/// A surface that can be asked.
pub(super) struct Inside<'a> {
    pub(super) bvh: &'a Bvh,
    /// Edges whose two directions are not used equally often: holes and flipped parts.
    pub(super) open_edges: usize,
    winding: OnceLock<Winding>,
}

/// Runs of lattice points of a line that are inside, as first and one past the last; `None` without a vote.
type Runs = Option<Vec<[usize; 2]>>;

impl<'a> Inside<'a> {
    /// Prepares a surface whose coincident vertices have one name.
    pub(super) fn new(bvh: &'a Bvh, triangles: &[[u32; 3]]) -> Self {
        Self { bvh, open_edges: open_edges(triangles), winding: OnceLock::new() }
    }

    fn winding(&self, run: &Run<'_>) -> &Winding {
        self.winding.get_or_init(|| Winding::with_bvh(self.bvh.clone(), run))
    }

    /// For each lattice point whether it is inside.
    pub(super) fn lattice(&self, lattice: &Lattice, run: &Run<'_>) -> Result<Vec<bool>, Cancelled> {
        // Low half: votes for inside; high half: all votes.
        let mut votes = vec![0_u8; lattice.len()];
        for odd in 0..2 {
            for axis in 0..3 {
                self.vote(lattice, odd, axis, &mut votes, run)?;
            }
        }
        let mut unsure = Vec::new();
        let mut inside: Vec<bool> = Vec::with_capacity(votes.len());
        for (i, vote) in votes.iter().enumerate() {
            let (yes, all) = (vote & 15, vote >> 4);
            inside.push(all > 0 && yes == all);
            if all == 0 || (yes > 0 && yes < all) {
                unsure.push(i);
            }
        }
        if !unsure.is_empty() {
            let points = positions(lattice, &unsure);
            let answers = self.winding(run).at_points(&points, run)?;
            for (i, w) in unsure.into_iter().zip(answers) {
                inside[i] = w.abs() > 0.5;
            }
        }
        Ok(inside)
    }

    /// Lets all lines along one axis vote.
    fn vote(
        &self,
        lattice: &Lattice,
        odd: usize,
        axis: usize,
        votes: &mut [u8],
        run: &Run<'_>,
    ) -> Result<(), Cancelled> {
        let counts = lattice.counts(odd);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let place = |a: usize, i: usize, j: usize| {
            let mut at = [0; 3];
            (at[axis], at[u], at[v]) = (a, i, j);
            at
        };
        let planes = run.map_tasks(counts[v], |j| {
            run.check()?;
            let line = |i: usize| self.line(lattice, odd, axis, place(0, i, j));
            Ok((0..counts[u]).map(line).collect::<Vec<Runs>>())
        });
        for (j, plane) in planes.into_iter().enumerate() {
            for (i, runs) in plane?.into_iter().enumerate() {
                let Some(runs) = runs else { continue };
                let stride =
                    lattice.index(odd, place(1, i, j)) - lattice.index(odd, place(0, i, j));
                let first = lattice.index(odd, place(0, i, j));
                (0..counts[axis]).for_each(|a| votes[first + a * stride] += 16);
                for [from, to] in runs {
                    (from..to).for_each(|a| votes[first + a * stride] += 1);
                }
            }
        }
        Ok(())
    }

    /// Where a line of the lattice is inside.
    fn line(&self, lattice: &Lattice, odd: usize, axis: usize, at: [usize; 3]) -> Runs {
        let start = lattice.position(odd, at);
        let ray = Ray { origin: start, direction: Vec3::AXES[axis] };
        let hits = self.bvh.all_hits(&ray);
        let count = lattice.counts(odd)[axis];
        let (mut runs, mut depth, mut next) = (Vec::new(), 0_i32, 0);
        for hit in hits {
            // The first point beyond the hit, found from a guess that rounding may have put one off.
            let along = f64::from(hit.distance) / lattice.h;
            let mut beyond = (along.floor() as usize).min(count);
            let is_before =
                |a: usize| lattice.coordinate(axis, odd, a) - start[axis] <= hit.distance;
            while beyond < count && is_before(beyond) {
                beyond += 1;
            }
            if depth != 0 && beyond > next {
                runs.push([next, beyond]);
            }
            next = beyond;
            depth += if hit.front { 1 } else { -1 };
        }
        (depth == 0).then_some(runs)
    }

    /// For each point whether it is inside.
    pub(super) fn points(&self, points: &[Vec3], run: &Run<'_>) -> Result<Vec<bool>, Cancelled> {
        if self.open_edges > 0 {
            let answers = self.winding(run).at_points(points, run)?;
            return Ok(answers.into_iter().map(|w| w.abs() > 0.5).collect());
        }
        let parts = run.map_tasks(points.len().div_ceil(TASK), |task| {
            run.check()?;
            let end = points.len().min((task + 1) * TASK);
            Ok(points[task * TASK..end].iter().map(|&p| self.point(p, run)).collect::<Vec<_>>())
        });
        let mut all = Vec::with_capacity(points.len());
        for part in parts {
            all.extend(part?);
        }
        Ok(all)
    }

    fn point(&self, point: Vec3, run: &Run<'_>) -> bool {
        let depth = |direction: Vec3| {
            let hits = self.bvh.all_hits(&Ray { origin: point, direction });
            hits.iter().map(|hit| if hit.front { -1 } else { 1 }).sum::<i32>()
        };
        let one = depth(SLANTED[0]);
        if one.abs() <= 1 {
            return one != 0;
        }
        // Parts inside parts, or a ray through an edge.
        let other = depth(SLANTED[1]);
        if one == other || other.abs() <= 1 { other != 0 } else { self.winding(run).inside(point) }
    }
}

/// Where the lattice points of these numbers are, which must rise.
fn positions(lattice: &Lattice, numbers: &[usize]) -> Vec<Vec3> {
    let corners = lattice.counts(0).iter().product::<usize>();
    let position = |&i: &usize| {
        let odd = usize::from(i >= corners);
        let [nx, ny, _] = lattice.counts(odd);
        let i = i - odd * corners;
        lattice.position(odd, [i % nx, i / nx % ny, i / (nx * ny)])
    };
    numbers.iter().map(position).collect()
}

/// Edges whose two directions are not used equally often.
fn open_edges(triangles: &[[u32; 3]]) -> usize {
    let side = |&[a, b, c]: &[u32; 3]| [[a, b], [b, c], [c, a]];
    let sides = triangles.iter().flat_map(side).filter(|[a, b]| a != b);
    let mut sides: Vec<([u32; 2], i32)> =
        sides.map(|[a, b]| if a < b { ([a, b], 1) } else { ([b, a], -1) }).collect();
    sides.sort_unstable();
    let edges = sides.chunk_by(|a, b| a.0 == b.0);
    edges.filter(|edge| edge.iter().map(|side| side.1).sum::<i32>() != 0).count()
}

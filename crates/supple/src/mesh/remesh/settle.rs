//! Evening out what a deformation left behind: vertices spread, needless ones merged.
//!
//! # Method
//!
//! Steps 3 to 5 of the thesis, section 2.4.2. Every free vertex moves towards the middle of its
//! neighbours, along the surface, a few times; then edges are merged that are short and whose ends have
//! nearly the same normal; then vertices move again. Only triangles that the caller names are touched;
//! features, attributes and the test for intersections are those of [`remesh`](super::remesh).
//!
//! # Where we differ from the paper
//!
//! How much the normals of an edge may differ depends on its length: their product bounds how far the
//! surface moves, which costs volume.
//!
//! # References
//!
//! - W. von Funck. Shape Deformations Based on Vector Fields. Thesis, Saarbrücken, 2008; section
//!   2.4.2.

use glam::Vec3;

use super::connect::{NONE, prev};
use super::passes::Passes;
use super::smooth::smooth;
use super::surface::{Place, Surface};
use super::work::Work;
use super::{Error, Lengths, Params, carry};
use crate::Run;
use crate::mesh::TriMesh;
use crate::mesh::intersect::self_intersections;

/// Rounds of spreading, before and after merging.
const ROUNDS: u32 = 3;

/// What to merge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Merge {
    /// Edges as long as this stay.
    pub(crate) shortest: f32,
    /// How far the surface may move.
    pub(crate) tolerance: f32,
}

/// Evens out the triangles that are `free`; the others stay as they are.
///
/// # Errors
///
/// [`Error::Cancelled`].
pub(crate) fn settle(
    mesh: &TriMesh,
    free: &[bool],
    merge: &Merge,
    run: &Run<'_>,
) -> Result<TriMesh, Error> {
    let pairs = self_intersections(&mesh.positions, &mesh.triangles, run)?.len();
    let surface = Surface::new(mesh, Params::default().feature_degrees, run);
    let work = Work::new(&surface, mesh);
    let mut passes = Passes::new(&surface, work, pairs > 0, usize::MAX);
    passes.free = surface.cut.source.iter().map(|&t| free[t as usize]).collect();
    passes.tidy(run);
    spread(&mut passes, run)?;
    passes.merge_flat(merge, run)?;
    passes.tidy(run);
    spread(&mut passes, run)?;
    Ok(carry::carry(mesh, &surface, &passes.work, run))
}

fn spread(passes: &mut Passes<'_>, run: &Run<'_>) -> Result<(), Error> {
    for _ in 0..ROUNDS {
        smooth(passes, run)?;
        passes.tidy(run);
    }
    Ok(())
}

impl Passes<'_> {
    /// Whether a vertex at this place may move.
    pub(super) fn is_free(&self, place: Place) -> bool {
        let free = |t: u32| self.free.is_empty() || self.free[t as usize];
        match place {
            Place::Corner(_) => false,
            Place::Face(t) => free(t),
            Place::Curve(curve, at) => {
                let (segment, _) = self.surface.along(curve, at);
                let sides = self.surface.curves[curve as usize].sides[segment];
                sides.iter().filter(|&&h| h != NONE).all(|h| free(h / 3))
            }
        }
    }

    /// Merges the ends of short edges where the surface is flat.
    fn merge_flat(&mut self, merge: &Merge, run: &Run<'_>) -> Result<(), Error> {
        let lengths = Lengths { longest: 2.0 * merge.shortest, shortest: merge.shortest };
        for h in 0..self.work.twin.len() as u32 {
            if h.is_multiple_of(1024) {
                run.check()?;
            }
            if !self.work.is_alive(h / 3) {
                continue;
            }
            let twin = self.work.twin[h as usize];
            if (twin == NONE || h < twin) && self.is_needless(h, merge) {
                self.try_merge(h, &lengths);
            }
        }
        Ok(())
    }

    fn is_needless(&self, h: u32, merge: &Merge) -> bool {
        let ends = [self.work.from(h), self.work.to(h)];
        let length = self.work.length(h);
        if length >= merge.shortest
            || !ends.iter().all(|&v| self.is_free(self.work.places[v as usize]))
        {
            return false;
        }
        let [a, b] = ends.map(|v| normal(&self.work, v));
        // Twice as long, an edge lies so far beside an arc that turns by this angle on half of it.
        length * a.angle_between(b) < 2.0 * merge.tolerance
    }
}

fn normal(work: &Work, v: u32) -> Vec3 {
    let at = work.at(v);
    let side = |spoke: u32| {
        let [p, q] = [work.to(spoke), work.from(prev(spoke))].map(|v| work.at(v) - at);
        p.cross(q)
    };
    work.spokes(v).map(side).sum::<Vec3>().normalize_or_zero()
}

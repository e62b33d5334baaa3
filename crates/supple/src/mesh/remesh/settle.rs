//! Evening out what a deformation left behind: vertices spread, needless ones merged.
//!
//! # Method
//!
//! Steps 3 to 5 of the thesis, section 2.4.2. Every free vertex moves towards the middle of its
//! neighbours, along the surface, a few times; then short edges are merged; then vertices move again. Only
//! triangles that the caller names are touched; features, attributes and the test for intersections are
//! those of [`remesh`](super::remesh).
//!
//! # Where we differ from the paper
//!
//! A vertex moves, and an edge is merged, only where the surface afterwards passes the old vertices within
//! a tolerance. Without it a rounded shape of a few thousand triangles loses 3e-3 of its volume, because
//! vertices that slide over an edge cut it off. An edge is merged at its middle or, where that costs
//! too much, at one of its ends.
//!
//! # References
//!
//! - W. von Funck. Shape Deformations Based on Vector Fields. Thesis, Saarbrücken, 2008; section
//!   2.4.2.

use super::connect::NONE;
use super::guard::Guard;
use super::passes::Passes;
use super::smooth::smooth;
use super::surface::{Constraint, Surface};
use super::work::{Edge, Work};
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
    /// How far the surface may leave a vertex.
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
    let surface = Surface::new(mesh, Params::default().feature_degrees, None, run);
    let work = Work::new(&surface, mesh);
    let mut passes = Passes::new(&surface, work, Guard::new(pairs > 0, None), usize::MAX);
    passes.tolerance = merge.tolerance;
    passes.free = surface.cut.source.iter().map(|&t| free[t as usize]).collect();
    passes.tidy(run);
    spread(&mut passes, run)?;
    passes.merge_needless(merge.shortest, run)?;
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
    pub(super) fn is_free(&self, place: Constraint) -> bool {
        let free = |t: u32| self.free.is_empty() || self.free[t as usize];
        match place {
            Constraint::Corner(_) => false,
            Constraint::Face(t) => free(t),
            Constraint::Curve(curve, at) => {
                let (segment, _) = self.surface.along(curve, at);
                let sides = self.surface.curves[curve as usize].sides[segment];
                sides.iter().filter(|&&h| h != NONE).all(|h| free(h / 3))
            }
        }
    }

    /// Merges the ends of short edges where the surface stays where it is.
    fn merge_needless(&mut self, shortest: f32, run: &Run<'_>) -> Result<(), Error> {
        let lengths = Lengths { longest: 2.0 * shortest, shortest };
        for h in 0..self.work.twin.len() as u32 {
            if h.is_multiple_of(1024) {
                run.check()?;
            }
            if !self.work.is_alive(h / 3) {
                continue;
            }
            let twin = self.work.twin[h as usize];
            let ends = [self.work.from(h), self.work.to(h)].map(|v| self.work.places[v as usize]);
            let is_free = ends.iter().all(|&place| self.is_free(place));
            if (twin == NONE || h < twin) && self.work.length(h) < shortest && is_free {
                self.merge_anywhere(h, &lengths);
            }
        }
        Ok(())
    }

    /// Merges the ends of an edge at its middle, or at one of them.
    fn merge_anywhere(&mut self, h: u32, lengths: &Lengths) {
        let Edge { g, v, w, .. } = self.work.edge(h);
        let inside =
            [v, w].iter().all(|&v| matches!(self.work.places[v as usize], Constraint::Face(_)));
        let middle = self.merge_target(h);
        let ends = [h, g].into_iter().filter(|&side| inside && side != NONE);
        let ends: Vec<_> = ends.map(|side| self.start_stays(side)).collect();
        middle.into_iter().chain(ends).any(|target| self.merge_to(target, lengths));
    }
}

//! Whether a take folds its bodies: self-intersections of some of its frames.
//!
//! # Method
//!
//! The first and the last frame are looked at, and the one in which an edge is stretched most; all of them if that
//! is asked for. What is told is what the modifiers add: pairs of triangles that do not intersect where the motion
//! alone carries the body. A simulated body is compared with its rest shape.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

use super::cache::Cache;
use super::{BakeError, Baked};
use crate::Run;
use crate::mesh::folding::Folding;
use crate::player::Player;

/// Self-intersections of some frames of a body.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Folds {
    /// The longest an edge gets, over its length at rest.
    pub edge_stretch: f64,
    /// In which frame.
    pub stretched_in: u32,
    /// The frames that were looked at.
    pub frames: Vec<FoldedFrame>,
}

/// Self-intersections of a frame: before, as the motion alone carries the body, and after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FoldedFrame {
    /// Which frame.
    pub frame: u32,
    /// Edges along which the modifiers moved copies of vertices apart: always 0.
    pub opened_edges: usize,
    /// What the modifiers did to it.
    #[serde(flatten)]
    pub folding: Folding,
}

impl Folds {
    /// The frame to which most was added.
    #[must_use]
    pub fn worst(&self) -> Option<&FoldedFrame> {
        self.frames.iter().max_by_key(|f| (f.folding.added, f.folding.after, u32::MAX - f.frame))
    }
}

/// One part of a line for people.
impl fmt::Display for Folds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "edges up to {:.2} times as long", self.edge_stretch)?;
        let Some(FoldedFrame { frame, folding, .. }) = self.worst() else { return Ok(()) };
        let Folding { after, added, .. } = folding;
        match (added, after) {
            (0, 0) => write!(f, ", nothing intersects"),
            (0, _) => write!(f, ", no intersection added"),
            _ => write!(f, ", {added} of {after} intersecting pairs added in frame {frame}"),
        }
    }
}

/// Looks at the frames of all bodies.
pub(super) fn look(
    player: &Player,
    cache: &Cache,
    baked: &mut Baked,
    stretches: &[Vec<f64>],
    all: bool,
    run: &Run<'_>,
) -> Result<(), BakeError> {
    let frames = baked.frames.clone();
    for (i, cast) in player.cast().iter().enumerate() {
        let triangles = cast.topology().triangles();
        if cast.is_generated() || triangles.is_empty() {
            continue;
        }
        let mut folds = stretched(i, frames.start, stretches);
        for frame in looked_at(&frames, folds.stretched_in, all) {
            run.check()?;
            let lost = |source| BakeError::Io { path: cache.folder().to_owned(), source };
            let shape = cache.shape(frame, i, run).map_err(lost)?;
            if !std::sync::Arc::ptr_eq(&shape.topology, cast.topology()) {
                continue;
            }
            let plain = player.posed(i, frame, run);
            let before = plain.as_deref().unwrap_or(&cast.rest.meshes[0].positions);
            let folding =
                Folding::between((before, triangles), (&shape.positions, triangles), run)?;
            let opened_edges = match &plain {
                Some(plain) => cast.body.welding().opened(triangles, plain, &shape.positions),
                None => 0,
            };
            folds.frames.push(FoldedFrame { frame, opened_edges, folding });
        }
        warn(&cast.actor.name, &folds, &mut baked.warnings);
        baked.bodies[i].folds = Some(folds);
    }
    Ok(())
}

/// Where a body is stretched most.
fn stretched(body: usize, first: u32, stretches: &[Vec<f64>]) -> Folds {
    let mut folds = Folds { edge_stretch: 1.0, stretched_in: first, ..Folds::default() };
    for (frame, of_bodies) in (first..).zip(stretches) {
        if let Some(&stretch) = of_bodies.get(body).filter(|s| **s > folds.edge_stretch) {
            (folds.edge_stretch, folds.stretched_in) = (stretch, frame);
        }
    }
    folds
}

fn looked_at(frames: &Range<u32>, stretched: u32, all: bool) -> Vec<u32> {
    if all {
        return frames.clone().collect();
    }
    let mut some = vec![frames.start, stretched, frames.end.saturating_sub(1)];
    some.sort_unstable();
    some.dedup();
    some
}

fn warn(name: &str, folds: &Folds, warnings: &mut Vec<String>) {
    for FoldedFrame { frame, opened_edges, .. } in
        folds.frames.iter().filter(|f| f.opened_edges > 0)
    {
        let what =
            "edges opened along the seams of the file; weld it first (supple convert --weld 0)";
        warnings.push(format!("frame {frame}: asset '{name}': {opened_edges} {what}"));
    }
    let Some(FoldedFrame { frame, folding, .. }) = folds.worst() else { return };
    if let Some(what) = folding.warning() {
        warnings.push(format!("frame {frame}: asset '{name}': {what} by its motion alone"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_last_and_most_stretched_are_looked_at() {
        let stretches: Vec<Vec<f64>> = [1.0, 1.2, 2.5, 1.1].map(|s| vec![0.5, s]).to_vec();
        let folds = stretched(1, 10, &stretches);
        assert_eq!((folds.edge_stretch, folds.stretched_in), (2.5, 12));
        assert_eq!(looked_at(&(10..14), folds.stretched_in, false), [10, 12, 13]);
        assert_eq!(looked_at(&(10..14), 10, true), [10, 11, 12, 13]);
        assert_eq!(looked_at(&(10..11), 10, false), [10]);
    }
}

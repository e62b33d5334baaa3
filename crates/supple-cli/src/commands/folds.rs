//! Whether a take folds: self-intersections of its first, its last and its most stretched frame, as a bake counts them.

use glam::Vec3;
use supple::Run;
use supple::bake::{FoldedFrame, Folds};
use supple::mesh::adjacency;
use supple::mesh::folding::Folding;
use supple::run::Cancelled;

use crate::shell::Shell;

/// Watches the frames of a take go by.
#[derive(Debug)]
pub(super) struct Watch {
    rest: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    most_stretch: f64,
    first: Option<Seen>,
    most: Option<Seen>,
    last: Option<Seen>,
}

/// A frame as it is written.
#[derive(Clone, Debug)]
struct Seen {
    frame: u32,
    positions: Vec<Vec3>,
}

impl Watch {
    /// What is added is what the shape at rest does not have.
    pub(super) fn new(rest: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        Self {
            rest: rest.to_vec(),
            triangles: triangles.to_vec(),
            edges: adjacency::edges(rest.len(), triangles),
            most_stretch: 1.0,
            first: None,
            most: None,
            last: None,
        }
    }

    /// A frame goes by; they come in order.
    pub(super) fn see(&mut self, frame: u32, positions: &[Vec3]) {
        let length = |at: &[Vec3], [a, b]: [u32; 2]| at[a as usize].distance(at[b as usize]);
        let ratio = |e: &[u32; 2]| f64::from(length(positions, *e) / length(&self.rest, *e));
        let stretch = self.edges.iter().map(ratio).filter(|r| r.is_finite()).fold(1.0, f64::max);
        let seen = Seen { frame, positions: positions.to_vec() };
        self.first.get_or_insert_with(|| seen.clone());
        if stretch > self.most_stretch {
            (self.most_stretch, self.most) = (stretch, Some(seen.clone()));
        }
        self.last = Some(seen);
    }

    /// All frames are seen.
    pub(super) fn finish(self, run: &Run<'_>) -> Result<Folds, Cancelled> {
        let stretched_in = self.most.as_ref().or(self.first.as_ref()).map_or(0, |s| s.frame);
        let mut folds = Folds { edge_stretch: self.most_stretch, stretched_in, frames: Vec::new() };
        let mut seen: Vec<Seen> =
            [self.first, self.most, self.last].into_iter().flatten().collect();
        seen.dedup_by_key(|s| s.frame);
        for Seen { frame, positions } in &seen {
            let [before, after] = [&self.rest, positions].map(|at| (&at[..], &self.triangles[..]));
            let folding = Folding::between(before, after, run)?;
            folds.frames.push(FoldedFrame { frame: *frame, opened_edges: 0, folding });
        }
        Ok(folds)
    }
}

/// One line for people, and a warning if anything was added.
pub(super) fn tell(folds: &Folds, command: &str, shell: &Shell) {
    let Some(FoldedFrame { frame, folding, .. }) = folds.worst() else { return };
    if let Some(what) = folding.warning() {
        shell.warn(command, &[format!("frame {frame}: {what} at rest")]);
    }
    if !shell.options().json {
        shell.say(format!(
            "self-intersections {} → {} (frame {frame})",
            folding.before, folding.after
        ));
    }
}

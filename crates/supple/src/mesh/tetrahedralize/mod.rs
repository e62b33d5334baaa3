//! Tets from surfaces: a body with an inside for what has only a skin.
//!
//! [`fill`](fill::fill): every vertex of the surface is a node, and interior points stand among them at the surface's
//! own spacing. Right where lengths matter, as in networks of springs.
//!
//! It stands on [`delaunay`](delaunay::delaunay), which anyone may use.
//!
//! [`body`](body::body): few tets of good shape, whatever the surface's triangles, and the surface embedded in them. Right
//! for what is simulated.

pub mod body;
pub mod delaunay;
pub mod fill;
mod inside;
mod lattice;
mod stuffing;

use glam::Vec3;

use crate::mesh::tri;
use crate::run::Cancelled;

pub use body::{EmbeddedSkin, body};
pub use fill::{Filled, fill};

/// Why there are no tets.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The surface is inconsistent.
    #[error("the surface cannot be used: {0}")]
    Defect(#[from] tri::Defect),
    /// There is nothing to fill.
    #[error("the surface has no triangle: there is nothing to fill")]
    Empty,
    /// A point is NaN or infinite.
    #[error("point {vertex} is not finite: {position}")]
    NotFinite {
        /// Which point.
        vertex: usize,
        /// Its position.
        position: Vec3,
    },
    /// All points are in one plane.
    #[error(
        "all {points} points lie in one plane, on one line or at one place: tets need a body with thickness"
    )]
    Flat {
        /// How many there are.
        points: usize,
    },
    /// The asked spacing is no length.
    #[error(
        "a spacing of {spacing} is no length: give a positive number, in the units of the surface"
    )]
    Spacing {
        /// What was asked for.
        spacing: f32,
    },
    /// The asked spacing is larger than the surface.
    #[error(
        "a spacing of {spacing} is more than the size of the surface, {size}: ask for a smaller one"
    )]
    Coarse {
        /// What was asked for.
        spacing: f32,
        /// The diagonal of the surface.
        size: f32,
    },
    /// More points than there is memory for.
    #[error("this would need {points} points, more than {limit}: ask for a larger spacing")]
    TooMany {
        /// How many.
        points: u64,
        /// How many there may be.
        limit: u64,
    },
    /// No tet is inside.
    #[error(
        "nothing is inside the surface: its triangles enclose no volume that {points} points could span; {open} of its \
         edges are open"
    )]
    NothingInside {
        /// Nodes that were tried.
        points: usize,
        /// Edges without a triangle on their other side.
        open: usize,
    },
    /// A body needs a closed surface.
    #[error(
        "the surface has {edges} open edges: a body needs a closed one; close its holes, or fill it without --body"
    )]
    Open {
        /// How many edges have no triangle on their other side, or one that faces the other way.
        edges: usize,
    },
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

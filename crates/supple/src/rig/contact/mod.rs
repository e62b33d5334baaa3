//! Contact: bodies that touch colliders and each other give way instead of entering them.
//!
//! # Method
//!
//! *Simulate*: each [`Segment`] of a body is represented by about a hundred of its points. For every
//! convex part nearby, [`Contacts`] remembers the way out, which follows the surface only so fast and never
//! turns to the other side: what was pushed in from the left leaves to the left, however deep it is.
//! Points that are inside, or behind, press on rigid bodies in proportion to their depth.
//!
//! *Deform*: the vertices that are inside a part are pushed out by a divergence-free field, so the body
//! keeps its volume. With `n` the way out, `d` the depth along it, `r` the distance to a region that contains the
//! part and comes from `d` behind to its place, `β = 1 − b(r/width)`:
//!
//! ```text
//! v = d (∇(βe) × ∇(βf)) = d β ((β + ∇β·ρ) n − (∇β·n) ρ)      ρ = x − c across n
//! ```
//!
//! What is before the region is pushed along with it, so nothing enters. `width` is the softness times
//! the segment's size. Fields of one segment are added; segments follow one another. Vertices inside are
//! looked for again and pushed again, at most eight times, and what is left inside is projected and reported.
//!
//! # Where we differ from the paper
//!
//! - The way out is that of least penetration, remembered over time, not the line between centres of gravity.
//! - The paper's sphere about a part would make the field of a wall as large as the wall: long and flat
//!   parts have a box instead, cut to what the body reaches. `e`, `f` vanish at the contact's centroid.
//! - Pushes that act together are weighed against each other so that the deepest points move as far as
//!   they must: the parts of a ring would otherwise add up.
//! - A dent reaches over the joints of the segment that is hit: weighing the push by the segment's own
//!   weights changed the volume of a falling camel by 7 %.
//! - Bodies that meet are pushed to a plane between them, both by half, which the paper leaves open.
//!
//! # Limits
//!
//! Where a dent ends at a second joint, volume is kept only about. Segments are treated in turn, so a
//! mirrored pose gives the mirrored shape only about.
//!
//! # References
//!
//! - W. von Funck, H. Theisel, H.-P. Seidel. Elastic Secondary Deformations by Vector Field
//!   Integration. Symposium on Geometry Processing, 2007; section 4.

mod field;
mod memory;
mod resolve;
mod segment;

pub use memory::{Contacts, Meet, PosedCollider, PosedSegment, Pressure, Touch};
pub use resolve::{MOST_PASSES, Obstacle, Report, resolve};
pub use segment::{Segment, segments};

//! Contact: bodies that touch colliders and each other give way instead of entering them.
//!
#![doc = include_str!("../../../../../docs/pictures/contact.md")]
//!
//! # Method
//!
//! *Simulate*: each [`Segment`] of a body is represented by about a hundred of its points. For every
//! convex part nearby, [`Contacts`] remembers the way out, which follows the surface only so fast and never
//! turns to the other side: what was pushed in from the left leaves to the left, however deep it is.
//! Points that are inside, or behind, press on rigid bodies in proportion to their depth.
//!
//! *Deform*: the vertices that are inside a part are pushed out by a divergence-free field, so the body
//! keeps its volume. With `n` the way out, `d` the depth along it, `β = (1 − s)³ (1 + 3s)` where `s` goes from 0 at
//! a region that contains the part, and comes from `d` behind to its place, to 1 at `width` from it:
//!
//! ```text
//! v = d (∇(βe) × ∇(βf)) = d β ((β + ∇β·ρ) n − (∇β·n) ρ)      ρ = x − c across n
//! ```
//!
//! What is before the region is pushed along with it, so nothing enters. `width` is the softness times
//! the segment's size. All fields are added and carry all vertices of the body, whichever segment was hit.
//! Thirty-two neighbours at a time take Runge–Kutta steps as long as the slope of the added fields between them
//! allows: the pushes of a ring need two or three, where the sum of their bounds asked for fifty.
//! Vertices inside are looked for again and pushed again, at most eight times, and what is left inside
//! is projected and reported.
//!
//! # Where we differ from the paper
//!
//! - The way out is that of least penetration, remembered over time, not the line between centres of gravity.
//! - The paper's sphere about a part would make the field of a wall as large as the wall: long and flat
//!   parts have a box instead, cut to what the body reaches. Before those that reach beyond the body on one
//!   side `v = d (∇(βe) × ∇f) = d ((β + ∇β·ρ) n − (∇β·n) ρ)` with `ρ` only along that side: the field
//!   above has a ring of flow back into the wall, which pushed the other feet of a camel into the floor,
//!   and those pushed back, harder each time.
//! - The paper deforms each segment by its own fields and blends. Blending moved the volume of a falling
//!   camel by 7 %; here all vertices go through the same fields. Where two segments leave one bar to
//!   opposite sides, `β` is cut off at the back of the bar instead, so that neither drags the other in.
//! - What leaves the same part about the same way is one contact, and pushes that act together are weighed
//!   against each other so that the deepest points move as far as they must: the parts of a ring would
//!   otherwise add up.
//! - In a ring, or whatever surrounds a body, all pushes make room along the way through, by the second
//!   field, each in the plane of that way and its own: room made aside is where the other parts push.
//! - Bodies that meet are pushed to a plane between them, both by half, which the paper leaves open. Two
//!   segments of one body are pushed alike, but each vertex only as far as it belongs to the one or the
//!   other: no field of space takes apart what is in the same place.
//!
//! # Limits
//!
//! The volume is kept as well as the mesh follows the fields: within 6e-4 for a camel of 19,536
//! triangles, less well where triangles are larger than a bar is thick. A head of half width 0.95 and half
//! depth 1.1 goes through a ring with a hole of radius 0.75 (`a_head_goes_through_a_ring`); where the ring is a
//! mesh, its parts are less regular and the ways out of them too: in a hole of 0.94 nothing is inside and the
//! volume is within 3e-3, in tighter ones it folds. Segments of one body count as convex.
//!
//! # References
//!
//! - W. von Funck, H. Theisel, H.-P. Seidel. Elastic Secondary Deformations by Vector Field
//!   Integration. Symposium on Geometry Processing, 2007; section 4.

mod detect;
mod field;
mod hierarchy;
mod memory;
pub(crate) mod parting;
mod resolve;
mod segment;
mod surrounding;

pub use hierarchy::{Parting, part};
pub use memory::{Contacts, Meet, PosedCollider, PosedSegment, Pressure, Touch};
pub use resolve::{MOST_PASSES, Obstacle, Origin, Report, resolve};
pub use segment::{Segment, Segments};

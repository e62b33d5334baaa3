//! Where what moves meets what does not, or itself.
//!
//! # Method
//!
//! Tools of chapter 2 move all of space and cannot make a shape meet itself. Edits that live on the
//! surface can: a finger bends into the thumb. Triangles that intersect after an edit and did not before
//! it are a contact. How far the motion gets without one is found on the edit's own clock
//! ([`partial`](super::partial)): the edit is made anew up to one share of it after the other, until two
//! shares are close, one with new pairs and one without.
//!
//! # Limits
//!
//! Shares are a fiftieth of the shape's size apart at first (by what moves farthest): parts thinner than
//! that may pass through each other unseen. A contact also counts where a coarse mesh folds on itself.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Problem;
use super::{Done, Op, Params};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::mesh::intersect::self_intersections;
use crate::mesh::measure::Bounds;

/// What to do where what moves meets what stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnContact {
    /// Do not look.
    Ignore,
    /// Say so in the report, for edits that can cause it.
    #[default]
    Report,
    /// End the motion before it, whatever the edit.
    Stop,
}

/// Triangles that met during an edit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Collision {
    /// Which edit, counted from one.
    pub operation: usize,
    /// The largest share of its motion that was found free of new intersections, 0 to 1.
    pub share: f32,
    /// True if the motion was ended there.
    pub stopped: bool,
    /// How many pairs of triangles intersect that did not before: at the end of the motion, or if it was
    /// stopped, just after.
    pub pairs: usize,
    /// The pairs that met first, at most sixteen.
    pub first: Vec<[u32; 2]>,
}

/// Most pairs that are named.
const NAMED: usize = 16;

/// Parts that a motion as long as the shape is looked at in.
const PARTS: f32 = 50.0;

/// Least and most of them for one motion.
const LEAST_PARTS: u32 = 4;
const MOST_PARTS: u32 = 100;

/// How often the gap between a free share and one with a contact is halved: if the motion is to stop
/// there, and if it is only told.
const HALVINGS_TO_STOP: u32 = 10;
const HALVINGS_TO_TELL: u32 = 6;

impl Collision {
    /// What a person should know.
    pub(super) fn warning(&self) -> String {
        let percent = 100.0 * self.share;
        let first = self.first.first().copied().unwrap_or_default();
        let end = if self.stopped { "stopped there" } else { "free up to there" };
        let Self { pairs, .. } = self;
        format!(
            "parts of the surface meet after {percent:.1} % of the motion ({end}): {pairs} pairs of \
             triangles, the first {} and {}",
            first[0], first[1]
        )
    }
}

/// Carries out an edit, as far as it may go.
pub(super) fn carry_out(
    op: &Op,
    positions: &mut [Vec3],
    triangles: &[[u32; 3]],
    params: &Params,
    run: &Run<'_>,
) -> Result<(Done, Option<Collision>), Problem> {
    let is_watched = match params.on_contact {
        OnContact::Ignore => false,
        OnContact::Report => op.may_meet_itself(),
        OnContact::Stop => true,
    };
    if !is_watched || triangles.is_empty() {
        return Ok((op.run(positions, triangles, params, run)?, None));
    }
    let before = positions.to_vec();
    let known = self_intersections(&before, triangles, run)?;
    let watch = Watch { op, before, triangles, known, params, run };
    match params.on_contact {
        OnContact::Stop => watch.stop(positions),
        OnContact::Ignore | OnContact::Report => watch.tell(positions),
    }
}

/// An edit that is made again and again up to some share.
struct Watch<'a> {
    op: &'a Op,
    before: Vec<Vec3>,
    triangles: &'a [[u32; 3]],
    /// Pairs that intersect before, sorted.
    known: Vec<[u32; 2]>,
    params: &'a Params,
    run: &'a Run<'a>,
}

/// A share without new pairs, a larger one with some, and these.
struct Bracket {
    free: f32,
    met: f32,
    pairs: Vec<[u32; 2]>,
}

impl Watch<'_> {
    /// The whole motion, and what it ran into.
    fn tell(&self, positions: &mut [Vec3]) -> Result<(Done, Option<Collision>), Problem> {
        let done = self.make(positions, 1.0)?;
        let pairs = self.new_pairs(positions)?;
        if pairs.is_empty() {
            return Ok((done, None));
        }
        let count = pairs.len();
        let mut probe = positions.to_vec();
        let found =
            self.close(Bracket { free: 0.0, met: 1.0, pairs }, HALVINGS_TO_TELL, &mut probe)?;
        Ok((done, Some(found.contact(count, false))))
    }

    /// The motion up to the first contact.
    fn stop(&self, positions: &mut [Vec3]) -> Result<(Done, Option<Collision>), Problem> {
        let whole = self.make(positions, 1.0);
        let parts = self.parts(positions);
        let mut free = 0.0;
        for k in 1..=parts {
            let share = k as f32 / parts as f32;
            self.make(positions, share)?;
            let pairs = self.new_pairs(positions)?;
            if !pairs.is_empty() {
                let bracket = Bracket { free, met: share, pairs };
                let found = self.close(bracket, HALVINGS_TO_STOP, positions)?;
                let done = self.make(positions, found.free)?;
                let count = found.pairs.len();
                return Ok((done, Some(found.contact(count, true))));
            }
            free = share;
        }
        Ok((whole?, None))
    }

    /// Halves the gap between the two shares.
    fn close(
        &self,
        mut bracket: Bracket,
        halvings: u32,
        probe: &mut [Vec3],
    ) -> Result<Bracket, Problem> {
        for _ in 0..halvings {
            self.run.check()?;
            let middle = 0.5 * (bracket.free + bracket.met);
            self.make(probe, middle)?;
            let pairs = self.new_pairs(probe)?;
            if pairs.is_empty() {
                bracket.free = middle;
            } else {
                bracket = Bracket { met: middle, pairs, ..bracket };
            }
        }
        Ok(bracket)
    }

    fn make(&self, positions: &mut [Vec3], share: f32) -> Result<Done, Problem> {
        positions.copy_from_slice(&self.before);
        let quiet = Run { progress: None, ..*self.run };
        if share >= 1.0 {
            return self.op.run(positions, self.triangles, self.params, &quiet);
        }
        self.op.cut(share).run(positions, self.triangles, self.params, &quiet)
    }

    fn new_pairs(&self, positions: &[Vec3]) -> Result<Vec<[u32; 2]>, Problem> {
        let mut pairs = self_intersections(positions, self.triangles, self.run)?;
        pairs.retain(|pair| self.known.binary_search(pair).is_err());
        Ok(pairs)
    }

    /// Into how many parts a motion to here is cut.
    fn parts(&self, positions: &[Vec3]) -> u32 {
        let way = |(a, b): (&Vec3, &Vec3)| a.distance_to(*b);
        let farthest = self.before.iter().zip(positions).map(way).fold(0.0, f32::max);
        let size = Bounds::of(&self.before).map_or(1.0, |b| b.diagonal());
        ((PARTS * farthest / size).ceil() as u32).clamp(LEAST_PARTS, MOST_PARTS)
    }
}

impl Bracket {
    fn contact(self, pairs: usize, stopped: bool) -> Collision {
        let mut first = self.pairs;
        first.truncate(NAMED);
        Collision { operation: 0, share: self.free, stopped, pairs, first }
    }
}

//! What a player remembers: a small value that can be kept and taken back.
//!
//! ```
//! use supple::player::State;
//!
//! let state = State { tick: 7, ..State::default() };
//! let bytes = postcard::to_stdvec(&state)?;
//! assert_eq!(postcard::from_bytes::<State>(&bytes)?, state);
//! # Ok::<(), postcard::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::contact::flesh::Contacts;
use crate::modifier::AnyState;

/// All memories after a tick.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// How many ticks have been simulated since the scene's start.
    pub tick: u64,
    /// One for each body.
    pub bodies: Vec<BodyState>,
    /// Who touches whom, and the ways out.
    pub contacts: Contacts,
}

/// The memories of one body's modifiers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyState {
    /// One for each modifier.
    pub slots: Vec<Slot>,
}

/// The memory of one modifier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    /// What it remembers.
    pub memory: AnyState,
    /// The tick at which it went non-finite and was frozen.
    pub frozen: Option<u64>,
}

impl State {
    /// True if both are states of scenes with as many bodies and modifiers.
    pub(super) fn fits(&self, other: &Self) -> bool {
        let counts = |s: &Self| -> Vec<usize> { s.bodies.iter().map(|b| b.slots.len()).collect() };
        counts(self) == counts(other)
    }
}

/// So many states are kept, in so many bytes; when there is more, every other one goes.
const KEPT: usize = 256;
const BYTES: usize = 256 << 20;

/// States on the way, for going backwards.
#[derive(Clone, Debug)]
pub(super) struct Snapshots {
    /// In order of ticks; the first is the state at tick 0.
    states: Vec<State>,
    /// Ticks from one to the next.
    spacing: u64,
    /// Bytes of all of them, about.
    bytes: usize,
}

impl Snapshots {
    pub(super) fn new(start: State) -> Self {
        Self { states: vec![start], spacing: 30, bytes: 0 }
    }

    /// The latest state that is not after a tick.
    pub(super) fn before(&self, tick: u64) -> &State {
        let next = self.states.partition_point(|s| s.tick <= tick);
        &self.states[next.saturating_sub(1)]
    }

    /// Forgets all after a tick.
    pub(super) fn forget_after(&mut self, tick: u64) {
        let kept = self.states.partition_point(|s| s.tick <= tick).max(1);
        self.bytes = self.bytes / self.states.len() * kept;
        self.states.truncate(kept);
    }

    /// Keeps a state, of so many bytes, if one is due.
    pub(super) fn keep(&mut self, state: &State, bytes: impl FnOnce() -> usize) {
        let last = self.states[self.states.len() - 1].tick;
        if state.tick < last.saturating_add(self.spacing) {
            return;
        }
        self.states.push(state.clone());
        self.bytes += bytes();
        if self.states.len() > KEPT || self.bytes > BYTES {
            let mut i = 0;
            self.states.retain(|_| {
                i += 1;
                i % 2 == 1
            });
            self.bytes /= 2;
            self.spacing = self.spacing.saturating_mul(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_stay_few_and_near() {
        let at = |tick| State { tick, ..State::default() };
        let mut snapshots = Snapshots::new(at(0));
        for tick in 1..100_000 {
            snapshots.keep(&at(tick), || 100);
        }
        assert!(snapshots.states.len() <= KEPT + 1, "{}", snapshots.states.len());
        for tick in [0, 1, 29, 5000, 99_999] {
            let near = snapshots.before(tick).tick;
            assert!(near <= tick && tick - near <= 2 * snapshots.spacing, "{near} for {tick}");
        }
    }

    #[test]
    fn large_states_are_kept_within_their_bytes() {
        let at = |tick| State { tick, ..State::default() };
        let mut snapshots = Snapshots::new(at(0));
        for tick in 1..10_000 {
            snapshots.keep(&at(tick), || BYTES / 10);
            assert!(snapshots.states.len() <= 11, "at {tick}: {}", snapshots.states.len());
        }
        assert!(snapshots.states.len() > 4, "some are kept: {}", snapshots.states.len());
        for tick in 10_000..20_000 {
            snapshots.keep(&at(tick), || 2 * BYTES);
            assert!(snapshots.bytes <= 2 * BYTES, "none that is too large");
        }
        assert_eq!(snapshots.before(29).tick, 0, "the first one stays");
    }
}

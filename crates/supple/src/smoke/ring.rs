//! A ring of columns: the array in which a streak surface lives for ever without growing.
//!
//! The oldest column is released again in the place of the newest: nothing is moved or allocated. Columns are read
//! out the oldest first, so that what would join the newest to the oldest never exists.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use crate::Run;
use crate::flow::advect::{self, Tracer};
use crate::flow::{Flow, Unreadable};

/// Vertices whose memory is written again by the next copy: the player copies a ring a frame, and fresh memory takes
/// longer than what is copied.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
struct Vertices {
    list: Vec<Tracer>,
    #[serde(skip)]
    spare: Arc<Mutex<Vec<Vec<Tracer>>>>,
}

/// Lists kept for the next copies: two states are on their way at a time.
const SPARE: usize = 2;

impl Vertices {
    fn new(count: usize) -> Self {
        Self { list: vec![[0.0; 4]; count], spare: Arc::default() }
    }

    fn spare(&self) -> std::sync::MutexGuard<'_, Vec<Vec<Tracer>>> {
        self.spare.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Clone for Vertices {
    fn clone(&self) -> Self {
        let mut list = self.spare().pop().unwrap_or_default();
        list.clone_from(&self.list);
        Self { list, spare: Arc::clone(&self.spare) }
    }
}

impl Drop for Vertices {
    fn drop(&mut self) {
        let list = std::mem::take(&mut self.list);
        let mut spare = self.spare();
        if spare.len() < SPARE {
            spare.push(list);
        }
    }
}

impl PartialEq for Vertices {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

/// The vertices of a surface, and when each column was released: all there is to remember.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ring {
    rows: usize,
    vertices: Vertices,
    /// The flow's time at which each column was released.
    born: Vec<f64>,
    /// How many columns were released so far.
    released: u64,
    /// The flow's time at the first step, and how many steps were taken.
    start: f64,
    steps: u64,
}

impl Ring {
    /// A ring of columns with so many vertices each, none released, at a time of the flow.
    #[must_use]
    pub fn new(columns: usize, rows: usize, start: f64) -> Self {
        let (vertices, born) = (Vertices::new(columns * rows), vec![0.0; columns]);
        Self { rows, vertices, born, released: 0, start, steps: 0 }
    }

    /// Columns there is room for, and vertices in each.
    #[must_use]
    pub fn size(&self) -> [usize; 2] {
        [self.born.len(), self.rows]
    }

    /// How many columns were released so far.
    #[must_use]
    pub fn released(&self) -> u64 {
        self.released
    }

    /// How many columns are in the flow.
    #[must_use]
    pub fn live(&self) -> usize {
        self.released.min(self.born.len() as u64) as usize
    }

    /// The flow's time at the first step.
    #[must_use]
    pub fn start(&self) -> f64 {
        self.start
    }

    /// How many steps were taken.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Counts a step.
    pub(super) fn count(&mut self) {
        self.steps += 1;
    }

    /// Takes all columns out of the flow.
    pub(super) fn clear(&mut self) {
        self.released = 0;
    }

    /// Puts the oldest column, or one not yet released, on the seeds.
    ///
    /// # Panics
    ///
    /// If there are not as many places as rows.
    pub fn release(&mut self, seeds: &[[f64; 3]], t: f64) {
        assert_eq!(self.rows, seeds.len(), "one place a row");
        let column = self.next(t);
        for (vertex, seed) in column.iter_mut().zip(seeds) {
            *vertex = advect::tracer(*seed);
        }
    }

    /// A column where the newest one is, to go on by itself.
    pub(super) fn repeat(&mut self, t: f64) {
        let Some(newest) = self.live().checked_sub(1) else { return };
        let vertices = self.column(newest).1.to_vec();
        self.next(t).copy_from_slice(&vertices);
    }

    /// The place of the next column, which is released with that.
    fn next(&mut self, t: f64) -> &mut [Tracer] {
        let slot = (self.released % self.born.len() as u64) as usize;
        self.born[slot] = t;
        self.released += 1;
        &mut self.vertices.list[slot * self.rows..(slot + 1) * self.rows]
    }

    /// Carries all columns in the flow from one time to another.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if a level of the flow cannot be read; the ring is then as it was.
    pub fn advance(
        &mut self,
        flow: &Flow,
        times: [f64; 2],
        run: &Run<'_>,
    ) -> Result<(), Unreadable> {
        let live = self.live() * self.rows;
        flow.advance(times, &mut self.vertices.list[..live], run)
    }

    /// Carries the newest column alone.
    ///
    /// # Errors
    ///
    /// As [`advance`](Self::advance).
    pub(super) fn advance_newest(
        &mut self,
        flow: &Flow,
        times: [f64; 2],
        run: &Run<'_>,
    ) -> Result<(), Unreadable> {
        let Some(newest) = self.live().checked_sub(1) else { return Ok(()) };
        let slot = self.slot(newest);
        flow.advance(times, &mut self.vertices.list[slot * self.rows..(slot + 1) * self.rows], run)
    }

    /// Where a column is, by its age, the oldest first.
    fn slot(&self, index: usize) -> usize {
        let live = self.live() as u64;
        assert!((index as u64) < live, "a column that was released");
        ((self.released - live + index as u64) % self.born.len() as u64) as usize
    }

    /// A column by its age, the oldest first: when it was released, and its vertices.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    #[must_use]
    pub fn column(&self, index: usize) -> (f64, &[Tracer]) {
        let slot = self.slot(index);
        (self.born[slot], &self.vertices.list[slot * self.rows..(slot + 1) * self.rows])
    }

    /// Bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.vertices.list[..]) + size_of_val(&self.born[..])
    }
}

//! A ring of columns: the array in which a streak surface lives for ever without growing.
//!
//! The oldest column is released again in the place of the newest: nothing is moved or allocated. Columns are read
//! out the oldest first, so that what would join the newest to the oldest never exists.

use serde::{Deserialize, Serialize};

use crate::Run;
use crate::flow::advect::{self, Tracer};
use crate::flow::{Flow, Unreadable};

/// The vertices of a streak surface, and when each column was released.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ring {
    rows: usize,
    vertices: Vec<Tracer>,
    /// The flow's time at which each column was released.
    born: Vec<f64>,
    /// How many columns were released so far.
    released: u64,
}

impl Ring {
    /// A ring of columns with so many vertices each, none released.
    #[must_use]
    pub fn new(columns: usize, rows: usize) -> Self {
        let (vertices, born) = (vec![[0.0; 4]; columns * rows], vec![0.0; columns]);
        Self { rows, vertices, born, released: 0 }
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

    /// Puts the oldest column, or one not yet released, on the seeds.
    ///
    /// # Panics
    ///
    /// If there are not as many places as rows.
    pub fn release(&mut self, seeds: &[[f64; 3]], t: f64) {
        let slot = (self.released % self.born.len() as u64) as usize;
        let column = &mut self.vertices[slot * self.rows..(slot + 1) * self.rows];
        assert_eq!(column.len(), seeds.len(), "one place a row");
        for (vertex, seed) in column.iter_mut().zip(seeds) {
            *vertex = advect::tracer(*seed);
        }
        self.born[slot] = t;
        self.released += 1;
    }

    /// Carries all columns in the flow from one time to another.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if a level of the flow cannot be read; the ring is then between the two times.
    pub fn advance(
        &mut self,
        flow: &Flow,
        times: [f64; 2],
        run: &Run<'_>,
    ) -> Result<(), Unreadable> {
        let live = self.live() * self.rows;
        flow.advance(times, &mut self.vertices[..live], run)
    }

    /// A column by its age, the oldest first: when it was released, and its vertices.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    #[must_use]
    pub fn column(&self, index: usize) -> (f64, &[Tracer]) {
        let live = self.live() as u64;
        assert!((index as u64) < live, "a column that was released");
        let slot = ((self.released - live + index as u64) % self.born.len() as u64) as usize;
        (self.born[slot], &self.vertices[slot * self.rows..(slot + 1) * self.rows])
    }

    /// Bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.vertices[..]) + size_of_val(&self.born[..])
    }
}

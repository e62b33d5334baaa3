//! Rows of numbers with a weight each: sparse matrices, lists of neighbours.

use std::iter::Sum;
use std::ops::Mul;

/// An entry of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    pub(super) of: u32,
    pub(super) weight: f32,
}

/// Rows of any length.
#[derive(Default)]
pub(super) struct Table {
    ends: Vec<u32>,
    shares: Vec<Share>,
}

impl Table {
    pub(super) fn push(&mut self, row: impl IntoIterator<Item = Share>) {
        self.shares.extend(row);
        self.ends.push(self.shares.len() as u32);
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> &[Share] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.shares[start as usize..self.ends[row] as usize]
    }

    /// The weighted sum of a row.
    #[inline(always)]
    pub(super) fn sum<T: Copy + Mul<f32, Output = T> + Sum>(&self, row: usize, of: &[T]) -> T {
        self.row(row).iter().map(|s| of[s.of as usize] * s.weight).sum()
    }
}

impl FromIterator<Vec<Share>> for Table {
    fn from_iter<I: IntoIterator<Item = Vec<Share>>>(rows: I) -> Self {
        let mut table = Self::default();
        rows.into_iter().for_each(|row| table.push(row));
        table
    }
}

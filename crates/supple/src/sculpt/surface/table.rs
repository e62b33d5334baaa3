//! Rows of numbers with a weight each: sparse matrices, lists of neighbours.

use std::ops::{AddAssign, Mul};

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
    /// So many rows, of entries that come with the number of theirs; within a row they keep their order.
    pub(super) fn sorted(rows: usize, entries: &[(u32, Share)]) -> Self {
        let mut ends = vec![0_u32; rows + 1];
        for (row, _) in entries {
            ends[*row as usize + 1] += 1;
        }
        for row in 1..ends.len() {
            ends[row] += ends[row - 1];
        }
        // So far where each row starts; filling it moves that to where it ends.
        let mut shares = vec![Share::default(); entries.len()];
        for &(row, share) in entries {
            let place = &mut ends[row as usize];
            shares[*place as usize] = share;
            *place += 1;
        }
        ends.pop();
        Self { ends, shares }
    }

    /// With rows and entries exchanged: the weights stay.
    pub(super) fn transposed(&self, rows: usize) -> Self {
        let entries: Vec<_> = (0..self.len())
            .flat_map(|row| self.row(row).iter().map(move |share| (row as u32, share)))
            .map(|(row, share)| (share.of, Share { of: row, ..*share }))
            .collect();
        Self::sorted(rows, &entries)
    }

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

    pub(super) fn row_mut(&mut self, row: usize) -> &mut [Share] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &mut self.shares[start as usize..self.ends[row] as usize]
    }

    /// The weighted sum of a row.
    #[inline(always)]
    pub(super) fn sum<T>(&self, row: usize, of: &[T]) -> T
    where
        T: Copy + Default + Mul<f32, Output = T> + AddAssign,
    {
        let mut sum = T::default();
        for share in self.row(row) {
            sum += of[share.of as usize] * share.weight;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_the_order_of_their_entries() {
        let share = |of: u32| Share { of, weight: of as f32 };
        let entries = [(2, share(5)), (0, share(4)), (2, share(1)), (3, share(0))];
        let table = Table::sorted(5, &entries);
        let of = |table: &Table, row| table.row(row).iter().map(|s| s.of).collect::<Vec<_>>();
        assert_eq!(table.len(), 5);
        assert_eq!((of(&table, 0), of(&table, 1), of(&table, 2)), (vec![4], vec![], vec![5, 1]));
        assert_eq!((of(&table, 3), of(&table, 4)), (vec![0], vec![]));
        let turned = table.transposed(6);
        assert_eq!((of(&turned, 0), of(&turned, 1), of(&turned, 5)), (vec![3], vec![2], vec![2]));
        assert_eq!(turned.row(5)[0].weight, 5.0);
    }
}

//! Rows of numbers with a weight each: sparse matrices, lists of neighbours.

use std::ops::{AddAssign, Mul};

use crate::rows::Rows;

/// An entry of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    pub(super) of: u32,
    pub(super) weight: f32,
}

/// Rows of any length.
pub(super) type Table = Rows<Share>;

impl Table {
    /// With rows and entries exchanged: the weights stay.
    pub(super) fn transposed(&self, rows: usize) -> Self {
        let entries = (0..self.len())
            .flat_map(|row| self.row(row).iter().map(move |share| (row as u32, share)))
            .map(|(row, share)| (share.of, Share { of: row, ..*share }));
        Self::sorted(rows, entries)
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
    fn a_table_is_turned_with_its_weights() {
        let share = |of: u32| Share { of, weight: of as f32 };
        let entries = [(2, share(5)), (0, share(4)), (2, share(1)), (3, share(0))];
        let table = Table::sorted(5, entries.into_iter());
        let of = |table: &Table, row| table.row(row).iter().map(|s| s.of).collect::<Vec<_>>();
        assert_eq!(table.len(), 5);
        assert_eq!((of(&table, 0), of(&table, 1), of(&table, 2)), (vec![4], vec![], vec![5, 1]));
        assert_eq!((of(&table, 3), of(&table, 4)), (vec![0], vec![]));
        let turned = table.transposed(6);
        assert_eq!((of(&turned, 0), of(&turned, 1), of(&turned, 5)), (vec![3], vec![2], vec![2]));
        assert_eq!(turned.row(5)[0].weight, 5.0);
    }
}

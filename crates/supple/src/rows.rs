//! Lists of any length in one piece of memory: compressed rows.

/// Row `i` is `entries[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows<T = u32> {
    offsets: Vec<u32>,
    entries: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { offsets: vec![0], entries: Vec::new() }
    }
}

impl<T> Rows<T> {
    /// Row `i`.
    #[inline(always)]
    #[must_use]
    pub fn row(&self, i: usize) -> &[T] {
        &self.entries[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// Row `i`, to change its entries.
    pub(crate) fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.entries[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// True if there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All rows, one after the other.
    #[must_use]
    pub fn entries(&self) -> &[T] {
        &self.entries
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = T>) {
        self.entries.extend(row);
        self.offsets.push(self.entries.len() as u32);
    }
}

impl<T: Copy + Default> Rows<T> {
    /// So many rows, of entries that come with the number of theirs; within a row they keep their order.
    pub(crate) fn sorted(rows: usize, entries: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        // Counts are kept two places up, so that filling turns starts into the final offsets.
        let mut offsets = vec![0_u32; rows + 2];
        for (row, _) in entries.clone() {
            offsets[row as usize + 2] += 1;
        }
        for row in 2..offsets.len() {
            offsets[row] += offsets[row - 1];
        }
        let mut sorted = vec![T::default(); offsets[rows + 1] as usize];
        for (row, entry) in entries {
            let end = &mut offsets[row as usize + 1];
            sorted[*end as usize] = entry;
            *end += 1;
        }
        offsets.pop();
        Self { offsets, entries: sorted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_the_order_of_their_entries() {
        let entries = [(2, 5), (0, 4), (2, 1), (3, 0)];
        let mut rows = Rows::sorted(4, entries.iter().copied());
        rows.push([7, 8]);
        let all: Vec<&[i32]> = (0..rows.len()).map(|i| rows.row(i)).collect();
        assert_eq!(all, [&[4][..], &[], &[5, 1], &[0], &[7, 8]]);
        assert_eq!(rows.entries(), [4, 5, 1, 0, 7, 8]);
        rows.row_mut(2)[1] = 9;
        assert_eq!(rows.row(2), [5, 9]);
        assert!(Rows::<u32>::default().is_empty());
    }
}

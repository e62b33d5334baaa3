//! A dense symmetric positive matrix, factorised by all threads.
//!
//! # Method
//!
//! Cholesky's `A = L Lᵀ` in panels of columns: a panel is factorised, then taken out of all panels to its right, each of which
//! is a task. Every entry is a sum in an order that does not depend on the threads.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor as llt;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::prelude::{Reborrow as _, ReborrowMut as _};
use faer::{Accum, MatMut, MatRef, Par, Spec};

use crate::Run;
use crate::sparse::Error;

/// Columns of a panel: enough that its products are worth a task, few enough that the last panels still are several.
const COLUMNS: usize = 128;

/// The columns of `L` from one on, from their diagonal down.
struct Panel {
    numbers: Vec<f64>,
    rows: usize,
    columns: usize,
}

/// A factorised matrix.
pub(super) struct Cholesky {
    panels: Vec<Panel>,
    size: usize,
}

impl Panel {
    fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.numbers, self.rows, self.columns)
    }

    fn view_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_column_major_slice_mut(&mut self.numbers, self.rows, self.columns)
    }

    /// Its diagonal block, and what is below times the inverse of that.
    fn factorise(&mut self) -> Result<(), usize> {
        let columns = self.columns;
        let (mut top, below) = self.view_mut().split_at_row_mut(columns);
        let need = llt::cholesky_in_place_scratch::<f64>(columns, Par::Seq, Spec::default());
        let mut memory = MemBuffer::new(need);
        let done = llt::cholesky_in_place(
            top.rb_mut(),
            llt::LltRegularization::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Spec::default(),
        );
        if let Err(llt::LltError::NonPositivePivot { index }) = done {
            return Err(index);
        }
        solve_lower_triangular_in_place(top.rb(), below.transpose_mut(), Par::Seq);
        Ok(())
    }

    /// Takes out what a factorised panel, so many columns to the left, accounts for.
    fn subtract(&mut self, left: &Self, away: usize) {
        let columns = self.columns;
        let lower = left.view().subrows(away, self.rows);
        let across = lower.subrows(0, columns).transpose();
        matmul(self.view_mut(), Accum::Add, lower, across, -1.0, Par::Seq);
    }
}

impl Cholesky {
    /// Of a matrix given by its rows, of which those and the columns before `first` are left out.
    pub(super) fn new(rows: &[Vec<f64>], first: usize, run: &Run<'_>) -> Result<Self, Error> {
        let size = rows.len() - first;
        let is_finite = |row: &Vec<f64>| row.iter().all(|e| e.is_finite());
        if let Some(row) = rows.iter().position(|row| !is_finite(row)) {
            return Err(Error::NotFinite { row: row as u32, column: 0 });
        }
        let mut panels = run.map_tasks(size.div_ceil(COLUMNS), |k| {
            let (start, end) = (k * COLUMNS, ((k + 1) * COLUMNS).min(size));
            // A column is the row of the same number.
            let column = |c: usize| rows[first + c][first + start..].iter().copied();
            let numbers = (start..end).flat_map(column).collect();
            Panel { numbers, rows: size - start, columns: end - start }
        });
        for k in 0..panels.len() {
            let (done, rest) = panels.split_at_mut(k + 1);
            let panel = &mut done[k];
            panel.factorise().map_err(|index| Error::NotPositiveDefinite {
                unknown: (k * COLUMNS + index) as u32,
            })?;
            run.for_each_piece(rest, 1, |start, rest| {
                for (j, right) in (start..).zip(rest) {
                    right.subtract(panel, (j + 1) * COLUMNS);
                }
            });
        }
        Ok(Self { panels, size })
    }

    /// Replaces columns, one after the other in `columns`, by the solutions.
    pub(super) fn solve(&self, columns: &mut [f64]) {
        let count = columns.len() / self.size.max(1);
        let mut x = MatMut::from_column_major_slice_mut(columns, self.size, count);
        for (k, panel) in self.panels.iter().enumerate() {
            let (top, below) = panel.view().split_at_row(panel.columns);
            let rest = x.rb_mut().subrows_mut(k * COLUMNS, panel.rows);
            let (mut own, rest) = rest.split_at_row_mut(panel.columns);
            solve_lower_triangular_in_place(top, own.rb_mut(), Par::Seq);
            matmul(rest, Accum::Add, below, own.rb(), -1.0, Par::Seq);
        }
        for (k, panel) in self.panels.iter().enumerate().rev() {
            let (top, below) = panel.view().split_at_row(panel.columns);
            let rest = x.rb_mut().subrows_mut(k * COLUMNS, panel.rows);
            let (mut own, rest) = rest.split_at_row_mut(panel.columns);
            matmul(own.rb_mut(), Accum::Add, below.transpose(), rest.rb(), -1.0, Par::Seq);
            solve_upper_triangular_in_place(top.transpose(), own, Par::Seq);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procdef::tests::Dice;

    /// `B Bᵀ + 1`, with so many rows before it that do not count.
    fn positive(size: usize, before: usize) -> Vec<Vec<f64>> {
        let mut dice = Dice(5);
        let total = size + before;
        let b: Vec<Vec<f64>> = (0..total).map(|_| (0..9).map(|_| dice.roll()).collect()).collect();
        let entry = |i: usize, j: usize| {
            let product: f64 = b[i].iter().zip(&b[j]).map(|(a, b)| a * b).sum();
            product + if i == j { 1.0 } else { 0.0 }
        };
        (0..total).map(|i| (0..total).map(|j| entry(i, j)).collect()).collect()
    }

    #[test]
    fn a_solution_satisfies_its_equations_with_the_same_bits_for_any_threads() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let two = Run { threads: Some(&pool), ..Run::default() };
        for size in [1, 7, COLUMNS, COLUMNS + 1, 3 * COLUMNS + 17] {
            let (matrix, before) = (positive(size, 3), 3);
            let right: Vec<f64> = (0..2 * size).map(|k| libm::sin(k as f64)).collect();
            let solve = |run: &Run<'_>| {
                let mut x = right.clone();
                Cholesky::new(&matrix, before, run).unwrap().solve(&mut x);
                x
            };
            let x = solve(&Run::default());
            assert_eq!(x, solve(&two), "{size}");
            for (x, right) in x.chunks(size).zip(right.chunks(size)) {
                for (row, right) in matrix[before..].iter().zip(right) {
                    let sum: f64 = row[before..].iter().zip(x).map(|(a, x)| a * x).sum();
                    assert!((sum - right).abs() < 1e-9, "{size}: {sum}, not {right}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_positive_is_told() {
        let mut matrix = positive(200, 0);
        matrix[150][150] = -1.0;
        let found = Cholesky::new(&matrix, 0, &Run::default()).err();
        assert!(matches!(found, Some(Error::NotPositiveDefinite { .. })), "{found:?}");
        matrix[150][150] = f64::NAN;
        let found = Cholesky::new(&matrix, 0, &Run::default()).err();
        assert!(matches!(found, Some(Error::NotFinite { row: 150, .. })), "{found:?}");
    }
}

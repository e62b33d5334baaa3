//! Sparse systems with a symmetric positive definite matrix: factorised once, solved often.
//!
//! # Method
//!
//! `P A Pᵀ = L Lᵀ`. The ordering P decides how full L becomes, and with it everything else; it comes
//! from nested dissection ([`dissection`]). Three objects stand for the three steps, so that each can be
//! kept: [`Analysis`] holds the pattern of L and serves for every matrix with the same entries,
//! [`Factor`] holds its numbers and serves for every right side.
//!
//! # Where we differ from the usual
//!
//! Minimum degree orderings are not offered: on surfaces and springs they were seen to give three times the entries
//! and seven times the time.
//!
//! # Limits
//!
//! One thread factorises one matrix, so that the numbers never depend on how many there are; two matrices can
//! be factorised side by side. At most two threads solve for one right side. L must have fewer than 2³² entries.
//!
//! # References
//!
//! - A. George. Nested Dissection of a Regular Finite Element Mesh. SIAM Journal on Numerical Analysis, 1973.
//! - T. A. Davis. Direct Methods for Sparse Linear Systems. SIAM, 2006.
//!
//! # Example
//!
//! ```
//! use supple::sparse::{Analysis, Entry, Matrix, dissection};
//!
//! // A chain of two springs, held at its first end.
//! let entries = [(0, 0, 2.0), (1, 0, -1.0), (1, 1, 1.0)].map(Entry::from);
//! let matrix = Matrix::new(2, &entries)?;
//! let order = dissection::from_graph(&matrix.graph(), &supple::Run::default());
//! let factor = Analysis::new(&matrix, &order)?.factorise(&matrix)?;
//! let mut pulled = [0.0, 1.0];
//! factor.solve(&mut pulled, &supple::Run::default());
//! assert!((pulled[0] - 1.0).abs() < 1e-12 && (pulled[1] - 2.0).abs() < 1e-12);
//! # Ok::<(), supple::sparse::Error>(())
//! ```

mod blocks;
pub mod dissection;
mod triangular;
mod vectors;

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor as dense;
use faer::perm::PermRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side, Spec};

use crate::Run;
pub use blocks::{BlockFactor, Blocks};
use dissection::Graph;
use triangular::Halves;
pub use vectors::{LANES, Lane, VectorFactor};

/// One number of a symmetric matrix; it stands at `(row, column)` and at `(column, row)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Row.
    pub row: u32,
    /// Column.
    pub column: u32,
    /// Number; those at the same place are added up.
    pub value: f64,
}

impl From<(u32, u32, f64)> for Entry {
    fn from((row, column, value): (u32, u32, f64)) -> Self {
        Self { row, column, value }
    }
}

/// Why a matrix could not be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// An entry lies outside.
    #[error("entry ({row}, {column}) lies outside a matrix of {size} rows")]
    OutOfRange {
        /// Row of the entry.
        row: u32,
        /// Column of the entry.
        column: u32,
        /// Rows of the matrix.
        size: usize,
    },
    /// An entry is NaN or infinite.
    #[error("entry ({row}, {column}) is not a finite number")]
    NotFinite {
        /// Row of the entry.
        row: u32,
        /// Column of the entry.
        column: u32,
    },
    /// The ordering does not name each row once.
    #[error("the ordering of {found} rows is not one of the matrix's {size} rows, each once")]
    NotAnOrdering {
        /// Length of the ordering.
        found: usize,
        /// Rows of the matrix.
        size: usize,
    },
    /// The matrix does not have the entries that were analysed.
    #[error("the matrix has other entries than the one that was analysed: analyse it anew")]
    OtherPattern,
    /// A pivot was not positive.
    #[error(
        "the matrix is not positive definite: unknown {unknown} is held by nothing (fix one unknown of each \
         part, or add to its diagonal)"
    )]
    NotPositiveDefinite {
        /// The unknown whose pivot it was.
        unknown: u32,
    },
    /// The factor does not fit.
    #[error("the factor of a matrix of {size} rows does not fit in memory")]
    TooLarge {
        /// Rows of the matrix.
        size: usize,
    },
}

/// A symmetric matrix: its lower triangle, column by column, rows in rising order.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    size: usize,
    starts: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Matrix {
    /// Adds up entries; it does not matter in which triangle they are given. The diagonal is always stored.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`], [`Error::NotFinite`], [`Error::TooLarge`].
    pub fn new(size: usize, entries: &[Entry]) -> Result<Self, Error> {
        if size.saturating_add(entries.len()) > u32::MAX as usize {
            return Err(Error::TooLarge { size });
        }
        let mut starts = vec![1_u32; size + 1];
        for &Entry { row, column, value } in entries {
            if row.max(column) as usize >= size {
                return Err(Error::OutOfRange { row, column, size });
            }
            if !value.is_finite() {
                return Err(Error::NotFinite { row, column });
            }
            starts[row.min(column) as usize] += 1;
        }
        let mut sum = 0;
        for start in &mut starts[..size] {
            sum += std::mem::replace(start, sum);
        }
        starts[size] = sum;
        let mut next = starts.clone();
        let mut terms = vec![(0_u32, 0.0); sum as usize];
        let diagonal = (0..size as u32).map(|i| Entry { row: i, column: i, value: 0.0 });
        for Entry { row, column, value } in diagonal.chain(entries.iter().copied()) {
            let place = &mut next[row.min(column) as usize];
            terms[*place as usize] = (row.max(column), value);
            *place += 1;
        }
        Ok(Self::merged(size, &starts, &mut terms))
    }

    /// Sorts each column and adds up what stands at the same place, in the order given.
    fn merged(size: usize, starts: &[u32], terms: &mut [(u32, f64)]) -> Self {
        let mut matrix = Self { size, starts: vec![0; size + 1], rows: vec![], values: vec![] };
        for column in 0..size {
            let terms = &mut terms[starts[column] as usize..starts[column + 1] as usize];
            terms.sort_by_key(|(row, _)| *row);
            for same in terms.chunk_by(|a, b| a.0 == b.0) {
                matrix.rows.push(same[0].0);
                matrix.values.push(same.iter().map(|(_, value)| value).sum());
            }
            matrix.starts[column + 1] = matrix.rows.len() as u32;
        }
        matrix
    }

    /// Rows, which are as many as columns.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Stored numbers: the diagonal and what is below it.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Which unknowns stand in one equation.
    #[must_use]
    pub fn graph(&self) -> Graph {
        let column =
            |c: usize| self.rows[self.column(c)].iter().skip(1).map(move |&row| [row, c as u32]);
        Graph::new(self.size, (0..self.size).flat_map(column))
    }

    /// A number of the diagonal.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn diagonal(&self, row: usize) -> f64 {
        self.values[self.starts[row] as usize]
    }

    /// Adds to the diagonal, unknown by unknown.
    ///
    /// # Panics
    ///
    /// If there is not one number for each row.
    pub fn add_diagonal(&mut self, numbers: impl IntoIterator<Item = f64>) {
        let mut numbers = numbers.into_iter();
        for column in 0..self.size {
            self.values[self.starts[column] as usize] += numbers.next().expect("a number a row");
        }
    }

    /// The product with a column.
    ///
    /// # Panics
    ///
    /// If `x` is shorter than the matrix.
    #[must_use]
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.size];
        for column in 0..self.size {
            for k in self.column(column) {
                let (row, value) = (self.rows[k] as usize, self.values[k]);
                y[row] += value * x[column];
                if row != column {
                    y[column] += value * x[row];
                }
            }
        }
        y
    }

    fn column(&self, column: usize) -> std::ops::Range<usize> {
        self.starts[column] as usize..self.starts[column + 1] as usize
    }

    fn pattern(&self) -> SymbolicSparseColMatRef<'_, u32> {
        let (n, starts, rows) = (self.size, &self.starts, &self.rows);
        SymbolicSparseColMatRef::new_checked(n, n, starts, None, rows)
    }
}

/// The pattern of a factor: for all matrices with the same entries.
#[derive(Clone, Debug)]
pub struct Analysis {
    symbolic: Arc<SymbolicCholesky<u32>>,
    halves: Option<Arc<Halves>>,
    entries: usize,
}

impl Analysis {
    /// Finds the pattern of L for an ordering: the rows of the matrix in the order of their elimination.
    ///
    /// # Errors
    ///
    /// [`Error::NotAnOrdering`], [`Error::TooLarge`].
    pub fn new(matrix: &Matrix, order: &[u32]) -> Result<Self, Error> {
        let size = matrix.size;
        let place = places(order, size)?;
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::AUTO,
            ..CholeskySymbolicParams::default()
        };
        let order = SymmetricOrdering::Custom(PermRef::new_checked(order, &place, size));
        let symbolic = factorize_symbolic_cholesky(matrix.pattern(), Side::Lower, order, params)
            .map_err(|_full| Error::TooLarge { size })?;
        let halves = match symbolic.raw() {
            SymbolicCholeskyRaw::Supernodal(raw) => Some(Arc::new(Halves::of(raw))),
            SymbolicCholeskyRaw::Simplicial(_) => None,
        };
        Ok(Self { symbolic: Arc::new(symbolic), halves, entries: matrix.entries() })
    }

    /// Stored numbers of L.
    #[must_use]
    pub fn factor_entries(&self) -> usize {
        self.symbolic.len_val()
    }

    /// Computes the numbers of L.
    ///
    /// # Errors
    ///
    /// [`Error::OtherPattern`], [`Error::NotPositiveDefinite`], [`Error::TooLarge`].
    pub fn factorise(&self, matrix: &Matrix) -> Result<Factor, Error> {
        let size = self.symbolic.nrows();
        if (matrix.size, matrix.entries()) != (size, self.entries) {
            return Err(Error::OtherPattern);
        }
        let need = self.symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Spec::default());
        let mut memory = MemBuffer::try_new(need).map_err(|_full| Error::TooLarge { size })?;
        let mut values = vec![0.0; self.symbolic.len_val()];
        let done = self.symbolic.factorize_numeric_llt(
            &mut values,
            SparseColMatRef::new(matrix.pattern(), &matrix.values),
            Side::Lower,
            dense::LltRegularization::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Spec::default(),
        );
        if let Err(dense::LltError::NonPositivePivot { index }) = done {
            return Err(Error::NotPositiveDefinite { unknown: self.unknown(index) });
        }
        let (symbolic, halves) = (Arc::clone(&self.symbolic), self.halves.clone());
        Ok(Factor { symbolic, halves, values })
    }
}

impl Analysis {
    /// The unknown that a pivot belongs to. Simplicial factorisations count pivots from one.
    fn unknown(&self, pivot: usize) -> u32 {
        let place = match self.symbolic.raw() {
            SymbolicCholeskyRaw::Simplicial(_) => pivot.saturating_sub(1),
            SymbolicCholeskyRaw::Supernodal(_) => pivot,
        };
        let order = self.symbolic.perm().map(|perm| perm.arrays().0);
        order.and_then(|order| order.get(place).copied()).unwrap_or(place as u32)
    }
}

/// Where in an ordering each row is.
fn places(order: &[u32], size: usize) -> Result<Vec<u32>, Error> {
    let wrong = Error::NotAnOrdering { found: order.len(), size };
    let mut place = vec![u32::MAX; size];
    for (k, &row) in order.iter().enumerate() {
        match place.get_mut(row as usize) {
            Some(free) if *free == u32::MAX => *free = k as u32,
            _ => return Err(wrong),
        }
    }
    if order.len() == size { Ok(place) } else { Err(wrong) }
}

/// A factorised matrix.
#[derive(Clone)]
pub struct Factor {
    symbolic: Arc<SymbolicCholesky<u32>>,
    /// Of a factor in supernodes.
    halves: Option<Arc<Halves>>,
    values: Vec<f64>,
}

impl std::fmt::Debug for Factor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (size, entries) = (self.symbolic.nrows(), self.values.len());
        f.debug_struct("Factor").field("size", &size).field("entries", &entries).finish()
    }
}

impl Factor {
    /// Replaces each of the given columns, one after the other in `columns`, by the solution.
    ///
    /// # Panics
    ///
    /// If the length of `columns` is no multiple of the matrix's size.
    pub fn solve(&self, columns: &mut [f64], run: &Run<'_>) {
        let size = self.symbolic.nrows();
        if size == 0 {
            return;
        }
        assert!(columns.len().is_multiple_of(size), "{} numbers, {size} rows", columns.len());
        match (self.symbolic.raw(), &self.halves) {
            (SymbolicCholeskyRaw::Supernodal(raw), Some(halves)) => {
                let orders = self.symbolic.perm().map(|perm| perm.arrays());
                let place = |i: usize| orders.map_or(i, |(order, _)| order[i] as usize);
                let back = |i: usize| orders.map_or(i, |(_, order)| order[i] as usize);
                for column in columns.chunks_exact_mut(size) {
                    let mut x = run.map(size, |i| column[place(i)]);
                    halves.solve(raw, &self.values, &mut x, run);
                    run.for_each(column, |i, to| *to = x[back(i)]);
                }
            }
            _ => self.solve_plain(columns),
        }
    }

    /// The same factor in single precision, for right sides of vectors.
    #[must_use]
    pub fn vectors(&self) -> VectorFactor {
        VectorFactor::new(self)
    }

    /// As faer does it.
    fn solve_plain(&self, columns: &mut [f64]) {
        let size = self.symbolic.nrows();
        let count = columns.len() / size;
        let mut memory =
            MemBuffer::new(self.symbolic.solve_in_place_scratch::<f64>(count, Par::Seq));
        LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(columns, size, count),
            Par::Seq,
            MemStack::new(&mut memory),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Run;

    /// The Laplacian of an n by n grid plus a little on the diagonal.
    fn grid(n: u32, extra: f64) -> Matrix {
        let mut entries = Vec::new();
        for v in 0..n * n {
            entries.push(Entry { row: v, column: v, value: extra });
            let right = (v % n + 1 < n).then_some(v + 1);
            let up = (v / n + 1 < n).then_some(v + n);
            for w in [right, up].into_iter().flatten() {
                entries.extend([(v, v, 1.0), (w, w, 1.0), (v, w, -1.0)].map(Entry::from));
            }
        }
        Matrix::new((n * n) as usize, &entries).unwrap()
    }

    fn ordered(matrix: &Matrix) -> Vec<u32> {
        dissection::from_graph(&matrix.graph(), &Run::default())
    }

    fn numbers(count: usize) -> Vec<f64> {
        (0..count).map(|i| (i as f64 * 0.7).sin() + 0.1).collect()
    }

    #[test]
    fn solves_every_column() {
        let matrix = grid(30, 0.01);
        let factor = Analysis::new(&matrix, &ordered(&matrix)).unwrap().factorise(&matrix).unwrap();
        let wanted = numbers(3 * matrix.size());
        let mut columns: Vec<f64> =
            wanted.chunks(matrix.size()).flat_map(|x| matrix.times(x)).collect();
        factor.solve(&mut columns, &Run::default());
        for (found, wanted) in columns.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-9, "{found}, not {wanted}");
        }
    }

    /// Ours against faer's own, on a matrix with halves, and with any number of threads.
    #[test]
    fn halves_give_what_the_whole_does() {
        let matrix = grid(200, 1e-3);
        let factor = Analysis::new(&matrix, &ordered(&matrix)).unwrap().factorise(&matrix).unwrap();
        let halves = factor.halves.as_ref().expect("large enough for supernodes");
        assert!(halves.are_two(), "nested dissection leaves two halves");
        let right = numbers(matrix.size());
        let (mut plain, mut ours) = (right.clone(), right.clone());
        factor.solve_plain(&mut plain);
        factor.solve(&mut ours, &Run::default());
        for (a, b) in plain.iter().zip(&ours) {
            assert!((a - b).abs() <= 1e-11 * a.abs().max(1.0), "{a} {b}");
        }
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut x = right.clone();
            factor.solve(&mut x, &Run { threads: Some(&pool), ..Run::default() });
            assert_eq!(x, ours, "{threads} threads");
        }
    }

    /// Three directions at once in single precision, with supernodes and without, for any number of threads.
    #[test]
    fn vectors_agree_with_columns() {
        for n in [5, 120] {
            let matrix = grid(n, 0.01);
            let analysis = Analysis::new(&matrix, &ordered(&matrix)).unwrap();
            let factor = analysis.factorise(&matrix).unwrap();
            let size = matrix.size();
            let mut columns = numbers(3 * size);
            let right: Vec<Lane> = (0..size)
                .map(|i| [0, 1, 2].map(|c| columns[c * size + i] as f32))
                .map(|[x, y, z]| [x, y, z, 0.0])
                .collect();
            factor.solve(&mut columns, &Run::default());
            let mut first = right.clone();
            factor.vectors().solve(&mut first, &Run::default());
            let largest = columns.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            for (i, x) in first.iter().enumerate() {
                for c in 0..3 {
                    let off = (f64::from(x[c]) - columns[c * size + i]).abs();
                    assert!(off < 1e-4 * largest, "row {i}: {off} of {largest}");
                }
            }
            for threads in [1, 2, 8] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let mut x = right.clone();
                factor.vectors().solve(&mut x, &Run { threads: Some(&pool), ..Run::default() });
                assert_eq!(x, first, "{threads} threads");
            }
        }
    }

    /// In closed form: a chain of equal springs pulled at its end stretches evenly.
    #[test]
    fn a_chain_stretches_evenly() {
        let n = 50;
        let spring = |v: u32| [(v, v, 1.0), (v + 1, v + 1, 1.0), (v + 1, v, -1.0)].map(Entry::from);
        let mut entries: Vec<Entry> = (0..n - 1).flat_map(spring).collect();
        entries.push(Entry { row: 0, column: 0, value: 1.0 });
        let matrix = Matrix::new(n as usize, &entries).unwrap();
        let factor = Analysis::new(&matrix, &ordered(&matrix)).unwrap().factorise(&matrix).unwrap();
        let mut pull = vec![0.0; n as usize];
        pull[n as usize - 1] = 1.0;
        factor.solve(&mut pull, &Run::default());
        for (k, x) in pull.iter().enumerate() {
            assert!((x - (k + 1) as f64).abs() < 1e-10, "{k}: {x}");
        }
    }

    #[test]
    fn one_analysis_serves_many_matrices() {
        let (stiff, soft) = (grid(12, 5.0), grid(12, 0.5));
        let analysis = Analysis::new(&stiff, &ordered(&stiff)).unwrap();
        for matrix in [&stiff, &soft] {
            let wanted = numbers(matrix.size());
            let mut x = matrix.times(&wanted);
            analysis.factorise(matrix).unwrap().solve(&mut x, &Run::default());
            let error = x.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error < 1e-10, "{error}");
        }
        let other = analysis.factorise(&grid(11, 1.0)).unwrap_err();
        assert_eq!(other, Error::OtherPattern);
    }

    #[test]
    fn dissection_leaves_less_to_fill_in_than_the_rows_as_they_come() {
        let matrix = grid(60, 1.0);
        let entries = |order: &[u32]| Analysis::new(&matrix, order).unwrap().factor_entries();
        let (cut, plain) = (entries(&ordered(&matrix)), entries(&(0..3600).collect::<Vec<_>>()));
        assert!(2 * cut < plain, "{cut} entries, {plain} without");
    }

    #[test]
    fn says_what_is_wrong() {
        let matrix = grid(4, 0.0);
        let singular = Analysis::new(&matrix, &ordered(&matrix)).unwrap().factorise(&matrix);
        let text = singular.map(drop).err().map_or(String::new(), |e| e.to_string());
        // Rounding may leave a last pivot just above zero.
        assert!(text.is_empty() || text.contains("fix one unknown"), "{text}");
        let negative = Matrix::new(1, &[Entry { row: 0, column: 0, value: -1.0 }]).unwrap();
        let refused = Analysis::new(&negative, &[0]).unwrap().factorise(&negative).unwrap_err();
        assert_eq!(refused, Error::NotPositiveDefinite { unknown: 0 });
        let outside = Matrix::new(2, &[Entry { row: 2, column: 0, value: 1.0 }]).unwrap_err();
        assert_eq!(outside, Error::OutOfRange { row: 2, column: 0, size: 2 });
        let nan = Matrix::new(2, &[Entry { row: 1, column: 0, value: f64::NAN }]).unwrap_err();
        assert_eq!(nan, Error::NotFinite { row: 1, column: 0 });
        for order in [vec![0; 16], vec![0, 1], (0..17).collect()] {
            let wrong = Analysis::new(&matrix, &order).map(drop).unwrap_err();
            assert_eq!(wrong, Error::NotAnOrdering { found: order.len(), size: 16 });
        }
    }

    #[test]
    fn nothing_is_a_matrix_too() {
        let matrix = Matrix::new(0, &[]).unwrap();
        let factor = Analysis::new(&matrix, &[]).unwrap().factorise(&matrix).unwrap();
        factor.solve(&mut [], &Run::default());
    }
}

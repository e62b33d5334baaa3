//! Right sides whose numbers are vectors: a matrix that is the same for x, y and z, in single precision.
//!
//! # Method
//!
//! As [`triangular`](super::triangular), with four lanes in place of a number (the fourth is free), so that L comes
//! from memory once for all directions; four columns at a time, so that what is solved for comes once for four of
//! them. L is kept in f32, half the bytes: solutions are off by 1e-5 or so, which preconditioners and directions of
//! descent do not notice.
//!
//! # Limits
//!
//! Not for right sides that must be met to more than five digits: [`Factor::solve`] is
//! (`vectors_agree_with_columns`).

use std::ops::Range;
use std::sync::Arc;

use faer::sparse::linalg::cholesky::supernodal::SymbolicSupernodalCholesky;
use faer::sparse::linalg::cholesky::{SymbolicCholesky, SymbolicCholeskyRaw};
use glam::DVec3;
use pulp::{Simd, WithSimd};

use super::Factor;
use super::triangular::Halves;
use crate::Run;

/// Lanes of a right side's number.
pub const LANES: usize = 4;

/// Three numbers and one that is free.
pub type Lane = [f32; LANES];

/// Columns that are gone through together.
const TOGETHER: usize = 4;

/// A factorised matrix in single precision, for right sides of vectors.
#[derive(Clone)]
pub struct VectorFactor {
    symbolic: Arc<SymbolicCholesky<u32>>,
    /// Numbers of L, the diagonal inverted; empty for a factor without supernodes.
    values: Vec<f32>,
    halves: Option<Arc<Halves>>,
    /// Small matrices are not kept in supernodes.
    plain: Option<Factor>,
}

impl std::fmt::Debug for VectorFactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VectorFactor").field("size", &self.symbolic.nrows()).finish_non_exhaustive()
    }
}

impl VectorFactor {
    pub(super) fn new(factor: &Factor) -> Self {
        let (symbolic, halves) = (Arc::clone(&factor.symbolic), factor.halves.clone());
        match symbolic.raw() {
            SymbolicCholeskyRaw::Supernodal(raw) => {
                let mut values: Vec<f32> = factor.values.iter().map(|&x| x as f32).collect();
                for s in 0..raw.n_supernodes() {
                    let (_, columns, rows, range) = node(raw, s);
                    for j in 0..columns {
                        let at = range.start + j * (columns + rows.len()) + j;
                        values[at] = (1.0 / factor.values[at]) as f32;
                    }
                }
                Self { values, halves, plain: None, symbolic }
            }
            SymbolicCholeskyRaw::Simplicial(_) => {
                Self { values: Vec::new(), halves: None, plain: Some(factor.clone()), symbolic }
            }
        }
    }

    /// Numbers of L.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.symbolic.len_val()
    }

    /// Replaces a right side by the solution.
    ///
    /// # Panics
    ///
    /// If there is not one vector for each row.
    pub fn solve(&self, columns: &mut [Lane], run: &Run<'_>) {
        assert_eq!(columns.len(), self.symbolic.nrows(), "one vector a row");
        let mut x: Vec<Lane> = (0..columns.len()).map(|i| columns[self.place(i)]).collect();
        self.solve_ordered(&mut x, run);
        x.iter().enumerate().for_each(|(i, x)| columns[self.place(i)] = *x);
    }

    /// The solution for a right side of vectors, scaled by `scale` on the way in and back on the way out; `work` is
    /// used again from call to call.
    ///
    /// # Panics
    ///
    /// If there is not one vector for each row.
    pub fn solve_vectors(
        &self,
        right: &[DVec3],
        scale: f64,
        (work, x): (&mut Vec<Lane>, &mut Vec<DVec3>),
        run: &Run<'_>,
    ) {
        let size = self.symbolic.nrows();
        assert_eq!(right.len(), size, "one vector a row");
        work.clear();
        work.extend((0..size).map(|i| {
            let r = scale * right[self.place(i)];
            [r.x as f32, r.y as f32, r.z as f32, 0.0]
        }));
        self.solve_ordered(work, run);
        x.resize(size, DVec3::ZERO);
        for (i, l) in work.iter().enumerate() {
            x[self.place(i)] =
                DVec3::new(f64::from(l[0]), f64::from(l[1]), f64::from(l[2])) / scale;
        }
    }

    /// The row that is eliminated at a place; of a factor without supernodes the row itself.
    #[inline(always)]
    fn place(&self, i: usize) -> usize {
        match (&self.plain, self.symbolic.perm()) {
            (None, Some(perm)) => perm.arrays().0[i] as usize,
            _ => i,
        }
    }

    fn solve_ordered(&self, x: &mut [Lane], run: &Run<'_>) {
        match (self.symbolic.raw(), &self.halves, &self.plain) {
            (SymbolicCholeskyRaw::Supernodal(raw), Some(halves), _) => {
                self.halves(raw, halves, x, run);
            }
            (_, _, Some(plain)) => {
                let size = x.len();
                let mut one: Vec<f64> = (0..LANES - 1)
                    .flat_map(|lane| x.iter().map(move |x| f64::from(x[lane])))
                    .collect();
                plain.solve(&mut one, run);
                for (i, x) in x.iter_mut().enumerate() {
                    (0..LANES - 1).for_each(|lane| x[lane] = one[lane * size + i] as f32);
                }
            }
            _ => {}
        }
    }

    fn halves(
        &self,
        raw: &SymbolicSupernodalCholesky<u32>,
        halves: &Halves,
        x: &mut [Lane],
        run: &Run<'_>,
    ) {
        let alone = Run { threads: None, ..*run };
        let run = if halves.is_worth_threads(raw) { run } else { &alone };
        let [left_columns, right_columns, top] = halves.columns();
        let (below, own) = x.split_at_mut(top.start);
        let (left, right) = below.split_at_mut(right_columns.start);
        let mut sums = [vec![[0.0; LANES]; own.len()], vec![[0.0; LANES]; own.len()]];
        let [from_left, from_right] = &mut sums;
        let last = top.start;
        let lower = Lower { raw, values: &self.values };
        let pass = |part: usize, first: usize| (lower, halves.nodes()[part].clone(), first, last);
        let mut both = [
            Some(Pass::new(pass(0, left_columns.start), left, After::Sums(from_left))),
            Some(Pass::new(pass(1, right_columns.start), right, After::Sums(from_right))),
        ];
        go(&mut both, run);
        for (x, (l, r)) in own.iter_mut().zip(sums[0].iter().zip(&sums[1])) {
            (0..LANES).for_each(|k| x[k] += l[k] + r[k]);
        }
        go(&mut [Some(Pass::new(pass(2, last), own, After::Sums(&mut [])))], &alone);
        go(&mut [Some(Pass::new(pass(2, last), own, After::Known(&[])))], &alone);
        let mut both = [
            Some(Pass::new(pass(0, left_columns.start), left, After::Known(own))),
            Some(Pass::new(pass(1, right_columns.start), right, After::Known(own))),
        ];
        go(&mut both, run);
    }
}

/// L.
#[derive(Clone, Copy)]
struct Lower<'a> {
    raw: &'a SymbolicSupernodalCholesky<u32>,
    values: &'a [f32],
}

/// What comes after a half: written on the way forward, read on the way back.
enum After<'a> {
    Sums(&'a mut [Lane]),
    Known(&'a [Lane]),
}

/// A way through some supernodes: forward with sums, backward with what is known.
struct Pass<'a> {
    lower: Lower<'a>,
    nodes: Range<usize>,
    /// First column of these nodes, and of those after both halves.
    first: usize,
    last: usize,
    own: &'a mut [Lane],
    after: After<'a>,
}

impl<'a> Pass<'a> {
    fn new(
        (lower, nodes, first, last): (Lower<'a>, Range<usize>, usize, usize),
        own: &'a mut [Lane],
        after: After<'a>,
    ) -> Self {
        Self { lower, nodes, first, last, own, after }
    }
}

/// A supernode: its first column, how many there are, their rows below, and where their numbers are.
#[inline(always)]
fn node(raw: &SymbolicSupernodalCholesky<u32>, s: usize) -> (usize, usize, &[u32], Range<usize>) {
    let (start, end) = (raw.supernode_begin()[s], raw.supernode_end()[s]);
    let places = raw.col_ptr_for_val();
    let range = places[s] as usize..places[s + 1] as usize;
    (start as usize, (end - start) as usize, raw.supernode(s).pattern(), range)
}

fn go(passes: &mut [Option<Pass<'_>>], run: &Run<'_>) {
    let arch = pulp::Arch::new();
    run.for_each_piece(passes, 1, |_, one| {
        if let Some(pass) = one[0].take() {
            arch.dispatch(pass);
        }
    });
}

impl WithSimd for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        let mut x = Vec::new();
        if matches!(self.after, After::Sums(_)) {
            for s in self.nodes.clone() {
                self.forward(s, &mut x);
            }
        } else {
            for s in self.nodes.clone().rev() {
                self.backward(s, &mut x);
            }
        }
    }
}

impl Pass<'_> {
    #[inline(always)]
    fn forward(&mut self, s: usize, x: &mut Vec<Lane>) {
        let (start, columns, rows, range) = node(self.lower.raw, s);
        let values = &self.lower.values[range];
        let at = start - self.first;
        let height = columns + rows.len();
        x.clear();
        x.extend_from_slice(&self.own[at..at + columns]);
        x.resize(height, [0.0; LANES]);
        let mut j = 0;
        while j < columns {
            let together = TOGETHER.min(columns - j);
            forward_block(values, height, j, together, x);
            j += together;
        }
        self.own[at..at + columns].copy_from_slice(&x[..columns]);
        for (&row, add) in rows.iter().zip(&x[columns..]) {
            let row = row as usize;
            let to = match (row.checked_sub(self.last), &mut self.after) {
                (Some(place), After::Sums(sums)) if !sums.is_empty() => &mut sums[place],
                _ => &mut self.own[row - self.first],
            };
            (0..LANES).for_each(
                #[inline(always)]
                |k| to[k] += add[k],
            );
        }
    }

    #[inline(always)]
    fn backward(&mut self, s: usize, x: &mut Vec<Lane>) {
        let (start, columns, rows, range) = node(self.lower.raw, s);
        let values = &self.lower.values[range];
        let at = start - self.first;
        let height = columns + rows.len();
        x.clear();
        x.extend_from_slice(&self.own[at..at + columns]);
        for &row in rows {
            let row = row as usize;
            x.push(match (row.checked_sub(self.last), &self.after) {
                (Some(place), After::Known(known)) if !known.is_empty() => known[place],
                _ => self.own[row - self.first],
            });
        }
        let mut end = columns;
        while end > 0 {
            let together = TOGETHER.min(end);
            backward_block(values, height, end - together, together, x);
            end -= together;
        }
        self.own[at..at + columns].copy_from_slice(&x[..columns]);
    }
}

/// `a − l b`, lane by lane.
#[inline(always)]
fn less(a: Lane, l: f32, b: Lane) -> Lane {
    [a[0] - l * b[0], a[1] - l * b[1], a[2] - l * b[2], a[3] - l * b[3]]
}

/// Columns `j..j + together` of a block: solved for, then taken off the rows below.
#[inline(always)]
fn forward_block(values: &[f32], height: usize, j: usize, together: usize, x: &mut [Lane]) {
    for c in j..j + together {
        let column = &values[c * height..(c + 1) * height];
        let solved = x[c].map(
            #[inline(always)]
            |x| x * column[c],
        );
        x[c] = solved;
        for r in c + 1..j + together {
            x[r] = less(x[r], column[r], solved);
        }
    }
    let below = j + together;
    let column = |k: usize| &values[(j + k) * height + below..(j + k + 1) * height];
    let (done, rest) = x.split_at_mut(below);
    let done = &done[j..];
    if together == TOGETHER {
        let (a, b, c, d) = (column(0), column(1), column(2), column(3));
        let n = rest.len();
        let (a, b, c, d) = (&a[..n], &b[..n], &c[..n], &d[..n]);
        for i in 0..n {
            let x = less(less(rest[i], a[i], done[0]), b[i], done[1]);
            rest[i] = less(less(x, c[i], done[2]), d[i], done[3]);
        }
    } else {
        for (k, done) in done.iter().enumerate().take(together) {
            for (x, &l) in rest.iter_mut().zip(column(k)) {
                *x = less(*x, l, *done);
            }
        }
    }
}

/// Columns `j..j + together` of a block, on the way back.
#[inline(always)]
fn backward_block(values: &[f32], height: usize, j: usize, together: usize, x: &mut [Lane]) {
    let below = j + together;
    let column = |k: usize| &values[(j + k) * height + below..(j + k + 1) * height];
    let (done, rest) = x.split_at_mut(below);
    let done = &mut done[j..];
    if together == TOGETHER {
        let (a, b, c, d) = (column(0), column(1), column(2), column(3));
        let n = rest.len();
        let (a, b, c, d) = (&a[..n], &b[..n], &c[..n], &d[..n]);
        let mut sums = [done[0], done[1], done[2], done[3]];
        for i in 0..n {
            sums[0] = less(sums[0], a[i], rest[i]);
            sums[1] = less(sums[1], b[i], rest[i]);
            sums[2] = less(sums[2], c[i], rest[i]);
            sums[3] = less(sums[3], d[i], rest[i]);
        }
        done[..TOGETHER].copy_from_slice(&sums);
    } else {
        for (k, done) in done.iter_mut().enumerate().take(together) {
            for (x, &l) in rest.iter().zip(column(k)) {
                *done = less(*done, l, *x);
            }
        }
    }
    for c in (j..j + together).rev() {
        let column = &values[c * height..(c + 1) * height];
        let mut sum = x[c];
        for r in c + 1..j + together {
            sum = less(sum, column[r], x[r]);
        }
        x[c] = sum.map(
            #[inline(always)]
            |x| x * column[c],
        );
    }
}

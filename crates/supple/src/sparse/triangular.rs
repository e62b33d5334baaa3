//! Right sides through a factor: forward by L, backward by Lᵀ.
//!
//! # Method
//!
//! L comes in supernodes: columns next to each other with the same rows below them, stored as a dense
//! block. A block is gone through column by column with its unknowns side by side, which vector
//! registers like; what it adds to the rows below is then scattered. Nested dissection leaves two halves
//! that know nothing of each other but the separators after them. They are gone through at the same time;
//! what each adds to the separators is kept apart and added in the same order always, so that the
//! bits do not depend on the threads.

use std::ops::{Add, AddAssign, Div, Mul, Range, Sub, SubAssign};

use faer::sparse::linalg::cholesky::supernodal::SymbolicSupernodalCholesky;
use pulp::{Simd, WithSimd};

use crate::Run;

/// Sums side by side in a product of two columns.
const LANES: usize = 8;

/// Supernodes below which a second thread costs more than it gives.
const WORTH_THREADS: usize = 200;

/// Two sets of supernodes that do not touch, and those after them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Halves {
    nodes: [Range<usize>; 3],
    /// Their columns.
    columns: [Range<usize>; 3],
}

/// What factors are made of: `f32` or `f64`.
pub(super) trait Number:
    Copy
    + Default
    + PartialEq
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + SubAssign
    + Mul<Output = Self>
    + Div<Output = Self>
{
}

impl Number for f32 {}
impl Number for f64 {}

/// L.
#[derive(Clone, Copy)]
struct Lower<'a, T> {
    symbolic: &'a SymbolicSupernodalCholesky<u32>,
    values: &'a [T],
}

/// A way through some supernodes.
struct Pass<'a, T> {
    lower: Lower<'a, T>,
    nodes: Range<usize>,
    /// The unknowns of these nodes, from the first of them on.
    own: &'a mut [T],
    first: usize,
    /// The unknowns after them, from this one on.
    after: After<'a, T>,
    last: usize,
    direction: Direction,
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Forward,
    Backward,
}

/// What comes after a half: written on the way forward, read on the way back.
enum After<'a, T> {
    Sums(&'a mut [T]),
    Known(&'a [T]),
}

impl Halves {
    /// Finds the first branch of the tree of supernodes, seen from its root.
    pub(super) fn of(symbolic: &SymbolicSupernodalCholesky<u32>) -> Self {
        let count = symbolic.n_supernodes();
        let columns = |nodes: Range<usize>| {
            let column = |s: usize| match symbolic.supernode_begin().get(s) {
                Some(&column) => column as usize,
                None => symbolic.supernode_end().last().map_or(0, |&end| end as usize),
            };
            column(nodes.start)..column(nodes.end)
        };
        let whole = [0..0, 0..0, 0..count];
        let nodes = branch(symbolic).filter(|nodes| is_apart(symbolic, nodes)).unwrap_or(whole);
        Self { columns: nodes.clone().map(columns), nodes }
    }

    /// Supernodes of both halves and of what comes after.
    pub(super) fn nodes(&self) -> &[Range<usize>; 3] {
        &self.nodes
    }

    /// Their columns.
    pub(super) fn columns(&self) -> &[Range<usize>; 3] {
        &self.columns
    }

    /// Whether a second thread gains more than it costs.
    pub(super) fn is_worth_threads(&self, symbolic: &SymbolicSupernodalCholesky<u32>) -> bool {
        symbolic.n_supernodes() >= WORTH_THREADS
    }

    #[cfg(test)]
    pub(super) fn are_two(&self) -> bool {
        self.nodes[..2].iter().all(|half| !half.is_empty())
    }

    /// Solves for one right side, in the order of the factor.
    pub(super) fn solve<T: Number>(
        &self,
        symbolic: &SymbolicSupernodalCholesky<u32>,
        values: &[T],
        x: &mut [T],
        run: &Run<'_>,
    ) {
        let top = &self.columns[2];
        let (halves, own) = x.split_at_mut(top.start);
        let (left, right) = halves.split_at_mut(self.columns[1].start);
        let lower = Lower { symbolic, values };
        let alone = Run { threads: None, ..*run };
        let run = if self.is_worth_threads(symbolic) { run } else { &alone };
        let none = T::default();
        let (mut from_left, mut from_right) = (vec![none; top.len()], vec![none; top.len()]);
        let both = [
            self.pass(0, lower, left, After::Sums(&mut from_left), Direction::Forward),
            self.pass(1, lower, right, After::Sums(&mut from_right), Direction::Forward),
        ];
        go(&mut both.map(Some), run);
        for (x, (l, r)) in own.iter_mut().zip(from_left.iter().zip(&from_right)) {
            *x += *l + *r;
        }
        for direction in [Direction::Forward, Direction::Backward] {
            go(&mut [Some(self.pass(2, lower, own, After::Known(&[]), direction))], run);
        }
        let both = [
            self.pass(0, lower, left, After::Known(own), Direction::Backward),
            self.pass(1, lower, right, After::Known(own), Direction::Backward),
        ];
        go(&mut both.map(Some), run);
    }

    fn pass<'b, T>(
        &self,
        part: usize,
        lower: Lower<'b, T>,
        own: &'b mut [T],
        after: After<'b, T>,
        direction: Direction,
    ) -> Pass<'b, T> {
        let (nodes, first) = (self.nodes[part].clone(), self.columns[part].start);
        Pass { lower, nodes, own, first, after, last: self.columns[2].start, direction }
    }
}

/// Takes passes side by side.
fn go<T: Number>(passes: &mut [Option<Pass<'_, T>>], run: &Run<'_>) {
    let arch = pulp::Arch::new();
    run.for_each_piece(passes, 1, |_, one| {
        if let Some(pass) = one[0].take() {
            arch.dispatch(pass);
        }
    });
}

/// The nodes of the first two branches below the root, and the rest, in the order of elimination.
fn branch(symbolic: &SymbolicSupernodalCholesky<u32>) -> Option<[Range<usize>; 3]> {
    let count = symbolic.n_supernodes();
    let parents = parents(symbolic);
    let mut top = count;
    // The nodes from `top` on are one chain that ends at the root.
    while top > 0 {
        let node = top - 1;
        let is_next = if top == count { parents[node] == count } else { parents[node] == top };
        let children = parents[..node].iter().filter(|&&p| p == top).count();
        if top < count && children > 0 && is_next {
            let end = (0..node).rev().find(|&s| parents[s] == top)?;
            return Some([0..end + 1, end + 1..top, top..count]);
        }
        if !is_next {
            return None;
        }
        top = node;
    }
    None
}

/// The node that each one's first row below belongs to; the number of nodes for a root.
fn parents(symbolic: &SymbolicSupernodalCholesky<u32>) -> Vec<usize> {
    let ends = symbolic.supernode_end();
    let parent = |s: usize| match symbolic.supernode(s).pattern().first() {
        Some(&row) => ends.partition_point(|&end| end <= row),
        None => symbolic.n_supernodes(),
    };
    (0..symbolic.n_supernodes()).map(parent).collect()
}

/// Whether no node of one half has a row in the other.
fn is_apart(symbolic: &SymbolicSupernodalCholesky<u32>, nodes: &[Range<usize>; 3]) -> bool {
    let begin = |s: usize| symbolic.supernode_begin()[s];
    let (middle, top) = (begin(nodes[1].start), begin(nodes[2].start));
    let crosses =
        |s: usize| symbolic.supernode(s).pattern().iter().any(|r| (middle..top).contains(r));
    !nodes[0].clone().any(crosses)
}

impl<T: Number> WithSimd for Pass<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        let mut x = Vec::new();
        match self.direction {
            Direction::Forward => {
                for s in self.nodes.clone() {
                    self.forward(s, &mut x);
                }
            }
            Direction::Backward => {
                for s in self.nodes.clone().rev() {
                    self.backward(s, &mut x);
                }
            }
        }
    }
}

impl<'a, T> Lower<'a, T> {
    /// A supernode: its first column, how many there are, their rows below, and their numbers.
    #[inline(always)]
    fn node(&self, s: usize) -> (usize, usize, &'a [u32], &'a [T]) {
        let (start, end) = (self.symbolic.supernode_begin()[s], self.symbolic.supernode_end()[s]);
        let places = self.symbolic.col_ptr_for_val();
        let values = &self.values[places[s] as usize..places[s + 1] as usize];
        let rows = self.symbolic.supernode(s).pattern();
        (start as usize, (end - start) as usize, rows, values)
    }
}

impl<T: Number> Pass<'_, T> {
    #[inline(always)]
    fn forward(&mut self, s: usize, x: &mut Vec<T>) {
        let (start, columns, rows, values) = self.lower.node(s);
        let at = start - self.first;
        let height = columns + rows.len();
        // Most right sides are sparse, and what is zero stays so: its numbers need not come from memory.
        if self.own[at..at + columns].iter().all(|x| *x == T::default()) {
            return;
        }
        x.clear();
        x.extend_from_slice(&self.own[at..at + columns]);
        x.resize(height, T::default());
        for (j, column) in values.chunks_exact(height).enumerate() {
            let solved = x[j] / column[j];
            x[j] = solved;
            for (x, l) in x[j + 1..].iter_mut().zip(&column[j + 1..]) {
                *x -= *l * solved;
            }
        }
        self.own[at..at + columns].copy_from_slice(&x[..columns]);
        for (&row, add) in rows.iter().zip(&x[columns..]) {
            let row = row as usize;
            match (row.checked_sub(self.last), &mut self.after) {
                (Some(place), After::Sums(sums)) => sums[place] += *add,
                _ => self.own[row - self.first] += *add,
            }
        }
    }

    #[inline(always)]
    fn backward(&mut self, s: usize, x: &mut Vec<T>) {
        let (start, columns, rows, values) = self.lower.node(s);
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
        for (j, column) in values.chunks_exact(height).enumerate().rev() {
            let below = product(&column[j + 1..], &x[j + 1..]);
            x[j] = (x[j] - below) / column[j];
        }
        self.own[at..at + columns].copy_from_slice(&x[..columns]);
    }
}

/// `a · b`, summed in lanes.
#[inline(always)]
fn product<T: Number>(a: &[T], b: &[T]) -> T {
    let mut sums = [T::default(); LANES];
    let (blocks, rest) = a.as_chunks::<LANES>();
    let (others, tail) = b.as_chunks::<LANES>();
    for (a, b) in blocks.iter().zip(others) {
        for i in 0..LANES {
            sums[i] += a[i] * b[i];
        }
    }
    let mut tail_sum = T::default();
    for (a, b) in rest.iter().zip(tail) {
        tail_sum += *a * *b;
    }
    let mut sum = T::default();
    for s in sums {
        sum += s;
    }
    sum + tail_sum
}

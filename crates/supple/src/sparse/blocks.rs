//! Matrices of three unknowns a node, whose numbers change and whose pattern does not: in single precision, for
//! preconditioners.
//!
//! # Method
//!
//! The pattern is that of a graph with a block of three by three for each node and each pair. It is analysed once.
//! Numbers are written to their places without sorting, and factorised in f32: half the bytes and half the time of f64. Factors
//! are off by what single precision leaves, which a preconditioner does not notice.
//!
//! # Limits
//!
//! A matrix that is barely definite may fail in single precision: [`Error::NotPositiveDefinite`].

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor as dense;
use faer::sparse::SparseColMatRef;
use faer::sparse::linalg::cholesky::{LltRef, SymbolicCholesky, SymbolicCholeskyRaw};
use faer::{Conj, MatMut, Par, Side, Spec};
use glam::{DMat3, DVec3};

use super::triangular::Halves;
use super::{Analysis, Entry, Error, Matrix, dissection};
use crate::Run;

/// Unknowns of a node.
const UNKNOWNS: usize = 3;

/// The pattern of a block matrix, analysed.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// Its numbers stand for nothing: the pattern counts.
    matrix: Matrix,
    analysis: Analysis,
    /// For each pair the place of its block in the column of its lower node, in blocks; `u32::MAX` for one left out.
    places: Vec<u32>,
    /// Entries of each node's columns below the diagonal block.
    below: Vec<u32>,
}

/// A factorised block matrix.
#[derive(Clone)]
pub struct BlockFactor {
    symbolic: Arc<SymbolicCholesky<u32>>,
    halves: Option<Arc<Halves>>,
    values: Vec<f32>,
}

impl std::fmt::Debug for BlockFactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (size, entries) = (self.symbolic.nrows(), self.values.len());
        f.debug_struct("BlockFactor").field("size", &size).field("entries", &entries).finish()
    }
}

impl Blocks {
    /// The pattern of nodes and pairs of them, each pair once, and an order of elimination of the nodes. Pairs with a
    /// node for which `is_held` are left out.
    ///
    /// # Errors
    ///
    /// As [`Matrix::new`] and [`Analysis::new`].
    pub fn new(pairs: &[[u32; 2]], is_held: &[bool], order: &[u32]) -> Result<Self, Error> {
        let nodes = is_held.len();
        let held = |v: u32| is_held.get(v as usize).copied().unwrap_or(false);
        let is_in = |p: &&[u32; 2]| !held(p[0]) && !held(p[1]);
        let entry =
            |p: &[u32; 2]| Entry { row: p[0].max(p[1]), column: p[0].min(p[1]), value: 0.0 };
        let entries: Vec<Entry> = pairs.iter().filter(is_in).map(entry).collect();
        let graph = Matrix::new(nodes, &entries)?;
        let place = |p: &[u32; 2]| {
            let (row, column) = (p[0].max(p[1]), p[0].min(p[1]) as usize);
            graph.rows[graph.column(column)].binary_search(&row).map_or(u32::MAX, |k| k as u32 - 1)
        };
        let places = pairs.iter().map(|p| if is_in(&p) { place(p) } else { u32::MAX }).collect();
        let below = (0..nodes).map(|c| graph.column(c).len() as u32 - 1).collect();
        let matrix = spread(&graph)?;
        let analysis = Analysis::new(&matrix, &dissection::spread(order, UNKNOWNS as u32))?;
        Ok(Self { matrix, analysis, places, below })
    }

    /// Numbers of the factor.
    #[must_use]
    pub fn factor_entries(&self) -> usize {
        self.analysis.factor_entries()
    }

    /// Factorises the matrix with these blocks on the diagonal, and minus the given block for every pair.
    ///
    /// # Errors
    ///
    /// [`Error::NotPositiveDefinite`], [`Error::TooLarge`].
    ///
    /// # Panics
    ///
    /// If there is not one block a node.
    pub fn factorise(
        &self,
        pairs: &[[u32; 2]],
        diagonal: &[DMat3],
        block: impl Fn(usize) -> DMat3,
    ) -> Result<BlockFactor, Error> {
        let mut numbers = vec![0.0_f32; self.matrix.values.len()];
        let start = |node: usize, k: usize| self.matrix.starts[UNKNOWNS * node + k] as usize;
        for (node, own) in diagonal.iter().enumerate().take(self.below.len()) {
            for k in 0..UNKNOWNS {
                (k..UNKNOWNS).for_each(|r| numbers[start(node, k) + r - k] = own.col(k)[r] as f32);
            }
        }
        for (s, (pair, &place)) in pairs.iter().zip(&self.places).enumerate() {
            if place == u32::MAX {
                continue;
            }
            let (node, own) = (pair[0].min(pair[1]) as usize, block(s));
            for k in 0..UNKNOWNS {
                let at = start(node, k) + (UNKNOWNS - k) + UNKNOWNS * place as usize;
                (0..UNKNOWNS).for_each(|r| numbers[at + r] -= own.col(k)[r] as f32);
            }
        }
        self.numbers(&numbers)
    }

    fn numbers(&self, numbers: &[f32]) -> Result<BlockFactor, Error> {
        let symbolic = Arc::clone(&self.analysis.symbolic);
        let size = symbolic.nrows();
        let need = symbolic.factorize_numeric_llt_scratch::<f32>(Par::Seq, Spec::default());
        let mut memory = MemBuffer::try_new(need).map_err(|_full| Error::TooLarge { size })?;
        let mut values = vec![0.0_f32; symbolic.len_val()];
        let done = symbolic.factorize_numeric_llt(
            &mut values,
            SparseColMatRef::new(self.matrix.pattern(), numbers),
            Side::Lower,
            dense::LltRegularization::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Spec::default(),
        );
        if let Err(dense::LltError::NonPositivePivot { index }) = done {
            return Err(Error::NotPositiveDefinite { unknown: self.analysis.unknown(index) });
        }
        Ok(BlockFactor { halves: self.analysis.halves.clone(), symbolic, values })
    }
}

/// Three unknowns for each of a graph.
fn spread(graph: &Matrix) -> Result<Matrix, Error> {
    let size = UNKNOWNS * graph.size;
    let entries = UNKNOWNS * UNKNOWNS * graph.entries();
    if entries > u32::MAX as usize {
        return Err(Error::TooLarge { size });
    }
    let (mut starts, mut rows) = (Vec::with_capacity(size + 1), Vec::with_capacity(entries));
    starts.push(0);
    for column in 0..graph.size {
        let nodes = &graph.rows[graph.column(column)];
        for k in 0..UNKNOWNS {
            let own = (k..UNKNOWNS).map(|r| (UNKNOWNS * column + r) as u32);
            let unknowns = UNKNOWNS as u32;
            let other =
                nodes[1..].iter().flat_map(|&n| (0..unknowns).map(move |r| unknowns * n + r));
            rows.extend(own.chain(other));
            starts.push(rows.len() as u32);
        }
    }
    let values = vec![0.0; rows.len()];
    Ok(Matrix { size, starts, rows, values })
}

impl BlockFactor {
    /// The solution for a right side, scaled by `scale` on the way in and back on the way out: single precision has a
    /// small range.
    ///
    /// # Panics
    ///
    /// If there is not one vector a node.
    pub fn solve(&self, right: &[DVec3], scale: f64, x: &mut Vec<DVec3>, run: &Run<'_>) {
        let size = self.symbolic.nrows();
        assert_eq!(UNKNOWNS * right.len(), size, "one vector a node");
        let flat = |i: usize| (scale * right[i / UNKNOWNS][i % UNKNOWNS]) as f32;
        let orders = self.symbolic.perm().map(|perm| perm.arrays());
        let place = |i: usize| orders.map_or(i, |(order, _)| order[i] as usize);
        x.resize(right.len(), DVec3::ZERO);
        match (self.symbolic.raw(), &self.halves) {
            (SymbolicCholeskyRaw::Supernodal(raw), Some(halves)) => {
                let mut y: Vec<f32> = (0..size).map(|i| flat(place(i))).collect();
                halves.solve(raw, &self.values, &mut y, run);
                for (i, y) in y.iter().enumerate() {
                    let to = place(i);
                    x[to / UNKNOWNS][to % UNKNOWNS] = f64::from(*y) / scale;
                }
            }
            _ => {
                let mut y: Vec<f32> = (0..size).map(flat).collect();
                let need = self.symbolic.solve_in_place_scratch::<f32>(1, Par::Seq);
                let mut memory = MemBuffer::new(need);
                LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
                    Conj::No,
                    MatMut::from_column_major_slice_mut(&mut y, size, 1),
                    Par::Seq,
                    MemStack::new(&mut memory),
                );
                for (x, y) in x.iter_mut().zip(y.chunks_exact(UNKNOWNS)) {
                    *x = DVec3::new(f64::from(y[0]), f64::from(y[1]), f64::from(y[2])) / scale;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of nodes with blocks of no pattern, against the same matrix from entries in double precision.
    #[test]
    fn blocks_agree_with_entries() {
        for nodes in [5_u32, 900] {
            let number = |i: u32| f64::from(i).sin() * 43758.5453 % 1.0;
            let pairs: Vec<[u32; 2]> =
                (0..nodes).flat_map(|i| [[i, (i + 1) % nodes], [(i + 2) % nodes, i]]).collect();
            let block = |s: usize| {
                let b = DVec3::new(number(s as u32), number(s as u32 + 1), number(s as u32 + 2));
                DMat3::from_cols(b * b.x, b * b.y, b * b.z)
            };
            let mut is_held = vec![false; nodes as usize];
            is_held[3] = true;
            let free = |p: &[u32; 2]| !p.contains(&3);
            let mut diagonal = vec![DMat3::from_diagonal(DVec3::splat(0.5)); nodes as usize];
            for (s, p) in pairs.iter().enumerate().filter(|(_, p)| free(p)) {
                p.iter().for_each(|&v| diagonal[v as usize] += block(s));
            }
            let mut entries = Vec::new();
            let at = |node: u32, k: usize| 3 * node + k as u32;
            for (v, own) in diagonal.iter().enumerate() {
                for (r, c) in (0..3).flat_map(|r| (0..=r).map(move |c| (r, c))) {
                    entries.push(Entry::from((at(v as u32, r), at(v as u32, c), own.col(c)[r])));
                }
            }
            for (s, p) in pairs.iter().enumerate().filter(|(_, p)| free(p)) {
                for (r, c) in (0..3).flat_map(|r| (0..3).map(move |c| (r, c))) {
                    entries.push(Entry::from((at(p[0], r), at(p[1], c), -block(s).col(c)[r])));
                }
            }
            let matrix = Matrix::new(3 * nodes as usize, &entries).unwrap();
            let wanted: Vec<DVec3> =
                (0..nodes).map(|i| DVec3::new(number(i), number(i + 7), number(i + 9))).collect();
            let flat: Vec<f64> = wanted.iter().flat_map(|x| x.to_array()).collect();
            let right: Vec<DVec3> =
                matrix.times(&flat).chunks_exact(3).map(DVec3::from_slice).collect();
            let order: Vec<u32> = (0..nodes).collect();
            let blocks = Blocks::new(&pairs, &is_held, &order).unwrap();
            let factor = blocks.factorise(&pairs, &diagonal, block).unwrap();
            let mut x = Vec::new();
            factor.solve(&right, 0.5, &mut x, &Run::default());
            for (x, wanted) in x.iter().zip(&wanted) {
                assert!((*x - *wanted).length() < 1e-4, "{x} {wanted}");
            }
        }
    }
}

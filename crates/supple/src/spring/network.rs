//! Networks of springs between the nodes of a body: which there are, their energy, its slope and curvature.
//!
//! # Method
//!
//! `E = ½ Σ k (|d| − r)²` over springs with `d = x_i − x_j`. With `d̂ = d/|d|` the slope at `i` is
//! `Σ k (|d| − r) d̂` (001 (2), printed without the sign of a force) and a spring's block of the curvature is
//!
//! ```text
//! k [ (1 − r/|d|) I + (r/|d|) d̂ d̂ᵀ ] = a I + b bᵀ        a = k (1 − r/|d|), b = √(k r/|d|) d̂        001 (4)
//! ```
//!
//! so that four numbers a spring are all that a product with the curvature needs. Compressed springs have a < 0: the
//! matrix is not always definite. Setting those to zero makes it so ([`Curvature::Clamped`]).
//!
//! Springs are of three kinds: *structure* (edges), *bending* (vertices two edges apart, or opposite an edge), *internal*
//! (edges of tets).
//!
//! # Where we differ from the usual
//!
//! Nodes are numbered in [`PARTS`] slabs, so that threads go through the springs within a slab at the same time, each
//! spring once; the few between slabs come afterwards. The cut is fixed: the bits do not depend on the threads.
//!
//! # References
//!
//! - K.-J. Choi, H.-S. Ko. Stable but Responsive Cloth. ACM Transactions on Graphics (SIGGRAPH), 2002.
//! - W.-C. Ma, Y.-H. Wang, G. Fyffe, B.-Y. Chen, P. Debevec. A Blendshape Model that Incorporates Physical Interaction.
//!   Computer Animation and Virtual Worlds, 2012.
//!
//! # Example
//!
//! ```
//! use glam::DVec3;
//! use supple::{Run, spring::network::Network};
//!
//! // A spring of rest length one, pulled to two: half of k times one squared.
//! let network = Network::new(2, vec![[0, 1]], vec![3.0]);
//! let x = [DVec3::ZERO, 2.0 * DVec3::X];
//! assert!((network.energy(&x, &[1.0], &Run::default()) - 1.5).abs() < 1e-12);
//! ```

use std::collections::HashMap;
use std::ops::Range;

use glam::{DMat3, DVec3};

use crate::Run;
use crate::mesh::adjacency::{self, Rows};
use crate::mesh::tet::EDGES;
use crate::sparse::Entry;

/// Slabs of nodes whose springs are gone through side by side.
pub const PARTS: usize = 4;

/// Springs between nodes, with their constants.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    nodes: usize,
    /// Within the slabs, one after the other, then those between them.
    ends: Vec<[u32; 2]>,
    stiffness: Vec<f64>,
    /// Nodes of each slab.
    slabs: [Range<usize>; PARTS],
    /// Springs within each.
    within: [Range<usize>; PARTS],
    between: Range<usize>,
    /// Around each node the other end, and the spring.
    around: Rows<[u32; 2]>,
}

/// The curvature of each spring at some positions: `[a, b]`.
#[derive(Clone, Debug, Default)]
pub struct Tangent {
    blocks: Vec<[f64; 4]>,
}

impl Tangent {
    /// A spring's block of the curvature.
    #[must_use]
    pub fn block(&self, spring: usize, which: Curvature) -> DMat3 {
        let [a, x, y, z] = self.blocks[spring];
        let (a, b) = (if which == Curvature::True { a } else { a.max(0.0) }, DVec3::new(x, y, z));
        DMat3::from_cols(b * b.x, b * b.y, b * b.z) + DMat3::from_diagonal(DVec3::splat(a))
    }
}

/// How compressed springs count in the curvature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curvature {
    /// As they are: the matrix may not be definite.
    True,
    /// Without their negative part: it is.
    Clamped,
}

impl Network {
    /// From the ends of springs and their constants. The order of springs is kept for those within a slab of nodes;
    /// [`ends`](Self::ends) tells it.
    ///
    /// # Panics
    ///
    /// If there is not one constant a spring, or an end is no node.
    #[must_use]
    pub fn new(nodes: usize, ends: Vec<[u32; 2]>, stiffness: Vec<f64>) -> Self {
        assert_eq!(ends.len(), stiffness.len(), "one constant a spring");
        let slab = nodes.div_ceil(PARTS).max(1);
        let part = |[a, b]: [u32; 2]| {
            let (a, b) = (a as usize / slab, b as usize / slab);
            if a == b { a } else { PARTS }
        };
        let mut order: Vec<u32> = (0..ends.len() as u32).collect();
        order.sort_by_key(|&s| part(ends[s as usize]));
        let sorted: Vec<[u32; 2]> = order.iter().map(|&s| ends[s as usize]).collect();
        let stiffness = order.iter().map(|&s| stiffness[s as usize]).collect();
        let bound = |p: usize| sorted.partition_point(|&e| part(e) < p);
        let ranges: Vec<Range<usize>> = (0..=PARTS).map(|p| bound(p)..bound(p + 1)).collect();
        let slabs = std::array::from_fn(|p| (p * slab).min(nodes)..((p + 1) * slab).min(nodes));
        let within = std::array::from_fn(|p| ranges[p].clone());
        let both = |(s, &[i, j]): (u32, &[u32; 2])| [(i, [j, s]), (j, [i, s])];
        let around = Rows::sorted(nodes, (0..).zip(&sorted).flat_map(both));
        let between = ranges[PARTS].clone();
        Self { nodes, ends: sorted, stiffness, slabs, within, between, around }
    }

    /// Nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Both ends of every spring.
    #[must_use]
    pub fn ends(&self) -> &[[u32; 2]] {
        &self.ends
    }

    /// The constant of every spring.
    #[must_use]
    pub fn stiffness(&self) -> &[f64] {
        &self.stiffness
    }

    /// The springs at a node: the other end, and the spring.
    #[must_use]
    pub fn around(&self, node: usize) -> &[[u32; 2]] {
        self.around.row(node)
    }

    /// The length of every spring.
    #[must_use]
    pub fn lengths(&self, x: &[DVec3]) -> Vec<f64> {
        self.ends
            .iter()
            .map(|&[i, j]| (x[i as usize] - x[j as usize]).length_squared().sqrt())
            .collect()
    }

    /// `Σ k (x_i − x_j)²` as a matrix: the same for x, y and z, and for every length.
    #[must_use]
    pub fn laplacian(&self) -> Vec<Entry> {
        let spring = |(&[i, j], &k): (&[u32; 2], &f64)| {
            [(i, i, k), (j, j, k), (i.max(j), i.min(j), -k)].map(Entry::from)
        };
        self.ends.iter().zip(&self.stiffness).flat_map(spring).collect()
    }

    /// The number of the piece that each node belongs to, and how many there are.
    #[must_use]
    pub fn pieces(&self) -> (Vec<u32>, usize) {
        let mut piece = vec![u32::MAX; self.nodes];
        let mut count = 0;
        let mut open = Vec::new();
        for node in 0..self.nodes {
            if piece[node] != u32::MAX {
                continue;
            }
            piece[node] = count;
            open.push(node);
            while let Some(node) = open.pop() {
                let others = self.around(node).iter().map(|[other, _]| *other as usize);
                let fresh = others.filter(|&other| piece[other] == u32::MAX).collect::<Vec<_>>();
                fresh.iter().for_each(|&other| piece[other] = count);
                open.extend(fresh);
            }
            count += 1;
        }
        (piece, count as usize)
    }

    /// `E` for rest lengths `r`.
    #[must_use]
    pub fn energy(&self, x: &[DVec3], r: &[f64], run: &Run<'_>) -> f64 {
        run.sum(self.ends.len(), |s| {
            let [i, j] = self.ends[s];
            let off = (x[i as usize] - x[j as usize]).length_squared().sqrt() - r[s];
            0.5 * self.stiffness[s] * off * off
        })
    }

    /// The slope of `E` at every node, and the curvature of every spring.
    pub fn slope(
        &self,
        x: &[DVec3],
        r: &[f64],
        slope: &mut Vec<DVec3>,
        tangent: &mut Tangent,
        run: &Run<'_>,
    ) {
        tangent.blocks.resize(self.ends.len(), [0.0; 4]);
        run.for_each(&mut tangent.blocks, |s, block| {
            let [i, j] = self.ends[s];
            let d = x[i as usize] - x[j as usize];
            let (k, length) = (self.stiffness[s], d.length_squared().sqrt());
            // A spring of no length has no direction: it pushes nowhere.
            if length > 0.0 {
                let b = (k * r[s] / length).sqrt() / length * d;
                *block = [k * (1.0 - r[s] / length), b.x, b.y, b.z];
            } else {
                *block = [0.0; 4];
            }
        });
        // k (|d| − r) d̂ is a d.
        let blocks = &tangent.blocks;
        self.scatter(slope, run, |s, i, j| blocks[s][0] * (x[i] - x[j]));
    }

    /// The product of the curvature with a direction.
    pub fn times(
        &self,
        tangent: &Tangent,
        which: Curvature,
        p: &[DVec3],
        product: &mut Vec<DVec3>,
        run: &Run<'_>,
    ) {
        let blocks = &tangent.blocks;
        let floor = if which == Curvature::True { f64::NEG_INFINITY } else { 0.0 };
        self.scatter(product, run, |s, i, j| {
            let [a, x, y, z] = blocks[s];
            let (b, d) = (DVec3::new(x, y, z), p[i] - p[j]);
            a.max(floor) * d + b.dot(d) * b
        });
    }

    /// The curvature as a matrix of three unknowns a node, without the nodes for which `is_held`.
    #[must_use]
    pub fn matrix(&self, tangent: &Tangent, which: Curvature, is_held: &[bool]) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(21 * self.ends.len());
        for (&[i, j], &[a, x, y, z]) in self.ends.iter().zip(&tangent.blocks) {
            let a = if which == Curvature::True { a } else { a.max(0.0) };
            let b = [x, y, z];
            let value = |row: usize, column: usize| {
                b[row] * b[column] + if row == column { a } else { 0.0 }
            };
            let at = |node: u32, k: usize| 3 * node + k as u32;
            let free = |node: &u32| !is_held[*node as usize];
            for (row, column) in (0..3).flat_map(|r| (0..=r).map(move |c| (r, c))) {
                let own =
                    |node: u32| Entry::from((at(node, row), at(node, column), value(row, column)));
                entries.extend([i, j].into_iter().filter(free).map(own));
            }
            if free(&i) && free(&j) {
                let pairs = (0..3).flat_map(|r| (0..3).map(move |c| (r, c)));
                entries.extend(pairs.map(|(r, c)| Entry::from((at(i, r), at(j, c), -value(r, c)))));
            }
        }
        entries
    }

    /// Adds what each spring gives to its first end and takes from its second.
    fn scatter(
        &self,
        sums: &mut Vec<DVec3>,
        run: &Run<'_>,
        give: impl Fn(usize, usize, usize) -> DVec3 + Send + Sync,
    ) {
        sums.clear();
        sums.resize(self.nodes, DVec3::ZERO);
        let mut rest = sums.as_mut_slice();
        let mut jobs: Vec<(usize, &mut [DVec3])> = Vec::with_capacity(PARTS);
        for (p, slab) in self.slabs.iter().enumerate() {
            let (own, after) = rest.split_at_mut(slab.len());
            jobs.push((p, own));
            rest = after;
        }
        run.for_each_piece(&mut jobs, 1, |_, job| {
            let (p, sums) = &mut job[0];
            let first = self.slabs[*p].start;
            for (s, &[i, j]) in self.within[*p].clone().zip(&self.ends[self.within[*p].clone()]) {
                let (i, j) = (i as usize, j as usize);
                let give = give(s, i, j);
                sums[i - first] += give;
                sums[j - first] -= give;
            }
        });
        for s in self.between.clone() {
            let [i, j] = self.ends[s].map(|i| i as usize);
            let give = give(s, i, j);
            sums[i] += give;
            sums[j] -= give;
        }
    }
}

/// Bending springs: pairs of vertices two edges apart that are no edge themselves.
#[must_use]
pub fn two_apart(neighbours: &Rows) -> Vec<[u32; 2]> {
    let mut springs = Vec::new();
    let mut found = Vec::new();
    for v in 0..neighbours.len() {
        found.clear();
        for &near in neighbours.row(v) {
            found.extend(neighbours.row(near as usize).iter().filter(|&&far| far as usize > v));
        }
        found.sort_unstable();
        found.dedup();
        let is_edge = |far: &u32| neighbours.row(v).binary_search(far).is_ok();
        springs.extend(found.iter().filter(|far| !is_edge(far)).map(|&far| [v as u32, far]));
    }
    springs
}

/// Bending springs: the two vertices opposite each edge.
#[must_use]
pub fn opposite(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut first: HashMap<[u32; 2], u32> = HashMap::with_capacity(2 * triangles.len());
    let mut springs = Vec::new();
    for &[a, b, c] in triangles.iter().filter(|t| !adjacency::is_index_degenerate(**t)) {
        for [i, j, over] in [[a, b, c], [b, c, a], [c, a, b]] {
            match first.insert([i.min(j), i.max(j)], over) {
                Some(other) if other != over => springs.push([other.min(over), other.max(over)]),
                _ => {}
            }
        }
    }
    springs.sort_unstable();
    springs.dedup();
    springs
}

/// Internal springs: the edges of tets, each once.
#[must_use]
pub fn internal(tets: &[[u32; 4]]) -> Vec<[u32; 2]> {
    let pair = |t: &[u32; 4], [i, j]: [usize; 2]| [t[i].min(t[j]), t[i].max(t[j])];
    let mut springs: Vec<[u32; 2]> =
        tets.iter().flat_map(|t| EDGES.map(|edge| pair(t, edge))).collect();
    springs.retain(|[a, b]| a != b);
    springs.sort_unstable();
    springs.dedup();
    springs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of twelve nodes, with lengths and constants of no pattern.
    fn tangle() -> (Network, Vec<DVec3>, Vec<f64>) {
        let number = |i: u32| f64::from(i).sin() * 43758.5453 % 1.0;
        let x = (0..12).map(|i| DVec3::new(number(3 * i), number(3 * i + 1), number(3 * i + 2)));
        let ends: Vec<[u32; 2]> = (0..12).flat_map(|j| (0..j).map(move |i| [i, j])).collect();
        let k = (0..ends.len() as u32).map(|s| 1.0 + number(s).abs()).collect();
        let r = (0..ends.len() as u32).map(|s| 0.2 + number(100 + s).abs()).collect();
        (Network::new(12, ends, k), x.collect(), r)
    }

    #[test]
    fn slope_and_curvature_are_the_derivatives_of_the_energy() {
        let (network, x, r) = tangle();
        let run = Run::default();
        let (mut slope, mut tangent) = (Vec::new(), Tangent::default());
        network.slope(&x, &r, &mut slope, &mut tangent, &run);
        let p: Vec<DVec3> =
            (0..12).map(|i| DVec3::new(1.0, f64::from(i), -2.0).normalize()).collect();
        let mut product = Vec::new();
        network.times(&tangent, Curvature::True, &p, &mut product, &run);
        let h = 1e-6;
        let at = |t: f64| x.iter().zip(&p).map(|(x, p)| *x + t * *p).collect::<Vec<_>>();
        let rise =
            (network.energy(&at(h), &r, &run) - network.energy(&at(-h), &r, &run)) / (2.0 * h);
        let expected: f64 = slope.iter().zip(&p).map(|(g, p)| g.dot(*p)).sum();
        assert!((rise - expected).abs() < 1e-7, "{rise} {expected}");
        let slope_at = |t: f64| {
            let mut slope = Vec::new();
            network.slope(&at(t), &r, &mut slope, &mut Tangent::default(), &run);
            slope
        };
        for ((after, before), product) in slope_at(h).iter().zip(&slope_at(-h)).zip(&product) {
            let expected = (*after - *before) / (2.0 * h);
            assert!((expected - *product).length() < 1e-6, "{expected} {product}");
        }
    }

    #[test]
    fn clamped_curvature_is_never_negative_and_the_true_one_can_be() {
        let (network, x, r) = tangle();
        let r: Vec<f64> = r.iter().map(|r| 3.0 * r).collect();
        let (mut slope, mut tangent, mut product) = (Vec::new(), Tangent::default(), Vec::new());
        network.slope(&x, &r, &mut slope, &mut tangent, &Run::default());
        let mut lowest = [f64::INFINITY; 2];
        for seed in 0..200 {
            let number = |i: u32| (f64::from(i + 37 * seed)).sin();
            let p: Vec<DVec3> =
                (0..12).map(|i| DVec3::new(number(i), number(i + 50), number(i + 90))).collect();
            for (which, lowest) in
                [Curvature::True, Curvature::Clamped].into_iter().zip(&mut lowest)
            {
                network.times(&tangent, which, &p, &mut product, &Run::default());
                *lowest = lowest.min(p.iter().zip(&product).map(|(p, q)| p.dot(*q)).sum::<f64>());
            }
        }
        assert!(lowest[0] < 0.0 && lowest[1] >= 0.0, "{lowest:?}");
    }

    #[test]
    fn matrix_and_product_agree() {
        let (network, x, r) = tangle();
        let (mut slope, mut tangent, mut product) = (Vec::new(), Tangent::default(), Vec::new());
        network.slope(&x, &r, &mut slope, &mut tangent, &Run::default());
        let matrix = crate::sparse::Matrix::new(
            36,
            &network.matrix(&tangent, Curvature::True, &[false; 12]),
        )
        .unwrap();
        network.times(&tangent, Curvature::True, &x, &mut product, &Run::default());
        let flat: Vec<f64> = x.iter().flat_map(|x| x.to_array()).collect();
        for (y, expected) in
            matrix.times(&flat).iter().zip(product.iter().flat_map(DVec3::to_array))
        {
            assert!((y - expected).abs() < 1e-9, "{y} {expected}");
        }
    }

    #[test]
    fn bending_springs_of_a_strip() {
        let strip = [[0, 1, 3], [1, 4, 3], [1, 2, 4], [2, 5, 4]];
        let near = adjacency::vertex_vertices(6, &strip);
        assert_eq!(two_apart(&near), [[0, 2], [0, 4], [1, 5], [2, 3], [3, 5]]);
        assert_eq!(opposite(&strip), [[0, 4], [1, 5], [2, 3]]);
        assert_eq!(internal(&[[3, 1, 0, 2]]).len(), 6);
    }

    #[test]
    fn pieces_are_found() {
        let network = Network::new(5, vec![[0, 1], [3, 4]], vec![1.0; 2]);
        assert_eq!(network.pieces(), (vec![0, 0, 1, 2, 2], 3));
    }
}

//! Nested dissection: orderings that keep the factors of sparse matrices small.
//!
//! # Method
//!
//! A set of vertices that cuts a graph in two (a separator) is eliminated last, the two halves before it,
//! each by the same rule. Nothing fills in between the halves.
//!
//! To find a separator the vertices are sorted along a direction. In the order `r` the vertices before rank k with a
//! neighbour at or behind it separate the two sides: `v` is one of them for `r(v) < k ≤ max r(neighbours)`.
//! One sweep therefore gives the size of the separators of *all* cuts. The smallest one near the middle, over
//! several directions, is taken: the axes of space, where positions are known, and the distance
//! from a far vertex through the graph.
//!
//! # Where we differ from the usual
//!
//! No multilevel coarsening: positions are known for whatever comes from a mesh.
//!
//! # References
//!
//! - A. George. Nested Dissection of a Regular Finite Element Mesh. SIAM Journal on Numerical Analysis, 1973.

use glam::Vec3;

use crate::Run;
use crate::rows::Rows;

/// Pieces up to this size are not cut any more.
const LEAF: usize = 8;
/// Pieces from this size on are worth a task of their own.
const TASK: usize = 2048;
/// Pieces from this size on, and those without extent in space, are also cut by distance: limbs end there.
const WORTH_A_SEARCH: usize = 512;
/// The smaller side of a cut holds at least one in this many vertices.
const SMALLEST_SIDE: usize = 4;

/// Which vertices are neighbours: the pattern of a symmetric matrix without its diagonal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph(Rows);

impl Graph {
    /// From pairs of neighbours, each given once.
    pub(super) fn new(size: usize, pairs: impl Iterator<Item = [u32; 2]> + Clone) -> Self {
        Self(Rows::sorted(size, pairs.flat_map(|[a, b]| [(a, b), (b, a)])))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn around(&self, v: usize) -> &[u32] {
        self.0.row(v)
    }
}

/// An ordering from the positions of the vertices in space.
///
/// # Panics
///
/// If there are fewer positions than vertices.
#[must_use]
pub fn from_positions(graph: &Graph, positions: &[Vec3], run: &Run<'_>) -> Vec<u32> {
    order(graph, positions[..graph.len()].to_vec(), run)
}

/// An ordering from the graph alone.
#[must_use]
pub fn from_graph(graph: &Graph, run: &Run<'_>) -> Vec<u32> {
    order(graph, Vec::new(), run)
}

/// The same ordering for `unknowns` unknowns at each vertex, numbered `vertex * unknowns + k`.
#[must_use]
pub fn spread(order: &[u32], unknowns: u32) -> Vec<u32> {
    order.iter().flat_map(|&v| (0..unknowns).map(move |k| v * unknowns + k)).collect()
}

fn order(graph: &Graph, points: Vec<Vec3>, run: &Run<'_>) -> Vec<u32> {
    let names = (0..graph.len() as u32).collect();
    Piece { names, graph: graph.clone(), points }.order(run)
}

/// A part of the graph, with the names its vertices have in the whole.
struct Piece {
    names: Vec<u32>,
    graph: Graph,
    /// Empty if not known.
    points: Vec<Vec3>,
}

/// Which part of a cut a vertex belongs to.
const BEFORE: u8 = 0;
const BEHIND: u8 = 1;
const SEPARATOR: u8 = 2;

impl Piece {
    fn order(self, run: &Run<'_>) -> Vec<u32> {
        if self.names.len() <= LEAF {
            return self.names;
        }
        let part = self.cut();
        let half = |side: usize| self.half(&part, side as u8).order(run);
        let [before, behind] = if self.names.len() >= TASK {
            let mut halves = run.map_tasks(2, half);
            [std::mem::take(&mut halves[0]), std::mem::take(&mut halves[1])]
        } else {
            [0, 1].map(half)
        };
        let separator = self.names.iter().zip(&part).filter(|(_, part)| **part == SEPARATOR);
        before.into_iter().chain(behind).chain(separator.map(|(name, _)| *name)).collect()
    }

    /// The part of every vertex in the best cut found.
    fn cut(&self) -> Vec<u8> {
        let mut best: Option<(Cut, Vec<u32>)> = None;
        let mut consider = |rank: Vec<u32>| {
            let cut = self.best_cut(&rank);
            if best.as_ref().is_none_or(|(other, _)| cut.cost < other.cost) {
                best = Some((cut, rank));
            }
        };
        let axes = self.axes();
        for &axis in &axes {
            consider(self.rank_along(axis));
        }
        if axes.is_empty() || self.names.len() >= WORTH_A_SEARCH {
            consider(self.rank_by_distance());
        }
        best.map_or_else(Vec::new, |(cut, rank)| self.parts(&cut, &rank))
    }

    /// The directions of space worth trying: those in which the piece is long.
    fn axes(&self) -> Vec<usize> {
        let low = self.points.iter().fold(Vec3::INFINITY, |low, p| low.min(*p));
        let high = self.points.iter().fold(Vec3::NEG_INFINITY, |high, p| high.max(*p));
        let size = high - low;
        (0..3).filter(|&axis| 3.0 * size[axis] > size.max_element()).collect()
    }

    /// Rank of every vertex along an axis.
    fn rank_along(&self, axis: usize) -> Vec<u32> {
        // The bits of a number, so that they are in its order; the index breaks ties.
        let key = |x: f32| {
            let bits = x.to_bits();
            if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
        };
        let coded = |(i, p): (usize, &Vec3)| u64::from(key(p[axis])) << 32 | i as u64;
        let mut order: Vec<u64> = self.points.iter().enumerate().map(coded).collect();
        order.sort_unstable();
        let mut rank = vec![0; order.len()];
        for (k, coded) in order.iter().enumerate() {
            rank[*coded as u32 as usize] = k as u32;
        }
        rank
    }

    /// Rank of every vertex by its distance through the graph from one that is far from the first.
    fn rank_by_distance(&self) -> Vec<u32> {
        let far = self.breadth_first(0).last().copied().unwrap_or(0);
        let mut rank = vec![0; self.names.len()];
        for (k, &v) in self.breadth_first(far as usize).iter().enumerate() {
            rank[v as usize] = k as u32;
        }
        rank
    }

    /// All vertices in the order of their distance from one; other parts follow, each from its first.
    fn breadth_first(&self, start: usize) -> Vec<u32> {
        let n = self.names.len();
        let mut seen = vec![false; n];
        let mut order: Vec<u32> = Vec::with_capacity(n);
        let mut next = 0;
        for first in std::iter::once(start).chain(0..n) {
            if !std::mem::replace(&mut seen[first], true) {
                order.push(first as u32);
            }
            while let Some(&v) = order.get(next) {
                next += 1;
                let around = self.graph.around(v as usize).iter();
                order.extend(around.filter(|w| !std::mem::replace(&mut seen[**w as usize], true)));
            }
        }
        order
    }

    /// The best of all cuts of an order.
    fn best_cut(&self, rank: &[u32]) -> Cut {
        let n = rank.len();
        // By how much the separator before (behind) the cut grows from one cut to the next.
        let (mut before, mut behind) = (vec![0_i32; n + 2], vec![0_i32; n + 2]);
        for (v, &r) in rank.iter().enumerate() {
            let around = self.graph.around(v).iter().map(|&w| rank[w as usize]);
            let (low, high) = around.fold((r, r), |(low, high), w| (low.min(w), high.max(w)));
            before[r as usize + 1] += 1;
            before[high as usize + 1] -= 1;
            behind[low as usize + 1] += 1;
            behind[r as usize + 1] -= 1;
        }
        let (mut sizes, mut best) = ([0, 0], Cut { cost: f64::INFINITY, at: 0, behind: false });
        for k in 1..n {
            sizes[0] += before[k];
            sizes[1] += behind[k];
            if k.min(n - k) * SMALLEST_SIDE < n {
                continue;
            }
            let uneven = (n as f64 - 2.0 * k as f64) / n as f64;
            for (side, size) in sizes.iter().enumerate() {
                let cost = f64::from(*size) * (1.0 + uneven * uneven);
                if cost < best.cost {
                    best = Cut { cost, at: k as u32, behind: side == 1 };
                }
            }
        }
        best
    }

    fn parts(&self, cut: &Cut, rank: &[u32]) -> Vec<u8> {
        let is_behind = |v: usize| rank[v] >= cut.at;
        let part = |v: usize| {
            let crosses = |&w: &u32| is_behind(w as usize) != is_behind(v);
            if is_behind(v) == cut.behind && self.graph.around(v).iter().any(crosses) {
                SEPARATOR
            } else if is_behind(v) {
                BEHIND
            } else {
                BEFORE
            }
        };
        (0..rank.len()).map(part).collect()
    }

    /// One side of a cut as a piece of its own.
    fn half(&self, part: &[u8], side: u8) -> Self {
        let mut local = vec![u32::MAX; part.len()];
        let members = || (0..part.len()).filter(|&v| part[v] == side);
        for (k, v) in members().enumerate() {
            local[v] = k as u32;
        }
        let mut graph = Graph::default();
        for v in members() {
            let inside = self.graph.around(v).iter().map(|&w| local[w as usize]);
            graph.0.push(inside.filter(|&w| w != u32::MAX));
        }
        let names = members().map(|v| self.names[v]).collect();
        let points = if self.points.is_empty() {
            Vec::new()
        } else {
            members().map(|v| self.points[v]).collect()
        };
        Self { names, graph, points }
    }
}

/// A cut of an order: what lies before a rank from what does not.
struct Cut {
    cost: f64,
    at: u32,
    /// Whether the separator is taken from the vertices behind the cut.
    behind: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square grid of n by n vertices with its diagonals.
    fn grid(n: u32) -> (Graph, Vec<Vec3>) {
        let pairs = (0..n * n).flat_map(move |v| {
            let (x, y) = (v % n, v / n);
            let right = (x + 1 < n).then_some([v, v + 1]);
            let up = (y + 1 < n).then_some([v, v + n]);
            let diagonal = (x + 1 < n && y + 1 < n).then_some([v, v + n + 1]);
            [right, up, diagonal].into_iter().flatten()
        });
        let point = |v: u32| Vec3::new((v % n) as f32, (v / n) as f32, 0.0);
        (Graph::new((n * n) as usize, pairs), (0..n * n).map(point).collect())
    }

    fn sorted(mut order: Vec<u32>) -> Vec<u32> {
        order.sort_unstable();
        order
    }

    #[test]
    fn every_vertex_comes_once() {
        let (graph, points) = grid(23);
        let all: Vec<u32> = (0..23 * 23).collect();
        assert_eq!(sorted(from_positions(&graph, &points, &Run::default())), all);
        assert_eq!(sorted(from_graph(&graph, &Run::default())), all);
        assert!(
            from_graph(&Graph::new(0, std::iter::empty()), &Run::default()).is_empty(),
            "nothing"
        );
    }

    /// The last row of a grid's order is a separator: about one row of the grid.
    #[test]
    fn a_grid_is_cut_by_one_of_its_rows() {
        let (graph, points) = grid(32);
        let piece = Piece { names: (0..1024).collect(), graph, points };
        let parts = piece.cut();
        let count = |part: u8| parts.iter().filter(|p| **p == part).count();
        assert!(count(SEPARATOR) <= 33, "{} in the separator", count(SEPARATOR));
        assert!(count(BEFORE).min(count(BEHIND)) > 400, "even halves");
    }

    #[test]
    fn nothing_joins_the_two_halves() {
        let (graph, points) = grid(20);
        for points in [points, Vec::new()] {
            let piece = Piece { names: (0..400).collect(), graph: graph.clone(), points };
            let parts = piece.cut();
            for v in 0..400 {
                for &w in piece.graph.around(v) {
                    let pair = [parts[v], parts[w as usize]];
                    assert!(pair != [BEFORE, BEHIND], "{v} and {w} join the halves");
                }
            }
        }
    }

    #[test]
    fn graphs_that_cannot_be_cut_end() {
        let n = 60;
        let all = (0..n).flat_map(move |a| (0..a).map(move |b| [a, b]));
        assert_eq!(from_graph(&Graph::new(n as usize, all), &Run::default()).len(), 60);
        let star = (1..n).map(|a| [0, a]);
        let same = vec![Vec3::ONE; n as usize];
        let order = from_positions(&Graph::new(n as usize, star), &same, &Run::default());
        assert_eq!(sorted(order), (0..n).collect::<Vec<_>>());
    }

    #[test]
    fn same_order_for_any_thread_count() {
        let (graph, points) = grid(80);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let serial = from_positions(&graph, &points, &Run::default());
        assert_eq!(from_positions(&graph, &points, &run), serial);
    }

    #[test]
    fn unknowns_of_a_vertex_stay_together() {
        assert_eq!(spread(&[2, 0, 1], 2), [4, 5, 0, 1, 2, 3]);
    }
}

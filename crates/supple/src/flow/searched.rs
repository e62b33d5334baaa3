//! Two levels on a grid whose cells are searched for every place.

use std::sync::Arc;

use super::advect::{BLOCK, Row, Sampler, between, of_one, put_one};
use super::grid::known;
use super::wide::Wide;

/// A grid whose cells are found by walking.
pub trait Search {
    /// Where a place is: in which cell, and where in it.
    type Found;

    /// Points of the grid: the values that a level has.
    fn points(&self) -> usize;

    /// Adds the values of nodes that are no points of the grid.
    fn complete(&self, _nodes: &mut Vec<[f32; 8]>) {}

    /// Cells crossed in a unit of time by what moves fastest.
    fn rate(&self, nodes: &[[f32; 8]]) -> f64;

    /// The number of the cell that holds a place, looked for from another one, and where it is in it.
    fn search(&self, x: &[f64; 4], hint: u32) -> Option<(u32, Self::Found)>;

    /// The value there, at a share of the way from one level to the other.
    fn value(&self, nodes: &[[f32; 8]], at: &Self::Found, share: f32) -> [f64; 4];
}

/// Two levels at the nodes of a grid.
#[derive(Clone, Debug)]
pub struct Pair<G> {
    grid: Arc<G>,
    nodes: Vec<[f32; 8]>,
    times: [f64; 2],
    rate: f64,
}

/// Levels that do not fit their grid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a level has {found} values where its grid has {expected} points")]
pub struct WrongSize {
    /// Values found.
    pub found: usize,
    /// Points of the grid.
    pub expected: usize,
}

impl<G: Search> Pair<G> {
    /// Velocity and validity at the points of the grid, at two times.
    ///
    /// # Errors
    ///
    /// [`WrongSize`] if a level has not one value a point.
    pub fn new(
        grid: &Arc<G>,
        levels: [&[[f32; 4]]; 2],
        times: [f64; 2],
    ) -> Result<Self, WrongSize> {
        let expected = grid.points();
        if let Some(bad) = levels.iter().find(|l| l.len() != expected) {
            return Err(WrongSize { found: bad.len(), expected });
        }
        let both = |(a, b): (&[f32; 4], &[f32; 4])| {
            let ([a, b, c, d], [e, f, g, h]) = (known(*a), known(*b));
            [a, b, c, d, e, f, g, h]
        };
        let mut nodes: Vec<[f32; 8]> = levels[0].iter().zip(levels[1]).map(both).collect();
        grid.complete(&mut nodes);
        let rate = grid.rate(&nodes);
        Ok(Self { grid: Arc::clone(grid), nodes, times, rate })
    }

    /// The times of its levels.
    #[must_use]
    pub fn times(&self) -> [f64; 2] {
        self.times
    }

    /// Cells crossed in a unit of time by what moves fastest.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }
}

/// Both levels of some nodes, by their weights, at a share of the way from one level to the other.
#[inline(always)]
pub(super) fn mixed(
    weighed: impl Iterator<Item = (usize, f32)>,
    nodes: &[[f32; 8]],
    share: f32,
) -> [f64; 4] {
    let mut both = [0.0_f32; 8];
    for (node, weight) in weighed {
        let value = &nodes[node];
        for c in 0..8 {
            both[c] += weight * value[c];
        }
    }
    between(&both, share)
}

/// A view of a pair for one integration.
#[derive(Debug)]
pub(super) struct SearchSampler<'a, G> {
    pair: &'a Pair<G>,
    /// Share of the interval a unit of time is.
    pace: f64,
}

impl<'a, G> SearchSampler<'a, G> {
    pub(super) fn new(pair: &'a Pair<G>) -> Self {
        let [t0, t1] = pair.times;
        Self { pair, pace: if t1 > t0 { 1.0 / (t1 - t0) } else { 0.0 } }
    }
}

impl<G: Search + Send + Sync> Sampler for SearchSampler<'_, G> {
    #[inline(always)]
    fn sample<W: Wide>(&self, _: W, x: &[Row; 3], t: f64, cells: &mut [u32; BLOCK]) -> [Row; 4] {
        let (pair, pace) = (self.pair, self.pace);
        let share = if pace > 0.0 { ((t - pair.times[0]) * pace) as f32 } else { 0.0 };
        let mut v = [[0.0; BLOCK]; 4];
        for (i, cell) in cells.iter_mut().enumerate() {
            let [x, y, z] = of_one(x, i);
            if let Some((number, at)) = pair.grid.search(&[x, y, z, 1.0], *cell) {
                *cell = number;
                put_one(&mut v, i, pair.grid.value(&pair.nodes, &at, share));
            }
        }
        v
    }
}

//! Velocity on uniform and rectilinear grids: trilinear in space, linear between two levels in time.
//!
//! # Method
//!
//! A node holds both levels in eight numbers, three of velocity and one of validity each: one load of 32 bytes
//! fetches all that a corner of a cell has to say, and seven interpolations of eight numbers are a sample in space
//! for both times. Validity is 1 in the fluid and 0 where a file is masked, filled or not a number; with
//! velocity 0 there, `Σ wᵢ vᵢ / Σ wᵢ` is the mean over the valid corners, so that tracers follow a wall or a coast
//! instead of sticking to it.
//!
//! Places are searched in 64 bits, interpolated in 32 within their cell.
//!
//! # Limits
//!
//! Two levels are in memory. A sample with less than half of its weight in the fluid is outside
//! (`a_mask_is_outside_and_does_not_slow_its_neighbours`). A grid with one node in a direction is the same all along it.

use super::advect::{BLOCK, FOUR, LEAST_FLUID, Row, Sampler, half, half_mut};
use super::wide::Wide;
use crate::Run;
use crate::dataset::{Grid, Level};

/// Places of the nodes along one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    nodes: Vec<f64>,
    /// Nodes repeat after the last one's successor, which lies at `nodes[0] + period`.
    period: Option<f64>,
    /// For even spacing: nodes a unit of length.
    density: Option<f64>,
    /// For uneven spacing: the first node's bin, bins a unit of length, the cell at which each bin begins.
    bins: Vec<u32>,
    bin_density: f64,
}

/// What is wrong with an axis.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("coordinates along an axis must be finite and grow; at node {node} they do not")]
pub struct BadAxis {
    /// Where.
    pub node: usize,
}

/// Spacings that differ by less than this share are even: files hold coordinates in 32 bits.
const EVEN: f64 = 1e-4;

impl Axis {
    /// An axis with nodes at growing places; at least one.
    ///
    /// # Errors
    ///
    /// [`BadAxis`] if places are not finite or do not grow, and for no node at all.
    pub fn new(nodes: Vec<f64>) -> Result<Self, BadAxis> {
        let bad = (0..nodes.len())
            .find(|&i| !nodes[i].is_finite() || (i > 0 && nodes[i] <= nodes[i - 1]));
        if let Some(node) = bad {
            return Err(BadAxis { node });
        }
        let [Some(&first), Some(&last)] = [nodes.first(), nodes.last()] else {
            return Err(BadAxis { node: 0 });
        };
        let n = nodes.len();
        let spacing = (last - first) / (n - 1).max(1) as f64;
        let off = |(i, x): (usize, &f64)| (x - first - i as f64 * spacing).abs();
        let is_even = nodes.iter().enumerate().map(off).all(|off| off <= EVEN * spacing);
        let mut axis =
            Self { nodes, period: None, density: None, bins: Vec::new(), bin_density: 0.0 };
        if n == 1 {
            axis.density = Some(0.0);
        } else if is_even {
            axis.density = Some(1.0 / spacing);
        } else {
            axis.fill_bins(first, last);
        }
        Ok(axis)
    }

    /// An axis of evenly spaced nodes.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn even(origin: f64, spacing: f64, count: usize) -> Result<Self, BadAxis> {
        Self::new((0..count).map(|i| origin + i as f64 * spacing).collect())
    }

    /// The same axis, repeating after `period`; `None` takes a spacing beyond the last node. A last node
    /// that repeats the first is found by the period.
    #[must_use]
    pub fn periodic(mut self, period: Option<f64>) -> Self {
        let [first, last] = self.ends();
        let spacing = (last - first) / (self.nodes.len() - 1).max(1) as f64;
        self.period = (self.nodes.len() > 1).then(|| period.unwrap_or(last - first + spacing));
        self
    }

    /// The first and the last node.
    #[must_use]
    pub fn ends(&self) -> [f64; 2] {
        [self.nodes[0], self.nodes[self.nodes.len() - 1]]
    }

    /// Places of the nodes.
    #[must_use]
    pub fn nodes(&self) -> &[f64] {
        &self.nodes
    }

    /// After what length it repeats.
    #[must_use]
    pub fn period(&self) -> Option<f64> {
        self.period
    }

    /// About as many bins as there are nodes; a bin knows the cell it begins in.
    fn fill_bins(&mut self, first: f64, last: f64) {
        let count = (4 * self.nodes.len()).min(1 << 20);
        self.bin_density = count as f64 / (last - first);
        let mut cell = 0;
        self.bins = (0..=count)
            .map(|bin| {
                let at = first + bin as f64 / self.bin_density;
                while cell + 2 < self.nodes.len() && self.nodes[cell + 1] <= at {
                    cell += 1;
                }
                cell as u32
            })
            .collect();
    }

    /// The place in units of nodes, beyond the ends when it is outside.
    #[inline(always)]
    fn index_of(&self, x: f64) -> f64 {
        let first = self.nodes[0];
        if let Some(density) = self.density {
            return (x - first) * density;
        }
        let last = self.nodes.len() - 1;
        if !(x >= first && x <= self.nodes[last]) {
            return -1.0;
        }
        let bin = ((x - first) * self.bin_density) as usize;
        let mut cell = self.bins[bin.min(self.bins.len() - 1)] as usize;
        while cell + 1 < last && self.nodes[cell + 1] <= x {
            cell += 1;
        }
        cell as f64 + (x - self.nodes[cell]) / (self.nodes[cell + 1] - self.nodes[cell])
    }

    /// The shorter of the two spacings at a node.
    fn spacing_at(&self, node: usize) -> f64 {
        let gap = |i: usize| self.nodes.get(i + 1).map_or(f64::INFINITY, |b| b - self.nodes[i]);
        let before = node.checked_sub(1).map_or(f64::INFINITY, gap);
        before.min(gap(node))
    }
}

/// Velocity and validity at the nodes of a grid, x fastest, at one time.
pub type Nodes<'a> = &'a [[f32; 4]];

/// Two levels on one grid, ready to be sampled.
#[derive(Clone, Debug)]
pub struct Pair {
    axes: [Axis; 3],
    /// Nodes along each axis of what is stored, the repeated one of a period included.
    stored: [usize; 3],
    nodes: Vec<[f32; 8]>,
    times: [f64; 2],
    /// Cells crossed in a unit of time by what moves fastest.
    rate: f64,
}

/// Levels that do not fit their grid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("a level has {found} values where its grid has {expected} nodes")]
pub struct WrongCount {
    /// Values found.
    pub found: usize,
    /// Nodes of the grid.
    pub expected: usize,
}

impl Pair {
    /// Interleaves two levels. What is not finite or has validity 0 is outside the fluid.
    ///
    /// # Errors
    ///
    /// [`WrongCount`] if a level has not one value a node.
    pub fn new(
        axes: [Axis; 3],
        levels: [Nodes<'_>; 2],
        times: [f64; 2],
        run: &Run<'_>,
    ) -> Result<Self, WrongCount> {
        let count = [0, 1, 2].map(|a| axes[a].nodes.len());
        let expected = count.iter().product();
        if let Some(level) = levels.iter().find(|level| level.len() != expected) {
            return Err(WrongCount { found: level.len(), expected });
        }
        let mut stored = [0, 1, 2].map(|a| count[a] + usize::from(repeats_first(&axes[a])));
        // A row has two nodes at least: what lies along it is always interpolated.
        stored[0] = stored[0].max(2);
        let [sx, sy, sz] = stored;
        let mut nodes = vec![[0.0_f32; 8]; sx * sy * sz];
        let mut rows: Vec<(&mut [[f32; 8]], f64)> =
            nodes.chunks_mut(sx).map(|row| (row, 0.0)).collect();
        run.for_each(&mut rows, |row, (out, rate)| {
            let at = [row % sy % count[1], row / sy % count[2]];
            *rate = fill_row(&axes, levels, at, out);
        });
        let rate = rows.iter().fold(0.0_f64, |most, row| most.max(row.1));
        Ok(Self { axes, stored, nodes, times, rate })
    }

    /// Two levels as readers hand them over, on one uniform or rectilinear grid; axes that run down are turned round.
    ///
    /// # Errors
    ///
    /// [`NotSampled`] if the grid is of another kind, or its coordinates make no axis.
    pub fn of_levels(
        levels: [&Level; 2],
        times: [f64; 2],
        periodic: [bool; 3],
        run: &Run<'_>,
    ) -> Result<Self, NotSampled> {
        let mut nodes: [Vec<f64>; 3] = match &*levels[0].grid {
            Grid::Uniform { dims, origin, spacing } => {
                [0, 1, 2].map(|a| (0..dims[a]).map(|i| origin[a] + i as f64 * spacing[a]).collect())
            }
            Grid::Rectilinear { x, y, z } => [x.clone(), y.clone(), z.clone()],
            other => return Err(NotSampled::Kind(other.name())),
        };
        let count = [0, 1, 2].map(|a| nodes[a].len());
        let down = [0, 1, 2].map(|a| count[a] > 1 && nodes[a][0] > nodes[a][count[a] - 1]);
        for a in 0..3 {
            if down[a] {
                nodes[a].reverse();
            }
        }
        let [x, y, z] = nodes;
        let mut axes = [Axis::new(x)?, Axis::new(y)?, Axis::new(z)?];
        for (axis, is_periodic) in axes.iter_mut().zip(periodic) {
            if is_periodic {
                *axis = axis.clone().periodic(None);
            }
        }
        if down == [false; 3] {
            return Ok(Self::new(axes, levels.map(|level| &level.velocity[..]), times, run)?);
        }
        let turned = levels.map(|level| turned(&level.velocity, count, down));
        Ok(Self::new(axes, [&turned[0], &turned[1]], times, run)?)
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

    /// Its axes.
    #[must_use]
    pub fn axes(&self) -> &[Axis; 3] {
        &self.axes
    }

    /// The same at other times: what a recorded period is played again for.
    #[must_use]
    pub fn at_times(mut self, times: [f64; 2]) -> Self {
        self.times = times;
        self
    }
}

/// Why levels cannot be sampled here.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotSampled {
    /// The grid is of another kind.
    #[error("a {0} grid cannot be sampled yet; resample it to a uniform one")]
    Kind(&'static str),
    /// Its coordinates make no axis.
    #[error(transparent)]
    Axis(#[from] BadAxis),
    /// It has another number of nodes.
    #[error(transparent)]
    Count(#[from] WrongCount),
}

/// Values with the order of some axes turned round; all of them if there are too few.
fn turned(values: &[[f32; 4]], count: [usize; 3], down: [bool; 3]) -> Vec<[f32; 4]> {
    let at = |i: usize| {
        let place = [i % count[0], i / count[0] % count[1], i / (count[0] * count[1])];
        let [x, y, z] = [0, 1, 2].map(|a| if down[a] { count[a] - 1 - place[a] } else { place[a] });
        values.get((z * count[1] + y) * count[0] + x).copied().unwrap_or_default()
    };
    (0..values.len()).map(at).collect()
}

/// One row of nodes, both levels; returns the cells crossed in a unit of time by what moves fastest there.
fn fill_row(
    axes: &[Axis; 3],
    levels: [Nodes<'_>; 2],
    [j, k]: [usize; 2],
    out: &mut [[f32; 8]],
) -> f64 {
    let width = axes[0].nodes.len();
    let from = (k * axes[1].nodes.len() + j) * width;
    let mut rate = 0.0_f64;
    for (i, node) in out.iter_mut().enumerate() {
        let spacing = [(0, i % width), (1, j), (2, k)].map(|(a, at)| axes[a].spacing_at(at));
        for (half, level) in node.chunks_exact_mut(4).zip(levels) {
            half.copy_from_slice(&known(level[from + i % width]));
            let crossed = |c: usize| f64::from(half[c].abs()) / spacing[c];
            rate = rate.max(crossed(0)).max(crossed(1)).max(crossed(2));
        }
    }
    rate
}

/// True if the first node must be stored again behind the last one.
fn repeats_first(axis: &Axis) -> bool {
    let [first, last] = axis.ends();
    axis.period.is_some_and(|period| last - first < period * (1.0 - EVEN))
}

pub(super) fn known(v: [f32; 4]) -> [f32; 4] {
    let is_known = v.iter().all(|c| c.is_finite()) && v[3] > 0.0;
    if is_known { [v[0], v[1], v[2], 1.0] } else { [0.0; 4] }
}

/// Adding this to a number below 2⁵¹ rounds it to a whole one, which stands in its last bits: a conversion that
/// need not mind what does not fit. Grids have fewer than 2³² nodes.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// A view of a pair for one integration: what [`Sampler`] needs, at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridSampler<'a, const EVEN_AND_OPEN: bool> {
    pair: &'a Pair,
    origin: [f64; 3],
    density: [f64; 3],
    /// The last place inside, in nodes.
    last: [f64; 3],
    /// The last cell.
    last_cell: [f64; 3],
    /// Nodes to the next one along each axis; none where there is only one.
    step: [usize; 3],
    /// Share of the interval a unit of time is.
    pace: f64,
}

impl<'a, const EVEN_AND_OPEN: bool> GridSampler<'a, EVEN_AND_OPEN> {
    pub(super) fn new(pair: &'a Pair) -> Self {
        let n = pair.stored;
        let last = n.map(|n| (n - 1) as f64);
        let strides = [1, n[0], n[0] * n[1]];
        let [t0, t1] = pair.times;
        Self {
            pair,
            origin: [0, 1, 2].map(|a| pair.axes[a].nodes[0]),
            density: [0, 1, 2].map(|a| pair.axes[a].density.unwrap_or(0.0)),
            last,
            last_cell: last.map(|n| (n - 1.0).max(0.0)),
            step: [0, 1, 2].map(|a| if n[a] > 1 { strides[a] } else { 0 }),
            pace: if t1 > t0 { 1.0 / (t1 - t0) } else { 0.0 },
        }
    }

    /// Places along an axis in units of nodes.
    #[inline(always)]
    fn indices<W: Wide>(&self, w: W, a: usize, x: &[f64; FOUR]) -> W::Four {
        if EVEN_AND_OPEN {
            let from_origin = w.sub(w.four(x), w.splat(self.origin[a]));
            return w.mul(from_origin, w.splat(self.density[a]));
        }
        let mut u = [0.0; FOUR];
        for i in 0..FOUR {
            u[i] = self.index(a, x[i]);
        }
        w.four(&u)
    }

    /// A place on an axis that is uneven, or repeats.
    #[inline(always)]
    fn index(&self, a: usize, x: f64) -> f64 {
        let axis = &self.pair.axes[a];
        let Some(period) = axis.period else { return axis.index_of(x) };
        let turns = ((x - self.origin[a]) / period).floor();
        let inside = x - turns * period;
        let [first, end] = axis.ends();
        // Between the last node and the first of the next period.
        let beyond = (inside - end) / (first + period - end).max(f64::MIN_POSITIVE);
        if inside > end { self.last[a] - 1.0 + beyond } else { axis.index_of(inside) }
    }
}

impl<const EVEN_AND_OPEN: bool> Sampler for GridSampler<'_, EVEN_AND_OPEN> {
    #[inline(always)]
    fn sample<W: Wide>(&self, w: W, x: &[Row; 3], t: f64, _: &mut [u32; BLOCK]) -> [Row; 4] {
        // A level that holds for ever has no pace.
        let s = if self.pace > 0.0 { ((t - self.pair.times[0]) * self.pace) as f32 } else { 0.0 };
        let nothing = w.splat(0.0);
        let mut share = [[[0.0_f32; FOUR]; 3]; BLOCK / FOUR];
        let mut slack = [[nothing; 3]; BLOCK / FOUR];
        let mut cell = [[0.0; FOUR]; BLOCK / FOUR];
        for k in 0..BLOCK / FOUR {
            // The number of the cell, exact as a sum of doubles.
            let mut base = w.splat(ROUND);
            for a in 0..3 {
                let u = self.indices(w, a, half(&x[a], k));
                // Negative outside, at either end.
                slack[k][a] = w.min(u, w.sub(w.splat(self.last[a]), u));
                let below = w.max(w.sub(u, w.splat(0.5)), nothing);
                let below = w.min(below, w.splat(self.last_cell[a]));
                let floor = w.sub(w.add(below, w.splat(ROUND)), w.splat(ROUND));
                share[k][a] = w.narrow(w.sub(u, floor));
                base = w.add(base, w.mul(floor, w.splat(self.step[a] as f64)));
            }
            cell[k] = w.numbers(base);
        }
        // The corners of cells, each a list of its own, all of one length: one comparison a cell.
        let ([_, dy, dz], nodes) = (self.step, &self.pair.nodes[..]);
        let count = nodes.len().saturating_sub(dz + dy + 1);
        let (row0, next0) = (&nodes[..count], &nodes[1..][..count]);
        let (row1, next1) = (&nodes[dy..][..count], &nodes[dy + 1..][..count]);
        let (row2, next2) = (&nodes[dz..][..count], &nodes[dz + 1..][..count]);
        let (row3, next3) = (&nodes[dz + dy..][..count], &nodes[dz + dy + 1..][..count]);
        let mut v = [[[0.0_f32; 4]; FOUR]; BLOCK / FOUR];
        for k in 0..BLOCK / FOUR {
            for i in 0..FOUR {
                let at = cell[k][i].to_bits() as u32 as usize;
                // What is not a number is in no cell.
                if at >= count {
                    continue;
                }
                let [r, q, p] = [share[k][0][i], share[k][1][i], share[k][2][i]];
                let edge0 = w.lerp(w.eight(&row0[at]), w.eight(&next0[at]), r);
                let edge1 = w.lerp(w.eight(&row1[at]), w.eight(&next1[at]), r);
                let edge2 = w.lerp(w.eight(&row2[at]), w.eight(&next2[at]), r);
                let edge3 = w.lerp(w.eight(&row3[at]), w.eight(&next3[at]), r);
                let sheets = [w.lerp(edge0, edge1, q), w.lerp(edge2, edge3, q)];
                v[k][i] = w.halves(w.lerp(sheets[0], sheets[1], p), s);
            }
        }
        let mut out = [[0.0; BLOCK]; 4];
        for k in 0..BLOCK / FOUR {
            let [v0, v1, v2, v3] = v[k];
            let mut rows = [nothing; 4];
            for c in 0..4 {
                rows[c] = w.widen([v0[c], v1[c], v2[c], v3[c]]);
            }
            let mut fluid = rows[3];
            // All around is fluid, mostly.
            if !w.are_one(fluid) {
                let enough = w.sub(fluid, w.splat(LEAST_FLUID));
                let weight = w.inverse(w.not_negative(enough, fluid, w.splat(1.0)));
                for row in &mut rows[..3] {
                    *row = w.mul(*row, weight);
                }
            }
            for slack in slack[k] {
                fluid = w.not_negative(slack, fluid, nothing);
            }
            rows[3] = fluid;
            for c in 0..4 {
                *half_mut(&mut out[c], k) = w.numbers(rows[c]);
            }
        }
        out
    }
}

impl Pair {
    /// True if the fast way of finding cells will do.
    pub(super) fn is_even_and_open(&self) -> bool {
        self.axes.iter().all(|axis| axis.density.is_some() && axis.period.is_none())
    }
}

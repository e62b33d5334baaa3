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

use super::advect::{BLOCK, LEAST_FLUID, Sampler};
use super::wide::Wide;
use crate::Run;

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
        let stored = [0, 1, 2].map(|a| count[a] + usize::from(repeats_first(&axes[a])));
        let [sx, sy, sz] = stored;
        let mut nodes = vec![[0.0_f32; 8]; sx * sy * sz];
        let rates = {
            let row_rate = |row: usize, out: &mut [[f32; 8]]| {
                let (j, k) = (row % sy % count[1], row / sy % count[2]);
                let from = (k * count[1] + j) * count[0];
                let mut rate = 0.0_f64;
                for (i, node) in out.iter_mut().enumerate() {
                    let i = i % count[0];
                    for (half, level) in node.chunks_exact_mut(4).zip(levels) {
                        half.copy_from_slice(&known(level[from + i]));
                        for (a, at) in [i, j, k].into_iter().enumerate() {
                            rate = rate.max(f64::from(half[a].abs()) / axes[a].spacing_at(at));
                        }
                    }
                }
                rate
            };
            let mut rows: Vec<(&mut [[f32; 8]], f64)> =
                nodes.chunks_mut(sx).map(|row| (row, 0.0)).collect();
            run.for_each(&mut rows, |row, (out, rate)| *rate = row_rate(row, out));
            rows.iter().fold(0.0_f64, |most, row| most.max(row.1))
        };
        Ok(Self { axes, stored, nodes, times, rate: rates })
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

/// True if the first node must be stored again behind the last one.
fn repeats_first(axis: &Axis) -> bool {
    let [first, last] = axis.ends();
    axis.period.is_some_and(|period| last - first < period * (1.0 - EVEN))
}

fn known(v: [f32; 4]) -> [f32; 4] {
    let is_known = v.iter().all(|c| c.is_finite()) && v[3] > 0.0;
    if is_known { [v[0], v[1], v[2], 1.0] } else { [0.0; 4] }
}

/// Adding this to a number below 2⁵¹ rounds it to a whole one, which stands in its last bits: a conversion that
/// need not mind what does not fit.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// A view of a pair for one integration: what [`Sampler`] needs, at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridSampler<'a, W, const EVEN_AND_OPEN: bool> {
    wide: W,
    pair: &'a Pair,
    origin: [f64; 4],
    density: [f64; 4],
    /// The last place inside, in nodes.
    last: [f64; 4],
    /// The last cell.
    last_cell: [f64; 4],
    step: [usize; 3],
    /// Share of the interval a unit of time is.
    pace: f64,
}

impl<'a, W: Wide, const EVEN_AND_OPEN: bool> GridSampler<'a, W, EVEN_AND_OPEN> {
    pub(super) fn new(pair: &'a Pair, wide: W) -> Self {
        let of = |f: &dyn Fn(usize) -> f64, fourth: f64| [f(0), f(1), f(2), fourth];
        let n = pair.stored;
        let last = of(&|a| (n[a] - 1) as f64, 1.0);
        let strides = [1, n[0], n[0] * n[1]];
        let [t0, t1] = pair.times;
        Self {
            wide,
            pair,
            origin: of(&|a| pair.axes[a].nodes[0], 0.0),
            density: of(&|a| pair.axes[a].density.unwrap_or(0.0), 0.0),
            last,
            last_cell: last.map(|n| (n - 1.0).max(0.0)),
            step: [0, 1, 2].map(|a| if n[a] > 1 { strides[a] } else { 0 }),
            pace: if t1 > t0 { 1.0 / (t1 - t0) } else { 0.0 },
        }
    }

    /// Places in units of nodes.
    #[inline(always)]
    fn indices(&self, x: &[f64; 4]) -> [f64; 4] {
        let mut u = [0.0; 4];
        if EVEN_AND_OPEN {
            for c in 0..4 {
                u[c] = (x[c] - self.origin[c]) * self.density[c];
            }
            return u;
        }
        for (c, axis) in self.pair.axes.iter().enumerate() {
            u[c] = match axis.period {
                None => axis.index_of(x[c]),
                Some(period) => {
                    let turns = ((x[c] - self.origin[c]) / period).floor();
                    let inside = x[c] - turns * period;
                    let [first, end] = axis.ends();
                    // Between the last node and the first of the next period.
                    let beyond = (inside - end) / (first + period - end).max(f64::MIN_POSITIVE);
                    if inside > end { self.last[c] - 1.0 + beyond } else { axis.index_of(inside) }
                }
            };
        }
        u
    }

    #[inline(always)]
    fn sample_one(&self, x: &[f64; 4], s: f32) -> [f64; 4] {
        let u = self.indices(x);
        let mut floor = [0.0_f64; 4];
        let mut share = [0.0_f32; 4];
        let mut cell = [0_u32; 4];
        let mut inside = true;
        for c in 0..4 {
            let below = u[c] - 0.5;
            let below = if below > 0.0 { below } else { 0.0 };
            let below = if below < self.last_cell[c] { below } else { self.last_cell[c] };
            let rounded = below + ROUND;
            cell[c] = rounded.to_bits() as u32;
            floor[c] = rounded - ROUND;
            share[c] = (u[c] - floor[c]) as f32;
        }
        for c in 0..3 {
            inside &= u[c] >= 0.0 && u[c] <= self.last[c];
        }
        let [dx, dy, dz] = self.step;
        let base = cell[0] as usize * dx + cell[1] as usize * dy + cell[2] as usize * dz;
        let (w, nodes) = (self.wide, &self.pair.nodes[..]);
        // Written out: closures would be compiled without the wide registers.
        let (far, above, beyond) = (base + dy, base + dz, base + dz + dy);
        let row0 = w.lerp(w.load(&nodes[base]), w.load(&nodes[base + dx]), share[0]);
        let row1 = w.lerp(w.load(&nodes[far]), w.load(&nodes[far + dx]), share[0]);
        let row2 = w.lerp(w.load(&nodes[above]), w.load(&nodes[above + dx]), share[0]);
        let row3 = w.lerp(w.load(&nodes[beyond]), w.load(&nodes[beyond + dx]), share[0]);
        let sheets = [w.lerp(row0, row1, share[1]), w.lerp(row2, row3, share[1])];
        let both = w.store(w.lerp(sheets[0], sheets[1], share[2]));
        let mut v = [0.0_f32; 4];
        for c in 0..4 {
            v[c] = both[c] + s * (both[c + 4] - both[c]);
        }
        let fluid = if inside { v[3] } else { 0.0 };
        let weight = 1.0 / if v[3] > LEAST_FLUID as f32 { v[3] } else { 1.0 };
        let mut out = [0.0; 4];
        for c in 0..4 {
            out[c] = f64::from(v[c] * weight);
        }
        out[3] = f64::from(fluid);
        out
    }
}

impl<W: Wide, const EVEN_AND_OPEN: bool> Sampler for GridSampler<'_, W, EVEN_AND_OPEN> {
    #[inline(always)]
    fn sample(&self, x: &[[f64; 4]; BLOCK], t: f64, _: &mut [u32; BLOCK]) -> [[f64; 4]; BLOCK] {
        // A level that holds for ever has no pace.
        let s = if self.pace > 0.0 { ((t - self.pair.times[0]) * self.pace) as f32 } else { 0.0 };
        let mut v = [[0.0; 4]; BLOCK];
        for i in 0..BLOCK {
            v[i] = self.sample_one(&x[i], s);
        }
        v
    }
}

impl Pair {
    /// True if the fast way of finding cells will do.
    pub(super) fn is_even_and_open(&self) -> bool {
        self.axes.iter().all(|axis| axis.density.is_some() && axis.period.is_none())
    }
}

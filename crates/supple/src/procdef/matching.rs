//! One pass of shape matching over all regions, sixteen at a time.
//!
//! # Method
//!
//! With `u = x − x⁰`, `m̃ = m/|N|` and `q = x⁰ − c⁰` a region's best rotation belongs to
//!
//! ```text
//! A = (A⁰ + Σ m̃ (u_i − u_r) qᵀ) T           c − c⁰ = u_r + Σ m̃ (u_i − u_r) / Σ m̃          (2)–(5)
//! ```
//!
//! and a vertex goes to the mean of the places its regions want it at, `R T q + c` (7), of which each region writes the
//! affine map `[RT − 1 | c − c⁰ − (RT − 1) c⁰]` as one row and each vertex sums the rows of its regions. A pass is a
//! step of alternating minimisation of `E = Σ_r Σ_{i∈N_r} m̃_i |R_r T_r q_ri + c_r − x_i|²`, so `E` falls with each
//! (`energy_falls_with_every_plain_pass`).
//!
//! # Where we differ from the paper
//!
//! Displacements in place of positions: at rest every term is exactly 0, so a body under a chart of ones stays still to
//! the bit. (7)'s indices are garbled in print; the polar form of (6) gives a reflection for an inverted region.

use pulp::{Arch, Simd, WithSimd};

use super::acceleration::Pass;
use super::regions::{Block, Regions};
use super::rotation::{beyond_identity, rotations};
use super::wide::{WIDTH, Wide};
use crate::Run;

/// Regions in one task: fixed, so that the thread count changes no bits.
const TASK: usize = 32 * WIDTH;

/// A vertex as the kernel reads it: `x x x x y y y y z z z z 0 0 0 0`. Or a region's map: three rows of four.
pub(super) type Row = Wide;

/// `T − 1` of sixteen regions: `00 01 02 11 12 22`.
pub(super) type Strains = [Wide; 6];

/// What the passes of a tick work in.
#[derive(Clone, Debug, Default)]
pub(super) struct Passing {
    /// Displacements now.
    pub(super) now: Vec<Row>,
    /// Displacements one pass before.
    pub(super) before: Vec<Row>,
    /// The regions' maps of the last pass.
    pub(super) maps: Vec<Row>,
}

/// A displacement as the kernel reads it.
#[inline(always)]
pub(super) fn row(u: glam::Vec3) -> Row {
    let glam::Vec3 { x, y, z } = u;
    Wide([x, x, x, x, y, y, y, y, z, z, z, z, 0.0, 0.0, 0.0, 0.0])
}

/// The displacement in a row.
#[inline(always)]
pub(super) fn displacement(row: &Row) -> glam::Vec3 {
    glam::Vec3::new(row.0[0], row.0[4], row.0[8])
}

impl Passing {
    pub(super) fn resize(&mut self, count: usize) {
        for rows in [&mut self.now, &mut self.before, &mut self.maps] {
            rows.resize(count, Wide::ZERO);
        }
    }

    /// The maps of all regions for `now`.
    pub(super) fn match_all(&mut self, regions: &Regions, strains: &[Strains], run: &Run<'_>) {
        let arch = Arch::new();
        let now: &[Row] = &self.now;
        run.for_each_piece(&mut self.maps, TASK, |start, maps| {
            arch.dispatch(Match { regions, strains, now, start, maps });
        });
    }

    /// One pass: matches all regions of `now`, then moves its vertices; `first` has no pass before it.
    pub(super) fn pass(
        &mut self,
        regions: &Regions,
        strains: &[Strains],
        (pass, first): (Pass, bool),
        run: &Run<'_>,
    ) {
        self.match_all(regions, strains, run);
        let arch = Arch::new();
        let (now, maps): (&[Row], &[Row]) = (&self.now, &self.maps);
        let pass = Pass { weight: if first { 1.0 } else { pass.weight }, ..pass };
        run.for_each_piece(&mut self.before, TASK, |start, before| {
            arch.dispatch(Goal { regions, maps, now, pass, start, before });
        });
        std::mem::swap(&mut self.now, &mut self.before);
    }
}

/// Regions to match.
struct Match<'a> {
    regions: &'a Regions,
    strains: &'a [Strains],
    now: &'a [Row],
    start: usize,
    maps: &'a mut [Row],
}

impl WithSimd for Match<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (k, maps) in self.maps.chunks_mut(WIDTH).enumerate() {
            let first = self.start + k * WIDTH;
            let mut sums = [Wide::ZERO; WIDTH];
            for (lane, sum) in sums.iter_mut().take(maps.len()).enumerate() {
                *sum = moments(self.regions, self.now, first + lane);
            }
            let block = first / WIDTH;
            let matched =
                map(&transposed(&sums), &self.regions.blocks[block], &self.strains[block]);
            maps.copy_from_slice(&transposed_back(&matched)[..maps.len()]);
        }
    }
}

/// `Σ (u_i − u_r) (m̃ q, m̃/M)ᵀ` of one region, with `u_r` added to the last column.
#[inline(always)]
fn moments(regions: &Regions, now: &[Row], region: usize) -> Row {
    let own = now[region];
    let range = regions.ring(region);
    let mut sum = Wide::ZERO;
    for (&i, w) in regions.ring[range.clone()].iter().zip(&regions.weights[range]) {
        sum = sum + (now[i as usize] - own) * fourfold(w);
    }
    for k in [3, 7, 11] {
        sum.0[k] += own.0[k];
    }
    sum
}

/// Four numbers, four times.
#[inline(always)]
fn fourfold(w: &[f32; 4]) -> Wide {
    let mut out = Wide::ZERO;
    for k in 0..16 {
        out.0[k] = w[k % 4];
    }
    out
}

/// The maps of sixteen regions, row by row: `[RT − 1 | c − c⁰ − (RT − 1) c⁰]`.
#[inline(always)]
fn map(sums: &[Wide; 12], rest: &Block, strain: &Strains) -> [Wide; 12] {
    let m = &rest.moment;
    let [e00, e01, e02, e11, e12, e22] = *strain;
    let e = [[e00, e01, e02], [e01, e11, e12], [e02, e12, e22]];
    let moment = [[m[0], m[1], m[2]], [m[1], m[3], m[4]], [m[2], m[4], m[5]]];
    let mut a = [Wide::ZERO; 9];
    for i in 0..3 {
        let row = [0, 1, 2].map(|j| moment[i][j] + sums[4 * i + j]);
        for j in 0..3 {
            a[3 * i + j] = row[j] + (row[0] * e[0][j] + row[1] * e[1][j] + row[2] * e[2][j]);
        }
    }
    let turn = beyond_identity(rotations(&a));
    let mut out = *sums;
    for i in 0..3 {
        let g = [turn[3 * i], turn[3 * i + 1], turn[3 * i + 2]];
        let mut shift = sums[4 * i + 3];
        for j in 0..3 {
            let entry = g[j] + e[i][j] + (g[0] * e[0][j] + g[1] * e[1][j] + g[2] * e[2][j]);
            out[4 * i + j] = entry;
            shift = shift - entry * rest.center[j];
        }
        out[4 * i + 3] = shift;
    }
    out
}

#[inline(always)]
fn transposed(rows: &[Row; WIDTH]) -> [Wide; 12] {
    let mut out = [Wide::ZERO; 12];
    for (k, wide) in out.iter_mut().enumerate() {
        for (entry, row) in wide.0.iter_mut().zip(rows) {
            *entry = row.0[k];
        }
    }
    out
}

#[inline(always)]
fn transposed_back(wides: &[Wide; 12]) -> [Row; WIDTH] {
    let mut rows = [Wide::ZERO; WIDTH];
    for (lane, row) in rows.iter_mut().enumerate() {
        for (entry, wide) in row.0.iter_mut().zip(wides) {
            *entry = wide.0[lane];
        }
    }
    rows
}

/// Vertices to move to the mean of their goals.
struct Goal<'a> {
    regions: &'a Regions,
    maps: &'a [Row],
    now: &'a [Row],
    pass: Pass,
    start: usize,
    before: &'a mut [Row],
}

impl WithSimd for Goal<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Pass { relax, weight } = self.pass;
        let plain = relax == 1.0 && weight == 1.0;
        for (k, before) in self.before.iter_mut().enumerate() {
            let region = self.start + k;
            let goal = goal(self.regions, self.maps, region);
            if plain {
                *before = goal;
                continue;
            }
            let now = self.now[region];
            let z = now + relax * (goal - now);
            *before = if weight == 1.0 { z } else { *before + weight * (z - *before) };
        }
    }
}

/// The mean of the places where its regions want a vertex (7), as a displacement.
#[inline(always)]
fn goal(regions: &Regions, maps: &[Row], region: usize) -> Row {
    let mut sum = maps[region];
    for &i in &regions.ring[regions.ring(region)] {
        sum = sum + maps[i as usize];
    }
    let product = sum * fourfold(&regions.homes[region]);
    let pairs = product + swapped::<1>(product);
    pairs + swapped::<2>(pairs)
}

/// Lane `k ^ BY` in lane `k`.
#[inline(always)]
fn swapped<const BY: usize>(wide: Wide) -> Wide {
    let mut out = wide;
    for k in 0..WIDTH {
        out.0[k] = wide.0[k ^ BY];
    }
    out
}

/// The maps of a pass at every width of vector instructions that this machine has.
#[cfg(test)]
pub(super) fn at_every_width(regions: &Regions, strains: &[Strains], now: &[Row]) -> Vec<Vec<Row>> {
    let run = |dispatch: &dyn Fn(Match<'_>)| {
        let mut maps = vec![Wide::ZERO; regions.len()];
        dispatch(Match { regions, strains, now, start: 0, maps: &mut maps });
        maps
    };
    let mut all = vec![run(&|m| m.with_simd(pulp::Scalar::new()))];
    #[cfg(target_arch = "x86_64")]
    {
        use pulp::x86::{V3, V4};
        all.extend(V3::try_new().map(|v3| run(&|m| Simd::vectorize(v3, m))));
        all.extend(V4::try_new().map(|v4| run(&|m| Simd::vectorize(v4, m))));
    }
    all
}

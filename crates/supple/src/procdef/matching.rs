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

use glam::{Mat4, Vec4};
use pulp::{Arch, Simd, WithSimd};

use super::acceleration::Pass;
use super::halves::Desks;
use super::regions::{Block, Regions};
use super::rotation::{beyond_identity, rotations};
use super::wide::{WIDTH, Wide};
use crate::Run;

/// Regions in one task: fixed, so that the thread count changes no bits.
const TASK: usize = 32 * WIDTH;
/// Bodies of fewer vertices that are not cut in halves are moved by the calling thread.
pub(super) const SHARED_FROM: usize = 8192;

/// A displacement `x, y, z, 0`, or four weights.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(16))]
pub(super) struct Quad(pub(super) [f32; 4]);

/// A region's map: three rows of four.
pub(super) type Row = Wide;

/// `T − 1` of sixteen regions: `00 01 02 11 12 22`.
pub(super) type Strains = [Wide; 6];

/// What the passes of a tick work in.
#[derive(Debug, Default)]
pub(super) struct Passing {
    /// Displacements now.
    pub(super) now: Vec<Quad>,
    /// Displacements one pass before.
    before: Vec<Quad>,
    /// The regions' maps of the last pass, filled up to whole blocks.
    pub(super) maps: Vec<Row>,
    /// Where two threads work; their maps are there, too.
    desks: Desks,
    in_halves: bool,
}

/// A displacement as the kernel reads it.
#[inline(always)]
pub(super) fn quad(u: glam::Vec3) -> Quad {
    Quad([u.x, u.y, u.z, 0.0])
}

/// The displacement in a quad.
#[inline(always)]
pub(super) fn displacement(quad: &Quad) -> glam::Vec3 {
    glam::Vec3::new(quad.0[0], quad.0[1], quad.0[2])
}

impl Passing {
    pub(super) fn resize(&mut self, count: usize) {
        self.now.resize(count, Quad([0.0; 4]));
        self.before.resize(count, Quad([0.0; 4]));
        self.maps.resize(count.next_multiple_of(WIDTH), Wide::ZERO);
    }

    /// The maps of all regions for `now`.
    pub(super) fn match_all(&mut self, regions: &Regions, strains: &[Strains], run: &Run<'_>) {
        self.in_halves = false;
        let (now, rings) = (&self.now[..], regions.rings());
        run.for_each_piece(&mut self.maps, TASK, |start, maps| {
            find_maps(rings, strains, now, (start, regions.len()), maps);
        });
    }

    /// All passes of a tick. After each of them `pins` are put back.
    pub(super) fn run(
        &mut self,
        regions: &Regions,
        strains: &[Strains],
        (schedule, pins): (&[Pass], &[(u32, Quad)]),
        run: &Run<'_>,
    ) {
        let halves = regions.halves.as_ref().filter(|_| run.thread_count() > 1);
        self.in_halves = halves.is_some();
        if let Some(halves) = halves {
            let Self { now, desks, .. } = self;
            desks.run((regions, halves), strains, (schedule, pins), now, run);
            return;
        }
        let alone = Run::default();
        let run = if regions.len() < SHARED_FROM { &alone } else { run };
        run.install(|| {
            for (k, pass) in schedule.iter().enumerate() {
                self.match_all(regions, strains, run);
                let (now, maps, rings) = (&self.now[..], &self.maps[..], regions.rings());
                run.for_each_piece(&mut self.before, TASK, |start, before| {
                    find_goals(rings, maps, now, pass.after(k == 0), (start, before));
                });
                std::mem::swap(&mut self.now, &mut self.before);
                for (region, held) in pins {
                    self.now[*region as usize] = *held;
                }
            }
        });
    }

    /// The map of a region after the last pass.
    pub(super) fn map(&self, regions: &Regions, region: usize) -> Row {
        match &regions.halves {
            Some(halves) if self.in_halves => self.desks.map(halves, region),
            _ => self.maps[region],
        }
    }
}

/// Regions with their rings, in the kernel's form.
#[derive(Clone, Copy)]
pub(super) struct Rings<'a> {
    pub(super) starts: &'a [u32],
    pub(super) ring: &'a [u32],
    pub(super) weights: &'a [Quad],
    pub(super) homes: &'a [Quad],
    pub(super) blocks: &'a [Block],
}

impl Rings<'_> {
    #[inline(always)]
    fn of(&self, region: usize) -> std::ops::Range<usize> {
        self.starts[region] as usize..self.starts[region + 1] as usize
    }
}

/// The maps of whole blocks from `start` on, of `count` regions in all.
pub(super) fn find_maps(
    rings: Rings<'_>,
    strains: &[Strains],
    now: &[Quad],
    (start, count): (usize, usize),
    maps: &mut [Row],
) {
    Arch::new().dispatch(Match { rings, strains, now, start, count, maps });
}

/// Where a pass moves the vertices from `start` on.
pub(super) fn find_goals(
    rings: Rings<'_>,
    maps: &[Row],
    now: &[Quad],
    pass: Pass,
    (start, before): (usize, &mut [Quad]),
) {
    Arch::new().dispatch(Goal { rings, maps, now, pass, start, before });
}

/// Regions to match: whole blocks.
struct Match<'a> {
    rings: Rings<'a>,
    strains: &'a [Strains],
    now: &'a [Quad],
    start: usize,
    count: usize,
    maps: &'a mut [Row],
}

impl WithSimd for Match<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let count = self.count - self.start;
        for (k, row) in self.maps.iter_mut().take(count).enumerate() {
            *row = moments(&self.rings, self.now, self.start + k);
        }
        // In a sweep of its own: seen together with the sums, the compiler would take whole rows apart.
        for (k, maps) in self.maps.chunks_exact_mut(WIDTH).enumerate() {
            let block = self.start / WIDTH + k;
            let mut columns = transposed(maps);
            map(&mut columns, &self.rings.blocks[block], &self.strains[block]);
            transpose_back(&columns, maps);
        }
    }
}

/// `Σ (u_i − u_r) (m̃ q, m̃/M)ᵀ` of one region, with `u_r` added to the last column.
#[inline(always)]
fn moments(rings: &Rings<'_>, now: &[Quad], region: usize) -> Row {
    const LAST: Wide = Wide([0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1.]);
    let own = spread(&now[region]);
    let range = rings.of(region);
    let mut sum = Wide::ZERO;
    for (&i, w) in rings.ring[range.clone()].iter().zip(&rings.weights[range]) {
        sum = sum + (spread(&now[i as usize]) - own) * fourfold(w);
    }
    sum + own * LAST
}

/// Each of four numbers, four times: `x x x x y y y y …`.
#[inline(always)]
fn spread(quad: &Quad) -> Wide {
    let mut out = Wide::ZERO;
    for k in 0..WIDTH {
        out.0[k] = quad.0[k / 4];
    }
    out
}

/// Four numbers, four times: `x y z w x y z w …`.
#[inline(always)]
fn fourfold(quad: &Quad) -> Wide {
    let mut out = Wide::ZERO;
    for k in 0..WIDTH {
        out.0[k] = quad.0[k % 4];
    }
    out
}

/// From the sums of sixteen regions to their maps, entry by entry: `[RT − 1 | c − c⁰ − (RT − 1) c⁰]`.
#[inline(always)]
fn map(sums: &mut [Wide; 12], rest: &Block, strain: &Strains) {
    let m = &rest.moment;
    let [e00, e01, e02, e11, e12, e22] = *strain;
    let e = [[e00, e01, e02], [e01, e11, e12], [e02, e12, e22]];
    let moment = [[m[0], m[1], m[2]], [m[1], m[3], m[4]], [m[2], m[4], m[5]]];
    let mut a = [Wide::ZERO; 9];
    for i in 0..3 {
        let mut row = moment[i];
        for j in 0..3 {
            row[j] = row[j] + sums[4 * i + j];
        }
        for j in 0..3 {
            a[3 * i + j] = row[j] + (row[0] * e[0][j] + row[1] * e[1][j] + row[2] * e[2][j]);
        }
    }
    let turn = beyond_identity(rotations(&a));
    for i in 0..3 {
        let g = [turn[3 * i], turn[3 * i + 1], turn[3 * i + 2]];
        let mut shift = sums[4 * i + 3];
        for j in 0..3 {
            let entry = g[j] + e[i][j] + (g[0] * e[0][j] + g[1] * e[1][j] + g[2] * e[2][j]);
            sums[4 * i + j] = entry;
            shift = shift - entry * rest.center[j];
        }
        sums[4 * i + 3] = shift;
    }
}

/// The first twelve entries of sixteen rows, square by square.
#[inline(always)]
fn transposed(rows: &[Row]) -> [Wide; 12] {
    let mut out = [Wide::ZERO; 12];
    for lane in (0..WIDTH).step_by(4) {
        for k in (0..12).step_by(4) {
            let four = |j: usize| Vec4::from_slice(&rows[lane + j].0[k..]);
            let square = Mat4::from_cols(four(0), four(1), four(2), four(3)).transpose();
            for i in 0..4 {
                square.col(i).write_to_slice(&mut out[k + i].0[lane..]);
            }
        }
    }
    out
}

#[inline(always)]
fn transpose_back(columns: &[Wide; 12], rows: &mut [Row]) {
    for lane in (0..WIDTH).step_by(4) {
        for k in (0..12).step_by(4) {
            let four = |i: usize| Vec4::from_slice(&columns[k + i].0[lane..]);
            let square = Mat4::from_cols(four(0), four(1), four(2), four(3)).transpose();
            for j in 0..4 {
                square.col(j).write_to_slice(&mut rows[lane + j].0[k..]);
            }
        }
    }
}

/// Vertices to move to the mean of their goals.
struct Goal<'a> {
    rings: Rings<'a>,
    maps: &'a [Row],
    now: &'a [Quad],
    pass: Pass,
    start: usize,
    before: &'a mut [Quad],
}

impl WithSimd for Goal<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Pass { relax, weight } = self.pass;
        let plain = relax == 1.0 && weight == 1.0;
        let mut products = [Wide::ZERO; WIDTH];
        for (k, before) in self.before.chunks_mut(WIDTH).enumerate() {
            let first = self.start + k * WIDTH;
            // In two sweeps for the same reason as matching.
            for (lane, product) in products.iter_mut().take(before.len()).enumerate() {
                *product = wanted(&self.rings, self.maps, first + lane);
            }
            for (lane, before) in before.iter_mut().enumerate() {
                let goal = row_sums(&products[lane]);
                *before = if plain {
                    goal
                } else {
                    moved(&self.now[first + lane], &goal, before, self.pass)
                };
            }
        }
    }
}

/// Where a pass moves a vertex that wants to a goal: `z = y + relax (g − y)`, then `before + weight (z − before)`.
#[inline(always)]
fn moved(now: &Quad, goal: &Quad, before: &Quad, pass: Pass) -> Quad {
    let mut out = *before;
    for i in 0..4 {
        let z = now.0[i] + pass.relax * (goal.0[i] - now.0[i]);
        let step = pass.weight * (z - before.0[i]);
        out.0[i] = if pass.weight == 1.0 { z } else { before.0[i] + step };
    }
    out
}

/// The maps of a vertex' regions, summed up and times its place at rest (7), term by term.
#[inline(always)]
fn wanted(rings: &Rings<'_>, maps: &[Row], region: usize) -> Wide {
    let mut sum = maps[region];
    for &i in &rings.ring[rings.of(region)] {
        sum = sum + maps[i as usize];
    }
    sum * fourfold(&rings.homes[region])
}

/// The sums of four rows of four.
#[inline(always)]
fn row_sums(wide: &Wide) -> Quad {
    let w = &wide.0;
    let mut out = Quad([0.0; 4]);
    for i in 0..4 {
        out.0[i] = (w[4 * i] + w[4 * i + 1]) + (w[4 * i + 2] + w[4 * i + 3]);
    }
    out
}

/// The maps of a pass at every width of vector instructions that this machine has.
#[cfg(test)]
pub(super) fn at_every_width(
    regions: &Regions,
    strains: &[Strains],
    now: &[Quad],
) -> Vec<Vec<Row>> {
    let run = |dispatch: &dyn Fn(Match<'_>)| {
        let mut maps = vec![Wide::ZERO; regions.len().next_multiple_of(WIDTH)];
        let (rings, count) = (regions.rings(), regions.len());
        dispatch(Match { rings, strains, now, start: 0, count, maps: &mut maps });
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

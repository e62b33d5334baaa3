//! How much smoke there is at each vertex of a streak surface, and its normals.
//!
//! # Method
//!
//! A triangle carries the particles it was born with, so it is the thinner the larger it grows. Four terms are
//! multiplied (7.9):
//!
//! - density (7.3) `1 − exp(−k / area)`, seen face on; `k` is an area that follows from the wanted opacity of fresh
//!   smoke ([`particles`]): what an even extinction (7.1) takes of light on its way (7.2). Seen at an angle γ that way is
//!   `1/|cos γ|` as long: the renderer's part.
//! - shape (7.6) `(4 area / (√3 max{d₀d₁, d₁d₂, d₂d₀}))^s`: the shortest edge over the radius of the circumcircle,
//!   1 for an equilateral triangle, 0.816 at most where a square cell is cut in two.
//! - curvature (7.7) `1 − b max |n · eᵢ|` over the edges at a vertex.
//! - fade (7.8), 1 for young smoke, 0 at the age at which a column is released again.
//!
//! The shape of a vertex is the worst of its triangles. Its density is that of `Σaᵢ⁵ / Σaᵢ⁴`, the aᵢ squares of their areas:
//! where triangles are much alike this is their mean, whose error is of second order in the size of cells; where one is
//! larger than the others it is that one. Squares are summed and compared, so that there is one root a vertex and none a
//! triangle.
//!
//! # Where we differ from the thesis
//!
//! - The thesis takes the least density of a vertex' triangles. That is of first order: where the strain changes, half
//!   the resolution is 1 % thinner (`resolution_does_not_change_the_opacity`).
//! - (7.3) itself, not its linearisation (7.4), (7.5), which is there with [`Opacity::linear`]: it needs no clamp, and two
//!   sheets in one place look like one with the smoke of both.
//! - The triangles at the seeds grow from nothing between two releases, with their smoke in proportion: with
//!   constant `k` they would flicker. They have no say in the shape.
//! - What joins the newest column to the oldest, columns not yet released, the gaps between parts and nozzles, and
//!   triangles with a vertex that left the fluid do not exist: not for minima, nor for normals, nor for the neighbours of a vertex.
//!
//! # Limits
//!
//! Where the flow runs along the seed line the strip has no area: density is 1 there, and shape hides it. Places are
//! compared in 32 bits, relative to the middle of the seeds.
//!
//! # References
//!
//! W. von Funck, T. Weinkauf, H. Theisel, H.-P. Seidel: Smoke Surfaces, IEEE TVCG 14(6), 2008.

use pulp::{Simd, WithSimd};
use serde::{Deserialize, Serialize};

use crate::Run;

/// How the terms of the opacity are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Opacity {
    /// Opacity of fresh smoke seen face on, from 0 to 1. 1 makes all of it dense: the other terms alone are seen.
    pub fresh: f32,
    /// Exponent `s` of the shape of triangles; 0 switches it off, the thesis took ½ to 1.
    pub shape: f32,
    /// Factor `b` of the curvature; 0 switches it off, the thesis took 2.
    pub curvature: f32,
    /// Share of its life after which smoke begins to fade; 0 is the thesis, 1 is never.
    pub fade: f32,
    /// The linearised density (7.5) of the thesis, `min(1, k / area)`.
    pub linear: bool,
}

impl Default for Opacity {
    fn default() -> Self {
        Self { fresh: 0.35, shape: 0.5, curvature: 1.0, fade: 0.5, linear: false }
    }
}

impl Opacity {
    /// Optical depth of fresh smoke, face on.
    #[must_use]
    pub fn depth(&self) -> f64 {
        let fresh = f64::from(self.fresh).clamp(0.0, 1.0);
        if self.linear { fresh } else { -libm::log1p(-fresh.min(1.0 - 1e-12)) }
    }

    /// Fade (7.8) at a share of a column's life.
    #[must_use]
    pub fn fade_at(&self, life: f64) -> f32 {
        let from = f64::from(self.fade.clamp(0.0, 1.0));
        let gone = if life > from { (life - from) / (1.0 - from).max(1e-9) } else { 0.0 };
        (1.0 - gone).clamp(0.0, 1.0) as f32
    }
}

/// `k`, the smoke of a triangle as an area: `τ₀ ½ median |Δs × v| Δt`.
///
/// That is the optical depth of fresh smoke times half of what a cell of the seed line sweeps between releases. The second number is the share of the line along which the flow runs.
#[must_use]
pub fn particles(
    opacity: &Opacity,
    seeds: &[[f64; 3]],
    velocities: &[[f64; 3]],
    rows_of_part: usize,
    dt: f64,
) -> (f64, f64) {
    let swept_by = |(ends, v): (&[[f64; 3]], &[f64; 3])| {
        let s = [0, 1, 2].map(|c| ends[1][c] - ends[0][c]);
        let cross =
            [s[1] * v[2] - s[2] * v[1], s[2] * v[0] - s[0] * v[2], s[0] * v[1] - s[1] * v[0]];
        let [cross, s, v] = [cross, s, *v].map(|a| a.iter().map(|c| c * c).sum::<f64>().sqrt());
        if cross > 0.05 * s * v { cross } else { 0.0 }
    };
    let parts = seeds.chunks(rows_of_part.max(2)).zip(velocities.chunks(rows_of_part.max(2)));
    let mut swept: Vec<f64> =
        parts.flat_map(|(seeds, v)| seeds.windows(2).zip(v).map(swept_by)).collect();
    swept.sort_by(f64::total_cmp);
    let along = swept.partition_point(|&area| area <= 0.0);
    // The median of what sweeps an area at all.
    let across = &swept[along..];
    let median = across.get(across.len() / 2).copied().unwrap_or(0.0);
    let share = if swept.is_empty() { 0.0 } else { along as f64 / swept.len() as f64 };
    (opacity.depth() * 0.5 * median * dt.abs(), share)
}

/// A streak surface as columns, the oldest first.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// Vertices in a column; at least two.
    pub rows: usize,
    /// A column after the other: all x, all y, all z, then 1 for each vertex in the fluid and 0 for others.
    pub columns: Vec<f32>,
    /// Share of its life each column has behind it.
    pub life: Vec<f64>,
    /// How much of a whole strip the first and the last one are: those that are still growing.
    pub end_strips: [f32; 2],
    /// 1 for each pair of neighbouring rows with something between them, 0 where parts or nozzles end; empty if
    /// there is something everywhere.
    pub joined: Vec<f32>,
}

/// Numbers a vertex in [`Shade`]: normal, density, shape, curvature, alpha.
const CHANNELS: usize = 7;

/// What [`shade`] finds: a column after the other, all values of a channel together.
#[derive(Clone, Debug, Default)]
pub struct Shade {
    rows: usize,
    values: Vec<f32>,
    fade: Vec<f32>,
}

/// The terms at one vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Unit normal; zero where there is no triangle.
    pub normal: [f32; 3],
    /// (7.3), face on.
    pub density: f32,
    /// (7.6)
    pub shape: f32,
    /// (7.7)
    pub curvature: f32,
    /// (7.8)
    pub fade: f32,
    /// Their product (7.9); 0 where there is no triangle.
    pub alpha: f32,
}

/// Places of the channels in [`Shade`]: three of the normal first.
pub(super) const DENSITY: usize = 3;
pub(super) const SHAPE: usize = 4;
pub(super) const CURVATURE: usize = 5;
pub(super) const ALPHA: usize = 6;

impl Shade {
    /// The values of one channel in one column.
    pub(super) fn channel(&self, column: usize, channel: usize) -> &[f32] {
        let start = (column * CHANNELS + channel) * self.rows;
        &self.values[start..start + self.rows]
    }

    /// How much of each column has not faded.
    pub(super) fn fade(&self) -> &[f32] {
        &self.fade
    }

    /// The terms at a vertex.
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    #[must_use]
    pub fn at(&self, column: usize, row: usize) -> Terms {
        let block = &self.values[column * CHANNELS * self.rows..];
        let [x, y, z, density, shape, curvature, alpha] =
            [0, 1, 2, 3, 4, 5, 6].map(|channel| block[channel * self.rows + row]);
        let fade = self.fade[column];
        Terms { normal: [x, y, z], density, shape, curvature, fade, alpha }
    }
}

/// Normals and opacity of a streak surface; `k` is that of [`particles`]. `into` keeps its memory from call to call.
pub fn shade(sheet: &Sheet, opacity: &Opacity, k: f64, into: &mut Shade, run: &Run<'_>) {
    /// Columns a task takes: the strip before the first is computed twice. One thread takes all at once.
    const TASK: usize = 16;
    let rows = sheet.rows;
    let count = sheet.life.len();
    into.rows = rows;
    into.fade.clear();
    into.fade.extend(sheet.life.iter().map(|&life| opacity.fade_at(life)));
    into.values.resize(count * rows * CHANNELS, 0.0);
    let (fade, arch) = (&into.fade, pulp::Arch::new());
    let task = if run.thread_count() > 1 { TASK } else { count.max(TASK) };
    run.for_each_piece(&mut into.values, task * rows * CHANNELS, |start, values| {
        let first = start / (rows * CHANNELS);
        arch.dispatch(Task { sheet, opacity, k: k as f32, first, fade, values });
    });
}

struct Task<'a> {
    sheet: &'a Sheet,
    opacity: &'a Opacity,
    k: f32,
    first: usize,
    fade: &'a [f32],
    values: &'a mut [f32],
}

impl WithSimd for Task<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { sheet, opacity, k, first, fade, values } = self;
        let rows = sheet.rows;
        let count = sheet.life.len();
        let [mut last, mut here, mut next] =
            [Padded::new(rows), Padded::new(rows), Padded::new(rows)];
        let [mut before, mut after] = [Strip::new(rows), Strip::new(rows)];
        let mut joined = padded(rows);
        match &sheet.joined[..] {
            [] => joined[1..rows].fill(1.0),
            some => joined[1..rows].copy_from_slice(&some[..rows - 1]),
        }
        // Twice an area, squared, times this is the square of one over the optical depth.
        let unit = if k > 0.0 { 0.25 / (k * k) } else { 1.0 };
        here.take(sheet, first);
        if first > 0 {
            last.take(sheet, first - 1);
            strip((sheet, &joined, unit), first - 1, [&last, &here], &mut before);
        }
        let mut vertex = Gathered::new(rows);
        for (i, block) in values.chunks_exact_mut(rows * CHANNELS).enumerate() {
            let column = first + i;
            if column + 1 < count {
                next.take(sheet, column + 1);
                strip((sheet, &joined, unit), column, [&here, &next], &mut after);
            } else {
                after.clear();
            }
            vertex.gather(&before, &after);
            vertex.bend([&last, &here, &next], &before, &after);
            vertex.finish(opacity, k > 0.0, fade[column], block);
            std::mem::swap(&mut before, &mut after);
            std::mem::swap(&mut last, &mut here);
            std::mem::swap(&mut here, &mut next);
        }
    }
}

/// Vertices that are worked on at a time.
const WIDTH: usize = 16;

/// Numbers of a column, the first at 1, with room on both sides: whole pieces can be read beyond its ends.
fn padded(rows: usize) -> Vec<f32> {
    vec![0.0; rows.next_multiple_of(WIDTH) + WIDTH + 2]
}

/// One column of a sheet: x, y, z, alive; the first row at 1.
struct Padded([Vec<f32>; 4]);

impl Padded {
    fn new(rows: usize) -> Self {
        Self([padded(rows), padded(rows), padded(rows), padded(rows)])
    }

    #[inline(always)]
    fn take(&mut self, sheet: &Sheet, column: usize) {
        let rows = sheet.rows;
        let block = &sheet.columns[4 * rows * column..4 * rows * (column + 1)];
        for (list, own) in self.0.iter_mut().zip(block.chunks_exact(rows)) {
            list[1..=rows].copy_from_slice(own);
        }
    }
}

/// No triangle counts as worse than this.
const WORST: f32 = 1e15;

/// No triangle counts as larger, as the square of one over its optical depth: its smoke would cover 3e-4. The fifth power fits.
const LARGEST: f32 = 1e7;

/// The triangles between two columns; cell `j` stands at `j + 1`, with nothing before the first and after the last.
/// The first triangle of a cell has an edge on the older column, the second on the newer.
struct Strip {
    /// Twice the vector area.
    normal: [[Vec<f32>; 3]; 2],
    /// Square of its area over its smoke: of one over the optical depth.
    area: [Vec<f32>; 2],
    /// One over the square of the shape; 0 if it does not count.
    shape: [Vec<f32>; 2],
    /// 1 if it exists.
    there: [Vec<f32>; 2],
}

impl Strip {
    fn new(rows: usize) -> Self {
        let of = || padded(rows);
        let pair = || [of(), of()];
        let triple = || [of(), of(), of()];
        let mut strip =
            Self { normal: [triple(), triple()], area: pair(), shape: pair(), there: pair() };
        strip.clear();
        strip
    }

    #[inline(always)]
    fn clear(&mut self) {
        for side in 0..2 {
            for c in 0..3 {
                self.normal[side][c].fill(0.0);
            }
            self.area[side].fill(0.0);
            self.shape[side].fill(0.0);
            self.there[side].fill(0.0);
        }
    }
}

/// The triangles between a column and the next newer one.
#[inline(always)]
fn strip(
    (sheet, joined, unit): (&Sheet, &[f32], f32),
    column: usize,
    [a, b]: [&Padded; 2],
    into: &mut Strip,
) {
    let is_last = column + 2 == sheet.life.len();
    let first = if column == 0 { sheet.end_strips[0] } else { 1.0 };
    let share = if is_last { sheet.end_strips[1] * first } else { first };
    let smoke = unit / (share * share).max(1e-12);
    // While it grows, its shape says nothing.
    let shape_counts = if share > 0.999_999 { 1.0 } else { 0.0 };
    let n = sheet.rows - 1;
    triangles([a, a, b], [0, 1, 0], (joined, n), [smoke, shape_counts], into, 0);
    triangles([b, a, b], [0, 1, 1], (joined, n), [smoke, shape_counts], into, 1);
}

/// One triangle of each cell: corners from three columns, each at the cell's row or the next. Beyond the last cell nothing
/// is joined.
#[inline(always)]
fn triangles(
    [p, q, r]: [&Padded; 3],
    row: [usize; 3],
    (joined, n): (&[f32], usize),
    [smoke, shape_counts]: [f32; 2],
    into: &mut Strip,
    side: usize,
) {
    let [nx, ny, nz] = &mut into.normal[side];
    let mut j = 1;
    while j <= n {
        // Written out: what a closure maps is not compiled for wide registers.
        let [px, py, pz, pw] = load_four(p, row[0] + j);
        let [qx, qy, qz, qw] = load_four(q, row[1] + j);
        let [rx, ry, rz, rw] = load_four(r, row[2] + j);
        let joined = load(joined, j);
        let mut normal = [[0.0; WIDTH]; 3];
        let [mut area, mut shape, mut there] = [[0.0; WIDTH]; 3];
        for k in 0..WIDTH {
            let [ux, uy, uz] = [qx[k] - px[k], qy[k] - py[k], qz[k] - pz[k]];
            let [vx, vy, vz] = [rx[k] - px[k], ry[k] - py[k], rz[k] - pz[k]];
            let [wx, wy, wz] = [rx[k] - qx[k], ry[k] - qy[k], rz[k] - qz[k]];
            let alive = pw[k] * qw[k] * rw[k] * joined[k];
            let [cx, cy, cz] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
            let square = cx * cx + cy * cy + cz * cz;
            let d0 = ux * ux + uy * uy + uz * uz;
            let d1 = vx * vx + vy * vy + vz * vz;
            let d2 = wx * wx + wy * wy + wz * wz;
            let (m0, m1, m2) = (d0 * d1, d1 * d2, d2 * d0);
            let most = if m0 > m1 { m0 } else { m1 };
            let most = if most > m2 { most } else { m2 };
            // One over (7.6) squared: 3 max² / (16 area²), with `square` = 4 area².
            let worse = 0.75 * most / (square + f32::MIN_POSITIVE);
            let worse = if worse < WORST { worse } else { WORST };
            let larger = alive * square * smoke;
            normal[0][k] = alive * cx;
            normal[1][k] = alive * cy;
            normal[2][k] = alive * cz;
            area[k] = if larger < LARGEST { larger } else { LARGEST };
            shape[k] = alive * shape_counts * worse;
            there[k] = alive;
        }
        store(nx, j, &normal[0]);
        store(ny, j, &normal[1]);
        store(nz, j, &normal[2]);
        store(&mut into.area[side], j, &area);
        store(&mut into.shape[side], j, &shape);
        store(&mut into.there[side], j, &there);
        j += WIDTH;
    }
}

/// Some numbers of a list that has as many.
#[inline(always)]
fn load(list: &[f32], at: usize) -> [f32; WIDTH] {
    // Not `copy_from_slice`: that may be a call, and there are eighty for as many vertices.
    *list[at..at + WIDTH].first_chunk().unwrap_or(&[0.0; WIDTH])
}

/// The same of four lists.
#[inline(always)]
fn load_four(column: &Padded, at: usize) -> [[f32; WIDTH]; 4] {
    let [x, y, z, alive] = &column.0;
    [load(x, at), load(y, at), load(z, at), load(alive, at)]
}

/// Places alone.
#[inline(always)]
fn load_three(column: &Padded, at: usize) -> [[f32; WIDTH]; 3] {
    let [x, y, z, _] = &column.0;
    [load(x, at), load(y, at), load(z, at)]
}

/// The square of `n · e / |e|` of edges, where one of two triangles is there and it is larger.
#[inline(always)]
fn edge(
    from: &[[f32; WIDTH]; 3],
    to: &[[f32; WIDTH]; 3],
    n: &[[f32; WIDTH]; 3],
    there: [&[f32; WIDTH]; 2],
    most: &mut [f32; WIDTH],
) {
    for k in 0..WIDTH {
        let [ex, ey, ez] = [to[0][k] - from[0][k], to[1][k] - from[1][k], to[2][k] - from[2][k]];
        let along = n[0][k] * ex + n[1][k] * ey + n[2][k] * ez;
        let length = ex * ex + ey * ey + ez * ez;
        let is_there = if there[0][k] + there[1][k] > 0.0 { 1.0 } else { 0.0 };
        let square = is_there * along * along / (length + f32::MIN_POSITIVE);
        most[k] = if square > most[k] { square } else { most[k] };
    }
}

/// Numbers into a list.
#[inline(always)]
fn store(list: &mut [f32], at: usize, numbers: &[f32; WIDTH]) {
    if let Some(place) = list[at..at + WIDTH].first_chunk_mut() {
        *place = *numbers;
    }
}

/// One column's vertices: what their triangles say.
struct Gathered {
    normal: [Vec<f32>; 3],
    area: Vec<f32>,
    shape: Vec<f32>,
    there: Vec<f32>,
    /// The largest square of `n · e / |e|`, with `n` not yet of length one.
    bend: Vec<f32>,
}

impl Gathered {
    fn new(rows: usize) -> Self {
        let of = || vec![0.0; rows.next_multiple_of(WIDTH)];
        Self { normal: [of(), of(), of()], area: of(), shape: of(), there: of(), bend: of() }
    }

    /// A vertex has three triangles on either side: of the older column's, the first of its own cell and both of
    /// the cell before; of the newer's, both of its own and the second of the cell before.
    #[inline(always)]
    fn gather(&mut self, before: &Strip, after: &Strip) {
        for c in 0..3 {
            let older: [&[f32]; 2] = [&before.normal[0][c], &before.normal[1][c]];
            let newer: [&[f32]; 2] = [&after.normal[0][c], &after.normal[1][c]];
            fold(&mut self.normal[c], older, newer, sum);
        }
        let (b, a) = (before, after);
        fold(&mut self.area, both(&b.area), both(&a.area), rather_large);
        fold(&mut self.shape, both(&b.shape), both(&a.shape), largest);
        fold(&mut self.there, both(&b.there), both(&a.there), largest);
    }

    /// (7.7) over the edges at each vertex that have a triangle: up and down the column, to the next one at the same
    /// row and the one below, to the last one at the same row and the one above. All in one pass: the columns are read
    /// once, and the largest stays in registers. Where there is no other column there is no triangle either.
    #[inline(always)]
    fn bend(&mut self, [last, here, next]: [&Padded; 3], before: &Strip, after: &Strip) {
        let [nx, ny, nz] = &self.normal;
        let mut j = 0;
        while j < self.bend.len() {
            let at = load_three(here, j + 1);
            let n = [load(nx, j), load(ny, j), load(nz, j)];
            let (a0, a0_up) = (load(&after.there[0], j), load(&after.there[0], j + 1));
            let a1 = load(&after.there[1], j);
            let b0_up = load(&before.there[0], j + 1);
            let (b1, b1_up) = (load(&before.there[1], j), load(&before.there[1], j + 1));
            let mut most = [0.0; WIDTH];
            edge(&at, &load_three(here, j + 2), &n, [&a0_up, &b1_up], &mut most);
            edge(&at, &load_three(here, j), &n, [&a0, &b1], &mut most);
            edge(&at, &load_three(next, j + 1), &n, [&a0_up, &a1], &mut most);
            edge(&at, &load_three(next, j), &n, [&a0, &a1], &mut most);
            edge(&at, &load_three(last, j + 1), &n, [&b0_up, &b1], &mut most);
            edge(&at, &load_three(last, j + 2), &n, [&b0_up, &b1_up], &mut most);
            store(&mut self.bend, j, &most);
            j += WIDTH;
        }
    }

    /// The terms, from what was gathered.
    #[inline(always)]
    fn finish(&self, opacity: &Opacity, is_smoke: bool, fade: f32, block: &mut [f32]) {
        let rows = block.len() / CHANNELS;
        let (nx, block) = block.split_at_mut(rows);
        let (ny, block) = block.split_at_mut(rows);
        let (nz, block) = block.split_at_mut(rows);
        let (density, block) = block.split_at_mut(rows);
        let (shape, block) = block.split_at_mut(rows);
        let (curvature, alpha) = block.split_at_mut(rows);
        let [gx, gy, gz] = [0, 1, 2].map(|c| &self.normal[c][..rows]);
        let (area, quality) = (&self.area[..rows], &self.shape[..rows]);
        let (there, bend) = (&self.there[..rows], &self.bend[..rows]);
        let (b, s, linear) = (opacity.curvature, opacity.shape, opacity.linear);
        let (all, smoke) = (opacity.fresh >= 1.0, if is_smoke { 1.0 } else { 0.0 });
        for j in 0..rows {
            let square = gx[j] * gx[j] + gy[j] * gy[j] + gz[j] * gz[j];
            let inverse = 1.0 / (square + f32::MIN_POSITIVE).sqrt();
            nx[j] = inverse * gx[j];
            ny[j] = inverse * gy[j];
            nz[j] = inverse * gz[j];
            let depth = smoke / (area[j].sqrt() + f32::MIN_POSITIVE);
            let clamped = if depth < 1.0 { depth } else { 1.0 };
            let thin = if linear { clamped } else { 1.0 - exp_minus(depth) };
            density[j] = if all { 1.0 } else { thin };
            let bent = 1.0 - b * (bend[j].sqrt() * inverse);
            let bent = if bent > 0.0 { bent } else { 0.0 };
            curvature[j] = if bent < 1.0 { bent } else { 1.0 };
            // Without a triangle that counts it hides nothing.
            shape[j] = if quality[j] > 1.0 { 1.0 / quality[j] } else { 1.0 };
        }
        power(shape, 0.5 * s);
        for j in 0..rows {
            alpha[j] = there[j] * density[j] * shape[j] * curvature[j] * fade;
        }
    }
}

/// Of both triangles of the cells.
#[inline(always)]
fn both([first, second]: &[Vec<f32>; 2]) -> [&[f32]; 2] {
    [first, second]
}

/// What a vertex' triangles have together: three of the newer column, three of the older.
#[inline(always)]
fn fold(
    out: &mut [f32],
    before: [&[f32]; 2],
    after: [&[f32]; 2],
    together: impl Fn([f32; 6]) -> f32,
) {
    let mut j = 0;
    while j < out.len() {
        let (a0, a0_up, a1) = (load(after[0], j), load(after[0], j + 1), load(after[1], j));
        let (b0_up, b1, b1_up) =
            (load(before[0], j + 1), load(before[1], j), load(before[1], j + 1));
        let mut found = [0.0; WIDTH];
        for k in 0..WIDTH {
            found[k] = together([a0[k], a0_up[k], a1[k], b0_up[k], b1[k], b1_up[k]]);
        }
        store(out, j, &found);
        j += WIDTH;
    }
}

#[inline(always)]
fn sum([a, b, c, d, e, f]: [f32; 6]) -> f32 {
    (a + b + c) + (d + e + f)
}

#[inline(always)]
fn largest([a, b, c, d, e, f]: [f32; 6]) -> f32 {
    let larger = |a: f32, b: f32| if a > b { a } else { b };
    larger(larger(larger(a, b), c), larger(larger(d, e), f))
}

/// `Σx⁵ / Σx⁴`: the mean if all are alike, the largest if that is larger.
#[inline(always)]
fn rather_large(all: [f32; 6]) -> f32 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for x in all {
        let weight = (x * x) * (x * x);
        sum += weight * x;
        weights += weight;
    }
    sum / (weights + f32::MIN_POSITIVE)
}

/// `xᵖ` of numbers from 0 to 1.
#[inline(always)]
fn power(x: &mut [f32], p: f32) {
    if p == 0.0 {
        x.fill(1.0);
    } else if p == 0.25 {
        x.iter_mut().for_each(|x| *x = x.sqrt().sqrt());
    } else if p == 0.5 {
        x.iter_mut().for_each(|x| *x = x.sqrt());
    } else {
        for x in x {
            let y = if *x > 1e-30 { *x } else { 1e-30 };
            *x = exp_minus(-p * ln(y));
        }
    }
}

/// `e⁻ˣ` for x ≥ 0 to about 2 of the last digits, without a call: `2ⁿ` times a polynomial on ±½ ln 2.
#[inline(always)]
fn exp_minus(x: f32) -> f32 {
    /// Rounds to whole numbers when added.
    const ROUND: f32 = 12_582_912.0;
    let x = if x < 87.0 { x } else { 87.0 };
    let turns = -x * std::f32::consts::LOG2_E + ROUND;
    let n = turns - ROUND;
    // ln 2 in two parts, so that the product is exact.
    let r = -x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let poly = 1.0
        + r * (1.0
            + r * (0.5
                + r * (0.166_666_67 + r * (0.041_666_52 + r * (0.008_369_1 + r * 0.001_380_2)))));
    let scale = f32::from_bits((turns.to_bits().wrapping_add(127)) << 23);
    poly * scale
}

/// The natural logarithm of a positive number.
#[inline(always)]
fn ln(x: f32) -> f32 {
    let bits = x.to_bits();
    // Mantissa within [√½, √2).
    let exponent = (bits.wrapping_sub(0x3f35_04f3) as i32) >> 23;
    let m = f32::from_bits(bits.wrapping_sub((exponent << 23) as u32)) - 1.0;
    // atanh series: ln(1 + m) = 2 atanh(m / (2 + m)).
    let s = m / (2.0 + m);
    let z = s * s;
    let series =
        2.0 * s * (1.0 + z * (0.333_333_34 + z * (0.2 + z * (0.142_857_15 + z * 0.111_1))));
    series + exponent as f32 * std::f32::consts::LN_2
}

//! Tracers carried through a flow: Runge–Kutta steps of fourth order, eight tracers at a time.
//!
//! # Method
//!
//! The classical step `x + h/6 (k₁ + 2k₂ + 2k₃ + k₄)`, on positions of 64 bits: with 32, a chaotic flow is off by
//! a thirtieth of a cell where it need not be by a thousandth. A stage is a chain of waits for memory and for
//! interpolations, so eight tracers go side by side, all x together, then all y: four take a quarter longer, one
//! after the other more than twice as long.
//!
//! A tracer one of whose stages finds no fluid is *dead*: it stays where it was before the step.
//!
//! # Limits
//!
//! Sampled fields have a kink at every cell, so the order seen is below two
//! (`steps_of_a_cell_are_fine_enough`): no step is longer than a cell, and none crosses a recorded level.

use pulp::{Simd, WithSimd};

use super::wide::{Plain, Wide, WithWide, widest};
use crate::Run;

/// Tracers that take a step together.
pub const BLOCK: usize = 2 * FOUR;

/// Numbers that are computed with at a time.
pub(super) const FOUR: usize = 4;

/// A number of each tracer of a block.
pub type Row = [f64; BLOCK];

/// Half of a row.
#[inline(always)]
pub(super) fn half(row: &Row, half: usize) -> &[f64; FOUR] {
    &row.as_chunks().0[half]
}

/// The same, to be written.
#[inline(always)]
pub(super) fn half_mut(row: &mut Row, half: usize) -> &mut [f64; FOUR] {
    &mut row.as_chunks_mut().0[half]
}

/// What belongs to one tracer.
#[inline(always)]
pub(super) fn of_one<const N: usize>(rows: &[Row; N], i: usize) -> [f64; N] {
    let mut one = [0.0; N];
    for c in 0..N {
        one[c] = rows[c][i];
    }
    one
}

/// Writes what belongs to one tracer.
#[inline(always)]
pub(super) fn put_one<const N: usize>(rows: &mut [Row; N], i: usize, one: [f64; N]) {
    for c in 0..N {
        rows[c][i] = one[c];
    }
}

/// Tracers a task takes.
const TASK: usize = 1024;

/// Where stages stand within a step, how much they count.
const REACH: [f64; 4] = [0.0, 0.5, 0.5, 1.0];
const WEIGHT: [f64; 4] = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];

/// Less fluid than this share of what surrounds a sample is none.
pub const LEAST_FLUID: f64 = 0.5;

/// A place in a flow. The fourth number is zero once it left the fluid; else one, plus the cell it was last
/// seen in where the grid must be searched.
pub type Tracer = [f64; 4];

/// A living tracer at a place.
#[must_use]
pub fn tracer([x, y, z]: [f64; 3]) -> Tracer {
    [x, y, z, 1.0]
}

/// True while it is in the fluid.
#[must_use]
#[inline(always)]
pub fn is_alive(tracer: &Tracer) -> bool {
    tracer[3] > 0.0
}

/// A velocity that can be followed.
pub trait Sampler: Sync {
    /// Velocity in units of space per unit of time, and in the fourth row the share of fluid (from 0 to 1), at
    /// the places of a block and one time. `cells` is where each was found last; who does not search leaves it alone.
    ///
    /// Must be `#[inline(always)]`, with all that it calls, to be compiled for the widest registers.
    fn sample<W: Wide>(&self, wide: W, x: &[Row; 3], t: f64, cells: &mut [u32; BLOCK]) -> [Row; 4];
}

/// The velocity of the fluid and its share between two levels: `both` has velocity and share at the first, then at the
/// second; `s` goes from 0 to 1.
#[inline(always)]
pub(super) fn between(both: &[f32; 8], s: f32) -> [f64; 4] {
    let mut v = [0.0_f32; 4];
    for c in 0..4 {
        v[c] = both[c] + s * (both[c + 4] - both[c]);
    }
    let share = v[3];
    let weight = 1.0 / if share > LEAST_FLUID as f32 { share } else { 1.0 };
    let of_fluid = |c: usize| f64::from(v[c] * weight);
    [of_fluid(0), of_fluid(1), of_fluid(2), f64::from(share)]
}

/// One sample a place, and where each was found.
pub(super) fn samples<S: Sampler>(
    sampler: &S,
    places: &[[f64; 3]],
    t: f64,
    cells: &mut [u32],
) -> Vec<[f64; 4]> {
    let mut found = Vec::with_capacity(places.len());
    for (places, cells) in places.chunks(BLOCK).zip(cells.chunks_mut(BLOCK)) {
        let (mut x, mut own) = ([[0.0; BLOCK]; 3], [0; BLOCK]);
        for (i, (&place, cell)) in places.iter().zip(&*cells).enumerate() {
            put_one(&mut x, i, place);
            own[i] = *cell;
        }
        let v = sampler.sample(Plain, &x, t, &mut own);
        found.extend((0..places.len()).map(|i| of_one(&v, i)));
        cells.copy_from_slice(&own[..cells.len()]);
    }
    found
}

/// Carries tracers from one time to another in equal steps; returns how many died.
pub fn advect<S: Sampler>(
    sampler: &S,
    [from, to]: [f64; 2],
    steps: u32,
    tracers: &mut [Tracer],
    run: &Run<'_>,
) {
    let times = [from, to];
    widest(Advect { sampler, times, steps: steps.max(1), tracers, run });
}

struct Advect<'a, 'r, S> {
    sampler: &'a S,
    times: [f64; 2],
    steps: u32,
    tracers: &'a mut [Tracer],
    run: &'a Run<'r>,
}

impl<S: Sampler> WithWide for Advect<'_, '_, S> {
    fn with<W: Wide>(self, wide: W) {
        let Self { sampler, times: [from, to], steps, tracers, run } = self;
        let arch = pulp::Arch::new();
        run.for_each_piece(tracers, TASK, |_, tracers| {
            arch.dispatch(Sweep { wide, sampler, from, to, steps, tracers });
        });
    }
}

struct Sweep<'a, W, S> {
    wide: W,
    sampler: &'a S,
    from: f64,
    to: f64,
    steps: u32,
    tracers: &'a mut [Tracer],
}

impl<W: Wide, S: Sampler> WithSimd for Sweep<'_, W, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) {
        let (whole, rest) = self.tracers.as_chunks_mut::<BLOCK>();
        let way = (self.wide, self.sampler);
        let times = [self.from, self.to];
        for block in whole {
            carry(way, times, self.steps, block);
        }
        if !rest.is_empty() {
            let mut block = [[0.0; 4]; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            carry(way, times, self.steps, &mut block);
            rest.copy_from_slice(&block[..rest.len()]);
        }
    }
}

/// All steps of a block.
#[inline(always)]
fn carry<W: Wide, S: Sampler>(
    way: (W, &S),
    [from, to]: [f64; 2],
    steps: u32,
    block: &mut [Tracer; BLOCK],
) {
    let mut alive = [0.0; BLOCK];
    for (alive, x) in alive.iter_mut().zip(&*block) {
        *alive = x[3];
    }
    if !alive.iter().any(|alive| *alive > 0.0) {
        return;
    }
    let mut x = [[0.0; BLOCK]; 3];
    let mut cells = [0; BLOCK];
    for (i, tracer) in block.iter().enumerate() {
        put_one(&mut x, i, [tracer[0], tracer[1], tracer[2]]);
        cells[i] = (tracer[3] - 1.0) as u32;
    }
    let h = (to - from) / f64::from(steps);
    for k in 0..steps {
        step(way, (&mut x, &mut alive), from + f64::from(k) * h, h, &mut cells);
    }
    for (i, tracer) in block.iter_mut().enumerate() {
        let [x, y, z] = of_one(&x, i);
        let mark = if alive[i] > 0.0 { 1.0 + f64::from(cells[i]) } else { 0.0 };
        *tracer = [x, y, z, mark];
    }
}

/// One step of a block.
#[inline(always)]
fn step<W: Wide, S: Sampler>(
    (w, sampler): (W, &S),
    (x, alive): (&mut [Row; 3], &mut Row),
    t: f64,
    h: f64,
    cells: &mut [u32; BLOCK],
) {
    let mut slope = [[0.0; BLOCK]; 4];
    let mut sum = [[0.0; BLOCK]; 3];
    // The least share of fluid met.
    let mut least = [1.0; BLOCK];
    for stage in 0..4 {
        let reach = REACH[stage] * h;
        let mut at = *x;
        for c in 0..3 {
            for k in 0..BLOCK / FOUR {
                let ahead = w.mul(w.splat(reach), w.four(half(&slope[c], k)));
                *half_mut(&mut at[c], k) = w.numbers(w.add(w.four(half(&x[c], k)), ahead));
            }
        }
        slope = sampler.sample(w, &at, t + reach, cells);
        for k in 0..BLOCK / FOUR {
            let fluid = w.min(w.four(half(&slope[3], k)), w.four(half(&least, k)));
            *half_mut(&mut least, k) = w.numbers(fluid);
            for c in 0..3 {
                let share = w.mul(w.splat(WEIGHT[stage]), w.four(half(&slope[c], k)));
                *half_mut(&mut sum[c], k) = w.numbers(w.add(w.four(half(&sum[c], k)), share));
            }
        }
    }
    for k in 0..BLOCK / FOUR {
        let here = [w.four(half(&x[0], k)), w.four(half(&x[1], k)), w.four(half(&x[2], k))];
        let mut next = here;
        for c in 0..3 {
            next[c] = w.add(here[c], w.mul(w.splat(h), w.four(half(&sum[c], k))));
        }
        // Zero, or not a number if one of them is not finite: what is not, dies, too.
        let total = w.add(w.add(next[0], next[1]), next[2]);
        let finite = w.sub(total, total);
        let nothing = w.splat(0.0);
        let enough = w.sub(w.four(half(&least, k)), w.splat(LEAST_FLUID));
        let living = w.not_negative(enough, w.four(half(alive, k)), nothing);
        let living = w.not_negative(finite, living, nothing);
        let moves = w.sub(living, w.splat(0.5));
        for c in 0..3 {
            *half_mut(&mut x[c], k) = w.numbers(w.not_negative(moves, next[c], here[c]));
        }
        *half_mut(alive, k) = w.numbers(living);
    }
}

//! Tracers carried through a flow: Runge–Kutta steps of fourth order, four tracers at a time.
//!
//! # Method
//!
//! The classical step `x + h/6 (k₁ + 2k₂ + 2k₃ + k₄)`, on positions of 64 bits: with 32, a chaotic flow is off by
//! a thirtieth of a cell where it need not be by a thousandth. A stage is a chain of waits for memory, so four
//! tracers go side by side; one after the other takes twice as long.
//!
//! A tracer one of whose stages finds no fluid is *dead*: it stays where it was before the step.
//!
//! # Limits
//!
//! Sampled fields have a kink at every cell, so the order seen is below two
//! (`steps_of_a_cell_are_fine_enough`): no step is longer than a cell, and none crosses a recorded level.

use pulp::{Simd, WithSimd};

use super::wide::{Wide, WithWide, widest};
use crate::Run;

/// Tracers that take a step together.
pub const BLOCK: usize = 4;

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
    /// Velocity in units of space per unit of time, and in the fourth number the share of fluid (from 0 to 1), at
    /// four places and one time. `cells` is where each was found last; who does not search leaves it alone.
    ///
    /// Must be `#[inline(always)]`, with all that it calls, to be compiled for the widest registers.
    fn sample<W: Wide>(
        &self,
        wide: W,
        x: &[[f64; 4]; BLOCK],
        t: f64,
        cells: &mut [u32; BLOCK],
    ) -> [[f64; 4]; BLOCK];
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
    let mut x = *block;
    if !(is_alive(&x[0]) | is_alive(&x[1]) | is_alive(&x[2]) | is_alive(&x[3])) {
        return;
    }
    let mut cells = [0; BLOCK];
    for (cell, x) in cells.iter_mut().zip(&x) {
        *cell = (x[3] - 1.0) as u32;
    }
    let h = (to - from) / f64::from(steps);
    for k in 0..steps {
        step(way, &mut x, from + f64::from(k) * h, h, &mut cells);
    }
    for i in 0..BLOCK {
        x[i][3] = if is_alive(&x[i]) { 1.0 + f64::from(cells[i]) } else { 0.0 };
    }
    *block = x;
}

/// One step of a block. The fourth number of the places only says who is alive.
#[inline(always)]
fn step<W: Wide, S: Sampler>(
    (w, sampler): (W, &S),
    x: &mut [[f64; 4]; BLOCK],
    t: f64,
    h: f64,
    cells: &mut [u32; BLOCK],
) {
    let mut slope = [[0.0_f64; 4]; BLOCK];
    let mut sum = [w.splat(0.0); BLOCK];
    // The fourth number of this is the least share of fluid met.
    let mut least = [w.splat(1.0); BLOCK];
    for stage in 0..4 {
        let reach = REACH[stage] * h;
        let mut at = *x;
        for i in 0..BLOCK {
            let ahead = w.mul(w.splat(reach), w.four(&slope[i]));
            at[i] = w.numbers(w.add(w.four(&x[i]), ahead));
        }
        slope = sampler.sample(w, &at, t + reach, cells);
        for i in 0..BLOCK {
            let here = w.four(&slope[i]);
            least[i] = w.min(here, least[i]);
            sum[i] = w.add(sum[i], w.mul(w.splat(WEIGHT[stage]), here));
        }
    }
    for i in 0..BLOCK {
        let mut next = w.numbers(w.add(w.four(&x[i]), w.mul(w.splat(h), sum[i])));
        next[3] = x[i][3];
        // Comparisons with NaN are false: what is not finite dies, too.
        let finite = (next[0] + next[1] + next[2]).abs() < f64::INFINITY;
        let moves = finite & (w.numbers(least[i])[3] >= LEAST_FLUID) & is_alive(&x[i]);
        let stays = [x[i][0], x[i][1], x[i][2], 0.0];
        x[i] = if moves { next } else { stays };
    }
}

//! What was sensed of a surface so far, and how long it will do.
//!
//! # Method
//!
//! What was sensed last three times is continued as the parabola through it. As long as each new sensing is
//! what the parabola had foretold, one serves twice as many steps as the one before; a larger predictor error brings that
//! back to one, and what led to it is not tried again. The finer a mesh, the sooner rounding grows from one
//! sensing to the next, and the fewer steps one serves.

use glam::DVec3;

use super::{Block, Rows, along, in_columns};
use crate::Run;
use crate::lanes::WIDTH;

/// How many sensings are remembered.
const MEMORY: usize = 3;

/// The most steps that one sensing serves.
const LONGEST: u32 = 4;

/// How far the foretold velocities may lead astray until the end, as a share of the fade's width.
const TOLERANCE: f64 = 6e-4;

/// The predictor error grows with the third power of the steps: that of twice as many must be sure to be small.
const DOUBLED: f64 = 8.0;

/// What a surface is like at a time.
pub(super) struct Sample {
    pub(super) time: f64,
    pub(super) gradient: Vec<Block>,
    /// The velocity that the gradient leads to.
    pub(super) velocity: Vec<Rows>,
    /// The velocity that the volume needs besides.
    pub(super) push: Vec<Block>,
}

/// The last sensings, oldest first.
pub(super) struct Predictor {
    samples: Vec<Sample>,
    /// The step for which the surface must be sensed again.
    pub(super) due: u32,
    stride: u32,
    /// The most steps that one sensing may serve.
    longest: u32,
}

/// Weights of the sensings for one time.
pub(super) type Weights = [f32; MEMORY];

impl Predictor {
    /// With nothing but the start of a motion without corners, which the step begins.
    pub(super) fn new(start: Sample, step: u32) -> Self {
        Self { samples: vec![start], due: step, stride: 1, longest: LONGEST }
    }

    /// How many steps the next sensing is to serve.
    pub(super) fn stride(&self) -> u32 {
        self.stride
    }

    /// Takes in what was sensed for so many steps, unless the predictor error is too large: then a sensing for one step is
    /// needed. `reach` is a length over the time that is left of the motion.
    pub(super) fn take_in(&mut self, sense: Sample, steps: u32, reach: f64, run: &Run<'_>) {
        let wrong =
            if self.samples.len() < MEMORY { f64::INFINITY } else { self.error(&sense, run) };
        let allowed = TOLERANCE * reach;
        if wrong > allowed && steps > 1 {
            (self.stride, self.longest) = (1, steps / 2);
            return;
        }
        if wrong > allowed {
            self.stride = 1;
        } else if DOUBLED * wrong < allowed {
            self.stride = (2 * self.stride).min(self.longest);
        }
        self.due += steps;
        self.samples.push(sense);
        self.samples.drain(..self.samples.len().saturating_sub(MEMORY));
    }

    /// How far the velocities are from those foretold, on average. What differs from each vertex of a block to the
    /// next is rounding and does not count.
    fn error(&self, sense: &Sample, run: &Run<'_>) -> f64 {
        let weights = self.weights(sense.time);
        let blocks = sense.push.len();
        let squares = run.sum(blocks, |b| {
            let new = along(&in_columns(&sense.velocity[b]), 1.0, &sense.push[b]);
            let wrong = along(&new, -1.0, &self.velocity(&weights, b));
            let sum: DVec3 = (0..WIDTH).map(|i| wrong.get(i).as_dvec3()).sum();
            sum.length_squared()
        });
        (squares / blocks.max(1) as f64).sqrt() / WIDTH as f64
    }

    /// The weights of the polynomial through what was sensed, at a time.
    pub(super) fn weights(&self, t: f64) -> Weights {
        let samples = &self.samples;
        let factor =
            |i: usize, j: usize| (t - samples[j].time) / (samples[i].time - samples[j].time);
        std::array::from_fn(|i| {
            if i >= samples.len() {
                return 0.0;
            }
            let others = (0..samples.len()).filter(|&j| j != i);
            others.map(|j| factor(i, j)).product::<f64>() as f32
        })
    }

    /// The weights of the line through the last two, which exaggerates rounding less.
    pub(super) fn line(&self, t: f64) -> Weights {
        let last = self.samples.len() - 1;
        let before = last.saturating_sub(1);
        let [from, to] = [before, last].map(|k| self.samples[k].time);
        let share = if to > from { (t - from) / (to - from) } else { 1.0 };
        let mut weights = [0.0; MEMORY];
        weights[before] += (1.0 - share) as f32;
        weights[last] += share as f32;
        weights
    }

    /// The gradients and pushes of a block.
    #[inline(always)]
    pub(super) fn mixed(&self, weights: &Weights, b: usize) -> (Block, Block) {
        let mut sum = (Block::ZERO, Block::ZERO);
        for (sense, &weight) in self.samples.iter().zip(weights) {
            sum.0 = along(&sum.0, weight, &sense.gradient[b]);
            sum.1 = along(&sum.1, weight, &sense.push[b]);
        }
        sum
    }

    /// The velocities of a block.
    #[inline(always)]
    pub(super) fn velocity(&self, weights: &Weights, b: usize) -> Block {
        let mut sum = Block::ZERO;
        for (sense, &weight) in self.samples.iter().zip(weights) {
            sum = along(&sum, weight, &in_columns(&sense.velocity[b]));
            sum = along(&sum, weight, &sense.push[b]);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    fn sense(time: f64, velocity: Vec3) -> Sample {
        Sample {
            time,
            gradient: vec![Block::ZERO],
            velocity: vec![[velocity.extend(0.0); WIDTH]],
            push: vec![Block::ZERO],
        }
    }

    /// Lets the predictor sense a parabola, and something else besides from a time on.
    fn look(predictor: &mut Predictor, times: u32, besides: Vec3) {
        for _ in 0..times {
            let steps = predictor.stride();
            let t = 0.01 * (f64::from(predictor.due) + 0.5 * f64::from(steps));
            let parabola = Vec3::new(1.0, t as f32, (t * t) as f32);
            predictor.take_in(sense(t, parabola + besides), steps, 1.0, &Run::default());
        }
    }

    #[test]
    fn what_was_foretold_serves_longer_and_a_surprise_ends_it() {
        let mut predictor = Predictor::new(sense(0.0, Vec3::X), 0);
        look(&mut predictor, 8, Vec3::ZERO);
        assert_eq!(predictor.stride(), LONGEST, "a parabola is foretold");
        let weights = predictor.weights(0.5);
        let expected = Vec3::new(1.0, 0.5, 0.25);
        let found = predictor.velocity(&weights, 0).get(3);
        assert!(found.abs_diff_eq(expected, 1e-4), "{found}");

        let due = predictor.due;
        look(&mut predictor, 1, Vec3::X);
        assert_eq!((predictor.due, predictor.stride()), (due, 1), "not for four steps");
        look(&mut predictor, 1, Vec3::X);
        assert_eq!((predictor.due, predictor.stride()), (due + 1, 1), "for one");
        look(&mut predictor, 12, Vec3::X);
        assert_eq!(predictor.stride(), LONGEST / 2, "more is not tried again");
    }
}

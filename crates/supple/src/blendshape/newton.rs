//! The equilibrium: Newton's method by conjugate gradients, with a proof of where it ends.
//!
//! # Method
//!
//! Each step solves `H p = −∇E` (001 (4)) by conjugate gradients on the true curvature, preconditioned by the constant
//! matrix of the springs. Where the curvature is negative along a direction, the clamped one takes its place for this
//! step. The energy falls at each accepted step.
//!
//! A short run of conjugate gradients shows a step that is too small, by factors of three to five at a relative
//! residual of 0.1; at 0.01 it is within 20 % of Newton's. So far from the end 0.1 is enough; at the end the
//! residual goes down to 0.01, and the step found is the proof.

use glam::{DMat3, DVec3};

use super::rigid::outer;
use super::terms::Term;
use crate::Run;
use crate::run::Cancelled;
use crate::sparse::{Lane, VectorFactor};
use crate::spring::network::{Curvature, Network, Tangent};

/// Relative residual that is enough for a step far from the end, and one that proves the end.
const FAR: f64 = 0.1;
const NEAR: f64 = 0.01;

/// Conjugate gradients may show a step this part of Newton's at the residual [`NEAR`].
const SHOWN: f64 = 0.8;

/// Halvings of a step before it is given up.
const HALVINGS: usize = 30;

/// Part of the fall promised by the slope that a step must reach.
const FALL: f64 = 1e-4;

/// Energies this near to each other, relative to their size, are the same to rounding.
const SAME: f64 = 1e-13;

/// What is minimised.
pub(super) struct Problem<'a> {
    pub(super) network: &'a Network,
    pub(super) lengths: &'a [f64],
    pub(super) is_held: &'a [bool],
    pub(super) terms: &'a [Term],
    pub(super) preconditioner: &'a VectorFactor,
    /// The piece of each node that may move rigidly; `u32::MAX` for one that is held.
    pub(super) free_piece: &'a [u32],
    pub(super) free_pieces: usize,
    /// Longest Newton step at the end, in units of the shapes.
    pub(super) tolerance: f64,
    pub(super) limits: Limits,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) newton: usize,
    pub(super) gradients: usize,
}

/// How it went.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub(super) newton: usize,
    pub(super) gradients: usize,
    pub(super) clamped: usize,
    /// Longest move of a node in the last Newton step, rigid motion aside.
    pub(super) step: f64,
    pub(super) is_proved: bool,
    pub(super) energy: f64,
}

/// Memory that is used again.
#[derive(Default)]
struct Work {
    slope: Vec<DVec3>,
    tangent: Tangent,
    product: Vec<DVec3>,
    lanes: Vec<Lane>,
    direction: Vec<DVec3>,
    residual: Vec<DVec3>,
    blocks: Vec<(u32, DMat3)>,
}

/// How conjugate gradients ended.
struct Direction {
    step: Vec<DVec3>,
    longest: f64,
    relative: f64,
    iterations: usize,
    is_negative: bool,
}

impl Problem<'_> {
    /// Moves `x` to an equilibrium near it.
    pub(super) fn minimise(&self, x: &mut [DVec3], run: &Run<'_>) -> Result<Outcome, Cancelled> {
        let mut work = Work::default();
        let mut outcome =
            Outcome { energy: self.energy(x, run), step: f64::INFINITY, ..Outcome::default() };
        while outcome.newton < self.limits.newton {
            run.check()?;
            self.differentiate(x, &mut work, run);
            let mut found = self.gradients(x, &mut work, Curvature::True, run);
            outcome.gradients += found.iterations;
            let mut is_true = true;
            if found.is_negative && found.relative > FAR {
                found = self.gradients(x, &mut work, Curvature::Clamped, run);
                outcome.gradients += found.iterations;
                outcome.clamped += 1;
                is_true = false;
            }
            outcome.newton += 1;
            let (size, energy) = self.search(x, &work.slope, &found.step, outcome.energy, run);
            if size == 0.0 {
                // Nothing lower along a direction of descent: rounding, or a saddle that cannot be left this way.
                outcome.step = found.longest;
                outcome.is_proved = is_true && found.longest <= SHOWN * self.tolerance;
                break;
            }
            x.iter_mut().zip(&found.step).for_each(|(x, p)| *x += size * *p);
            outcome.energy = energy;
            outcome.step = found.longest;
            let is_end = is_true && !found.is_negative && found.relative <= NEAR;
            if is_end && found.longest <= SHOWN * self.tolerance {
                outcome.is_proved = true;
                break;
            }
        }
        Ok(outcome)
    }

    pub(super) fn energy(&self, x: &[DVec3], run: &Run<'_>) -> f64 {
        self.network.energy(x, self.lengths, run)
            + self.terms.iter().map(|t| t.energy(x)).sum::<f64>()
    }

    /// The Newton step that conjugate gradients show at a place, at the residual that counts as a proof.
    pub(super) fn shown_step(&self, x: &[DVec3], run: &Run<'_>) -> f64 {
        let mut work = Work::default();
        self.differentiate(x, &mut work, run);
        let exact = Self { tolerance: f64::INFINITY, ..*self };
        exact.gradients(x, &mut work, Curvature::True, run).longest
    }

    fn differentiate(&self, x: &[DVec3], work: &mut Work, run: &Run<'_>) {
        self.network.slope(x, self.lengths, &mut work.slope, &mut work.tangent, run);
        work.blocks.clear();
        for term in self.terms {
            let (slope, block) = term.derivatives(x);
            work.slope[term.node()] += slope;
            if block != DMat3::ZERO {
                work.blocks.push((term.node() as u32, block));
            }
        }
        self.hold(&mut work.slope);
    }

    fn hold(&self, x: &mut [DVec3]) {
        x.iter_mut()
            .zip(self.is_held)
            .filter(|(_, held)| **held)
            .for_each(|(x, _)| *x = DVec3::ZERO);
    }

    /// `E(x + t p)` lower than `E(x)` by part of what the slope promises.
    fn search(
        &self,
        x: &[DVec3],
        slope: &[DVec3],
        p: &[DVec3],
        before: f64,
        run: &Run<'_>,
    ) -> (f64, f64) {
        let fall = dot(slope, p);
        if fall >= 0.0 || !fall.is_finite() {
            return (0.0, before);
        }
        let (mut size, mut moved) = (1.0, Vec::with_capacity(x.len()));
        for _ in 0..HALVINGS {
            moved.clear();
            moved.extend(x.iter().zip(p).map(|(x, p)| *x + size * *p));
            let energy = self.energy(&moved, run);
            if energy <= before + FALL * size * fall
                || (energy <= before + SAME * before.abs() && -fall * size <= SAME * before.abs())
            {
                return (size, energy.min(before));
            }
            size *= 0.5;
        }
        (0.0, before)
    }

    /// Conjugate gradients on the curvature.
    fn gradients(
        &self,
        x: &[DVec3],
        work: &mut Work,
        which: Curvature,
        run: &Run<'_>,
    ) -> Direction {
        let n = self.network.nodes();
        let mut step = vec![DVec3::ZERO; n];
        let mut found = Direction {
            step: Vec::new(),
            longest: 0.0,
            relative: 0.0,
            iterations: 0,
            is_negative: false,
        };
        work.residual.clear();
        work.residual.extend(work.slope.iter().map(|g| -*g));
        let mut z = self.precondition(&work.residual, &mut work.lanes, run);
        let mut rz = dot(&work.residual, &z);
        let first = rz;
        if first.is_nan() || first <= 0.0 {
            found.step = step;
            return found;
        }
        work.direction.clone_from(&z);
        let mut checked_at = 0;
        while found.iterations < self.limits.gradients {
            self.network.times(&work.tangent, which, &work.direction, &mut work.product, run);
            for &(node, block) in &work.blocks {
                work.product[node as usize] += block * work.direction[node as usize];
            }
            self.hold(&mut work.product);
            let curvature = dot(&work.direction, &work.product);
            found.iterations += 1;
            if curvature.is_nan() || curvature <= 0.0 {
                found.is_negative = true;
                if found.iterations == 1 {
                    step.copy_from_slice(&work.direction);
                }
                break;
            }
            let alpha = rz / curvature;
            add(&mut step, alpha, &work.direction);
            add(&mut work.residual, -alpha, &work.product);
            z = self.precondition(&work.residual, &mut work.lanes, run);
            let next = dot(&work.residual, &z);
            found.relative = (next.max(0.0) / first).sqrt();
            if found.relative <= NEAR {
                break;
            }
            // Far from the end a rough step will do: one that is long already proves that this is not the end.
            if found.relative <= FAR && found.iterations >= checked_at {
                checked_at = found.iterations + 4;
                if self.longest(x, &step) > self.tolerance {
                    break;
                }
            }
            let beta = next / rz;
            rz = next;
            work.direction.iter_mut().zip(&z).for_each(|(p, z)| *p = *z + beta * *p);
        }
        found.longest = self.longest(x, &step);
        found.step = step;
        found
    }

    fn precondition(&self, residual: &[DVec3], lanes: &mut Vec<Lane>, run: &Run<'_>) -> Vec<DVec3> {
        precondition(self.preconditioner, residual, self.is_held, lanes, run)
    }

    /// The longest move of a node, rigid motion of free pieces aside.
    pub(super) fn longest(&self, x: &[DVec3], step: &[DVec3]) -> f64 {
        let motions = self.rigid_motions(x, step);
        let rest = x.iter().zip(step).zip(self.free_piece).map(|((x, p), piece)| {
            let rigid = motions
                .get(*piece as usize)
                .map_or(DVec3::ZERO, |m| m.moved + m.turn.cross(*x - m.about));
            (*p - rigid).length_squared()
        });
        rest.fold(0.0, f64::max).sqrt()
    }

    /// The rigid motion of each free piece that comes nearest to a step.
    fn rigid_motions(&self, x: &[DVec3], step: &[DVec3]) -> Vec<Motion> {
        let mut motions = vec![Motion::default(); self.free_pieces];
        let of_piece = || {
            x.iter()
                .zip(step)
                .zip(self.free_piece)
                .filter(|(_, p)| (**p as usize) < self.free_pieces)
        };
        let mut counts = vec![0.0; self.free_pieces];
        for ((x, p), &piece) in of_piece() {
            let motion = &mut motions[piece as usize];
            counts[piece as usize] += 1.0;
            motion.about += *x;
            motion.moved += *p;
        }
        for (motion, count) in motions.iter_mut().zip(&counts) {
            motion.about /= *count;
            motion.moved /= *count;
        }
        let mut sums = vec![(DMat3::ZERO, DVec3::ZERO); self.free_pieces];
        for ((x, p), &piece) in of_piece() {
            let motion = &motions[piece as usize];
            let y = *x - motion.about;
            let (inertia, torque) = &mut sums[piece as usize];
            *inertia += DMat3::from_diagonal(DVec3::splat(y.length_squared())) - outer(y, y);
            *torque += y.cross(*p - motion.moved);
        }
        for (motion, (inertia, torque)) in motions.iter_mut().zip(sums) {
            let turn = inertia.inverse() * torque;
            motion.turn = if turn.is_finite() { turn } else { DVec3::ZERO };
        }
        motions
    }
}

/// A small rigid motion.
#[derive(Clone, Copy, Debug, Default)]
struct Motion {
    about: DVec3,
    moved: DVec3,
    turn: DVec3,
}

/// The preconditioner's answer to a residual.
pub(super) fn precondition(
    factor: &VectorFactor,
    residual: &[DVec3],
    is_held: &[bool],
    lanes: &mut Vec<Lane>,
    run: &Run<'_>,
) -> Vec<DVec3> {
    // Single precision has a small range: the right side is scaled to one.
    let largest = residual.iter().map(|r| r.abs().max_element()).fold(0.0, f64::max);
    let scale = if largest > 0.0 { 1.0 / largest } else { 1.0 };
    lanes.clear();
    lanes.extend(residual.iter().map(|r| {
        let r = scale * *r;
        [r.x as f32, r.y as f32, r.z as f32, 0.0]
    }));
    factor.solve(lanes, run);
    let back = |(l, held): (&Lane, &bool)| match held {
        true => DVec3::ZERO,
        false => DVec3::new(f64::from(l[0]), f64::from(l[1]), f64::from(l[2])) / scale,
    };
    lanes.iter().zip(is_held).map(back).collect()
}

/// `Σ a · b`.
fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    // Four sums side by side: one would wait for each addition.
    let mut sums = [0.0; 4];
    for (a, b) in a.chunks(4).zip(b.chunks(4)) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a.dot(*b);
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// `y += t x`.
fn add(y: &mut [DVec3], t: f64, x: &[DVec3]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += t * *x);
}

//! The equilibrium: Newton's method by conjugate gradients, with a proof of where it ends.
//!
//! # Method
//!
//! Each step solves `H p = −∇E` (001 (4)) by conjugate gradients on the true curvature, preconditioned by the constant
//! matrix of the springs, or by the curvature of some blends ago ([`lagged`](super::lagged)). Where the curvature is negative
//! along a direction, the clamped one takes its place for this step. The energy falls at each accepted step.
//!
//! Compressed sheets buckle: the way to their equilibrium leads past saddles, where slopes vanish and steps along them are tiny.
//! There the direction of negative curvature is followed for as long as the energy falls.
//!
//! Thin bodies have soft modes whose curvature no preconditioner of another blend knows. What the last solves had to
//! correct lies along them: these directions are solved for exactly and kept out of the gradients (deflation).
//!
//! A short run of conjugate gradients shows a step that is too small ([`shown`]). So far from the end a relative residual of
//! 0.1 is enough; at the end it goes down until the step, made longer by what may not be shown yet, is within the
//! tolerance: that is the proof.

use glam::{DMat3, DVec3};

use super::rigid::outer;
use super::terms::Term;
use crate::Run;
use crate::run::Cancelled;
use crate::sparse::{BlockFactor, Lane, VectorFactor};
use crate::spring::network::{Curvature, Network, Tangent};

/// Relative residual that is enough for a step far from the end, and the lowest one that is asked for.
pub(super) const FAR: f64 = 0.1;
pub(super) const NEAR: f64 = 1e-3;

/// Iterations with a lagged factor after which the constant matrix takes over: the factor is of another shape.
const LAGGED_ITERATIONS: usize = 40;

/// Halvings of a step before it is given up.
const HALVINGS: usize = 30;

/// Part of the fall promised by the slope that a step must reach.
const FALL: f64 = 1e-4;

/// Energies this near to each other, relative to their size, are the same to rounding.
const SAME: f64 = 1e-13;

/// A soft direction that keeps less of its curvature than this beside the others is one of them.
const DEPENDENT: f64 = 1e-3;

/// Newton steps shorter than this, in tolerances, where the curvature is negative along a direction are next to a saddle.
const SADDLE: f64 = 1.0;

/// Doublings of a way off a saddle.
const LEAVINGS: usize = 8;

/// Steps of a solve that are tried as soft directions of the next.
const TAKEN: usize = 3;

/// What is minimised.
pub(super) struct Problem<'a> {
    pub(super) network: &'a Network,
    pub(super) lengths: &'a [f64],
    pub(super) is_held: &'a [bool],
    pub(super) terms: &'a [Term],
    pub(super) preconditioner: &'a VectorFactor,
    /// The curvature of some blends ago.
    pub(super) lagged: Option<&'a BlockFactor>,
    /// Directions that are likely soft.
    pub(super) soft: &'a [Vec<DVec3>],
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
    /// Relative residual at which a step is looked at first.
    pub(super) look_at: f64,
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
    /// Whether the lagged factor was given up.
    pub(super) is_stale: bool,
    pub(super) energy: f64,
}

/// What conjugate gradients are preconditioned by.
#[derive(Clone, Copy)]
enum By<'a> {
    Constant(&'a VectorFactor),
    Lagged(&'a BlockFactor),
}

/// The least part of Newton's step that conjugate gradients show at a relative residual: about half of the least that was
/// seen along blends of creatures with hardly a node inside and of a face (`proofs_agree_on_a_thin_body`).
fn shown(by: By<'_>, relative: f64) -> f64 {
    let seen = match by {
        By::Constant(_) => [(0.1, 1.0 / 30.0), (0.01, 1.0 / 16.0), (NEAR, 0.4)],
        By::Lagged(_) => [(0.1, 1.0 / 80.0), (0.01, 0.4), (NEAR, 0.7)],
    };
    seen.iter().rev().find(|(r, _)| relative <= *r).map_or(0.0, |(_, part)| *part)
}

/// Memory that is used again.
#[derive(Default)]
pub(super) struct Work {
    slope: Vec<DVec3>,
    tangent: Tangent,
    product: Vec<DVec3>,
    z: Vec<DVec3>,
    lanes: Vec<Lane>,
    direction: Vec<DVec3>,
    residual: Vec<DVec3>,
    blocks: Vec<(u32, DMat3)>,
    basis: Vec<Soft>,
    /// The last steps of this solve, newest first: they, too, went where it is soft.
    taken: Vec<Vec<DVec3>>,
}

/// A soft direction of unit curvature, no other of them along it, and the curvature times it.
struct Soft {
    along: Vec<DVec3>,
    product: Vec<DVec3>,
}

impl Work {
    /// Remembers a step.
    fn take(&mut self, step: Vec<DVec3>) {
        self.taken.insert(0, step);
        self.taken.truncate(TAKEN);
    }

    /// Takes the soft directions out of the direction, in the sense of the curvature.
    fn keep_out(&mut self) {
        for soft in &self.basis {
            let part = dot(&soft.product, &self.direction);
            add(&mut self.direction, -part, &soft.along);
        }
    }
}

/// How conjugate gradients ended.
struct Direction {
    step: Vec<DVec3>,
    longest: f64,
    relative: f64,
    iterations: usize,
    /// A direction along which the curvature is negative and the energy falls.
    falling: Option<Vec<DVec3>>,
    /// The tolerance is met by the step, made longer by what may not be shown yet.
    is_end: bool,
}

impl Problem<'_> {
    /// Moves `x` to an equilibrium near it.
    pub(super) fn minimise(&self, x: &mut [DVec3], run: &Run<'_>) -> Result<Outcome, Cancelled> {
        self.go_on(x, (Outcome::default(), &mut Work::default()), run)
    }

    /// Goes on from where an earlier call stopped, for as many Newton steps more as the limits allow.
    pub(super) fn go_on(
        &self,
        x: &mut [DVec3],
        (mut outcome, work): (Outcome, &mut Work),
        run: &Run<'_>,
    ) -> Result<Outcome, Cancelled> {
        let mut by = self.lagged.map_or(By::Constant(self.preconditioner), By::Lagged);
        (outcome.energy, outcome.step) = (self.energy(x, run), f64::INFINITY);
        let last = outcome.newton + self.limits.newton;
        while outcome.newton < last {
            run.check()?;
            self.differentiate(x, work, run);
            let mut found = self.gradients(x, work, (Curvature::True, by), run);
            outcome.gradients += found.iterations;
            if matches!(by, By::Lagged(_)) && found.iterations >= LAGGED_ITERATIONS {
                (by, outcome.is_stale) = (By::Constant(self.preconditioner), true);
            }
            let falling = found.falling.take();
            let is_true = falling.is_none() || found.relative <= FAR;
            if !is_true {
                found = self.gradients(x, work, (Curvature::Clamped, by), run);
                outcome.gradients += found.iterations;
                outcome.clamped += 1;
            }
            outcome.newton += 1;
            outcome.step = found.longest;
            let (mut size, energy) = self.search(x, &work.slope, &found.step, outcome.energy, run);
            let is_end = falling.is_none() && found.is_end;
            // Nothing lower along a direction of descent: rounding, or a saddle that cannot be left this way.
            if size > 0.0 {
                add(x, size, &found.step);
                outcome.energy = energy;
                work.take(found.step);
            }
            if let Some(falling) = falling
                && outcome.step <= SADDLE * self.tolerance
            {
                let (way, energy) = self.leave(x, &falling, outcome.energy, run);
                if way > 0.0 {
                    add(x, way, &falling);
                    outcome.energy = energy;
                    work.take(falling.iter().map(|p| way * *p).collect());
                    size = 1.0;
                }
            }
            if is_end || size == 0.0 {
                outcome.is_proved = is_end;
                break;
            }
        }
        Ok(outcome)
    }

    /// How far to go along a direction of negative curvature, and the energy there. Steps that follow the slope leave a saddle by a
    /// constant factor each, dozens of them; the energy tells how far it falls.
    fn leave(&self, x: &[DVec3], falling: &[DVec3], before: f64, run: &Run<'_>) -> (f64, f64) {
        let longest = self.longest(x, falling);
        if longest.is_nan() || longest <= 0.0 {
            return (0.0, before);
        }
        let mut moved = Vec::with_capacity(x.len());
        let mut energy_at = |way: f64| {
            moved.clear();
            moved.extend(x.iter().zip(falling).map(|(x, p)| *x + way * *p));
            self.energy(&moved, run)
        };
        let mut best = (0.0, before);
        let mut way = SADDLE * self.tolerance / longest;
        let first = energy_at(way);
        let grows = first < before;
        if grows {
            best = (way, first);
        }
        for _ in 0..LEAVINGS {
            way *= if grows { 2.0 } else { 0.25 };
            let energy = energy_at(way);
            // NaN is not lower.
            if energy < best.1 {
                best = (way, energy);
            } else if grows {
                break;
            }
            if !grows && best.0 > 0.0 {
                break;
            }
        }
        best
    }

    pub(super) fn energy(&self, x: &[DVec3], run: &Run<'_>) -> f64 {
        self.network.energy(x, self.lengths, run)
            + self.terms.iter().map(|t| t.energy(x)).sum::<f64>()
    }

    /// The longest move of the Newton step at a place, as conjugate gradients show it at the first look, and a bound of it.
    pub(super) fn shown_step(&self, x: &[DVec3], run: &Run<'_>) -> [f64; 2] {
        let mut work = Work::default();
        self.differentiate(x, &mut work, run);
        let by = self.lagged.map_or(By::Constant(self.preconditioner), By::Lagged);
        let once = Self { tolerance: 0.0, ..*self };
        let found = once.gradients(x, &mut work, (Curvature::True, by), run);
        [found.longest, found.longest / shown(by, found.relative)]
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
        (which, by): (Curvature, By<'_>),
        run: &Run<'_>,
    ) -> Direction {
        let mut found = Direction {
            step: vec![DVec3::ZERO; self.network.nodes()],
            longest: 0.0,
            relative: 1.0,
            iterations: 0,
            falling: None,
            is_end: false,
        };
        work.residual.clear();
        work.residual.extend(work.slope.iter().map(|g| -*g));
        let known = self.deflate(which, work, &mut found.step, run);
        self.precondition(by, work, run);
        let mut rz = dot(&work.residual, &work.z);
        let first = rz + known;
        if first.is_nan() || first <= 0.0 {
            found.is_end = first == 0.0;
            return found;
        }
        // What was deflated leaves the rest of the residual as it is, and may leave nothing.
        if rz <= 0.0 {
            found.relative = 0.0;
            found.longest = self.longest(x, &found.step);
            found.is_end = found.longest <= shown(by, 0.0) * self.tolerance;
            return found;
        }
        work.direction.clone_from(&work.z);
        work.keep_out();
        let (most, every) = match by {
            By::Constant(_) => (self.limits.gradients, 4),
            By::Lagged(_) => (LAGGED_ITERATIONS, 1),
        };
        let mut checked_at = 0;
        while found.iterations < most {
            self.times(which, work, run);
            let curvature = dot(&work.direction, &work.product);
            found.iterations += 1;
            if curvature.is_nan() || curvature <= 0.0 {
                found.falling = Some(work.direction.clone());
                if found.iterations == 1 {
                    found.step.copy_from_slice(&work.direction);
                }
                break;
            }
            let alpha = rz / curvature;
            add(&mut found.step, alpha, &work.direction);
            add(&mut work.residual, -alpha, &work.product);
            self.precondition(by, work, run);
            let next = dot(&work.residual, &work.z);
            found.relative = (next.max(0.0) / first).sqrt();
            // Far from the end a rough step will do: one that is long already proves that this is not the end.
            let is_checked =
                found.relative <= self.limits.look_at && found.iterations >= checked_at;
            if is_checked || found.relative <= NEAR {
                checked_at = found.iterations + every;
                found.longest = self.longest(x, &found.step);
                found.is_end = found.longest <= shown(by, found.relative) * self.tolerance;
                let is_far = found.longest > shown(by, NEAR) * self.tolerance;
                if found.is_end || is_far || found.relative <= NEAR {
                    return found;
                }
            }
            let beta = next / rz;
            rz = next;
            work.direction.iter_mut().zip(&work.z).for_each(|(p, z)| *p = *z + beta * *p);
            work.keep_out();
        }
        found.longest = self.longest(x, &found.step);
        found
    }

    /// The curvature times the direction.
    fn times(&self, which: Curvature, work: &mut Work, run: &Run<'_>) {
        self.network.times(&work.tangent, which, &work.direction, &mut work.product, run);
        for &(node, block) in &work.blocks {
            work.product[node as usize] += block * work.direction[node as usize];
        }
        self.hold(&mut work.product);
    }

    /// Solves along the soft directions, takes that out of the residual, and says how much of its size it was.
    fn deflate(&self, which: Curvature, work: &mut Work, step: &mut [DVec3], run: &Run<'_>) -> f64 {
        work.basis.clear();
        let mut known = 0.0;
        let taken = std::mem::take(&mut work.taken);
        for soft in self.soft.iter().chain(&taken) {
            work.direction.clone_from(soft);
            self.hold(&mut work.direction);
            self.times(which, work, run);
            let before = dot(&work.direction, &work.product);
            for other in &work.basis {
                let part = dot(&other.along, &work.product);
                add(&mut work.direction, -part, &other.along);
                add(&mut work.product, -part, &other.product);
            }
            let curvature = dot(&work.direction, &work.product);
            // A direction that others hold already, or that is not soft but falling.
            if curvature.is_nan() || curvature <= DEPENDENT * before || before <= 0.0 {
                continue;
            }
            let size = 1.0 / curvature.sqrt();
            let scaled = |v: &[DVec3]| v.iter().map(|x| size * *x).collect::<Vec<_>>();
            let own = Soft { along: scaled(&work.direction), product: scaled(&work.product) };
            let share = dot(&own.along, &work.residual);
            add(step, share, &own.along);
            add(&mut work.residual, -share, &own.product);
            known += share * share;
            work.basis.push(own);
        }
        work.taken = taken;
        known
    }

    /// The preconditioner's answer to the residual.
    fn precondition(&self, by: By<'_>, work: &mut Work, run: &Run<'_>) {
        let scale = scale_of(&work.residual);
        match by {
            By::Constant(factor) => {
                factor.solve_vectors(&work.residual, scale, (&mut work.lanes, &mut work.z), run);
            }
            By::Lagged(factor) => factor.solve(&work.residual, scale, &mut work.z, run),
        }
        self.hold(&mut work.z);
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
    fn rigid_motions(&self, x: &[DVec3], step: &[DVec3]) -> Vec<RigidStep> {
        let mut motions = vec![RigidStep::default(); self.free_pieces];
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
struct RigidStep {
    about: DVec3,
    moved: DVec3,
    turn: DVec3,
}

/// Single precision has a small range: right sides are scaled to one.
pub(super) fn scale_of(residual: &[DVec3]) -> f64 {
    let largest = residual.iter().map(|r| r.abs().max_element()).fold(0.0, f64::max);
    if largest > 0.0 { 1.0 / largest } else { 1.0 }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::{Analysis, Matrix};

    /// Two springs in a line, compressed: next to the line steps grow by a fifth each, which would take 74 of them.
    #[test]
    fn saddles_are_left() {
        let network = Network::new(3, vec![[0, 1], [1, 2]], vec![1.0; 2]);
        let numbers = [(0, 0, 1.0), (1, 1, 2.0), (2, 2, 1.0)].map(crate::sparse::Entry::from);
        let matrix = Matrix::new(3, &numbers).unwrap();
        let factor = Analysis::new(&matrix, &[0, 1, 2]).unwrap().factorise(&matrix).unwrap();
        let problem = Problem {
            network: &network,
            lengths: &[1.2; 2],
            is_held: &[true, false, true],
            terms: &[],
            preconditioner: &factor.vectors(),
            lagged: None,
            soft: &[],
            free_piece: &[u32::MAX; 3],
            free_pieces: 0,
            tolerance: 1e-4,
            limits: Limits { newton: 60, gradients: 400, look_at: FAR },
        };
        let mut x = [-DVec3::X, 1e-6 * DVec3::Y, DVec3::X];
        let outcome = problem.minimise(&mut x, &Run::default()).unwrap();
        // About the line it may turn freely, so that no step is proved to be the last.
        assert!(outcome.energy < 1e-9 && outcome.newton < 40, "{outcome:?}");
        assert!((x[1].length() - 0.44_f64.sqrt()).abs() < 1e-3, "{}", x[1]);
    }
}

//! One blend: lengths, a start, the equilibrium, and the rigid motion put back.

use glam::{DMat3, DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::anchor::Motion;
use super::lagged::{AGE, Taken};
use super::newton::{FAR, Limits, Outcome, Problem, Work, scale_of};
use super::prepare::{Solver, Target};
use super::rigid::{Rigid, screwed};
use super::rotations::{
    Weighed, blended_turns, rotation, turned_another_way, turns_from_heaviest, wanted,
};
use super::{Error, Mode, weights};
use crate::Run;

/// Blends that are remembered.
const REMEMBERED: usize = 3;

/// Corrections that are remembered: likely soft directions of the next solve.
const CORRECTED: usize = 4;

/// Weights this near to a line count as on it, relative to the step.
const ON_A_LINE: f64 = 1e-6;

/// A blend.
#[derive(Clone, Debug, PartialEq)]
pub struct Blend {
    /// Where the vertices are.
    pub positions: Vec<Vec3>,
    /// How it went.
    pub report: Report,
}

/// Where a solve started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// There was nothing to solve: the base, or one target at weight one.
    #[default]
    Exact,
    /// From interpolated rotations.
    Predictor,
    /// From interpolated rotations and what they missed in the last solves.
    History,
}

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Where it started; of several equilibria the one next to it is taken.
    pub start: Start,
    /// Newton steps.
    pub newton_steps: usize,
    /// Conjugate gradients in all of them.
    pub gradient_steps: usize,
    /// Newton steps that needed the clamped curvature.
    pub clamped_steps: usize,
    /// Longest move of a vertex in the last Newton step, in diagonals: a bound of what is left.
    pub last_step_rel_diagonal: f64,
    /// Whether the last step was short enough, and found exactly enough, to prove the equilibrium.
    pub is_proved: bool,
    /// Energy of the springs.
    pub energy: f64,
    /// Tets that are inside out.
    pub inverted_tets: usize,
    /// Springs whose length was bent off to stay positive.
    pub bent_off: usize,
    /// Weights outside 0 to 1.
    pub beyond: usize,
    /// Vertices that touch an obstacle.
    pub contacts: usize,
    /// How deep the deepest one is in it, in diagonals.
    pub depth_rel_diagonal: f64,
    /// Rounds of laying planes.
    pub rounds: usize,
}

/// The last solves: the next one starts from them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// Newest first.
    entries: Vec<Entry>,
    /// The nodes of the newest, in the frame of the base.
    last: Vec<Vec3>,
    /// Where the curvature was taken that the next solve may use.
    pub(super) lagged: Option<Taken>,
    /// What the last solves had to correct, newest first, in the turned frame of each node.
    corrected: Vec<Vec<Vec3>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    weights: Vec<f64>,
    /// What the predictor missed, in the turned frame of each node.
    missed: Vec<Vec3>,
}

/// A straight way from one blend to another.
pub(super) struct Straight<'a> {
    solver: &'a Solver,
    /// How far each target goes.
    ways: Vec<f64>,
}

impl Straight<'_> {
    /// How far it takes a vertex.
    pub(super) fn at(&self, v: usize) -> DVec3 {
        let Some((base, targets)) = self.solver.given.split_first() else { return DVec3::ZERO };
        let way = |(w, t): (&f64, &Vec<Vec3>)| *w * (t[v] - base[v]).as_dvec3();
        let moves = self.ways.iter().zip(targets).filter(|(w, _)| **w != 0.0);
        moves.map(way).sum()
    }
}

impl History {
    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Bytes it holds.
    #[must_use]
    pub fn size(&self) -> usize {
        let entry = |e: &Entry| 12 * e.missed.len() + 8 * e.weights.len();
        let lagged = self.lagged.as_ref().map_or(0, |l| 12 * l.at.len() + 8 * l.weights.len());
        let corrected = 12 * self.corrected.iter().map(Vec::len).sum::<usize>();
        self.entries.iter().map(entry).sum::<usize>() + 12 * self.last.len() + lagged + corrected
    }

    /// Shares of the newest remembered blends in a polynomial through them, at new weights.
    fn shares(&self, weights: &[f64], newest: usize) -> Vec<f64> {
        let Some(last) = self.entries.first() else { return Vec::new() };
        let way = |from: &[f64]| -> Vec<f64> {
            from.iter().zip(&last.weights).map(|(a, b)| a - b).collect()
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let forward = way(weights);
        let size = dot(&forward, &forward);
        let mut places = vec![0.0];
        for entry in self.entries.iter().take(newest).skip(1) {
            let back = way(&entry.weights);
            let place = dot(&back, &forward) / size;
            let off: f64 = back.iter().zip(&forward).map(|(b, f)| (b - place * f).powi(2)).sum();
            // Places far apart or very near each other would be extrapolated wildly.
            let is_useful = place.is_finite()
                && off <= ON_A_LINE * size
                && (-4.0..=-0.25).contains(&(place - places[places.len() - 1]));
            if !is_useful {
                break;
            }
            places.push(place);
        }
        let share = |i: usize| {
            let others = (0..places.len()).filter(|&j| j != i);
            others.map(|j| (1.0 - places[j]) / (places[i] - places[j])).product()
        };
        (0..places.len()).map(share).collect()
    }
}

/// What the last solves had to correct, as seen from here.
fn soft_directions(frame: &Frame, history: &History) -> Vec<Vec<DVec3>> {
    let fits = |c: &&Vec<Vec3>| c.len() == frame.turns.len();
    let turned = |c: &Vec<Vec3>| {
        frame.turns.iter().zip(c).map(|(turn, x)| *turn * x.as_dvec3()).collect::<Vec<_>>()
    };
    history.corrected.iter().filter(fits).map(turned).collect()
}

/// Remembers what a solve had to correct.
fn correct(frame: &Frame, (begun, x): (&[DVec3], &[DVec3]), history: &mut History) {
    let moved = |i: usize| (frame.turns[i].transpose() * (x[i] - begun[i])).as_vec3();
    history.corrected.insert(0, (0..x.len()).map(moved).collect());
    history.corrected.truncate(CORRECTED);
}

/// The state between the start and the end of a solve, in the frame of the base.
pub(super) struct Frame {
    pub(super) shares: Vec<f64>,
    pub(super) lengths: Vec<f64>,
    pub(super) turns: Vec<DMat3>,
    pub(super) predicted: Vec<DVec3>,
    pub(super) bent_off: usize,
}

/// A blend that nothing touches yet.
pub(super) struct Free {
    pub(super) blend: Blend,
    pub(super) frame: Frame,
    pub(super) x: Vec<DVec3>,
}

impl Solver {
    /// The blend for one weight a target, the base not counted; starts from and adds to `history`.
    ///
    /// # Errors
    ///
    /// [`Error::OtherWeights`], [`Error::WeightNotFinite`], [`Error::WeightTooLarge`], [`Error::Cancelled`]. Not reaching the tolerance is no error:
    /// the report says so.
    pub fn solve(
        &self,
        weights: &[f64],
        history: &mut History,
        run: &Run<'_>,
    ) -> Result<Blend, Error> {
        self.check_weights(weights)?;
        let beyond = weights.iter().filter(|w| !(0.0..=1.0).contains(*w)).count();
        let shares = weights::of_shapes(weights, &self.combinations);
        if let Some(positions) = self.exact(&shares) {
            let report = Report { is_proved: true, beyond, ..Report::default() };
            return Ok(Blend { positions, report });
        }
        run.install(|| {
            let (frame, x, report) = self.nodes(shares, weights, history, run)?;
            let positions = self.surface(&self.placed(&frame.shares, &x))?;
            Ok(Blend { positions, report: Report { beyond, ..report } })
        })
    }

    /// All nodes of a blend in the frame of the base.
    fn nodes(
        &self,
        shares: Vec<f64>,
        weights: &[f64],
        history: &mut History,
        run: &Run<'_>,
    ) -> Result<(Frame, Vec<DVec3>, Report), Error> {
        let frame = self.frame(shares, run);
        let (x, report) = match self.params.mode {
            Mode::Rotations => {
                let start = Start::Predictor;
                (frame.predicted.clone(), Report { start, is_proved: true, ..Report::default() })
            }
            Mode::Springs => self.equilibrium(&frame, weights, history, run)?,
        };
        let inverted_tets = self.body.inverted(&x);
        let bent_off = frame.bent_off;
        Ok((frame, x, Report { bent_off, inverted_tets, ..report }))
    }

    /// A blend with all its nodes, for what may touch it.
    pub(super) fn free_blend(
        &self,
        weights: &[f64],
        history: &mut History,
        run: &Run<'_>,
    ) -> Result<Free, Error> {
        let beyond = weights.iter().filter(|w| !(0.0..=1.0).contains(*w)).count();
        let shares = weights::of_shapes(weights, &self.combinations);
        let exact = self.exact(&shares);
        let (frame, x, report) = self.nodes(shares, weights, history, run)?;
        let x = self.placed(&frame.shares, &x);
        let positions = exact.map_or_else(|| self.surface(&x), Ok)?;
        Ok(Free { blend: Blend { positions, report: Report { beyond, ..report } }, frame, x })
    }

    pub(super) fn check_weights(&self, weights: &[f64]) -> Result<(), Error> {
        let expected = self.weights();
        if weights.len() != expected {
            return Err(Error::OtherWeights {
                found: weights.len(),
                expected,
                what: "targets (the base is not counted)",
            });
        }
        weights::check(weights)
    }

    /// What lies between two blends if every target is a straight line; nothing for weights that are none.
    pub(super) fn straight(&self, from: &[f64], to: &[f64]) -> Straight<'_> {
        let is_known = [from, to].into_iter().all(|w| self.check_weights(w).is_ok());
        let shares = |w: &[f64]| weights::of_shapes(w, &self.combinations);
        let way = |(a, b): (f64, f64)| b - a;
        let ways = || shares(from).into_iter().zip(shares(to)).map(way).collect();
        Straight { solver: self, ways: if is_known { ways() } else { Vec::new() } }
    }

    /// The base, or a single target at weight one.
    fn exact(&self, shares: &[f64]) -> Option<Vec<Vec3>> {
        let mut used = shares.iter().enumerate().filter(|(_, w)| **w != 0.0);
        match (used.next(), used.next()) {
            (None, _) => Some(self.given[0].clone()),
            (Some((t, w)), None) if *w == 1.0 => Some(self.given[t + 1].clone()),
            _ => None,
        }
    }

    /// Lengths and prediction.
    pub(super) fn frame(&self, shares: Vec<f64>, run: &Run<'_>) -> Frame {
        let (lengths, bent_off) = self.lengths(&shares);
        let weighed: Vec<Weighed<'_>> = shares
            .iter()
            .zip(&self.targets)
            .filter(|(w, _)| **w != 0.0)
            .map(|(&weight, t)| Weighed { weight, positions: &t.positions, omega: &t.omega })
            .collect();
        let (network, nodes) = (&self.body.network, self.body.base.len());
        let turns = blended_turns(nodes, &weighed, run);
        let set = (self.params.mode == Mode::Springs).then_some(&*lengths);
        let predicted = self.predicted(&shares, &weighed, (&turns, set), run);
        // Where rotations can be blended by two ways, the springs know which is meant.
        if let Some(other) = turns_from_heaviest(nodes, &weighed, &turns, run) {
            let also = self.predicted(&shares, &weighed, (&other, set), run);
            if network.energy(&also, &lengths, run) < network.energy(&predicted, &lengths, run) {
                return Frame { shares, lengths, turns: other, predicted: also, bent_off };
            }
        }
        Frame { shares, lengths, turns, predicted, bent_off }
    }

    /// Positions whose differences come nearest to turned ones, of blended length where it is given.
    fn predicted(
        &self,
        shares: &[f64],
        weighed: &[Weighed<'_>],
        (turns, lengths): (&[DMat3], Option<&[f64]>),
        run: &Run<'_>,
    ) -> Vec<DVec3> {
        let (network, base) = (&self.body.network, &self.body.base);
        let wanted = wanted(network, base, weighed, turns, lengths, run);
        let mut x: Vec<DVec3> = (0..base.len())
            .map(|i| {
                base[i]
                    + weighed.iter().map(|t| t.weight * (t.positions[i] - base[i])).sum::<DVec3>()
            })
            .collect();
        self.move_anchors(shares, &mut x);
        // The second round takes away what single precision left.
        let (mut lanes, mut step) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let mut residual = wanted.clone();
            for (&[i, j], k) in network.ends().iter().zip(network.stiffness()) {
                let (i, j) = (i as usize, j as usize);
                let pull = *k * (x[i] - x[j]);
                residual[i] -= pull;
                residual[j] += pull;
            }
            residual
                .iter_mut()
                .zip(&self.is_held)
                .filter(|(_, h)| **h)
                .for_each(|(r, _)| *r = DVec3::ZERO);
            let scale = scale_of(&residual);
            self.preconditioner.solve_vectors(&residual, scale, (&mut lanes, &mut step), run);
            let moves = x.iter_mut().zip(&step).zip(&self.is_held).filter(|(_, held)| !**held);
            moves.for_each(|((x, p), _)| *x += *p);
        }
        x
    }

    /// The blended motion of an anchor.
    fn anchor_motion(&self, anchor: usize, shares: &[f64]) -> Motion {
        self.blended_motion(shares, |t| t.anchors[anchor]).0
    }

    /// Motions to the targets blended, and whether they turn another way than the sum of their rotation vectors.
    fn blended_motion(&self, shares: &[f64], of: impl Fn(&Target) -> Motion) -> (Motion, bool) {
        let used = shares.iter().zip(&self.targets).filter(|(w, _)| **w != 0.0);
        let motions = used.map(|(w, t)| (*w, of(t)));
        let turned = motions.clone().map(|(w, [omega, _])| (w, omega));
        let way = motions.map(|(w, [_, way])| w * way).sum();
        let another = turned_another_way(turned.clone());
        let omega = another.unwrap_or_else(|| turned.map(|(w, omega)| w * omega).sum());
        ([omega, way], another.is_some())
    }

    /// Puts anchors where their blended motion has them, seen from the first, which stays.
    fn move_anchors(&self, shares: &[f64], x: &mut [DVec3]) {
        for (a, anchor) in self.anchors.iter().enumerate() {
            let (turn, from, to) = anchor.map(self.anchor_motion(a, shares));
            for &i in &anchor.corners {
                let base = self.body.base[i as usize];
                x[i as usize] = if a == 0 { base } else { turn * (base - from) + to };
            }
        }
    }

    /// `r⁰ + Σ w (r − r⁰)`, bent off where it would come near zero: 001 (1).
    pub(super) fn lengths(&self, shares: &[f64]) -> (Vec<f64>, usize) {
        let mut lengths = self.rest.clone();
        for (&w, target) in shares.iter().zip(&self.targets).filter(|(w, _)| **w != 0.0) {
            for (&s, longer) in target.springs.iter().zip(&target.longer) {
                lengths[s as usize] += w * longer;
            }
        }
        let mut bent_off = 0;
        for ((length, &rest), &short) in lengths.iter_mut().zip(&self.rest).zip(&self.short) {
            let short = f64::from(short);
            if *length < short * rest {
                *length = rest * weights::bent_off(*length / rest, short);
                bent_off += 1;
            }
        }
        (lengths, bent_off)
    }

    /// Newton's method from the best start at hand.
    pub(super) fn equilibrium(
        &self,
        frame: &Frame,
        weights: &[f64],
        history: &mut History,
        run: &Run<'_>,
    ) -> Result<(Vec<DVec3>, Report), Error> {
        let mut problem = self.problem(&frame.lengths, &[]);
        let (mut x, start) = self.start(frame, weights, history, run);
        // Weights that jumped are far from where the curvature was taken.
        if start == Start::Predictor {
            history.lagged = None;
        }
        let lagged = history.lagged.as_ref().and_then(|taken| self.lagged(taken, run));
        problem.lagged = lagged.as_deref();
        let begun = x.clone();
        if start == Start::Predictor {
            history.corrected.clear();
        }
        let soft = soft_directions(frame, history);
        problem.soft = &soft;
        let next = (start == Start::History).then(|| self.next_taken(history)).flatten();
        let outcome = if start == Start::Predictor && self.is_lagging() {
            let (outcome, taken) = self.jump(&problem, weights, &mut x, run)?;
            history.lagged = taken;
            outcome
        } else {
            let (outcome, _) = run.join(
                || problem.minimise(&mut x, run),
                || next.as_ref().map(|taken| self.lagged(taken, run)),
            );
            outcome?
        };
        if start == Start::History {
            correct(frame, (&begun[..], &x[..]), history);
        }
        self.remember(frame, weights, &mut x, history);
        history.lagged = match (next, history.lagged.take()) {
            (None, Some(taken)) => {
                let age = if outcome.is_stale { AGE } else { taken.age + 1 };
                Some(Taken { age, ..taken })
            }
            (next, _) => next,
        };
        Ok((x, self.report(start, &outcome)))
    }

    /// From the prediction alone: after a step that the constant matrix does well, the curvature is factorised beside the next.
    fn jump(
        &self,
        problem: &Problem<'_>,
        weights: &[f64],
        x: &mut [DVec3],
        run: &Run<'_>,
    ) -> Result<(Outcome, Option<Taken>), Error> {
        let mut work = Work::default();
        let one = Problem { limits: Limits { newton: 1, ..problem.limits }, ..*problem };
        let first = one.go_on(x, (Outcome::default(), &mut work), run)?;
        if first.is_proved {
            return Ok((first, None));
        }
        let at = x.iter().map(|x| x.as_vec3()).collect();
        let taken = Taken { weights: weights.to_vec(), at, age: 0 };
        let (second, lagged) =
            run.join(|| one.go_on(x, (first, &mut work), run), || self.lagged(&taken, run));
        let second = second?;
        if second.is_proved {
            return Ok((second, Some(taken)));
        }
        let newton = problem.limits.newton.saturating_sub(second.newton);
        let limits = Limits { newton, ..problem.limits };
        let rest = Problem { lagged: lagged.as_deref(), limits, ..*problem };
        Ok((rest.go_on(x, (second, &mut work), run)?, Some(taken)))
    }

    /// The prediction, or what the last solves make of it, whichever has the lower energy.
    pub(super) fn start(
        &self,
        frame: &Frame,
        weights: &[f64],
        history: &History,
        run: &Run<'_>,
    ) -> (Vec<DVec3>, Start) {
        let problem = self.problem(&frame.lengths, &[]);
        let mut best = (frame.predicted.clone(), Start::Predictor);
        let mut lowest = problem.energy(&best.0, run);
        // More blends follow bends of the way, fewer carry less of what the last solves left: the energy decides.
        for newest in 1..=history.entries.len() {
            let Some(guess) = self.recalled(frame, weights, (history, newest)) else { break };
            let energy = problem.energy(&guess, run);
            if energy < lowest {
                (best, lowest) = ((guess, Start::History), energy);
            }
        }
        best
    }

    /// Where the curvature is to be taken beside this solve, if the last one is old.
    fn next_taken(&self, history: &History) -> Option<Taken> {
        let is_old = history.lagged.as_ref().is_none_or(|taken| taken.age + 1 >= AGE);
        let last = history.entries.first()?;
        (is_old && self.is_lagging()).then(|| Taken {
            weights: last.weights.clone(),
            at: history.last.clone(),
            age: 0,
        })
    }

    pub(super) fn problem<'a>(
        &'a self,
        lengths: &'a [f64],
        terms: &'a [super::terms::Term],
    ) -> Problem<'a> {
        Problem {
            network: &self.body.network,
            lengths,
            is_held: &self.is_held,
            terms,
            preconditioner: &self.preconditioner,
            lagged: None,
            soft: &[],
            free_piece: &self.free_piece,
            free_pieces: self.free.len(),
            tolerance: self.params.tolerance_rel_diagonal * self.diagonal,
            limits: Limits {
                newton: self.params.max_newton_steps as usize,
                gradients: self.params.max_gradient_steps as usize,
                look_at: FAR,
            },
        }
    }

    fn report(&self, start: Start, outcome: &Outcome) -> Report {
        Report {
            start,
            newton_steps: outcome.newton,
            gradient_steps: outcome.gradients,
            clamped_steps: outcome.clamped,
            last_step_rel_diagonal: outcome.step / self.diagonal,
            is_proved: outcome.is_proved,
            energy: outcome.energy,
            ..Report::default()
        }
    }

    /// The prediction, and what it will miss according to the last solves.
    fn recalled(
        &self,
        frame: &Frame,
        weights: &[f64],
        (history, newest): (&History, usize),
    ) -> Option<Vec<DVec3>> {
        let fits =
            |e: &Entry| e.weights.len() == weights.len() && e.missed.len() == frame.predicted.len();
        if !history.entries.iter().all(fits) {
            return None;
        }
        let shares = history.shares(weights, newest);
        if shares.len() < newest || shares.iter().any(|s| !s.is_finite()) {
            return None;
        }
        let guess = |i: usize| {
            let missed: DVec3 =
                shares.iter().zip(&history.entries).map(|(s, e)| *s * e.missed[i].as_dvec3()).sum();
            frame.predicted[i] + frame.turns[i] * missed
        };
        Some((0..frame.predicted.len()).map(guess).collect())
    }

    /// Lays free pieces onto the prediction, and keeps what it missed.
    fn remember(&self, frame: &Frame, weights: &[f64], x: &mut [DVec3], history: &mut History) {
        for (f, _) in self.free.iter().enumerate() {
            let nodes = || (0..x.len()).filter(|&i| self.free_piece[i] as usize == f);
            let fit = Rigid::fit(nodes().map(|i| (x[i], frame.predicted[i])));
            (0..x.len())
                .filter(|&i| self.free_piece[i] as usize == f)
                .for_each(|i| x[i] = fit.apply(x[i]));
        }
        let missed =
            |i: usize| (frame.turns[i].transpose() * (x[i] - frame.predicted[i])).as_vec3();
        let entry = Entry { weights: weights.to_vec(), missed: (0..x.len()).map(missed).collect() };
        history.entries.retain(|e| e.weights != entry.weights);
        history.entries.insert(0, entry);
        history.entries.truncate(REMEMBERED);
        history.last = x.iter().map(|x| x.as_vec3()).collect();
    }

    /// Gives free pieces their rigid motion: that of their anchor, the centre's way and the rotation each blended; beside
    /// what is held, as a screw: teeth stay in a jaw that opens.
    pub(super) fn placed(&self, shares: &[f64], x: &[DVec3]) -> Vec<DVec3> {
        let mut placed = x.to_vec();
        for (f, piece) in self.free.iter().enumerate() {
            let fit = Rigid::fit(
                piece.anchor.iter().map(|&i| (x[i as usize], self.body.base[i as usize])),
            );
            let [omega, way] = self.piece_motion(f, shares);
            let (turn, to) = (rotation(omega), piece.centre + way);
            let of_piece =
                placed.iter_mut().zip(&self.free_piece).filter(|(_, p)| **p as usize == f);
            of_piece.for_each(|(x, _)| *x = turn * (fit.apply(*x) - piece.centre) + to);
        }
        if let Some(first) = self.anchors.first() {
            let (turn, from, to) = first.map(self.anchor_motion(0, shares));
            let held =
                placed.iter_mut().zip(&self.free_piece).filter(|(_, piece)| **piece == u32::MAX);
            held.for_each(|(x, _)| *x = turn * (*x - from) + to);
        }
        placed
    }

    /// The rigid motion of a free piece in a blend.
    fn piece_motion(&self, piece: usize, shares: &[f64]) -> Motion {
        let (motion, is_another_way) = self.blended_motion(shares, |t| t.motion[piece]);
        if !self.is_jointed {
            return motion;
        }
        // No screw leads there from the base.
        if is_another_way {
            let gone = |t: &Target| {
                let [omega, drift] = t.motion[piece];
                [omega, screwed(omega, drift)]
            };
            return self.blended_motion(shares, gone).0;
        }
        [motion[0], screwed(motion[0], motion[1])]
    }

    pub(super) fn surface(&self, x: &[DVec3]) -> Result<Vec<Vec3>, Error> {
        let positions: Vec<Vec3> =
            self.body.node_of.iter().map(|&node| x[node as usize].as_vec3()).collect();
        match positions.iter().position(|p| !p.is_finite()) {
            Some(vertex) => Err(Error::TooFar { vertex }),
            None => Ok(positions),
        }
    }
}

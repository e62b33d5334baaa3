//! Plain Newton with fresh factors: slower, and the judge of the solver.
//!
//! Each step factorises the curvature itself (the clamped one on a bad pivot) and searches along the step.

use glam::DVec3;

use super::newton::{FAR, NEAR};
use super::prepare::Solver;
use super::{Error, History, weights};
use crate::Run;
use crate::mesh::measure::Bounds;
use crate::sparse::{Analysis, Entry, Matrix, dissection};
use crate::spring::network::{Curvature, Tangent};
use glam::Vec3;

/// Added to the diagonal, in parts of its mean: rigid motions have no curvature.
const SLACK: f64 = 1e-7;

/// What plain Newton found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Where the vertices are.
    pub positions: Vec<Vec3>,
    /// Newton steps.
    pub steps: usize,
    /// Longest move of the last one, in diagonals.
    pub last_step_rel_diagonal: f64,
}

/// The equilibrium for weights, from the solver's own start with this history, down to steps of `tolerance_rel_diagonal`.
///
/// # Errors
///
/// As [`Solver::solve`].
pub fn newton(
    solver: &Solver,
    weights: &[f64],
    (history, tolerance_rel_diagonal): (&History, f64),
    run: &Run<'_>,
) -> Result<Found, Error> {
    let shares = weights::of_shapes(weights, &solver.combinations);
    let frame = solver.frame(shares, run);
    let (mut x, _) = solver.start(&frame, weights, history, run);
    let analysis = Prepared::new(solver, run)?;
    let (mut steps, mut last) = (0, f64::INFINITY);
    while steps < 200 && last > tolerance_rel_diagonal * solver.diagonal {
        run.check()?;
        let step = analysis.step(solver, &x, &frame.lengths, run)?;
        let problem = solver.problem(&frame.lengths, &[]);
        let before = problem.energy(&x, run);
        let mut size = 1.0;
        loop {
            let moved: Vec<DVec3> = x.iter().zip(&step).map(|(x, p)| *x + size * *p).collect();
            if problem.energy(&moved, run) <= before * (1.0 + 1e-12) || size < 1e-9 {
                x = moved;
                break;
            }
            size *= 0.5;
        }
        last = problem.longest(&x, &step);
        steps += 1;
    }
    let positions = solver.surface(&solver.placed(&frame.shares, &x))?;
    Ok(Found { positions, steps, last_step_rel_diagonal: last / solver.diagonal })
}

/// The longest moves of Newton's step at the start of a solve, in diagonals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// What runs of conjugate gradients prove it to be at most, stopped at relative residuals of 0.1, 0.01 and 0.001.
    pub bounds: [f64; 3],
    /// What a long one shows.
    pub shown: f64,
    /// That of fresh factors.
    pub fresh: f64,
}

/// How the solver sees Newton's step where it would start, beside the truth: what proofs are compared with.
///
/// # Errors
///
/// As [`Solver::solve`].
pub fn newton_step(
    solver: &Solver,
    weights: &[f64],
    history: &History,
    run: &Run<'_>,
) -> Result<Steps, Error> {
    let shares = weights::of_shapes(weights, &solver.combinations);
    let frame = solver.frame(shares, run);
    let (x, _) = solver.start(&frame, weights, history, run);
    let lagged = history.lagged.as_ref().and_then(|taken| solver.lagged(taken, run));
    let mut problem = solver.problem(&frame.lengths, &[]);
    problem.lagged = lagged.as_deref();
    let mut shown = 0.0;
    let bounds = [FAR, 0.01, NEAR].map(|look_at| {
        problem.limits.look_at = look_at;
        let [step, bound] = problem.shown_step(&x, run);
        shown = step / solver.diagonal;
        bound / solver.diagonal
    });
    let fresh = Prepared::new(solver, run)?.step(solver, &x, &frame.lengths, run)?;
    Ok(Steps { bounds, shown, fresh: problem.longest(&x, &fresh) / solver.diagonal })
}

/// The order of elimination, once.
struct Prepared {
    order: Vec<u32>,
}

impl Prepared {
    fn new(solver: &Solver, run: &Run<'_>) -> Result<Self, Error> {
        let body = &solver.body;
        let matrix = Matrix::new(body.base.len(), &body.network.laplacian())?;
        let points: Vec<Vec3> = body.base.iter().map(|p| p.as_vec3()).collect();
        debug_assert!(Bounds::of(&points).is_some(), "there are nodes");
        let order = dissection::from_positions(&matrix.graph(), &points, run);
        Ok(Self { order: dissection::spread(&order, 3) })
    }

    fn step(
        &self,
        solver: &Solver,
        x: &[DVec3],
        lengths: &[f64],
        run: &Run<'_>,
    ) -> Result<Vec<DVec3>, Error> {
        let network = &solver.body.network;
        let (mut slope, mut tangent) = (Vec::new(), Tangent::default());
        network.slope(x, lengths, &mut slope, &mut tangent, run);
        let mean = 2.0 * network.stiffness().iter().sum::<f64>() / x.len().max(1) as f64;
        let mut which = Curvature::True;
        loop {
            let mut entries = network.matrix(&tangent, which, &solver.is_held);
            for i in 0..x.len() as u32 {
                let value = if solver.is_held[i as usize] { 1.0 } else { SLACK * mean };
                entries.extend((0..3).map(|k| Entry { row: 3 * i + k, column: 3 * i + k, value }));
            }
            let matrix = Matrix::new(3 * x.len(), &entries)?;
            let analysis = Analysis::new(&matrix, &self.order)?;
            match analysis.factorise(&matrix) {
                Ok(factor) => {
                    let held =
                        |(g, h): (&DVec3, &bool)| if *h { [0.0; 3] } else { (-*g).to_array() };
                    let mut step: Vec<f64> =
                        slope.iter().zip(&solver.is_held).flat_map(held).collect();
                    factor.solve(&mut step, run);
                    return Ok(step.chunks_exact(3).map(DVec3::from_slice).collect());
                }
                Err(_) if which == Curvature::True => which = Curvature::Clamped,
                Err(wrong) => return Err(wrong.into()),
            }
        }
    }
}

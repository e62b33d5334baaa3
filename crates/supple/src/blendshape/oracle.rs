//! Plain Newton with fresh factors: slower, and the judge of the solver.
//!
//! Each step factorises the curvature itself (the clamped one on a bad pivot) and searches along the step.

use glam::DVec3;

use super::prepare::Solver;
use super::{Error, weights};
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

/// The equilibrium for weights, from the solver's own start, down to steps of `tolerance_rel_diagonal`.
///
/// # Errors
///
/// As [`Solver::solve`].
pub fn newton(
    solver: &Solver,
    weights: &[f64],
    tolerance_rel_diagonal: f64,
    run: &Run<'_>,
) -> Result<Found, Error> {
    let shares = weights::of_shapes(weights, &solver.combinations);
    let frame = solver.frame(shares, run);
    let mut x = frame.predicted.clone();
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
    let positions = solver.surface(&solver.placed(&frame.shares, &x));
    Ok(Found { positions, steps, last_step_rel_diagonal: last / solver.diagonal })
}

/// The longest move of a fresh Newton step at a solver's answer, in diagonals: what proofs are compared with.
///
/// # Errors
///
/// As [`Solver::solve`].
pub fn newton_step(
    solver: &Solver,
    weights: &[f64],
    gradients_only_to: f64,
    run: &Run<'_>,
) -> Result<[f64; 2], Error> {
    let shares = weights::of_shapes(weights, &solver.combinations);
    let frame = solver.frame(shares, run);
    let mut x = frame.predicted.clone();
    // Part of the way: a state that is not the end.
    let mut problem = solver.problem(&frame.lengths, &[]);
    problem.tolerance = gradients_only_to * solver.diagonal;
    let outcome = problem.minimise(&mut x.clone(), run)?;
    problem.limits.newton = outcome.newton.saturating_sub(1);
    problem.minimise(&mut x, run)?;
    let shown = problem.shown_step(&x, run);
    let fresh = Prepared::new(solver, run)?.step(solver, &x, &frame.lengths, run)?;
    Ok([shown / solver.diagonal, problem.longest(&x, &fresh) / solver.diagonal])
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

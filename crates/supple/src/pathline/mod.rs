//! Path lines: carrying points through a time-dependent velocity field.
//!
//! # Method
//!
//! Classical Runge–Kutta steps of order 4. [`Method::Fixed`] takes as many as it is told;
//! [`Method::Adaptive`] chooses them from the embedded formula of order 3 that puts the velocity at the
//! new point in the place of the last stage: its error estimate `1/6 |k₄ − k₅|` per time costs nothing, since
//! `k₅` is the first stage of the next step. Sixteen points, or thirty-two, share their steps.
//!
//! The map of one step is injective while `h L ≤ 0.69`, L being a bound of `‖∂v/∂x‖`
//! (`x + x²/2 + x³/6 + x⁴/24 < 1`); neither method takes a longer step, so a mesh that was not folded
//! is not folded at its vertices.
//!
//! What no field can reach is not touched, to the bit. What lies in the inner region of a single
//! translating tool is carried along with it directly, which is its exact path.
//!
//! # Where we differ from the paper
//!
//! The tool is where it is at the time of each stage; the source blends two frozen fields.
//!
//! # Limits
//!
//! Some neighbours in the order of the points share a step length, so an adaptive result depends
//! on its neighbours within the tolerance, never on the thread count. For tools between two curves
//! and masked tools L is sampled along some paths, not proven.
//!
//! # References
//!
//! - W. von Funck, H. Theisel, H.-P. Seidel. Vector Field Based Shape Deformations. ACM
//!   Transactions on Graphics (SIGGRAPH), 2006.
//! - E. Hairer, S. P. Nørsett, G. Wanner. Solving Ordinary Differential Equations I. Springer,
//!   1993; II.4.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::field::{Fade, Field, Flow, Generator, Influence, Phase, Region, RigidMotion};
//! use supple::pathline::{self, Direction, Params};
//!
//! let motion = RigidMotion::Translation { velocity: Vec3::Z };
//! let region = Region::Point(Vec3::ZERO);
//! let influence = Influence::Fade(Fade { region, motion, inner: 1.0, outer: 2.0 });
//! let tool = Field::new(influence, Generator::translation(Vec3::ZERO, Vec3::Z), motion);
//! let flow = Flow { phases: vec![Phase { fields: vec![tool], duration: 1.0 }] };
//!
//! let mut points = [Vec3::new(0.5, 0.0, 0.0), Vec3::new(9.0, 0.0, 0.0)];
//! let run = supple::Run::default();
//! pathline::advect(&mut points, &flow, &Params::default(), Direction::Forward, &run)?;
//! assert_eq!(points, [Vec3::new(0.5, 0.0, 1.0), Vec3::new(9.0, 0.0, 0.0)]);
//! # Ok::<(), pathline::Error>(())
//! ```

mod kernel;
pub(crate) mod step;
mod transport;

use std::sync::atomic::{AtomicU32, Ordering};

use glam::Vec3;
use serde::{Deserialize, Serialize};

pub use transport::{deformation_gradients, transport_normals, transport_tangents};

use crate::Run;
use crate::field::{Flow, Phase};
use crate::mesh::measure::Bounds;
use crate::run::Cancelled;
use step::INJECTIVE;

use kernel::{Pace, Steepest, Support, Sweep, Swept};

/// Steps of one phase beyond which the parameters are surely wrong.
const MOST_STEPS: f32 = 200_000.0;

/// Points and times at which the steepness of a field is sampled if no bound is known, the distance
/// between the points compared as a share of the bounding box, and the factor by which it may be steeper
/// elsewhere.
const SAMPLES: usize = 512;
const SAMPLE_TIMES: u32 = 4;
const SAMPLE_SPAN: f32 = 1e-4;
const SAFETY: f32 = 1.25;

/// Steps from one of these times to the next, and the points a task takes along them.
const SAMPLE_STEPS: u32 = 2;
const SAMPLE_TASK: usize = 64;

/// How finely to integrate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Which steps to take.
    pub method: Method,
}

/// How the steps are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// This many equal steps in every phase, or more where that is needed not to fold.
    Fixed {
        /// Steps in a phase.
        steps: u32,
    },
    /// Steps as long as the error of one allows.
    Adaptive {
        /// Error of a phase, as a share of the diagonal of the points' bounding box. What the error
        /// of one step becomes in the steps after it is not counted.
        tolerance_rel_bbox: f32,
    },
}

impl Default for Method {
    /// Adaptive to 1e-6 of the bounding box: integrating back returns within 1e-5.
    fn default() -> Self {
        Self::Adaptive { tolerance_rel_bbox: 1e-6 }
    }
}

/// Along the flow, or back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// From the start of the first phase to the end of the last.
    #[default]
    Forward,
    /// From the end to the start: undoes `Forward` up to the integration error.
    Backward,
}

/// What an integration did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Steps of the points that needed most, over all phases.
    pub steps: u64,
    /// Points that a phase would have sent to infinity, and left where they were.
    pub frozen: u64,
}

impl Report {
    /// What two integrations in a row did.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        Self { steps: self.steps + next.steps, frozen: self.frozen + next.frozen }
    }
}

/// Why an integration stopped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The caller asked to stop; the points are partly moved.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The field is so steep, or moves so far, that the steps would not end.
    #[error(
        "the motion is too steep for its fade: it would take {steps:.0} steps; widen the fade (a \
         larger outer radius) or move less far"
    )]
    TooSteep {
        /// Steps needed not to fold.
        steps: f32,
    },
}

/// Carries the points along the flow.
///
/// # Errors
///
/// [`Error::TooSteep`] before the phase it concerns; [`Error::Cancelled`] at any time. Both leave the
/// points where they are by then.
pub fn advect(
    points: &mut [Vec3],
    flow: &Flow,
    params: &Params,
    direction: Direction,
    run: &Run<'_>,
) -> Result<Report, Error> {
    let mut report = Report::default();
    let count = flow.phases.len();
    for k in 0..count {
        let phase = match direction {
            Direction::Forward => &flow.phases[k],
            Direction::Backward => &flow.phases[count - 1 - k],
        };
        let swept = advect_phase(points, phase, params, direction, run)?;
        report.steps += u64::from(swept.steps);
        report.frozen += u64::from(swept.frozen);
        run.report(k as u64 + 1, count as u64);
    }
    Ok(report)
}

fn advect_phase(
    points: &mut [Vec3],
    phase: &Phase,
    params: &Params,
    direction: Direction,
    run: &Run<'_>,
) -> Result<Swept, Error> {
    let Some(bounds) = Bounds::of(points) else { return Ok(Swept::default()) };
    let pace = pace(points, phase, params, direction, &bounds, run)?;
    let reach = Support::of(phase);
    let kernel = kernel::Kernel::new(phase, pace, direction);
    let (steps, frozen) = (AtomicU32::new(0), AtomicU32::new(0));
    run.for_each_chunk(points, |_, chunk| {
        if !run.is_cancelled() {
            let swept = Sweep { points: chunk, reach: &reach, kernel: &kernel }.run();
            steps.fetch_max(swept.steps, Ordering::Relaxed);
            frozen.fetch_add(swept.frozen, Ordering::Relaxed);
        }
    });
    run.check()?;
    Ok(Swept { steps: steps.into_inner(), frozen: frozen.into_inner() })
}

fn pace(
    points: &[Vec3],
    phase: &Phase,
    params: &Params,
    direction: Direction,
    bounds: &Bounds,
    run: &Run<'_>,
) -> Result<Pace, Error> {
    let needed = least_steps(points, phase, direction, bounds, run)?;
    Ok(match params.method {
        Method::Fixed { steps } => Pace::Fixed { steps: steps.max(needed) },
        Method::Adaptive { tolerance_rel_bbox } => Pace::Adaptive {
            tolerance: (tolerance_rel_bbox * bounds.diagonal()).max(f32::MIN_POSITIVE),
            longest: phase.duration / needed as f32,
        },
    })
}

/// Equal steps for a phase that is integrated elsewhere: at least what was asked for.
pub(crate) fn steps_of(
    points: &[Vec3],
    phase: &Phase,
    params: &Params,
    run: &Run<'_>,
) -> Result<u32, Error> {
    let Some(bounds) = Bounds::of(points) else { return Ok(1) };
    let needed = least_steps(points, phase, Direction::Forward, &bounds, run)?;
    Ok(match params.method {
        Method::Fixed { steps } => steps.max(needed),
        Method::Adaptive { .. } => needed,
    })
}

/// Equal steps that a phase needs at least so that none of them folds.
fn least_steps(
    points: &[Vec3],
    phase: &Phase,
    direction: Direction,
    bounds: &Bounds,
    run: &Run<'_>,
) -> Result<u32, Error> {
    let bound = match phase.fields.iter().map(|field| field.gradient_bound(bounds)).sum() {
        Some(proven) => proven,
        None => {
            let passing = phase.fields.iter().map(|f| f.passing_rate(bounds)).fold(0.0, f32::max);
            let span = SAMPLE_SPAN * bounds.diagonal();
            passing.max(SAFETY * sampled_gradient(points, phase, direction, span, run))
        }
    };
    let steps = (phase.duration * bound / INJECTIVE).ceil();
    if steps <= MOST_STEPS {
        return Ok((steps as u32).max(1));
    }
    Err(Error::TooSteep { steps })
}

/// The largest `‖∂v/∂x‖` that some of the points meet on their way.
fn sampled_gradient(
    points: &[Vec3],
    phase: &Phase,
    direction: Direction,
    span: f32,
    run: &Run<'_>,
) -> f32 {
    let reach = Support::of(phase);
    let felt = |x: &Vec3| reach.iter().any(|r| r.contains(*x));
    let felt: Vec<Vec3> = points.iter().copied().filter(felt).collect();
    let stride = felt.len().div_ceil(SAMPLES).max(1);
    let samples: Vec<Vec3> = felt.into_iter().step_by(stride).collect();
    let part = phase.duration / SAMPLE_TIMES as f32;
    let time = |k: u32| match direction {
        Direction::Forward => part * k as f32,
        Direction::Backward => phase.duration - part * k as f32,
    };
    let pace = Pace::Fixed { steps: SAMPLE_STEPS };
    let ways: Vec<_> = (0..SAMPLE_TIMES)
        .map(|k| kernel::Kernel::part(phase, [time(k), part], pace, direction))
        .collect();
    let steepest = |task: usize| {
        let mut points: Vec<Vec3> =
            samples[task * SAMPLE_TASK..].iter().take(SAMPLE_TASK).copied().collect();
        let mut largest = 0.0_f32;
        for k in 0..=SAMPLE_TIMES {
            let here = Steepest { points: &points, phase, time: time(k), span };
            largest = largest.max(here.run());
            if let Some(kernel) = ways.get(k as usize) {
                let reach = [Support::Everywhere];
                Sweep { points: &mut points, reach: &reach, kernel }.run();
            }
        }
        largest
    };
    run.map_tasks(samples.len().div_ceil(SAMPLE_TASK), steepest).into_iter().fold(0.0, f32::max)
}

#[cfg(test)]
mod tests;

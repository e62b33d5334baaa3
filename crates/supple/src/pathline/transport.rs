//! Normals and tangents carried along a flow by its Jacobian.
//!
//! The deformation gradient `F` obeys `Ḟ = (∂v/∂x) F`; it is integrated together with the path, in
//! f64. Tangents go by `F`, normals by `F⁻ᵀ`.

use glam::{DMat3, DVec3, Mat3, Vec3};

use super::step::{Moving, Stages, Velocity, step};
use super::{Direction, Error, Method, Params, least_steps};
use crate::Run;
use crate::field::{Flow, Phase};
use crate::mesh::measure::Bounds;

/// Steps per phase when the caller asked for adaptive ones.
const STEPS: u32 = 32;

/// The derivative of the flow's map at each point; the points stay where they are.
///
/// # Errors
///
/// As [`advect`](super::advect).
pub fn deformation_gradients(
    points: &[Vec3],
    flow: &Flow,
    params: &Params,
    direction: Direction,
    run: &Run<'_>,
) -> Result<Vec<Mat3>, Error> {
    let Some(bounds) = Bounds::of(points) else { return Ok(Vec::new()) };
    let asked = match params.method {
        Method::Fixed { steps } => steps,
        Method::Adaptive { .. } => STEPS,
    };
    let mut states = run.map(points.len(), |i| Carried(points[i].as_dvec3(), DMat3::IDENTITY));
    let count = flow.phases.len();
    for k in 0..count {
        let phase = match direction {
            Direction::Forward => &flow.phases[k],
            Direction::Backward => &flow.phases[count - 1 - k],
        };
        let steps = asked.max(least_steps(points, phase, direction, &bounds, run)?);
        run.for_each(&mut states, |_, state| *state = through(phase, *state, steps, direction));
        run.check()?;
    }
    Ok(states.into_iter().map(|state| state.1.as_mat3()).collect())
}

/// Unit normals after the deformation.
pub fn transport_normals(normals: &mut [Vec3], gradients: &[Mat3], run: &Run<'_>) {
    run.for_each(normals, |i, n| {
        let Mat3 { x_axis: a, y_axis: b, z_axis: c } = gradients[i];
        // The cofactor matrix: F⁻ᵀ up to the determinant, and never singular by division.
        let moved = b.cross(c) * n.x + c.cross(a) * n.y + a.cross(b) * n.z;
        *n = moved.normalize_or(*n);
    });
}

/// Unit tangents after the deformation.
pub fn transport_tangents(tangents: &mut [Vec3], gradients: &[Mat3], run: &Run<'_>) {
    run.for_each(tangents, |i, t| *t = (gradients[i] * *t).normalize_or(*t));
}

/// A place and the derivative of the map that led there.
#[derive(Clone, Copy)]
struct Carried(DVec3, DMat3);

impl Moving for Carried {
    type Time = f64;

    fn ahead(&self, rate: &Self, h: f64) -> Self {
        Self(self.0 + h * rate.0, self.1 + h * rate.1)
    }

    fn after(&self, stages: &Stages<Self>, h: f64) -> Self {
        let Stages { first, second, third, fourth, .. } = stages;
        Self(
            self.0 + h / 6.0 * (first.0 + 2.0 * (second.0 + third.0) + fourth.0),
            self.1 + h / 6.0 * (first.1 + 2.0 * (second.1 + third.1) + fourth.1),
        )
    }
}

impl Velocity<Carried> for Phase {
    fn at(&self, &Carried(x, gradient): &Carried, t: f64) -> Carried {
        let here = self.sample(x, t);
        Carried(here.velocity, here.jacobian * gradient)
    }
}

fn through(phase: &Phase, mut state: Carried, steps: u32, direction: Direction) -> Carried {
    let duration = f64::from(phase.duration);
    let (start, h) = match direction {
        Direction::Forward => (0.0, duration / f64::from(steps)),
        Direction::Backward => (duration, -duration / f64::from(steps)),
    };
    for k in 0..steps {
        state = step(phase, &state, [start + h * f64::from(k), h]);
    }
    state
}

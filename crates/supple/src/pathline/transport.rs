//! Normals and tangents carried along a flow by its Jacobian.
//!
//! The deformation gradient `F` obeys `Ḟ = (∂v/∂x) F`; it is integrated together with the path, in
//! f64. Tangents go by `F`, normals by `F⁻ᵀ`.

use glam::{DMat3, DVec3, Mat3, Vec3};

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
    let mut states = run.map(points.len(), |i| (points[i].as_dvec3(), DMat3::IDENTITY));
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
    Ok(states.into_iter().map(|(_, gradient)| gradient.as_mat3()).collect())
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

type State = (DVec3, DMat3);

fn through(phase: &Phase, mut state: State, steps: u32, direction: Direction) -> State {
    let duration = f64::from(phase.duration);
    let (start, h) = match direction {
        Direction::Forward => (0.0, duration / f64::from(steps)),
        Direction::Backward => (duration, -duration / f64::from(steps)),
    };
    for k in 0..steps {
        state = rk4(phase, state, start + h * f64::from(k), h);
    }
    state
}

fn rk4(phase: &Phase, state: State, t: f64, h: f64) -> State {
    let rate = |(x, f): State, t: f64| {
        let s = phase.sample(x, t);
        (s.velocity, s.jacobian * f)
    };
    let ahead = |k: State, reach: f64| (state.0 + reach * k.0, state.1 + reach * k.1);
    let k1 = rate(state, t);
    let k2 = rate(ahead(k1, 0.5 * h), t + 0.5 * h);
    let k3 = rate(ahead(k2, 0.5 * h), t + 0.5 * h);
    let k4 = rate(ahead(k3, h), t + h);
    (
        state.0 + h / 6.0 * (k1.0 + 2.0 * (k2.0 + k3.0) + k4.0),
        state.1 + h / 6.0 * (k1.1 + 2.0 * (k2.1 + k3.1) + k4.1),
    )
}

//! How far the correction of the volume may move each point.
//!
//! `4β(1 − β)` with the edit's own β, so that what must land exactly (β = 1) and what must not move
//! (β = 0) stay where they are. Edits whose inner region is a point have nothing that must land
//! exactly but that point: for them a point may move as soon as it has moved.

use glam::Vec3;

use super::path::SpaceMap;
use crate::Run;
use crate::field::blend::fade_derivatives;
use crate::field::{Flow, Influence};
use crate::mesh::exact_volume::freedom_by_displacement;

/// Adds what one more edit allows; what it holds exactly is held from now on.
pub(super) fn combine(
    freedom: &mut [f32],
    map: &SpaceMap,
    before: &[Vec3],
    after: &[Vec3],
    run: &Run<'_>,
) {
    let share: Box<dyn Fn(usize) -> f64 + Sync + '_> = match map {
        SpaceMap::Twist(twist) => Box::new(|i| twist.share(before[i])),
        SpaceMap::Bend(bend) => Box::new(|i| bend.share(before[i])),
        SpaceMap::Flow(flow) if has_core(flow) => Box::new(|i| final_share(flow, after[i])),
        SpaceMap::Boundary(map) => Box::new(|i| map.share(i, after[i])),
        SpaceMap::Stored(stored) => Box::new(|i| fade_derivatives(f64::from(stored.values[i]))[0]),
        SpaceMap::Flow(_) | SpaceMap::Within(_) => {
            let moved = freedom_by_displacement(before, after);
            run.for_each(freedom, |i, f| *f = f.max(moved[i]));
            return;
        }
    };
    run.for_each(freedom, |i, f| {
        let beta = share(i);
        *f = if beta >= 1.0 { 0.0 } else { f.max((4.0 * beta * (1.0 - beta)) as f32) };
    });
}

/// True if a whole region follows the tool.
fn has_core(flow: &Flow) -> bool {
    let mut fields = flow.phases.iter().flat_map(|phase| &phase.fields);
    fields.any(|field| matches!(&field.influence, Influence::Fade(fade) if fade.inner > 0.0))
}

/// β where the tool came to rest: nothing that never moved is in reach there.
pub(super) fn final_share(flow: &Flow, x: Vec3) -> f64 {
    let Some(phase) = flow.phases.last() else { return 0.0 };
    let end = f64::from(phase.duration);
    let beta = |field: &crate::field::Field| {
        field.masks.iter().fold(field.influence.jet(x.as_dvec3(), end).value, |beta, mask| {
            beta * (1.0 - Influence::Fade(mask.clone()).jet(x.as_dvec3(), end).value)
        })
    };
    // Rounding may leave the core a hair outside.
    let largest = phase.fields.iter().map(beta).fold(0.0, f64::max);
    if largest > 1.0 - 1e-9 { 1.0 } else { largest }
}

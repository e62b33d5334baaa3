//! What is no flesh: rigid pieces, hard materials, and what stands on the ground.

use super::Params;
use crate::Run;
use crate::mesh::adjacency::components;
use crate::rig::{Body, Skinning};

/// A vertex hangs on one joint alone from this weight on.
const ALONE: f32 = 0.999;

/// 0 for vertices of rigid pieces and hard materials, 1 for flesh; `None` if nothing is hard.
pub(super) fn hard(body: &Body, params: &Params) -> Option<Vec<f32>> {
    if !params.spare_rigid && params.hard.is_empty() {
        return None;
    }
    let mut shares = vec![1.0; body.mesh.positions.len()];
    if params.spare_rigid {
        for (share, rigid) in shares.iter_mut().zip(rigid(body)) {
            *share = if rigid { 0.0 } else { *share };
        }
    }
    let is_hard = |material: Option<u32>| material.is_some_and(|m| params.hard.contains(&m));
    for group in body.mesh.groups.iter().filter(|group| is_hard(group.material)) {
        for t in group.triangles.clone() {
            body.mesh.triangles[t as usize].iter().for_each(|&v| shares[v as usize] = 0.0);
        }
    }
    Some(shares)
}

/// Which vertices are of pieces that one joint carries alone.
pub(super) fn rigid(body: &Body) -> Vec<bool> {
    let welding = body.welding();
    let pieces = components(welding.places(), &welding.triangles(&body.mesh.triangles));
    let Some(weights) = &body.mesh.skin_weights else { return Vec::new() };
    let only = |v: usize| {
        let total: f32 = weights.of(v).map(|(_, w)| w).sum();
        let strongest = weights.of(v).max_by(|a, b| a.1.total_cmp(&b.1));
        strongest.filter(|(_, w)| *w >= ALONE * total).map(|(j, _)| j)
    };
    // The joint of each piece; `Err` once a vertex hangs on another.
    let mut joints: Vec<Option<Result<u16, ()>>> = vec![None; pieces.count];
    let piece = |v: usize| pieces.of_vertex[welding.place(v as u32) as usize];
    for v in 0..body.mesh.positions.len() {
        let Some(slot) = joints.get_mut(piece(v) as usize) else { continue };
        *slot = Some(match (*slot, only(v)) {
            (None, Some(joint)) => Ok(joint),
            (Some(Ok(known)), Some(joint)) if known == joint => Ok(known),
            _ => Err(()),
        });
    }
    let is_rigid = |v: usize| matches!(joints.get(piece(v) as usize), Some(Some(Ok(_))));
    (0..body.mesh.positions.len()).map(is_rigid).collect()
}

/// 0 for what lies no higher than [`Params::still_below`] at rest, 1 from twice that height above the ground on;
/// `None` if it is not asked for.
pub(super) fn near_ground(body: &Body, params: &Params) -> Option<Vec<f32>> {
    let still = params.still_below? as f32;
    let positions = body.pose(body.rest_pose(), Skinning::Linear, &Run::default());
    let ground = positions.iter().map(|x| x.y).fold(f32::INFINITY, f32::min);
    let share = |y: f32| {
        let u = ((y - ground - still) / still.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        u * u * (3.0 - 2.0 * u)
    };
    Some(positions.iter().map(|x| share(x.y)).collect())
}

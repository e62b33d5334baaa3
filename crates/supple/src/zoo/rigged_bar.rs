//! The bar with a skeleton of three bones: the test piece of skinning (thesis, figure 6.2).

use glam::DVec3;

use super::pose::{Pose, clip, wave};
use super::rigging::{Joint, Rig, smooth_step};
use super::simple;
use crate::Asset;
use crate::mesh::TriMesh;

/// Half the width over which a joint takes over: the blend is twice as wide as the bar is thick.
const SOFT: f64 = 1.0;

pub(super) fn build(triangles: usize) -> Option<(TriMesh, Asset)> {
    let mut mesh = simple::build("bar", triangles)?;
    let rig = rig();
    let points: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    mesh.skin_weights = Some(rig.chain_weights(&points));
    Some((mesh, rig.into_asset()))
}

fn rig() -> Rig {
    let along = [1.0, 0.0, 0.0];
    let at = |x: f64| [x, 0.0, 0.0];
    // The tip moves nothing: it says where the last bone ends.
    let joints = vec![
        Joint::new("first", None, at(-3.0), along, SOFT),
        Joint::new("second", Some(0), at(-1.0), along, SOFT),
        Joint::new("third", Some(1), at(1.0), along, SOFT),
        Joint::new("tip", Some(2), at(3.0), along, SOFT),
    ];
    let there_and_back = |t: f64| smooth_step(0.5 - 0.5 * wave(t + 0.25));
    let turned = |axis: DVec3, degrees: [f64; 2], share: f64| {
        let mut pose = Pose::rest(&joints);
        pose.turn(1, axis, share * degrees[0]);
        pose.turn(2, axis, share * degrees[1]);
        pose
    };
    let clips = vec![
        clip("bend", &joints, 2.0, |t| turned(DVec3::Z, [90.0, -90.0], there_and_back(t))),
        clip("twist", &joints, 2.0, |t| turned(DVec3::X, [150.0, -150.0], there_and_back(t))),
    ];
    Rig { joints, chains: vec![vec![0, 1, 2]], mix: 1.0, clips }
}

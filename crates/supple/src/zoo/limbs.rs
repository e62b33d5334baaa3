//! An arm that bends and a shoulder that twists: where skinning is hardest (thesis, figures 6.3, 6.4).

use glam::{DVec3, Vec3};

use super::pose::{Pose, clip, wave};
use super::rigging::{Joint, Rig, smooth_step};
use super::solid::{Limb, Rgb, Solid};

const SKIN: Rgb = [0.62, 0.36, 0.25];
const SHIRT: Rgb = [0.10, 0.22, 0.34];

/// A left arm that stands on its upper end, the inside of its elbow to the front.
pub(super) fn arm() -> Solid {
    let limb = Limb::new(0.0, 0.03, SKIN)
        .cone([0.0, 0.055, 0.0], 0.055, [0.0, 0.30, 0.0], 0.042)
        .cone([0.0, 0.12, 0.012], 0.046, [0.0, 0.20, 0.012], 0.044)
        .cone([0.0, 0.10, -0.014], 0.044, [0.0, 0.20, -0.012], 0.040)
        .cone([0.0, 0.30, 0.0], 0.044, [0.0, 0.38, 0.0], 0.045)
        .cone([0.0, 0.38, 0.0], 0.045, [0.0, 0.56, 0.0], 0.029)
        .blend(0.02)
        .block([0.0, 0.615, 0.004], [0.040, 0.046, 0.026], 0.024)
        .cone([0.036, 0.595, 0.016], 0.015, [0.020, 0.625, 0.036], 0.014);
    Solid::new(0.006, vec![limb])
}

/// Chest, neck and left arm, the arm straight out.
pub(super) fn shoulder() -> Solid {
    let trunk = Limb::new(0.0, 0.06, SHIRT)
        .block([0.0, 0.20, 0.0], [0.125, 0.20, 0.085], 0.075)
        .ball([0.0, 0.33, 0.0], [0.165, 0.13, 0.095])
        .ball([-0.15, 0.385, 0.0], [0.065, 0.062, 0.062])
        .color(SKIN)
        .blend(0.04)
        .cone([0.0, 0.42, -0.01], 0.058, [0.0, 0.50, 0.0], 0.052);
    let arm = Limb::new(0.06, 0.03, SHIRT)
        .ball([0.165, 0.385, 0.0], [0.068, 0.064, 0.064])
        .cone([0.17, 0.385, 0.0], 0.058, [0.34, 0.385, 0.0], 0.048)
        .color(SKIN)
        .cone([0.34, 0.385, 0.0], 0.046, [0.47, 0.385, 0.0], 0.042)
        .cone([0.47, 0.385, 0.0], 0.042, [0.68, 0.385, 0.0], 0.030)
        .blend(0.02)
        .block([0.745, 0.385, 0.0], [0.048, 0.024, 0.038], 0.022)
        .cone([0.72, 0.392, 0.034], 0.013, [0.76, 0.395, 0.044], 0.012);
    Solid::new(0.009, vec![trunk, arm])
}

pub(super) fn arm_rig() -> Rig {
    let up = [0.0, 1.0, 0.0];
    let joints = vec![
        Joint::new("upper arm", None, [0.0, 0.02, 0.0], up, 0.05),
        Joint::new("elbow", Some(0), [0.0, 0.33, 0.0], up, 0.10),
        Joint::new("wrist", Some(1), [0.0, 0.56, 0.0], up, 0.04),
        Joint::new("tip", Some(2), [0.0, 0.65, 0.0], up, 0.04),
    ];
    let bend = clip("bend", &joints, 2.0, |t| {
        let mut pose = Pose::rest(&joints);
        pose.turn(1, DVec3::X, 110.0 * there_and_back(t));
        pose
    });
    Rig { joints, chains: vec![vec![0, 1, 2]], mix: 0.05, clips: vec![bend] }
}

pub(super) fn shoulder_rig() -> Rig {
    let out = [1.0, 0.0, 0.0];
    let joints = vec![
        Joint::new("chest", None, [0.0, 0.10, 0.0], [0.0, 1.0, 0.0], 0.05),
        Joint::new("shoulder", Some(0), [0.24, 0.385, 0.0], out, 0.13),
        Joint::new("elbow", Some(1), [0.47, 0.385, 0.0], out, 0.07),
        Joint::new("wrist", Some(2), [0.68, 0.385, 0.0], out, 0.04),
        Joint::new("tip", Some(3), [0.78, 0.385, 0.0], out, 0.04),
    ];
    let twist = clip("twist", &joints, 2.0, |t| {
        let mut pose = Pose::rest(&joints);
        pose.turn(1, DVec3::X, 170.0 * there_and_back(t));
        pose
    });
    let chains = vec![vec![0], vec![0, 1, 2, 3]];
    Rig { joints, chains, mix: 0.02, clips: vec![twist] }
}

fn there_and_back(t: f64) -> f64 {
    smooth_step(0.5 - 0.5 * wave(t + 0.25))
}

/// Where the volume goes that the bending elbow displaces: the biceps and the forearm's flexors bulge,
/// the crook of the arm folds in, the elbow's bone stays.
pub(super) fn muscles(p: Vec3) -> f32 {
    let bump = |center: [f32; 2], reach: [f32; 2]| {
        let d = [(p.y - center[0]) / reach[0], (p.z - center[1]) / reach[1]];
        let r = 1.0 - (d[0] * d[0] + d[1] * d[1]);
        if r > 0.0 { r * r } else { 0.0 }
    };
    bump([0.19, 0.06], [0.10, 0.075]) + 0.3 * bump([0.43, 0.05], [0.08, 0.06])
        - 2.5 * bump([0.33, 0.045], [0.055, 0.06])
}

//! A two-humped camel of seven segments: body, neck, head and four legs.

use glam::DVec3;

use super::pose::{Pose, clip, wave};
use super::rigging::{Joint, Rig};
use super::solid::{Limb, Rgb, Solid, turn_y, turn_z};

const SAND: Rgb = [0.50, 0.29, 0.13];
const BROWN: Rgb = [0.24, 0.11, 0.05];
const PALE: Rgb = [0.62, 0.41, 0.22];
const DARK: Rgb = [0.03, 0.02, 0.02];

pub(super) fn solid() -> Solid {
    let (fore, hind, ear) = (fore_leg(), hind_leg(), ear());
    let mirrored = [fore.mirrored(), hind.mirrored(), ear.mirrored()];
    let mut limbs = vec![trunk(), neck(), head(), fore, hind, ear];
    limbs.extend(mirrored);
    Solid::new(0.02, limbs)
}

fn trunk() -> Limb {
    Limb::new(0.0, 0.25, SAND)
        .ball([0.0, 1.36, 0.02], [0.33, 0.34, 0.68])
        .ball([0.0, 1.32, 0.48], [0.26, 0.35, 0.32])
        .ball([0.0, 1.42, -0.55], [0.25, 0.30, 0.30])
        .ball([0.0, 1.18, 0.40], [0.18, 0.26, 0.30])
        .blend(0.16)
        .color(BROWN)
        .cone([0.0, 1.60, 0.25], 0.20, [0.0, 1.93, 0.21], 0.10)
        .cone([0.0, 1.62, -0.37], 0.20, [0.0, 1.96, -0.38], 0.10)
        .blend(0.05)
        .tube(&[
            ([0.0, 1.58, -0.78], 0.05),
            ([0.0, 1.42, -0.92], 0.032),
            ([0.0, 1.16, -0.945], 0.024),
        ])
        .ball([0.0, 1.05, -0.945], [0.04, 0.11, 0.04])
}

fn neck() -> Limb {
    Limb::new(0.20, 0.12, SAND)
        .tube(&[
            ([0.0, 1.36, 0.66], 0.21),
            ([0.0, 1.30, 0.95], 0.145),
            ([0.0, 1.42, 1.17], 0.115),
            ([0.0, 1.70, 1.28], 0.098),
            ([0.0, 2.00, 1.33], 0.092),
        ])
        .color(BROWN)
        .tube(&[
            ([0.0, 1.10, 0.88], 0.055),
            ([0.0, 1.20, 1.10], 0.060),
            ([0.0, 1.45, 1.29], 0.050),
            ([0.0, 1.75, 1.37], 0.035),
        ])
}

fn head() -> Limb {
    Limb::new(0.06, 0.06, PALE)
        .cone([0.0, 2.06, 1.36], 0.105, [0.0, 2.00, 1.62], 0.068)
        .cone([0.0, 1.96, 1.40], 0.065, [0.0, 1.93, 1.62], 0.040)
        .blend(0.04)
        .ball([0.0, 2.0, 1.68], [0.072, 0.056, 0.072])
        .ball([0.0, 1.935, 1.655], [0.045, 0.033, 0.055])
        .cone([0.062, 2.105, 1.42], 0.040, [0.068, 2.085, 1.46], 0.028)
        .and_mirrored(1)
        .color(BROWN)
        .ball([0.0, 2.155, 1.33], [0.075, 0.05, 0.075])
        .blend(0.015)
        .color(DARK)
        .carve([0.030, 2.02, 1.752], [0.010, 0.012, 0.022])
        .and_mirrored(1)
        .blend(0.008)
        .ball([0.092, 2.075, 1.44], [0.018, 0.022, 0.022])
        .and_mirrored(1)
}

fn ear() -> Limb {
    let local = turn_y(-30.0) * turn_z(-50.0);
    Limb::new(0.03, 0.02, SAND).turned([0.105, 2.165, 1.31], [0.065, 0.034, 0.022], local)
}

fn fore_leg() -> Limb {
    Limb::new(0.14, 0.08, SAND)
        .cone([0.165, 1.36, 0.46], 0.15, [0.19, 1.02, 0.44], 0.095)
        .cone([0.19, 1.02, 0.44], 0.095, [0.18, 0.62, 0.48], 0.058)
        .blend(0.03)
        .color(PALE)
        .ball([0.18, 0.60, 0.495], [0.066, 0.085, 0.066])
        .cone([0.18, 0.58, 0.48], 0.050, [0.18, 0.14, 0.48], 0.043)
        .blend(0.04)
        .ball([0.18, 0.13, 0.485], [0.052, 0.055, 0.055])
        .block([0.18, 0.045, 0.53], [0.085, 0.045, 0.105], 0.042)
}

fn hind_leg() -> Limb {
    Limb::new(0.14, 0.10, SAND)
        .cone([0.16, 1.42, -0.58], 0.18, [0.185, 1.02, -0.46], 0.115)
        .cone([0.185, 1.02, -0.48], 0.105, [0.18, 0.66, -0.70], 0.056)
        .blend(0.03)
        .color(PALE)
        .ball([0.18, 0.64, -0.72], [0.050, 0.075, 0.058])
        .cone([0.18, 0.62, -0.71], 0.048, [0.18, 0.14, -0.64], 0.042)
        .blend(0.04)
        .ball([0.18, 0.13, -0.63], [0.050, 0.055, 0.055])
        .block([0.18, 0.045, -0.585], [0.082, 0.045, 0.102], 0.042)
}

pub(super) fn rig() -> Rig {
    let joints = joints();
    let (neck, leg) = (|| vec![0, 1, 2], |j: usize| vec![0, j]);
    // Limbs: trunk, neck, head, left legs and ear, right legs and ear.
    let chains = vec![vec![0], neck(), neck(), leg(3), leg(4), vec![2], leg(5), leg(6), vec![2]];
    let clips = vec![clip("walk", &joints, 1.75, |t| walk(&joints, t))];
    Rig { joints, chains, mix: 0.08, clips }
}

fn joints() -> Vec<Joint> {
    const DOWN: [f64; 3] = [0.0, -1.0, 0.0];
    let fore = Joint::new("fore_leg.L", Some(0), [0.17, 1.26, 0.46], DOWN, 0.16);
    let hind = Joint::new("hind_leg.L", Some(0), [0.17, 1.30, -0.56], DOWN, 0.18);
    let right = [
        fore.mirrored("fore_leg.R".to_owned(), Some(0)),
        hind.mirrored("hind_leg.R".to_owned(), Some(0)),
    ];
    let mut joints = vec![
        Joint::new("body", None, [0.0, 1.40, 0.0], [0.0, 1.0, 0.0], 0.1),
        Joint::new("neck", Some(0), [0.0, 1.34, 0.72], [0.0, 0.0, 1.0], 0.20),
        Joint::new("head", Some(1), [0.0, 2.00, 1.33], [0.0, 1.0, 0.15], 0.08),
        fore,
        hind,
    ];
    joints.extend(right);
    joints
}

/// An amble: both legs of a side go together; cyclic.
fn walk(joints: &[Joint], t: f64) -> Pose<'_> {
    let mut pose = Pose::rest(joints);
    pose.shift = DVec3::new(0.03 * wave(t), 0.015 * wave(2.0 * t), 0.0);
    pose.turn(0, DVec3::Z, 2.0 * wave(t + 0.5));
    pose.turn(1, DVec3::X, 5.0 * wave(2.0 * t + 0.1));
    pose.turn(1, DVec3::Y, 3.0 * wave(t));
    pose.turn(2, DVec3::X, -5.0 * wave(2.0 * t));
    for (leg, phase) in [(3, 0.0), (4, 0.06), (5, 0.5), (6, 0.56)] {
        pose.turn(leg, DVec3::X, 17.0 * wave(t + phase));
    }
    pose
}

//! A right hand, life-size, upright with its palm to the front.

use glam::DVec3;

use super::pose::{Pose, clip, wave};
use super::rigging::{Joint, Rig, smooth_step};
use super::solid::{Limb, Rgb, Solid};

const SKIN: Rgb = [0.72, 0.42, 0.30];
const NAIL: Rgb = [0.85, 0.60, 0.52];

/// A finger: joints from the knuckle to the tip, and the radius at the knuckle.
pub(super) struct Finger {
    pub(super) name: &'static str,
    pub(super) joints: [DVec3; 4],
    radius: f64,
}

/// Thumb, index, middle, ring and little finger.
pub(super) fn fingers() -> [Finger; 5] {
    let straight = |name, knuckle: [f64; 3], lean: f64, length: f64, radius| {
        let along = DVec3::new(lean, 1.0, 0.0).normalize_or_zero() * length;
        let knuckle = DVec3::from(knuckle);
        let at = |t: f64, forward: f64| knuckle + t * along + DVec3::Z * forward;
        // A hand at ease curls a little towards its palm.
        let joints = [knuckle, at(0.46, 0.002), at(0.76, 0.006), at(1.0, 0.012)];
        Finger { name, joints, radius }
    };
    let thumb = [
        [0.026, 0.078, 0.010],
        [0.055, 0.106, 0.020],
        [0.0725, 0.132, 0.025],
        [0.083, 0.155, 0.025],
    ];
    [
        Finger { name: "thumb", joints: thumb.map(DVec3::from), radius: 0.0140 },
        straight("index", [0.0325, 0.142, 0.0], 0.16, 0.070, 0.0100),
        straight("middle", [0.0110, 0.147, 0.0], 0.03, 0.079, 0.0103),
        straight("ring", [-0.0110, 0.144, 0.0], -0.10, 0.072, 0.0098),
        straight("little", [-0.0315, 0.134, 0.0], -0.26, 0.057, 0.0086),
    ]
}

pub(super) fn solid() -> Solid {
    let mut limbs = vec![palm()];
    limbs.extend(fingers().iter().map(digit));
    Solid::new(0.0019, limbs)
}

fn palm() -> Limb {
    Limb::new(0.0, 0.025, SKIN)
        .block([0.0, 0.045, -0.002], [0.029, 0.045, 0.021], 0.0205)
        .block([0.0, 0.104, -0.001], [0.041, 0.036, 0.013], 0.0128)
        .blend(0.012)
        .cone([0.012, 0.066, 0.0], 0.017, [0.0325, 0.136, 0.0], 0.0115)
        .cone([0.004, 0.066, 0.0], 0.017, [0.0110, 0.141, 0.0], 0.0115)
        .cone([-0.006, 0.066, 0.0], 0.017, [-0.0110, 0.138, 0.0], 0.0110)
        .cone([-0.014, 0.066, 0.0], 0.016, [-0.0315, 0.128, 0.0], 0.0100)
        .blend(0.018)
        .ball([-0.027, 0.090, 0.009], [0.012, 0.028, 0.010])
}

fn digit(finger: &Finger) -> Limb {
    let [a, b, c, d] = finger.joints;
    let r = finger.radius;
    let is_thumb = finger.name == "thumb";
    let toward_back =
        if is_thumb { DVec3::new(0.35, 0.1, -1.0) } else { DVec3::new(0.0, 0.25, -1.0) };
    let nail =
        d + toward_back.normalize_or_zero() * (0.60 * r) - (d - c).normalize_or_zero() * 0.001;
    let limb = Limb::new(if is_thumb { 0.016 } else { 0.006 }, 0.006, SKIN).tube(&[
        (a.into(), 1.02 * r),
        (a.lerp(b, 0.5).into(), 0.93 * r),
        (b.into(), 0.97 * r),
        (b.lerp(c, 0.5).into(), 0.86 * r),
        (c.into(), 0.88 * r),
        (d.into(), 0.74 * r),
    ]);
    let limb = if is_thumb {
        limb.blend(0.02).cone([0.022, 0.078, 0.008], 0.019, [0.045, 0.100, 0.015], 0.014)
    } else {
        limb
    };
    limb.blend(0.0015).color(NAIL).ball(nail.into(), [0.50 * r, 0.62 * r, 0.22 * r])
}

const PALM: usize = 1;
/// First joint of the thumb; three a finger.
const THUMB: usize = 2;

pub(super) fn rig() -> Rig {
    let joints = joints();
    let mut chains = vec![vec![0, PALM]];
    chains.extend((0..5).map(|f| {
        let first = THUMB + 3 * f;
        vec![0, PALM, first, first + 1, first + 2]
    }));
    let clips = vec![
        clip("fist", &joints, 2.0, |t| curl(&joints, |_| smooth_step(0.5 - 0.5 * cosine(t)))),
        clip("wave", &joints, 2.0, |t| greet(&joints, t)),
    ];
    Rig { joints, chains, mix: 0.008, clips }
}

fn cosine(t: f64) -> f64 {
    wave(t + 0.25)
}

fn joints() -> Vec<Joint> {
    let up = [0.0, 1.0, 0.0];
    let mut joints = vec![
        Joint::new("forearm", None, [0.0, 0.01, 0.0], up, 0.01),
        Joint::new("palm", Some(0), [0.0, 0.066, 0.0], up, 0.014),
    ];
    for finger in fingers() {
        for k in 0..3 {
            let name = format!("{}.{}", finger.name, k + 1);
            let parent = if k == 0 { PALM } else { joints.len() - 1 };
            let along = finger.joints[k + 1] - finger.joints[k.saturating_sub(1)];
            let soft = if k == 0 { 0.010 } else { 0.006 };
            joints.push(Joint::new(name, Some(parent), finger.joints[k], along, soft));
        }
    }
    joints
}

/// Every finger bent by a share of its range, from 0 to 1.
fn curl(joints: &[Joint], share: impl Fn(usize) -> f64) -> Pose<'_> {
    let mut pose = Pose::rest(joints);
    for finger in 0..5 {
        let s = share(finger);
        // The thumb makes way to its side.
        let (axis, degrees) = if finger == 0 {
            (DVec3::NEG_Z, [16.0, 8.0, 6.0])
        } else {
            (DVec3::X, [76.0, 90.0, 48.0])
        };
        for (k, angle) in degrees.into_iter().enumerate() {
            pose.turn(THUMB + 3 * finger + k, axis, s * angle);
        }
    }
    pose
}

/// A wave of the hand while the fingers ripple; cyclic.
fn greet(joints: &[Joint], t: f64) -> Pose<'_> {
    let ripple = |finger: usize| 0.10 + 0.10 * wave(2.0 * t - 0.12 * finger as f64);
    let mut pose = curl(joints, ripple);
    pose.turn(PALM, DVec3::Z, 22.0 * wave(2.0 * t));
    pose
}

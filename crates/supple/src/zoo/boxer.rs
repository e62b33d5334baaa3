//! A boxer, 1.8 m tall, standing with his arms out: gloves, shorts, boots, and a skeleton.

use glam::DVec3;

use super::pose::{Pose, TwoBones, clip, rotation, wave};
use super::rigging::{Joint, Rig, smooth_step};
use super::solid::{Limb, Rgb, Solid, turn_y, turn_z};

const SKIN: Rgb = [0.52, 0.27, 0.17];
const HAIR: Rgb = [0.03, 0.02, 0.015];
const GLOVE: Rgb = [0.55, 0.015, 0.02];
const SHORTS: Rgb = [0.03, 0.10, 0.42];
const WHITE: Rgb = [0.85, 0.85, 0.85];
const BOOT: Rgb = [0.06, 0.06, 0.07];

pub(super) fn solid() -> Solid {
    let (arm, leg) = (arm(), leg());
    let limbs = vec![torso(), arm.mirrored(), leg.mirrored(), arm, leg];
    face(Solid::new(0.0095, limbs))
}

fn torso() -> Limb {
    let trunk = Limb::new(0.0, 0.07, SKIN)
        .ball([0.0, 1.13, 0.0], [0.135, 0.17, 0.098])
        .ball([0.0, 1.31, -0.012], [0.168, 0.19, 0.118])
        .blend(0.05)
        .turned([0.088, 1.365, 0.072], [0.095, 0.066, 0.042], turn_z(-12.0))
        .and_mirrored(1)
        .cone([0.03, 1.53, -0.025], 0.05, [0.16, 1.465, -0.02], 0.055)
        .and_mirrored(1)
        .ball([0.118, 1.27, -0.045], [0.062, 0.15, 0.075])
        .and_mirrored(1)
        .ball([0.085, 1.38, -0.095], [0.075, 0.085, 0.035])
        .and_mirrored(1)
        .blend(0.022);
    let abs = [1.215, 1.155, 1.095].iter().fold(trunk, |limb, &y| {
        limb.ball([0.036, y, 0.088], [0.033, 0.028, 0.018]).and_mirrored(1)
    });
    let shorts = abs
        .blend(0.03)
        .color(SHORTS)
        .ball([0.0, 0.965, 0.0], [0.166, 0.11, 0.122])
        .blend(0.008)
        .color(WHITE)
        .ball([0.0, 1.045, 0.002], [0.154, 0.030, 0.116]);
    head(shorts)
}

fn head(limb: Limb) -> Limb {
    limb.blend(0.05)
        .color(SKIN)
        .cone([0.0, 1.46, -0.02], 0.064, [0.0, 1.60, 0.0], 0.056)
        .blend(0.04)
        .color(HAIR)
        .ball([0.0, 1.705, -0.008], [0.077, 0.094, 0.096])
        .color(SKIN)
        .ball([0.0, 1.655, 0.026], [0.061, 0.080, 0.066])
        .cone([0.036, 1.615, 0.030], 0.026, [0.014, 1.585, 0.066], 0.019)
        .and_mirrored(1)
        .blend(0.02)
        .ball([0.0, 1.585, 0.078], [0.020, 0.016, 0.016])
        .cone([0.012, 1.706, 0.084], 0.012, [0.045, 1.702, 0.068], 0.011)
        .and_mirrored(1)
        .ball([0.040, 1.655, 0.072], [0.022, 0.018, 0.018])
        .and_mirrored(1)
        .blend(0.014)
        .carve([0.032, 1.683, 0.102], [0.016, 0.011, 0.016])
        .and_mirrored(1)
        .cone([0.0, 1.694, 0.086], 0.009, [0.0, 1.650, 0.108], 0.012)
        .ball([0.012, 1.645, 0.096], [0.010, 0.009, 0.012])
        .and_mirrored(1)
        .blend(0.010)
        .ball([0.0, 1.618, 0.090], [0.024, 0.006, 0.009])
        .ball([0.0, 1.607, 0.087], [0.020, 0.006, 0.009])
        .blend(0.015)
        .turned([0.080, 1.665, -0.005], [0.014, 0.034, 0.022], turn_y(25.0))
        .and_mirrored(1)
}

/// The left arm, hanging out at a slant.
fn arm() -> Limb {
    Limb::new(0.05, 0.04, SKIN)
        .ball([0.205, 1.432, -0.012], [0.068, 0.074, 0.070])
        .cone([0.215, 1.420, -0.012], 0.054, [0.400, 1.220, -0.020], 0.040)
        .cone([0.270, 1.365, 0.010], 0.046, [0.340, 1.285, 0.006], 0.040)
        .cone([0.270, 1.355, -0.036], 0.042, [0.340, 1.280, -0.036], 0.036)
        .cone([0.400, 1.220, -0.018], 0.043, [0.450, 1.165, -0.008], 0.047)
        .cone([0.450, 1.165, -0.008], 0.047, [0.575, 1.025, 0.016], 0.034)
        .blend(0.008)
        .color(WHITE)
        .cone([0.545, 1.058, 0.011], 0.047, [0.575, 1.025, 0.016], 0.049)
        .blend(0.025)
        .color(GLOVE)
        .cone([0.600, 0.997, 0.020], 0.058, [0.628, 0.965, 0.026], 0.068)
        .cone([0.628, 0.965, 0.026], 0.070, [0.662, 0.928, 0.034], 0.066)
        .blend(0.014)
        .tube(&[
            ([0.588, 0.998, 0.070], 0.026),
            ([0.602, 0.962, 0.104], 0.029),
            ([0.630, 0.928, 0.112], 0.026),
        ])
}

/// The left leg.
fn leg() -> Limb {
    Limb::new(0.03, 0.05, SKIN)
        .cone([0.100, 0.90, 0.0], 0.088, [0.115, 0.51, 0.008], 0.052)
        .cone([0.108, 0.76, 0.030], 0.062, [0.118, 0.60, 0.028], 0.050)
        .blend(0.02)
        .ball([0.116, 0.505, 0.030], [0.040, 0.048, 0.034])
        .blend(0.05)
        .cone([0.115, 0.50, 0.004], 0.050, [0.120, 0.12, -0.016], 0.036)
        .cone([0.122, 0.40, -0.038], 0.044, [0.122, 0.31, -0.034], 0.036)
        .blend(0.012)
        .color(SHORTS)
        .cone([0.096, 0.93, 0.0], 0.105, [0.124, 0.70, 0.010], 0.104)
        .blend(0.006)
        .color(WHITE)
        .cone([0.121, 0.265, -0.016], 0.050, [0.121, 0.250, -0.016], 0.050)
        .blend(0.03)
        .color(BOOT)
        .cone([0.121, 0.235, -0.018], 0.047, [0.120, 0.09, -0.018], 0.045)
        .cone([0.120, 0.055, -0.035], 0.045, [0.126, 0.060, 0.060], 0.042)
        .cone([0.126, 0.058, 0.060], 0.042, [0.134, 0.045, 0.145], 0.038)
        .blend(0.01)
        .color(WHITE)
        .block([0.126, 0.015, 0.053], [0.044, 0.015, 0.130], 0.0145)
}

/// Hair, eyebrows, eyes, lips and the stripes of the shorts.
fn face(solid: Solid) -> Solid {
    solid
        .spot([0.0, 1.640, 0.115], [0.080, 0.108, 0.085], SKIN)
        .spots([0.033, 1.712, 0.088], [0.020, 0.005, 0.02], HAIR)
        .spots([0.031, 1.683, 0.090], [0.015, 0.0075, 0.02], WHITE)
        .spots([0.030, 1.683, 0.092], [0.0065, 0.0065, 0.02], HAIR)
        .spot([0.0, 1.613, 0.100], [0.024, 0.010, 0.02], [0.40, 0.12, 0.10])
        .spots([0.225, 0.80, 0.0], [0.045, 0.40, 0.045], WHITE)
}

const HIPS: usize = 0;
const SPINE: usize = 1;
const CHEST: usize = 2;
const NECK: usize = 3;
const HEAD: usize = 4;
/// First joint of the left side: clavicle, upper arm, forearm, hand, thigh, shin, foot.
const LEFT: usize = 5;
/// First joint of the right side, in the same order.
const RIGHT: usize = 12;

pub(super) fn rig() -> Rig {
    let joints = joints();
    let arm = |side: usize| vec![CHEST, side, side + 1, side + 2, side + 3];
    let leg = |side: usize| vec![HIPS, side + 4, side + 5, side + 6];
    let torso = vec![HIPS, SPINE, CHEST, NECK, HEAD];
    let chains = vec![torso, arm(RIGHT), leg(RIGHT), arm(LEFT), leg(LEFT)];
    let clips = vec![
        clip("guard", &joints, 1.25, |t| guard(&joints, t)),
        clip("punch", &joints, 1.75, |t| punch(&joints, t)),
        clip("walk", &joints, 1.0, |t| walk(&joints, t)),
    ];
    Rig { joints, chains, mix: 0.045, clips }
}

fn joints() -> Vec<Joint> {
    const UP: [f64; 3] = [0.0, 1.0, 0.0];
    const SLANT: [f64; 3] = [0.66, -0.75, 0.0];
    let mut joints = vec![
        Joint::new("hips", None, [0.0, 0.95, 0.0], UP, 0.1),
        Joint::new("spine", Some(HIPS), [0.0, 1.08, -0.02], UP, 0.07),
        Joint::new("chest", Some(SPINE), [0.0, 1.24, -0.02], UP, 0.08),
        Joint::new("neck", Some(CHEST), [0.0, 1.505, -0.02], UP, 0.04),
        Joint::new("head", Some(NECK), [0.0, 1.595, 0.0], UP, 0.03),
        Joint::new("clavicle.L", Some(CHEST), [0.05, 1.46, -0.01], [1.0, 0.0, 0.0], 0.07),
        Joint::new("upper_arm.L", Some(LEFT), [0.200, 1.435, -0.012], SLANT, 0.055),
        Joint::new("forearm.L", Some(LEFT + 1), [0.400, 1.220, -0.019], SLANT, 0.040),
        Joint::new("hand.L", Some(LEFT + 2), [0.575, 1.025, 0.016], SLANT, 0.025),
        Joint::new("thigh.L", Some(HIPS), [0.100, 0.90, 0.0], [0.15, -1.0, 0.0], 0.08),
        Joint::new("shin.L", Some(LEFT + 4), [0.115, 0.505, 0.006], [0.0, -1.0, 0.0], 0.055),
        Joint::new("foot.L", Some(LEFT + 5), [0.120, 0.090, -0.018], [0.0, -1.0, 0.4], 0.035),
    ];
    for k in LEFT..RIGHT {
        let left = &joints[k];
        let name = left.name.replace(".L", ".R");
        let parent = left.parent.map(|p| if p >= LEFT { p + RIGHT - LEFT } else { p });
        joints.push(left.mirrored(name, parent));
    }
    joints
}

/// The arm or the leg of a side.
fn arm_bones(side: usize) -> TwoBones {
    TwoBones { joints: [side + 1, side + 2, side + 3], bends_to: DVec3::Z }
}

fn leg_bones(side: usize) -> TwoBones {
    TwoBones { joints: [side + 4, side + 5, side + 6], bends_to: DVec3::NEG_Z }
}

/// A stance, left foot ahead; angles in degrees, positive to the boxer's left.
struct Stance {
    hips_yaw: f64,
    chest_yaw: f64,
    crouch: f64,
    /// How far the weight is on the front foot, in metres.
    lean: f64,
    /// How far each fist is out, 0 in guard to 1 at the end of a punch: left, right.
    out: [f64; 2],
    /// How far the right heel is off the ground, in degrees of the foot.
    heel: f64,
}

fn stand<'a>(joints: &'a [Joint], s: &Stance) -> Pose<'a> {
    let mut pose = Pose::rest(joints);
    pose.shift = DVec3::new(0.0, -s.crouch, s.lean);
    pose.turn(HIPS, DVec3::Y, s.hips_yaw);
    for joint in [SPINE, CHEST] {
        pose.turn(joint, DVec3::X, 5.0);
        pose.turn(joint, DVec3::Y, 0.5 * s.chest_yaw);
    }
    // The eyes stay on the opponent.
    pose.turn(HEAD, DVec3::Y, -0.55 * (s.hips_yaw + s.chest_yaw));
    pose.turn(NECK, DVec3::Y, -0.45 * (s.hips_yaw + s.chest_yaw));
    let feet =
        [(LEFT, [0.13, 0.09, 0.17], -8.0, 0.0), (RIGHT, [-0.17, 0.09, -0.20], -40.0, s.heel)];
    for (side, ankle, yaw, heel) in feet {
        let lift = 0.13 * libm::sin(heel * (std::f64::consts::PI / 180.0));
        let target = DVec3::from(ankle) + DVec3::Y * lift;
        let facing = rotation(DVec3::Y, yaw);
        pose.reach(&leg_bones(side), target, facing * DVec3::new(0.0, 0.1, 1.0));
        pose.set_world_turn(side + 6, facing * rotation(DVec3::X, heel));
    }
    let (chest, turn) = pose.world(CHEST);
    let fists = [(LEFT, [0.115, 0.215, 0.27], 1.0), (RIGHT, [-0.095, 0.225, 0.19], -1.0)];
    for (k, (side, guard, outward)) in fists.into_iter().enumerate() {
        let (shoulder, _) = pose.world(side + 1);
        let near = chest + turn * DVec3::from(guard);
        let far = shoulder + (DVec3::new(0.0, 1.48, 1.2) - shoulder).normalize_or_zero() * 0.57;
        let elbow = turn * DVec3::new(0.55 * outward, -1.0, -0.15);
        pose.reach(&arm_bones(side), near.lerp(far, s.out[k]), elbow);
    }
    pose
}

/// Light on his feet behind raised fists; cyclic.
fn guard(joints: &[Joint], t: f64) -> Pose<'_> {
    let bounce = wave(2.0 * t);
    stand(
        joints,
        &Stance {
            hips_yaw: -24.0 + 2.0 * wave(t),
            chest_yaw: -10.0 + 4.0 * wave(t + 0.1),
            crouch: 0.055 + 0.012 * bounce,
            lean: 0.012 * wave(t),
            out: [0.05 + 0.05 * wave(2.0 * t + 0.3), 0.03 + 0.03 * wave(2.0 * t + 0.6)],
            heel: 18.0,
        },
    )
}

/// A jab with the left, then a cross with the right, and back to guard.
fn punch(joints: &[Joint], t: f64) -> Pose<'_> {
    let bump = |from: f64, peak: f64, to: f64| {
        smooth_step((t - from) / (peak - from)) * smooth_step((to - t) / (to - peak))
    };
    let (jab, cross) = (bump(0.06, 0.22, 0.42), bump(0.38, 0.58, 0.86));
    stand(
        joints,
        &Stance {
            hips_yaw: -24.0 - 8.0 * jab + 42.0 * cross,
            chest_yaw: -10.0 - 14.0 * jab + 44.0 * cross,
            crouch: 0.055 + 0.02 * jab + 0.03 * cross,
            lean: 0.03 * jab + 0.06 * cross,
            out: [0.05 + 0.95 * jab, 0.03 + 0.97 * cross],
            heel: 18.0 + 22.0 * cross,
        },
    )
}

/// A walk on the spot; cyclic.
fn walk(joints: &[Joint], t: f64) -> Pose<'_> {
    const STRIDE: f64 = 0.24;
    let mut pose = Pose::rest(joints);
    pose.shift = DVec3::new(0.012 * wave(t + 0.25), -0.028 - 0.014 * wave(2.0 * t + 0.25), 0.0);
    // The left foot strikes at t = 0: the left hip is then ahead, the left shoulder behind.
    pose.turn(HIPS, DVec3::Y, -7.0 * wave(t + 0.25));
    pose.turn(SPINE, DVec3::Y, 7.0 * wave(t + 0.25));
    pose.turn(CHEST, DVec3::Y, 7.0 * wave(t + 0.25));
    pose.turn(HEAD, DVec3::Y, -7.0 * wave(t + 0.25));
    pose.turn(SPINE, DVec3::X, 3.0);
    for (side, sign, phase) in [(LEFT, 1.0, t), (RIGHT, -1.0, t + 0.5)] {
        let (z, lift, pitch) = step(phase - phase.floor());
        let ankle = DVec3::new(0.10 * sign, 0.09 + lift, STRIDE * z - 0.02);
        pose.reach(&leg_bones(side), ankle, DVec3::new(0.05 * sign, 0.0, 1.0));
        pose.set_world_turn(side + 6, rotation(DVec3::X, pitch));
        let swing = -wave(phase + 0.25);
        let (shoulder, _) = pose.world(side + 1);
        let down = -0.50 + 0.05 * (swing + 1.0);
        let hand = shoulder + DVec3::new(0.10 * sign, down, 0.05 + 0.20 * swing);
        pose.reach(&arm_bones(side), hand, DVec3::new(0.35 * sign, 0.0, -1.0));
    }
    pose
}

/// Where a foot is in a step that begins with its heel strike: ahead (−1 to 1), its lift in metres
/// and its pitch in degrees, toes down.
fn step(phase: f64) -> (f64, f64, f64) {
    const STANCE: f64 = 0.6;
    let ease = |from: f64, to: f64| smooth_step((phase - from) / (to - from));
    let pitch = -18.0 * (1.0 - ease(0.0, 0.12)) + 38.0 * ease(0.40, 0.60)
        - 38.0 * ease(0.62, 0.85)
        - 18.0 * ease(0.80, 1.0);
    let heel = 0.085 * ease(0.40, 0.60) * (1.0 - ease(0.64, 0.9));
    if phase < STANCE {
        return (1.0 - 2.0 * phase / STANCE, heel, pitch);
    }
    let s = (phase - STANCE) / (1.0 - STANCE);
    (2.0 * smooth_step(s) - 1.0, heel + 0.07 * wave(0.5 * s), pitch)
}

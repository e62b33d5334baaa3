//! Poses of a skeleton, and clips sampled from them.
//!
//! Arms and legs are posed by where the wrist or the ankle should be (two-bone inverse kinematics
//! by the law of cosines), the rest by turns. Only square roots and `libm` are used.

use glam::{DMat3, DQuat, DVec3};

use super::rigging::Joint;
use crate::rig::{Channel, Clip, Interpolation, Track};

/// Samples a second of a clip.
const RATE: f64 = 24.0;

/// Where every joint is and how it is turned, in the world.
#[derive(Clone, Debug)]
pub(super) struct Pose<'a> {
    joints: &'a [Joint],
    /// Turn of each joint against its parent.
    local: Vec<DQuat>,
    /// How far the root has moved.
    pub(super) shift: DVec3,
}

/// A limb of two bones.
#[derive(Clone, Copy, Debug)]
pub(super) struct TwoBones {
    /// The joints at the root, the middle and the end.
    pub(super) joints: [usize; 3],
    /// Where the end goes when the limb bends out of its rest pose.
    pub(super) bends_to: DVec3,
}

impl<'a> Pose<'a> {
    pub(super) fn rest(joints: &'a [Joint]) -> Self {
        Self { joints, local: vec![DQuat::IDENTITY; joints.len()], shift: DVec3::ZERO }
    }

    /// Turns a joint by `degrees` about an axis of its parent, after what it has turned so far.
    pub(super) fn turn(&mut self, joint: usize, axis: DVec3, degrees: f64) {
        self.local[joint] = rotation(axis, degrees) * self.local[joint];
    }

    /// Position and turn of a joint in the world.
    pub(super) fn world(&self, joint: usize) -> (DVec3, DQuat) {
        let j = &self.joints[joint];
        let Some(parent) = j.parent else {
            return (j.at + self.shift, self.local[joint]);
        };
        let (at, turn) = self.world(parent);
        (at + turn * (j.at - self.joints[parent].at), turn * self.local[joint])
    }

    /// Turns a joint so that it has this turn in the world.
    pub(super) fn set_world_turn(&mut self, joint: usize, turn: DQuat) {
        let parent = self.joints[joint].parent;
        let above = parent.map_or(DQuat::IDENTITY, |p| self.world(p).1);
        self.local[joint] = above.conjugate() * turn;
    }

    /// Bends a limb so that its end comes to `target` as far as it reaches, its middle towards
    /// `pole`.
    pub(super) fn reach(&mut self, limb: &TwoBones, target: DVec3, pole: DVec3) {
        let [a, b, c] = limb.joints;
        let rest = [a, b, c].map(|j| self.joints[j].at);
        let (upper, lower) = ((rest[1] - rest[0]).length(), (rest[2] - rest[1]).length());
        let (root, _) = self.world(a);
        let away = target - root;
        let length = away.length().clamp(1.001 * (upper - lower).abs(), 0.998 * (upper + lower));
        let ahead = away.normalize_or_zero();
        let aside = (pole - ahead * pole.dot(ahead)).normalize_or_zero();
        let along = (upper * upper + length * length - lower * lower) / (2.0 * length);
        let out = (upper * upper - along * along).max(0.0).sqrt();
        let middle = root + ahead * along + aside * out;
        let end = root + ahead * length;
        let hinge = (middle - root).cross(end - middle);
        let rest_hinge = (rest[1] - rest[0]).cross(limb.bends_to);
        let turn = |from: DVec3, to: DVec3| turn_between((from, rest_hinge), (to, hinge));
        self.set_world_turn(a, turn(rest[1] - rest[0], middle - root));
        self.set_world_turn(b, turn(rest[2] - rest[1], end - middle));
    }
}

/// The turn that takes one direction with the hinge square to it to another such pair.
fn turn_between(from: (DVec3, DVec3), to: (DVec3, DVec3)) -> DQuat {
    let frame = |(along, hinge): (DVec3, DVec3)| {
        let x = along.normalize_or_zero();
        let z = (hinge - x * hinge.dot(x)).normalize_or_zero();
        DMat3::from_cols(x, z.cross(x), z)
    };
    DQuat::from_mat3(&(frame(to) * frame(from).transpose()))
}

/// A turn by `degrees` about a unit axis.
pub(super) fn rotation(axis: DVec3, degrees: f64) -> DQuat {
    let half = degrees * (std::f64::consts::PI / 360.0);
    let v = axis * libm::sin(half);
    DQuat::from_xyzw(v.x, v.y, v.z, libm::cos(half))
}

/// `sin(2π t)`.
pub(super) fn wave(t: f64) -> f64 {
    libm::sin(std::f64::consts::TAU * t)
}

/// Samples a motion of `seconds`; `pose` gets the time as a fraction of it, from 0 to 1.
pub(super) fn clip<'a>(
    name: &str,
    joints: &'a [Joint],
    seconds: f64,
    pose: impl Fn(f64) -> Pose<'a>,
) -> Clip {
    let last = (seconds * RATE).round() as usize;
    let poses: Vec<Pose<'a>> = (0..=last).map(|k| pose(k as f64 / last as f64)).collect();
    let times: Vec<f32> = (0..=last).map(|k| (seconds * k as f64 / last as f64) as f32).collect();
    let mut channels = Vec::new();
    let mut add = |node: usize, track: Track| {
        let (times, interpolation) = (times.clone(), Interpolation::Linear);
        channels.push(Channel { node: node as u32, times, track, interpolation });
    };
    if poses.iter().any(|p| p.shift != DVec3::ZERO) {
        let moved = |p: &Pose<'_>| (joints[0].at + p.shift).as_vec3();
        add(0, Track::Translation(poses.iter().map(moved).collect()));
    }
    for j in 0..joints.len() {
        if poses.iter().any(|p| p.local[j] != DQuat::IDENTITY) {
            add(j, Track::Rotation(same_side(poses.iter().map(|p| p.local[j]))));
        }
    }
    Clip { name: name.to_owned(), channels }
}

/// Each quaternion or its negative, whichever is nearer the one before: they turn alike, but only
/// these interpolate the short way in every reader.
fn same_side(turns: impl Iterator<Item = DQuat>) -> Vec<glam::Quat> {
    let mut before = DQuat::IDENTITY;
    let near = |q: DQuat| {
        before = if q.dot(before) < 0.0 { -q } else { q };
        glam::Quat::from_array(before.to_array().map(|x| x as f32))
    };
    turns.map(near).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm() -> Vec<Joint> {
        let at = [[0.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, -1.8, 0.1]];
        (0..3_usize)
            .map(|k| Joint::new("j", k.checked_sub(1), at[k], [0.0, -1.0, 0.0], 0.1))
            .collect()
    }

    #[test]
    fn a_limb_reaches_what_is_in_reach() {
        let joints = arm();
        let limb = TwoBones { joints: [0, 1, 2], bends_to: DVec3::Z };
        for target in [[0.5, -1.0, 0.3], [0.0, 0.2, 1.4], [-0.9, -0.9, 0.2]] {
            let mut pose = Pose::rest(&joints);
            pose.reach(&limb, target.into(), DVec3::NEG_Z);
            let (end, _) = pose.world(2);
            assert!((end - DVec3::from(target)).length() < 1e-9, "{end} for {target:?}");
        }
    }

    #[test]
    fn a_limb_stretches_towards_what_is_out_of_reach() {
        let joints = arm();
        let limb = TwoBones { joints: [0, 1, 2], bends_to: DVec3::Z };
        let mut pose = Pose::rest(&joints);
        pose.reach(&limb, DVec3::X * 5.0, DVec3::NEG_Z);
        let (end, _) = pose.world(2);
        assert!(end.normalize_or_zero().dot(DVec3::X) > 0.999_999, "{end}");
    }

    #[test]
    fn turns_are_unit_quaternions() {
        let q = rotation(DVec3::Y, 90.0);
        assert!((q * DVec3::Z - DVec3::X).length() < 1e-12, "{q}");
    }
}

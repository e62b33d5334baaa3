//! Nodes that are held: where they rest, and how the body's own motion carries them.
//!
//! A held node is bound to the joints of the skin's vertex next to it. Where those move (keyframes, a path, a simulated
//! skeleton) it is carried along by linear blending; a body without a skeleton has one joint. What is not held follows
//! by its tissue alone.

use glam::{DMat4, DVec3, Mat4, Vec3};

use crate::rig;

/// A held node.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Held {
    /// Of the mesh.
    pub(super) node: u32,
    /// Where it rests, in the prepared body's coordinates.
    pub(super) rest: DVec3,
    joints: Vec<(u16, f32)>,
    /// Where it was bound.
    bound: DVec3,
}

impl Held {
    /// How far joints have carried it, from where they rest to where they are, both in the world.
    pub(super) fn carried(&self, rest: &[Mat4], now: &[Mat4]) -> DVec3 {
        let way = |&(joint, weight): &(u16, f32)| {
            let (a, b) = (rest.get(usize::from(joint))?, now.get(usize::from(joint))?);
            // Exactly nothing where the joint has not moved.
            let by = (b.as_dmat4() - a.as_dmat4()) * self.bound.extend(1.0);
            Some(f64::from(weight) * by.truncate())
        };
        self.joints.iter().filter_map(way).sum()
    }
}

/// Binds nodes to the joints of a body.
pub(super) struct Binder<'a> {
    body: &'a rig::Body,
    /// The body's vertices at rest, before they are placed.
    skin: &'a [Vec3],
    joints: Vec<DMat4>,
}

impl<'a> Binder<'a> {
    pub(super) fn new(body: &'a rig::Body, skin: &'a [Vec3]) -> Self {
        let joints = body.matrices(body.rest_pose()).iter().map(Mat4::as_dmat4).collect();
        // A body that was split, or has no surface, is held where it rests.
        let skin = if skin.len() == body.mesh.positions.len() { skin } else { &[] };
        Self { body, skin, joints }
    }

    /// A node at a place of the asset, which rests somewhere in the prepared body's coordinates.
    pub(super) fn bind(&self, (node, place): (u32, Vec3), rest: DVec3) -> Held {
        let distance = |v: &usize| self.skin[*v].distance_squared(place);
        let nearest = (0..self.skin.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let free = Held { node, rest, joints: Vec::new(), bound: place.as_dvec3() };
        let (Some(nearest), Some(weights)) = (nearest, &self.body.mesh.skin_weights) else {
            return free;
        };
        let joints: Vec<(u16, f32)> = weights.of(nearest).collect();
        let of = |&(joint, weight): &(u16, f32)| {
            self.joints.get(usize::from(joint)).map(|m| f64::from(weight) * *m)
        };
        let blended = joints.iter().filter_map(of).fold(DMat4::ZERO, |sum, m| sum + m);
        let back = blended.inverse();
        if !back.is_finite() {
            return free;
        }
        let bound = (back * place.as_dvec3().extend(1.0)).truncate();
        Held { joints, bound, ..free }
    }
}

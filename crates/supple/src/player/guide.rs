//! What moves a body in a frame: not its surface, but what a picture of the method shows.

use glam::{DAffine3, DMat4, Mat4, Vec3};

use crate::modifier::{Overlay, Spring};
use crate::rig::Body;

/// What moves a body in one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guides {
    /// From bind to world, for each joint of the body, after all modifiers.
    pub joints: Vec<Mat4>,
    /// For each modifier, how those after it carry the space it works in: from there to the world.
    pub onward: Vec<Mat4>,
    /// What modifiers show beside the surface.
    pub overlays: Vec<Overlay>,
}

impl Guides {
    /// The joints of the skeleton as points, and the parent of each.
    ///
    /// A joint's parent is the next joint up its chain of nodes.
    #[must_use]
    pub fn skeleton(&self, body: &Body) -> (Vec<Vec3>, Vec<Option<u32>>) {
        let at = |(joint, m): (&crate::rig::body::Joint, &Mat4)| {
            (m.as_dmat4() * joint.inverse_bind.as_dmat4().inverse()).w_axis.truncate().as_vec3()
        };
        let parent = |joint: &crate::rig::body::Joint| {
            let mut node = body.hierarchy().parent(joint.node);
            while let Some(n) = node {
                if let Some(found) = body.joints.iter().position(|j| j.node == n) {
                    return Some(found as u32);
                }
                node = body.hierarchy().parent(n);
            }
            None
        };
        let points = body.joints.iter().zip(&self.joints).map(at).collect();
        (points, body.joints.iter().map(parent).collect())
    }

    /// Takes where the joints are in the end, and how they came there from where their first one was
    /// after each modifier.
    pub(super) fn arrive(&mut self, joints: Vec<Mat4>, firsts: &[Option<Mat4>]) {
        let last = joints.first().copied();
        let onward = |&first: &Option<Mat4>| map_between(first, last).unwrap_or_default().as_mat4();
        self.onward = firsts.iter().map(onward).collect();
        self.joints = joints;
    }

    /// The masses on springs among the overlays.
    pub fn springs(&self) -> impl Iterator<Item = &Spring> {
        self.overlays.iter().filter_map(|overlay| match overlay {
            Overlay::Spring(spring) => Some(spring),
            _ => None,
        })
    }

    /// Carries what is shown so far on with a modifier that moves the whole body.
    pub(super) fn carry(&mut self, map: &DAffine3) {
        let map = DMat4::from(*map);
        self.overlays.iter_mut().for_each(|overlay| overlay.carry(&map));
    }
}

/// What carries a joint from one place to another; `None` if it stays, or a place has no inverse.
fn map_between(from: Option<Mat4>, to: Option<Mat4>) -> Option<DMat4> {
    let (from, to) = from.zip(to).filter(|(from, to)| from != to)?;
    Some(to.as_dmat4() * from.as_dmat4().inverse()).filter(|map| map.is_finite())
}

//! What moves a body in a frame: not its surface, but what a picture of the method shows.

use glam::{DMat4, Mat4, Vec3};

use crate::modifier::Overlay;
use crate::rig::Body;
use crate::scene::modifier::{Memory, Prepared};

/// What moves a body in one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guides {
    /// From bind to world, for each joint of the body, after all modifiers.
    pub joints: Vec<Mat4>,
    /// The masses of its `secondary` modifiers.
    pub springs: Vec<Spring>,
    /// For each modifier, how those after it carry the space it works in: from there to the world.
    pub onward: Vec<Mat4>,
    /// What modifiers show beside the surface.
    pub overlays: Vec<Overlay>,
}

/// A mass on its spring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Where it hangs.
    pub anchor: Vec3,
    /// Where the mass is.
    pub mass: Vec3,
    /// How far it moves the flesh around it, in scene units.
    pub radius: f32,
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

    /// Adds the masses of a modifier whose joints are at `joints`.
    pub(super) fn add_springs(&mut self, prepared: &Prepared, memory: &Memory, joints: &[Mat4]) {
        let (Prepared::Secondary(flesh), Memory::Secondary(state)) = (prepared, memory) else {
            return;
        };
        let spring = |(swing, radius): (&crate::secondary::Swing, f64)| Spring {
            anchor: swing.mass.anchor.as_vec3(),
            mass: swing.mass.position.as_vec3(),
            radius: radius as f32,
        };
        self.springs.extend(state.swings.iter().zip(flesh.radii(joints)).map(spring));
    }

    /// Carries the masses on with a modifier that moves the first joint from one place to another.
    pub(super) fn carry(&mut self, from: Option<Mat4>, to: Option<Mat4>) {
        let Some(map) = map_between(from, to) else { return };
        let scale = map.determinant().abs().cbrt() as f32;
        for spring in &mut self.springs {
            spring.anchor = map.transform_point3(spring.anchor.as_dvec3()).as_vec3();
            spring.mass = map.transform_point3(spring.mass.as_dvec3()).as_vec3();
            spring.radius *= scale;
        }
    }
}

/// What carries a joint from one place to another; `None` if it stays, or a place has no inverse.
fn map_between(from: Option<Mat4>, to: Option<Mat4>) -> Option<DMat4> {
    let (from, to) = from.zip(to).filter(|(from, to)| from != to)?;
    Some(to.as_dmat4() * from.as_dmat4().inverse()).filter(|map| map.is_finite())
}

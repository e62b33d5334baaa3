//! Skinning: moving a mesh by the joints its vertices are bound to.

use glam::Mat4;

/// Binds a mesh to nodes: the joint indices of its skin weights index `joints`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// Name in the file, or empty.
    pub name: String,
    /// Node of each joint.
    pub joints: Vec<u32>,
    /// From the mesh's space to each joint's at bind time; as many as joints.
    pub inverse_bind: Vec<Mat4>,
    /// The node named as the skeleton's root, if the file names one.
    pub root: Option<u32>,
}

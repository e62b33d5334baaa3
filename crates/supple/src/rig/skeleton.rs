//! The node hierarchy: where joints and meshes are.
//!
//! A file may list children before their parents; a [`Hierarchy`] finds an order in which every parent
//! comes first, once, and then turns local transforms into global matrices as often as asked.
//!
//! ```
//! use glam::Vec3;
//! use supple::rig::{Hierarchy, Node, Transform};
//!
//! let step = Transform::from_translation(Vec3::X);
//! let child = Node { parent: Some(1), local: step, ..Node::default() };
//! let root = Node { local: step, ..Node::default() };
//! let hierarchy = Hierarchy::new(&[child, root])?;
//! let globals = hierarchy.globals(&[step, step]);
//! assert_eq!(globals[0].transform_point3(Vec3::ZERO), 2.0 * Vec3::X);
//! # Ok::<(), supple::rig::skeleton::HierarchyError>(())
//! ```

use glam::{Mat4, Quat, Vec3};

use crate::Asset;

/// A node: a joint, or the place of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Name in the file, or empty.
    pub name: String,
    /// Index of the parent; `None` for a root.
    pub parent: Option<u32>,
    /// From this node's space to its parent's, at rest.
    pub local: Transform,
    /// Index of the mesh that hangs here.
    pub mesh: Option<u32>,
    /// Index of the skin that moves that mesh.
    pub skin: Option<u32>,
    /// Morph weights of this instance of the mesh, if they differ from the mesh's own.
    pub morph_weights: Vec<f32>,
}

/// From one space to another: scale, then turn, then move; or any affine matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transform {
    /// Scale, then rotation, then translation.
    Trs {
        /// Where the origin goes.
        translation: Vec3,
        /// How the axes turn; a unit quaternion.
        rotation: Quat,
        /// How the axes stretch.
        scale: Vec3,
    },
    /// A matrix that cannot be animated by parts.
    Matrix(Mat4),
}

impl Transform {
    /// Leaves everything where it is.
    pub const IDENTITY: Self =
        Self::Trs { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };

    /// A move alone.
    #[must_use]
    pub fn from_translation(translation: Vec3) -> Self {
        Self::Trs { translation, rotation: Quat::IDENTITY, scale: Vec3::ONE }
    }

    /// As a matrix.
    #[must_use]
    pub fn matrix(&self) -> Mat4 {
        match *self {
            Self::Trs { translation, rotation, scale } => {
                Mat4::from_scale_rotation_translation(scale, rotation, translation)
            }
            Self::Matrix(matrix) => matrix,
        }
    }

    /// As scale, rotation and translation; shear in a matrix is lost.
    #[must_use]
    pub fn parts(&self) -> (Vec3, Quat, Vec3) {
        match *self {
            Self::Trs { translation, rotation, scale } => (scale, rotation, translation),
            Self::Matrix(matrix) => matrix.to_scale_rotation_translation(),
        }
    }
}

impl Default for Transform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

/// All that can move in an asset, at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pose {
    /// The local transform of every node.
    pub locals: Vec<Transform>,
    /// The morph weights of every node's mesh; empty for a node without any.
    pub morph_weights: Vec<Vec<f32>>,
}

impl Pose {
    /// The asset as its file shows it: default transforms, default weights.
    #[must_use]
    pub fn rest(asset: &Asset) -> Self {
        let weights = |node: &Node| {
            let mesh = node.mesh.and_then(|m| asset.meshes.get(m as usize));
            let morphs = mesh.map_or(&[][..], |m| &m.morphs);
            let own = |k: usize| node.morph_weights.get(k).copied();
            morphs.iter().enumerate().map(|(k, m)| own(k).unwrap_or(m.weight)).collect()
        };
        Self {
            locals: asset.nodes.iter().map(|n| n.local).collect(),
            morph_weights: asset.nodes.iter().map(weights).collect(),
        }
    }
}

/// Why nodes do not form a forest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HierarchyError {
    /// A node is its own ancestor.
    #[error("node {node} is its own ancestor: the node hierarchy must have no cycle")]
    Cycle {
        /// One node of the cycle, or below it.
        node: u32,
    },
    /// A node names a parent that does not exist.
    #[error("node {node} names parent {parent}, but there are {nodes} nodes")]
    NoParent {
        /// Which node.
        node: u32,
        /// The parent it names.
        parent: u32,
        /// How many nodes there are.
        nodes: usize,
    },
}

/// A node forest with an order in which parents come before their children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hierarchy {
    parents: Vec<Option<u32>>,
    order: Vec<u32>,
}

impl Hierarchy {
    /// Orders nodes that may be listed in any order.
    ///
    /// # Errors
    ///
    /// [`HierarchyError`] if the nodes are not a forest.
    pub fn new(nodes: &[Node]) -> Result<Self, HierarchyError> {
        let mut children = vec![Vec::new(); nodes.len()];
        let mut order = Vec::with_capacity(nodes.len());
        for (i, node) in nodes.iter().enumerate() {
            let i = i as u32;
            match node.parent {
                None => order.push(i),
                Some(parent) if (parent as usize) < nodes.len() => {
                    children[parent as usize].push(i);
                }
                Some(parent) => {
                    return Err(HierarchyError::NoParent { node: i, parent, nodes: nodes.len() });
                }
            }
        }
        let mut at = 0;
        while at < order.len() {
            order.extend_from_slice(&children[order[at] as usize]);
            at += 1;
        }
        if order.len() < nodes.len() {
            order.sort_unstable();
            let node = (0..).zip(&order).find(|(i, o)| i != *o).map_or(order.len() as u32, |m| m.0);
            return Err(HierarchyError::Cycle { node });
        }
        Ok(Self { parents: nodes.iter().map(|n| n.parent).collect(), order })
    }

    /// All nodes, parents before their children.
    pub fn order(&self) -> impl Iterator<Item = u32> {
        self.order.iter().copied()
    }

    /// The node above a node; `None` for a root.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    #[must_use]
    pub fn parent(&self, node: u32) -> Option<u32> {
        self.parents[node as usize]
    }

    /// From each node's space to the world, for the given local transforms.
    ///
    /// # Panics
    ///
    /// If there are not as many transforms as nodes.
    #[must_use]
    pub fn globals(&self, locals: &[Transform]) -> Vec<Mat4> {
        assert_eq!(locals.len(), self.parents.len(), "one transform a node");
        let mut globals = vec![Mat4::IDENTITY; locals.len()];
        for &node in &self.order {
            let node = node as usize;
            let local = locals[node].matrix();
            globals[node] = match self.parents[node] {
                Some(parent) => globals[parent as usize] * local,
                None => local,
            };
        }
        globals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(parents: &[Option<u32>]) -> Vec<Node> {
        parents.iter().map(|&parent| Node { parent, ..Node::default() }).collect()
    }

    #[test]
    fn any_order_of_nodes_gives_the_same_globals() {
        let turn = Transform::Trs {
            translation: Vec3::X,
            rotation: Quat::from_rotation_z(std::f32::consts::FRAC_PI_2),
            scale: Vec3::splat(2.0),
        };
        let forwards = Hierarchy::new(&chain(&[None, Some(0), Some(1)])).unwrap();
        let backwards = Hierarchy::new(&chain(&[Some(1), Some(2), None])).unwrap();
        let (a, b) = (forwards.globals(&[turn; 3]), backwards.globals(&[turn; 3]));
        assert_eq!((a[0], a[1], a[2]), (b[2], b[1], b[0]));
        // 1 + 2i + 4i² = -3 + 2i in the plane of the turn.
        let tip = a[2].transform_point3(Vec3::ZERO);
        assert!(tip.abs_diff_eq(Vec3::new(-3.0, 2.0, 0.0), 1e-6), "{tip}");
    }

    #[test]
    fn cycles_and_missing_parents_are_named() {
        let cycle = Hierarchy::new(&chain(&[None, Some(2), Some(1)]));
        assert_eq!(cycle, Err(HierarchyError::Cycle { node: 1 }));
        let last = Hierarchy::new(&chain(&[None, Some(1)]));
        assert_eq!(last, Err(HierarchyError::Cycle { node: 1 }));
        let missing = Hierarchy::new(&chain(&[Some(7)]));
        assert_eq!(missing, Err(HierarchyError::NoParent { node: 0, parent: 7, nodes: 1 }));
    }
}

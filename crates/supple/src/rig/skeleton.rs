//! The node hierarchy: where joints and meshes are.

use glam::{Mat4, Quat, Vec3};

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
}

impl Default for Transform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

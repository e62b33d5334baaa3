//! What a file holds: meshes, the nodes that place them, skins, clips and materials.

use crate::Run;
use crate::mesh::{PointCloud, TriMesh};
use crate::rig::body::BodyError;
use crate::rig::{Body, Clip, Node, Skin, Transform};

/// Everything read from one file, or to be written to one.
///
/// Formats without a node hierarchy give one node a mesh, at the origin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asset {
    /// The triangle meshes.
    pub meshes: Vec<TriMesh>,
    /// The point clouds.
    pub clouds: Vec<PointCloud>,
    /// The node hierarchy that places meshes and joints; a forest, checked to have no cycle.
    pub nodes: Vec<Node>,
    /// The skins that bind meshes to nodes.
    pub skins: Vec<Skin>,
    /// The keyframed animations.
    pub clips: Vec<Clip>,
    /// The materials that groups of triangles name.
    pub materials: Vec<Material>,
    /// The pictures that materials name.
    pub images: Vec<Image>,
}

impl Asset {
    /// An asset of one mesh, placed at the origin.
    #[must_use]
    pub fn from_mesh(mesh: TriMesh) -> Self {
        let node = Node { name: mesh.name.clone(), mesh: Some(0), ..Node::default() };
        Self { meshes: vec![mesh], nodes: vec![node], ..Self::default() }
    }

    /// An asset of one point cloud.
    #[must_use]
    pub fn from_cloud(cloud: PointCloud) -> Self {
        Self { clouds: vec![cloud], ..Self::default() }
    }

    /// All meshes as one, in the pose and with the morph weights the file gives them.
    ///
    /// A lone mesh that nothing moves is handed on without a copy.
    ///
    /// # Errors
    ///
    /// What [`Body::from_asset`] reports: a broken hierarchy or skin.
    pub fn into_rest_mesh(mut self, run: &Run<'_>) -> Result<TriMesh, BodyError> {
        if self.is_one_still_mesh() {
            return Ok(self.meshes.swap_remove(0));
        }
        let body = Body::from_asset(&self)?;
        drop(self);
        Ok(body.rest_mesh(run))
    }

    /// Whether the asset is a lone mesh that nothing moves.
    pub(crate) fn is_one_still_mesh(&self) -> bool {
        let ([mesh], [node]) = (&self.meshes[..], &self.nodes[..]) else { return false };
        let placed = node.mesh == Some(0) && node.local == Transform::IDENTITY;
        placed && node.skin.is_none() && mesh.morphs.is_empty()
    }
}

/// How a surface looks, as far as Supple draws and carries it.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name in the file, or empty.
    pub name: String,
    /// Linear RGBA.
    pub base_color: [f32; 4],
    /// Index into [`Asset::images`], multiplied with `base_color`; uses the attribute `uv`.
    pub base_color_image: Option<u32>,
    /// 0 for a dielectric, 1 for a metal.
    pub metallic: f32,
    /// 0 for a mirror, 1 for chalk.
    pub roughness: f32,
    /// What the alpha of the base colour means.
    pub alpha: Alpha,
    /// Whether the back is drawn too.
    pub double_sided: bool,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: [1.0; 4],
            base_color_image: None,
            metallic: 0.0,
            roughness: 1.0,
            alpha: Alpha::Opaque,
            double_sided: false,
        }
    }
}

/// What the alpha of a base colour means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Alpha {
    /// Nothing: the surface is opaque.
    #[default]
    Opaque,
    /// Opaque at and above this value, invisible below.
    Mask(f32),
    /// How much of the surface covers what lies behind.
    Blend,
}

/// An encoded picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// Name in the file, or empty.
    pub name: String,
    /// `image/png` or `image/jpeg`.
    pub mime: String,
    /// The encoded bytes.
    pub bytes: Vec<u8>,
}

//! What a file holds: meshes, the nodes that place them, skins, clips and materials.

use std::borrow::Cow;

use crate::Run;
use crate::mesh::attribute::flip_if_uv;
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
    /// The cameras that nodes carry.
    pub cameras: Vec<Camera>,
    /// The keyframed animations.
    pub clips: Vec<Clip>,
    /// The materials that groups of triangles name.
    pub materials: Vec<Material>,
    /// The pictures that materials name.
    pub images: Vec<Image>,
    /// Where texture coordinates count v from.
    pub uv_origin: UvOrigin,
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

    /// An asset without meshes gets its point clouds as one mesh without triangles; any other stays as it is.
    #[must_use]
    pub fn with_clouds_as_meshes(mut self) -> Self {
        if !self.meshes.is_empty() || self.clouds.is_empty() {
            return self;
        }
        // Attributes of several clouds need not agree.
        if let [cloud] = &mut self.clouds[..] {
            let PointCloud { name, positions, attributes } = std::mem::take(cloud);
            let mesh = TriMesh::new(positions, Vec::new());
            return Self::from_mesh(TriMesh { name, attributes, ..mesh });
        }
        let points = self.clouds.drain(..).flat_map(|cloud| cloud.positions).collect();
        Self::from_mesh(TriMesh::new(points, Vec::new()))
    }

    /// The same asset with texture coordinates that count from `wanted`: as it is if they do already.
    #[must_use]
    pub fn with_uv_origin(&self, wanted: UvOrigin) -> Cow<'_, Self> {
        if self.uv_origin == wanted {
            return Cow::Borrowed(self);
        }
        let mut asset = self.clone();
        asset.set_uv_origin(wanted);
        Cow::Owned(asset)
    }

    /// Makes all texture coordinates count from `wanted`.
    pub fn set_uv_origin(&mut self, wanted: UvOrigin) {
        if std::mem::replace(&mut self.uv_origin, wanted) == wanted {
            return;
        }
        self.meshes.iter_mut().for_each(TriMesh::flip_uvs);
        for (name, values) in self.clouds.iter_mut().flat_map(|c| c.attributes.values_mut()) {
            flip_if_uv(name, values);
        }
    }

    /// All meshes as one, in the pose and with the morph weights the file gives them; texture
    /// coordinates count from the top.
    ///
    /// A lone mesh that nothing moves is handed on without a copy.
    ///
    /// # Errors
    ///
    /// What [`Body::from_asset`] reports: a broken hierarchy or skin.
    pub fn into_rest_mesh(mut self, run: &Run<'_>) -> Result<TriMesh, BodyError> {
        if self.is_one_still_mesh() {
            self.set_uv_origin(UvOrigin::Top);
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

/// Where texture coordinates count v from.
///
/// A file that is read keeps the numbers it has, and an asset says which they are; they change only
/// on the way to a format, or into a [`Body`], of the other convention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UvOrigin {
    /// v = 0 is the upper edge of the picture, as in glTF, bodies and pictures.
    #[default]
    Top,
    /// v = 0 is the lower edge of the picture, as in OBJ, PLY, OFF, VTK and USD.
    Bottom,
}

impl UvOrigin {
    /// A mesh that counts from here as one that counts from `wanted`; as it is if that is the same.
    pub(crate) fn convert(self, wanted: Self, mut mesh: Cow<'_, TriMesh>) -> Cow<'_, TriMesh> {
        if self != wanted && mesh.has_uvs() {
            mesh.to_mut().flip_uvs();
        }
        mesh
    }
}

/// A camera on a node: it looks along −z of the node's space, with y up.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// Name in the file, or empty.
    pub name: String,
    /// Which node carries it.
    pub node: u32,
    /// What it sees.
    pub lens: Lens,
}

/// What a camera sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lens {
    /// With perspective.
    Perspective {
        /// Angle from top to bottom, in radians.
        fov_y: f32,
    },
    /// Without.
    Orthographic {
        /// Length from top to bottom.
        height: f32,
    },
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

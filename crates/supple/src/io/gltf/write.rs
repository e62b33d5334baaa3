//! Writing an asset.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

use glam::{Mat4, Quat, Vec3, Vec4};
use serde_json::{Map, Value, json};

use super::buffer::{Buffer, Layout, Target, insert_list};
use super::{camera, write_mesh};
use crate::mesh::{PointCloud, TriMesh};
use crate::rig::asset::{Alpha, Asset, Material, UvOrigin};
use crate::rig::{Channel, Clip, Interpolation, Node, Skin, Track, Transform};

/// How far a rotation may be from unit length before it is scaled.
const UNIT_TOLERANCE: f32 = 1e-4;

/// Writes a binary glTF file.
///
/// Vertices keep their order and their bits. Corner attributes become vertex attributes: a vertex
/// is doubled at a seam, the copies coming after all vertices. Normals, tangents, rotations and
/// skin weights that break the rules of the format are scaled to unit. Empty meshes are left out.
///
/// # Errors
///
/// Whatever `out` reports; [`io::ErrorKind::InvalidInput`] if the asset is inconsistent or needs
/// more than 4 GB.
pub fn write_glb(asset: &Asset, out: &mut impl Write) -> io::Result<()> {
    check(asset)?;
    let asset = asset.with_uv_origin(UvOrigin::Top);
    let meshes: Vec<_> = asset.meshes.iter().map(without_seams).collect();
    let mut buffer = Buffer::default();
    let document = document(&asset, &meshes, &mut buffer);
    buffer.write_glb(document, &mut |_| Ok(Vec::new()), out)
}

/// Writes a glTF file in text form, with all data in it as base64; otherwise as [`write_glb`].
///
/// # Errors
///
/// As [`write_glb`].
pub fn write_gltf(asset: &Asset, out: &mut impl Write) -> io::Result<()> {
    check(asset)?;
    let asset = asset.with_uv_origin(UvOrigin::Top);
    let meshes: Vec<_> = asset.meshes.iter().map(without_seams).collect();
    let mut buffer = Buffer::default();
    let document = document(&asset, &meshes, &mut buffer);
    buffer.write_text(document, out)
}

/// The mesh with one value a vertex for everything.
fn without_seams(mesh: &TriMesh) -> Cow<'_, TriMesh> {
    if mesh.corners.is_empty() { Cow::Borrowed(mesh) } else { Cow::Owned(mesh.split_seams().0) }
}

/// An empty document.
pub(super) fn header() -> Map<String, Value> {
    let generator = concat!("Supple ", env!("CARGO_PKG_VERSION"));
    let mut document = Map::new();
    document.insert("asset".to_owned(), json!({ "version": "2.0", "generator": generator }));
    document
}

/// Refuses an asset whose parts do not fit together.
fn check(asset: &Asset) -> io::Result<()> {
    for mesh in &asset.meshes {
        check_mesh(mesh, asset.materials.len())?;
    }
    for cloud in &asset.clouds {
        if cloud.positions.iter().any(|p| !p.is_finite()) {
            return Err(invalid(format!("points '{}' are not finite", cloud.name)));
        }
    }
    let fits = |index: Option<u32>, len: usize| index.is_none_or(|i| (i as usize) < len);
    for (i, node) in asset.nodes.iter().enumerate() {
        let good = fits(node.parent, asset.nodes.len())
            && fits(node.mesh, asset.meshes.len())
            && fits(node.skin, asset.skins.len());
        if !good {
            return Err(invalid(format!("node {i} names what is not there")));
        }
    }
    let joints = asset.skins.iter().flat_map(|s| s.joints.iter().chain(&s.root));
    let moved = asset.clips.iter().flat_map(|c| &c.channels).map(|c| &c.node);
    if let Some(node) = joints.chain(moved).find(|&&n| n as usize >= asset.nodes.len()) {
        return Err(invalid(format!("a skin or a clip names node {node}, which is not there")));
    }
    let pictures = asset.materials.iter().filter_map(|m| m.base_color_image);
    if let Some(image) = pictures.into_iter().find(|&i| i as usize >= asset.images.len()) {
        return Err(invalid(format!("a material names image {image}, which is not there")));
    }
    Ok(())
}

/// Refuses a mesh that is inconsistent or names a material that is not there.
pub(super) fn check_mesh(mesh: &TriMesh, materials: usize) -> io::Result<()> {
    mesh.validate().map_err(|defect| invalid(format!("mesh '{}': {defect}", mesh.name)))?;
    let named = mesh.groups.iter().filter_map(|g| g.material);
    match named.into_iter().find(|&m| m as usize >= materials) {
        Some(m) => Err(invalid(format!("mesh '{}' names material {m} of {materials}", mesh.name))),
        None => Ok(()),
    }
}

pub(super) fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

fn document<'a>(
    asset: &'a Asset,
    meshes: &'a [Cow<'a, TriMesh>],
    buffer: &mut Buffer<'a>,
) -> Map<String, Value> {
    let mut document = header();
    let mut objects = Vec::new();
    let mut mesh_of = Vec::new();
    for mesh in meshes {
        let is_empty = mesh.positions.is_empty();
        mesh_of.push((!is_empty).then_some(objects.len()));
        if !is_empty {
            objects.push(mesh_object(mesh, buffer));
        }
    }
    let mut nodes = node_objects(asset, &mesh_of);
    for cloud in asset.clouds.iter().filter(|c| !c.positions.is_empty()) {
        nodes.push(named(&cloud.name, json!({ "mesh": objects.len() })));
        objects.push(cloud_object(cloud, buffer));
    }
    let roots: Vec<usize> = (0..nodes.len())
        .filter(|&i| asset.nodes.get(i).is_none_or(|n| n.parent.is_none()))
        .collect();
    if !roots.is_empty() {
        document.insert("scene".to_owned(), json!(0));
        document.insert("scenes".to_owned(), json!([{ "nodes": roots }]));
    }
    camera::write(&asset.cameras, &mut nodes, &mut document);
    insert_list(&mut document, "nodes", nodes);
    let mut pictures = Pictures::default();
    let materials = asset.materials.iter().map(|m| pictures.material(m, asset, buffer)).collect();
    pictures.insert(&mut document, objects, materials);
    let skins = asset.skins.iter().filter(|s| !s.joints.is_empty());
    insert_list(&mut document, "skins", skins.map(|s| skin(s, buffer)).collect());
    let clips = asset.clips.iter().filter(|c| !c.channels.is_empty());
    insert_list(&mut document, "animations", clips.map(|c| animation(c, buffer)).collect());
    document
}

/// Adds a name, if there is one.
pub(super) fn named(name: &str, mut object: Value) -> Value {
    if !name.is_empty() {
        object["name"] = json!(name);
    }
    object
}

fn mesh_object<'a>(mesh: &'a TriMesh, buffer: &mut Buffer<'a>) -> Value {
    let positions = Cow::Borrowed(mesh.positions.as_slice());
    let skin = mesh.skin_weights.as_ref();
    let attributes = write_mesh::vertices(buffer, positions, &mesh.attributes, skin);
    let targets = write_mesh::targets(buffer, mesh);
    let primitives = write_mesh::primitives(buffer, mesh, attributes, targets);
    let mut object = named(&mesh.name, json!({ "primitives": primitives }));
    if mesh.morphs.iter().any(|m| m.weight.to_bits() != 0) {
        object["weights"] = mesh.morphs.iter().map(|m| m.weight).collect();
    }
    if mesh.morphs.iter().any(|m| !m.name.is_empty()) {
        let names: Vec<&str> = mesh.morphs.iter().map(|m| m.name.as_str()).collect();
        object["extras"] = json!({ "targetNames": names });
    }
    object
}

fn cloud_object<'a>(cloud: &'a PointCloud, buffer: &mut Buffer<'a>) -> Value {
    let positions = Cow::Borrowed(cloud.positions.as_slice());
    let attributes = write_mesh::vertices(buffer, positions, &cloud.attributes, None);
    named(&cloud.name, json!({ "primitives": [{ "attributes": attributes, "mode": 0 }] }))
}

fn node_objects(asset: &Asset, mesh_of: &[Option<usize>]) -> Vec<Value> {
    let mut children = vec![Vec::new(); asset.nodes.len()];
    for (i, node) in asset.nodes.iter().enumerate() {
        if let Some(parent) = node.parent {
            children[parent as usize].push(i);
        }
    }
    // A node that a clip moves by parts cannot have a matrix.
    let mut is_moved = vec![false; asset.nodes.len()];
    for channel in asset.clips.iter().flat_map(|c| &c.channels) {
        is_moved[channel.node as usize] |= !channel.track.is_weights();
    }
    let mut objects = Vec::with_capacity(asset.nodes.len());
    for (i, node) in asset.nodes.iter().enumerate() {
        let mut object = named(&node.name, json!({}));
        if !children[i].is_empty() {
            object["children"] = json!(children[i]);
        }
        insert_transform(&mut object, node, is_moved[i]);
        if let Some(mesh) = node.mesh.and_then(|m| mesh_of[m as usize]) {
            object["mesh"] = json!(mesh);
            if !node.morph_weights.is_empty() {
                object["weights"] = json!(node.morph_weights);
            }
            if let Some(skin) = node.skin.and_then(|s| skin_index(asset, s)) {
                object["skin"] = json!(skin);
            }
        }
        objects.push(object);
    }
    objects
}

/// Index among the skins that have joints.
fn skin_index(asset: &Asset, skin: u32) -> Option<usize> {
    let has_joints = |s: &&Skin| !s.joints.is_empty();
    asset.skins.get(skin as usize).filter(has_joints)?;
    Some(asset.skins[..skin as usize].iter().filter(has_joints).count())
}

fn insert_transform(object: &mut Value, node: &Node, is_moved: bool) {
    let (translation, rotation, scale) = match node.local {
        Transform::Trs { translation, rotation, scale } => (translation, rotation, scale),
        Transform::Matrix(matrix) if is_moved => {
            let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
            (translation, rotation, scale)
        }
        Transform::Matrix(matrix) => {
            object["matrix"] = json!(matrix.to_cols_array());
            return;
        }
    };
    if translation != Vec3::ZERO {
        object["translation"] = json!(translation.to_array());
    }
    if rotation != Quat::IDENTITY {
        object["rotation"] = json!(unit(rotation).to_array());
    }
    if scale != Vec3::ONE {
        object["scale"] = json!(scale.to_array());
    }
}

fn unit(rotation: Quat) -> Quat {
    let length = rotation.length();
    if (length - 1.0).abs() <= UNIT_TOLERANCE || length.to_bits() == 0 {
        return rotation;
    }
    rotation / length
}

fn skin(skin: &Skin, buffer: &mut Buffer<'_>) -> Value {
    let matrices: Vec<[f32; 16]> = skin.inverse_bind.iter().map(affine).collect();
    let id = buffer.push(Cow::Owned(matrices), Layout::floats(16, Target::Other));
    let mut object = named(&skin.name, json!({ "joints": skin.joints, "inverseBindMatrices": id }));
    if let Some(root) = skin.root {
        object["skeleton"] = json!(root);
    }
    object
}

/// The matrix with its last row made exact: some exporters leave rounding errors in it.
fn affine(matrix: &Mat4) -> [f32; 16] {
    let mut matrix = *matrix;
    if matrix.row(3).abs_diff_eq(Vec4::W, 1e-4) {
        for (column, last) in [0.0, 0.0, 0.0, 1.0].into_iter().enumerate() {
            matrix.col_mut(column).w = last;
        }
    }
    matrix.to_cols_array()
}

fn animation<'a>(clip: &'a Clip, buffer: &mut Buffer<'a>) -> Value {
    let (mut channels, mut samplers) = (Vec::new(), Vec::new());
    // Channels mostly have the same keys: one list of times for all of them.
    let mut known: HashMap<&[u8], usize> = HashMap::new();
    for channel in &clip.channels {
        let times = channel.times.as_slice();
        let input = *known
            .entry(bytemuck::cast_slice(times))
            .or_insert_with(|| push_times(buffer, Cow::Borrowed(times)));
        let (path, output) = output(channel, buffer);
        let interpolation = match channel.interpolation {
            Interpolation::Step => "STEP",
            Interpolation::Linear => "LINEAR",
            Interpolation::CubicSpline => "CUBICSPLINE",
        };
        let target = json!({ "node": channel.node, "path": path });
        channels.push(json!({ "sampler": samplers.len(), "target": target }));
        samplers.push(json!({ "input": input, "output": output, "interpolation": interpolation }));
    }
    named(&clip.name, json!({ "channels": channels, "samplers": samplers }))
}

/// Adds the times of keys, with their bounds.
pub(super) fn push_times<'a>(buffer: &mut Buffer<'a>, times: Cow<'a, [f32]>) -> usize {
    let min = times.iter().copied().fold(f32::INFINITY, f32::min);
    let max = times.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let id = buffer.push(times, Layout::floats(1, Target::Other));
    buffer.set_bounds(id, &[min], &[max]);
    id
}

fn output<'a>(channel: &'a Channel, buffer: &mut Buffer<'a>) -> (&'static str, usize) {
    let layout = |width| Layout::floats(width, Target::Other);
    match &channel.track {
        Track::Translation(v) => {
            ("translation", buffer.push(Cow::Borrowed(v.as_slice()), layout(3)))
        }
        Track::Scale(v) => ("scale", buffer.push(Cow::Borrowed(v.as_slice()), layout(3))),
        Track::Weights(v) => ("weights", buffer.push(Cow::Borrowed(v.as_slice()), layout(1))),
        Track::SparseWeights(v) => {
            let (indices, values): (Vec<u32>, Vec<f32>) = v.iter().unzip();
            ("weights", buffer.push_sparse(v.len(), &indices, &values))
        }
        Track::Rotation(v) => {
            let is_spline = channel.interpolation == Interpolation::CubicSpline;
            let value = |(i, &q): (usize, &Quat)| {
                let is_tangent = is_spline && i % 3 != 1;
                if is_tangent { q.to_array() } else { unit(q).to_array() }
            };
            let values: Vec<[f32; 4]> = v.iter().enumerate().map(value).collect();
            ("rotation", buffer.push(Cow::Owned(values), layout(4)))
        }
    }
}

/// Images and textures, one of each for every picture that is used.
#[derive(Default)]
pub(super) struct Pictures {
    images: Vec<Value>,
    textures: Vec<Value>,
    /// Texture of the picture whose bytes are there in memory.
    known: HashMap<*const u8, usize>,
}

impl Pictures {
    pub(super) fn material<'a>(
        &mut self,
        material: &Material,
        asset: &'a Asset,
        buffer: &mut Buffer<'a>,
    ) -> Value {
        let mut surface = json!({});
        if material.base_color != [1.0; 4] {
            surface["baseColorFactor"] = json!(material.base_color);
        }
        for (key, value) in
            [("metallicFactor", material.metallic), ("roughnessFactor", material.roughness)]
        {
            if value.to_bits() != 1_f32.to_bits() {
                surface[key] = json!(value);
            }
        }
        if let Some(image) = material.base_color_image.and_then(|i| asset.images.get(i as usize)) {
            let texture = *self.known.entry(image.bytes.as_ptr()).or_insert_with(|| {
                let view = buffer.push_view(&image.bytes);
                let object = json!({ "bufferView": view, "mimeType": image.mime });
                self.textures.push(json!({ "source": self.images.len() }));
                self.images.push(named(&image.name, object));
                self.textures.len() - 1
            });
            surface["baseColorTexture"] = json!({ "index": texture });
        }
        let mut object = named(&material.name, json!({ "pbrMetallicRoughness": surface }));
        match material.alpha {
            Alpha::Opaque => {}
            Alpha::Blend => object["alphaMode"] = json!("BLEND"),
            Alpha::Mask(cutoff) => {
                object["alphaMode"] = json!("MASK");
                object["alphaCutoff"] = json!(cutoff);
            }
        }
        if material.double_sided {
            object["doubleSided"] = json!(true);
        }
        object
    }

    /// Adds meshes, materials and pictures to the document.
    pub(super) fn insert(
        self,
        document: &mut Map<String, Value>,
        mut meshes: Vec<Value>,
        mut materials: Vec<Value>,
    ) {
        give_plain_materials(&mut meshes, &mut materials);
        insert_list(document, "meshes", meshes);
        insert_list(document, "materials", materials);
        insert_list(document, "textures", self.textures);
        insert_list(document, "images", self.images);
    }
}

/// A primitive without texture coordinates gets a twin of its material that has no texture: the
/// format allows no other.
fn give_plain_materials(meshes: &mut [Value], materials: &mut Vec<Value>) {
    let mut twins: HashMap<usize, usize> = HashMap::new();
    let primitives = meshes.iter_mut().filter_map(|m| m["primitives"].as_array_mut()).flatten();
    for primitive in primitives.filter(|p| p["attributes"].get("TEXCOORD_0").is_none()) {
        let Some(material) = primitive.get("material").and_then(Value::as_u64) else { continue };
        let mut plain = materials[material as usize].clone();
        let surface = plain["pbrMetallicRoughness"].as_object_mut();
        if surface.and_then(|s| s.remove("baseColorTexture")).is_none() {
            continue;
        }
        let twin = *twins.entry(material as usize).or_insert_with(|| {
            materials.push(plain);
            materials.len() - 1
        });
        primitive["material"] = json!(twin);
    }
}

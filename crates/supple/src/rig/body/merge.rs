//! Putting the parts of a body together.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use glam::{Mat4, Vec2, Vec3, Vec4};

use super::{Body, BodyError, Joint, Morph, Part};
use crate::mesh::attribute::{COLOR, NORMAL};
use crate::mesh::normals::vertex_normals;
use crate::mesh::{CornerAttribute, Group, SkinWeights, TriMesh, Values};
use crate::rig::{Hierarchy, Node, Pose};
use crate::{Asset, Run};

/// So many vertices fit into one body: a file of few bytes can instance a mesh very often.
const MOST_VERTICES: usize = 1 << 26;
/// Joints are numbered in 16 bits.
const MOST_JOINTS: usize = 1 << 16;

pub(super) fn merge(asset: &Asset, hierarchy: Hierarchy) -> Result<Body, BodyError> {
    let instances = instances(asset)?;
    let rest = Pose::rest(asset);
    let globals = hierarchy.globals(&rest.locals);
    let mut building = Building::default();
    for instance in &instances {
        let joints = building.bind(asset, instance)?;
        building.add_part(instance, joints, &globals);
    }
    let mut mesh = building.mesh;
    merge_attributes(&mut mesh, &instances, &building.parts);
    if let [only] = &instances[..]
        && only.mesh.groups.is_empty()
    {
        mesh.groups.clear();
    }
    mesh.skin_weights = Some(building.weights);
    Ok(Body {
        mesh,
        parts: building.parts,
        morphs: building.morphs,
        joints: building.joints,
        node_names: asset.nodes.iter().map(|n| n.name.clone()).collect(),
        hierarchy,
        rest,
        loads: Vec::new(),
        welding: OnceLock::new(),
    })
}

#[derive(Debug)]
pub(super) struct Instance<'a> {
    pub(super) node_index: u32,
    pub(super) node: &'a Node,
    pub(super) mesh: &'a TriMesh,
}

pub(super) fn instances(asset: &Asset) -> Result<Vec<Instance<'_>>, BodyError> {
    let mut instances = Vec::new();
    let mut vertices = 0_usize;
    for (node_index, node) in (0..).zip(&asset.nodes) {
        let Some(index) = node.mesh else { continue };
        let Some(mesh) = asset.meshes.get(index as usize) else {
            return Err(missing(node_index, node, "mesh", index, asset.meshes.len()));
        };
        vertices = vertices.saturating_add(mesh.positions.len());
        instances.push(Instance { node_index, node, mesh });
    }
    if vertices > MOST_VERTICES {
        let (what, most) = ("vertices", MOST_VERTICES);
        return Err(BodyError::TooLarge { what, count: vertices, most });
    }
    for mesh in &asset.meshes {
        let bad = |defect| BodyError::BadMesh { name: mesh.name.clone(), defect };
        mesh.validate().map_err(bad)?;
    }
    if instances.is_empty() { Err(BodyError::NoMesh) } else { Ok(instances) }
}

fn missing(node: u32, of: &Node, what: &'static str, index: u32, count: usize) -> BodyError {
    BodyError::Missing { node, name: of.name.clone(), what, index, count }
}

#[derive(Default)]
pub(super) struct Building {
    pub(super) mesh: TriMesh,
    parts: Vec<Part>,
    pub(super) morphs: Vec<Morph>,
    pub(super) joints: Vec<Joint>,
    pub(super) weights: SkinWeights,
    /// First joint of the skins that are in the palette already.
    skins: HashMap<u32, usize>,
}

impl Building {
    /// Appends the weights of a part, and its joints where they are new; tells which joints it has.
    pub(super) fn bind(
        &mut self,
        asset: &Asset,
        instance: &Instance<'_>,
    ) -> Result<Range<u32>, BodyError> {
        let joints = self.joints_of(asset, instance)?;
        let first = joints.start as u16;
        match &instance.mesh.skin_weights {
            Some(weights) if instance.node.skin.is_some() => {
                for i in 0..weights.len() {
                    self.weights.push(weights.of(i).map(|(j, w)| (first + j, w)));
                }
            }
            _ => {
                for _ in &instance.mesh.positions {
                    self.weights.push([(first, 1.0)]);
                }
            }
        }
        Ok(joints)
    }

    /// The joints of a part, appended where they are new.
    pub(super) fn joints_of(
        &mut self,
        asset: &Asset,
        instance: &Instance<'_>,
    ) -> Result<Range<u32>, BodyError> {
        let Some(skin) = instance.node.skin else {
            let own = Joint { node: instance.node_index, inverse_bind: Mat4::IDENTITY };
            let joint = self.add_joints(&[own])? as u32;
            return Ok(joint..joint + 1);
        };
        check_skin(asset, instance, skin)?;
        let first = match self.skins.get(&skin) {
            Some(&first) => first,
            None => {
                let skin = &asset.skins[skin as usize];
                let joint = |(&node, &inverse_bind): (&u32, &Mat4)| Joint { node, inverse_bind };
                let joints: Vec<Joint> =
                    skin.joints.iter().zip(&skin.inverse_bind).map(joint).collect();
                self.add_joints(&joints)?
            }
        };
        self.skins.insert(skin, first);
        Ok(first as u32..(first + asset.skins[skin as usize].joints.len()) as u32)
    }

    fn add_joints(&mut self, joints: &[Joint]) -> Result<usize, BodyError> {
        let first = self.joints.len();
        let count = first + joints.len();
        if count > MOST_JOINTS {
            return Err(BodyError::TooLarge { what: "joints", count, most: MOST_JOINTS });
        }
        self.joints.extend_from_slice(joints);
        Ok(first)
    }

    /// Appends vertices, triangles, groups and morph targets of a part that is bound already.
    pub(super) fn add_part(
        &mut self,
        instance: &Instance<'_>,
        joints: Range<u32>,
        globals: &[Mat4],
    ) {
        let (mesh, node) = (instance.mesh, instance.node);
        let first_vertex = self.mesh.positions.len() as u32;
        let first_triangle = self.mesh.triangles.len() as u32;
        let joint = self.weights_of_first(first_vertex, mesh).map_or(0, usize::from);
        let joint = &self.joints[joint.min(self.joints.len() - 1)];
        let to_world = globals[joint.node as usize] * joint.inverse_bind;
        let mirrored = to_world.determinant() < 0.0;
        let triangles =
            mesh.triangles.iter().map(|t| turned(t.map(|i| i + first_vertex), mirrored));
        self.mesh.triangles.extend(triangles);
        self.mesh.positions.extend_from_slice(&mesh.positions);
        let name = if node.name.is_empty() { &mesh.name } else { &node.name };
        let part = Part {
            name: name.clone(),
            node: instance.node_index,
            skinned: node.skin.is_some(),
            vertices: first_vertex..self.mesh.positions.len() as u32,
            triangles: first_triangle..self.mesh.triangles.len() as u32,
            joints,
        };
        self.add_groups(mesh, &part);
        self.morphs.extend(mesh.morphs.iter().enumerate().map(|(index, m)| Morph {
            name: m.name.clone(),
            node: instance.node_index,
            index,
            vertices: part.vertices.clone(),
            positions: m.positions.clone(),
            normals: m.normals.clone(),
        }));
        if self.mesh.name.is_empty() {
            self.mesh.name.clone_from(&part.name);
        }
        self.parts.push(part);
    }

    fn weights_of_first(&self, vertex: u32, mesh: &TriMesh) -> Option<u16> {
        mesh.positions.first()?;
        self.weights.of(vertex as usize).next().map(|(joint, _)| joint)
    }

    fn add_groups(&mut self, mesh: &TriMesh, part: &Part) {
        let first = part.triangles.start;
        if mesh.groups.is_empty() {
            let (name, triangles) = (part.name.clone(), part.triangles.clone());
            self.mesh.groups.push(Group { name, triangles, material: None });
        }
        self.mesh.groups.extend(mesh.groups.iter().map(|g| Group {
            name: g.name.clone(),
            triangles: g.triangles.start + first..g.triangles.end + first,
            material: g.material,
        }));
    }
}

fn turned(t: [u32; 3], mirrored: bool) -> [u32; 3] {
    if mirrored { [t[0], t[2], t[1]] } else { t }
}

fn check_skin(asset: &Asset, instance: &Instance<'_>, index: u32) -> Result<(), BodyError> {
    let Some(skin) = asset.skins.get(index as usize) else {
        return Err(missing(instance.node_index, instance.node, "skin", index, asset.skins.len()));
    };
    let bad = |what| BodyError::BadSkin { skin: index, name: skin.name.clone(), what };
    let (joints, binds, nodes) = (skin.joints.len(), skin.inverse_bind.len(), asset.nodes.len());
    if binds != joints {
        return Err(bad(format!("has {joints} joints but {binds} inverse bind matrices")));
    }
    if let Some(node) = skin.joints.iter().find(|&&j| j as usize >= nodes) {
        return Err(bad(format!("names node {node} as a joint, but there are {nodes} nodes")));
    }
    let mesh = instance.mesh;
    let Some(weights) = &mesh.skin_weights else {
        return Err(bad(format!("should move mesh '{}', which has no skin weights", mesh.name)));
    };
    let used = weights.joint_count();
    if used > joints {
        return Err(bad(format!(
            "has {joints} joints, but mesh '{}' is bound to joint {}",
            mesh.name,
            used - 1
        )));
    }
    Ok(())
}

/// Gives the merged mesh every attribute that any part has.
fn merge_attributes(mesh: &mut TriMesh, instances: &[Instance<'_>], parts: &[Part]) {
    for (name, width, at_corners) in kinds(instances) {
        if at_corners {
            let corner = merge_corners(&name, width, mesh, instances, parts);
            mesh.corners.push(corner);
        } else {
            let mut floats = Vec::with_capacity(mesh.positions.len() * width);
            for instance in instances {
                floats.extend_from_slice(vertex_values(instance.mesh, &name, width).as_floats());
            }
            if let Some(values) = Values::from_floats(width, floats) {
                mesh.attributes.set(name, values);
            }
        }
    }
}

/// Names, widths, and whether the values sit at corners in any part; in order of appearance.
fn kinds(instances: &[Instance<'_>]) -> Vec<(String, usize, bool)> {
    let mut kinds: Vec<(String, usize, bool)> = Vec::new();
    for instance in instances {
        let vertex = instance.mesh.attributes.iter().map(|a| (&a.name, a.values.width(), false));
        let corner = instance.mesh.corners.iter().map(|c| (&c.name, c.values.width(), true));
        for (name, width, at_corners) in vertex.chain(corner) {
            match kinds.iter_mut().find(|k| k.0 == *name) {
                Some(kind) => kind.2 |= at_corners,
                None => kinds.push((name.clone(), width, at_corners)),
            }
        }
    }
    kinds
}

/// The values of an attribute at the vertices of a part, or what stands for them.
fn vertex_values(mesh: &TriMesh, name: &str, width: usize) -> Values {
    if let Some(values) = mesh.attributes.get(name).filter(|v| v.width() == width) {
        return values.clone();
    }
    let n = mesh.positions.len();
    match width {
        3 if name == NORMAL => {
            Values::Vec3(vertex_normals(&mesh.positions, &mesh.triangles, &Run::default()))
        }
        1 => Values::Scalar(vec![0.0; n]),
        2 => Values::Vec2(vec![Vec2::ZERO; n]),
        3 => Values::Vec3(vec![Vec3::ZERO; n]),
        _ if name.starts_with(COLOR) => Values::Vec4(vec![Vec4::ONE; n]),
        _ => Values::Vec4(vec![Vec4::ZERO; n]),
    }
}

fn merge_corners(
    name: &str,
    width: usize,
    merged: &TriMesh,
    instances: &[Instance<'_>],
    parts: &[Part],
) -> CornerAttribute {
    let mut floats = Vec::new();
    let mut triangles = Vec::with_capacity(merged.triangles.len());
    for (instance, part) in instances.iter().zip(parts) {
        let mesh = instance.mesh;
        let base = (floats.len() / width) as u32;
        let first = part.triangles.start as usize;
        let own = mesh.corners.iter().find(|c| c.name == name && c.values.width() == width);
        let indices = own.map_or(&mesh.triangles, |c| &c.triangles);
        match own {
            Some(corner) => floats.extend_from_slice(corner.values.as_floats()),
            None => floats.extend_from_slice(vertex_values(mesh, name, width).as_floats()),
        }
        for (k, t) in indices.iter().enumerate() {
            // A mirrored part has its triangles turned round, and so its corners.
            let vertices = mesh.triangles[k].map(|i| i + part.vertices.start);
            let mirrored = merged.triangles[first + k] != vertices;
            triangles.push(turned(t.map(|i| i + base), mirrored));
        }
    }
    let values = Values::from_floats(width, floats).expect("whole values of a width of 1 to 4");
    CornerAttribute { name: name.to_owned(), values, triangles }
}

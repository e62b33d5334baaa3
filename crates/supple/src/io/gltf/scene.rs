//! Nodes and skins.

use glam::{Mat4, Quat, Vec3, Vec4};

use super::accessor::{AGAIN, Data, missing};
use super::document::{self, Document, Int};
use crate::io::{Malformed, Place, Warning};
use crate::mesh::TriMesh;
use crate::rig::{Node, Skin, Transform};

/// How far a quaternion may be from unit length before it is scaled.
const UNIT_TOLERANCE: f32 = 1e-3;

/// Reads all nodes, in the order of the file; `mesh_of` gives the mesh that became of a glTF mesh.
pub(super) fn nodes(
    document: &Document<'_>,
    mesh_of: &[Option<u32>],
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Node>, Malformed> {
    let parents = parents(document)?;
    let mut nodes = Vec::with_capacity(document.nodes.len());
    for (i, node) in document.nodes.iter().enumerate() {
        let at = |field: &str| format!("nodes[{i}].{field}");
        if let Some(mesh) = node.mesh.filter(|m| m.index() >= mesh_of.len()) {
            return Err(missing(&at("mesh"), "mesh", mesh));
        }
        if let Some(skin) = node.skin.filter(|s| s.index() >= document.skins.len()) {
            return Err(missing(&at("skin"), "skin", skin));
        }
        if node.weights.iter().any(|w| !w.is_finite()) {
            return Err(not_finite(at("weights")));
        }
        nodes.push(Node {
            name: node.name.clone(),
            parent: parents[i],
            local: transform(node, i, warnings)?,
            mesh: node.mesh.and_then(|m| mesh_of[m.index()]),
            skin: node.skin.map(|s| s.0 as u32),
            morph_weights: node.weights.clone(),
        });
    }
    Ok(nodes)
}

/// The parent of each node, after checking that nodes form a forest.
fn parents(document: &Document<'_>) -> Result<Vec<Option<u32>>, Malformed> {
    let mut parents = vec![None; document.nodes.len()];
    for (i, node) in document.nodes.iter().enumerate() {
        for (k, &child) in node.children.iter().enumerate() {
            let place = format!("nodes[{i}].children[{k}]");
            let Some(parent) = parents.get_mut(child.index()) else {
                return Err(missing(&place, "node", child));
            };
            if let Some(other) = parent.replace(i as u32) {
                let what = format!("node {} is a child of node {other} already", child.0);
                let fix = "give every node one parent";
                return Err(Malformed::new(Place::Json(place), what, fix));
            }
        }
    }
    check_acyclic(&parents)?;
    Ok(parents)
}

/// Walks up from every node; a walk that meets itself is a cycle.
fn check_acyclic(parents: &[Option<u32>]) -> Result<(), Malformed> {
    let mut walk_of = vec![usize::MAX; parents.len()];
    for start in 0..parents.len() {
        let mut node = start;
        while walk_of[node] == usize::MAX {
            walk_of[node] = start;
            match parents[node] {
                Some(parent) => node = parent as usize,
                None => break,
            }
            if walk_of[node] == start {
                let place = Place::Json(format!("nodes[{node}].children"));
                let what = format!("node {node} is its own ancestor");
                return Err(Malformed::new(place, what, "break the cycle of nodes"));
            }
        }
    }
    Ok(())
}

fn transform(
    node: &document::Node,
    i: usize,
    warnings: &mut Vec<Warning>,
) -> Result<Transform, Malformed> {
    let at = |field: &str| format!("nodes[{i}].{field}");
    if let Some(columns) = node.matrix {
        let matrix = Mat4::from_cols_array(&columns);
        if !matrix.is_finite() {
            return Err(not_finite(at("matrix")));
        }
        if matrix.row(3) != Vec4::W {
            let what = format!("the last row {} is not 0, 0, 0, 1", matrix.row(3));
            return Err(Malformed::new(Place::Json(at("matrix")), what, AGAIN));
        }
        let moves = matrix != Mat4::IDENTITY;
        return Ok(if moves { Transform::Matrix(matrix) } else { Transform::IDENTITY });
    }
    let translation = node.translation.map_or(Vec3::ZERO, Vec3::from_array);
    let scale = node.scale.map_or(Vec3::ONE, Vec3::from_array);
    let rotation = node.rotation.map_or(Quat::IDENTITY, Quat::from_array);
    if !(translation.is_finite() && scale.is_finite() && rotation.is_finite()) {
        return Err(not_finite(format!("nodes[{i}]")));
    }
    let unit = unit(rotation);
    if unit != rotation {
        let what = format!("{rotation} is not a unit quaternion: scaled");
        warnings.push(Warning::new(Place::Json(at("rotation")), what));
    }
    Ok(Transform::Trs { translation, rotation: unit, scale })
}

/// The quaternion itself if it is about unit length, else scaled to it; identity for zero.
pub(super) fn unit(rotation: Quat) -> Quat {
    let length = rotation.length();
    if (length - 1.0).abs() <= UNIT_TOLERANCE {
        return rotation;
    }
    let scaled = rotation / length;
    if scaled.is_finite() && length > 0.0 { scaled } else { Quat::IDENTITY }
}

fn not_finite(place: String) -> Malformed {
    Malformed::new(Place::Json(place), "a number is not finite", "mend it where it was made")
}

/// Reads all skins.
pub(super) fn skins(
    document: &Document<'_>,
    data: &Data<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Skin>, Malformed> {
    let mut skins = Vec::new();
    for (i, skin) in document.skins.iter().enumerate() {
        let at = |field: &str| format!("skins[{i}].{field}");
        for (k, &joint) in skin.joints.iter().enumerate() {
            node_index(document, joint, &at(&format!("joints[{k}]")))?;
        }
        if let Some(root) = skin.skeleton {
            node_index(document, root, &at("skeleton"))?;
        }
        if skin.joints.is_empty() {
            warnings.push(Warning::new(Place::Json(at("joints")), "the skin has no joints"));
        }
        skins.push(Skin {
            name: skin.name.clone(),
            joints: skin.joints.iter().map(|j| j.0 as u32).collect(),
            inverse_bind: inverse_bind(data, i, skin, warnings)?,
            root: skin.skeleton.map(|s| s.0 as u32),
        });
    }
    Ok(skins)
}

fn inverse_bind(
    data: &Data<'_>,
    i: usize,
    skin: &document::Skin,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Mat4>, Malformed> {
    let joints = skin.joints.len();
    let Some(id) = skin.inverse_bind_matrices else { return Ok(vec![Mat4::IDENTITY; joints]) };
    let place = format!("skins[{i}].inverseBindMatrices");
    let columns: Vec<[f32; 16]> = data.floats(id, &place)?;
    if columns.len() < joints {
        let what = format!("{} matrices for {joints} joints", columns.len());
        return Err(Malformed::new(Place::Json(place), what, AGAIN));
    }
    if columns.len() > joints {
        let what = format!("ignored the last {} matrices", columns.len() - joints);
        warnings.push(Warning::new(Place::Json(place.clone()), what));
    }
    let matrices: Vec<Mat4> = columns[..joints].iter().map(Mat4::from_cols_array).collect();
    if matrices.iter().any(|m| !m.is_finite()) {
        return Err(not_finite(place));
    }
    Ok(matrices)
}

/// Checks that meshes and nodes agree about joints and morph weights.
pub(super) fn check_instances(
    nodes: &mut [Node],
    meshes: &[TriMesh],
    skins: &[Skin],
    warnings: &mut Vec<Warning>,
) -> Result<(), Malformed> {
    for (i, node) in nodes.iter_mut().enumerate() {
        let mesh = node.mesh.map(|m| &meshes[m as usize]);
        let targets = mesh.map_or(0, |m| m.morphs.len());
        if !node.morph_weights.is_empty() && node.morph_weights.len() != targets {
            let what = format!("{} weights for {targets} morph targets", node.morph_weights.len());
            let place = Place::Json(format!("nodes[{i}].weights"));
            warnings.push(Warning::new(place, format!("{what}: ignored")));
            node.morph_weights.clear();
        }
        let Some(skin) = node.skin else { continue };
        let place = Place::Json(format!("nodes[{i}].skin"));
        let Some(weights) = mesh.and_then(|m| m.skin_weights.as_ref()) else {
            let what = "there are no skin weights for this skin: ignored";
            warnings.push(Warning::new(place, what));
            node.skin = None;
            continue;
        };
        let joints = skins[skin as usize].joints.len();
        if weights.joint_count() > joints {
            let largest = weights.joint_count() - 1;
            let what = format!("the mesh uses joint {largest} of a skin with {joints} joints");
            return Err(Malformed::new(place, what, AGAIN));
        }
    }
    Ok(())
}

/// The node an index names.
pub(super) fn node_index(
    document: &Document<'_>,
    node: Int,
    place: &str,
) -> Result<usize, Malformed> {
    let index = node.index();
    if index < document.nodes.len() { Ok(index) } else { Err(missing(place, "node", node)) }
}

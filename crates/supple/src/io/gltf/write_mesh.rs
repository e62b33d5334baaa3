//! Meshes on their way out.

use std::borrow::Cow;

use glam::{Vec3, Vec4};
use serde_json::{Map, Value, json};

use super::buffer::{Buffer, Layout, Target, U8, U16, U32};
use crate::mesh::attribute::{COLOR, NORMAL, TANGENT, UV, set_number};
use crate::mesh::{Attributes, SkinWeights, TriMesh, Values};

/// How far a normal or tangent may be from unit length before it is scaled: what the validator of
/// the Khronos Group lets pass, with a margin.
const UNIT_TOLERANCE: f32 = 2e-4;
/// How far the weights of a vertex may be from one, for each of them, as the specification sets it.
const WEIGHT_TOLERANCE: f32 = 2e-7;

/// Adds the vertices of a mesh that has no corner attributes; returns its `attributes` object.
pub(super) fn vertices<'a>(
    buffer: &mut Buffer<'a>,
    positions: Cow<'a, [Vec3]>,
    attributes: &'a Attributes,
    skin: Option<&SkinWeights>,
) -> Map<String, Value> {
    let mut object = Map::new();
    let (min, max) = super::buffer::bounds(&positions);
    let id = buffer.push(positions, Layout::floats(3, Target::Vertices));
    buffer.set_bounds(id, &min.to_array(), &max.to_array());
    object.insert("POSITION".to_owned(), json!(id));
    for attribute in attributes {
        let semantic = semantic(&attribute.name, &attribute.values, attributes);
        let id = push_values(buffer, &semantic, &attribute.values);
        object.insert(semantic, json!(id));
    }
    if let Some(skin) = skin {
        push_skin(buffer, skin, &mut object);
    }
    object
}

/// The glTF name of an attribute; `_NAME` for all that glTF has no place for.
fn semantic(name: &str, values: &Values, all: &Attributes) -> String {
    let painted = format!("_{name}");
    match (name, values) {
        (NORMAL, Values::Vec3(_)) => return "NORMAL".to_owned(),
        (TANGENT, Values::Vec4(_)) if all.normals().is_some() => return "TANGENT".to_owned(),
        _ => {}
    }
    for (base, prefix, width) in [(UV, "TEXCOORD", 2), (COLOR, "COLOR", 4)] {
        let Some(set) = set_number(name, base) else { continue };
        // Sets are numbered without a hole.
        let fits = |set: u32| {
            let name = if set == 0 { base.to_owned() } else { format!("{base}{set}") };
            all.get(&name).is_some_and(|v| v.width() == width)
        };
        if (set as usize) < all.len() && (0..=set).all(fits) {
            return format!("{prefix}_{set}");
        }
    }
    painted
}

fn push_values<'a>(buffer: &mut Buffer<'a>, semantic: &str, values: &'a Values) -> usize {
    let layout = Layout::floats(values.width(), Target::Vertices);
    match (semantic, values) {
        ("NORMAL", Values::Vec3(normals)) => buffer.push(unit_normals(normals), layout),
        ("TANGENT", Values::Vec4(tangents)) => buffer.push(unit_tangents(tangents), layout),
        _ => buffer.push_floats(finite(values.as_floats()), layout, values.width()),
    }
}

/// The numbers as they are, but 0 for NaN and infinity, which glTF forbids.
fn finite(numbers: &[f32]) -> Cow<'_, [f32]> {
    if numbers.iter().all(|x| x.is_finite()) {
        return Cow::Borrowed(numbers);
    }
    Cow::Owned(numbers.iter().map(|x| if x.is_finite() { *x } else { 0.0 }).collect())
}

fn is_unit(length: f32) -> bool {
    (length - 1.0).abs() <= UNIT_TOLERANCE
}

/// The normals as they are, but unit: a zero normal becomes +Z.
fn unit_normals(normals: &[Vec3]) -> Cow<'_, [Vec3]> {
    if normals.iter().all(|n| is_unit(n.length())) {
        return Cow::Borrowed(normals);
    }
    let mend =
        |&n: &Vec3| if is_unit(n.length()) { n } else { n.try_normalize().unwrap_or(Vec3::Z) };
    Cow::Owned(normals.iter().map(mend).collect())
}

/// The tangents as they are, but unit and with a handedness.
fn unit_tangents(tangents: &[Vec4]) -> Cow<'_, [Vec4]> {
    let is_right =
        |t: &Vec4| is_unit(t.truncate().length()) && t.w.abs().to_bits() == 1_f32.to_bits();
    if tangents.iter().all(is_right) {
        return Cow::Borrowed(tangents);
    }
    let mend = |t: &Vec4| {
        if is_right(t) {
            return *t;
        }
        let axis = t.truncate().try_normalize().unwrap_or(Vec3::X);
        axis.extend(if t.w < 0.0 { -1.0 } else { 1.0 })
    };
    Cow::Owned(tangents.iter().map(mend).collect())
}

/// Writes all influences, four a set. A vertex that no joint holds is given to the first.
fn push_skin(buffer: &mut Buffer<'_>, skin: &SkinWeights, object: &mut Map<String, Value>) {
    let rows: Vec<Vec<(u16, f32)>> = (0..skin.len()).map(|v| influences(skin, v)).collect();
    let sets = rows.iter().map(Vec::len).max().unwrap_or(0).div_ceil(4).max(1);
    let is_narrow = skin.joint_count() <= 256;
    for set in 0..sets {
        let slot =
            |row: &Vec<(u16, f32)>, k: usize| row.get(4 * set + k).copied().unwrap_or((0, 0.0));
        let mut weights: Vec<[f32; 4]> = Vec::with_capacity(rows.len());
        let mut joints: Vec<[u16; 4]> = Vec::with_capacity(rows.len());
        for row in &rows {
            let four = [0, 1, 2, 3].map(|k| slot(row, k));
            joints.push(four.map(|(joint, _)| joint));
            weights.push(four.map(|(_, weight)| weight));
        }
        let layout = |component| Layout { component, kind: "VEC4", target: Target::Vertices };
        let id = if is_narrow {
            let narrow: Vec<[u8; 4]> = joints.iter().map(|j| j.map(|j| j as u8)).collect();
            buffer.push(Cow::Owned(narrow), layout(U8))
        } else {
            buffer.push(Cow::Owned(joints), layout(U16))
        };
        object.insert(format!("JOINTS_{set}"), json!(id));
        let id = buffer.push(Cow::Owned(weights), Layout::floats(4, Target::Vertices));
        object.insert(format!("WEIGHTS_{set}"), json!(id));
    }
}

/// The influences of a vertex: each joint once, the weights summing to one.
fn influences(skin: &SkinWeights, vertex: usize) -> Vec<(u16, f32)> {
    let mut row: Vec<(u16, f32)> = Vec::new();
    for (joint, weight) in skin.of(vertex) {
        match row.iter_mut().find(|(other, _)| *other == joint) {
            Some((_, sum)) => *sum += weight,
            None => row.push((joint, weight)),
        }
    }
    let sum: f32 = row.iter().map(|(_, weight)| weight).sum();
    if row.is_empty() || sum <= 0.0 {
        return vec![(0, 1.0)];
    }
    if (sum - 1.0).abs() > WEIGHT_TOLERANCE * row.len() as f32 {
        for (_, weight) in &mut row {
            *weight /= sum;
        }
    }
    row
}

/// Adds the morph targets; returns the `targets` list.
pub(super) fn targets<'a>(buffer: &mut Buffer<'a>, mesh: &'a TriMesh) -> Vec<Value> {
    let mut targets = Vec::new();
    for morph in &mesh.morphs {
        let id = buffer
            .push(Cow::Borrowed(morph.positions.as_slice()), Layout::floats(3, Target::Vertices));
        buffer.set_bounds_of(id, &morph.positions);
        let mut target = json!({ "POSITION": id });
        if let (Some(normals), Some(_)) = (&morph.normals, mesh.attributes.normals()) {
            let layout = Layout::floats(3, Target::Vertices);
            target["NORMAL"] = json!(buffer.push(Cow::Borrowed(normals.as_slice()), layout));
        }
        targets.push(target);
    }
    targets
}

/// Adds the triangles, a primitive a group; a mesh without triangles is drawn as points.
pub(super) fn primitives<'a>(
    buffer: &mut Buffer<'a>,
    mesh: &'a TriMesh,
    attributes: Map<String, Value>,
    targets: Vec<Value>,
) -> Vec<Value> {
    let mut primitive = json!({ "attributes": attributes });
    if !targets.is_empty() {
        primitive["targets"] = Value::Array(targets);
    }
    if mesh.triangles.is_empty() {
        primitive["mode"] = json!(0);
        return vec![primitive];
    }
    let whole = [(0..mesh.triangles.len(), None)];
    let range = |g: &crate::mesh::Group| g.triangles.start as usize..g.triangles.end as usize;
    let groups: Vec<_> = mesh.groups.iter().map(|g| (range(g), g.material)).collect();
    let groups = if groups.is_empty() { &whole[..] } else { &groups };
    let mut primitives = Vec::new();
    for (range, material) in groups.iter().filter(|(range, _)| !range.is_empty()) {
        let mut primitive = primitive.clone();
        let triangles = &mesh.triangles[range.clone()];
        primitive["indices"] = json!(push_indices(buffer, triangles, mesh.positions.len()));
        if let Some(material) = material {
            primitive["material"] = json!(material);
        }
        primitives.push(primitive);
    }
    primitives
}

/// 16-bit indices if they suffice; the largest 16-bit number is not an index.
fn push_indices<'a>(buffer: &mut Buffer<'a>, triangles: &'a [[u32; 3]], vertices: usize) -> usize {
    let corners = triangles.as_flattened();
    let layout = |component| Layout { component, kind: "SCALAR", target: Target::Indices };
    if vertices <= usize::from(u16::MAX) {
        let narrow: Vec<u16> = corners.iter().map(|&i| i as u16).collect();
        return buffer.push(Cow::Owned(narrow), layout(U16));
    }
    buffer.push(Cow::Borrowed(corners), layout(U32))
}

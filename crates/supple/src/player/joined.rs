//! All meshes of an asset as one, and apart again: what they have in common is split in common.
//!
//! The joined mesh stands where the body is at rest. Each vertex carries which mesh it is of and where it is bound;
//! values that some meshes lack are zero there, and are left out again when they are taken apart.

use glam::Vec3;

use crate::mesh::{Attributes, CornerAttribute, Group, MorphTarget, SkinWeights, TriMesh, Values};

/// Which mesh a vertex is of.
const MESH: &str = " mesh";
/// Where it is bound.
const BOUND: &str = " bound";

/// Meshes as one, whose vertices are at `rest`, one mesh after the other.
pub(super) fn join(meshes: &[TriMesh], rest: Vec<Vec3>) -> TriMesh {
    let mut joined = TriMesh::new(rest, Vec::new());
    joined.attributes = attributes(meshes);
    let mut start = 0;
    for mesh in meshes {
        joined.triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| v + start)));
        start += mesh.positions.len() as u32;
    }
    joined.corners = corners(meshes);
    joined.groups = groups(meshes);
    joined.skin_weights =
        meshes.iter().any(|m| m.skin_weights.is_some()).then(|| skin_weights(meshes));
    joined.morphs = morphs(meshes);
    joined
}

/// A joined mesh apart again, each as one of `meshes` with more vertices; and for each vertex of the joined one which of
/// all vertices it is now.
pub(super) fn apart(meshes: &[TriMesh], joined: &TriMesh) -> (Vec<TriMesh>, Vec<u32>) {
    let owner = joined.attributes.scalar(MESH).unwrap_or_default();
    let (mut parts, mut order) = (Vec::with_capacity(meshes.len()), vec![0; owner.len()]);
    let (mut before, mut first_group) = (0, 0);
    for (m, mesh) in meshes.iter().enumerate() {
        let own: Vec<u32> =
            (0..owner.len() as u32).filter(|&v| owner[v as usize] as usize == m).collect();
        let mut name = vec![0; owner.len()];
        for (i, &v) in (0..).zip(&own) {
            name[v as usize] = i;
            order[v as usize] = before + i;
        }
        before += own.len() as u32;
        let mut part = joined.clone();
        let is_own = |t: &[u32; 3]| owner[t[0] as usize] as usize == m;
        let keep: Vec<bool> = joined.triangles.iter().map(is_own).collect();
        part.retain_triangles(&keep);
        part.gather_vertices(&own);
        part.triangles.iter_mut().flatten().for_each(|v| *v = name[*v as usize]);
        part.groups = part.groups.split_off(first_group);
        first_group += mesh.groups.len().max(1);
        parts.push(as_before(mesh, part));
    }
    (parts, order)
}

/// What a mesh did not have before it was joined is taken from it again.
fn as_before(mesh: &TriMesh, mut part: TriMesh) -> TriMesh {
    if let Some(Values::Vec3(bound)) = part.attributes.remove(BOUND) {
        part.positions = bound;
    }
    part.name.clone_from(&mesh.name);
    let mut attributes = Attributes::default();
    for old in &mesh.attributes {
        if let Some(values) = part.attributes.remove(&key(&old.name, &old.values)) {
            attributes.set(old.name.clone(), values);
        }
    }
    part.attributes = attributes;
    let corner = |old: &CornerAttribute| {
        let key = key(&old.name, &old.values);
        let found = part.corners.iter().find(|c| c.name == key)?;
        Some(CornerAttribute { name: old.name.clone(), ..compact(found) })
    };
    part.corners = mesh.corners.iter().filter_map(corner).collect();
    part.groups.truncate(mesh.groups.len());
    for (group, old) in part.groups.iter_mut().zip(&mesh.groups) {
        group.name.clone_from(&old.name);
        group.material = old.material;
    }
    part.skin_weights = part.skin_weights.filter(|_| mesh.skin_weights.is_some());
    part.morphs.truncate(mesh.morphs.len());
    for (morph, old) in part.morphs.iter_mut().zip(&mesh.morphs) {
        let (name, normals) = (old.name.clone(), morph.normals.take());
        let normals = normals.filter(|_| old.normals.is_some());
        *morph = MorphTarget { name, weight: old.weight, normals, ..std::mem::take(morph) };
    }
    part
}

/// What values are called in the joined mesh: those of one name need not be of one width.
fn key(name: &str, values: &Values) -> String {
    match (name, values.width()) {
        // Directions stay of unit length by their name.
        ("normal", 3) | ("tangent", 4) => name.to_owned(),
        (name, width) => format!("{name} {width}"),
    }
}

/// The keys of what any mesh has, with their widths, in order.
fn keys<'a>(all: impl Iterator<Item = (&'a str, &'a Values)>) -> Vec<(String, usize)> {
    let mut keys: Vec<(String, usize)> = Vec::new();
    for (name, values) in all {
        let key = key(name, values);
        if keys.iter().all(|(known, _)| *known != key) {
            keys.push((key, values.width()));
        }
    }
    keys
}

fn attributes(meshes: &[TriMesh]) -> Attributes {
    let mut joined = Attributes::default();
    let all = meshes.iter().flat_map(|m| m.attributes.iter().map(|a| (&a.name[..], &a.values)));
    for (wanted, width) in keys(all) {
        let mut floats = Vec::new();
        for mesh in meshes {
            let own = mesh.attributes.iter().find(|a| key(&a.name, &a.values) == wanted);
            match own {
                Some(own) => floats.extend_from_slice(own.values.as_floats()),
                None => floats.resize(floats.len() + width * mesh.positions.len(), 0.0),
            }
        }
        joined.set(wanted, Values::from_floats(width, floats).expect("whole rows"));
    }
    let owner = meshes.iter().enumerate();
    let owner = owner.flat_map(|(m, mesh)| vec![m as f32; mesh.positions.len()]).collect();
    joined.set(MESH, Values::Scalar(owner));
    let bound = meshes.iter().flat_map(|m| m.positions.iter().copied()).collect();
    joined.set(BOUND, Values::Vec3(bound));
    joined
}

fn corners(meshes: &[TriMesh]) -> Vec<CornerAttribute> {
    let all = meshes.iter().flat_map(|m| m.corners.iter().map(|c| (&c.name[..], &c.values)));
    let join_one = |(wanted, width): (String, usize)| {
        // The first value is that of the meshes that have none.
        let (mut floats, mut triangles) = (vec![0.0; width], Vec::new());
        for mesh in meshes {
            let own = mesh.corners.iter().find(|c| key(&c.name, &c.values) == wanted);
            let first = (floats.len() / width) as u32;
            match own {
                Some(own) => {
                    floats.extend_from_slice(own.values.as_floats());
                    triangles.extend(own.triangles.iter().map(|row| row.map(|i| i + first)));
                }
                None => triangles.resize(triangles.len() + mesh.triangles.len(), [0; 3]),
            }
        }
        let values = Values::from_floats(width, floats).expect("whole rows");
        CornerAttribute { name: wanted, values, triangles }
    };
    keys(all).into_iter().map(join_one).collect()
}

/// A corner attribute without values that no corner has.
fn compact(corner: &CornerAttribute) -> CornerAttribute {
    let mut used: Vec<u32> = corner.triangles.as_flattened().to_vec();
    used.sort_unstable();
    used.dedup();
    let rename = |i: u32| used.partition_point(|&u| u < i) as u32;
    CornerAttribute {
        name: corner.name.clone(),
        values: corner.values.gather(&used),
        triangles: corner.triangles.iter().map(|row| row.map(rename)).collect(),
    }
}

/// The groups of all meshes; a mesh without any is one.
fn groups(meshes: &[TriMesh]) -> Vec<Group> {
    let (mut groups, mut start) = (Vec::new(), 0);
    for mesh in meshes {
        let whole = [Group { triangles: 0..mesh.triangles.len() as u32, ..Group::default() }];
        let own = if mesh.groups.is_empty() { &whole[..] } else { &mesh.groups };
        let moved = |g: &Group| Group {
            triangles: g.triangles.start + start..g.triangles.end + start,
            ..g.clone()
        };
        groups.extend(own.iter().map(moved));
        start += mesh.triangles.len() as u32;
    }
    groups
}

fn skin_weights(meshes: &[TriMesh]) -> SkinWeights {
    let mut joined = SkinWeights::default();
    for mesh in meshes {
        for vertex in 0..mesh.positions.len() {
            match &mesh.skin_weights {
                Some(weights) => joined.push(weights.of(vertex)),
                None => joined.push([(0, 1.0)]),
            }
        }
    }
    joined
}

/// The first morph targets of all meshes as one, the second ones, and so on.
fn morphs(meshes: &[TriMesh]) -> Vec<MorphTarget> {
    let most = meshes.iter().map(|m| m.morphs.len()).max().unwrap_or(0);
    let join_one = |k: usize| {
        let of = |mesh: &TriMesh, pick: fn(&MorphTarget) -> Option<&Vec<Vec3>>| {
            let own = mesh.morphs.get(k).and_then(pick).cloned();
            own.unwrap_or_else(|| vec![Vec3::ZERO; mesh.positions.len()])
        };
        let all = |pick| meshes.iter().flat_map(|m| of(m, pick)).collect::<Vec<Vec3>>();
        let has_normals =
            meshes.iter().any(|m| m.morphs.get(k).is_some_and(|t| t.normals.is_some()));
        MorphTarget {
            positions: all(|t| Some(&t.positions)),
            normals: has_normals.then(|| all(|t| t.normals.as_ref())),
            ..MorphTarget::default()
        }
    };
    (0..most).map(join_one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two meshes that have different things.
    fn two() -> Vec<TriMesh> {
        let mut first =
            TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE], vec![[0, 1, 2], [1, 3, 2]]);
        first.name = "first".to_owned();
        first.attributes.set("paint", Values::Scalar(vec![0.0, 1.0, 2.0, 3.0]));
        first.groups = (0..2)
            .map(|t| Group { name: t.to_string(), triangles: t..t + 1, material: Some(t) })
            .collect();
        let morph = MorphTarget { positions: vec![Vec3::Z; 4], weight: 0.5, ..Default::default() };
        first.morphs = vec![morph];
        let mut second = TriMesh::new(vec![Vec3::X, Vec3::Y, Vec3::Z], vec![[0, 1, 2]]);
        second.attributes.set("paint", Values::Vec2(vec![glam::Vec2::ONE; 3]));
        let values = Values::Vec2(vec![glam::Vec2::X, glam::Vec2::Y, glam::Vec2::ONE]);
        let triangles = vec![[2, 1, 0]];
        second.corners = vec![CornerAttribute { name: "uv".to_owned(), values, triangles }];
        let mut weights = SkinWeights::default();
        (0..3).for_each(|v| weights.push([(v, 0.25), (7, 0.75)]));
        second.skin_weights = Some(weights);
        vec![first, second]
    }

    #[test]
    fn meshes_come_apart_as_they_were() {
        let meshes = two();
        let rest = (0..7).map(|i| Vec3::splat(i as f32)).collect();
        let joined = join(&meshes, rest);
        assert_eq!(joined.validate(), Ok(()));
        assert_eq!(joined.positions[5], Vec3::splat(5.0));
        let (parts, order) = apart(&meshes, &joined);
        assert_eq!(parts, meshes);
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6]);
    }

    /// A vertex that is appended to the joined mesh belongs to the mesh whose number it carries.
    #[test]
    fn new_vertices_come_after_those_of_their_mesh() {
        let meshes = two();
        let mut joined = join(&meshes, vec![Vec3::ZERO; 7]);
        joined.gather_vertices(&[0, 1, 2, 3, 4, 5, 6, 1, 5]);
        let (parts, order) = apart(&meshes, &joined);
        assert_eq!(parts[0].positions.len(), 5);
        assert_eq!(parts[0].positions[4], Vec3::X);
        assert_eq!(parts[1].positions[3], Vec3::Y);
        assert_eq!(parts[1].triangles, meshes[1].triangles);
        assert_eq!(order, [0, 1, 2, 3, 5, 6, 7, 4, 8]);
    }
}

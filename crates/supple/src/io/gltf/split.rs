//! Corner attributes as vertex attributes: a vertex is doubled where its corners differ.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::mesh::{CornerAttribute, MorphTarget, TriMesh};

/// A mesh with one value a vertex for everything.
pub(super) struct Split<'a> {
    pub(super) mesh: Cow<'a, TriMesh>,
    /// The vertex of the original mesh that each vertex is.
    pub(super) sources: Vec<u32>,
}

/// Splits a mesh. Vertices keep their index; copies come last.
pub(super) fn split(mesh: &TriMesh) -> Split<'_> {
    if mesh.corners.is_empty() {
        let sources = (0..mesh.positions.len() as u32).collect();
        return Split { mesh: Cow::Borrowed(mesh), sources };
    }
    let seams = Seams::of(mesh);
    let sources = &seams.sources;
    let mut split = TriMesh {
        name: mesh.name.clone(),
        positions: sources.iter().map(|&v| mesh.positions[v as usize]).collect(),
        groups: mesh.groups.clone(),
        skin_weights: mesh.skin_weights.as_ref().map(|s| s.gather(sources)),
        ..TriMesh::default()
    };
    for attribute in &mesh.attributes {
        split.attributes.set(attribute.name.clone(), attribute.values.gather(sources));
    }
    for (corner, rows) in mesh.corners.iter().zip(&seams.values) {
        if !corner.values.is_empty() {
            split.attributes.set(corner.name.clone(), corner.values.gather(rows));
        }
    }
    for morph in &mesh.morphs {
        let pick = |v: &Vec<glam::Vec3>| sources.iter().map(|&i| v[i as usize]).collect();
        split.morphs.push(MorphTarget {
            name: morph.name.clone(),
            positions: pick(&morph.positions),
            normals: morph.normals.as_ref().map(pick),
            weight: morph.weight,
        });
    }
    split.triangles = seams.triangles;
    Split { mesh: Cow::Owned(split), sources: seams.sources }
}

/// Which vertices the split mesh has.
struct Seams {
    /// The vertex each is a copy of.
    sources: Vec<u32>,
    /// For each corner attribute, the value each vertex has.
    values: Vec<Vec<u32>>,
    triangles: Vec<[u32; 3]>,
}

impl Seams {
    fn of(mesh: &TriMesh) -> Self {
        let vertices = mesh.positions.len();
        let canonical: Vec<Vec<u32>> = mesh.corners.iter().map(distinct_values).collect();
        let mut seams = Self {
            sources: (0..vertices as u32).collect(),
            values: vec![vec![0; vertices]; mesh.corners.len()],
            triangles: mesh.triangles.clone(),
        };
        let mut is_taken = vec![false; vertices];
        // One number for (vertex, first value), one for (that number, second value), and so on.
        let mut numbers: HashMap<(u32, u32, u32), u32> = HashMap::new();
        let mut vertex_of: HashMap<u32, u32> = HashMap::new();
        let mut row = vec![0; mesh.corners.len()];
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            for (k, &vertex) in triangle.iter().enumerate() {
                let mut number = vertex;
                for (a, corner) in mesh.corners.iter().enumerate() {
                    row[a] = canonical[a][corner.triangles[t][k] as usize];
                    let fresh = numbers.len() as u32;
                    number = *numbers.entry((a as u32, number, row[a])).or_insert(fresh);
                }
                let claim = || seams.claim(vertex, &row, &mut is_taken);
                let index = *vertex_of.entry(number).or_insert_with(claim);
                seams.triangles[t][k] = index;
            }
        }
        seams
    }

    /// The vertex itself the first time, a copy of it after that; it gets the values of `row`.
    fn claim(&mut self, vertex: u32, row: &[u32], is_taken: &mut [bool]) -> u32 {
        let mut index = vertex;
        if std::mem::replace(&mut is_taken[vertex as usize], true) {
            index = self.sources.len() as u32;
            self.sources.push(vertex);
        }
        for (values, &value) in self.values.iter_mut().zip(row) {
            values.resize(self.sources.len(), 0);
            values[index as usize] = value;
        }
        index
    }
}

/// For each value the first one of the same bits.
fn distinct_values(corner: &CornerAttribute) -> Vec<u32> {
    let width = corner.values.width();
    let mut first: HashMap<[u32; 4], u32> = HashMap::new();
    let rows = corner.values.as_floats().chunks_exact(width).enumerate();
    rows.map(|(i, row)| {
        let mut bits = [0; 4];
        for (bit, x) in bits.iter_mut().zip(row) {
            *bit = x.to_bits();
        }
        *first.entry(bits).or_insert(i as u32)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use glam::{Vec2, Vec3};

    use super::*;
    use crate::mesh::Values;

    #[test]
    fn only_vertices_at_a_seam_are_doubled() {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE];
        let mut mesh = TriMesh::new(positions, vec![[0, 1, 2], [2, 1, 3]]);
        mesh.corners.push(CornerAttribute {
            name: "uv".to_owned(),
            values: Values::Vec2(vec![Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::ONE, Vec2::X, -Vec2::Y]),
            triangles: vec![[0, 1, 2], [5, 4, 3]],
        });
        let split = split(&mesh).mesh;
        split.validate().unwrap();
        assert_eq!(
            split.triangles,
            [[0, 1, 2], [4, 1, 3]],
            "value 4 equals value 1: no seam there"
        );
        assert_eq!(split.positions[4], mesh.positions[2]);
        let Some(Values::Vec2(uv)) = split.attributes.get("uv") else { panic!("no uv") };
        assert_eq!(uv[..], [Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::ONE, -Vec2::Y]);
    }
}

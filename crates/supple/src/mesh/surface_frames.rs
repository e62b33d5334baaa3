//! Normals and tangents of a surface, prepared once and found again wherever its vertices go.
//!
//! # Method
//!
//! Files double vertices at seams of texture coordinates and at hard edges. Copies of a place that have one normal at
//! rest share their normal for ever, so that a seam does not show; copies whose normals differ keep them apart, so that
//! a hard edge stays hard. Without normals at rest, the copies of a vertex share one. Normals are those of
//! [`vertex_normals`], tangents follow as in [`tangents`](super::tangents).
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::mesh::surface_frames::SurfaceFrames;
//! use supple::{Run, TriMesh};
//!
//! let mut mesh = TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]);
//! mesh.attributes.set("normal", supple::mesh::Values::Vec3(vec![Vec3::Z; 3]));
//! let frames = SurfaceFrames::of(&mesh);
//! frames.place(&mut mesh, vec![Vec3::ZERO, Vec3::Y, Vec3::Z], &Run::default());
//! assert_eq!(mesh.attributes.normals(), Some(&[Vec3::X; 3][..]));
//! ```

use std::collections::HashMap;
use std::hash::Hash;

use glam::{Vec3, Vec4};

use super::attribute::{NORMAL, TANGENT};
use super::normals::vertex_normals;
use super::tangents::Tangents;
use super::welding::Welding;
use super::{CornerAttribute, TriMesh, Values};
use crate::Run;

/// Cosine of the angle up to which the normals of two copies of a vertex are the same: files round them.
const SAME: f32 = 0.9999;

/// What is known of the normals and tangents of a mesh at rest.
#[derive(Clone, Debug, Default)]
pub struct SurfaceFrames {
    /// Vertices that share a normal, if vertices have normals.
    vertices: Option<Shared>,
    /// Corners that share one, if corners have normals.
    corners: Option<Shared>,
    /// Tangents of vertices, and of corners by the name of their attribute.
    tangents: Option<Tangents>,
    corner_tangents: Option<(Vec<[u32; 3]>, Tangents)>,
}

/// Who shares a normal.
#[derive(Clone, Debug, Default)]
struct Shared {
    /// The group of each vertex; empty where corners share.
    group_of: Vec<u32>,
    /// A vertex of each group.
    members: Vec<u32>,
    /// The triangles, by groups.
    triangles: Vec<[u32; 3]>,
}

impl Shared {
    /// Vertices with one place and one normal share it.
    fn of_vertices(mesh: &TriMesh, normals: &[Vec3]) -> Self {
        let same = |a: u32, b: u32| {
            let (a, b) = (normals[a as usize], normals[b as usize]);
            a == b || a.dot(b) > SAME
        };
        let welding = Welding::of_same(&mesh.positions, same);
        let vertices: Vec<u32> = (0..mesh.positions.len() as u32).collect();
        let group_of = vertices.iter().map(|&v| welding.place(v)).collect();
        let triangles = welding.triangles(&mesh.triangles);
        Self { group_of, members: welding.gather(&vertices), triangles }
    }

    /// Copies of a vertex share a normal: `sources` says of which.
    fn of_sources(mesh: &TriMesh, sources: &[u32]) -> Self {
        let mut groups = Groups::default();
        let group_of: Vec<u32> =
            (0..).zip(sources).map(|(vertex, source)| groups.of(vertex, *source)).collect();
        let triangles = mesh.triangles.iter().map(|t| t.map(|v| group_of[v as usize])).collect();
        Self { group_of, members: groups.members, triangles }
    }

    /// Corners at one place with one normal share it.
    fn of_corners(mesh: &TriMesh, normals: &[Vec3], numbers: &[[u32; 3]]) -> Self {
        let welding = Welding::of(&mesh.positions);
        let mut groups = Groups::default();
        let mut corner = |vertex: u32, normal: u32| {
            let bits = (normals[normal as usize] + 0.0).to_array().map(f32::to_bits);
            groups.of(vertex, (welding.place(vertex), bits))
        };
        let triangles = mesh.triangles.iter().zip(numbers);
        let triangles = triangles.map(|(t, n)| [0, 1, 2].map(|k| corner(t[k], n[k]))).collect();
        Self { group_of: Vec::new(), members: groups.members, triangles }
    }

    /// The normal of each group, with the vertices elsewhere.
    fn of_groups(&self, positions: &[Vec3], run: &Run<'_>) -> Vec<Vec3> {
        let places: Vec<Vec3> = self.members.iter().map(|&v| positions[v as usize]).collect();
        vertex_normals(&places, &self.triangles, run)
    }

    /// The normal of each vertex.
    fn normals(&self, positions: &[Vec3], run: &Run<'_>) -> Vec<Vec3> {
        let normals = self.of_groups(positions, run);
        self.group_of.iter().map(|&g| normals[g as usize]).collect()
    }
}

/// What has the same key is one group.
struct Groups<K> {
    known: HashMap<K, u32>,
    members: Vec<u32>,
}

impl<K> Default for Groups<K> {
    fn default() -> Self {
        Self { known: HashMap::new(), members: Vec::new() }
    }
}

impl<K: Eq + Hash> Groups<K> {
    /// The group of a vertex.
    fn of(&mut self, vertex: u32, key: K) -> u32 {
        *self.known.entry(key).or_insert_with(|| {
            self.members.push(vertex);
            self.members.len() as u32 - 1
        })
    }
}

impl SurfaceFrames {
    /// Those of the vertices of a mesh at rest; its corners are left alone.
    #[must_use]
    pub fn of_vertices(rest: &TriMesh) -> Self {
        let vertices = rest.attributes.normals().map(|n| Shared::of_vertices(rest, n));
        Self { vertices, tangents: vertex_tangents(rest), ..Self::default() }
    }

    /// Those of a mesh at rest.
    #[must_use]
    pub fn of(rest: &TriMesh) -> Self {
        let corner = |name: &str| rest.corners.iter().find(|corner| corner.name == name);
        let corners = match corner(NORMAL) {
            Some(CornerAttribute { values: Values::Vec3(normals), triangles, .. }) => {
                Some(Shared::of_corners(rest, normals, triangles))
            }
            _ => None,
        };
        let corner_tangents = match corner(TANGENT) {
            Some(CornerAttribute { values: Values::Vec4(given), triangles, .. }) => {
                let tangents =
                    Tangents::new(&rest.positions, &rest.triangles, triangles, given.clone());
                Some((triangles.clone(), tangents))
            }
            _ => None,
        };
        Self { corners, corner_tangents, ..Self::of_vertices(rest) }
    }

    /// Those of a mesh whose vertices are copies of others, as a writer needs them: it has normals whether there were
    /// any at rest or not.
    #[must_use]
    pub fn of_copies(rest: &TriMesh, sources: &[u32]) -> Self {
        let vertices = match rest.attributes.normals() {
            Some(normals) => Shared::of_vertices(rest, normals),
            None => Shared::of_sources(rest, sources),
        };
        let tangents = vertex_tangents(rest);
        Self { vertices: Some(vertices), tangents, ..Self::default() }
    }

    /// The normals of the vertices with these elsewhere; empty if they have none.
    #[must_use]
    pub fn normals(&self, positions: &[Vec3], run: &Run<'_>) -> Vec<Vec3> {
        self.vertices.as_ref().map_or_else(Vec::new, |shared| shared.normals(positions, run))
    }

    /// The tangents of the vertices with these elsewhere, across their normals; `None` if they have none.
    #[must_use]
    pub fn tangents(&self, positions: &[Vec3], normals: &[Vec3]) -> Option<Vec<Vec4>> {
        self.tangents.as_ref().map(|tangents| tangents.moved(positions, Some(normals)))
    }

    /// Puts the vertices of the mesh it was made of elsewhere, its normals and tangents with them.
    pub fn place(&self, mesh: &mut TriMesh, positions: Vec<Vec3>, run: &Run<'_>) {
        mesh.positions = positions;
        let at = &mesh.positions;
        if let Some(shared) = &self.vertices {
            mesh.attributes.set(NORMAL, Values::Vec3(shared.normals(at, run)));
        }
        let normals = self.corners.as_ref().map(|shared| {
            let (values, name) = (Values::Vec3(shared.of_groups(at, run)), NORMAL.to_owned());
            CornerAttribute { name, values, triangles: shared.triangles.clone() }
        });
        let tangents = self.corner_tangents.as_ref().map(|(triangles, tangents)| {
            let (values, name) = (Values::Vec4(tangents.moved(at, None)), TANGENT.to_owned());
            CornerAttribute { name, values, triangles: triangles.clone() }
        });
        if let Some(tangents) = &self.tangents {
            mesh.attributes.set(TANGENT, Values::Vec4(tangents.moved(at, None)));
        }
        for attribute in normals.into_iter().chain(tangents) {
            mesh.corners.retain(|corner| corner.name != attribute.name);
            mesh.corners.push(attribute);
        }
    }
}

fn vertex_tangents(rest: &TriMesh) -> Option<Tangents> {
    let Some(Values::Vec4(given)) = rest.attributes.get(TANGENT) else { return None };
    Some(Tangents::new(&rest.positions, &rest.triangles, &rest.triangles, given.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles that meet in an edge, each with its own copies of the ends: a seam if their normals agree.
    fn split(normals: [Vec3; 2]) -> TriMesh {
        let [o, x, y, z] = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.0)];
        let mut mesh = TriMesh::new(vec![o, x, y, x, z, y], vec![[0, 1, 2], [3, 4, 5]]);
        let of_each = normals.iter().flat_map(|&n| [n; 3]).collect();
        mesh.attributes.set(NORMAL, Values::Vec3(of_each));
        mesh
    }

    /// The same, folded along that edge.
    fn folded(mesh: &TriMesh) -> TriMesh {
        let mut moved = mesh.clone();
        let mut positions = mesh.positions.clone();
        positions[4] = Vec3::new(1.0, 1.0, 1.0);
        SurfaceFrames::of(mesh).place(&mut moved, positions, &Run::default());
        moved
    }

    #[test]
    fn seams_are_shaded_as_one_and_hard_edges_stay_hard() {
        let seam = folded(&split([Vec3::Z; 2]));
        let normals = seam.attributes.normals().unwrap();
        assert_eq!((normals[1], normals[2]), (normals[3], normals[5]), "one normal at the seam");
        let hard = folded(&split([Vec3::Z, Vec3::new(0.0, 0.6, 0.8)]));
        let normals = hard.attributes.normals().unwrap();
        assert_eq!(normals[1], Vec3::Z, "its own triangle's");
        assert!(normals[3].dot(Vec3::Z) < 0.9, "{}", normals[3]);
    }

    #[test]
    fn normals_of_corners_follow_too() {
        let mut mesh = split([Vec3::Z; 2]);
        let normals = mesh.attributes.remove(NORMAL).unwrap();
        let triangles = mesh.triangles.clone();
        mesh.corners.push(CornerAttribute { name: NORMAL.to_owned(), values: normals, triangles });
        let by_vertex = folded(&split([Vec3::Z; 2]));
        let by_corner = folded(&mesh);
        let Values::Vec3(values) = &by_corner.corners[0].values else { panic!("three numbers") };
        let at = |t: usize, k: usize| values[by_corner.corners[0].triangles[t][k] as usize];
        let expected = by_vertex.attributes.normals().unwrap();
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            for (k, &vertex) in triangle.iter().enumerate() {
                assert_eq!(at(t, k), expected[vertex as usize], "triangle {t}, corner {k}");
            }
        }
    }
}

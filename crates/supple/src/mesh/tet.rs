//! Tetrahedral meshes: bodies with an inside.
//!
//! A tet `[a, b, c, d]` is positively oriented when `(b − a) × (c − a) · (d − a) > 0`: seen from `d`, the face
//! `a b c` runs counter-clockwise. Readers and meshers hand out tets of this orientation only
//! ([`TetMesh::orient`]); what uses them may rely on it.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::mesh::TetMesh;
//!
//! let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
//! let mut mesh = TetMesh::new(corners, vec![[0, 2, 1, 3]]);
//! assert_eq!(mesh.orient(), 1);
//! assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-7);
//! assert_eq!(mesh.boundary().len(), 4);
//! ```

use std::collections::HashMap;

use glam::{DVec3, Vec3};

use super::{Attributes, TriMesh};
use crate::Run;

/// Tets a task looks at.
const TASK: usize = 4096;

/// The faces of a tet `[a, b, c, d]` of positive volume, each counter-clockwise seen from outside; face `k` lies
/// opposite corner `k`.
pub const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// The edges of a tet, as pairs of its corners.
pub const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// A tetrahedral mesh with named attributes on its vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Name in the file, or empty.
    pub name: String,
    /// Where the vertices are.
    pub positions: Vec<Vec3>,
    /// Four vertices each.
    pub tets: Vec<[u32; 4]>,
    /// One value a vertex each.
    pub attributes: Attributes,
}

impl TetMesh {
    /// A mesh of positions and tets alone.
    #[must_use]
    pub fn new(positions: Vec<Vec3>, tets: Vec<[u32; 4]>) -> Self {
        Self { positions, tets, ..Self::default() }
    }

    /// The four corners of a tet.
    #[must_use]
    pub fn corners_of(&self, tet: usize) -> [Vec3; 4] {
        self.tets[tet].map(|i| self.positions[i as usize])
    }

    /// The signed volume of a tet: positive where it is oriented as [the module](self) says.
    #[must_use]
    pub fn volume_of(&self, tet: usize) -> f64 {
        signed_volume(self.corners_of(tet).map(Vec3::as_dvec3))
    }

    /// The sum of the signed volumes.
    #[must_use]
    pub fn volume(&self) -> f64 {
        (0..self.tets.len()).map(|t| self.volume_of(t)).sum()
    }

    /// Turns tets of negative volume over and says how many there were.
    pub fn orient(&mut self) -> usize {
        let mut turned = 0;
        for t in 0..self.tets.len() {
            if self.volume_of(t) < 0.0 {
                self.tets[t].swap(0, 1);
                turned += 1;
            }
        }
        turned
    }

    /// The faces that belong to one tet only, counter-clockwise seen from outside, in the order of the tets.
    #[must_use]
    pub fn boundary(&self) -> Vec<[u32; 3]> {
        let face = |tet: &[u32; 4], k: usize| FACES[k].map(|corner| tet[corner]);
        let sorted = |mut face: [u32; 3]| {
            face.sort_unstable();
            face
        };
        let mut count: HashMap<[u32; 3], u32> = HashMap::with_capacity(2 * self.tets.len());
        for tet in &self.tets {
            (0..4).for_each(|k| *count.entry(sorted(face(tet, k))).or_default() += 1);
        }
        let faces = self.tets.iter().flat_map(|tet| (0..4).map(move |k| face(tet, k)));
        faces.filter(|&face| count[&sorted(face)] == 1).collect()
    }

    /// The boundary as a surface, all vertices of the body kept, so that indices agree.
    #[must_use]
    pub fn surface(&self) -> TriMesh {
        let mesh = TriMesh::new(self.positions.clone(), self.boundary());
        TriMesh { name: self.name.clone(), attributes: self.attributes.clone(), ..mesh }
    }

    /// The smallest and the largest angle between two faces of a tet, in degrees; `None` without a tet that has
    /// faces. A regular tet has six of 70.5°.
    #[must_use]
    pub fn dihedral_degrees(&self, run: &Run<'_>) -> Option<[f64; 2]> {
        let tasks = run.map_tasks(self.tets.len().div_ceil(TASK), |task| {
            let tets = task * TASK..self.tets.len().min((task + 1) * TASK);
            tets.fold([f64::INFINITY, f64::NEG_INFINITY], |range, t| {
                let [least, most] = dihedral_cosines(self.corners_of(t).map(Vec3::as_dvec3));
                [least.min(range[0]), most.max(range[1])]
            })
        });
        let all = tasks.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |all, part| {
            [part[0].min(all[0]), part[1].max(all[1])]
        });
        let angle = |cosine: f64| libm::acos(cosine.clamp(-1.0, 1.0)).to_degrees();
        (all[0] <= all[1]).then(|| [angle(all[1]), angle(all[0])])
    }

    /// The distinct edges `[a, b]` with `a < b`, in ascending order.
    #[must_use]
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let pair = |tet: &[u32; 4], [i, j]: [usize; 2]| {
            let (a, b) = (tet[i], tet[j]);
            [a.min(b), a.max(b)]
        };
        let all = self.tets.iter().flat_map(|tet| EDGES.map(|edge| pair(tet, edge)));
        let mut edges: Vec<[u32; 2]> = all.collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}

/// The volume of a tet, positive where `d` sees `a b c` counter-clockwise.
#[must_use]
pub fn signed_volume([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).cross(c - a).dot(d - a) / 6.0
}

/// The smallest and the largest cosine of the angles between the faces of a tet; faces without area have none.
#[must_use]
pub fn dihedral_cosines(corners: [DVec3; 4]) -> [f64; 2] {
    let normals = FACES.map(|face| {
        let [a, b, c] = face.map(|corner| corners[corner]);
        let normal = (b - a).cross(c - a);
        normal / normal.length_squared().sqrt()
    });
    // Edge `[i, j]` is where the other two faces meet; their outward normals enclose the rest of 180°.
    let cosines = EDGES.map(|[i, j]| -normals[i].dot(normals[j]));
    let finite = cosines.into_iter().filter(|c| c.is_finite());
    finite.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], c| [least.min(c), most.max(c)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::sample::cube_of_tets as cube;

    #[test]
    fn a_cube_of_five_tets_has_the_volume_and_the_surface_of_a_cube() {
        let cube = cube();
        assert!((cube.volume() - 1.0).abs() < 1e-12, "{}", cube.volume());
        assert_eq!(cube.boundary().len(), 12, "two triangles a side");
        assert_eq!(cube.edges().len(), 18, "12 edges and 6 diagonals");
        let surface = cube.surface();
        let volume =
            crate::mesh::volume::volume(&surface.positions, &surface.triangles, &Run::default());
        assert!((volume - 1.0).abs() < 1e-6, "faces look outwards: {volume}");
    }

    #[test]
    fn orienting_turns_what_is_inside_out_and_nothing_else() {
        let mut mesh = cube();
        mesh.tets[2].swap(1, 3);
        assert_eq!(mesh.orient(), 1);
        assert_eq!(mesh.orient(), 0);
        assert!((0..5).all(|t| mesh.volume_of(t) > 0.0), "{:?}", mesh.tets);
    }

    #[test]
    fn angles_of_known_tets() {
        let run = Run::default();
        let corner = TetMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], vec![[0, 1, 2, 3]]);
        let [least, most] = corner.dihedral_degrees(&run).unwrap();
        assert!((least - (1.0 / 3.0_f64.sqrt()).acos().to_degrees()).abs() < 1e-9, "{least}");
        assert!((most - 90.0).abs() < 1e-9, "{most}");
        let regular =
            [0, 3, 5, 6].map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32));
        let regular = TetMesh::new(regular.to_vec(), vec![[0, 1, 2, 3]]);
        let [least, most] = regular.dihedral_degrees(&run).unwrap();
        let third = (1.0 / 3.0_f64).acos().to_degrees();
        assert!((least - third).abs() < 1e-9 && (most - third).abs() < 1e-9, "{least} {most}");
        assert_eq!(TetMesh::default().dihedral_degrees(&run), None);
        let point = TetMesh::new(vec![Vec3::ZERO; 4], vec![[0, 1, 2, 3]]);
        assert_eq!(point.dihedral_degrees(&run), None, "no faces, no angles");
    }
}

//! Welding: which vertices are one place, so that what a file had to split moves as one.
//!
//! File formats double vertices wherever normals, texture coordinates or materials jump. The copies are one
//! point of the shape. An operation that keeps the vertices works on the places and hands each vertex what
//! happened to its place ([`Welding::gather`], [`Welding::carry`]); one that makes new triangles welds
//! the mesh first ([`repair::weld_copies`](super::repair::weld_copies)), which keeps what differs as corner
//! attributes.
//!
//! # Method
//!
//! Vertices at exactly the same position are one place. Of a mesh, they must also have the same skin weights
//! and the same displacements in all morph targets: two lips that touch at rest are two places.
//!
//! A shape is closed if every edge has an even number of triangles once its places count as vertices. Parity is
//! kept by any welding: a mesh that is closed by its indices stays so where two of its sheets touch, though the
//! edges there have four triangles.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::mesh::welding::Welding;
//!
//! // Two triangles with an edge in common, of which each has a copy.
//! let [o, x, y, z] = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE];
//! let welding = Welding::of(&[o, x, y, x, z, y]);
//! assert_eq!((welding.vertices(), welding.places()), (6, 4));
//! assert_eq!(welding.triangles(&[[0, 1, 2], [3, 4, 5]]), [[0, 1, 2], [1, 3, 2]]);
//! ```

use glam::Vec3;

use super::{SkinWeights, TriMesh};
use crate::lengths::Lengths as _;

/// Weights of one vertex that differ by no more than this are the same: files round them.
const SAME_WEIGHT: f32 = 1e-3;

/// How far copies may come apart before they count as torn, as a share of the largest coordinate: a few
/// roundings.
const TORN_REL: f32 = 1e-6;

/// Which vertices are one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Welding {
    /// The place of each vertex.
    place: Vec<u32>,
    /// The first vertex of each place, in rising order.
    first: Vec<u32>,
}

impl Welding {
    /// Joins vertices at the same position; zero and minus zero are the same.
    #[must_use]
    pub fn of(positions: &[Vec3]) -> Self {
        Self::of_same(positions, |_, _| true)
    }

    /// Joins vertices at the same position that the skin and the morph targets of the mesh move alike.
    #[must_use]
    pub fn of_mesh(mesh: &TriMesh) -> Self {
        let same_skin = |a: u32, b: u32| {
            mesh.skin_weights
                .as_ref()
                .is_none_or(|skin| same_weights(skin, a as usize, b as usize, u32::from))
        };
        let same_morphs = |a: u32, b: u32| {
            mesh.morphs.iter().all(|m| m.positions[a as usize] == m.positions[b as usize])
        };
        Self::of_same(&mesh.positions, |a, b| same_skin(a, b) && same_morphs(a, b))
    }

    /// Joins vertices at the same position of which `same` says so; it is asked about a vertex and the first
    /// of a place.
    #[must_use]
    pub fn of_same(positions: &[Vec3], same: impl Fn(u32, u32) -> bool) -> Self {
        let key = |i: u32| (positions[i as usize] + 0.0).to_array().map(f32::to_bits);
        let mut order: Vec<([u32; 3], u32)> =
            (0..positions.len() as u32).map(|i| (key(i), i)).collect();
        order.sort_unstable();
        let mut first_at = vec![0; positions.len()];
        let mut kinds: Vec<u32> = Vec::new();
        for here in order.chunk_by(|a, b| a.0 == b.0) {
            kinds.clear();
            for &(_, i) in here {
                first_at[i as usize] = match kinds.iter().find(|&&k| same(i, k)) {
                    Some(&k) => k,
                    None => {
                        kinds.push(i);
                        i
                    }
                };
            }
        }
        let (mut place, mut first) = (vec![0; positions.len()], Vec::new());
        for (i, &f) in (0_u32..).zip(&first_at) {
            // The first of a place comes before its copies.
            place[i as usize] = if f == i {
                first.push(i);
                first.len() as u32 - 1
            } else {
                place[f as usize]
            };
        }
        Self { place, first }
    }

    /// How many vertices there are.
    #[must_use]
    pub fn vertices(&self) -> usize {
        self.place.len()
    }

    /// How many places there are.
    #[must_use]
    pub fn places(&self) -> usize {
        self.first.len()
    }

    /// True if every vertex is a place of its own.
    #[must_use]
    pub fn is_trivial(&self) -> bool {
        self.place.len() == self.first.len()
    }

    /// The place of a vertex.
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    #[must_use]
    pub fn place(&self, vertex: u32) -> u32 {
        self.place[vertex as usize]
    }

    /// For each vertex the first one of its place.
    #[must_use]
    pub fn firsts(&self) -> Vec<u32> {
        self.place.iter().map(|&p| self.first[p as usize]).collect()
    }

    /// The triangles between places; those that have a place twice stay.
    ///
    /// # Panics
    ///
    /// If a triangle names a vertex that does not exist.
    #[must_use]
    pub fn triangles(&self, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
        triangles.iter().map(|t| t.map(|v| self.place[v as usize])).collect()
    }

    /// One value a place: that of its first vertex.
    ///
    /// # Panics
    ///
    /// If there is not a value for each vertex.
    #[must_use]
    pub fn gather<T: Copy>(&self, of_vertices: &[T]) -> Vec<T> {
        assert_eq!(of_vertices.len(), self.place.len(), "one value a vertex");
        self.first.iter().map(|&v| of_vertices[v as usize]).collect()
    }

    /// One value a place: the least of its vertices, so that what one copy forbids is forbidden.
    ///
    /// # Panics
    ///
    /// If there is not a value for each vertex.
    #[must_use]
    pub fn gather_least(&self, of_vertices: &[f32]) -> Vec<f32> {
        let mut least = self.gather(of_vertices);
        for (&p, &value) in self.place.iter().zip(of_vertices) {
            let slot = &mut least[p as usize];
            // What is no number is kept, to be refused.
            if value < *slot || value.is_nan() {
                *slot = value;
            }
        }
        least
    }

    /// One value a vertex: that of its place.
    ///
    /// # Panics
    ///
    /// If there is not a value for each place.
    #[must_use]
    pub fn spread<T: Copy>(&self, of_places: &[T]) -> Vec<T> {
        assert_eq!(of_places.len(), self.first.len(), "one value a place");
        self.place.iter().map(|&p| of_places[p as usize]).collect()
    }

    /// Moves each vertex as its place went: to the same bits if it was there, else by the same way.
    ///
    /// # Panics
    ///
    /// If there is not a position for each place and each vertex.
    pub fn carry(&self, from: &[Vec3], to: &[Vec3], vertices: &mut [Vec3]) {
        assert_eq!([from.len(), to.len()], [self.first.len(); 2], "a position for each place");
        assert_eq!(vertices.len(), self.place.len(), "a position for each vertex");
        for (x, &p) in vertices.iter_mut().zip(&self.place) {
            let (from, to) = (from[p as usize], to[p as usize]);
            *x = if *x == from { to } else { *x + (to - from) };
        }
    }

    /// Gives copies that were moved differently the mean of their ways.
    ///
    /// # Panics
    ///
    /// If there is not a position for each vertex, before and after.
    pub fn move_together(&self, before: &[Vec3], after: &mut [Vec3]) {
        assert_eq!([before.len(), after.len()], [self.place.len(); 2], "a position a vertex");
        if self.is_trivial() {
            return;
        }
        let mut torn = vec![false; self.first.len()];
        for (v, &p) in self.place.iter().enumerate() {
            let f = self.first[p as usize] as usize;
            torn[p as usize] |= after[v] - before[v] != after[f] - before[f];
        }
        if !torn.contains(&true) {
            return;
        }
        let mut sums = vec![(Vec3::ZERO, 0.0_f32); self.first.len()];
        for (v, &p) in self.place.iter().enumerate().filter(|(_, p)| torn[**p as usize]) {
            let sum = &mut sums[p as usize];
            *sum = (sum.0 + (after[v] - before[v]), sum.1 + 1.0);
        }
        for (v, &p) in self.place.iter().enumerate().filter(|(_, p)| torn[**p as usize]) {
            let (sum, count) = sums[p as usize];
            after[v] = before[v] + sum / count;
        }
    }

    /// How many edges copies of their ends were moved apart along: as many as opened.
    ///
    /// # Panics
    ///
    /// If there is not a position for each vertex, before and after.
    #[must_use]
    pub fn opened(&self, triangles: &[[u32; 3]], before: &[Vec3], after: &[Vec3]) -> usize {
        assert_eq!([before.len(), after.len()], [self.place.len(); 2], "a position a vertex");
        if self.is_trivial() {
            return 0;
        }
        let extent = after.iter().chain(before).fold(0.0_f32, |m, x| m.max(x.abs().max_element()));
        let rounding = TORN_REL * extent;
        let mut torn = vec![false; self.first.len()];
        for (v, &p) in self.place.iter().enumerate() {
            let f = self.first[p as usize] as usize;
            let apart = (after[v] - before[v]) - (after[f] - before[f]);
            torn[p as usize] |= apart.norm() > rounding;
        }
        let mut edges: Vec<[u32; 2]> = (triangles.iter())
            .flat_map(|t| sides(t.map(|v| self.place[v as usize])))
            .filter(|[a, b]| a != b && (torn[*a as usize] || torn[*b as usize]))
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges.len()
    }
}

/// The sides of a triangle, smaller end first.
fn sides([a, b, c]: [u32; 3]) -> [[u32; 2]; 3] {
    [[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)])
}

/// Whether two vertices hang on the same joints in the same shares; `name` says which joints are the same.
pub(crate) fn same_weights(
    skin: &SkinWeights,
    a: usize,
    b: usize,
    name: impl Fn(u16) -> u32,
) -> bool {
    let share = |v: usize, joint: u32| {
        skin.of(v).filter(|(j, _)| name(*j) == joint).map(|(_, w)| w).sum::<f32>()
    };
    let mut joints = skin.of(a).chain(skin.of(b)).map(|(j, _)| name(j));
    joints.all(|joint| (share(a, joint) - share(b, joint)).abs() <= SAME_WEIGHT)
}

/// How many edges of a shape have an odd number of triangles, once vertices at the same position are one.
#[must_use]
pub fn open_edges(positions: &[Vec3], triangles: &[[u32; 3]]) -> usize {
    let welding = Welding::of(positions);
    let mut edges: Vec<[u32; 2]> = (welding.triangles(triangles).into_iter())
        .flat_map(sides)
        .filter(|[a, b]| a != b)
        .collect();
    edges.sort_unstable();
    edges.chunk_by(|a, b| a == b).filter(|same| same.len() % 2 == 1).count()
}

/// Whether a shape has a surface without an open edge, once vertices at the same position are one.
#[must_use]
pub fn is_closed(positions: &[Vec3], triangles: &[[u32; 3]]) -> bool {
    !triangles.is_empty() && open_edges(positions, triangles) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::sample;

    /// A closed shape of which every triangle has corners of its own.
    fn split() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let (positions, triangles) = sample::bumpy_sphere(6);
        let corners: Vec<Vec3> =
            triangles.as_flattened().iter().map(|&v| positions[v as usize]).collect();
        let soup = (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        (corners, soup)
    }

    #[test]
    fn a_split_shape_is_closed_and_opens_where_a_copy_leaves() {
        let (mut positions, triangles) = split();
        assert!(is_closed(&positions, &triangles));
        let (welding, before) = (Welding::of(&positions), positions.clone());
        positions[0] += Vec3::splat(0.1);
        // One corner of one triangle leaves: its two sides there lose a triangle, on both sides of each.
        assert_eq!(open_edges(&positions, &triangles), 4);
        assert!(welding.opened(&triangles, &before, &positions) >= 4);
        welding.move_together(&before, &mut positions);
        assert_eq!(open_edges(&positions, &triangles), 0);
        assert_eq!(welding.opened(&triangles, &before, &positions), 0);
        assert_ne!(positions[0], before[0], "all copies went a part of the way");
    }

    /// Two boxes that share a face: closed by their indices, with edges of four triangles once welded.
    #[test]
    fn sheets_that_touch_are_closed() {
        let corner = |i: u32| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32);
        let quads =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let cube: Vec<[u32; 3]> =
            quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        let positions: Vec<Vec3> =
            (0..8).map(corner).chain((0..8).map(|i| corner(i) + Vec3::X)).collect();
        let beside = cube.iter().map(|t| t.map(|v| v + 8));
        let mut triangles: Vec<[u32; 3]> = cube.iter().copied().chain(beside).collect();
        assert!(is_closed(&positions, &triangles));
        triangles.pop();
        assert_eq!(open_edges(&positions, &triangles), 3);
        assert!(!is_closed(&positions, &[]), "nothing is not closed");
    }

    #[test]
    fn what_moves_differently_is_two_places() {
        let mut mesh = TriMesh::new(vec![Vec3::ZERO; 3], Vec::new());
        assert_eq!(Welding::of_mesh(&mesh).places(), 1);
        let mut skin = SkinWeights::default();
        skin.push([(0, 0.5), (1, 0.5)]);
        skin.push([(1, 0.5001), (0, 0.4999)]);
        skin.push([(0, 1.0)]);
        mesh.skin_weights = Some(skin);
        let welding = Welding::of_mesh(&mesh);
        assert_eq!(welding.places(), 2);
        assert_eq!([0, 1, 2].map(|v| welding.place(v)), [0, 0, 1]);
    }

    #[test]
    fn values_go_to_places_and_back() {
        let welding = Welding::of(&[Vec3::X, Vec3::Y, Vec3::X, Vec3::new(-0.0, 1.0, 0.0)]);
        assert_eq!(welding.gather(&[1, 2, 3, 4]), [1, 2]);
        assert_eq!(welding.gather_least(&[1.0, 2.0, 0.5, 3.0]), [0.5, 2.0]);
        assert!(welding.gather_least(&[f32::NAN, 2.0, 0.5, 3.0])[0].is_nan());
        assert_eq!(welding.spread(&[7, 8]), [7, 8, 7, 8]);
        let mut vertices = [Vec3::X, Vec3::Y, Vec3::X * 2.0, Vec3::Y];
        welding.carry(&[Vec3::X, Vec3::Y], &[Vec3::Z, Vec3::Y], &mut vertices);
        assert_eq!(vertices, [Vec3::Z, Vec3::Y, Vec3::X + Vec3::Z, Vec3::Y]);
    }
}

//! Normals and volume of one mesh again and again, as a player needs them.
//!
//! # Method
//!
//! The normals are those of [`normals`](super::normals). The triangles are cut once into patches of
//! neighbours. A patch loads each of its vertices once, weighs its triangles sixteen at a time and adds
//! them up at its vertices while all of it is in the nearest cache. Vertices on the seam of several
//! patches are added up afterwards, in the order of the patches: the same bits for any thread count.
//!
//! The volume comes with it. About any point `c` it is a sixth of `Σ (a − c)·n` over the triangles with
//! a corner `a` and the normal `n` of twice the area's length; each patch sums about a corner of its own,
//! where terms are small, and keeps `Σ n` to move the sum to `c`.
//!
//! # Limits
//!
//! Sums are added in another order than those of [`vertex_normals`](super::normals::vertex_normals)
//! and [`volume`](super::volume::volume): they agree to rounding, not to the bit.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::{Run, mesh::shading::{Buffers, Shading}};
//!
//! let shading = Shading::new(3, &[[0, 1, 2]]);
//! let mut buffers = Buffers::default();
//! for x in [Vec3::X, 2.0 * Vec3::X] {
//!     let normals = shading.normals(&[Vec3::ZERO, x, Vec3::Y], &mut buffers, &Run::default());
//!     assert_eq!(normals, [Vec3::Z; 3]);
//! }
//! ```

use std::collections::VecDeque;
use std::ops::Range;

use glam::{DVec3, Vec3};
use pulp::{Simd, WithSimd};

use super::adjacency::Rows;
use super::normals::{Fans, weigh};
use crate::Run;
use crate::lanes::{Lanes, WIDTH};

/// Triangles of a patch.
const PATCH: usize = 512;

/// Blocks that are loaded before they are weighed: a block that was written lane by lane cannot be read at
/// once.
const GROUP: usize = 8;

/// Vertices whose sums are made unit length in one task.
const TASK: usize = 1024;

/// A vector whose fourth component is zero: it fills a register.
type Row = [f32; 4];

/// The patches of one mesh.
#[derive(Clone, Debug, Default)]
pub struct Shading {
    patches: Vec<Patch>,
    /// The vertices of each patch; those of its inside come first.
    members: Vec<u32>,
    /// The corners of each triangle among its patch's members.
    faces: Vec<[u16; 3]>,
    /// For each vertex that several patches share, its rows.
    seams: Rows,
    /// For each vertex the row that holds its normal.
    rows: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Patch {
    members: Range<usize>,
    /// How many of them no other patch has.
    inside: usize,
    faces: Range<usize>,
}

/// Memory of [`Shading::normals`], for the next time.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    /// For each member of each patch, then for each seam, then one that stays zero.
    rows: Vec<Row>,
    swept: Vec<Swept>,
    normals: Vec<Vec3>,
}

/// What a patch does to the volume.
#[derive(Clone, Copy, Debug, Default)]
struct Swept {
    /// The corner it was measured from.
    from: DVec3,
    six_volumes: f64,
    /// `Σ n`.
    area: DVec3,
}

impl Buffers {
    /// Takes the normals that were computed last; the rest of the memory stays for the next time.
    #[must_use]
    pub fn take_normals(&mut self) -> Vec<Vec3> {
        std::mem::take(&mut self.normals)
    }

    /// The signed volume of the mesh whose normals were computed last, seen from a point: for a closed
    /// mesh the point does not matter.
    #[must_use]
    pub fn volume(&self, seen_from: DVec3) -> f64 {
        let moved = |swept: &Swept| swept.six_volumes + swept.area.dot(swept.from - seen_from);
        self.swept.iter().map(moved).sum::<f64>() / 6.0
    }
}

impl Shading {
    /// Cuts a mesh of so many vertices into patches.
    ///
    /// # Panics
    ///
    /// If a triangle names a vertex beyond them.
    #[must_use]
    pub fn new(vertices: usize, triangles: &[[u32; 3]]) -> Self {
        let mut shading = Self::default();
        let mut growth = Growth::new(vertices, triangles);
        while shading.grow(&mut growth) {}
        shading.sew(vertices);
        shading
    }

    /// Adds the next patch; false if no triangle is left.
    fn grow(&mut self, growth: &mut Growth<'_>) -> bool {
        let (first_member, first_face) = (self.members.len(), self.faces.len());
        while self.faces.len() < first_face + PATCH {
            let Some(triangle) = growth.next() else { break };
            self.faces.push(triangle.map(|vertex| {
                let local = &mut growth.local[vertex as usize];
                if *local == NOT_YET {
                    *local = (self.members.len() - first_member) as u16;
                    self.members.push(vertex);
                }
                *local
            }));
        }
        for &vertex in &self.members[first_member..] {
            growth.local[vertex as usize] = NOT_YET;
        }
        growth.turn_to_the_next();
        let (members, faces) = (first_member..self.members.len(), first_face..self.faces.len());
        let has_grown = !faces.is_empty();
        if has_grown {
            self.patches.push(Patch { inside: members.len(), members, faces });
        }
        has_grown
    }

    /// Brings the inside of each patch to the front, and finds the seams.
    fn sew(&mut self, vertices: usize) {
        let mut patches_of = vec![0_u32; vertices];
        for &vertex in &self.members {
            patches_of[vertex as usize] += 1;
        }
        for patch in &mut self.patches {
            let members = &mut self.members[patch.members.clone()];
            let mut order: Vec<u16> = (0..members.len() as u16).collect();
            order.sort_by_key(|&i| patches_of[members[usize::from(i)] as usize] > 1);
            let sorted: Vec<u32> = order.iter().map(|&i| members[usize::from(i)]).collect();
            patch.inside = sorted.iter().filter(|&&v| patches_of[v as usize] == 1).count();
            members.copy_from_slice(&sorted);
            let mut place = vec![0; order.len()];
            for (new, &old) in (0..).zip(&order) {
                place[usize::from(old)] = new;
            }
            for face in &mut self.faces[patch.faces.clone()] {
                *face = face.map(|i| place[usize::from(i)]);
            }
        }
        self.find_seams(&patches_of);
    }

    fn find_seams(&mut self, patches_of: &[u32]) {
        let (members, vertices) = (self.members.len() as u32, patches_of.len());
        let on_seams: Vec<usize> = (0..vertices).filter(|&v| patches_of[v] > 1).collect();
        let none = members + on_seams.len() as u32;
        self.rows = vec![none; vertices];
        for (row, &vertex) in (0..).zip(&self.members) {
            self.rows[vertex as usize] = row;
        }
        for (row, &vertex) in (members..).zip(&on_seams) {
            self.rows[vertex] = row;
        }
        let shared = (0..).zip(&self.members).filter(|(_, v)| patches_of[**v as usize] > 1);
        let of_seams = shared.map(|(row, &v)| (self.rows[v as usize] - members, row));
        self.seams = Rows::sorted(on_seams.len(), of_seams);
    }

    /// The normals of the mesh this was made for, with its vertices elsewhere.
    ///
    /// A run that is cancelled gives some of them only.
    ///
    /// # Panics
    ///
    /// If it was made for a mesh with another number of vertices.
    pub fn normals<'b>(
        &self,
        positions: &[Vec3],
        buffers: &'b mut Buffers,
        run: &Run<'_>,
    ) -> &'b [Vec3] {
        assert_eq!(positions.len(), self.rows.len(), "the vertices it was made for");
        let Buffers { rows, swept, normals } = buffers;
        rows.resize(self.members.len() + self.seams.len() + 1, [0.0; 4]);
        swept.resize(self.patches.len(), Swept::default());
        normals.resize(positions.len(), Vec3::ZERO);
        let (of_members, of_seams) = rows.split_at_mut(self.members.len());
        self.add_up(positions, of_members, swept, run);
        run.for_each_piece(&mut of_seams[..self.seams.len()], TASK, |start, of_seams| {
            for (seam, row) in (start..).zip(of_seams) {
                *row = unit(self.seams.row(seam).iter().map(|&r| of_members[r as usize]));
            }
        });
        run.for_each_piece(normals, TASK, |start, normals| {
            for (normal, &row) in normals.iter_mut().zip(&self.rows[start..]) {
                let [x, y, z, _] = rows[row as usize];
                *normal = Vec3::new(x, y, z);
            }
        });
        normals
    }

    /// Adds up each patch at its members.
    fn add_up(&self, positions: &[Vec3], rows: &mut [Row], swept: &mut [Swept], run: &Run<'_>) {
        let arch = pulp::Arch::new();
        let mut rest = rows;
        let mut work = Vec::with_capacity(self.patches.len());
        for (patch, swept) in self.patches.iter().zip(swept) {
            let (sums, others) = rest.split_at_mut(patch.members.len());
            rest = others;
            work.push(AddUp { shading: self, patch, positions, sums, swept });
        }
        run.for_each_piece(&mut work, 1, |_, work| {
            for patch in work.iter_mut().filter(|_| !run.is_cancelled()) {
                arch.dispatch(patch);
            }
        });
    }
}

/// No number among the members of the patch that grows.
const NOT_YET: u16 = u16::MAX;

/// Triangles on their way into patches.
struct Growth<'a> {
    triangles: &'a [[u32; 3]],
    /// The triangles at each vertex, once for each of their corners there.
    around: Rows,
    is_taken: Vec<bool>,
    /// Next to those that are in the patch.
    beside: VecDeque<u32>,
    /// All before it are taken.
    first_left: usize,
    /// The number of each vertex among the members of the patch that grows.
    local: Vec<u16>,
}

impl<'a> Growth<'a> {
    fn new(vertices: usize, triangles: &'a [[u32; 3]]) -> Self {
        let corners = (0..).zip(triangles).flat_map(|(t, corners)| corners.map(|v| (v, t)));
        Self {
            triangles,
            around: Rows::sorted(vertices, corners),
            is_taken: vec![false; triangles.len()],
            beside: VecDeque::new(),
            first_left: 0,
            local: vec![NOT_YET; vertices],
        }
    }

    /// Starts the next patch beside the last one.
    fn turn_to_the_next(&mut self) {
        for &triangle in self.beside.iter().skip(1) {
            self.is_taken[triangle as usize] = false;
        }
        self.beside.truncate(1);
    }
}

impl Iterator for Growth<'_> {
    type Item = [u32; 3];

    /// The triangle that has waited longest beside the patch, or the first that is left.
    fn next(&mut self) -> Option<[u32; 3]> {
        let next = self.beside.pop_front().or_else(|| {
            while *self.is_taken.get(self.first_left)? {
                self.first_left += 1;
            }
            Some(self.first_left as u32)
        })?;
        self.is_taken[next as usize] = true;
        let corners = self.triangles[next as usize];
        for vertex in corners.map(|v| v as usize) {
            for &other in self.around.row(vertex) {
                if !self.is_taken[other as usize] {
                    self.is_taken[other as usize] = true;
                    self.beside.push_back(other);
                }
            }
        }
        Some(corners)
    }
}

/// One patch, added up at its members.
struct AddUp<'a> {
    shading: &'a Shading,
    patch: &'a Patch,
    positions: &'a [Vec3],
    sums: &'a mut [Row],
    swept: &'a mut Swept,
}

impl WithSimd for &mut AddUp<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let members = &self.shading.members[self.patch.members.clone()];
        let faces = &self.shading.faces[self.patch.faces.clone()];
        let mut at = [[0.0; 4]; 3 * PATCH];
        for (at, &vertex) in at.iter_mut().zip(members) {
            let x = self.positions[vertex as usize];
            *at = [x.x, x.y, x.z, 0.0];
        }
        let mut sweep = Sweep::from(self.positions[members[0] as usize].as_dvec3());
        self.sums.fill([0.0; 4]);
        for faces in faces.chunks(GROUP * WIDTH) {
            let mut corners = [[Lanes::ZERO; 3]; GROUP];
            load(&at, faces, &mut corners);
            let mut fans = [Fans::NONE; GROUP];
            for (corners, fans) in corners.iter().zip(&mut fans) {
                let areas;
                (*fans, areas) = weigh(corners);
                sweep.add(&corners[0], &areas);
            }
            for (faces, fans) in faces.chunks(WIDTH).zip(&fans) {
                add(faces, fans, self.sums);
            }
        }
        *self.swept = sweep.total();
        make_unit(&mut self.sums[..self.patch.inside]);
    }
}

/// The corners of some triangles; what lies beyond the last has shrunk to the origin.
#[inline(always)]
fn load(at: &[Row; 3 * PATCH], faces: &[[u16; 3]], corners: &mut [[Lanes<WIDTH>; 3]; GROUP]) {
    for (faces, corners) in faces.chunks(WIDTH).zip(corners) {
        for (lane, face) in faces.iter().enumerate() {
            for (corner, &member) in corners.iter_mut().zip(face) {
                let [x, y, z, _] = at[usize::from(member)];
                (corner.x[lane], corner.y[lane], corner.z[lane]) = (x, y, z);
            }
        }
    }
}

/// Adds triangles up at their corners.
#[inline(always)]
fn add(faces: &[[u16; 3]], fans: &Fans, sums: &mut [Row]) {
    for (lane, face) in faces.iter().enumerate() {
        let normal = [fans.normals.x[lane], fans.normals.y[lane], fans.normals.z[lane], 0.0];
        for (&member, angles) in face.iter().zip(&fans.angles) {
            let sum = &mut sums[usize::from(member)];
            for i in 0..4 {
                sum[i] += angles[lane] * normal[i];
            }
        }
    }
}

/// What triangles do to the volume, lane by lane.
struct Sweep {
    from: DVec3,
    six_volumes: [f64; WIDTH],
    area: [[f64; WIDTH]; 3],
}

impl Sweep {
    fn from(from: DVec3) -> Self {
        Self { from, six_volumes: [0.0; WIDTH], area: [[0.0; WIDTH]; 3] }
    }

    #[inline(always)]
    fn add(&mut self, corners: &Lanes<WIDTH>, [nx, ny, nz]: &[[f64; WIDTH]; 3]) {
        for i in 0..WIDTH {
            let (x, y, z) = (corners.x[i], corners.y[i], corners.z[i]);
            let x = (f64::from(x) - self.from.x) * nx[i];
            let y = (f64::from(y) - self.from.y) * ny[i];
            let z = (f64::from(z) - self.from.z) * nz[i];
            self.six_volumes[i] += x + y + z;
            self.area[0][i] += nx[i];
            self.area[1][i] += ny[i];
            self.area[2][i] += nz[i];
        }
    }

    fn total(&self) -> Swept {
        let [x, y, z] = [0, 1, 2].map(|axis| self.area[axis].iter().sum());
        Swept {
            from: self.from,
            six_volumes: self.six_volumes.iter().sum(),
            area: DVec3::new(x, y, z),
        }
    }
}

/// The sum of some vectors, made unit length; zero if it has none.
fn unit(rows: impl Iterator<Item = Row>) -> Row {
    let mut sum = [[0.0; 4]];
    for row in rows {
        for i in 0..4 {
            sum[0][i] += row[i];
        }
    }
    make_unit(&mut sum);
    sum[0]
}

/// Makes vectors unit length; zero stays zero.
#[inline(always)]
fn make_unit(rows: &mut [Row]) {
    for [x, y, z, _] in rows {
        let per_length = 1.0 / (*x * *x + *y * *y + *z * *z).sqrt();
        let per_length = if per_length < f32::INFINITY { per_length } else { 0.0 };
        *x *= per_length;
        *y *= per_length;
        *z *= per_length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::normals::vertex_normals;
    use crate::mesh::volume::{centroid, volume};
    use crate::zoo;

    fn shape(name: &str, triangles: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let size = zoo::Size { triangles: Some(triangles) };
        let mesh = zoo::build(name, &size, &Run::default()).unwrap().meshes.remove(0);
        (mesh.positions, mesh.triangles)
    }

    /// Of one patch, of many, of soup, and with a vertex that no triangle has.
    #[test]
    fn normals_and_volume_are_those_of_the_plain_ways() {
        let run = Run::default();
        let soup = |(positions, triangles): (Vec<Vec3>, Vec<[u32; 3]>)| {
            let corners: Vec<Vec3> =
                triangles.iter().flatten().map(|&v| positions[v as usize]).collect();
            let separate = (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
            (corners, separate.collect())
        };
        let shapes = [
            shape("ball", 320),
            shape("cow", 5804),
            shape("camel", 20_000),
            soup(shape("cow", 5804)),
        ];
        for (mut positions, triangles) in shapes {
            positions.push(Vec3::ONE);
            let (plain, enclosed) = (
                vertex_normals(&positions, &triangles, &run),
                volume(&positions, &triangles, &run),
            );
            let (shading, mut buffers) =
                (Shading::new(positions.len(), &triangles), Buffers::default());
            let normals = shading.normals(&positions, &mut buffers, &run);
            for (found, expected) in normals.iter().zip(&plain) {
                assert!(found.distance(*expected) < 1e-6, "{found} instead of {expected}");
            }
            let found = buffers.volume(centroid(&positions, &run));
            assert!((found / enclosed - 1.0).abs() < 1e-12, "{found} instead of {enclosed}");
            let far_away = buffers.volume(DVec3::splat(10.0));
            assert!((far_away / enclosed - 1.0).abs() < 1e-9, "{far_away} instead of {enclosed}");
        }
    }

    #[test]
    fn same_bits_for_any_thread_count_and_memory() {
        let (positions, triangles) = shape("camel", 20_000);
        let (shading, mut buffers) =
            (Shading::new(positions.len(), &triangles), Buffers::default());
        let serial = shading.normals(&positions, &mut buffers, &Run::default()).to_vec();
        let enclosed = buffers.volume(DVec3::ZERO);
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = Run { threads: Some(&pool), ..Run::default() };
            assert_eq!(
                shading.normals(&positions, &mut buffers, &run),
                serial,
                "{threads} threads"
            );
            assert_eq!(buffers.volume(DVec3::ZERO).to_bits(), enclosed.to_bits(), "volume");
        }
    }

    #[test]
    fn patches_are_compact() {
        let (positions, triangles) = shape("camel", 20_000);
        let shading = Shading::new(positions.len(), &triangles);
        let share = shading.members.len() as f64 / positions.len() as f64;
        assert!(share < 1.3, "{share} patches a vertex");
        assert_eq!(shading.faces.len(), triangles.len(), "every triangle once");
    }

    #[test]
    fn nothing_has_no_normals_and_points_have_none_either() {
        let mut buffers = Buffers::default();
        let none = Shading::new(0, &[]);
        assert!(none.normals(&[], &mut buffers, &Run::default()).is_empty(), "nothing");
        let points = Shading::new(2, &[[0, 0, 1], [1, 1, 1]]);
        let found = points.normals(&[Vec3::ZERO, Vec3::X], &mut buffers, &Run::default());
        assert_eq!(found, [Vec3::ZERO; 2], "no area");
        assert_eq!(buffers.volume(DVec3::ONE), 0.0, "no volume");
    }
}

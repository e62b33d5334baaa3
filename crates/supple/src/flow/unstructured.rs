//! Velocity on unstructured grids: linear in tetrahedra, found by walking from the last one.
//!
//! # Method
//!
//! Cells are cut into tetrahedra: tetrahedra as they are, all others into a pyramid a face about the mean of their
//! corners, faces as a fan from their corner of the smallest number, so that neighbours cut a face alike. A
//! tetrahedron with corners p₀ … p₃ has the weights `(λ₁, λ₂, λ₃) = M⁻¹ (x − p₀)`, `M = (p₁ − p₀, p₂ − p₀, p₃ − p₀)`, and
//! `λ₀ = 1 − λ₁ − λ₂ − λ₃`. While one is negative the walk goes on across the face of the most negative; a tracer
//! starts where it was found last, one or two tetrahedra away. Where the walk leaves the grid (a hollow may lie
//! between) the tetrahedra that touch the place's bin are asked.
//!
//! Values are mixed by the weights for both levels at once, then in time; what is not valid takes no part:
//! `v = Σ λᵢ wᵢ vᵢ / Σ λᵢ wᵢ`.
//!
//! # Where we differ from the supplement
//!
//! It cuts faces about their centres, 24 tetrahedra a hexahedron; the fan takes 12, half of the memory.
//!
//! # Limits
//!
//! - Faces flat in one direction (triangles, quads) are a slab: the third coordinate is not looked at
//!   (`triangles_are_a_slab`). Surfaces that are curved are refused.
//! - Points that several pieces have are one (`pieces_are_joined_at_equal_points`).

use std::collections::HashMap;

use glam::{DMat3, DVec3};

use super::bins::{Bins, Box3};
use super::searched::{Search, mixed};
use crate::dataset::Grid;
use crate::dataset::{CellType, Cells};

/// No tetrahedron on the other side of a face.
const NONE: u32 = u32::MAX;

/// Tetrahedra a walk may cross before the bins are asked.
const LONGEST_WALK: usize = 48;

/// A weight this far below zero is still inside: positions within a tetrahedron have 32 bits.
const TOLERANCE: f32 = 1e-5;

/// A tetrahedron thinner than this share of a regular one has no inside.
const FLAT: f64 = 1e-12;

/// Where a tetrahedron is: its first corner, and the rows of `M⁻¹`.
#[derive(Clone, Copy, Debug)]
struct Tet {
    origin: [f64; 3],
    rows: [[f32; 3]; 3],
}

/// What it has: its corners, and the tetrahedra opposite to them.
#[derive(Clone, Copy, Debug)]
struct Link {
    nodes: [u32; 4],
    neighbours: [u32; 4],
}

/// Why a grid cannot be sampled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeshError {
    /// It is no unstructured grid.
    #[error("a {kind} grid is not cut into tetrahedra")]
    Kind {
        /// What it is.
        kind: &'static str,
    },
    /// Nothing in it has an inside.
    #[error(
        "no cell of the grid has an inside (it holds points, lines or flat cells; save the volume mesh)"
    )]
    Empty,
    /// Faces that do not lie in a plane along two axes.
    #[error(
        "the grid is a curved surface (flow is sampled in volumes and in planes; save the volume mesh)"
    )]
    Curved,
    /// More than can be numbered.
    #[error("the grid has more than four thousand million tetrahedra (resample it)")]
    TooLarge,
}

/// An unstructured grid, ready for tracers.
#[derive(Clone, Debug)]
pub struct Mesh {
    tets: Vec<Tet>,
    links: Vec<Link>,
    /// Side lengths of regular tetrahedra (or triangles) of the same size.
    sizes: Vec<f32>,
    bins: Bins,
    /// Points of the file.
    points: usize,
    /// The corners of the cells whose centres are the nodes after the points.
    centres: Vec<Vec<u32>>,
    /// The direction in which a plane is flat.
    flat: Option<usize>,
}

impl Mesh {
    /// Cuts an unstructured grid.
    ///
    /// # Errors
    ///
    /// [`MeshError`] if nothing can be sampled.
    pub fn new(grid: &Grid) -> Result<Self, MeshError> {
        let Grid::Unstructured { points, cells } = grid else {
            return Err(MeshError::Kind { kind: grid.name() });
        };
        let dimension = cells.dimension();
        let flat = match dimension {
            3 => None,
            2 => Some(flat_axis(grid).ok_or(MeshError::Curved)?),
            _ => return Err(MeshError::Empty),
        };
        let merged = merged(points);
        let mut cutter =
            Cutter { cells, points, merged: &merged, centres: Vec::new(), tets: Vec::new() };
        for cell in 0..cells.len() {
            if cells.types[cell].dimension() == dimension {
                cutter.cut(cell);
            }
        }
        let Cutter { centres, tets: corners, .. } = cutter;
        if corners.len() >= NONE as usize {
            return Err(MeshError::TooLarge);
        }
        let node = |n: u32| match points.get(n as usize) {
            Some(point) => *point,
            None => mean(&centres[n as usize - points.len()], points),
        };
        let mut mesh = Self {
            tets: Vec::with_capacity(corners.len()),
            links: Vec::with_capacity(corners.len()),
            sizes: Vec::new(),
            bins: Bins::new(&[]),
            points: points.len(),
            centres: Vec::new(),
            flat,
        };
        let mut boxes: Vec<Box3> = Vec::with_capacity(corners.len());
        for nodes in corners {
            let p = nodes.map(node);
            let Some((rows, size)) = inverse(&p, flat) else { continue };
            mesh.tets.push(Tet { origin: p[0].to_array(), rows });
            mesh.links.push(Link { nodes, neighbours: [NONE; 4] });
            mesh.sizes.push(size as f32);
            boxes.push(box_of(&p, flat));
        }
        if mesh.tets.is_empty() {
            return Err(MeshError::Empty);
        }
        link(&mut mesh.links, &merged, flat.is_some());
        mesh.bins = Bins::new(&boxes);
        mesh.centres = centres;
        Ok(mesh)
    }

    /// How many tetrahedra (or triangles) there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tets.len()
    }

    /// Never: a mesh has a tetrahedron.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tets.is_empty()
    }

    /// The weights of a place in a tetrahedron.
    #[inline(always)]
    fn weights(&self, tet: u32, x: &[f64; 4]) -> [f32; 4] {
        let Tet { origin, rows } = &self.tets[tet as usize];
        let d = [(x[0] - origin[0]) as f32, (x[1] - origin[1]) as f32, (x[2] - origin[2]) as f32];
        let [a, b, c] = [
            rows[0][0] * d[0] + rows[0][1] * d[1] + rows[0][2] * d[2],
            rows[1][0] * d[0] + rows[1][1] * d[1] + rows[1][2] * d[2],
            rows[2][0] * d[0] + rows[2][1] * d[1] + rows[2][2] * d[2],
        ];
        [1.0 - a - b - c, a, b, c]
    }

    /// The tetrahedron around a place, walking from `hint`, and the weights there.
    #[inline(always)]
    fn find(&self, x: &[f64; 4], hint: u32) -> Option<(u32, [f32; 4])> {
        let mut tet = hint.min(self.tets.len() as u32 - 1);
        for _ in 0..LONGEST_WALK {
            let weights = self.weights(tet, x);
            let (mut corner, mut least) = (0, weights[0]);
            for (k, &weight) in weights.iter().enumerate().skip(1) {
                if weight < least {
                    (corner, least) = (k, weight);
                }
            }
            if least >= -TOLERANCE {
                return Some((tet, weights));
            }
            let next = self.links[tet as usize].neighbours[corner];
            if next == NONE {
                break;
            }
            tet = next;
        }
        self.search(x)
    }

    /// As [`find`](Self::find), from nowhere.
    #[inline(never)]
    fn search(&self, x: &[f64; 4]) -> Option<(u32, [f32; 4])> {
        let mut place = [x[0], x[1], x[2]];
        if let Some(axis) = self.flat {
            place[axis] = 0.0;
        }
        let mut candidates = self.bins.at(place).iter().map(|&tet| (tet, self.weights(tet, x)));
        candidates.find(|(_, weights)| weights.iter().all(|&w| w >= -TOLERANCE))
    }
}

/// The mean of some points.
fn mean(corners: &[u32], points: &[DVec3]) -> DVec3 {
    corners.iter().map(|&p| points[p as usize]).sum::<DVec3>() / corners.len().max(1) as f64
}

/// The direction in which the points have no extent.
fn flat_axis(grid: &Grid) -> Option<usize> {
    let (low, high) = grid.bounds()?;
    let size = (high - low).to_array();
    let most = size.iter().fold(0.0_f64, |m, &s| m.max(s));
    (0..3).rev().find(|&a| size[a] <= 1e-6 * most)
}

/// For each point the first that is at the same place.
fn merged(points: &[DVec3]) -> Vec<u32> {
    let mut first: HashMap<[u64; 3], u32> = HashMap::with_capacity(points.len());
    // Adding zero makes one zero of the two.
    let key = |p: &DVec3| p.to_array().map(|x| (x + 0.0).to_bits());
    points.iter().enumerate().map(|(k, p)| *first.entry(key(p)).or_insert(k as u32)).collect()
}

fn box_of(corners: &[DVec3; 4], flat: Option<usize>) -> Box3 {
    let low = corners.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = corners.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let mut found = [low.to_array(), high.to_array()];
    if let Some(axis) = flat {
        found.iter_mut().for_each(|corner| corner[axis] = 0.0);
    }
    found
}

/// The rows of `M⁻¹` and the size; `None` without an inside. In a plane the last weight is always 0.
fn inverse(p: &[DVec3; 4], flat: Option<usize>) -> Option<([[f32; 3]; 3], f64)> {
    let mut edges = [p[1] - p[0], p[2] - p[0], p[3] - p[0]];
    let longest = (p[2] - p[1]).length_squared().max(edges[0].length_squared());
    let longest = longest.max(edges[1].length_squared()).sqrt();
    if let Some(axis) = flat {
        let mut normal = DVec3::ZERO;
        normal[axis] = 1.0;
        edges[0][axis] = 0.0;
        edges[1][axis] = 0.0;
        edges[2] = normal;
    }
    let matrix = DMat3::from_cols(edges[0], edges[1], edges[2]);
    let volume = matrix.determinant().abs();
    let dimension = if flat.is_some() { 2 } else { 3 };
    if volume.is_nan() || volume <= FLAT * longest.powi(dimension) {
        return None;
    }
    let inverse = matrix.inverse().transpose();
    let mut rows =
        [inverse.x_axis, inverse.y_axis, inverse.z_axis].map(|r| r.to_array().map(|x| x as f32));
    if flat.is_some() {
        rows[2] = [0.0; 3];
    }
    Some((rows, volume.powf(1.0 / f64::from(dimension))))
}

/// Makes neighbours of tetrahedra that have a face in common, of triangles that have an edge.
fn link(links: &mut [Link], merged: &[u32], plane: bool) {
    let same = |n: u32| merged.get(n as usize).copied().unwrap_or(n);
    let opposite = if plane { 3 } else { 4 };
    let mut faces: Vec<([u32; 3], u32)> = Vec::with_capacity(opposite * links.len());
    for (tet, link) in links.iter().enumerate() {
        let nodes = link.nodes.map(same);
        for corner in 0..opposite {
            let mut face = [0; 3];
            let others = (0..opposite).filter(|&k| k != corner);
            others.zip(&mut face).for_each(|(k, f)| *f = nodes[k]);
            face[..opposite - 1].sort_unstable();
            faces.push((face, (4 * tet + corner) as u32));
        }
    }
    faces.sort_unstable();
    for pair in faces.windows(2).filter(|w| w[0].0 == w[1].0) {
        let [a, b] = [pair[0].1, pair[1].1];
        links[a as usize / 4].neighbours[a as usize % 4] = b / 4;
        links[b as usize / 4].neighbours[b as usize % 4] = a / 4;
    }
}

/// Faces of VTK's cells by their corners.
fn faces_of(kind: CellType) -> &'static [&'static [usize]] {
    match kind {
        CellType::Voxel => &[
            &[0, 2, 3, 1],
            &[4, 5, 7, 6],
            &[0, 1, 5, 4],
            &[2, 6, 7, 3],
            &[0, 4, 6, 2],
            &[1, 3, 7, 5],
        ],
        CellType::Hexahedron => &[
            &[0, 4, 7, 3],
            &[1, 2, 6, 5],
            &[0, 1, 5, 4],
            &[3, 7, 6, 2],
            &[0, 3, 2, 1],
            &[4, 5, 6, 7],
        ],
        CellType::Wedge => &[&[0, 1, 2], &[3, 5, 4], &[0, 3, 4, 1], &[1, 4, 5, 2], &[2, 5, 3, 0]],
        CellType::Pyramid => &[&[0, 3, 2, 1], &[0, 1, 4], &[1, 2, 4], &[2, 3, 4], &[3, 0, 4]],
        CellType::PentagonalPrism => &[
            &[0, 4, 3, 2, 1],
            &[5, 6, 7, 8, 9],
            &[0, 1, 6, 5],
            &[1, 2, 7, 6],
            &[2, 3, 8, 7],
            &[3, 4, 9, 8],
            &[4, 0, 5, 9],
        ],
        CellType::HexagonalPrism => &[
            &[0, 5, 4, 3, 2, 1],
            &[6, 7, 8, 9, 10, 11],
            &[0, 1, 7, 6],
            &[1, 2, 8, 7],
            &[2, 3, 9, 8],
            &[3, 4, 10, 9],
            &[4, 5, 11, 10],
            &[5, 0, 6, 11],
        ],
        _ => &[],
    }
}

struct Cutter<'a> {
    cells: &'a Cells,
    points: &'a [DVec3],
    merged: &'a [u32],
    centres: Vec<Vec<u32>>,
    tets: Vec<[u32; 4]>,
}

impl Cutter<'_> {
    fn cut(&mut self, cell: usize) {
        let cells = self.cells;
        let corners = cells.corners(cell);
        match cells.types[cell] {
            CellType::Tetra => self.tets.push([corners[0], corners[1], corners[2], corners[3]]),
            CellType::Triangle | CellType::Polygon | CellType::Quad => self.plane(corners),
            CellType::Pixel => self.plane(&[corners[0], corners[1], corners[3], corners[2]]),
            CellType::TriangleStrip => corners.windows(3).for_each(|w| self.plane(w)),
            CellType::Polyhedron => {
                let centre = self.centre(corners);
                cells.faces(cell).for_each(|face| self.pyramid(face, centre));
            }
            kind => {
                let centre = self.centre(corners);
                for face in faces_of(kind) {
                    let face: Vec<u32> = face.iter().map(|&k| corners[k]).collect();
                    self.pyramid(&face, centre);
                }
            }
        }
    }

    fn centre(&mut self, corners: &[u32]) -> u32 {
        self.centres.push(corners.to_vec());
        (self.points.len() + self.centres.len() - 1) as u32
    }

    /// Corners in order, from the one whose number is the smallest.
    fn fan(&self, face: &[u32]) -> Vec<u32> {
        let least = (0..face.len()).min_by_key(|&k| self.merged[face[k] as usize]).unwrap_or(0);
        face[least..].iter().chain(&face[..least]).copied().collect()
    }

    fn pyramid(&mut self, face: &[u32], centre: u32) {
        let face = self.fan(face);
        if face.len() >= 3 {
            self.tets.extend(face[1..].windows(2).map(|w| [centre, face[0], w[0], w[1]]));
        }
    }

    fn plane(&mut self, face: &[u32]) {
        if face.len() >= 3 {
            self.tets.extend(face[1..].windows(2).map(|w| [face[0], w[0], w[1], face[0]]));
        }
    }
}

impl Search for Mesh {
    /// A tetrahedron, and the weights of its corners.
    type Found = (u32, [f32; 4]);

    fn points(&self) -> usize {
        self.points
    }

    fn complete(&self, nodes: &mut Vec<[f32; 8]>) {
        nodes.reserve_exact(self.centres.len());
        for corners in &self.centres {
            let centre = centre_value(corners, nodes);
            nodes.push(centre);
        }
    }

    fn rate(&self, nodes: &[[f32; 8]]) -> f64 {
        let speed = |n: u32| {
            let v = &nodes[n as usize];
            let squared = |v: &[f32]| v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
            f64::from(squared(&v[..3]).max(squared(&v[4..7]))).sqrt()
        };
        let rates = self.links.iter().zip(&self.sizes).map(|(link, &size)| {
            link.nodes.iter().map(|&n| speed(n)).fold(0.0, f64::max) / f64::from(size)
        });
        rates.fold(0.0, f64::max)
    }

    #[inline(always)]
    fn search(&self, x: &[f64; 4], hint: u32) -> Option<(u32, Self::Found)> {
        self.find(x, hint).map(|found| (found.0, found))
    }

    #[inline(always)]
    fn value(&self, nodes: &[[f32; 8]], (tet, weights): &Self::Found, share: f32) -> [f64; 4] {
        let corners = self.links[*tet as usize].nodes;
        mixed(corners.into_iter().map(|n| n as usize).zip(*weights), nodes, share)
    }
}

/// The mean over the corners that are valid; valid if half of them are.
fn centre_value(corners: &[u32], nodes: &[[f32; 8]]) -> [f32; 8] {
    let mut sum = [0.0_f32; 8];
    for &corner in corners {
        for (s, x) in sum.iter_mut().zip(&nodes[corner as usize]) {
            *s += x;
        }
    }
    for half in sum.as_chunks_mut::<4>().0 {
        let valid = half[3];
        let enough = 2.0 * valid >= corners.len() as f32 && valid > 0.0;
        *half = if enough {
            [half[0] / valid, half[1] / valid, half[2] / valid, 1.0]
        } else {
            [0.0; 4]
        };
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::flow::advect::{LEAST_FLUID, samples};
    use crate::flow::searched::{Pair, SearchSampler};

    /// A lattice of cells of one kind over a box, a little askew.
    fn lattice(n: u32, kind: CellType) -> Grid {
        let m = n + 1;
        let at = |i: u32, j: u32, k: u32| (k * m + j) * m + i;
        let points = (0..m * m * m).map(|p| {
            let (i, j, k) = (f64::from(p % m), f64::from(p / m % m), f64::from(p / (m * m)));
            DVec3::new(i + 0.2 * j, j, k + 0.1 * i)
        });
        let mut cells = Cells::default();
        for (k, j, i) in
            (0..n).flat_map(|k| (0..n).flat_map(move |j| (0..n).map(move |i| (k, j, i))))
        {
            let h = [
                at(i, j, k),
                at(i + 1, j, k),
                at(i + 1, j + 1, k),
                at(i, j + 1, k),
                at(i, j, k + 1),
                at(i + 1, j, k + 1),
                at(i + 1, j + 1, k + 1),
                at(i, j + 1, k + 1),
            ];
            let faces: Vec<Vec<u32>> = faces_of(CellType::Hexahedron)
                .iter()
                .map(|f| f.iter().map(|&c| h[c]).collect())
                .collect();
            match kind {
                CellType::Hexahedron => cells.push(kind, &h, &[]),
                CellType::Voxel => {
                    cells.push(kind, &[h[0], h[1], h[3], h[2], h[4], h[5], h[7], h[6]], &[]);
                }
                CellType::Wedge => {
                    cells.push(kind, &[h[0], h[1], h[2], h[4], h[5], h[6]], &[]);
                    cells.push(kind, &[h[0], h[2], h[3], h[4], h[6], h[7]], &[]);
                }
                CellType::Polyhedron => {
                    let faces: Vec<&[u32]> = faces.iter().map(Vec::as_slice).collect();
                    cells.push(kind, &h, &faces);
                }
                _ => {
                    let around = [[1, 2], [2, 3], [3, 7], [7, 4], [4, 5], [5, 1]];
                    for [a, b] in around {
                        cells.push(CellType::Tetra, &[h[0], h[a], h[b], h[6]], &[]);
                    }
                }
            }
        }
        Grid::Unstructured { points: points.collect(), cells }
    }

    /// A field linear in space and time, which linear interpolation must give exactly.
    fn linear(x: DVec3, t: f64) -> [f64; 3] {
        [1.0 + x.x - 2.0 * x.y + t, 0.5 * x.z - t * x.x, x.y + 3.0 * t]
    }

    fn pair_on(grid: &Grid, times: [f64; 2]) -> Pair<Mesh> {
        let mesh = Arc::new(Mesh::new(grid).unwrap());
        let level = |t: f64| -> Vec<[f32; 4]> {
            let value = |i| linear(grid.point(i), t);
            (0..grid.point_count())
                .map(value)
                .map(|[u, v, w]| [u as f32, v as f32, w as f32, 1.0])
                .collect()
        };
        let (a, b) = (level(times[0]), level(times[1]));
        Pair::new(&mesh, [&a, &b], times).unwrap()
    }

    fn random() -> impl FnMut() -> f64 {
        let mut state = 11_u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    fn sample(
        pair: &Pair<Mesh>,
        places: [[f64; 4]; 4],
        t: f64,
        cells: &mut [u32; 4],
    ) -> Vec<[f64; 4]> {
        let places = places.map(|[x, y, z, _]| [x, y, z]);
        samples(&SearchSampler::new(pair), &places, t, cells)
    }

    #[test]
    fn linear_fields_are_exact_in_all_cells() {
        let kinds = [
            CellType::Hexahedron,
            CellType::Voxel,
            CellType::Wedge,
            CellType::Polyhedron,
            CellType::Tetra,
        ];
        for kind in kinds {
            let pair = pair_on(&lattice(4, kind), [1.0, 3.0]);
            let mut random = random();
            let mut cells = [0; 4];
            for _ in 0..500 {
                let places = [(); 4].map(|()| {
                    let u = [(); 3].map(|()| 4.0 * random());
                    [u[0] + 0.2 * u[1], u[1], u[2] + 0.1 * u[0], 1.0]
                });
                let found = sample(&pair, places, 1.5, &mut cells);
                for (v, x) in found.iter().zip(&places) {
                    let expected = linear(DVec3::new(x[0], x[1], x[2]), 1.5);
                    let error = (0..3).map(|c| (v[c] - expected[c]).abs()).fold(0.0, f64::max);
                    assert!(error < 1e-4 && (v[3] - 1.0).abs() < 1e-4, "{kind:?} {x:?}: {v:?}");
                }
            }
        }
    }

    #[test]
    fn outside_is_outside_and_holes_are_not_mixed_in() {
        let grid = lattice(4, CellType::Tetra);
        let pair = pair_on(&grid, [0.0, 1.0]);
        let beyond = [
            [-1.0, 1.0, 1.0, 1.0],
            [9.0, 1.0, 1.0, 1.0],
            [1.0, 1.0, f64::NAN, 1.0],
            [1.0, 5.0, 1.0, 1.0],
        ];
        assert_eq!(sample(&pair, beyond, 0.5, &mut [7; 4]), [[0.0; 4]; 4]);
        let mesh = Arc::new(Mesh::new(&grid).unwrap());
        let mut level = vec![[2.0_f32, 0.0, 0.0, 1.0]; grid.point_count()];
        level[0] = [f32::NAN, 0.0, 0.0, 1.0];
        let pair = Pair::new(&mesh, [&level, &level], [0.0, 1.0]).unwrap();
        let near = [[0.30, 0.2, 0.2, 1.0], [0.02, 0.01, 0.01, 1.0], [2.0, 2.0, 2.0, 1.0], [1.0; 4]];
        let found = sample(&pair, near, 0.5, &mut [0; 4]);
        assert!((found[0][0] - 2.0).abs() < 1e-5 || found[0][3] < LEAST_FLUID, "{found:?}");
        assert!(found[1][3] < LEAST_FLUID, "{found:?}");
        assert!((found[2][0] - 2.0).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn triangles_are_a_slab() {
        let points =
            [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(|[x, y]| DVec3::new(x, y, 5.0));
        let mut cells = Cells::default();
        cells.push(CellType::Quad, &[0, 1, 2, 3], &[]);
        let grid = Grid::Unstructured { points: points.to_vec(), cells };
        let pair = pair_on(&grid, [0.0, 0.0]);
        let places = [
            [0.25, 0.5, 0.0, 1.0],
            [0.75, 0.1, 9.0, 1.0],
            [0.5, 0.5, 5.0, 1.0],
            [1.5, 0.5, 5.0, 1.0],
        ];
        let found = sample(&pair, places, 0.0, &mut [0; 4]);
        for (v, x) in found[..3].iter().zip(&places) {
            let expected = linear(DVec3::new(x[0], x[1], 5.0), 0.0);
            assert!((v[0] - expected[0]).abs() < 1e-5 && v[3] > 0.99, "{v:?} {expected:?}");
        }
        assert_eq!(found[3], [0.0; 4]);
    }

    #[test]
    fn pieces_are_joined_at_equal_points() {
        let grid = lattice(2, CellType::Tetra);
        let Grid::Unstructured { points, cells } = &grid else { panic!("a mesh") };
        // The same mesh, every cell with points of its own.
        let mut apart = Cells::default();
        let mut copies = Vec::new();
        for cell in 0..cells.len() {
            let first = copies.len() as u32;
            copies.extend(cells.corners(cell).iter().map(|&p| points[p as usize]));
            apart.push(CellType::Tetra, &[first, first + 1, first + 2, first + 3], &[]);
        }
        let apart = Mesh::new(&Grid::Unstructured { points: copies, cells: apart }).unwrap();
        let whole = Mesh::new(&grid).unwrap();
        let of = |mesh: &Mesh| mesh.links.iter().map(|l| l.neighbours).collect::<Vec<_>>();
        assert_eq!(of(&apart), of(&whole));
        assert!(of(&whole).iter().flatten().any(|&n| n != NONE), "cells have neighbours");
    }

    #[test]
    fn what_has_no_inside_is_refused() {
        let mut lines = Cells::default();
        lines.push(CellType::Line, &[0, 1], &[]);
        let points = vec![DVec3::ZERO, DVec3::ONE, DVec3::X, DVec3::Y];
        let grid = Grid::Unstructured { points: points.clone(), cells: lines };
        assert_eq!(Mesh::new(&grid).unwrap_err(), MeshError::Empty);
        let mut flat = Cells::default();
        flat.push(CellType::Tetra, &[0, 2, 3, 0], &[]);
        let grid = Grid::Unstructured { points: points.clone(), cells: flat };
        assert_eq!(Mesh::new(&grid).unwrap_err(), MeshError::Empty);
        let mut curved = Cells::default();
        curved.push(CellType::Triangle, &[1, 2, 3], &[]);
        let grid = Grid::Unstructured { points, cells: curved };
        assert_eq!(Mesh::new(&grid).unwrap_err(), MeshError::Curved);
    }
}

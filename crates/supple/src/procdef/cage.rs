//! A cage of tets around a surface: cubes of one size that hold the surface or lie inside it, five tets each.
//!
//! # Method
//!
//! Cubes that a triangle passes through are marked by sampling the triangles more finely than the cubes; what cannot be
//! reached from outside past them is inside. The edge of the cubes is chosen so that there are about as many nodes as
//! wanted, however fine the surface is. Every vertex of the surface lies in a cube, so it can follow its tet.
//!
//! # Limits
//!
//! Limbs closer than a cube grow together; parts further apart than that hang together by nothing, which is an error. A
//! surface with holes larger than a cube has no inside: the cage is then a crust (`a_cage_of_an_open_surface_is_a_crust`).

use std::collections::VecDeque;

use glam::{DVec3, IVec3, Vec3};

use crate::mesh::TetMesh;

/// Attempts to meet the wanted number of nodes.
const ATTEMPTS: usize = 24;
/// Most cubes of the box around a surface.
const MOST_CUBES: f64 = 2e7;

/// Why there is no cage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no surface.
    #[error(
        "the body has no triangles to put tets around; give it tets by `tets = {{ file = … }}` or `{{ zoo = … }}`"
    )]
    Empty,
    /// The surface has no extent, or one that is no number.
    #[error("the body's surface has no extent, or coordinates that are no numbers")]
    Flat,
    /// It falls into parts.
    #[error(
        "with {nodes} nodes the body falls into {parts} parts that hang together by nothing; make it one piece, or ask \
         for fewer nodes, so that the gaps are smaller than the cubes"
    )]
    Parts {
        /// How many parts.
        parts: usize,
        /// How many nodes there would be.
        nodes: usize,
    },
}

/// Tets around a surface, and where its vertices are in them.
#[derive(Clone, Debug)]
pub struct Cage {
    /// The tets.
    pub mesh: TetMesh,
    /// For each vertex of the surface four nodes and their weights.
    pub embedding: Vec<([u32; 4], [f32; 4])>,
    /// Whether the surface encloses something.
    pub closed: bool,
    /// The edge of its cubes.
    pub edge: f64,
}

/// Tets around a surface with about `wanted` nodes.
///
/// # Errors
///
/// If there is nothing to enclose, or it falls into parts.
pub fn cage(positions: &[Vec3], triangles: &[[u32; 3]], wanted: usize) -> Result<Cage, Error> {
    if triangles.is_empty() || positions.is_empty() {
        return Err(Error::Empty);
    }
    let low = positions.iter().copied().fold(Vec3::INFINITY, Vec3::min).as_dvec3();
    let high = positions.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max).as_dvec3();
    let extent = (high - low).max_element();
    if !extent.is_finite() || extent <= 0.0 {
        return Err(Error::Flat);
    }
    // The number of nodes falls with the edge, though not by every step: halve until it is near.
    let (mut fine, mut coarse) = (extent / 400.0, extent);
    let mut best: Option<(f64, Grid)> = None;
    for _ in 0..ATTEMPTS {
        let edge = (fine * coarse).sqrt();
        let box_cubes = ((high - low) / edge + 3.0).element_product();
        if box_cubes > MOST_CUBES {
            fine = edge;
            continue;
        }
        let grid = Grid::around(positions, triangles, low, high, edge);
        let nodes = grid.node_count();
        let off = (nodes as f64 / wanted as f64).ln().abs();
        if nodes > wanted {
            fine = edge;
        } else {
            coarse = edge;
        }
        if best.as_ref().is_none_or(|b| off < b.0) {
            best = Some((off, grid));
        }
        if off < 0.03 {
            break;
        }
    }
    let Some((_, grid)) = best else { return Err(Error::Flat) };
    let parts = grid.parts();
    if parts > 1 {
        return Err(Error::Parts { parts, nodes: grid.node_count() });
    }
    Ok(grid.cage(positions))
}

/// Cubes of one size; `filled` where they belong to the body.
struct Grid {
    low: DVec3,
    edge: f64,
    size: IVec3,
    filled: Vec<bool>,
    closed: bool,
}

impl Grid {
    fn around(
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        low: DVec3,
        high: DVec3,
        edge: f64,
    ) -> Self {
        // An empty cube all around, so that the outside hangs together; the body in the middle of the cubes.
        let size = ((high - low) / edge).ceil().as_ivec3() + 2;
        let spare = size.as_dvec3() * edge - (high - low);
        let mut grid = Self {
            low: low - 0.5 * spare,
            edge,
            size,
            filled: vec![false; (size.x * size.y * size.z) as usize],
            closed: false,
        };
        for t in triangles {
            let [a, b, c] = t.map(|v| positions[v as usize].as_dvec3());
            let longest = (b - a).length().max((c - a).length()).max((c - b).length());
            let steps = (2.5 * longest / edge).ceil().clamp(1.0, 1000.0) as u32;
            for i in 0..=steps {
                for j in 0..=steps - i {
                    let (u, v) = (f64::from(i) / f64::from(steps), f64::from(j) / f64::from(steps));
                    let cube = grid.index(grid.cube(a + u * (b - a) + v * (c - a)));
                    grid.filled[cube] = true;
                }
            }
        }
        grid.fill_inside();
        grid
    }

    fn cube(&self, x: DVec3) -> IVec3 {
        ((x - self.low) / self.edge).floor().as_ivec3().clamp(IVec3::ZERO, self.size - 1)
    }

    fn index(&self, c: IVec3) -> usize {
        ((c.z * self.size.y + c.y) * self.size.x + c.x) as usize
    }

    fn cubes(&self) -> impl Iterator<Item = IVec3> + '_ {
        let s = self.size;
        (0..s.z).flat_map(move |z| {
            (0..s.y).flat_map(move |y| (0..s.x).map(move |x| IVec3::new(x, y, z)))
        })
    }

    /// The cubes next to one.
    fn beside(&self, c: IVec3) -> impl Iterator<Item = IVec3> {
        let size = self.size;
        let steps = [IVec3::X, -IVec3::X, IVec3::Y, -IVec3::Y, IVec3::Z, -IVec3::Z];
        let within = move |n: &IVec3| n.cmpge(IVec3::ZERO).all() && n.cmplt(size).all();
        steps.into_iter().map(move |s| c + s).filter(within)
    }

    /// All cubes that `from` leads to without passing one that `passes` refuses.
    fn reached(&self, from: IVec3, passes: impl Fn(usize) -> bool, reached: &mut [bool]) {
        let mut todo = VecDeque::from([from]);
        reached[self.index(from)] = true;
        while let Some(c) = todo.pop_front() {
            for n in self.beside(c) {
                let i = self.index(n);
                if passes(i) && !reached[i] {
                    reached[i] = true;
                    todo.push_back(n);
                }
            }
        }
    }

    fn fill_inside(&mut self) {
        let mut outside = vec![false; self.filled.len()];
        self.reached(IVec3::ZERO, |i| !self.filled[i], &mut outside);
        for (filled, outside) in self.filled.iter_mut().zip(outside) {
            self.closed |= !outside && !*filled;
            *filled = !outside;
        }
    }

    fn parts(&self) -> usize {
        let mut seen = vec![false; self.filled.len()];
        let mut parts = 0;
        for c in self.cubes() {
            let i = self.index(c);
            if self.filled[i] && !seen[i] {
                parts += 1;
                self.reached(c, |i| self.filled[i], &mut seen);
            }
        }
        parts
    }

    /// The number of each corner that a filled cube has; `u32::MAX` for others.
    fn nodes(&self) -> (Vec<u32>, usize) {
        let n = self.size + 1;
        let mut numbers = vec![u32::MAX; (n.x * n.y * n.z) as usize];
        for c in self.cubes().filter(|c| self.filled[self.index(*c)]) {
            (0..8).for_each(|k| numbers[self.corner(c, k)] = 0);
        }
        let mut count = 0;
        for number in numbers.iter_mut().filter(|n| **n == 0) {
            *number = count;
            count += 1;
        }
        (numbers, count as usize)
    }

    fn corner(&self, c: IVec3, k: i32) -> usize {
        let n = self.size + 1;
        let c = c + IVec3::new(k & 1, k >> 1 & 1, k >> 2);
        ((c.z * n.y + c.y) * n.x + c.x) as usize
    }

    fn node_count(&self) -> usize {
        self.nodes().1
    }

    fn cage(&self, positions: &[Vec3]) -> Cage {
        let (numbers, count) = self.nodes();
        let mut nodes = vec![Vec3::ZERO; count];
        let mut tets = Vec::new();
        for c in self.cubes().filter(|c| self.filled[self.index(*c)]) {
            for k in 0..8 {
                let at =
                    self.low + self.edge * (c + IVec3::new(k & 1, k >> 1 & 1, k >> 2)).as_dvec3();
                nodes[numbers[self.corner(c, k)] as usize] = at.as_vec3();
            }
            tets.extend(five(c).map(|tet| tet.map(|k| numbers[self.corner(c, k)])));
        }
        let mut mesh = TetMesh::new(nodes, tets);
        mesh.orient();
        let embedding = positions.iter().map(|p| self.embed(p.as_dvec3(), &numbers)).collect();
        Cage { mesh, embedding, closed: self.closed, edge: self.edge }
    }

    /// The nodes of the tet that a point is in, and its barycentric coordinates.
    fn embed(&self, x: DVec3, numbers: &[u32]) -> ([u32; 4], [f32; 4]) {
        let c = self.cube(x);
        let local = (x - self.low) / self.edge - c.as_dvec3();
        let mut best = (f64::NEG_INFINITY, [0; 4], [0.25; 4]);
        for tet in five(c) {
            let corner = |k: i32| IVec3::new(k & 1, k >> 1 & 1, k >> 2).as_dvec3();
            let weights = barycentric(tet.map(corner), local);
            let least = weights.into_iter().fold(f64::INFINITY, f64::min);
            if least > best.0 {
                best = (least, tet.map(|k| numbers[self.corner(c, k)]), weights);
            }
        }
        (best.1, best.2.map(|w| w as f32))
    }
}

/// The five tets of a cube by its corners; every other cube mirrored.
fn five(c: IVec3) -> [[i32; 4]; 5] {
    const EVEN: [[i32; 4]; 5] =
        [[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]];
    let odd = (c.x + c.y + c.z) & 1;
    EVEN.map(|tet| tet.map(|k| k ^ odd))
}

/// Barycentric coordinates in a tet.
pub(super) fn barycentric([a, b, c, d]: [DVec3; 4], x: DVec3) -> [f64; 4] {
    let det = (b - a).cross(c - a).dot(d - a);
    let wb = (x - a).cross(c - a).dot(d - a) / det;
    let wc = (b - a).cross(x - a).dot(d - a) / det;
    let wd = (b - a).cross(c - a).dot(x - a) / det;
    [1.0 - wb - wc - wd, wb, wc, wd]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Run, zoo};

    fn surface(name: &str) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let asset = zoo::build(name, &zoo::Size::default(), &Run::default()).unwrap();
        (asset.meshes[0].positions.clone(), asset.meshes[0].triangles.clone())
    }

    #[test]
    fn a_cage_holds_every_vertex_and_has_about_the_nodes_that_are_wanted() {
        for name in ["ball", "bar", "torus", "comb"] {
            let (positions, triangles) = surface(name);
            let cage = cage(&positions, &triangles, 1500).unwrap();
            let nodes = cage.mesh.positions.len();
            assert!((1200..1900).contains(&nodes), "{name}: {nodes} nodes");
            assert!(
                cage.closed && (0..cage.mesh.tets.len()).all(|t| cage.mesh.volume_of(t) > 0.0),
                "{name}"
            );
            for (p, (of, w)) in positions.iter().zip(&cage.embedding) {
                let at: Vec3 = (0..4).map(|k| w[k] * cage.mesh.positions[of[k] as usize]).sum();
                assert!(
                    (at - *p).length() < 1e-4 && w.iter().all(|w| *w > -1e-4),
                    "{name}: {p} at {at}"
                );
            }
        }
    }

    #[test]
    fn a_cage_of_an_open_surface_is_a_crust() {
        let (positions, triangles) = surface("plane");
        let cage = cage(&positions, &triangles, 500).unwrap();
        assert!(!cage.closed, "nothing is inside a sheet");
    }

    #[test]
    fn parts_apart_are_refused() {
        let (mut positions, mut triangles) = surface("ball");
        let count = positions.len() as u32;
        triangles.extend(triangles.clone().iter().map(|t| t.map(|v| v + count)));
        positions.extend(positions.clone().iter().map(|p| *p + 5.0 * Vec3::X));
        assert!(
            matches!(cage(&positions, &triangles, 1500), Err(Error::Parts { parts: 2, .. })),
            "two balls"
        );
        assert!(matches!(cage(&[], &[], 10), Err(Error::Empty)), "nothing");
    }
}

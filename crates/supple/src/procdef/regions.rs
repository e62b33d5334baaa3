//! The regions of a body: every vertex with its neighbours, in the form the kernel reads.

use glam::DVec3;

use super::Error;
use super::halves::{self, Half};
use super::matching::{Quad, Rings};
use super::wide::{WIDTH, Wide};
use crate::mesh::TetMesh;

/// Masses below this share of the mean are raised to it: what hangs on flat tets only would weigh nothing.
const LEAST_MASS: f64 = 1e-3;

/// One region a vertex: the vertex and its 1-ring.
#[derive(Clone, Debug)]
pub(super) struct Regions {
    /// The mesh's vertex of each region; neighbours in space are neighbours in this order.
    pub(super) vertices: Vec<u32>,
    /// The region of each of the mesh's vertices; `u32::MAX` for one in no tet.
    pub(super) region_of: Vec<u32>,
    /// Where the vertices rest, about their common centre of mass.
    pub(super) rest: Vec<DVec3>,
    /// A quarter of each tet's volume, summed to 1 over the body.
    pub(super) masses: Vec<f64>,
    /// The centre of mass at rest.
    pub(super) center: DVec3,
    /// Where the ring of each region begins in `ring` and `weights`.
    pub(super) starts: Vec<u32>,
    /// The neighbours.
    pub(super) ring: Vec<u32>,
    /// For each neighbour `m̃ q / Σ m̃ |q|²` and `m̃ / Σ m̃`, `q` from the region's centre.
    pub(super) weights: Vec<Quad>,
    /// `(x⁰, 1) / |N|`: what a vertex multiplies the sum of its rows with.
    pub(super) homes: Vec<Quad>,
    /// Moments and centres at rest.
    pub(super) blocks: Vec<Block>,
    /// For two threads, if the size suits them.
    pub(super) halves: Option<[Half; 2]>,
}

/// Sixteen regions at rest.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// `Σ m̃ q qᵀ / Σ m̃ |q|²`: `00 01 02 11 12 22`.
    pub(super) moment: [Wide; 6],
    /// The region's centre.
    pub(super) center: [Wide; 3],
}

impl Regions {
    pub(super) fn new(mesh: &TetMesh) -> Result<Self, Error> {
        check(mesh)?;
        let (vertices, region_of) = order(mesh);
        let mut masses = vec![0.0; vertices.len()];
        for t in 0..mesh.tets.len() {
            let share = 0.25 * mesh.volume_of(t).abs();
            for &v in &mesh.tets[t] {
                masses[region_of[v as usize] as usize] += share;
            }
        }
        let total: f64 = masses.iter().sum();
        if !total.is_finite() || total <= 0.0 {
            return Err(Error::Flat);
        }
        let least = LEAST_MASS * total / masses.len() as f64;
        masses.iter_mut().for_each(|m| *m = m.max(least));
        let total: f64 = masses.iter().sum();
        masses.iter_mut().for_each(|m| *m /= total);
        let position = |&v: &u32| mesh.positions[v as usize].as_dvec3();
        let mut rest: Vec<DVec3> = vertices.iter().map(position).collect();
        let center: DVec3 = rest.iter().zip(&masses).map(|(x, m)| *x * *m).sum();
        rest.iter_mut().for_each(|x| *x -= center);
        let (starts, ring) = rings(mesh, &region_of, vertices.len());
        let mut regions = Self {
            vertices,
            region_of,
            rest,
            masses,
            center,
            starts,
            ring,
            weights: Vec::new(),
            homes: Vec::new(),
            blocks: Vec::new(),
            halves: None,
        };
        regions.weigh();
        regions.halves = halves::cut(&regions);
        Ok(regions)
    }

    pub(super) fn len(&self) -> usize {
        self.vertices.len()
    }

    pub(super) fn ring(&self, region: usize) -> std::ops::Range<usize> {
        self.starts[region] as usize..self.starts[region + 1] as usize
    }

    pub(super) fn rings(&self) -> Rings<'_> {
        let Self { starts, ring, weights, homes, blocks, .. } = self;
        Rings { starts, ring, weights, homes, blocks }
    }

    /// `m̃ = m/|N|`: what makes a pass keep both momenta.
    pub(super) fn shared_mass(&self, region: usize) -> f64 {
        self.masses[region] / (1 + self.ring(region).len()) as f64
    }

    /// The vertices of a region, its own first, and their centre.
    pub(super) fn members(&self, region: usize) -> (Vec<usize>, DVec3) {
        let ring = self.ring[self.ring(region)].iter().map(|&i| i as usize);
        let members: Vec<usize> = std::iter::once(region).chain(ring).collect();
        let mass: f64 = members.iter().map(|&i| self.shared_mass(i)).sum();
        let sum: DVec3 = members.iter().map(|&i| self.shared_mass(i) * self.rest[i]).sum();
        (members, sum / mass)
    }

    fn weigh(&mut self) {
        let mut weights = Vec::with_capacity(self.ring.len());
        let padding = Block {
            moment: [1.0, 0.0, 0.0, 1.0, 0.0, 1.0].map(|e: f32| Wide::all(e / 3.0)),
            center: [Wide::ZERO; 3],
        };
        let mut blocks = vec![padding; self.len().div_ceil(WIDTH)];
        for r in 0..self.len() {
            let (members, center) = self.members(r);
            let mass: f64 = members.iter().map(|&i| self.shared_mass(i)).sum();
            let offset = |i: usize| self.rest[i] - center;
            let spread: f64 =
                members.iter().map(|&i| self.shared_mass(i) * offset(i).length_squared()).sum();
            let scale = if spread > 0.0 { 1.0 / spread } else { 0.0 };
            for &i in &members[1..] {
                let q = scale * self.shared_mass(i) * offset(i);
                let share = self.shared_mass(i) / mass;
                weights.push(Quad([q.x as f32, q.y as f32, q.z as f32, share as f32]));
            }
            let block = &mut blocks[r / WIDTH];
            let sum = |f: &dyn Fn(DVec3) -> f64| {
                members.iter().map(|&i| scale * self.shared_mass(i) * f(offset(i))).sum::<f64>()
                    as f32
            };
            let products: [&dyn Fn(DVec3) -> f64; 6] = [
                &|q| q.x * q.x,
                &|q| q.x * q.y,
                &|q| q.x * q.z,
                &|q| q.y * q.y,
                &|q| q.y * q.z,
                &|q| q.z * q.z,
            ];
            for (entry, product) in block.moment.iter_mut().zip(products) {
                entry.0[r % WIDTH] = sum(product);
            }
            for (axis, entry) in block.center.iter_mut().enumerate() {
                entry.0[r % WIDTH] = center[axis] as f32;
            }
        }
        let home = |r: usize| {
            let share = 1.0 / (1 + self.ring(r).len()) as f64;
            let x = share * self.rest[r];
            Quad([x.x as f32, x.y as f32, x.z as f32, share as f32])
        };
        self.homes = (0..self.len()).map(home).collect();
        self.weights = weights;
        self.blocks = blocks;
    }
}

fn check(mesh: &TetMesh) -> Result<(), Error> {
    if mesh.tets.is_empty() {
        return Err(Error::Empty);
    }
    let count = mesh.positions.len();
    for (tet, corners) in mesh.tets.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= count) {
            return Err(Error::Index { tet, vertex, count });
        }
    }
    match mesh.positions.iter().position(|p| !p.is_finite()) {
        Some(vertex) => Err(Error::NotFinite { vertex }),
        None => Ok(()),
    }
}

/// The vertices that are in a tet, along a space-filling curve, and the place of each.
fn order(mesh: &TetMesh) -> (Vec<u32>, Vec<u32>) {
    let mut used = vec![false; mesh.positions.len()];
    mesh.tets.iter().flatten().for_each(|&v| used[v as usize] = true);
    let mut vertices: Vec<u32> = (0..used.len() as u32).filter(|&v| used[v as usize]).collect();
    let at = |v: u32| mesh.positions[v as usize].as_dvec3();
    let low = vertices.iter().map(|&v| at(v)).fold(DVec3::INFINITY, DVec3::min);
    let high = vertices.iter().map(|&v| at(v)).fold(DVec3::NEG_INFINITY, DVec3::max);
    let scale = 1023.0 / (high - low).max_element().max(f64::MIN_POSITIVE);
    let key = |v: u32| {
        let cell = ((at(v) - low) * scale).as_uvec3();
        (0..10)
            .map(|bit| {
                (cell.x >> bit & 1) << (3 * bit)
                    | (cell.y >> bit & 1) << (3 * bit + 1)
                    | (cell.z >> bit & 1) << (3 * bit + 2)
            })
            .sum::<u32>()
    };
    vertices.sort_by_cached_key(|&v| (key(v), v));
    let mut region_of = vec![u32::MAX; used.len()];
    for (region, &v) in vertices.iter().enumerate() {
        region_of[v as usize] = region as u32;
    }
    (vertices, region_of)
}

/// The neighbours of every region, ascending.
fn rings(mesh: &TetMesh, region_of: &[u32], count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut pairs: Vec<[u32; 2]> = Vec::new();
    for [a, b] in mesh.edges() {
        let (a, b) = (region_of[a as usize], region_of[b as usize]);
        if a != b {
            pairs.extend([[a, b], [b, a]]);
        }
    }
    pairs.sort_unstable();
    let mut starts = vec![0; count + 1];
    pairs.iter().for_each(|p| starts[p[0] as usize + 1] += 1);
    for r in 0..count {
        starts[r + 1] += starts[r];
    }
    (starts, pairs.into_iter().map(|p| p[1]).collect())
}

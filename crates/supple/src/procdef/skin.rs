//! The surface that a body shows: its own boundary, or a fine skin that follows the nodes.
//!
//! A skin's vertex goes where the regions of the four nodes around it would take it, blended by its barycentric
//! coordinates: `x = Σ w_k (R_k T_k (x⁰ − x⁰_k) + x_k)`. Regions overlap, so the skin bends smoothly where linear
//! interpolation within tets would show their edges. The maps are those of the regions about the nodes themselves, not
//! about the regions' centres: what holds, drags or pushes a node moves the skin there just as far.

use std::sync::Arc;

use glam::{DMat3, DVec3, Vec3};

use super::cage::{barycentric, cage};
use super::field::Known;
use super::field::space::Interpolant;
use super::matching::{Passing, Row, quad};
use super::{Body, State, Stretches};
use crate::Run;
use crate::mesh::{Shape, TetMesh, Topology};

/// How a body is shown.
#[derive(Clone, Debug)]
pub(super) enum Skin {
    /// By its own boundary: which nodes, and their triangles.
    Boundary { nodes: Vec<u32>, topology: Arc<Topology> },
    /// By a skin: where its vertices rest, the nodes they follow and their weights.
    Embedded { rest: Vec<DVec3>, of: Vec<([u32; 4], [f32; 4])> },
}

impl Skin {
    /// The skin of a body in its tets; the boundary of the tets for a body that has none.
    pub(super) fn new(mesh: &TetMesh, shape: &Shape) -> Self {
        if shape.positions.is_empty() {
            return Self::boundary(mesh);
        }
        let finder = Finder::new(mesh);
        let rest: Vec<DVec3> = shape.positions.iter().map(|p| p.as_dvec3()).collect();
        let of = rest.iter().map(|p| finder.find(*p)).collect();
        Self::Embedded { rest, of }
    }

    /// How many of its vertices are far outside the tets, and how many it has.
    pub(super) fn far(&self) -> (usize, usize) {
        match self {
            Self::Boundary { nodes, .. } => (0, nodes.len()),
            Self::Embedded { of, .. } => {
                let far = |(nodes, _): &&([u32; 4], [f32; 4])| nodes[0] == nodes[1];
                (of.iter().filter(far).count(), of.len())
            }
        }
    }

    fn boundary(mesh: &TetMesh) -> Self {
        let faces = mesh.boundary();
        let mut nodes: Vec<u32> = faces.iter().flatten().copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let place = |v: u32| nodes.binary_search(&v).map_or(0, |k| k as u32);
        let triangles = faces.iter().map(|f| f.map(place)).collect();
        Self::Boundary { nodes, topology: Arc::new(Topology::Triangles(triangles)) }
    }

    /// The topology, if it is not that of the shape it was made for.
    pub(super) fn own_topology(&self) -> Option<&Arc<Topology>> {
        match self {
            Self::Boundary { topology, .. } => Some(topology),
            Self::Embedded { .. } => None,
        }
    }

    /// Where its vertices are, some time after the body's last tick.
    pub(super) fn positions(
        &self,
        body: &Body,
        state: &State,
        (stretches, since_secs): (&Stretches, f64),
        run: &Run<'_>,
    ) -> Vec<Vec3> {
        let mut later = state.clone();
        later.placement.translation += since_secs * later.placement.velocity;
        for (u, v) in later.offsets.iter_mut().zip(&state.velocities) {
            *u += since_secs as f32 * *v;
        }
        match self {
            Self::Boundary { nodes, .. } => {
                let all = body.positions(&later);
                nodes.iter().map(|&v| all[v as usize]).collect()
            }
            Self::Embedded { rest, of } => {
                let mut passing = Passing::default();
                passing.resize(body.regions.len());
                passing.now = later.offsets.iter().map(|u| quad(*u)).collect();
                passing.match_all(&body.regions, &stretches.blocks, run);
                run.map(rest.len(), |v| {
                    let at = rest[v] - body.regions.center;
                    let moved = carried(body, (&passing.maps, &later.offsets), at, &of[v]);
                    later.placement.point(moved).as_vec3()
                })
            }
        }
    }

    /// Values at the nodes, at its vertices.
    pub(super) fn scalars(&self, nodes: &[f32]) -> Vec<f32> {
        match self {
            Self::Boundary { nodes: of, .. } => of.iter().map(|&v| nodes[v as usize]).collect(),
            Self::Embedded { of, .. } => of
                .iter()
                .map(|(of, w)| (0..4).map(|k| w[k] * nodes[of[k] as usize]).sum())
                .collect(),
        }
    }
}

/// A point of the skin at rest, where the maps of its four nodes take it together.
fn carried(
    body: &Body,
    (maps, offsets): (&[Row], &[Vec3]),
    x: DVec3,
    (nodes, weights): &([u32; 4], [f32; 4]),
) -> DVec3 {
    let mut moved = x;
    for (node, weight) in nodes.iter().zip(weights) {
        let region = body.regions.region_of[*node as usize] as usize;
        let (Some(map), Some(offset)) = (maps.get(region), offsets.get(region)) else { continue };
        let (m, arm) = (map.0.map(f64::from), x - body.regions.rest[region]);
        let along = |k: usize| m[k] * arm.x + m[k + 1] * arm.y + m[k + 2] * arm.z;
        let turned = DVec3::new(along(0), along(4), along(8));
        moved += f64::from(*weight) * (turned + offset.as_dvec3());
    }
    moved
}

/// Finds the tet of a point: a hash of cells over the bounds of the tets.
struct Finder<'a> {
    mesh: &'a TetMesh,
    low: DVec3,
    cell: f64,
    size: [usize; 3],
    starts: Vec<u32>,
    tets: Vec<u32>,
}

impl<'a> Finder<'a> {
    fn new(mesh: &'a TetMesh) -> Self {
        let low = mesh.positions.iter().copied().fold(Vec3::INFINITY, Vec3::min).as_dvec3();
        let high = mesh.positions.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max).as_dvec3();
        let volume = (high - low).max(DVec3::splat(1e-12)).element_product();
        let cell = libm::cbrt(volume / mesh.tets.len().max(1) as f64)
            .max((high - low).max_element() / 200.0);
        let size = ((high - low) / cell).to_array().map(|e| e as usize + 1);
        let mut finder = Self { mesh, low, cell, size, starts: Vec::new(), tets: Vec::new() };
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for t in 0..mesh.tets.len() {
            let corners = mesh.corners_of(t).map(Vec3::as_dvec3);
            let a = finder.place(corners.into_iter().fold(DVec3::INFINITY, DVec3::min));
            let b = finder.place(corners.into_iter().fold(DVec3::NEG_INFINITY, DVec3::max));
            for z in a[2]..=b[2] {
                for y in a[1]..=b[1] {
                    pairs.extend((a[0]..=b[0]).map(|x| (finder.index([x, y, z]) as u32, t as u32)));
                }
            }
        }
        pairs.sort_unstable();
        finder.starts = vec![0; size.iter().product::<usize>() + 1];
        pairs.iter().for_each(|p| finder.starts[p.0 as usize + 1] += 1);
        for i in 1..finder.starts.len() {
            finder.starts[i] += finder.starts[i - 1];
        }
        finder.tets = pairs.into_iter().map(|p| p.1).collect();
        finder
    }

    fn place(&self, x: DVec3) -> [usize; 3] {
        let at = ((x - self.low) / self.cell).to_array();
        std::array::from_fn(|k| (at[k].max(0.0) as usize).min(self.size[k] - 1))
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.size[1] + y) * self.size[0] + x
    }

    /// The tet that a point is in, or the one it is least outside of; for a point far outside the nearest node alone.
    fn find(&self, x: DVec3) -> ([u32; 4], [f32; 4]) {
        let cell = self.index(self.place(x));
        let range = self.starts[cell] as usize..self.starts[cell + 1] as usize;
        let mut best: Option<(f64, u32, [f64; 4])> = None;
        for &t in &self.tets[range] {
            let weights = barycentric(self.mesh.corners_of(t as usize).map(Vec3::as_dvec3), x);
            let least = weights.into_iter().fold(f64::INFINITY, f64::min);
            if best.is_none_or(|b| least > b.0) {
                best = Some((least, t, weights));
            }
        }
        match best {
            Some((least, t, weights)) if least > -1.0 => {
                (self.mesh.tets[t as usize], weights.map(|w| w as f32))
            }
            _ => {
                let distance = |v: &usize| self.mesh.positions[*v].as_dvec3().distance_squared(x);
                let nearest = (0..self.mesh.positions.len())
                    .min_by(|a, b| distance(a).total_cmp(&distance(b)));
                ([nearest.unwrap_or(0) as u32; 4], [1.0, 0.0, 0.0, 0.0])
            }
        }
    }
}

/// Most vertices of a skin that say where the nodes go.
const GUIDES: usize = 900;

/// Where the nodes of a mesh go when a skin around it goes somewhere: its motion, interpolated in space.
pub(super) fn carry_nodes(
    mesh: &TetMesh,
    skin: &[Vec3],
    to: &[Vec3],
    run: &Run<'_>,
) -> Result<Vec<Vec3>, String> {
    let step = skin.len().div_ceil(GUIDES).max(1);
    let guide =
        |v: usize| Known { at: skin[v].as_dvec3(), value: (to[v] - skin[v]).as_dvec3().to_array() };
    let guides: Vec<Known<3>> = (0..skin.len()).step_by(step).map(guide).collect();
    let field = Interpolant::new(&guides, run).map_err(|e| e.to_string())?;
    let moved = |v: usize| {
        let at = mesh.positions[v].as_dvec3();
        (at + DVec3::from(field.at(at))).as_vec3()
    };
    Ok(run.map(mesh.positions.len(), moved))
}

/// The linear part of the affine map from some points to others, if there is one.
pub(super) fn placement(from: &[Vec3], to: &[Vec3]) -> Option<DMat3> {
    let count = from.len().max(1) as f64;
    let mean = |x: &[Vec3]| x.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / count;
    let (a, b) = (mean(from), mean(to));
    let (mut moment, mut rest) = (DMat3::ZERO, DMat3::ZERO);
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    for (p, q) in from.iter().zip(to) {
        let (p, q) = (p.as_dvec3() - a, q.as_dvec3() - b);
        moment += outer(q, p);
        rest += outer(p, p);
    }
    let map = moment * rest.inverse();
    let size = to.iter().map(|q| (q.as_dvec3() - b).length()).fold(0.0, f64::max);
    let off = |(p, q): (&Vec3, &Vec3)| (map * (p.as_dvec3() - a) + b - q.as_dvec3()).length();
    let worst = from.iter().zip(to).map(off).fold(0.0, f64::max);
    (map.is_finite() && worst <= 1e-4 * size).then_some(map)
}

/// Tets around the surface of a shape, with about as many nodes as wanted.
pub(super) fn fill(shape: &Shape, nodes: usize) -> Result<TetMesh, String> {
    let cage =
        cage(&shape.positions, shape.topology.triangles(), nodes).map_err(|e| e.to_string())?;
    Ok(cage.mesh)
}

//! A set of shapes as one body: nodes, their springs, and where every shape puts them.
//!
//! Vertices that coincide in all shapes are one node (seams of files). A closed surface is filled with tets, an open one
//! gets an inner layer: a copy one mean edge inwards along the normals, cross-braced. What lies inside is
//! carried over to every target ([`carry`](super::carry)); tet meshes bring their own.

use std::collections::HashMap;

use glam::{DVec3, Vec3};

use super::carry::Carry;
use super::{Bending, Error, Inside, Params, Shapes};
use crate::Run;
use crate::mesh::TriMesh;
use crate::mesh::adjacency::{self, Rows};
use crate::mesh::measure::Bounds;
use crate::mesh::normals::vertex_normals;
use crate::mesh::tet::signed_volume;
use crate::mesh::tetrahedralize::{self, fill};
use crate::mesh::winding::Winding;
use crate::spring::network::{self, Network};

/// Internal springs whose middle has a smaller winding number lie outside: on a flat face it is one half.
const OUTSIDE: f64 = 0.25;

/// Springs shorter than this part of the median are as stiff as one of that length.
const SHORTEST: f64 = 1e-3;

/// What a network is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    /// Nodes in all.
    pub nodes: usize,
    /// Nodes that are no vertex of the surface.
    pub inner: usize,
    /// Springs in all.
    pub springs: usize,
    /// Springs along edges of the surface.
    pub structure: usize,
    /// Springs between vertices two edges apart.
    pub bending: usize,
    /// Springs along edges of tets, or to and within the inner layer.
    pub internal: usize,
    /// Internal springs that were left out, since they leave the body.
    pub dropped: usize,
    /// Tets.
    pub tets: usize,
    /// Tets that are inside out in a target.
    pub inverted_in_targets: usize,
    /// Pieces that no spring holds together.
    pub pieces: usize,
    /// Vertices that no spring holds: blended linearly.
    pub loose: usize,
}

/// Nodes, springs and shapes.
#[derive(Clone, Debug)]
pub(super) struct SpringBody {
    pub(super) network: Network,
    pub(super) base: Vec<DVec3>,
    pub(super) targets: Vec<Vec<DVec3>>,
    /// The node of every vertex.
    pub(super) node_of: Vec<u32>,
    pub(super) is_surface: Vec<bool>,
    pub(super) tets: Vec<[u32; 4]>,
    pub(super) counts: Counts,
}

/// Springs before they are a network.
#[derive(Default)]
struct Springs {
    ends: Vec<[u32; 2]>,
    counts: Counts,
}

impl SpringBody {
    pub(super) fn new(shapes: &Shapes<'_>, params: &Params, run: &Run<'_>) -> Result<Self, Error> {
        let all: Vec<&[Vec3]> =
            std::iter::once(shapes.base).chain(shapes.targets.iter().copied()).collect();
        let (mut node_of, mut nodes) = welded(&all);
        let surface = nodes.len();
        let triangles = adjacency::renamed(shapes.triangles, &node_of);
        let mut springs = Springs::default();
        springs.surface(surface, &triangles, params.bending);
        let mut positions: Vec<Vec<DVec3>> = all
            .iter()
            .map(|shape| nodes.iter().map(|&v| shape[v as usize].as_dvec3()).collect())
            .collect();
        let rename = |tets: &[[u32; 4]]| {
            let name = |v: u32| node_of.get(v as usize).copied();
            let named = tets
                .iter()
                .filter_map(|t| Some([name(t[0])?, name(t[1])?, name(t[2])?, name(t[3])?]));
            named.collect::<Vec<_>>()
        };
        let mut tets = rename(shapes.tets);
        let mut is_carried = false;
        if !tets.is_empty() {
            springs.add(network::internal(&tets));
        } else if let Some(fill) = Filling::choose(shapes, params, &triangles, run)? {
            let inner = fill.inner.len() as u32;
            let first = shapes.base.len() as u32;
            let name = |v: u32| match v.checked_sub(first) {
                Some(inner) => inner + surface as u32,
                None => node_of[v as usize],
            };
            tets = fill.tets.iter().map(|t| t.map(name)).collect();
            nodes.extend((0..inner).map(|_| u32::MAX));
            positions[0].extend(fill.inner.iter().map(|p| p.as_dvec3()));
            springs.fill(&tets, surface, &positions[0], &triangles, run)?;
            is_carried = inner > 0;
        } else if params.inside != Inside::Nothing {
            springs.layer(surface, &triangles);
            for shape in &mut positions {
                inner_layer(shape, &triangles, params, run);
            }
            nodes.extend((0..surface).map(|_| u32::MAX));
        }
        let mut body = Self::numbered(springs, positions, (&mut node_of, surface), tets, shapes);
        body.finish(is_carried, run);
        Ok(body)
    }

    /// Numbers the nodes along the longest side, so that slabs of them have few springs between them.
    fn numbered(
        mut springs: Springs,
        positions: Vec<Vec<DVec3>>,
        (node_of, surface): (&mut Vec<u32>, usize),
        tets: Vec<[u32; 4]>,
        shapes: &Shapes<'_>,
    ) -> Self {
        springs.ends.sort_unstable();
        springs.ends.dedup();
        let base = &positions[0];
        let size = Bounds::of(shapes.base).map_or(Vec3::ZERO, |b| b.size());
        let axis = (0..3).fold(0, |best, k| if size[k] > size[best] { k } else { best });
        let mut order: Vec<u32> = (0..base.len() as u32).collect();
        order.sort_by(|&a, &b| {
            base[a as usize][axis].total_cmp(&base[b as usize][axis]).then(a.cmp(&b))
        });
        let mut place = vec![0_u32; order.len()];
        order.iter().enumerate().for_each(|(k, &node)| place[node as usize] = k as u32);
        let ends: Vec<[u32; 2]> =
            springs.ends.iter().map(|e| e.map(|v| place[v as usize])).collect();
        let move_to = |shape: &Vec<DVec3>| -> Vec<DVec3> {
            let known = order.iter().map(|&v| shape.get(v as usize).copied().unwrap_or_default());
            known.collect()
        };
        let mut positions: Vec<Vec<DVec3>> = positions.iter().map(move_to).collect();
        let targets = positions.split_off(1);
        let base = positions.pop().unwrap_or_default();
        node_of.iter_mut().for_each(|node| *node = place[*node as usize]);
        let mut is_surface = vec![false; base.len()];
        node_of.iter().for_each(|&node| is_surface[node as usize] = true);
        let tets = tets.iter().map(|t| t.map(|v| place[v as usize])).collect();
        let network = constants(base.len(), ends, &base, &painted(shapes, node_of, base.len()));
        let counts = Counts {
            nodes: base.len(),
            inner: base.len() - surface,
            springs: network.ends().len(),
            ..springs.counts
        };
        Self { network, base, targets, node_of: std::mem::take(node_of), is_surface, tets, counts }
    }

    /// Carries the inside over and counts what came of it.
    fn finish(&mut self, is_carried: bool, run: &Run<'_>) {
        if is_carried {
            let carry = Carry::new(&self.network, &self.base, &self.is_surface, run);
            self.targets = run.map_tasks(self.targets.len(), |t| carry.to(&self.targets[t], run));
        }
        self.counts.tets = self.tets.len();
        self.counts.inverted_in_targets = self.targets.iter().map(|x| self.inverted(x)).sum();
        let (piece, pieces) = self.network.pieces();
        let mut count = vec![0_usize; pieces];
        piece.iter().for_each(|&p| count[p as usize] += 1);
        self.counts.loose = count.iter().filter(|&&n| n == 1).count();
        self.counts.pieces = pieces - self.counts.loose;
    }

    /// Tets that are inside out, seen from the base.
    pub(super) fn inverted(&self, x: &[DVec3]) -> usize {
        let volume = |x: &[DVec3], t: &[u32; 4]| signed_volume(t.map(|v| x[v as usize]));
        self.tets.iter().filter(|t| volume(x, t) * volume(&self.base, t) < 0.0).count()
    }
}

/// Constants of springs: the median length over their own, times what was painted.
fn constants(nodes: usize, ends: Vec<[u32; 2]>, base: &[DVec3], paint: &[f64]) -> Network {
    let length = |&[i, j]: &[u32; 2]| (base[i as usize] - base[j as usize]).length_squared().sqrt();
    let lengths: Vec<f64> = ends.iter().map(length).collect();
    let mut sorted = lengths.clone();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or(1.0).max(f64::MIN_POSITIVE);
    let factor = |[i, j]: [u32; 2]| 0.5 * (paint[i as usize] + paint[j as usize]);
    let stiffness = ends.iter().zip(&lengths);
    let stiffness =
        stiffness.map(|(&e, &r)| factor(e) * median / r.max(SHORTEST * median)).collect();
    Network::new(nodes, ends, stiffness)
}

/// Painted factors on nodes; what is inside has the mean of its surface.
fn painted(shapes: &Shapes<'_>, node_of: &[u32], nodes: usize) -> Vec<f64> {
    let Some(paint) = shapes.stiffness else { return vec![1.0; nodes] };
    let clean = |x: f32| if x.is_finite() { f64::from(x).clamp(1e-3, 1e4) } else { 1.0 };
    let mean = paint.iter().map(|&x| clean(x)).sum::<f64>() / paint.len().max(1) as f64;
    let mut factors = vec![mean; nodes];
    node_of.iter().zip(paint).for_each(|(&node, &x)| factors[node as usize] = clean(x));
    factors
}

/// For every vertex its node, and for every node its first vertex: vertices that coincide in all shapes are one.
fn welded(shapes: &[&[Vec3]]) -> (Vec<u32>, Vec<u32>) {
    let first = adjacency::coincident(shapes[0]);
    let mut seen: HashMap<(u32, Vec<u32>), u32> = HashMap::new();
    let (mut node_of, mut nodes) = (Vec::with_capacity(first.len()), Vec::new());
    let mut shared = vec![0_u32; first.len()];
    first.iter().for_each(|&f| shared[f as usize] += 1);
    for v in 0..first.len() {
        let mut fresh = || {
            nodes.push(v as u32);
            nodes.len() as u32 - 1
        };
        let name = if shared[first[v] as usize] == 1 {
            fresh()
        } else {
            let at = shapes[1..].iter().flat_map(|s| s[v].to_array().map(|x| (x + 0.0).to_bits()));
            *seen.entry((first[v], at.collect())).or_insert_with(fresh)
        };
        node_of.push(name);
    }
    (node_of, nodes)
}

impl Springs {
    fn surface(&mut self, vertices: usize, triangles: &[[u32; 3]], bending: Bending) {
        let neighbours: Rows = adjacency::vertex_vertices(vertices, triangles);
        self.ends = adjacency::edges(vertices, triangles);
        self.counts.structure = self.ends.len();
        let bent = match bending {
            Bending::TwoRing => network::two_apart(&neighbours),
            Bending::Opposite => network::opposite(triangles),
            Bending::Nothing => Vec::new(),
        };
        self.counts.bending = bent.len();
        self.ends.extend(bent);
        self.ends.sort_unstable();
        self.ends.dedup();
    }

    /// Adds those that are not there.
    fn add(&mut self, others: Vec<[u32; 2]>) {
        let before = self.ends.len();
        self.ends.extend(others);
        self.ends.sort_unstable();
        self.ends.dedup();
        self.counts.internal += self.ends.len() - before;
    }

    /// The edges of tets, without those between surface vertices whose middle is outside.
    fn fill(
        &mut self,
        tets: &[[u32; 4]],
        surface: usize,
        x: &[DVec3],
        triangles: &[[u32; 3]],
        run: &Run<'_>,
    ) -> Result<(), Error> {
        let edges = network::internal(tets);
        let crosses = |e: &[u32; 2]| {
            (e[0] as usize) < surface
                && (e[1] as usize) < surface
                && self.ends.binary_search(e).is_err()
        };
        let asked: Vec<[u32; 2]> = edges.iter().copied().filter(crosses).collect();
        let middle = |[i, j]: &[u32; 2]| (0.5 * (x[*i as usize] + x[*j as usize])).as_vec3();
        let points: Vec<Vec3> = asked.iter().map(middle).collect();
        let skin: Vec<Vec3> = x[..surface].iter().map(|p| p.as_vec3()).collect();
        let inside = Winding::new(&skin, triangles, run).at_points(&points, run)?;
        let outside: Vec<[u32; 2]> =
            asked.iter().zip(&inside).filter(|(_, w)| **w < OUTSIDE).map(|(e, _)| *e).collect();
        self.counts.dropped = outside.len();
        self.add(edges.into_iter().filter(|e| outside.binary_search(e).is_err()).collect());
        Ok(())
    }

    /// The layer's own edges, the way down to it, and both diagonals of every edge.
    fn layer(&mut self, vertices: usize, triangles: &[[u32; 3]]) {
        let (n, mut springs) = (vertices as u32, Vec::new());
        for [i, j] in adjacency::edges(vertices, triangles) {
            springs.extend([[i + n, j + n], [i, j + n], [j, i + n], [i, i + n], [j, j + n]]);
        }
        self.add(springs);
    }
}

/// Appends a copy of each vertex, one mean edge inwards.
fn inner_layer(shape: &mut Vec<DVec3>, triangles: &[[u32; 3]], params: &Params, run: &Run<'_>) {
    let skin: Vec<Vec3> = shape.iter().map(|p| p.as_vec3()).collect();
    let normals = vertex_normals(&skin, triangles, run);
    let depth = params.layer_depth_edges * mean_edge(&skin, triangles);
    let inner: Vec<DVec3> =
        shape.iter().zip(&normals).map(|(p, n)| *p - depth * n.as_dvec3()).collect();
    shape.extend(inner);
}

/// The mean length of the edges.
fn mean_edge(positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let edges = adjacency::edges(positions.len(), triangles);
    let length = |e: &[u32; 2]| {
        (positions[e[0] as usize] - positions[e[1] as usize]).as_dvec3().length_squared().sqrt()
    };
    edges.iter().map(length).sum::<f64>() / edges.len().max(1) as f64
}

/// Nodes inside the base and tets; the surface's vertices come first.
struct Filling {
    inner: Vec<Vec3>,
    tets: Vec<[u32; 4]>,
}

impl Filling {
    /// Tets for a closed surface; `None` for an open one.
    fn choose(
        shapes: &Shapes<'_>,
        params: &Params,
        triangles: &[[u32; 3]],
        run: &Run<'_>,
    ) -> Result<Option<Self>, Error> {
        if let Some(inside) = shapes.inside {
            let inner = inside.positions.get(shapes.base.len()..).unwrap_or_default().to_vec();
            return Ok(Some(Self { inner, tets: inside.tets.clone() }));
        }
        let is_closed = adjacency::topology(shapes.base.len(), triangles, run).is_closed();
        if params.inside != Inside::Auto || !is_closed {
            return Ok(None);
        }
        let mesh = TriMesh::new(shapes.base.to_vec(), shapes.triangles.to_vec());
        let spacing = (params.spacing_edges != 1.0)
            .then(|| (params.spacing_edges * mean_edge(shapes.base, shapes.triangles)) as f32);
        match fill(&mesh, &fill::Params { spacing }, run) {
            Ok(filled) => {
                let inner = filled.mesh.positions[shapes.base.len()..].to_vec();
                Ok(Some(Self { inner, tets: filled.mesh.tets }))
            }
            // Flat or empty: a layer holds it.
            Err(
                tetrahedralize::Error::Flat { .. } | tetrahedralize::Error::NothingInside { .. },
            ) => Ok(None),
            Err(wrong) => Err(wrong.into()),
        }
    }
}

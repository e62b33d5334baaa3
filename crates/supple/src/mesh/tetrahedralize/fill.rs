//! Fills a surface with tets whose nodes are its own vertices and points between them.
//!
//! # Method
//!
//! Interior nodes are the points of a body-centred cubic lattice (short edges as long as the surface's mean edge, or as
//! asked) that are inside and at least half that length from the surface. Surface vertices and interior nodes
//! together get their [Delaunay tets](super::delaunay); those whose centroid is inside the surface are kept.
//!
//! The lattice's nodes are moved by up to half a percent of an edge, by a hash of their number: on an exact
//! lattice every sphere holds ties, which cost exact arithmetic.
//!
//! A centroid that is nearer to an interior node than that node is to the surface is inside without being
//! asked: seven to nine of ten. The others ask a ray or the winding number.
//!
//! # Limits
//!
//! The tets need not conform to the surface: a Delaunay tet may cut through a thin gap or a sharp fold, so that the
//! boundary of the tets is not the surface, though their volume is its volume within 0.3 % on closed models
//! (`closed_zoo_shapes_keep_their_volume`). Slivers are kept: they are harmless where only edge lengths matter. A
//! surface with holes is closed by its winding number (`a_hole_is_closed_and_said`).
//!
//! # References
//!
//! - G. Barill et al. Fast Winding Numbers for Soups and Clouds. ACM Transactions on Graphics (SIGGRAPH), 2018.
//! - The references of [`delaunay`](super::delaunay).
//!
//! # Example
//!
//! ```
//! use supple::mesh::tetrahedralize::{fill, fill::Params};
//! use supple::{Run, zoo};
//!
//! let run = Run::default();
//! let ball = zoo::build("ball", &zoo::Size { triangles: Some(300) }, &run)?;
//! let filled = fill(&ball.meshes[0], &Params::default(), &run)?;
//! assert!(filled.report.volume_ratio > 0.997);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::Error;
use super::delaunay::{delaunay, mixed};
use super::inside::Inside;
use super::lattice::Lattice;
use crate::Run;
use crate::mesh::adjacency;
use crate::mesh::bvh::Bvh;
use crate::mesh::measure::Bounds;
use crate::mesh::{TetMesh, TriMesh, volume};

/// How far lattice points are moved, in short edges.
const JITTER: f32 = 0.005;

/// How far from the surface interior nodes stay, in short edges.
const CLEARANCE: f32 = 0.5;

/// How a surface is filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Distance between neighbouring interior nodes, in the surface's units. Default: the surface's mean edge.
    /// Larger gives fewer nodes, but not fewer than the surface has vertices.
    pub spacing: Option<f32>,
}

/// A filled surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Filled {
    /// The nodes are the surface's vertices in their order, then the interior ones.
    pub mesh: TetMesh,
    /// For each vertex of the surface the first at the same place: itself, unless it is a copy, which is in no tet.
    pub merged: Vec<u32>,
    /// What was done.
    pub report: Report,
}

/// What [`fill`] did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The spacing that was used.
    pub spacing: f32,
    /// Vertices of the surface, and as many nodes.
    pub surface_vertices: usize,
    /// Nodes inside.
    pub interior_nodes: usize,
    /// Tets.
    pub tets: usize,
    /// Vertices of the surface at the place of an earlier one.
    pub duplicates: usize,
    /// Vertices of the surface that are in no tet and no duplicate.
    pub in_no_tet: usize,
    /// Edges of the surface without a triangle on their other side, or with one that faces the other way.
    pub open_edges: usize,
    /// Volume of the tets over that of the surface.
    pub volume_ratio: f64,
    /// Smallest and largest angle between two faces of a tet, in degrees.
    pub dihedral_degrees: [f64; 2],
}

/// Interior nodes and how far each is from the surface.
struct Interior {
    points: Vec<Vec3>,
    clearances: Vec<f32>,
}

/// Fills a surface with tets.
///
/// # Errors
///
/// An [`Error`] that says what is wrong with the surface or the spacing.
pub fn fill(surface: &TriMesh, params: &Params, run: &Run<'_>) -> Result<Filled, Error> {
    surface.validate()?;
    if surface.triangles.is_empty() {
        return Err(Error::Empty);
    }
    let spacing = spacing_of(surface, params)?;
    let merged = adjacency::coincident(&surface.positions);
    let triangles = adjacency::renamed(&surface.triangles, &merged);
    let bvh = Bvh::new(&surface.positions, &triangles, run);
    let inside = Inside::new(&bvh, &triangles);
    let interior = interior(&inside, spacing, run)?;

    let nodes = Nodes::new(&surface.positions, &triangles, &interior);
    let all = delaunay(&nodes.points, run)?.tets;
    let kept = keep_inside(&all, &nodes, &interior, &inside, run)?;
    if kept.is_empty() {
        let points = nodes.points.len();
        return Err(Error::NothingInside { points, open: inside.open_edges });
    }
    let tets = kept.into_iter().map(|t| t.map(|i| nodes.names[i as usize])).collect();
    let mut positions = surface.positions.clone();
    positions.extend(&interior.points);
    let mesh = TetMesh { name: surface.name.clone(), ..TetMesh::new(positions, tets) };
    let report = report(surface, &mesh, &merged, (spacing, inside.open_edges), run);
    Ok(Filled { mesh, merged, report })
}

/// What was asked for, or the mean edge.
fn spacing_of(surface: &TriMesh, params: &Params) -> Result<f32, Error> {
    if let Some(spacing) = params.spacing {
        return if is_length(spacing) { Ok(spacing) } else { Err(Error::Spacing { spacing }) };
    }
    let mean = mean_edge(surface);
    if mean.is_normal() { Ok(mean) } else { Err(Error::Flat { points: surface.positions.len() }) }
}

/// Whether a spacing is one.
pub(super) fn is_length(spacing: f32) -> bool {
    spacing.is_normal() && spacing > 0.0
}

/// The mean length of a surface's edges; zero without any.
fn mean_edge(surface: &TriMesh) -> f32 {
    let edges = adjacency::edges(surface.positions.len(), &surface.triangles);
    let at = |i: u32| surface.positions[i as usize].as_dvec3();
    let sum: f64 = edges.iter().map(|&[a, b]| (at(b) - at(a)).length_squared().sqrt()).sum();
    (sum / edges.len().max(1) as f64) as f32
}

/// The lattice points inside that are far enough from the surface.
fn interior(inside: &Inside<'_>, spacing: f32, run: &Run<'_>) -> Result<Interior, Error> {
    let bounds = inside.bvh.bounds().unwrap_or(Bounds::EMPTY);
    // Short edges of the lattice are √¾ of its cubes' edges.
    let lattice = Lattice::around(&bounds, f64::from(spacing) / 0.75_f64.sqrt(), 0)?;
    let flags = inside.lattice(&lattice, run)?;
    let mut candidates = Vec::new();
    for odd in 0..2 {
        let [nx, ny, nz] = lattice.counts(odd);
        let places =
            (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])));
        for place in places {
            let number = lattice.index(odd, place);
            if flags[number] {
                let moved = JITTER * spacing * shake(number);
                candidates.push(lattice.position(odd, place) + moved);
            }
        }
    }
    let closest = inside.bvh.closest_points(&candidates, run)?;
    let mut interior = Interior { points: Vec::new(), clearances: Vec::new() };
    for (point, closest) in candidates.into_iter().zip(closest) {
        if closest.distance >= CLEARANCE * spacing {
            interior.points.push(point);
            interior.clearances.push(closest.distance);
        }
    }
    Ok(interior)
}

/// A vector of −1 to 1 along each axis that looks random.
fn shake(number: usize) -> Vec3 {
    let bits = mixed(number as u32);
    let axis = |k: u32| (bits >> (21 * k) & 0x1f_ffff) as f32 / (1 << 20) as f32 - 1.0;
    Vec3::new(axis(0), axis(1), axis(2))
}

/// What Delaunay gets: the vertices that triangles use, each place once, then the interior.
struct Nodes {
    points: Vec<Vec3>,
    /// The node of the result each is.
    names: Vec<u32>,
    /// How many are the surface's.
    of_surface: usize,
}

impl Nodes {
    fn new(positions: &[Vec3], triangles: &[[u32; 3]], interior: &Interior) -> Self {
        let mut is_used = vec![false; positions.len()];
        triangles.as_flattened().iter().for_each(|&v| is_used[v as usize] = true);
        let used = (0..positions.len() as u32).filter(|&v| is_used[v as usize]);
        let mut names: Vec<u32> = used.collect();
        let of_surface = names.len();
        let mut points: Vec<Vec3> = names.iter().map(|&v| positions[v as usize]).collect();
        points.extend(&interior.points);
        names.extend((0..interior.points.len()).map(|i| (positions.len() + i) as u32));
        Self { points, names, of_surface }
    }
}

/// The tets whose centroid is inside.
fn keep_inside(
    tets: &[[u32; 4]],
    nodes: &Nodes,
    interior: &Interior,
    inside: &Inside<'_>,
    run: &Run<'_>,
) -> Result<Vec<[u32; 4]>, Error> {
    let at = |i: u32| nodes.points[i as usize].as_dvec3();
    let centroid = |t: usize| 0.25 * tets[t].iter().map(|&i| at(i)).sum::<DVec3>();
    let is_sure = run.map(tets.len(), |t| {
        let middle = centroid(t);
        tets[t].iter().any(|&i| {
            let clearance =
                (i as usize).checked_sub(nodes.of_surface).map(|k| interior.clearances[k]);
            clearance.is_some_and(|c| at(i).distance_squared(middle) < f64::from(c) * f64::from(c))
        })
    });
    let unsure: Vec<usize> = (0..tets.len()).filter(|&t| !is_sure[t]).collect();
    let points: Vec<Vec3> = unsure.iter().map(|&t| centroid(t).as_vec3()).collect();
    let mut is_inside = is_sure;
    for (&t, answer) in unsure.iter().zip(inside.points(&points, run)?) {
        is_inside[t] = answer;
    }
    Ok(tets.iter().zip(is_inside).filter(|(_, keep)| *keep).map(|(t, _)| *t).collect())
}

fn report(
    surface: &TriMesh,
    mesh: &TetMesh,
    merged: &[u32],
    (spacing, open_edges): (f32, usize),
    run: &Run<'_>,
) -> Report {
    let mut is_in_tet = vec![false; mesh.positions.len()];
    mesh.tets.as_flattened().iter().for_each(|&i| is_in_tet[i as usize] = true);
    let is_copy = |v: usize| merged[v] as usize != v;
    let surface_vertices = surface.positions.len();
    let enclosed = volume::volume(&surface.positions, &surface.triangles, run).abs();
    Report {
        spacing,
        surface_vertices,
        interior_nodes: mesh.positions.len() - surface_vertices,
        tets: mesh.tets.len(),
        duplicates: (0..surface_vertices).filter(|&v| is_copy(v)).count(),
        in_no_tet: (0..surface_vertices).filter(|&v| !is_copy(v) && !is_in_tet[v]).count(),
        open_edges,
        volume_ratio: mesh.volume() / enclosed,
        dihedral_degrees: mesh.dihedral_degrees(run).unwrap_or([0.0; 2]),
    }
}

#[cfg(test)]
mod tests;

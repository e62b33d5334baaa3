//! A surface as a body of few, well-shaped tets, its skin embedded in them.
//!
//! # Method
//!
//! Isosurface stuffing (`stuffing.rs`) of a lattice whose spacing is chosen so that about the wanted number of nodes
//! comes out. Lattice points are inside where lines through them say so, edges are cut where the surface is first met.
//!
//! Parts thinner than the spacing would vanish or tear. So the skin is sampled, and where a sample is more than
//! 0.3 `h` (edges of cubes) outside of the tets, the lattice's values within 1.2 `h` of it are raised to `0.56 h − d` at
//! distance `d` (no place is farther than √5/4 `h` from a lattice point), and the lattice is stuffed again, up to six
//! times, raised by a tenth of `h` more each time. If the body still has more pieces than the surface, smaller distances count. Edges with a raised end
//! are cut where the values, taken to be linear, vanish. The bound on angles holds for any values.
//!
//! # Limits
//!
//! All dihedral angles are above 10° (`angles_stay_above_ten_degrees`). The volume is the surface's within a few percent
//! for thick bodies and more where thin parts were thickened: take masses from the skin. Parts nearer to each other than
//! the spacing are glued together; the report says how many edges touch. The surface must be closed
//! (`an_open_surface_is_refused`).
//!
//! # Example
//!
//! ```
//! use supple::mesh::tetrahedralize::{body, body::Params};
//! use supple::{Run, zoo};
//!
//! let run = Run::default();
//! let torus = zoo::build("torus", &zoo::Size::default(), &run)?;
//! let body = body(&torus.meshes[0], &Params { nodes: 600, spacing: None }, &run)?;
//! assert!(body.report.dihedral_degrees[0] > 10.0);
//! assert_eq!(body.report.pieces, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::HashSet;

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::Error;
use super::fill::is_length;
use super::inside::Inside;
use super::lattice::Lattice;
use super::stuffing::{Isosurface, stuff};
use crate::Run;
use crate::mesh::bvh::{Bvh, Ray};
use crate::mesh::embedding::Embedding;
use crate::mesh::{TetMesh, TriMesh, adjacency, measure, volume};

/// A sample of the skin farther outside of the tets than this, in edges of cubes, asks for more.
const OUTSIDE: f32 = 0.3;
/// The same where the body is in more pieces than its surface.
const OUTSIDE_IN_PIECES: f32 = 0.2;
/// How far around such a sample values are raised, in edges of cubes.
const REACH: f64 = 1.2;
/// To how much they are raised at the sample, in edges of cubes: a little more than √5/4.
const RAISED: f64 = 0.56;
/// How much more in each further round, in edges of cubes.
const MORE: f64 = 0.1;
/// Times the lattice is stuffed for thin parts, and again for pieces.
const ROUNDS: usize = 6;
/// Times the spacing is corrected towards the wanted number of nodes.
const CORRECTIONS: usize = 3;
/// Samples of the skin there may be.
const MOST_SAMPLES: f64 = 2e7;

/// How a body is made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Nodes wanted; about as many come out. Default 1500. More follow thin parts better and cost more.
    pub nodes: usize,
    /// Length of the lattice's short edges, in the surface's units, in place of a number of nodes. Default none.
    pub spacing: Option<f32>,
}

impl Default for Params {
    fn default() -> Self {
        Self { nodes: 1500, spacing: None }
    }
}

/// A body and its skin.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedSkin {
    /// The tets.
    pub mesh: TetMesh,
    /// The surface's vertices in them.
    pub embedding: Embedding,
    /// What was done.
    pub report: Report,
}

/// What [`body`] did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Length of the lattice's short edges.
    pub spacing: f32,
    /// Nodes.
    pub nodes: usize,
    /// Tets.
    pub tets: usize,
    /// Parts that hang together by no node.
    pub pieces: usize,
    /// Parts of the surface.
    pub surface_parts: usize,
    /// Times the lattice was stuffed again for thin parts.
    pub rounds: usize,
    /// Edges of the boundary in more than two of its faces: where parts of the body touch.
    pub touching_edges: usize,
    /// Vertices of the skin outside of all tets.
    pub skin_outside: usize,
    /// How far the farthest of them is outside, in spacings.
    pub skin_outside_max: f32,
    /// Volume of the tets over that of the surface.
    pub volume_ratio: f64,
    /// Smallest and largest angle between two faces of a tet, in degrees.
    pub dihedral_degrees: [f64; 2],
}

/// A surface as a body.
///
/// # Errors
///
/// An [`Error`] that says what is wrong with the surface or the parameters; [`Error::Open`] if it is not closed.
pub fn body(surface: &TriMesh, params: &Params, run: &Run<'_>) -> Result<EmbeddedSkin, Error> {
    surface.validate()?;
    if surface.triangles.is_empty() {
        return Err(Error::Empty);
    }
    let merged = adjacency::coincident(&surface.positions);
    let triangles = adjacency::renamed(&surface.triangles, &merged);
    let bvh = Bvh::new(&surface.positions, &triangles, run);
    let inside = Inside::new(&bvh, &triangles);
    if inside.open_edges > 0 {
        return Err(Error::Open { edges: inside.open_edges });
    }
    let enclosed = volume::volume(&surface.positions, &triangles, run).abs();
    if !(enclosed > 0.0 && enclosed.is_finite()) {
        return Err(Error::Flat { points: surface.positions.len() });
    }
    let parts = adjacency::components(surface.positions.len(), &triangles).count;
    let skin = Skin { positions: &surface.positions, triangles: &triangles, inside, parts };

    let size = measure::Bounds::of(&surface.positions).map_or(0.0, |around| around.diagonal());
    let (stuffed, h) = match params.spacing {
        Some(spacing) if spacing > size => return Err(Error::Coarse { spacing, size }),
        Some(spacing) if is_length(spacing) => {
            let h = f64::from(spacing) / 0.75_f64.sqrt();
            (skin.stuffed(h, run)?, h)
        }
        Some(spacing) => return Err(Error::Spacing { spacing }),
        None => skin.of_nodes(params.nodes.max(8), enclosed, run)?,
    };
    let Stuffed { mut mesh, pieces, rounds } = stuffed;
    if mesh.tets.is_empty() {
        return Err(Error::NothingInside { points: surface.positions.len(), open: 0 });
    }
    mesh.name.clone_from(&surface.name);
    let embedding = Embedding::new(&surface.positions, &mesh, run)?;
    let boundary = mesh.boundary();
    let topology = adjacency::topology(mesh.positions.len(), &boundary, run);
    let spacing = (h * 0.75_f64.sqrt()) as f32;
    let report = Report {
        spacing,
        nodes: mesh.positions.len(),
        tets: mesh.tets.len(),
        pieces,
        surface_parts: parts,
        rounds,
        touching_edges: topology.nonmanifold_edges,
        skin_outside: embedding.outside,
        skin_outside_max: embedding.farthest / spacing,
        volume_ratio: mesh.volume() / enclosed,
        dihedral_degrees: mesh.dihedral_degrees(run).unwrap_or([0.0; 2]),
    };
    Ok(EmbeddedSkin { mesh, embedding, report })
}

/// The surface, prepared.
struct Skin<'a> {
    positions: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    inside: Inside<'a>,
    parts: usize,
}

/// Tets, in how many pieces, after how many rounds.
struct Stuffed {
    mesh: TetMesh,
    pieces: usize,
    rounds: usize,
}

impl Skin<'_> {
    /// Tets with about so many nodes, and the edge of the cubes that gives them.
    fn of_nodes(
        &self,
        nodes: usize,
        enclosed: f64,
        run: &Run<'_>,
    ) -> Result<(Stuffed, f64), Error> {
        // Two points a cube, and about as many again on the surface.
        let mut h = libm::cbrt(4.0 * enclosed / nodes as f64);
        let mut stuffed = self.stuffed(h, run)?;
        for _ in 0..CORRECTIONS {
            let found = stuffed.mesh.positions.len().max(1) as f64;
            let ratio = found / nodes as f64;
            if (ratio - 1.0).abs() < 0.05 {
                break;
            }
            h *= libm::pow(ratio, 0.4);
            stuffed = self.stuffed(h, run)?;
        }
        Ok((stuffed, h))
    }

    /// Tets from a lattice of cubes of edge `h`, thin parts rescued.
    fn stuffed(&self, h: f64, run: &Run<'_>) -> Result<Stuffed, Error> {
        let bvh = self.inside.bvh;
        let bounds = bvh.bounds().ok_or(Error::Empty)?;
        let lattice = Lattice::around(&bounds, h, 2)?;
        let is_inside = self.inside.lattice(&lattice, run)?;
        let unknown = vec![f32::NAN; lattice.len()];
        let (values, distances) = (unknown.clone(), unknown);
        let mut field = DistanceLattice { bvh, lattice, is_inside, values, distances };
        let samples = self.samples(0.5 * h)?;
        let mut mesh = stuff(&field.lattice, &field, run);
        let mut pieces = pieces(&mesh);
        let mut rounds = 0;
        for limit in [OUTSIDE, OUTSIDE_IN_PIECES] {
            // Values only rise: what is covered stays so, up to how far ends are moved.
            let mut outside = far_outside(&samples, &mesh, limit * h as f32, run)?;
            for round in 0..ROUNDS {
                run.check()?;
                let is_whole = pieces <= self.parts && !mesh.tets.is_empty();
                if outside.is_empty() || (is_whole && limit < OUTSIDE) {
                    break;
                }
                field.raise(&outside, MORE * round as f64);
                mesh = stuff(&field.lattice, &field, run);
                pieces = self::pieces(&mesh);
                rounds += 1;
                outside = far_outside(&outside, &mesh, limit * h as f32, run)?;
            }
            if pieces <= self.parts {
                break;
            }
        }
        Ok(Stuffed { mesh, pieces, rounds })
    }

    /// Points of the surface no farther apart than so much.
    fn samples(&self, apart: f64) -> Result<Vec<Vec3>, Error> {
        let corners = |t: &[u32; 3]| t.map(|v| self.positions[v as usize].as_dvec3());
        let steps = |[a, b, c]: [DVec3; 3]| {
            let longest =
                a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
            (longest.sqrt() / apart).ceil().max(1.0)
        };
        let count = |t: &[u32; 3]| 0.5 * (steps(corners(t)) + 1.0) * (steps(corners(t)) + 2.0);
        let total: f64 = self.triangles.iter().map(count).sum();
        if total > MOST_SAMPLES {
            return Err(Error::TooMany { points: total as u64, limit: MOST_SAMPLES as u64 });
        }
        let mut samples = Vec::new();
        // One for each small cell: a fine skin has many more vertices than the lattice could tell apart.
        let mut cells = HashSet::new();
        let mut keep = |p: DVec3| {
            if cells.insert((p * (2.0 / apart)).to_array().map(|c| c.floor() as i64)) {
                samples.push(p.as_vec3());
            }
        };
        for t in self.triangles {
            let [a, b, c] = corners(t);
            let n = steps([a, b, c]) as usize;
            for i in 0..=n {
                for j in 0..=n - i {
                    let (u, v) = (i as f64 / n as f64, j as f64 / n as f64);
                    keep(a + u * (b - a) + v * (c - a));
                }
            }
        }
        Ok(samples)
    }
}

/// The samples that are farther outside of the tets than so much.
fn far_outside(
    samples: &[Vec3],
    mesh: &TetMesh,
    limit: f32,
    run: &Run<'_>,
) -> Result<Vec<Vec3>, Error> {
    let boundary = mesh.boundary();
    if boundary.is_empty() {
        return Ok(samples.to_vec());
    }
    let bvh = Bvh::new(&mesh.positions, &boundary, run);
    let closest = bvh.closest_points(samples, run)?;
    let far = samples.iter().zip(closest).filter(|(_, closest)| closest.distance > limit);
    let far: Vec<Vec3> = far.map(|(sample, _)| *sample).collect();
    let is_inside = Inside::new(&bvh, &boundary).points(&far, run)?;
    Ok(far.into_iter().zip(is_inside).filter(|(_, inside)| !inside).map(|(p, _)| p).collect())
}

/// In how many parts tets hang together by nodes.
fn pieces(mesh: &TetMesh) -> usize {
    let faces: Vec<[u32; 3]> =
        mesh.tets.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [b, c, d]]).collect();
    adjacency::components(mesh.positions.len(), &faces).count
}

/// The lattice's values: the signed distance from the surface, positive inside, raised where parts are thin.
struct DistanceLattice<'a> {
    bvh: &'a Bvh,
    lattice: Lattice,
    is_inside: Vec<bool>,
    /// Values that were raised; NaN for the others.
    values: Vec<f32>,
    /// Distances that were asked for while values were raised; NaN for the others.
    distances: Vec<f32>,
}

impl DistanceLattice<'_> {
    fn value(&self, point: u32) -> f64 {
        let raised = self.values[point as usize];
        if raised.is_nan() { self.distance(point) } else { f64::from(raised) }
    }

    /// The signed distance from the surface.
    fn distance(&self, point: u32) -> f64 {
        let known = self.distances[point as usize];
        if !known.is_nan() {
            return f64::from(known);
        }
        let place = self.lattice.place(point).as_vec3();
        let far = self.bvh.closest_point(place).map_or(f32::MAX, |closest| closest.distance);
        f64::from(if self.is_inside[point as usize] { far } else { -far })
    }

    /// Raises the values around places, by so many edges of cubes more than is needed at least.
    fn raise(&mut self, places: &[Vec3], more: f64) {
        let h = self.lattice.h;
        let reach = (REACH + more) * h;
        for place in places.iter().map(|p| p.as_dvec3()) {
            for point in self.lattice.near(place, reach) {
                let far = self.lattice.place(point).distance_squared(place).sqrt();
                let wanted = (RAISED + more) * h - far;
                if far > reach {
                    continue;
                }
                self.distances[point as usize] = self.distance(point) as f32;
                if wanted > self.value(point) {
                    self.values[point as usize] = wanted as f32;
                    self.is_inside[point as usize] |= wanted > 0.0;
                }
            }
        }
    }
}

impl Isosurface for DistanceLattice<'_> {
    fn is_inside(&self, point: u32) -> bool {
        self.is_inside[point as usize]
    }

    fn cut(&self, inside: u32, outside: u32) -> f64 {
        let is_raised = |p: u32| !self.values[p as usize].is_nan();
        if !is_raised(inside) && !is_raised(outside) {
            let origin = self.lattice.place(inside);
            let direction = (self.lattice.place(outside) - origin).as_vec3();
            let ray = Ray { origin: origin.as_vec3(), direction };
            if let Some(hit) = self.bvh.first_hit(&ray, 1.0) {
                return f64::from(hit.distance);
            }
        }
        let (inner, outer) = (self.value(inside).max(0.0), self.value(outside).min(0.0));
        if inner > outer { inner / (inner - outer) } else { 0.5 }
    }
}

#[cfg(test)]
mod tests;

//! Distances along a surface from the way heat spreads over it.
//!
//! # Method
//!
//! A little heat is put on the sources and spreads for a short time t. It runs straight away from them,
//! so that its gradient, made a unit vector, is that of the distance:
//!
//! ```text
//! (M + t L) u = δ        X = −∇u/|∇u|        L φ = div X
//! ```
//!
//! L is the cotangent Laplacian, M the area around each vertex, t the squared mean length of an edge.
//! Both matrices are factorised once ([`Solver::new`]) and serve for any sources.
//!
//! # Where we differ from the paper
//!
//! - Everything happens on the intrinsic Delaunay triangulation of the surface, which knows lengths only: bad
//!   triangles, needles and triangles without area do no harm, and no weight is negative, so that the heat keeps
//!   its digits however small it becomes.
//! - L of a whole component is singular. One of its vertices gets twice its diagonal: since the right side
//!   adds up to zero, the solution is the one with φ = 0 there, and no digit is lost.
//! - t is larger on surfaces so long that the heat at their far end would be too small for a number.
//!
//! # Limits
//!
//! - On a rim the distance lines bend to meet it at a right angle, within about an edge's length.
//! - Right at the sources the error is about an edge's length; farther away it shrinks with the edges
//!   (`the_error_shrinks_with_the_triangles`).
//!
//! # References
//!
//! - K. Crane, C. Weischedel, M. Wardetzky. Geodesics in Heat: A New Approach to Computing Distance Based on
//!   Heat Flow. ACM Transactions on Graphics, 2013.
//! - N. Sharp, K. Crane. A Laplacian for Nonmanifold Triangle Meshes. Symposium on Geometry Processing, 2020.
//!
//! # Example
//!
//! ```
//! use supple::{Run, mesh::geodesic::heat::{Params, Solver}, zoo};
//!
//! let run = Run::default();
//! let ball = zoo::build("ball", &zoo::Size { triangles: Some(20_000) }, &run)?.meshes.swap_remove(0);
//! let solver = Solver::new(&ball.positions, &ball.triangles, &Params::default(), &run)?;
//! let farthest = solver.distances(&[0], &run)?.into_iter().fold(0.0, f32::max);
//! assert!((farthest - std::f32::consts::PI).abs() < 0.03, "half way round: {farthest}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use glam::{DVec2, Vec3};
use serde::{Deserialize, Serialize};

use super::dijkstra::edge_distances;
use super::intrinsic::{Intrinsic, mean_length};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::mesh::adjacency::{Rows, components, vertex_corners};
use crate::run::Cancelled;
use crate::sparse::{self, Analysis, Entry, Factor, Matrix, dissection};

/// The smallest heat is about e to the minus this, of the 745 that a number can hold.
const MOST_DECAY: f64 = 600.0;

/// How far the heat spreads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Time for which it spreads, in squared mean lengths of an edge. 1 by default; more makes smoother and less
    /// exact distances.
    pub time: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { time: 1.0 }
    }
}

/// Why there are no distances.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// A triangle or a source names a vertex that does not exist.
    #[error("there is no vertex {vertex}: the surface has {vertices}")]
    NoSuchVertex {
        /// The vertex named.
        vertex: u32,
        /// How many there are.
        vertices: usize,
    },
    /// A position is NaN or infinite.
    #[error("vertex {vertex} is not at a finite place")]
    NotFinite {
        /// Which vertex.
        vertex: usize,
    },
    /// The time is not a positive number.
    #[error("the time is {time}; it must be positive, for example 1")]
    Time {
        /// Given time.
        time: f64,
    },
    /// The matrices could not be factorised.
    #[error(transparent)]
    Sparse(#[from] sparse::Error),
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// A surface ready for distances from any sources.
#[derive(Debug)]
pub struct Solver {
    surface: Vec<Flat>,
    triangles: Vec<[u32; 3]>,
    /// The triangles' corners at each vertex.
    corners: Rows,
    heat: Factor,
    distance: Factor,
    /// Which component each vertex is in; `u32::MAX` without triangles.
    component: Vec<u32>,
    components: usize,
}

/// A triangle laid into the plane: corner 0 at the origin, corner 1 at `(base, 0)`.
#[derive(Clone, Copy, Debug)]
struct Flat {
    base: f64,
    apex: DVec2,
}

impl Solver {
    /// Prepares a surface: open or closed, in one or several pieces, manifold or not.
    ///
    /// # Errors
    ///
    /// [`Error`] says what is wrong with the surface.
    #[expect(clippy::missing_panics_doc, reason = "two tasks give two factors")]
    pub fn new(
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        params: &Params,
        run: &Run<'_>,
    ) -> Result<Self, Error> {
        check(positions, triangles, params)?;
        let surface = Intrinsic::new(positions, triangles);
        run.check()?;
        let parts = components(positions.len(), triangles);
        let mut first = vec![u32::MAX; parts.count];
        for (v, &part) in parts.of_vertex.iter().enumerate().rev() {
            if part != u32::MAX {
                first[part as usize] = v as u32;
            }
        }
        let reach = reach(&edge_distances(positions, triangles, &first));
        let step = mean_length(&surface.lengths);
        let time = (params.time * step * step).max((2.0 * reach / MOST_DECAY).powi(2));
        let (laplacian, area) = laplacian(positions.len(), &surface)?;
        run.check()?;
        let order = dissection::from_positions(&laplacian.graph(), positions, run);
        let analysis = Analysis::new(&laplacian, &order)?;
        run.check()?;
        let matrix = |which: usize| {
            if which == 0 {
                spread(&laplacian, &area, time)
            } else {
                held(&laplacian, &first, &area)
            }
        };
        let factors = run.map_tasks(2, |which| analysis.factorise(&matrix(which)));
        let [heat, distance] = <[_; 2]>::try_from(factors).expect("two matrices, two factors");
        let flat = |t: usize| {
            let [_, base, apex] = surface.laid_out(t);
            Flat { base: base.x, apex }
        };
        Ok(Self {
            surface: run.map(surface.triangles.len(), flat),
            heat: heat?,
            distance: distance?,
            component: parts.of_vertex,
            components: parts.count,
            corners: vertex_corners(positions.len(), &surface.triangles),
            triangles: surface.triangles,
        })
    }

    /// Distance of every vertex to the nearest source; infinite where none can be reached.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchVertex`], [`Error::Cancelled`].
    pub fn distances(&self, sources: &[u32], run: &Run<'_>) -> Result<Vec<f32>, Error> {
        let vertices = self.component.len();
        let mut heat = vec![0.0; vertices];
        for &vertex in sources {
            let place = heat.get_mut(vertex as usize);
            *place.ok_or(Error::NoSuchVertex { vertex, vertices })? = 1.0;
        }
        run.install(|| {
            self.heat.solve(&mut heat, run);
            run.check()?;
            let mut distance = self.divergence(&heat, run);
            self.distance.solve(&mut distance, run);
            Ok(self.zeroed_at(&distance, sources))
        })
    }

    /// What flows out of each vertex's surroundings along the gradient of a distance.
    fn divergence(&self, heat: &[f64], run: &Run<'_>) -> Vec<f64> {
        let outflow = run.map(self.triangles.len(), |t| {
            self.surface[t].outflow(self.triangles[t].map(|v| heat[v as usize]))
        });
        let outflow = outflow.as_flattened();
        run.map(heat.len(), |v| {
            self.corners.row(v).iter().map(|&corner| outflow[corner as usize]).sum()
        })
    }

    /// Shifts each component so that its sources are at zero.
    fn zeroed_at(&self, distance: &[f64], sources: &[u32]) -> Vec<f32> {
        let mut zero = vec![(0.0, 0.0); self.components];
        for &source in sources {
            if let Some((sum, count)) = zero.get_mut(self.component[source as usize] as usize) {
                *sum += distance[source as usize];
                *count += 1.0;
            }
        }
        let shift: Vec<f64> = zero
            .iter()
            .map(|&(sum, count)| if count > 0.0 { sum / count } else { f64::NEG_INFINITY })
            .collect();
        let shifted = |(d, part): (&f64, &u32)| {
            shift.get(*part as usize).map_or(f32::INFINITY, |shift| (d - shift).max(0.0) as f32)
        };
        let mut shifted: Vec<f32> = distance.iter().zip(&self.component).map(shifted).collect();
        sources.iter().for_each(|&source| shifted[source as usize] = 0.0);
        shifted
    }
}

impl Flat {
    /// `area · X·∇ψ` for the three corners, X the unit vector against the gradient of the heat.
    fn outflow(&self, heat: [f64; 3]) -> [f64; 3] {
        let across = |v: DVec2| v.perp();
        // Sides opposite to the corners, turned inwards: twice the area times the gradient of ψ.
        let opposite = [
            across(self.apex - DVec2::new(self.base, 0.0)),
            across(-self.apex),
            across(DVec2::new(self.base, 0.0)),
        ];
        // Only the direction counts, so the scale is free; small heat would vanish in squares.
        let scale = heat.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
        if scale <= 0.0 {
            return [0.0; 3];
        }
        let mut gradient = DVec2::ZERO;
        for (side, u) in opposite.iter().zip(heat) {
            gradient += u / scale * *side;
        }
        let direction = -gradient.unit_or_zero();
        opposite.map(|side| 0.5 * direction.dot(side))
    }
}

fn check(positions: &[Vec3], triangles: &[[u32; 3]], params: &Params) -> Result<(), Error> {
    let vertices = positions.len();
    if !(params.time.is_finite() && params.time > 0.0) {
        return Err(Error::Time { time: params.time });
    }
    if let Some(&vertex) = triangles.iter().flatten().find(|&&v| v as usize >= vertices) {
        return Err(Error::NoSuchVertex { vertex, vertices });
    }
    match positions.iter().position(|p| !p.is_finite()) {
        Some(vertex) => Err(Error::NotFinite { vertex }),
        None => Ok(()),
    }
}

/// The farthest that anything reached is.
fn reach(distances: &[f32]) -> f64 {
    f64::from(distances.iter().copied().filter(|d| d.is_finite()).fold(0.0, f32::max))
}

/// The cotangent Laplacian, positive semidefinite, and the area around each vertex.
fn laplacian(vertices: usize, surface: &Intrinsic) -> Result<(Matrix, Vec<f64>), Error> {
    let (mut diagonal, mut around) = (vec![0.0; vertices], vec![0.0; vertices]);
    let mut entries = Vec::with_capacity(3 * surface.triangles.len() + vertices);
    for (t, triangle) in surface.triangles.iter().enumerate() {
        let (cotangents, area) = surface.cotangents(t);
        for (k, cotangent) in cotangents.into_iter().enumerate() {
            let (row, column, weight) = (triangle[k], triangle[(k + 1) % 3], 0.5 * cotangent);
            around[row as usize] += area / 3.0;
            if row != column {
                diagonal[row as usize] += weight;
                diagonal[column as usize] += weight;
                entries.push(Entry { row, column, value: -weight });
            }
        }
    }
    let at = |(v, &value): (usize, &f64)| Entry { row: v as u32, column: v as u32, value };
    entries.extend(diagonal.iter().enumerate().map(at));
    Ok((Matrix::new(vertices, &entries)?, around))
}

/// The matrix of the heat; a vertex without triangles is on its own.
fn spread(laplacian: &Matrix, area: &[f64], time: f64) -> Matrix {
    let mut matrix = laplacian.clone();
    matrix.add_diagonal(area.iter().map(|a| if *a > 0.0 { a / time } else { 1.0 }));
    matrix
}

/// The Laplacian with one vertex of each component held, and those without triangles on their own.
fn held(laplacian: &Matrix, first: &[u32], area: &[f64]) -> Matrix {
    let mut matrix = laplacian.clone();
    let mut extra: Vec<f64> = area.iter().map(|a| if *a > 0.0 { 0.0 } else { 1.0 }).collect();
    for (&v, diagonal) in first.iter().zip(first.iter().map(|&v| matrix.diagonal(v as usize))) {
        extra[v as usize] = if diagonal > 0.0 { diagonal } else { 1.0 };
    }
    matrix.add_diagonal(extra);
    matrix
}

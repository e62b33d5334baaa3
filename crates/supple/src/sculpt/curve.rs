//! Guiding part of a surface along a curve (thesis, chapter 4).
//!
//! # Method
//!
//! Every vertex has a value s: 0 moves fully, 1 stays, and between them the motion fades with
//! `β = 1 − b(s)`. s is given on the surface and stays with the vertices; its gradient is estimated
//! from the neighbours by least squares with no part along the normal, then smoothed. The motion is that
//! of the curve's Frenet frame, with a twist added about the tangent.
//!
//! # Where we differ from the paper
//!
//! - The velocities of all vertices together are one ordinary differential equation: the gradient is
//!   estimated anew for every stage of a Runge–Kutta step, not once a step, which is of order one only.
//! - The part that moves fully is carried rigidly, from a frame integrated in f64.
//! - (4.8) and (4.9) are printed with the wrong speed and (4.6) is singular where the curve is straight;
//!   see [`field::generator`](crate::field::generator).
//! - The twist's potential vanishes in the middle of the fade, not at the curve.
//!
//! # Limits
//!
//! Parts of the surface that are far apart along it may meet in space. Undo restores the stored shape.
//!
//! # References
//!
//! - W. von Funck, H. Theisel, H.-P. Seidel. Explicit Control of Vector Field Based Shape
//!   Deformations. Pacific Graphics, 2007.

use glam::{DVec3, Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::boundary::{check_drawn, drawn_parts};
use super::error::{Problem, check_fade, check_finite, check_point, check_share};
use super::guide::{Guide, Orientation, Ride};
use super::nearest::Nearest;
use super::regions::Part;
use crate::Run;
use crate::field::Generator;
use crate::field::blend::fade;
use crate::mesh::adjacency::{Rows, vertex_vertices};
use crate::mesh::geodesic::{self, dijkstra, heat, smoothed};
use crate::run::Cancelled;

/// Guides part of a surface along a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Curve {
    /// The curve; it starts in the part that moves.
    pub guide: Guide,
    /// Whether that part turns with the curve. It does by default.
    pub orientation: Orientation,
    /// Turn about the curve's tangent on the way. 0 by default.
    pub twist_degrees: f32,
    /// The share of the way, by its time, after which the motion stops. 1 by default.
    pub until: f32,
    /// Which part of the surface moves.
    pub extent: Extent,
    /// How distances along the surface are found. By shortest paths by default, as in the source.
    pub distance: geodesic::Method,
    /// Runge–Kutta steps for the whole way. 64 by default.
    pub steps: u32,
    /// How often the gradient of the extent is averaged over the neighbours. 3 by default; more for
    /// rough meshes.
    pub smoothing: u32,
}

impl Default for Curve {
    fn default() -> Self {
        Self {
            guide: Guide::default(),
            orientation: Orientation::Follow,
            twist_degrees: 0.0,
            until: 1.0,
            extent: Extent::default(),
            distance: geodesic::Method::default(),
            steps: 64,
            smoothing: 3,
        }
    }
}

/// Which part of a surface moves: s of every vertex.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// By the distance along the surface from the vertex nearest to a point.
    Geodesic {
        /// The point.
        from: Vec3,
        /// Distance up to which everything moves fully.
        inner: f32,
        /// Distance from which nothing moves.
        outer: f32,
    },
    /// Between two sets of vertices, by the distance along the surface to both.
    Between {
        /// Vertices that move fully.
        inner: Vec<u32>,
        /// Vertices that stay.
        outer: Vec<u32>,
    },
    /// Between two closed curves drawn on the surface, by the distance along it to both.
    Drawn {
        /// Around the part that moves fully: at least three points.
        inner: Vec<Vec3>,
        /// Beyond it nothing moves: at least three points.
        outer: Vec<Vec3>,
    },
    /// Painted: one value a vertex, 0 moves fully and 1 stays.
    Painted {
        /// The values.
        values: Vec<f32>,
    },
}

impl Default for Extent {
    fn default() -> Self {
        Self::Geodesic { from: Vec3::ZERO, inner: 0.5, outer: 1.0 }
    }
}

/// Averages over the neighbours that take the creases out of geodesic distances.
const DISTANCE_SMOOTHING: u32 = 8;

impl Extent {
    /// s of every vertex.
    ///
    /// # Errors
    ///
    /// A [`Problem`] with the parameters.
    pub fn values(
        &self,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        distance: geodesic::Method,
        run: &Run<'_>,
    ) -> Result<Vec<f32>, Problem> {
        self.check_on(positions.len())?;
        let ground = || Ground::new(positions, triangles, distance, run);
        match self {
            Self::Geodesic { from, inner, outer } => {
                let grid =
                    Nearest::new(positions).ok_or(Problem::NeedsTriangles { what: "geodesics" })?;
                let g = ground()?.distances(&[grid.find(*from) as u32], run)?;
                Ok(g.iter().map(|g| ((g - inner) / (outer - inner)).clamp(0.0, 1.0)).collect())
            }
            Self::Between { inner, outer } => ground()?.between(inner, outer, run),
            Self::Drawn { inner, outer } => {
                let parts = drawn_parts(inner, outer, positions, triangles, run)?;
                let all = |part: Part| {
                    let found = (0_u32..).zip(&parts).filter(move |(_, p)| **p == part);
                    found.map(|(i, _)| i).collect::<Vec<u32>>()
                };
                ground()?.between(&all(Part::Handle), &all(Part::Still), run)
            }
            Self::Painted { values } => Ok(values.iter().map(|v| v.clamp(0.0, 1.0)).collect()),
        }
    }

    /// Checks that it fits a surface of so many vertices.
    pub(super) fn check_on(&self, vertices: usize) -> Result<(), Problem> {
        match self {
            Self::Geodesic { from, inner, outer } => {
                check_fade(*inner, *outer)?;
                check_point("the start of the distance", *from)
            }
            Self::Between { inner, outer } => {
                check_vertices("the inner part", inner, vertices)?;
                check_vertices("the outer part", outer, vertices)
            }
            Self::Drawn { inner, outer } => check_drawn(inner, outer),
            Self::Painted { values } if values.len() == vertices => {
                values.iter().try_for_each(|&v| check_finite("a painted value", v))
            }
            Self::Painted { values } => {
                Err(Problem::WrongCount { found: values.len(), expected: vertices })
            }
        }
    }
}

/// A surface on which distances are asked for.
enum Ground<'a> {
    Dijkstra { positions: &'a [Vec3], triangles: &'a [[u32; 3]], around: Rows },
    Heat(Box<heat::Solver>),
}

impl<'a> Ground<'a> {
    fn new(
        positions: &'a [Vec3],
        triangles: &'a [[u32; 3]],
        method: geodesic::Method,
        run: &Run<'_>,
    ) -> Result<Self, Problem> {
        Ok(match method {
            geodesic::Method::Dijkstra => {
                let around = vertex_vertices(positions.len(), triangles);
                Self::Dijkstra { positions, triangles, around }
            }
            geodesic::Method::Heat => {
                let params = heat::Params::default();
                Self::Heat(Box::new(heat::Solver::new(positions, triangles, &params, run)?))
            }
        })
    }

    /// Smooth distance of every vertex to the nearest source.
    fn distances(&self, sources: &[u32], run: &Run<'_>) -> Result<Vec<f32>, Problem> {
        Ok(match self {
            Self::Dijkstra { positions, triangles, around } => {
                let rough = dijkstra::distances(positions, triangles, sources);
                smoothed(&rough, around, DISTANCE_SMOOTHING, run)
            }
            Self::Heat(solver) => solver.distances(sources, run)?,
        })
    }

    /// (4.11): the share of the way from the inner to the outer part.
    fn between(&self, inner: &[u32], outer: &[u32], run: &Run<'_>) -> Result<Vec<f32>, Problem> {
        let (to_inner, to_outer) = (self.distances(inner, run)?, self.distances(outer, run)?);
        let share = |(a, b): (&f32, &f32)| {
            if a.is_finite() { a / (a + b).max(f32::MIN_POSITIVE) } else { 1.0 }
        };
        let mut s: Vec<f32> = to_inner.iter().zip(&to_outer).map(share).collect();
        inner.iter().for_each(|&i| s[i as usize] = 0.0);
        outer.iter().for_each(|&i| s[i as usize] = 1.0);
        Ok(s)
    }
}

fn check_vertices(what: &'static str, set: &[u32], vertices: usize) -> Result<(), Problem> {
    if set.is_empty() {
        return Err(Problem::TooFew { what, least: 1 });
    }
    match set.iter().find(|&&i| i as usize >= vertices) {
        Some(&vertex) => Err(Problem::NoSuchVertex { vertex, vertices }),
        None => Ok(()),
    }
}

impl Curve {
    /// Moves the positions; returns s of every vertex and the steps taken.
    pub(super) fn run(
        &self,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        run: &Run<'_>,
    ) -> Result<(Vec<f32>, u64), Problem> {
        if triangles.is_empty() {
            return Err(Problem::NeedsTriangles { what: "the extent lies on a surface" });
        }
        let mut ride = self.ride()?;
        let values = self.extent.values(positions, triangles, self.distance, run)?;
        ride.behind = behind(&ride, positions, &values);
        let steps = self.steps.max(1).next_multiple_of(ride.pieces());
        let surface = Surface::new(&values, triangles, self.smoothing);
        let core = ride.turn();
        let rest = positions.to_vec();
        let h = 1.0 / f64::from(steps);
        let taken = (ride.until * f64::from(steps)).ceil() as u32;
        for k in 0..taken {
            run.check()?;
            let t = f64::from(k) * h;
            let last = f64::from(k + 1) * h > ride.until;
            surface.step(positions, &ride, t, if last { ride.until - t } else { h }, run)?;
        }
        run.for_each(positions, |i, x| {
            if values[i] <= 0.0 {
                *x = ride.carry(core, rest[i]);
            }
        });
        Ok((values, u64::from(taken)))
    }

    /// The motion, if its parameters are right.
    pub(super) fn ride(&self) -> Result<Ride, Problem> {
        check_finite("the twist", self.twist_degrees)?;
        check_share("the share of the way", self.until)?;
        let twist = f64::from(self.twist_degrees).to_radians();
        let ride = self.guide.ride(self.orientation, twist)?;
        Ok(Ride { until: f64::from(self.until), ..ride })
    }
}

/// How far behind the start of the curve the middle of the fade lies.
///
/// The twist's potential vanishes there. At the curve itself, as printed, the fade would first turn
/// backwards, by `|h| β β'` at the distance h.
fn behind(ride: &Ride, positions: &[Vec3], values: &[f32]) -> f64 {
    let (start, along) = ride.start();
    let fading = positions.iter().zip(values).filter(|(_, s)| **s > 0.0 && **s < 1.0);
    let (sum, count) =
        fading.fold((DVec3::ZERO, 0.0), |(sum, n), (x, _)| (sum + x.as_dvec3() - start, n + 1.0));
    -along.dot(sum) / f64::max(count, 1.0)
}

/// A surface with s on it.
struct Surface<'a> {
    values: &'a [f32],
    rings: Rows,
    /// Vertices that are neither carried nor at rest.
    support: Vec<u32>,
    /// Where in `support` each vertex is.
    place: Vec<u32>,
    /// Triangles around the vertices of the support, as the two other corners in order; those of the
    /// k-th from `fan_starts[k]` on.
    fans: Vec<[u32; 2]>,
    fan_starts: Vec<u32>,
    smoothing: u32,
}

/// Not in the support.
const NOWHERE: u32 = u32::MAX;

impl<'a> Surface<'a> {
    fn new(values: &'a [f32], triangles: &[[u32; 3]], smoothing: u32) -> Self {
        let mut place = vec![NOWHERE; values.len()];
        let mut support = Vec::new();
        for (i, &s) in values.iter().enumerate() {
            if s < 1.0 {
                place[i] = support.len() as u32;
                support.push(i as u32);
            }
        }
        let corners = |&[a, b, c]: &[u32; 3]| [[a, b, c], [b, c, a], [c, a, b]];
        let mut around: Vec<[u32; 3]> = triangles.iter().flat_map(corners).collect();
        around.retain(|[apex, ..]| place[*apex as usize] != NOWHERE);
        around.sort_by_key(|[apex, ..]| *apex);
        let first = |i: &u32| around.partition_point(|[apex, ..]| apex < i) as u32;
        let mut fan_starts: Vec<u32> = support.iter().map(first).collect();
        fan_starts.push(around.len() as u32);
        let fans = around.into_iter().map(|[_, next, last]| [next, last]).collect();
        let rings = vertex_vertices(values.len(), triangles);
        Self { values, rings, support, place, fans, fan_starts, smoothing }
    }

    /// One Runge–Kutta step of all vertices that move.
    fn step(
        &self,
        positions: &mut [Vec3],
        ride: &Ride,
        t: f64,
        h: f64,
        run: &Run<'_>,
    ) -> Result<(), Cancelled> {
        let start: Vec<Vec3> = self.support.iter().map(|&i| positions[i as usize]).collect();
        let mut sum = vec![Vec3::ZERO; start.len()];
        for (reach, weight, next) in
            [(0.0, 1.0, 0.5), (0.5, 2.0, 0.5), (0.5, 2.0, 1.0), (1.0, 1.0, 0.0)]
        {
            run.check()?;
            let velocity = self.velocities(positions, &ride.generators(t + reach * h), run);
            for (k, &i) in self.support.iter().enumerate() {
                sum[k] += weight * velocity[k];
                positions[i as usize] = start[k] + (next * h) as f32 * velocity[k];
            }
        }
        for (k, &i) in self.support.iter().enumerate() {
            positions[i as usize] = start[k] + (h / 6.0) as f32 * sum[k];
        }
        Ok(())
    }

    fn velocities(&self, positions: &[Vec3], motion: &[Generator; 2], run: &Run<'_>) -> Vec<Vec3> {
        let mut gradients = run.map(self.support.len(), |k| self.gradient(positions, k));
        for _ in 0..self.smoothing {
            gradients = run.map(gradients.len(), |k| self.averaged(&gradients, k));
        }
        run.map(self.support.len(), |k| {
            let vertex = self.support[k] as usize;
            let (beta, slope) = fade(self.values[vertex]);
            let grad_beta = slope * gradients[k];
            let mut v = Vec3::ZERO;
            for generator in motion {
                let (e, grad_e, f, grad_f) = generator.eval(positions[vertex]);
                let sideways = grad_beta.cross(e * grad_f - f * grad_e);
                v += beta * (beta * grad_e.cross(grad_f) + sideways);
            }
            v
        })
    }

    /// Least squares over the neighbours, in the tangent plane.
    fn gradient(&self, positions: &[Vec3], k: usize) -> Vec3 {
        let vertex = self.support[k] as usize;
        let x = positions[vertex];
        let around =
            |[b, c]: &[u32; 2]| (positions[*b as usize] - x).cross(positions[*c as usize] - x);
        let fan = self.fan_starts[k] as usize..self.fan_starts[k + 1] as usize;
        let Some(normal) = self.fans[fan].iter().map(around).sum::<Vec3>().try_normalize() else {
            return Vec3::ZERO;
        };
        let (a, b) = normal.any_orthonormal_pair();
        let (mut xx, mut xy, mut yy, mut right) = (0.0, 0.0, 0.0, Vec2::ZERO);
        for &neighbour in self.rings.row(vertex) {
            let offset = positions[neighbour as usize] - x;
            let d = Vec2::new(a.dot(offset), b.dot(offset));
            xx += d.x * d.x;
            xy += d.x * d.y;
            yy += d.y * d.y;
            right += (self.values[neighbour as usize] - self.values[vertex]) * d;
        }
        let determinant = xx * yy - xy * xy;
        if determinant <= 1e-12 * (xx + yy) * (xx + yy) {
            return Vec3::ZERO;
        }
        let g = Vec2::new(yy * right.x - xy * right.y, xx * right.y - xy * right.x) / determinant;
        g.x * a + g.y * b
    }

    fn averaged(&self, gradients: &[Vec3], k: usize) -> Vec3 {
        let vertex = self.support[k] as usize;
        let near = self.rings.row(vertex).iter().map(|&j| self.place[j as usize]);
        let inside = near.filter(|&p| p != NOWHERE).map(|p| gradients[p as usize]);
        let (sum, count) = inside.fold((Vec3::ZERO, 0.0), |(s, n), g| (s + g, n + 1.0));
        if count > 0.0 { 0.5 * (gradients[k] + sum / count) } else { gradients[k] }
    }
}

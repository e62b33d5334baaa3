//! Guiding part of a surface along a curve (thesis, chapter 4).
//!
//! # Method
//!
//! Every vertex has a value s: 0 moves fully, 1 stays, and between them the motion fades with
//! `β = 1 − b(s)`. s is given on the surface and stays with the vertices; its gradient is estimated
//! from the neighbours by least squares with no part across the surface (4.1), then smoothed. The motion is that
//! of the curve's Frenet frame, with a twist added about the tangent.
//!
//! # Where we differ from the paper
//!
//! - The velocities of all vertices together are one ordinary differential equation, solved with order
//!   three. Gradients estimated at the start of each step, as printed, give order one.
//! - s is taken not to change along a mean of the normals over a fixed share of the fade, not along each
//!   vertex' own normal: with that, ripples grow the faster the finer the mesh is.
//! - The volume of a closed mesh does not change beyond the error of the steps: what flows through each
//!   triangle is known without any gradient, and what the estimated velocities lack is made up for.
//! - The part that moves fully is carried rigidly, from a frame integrated in f64.
//! - (4.8) and (4.9) are printed with the wrong speed and (4.6) is singular where the curve is straight;
//!   see [`field::generator`](crate::field::generator).
//! - The twist's potential vanishes in the middle of the fade, not at the curve.
//!
//! # Limits
//!
//! Parts of the surface that are far apart along it may meet in space
//! ([`Params::on_contact`](super::Params::on_contact)). Undo restores the stored shape.
//!
//! # References
//!
//! - W. von Funck, H. Theisel, H.-P. Seidel. Explicit Control of Vector Field Based Shape
//!   Deformations. Pacific Graphics, 2007.

use glam::{DVec3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::boundary::{check_drawn, drawn_parts};
use super::error::{Problem, check_fade, check_finite, check_point, check_share};
use super::guide::{Guide, Orientation, Ride};
use super::nearest::Nearest;
use super::regions::Part;
use super::surface::{EditedSurface, Pace};
use super::twisting::Twisting;
use crate::Run;
use crate::field::blend::fade;
use crate::mesh::adjacency::{Rows, vertex_vertices};
use crate::mesh::attribute::Attributes;
use crate::mesh::geodesic::{self, dijkstra, heat, smoothed};

/// Guides part of a surface along a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Curve {
    /// The curve; it starts in the part that moves.
    pub guide: Guide,
    /// Whether that part turns with the curve. It does by default.
    pub orientation: Orientation,
    /// Turn about the curve's tangent on the way, at an even rate. 0 by default.
    #[schemars(extend("unit" = "deg"))]
    pub twist_degrees: f32,
    /// More turn, at a rate of its own: pairs of a share of the way's time, 0 to 1, and the angle in degrees reached there.
    /// Smooth between them, and nowhere beyond them. None by default.
    pub twist_over: Vec<[f32; 2]>,
    /// The share of the way, by its time, after which the motion stops. 1 by default.
    #[schemars(range(min = 0.0, max = 1.0))]
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
            twist_over: Vec::new(),
            until: 1.0,
            extent: Extent::default(),
            distance: geodesic::Method::default(),
            steps: 64,
            smoothing: 3,
        }
    }
}

/// Which part of a surface moves: s of every vertex.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// By the distance along the surface from the vertex nearest to a point: (4.10).
    Geodesic {
        /// The point.
        #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
        from: Vec3,
        /// Distance up to which everything moves fully.
        #[schemars(extend("unit" = "m"))]
        inner: f32,
        /// Distance from which nothing moves.
        #[schemars(extend("unit" = "m"))]
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
        #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
        inner: Vec<Vec3>,
        /// Beyond it nothing moves: at least three points.
        #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
        outer: Vec<Vec3>,
    },
    /// The same with picked vertices: loops of edges, or a few of their vertices.
    Loops {
        /// Around the part that moves fully: at least three vertices.
        inner: Vec<u32>,
        /// Beyond it nothing moves: at least three vertices.
        outer: Vec<u32>,
    },
    /// Painted values of the mesh, by their name: 0 moves fully and 1 stays.
    Attribute {
        /// The name.
        #[schemars(extend("format" = "name"))]
        name: String,
    },
    /// Painted regions of the mesh, by the name of the values: what is 0 or less moves fully, what is 1 or more stays, and
    /// what lies between takes part by the distance along the surface to both.
    Regions {
        /// The name.
        #[schemars(extend("format" = "name"))]
        name: String,
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
            Self::Loops { .. } => Err(Problem::NotJoined),
            Self::Attribute { name } | Self::Regions { name } => {
                Err(Problem::NotPainted { name: name.clone(), known: String::new() })
            }
        }
    }

    /// Puts painted values in the place of their name.
    pub(super) fn look_up(&mut self, painted: &Attributes) -> Result<(), Problem> {
        let found = |name: &String| {
            painted.scalar(name).ok_or_else(|| Problem::NotPainted {
                name: name.clone(),
                known: painted.known_scalars(),
            })
        };
        match self {
            Self::Attribute { name } => *self = Self::Painted { values: found(name)?.to_vec() },
            Self::Regions { name } => {
                let values = found(name)?;
                let pick = |is_in: &dyn Fn(f32) -> bool| {
                    let all = (0_u32..).zip(values).filter(|(_, v)| is_in(**v));
                    all.map(|(i, _)| i).collect::<Vec<u32>>()
                };
                *self = Self::Between { inner: pick(&|v| v <= 0.0), outer: pick(&|v| v >= 1.0) };
            }
            _ => {}
        }
        Ok(())
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
            Self::Loops { inner, outer } => {
                check_vertices("the inner loop", inner, vertices)?;
                check_vertices("the outer loop", outer, vertices)
            }
            Self::Attribute { .. } | Self::Regions { .. } => Ok(()),
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
    /// Moves the positions; returns s of every vertex and the steps taken. A mask scales what moves.
    pub(super) fn run(
        &self,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        mask: &[f32],
        run: &Run<'_>,
    ) -> Result<(Vec<f32>, u64), Problem> {
        if triangles.is_empty() {
            return Err(Problem::NeedsTriangles { what: "the extent lies on a surface" });
        }
        let mut ride = self.ride()?;
        let mut values = self.extent.values(positions, triangles, self.distance, run)?;
        values.iter_mut().zip(mask).for_each(|(s, m)| *s = 1.0 - m * (1.0 - *s));
        ride.behind = behind(&ride, positions, &values);
        let surface = EditedSurface::new(positions, &values, fade, triangles, self.smoothing, run);
        let taken = guided(&ride, &surface, &values, self.steps, positions, run)?;
        Ok((values, taken))
    }

    /// The motion, if its parameters are right.
    pub(super) fn ride(&self) -> Result<Ride, Problem> {
        check_finite("the twist", self.twist_degrees)?;
        check_share("the share of the way", self.until)?;
        let even = f64::from(self.twist_degrees).to_radians();
        let twist = Twisting::new(even, &self.twist_over)?;
        let ride = self.guide.ride(self.orientation, twist)?;
        Ok(Ride { until: f64::from(self.until), ..ride })
    }
}

/// Moves a surface along a way: what is 0 rigidly, the rest by its field. Returns the steps taken.
pub(super) fn guided(
    ride: &Ride,
    surface: &EditedSurface,
    values: &[f32],
    steps: u32,
    positions: &mut [Vec3],
    run: &Run<'_>,
) -> Result<u64, Problem> {
    let steps = steps.max(1).next_multiple_of(ride.pieces());
    let core = ride.turn();
    let rest = positions.to_vec();
    let pace = Pace { steps, until: ride.until, piece: steps / ride.pieces() };
    let taken = surface.follow(positions, ride, pace, run)?;
    run.for_each(positions, |i, x| {
        if values[i] <= 0.0 {
            *x = ride.carry(core, rest[i]);
        }
    });
    surface.give_back(&rest, positions, run);
    Ok(u64::from(taken))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Values;
    use crate::sculpt::{Op, Params, apply};
    use crate::{TriMesh, zoo};

    /// A bar with s painted on it, from 0 at x = 1.5 to 1 at x = −1.5.
    fn painted() -> TriMesh {
        let size = zoo::Size { triangles: Some(5000) };
        let mut mesh = zoo::build("bar", &size, &Run::default()).unwrap().meshes.swap_remove(0);
        let values = mesh.positions.iter().map(|p| (0.5 - p.x / 3.0).clamp(0.0, 1.0)).collect();
        mesh.attributes.set("soft", Values::Scalar(values));
        mesh
    }

    fn straight() -> Guide {
        Guide::Through(vec![Vec3::new(2.0, 0.0, 0.0), Vec3::new(2.5, 0.0, 0.0)])
    }

    fn edited(mesh: &TriMesh, curve: Curve) -> (Vec<Vec3>, f64) {
        let mut positions = mesh.positions.clone();
        let mut op = Op::Curve(curve);
        op.look_up(&mesh.attributes).unwrap();
        let (params, run) = (Params::default(), Run::default());
        let done = apply(&mut positions, &mesh.triangles, &[op], &params, &run).unwrap();
        (positions, done.report.volume_error())
    }

    #[test]
    fn painted_values_have_a_name() {
        let mesh = painted();
        let values = mesh.attributes.scalar("soft").unwrap().to_vec();
        let curve = |extent| Curve { guide: straight(), extent, ..Curve::default() };
        let named = edited(&mesh, curve(Extent::Attribute { name: "soft".to_owned() }));
        assert_eq!(named, edited(&mesh, curve(Extent::Painted { values })), "the same values");
        let regions = Extent::Regions { name: "soft".to_owned() };
        let (moved, volume) = edited(&mesh, curve(regions));
        for (a, b) in mesh.positions.iter().zip(&moved) {
            if a.x >= 1.5 {
                assert!(b.abs_diff_eq(*a + 0.5 * Vec3::X, 1e-5), "{a} {b}");
            } else if a.x <= -1.5 {
                assert_eq!(a, b, "stays");
            }
        }
        assert!(volume.abs() < 1e-6, "{volume}");
        let mut unknown = Op::Curve(curve(Extent::Attribute { name: "sfot".to_owned() }));
        let refused = unknown.look_up(&mesh.attributes).unwrap_err().to_string();
        assert!(refused.contains("sfot") && refused.contains("soft"), "{refused}");
    }

    /// α(t): the same angle at the end whatever the course, and on the way the one of that time.
    #[test]
    fn a_twist_follows_its_own_course() {
        let mesh = painted();
        let twisted = |twist_over: Vec<[f32; 2]>, until: f32| {
            let extent = Extent::Attribute { name: "soft".to_owned() };
            edited(
                &mesh,
                Curve { guide: straight(), twist_over, until, extent, ..Curve::default() },
            )
        };
        let late = vec![[0.5, 0.0], [1.0, 90.0]];
        let (moved, volume) = twisted(late.clone(), 1.0);
        assert!(volume.abs() < 1e-6, "{volume}");
        let (half, _) = twisted(late, 0.5);
        for ((a, b), h) in mesh.positions.iter().zip(&moved).zip(&half) {
            if a.x >= 1.5 {
                let turned = Vec3::new(a.x + 0.5, -a.z, a.y);
                assert!(b.abs_diff_eq(turned, 1e-5), "{a} went to {b}");
                assert!(h.abs_diff_eq(*a + 0.25 * Vec3::X, 1e-5), "not turned yet: {h}");
            }
        }
    }

    /// A corner is a corner: the end lies where it was drawn, turned by the right angle.
    #[test]
    fn a_polyline_leads_round_its_corner() {
        let mesh = painted();
        let (corner, end) = (Vec3::new(3.0, 0.0, 0.0), Vec3::new(3.0, 1.0, 0.0));
        let guide = Guide::Polyline(vec![Vec3::new(2.0, 0.0, 0.0), corner, end]);
        let extent = Extent::Attribute { name: "soft".to_owned() };
        let (moved, volume) = edited(&mesh, Curve { guide, extent, ..Curve::default() });
        for (a, b) in mesh.positions.iter().zip(&moved).filter(|(a, _)| a.x >= 1.5) {
            let there = end + Vec3::new(-a.y, a.x - 2.0, a.z);
            assert!(b.abs_diff_eq(there, 1e-5), "{a} went to {b}, not {there}");
        }
        assert!(volume.abs() < 1e-6, "{volume}");
    }
}

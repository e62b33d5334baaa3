//! Moving the part of a surface inside one drawn curve, at rest outside another (thesis, chapter 3).
//!
//! # Method
//!
//! Each curve is a tube: the points whose smooth distance d to it is at most its thickness. The tubes cut
//! the surface into the handle, which only the inner tube touches and which moves rigidly; the support
//! between the two, which is integrated with `β = w D_o³/(D_i³ + w D_o³)` (3.7), `D = d − thickness`; and the
//! rest, which stays. The inner curve moves with the handle during the integration. β has two vanishing
//! derivatives at both tubes, so the pieces fit together C¹.
//!
//! # Where we differ from the paper
//!
//! - The distances are integrals along the curves and do not depend on how densely they were drawn.
//! - A third curve between the two, which the source proposes for extreme bends, says where half of the motion is
//!   reached. The source makes two supports in a row of it; held rigidly where they meet they fold on both sides of it.
//!   Here both halves of the motion act between the inner and the outer curve, one with a weight k times, the other
//!   with one k times less than that at which `β = ½` on the middle curve: they overlap, the slope of β is spread over
//!   the support, and the bend has no crease. The handle moves as without it.
//! - A thickness that is not given is the smallest, in steps of a half, whose tube cuts the surface.
//! - A knob may twist evenly. The source proposes two quadratic fields, whose handle would not stay rigid. A turn whose
//!   angle depends on the height along the axis only has no divergence, whatever the profile: between the curves it
//!   grows linearly, in closed form ([`Knob::Twist`]).
//!
//! # Limits
//!
//! What moves may meet what stays ([`Params::on_contact`](super::Params::on_contact)). The two tubes must not touch. Points that were not vertices take the
//! part of the nearest vertex.
//!
//! # References
//!
//! - W. von Funck, H. Theisel, H.-P. Seidel. Implicit Boundary Control of Vector Field Based Shape
//!   Deformations. Mathematics of Surfaces, 2007.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{Problem, check_finite, check_point, check_positive, direction};
use super::nearest::Nearest;
use super::path::send_members;
use super::regions::{Curves, Distances, Part, Thickness, edges, mean_edge};
use super::twist::{Twist, TwistMap};
use crate::Run;
use crate::field::smooth_distance::CurveDistance;
use crate::field::{Between, Field, Flow, Generator, Influence, Phase, RigidMotion, Tube};
use crate::mesh::welding::Welding;
use crate::pathline::{self, Direction};

/// How often an automatic thickness grows by a half before it is given up.
const GROWTHS: u32 = 10;

/// How far the weights of the two halves of a motion lie on both sides of that of the middle curve. A bar of thickness
/// 1 bent by 100° over 3.2, distortion of its triangles (root mean square of the logarithms; worst): none 0.57; 5.4,
/// 2 0.51; 3.9, 3.5 0.47; 2.9, 5 0.46; 3.6.
const APART: f32 = 3.5;

/// Moves what lies inside one curve on the surface and leaves what lies outside another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Boundary {
    /// Closed curve around the part that moves: at least three points on the surface, or vertices.
    #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
    pub inner: Vec<Vec3>,
    /// Closed curve beyond which nothing moves: at least three points on the surface, or vertices.
    #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
    pub outer: Vec<Vec3>,
    /// Closed curve between the two where half of the motion is reached, for extreme bends: it is spread more evenly
    /// then. None by default.
    #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
    pub middle: Vec<Vec3>,
    /// Vertices around the part that moves, after the points of the inner curve: a loop of edges, or a few of its
    /// vertices. None by default.
    pub inner_vertices: Vec<u32>,
    /// The same of the outer curve.
    pub outer_vertices: Vec<u32>,
    /// The same of the middle curve.
    pub middle_vertices: Vec<u32>,
    /// Radius of the tubes around the curves, in units of length. By default as thin as possible.
    #[schemars(extend("unit" = "m"))]
    pub thickness: Option<f32>,
    /// Radius of the tube around the inner curve alone. By default as the others.
    #[schemars(extend("unit" = "m"))]
    pub inner_thickness: Option<f32>,
    /// Radius of the tube around the outer curve alone. By default as the others.
    #[schemars(extend("unit" = "m"))]
    pub outer_thickness: Option<f32>,
    /// How the handle moves. Not at all by default.
    pub knob: Knob,
    /// Above one the inner curve reaches farther, below one the outer. 1 by default.
    pub weight: f32,
}

impl Default for Boundary {
    fn default() -> Self {
        Self {
            inner: Vec::new(),
            outer: Vec::new(),
            middle: Vec::new(),
            inner_vertices: Vec::new(),
            outer_vertices: Vec::new(),
            middle_vertices: Vec::new(),
            thickness: None,
            inner_thickness: None,
            outer_thickness: None,
            knob: Knob::default(),
            weight: 1.0,
        }
    }
}

/// How a handle moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Knob {
    /// Straight.
    Translate {
        /// Displacement.
        #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
        by: Vec3,
    },
    /// About an axis through a joint.
    Rotate {
        /// A point of the axis.
        #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
        joint: Vec3,
        /// Its direction, of any length.
        #[schemars(with = "[f32; 3]")]
        axis: Vec3,
        /// Angle, right-handed.
        #[schemars(extend("unit" = "deg"))]
        degrees: f32,
    },
    /// About a joint, so that a knob points to where it is dragged.
    Drag {
        /// The fixed point.
        #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
        joint: Vec3,
        /// Where the knob is.
        #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
        knob: Vec3,
        /// Where it is dragged; only the direction from the joint counts.
        #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
        to: Vec3,
    },
    /// About the line from a joint to the knob.
    Twist {
        /// A point of the axis.
        #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
        joint: Vec3,
        /// Another.
        #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
        knob: Vec3,
        /// Angle, right-handed about the way from joint to knob.
        #[schemars(extend("unit" = "deg"))]
        degrees: f32,
        /// Whether the angle grows evenly with the height between the curves, which must then lie one above the other
        /// along the axis. Not by default: it follows the blend of the curves.
        #[serde(default)]
        uniform: bool,
    },
}

impl Default for Knob {
    fn default() -> Self {
        Self::Translate { by: Vec3::ZERO }
    }
}

impl Knob {
    /// The same motion, cut short; as it is if there is something wrong with it.
    pub(super) fn cut(self, share: f32) -> Self {
        if let Self::Twist { joint, knob, degrees, uniform } = self {
            return Self::Twist { joint, knob, degrees: share * degrees, uniform };
        }
        match self.motion() {
            Ok(RigidMotion::Translation { velocity }) => Self::Translate { by: share * velocity },
            Ok(RigidMotion::Rotation { center, axis, speed }) => {
                Self::Rotate { joint: center, axis, degrees: share * speed.to_degrees() }
            }
            Ok(RigidMotion::Still | RigidMotion::Swing { .. }) | Err(_) => self,
        }
    }

    /// The motion during one unit of time.
    fn motion(self) -> Result<RigidMotion, Problem> {
        let rotation = |center: Vec3, axis: Vec3, radians: f32| {
            check_point("the joint", center)?;
            check_finite("the angle", radians)?;
            let axis = direction("the axis", axis)?;
            Ok(RigidMotion::Rotation { center, axis, speed: radians })
        };
        match self {
            Self::Translate { by } => {
                check_point("the displacement", by)?;
                Ok(RigidMotion::Translation { velocity: by })
            }
            Self::Rotate { joint, axis, degrees } => rotation(joint, axis, degrees.to_radians()),
            Self::Twist { joint, knob, degrees, .. } => {
                rotation(joint, knob - joint, degrees.to_radians())
            }
            Self::Drag { joint, knob, to } => {
                let from = direction("the way from the joint to the knob", knob - joint)?;
                let to = direction("the way from the joint to where the knob goes", to - joint)?;
                let angle = from.angle_between(to);
                let axis = from.cross(to).try_normalize();
                rotation(joint, axis.unwrap_or(from.any_orthonormal_vector()), angle)
            }
        }
    }
}

/// Checks two closed curves.
pub(super) fn check_drawn(inner: &[Vec3], outer: &[Vec3]) -> Result<(), Problem> {
    let drawn = Boundary { inner: inner.to_vec(), outer: outer.to_vec(), ..Boundary::default() };
    drawn.curves().map(drop)
}

/// Which part of a surface lies inside, between and outside two closed curves drawn on it.
pub(super) fn drawn_parts(
    inner: &[Vec3],
    outer: &[Vec3],
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    run: &Run<'_>,
) -> Result<Vec<Part>, Problem> {
    let drawn = Boundary { inner: inner.to_vec(), outer: outer.to_vec(), ..Boundary::default() };
    Ok(drawn.cut(&drawn.curves()?, positions, triangles, run)?.0)
}

/// A boundary edit, prepared for a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundaryMap {
    rest: Vec<Vec3>,
    parts: Vec<Part>,
    motion: RigidMotion,
    /// Between inner and outer curve.
    support: Support,
}

/// How what lies between the curves moves.
#[derive(Clone, Debug, PartialEq)]
enum Support {
    /// Along the path lines of the blended motion.
    Blended(Phase),
    /// About the axis, evenly with the height.
    Twisted(TwistMap),
}

impl Boundary {
    pub(super) fn run(
        &self,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        params: &pathline::Params,
        run: &Run<'_>,
    ) -> Result<(BoundaryMap, pathline::Report), Problem> {
        let map = self.prepare(positions, triangles, run)?;
        let report = map.apply(positions, params, run)?;
        Ok((map, report))
    }

    /// Checks what does not depend on the surface.
    pub(super) fn check(&self) -> Result<(), Problem> {
        check_positive("the weight", self.weight)?;
        for thickness in
            [self.thickness, self.inner_thickness, self.outer_thickness].iter().flatten()
        {
            check_positive("the thickness", *thickness)?;
        }
        self.knob.motion()?;
        let picked = self.loops().map(|picked| !picked.is_empty());
        let stand_in = |curve: &Vec<Vec3>, picked: bool| {
            let triangle =
                [Vec3::ZERO, Vec3::X, Vec3::Y].into_iter().take(if picked { 3 } else { 0 });
            triangle.chain(curve.iter().copied()).collect::<Vec<Vec3>>()
        };
        let inner = stand_in(&self.inner, picked[0]);
        let outer = stand_in(&self.outer, picked[1]);
        Self { inner, outer, ..self.clone() }.curves().map(drop)
    }

    /// The picked loops: inner, outer, middle.
    pub(super) fn loops(&self) -> [&Vec<u32>; 3] {
        [&self.inner_vertices, &self.outer_vertices, &self.middle_vertices]
    }

    /// Finds handle and support on a surface, for edits that start from the same shape again and again.
    ///
    /// # Errors
    ///
    /// A [`Problem`] with the parameters, or with where the curves lie.
    pub fn prepare(
        &self,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        run: &Run<'_>,
    ) -> Result<BoundaryMap, Problem> {
        if triangles.is_empty() {
            return Err(Problem::NeedsTriangles { what: "boundaries are drawn on a surface" });
        }
        self.check()?;
        let motion = self.knob.motion()?;
        let curves = self.curves()?;
        let (parts, thickness) = self.cut(&curves, positions, triangles, run)?;
        let rest = positions.to_vec();
        if let Knob::Twist { joint, knob, degrees, uniform: true } = self.knob {
            let axis = knob - joint;
            let [from, to] = heights(&parts, positions, triangles, joint, axis)?;
            let twist =
                Twist { center: joint, axis, degrees, from, to, radius: None, ..Twist::default() };
            let support = Support::Twisted(twist.prepare()?);
            return Ok(BoundaryMap { rest, parts, motion, support });
        }
        let Curves { inner, middle, outer } = curves;
        let tubes = || {
            let tube = |curve: &CurveDistance, thickness: f32, motion: RigidMotion| Tube {
                curve: curve.clone(),
                thickness,
                motion,
            };
            [
                tube(&inner, thickness.inner, motion),
                tube(&outer, thickness.outer, RigidMotion::Still),
            ]
        };
        let fields = match &middle {
            None => vec![field(tubes(), self.weight, motion, motion)],
            Some(middle) => {
                let weight = self.weight * halfway(middle, [&inner, &outer], thickness);
                let half = motion.slowed(0.5);
                let part = |weight: f32| field(tubes(), weight, half, motion);
                vec![part(weight * APART), part(weight / APART)]
            }
        };
        let support = Support::Blended(Phase { fields, duration: 1.0 });
        Ok(BoundaryMap { rest, parts, motion, support })
    }

    fn curves(&self) -> Result<Curves, Problem> {
        let closed = |what: &'static str, points: &[Vec3]| {
            if points.len() < 3 {
                return Err(Problem::TooFew { what, least: 3 });
            }
            for &p in points {
                check_point(what, p)?;
            }
            Ok(CurveDistance::new(points.to_vec(), true))
        };
        let middle = match self.middle.as_slice() {
            [] => None,
            points => Some(closed("the middle boundary", points)?),
        };
        let inner = closed("the inner boundary", &self.inner)?;
        Ok(Curves { inner, middle, outer: closed("the outer boundary", &self.outer)? })
    }

    /// The parts of the surface, and the thickness of the tubes that cut it.
    fn cut(
        &self,
        curves: &Curves,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        run: &Run<'_>,
    ) -> Result<(Vec<Part>, Thickness), Problem> {
        let distances = Distances::new(curves, positions, run);
        let with = |automatic: f32| {
            let common = self.thickness.unwrap_or(automatic);
            let own = |given: Option<f32>| given.unwrap_or(common);
            let (inner, outer) = (own(self.inner_thickness), own(self.outer_thickness));
            let thickness = Thickness { inner, middle: common, outer };
            distances.cut(triangles, thickness).map(|parts| (parts, thickness))
        };
        let mut automatic = 0.5 * mean_edge(positions, triangles);
        for _ in 0..GROWTHS {
            match with(automatic) {
                Err(Problem::DoesNotDivide { .. }) if self.thickness.is_none() => automatic *= 1.5,
                done => return done,
            }
        }
        with(automatic)
    }
}

/// The heights along an axis between which a twist grows: up to where what stays reaches, and down to where the handle does,
/// of what is next to the part between.
fn heights(
    parts: &[Part],
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    joint: Vec3,
    axis: Vec3,
) -> Result<[f32; 2], Problem> {
    let axis = direction("the axis", axis)?;
    let between = |v: usize| !matches!(parts[v], Part::Handle | Part::Still);
    let (mut outer, mut inner) = (f32::NEG_INFINITY, f32::INFINITY);
    for [a, b] in edges(triangles).flat_map(|[a, b]| [[a, b], [b, a]]) {
        let height = axis.dot(positions[b] - joint);
        match parts[b] {
            Part::Still if between(a) => outer = outer.max(height),
            Part::Handle if between(a) => inner = inner.min(height),
            _ => {}
        }
    }
    if inner > outer { Ok([outer, inner]) } else { Err(Problem::NoHeight { outer, inner }) }
}

/// A motion blended between two tubes; its centre rides along.
fn field(
    [inner, outer]: [Tube; 2],
    weight: f32,
    motion: RigidMotion,
    riding: RigidMotion,
) -> Field {
    let middle = mean(inner.curve.points());
    let generator = match motion {
        RigidMotion::Still => Generator::translation(middle, Vec3::ZERO),
        RigidMotion::Translation { velocity } => Generator::translation(middle, velocity),
        RigidMotion::Rotation { center, axis, speed }
        | RigidMotion::Swing { center, axis, speed, .. } => {
            Generator::rotation(center, axis, speed)
        }
    };
    let between = Between { inner, outer, weight };
    Field::new(Influence::Between(between), generator, riding)
}

fn mean(points: &[Vec3]) -> Vec3 {
    points.iter().sum::<Vec3>() / points.len().max(1) as f32
}

/// The weight at which the blend between two curves is one half on a third: the mean of `D_i³/D_o³` along it.
fn halfway(middle: &CurveDistance, [inner, outer]: [&CurveDistance; 2], tubes: Thickness) -> f32 {
    let depth = |curve: &CurveDistance, thickness: f32, x: Vec3| {
        let d = curve.jet(x.as_dvec3()).value - f64::from(thickness);
        d.max(f64::from(f32::MIN_POSITIVE))
    };
    let points = middle.points();
    let ratio = |&x: &Vec3| (depth(inner, tubes.inner, x) / depth(outer, tubes.outer, x)).ln();
    let mean = points.iter().map(ratio).sum::<f64>() / points.len().max(1) as f64;
    let weight = (3.0 * mean).exp() as f32;
    if weight.is_normal() { weight } else { 1.0 }
}

impl BoundaryMap {
    /// What happens to each vertex.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The same for the vertices whose places it was prepared for.
    pub(super) fn spread(&mut self, welding: &Welding) {
        self.rest = welding.spread(&self.rest);
        self.parts = welding.spread(&self.parts);
    }

    /// Moves the vertices it was prepared for from where they were.
    ///
    /// # Errors
    ///
    /// As [`pathline::advect`].
    ///
    /// # Panics
    ///
    /// If there are not as many as it was prepared for.
    pub fn apply(
        &self,
        positions: &mut [Vec3],
        params: &pathline::Params,
        run: &Run<'_>,
    ) -> Result<pathline::Report, pathline::Error> {
        assert_eq!(positions.len(), self.parts.len(), "the vertices it was prepared for");
        self.go(positions, &self.parts, params, Direction::Forward, run)
    }

    /// The share of the motion that a vertex takes part in, from where it came to rest.
    pub(super) fn share(&self, vertex: usize, after: Vec3) -> f64 {
        self.share_at(vertex, after, 1.0)
    }

    /// The same before the motion.
    pub(super) fn share_at_rest(&self, vertex: usize) -> f64 {
        self.share_at(vertex, self.rest[vertex], 0.0)
    }

    fn share_at(&self, vertex: usize, x: Vec3, time: f64) -> f64 {
        match (self.parts[vertex], &self.support) {
            (Part::Handle, _) => 1.0,
            (Part::Still, _) => 0.0,
            (_, Support::Twisted(twist)) => twist.share(x),
            (_, Support::Blended(Phase { fields, .. })) => {
                let blend = |field: &Field| field.influence.jet(x.as_dvec3(), time).value;
                fields.iter().map(blend).sum::<f64>() / fields.len() as f64
            }
        }
    }

    /// The motion of the handle.
    pub(super) fn motion(&self) -> RigidMotion {
        self.motion
    }

    /// Sends points of the shape before the edit through it, or back. Points that are not the vertices
    /// it was prepared for take the part of the nearest vertex.
    pub(super) fn send(
        &self,
        points: &mut [Vec3],
        params: &pathline::Params,
        direction: Direction,
        run: &Run<'_>,
    ) -> Result<(), pathline::Error> {
        if direction == Direction::Backward && points.len() == self.parts.len() {
            self.go(points, &self.parts, params, direction, run)?;
        } else if let Some(grid) = Nearest::new(&self.rest) {
            let parts = run.map(points.len(), |i| self.parts[grid.find(points[i])]);
            self.go(points, &parts, params, direction, run)?;
        }
        Ok(())
    }

    fn go(
        &self,
        points: &mut [Vec3],
        parts: &[Part],
        params: &pathline::Params,
        direction: Direction,
        run: &Run<'_>,
    ) -> Result<pathline::Report, pathline::Error> {
        let time = if direction == Direction::Forward { 1.0 } else { -1.0 };
        let moves = |part: Part| !matches!(part, Part::Handle | Part::Still);
        let report = send_members(
            points,
            |i| moves(parts[i]),
            |moving| match &self.support {
                Support::Blended(phase) => {
                    let flow = Flow { phases: vec![phase.clone()] };
                    pathline::advect(moving, &flow, params, direction, run)
                }
                Support::Twisted(twist) => {
                    run.for_each(moving, |_, x| {
                        *x = if time > 0.0 { twist.forward(*x) } else { twist.backward(*x) };
                    });
                    Ok(pathline::Report::default())
                }
            },
        )?;
        let with_handle = self.motion.carrier(time);
        run.for_each(points, |i, x| {
            if parts[i] == Part::Handle {
                *x = with_handle(*x);
            }
        });
        Ok(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TriMesh, zoo};

    fn bar() -> TriMesh {
        let size = zoo::Size { triangles: Some(3328) };
        zoo::build("bar", &size, &Run::default()).unwrap().meshes.swap_remove(0)
    }

    fn ring(x: f32) -> Vec<Vec3> {
        let corners = [(1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0)];
        corners.map(|(y, z)| Vec3::new(x, 0.5 * y as f32, 0.5 * z as f32)).to_vec()
    }

    fn edit(knob: Knob) -> Boundary {
        Boundary { inner: ring(1.5), outer: ring(-1.5), knob, ..Boundary::default() }
    }

    fn prepared(op: &Boundary) -> (TriMesh, BoundaryMap) {
        let mesh = bar();
        let map = op.prepare(&mesh.positions, &mesh.triangles, &Run::default()).unwrap();
        (mesh, map)
    }

    /// In the middle between two equal curves β is w/(1 + w): what a weight means.
    #[test]
    fn the_weight_says_how_far_each_curve_reaches() {
        for weight in [0.25, 1.0, 4.0] {
            let knob = Knob::Translate { by: Vec3::Y };
            let (mesh, map) = prepared(&Boundary { weight, ..edit(knob) });
            let middle = (0..mesh.positions.len()).filter(|&i| mesh.positions[i].x.abs() < 1e-4);
            let mut seen = 0;
            for i in middle {
                let (share, wanted) = (map.share_at_rest(i), f64::from(weight / (1.0 + weight)));
                assert!((share - wanted).abs() < 1e-4, "weight {weight}: {share}, not {wanted}");
                seen += 1;
            }
            assert!(seen > 8, "{seen} vertices in the middle");
        }
    }

    /// Wherever it is drawn, half of the motion is that of what a middle curve goes through.
    #[test]
    fn the_middle_boundary_takes_half_wherever_it_is() {
        for x in [-0.7, 0.0, 0.5] {
            let knob = Knob::Translate { by: Vec3::Y };
            let (mesh, map) = prepared(&Boundary { middle: ring(x), ..edit(knob) });
            let middle = (0..mesh.positions.len()).filter(|&i| map.parts()[i] == Part::Middle);
            let shares: Vec<f64> = middle.map(|i| map.share_at_rest(i)).collect();
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            assert!(shares.len() >= 20 && (mean - 0.5).abs() < 0.08, "at {x}: {mean}");
        }
    }

    /// Each curve has the tube it is given, and what lies in it belongs to the handle or stays.
    #[test]
    fn the_curves_have_thicknesses_of_their_own() {
        let knob = Knob::Translate { by: Vec3::Y };
        let (inner, outer) = (Some(0.6), Some(0.15));
        let op = Boundary { inner_thickness: inner, outer_thickness: outer, ..edit(knob) };
        let (mesh, map) = prepared(&op);
        let reach = |part: Part, sign: f32| {
            let all = mesh.positions.iter().zip(map.parts()).filter(|(_, p)| **p == part);
            all.map(|(x, _)| sign * x.x).fold(f32::MIN, f32::max)
        };
        // Beside the middle of a face a ring is nearly a line: its smooth distance is nearly the true one.
        let (handle, still) = (-reach(Part::Handle, -1.0), reach(Part::Still, 1.0));
        assert!((0.8..1.01).contains(&handle), "the handle reaches down to {handle}");
        assert!((-1.4..-1.25).contains(&still), "what stays reaches up to {still}");
        let thick = Boundary { inner_thickness: Some(1.6), outer_thickness: Some(1.6), ..op };
        let refused = thick.prepare(&mesh.positions, &mesh.triangles, &Run::default());
        assert!(matches!(refused, Err(Problem::BoundariesTouch { .. })), "{refused:?}");
    }

    /// The angle grows evenly with the height, the handle turns rigidly, the axis keeps its heights, and the volume stays.
    #[test]
    fn an_even_twist_turns_by_the_height() {
        let knob = Knob::Twist { joint: Vec3::ZERO, knob: Vec3::X, degrees: 90.0, uniform: true };
        let (mesh, map) = prepared(&edit(knob));
        let Support::Twisted(twist) = &map.support else { panic!("a twist") };
        let mut moved = mesh.positions.clone();
        map.apply(&mut moved, &pathline::Params::default(), &Run::default()).unwrap();
        for ((a, b), part) in mesh.positions.iter().zip(&moved).zip(map.parts()) {
            match part {
                Part::Handle => assert!(b.abs_diff_eq(Vec3::new(a.x, -a.z, a.y), 1e-5), "{a} {b}"),
                Part::Still => assert_eq!(a, b),
                _ => {
                    let (s, c) = (twist.share(*a) * std::f64::consts::FRAC_PI_2).sin_cos();
                    let (y, z) = (f64::from(a.y), f64::from(a.z));
                    let turned = glam::DVec3::new(a.x.into(), c * y - s * z, s * y + c * z);
                    assert!(b.abs_diff_eq(turned.as_vec3(), 1e-5), "{a} {b}");
                    // Linear but for its ends, from curve to curve.
                    let even = f64::from(a.x + 1.5) / 3.0;
                    assert!(
                        (twist.share(*a) - even).abs() < 0.1,
                        "{a}: {} {even}",
                        twist.share(*a)
                    );
                }
            }
        }
        let volume = |x: &[Vec3]| crate::mesh::volume::volume(x, &mesh.triangles, &Run::default());
        let error = volume(&moved) / volume(&mesh.positions) - 1.0;
        assert!(error.abs() < 1e-3, "{error}");
        map.send(&mut moved, &pathline::Params::default(), Direction::Backward, &Run::default())
            .unwrap();
        let off =
            moved.iter().zip(&mesh.positions).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(off < 1e-5, "{off}");
        let half = knob.cut(0.5);
        assert!(matches!(half, Knob::Twist { degrees: 45.0, uniform: true, .. }), "{half:?}");
        let across = Knob::Twist { joint: Vec3::ZERO, knob: Vec3::Y, degrees: 90.0, uniform: true };
        let refused = edit(across).prepare(&mesh.positions, &mesh.triangles, &Run::default());
        assert!(matches!(refused, Err(Problem::NoHeight { .. })), "{refused:?}");
    }
}

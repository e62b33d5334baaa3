//! Pushing the surface in or out along a stroke (thesis, 2.3.2).
//!
//! The stroke becomes dabs a quarter of the radius apart. Each pushes along the surface normal at its
//! place, averaged over the dab, with an inner region that is only its centre. Dabs that are still to
//! come ride along with the surface, so that the stroke stays on it. The dabs are as strong as makes
//! their sum in the middle of the stroke the asked depth: a dab moves a point at the distance `u` beside
//! it by `β² + u β β'` of its own push.

use glam::{DVec3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Carry;
use super::error::{Problem, check_finite, check_list, check_positive};
use super::tool::{Drag, Keep, Mirror};
use crate::Run;
use crate::field::blend::fade_derivatives;
use crate::field::{Flow, Phase, Region, RigidMotion};
use crate::pathline::{self, Direction};

/// Distance of the dabs, in radii.
const SPACING: f32 = 0.25;

/// Most dabs of one stroke: a stroke of a quarter of a million radii is a mistake.
const MOST_DABS: f32 = 1e6;

/// Triangles summed at a time.
const TRIANGLES: usize = 8192;

/// Into the shape or out of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Against the surface normal.
    #[default]
    In,
    /// Along the surface normal.
    Out,
}

/// Pushes the surface along a stroke.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Paint {
    /// Points on the surface that the stroke runs through; at least one, or vertices.
    #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
    pub stroke: Vec<Vec3>,
    /// Vertices that the stroke runs through after them, the shortest way over edges from one to the next. None by
    /// default.
    pub vertices: Vec<u32>,
    /// Distance from the stroke beyond which nothing moves. 0.2 by default.
    #[schemars(extend("unit" = "m"))]
    pub radius: f32,
    /// How far the surface moves in the middle of the stroke. 0.05 by default.
    #[schemars(extend("unit" = "m"))]
    pub depth: f32,
    /// Which way. Into the shape by default.
    pub side: Side,
    /// Share of the sideways flow that makes room, 0 to 1; see [`Move`](super::Move). 1 by default.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub lateral: f32,
    /// Places that stay as they are. None by default.
    pub keep: Vec<Keep>,
    /// Do the same on the other side of a plane. Not by default.
    pub mirror: Option<Mirror>,
}

impl Default for Paint {
    fn default() -> Self {
        Self {
            stroke: Vec::new(),
            vertices: Vec::new(),
            radius: 0.2,
            depth: 0.05,
            side: Side::In,
            lateral: 1.0,
            keep: Vec::new(),
            mirror: None,
        }
    }
}

impl Paint {
    pub(super) fn run(
        &self,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        params: &pathline::Params,
        carry: &Carry<'_>,
        run: &Run<'_>,
    ) -> Result<(Flow, pathline::Report), Problem> {
        self.check()?;
        check_list("the stroke", &self.stroke, 1)?;
        if triangles.is_empty() {
            return Err(Problem::NeedsTriangles { what: "painting follows the surface normal" });
        }
        let mut dabs = self.dabs()?;
        let push = self.depth / overlap(&dabs, self.radius);
        let sign = if self.side == Side::In { -push } else { push };
        let (mut flow, mut report) = (Flow::default(), pathline::Report::default());
        for k in 0..dabs.len() {
            let center = dabs[k];
            let normal = self.normal_at(center, positions, triangles, run)?;
            let one = Flow { phases: vec![self.dab(center, sign * normal)?] };
            pathline::advect(&mut dabs[k + 1..], &one, params, Direction::Forward, run)?;
            report = report.and(carry(&one, positions)?);
            flow.phases.extend(one.phases);
        }
        Ok((flow, report))
    }

    pub(super) fn check(&self) -> Result<(), Problem> {
        check_list("the stroke", &self.stroke, usize::from(self.vertices.is_empty()))?;
        check_positive("the radius", self.radius)?;
        check_finite("the depth", self.depth)?;
        self.dab(Vec3::ZERO, Vec3::X).map(drop)
    }

    /// The stroke's points and what is needed between them.
    fn dabs(&self) -> Result<Vec<Vec3>, Problem> {
        let mut dabs = vec![self.stroke[0]];
        for pair in self.stroke.windows(2) {
            let pieces = (pair[0].distance(pair[1]) / (SPACING * self.radius)).ceil();
            if dabs.len() as f32 + pieces > MOST_DABS {
                return Err(Problem::NotPositive { what: "the radius", value: self.radius });
            }
            for k in 1..=pieces as u32 {
                dabs.push(pair[0].lerp(pair[1], k as f32 / pieces));
            }
        }
        Ok(dabs)
    }

    fn dab(&self, center: Vec3, velocity: Vec3) -> Result<Phase, Problem> {
        let drag = Drag {
            region: Region::Point(center),
            center,
            inner: 0.0,
            outer: self.radius,
            lateral: self.lateral,
            keep: &self.keep,
            mirror: self.mirror,
        };
        let fields = drag.fields(velocity, RigidMotion::Translation { velocity })?;
        Ok(Phase { fields, duration: 1.0 })
    }

    /// The surface normal around a point, weighted by area and nearness.
    fn normal_at(
        &self,
        center: Vec3,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        run: &Run<'_>,
    ) -> Result<Vec3, Problem> {
        let chunks: Vec<&[[u32; 3]]> = triangles.chunks(TRIANGLES).collect();
        let partial = run.map_tasks(chunks.len(), |k| {
            chunks[k].iter().map(|t| self.weighted_normal(center, positions, t)).sum::<DVec3>()
        });
        let sum: DVec3 = partial.into_iter().sum();
        let off = Problem::OffTheSurface { point: center, radius: self.radius };
        sum.try_normalize().map(|n| n.as_vec3()).ok_or(off)
    }

    fn weighted_normal(&self, center: Vec3, positions: &[Vec3], triangle: &[u32; 3]) -> DVec3 {
        let [a, b, c] = triangle.map(|i| positions[i as usize]);
        // Measured to the nearest corner, so that triangles larger than the dab count.
        let squared = [a, b, c].map(|p| p.distance_squared(center));
        let nearest = squared[0].min(squared[1]).min(squared[2]);
        if nearest >= self.radius * self.radius {
            return DVec3::ZERO;
        }
        let [weight, ..] = fade_derivatives(f64::from(nearest.sqrt() / self.radius));
        weight * (b - a).as_dvec3().cross((c - a).as_dvec3())
    }
}

/// The largest sum of what all dabs do at one of them, in units of one dab's push.
fn overlap(dabs: &[Vec3], radius: f32) -> f32 {
    let at = |p: Vec3| -> f64 {
        let near = dabs.iter().map(|q| f64::from(p.distance(*q) / radius)).filter(|u| *u < 1.0);
        near.map(|u| {
            let [b, db, _] = fade_derivatives(u);
            b * (b + u * db)
        })
        .sum()
    };
    let sampled = dabs.iter().step_by(dabs.len().div_ceil(64));
    sampled.map(|&p| at(p)).fold(1.0, f64::max) as f32
}

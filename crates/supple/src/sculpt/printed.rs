//! Twist and bend as the source prints them: fields, to integrate alone or together with others.
//!
//! [`Twist`] and [`Bend`] themselves are exact and closed; these are for comparison with the
//! source's figures, and as phases of a [`Flow`] to which other fields are added. `as_printed` takes them in place of the
//! closed forms, limited to the tool's cylinder (Figure 2.4b) if there is one: who is inside is decided before the
//! motion, as the source has it.

use glam::Vec3;

use super::cylinder::Cylinder;
use super::error::{Problem, check_finite, check_positive, direction};
use super::{Bend, Twist};
use crate::Run;
use crate::field::{Fade, Field, Flow, Generator, Influence, Motion, Phase, Region};
use crate::mesh::welding::Welding;
use crate::pathline::{self, Direction};

/// Where `b` is one half.
const HALF_WAY: f32 = 0.614;

/// The twist of 2.3.5: `e = ¼τh²` blended along the axis between the two heights.
///
/// Above `to` the turn goes on growing with the height; between the heights its speed is
/// `β d/dh(β(h − from))`, which overshoots.
///
/// # Errors
///
/// A [`Problem`] with the parameters.
pub fn twist(twist: &Twist) -> Result<Flow, Problem> {
    let axis = direction("the axis", twist.axis)?;
    check_finite("the angle", twist.degrees)?;
    if twist.from >= twist.to {
        return Err(Problem::EmptyTwist { from: twist.from, to: twist.to });
    }
    let rate = twist.degrees.to_radians() / (twist.to - twist.from);
    let region = Region::Plane { origin: twist.center, normal: -axis };
    let fade = Fade { region, motion: Motion::Still, inner: -twist.to, outer: -twist.from };
    let generator = Generator::twist(twist.center + twist.from * axis, axis, rate);
    Ok(one(Field::new(Influence::Fade(fade), generator, Motion::Still)))
}

/// The bend of 2.3.5: a rotation blended across a plane that turns at half its speed.
///
/// The centre lies where the blend is one half, at `r_i + 0.614 (r_o − r_i)` (printed reversed).
///
/// # Errors
///
/// A [`Problem`] with the parameters.
pub fn bend(bend: &Bend) -> Result<Flow, Problem> {
    let axis = direction("the axis", bend.axis)?;
    let along = direction("the direction along the shape", bend.along)?;
    check_positive("the width", bend.width)?;
    check_finite("the angle", bend.degrees)?;
    let normal: Vec3 = -(along - axis * axis.dot(along)).normalize_or_zero();
    let speed = bend.degrees.to_radians();
    let motion = Motion::Rotation { center: bend.center, axis, speed: 0.5 * speed };
    let fade = Fade {
        region: Region::Plane { origin: bend.center, normal },
        motion,
        inner: -HALF_WAY * bend.width,
        outer: (1.0 - HALF_WAY) * bend.width,
    };
    let generator = Generator::rotation(bend.center, axis, speed);
    Ok(one(Field::new(Influence::Fade(fade), generator, Motion::Still)))
}

fn one(field: Field) -> Flow {
    Flow { phases: vec![Phase { fields: vec![field], duration: 1.0 }] }
}

/// A flow of which only what lies in a cylinder takes part.
#[derive(Clone, Debug, PartialEq)]
pub struct Within {
    flow: Flow,
    cylinder: Cylinder,
    /// Which of the vertices it was made on are inside.
    inside: Vec<bool>,
}

impl Within {
    pub(super) fn new(flow: Flow, cylinder: Cylinder, positions: &[Vec3]) -> Self {
        let inside = positions.iter().map(|&x| cylinder.contains(x)).collect();
        Self { flow, cylinder, inside }
    }

    /// Moves the vertices it was made on.
    pub(super) fn run(
        &self,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        params: &pathline::Params,
        run: &Run<'_>,
    ) -> Result<pathline::Report, Problem> {
        let rest = positions.to_vec();
        let report = self.go(positions, &self.inside, params, Direction::Forward, run)?;
        self.cylinder.check(&rest, positions, triangles)?;
        Ok(report)
    }

    /// Sends points through it, or back those it was made on.
    pub(super) fn send(
        &self,
        points: &mut [Vec3],
        params: &pathline::Params,
        direction: Direction,
        run: &Run<'_>,
    ) -> Result<(), pathline::Error> {
        let now: Vec<bool> = points.iter().map(|&x| self.cylinder.contains(x)).collect();
        let known = direction == Direction::Backward;
        self.go(points, if known { &self.inside } else { &now }, params, direction, run).map(drop)
    }

    /// How many vertices it was made on.
    pub(super) fn vertices(&self) -> usize {
        self.inside.len()
    }

    /// The same for the vertices whose places it was made on.
    pub(super) fn spread(&mut self, welding: &Welding) {
        self.inside = welding.spread(&self.inside);
    }

    fn go(
        &self,
        points: &mut [Vec3],
        inside: &[bool],
        params: &pathline::Params,
        direction: Direction,
        run: &Run<'_>,
    ) -> Result<pathline::Report, pathline::Error> {
        let members: Vec<usize> = (0..points.len()).filter(|&i| inside[i]).collect();
        let mut moving: Vec<Vec3> = members.iter().map(|&i| points[i]).collect();
        let report = pathline::advect(&mut moving, &self.flow, params, direction, run)?;
        for (&i, x) in members.iter().zip(moving) {
            points[i] = x;
        }
        Ok(report)
    }
}

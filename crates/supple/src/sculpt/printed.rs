//! Twist and bend as the source prints them: fields, to integrate alone or together with others.
//!
//! [`Twist`] and [`Bend`] themselves are exact and closed; these are for comparison with the
//! source's figures, and as phases of a [`Flow`] to which other fields are added. `as_printed` takes them in place of the
//! closed forms, limited to the tool's cylinder (Figure 2.4b) if there is one: who is inside is decided before the
//! motion, as the source has it.

use glam::Vec3;

use super::cylinder::Cylinder;
use super::error::{Problem, check_finite, check_positive, direction};
use super::path::send_members;
use super::{Bend, Twist};
use crate::Run;
use crate::field::{Fade, Field, Flow, Generator, Influence, Phase, Region, RigidMotion};
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
    let fade = Fade { region, motion: RigidMotion::Still, inner: -twist.to, outer: -twist.from };
    let generator = Generator::twist(twist.center + twist.from * axis, axis, rate);
    Ok(one(Field::new(Influence::Fade(fade), generator, RigidMotion::Still)))
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
    let motion = RigidMotion::Rotation { center: bend.center, axis, speed: 0.5 * speed };
    let fade = Fade {
        region: Region::Plane { origin: bend.center, normal },
        motion,
        inner: -HALF_WAY * bend.width,
        outer: (1.0 - HALF_WAY) * bend.width,
    };
    let generator = Generator::rotation(bend.center, axis, speed);
    Ok(one(Field::new(Influence::Fade(fade), generator, RigidMotion::Still)))
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
        send_members(
            points,
            |i| inside[i],
            |moving| pathline::advect(moving, &self.flow, params, direction, run),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sculpt::{NotReversible, Op, Params, apply};
    use crate::zoo;

    /// Two bars side by side, of which the cylinder holds one.
    fn bars() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let size = zoo::Size { triangles: Some(3000) };
        let one = zoo::build("bar", &size, &Run::default()).unwrap().meshes.swap_remove(0);
        let shift = one.positions.len() as u32;
        let other = one.positions.iter().map(|p| *p + 2.0 * Vec3::Z);
        let positions = one.positions.iter().copied().chain(other).collect();
        let again = one.triangles.iter().map(|t| t.map(|v| v + shift));
        (positions, one.triangles.iter().copied().chain(again).collect())
    }

    #[test]
    fn a_printed_bend_turns_what_its_cylinder_holds() {
        let (rest, triangles) = bars();
        let bend = Bend {
            degrees: 50.0,
            width: 2.5,
            radius: Some(0.8),
            as_printed: true,
            ..Bend::default()
        };
        let (params, run) = (Params::default(), Run::default());
        let mut moved = rest.clone();
        let ops = [Op::Bend(bend.clone())];
        let done = apply(&mut moved, &triangles, &ops, &params, &run).unwrap();
        let (s, c) = 50.0_f32.to_radians().sin_cos();
        for (a, b) in rest.iter().zip(&moved) {
            if a.z > 1.0 || a.x < -1.2 {
                assert_eq!(a, b, "beside it or before the fade");
            } else if a.x > 2.3 {
                let turned = Vec3::new(c * a.x - s * a.y, s * a.x + c * a.y, a.z);
                assert!(b.abs_diff_eq(turned, 2e-3), "{a} went to {b}, not {turned}");
            }
        }
        assert!(done.report.volume_error().abs() < 1e-3, "{}", done.report.volume_error());
        let integration = pathline::Params::default();
        let mut other = vec![rest[7], rest[9]];
        done.path.replay(&mut other, &integration, &run).unwrap();
        assert!(other[0].abs_diff_eq(moved[7], 1e-4), "{} {}", other[0], moved[7]);
        let refused = done.path.undo(&mut other, &integration, &run);
        assert!(matches!(refused, Err(NotReversible::LimitedBend { .. })), "{refused:?}");
        let mut back = moved;
        done.path.undo(&mut back, &integration, &run).unwrap();
        let off = back.iter().zip(&rest).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(off < 1e-4, "{off}");
        let tight = [Op::Bend(Bend { radius: Some(0.6), ..bend })];
        let torn = apply(&mut back, &triangles, &tight, &params, &run).unwrap_err().problem;
        assert!(matches!(torn, Problem::CrossesTheCylinder { .. }), "{torn}");
    }

    /// The printed twist turns on growing above its end: not what the exact one does.
    #[test]
    fn a_printed_twist_is_another_than_the_exact_one() {
        let (rest, triangles) = bars();
        let twist = Twist { axis: Vec3::X, degrees: 60.0, radius: Some(0.8), ..Twist::default() };
        let turned = |as_printed: bool| {
            let mut moved = rest.clone();
            let ops = [Op::Twist(Twist { as_printed, ..twist.clone() })];
            apply(&mut moved, &triangles, &ops, &Params::default(), &Run::default()).unwrap();
            moved
        };
        let across = |x: Vec3| glam::Vec2::new(x.y, x.z);
        let angle = |a: Vec3, b: Vec3| across(a).angle_to(across(b)).to_degrees();
        for ((a, p), e) in rest.iter().zip(turned(true)).zip(turned(false)) {
            if a.z < 1.0 && a.x > 1.05 && across(*a).length() > 0.1 {
                let (printed, exact) = (angle(*a, p), angle(*a, e));
                // The rate is that of the way from the lower end: 30° a unit.
                assert!((printed - 30.0 * (a.x + 1.0)).abs() < 0.1, "{a}: {printed}");
                assert!((exact - 60.0).abs() < 1e-2, "{a}: {exact}");
            }
        }
    }
}

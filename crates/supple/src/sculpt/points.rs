//! Dragging a set of points and what is near them (thesis, 2.3.3).
//!
//! The region is the smooth distance to the set, so that its inner part may consist of pieces that are
//! not connected. The centre of the motion's potentials is the middle of the set, as printed.
//!
//! The printed distance to a set shrinks with every point added. Points of a curve are its corners instead
//! ([`Form::Curve`]): the distance is an integral along it, however densely it is sampled
//! (`a_moving_curve_does_not_depend_on_its_sampling`).

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drag::dragged;
use super::error::{Problem, check_list};
use super::tool::{Drag, Keep, Mirror};
use crate::field::smooth_distance::{CurveDistance, PointsDistance};
use crate::field::{Flow, Region};

/// What a list of points is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Points of their own.
    #[default]
    Set,
    /// The corners of a curve.
    Curve,
    /// The corners of a curve that returns to the first.
    Loop,
}

/// Drags a set of points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Points {
    /// The points, usually on the surface; at least one, or vertices.
    #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
    pub points: Vec<Vec3>,
    /// Vertices whose places follow the points. None by default.
    pub vertices: Vec<u32>,
    /// What they are together: points of their own, or the corners of a curve, whose distance does not depend
    /// on how many there are. A set by default.
    pub form: Form,
    /// The way they go, leg by leg: each a displacement. Empty by default.
    #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
    pub by: Vec<Vec3>,
    /// Smooth distance up to which everything follows. 0 by default: only the points themselves.
    #[schemars(extend("unit" = "m"))]
    pub inner: f32,
    /// Smooth distance from which nothing moves. 1 by default.
    #[schemars(extend("unit" = "m"))]
    pub outer: f32,
    /// Share of the sideways flow that makes room, 0 to 1; see [`Move`](super::Move). 1 by default.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub lateral: f32,
    /// Places that stay as they are. None by default.
    pub keep: Vec<Keep>,
    /// Do the same on the other side of a plane. Not by default.
    pub mirror: Option<Mirror>,
}

impl Default for Points {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            vertices: Vec::new(),
            form: Form::Set,
            by: Vec::new(),
            inner: 0.0,
            outer: 1.0,
            lateral: 1.0,
            keep: Vec::new(),
            mirror: None,
        }
    }
}

impl Points {
    /// The motion as a flow: one phase a leg, each lasting one unit of time.
    ///
    /// # Errors
    ///
    /// A [`Problem`] with the parameters.
    pub fn flow(&self) -> Result<Flow, Problem> {
        check_list("the list of points", &self.points, self.least())?;
        let center = self.points.iter().sum::<Vec3>() / self.points.len() as f32;
        dragged(&self.by, |shift| {
            Ok(Drag {
                region: self.region(shift),
                center: center + shift,
                inner: self.inner,
                outer: self.outer,
                lateral: self.lateral,
                keep: &self.keep,
                mirror: self.mirror,
            })
        })
    }

    /// Checks it as far as that can be done without the places of its vertices.
    pub(super) fn check(&self) -> Result<(), Problem> {
        if self.vertices.is_empty() {
            return self.flow().map(drop);
        }
        let stand_in = [Vec3::ZERO, Vec3::X];
        Self { points: stand_in.iter().chain(&self.points).copied().collect(), ..self.clone() }
            .flow()
            .map(drop)
    }

    fn least(&self) -> usize {
        if self.form == Form::Set { 1 } else { 2 }
    }

    /// The distance after a part of the way.
    fn region(&self, shift: Vec3) -> Region {
        let points = self.points.iter().map(|&p| p + shift).collect();
        match self.form {
            Form::Set => Region::Points(PointsDistance::new(points)),
            Form::Curve => Region::Curve(CurveDistance::new(points, false)),
            Form::Loop => Region::Curve(CurveDistance::new(points, true)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sculpt::{Op, Params, apply};
    use crate::{Run, zoo};

    /// An arc over the top of the unit ball.
    fn arc(corners: u8) -> Vec<Vec3> {
        let at = |k: u8| {
            let (s, c) = (0.8 * f32::from(k) / f32::from(corners - 1) - 0.4).sin_cos();
            Vec3::new(s, 0.0, c)
        };
        (0..corners).map(at).collect()
    }

    fn moved(points: Vec<Vec3>, form: Form) -> Vec<Vec3> {
        let size = zoo::Size { triangles: Some(4000) };
        let mut ball = zoo::build("ball", &size, &Run::default()).unwrap().meshes.swap_remove(0);
        let by = vec![0.2 * Vec3::Z];
        let op =
            Op::Points(Points { points, form, by, inner: 0.1, outer: 0.6, ..Points::default() });
        let (params, run) = (Params::default(), Run::default());
        apply(&mut ball.positions, &ball.triangles, &[op], &params, &run).unwrap();
        ball.positions
    }

    /// As points the set grows with every one more; as a curve it is what was drawn.
    #[test]
    fn a_moving_curve_does_not_depend_on_its_sampling() {
        let apart = |form: Form| {
            let (few, many) = (moved(arc(33), form), moved(arc(129), form));
            few.iter().zip(&many).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
        };
        assert!(apart(Form::Curve) < 1e-3, "{}", apart(Form::Curve));
        assert!(apart(Form::Loop) < 1e-3, "{}", apart(Form::Loop));
        assert!(apart(Form::Set) > 0.05, "{}", apart(Form::Set));
    }
}

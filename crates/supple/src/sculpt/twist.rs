//! Twisting about an axis, exactly.
//!
//! # Method
//!
//! Turning every point about the axis by `θ ω(h)`, h its height along the axis, is the flow of the
//! divergence-free field with `e = ½∫ω dh`, `f = ρ²`: it keeps volume for every profile ω and needs no
//! integration. ω rises from 0 at `from` to 1 at `to`, linearly, with C² ends over an eighth of the way.
//!
//! # Where we differ from the paper
//!
//! The printed field ([`printed::twist`](super::printed::twist)) blends a twist with a region along the
//! same axis; its angular speed `β d/dh(β(h − h₀))` overshoots.

use glam::{DVec3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cylinder::Cylinder;
use super::error::{Problem, check_finite, check_point, check_positive, direction};
use crate::Run;
use crate::field::motion::rotation;

/// Part of the rise over which ω bends at each end.
const EASE: f64 = 0.125;

/// Turns about an axis, more with the height.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Twist {
    /// A point of the axis; heights are measured from it.
    #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
    pub center: Vec3,
    /// Direction of the axis, of any length. z by default.
    #[schemars(with = "[f32; 3]")]
    pub axis: Vec3,
    /// Angle of what lies above `to`, right-handed about the axis. 90 by default.
    #[schemars(extend("unit" = "deg"))]
    pub degrees: f32,
    /// Height below which nothing moves. −1 by default.
    #[schemars(extend("unit" = "m"))]
    pub from: f32,
    /// Height above which everything turns by the whole angle. 1 by default.
    #[schemars(extend("unit" = "m"))]
    pub to: f32,
    /// Only what is this near to the axis turns. No limit by default. The shape must not cross it.
    #[schemars(extend("unit" = "m"))]
    pub radius: Option<f32>,
    /// Integrate the field that the source prints, tool and cylinder, in place of the exact form. Not by default.
    pub as_printed: bool,
}

impl Default for Twist {
    fn default() -> Self {
        Self {
            center: Vec3::ZERO,
            axis: Vec3::Z,
            degrees: 90.0,
            from: -1.0,
            to: 1.0,
            radius: None,
            as_printed: false,
        }
    }
}

/// A twist with its parameters checked.
#[derive(Clone, Debug, PartialEq)]
pub struct TwistMap {
    center: DVec3,
    axis: DVec3,
    radians: f64,
    from: f64,
    to: f64,
    radius: Option<f32>,
}

impl Twist {
    pub(super) fn prepare(&self) -> Result<TwistMap, Problem> {
        check_point("the centre", self.center)?;
        check_finite("the angle", self.degrees)?;
        check_finite("the start height", self.from)?;
        check_finite("the end height", self.to)?;
        if self.from >= self.to {
            return Err(Problem::EmptyTwist { from: self.from, to: self.to });
        }
        if let Some(radius) = self.radius {
            check_positive("the radius", radius)?;
        }
        Ok(TwistMap {
            center: self.center.as_dvec3(),
            axis: direction("the axis", self.axis)?.as_dvec3().normalize(),
            radians: f64::from(self.degrees).to_radians(),
            from: f64::from(self.from),
            to: f64::from(self.to),
            radius: self.radius,
        })
    }

    /// Turns the positions, each by a share that is one without a mask.
    pub(super) fn run(
        &self,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        mask: &[f32],
        run: &Run<'_>,
    ) -> Result<TwistMap, Problem> {
        let map = self.prepare()?;
        let rest = positions.to_vec();
        run.for_each(positions, |i, x| *x = map.partly(*x, mask.get(i).copied().unwrap_or(1.0)));
        map.cylinder().check(&rest, positions, triangles)?;
        Ok(map)
    }
}

impl TwistMap {
    /// Where a point goes.
    #[must_use]
    pub fn forward(&self, x: Vec3) -> Vec3 {
        self.turned(x, 1.0)
    }

    /// Where it goes if it takes part by a share only.
    pub(super) fn partly(&self, x: Vec3, share: f32) -> Vec3 {
        if share > 0.0 { self.turned(x, f64::from(share)) } else { x }
    }

    /// Where a point came from.
    #[must_use]
    pub fn backward(&self, x: Vec3) -> Vec3 {
        self.turned(x, -1.0)
    }

    /// The share of the whole angle by which a point turns: 0 below, 1 above.
    #[must_use]
    pub fn share(&self, x: Vec3) -> f64 {
        if !self.cylinder().contains(x) {
            return 0.0;
        }
        let height = self.axis.dot(x.as_dvec3() - self.center);
        rise((height - self.from) / (self.to - self.from))
    }

    fn turned(&self, x: Vec3, sign: f64) -> Vec3 {
        let share = self.share(x);
        if share <= 0.0 {
            return x;
        }
        let turn = rotation(self.axis, sign * share * self.radians);
        (self.center + turn * (x.as_dvec3() - self.center)).as_vec3()
    }

    pub(super) fn cylinder(&self) -> Cylinder {
        Cylinder { center: self.center, axis: self.axis, radius: self.radius }
    }
}

/// From 0 at 0 to 1 at 1, linear in the middle, C² everywhere.
fn rise(u: f64) -> f64 {
    let slope = 1.0 / (1.0 - EASE);
    // ω' eases in as 3t² − 2t³, t = u/EASE.
    let ease_in = |u: f64| {
        let t = u / EASE;
        slope * EASE * t * t * t * (1.0 - 0.5 * t)
    };
    if u <= 0.0 {
        0.0
    } else if u < EASE {
        ease_in(u)
    } else if u <= 1.0 - EASE {
        slope * (u - 0.5 * EASE)
    } else if u < 1.0 {
        1.0 - ease_in(1.0 - u)
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rise_is_smooth_and_symmetric() {
        let h = 1e-4;
        for k in 1..1000 {
            let u = f64::from(k) / 1000.0;
            assert!((rise(u) + rise(1.0 - u) - 1.0).abs() < 1e-12, "symmetric at {u}");
            assert!(rise(u) > rise(u - h), "rises at {u}");
            let second = |u: f64| (rise(u + h) - 2.0 * rise(u) + rise(u - h)) / (h * h);
            assert!((second(u) - second(u + h)).abs() < 0.1, "curvature jumps at {u}");
        }
    }

    #[test]
    fn half_the_angle_in_the_middle() {
        let twist =
            Twist { axis: Vec3::X, degrees: 180.0, from: -2.0, to: 2.0, ..Twist::default() };
        let map = twist.prepare().unwrap();
        let x = map.forward(Vec3::new(0.0, 1.0, 0.0));
        assert!(x.abs_diff_eq(Vec3::Z, 1e-6), "{x}");
        assert_eq!(map.forward(Vec3::new(-2.0, 1.0, 0.3)), Vec3::new(-2.0, 1.0, 0.3));
        let end = map.forward(Vec3::new(2.5, 1.0, 0.3));
        assert!(end.abs_diff_eq(Vec3::new(2.5, -1.0, -0.3), 1e-6), "{end}");
        let back = map.backward(map.forward(Vec3::new(0.7, 0.2, 0.4)));
        assert!(back.abs_diff_eq(Vec3::new(0.7, 0.2, 0.4), 1e-6), "{back}");
    }
}

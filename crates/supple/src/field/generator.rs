//! The motion inside the inner region, as a pair of scalar fields with `∇e × ∇f` the velocity.
//!
//! Every generator of the source has one form: with `ξ = x − c`, `h = a·ξ` and `ρ² = |ξ|² − h²`,
//!
//! ```text
//! e = e₁ h + e₂ h²        f = l·ξ + k ρ²
//! ```
//!
//! | motion | a | e | f |
//! |---|---|---|---|
//! | translation by `d`: (2.6), (3.2), (4.4), (4.5) | `u ⊥ d` | `h` | `w·ξ`, `u × w = d` |
//! | rotation, speed ω: (2.7), (3.3), (4.13) | axis | `½ω h` | `ρ²` |
//! | twist, rate τ (as printed) | axis | `¼τ h²` | `ρ²` |
//! | along a curve, speed s, curvature κ, Frenet frame `T N B`: (4.2), (4.3) | `B` | `h` | `s(½κρ² − N·ξ)` |
//!
//! The ½ of the rotation is missing in the printed (2.7) and (3.3), which turn twice as fast. The
//! curve form replaces (4.6), (4.7) and (4.8): it has the right speed and is regular where the curve is
//! straight, since only `κN` enters.

use glam::{DVec3, Vec3};

use super::jet::Jet;
use crate::lanes::Lanes;
use crate::lengths::Lengths as _;

/// `e` and `f` about a centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Generator {
    /// `c`: where `e` and `f` vanish.
    pub center: Vec3,
    /// `a`, a unit vector.
    pub axis: Vec3,
    /// `e₁`, `e₂`.
    pub rise: [f32; 2],
    /// `l`.
    pub linear: Vec3,
    /// `k`.
    pub radial: f32,
}

impl Generator {
    /// The translation with a velocity.
    #[must_use]
    pub fn translation(center: Vec3, velocity: Vec3) -> Self {
        let direction = velocity.normalize_or(Vec3::X);
        let axis = direction.any_orthonormal_vector();
        let linear = velocity.norm() * direction.cross(axis);
        Self { center, axis, rise: [1.0, 0.0], linear, radial: 0.0 }
    }

    /// The rotation about a unit axis, in radians per unit of time.
    #[must_use]
    pub fn rotation(center: Vec3, axis: Vec3, speed: f32) -> Self {
        Self { center, axis, rise: [0.5 * speed, 0.0], linear: Vec3::ZERO, radial: 1.0 }
    }

    /// The rotation about a unit axis whose speed is `rate` times the height above the centre.
    #[must_use]
    pub fn twist(center: Vec3, axis: Vec3, rate: f32) -> Self {
        Self { center, axis, rise: [0.0, 0.25 * rate], linear: Vec3::ZERO, radial: 1.0 }
    }

    /// The rigid motion of the Frenet frame of a curve at `center`, from the curve's first and
    /// second derivative. Where the velocity vanishes there is no motion.
    #[must_use]
    pub fn along_curve(center: Vec3, velocity: Vec3, acceleration: Vec3) -> Self {
        let speed = velocity.norm();
        let Some(tangent) = velocity.try_normalize() else {
            return Self::translation(center, Vec3::ZERO);
        };
        let aside = acceleration - tangent * tangent.dot(acceleration);
        // What rounding leaves of a parallel acceleration is no direction.
        let straight = aside.norm() <= 1e-6 * acceleration.norm();
        let bend = if straight { Vec3::ZERO } else { aside / (speed * speed) };
        let normal = bend.try_normalize().unwrap_or_else(|| tangent.any_orthonormal_vector());
        Self {
            center,
            axis: tangent.cross(normal),
            rise: [1.0, 0.0],
            linear: -speed * normal,
            radial: 0.5 * speed * bend.norm(),
        }
    }

    /// The same generator about another centre.
    #[must_use]
    pub fn moved_to(self, center: Vec3) -> Self {
        Self { center, ..self }
    }

    /// `e`, `∇e`, `f`, `∇f` at a point.
    #[inline(always)]
    pub(crate) fn eval(&self, x: Vec3) -> (f32, Vec3, f32, Vec3) {
        let xi = x - self.center;
        let h = self.axis.dot(xi);
        let out = xi - h * self.axis;
        let [e1, e2] = self.rise;
        let e = (e1 + e2 * h) * h;
        let grad_e = (e1 + 2.0 * e2 * h) * self.axis;
        let f = self.linear.dot(xi) + self.radial * out.dot(out);
        let grad_f = self.linear + 2.0 * self.radial * out;
        (e, grad_e, f, grad_f)
    }

    /// Adds the integrals of `½β²(e∇f − f∇e)` along straight ways, with β at their start, middle and end, by
    /// Simpson's rule. Along a line `e` and `f` are parabolas.
    #[inline(always)]
    pub(crate) fn add_circulation<const L: usize>(
        &self,
        from: &Lanes<L>,
        way: &Lanes<L>,
        beta: &[[f32; L]; 3],
        sums: &mut [f32; L],
    ) {
        let [e1, e2] = self.rise;
        for i in 0..L {
            let (xi, way) = (from.get(i) - self.center, way.get(i));
            let (h, rise) = (self.axis.dot(xi), self.axis.dot(way));
            let f0 = self.linear.dot(xi) + self.radial * (xi.dot(xi) - h * h);
            let f1 = self.linear.dot(way) + 2.0 * self.radial * (xi.dot(way) - h * rise);
            let f2 = self.radial * (way.dot(way) - rise * rise);
            let mut sum = 0.0;
            for (k, weight) in [1.0, 4.0, 1.0].into_iter().enumerate() {
                let t = 0.5 * k as f32;
                let h = h + t * rise;
                let (e, slope) = ((e1 + e2 * h) * h, (e1 + 2.0 * e2 * h) * rise);
                let (f, df) = (f0 + t * (f1 + t * f2), f1 + 2.0 * t * f2);
                sum += weight * beta[k][i] * beta[k][i] * (e * df - f * slope);
            }
            sums[i] += sum / 12.0;
        }
    }

    /// `e` and `f` with their derivatives.
    #[must_use]
    pub fn jets(&self, x: DVec3) -> [Jet; 2] {
        let xi = x - self.center.as_dvec3();
        let axis = self.axis.as_dvec3();
        let linear = self.linear.as_dvec3();
        let [e1, e2] = self.rise.map(f64::from);
        let h = Jet::linear(axis.dot(xi), axis);
        let out = Jet::length_squared(xi) - h * h;
        let f = Jet::linear(linear.dot(xi), linear) + f64::from(self.radial) * out;
        [e1 * h + e2 * (h * h), f]
    }

    /// Bounds of `|∇e×∇f|`, its gradient, `|e∇f − f∇e|` and its gradient within a distance of the
    /// centre.
    pub(crate) fn bounds(&self, distance: f32) -> GeneratorBounds {
        let [e1, e2] = self.rise.map(f32::abs);
        let (linear, radial) = (self.linear.norm(), self.radial.abs());
        let e = (e1 + e2 * distance) * distance;
        let grad_e = e1 + 2.0 * e2 * distance;
        let f = (linear + radial * distance) * distance;
        let grad_f = linear + 2.0 * radial * distance;
        let velocity = grad_e * grad_f;
        let moment =
            if e2 > 0.0 || radial > 0.0 { e * grad_f + f * grad_e } else { velocity * distance };
        GeneratorBounds {
            velocity,
            velocity_gradient: 2.0 * e2 * grad_f + 2.0 * grad_e * radial,
            moment,
            moment_gradient: 2.0 * e * radial + 2.0 * f * e2 + velocity,
        }
    }
}

/// See [`Generator::bounds`].
pub(crate) struct GeneratorBounds {
    pub(crate) velocity: f32,
    pub(crate) velocity_gradient: f32,
    pub(crate) moment: f32,
    pub(crate) moment_gradient: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn velocity(g: &Generator, x: Vec3) -> Vec3 {
        let (_, grad_e, _, grad_f) = g.eval(x);
        grad_e.cross(grad_f)
    }

    #[test]
    fn translation_is_the_same_everywhere() {
        let d = Vec3::new(0.3, -1.2, 0.7);
        let g = Generator::translation(Vec3::ONE, d);
        for x in [Vec3::ZERO, Vec3::new(3.0, 1.0, -2.0)] {
            assert!(velocity(&g, x).abs_diff_eq(d, 1e-6), "{}", velocity(&g, x));
        }
    }

    #[test]
    fn rotation_has_the_given_speed() {
        let axis = Vec3::new(1.0, 2.0, -2.0) / 3.0;
        let g = Generator::rotation(Vec3::ONE, axis, 1.7);
        let x = Vec3::new(0.4, -0.3, 2.0);
        let expected = 1.7 * axis.cross(x - Vec3::ONE);
        assert!(velocity(&g, x).abs_diff_eq(expected, 1e-5), "{}", velocity(&g, x));
    }

    #[test]
    fn twist_grows_with_the_height() {
        let g = Generator::twist(Vec3::ZERO, Vec3::Z, 0.8);
        let x = Vec3::new(1.0, 0.5, 2.0);
        let expected = 0.8 * 2.0 * Vec3::Z.cross(x);
        assert!(velocity(&g, x).abs_diff_eq(expected, 1e-5), "{}", velocity(&g, x));
    }

    #[test]
    fn the_curve_form_follows_the_curve_and_turns_with_it() {
        let c = Vec3::new(0.5, 0.2, -0.1);
        let (dc, ddc) = (Vec3::new(1.0, 0.4, -0.3), Vec3::new(-0.2, 0.9, 0.5));
        let g = Generator::along_curve(c, dc, ddc);
        assert!(velocity(&g, c).abs_diff_eq(dc, 1e-6), "{}", velocity(&g, c));
        let omega = dc.cross(ddc) / dc.length_squared();
        let x = Vec3::new(1.5, -0.7, 0.8);
        let expected = dc + omega.cross(x - c);
        assert!(velocity(&g, x).abs_diff_eq(expected, 1e-5), "{} {expected}", velocity(&g, x));
        let straight = Generator::along_curve(c, dc, 2.0 * dc);
        assert!(velocity(&straight, x).abs_diff_eq(dc, 1e-5), "straight");
    }
}

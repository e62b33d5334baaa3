//! A jelly: a rounded pudding with flutes around it and knobs on top.

use glam::Vec3;

use super::solid::{Limb, Rgb, Solid};

const RASPBERRY: Rgb = [0.62, 0.04, 0.10];
const KNOB: Rgb = [0.85, 0.16, 0.16];

pub(super) fn solid() -> Solid {
    let mut body = Limb::new(0.0, 0.06, RASPBERRY)
        .ball([0.0, 0.10, 0.0], [0.72, 0.10, 0.72])
        .blend(0.12)
        .cone([0.0, 0.50, 0.0], 0.42, [0.0, 0.60, 0.0], 0.36)
        .blend(0.12);
    for k in 0..12 {
        let angle = std::f64::consts::TAU * (f64::from(k) + 0.5) / 12.0;
        let (s, c) = (libm::sin(angle), libm::cos(angle));
        body = body.cone([0.50 * s, 0.22, 0.50 * c], 0.11, [0.32 * s, 0.66, 0.32 * c], 0.09);
    }
    let mut limbs = vec![body];
    limbs.push(knob(0.0, 0.0, 0.88, 1.10));
    for k in 0..6 {
        let angle = std::f64::consts::TAU * f64::from(k) / 6.0;
        limbs.push(knob(0.27 * libm::sin(angle), 0.27 * libm::cos(angle), 0.76, 0.95));
    }
    Solid::new(0.018, limbs)
}

fn knob(x: f64, z: f64, foot: f64, top: f64) -> Limb {
    Limb::new(0.05, 0.04, KNOB)
        .cone([x, foot - 0.1, z], 0.055, [x, top, z], 0.045)
        .ball([1.12 * x, top, 1.12 * z], [0.085, 0.075, 0.085])
}

/// How soft the jelly is: not at all where it stands, most at the knobs.
pub(super) fn softness(p: Vec3) -> f32 {
    (p.y / 0.9).clamp(0.0, 1.0)
}

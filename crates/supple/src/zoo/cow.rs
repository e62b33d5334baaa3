//! A cow: barrel, four legs with hooves, udder, horns, ears and a tail with a tuft.

use glam::Vec3;

use super::solid::{Limb, Rgb, Solid, turn_y, turn_z};

const WHITE: Rgb = [0.86, 0.83, 0.78];
const BLACK: Rgb = [0.035, 0.03, 0.03];
const PINK: Rgb = [0.80, 0.42, 0.38];
const HORN: Rgb = [0.62, 0.52, 0.36];
const HOOF: Rgb = [0.10, 0.08, 0.07];

pub(super) fn solid() -> Solid {
    let (fore, hind, ear, horn) = (fore_leg(), hind_leg(), ear(), horn());
    let mirrored = [fore.mirrored(), hind.mirrored(), ear.mirrored(), horn.mirrored()];
    let mut limbs = vec![trunk(), head(), udder(), fore, hind, ear, horn, tail()];
    limbs.extend(mirrored);
    patches(Solid::new(0.02, limbs))
}

fn trunk() -> Limb {
    Limb::new(0.0, 0.22, WHITE)
        .ball([0.0, 0.98, -0.02], [0.35, 0.38, 0.70])
        .ball([0.0, 1.02, 0.47], [0.27, 0.37, 0.34])
        .ball([0.0, 1.06, -0.58], [0.29, 0.33, 0.34])
        .ball([0.0, 0.82, -0.02], [0.29, 0.25, 0.55])
        .ball([0.0, 0.80, 0.60], [0.13, 0.20, 0.18])
        .blend(0.12)
        .cone([0.0, 1.325, -0.72], 0.07, [0.0, 1.36, 0.42], 0.08)
        .blend(0.10)
        .cone([0.17, 1.29, -0.55], 0.06, [0.13, 1.22, -0.84], 0.06)
        .and_mirrored(1)
        .blend(0.16)
        .cone([0.0, 1.15, 0.62], 0.25, [0.0, 1.36, 1.02], 0.145)
        .blend(0.10)
        .cone([0.0, 0.92, 0.70], 0.09, [0.0, 1.18, 1.02], 0.05)
}

fn head() -> Limb {
    Limb::new(0.10, 0.06, WHITE)
        .cone([0.0, 1.46, 1.10], 0.125, [0.0, 1.25, 1.40], 0.080)
        .ball([0.0, 1.53, 1.10], [0.10, 0.06, 0.08])
        .cone([0.0, 1.34, 1.10], 0.085, [0.0, 1.185, 1.36], 0.052)
        .color(PINK)
        .ball([0.0, 1.205, 1.435], [0.105, 0.078, 0.075])
        .color(WHITE)
        .cone([0.075, 1.475, 1.17], 0.045, [0.085, 1.44, 1.215], 0.03)
        .and_mirrored(1)
        .blend(0.02)
        .carve([0.045, 1.225, 1.515], [0.017, 0.015, 0.03])
        .and_mirrored(1)
        .blend(0.008)
        .color(BLACK)
        .ball([0.112, 1.435, 1.195], [0.022, 0.027, 0.027])
        .and_mirrored(1)
}

fn ear() -> Limb {
    let local = turn_y(-18.0) * turn_z(14.0);
    Limb::new(0.03, 0.03, BLACK).turned([0.235, 1.445, 1.045], [0.125, 0.058, 0.024], local).cone(
        [0.09, 1.48, 1.07],
        0.028,
        [0.17, 1.46, 1.06],
        0.026,
    )
}

fn horn() -> Limb {
    Limb::new(0.025, 0.02, HORN).tube(&[
        ([0.065, 1.55, 1.08], 0.036),
        ([0.150, 1.595, 1.09], 0.030),
        ([0.190, 1.665, 1.12], 0.022),
        ([0.180, 1.735, 1.15], 0.013),
    ])
}

fn fore_leg() -> Limb {
    Limb::new(0.14, 0.08, WHITE)
        .cone([0.185, 1.05, 0.48], 0.15, [0.20, 0.78, 0.46], 0.105)
        .cone([0.20, 0.78, 0.46], 0.105, [0.19, 0.47, 0.50], 0.062)
        .blend(0.03)
        .ball([0.19, 0.46, 0.512], [0.066, 0.075, 0.066])
        .cone([0.19, 0.44, 0.50], 0.054, [0.19, 0.16, 0.50], 0.045)
        .ball([0.19, 0.145, 0.50], [0.053, 0.05, 0.055])
        .blend(0.02)
        .color(HOOF)
        .block([0.19, 0.05, 0.53], [0.062, 0.05, 0.078], 0.036)
}

fn hind_leg() -> Limb {
    Limb::new(0.14, 0.10, WHITE)
        .cone([0.175, 1.08, -0.60], 0.20, [0.205, 0.78, -0.50], 0.135)
        .cone([0.205, 0.78, -0.52], 0.125, [0.20, 0.52, -0.74], 0.060)
        .blend(0.03)
        .ball([0.20, 0.50, -0.762], [0.052, 0.07, 0.060])
        .cone([0.20, 0.48, -0.75], 0.052, [0.20, 0.16, -0.68], 0.045)
        .ball([0.20, 0.145, -0.67], [0.053, 0.05, 0.055])
        .blend(0.02)
        .color(HOOF)
        .block([0.20, 0.05, -0.64], [0.062, 0.05, 0.078], 0.036)
}

fn udder() -> Limb {
    Limb::new(0.05, 0.03, PINK)
        .ball([0.0, 0.60, -0.34], [0.155, 0.14, 0.19])
        .cone([0.07, 0.52, -0.27], 0.030, [0.078, 0.42, -0.265], 0.020)
        .and_mirrored(1)
        .cone([0.07, 0.52, -0.42], 0.030, [0.078, 0.42, -0.425], 0.020)
        .and_mirrored(1)
}

fn tail() -> Limb {
    Limb::new(0.05, 0.03, WHITE)
        .tube(&[
            ([0.0, 1.30, -0.86], 0.055),
            ([0.0, 1.24, -1.00], 0.038),
            ([0.0, 1.00, -1.055], 0.028),
            ([0.0, 0.66, -1.05], 0.024),
        ])
        .blend(0.04)
        .color(BLACK)
        .ball([0.0, 0.52, -1.05], [0.048, 0.15, 0.048])
}

/// Black patches on a white coat.
fn patches(solid: Solid) -> Solid {
    solid
        .spot([0.36, 1.15, 0.38], [0.24, 0.26, 0.24], BLACK)
        .spot([0.30, 0.98, -0.32], [0.20, 0.24, 0.27], BLACK)
        .spot([-0.34, 1.10, 0.10], [0.22, 0.28, 0.34], BLACK)
        .spot([-0.26, 1.12, -0.70], [0.20, 0.30, 0.22], BLACK)
        .spot([0.05, 1.42, -0.30], [0.22, 0.14, 0.20], BLACK)
        .spot([0.18, 1.28, 0.80], [0.18, 0.14, 0.16], BLACK)
        .spot([-0.2, 1.12, 0.72], [0.13, 0.14, 0.12], BLACK)
        .spots([0.105, 1.45, 1.12], [0.075, 0.125, 0.14], BLACK)
        .spots([0.036, 1.225, 1.50], [0.02, 0.018, 0.03], BLACK)
}

/// How soft the cow is: the udder and the belly most, the legs and the head least.
pub(super) fn softness(p: Vec3) -> f32 {
    let near = |center: Vec3, radii: Vec3| {
        let r2 = ((p - center) / radii).length_squared();
        (1.0 - r2).max(0.0)
    };
    let udder = near(Vec3::new(0.0, 0.58, -0.34), Vec3::new(0.26, 0.28, 0.32));
    let belly = near(Vec3::new(0.0, 0.72, 0.0), Vec3::new(0.50, 0.40, 0.75));
    (0.1 + 0.9 * udder.max(0.8 * belly)).min(1.0)
}

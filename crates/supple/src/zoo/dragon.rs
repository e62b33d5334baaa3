//! A dragon on four legs, its mouth open: jaws, horns, folded wings and a tail with a blade.

use super::solid::{Limb, Rgb, Solid, turn_y, turn_z};

const GREEN: Rgb = [0.08, 0.24, 0.12];
const BELLY: Rgb = [0.55, 0.48, 0.22];
const HORN: Rgb = [0.66, 0.58, 0.40];
const WING: Rgb = [0.34, 0.10, 0.07];
const DARK: Rgb = [0.03, 0.02, 0.02];
const FLAME: Rgb = [0.80, 0.46, 0.05];

pub(super) fn solid() -> Solid {
    let (fore, hind, horn, wing) = (fore_leg(), hind_leg(), horn(), wing());
    let mirrored = [fore.mirrored(), hind.mirrored(), horn.mirrored(), wing.mirrored()];
    let mut limbs = vec![trunk(), head(), lower_jaw(), fore, hind, horn, wing, tail()];
    limbs.extend(mirrored);
    Solid::new(0.02, limbs)
}

fn trunk() -> Limb {
    Limb::new(0.0, 0.16, GREEN)
        .ball([0.0, 0.74, 0.0], [0.28, 0.27, 0.56])
        .ball([0.0, 0.80, 0.42], [0.22, 0.25, 0.27])
        .ball([0.0, 0.76, -0.45], [0.22, 0.23, 0.28])
        .tube(&[
            ([0.0, 0.88, 0.50], 0.18),
            ([0.0, 1.12, 0.70], 0.14),
            ([0.0, 1.42, 0.76], 0.12),
            ([0.0, 1.66, 0.90], 0.11),
        ])
        .blend(0.08)
        .color(BELLY)
        .ball([0.0, 0.60, 0.02], [0.21, 0.16, 0.48])
}

/// Skull and upper jaw.
fn head() -> Limb {
    Limb::new(0.08, 0.05, GREEN)
        .ball([0.0, 1.75, 0.98], [0.135, 0.115, 0.16])
        .cone([0.0, 1.76, 1.06], 0.095, [0.0, 1.72, 1.40], 0.06)
        .ball([0.0, 1.755, 1.44], [0.075, 0.045, 0.07])
        .blend(0.02)
        .cone([0.085, 1.82, 1.08], 0.04, [0.06, 1.81, 1.17], 0.025)
        .and_mirrored(1)
        .blend(0.008)
        .color(FLAME)
        .ball([0.112, 1.795, 1.10], [0.022, 0.024, 0.03])
        .and_mirrored(1)
        .blend(0.015)
        .color(DARK)
        .carve([0.032, 1.785, 1.495], [0.012, 0.012, 0.022])
        .and_mirrored(1)
}

fn lower_jaw() -> Limb {
    Limb::new(0.05, 0.04, BELLY)
        .cone([0.0, 1.66, 1.02], 0.085, [0.0, 1.50, 1.30], 0.05)
        .ball([0.0, 1.49, 1.33], [0.06, 0.036, 0.06])
}

fn horn() -> Limb {
    Limb::new(0.025, 0.02, HORN).tube(&[
        ([0.075, 1.83, 0.92], 0.036),
        ([0.105, 1.93, 0.80], 0.028),
        ([0.120, 1.98, 0.66], 0.016),
    ])
}

/// Folded: a skin beside the back, and a claw at its front.
fn wing() -> Limb {
    let local = turn_y(6.0) * turn_z(32.0);
    Limb::new(0.08, 0.04, WING).turned([0.29, 1.02, -0.14], [0.06, 0.27, 0.44], local).cone(
        [0.31, 1.06, 0.02],
        0.055,
        [0.43, 1.30, 0.26],
        0.025,
    )
}

fn fore_leg() -> Limb {
    Limb::new(0.10, 0.06, GREEN)
        .cone([0.17, 0.78, 0.40], 0.13, [0.24, 0.50, 0.36], 0.09)
        .cone([0.24, 0.48, 0.36], 0.085, [0.24, 0.12, 0.46], 0.055)
        .blend(0.03)
        .color(BELLY)
        .block([0.24, 0.05, 0.51], [0.08, 0.05, 0.11], 0.045)
}

fn hind_leg() -> Limb {
    Limb::new(0.12, 0.08, GREEN)
        .cone([0.17, 0.74, -0.46], 0.17, [0.25, 0.46, -0.34], 0.11)
        .cone([0.25, 0.44, -0.36], 0.095, [0.25, 0.22, -0.56], 0.055)
        .cone([0.25, 0.22, -0.56], 0.055, [0.25, 0.08, -0.48], 0.05)
        .blend(0.03)
        .color(BELLY)
        .block([0.25, 0.05, -0.42], [0.08, 0.05, 0.11], 0.045)
}

fn tail() -> Limb {
    Limb::new(0.12, 0.04, GREEN)
        .tube(&[
            ([0.0, 0.76, -0.58], 0.16),
            ([0.0, 0.60, -0.86], 0.11),
            ([0.0, 0.42, -1.14], 0.08),
            ([0.0, 0.36, -1.46], 0.055),
            ([0.0, 0.48, -1.76], 0.038),
        ])
        .color(WING)
        .ball([0.0, 0.56, -1.88], [0.035, 0.085, 0.14])
}

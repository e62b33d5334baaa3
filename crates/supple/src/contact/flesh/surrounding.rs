//! Colliders that surround a body, as a ring does.
//!
//! A push makes room on all sides, which in a ring is where the other parts push from: they would push
//! back, harder each time, until the body folds. What is in a ring makes room along its axis.

use std::collections::BTreeMap;

use glam::{Mat3, Vec3};

use super::{Obstacle, Origin};

/// A collider surrounds a body if the cosine between two ways out of its parts is less.
const AGAINST: f32 = -0.3;

/// Squarings that leave the way through of a matrix: its smallest eigenvalue, if it is smaller than the
/// others by a hundredth, stands out by `1.01^-512`.
const SQUARINGS: usize = 9;

/// A collider that surrounds a body, and the way through it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Surrounding {
    /// Which collider.
    pub(super) collider: u32,
    /// A unit vector.
    pub(super) through: Vec3,
}

/// The way out of one part, and where the part is.
struct PartExit {
    out: Vec3,
    at: Vec3,
}

/// The colliders that surround a body, by the obstacles near its segments.
pub(super) fn surrounding(near: &[Vec<Obstacle<'_>>]) -> Vec<Surrounding> {
    let mut all: BTreeMap<u32, Vec<PartExit>> = BTreeMap::new();
    for obstacle in near.iter().flatten().filter(|o| !o.solitary) {
        let (Origin::Part(collider, _), Some(out)) = (obstacle.origin, obstacle.way_out) else {
            continue;
        };
        let Some(around) = obstacle.solid.bounds() else { continue };
        let at = obstacle.place.to_world(around.center());
        all.entry(collider).or_default().push(PartExit { out, at });
    }
    let surround =
        |ways: &[PartExit]| ways.iter().any(|a| ways.iter().any(|b| a.out.dot(b.out) < AGAINST));
    all.into_iter()
        .filter(|(_, ways)| surround(ways))
        .map(|(collider, ways)| Surrounding { collider, through: through(&ways) })
        .collect()
}

/// The direction across the ways out and across the row of parts, as far as there is one: that of the
/// smallest eigenvalue of `Σ n nᵀ/count + Σ y yᵀ/Σ y²`, `y` from the middle of the parts.
fn through(ways: &[PartExit]) -> Vec3 {
    let count = ways.len() as f32;
    let middle = ways.iter().map(|w| w.at).sum::<Vec3>() / count;
    let spread: f32 = ways.iter().map(|w| w.at.distance_squared(middle)).sum();
    let outer = |v: Vec3| Mat3::from_cols(v.x * v, v.y * v, v.z * v);
    let taken: Mat3 = ways.iter().fold(Mat3::ZERO, |sum, w| {
        sum + outer(w.out) * (1.0 / count)
            + outer(w.at - middle) * (1.0 / spread.max(f32::MIN_POSITIVE))
    });
    let trace = |m: &Mat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
    let mut free = Mat3::from_diagonal(Vec3::splat(trace(&taken))) - taken;
    for _ in 0..SQUARINGS {
        free = free * free;
        free *= 1.0 / trace(&free);
    }
    let longer = |a: Vec3, b: Vec3| if b.length_squared() > a.length_squared() { b } else { a };
    longer(longer(free.x_axis, free.y_axis), free.z_axis).normalize_or(Vec3::Y)
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::contact::collider::{Collider, ColliderShape, Isometry};

    #[test]
    fn the_way_through_a_ring_is_its_axis() {
        let shape = ColliderShape::Ring { radius: 1.0, thickness: 0.3 };
        let ring = Collider::new("ring", &shape, None, Vec3::ONE).unwrap();
        let place = Isometry { rotation: Quat::from_rotation_z(0.6), translation: Vec3::X };
        let axis = place.rotation * Vec3::Y;
        let obstacles = |tilt: f32, surrounds: bool| {
            let one = |(part, solid)| {
                let inward = -solid_center(solid).normalize_or_zero();
                let inward = if surrounds { inward } else { Vec3::X };
                Obstacle {
                    origin: Origin::Part(0, part),
                    solid,
                    place,
                    size: 2.6,
                    way_out: Some(place.rotation * (inward - tilt * Vec3::Y).normalize_or_zero()),
                    solitary: false,
                }
            };
            vec![(0..).zip(&ring.parts).map(one).collect()]
        };
        for tilt in [0.0, 0.3, 0.6] {
            let found = surrounding(&obstacles(tilt, true));
            assert_eq!(found.len(), 1);
            let across = found[0].through.cross(axis).length();
            assert!(across < 1e-3, "{across} at {tilt}");
        }
        assert!(surrounding(&obstacles(1.0, true)).is_empty(), "the body is still below it");
        assert!(surrounding(&obstacles(0.0, false)).is_empty(), "all on one side");
    }

    fn solid_center(solid: &crate::contact::collider::Solid) -> Vec3 {
        solid.bounds().unwrap().center()
    }
}

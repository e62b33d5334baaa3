//! Which mode suits a target.
//!
//! What turns on its way is shrunk by straight lines, and springs keep it. What hardly turns but stretches, as most of a face
//! does, springs bulge: on faces interpolated rotations keep lengths better than straight lines, stay as near to half
//! of the motion as they do, and cost one solve (docs/blendshape.md has the figures).

use glam::Vec3;

use super::Mode;
use super::rigid::Rigid;

/// Vertices that move by more than this part of the longest way are what a target is about.
const MOST: f32 = 0.6;

/// Turns beyond which springs are worth their time, in radians: 30°. Jaws and smiles turn by 5 to 22°, limbs bent by 110° by 45° and more.
const TURNS: f64 = std::f64::consts::PI / 6.0;

/// The mode for a target that moves vertices of the base by these ways.
#[must_use]
pub fn suggested(base: &[Vec3], ways: &[Vec3]) -> Mode {
    if turn(base, ways) > TURNS { Mode::Springs } else { Mode::Rotations }
}

/// The angle by which what moves most turns, in radians.
fn turn(base: &[Vec3], ways: &[Vec3]) -> f64 {
    let longest = ways.iter().map(|w| w.length_squared()).fold(0.0, f32::max);
    let most = base.iter().zip(ways).filter(|(_, w)| w.length_squared() > MOST * MOST * longest);
    let pairs = most.map(|(x, w)| (x.as_dvec3(), (*x + *w).as_dvec3()));
    Rigid::fit(pairs).turn.angle_between(glam::DQuat::IDENTITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Run, zoo};

    #[test]
    fn limbs_are_springs_and_faces_are_not() {
        for (name, target, wanted) in [
            ("morph-face", "jawOpen", Mode::Rotations),
            ("morph-face", "smile", Mode::Rotations),
            ("morph-cow", "bend", Mode::Springs),
            ("morph-hand", "bend", Mode::Springs),
            ("morph-bar", "curl", Mode::Springs),
        ] {
            let size = zoo::Size { triangles: Some(2_000) };
            let mesh = zoo::build(name, &size, &Run::default()).unwrap().meshes.swap_remove(0);
            let morph = mesh.morphs.iter().find(|m| m.name == target).unwrap();
            let degrees = turn(&mesh.positions, &morph.positions).to_degrees();
            let found = suggested(&mesh.positions, &morph.positions);
            assert_eq!(found, wanted, "{name} {target}: {degrees:.0}°");
        }
        assert_eq!(suggested(&[], &[]), Mode::Rotations);
        assert_eq!(suggested(&[Vec3::X], &[Vec3::ZERO]), Mode::Rotations);
    }
}

//! Which mode suits a target.
//!
//! What turns on its way is shrunk by straight lines, and springs keep it. What turns little and stretches, as most of a face
//! does, springs bulge: on faces interpolated rotations keep lengths better than straight lines, stay as near to half
//! of the motion as they do, and cost one solve. What hardly turns at all goes straight (docs/blendshape.md has the
//! figures). So does what turns over as a whole and yet is no turn, as far as springs can tell: wings that go from below
//! a bird to above it are nearer to a bird on its back, and half way it would lie on its side.

use glam::{DMat3, DVec3, Vec3};

use super::Mode;
use super::rigid::Rigid;

/// Turns beyond which springs are worth their time, in radians: 35°. Jaws, smiles and pursed lips turn by 10 to 29°, limbs bent by
/// 110° in all by 41° and more.
const TURNS: f64 = 35.0 * std::f64::consts::PI / 180.0;

/// Turns below which straight lines serve as well, in radians: 10°. They shrink what turns by less by under 0.4 % half way, and put
/// nothing through a neighbour that both shapes keep clear of it.
const HARDLY_TURNS: f64 = 10.0 * std::f64::consts::PI / 180.0;

/// Turns of the whole beyond which it turns over, in radians: 90°.
const TURNS_OVER: f64 = 0.5 * std::f64::consts::PI;

/// Ways below this share of the longest are none.
const STAYS: f32 = 1e-6;

/// The share of its size, squared, that a target may be off a shape that is only turned.
const IS_TURNED: f64 = 0.01;

/// The mode for a target that moves the vertices of a surface by these ways; none where straight lines serve as well.
#[must_use]
pub fn suggested(triangles: &[[u32; 3]], base: &[Vec3], ways: &[Vec3]) -> Option<Mode> {
    if turns_over(base, ways) {
        return None;
    }
    match turn(triangles, base, ways) {
        turn if turn > TURNS => Some(Mode::Springs),
        turn if turn > HARDLY_TURNS => Some(Mode::Rotations),
        _ => None,
    }
}

/// Whether a shape of which nothing stays where it is comes nearest to a target turned over, and is not near it.
fn turns_over(base: &[Vec3], ways: &[Vec3]) -> bool {
    let longest = ways.iter().map(|way| way.length()).fold(0.0, f32::max);
    if ways.iter().any(|way| way.length() <= STAYS * longest) {
        return false;
    }
    let pairs = || base.iter().zip(ways).map(|(x, way)| (x.as_dvec3(), (*x + *way).as_dvec3()));
    let fit = Rigid::fit(pairs());
    let off: f64 = pairs().map(|(a, b)| (fit.apply(a) - b).length_squared()).sum();
    let size: f64 = pairs().map(|(_, b): (DVec3, DVec3)| (b - fit.to).length_squared()).sum();
    let angle = 2.0 * libm::acos(fit.turn.w.abs().min(1.0));
    angle > TURNS_OVER && off > IS_TURNED * size
}

/// The mean angle by which triangles turn, each as important as it is large and far on its way, in radians.
fn turn(triangles: &[[u32; 3]], base: &[Vec3], ways: &[Vec3]) -> f64 {
    let (mut sum, mut all) = (0.0, 0.0);
    for corners in triangles {
        let at = corners.map(|v| base.get(v as usize).zip(ways.get(v as usize)));
        let [Some(a), Some(b), Some(c)] = at else { continue };
        let frames = [[a.0, b.0, c.0].map(|x| *x), [a, b, c].map(|(x, way)| *x + *way)].map(frame);
        let [Some((before, area)), Some((after, _))] = frames else { continue };
        let weight = area * [a, b, c].map(|(_, way)| f64::from(way.length())).iter().sum::<f64>();
        let turned = after * before.transpose();
        let cosine = 0.5 * (turned.x_axis.x + turned.y_axis.y + turned.z_axis.z - 1.0);
        sum += weight * libm::acos(cosine.clamp(-1.0, 1.0));
        all += weight;
    }
    if all > 0.0 { sum / all } else { 0.0 }
}

/// A triangle's first edge, normal and the third direction, and twice its area; `None` for one without.
fn frame(corners: [Vec3; 3]) -> Option<(DMat3, f64)> {
    let [a, b, c] = corners.map(|x| x.as_dvec3());
    let across = (b - a).cross(c - a);
    let (edge, normal) = ((b - a).try_normalize()?, across.try_normalize()?);
    Some((DMat3::from_cols(edge, normal, edge.cross(normal)), across.length_squared().sqrt()))
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::{Run, zoo};

    #[test]
    fn limbs_are_springs_and_faces_are_not() {
        for (name, target, wanted) in [
            ("morph-face", "jawOpen", Some(Mode::Rotations)),
            ("morph-face", "smile", Some(Mode::Rotations)),
            ("morph-cow", "bend", Some(Mode::Springs)),
            ("morph-hand", "bend", Some(Mode::Springs)),
            ("morph-bar", "curl", Some(Mode::Springs)),
        ] {
            let size = zoo::Size { triangles: Some(2_000) };
            let mesh = zoo::build(name, &size, &Run::default()).unwrap().meshes.swap_remove(0);
            let morph = mesh.morphs.iter().find(|m| m.name == target).unwrap();
            let degrees = turn(&mesh.triangles, &mesh.positions, &morph.positions).to_degrees();
            let found = suggested(&mesh.triangles, &mesh.positions, &morph.positions);
            assert_eq!(found, wanted, "{name} {target}: {degrees:.0}°");
        }
    }

    /// Two wings on a back, from below it to above it.
    #[test]
    fn wings_that_flap_are_no_bird_that_rolls() {
        let at = |y: f32| [Vec3::ZERO, Vec3::Z, Vec3::new(-0.3, y, 0.5), Vec3::new(0.3, y, 0.5)];
        let (base, target, triangles) = (at(-2.0), at(2.0), [[0, 1, 2], [0, 3, 1]]);
        let ways: Vec<Vec3> = base.iter().zip(target).map(|(a, b)| b - *a).collect();
        assert_eq!(suggested(&triangles, &base, &ways), Some(Mode::Springs), "a back that is held");
        let free: Vec<Vec3> = ways.iter().map(|way| *way + 0.1 * Vec3::X).collect();
        assert_eq!(suggested(&triangles, &base, &free), None);
        let half = Quat::from_rotation_z(3.0);
        let rolled = base.map(|x| half * x - x + Vec3::X);
        assert_eq!(suggested(&triangles, &base, &rolled), Some(Mode::Springs), "a bird that rolls");
    }

    #[test]
    fn what_hardly_turns_goes_straight() {
        let triangle = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let mode = |degrees: f32| {
            let turn = Quat::from_rotation_y(degrees.to_radians());
            suggested(&[[0, 1, 2]], &triangle, &triangle.map(|x| turn * x - x))
        };
        assert_eq!([5.0, 15.0, 60.0].map(mode), [None, Some(Mode::Rotations), Some(Mode::Springs)]);
        assert_eq!(suggested(&[[0, 1, 2]], &triangle, &triangle), None);
        assert_eq!(suggested(&[], &[], &[]), None);
        assert_eq!(suggested(&[[0, 1, 2]], &[Vec3::X; 3], &[Vec3::ZERO; 3]), None);
    }
}

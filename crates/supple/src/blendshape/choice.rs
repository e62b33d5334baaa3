//! Which mode suits a target.
//!
//! What turns on its way is shrunk by straight lines, and springs keep it. What turns little and stretches, as most of a face
//! does, springs bulge: on faces interpolated rotations keep lengths better than straight lines, stay as near to half
//! of the motion as they do, and cost one solve. What hardly turns at all goes straight (docs/blendshape.md has the
//! figures).

use glam::{DMat3, Vec3};

use super::Mode;

/// Turns beyond which springs are worth their time, in radians: 35°. Jaws, smiles and pursed lips turn by 10 to 29°, limbs bent by
/// 110° in all by 41° and more.
const TURNS: f64 = 35.0 * std::f64::consts::PI / 180.0;

/// Turns below which straight lines serve as well, in radians: 10°. They shrink what turns by less by under 0.4 % half way, and put
/// nothing through a neighbour that both shapes keep clear of it.
const HARDLY_TURNS: f64 = 10.0 * std::f64::consts::PI / 180.0;

/// The mode for a target that moves the vertices of a surface by these ways; none where straight lines serve as well.
#[must_use]
pub fn suggested(triangles: &[[u32; 3]], base: &[Vec3], ways: &[Vec3]) -> Option<Mode> {
    match turn(triangles, base, ways) {
        turn if turn > TURNS => Some(Mode::Springs),
        turn if turn > HARDLY_TURNS => Some(Mode::Rotations),
        _ => None,
    }
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

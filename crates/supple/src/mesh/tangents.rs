//! Tangents of a surface whose vertices were moved.
//!
//! # Method
//!
//! In every triangle around its vertex a tangent is a sum of two of the triangle's sides, `t = a u + b v`, or as
//! near to one as there is. Where the sides go, the tangent goes: `a u′ + b v′`. That is exact for whatever maps a
//! triangle to a triangle. A vertex has the mean of its triangles, weighted by their areas at rest, without its part
//! along the normal, and of length one. The fourth component, on which side of normal and tangent the third axis
//! lies, stays.
//!
//! # Where we differ from the source
//!
//! The source carries normals and tangents along by the Jacobian of its field. So does
//! [`pathline::transport_tangents`](crate::pathline::transport_tangents), but only what a field moves can be
//! carried that way: here it does not matter what moved the vertices, be it a skeleton, springs, contacts or a
//! correction of the volume.
//!
//! # Limits
//!
//! Where all triangles around a vertex have no area its tangent stays. One that is not finite counts as along x.
//!
//! # References
//!
//! - W. von Funck. Shape Deformations Based on Vector Fields. Dissertation, Universität des Saarlandes,
//!   Saarbrücken, 2008, chapter 2.

use glam::{DVec3, Vec3, Vec4};

use super::attribute::TANGENT;
use super::{TriMesh, Values};

/// Tangents, tied to the triangles of a surface at rest.
#[derive(Clone, Debug)]
pub struct Tangents {
    given: Vec<Vec4>,
    corners: Vec<Corner>,
}

/// A tangent in one of the triangles around it.
#[derive(Clone, Copy, Debug)]
struct Corner {
    tangent: u32,
    triangle: [u32; 3],
    /// How much of the sides from the first corner to the others, times the triangle's area.
    shares: [f64; 2],
}

impl Tangents {
    /// Ties tangents to a surface. `corners` are the triangles in terms of tangents: the triangles themselves if
    /// there is one a vertex.
    ///
    /// # Panics
    ///
    /// If there are not as many corners as triangles, or a triangle names a vertex or a tangent that does not exist.
    #[must_use]
    pub fn new(
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        corners: &[[u32; 3]],
        tangents: Vec<Vec4>,
    ) -> Self {
        assert_eq!(triangles.len(), corners.len(), "corners for every triangle");
        let finite = |t: Vec4| if t.is_finite() { t } else { Vec4::new(1.0, 0.0, 0.0, 1.0) };
        let tangents: Vec<Vec4> = tangents.into_iter().map(finite).collect();
        let mut tied = Vec::with_capacity(3 * triangles.len());
        for (&triangle, numbers) in triangles.iter().zip(corners) {
            let [u, v] = sides(positions, triangle);
            let (uu, uv, vv) = (u.dot(u), u.dot(v), v.dot(v));
            let squared = uu * vv - uv * uv;
            let inverse = if squared > 0.0 { squared.sqrt().recip() } else { 0.0 };
            for &tangent in numbers {
                let t = tangents[tangent as usize].truncate().as_dvec3();
                let (tu, tv) = (t.dot(u), t.dot(v));
                let shares = [(tu * vv - tv * uv) * inverse, (tv * uu - tu * uv) * inverse];
                tied.push(Corner { tangent, triangle, shares });
            }
        }
        Self { given: tangents, corners: tied }
    }

    /// The tangents of the surface with its vertices elsewhere, across the normals if there are any: one for each
    /// tangent.
    ///
    /// # Panics
    ///
    /// If a triangle names a vertex that does not exist, or there are normals, but not one for each tangent.
    #[must_use]
    pub fn moved(&self, positions: &[Vec3], normals: Option<&[Vec3]>) -> Vec<Vec4> {
        let mut sums = vec![DVec3::ZERO; self.given.len()];
        for corner in &self.corners {
            let [u, v] = sides(positions, corner.triangle);
            sums[corner.tangent as usize] += corner.shares[0] * u + corner.shares[1] * v;
        }
        let unit = |i: usize| {
            let normal = normals.map_or(DVec3::ZERO, |normals| normals[i].as_dvec3());
            let across = (sums[i] - normal.dot(sums[i]) * normal).try_normalize();
            let given = self.given[i];
            across.map_or(given.truncate(), |across| across.as_vec3()).extend(given.w)
        };
        (0..self.given.len()).map(unit).collect()
    }
}

/// The sides from the first corner to the others. In double precision, since areas of small things vanish in single.
fn sides(positions: &[Vec3], triangle: [u32; 3]) -> [DVec3; 2] {
    let [a, b, c] = triangle.map(|v| positions[v as usize].as_dvec3());
    [b - a, c - a]
}

/// Lets the tangents of a mesh follow its vertices, which were at `rest`; without as many vertices as then it loses
/// them.
pub fn follow(mesh: &mut TriMesh, rest: &[Vec3]) {
    if mesh.positions.len() != rest.len() {
        mesh.attributes.remove(TANGENT);
        mesh.corners.retain(|corner| corner.name != TANGENT);
        return;
    }
    if all(mesh).next().is_none() {
        return;
    }
    let (positions, triangles) = (mesh.positions.clone(), mesh.triangles.clone());
    for (tangents, numbers) in all(mesh) {
        let (given, numbers) = (std::mem::take(tangents), numbers.unwrap_or(&triangles));
        *tangents = Tangents::new(rest, &triangles, numbers, given).moved(&positions, None);
    }
}

/// For a mesh that was mirrored: the third axis lies on the other side.
pub(crate) fn mirror(mesh: &mut TriMesh) {
    for (tangents, _) in all(mesh) {
        tangents.iter_mut().for_each(|t| t.w = -t.w);
    }
}

/// The tangents of a mesh, and the triangles in terms of them if they are not those of the vertices.
fn all(mesh: &mut TriMesh) -> impl Iterator<Item = (&mut Vec<Vec4>, Option<&[[u32; 3]]>)> {
    let TriMesh { attributes, corners, .. } = mesh;
    let of_vertices = attributes.get_mut(TANGENT).map(|values| (values, None)).into_iter();
    let of_corners = corners.iter_mut().filter(|corner| corner.name == TANGENT);
    let of_corners = of_corners.map(|c| (&mut c.values, Some(&c.triangles[..])));
    of_vertices.chain(of_corners).filter_map(|(values, numbers)| match values {
        Values::Vec4(tangents) => Some((tangents, numbers)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use glam::{Affine3A, Mat3, Quat};

    use super::*;
    use crate::mesh::CornerAttribute;
    use crate::mesh::normals::vertex_normals;
    use crate::{Run, zoo};

    /// A ball with tangents along its circles of latitude.
    fn ball() -> (TriMesh, Vec<Vec4>) {
        let size = zoo::Size { triangles: Some(2000) };
        let mesh = zoo::build("ball", &size, &Run::default()).unwrap().meshes.swap_remove(0);
        let tangent = |p: &Vec3| Vec3::Z.cross(*p).normalize_or(Vec3::X).extend(-1.0);
        let tangents = mesh.positions.iter().map(tangent).collect();
        (mesh, tangents)
    }

    /// In closed form: a linear map takes the tangents along, and rest gives them back.
    #[test]
    fn tangents_follow_a_linear_map() {
        let (mesh, tangents) = ball();
        let tied =
            Tangents::new(&mesh.positions, &mesh.triangles, &mesh.triangles, tangents.clone());
        let squash = Mat3::from_cols(
            Vec3::new(1.4, 0.2, 0.0),
            Vec3::new(0.0, 0.6, -0.3),
            Vec3::new(0.1, 0.0, 1.1),
        );
        let turn = Mat3::from_quat(Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 2.0));
        for map in [Mat3::IDENTITY, turn, squash] {
            let map = Affine3A::from_mat3_translation(map, Vec3::new(3.0, -1.0, 2.0));
            let moved: Vec<Vec3> =
                mesh.positions.iter().map(|p| map.transform_point3(*p)).collect();
            let normals = vertex_normals(&moved, &mesh.triangles, &Run::default());
            let found = tied.moved(&moved, Some(&normals));
            for (i, (found, given)) in found.iter().zip(&tangents).enumerate() {
                let wanted = map.transform_vector3(given.truncate());
                let wanted = (wanted - normals[i].dot(wanted) * normals[i]).normalize_or_zero();
                let is_pole = mesh.positions[i].truncate().length() < 0.2;
                let agrees = found.truncate().dot(wanted);
                assert!(is_pole || agrees > 0.999, "{i}: {found}, not {wanted}");
                assert!(found.truncate().dot(normals[i]).abs() < 1e-5, "{i}: across the normal");
                assert!((found.truncate().length() - 1.0).abs() < 1e-5 && found.w == -1.0);
            }
        }
    }

    #[test]
    fn tangents_of_corners_follow_as_those_of_vertices_do() {
        let (mut mesh, tangents) = ball();
        let rest = mesh.positions.clone();
        mesh.attributes.set(TANGENT, Values::Vec4(tangents.clone()));
        let (values, triangles) = (Values::Vec4(tangents), mesh.triangles.clone());
        mesh.corners.push(CornerAttribute { name: TANGENT.to_owned(), values, triangles });
        mesh.positions.iter_mut().for_each(|p| *p = Vec3::new(p.z, 2.0 * p.x, p.y + p.x * p.x));
        follow(&mut mesh, &rest);
        assert_eq!(mesh.attributes.get(TANGENT), Some(&mesh.corners[0].values));
        let before = mesh.clone();
        follow(&mut mesh, &before.positions);
        let (Some(Values::Vec4(now)), Some(Values::Vec4(then))) =
            (mesh.attributes.get(TANGENT), before.attributes.get(TANGENT))
        else {
            panic!("tangents stay what they are");
        };
        let most = now.iter().zip(then).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(most < 2e-2, "what does not move keeps its tangents: {most}");
        follow(&mut mesh, &rest[1..]);
        assert!(mesh.attributes.get(TANGENT).is_none() && mesh.corners.is_empty());
    }

    /// Of any size, down to what single precision can hardly tell apart, and with what is not a number.
    #[test]
    fn size_does_not_matter_and_numbers_stay_numbers() {
        let (mesh, mut tangents) = ball();
        tangents[5] = Vec4::new(f32::NAN, 0.0, 0.0, 1.0);
        let turn = Quat::from_axis_angle(Vec3::X, 1.0);
        let turned = |size: f32| {
            let rest: Vec<Vec3> = mesh.positions.iter().map(|p| size * *p).collect();
            let moved: Vec<Vec3> = rest.iter().map(|p| turn * *p).collect();
            let triangles = &mesh.triangles;
            Tangents::new(&rest, triangles, triangles, tangents.clone()).moved(&moved, None)
        };
        let usual = turned(1.0);
        assert!(usual.iter().all(|t| t.is_finite()), "finite whatever was given");
        for size in [1e-12, 1e12] {
            let found = turned(size);
            let far = found.iter().zip(&usual).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
            assert!(far < 1e-3, "size {size}: {far}");
        }
    }

    #[test]
    fn without_area_a_tangent_stays() {
        let positions = [Vec3::ZERO, Vec3::X, 2.0 * Vec3::X];
        let given = vec![Vec4::new(0.0, 1.0, 0.0, 1.0); 3];
        let tied = Tangents::new(&positions, &[[0, 1, 2]], &[[0, 1, 2]], given.clone());
        assert_eq!(tied.moved(&positions, None), given);
    }
}

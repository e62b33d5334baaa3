//! Convex hulls, and closed meshes split into convex parts.

use glam::Vec3;
use rapier3d::parry::transformation::try_convex_hull;
use rapier3d::parry::transformation::vhacd::{VHACD, VHACDParameters};

use super::solid::{Face, Solid};
use crate::mesh::TriMesh;
use crate::mesh::measure::Bounds;

/// Faces whose normals differ by less (one minus their cosine) are one.
const COPLANAR: f32 = 1e-5;

/// Voxels along the longest edge of a mesh that is split.
const RESOLUTION: u32 = 64;

/// The convex hull of points; `None` if they lie in a plane or are not finite.
#[must_use]
pub fn hull(points: &[Vec3]) -> Option<Solid> {
    let (corners, triangles) = hull_mesh(points)?;
    Some(from_mesh(corners, &triangles))
}

/// The corners and triangles of a convex hull.
#[must_use]
pub fn hull_mesh(points: &[Vec3]) -> Option<(Vec<Vec3>, Vec<[u32; 3]>)> {
    if points.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let size = Bounds::of(points)?.diagonal();
    let (corners, triangles) = try_convex_hull(points).ok()?;
    let origin = *corners.first()?;
    let volume: f32 = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| corners[i as usize] - origin);
            a.dot(b.cross(c)) / 6.0
        })
        .sum();
    (volume > 1e-7 * size.powi(3)).then_some((corners, triangles))
}

fn from_mesh(corners: Vec<Vec3>, triangles: &[[u32; 3]]) -> Solid {
    let mut faces: Vec<Face> = Vec::new();
    for triangle in triangles {
        let [a, b, c] = triangle.map(|i| corners[i as usize]);
        let Some(normal) = (b - a).cross(c - a).try_normalize() else { continue };
        if faces.iter().any(|f| 1.0 - f.normal.dot(normal) < COPLANAR) {
            continue;
        }
        let offset = corners.iter().map(|x| normal.dot(*x)).fold(f32::NEG_INFINITY, f32::max);
        faces.push(Face { normal, offset, inner: false });
    }
    Solid::Hull { faces, corners }
}

/// Splits a closed mesh into at most `parts` convex solids that together cover it.
#[must_use]
pub fn split(mesh: &TriMesh, parts: u32) -> Vec<Solid> {
    let params = VHACDParameters {
        max_convex_hulls: parts,
        resolution: RESOLUTION,
        concavity: 1e-3,
        ..VHACDParameters::default()
    };
    let split = VHACD::decompose(&params, &mesh.positions, &mesh.triangles, true);
    let hulls = split.compute_exact_convex_hulls(&mesh.positions, &mesh.triangles);
    let mut solids: Vec<Solid> = hulls.iter().filter_map(|(points, _)| hull(points)).collect();
    mark_inner_faces(&mut solids);
    solids
}

/// Marks the faces behind which other parts lie.
fn mark_inner_faces(solids: &mut [Solid]) {
    let all = solids.to_vec();
    for (i, solid) in solids.iter_mut().enumerate() {
        let Solid::Hull { faces, corners } = solid else { continue };
        let size = Bounds::of(corners).map_or(0.0, |b| b.diagonal());
        let others = || all.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, s)| s);
        for face in faces {
            let on_it = |x: &&Vec3| (face.normal.dot(**x) - face.offset).abs() < 1e-3 * size;
            let around: Vec<Vec3> = corners.iter().filter(on_it).copied().collect();
            let middle = around.iter().sum::<Vec3>() / around.len().max(1) as f32;
            // Points of the face, a little outside.
            let samples = around.iter().map(|x| middle.lerp(*x, 0.7)).chain([middle]);
            let mut covered = samples.map(|x| x + 0.02 * size * face.normal);
            face.inner = covered.all(|x| others().any(|s| s.contains(x)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Run, zoo};

    #[test]
    fn a_cube_has_six_faces() {
        let Solid::Hull { corners, .. } = Solid::cuboid(Vec3::ONE) else { unreachable!("a hull") };
        let Some(Solid::Hull { faces, .. }) = hull(&corners) else { panic!("no hull") };
        assert_eq!(faces.len(), 6);
        assert!(hull(&corners[..3]).is_none(), "a triangle has no inside");
        assert!(hull(&[Vec3::NAN; 8]).is_none(), "not finite");
    }

    #[test]
    fn a_ring_keeps_its_hole() {
        let size = zoo::Size { triangles: Some(2000) };
        let mesh = zoo::build("torus", &size, &Run::default()).unwrap().meshes.remove(0);
        let solids = split(&mesh, 24);
        assert!(solids.len() >= 8, "{} parts", solids.len());
        let covers = |x: Vec3| solids.iter().any(|s| s.probe(x, Vec3::ZERO).distance < 0.02);
        assert!(mesh.positions.iter().all(|&x| covers(x)), "every vertex is covered");
        let open = [Vec3::ZERO, 0.4 * Vec3::X, 0.3 * Vec3::Z, 0.3 * Vec3::Y];
        assert!(!open.iter().any(|&x| solids.iter().any(|s| s.contains(x))), "the hole is open");
        let inner = solids.iter().filter(|s| match s {
            Solid::Hull { faces, .. } => faces.iter().any(|f| f.inner),
            Solid::Round { .. } => false,
        });
        assert!(inner.count() >= solids.len() / 2, "neighbours share faces");
    }
}

//! Angle-weighted vertex normals.

use glam::Vec3;

use crate::Run;

/// Unit normals, each the sum of the adjacent triangles' normals weighted by their angle at the
/// vertex. Zero for a vertex without a triangle of positive area.
#[must_use]
pub fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; positions.len()];
    for triangle in triangles {
        let corners = triangle.map(|i| positions[i as usize]);
        let face = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
        for k in 0..3 {
            let to_next = corners[(k + 1) % 3] - corners[k];
            let to_last = corners[(k + 2) % 3] - corners[k];
            normals[triangle[k] as usize] += to_next.angle_between(to_last) * face;
        }
    }
    run.for_each(&mut normals, |_, n| *n = n.normalize_or_zero());
    normals
}

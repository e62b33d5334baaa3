//! Point clouds as round splats.
//!
//! A point becomes a low cone that faces the camera and whose normals spread from the tip to the rim as
//! a ball's do: it is lit and shaded like a small ball, at eight triangles.

use glam::Vec3;
use supple::TriMesh;
use supple::mesh::Values;
use supple::mesh::attribute::{Attributes, NORMAL};
use supple::mesh::measure::Bounds;

use crate::camera::{Camera, Projection};

/// Corners of a splat's rim.
const RIM: u32 = 8;

/// Vertices of a splat: its tip and its rim.
const VERTICES: u32 = RIM + 1;

/// Radius of a splat over the distance to the nearest other point: neighbours overlap a little.
const RADIUS_REL_SPACING: f32 = 0.7;

/// Smallest and largest radius of a splat, as a share of the cloud's diagonal.
const RADIUS_REL_DIAGONAL: [f32; 2] = [5e-4, 0.02];

/// The most points of a cloud that are drawn; of more, every n-th. A picture has no more pixels to show
/// them, and a splat takes over a kilobyte.
pub const MOST: usize = 500_000;

/// The points of a cloud that are drawn.
#[must_use]
pub fn drawn(points: usize) -> Vec<u32> {
    (0..points as u32).step_by(points.div_ceil(MOST).max(1)).collect()
}

/// Points whose nearest neighbour is looked for.
const SAMPLED: usize = 128;

/// How far apart neighbouring points of a cloud are, judged by a few of them: the median.
#[must_use]
pub fn spacing(points: &[Vec3]) -> f32 {
    let step = points.len().div_ceil(SAMPLED).max(1);
    let nearest = |i: usize| {
        let others = points.iter().enumerate().filter(|&(j, p)| j != i && *p != points[i]);
        others.map(|(_, p)| p.distance_squared(points[i])).fold(f32::INFINITY, f32::min)
    };
    let mut distances: Vec<f32> =
        (0..points.len()).step_by(step).map(nearest).filter(|d| d.is_finite()).collect();
    distances.sort_by(f32::total_cmp);
    distances.get(distances.len() / 2).map_or(0.0, |d| d.sqrt())
}

/// A radius for the splats of a cloud that suits its density.
#[must_use]
pub fn radius(points: &[Vec3]) -> f32 {
    let diagonal = Bounds::of(points).map_or(1.0, |b| b.diagonal());
    let [least, most] = RADIUS_REL_DIAGONAL.map(|share| share * diagonal);
    let radius = (RADIUS_REL_SPACING * spacing(points)).clamp(least, most);
    // A single point has no diagonal.
    if radius > 0.0 { radius } else { 0.05 }
}

/// The splats of a cloud, as seen from a camera: a mesh that takes over the attributes of the points.
///
/// ```
/// use glam::Vec3;
/// use supple_gpu::camera::Camera;
/// use supple_gpu::splat;
///
/// let points = [Vec3::ZERO, Vec3::X];
/// let mesh = splat::splats(&points, &Default::default(), splat::radius(&points), &Camera::default());
/// assert_eq!(mesh.triangles.len(), 2 * 8);
/// ```
#[must_use]
pub fn splats(points: &[Vec3], attributes: &Attributes, radius: f32, camera: &Camera) -> TriMesh {
    let mut mesh = TriMesh::default();
    let mut normals = Vec::with_capacity(points.len() * VERTICES as usize);
    for &point in points {
        let first = mesh.positions.len() as u32;
        let towards = match camera.projection {
            Projection::Perspective { .. } => (camera.eye - point).normalize_or(camera.back()),
            Projection::Orthographic { .. } => camera.back(),
        };
        let across = towards.any_orthonormal_vector();
        let up = towards.cross(across);
        mesh.positions.push(point + radius * towards);
        normals.push(towards);
        for k in 0..RIM {
            let (s, c) = (std::f32::consts::TAU * k as f32 / RIM as f32).sin_cos();
            let out = c * across + s * up;
            mesh.positions.push(point + radius * out);
            normals.push((out + 0.25 * towards).normalize_or_zero());
            mesh.triangles.push([first, first + 1 + k, first + 1 + (k + 1) % RIM]);
        }
    }
    let owners: Vec<u32> =
        (0..points.len() as u32).flat_map(|i| std::iter::repeat_n(i, VERTICES as usize)).collect();
    for attribute in attributes.iter().filter(|a| a.values.len() == points.len()) {
        mesh.attributes.set(attribute.name.clone(), attribute.values.gather(&owners));
    }
    mesh.attributes.set(NORMAL, Values::Vec3(normals));
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spacing_of_a_grid_is_its_step() {
        let points: Vec<Vec3> =
            (0..400).map(|i| 0.25 * Vec3::new((i % 20) as f32, (i / 20) as f32, 0.0)).collect();
        assert!((spacing(&points) - 0.25).abs() < 1e-6, "{}", spacing(&points));
        assert!(radius(&[Vec3::ONE]) > 0.0, "a single point is seen");
        assert!(radius(&[]) > 0.0, "no points are no error");
    }

    #[test]
    fn of_too_many_points_every_nth_is_drawn() {
        assert_eq!(drawn(3), [0, 1, 2]);
        let some = drawn(3 * MOST - 1);
        assert!(some.len() <= MOST && some[1] == 3, "{} of them", some.len());
    }

    #[test]
    fn splats_face_the_camera() {
        let camera = Camera::default();
        let points = [Vec3::ZERO, Vec3::X];
        let mesh = splats(&points, &Attributes::default(), 0.1, &camera);
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners_of(t);
            let facing = (b - a).cross(c - a).dot(camera.eye - a);
            assert!(facing > 0.0, "triangle {t} faces away");
        }
    }
}

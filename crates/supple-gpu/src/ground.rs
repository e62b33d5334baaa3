//! The floor under the subject, and the wall behind it: a sheet of paper bent up at the back.

use glam::Vec3;

use crate::frame::{Extent, FLOOR_REL_RADIUS, heading, up_of};
use crate::geometry::{Geometry, Vertex};
use crate::view::{Backdrop, View};

/// Distance of the wall behind the middle of the scene, in radii.
const WALL: f32 = 1.5;

/// Radius of the bend between floor and wall, in radii.
const BEND: f32 = 0.7;

/// Steps of the bend.
const BEND_STEPS: u32 = 24;

/// The floor, and the wall if there is one; nothing if the camera is below the floor or looks along
/// it.
pub(crate) fn sheet(view: &View<'_>, extent: &Extent) -> Geometry {
    let up = up_of(view);
    let above = view.camera.eye.dot(up) > extent.floor && view.camera.back().dot(up) > 0.0;
    if view.backdrop == Backdrop::Plain || !above {
        return Geometry::default();
    }
    let (right, away) = heading(view);
    let origin = extent.center + (extent.floor - extent.center.dot(up)) * up;
    let half = FLOOR_REL_RADIUS * extent.radius;
    let mut geometry = Geometry::default();
    for (along, height, normal) in profile(view.backdrop == Backdrop::Wall) {
        let n = normal[0] * away + normal[1] * up;
        for side in [-half, half] {
            let p = origin + side * right + extent.radius * (along * away + height * up);
            geometry.vertices.push(vertex(p, n));
        }
    }
    for i in 0..(geometry.vertices.len() / 2 - 1) as u32 {
        let a = 2 * i;
        geometry.indices.extend([[a, a + 1, a + 2], [a + 1, a + 3, a + 2]]);
    }
    geometry
}

/// Distance away, height, and normal of the points of the sheet's cross-section, in radii.
fn profile(wall: bool) -> Vec<(f32, f32, [f32; 2])> {
    let mut points = vec![(-FLOOR_REL_RADIUS, 0.0, [0.0, 1.0])];
    if !wall {
        points.push((FLOOR_REL_RADIUS, 0.0, [0.0, 1.0]));
        return points;
    }
    for i in 0..=BEND_STEPS {
        let (s, c) = (std::f32::consts::FRAC_PI_2 * i as f32 / BEND_STEPS as f32).sin_cos();
        points.push((WALL - BEND + BEND * s, BEND - BEND * c, [-s, c]));
    }
    points.push((WALL, FLOOR_REL_RADIUS, [-1.0, 0.0]));
    points
}

fn vertex(position: Vec3, normal: Vec3) -> Vertex {
    Vertex {
        position: position.to_array(),
        normal: normal.to_array(),
        color: [255; 4],
        uv: [0.0; 2],
        field: 0.0,
    }
}

//! The floor under the subject, and the wall behind it: a sheet of paper bent up at the back.

use glam::{Vec2, Vec3};

use crate::camera::Projection;
use crate::frame::{Extent, FLOOR_REL_RADIUS, heading, key_light, up_of};
use crate::geometry::{Geometry, Vertex};
use crate::view::{Backdrop, View};

/// Distance of the wall behind the middle of the scene, in radii.
const WALL: f32 = 1.5;

/// Radius of the bend between floor and wall, in radii.
const BEND: f32 = 0.7;

/// Steps of the bend.
const BEND_STEPS: u32 = 24;

/// How far around bodies and their shadows the floor can look different from what is behind it, in
/// radii: the widest penumbra on a level floor, and more than the reach of obscurance.
const SHADE: f32 = 0.4;

/// The floor under the points, and the wall if there is one; nothing if the camera is below the floor, or
/// is without perspective and looks along it.
///
/// Where nothing is shaded, the floor looks like what is behind it: without a wall, only the part that
/// the points can shade is made.
pub(crate) fn sheet(
    view: &View<'_>,
    extent: &Extent,
    points: impl Iterator<Item = Vec3>,
) -> Geometry {
    let up = up_of(view);
    let looks_down = view.camera.back().dot(up) > 0.0;
    let is_flat = matches!(view.camera.projection, Projection::Orthographic { .. });
    let above = view.camera.eye.dot(up) > extent.floor && (looks_down || !is_flat);
    if matches!(view.backdrop, Backdrop::Plain | Backdrop::Dark) || !above {
        return Geometry::default();
    }
    let (right, away) = heading(view);
    let origin = extent.center + (extent.floor - extent.center.dot(up)) * up;
    let wall = view.backdrop == Backdrop::Wall;
    let [sides, lengths] = if wall { [WHOLE; 2] } else { shaded(view, extent, origin, points) };
    let mut geometry = Geometry::default();
    for (along, height, normal) in profile(wall, lengths) {
        let n = normal[0] * away + normal[1] * up;
        for side in sides {
            let p = origin + extent.radius * (side * right + along * away + height * up);
            geometry.vertices.push(vertex(p, n));
        }
    }
    for i in 0..(geometry.vertices.len() / 2 - 1) as u32 {
        let a = 2 * i;
        geometry.indices.extend([[a, a + 1, a + 2], [a + 1, a + 3, a + 2]]);
    }
    geometry
}

/// From end to end of the floor, in radii.
const WHOLE: [f32; 2] = [-FLOOR_REL_RADIUS, FLOOR_REL_RADIUS];

/// From where to where the points shade the floor, to the right and away, in radii from `origin`.
fn shaded(
    view: &View<'_>,
    extent: &Extent,
    origin: Vec3,
    points: impl Iterator<Item = Vec3>,
) -> [[f32; 2]; 2] {
    let (up, key) = (up_of(view), key_light(view));
    let (right, away) = heading(view);
    let (mut lo, mut hi) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
    for p in points {
        let off = p - origin;
        let shadow = off - key * (off.dot(up).max(0.0) / key.dot(up).max(1e-3));
        for q in [off, shadow] {
            let at = Vec2::new(q.dot(right), q.dot(away)) / extent.radius;
            (lo, hi) = (lo.min(at), hi.max(at));
        }
    }
    let [least, most] = WHOLE;
    let reach =
        |lo: f32, hi: f32| [(lo - SHADE).clamp(least, most), (hi + SHADE).clamp(least, most)];
    [reach(lo.x, hi.x), reach(lo.y, hi.y)]
}

/// Distance away, height, and normal of the points of the sheet's cross-section, in radii.
fn profile(wall: bool, [near, far]: [f32; 2]) -> Vec<(f32, f32, [f32; 2])> {
    let mut points = vec![(near, 0.0, [0.0, 1.0])];
    if !wall {
        points.push((far, 0.0, [0.0, 1.0]));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::{Camera, Projection};

    /// The floor ends where nothing is shaded, and not before.
    #[test]
    fn the_floor_holds_the_shadow_of_a_post() {
        let post = [Vec3::ZERO, Vec3::Y];
        let camera = Camera {
            eye: Vec3::new(0.0, 2.0, 4.0),
            target: Vec3::ZERO,
            up: Vec3::Y,
            projection: Projection::Perspective { fov_y: 1.0 },
        };
        let view = View::through(camera, [100, 100]);
        let extent = Extent::of(&view, post.into_iter());
        let floor = sheet(&view, &extent, post.into_iter());
        let key = key_light(&view);
        let shadow = Vec3::Y - key / key.y;
        let reach = |axis: usize| {
            let along = floor.vertices.iter().map(|v| v.position[axis]);
            along.fold([f32::MAX, f32::MIN], |[lo, hi], x| [lo.min(x), hi.max(x)])
        };
        for (axis, end) in [(0, shadow.x), (2, shadow.z)] {
            let [lo, hi] = reach(axis);
            let inside = |x: f32| lo + 0.1 < x && x < hi - 0.1;
            assert!(
                inside(0.0) && inside(end),
                "the shadow ends at {end}, the floor is {lo}..{hi}"
            );
            assert!(hi - lo < 3.0, "the floor is {lo}..{hi}");
        }
    }

    /// A camera above the floor sees it even if it looks level or up, unless it has no perspective.
    #[test]
    fn a_camera_that_looks_level_has_a_floor() {
        let post = [Vec3::ZERO, Vec3::Y];
        let has_floor = |height: f32, projection: Projection| {
            let (eye, target) = (Vec3::new(0.0, height, 4.0), Vec3::new(0.0, 0.5, 0.0));
            let view = View::through(Camera { eye, target, up: Vec3::Y, projection }, [100, 100]);
            let extent = Extent::of(&view, post.into_iter());
            !sheet(&view, &extent, post.into_iter()).indices.is_empty()
        };
        let lens = Projection::Perspective { fov_y: 1.0 };
        let heights = [2.0, 0.5, 0.1, -0.5];
        assert_eq!(heights.map(|h| has_floor(h, lens)), [true, true, true, false]);
        let flat = Projection::Orthographic { height: 2.0 };
        assert_eq!(heights.map(|h| has_floor(h, flat)), [true, false, false, false]);
    }
}

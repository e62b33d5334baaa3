//! What all passes of one frame share: camera, lights, backdrop.
//!
//! The light is a photographer's: a large soft key light up and to the left of the camera, a weak
//! cool fill from the right, a rim light from behind, and light from everywhere. The lights move
//! with the camera's heading, so every view of a turntable is well lit.

use glam::camera::rh::proj::directx;
use glam::{Mat4, UVec4, Vec2, Vec3, Vec4};

use supple::mesh::measure::Bounds;

use crate::camera::Projection;
use crate::quality::Quality;
use crate::view::{Backdrop, View, aspect};

/// Tangent of the key light's angular radius: a softbox, not the sun.
const KEY_SOFTNESS: f32 = 0.11;

/// Widest penumbra, as a share of the scene's radius.
const PENUMBRA_REL_RADIUS: f32 = 0.22;

/// How far ambient obscurance looks, as a share of the scene's radius.
const OBSCURANCE_REL_RADIUS: f32 = 0.2;

/// Strength of ambient obscurance.
const OBSCURANCE: f32 = 2.6;

/// Share of the floor's light that is key light.
const FLOOR_KEY_SHARE: f32 = 0.5;

/// The background in the middle and at the edges of a picture.
const LIGHT: [Vec4; 2] = [Vec4::new(0.90, 0.905, 0.915, 0.0), Vec4::new(0.64, 0.655, 0.68, 0.0)];
const DARK: [Vec4; 2] =
    [Vec4::new(0.010, 0.012, 0.016, 0.0), Vec4::new(0.002, 0.0025, 0.0035, 0.0)];

/// How far the floor reaches, as a multiple of the scene's radius.
pub(crate) const FLOOR_REL_RADIUS: f32 = 6.0;

/// The layout of `frame.wgsl`.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Frame {
    clip_from_world: Mat4,
    view_from_world: Mat4,
    world_from_view: Mat4,
    shadow_from_world: Mat4,
    eye: Vec4,
    lights: [Light; 3],
    sky_color: Vec4,
    bounce_color: Vec4,
    up: Vec4,
    unproject: Vec4,
    size: Vec4,
    shadow: Vec4,
    occlusion: Vec4,
    center: Vec4,
    backdrop_center: Vec4,
    backdrop_edge: Vec4,
    flags: Vec4,
    taps: UVec4,
    counts: UVec4,
    light: UVec4,
}

/// The layout of `Light` in `frame.wgsl`.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Light {
    towards: Vec4,
    color: Vec4,
}

impl Light {
    fn new(towards: Vec4, [r, g, b]: [f32; 3]) -> Self {
        Self { towards, color: Vec4::new(r, g, b, 0.0) }
    }
}

/// The extent of what is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) center: Vec3,
    pub(crate) radius: f32,
    /// Height of the floor along the camera's up axis.
    pub(crate) floor: f32,
}

impl Extent {
    /// The extent of the given points, or of a unit sphere at the camera's target.
    pub(crate) fn of(view: &View<'_>, points: impl Iterator<Item = Vec3> + Clone) -> Self {
        let up = up_of(view);
        let target = view.camera.target;
        let reach = || {
            points.fold(None, |reach: Option<(Vec3, Vec3, f32)>, p| {
                let (lo, hi, low) = reach.unwrap_or((p, p, p.dot(up)));
                Some((lo.min(p), hi.max(p), low.min(p.dot(up))))
            })
        };
        let stage = view.stage.map(|stage| (stage.min, stage.max, lowest_corner(&stage, up)));
        let empty = (target - 0.5, target + 0.5, target.dot(up) - 0.5);
        let (lo, hi, lowest) = stage.or_else(reach).unwrap_or(empty);
        let radius = (0.5 * (hi - lo).length()).max(1e-6 * target.length()).max(1e-20);
        Self { center: 0.5 * (lo + hi), radius, floor: view.floor.unwrap_or(lowest) }
    }
}

/// Height along `up` of the lowest corner of a box.
fn lowest_corner(bounds: &Bounds, up: Vec3) -> f32 {
    let lower = Vec3::select(up.cmpgt(Vec3::ZERO), bounds.min, bounds.max);
    lower.dot(up)
}

pub(crate) fn up_of(view: &View<'_>) -> Vec3 {
    view.up.unwrap_or(view.camera.up).try_normalize().unwrap_or(Vec3::Y)
}

/// Unit vectors to the right and away from the camera along the floor.
pub(crate) fn heading(view: &View<'_>) -> (Vec3, Vec3) {
    let (up, back) = (up_of(view), view.camera.back());
    let right = up.cross(back).try_normalize().unwrap_or_else(|| view.camera.right());
    (right, up.cross(right).try_normalize().unwrap_or(-back))
}

/// Unit vector towards the key light.
pub(crate) fn key_light(view: &View<'_>) -> Vec3 {
    let (right, away) = heading(view);
    (-0.62 * right + up_of(view) - 0.62 * away).normalize_or_zero()
}

/// A part of a picture, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    left: u32,
    top: u32,
    width: u32,
    height: u32,
}

impl Window {
    /// All of a picture.
    pub(crate) fn whole([width, height]: [u32; 2]) -> Self {
        Self { left: 0, top: 0, width, height }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// The texels of `step` pixels an edge that hold it.
    pub(crate) fn coarser(&self, step: u32) -> Self {
        let (left, top) = (self.left / step, self.top / step);
        let width = (self.left + self.width).div_ceil(step) - left;
        let height = (self.top + self.height).div_ceil(step) - top;
        Self { left, top, width, height }
    }

    /// Keeps a pass from drawing outside.
    pub(crate) fn limit(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_scissor_rect(self.left, self.top, self.width, self.height);
    }
}

impl Frame {
    /// The part of a picture of `size` in which everything between the points is; all of it if one is
    /// beside or behind the camera.
    pub(crate) fn window(&self, points: impl Iterator<Item = Vec3>, size: [u32; 2]) -> Window {
        let (mut lo, mut hi) = (Vec2::splat(f32::INFINITY), Vec2::splat(f32::NEG_INFINITY));
        for p in points {
            let clip = self.clip_from_world * p.extend(1.0);
            if clip.w <= 0.0 {
                return Window::whole(size);
            }
            let at = clip.truncate().truncate() / clip.w;
            (lo, hi) = (lo.min(at), hi.max(at));
        }
        let pixels = |share: f32, count: u32, grow: f32| {
            ((0.5 + 0.5 * share) * count as f32 + grow).clamp(0.0, count as f32) as u32
        };
        let [width, height] = size;
        let (left, right) = (pixels(lo.x, width, -1.0), pixels(hi.x, width, 2.0));
        let (top, bottom) = (pixels(-hi.y, height, -1.0), pixels(-lo.y, height, 2.0));
        Window { left, top, width: right.saturating_sub(left), height: bottom.saturating_sub(top) }
    }

    pub(crate) fn new(
        view: &View<'_>,
        extent: &Extent,
        points: impl Iterator<Item = Vec3>,
        (quality, samples): (&Quality, u32),
    ) -> Self {
        let texels = quality.shadow_texels as f32;
        let [obscurance, search, filter] = quality.taps;
        let camera = &view.camera;
        let view_from_world = camera.view_from_world();
        let (clip_from_view, unproject, depth_terms) = projection(view, extent, &view_from_world);
        let (right, away) = heading(view);
        let up = up_of(view);
        let towards = |r: f32, u: f32, b: f32| (r * right + u * up - b * away).normalize_or_zero();
        let key = key_light(view);
        let (shadow_from_world, texel, depth) = shadow_box([key, up], points, extent, texels);
        let [w, h] = view.size.map(|s| s as f32);
        let perspective = matches!(camera.projection, Projection::Perspective { .. });
        let penumbra = PENUMBRA_REL_RADIUS * extent.radius;
        let backdrop = if view.backdrop == Backdrop::Dark { DARK } else { LIGHT };
        Self {
            clip_from_world: clip_from_view * view_from_world,
            view_from_world,
            world_from_view: view_from_world.inverse(),
            shadow_from_world,
            eye: camera.eye.extend(f32::from(perspective)),
            lights: [
                Light::new(key.extend(KEY_SOFTNESS), [1.02, 0.98, 0.92]),
                Light::new(towards(1.0, 0.35, 0.7).extend(0.0), [0.17, 0.185, 0.21]),
                Light::new(towards(0.5, 0.7, -1.0).extend(0.0), [0.36, 0.37, 0.40]),
            ],
            sky_color: Vec4::new(0.46, 0.475, 0.50, 0.0),
            bounce_color: Vec4::new(0.24, 0.225, 0.21, 0.0),
            up: up.extend(0.0),
            unproject,
            size: Vec4::new(w, h, 1.0 / w, 1.0 / h),
            shadow: Vec4::new(texel, depth, texels, penumbra),
            occlusion: Vec4::new(
                OBSCURANCE_REL_RADIUS * extent.radius,
                OBSCURANCE,
                FLOOR_KEY_SHARE,
                0.0,
            ),
            center: extent.center.extend(0.9 * FLOOR_REL_RADIUS * extent.radius),
            backdrop_center: backdrop[0],
            backdrop_edge: backdrop[1],
            flags: Vec4::new(
                f32::from(view.backdrop == Backdrop::Clear),
                depth_terms[0],
                depth_terms[1],
                (1.0 + OBSCURANCE_REL_RADIUS) * extent.radius,
            ),
            taps: UVec4::new(obscurance, search, filter, samples),
            counts: UVec4::new(3, 4 / quality.light_step, 2, 0),
            light: UVec4::new(quality.light_step, 0, 0, 0),
        }
    }
}

/// The projection, and how to get back from a pixel and a depth: the terms `unproject` and the last
/// two of `flags` of `frame.wgsl`.
fn projection(view: &View<'_>, extent: &Extent, view_from_world: &Mat4) -> (Mat4, Vec4, [f32; 2]) {
    let middle = -view_from_world.transform_point3(extent.center).z;
    let far = (middle + 1.5 * FLOOR_REL_RADIUS * extent.radius).max(extent.radius);
    let aspect = aspect(view.size);
    match view.camera.projection {
        Projection::Perspective { fov_y } => {
            let near = (0.5 * (middle - extent.radius)).max(1e-3 * far);
            let t = (0.5 * fov_y).tan();
            let depth = [(near - far) / (far * near), 1.0 / near];
            let clip_from_view = directx::perspective(fov_y, aspect, near, far);
            (clip_from_view, Vec4::new(0.0, 0.0, t * aspect, t), depth)
        }
        Projection::Orthographic { height } => {
            let (y, x) = (0.5 * height, 0.5 * height * aspect);
            let near = middle - FLOOR_REL_RADIUS * extent.radius;
            let clip_from_view = directx::orthographic(-x, x, -y, y, near, far);
            (clip_from_view, Vec4::new(x, y, 0.0, 0.0), [far - near, near])
        }
    }
}

/// The smallest box along the key light around the points: from the scene to the shadow map, with
/// the world size of a texel and the world depth of the map.
fn shadow_box(
    [key, up]: [Vec3; 2],
    points: impl Iterator<Item = Vec3>,
    extent: &Extent,
    texels: f32,
) -> (Mat4, f32, f32) {
    let light_from_world =
        glam::camera::rh::view::look_to_mat4(extent.center, -key, steady_up(key, up));
    let empty = (Vec3::splat(f32::INFINITY), Vec3::splat(f32::NEG_INFINITY));
    let (mut lo, mut hi) = points.fold(empty, |(lo, hi), p| {
        let q = light_from_world.transform_point3(p);
        (lo.min(q), hi.max(q))
    });
    if !lo.is_finite() || !hi.is_finite() {
        (lo, hi) = (Vec3::splat(-extent.radius), Vec3::splat(extent.radius));
    }
    let margin = 4.0 / texels;
    let width = (hi - lo).truncate().max_element().max(1e-3 * extent.radius) * (1.0 + 2.0 * margin);
    let depth = (hi.z - lo.z).max(1e-3 * extent.radius) * 1.04;
    let middle = 0.5 * (lo + hi);
    // x to the right, y down, z away from the light.
    let map_from_light = Mat4::from_translation(Vec3::new(0.5, 0.5, 0.5))
        * Mat4::from_scale(Vec3::new(1.0 / width, -1.0 / width, -1.0 / depth))
        * Mat4::from_translation(-middle);
    (map_from_light * light_from_world, width / texels, depth)
}

fn steady_up(key: Vec3, up: Vec3) -> Vec3 {
    if key.cross(up).length() > 1e-3 { up } else { key.any_orthonormal_vector() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::Camera;

    fn frame_from(eye: Vec3) -> Frame {
        let camera = Camera {
            eye,
            target: Vec3::ZERO,
            up: Vec3::Y,
            projection: Projection::Perspective { fov_y: 1.0 },
        };
        let view = View::through(camera, SIZE);
        let extent = Extent::of(&view, std::iter::once(Vec3::ZERO));
        Frame::new(&view, &extent, std::iter::once(Vec3::ZERO), (&Quality::STILL, 4))
    }

    const SIZE: [u32; 2] = [200, 100];

    #[test]
    fn the_window_holds_the_points_and_little_more() {
        let frame = frame_from(3.0 * Vec3::Z);
        let window = frame.window([Vec3::ZERO, Vec3::X].into_iter(), SIZE);
        assert!((98..=100).contains(&window.left), "{window:?} begins at the first point");
        // The height of a picture at distance 3 is 6 tan ½.
        let right = 100.0 + 100.0 / (6.0 * 0.5_f32.tan());
        let end = (window.left + window.width) as f32;
        assert!((right..right + 3.0).contains(&end), "{window:?} ends at {end}, not {right}");
        assert!((48..=50).contains(&window.top) && window.height <= 4, "{window:?}");
    }

    #[test]
    fn a_point_behind_the_camera_opens_the_whole_window() {
        let frame = frame_from(3.0 * Vec3::Z);
        let window = frame.window([Vec3::ZERO, 4.0 * Vec3::Z].into_iter(), SIZE);
        assert_eq!(window, Window::whole(SIZE));
    }

    #[test]
    fn a_window_of_nothing_is_empty() {
        let frame = frame_from(3.0 * Vec3::Z);
        assert!(frame.window(std::iter::empty(), SIZE).is_empty());
        assert!(frame.window(std::iter::once(100.0 * Vec3::X), SIZE).is_empty());
    }
}

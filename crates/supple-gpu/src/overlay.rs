//! Curves, dots, springs and skeletons over the picture.
//!
//! Everything here is strokes: round lines between two points with a width in pixels at each end.
//! They are put into the picture after it is developed, so their colours are exact; where a body
//! hides them they are faint, and they pale with distance.

use glam::{Vec2, Vec3, Vec4};

use crate::camera::{Camera, Projection};
use crate::device::{Gpu, Recipe, begin, loaded_samples, onto, with_samples};
use crate::draws::Room;
use crate::frame::Extent;
use crate::shade::PICTURE;

pub(crate) const SHADER: &str = concat!(include_str!("frame.wgsl"), include_str!("overlay.wgsl"));

/// Opacity of what a body hides.
const HIDDEN: f32 = 0.5;

/// Something drawn over the picture. Colours are sRGB with alpha.
#[derive(Clone, Debug, PartialEq)]
pub enum Overlay {
    /// A line through points.
    Curve {
        /// The points, in order.
        points: Vec<Vec3>,
        /// Whether the last point is joined to the first.
        closed: bool,
        /// Colour.
        color: [u8; 4],
        /// Width in pixels.
        width_px: f32,
    },
    /// Separate segments, such as the edges of a cage or of a collider.
    Segments {
        /// Both ends of each.
        ends: Vec<[Vec3; 2]>,
        /// Colour.
        color: [u8; 4],
        /// Width in pixels.
        width_px: f32,
    },
    /// Dots, such as anchors or masses.
    Dots {
        /// Where.
        points: Vec<Vec3>,
        /// Colour.
        color: [u8; 4],
        /// Diameter in pixels.
        width_px: f32,
    },
    /// Coils between two points each.
    Springs {
        /// Both ends of each spring.
        ends: Vec<[Vec3; 2]>,
        /// Colour.
        color: [u8; 4],
        /// Width of the wire in pixels.
        width_px: f32,
        /// Radius of the coil, in scene units; wider where it would be too thin to see.
        radius: f32,
    },
    /// Bones that taper from parent to child, and joints.
    Skeleton {
        /// Where the joints are.
        joints: Vec<Vec3>,
        /// The parent of each joint.
        parents: Vec<Option<u32>>,
        /// Colour of the bones; joints are a little darker.
        color: [u8; 4],
        /// Width of a bone at its parent, in pixels.
        width_px: f32,
    },
    /// An arrow, such as a force or a move.
    Arrow {
        /// Where it begins.
        from: Vec3,
        /// Where it points.
        to: Vec3,
        /// Colour.
        color: [u8; 4],
        /// Width of the shaft in pixels.
        width_px: f32,
    },
}

/// A round line between two points; a dot if they are the same.
#[derive(Clone, Copy, Debug)]
struct Stroke {
    ends: [Vec3; 2],
    /// Radius at each end, in pixels.
    radii: [f32; 2],
    color: [u8; 4],
    /// The point before and the point after on the same curve: there the stroke ends where the next
    /// one begins. Without, the end is round.
    joins: [Option<Vec3>; 2],
}

impl Stroke {
    fn round(ends: [Vec3; 2], radii: [f32; 2], color: [u8; 4]) -> Self {
        Self { ends, radii, color, joins: [None; 2] }
    }
}

/// Most turns of a coil, and steps of one turn.
const COIL: (u32, u32) = (7, 14);

/// Least distance between turns of a coil and least radius, as multiples of its wire's width: closer
/// turns run into a blob. What is too short for a few of them is a straight line.
const LEAST_PITCH: f32 = 3.0;
const LEAST_RADIUS: f32 = 2.2;
const FEWEST_TURNS: u32 = 3;

impl Overlay {
    /// The three great circles of a sphere: how a spherical collider or region is drawn.
    #[must_use]
    pub fn sphere(center: Vec3, radius: f32, color: [u8; 4], width_px: f32) -> Vec<Self> {
        [[Vec3::X, Vec3::Y], [Vec3::Y, Vec3::Z], [Vec3::Z, Vec3::X]]
            .into_iter()
            .map(|[a, b]| {
                let point = |i: u32| {
                    let (s, c) = (std::f32::consts::TAU * i as f32 / 64.0).sin_cos();
                    center + radius * (c * a + s * b)
                };
                Self::Curve { points: (0..64).map(point).collect(), closed: true, color, width_px }
            })
            .collect()
    }

    /// The points it is drawn through, for framing.
    #[must_use]
    pub fn points(&self) -> Vec<Vec3> {
        let mut points = Vec::new();
        self.clone().for_each_point(|p| points.push(*p));
        points
    }

    /// Calls `f` with every point it is drawn through, to move it.
    pub fn for_each_point(&mut self, f: impl FnMut(&mut Vec3)) {
        match self {
            Self::Curve { points, .. }
            | Self::Dots { points, .. }
            | Self::Skeleton { joints: points, .. } => points.iter_mut().for_each(f),
            Self::Springs { ends, .. } | Self::Segments { ends, .. } => {
                ends.as_flattened_mut().iter_mut().for_each(f);
            }
            Self::Arrow { from, to, .. } => [from, to].into_iter().for_each(f),
        }
    }

    /// What it is drawn with; `pixel` says where a point appears.
    fn strokes(&self, pixel: &dyn Fn(Vec3) -> Option<Vec2>, out: &mut Vec<Stroke>) {
        match self {
            Self::Curve { points, closed, color, width_px } => {
                line(points, *closed, *color, *width_px, out);
            }
            Self::Segments { ends, color, width_px } => {
                out.extend(
                    ends.iter().map(|&ends| Stroke::round(ends, [0.5 * width_px; 2], *color)),
                );
            }
            Self::Dots { points, color, width_px } => {
                out.extend(
                    points.iter().map(|&p| Stroke::round([p; 2], [0.5 * width_px; 2], *color)),
                );
            }
            Self::Springs { ends, color, width_px, radius } => {
                for &[a, b] in ends {
                    let length_px = match (pixel(a), pixel(b)) {
                        (Some(a), Some(b)) => a.distance(b),
                        _ => 0.0,
                    };
                    line(
                        &coil([a, b], *radius, length_px / width_px),
                        false,
                        *color,
                        *width_px,
                        out,
                    );
                }
            }
            Self::Skeleton { joints, parents, color, width_px } => {
                skeleton(joints, parents, *color, *width_px, out);
            }
            Self::Arrow { from, to, color, width_px } => {
                let neck = from.lerp(*to, 0.75);
                let shaft = Stroke::round([*from, neck], [0.5 * width_px; 2], *color);
                let head = Stroke::round([neck, *to], [1.7 * width_px, 0.0], *color);
                // The head is flat behind.
                out.push(shaft);
                out.push(Stroke { joins: [Some(*from), None], ..head });
            }
        }
    }
}

fn line(points: &[Vec3], closed: bool, color: [u8; 4], width_px: f32, out: &mut Vec<Stroke>) {
    let n = points.len();
    let closed = closed && n > 2;
    let at = |i: usize, step: usize| {
        let j = i + step;
        if closed { Some(points[j % n]) } else { points.get(j).copied() }
    };
    for i in 0..if closed { n } else { n.saturating_sub(1) } {
        let (Some(a), Some(b)) = (at(i, 0), at(i, 1)) else { continue };
        let before = if i > 0 {
            at(i, 0).and(points.get(i - 1).copied())
        } else {
            at(n, n - 1).filter(|_| closed)
        };
        let joins = [before, at(i, 2)];
        out.push(Stroke { joins, ..Stroke::round([a, b], [0.5 * width_px; 2], color) });
    }
}

/// A coil whose length in the picture is `length_rel_wire` times the width of its wire.
fn coil([a, b]: [Vec3; 2], radius: f32, length_rel_wire: f32) -> Vec<Vec3> {
    // Straight ends, a tenth each.
    let turns = ((0.8 * length_rel_wire / LEAST_PITCH) as u32).min(COIL.0);
    let Some(axis) = (b - a).try_normalize().filter(|_| turns >= FEWEST_TURNS) else {
        return vec![a, b];
    };
    let radius = radius.max(LEAST_RADIUS * a.distance(b) / length_rel_wire);
    let (x, y) = axis.any_orthonormal_pair();
    let steps = turns * COIL.1;
    let mut points = vec![a];
    for i in 0..=steps {
        let t = i as f32 / steps as f32;
        let (s, c) = (std::f32::consts::TAU * turns as f32 * t).sin_cos();
        // The coil opens and closes over a tenth of its length.
        let open = (10.0 * t.min(1.0 - t)).min(1.0);
        points.push(a.lerp(b, 0.1 + 0.8 * t) + radius * open * (c * x + s * y));
    }
    points.push(b);
    points
}

fn skeleton(
    joints: &[Vec3],
    parents: &[Option<u32>],
    color: [u8; 4],
    width_px: f32,
    out: &mut Vec<Stroke>,
) {
    for (&joint, parent) in joints.iter().zip(parents) {
        if let Some(&from) = parent.and_then(|p| joints.get(p as usize)) {
            out.push(Stroke::round([from, joint], [0.5 * width_px, 0.18 * width_px], color));
        }
    }
    let [r, g, b, a] = color;
    let darker = [r, g, b].map(|c| (f32::from(c) * 0.7) as u8);
    let color = [darker[0], darker[1], darker[2], a];
    out.extend(joints.iter().map(|&j| Stroke::round([j; 2], [0.55 * width_px; 2], color)));
}

/// The layout of `Stroke` in `overlay.wgsl`.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Instance {
    a: Vec4,
    b: Vec4,
    color: Vec4,
    cue: Vec4,
    /// Directions across the joints at both ends, or zero.
    cuts: Vec4,
}

/// The strokes of a picture in pixels, from back to front.
fn instances(
    overlays: &[Overlay],
    camera: &Camera,
    size: [u32; 2],
    extent: &Extent,
) -> Vec<Instance> {
    let mut strokes = Vec::new();
    let pixel = |p: Vec3| camera.pixel_of(p, size).map(|(at, _)| at);
    for overlay in overlays {
        overlay.strokes(&pixel, &mut strokes);
    }
    let middle = -camera.view_from_world().transform_point3(extent.center).z;
    let nearest = match camera.projection {
        Projection::Perspective { .. } => 1e-3 * middle.abs().max(extent.radius),
        Projection::Orthographic { .. } => f32::MIN_POSITIVE,
    };
    let cue =
        Vec4::new(middle - 0.6 * extent.radius, 0.5 / extent.radius, 2e-3 * extent.radius, HIDDEN);
    let mut all: Vec<Instance> =
        strokes.iter().filter_map(|s| project(s, camera, size, nearest, cue)).collect();
    all.sort_by(|p, q| (q.a.z + q.b.z).total_cmp(&(p.a.z + p.b.z)));
    all
}

/// A stroke in pixels, cut off in front of the camera.
fn project(
    stroke: &Stroke,
    camera: &Camera,
    size: [u32; 2],
    nearest: f32,
    cue: Vec4,
) -> Option<Instance> {
    let [a, b] = stroke.ends;
    if !a.is_finite() || !b.is_finite() {
        return None;
    }
    let depth = |p: Vec3| (camera.eye - p).dot(camera.back());
    let (da, db) = (depth(a), depth(b));
    if da < nearest && db < nearest {
        return None;
    }
    let cut = |p: Vec3, dp: f32, q: Vec3, dq: f32| {
        if dp < nearest { p.lerp(q, (nearest - dp) / (dq - dp)) } else { p }
    };
    let pixel = |p: Vec3| camera.pixel_of(p, size).map(|(at, d): (Vec2, f32)| at.extend(d));
    let (pa, pb) = (pixel(cut(a, da, b, db))?, pixel(cut(b, db, a, da))?);
    let color = Vec4::from(stroke.color.map(|c| f32::from(c) / 255.0));
    // The cut halves the angle between this stroke and the next.
    let along = (pb - pa).truncate().normalize_or_zero();
    let cut = |joint: Option<Vec3>, end: Vec3, sign: f32| {
        let next = joint.and_then(pixel).map_or(Vec2::ZERO, |p| sign * (p - end).truncate());
        let next = next.normalize_or_zero();
        if next == Vec2::ZERO { Vec2::ZERO } else { (along + next).normalize_or_zero() }
    };
    let (start, end) = (cut(stroke.joins[0], pa, -1.0), cut(stroke.joins[1], pb, 1.0));
    let cuts = Vec4::new(start.x, start.y, end.x, end.y);
    Some(Instance {
        a: pa.extend(stroke.radii[0]),
        b: pb.extend(stroke.radii[1]),
        color,
        cue,
        cuts,
    })
}

/// The pipeline and the room for the strokes.
#[derive(Debug)]
pub(crate) struct OverlayPass {
    ink: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
    room: Room,
}

/// What strokes are drawn with.
pub(crate) struct Input<'a> {
    pub(crate) overlays: &'a [Overlay],
    pub(crate) camera: &'a Camera,
    pub(crate) size: [u32; 2],
    pub(crate) extent: &'a Extent,
    pub(crate) scene_depth: &'a wgpu::TextureView,
    pub(crate) picture: &'a wgpu::TextureView,
}

impl OverlayPass {
    pub(crate) fn new(gpu: &Gpu, frame: &wgpu::BindGroupLayout) -> Self {
        let layout = gpu.layout(&[loaded_samples(gpu.samples)]);
        let shader = gpu.shader("overlay", &with_samples(gpu.samples, SHADER));
        let instance = wgpu::VertexBufferLayout {
            array_stride: size_of::<Instance>() as u64,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &wgpu::vertex_attr_array![0 => Float32x4, 1 => Float32x4, 2 => Float32x4, 3 => Float32x4, 4 => Float32x4],
        };
        let target = wgpu::ColorTargetState {
            format: PICTURE,
            blend: Some(wgpu::BlendState::ALPHA_BLENDING),
            write_mask: wgpu::ColorWrites::ALL,
        };
        let ink = gpu.pipeline(&Recipe {
            label: "overlay",
            shader: &shader,
            layouts: &[frame, &layout],
            vertex: "stretch",
            fragment: Some("ink"),
            buffers: &[Some(instance)],
            targets: &[Some(target)],
            depth: None,
            samples: 1,
            cull: None,
        });
        Self { ink, layout, room: Room::new(wgpu::BufferUsages::VERTEX) }
    }

    pub(crate) fn record(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        frame: &wgpu::BindGroup,
        input: &Input<'_>,
    ) {
        let strokes = instances(input.overlays, input.camera, input.size, input.extent);
        if strokes.is_empty() {
            return;
        }
        let buffer = self.room.write(gpu, bytemuck::cast_slice(&strokes));
        let group =
            gpu.group(&self.layout, &[wgpu::BindingResource::TextureView(input.scene_depth)]);
        let mut pass =
            begin(encoder, "overlay", &[onto(input.picture, None, wgpu::LoadOp::Load)], None);
        pass.set_bind_group(0, frame, &[]);
        pass.set_bind_group(1, &group, &[]);
        pass.set_pipeline(&self.ink);
        pass.set_vertex_buffer(0, buffer.slice(..));
        // Two triangles from four corners: 0 1 2, 2 1 3.
        pass.draw(0..6, 0..strokes.len() as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Neighbouring turns never touch: a short spring has fewer, a very short one none.
    #[test]
    fn coils_have_as_many_turns_as_can_be_told_apart() {
        for (length_rel_wire, turns) in [(4.0, 0), (10.0, 0), (13.0, 3), (20.0, 5), (500.0, 7)] {
            let points = coil([Vec3::ZERO, Vec3::X], 0.01, length_rel_wire);
            let expected = if turns == 0 { 2 } else { 3 + turns * COIL.1 as usize };
            assert_eq!(points.len(), expected, "at {length_rel_wire}");
            assert_eq!((points[0], points[points.len() - 1]), (Vec3::ZERO, Vec3::X));
        }
    }
}

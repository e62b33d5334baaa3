//! What is shown besides the bodies: how they are moved.
//!
//! Lines are laid over the picture; regions, tools and colliders are bodies that can be looked through.

use glam::{Mat4, Quat, Vec3};
use supple::TriMesh;
use supple::contact::collider::Isometry;
use supple::modifier;
use supple::player::Frame;
use supple::sculpt::modifier::Sculpt;
use supple::sculpt::{Curve, Extent, Op, Tool, ToolShape};
use supple_gpu::camera::Camera;
use supple_gpu::overlay::Overlay;
use supple_gpu::view::{Body, Paint};

use super::played::PlayedScene;

/// What can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Show {
    /// The masses of `secondary` on their springs, with how far they reach
    Springs,
    /// The bones where the motion has them
    Skeleton,
    /// What bodies must not enter
    Colliders,
    /// The ways of tools, strokes and guides
    Curves,
    /// Where tools act fully (red) and where they end (green)
    Boundaries,
    /// Where springs hang
    Anchors,
    /// What modifiers show of themselves: lines, arrows, handles
    Guides,
}

impl Show {
    /// What a warning calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Springs => "springs",
            Self::Skeleton => "bones",
            Self::Colliders => "colliders",
            Self::Curves => "curves",
            Self::Boundaries => "boundaries",
            Self::Anchors => "anchors",
            Self::Guides => "guides",
        }
    }
}

/// A body that is no asset of the scene.
#[derive(Clone, Debug)]
pub(super) struct Prop {
    mesh: TriMesh,
    transform: Mat4,
    paint: Paint,
    opacity: f32,
}

impl Prop {
    pub(super) fn body(&self) -> Body<'_> {
        Body {
            transform: self.transform,
            paint: self.paint.clone(),
            opacity: self.opacity,
            ..Body::new(&self.mesh)
        }
    }
}

/// What is shown in one frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    pub(super) props: Vec<Prop>,
    pub(super) overlays: Vec<Overlay>,
}

impl Shown {
    pub(super) fn is_empty(&self) -> bool {
        self.props.is_empty() && self.overlays.is_empty()
    }

    /// Adds what another one shows, carried by a map.
    fn add(&mut self, mut other: Self, map: Mat4) {
        for prop in &mut other.props {
            prop.transform = map * prop.transform;
        }
        for overlay in &mut other.overlays {
            overlay.for_each_point(|p| *p = map.transform_point3(*p));
        }
        self.props.append(&mut other.props);
        self.overlays.append(&mut other.overlays);
    }
}

/// Colours of lines and regions, sRGB.
const RED: [u8; 4] = [214, 48, 40, 255];
const GREEN: [u8; 4] = [40, 150, 62, 255];
const BONE: [u8; 4] = [240, 176, 32, 255];
const COIL: [u8; 4] = [30, 60, 190, 255];
const MASS: [u8; 4] = [206, 40, 52, 255];
const ANCHOR: [u8; 4] = [24, 28, 40, 255];
const REACH: [u8; 4] = [30, 60, 190, 90];
const WAY: [u8; 4] = [28, 84, 200, 255];

/// How much the surfaces of regions and colliders cover.
const REGION_OPACITY: f32 = 0.22;
const COLLIDER_OPACITY: f32 = 0.5;

/// Springs shorter than this share of their reach are drawn as their mass alone.
const STRETCHED: f32 = 0.04;

/// Sets of points with more have no regions drawn around each.
const MANY_POINTS: usize = 40;

/// Gathers what is shown in one frame.
pub(super) struct Gathering<'a> {
    pub(super) played: &'a PlayedScene,
    pub(super) frame: &'a Frame,
    /// Height of the picture in pixels: lines grow with it.
    pub(super) height_px: u32,
    /// Where the picture is taken from, once that is known.
    pub(super) camera: Option<Camera>,
}

impl Gathering<'_> {
    /// Everything of one kind.
    pub(super) fn gather(&self, show: Show) -> Shown {
        let mut shown = Shown::default();
        if show == Show::Colliders {
            self.colliders(&mut shown);
            return shown;
        }
        for body in 0..self.frame.bodies.len() {
            match show {
                Show::Springs => self.springs(body, &mut shown),
                Show::Anchors => self.anchors(body, &mut shown),
                Show::Skeleton => self.skeleton(body, &mut shown),
                Show::Guides => self.guides(body, &mut shown),
                Show::Curves => {
                    for (op, onward) in self.ops(body) {
                        shown.add(self.curves(&op), onward);
                    }
                }
                Show::Boundaries => {
                    for (op, onward) in self.ops(body) {
                        shown.add(self.regions(body, &op), onward);
                        self.drawn(body, &op, onward, &mut shown);
                    }
                }
                Show::Colliders => {}
            }
        }
        shown
    }

    /// A width in pixels that suits a picture of any size: thinner in small ones, but not as much.
    fn px(&self, at_720: f32) -> f32 {
        (at_720 * (self.height_px as f32 / 720.0).sqrt()).max(1.0)
    }

    fn springs(&self, body: usize, shown: &mut Shown) {
        let springs: Vec<_> = self.frame.bodies[body].guides.springs().collect();
        for spring in &springs {
            let length = spring.anchor.distance(spring.mass);
            if length > STRETCHED * spring.radius {
                shown.overlays.push(Overlay::Springs {
                    ends: vec![[spring.anchor, spring.mass]],
                    color: COIL,
                    width_px: self.px(1.6),
                    radius: (0.06 * spring.radius).min(0.3 * length),
                });
            }
            shown.overlays.extend(self.outline(spring.mass, spring.radius));
        }
        if !springs.is_empty() {
            let masses = springs.iter().map(|s| s.mass).collect();
            shown.overlays.push(self.dots(masses, MASS, 8.0));
        }
    }

    fn guides(&self, body: usize, shown: &mut Shown) {
        for overlay in &self.frame.bodies[body].guides.overlays {
            let width_px = self.px(1.6);
            shown.overlays.push(match overlay {
                // Shown by themselves.
                modifier::Overlay::Spring(_) => continue,
                modifier::Overlay::Line(points) => {
                    let (points, closed) = (points.clone(), false);
                    Overlay::Curve { points, closed, color: WAY, width_px }
                }
                modifier::Overlay::Arrow(from, to) => {
                    Overlay::Arrow { from: *from, to: *to, color: WAY, width_px }
                }
                modifier::Overlay::Handle(at, _) => self.dots(vec![*at], MASS, 8.0),
            });
        }
    }

    fn anchors(&self, body: usize, shown: &mut Shown) {
        let anchors: Vec<Vec3> =
            self.frame.bodies[body].guides.springs().map(|s| s.anchor).collect();
        if !anchors.is_empty() {
            shown.overlays.push(self.dots(anchors, ANCHOR, 5.0));
        }
    }

    fn dots(&self, points: Vec<Vec3>, color: [u8; 4], width: f32) -> Overlay {
        Overlay::Dots { points, color, width_px: self.px(width) }
    }

    /// A sphere as the camera sees it: a circle.
    fn outline(&self, center: Vec3, radius: f32) -> Option<Overlay> {
        let camera = self.camera?;
        let towards = (camera.eye - center).try_normalize()?;
        let across = towards.any_orthonormal_vector();
        let up = towards.cross(across);
        let point = |i: u32| {
            let (s, c) = (std::f32::consts::TAU * i as f32 / 64.0).sin_cos();
            center + radius * (c * across + s * up)
        };
        let points = (0..64).map(point).collect();
        Some(Overlay::Curve { points, closed: true, color: REACH, width_px: self.px(1.6) })
    }

    fn skeleton(&self, body: usize, shown: &mut Shown) {
        let skinned = &self.played.player().cast()[body].body;
        if skinned.joints.len() < 2 {
            return;
        }
        let (joints, parents) = self.frame.bodies[body].guides.skeleton(skinned);
        let width_px = self.px(9.0);
        shown.overlays.push(Overlay::Skeleton { joints, parents, color: BONE, width_px });
    }

    /// Colliders where they are; the studio's floor stands in for a plane.
    fn colliders(&self, shown: &mut Shown) {
        let colliders = self.played.player().colliders().iter().zip(&self.frame.colliders);
        for (collider, place) in colliders.filter(|(c, _)| c.size.is_some()) {
            shown.props.push(Prop {
                mesh: collider.mesh.clone(),
                transform: matrix(place),
                paint: Paint::srgb(108, 124, 148),
                opacity: COLLIDER_OPACITY,
            });
        }
    }

    /// The edit that every `sculpt` of a body is at, and how the modifiers after it carry it.
    fn ops(&self, body: usize) -> Vec<(Op, Mat4)> {
        let player = self.played.player();
        let cast = &player.cast()[body];
        let at = |(i, &onward): (usize, &Mat4)| {
            let (sculpt, params) = cast.modifier::<Sculpt>(i)?;
            let amount = params.amount.at(self.frame.secs, &player.scene().tracks);
            // At the very start the first tool stands ready.
            Some((sculpt.at(amount.max(1e-6)).pop()?, onward))
        };
        self.frame.bodies[body].guides.onward.iter().enumerate().filter_map(at).collect()
    }

    /// The way of an edit.
    fn curves(&self, op: &Op) -> Shown {
        let mut way = Shown::default();
        let shown = &mut way;
        match op {
            Op::Move(op) => self.way(op.center, &op.by, shown),
            Op::Points(op) => {
                let middle = op.points.iter().sum::<Vec3>() / op.points.len().max(1) as f32;
                self.way(middle, &op.by, shown);
            }
            Op::Stamp(op) => self.way(op.from, &op.by, shown),
            Op::Paint(op) => self.curve(op.stroke.clone(), false, WAY, shown),
            Op::Curve(op) => self.curve(op.guide.sampled(1.0, 96), false, WAY, shown),
            Op::Twist(op) => self.axis(op.center, op.axis, [op.from, op.to], shown),
            Op::Bend(op) => {
                let reach = 0.5 * op.width;
                self.axis(op.center, op.axis, [-reach, reach], shown);
            }
            Op::Boundary(_) => {}
        }
        way
    }

    /// The way a tool has gone, as an arrow.
    fn way(&self, from: Vec3, by: &[Vec3], shown: &mut Shown) {
        let mut points = vec![from];
        for leg in by {
            points.push(points[points.len() - 1] + *leg);
        }
        let [.., a, b] = points[..] else { return };
        if points.len() > 2 {
            let before = points[..points.len() - 1].to_vec();
            self.curve(before, false, WAY, shown);
        }
        if a != b {
            let width_px = self.px(5.0);
            shown.overlays.push(Overlay::Arrow { from: a, to: b, color: WAY, width_px });
        }
    }

    fn axis(&self, center: Vec3, axis: Vec3, span: [f32; 2], shown: &mut Shown) {
        let axis = axis.normalize_or_zero();
        let ends = span.map(|height| center + 1.2 * height * axis);
        self.curve(ends.to_vec(), false, WAY, shown);
    }

    fn curve(&self, points: Vec<Vec3>, closed: bool, color: [u8; 4], shown: &mut Shown) {
        if points.len() > 1 {
            let width_px = self.px(4.0);
            shown.overlays.push(Overlay::Curve { points, closed, color, width_px });
        }
    }

    /// The surfaces between which an edit fades.
    fn regions(&self, body: usize, op: &Op) -> Shown {
        let mut regions = Shown::default();
        let shown = &mut regions;
        let moved = |by: &[Vec3]| by.iter().sum::<Vec3>();
        match op {
            Op::Move(op) => {
                let center = op.center + moved(&op.by);
                region(center, &op.tool, [op.inner, op.outer], shown);
                if let Some(mirror) = op.mirror {
                    let n = mirror.normal.normalize_or_zero();
                    let image = center - 2.0 * (center - mirror.origin).dot(n) * n;
                    region(image, &op.tool, [op.inner, op.outer], shown);
                }
            }
            Op::Points(op) if op.points.len() <= MANY_POINTS => {
                for point in &op.points {
                    let center = *point + moved(&op.by);
                    region(center, &Tool::Sphere, [op.inner, op.outer], shown);
                }
            }
            Op::Paint(op) => {
                for point in op.stroke.first().into_iter().chain(op.stroke.last()) {
                    region(*point, &Tool::Sphere, [0.0, op.radius], shown);
                }
            }
            Op::Stamp(op) => {
                if let ToolShape::Mesh { positions, triangles } = &op.tool {
                    let mesh = TriMesh::new(positions.clone(), triangles.clone());
                    let transform = stamp_matrix(op.from + moved(&op.by), op.rotate, op.scale);
                    shown.props.push(prop(mesh, transform, RED));
                }
            }
            Op::Twist(op) => self.discs(body, op.center, op.axis, [op.to, op.from], shown),
            Op::Bend(op) => {
                let half = 0.5 * op.width;
                self.discs(body, op.center, op.along, [half, -half], shown);
            }
            Op::Points(_) | Op::Boundary(_) | Op::Curve(_) => {}
        }
        regions
    }

    /// The curves an edit has drawn on the surface, where the surface is now.
    fn drawn(&self, body: usize, op: &Op, onward: Mat4, shown: &mut Shown) {
        let (inner, outer) = match op {
            Op::Boundary(op) => (&op.inner, &op.outer),
            Op::Curve(Curve { extent: Extent::Drawn { inner, outer }, .. }) => (inner, outer),
            _ => return,
        };
        let rest = &self.played.player().cast()[body].rest.meshes[0].positions;
        let now = &self.frame.bodies[body].positions;
        let carried = |p: &Vec3| {
            let off = |i: &usize| rest[*i].distance_squared(*p);
            let nearest = (0..rest.len()).min_by(|a, b| off(a).total_cmp(&off(b)));
            nearest.map_or(*p, |i| now[i] + onward.transform_vector3(*p - rest[i]))
        };
        self.curve(inner.iter().map(carried).collect(), true, RED, shown);
        self.curve(outer.iter().map(carried).collect(), true, GREEN, shown);
    }

    /// Planes across an axis at two heights: inner, then outer.
    fn discs(&self, body: usize, center: Vec3, axis: Vec3, heights: [f32; 2], shown: &mut Shown) {
        let axis = axis.normalize_or(Vec3::Z);
        let rest = &self.played.player().cast()[body].rest.meshes[0].positions;
        let off_axis = |p: &Vec3| (*p - center).reject_from_normalized(axis).length();
        let radius = 1.15 * rest.iter().map(off_axis).fold(0.0, f32::max);
        let turn = Quat::from_rotation_arc(Vec3::Z, axis);
        for (height, color) in heights.into_iter().zip([RED, GREEN]) {
            let place = Mat4::from_rotation_translation(turn, center + height * axis);
            shown.props.push(prop(disc(radius), place, color));
        }
    }
}

/// The surfaces where a tool acts fully, in red, and where it ends, in green.
fn region(center: Vec3, tool: &Tool, [inner, outer]: [f32; 2], shown: &mut Shown) {
    if let Tool::Solid { mesh: ToolShape::Mesh { positions, triangles }, scale } = tool {
        let mesh = TriMesh::new(positions.clone(), triangles.clone());
        let place = Mat4::from_translation(center) * Mat4::from_scale(Vec3::splat(*scale));
        shown.props.push(prop(mesh, place, RED));
    }
    // Curves, planes and points have no surface of one form: their way is shown.
    if !matches!(tool, Tool::Sphere | Tool::Capsule { .. } | Tool::Box { .. }) {
        return;
    }
    for (radius, color) in [(inner, RED), (outer, GREEN)] {
        if radius > 0.0 {
            let place = Mat4::from_translation(center);
            shown.props.push(prop(rounded(tool, radius), place, color));
        }
    }
}

fn prop(mesh: TriMesh, transform: Mat4, [r, g, b, _]: [u8; 4]) -> Prop {
    Prop { mesh, transform, paint: Paint::srgb(r, g, b), opacity: REGION_OPACITY }
}

fn matrix(place: &Isometry) -> Mat4 {
    Mat4::from_rotation_translation(place.rotation, place.translation)
}

/// How a stamp's tool is placed: scaled, turned about x, then y, then z, and moved.
fn stamp_matrix(at: Vec3, degrees: Vec3, scale: f32) -> Mat4 {
    let turn = Quat::from_rotation_z(degrees.z.to_radians())
        * Quat::from_rotation_y(degrees.y.to_radians())
        * Quat::from_rotation_x(degrees.x.to_radians());
    Mat4::from_scale_rotation_translation(Vec3::splat(scale), turn, at)
}

/// The points at a distance from a tool's core: a ball pulled apart at its middle planes.
fn rounded(tool: &Tool, radius: f32) -> TriMesh {
    const RINGS: u32 = 32;
    const AROUND: u32 = 64;
    let spread = |n: Vec3| match tool {
        Tool::Capsule { half } => *half * sign(n.dot(*half)),
        Tool::Box { half } => half.abs() * Vec3::new(sign(n.x), sign(n.y), sign(n.z)),
        _ => Vec3::ZERO,
    };
    let point = |ring: u32, k: u32| {
        let (s, c) = (std::f32::consts::PI * ring as f32 / RINGS as f32).sin_cos();
        let (sin, cos) = (std::f32::consts::TAU * k as f32 / AROUND as f32).sin_cos();
        let n = Vec3::new(s * sin, c, s * cos);
        radius * n + spread(n)
    };
    let at = |ring: u32, k: u32| ring * AROUND + k % AROUND;
    let positions = (0..=RINGS).flat_map(|ring| (0..AROUND).map(move |k| point(ring, k))).collect();
    let mut triangles = Vec::new();
    for (ring, k) in (0..RINGS).flat_map(|ring| (0..AROUND).map(move |k| (ring, k))) {
        let [a, b, c, d] = [at(ring, k), at(ring, k + 1), at(ring + 1, k), at(ring + 1, k + 1)];
        triangles.extend([[a, c, d], [a, d, b]]);
    }
    TriMesh::new(positions, triangles)
}

/// −1, 0 or 1, with a little room for rounding about 0.
fn sign(x: f32) -> f32 {
    if x.abs() < 1e-5 { 0.0 } else { x.signum() }
}

/// A disc in the plane z = 0.
fn disc(radius: f32) -> TriMesh {
    const AROUND: u32 = 64;
    let rim = |k: u32| {
        let (s, c) = (std::f32::consts::TAU * k as f32 / AROUND as f32).sin_cos();
        radius * Vec3::new(c, s, 0.0)
    };
    let positions = std::iter::once(Vec3::ZERO).chain((0..AROUND).map(rim)).collect();
    TriMesh::new(positions, (0..AROUND).map(|k| [0, 1 + k, 1 + (k + 1) % AROUND]).collect())
}

impl Shown {
    /// The points of its lines, for framing.
    pub(super) fn lines(&self) -> Vec<Vec3> {
        self.overlays.iter().flat_map(|o| o.points()).collect()
    }

    /// The points of its bodies, for framing and for the floor.
    pub(super) fn solids(&self) -> Vec<Vec3> {
        self.props.iter().flat_map(|prop| prop.body().placed()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounded_tool_is_everywhere_at_its_distance() {
        let half = Vec3::new(0.5, 0.2, 0.3);
        let mesh = rounded(&Tool::Box { half }, 0.1);
        for p in &mesh.positions {
            let distance = (p.abs() - half).max(Vec3::ZERO).length();
            assert!(distance < 0.1 + 1e-5, "{p} is {distance} from the box");
        }
        let mesh = rounded(&Tool::Capsule { half: Vec3::Y }, 0.25);
        for p in &mesh.positions {
            let nearest = Vec3::Y * p.y.clamp(-1.0, 1.0);
            assert!((p.distance(nearest) - 0.25).abs() < 1e-4, "{p}");
        }
    }
}

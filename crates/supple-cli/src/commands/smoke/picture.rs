//! A camera across the stream, and the pictures it takes.

use std::ops::Range;

use glam::Vec3;
use supple::TriMesh;
use supple::mesh::Values;
use supple::mesh::measure::Bounds;
use supple::modifier;
use supple::player::Frame;
use supple::smoke::ALPHA;
use supple::smoke::land::Land;
use supple::smoke::style::Style;
use supple_gpu::camera::{Camera, Framing};
use supple_gpu::overlay::Overlay;
use supple_gpu::view::{Body, Edge, Label, Paint, Scalars, View, aspect};
use supple_gpu::{Image, Renderer};

use super::cast::Cast;
use super::checkpoint::Checkpoint;
use super::output::{for_frames, mesh_of};
use super::{Args, lines};
use crate::shell::Shell;

/// Smoke thinner than this is no reason to look farther.
const SEEN: f32 = 0.02;

/// Frames looked at to find a camera that holds the whole take.
const LOOKS: u32 = 12;

/// The colour of seed lines, sRGB.
const SEED: [u8; 4] = [150, 160, 175, 120];

/// The colours of land, linear, and of its shore, sRGB.
const LAND: [f32; 4] = [0.055, 0.05, 0.042, 1.0];
const SHORE: [u8; 4] = [150, 142, 122, 200];

/// How far around smoke land is shown, as a share of its size.
const AROUND: f32 = 0.35;

/// One camera for all frames.
pub(super) struct Camerawork {
    camera: Camera,
    stage: Option<Bounds>,
    obstacle: Option<TriMesh>,
    land: Option<Land>,
    narrow: f32,
    args: Args,
    /// What the colour means, and the ends of its range.
    by: Option<(String, [f32; 2])>,
}

/// What the camera must hold, and the range of what colours mean.
#[derive(Default)]
pub(super) struct Seen {
    points: Vec<Vec3>,
    range: Option<[f32; 2]>,
}

impl Seen {
    /// Looks at the surfaces of a frame.
    pub(super) fn look(&mut self, args: &Args, frame: &Frame) {
        for body in &frame.bodies {
            if let Some(Values::Scalar(alpha)) = body.channels.get(ALPHA) {
                let seen = body.positions.iter().zip(alpha).filter(|(_, alpha)| **alpha > SEEN);
                self.points.extend(seen.map(|(x, _)| *x));
            }
            if let Some(Values::Scalar(values)) =
                args.by.as_ref().and_then(|by| body.channels.get(by))
            {
                self.range = widened(self.range, values);
            }
            for overlay in &body.guides.overlays {
                if let modifier::Overlay::Line(points) = overlay {
                    self.points.extend(points);
                }
            }
        }
    }
}

impl Camerawork {
    /// A camera that holds all of a range of frames, which are played for it.
    pub(super) fn of_take(
        cast: &mut Cast,
        args: &Args,
        frames: Range<u32>,
        shell: &Shell,
    ) -> anyhow::Result<Self> {
        let mut seen = Seen::default();
        let every = (frames.len() as u32 / LOOKS).max(1);
        let looks = frames.clone().filter(|i| i % every == 0 || i + 1 == frames.end);
        shell.with_progress("looking", |run| {
            for i in looks {
                let mut none = Checkpoint::none();
                let looked = for_frames(cast, i..i + 1, &mut none, run, |_, _, frame| {
                    seen.look(args, &frame);
                    Ok(Some(frame))
                });
                match looked {
                    Ok(_) => {}
                    // Where a record breaks off is said when its frames are written.
                    Err(_) if i > frames.start && !run.is_cancelled() => break,
                    Err(error) => return Err(error),
                }
            }
            Ok::<_, anyhow::Error>(())
        })?;
        Ok(Self::new(cast, args, seen))
    }

    /// A camera that holds what was seen.
    pub(super) fn new(cast: &Cast, args: &Args, seen: Seen) -> Self {
        let Seen { points: mut seen, range } = seen;
        let look = &args.look;
        let narrow = cast.narrow();
        narrowed(&mut seen, narrow);
        let obstacle = cast.obstacle().cloned();
        let mut land = cast.land().cloned();
        if let Some(land) = &mut land {
            narrowed(&mut land.mesh.positions, narrow);
            land.shore.iter_mut().for_each(|edge| narrowed(edge, narrow));
        }
        let direction = look
            .from
            .unwrap_or_else(|| if cast.is_flat() { Vec3::Z } else { across(cast.axes(), look.up) });
        let mut framing = Framing::new(direction, look.up, aspect(look.size)).with_margin(0.06);
        // A wall as large as the flow is no reason to look at all of it.
        let smoke = Bounds::of(&seen);
        let near = |p: &&Vec3, share: f32| {
            smoke.is_none_or(|b| {
                let reach = share * b.diagonal();
                p.cmpge(b.min - reach).all() && p.cmple(b.max + reach).all()
            })
        };
        let walls = obstacle.iter().flat_map(|mesh| &mesh.positions).filter(|p| near(p, 0.6));
        let coast = land.iter().flat_map(|land| &land.mesh.positions).filter(|p| near(p, AROUND));
        let beside: Vec<Vec3> = walls.chain(coast).copied().collect();
        seen.extend(beside);
        framing.add(&seen);
        let by = args.by.clone().zip(range);
        let (camera, stage) = (framing.camera(), Bounds::of(&seen));
        Self { camera, stage, obstacle, land, narrow, args: args.clone(), by }
    }

    pub(super) fn take(
        &self,
        frame: &Frame,
        number: u32,
        cast: &Cast,
        renderer: &mut Renderer,
    ) -> anyhow::Result<Image> {
        let look = &self.args.look;
        let mut meshes: Vec<TriMesh> = frame.bodies.iter().map(mesh_of).collect();
        meshes.iter_mut().for_each(|mesh| narrowed(&mut mesh.positions, self.narrow));
        let mut bodies: Vec<Body<'_>> = Vec::new();
        for mesh in meshes.iter().filter(|mesh| !mesh.triangles.is_empty()) {
            let mut body = Body { paint: self.paint(), ..Body::new(mesh) };
            if let Some((by, range)) = &self.by
                && let Some(Values::Scalar(values)) = mesh.attributes.get(by)
            {
                let legend = bodies.is_empty();
                body.field = Some(Scalars {
                    range: Some(*range),
                    legend,
                    ..Scalars::new(by.clone(), values)
                });
            }
            bodies.push(body);
        }
        bodies.extend(self.obstacle.as_ref().map(Body::new));
        let ground = Paint { color: LAND, roughness: 1.0, ..Paint::default() };
        bodies.extend(
            self.land.iter().map(|land| Body { paint: ground.clone(), ..Body::new(&land.mesh) }),
        );
        let mut overlays = Vec::new();
        if !look.no_seed_line {
            overlays.extend(frame.bodies.iter().flat_map(|body| seeds(&body.guides.overlays)));
        }
        if let Some(width_px) = self.args.line_width {
            for (body, cast) in frame.bodies.iter().zip(cast.params()) {
                lines::draw(body, cast, width_px, &mut overlays);
            }
        }
        for overlay in &mut overlays {
            if let Overlay::Curve { points, .. } = overlay {
                narrowed(points, self.narrow);
            }
        }
        overlays.extend(self.land.iter().map(|land| Overlay::Segments {
            ends: land.shore.clone(),
            color: SHORE,
            width_px: 1.2,
        }));
        let time = cast.when(number);
        let labels = (!look.no_time).then(|| Label::edge(Edge::BottomLeft, &time));
        let view = View {
            bodies,
            overlays,
            labels: labels.into_iter().collect(),
            backdrop: look.backdrop.into(),
            stage: self.stage,
            up: Some(look.up),
            ..View::through(self.camera, look.size)
        };
        Ok(renderer.render(&view)?)
    }

    /// Wool is seen as it is; all else is smoke. The colours are those of the vertices.
    fn paint(&self) -> Paint {
        match self.args.style {
            Style::Tufts => Paint { color: [1.0; 4], roughness: 0.9, ..Paint::default() },
            _ => Paint::smoke([1.0; 3]),
        }
    }
}

/// Places on a globe, seen from above one of its latitudes.
fn narrowed(points: &mut [Vec3], narrow: f32) {
    if narrow != 1.0 {
        points.iter_mut().for_each(|p| p.x *= narrow);
    }
}

/// Seed lines of a body.
fn seeds(guides: &[modifier::Overlay]) -> impl Iterator<Item = Overlay> + '_ {
    guides.iter().filter_map(|guide| match guide {
        modifier::Overlay::Line(points) => Some(Overlay::Curve {
            points: points.clone(),
            closed: false,
            color: SEED,
            width_px: 1.5,
        }),
        _ => None,
    })
}

/// The range that holds these values, too.
fn widened(range: Option<[f32; 2]>, values: &[f32]) -> Option<[f32; 2]> {
    let [low, high] = range.unwrap_or([f32::INFINITY, f32::NEG_INFINITY]);
    let finite = || values.iter().copied().filter(|v| v.is_finite());
    let widened = [finite().fold(low, f32::min), finite().fold(high, f32::max)];
    (widened[0] <= widened[1]).then_some(widened)
}

/// From between the normal of the fresh sheet and its side, a little from above.
fn across([stream, line]: [Vec3; 2], up: Vec3) -> Vec3 {
    let mut normal = line.cross(stream).normalize_or_zero();
    if normal == Vec3::ZERO {
        normal = stream.any_orthonormal_vector();
    }
    let side = if line.dot(Vec3::ONE) < 0.0 { -line } else { line };
    let front = if normal.dot(Vec3::ONE) < 0.0 { -normal } else { normal };
    0.95 * side + 0.55 * front + 0.3 * stream + 0.1 * up
}

//! A camera across the stream, and the pictures it takes.

use std::ops::Range;

use glam::Vec3;
use supple::TriMesh;
use supple::mesh::Values;
use supple::mesh::measure::Bounds;
use supple::smoke::{ALPHA, Surface};
use supple_gpu::camera::{Camera, Framing};
use supple_gpu::overlay::Overlay;
use supple_gpu::view::{Body, Field, Paint, View, aspect};
use supple_gpu::{Image, Renderer};

use super::cast::Cast;
use super::output::for_frames;
use super::{Args, By, Shown};
use crate::shell::Shell;

/// Smoke thinner than this is no reason to look farther.
const SEEN: f32 = 0.02;

/// Frames looked at to find a camera that holds the whole take.
const LOOKS: u32 = 12;

/// One camera for all frames.
pub(super) struct Camerawork {
    camera: Camera,
    stage: Option<Bounds>,
    obstacle: Option<TriMesh>,
    seeds: Vec<Overlay>,
    args: Look,
}

struct Look {
    size: [u32; 2],
    backdrop: supple_gpu::view::Backdrop,
    up: Vec3,
    /// What the colour means, and the ends of its range.
    by: Option<(By, [f32; 2])>,
}

/// What the camera must hold, and the range of what colours mean.
#[derive(Default)]
pub(super) struct Seen {
    points: Vec<Vec3>,
    range: Option<[f32; 2]>,
}

impl Seen {
    /// Looks at the surfaces of a frame.
    pub(super) fn look(
        &mut self,
        cast: &Cast,
        args: &Args,
        surfaces: &[Surface],
        shell: &Shell,
    ) -> anyhow::Result<()> {
        for surface in surfaces {
            visible(surface, &mut self.points);
            if let Some(by) = args.by {
                self.range = widened(self.range, &values(by, cast, surface, shell)?);
            }
        }
        Ok(())
    }
}

impl Camerawork {
    /// A camera that holds all of a range of frames, which are played for it.
    pub(super) fn of_take(
        cast: &Cast,
        args: &Args,
        frames: Range<u32>,
        shell: &Shell,
    ) -> anyhow::Result<Self> {
        let mut seen = Seen::default();
        let every = (frames.len() as u32 / LOOKS).max(1);
        for_frames(cast, args, frames.clone(), shell, |frame, surfaces| {
            if frame + 1 == frames.end || frame % every == 0 {
                seen.look(cast, args, surfaces, shell)?;
            }
            Ok(())
        })?;
        Ok(Self::new(cast, args, seen))
    }

    /// A camera that holds what was seen.
    pub(super) fn new(cast: &Cast, args: &Args, seen: Seen) -> Self {
        let Seen { points: mut seen, range } = seen;
        let look = &args.look;
        let obstacle = cast.obstacle().cloned();
        let direction = look
            .from
            .unwrap_or_else(|| if cast.is_flat() { Vec3::Z } else { across(cast.axes(), look.up) });
        let mut framing = Framing::new(direction, look.up, aspect(look.size)).with_margin(0.06);
        let mut seeds = Vec::new();
        for streak in cast.streaks() {
            let points: Vec<Vec3> =
                streak.params().seeds.iter().flat_map(|line| &line.points).map(place).collect();
            seen.extend(&points);
            if !look.no_seed_line && args.style != Shown::Tufts {
                seeds.push(Overlay::Curve {
                    points,
                    closed: false,
                    color: [150, 160, 175, 120],
                    width_px: 1.5,
                });
            }
        }
        seen.extend(obstacle.iter().flat_map(|mesh| &mesh.positions));
        framing.add(&seen);
        let by = args.by.zip(range);
        let args = Look { size: look.size, backdrop: look.backdrop.into(), up: look.up, by };
        Self { camera: framing.camera(), stage: Bounds::of(&seen), obstacle, seeds, args }
    }

    pub(super) fn take(
        &self,
        cast: &Cast,
        surfaces: &[Surface],
        renderer: &mut Renderer,
        shell: &Shell,
    ) -> anyhow::Result<Image> {
        let mut fields = Vec::new();
        for surface in surfaces {
            fields.push(match self.args.by {
                Some((by, _)) => values(by, cast, surface, shell)?,
                None => Vec::new(),
            });
        }
        let mut bodies: Vec<Body<'_>> = Vec::new();
        for (i, surface) in surfaces.iter().enumerate() {
            let mut body = surface_body(surface, cast.colors()[i]);
            if let Some((by, range)) = self.args.by {
                let name = format!("{by:?}").to_lowercase();
                let legend = bodies.is_empty();
                body.field =
                    Some(Field { range: Some(range), legend, ..Field::new(name, &fields[i]) });
            }
            if !surface.mesh.triangles.is_empty() {
                bodies.push(body);
            }
        }
        bodies.extend(self.obstacle.as_ref().map(Body::new));
        let view = View {
            bodies,
            overlays: self.seeds.clone(),
            backdrop: self.args.backdrop,
            stage: self.stage,
            up: Some(self.args.up),
            ..View::through(self.camera, self.args.size)
        };
        Ok(renderer.render(&view)?)
    }
}

fn surface_body(surface: &Surface, color: [f32; 3]) -> Body<'_> {
    Body { paint: Paint::smoke(color), ..Body::new(&surface.mesh) }
}

/// One number a vertex.
fn values(by: By, cast: &Cast, surface: &Surface, shell: &Shell) -> anyhow::Result<Vec<f32>> {
    let mesh = &surface.mesh;
    let scalar = |name: &str| match mesh.attributes.get(name) {
        Some(Values::Scalar(values)) => values.clone(),
        _ => Vec::new(),
    };
    Ok(match by {
        By::Age => scalar("age"),
        By::Row => scalar("row"),
        // Optical depth falls as the area grows.
        By::Stretch => {
            let fresh = cast.streaks()[0].params().opacity.depth() as f32;
            scalar("density").iter().map(|d| fresh / -(1.0 - d).max(1e-6).ln()).collect()
        }
        By::Speed => {
            let places: Vec<[f64; 3]> =
                mesh.positions.iter().map(|p| p.as_dvec3().to_array()).collect();
            let velocities = cast.flow().velocities(&places, surface.time, &shell.quiet_run())?;
            let length = |v: &[f64; 4]| v[..3].iter().map(|c| c * c).sum::<f64>().sqrt() as f32;
            velocities.iter().map(length).collect()
        }
    })
}

/// The range that holds these values, too.
fn widened(range: Option<[f32; 2]>, values: &[f32]) -> Option<[f32; 2]> {
    let [low, high] = range.unwrap_or([f32::INFINITY, f32::NEG_INFINITY]);
    let finite = || values.iter().copied().filter(|v| v.is_finite());
    let widened = [finite().fold(low, f32::min), finite().fold(high, f32::max)];
    (widened[0] <= widened[1]).then_some(widened)
}

/// A cylinder along z, open at its ends.
pub(super) fn cylinder(radius: f32, [low, high]: [f32; 2]) -> TriMesh {
    const AROUND: u32 = 96;
    let rim = |k: u32, z: f32| {
        let (s, c) = (std::f32::consts::TAU * k as f32 / AROUND as f32).sin_cos();
        Vec3::new(radius * c, radius * s, z)
    };
    let positions = (0..AROUND).flat_map(|k| [rim(k, low), rim(k, high)]).collect();
    let side = |k: u32| {
        let (a, b) = (2 * k, 2 * ((k + 1) % AROUND));
        [[a, b, b + 1], [a, b + 1, a + 1]]
    };
    TriMesh::new(positions, (0..AROUND).flat_map(side).collect())
}

fn place(p: &[f64; 3]) -> Vec3 {
    glam::DVec3::from(*p).as_vec3()
}

/// The vertices of a surface that can be seen.
fn visible(surface: &Surface, into: &mut Vec<Vec3>) {
    if let Some(Values::Scalar(alpha)) = surface.mesh.attributes.get(ALPHA) {
        let seen = surface.mesh.positions.iter().zip(alpha).filter(|(_, alpha)| **alpha > SEEN);
        into.extend(seen.map(|(x, _)| *x));
    }
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

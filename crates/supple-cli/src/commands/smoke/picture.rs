//! A camera across the stream, and the pictures it takes.

use std::ops::Range;

use glam::Vec3;
use supple::TriMesh;
use supple::mesh::Values;
use supple::mesh::measure::Bounds;
use supple::smoke::{ALPHA, Surface};
use supple_gpu::camera::{Camera, Framing};
use supple_gpu::overlay::Overlay;
use supple_gpu::view::{Body, Paint, View, aspect};
use supple_gpu::{Image, Renderer};

use super::Args;
use super::cast::Cast;
use super::output::for_frames;
use crate::commands::{read, rest_mesh};
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
}

impl Camerawork {
    pub(super) fn new(
        cast: &Cast,
        args: &Args,
        frames: Range<u32>,
        shell: &Shell,
    ) -> anyhow::Result<Self> {
        let look = &args.look;
        let obstacle = match &look.obstacle {
            Some(path) => Some(rest_mesh(path, read(path, shell)?, shell)?),
            None => None,
        };
        let direction = look.from.unwrap_or_else(|| across(cast.axes(), look.up));
        let mut framing = Framing::new(direction, look.up, aspect(look.size)).with_margin(0.06);
        let mut seen = Vec::new();
        let every = (frames.len() as u32 / LOOKS).max(1);
        for_frames(cast, frames.clone(), shell, |frame, surfaces| {
            if frame + 1 == frames.end || frame % every == 0 {
                surfaces.iter().for_each(|surface| visible(surface, &mut seen));
            }
            Ok(())
        })?;
        let mut seeds = Vec::new();
        for streak in cast.streaks() {
            let points: Vec<Vec3> =
                streak.params().seeds.iter().flat_map(|line| &line.points).map(place).collect();
            seen.extend(&points);
            if !look.no_seed_line {
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
        let args = Look { size: look.size, backdrop: look.backdrop.into(), up: look.up };
        Ok(Self { camera: framing.camera(), stage: Bounds::of(&seen), obstacle, seeds, args })
    }

    pub(super) fn take(
        &self,
        cast: &Cast,
        surfaces: &[Surface],
        renderer: &mut Renderer,
    ) -> anyhow::Result<Image> {
        let mut bodies: Vec<Body<'_>> = Vec::new();
        for (surface, color) in surfaces.iter().zip(cast.colors()) {
            if !surface.mesh.triangles.is_empty() {
                bodies.push(surface_body(surface, *color));
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
    0.75 * side + 0.8 * front - 0.2 * stream + 0.25 * up
}

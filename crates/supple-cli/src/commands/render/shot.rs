//! One camera on a stage, and the pictures it takes.

use anyhow::bail;
use glam::Vec3;
use supple::TriMesh;
use supple::mesh::Values;
use supple::player::Frame;
use supple_gpu::camera::{Camera, Framing, Projection};
use supple_gpu::compare::{self, Comparison};
use supple_gpu::splat;
use supple_gpu::view::{Body, Edge, Field, Label, Shading, View, Wireframe, aspect, range_of};
use supple_gpu::{Image, Renderer};

use super::show::{Gathering, Show, Shown};
use super::stage::Stage;
use super::{Args, Look};
use crate::shell::Shell;

/// Frames looked at to find a camera that holds the whole motion.
const FRAMING_SAMPLES: usize = 12;

/// A camera that stays where it is, the floor, and the meaning of colours.
#[derive(Clone, Debug)]
pub(super) struct Shot {
    look: Look,
    camera: Camera,
    floor: Option<f32>,
    range: Option<[f32; 2]>,
    /// For each body that is a cloud of points, how large they are drawn.
    splats: Vec<Option<f32>>,
}

impl Shot {
    /// Sets the camera so that everything in the given frames is in the picture.
    pub(super) fn new(
        stage: &mut Stage,
        frames: &[u32],
        look: &Look,
        shell: &Shell,
    ) -> anyhow::Result<Self> {
        if stage.player().cast().iter().all(|cast| cast.body.mesh.positions.is_empty()) {
            bail!("there is nothing to draw: name a mesh, a point cloud, or a scene with one");
        }
        let ratio = aspect(look.size);
        let mut framing = match look.from {
            Some(direction) if direction.length_squared() > 0.0 => {
                Framing::new(direction, look.up, ratio)
            }
            Some(_) => bail!("--from 0,0,0 is no direction"),
            None => Framing::three_quarter(look.up, ratio),
        };
        let mut floor = f32::INFINITY;
        let mut range: Option<[f32; 2]> = None;
        let mut missing = look.show.clone();
        for &i in &sampled(frames) {
            let frame = stage.frame(i, shell)?;
            for (body, shown) in frame.bodies.iter().enumerate() {
                framing.add(&shown.positions);
                let lowest = shown.positions.iter().map(|p| p.dot(look.up));
                floor = lowest.fold(floor, f32::min);
                if let Some(values) = field_values(stage, &frame, body, look)? {
                    let [lo, hi] = range_of(&values);
                    range = Some(range.map_or([lo, hi], |[a, b]| [a.min(lo), b.max(hi)]));
                }
            }
            for &kind in &look.show {
                let shown = gathering(stage, &frame, look, None).gather(kind);
                let solids = shown.solids();
                framing.add(&solids);
                framing.add(&shown.lines());
                floor = solids.iter().map(|p| p.dot(look.up)).fold(floor, f32::min);
                missing.retain(|m| *m != kind || shown.is_empty());
            }
            floor = ground(stage, &frame, look.up).unwrap_or(floor);
        }
        let nothing = |kind: &Show| format!("there are no {} to show", kind.name());
        shell.warn("render", &missing.iter().map(nothing).collect::<Vec<_>>());
        let camera = fixed_camera(stage, look).unwrap_or_else(|| framing.camera());
        let floor = floor.is_finite().then_some(floor);
        let splats = stage.player().cast().iter().map(|cast| {
            let mesh = &cast.rest.meshes[0];
            mesh.triangles.is_empty().then(|| splat::radius(&mesh.positions))
        });
        let splats = splats.collect();
        Ok(Self { look: look.clone(), camera, floor, range, splats })
    }

    pub(super) fn camera(&self) -> &Camera {
        &self.camera
    }

    pub(super) fn with_camera(&self, camera: Camera) -> Self {
        Self { camera, ..self.clone() }
    }

    /// The picture of one frame.
    pub(super) fn take(
        &self,
        stage: &mut Stage,
        frame: u32,
        renderer: &mut Renderer,
        shell: &Shell,
    ) -> anyhow::Result<Image> {
        let frame = stage.frame(frame, shell)?;
        let fields: Result<Vec<_>, _> =
            (0..frame.bodies.len()).map(|b| field_values(stage, &frame, b, &self.look)).collect();
        let mut fields = fields?;
        let clouds: Vec<Option<TriMesh>> =
            (0..fields.len()).map(|b| self.cloud(stage, &frame, b)).collect();
        for (values, cloud) in fields.iter_mut().zip(&clouds) {
            if let (Some(values), Some(mesh)) = (values, cloud) {
                let each = mesh.positions.len() / values.len().max(1);
                *values = values.iter().flat_map(|&v| std::iter::repeat_n(v, each)).collect();
            }
        }
        let around = gathering(stage, &frame, &self.look, Some(self.camera));
        let shown: Vec<Shown> = self.look.show.iter().map(|&kind| around.gather(kind)).collect();
        let mut bodies = Vec::new();
        for (i, values) in fields.iter().enumerate() {
            let mut body = match &clouds[i] {
                Some(mesh) => Body { paints: stage.paints(i).to_vec(), ..Body::new(mesh) },
                None => dressed(stage, &frame, i, &self.look),
            };
            body.opacity = self.look.opacity;
            body.field = values.as_ref().map(|values| self.field(values, i));
            bodies.push(body);
        }
        bodies.extend(shown.iter().flat_map(|s| &s.props).map(|prop| prop.body()));
        let labels = self.look.label.iter().map(|text| Label::edge(Edge::BottomLeft, text));
        Ok(renderer.render(&View {
            bodies,
            overlays: shown.iter().flat_map(|s| s.overlays.clone()).collect(),
            labels: labels.collect(),
            floor: self.floor,
            ..View::through(self.camera, self.look.size)
        })?)
    }

    /// A cloud of points as the camera sees it; nothing for a body with triangles.
    fn cloud(&self, stage: &Stage, frame: &Frame, body: usize) -> Option<TriMesh> {
        let radius = self.splats[body]?;
        let attributes = &rest(stage, body).attributes;
        Some(splat::splats(&frame.bodies[body].positions, attributes, radius, &self.camera))
    }

    /// A field in colours that mean the same in every frame, explained once.
    fn field<'a>(&self, values: &'a [f32], body: usize) -> Field<'a> {
        let name = self.look.field.clone().unwrap_or_default();
        Field { range: self.range, legend: body == 0, ..Field::new(name, values) }
    }
}

/// What is shown besides the bodies of a frame.
fn gathering<'a>(
    stage: &'a Stage,
    frame: &'a Frame,
    look: &Look,
    camera: Option<Camera>,
) -> Gathering<'a> {
    Gathering { stage, frame, height_px: look.size[1], camera }
}

/// The height of a plane that bodies lie on, if the scene has one: there the floor is.
fn ground(stage: &Stage, frame: &Frame, up: Vec3) -> Option<f32> {
    let planes = stage.player().colliders().iter().zip(&frame.colliders);
    planes
        .filter(|(collider, place)| {
            collider.size.is_none() && (place.rotation * Vec3::Y).dot(up) > 0.999
        })
        .map(|(_, place)| place.translation.dot(up))
        .reduce(f32::max)
}

/// The camera of the command line, of the scene, or of the file.
fn fixed_camera(stage: &Stage, look: &Look) -> Option<Camera> {
    if let (Some(eye), Some(target)) = (look.eye, look.target) {
        let projection = Projection::Perspective { fov_y: look.fov.to_radians() as f32 };
        return Some(Camera { eye, target, up: look.up, projection });
    }
    stage.camera().filter(|_| look.from.is_none())
}

/// A few frames that stand for all of them, the first and the last among them.
fn sampled(frames: &[u32]) -> Vec<u32> {
    let spread = supple_gpu::sheet::spread_frames(frames.len(), FRAMING_SAMPLES);
    spread.into_iter().map(|i| frames[i]).collect()
}

/// A body of a frame in its paints.
fn dressed<'a>(stage: &'a Stage, frame: &'a Frame, body: usize, look: &Look) -> Body<'a> {
    let shown = &frame.bodies[body];
    Body {
        positions: Some(&shown.positions),
        normals: None,
        paints: stage.paints(body).to_vec(),
        shading: if look.flat { Shading::Flat } else { Shading::default() },
        wireframe: look.wireframe.then(Wireframe::default),
        ..Body::new(rest(stage, body))
    }
}

fn rest(stage: &Stage, body: usize) -> &TriMesh {
    &stage.player().cast()[body].rest.meshes[0]
}

/// The number a vertex that the person asked to see.
fn field_values(
    stage: &Stage,
    frame: &Frame,
    body: usize,
    look: &Look,
) -> anyhow::Result<Option<Vec<f32>>> {
    let Some(name) = &look.field else { return Ok(None) };
    let mesh = rest(stage, body);
    if name == "displacement" {
        let pairs = mesh.positions.iter().zip(&frame.bodies[body].positions);
        return Ok(Some(pairs.map(|(rest, now)| rest.distance(*now)).collect()));
    }
    match mesh.attributes.get(name) {
        Some(Values::Scalar(values)) => Ok(Some(values.clone())),
        Some(values) => {
            let width = values.width();
            let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
            Ok(Some(values.as_floats().chunks_exact(width).map(length).collect()))
        }
        None => {
            let mut known: Vec<_> = mesh.attributes.iter().map(|a| a.name.as_str()).collect();
            known.push("displacement");
            bail!("there is no field '{name}'; there are {}", known.join(", "))
        }
    }
}

/// Before and after from the same camera, the difference coloured.
pub(super) fn before_after(
    before: &mut Stage,
    after: &mut Stage,
    frame: u32,
    args: &Args,
    renderer: &mut Renderer,
    shell: &Shell,
) -> anyhow::Result<Image> {
    let (first, second) = (before.frame(frame, shell)?, after.frame(frame, shell)?);
    let [width, height] = args.look.size;
    let how = Comparison {
        panel: [(width / 2).max(1), height],
        up: args.look.up,
        direction: args.look.from.filter(|d| *d != Vec3::ZERO),
        captions: captions(args.look.label.as_deref()),
    };
    let left = undressed(before, &first, &args.look);
    let right = undressed(after, &second, &args.look);
    if left.iter().zip(&right).any(|(p, q)| compare::displacement(p, q).is_err()) {
        let different =
            "the shapes have different vertices: they are shown without their difference";
        shell.warn("compare", &[different]);
    }
    Ok(compare::before_after(renderer, &left, &right, &how)?)
}

/// The words in the corners of both panels: as given, "first|second".
fn captions(label: Option<&str>) -> [String; 2] {
    let (first, second) = label.and_then(|l| l.split_once('|')).unwrap_or(("before", "after"));
    [first, second].map(|words| words.trim().to_owned())
}

/// The bodies of a frame without anything shown around them.
fn undressed<'a>(stage: &'a Stage, frame: &'a Frame, look: &Look) -> Vec<Body<'a>> {
    (0..frame.bodies.len()).map(|body| dressed(stage, frame, body, look)).collect()
}

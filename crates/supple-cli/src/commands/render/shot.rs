//! One camera on a played scene, and the pictures it takes.

use std::sync::Arc;

use anyhow::bail;
use glam::Vec3;
use supple::TriMesh;
use supple::asset::Alpha;
use supple::mesh::Values;
use supple::mesh::attribute::{Attributes, COLOR};
use supple::mesh::measure::Bounds;
use supple::mesh::section::{Plane, cut};
use supple::player::{Cast, Frame};
use supple_gpu::camera::{Camera, Framing, Projection};
use supple_gpu::compare::{self, Comparison};
use supple_gpu::splat;
use supple_gpu::view::{
    Body, Edge, Label, NormalSource, Paint, Scalars, View, Wireframe, aspect, legend_room, range_of,
};
use supple_gpu::{Image, Renderer};

use super::played::PlayedScene;
use super::show::{Gathering, Show, Shown};
use super::{Args, Look};
use crate::shell::Shell;

/// Frames looked at to find a camera that holds the whole motion.
const FRAMING_SAMPLES: usize = 24;

/// A camera that stays where it is, the floor, and the meaning of colours.
#[derive(Clone, Debug)]
pub(super) struct Shot {
    look: Look,
    camera: Camera,
    taken: Taken,
    /// For each body that is a cloud, which of its points are drawn and how large.
    splats: Vec<Option<(Vec<u32>, f32)>>,
}

/// What was seen in the frames of a shot.
#[derive(Clone, Debug)]
struct Taken {
    /// What the bodies fill in all frames together.
    bounds: Option<Bounds>,
    /// The longest diagonal of what they fill in one frame.
    diagonal: f32,
    /// Where the floor is.
    floor: f32,
    /// The smallest and the largest value of the field.
    range: Option<[f32; 2]>,
    /// What was to be shown and is not there.
    missing: Vec<Show>,
}

impl Shot {
    /// Sets the camera so that everything in the given frames is in the picture.
    pub(super) fn new(
        played: &mut PlayedScene,
        frames: &[u32],
        look: &Look,
        shell: &Shell,
    ) -> anyhow::Result<Self> {
        let look = &upright(played, look);
        let fixed = fixed_camera(played, look)?;
        let framing = framing(look, look.from)?;
        let (taken, framing) = scout(played, frames, look, framing, shell)?;
        let camera = fixed.unwrap_or_else(|| framing.camera());
        Ok(Self::with(played, look, camera, taken, shell))
    }

    /// Sets the camera so that everything in a frame stays in the picture while it turns. The camera of
    /// the scene or of the file says from where; where it stands must not matter on a turntable.
    pub(super) fn turning(
        played: &mut PlayedScene,
        frame: u32,
        look: &Look,
        shell: &Shell,
    ) -> anyhow::Result<Self> {
        let look = &upright(played, look);
        let fixed = fixed_camera(played, look)?;
        if let Some(camera) = fixed.filter(|_| look.eye.is_some()) {
            let (taken, _) = scout(played, &[frame], look, framing(look, None)?, shell)?;
            return Ok(Self::with(played, look, camera, taken, shell));
        }
        let direction = look.from.or(fixed.map(|c| c.back()));
        let first = framing(look, direction)?;
        let (taken, _) = scout(played, &[frame], look, first.clone(), shell)?;
        let middle = taken.bounds.map_or(Vec3::ZERO, |b| 0.5 * (b.min + b.max));
        let (_, framing) = scout(played, &[frame], look, first.turning_about(middle), shell)?;
        Ok(Self::with(played, look, framing.camera(), taken, shell))
    }

    fn with(
        played: &PlayedScene,
        look: &Look,
        camera: Camera,
        taken: Taken,
        shell: &Shell,
    ) -> Self {
        let nothing = |kind: &Show| format!("there are no {} to show", kind.name());
        shell.warn("render", &taken.missing.iter().map(nothing).collect::<Vec<_>>());
        for cast in played.player().cast() {
            let flat = is_without_area(&cast.rest.meshes[0]);
            shell.warn(&cast.actor.name, flat.then_some(NO_AREA).as_slice());
        }
        let splats = played.player().cast().iter().map(|cast| {
            let mesh = &cast.rest.meshes[0];
            let is_cloud = mesh.triangles.is_empty() && !cast.is_generated();
            is_cloud.then(|| splats_of(&mesh.positions))
        });
        Self { look: look.clone(), camera, taken, splats: splats.collect() }
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
        played: &mut PlayedScene,
        frame: u32,
        renderer: &mut Renderer,
        shell: &Shell,
    ) -> anyhow::Result<Image> {
        let frame = played.frame(frame, shell)?;
        let fields: Result<Vec<_>, _> =
            (0..frame.bodies.len()).map(|b| field_values(played, &frame, b, &self.look)).collect();
        let mut fields = fields?;
        let clouds: Vec<Option<(Vec<u32>, TriMesh)>> =
            (0..fields.len()).map(|b| self.cloud(played, &frame, b)).collect();
        for (values, cloud) in fields.iter_mut().zip(&clouds) {
            if let (Some(values), Some((drawn, mesh))) = (values, cloud) {
                let each = mesh.positions.len() / drawn.len().max(1);
                let of_splat = |&i: &u32| std::iter::repeat_n(values[i as usize], each);
                *values = drawn.iter().flat_map(of_splat).collect();
            }
        }
        let around = gathering(played, &frame, &self.look, Some(self.camera));
        let shown: Vec<Shown> = self.look.show.iter().map(|&kind| around.gather(kind)).collect();
        let solids = shown.iter().map(|s| Bounds::of(&s.solids()));
        let filled = solids.fold(filled(&frame), union);
        // As large in every frame, so that the softness of the light stays as it is.
        let stage_box = filled.map(|b| resized(b, self.taken.diagonal));
        let mut bodies = Vec::new();
        let meshes: Vec<Option<TriMesh>> =
            (0..fields.len()).map(|b| changed_mesh(played, &frame, b)).collect();
        let cuts: Vec<Option<TriMesh>> = (0..fields.len())
            .map(|b| self.look.section.map(|plane| sliced(played, &frame, b, &fields[b], &plane)))
            .collect();
        for (values, cut) in fields.iter_mut().zip(&cuts) {
            if let (Some(values), Some(cut)) = (values, cut) {
                *values = cut.attributes.scalar(FIELD).unwrap_or_default().to_vec();
            }
        }
        for (i, values) in fields.iter().enumerate() {
            if frame.bodies[i].positions.is_empty() {
                continue;
            }
            let mut body = match (&clouds[i], &cuts[i]) {
                (_, Some(cut)) if cut.triangles.is_empty() => continue,
                (None, Some(cut)) => Body { paints: played.paints(i).to_vec(), ..Body::new(cut) },
                (Some((_, mesh)), _) => {
                    Body { paints: played.paints(i).to_vec(), ..Body::new(mesh) }
                }
                (None, None) => dressed(played, &frame, i, meshes[i].as_ref(), &self.look),
            };
            body.opacity = self.look.opacity;
            body.field = values.as_ref().map(|values| self.field(values, i));
            bodies.push(body);
        }
        bodies.extend(shown.iter().flat_map(|s| &s.props).map(|prop| prop.body()));
        let labels = self.look.label.iter().map(|text| Label::edge(Edge::BottomLeft, text));
        let image = renderer.render(&View {
            bodies,
            overlays: shown.iter().flat_map(|s| s.overlays.clone()).collect(),
            labels: labels.collect(),
            backdrop: self.look.backdrop.into(),
            stage: stage_box,
            up: Some(self.look.up),
            floor: self.taken.floor.is_finite().then_some(self.taken.floor),
            ..View::through(self.camera, self.look.size)
        })?;
        played.take_back(frame);
        Ok(image)
    }

    /// A cloud of points as the camera sees it, and which points are drawn; nothing for a body with triangles.
    fn cloud(
        &self,
        played: &PlayedScene,
        frame: &Frame,
        body: usize,
    ) -> Option<(Vec<u32>, TriMesh)> {
        let shown = &frame.bodies[body];
        let is_cloud = shown.topology.triangles().is_empty() && !shown.positions.is_empty();
        let count = shown.positions.len();
        let known =
            self.splats[body].clone().filter(|_| rest(played, body).positions.len() == count);
        let (drawn, radius) =
            is_cloud.then(|| known.unwrap_or_else(|| splats_of(&shown.positions)))?;
        let mut attributes = Attributes::default();
        let own = rest(played, body).attributes.iter().filter(|a| a.values.len() == count);
        for attribute in own.chain(&shown.channels) {
            attributes.set(attribute.name.clone(), attribute.values.gather(&drawn));
        }
        let points = picked(&shown.positions, &drawn);
        let mesh = splat::splats(&points, &attributes, radius, &self.camera);
        Some((drawn, mesh))
    }

    /// A field in colours that mean the same in every frame, explained once.
    fn field<'a>(&self, values: &'a [f32], body: usize) -> Scalars<'a> {
        let name = self.look.field.clone().unwrap_or_default();
        Scalars { range: self.taken.range, legend: body == 0, ..Scalars::new(name, values) }
    }
}

/// Said of a mesh in a picture that shows nothing of it.
const NO_AREA: &str = "no triangle has an area, so there is nothing to see: the vertices of each lie in \
                       one point or on one line";

/// True for a mesh of triangles that are all points or lines.
fn is_without_area(mesh: &TriMesh) -> bool {
    // The sine of an angle that single precision cannot tell from zero.
    const SINE: f32 = 1e-6;
    let is_thin = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|i| mesh.positions[i as usize].as_dvec3());
        let (u, v) = (b - a, c - a);
        u.cross(v).length() <= f64::from(SINE) * u.length() * v.length()
    };
    !mesh.triangles.is_empty() && mesh.triangles.iter().all(is_thin)
}

/// Which points of a cloud are drawn, and how large.
fn splats_of(points: &[Vec3]) -> (Vec<u32>, f32) {
    let drawn = splat::drawn(points.len());
    let radius = splat::radius(&picked(points, &drawn));
    (drawn, radius)
}

fn picked(points: &[Vec3], which: &[u32]) -> Vec<Vec3> {
    which.iter().map(|&i| points[i as usize]).collect()
}

/// A framing from a direction, with room for the legend.
fn framing(look: &Look, from: Option<Vec3>) -> anyhow::Result<Framing> {
    let ratio = aspect(look.size);
    let framing = match from {
        Some(direction) if direction.length_squared() > 0.0 => {
            Framing::new(direction, look.up, ratio)
        }
        Some(_) => bail!("--from 0,0,0 is no direction"),
        None => Framing::three_quarter(look.up, ratio),
    };
    let room = if look.field.is_some() { legend_room(look.size) } else { 0.0 };
    Ok(framing.with_room(room))
}

/// Looks at the frames before any picture is taken: shows them to the framing and notes what is there.
fn scout(
    played: &mut PlayedScene,
    frames: &[u32],
    look: &Look,
    mut framing: Framing,
    shell: &Shell,
) -> anyhow::Result<(Taken, Framing)> {
    let nothing = |cast: &Cast| cast.body.mesh.positions.is_empty() && !cast.is_generated();
    if played.player().cast().iter().all(nothing) {
        bail!("there is nothing to draw: name a mesh, a point cloud, or a scene with one");
    }
    let missing = look.show.clone();
    let mut taken =
        Taken { bounds: None, diagonal: 0.0, floor: f32::INFINITY, range: None, missing };
    for &i in &sampled(frames) {
        let frame = played.frame(i, shell)?;
        let mut filled = filled(&frame);
        for (body, shown) in frame.bodies.iter().enumerate() {
            framing.add(&shown.positions);
            let heights = shown.positions.iter().map(|p| p.dot(look.up));
            taken.floor = heights.fold(taken.floor, f32::min);
            if let Some(values) = field_values(played, &frame, body, look)? {
                let [lo, hi] = range_of(&values);
                let range = taken.range.map_or([lo, hi], |[a, b]| [a.min(lo), b.max(hi)]);
                taken.range = Some(range);
            }
        }
        for &kind in &look.show {
            let shown = gathering(played, &frame, look, None).gather(kind);
            let solids = shown.solids();
            framing.add(&solids);
            framing.add(&shown.lines());
            taken.floor = solids.iter().map(|p| p.dot(look.up)).fold(taken.floor, f32::min);
            filled = union(filled, Bounds::of(&solids));
            taken.missing.retain(|m| *m != kind || shown.is_empty());
        }
        taken.floor = ground(played, &frame, look.up).unwrap_or(taken.floor);
        taken.diagonal = filled.map_or(0.0, |b| b.diagonal()).max(taken.diagonal);
        taken.bounds = union(taken.bounds, filled);
        played.take_back(frame);
    }
    Ok((taken, framing))
}

/// What the bodies of a frame fill.
fn filled(frame: &Frame) -> Option<Bounds> {
    frame.bodies.iter().map(|body| Bounds::of(&body.positions)).fold(None, union)
}

fn union(a: Option<Bounds>, b: Option<Bounds>) -> Option<Bounds> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.union(&b)),
        (a, b) => a.or(b),
    }
}

/// A box with the same middle and another diagonal.
fn resized(bounds: Bounds, diagonal: f32) -> Bounds {
    let middle = 0.5 * (bounds.min + bounds.max);
    let own = bounds.diagonal();
    if own <= 0.0 {
        return bounds;
    }
    let half = 0.5 * (bounds.max - bounds.min) * (diagonal / own).max(1.0);
    Bounds { min: middle - half, max: middle + half }
}

/// What is shown besides the bodies of a frame.
fn gathering<'a>(
    played: &'a PlayedScene,
    frame: &'a Frame,
    look: &Look,
    camera: Option<Camera>,
) -> Gathering<'a> {
    Gathering { played, frame, height_px: look.size[1], camera }
}

/// The height of a plane that bodies lie on, if the scene has one: there the floor is.
fn ground(played: &PlayedScene, frame: &Frame, up: Vec3) -> Option<f32> {
    let planes = played.player().colliders().iter().zip(&frame.colliders);
    planes
        .filter(|(collider, place)| {
            collider.size.is_none() && (place.rotation * Vec3::Y).dot(up) > 0.999
        })
        .map(|(_, place)| place.translation.dot(up))
        .reduce(f32::max)
}

/// A look with the scene's up axis, unless the command line places the camera.
fn upright(played: &PlayedScene, look: &Look) -> Look {
    let placed = look.eye.is_some() || look.from.is_some();
    let up = played.up().filter(|_| !placed).unwrap_or(look.up);
    Look { up, ..look.clone() }
}

/// The camera of the command line, of the scene, or of the file.
fn fixed_camera(played: &PlayedScene, look: &Look) -> anyhow::Result<Option<Camera>> {
    if let (Some(eye), Some(target)) = (look.eye, look.target) {
        let projection = Projection::Perspective { fov_y: look.fov.to_radians() as f32 };
        return Ok(Some(Camera { eye, target, up: look.up, projection }));
    }
    let camera = match &look.camera {
        Some(name) => Some(played.camera_named(name)?),
        None => played.camera().filter(|_| look.from.is_none()),
    };
    Ok(camera.map(|camera| camera.fitted(aspect(look.size))))
}

/// A few frames that stand for all of them, the first and the last among them.
fn sampled(frames: &[u32]) -> Vec<u32> {
    let spread = supple_gpu::sheet::spread_frames(frames.len(), FRAMING_SAMPLES);
    spread.into_iter().map(|i| frames[i]).collect()
}

/// What is drawn of a body whose topology or channels are not those of its rest shape.
fn changed_mesh(played: &PlayedScene, frame: &Frame, body: usize) -> Option<TriMesh> {
    let (shown, cast) = (&frame.bodies[body], &played.player().cast()[body]);
    let is_own = Arc::ptr_eq(&shown.topology, cast.topology());
    if is_own && shown.channels.is_empty() {
        return None;
    }
    let mut mesh = match is_own {
        true => rest(played, body).clone(),
        false => TriMesh::new(shown.positions.clone(), shown.topology.triangles().to_vec()),
    };
    for channel in &shown.channels {
        mesh.attributes.set(channel.name.clone(), channel.values.clone());
    }
    Some(mesh)
}

/// The attribute that carries a field through a cut.
const FIELD: &str = "field";

/// A body of a frame behind a plane, with the values it is coloured by.
fn sliced(
    played: &PlayedScene,
    frame: &Frame,
    body: usize,
    values: &Option<Vec<f32>>,
    plane: &Plane,
) -> TriMesh {
    let shown = &frame.bodies[body];
    let mut whole = TriMesh::new(shown.positions.clone(), shown.topology.triangles().to_vec());
    let colors = rest(played, body).attributes.get(COLOR);
    if let Some(colors) = colors.filter(|c| c.len() == whole.positions.len()) {
        whole.attributes.set(COLOR, colors.clone());
    }
    if let Some(values) = values.as_ref().filter(|v| v.len() == whole.positions.len()) {
        whole.attributes.set(FIELD, Values::Scalar(values.clone()));
    }
    cut(&whole, plane)
}

/// A body of a frame in its paints; `mesh` is what is drawn if not its rest shape.
fn dressed<'a>(
    played: &'a PlayedScene,
    frame: &'a Frame,
    body: usize,
    mesh: Option<&'a TriMesh>,
    look: &Look,
) -> Body<'a> {
    let shown = &frame.bodies[body];
    let plain = Body::new(mesh.unwrap_or(rest(played, body)));
    // Colours that can be seen through are meant so, whatever they come from, unless a material says otherwise.
    let colors = plain.mesh.attributes.get(COLOR);
    let see_through = matches!(colors, Some(Values::Vec4(c)) if c.iter().any(|c| c.w < 1.0));
    let alpha = if see_through { Alpha::Blend } else { plain.paint.alpha };
    // What has the terms of smoke is drawn as smoke: its mesh is that of the frame, normals and all.
    if mesh.is_some() && plain.mesh.attributes.get("density").is_some() {
        return Body { paint: Paint::smoke([1.0; 3]), ..plain };
    }
    Body {
        positions: Some(&shown.positions),
        normals: None,
        paints: played.paints(body).to_vec(),
        paint: Paint { alpha, ..plain.paint.clone() },
        shading: if look.flat { NormalSource::Flat } else { NormalSource::default() },
        wireframe: look.wireframe.then(Wireframe::default),
        ..plain
    }
}

fn rest(played: &PlayedScene, body: usize) -> &TriMesh {
    &played.player().cast()[body].rest.meshes[0]
}

/// The number a vertex that the person asked to see.
fn field_values(
    played: &PlayedScene,
    frame: &Frame,
    body: usize,
    look: &Look,
) -> anyhow::Result<Option<Vec<f32>>> {
    let Some(name) = &look.field else { return Ok(None) };
    let (mesh, shown) = (rest(played, body), &frame.bodies[body]);
    let is_own = mesh.positions.len() == shown.positions.len();
    if name == "displacement" {
        let pairs = mesh.positions.iter().zip(&shown.positions);
        return Ok(is_own.then(|| pairs.map(|(rest, now)| rest.distance(*now)).collect()));
    }
    let own = mesh.attributes.get(name).filter(|_| is_own);
    match shown.channels.get(name).or(own) {
        Some(Values::Scalar(values)) => Ok(Some(values.clone())),
        Some(values) => {
            let width = values.width();
            let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
            Ok(Some(values.as_floats().chunks_exact(width).map(length).collect()))
        }
        // Another body has it, or a body that is made has nothing yet.
        None if frame.bodies.iter().any(|b| b.channels.get(name).is_some()) => Ok(None),
        None if shown.positions.is_empty() => Ok(None),
        None => {
            let all = shown.channels.iter().chain(&mesh.attributes);
            let mut known: Vec<_> = all.map(|a| a.name.as_str()).collect();
            known.push("displacement");
            bail!("there is no field '{name}'; there are {}", known.join(", "))
        }
    }
}

/// Before and after from the same camera, the difference coloured.
pub(super) fn before_after(
    before: &mut PlayedScene,
    after: &mut PlayedScene,
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
    let [left, right] = [(&*before, &first), (&*after, &second)].map(|(played, frame)| {
        (0..frame.bodies.len()).map(|body| changed_mesh(played, frame, body)).collect::<Vec<_>>()
    });
    let left = undressed(before, &first, &left, &args.look);
    let right = undressed(after, &second, &right, &args.look);
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
fn undressed<'a>(
    played: &'a PlayedScene,
    frame: &'a Frame,
    meshes: &'a [Option<TriMesh>],
    look: &Look,
) -> Vec<Body<'a>> {
    let bodies = meshes.iter().enumerate();
    bodies.map(|(body, mesh)| dressed(played, frame, body, mesh.as_ref(), look)).collect()
}

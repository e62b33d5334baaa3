//! An asset of the scene, ready to be played.

use std::path::PathBuf;

use glam::{DAffine3, DMat4, DVec3, Mat4, Vec3};

use super::{BodyState, Load, Slot};
use crate::Run;
use crate::asset::Asset;
use crate::io::uri::FetchError;
use crate::mesh::attribute::NORMAL;
use crate::mesh::volume::volume;
use crate::mesh::{TriMesh, Values};
use crate::rig::body::BodyError;
use crate::rig::keyframes::ClipError;
use crate::rig::{Body, Clip, Node, Pose, Skinning};
use crate::run::Cancelled;
use crate::scene::modifier::{Memory, Moment};
use crate::scene::{
    Actor, ClipChoice, Folder, Keyframes, Modifier, Motion, PathError, Recording, Repeat,
    RigidPath, Tracks,
};
use crate::skinning::{self, Solver};

/// Rest volumes below this share of the bounding box' cube count as none.
const NO_VOLUME: f64 = 1e-9;

/// Why a scene cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum PlayerError {
    /// An asset could not be loaded.
    #[error("asset '{asset}': {source}")]
    Load {
        /// Which asset.
        asset: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An asset has nothing that can be moved.
    #[error("asset '{asset}': {source}")]
    Body {
        /// Which asset.
        asset: String,
        /// Why.
        source: BodyError,
    },
    /// The clip the scene names is not in the asset.
    #[error("asset '{asset}' has no clip {clip} ({fix})")]
    NoClip {
        /// Which asset.
        asset: String,
        /// The clip as the scene names it.
        clip: String,
        /// The clips it has.
        fix: String,
    },
    /// A clip does not fit its asset.
    #[error("asset '{asset}': {source}")]
    Clip {
        /// Which asset.
        asset: String,
        /// What is wrong with it.
        source: ClipError,
    },
    /// A recorded path could not be read.
    #[error("asset '{asset}', its recorded path: {source}")]
    PathFile {
        /// Which asset.
        asset: String,
        /// Why.
        source: FetchError,
    },
    /// A recorded path makes no sense.
    #[error("asset '{asset}': {path}: {source}", path = path.display())]
    Path {
        /// Which asset.
        asset: String,
        /// Which file; empty for keys in the scene itself.
        path: PathBuf,
        /// What is wrong with it.
        source: PathError,
    },
    /// A modifier does not fit its asset.
    #[error("asset '{asset}', modifier {number} ({kind}): {what}")]
    Modifier {
        /// Which asset.
        asset: String,
        /// Which of its modifiers, counted from 1.
        number: usize,
        /// What kind of modifier.
        kind: &'static str,
        /// What does not fit.
        what: String,
    },
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// An asset of the scene with all that moves it.
#[derive(Debug)]
pub struct Cast {
    /// What the scene says about it.
    pub actor: Actor,
    /// The asset as one skinned mesh.
    pub body: Body,
    /// The body at rest, placed: exactly one mesh, with its materials and images.
    pub rest: Asset,
    /// Volume at rest; `None` for a shape that encloses nothing.
    pub rest_volume: Option<f64>,
    pub(super) drive: Drive,
    placement: DAffine3,
    /// How it is skinned, if a modifier keeps its volume, and the number of that modifier.
    solver: Option<(usize, Solver)>,
}

/// The primary motion, ready to be sampled.
#[derive(Debug)]
pub(super) enum Drive {
    Still,
    Clip { clip: Clip, span: (f32, f32), keyframes: Keyframes },
    Path { path: RigidPath, repeat: Repeat },
}

/// The vertices of a body, and what went wrong on the way.
pub(super) struct Deformed {
    pub(super) positions: Vec<Vec3>,
    pub(super) warnings: Vec<String>,
}

impl Cast {
    pub(super) fn new(
        actor: &Actor,
        folder: &Folder<'_>,
        load: Load<'_>,
        run: &Run<'_>,
    ) -> Result<Self, PlayerError> {
        let asset = actor.name.clone();
        let loaded = load(&actor.source)
            .map_err(|source| PlayerError::Load { asset: asset.clone(), source })?;
        run.check()?;
        let mut body =
            Body::from_asset(&loaded).map_err(|source| PlayerError::Body { asset, source })?;
        let drive = Drive::new(actor, &loaded, folder)?;
        for (i, modifier) in actor.modifiers.iter().enumerate() {
            modifier.check(&body).map_err(|what| PlayerError::Modifier {
                asset: actor.name.clone(),
                number: i + 1,
                kind: modifier.kind(),
                what,
            })?;
        }
        let placement = actor.placement.affine();
        if placement.matrix3.determinant() < 0.0 {
            body.turn_round();
        }
        let solver = solver(actor, &body, run)?;
        let rest = rest_asset(&body, loaded, placement, &actor.name, run);
        let rest_volume = enclosed(&rest, run);
        Ok(Self { actor: actor.clone(), body, rest, rest_volume, drive, placement, solver })
    }

    /// What its modifiers remember before the first tick.
    pub(super) fn begin(&self, secs: f64, tracks: &Tracks) -> BodyState {
        let moment = Moment { secs, tracks };
        let mut carried = self.centroid(secs);
        let begin = |m: &Modifier| Slot { memory: m.begin(&moment, &mut carried), frozen: None };
        BodyState { slots: self.actor.modifiers.iter().map(begin).collect() }
    }

    /// Advances the memories by `dt_secs`, to `secs`.
    pub(super) fn step(
        &self,
        state: &mut BodyState,
        secs: f64,
        dt_secs: f64,
        tracks: &Tracks,
        tick: u64,
    ) {
        if state.slots.iter().all(|s| s.memory == Memory::Nothing) {
            return;
        }
        let moment = Moment { secs, tracks };
        let mut carried = self.centroid(secs);
        for (modifier, slot) in self.actor.modifiers.iter().zip(&mut state.slots) {
            if slot.frozen.is_some() {
                continue;
            }
            let (before, carried_before) = (slot.memory.clone(), carried);
            modifier.step(&mut slot.memory, &moment, dt_secs, &mut carried);
            if !slot.memory.is_finite() || !carried.is_finite() {
                *slot = Slot { memory: before, frozen: Some(tick) };
                carried = carried_before;
            }
        }
    }

    /// Where the vertices are, given the memories.
    pub(super) fn deform(
        &self,
        state: &BodyState,
        secs: f64,
        tracks: &Tracks,
        run: &Run<'_>,
    ) -> Result<Deformed, Cancelled> {
        let moment = Moment { secs, tracks };
        let mut pose = self.pose(secs);
        for modifier in &self.actor.modifiers {
            modifier.pose(&self.body, &moment, &mut pose);
        }
        let matrices = self.matrices(&pose, secs);
        let mut warnings = Vec::new();
        let mut positions = self.skin(&pose, &matrices, &mut warnings, run)?;
        for (number, (modifier, slot)) in (1..).zip(self.actor.modifiers.iter().zip(&state.slots)) {
            run.check()?;
            let triangles = &self.body.mesh.triangles;
            let undone = modifier.deform(&slot.memory, &moment, triangles, &mut positions, run);
            let frozen = slot.frozen.map(|tick| format!("not finite at tick {tick}, frozen"));
            let (name, kind) = (&self.actor.name, modifier.kind());
            let warning = |what| format!("asset '{name}', modifier {number} ({kind}): {what}");
            warnings.extend(undone.into_iter().chain(frozen).map(warning));
        }
        self.freeze_vertices(&mut positions, &mut warnings);
        Ok(Deformed { positions, warnings })
    }

    /// The body moved by its skeleton, with its volume kept if a modifier says so.
    fn skin(
        &self,
        pose: &Pose,
        matrices: &[Mat4],
        warnings: &mut Vec<String>,
        run: &Run<'_>,
    ) -> Result<Vec<Vec3>, Cancelled> {
        let Some((number, solver)) = &self.solver else {
            return Ok(self.body.skin(pose, matrices, self.skinning(), run));
        };
        let skinned = solver.pose(&self.body, pose, matrices, self.skinning(), run)?;
        let name = &self.actor.name;
        let told = skinning::warnings(solver, &skinned.report);
        warnings.extend(
            told.into_iter().map(|w| format!("asset '{name}', modifier {number} (skinning): {w}")),
        );
        Ok(skinned.positions)
    }

    /// Puts vertices that are not finite back where they rest.
    fn freeze_vertices(&self, positions: &mut [Vec3], warnings: &mut Vec<String>) {
        let mut frozen = 0;
        let mut first = None;
        for (i, (x, rest)) in positions.iter_mut().zip(&self.rest.meshes[0].positions).enumerate() {
            if !x.is_finite() {
                *x = *rest;
                frozen += 1;
                first.get_or_insert(i);
            }
        }
        if let Some(first) = first {
            let name = &self.actor.name;
            warnings.push(format!(
                "asset '{name}': {frozen} vertices, from {first} on, not finite: shown at rest"
            ));
        }
    }

    fn skinning(&self) -> Skinning {
        match &self.drive {
            Drive::Clip { keyframes, .. } => keyframes.skinning,
            Drive::Still | Drive::Path { .. } => Skinning::Linear,
        }
    }

    /// *Move*: the pose of the skeleton.
    fn pose(&self, secs: f64) -> Pose {
        let mut pose = self.body.rest_pose().clone();
        if let Drive::Clip { clip, span, keyframes } = &self.drive {
            clip.sample(keyframes.clip_time(secs, *span), &mut pose);
        }
        pose
    }

    /// From bind to world, for each joint.
    fn matrices(&self, pose: &Pose, secs: f64) -> Vec<Mat4> {
        let mut world = self.placement;
        if let Drive::Path { path, repeat } = &self.drive {
            let (first, last) = path.span();
            world *= path.affine(repeat.wrap(secs, first, last));
        }
        let matrices = self.body.matrices(pose);
        if world == DAffine3::IDENTITY {
            return matrices;
        }
        let world = DMat4::from(world);
        matrices.iter().map(|m| (world * m.as_dmat4()).as_mat4()).collect()
    }

    /// Where the primary motion carries the mean of the vertices.
    fn centroid(&self, secs: f64) -> DVec3 {
        self.body.centroid(&self.matrices(&self.pose(secs), secs))
    }
}

impl Drive {
    fn new(actor: &Actor, asset: &Asset, folder: &Folder<'_>) -> Result<Self, PlayerError> {
        match &actor.motion {
            Motion::Still => Ok(Self::Still),
            Motion::Keyframes(keyframes) => Self::clip(actor, asset, keyframes),
            Motion::Path(recording) => Self::path(actor, recording, folder),
        }
    }

    fn clip(actor: &Actor, asset: &Asset, keyframes: &Keyframes) -> Result<Self, PlayerError> {
        let found = match &keyframes.clip {
            ClipChoice::Index(i) => asset.clips.get(*i as usize),
            ClipChoice::Name(name) => asset.clips.iter().find(|c| c.name == *name),
        };
        let Some(clip) = found else {
            let names = asset.clips.iter().take(20).map(|c| format!("'{}'", c.name));
            let names: Vec<String> = names.collect();
            let fix = match &names[..] {
                [] => "it has no clips: use kind = \"still\"".to_owned(),
                names => format!("it has {}", names.join(", ")),
            };
            let clip = match &keyframes.clip {
                ClipChoice::Index(i) => i.to_string(),
                ClipChoice::Name(name) => format!("'{name}'"),
            };
            return Err(PlayerError::NoClip { asset: actor.name.clone(), clip, fix });
        };
        clip.check(asset)
            .map_err(|source| PlayerError::Clip { asset: actor.name.clone(), source })?;
        let span = clip.span().unwrap_or_default();
        Ok(Self::Clip { clip: clip.clone(), span, keyframes: keyframes.clone() })
    }

    fn path(
        actor: &Actor,
        recording: &Recording,
        folder: &Folder<'_>,
    ) -> Result<Self, PlayerError> {
        let asset = actor.name.clone();
        let repeat = recording.repeat;
        let Some(file) = &recording.file else {
            let what = "a path needs keys in order of time".to_owned();
            let source = PathError { line: 1, what };
            let path = RigidPath::new(recording.keys.clone());
            let path = path.ok_or(PlayerError::Path { asset, path: PathBuf::new(), source })?;
            return Ok(Self::Path { path, repeat });
        };
        let path = match folder.resolve(file) {
            Ok(path) => path,
            Err(source) => return Err(PlayerError::PathFile { asset, source }),
        };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(source) => {
                let source = FetchError::Io { path, source };
                return Err(PlayerError::PathFile { asset, source });
            }
        };
        match RigidPath::from_csv(&text) {
            Ok(path) => Ok(Self::Path { path, repeat }),
            Err(source) => Err(PlayerError::Path { asset, path, source }),
        }
    }
}

/// The last of the actor's modifiers that keeps the volume in skinning, prepared.
fn solver(
    actor: &Actor,
    body: &Body,
    run: &Run<'_>,
) -> Result<Option<(usize, Solver)>, PlayerError> {
    for (i, modifier) in actor.modifiers.iter().enumerate().rev() {
        if let Modifier::Skinning(params) = modifier {
            let wrong = |e: skinning::Error| PlayerError::Modifier {
                asset: actor.name.clone(),
                number: i + 1,
                kind: modifier.kind(),
                what: e.to_string(),
            };
            return Solver::new(body, params, run).map(|s| Some((i + 1, s))).map_err(wrong);
        }
    }
    Ok(None)
}

/// The placed body at rest, for writers: one mesh on one node.
fn rest_asset(body: &Body, loaded: Asset, placement: DAffine3, name: &str, run: &Run<'_>) -> Asset {
    let mut mesh = body.rest_mesh(run);
    name.clone_into(&mut mesh.name);
    if placement != DAffine3::IDENTITY {
        place(&mut mesh, placement, run);
    }
    let node = Node { name: name.to_owned(), mesh: Some(0), ..Node::default() };
    Asset {
        meshes: vec![mesh],
        nodes: vec![node],
        materials: loaded.materials,
        images: loaded.images,
        ..Asset::default()
    }
}

/// Moves the positions and turns the normals of a mesh.
fn place(mesh: &mut TriMesh, placement: DAffine3, run: &Run<'_>) {
    run.for_each(&mut mesh.positions, |_, x| {
        *x = placement.transform_point3(x.as_dvec3()).as_vec3();
    });
    let turn = placement.matrix3.inverse().transpose();
    let vertex = mesh.attributes.get_mut(NORMAL).into_iter();
    let corner = mesh.corners.iter_mut().filter(|c| c.name == NORMAL).map(|c| &mut c.values);
    for values in vertex.chain(corner) {
        if let Values::Vec3(normals) = values {
            run.for_each(normals, |_, n| *n = (turn * n.as_dvec3()).normalize_or_zero().as_vec3());
        }
    }
}

fn enclosed(rest: &Asset, run: &Run<'_>) -> Option<f64> {
    let mesh = &rest.meshes[0];
    let size = crate::mesh::measure::Bounds::of(&mesh.positions)?.diagonal();
    let volume = volume(&mesh.positions, &mesh.triangles, run);
    (volume.abs() > NO_VOLUME * f64::from(size).powi(3)).then_some(volume)
}

//! An asset of the scene, ready to be played.

use std::path::PathBuf;

use glam::{DAffine3, DMat4, Mat4, Vec3};

use super::{BodyState, Guides, Load, Slot, TICKS_PER_SECOND};
use crate::Run;
use crate::asset::Asset;
use crate::io::uri::FetchError;
use crate::mesh::attribute::NORMAL;
use crate::mesh::shading::Shading;
use crate::mesh::tangents;
use crate::mesh::volume::volume;
use crate::mesh::{TriMesh, Values};
use crate::rig::body::BodyError;
use crate::rig::keyframes::ClipError;
#[cfg(feature = "rigid")]
use crate::rig::rigid::Ragdoll;
use crate::rig::rigid::RigidState;
use crate::rig::{Body, Clip, Node, Pose, Skinning};
use crate::run::Cancelled;
use crate::scene::modifier::{Carried, Moment, Prepared, Stage};
use crate::scene::{
    Actor, ClipChoice, Folder, Keyframes, Modifier, Motion, PathError, Recording, Repeat,
    RigidMotion, RigidPath,
};
use crate::secondary;
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
    /// An asset cannot be simulated.
    #[error("asset '{asset}': {what}")]
    Rigid {
        /// Which asset.
        asset: String,
        /// Why.
        what: String,
    },
    /// A collider makes no sense.
    #[error(transparent)]
    Collider(#[from] crate::rig::collider::ColliderError),
    /// A collider rides on a joint that is not there.
    #[error("collider '{collider}': asset '{asset}' has no joint '{joint}'; it has {known}")]
    Ride {
        /// Which collider.
        collider: String,
        /// What it rides on.
        asset: String,
        /// Which joint it names.
        joint: String,
        /// The joints there are.
        known: String,
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
    /// For the normals of its frames.
    pub(super) shading: Shading,
    /// What each modifier has worked out.
    prepared: Vec<Prepared>,
    /// How it is skinned, if a modifier keeps its volume, and the number of that modifier.
    solver: Option<(usize, Solver)>,
}

/// The primary motion, ready to be sampled.
#[derive(Debug)]
pub(super) enum Drive {
    Still,
    Clip {
        clip: Clip,
        span: (f32, f32),
        keyframes: Keyframes,
    },
    Path {
        path: RigidPath,
        repeat: Repeat,
    },
    #[cfg(feature = "rigid")]
    Simulated {
        ragdoll: Box<Ragdoll>,
        pull: Option<RigidPath>,
        skinning: Skinning,
    },
}

/// The vertices of a body, and what went wrong on the way.
pub(super) struct Deformed {
    pub(super) positions: Vec<Vec3>,
    pub(super) warnings: Vec<String>,
    /// One for each modifier of that kind.
    pub(super) secondary: Vec<secondary::Report>,
    pub(super) guides: Guides,
    /// The volume before the last modifier, if that was `secondary`: how it changed is still to be told.
    pub(super) volume_before: Option<f64>,
}

impl Deformed {
    /// Tells how `secondary` changed the volume.
    pub(super) fn tell_flesh(&mut self, before: f64, after: f64) {
        if let Some(report) = self.secondary.last_mut() {
            report.volume_change = Some(after / before - 1.0);
        }
    }
}

impl Cast {
    pub(super) fn new(
        actor: &Actor,
        folder: &Folder<'_>,
        load: Load<'_>,
        run: &Run<'_>,
    ) -> Result<Self, PlayerError> {
        let asset = actor.name.clone();
        let mut loaded = load(&actor.source)
            .map_err(|source| PlayerError::Load { asset: asset.clone(), source })?;
        run.check()?;
        let mut body =
            Body::from_asset(&loaded).map_err(|source| PlayerError::Body { asset, source })?;
        let actor = with_tools(actor, load, run)?;
        let placement = actor.placement.affine();
        if let Some(finer) = finer(&actor, &body, placement, run)? {
            loaded = Asset { materials: loaded.materials, images: loaded.images, ..finer };
            let wrong = |source| PlayerError::Body { asset: actor.name.clone(), source };
            body = Body::from_asset(&loaded).map_err(wrong)?;
        }
        let drive = Drive::new(&actor, &loaded, &body, folder)?;
        let prepare = |(number, modifier): (usize, &Modifier)| {
            modifier.prepare(&body, &placement).map_err(|what| PlayerError::Modifier {
                asset: actor.name.clone(),
                number,
                kind: modifier.kind(),
                what,
            })
        };
        let prepared = (1..).zip(&actor.modifiers).map(prepare).collect::<Result<_, _>>()?;
        if placement.matrix3.determinant() < 0.0 {
            body.turn_round();
        }
        let solver = solver(&actor, &body, run)?;
        let rest = rest_asset(&body, loaded, placement, &actor.name, run);
        let rest_volume = enclosed(&rest, run);
        let shading = Shading::new(body.mesh.positions.len(), &body.mesh.triangles);
        Ok(Self { actor, body, rest, rest_volume, drive, placement, shading, prepared, solver })
    }

    /// What its modifiers remember before the first tick, which is at the moment.
    pub(super) fn begin(&self, moment: &Moment<'_>) -> BodyState {
        let warm_up = self.actor.modifiers.iter().map(|m| m.warm_up_secs()).fold(0.0, f64::max);
        let ticks = (warm_up * f64::from(TICKS_PER_SECOND)).ceil() as u32;
        let dt_secs = 1.0 / f64::from(TICKS_PER_SECOND);
        let at = |k: u32| Moment { secs: moment.secs - f64::from(ticks - k) * dt_secs, ..*moment };
        let bones = self.begin_bones();
        let mut carried = self.carried(&bones, at(0).secs);
        let begin = |(modifier, prepared): (&Modifier, &Prepared)| Slot {
            memory: modifier.begin(&self.stage(&at(0), prepared), &mut carried),
            frozen: None,
        };
        let slots = self.actor.modifiers.iter().zip(&self.prepared).map(begin).collect();
        let mut state = BodyState { slots, bones };
        for k in 1..=ticks {
            self.step(&mut state, &at(k), dt_secs, 0);
        }
        state
    }

    /// The bones before the first tick.
    fn begin_bones(&self) -> RigidState {
        match &self.drive {
            #[cfg(feature = "rigid")]
            Drive::Simulated { ragdoll, .. } => ragdoll.begin(),
            Drive::Still | Drive::Clip { .. } | Drive::Path { .. } => RigidState::default(),
        }
    }

    /// Advances the memories by `dt_secs`, to the moment; the bones have moved already. Returns where
    /// that carries the joints.
    pub(super) fn step(
        &self,
        state: &mut BodyState,
        moment: &Moment<'_>,
        dt_secs: f64,
        tick: u64,
    ) -> Vec<Mat4> {
        let mut carried = self.carried(&state.bones, moment.secs);
        let prepared = self.actor.modifiers.iter().zip(&self.prepared);
        for ((modifier, prepared), slot) in prepared.zip(&mut state.slots) {
            if slot.frozen.is_some() {
                continue;
            }
            let (before, carried_before) = (slot.memory.clone(), carried.clone());
            let stage = self.stage(moment, prepared);
            if !modifier.step(&stage, &mut slot.memory, dt_secs, &mut carried) {
                *slot = Slot { memory: before, frozen: Some(tick) };
                carried = carried_before;
            }
        }
        carried.joints
    }

    /// Where the vertices are, given the memories.
    pub(super) fn deform(
        &self,
        state: &BodyState,
        moment: &Moment<'_>,
        run: &Run<'_>,
    ) -> Result<Deformed, Cancelled> {
        let mut pose = self.pose(moment.secs);
        for modifier in &self.actor.modifiers {
            modifier.pose(&self.body, moment, &mut pose);
        }
        let joints = self.matrices(&pose, &state.bones, moment.secs);
        let mut warnings = Vec::new();
        let positions = self.skin(&pose, &joints, &mut warnings, run)?;
        let guides = Guides::default();
        let secondary = Vec::new();
        let mut deformed = Deformed { positions, warnings, secondary, guides, volume_before: None };
        let mut carried = Carried { centroid: self.body.centroid(&joints), joints };
        // Where the first joint is after each modifier.
        let mut firsts = Vec::with_capacity(self.prepared.len());
        let prepared = self.actor.modifiers.iter().zip(&self.prepared);
        for (number, ((modifier, prepared), slot)) in (1..).zip(prepared.zip(&state.slots)) {
            run.check()?;
            let stage = self.stage(moment, prepared);
            let positions = &mut deformed.positions;
            let before = carried.joints.first().copied();
            deformed.guides.add_springs(prepared, &slot.memory, &carried.joints);
            let outcome = modifier.deform(&stage, &slot.memory, &mut carried, positions, run);
            let after = carried.joints.first().copied();
            deformed.guides.carry(before, after);
            firsts.push(after);
            let frozen = slot.frozen.map(|tick| format!("not finite at tick {tick}, frozen"));
            let (name, kind) = (&self.actor.name, modifier.kind());
            let warning = |what| format!("asset '{name}', modifier {number} ({kind}): {what}");
            deformed.warnings.extend(outcome.warning.into_iter().chain(frozen).map(warning));
            deformed.secondary.extend(outcome.secondary);
            if number == self.actor.modifiers.len() {
                deformed.volume_before = outcome.volume_before;
            } else if let Some(before) = outcome.volume_before {
                let after = volume(&deformed.positions, &self.body.mesh.triangles, run);
                deformed.tell_flesh(before, after);
            }
        }
        deformed.guides.arrive(carried.joints, &firsts);
        self.freeze_vertices(&mut deformed);
        Ok(deformed)
    }

    fn stage<'a>(&'a self, moment: &Moment<'a>, prepared: &'a Prepared) -> Stage<'a> {
        Stage { moment: *moment, body: &self.body, prepared }
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
    fn freeze_vertices(&self, deformed: &mut Deformed) {
        let mut frozen = 0;
        let mut first = None;
        let positions = deformed.positions.iter_mut();
        for (i, (x, rest)) in positions.zip(&self.rest.meshes[0].positions).enumerate() {
            if !x.is_finite() {
                *x = *rest;
                frozen += 1;
                first.get_or_insert(i);
            }
        }
        if let Some(first) = first {
            let name = &self.actor.name;
            deformed.warnings.push(format!(
                "asset '{name}': {frozen} vertices, from {first} on, not finite: shown at rest"
            ));
        }
    }

    fn skinning(&self) -> Skinning {
        match &self.drive {
            Drive::Clip { keyframes, .. } => keyframes.skinning,
            #[cfg(feature = "rigid")]
            Drive::Simulated { skinning, .. } => *skinning,
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
    fn matrices(&self, pose: &Pose, bones: &RigidState, secs: f64) -> Vec<Mat4> {
        let mut world = self.placement;
        #[cfg(feature = "rigid")]
        if let Drive::Simulated { ragdoll, .. } = &self.drive {
            return ragdoll.matrices(bones);
        }
        #[cfg(not(feature = "rigid"))]
        let _ = bones;
        if let Drive::Path { path, repeat } = &self.drive {
            let (first, last) = path.span();
            world *= path.affine(repeat.wrap(secs, first, last));
        }
        placed(self.body.matrices(pose), world)
    }

    /// From bind to the placed rest pose, for each joint.
    pub(super) fn rest_matrices(&self) -> Vec<Mat4> {
        placed(self.body.matrices(self.body.rest_pose()), self.placement)
    }

    /// Where the primary motion carries the body.
    pub(super) fn carried(&self, bones: &RigidState, secs: f64) -> Carried {
        let joints = self.matrices(&self.pose(secs), bones, secs);
        Carried { centroid: self.body.centroid(&joints), joints }
    }
}

fn placed(matrices: Vec<Mat4>, world: DAffine3) -> Vec<Mat4> {
    if world == DAffine3::IDENTITY {
        return matrices;
    }
    let world = DMat4::from(world);
    matrices.iter().map(|m| (world * m.as_dmat4()).as_mat4()).collect()
}

impl Drive {
    fn new(
        actor: &Actor,
        asset: &Asset,
        body: &Body,
        folder: &Folder<'_>,
    ) -> Result<Self, PlayerError> {
        match &actor.motion {
            Motion::Still => Ok(Self::Still),
            Motion::Keyframes(keyframes) => Self::clip(actor, asset, keyframes),
            Motion::Path(recording) => Self::path(&actor.name, recording, folder)
                .map(|path| Self::Path { path, repeat: recording.repeat }),
            Motion::Rigid(motion) => Self::simulated(actor, body, motion, true),
            Motion::Ragdoll(motion) => Self::simulated(actor, body, motion, false),
        }
    }

    #[cfg(feature = "rigid")]
    fn simulated(
        actor: &Actor,
        body: &Body,
        motion: &RigidMotion,
        one: bool,
    ) -> Result<Self, PlayerError> {
        let rest = placed(body.matrices(body.rest_pose()), actor.placement.affine());
        let ragdoll = Ragdoll::new(body, &rest, one, &motion.params)
            .map_err(|e| PlayerError::Rigid { asset: actor.name.clone(), what: e.to_string() })?;
        let pull = RigidPath::new(motion.pull.clone());
        Ok(Self::Simulated { ragdoll: Box::new(ragdoll), pull, skinning: motion.skinning })
    }

    #[cfg(not(feature = "rigid"))]
    fn simulated(
        actor: &Actor,
        _body: &Body,
        _motion: &RigidMotion,
        _one: bool,
    ) -> Result<Self, PlayerError> {
        let what = "rigid bodies need the feature 'rigid' of this library".to_owned();
        Err(PlayerError::Rigid { asset: actor.name.clone(), what })
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

    pub(super) fn path(
        actor: &str,
        recording: &Recording,
        folder: &Folder<'_>,
    ) -> Result<RigidPath, PlayerError> {
        let asset = actor.to_owned();
        let Some(file) = &recording.file else {
            let what = "a path needs keys in order of time".to_owned();
            let source = PathError { line: 1, what };
            let path = RigidPath::new(recording.keys.clone());
            let path = path.ok_or(PlayerError::Path { asset, path: PathBuf::new(), source })?;
            return Ok(path);
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
            Ok(path) => Ok(path),
            Err(source) => Err(PlayerError::Path { asset, path, source }),
        }
    }
}

/// The actor with all that its modifiers name.
fn with_tools(actor: &Actor, load: Load<'_>, run: &Run<'_>) -> Result<Actor, PlayerError> {
    let mut actor = actor.clone();
    for (i, modifier) in actor.modifiers.iter_mut().enumerate() {
        let kind = modifier.kind();
        let loaded =
            modifier.load(&mut |source| Ok(Body::from_asset(&load(source)?)?.rest_mesh(run)));
        loaded.map_err(|error| PlayerError::Modifier {
            asset: actor.name.clone(),
            number: i + 1,
            kind,
            what: error.to_string(),
        })?;
    }
    Ok(actor)
}

/// The body at rest as fine as its edits need it, if one of them asks for that.
fn finer(
    actor: &Actor,
    body: &Body,
    placement: DAffine3,
    run: &Run<'_>,
) -> Result<Option<Asset>, PlayerError> {
    for (i, modifier) in actor.modifiers.iter().enumerate() {
        let Modifier::Sculpt(params) = modifier else { continue };
        if !params.remesh {
            continue;
        }
        let wrong = |what: String| PlayerError::Modifier {
            asset: actor.name.clone(),
            number: i + 1,
            kind: modifier.kind(),
            what,
        };
        if i > 0 || !matches!(actor.motion, Motion::Still) {
            let what = "remesh = true needs a body at rest: no motion, and no modifier before it";
            return Err(wrong(what.to_owned()));
        }
        let mut mesh = body.rest_mesh(run);
        place(&mut mesh, placement, run);
        let mut mesh = params.refined(&mesh, run).map_err(|e| wrong(e.to_string()))?;
        place(&mut mesh, placement.inverse(), run);
        return Ok(Some(Asset::from_mesh(mesh)));
    }
    Ok(None)
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

/// Moves the positions and turns the normals and tangents of a mesh.
fn place(mesh: &mut TriMesh, placement: DAffine3, run: &Run<'_>) {
    let before = mesh.positions.clone();
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
    tangents::follow(mesh, &before);
    if placement.matrix3.determinant() < 0.0 {
        tangents::mirror(mesh);
    }
}

fn enclosed(rest: &Asset, run: &Run<'_>) -> Option<f64> {
    let mesh = &rest.meshes[0];
    let size = crate::mesh::measure::Bounds::of(&mesh.positions)?.diagonal();
    let volume = volume(&mesh.positions, &mesh.triangles, run);
    (volume.abs() > NO_VOLUME * f64::from(size).powi(3)).then_some(volume)
}

//! An asset of the scene, ready to be played.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use glam::{DAffine3, DMat4, Mat4, Vec3};

use super::error::{FrameError, PlayerError};
use super::open::{Beat, Lents, Loan, Open, Opening, Rest};
use super::takes::Takes;
use super::{BodyState, Guides, Load, Slot, TICKS_PER_SECOND};
use crate::Run;
#[cfg(feature = "rigid")]
use crate::contact::rigid::Ragdoll;
use crate::contact::rigid::RigidState;
use crate::io::uri::FetchError;
use crate::mesh::attribute::NORMAL;
use crate::mesh::shading::Shading;
use crate::mesh::tangents;
use crate::mesh::volume::volume;
use crate::mesh::{Shape, Topology, TriMesh, Values};
use crate::modifier::{self, Figure, Obstacles};
use crate::rig::asset::Asset;
use crate::rig::{Body, Clip, Node, Pose, Skinning};
use crate::scene::modifier::{Carried, Memory, Moment, Prepared, Stage};
use crate::scene::{
    Actor, ClipChoice, Folder, Keyframes, Modifier, Motion, PathError, Recording, Repeat,
    RigidMotion, RigidPath, Source,
};
use crate::secondary;
use crate::skinning::{self, Instant, Solver, Take};

/// Rest volumes below this share of the bounding box' cube count as none.
const NO_VOLUME: f64 = 1e-9;

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
    /// Those of its modifiers that are kinds of the registry.
    pub(super) open: Vec<Option<Open>>,
    /// How its vertices hang together, unless a modifier changes that.
    pub(super) topology: Arc<Topology>,
    /// How it is skinned, if a modifier keeps its volume, and the number of that modifier.
    solver: Option<(usize, Solver)>,
    takes: Takes,
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

/// A body at one moment, and what went wrong on the way.
pub(super) struct Deformed {
    /// Which body of the scene.
    pub(super) number: usize,
    pub(super) shape: Shape,
    pub(super) warnings: Vec<String>,
    pub(super) figures: Vec<Figure>,
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
        opening: &Opening<'_>,
        load: Load<'_>,
    ) -> Result<Self, PlayerError> {
        let (folder, run) = (opening.folder, opening.run);
        let asset = actor.name.clone();
        let mut loaded = match &actor.source {
            Source::Empty { .. } => Asset::from_mesh(TriMesh::default()),
            source => {
                let wrong = |source| PlayerError::Load { asset: asset.clone(), source };
                load(source).map_err(wrong)?.with_clouds_as_meshes()
            }
        };
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
                kind: modifier.kind().to_owned(),
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
        let first = placed(body.matrices(body.rest_pose()), placement).first().copied();
        let tets = opening.solid(&actor, &body, first.unwrap_or_default())?;
        let placed = &rest.meshes[0];
        let at_rest = Rest { body: &body, placed, tets: tets.as_ref(), placement };
        let open = opening.prepare(&actor, &at_rest, load)?;
        let topology = Arc::new(match body.mesh.triangles.is_empty() {
            true => Topology::Points,
            false => Topology::Triangles(body.mesh.triangles.clone()),
        });
        Ok(Self {
            actor,
            body,
            rest,
            rest_volume,
            drive,
            placement,
            shading,
            prepared,
            open,
            topology,
            solver,
            takes: Takes::new(opening.scene.time.start, opening.scene.time.fps),
        })
    }

    /// How its vertices hang together, in frames in which no modifier changes that.
    #[must_use]
    pub fn topology(&self) -> &Arc<Topology> {
        &self.topology
    }

    /// Whether modifiers make it, so that it has nothing at rest.
    #[must_use]
    pub fn is_generated(&self) -> bool {
        matches!(self.actor.source, Source::Empty { .. })
    }

    /// Hands a shape that is no longer needed to the modifier that made it: the first.
    pub(super) fn take_back(&self, shape: Shape) {
        if let Some(Some(open)) = self.open.first() {
            open.erased.take_back(shape);
        }
    }

    /// What its modifiers remember before the first tick, which is at the moment; those of the registry that do not
    /// warm up begin afterwards ([`begin_open`](Self::begin_open)).
    pub(super) fn begin(&self, moment: &Moment<'_>, run: &Run<'_>) -> BodyState {
        let warm_up = self.actor.modifiers.iter().map(|m| m.warm_up_secs()).fold(0.0, f64::max);
        let ticks = (warm_up * f64::from(TICKS_PER_SECOND)).ceil() as u32;
        let dt_secs = 1.0 / f64::from(TICKS_PER_SECOND);
        let lents = Lents::default();
        let at = |k: u32| Beat {
            moment: Moment { secs: moment.secs - f64::from(ticks - k) * dt_secs, ..*moment },
            tick: 0,
            tick_secs: moment.secs,
            dt_secs,
            whole: true,
            obstacles: Obstacles::default(),
            lents: &lents,
            run,
        };
        let bones = self.begin_bones();
        let beat = at(0);
        let mut carried = self.carried_whole(&bones, &beat.moment);
        let mut slots = Vec::with_capacity(self.prepared.len());
        for (i, modifier) in self.actor.modifiers.iter().enumerate() {
            let memory = match self.warms_up(i) {
                true => self.begin_one(i, &beat, &mut carried),
                false => {
                    let stage = self.stage(&beat.moment, &self.prepared[i]);
                    modifier.begin(&stage, &mut carried)
                }
            };
            slots.push(Slot { memory, frozen: None });
        }
        let mut state = BodyState { slots, bones };
        for k in 1..=ticks {
            let beat = at(k);
            let mut carried = self.carried_whole(&state.bones, &beat.moment);
            for (i, slot) in state.slots.iter_mut().enumerate() {
                if self.warms_up(i) {
                    // What cannot be read now cannot be read in the first frame either, and is told there.
                    let _ = self.step_open(i, slot, &beat, (&mut carried, &mut Vec::new()));
                } else {
                    self.step_listed(i, slot, (&beat.moment, dt_secs, 0), &mut carried);
                }
            }
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

    /// Advances the memories, to the moment; the bones have moved already. Returns where that carries the
    /// joints, and what is lent to contact.
    pub(super) fn step(
        &self,
        state: &mut BodyState,
        beat: &Beat<'_>,
    ) -> Result<(Vec<Mat4>, Vec<Loan>), FrameError> {
        let mut lent = Vec::new();
        let mut carried = self.carried_whole(&state.bones, &beat.moment);
        for i in self.order() {
            let slot = &mut state.slots[i];
            match self.open[i] {
                Some(_) => self.step_open(i, slot, beat, (&mut carried, &mut lent))?,
                None => {
                    let step = (&beat.moment, beat.dt_secs, beat.tick);
                    self.step_listed(i, slot, step, &mut carried);
                }
            }
        }
        Ok((carried.joints, lent))
    }

    /// Advances a modifier that is no kind of the registry: to a moment, by seconds, in a tick.
    fn step_listed(
        &self,
        i: usize,
        slot: &mut Slot,
        (moment, dt_secs, tick): (&Moment<'_>, f64, u64),
        carried: &mut Carried,
    ) {
        if slot.frozen.is_some() || self.open[i].is_some() {
            return;
        }
        let (before, carried_before) = (slot.memory.clone(), carried.clone());
        let stage = self.stage(moment, &self.prepared[i]);
        if !self.actor.modifiers[i].step(&stage, &mut slot.memory, dt_secs, carried) {
            *slot = Slot { memory: before, frozen: Some(tick) };
            *carried = carried_before;
        }
    }

    /// Where the vertices are, given the memories.
    pub(super) fn deform(
        &self,
        number: usize,
        state: &BodyState,
        beat: &Beat<'_>,
    ) -> Result<Deformed, FrameError> {
        let (moment, run) = (&beat.moment, beat.run);
        let pose = self.full_pose(moment);
        let joints = self.matrices(&pose, &state.bones, moment.secs);
        let mut deformed = Deformed {
            number,
            shape: Shape { topology: self.topology.clone(), ..Shape::default() },
            warnings: Vec::new(),
            figures: Vec::new(),
            secondary: Vec::new(),
            guides: Guides::default(),
            volume_before: None,
        };
        let bound = self.bound(&pose, state, beat, &mut deformed)?;
        deformed.shape.positions =
            self.skin(bound, &joints, moment, &mut deformed.warnings, run)?;
        let mut carried = self.at(joints);
        // Where the first joint is after each modifier.
        let mut firsts = Vec::with_capacity(self.prepared.len());
        for (i, slot) in state.slots.iter().enumerate() {
            run.check()?;
            let before = carried.joints.first().copied();
            let whole = self.whole(&deformed.shape);
            match (&self.open[i], &slot.memory) {
                (None, _) => self.deform_listed(i, slot, beat, &carried, &mut deformed),
                (Some(open), Memory::Open(state)) if open.stage == modifier::Stage::World => {
                    self.deform_open(i, state, beat, &mut carried, &mut deformed)?;
                }
                (Some(_), _) => {}
            }
            if let Some(before) = whole.filter(|b| b.len() == deformed.shape.positions.len()) {
                self.body.welding().move_together(&before, &mut deformed.shape.positions);
            }
            let after = carried.joints.first().copied();
            deformed.guides.carry(before, after);
            firsts.push(after);
            if let Some(tick) = slot.frozen {
                self.warn(i, &format!("not finite at tick {tick}, frozen"), &mut deformed);
            }
        }
        deformed.guides.arrive(carried.joints, &firsts);
        self.freeze_vertices(&mut deformed);
        Ok(deformed)
    }

    /// Where the vertices are before a modifier, if copies among them must move as one.
    fn whole(&self, shape: &Shape) -> Option<Vec<Vec3>> {
        let welding = self.body.welding();
        let is_own = shape.positions.len() == welding.vertices();
        (is_own && !welding.is_trivial()).then(|| shape.positions.clone())
    }

    /// Carries out a modifier that is no kind of the registry.
    fn deform_listed(
        &self,
        i: usize,
        slot: &Slot,
        beat: &Beat<'_>,
        carried: &Carried,
        deformed: &mut Deformed,
    ) {
        let modifier = &self.actor.modifiers[i];
        if deformed.shape.positions.len() != self.body.mesh.positions.len() {
            let what = "a modifier before it changed the vertices; left out of this frame";
            return self.warn(i, what, deformed);
        }
        let stage = self.stage(&beat.moment, &self.prepared[i]);
        deformed.guides.add_springs(&self.prepared[i], &slot.memory, &carried.joints);
        let positions = &mut deformed.shape.positions;
        let outcome = modifier.deform(&stage, &slot.memory, carried, positions, beat.run);
        if let Some(what) = outcome.warning {
            self.warn(i, &what, deformed);
        }
        deformed.secondary.extend(outcome.secondary);
        if i + 1 == self.actor.modifiers.len() {
            deformed.volume_before = outcome.volume_before;
        } else if let Some(before) = outcome.volume_before {
            let Shape { positions, topology, .. } = &deformed.shape;
            let after = volume(positions, topology.triangles(), beat.run);
            deformed.tell_flesh(before, after);
        }
    }

    fn warn(&self, i: usize, what: &str, deformed: &mut Deformed) {
        let (name, kind) = (&self.actor.name, self.actor.modifiers[i].kind());
        let warning = format!("asset '{name}', modifier {} ({kind}): {what}", i + 1);
        deformed.warnings.push(warning);
    }

    /// The pose of the skeleton and the morph targets, as modifiers leave it.
    pub(super) fn full_pose(&self, moment: &Moment<'_>) -> Pose {
        let mut pose = self.pose(moment.secs);
        if !self.body.morphs.is_empty() {
            let mut weights = self.body.morph_weights(&pose);
            for open in self.open.iter().flatten() {
                open.erased.weigh(moment.secs, moment.tracks, &mut weights);
            }
            self.body.set_morph_weights(&mut pose, &weights);
        }
        pose
    }

    fn stage<'a>(&'a self, moment: &Moment<'a>, prepared: &'a Prepared) -> Stage<'a> {
        Stage { moment: *moment, body: &self.body, prepared }
    }

    /// Bound vertices moved by the skeleton, with the volume kept if a modifier says so.
    fn skin(
        &self,
        bound: Cow<'_, [Vec3]>,
        matrices: &[Mat4],
        moment: &Moment<'_>,
        warnings: &mut Vec<String>,
        run: &Run<'_>,
    ) -> Result<Vec<Vec3>, FrameError> {
        let Some((number, solver)) = &self.solver else {
            return Ok(self.body.skin_bound(&bound, matrices, self.skinning(), run));
        };
        let (body, skinning) = (&self.body, self.skinning());
        let skinned = if matches!(self.drive, Drive::Clip { .. }) {
            let place = self.takes.place(moment.secs);
            let instants = |number: i64| {
                let moment = Moment { secs: place.secs(number), ..*moment };
                let pose = self.full_pose(&moment);
                let matrices = self.matrices(&pose, &RigidState::default(), moment.secs);
                Some(Instant { bound: body.morphed(&pose, run), matrices })
            };
            let take = Take { body, skinning, instants: &instants, memo: place.memo };
            let now = Instant { bound, matrices: matrices.to_vec() };
            solver.frame(&take, place.number, &now, run)?
        } else {
            // Inside the pool from the first to the last: a pose is many small pieces of work.
            run.install(|| solver.pose_bound(body, bound, matrices, skinning, run))?
        };
        let name = &self.actor.name;
        let told = skinning::warnings(solver, &skinned.report);
        warnings.extend(
            told.into_iter().map(|w| format!("asset '{name}', modifier {number} (skinning): {w}")),
        );
        Ok(skinned.positions)
    }

    /// Puts vertices that are not finite back where they rest; those of a generator, which rest nowhere, at the
    /// origin.
    fn freeze_vertices(&self, deformed: &mut Deformed) {
        let mut frozen = 0;
        let mut first = None;
        let rest = &self.rest.meshes[0].positions;
        for (i, x) in deformed.shape.positions.iter_mut().enumerate() {
            if !x.is_finite() {
                *x = rest.get(i).copied().unwrap_or_default();
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

    /// Where the primary motion alone carries the vertices; `None` if it is simulated.
    pub(super) fn posed(&self, secs: f64, run: &Run<'_>) -> Option<Vec<Vec3>> {
        #[cfg(feature = "rigid")]
        if matches!(self.drive, Drive::Simulated { .. }) {
            return None;
        }
        let pose = self.pose(secs);
        let matrices = self.matrices(&pose, &RigidState::default(), secs);
        Some(self.body.skin(&pose, &matrices, self.skinning(), run))
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
        self.at(joints)
    }

    /// Where the body is with its joints there.
    pub(super) fn at(&self, joints: Vec<Mat4>) -> Carried {
        let centroid = self.body.centroid(&joints);
        Carried { centroid, joints, morphs: Vec::new(), edits: Vec::new(), courses: Vec::new() }
    }

    /// Where the primary motion carries the body, with the weights of its morph targets.
    fn carried_whole(&self, bones: &RigidState, moment: &Moment<'_>) -> Carried {
        let mut carried = self.carried(bones, moment.secs);
        let has_flesh = self.actor.modifiers.iter().any(|m| matches!(m, Modifier::Secondary(_)));
        if has_flesh && !self.body.morphs.is_empty() {
            carried.morphs = self.body.morph_weights(&self.full_pose(moment));
        }
        carried
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
        let kind = modifier.kind().to_owned();
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
            kind: modifier.kind().to_owned(),
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
                kind: modifier.kind().to_owned(),
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

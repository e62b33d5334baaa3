//! An asset of the scene, ready to be played.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use glam::{DAffine3, DMat4, DVec3, Mat4, Vec3};

use super::carried::Carried;
use super::error::{FrameError, PlayerError};
use super::open::{Beat, Folded, Instant, Lents, Loan, Open, Opening, Rest};
use super::{BodyState, Guides, Load, Slot, TICKS_PER_SECOND, paint};
use crate::Run;
use crate::io::inputs;
use crate::io::uri::FetchError;
use crate::mesh::attribute::NORMAL;
use crate::mesh::shading::Shading;
use crate::mesh::tangents;
use crate::mesh::volume::volume;
use crate::mesh::{Shape, TetMesh, Topology, TriMesh, Values};
use crate::modifier::{
    AnyState, Details, Figure, Modifier, Obstacles, PoseAt, Posed, Ready, Report, Stage, Substeps,
};
use crate::rig::asset::Asset;
use crate::rig::{Body, Clip, Node, Pose, Skinning};
use crate::scene::{
    Actor, ClipChoice, Folder, Keyframes, Motion, PathError, Recording, Repeat, RigidPath, Source,
};

/// Rest volumes below this share of the bounding box' cube count as none.
const NO_VOLUME: f64 = 1e-9;

/// An asset of the scene with all that moves it. What is large in it is shared with its clones.
#[derive(Clone, Debug)]
pub struct Cast {
    /// What the scene says about it.
    pub actor: Actor,
    /// The asset as one skinned mesh.
    pub body: Arc<Body>,
    /// The body at rest, placed: exactly one mesh, with its materials and images.
    pub rest: Arc<Asset>,
    /// Volume of the asset, placed, before all edits; `None` for a shape that encloses nothing.
    pub rest_volume: Option<f64>,
    pub(super) drive: Arc<Drive>,
    placement: DAffine3,
    /// For the normals of its frames.
    pub(super) shading: Arc<Shading>,
    /// Its modifiers, in the order of effect.
    pub(super) modifiers: Vec<Open>,
    /// Those before them that are part of its shape now.
    folded: Folded,
    /// The solid beside it, where it was bound and where it is placed.
    tets: Option<Arc<[TetMesh; 2]>>,
    /// How its vertices hang together, unless a modifier changes that.
    pub(super) topology: Arc<Topology>,
}

/// The primary motion, ready to be sampled.
#[derive(Debug)]
pub(super) enum Drive {
    Still,
    Clip { clip: Clip, span: (f32, f32), keyframes: Keyframes },
    Path { path: RigidPath, repeat: Repeat },
}

/// A body at one moment, and what went wrong on the way.
pub(super) struct Deformed {
    /// Which body of the scene.
    pub(super) number: usize,
    pub(super) shape: Shape,
    pub(super) warnings: Vec<String>,
    pub(super) figures: Vec<Figure>,
    pub(super) details: Details,
    pub(super) guides: Guides,
    /// What the last modifier told, if how it changed the volume is still to be told.
    pub(super) unmeasured: Option<Report>,
}

impl Deformed {
    /// Tells how the last modifier changed the volume.
    pub(super) fn tell_volume(&mut self, after: f64) {
        if let Some(mut report) = self.unmeasured.take() {
            report.tell_volume(after);
            self.figures.append(&mut report.figures);
        }
    }
}

impl Cast {
    pub(super) fn new(
        actor: &Actor,
        opening: &Opening<'_>,
        load: Load<'_>,
    ) -> Result<Self, PlayerError> {
        let run = opening.run;
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
        let actor = actor.clone();
        let placement = actor.placement.affine();
        let told = paint::apply(&actor, (&mut loaded, &mut body), load, run)?;
        let at_rest = |body: &Body| {
            let mut mesh = body.rest_mesh(run);
            place(&mut mesh, placement, run);
            mesh
        };
        // What edits do to the volume is told although they are folded into the shape.
        let given = (!actor.rest.is_empty()).then(|| enclosed(&at_rest(&body), run));
        let mut folded = opening.fold(&actor, (&mut loaded, &mut body), load)?;
        folded.warnings.splice(0..0, told);
        if let Some(mut finer) = opening.finer((&actor, &folded), || at_rest(&body), load)? {
            place(&mut finer, placement.inverse(), run);
            let finer = Asset::from_mesh(finer);
            loaded = Asset { materials: loaded.materials, images: loaded.images, ..finer };
            let wrong = |source| PlayerError::Body { asset: actor.name.clone(), source };
            body = Body::from_asset(&loaded).map_err(wrong)?;
        }
        let drive = Drive::new(&actor, &loaded, &body, opening)?;
        let mirrored = placement.matrix3.determinant() < 0.0;
        if mirrored {
            body.turn_round();
        }
        let rest = rest_asset(&body, loaded, placement, &actor.name, run);
        let given = given.map(|volume| volume.map(|v| if mirrored { -v } else { v }));
        let rest_volume = given.unwrap_or_else(|| enclosed(&rest.meshes[0], run));
        let shading = Shading::new(body.mesh.positions.len(), &body.mesh.triangles);
        let joints = &placed(body.matrices(body.rest_pose()), placement)[..];
        let first = joints.first().copied().unwrap_or_default();
        let tets = opening.solid(&actor, &body, first)?.map(Arc::new);
        let placed = &rest.meshes[0];
        let meets_others = actor.contact.is_some_and(|contact| contact.others);
        let at_rest = Rest {
            body: &body,
            placed,
            tets: tets.as_deref(),
            placement,
            joints,
            meets_others,
            round_secs: drive.round_secs(),
        };
        let modifiers = opening.prepare((&actor, &folded, &[]), &at_rest, load)?;
        let topology = Arc::new(match body.mesh.triangles.is_empty() {
            true => Topology::Points,
            false => Topology::Triangles(body.mesh.triangles.clone()),
        });
        Ok(Self {
            actor,
            body: Arc::new(body),
            rest: Arc::new(rest),
            rest_volume,
            drive: Arc::new(drive),
            placement,
            shading: Arc::new(shading),
            modifiers,
            folded,
            tets,
            topology,
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
        if let Some(modifier) = self.modifiers.first() {
            modifier.erased.take_back(shape);
        }
    }

    /// It as another version of the scene has it, with all that did not change; `None` if the body itself did.
    pub(super) fn renewed(
        &self,
        actor: &Actor,
        opening: &Opening<'_>,
        load: Load<'_>,
    ) -> Result<Option<Self>, PlayerError> {
        let old = &self.actor;
        let is_same_body = old.source == actor.source
            && old.tets == actor.tets
            && old.paint == actor.paint
            && old.placement == actor.placement
            && old.motion == actor.motion
            && old.rest == actor.rest
            && opening.remeshing(old) == opening.remeshing(actor);
        if !is_same_body {
            return Ok(None);
        }
        let meets_others = actor.contact.is_some_and(|contact| contact.others);
        let is_same_contact = old.contact == actor.contact;
        let at_rest = Rest {
            body: &self.body,
            placed: &self.rest.meshes[0],
            tets: self.tets.as_deref(),
            placement: self.placement,
            joints: &self.rest_matrices(),
            meets_others,
            round_secs: self.drive.round_secs(),
        };
        let known = if is_same_contact { &self.modifiers[..] } else { &[] };
        let modifiers = opening.prepare((actor, &self.folded, known), &at_rest, load)?;
        Ok(Some(Self { actor: actor.clone(), modifiers, ..self.clone() }))
    }

    /// Goes on with the states of what was kept of an older version.
    pub(super) fn keep(&self, old: &Self, was: &BodyState, state: &mut BodyState) {
        if !Arc::ptr_eq(&self.body, &old.body) {
            return;
        }
        for (modifier, slot) in self.modifiers.iter().zip(&mut state.slots) {
            if let Some(kept) = modifier.kept_from.and_then(|k| was.slots.get(k)) {
                slot.clone_from(kept);
            }
        }
    }

    /// One of its modifiers, counted from 0 without those that were folded into its shape, as what it was prepared to be,
    /// with its parameters; `None` if it is of another kind.
    #[must_use]
    pub fn modifier<M: Modifier>(&self, i: usize) -> Option<(&M, &M::Params)> {
        let ready: &Ready<M> = self.modifiers.get(i)?.erased.ready().downcast_ref()?;
        Some((&ready.modifier, &ready.params))
    }

    /// What its modifiers remember before the first tick, which is at the moment; those that do not warm up begin
    /// afterwards ([`begin_late`](Self::begin_late)).
    pub(super) fn begin(&self, moment: &Instant<'_>, run: &Run<'_>) -> BodyState {
        let warm_ups = self.modifiers.iter().map(|m| m.erased.nature().warm_up_secs);
        let ticks = (warm_ups.fold(0.0, f64::max) * f64::from(TICKS_PER_SECOND)).ceil() as u32;
        let dt_secs = 1.0 / f64::from(TICKS_PER_SECOND);
        let lents = Lents::default();
        let at = |k: u32| Beat {
            moment: Instant { secs: moment.secs - f64::from(ticks - k) * dt_secs, ..*moment },
            // Counted down: what ticks more seldom does so in step with the ticks from the start on.
            tick: u64::from(ticks - k),
            tick_secs: moment.secs,
            dt_secs,
            whole: true,
            obstacles: Obstacles::default(),
            lents: &lents,
            run,
        };
        let none = || Slot { memory: AnyState::none(), frozen: None };
        let slots = self.modifiers.iter().map(|_| none()).collect();
        let mut state = BodyState { slots };
        if let Some(i) = self.driver() {
            // All others are told where it takes the joints.
            let at_rest = self.at(self.rest_matrices());
            state.slots[i].memory = self.modifiers[i].erased.begin(&at(0).now(&at_rest, i));
        }
        let warms_up = |i: usize| self.warms_up(i);
        self.begin_some(&mut state, &at(0), warms_up, warms_up);
        for k in 1..=ticks {
            let beat = at(k);
            let mut carried = self.carried_whole(&state, &beat.moment);
            for i in self.order().filter(|&i| self.warms_up(i)) {
                let slot = &mut state.slots[i];
                // What cannot be read now cannot be read in the first frame either, and is told there.
                let _ = self.step_one(i, slot, &beat, (&mut carried, &mut Vec::new()));
            }
        }
        let frozen = state.slots.iter_mut().filter_map(|slot| slot.frozen.as_mut());
        frozen.for_each(|tick| *tick = 0);
        state
    }

    /// The modifier that moves the joints in the place of the motion.
    fn driver(&self) -> Option<usize> {
        self.modifiers.iter().position(|m| m.erased.nature().drives.is_some())
    }

    /// That a modifier moves the joints and the motion beside it does not.
    fn idle_motion(&self) -> Option<String> {
        let Open { erased, number, .. } = &self.modifiers[self.driver()?];
        let motion = match &*self.drive {
            Drive::Still => return None,
            Drive::Clip { .. } => "clip",
            Drive::Path { .. } => "path",
        };
        let (name, kind) = (&self.actor.name, erased.kind());
        Some(format!(
            "asset '{name}': its {motion} moves no joints, since modifier {number} ({kind}) does, from the rest pose on"
        ))
    }

    /// Whether a modifier moves the joints.
    pub(super) fn is_driven(&self) -> bool {
        self.driver().is_some()
    }

    /// Begins the finer steps of a tick, if a modifier moves the joints: its number, and what takes the steps.
    pub(super) fn begin_tick(
        &self,
        state: &BodyState,
        dt_secs: f64,
    ) -> Option<(usize, Box<dyn Substeps<AnyState> + '_>)> {
        let i = self.driver()?;
        let slot = Some(&state.slots[i]).filter(|slot| slot.frozen.is_none())?;
        Some((i, self.modifiers[i].erased.begin_tick(&slot.memory, dt_secs)?))
    }

    /// Advances the memories, to the moment; what moves the joints has done so already. Returns where that carries the
    /// joints, and what is lent to contact.
    pub(super) fn step(
        &self,
        state: &mut BodyState,
        beat: &Beat<'_>,
    ) -> Result<(Vec<Mat4>, Vec<Loan>), FrameError> {
        let mut lent = Vec::new();
        let mut carried = self.carried_whole(state, &beat.moment);
        for i in self.order() {
            self.step_one(i, &mut state.slots[i], beat, (&mut carried, &mut lent))?;
        }
        Ok((carried.joints, lent))
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
        let joints = self.matrices(&pose, Some(state), moment.secs);
        let mut deformed = Deformed {
            number,
            shape: Shape { topology: self.topology.clone(), ..Shape::default() },
            warnings: self.folded.warnings.iter().cloned().chain(self.idle_motion()).collect(),
            figures: Vec::new(),
            details: Details::default(),
            guides: Guides::default(),
            unmeasured: None,
        };
        let bound = self.bound(&pose, state, beat, &mut deformed)?;
        deformed.shape.positions = self.skin(bound, &joints, beat, &mut deformed)?;
        let mut carried = self.at(joints);
        carried.morph_weights = self.morph_weights(moment);
        // Where the first joint is after each modifier; before the skeleton, where it is bound.
        let mut firsts = Vec::with_capacity(self.modifiers.len());
        for (i, slot) in state.slots.iter().enumerate() {
            run.check()?;
            if self.modifiers[i].stage == Stage::World {
                let whole = self.whole(&deformed.shape);
                self.deform_one(i, &slot.memory, beat, &mut carried, &mut deformed)?;
                if let Some(before) = whole.filter(|b| b.len() == deformed.shape.positions.len()) {
                    self.body.welding().move_together(&before, &mut deformed.shape.positions);
                }
            }
            let is_early = self.modifiers[i].stage != Stage::World;
            firsts.push(match is_early {
                true => Some(Mat4::IDENTITY),
                false => carried.joints.first().copied(),
            });
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

    pub(super) fn warn(&self, i: usize, what: &str, deformed: &mut Deformed) {
        let (name, Open { erased, number, .. }) = (&self.actor.name, &self.modifiers[i]);
        let warning = format!("asset '{name}', modifier {number} ({}): {what}", erased.kind());
        deformed.warnings.push(warning);
    }

    /// The pose of the skeleton and the morph targets, as modifiers leave it.
    pub(super) fn full_pose(&self, moment: &Instant<'_>) -> Pose {
        let mut pose = self.pose(moment.secs);
        if !self.body.morphs.is_empty() {
            let mut weights = self.body.morph_weights(&pose);
            for modifier in &self.modifiers {
                modifier.erased.weigh(moment.secs, moment.tracks, &mut weights);
            }
            self.body.set_morph_weights(&mut pose, &weights);
        }
        pose
    }

    /// Bound vertices moved by the skeleton, as the modifier says that takes this upon itself.
    fn skin(
        &self,
        bound: Cow<'_, [Vec3]>,
        joints: &[Mat4],
        beat: &Beat<'_>,
        deformed: &mut Deformed,
    ) -> Result<Vec<Vec3>, FrameError> {
        let (body, skinning, run) = (&self.body, self.skinning(), beat.run);
        let Some(i) = self.modifiers.iter().position(|m| m.erased.nature().skins) else {
            return Ok(body.skin_bound(&bound, joints, skinning, run));
        };
        let at = |secs: f64| {
            let pose = self.full_pose(&Instant { secs, ..beat.moment });
            let matrices = self.matrices(&pose, None, secs);
            (body.morphed(&pose, run), matrices)
        };
        let is_known = matches!(*self.drive, Drive::Clip { .. }) && !self.is_driven();
        let posed = Posed {
            body,
            bound,
            joints,
            skinning,
            secs: beat.moment.secs,
            at: is_known.then_some(&at as PoseAt<'_>),
            run,
        };
        let Open { erased, number, .. } = &self.modifiers[i];
        let mut report = Report::of(deformed.number, *number, erased.kind());
        let skinned = erased.skin(posed, &mut report).map_err(|halt| self.failed(i, halt))?;
        self.tell(i, report, beat, deformed);
        Ok(skinned)
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
        let driven = self.modifiers.iter().find_map(|m| m.erased.nature().drives);
        driven.unwrap_or(match &*self.drive {
            Drive::Clip { keyframes, .. } => keyframes.skinning,
            Drive::Still | Drive::Path { .. } => Skinning::Linear,
        })
    }

    /// *Move*: the pose of the skeleton.
    fn pose(&self, secs: f64) -> Pose {
        let mut pose = self.body.rest_pose().clone();
        if let Drive::Clip { clip, span, keyframes } = &*self.drive {
            clip.sample(keyframes.clip_time(secs, *span), &mut pose);
        }
        pose
    }

    /// Where the primary motion alone carries the vertices; `None` if it is simulated.
    pub(super) fn posed(&self, secs: f64, run: &Run<'_>) -> Option<Vec<Vec3>> {
        let (pose, matrices) = self.moved(secs)?;
        Some(self.body.skin(&pose, &matrices, self.skinning(), run))
    }

    /// The pose that the primary motion alone gives it, and its joints then; `None` if it is simulated.
    pub(super) fn moved(&self, secs: f64) -> Option<(Pose, Vec<Mat4>)> {
        let pose = self.pose(secs);
        let matrices = (!self.is_driven()).then(|| self.matrices(&pose, None, secs))?;
        Some((pose, matrices))
    }

    /// From bind to world, for each joint; without a state, as the motion has them.
    fn matrices(&self, pose: &Pose, state: Option<&BodyState>, secs: f64) -> Vec<Mat4> {
        if let (Some(state), Some(i)) = (state, self.driver()) {
            return self.modifiers[i].erased.joints(&state.slots[i].memory);
        }
        let mut world = self.placement;
        if let Drive::Path { path, repeat } = &*self.drive {
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
    pub(super) fn carried(&self, state: &BodyState, secs: f64) -> Carried {
        let joints = self.matrices(&self.pose(secs), Some(state), secs);
        self.at(joints)
    }

    /// Where the body is with its joints there.
    pub(super) fn at(&self, joints: Vec<Mat4>) -> Carried {
        Carried::new(self.body.centroid(&joints), joints)
    }

    /// Where the primary motion carries the body, with its morph weights and markers.
    pub(super) fn carried_whole(&self, state: &BodyState, moment: &Instant<'_>) -> Carried {
        let mut carried = self.carried(state, moment.secs).with_markers(&self.modifiers);
        carried.morph_weights = self.morph_weights(moment);
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
        opening: &Opening<'_>,
    ) -> Result<Self, PlayerError> {
        match &actor.motion {
            Motion::Still => Ok(Self::Still),
            Motion::Keyframes(keyframes) => {
                Self::clip(actor, (asset, body), keyframes, opening.run)
            }
            Motion::Path(recording) => {
                let (path, repeat) = Self::path(&actor.name, recording, opening.folder)?;
                Ok(Self::Path { path, repeat })
            }
        }
    }

    /// After how many seconds a clip is where it was, if it goes round.
    fn round_secs(&self) -> Option<f64> {
        match self {
            Self::Clip { span, keyframes, .. } => keyframes.round_secs(*span),
            _ => None,
        }
    }

    fn clip(
        actor: &Actor,
        (asset, body): (&Asset, &Body),
        keyframes: &Keyframes,
        run: &Run<'_>,
    ) -> Result<Self, PlayerError> {
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
        let repeat = keyframes.repeat.resolved(|| body.closes(clip, run));
        let keyframes = Keyframes { repeat, ..keyframes.clone() };
        Ok(Self::Clip { clip: clip.clone(), span, keyframes })
    }

    /// A path, and what happens beyond its ends.
    pub(super) fn path(
        actor: &str,
        recording: &Recording,
        folder: &Folder<'_>,
    ) -> Result<(RigidPath, Repeat), PlayerError> {
        let path = Self::read_path(actor, recording, folder)?;
        let repeat = recording.repeat.resolved(|| path.closes());
        Ok((path, repeat))
    }

    fn read_path(
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
        let text = match inputs::read_to_string(&path) {
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

/// What a surface encloses. Seen from another point, that of an open one changes by a third of the way times the area its
/// hole would need, so where the hole is as large as that of a sheet or a bowl the figure is none.
fn enclosed(mesh: &TriMesh, run: &Run<'_>) -> Option<f64> {
    let size = f64::from(crate::mesh::measure::Bounds::of(&mesh.positions)?.diagonal());
    let volume = volume(&mesh.positions, &mesh.triangles, run);
    let hole = vector_area(mesh).length();
    (volume.abs() > (hole * size / 3.0).max(NO_VOLUME * size.powi(3))).then_some(volume)
}

/// The sum of the triangles' areas along their normals: nothing for a closed surface.
fn vector_area(mesh: &TriMesh) -> DVec3 {
    let corner = |v: u32| mesh.positions[v as usize].as_dvec3();
    let area = |&[a, b, c]: &[u32; 3]| {
        let a = corner(a);
        0.5 * (corner(b) - a).cross(corner(c) - a)
    };
    mesh.triangles.iter().map(area).sum()
}

//! Modifiers in the player: prepared for their bodies, begun, advanced, carried out.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use glam::{DAffine3, DVec3, Mat4, Vec3};

use super::carried::{Carried, Placed};
use super::cast::{Cast, Deformed};
use super::error::{FrameError, PlayerError, Unreadable};
use super::{BodyState, Load, Slot, source};
use crate::contact::Lent;
use crate::mesh::surface_frames::SurfaceFrames;
use crate::mesh::volume::volume;
use crate::mesh::{Shape, TetMesh, TriMesh};
use crate::modifier::{
    AnyState, Erased, Halt, Inputs, Kind, Loaded, Memo, Moment, NamedFlow, Need, Obstacles,
    Registry, Report, Stage, TICKS_PER_SECOND, Tracks, around,
};
use crate::rig::{Body, Pose};
use crate::scene::{Actor, Entry, Folder, Motion, Scene, Tets};
use crate::{Asset, Run};

/// What bodies are made ready with.
pub(super) struct Opening<'a> {
    pub(super) scene: &'a Scene,
    pub(super) registry: &'a Registry,
    pub(super) folder: &'a Folder<'a>,
    pub(super) memo: &'a Memo,
    /// Flows that were opened so far: bodies share them.
    pub(super) flows: Mutex<Vec<NamedFlow>>,
    /// The version of the scene that was played before, if one was.
    pub(super) before: Option<&'a Scene>,
    pub(super) run: &'a Run<'a>,
}

/// A modifier, prepared for its body.
#[derive(Clone, Debug)]
pub(super) struct Open {
    /// What the document says of it.
    pub(super) entry: Entry,
    pub(super) erased: Arc<dyn Erased>,
    pub(super) stage: Stage,
    /// Its number among all modifiers of its body, from 1.
    pub(super) number: usize,
    /// Where it stood in the version of the scene before, if it was kept.
    pub(super) kept_from: Option<usize>,
    /// The points whose place it asked for.
    pub(super) markers: Vec<Placed>,
}

/// When, and seen from where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instant<'a> {
    /// Time of the scene, in seconds.
    pub(super) secs: f64,
    /// The tracks that parameters name.
    pub(super) tracks: &'a Tracks,
    /// Where the scene's camera is, if it has one.
    pub(super) eye: Option<DVec3>,
}

/// What a body is, for those that are prepared for it.
pub(super) struct Rest<'a> {
    pub(super) body: &'a Body,
    /// The placed body at rest.
    pub(super) placed: &'a TriMesh,
    /// The solid beside it, where it was bound and where it is placed.
    pub(super) tets: Option<&'a [TetMesh; 2]>,
    /// From the asset at rest to the placed body.
    pub(super) placement: DAffine3,
    /// From bind to the placed rest pose, for each joint.
    pub(super) joints: &'a [Mat4],
    /// Whether it meets other bodies.
    pub(super) meets_others: bool,
    /// After how many seconds its motion is where it was, if it goes round.
    pub(super) round_secs: Option<f64>,
}

/// The modifiers at the head of `rest` that are part of a body's shape now.
#[derive(Clone, Debug, Default)]
pub(super) struct Folded {
    /// How many they are.
    pub(super) count: usize,
    /// What they had to say.
    pub(super) warnings: Vec<String>,
}

/// When a body is moved on or shown, and what is known then.
#[derive(Clone, Copy)]
pub(super) struct Beat<'a> {
    pub(super) moment: Instant<'a>,
    /// The last tick, and its time.
    pub(super) tick: u64,
    pub(super) tick_secs: f64,
    /// How far a state is moved on.
    pub(super) dt_secs: f64,
    /// Whether that is a whole tick.
    pub(super) whole: bool,
    pub(super) obstacles: Obstacles<'a>,
    /// Memory for what is lent.
    pub(super) lents: &'a Lents,
    pub(super) run: &'a Run<'a>,
}

/// What one modifier of a body lends.
#[derive(Debug)]
pub(super) struct Loan {
    /// Which modifier.
    pub(super) slot: usize,
    /// How long its tick was.
    dt_secs: f64,
    pub(super) lent: Lent,
}

/// Memory that was lent in earlier ticks and is free now.
#[derive(Debug, Default)]
pub(super) struct Lents(Mutex<Vec<Lent>>);

impl Lents {
    /// An empty one.
    fn take(&self) -> Lent {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Takes one back.
    pub(super) fn put(&self, mut lent: Lent) {
        lent.clear();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(lent);
    }
}

impl Opening<'_> {
    /// Prepares all of an asset's modifiers but those that are folded into its shape.
    pub(super) fn prepare(
        &self,
        (actor, folded, old): (&Actor, &Folded, &[Open]),
        rest: &Rest<'_>,
        load: Load<'_>,
    ) -> Result<Vec<Open>, PlayerError> {
        let mut prepared: Vec<Open> = Vec::new();
        for (i, (stage, entry)) in actor.modifiers().enumerate().skip(folded.count) {
            self.run.check()?;
            let one = match self.kept((stage, entry), (prepared.len(), old), &prepared) {
                Some(kept) => kept,
                None => self
                    .prepare_one((stage, entry), rest, load)
                    .map_err(|what| wrong(actor, i, what))?,
            };
            prepared.push(Open { number: i + 1, ..one });
        }
        check_sole(actor, &prepared)?;
        if prepared.iter().any(|m| m.erased.nature().carries) {
            let markers = prepared.iter_mut().flat_map(|m| &mut m.markers);
            for Placed { marker, near } in markers.filter(|m| m.near.is_empty()) {
                *near = around(marker.rest, &rest.placed.positions);
            }
        }
        Ok(prepared)
    }

    /// What was prepared for the same body in the version before, as it is or adapted: where it stands now, else wherever
    /// it stood and is not yet `taken`.
    fn kept(
        &self,
        (stage, entry): (Stage, &Entry),
        (at, old): (usize, &[Open]),
        taken: &[Open],
    ) -> Option<Open> {
        let before = self.before?;
        let (now, then) = (&self.scene.time, &before.time);
        let kind = self.registry.get(&entry.kind)?;
        let is_same_scene = now == then
            && before.flows == self.scene.flows
            && (!kind.reads_tracks || before.tracks == self.scene.tracks);
        if !is_same_scene {
            return None;
        }
        let is_free = |k: usize| taken.iter().all(|m| m.kept_from != Some(k));
        let is_it = |k: &usize| {
            let here = &old[*k];
            here.stage == stage && here.entry == *entry && is_free(*k)
        };
        let here = Some(at).filter(|at| *at < old.len()).filter(is_it);
        if let Some(k) = here.or_else(|| (0..old.len()).find(is_it)) {
            return Some(Open { kept_from: Some(k), ..old[k].clone() });
        }
        let old = old.get(at).filter(|m| m.stage == stage && m.entry.kind == entry.kind)?;
        let erased = is_free(at).then(|| old.erased.adapt(&entry.params)).flatten()?;
        Some(Open { erased, entry: entry.clone(), kept_from: Some(at), ..old.clone() })
    }

    /// The first modifier of an asset that makes it finer.
    pub(super) fn remeshing<'b>(&self, actor: &'b Actor) -> Option<(Stage, &'b Entry)> {
        let remeshes = |entry: &Entry| {
            self.kind(entry).and_then(|kind| (kind.remeshes)(&entry.params)).unwrap_or(false)
        };
        actor.modifiers().find(|(_, entry)| remeshes(entry))
    }

    fn kind(&self, entry: &Entry) -> Result<&Kind, String> {
        let none = || "there is no such kind of modifier".to_owned();
        self.registry.get(&entry.kind).ok_or_else(none)
    }

    /// What a modifier needs beside its body.
    fn sources(&self, entry: &Entry, load: Load<'_>) -> Result<Vec<Loaded>, String> {
        let needs = (self.kind(entry)?.needs)(&entry.params)?;
        needs.iter().map(|need| self.fetch(need, load)).collect()
    }

    fn prepare_one(
        &self,
        (stage, entry): (Stage, &Entry),
        rest: &Rest<'_>,
        load: Load<'_>,
    ) -> Result<Open, String> {
        let kind = self.kind(entry)?;
        let sources = self.sources(entry, load)?;
        let mesh = if stage == Stage::World { rest.placed } else { &rest.body.mesh };
        let inputs = Inputs {
            rest: &Shape::of_mesh(mesh),
            body: rest.body,
            tets: rest.tets.map(|[bound, placed]| match stage {
                Stage::World => placed,
                Stage::Rest | Stage::Pose => bound,
            }),
            sources: &sources,
            tracks: &self.scene.tracks,
            placement: match stage {
                Stage::World => rest.placement,
                Stage::Rest | Stage::Pose => DAffine3::IDENTITY,
            },
            joints: rest.joints,
            meets_others: rest.meets_others,
            start_secs: self.scene.time.start,
            end_secs: self.scene.time.end,
            fps: self.scene.time.fps,
            round_secs: rest.round_secs,
            memo: self.memo,
            run: self.run,
        };
        let erased = (kind.make)(&entry.params, &inputs)?;
        let placed = |marker| Placed { marker, near: Vec::new() };
        let markers = erased.markers().into_iter().map(placed).collect();
        Ok(Open { entry: entry.clone(), erased, stage, number: 0, kept_from: None, markers })
    }

    /// Carries out the modifiers at the head of `rest` that never change, once: from here on the body is as they leave
    /// it.
    pub(super) fn fold(
        &self,
        actor: &Actor,
        (asset, body): (&mut Asset, &mut Body),
        load: Load<'_>,
    ) -> Result<Folded, PlayerError> {
        let mut folded = Folded::default();
        for (i, entry) in actor.rest.iter().enumerate() {
            self.run.check()?;
            let one = self.fold_one(entry, (&mut *asset, &mut *body), load);
            let Some(report) = one.map_err(|what| wrong(actor, i, what))? else { break };
            folded.count += 1;
            let (name, kind) = (&actor.name, &entry.kind);
            let told = |w| format!("asset '{name}', modifier {} ({kind}): {w}", i + 1);
            folded.warnings.extend(report.warnings.into_iter().map(told));
        }
        Ok(folded)
    }

    /// Carries out one modifier of `rest`; `None` if it changes in time.
    fn fold_one(
        &self,
        entry: &Entry,
        (asset, body): (&mut Asset, &mut Body),
        load: Load<'_>,
    ) -> Result<Option<Report>, String> {
        let kind = self.kind(entry)?;
        let remeshes = (kind.remeshes)(&entry.params)?;
        if remeshes {
            if !is_single(asset) {
                return Err(
                    "remesh = true needs an asset of one mesh: join its meshes first".to_owned()
                );
            }
            let sources = self.sources(entry, load)?;
            asset.meshes[0] = (kind.remesh)(&entry.params, &asset.meshes[0], &sources, self.run)?;
            *body = Body::from_asset(asset).map_err(|e| e.to_string())?;
        }
        let (placed, placement) = (&body.mesh, DAffine3::IDENTITY);
        let joints = &body.matrices(body.rest_pose())[..];
        // What is folded into the shape never changes in time.
        let (meets_others, round_secs) = (false, None);
        let rest = Rest { body, placed, tets: None, placement, joints, meets_others, round_secs };
        let erased = self.prepare_one((Stage::Rest, entry), &rest, load)?.erased;
        if !erased.nature().still {
            let what = "remesh = true needs edits that never change: give their amount as a number";
            return if remeshes { Err(what.to_owned()) } else { Ok(None) };
        }
        let now = Moment {
            tick: 0,
            secs: self.scene.time.start,
            dt_secs: 0.0,
            since_tick_secs: 0.0,
            tracks: &self.scene.tracks,
            eye: None,
            joints,
            centroid: body.centroid(joints),
            morph_weights: &[],
            shifts: &[],
            obstacles: Obstacles::default(),
            run: self.run,
        };
        let (mut shape, mut report) = (Shape::of_mesh(&body.mesh), Report::default());
        erased
            .deform(&now, &erased.begin(&now), &mut shape, &mut report)
            .map_err(|halt| halt.to_string())?;
        if shape.positions.len() != body.mesh.positions.len() {
            return Err(EARLY.to_owned());
        }
        body.welding().move_together(&body.mesh.positions, &mut shape.positions);
        if is_single(asset) && asset.meshes[0].positions == body.mesh.positions {
            let own = &mut asset.meshes[0];
            SurfaceFrames::of(own).place(own, shape.positions.clone(), self.run);
        }
        SurfaceFrames::of(&body.mesh).place(&mut body.mesh, shape.positions, self.run);
        Ok(Some(report))
    }

    /// The placed body at rest as fine as its first modifier needs it, if that is another.
    pub(super) fn finer(
        &self,
        (actor, folded): (&Actor, &Folded),
        mesh: impl FnOnce() -> TriMesh,
        load: Load<'_>,
    ) -> Result<Option<TriMesh>, PlayerError> {
        let remeshes =
            |entry: &Entry| -> Result<bool, String> { (self.kind(entry)?.remeshes)(&entry.params) };
        for (i, (stage, entry)) in actor.modifiers().enumerate().skip(folded.count) {
            if !remeshes(entry).map_err(|what| wrong(actor, i, what))? {
                continue;
            }
            let is_first = stage == Stage::World && i == folded.count;
            if !is_first || !matches!(actor.motion, Motion::Still) {
                let what =
                    "remesh = true needs a body at rest: no motion, and no modifier before it";
                return Err(wrong(actor, i, what.to_owned()));
            }
            let finer = self.kind(entry).and_then(|kind| {
                let sources = self.sources(entry, load)?;
                (kind.remesh)(&entry.params, &mesh(), &sources, self.run)
            });
            return finer.map(Some).map_err(|what| wrong(actor, i, what));
        }
        Ok(None)
    }

    /// The solid beside a body, where it was bound and where its first joint and the placement bring it.
    pub(super) fn solid(
        &self,
        actor: &Actor,
        body: &Body,
        rest: Mat4,
    ) -> Result<Option<[TetMesh; 2]>, PlayerError> {
        let tets = match &actor.tets {
            None => return Ok(None),
            Some(Tets::File(file)) => source::load_tets(file, self.folder),
            Some(Tets::Spacing(length)) => source::fill_tets(&body.mesh, *length, self.run),
        };
        let fail = |e| PlayerError::Load { asset: actor.name.clone(), source: Box::new(e) };
        let bound = tets.map_err(fail)?;
        let map = rest.as_dmat4();
        let mut placed = bound.clone();
        self.run.for_each(&mut placed.positions, |_, x| {
            *x = map.transform_point3(x.as_dvec3()).as_vec3();
        });
        if map.determinant() < 0.0 {
            placed.tets.iter_mut().for_each(|tet| tet.swap(2, 3));
        }
        Ok(Some([bound, placed]))
    }

    fn fetch(&self, need: &Need, load: Load<'_>) -> Result<Loaded, String> {
        match need {
            Need::Model(source) => load(source)
                .map(|asset: Asset| Loaded::Model(Arc::new(asset)))
                .map_err(|e| e.to_string()),
            Need::Tets(file) => {
                let tets = source::load_tets(file, self.folder).map_err(|e| e.to_string())?;
                Ok(Loaded::Tets(Arc::new(tets)))
            }
            Need::Flow(name) => {
                let known = || self.scene.flows.keys().map(String::as_str).collect::<Vec<_>>();
                let none = || match &known()[..] {
                    [] => format!("there is no flow '{name}': add [flow.{name}] to the scene"),
                    known => format!("there is no flow '{name}'; there are {}", known.join(", ")),
                };
                let entry = self.scene.flows.get(name).ok_or_else(none)?;
                let mut flows = self.flows.lock().map_err(|e| e.to_string())?;
                if let Some(known) = flows.iter().find(|known| known.name == *name) {
                    return Ok(Loaded::Flow(known.clone()));
                }
                let flow = source::open_flow(name, entry, self.folder, self.run);
                let flow = flow.map_err(|e| e.to_string())?;
                flows.push(flow.clone());
                Ok(Loaded::Flow(flow))
            }
        }
    }
}

impl Cast {
    /// Whether it has any modifiers.
    pub(super) fn is_modified(&self) -> bool {
        !self.modifiers.is_empty()
    }

    /// The modifiers in the order of effect: by their stages, and within one in the order of the list.
    pub(super) fn order(&self) -> impl Iterator<Item = usize> + '_ {
        let of = |stage: Stage| (0..self.modifiers.len()).filter(move |&i| self.stage(i) == stage);
        of(Stage::Rest).chain(of(Stage::Pose)).chain(of(Stage::World))
    }

    fn stage(&self, i: usize) -> Stage {
        self.modifiers[i].stage
    }

    /// What those modifiers that do not warm up remember at the scene's start, when all others have begun.
    pub(super) fn begin_late(&self, state: &mut BodyState, beat: &Beat<'_>) {
        if !self.modifiers.iter().all(|m| m.erased.nature().warms_up) {
            self.begin_some(state, beat, |i| !self.warms_up(i), |_| true);
        }
    }

    /// What some modifiers remember before their first tick; those that have `begun` carry the body on.
    pub(super) fn begin_some(
        &self,
        state: &mut BodyState,
        beat: &Beat<'_>,
        begins: impl Fn(usize) -> bool,
        begun: impl Fn(usize) -> bool,
    ) {
        let mut carried = self.carried_whole(state, &beat.moment);
        for i in self.order() {
            self.pose_before(i, &mut carried);
            let (erased, slot) = (&self.modifiers[i].erased, &mut state.slots[i]);
            if begins(i) {
                slot.memory = erased.begin(&beat.now(&carried, i));
            }
            if begun(i) {
                self.carry_markers(i, beat, &slot.memory, &mut carried);
                let map = erased.map(&beat.now(&carried, i), &slot.memory);
                map.into_iter().for_each(|map| carried.by(map));
            }
        }
    }

    /// Markers are moved by the skeleton before the first modifier of the world.
    pub(super) fn pose_before(&self, i: usize, carried: &mut Carried) {
        if self.stage(i) == Stage::World {
            carried.pose(&self.modifiers);
        }
    }

    /// A modifier takes markers with it.
    fn carry_markers(&self, i: usize, beat: &Beat<'_>, state: &AnyState, carried: &mut Carried) {
        let erased = &self.modifiers[i].erased;
        if !erased.nature().carries {
            return;
        }
        let mut markers = carried.markers(&self.modifiers);
        if !markers.is_empty() {
            erased.carry(&beat.now(carried, i), state, &mut markers);
            carried.arrive(&markers);
        }
    }

    /// Whether a modifier begins with those that warm up.
    pub(super) fn warms_up(&self, i: usize) -> bool {
        self.modifiers[i].erased.nature().warms_up
    }

    /// The weights of the morph targets at a moment.
    pub(super) fn morph_weights(&self, moment: &Instant<'_>) -> Vec<f32> {
        if self.body.morphs.is_empty() || self.modifiers.is_empty() {
            return Vec::new();
        }
        self.body.morph_weights(&self.full_pose(moment))
    }

    /// Whether a modifier lends the body to contact.
    pub(super) fn lends(&self) -> bool {
        self.modifiers.iter().any(|m| m.erased.nature().touches)
    }

    /// Advances one modifier, if a tick of its own is due.
    pub(super) fn step_one(
        &self,
        i: usize,
        slot: &mut Slot,
        beat: &Beat<'_>,
        (carried, all): (&mut Carried, &mut Vec<Loan>),
    ) -> Result<(), FrameError> {
        self.pose_before(i, carried);
        let (open, state) = (&self.modifiers[i], &mut slot.memory);
        let nature = open.erased.nature();
        let ticks = nature.ticks_a_tick();
        let (due, dt_secs) = match beat.whole {
            true => (beat.tick.is_multiple_of(ticks), ticks as f64 / f64::from(TICKS_PER_SECOND)),
            false => (ticks == 1 && !nature.whole_ticks, beat.dt_secs),
        };
        let now = Moment { dt_secs, ..beat.now(carried, i) };
        if due && slot.frozen.is_none() {
            match open.erased.tick(&now, state) {
                Err(Halt::NotFinite) => slot.frozen = Some(beat.tick),
                done => {
                    done.map_err(|halt| self.failed(i, halt))?;
                    self.lend_one(i, &now, (&mut *state, beat.lents), all);
                }
            }
        }
        let map = open.erased.map(&now, state).filter(|_| slot.frozen.is_none());
        self.carry_markers(i, beat, &slot.memory, carried);
        if let Some(map) = map {
            let mut onward = carried.clone();
            onward.by(map);
            match onward.is_finite() {
                true => *carried = onward,
                false => slot.frozen = Some(beat.tick),
            }
        }
        Ok(())
    }

    /// After a tick: what a modifier lends is put to the others; what lends nothing settles at once.
    fn lend_one(
        &self,
        i: usize,
        now: &Moment<'_>,
        (state, lents): (&mut AnyState, &Lents),
        all: &mut Vec<Loan>,
    ) {
        let open = &self.modifiers[i];
        if !open.erased.nature().touches {
            return open.erased.settle(now, state, &Lent::default());
        }
        let mut lent = lents.take();
        if open.erased.lend(now, state, &mut lent) {
            return all.push(Loan { slot: i, dt_secs: now.dt_secs, lent });
        }
        open.erased.settle(now, state, &lent);
        lents.put(lent);
    }

    /// Ends the tick of a modifier that lent something.
    pub(super) fn settle_one(
        &self,
        state: &mut BodyState,
        beat: &Beat<'_>,
        (joints, loan): (&[Mat4], &Loan),
    ) {
        let Loan { slot, dt_secs, lent } = loan;
        let morph_weights = self.morph_weights(&beat.moment);
        let carried = Carried { morph_weights, ..self.at(joints.to_vec()) };
        let now = Moment { dt_secs: *dt_secs, ..beat.now(&carried, *slot) };
        self.modifiers[*slot].erased.settle(&now, &mut state.slots[*slot].memory, lent);
    }

    /// Carries out one modifier.
    pub(super) fn deform_one(
        &self,
        i: usize,
        state: &AnyState,
        beat: &Beat<'_>,
        carried: &mut Carried,
        deformed: &mut Deformed,
    ) -> Result<(), FrameError> {
        let open = &self.modifiers[i];
        let nature = open.erased.nature();
        let ticks = nature.ticks_a_tick();
        let behind = (beat.tick % ticks) as f64 / f64::from(TICKS_PER_SECOND);
        let is_behind = ticks > 1 || nature.whole_ticks;
        let since = beat.moment.secs - beat.tick_secs + behind;
        let since_tick_secs = if is_behind { since } else { 0.0 };
        let now = Moment { since_tick_secs, ..beat.now(carried, i) };
        let mut report = Report::of(deformed.number, open.number, open.erased.kind());
        let topology = deformed.shape.topology.clone();
        match open.erased.deform(&now, state, &mut deformed.shape, &mut report) {
            Err(Halt::NotFinite) => report.warn("not finite; left out of this frame"),
            done => done.map_err(|halt| self.failed(i, halt))?,
        }
        let may_change = open.stage == Stage::World;
        let fits = may_change || deformed.shape.positions.len() == self.body.mesh.positions.len();
        let wrong = deformed.shape.check().map_err(|e| e.to_string());
        if let Err(what) = wrong.and_then(|()| if fits { Ok(()) } else { Err(EARLY.to_owned()) }) {
            let positions =
                if may_change { &self.rest.meshes[0].positions } else { &self.body.mesh.positions };
            deformed.shape = Shape { topology, positions: positions.clone(), ..Shape::default() };
            report.warn(format!("{what}; the body is shown at rest"));
        }
        let mut overlays = Vec::new();
        open.erased.overlays(&now, state, &mut overlays);
        if let Some(map) = open.erased.map(&now, state) {
            deformed.guides.carry(&map);
            carried.by(map);
        }
        deformed.guides.overlays.append(&mut overlays);
        self.tell(i, report, beat, deformed);
        Ok(())
    }

    /// Takes in what a modifier told.
    pub(super) fn tell(
        &self,
        i: usize,
        mut report: Report,
        beat: &Beat<'_>,
        deformed: &mut Deformed,
    ) {
        for what in std::mem::take(&mut report.warnings) {
            self.warn(i, &what, deformed);
        }
        deformed.figures.append(&mut report.figures);
        deformed.details.append(&mut report.details);
        if report.volume_before.is_none() {
            return;
        }
        if i + 1 == self.modifiers.len() {
            deformed.unmeasured = Some(report);
            return;
        }
        let Shape { positions, topology, .. } = &deformed.shape;
        report.tell_volume(volume(positions, topology.triangles(), beat.run));
        deformed.figures.append(&mut report.figures);
    }

    /// Where the vertices are bound: as the file has them, or as the modifiers before the skeleton leave them.
    pub(super) fn bound(
        &self,
        pose: &Pose,
        state: &BodyState,
        beat: &Beat<'_>,
        deformed: &mut Deformed,
    ) -> Result<Cow<'_, [Vec3]>, FrameError> {
        let is_early = |m: &Open| {
            let nature = m.erased.nature();
            m.stage != Stage::World && !nature.skins && nature.drives.is_none()
        };
        if !self.modifiers.iter().any(is_early) {
            return Ok(self.body.morphed(pose, beat.run));
        }
        let mut carried = self.carried(state, beat.moment.secs);
        carried.morph_weights = self.morph_weights(&beat.moment);
        deformed.shape.positions.clone_from(&self.body.mesh.positions);
        for stage in [Stage::Rest, Stage::Pose] {
            if stage == Stage::Pose {
                let bound = std::mem::take(&mut deformed.shape.positions);
                let morphed = self.body.with_morphs(Cow::Owned(bound), pose, beat.run);
                deformed.shape.positions = morphed.into_owned();
            }
            for (i, slot) in state.slots.iter().enumerate() {
                let modifier = &self.modifiers[i];
                if modifier.stage == stage && is_early(modifier) {
                    self.deform_one(i, &slot.memory, beat, &mut carried, deformed)?;
                }
            }
        }
        Ok(Cow::Owned(std::mem::take(&mut deformed.shape.positions)))
    }

    /// Whether any modifier hands something from tick to tick.
    pub(super) fn remembers(&self, state: &BodyState) -> bool {
        let mut slots = self.modifiers.iter().zip(&state.slots);
        slots.any(|(m, slot)| m.erased.size(&slot.memory) != Some(0))
    }

    /// Bytes of a state.
    pub(super) fn size(&self, state: &BodyState) -> usize {
        let of = |(modifier, slot): (&Open, &Slot)| {
            size_of::<Slot>() + modifier.erased.size(&slot.memory).unwrap_or(0)
        };
        let slots: usize = self.modifiers.iter().zip(&state.slots).map(of).sum();
        size_of::<BodyState>() + slots
    }

    /// A state that may come from a file, with the states of its modifiers as their own types; `None` if one is of
    /// another kind or size.
    pub(super) fn adopt(&self, state: &BodyState) -> Option<BodyState> {
        let adopt = |(modifier, slot): (&Open, &Slot)| {
            Some(Slot { memory: modifier.erased.adopt(&slot.memory)?, frozen: slot.frozen })
        };
        let slots = self.modifiers.iter().zip(&state.slots).map(adopt).collect::<Option<_>>()?;
        Some(BodyState { slots })
    }

    pub(super) fn failed(&self, i: usize, halt: Halt) -> FrameError {
        if let Halt::Cancelled(cancelled) = halt {
            return FrameError::Cancelled(cancelled);
        }
        let Open { erased, number, .. } = &self.modifiers[i];
        FrameError::Unreadable(Box::new(Unreadable {
            asset: self.actor.name.clone(),
            number: *number,
            kind: erased.kind().to_owned(),
            what: halt.to_string(),
        }))
    }
}

impl<'a> Beat<'a> {
    /// The moment as a modifier is told it, by its number.
    pub(super) fn now<'b>(&self, carried: &'b Carried, i: usize) -> Moment<'b>
    where
        'a: 'b,
    {
        Moment {
            tick: self.tick,
            secs: self.moment.secs,
            dt_secs: 0.0,
            since_tick_secs: 0.0,
            tracks: self.moment.tracks,
            eye: self.moment.eye,
            joints: &carried.joints,
            centroid: carried.centroid,
            morph_weights: &carried.morph_weights,
            shifts: carried.shifts(i),
            obstacles: self.obstacles,
            run: self.run,
        }
    }
}

/// Why a modifier before the skeleton is left out.
const EARLY: &str = "the vertices of a body cannot change before its skeleton moves it";

/// Refuses what takes the same upon itself as another before it: only one of them could have its way.
fn check_sole(actor: &Actor, prepared: &[Open]) -> Result<(), PlayerError> {
    let drives = |m: &&Open| m.erased.nature().drives.is_some();
    let skins = |m: &&Open| m.erased.nature().skins;
    let doing = |does: &dyn Fn(&&Open) -> bool, what: &str| {
        let mut those = prepared.iter().filter(does);
        let (Some(one), Some(other)) = (those.next(), those.next()) else { return Ok(()) };
        let (kind, number) = (one.erased.kind(), one.number);
        let what = format!("{what}, and modifier {number} ({kind}) does so, too: keep one of them");
        Err(wrong(actor, other.number - 1, what))
    };
    doing(&drives, "it moves the joints")?;
    doing(&skins, "it moves the body as its skeleton does")
}

/// That a modifier, counted from 0, does not fit its asset.
fn wrong(actor: &Actor, i: usize, what: String) -> PlayerError {
    let kind = actor.modifiers().nth(i).map_or_else(String::new, |(_, entry)| entry.kind.clone());
    PlayerError::Modifier { asset: actor.name.clone(), number: i + 1, kind, what }
}

/// Whether an asset is one mesh that stands in one place.
pub(super) fn is_single(asset: &Asset) -> bool {
    let instances = asset.nodes.iter().filter(|node| node.mesh.is_some()).count();
    asset.meshes.len() == 1 && instances <= 1
}

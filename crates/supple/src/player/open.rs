//! Modifiers of the registry in the player: prepared for their bodies, begun, advanced, carried out.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use glam::{DAffine3, Mat4, Vec3};

use super::cast::{Cast, Deformed};
use super::error::{FrameError, PlayerError, Unreadable};
use super::{BodyState, Load, Slot, source};
use crate::contact::Lent;
use crate::mesh::{Shape, TetMesh, TriMesh};
use crate::modifier::{
    AnyState, Erased, Halt, Inputs, Loaded, Memo, Moment, NamedFlow, Need, Obstacles, Registry,
    Report, Stage, TICKS_PER_SECOND,
};
use crate::rig::{Body, Pose};
use crate::scene::modifier::{Carried, Memory, open::Entry};
use crate::scene::{self, Actor, Folder, Modifier, Scene, Tets};
use crate::{Asset, Run};

/// What bodies are made ready with.
pub(super) struct Opening<'a> {
    pub(super) scene: &'a Scene,
    pub(super) registry: &'a Registry,
    pub(super) folder: &'a Folder<'a>,
    pub(super) memo: &'a Memo,
    /// Flows that were opened so far: bodies share them.
    pub(super) flows: Mutex<Vec<NamedFlow>>,
    pub(super) run: &'a Run<'a>,
}

/// A modifier of the registry, prepared for its body.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) erased: Arc<dyn Erased>,
    pub(super) stage: Stage,
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
}

/// When a body is moved on or shown, and what is known then.
#[derive(Clone, Copy)]
pub(super) struct Beat<'a> {
    pub(super) moment: scene::modifier::Moment<'a>,
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
    /// Prepares all of an asset's modifiers that are kinds of the registry; `None` for the others.
    pub(super) fn prepare(
        &self,
        actor: &Actor,
        rest: &Rest<'_>,
        load: Load<'_>,
    ) -> Result<Vec<Option<Open>>, PlayerError> {
        let mut prepared = Vec::with_capacity(actor.modifiers.len());
        let meets_others = actor.contact.is_some_and(|contact| contact.others);
        for (number, modifier) in (1..).zip(&actor.modifiers) {
            let Modifier::Open(entry) = modifier else {
                prepared.push(None);
                continue;
            };
            self.run.check()?;
            let (asset, kind) = (actor.name.clone(), entry.kind.clone());
            let wrong = |what| PlayerError::Modifier { asset, number, kind, what };
            let one = self.prepare_one((entry, meets_others), rest, load);
            prepared.push(Some(one.map_err(wrong)?));
        }
        Ok(prepared)
    }

    fn prepare_one(
        &self,
        (entry, meets_others): (&Entry, bool),
        rest: &Rest<'_>,
        load: Load<'_>,
    ) -> Result<Open, String> {
        let Some(kind) = self.registry.get(&entry.kind) else {
            return Err("there is no such kind of modifier".to_owned());
        };
        let stage = kind.stages.first().copied().unwrap_or(Stage::World);
        let needs = (kind.needs)(&entry.params)?;
        let sources =
            needs.iter().map(|need| self.fetch(need, load)).collect::<Result<Vec<_>, _>>()?;
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
            meets_others,
            memo: self.memo,
            run: self.run,
        };
        Ok(Open { erased: (kind.make)(&entry.params, &inputs)?, stage })
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
    /// Whether any modifier is a kind of the registry.
    pub(super) fn is_open(&self) -> bool {
        self.open.iter().any(Option::is_some)
    }

    /// The modifiers of the registry that act before the skeleton does, then all others, each in the order of the
    /// list.
    pub(super) fn order(&self) -> impl Iterator<Item = usize> + '_ {
        let early = |stage: Stage| {
            let is = move |open: &Option<Open>| open.as_ref().is_some_and(|o| o.stage == stage);
            self.open.iter().enumerate().filter(move |(_, open)| is(open)).map(|(i, _)| i)
        };
        let late = |open: &Option<Open>| open.as_ref().is_none_or(|o| o.stage == Stage::World);
        let others = self.open.iter().enumerate().filter(move |(_, open)| late(open));
        early(Stage::Rest).chain(early(Stage::Pose)).chain(others.map(|(i, _)| i))
    }

    /// What the modifiers of the registry remember at the scene's start, when all others have begun.
    pub(super) fn begin_open(&self, state: &mut BodyState, beat: &Beat<'_>) {
        if !self.is_open() {
            return;
        }
        let mut carried = self.carried(&state.bones, beat.moment.secs);
        for i in self.order() {
            let slot = &mut state.slots[i];
            match (&self.open[i], &slot.memory) {
                // It has warmed up.
                (Some(open), Memory::Open(state)) => {
                    let weights = self.morph_weights(&beat.moment);
                    let map = open.erased.map(&beat.now(&carried, &weights), state);
                    map.into_iter().for_each(|map| carried.by(map));
                }
                (Some(_), _) => slot.memory = self.begin_one(i, beat, &mut carried),
                (None, _) => {}
            }
        }
    }

    /// Whether a modifier of the registry begins with those that warm up.
    pub(super) fn warms_up(&self, i: usize) -> bool {
        self.open[i].as_ref().is_some_and(|open| open.erased.nature().warms_up)
    }

    /// What one modifier of the registry remembers before its first tick; the body is carried on with it.
    pub(super) fn begin_one(&self, i: usize, beat: &Beat<'_>, carried: &mut Carried) -> Memory {
        let Some(open) = &self.open[i] else { return Memory::Nothing };
        let weights = self.morph_weights(&beat.moment);
        let now = beat.now(carried, &weights);
        let begun = open.erased.begin(&now);
        let map = open.erased.map(&now, &begun);
        map.into_iter().for_each(|map| carried.by(map));
        Memory::Open(begun)
    }

    /// The weights of the morph targets at a moment.
    pub(super) fn morph_weights(&self, moment: &scene::modifier::Moment<'_>) -> Vec<f32> {
        if self.body.morphs.is_empty() {
            return Vec::new();
        }
        self.body.morph_weights(&self.full_pose(moment))
    }

    /// Whether a modifier lends the body to contact.
    pub(super) fn lends(&self) -> bool {
        self.open.iter().flatten().any(|open| open.erased.nature().touches)
    }

    /// Advances one modifier of the registry, if a tick of its own is due.
    pub(super) fn step_open(
        &self,
        i: usize,
        slot: &mut Slot,
        beat: &Beat<'_>,
        (carried, all): (&mut Carried, &mut Vec<Loan>),
    ) -> Result<(), FrameError> {
        let (Some(open), Memory::Open(state)) = (&self.open[i], &mut slot.memory) else {
            return Ok(());
        };
        let nature = open.erased.nature();
        let ticks = nature.ticks_a_tick();
        let (due, dt_secs) = match beat.whole {
            true => (beat.tick.is_multiple_of(ticks), ticks as f64 / f64::from(TICKS_PER_SECOND)),
            false => (ticks == 1 && !nature.whole_ticks, beat.dt_secs),
        };
        let weights = self.morph_weights(&beat.moment);
        let now = Moment { dt_secs, ..beat.now(carried, &weights) };
        if due && slot.frozen.is_none() {
            match open.erased.tick(&now, state) {
                Err(Halt::NotFinite) => slot.frozen = Some(beat.tick),
                done => {
                    done.map_err(|halt| self.failed(i, halt))?;
                    self.lend_open(i, &now, (&mut *state, beat.lents), all);
                }
            }
        }
        let map = open.erased.map(&now, state).filter(|_| slot.frozen.is_none());
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
    fn lend_open(
        &self,
        i: usize,
        now: &Moment<'_>,
        (state, lents): (&mut AnyState, &Lents),
        all: &mut Vec<Loan>,
    ) {
        let Some(open) = &self.open[i] else { return };
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
    pub(super) fn settle_open(
        &self,
        state: &mut BodyState,
        beat: &Beat<'_>,
        (joints, loan): (&[Mat4], &Loan),
    ) {
        let Loan { slot, dt_secs, lent } = loan;
        let (Some(open), Memory::Open(state)) = (&self.open[*slot], &mut state.slots[*slot].memory)
        else {
            return;
        };
        let weights = self.morph_weights(&beat.moment);
        let carried = self.at(joints.to_vec());
        let now = Moment { dt_secs: *dt_secs, ..beat.now(&carried, &weights) };
        open.erased.settle(&now, state, lent);
    }

    /// Carries out one modifier of the registry.
    pub(super) fn deform_open(
        &self,
        i: usize,
        state: &AnyState,
        beat: &Beat<'_>,
        carried: &mut Carried,
        deformed: &mut Deformed,
    ) -> Result<(), FrameError> {
        let Some(open) = &self.open[i] else { return Ok(()) };
        let weights = self.morph_weights(&beat.moment);
        let nature = open.erased.nature();
        let ticks = nature.ticks_a_tick();
        let behind = (beat.tick % ticks) as f64 / f64::from(TICKS_PER_SECOND);
        let is_behind = ticks > 1 || nature.whole_ticks;
        let since = beat.moment.secs - beat.tick_secs + behind;
        let since_tick_secs = if is_behind { since } else { 0.0 };
        let now = Moment { since_tick_secs, ..beat.now(carried, &weights) };
        let mut report = Report::of(deformed.number, i + 1, open.erased.kind());
        let topology = deformed.shape.topology.clone();
        match open.erased.deform(&now, state, &mut deformed.shape, &mut report) {
            Err(Halt::NotFinite) => report.warn("not finite; left out of this frame"),
            done => done.map_err(|halt| self.failed(i, halt))?,
        }
        let may_change = open.stage == Stage::World;
        let fits = may_change || deformed.shape.positions.len() == self.body.mesh.positions.len();
        let wrong = deformed.shape.check().map_err(|e| e.to_string());
        let early =
            || "the vertices of a body cannot change before its skeleton moves it".to_owned();
        if let Err(what) = wrong.and_then(|()| if fits { Ok(()) } else { Err(early()) }) {
            let positions =
                if may_change { &self.rest.meshes[0].positions } else { &self.body.mesh.positions };
            deformed.shape = Shape { topology, positions: positions.clone(), ..Shape::default() };
            report.warn(format!("{what}; the body is shown at rest"));
        }
        open.erased.overlays(&now, state, &mut deformed.guides.overlays);
        if let Some(map) = open.erased.map(&now, state) {
            carried.by(map);
        }
        deformed.figures.append(&mut report.figures);
        let (name, kind) = (&self.actor.name, open.erased.kind());
        let warning = |what| format!("asset '{name}', modifier {} ({kind}): {what}", i + 1);
        deformed.warnings.extend(report.warnings.into_iter().map(warning));
        Ok(())
    }

    /// Where the vertices are bound: as the file has them, or as the modifiers before the skeleton leave them.
    pub(super) fn bound(
        &self,
        pose: &Pose,
        state: &BodyState,
        beat: &Beat<'_>,
        deformed: &mut Deformed,
    ) -> Result<Cow<'_, [Vec3]>, FrameError> {
        let has = |stage| self.open.iter().flatten().any(|open| open.stage == stage);
        if !has(Stage::Rest) && !has(Stage::Pose) {
            return Ok(self.body.morphed(pose, beat.run));
        }
        let mut carried = self.carried(&state.bones, beat.moment.secs);
        deformed.shape.positions.clone_from(&self.body.mesh.positions);
        for stage in [Stage::Rest, Stage::Pose] {
            if stage == Stage::Pose {
                let bound = std::mem::take(&mut deformed.shape.positions);
                let morphed = self.body.with_morphs(Cow::Owned(bound), pose, beat.run);
                deformed.shape.positions = morphed.into_owned();
            }
            for (i, slot) in state.slots.iter().enumerate() {
                let is_here = self.open[i].as_ref().is_some_and(|open| open.stage == stage);
                if let (true, Memory::Open(state)) = (is_here, &slot.memory) {
                    self.deform_open(i, state, beat, &mut carried, deformed)?;
                }
            }
        }
        Ok(Cow::Owned(std::mem::take(&mut deformed.shape.positions)))
    }

    /// Bytes of a state.
    pub(super) fn size(&self, state: &BodyState) -> usize {
        let of = |(open, slot): (&Option<Open>, &Slot)| match (open, &slot.memory) {
            (Some(open), Memory::Open(state)) => open.erased.size(state).unwrap_or(0),
            (_, memory) => memory.size(),
        };
        let bones = size_of_val(&state.bones.bones[..]);
        size_of::<BodyState>() + bones + self.open.iter().zip(&state.slots).map(of).sum::<usize>()
    }

    /// A state that may come from a file, with the states of its modifiers as their own types; `None` if one is of
    /// another kind or size.
    pub(super) fn adopt(&self, state: &BodyState) -> Option<BodyState> {
        let adopt = |(open, slot): (&Option<Open>, &Slot)| match (open, &slot.memory) {
            (Some(open), Memory::Open(state)) => {
                Some(Slot { memory: Memory::Open(open.erased.adopt(state)?), frozen: slot.frozen })
            }
            _ => Some(slot.clone()),
        };
        let slots = self.open.iter().zip(&state.slots).map(adopt).collect::<Option<_>>()?;
        Some(BodyState { slots, bones: state.bones.clone() })
    }

    fn failed(&self, i: usize, halt: Halt) -> FrameError {
        if let Halt::Cancelled(cancelled) = halt {
            return FrameError::Cancelled(cancelled);
        }
        FrameError::Unreadable(Box::new(Unreadable {
            asset: self.actor.name.clone(),
            number: i + 1,
            kind: self.actor.modifiers[i].kind().to_owned(),
            what: halt.to_string(),
        }))
    }
}

impl<'a> Beat<'a> {
    /// The moment as a modifier of the registry is told it.
    fn now<'b>(&self, carried: &'b Carried, morph_weights: &'b [f32]) -> Moment<'b>
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
            morph_weights,
            obstacles: self.obstacles,
            run: self.run,
        }
    }
}

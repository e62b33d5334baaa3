//! The player: turns a scene into frames.
//!
//! There is one player, used by every bake, window, test and binding: what is previewed is what is
//! baked, to the bit. A frame has three phases:
//!
//! 1. *move*: the primary motion poses the skeleton;
//! 2. *simulate*: what has a memory advances in ticks of 1/120 s, whatever the frame rate;
//! 3. *deform*: vertices are computed from the rest shape, the pose and the memory alone.
//!
//! A frame between two ticks simulates a shorter step on a copy and forgets it, so that looking more
//! often never changes the motion: frames of 24, 30 and 60 a second that fall on the same time are the
//! same bits.
//!
//! The [`State`] is a small value. [`Player::snapshot`] and [`Player::restore`] hand it out and take it
//! back; the player also keeps some itself, so that going backwards replays little and gives the same
//! bits as having come from the start.
//!
//! Ticks are the work of one thread, more or less, and vertices that of all: while a frame is deformed
//! the ticks of the next one are simulated, if frames are asked for in order.
//!
//! What goes non-finite in a tick is frozen where it last was sound, and named in the [`Report`]. Only what a modifier
//! reads on the way (a level of a recorded flow) can make a frame fail.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::{Asset, Run, TriMesh};
//! use supple::player::Player;
//! use supple::scene::{Folder, Scene};
//!
//! let scene = Scene::parse(r#"
//!     supple = 2
//!     [[asset]]
//!     zoo = "triangle"
//!     [[asset.world]]
//!     kind = "place"
//!     translate = [0, "lift", 0]
//!     [track.lift]
//!     keys = [[0, 0], [1, 2]]
//! "#, None)?;
//! let triangle = TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]);
//! let mut load = |_: &_| Ok(Asset::from_mesh(triangle.clone()));
//! let run = Run::default();
//! let mut player = Player::new(&scene, &Folder::new(".".as_ref()), &mut load, &run)?;
//! let frame = player.frame(12, &run)?; // half a second in
//! assert_eq!(frame.bodies[0].positions[0], Vec3::Y);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arena;
mod carried;
mod cast;
pub mod clock;
mod error;
mod fingerprint;
mod guide;
mod joined;
mod open;
mod paint;
mod resample;
pub mod source;
pub mod state;
mod update;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use glam::{Mat4, Vec3};
use serde::{Deserialize, Serialize};

use crate::contact::collider::{Collider, Isometry};
use crate::contact::flesh::{self, Contacts};
use crate::mesh::attribute::NORMAL;
use crate::mesh::shading::{Buffers, Shading};
use crate::mesh::volume::{centroid, volume};
use crate::mesh::{Attributes, Shape, Topology, Values};
use crate::modifier::{Details, Figure, Memo, Obstacles, Registry};
use crate::rig::Pose;
use crate::scene::{Folder, Motion, Noted, Scene, Source};
use crate::{Asset, Run};

pub use cast::Cast;
pub use clock::{Clock, TICKS_PER_SECOND, When};
pub use error::{FrameError, PlayerError, Unreadable};
pub use guide::Guides;
pub use source::{SourceError, load};
pub use state::{BodyState, Slot, State};
pub use update::RecordError;

use arena::Arena;
use cast::Deformed;
use fingerprint::Sources;
use open::{Beat, Instant, Lents, Loan, Opening};
use state::Snapshots;

/// Bodies that one task simulates.
const BODIES_A_TASK: usize = 4;

/// How the caller gets assets: from files, from the zoo, from memory.
pub type Load<'a> =
    &'a mut dyn FnMut(&Source) -> Result<Asset, Box<dyn std::error::Error + Send + Sync>>;

/// Plays one scene.
#[derive(Debug)]
pub struct Player {
    scene: Scene,
    clock: Clock,
    cast: Vec<Cast>,
    arena: Arc<Arena>,
    /// The kinds of modifiers it knows.
    registry: Registry,
    state: State,
    snapshots: Snapshots,
    /// All that was loaded for it.
    sources: Sources,
    /// The frame after the last one that was asked for.
    next: Option<u32>,
    /// The state of that frame, if there was a thread to simulate it.
    ahead: Option<State>,
    /// Memory that no thread uses just now.
    spare: Mutex<Vec<Buffers>>,
    /// Normals of frames that were handed back.
    spare_normals: Mutex<Vec<Vec<Vec3>>>,
    lents: Lents,
    /// Whether the state goes on from an older version of the scene: then it is not one that a seek may start from.
    is_edited: bool,
}

/// All bodies at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Time of the scene, in seconds.
    pub secs: f64,
    /// One for each asset of the scene, in its order.
    pub bodies: Vec<BodyFrame>,
    /// Where the scene's colliders are, in the order of [`Player::colliders`].
    pub colliders: Vec<Isometry>,
    /// How it went.
    pub report: Report,
}

/// One body at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyFrame {
    /// Where its vertices are.
    pub positions: Vec<Vec3>,
    /// How they hang together: that of the frame before, unless a modifier changes it.
    pub topology: Arc<Topology>,
    /// Named values that modifiers give the vertices.
    pub channels: Attributes,
    /// Unit normals of the deformed surface, weighted by angle.
    pub normals: Vec<Vec3>,
    /// What moves it, for pictures.
    pub guides: Guides,
}

/// How a frame went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Ticks that were simulated to get here.
    pub steps: u64,
    /// For each body, volume divided by rest volume minus one; `None` where there is no rest volume.
    pub volume_errors: Vec<Option<f64>>,
    /// What the person should know.
    pub warnings: Vec<String>,
    /// For each body, what was done about contacts.
    #[serde(default)]
    pub contacts: Vec<flesh::Report>,
    /// What modifiers tell, in the order of bodies and modifiers.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// For each body, the longest an edge is over its length at rest, where it was measured.
    #[serde(default)]
    pub edge_stretches: Vec<f64>,
    /// What modifiers tell that no figure can say; not stored with frames.
    #[serde(skip)]
    pub details: Details,
}

impl Report {
    /// A figure that modifiers of a kind told of a body, once for each of them that told it.
    pub fn figure<'a>(
        &'a self,
        body: usize,
        kind: &'a str,
        name: &'a str,
    ) -> impl Iterator<Item = f64> + 'a {
        let is_it = move |f: &&Figure| f.body == body && f.kind == kind && f.name == name;
        self.figures.iter().filter(is_it).map(|f| f.value)
    }
}

impl Player {
    /// Loads the assets of a scene and sets the clock to its start. Recorded paths are read from
    /// `folder`.
    ///
    /// # Errors
    ///
    /// [`PlayerError`] if an asset cannot be loaded or does not fit what the scene asks of it.
    pub fn new(
        scene: &Scene,
        folder: &Folder<'_>,
        load: Load<'_>,
        run: &Run<'_>,
    ) -> Result<Self, PlayerError> {
        Self::with_registry(scene, &Registry::default(), folder, load, run)
    }

    /// As [`new`](Self::new), with the kinds of modifiers of `registry`.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_registry(
        scene: &Scene,
        registry: &Registry,
        folder: &Folder<'_>,
        load: Load<'_>,
        run: &Run<'_>,
    ) -> Result<Self, PlayerError> {
        let mut cast = Vec::with_capacity(scene.assets.len());
        let (mut sources, files) = (Sources::default(), Mutex::default());
        let folder = &folder.noting(&files);
        let (memo, flows) = (&Memo::default(), Mutex::default());
        let opening = Opening { scene, registry, folder, memo, flows, before: None, run };
        let mut shared = Vec::new();
        let mut load = |source: &Source| {
            load_once(scene, source, &mut shared, load).inspect(|asset| sources.add(asset))
        };
        for actor in &scene.assets {
            run.check()?;
            cast.push(Cast::new(actor, &opening, &mut load)?);
        }
        let arena = Arena::new(scene, &cast, folder, &mut load)?;
        sources.noted = files.into_inner().unwrap_or_default();
        let state = begun(scene, (&cast, &arena), 0, run);
        let clock = Clock { start: scene.time.start, fps: scene.time.fps };
        let snapshots = Snapshots::new(state.clone());
        Ok(Self {
            scene: scene.clone(),
            clock,
            cast,
            arena: Arc::new(arena),
            registry: registry.clone(),
            state,
            snapshots,
            sources,
            next: None,
            ahead: None,
            spare: Mutex::default(),
            spare_normals: Mutex::default(),
            lents: Lents::default(),
            is_edited: false,
        })
    }

    /// Loads the assets of a scene from its folder and from the zoo; what had to be mended in files is
    /// returned beside the player.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn open(
        scene: &Scene,
        folder: &Folder<'_>,
        run: &Run<'_>,
    ) -> Result<(Self, Vec<String>), PlayerError> {
        let (mut warnings, files) = (Vec::new(), Mutex::default());
        let noting = folder.noting(&files);
        let mut from_source = |source: &Source| Ok(load(source, &noting, &mut warnings, run)?);
        let mut player = Self::new(scene, folder, &mut from_source, run)?;
        player.sources.assets = files.into_inner().unwrap_or_default().files;
        Ok((player, warnings))
    }

    /// The scene being played.
    #[must_use]
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Its bodies, in the order of the scene's assets.
    #[must_use]
    pub fn cast(&self) -> &[Cast] {
        &self.cast
    }

    /// Its colliders, in the order of the scene; where they are is in each [`Frame`].
    #[must_use]
    pub fn colliders(&self) -> &[Collider] {
        self.arena.colliders()
    }

    /// How many frames the scene has.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.scene.time.frames()
    }

    /// The frame that a picture of the scene shows: the first, or the last if bodies stand still and are only edited, so
    /// that what is shown is what the edits make of them.
    #[must_use]
    pub fn shown_frame(&self) -> u32 {
        let is_still = |cast: &Cast| matches!(cast.actor.motion, Motion::Still);
        let remembers = |(cast, body): (&Cast, &BodyState)| cast.remembers(body);
        let is_edited_only = self.cast.iter().all(is_still)
            && !self.cast.iter().zip(&self.state.bodies).any(remembers);
        if is_edited_only { self.frames() - 1 } else { 0 }
    }

    /// Where the motion alone carries a body in a frame, without its modifiers; `None` if it is simulated.
    #[must_use]
    pub fn posed(&self, body: usize, frame: u32, run: &Run<'_>) -> Option<Vec<Vec3>> {
        self.cast.get(body)?.posed(self.clock.frame(frame).secs, run)
    }

    /// The pose that the motion alone gives a body in a frame, and where its joints are then, from bind to world; `None`
    /// if it is simulated.
    #[must_use]
    pub fn pose(&self, body: usize, frame: u32) -> Option<(Pose, Vec<Mat4>)> {
        self.cast.get(body)?.moved(self.clock.frame(frame).secs)
    }

    /// A hash of all that decides where vertices go: the scene, all that was loaded for it, and this
    /// library's version.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.sources.fingerprint(&self.scene)
    }

    /// The files it was made from, as far as this library read them.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let Noted { files, levels } = &self.sources.noted;
        self.sources.assets.iter().chain(files).chain(levels).map(PathBuf::as_path)
    }

    /// The state after the last tick that was simulated.
    #[must_use]
    pub fn snapshot(&self) -> State {
        self.state.clone()
    }

    /// About how many bytes that takes.
    #[must_use]
    pub fn state_size(&self) -> usize {
        size_of_state(&self.cast, &self.state)
    }

    /// Goes on from an earlier state of the same scene.
    ///
    /// # Errors
    ///
    /// [`WrongState`] if the state is one of another scene; the player is left as it was.
    pub fn restore(&mut self, state: &State) -> Result<(), WrongState> {
        if !state.fits(&self.state) {
            return Err(WrongState);
        }
        let adopt = |(cast, body): (&Cast, &BodyState)| cast.adopt(body);
        let bodies = self.cast.iter().zip(&state.bodies).map(adopt).collect::<Option<_>>();
        let bodies = bodies.ok_or(WrongState)?;
        self.state = State { tick: state.tick, bodies, contacts: state.contacts.clone() };
        self.ahead = None;
        Ok(())
    }

    /// Frame `i`, counted from 0 at the scene's start; frames after its end may be asked for too.
    ///
    /// # Errors
    ///
    /// [`FrameError`] when the caller asked to stop, or something on the way cannot be read; the player can be used
    /// again.
    pub fn frame(&mut self, i: u32, run: &Run<'_>) -> Result<Frame, FrameError> {
        let shown = Shown { shaded: true, next: self.tick_after(i, run) };
        self.play(self.clock.frame(i), shown, run)
    }

    /// As [`frame`](Self::frame), with no normals: for writers that have no use for them.
    ///
    /// # Errors
    ///
    /// As [`frame`](Self::frame).
    pub fn frame_without_normals(&mut self, i: u32, run: &Run<'_>) -> Result<Frame, FrameError> {
        let shown = Shown { shaded: false, next: self.tick_after(i, run) };
        self.play(self.clock.frame(i), shown, run)
    }

    /// Takes back bodies of a frame that are no longer needed. Those that modifiers made are written into their memory
    /// again: for large surfaces fresh memory takes longer than what is computed.
    pub fn take_back(&self, bodies: Vec<BodyFrame>) {
        for (cast, body) in self.cast.iter().zip(bodies) {
            if !cast.is_generated() {
                continue;
            }
            let BodyFrame { positions, topology, channels, normals, .. } = body;
            if let Ok(mut spare) = self.spare_normals.lock()
                && spare.len() < self.cast.len()
            {
                spare.push(normals);
            }
            cast.take_back(Shape { topology, positions, channels });
        }
    }

    /// The frame at a time of the scene in seconds; before its start the bodies are as at its start.
    ///
    /// # Errors
    ///
    /// As [`frame`](Self::frame).
    pub fn at(&mut self, secs: f64, run: &Run<'_>) -> Result<Frame, FrameError> {
        self.play(self.clock.time(secs), Shown { shaded: true, next: None }, run)
    }

    /// Brings the state to the last tick at or before a time of the scene, without a frame; returns how many ticks that
    /// took.
    ///
    /// # Errors
    ///
    /// As [`frame`](Self::frame).
    pub fn simulate(&mut self, secs: f64, run: &Run<'_>) -> Result<u64, FrameError> {
        let tick = self.clock.time(secs).tick;
        run.install(|| self.simulate_to(tick, run))
    }

    /// The tick to simulate while frame `i` is deformed: that of the next frame, if frames are asked for
    /// in order and there is a thread for it.
    fn tick_after(&mut self, i: u32, run: &Run<'_>) -> Option<u64> {
        let next = i.checked_add(1)?;
        let in_order = self.next.replace(next) == Some(i);
        let is_free = run.thread_count() > 1;
        (in_order && is_free && next < self.frames()).then(|| self.clock.frame(next).tick)
    }

    fn play(&mut self, when: When, shown: Shown, run: &Run<'_>) -> Result<Frame, FrameError> {
        // All of it in one place: a frame has many short pieces of parallel work.
        run.install(|| self.play_inside(when, shown, run))
    }

    fn play_inside(
        &mut self,
        when: When,
        shown: Shown,
        run: &Run<'_>,
    ) -> Result<Frame, FrameError> {
        let steps = self.simulate_to(when.tick, run)?;
        let mut report = Report { steps, ..Report::default() };
        let mut between = None;
        if !when.on_tick {
            let rest_secs = when.secs - self.clock.tick_secs(when.tick);
            let state = between.insert(self.state.clone());
            let part = Step { secs: when.secs, dt_secs: rest_secs, tick: when.tick, whole: false };
            self.advance(state, &part, run)?;
        }
        let state = between.as_ref().unwrap_or(&self.state);
        let colliders = self.arena.places(&self.cast, state, when.secs);
        let shot = Shot { state, secs: when.secs, colliders: &colliders, shaded: shown.shaded };
        // Where there are bodies enough for all threads, each of them is one thread's work.
        let is_crowd = self.cast.len() >= 2 * run.thread_count();
        let inside = if is_crowd { Run { threads: None, ..*run } } else { *run };
        let (played, ahead) = run.join(
            || run.map_tasks(self.cast.len(), |i| self.play_body(i, &shot, &inside)),
            || shown.next.and_then(|tick| self.simulate_ahead(tick, run)),
        );
        self.ahead = ahead;
        let mut bodies = Vec::with_capacity(self.cast.len());
        for played in played {
            let Played { body, volume_error, warnings, figures, mut details, contact } = played?;
            report.volume_errors.push(volume_error);
            report.warnings.extend(warnings);
            report.figures.extend(figures);
            report.details.append(&mut details);
            report.contacts.push(contact);
            bodies.push(body);
        }
        Ok(Frame { secs: when.secs, bodies, colliders, report })
    }

    fn play_body(&self, i: usize, shot: &Shot<'_>, run: &Run<'_>) -> Result<Played, FrameError> {
        run.check()?;
        let (cast, state) = (&self.cast[i], &shot.state.bodies[i]);
        let beat = Beat {
            moment: self.moment(shot.secs),
            tick: shot.state.tick,
            tick_secs: self.clock.tick_secs(shot.state.tick),
            dt_secs: 0.0,
            whole: true,
            obstacles: Obstacles { colliders: self.colliders(), places: shot.colliders },
            lents: &self.lents,
            run,
        };
        let mut deformed = cast.deform(i, state, &beat)?;
        run.check()?;
        let contacts = &shot.state.contacts;
        let topology = deformed.shape.topology.clone();
        // Contacts know the body by its own vertices.
        let is_own = deformed.shape.positions.len() == cast.body.mesh.positions.len();
        let touches = is_own && contacts.touch(i as u32);
        let untouched = touches.then(|| deformed.shape.positions.clone());
        let positions = &mut deformed.shape.positions;
        let mut contact = match is_own {
            true => self.arena.give_way(i, contacts, shot.colliders, positions, run),
            false => flesh::Report::default(),
        };
        run.check()?;
        let untouched = untouched.filter(|_| contact.moves());
        let ((normals, now), before) = run.join(
            || self.shade(cast, &deformed.shape, shot.shaded, run),
            || untouched.map(|positions| volume(&positions, topology.triangles(), run)),
        );
        deformed.tell_volume(before.unwrap_or(now));
        if let (Some(before), Some(rest)) = (before, cast.rest_volume) {
            contact.volume_change = (now - before) / rest;
        }
        deformed.warnings.extend(contact_warnings(&cast.actor.name, &contact));
        let volume_error = cast.rest_volume.map(|rest| now / rest - 1.0);
        let Deformed { shape, warnings, figures, details, guides, .. } = deformed;
        let Shape { topology, positions, channels } = shape;
        let body = BodyFrame { positions, topology, channels, normals, guides };
        Ok(Played { body, volume_error, warnings, figures, details, contact })
    }

    /// The normals of a body, if they are wanted, and its volume.
    fn shade(&self, cast: &Cast, shape: &Shape, shaded: bool, run: &Run<'_>) -> (Vec<Vec3>, f64) {
        let (positions, triangles) = (&shape.positions[..], shape.topology.triangles());
        // Nobody asks for the volume of what has nothing at rest.
        let measured = || match cast.is_generated() {
            true => 0.0,
            false => volume(positions, triangles, run),
        };
        if !shaded {
            return (Vec::new(), measured());
        }
        let is_own = Arc::ptr_eq(&shape.topology, &cast.topology);
        // Who makes a surface may know its normals.
        if let (false, Some(Values::Vec3(normals))) = (is_own, shape.channels.get(NORMAL)) {
            let spare = self.spare_normals.lock().ok().and_then(|mut spare| spare.pop());
            let mut own = spare.unwrap_or_default();
            own.clone_from(normals);
            return (own, measured());
        }
        let other = (!is_own).then(|| Shading::new(positions.len(), triangles));
        let shading = other.as_ref().unwrap_or(&*cast.shading);
        let spare = self.spare.lock().ok().and_then(|mut spare| spare.pop());
        let mut buffers = spare.unwrap_or_default();
        shading.normals(positions, &mut buffers, run);
        let shaded = (buffers.take_normals(), buffers.volume(centroid(positions, run)));
        if let Ok(mut spare) = self.spare.lock() {
            spare.push(buffers);
        }
        shaded
    }

    /// Moves a state on: what moves joints by itself, then modifiers, then contacts.
    fn advance(&self, state: &mut State, step: &Step, run: &Run<'_>) -> Result<(), FrameError> {
        let Step { secs, dt_secs, tick, whole } = *step;
        let before = self.arena.places_before(&self.cast, state, secs - dt_secs);
        self.arena.drive(&self.cast, state, step)?;
        let is_modified = self.cast.iter().any(Cast::is_modified);
        let places =
            if is_modified { self.arena.places(&self.cast, state, secs) } else { Vec::new() };
        let beat = Beat {
            moment: self.moment(secs),
            tick,
            tick_secs: self.clock.tick_secs(tick),
            dt_secs,
            whole,
            obstacles: Obstacles { colliders: self.colliders(), places: &places },
            lents: &self.lents,
            run,
        };
        let mut moving: Vec<(&mut BodyState, Result<Stepped, FrameError>)> =
            state.bodies.iter_mut().map(|b| (b, Ok(Stepped::default()))).collect();
        run.for_each_piece(&mut moving, BODIES_A_TASK, |start, moving| {
            for (i, (state, stepped)) in (start..).zip(moving) {
                *stepped = self.cast[i].step(state, &beat);
            }
        });
        let mut stepped = moving.into_iter().map(|m| m.1).collect::<Result<Vec<Stepped>, _>>()?;
        if stepped.iter().any(|s| !s.1.is_empty()) {
            self.arena.part(&mut stepped, (&before, &places), run);
            self.settle(state, stepped.iter_mut().collect(), &beat);
        }
        let joints: Vec<Vec<Mat4>> = stepped.into_iter().map(|s| s.0).collect();
        self.arena.touch(&self.cast, state, &joints, secs);
        Ok(())
    }

    /// Ends the tick of all that lent something to contact.
    fn settle(&self, state: &mut State, stepped: Vec<&mut Stepped>, beat: &Beat<'_>) {
        let mut all: Vec<(&mut BodyState, &mut Stepped)> =
            state.bodies.iter_mut().zip(stepped).collect();
        beat.run.for_each_piece(&mut all, BODIES_A_TASK, |start, all| {
            for (i, (state, (joints, loans))) in (start..).zip(all) {
                for loan in loans.drain(..) {
                    self.cast[i].settle_one(state, beat, (&joints[..], &loan));
                    self.lents.put(loan.lent);
                }
            }
        });
    }

    fn moment(&self, secs: f64) -> Instant<'_> {
        moment(&self.scene, secs)
    }

    /// Brings the state to a tick; returns how many ticks that took.
    fn simulate_to(&mut self, tick: u64, run: &Run<'_>) -> Result<u64, FrameError> {
        let nearest = self.snapshots.before(tick);
        if self.state.tick > tick || self.state.tick < nearest.tick {
            self.state = nearest.clone();
            self.is_edited = false;
        }
        let from = self.state.tick;
        if let Some(ahead) = self.ahead.take().filter(|s| s.tick > from && s.tick <= tick) {
            self.state = ahead;
            self.keep_snapshot();
        }
        while self.state.tick < tick {
            run.check()?;
            // Taken, not cloned: what no snapshot holds has one owner, and its tick copies nothing.
            let mut state = std::mem::take(&mut self.state);
            let done = self.tick(&mut state, run);
            // A tick that failed may have moved some bodies and not others.
            self.state = if done.is_ok() { state } else { self.snapshots.before(from).clone() };
            self.is_edited &= done.is_ok();
            done?;
            self.keep_snapshot();
        }
        Ok(tick - from)
    }

    /// Keeps the state if a snapshot is due.
    fn keep_snapshot(&mut self) {
        if self.is_edited {
            return;
        }
        let (state, cast) = (&self.state, &self.cast);
        self.snapshots.keep(state, || size_of_state(cast, state));
    }

    /// The state at a later tick; `None` if the caller asked to stop.
    fn simulate_ahead(&self, tick: u64, run: &Run<'_>) -> Option<State> {
        let mut state = self.state.clone();
        while state.tick < tick {
            run.check().ok()?;
            self.tick(&mut state, run).ok()?;
        }
        Some(state)
    }

    /// Moves a state on by one tick.
    fn tick(&self, state: &mut State, run: &Run<'_>) -> Result<(), FrameError> {
        let next = state.tick + 1;
        let (secs, dt_secs) = (self.clock.tick_secs(next), 1.0 / f64::from(TICKS_PER_SECOND));
        self.advance(state, &Step { secs, dt_secs, tick: next, whole: true }, run)?;
        state.tick = next;
        Ok(())
    }
}

/// The state of all that begins at a tick.
fn begun(scene: &Scene, (cast, arena): (&[Cast], &Arena), tick: u64, run: &Run<'_>) -> State {
    let clock = Clock { start: scene.time.start, fps: scene.time.fps };
    let secs = clock.tick_secs(tick);
    let now = moment(scene, secs);
    let bodies = run.map_tasks(cast.len(), |i| cast[i].begin(&now, run));
    let mut state = State { tick, bodies, contacts: Contacts::default() };
    let places = arena.places(cast, &state, secs);
    let beat = Beat {
        moment: now,
        tick,
        tick_secs: secs,
        dt_secs: 0.0,
        whole: true,
        obstacles: Obstacles { colliders: arena.colliders(), places: &places },
        lents: &Lents::default(),
        run,
    };
    cast.iter().zip(&mut state.bodies).for_each(|(c, body)| c.begin_late(body, &beat));
    let joints = |(c, b): (&Cast, &BodyState)| c.carried(b, secs).joints;
    let joints: Vec<Vec<Mat4>> = cast.iter().zip(&state.bodies).map(joints).collect();
    arena.touch(cast, &mut state, &joints, secs);
    state
}

/// Loads an asset; one that several bodies name is read once.
fn load_once(
    scene: &Scene,
    source: &Source,
    shared: &mut Vec<(Source, Asset)>,
    load: Load<'_>,
) -> Result<Asset, Box<dyn std::error::Error + Send + Sync>> {
    if let Some((_, known)) = shared.iter().find(|(known, _)| known == source) {
        return Ok(known.clone());
    }
    let asset = load(source)?;
    if scene.assets.iter().filter(|actor| actor.source == *source).count() > 1 {
        shared.push((source.clone(), asset.clone()));
    }
    Ok(asset)
}

fn size_of_state(cast: &[Cast], state: &State) -> usize {
    cast.iter().zip(&state.bodies).map(|(cast, body)| cast.size(body)).sum()
}

/// When, and seen from the scene's camera.
fn moment(scene: &Scene, secs: f64) -> Instant<'_> {
    Instant { secs, tracks: &scene.tracks, eye: scene.camera.map(|c| c.eye.into()) }
}

/// Where a body's joints are after a step, and what it lends to contact.
type Stepped = (Vec<Mat4>, Vec<Loan>);

/// How far a state is moved on.
struct Step {
    /// To this time.
    secs: f64,
    /// By so much.
    dt_secs: f64,
    /// The tick that this is, or the last one before.
    tick: u64,
    /// Whether it is a tick.
    whole: bool,
}

/// What is wanted of a frame.
#[derive(Clone, Copy)]
struct Shown {
    /// Whether it has normals.
    shaded: bool,
    /// The tick to simulate meanwhile.
    next: Option<u64>,
}

/// One body of a frame.
struct Played {
    body: BodyFrame,
    volume_error: Option<f64>,
    warnings: Vec<String>,
    figures: Vec<Figure>,
    details: Details,
    contact: flesh::Report,
}

/// What a frame shows.
struct Shot<'a> {
    state: &'a State,
    secs: f64,
    colliders: &'a [Isometry],
    shaded: bool,
}

/// A share of the volume that contacts may take or give before a person should know.
const MUCH_VOLUME: f64 = 0.01;

fn contact_warnings(name: &str, contact: &flesh::Report) -> impl Iterator<Item = String> {
    let projected = (contact.projected > 0).then(|| {
        format!(
            "asset '{name}': {} vertices were still inside a collider after {} passes and were moved out \
             by up to {:.2e}",
            contact.projected, contact.passes, contact.farthest
        )
    });
    let change = contact.volume_change;
    let swollen = (change.abs() > MUCH_VOLUME).then(|| {
        format!(
            "asset '{name}': contacts change its volume by {:+.1} %; a finer mesh, softer contacts \
             (contact_frequency) or more room help",
            100.0 * change
        )
    });
    let unparted = (contact.unparted > 0).then(|| {
        format!(
            "asset '{name}': {} pairs of its segments are too deep in each other to be taken apart and \
             stay as they are",
            contact.unparted
        )
    });
    projected.into_iter().chain(unparted).chain(swollen)
}

/// A state that belongs to another scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this state belongs to another scene: its assets or modifiers are different")]
pub struct WrongState;

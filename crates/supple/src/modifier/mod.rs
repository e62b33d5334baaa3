//! What happens to a body: the one trait every capability implements, and what passes between it and the player.
//!
//! A capability writes [`Modifier`]: its parameters, what it prepares for a body, what it remembers from tick to tick,
//! and what it does. [`Registry::with`] makes it known; nothing in player, bake, writers or pictures names
//! it. `docs/capability.md` shows how to add one.
//!
//! # Where modifiers act
//!
//! | [`Stage`] | acts on | is given as rest shape |
//! |---|---|---|
//! | `Rest` | the mesh as it was bound, before morph targets | the bound mesh |
//! | `Pose` | the bound mesh with its morphs, before the skeleton moves it | the bound mesh |
//! | `World` | the body where the skeleton and its placement bring it | the placed rest pose |
//!
//! Within a stage the order of the list is the order of effect. A kind may stand in the lists of its
//! [`STAGES`](Modifier::STAGES). Modifiers at the head of `rest` that never change ([`Nature::still`]) are folded into the
//! body's shape once, when the scene is opened: what they do is not done again in every frame.
//!
//! # Time
//!
//! Ticks are 1/120 s, or a multiple of it that the modifier chooses ([`Nature::ticks_per_second`]). A frame that falls
//! between two ticks takes a shorter tick on a copy and forgets it; a modifier whose ticks cannot be shortened
//! ([`Nature::whole_ticks`]) or that ticks at a rate of its own goes on in `deform` instead, from its state's time to
//! that of the frame: [`Moment::since_tick_secs`]. So looking more often never changes the motion.
//!
//! A tick has three steps: every modifier advances its body (`tick`); contact moves what they lend it (`lend`), for all
//! bodies together; every modifier settles (`settle`). See [`contact`](crate::contact).
//!
//! What moves the joints in the place of a recorded motion does so before, in finer steps ([`Substeps`]): before each,
//! contact says for all bodies together what presses on them.
//!
//! # State
//!
//! A state is a value of the modifier's own type, shared between snapshots and copied by the first tick after one. A
//! tick that fails leaves its state as it was: who has a large one checks before writing.

mod erased;
mod marker;
mod memo;
pub mod path;
pub mod placement;
pub mod read;
pub mod registry;
pub mod report;
pub mod source;
pub mod track;

use std::borrow::Cow;
use std::fmt;

use glam::{DAffine3, DMat4, DVec3, Mat4, Vec3};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Run;
use crate::contact::Lent;
use crate::contact::collider::{Collider, Isometry};
use crate::contact::flesh::Pressure;
use crate::mesh::{Shape, TetMesh, TriMesh};
use crate::rig::{Body, Skinning};
use crate::run::Cancelled;

pub use erased::AnyState;
pub(crate) use erased::{Erased, Ready};
pub(crate) use marker::around;
pub use marker::{Marker, OnItsWay};
pub use memo::Memo;
pub use path::{PathError, PathKey, RigidPath};
pub use placement::Placement;
pub use registry::{Kind, Registry};
pub use report::{Details, Figure, Fold, Report};
pub use source::{FlowEntry, Flows, Loaded, NamedFlow, Need, Source, Tets};
pub use track::{Ease, Track, Tracks, Value};

/// How many times a second what has a memory is simulated.
pub const TICKS_PER_SECOND: u32 = 120;

/// How many finer steps a tick has for what moves joints by itself ([`Nature::drives`]).
pub const SUBSTEPS: u32 = 4;

/// Where in the life of a body something happens. Closed: the order is the design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Edits of the shape as it was modelled.
    Rest,
    /// Morphs and blends, before the skeleton.
    Pose,
    /// What happens where the body is.
    World,
}

impl Stage {
    /// All of them, in the order of effect.
    pub const ALL: [Self; 3] = [Self::Rest, Self::Pose, Self::World];

    /// The list of an asset that holds what happens in it.
    #[must_use]
    pub fn list(self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::Pose => "pose",
            Self::World => "world",
        }
    }
}

/// When, and what is known then.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// Ticks since the scene's start; in a frame between two ticks, the last one.
    pub tick: u64,
    /// Time of the scene, in seconds.
    pub secs: f64,
    /// In `tick`, the time since the state was last advanced, in seconds; elsewhere 0.
    pub dt_secs: f64,
    /// In `deform`, the time since the state was last advanced, in seconds: 0 unless the frame falls between this
    /// modifier's ticks.
    pub since_tick_secs: f64,
    /// The tracks that parameters name.
    pub tracks: &'a Tracks,
    /// Where the scene's camera is, if it has one.
    pub eye: Option<DVec3>,
    /// From bind to world, for each joint of the body, carried on by the modifiers before. A body without a skeleton
    /// has one.
    pub joints: &'a [Mat4],
    /// The mean of the body's vertices, as far as joints tell, carried on likewise.
    pub centroid: DVec3,
    /// The weight of each of the body's morph targets, in the order of [`Body::morphs`].
    pub morph_weights: &'a [f32],
    /// How far morph targets and the modifiers before take each of its [`markers`](Modifier::markers) from where its
    /// joint carries it.
    pub shifts: &'a [DVec3],
    /// What bodies must not enter, where it is now.
    pub obstacles: Obstacles<'a>,
    /// How to run: threads, cancel.
    pub run: &'a Run<'a>,
}

impl Moment<'_> {
    /// A parameter at this moment.
    #[must_use]
    pub fn value(&self, value: &Value) -> f64 {
        value.at(self.secs, self.tracks)
    }

    /// Three parameters at this moment.
    #[must_use]
    pub fn vector(&self, values: &[Value; 3]) -> DVec3 {
        Value::at3(values, self.secs, self.tracks).into()
    }
}

impl fmt::Debug for Moment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tick, secs, dt_secs, .. } = self;
        write!(f, "tick {tick} at {secs} s, {dt_secs} s after the last")
    }
}

/// The scene's colliders at one moment, in the world.
#[derive(Clone, Copy, Debug, Default)]
pub struct Obstacles<'a> {
    /// What they are.
    pub colliders: &'a [Collider],
    /// Where each of them is.
    pub places: &'a [Isometry],
}

/// A point inside an obstacle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inside {
    /// Which collider.
    pub collider: usize,
    /// How deep, in scene units: positive.
    pub depth: f32,
    /// The way out: a unit vector.
    pub normal: Vec3,
}

impl Obstacles<'_> {
    /// The obstacle that a point is deepest in, if it is in one.
    #[must_use]
    pub fn deepest(&self, x: Vec3) -> Option<Inside> {
        let mut deepest: Option<Inside> = None;
        for (number, (collider, place)) in self.colliders.iter().zip(self.places).enumerate() {
            let local = place.to_local(x);
            for probe in collider.parts.iter().map(|part| part.probe(local, Vec3::ZERO)) {
                if probe.distance < deepest.map_or(0.0, |d| -d.depth) {
                    let normal = place.rotation * probe.normal;
                    deepest = Some(Inside { collider: number, depth: -probe.distance, normal });
                }
            }
        }
        deepest
    }
}

/// Why something was not done; a state is then as it was.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Halt {
    /// A number is not finite: the modifier is frozen from here on, and named in the report.
    #[error("not finite")]
    NotFinite,
    /// Something could not be read: the frame fails.
    #[error("{0}")]
    Unreadable(String),
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Something to show beside the surface. Closed: the renderer draws each.
#[derive(Clone, Debug, PartialEq)]
pub enum Overlay {
    /// A polyline.
    Line(Vec<Vec3>),
    /// From one point to another.
    Arrow(Vec3, Vec3),
    /// A point to take hold of: dragged, it writes the parameter of this name.
    Handle(Vec3, String),
    /// A mass on its spring.
    Spring(Spring),
}

/// A mass on its spring, as it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Where it hangs.
    pub anchor: Vec3,
    /// Where the mass is.
    pub mass: Vec3,
    /// How far it moves the flesh around it, in scene units.
    pub radius: f32,
}

impl Overlay {
    /// Moves it with the space it is in.
    pub(crate) fn carry(&mut self, map: &DMat4) {
        let at = |x: &mut Vec3| *x = map.transform_point3(x.as_dvec3()).as_vec3();
        match self {
            Self::Line(points) => points.iter_mut().for_each(at),
            Self::Arrow(from, to) => [from, to].into_iter().for_each(at),
            Self::Handle(point, _) => at(point),
            Self::Spring(Spring { anchor, mass, radius }) => {
                [anchor, mass].into_iter().for_each(at);
                *radius *= map.determinant().abs().cbrt() as f32;
            }
        }
    }
}

/// What is wrong with parameters, whatever the body is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Where in the table, from the outside in; where that is not written, the table around it.
    pub at: Vec<Key>,
    /// What is wrong.
    pub what: String,
    /// What would be right.
    pub fix: String,
}

/// A step into a table of parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// What has this name.
    Name(String),
    /// The entry of this number, from 0.
    Entry(usize),
}

/// What the player must know before it plays something.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each answers a question of its own, all combine"
)]
pub struct Nature {
    /// Ticks a second: a divisor of 120. Default: 120.
    pub ticks_per_second: u32,
    /// Its ticks cannot be shortened: in a frame between two of them, `deform` goes on instead. Default: no.
    pub whole_ticks: bool,
    /// It lends its body to contact, so that nothing else moves it out of what it touches. Default: no.
    pub touches: bool,
    /// It begins when the first of its body's modifiers does that warms up before the scene's start, so that those
    /// after it find it in full swing. Default: no, it begins with the scene.
    pub warms_up: bool,
    /// How long before the scene's start it should begin, in seconds, with all that warms up. Default: 0.
    pub warm_up_secs: f64,
    /// It takes markers of those after it with it ([`Modifier::carry`]). Default: no.
    pub carries: bool,
    /// It never changes in time: at the head of `rest` it is folded into the shape once. Default: no.
    pub still: bool,
    /// It moves the body as its skeleton does, in the place of plain skinning ([`Modifier::skin`]). Default: no.
    pub skins: bool,
    /// It moves the joints in the place of the motion ([`Modifier::joints`]), to be blended so. Default: no.
    pub drives: Option<Skinning>,
}

impl Default for Nature {
    fn default() -> Self {
        Self {
            ticks_per_second: TICKS_PER_SECOND,
            whole_ticks: false,
            touches: false,
            warms_up: false,
            warm_up_secs: 0.0,
            carries: false,
            still: false,
            skins: false,
            drives: None,
        }
    }
}

impl Nature {
    /// How many of the player's ticks one of its own takes.
    pub(crate) fn ticks_a_tick(&self) -> u64 {
        u64::from(TICKS_PER_SECOND / self.ticks_per_second)
    }
}

/// What something is prepared from.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The body at rest, where the stage finds it, with the attributes of its file; empty for a generator.
    pub rest: &'a Shape,
    /// The body as one skinned mesh where it was bound: joints, morph targets, parts.
    pub body: &'a Body,
    /// The solid beside the surface, if the scene gives the body one; where `rest` is.
    pub tets: Option<&'a TetMesh>,
    /// What it needs, in the order of [`Modifier::needs`].
    pub sources: &'a [Loaded],
    /// The tracks that parameters name.
    pub tracks: &'a Tracks,
    /// From the asset at rest to where `rest` is: its placement in the world, or nothing before the skeleton.
    pub placement: DAffine3,
    /// From bind to the placed rest pose, for each joint.
    pub joints: &'a [Mat4],
    /// Whether the asset meets other bodies.
    pub meets_others: bool,
    /// When the scene starts and ends, in seconds, and its frames a second: which frames will be asked for.
    pub start_secs: f64,
    #[expect(missing_docs, reason = "said above")]
    pub end_secs: f64,
    #[expect(missing_docs, reason = "said above")]
    pub fps: f64,
    /// After how many seconds the body's motion is where it was, if it goes round and round.
    pub round_secs: Option<f64>,
    /// What bodies of the scene that are alike work out once.
    pub memo: &'a Memo,
    /// How to run.
    pub run: &'a Run<'a>,
}

/// A body about to be moved by its skeleton.
#[derive(Clone)]
pub struct Posed<'a> {
    /// The body that was prepared.
    pub body: &'a Body,
    /// Where its vertices are bound: borrowed if these are the body's own.
    pub bound: Cow<'a, [Vec3]>,
    /// From bind to world, for each joint.
    pub joints: &'a [Mat4],
    /// How the motion blends joints.
    pub skinning: Skinning,
    /// Time of the scene, in seconds.
    pub secs: f64,
    /// Bound vertices and joints at any other time, as motion and morph targets alone have them; `None` if these cannot be
    /// known ahead.
    pub at: Option<PoseAt<'a>>,
    /// How to run.
    pub run: &'a Run<'a>,
}

/// Bound vertices and joints at a time in seconds.
pub type PoseAt<'a> = &'a (dyn Fn(f64) -> (Cow<'a, [Vec3]>, Vec<Mat4>) + Sync);

impl fmt::Debug for Posed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} joints at {} s", self.joints.len(), self.secs)
    }
}

/// A tick under way of what moves the joints: [`SUBSTEPS`] finer steps.
pub trait Substeps<S> {
    /// One of them, to a time of the scene in seconds, with what presses on the body before it.
    ///
    /// # Errors
    ///
    /// [`Halt`]; the state is then as it was.
    fn substep(&mut self, secs: f64, pressures: &[Pressure], state: &mut S) -> Result<(), Halt>;
}

/// No memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stateless {}

/// A capability, prepared for one body. `Self` is what [`prepare`](Self::prepare) works out; it never changes.
pub trait Modifier: Sized + Send + Sync + 'static {
    /// The word for it in a document.
    const KIND: &'static str;
    /// Where it may stand; in documents of version 1, which have one list, it acts in the first.
    const STAGES: &'static [Stage];
    /// Whether each vertex goes its own way, whatever others there are: a finer mesh then moves as the coarse one does.
    const POINTWISE: bool = false;
    /// Whether [`prepare`](Self::prepare) reads tracks: then it is asked anew when they change.
    const READS_TRACKS: bool = false;
    /// What the artist sets.
    type Params: Clone + PartialEq + Serialize + DeserializeOwned + JsonSchema + Send + Sync;
    /// What one tick hands to the next: plain data that postcard can write (nothing flattened, untagged or skipped).
    type State: Clone + Serialize + DeserializeOwned + Send + Sync;

    /// What a schema cannot say: what is wrong whatever the body is.
    ///
    /// # Errors
    ///
    /// What is wrong, where, and what would be right.
    fn check(_params: &Self::Params) -> Result<(), Wrong> {
        Ok(())
    }

    /// Models, solids and flows it needs beside the body. Loaded once, shared, and their contents part of what tells
    /// whether stored frames are still right.
    #[must_use]
    fn needs(_params: &Self::Params) -> Vec<Need> {
        Vec::new()
    }

    /// Whether it wants the body at rest finer: [`remesh`](Self::remesh). For what is folded into the shape, and for the
    /// first modifier of a body that does not move otherwise.
    fn remeshes(_params: &Self::Params) -> bool {
        false
    }

    /// The body where the stage finds it at rest, as fine as it needs it, made before anything is prepared.
    ///
    /// # Errors
    ///
    /// Why it cannot be made so.
    fn remesh(
        _params: &Self::Params,
        mesh: &TriMesh,
        _sources: &[Loaded],
        _run: &Run<'_>,
    ) -> Result<TriMesh, String> {
        Ok(mesh.clone())
    }

    /// What [`prepare`](Self::prepare) would work out for the same body with other parameters, from what it worked out
    /// for these: to save work, never with another result. `None` if that takes the same work.
    fn adapt(&self, _params: &Self::Params, _to: &Self::Params) -> Option<Self> {
        None
    }

    /// Checks that it can be applied to a body and works out what needs to be worked out once.
    ///
    /// # Errors
    ///
    /// What does not fit, and what would.
    fn prepare(params: &Self::Params, from: &Inputs<'_>) -> Result<Self, String>;

    /// What the player must know.
    fn nature(&self, _params: &Self::Params) -> Nature {
        Nature::default()
    }

    /// Points whose place its ticks must know: [`Moment::shifts`]. Asked once.
    fn markers(&self, _params: &Self::Params) -> Vec<Marker> {
        Vec::new()
    }

    /// *Move*: chooses weights of the body's morph targets, which are in the order of [`Body::morphs`], before anything is
    /// deformed.
    fn weigh(&self, _: &Self::Params, _secs: f64, _tracks: &Tracks, _weights: &mut [f32]) {}

    /// *Move*: where it takes the joints, from bind to world. Asked only if its nature says that it
    /// [`drives`](Nature::drives) them, as the next; a body has at most one such modifier.
    fn joints(&self, _: &Self::Params, _: &Self::State) -> Vec<Mat4> {
        Vec::new()
    }

    /// *Simulate*: begins a tick of so many seconds in which it moves the joints, before anything else advances.
    fn begin_tick<'a>(
        &'a self,
        _: &'a Self::Params,
        _: &Self::State,
        _dt_secs: f64,
    ) -> Option<Box<dyn Substeps<Self::State> + 'a>> {
        None
    }

    /// What it remembers before the first tick, at the scene's start.
    fn begin(&self, params: &Self::Params, now: &Moment<'_>) -> Self::State;

    /// *Simulate*: advances the state by [`Moment::dt_secs`] to the moment.
    ///
    /// # Errors
    ///
    /// [`Halt`]; the state is then as it was.
    fn tick(&self, _: &Self::Params, _now: &Moment<'_>, _: &mut Self::State) -> Result<(), Halt> {
        Ok(())
    }

    /// Lends contact what it may move, after a tick that was taken: fills `lent`, which is empty. Says whether it did.
    fn lend(&self, _: &Self::Params, _now: &Moment<'_>, _: &Self::State, _lent: &mut Lent) -> bool {
        false
    }

    /// Ends a tick that was taken, with what contact made of what was lent, or with nothing if nothing was.
    fn settle(&self, _: &Self::Params, _now: &Moment<'_>, _: &mut Self::State, _lent: &Lent) {}

    /// How it moves the whole body, if it does nothing else: joints are carried on with it, so that modifiers after it
    /// see them there. `None` for all that bends or changes the shape.
    fn map(&self, _: &Self::Params, _now: &Moment<'_>, _: &Self::State) -> Option<DAffine3> {
        None
    }

    /// Takes markers of modifiers after it where it takes the surface there, as far as it can say that in a tick. Asked
    /// only if its nature says that it [`carries`](Nature::carries).
    fn carry(
        &self,
        _params: &Self::Params,
        _now: &Moment<'_>,
        _state: &Self::State,
        _markers: &mut [OnItsWay<'_>],
    ) {
    }

    /// *Deform*: moves bound vertices as the skeleton does, in the place of plain skinning. Asked only if its nature says
    /// that it [`skins`](Nature::skins), and a body has at most one such modifier.
    ///
    /// # Errors
    ///
    /// [`Halt`]: the frame fails.
    fn skin(
        &self,
        _params: &Self::Params,
        posed: Posed<'_>,
        _report: &mut Report,
    ) -> Result<Vec<Vec3>, Halt> {
        Ok(posed.body.skin_bound(&posed.bound, posed.joints, posed.skinning, posed.run))
    }

    /// *Deform*: moves the vertices, sets channels, or fills an empty shape; a pure function. Who only chooses weights,
    /// moves joints or skins has nothing to do here.
    ///
    /// # Errors
    ///
    /// [`Halt`]: `NotFinite` leaves this modifier out of the frame, with a warning; the others fail the frame.
    fn deform(
        &self,
        _params: &Self::Params,
        _now: &Moment<'_>,
        _state: &Self::State,
        _shape: &mut Shape,
        _report: &mut Report,
    ) -> Result<(), Halt> {
        Ok(())
    }

    /// What to show beside the surface, in the world.
    fn overlays(
        &self,
        _params: &Self::Params,
        _now: &Moment<'_>,
        _state: &Self::State,
        _out: &mut Vec<Overlay>,
    ) {
    }

    /// A shape that it made and nobody needs any more: who makes large ones writes the next into its memory.
    fn take_back(&self, _shape: Shape) {}

    /// Bytes of a state, so that snapshots stay within their budget; `None` for one that does not fit this body.
    fn size(&self, _state: &Self::State) -> Option<usize> {
        Some(size_of::<Self::State>())
    }
}

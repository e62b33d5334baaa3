//! Modifiers: what happens to a body on top of its primary motion.
//!
//! Each kind is one file with its `Params`, and one variant of [`Modifier`] (and of [`Memory`] if it
//! remembers anything). A modifier takes part in the three phases of a frame, each as far as it has
//! something to do there:
//!
//! - *move*: [`Modifier::pose`] may change the pose, before the body is skinned; `skinning` says how it is;
//! - *simulate*: [`Modifier::step`] advances its memory by one tick; it is told where the modifiers before
//!   it carry the body and its joints, and tells the next ones where it carries them itself;
//! - *deform*: [`Modifier::deform`] moves the vertices, a pure function of pose and memory.
//!
//! What can be worked out once for a body is [`Prepared`] when the scene is opened.
//!
//! Kinds of a [`Registry`] stand in the same list as [`Modifier::Open`] and are played by
//! their own [trait](crate::modifier::Modifier).
//!
//! ```
//! use supple::scene::{Modifier, modifier::follow};
//!
//! let trailing = Modifier::Follow(follow::Params::default());
//! assert_eq!(trailing.kind(), "follow");
//! ```

pub mod course;
pub mod follow;
pub mod morph;
pub mod open;
pub mod place;
pub mod sculpt;
pub mod secondary;
pub mod skinning;

use std::sync::LazyLock;

use glam::{DAffine3, DMat4, DVec3, Mat4, Vec3};
use schemars::Schema;
use serde::{Deserialize, Serialize};

use self::course::Course;
use super::document::Place;
use super::{Problem, Source, Tracks};
use crate::Run;
use crate::mesh::TriMesh;
use crate::modifier::{AnyState, Registry, read};
use crate::rig::{Body, Pose};
use crate::sculpt::Op;
use crate::secondary::{Flesh, Report, State};

/// Why something a modifier names could not be loaded.
pub(crate) type LoadError = Box<dyn std::error::Error + Send + Sync>;

/// One thing that happens to a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Modifier {
    /// Scales, turns and moves it.
    Place(place::Params),
    /// Blends it towards its morph targets.
    Morph(morph::Params),
    /// Makes it trail behind on a spring.
    Follow(follow::Params),
    /// Edits its shape.
    Sculpt(sculpt::Params),
    /// Lets its flesh jiggle.
    Secondary(secondary::Params),
    /// Keeps its volume while its skeleton moves it.
    Skinning(skinning::Params),
    /// Whatever a registry knows by this kind.
    #[serde(untagged)]
    Open(open::Entry),
}

/// The kinds there are, those of the registry among them, with their schemas.
pub(super) fn kinds(registry: &Registry) -> Vec<(&'static str, Schema)> {
    static OWN: LazyLock<[(&str, Schema); 6]> = LazyLock::new(|| {
        [
            ("place", read::schema::<place::Params>()),
            ("morph", read::schema::<morph::Params>()),
            ("follow", read::schema::<follow::Params>()),
            ("sculpt", read::schema::<sculpt::Params>()),
            ("secondary", read::schema::<secondary::Params>()),
            ("skinning", read::schema::<skinning::Params>()),
        ]
    });
    OWN.iter().cloned().chain(registry.iter().map(|kind| (kind.name, (kind.schema)()))).collect()
}

/// What a modifier remembers from tick to tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Memory {
    /// Nothing.
    Nothing,
    /// The mass on the spring of `follow`.
    Follow(follow::Memory),
    /// The masses of `secondary`.
    Secondary(State),
    /// What a kind of the registry remembers.
    Open(AnyState),
}

impl Memory {
    /// Its bytes, as far as it is one of these kinds.
    pub(crate) fn size(&self) -> usize {
        let swings = if let Self::Secondary(state) = self { &state.swings[..] } else { &[] };
        size_of::<Self>() + size_of_val(swings)
    }

    /// True while every number is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        match self {
            // A kind of the registry says itself when it is not: its tick fails.
            Self::Nothing | Self::Open(_) => true,
            Self::Follow(memory) => memory.is_finite(),
            Self::Secondary(state) => state.is_finite(),
        }
    }
}

/// What a modifier has worked out for its body.
#[derive(Clone, Debug)]
pub enum Prepared {
    /// Nothing.
    Nothing,
    /// The flesh of `secondary`.
    Secondary(Box<Flesh>),
    /// What edits of `sculpt` that live on the surface do to what flesh hangs on.
    Sculpt(Course),
}

/// When, and seen from where.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Time of the scene, in seconds.
    pub secs: f64,
    /// The tracks that parameters name.
    pub tracks: &'a Tracks,
    /// Where the scene's camera is, if it has one.
    pub eye: Option<DVec3>,
}

/// What a modifier may look at.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    /// When, and seen from where.
    pub moment: Moment<'a>,
    /// The body, where it was bound.
    pub body: &'a Body,
    /// What the modifier has worked out for it.
    pub prepared: &'a Prepared,
}

/// Where the primary motion and the modifiers before carry a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// The mean of its vertices.
    pub centroid: DVec3,
    /// From bind to world, for each joint.
    pub joints: Vec<Mat4>,
    /// The weight of each morph target of the body, where that matters.
    pub morphs: Vec<f32>,
    /// The edits that modifiers before make to the body, as far as they can be made to single points: what flesh
    /// hangs on moves with them. Those before a `place` or `follow` count as made after it.
    pub edits: Vec<Op>,
    /// The edits that live on its surface, and how much of each is made.
    pub courses: Vec<(Course, f64)>,
}

impl Carried {
    /// Carries it on.
    pub fn by(&mut self, map: DAffine3) {
        self.centroid = map.transform_point3(self.centroid);
        let map = DMat4::from(map);
        for joint in &mut self.joints {
            *joint = (map * joint.as_dmat4()).as_mat4();
        }
    }

    fn is_finite(&self) -> bool {
        self.centroid.is_finite() && self.joints.iter().all(Mat4::is_finite)
    }
}

/// What a deformation has to say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// What could not be done.
    pub warning: Option<String>,
    /// What `secondary` did.
    pub secondary: Option<Report>,
    /// The volume of the body before `secondary` moved it. That after it is for the player to measure, which mostly
    /// does so anyway.
    pub volume_before: Option<f64>,
}

impl Modifier {
    /// The word for it in a document.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Place(_) => "place",
            Self::Morph(_) => "morph",
            Self::Follow(_) => "follow",
            Self::Sculpt(_) => "sculpt",
            Self::Secondary(_) => "secondary",
            Self::Skinning(_) => "skinning",
            Self::Open(entry) => &entry.kind,
        }
    }

    /// What a schema cannot say.
    pub(super) fn check_document(&self, registry: &Registry, at: Place<'_>) -> Result<(), Problem> {
        match self {
            Self::Sculpt(params) => params.check_document(at),
            Self::Secondary(params) => params.check_document(at),
            Self::Open(entry) => entry.check_document(registry, at),
            Self::Place(_) | Self::Morph(_) | Self::Follow(_) | Self::Skinning(_) => Ok(()),
        }
    }

    /// Loads the files it names; what it holds afterwards needs none.
    ///
    /// # Errors
    ///
    /// What `load` says.
    pub(crate) fn load(
        &mut self,
        load: &mut dyn FnMut(&Source) -> Result<TriMesh, LoadError>,
    ) -> Result<(), LoadError> {
        match self {
            Self::Sculpt(params) => params.load(load),
            _ => Ok(()),
        }
    }

    /// Checks that it can be applied to a body, whose rest pose stands where `placement` puts it, and
    /// works out what needs to be worked out once.
    ///
    /// # Errors
    ///
    /// What does not fit, and what would.
    pub fn prepare(&self, body: &Body, placement: &DAffine3) -> Result<Prepared, String> {
        match self {
            Self::Morph(params) => params.check(body)?,
            Self::Sculpt(params) => {
                params.check(body)?;
                return Ok(params
                    .course(body, placement)
                    .map_or(Prepared::Nothing, Prepared::Sculpt));
            }
            Self::Secondary(params) => {
                return params.prepare(body, placement).map(|f| Prepared::Secondary(Box::new(f)));
            }
            Self::Skinning(_) => skinning::check(body)?,
            // Those of the registry are prepared by the player, which has what they need.
            Self::Place(_) | Self::Follow(_) | Self::Open(_) => {}
        }
        Ok(Prepared::Nothing)
    }

    /// Whether it can be applied to other vertices than those of the body: after a modifier that changes them.
    pub(crate) fn takes_any_shape(&self) -> bool {
        matches!(self, Self::Place(_) | Self::Follow(_) | Self::Open(_))
    }

    /// How long before the scene's start it should begin, in seconds.
    #[must_use]
    pub fn warm_up_secs(&self) -> f64 {
        if let Self::Secondary(params) = self { params.warm_up } else { 0.0 }
    }

    /// Carries a body on by what it remembers, with no time passing.
    pub(crate) fn carry(&self, memory: &Memory, moment: &Moment<'_>, carried: &mut Carried) {
        match (self, memory) {
            (Self::Place(params), _) => carried.by(params.affine(moment)),
            (Self::Follow(_), Memory::Follow(memory)) => {
                carried.by(DAffine3::from_translation(memory.stretch()));
            }
            _ => {}
        }
    }

    /// *Move*: changes the pose.
    pub fn pose(&self, body: &Body, moment: &Moment<'_>, pose: &mut Pose) {
        if let Self::Morph(params) = self {
            params.pose(body, moment, pose);
        }
    }

    /// What it remembers before the first tick, with the body carried to `carried`.
    #[must_use]
    pub fn begin(&self, stage: &Stage<'_>, carried: &mut Carried) -> Memory {
        match (self, stage.prepared) {
            (Self::Place(params), _) => carried.by(params.affine(&stage.moment)),
            (Self::Sculpt(params), prepared) => params.carry(prepared, &stage.moment, carried),
            (Self::Follow(params), _) => return Memory::Follow(params.begin(carried.centroid)),
            (Self::Secondary(_), Prepared::Secondary(flesh)) => {
                let shifts = secondary::shifts(flesh, carried);
                return Memory::Secondary(flesh.begin_at(&carried.joints, &shifts));
            }
            (Self::Morph(_) | Self::Skinning(_) | Self::Secondary(_) | Self::Open(_), _) => {}
        }
        Memory::Nothing
    }

    /// *Simulate*: advances its memory by `dt_secs` to the moment; the body is at `carried`, which is
    /// moved on to where this modifier carries it. False if a number is no longer finite.
    pub fn step(
        &self,
        stage: &Stage<'_>,
        memory: &mut Memory,
        dt_secs: f64,
        carried: &mut Carried,
    ) -> bool {
        match (self, memory) {
            (Self::Place(params), _) => carried.by(params.affine(&stage.moment)),
            (Self::Sculpt(params), _) => params.carry(stage.prepared, &stage.moment, carried),
            (Self::Follow(params), Memory::Follow(memory)) => {
                params.step(memory, &stage.moment, dt_secs, carried);
                return memory.is_finite() && carried.is_finite();
            }
            (Self::Secondary(params), Memory::Secondary(state)) => {
                params.step(stage, state, dt_secs, carried);
                return state.is_finite();
            }
            (Self::Morph(_) | Self::Skinning(_) | Self::Open(_), _)
            | (Self::Follow(_) | Self::Secondary(_), _) => {}
        }
        carried.is_finite()
    }

    /// *Deform*: moves the vertices of the body, whose joints are at `carried`, which is moved on as in
    /// [`step`](Self::step). What cannot be done is left undone and said in the outcome.
    pub fn deform(
        &self,
        stage: &Stage<'_>,
        memory: &Memory,
        carried: &mut Carried,
        positions: &mut [Vec3],
        run: &Run<'_>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        match (self, memory) {
            (Self::Place(params), _) => {
                params.deform(&stage.moment, positions, run);
                carried.by(params.affine(&stage.moment));
            }
            (Self::Follow(_), Memory::Follow(memory)) => {
                memory.deform(positions, run);
                carried.by(DAffine3::from_translation(memory.stretch()));
            }
            (Self::Sculpt(params), _) => {
                outcome.warning = params.deform(&stage.moment, stage.body, positions, run);
            }
            (Self::Secondary(params), Memory::Secondary(state)) => {
                outcome = params.deform(stage, state, carried, positions, run);
            }
            (
                Self::Morph(_)
                | Self::Skinning(_)
                | Self::Follow(_)
                | Self::Secondary(_)
                | Self::Open(_),
                _,
            ) => {}
        }
        outcome
    }
}

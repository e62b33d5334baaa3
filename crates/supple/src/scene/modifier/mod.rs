//! Modifiers: what happens to a body on top of its primary motion.
//!
//! Kinds of a [`Registry`] stand in a body's list as [`Modifier::Open`] and are played by their own
//! [trait](crate::modifier::Modifier). Three older ones are variants of [`Modifier`], each one file with its `Params`. These
//! take part in the phases of a frame, each as far as it has something to do there:
//!
//! - *move*: `skinning` says how the body is skinned;
//! - *simulate*: [`Modifier::step`] advances its memory by one tick; it is told where the modifiers before
//!   it carry the body and its joints, and tells the next ones where it carries them itself;
//! - *deform*: [`Modifier::deform`] moves the vertices, a pure function of pose and memory.
//!
//! What can be worked out once for a body is [`Prepared`] when the scene is opened.
//!
//! ```
//! use supple::follow;
//! use supple::scene::{Entry, Modifier};
//!
//! let trailing = Modifier::Open(Entry::of("follow", &follow::Params::default()));
//! assert_eq!(trailing.kind(), "follow");
//! ```

pub mod course;
pub mod open;
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
use crate::rig::Body;
use crate::sculpt::Op;
use crate::secondary::{Flesh, Report, State};

/// Why something a modifier names could not be loaded.
pub(crate) type LoadError = Box<dyn std::error::Error + Send + Sync>;

/// One thing that happens to a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Modifier {
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
    static OWN: LazyLock<[(&str, Schema); 3]> = LazyLock::new(|| {
        [
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

    pub(crate) fn is_finite(&self) -> bool {
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
            Self::Skinning(_) => Ok(()),
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
            Self::Open(_) => {}
        }
        Ok(Prepared::Nothing)
    }

    /// How long before the scene's start it should begin, in seconds.
    #[must_use]
    pub fn warm_up_secs(&self) -> f64 {
        if let Self::Secondary(params) = self { params.warm_up } else { 0.0 }
    }

    /// What it remembers before the first tick, with the body carried to `carried`.
    #[must_use]
    pub fn begin(&self, stage: &Stage<'_>, carried: &mut Carried) -> Memory {
        match (self, stage.prepared) {
            (Self::Sculpt(params), prepared) => params.carry(prepared, &stage.moment, carried),
            (Self::Secondary(_), Prepared::Secondary(flesh)) => {
                let shifts = secondary::shifts(flesh, carried);
                return Memory::Secondary(flesh.begin_at(&carried.joints, &shifts));
            }
            (Self::Skinning(_) | Self::Secondary(_) | Self::Open(_), _) => {}
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
            (Self::Sculpt(params), _) => params.carry(stage.prepared, &stage.moment, carried),
            (Self::Secondary(params), Memory::Secondary(state)) => {
                params.step(stage, state, dt_secs, carried);
                return state.is_finite();
            }
            (Self::Skinning(_) | Self::Open(_) | Self::Secondary(_), _) => {}
        }
        carried.is_finite()
    }

    /// *Deform*: moves the vertices of the body, whose joints are at `carried`. What cannot be done is left undone and
    /// said in the outcome.
    pub fn deform(
        &self,
        stage: &Stage<'_>,
        memory: &Memory,
        carried: &Carried,
        positions: &mut [Vec3],
        run: &Run<'_>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        match (self, memory) {
            (Self::Sculpt(params), _) => {
                outcome.warning = params.deform(&stage.moment, stage.body, positions, run);
            }
            (Self::Secondary(params), Memory::Secondary(state)) => {
                outcome = params.deform(stage, state, carried, positions, run);
            }
            (Self::Skinning(_) | Self::Secondary(_) | Self::Open(_), _) => {}
        }
        outcome
    }
}

//! Modifiers: what happens to a body on top of its primary motion.
//!
//! Each kind is one file with its `Params`, and one variant of [`Modifier`] (and of [`Memory`] if it
//! remembers anything). A modifier takes part in the three phases of a frame, each as far as it has
//! something to do there:
//!
//! - *move*: [`Modifier::pose`] may change the pose, before the body is skinned; `skinning` says how it is;
//! - *simulate*: [`Modifier::step`] advances its memory by one tick; it is told where the modifiers before
//!   it carry the body, and tells the next ones where it carries the body itself;
//! - *deform*: [`Modifier::deform`] moves the vertices, a pure function of pose and memory.
//!
//! ```
//! use supple::scene::{Modifier, modifier::follow};
//!
//! let trailing = Modifier::Follow(follow::Params::default());
//! assert_eq!(trailing.kind(), "follow");
//! ```

pub mod follow;
pub mod morph;
pub mod place;
pub mod sculpt;
pub mod skinning;

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::document::Table;
use super::{Problem, Tracks};
use crate::Run;
use crate::rig::{Body, Pose};

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
    /// Keeps its volume while its skeleton moves it.
    Skinning(skinning::Params),
}

/// What a modifier remembers from tick to tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Memory {
    /// Nothing.
    Nothing,
    /// The mass on the spring of `follow`.
    Follow(follow::Memory),
}

impl Memory {
    /// True while every number is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Nothing => true,
            Self::Follow(memory) => memory.is_finite(),
        }
    }
}

/// What a modifier may look at.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Time of the scene, in seconds.
    pub secs: f64,
    /// The tracks that parameters name.
    pub tracks: &'a Tracks,
}

impl Modifier {
    /// The word for it in a document.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Place(_) => "place",
            Self::Morph(_) => "morph",
            Self::Follow(_) => "follow",
            Self::Sculpt(_) => "sculpt",
            Self::Skinning(_) => "skinning",
        }
    }

    pub(super) fn read(table: &Table<'_>) -> Result<Self, Problem> {
        #[derive(Clone, Copy)]
        enum Kind {
            Place,
            Morph,
            Follow,
            Sculpt,
            Skinning,
        }
        let kinds = [
            ("place", Kind::Place),
            ("morph", Kind::Morph),
            ("follow", Kind::Follow),
            ("sculpt", Kind::Sculpt),
            ("skinning", Kind::Skinning),
        ];
        match table.need("kind")?.choice(&kinds)? {
            Kind::Place => place::Params::read(table).map(Self::Place),
            Kind::Morph => morph::Params::read(table).map(Self::Morph),
            Kind::Follow => follow::Params::read(table).map(Self::Follow),
            Kind::Sculpt => sculpt::Params::read(table).map(Self::Sculpt),
            Kind::Skinning => skinning::read(table).map(Self::Skinning),
        }
    }

    /// Checks that it can be applied to a body.
    ///
    /// # Errors
    ///
    /// What does not fit, and what would.
    pub fn check(&self, body: &Body) -> Result<(), String> {
        match self {
            Self::Morph(params) => params.check(body),
            Self::Sculpt(params) => params.check(body),
            Self::Skinning(_) => skinning::check(body),
            Self::Place(_) | Self::Follow(_) => Ok(()),
        }
    }

    /// *Move*: changes the pose.
    pub fn pose(&self, body: &Body, moment: &Moment<'_>, pose: &mut Pose) {
        if let Self::Morph(params) = self {
            params.pose(body, moment, pose);
        }
    }

    /// What it remembers before the first tick, with the body's centroid carried to `carried`.
    #[must_use]
    pub fn begin(&self, moment: &Moment<'_>, carried: &mut DVec3) -> Memory {
        match self {
            Self::Place(params) => *carried = params.affine(moment).transform_point3(*carried),
            Self::Morph(_) | Self::Sculpt(_) | Self::Skinning(_) => {}
            Self::Follow(params) => return Memory::Follow(params.begin(moment, *carried)),
        }
        Memory::Nothing
    }

    /// *Simulate*: advances its memory by `dt_secs` to the moment; the body's centroid is at
    /// `carried`, and moved on to where this modifier carries it.
    pub fn step(
        &self,
        memory: &mut Memory,
        moment: &Moment<'_>,
        dt_secs: f64,
        carried: &mut DVec3,
    ) {
        match (self, memory) {
            (Self::Place(params), _) => {
                *carried = params.affine(moment).transform_point3(*carried);
            }
            (Self::Follow(params), Memory::Follow(memory)) => {
                params.step(memory, moment, dt_secs, carried);
            }
            (Self::Morph(_) | Self::Follow(_) | Self::Sculpt(_) | Self::Skinning(_), _) => {}
        }
    }

    /// *Deform*: moves the vertices of the body's triangles. What cannot be done is left undone and said
    /// in a warning.
    pub fn deform(
        &self,
        memory: &Memory,
        moment: &Moment<'_>,
        triangles: &[[u32; 3]],
        positions: &mut [Vec3],
        run: &Run<'_>,
    ) -> Option<String> {
        match (self, memory) {
            (Self::Place(params), _) => params.deform(moment, positions, run),
            (Self::Follow(_), Memory::Follow(memory)) => memory.deform(positions, run),
            (Self::Sculpt(params), _) => return params.deform(moment, triangles, positions, run),
            (Self::Morph(_) | Self::Follow(_) | Self::Skinning(_), _) => {}
        }
        None
    }
}

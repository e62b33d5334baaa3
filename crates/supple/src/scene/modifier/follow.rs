//! `follow`: the body trails its primary motion on a damped spring.
//!
//! # Method
//!
//! A mass hangs on the body's centroid by a spring that is solved in closed form
//! ([`crate::spring`]); the whole body is moved by the spring's stretch. The centroid comes from the
//! joints alone ([`Body::centroid`](crate::rig::Body::centroid)), so a tick costs as little for a large
//! mesh as for a small one.
//!
//! # Limits
//!
//! The body moves as a whole and does not turn; morph targets do not move the centroid.
//!
//! ```
//! use glam::{DVec3, Vec3};
//! use supple::Run;
//! use supple::scene::{Modifier, Tracks, modifier::{Moment, follow}};
//!
//! let follow = Modifier::Follow(follow::Params::default());
//! let tracks = Tracks::new();
//! let moment = Moment { secs: 0.0, tracks: &tracks };
//! let mut memory = follow.begin(&moment, &mut DVec3::ZERO.clone());
//! // The body jumps by one within a tick: the mass has hardly moved.
//! follow.step(&mut memory, &moment, 1.0 / 120.0, &mut DVec3::X.clone());
//! let mut positions = [Vec3::X];
//! follow.deform(&memory, &moment, &[], &mut positions, &Run::default());
//! assert!(positions[0].x < 0.2);
//! ```

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::Moment;
use crate::Run;
use crate::scene::document::{Range, Table};
use crate::scene::{Problem, Unit, Value};
use crate::spring::{Mass, Spring};

/// How the body trails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// How fast the spring swings, in hertz: low is sluggish, high follows closely. Default: 2.
    pub frequency: Value,
    /// 0 swings for ever, 1 comes to rest without overshooting. Default: 0.3.
    pub damping: Value,
    /// What pulls on the mass, in scene units a second squared. Default: nothing, so that a body at
    /// rest stays where its artist put it.
    pub gravity: [Value; 3],
}

impl Default for Params {
    fn default() -> Self {
        Self {
            frequency: Value::Number(2.0),
            damping: Value::Number(0.3),
            gravity: Value::numbers([0.0; 3]),
        }
    }
}

/// The mass on the spring.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory(Mass);

impl Params {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, Problem> {
        table.only(&["kind", "frequency", "damping", "gravity"])?;
        let default = Self::default();
        let frequencies = Range { least: 1e-3, most: 1e4 };
        let ratios = Range { least: 0.0, most: 1e3 };
        let value = |key: &str, unit, range, default| {
            table.get(key).map_or(Ok(default), |f| f.value(unit, range))
        };
        let gravity = table.get("gravity");
        Ok(Self {
            frequency: value("frequency", Unit::Frequency, frequencies, default.frequency)?,
            damping: value("damping", Unit::Factor, ratios, default.damping)?,
            gravity: gravity
                .map_or(Ok(default.gravity), |f| f.values3(Unit::Acceleration, Range::ANY))?,
        })
    }

    pub(super) fn begin(&self, _moment: &Moment<'_>, carried: DVec3) -> Memory {
        Memory(Mass::at_rest(carried))
    }

    pub(super) fn step(
        &self,
        memory: &mut Memory,
        moment: &Moment<'_>,
        dt_secs: f64,
        carried: &mut DVec3,
    ) {
        let at = |value: &Value| value.at(moment.secs, moment.tracks);
        let spring = Spring::from_frequency(at(&self.frequency), at(&self.damping));
        let gravity = Value::at3(&self.gravity, moment.secs, moment.tracks);
        memory.0.step(&spring, *carried, gravity.into(), dt_secs);
        *carried = memory.0.position;
    }
}

impl Memory {
    /// How far the body is off its primary motion.
    #[must_use]
    pub fn stretch(&self) -> DVec3 {
        self.0.position - self.0.anchor
    }

    pub(super) fn is_finite(&self) -> bool {
        self.0.is_finite()
    }

    pub(super) fn deform(&self, positions: &mut [Vec3], run: &Run<'_>) {
        let stretch = self.stretch();
        run.for_each(positions, |_, x| *x = (x.as_dvec3() + stretch).as_vec3());
    }
}

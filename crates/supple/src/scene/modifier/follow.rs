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
//! use supple::scene::{Scene, Folder};
//! use supple::player::Player;
//! use supple::Run;
//!
//! let scene = Scene::parse(r#"
//!     supple = 1
//!     [[asset]]
//!     zoo = "ball"
//!     triangles = 80
//!     [asset.motion]
//!     kind = "path"
//!     keys = [{ time = 0, position = [0, 0, 0] }, { time = 0.01, position = [1, 0, 0] }]
//!     [[asset.modifier]]
//!     kind = "follow"
//! "#, None)?;
//! let run = Run::default();
//! let (mut player, _) = Player::open(&scene, &Folder::new(".".as_ref()), &run)?;
//! let rest = player.frame(0, &run)?.bodies[0].positions[0];
//! // The ball jumps by one within a hundredth of a second: a moment later it has hardly moved.
//! let moved = player.at(0.02, &run)?.bodies[0].positions[0] - rest;
//! assert!(moved.x < 0.2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use glam::{DAffine3, DVec3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Carried, Moment};
use crate::Run;
use crate::scene::Value;
use crate::spring::{Mass, Spring};

/// How the body trails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Params {
    /// How fast the spring swings, in hertz: low is sluggish, high follows closely. Default: 2.
    #[schemars(range(min = 1e-3, max = 1e4), extend("unit" = "Hz"))]
    pub frequency: Value,
    /// 0 swings for ever, 1 comes to rest without overshooting. Default: 0.3.
    #[schemars(range(min = 0.0, max = 1e3))]
    pub damping: Value,
    /// What pulls on the mass, in scene units a second squared. Default: nothing, so that a body at
    /// rest stays where its artist put it.
    #[schemars(extend("unit" = "m/s2"))]
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
    pub(super) fn begin(&self, centroid: DVec3) -> Memory {
        Memory(Mass::at_rest(centroid))
    }

    pub(super) fn step(
        &self,
        memory: &mut Memory,
        moment: &Moment<'_>,
        dt_secs: f64,
        carried: &mut Carried,
    ) {
        let at = |value: &Value| value.at(moment.secs, moment.tracks);
        let spring = Spring::from_frequency(at(&self.frequency), at(&self.damping));
        let gravity = Value::at3(&self.gravity, moment.secs, moment.tracks);
        memory.0.step(&spring, carried.centroid, gravity.into(), dt_secs);
        carried.by(DAffine3::from_translation(memory.stretch()));
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

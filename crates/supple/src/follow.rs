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
//!     supple = 2
//!     [[asset]]
//!     zoo = "ball"
//!     triangles = 80
//!     [asset.motion]
//!     kind = "path"
//!     keys = [{ time = 0, position = [0, 0, 0] }, { time = 0.01, position = [1, 0, 0] }]
//!     [[asset.world]]
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

use glam::{DAffine3, DVec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mesh::Shape;
use crate::modifier::{Halt, Inputs, Modifier, Moment, Nature, Report, Stage, Value};
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

/// The modifier; it has nothing to prepare.
#[derive(Clone, Copy, Debug)]
pub struct Follow;

impl Modifier for Follow {
    const KIND: &'static str = "follow";
    const STAGES: &'static [Stage] = &[Stage::World];
    type Params = Params;
    type State = Mass;

    fn prepare(_: &Params, _: &Inputs<'_>) -> Result<Self, String> {
        Ok(Self)
    }

    fn nature(&self, _: &Params) -> Nature {
        Nature { warms_up: true, ..Nature::default() }
    }

    fn begin(&self, _: &Params, now: &Moment<'_>) -> Mass {
        Mass::at_rest(now.centroid)
    }

    fn tick(&self, params: &Params, now: &Moment<'_>, state: &mut Mass) -> Result<(), Halt> {
        let spring =
            Spring::from_frequency(now.value(&params.frequency), now.value(&params.damping));
        let mut mass = *state;
        mass.step(&spring, now.centroid, now.vector(&params.gravity), now.dt_secs);
        if !mass.is_finite() {
            return Err(Halt::NotFinite);
        }
        *state = mass;
        Ok(())
    }

    fn map(&self, _: &Params, _: &Moment<'_>, state: &Mass) -> Option<DAffine3> {
        Some(DAffine3::from_translation(stretch(state)))
    }

    fn deform(
        &self,
        _: &Params,
        now: &Moment<'_>,
        state: &Mass,
        shape: &mut Shape,
        _: &mut Report,
    ) -> Result<(), Halt> {
        let stretch = stretch(state);
        now.run.for_each(&mut shape.positions, |_, x| *x = (x.as_dvec3() + stretch).as_vec3());
        Ok(())
    }
}

/// How far the body is off its primary motion.
fn stretch(mass: &Mass) -> DVec3 {
    mass.position - mass.anchor
}

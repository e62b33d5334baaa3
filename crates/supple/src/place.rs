//! `place`: scales, turns and moves a body, constantly or driven by tracks.
//!
//! ```
//! use glam::{DVec3, Vec3};
//! use supple::modifier::{Tracks, Value};
//! use supple::place::Params;
//!
//! let params = Params { translate: Value::numbers([0.0, 2.0, 0.0]), ..Params::default() };
//! let map = params.affine(0.0, &Tracks::new());
//! assert_eq!(map.transform_point3(DVec3::X), DVec3::new(1.0, 2.0, 0.0));
//! ```

use glam::DAffine3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mesh::Shape;
use crate::modifier::placement::{Axes, axes};
use crate::modifier::{
    Halt, Inputs, Modifier, Moment, Nature, Placement, Report, Stage, Stateless, Tracks, Value,
};

/// Where the body is put, relative to where it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Params {
    /// How far to move, in scene units. Default: not at all.
    #[schemars(extend("unit" = "m"))]
    pub translate: [Value; 3],
    /// How to turn about the x, then the y, then the z axis through `pivot`, in degrees. Default: 0.
    #[schemars(extend("unit" = "deg"))]
    pub rotate: [Value; 3],
    /// How much larger to make it, along all axes or along each, seen from `pivot`. Default: 1.
    #[serde(deserialize_with = "axes")]
    #[schemars(with = "Axes<Value>")]
    pub scale: [Value; 3],
    /// The point that turning and scaling leave where it is. Default: the origin.
    #[schemars(extend("unit" = "m"))]
    pub pivot: [Value; 3],
}

impl Default for Params {
    fn default() -> Self {
        let zero = Value::numbers([0.0; 3]);
        Self {
            translate: zero.clone(),
            rotate: zero.clone(),
            scale: Value::numbers([1.0; 3]),
            pivot: zero,
        }
    }
}

impl Params {
    /// The map of space at a time.
    #[must_use]
    pub fn affine(&self, secs: f64, tracks: &Tracks) -> DAffine3 {
        let at = |values: &[Value; 3]| Value::at3(values, secs, tracks);
        let placement = Placement {
            translate: at(&self.translate),
            rotate: at(&self.rotate),
            scale: at(&self.scale),
        };
        let pivot = DAffine3::from_translation(at(&self.pivot).into());
        let back = DAffine3::from_translation(-pivot.translation);
        pivot * placement.affine() * back
    }

    fn now(&self, now: &Moment<'_>) -> DAffine3 {
        self.affine(now.secs, now.tracks)
    }
}

/// The modifier; it has nothing to prepare.
#[derive(Clone, Copy, Debug)]
pub struct Place;

impl Modifier for Place {
    const KIND: &'static str = "place";
    const STAGES: &'static [Stage] = &[Stage::World];
    const POINTWISE: bool = true;
    type Params = Params;
    type State = Stateless;

    fn prepare(_: &Params, _: &Inputs<'_>) -> Result<Self, String> {
        Ok(Self)
    }

    fn nature(&self, _: &Params) -> Nature {
        Nature { warms_up: true, ..Nature::default() }
    }

    fn begin(&self, _: &Params, _: &Moment<'_>) -> Stateless {
        Stateless {}
    }

    fn map(&self, params: &Params, now: &Moment<'_>, _: &Stateless) -> Option<DAffine3> {
        Some(params.now(now))
    }

    fn deform(
        &self,
        params: &Params,
        now: &Moment<'_>,
        _: &Stateless,
        shape: &mut Shape,
        _: &mut Report,
    ) -> Result<(), Halt> {
        let map = params.now(now);
        now.run.for_each(&mut shape.positions, |_, x| {
            *x = map.transform_point3(x.as_dvec3()).as_vec3();
        });
        Ok(())
    }
}

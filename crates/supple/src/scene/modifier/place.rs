//! `place`: scales, turns and moves a body, constantly or driven by tracks.
//!
//! ```
//! use glam::Vec3;
//! use supple::scene::{Tracks, Value, modifier::{Moment, place}};
//!
//! let params = place::Params { translate: Value::numbers([0.0, 2.0, 0.0]), ..Default::default() };
//! let moment = Moment { secs: 0.0, tracks: &Tracks::new(), eye: None };
//! let map = params.affine(&moment).as_affine3();
//! assert_eq!(map.transform_point3(Vec3::X), Vec3::new(1.0, 2.0, 0.0));
//! ```

use glam::{DAffine3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Moment;
use crate::Run;
use crate::scene::document::{Axes, axes};
use crate::scene::{Placement, Value};

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
    /// The map of space at a moment.
    #[must_use]
    pub fn affine(&self, moment: &Moment<'_>) -> DAffine3 {
        let at = |values: &[Value; 3]| Value::at3(values, moment.secs, moment.tracks);
        let placement = Placement {
            translate: at(&self.translate),
            rotate: at(&self.rotate),
            scale: at(&self.scale),
        };
        let pivot = DAffine3::from_translation(at(&self.pivot).into());
        let back = DAffine3::from_translation(-pivot.translation);
        pivot * placement.affine() * back
    }

    pub(super) fn deform(&self, moment: &Moment<'_>, positions: &mut [Vec3], run: &Run<'_>) {
        let map = self.affine(moment);
        run.for_each(positions, |_, x| *x = map.transform_point3(x.as_dvec3()).as_vec3());
    }
}

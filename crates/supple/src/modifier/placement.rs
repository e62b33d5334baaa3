//! Where something stands: scaled, turned, moved.
//!
//! ```
//! use glam::DVec3;
//! use supple::scene::Placement;
//!
//! let turned = Placement { rotate: [0.0, 0.0, 90.0], ..Placement::default() };
//! let x = turned.affine().transform_point3(DVec3::X);
//! assert!(x.abs_diff_eq(DVec3::Y, 1e-15));
//! ```

use glam::{DAffine3, DQuat, DVec3};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Scale, then rotation, then translation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Placement {
    /// How far to move, in scene units. Default: not at all.
    #[schemars(extend("unit" = "m"))]
    pub translate: [f64; 3],
    /// How to turn about the x, then the y, then the z axis of the world, in degrees. Default: 0.
    #[schemars(extend("unit" = "deg"))]
    pub rotate: [f64; 3],
    /// How much larger to make it, along all axes or along each. Default: 1.
    #[serde(deserialize_with = "axes")]
    #[schemars(with = "Axes<f64>")]
    pub scale: [f64; 3],
}

impl Default for Placement {
    fn default() -> Self {
        Self { translate: [0.0; 3], rotate: [0.0; 3], scale: [1.0; 3] }
    }
}

impl Placement {
    /// As a map of space.
    #[must_use]
    pub fn affine(&self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(
            self.scale.into(),
            turn(self.rotate),
            self.translate.into(),
        )
    }
}

/// The rotation about x, then y, then z of the world, in degrees.
#[must_use]
pub(crate) fn turn(degrees: [f64; 3]) -> DQuat {
    let about = |axis: DVec3, degrees: f64| {
        let (sin, cos) = libm::sincos(0.5 * degrees.to_radians());
        let v = axis * sin;
        DQuat::from_xyzw(v.x, v.y, v.z, cos)
    };
    about(DVec3::Z, degrees[2]) * about(DVec3::Y, degrees[1]) * about(DVec3::X, degrees[0])
}

/// One value for all three axes, or one for each.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Axes<T> {
    /// One for all.
    All(T),
    /// One for each.
    Each([T; 3]),
}

pub(crate) fn axes<'de, D, T>(from: D) -> Result<[T; 3], D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Clone,
{
    Ok(match Axes::<T>::deserialize(from)? {
        Axes::All(value) => [value.clone(), value.clone(), value],
        Axes::Each(values) => values,
    })
}

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
use serde::{Deserialize, Serialize};

use super::document::{Field, Range, Table};
use super::{Problem, Unit};

/// Scale, then rotation, then translation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// How far to move, in scene units. Default: not at all.
    pub translate: [f64; 3],
    /// How to turn about the x, then the y, then the z axis of the world, in degrees. Default: 0.
    pub rotate: [f64; 3],
    /// How much larger to make it along each axis. Default: 1.
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

    pub(super) fn read(table: &Table<'_>) -> Result<Self, Problem> {
        table.only(&["translate", "rotate", "scale"])?;
        let default = Self::default();
        let three = |key: &str, unit, default| {
            table.get(key).map_or(Ok(default), |f| f.numbers3(unit, Range::ANY))
        };
        Ok(Self {
            translate: three("translate", Unit("m"), default.translate)?,
            rotate: three("rotate", Unit("deg"), default.rotate)?,
            scale: table.get("scale").map_or(Ok(default.scale), |f| read_scale(&f))?,
        })
    }
}

/// One factor for all axes or one for each; none may flatten the shape.
fn read_scale(field: &Field<'_>) -> Result<[f64; 3], Problem> {
    let scale = if field.is_array() {
        field.numbers3(Unit(""), Range::ANY)?
    } else {
        [field.number(Unit(""), Range::ANY)?; 3]
    };
    if scale.contains(&0.0) {
        return Err(field.wrong("a scale of 0 flattens the shape", "use a factor other than 0"));
    }
    Ok(scale)
}

/// The rotation about x, then y, then z of the world, in degrees.
#[must_use]
pub(super) fn turn(degrees: [f64; 3]) -> DQuat {
    let about = |axis: DVec3, degrees: f64| {
        let (sin, cos) = libm::sincos(0.5 * degrees.to_radians());
        let v = axis * sin;
        DQuat::from_xyzw(v.x, v.y, v.z, cos)
    };
    about(DVec3::Z, degrees[2]) * about(DVec3::Y, degrees[1]) * about(DVec3::X, degrees[0])
}

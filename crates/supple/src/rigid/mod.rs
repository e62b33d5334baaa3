//! `rigid` and `ragdoll`: bones that fall, swing and return to their rest pose, in the place of a recorded motion.
//!
//! # Method
//!
//! Every joint of a skinned body that has enough vertices of its own becomes a bone: a rigid body with the
//! mass and inertia of the convex hull of those vertices. Bones hang on spherical joints whose motors
//! return them to the rest pose, implicitly, so no stiffness is unstable. Bodies may enter colliders:
//! contact presses them out in proportion to the depth ([`contact`](crate::contact::flesh)), and the
//! deformation takes care of the looks. Contacts are springs and dampers too, and solved implicitly: with `k`
//! and `c` those of the whole body at the contact's frequency, `m` the mass that a bone opposes at the
//! point and `h` the substep, the impulse `λ ≥ 0` satisfies
//!
//! ```text
//! λ/m + λ/(h(c + hk)) + speed = k depth/(c + hk)
//! ```
//!
//! so a light leg stops as soon as a heavy trunk. (An explicit force had to be limited by the bone's mass, and
//! legs went right through bars.)
//!
//! A tick is four substeps ([`SUBSTEPS`](crate::modifier::SUBSTEPS)), contact before each. Nothing is kept from tick to tick but places and velocities ([`RigidState`]),
//! so a state that was stored and restored goes on with the same bits.
//!
//! # References
//!
//! - W. von Funck, H. Theisel, H.-P. Seidel. Elastic Secondary Deformations by Vector Field
//!   Integration. Symposium on Geometry Processing, 2007; section 6.3.

mod modifier;
mod ragdoll;

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contact::collider::Isometry;
use crate::modifier::PathKey;
use crate::rig::Skinning;

pub use modifier::{Falling, Jointed, Rigid};
pub use ragdoll::{Ragdoll, Stepper};

/// How a rigid body or ragdoll behaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Params {
    /// How joints are blended. Default: `linear`.
    pub skinning: Skinning,
    /// Mass of a cubic unit. Default: 1000, as water. Only ratios matter.
    #[schemars(range(min = 1e-3, max = 1e6), extend("unit" = "kg/m3"))]
    pub density: f32,
    /// Acceleration, in scene units a second squared. Default: [0, -9.81, 0].
    #[schemars(with = "[f32; 3]", extend("unit" = "m/s2"))]
    pub gravity: Vec3,
    /// Velocity at the start, in scene units a second. Default: none.
    #[schemars(with = "[f32; 3]", extend("unit" = "m/s"))]
    pub velocity: Vec3,
    /// Rotation at the start, in degrees a second about each axis. Default: none.
    #[schemars(with = "[f32; 3]", extend("unit" = "deg/s"))]
    pub spin: Vec3,
    /// How fast bones swing back to the rest pose, in hertz. Default: 2. 0 leaves them loose.
    #[schemars(range(min = 0.0, max = 50.0), extend("unit" = "Hz"))]
    pub joint_frequency: f32,
    /// How soon that swinging ends: 1 as fast as can be. Default: 0.7.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub joint_damping: f32,
    /// How fast the body bounces on what it touches, in hertz: higher is harder. Default: 10.
    #[schemars(range(min = 0.1, max = 30.0), extend("unit" = "Hz"))]
    pub contact_frequency: f32,
    /// How much of the motion a contact swallows: 1 does not bounce. Default: 0.5.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub contact_damping: f32,
    /// How much contacts hold the body: sliding force per pressing force. Default: 0.4.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub friction: f32,
    /// Share of the motion that is lost in a second, as in air. Default: 0.1.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub drag: f32,
    /// How strongly the held body follows its path, in hertz; for bodies with a path. Default: 2.
    #[schemars(range(min = 0.01, max = 30.0), extend("unit" = "Hz"))]
    pub pull_frequency: f32,
    /// A path that pulls the body (the first bone of a ragdoll) as on a spring; none leaves it free.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub pull: Vec<PathKey>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            skinning: Skinning::Linear,
            density: 1000.0,
            gravity: Vec3::new(0.0, -9.81, 0.0),
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            joint_frequency: 2.0,
            joint_damping: 0.7,
            contact_frequency: 10.0,
            contact_damping: 0.5,
            friction: 0.4,
            drag: 0.1,
            pull_frequency: 2.0,
            pull: Vec::new(),
        }
    }
}

/// Why a body cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RigidError {
    /// No joint has vertices that enclose a volume.
    #[error("nothing in it encloses a volume, so it has no mass: a rigid body needs a solid shape")]
    NoMass,
}

/// Where a bone is and how it moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoneState {
    /// Its centre of mass and rotation.
    pub place: Isometry,
    /// Velocity of the centre of mass.
    pub velocity: Vec3,
    /// Angular velocity, in radians a second.
    pub spin: Vec3,
}

/// All bones of a body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RigidState {
    /// One for each bone.
    pub bones: Vec<BoneState>,
}

impl BoneState {
    /// True while every number is finite.
    fn is_finite(&self) -> bool {
        self.place.translation.is_finite()
            && self.place.rotation.is_finite()
            && self.velocity.is_finite()
            && self.spin.is_finite()
    }
}

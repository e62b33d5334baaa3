//! Keyframed animation: clips of channels that move nodes over time.

use glam::{Quat, Vec3};

/// A named animation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clip {
    /// Name in the file, or empty.
    pub name: String,
    /// What moves.
    pub channels: Vec<Channel>,
}

/// The keys of one property of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Which node.
    pub node: u32,
    /// When, in seconds; strictly increasing, never empty.
    pub times: Vec<f32>,
    /// What the property is at those times.
    pub track: Track,
    /// How it goes from key to key.
    pub interpolation: Interpolation,
}

/// The values of a channel, one a key.
///
/// With [`Interpolation::CubicSpline`] each key has three: in-tangent, value, out-tangent.
#[derive(Clone, Debug, PartialEq)]
pub enum Track {
    /// The node's translation.
    Translation(Vec<Vec3>),
    /// The node's rotation; unit quaternions (tangents need not be unit).
    Rotation(Vec<Quat>),
    /// The node's scale.
    Scale(Vec<Vec3>),
    /// The morph weights of the node's mesh: as many numbers a key as it has targets.
    Weights(Vec<f32>),
}

/// How a channel goes from one key to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Holds each value until the next key.
    Step,
    /// Straight lines; the shorter arc for rotations.
    #[default]
    Linear,
    /// Hermite splines with given tangents.
    CubicSpline,
}

//! Rigs: node hierarchies, keyframes, and the skins that bind meshes to them.

pub mod body;
pub mod keyframes;
pub mod rigid;
pub mod skeleton;
pub mod skin;

pub use body::Body;
// Where these were until contact got a room of its own.
pub use crate::contact::{collider, flesh as contact};
pub use keyframes::{Channel, Clip, Interpolation, SparseWeights, Track};
pub use skeleton::{Hierarchy, Node, Pose, Transform};
pub(crate) use skin::nearest_rotation;
pub use skin::{Palette, Skin, Skinning};

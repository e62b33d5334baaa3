//! Rigs: node hierarchies, keyframes, and the skins that bind meshes to them.

pub mod asset;
pub mod body;
pub mod keyframes;
pub mod remeshing;
pub mod skeleton;
pub mod skin;

pub use body::Body;
pub use keyframes::{Channel, Clip, Interpolation, SparseWeights, Track};
pub use skeleton::{Hierarchy, Node, Pose, Transform};
pub(crate) use skin::nearest_rotation;
pub use skin::{Palette, Skin, Skinning};

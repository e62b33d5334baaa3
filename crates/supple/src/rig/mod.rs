//! Rigs: node hierarchies, keyframes, and the skins that bind meshes to them.

pub mod body;
pub mod keyframes;
pub mod skeleton;
pub mod skin;

pub use keyframes::{Channel, Clip, Interpolation, Track};
pub use skeleton::{Node, Transform};
pub use skin::Skin;

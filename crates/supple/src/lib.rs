//! Supple: shapes that behave like real, incompressible material.
//!
//! Files become an [`Asset`] (module [`io`]); a [`scene`] names assets and what happens to them; the
//! player turns a scene into frames. Everything a capability needs stands below it: meshes in
//! [`mesh`], rigs in [`rig`], and how a call runs (threads, cancellation, progress) in [`run`].

pub mod asset;
pub mod bake;
pub mod blendshape;
pub mod contact;
pub mod field;
pub mod flow;
pub mod hostile;
pub mod io;
mod lengths;
pub mod mesh;
pub mod modifier;
pub mod pathline;
pub mod player;
pub mod procdef;
pub mod rig;
pub mod run;
pub mod scene;
pub mod sculpt;
pub mod secondary;
pub mod skinning;
pub mod smoke;
pub mod sparse;
pub mod spring;
pub mod zoo;

pub use asset::Asset;
pub use mesh::TriMesh;
pub use run::Run;

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

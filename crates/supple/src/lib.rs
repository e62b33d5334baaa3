//! Supple: shapes that behave like real, incompressible material.
//!
//! # A tour
//!
//! **Capabilities.** Each is a folder that stands on the foundations alone and knows no other:
//!
//! | module | does | start at |
//! |---|---|---|
//! | [`sculpt`] | edits by divergence-free vector fields | [`sculpt::apply`], [`sculpt::Op`] |
//! | [`secondary`] | flesh that jiggles on top of any motion | [`secondary::Flesh`], [`secondary::place`] |
//! | [`skinning`] | skinning that keeps volume | [`skinning::Solver`] |
//! | [`blendshape`] | blends as equilibria of springs, with contact | [`blendshape::Solver`] |
//! | [`procdef`] | bodies moved by painted contraction | [`procdef::Body`], [`procdef::Design`] |
//! | [`smoke`] | streak surfaces in recorded flow | [`smoke::Streak`] |
//!
//! [`place`], [`follow`], [`morph`] and [`rigid`] are small ones.
//!
//! Each of the six has a program in the folder `examples`: `cargo run --release -p supple --example sculpt`.
//!
//! **From files to frames.** [`io::read`] turns a file into an [`Asset`]; a [`scene::Scene`] names assets and what
//! happens to them; a [`player::Player`] turns a scene into frames; [`bake`] writes them. What may stand in a scene's
//! list of modifiers implements [`modifier::Modifier`]; `docs/capability.md` adds one in a single file.
//!
//! **Foundations.**
//!
//! | module | holds |
//! |---|---|
//! | [`mesh`] | meshes, tets, shapes with channels; adjacency, normals, volume, distances, remeshing, intersections |
//! | [`field`], [`pathline`] | divergence-free fields, and points carried through them |
//! | [`spring`], [`sparse`] | damped springs and networks of them; sparse symmetric systems |
//! | [`rig`] | skeletons, keyframes, skins; [`rig::Body`]: any asset as one skinned mesh |
//! | [`contact`] | colliders, obstacles, and what happens where bodies touch |
//! | [`dataset`], [`flow`] | recordings as their files have them, and velocity over space and time |
//! | [`zoo`] | procedural models, rigs, solids and flows: the same bits everywhere |
//! | [`run`] | threads, cancellation, progress: how a call runs, never what it computes |
//!
//! **Equations.** Numbers such as (2.5) in the text of a module are the thesis' (W. von Funck, 2008), where its printed form is
//! implemented or replaced; the papers' own stand with the paper. A search for one finds its line.
//!
//! [`hostile`] holds altered files and random scenes against all of it.

pub mod bake;
pub mod blendshape;
pub mod contact;
pub mod dataset;
pub mod field;
pub mod flow;
pub mod follow;
pub mod hostile;
pub mod io;
mod lanes;
mod lengths;
pub mod mesh;
pub mod modifier;
pub mod morph;
pub mod pathline;
pub mod place;
pub mod player;
pub mod procdef;
pub mod rig;
#[cfg(feature = "rigid")]
pub mod rigid;
mod rows;
pub mod run;
pub mod scene;
pub mod sculpt;
pub mod secondary;
pub mod skinning;
pub mod smoke;
pub mod sparse;
pub mod spring;
pub mod zoo;

pub use mesh::TriMesh;
pub use rig::asset::{self, Asset};
pub use run::Run;

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

//! Files: one module a format, one [`read`] and one [`write`](write()) for all of them.
//!
//! Bodies of tets come in by [`read_tets`] and go out by [`write_tets`](write_tets()).
//!
//! Recorded flows come in by [`Recording::open`](crate::flow::recording::Recording::open), through the same folder.
//!
//! A reader works on bytes and returns an [`Asset`](crate::Asset) with warnings, or a [`Malformed`]
//! that says what is wrong, where, and what to do. It never allocates more than the file's size
//! justifies: counts that a file claims are checked against the bytes it has.

pub mod amira;
pub mod dolfin;
pub mod ensight;
pub mod gltf;
pub mod gmsh;
pub mod gzip;
pub mod levels;
pub mod makehuman;
pub mod mdd;
pub mod medit;
pub mod netcdf;
pub mod nrrd;
pub mod obj;
pub mod off;
pub mod openfoam;
pub mod pc2;
pub mod piv;
pub mod ply;
pub mod raw;
pub mod stl;
pub mod take;
pub mod tetgen;
pub mod tets;
pub mod uri;
pub mod usd;
pub mod vtk;
pub mod vtk_tets;
pub mod vtk_xml;
pub mod vtkhdf;
pub mod vtp;
pub mod xdmf;

pub(crate) mod color;
mod error;
mod file;
mod finish;
mod hdf5;
pub mod inputs;
mod number;
mod polygon;
pub(crate) mod rows;
mod save;
mod text;

pub use color::round_all as round_colors;
pub use error::{Malformed, Place, ReadError, Warning, WriteError};
pub use file::{Format, Loaded, ReadOptions, read, write};
use finish::{finish, finish_cloud};
pub use inputs::{check_output, protect_inputs};
pub use save::{Temporary, discard_unfinished, save};
pub use take::Take;
pub use tets::{LoadedTets, TetFormat, is_tets, read_tets, write_tets};

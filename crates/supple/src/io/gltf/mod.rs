//! glTF 2.0, text and binary.
//!
//! Reading gives everything an [`Asset`](crate::Asset) can hold: meshes with all their attributes,
//! skin weights in any number of sets, morph targets, the node hierarchy, skins, animations, cameras,
//! materials and base colour pictures. Views may be compressed as `EXT_meshopt_compression` and
//! `KHR_meshopt_compression` have it. What cannot be kept is told in a warning.
//!
//! | in the file | in Supple |
//! |---|---|
//! | a mesh with primitives | one mesh, a [`Group`](crate::mesh::Group) a primitive |
//! | `NORMAL`, `TANGENT`, `TEXCOORD_n`, `COLOR_n` | `normal`, `tangent`, `uv`/`uv1`…, `color`/`color1`… |
//! | `_NAME` | the painted attribute `NAME` |
//! | `JOINTS_n`, `WEIGHTS_n` | [`SkinWeights`](crate::mesh::SkinWeights), all sets in one |
//! | `extras.targetNames` | names of the morph targets |
//! | mode `POINTS` | a [`PointCloud`](crate::mesh::PointCloud) |

mod accessor;
mod buffer;
mod camera;
mod clip;
mod container;
mod document;
mod material;
mod mesh;
mod meshopt;
mod read;
mod scene;
mod takes;
mod write;
mod write_mesh;

pub use read::read;
pub use takes::write_takes;
pub use write::{write_glb, write_gltf};

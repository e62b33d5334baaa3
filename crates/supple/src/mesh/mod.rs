//! Geometry: what a shape is made of and what can be asked of it.

pub mod adjacency;
pub mod attribute;
pub mod bvh;
pub mod embedding;
pub mod exact_volume;
pub mod folding;
pub mod geodesic;
pub mod intersect;
pub mod measure;
pub mod normals;
pub mod points;
pub mod refine;
pub mod remesh;
pub mod repair;
pub mod retreat;
#[cfg(test)]
mod sample;
pub mod section;
pub mod shading;
pub mod shape;
pub mod skin_weights;
pub mod surface_frames;
pub mod tangents;
pub mod tet;
pub mod tetrahedralize;
pub mod tri;
pub mod untangle;
pub mod volume;
pub mod welding;
pub mod winding;

pub use attribute::{Attribute, Attributes, Values};
pub use points::PointCloud;
pub use shape::{Shape, Topology};
pub use skin_weights::SkinWeights;
pub use tet::TetMesh;
pub use tri::{CornerAttribute, Group, MorphTarget, TriMesh};

//! A shape: how vertices hang together, where they are, and named values on them.
//!
//! This is what modifiers change and frames hand out. The topology is shared: whoever looks at two frames sees by
//! [`Arc::ptr_eq`] that nothing but positions and channels changed. Normals are not part of a shape; they follow from it.
//!
//! ```
//! use std::sync::Arc;
//! use glam::Vec3;
//! use supple::mesh::{Shape, Topology, Values};
//!
//! let mut shape = Shape::default();
//! shape.positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
//! shape.topology = Arc::new(Topology::Triangles(vec![[0, 1, 2]]));
//! shape.channels.set("heat", Values::Scalar(vec![0.0, 0.5, 1.0]));
//! assert_eq!(shape.check(), Ok(()));
//! assert_eq!(shape.topology.triangles().len(), 1);
//! ```

use std::sync::Arc;

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::{Attributes, TriMesh};

/// How vertices hang together. A closed set: every writer and the renderer know each kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Topology {
    /// Not at all.
    #[default]
    Points,
    /// Polylines: where each ends and the next begins; the last entry is the number of vertices.
    Curves(Vec<u32>),
    /// A surface.
    Triangles(Vec<[u32; 3]>),
    /// A solid: its nodes first, then the vertices of the skin, each of which follows four nodes. One array of
    /// positions, so that a deformation of space moves both alike.
    Tets {
        /// Tetrahedra of nodes.
        tets: Vec<[u32; 4]>,
        /// Triangles of the skin.
        skin: Vec<[u32; 3]>,
        /// For each vertex of the skin, the nodes it follows and their weights.
        embedding: Vec<([u32; 4], [f32; 4])>,
    },
}

impl Topology {
    /// The triangles that are drawn and written.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        match self {
            Self::Triangles(triangles) | Self::Tets { skin: triangles, .. } => triangles,
            Self::Points | Self::Curves(_) => &[],
        }
    }
}

/// A body at rest, or at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// How the vertices hang together.
    pub topology: Arc<Topology>,
    /// Where they are.
    pub positions: Vec<Vec3>,
    /// Named values, one a vertex: attributes of a body at rest, channels of a frame.
    pub channels: Attributes,
}

/// Why a shape makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// Something names a vertex that is not there.
    #[error("{what} names vertex {vertex}, but there are {count}")]
    NoVertex {
        /// `a triangle`, `a curve`, `a tet`.
        what: &'static str,
        /// What it names.
        vertex: u32,
        /// How many there are.
        count: usize,
    },
    /// A channel has not one value a vertex.
    #[error("channel '{name}' has {values} values for {count} vertices")]
    WrongChannel {
        /// Which channel.
        name: String,
        /// How many values it has.
        values: usize,
        /// How many vertices there are.
        count: usize,
    },
}

impl Shape {
    /// A surface with its attributes.
    #[must_use]
    pub fn of_mesh(mesh: &TriMesh) -> Self {
        Self {
            topology: Arc::new(Topology::Triangles(mesh.triangles.clone())),
            positions: mesh.positions.clone(),
            channels: mesh.attributes.clone(),
        }
    }

    /// Checks that everything names vertices that are there, and that channels have a value for each.
    ///
    /// # Errors
    ///
    /// [`ShapeError`], the first one found.
    pub fn check(&self) -> Result<(), ShapeError> {
        let count = self.positions.len();
        match &*self.topology {
            Topology::Points => {}
            Topology::Curves(ends) => named("a curve", ends, count + 1)?,
            Topology::Triangles(t) => named("a triangle", t.as_flattened(), count)?,
            Topology::Tets { tets, skin, embedding } => {
                named("a tet", tets.as_flattened(), count)?;
                named("a triangle", skin.as_flattened(), count)?;
                embedding.iter().try_for_each(|e| named("an embedded vertex", &e.0, count))?;
            }
        }
        let wrong = self.channels.iter().find(|c| c.values.len() != count);
        wrong.map_or(Ok(()), |c| {
            let (name, values) = (c.name.clone(), c.values.len());
            Err(ShapeError::WrongChannel { name, values, count })
        })
    }
}

/// Refuses vertices that are not below `count`.
fn named(what: &'static str, vertices: &[u32], count: usize) -> Result<(), ShapeError> {
    // The largest first, without a branch for each: frames of large bodies are checked one by one.
    let largest = vertices.iter().fold(0, |largest, &i| if i > largest { i } else { largest });
    if vertices.is_empty() || (largest as usize) < count {
        return Ok(());
    }
    let wrong = vertices.iter().find(|&&i| i as usize >= count);
    wrong.map_or(Ok(()), |&vertex| Err(ShapeError::NoVertex { what, vertex, count }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Values;

    #[test]
    fn what_names_no_vertex_is_refused() {
        let shape = |topology| Shape {
            topology: Arc::new(topology),
            positions: vec![Vec3::ZERO; 4],
            ..Shape::default()
        };
        assert_eq!(shape(Topology::Curves(vec![2, 4])).check(), Ok(()));
        let wrong = shape(Topology::Triangles(vec![[0, 1, 4]])).check().unwrap_err();
        assert_eq!(wrong.to_string(), "a triangle names vertex 4, but there are 4");
        let (tets, skin, embedding) = (vec![[0, 1, 2, 3]], vec![], vec![([0, 1, 2, 9], [0.25; 4])]);
        let wrong = shape(Topology::Tets { tets, skin, embedding }).check().unwrap_err();
        assert!(wrong.to_string().contains("vertex 9"), "{wrong}");
        let mut painted = shape(Topology::Points);
        painted.channels.set("heat", Values::Scalar(vec![0.0; 3]));
        let wrong = painted.check().unwrap_err().to_string();
        assert_eq!(wrong, "channel 'heat' has 3 values for 4 vertices");
    }
}

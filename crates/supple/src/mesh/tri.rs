//! Triangle meshes with named attributes, skin weights and morph targets.

use std::ops::Range;

use glam::Vec3;

use super::{Attributes, SkinWeights, Values};

/// A triangle mesh.
///
/// One entry of `positions` is one vertex, in the order of the file it came from. What may differ
/// between the triangles around a vertex (texture coordinates at a seam, split normals) is a
/// [`CornerAttribute`]: a seam never doubles a vertex, so a closed shape stays closed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Name in the file, or empty.
    pub name: String,
    /// Where the vertices are.
    pub positions: Vec<Vec3>,
    /// Three vertices each, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// One value a vertex each.
    pub attributes: Attributes,
    /// Values that differ between the corners at one vertex.
    pub corners: Vec<CornerAttribute>,
    /// Runs of triangles with a name or a material of their own; empty, or covering every triangle
    /// in order.
    pub groups: Vec<Group>,
    /// Which joints of the skin move each vertex.
    pub skin_weights: Option<SkinWeights>,
    /// Shapes this mesh can blend to.
    pub morphs: Vec<MorphTarget>,
}

/// An attribute with an index list of its own: corner `k` of triangle `t` has value
/// `values[triangles[t][k]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct CornerAttribute {
    /// What the values are; the names of [`attribute`](super::attribute).
    pub name: String,
    /// The distinct values.
    pub values: Values,
    /// Which value each corner has; as many rows as the mesh has triangles.
    pub triangles: Vec<[u32; 3]>,
}

/// A run of triangles that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Name in the file, or empty.
    pub name: String,
    /// Which triangles.
    pub triangles: Range<u32>,
    /// Index into the asset's materials.
    pub material: Option<u32>,
}

/// A shape a mesh can blend to, as displacements from the mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MorphTarget {
    /// Name in the file, or empty.
    pub name: String,
    /// Displacement of each vertex at weight one.
    pub positions: Vec<Vec3>,
    /// Change of each normal at weight one, if the file gives it.
    pub normals: Option<Vec<Vec3>>,
    /// Weight in the rest shape.
    pub weight: f32,
}

/// What makes a [`TriMesh`] inconsistent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Defect {
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} names vertex {vertex}, but the mesh has {vertices} vertices")]
    IndexOutOfRange {
        /// Which triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many there are.
        vertices: usize,
    },
    /// A position is NaN or infinite.
    #[error("vertex {vertex} is not finite: {position}")]
    NotFinite {
        /// Which vertex.
        vertex: usize,
        /// Its position.
        position: Vec3,
    },
    /// A list that must have one entry a vertex or a triangle has not.
    #[error("{what} has {found} entries where {expected} are needed")]
    WrongLength {
        /// Which list.
        what: String,
        /// Its length.
        found: usize,
        /// The length it must have.
        expected: usize,
    },
}

impl TriMesh {
    /// A mesh of positions and triangles alone.
    #[must_use]
    pub fn new(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Self {
        Self { positions, triangles, ..Self::default() }
    }

    /// The three corners of a triangle.
    #[must_use]
    pub fn corners_of(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|i| self.positions[i as usize])
    }

    /// Checks that every index is in range, every position finite, and every list as long as it
    /// must be. Readers run it on all they return; algorithms may rely on it.
    ///
    /// # Errors
    ///
    /// The first [`Defect`] found.
    pub fn validate(&self) -> Result<(), Defect> {
        let vertices = self.positions.len();
        check_finite(&self.positions)?;
        check_indices(&self.triangles, vertices)?;
        for a in &self.attributes {
            check_length(|| format!("attribute '{}'", a.name), a.values.len(), vertices)?;
        }
        for c in &self.corners {
            let what = || format!("corner attribute '{}'", c.name);
            check_length(what, c.triangles.len(), self.triangles.len())?;
            check_indices(&c.triangles, c.values.len())?;
        }
        if let Some(skin) = &self.skin_weights {
            check_length(|| "skin weights".to_owned(), skin.len(), vertices)?;
        }
        for m in &self.morphs {
            let what = || format!("morph target '{}'", m.name);
            check_length(what, m.positions.len(), vertices)?;
            if let Some(normals) = &m.normals {
                check_length(what, normals.len(), vertices)?;
            }
            check_finite(&m.positions)?;
        }
        self.check_groups()
    }

    fn check_groups(&self) -> Result<(), Defect> {
        let mut covered = 0;
        for group in &self.groups {
            let what = || format!("the groups before '{}'", group.name);
            check_length(what, covered, group.triangles.start as usize)?;
            covered = group.triangles.end as usize;
        }
        if self.groups.is_empty() {
            return Ok(());
        }
        check_length(|| "the list of groups".to_owned(), covered, self.triangles.len())
    }
}

fn check_length(
    what: impl FnOnce() -> String,
    found: usize,
    expected: usize,
) -> Result<(), Defect> {
    if found == expected {
        return Ok(());
    }
    Err(Defect::WrongLength { what: what(), found, expected })
}

fn check_finite(positions: &[Vec3]) -> Result<(), Defect> {
    // All bits of the exponent are set in NaN and infinity, and only there. One pass without a
    // branch a vertex; the offender is looked for only if there is one.
    let exponent = |x: &f32| x.to_bits() & f32::INFINITY.to_bits();
    let coordinates: &[f32] = bytemuck::cast_slice(positions);
    if coordinates.iter().map(exponent).max() < Some(f32::INFINITY.to_bits()) {
        return Ok(());
    }
    match positions.iter().position(|p| !p.is_finite()) {
        Some(vertex) => Err(Defect::NotFinite { vertex, position: positions[vertex] }),
        None => Ok(()),
    }
}

fn check_indices(triangles: &[[u32; 3]], vertices: usize) -> Result<(), Defect> {
    // One pass without a branch a corner; the offender is looked for only if there is one.
    if triangles.as_flattened().iter().max().is_none_or(|&i| (i as usize) < vertices) {
        return Ok(());
    }
    for (triangle, corners) in triangles.iter().enumerate() {
        for &vertex in corners {
            if vertex as usize >= vertices {
                return Err(Defect::IndexOutOfRange { triangle, vertex, vertices });
            }
        }
    }
    Ok(())
}

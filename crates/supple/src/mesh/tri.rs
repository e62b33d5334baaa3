//! Triangle meshes with named attributes, skin weights and morph targets.

use std::collections::HashMap;
use std::ops::Range;

use glam::Vec3;

use super::attribute::{UV, flip_if_uv, set_number};
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

    /// Replaces the vertices by those at `indices`, in that order, with all that travels with them.
    /// The triangles are left for the caller to rename.
    ///
    /// # Panics
    ///
    /// If an index is out of range.
    pub fn gather_vertices(&mut self, indices: &[u32]) {
        fn pick(values: &[Vec3], indices: &[u32]) -> Vec<Vec3> {
            indices.iter().map(|&i| values[i as usize]).collect()
        }
        self.positions = pick(&self.positions, indices);
        let mut gathered = Attributes::default();
        for attribute in &self.attributes {
            gathered.set(attribute.name.clone(), attribute.values.gather(indices));
        }
        self.attributes = gathered;
        self.skin_weights = self.skin_weights.as_ref().map(|skin| skin.gather(indices));
        for morph in &mut self.morphs {
            morph.positions = pick(&morph.positions, indices);
            morph.normals = morph.normals.as_ref().map(|normals| pick(normals, indices));
        }
    }

    /// Drops the triangles for which `keep` is false, with their corner values; groups shrink, and
    /// stay even if nothing is left in them.
    ///
    /// # Panics
    ///
    /// If `keep` is shorter than the list of triangles.
    pub fn retain_triangles(&mut self, keep: &[bool]) {
        let filter = |rows: &mut Vec<[u32; 3]>| {
            let mut keep = keep.iter();
            rows.retain(|_| *keep.next().expect("one answer a triangle"));
        };
        filter(&mut self.triangles);
        self.corners.iter_mut().for_each(|corner| filter(&mut corner.triangles));
        let mut start = 0;
        for group in &mut self.groups {
            let range = group.triangles.start as usize..group.triangles.end as usize;
            let kept = keep[range].iter().filter(|k| **k).count() as u32;
            group.triangles = start..start + kept;
            start += kept;
        }
    }

    /// The same mesh with all corner attributes as vertex attributes, for formats that know only
    /// those, and the vertex of this mesh each of its vertices comes from.
    ///
    /// A vertex whose corners all have equal values keeps its index; of the others the first corner
    /// keeps it, and copies for the rest are appended at the end. A corner attribute takes the place
    /// of a vertex attribute of the same name.
    #[must_use]
    pub fn split_seams(&self) -> (Self, Vec<u32>) {
        let seams = Seams::new(self);
        let mut split = self.clone();
        split.corners.clear();
        split.triangles.clone_from(&seams.triangles);
        split.gather_vertices(&seams.source);
        for (corner, picked) in self.corners.iter().zip(&seams.values) {
            if !corner.values.is_empty() {
                split.attributes.set(corner.name.clone(), corner.values.gather(picked));
            }
        }
        (split, seams.source)
    }

    /// Whether there are texture coordinates.
    #[must_use]
    pub fn has_uvs(&self) -> bool {
        let corners = self.corners.iter().map(|c| &c.name);
        let mut names = self.attributes.iter().map(|a| &a.name).chain(corners);
        names.any(|name| set_number(name, UV).is_some())
    }

    /// Counts the v of all texture coordinates from the other end: 1 − v for v.
    pub fn flip_uvs(&mut self) {
        let corners = self.corners.iter_mut().map(|c| (c.name.as_str(), &mut c.values));
        for (name, values) in self.attributes.values_mut().chain(corners) {
            flip_if_uv(name, values);
        }
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

/// Which vertices a mesh needs so that each has one value of every corner attribute.
struct Seams {
    triangles: Vec<[u32; 3]>,
    /// The vertex each comes from.
    source: Vec<u32>,
    /// For each corner attribute the value of each vertex; zero where no corner gives one.
    values: Vec<Vec<u32>>,
}

impl Seams {
    fn new(mesh: &TriMesh) -> Self {
        let vertices = mesh.positions.len() as u32;
        // One number for each distinct combination of a vertex and its corner values so far.
        let mut combination = mesh.triangles.clone();
        let mut count = vertices;
        for corner in &mesh.corners {
            let equal = first_equal(&corner.values);
            let mut seen = HashMap::new();
            let rows = combination.as_flattened_mut().iter_mut();
            for (c, &value) in rows.zip(corner.triangles.as_flattened()) {
                let next = seen.len() as u32;
                *c = *seen.entry((*c, equal[value as usize])).or_insert(next);
            }
            count = seen.len() as u32;
        }
        Self::named(mesh, &combination, if mesh.corners.is_empty() { 0 } else { count })
    }

    /// Gives each of `count` combinations a vertex: its own if it is the first there.
    fn named(mesh: &TriMesh, combination: &[[u32; 3]], count: u32) -> Self {
        let mut source: Vec<u32> = (0..mesh.positions.len() as u32).collect();
        let mut values = vec![vec![0; source.len()]; mesh.corners.len()];
        let mut triangles = mesh.triangles.clone();
        let mut name = vec![u32::MAX; count as usize];
        let mut taken = vec![false; source.len()];
        let corners = (0..3 * combination.len()).map(|i| (i / 3, i % 3));
        for (t, k) in corners.filter(|_| count > 0) {
            let name = &mut name[combination[t][k] as usize];
            if *name == u32::MAX {
                let vertex = mesh.triangles[t][k];
                *name = vertex;
                if std::mem::replace(&mut taken[vertex as usize], true) {
                    *name = source.len() as u32;
                    source.push(vertex);
                    values.iter_mut().for_each(|picked| picked.push(0));
                }
                for (picked, corner) in values.iter_mut().zip(&mesh.corners) {
                    picked[*name as usize] = corner.triangles[t][k];
                }
            }
            triangles[t][k] = *name;
        }
        Self { triangles, source, values }
    }
}

/// For each value the first one equal to it.
fn first_equal(values: &Values) -> Vec<u32> {
    let (floats, width) = (values.as_floats(), values.width());
    let bits = |i: u32| floats[i as usize * width..][..width].iter().map(|x| (x + 0.0).to_bits());
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| bits(a).cmp(bits(b)).then(a.cmp(&b)));
    let mut first = vec![0; order.len()];
    for same in order.chunk_by(|&a, &b| bits(a).eq(bits(b))) {
        for &i in same {
            first[i as usize] = same[0];
        }
    }
    first
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

#[cfg(test)]
mod tests {
    use glam::Vec2;

    use super::*;

    /// Two triangles of a square whose texture is cut along the diagonal 0–2.
    fn square() -> TriMesh {
        let mut mesh =
            TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::ONE, Vec3::Y], vec![[0, 1, 2], [0, 2, 3]]);
        let uv = [0.0, 0.25, 0.5, 0.75, 0.5].map(Vec2::splat).to_vec();
        mesh.corners.push(CornerAttribute {
            name: UV.to_owned(),
            values: Values::Vec2(uv),
            triangles: vec![[0, 1, 2], [3, 4, 1]],
        });
        mesh.attributes.set("weight", Values::Scalar(vec![1.0, 2.0, 3.0, 4.0]));
        let mut skin = SkinWeights::default();
        (0..4).for_each(|joint| skin.push([(joint, 1.0)]));
        mesh.skin_weights = Some(skin);
        mesh.groups = vec![
            Group { triangles: 0..1, ..Group::default() },
            Group { triangles: 1..2, ..Group::default() },
        ];
        mesh
    }

    #[test]
    fn seams_split_only_where_values_differ() {
        let mesh = square();
        let (split, source) = mesh.split_seams();
        assert_eq!(split.validate(), Ok(()));
        // Vertex 2 has values 2 and 4, which are equal; vertex 0 has 0 and 3, which are not.
        assert_eq!(source, [0, 1, 2, 3, 0]);
        assert_eq!(split.triangles, [[0, 1, 2], [4, 2, 3]]);
        let uv = [0.0, 0.25, 0.5, 0.25, 0.75].map(Vec2::splat).to_vec();
        assert_eq!(split.attributes.get(UV), Some(&Values::Vec2(uv)));
        assert_eq!(split.attributes.scalar("weight"), Some(&[1.0, 2.0, 3.0, 4.0, 1.0][..]));
        assert_eq!(split.skin_weights.unwrap().of(4).collect::<Vec<_>>(), [(0, 1.0)]);
        assert!(split.corners.is_empty(), "nothing is left at corners");
    }

    #[test]
    fn without_corner_attributes_splitting_changes_nothing() {
        let mut mesh = square();
        mesh.corners.clear();
        assert_eq!(mesh.split_seams(), (mesh.clone(), vec![0, 1, 2, 3]));
    }

    #[test]
    fn dropping_triangles_shrinks_groups_and_corners() {
        let mut mesh = square();
        mesh.retain_triangles(&[false, true]);
        assert_eq!(mesh.validate(), Ok(()));
        assert_eq!(mesh.triangles, [[0, 2, 3]]);
        assert_eq!(mesh.corners[0].triangles, [[3, 4, 1]]);
        assert_eq!((&mesh.groups[0].triangles, &mesh.groups[1].triangles), (&(0..0), &(0..1)));
    }
}

//! The parts of a body one at a time: what can be told of an asset without a copy of a mesh for each node that
//! carries it.

use glam::{Mat4, Vec3};

use super::merge::{Building, Instance, instances};
use super::{BodyError, active_morphs, overflowing};
use crate::rig::{Hierarchy, Palette, Pose, Skinning};
use crate::{Asset, Run};

/// All instances of meshes of an asset.
///
/// ```
/// use glam::Vec3;
/// use supple::rig::Node;
/// use supple::rig::body::Parts;
/// use supple::{Asset, Run, TriMesh};
///
/// let triangle = TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]);
/// let mut asset = Asset::from_mesh(triangle);
/// asset.nodes.resize(1000, Node { mesh: Some(0), ..Node::default() });
/// let parts = Parts::of(&asset)?;
/// assert_eq!(parts.len(), 1000);
/// assert_eq!(parts.surface(7, &Run::default())?.positions[1], Vec3::X);
/// # Ok::<(), supple::rig::body::BodyError>(())
/// ```
#[derive(Debug)]
pub struct Parts<'a> {
    asset: &'a Asset,
    instances: Vec<Instance<'a>>,
    rest: Pose,
    /// From each node to the world, at rest.
    globals: Vec<Mat4>,
}

/// Where an instance is at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct InstanceSurface {
    /// Where its vertices are.
    pub positions: Vec<Vec3>,
    /// Counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl<'a> Parts<'a> {
    /// Finds the parts, and checks all that [`Body::from_asset`](super::Body::from_asset) checks.
    ///
    /// # Errors
    ///
    /// [`BodyError`] if there is no mesh, or nodes, skins and meshes do not fit together.
    pub fn of(asset: &'a Asset) -> Result<Self, BodyError> {
        let hierarchy = Hierarchy::new(&asset.nodes)?;
        let instances = instances(asset)?;
        let mut building = Building::default();
        for instance in &instances {
            building.joints_of(asset, instance)?;
        }
        let rest = Pose::rest(asset);
        let globals = hierarchy.globals(&rest.locals);
        let reach = asset.meshes.iter().map(|m| farthest(&m.positions)).fold(0.0, f32::max);
        if let Some(node) = overflowing(&hierarchy, &globals, &building.joints, reach) {
            let name = asset.nodes[node as usize].name.clone();
            return Err(BodyError::Overflow { node, name });
        }
        Ok(Self { asset, instances, rest, globals })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.instances.len()
    }

    /// Never: an asset without a mesh has no parts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }

    /// Part `index` at rest, in the order of the nodes.
    ///
    /// # Errors
    ///
    /// None for parts that were found.
    ///
    /// # Panics
    ///
    /// If there is no such part.
    pub fn surface(&self, index: usize, run: &Run<'_>) -> Result<InstanceSurface, BodyError> {
        Ok(self.placed(index, run)?.0)
    }

    /// Which mesh part `index` shows.
    pub(crate) fn mesh(&self, index: usize) -> usize {
        self.instances[index].node.mesh.map_or(0, |mesh| mesh as usize)
    }

    /// Part `index` at rest, and the matrix that takes its mesh there, if one does and can be undone.
    pub(crate) fn placed(
        &self,
        index: usize,
        run: &Run<'_>,
    ) -> Result<(InstanceSurface, Option<Mat4>), BodyError> {
        let instance = &self.instances[index];
        let mut building = Building::default();
        let joints = building.bind(self.asset, instance)?;
        building.add_part(instance, joints, &self.globals);
        let mut bound = building.mesh.positions;
        for (morph, weight) in active_morphs(&building.morphs, &self.rest) {
            run.for_each(&mut bound, |i, x| *x += weight * morph.positions[i]);
        }
        let matrix = |j: &super::Joint| self.globals[j.node as usize] * j.inverse_bind;
        let matrices: Vec<Mat4> = building.joints.iter().map(matrix).collect();
        let palette = Palette::new(&matrices, Skinning::Linear);
        let positions = palette.positions(&bound, &building.weights, run);
        let heaviest = (!positions.is_empty())
            .then(|| building.weights.of(0).max_by(|a, b| a.1.total_cmp(&b.1)))
            .flatten();
        let matrix = heaviest.map(|(joint, _)| matrices[joint as usize]);
        let matrix = matrix.filter(|m| takes(m, &instance.mesh.positions, &positions));
        Ok((InstanceSurface { positions, triangles: building.mesh.triangles }, matrix))
    }
}

/// How far from where a matrix takes points they may be, as a share of the largest coordinate.
const SAME: f32 = 1e-5;

/// Whether a matrix that can be undone takes points there.
fn takes(matrix: &Mat4, from: &[Vec3], to: &[Vec3]) -> bool {
    let most = SAME * farthest(to);
    let near =
        |(a, b): (&Vec3, &Vec3)| matrix.transform_point3(*a).distance_squared(*b) <= most * most;
    matrix.inverse().is_finite() && from.iter().zip(to).all(near)
}

/// The largest coordinate.
pub(super) fn farthest(positions: &[Vec3]) -> f32 {
    positions.iter().fold(0.0, |m: f32, x| m.max(x.abs().max_element()))
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::rig::{Body, Transform};
    use crate::zoo;

    /// Part by part is what the body is at rest, to the bit: skinned, morphed, mirrored, repeated.
    #[test]
    fn parts_are_what_the_body_is_made_of() {
        let run = Run::default();
        for name in ["rigged-bar", "morph-bar", "cow"] {
            let size = zoo::Size { triangles: Some(300) };
            let mut asset = zoo::build(name, &size, &run).unwrap();
            let carrier = asset.nodes.iter().position(|n| n.mesh.is_some()).unwrap();
            let node = crate::rig::Node {
                skin: None,
                parent: None,
                local: Transform::Trs {
                    translation: Vec3::new(1.0, 2.0, 3.0),
                    rotation: Quat::from_rotation_y(0.4),
                    scale: Vec3::new(-1.0, 1.5, 1.0),
                },
                ..asset.nodes[carrier].clone()
            };
            asset.nodes.push(node);
            let whole = Body::from_asset(&asset).unwrap().rest_mesh(&run);
            let parts = Parts::of(&asset).unwrap();
            let (mut positions, mut triangles) = (Vec::new(), Vec::new());
            for i in 0..parts.len() {
                let surface = parts.surface(i, &run).unwrap();
                let base = positions.len() as u32;
                triangles.extend(surface.triangles.iter().map(|t| t.map(|v| v + base)));
                positions.extend(surface.positions);
            }
            assert_eq!(positions, whole.positions, "{name}");
            assert_eq!(triangles, whole.triangles, "{name}");
        }
    }
}

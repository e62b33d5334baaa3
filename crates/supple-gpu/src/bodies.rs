//! The meshes of a file where its nodes place them.

use glam::Mat4;
use supple::Asset;

use crate::view::{Body, Paint};

/// The bodies of a file at rest.
///
/// There is one for each node with a mesh, and one for each mesh that no node places. What a skin moves stands where the mesh has it; give
/// [`Body::positions`] to show it posed.
#[must_use]
pub fn bodies_of<'a>(asset: &'a Asset, paints: &[Paint]) -> Vec<Body<'a>> {
    let mut placed = vec![false; asset.meshes.len()];
    let mut bodies = Vec::new();
    for (i, node) in asset.nodes.iter().enumerate() {
        let Some(mesh) = node.mesh.and_then(|m| asset.meshes.get(m as usize)) else { continue };
        placed[node.mesh.unwrap_or_default() as usize] = true;
        let transform =
            if node.skin.is_some() { Mat4::IDENTITY } else { world_from_node(asset, i) };
        bodies.push(Body { transform, paints: paints.to_vec(), ..Body::new(mesh) });
    }
    for (mesh, _) in asset.meshes.iter().zip(&placed).filter(|(_, placed)| !**placed) {
        bodies.push(Body { paints: paints.to_vec(), ..Body::new(mesh) });
    }
    bodies
}

/// From the space of a node to the scene's, at rest.
fn world_from_node(asset: &Asset, node: usize) -> Mat4 {
    let mut matrix = Mat4::IDENTITY;
    let mut at = asset.nodes.get(node);
    // A forest has no path longer than its nodes.
    for _ in 0..asset.nodes.len() {
        let Some(node) = at else { break };
        matrix = node.local.matrix() * matrix;
        at = node.parent.and_then(|p| asset.nodes.get(p as usize));
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use supple::TriMesh;
    use supple::rig::{Node, Transform};

    #[test]
    fn nodes_place_meshes_and_no_mesh_is_forgotten() {
        let node = |parent, mesh, x| Node {
            parent,
            mesh,
            local: Transform::from_translation(Vec3::X * x),
            ..Node::default()
        };
        let asset = Asset {
            meshes: vec![TriMesh::default(); 2],
            nodes: vec![
                node(Some(1), Some(0), 1.0),
                node(None, None, 2.0),
                node(None, Some(0), 5.0),
            ],
            ..Asset::default()
        };
        let xs: Vec<f32> = bodies_of(&asset, &[]).iter().map(|b| b.transform.w_axis.x).collect();
        assert_eq!(xs, [3.0, 5.0, 0.0]);
    }
}

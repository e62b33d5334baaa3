//! An asset as one mesh bound to one palette of joints: what the player moves.
//!
//! # Method
//!
//! Every node that carries a mesh gives one [`Part`]: a copy of the mesh, so that each instance moves on
//! its own. A skinned part is bound to its skin's joints; the node's own transform does not count, as
//! glTF says. A rigid part is bound with weight one to its node, in the node's space. After that there
//! is only one kind of thing: a mesh, weights, and joints with inverse bind matrices. Morph targets keep
//! to the vertices of their part, so that instances cost no more than they have vertices.
//!
//! A part that is mirrored at rest has its triangles turned round, so that they are counter-clockwise
//! seen from outside in the posed mesh. Parts that lack an attribute others have get zeros (white for
//! colours, computed ones for normals).
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::{Asset, Run, TriMesh};
//! use supple::rig::{Body, Skinning, Transform};
//!
//! let triangle = TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]);
//! let mut asset = Asset::from_mesh(triangle);
//! asset.nodes[0].local = Transform::from_translation(Vec3::Z);
//! let body = Body::from_asset(&asset)?;
//! let positions = body.pose(body.rest_pose(), Skinning::Linear, &Run::default());
//! assert_eq!(positions[0], Vec3::Z);
//! # Ok::<(), supple::rig::body::BodyError>(())
//! ```

mod merge;
mod parts;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use glam::{DVec3, Mat4, Vec3};

use super::skeleton::HierarchyError;
use super::{Clip, Hierarchy, Palette, Pose, Skinning};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::mesh::attribute::NORMAL;
use crate::mesh::measure::Bounds;
use crate::mesh::tangents;
use crate::mesh::welding::{Welding, same_weights};
use crate::mesh::{SkinWeights, TriMesh, Values};
use crate::rig::asset::{Asset, UvOrigin};

pub use parts::{InstanceSurface, Parts};

/// A clip closes if no vertex is farther from where it began than this share of the body's size.
const CLOSES_REL_BBOX: f32 = 0.005;

/// A whole asset as one skinned mesh.
#[derive(Clone, Debug)]
pub struct Body {
    /// All parts, where they were bound, without morph targets; its skin weights index `joints`.
    pub mesh: TriMesh,
    /// The instances of meshes the body is made of, in node order.
    pub parts: Vec<Part>,
    /// The morph targets of all parts.
    pub morphs: Vec<Morph>,
    /// What the vertices are bound to.
    pub joints: Vec<Joint>,
    /// The name of each node, or empty.
    pub node_names: Vec<String>,
    hierarchy: Hierarchy,
    rest: Pose,
    /// For each joint, the share of all vertices it carries and their mean: what gives the centroid.
    loads: Vec<(f64, DVec3)>,
    welding: OnceLock<Welding>,
}

/// One instance of one mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Name of the node, or of the mesh if the node has none.
    pub name: String,
    /// The node that carries it.
    pub node: u32,
    /// True if a skin moves it, false if its node does.
    pub skinned: bool,
    /// Which vertices are its own.
    pub vertices: Range<u32>,
    /// Which triangles are its own.
    pub triangles: Range<u32>,
    /// Which joints may move it: those of its skin, or its own alone. Parts of one skin share them.
    pub joints: Range<u32>,
}

/// A morph target of one part.
#[derive(Clone, Debug, PartialEq)]
pub struct Morph {
    /// Name in the file, or empty.
    pub name: String,
    /// The node whose weights it takes its own from.
    pub node: u32,
    /// Which of those weights.
    pub index: usize,
    /// The vertices it moves.
    pub vertices: Range<u32>,
    /// Displacement of each of them at weight one.
    pub positions: Vec<Vec3>,
    /// Change of each of their normals at weight one, if the file gives it.
    pub normals: Option<Vec<Vec3>>,
}

impl Morph {
    /// How far it moves a vertex of the body at weight one.
    fn displacement(&self, vertex: u32) -> Vec3 {
        let inside = self.vertices.contains(&vertex).then(|| vertex - self.vertices.start);
        inside.map_or(Vec3::ZERO, |i| self.positions[i as usize])
    }
}

/// What vertices are bound to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joint {
    /// The node that moves it.
    pub node: u32,
    /// From the bound mesh's space to the node's.
    pub inverse_bind: Mat4,
}

/// Why an asset cannot become a body.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BodyError {
    /// No node carries a mesh.
    #[error("there is no mesh in it: a body needs at least one node with a triangle mesh")]
    NoMesh,
    /// The nodes are not a forest.
    #[error(transparent)]
    Hierarchy(#[from] HierarchyError),
    /// A node names something that does not exist.
    #[error("node {node} ('{name}') names {what} {index}, but there are {count}")]
    Missing {
        /// Which node.
        node: u32,
        /// Its name.
        name: String,
        /// `mesh` or `skin`.
        what: &'static str,
        /// What it names.
        index: u32,
        /// How many there are.
        count: usize,
    },
    /// A skin contradicts itself or its mesh.
    #[error("skin {skin} ('{name}') {what}")]
    BadSkin {
        /// Which skin.
        skin: u32,
        /// Its name.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// More vertices or joints than can be numbered.
    #[error("{count} {what} are too many for one body: at most {most}")]
    TooLarge {
        /// `vertices` or `joints`.
        what: &'static str,
        /// How many there would be.
        count: usize,
        /// How many there may be.
        most: usize,
    },
    /// Scales and moves of nested nodes multiply to numbers that do not exist.
    #[error(
        "node {node} ('{name}') puts what it carries beyond the largest number there is (3.4e38): the scales \
         and moves of the nodes above it multiply; check them"
    )]
    Overflow {
        /// Which node.
        node: u32,
        /// Its name.
        name: String,
    },
    /// A mesh of the asset is inconsistent.
    #[error("mesh '{name}': {defect}")]
    BadMesh {
        /// Name of the mesh.
        name: String,
        /// What is wrong with it.
        defect: crate::mesh::tri::Defect,
    },
}

impl Body {
    /// Gathers all meshes of an asset, each as often as nodes carry it. Texture coordinates of a body
    /// count from the top.
    ///
    /// # Errors
    ///
    /// [`BodyError`] if there is no mesh, or nodes, skins and meshes do not fit together.
    pub fn from_asset(asset: &Asset) -> Result<Self, BodyError> {
        let hierarchy = Hierarchy::new(&asset.nodes)?;
        let mut body = merge::merge(asset, hierarchy)?;
        if asset.uv_origin != UvOrigin::Top {
            body.mesh.flip_uvs();
        }
        body.loads = loads(&body.mesh, body.joints.len());
        body.check_rest()?;
        Ok(body)
    }

    /// Checks that the rest pose is made of numbers.
    fn check_rest(&self) -> Result<(), BodyError> {
        let globals = self.hierarchy.globals(&self.rest.locals);
        let overflowing = overflowing(
            &self.hierarchy,
            &globals,
            &self.joints,
            parts::farthest(&self.mesh.positions),
        );
        overflowing.map_or(Ok(()), |node| {
            let name = self.node_names.get(node as usize).cloned().unwrap_or_default();
            Err(BodyError::Overflow { node, name })
        })
    }

    /// The pose the file shows.
    #[must_use]
    pub fn rest_pose(&self) -> &Pose {
        &self.rest
    }

    /// What a joint is called: the name of its node, or its number from 0 if that has none.
    ///
    /// # Panics
    ///
    /// If there is no such joint.
    #[must_use]
    pub fn joint_name(&self, joint: usize) -> String {
        let node = self.joints[joint].node as usize;
        let name = self.node_names.get(node).filter(|name| !name.is_empty());
        name.cloned().unwrap_or_else(|| joint.to_string())
    }

    /// The joint on the nearest node above a joint's that has one.
    #[must_use]
    pub fn parent_joint(&self, joint: usize) -> Option<usize> {
        let mut node = self.hierarchy().parent(self.joints[joint].node);
        while let Some(n) = node {
            if let Some(found) = self.joints.iter().position(|j| j.node == n) {
                return Some(found);
            }
            node = self.hierarchy().parent(n);
        }
        None
    }

    /// The nodes that move the joints.
    #[must_use]
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// From bind to pose, for each joint.
    ///
    /// # Panics
    ///
    /// If the pose is one of another asset.
    #[must_use]
    pub fn matrices(&self, pose: &Pose) -> Vec<Mat4> {
        let globals = self.hierarchy.globals(&pose.locals);
        self.joints.iter().map(|j| globals[j.node as usize] * j.inverse_bind).collect()
    }

    /// Where the vertices are in a pose.
    ///
    /// # Panics
    ///
    /// If the pose is one of another asset.
    #[must_use]
    pub fn pose(&self, pose: &Pose, skinning: Skinning, run: &Run<'_>) -> Vec<Vec3> {
        self.skin(pose, &self.matrices(pose), skinning, run)
    }

    /// Whether the last key of a clip is its first, so that it can be played again and again.
    ///
    /// # Panics
    ///
    /// If the clip is one of another asset.
    #[must_use]
    pub fn closes(&self, clip: &Clip, run: &Run<'_>) -> bool {
        let Some((first, last)) = clip.span() else { return true };
        let posed = |secs: f32| {
            let mut pose = self.rest.clone();
            clip.sample(secs, &mut pose);
            self.pose(&pose, Skinning::Linear, run)
        };
        let (start, end) = (posed(first), posed(last));
        let size = Bounds::of(&start).map_or(0.0, |b| b.diagonal());
        start.iter().zip(&end).all(|(a, b)| a.distance_to(*b) <= CLOSES_REL_BBOX * size)
    }

    /// Where the vertices are if the joints move by `matrices` and the mesh is morphed as in `pose`.
    ///
    /// # Panics
    ///
    /// If there is not a matrix for each joint.
    #[must_use]
    pub fn skin(
        &self,
        pose: &Pose,
        matrices: &[Mat4],
        skinning: Skinning,
        run: &Run<'_>,
    ) -> Vec<Vec3> {
        self.skin_bound(&self.morphed(pose, run), matrices, skinning, run)
    }

    /// Where vertices that are bound at `bound` are if the joints move by `matrices`.
    pub(crate) fn skin_bound(
        &self,
        bound: &[Vec3],
        matrices: &[Mat4],
        skinning: Skinning,
        run: &Run<'_>,
    ) -> Vec<Vec3> {
        Palette::new(matrices, skinning).positions(bound, self.weights(), run)
    }

    /// Where the vertices are bound, morphed as in `pose`: what the joints move.
    #[must_use]
    pub fn morphed(&self, pose: &Pose, run: &Run<'_>) -> Cow<'_, [Vec3]> {
        self.with_morphs(Cow::Borrowed(&self.mesh.positions[..]), pose, run)
    }

    /// Bound vertices, moved on by the morph targets as in `pose`.
    pub(crate) fn with_morphs<'a>(
        &self,
        mut bound: Cow<'a, [Vec3]>,
        pose: &Pose,
        run: &Run<'_>,
    ) -> Cow<'a, [Vec3]> {
        for (morph, weight) in self.active_morphs(pose) {
            let range = morph.vertices.start as usize..morph.vertices.end as usize;
            let part = &mut bound.to_mut()[range];
            run.for_each(part, |i, x| *x += weight * morph.positions[i]);
        }
        bound
    }

    /// Mean of the vertices under linear blending, without morphs, from the joints alone: exact, and
    /// cheap enough for every tick of a simulation.
    ///
    /// # Panics
    ///
    /// If there is not a matrix for each joint.
    #[must_use]
    pub fn centroid(&self, matrices: &[Mat4]) -> DVec3 {
        assert_eq!(matrices.len(), self.joints.len(), "a matrix for each joint");
        let carried = |(m, &(share, mean)): (&Mat4, &(f64, DVec3))| {
            share * m.as_dmat4().transform_point3(mean)
        };
        matrices.iter().zip(&self.loads).map(carried).sum()
    }

    /// The body in its rest pose as a plain mesh: no skin, no morph targets; everything else of the mesh is
    /// kept.
    #[must_use]
    pub fn rest_mesh(&self, run: &Run<'_>) -> TriMesh {
        let matrices = self.matrices(&self.rest);
        let mut mesh = self.mesh.clone();
        mesh.positions = self.skin(&self.rest, &matrices, Skinning::Linear, run);
        self.pose_normals(&mut mesh, &matrices, run);
        tangents::follow(&mut mesh, &self.mesh.positions);
        mesh.skin_weights = None;
        mesh
    }

    /// Turns every triangle round, for a body that is to be mirrored.
    pub fn turn_round(&mut self) {
        let corners = self.mesh.corners.iter_mut().flat_map(|c| &mut c.triangles);
        for triangle in self.mesh.triangles.iter_mut().chain(corners) {
            triangle.swap(1, 2);
        }
    }

    /// Which vertices are one place: bound at the same position, to the same joints with the same weights, and
    /// moved alike by all morph targets. Files split them at seams; they must move as one.
    ///
    /// Looked for once: of the mesh as it is when first asked.
    pub fn welding(&self) -> &Welding {
        self.welding.get_or_init(|| {
            let mut known = HashMap::new();
            // Parts with skins of their own may hang on the same nodes.
            let names: Vec<u32> = (0..)
                .zip(&self.joints)
                .map(|(j, joint)| {
                    let bind = joint.inverse_bind.to_cols_array().map(f32::to_bits);
                    *known.entry((joint.node, bind)).or_insert(j)
                })
                .collect();
            let name = |joint: u16| names[usize::from(joint)];
            let weights = self.weights();
            Welding::of_same(&self.mesh.positions, |a, b| {
                same_weights(weights, a as usize, b as usize, name)
                    && self.morphs.iter().all(|m| m.displacement(a) == m.displacement(b))
            })
        })
    }

    /// The weights of the body's mesh, which every body has.
    pub(crate) fn weights(&self) -> &SkinWeights {
        self.mesh.skin_weights.as_ref().expect("a body's mesh is bound to its joints")
    }

    /// The weight of each morph target in a pose.
    #[must_use]
    pub fn morph_weights(&self, pose: &Pose) -> Vec<f32> {
        let weight = |m: &Morph| pose.morph_weights[m.node as usize].get(m.index).copied();
        self.morphs.iter().map(|m| weight(m).unwrap_or(0.0)).collect()
    }

    /// Gives the morph targets these weights in a pose.
    pub(crate) fn set_morph_weights(&self, pose: &mut Pose, weights: &[f32]) {
        for (morph, weight) in self.morphs.iter().zip(weights) {
            if let Some(own) = pose.morph_weights[morph.node as usize].get_mut(morph.index) {
                *own = *weight;
            }
        }
    }

    fn active_morphs<'a>(&'a self, pose: &'a Pose) -> impl Iterator<Item = (&'a Morph, f32)> {
        active_morphs(&self.morphs, pose)
    }

    fn pose_normals(&self, mesh: &mut TriMesh, matrices: &[Mat4], run: &Run<'_>) {
        if matrices.iter().all(|m| *m == Mat4::IDENTITY) && self.morphs.is_empty() {
            return;
        }
        let palette = Palette::new(matrices, Skinning::Linear);
        if let Some(Values::Vec3(normals)) = mesh.attributes.get_mut(NORMAL) {
            for (morph, weight) in self.active_morphs(&self.rest) {
                let range = morph.vertices.start as usize..morph.vertices.end as usize;
                for (n, d) in normals[range].iter_mut().zip(morph.normals.iter().flatten()) {
                    *n += weight * d;
                }
            }
            *normals = palette.normals(normals, self.weights(), run);
        }
        for corner in mesh.corners.iter_mut().filter(|c| c.name == NORMAL) {
            let Values::Vec3(values) = &corner.values else { continue };
            // One value may serve vertices that move differently: give each corner its own.
            let posed = run.map(3 * mesh.triangles.len(), |k| {
                let vertex = mesh.triangles[k / 3][k % 3] as usize;
                let normal = values[corner.triangles[k / 3][k % 3] as usize];
                palette.normal_at(vertex, normal, self.weights())
            });
            corner.values = Values::Vec3(posed);
            corner.triangles =
                (0..mesh.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        }
    }
}

/// The morph targets that count in a pose, and how much.
fn active_morphs<'a>(
    morphs: &'a [Morph],
    pose: &'a Pose,
) -> impl Iterator<Item = (&'a Morph, f32)> {
    let weight = |m: &Morph| pose.morph_weights[m.node as usize].get(m.index).copied();
    morphs
        .iter()
        .filter_map(move |m| weight(m).filter(|&w| w != 0.0 && w.is_finite()).map(|w| (m, w)))
}

/// The first node that moves vertices up to `farthest` from the origin to where there are no numbers.
fn overflowing(
    hierarchy: &Hierarchy,
    globals: &[Mat4],
    joints: &[Joint],
    farthest: f32,
) -> Option<u32> {
    if let Some(node) = hierarchy.order().find(|&n| !globals[n as usize].is_finite()) {
        return Some(node);
    }
    let is_bad = |joint: &&Joint| {
        let matrix = globals[joint.node as usize] * joint.inverse_bind;
        let largest = matrix.to_cols_array().iter().fold(0.0, |m: f32, x| m.max(x.abs()));
        // No corner of the box of all vertices lands farther than this.
        let bound = f64::from(largest) * (3.0 * f64::from(farthest) + 1.0);
        !matrix.is_finite() || bound > f64::from(f32::MAX)
    };
    joints.iter().find(is_bad).map(|joint| joint.node)
}

/// The share and the mean of the vertices each joint carries, so that
/// `mean over i of Σ_j w_ij M_j x_i = Σ_j share_j M_j mean_j`.
fn loads(mesh: &TriMesh, joints: usize) -> Vec<(f64, DVec3)> {
    let mut sums = vec![(0.0, DVec3::ZERO); joints];
    let weights = mesh.skin_weights.as_ref().expect("a body's mesh is bound to its joints");
    for (i, x) in mesh.positions.iter().enumerate() {
        let total: f64 = weights.of(i).map(|(_, w)| f64::from(w)).sum();
        for (joint, w) in weights.of(i).filter(|_| total != 0.0) {
            let share = f64::from(w) / total;
            let sum = &mut sums[usize::from(joint)];
            *sum = (sum.0 + share, sum.1 + share * x.as_dvec3());
        }
    }
    let all: f64 = sums.iter().map(|s| s.0).sum();
    let load = |(share, sum): (f64, DVec3)| {
        if share == 0.0 { (0.0, DVec3::ZERO) } else { (share / all, sum / share) }
    };
    sums.into_iter().map(load).collect()
}

//! The bones of a body: which joint hangs on which, however many skins name it.
//!
//! Skins that bind the same nodes alike (a head and a coat on one skeleton) share their bones, so that
//! seams between their meshes stay closed. A skin that binds a node differently has bones of its own.

use std::collections::HashMap;

use glam::{DMat4, DVec3, Mat4};

use crate::rig::Body;

/// Inverse bind matrices that differ by less than this, relative to their size, bind alike.
const ALIKE: f64 = 1e-4;

/// A joint as all skins that share it see it.
#[derive(Clone, Debug)]
pub(super) struct Bone {
    pub(super) node: u32,
    pub(super) parent: Option<u32>,
    /// How far from its root.
    pub(super) level: u32,
    /// Where it is in the space in which its skeleton is bound.
    pub(super) at: DVec3,
    /// Where its children are.
    ends: Vec<DVec3>,
    /// The joint whose matrix moves it, and from the skeleton's space to that joint's.
    joint: u32,
    to_joint: DMat4,
    skeleton: u32,
}

impl Bone {
    /// From the bone's nearest point to `x`: (6.5) with the clamp (6.6), over all of its segments.
    pub(super) fn away(&self, x: DVec3) -> DVec3 {
        let to = |end: &DVec3| {
            let along = *end - self.at;
            let length = along.length_squared();
            let share = if length > 0.0 { along.dot(x - self.at) / length } else { 0.0 };
            x - (self.at + share.clamp(0.0, 1.0) * along)
        };
        let segments = self.ends.iter().map(to);
        let nearest = segments.min_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
        nearest.unwrap_or(x - self.at)
    }

    /// The way from the joint to the mean of its children; `None` at a leaf.
    pub(super) fn along(&self) -> Option<DVec3> {
        let sum: DVec3 = self.ends.iter().sum();
        (!self.ends.is_empty()).then(|| sum / self.ends.len() as f64 - self.at)
    }

    /// From the space in which the skeleton is bound to where the bone carries it.
    pub(super) fn matrix(&self, matrices: &[Mat4]) -> DMat4 {
        matrices[self.joint as usize].as_dmat4() * self.to_joint
    }
}

/// A skin's joints as bones.
#[derive(Clone, Debug)]
struct Block {
    first_joint: u32,
    /// The bone of each of its joints.
    bones: Vec<u32>,
    /// From the space in which its mesh is bound to that of the skeleton.
    to_skeleton: DMat4,
    skeleton: u32,
}

/// All bones, and how parts are bound to them.
#[derive(Clone, Debug)]
pub(super) struct Bones {
    pub(super) bones: Vec<Bone>,
    blocks: Vec<Block>,
    /// The block of each part of the body; `None` for parts without a skin.
    of_part: Vec<Option<u32>>,
}

/// How a vertex is bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binding<'a> {
    block: &'a Block,
}

impl Binding<'_> {
    /// The bone of a joint.
    pub(super) fn bone(&self, joint: u16) -> u32 {
        self.block.bones[usize::from(joint) - self.block.first_joint as usize]
    }

    /// From where the vertex is bound to the skeleton's space.
    pub(super) fn to_skeleton(self) -> DMat4 {
        self.block.to_skeleton
    }

    /// The root of its bones.
    pub(super) fn root(&self, bones: &Bones) -> Option<u32> {
        self.block.bones.first().map(|&b| bones.root(b))
    }

    /// Which skeleton it is bound to.
    pub(super) fn skeleton(&self) -> u32 {
        self.block.skeleton
    }
}

impl Bones {
    pub(super) fn new(body: &Body) -> Self {
        let mut found = Self { bones: Vec::new(), blocks: Vec::new(), of_part: Vec::new() };
        for part in &body.parts {
            let block = part.skinned.then(|| found.block(body, part.joints.start, part.joints.end));
            found.of_part.push(block);
        }
        found.link(body);
        found
    }

    /// How the vertices of a part are bound; `None` without a skin.
    pub(super) fn binding(&self, part: usize) -> Option<Binding<'_>> {
        let block = self.of_part[part]?;
        Some(Binding { block: &self.blocks[block as usize] })
    }

    /// The joints of all skins with their bones.
    pub(super) fn of_joints(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.blocks.iter().flat_map(|b| (b.first_joint..).zip(b.bones.iter().copied()))
    }

    /// The bone above, or itself, that is at most at this level.
    pub(super) fn climb(&self, mut bone: u32, level: u32) -> u32 {
        while let Some(parent) = self.bones[bone as usize].parent
            && self.bones[bone as usize].level > level
        {
            bone = parent;
        }
        bone
    }

    /// The block of a range of joints, with bones for those that have none yet.
    fn block(&mut self, body: &Body, first: u32, end: u32) -> u32 {
        if let Some(known) = self.blocks.iter().position(|b| b.first_joint == first) {
            return known as u32;
        }
        let joints = &body.joints[first as usize..end as usize];
        let skeletons = self.blocks.iter().map(|b| b.skeleton + 1).max().unwrap_or(0);
        let shared = (0..skeletons).find_map(|s| Some((s, self.alignment(body, s, first, end)?)));
        let (skeleton, to_skeleton) = shared.unwrap_or((skeletons, DMat4::IDENTITY));
        let mut of_node: HashMap<u32, u32> = HashMap::new();
        for (i, bone) in (0..).zip(&self.bones).filter(|b| b.1.skeleton == skeleton) {
            of_node.insert(bone.node, i);
        }
        let to_mesh = to_skeleton.inverse();
        let mut bones = Vec::with_capacity(joints.len());
        for (joint, bound) in (first..).zip(joints) {
            let bone = *of_node.entry(bound.node).or_insert(self.bones.len() as u32);
            if bone as usize == self.bones.len() {
                let bind = (bound.inverse_bind.as_dmat4() * to_mesh).inverse();
                self.bones.push(Bone {
                    node: bound.node,
                    parent: None,
                    level: 0,
                    at: bind.w_axis.truncate(),
                    ends: Vec::new(),
                    joint,
                    to_joint: to_mesh,
                    skeleton,
                });
            }
            bones.push(bone);
        }
        self.blocks.push(Block { first_joint: first, bones, to_skeleton, skeleton });
        self.blocks.len() as u32 - 1
    }

    /// From the space of a skin to that of a skeleton, if they bind the nodes they share alike.
    fn alignment(&self, body: &Body, skeleton: u32, first: u32, end: u32) -> Option<DMat4> {
        let mut found: Option<DMat4> = None;
        for bound in &body.joints[first as usize..end as usize] {
            let same = |b: &&Bone| b.skeleton == skeleton && b.node == bound.node;
            let Some(bone) = self.bones.iter().find(same) else { continue };
            let bind = body.joints[bone.joint as usize].inverse_bind.as_dmat4() * bone.to_joint;
            let between = bind.inverse() * bound.inverse_bind.as_dmat4();
            if !between.is_finite() {
                return None;
            }
            let first = *found.get_or_insert(between);
            let size = largest(first);
            if largest(between - first) > ALIKE * size {
                return None;
            }
        }
        // What is equal but for rounding is the same space.
        found.map(|m| {
            if largest(m - DMat4::IDENTITY) <= ALIKE * largest(m) { DMat4::IDENTITY } else { m }
        })
    }

    /// Finds parents, levels and segments. Of several roots the one that carries most is the parent of
    /// the others.
    fn link(&mut self, body: &Body) {
        let mut of_node: HashMap<(u32, u32), u32> = HashMap::new();
        for (i, bone) in (0..).zip(&self.bones) {
            of_node.insert((bone.skeleton, bone.node), i);
        }
        for bone in &mut self.bones {
            let mut node = body.hierarchy().parent(bone.node);
            while let Some(above) = node {
                bone.parent = of_node.get(&(bone.skeleton, above)).copied();
                node = body.hierarchy().parent(above).filter(|_| bone.parent.is_none());
            }
        }
        self.join_roots(&self.loads(body));
        self.relink();
    }

    /// Levels and segments, from the parents.
    pub(super) fn relink(&mut self) {
        self.bones.iter_mut().for_each(|b| b.ends.clear());
        for i in 0..self.bones.len() {
            self.bones[i].level = self.above(i as u32).count() as u32;
            if let Some(parent) = self.bones[i].parent {
                let at = self.bones[i].at;
                self.bones[parent as usize].ends.push(at);
            }
        }
    }

    /// The bones above one, nearest first.
    pub(super) fn above(&self, bone: u32) -> impl Iterator<Item = u32> + '_ {
        let parent = |b: u32| self.bones[b as usize].parent;
        std::iter::successors(parent(bone), move |&b| parent(b))
    }

    /// Whether a bone is another one or below it.
    pub(super) fn is_under(&self, bone: u32, other: u32) -> bool {
        bone == other || self.above(bone).any(|b| b == other)
    }

    /// The summed weights of the vertices under each root.
    fn loads(&self, body: &Body) -> Vec<f64> {
        let mut loads = vec![0.0; self.bones.len()];
        for (part, own) in body.parts.iter().enumerate() {
            let Some(binding) = self.binding(part) else { continue };
            for vertex in own.vertices.clone() {
                for (joint, weight) in body.weights().of(vertex as usize) {
                    loads[self.root(binding.bone(joint)) as usize] += f64::from(weight);
                }
            }
        }
        loads
    }

    pub(super) fn root(&self, bone: u32) -> u32 {
        self.above(bone).last().unwrap_or(bone)
    }

    fn join_roots(&mut self, loads: &[f64]) {
        let skeletons = self.bones.iter().map(|b| b.skeleton + 1).max().unwrap_or(0);
        for skeleton in 0..skeletons {
            let roots: Vec<u32> = (0..)
                .zip(&self.bones)
                .filter(|(_, b)| b.skeleton == skeleton && b.parent.is_none())
                .map(|(i, _)| i)
                .collect();
            let load = |r: &u32| loads[*r as usize];
            let mut main = roots.first().copied();
            for root in &roots {
                if main.is_some_and(|m| load(root) > load(&m)) {
                    main = Some(*root);
                }
            }
            for root in roots.into_iter().filter(|r| Some(*r) != main) {
                self.bones[root as usize].parent = main;
            }
        }
    }
}

fn largest(m: DMat4) -> f64 {
    m.to_cols_array().iter().fold(0.0, |s, x| s.max(x.abs()))
}

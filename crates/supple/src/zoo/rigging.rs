//! Skeletons of zoo models, and skin weights from their solids.
//!
//! # Method
//!
//! Every limb of a solid is moved by a chain of joints. Along a chain a joint takes over from the
//! one before it across a plane, smoothly over twice its `soft` width; where limbs meet, their
//! weights mix by the distance to each, over the width `mix`. A vertex of one leg is nearer to that
//! leg than `mix` to the other only at the crotch, so nothing bleeds from side to side. The weights
//! of a vertex sum to one by construction.

use glam::{DVec3, Mat4};

use super::solid::Solid;
use crate::mesh::SkinWeights;
use crate::rig::{Clip, Node, Skin, Transform};
use crate::{Asset, Run};

/// A joint; its axes are the world's at rest.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    pub(super) name: String,
    /// Index of the parent, which comes first.
    pub(super) parent: Option<usize>,
    pub(super) at: DVec3,
    /// Unit normal of the plane through `at` beyond which the joint rules.
    pub(super) axis: DVec3,
    /// Half the width over which it takes over.
    pub(super) soft: f64,
}

impl Joint {
    pub(super) fn new(
        name: impl Into<String>,
        parent: Option<usize>,
        at: impl Into<DVec3>,
        axis: impl Into<DVec3>,
        soft: f64,
    ) -> Self {
        let (at, axis) = (at.into(), axis.into().normalize_or_zero());
        Self { name: name.into(), parent, at, axis, soft }
    }

    /// The joint on the other side, with another name and parent.
    pub(super) fn mirrored(&self, name: String, parent: Option<usize>) -> Self {
        let flip = DVec3::new(-1.0, 1.0, 1.0);
        Self { name, parent, at: self.at * flip, axis: self.axis * flip, soft: self.soft }
    }

    fn rule_over(&self, p: DVec3) -> f64 {
        smooth_step(0.5 + (p - self.at).dot(self.axis) / (2.0 * self.soft))
    }
}

/// From 0 to 1 over the unit interval, level at both ends.
pub(super) fn smooth_step(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Joints, which of them move which limb, and what they do.
#[derive(Clone, Debug)]
pub(super) struct Rig {
    pub(super) joints: Vec<Joint>,
    /// For each limb of the solid the joints that move it, from the body outward.
    pub(super) chains: Vec<Vec<usize>>,
    /// Width over which the weights of neighbouring limbs mix.
    pub(super) mix: f64,
    pub(super) clips: Vec<Clip>,
}

impl Rig {
    /// The weights of every point of the solid's surface.
    pub(super) fn weights(&self, solid: &Solid, points: &[DVec3], run: &Run<'_>) -> SkinWeights {
        let rows = run.map(points.len(), |v| self.weights_at(solid, points[v]));
        let mut weights = SkinWeights::default();
        for row in rows {
            weights.push(row.into_iter().enumerate().map(|(j, w)| (j as u16, w as f32)));
        }
        weights
    }

    /// The weights of points that one chain moves, the first.
    pub(super) fn chain_weights(&self, points: &[DVec3]) -> SkinWeights {
        let mut weights = SkinWeights::default();
        for &p in points {
            let mut row = vec![0.0; self.joints.len()];
            self.add_chain(&self.chains[0], p, 1.0, &mut row);
            weights.push((0..).zip(row).map(|(j, w)| (j, w as f32)));
        }
        weights
    }

    fn weights_at(&self, solid: &Solid, p: DVec3) -> Vec<f64> {
        let distances: Vec<f64> = solid.limbs.iter().map(|limb| limb.distance(p)).collect();
        let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
        let mut weights = vec![0.0; self.joints.len()];
        for (chain, d) in self.chains.iter().zip(distances) {
            let share = smooth_step(1.0 - (d - nearest) / self.mix);
            if share > 0.0 {
                self.add_chain(chain, p, share, &mut weights);
            }
        }
        // Weights under one part in 250 are noise to the eye and cost influences.
        let largest = weights.iter().copied().fold(0.0, f64::max);
        weights.iter_mut().filter(|w| **w < 0.004 * largest).for_each(|w| *w = 0.0);
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= total);
        weights
    }

    fn add_chain(&self, chain: &[usize], p: DVec3, share: f64, weights: &mut [f64]) {
        let mut left = share;
        for (k, &j) in chain.iter().enumerate() {
            let beyond = chain.get(k + 1).map_or(0.0, |&next| self.joints[next].rule_over(p));
            weights[j] += left * (1.0 - beyond);
            left *= beyond;
        }
    }

    /// Nodes, skin and clips; the mesh is still to be hung in.
    pub(super) fn into_asset(self) -> Asset {
        let at_parent = |j: &Joint| j.parent.map_or(DVec3::ZERO, |p| self.joints[p].at);
        let node = |j: &Joint| Node {
            name: j.name.clone(),
            parent: j.parent.map(|p| p as u32),
            local: Transform::from_translation((j.at - at_parent(j)).as_vec3()),
            ..Node::default()
        };
        let inverse = |j: &Joint| Mat4::from_translation(-j.at.as_vec3());
        let skin = Skin {
            name: "skeleton".to_owned(),
            joints: (0..self.joints.len() as u32).collect(),
            inverse_bind: self.joints.iter().map(inverse).collect(),
            root: Some(0),
        };
        let nodes = self.joints.iter().map(node).collect();
        Asset { nodes, skins: vec![skin], clips: self.clips, ..Asset::default() }
    }
}

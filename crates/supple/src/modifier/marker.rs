//! Markers: points near a body's surface whose place a modifier must know in its ticks.
//!
//! A tick sees a body through its joints and morph weights, not through its vertices. What hangs on the surface (the
//! anchor of a mass) asks for markers; the player carries them through all that comes before, so that a tick does not
//! depend on the size of the mesh. A modifier that bends the body says where it takes them
//! ([`Modifier::carry`](super::Modifier::carry)): a deformation of space takes the point itself, one that knows vertices
//! only the mean of those around it ([`OnItsWay::mean`]).

use glam::{DVec3, Mat4, Vec3};

use crate::mesh::measure::Bounds;

/// The least distance over which vertices are averaged, as a share of the body's size.
const NEAR_REL_BBOX: f64 = 0.01;

/// Vertices that count less than this beside the nearest do not count.
const LEAST: f64 = 1e-3;

/// A point near a body's surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marker {
    /// The joint that carries it.
    pub joint: usize,
    /// Where it is bound, in the joint's bind space.
    pub bound: DVec3,
    /// Where it is in the placed rest pose.
    pub rest: DVec3,
    /// How far morph targets take it at weight one, where it is bound; those that do not are left out.
    pub morphs: Vec<(usize, DVec3)>,
}

impl Marker {
    /// Where its joint alone carries it.
    #[must_use]
    pub fn carried(&self, joints: &[Mat4]) -> DVec3 {
        joints[self.joint].as_dmat4().transform_point3(self.bound)
    }

    /// How far morph targets with these weights, and `bound` where it is bound, take it from where its joint carries it.
    pub(crate) fn posed(&self, bound: DVec3, weights: &[f32], joints: &[Mat4]) -> DVec3 {
        let weight = |m: usize| f64::from(weights.get(m).copied().unwrap_or(0.0));
        let morphed: DVec3 = self.morphs.iter().map(|&(m, way)| weight(m) * way).sum();
        joints[self.joint].as_dmat4().transform_vector3(bound + morphed)
    }
}

/// A marker as a modifier finds it, which takes it farther.
#[derive(Clone, Copy, Debug)]
pub struct OnItsWay<'a> {
    /// Where its joint alone carries it; before the skeleton, where it is bound.
    pub at: DVec3,
    /// How far all that comes before takes it from there.
    pub shift: DVec3,
    /// The vertices around it, and how much each counts; together 1.
    pub near: &'a [(u32, f64)],
}

impl OnItsWay<'_> {
    /// Where it is.
    #[must_use]
    pub fn position(&self) -> DVec3 {
        self.at + self.shift
    }

    /// The mean of something over the vertices around it.
    #[must_use]
    pub fn mean(&self, of: impl Fn(usize) -> DVec3) -> DVec3 {
        self.near.iter().map(|&(v, weight)| weight * of(v as usize)).sum()
    }
}

/// The vertices around a point: those as near as the nearest count most.
pub(crate) fn around(point: DVec3, vertices: &[Vec3]) -> Vec<(u32, f64)> {
    let size = Bounds::of(vertices).map_or(0.0, |b| f64::from(b.diagonal()));
    let far: Vec<f64> = vertices.iter().map(|x| x.as_dvec3().distance_squared(point)).collect();
    let nearest = far.iter().copied().fold(f64::INFINITY, f64::min);
    let width = nearest.max((NEAR_REL_BBOX * size).powi(2)).max(f64::MIN_POSITIVE);
    let weight = |d: &f64| (-0.5 * (d - nearest) / width).exp();
    let mut weights: Vec<(u32, f64)> = (0..).zip(far.iter().map(weight)).collect();
    weights.retain(|w| w.1 > LEAST);
    let total: f64 = weights.iter().map(|w| w.1).sum();
    weights.iter_mut().for_each(|w| w.1 /= total);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_around_a_point_is_taken_over_what_is_near() {
        let line: Vec<Vec3> = (0..=100).map(|k| Vec3::X * k as f32 * 0.01).collect();
        let near = around(DVec3::new(0.5, 0.02, 0.0), &line);
        assert!((near.iter().map(|n| n.1).sum::<f64>() - 1.0).abs() < 1e-12);
        let marker = OnItsWay { at: DVec3::ZERO, shift: DVec3::Y, near: &near };
        let mean = marker.mean(|v| line[v].as_dvec3());
        assert!((mean - 0.5 * DVec3::X).length() < 1e-6, "the middle of what is near: {mean}");
        assert!(near.iter().all(|n| (n.0 as i32 - 50).abs() < 10), "and nothing far: {near:?}");
        assert_eq!(marker.position(), DVec3::Y);
    }
}

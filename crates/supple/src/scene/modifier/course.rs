//! What edits that live on a surface do to a body at rest: what flesh hangs on follows them.
//!
//! An edit along a curve, between curves, of a tool or a stroke is known for vertices only, and too dear to be made in
//! every tick. So it is made on the body at rest at some shares of its way, once, when flesh first asks; an anchor goes
//! where the vertices around it go, and between two shares straight on.

use std::sync::{Arc, OnceLock};

use glam::{DVec3, Vec3};

use crate::Run;
use crate::mesh::measure::Bounds;
use crate::sculpt::{self, OnContact, Op};

/// Shares of the way at which the edits are made.
const PARTS: usize = 16;

/// The least distance over which vertices are averaged, as a share of the body's size.
const NEAR_REL_BBOX: f64 = 0.01;

/// Edits of a body at rest. Clones share what was found out.
#[derive(Clone, Debug)]
pub struct Course(Arc<Edits>);

#[derive(Debug)]
struct Edits {
    ops: Vec<Op>,
    mask: Vec<f32>,
    rest: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Where the vertices are at each share.
    made: OnceLock<Vec<Vec<Vec3>>>,
}

impl PartialEq for Course {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Course {
    /// Of edits of a surface, placed as it rests.
    pub(super) fn new(
        ops: Vec<Op>,
        mask: Vec<f32>,
        rest: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
    ) -> Self {
        Self(Arc::new(Edits { ops, mask, rest, triangles, made: OnceLock::new() }))
    }

    /// How far a point near the body at rest is taken by so much of the edits.
    pub(super) fn way(&self, point: DVec3, amount: f64) -> DVec3 {
        let made = self.0.made.get_or_init(|| self.0.make());
        let place = amount.clamp(0.0, 1.0) * PARTS as f64;
        let before = (place as usize).min(PARTS - 1);
        let share = place - before as f64;
        let weights = self.0.weights(point);
        let mut way = DVec3::ZERO;
        for (v, weight) in weights {
            let [from, to] = [before, before + 1].map(|k| made[k][v].as_dvec3());
            way += weight * (from.lerp(to, share) - self.0.rest[v].as_dvec3());
        }
        if way.is_finite() { way } else { DVec3::ZERO }
    }
}

impl Edits {
    fn make(&self) -> Vec<Vec<Vec3>> {
        let params = sculpt::Params {
            on_contact: OnContact::Ignore,
            mask: self.mask.clone(),
            ..sculpt::Params::default()
        };
        let at = |k: usize| {
            let ops = sculpt::partial(&self.ops, k as f64 / PARTS as f64);
            let mut positions = self.rest.clone();
            // What fails leaves the body, and is told when it is deformed.
            let _ = sculpt::apply(&mut positions, &self.triangles, &ops, &params, &Run::default());
            positions
        };
        (0..=PARTS).map(at).collect()
    }

    /// The vertices around a point: those as near as the nearest count most.
    fn weights(&self, point: DVec3) -> Vec<(usize, f64)> {
        let size = Bounds::of(&self.rest).map_or(0.0, |b| f64::from(b.diagonal()));
        let far: Vec<f64> =
            self.rest.iter().map(|x| x.as_dvec3().distance_squared(point)).collect();
        let nearest = far.iter().copied().fold(f64::INFINITY, f64::min);
        let width = nearest.max((NEAR_REL_BBOX * size).powi(2)).max(f64::MIN_POSITIVE);
        let weight = |d: &f64| (-0.5 * (d - nearest) / width).exp();
        let mut weights: Vec<(usize, f64)> = far.iter().map(weight).enumerate().collect();
        weights.retain(|w| w.1 > 1e-3);
        let total: f64 = weights.iter().map(|w| w.1).sum();
        weights.iter_mut().for_each(|w| w.1 /= total);
        weights
    }
}

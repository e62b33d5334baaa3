//! What edits that live on a surface do to a body at rest: markers of modifiers after them follow.
//!
//! An edit along a curve, between curves, of a tool or a stroke is known for vertices only, and too dear to be made in
//! every tick. So it is made on the body at rest at some shares of its way, once, when a marker first asks; the marker
//! goes where the vertices around it go, and between two shares straight on.

use std::sync::OnceLock;

use glam::{DVec3, Vec3};

use super::{OnContact, Op, Params, apply, partial};
use crate::Run;
use crate::modifier::OnItsWay;

/// Shares of the way at which the edits are made.
const PARTS: usize = 16;

/// Edits of a body at rest.
#[derive(Debug)]
pub(super) struct Course {
    /// The surface as it rests.
    pub(super) rest: Vec<Vec3>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// Where the vertices are at each share.
    made: OnceLock<Vec<Vec<Vec3>>>,
}

impl Course {
    pub(super) fn new(rest: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Self {
        Self { rest, triangles, made: OnceLock::new() }
    }

    /// How far a marker is taken by so much of the edits.
    pub(super) fn way(
        &self,
        (ops, mask): (&[Op], &[f32]),
        marker: &OnItsWay<'_>,
        amount: f64,
    ) -> DVec3 {
        let made = self.made.get_or_init(|| self.make(ops, mask));
        let place = amount.clamp(0.0, 1.0) * PARTS as f64;
        let before = (place as usize).min(PARTS - 1);
        let share = place - before as f64;
        let way = marker.mean(|v| {
            let [from, to] = [before, before + 1].map(|k| made[k][v].as_dvec3());
            from.lerp(to, share) - self.rest[v].as_dvec3()
        });
        if way.is_finite() { way } else { DVec3::ZERO }
    }

    fn make(&self, ops: &[Op], mask: &[f32]) -> Vec<Vec<Vec3>> {
        let params =
            Params { on_contact: OnContact::Ignore, mask: mask.to_vec(), ..Params::default() };
        let at = |k: usize| {
            let ops = partial(ops, k as f64 / PARTS as f64);
            let mut positions = self.rest.clone();
            // What fails leaves the body, and is told when it is deformed.
            let _ = apply(&mut positions, &self.triangles, &ops, &params, &Run::default());
            positions
        };
        (0..=PARTS).map(at).collect()
    }
}

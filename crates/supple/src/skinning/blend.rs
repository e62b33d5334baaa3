//! The inner loop over the vertices of a region: steps of bones blended.
//!
//! Plain loops over records: in vector form they were ten times slower with 512-bit registers, since a
//! record of position and way out must be scattered to lanes and gathered again.

use glam::{DQuat, DVec3};

use super::motion::Step;
use super::sums::Record;

/// The blend of some steps, ready for all vertices.
pub(super) struct Kernel<'a> {
    pub(super) blends: Vec<Blend<'a>>,
    /// Whether motions are blended as dual quaternions.
    pub(super) is_dual: bool,
}

/// One step of one bone.
pub(super) struct Blend<'a> {
    weights: &'a [f64],
    freedom: &'a [f64],
    /// λ that is in the positions already.
    added: f64,
    /// Rows of `B` and `t` in `x ↦ x + w (B x + t)`.
    rows: [[f64; 3]; 3],
    shift: [f64; 3],
    turn: DQuat,
    /// Dual part of the motion.
    dual: DQuat,
}

impl<'a> Blend<'a> {
    pub(super) fn new(weights: &'a [f64], freedom: &'a [f64], added: f64, step: &Step) -> Self {
        let displacement = step.displacement();
        let t = step.to - step.turn * step.from;
        Self {
            weights,
            freedom,
            added,
            rows: displacement.matrix3.transpose().to_cols_array_2d(),
            shift: displacement.translation.to_array(),
            turn: step.turn,
            dual: DQuat::from_xyzw(t.x, t.y, t.z, 0.0) * step.turn * 0.5,
        }
    }
}

impl Kernel<'_> {
    /// Positions and shifts after the steps; `start` is the number of the first vertex.
    pub(super) fn fill(&self, start: usize, state: &[Record], records: &mut [Record]) {
        self.blend(start, state, records);
        for (i, [x, y, z, u, v, w]) in (start..).zip(records) {
            let (mut added, mut freedom) = (0.0, 0.0);
            for blend in &self.blends {
                added += blend.added * blend.freedom[i];
                freedom += blend.freedom[i];
            }
            (*x, *y, *z) = (*x + added * *u, *y + added * *v, *z + added * *w);
            (*u, *v, *w) = (freedom * *u, freedom * *v, freedom * *w);
        }
    }

    /// Takes the steps for good: λ times the shifts, and the ways out of the skeleton turned.
    pub(super) fn advance(
        &self,
        start: usize,
        records: &[Record],
        lambda: f64,
        state: &mut [Record],
    ) {
        let before = state.to_vec();
        self.blend(start, &before, state);
        for (vertex, [x, y, z, u, v, w]) in state.iter_mut().zip(records) {
            let [_, _, _, out @ ..] = *vertex;
            *vertex = [x + lambda * u, y + lambda * v, z + lambda * w, out[0], out[1], out[2]];
        }
    }

    /// Positions and ways out after the steps.
    fn blend(&self, start: usize, state: &[Record], moved: &mut [Record]) {
        if self.is_dual {
            for (i, (from, to)) in (start..).zip(state.iter().zip(moved)) {
                *to = self.dual(i, from);
            }
            return;
        }
        moved.copy_from_slice(state);
        for blend in &self.blends {
            let [[a, b, c], [d, e, f], [g, h, i]] = blend.rows;
            let [r, s, t] = blend.shift;
            let weights = &blend.weights[start..start + state.len()];
            for ((to, [x, y, z, u, v, o]), w) in moved.iter_mut().zip(state).zip(weights) {
                to[0] += w * (a * x + b * y + c * z + r);
                to[1] += w * (d * x + e * y + f * z + s);
                to[2] += w * (g * x + h * y + i * z + t);
                to[3] += w * (a * u + b * v + c * o);
                to[4] += w * (d * u + e * v + f * o);
                to[5] += w * (g * u + h * v + i * o);
            }
        }
    }

    /// One vertex by the mean of the rigid motions.
    fn dual(&self, i: usize, &[x, y, z, u, v, o]: &Record) -> Record {
        let (mut real, mut dual) = (DQuat::IDENTITY, DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0));
        for blend in &self.blends {
            let w = blend.weights[i];
            real += (blend.turn - DQuat::IDENTITY) * w;
            dual += blend.dual * w;
        }
        let length = real.length();
        let (real, dual) = (real * length.recip(), dual * length.recip());
        let moved = dual * real.conjugate() * 2.0;
        let p = real * DVec3::new(x, y, z) + DVec3::new(moved.x, moved.y, moved.z);
        let out = real * DVec3::new(u, v, o);
        [p.x, p.y, p.z, out.x, out.y, out.z]
    }
}

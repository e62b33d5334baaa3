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

impl Blend<'_> {
    /// What a step does to a vertex by itself: `w (B x + t)`, and `w B u` to its way out.
    #[inline(always)]
    fn add(&self, i: usize, &[x, y, z, u, v, o]: &Record, to: &mut Record) {
        let [[a, b, c], [d, e, f], [g, h, k]] = self.rows;
        let [r, s, t] = self.shift;
        let w = self.weights[i];
        to[0] += w * (a * x + b * y + c * z + r);
        to[1] += w * (d * x + e * y + f * z + s);
        to[2] += w * (g * x + h * y + k * z + t);
        to[3] += w * (a * u + b * v + c * o);
        to[4] += w * (d * u + e * v + f * o);
        to[5] += w * (g * u + h * v + k * o);
    }
}

impl Kernel<'_> {
    /// Positions and shifts after the steps; `start` is the number of the first vertex.
    pub(super) fn fill(&self, start: usize, state: &[Record], records: &mut [Record]) {
        for (i, (from, record)) in (start..).zip(state.iter().zip(&mut *records)) {
            *record = self.moved(i, from);
        }
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
        for (i, (vertex, [x, y, z, u, v, w])) in (start..).zip(state.iter_mut().zip(records)) {
            let [_, _, _, out @ ..] = self.moved(i, vertex);
            *vertex = [x + lambda * u, y + lambda * v, z + lambda * w, out[0], out[1], out[2]];
        }
    }

    /// Position and way out of a vertex after the steps.
    #[inline(always)]
    fn moved(&self, i: usize, from: &Record) -> Record {
        let mut to = *from;
        match &self.blends[..] {
            // By far the most frequent case, which the compiler then takes out of the loop.
            [only] if !self.is_dual => only.add(i, from, &mut to),
            blends if !self.is_dual => blends.iter().for_each(|b| b.add(i, from, &mut to)),
            _ => to = self.dual(i, from),
        }
        to
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

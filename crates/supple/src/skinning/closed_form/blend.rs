//! The inner loop over the vertices of a region: steps of bones blended, a block of vertices at a time.

use glam::{DQuat, DVec3};
use pulp::{Simd, WithSimd};

use super::super::motion::Step;
use super::sums::{Block, Record, WIDTH, record, set_record};
use crate::lengths::Lengths as _;

/// The blend of some steps, ready for all vertices.
pub(super) struct Kernel<'a> {
    pub(super) blends: Vec<Blend<'a>>,
    /// Whether motions are blended as dual quaternions.
    pub(super) is_dual: bool,
}

/// One step of one bone.
pub(super) struct Blend<'a> {
    weights: &'a [[f64; WIDTH]],
    freedom: &'a [[f64; WIDTH]],
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
    /// With the weights and freedoms of whole blocks.
    pub(super) fn new(weights: &'a [f64], freedom: &'a [f64], added: f64, step: &Step) -> Self {
        let displacement = step.displacement();
        let t = step.to - step.turn * step.from;
        Self {
            weights: weights.as_chunks().0,
            freedom: freedom.as_chunks().0,
            added,
            rows: displacement.matrix3.transpose().to_cols_array_2d(),
            shift: displacement.translation.to_array(),
            turn: step.turn,
            dual: DQuat::from_xyzw(t.x, t.y, t.z, 0.0) * step.turn * 0.5,
        }
    }
}

impl Blend<'_> {
    /// What a step does to a block of vertices by itself: `w (B x + t)`, and `w B u` to their ways out.
    #[inline(always)]
    fn add(&self, b: usize, [x, y, z, u, v, o]: &Block, to: &mut Block) {
        let [[a0, a1, a2], [b0, b1, b2], [c0, c1, c2]] = self.rows;
        let [r, s, t] = self.shift;
        let w = &self.weights[b];
        for i in 0..WIDTH {
            to[0][i] += w[i] * (a0 * x[i] + a1 * y[i] + a2 * z[i] + r);
            to[1][i] += w[i] * (b0 * x[i] + b1 * y[i] + b2 * z[i] + s);
            to[2][i] += w[i] * (c0 * x[i] + c1 * y[i] + c2 * z[i] + t);
            to[3][i] += w[i] * (a0 * u[i] + a1 * v[i] + a2 * o[i]);
            to[4][i] += w[i] * (b0 * u[i] + b1 * v[i] + b2 * o[i]);
            to[5][i] += w[i] * (c0 * u[i] + c1 * v[i] + c2 * o[i]);
        }
    }
}

/// Positions and shifts after the steps.
pub(super) struct Fill<'a, 'k> {
    pub(super) kernel: &'a Kernel<'k>,
    /// The number of the first block.
    pub(super) start: usize,
    pub(super) state: &'a [Block],
    pub(super) records: &'a mut [Block],
}

impl WithSimd for Fill<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (b, (from, to)) in (self.start..).zip(self.state.iter().zip(self.records)) {
            let moved = self.kernel.moved(b, from);
            let (mut added, mut freedom) = ([0.0; WIDTH], [0.0; WIDTH]);
            for blend in &self.kernel.blends {
                for i in 0..WIDTH {
                    added[i] += blend.added * blend.freedom[b][i];
                    freedom[i] += blend.freedom[b][i];
                }
            }
            for axis in 0..3 {
                for i in 0..WIDTH {
                    let out = moved[axis + 3][i];
                    to[axis][i] = moved[axis][i] + added[i] * out;
                    to[axis + 3][i] = freedom[i] * out;
                }
            }
        }
    }
}

/// Takes the steps for good: λ times the shifts, and the ways out of the skeleton turned.
pub(super) struct Advance<'a, 'k> {
    pub(super) kernel: &'a Kernel<'k>,
    pub(super) start: usize,
    pub(super) records: &'a [Block],
    pub(super) lambda: f64,
    pub(super) state: &'a mut [Block],
}

impl WithSimd for Advance<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (b, (state, record)) in (self.start..).zip(self.state.iter_mut().zip(self.records)) {
            let moved = self.kernel.moved(b, state);
            for axis in 0..3 {
                for i in 0..WIDTH {
                    state[axis][i] = record[axis][i] + self.lambda * record[axis + 3][i];
                    state[axis + 3][i] = moved[axis + 3][i];
                }
            }
        }
    }
}

impl Kernel<'_> {
    /// Positions and ways out of a block after the steps.
    #[inline(always)]
    fn moved(&self, b: usize, from: &Block) -> Block {
        let mut to = *from;
        if self.is_dual {
            for lane in 0..WIDTH {
                let from = record(std::slice::from_ref(from), lane);
                set_record(std::slice::from_mut(&mut to), lane, self.dual(b, lane, &from));
            }
        } else {
            for blend in &self.blends {
                blend.add(b, from, &mut to);
            }
        }
        to
    }

    /// One vertex by the mean of the rigid motions.
    fn dual(&self, b: usize, lane: usize, &[x, y, z, u, v, o]: &Record) -> Record {
        let (mut real, mut dual) = (DQuat::IDENTITY, DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0));
        for blend in &self.blends {
            let w = blend.weights[b][lane];
            real += (blend.turn - DQuat::IDENTITY) * w;
            dual += blend.dual * w;
        }
        let length = real.norm();
        let (real, dual) = (real * length.recip(), dual * length.recip());
        let moved = dual * real.conjugate() * 2.0;
        let p = real * DVec3::new(x, y, z) + DVec3::new(moved.x, moved.y, moved.z);
        let out = real * DVec3::new(u, v, o);
        [p.x, p.y, p.z, out.x, out.y, out.z]
    }
}

//! The inner loop over the vertices of a region: steps of bones blended, eight vertices at a time.

use glam::{DQuat, DVec3};
use pulp::{Simd, WithSimd};

use super::motion::Step;
use super::sums::Record;

/// Vertices a block works on at a time.
const WIDTH: usize = 8;

type Lane = [f64; WIDTH];

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
        pulp::Arch::new().dispatch(Fill { kernel: self, start, state, records });
    }

    /// Takes the steps for good: λ times the shifts, and the ways out of the skeleton turned.
    pub(super) fn advance(
        &self,
        start: usize,
        records: &[Record],
        lambda: f64,
        state: &mut [Record],
    ) {
        pulp::Arch::new().dispatch(Advance { kernel: self, start, records, lambda, state });
    }

    /// A block of vertices after the steps: positions, then ways out.
    #[inline(always)]
    fn moved(&self, first: usize, block: &[Record]) -> [Lane; 6] {
        let mut vertex = [[0.0; WIDTH]; 6];
        for (lane, record) in block.iter().enumerate() {
            for axis in 0..6 {
                vertex[axis][lane] = record[axis];
            }
        }
        if self.is_dual {
            for lane in 0..block.len() {
                self.turn_dual(first + lane, lane, &mut vertex);
            }
            return vertex;
        }
        let mut to = vertex;
        for blend in &self.blends {
            let w = lanes(blend.weights, first, block.len());
            for axis in 0..3 {
                let ([a, b, c], t) = (blend.rows[axis], blend.shift[axis]);
                for i in 0..WIDTH {
                    let p = a * vertex[0][i] + b * vertex[1][i] + c * vertex[2][i] + t;
                    let u = a * vertex[3][i] + b * vertex[4][i] + c * vertex[5][i];
                    to[axis][i] += w[i] * p;
                    to[axis + 3][i] += w[i] * u;
                }
            }
        }
        to
    }

    /// One vertex by the mean of the rigid motions.
    #[inline(always)]
    fn turn_dual(&self, i: usize, lane: usize, vertex: &mut [Lane; 6]) {
        let (mut real, mut dual) = (DQuat::IDENTITY, DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0));
        for blend in &self.blends {
            let w = blend.weights[i];
            real += (blend.turn - DQuat::IDENTITY) * w;
            dual += blend.dual * w;
        }
        let length = real.length();
        let (real, dual) = (real * length.recip(), dual * length.recip());
        let moved = dual * real.conjugate() * 2.0;
        let at = |axis: usize| {
            DVec3::new(vertex[axis][lane], vertex[axis + 1][lane], vertex[axis + 2][lane])
        };
        let p = real * at(0) + DVec3::new(moved.x, moved.y, moved.z);
        let u = real * at(3);
        for (axis, x) in p.to_array().into_iter().chain(u.to_array()).enumerate() {
            vertex[axis][lane] = x;
        }
    }
}

/// The numbers of a block; zeros beyond its end.
#[inline(always)]
fn lanes(values: &[f64], first: usize, count: usize) -> Lane {
    let mut lane = [0.0; WIDTH];
    for (to, from) in lane.iter_mut().zip(&values[first..first + count]) {
        *to = *from;
    }
    lane
}

struct Fill<'a, 'k> {
    kernel: &'a Kernel<'k>,
    start: usize,
    state: &'a [Record],
    records: &'a mut [Record],
}

impl WithSimd for Fill<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let blocks = self.state.chunks(WIDTH).zip(self.records.chunks_mut(WIDTH));
        for (k, (state, records)) in blocks.enumerate() {
            let first = self.start + k * WIDTH;
            let moved = self.kernel.moved(first, state);
            let (mut added, mut freedom) = ([0.0; WIDTH], [0.0; WIDTH]);
            for blend in &self.kernel.blends {
                let s = lanes(blend.freedom, first, state.len());
                for i in 0..WIDTH {
                    added[i] += blend.added * s[i];
                    freedom[i] += s[i];
                }
            }
            for (i, record) in records.iter_mut().enumerate() {
                for axis in 0..3 {
                    let u = moved[axis + 3][i];
                    record[axis] = moved[axis][i] + added[i] * u;
                    record[axis + 3] = freedom[i] * u;
                }
            }
        }
    }
}

struct Advance<'a, 'k> {
    kernel: &'a Kernel<'k>,
    start: usize,
    records: &'a [Record],
    lambda: f64,
    state: &'a mut [Record],
}

impl WithSimd for Advance<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let blocks = self.state.chunks_mut(WIDTH).zip(self.records.chunks(WIDTH));
        for (k, (state, records)) in blocks.enumerate() {
            let moved = self.kernel.moved(self.start + k * WIDTH, state);
            for (i, (vertex, record)) in state.iter_mut().zip(records).enumerate() {
                for axis in 0..3 {
                    vertex[axis] = record[axis] + self.lambda * record[axis + 3];
                    vertex[axis + 3] = moved[axis + 3][i];
                }
            }
        }
    }
}

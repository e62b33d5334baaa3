//! Blocks of points as a structure of arrays: the form in which the kernels work.
//!
//! A kernel is a plain loop over the lanes of a block, so one body serves a single point (`L = 1`)
//! and sixteen at a time; the compiler turns the loop into vector instructions, and since no
//! operation is contracted or reordered both give the same bits.

use glam::{Mat4, Vec3, Vec4};

/// Points a kernel works on at a time: one 512-bit or two 256-bit registers.
pub(crate) const WIDTH: usize = 16;

/// `L` vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes<const L: usize> {
    pub(crate) x: [f32; L],
    pub(crate) y: [f32; L],
    pub(crate) z: [f32; L],
}

impl<const L: usize> Lanes<L> {
    pub(crate) const ZERO: Self = Self { x: [0.0; L], y: [0.0; L], z: [0.0; L] };

    #[inline(always)]
    pub(crate) fn get(&self, lane: usize) -> Vec3 {
        Vec3::new(self.x[lane], self.y[lane], self.z[lane])
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, lane: usize, v: Vec3) {
        self.x[lane] = v.x;
        self.y[lane] = v.y;
        self.z[lane] = v.z;
    }

    /// Some points, at least one; if there are fewer than `L` the last is repeated.
    #[inline(always)]
    pub(crate) fn of(points: &[Vec3]) -> Self {
        let mut lanes = Self::ZERO;
        for (lane, x) in points.iter().enumerate() {
            lanes.set(lane, *x);
        }
        for lane in points.len()..L {
            lanes.set(lane, points[points.len() - 1]);
        }
        lanes
    }

    /// All of them moved by a vector.
    #[inline(always)]
    pub(crate) fn shifted(&self, by: Vec3) -> Self {
        let mut moved = *self;
        for i in 0..L {
            moved.x[i] += by.x;
            moved.y[i] += by.y;
            moved.z[i] += by.z;
        }
        moved
    }

    /// The least and the greatest of each coordinate; `L` is a power of two.
    #[inline(always)]
    pub(crate) fn bounds(&self) -> [Vec3; 2] {
        let Self { x, y, z } = self;
        let (less, more) = (|a: f32, b: f32| a < b, |a: f32, b: f32| a > b);
        [
            Vec3::new(foremost(x, less), foremost(y, less), foremost(z, less)),
            Vec3::new(foremost(x, more), foremost(y, more), foremost(z, more)),
        ]
    }

    /// The first `L` of the points; if there are fewer the last one is repeated.
    #[inline(always)]
    pub(crate) fn gather(points: &[Vec3], indices: &[usize]) -> Self {
        let mut lanes = Self::ZERO;
        for lane in 0..L {
            lanes.set(lane, points[indices[lane.min(indices.len() - 1)]]);
        }
        lanes
    }
}

/// The least of some numbers; `L` is a power of two.
#[inline(always)]
pub(crate) fn least<const L: usize>(numbers: &[f32; L]) -> f32 {
    foremost(numbers, |a, b| a < b)
}

/// The greatest of some numbers; `L` is a power of two.
#[inline(always)]
pub(crate) fn greatest<const L: usize>(numbers: &[f32; L]) -> f32 {
    foremost(numbers, |a, b| a > b)
}

/// What comes first: halves against each other, which vector registers do well.
#[inline(always)]
fn foremost<const L: usize>(lanes: &[f32; L], is_before: impl Fn(f32, f32) -> bool) -> f32 {
    let mut first = *lanes;
    let mut half = L / 2;
    while half > 0 {
        for i in 0..half {
            let (a, b) = (first[i], first[i + half]);
            first[i] = if is_before(b, a) { b } else { a };
        }
        half /= 2;
    }
    first[0]
}

/// A scalar field in each lane: its value and its gradient.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalarLanes<const L: usize> {
    pub(crate) value: [f32; L],
    pub(crate) gradient: Lanes<L>,
}

impl<const L: usize> ScalarLanes<L> {
    pub(crate) const ZERO: Self = Self { value: [0.0; L], gradient: Lanes::ZERO };
}

/// Rows of twelve numbers as columns, one lane a row.
#[inline(always)]
pub(crate) fn columns<'a>(row: impl Fn(usize) -> &'a [f32; 12]) -> [[f32; WIDTH]; 12] {
    let mut out = [[0.0; WIDTH]; 12];
    for lane in (0..WIDTH).step_by(4) {
        let [a, b, c, d] = [row(lane), row(lane + 1), row(lane + 2), row(lane + 3)];
        for k in (0..12).step_by(4) {
            // One by one: what maps an array is not inlined, and so compiled for the oldest machine.
            let four = |row: &[f32; 12]| Vec4::new(row[k], row[k + 1], row[k + 2], row[k + 3]);
            let square = Mat4::from_cols(four(a), four(b), four(c), four(d)).transpose();
            square.x_axis.write_to_slice(&mut out[k][lane..]);
            square.y_axis.write_to_slice(&mut out[k + 1][lane..]);
            square.z_axis.write_to_slice(&mut out[k + 2][lane..]);
            square.w_axis.write_to_slice(&mut out[k + 3][lane..]);
        }
    }
    out
}

/// Columns of twelve numbers as rows: the way back.
#[inline(always)]
pub(crate) fn rows(columns: &[[f32; WIDTH]; 12]) -> [[f32; 12]; WIDTH] {
    let mut out = [[0.0; 12]; WIDTH];
    for lane in (0..WIDTH).step_by(4) {
        for k in (0..12).step_by(4) {
            let four = |i: usize| Vec4::from_slice(&columns[k + i][lane..]);
            let square = Mat4::from_cols(four(0), four(1), four(2), four(3)).transpose();
            square.x_axis.write_to_slice(&mut out[lane][k..]);
            square.y_axis.write_to_slice(&mut out[lane + 1][k..]);
            square.z_axis.write_to_slice(&mut out[lane + 2][k..]);
            square.w_axis.write_to_slice(&mut out[lane + 3][k..]);
        }
    }
    out
}

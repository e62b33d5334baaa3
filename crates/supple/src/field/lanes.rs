//! Blocks of points as a structure of arrays: the form in which the kernels work.
//!
//! A kernel is a plain loop over the lanes of a block, so one body serves a single point (`L = 1`)
//! and sixteen at a time; the compiler turns the loop into vector instructions, and since no
//! operation is contracted or reordered both give the same bits.

use glam::Vec3;

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

/// A scalar field in each lane: its value and its gradient.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalarLanes<const L: usize> {
    pub(crate) value: [f32; L],
    pub(crate) gradient: Lanes<L>,
}

impl<const L: usize> ScalarLanes<L> {
    pub(crate) const ZERO: Self = Self { value: [0.0; L], gradient: Lanes::ZERO };
}

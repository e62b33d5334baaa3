//! The inner loop: blocks of vertices through the fields of their joints.

use glam::{Mat4, Vec3};
use pulp::{Simd, WithSimd};

use super::field::{PosedSet, SetBounds, ball, integrate, steps_for};
use super::layout::{BLOCK, Layout, VertexBlock};
use crate::Run;
use crate::lanes::Lanes;

/// Blocks in one task: fixed, so that the thread count changes no bits.
const BLOCKS_A_TASK: usize = 16;

/// The sets of a frame, and which of them each joint's flesh feels.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    pub(super) sets: Vec<PosedSet>,
    /// For each joint, the sets of each phase: the local ones, then the global ones.
    pub(super) felt: Vec<[Vec<u32>; 2]>,
}

/// What became of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moved {
    by: [Vec3; BLOCK],
    /// Runge–Kutta steps of its longest way; 0 if nothing reached it.
    steps: u32,
    /// How many of its vertices moved.
    vertices: u32,
}

/// What a sweep over all blocks did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Swept {
    /// Steps of the block that needed most.
    pub(super) steps: u32,
    /// Vertices that moved.
    pub(super) vertices: u64,
}

/// Moves the vertices by (5.16), the paper's (18): `x' = x + Σ w_k (d_k(y_k) − y_k)`, `y_k = M_k x₀ + e`.
pub(super) fn deform(
    layout: &Layout,
    fields: &Fields,
    joints: &[Mat4],
    positions: &mut [Vec3],
    run: &Run<'_>,
) -> Swept {
    let arch = pulp::Arch::new();
    let reaches: Vec<SetBounds> = fields.sets.iter().map(SetBounds::of).collect();
    let before: &[Vec3] = positions;
    let moved = run.map_tasks(layout.blocks.len().div_ceil(BLOCKS_A_TASK), |task| {
        if run.is_cancelled() {
            return Vec::new();
        }
        let blocks = &layout.blocks[task * BLOCKS_A_TASK..];
        let blocks = &blocks[..blocks.len().min(BLOCKS_A_TASK)];
        let way = NearFields { fields, reaches: &reaches, near: Vec::new(), gaps: Vec::new() };
        let mut moved = vec![Moved::default(); blocks.len()];
        arch.dispatch(Sweep { layout, way, joints, positions: before, blocks, moved: &mut moved });
        moved
    });
    run.for_each(positions, |vertex, x| {
        let Some((block, lane)) = layout.place(vertex) else { return };
        let Some(moved) = moved[block / BLOCKS_A_TASK].get(block % BLOCKS_A_TASK) else { return };
        if moved.by[lane] != Vec3::ZERO {
            *x += moved.by[lane];
        }
    });
    let moved = moved.iter().flatten();
    Swept {
        steps: moved.clone().map(|m| m.steps).max().unwrap_or(0),
        vertices: moved.map(|m| u64::from(m.vertices)).sum(),
    }
}

/// Some blocks.
struct Sweep<'a> {
    layout: &'a Layout,
    way: NearFields<'a>,
    joints: &'a [Mat4],
    positions: &'a [Vec3],
    blocks: &'a [VertexBlock],
    moved: &'a mut [Moved],
}

impl WithSimd for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        for (block, moved) in self.blocks.iter().zip(self.moved) {
            let influences = self.layout.influences(block);
            let felt = |joint: u16| &self.way.fields.felt[usize::from(joint)];
            if influences.iter().all(|i| felt(i.joint).iter().all(Vec::is_empty)) {
                continue;
            }
            let at = block.gather(self.positions);
            let beyond = block.beyond_blend(&at, influences, self.joints);
            let mut by = Lanes::<BLOCK>::ZERO;
            for influence in influences {
                let joint = usize::from(influence.joint);
                let start = match &beyond {
                    Some(beyond) => block.carried(&self.joints[joint], beyond),
                    None => at,
                };
                let mut end = start;
                let steps = self.way.carry(joint, &mut end);
                if steps == 0 {
                    continue;
                }
                moved.steps = moved.steps.max(steps);
                for i in 0..BLOCK {
                    let share = block.shares[i] * influence.weights[i];
                    by.x[i] += share * (end.x[i] - start.x[i]);
                    by.y[i] += share * (end.y[i] - start.y[i]);
                    by.z[i] += share * (end.z[i] - start.z[i]);
                }
            }
            if moved.steps > 0 {
                moved.by = std::array::from_fn(|lane| by.get(lane));
                moved.vertices = count(&by, block.count);
            }
        }
    }
}

/// How many of the first lanes are not zero.
#[inline(always)]
fn count(by: &Lanes<BLOCK>, lanes: usize) -> u32 {
    let mut has_moved = [0; BLOCK];
    for (i, moved) in has_moved.iter_mut().enumerate() {
        *moved = u32::from((by.x[i] != 0.0) | (by.y[i] != 0.0) | (by.z[i] != 0.0));
    }
    has_moved[..lanes].iter().sum()
}

/// The fields points go through, with memory for those that are near.
struct NearFields<'a> {
    fields: &'a Fields,
    /// Of each set.
    reaches: &'a [SetBounds],
    near: Vec<u32>,
    gaps: Vec<f32>,
}

impl NearFields<'_> {
    /// Carries points through the local, then the global sets of a joint that reach them; returns the
    /// steps of the longer way. Contact fields are concatenated after these.
    #[inline(always)]
    fn carry<const L: usize>(&mut self, joint: usize, x: &mut Lanes<L>) -> u32 {
        let mut most = 0;
        for phase in &self.fields.felt[joint] {
            let steepness = self.find_near(phase, x);
            if self.near.is_empty() {
                continue;
            }
            let steps = steps_for(steepness);
            integrate(&self.fields.sets, &self.near, steps, x);
            most = most.max(steps);
        }
        most
    }

    /// Finds the sets that can reach the points, wherever those sets carry them; returns a bound of
    /// `‖∇v‖`.
    #[inline(always)]
    fn find_near<const L: usize>(&mut self, felt: &[u32], x: &Lanes<L>) -> f32 {
        self.near.clear();
        if felt.is_empty() {
            return 0.0;
        }
        let (center, radius) = ball(x);
        self.gaps.clear();
        self.gaps.extend(felt.iter().map(|&s| self.reaches[s as usize].gap(center) - radius));
        let (mut drift, mut steepness) = (0.0, 0.0);
        loop {
            let known = self.near.len();
            self.near.clear();
            let near = felt.iter().zip(&self.gaps).filter(|(_, gap)| **gap <= drift);
            self.near.extend(near.map(|(set, _)| *set));
            if self.near.len() == known {
                return steepness;
            }
            (drift, steepness) = (0.0, 0.0);
            for &set in &self.near {
                drift += self.reaches[set as usize].drift;
                steepness += self.reaches[set as usize].steepness;
            }
        }
    }
}

#[cfg(test)]
pub(super) fn carry_one(fields: &Fields, joint: usize, x: Vec3) -> Vec3 {
    let mut lanes = Lanes::<1>::ZERO;
    lanes.set(0, x);
    let reaches: Vec<SetBounds> = fields.sets.iter().map(SetBounds::of).collect();
    let mut way = NearFields { fields, reaches: &reaches, near: Vec::new(), gaps: Vec::new() };
    way.carry(joint, &mut lanes);
    lanes.get(0)
}

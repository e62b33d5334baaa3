//! The inner loop: blocks of vertices through the fields of their joints.

use glam::{Mat4, Vec3};
use pulp::{Simd, WithSimd};

use super::field::{PosedSet, ball, integrate, steps_for};
use super::layout::{Block, Layout};
use crate::Run;
use crate::field::lanes::{Lanes, WIDTH};

/// Blocks in one task: fixed, so that the thread count changes no bits.
const BLOCKS_A_TASK: usize = 32;

/// The sets of a frame, and which of them each joint's flesh feels.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    pub(super) sets: Vec<PosedSet>,
    /// For each joint, the sets of each phase: the local ones, then the global ones.
    pub(super) felt: Vec<[Vec<u32>; 2]>,
}

/// What became of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    by: Lanes<WIDTH>,
    /// Runge–Kutta steps of its longest way; 0 if nothing reached it.
    steps: u32,
}

/// What a sweep over all blocks did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Swept {
    /// Steps of the block that needed most.
    pub(super) steps: u32,
    /// Vertices that moved.
    pub(super) vertices: u64,
}

/// Moves the vertices by the source's (18): `x' = x + Σ w_k (d_k(y_k) − y_k)`, `y_k = M_k x₀ + e`.
pub(super) fn deform(
    layout: &Layout,
    fields: &Fields,
    joints: &[Mat4],
    positions: &mut [Vec3],
    run: &Run<'_>,
) -> Swept {
    let arch = pulp::Arch::new();
    let mut moved = vec![Moved { by: Lanes::ZERO, steps: 0 }; layout.blocks.len()];
    let before: &[Vec3] = positions;
    run.for_each_piece(&mut moved, BLOCKS_A_TASK, |start, moved| {
        if !run.is_cancelled() {
            let blocks = &layout.blocks[start..start + moved.len()];
            arch.dispatch(Sweep { layout, fields, joints, positions: before, blocks, moved });
        }
    });
    run.for_each(positions, |vertex, x| {
        let Some((block, lane)) = layout.place(vertex) else { return };
        let by = moved[block].by.get(lane);
        if moved[block].steps > 0 && by != Vec3::ZERO {
            *x += by;
        }
    });
    let count = |(block, moved): (&Block, &Moved)| {
        (0..block.count).filter(|&lane| moved.by.get(lane) != Vec3::ZERO).count() as u64
    };
    let reached = layout.blocks.iter().zip(&moved).filter(|(_, m)| m.steps > 0);
    Swept {
        steps: moved.iter().map(|m| m.steps).max().unwrap_or(0),
        vertices: reached.map(count).sum(),
    }
}

/// Some blocks.
struct Sweep<'a> {
    layout: &'a Layout,
    fields: &'a Fields,
    joints: &'a [Mat4],
    positions: &'a [Vec3],
    blocks: &'a [Block],
    moved: &'a mut [Moved],
}

impl WithSimd for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let mut near = Vec::with_capacity(self.fields.sets.len());
        for (block, moved) in self.blocks.iter().zip(self.moved) {
            let influences = self.layout.influences(block);
            let felt = |joint: u16| &self.fields.felt[usize::from(joint)];
            if influences.iter().all(|i| felt(i.joint).iter().all(Vec::is_empty)) {
                continue;
            }
            let at = block.gather(self.positions);
            let beyond = block.beyond_blend(&at, influences, self.joints);
            for influence in influences {
                let joint = usize::from(influence.joint);
                let start = match &beyond {
                    Some(beyond) => block.carried(&self.joints[joint], beyond),
                    None => at,
                };
                let mut end = start;
                let steps = carry(self.fields, felt(influence.joint), &mut near, &mut end);
                if steps == 0 {
                    continue;
                }
                moved.steps = moved.steps.max(steps);
                for i in 0..WIDTH {
                    let share = block.shares[i] * influence.weights[i];
                    moved.by.x[i] += share * (end.x[i] - start.x[i]);
                    moved.by.y[i] += share * (end.y[i] - start.y[i]);
                    moved.by.z[i] += share * (end.z[i] - start.z[i]);
                }
            }
        }
    }
}

/// Carries points through the local, then the global sets that reach them; returns the steps of the
/// longer way. Contact fields are concatenated after these.
#[inline(always)]
fn carry<const L: usize>(
    fields: &Fields,
    felt: &[Vec<u32>; 2],
    near: &mut Vec<u32>,
    x: &mut Lanes<L>,
) -> u32 {
    let mut most = 0;
    for phase in felt {
        let steepness = find_near(&fields.sets, phase, x, near);
        if near.is_empty() {
            continue;
        }
        let steps = steps_for(steepness);
        integrate(&fields.sets, near, steps, x);
        most = most.max(steps);
    }
    most
}

/// The sets that can reach the points, wherever those sets carry them; returns a bound of `‖∇v‖`.
#[inline(always)]
fn find_near<const L: usize>(
    sets: &[PosedSet],
    felt: &[u32],
    x: &Lanes<L>,
    near: &mut Vec<u32>,
) -> f32 {
    let (center, radius) = ball(x);
    near.clear();
    let mut drift = 0.0;
    loop {
        let known = near.len();
        let reach = radius + drift;
        near.clear();
        near.extend(felt.iter().filter(|&&s| sets[s as usize].reaches(center, reach)));
        if near.len() == known {
            break;
        }
        drift = near.iter().map(|&s| sets[s as usize].drift()).sum();
    }
    near.iter().map(|&s| sets[s as usize].steepness()).sum()
}

#[cfg(test)]
pub(super) fn carry_one(fields: &Fields, felt: &[Vec<u32>; 2], x: Vec3) -> Vec3 {
    let mut lanes = Lanes::<1>::ZERO;
    lanes.set(0, x);
    carry(fields, felt, &mut Vec::new(), &mut lanes);
    lanes.get(0)
}

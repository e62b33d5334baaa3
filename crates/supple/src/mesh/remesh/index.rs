//! Which triangles are near a box, while triangles come, go and move.
//!
//! A complete binary tree of boxes over the triangles in the order of the Morton curve, four to a leaf.
//! A triangle that is added joins a leaf of its neighbourhood; boxes only grow. That costs little as
//! long as triangles stay about where they were, and the tree is rebuilt after every pass.

use glam::Vec3;

use super::connect::NONE;
use super::work::Work;
use crate::Run;
use crate::mesh::bvh::along_curve;
use crate::mesh::measure::Bounds;

/// Triangles in a leaf at first.
const LEAF: usize = 4;

#[derive(Debug)]
pub(super) struct Index {
    /// The tree; children of `i` are `2 i + 1` and `2 i + 2`.
    boxes: Vec<Bounds>,
    /// First triangle of each leaf, and the next one in the same leaf.
    head: Vec<u32>,
    next: Vec<u32>,
    leaf_of: Vec<u32>,
}

impl Index {
    /// The order of triangles in space, for [`Work::compact`].
    pub(super) fn order(work: &Work, run: &Run<'_>) -> Vec<u32> {
        let alive: Vec<u32> =
            (0..work.triangles.len() as u32).filter(|&t| work.is_alive(t)).collect();
        let middle = run.map(alive.len(), |i| {
            let [a, b, c] = work.corners_of(alive[i]);
            a + b + c
        });
        along_curve(&middle, run).into_iter().map(|i| alive[i as usize]).collect()
    }

    /// Of a compact mesh whose triangles are in the order of space.
    pub(super) fn new(work: &Work) -> Self {
        let count = work.triangles.len();
        let leaves = count.div_ceil(LEAF).max(1).next_power_of_two();
        let first = leaves - 1;
        let mut boxes = vec![Bounds::EMPTY; 2 * leaves - 1];
        let (mut head, mut next) = (vec![NONE; leaves], vec![NONE; count]);
        // Spread evenly, so that no half of the tree is empty.
        let leaf_of: Vec<u32> =
            (0..count).map(|t| (t as u64 * leaves as u64 / count as u64) as u32).collect();
        for t in 0..count {
            let leaf = leaf_of[t] as usize;
            next[t] = std::mem::replace(&mut head[leaf], t as u32);
            let own = bounds_of(&work.corners_of(t as u32));
            boxes[first + leaf] = boxes[first + leaf].union(&own);
        }
        for i in (0..first).rev() {
            boxes[i] = boxes[2 * i + 1].union(&boxes[2 * i + 2]);
        }
        Self { boxes, head, next, leaf_of }
    }

    /// Tells of a triangle that moved, or of a new one beside `near`.
    pub(super) fn update(&mut self, t: u32, near: u32, corners: &[Vec3; 3]) {
        if t as usize >= self.next.len() {
            let leaf = self.leaf_of[near as usize];
            self.next.resize(t as usize + 1, NONE);
            self.leaf_of.resize(t as usize + 1, leaf);
            self.next[t as usize] = std::mem::replace(&mut self.head[leaf as usize], t);
        }
        let own = bounds_of(corners);
        let mut i = self.head.len() - 1 + self.leaf_of[t as usize] as usize;
        loop {
            let grown = self.boxes[i].union(&own);
            if grown == self.boxes[i] {
                break;
            }
            self.boxes[i] = grown;
            if i == 0 {
                break;
            }
            i = (i - 1) / 2;
        }
    }

    /// Calls `visit` with the triangles of all leaves that share a point with `query`, until it says
    /// to stop.
    pub(super) fn near(&self, query: &Bounds, mut visit: impl FnMut(u32) -> bool) -> bool {
        let first = self.head.len() - 1;
        let mut stack = [0_u32; 64];
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let i = stack[depth] as usize;
            if !self.boxes[i].overlaps(query) {
                continue;
            }
            if i < first {
                stack[depth] = 2 * i as u32 + 2;
                stack[depth + 1] = 2 * i as u32 + 1;
                depth += 2;
                continue;
            }
            let mut t = self.head[i - first];
            while t != NONE {
                if visit(t) {
                    return true;
                }
                t = self.next[t as usize];
            }
        }
        false
    }
}

/// The box of a triangle.
pub(super) fn bounds_of([a, b, c]: &[Vec3; 3]) -> Bounds {
    Bounds { min: a.min(*b).min(*c), max: a.max(*b).max(*c) }
}

//! The neighbours of each vertex in order around it.

use super::table::{Share, Table};

/// The neighbours of the vertices that move.
pub(super) struct Fans {
    /// The neighbours, and how much larger s is there. Where a fan ends and another begins, the vertex itself.
    pub(super) spokes: Table,
    /// The neighbour that comes before the first; the vertex itself at a border.
    pub(super) before: Vec<u32>,
}

impl Fans {
    /// Of the first `moving` vertices, with s of each.
    pub(super) fn new(triangles: &[[u32; 3]], moving: usize, values: &[f32]) -> Self {
        let mut sides: Vec<Vec<[u32; 2]>> = vec![Vec::new(); moving];
        for &[a, b, c] in triangles {
            for [apex, next, last] in [[a, b, c], [b, c, a], [c, a, b]] {
                if let Some(sides) = sides.get_mut(apex as usize) {
                    sides.push([next, last]);
                }
            }
        }
        let mut fans = Self { spokes: Table::default(), before: Vec::with_capacity(moving) };
        for (v, sides) in (0..).zip(sides) {
            let (around, is_closed) = strung(sides, v);
            let rise = |to: u32| values[to as usize] - values[v as usize];
            fans.before.push(around.last().copied().filter(|_| is_closed).unwrap_or(v));
            fans.spokes.push(around.into_iter().map(|to| Share { of: to, weight: rise(to) }));
        }
        fans
    }

    /// Whether no moving vertex lies on a border.
    pub(super) fn are_closed(&self) -> bool {
        (0_u32..).zip(&self.before).all(|(v, before)| v != *before)
    }
}

/// Strings the sides opposite of a vertex together; whether the last neighbour comes before the first.
fn strung(mut sides: Vec<[u32; 2]>, apex: u32) -> (Vec<u32>, bool) {
    let mut around = Vec::with_capacity(sides.len() + 1);
    let mut is_closed = false;
    while !sides.is_empty() {
        // At a border begins what no other side leads to.
        let begins = |s: &[u32; 2]| sides.iter().all(|other| other[1] != s[0]);
        let start = sides.iter().position(begins).unwrap_or(0);
        let [first, mut end] = sides.swap_remove(start);
        if !around.is_empty() {
            around.push(apex);
        }
        around.push(first);
        while let Some(next) = sides.iter().position(|s| s[0] == end) {
            around.push(end);
            [_, end] = sides.swap_remove(next);
        }
        if end == first {
            is_closed = !around.contains(&apex) && sides.is_empty();
        } else {
            around.push(end);
        }
    }
    (around, is_closed)
}

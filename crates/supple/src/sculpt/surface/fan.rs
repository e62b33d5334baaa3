//! The neighbours of each vertex in order around it.

use super::table::{Share, Table};
use crate::mesh::adjacency::{others, vertex_triangles};

/// The neighbours of the vertices that move.
pub(super) struct Fans {
    /// The neighbours, and how much larger s is there. Where a fan ends and another begins, the vertex itself.
    pub(super) spokes: Table,
    /// The neighbour that comes before the first; the vertex itself at a border.
    pub(super) before: Vec<u32>,
    /// Half of a vertex and half of the mean of its neighbours that move.
    pub(super) averaging: Table,
}

impl Fans {
    /// Of the first `moving` vertices, with s of each.
    pub(super) fn new(triangles: &[[u32; 3]], moving: usize, values: &[f32]) -> Self {
        let around = vertex_triangles(values.len(), triangles);
        let mut fans = Self {
            spokes: Table::default(),
            before: Vec::with_capacity(moving),
            averaging: Table::default(),
        };
        let mut sides = Vec::new();
        for v in 0..moving as u32 {
            sides.extend(around.row(v as usize).iter().map(|&t| others(triangles[t as usize], v)));
            let (around, is_closed) = strung(&mut sides, v);
            fans.averaging.push(averaging(&around, v, moving));
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

/// The weights of a vertex and of those around it that move.
fn averaging(around: &[u32], v: u32, moving: usize) -> impl Iterator<Item = Share> {
    let others = around.iter().filter(move |&&to| to != v && (to as usize) < moving);
    let count = others.clone().count();
    let (own, each) = if count > 0 { (0.5, 0.5 / count as f32) } else { (1.0, 0.0) };
    std::iter::once(Share { of: v, weight: own })
        .chain(others.map(move |&of| Share { of, weight: each }))
}

/// Strings the sides opposite of a vertex together, and takes them out; whether the last neighbour comes before the first.
fn strung(sides: &mut Vec<[u32; 2]>, apex: u32) -> (Vec<u32>, bool) {
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

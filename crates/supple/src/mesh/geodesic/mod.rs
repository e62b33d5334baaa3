//! Distances along a surface.
//!
//! | | [`dijkstra`] | [`heat`] |
//! |---|---|---|
//! | error | some 4 %, along creases; not less on a finer mesh | less than 1 %, less on a finer mesh |
//! | result | rough; [`smoothed`] averages it | smooth by itself |
//! | cost | one search | one factorisation, then two triangular solves a search |
//!
//! A vertex that cannot be reached is infinitely far.

pub mod dijkstra;
pub mod heat;
mod intrinsic;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::adjacency::Rows;
use crate::Run;

/// How distances are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Shortest paths over edges and across pairs of triangles, averaged over the neighbours.
    #[default]
    Dijkstra,
    /// The heat method.
    Heat,
}

/// Values averaged over the neighbours, some times; those that are not finite stay.
#[must_use]
pub fn smoothed(values: &[f32], around: &Rows, times: u32, run: &Run<'_>) -> Vec<f32> {
    let mut current = values.to_vec();
    for _ in 0..times {
        current = run.map(current.len(), |i| {
            let finite =
                around.row(i).iter().map(|&j| current[j as usize]).filter(|v| v.is_finite());
            let (sum, count) = finite.fold((0.0, 0.0), |(s, n), v| (s + v, n + 1.0));
            if count > 0.0 && current[i].is_finite() {
                0.5 * (current[i] + sum / count)
            } else {
                current[i]
            }
        });
    }
    current
}

#[cfg(test)]
mod tests;

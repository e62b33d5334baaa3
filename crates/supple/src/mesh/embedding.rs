//! A skin in a body of tets: each of its vertices is a blend of the four corners of one tet.
//!
//! A vertex inside the body belongs to the tet that holds it. One outside belongs to the tet of the nearest face of the
//! boundary, and its weights go below zero: it is carried on as that tet moves. How far they are outside is said.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::Run;
//! use supple::mesh::{TetMesh, embedding::Embedding};
//!
//! let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
//! let body = TetMesh::new(corners.clone(), vec![[0, 1, 2, 3]]);
//! let skin = [Vec3::splat(0.2)];
//! let embedding = Embedding::new(&skin, &body, &Run::default())?;
//! let moved: Vec<Vec3> = corners.iter().map(|p| 2.0 * *p).collect();
//! assert!(embedding.apply(&moved, &Run::default())[0].distance(Vec3::splat(0.4)) < 1e-6);
//! # Ok::<(), supple::run::Cancelled>(())
//! ```

use std::collections::HashMap;

use glam::{DMat3, DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::TetMesh;
use super::bvh::Bvh;
use super::measure::Bounds;
use super::tet::FACES;
use crate::Run;
use crate::run::Cancelled;

/// Points a task looks at.
const TASK: usize = 1024;

/// How far below zero a weight may be by rounding.
const ROUNDING: f64 = 1e-6;

/// A skin's vertices in the tets of a body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Embedding {
    /// The tet of each vertex.
    pub tets: Vec<u32>,
    /// The corners of that tet.
    pub nodes: Vec<[u32; 4]>,
    /// The weights of those corners; they add up to one.
    pub weights: Vec<[f32; 4]>,
    /// How many vertices are outside of all tets.
    pub outside: usize,
    /// How far the farthest of them is from the body.
    pub farthest: f32,
    /// The smallest weight; zero or more if no vertex is outside.
    pub least_weight: f32,
}

/// Where a vertex is: its tet, its weights, how far outside.
type Held = (u32, [f64; 4], f32);

impl Embedding {
    /// Finds the tet of each point. Without tets the embedding is empty.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] when the caller asked to stop.
    pub fn new(points: &[Vec3], body: &TetMesh, run: &Run<'_>) -> Result<Self, Cancelled> {
        if body.tets.is_empty() {
            return Ok(Self::default());
        }
        let finder = Finder::new(body, run);
        let parts = run.map_tasks(points.len().div_ceil(TASK), |task| {
            run.check()?;
            let end = points.len().min((task + 1) * TASK);
            Ok(points[task * TASK..end].iter().map(|&p| finder.find(p)).collect::<Vec<Held>>())
        });
        let mut embedding = Self::default();
        for part in parts {
            for (tet, weights, outside) in part? {
                embedding.tets.push(tet);
                embedding.nodes.push(body.tets[tet as usize]);
                let weights = weights.map(|w| w as f32);
                embedding.weights.push(weights);
                embedding.outside += usize::from(outside > 0.0);
                embedding.farthest = embedding.farthest.max(outside);
                embedding.least_weight = weights.into_iter().fold(embedding.least_weight, f32::min);
            }
        }
        Ok(embedding)
    }

    /// Where the skin is when the body's nodes are at `nodes`.
    ///
    /// # Panics
    ///
    /// If there are fewer nodes than the body has.
    #[must_use]
    pub fn apply(&self, nodes: &[Vec3], run: &Run<'_>) -> Vec<Vec3> {
        run.map(self.nodes.len(), |i| self.blend(i, |node| nodes[node as usize]))
    }

    /// The blend of what the four corners of vertex `i` say.
    #[inline(always)]
    pub fn blend(&self, i: usize, of_node: impl Fn(u32) -> Vec3) -> Vec3 {
        let (nodes, weights) = (&self.nodes[i], &self.weights[i]);
        (0..4).map(|k| weights[k] * of_node(nodes[k])).sum()
    }

    /// The weights of vertex `i` with none below zero; they add up to one. For blends of maps, which are carried on
    /// outside by the maps themselves.
    #[must_use]
    pub fn clamped_weights(&self, i: usize) -> [f32; 4] {
        let clamped = self.weights[i].map(|w| w.max(0.0));
        // At least a quarter each would add up to one: the sum of all is one.
        let sum: f32 = clamped.iter().sum();
        clamped.map(|w| w / sum)
    }
}

/// Finds tets by place.
struct Finder<'a> {
    body: &'a TetMesh,
    /// The boxes of all tets, each as a triangle between its two ends.
    boxes: Bvh,
    boundary: Bvh,
    /// The tet of each face of the boundary.
    behind: Vec<u32>,
}

impl<'a> Finder<'a> {
    fn new(body: &'a TetMesh, run: &Run<'_>) -> Self {
        let mut ends = Vec::with_capacity(2 * body.tets.len());
        for t in 0..body.tets.len() {
            let bounds = Bounds::of(&body.corners_of(t)).unwrap_or(Bounds::EMPTY);
            ends.extend([bounds.min, bounds.max]);
        }
        let spans: Vec<[u32; 3]> =
            (0..body.tets.len() as u32).map(|t| [2 * t, 2 * t + 1, 2 * t]).collect();
        let (faces, behind) = boundary(body);
        Self {
            body,
            boxes: Bvh::new(&ends, &spans, run),
            boundary: Bvh::new(&body.positions, &faces, run),
            behind,
        }
    }

    fn find(&self, point: Vec3) -> Held {
        let here = Bounds { min: point, max: point };
        let mut best: Option<Held> = None;
        for tet in self.boxes.in_box(&here) {
            let weights = self.weights(tet, point);
            let least = |weights: &[f64; 4]| weights.iter().copied().fold(f64::INFINITY, f64::min);
            let is_better = best.is_none_or(|(_, b, _)| least(&weights) > least(&b));
            if least(&weights) >= -ROUNDING && is_better {
                best = Some((tet, weights, 0.0));
            }
        }
        best.unwrap_or_else(|| self.find_outside(point))
    }

    fn find_outside(&self, point: Vec3) -> Held {
        let Some(closest) = self.boundary.closest_point(point) else {
            return (0, [0.25; 4], 0.0);
        };
        let tet = self.behind[closest.triangle as usize];
        (tet, self.weights(tet, point), closest.distance)
    }

    /// The weights of a tet's corners at a point.
    fn weights(&self, tet: u32, point: Vec3) -> [f64; 4] {
        let [a, b, c, d] = self.body.corners_of(tet as usize).map(Vec3::as_dvec3);
        let edges = DMat3::from_cols(b - a, c - a, d - a);
        let DVec3 { x, y, z } = edges.inverse() * (point.as_dvec3() - a);
        let weights = [1.0 - x - y - z, x, y, z];
        // A tet too thin to be inverted holds nothing and carries by its middle.
        if weights.iter().all(|w| w.is_finite()) { weights } else { [0.25; 4] }
    }
}

/// The faces of one tet only, and those tets.
fn boundary(body: &TetMesh) -> (Vec<[u32; 3]>, Vec<u32>) {
    let sorted = |mut face: [u32; 3]| {
        face.sort_unstable();
        face
    };
    let faces = || {
        let of_tet =
            |(t, tet): (u32, &'_ [u32; 4])| FACES.map(|f| (f.map(|corner| tet[corner]), t));
        (0_u32..).zip(&body.tets).flat_map(of_tet)
    };
    let mut count: HashMap<[u32; 3], u8> = HashMap::with_capacity(2 * body.tets.len());
    for (face, _) in faces() {
        let count = count.entry(sorted(face)).or_default();
        *count = count.saturating_add(1);
    }
    faces().filter(|(face, _)| count[&sorted(*face)] == 1).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::sample::{Random, cube_of_tets as cube};

    #[test]
    fn a_skin_at_rest_is_where_it_was_and_follows_every_affine_map() {
        let (body, run) = (cube(), Run::default());
        let mut random = Random(41);
        let skin: Vec<Vec3> = (0..500).map(|_| 0.7 * random.point() + 0.5).collect();
        let embedding = Embedding::new(&skin, &body, &run).unwrap();
        let map = |p: Vec3| Vec3::new(p.x + 2.0 * p.y, p.y - 0.5 * p.z, 3.0 * p.z + p.x) + 1.0;
        let moved: Vec<Vec3> = body.positions.iter().map(|&p| map(p)).collect();
        let rest = embedding.apply(&body.positions, &run);
        let carried = embedding.apply(&moved, &run);
        for ((&p, at), to) in skin.iter().zip(rest).zip(carried) {
            assert!(p.distance(at) < 1e-6, "{p} {at}");
            assert!(map(p).distance(to) < 1e-5, "{p} {to}");
        }
        let is_outside = |p: &&Vec3| p.min_element() < -1e-5 || p.max_element() > 1.0 + 1e-5;
        assert_eq!(embedding.outside, skin.iter().filter(is_outside).count());
        let far = |p: &Vec3| p.distance(p.clamp(Vec3::ZERO, Vec3::ONE));
        let farthest = skin.iter().map(far).fold(0.0, f32::max);
        assert!((embedding.farthest - farthest).abs() < 1e-5, "{}", embedding.farthest);
        for i in 0..skin.len() {
            let weights = embedding.clamped_weights(i);
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{weights:?}");
            assert!(weights.iter().all(|w| *w >= 0.0), "{weights:?}");
        }
    }

    #[test]
    fn same_bits_for_any_thread_count_and_nothing_to_be_in() {
        let body = cube();
        let mut random = Random(42);
        let skin: Vec<Vec3> = (0..3000).map(|_| random.point()).collect();
        let serial = Embedding::new(&skin, &body, &Run::default()).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        assert_eq!(Embedding::new(&skin, &body, &run).unwrap(), serial);
        let nothing = Embedding::new(&skin, &TetMesh::default(), &run).unwrap();
        assert!(nothing.tets.is_empty() && nothing.apply(&[], &run).is_empty(), "no tets");
    }
}

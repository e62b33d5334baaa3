//! Triangulations known by the lengths of their edges alone.
//!
//! # Method
//!
//! An edge is flipped, inside the surface and without moving it, until the angles opposite to each add up to at
//! most π: the intrinsic Delaunay triangulation, on which the cotangent Laplacian has no negative weight.
//! Before that all edges grow by the least length that leaves every triangle some height, so that needles and
//! triangles without area are like any other.
//!
//! Edges on a rim, between triangles that face opposite ways, or with more than two triangles stay.
//!
//! # References
//!
//! - N. Sharp, K. Crane. A Laplacian for Nonmanifold Triangle Meshes. Symposium on Geometry Processing, 2020.
//! - M. Fisher, B. Springborn, P. Schröder, A. I. Bobenko. An algorithm for the construction of intrinsic Delaunay
//!   triangulations with applications to digital geometry processing. Computing, 2007.

use glam::{DVec2, Vec3};

use crate::lengths::Lengths as _;
use crate::mesh::adjacency::is_index_degenerate;

/// Least of a + b − c in a triangle, as a share of the mean length of an edge.
const LEAST_SLACK: f64 = 1e-5;
/// Weight up to which an edge counts as Delaunay, to be safe from rounding.
const FLAT: f64 = -1e-9;
/// Flips an edge may need on average before we take what there is.
const MOST_FLIPS: usize = 20;

/// Beyond a side there is no other triangle, or none to flip with.
const NOTHING: u32 = u32::MAX;

/// A triangulation; side k of a triangle runs from its corner k to the next and is number `3t + k`.
pub(super) struct Intrinsic {
    pub(super) triangles: Vec<[u32; 3]>,
    /// Length of each side.
    pub(super) lengths: Vec<[f64; 3]>,
    /// The same side as the neighbour counts it.
    across: Vec<u32>,
}

impl Intrinsic {
    /// The intrinsic Delaunay triangulation of a surface, without its index-degenerate triangles.
    pub(super) fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let triangles: Vec<[u32; 3]> =
            triangles.iter().copied().filter(|t| !is_index_degenerate(*t)).collect();
        let at = |i: u32| positions[i as usize].as_dvec3();
        let sides =
            |&[a, b, c]: &[u32; 3]| [[a, b], [b, c], [c, a]].map(|[i, j]| at(i).distance_to(at(j)));
        let mut lengths: Vec<[f64; 3]> = triangles.iter().map(sides).collect();
        let mean = mean_length(&lengths);
        let slack = |[a, b, c]: &[f64; 3]| (a + b - c).min(b + c - a).min(c + a - b);
        let least = if mean > 0.0 { LEAST_SLACK * mean } else { 1.0 };
        let grow = lengths.iter().map(|l| least - slack(l)).fold(0.0, f64::max);
        lengths.iter_mut().flatten().for_each(|length| *length += grow);
        let across = pair_sides(positions.len(), &triangles);
        let mut surface = Self { triangles, lengths, across };
        surface.flip_to_delaunay();
        surface
    }

    /// A triangle laid into the plane: corner 0 at the origin, corner 1 on the first axis.
    pub(super) fn laid_out(&self, triangle: usize) -> [DVec2; 3] {
        let [a, b, c] = self.lengths[triangle];
        [DVec2::ZERO, DVec2::new(a, 0.0), apex(a, c, b)]
    }

    /// Cotangents of the angles opposite to the sides, and the area.
    pub(super) fn cotangents(&self, triangle: usize) -> ([f64; 3], f64) {
        let [a, b, c] = self.lengths[triangle];
        let four_areas = 4.0 * area([a, b, c]);
        let cotangent = |a: f64, b: f64, c: f64| (b * b + c * c - a * a) / four_areas;
        ([cotangent(a, b, c), cotangent(b, c, a), cotangent(c, a, b)], 0.25 * four_areas)
    }

    fn flip_to_delaunay(&mut self) {
        let mut todo: Vec<u32> = (0..self.across.len() as u32).collect();
        let mut left = MOST_FLIPS * self.across.len();
        while let Some(side) = todo.pop() {
            if self.is_delaunay(side) || left == 0 {
                continue;
            }
            left -= 1;
            if let Some(outer) = self.flip(side) {
                todo.extend(outer);
            }
        }
    }

    fn is_delaunay(&self, side: u32) -> bool {
        let other = self.across[side as usize];
        // Each edge is looked at from both its triangles; once is enough.
        if other == NOTHING {
            return true;
        }
        let cotangent = |side: u32| self.cotangents(side as usize / 3).0[side as usize % 3];
        cotangent(side) + cotangent(other) >= FLAT
    }

    /// Replaces the edge from a to b of the triangles (a, b, c) and (b, a, d) by one from c to d. Returns
    /// the sides of the pair.
    fn flip(&mut self, side: u32) -> Option<[u32; 4]> {
        let other = self.across[side as usize];
        let [one, two] = [side, other].map(|s| [s, next(s), next(next(s))]);
        let [ab, bc, ca] = one.map(|s| self.length(s));
        let [_, ad, db] = two.map(|s| self.length(s));
        let (c, d) = (apex(ab, ca, bc), apex(ab, ad, db));
        let across = (c - DVec2::new(d.x, -d.y)).norm();
        let sound = |l: [f64; 3]| area(l) > 0.0;
        if one[0] / 3 == two[0] / 3 || !sound([ca, ad, across]) || !sound([db, bc, across]) {
            return None;
        }
        let [a, b, c, d] = [one[0], two[0], one[2], two[2]].map(|s| self.corner(s));
        let [past_bc, past_ca] = [one[1], one[2]].map(|s| self.across[s as usize]);
        let [past_ad, past_db] = [two[1], two[2]].map(|s| self.across[s as usize]);
        let (s, o) = (3 * (side / 3), 3 * (other / 3));
        self.triangles[side as usize / 3] = [c, a, d];
        self.lengths[side as usize / 3] = [ca, ad, across];
        self.triangles[other as usize / 3] = [d, b, c];
        self.lengths[other as usize / 3] = [db, bc, across];
        // A neighbour may be one of the two themselves: its side has then moved along.
        let moved = |past: u32| match past {
            past if past == one[1] => o + 1,
            past if past == one[2] => s,
            past if past == two[1] => s + 1,
            past if past == two[2] => o,
            past => past,
        };
        for (here, past) in [(s, past_ca), (s + 1, past_ad), (o, past_db), (o + 1, past_bc)]
            .map(|(h, p)| (h, moved(p)))
        {
            self.across[here as usize] = past;
            if past != NOTHING {
                self.across[past as usize] = here;
            }
        }
        self.across[s as usize + 2] = o + 2;
        self.across[o as usize + 2] = s + 2;
        Some([s, s + 1, o, o + 1])
    }

    fn length(&self, side: u32) -> f64 {
        self.lengths[side as usize / 3][side as usize % 3]
    }

    /// The corner a side starts from.
    fn corner(&self, side: u32) -> u32 {
        self.triangles[side as usize / 3][side as usize % 3]
    }
}

/// Mean length of the sides of triangles.
pub(super) fn mean_length(lengths: &[[f64; 3]]) -> f64 {
    lengths.iter().flatten().sum::<f64>() / (3 * lengths.len()).max(1) as f64
}

/// The next side of the same triangle.
fn next(side: u32) -> u32 {
    if side % 3 == 2 { side - 2 } else { side + 1 }
}

/// Where the third corner of a triangle lies over its first side, given its distances from both ends.
fn apex(side: f64, from_start: f64, from_end: f64) -> DVec2 {
    let x = (side * side + from_start * from_start - from_end * from_end) / (2.0 * side);
    DVec2::new(x, 2.0 * area([side, from_start, from_end]) / side)
}

/// Area from the lengths of the sides, in Kahan's form that rounding cannot harm.
fn area(mut lengths: [f64; 3]) -> f64 {
    lengths.sort_by(|a, b| b.total_cmp(a));
    let [a, b, c] = lengths;
    let product = (a + (b + c)) * (c - (a - b)) * (c + (a - b)) * (a + (b - c));
    0.25 * product.max(0.0).sqrt()
}

/// For each side the one it is glued to: that of the only other triangle at the same edge, if that runs
/// along it the other way.
fn pair_sides(vertices: usize, triangles: &[[u32; 3]]) -> Vec<u32> {
    let ends = |side: u32| {
        let triangle = triangles[side as usize / 3];
        (triangle[side as usize % 3], triangle[(side as usize + 1) % 3])
    };
    let sides = 0..3 * triangles.len() as u32;
    let mut starts = vec![0_u32; vertices + 2];
    for side in sides.clone() {
        let (a, b) = ends(side);
        starts[a.min(b) as usize + 2] += 1;
    }
    for v in 2..starts.len() {
        starts[v] += starts[v - 1];
    }
    let mut at = vec![(0_u32, 0_u32); sides.len()];
    for side in sides.clone() {
        let (a, b) = ends(side);
        let place = &mut starts[a.min(b) as usize + 1];
        at[*place as usize] = (a.max(b), side);
        *place += 1;
    }
    let mut across = vec![NOTHING; sides.len()];
    for v in 0..vertices {
        let around = &mut at[starts[v] as usize..starts[v + 1] as usize];
        around.sort_unstable();
        for same in around.chunk_by(|a, b| a.0 == b.0) {
            let &[(_, one), (_, two)] = same else { continue };
            if ends(one).0 != ends(two).0 {
                across[one as usize] = two;
                across[two as usize] = one;
            }
        }
    }
    across
}

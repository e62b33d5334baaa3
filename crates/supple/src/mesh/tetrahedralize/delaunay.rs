//! Delaunay tetrahedralization of points: tets whose circumspheres hold no other point.
//!
//! # Method
//!
//! Points are inserted one by one (Bowyer–Watson). The tets whose circumsphere holds the new point form a cavity that
//! is star-shaped about it; they are replaced by the cone from the point over the cavity's faces. Outside the hull
//! lie *ghost* tets: a face of the hull and a vertex at infinity, so that a point beyond the hull needs no case of
//! its own. The cavity starts at the tet that a walk through faces finds.
//!
//! Signs of `orient3d` and `insphere` are exact (Shewchuk), so ties can be told from near ties, and **a tet is
//! given up only if the point is strictly inside its sphere**. No perturbation is needed: a point strictly
//! inside one sphere and not inside the neighbour's lies strictly on the first's side of the face between them, so
//! no flat tet arises, on grids and cospherical points neither. A ghost is given up if the point is strictly
//! beyond its face, or in the face's plane and strictly inside the sphere of the tet behind it.
//!
//! Points come in rounds of doubling size, chosen by a hash of their index, and within a round along the Hilbert
//! curve (BRIO): the walk from the last new tet takes a few steps, and no order of the input is a bad one.
//!
//! # Limits
//!
//! One thread. Where more than four points are on one empty sphere, the tets depend on the order of insertion, which
//! depends on nothing but the points and their order (`the_sphere_of_every_tet_is_empty`). Memory is about 300
//! bytes a point; points on two skew lines have n² / 4 tets, as any program would give
//! (`two_skew_lines_have_as_many_tets_as_pairs_of_segments`).
//!
//! # References
//!
//! - A. Bowyer. Computing Dirichlet Tessellations. D. F. Watson. Computing the n-Dimensional Delaunay Tessellation.
//!   The Computer Journal, 1981.
//! - J. R. Shewchuk. Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates. Discrete &
//!   Computational Geometry, 1997.
//! - N. Amenta, S. Choi, G. Rote. Incremental Constructions con BRIO. Symposium on Computational Geometry, 2003.
//! - J. Skilling. Programming the Hilbert Curve. AIP Conference Proceedings 707, 2004.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::{Run, mesh::tetrahedralize::delaunay::delaunay};
//!
//! let corners: Vec<Vec3> =
//!     (0..8).map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32)).collect();
//! let cube = delaunay(&corners, &Run::default())?;
//! assert!((5..=6).contains(&cube.tets.len()));
//! # Ok::<(), supple::mesh::tetrahedralize::Error>(())
//! ```

use glam::Vec3;
use robust::{Coord, Coord3D};

use super::Error;
use crate::Run;
use crate::mesh::measure::Bounds;
use crate::mesh::tet::FACES;

/// The vertex at infinity; always the last corner of its tet.
const GHOST: u32 = u32::MAX;

/// Points between two looks at whether the caller wants to stop.
const CHECK: usize = 1024;

/// Rounds of insertion; each has about twice the points of the one before.
const ROUNDS: u32 = 9;

/// Bits of the Hilbert curve along each axis.
const BITS: u32 = 16;

/// What [`delaunay`] gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Delaunay {
    /// Positively oriented tets; together they fill the convex hull.
    pub tets: Vec<[u32; 4]>,
    /// For each point the first that is at the same place: itself, unless it is a copy, which is in no tet.
    pub same_as: Vec<u32>,
}

/// The Delaunay tetrahedralization of points.
///
/// # Errors
///
/// [`Error::NotFinite`] for a point that is nowhere, [`Error::Flat`] if all are in one plane (or there are none),
/// [`Error::TooMany`] beyond what indices can count, [`Error::Cancelled`].
pub fn delaunay(points: &[Vec3], run: &Run<'_>) -> Result<Delaunay, Error> {
    if let Some(vertex) = points.iter().position(|p| !p.is_finite()) {
        return Err(Error::NotFinite { vertex, position: points[vertex] });
    }
    // A point has about 6.8 tets and a tet four faces, numbered in 32 bits.
    const MOST: usize = 1 << 27;
    if points.len() > MOST {
        return Err(Error::TooMany { points: points.len() as u64, limit: MOST as u64 });
    }
    let order = insertion_order(points);
    let mut complex = Complex::new(points);
    let first = complex.start(&order).ok_or(Error::Flat { points: points.len() })?;
    for (done, &p) in order.iter().enumerate() {
        if done % CHECK == 0 {
            run.check()?;
        }
        if !first.contains(&p) {
            complex.insert(p)?;
        }
    }
    Ok(complex.finish())
}

/// The points round by round, along the Hilbert curve in each.
fn insertion_order(points: &[Vec3]) -> Vec<u32> {
    let Some(bounds) = Bounds::of(points) else { return Vec::new() };
    let (min, max) = (bounds.min.as_dvec3(), bounds.max.as_dvec3());
    // In f64, where no size of f32 is too small or too large to divide by.
    let scale = f64::from((1 << BITS) - 1) / (max - min).max_element().max(f64::MIN_POSITIVE);
    let key = |i: u32| {
        let round = mixed(i).trailing_zeros().min(ROUNDS - 1);
        let cell = (points[i as usize].as_dvec3() - min) * scale;
        u64::from(ROUNDS - 1 - round) << (3 * BITS) | hilbert(cell.to_array().map(|c| c as u32))
    };
    let mut keyed: Vec<(u64, u32)> = (0..points.len() as u32).map(|i| (key(i), i)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, i)| i).collect()
}

/// Bits that look random for each index.
pub(super) fn mixed(i: u32) -> u64 {
    let z = (u64::from(i).wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// How far along the Hilbert curve a cell is (Skilling 2004).
fn hilbert(mut x: [u32; 3]) -> u64 {
    let mut bit = 1 << (BITS - 1);
    while bit > 1 {
        let below = bit - 1;
        for i in 0..3 {
            if x[i] & bit != 0 {
                x[0] ^= below;
            } else {
                let swapped = (x[0] ^ x[i]) & below;
                x[0] ^= swapped;
                x[i] ^= swapped;
            }
        }
        bit >>= 1;
    }
    x[1] ^= x[0];
    x[2] ^= x[1];
    let mut gray = 0;
    let mut bit = 1 << (BITS - 1);
    while bit > 1 {
        if x[2] & bit != 0 {
            gray ^= bit - 1;
        }
        bit >>= 1;
    }
    let mut code = 0;
    for b in (0..BITS).rev() {
        for axis in x {
            code = code << 1 | u64::from((axis ^ gray) >> b & 1);
        }
    }
    code
}

/// A face of the cavity: its corners counter-clockwise seen from outside, and what is beyond it.
struct Rim {
    face: [u32; 3],
    beyond: u32,
}

/// The tets so far.
struct Complex {
    points: Vec<Coord3D<f64>>,
    same_as: Vec<u32>,
    /// All [`GHOST`] where a tet was given up and its place not used again.
    corners: Vec<[u32; 4]>,
    /// Across face `k` of each tet: four times the other tet, plus which face of that it is.
    across: Vec<[u32; 4]>,
    /// `stamp` in the cavity of the point being inserted, `stamp + 1` around it.
    mark: Vec<u32>,
    stamp: u32,
    unused: Vec<u32>,
    cavity: Vec<u32>,
    rim: Vec<Rim>,
    sides: Sides,
    /// A finite tet to start walking from.
    last: u32,
}

impl Complex {
    fn new(points: &[Vec3]) -> Self {
        // A power of two: exact, and no product of five coordinates leaves the range of f64.
        let largest = points.iter().map(|p| p.abs().max_element()).fold(0.0, f32::max);
        let scale = libm::ldexp(1.0, -libm::ilogb(f64::from(largest.max(f32::MIN_POSITIVE))));
        let coord = |p: &Vec3| {
            let [x, y, z] = p.as_dvec3().to_array().map(|c| c * scale + 0.0);
            Coord3D { x, y, z }
        };
        let room = 7 * points.len() + 16;
        Self {
            points: points.iter().map(coord).collect(),
            same_as: (0..points.len() as u32).collect(),
            corners: Vec::with_capacity(room),
            across: Vec::with_capacity(room),
            mark: Vec::with_capacity(room),
            stamp: 0,
            unused: Vec::new(),
            cavity: Vec::new(),
            rim: Vec::new(),
            sides: Sides::default(),
            last: 0,
        }
    }

    /// The first tet, of four points that are not in one plane, and the four ghosts around it.
    fn start(&mut self, order: &[u32]) -> Option<[u32; 4]> {
        let &a = order.first()?;
        let at = |i: u32| self.points[i as usize];
        let &b = order.iter().find(|&&i| at(i) != at(a))?;
        let &c = order.iter().find(|&&i| !are_in_line([at(a), at(b), at(i)]))?;
        let side = |i: u32| sees(at(a), at(b), at(c), at(i));
        let &d = order.iter().find(|&&i| side(i) != 0.0)?;
        let first = if side(d) > 0.0 { [a, b, c, d] } else { [b, a, c, d] };
        self.corners.push(first);
        self.across.push([0; 4]);
        for (k, face) in FACES.iter().enumerate() {
            let [u, v, w] = face.map(|corner| first[corner]);
            self.corners.push([u, v, w, GHOST]);
            self.across.push([0, 0, 0, k as u32]);
            self.across[0][k] = 4 * (k as u32 + 1) + 3;
        }
        self.mark.resize(5, 0);
        for t in 1..5 {
            for k in 0..3 {
                self.across[t][k] = self.ghost_beside(t, k);
            }
        }
        Some(first)
    }

    /// Of the first four ghosts: the face that shares the edge opposite corner `k` of ghost `t`.
    fn ghost_beside(&self, t: usize, k: usize) -> u32 {
        let edge = |t: usize, k: usize| {
            let (a, b) = (self.corners[t][(k + 1) % 3], self.corners[t][(k + 2) % 3]);
            [a.min(b), a.max(b)]
        };
        let others = (1..5).filter(|&u| u != t).flat_map(|u| (0..3).map(move |l| (u, l)));
        let mut beside = others.filter(|&(u, l)| edge(u, l) == edge(t, k));
        let (u, l) = beside.next().expect("each edge of a tet is in two of its faces");
        (4 * u + l) as u32
    }

    fn insert(&mut self, p: u32) -> Result<(), Error> {
        let found = self.locate(p);
        let at = self.points[p as usize];
        let same = self.corners[found].into_iter().find(|&i| i != GHOST && self.at(i) == at);
        if let Some(same) = same {
            self.same_as[p as usize] = same;
            return Ok(());
        }
        self.find_cavity(found as u32, at);
        // Where two cavities' worth of faces could not be numbered any more.
        if self.corners.len() + self.rim.len() >= (u32::MAX / 4) as usize {
            return Err(Error::TooMany { points: u64::from(p), limit: u64::from(u32::MAX / 4) });
        }
        self.fill_cavity(p);
        Ok(())
    }

    fn at(&self, i: u32) -> Coord3D<f64> {
        self.points[i as usize]
    }

    /// A tet that holds the point, or a ghost beyond whose face it is.
    fn locate(&self, p: u32) -> usize {
        let at = self.at(p);
        let mut t = self.last as usize;
        let mut from = usize::MAX;
        // Among cospherical points a walk that always tries the faces in the same order may run in a circle.
        let mut random = mixed(p);
        for _ in 0..self.corners.len() + 64 {
            let corners = self.corners[t];
            if corners[3] == GHOST {
                return t;
            }
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let start = (random >> 62) as usize;
            let beyond = |k: &usize| {
                let [a, b, c] = FACES[*k].map(|corner| self.at(corners[corner]));
                *k != from && sees(a, b, c, at) > 0.0
            };
            let Some(k) = (0..4).map(|k| (start + k) % 4).find(beyond) else { return t };
            let next = self.across[t][k] as usize;
            (t, from) = (next / 4, next % 4);
        }
        self.look_everywhere(at)
    }

    /// For a walk that does not arrive.
    fn look_everywhere(&self, at: Coord3D<f64>) -> usize {
        let holds = |t: &usize| {
            let corners = self.corners[*t];
            corners[3] != GHOST
                && FACES.iter().all(|face| {
                    let [a, b, c] = face.map(|corner| self.at(corners[corner]));
                    sees(a, b, c, at) <= 0.0
                })
        };
        let beyond = |t: &usize| {
            let [a, b, c, d] = self.corners[*t];
            d == GHOST && a != GHOST && sees(self.at(a), self.at(b), self.at(c), at) > 0.0
        };
        let all = 0..self.corners.len();
        let found = all.clone().find(holds).or_else(|| all.clone().find(beyond));
        found.expect("a point is in the hull or beyond one of its faces")
    }

    /// Whether a tet is to be given up for the point.
    fn conflicts(&self, t: usize, at: Coord3D<f64>) -> bool {
        let [a, b, c, d] = self.corners[t];
        if d != GHOST {
            return self.is_in_sphere(t, at);
        }
        let side = sees(self.at(a), self.at(b), self.at(c), at);
        side > 0.0 || (side == 0.0 && self.is_in_sphere(self.across[t][3] as usize / 4, at))
    }

    fn is_in_sphere(&self, t: usize, at: Coord3D<f64>) -> bool {
        let [a, b, c, d] = self.corners[t].map(|i| self.at(i));
        robust::insphere(b, a, c, d, at) > 0.0
    }

    /// Marks the tets in conflict with the point, and lists the faces around them.
    fn find_cavity(&mut self, start: u32, at: Coord3D<f64>) {
        self.stamp += 2;
        self.cavity.clear();
        self.rim.clear();
        self.cavity.push(start);
        self.mark[start as usize] = self.stamp;
        let mut done = 0;
        while done < self.cavity.len() {
            let t = self.cavity[done] as usize;
            done += 1;
            for (k, face) in FACES.iter().enumerate() {
                let beyond = self.across[t][k];
                if self.is_around(beyond / 4, at) {
                    let face = face.map(|corner| self.corners[t][corner]);
                    self.rim.push(Rim { face, beyond });
                }
            }
        }
    }

    /// Whether a neighbour of the cavity stays; if not, it becomes part of the cavity.
    fn is_around(&mut self, t: u32, at: Coord3D<f64>) -> bool {
        if self.mark[t as usize] < self.stamp {
            let stays = !self.conflicts(t as usize, at);
            self.mark[t as usize] = self.stamp + u32::from(stays);
            if !stays {
                self.cavity.push(t);
            }
        }
        self.mark[t as usize] != self.stamp
    }

    /// Replaces the cavity by the cone from `p` over its faces.
    fn fill_cavity(&mut self, p: u32) {
        for &t in &self.cavity {
            self.corners[t as usize] = [GHOST; 4];
        }
        self.unused.append(&mut self.cavity);
        self.sides.reset(self.rim.len());
        let rim = std::mem::take(&mut self.rim);
        for Rim { face: [a, b, c], beyond } in &rim {
            let (corners, apex) = with_ghost_last([*a, *c, *b, p]);
            let t = self.add(corners);
            self.join(4 * t + apex as u32, *beyond);
            for k in (0..4).filter(|&k| k != apex) {
                let mut ends = (0..4).filter(|&l| l != k && l != apex).map(|l| corners[l]);
                let [u, v] = [(); 2].map(|()| ends.next().expect("two ends"));
                if let Some(other) = self.sides.meet([u.min(v), u.max(v)], 4 * t + k as u32) {
                    self.join(4 * t + k as u32, other);
                }
            }
            if corners[3] != GHOST {
                self.last = t;
            }
        }
        self.rim = rim;
    }

    /// A tet with nothing around it yet.
    fn add(&mut self, corners: [u32; 4]) -> u32 {
        if let Some(t) = self.unused.pop() {
            self.corners[t as usize] = corners;
            self.mark[t as usize] = 0;
            return t;
        }
        self.corners.push(corners);
        self.across.push([u32::MAX; 4]);
        self.mark.push(0);
        self.corners.len() as u32 - 1
    }

    /// Makes two faces one.
    fn join(&mut self, one: u32, other: u32) {
        self.across[(one / 4) as usize][(one % 4) as usize] = other;
        self.across[(other / 4) as usize][(other % 4) as usize] = one;
    }

    fn finish(mut self) -> Delaunay {
        // The point that was inserted first stands for its copies; the first by index shall.
        let mut first: Vec<u32> = (0..self.points.len() as u32).collect();
        for i in (0..self.same_as.len()).rev() {
            first[self.same_as[i] as usize] = i as u32;
        }
        let same_as: Vec<u32> = self.same_as.iter().map(|&s| first[s as usize]).collect();
        self.corners.retain(|corners| corners[3] != GHOST);
        let tets = self.corners.iter().map(|t| t.map(|i| same_as[i as usize])).collect();
        Delaunay { tets, same_as }
    }
}

/// The corners of a tet in an order of the same orientation that ends with the vertex at infinity, if it has
/// one, and where the last corner went.
fn with_ghost_last(mut corners: [u32; 4]) -> ([u32; 4], usize) {
    let Some(k) = corners.iter().position(|&c| c == GHOST) else { return (corners, 3) };
    corners.swap(k, 3);
    corners.swap((k + 1) % 3, (k + 2) % 3);
    (corners, k)
}

/// Positive if `p` sees the triangle counter-clockwise; exact.
fn sees(a: Coord3D<f64>, b: Coord3D<f64>, c: Coord3D<f64>, p: Coord3D<f64>) -> f64 {
    robust::orient3d(b, a, c, p)
}

/// Whether three points are exactly on one line.
fn are_in_line(points: [Coord3D<f64>; 3]) -> bool {
    let side = |flat: fn(&Coord3D<f64>) -> Coord<f64>| {
        let [a, b, c] = points.each_ref().map(flat);
        robust::orient2d(a, b, c)
    };
    side(|p| Coord { x: p.x, y: p.y }) == 0.0
        && side(|p| Coord { x: p.y, y: p.z }) == 0.0
        && side(|p| Coord { x: p.z, y: p.x }) == 0.0
}

/// Faces that wait for the one with the same edge: a hash table that is emptied by a new stamp.
#[derive(Default)]
struct Sides {
    slots: Vec<Side>,
    stamp: u32,
}

#[derive(Clone, Copy, Default)]
struct Side {
    stamp: u32,
    edge: [u32; 2],
    face: u32,
}

impl Sides {
    /// Empties the table and makes room for the edges of so many triangles.
    fn reset(&mut self, triangles: usize) {
        let needed = (4 * triangles).next_power_of_two().max(64);
        if self.slots.len() < needed {
            self.slots = vec![Side::default(); needed];
            self.stamp = 0;
        }
        self.stamp += 1;
    }

    /// The face that came with this edge before, or none and this one is kept.
    fn meet(&mut self, edge: [u32; 2], face: u32) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mixed = edge[0].wrapping_mul(0x9e37_79b1) ^ edge[1].wrapping_mul(0x85eb_ca77);
        let mut at = (mixed ^ mixed >> 15) as usize & mask;
        loop {
            let slot = &mut self.slots[at];
            if slot.stamp != self.stamp {
                *slot = Side { stamp: self.stamp, edge, face };
                return None;
            }
            if slot.edge == edge {
                return Some(slot.face);
            }
            at = (at + 1) & mask;
        }
    }
}

#[cfg(test)]
mod tests;

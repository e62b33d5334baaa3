//! Self-intersecting triangle pairs, exactly.
//!
//! # What counts
//!
//! Two triangles intersect if they have a point in common beyond the vertices they share. Vertices
//! are shared if they are at the same place, whether or not they have the same index, so that the
//! seams of a file do not count as contact:
//!
//! | shared vertices | intersecting if |
//! |---|---|
//! | none | the closed triangles have a point in common; touching counts |
//! | one | the side opposite the shared vertex meets the other triangle, either way round |
//! | two | they lie in one plane and overlap: both third vertices are on the same side |
//! | three | never: a duplicate, which [`repair`](super::repair) finds and removes |
//!
//! A triangle without area (three corners on one line, exactly) intersects nothing;
//! [`measure::degenerate_triangles`](super::measure::degenerate_triangles) counts those.
//!
//! # Method
//!
//! The hierarchy of [`bvh`](super::bvh) gives the pairs whose boxes overlap. Nearly all of them are
//! apart by so much that rounded arithmetic with an error bound proves it (`filter`). The others are
//! decided by signs of determinants of the corners alone, exactly, by Shewchuk's expansions. The corners are f32, so no product
//! can over- or underflow and every answer is exact. What two triangles in one plane do is decided
//! along an axis in which the first has area.
//!
//! Of two triangles with a common point, a side of one always meets the other; so all cases come
//! down to one question, does a segment meet a triangle.
//!
//! # References
//!
//! - J. R. Shewchuk. Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric
//!   Predicates. Discrete & Computational Geometry, 1997.
//! - Q. Zhou, E. Grinspun, D. Zorin, A. Jacobson. Mesh Arrangements for Solid Geometry. ACM
//!   Transactions on Graphics (SIGGRAPH), 2016 (what counts).
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::{Run, mesh::intersect::self_intersections};
//!
//! let flat = [Vec3::ZERO, Vec3::X * 2.0, Vec3::Y * 2.0];
//! let upright = [Vec3::new(0.5, 0.5, -1.0), Vec3::new(0.5, 0.5, 1.0), Vec3::new(5.0, 5.0, 0.0)];
//! let positions = [flat, upright].concat();
//! let pairs = self_intersections(&positions, &[[0, 1, 2], [3, 4, 5]], &Run::default())?;
//! assert_eq!(pairs, [[0, 1]]);
//! # Ok::<(), supple::run::Cancelled>(())
//! ```

use glam::{DVec3, Vec3};
use robust::{Coord, Coord3D};

pub(crate) mod added;
mod filter;

use super::bvh::Bvh;
use super::measure::{Bounds, is_flat};
use crate::Run;
use crate::run::Cancelled;

/// All pairs of intersecting triangles, smaller index first, sorted.
///
/// # Errors
///
/// [`Cancelled`] when the caller asked to stop.
///
/// # Panics
///
/// If a triangle names a vertex that does not exist.
pub fn self_intersections(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    run: &Run<'_>,
) -> Result<Vec<[u32; 2]>, Cancelled> {
    run.check()?;
    self_intersections_of(&Bvh::new(positions, triangles, run), run)
}

/// Pairs that are counted one by one.
const MOST_PAIRS: u64 = 10_000_000;

/// Pairs of overlapping boxes that are looked at for each triangle, and always.
const BOXES_PER_TRIANGLE: u64 = 1000;
const BOXES_ALWAYS: u64 = 100_000_000;

/// How many pairs of triangles intersect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// So many were found.
    pub pairs: u64,
    /// False if counting ended before all were found.
    pub is_all: bool,
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.is_all, self.pairs >= MOST_PAIRS) {
            (true, _) => write!(f, "{}", self.pairs),
            (false, true) => write!(f, "more than {}", self.pairs),
            (false, false) => write!(f, "at least {}", self.pairs),
        }
    }
}

/// How many pairs of triangles [`self_intersections`] would give, in no memory and in bounded time.
///
/// A heap of triangles in one place has as many pairs as their number squared. Counting ends at 10 million, or
/// when 10⁸ overlapping boxes and 1000 for each triangle were looked at.
///
/// # Errors
///
/// [`Cancelled`] when the caller asked to stop.
///
/// # Panics
///
/// If a triangle names a vertex that does not exist.
pub fn count_self_intersections(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    run: &Run<'_>,
) -> Result<Count, Cancelled> {
    run.check()?;
    let bvh = Bvh::new(positions, triangles, run);
    let most_boxes = BOXES_ALWAYS + BOXES_PER_TRIANGLE * triangles.len() as u64;
    with_meeting(&bvh, run, |meet| {
        let (pairs, is_all) = bvh.count_pairs(meet, [MOST_PAIRS, most_boxes], run)?;
        Ok(Count { pairs, is_all })
    })
}

/// [`self_intersections`] of a mesh whose hierarchy is already there.
///
/// # Errors
///
/// [`Cancelled`] when the caller asked to stop.
pub fn self_intersections_of(bvh: &Bvh, run: &Run<'_>) -> Result<Vec<[u32; 2]>, Cancelled> {
    with_meeting(bvh, run, |meet| bvh.filter_pairs(meet, run))
}

/// Hands on the test of two triangles, by their places in leaf order.
fn with_meeting<R>(
    bvh: &Bvh,
    run: &Run<'_>,
    work: impl FnOnce(&(dyn Fn(usize, usize) -> bool + Sync)) -> R,
) -> R {
    let corners = bvh.corners();
    let flat = run.map(corners.len(), |i| is_flat(corners[i].map(Vec3::as_dvec3)));
    work(&|i: usize, j: usize| !flat[i] && !flat[j] && intersect(&corners[i], &corners[j]))
}

/// All pairs of a triangle of the first mesh and one of the second that have a point in common;
/// touching counts, triangles without area do not. Sorted.
///
/// # Errors
///
/// [`Cancelled`] when the caller asked to stop.
pub fn intersections_between(
    first: &Bvh,
    second: &Bvh,
    run: &Run<'_>,
) -> Result<Vec<[u32; 2]>, Cancelled> {
    let place = places(second);
    let found = run.map(first.len(), |i| {
        let a = first.corners()[i].map(Vec3::as_dvec3);
        let bounds = Bounds::of(&first.corners()[i]);
        if run.is_cancelled() || is_flat(a) {
            return Vec::new();
        }
        let near = bounds.map_or_else(Vec::new, |b| second.in_box(&b));
        let meets = |t: &u32| {
            let b = second.corners()[place[*t as usize] as usize].map(Vec3::as_dvec3);
            !is_flat(b) && apart_or_meet(&a, &b)
        };
        near.into_iter().filter(meets).collect()
    });
    run.check()?;
    let mut pairs = Vec::new();
    for (i, met) in found.into_iter().enumerate() {
        pairs.extend(met.into_iter().map(|t| [first.order()[i], t]));
    }
    pairs.sort_unstable();
    Ok(pairs)
}

/// Whether two triangles intersect, by the table of the module.
pub(crate) fn intersecting(a: &[Vec3; 3], b: &[Vec3; 3]) -> bool {
    let is_flat = |t: &[Vec3; 3]| is_flat(t.map(Vec3::as_dvec3));
    !is_flat(a) && !is_flat(b) && intersect(a, b)
}

/// Where each triangle is in leaf order.
fn places(bvh: &Bvh) -> Vec<u32> {
    let mut place = vec![0; bvh.len()];
    for (slot, &triangle) in (0..).zip(bvh.order()) {
        place[triangle as usize] = slot;
    }
    place
}

type Triangle = [DVec3; 3];

/// Whether two triangles with area intersect, by the table of the module.
pub(crate) fn intersect(a: &[Vec3; 3], b: &[Vec3; 3]) -> bool {
    let (mut count, mut last, mut first) = (0, (0, 0), (0, 0));
    for (i, p) in a.iter().enumerate() {
        for (j, q) in b.iter().enumerate() {
            if p == q {
                first = if count == 0 { (i, j) } else { first };
                last = (i, j);
                count += 1;
            }
        }
    }
    let (a, b) = (a.map(Vec3::as_dvec3), b.map(Vec3::as_dvec3));
    match count {
        0 => apart_or_meet(&a, &b),
        1 => meet_beyond_vertex(&turned(&a, first.0), &turned(&b, first.1)),
        2 => overlap_beyond_edge(
            [a[first.0], a[last.0]],
            a[3 - first.0 - last.0],
            b[3 - first.1 - last.1],
        ),
        _ => false,
    }
}

/// The triangle with corner `k` first.
fn turned(t: &Triangle, k: usize) -> Triangle {
    [t[k], t[(k + 1) % 3], t[(k + 2) % 3]]
}

/// No shared vertex: some side of one meets the other.
fn apart_or_meet(a: &Triangle, b: &Triangle) -> bool {
    if filter::apart(a, b) {
        return false;
    }
    let of_b = b.map(|p| side(a, p));
    if on_one_side(of_b) {
        return false;
    }
    let of_a = a.map(|p| side(b, p));
    if on_one_side(of_a) {
        return false;
    }
    (0..3).any(|k| {
        let next = (k + 1) % 3;
        segment_meets([a[k], a[next]], [of_a[k], of_a[next]], b)
            || segment_meets([b[k], b[next]], [of_b[k], of_b[next]], a)
    })
}

/// The first corners are shared: whatever else is common reaches the side opposite in one of them.
fn meet_beyond_vertex(a: &Triangle, b: &Triangle) -> bool {
    if filter::apart_but_for_vertex(a, b) {
        return false;
    }
    let of_b = [side(a, b[1]), side(a, b[2])];
    if of_b[0] * of_b[1] > 0 {
        return false;
    }
    let of_a = [side(b, a[1]), side(b, a[2])];
    if of_a[0] * of_a[1] > 0 {
        return false;
    }
    segment_meets([a[1], a[2]], of_a, b) || segment_meets([b[1], b[2]], of_b, a)
}

/// A shared edge: only triangles in one plane, with both third vertices on the same side of it,
/// have more than the edge in common.
fn overlap_beyond_edge(edge: [DVec3; 2], third_a: DVec3, third_b: DVec3) -> bool {
    if filter::unfolded(edge, third_a, third_b) {
        return false;
    }
    let a = [edge[0], edge[1], third_a];
    if side(&a, third_b) != 0 {
        return false;
    }
    let along = flat_axes(&a);
    let of = |p: DVec3| side_2d(along, edge, p);
    of(third_a) == of(third_b)
}

/// True if three signs are equal and not zero.
fn on_one_side([x, y, z]: [i8; 3]) -> bool {
    x != 0 && x == y && y == z
}

/// Whether a closed segment, whose ends are on the given sides of a triangle, meets it.
fn segment_meets(segment: [DVec3; 2], sides: [i8; 2], triangle: &Triangle) -> bool {
    let [p, q] = segment;
    if sides[0] * sides[1] > 0 {
        return false;
    }
    if sides == [0, 0] {
        return segment_meets_in_plane(segment, triangle);
    }
    // The line crosses the plane in one point: inside if no two sides of the triangle disagree.
    let [a, b, c] = *triangle;
    let around = [side(&[p, q, a], b), side(&[p, q, b], c), side(&[p, q, c], a)];
    !(around.contains(&1) && around.contains(&-1))
}

/// A segment and a triangle in one plane.
fn segment_meets_in_plane([p, q]: [DVec3; 2], triangle: &Triangle) -> bool {
    let along = flat_axes(triangle);
    let [a, b, c] = *triangle;
    let sides = [[a, b], [b, c], [c, a]];
    let around = sides.map(|edge| side_2d(along, edge, p));
    if !(around.contains(&1) && around.contains(&-1)) {
        return true;
    }
    sides.into_iter().any(|edge| segments_meet(along, [p, q], edge))
}

/// Two closed segments in one plane, seen along an axis.
fn segments_meet(along: Axes, s: [DVec3; 2], t: [DVec3; 2]) -> bool {
    let of_t = t.map(|p| side_2d(along, s, p));
    let of_s = s.map(|p| side_2d(along, t, p));
    if of_t[0] * of_t[1] < 0 && of_s[0] * of_s[1] < 0 {
        return true;
    }
    let on = |segment: [DVec3; 2], sides: [i8; 2], ends: [DVec3; 2]| {
        (0..2).any(|k| sides[k] == 0 && in_box_of(segment, ends[k]))
    };
    on(s, of_t, t) || on(t, of_s, s)
}

/// Whether a point on the line of a segment is on the segment.
fn in_box_of([p, q]: [DVec3; 2], x: DVec3) -> bool {
    p.min(q).cmple(x).all() && x.cmple(p.max(q)).all()
}

/// Which two coordinates a plane is seen in.
type Axes = (usize, usize);

/// Two coordinates in which a triangle with area still has area.
fn flat_axes(t: &Triangle) -> Axes {
    let has_area = |axes: &Axes| side_2d(*axes, [t[0], t[1]], t[2]) != 0;
    [(0, 1), (1, 2), (2, 0)].into_iter().find(has_area).unwrap_or((0, 1))
}

/// On which side of the plane of a triangle a point is: −1, 0 or 1, exactly.
fn side(t: &Triangle, p: DVec3) -> i8 {
    let [a, b, c, p] = [t[0], t[1], t[2], p].map(|p| Coord3D { x: p.x, y: p.y, z: p.z });
    sign(robust::orient3d(a, b, c, p))
}

/// On which side of a line a point is, seen in two coordinates: −1, 0 or 1, exactly.
fn side_2d((u, v): Axes, [a, b]: [DVec3; 2], p: DVec3) -> i8 {
    let [a, b, p] = [a, b, p].map(|p| Coord { x: p[u], y: p[v] });
    sign(robust::orient2d(a, b, p))
}

fn sign(x: f64) -> i8 {
    i8::from(x > 0.0) - i8::from(x < 0.0)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::super::sample::{Random, bumpy_sphere, soup};
    use super::*;

    type Whole = [i128; 3];

    fn sub(a: Whole, b: Whole) -> Whole {
        [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
    }

    fn cross(a: Whole, b: Whole) -> Whole {
        let [x, y, z] = a;
        [y * b[2] - z * b[1], z * b[0] - x * b[2], x * b[1] - y * b[0]]
    }

    fn dot(a: Whole, b: Whole) -> i128 {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }

    fn sides(p: &[Whole]) -> Vec<Whole> {
        (0..p.len()).map(|k| sub(p[(k + 1) % p.len()], p[k])).collect()
    }

    /// The separating-axis theorem in whole numbers: two convex sets without a common point are
    /// separated along a normal, a product of sides, or a product of a side and a normal.
    fn disjoint(p: &[Whole], q: &[Whole]) -> bool {
        let mut edges = sides(p);
        edges.extend(sides(q));
        let mut axes = Vec::new();
        for &e in &edges {
            for &f in &edges {
                axes.push(cross(e, f));
                axes.extend(edges.iter().map(|&g| cross(cross(e, f), g)));
            }
        }
        axes.into_iter().any(|axis| {
            let of = |set: &[Whole]| -> (i128, i128) {
                let along = || set.iter().map(|&x| dot(axis, x));
                (along().min().unwrap(), along().max().unwrap())
            };
            let ((p0, p1), (q0, q1)) = (of(p), of(q));
            p1 < q0 || q1 < p0
        })
    }

    /// The table of the module doc, word by word.
    fn oracle(a: [Whole; 3], b: [Whole; 3]) -> bool {
        let area = |t: [Whole; 3]| cross(sub(t[1], t[0]), sub(t[2], t[0])) != [0; 3];
        if !area(a) || !area(b) {
            return false;
        }
        let rest = |t: [Whole; 3], other: [Whole; 3]| -> Vec<Whole> {
            t.into_iter().filter(|p| !other.contains(p)).collect()
        };
        let (rest_a, rest_b) = (rest(a, b), rest(b, a));
        match rest_a.len() {
            3 => !disjoint(&a, &b),
            2 => !disjoint(&rest_a, &b) || !disjoint(&rest_b, &a),
            1 => {
                let shared: Vec<Whole> = a.into_iter().filter(|p| b.contains(p)).collect();
                let edge = sub(shared[1], shared[0]);
                let of_a = cross(edge, sub(rest_a[0], shared[0]));
                let of_b = cross(edge, sub(rest_b[0], shared[0]));
                cross(of_a, of_b) == [0; 3] && dot(of_a, of_b) > 0
            }
            _ => false,
        }
    }

    fn all_pairs(triangles: &[[u32; 3]], point: impl Fn(u32) -> Whole) -> Vec<[u32; 2]> {
        let n = triangles.len() as u32;
        let meet = |&[i, j]: &[u32; 2]| {
            let [a, b] = [i, j].map(|t| triangles[t as usize].map(&point));
            oracle(a, b)
        };
        (0..n).flat_map(|i| (i + 1..n).map(move |j| [i, j])).filter(meet).collect()
    }

    /// Small whole coordinates: touching, coplanar and coincident cases are the rule.
    #[test]
    fn agrees_with_whole_numbers_on_a_small_grid() {
        let (tiny, mut met) = (0.5_f32.powi(100), 0);
        for seed in 0..60 {
            let mut random = Random(seed);
            let range = 2 + seed as u32 % 4;
            let points: Vec<Whole> =
                (0..24).map(|_| [0; 3].map(|_| i128::from(random.below(range)))).collect();
            let triangles: Vec<[u32; 3]> =
                (0..24).map(|_| [0; 3].map(|_| random.below(24))).collect();
            let expected = all_pairs(&triangles, |v| points[v as usize]);
            met += expected.len();
            // Far away and scaled by a power of two, the same signs must come out.
            for (scale, offset) in [(1.0, 0.0), (0.125, -1000.0), (tiny, 0.0), (1.0 / tiny, 0.0)] {
                let positions: Vec<Vec3> = points
                    .iter()
                    .map(|p| Vec3::from(p.map(|x| x as f32)) * scale + offset)
                    .collect();
                let found = self_intersections(&positions, &triangles, &Run::default()).unwrap();
                assert_eq!(found, expected, "seed {seed}, scale {scale}, offset {offset}");
            }
        }
        assert!(met > 1000, "the grid has enough contact: {met}");
    }

    #[test]
    fn a_soup_agrees_with_every_pair_tested_exactly() {
        let (positions, triangles) = soup(150, 0.3, &mut Random(11));
        let whole =
            |v: u32| positions[v as usize].to_array().map(|x| (x * (1 << 23) as f32) as i128);
        let exact: Vec<Vec3> = positions
            .iter()
            .map(|p| Vec3::from(p.to_array().map(|x| (x * 8192.0).trunc() / 8192.0)))
            .collect();
        let found = self_intersections(&exact, &triangles, &Run::default()).unwrap();
        let grid = |v: u32| whole(v).map(|x| x / 1024);
        let expected = all_pairs(&triangles, grid);
        assert!(expected.len() > 20, "enough pairs: {}", expected.len());
        assert_eq!(found, expected);
    }

    fn pairs(points: &[[f32; 3]], triangles: &[[u32; 3]]) -> usize {
        let positions: Vec<Vec3> = points.iter().map(|&p| Vec3::from(p)).collect();
        self_intersections(&positions, triangles, &Run::default()).unwrap().len()
    }

    #[test]
    fn neighbours_that_fold_onto_each_other_count() {
        let square = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
        assert_eq!(pairs(&square, &[[0, 1, 2], [1, 3, 2]]), 0, "side by side");
        assert_eq!(pairs(&square, &[[0, 1, 2], [0, 1, 3]]), 1, "folded over the edge 0–1");
        let tip = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 2.0, 0.1]];
        assert_eq!(pairs(&tip, &[[0, 1, 2], [0, 1, 3]]), 0, "not quite in the plane");
    }

    #[test]
    fn a_shared_vertex_alone_does_not_count_but_a_stab_does() {
        let p = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [-1.0, 0.0, 1.0],
            [0.0, -1.0, 1.0],
            [0.4, 0.4, 1.0],
            [0.4, 0.4, -1.0],
        ];
        assert_eq!(pairs(&p, &[[0, 1, 2], [0, 3, 4]]), 0, "touching in the shared vertex");
        assert_eq!(pairs(&p, &[[0, 1, 2], [0, 5, 6]]), 1, "through the other triangle");
    }

    #[test]
    fn duplicates_and_triangles_without_area_are_not_intersections() {
        let p = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]];
        assert_eq!(pairs(&p, &[[0, 1, 2], [2, 1, 0]]), 0, "same indices");
        assert_eq!(pairs(&p, &[[0, 1, 2], [3, 1, 2]]), 0, "same place");
        let line = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.2, 0.2, -1.0],
            [0.2, 0.2, 1.0],
            [0.2, 0.2, 0.0],
        ];
        assert_eq!(pairs(&line, &[[0, 1, 2], [3, 4, 5]]), 0, "a line through the middle");
    }

    #[test]
    fn two_spheres_meet_in_a_band_and_the_same_for_any_thread_count() {
        let (mut positions, mut triangles) = bumpy_sphere(40);
        let n = positions.len() as u32;
        assert!(
            self_intersections(&positions, &triangles, &Run::default()).unwrap().is_empty(),
            "one alone is clean"
        );
        let first = Bvh::new(&positions, &triangles, &Run::default());
        let shift = Vec3::new(0.7, 0.3, 0.1);
        let moved: Vec<Vec3> = positions.iter().map(|&p| p + shift).collect();
        let second = Bvh::new(&moved, &triangles, &Run::default());
        let between = intersections_between(&first, &second, &Run::default()).unwrap();
        let count = triangles.len() as u32;
        positions.extend(moved);
        triangles.extend_from_within(..);
        for t in &mut triangles[count as usize..] {
            *t = t.map(|v| v + n);
        }
        let serial = self_intersections(&positions, &triangles, &Run::default()).unwrap();
        assert!(serial.len() > 100, "a band of contact: {}", serial.len());
        let renamed: Vec<[u32; 2]> = between.into_iter().map(|[a, b]| [a, b + count]).collect();
        assert_eq!(renamed, serial);
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = Run { threads: Some(&pool), ..Run::default() };
            let parallel = self_intersections(&positions, &triangles, &run).unwrap();
            assert_eq!(parallel, serial, "{threads} threads");
        }
    }

    #[test]
    fn stops_when_asked() {
        let (positions, triangles) = bumpy_sphere(8);
        let flag = AtomicBool::new(true);
        let run = Run { cancel: Some(&flag), ..Run::default() };
        assert_eq!(self_intersections(&positions, &triangles, &run), Err(Cancelled));
    }

    /// Triangles all through one point, none of them equal.
    fn heap(count: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let mut random = Random(5);
        let positions = (0..3 * count).map(|_| random.point()).collect();
        (positions, (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect())
    }

    #[test]
    fn counting_agrees_with_the_list() {
        let (positions, triangles) = heap(500);
        let run = Run::default();
        let listed = self_intersections(&positions, &triangles, &run).unwrap().len() as u64;
        let counted = count_self_intersections(&positions, &triangles, &run).unwrap();
        assert!(listed > 100, "{listed}");
        assert_eq!(counted, Count { pairs: listed, is_all: true });
    }

    #[test]
    fn counting_ends_at_its_bounds_for_any_number_of_threads() {
        let (positions, triangles) = heap(2000);
        let serial = Run::default();
        let bvh = Bvh::new(&positions, &triangles, &serial);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let parallel = Run { threads: Some(&pool), ..Run::default() };
        for bounds in [[1000, u64::MAX], [u64::MAX, 10_000]] {
            let count = |run| bvh.count_pairs(&|_, _| true, bounds, run).unwrap();
            let (kept, is_all) = count(&serial);
            assert!(!is_all && kept > 0 && kept < 500_000, "{bounds:?}: {kept}");
            assert_eq!(count(&parallel), (kept, is_all), "{bounds:?}");
        }
        let told = Count { pairs: MOST_PAIRS, is_all: false }.to_string();
        assert_eq!(told, "more than 10000000");
    }

    /// The finding: `info --deep` of such a file never ended.
    #[test]
    fn a_heap_of_coincident_triangles_is_counted_in_bounded_time() {
        let count = 20_000_u32;
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let place = |i: u32| corners[(i % 3) as usize] + Vec3::Z * 1e-7 * (i / 3 % 7) as f32;
        let positions: Vec<Vec3> = (0..3 * count).map(place).collect();
        let triangles: Vec<[u32; 3]> = (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let run = Run::default();
        let found = count_self_intersections(&positions, &triangles, &run).unwrap();
        assert!(found.pairs <= MOST_PAIRS, "{found:?}");
    }
}

//! Proofs in rounded arithmetic that two triangles do not intersect.
//!
//! Each test says true only if an error bound makes it certain; false says nothing. The bounds hold
//! for f64 coordinates that came from f32: no product over- or underflows.

use glam::DVec3;

use super::Triangle;
use crate::lengths::Lengths as _;

/// Bounds the rounding of a 3 × 3 determinant of differences, relative to the product of the largest
/// entries of its rows: six products of three factors, each with at most twenty roundings.
const DETERMINANT: f64 = 128.0 * f64::EPSILON;

/// The same for a scalar product of a given vector with a difference.
const PRODUCT: f64 = 16.0 * f64::EPSILON;

/// Triangles without a shared vertex: one is on one side of the other's plane, or a line in the
/// plane of one separates them.
pub(super) fn apart(a: &Triangle, b: &Triangle) -> bool {
    if beside_plane(a, b) || beside_plane(b, a) {
        return true;
    }
    beyond_a_side(a, b) || beyond_a_side(b, a)
}

fn beside_plane(plane: &Triangle, other: &Triangle) -> bool {
    let (u, v) = (plane[1] - plane[0], plane[2] - plane[0]);
    let normal = u.cross(v);
    let w = other.map(|p| p - plane[0]);
    let bound = DETERMINANT * size(u) * size(v) * size(w[0]).max(size(w[1])).max(size(w[2]));
    let [x, y, z] = w.map(|w| normal.dot(w));
    (x > bound && y > bound && z > bound) || (x < -bound && y < -bound && z < -bound)
}

/// Some side of `a` has all of `b` beyond it.
fn beyond_a_side(a: &Triangle, b: &Triangle) -> bool {
    let normal = (a[1] - a[0]).cross(a[2] - a[0]);
    (0..3).any(|k| {
        let outward = (a[(k + 1) % 3] - a[k]).cross(normal);
        // Any direction serves, so its own rounding does not matter: only that of the products.
        let (in_a, in_b) = (a.map(|p| p - a[k]), b.map(|p| p - a[k]));
        let largest = in_a.iter().chain(&in_b).map(|p| size(*p)).fold(0.0, f64::max);
        let bound = PRODUCT * size(outward) * largest;
        let far = in_a.map(|p| outward.dot(p)).into_iter().fold(f64::NEG_INFINITY, f64::max);
        let near = in_b.map(|p| outward.dot(p)).into_iter().fold(f64::INFINITY, f64::min);
        near - far > 2.0 * bound
    })
}

/// Triangles whose first corners are shared: a plane through it has the rest of one on one side,
/// and the rest of the other on it or beyond.
pub(super) fn apart_but_for_vertex(a: &Triangle, b: &Triangle) -> bool {
    let [u1, u2] = [a[1] - a[0], a[2] - a[0]];
    let [w1, w2] = [b[1] - b[0], b[2] - b[0]];
    if one_side([u1, u2], [w1, w2]) || one_side([w1, w2], [u1, u2]) {
        return true;
    }
    let direction = (u1 + u2).unit_or_zero() - (w1 + w2).unit_or_zero();
    let largest = size(u1).max(size(u2)).max(size(w1)).max(size(w2));
    let bound = PRODUCT * size(direction) * largest;
    let ahead = |p: DVec3| direction.dot(p) > bound;
    let behind = |p: DVec3| direction.dot(p) < -bound;
    ahead(u1) && ahead(u2) && behind(w1) && behind(w2)
}

/// Both `w` are strictly on the same side of the plane of the two `u`.
fn one_side([u1, u2]: [DVec3; 2], [w1, w2]: [DVec3; 2]) -> bool {
    let normal = u1.cross(u2);
    let bound = DETERMINANT * size(u1) * size(u2) * size(w1).max(size(w2));
    let (x, y) = (normal.dot(w1), normal.dot(w2));
    (x > bound && y > bound) || (x < -bound && y < -bound)
}

/// Triangles with a shared edge that open by more than a right angle.
pub(super) fn unfolded(edge: [DVec3; 2], third_a: DVec3, third_b: DVec3) -> bool {
    let (e, u, w) = (edge[1] - edge[0], third_a - edge[0], third_b - edge[0]);
    // Of (e × u)·(e × w): two crosses and a product, at most 12 terms of four factors.
    let bound = 4.0 * DETERMINANT * size(e) * size(e) * size(u) * size(w);
    e.cross(u).dot(e.cross(w)) < -bound
}

fn size(v: DVec3) -> f64 {
    v.abs().max_element()
}

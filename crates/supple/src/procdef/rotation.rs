//! The rotation nearest to a matrix, for any matrix: inverted, flat, collapsed, turned by 180°.
//!
//! # Method
//!
//! The rotation `R` that maximises `tr RᵀA` is the eigenvector of Davenport's symmetric 4×4 matrix
//!
//! ```text
//! K = [ A + Aᵀ − tr A   z    ]     z = (A₃₂ − A₂₃, A₁₃ − A₃₁, A₂₁ − A₁₂)
//!     [ zᵀ              tr A ]
//! ```
//!
//! of its largest eigenvalue, as a quaternion. That eigenvalue is the largest root of `λ⁴ − 2|A|²λ² − 8 det A λ + det K`,
//! reached from `√3 |A|` by Newton's steps; the eigenvector is the largest column of `adj(K − λ)`; one Newton step on the
//! rotation itself removes what rounding left. There is no state and no branch: sixteen matrices go side by side.
//!
//! A symmetric positive matrix gives the identity *to the bit*: all products with `z = 0` are zero. A body at rest is
//! still for ever because of that.
//!
//! # Limits
//!
//! In f32 the loss of `tr RᵀA` is below 1e-6 of `|A|`; below 1e-3 where the matrix is collapsed to a line, below 2e-2
//! where the two least singular values nearly cancel and the rotation is ambiguous
//! (`lanes_find_the_rotation_of_any_matrix`).
//!
//! # References
//!
//! Davenport 1968; Kugelstadt, Koschier, Bender 2018.

use glam::{DMat3, DQuat};

use super::wide::Wide;

/// Newton's steps to the largest eigenvalue: from `√3` to rounding for every matrix of norm 1.
const EIGENVALUE_STEPS: usize = 6;
/// Below this determinant of the Hessian the rotation is ambiguous and the last step is left out.
const LEAST_HESSIAN: f32 = 1e-6;
/// Squares of the last step above this are no correction of a rounding error.
const LARGEST_TURN: f32 = 0.1;
/// Slopes of the polynomial below this leave the eigenvalue where it is.
const LEAST_SLOPE: f32 = 1e-6;
/// Squared norms below this are zero.
const LEAST_SQUARE: f32 = 1e-36;

/// `A₀₀, A₀₁, … A₂₂`, a matrix a lane.
pub(super) type Matrices = [Wide; 9];

/// The rotations nearest to sixteen matrices, as quaternions `x, y, z, w`; the identity for a matrix of zeros.
#[inline(always)]
pub(super) fn rotations(a: &Matrices) -> [Wide; 4] {
    let mut square = Wide::ZERO;
    for e in a {
        square = square + *e * *e;
    }
    let scale = square.inverse_root(LEAST_SQUARE);
    let mut a = *a;
    for e in &mut a {
        *e = *e * scale;
    }
    let k = davenport(&a);
    let guess = eigenvector(&k, largest_eigenvalue(&a, &k));
    refined(guess, &a)
}

/// The upper triangle of `K`: `00 01 02 03 11 12 13 22 23 33`.
#[inline(always)]
fn davenport(a: &Matrices) -> [Wide; 10] {
    let trace = a[0] + a[4] + a[8];
    [
        a[0] + a[0] - trace,
        a[1] + a[3],
        a[2] + a[6],
        a[7] - a[5],
        a[4] + a[4] - trace,
        a[5] + a[7],
        a[2] - a[6],
        a[8] + a[8] - trace,
        a[3] - a[1],
        trace,
    ]
}

/// The 2×2 minors of the first two rows and of the last two.
#[inline(always)]
fn minors(k: &[Wide; 10]) -> ([Wide; 6], [Wide; 6]) {
    let [k00, k01, k02, k03, k11, k12, k13, k22, k23, k33] = *k;
    let upper = [
        k00 * k11 - k01 * k01,
        k00 * k12 - k02 * k01,
        k00 * k13 - k03 * k01,
        k01 * k12 - k02 * k11,
        k01 * k13 - k03 * k11,
        k02 * k13 - k03 * k12,
    ];
    let lower = [
        k02 * k13 - k12 * k03,
        k02 * k23 - k22 * k03,
        k02 * k33 - k23 * k03,
        k12 * k23 - k22 * k13,
        k12 * k33 - k23 * k13,
        k22 * k33 - k23 * k23,
    ];
    (upper, lower)
}

#[inline(always)]
fn largest_eigenvalue(a: &Matrices, k: &[Wide; 10]) -> Wide {
    let (s, c) = minors(k);
    let det_k = s[0] * c[5] - s[1] * c[4] + s[2] * c[3] + s[3] * c[2] - s[4] * c[1] + s[5] * c[0];
    let det_a = a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6])
        + a[2] * (a[3] * a[7] - a[4] * a[6]);
    let mut norm = Wide::ZERO;
    for e in a {
        norm = norm + *e * *e;
    }
    let (two, eight) = (2.0 * norm, 8.0 * det_a);
    let mut root = Wide::all(3.0_f32.sqrt());
    for _ in 0..EIGENVALUE_STEPS {
        let square = root * root;
        let value = ((square - two) * root - eight) * root + det_k;
        let slope = (4.0 * square - (two + two)) * root - eight;
        root = root - value.over_above(slope, LEAST_SLOPE);
    }
    root
}

/// The largest column of the adjugate of `K − λ`, of length 1.
#[inline(always)]
fn eigenvector(k: &[Wide; 10], eigenvalue: Wide) -> [Wide; 4] {
    let mut k = *k;
    for diagonal in [0, 4, 7, 9] {
        k[diagonal] = k[diagonal] - eigenvalue;
    }
    let (s, c) = minors(&k);
    let [k00, k01, k02, k03, k11, k12, k13, k22, k23, k33] = k;
    let a00 = k11 * c[5] - k12 * c[4] + k13 * c[3];
    let a01 = k02 * c[4] - k01 * c[5] - k03 * c[3];
    let a02 = k13 * s[5] - k23 * s[4] + k33 * s[3];
    let a03 = k22 * s[4] - k12 * s[5] - k23 * s[3];
    let a11 = k00 * c[5] - k02 * c[2] + k03 * c[1];
    let a12 = k23 * s[2] - k03 * s[5] - k33 * s[1];
    let a13 = k02 * s[5] - k22 * s[2] + k23 * s[1];
    let a22 = k03 * s[4] - k13 * s[2] + k33 * s[0];
    let a23 = k12 * s[2] - k02 * s[4] - k23 * s[0];
    let a33 = k02 * s[3] - k12 * s[1] + k22 * s[0];
    let columns =
        [[a03, a13, a23, a33], [a00, a01, a02, a03], [a01, a11, a12, a13], [a02, a12, a22, a23]];
    let sizes = [a33.abs(), a00.abs(), a11.abs(), a22.abs()];
    let (mut best, mut column) = (sizes[0], columns[0]);
    for (size, candidate) in sizes.into_iter().zip(columns).skip(1) {
        for (chosen, other) in column.iter_mut().zip(candidate) {
            *chosen = size.above(best, other, *chosen);
        }
        best = size.above(best, size, best);
    }
    unit(column, best)
}

/// A quaternion of length 1; the identity for one of zeros. `largest` scales it first, so that no square is lost.
#[inline(always)]
fn unit(q: [Wide; 4], largest: Wide) -> [Wide; 4] {
    let scale = Wide::all(1.0).over_above(largest, 1e-30);
    let [x, y, z, w] = [q[0] * scale, q[1] * scale, q[2] * scale, q[3] * scale];
    let square = x * x + y * y + z * z + w * w;
    let inverse = square.inverse_root(LEAST_SQUARE);
    let w = square.above(Wide::all(LEAST_SQUARE), w * inverse, Wide::all(1.0));
    [x * inverse, y * inverse, z * inverse, w]
}

/// `R − 1` of a quaternion of length 1.
#[inline(always)]
pub(super) fn beyond_identity([x, y, z, w]: [Wide; 4]) -> Matrices {
    let (x2, y2, z2) = (x + x, y + y, z + z);
    [
        -(y2 * y + z2 * z),
        x2 * y - z2 * w,
        x2 * z + y2 * w,
        x2 * y + z2 * w,
        -(x2 * x + z2 * z),
        y2 * z - x2 * w,
        x2 * z - y2 * w,
        y2 * z + x2 * w,
        -(x2 * x + y2 * y),
    ]
}

/// One Newton step on the rotation: `R ← R exp ω`, `(tr S − S) ω = (S₃₂ − S₂₃, …)` with `S = RᵀA`.
#[inline(always)]
fn refined(q: [Wide; 4], a: &Matrices) -> [Wide; 4] {
    let r = beyond_identity(q);
    let mut s = *a;
    for i in 0..3 {
        for j in 0..3 {
            s[3 * i + j] = a[3 * i + j] + r[i] * a[j] + r[3 + i] * a[3 + j] + r[6 + i] * a[6 + j];
        }
    }
    let slope = [s[7] - s[5], s[2] - s[6], s[3] - s[1]];
    let [h00, h11, h22] = [s[4] + s[8], s[0] + s[8], s[0] + s[4]];
    let (h01, h02, h12) = (-0.5 * (s[1] + s[3]), -0.5 * (s[2] + s[6]), -0.5 * (s[5] + s[7]));
    let cofactor = [h11 * h22 - h12 * h12, h02 * h12 - h01 * h22, h01 * h12 - h02 * h11];
    let det = h00 * cofactor[0] + h01 * cofactor[1] + h02 * cofactor[2];
    let (c11, c12, c22) = (h00 * h22 - h02 * h02, h01 * h02 - h00 * h12, h00 * h11 - h01 * h01);
    let half = Wide::all(0.5).over_above(det, LEAST_HESSIAN);
    let x = half * (cofactor[0] * slope[0] + cofactor[1] * slope[1] + cofactor[2] * slope[2]);
    let y = half * (cofactor[1] * slope[0] + c11 * slope[1] + c12 * slope[2]);
    let z = half * (cofactor[2] * slope[0] + c12 * slope[1] + c22 * slope[2]);
    let square = x * x + y * y + z * z;
    let small = Wide::all(LARGEST_TURN);
    let none = Wide::ZERO;
    let (x, y, z) =
        (small.above(square, x, none), small.above(square, y, none), small.above(square, z, none));
    let [qx, qy, qz, qw] = q;
    let turned = [
        qx + qw * x + qy * z - qz * y,
        qy + qw * y + qz * x - qx * z,
        qz + qw * z + qx * y - qy * x,
        qw - qx * x - qy * y - qz * z,
    ];
    unit(turned, Wide::all(1.0))
}

/// The rotation nearest to one matrix in f64, by Jacobi's rotations of `K`: for whole bodies, and to test against.
pub(super) fn nearest(a: DMat3) -> DQuat {
    let e = |i: usize, j: usize| a.col(j)[i];
    let trace = e(0, 0) + e(1, 1) + e(2, 2);
    let z = [e(2, 1) - e(1, 2), e(0, 2) - e(2, 0), e(1, 0) - e(0, 1)];
    let entry = |i: usize, j: usize| match (i, j) {
        (3, 3) => trace,
        (3, k) | (k, 3) => z[k],
        _ if i == j => 2.0 * e(i, i) - trace,
        _ => e(i, j) + e(j, i),
    };
    let mut k: [[f64; 4]; 4] = std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)));
    let vectors = jacobi(&mut k);
    let largest = (0..4).rev().max_by(|&i, &j| k[i][i].total_cmp(&k[j][j])).unwrap_or(3);
    let q = vectors.map(|row| row[largest]);
    let q = DQuat::from_array(q);
    if q.is_finite() { q.normalize() } else { DQuat::IDENTITY }
}

/// Makes a symmetric matrix diagonal and returns its eigenvectors as columns.
pub(super) fn jacobi<const D: usize>(k: &mut [[f64; D]; D]) -> [[f64; D]; D] {
    const MOST_SWEEPS: usize = 20;
    let mut vectors = [[0.0; D]; D];
    (0..D).for_each(|i| vectors[i][i] = 1.0);
    for _ in 0..MOST_SWEEPS {
        let size: f64 = k.iter().flatten().map(|e| e * e).sum();
        let off: f64 =
            (0..D).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| k[i][j] * k[i][j]).sum();
        if off <= 1e-32 * size || !size.is_finite() {
            break;
        }
        for p in 0..D {
            for q in p + 1..D {
                turn_plane(k, &mut vectors, p, q);
            }
        }
    }
    vectors
}

/// The rotation in the plane of two axes that makes their off-diagonal entry zero.
fn turn_plane<const D: usize>(
    k: &mut [[f64; D]; D],
    vectors: &mut [[f64; D]; D],
    p: usize,
    q: usize,
) {
    if k[p][q] == 0.0 {
        return;
    }
    let theta = 0.5 * (k[q][q] - k[p][p]) / k[p][q];
    let t = 1.0_f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for row in k.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    let (upper, lower) = (k[p], k[q]);
    k[p] = std::array::from_fn(|j| c * upper[j] - s * lower[j]);
    k[q] = std::array::from_fn(|j| s * upper[j] + c * lower[j]);
    for row in vectors.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
}

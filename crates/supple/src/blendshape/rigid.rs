//! Rotations and rigid motions that fit points best.

use glam::{DMat3, DQuat, DVec3};

/// Sweeps of Jacobi's method; four by four matrices need no more than six.
const SWEEPS: usize = 12;

/// A quaternion whose real part is below this turns by 180°, and its sign is noise.
const HALF_TURN: f64 = 1e-6;

/// `x ↦ turn (x − from) + to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rigid {
    /// Rotation.
    pub turn: DQuat,
    /// Point that is turned about.
    pub from: DVec3,
    /// Where it goes.
    pub to: DVec3,
}

impl Default for Rigid {
    fn default() -> Self {
        Self { turn: DQuat::IDENTITY, from: DVec3::ZERO, to: DVec3::ZERO }
    }
}

impl Rigid {
    /// The motion that brings `from` nearest to `to`, in the sum of squares.
    pub fn fit(pairs: impl Iterator<Item = (DVec3, DVec3)> + Clone) -> Self {
        let (mut sums, mut count) = ([DVec3::ZERO; 2], 0.0);
        for (a, b) in pairs.clone() {
            sums = [sums[0] + a, sums[1] + b];
            count += 1.0;
        }
        if count == 0.0 {
            return Self::default();
        }
        let [from, to] = sums.map(|sum| sum / count);
        let mut moments = DMat3::ZERO;
        for (a, b) in pairs {
            moments += outer(b - to, a - from);
        }
        Self { turn: rotation_of(&moments), from, to }
    }

    /// Where a point goes.
    pub fn apply(&self, x: DVec3) -> DVec3 {
        self.turn * (x - self.from) + self.to
    }

    /// The way back.
    pub fn inverse(&self) -> Self {
        Self { turn: self.turn.inverse(), from: self.to, to: self.from }
    }
}

/// Share of the drift that goes on ahead and to the side, of what turns by an angle: `sin θ / θ` and `(1 − cos θ) / θ`.
fn shares(angle: f64) -> [f64; 2] {
    if angle < 1e-6 {
        return [1.0, 0.5 * angle];
    }
    let (sin, cos) = libm::sincos(angle);
    [sin / angle, (1.0 - cos) / angle]
}

/// Where a point goes that turns by a rotation vector while it drifts evenly, as its body sees it: part of a screw.
pub(super) fn screwed(omega: DVec3, drift: DVec3) -> DVec3 {
    let (axis, [ahead, aside]) = (omega.normalize_or_zero(), shares(omega.length()));
    let along = axis * axis.dot(drift);
    along + ahead * (drift - along) + aside * axis.cross(drift)
}

/// The drift by which a point that turns by a rotation vector goes this way. The inverse of [`screwed`].
pub(super) fn drift(omega: DVec3, way: DVec3) -> DVec3 {
    let (axis, [ahead, aside]) = (omega.normalize_or_zero(), shares(omega.length()));
    let along = axis * axis.dot(way);
    let across = ahead * (way - along) - aside * axis.cross(way);
    along + across / (ahead * ahead + aside * aside)
}

/// `b aᵀ`.
pub fn outer(b: DVec3, a: DVec3) -> DMat3 {
    DMat3::from_cols(b * a.x, b * a.y, b * a.z)
}

/// The rotation R for which `tr Rᵀ M` is largest, `M = Σ b aᵀ` (Horn 1987).
///
/// It brings the a nearest to the b, and is never a mirror image. Among the two signs of a quaternion the one with a
/// real part that is not negative is taken; for a turn by 180° the one whose largest part is positive, so
/// that the axis does not depend on rounding.
#[must_use]
pub fn rotation_of(moments: &DMat3) -> DQuat {
    let m = |row: usize, column: usize| moments.col(row)[column];
    let n = [
        [m(0, 0) + m(1, 1) + m(2, 2), m(1, 2) - m(2, 1), m(2, 0) - m(0, 2), m(0, 1) - m(1, 0)],
        [0.0, m(0, 0) - m(1, 1) - m(2, 2), m(0, 1) + m(1, 0), m(2, 0) + m(0, 2)],
        [0.0, 0.0, m(1, 1) - m(0, 0) - m(2, 2), m(1, 2) + m(2, 1)],
        [0.0, 0.0, 0.0, m(2, 2) - m(0, 0) - m(1, 1)],
    ];
    let mut full = n;
    for r in 0..4 {
        (0..r).for_each(|c| full[r][c] = n[c][r]);
    }
    let [w, x, y, z] = largest_eigenvector(full);
    let (sign, w) = if w.abs() > HALF_TURN {
        (w.signum(), w)
    } else {
        let larger = |m: f64, v: f64| if v.abs() > m.abs() + HALF_TURN { v } else { m };
        ([x, y, z].into_iter().fold(0.0, larger).signum(), 0.0)
    };
    let quaternion = DQuat::from_xyzw(sign * x, sign * y, sign * z, sign * w);
    if quaternion.is_finite() { quaternion } else { DQuat::IDENTITY }
}

/// Jacobi's method.
fn largest_eigenvector(mut a: [[f64; 4]; 4]) -> [f64; 4] {
    let mut vectors =
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
    let size: f64 = a.iter().flatten().map(|x| x * x).sum();
    for _ in 0..SWEEPS {
        let off: f64 =
            (0..4).flat_map(|r| (0..r).map(move |c| (r, c))).map(|(r, c)| a[r][c] * a[r][c]).sum();
        // Not `<=` alone: a matrix of nothing has nothing off its diagonal.
        if off <= 1e-30 * size {
            break;
        }
        for (p, q) in [(0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2)] {
            rotate(&mut a, &mut vectors, p, q);
        }
    }
    let best = (1..4).fold(0, |best, k| if a[k][k] > a[best][best] { k } else { best });
    vectors[best]
}

/// One rotation that makes `a[p][q]` zero; `vectors` are rows.
fn rotate(a: &mut [[f64; 4]; 4], vectors: &mut [[f64; 4]; 4], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for row in a.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    for k in 0..4 {
        (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
        (vectors[p][k], vectors[q][k]) =
            (c * vectors[p][k] - s * vectors[q][k], s * vectors[p][k] + c * vectors[q][k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud() -> Vec<DVec3> {
        (0..40)
            .map(f64::from)
            .map(|i| DVec3::new(i.sin(), (2.1 * i).cos(), (0.7 * i).sin()))
            .collect()
    }

    #[test]
    fn finds_the_motion_it_was_given() {
        for angle in [0.0, 0.3, 2.0, 3.1, -1.0] {
            let axis = DVec3::new(1.0, -2.0, 0.5).normalize();
            let given = Rigid {
                turn: DQuat::from_axis_angle(axis, angle),
                from: DVec3::ONE,
                to: DVec3::new(5.0, 0.0, -20.0),
            };
            let points = cloud();
            let found = Rigid::fit(points.iter().map(|&x| (x, given.apply(x))));
            for &x in &points {
                assert!((found.apply(x) - given.apply(x)).length() < 1e-12, "{angle}");
                assert!((found.inverse().apply(given.apply(x)) - x).length() < 1e-12, "{angle}");
            }
        }
    }

    #[test]
    fn half_turns_choose_an_axis_by_rule() {
        for noise in [-1e-12, 0.0, 1e-12] {
            for axis in [DVec3::X, DVec3::Y, DVec3::new(-0.6, 0.8, 0.0)] {
                let turn = DQuat::from_axis_angle(axis, std::f64::consts::PI + noise);
                let found = Rigid::fit(cloud().into_iter().map(|x| (x, turn * x))).turn;
                let positive = if axis.x < 0.0 { DVec3::new(-0.6, 0.8, 0.0) } else { axis };
                assert!((found.xyz() - positive).length() < 1e-9, "{noise}: {found}");
            }
        }
    }

    #[test]
    fn nothing_turns_nothing() {
        assert_eq!(rotation_of(&DMat3::ZERO), DQuat::IDENTITY);
        assert_eq!(Rigid::fit(std::iter::empty()), Rigid::default());
    }

    #[test]
    fn drifts_make_screws() {
        for (omega, way) in [
            (DVec3::new(0.3, -1.2, 0.5), DVec3::new(2.0, 0.1, -0.7)),
            (DVec3::new(0.0, 0.0, 3.1), DVec3::new(-1.0, 2.0, 0.4)),
            (DVec3::new(1e-9, 0.0, 0.0), DVec3::new(1.0, 2.0, 3.0)),
            (DVec3::ZERO, DVec3::new(1.0, -2.0, 3.0)),
        ] {
            let back = screwed(omega, drift(omega, way));
            assert!((back - way).length() < 1e-12, "{omega}: {back} {way}");
        }
        // A quarter turn about an axis one away: half of it is an eighth.
        let omega = DVec3::new(0.0, 0.0, std::f64::consts::FRAC_PI_2);
        let (from, to) = (DVec3::X, DVec3::Y);
        let half = from + screwed(0.5 * omega, 0.5 * drift(omega, to - from));
        assert!((half - (DVec3::X + DVec3::Y).normalize()).length() < 1e-12, "{half}");
    }
}

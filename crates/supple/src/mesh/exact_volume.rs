//! The exact correction of volume: one displacement along the normals that restores it.
//!
//! # Method
//!
//! Moving every vertex by `λ V_i`, `V_i = s_i n_i`, so that the volume is what it was, (6.2), is a cubic in λ, whose
//! coefficients are sums over the triangles, (6.3). Its root of smallest size is bracketed between the
//! cubic's turning points and polished with Newton, all in f64. `s` says how freely each vertex may move: zero keeps it in its
//! place.
//!
//! # Where we differ from the paper
//!
//! Positions are f32: what rounding them costs is measured, and corrected once more if it matters. The
//! volume of an open mesh is that of [`volume`](super::volume::volume()), closed by a
//! cone to the centroid, which moves along.
//!
//! # Limits
//!
//! A correction that would move vertices by more than a tenth of the bounding box is refused: what is
//! wrong there is not the volume.
//!
//! # References
//!
//! - W. von Funck, H. Theisel, H.-P. Seidel. Volume-preserving Mesh Skinning. Vision, Modeling
//!   and Visualization, 2008.

use glam::{DVec3, Vec3};

use super::measure::Bounds;
use super::normals::vertex_normals;
use super::volume::{centroid, volume};
use crate::Run;
use crate::lengths::Lengths as _;

/// Relative error of the volume that is left alone.
const GOOD_ENOUGH: f64 = 1e-8;

/// Corrections after the first, for what rounding costs.
const ROUNDS: usize = 3;

/// Largest displacement, as a share of the bounding box.
const FARTHEST_REL_BBOX: f64 = 0.1;

/// Displacement from which a vertex may move freely, as a share of the bounding box.
const FREE_REL_BBOX: f32 = 0.01;

/// What a correction did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Correction {
    /// Volume before it.
    pub before: f64,
    /// Volume after it.
    pub after: f64,
    /// The farthest a vertex was moved.
    pub max_displacement: f32,
}

/// Why a volume could not be restored. The positions are then as they were.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// Every vertex that may move leaves the volume as it is.
    #[error("no vertex that may move changes the volume")]
    Immovable,
    /// The volume is too far off.
    #[error(
        "the volume is {before}, not {target}: restoring it would move vertices by more than a tenth of \
         the shape's size"
    )]
    Unreachable {
        /// Volume found.
        before: f64,
        /// Volume wanted.
        target: f64,
    },
}

/// Moves vertices along their normals, each as far as its `freedom` says (0 to 1), so that the volume
/// is `target`.
///
/// # Errors
///
/// [`Error`], with the positions untouched.
///
/// # Panics
///
/// If `freedom` is not as long as `positions`.
pub fn exact_volume(
    positions: &mut [Vec3],
    triangles: &[[u32; 3]],
    target: f64,
    freedom: &[f32],
    run: &Run<'_>,
) -> Result<Correction, Error> {
    assert_eq!(positions.len(), freedom.len(), "one freedom for each vertex");
    let before = volume(positions, triangles, run);
    let start = positions.to_vec();
    let mut after = before;
    for _ in 0..=ROUNDS {
        if (after - target).abs() <= GOOD_ENOUGH * target.abs() {
            break;
        }
        let corrected = correct(positions, triangles, target, freedom, run);
        if let Err(error) = corrected {
            positions.copy_from_slice(&start);
            return Err(error);
        }
        after = volume(positions, triangles, run);
    }
    let moved = start.iter().zip(positions.iter()).map(|(a, b)| a.distance_to(*b));
    Ok(Correction { before, after, max_displacement: moved.fold(0.0, f32::max) })
}

/// `min(1, |x' − x|/(0.01 bbox))`: for shapes of which only the result is known.
///
/// What did not move stays.
#[must_use]
pub fn freedom_by_displacement(rest: &[Vec3], moved: &[Vec3]) -> Vec<f32> {
    let scale = FREE_REL_BBOX * Bounds::of(rest).map_or(1.0, |b| b.diagonal());
    let share =
        |(a, b): (&Vec3, &Vec3)| (a.distance_to(*b) / scale.max(f32::MIN_POSITIVE)).min(1.0);
    rest.iter().zip(moved).map(share).collect()
}

fn correct(
    positions: &mut [Vec3],
    triangles: &[[u32; 3]],
    target: f64,
    freedom: &[f32],
    run: &Run<'_>,
) -> Result<(), Error> {
    let normals = vertex_normals(positions, triangles, run);
    let shifts: Vec<Vec3> = normals.iter().zip(freedom).map(|(n, &s)| s * *n).collect();
    let cubic = volume_along(positions, &shifts, triangles, run);
    let size = f64::from(Bounds::of(positions).map_or(1.0, |b| b.diagonal()));
    let farthest = f64::from(freedom.iter().fold(0.0_f32, |a, &s| a.max(s)));
    // In units of the largest displacement allowed: the root is wanted within ±1.
    let unit = FARTHEST_REL_BBOX * size / farthest.max(f64::MIN_POSITIVE);
    let [c0, c1, c2, c3] = cubic;
    let scaled = [c0 - target, c1 * unit, c2 * unit * unit, c3 * unit * unit * unit];
    let change = scaled[1].abs() + scaled[2].abs() + scaled[3].abs();
    if farthest <= 0.0 || change <= 1e-12 * target.abs() {
        return Err(Error::Immovable);
    }
    let lambda = smallest_root(scaled).ok_or(Error::Unreachable { before: c0, target })? * unit;
    run.for_each(positions, |i, x| {
        *x = (x.as_dvec3() + lambda * shifts[i].as_dvec3()).as_vec3();
    });
    Ok(())
}

/// Coefficients of the volume after moving every vertex by λ times its shift.
fn volume_along(
    positions: &[Vec3],
    shifts: &[Vec3],
    triangles: &[[u32; 3]],
    run: &Run<'_>,
) -> [f64; 4] {
    let (origin, drift) = (centroid(positions, run), centroid(shifts, run));
    let corner = |i: u32| positions[i as usize].as_dvec3() - origin;
    let shift = |i: u32| shifts[i as usize].as_dvec3() - drift;
    let sum = |term: &(dyn Fn([DVec3; 3], [DVec3; 3]) -> f64 + Sync)| {
        run.sum(triangles.len(), |t| term(triangles[t].map(corner), triangles[t].map(shift))) / 6.0
    };
    let triple = |a: DVec3, b: DVec3, c: DVec3| a.dot(b.cross(c));
    [
        sum(&|[a, b, c], _| triple(a, b, c)),
        sum(&|[a, b, c], [u, v, w]| triple(u, b, c) + triple(a, v, c) + triple(a, b, w)),
        sum(&|[a, b, c], [u, v, w]| triple(a, v, w) + triple(u, b, w) + triple(u, v, c)),
        sum(&|_, [u, v, w]| triple(u, v, w)),
    ]
}

/// The root of `c₀ + c₁x + c₂x² + c₃x³` between −1 and 1 that is nearest to zero.
///
/// Between the turning points the cubic is monotone, so that a change of sign brackets each root, however
/// small the leading coefficients are.
pub(crate) fn smallest_root(c: [f64; 4]) -> Option<f64> {
    let mut cuts = vec![-1.0, 0.0, 1.0];
    cuts.extend(turning_points(c).into_iter().filter(|x| x.abs() < 1.0));
    cuts.sort_by(f64::total_cmp);
    let brackets = cuts.windows(2).map(|w| (w[0], w[1]));
    let crossing = brackets.filter(|&(a, b)| value(c, a) * value(c, b) <= 0.0);
    let roots = crossing.map(|(a, b)| newton(c, bisect(c, a, b)));
    roots.min_by(|a, b| a.abs().total_cmp(&b.abs()))
}

fn value([c0, c1, c2, c3]: [f64; 4], x: f64) -> f64 {
    c0 + x * (c1 + x * (c2 + x * c3))
}

/// Real roots of the derivative.
fn turning_points([_, c1, c2, c3]: [f64; 4]) -> Vec<f64> {
    let discriminant = c2 * c2 - 3.0 * c1 * c3;
    if discriminant < 0.0 {
        return Vec::new();
    }
    let q = -(c2 + c2.signum() * discriminant.sqrt());
    // c₃ or q may vanish: what is not finite is no turning point.
    [q / (3.0 * c3), c1 / q].into_iter().filter(|x| x.is_finite()).collect()
}

fn bisect(c: [f64; 4], mut a: f64, mut b: f64) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (a + b);
        if value(c, a) * value(c, middle) <= 0.0 {
            b = middle;
        } else {
            a = middle;
        }
    }
    0.5 * (a + b)
}

/// One Newton step, unless the slope vanishes.
fn newton(c: [f64; 4], x: f64) -> f64 {
    let slope = c[1] + x * (2.0 * c[2] + 3.0 * x * c[3]);
    let step = value(c, x) / slope;
    if step.abs() < 1e-6 { x - step } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_found() {
        let cases = [
            // (x − 0.1)(x − 2)(x + 3)
            ([0.6, -6.1, 0.9, 1.0], 0.1),
            // x² − 0.25
            ([-0.25, 0.0, 1.0, 0.0], 0.5),
            ([1.0, -4.0, 0.0, 0.0], 0.25),
            // (x − 0.5)(x² + 1)
            ([-0.5, 1.0, -0.5, 1.0], 0.5),
            // almost no cubic part
            ([1e-3, -1.0, 0.2, 1e-13], 1.0e-3),
            ([1e-3, -1.0, 1e-13, 0.2], 1.0e-3),
        ];
        for (c, expected) in cases {
            let root = smallest_root(c).unwrap();
            assert!((root.abs() - expected).abs() < 1e-6, "{c:?}: {root}");
        }
        assert_eq!(smallest_root([1.0, 0.0, 1.0, 0.0]), None, "no real root");
        assert_eq!(smallest_root([3.0, -1.0, 0.0, 0.0]), None, "too far away");
    }

    fn octahedron() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let [x, y, z] = Vec3::AXES;
        let triangles = vec![
            [0, 2, 4],
            [2, 1, 4],
            [1, 3, 4],
            [3, 0, 4],
            [2, 0, 5],
            [1, 2, 5],
            [3, 1, 5],
            [0, 3, 5],
        ];
        (vec![x, -x, y, -y, z, -z], triangles)
    }

    #[test]
    fn the_volume_becomes_the_target_and_the_fixed_stay() {
        let (mut positions, triangles) = octahedron();
        let run = Run::default();
        let target = 1.1 * volume(&positions, &triangles, &run);
        let freedom = [1.0, 1.0, 0.5, 0.5, 0.0, 0.0];
        exact_volume(&mut positions, &triangles, target, &freedom, &run).unwrap();
        let error = volume(&positions, &triangles, &run) / target - 1.0;
        assert!(error.abs() < 1e-6, "{error}");
        assert_eq!(positions[4..], [Vec3::Z, -Vec3::Z], "what may not move stays");
    }

    #[test]
    fn the_impossible_is_refused() {
        let (mut positions, triangles) = octahedron();
        let (rest, run) = (positions.clone(), Run::default());
        let far = exact_volume(&mut positions, &triangles, 50.0, &[1.0; 6], &run);
        assert!(matches!(far, Err(Error::Unreachable { .. })), "{far:?}");
        let held = exact_volume(&mut positions, &triangles, 1.4, &[0.0; 6], &run);
        assert_eq!(held, Err(Error::Immovable));
        assert_eq!(positions, rest, "untouched");
    }
}

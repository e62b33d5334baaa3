//! Interpolation in space by radial basis functions `|r|³` with a linear part.
//!
//! # Method
//!
//! `f(x) = Σ w_i |x − x_i|³ + a·x + b` through all values, `Σ w = 0`, `Σ w x = 0` (Turk and O'Brien): of all functions
//! through them the one of least bending. The linear part is taken in the axes in which the places spread, as far as they
//! do: a cut painted on a plane determines nothing across it. With an orthonormal basis `Z` of what is orthogonal to the
//! linear part, `Zᵀ Φ Z` is positive definite and is factorised once for all right sides.
//!
//! # References
//!
//! Turk, O'Brien: Shape Transformation Using Variational Implicit Functions, 1999.

use glam::DVec3;

use super::dense::Cholesky;
use super::{Known, Merged, merge};
use crate::Run;
use crate::procdef::rotation::jacobi;
use crate::sparse;

/// Spread of the places along an axis, as a share of the largest, below which they do not spread along it.
const LEAST_SPREAD: f64 = 1e-6;
/// Most constraints of one field.
pub const MOST_KNOWN: usize = 10_000;

/// `D` functions that share their places.
#[derive(Clone, Debug)]
pub struct Interpolant<const D: usize> {
    centers: Vec<DVec3>,
    weights: Vec<[f64; D]>,
    origin: DVec3,
    scale: f64,
    /// Constant and three slopes, in scaled coordinates.
    linear: [[f64; D]; 4],
    /// What was merged.
    pub merged: Merged,
}

/// Why a field cannot be interpolated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// Nothing is known.
    #[error("a field needs at least one constraint")]
    Nothing,
    /// More constraints than can be solved for.
    #[error(
        "{count} constraints are too many for a field in space: up to {MOST_KNOWN}; interpolate it in the body"
    )]
    TooMany {
        /// How many.
        count: usize,
    },
    /// Rounding left no positive matrix.
    #[error("the constraints of a field are too close to each other to be told apart ({0})")]
    TooClose(#[source] sparse::Error),
}

impl<const D: usize> Interpolant<D> {
    /// The smoothest functions through what is known.
    ///
    /// # Errors
    ///
    /// If nothing is known or too much, or places are too close.
    pub fn new(known: &[Known<D>], run: &Run<'_>) -> Result<Self, Error> {
        let (known, merged) = merge(known);
        if known.is_empty() {
            return Err(Error::Nothing);
        }
        if known.len() > MOST_KNOWN {
            return Err(Error::TooMany { count: known.len() });
        }
        let n = known.len() as f64;
        let origin = known.iter().map(|k| k.at).sum::<DVec3>() / n;
        let extent = known.iter().map(|k| (k.at - origin).length()).fold(0.0, f64::max);
        let scale = if extent > 0.0 { 1.0 / extent } else { 1.0 };
        let centers: Vec<DVec3> = known.iter().map(|k| (k.at - origin) * scale).collect();
        let values: Vec<[f64; D]> = known.iter().map(|k| k.value).collect();
        let basis = LinearPart::new(&centers);
        let weights = solve(&centers, &values, &basis, run)?;
        let mut field = Self { centers, weights, origin, scale, linear: [[0.0; D]; 4], merged };
        field.linear = basis.fit(&field, &values, run);
        Ok(field)
    }

    /// The functions at a place.
    #[must_use]
    pub fn at(&self, place: DVec3) -> [f64; D] {
        let x = (place - self.origin) * self.scale;
        let [b, ax, ay, az] = &self.linear;
        let mut sum: [f64; D] =
            std::array::from_fn(|k| b[k] + ax[k] * x.x + ay[k] * x.y + az[k] * x.z);
        for (c, w) in self.centers.iter().zip(&self.weights) {
            let square = (x - *c).length_squared();
            let cube = square * square.sqrt();
            (0..D).for_each(|k| sum[k] += w[k] * cube);
        }
        sum
    }

    /// Their gradients at a place: `Σ 3 w |r| r + a`.
    #[must_use]
    pub fn gradient(&self, place: DVec3) -> [DVec3; D] {
        let x = (place - self.origin) * self.scale;
        let mut sum: [DVec3; D] = std::array::from_fn(|k| {
            DVec3::new(self.linear[1][k], self.linear[2][k], self.linear[3][k])
        });
        for (c, w) in self.centers.iter().zip(&self.weights) {
            let r = x - *c;
            let slope = 3.0 * r.length_squared().sqrt() * r;
            (0..D).for_each(|k| sum[k] += w[k] * slope);
        }
        sum.map(|g| g * self.scale)
    }
}

/// The functions 1 and coordinates along the axes in which places spread.
struct LinearPart {
    axes: Vec<DVec3>,
    /// Householder vectors of their QR factorisation; each of length `√2` or zero.
    reflections: Vec<Vec<f64>>,
    columns: Vec<Vec<f64>>,
}

impl LinearPart {
    fn new(centers: &[DVec3]) -> Self {
        let mut moment = [[0.0; 3]; 3];
        for c in centers {
            for i in 0..3 {
                (0..3).for_each(|j| moment[i][j] += c[i] * c[j]);
            }
        }
        let vectors = jacobi(&mut moment);
        let largest = (0..3).map(|k| moment[k][k]).fold(0.0, f64::max);
        let spreads =
            |k: &usize| moment[*k][*k] > LEAST_SPREAD * LEAST_SPREAD * largest && largest > 0.0;
        let axis = |k: usize| DVec3::new(vectors[0][k], vectors[1][k], vectors[2][k]);
        let axes: Vec<DVec3> = (0..3).filter(spreads).map(axis).take(centers.len() - 1).collect();
        let ones = vec![1.0; centers.len()];
        let coordinates = axes.iter().map(|a| centers.iter().map(|c| c.dot(*a)).collect());
        let columns: Vec<Vec<f64>> = std::iter::once(ones).chain(coordinates).collect();
        let mut reflections: Vec<Vec<f64>> = Vec::new();
        for (k, column) in columns.iter().enumerate() {
            let mut v = column.clone();
            reflections.iter().for_each(|r| reflect(r, &mut v));
            v[..k].iter_mut().for_each(|e| *e = 0.0);
            let length = v.iter().map(|e| e * e).sum::<f64>().sqrt();
            v[k] += length.copysign(v[k]);
            let square: f64 = v.iter().map(|e| e * e).sum();
            let scale = if square > 0.0 { (2.0 / square).sqrt() } else { 0.0 };
            v.iter_mut().for_each(|e| *e *= scale);
            reflections.push(v);
        }
        Self { axes, reflections, columns }
    }

    /// The linear functions that make up what the radial ones leave.
    fn fit<const D: usize>(
        &self,
        radial: &Interpolant<D>,
        values: &[[f64; D]],
        run: &Run<'_>,
    ) -> [[f64; D]; 4] {
        let scaled = |c: &DVec3| radial.origin + *c / radial.scale;
        let found: Vec<[f64; D]> = run.map(values.len(), |k| radial.at(scaled(&radial.centers[k])));
        let mut linear = [[0.0; D]; 4];
        for k in 0..D {
            let mut rest: Vec<f64> = values.iter().zip(&found).map(|(v, f)| v[k] - f[k]).collect();
            self.reflections.iter().for_each(|r| reflect(r, &mut rest));
            let coefficients = self.back_substitute(&rest);
            linear[0][k] = coefficients[0];
            for (a, c) in self.axes.iter().zip(&coefficients[1..]) {
                (0..3).for_each(|j| linear[1 + j][k] += c * a[j]);
            }
        }
        linear
    }

    fn back_substitute(&self, right: &[f64]) -> Vec<f64> {
        let p = self.columns.len();
        let upper: Vec<Vec<f64>> = self
            .columns
            .iter()
            .map(|c| {
                let mut c = c.clone();
                self.reflections.iter().for_each(|r| reflect(r, &mut c));
                c
            })
            .collect();
        let mut x = vec![0.0; p];
        for i in (0..p).rev() {
            let known: f64 = (i + 1..p).map(|j| upper[j][i] * x[j]).sum();
            let pivot = upper[i][i];
            x[i] = if pivot.abs() > 0.0 { (right[i] - known) / pivot } else { 0.0 };
        }
        x
    }
}

/// `v − r (r·v)`.
fn reflect(r: &[f64], v: &mut [f64]) {
    let dot: f64 = r.iter().zip(v.iter()).map(|(a, b)| a * b).sum();
    v.iter_mut().zip(r).for_each(|(v, r)| *v -= dot * r);
}

/// The weights of the radial functions.
fn solve<const D: usize>(
    centers: &[DVec3],
    values: &[[f64; D]],
    basis: &LinearPart,
    run: &Run<'_>,
) -> Result<Vec<[f64; D]>, Error> {
    let (n, p) = (centers.len(), basis.columns.len());
    if n <= p {
        return Ok(vec![[0.0; D]; n]);
    }
    let row = |i: usize| {
        let mut row: Vec<f64> = centers
            .iter()
            .map(|c| {
                let square = (*c - centers[i]).length_squared();
                square * square.sqrt()
            })
            .collect();
        basis.reflections.iter().for_each(|r| reflect(r, &mut row));
        row
    };
    let mut phi: Vec<Vec<f64>> = run.map_tasks(n, row);
    // The other side of Qᵀ Φ Q: rows combine.
    for r in &basis.reflections {
        let mut dot = vec![0.0; n];
        for (row, e) in phi.iter().zip(r) {
            dot.iter_mut().zip(row).for_each(|(d, v)| *d += e * v);
        }
        run.for_each(&mut phi, |i, row| {
            row.iter_mut().zip(&dot).for_each(|(v, d)| *v -= r[i] * d);
        });
    }
    let factor = Cholesky::new(&phi, p, run).map_err(Error::TooClose)?;
    let mut inner = Vec::with_capacity(D * (n - p));
    for k in 0..D {
        let mut right: Vec<f64> = values.iter().map(|v| v[k]).collect();
        basis.reflections.iter().for_each(|r| reflect(r, &mut right));
        inner.extend_from_slice(&right[p..]);
    }
    factor.solve(&mut inner);
    let mut weights = vec![[0.0; D]; n];
    for (k, inner) in inner.chunks_exact(n - p).enumerate() {
        let mut w = vec![0.0; p];
        w.extend_from_slice(inner);
        basis.reflections.iter().rev().for_each(|r| reflect(r, &mut w));
        weights.iter_mut().zip(w).for_each(|(all, w)| all[k] = w);
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procdef::tests::Dice;

    fn scattered(count: usize, flat: bool) -> Vec<Known<2>> {
        let mut dice = Dice(31);
        let value = |x: DVec3| {
            [x.x * x.x - x.y, 1.0 + 2.0 * x.x - 3.0 * x.y + if flat { 0.0 } else { x.z }]
        };
        (0..count)
            .map(|_| {
                let at = DVec3::new(dice.roll(), dice.roll(), if flat { 0.5 } else { dice.roll() });
                Known { at, value: value(at) }
            })
            .collect()
    }

    #[test]
    fn a_field_meets_its_constraints_and_reproduces_what_is_linear() {
        for (flat, count) in
            [false, true].into_iter().flat_map(|f| [1, 2, 3, 4, 5, 60].map(|n| (f, n)))
        {
            let known = scattered(count, flat);
            let field = Interpolant::new(&known, &Run::default()).unwrap();
            let off = |k: &Known<2>| {
                (0..2).map(|j| (field.at(k.at)[j] - k.value[j]).abs()).fold(0.0, f64::max)
            };
            let worst = known.iter().map(off).fold(0.0, f64::max);
            assert!(worst < 1e-8, "{count} constraints, flat {flat}: {worst}");
            if count > 4 {
                let x = DVec3::new(0.2, -0.3, 0.5);
                let above = if flat { 0.0 } else { x.z };
                let off = field.at(x)[1] - (1.0 + 2.0 * x.x - 3.0 * x.y + above);
                assert!(off.abs() < 1e-8, "linear, flat {flat}: {off}");
                assert!((field.at(x)[0] - (x.x * x.x - x.y)).abs() < 0.3, "near the parabola");
            }
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        let field = Interpolant::new(&scattered(40, false), &Run::default()).unwrap();
        let (x, h) = (DVec3::new(0.13, 0.4, -0.2), 1e-5);
        let gradient = field.gradient(x)[0];
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            let slope = (field.at(x + h * axis)[0] - field.at(x - h * axis)[0]) / (2.0 * h);
            assert!(
                (slope - gradient.dot(axis)).abs() < 1e-7,
                "{slope} along {axis}, not {gradient}"
            );
        }
    }

    #[test]
    fn equal_places_are_merged_and_contradictions_told() {
        let mut known = scattered(20, false);
        let mut again = known[3];
        again.value[0] += 0.5;
        known.push(again);
        let field = Interpolant::new(&known, &Run::default()).unwrap();
        assert_eq!(field.merged, Merged { merged: 1, contradiction: 0.5 });
        let found = field.at(again.at)[0];
        assert!((found - (again.value[0] - 0.25)).abs() < 1e-8, "the mean: {found}");
        assert!(
            matches!(Interpolant::<1>::new(&[], &Run::default()), Err(Error::Nothing)),
            "nothing known"
        );
    }
}

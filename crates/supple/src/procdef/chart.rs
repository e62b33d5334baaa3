//! Deformation charts: how fast tissue contracts and stretches over a cycle (Fig. 4).
//!
//! # Method
//!
//! A curve runs through control points `[share of the cycle, stretch]`, is periodic, and is interpolated in the
//! *logarithm* of the stretch, monotone between points (Fritsch and Carlson): it never leaves the range of its points, is
//! never zero, and everything that acts on it (amplitude, touches, mixing) multiplies there. What a volume mode leaves
//! free follows from the primary curve, so that `c₁c₂c₃ = 1` survives all of that.
//!
//! # Limits
//!
//! Curves are sampled 4096 times a cycle and interpolated linearly between samples: 1e-5 off for a pulse a twentieth of a
//! cycle long.
//!
//! # References
//!
//! Ijiri et al. 2009, §4; Fritsch, Carlson: Monotone Piecewise Cubic Interpolation, 1980.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest stretch of a control point, and of all that acts at one place together; the least is its inverse.
pub const MOST_STRETCH: f64 = 4.0;
/// Samples of a cycle.
const SAMPLES: usize = 4096;

/// How a curve runs between its control points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Between {
    /// A monotone cubic.
    #[default]
    Smooth,
    /// A straight line.
    Linear,
}

/// Which stretches follow from the primary one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Volume {
    /// The secondary and the third make up for the primary alike: `c₂ = c₃ = 1/√c₁`.
    #[default]
    Both,
    /// The secondary makes up for the primary: `c₂ = 1/c₁`, `c₃ = 1`.
    Secondary,
    /// None: all three curves count as they are drawn.
    Free,
}

/// Three cyclic curves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Chart {
    /// Control points `[share of the cycle, stretch]` of the primary direction; none: it keeps its length.
    pub primary: Vec<[f64; 2]>,
    /// Those of the secondary direction, where `volume = "free"`.
    pub secondary: Vec<[f64; 2]>,
    /// Those of the third direction, where `volume = "free"`.
    pub third: Vec<[f64; 2]>,
    /// How the curves run between their points.
    pub between: Between,
    /// Which stretches follow from the primary one.
    pub volume: Volume,
    /// How long a cycle takes, in seconds.
    #[schemars(extend("unit" = "s"))]
    pub cycle: f64,
    /// How fast phase travels, per second: a place of phase P is `P/speed` seconds late.
    pub speed: f64,
}

impl Default for Chart {
    fn default() -> Self {
        Self {
            primary: Vec::new(),
            secondary: Vec::new(),
            third: Vec::new(),
            between: Between::Smooth,
            volume: Volume::Both,
            cycle: 1.0,
            speed: 1.0,
        }
    }
}

/// Why a chart cannot be played.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChartError {
    /// A control point is out of range.
    #[error(
        "control point {index} is [{time}, {stretch}]: times lie in [0, 1), stretches in [0.25, 4]"
    )]
    Point {
        /// Which one.
        index: usize,
        /// Its time.
        time: f64,
        /// Its stretch.
        stretch: f64,
    },
    /// Control points are not in order.
    #[error("control point {index} at {time} comes after one that is later or at the same time")]
    Order {
        /// Which one.
        index: usize,
        /// Its time.
        time: f64,
    },
    /// A time or a speed is not positive.
    #[error("{what} must be positive, not {value}")]
    Positive {
        /// `cycle` or `speed`.
        what: &'static str,
        /// What it is.
        value: f64,
    },
}

impl Chart {
    /// A wave `rate^sin` or, for a rate below 1, `rate^−sin`, by eight points a cycle.
    #[must_use]
    pub fn wave(rate: f64, cycle: f64) -> Self {
        let point = |k: u32| {
            let share = f64::from(k) / 8.0;
            [share, libm::pow(rate, libm::sin(std::f64::consts::TAU * share))]
        };
        Self { primary: (0..8).map(point).collect(), cycle, ..Self::default() }
    }

    /// Samples the curves.
    ///
    /// # Errors
    ///
    /// For control points out of range or out of order, and for times that are not positive.
    pub fn sampled(&self) -> Result<Sampled, ChartError> {
        for (what, value) in [("cycle", self.cycle), ("speed", self.speed)] {
            if !value.is_finite() || value <= 0.0 {
                return Err(ChartError::Positive { what, value });
            }
        }
        let curve = |points: &[[f64; 2]]| Curve::new(points, self.between);
        let [c1, c2, c3] = [curve(&self.primary)?, curve(&self.secondary)?, curve(&self.third)?];
        let sample = |k: usize| {
            let share = (k % SAMPLES) as f64 / SAMPLES as f64;
            let first = c1.at(share);
            let [first, second, third] = match self.volume {
                Volume::Both => [first, -0.5 * first, -0.5 * first],
                Volume::Secondary => [first, -first, 0.0],
                Volume::Free => [first, c2.at(share), c3.at(share)],
            };
            [first as f32, second as f32, third as f32, 0.0]
        };
        let table = (0..=SAMPLES).map(sample).collect();
        Ok(Sampled { table, cycle: self.cycle, speed: self.speed })
    }
}

/// A chart to be played.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// Logarithms of the three stretches; the last sample is the first again.
    table: Vec<[f32; 4]>,
    /// Seconds a cycle.
    pub(super) cycle: f64,
    /// How fast phase travels, per second.
    pub(super) speed: f64,
}

impl Sampled {
    /// The logarithms of the stretches at a share of the cycle in `[0, 1]`.
    #[inline(always)]
    pub(super) fn at(&self, share: f32) -> [f32; 4] {
        let place = share * SAMPLES as f32;
        let k = (place as usize).min(SAMPLES - 1);
        let part = place - k as f32;
        let (a, b) = (&self.table[k], &self.table[k + 1]);
        std::array::from_fn(|j| a[j] + part * (b[j] - a[j]))
    }
}

/// One periodic curve in the logarithm.
struct Curve {
    points: Vec<[f64; 2]>,
    slopes: Vec<f64>,
    between: Between,
}

impl Curve {
    fn new(points: &[[f64; 2]], between: Between) -> Result<Self, ChartError> {
        let range = 1.0 / MOST_STRETCH..=MOST_STRETCH;
        for (index, &[time, stretch]) in points.iter().enumerate() {
            if !(0.0..1.0).contains(&time) || !range.contains(&stretch) {
                return Err(ChartError::Point { index, time, stretch });
            }
            if index > 0 && points[index - 1][0] >= time {
                return Err(ChartError::Order { index, time });
            }
        }
        let points: Vec<[f64; 2]> = points.iter().map(|&[t, c]| [t, libm::log(c)]).collect();
        let n = points.len();
        let secant = |k: usize| {
            let (a, b) = (points[k % n], points[(k + 1) % n]);
            let time = if k % n + 1 == n { b[0] + 1.0 } else { b[0] } - a[0];
            ((b[1] - a[1]) / time, time)
        };
        let slope = |k: usize| {
            let ((before, h0), (after, h1)) = (secant(k + n - 1), secant(k));
            if before * after <= 0.0 {
                return 0.0;
            }
            // The weighted harmonic mean of Fritsch and Butland lies in the monotone range.
            let (w0, w1) = (2.0 * h1 + h0, h1 + 2.0 * h0);
            (w0 + w1) / (w0 / before + w1 / after)
        };
        let slopes = (0..n).map(slope).collect();
        Ok(Self { points, slopes, between })
    }

    fn at(&self, share: f64) -> f64 {
        let n = self.points.len();
        if n == 0 {
            return 0.0;
        }
        let next = self.points.iter().position(|p| p[0] > share).unwrap_or(n);
        let (i, j) = ((next + n - 1) % n, next % n);
        let ([t0, a], [t1, b]) = (self.points[i], self.points[j]);
        let length = if t1 > t0 { t1 - t0 } else { t1 - t0 + 1.0 };
        let since = if share >= t0 { share - t0 } else { share - t0 + 1.0 };
        let s = since / length;
        match self.between {
            Between::Linear => a + s * (b - a),
            Between::Smooth => {
                let (m0, m1) = (length * self.slopes[i], length * self.slopes[j]);
                // Written about a, so that equal neighbours give exactly their value.
                let (s2, s3) = (s * s, s * s * s);
                a + (3.0 * s2 - 2.0 * s3) * (b - a) + (s3 - 2.0 * s2 + s) * m0 + (s3 - s2) * m1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procdef::tests::Dice;

    #[test]
    fn curves_pass_through_their_points_and_never_leave_their_range() {
        let mut dice = Dice(21);
        for round in 0..200 {
            let n = 1 + round % 9;
            let mut times: Vec<f64> = (0..n).map(|_| 0.499 * (1.0 + dice.roll())).collect();
            times.sort_by(f64::total_cmp);
            times.dedup();
            let points: Vec<[f64; 2]> =
                times.iter().map(|&t| [t, 2.0_f64.powf(dice.roll())]).collect();
            for between in [Between::Smooth, Between::Linear] {
                let curve = Curve::new(&points, between).unwrap();
                for &[t, c] in &points {
                    assert!((curve.at(t) - c.ln()).abs() < 1e-12, "through [{t}, {c}]");
                }
                let low = points.iter().map(|p| p[1].ln()).fold(f64::INFINITY, f64::min);
                let high = points.iter().map(|p| p[1].ln()).fold(f64::NEG_INFINITY, f64::max);
                for k in 0..500 {
                    let v = curve.at(f64::from(k) / 500.0);
                    assert!(v > low - 1e-12 && v < high + 1e-12, "{v} outside [{low}, {high}]");
                }
            }
        }
    }

    #[test]
    fn volume_modes_keep_the_product_one() {
        for volume in [Volume::Both, Volume::Secondary] {
            let chart = Chart { volume, ..Chart::wave(1.7, 1.0) }.sampled().unwrap();
            for k in 0..1000 {
                let c = chart.at(k as f32 / 1000.0);
                assert!((c[0] + c[1] + c[2]).abs() < 1e-6, "{volume:?}: {c:?}");
            }
        }
    }

    #[test]
    fn a_chart_of_ones_is_exactly_nothing() {
        let chart = Chart { primary: vec![[0.1, 1.0], [0.6, 1.0]], ..Chart::default() };
        let chart = chart.sampled().unwrap();
        assert!((0..999).all(|k| chart.at(k as f32 / 999.0) == [0.0; 4]), "zero to the bit");
    }

    #[test]
    fn what_cannot_be_played_is_named() {
        let chart = |primary: Vec<[f64; 2]>| Chart { primary, ..Chart::default() }.sampled();
        assert!(
            matches!(chart(vec![[0.0, 9.0]]), Err(ChartError::Point { index: 0, .. })),
            "too far"
        );
        assert!(
            matches!(chart(vec![[0.0, 1.0], [1.0, 1.0]]), Err(ChartError::Point { index: 1, .. })),
            "too late"
        );
        assert!(
            matches!(chart(vec![[0.5, 1.0], [0.2, 1.0]]), Err(ChartError::Order { index: 1, .. })),
            "order"
        );
        let still = Chart { cycle: 0.0, ..Chart::default() }.sampled();
        assert_eq!(still, Err(ChartError::Positive { what: "cycle", value: 0.0 }));
    }
}

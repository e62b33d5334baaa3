//! The angle about the tangent that is added on the way along a curve: α(t) of the thesis' (4.9), and its rate.

use super::error::{Problem, check_finite, check_share};

/// α over the time from 0 to 1: an even rate, and a smooth curve through pairs of time and angle.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Twisting {
    even: f64,
    /// Time, angle and rate at each pair.
    knots: Vec<[f64; 3]>,
}

impl Twisting {
    /// From radians in all, and pairs of time and degrees.
    pub(super) fn new(even: f64, pairs: &[[f32; 2]]) -> Result<Self, Problem> {
        for &[time, degrees] in pairs {
            check_share("the time of a turn", time)?;
            check_finite("the angle of a turn", degrees)?;
        }
        if pairs.windows(2).any(|pair| pair[0][0] >= pair[1][0]) {
            return Err(Problem::UnsortedTwist);
        }
        let all: Vec<[f64; 2]> =
            pairs.iter().map(|&[t, a]| [f64::from(t), f64::from(a).to_radians()]).collect();
        let slope = |k: usize| (all[k + 1][1] - all[k][1]) / (all[k + 1][0] - all[k][0]);
        // The harmonic mean of the slopes on both sides: no overshoot, and at rest where the angle turns round or ends.
        let rate = |k: usize| {
            if k == 0 || k + 1 == all.len() {
                return 0.0;
            }
            let (before, after) = (slope(k - 1), slope(k));
            if before * after > 0.0 { 2.0 * before * after / (before + after) } else { 0.0 }
        };
        let knots = (0..all.len()).map(|k| [all[k][0], all[k][1], rate(k)]).collect();
        Ok(Self { even, knots })
    }

    /// With so many radians more in all.
    pub(super) fn and(mut self, radians: f64) -> Self {
        self.even += radians;
        self
    }

    pub(super) fn is_none(&self) -> bool {
        self.even == 0.0 && self.knots.len() < 2
    }

    /// dα/dt.
    pub(super) fn rate(&self, t: f64) -> f64 {
        let k = self.knots.partition_point(|knot| knot[0] <= t);
        let (Some(&[t0, a, da]), Some(&[t1, b, db])) =
            (k.checked_sub(1).and_then(|k| self.knots.get(k)), self.knots.get(k))
        else {
            return self.even;
        };
        let (width, u) = (t1 - t0, (t - t0) / (t1 - t0));
        let along = 6.0 * u * (1.0 - u) * (b - a) / width;
        let ends = (1.0 - u) * (1.0 - 3.0 * u) * da + u * (3.0 * u - 2.0) * db;
        self.even + along + ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rate adds up to the angles that were asked for, and is continuous.
    #[test]
    fn the_rate_adds_up_to_the_angles() {
        let pairs = [[0.1, 0.0], [0.3, 90.0], [0.5, 90.0], [0.9, -180.0]];
        let twist = Twisting::new(0.5, &pairs).unwrap();
        let n = 20_000;
        let (mut angle, mut last) = (0.0, twist.rate(0.0));
        for k in 0..n {
            let t = (f64::from(k) + 0.5) / f64::from(n);
            let rate = twist.rate(t);
            assert!((rate - last).abs() < 0.02, "jumps at {t}: {last} {rate}");
            (angle, last) = (angle + rate / f64::from(n), rate);
            for [at, wanted] in pairs {
                if (t - f64::from(at)).abs() < 0.5 / f64::from(n) {
                    let expected = f64::from(wanted).to_radians() + 0.5 * t;
                    assert!((angle - expected).abs() < 1e-2, "{angle} at {t}, not {expected}");
                }
            }
        }
        assert!((angle - (0.5 - std::f64::consts::PI)).abs() < 1e-6, "{angle}");
    }

    #[test]
    fn pairs_out_of_order_are_refused() {
        let refused = |pairs: &[[f32; 2]]| Twisting::new(0.0, pairs).unwrap_err();
        assert_eq!(refused(&[[0.5, 1.0], [0.5, 2.0]]), Problem::UnsortedTwist);
        assert!(matches!(refused(&[[-0.5, 1.0]]), Problem::NotAShare { .. }), "before the start");
    }
}

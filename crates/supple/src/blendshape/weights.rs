//! Weights: two spellings, combinations, and lengths that stay positive.

use super::Error;

/// Lengths below this part of the base's are bent off.
pub(super) const SHORT: f64 = 0.1;

/// The lowest that a target's own lengths may push [`SHORT`] to.
const SHORTEST: f64 = 1e-3;

/// Sums further than this from one are refused.
const SUM_SLACK: f64 = 1e-4;

/// Weights beyond this, on either side, are slips: lengths would be thousands of times what they were.
const LARGEST: f64 = 1000.0;

/// Weights without the base from weights that begin with the base's and sum to one.
///
/// # Errors
///
/// [`Error::SumNotOne`], [`Error::WeightNotFinite`], [`Error::WeightTooLarge`], [`Error::OtherWeights`].
pub fn additive(with_base: &[f64]) -> Result<Vec<f64>, Error> {
    check(with_base)?;
    if with_base.is_empty() {
        return Err(Error::OtherWeights { found: 0, expected: 1, what: "base" });
    }
    let sum: f64 = with_base.iter().sum();
    if (sum - 1.0).abs() > SUM_SLACK {
        return Err(Error::SumNotOne { sum });
    }
    Ok(with_base[1..].to_vec())
}

/// That weights are numbers with which anything can be blended.
pub(super) fn check(weights: &[f64]) -> Result<(), Error> {
    if let Some(weight) = weights.iter().position(|w| !w.is_finite()) {
        return Err(Error::WeightNotFinite { weight });
    }
    match weights.iter().find(|w| w.abs() > LARGEST) {
        Some(&weight) => Err(Error::WeightTooLarge { weight, most: LARGEST }),
        None => Ok(()),
    }
}

/// The weight of every target and every combination as a shape of its own.
///
/// A combination adds what its shape has beyond the sum of its parts, at the product of their weights. Written as
/// weights of whole shapes, what a combination gets is taken from all that it contains, the largest first.
pub(super) fn of_shapes(weights: &[f64], combinations: &[Vec<usize>]) -> Vec<f64> {
    let product = |of: &Vec<usize>| of.iter().map(|&t| weights[t]).product::<f64>();
    let mut shares = weights.to_vec();
    shares.extend(combinations.iter().map(product));
    let mut order: Vec<usize> = (0..combinations.len()).collect();
    order.sort_by_key(|&c| std::cmp::Reverse(combinations[c].len()));
    for &c in &order {
        let share = shares[weights.len() + c];
        combinations[c].iter().for_each(|&t| shares[t] -= share);
        for (other, of) in combinations.iter().enumerate() {
            let is_part =
                of.len() < combinations[c].len() && of.iter().all(|t| combinations[c].contains(t));
            if is_part {
                shares[weights.len() + other] -= share;
            }
        }
    }
    shares
}

/// A length over the base's, bent off below `short`: positive, and smooth.
pub(super) fn bent_off(q: f64, short: f64) -> f64 {
    if q >= short { q } else { short * libm::exp(q / short - 1.0) }
}

/// Where lengths of a spring are bent off: below all that its targets need.
pub(super) fn short_of(lowest: f64) -> f64 {
    lowest.clamp(SHORTEST, SHORT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_other_than_one_are_refused_with_the_sum() {
        assert_eq!(additive(&[0.25, 0.5, 0.25]), Ok(vec![0.5, 0.25]));
        assert_eq!(additive(&[-0.5, 1.5]), Ok(vec![1.5]));
        assert_eq!(additive(&[0.5, 0.25]), Err(Error::SumNotOne { sum: 0.75 }));
        assert!(additive(&[f64::NAN]).is_err() && additive(&[]).is_err(), "nor nothing");
        let slip = |weight| Err(Error::WeightTooLarge { weight, most: LARGEST });
        assert_eq!(additive(&[-1e30, 1e30, 1.0]).map(drop), slip(-1e30));
        assert_eq!(check(&[0.5, 1e30]), slip(1e30));
    }

    #[test]
    fn combinations_are_whole_at_full_weight() {
        let of = [vec![0, 1], vec![0, 1, 2], vec![1, 2]];
        assert_eq!(of_shapes(&[1.0, 1.0, 0.0], &of), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        assert_eq!(of_shapes(&[1.0, 1.0, 1.0], &of), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(of_shapes(&[0.5, 0.0, 0.0], &of), [0.5, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(of_shapes(&[0.5, 0.5, 0.0], &of)[..4], [0.25, 0.25, 0.0, 0.25]);
    }

    #[test]
    fn lengths_stay_positive_and_smooth() {
        for short in [0.1, 0.02] {
            assert_eq!(bent_off(short, short), short);
            assert_eq!(bent_off(3.0, short), 3.0);
            let slope = (bent_off(short, short) - bent_off(short - 1e-7, short)) / 1e-7;
            assert!((slope - 1.0).abs() < 1e-4, "{slope}");
            assert!(bent_off(-2.0, short) > 0.0, "never nothing");
        }
        assert_eq!(short_of(0.04), 0.04);
        assert_eq!(short_of(0.7), SHORT);
    }
}

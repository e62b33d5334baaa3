//! Passes of matching, plain or accelerated: stiffness that does not cost a pass each.
//!
//! # Method
//!
//! Near a compatible shape a pass is linear with eigenvalues in `[0, 1]`; smooth modes, which carry stiffness, lie near 1.
//! `N` plain passes raise each eigenvalue to the `N`th power. Chebyshev's polynomial over `[0, ρ]` falls much faster next
//! to 1 while it stays within `±φ` elsewhere:
//!
//! ```text
//! θ = arcosh(1/φ)/N   ρ = 2/(1 + cosh θ)   w = 2/(2 − ρ)   r = ρ/(2 − ρ)
//! z = y + w (g(y) − y)      y₁ = z      yₖ₊₁ = yₖ₋₁ + ωₖ (z − yₖ₋₁)      ω₁ = 2/(2 − r²)   ωₖ = 4/(4 − r² ωₖ₋₁)
//! ```
//!
//! A polynomial's value `a` gives a tick the roots of `λ² − 2aλ + a`, which are stable for `a ≥ −⅓`: `φ = 0.15` keeps
//! well away from there. As many plain passes as `(2/ρ) N tanh(Nθ)/sinh θ` are as stiff: 2, 3, 4, 6, 8, 12 accelerated
//! passes stand for 3.5, 7.3, 12.7, 28, 49, 111.
//!
//! # Where we differ from the paper
//!
//! The paper has plain passes only and names their cost as its open problem.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest value of the polynomial outside the smooth modes.
const RIPPLE: f64 = 0.15;
/// Most passes a tick.
pub const MOST_PASSES: u32 = 256;
/// The share of a body's diagonal that is one edge where [`Passes::Firmness`] counts plain passes.
const EDGE_SHARE: f64 = 0.05;

/// How often a tick matches all regions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Passes {
    /// As the paper does: stiffness grows with their number.
    Plain(u32),
    /// Chebyshev's acceleration: stiffness grows with the square of their number.
    Accelerated(u32),
    /// As stiff as this many plain passes are on a body whose edges measure a twentieth of its diagonal, whatever the
    /// resolution; as many accelerated passes as that takes.
    Firmness(f64),
}

impl Default for Passes {
    fn default() -> Self {
        Self::Accelerated(6)
    }
}

/// What one pass does: `z = y + relax (g − y)`, `y ← before + weight (z − before)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pass {
    pub(super) relax: f32,
    pub(super) weight: f32,
}

impl Pass {
    /// As it is, or as the `first` of a tick, which has none before it.
    pub(super) fn after(self, first: bool) -> Self {
        Self { weight: if first { 1.0 } else { self.weight }, ..self }
    }
}

impl Passes {
    /// Says that fewer passes are made than were asked for.
    pub(super) fn too_many(self) -> Option<String> {
        let (Self::Plain(n) | Self::Accelerated(n)) = self else { return None };
        (n > MOST_PASSES)
            .then(|| format!("{MOST_PASSES} passes are made, not {n}: there are no more"))
    }

    /// The passes of a tick of a body with edges of this share of its diagonal.
    pub(super) fn schedule(self, edge_share: f64) -> Vec<Pass> {
        match self {
            Self::Plain(n) => {
                vec![Pass { relax: 1.0, weight: 1.0 }; n.clamp(1, MOST_PASSES) as usize]
            }
            Self::Accelerated(n) => accelerated(n.clamp(1, MOST_PASSES)),
            Self::Firmness(plain) => {
                let ratio = EDGE_SHARE / edge_share.max(1e-6);
                let wanted = (plain * ratio * ratio).max(1.0);
                let n = (1..MOST_PASSES).find(|&n| plain_equivalent(n) >= wanted);
                accelerated(n.unwrap_or(MOST_PASSES))
            }
        }
    }
}

/// How many plain passes are as stiff as `n` accelerated ones.
#[must_use]
pub fn plain_equivalent(n: u32) -> f64 {
    if n < 2 {
        return 1.0;
    }
    let (theta, rho) = range(n);
    2.0 / rho * f64::from(n) * libm::tanh(f64::from(n) * theta) / libm::sinh(theta)
}

fn range(n: u32) -> (f64, f64) {
    let theta = libm::acosh(1.0 / RIPPLE) / f64::from(n);
    (theta, 2.0 / (1.0 + libm::cosh(theta)))
}

fn accelerated(n: u32) -> Vec<Pass> {
    if n < 2 {
        return vec![Pass { relax: 1.0, weight: 1.0 }];
    }
    let (_, rho) = range(n);
    let relax = (2.0 / (2.0 - rho)) as f32;
    let r = rho / (2.0 - rho);
    let mut weight = 1.0;
    let pass = |k: u32| {
        weight = match k {
            0 => 1.0,
            1 => 2.0 / (2.0 - r * r),
            _ => 4.0 / (4.0 - r * r * weight),
        };
        Pass { relax, weight: weight as f32 }
    };
    (0..n).map(pass).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accelerated_passes_stand_for_the_plain_ones_of_the_table() {
        let table = [(2, 3.5), (3, 7.3), (4, 12.7), (6, 28.0), (8, 49.0), (12, 111.0)];
        for (n, plain) in table {
            let found = plain_equivalent(n);
            assert!((found - plain).abs() < 0.02 * plain, "{n}: {found}, not {plain}");
        }
    }

    /// The recurrence run on single eigenvalues is the polynomial: 1 at 1, small on `[0, ρ]`, its slope the stiffness.
    #[test]
    fn the_polynomial_is_one_at_one_and_within_the_ripple_below() {
        for n in [2, 3, 4, 6, 8, 12, 30] {
            let at = |eigenvalue: f64| {
                let (mut y, mut before) = (1.0, 1.0);
                for pass in accelerated(n) {
                    let z = y + f64::from(pass.relax) * (eigenvalue * y - y);
                    let next = before + f64::from(pass.weight) * (z - before);
                    (before, y) = (y, next);
                }
                y
            };
            assert!((at(1.0) - 1.0).abs() < 1e-12, "{n}: {}", at(1.0));
            let rho = range(n).1;
            let worst =
                (0..=1000).map(|k| at(rho * f64::from(k) / 1000.0).abs()).fold(0.0, f64::max);
            assert!(worst < RIPPLE * 1.001, "{n}: ripple {worst}");
            let slope = (1.0 - at(1.0 - 1e-5)) / 1e-5;
            let plain = plain_equivalent(n);
            assert!((slope - plain).abs() < 0.01 * plain, "{n}: slope {slope}, not {plain}");
        }
    }

    #[test]
    fn firmness_asks_for_more_passes_where_edges_are_shorter() {
        let passes = |edge: f64| Passes::Firmness(27.0).schedule(edge).len();
        assert_eq!(passes(0.05), 6);
        assert_eq!(passes(0.025), 12, "half the edge, four times the plain passes");
        assert_eq!(passes(0.0), MOST_PASSES as usize);
    }
}

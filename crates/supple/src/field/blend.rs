//! The blend between what moves fully and what stays: `β(u) = 1 − b(u)`, `b(u) = 4u³ − 3u⁴` (2.5).
//!
//! `b` has two vanishing derivatives at `u = 0` (2.8) and one at `u = 1` (2.18), which is what makes
//! `v = ∇(βe) × ∇(βf)` C¹ across both borders: (2.10), (2.11), (2.19), (2.20). (The source prints `db/dr = 2r/(r_o−r_i)`; the
//! derivative of its own polynomial is `12u²(1−u)/(r_o−r_i)`.)

use super::jet::Jet;

/// `∫₀¹ β² du`: how much of a stroke's passing reaches a point in its middle.
pub const SQUARED_INTEGRAL: f32 = 17.0 / 35.0;

/// `β` and `dβ/du`; 1 up to `u = 0`, 0 from `u = 1` on.
#[inline(always)]
pub(crate) fn fade(u: f32) -> (f32, f32) {
    let u = u.clamp(0.0, 1.0);
    let u2 = u * u;
    (1.0 - u2 * u * (4.0 - 3.0 * u), 12.0 * u2 * (u - 1.0))
}

/// `β`, `dβ/du` and `d²β/du²` in f64.
#[must_use]
pub fn fade_derivatives(u: f64) -> [f64; 3] {
    if u <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    if u >= 1.0 {
        return [0.0; 3];
    }
    [1.0 - u * u * u * (4.0 - 3.0 * u), 12.0 * u * u * (u - 1.0), u * (36.0 * u - 24.0)]
}

/// `β` of a region field that fades from `inner` to `outer`.
#[must_use]
pub fn fade_jet(r: Jet, inner: f64, outer: f64) -> Jet {
    let width = outer - inner;
    let [b, db, ddb] = fade_derivatives((r.value - inner) / width);
    r.compose([b, db / width, ddb / (width * width)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_and_middle() {
        assert_eq!(fade(-1.0), (1.0, 0.0), "inside");
        assert_eq!(fade(2.0), (0.0, 0.0), "outside");
        assert!((fade(0.614).0 - 0.5).abs() < 1e-3, "half way at 0.614");
    }

    #[test]
    fn squared_integral_is_that_of_the_blend() {
        let n = 10_000;
        let at = |i: usize| fade_derivatives((i as f64 + 0.5) / f64::from(n as u32))[0].powi(2);
        let mean = (0..n).map(at).sum::<f64>() / f64::from(n as u32);
        assert!((mean - f64::from(SQUARED_INTEGRAL)).abs() < 1e-6, "{mean}");
    }
}

//! Lengths of vectors, for code that runs often.
//!
//! Rigid bodies ask glam for the same bits on every machine, which makes `length`, `normalize` and
//! `distance` of the whole workspace call `libm`: one lane of inline assembly, which no loop around it can
//! widen. The square root of the standard library is one instruction that can, and is correctly rounded
//! just the same: the bits are equal (`the_bits_are_those_of_glam`).
//!
//! Winding numbers about 100,000 points took 15 times as long before.

use glam::{DQuat, DVec2, DVec3, Quat, Vec3, Vec4};

/// Lengths without a call.
pub(crate) trait Lengths: Copy {
    /// What the lengths are.
    type Scalar;

    /// The length.
    fn norm(self) -> Self::Scalar;

    /// The vector of length one along it, zero if it has no direction.
    fn unit_or_zero(self) -> Self;

    /// The length of the way to another.
    fn distance_to(self, other: Self) -> Self::Scalar;
}

macro_rules! lengths {
    ($($vector:ty, $scalar:ty, $zero:expr;)*) => {$(
        impl Lengths for $vector {
            type Scalar = $scalar;

            #[inline(always)]
            fn norm(self) -> $scalar {
                self.length_squared().sqrt()
            }

            #[inline(always)]
            fn unit_or_zero(self) -> Self {
                let inverse = 1.0 / self.norm();
                if inverse.is_finite() && inverse > 0.0 { self * inverse } else { $zero }
            }

            #[inline(always)]
            fn distance_to(self, other: Self) -> $scalar {
                (self - other).norm()
            }
        }
    )*};
}

lengths! {
    Vec3, f32, Self::ZERO;
    Vec4, f32, Self::ZERO;
    Quat, f32, Self::from_xyzw(0.0, 0.0, 0.0, 0.0);
    DVec2, f64, Self::ZERO;
    DVec3, f64, Self::ZERO;
    DQuat, f64, Self::from_xyzw(0.0, 0.0, 0.0, 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of every size, from subnormal to the largest.
    fn number(state: &mut u64) -> f32 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(0x14057);
        let bits = (*state >> 32) as u32;
        let x = f32::from_bits(bits);
        if x.is_nan() || state.is_multiple_of(3) { (bits >> 8) as f32 * 1e-6 - 8.0 } else { x }
    }

    #[test]
    fn the_bits_are_those_of_glam() {
        let mut state = 1;
        for _ in 0..100_000 {
            let mut next = || number(&mut state);
            let (a, b) = (Vec3::new(next(), next(), next()), Vec3::new(next(), next(), next()));
            assert_eq!(a.norm().to_bits(), a.length().to_bits(), "{a}");
            assert_eq!(a.distance_to(b).to_bits(), a.distance(b).to_bits(), "{a} {b}");
            assert_eq!(a.unit_or_zero(), a.normalize_or_zero(), "{a}");
            let (a, b) = (a.as_dvec3(), b.as_dvec3());
            assert_eq!(a.norm().to_bits(), a.length().to_bits(), "{a}");
            assert_eq!(a.distance_to(b).to_bits(), a.distance(b).to_bits(), "{a} {b}");
            assert_eq!(a.unit_or_zero(), a.normalize_or_zero(), "{a}");
            let q = Quat::from_xyzw(next(), next(), next(), next());
            assert_eq!(q.norm().to_bits(), q.length().to_bits(), "{q}");
        }
    }
}

//! Sixteen numbers at a time: whole-lane arithmetic, which the compiler turns into vector instructions.
//!
//! No operation is contracted or reordered, so a lane holds the bits that a single number would.

use std::ops::{Add, Mul, Neg, Sub};

/// Regions a kernel works on at a time: one 512-bit or two 256-bit registers.
pub(super) const WIDTH: usize = 16;

/// One number a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub(super) struct Wide(pub(super) [f32; WIDTH]);

impl Wide {
    pub(super) const ZERO: Self = Self([0.0; WIDTH]);

    #[inline(always)]
    pub(super) fn all(value: f32) -> Self {
        Self([value; WIDTH])
    }

    #[inline(always)]
    pub(super) fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut out = self;
        for i in 0..WIDTH {
            out.0[i] = f(self.0[i], other.0[i]);
        }
        out
    }

    #[inline(always)]
    pub(super) fn map(self, f: impl Fn(f32) -> f32) -> Self {
        let mut out = self;
        for i in 0..WIDTH {
            out.0[i] = f(self.0[i]);
        }
        out
    }

    #[inline(always)]
    pub(super) fn abs(self) -> Self {
        self.map(f32::abs)
    }

    #[inline(always)]
    pub(super) fn over(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }

    /// `self / other` where `other > least`, else 0, of numbers that are finite.
    ///
    /// A product with 0 or 1 in place of a choice: the compiler would make branches of that, and take the lanes apart.
    #[inline(always)]
    pub(super) fn over_above(self, other: Self, least: f32) -> Self {
        let least = Self::all(least);
        let mask = other.above(least, Self::all(1.0), Self::ZERO);
        (self * mask).over(other.above(least, other, least))
    }

    /// `yes` where `self > other`, else `no`; a NaN takes `no`.
    #[inline(always)]
    pub(super) fn above(self, other: Self, yes: Self, no: Self) -> Self {
        let mut out = no;
        for i in 0..WIDTH {
            out.0[i] = if self.0[i] > other.0[i] { yes.0[i] } else { no.0[i] };
        }
        out
    }

    /// `1/√self` where `self > least`, else 0.
    #[inline(always)]
    pub(super) fn inverse_root(self, least: f32) -> Self {
        let least = Self::all(least);
        let mask = self.above(least, Self::all(1.0), Self::ZERO);
        mask.over(self.above(least, self, least).map(f32::sqrt))
    }
}

impl Add for Wide {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Wide {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for Wide {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

impl Mul<Wide> for f32 {
    type Output = Wide;
    #[inline(always)]
    fn mul(self, other: Wide) -> Wide {
        other.map(|b| self * b)
    }
}

impl Neg for Wide {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|a| -a)
    }
}

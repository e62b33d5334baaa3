//! One classical Runge–Kutta step of order 4, and how long it may be.
//!
//! ```text
//! k₁ = v(x, t),  k₂ = v(x + ½h k₁, t + ½h),  k₃ = v(x + ½h k₂, t + ½h),  k₄ = v(x + h k₃, t + h)
//! x ← x + h/6 (k₁ + 2 (k₂ + k₃) + k₄)
//! ```
//!
//! The kernel of edits ([`kernel`](super::kernel)) and the tracers of recorded flows ([`crate::flow`]) add up the same
//! stages one by one as they come, which takes fewer registers: another rounding of the same sum.

use std::ops::{Add, Mul};

use crate::lanes::Lanes;

/// Largest `h L` for which one step cannot fold, `L` a bound of `‖∂v/∂x‖`: there `x + x²/2 + x³/6 + x⁴/24 < 1`.
pub(crate) const INJECTIVE: f32 = 0.69;

/// The same where `L` is only measured, between neighbours: what that leaves is pinned where it is done.
pub(crate) const INJECTIVE_IF_MEASURED: f32 = 0.5;

/// A velocity that can be integrated.
pub(crate) trait Velocity<X: Moving> {
    /// How what is there at a time moves.
    fn at(&self, x: &X, t: X::Time) -> X;
}

/// What is carried along: also its own rate of change.
pub(crate) trait Moving: Sized {
    type Time: Copy + From<f32> + Add<Output = Self::Time> + Mul<Output = Self::Time>;

    /// Where it is after a time at one rate.
    fn ahead(&self, rate: &Self, h: Self::Time) -> Self;

    /// Where the four rates of a step lead.
    fn after(&self, stages: &Stages<Self>, h: Self::Time) -> Self;
}

/// The rates of one step, and where the last of them was asked for.
pub(crate) struct Stages<X> {
    pub(crate) first: X,
    pub(crate) second: X,
    pub(crate) third: X,
    pub(crate) fourth: X,
    pub(crate) end: X,
}

impl<X: Moving> Stages<X> {
    /// Those of a step from `x`, which moves at the rate `first` now.
    #[inline(always)]
    pub(crate) fn of(v: &impl Velocity<X>, x: &X, first: X, [t, h]: [X::Time; 2]) -> Self {
        let half = X::Time::from(0.5) * h;
        let second = v.at(&x.ahead(&first, half), t + half);
        let third = v.at(&x.ahead(&second, half), t + half);
        let end = x.ahead(&third, h);
        let fourth = v.at(&end, t + h);
        Self { first, second, third, fourth, end }
    }
}

/// One step from a time on.
#[inline(always)]
pub(crate) fn step<X: Moving>(v: &impl Velocity<X>, x: &X, [t, h]: [X::Time; 2]) -> X {
    x.after(&Stages::of(v, x, v.at(x, t), [t, h]), h)
}

impl<const L: usize> Moving for Lanes<L> {
    type Time = f32;

    #[inline(always)]
    fn ahead(&self, rate: &Self, h: f32) -> Self {
        let mut to = *self;
        for i in 0..L {
            to.x[i] += h * rate.x[i];
            to.y[i] += h * rate.y[i];
            to.z[i] += h * rate.z[i];
        }
        to
    }

    #[inline(always)]
    fn after(&self, stages: &Stages<Self>, h: f32) -> Self {
        let Stages { first, second, third, fourth, .. } = stages;
        let sixth = h / 6.0;
        let mut to = *self;
        for i in 0..L {
            to.x[i] += sixth * (first.x[i] + 2.0 * (second.x[i] + third.x[i]) + fourth.x[i]);
            to.y[i] += sixth * (first.y[i] + 2.0 * (second.y[i] + third.y[i]) + fourth.y[i]);
            to.z[i] += sixth * (first.z[i] + 2.0 * (second.z[i] + third.z[i]) + fourth.z[i]);
        }
        to
    }
}

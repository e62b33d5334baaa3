//! Eight and four numbers at a time, one body for all machines.
//!
//! What is interpolated here is eight numbers wide in memory, not sixteen tracers side by side, and the
//! compiler does not find that by itself: left to it, a step takes five times as long. So the types of eight and four
//! numbers are named where there are any. No operation is fused, so the bits are the same on all machines.

/// How eight floats and four doubles are held and computed with.
pub trait Wide: Copy + Sync {
    /// Eight floats.
    type Eight: Copy;
    /// Four doubles.
    type Four: Copy;

    /// Eight floats from memory.
    fn eight(self, numbers: &[f32; 8]) -> Self::Eight;
    /// `a + t (b − a)`
    fn lerp(self, a: Self::Eight, b: Self::Eight, t: f32) -> Self::Eight;
    /// The last four less the first four times `t`, added to the first four: the end of an interpolation.
    fn halves(self, both: Self::Eight, t: f32) -> [f32; 4];

    /// Four doubles from memory.
    fn four(self, numbers: &[f64; 4]) -> Self::Four;
    /// Four doubles to memory.
    fn numbers(self, four: Self::Four) -> [f64; 4];
    /// `a + b`
    fn add(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// `a − b`
    fn sub(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// `a b`
    fn mul(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// The same number four times.
    fn splat(self, number: f64) -> Self::Four;
    /// The larger; `b` if one is not a number.
    fn max(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// The smaller; `b` if one is not a number.
    fn min(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// Rounded to floats.
    fn narrow(self, four: Self::Four) -> [f32; 4];
    /// From floats.
    fn widen(self, floats: [f32; 4]) -> Self::Four;
    /// `a` where a number is 0 or more, `b` where it is less or none.
    fn not_negative(self, number: Self::Four, a: Self::Four, b: Self::Four) -> Self::Four;
    /// `1 / a`
    fn inverse(self, a: Self::Four) -> Self::Four;
    /// True if all are 1.
    fn are_one(self, four: Self::Four) -> bool;
}

/// On any machine.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

/// Applies an operation to four pairs.
#[inline(always)]
fn each(a: [f64; 4], b: [f64; 4], op: impl Fn(f64, f64) -> f64) -> [f64; 4] {
    [op(a[0], b[0]), op(a[1], b[1]), op(a[2], b[2]), op(a[3], b[3])]
}

impl Wide for Plain {
    type Eight = [f32; 8];
    type Four = [f64; 4];

    #[inline(always)]
    fn eight(self, numbers: &[f32; 8]) -> [f32; 8] {
        *numbers
    }

    #[inline(always)]
    fn lerp(self, a: [f32; 8], b: [f32; 8], t: f32) -> [f32; 8] {
        let mut mixed = [0.0; 8];
        for i in 0..8 {
            mixed[i] = a[i] + t * (b[i] - a[i]);
        }
        mixed
    }

    #[inline(always)]
    fn halves(self, both: [f32; 8], t: f32) -> [f32; 4] {
        let mut mixed = [0.0; 4];
        for i in 0..4 {
            mixed[i] = both[i] + t * (both[i + 4] - both[i]);
        }
        mixed
    }

    #[inline(always)]
    fn four(self, numbers: &[f64; 4]) -> [f64; 4] {
        *numbers
    }

    #[inline(always)]
    fn numbers(self, four: [f64; 4]) -> [f64; 4] {
        four
    }

    #[inline(always)]
    fn add(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        each(a, b, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        each(a, b, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        each(a, b, |a, b| a * b)
    }

    #[inline(always)]
    fn splat(self, number: f64) -> [f64; 4] {
        [number; 4]
    }

    #[inline(always)]
    fn max(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        each(a, b, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn min(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        each(a, b, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn narrow(self, four: [f64; 4]) -> [f32; 4] {
        four.map(|x| x as f32)
    }

    #[inline(always)]
    fn widen(self, floats: [f32; 4]) -> [f64; 4] {
        floats.map(f64::from)
    }

    #[inline(always)]
    fn not_negative(self, number: [f64; 4], a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        let mut chosen = b;
        for i in 0..4 {
            if number[i] >= 0.0 {
                chosen[i] = a[i];
            }
        }
        chosen
    }

    #[inline(always)]
    fn inverse(self, a: [f64; 4]) -> [f64; 4] {
        a.map(|x| 1.0 / x)
    }

    #[inline(always)]
    fn are_one(self, four: [f64; 4]) -> bool {
        four == [1.0; 4]
    }
}

#[cfg(target_arch = "x86_64")]
impl Wide for pulp::x86::V3 {
    type Eight = pulp::f32x8;
    type Four = pulp::f64x4;

    #[inline(always)]
    fn eight(self, numbers: &[f32; 8]) -> pulp::f32x8 {
        bytemuck::cast(*numbers)
    }

    #[inline(always)]
    fn lerp(self, a: pulp::f32x8, b: pulp::f32x8, t: f32) -> pulp::f32x8 {
        self.add_f32x8(a, self.mul_f32x8(self.splat_f32x8(t), self.sub_f32x8(b, a)))
    }

    #[inline(always)]
    fn halves(self, both: pulp::f32x8, t: f32) -> [f32; 4] {
        let [first, last]: [pulp::f32x4; 2] = bytemuck::cast(both);
        let more = self.mul_f32x4(self.splat_f32x4(t), self.sub_f32x4(last, first));
        bytemuck::cast(self.add_f32x4(first, more))
    }

    #[inline(always)]
    fn four(self, numbers: &[f64; 4]) -> pulp::f64x4 {
        bytemuck::cast(*numbers)
    }

    #[inline(always)]
    fn numbers(self, four: pulp::f64x4) -> [f64; 4] {
        bytemuck::cast(four)
    }

    #[inline(always)]
    fn add(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.add_f64x4(a, b)
    }

    #[inline(always)]
    fn sub(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.sub_f64x4(a, b)
    }

    #[inline(always)]
    fn mul(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.mul_f64x4(a, b)
    }

    #[inline(always)]
    fn splat(self, number: f64) -> pulp::f64x4 {
        self.splat_f64x4(number)
    }

    #[inline(always)]
    fn max(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.max_f64x4(a, b)
    }

    #[inline(always)]
    fn min(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.min_f64x4(a, b)
    }

    #[inline(always)]
    fn narrow(self, four: pulp::f64x4) -> [f32; 4] {
        bytemuck::cast(self.convert_f64x4_to_f32x4(four))
    }

    #[inline(always)]
    fn widen(self, floats: [f32; 4]) -> pulp::f64x4 {
        self.convert_f32x4_to_f64x4(bytemuck::cast(floats))
    }

    #[inline(always)]
    fn not_negative(self, number: pulp::f64x4, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.select_f64x4(self.cmp_ge_f64x4(number, self.splat_f64x4(0.0)), a, b)
    }

    #[inline(always)]
    fn inverse(self, a: pulp::f64x4) -> pulp::f64x4 {
        self.div_f64x4(self.splat_f64x4(1.0), a)
    }

    #[inline(always)]
    fn are_one(self, four: pulp::f64x4) -> bool {
        let is: [u64; 4] = bytemuck::cast(self.cmp_eq_f64x4(four, self.splat_f64x4(1.0)));
        is[0] & is[1] & is[2] & is[3] != 0
    }
}

/// What can be done with the widest kind there is.
pub(super) trait WithWide {
    fn with<W: Wide>(self, wide: W);
}

/// Does it with the widest kind this machine has.
#[inline(always)]
pub(super) fn widest(task: impl WithWide) {
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = pulp::x86::V3::try_new() {
        return task.with(wide);
    }
    task.with(Plain);
}

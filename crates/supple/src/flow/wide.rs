//! Eight numbers at a time, one body for all machines.
//!
//! What is interpolated here is eight numbers wide in memory, not sixteen tracers side by side, and the
//! compiler does not find that by itself: left to it, a step takes five times as long. So the type of eight numbers is
//! named where there is one. No operation is fused, so the bits are the same on all machines.

/// How eight numbers are held and interpolated.
pub(super) trait Wide: Copy + Sync {
    /// Eight numbers.
    type Eight: Copy;

    fn load(self, numbers: &[f32; 8]) -> Self::Eight;
    fn store(self, numbers: Self::Eight) -> [f32; 8];
    /// `a + t (b − a)`
    fn lerp(self, a: Self::Eight, b: Self::Eight, t: f32) -> Self::Eight;
}

/// On any machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain;

impl Wide for Plain {
    type Eight = [f32; 8];

    #[inline(always)]
    fn load(self, numbers: &[f32; 8]) -> [f32; 8] {
        *numbers
    }

    #[inline(always)]
    fn store(self, numbers: [f32; 8]) -> [f32; 8] {
        numbers
    }

    #[inline(always)]
    fn lerp(self, a: [f32; 8], b: [f32; 8], t: f32) -> [f32; 8] {
        let mut mixed = [0.0; 8];
        for i in 0..8 {
            mixed[i] = a[i] + t * (b[i] - a[i]);
        }
        mixed
    }
}

#[cfg(target_arch = "x86_64")]
impl Wide for pulp::x86::V3 {
    type Eight = pulp::f32x8;

    #[inline(always)]
    fn load(self, numbers: &[f32; 8]) -> pulp::f32x8 {
        bytemuck::cast(*numbers)
    }

    #[inline(always)]
    fn store(self, numbers: pulp::f32x8) -> [f32; 8] {
        bytemuck::cast(numbers)
    }

    #[inline(always)]
    fn lerp(self, a: pulp::f32x8, b: pulp::f32x8, t: f32) -> pulp::f32x8 {
        self.add_f32x8(a, self.mul_f32x8(self.splat_f32x8(t), self.sub_f32x8(b, a)))
    }
}

/// What can be done with the widest kind there is.
pub(super) trait WithWide {
    fn with<W: Wide>(self, wide: W);
}

/// Does it with the widest kind this machine has.
pub(super) fn widest(task: impl WithWide) {
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = pulp::x86::V3::try_new() {
        return task.with(wide);
    }
    task.with(Plain);
}

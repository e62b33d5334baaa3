//! The inner loop: blocks of points through one phase.

use glam::{DMat3, DVec3, Vec3};
use pulp::{NullaryFnOnce, Simd, WithSimd};

use super::Direction;
use crate::field::{Field, Influence, Phase, PosedField, Region, RigidMotion};
use crate::lanes::{Lanes, WIDTH};
use crate::mesh::measure::Bounds;

/// Points that go through a phase together: two registers full, since a field is a chain of waits and the second
/// fills those of the first. Curves fill the registers, and their waits, by themselves.
const BLOCK: usize = 2 * WIDTH;
const BLOCK_OF_CURVES: usize = WIDTH;

/// Times within one step at which the four stages stand: start, middle, middle, end.
const STAGE_TIME: [usize; 4] = [0, 1, 1, 2];
/// How far each stage looks ahead, in steps.
const STAGE_REACH: [f32; 4] = [0.0, 0.5, 0.5, 1.0];
/// How much each stage counts.
const STAGE_WEIGHT: [f32; 4] = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];

/// The shortest adaptive step, as a share of the phase.
const SHORTEST: f32 = 1e-5;

/// Differences of velocities below this share of them say nothing.
const ROUNDING: f32 = 1e-6;

/// How to choose the steps of a phase.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pace {
    Fixed { steps: u32 },
    Adaptive { tolerance: f32, longest: f32 },
}

/// One phase, prepared.
pub(super) struct Kernel<'a> {
    phase: &'a Phase,
    /// Where on the phase's clock the integration begins, and how long it takes.
    start: f32,
    duration: f32,
    pace: Pace,
    direction: Direction,
    /// For fixed steps: the fields at the start, middle and end of every step.
    poses: Vec<Vec<PosedField<'a>>>,
    /// The motion of what lies in the inner region, if it is known.
    rigid: Option<RigidMotion>,
}

impl<'a> Kernel<'a> {
    pub(super) fn new(phase: &'a Phase, pace: Pace, direction: Direction) -> Self {
        let start = match direction {
            Direction::Forward => 0.0,
            Direction::Backward => phase.duration,
        };
        let mut kernel = Self::part(phase, [start, phase.duration], pace, direction);
        if let [field] = phase.fields.as_slice() {
            kernel.rigid = field.rigid_motion();
        }
        kernel
    }

    /// Part of a phase: from a time on its clock, for some time.
    pub(super) fn part(
        phase: &'a Phase,
        [start, duration]: [f32; 2],
        pace: Pace,
        direction: Direction,
    ) -> Self {
        let mut kernel =
            Self { phase, start, duration, pace, direction, poses: Vec::new(), rigid: None };
        if let Pace::Fixed { steps } = pace {
            let time = |k: u32| duration * k as f32 / (2 * steps) as f32;
            kernel.poses = (0..=2 * steps).map(|k| kernel.pose(time(k))).collect();
        }
        kernel
    }

    /// The fields after a time since the integration of this phase began.
    #[inline(always)]
    fn pose(&self, since: f32) -> Vec<PosedField<'a>> {
        let t = self.phase_time(since);
        self.phase.fields.iter().map(|field| field.at(t)).collect()
    }

    #[inline(always)]
    fn phase_time(&self, since: f32) -> f32 {
        self.start + self.sign() * since
    }

    #[inline(always)]
    fn sign(&self) -> f32 {
        match self.direction {
            Direction::Forward => 1.0,
            Direction::Backward => -1.0,
        }
    }

    /// Moves a block to the end of the phase; returns the steps it took. `guess` is the step length to
    /// try first and the one to try next.
    #[inline(always)]
    fn integrate<S: Simd, const L: usize>(
        &self,
        simd: S,
        x: &mut Lanes<L>,
        guess: &mut f32,
    ) -> u32 {
        match self.pace {
            Pace::Fixed { steps } => {
                let h = self.sign() * self.duration / steps as f32;
                for k in 0..steps as usize {
                    let poses =
                        [&self.poses[2 * k], &self.poses[2 * k + 1], &self.poses[2 * k + 2]];
                    let first = velocity(simd, poses[0], x);
                    *x = step(simd, poses.map(Vec::as_slice), x, &first, h).0;
                }
                steps
            }
            Pace::Adaptive { tolerance, longest } => {
                self.integrate_adaptively(simd, x, guess, [tolerance, longest])
            }
        }
    }

    #[inline(always)]
    fn integrate_adaptively<S: Simd, const L: usize>(
        &self,
        simd: S,
        x: &mut Lanes<L>,
        guess: &mut f32,
        [tolerance, longest]: [f32; 2],
    ) -> u32 {
        let (end, sign) = (self.duration, self.sign());
        let shortest = SHORTEST * end;
        let mut since = 0.0_f32;
        let mut start = self.pose(0.0);
        let mut first = velocity(simd, &start, x);
        let mut steps = 0;
        while since < end {
            let mut h = guess.min(longest).max(shortest);
            let last = since + 1.001 * h >= end;
            if last {
                h = end - since;
            }
            let middle = self.pose(since + 0.5 * h);
            let finish = self.pose(since + h);
            let (next, fourth) = step(simd, [&start, &middle, &finish], x, &first, sign * h);
            let fifth = velocity(simd, &finish, &next);
            let error = end / 6.0 * largest_difference(&fourth, &fifth) / tolerance;
            let growth = if error > 0.0 { 0.9 / error.cbrt() } else { 4.0 };
            // A NaN is not smaller than one either: it must not keep the loop going.
            let refused = error > 1.0 && h > shortest;
            if !last || refused {
                *guess = (h * growth.clamp(0.2, 4.0)).min(longest);
            }
            if refused {
                continue;
            }
            *x = next;
            first = fifth;
            start = finish;
            since = if last { end } else { since + h };
            steps += 1;
        }
        steps
    }
}

/// The velocity at some points. Not inlined: the kinds of fields together are large, and a step asks nine times.
#[inline(never)]
fn velocity<S: Simd, const L: usize>(simd: S, fields: &[PosedField<'_>], x: &Lanes<L>) -> Lanes<L> {
    simd.vectorize(Velocity { fields, x })
}

struct Velocity<'a, const L: usize> {
    fields: &'a [PosedField<'a>],
    x: &'a Lanes<L>,
}

impl<const L: usize> NullaryFnOnce for Velocity<'_, L> {
    type Output = Lanes<L>;

    #[inline(always)]
    fn call(self) -> Lanes<L> {
        let mut v = Lanes::ZERO;
        for field in self.fields {
            field.add_velocity(self.x, &mut v);
        }
        v
    }
}

/// One step from `x`, whose velocity is `first`: where it leads, and the velocity of the last stage.
#[inline(always)]
fn step<S: Simd, const L: usize>(
    simd: S,
    poses: [&[PosedField<'_>]; 3],
    x: &Lanes<L>,
    first: &Lanes<L>,
    h: f32,
) -> (Lanes<L>, Lanes<L>) {
    let mut stage = *first;
    let mut sum = Lanes::<L>::ZERO;
    for k in 0..4 {
        if k > 0 {
            let mut ahead = Lanes::<L>::ZERO;
            for i in 0..L {
                ahead.set(i, x.get(i) + (STAGE_REACH[k] * h) * stage.get(i));
            }
            stage = velocity(simd, poses[STAGE_TIME[k]], &ahead);
        }
        for i in 0..L {
            let weighted = sum.get(i) + STAGE_WEIGHT[k] * stage.get(i);
            sum.set(i, weighted);
        }
    }
    let mut next = Lanes::<L>::ZERO;
    for i in 0..L {
        next.set(i, x.get(i) + h * sum.get(i));
    }
    (next, stage)
}

/// The largest distance between the lanes; zero where it is rounding.
#[inline(always)]
fn largest_difference<const L: usize>(a: &Lanes<L>, b: &Lanes<L>) -> f32 {
    let (mut largest, mut scale) = (0.0_f32, 0.0_f32);
    for i in 0..L {
        let d = (a.get(i) - b.get(i)).length_squared();
        let v = b.get(i).length_squared();
        largest = if d > largest { d } else { largest };
        scale = if v > scale { v } else { scale };
    }
    if largest > ROUNDING * ROUNDING * scale { largest.sqrt() } else { 0.0 }
}

/// What happened to the points of a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Swept {
    /// Steps of the block that needed most.
    pub(super) steps: u32,
    /// Points that went nowhere finite and were left where they were.
    pub(super) frozen: u32,
}

/// All points of a chunk through one phase.
pub(super) struct Sweep<'a, 'k> {
    pub(super) points: &'a mut [Vec3],
    pub(super) reach: &'a [Support],
    pub(super) kernel: &'a Kernel<'k>,
}

impl Sweep<'_, '_> {
    /// Carries it out with the widest registers. Not inlined: one copy of the kernel for all who call it.
    #[inline(never)]
    pub(super) fn run(self) -> Swept {
        pulp::Arch::new().dispatch(self)
    }
}

impl WithSimd for Sweep<'_, '_> {
    type Output = Swept;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Swept {
        if self.kernel.phase.fields.iter().any(|field| field.influence.has_curves()) {
            sweep::<S, BLOCK_OF_CURVES>(simd, self)
        } else {
            sweep::<S, BLOCK>(simd, self)
        }
    }
}

/// Gathers what the phase can reach into blocks, integrates them and puts them back.
#[inline(always)]
pub(super) fn sweep<S: Simd, const L: usize>(simd: S, sweep: Sweep<'_, '_>) -> Swept {
    let Sweep { points, reach, kernel } = sweep;
    let active: Vec<usize> =
        (0..points.len()).filter(|&i| reach.iter().any(|r| r.contains(points[i]))).collect();
    let mut swept = Swept::default();
    let mut guess = kernel.duration;
    for block in active.chunks(L) {
        let start = Lanes::<L>::gather(points, block);
        let held = kernel.held(&start);
        let mut end = start;
        if held.contains(&false) {
            swept.steps = swept.steps.max(kernel.integrate(simd, &mut end, &mut guess));
        }
        for (lane, &i) in block.iter().enumerate() {
            if held[lane] {
                points[i] = kernel.carry(points[i]);
            } else if !end.get(lane).is_finite() {
                swept.frozen += 1;
            } else if end.get(lane) != points[i] {
                points[i] = end.get(lane);
            }
        }
    }
    swept
}

/// The largest `‖∂v/∂x‖` at some points, from differences of velocities.
pub(super) struct Steepest<'a> {
    pub(super) points: &'a [Vec3],
    pub(super) phase: &'a Phase,
    pub(super) time: f32,
    /// Between the points compared.
    pub(super) span: f32,
}

impl Steepest<'_> {
    /// As [`Sweep::run`].
    #[inline(never)]
    pub(super) fn run(self) -> f32 {
        pulp::Arch::new().dispatch(self)
    }
}

impl WithSimd for Steepest<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        let fields: Vec<_> = self.phase.fields.iter().map(|field| field.at(self.time)).collect();
        let mut largest = 0.0_f32;
        for block in self.points.chunks(WIDTH) {
            let mut x = Lanes::<WIDTH>::ZERO;
            for i in 0..WIDTH {
                x.set(i, block[i.min(block.len() - 1)]);
            }
            let mut columns = [Lanes::<WIDTH>::ZERO; 3];
            for (column, axis) in columns.iter_mut().zip([Vec3::X, Vec3::Y, Vec3::Z]) {
                *column = slopes(simd, &fields, &x, self.span * axis);
                for i in 0..WIDTH {
                    column.set(i, column.get(i) / self.span);
                }
            }
            for i in 0..block.len() {
                let [x, y, z] = [0, 1, 2].map(|k| columns[k].get(i).as_dvec3());
                largest = largest.max(stretch(DMat3::from_cols(x, y, z)) as f32);
            }
        }
        largest
    }
}

/// How the velocity changes over a way.
#[inline(always)]
fn slopes<S: Simd, const L: usize>(
    simd: S,
    fields: &[PosedField<'_>],
    x: &Lanes<L>,
    way: Vec3,
) -> Lanes<L> {
    let mut ends = [*x; 2];
    for i in 0..L {
        ends[0].set(i, x.get(i) - 0.5 * way);
        ends[1].set(i, x.get(i) + 0.5 * way);
    }
    let (before, after) = (velocity(simd, fields, &ends[0]), velocity(simd, fields, &ends[1]));
    let mut change = Lanes::ZERO;
    for i in 0..L {
        change.set(i, after.get(i) - before.get(i));
    }
    change
}

/// The largest factor by which a matrix stretches a vector: the root of the largest eigenvalue of `JᵀJ`.
fn stretch(j: DMat3) -> f64 {
    let m = j.transpose() * j;
    let mean = (m.x_axis.x + m.y_axis.y + m.z_axis.z) / 3.0;
    let rest = m - DMat3::from_diagonal(DVec3::splat(mean));
    let squares: f64 = (0..3).map(|c| rest.col(c).length_squared()).sum();
    let spread = (squares / 6.0).sqrt();
    let cosine = 0.5 * rest.determinant() / (spread * spread * spread).max(f64::MIN_POSITIVE);
    let angle = libm::acos(cosine.clamp(-1.0, 1.0)) / 3.0;
    (mean + 2.0 * spread * libm::cos(angle)).max(0.0).sqrt()
}

impl Kernel<'_> {
    /// Which points lie in the inner region of a tool whose motion is known.
    #[inline(always)]
    fn held<const L: usize>(&self, x: &Lanes<L>) -> [bool; L] {
        match (self.rigid, self.phase.fields.as_slice()) {
            (Some(_), [field]) => field.influence.holds(x, self.phase_time(0.0)),
            _ => [false; L],
        }
    }

    fn carry(&self, x: Vec3) -> Vec3 {
        let motion = self.rigid.unwrap_or_default();
        motion.carry(x, self.sign() * self.duration)
    }
}

/// Where a field can be felt during its phase.
#[derive(Clone, Copy, Debug)]
pub(super) enum Support {
    Everywhere,
    Box(Bounds),
    Capsule { start: Vec3, along: Vec3, radius: f32 },
}

impl Support {
    pub(super) fn of(phase: &Phase) -> Vec<Self> {
        phase.fields.iter().map(|field| Self::of_field(field, phase.duration)).collect()
    }

    fn of_field(field: &Field, duration: f32) -> Self {
        let Influence::Fade(fade) = &field.influence else { return Self::Everywhere };
        match (&fade.region, fade.motion) {
            (Region::Point(center), RigidMotion::Still) => {
                Self::Capsule { start: *center, along: Vec3::ZERO, radius: fade.outer }
            }
            (Region::Point(center), RigidMotion::Translation { velocity }) => {
                Self::Capsule { start: *center, along: duration * velocity, radius: fade.outer }
            }
            _ => field.influence.reach(duration).map_or(Self::Everywhere, Self::Box),
        }
    }

    /// Errs on the side of yes.
    pub(super) fn contains(&self, x: Vec3) -> bool {
        match *self {
            Self::Everywhere => true,
            Self::Box(b) => x.cmpge(b.min).all() && x.cmple(b.max).all(),
            Self::Capsule { start, along, radius } => {
                let length = along.length_squared().max(f32::MIN_POSITIVE);
                let s = (along.dot(x - start) / length).clamp(0.0, 1.0);
                (x - start - s * along).length_squared() <= radius * radius * 1.0001
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against vectors in all directions.
    #[test]
    fn nothing_is_stretched_more_than_by_the_largest_factor() {
        let turn = crate::field::motion::rotation(DVec3::new(0.6, 0.0, 0.8), 1.1);
        let shear =
            DMat3::from_cols(DVec3::X, DVec3::new(2.5, 1.0, 0.3), DVec3::new(-1.0, 0.2, 0.7));
        for (matrix, known) in [
            (turn, Some(1.0)),
            (2.0 * turn * DMat3::from_diagonal(DVec3::new(0.5, -3.0, 1.0)) * turn, Some(6.0)),
            (DMat3::ZERO, Some(0.0)),
            (shear, None),
        ] {
            let most = stretch(matrix);
            assert!(known.is_none_or(|known| (most - known).abs() < 1e-9), "{most} {known:?}");
            let mut seen = 0.0_f64;
            for k in 0..4000 {
                let z = 1.0 - (2 * k + 1) as f64 / 4000.0;
                let (s, c) = (2.399_963 * f64::from(k)).sin_cos();
                let v = DVec3::new(s * (1.0 - z * z).sqrt(), c * (1.0 - z * z).sqrt(), z);
                seen = seen.max((matrix * v).length());
            }
            assert!(seen <= most * (1.0 + 1e-12) && seen >= 0.99 * most, "{seen} {most}");
        }
    }
}

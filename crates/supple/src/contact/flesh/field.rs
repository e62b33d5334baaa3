//! Collision fields: a region pushes what is before it, and what is around makes room.

use glam::{Mat3, Vec3};
use pulp::{Simd, WithSimd};

use crate::contact::collider::RoundedBox;
use crate::lanes::{Lanes, WIDTH, greatest};
use crate::lengths::Lengths as _;
use crate::pathline::step::{INJECTIVE_IF_MEASURED, Moving as _, Stages, Velocity};

/// Of the distance over which a push fades, what it may move in one step: so no step jumps over it.
const ADVANCE: f32 = 0.15;
/// A step is taken again, shorter, if the field is so many times steeper at its end than it may be.
const STEEPER: f32 = 1.3;
/// Most steps of one pass.
const MOST_STEPS: f32 = 64.0;
/// Neighbours up to so many lanes apart are compared.
const MOST_APART: usize = 7;
/// Neighbours that take their steps together: two registers full, so that the long chains of operations
/// of one fill the waits of the other.
const BLOCK: usize = 2 * WIDTH;

/// One collision field over a time from 0 to 1.
///
/// With `β = (1 − s)³ (1 + 3s)`, `s` from 0 at the region to 1 at `width` from it, even in squares of the
/// distance, `ρ` the part of `x − center` across the normal:
/// `v = strength β ((β + ∇β·ρ) normal − (∇β·normal) ρ)`, which is `∇(βe) × ∇(βf)` for the linear `e`, `f` across
/// the normal. Along a bar or wall `∇(βe) × ∇f` is taken instead: the same without the first `β`, and with `ρ`
/// across `along` too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Push {
    /// Where the region stands at time 1; it comes from `depth` behind.
    pub(super) region: RoundedBox,
    /// The way it moves, a unit vector.
    pub(super) normal: Vec3,
    /// How far it moves.
    pub(super) depth: f32,
    /// How fast what it pushes moves: `depth`, unless several pushes share the work.
    pub(super) strength: f32,
    /// Where `e` and `f` vanish.
    pub(super) center: Vec3,
    /// Over which distance from the region the push fades.
    pub(super) width: f32,
    /// A unit vector across the normal along which nothing has to make room, as along a bar; zero if
    /// what is pushed makes room on all sides.
    pub(super) along: Vec3,
    /// The height above `center`, along the normal, below which the push fades out, and over which
    /// distance; infinite if what is behind the obstacle is pushed too.
    pub(super) back: f32,
    pub(super) fade: f32,
}

/// A push as the inner loop wants it; `n` and `m` are also in the axes of the region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posed {
    push: Push,
    axes: [Vec3; 3],
    /// Across the normal and `along`.
    aside: Vec3,
    normal_in_box: Vec3,
    aside_in_box: Vec3,
    /// Where the region is at time 0.
    start: Vec3,
    /// Of the distance from the box inside the region: its square at the surface, and over how much more the
    /// push fades, as a factor.
    inner: f32,
    per_square: f32,
    per_fade: f32,
    form: Form,
}

/// Which terms of the field are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Ball,
    Bar,
    Box,
    BallOneWay,
    BarOneWay,
    BoxOneWay,
    BoxOneSided,
    BoxOneWayOneSided,
}

/// What is inside a rounded region: a point, a line along the first axis, or a box.
const POINT: u8 = 0;
const LINE: u8 = 1;
const BOX: u8 = 2;

impl Posed {
    /// Velocity at one point.
    pub(super) fn velocity(&self, x: Vec3, time: f32) -> Vec3 {
        let mut lanes = Lanes::<1>::ZERO;
        lanes.set(0, x);
        velocity(&[self], time, &lanes).get(0)
    }

    /// True if the push never reaches points of the ball that move by at most `slack`.
    #[inline(always)]
    fn is_beyond(&self, ball: &Ball, slack: f32) -> bool {
        let Push { region, depth, width, .. } = &self.push;
        let d = ball.center - region.center;
        let [a, b, c] = self.axes;
        let local = Vec3::new(a.dot(d), b.dot(d), c.dot(d)).abs();
        let most = region.radius + depth + width + ball.radius + slack;
        (local - region.half).max(Vec3::ZERO).length_squared() > most * most
    }
}

impl Push {
    pub(super) fn posed(&self) -> Posed {
        let m = Mat3::from_quat(self.region.rotation);
        let axes = [m.x_axis, m.y_axis, m.z_axis];
        let in_box = |v: Vec3| Vec3::from(axes.map(|axis| axis.dot(v)));
        let aside = self.normal.cross(self.along);
        let is_one_sided = self.back > f32::NEG_INFINITY;
        let half = self.region.half;
        let form = match (self.along != Vec3::ZERO, half.y == 0.0 && half.z == 0.0) {
            (true, _) if is_one_sided => Form::BoxOneWayOneSided,
            (false, _) if is_one_sided => Form::BoxOneSided,
            (true, false) => Form::BoxOneWay,
            (false, false) => Form::Box,
            (true, true) if half.x == 0.0 => Form::BallOneWay,
            (false, true) if half.x == 0.0 => Form::Ball,
            (true, true) => Form::BarOneWay,
            (false, true) => Form::Bar,
        };
        Posed {
            push: *self,
            axes,
            aside,
            normal_in_box: in_box(self.normal),
            aside_in_box: in_box(aside),
            start: self.region.center - self.depth * self.normal,
            inner: self.region.radius * self.region.radius,
            per_square: 1.0 / (self.width * (2.0 * self.region.radius + self.width)),
            per_fade: 1.0 / self.fade,
            form,
        }
    }

    /// Steps for which the push does not jump over what it fades across.
    fn least_steps(&self) -> f32 {
        self.depth.max(self.strength) / (ADVANCE * self.width.min(self.fade))
    }
}

/// A ball around neighbouring points.
#[derive(Clone, Copy, Debug)]
struct Ball {
    center: Vec3,
    radius: f32,
}

impl Ball {
    #[inline(always)]
    fn around<const L: usize>(x: &Lanes<L>) -> Self {
        let [low, high] = x.bounds();
        Self { center: 0.5 * (low + high), radius: 0.5 * low.distance_to(high) }
    }
}

/// Pushes that act together.
pub(super) struct SummedPushes {
    pushes: Vec<Posed>,
    /// How far points may move, about.
    slack: f32,
}

impl SummedPushes {
    pub(super) fn new(pushes: &[Push]) -> Self {
        let slack = 2.0 * pushes.iter().map(|p| p.strength).fold(0.0, f32::max);
        Self { pushes: pushes.iter().map(Push::posed).collect(), slack }
    }

    /// Carries points through the sum of the pushes; returns the most steps that any of them took.
    pub(super) fn carry(&self, points: &mut [Vec3]) -> u32 {
        let Self { pushes, slack } = self;
        pulp::Arch::new().dispatch(Carry { points, pushes, slack: *slack })
    }
}

struct Carry<'a> {
    points: &'a mut [Vec3],
    pushes: &'a [Posed],
    slack: f32,
}

impl WithSimd for Carry<'_> {
    type Output = u32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> u32 {
        let mut reached: Vec<&Posed> = Vec::with_capacity(self.pushes.len());
        let mut most = 0;
        for block in self.points.chunks_mut(BLOCK) {
            let mut lanes = Lanes::<BLOCK>::of(block);
            let ball = Ball::around(&lanes);
            reached.clear();
            for push in self.pushes {
                if !push.is_beyond(&ball, self.slack) {
                    reached.push(push);
                }
            }
            if reached.is_empty() {
                continue;
            }
            most = most.max(integrate(&reached, &mut lanes));
            for (lane, x) in block.iter_mut().enumerate() {
                *x = lanes.get(lane);
            }
        }
        most
    }
}

/// Runge–Kutta steps, each as long as the field where the points are then allows; returns how many.
#[inline(always)]
fn integrate(pushes: &[&Posed], x: &mut Lanes<BLOCK>) -> u32 {
    let least = pushes.iter().map(|p| p.push.least_steps()).fold(1.0, f32::max);
    let (mut t, mut steps) = (0.0, 0);
    while t < 1.0 {
        let first = Pushes(pushes).at(x, t);
        let mut wanted = least.max(steepest(&first, x) / INJECTIVE_IF_MEASURED);
        loop {
            let left = ((1.0 - t) * wanted.min(MOST_STEPS)).ceil().max(1.0);
            let h = (1.0 - t) / left;
            let stages = Stages::of(&Pushes(pushes), x, first, [t, h]);
            steps += 1;
            // What a push reaches only now may be steeper than it was.
            let wanted_there = steepest(&stages.fourth, &stages.end) / INJECTIVE_IF_MEASURED;
            if wanted_there * h > STEEPER && wanted < MOST_STEPS {
                wanted = wanted_there.max(1.5 * wanted);
                continue;
            }
            *x = x.after(&stages, h);
            t = if left > 1.0 { t + h } else { 1.0 };
            break;
        }
    }
    steps
}

/// The steepest slope of a velocity between neighbouring points.
#[inline(always)]
fn steepest(v: &Lanes<BLOCK>, x: &Lanes<BLOCK>) -> f32 {
    let around =
        [wrapped(&x.x), wrapped(&x.y), wrapped(&x.z), wrapped(&v.x), wrapped(&v.y), wrapped(&v.z)];
    let mut slopes = Slopes { fast: [0.0; BLOCK], far: [1.0; BLOCK] };
    slopes.compare::<1>(&around);
    slopes.compare::<3>(&around);
    slopes.compare::<MOST_APART>(&around);
    slopes.steepest()
}

/// The lanes, and the first of them again.
#[inline(always)]
fn wrapped(lanes: &[f32; BLOCK]) -> [f32; BLOCK + MOST_APART] {
    let mut wrapped = [0.0; BLOCK + MOST_APART];
    wrapped[..BLOCK].copy_from_slice(lanes);
    wrapped[BLOCK..].copy_from_slice(&lanes[..MOST_APART]);
    wrapped
}

/// Squares of differences of velocities and places.
struct Slopes {
    fast: [f32; BLOCK],
    far: [f32; BLOCK],
}

impl Slopes {
    /// Keeps the steeper: each lane is compared with another, the last ones with the first.
    #[inline(always)]
    fn compare<const APART: usize>(&mut self, around: &[[f32; BLOCK + MOST_APART]; 6]) {
        let [x, y, z, u, v, w] = around;
        for i in 0..BLOCK {
            let k = i + APART;
            let (dx, dy, dz) = (x[k] - x[i], y[k] - y[i], z[k] - z[i]);
            let (du, dv, dw) = (u[k] - u[i], v[k] - v[i], w[k] - w[i]);
            let (far, fast) = (dx * dx + dy * dy + dz * dz, du * du + dv * dv + dw * dw);
            let is_steeper = fast * self.far[i] > self.fast[i] * far;
            self.fast[i] = if is_steeper { fast } else { self.fast[i] };
            self.far[i] = if is_steeper { far } else { self.far[i] };
        }
    }

    #[inline(always)]
    fn steepest(&self) -> f32 {
        let mut slopes = self.fast;
        for (slope, far) in slopes.iter_mut().zip(&self.far) {
            *slope /= far.max(f32::MIN_POSITIVE);
        }
        greatest(&slopes).sqrt()
    }
}

/// The sum of some pushes.
struct Pushes<'a>(&'a [&'a Posed]);

impl<const L: usize> Velocity<Lanes<L>> for Pushes<'_> {
    #[inline(always)]
    fn at(&self, x: &Lanes<L>, time: f32) -> Lanes<L> {
        velocity(self.0, time, x)
    }
}

#[inline(always)]
fn velocity<const L: usize>(pushes: &[&Posed], time: f32, x: &Lanes<L>) -> Lanes<L> {
    let mut sum = Lanes::<L>::ZERO;
    for push in pushes {
        match push.form {
            Form::Ball => add::<L, POINT, false, false>(push, time, x, &mut sum),
            Form::Bar => add::<L, LINE, false, false>(push, time, x, &mut sum),
            Form::Box => add::<L, BOX, false, false>(push, time, x, &mut sum),
            Form::BallOneWay => add::<L, POINT, true, false>(push, time, x, &mut sum),
            Form::BarOneWay => add::<L, LINE, true, false>(push, time, x, &mut sum),
            Form::BoxOneWay => add::<L, BOX, true, false>(push, time, x, &mut sum),
            Form::BoxOneSided => add::<L, BOX, false, true>(push, time, x, &mut sum),
            Form::BoxOneWayOneSided => add::<L, BOX, true, true>(push, time, x, &mut sum),
        }
    }
    sum
}

/// The nearest number that is at most so far from zero. Not `clamp`, which cares for what is not a number.
#[inline(always)]
fn within(x: f32, most: f32) -> f32 {
    let x = if x > -most { x } else { -most };
    if x < most { x } else { most }
}

/// Adds one push: `v = strength β ((β + g·c) n − (g·n) c)`, `g = ∇β`, `c = x − center`; one way, with `m`
/// aside, `v = strength ((β + (g·m)(c·m)) n − (g·n)(c·m) m)`.
#[inline(always)]
fn add<const L: usize, const CORE: u8, const ONE_WAY: bool, const ONE_SIDED: bool>(
    posed: &Posed,
    time: f32,
    x: &Lanes<L>,
    sum: &mut Lanes<L>,
) {
    let Posed { push, axes: [a, b, c], inner, per_square, per_fade, .. } = *posed;
    let (n, m, half) = (push.normal, posed.aside, push.region.half);
    let at = posed.start + (time * push.depth) * n;
    let (n_in, m_in) = if CORE == BOX { (posed.normal_in_box, posed.aside_in_box) } else { (n, m) };
    let from_center = at - push.center;
    let (up_at, aside_at) = (from_center.dot(n), from_center.dot(m));
    for l in 0..L {
        let (dx, dy, dz) = (x.x[l] - at.x, x.y[l] - at.y, x.z[l] - at.z);
        let (mut qa, mut qb, mut qc) = (dx, dy, dz);
        if CORE == LINE {
            let along = within(a.x * dx + a.y * dy + a.z * dz, half.x);
            (qa, qb, qc) = (dx - along * a.x, dy - along * a.y, dz - along * a.z);
        } else if CORE == BOX {
            let ya = a.x * dx + a.y * dy + a.z * dz;
            let yb = b.x * dx + b.y * dy + b.z * dz;
            let yc = c.x * dx + c.y * dy + c.z * dz;
            qa = ya - within(ya, half.x);
            qb = yb - within(yb, half.y);
            qc = yc - within(yc, half.z);
        }
        let s = (qa * qa + qb * qb + qc * qc - inner) * per_square;
        let s = if s > 0.0 { s } else { 0.0 };
        let s = if s < 1.0 { s } else { 1.0 };
        let left = 1.0 - s;
        let square = left * left;
        let mut beta = square * left * (1.0 + 3.0 * s);
        // ∇β is this times q.
        let mut slope = -24.0 * s * square * per_square;
        let mut rise = 0.0;
        if ONE_SIDED {
            let up = dx * n.x + dy * n.y + dz * n.z + up_at;
            let w = ((push.back - up) * per_fade).clamp(0.0, 1.0);
            let front = 1.0 - w * w * w * (4.0 - 3.0 * w);
            rise = beta * (12.0 * w * w * (1.0 - w) * per_fade);
            beta *= front;
            slope *= front;
        }
        // g·n, and with that g·m or g·c.
        let fall = slope * (qa * n_in.x + qb * n_in.y + qc * n_in.z) + rise;
        if ONE_WAY {
            let aside = dx * m.x + dy * m.y + dz * m.z + aside_at;
            let slant = slope * (qa * m_in.x + qb * m_in.y + qc * m_in.z);
            let onward = push.strength * (beta + slant * aside);
            let away = push.strength * fall * aside;
            sum.x[l] += onward * n.x - away * m.x;
            sum.y[l] += onward * n.y - away * m.y;
            sum.z[l] += onward * n.z - away * m.z;
        } else {
            let (cx, cy, cz) = (dx + from_center.x, dy + from_center.y, dz + from_center.z);
            let (mut gx, mut gy, mut gz) = (qa, qb, qc);
            if CORE == BOX {
                gx = qa * a.x + qb * b.x + qc * c.x;
                gy = qa * a.y + qb * b.y + qc * c.y;
                gz = qa * a.z + qb * b.z + qc * c.z;
            }
            let mut around = slope * (gx * cx + gy * cy + gz * cz);
            if ONE_SIDED {
                around += rise * (cx * n.x + cy * n.y + cz * n.z);
            }
            let speed = push.strength * beta;
            let (onward, away) = (speed * (beta + around), speed * fall);
            sum.x[l] += onward * n.x - away * cx;
            sum.y[l] += onward * n.y - away * cy;
            sum.z[l] += onward * n.z - away * cz;
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;

    fn pushes() -> [Push; 4] {
        let region = |half: Vec3, radius: f32| RoundedBox {
            center: Vec3::new(0.1, -0.3, 0.2),
            rotation: Quat::from_rotation_z(0.4) * Quat::from_rotation_x(0.7),
            half,
            radius,
        };
        let push = |region: RoundedBox, normal: Vec3, width: f32| Push {
            region,
            normal: normal.normalize_or_zero(),
            depth: 0.3,
            strength: 0.3,
            center: region.center + 0.2 * Vec3::X,
            width,
            along: Vec3::ZERO,
            back: f32::NEG_INFINITY,
            fade: f32::MAX,
        };
        let bar = region(0.7 * Vec3::X, 0.2);
        [
            push(region(Vec3::ZERO, 0.5), Vec3::Y, 1.0),
            push(region(Vec3::new(2.0, 0.1, 0.6), 0.0), Vec3::new(0.2, 1.0, -0.4), 0.8),
            push(bar, Vec3::Z, 0.6),
            Push { along: Vec3::new(0.6, 0.8, 0.0), ..push(bar, Vec3::Z, 0.6) },
        ]
    }

    fn samples() -> impl Iterator<Item = Vec3> {
        (0..4000).map(|i| {
            let a = i as f32;
            let part = |f: f32| 2.4 * ((a * f).fract() - 0.5);
            Vec3::new(part(0.618_034), part(0.414_213_6), part(0.732_050_8))
        })
    }

    /// Rows of ∂v/∂x by central differences, in f64 as far as f32 velocities allow.
    fn gradient(push: &Push, x: Vec3, t: f32) -> Mat3 {
        const H: f32 = 2e-3;
        let push = push.posed();
        let along = |axis: Vec3| {
            (push.velocity(x + H * axis, t) - push.velocity(x - H * axis, t)) / (2.0 * H)
        };
        Mat3::from_cols(along(Vec3::X), along(Vec3::Y), along(Vec3::Z))
    }

    /// A push that leaves alone what is behind.
    fn one_sided() -> Push {
        let [.., push] = pushes();
        Push { back: -0.1, fade: 0.4, ..push }
    }

    #[test]
    fn what_is_behind_stays() {
        let push = one_sided();
        let behind = push.center - 0.51 * push.normal + 0.2 * Vec3::X;
        assert_eq!(push.posed().velocity(behind, 0.7), Vec3::ZERO);
        assert!(
            push.posed().velocity(push.center, 1.0).abs_diff_eq(0.3 * Vec3::Z, 1e-6),
            "in front"
        );
    }

    #[test]
    fn no_divergence() {
        for push in pushes().into_iter().chain([one_sided()]) {
            let total: f32 = samples()
                .map(|x| {
                    let m = gradient(&push, x, 0.5);
                    (m.x_axis.x + m.y_axis.y + m.z_axis.z).abs()
                })
                .sum();
            let mean = total / 4000.0;
            assert!(mean < 1e-3, "mean |div v| is {mean} for {push:?}");
        }
    }

    /// Neighbours in blocks, as the vertices of a body are.
    fn patches() -> Vec<Vec3> {
        let around = |x: Vec3| (0..BLOCK).map(move |k| x + 0.02 * spiral(k as f32));
        samples().step_by(16).flat_map(around).collect()
    }

    fn spiral(k: f32) -> Vec3 {
        Vec3::new(0.25 * k * (2.4 * k).cos(), 0.25 * k * (2.4 * k).sin(), (1.7 * k).sin())
    }

    #[test]
    fn steps_are_as_many_as_needed() {
        let all = pushes().into_iter().chain([one_sided()]).map(|push| vec![push]);
        for pushes in all.chain([pushes().to_vec()]) {
            let mut points = patches();
            let mut expected = points.clone();
            let steps = SummedPushes::new(&pushes).carry(&mut points);
            let posed: Vec<Posed> = pushes.iter().map(Push::posed).collect();
            let posed: Vec<&Posed> = posed.iter().collect();
            for x in &mut expected {
                let mut lanes = Lanes::<1>::ZERO;
                lanes.set(0, *x);
                for step in 0..256 {
                    let v = |h: f32, x: &Lanes<1>| velocity(&posed, (step as f32 + h) / 256.0, x);
                    let half = lanes.ahead(&v(0.0, &lanes), 0.5 / 256.0);
                    lanes = lanes.ahead(&v(0.5, &half), 1.0 / 256.0);
                }
                *x = lanes.get(0);
            }
            let off = || points.iter().zip(&expected).map(|(a, b)| a.distance(*b));
            let mean = off().sum::<f32>() / points.len() as f32;
            // The field has kinks where the edges of boxes are.
            let most = off().fold(0.0, f32::max);
            assert!(mean < 2e-4 && most < 1e-2, "off by {mean}, {most} at most, for {pushes:?}");
            assert!(steps < 32, "{steps} steps for {pushes:?}");
        }
    }

    #[test]
    fn nothing_enters_the_region() {
        for push in pushes() {
            let start = push.region.center - push.depth * push.normal;
            let distance = |x: Vec3, center: Vec3| {
                let local = push.region.rotation.inverse() * (x - center);
                let out = local - local.clamp(-push.region.half, push.region.half);
                out.length() - push.region.radius
            };
            let mut points: Vec<Vec3> = samples().filter(|&x| distance(x, start) > 1e-4).collect();
            SummedPushes::new(&[push]).carry(&mut points);
            let deepest =
                points.iter().map(|&x| distance(x, push.region.center)).fold(1.0, f32::min);
            assert!(deepest > -2e-3, "{deepest} for {push:?}");
        }
    }

    #[test]
    fn the_inner_region_moves_as_one() {
        let [push, ..] = pushes();
        let x = push.region.center - push.depth * push.normal + Vec3::new(0.2, 0.1, -0.1);
        let mut points = [x];
        SummedPushes::new(&[push]).carry(&mut points);
        assert!(points[0].abs_diff_eq(x + push.depth * push.normal, 1e-6), "{}", points[0]);
    }
}

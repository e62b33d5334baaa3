//! Collision fields: a region pushes what is before it, and what is around makes room.

use glam::{Mat3, Vec3};
use pulp::{Simd, WithSimd};

use crate::field::lanes::{Lanes, WIDTH};
use crate::rig::collider::RoundedBox;

/// Largest `h L` for which one Runge–Kutta step cannot fold.
const INJECTIVE: f32 = 0.69;
/// Most steps of one pass.
const MOST_STEPS: f32 = 32.0;

/// `L ≤ strength/width · (STEEP + STEEP_ASIDE · lateral/width)`; `the_bound_holds` pins both.
const STEEP: f32 = 3.3;
const STEEP_ASIDE: f32 = 6.2;

/// One collision field over a time from 0 to 1.
///
/// With `β = 1 − b(r/width)`, `r` the distance to the region, `ρ` the part of `x − center` across
/// the normal: `v = strength β ((β + ∇β·ρ) normal − (∇β·normal) ρ)`, which is `∇(βe) × ∇(βf)` for the
/// linear `e`, `f` across the normal.
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
}

/// A push as the inner loop wants it.
#[derive(Clone, Copy, Debug)]
struct Posed {
    axes: [Vec3; 3],
    push: Push,
}

impl Posed {
    /// True for a point that the push never reaches.
    #[inline(always)]
    fn is_beyond(&self, x: Vec3) -> bool {
        let Push { region, depth, width, .. } = &self.push;
        let d = x - region.center;
        let [a, b, c] = self.axes;
        let local = Vec3::new(a.dot(d), b.dot(d), c.dot(d)).abs();
        (local - region.half).max_element() > region.radius + depth + width
    }
}

impl Push {
    /// Velocity at one point.
    pub(super) fn velocity(&self, x: Vec3, time: f32) -> Vec3 {
        let mut lanes = Lanes::<1>::ZERO;
        lanes.set(0, x);
        velocity(&[self.posed()], time, &lanes).get(0)
    }

    fn posed(&self) -> Posed {
        let m = Mat3::from_quat(self.region.rotation);
        Posed { axes: [m.x_axis, m.y_axis, m.z_axis], push: *self }
    }

    /// A bound of the gradient, for points at most `lateral` aside of the centre.
    fn steepness(&self, lateral: f32) -> f32 {
        self.strength / self.width * (STEEP + STEEP_ASIDE * lateral / self.width)
    }
}

/// Runge–Kutta steps that cannot fold points at most `lateral` aside of the centres.
pub(super) fn steps(pushes: &[Push], lateral: f32) -> u32 {
    let steep: f32 = pushes.iter().map(|p| p.steepness(lateral)).sum();
    (steep / INJECTIVE).ceil().clamp(1.0, MOST_STEPS) as u32
}

/// Carries points through the sum of the pushes.
pub(super) fn carry(points: &mut [Vec3], pushes: &[Push], steps: u32) {
    let posed: Vec<Posed> = pushes.iter().map(Push::posed).collect();
    pulp::Arch::new().dispatch(Carry { points, pushes: &posed, steps });
}

struct Carry<'a> {
    points: &'a mut [Vec3],
    pushes: &'a [Posed],
    steps: u32,
}

impl WithSimd for Carry<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for block in self.points.chunks_mut(WIDTH) {
            if block.iter().all(|x| self.pushes.iter().all(|p| p.is_beyond(*x))) {
                continue;
            }
            let mut lanes = Lanes::<WIDTH>::ZERO;
            for lane in 0..WIDTH {
                lanes.set(lane, block[lane.min(block.len() - 1)]);
            }
            integrate(self.pushes, self.steps, &mut lanes);
            for (lane, x) in block.iter_mut().enumerate() {
                *x = lanes.get(lane);
            }
        }
    }
}

#[inline(always)]
fn integrate<const L: usize>(pushes: &[Posed], steps: u32, x: &mut Lanes<L>) {
    let h = 1.0 / steps as f32;
    for step in 0..steps {
        let t = step as f32 * h;
        let k1 = velocity(pushes, t, x);
        let k2 = velocity(pushes, t + 0.5 * h, &moved(x, &k1, 0.5 * h));
        let k3 = velocity(pushes, t + 0.5 * h, &moved(x, &k2, 0.5 * h));
        let k4 = velocity(pushes, t + h, &moved(x, &k3, h));
        for l in 0..L {
            x.x[l] += h / 6.0 * (k1.x[l] + 2.0 * (k2.x[l] + k3.x[l]) + k4.x[l]);
            x.y[l] += h / 6.0 * (k1.y[l] + 2.0 * (k2.y[l] + k3.y[l]) + k4.y[l]);
            x.z[l] += h / 6.0 * (k1.z[l] + 2.0 * (k2.z[l] + k3.z[l]) + k4.z[l]);
        }
    }
}

#[inline(always)]
fn moved<const L: usize>(x: &Lanes<L>, v: &Lanes<L>, by: f32) -> Lanes<L> {
    let mut to = *x;
    for l in 0..L {
        to.x[l] += by * v.x[l];
        to.y[l] += by * v.y[l];
        to.z[l] += by * v.z[l];
    }
    to
}

#[inline(always)]
fn velocity<const L: usize>(pushes: &[Posed], time: f32, x: &Lanes<L>) -> Lanes<L> {
    let mut sum = Lanes::<L>::ZERO;
    for Posed { axes: [a, b, c], push } in pushes {
        let (n, half, width) = (push.normal, push.region.half, push.width);
        let at = push.region.center - (1.0 - time) * push.depth * n;
        for l in 0..L {
            let (dx, dy, dz) = (x.x[l] - at.x, x.y[l] - at.y, x.z[l] - at.z);
            let along = [
                a.x * dx + a.y * dy + a.z * dz,
                b.x * dx + b.y * dy + b.z * dz,
                c.x * dx + c.y * dy + c.z * dz,
            ];
            let qa = along[0] - along[0].max(-half.x).min(half.x);
            let qb = along[1] - along[1].max(-half.y).min(half.y);
            let qc = along[2] - along[2].max(-half.z).min(half.z);
            let length = (qa * qa + qb * qb + qc * qc).sqrt();
            let u = ((length - push.region.radius).max(0.0) / width).min(1.0);
            let beta = 1.0 - u * u * u * (4.0 - 3.0 * u);
            let slope = -12.0 * u * u * (1.0 - u) / (width * length.max(1e-20));
            let gx = slope * (qa * a.x + qb * b.x + qc * c.x);
            let gy = slope * (qa * a.y + qb * b.y + qc * c.y);
            let gz = slope * (qa * a.z + qb * b.z + qc * c.z);
            let (cx, cy, cz) =
                (x.x[l] - push.center.x, x.y[l] - push.center.y, x.z[l] - push.center.z);
            let up = cx * n.x + cy * n.y + cz * n.z;
            let (px, py, pz) = (cx - up * n.x, cy - up * n.y, cz - up * n.z);
            let with_normal = beta + gx * px + gy * py + gz * pz;
            let aside = gx * n.x + gy * n.y + gz * n.z;
            let speed = push.strength * beta;
            sum.x[l] += speed * (with_normal * n.x - aside * px);
            sum.y[l] += speed * (with_normal * n.y - aside * py);
            sum.z[l] += speed * (with_normal * n.z - aside * pz);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;

    fn pushes() -> [Push; 3] {
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
        };
        [
            push(region(Vec3::ZERO, 0.5), Vec3::Y, 1.0),
            push(region(Vec3::new(2.0, 0.1, 0.6), 0.0), Vec3::new(0.2, 1.0, -0.4), 0.8),
            push(region(0.7 * Vec3::X, 0.2), Vec3::Z, 0.6),
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
        let along = |axis: Vec3| {
            (push.velocity(x + H * axis, t) - push.velocity(x - H * axis, t)) / (2.0 * H)
        };
        Mat3::from_cols(along(Vec3::X), along(Vec3::Y), along(Vec3::Z))
    }

    #[test]
    fn no_divergence() {
        for push in pushes() {
            let total: f32 = samples()
                .map(|x| {
                    let m = gradient(&push, x, 0.5);
                    (m.x_axis.x + m.y_axis.y + m.z_axis.z).abs()
                })
                .sum();
            let mean = total / 4000.0;
            assert!(mean < 5e-4, "mean |div v| is {mean} for {push:?}");
        }
    }

    #[test]
    fn the_bound_holds() {
        for push in pushes() {
            let steepest = samples().map(|x| {
                let lateral = (x - push.center).reject_from(push.normal).length();
                let m = gradient(&push, x, 0.5);
                // The largest column bounds the spectral norm from below.
                let norm = m.x_axis.length().max(m.y_axis.length()).max(m.z_axis.length());
                norm / push.steepness(lateral)
            });
            let steepest = steepest.fold(0.0, f32::max);
            assert!(steepest < 1.0 && steepest > 0.2, "{steepest} of the bound for {push:?}");
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
            carry(&mut points, &[push], steps(&[push], 2.0));
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
        carry(&mut points, &[push], 3);
        assert!(points[0].abs_diff_eq(x + push.depth * push.normal, 1e-6), "{}", points[0]);
    }
}

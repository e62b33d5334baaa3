//! The velocity of stretched and turned sets, for a block of points at a time.
//!
//! With `b = (x − m)/R`, `u = max(1 − b², 0)`: `v = u³ ((1 − 5b²) a + 4 (a·b) b)` for the stretch `a`, which is
//! (5.6), (5.7) and (5.12) in units of the radius ((8)–(14) of the paper), by the region field (5.14) with the blend (5.15), and `v = u³ φ × (x − m)` for the turn `φ`. Both have no
//! divergence and end C² at `R`.

use glam::Vec3;

use crate::lanes::Lanes;
use crate::lengths::Lengths as _;
use crate::pathline::step::{INJECTIVE, Velocity, step};

/// `max ‖∇v‖ R/|a|` of a stretch; of a turn it is `|φ|`.
const STEEPNESS: f32 = 3.081;

/// Steps beyond which a block is surely not worth more.
const MOST_STEPS: f32 = 1e4;

/// One set as a frame finds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PosedSet {
    /// `p`: where the anchor is.
    pub(super) anchor: Vec3,
    /// `a`: from the anchor to the mass.
    pub(super) stretch: Vec3,
    /// `φ`: by how much the mass is turned against the anchor.
    pub(super) turn: Vec3,
    /// `R`: beyond it nothing moves.
    pub(super) radius: f32,
}

impl PosedSet {
    /// A bound of `‖∇v‖`.
    pub(super) fn steepness(&self) -> f32 {
        STEEPNESS * self.stretch.norm() / self.radius + self.turn.norm()
    }

    /// Adds the velocity at time `t` of 0 to 1.
    #[inline(always)]
    pub(super) fn add_velocity<const L: usize>(&self, x: &Lanes<L>, t: f32, v: &mut Lanes<L>) {
        let m = self.anchor + t * self.stretch;
        let (a, per_radius) = (self.stretch, 1.0 / self.radius);
        for i in 0..L {
            let bx = (x.x[i] - m.x) * per_radius;
            let by = (x.y[i] - m.y) * per_radius;
            let bz = (x.z[i] - m.z) * per_radius;
            let s = bx * bx + by * by + bz * bz;
            let u = if s < 1.0 { 1.0 - s } else { 0.0 };
            let cube = u * u * u;
            let along = cube * (1.0 - 5.0 * s);
            let across = cube * (4.0 * (a.x * bx + a.y * by + a.z * bz));
            v.x[i] += along * a.x + across * bx;
            v.y[i] += along * a.y + across * by;
            v.z[i] += along * a.z + across * bz;
        }
        if self.turn != Vec3::ZERO {
            self.add_turn(x, m, v);
        }
    }

    #[inline(always)]
    fn add_turn<const L: usize>(&self, x: &Lanes<L>, m: Vec3, v: &mut Lanes<L>) {
        let (w, per_radius) = (self.turn, 1.0 / self.radius);
        for i in 0..L {
            let (bx, by, bz) = (x.x[i] - m.x, x.y[i] - m.y, x.z[i] - m.z);
            let s = (bx * bx + by * by + bz * bz) * (per_radius * per_radius);
            let u = if s < 1.0 { 1.0 - s } else { 0.0 };
            let cube = u * u * u;
            v.x[i] += cube * (w.y * bz - w.z * by);
            v.y[i] += cube * (w.z * bx - w.x * bz);
            v.z[i] += cube * (w.x * by - w.y * bx);
        }
    }
}

/// How far and how steeply a set acts.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetBounds {
    anchor: Vec3,
    stretch: Vec3,
    per_length_squared: f32,
    radius: f32,
    /// The farthest it can carry a point: `|v| ≤ |a| + max r(1 − r²)³ |φ| R`.
    pub(super) drift: f32,
    /// A bound of `‖∇v‖`.
    pub(super) steepness: f32,
}

impl SetBounds {
    pub(super) fn of(set: &PosedSet) -> Self {
        Self {
            anchor: set.anchor,
            stretch: set.stretch,
            per_length_squared: 1.0 / set.stretch.length_squared().max(f32::MIN_POSITIVE),
            radius: 1.0001 * set.radius,
            drift: set.stretch.norm() + 0.239 * set.turn.norm() * set.radius,
            steepness: set.steepness(),
        }
    }

    /// How far a point is from all that the set touches on the way of its mass; negative within.
    #[inline(always)]
    pub(super) fn gap(&self, point: Vec3) -> f32 {
        let away = point - self.anchor;
        let s = (self.stretch.dot(away) * self.per_length_squared).clamp(0.0, 1.0);
        away.distance_to(s * self.stretch) - self.radius
    }
}

/// Runge–Kutta steps so that none can fold, for the steepness of all sets together.
pub(super) fn steps_for(steepness: f32) -> u32 {
    let steps = (steepness / INJECTIVE).ceil();
    if steps >= 1.0 { steps.min(MOST_STEPS) as u32 } else { 1 }
}

/// The sum of some sets.
struct Near<'a> {
    sets: &'a [PosedSet],
    near: &'a [u32],
}

impl<const L: usize> Velocity<Lanes<L>> for Near<'_> {
    #[inline(always)]
    fn at(&self, x: &Lanes<L>, t: f32) -> Lanes<L> {
        let mut v = Lanes::<L>::ZERO;
        for &set in self.near {
            self.sets[set as usize].add_velocity(x, t, &mut v);
        }
        v
    }
}

/// Carries a block through the sum of some sets, from time 0 to 1.
#[inline(always)]
pub(super) fn integrate<const L: usize>(
    sets: &[PosedSet],
    near: &[u32],
    steps: u32,
    x: &mut Lanes<L>,
) {
    let h = 1.0 / steps as f32;
    for k in 0..steps {
        *x = step(&Near { sets, near }, x, [k as f32 * h, h]);
    }
}

/// Middle and radius of a ball around the lanes.
#[inline(always)]
pub(super) fn ball<const L: usize>(x: &Lanes<L>) -> (Vec3, f32) {
    let [min, max] = x.bounds();
    (0.5 * (min + max), 0.5 * min.distance_to(max))
}

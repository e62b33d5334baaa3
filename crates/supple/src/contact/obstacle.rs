//! What does not give way: the ground of a body, and colliders that stand still or are moved by keys.

use std::sync::Arc;

use glam::{Mat3, Quat, Vec3};

use super::{Between, Lent, Touch, Whose};
use crate::contact::collider::{Place, Solid};
use crate::mesh::measure::Bounds;

/// A collider during a tick.
#[derive(Clone, Copy, Debug)]
pub struct Obstacle<'a> {
    /// Its number in the scene.
    pub number: u32,
    /// Its convex parts.
    pub parts: &'a [Solid],
    /// Where it was before the tick.
    pub before: Place,
    /// Where it is.
    pub now: Place,
}

/// Puts particles below the ground onto it and holds them by friction.
pub(super) fn stand(lent: &mut Lent) {
    let Some(ground) = lent.ground else { return };
    let normal = lent.space.local_vector(ground.normal);
    let height = ground.height - ground.normal.dot(lent.space.translation);
    let up = normal.as_vec3();
    for p in 0..lent.len() {
        let x = lent.place(p);
        let depth = height - normal.dot(x.as_dvec3());
        if depth <= 0.0 {
            continue;
        }
        let depth = depth as f32;
        let motion = lent.particles.motions[p] + lent.pushes[p];
        let sliding = motion - motion.dot(up) * up;
        let share = ground.friction.share(depth, sliding, lent.forward(p, up));
        let correction = depth * up - share * sliding;
        lent.pushes[p] += correction;
        lent.gains[p] += correction;
        lent.touches.push(Touch {
            particle: p as u32,
            point: x + depth * up,
            normal: up,
            friction: ground.friction,
            whose: Whose::Ground,
        });
    }
}

/// Pushes particles, and points between them, out of obstacles.
pub(super) fn leave(lent: &mut Lent, obstacles: &[Obstacle<'_>]) {
    if obstacles.is_empty() {
        return;
    }
    let turn = lent.space.rotation.as_quat();
    let at = lent.space.translation.as_vec3();
    let places = (0..lent.len()).map(|p| turn * lent.place(p) + at);
    let around = places.fold(Bounds::EMPTY, |b, x| Bounds { min: b.min.min(x), max: b.max.max(x) });
    for obstacle in obstacles {
        let near = obstacle.now.frame().bounds(&around);
        for part in obstacle.parts.iter().filter(|part| !part.is_beyond(&near, Vec3::ZERO, 0.0)) {
            Lender { turn, at, obstacle, part }.leave(lent);
        }
    }
}

/// A lender's space in f32, beside a part of an obstacle.
struct Lender<'a> {
    turn: Quat,
    at: Vec3,
    obstacle: &'a Obstacle<'a>,
    part: &'a Solid,
}

impl Lender<'_> {
    /// Pushes all points out, patches that are plainly beyond left aside.
    fn leave(&self, lent: &mut Lent) {
        let patches = Arc::clone(&lent.particles.patches);
        if patches.points.is_empty() {
            (0..lent.len() as u32).for_each(|p| self.push(lent, &Between::particle(p)));
            return;
        }
        lent.bound_patches();
        let mut pushed = lent.farthest_push();
        for patch in 0..patches.all.len() {
            let around = lent.blocks.own[patch].grown(pushed);
            if !self.part.is_beyond(&self.local_bounds(&around), Vec3::ZERO, 0.0) {
                patches.points(patch).iter().for_each(|point| self.push(lent, point));
                pushed = lent.farthest_push();
            }
        }
    }

    /// The box around a box of the lender in the space of the obstacle.
    fn local_bounds(&self, around: &Bounds) -> Bounds {
        let m = Mat3::from_quat(self.obstacle.now.rotation.conjugate() * self.turn);
        let half = 0.5 * around.size();
        let half = half.x * m.x_axis.abs() + half.y * m.y_axis.abs() + half.z * m.z_axis.abs();
        let center = self.obstacle.now.to_local(self.turn * around.center() + self.at);
        Bounds { min: center - half, max: center + half }
    }

    fn push(&self, lent: &mut Lent, point: &Between) {
        let [i, j] = point.of.map(|p| p as usize);
        let weights = [1.0 - point.share, point.share];
        let mix = |a: Vec3, b: Vec3| weights[0] * a + weights[1] * b;
        let x = lent.place_between(point);
        let local = self.obstacle.now.to_local(self.turn * x + self.at);
        let probe = self.part.probe(local, Vec3::ZERO);
        // What is no number is left alone.
        let is_inside = probe.distance < 0.0;
        if !is_inside {
            return;
        }
        let depth = -probe.distance;
        let home = self.turn.conjugate();
        let normal = home * (self.obstacle.now.rotation * probe.normal);
        let own = self.obstacle.now.to_world(local) - self.obstacle.before.to_world(local);
        let went = |p: usize| lent.particles.motions[p] + lent.pushes[p];
        let motion = mix(went(i), went(j)) - home * own;
        let sliding = motion - motion.dot(normal) * normal;
        let forward = lent.forward(if point.share > 0.5 { j } else { i }, normal);
        let share = lent.particles.friction.share(depth, sliding, forward);
        // Only what came in during this tick is stopped; the rest is moved out without being thrown.
        let came = (-motion.dot(normal)).clamp(0.0, depth);
        let (push, gain) = (depth * normal - share * sliding, came * normal - share * sliding);
        let masses = [i, j].map(|p| lent.particles.inverse_masses[p]);
        let total = weights[0] * weights[0] * masses[0] + weights[1] * weights[1] * masses[1];
        if total <= 0.0 {
            return;
        }
        for (k, p) in [i, j].into_iter().enumerate().filter(|(k, _)| weights[*k] > 0.0) {
            let part = weights[k] * masses[k] / total;
            lent.pushes[p] += part * push;
            lent.gains[p] += part * gain;
            lent.touches.push(Touch {
                particle: p as u32,
                point: x + depth * normal,
                normal,
                friction: lent.particles.friction,
                whose: Whose::Collider(self.obstacle.number),
            });
        }
    }
}

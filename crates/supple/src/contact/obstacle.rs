//! What does not give way: the ground of a body, and colliders that stand still or are moved by keys.

use glam::{Quat, Vec3};

use super::{Between, Lent, Touch, Whose};
use crate::contact::collider::{Isometry, Solid};
use crate::mesh::measure::Bounds;

/// A collider during a tick.
#[derive(Clone, Copy, Debug)]
pub struct Obstacle<'a> {
    /// Its number in the scene.
    pub number: u32,
    /// Its convex parts.
    pub parts: &'a [Solid],
    /// Where it was before the tick.
    pub before: Isometry,
    /// Where it is.
    pub now: Isometry,
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
            let lender = Lender { turn, at, obstacle, part };
            for p in 0..lent.len() {
                lender.push(lent, &Between { of: [p as u32; 2], share: 0.0, edge: Vec3::ZERO });
            }
            let between = lent.particles.between.clone();
            between.iter().for_each(|point| lender.push(lent, point));
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
    fn push(&self, lent: &mut Lent, point: &Between) {
        let [i, j] = [point.of[0] as usize, point.of[1] as usize];
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
        let masses = [lent.particles.inverse_masses[i], lent.particles.inverse_masses[j]];
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

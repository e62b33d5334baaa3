//! What does not give way: the ground of a body, and colliders that stand still or are moved by keys.

use glam::{Mat3, Quat, Vec3};
use pulp::{Arch, Simd, WithSimd};

use super::patches::{Edge, Span, share};
use super::search::{bulge, carried, spread};
use super::{Lent, Touch, Whose};
use crate::contact::collider::{Isometry, Solid};
use crate::lanes::{Lanes, WIDTH};
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
    let places = (0..lent.len()).map(|p| lent.place(p));
    let own = places.fold(Bounds::EMPTY, |b, x| Bounds { min: b.min.min(x), max: b.max.max(x) });
    let around = Isometry { rotation: turn, translation: at }.bounds(&own);
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

/// Points no farther than this share of a body's size from an obstacle are looked at in full: beyond rounding.
const NEAR: f32 = 1e-5;

impl Lender<'_> {
    fn leave(&self, lent: &mut Lent) {
        for (edge, share) in Arch::new().dispatch(Look { lender: self, lent }) {
            self.push(lent, &edge, share);
        }
    }

    /// Pushes a point of an edge.
    fn push(&self, lent: &mut Lent, edge: &Edge, share: f32) {
        let [i, j] = edge.of.map(|p| p as usize);
        let weights = [1.0 - share, share];
        let mix = |a: Vec3, b: Vec3| weights[0] * a + weights[1] * b;
        let x = lent.place_between(edge, share);
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
        let forward = lent.forward(if share > 0.5 { j } else { i }, normal);
        let held = lent.particles.friction.share(depth, sliding, forward);
        // Only what came in during this tick is stopped; the rest is moved out without being thrown.
        let came = (-motion.dot(normal)).clamp(0.0, depth);
        let (push, gain) = (depth * normal - held * sliding, came * normal - held * sliding);
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

/// Looks for points of a body that are in a part of an obstacle: on which edge, and how far from its first end to the second.
struct Look<'a> {
    lender: &'a Lender<'a>,
    lent: &'a Lent,
}

impl WithSimd for Look<'_> {
    type Output = Vec<(Edge, f32)>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self { lender: Lender { turn, at, obstacle, part }, lent } = self;
        let turn = Mat3::from_quat(obstacle.now.rotation.conjugate() * *turn);
        let shift = obstacle.now.to_local(*at);
        let near = NEAR * lent.particles.size;
        let gaps = |x: &Lanes<WIDTH>| part.gaps(&carried(&turn, shift, x)).all;
        let (mut found, mut of_particles) = (Vec::new(), Vec::with_capacity(lent.len() + WIDTH));
        for start in (0..lent.len()).step_by(WIDTH) {
            let mut block = Lanes::ZERO;
            let count = WIDTH.min(lent.len() - start);
            (0..count).for_each(|lane| block.set(lane, lent.place(start + lane)));
            let gaps = gaps(&block);
            for lane in (0..count).filter(|&lane| gaps[lane] < near) {
                let of = [(start + lane) as u32; 2];
                found.push((Edge { of, along: Vec3::ZERO, points: 0 }, 0.0));
            }
            of_particles.extend_from_slice(&gaps);
        }
        let mut points = Vec::new();
        for span in &lent.interior.patches.spans {
            if is_beyond(span, lent, &of_particles) {
                continue;
            }
            points.resize(span.most as usize, Lanes::ZERO);
            spread(lent, (span, &bulge(span, &lent.interior.maps)), &mut points);
            for (k, block) in (1..).zip(&points) {
                let gaps = gaps(block);
                let lanes = (0..WIDTH).filter(|&lane| k <= span.points[lane] && gaps[lane] < near);
                found.extend(lanes.map(|lane| (span.edge(lane), share(k, span.points[lane]))));
            }
        }
        found
    }
}

/// Whether no point of the edges of a span can be in what their ends are so far outside of: none is farther from an end than half
/// the edge, and as much again where it is bent.
#[inline(always)]
fn is_beyond(span: &Span, lent: &Lent, gaps: &[f32]) -> bool {
    (0..WIDTH).all(|lane| {
        let [i, j] = [span.of[0][lane] as usize, span.of[1][lane] as usize];
        let least = gaps[i].min(gaps[j]);
        let square = (lent.place(j) - lent.place(i)).length_squared();
        let square = square.max(span.along.get(lane).length_squared());
        least > 0.0 && least * least > square
    })
}

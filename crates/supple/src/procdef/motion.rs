//! One tick of a body: predict, match, read off.

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::acceleration::Passes;
use super::environment::Water;
use super::frame::{Placement, SUMMED, Whole};
use super::matching::{Passing, Quad, SHARED_FROM, displacement, quad};
use super::regions::Regions;
use super::rotation::nearest;
use super::{Body, State, Stretches};
use crate::Run;
use crate::contact::{self, Ground, Lent};

/// Length of a tick in seconds.
pub const TICK_SECS: f64 = 1.0 / 120.0;
/// A body whose centre went further than this many sizes from its frame's origin gets a new frame.
const REBASE_WAY: f64 = 1.0;
/// So does one that turned by more than this, in radians.
const REBASE_TURN: f64 = 0.2;
/// Pins further away than this many sizes pull from there.
const FURTHEST_PIN: f64 = 1e6;
/// Newton's steps that restore the volume.
const VOLUME_STEPS: usize = 3;

/// How a body moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Motion {
    /// How often a tick matches all regions: how stiff the body is.
    pub passes: Passes,
    /// How fast what is not rigid motion dies away, per second; 6 by default.
    pub damping: f64,
    /// In metres a second squared; none by default.
    pub gravity: DVec3,
    /// Whether the volume of the whole body is restored in every tick.
    pub keep_volume: bool,
    /// What the body swims in.
    pub water: Option<Water>,
    /// What the body lies on.
    pub ground: Option<Ground>,
}

impl Default for Motion {
    fn default() -> Self {
        Self {
            passes: Passes::default(),
            damping: 6.0,
            gravity: DVec3::ZERO,
            keep_volume: false,
            water: None,
            ground: None,
        }
    }
}

/// A vertex that is held somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pin {
    /// Of the mesh.
    pub vertex: u32,
    /// Where in the world.
    pub to: DVec3,
}

/// What moves a body in a tick.
#[derive(Clone, Copy, Debug)]
pub struct Drive<'a> {
    /// The stretches of the regions at the end of the tick.
    pub stretches: &'a Stretches,
    /// The primary direction of each vertex of the mesh at rest, for friction that depends on it; empty for none.
    pub directions: &'a [Vec3],
    /// Vertices that are held.
    pub pins: &'a [Pin],
}

impl<'a> Drive<'a> {
    /// By stretches alone.
    #[must_use]
    pub fn by(stretches: &'a Stretches) -> Self {
        Self { stretches, directions: &[], pins: &[] }
    }
}

/// What became of a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticked {
    /// Whether the tick could not be taken, because something went beyond all numbers; the state is as it was.
    pub refused: bool,
    /// Vertices on the ground.
    pub touching: usize,
}

/// Memory that ticks work in; it carries nothing from one to the next.
#[derive(Debug, Default)]
pub struct Work {
    pub(super) passing: Passing,
    predicted: Vec<Vec3>,
    /// After a step: those before it.
    pub(super) offsets: Vec<Vec3>,
    velocities: Vec<Vec3>,
    areas: Vec<Vec3>,
    lent: Lent,
}

impl Body {
    /// Moves a body that meets nothing but its ground by one tick of [`TICK_SECS`].
    pub fn tick(
        &self,
        motion: &Motion,
        drive: &Drive<'_>,
        state: &mut State,
        work: &mut Work,
        run: &Run<'_>,
    ) -> Ticked {
        if !self.advance(motion, drive, state, work, run) {
            return Ticked { refused: true, touching: 0 };
        }
        let mut lent = std::mem::take(&mut work.lent);
        lent.clear();
        if let Some(ground) = motion.ground {
            lent.ground = Some(ground);
            self.lend(drive.directions, state, work, &mut lent);
            contact::stand(&mut lent);
        }
        self.finish(motion, state, work, &lent);
        let touching = lent.touches.len();
        work.lent = lent;
        Ticked { refused: false, touching }
    }

    /// The first step of a tick: predict, match, read off. Says whether it was taken; else the state is as it was.
    pub(super) fn advance(
        &self,
        motion: &Motion,
        drive: &Drive<'_>,
        state: &mut State,
        work: &mut Work,
        run: &Run<'_>,
    ) -> bool {
        // What is done once a vertex is shared by threads only where there are many.
        let alone = Run::default();
        let shared = if self.regions.len() < SHARED_FROM { &alone } else { run };
        let mut whole = self.whole(state, shared);
        if self.rebase(state, &whole) {
            whole = self.whole(state, shared);
        }
        let before = state.placement;
        state.placement.translation += TICK_SECS * state.placement.velocity;
        self.predict(motion, &whole, state, work, shared);
        let pins = self.pinned(drive.pins, &state.placement);
        for (region, held) in &pins {
            work.passing.now[*region as usize] = *held;
        }
        let schedule = motion.passes.schedule(self.edge_share);
        work.passing.run(&self.regions, &drive.stretches.blocks, (&schedule, &pins), run);
        self.read_off(motion, (drive, &whole), state, work, shared);
        let finite =
            work.offsets.iter().zip(&work.velocities).all(|(u, v)| u.is_finite() && v.is_finite());
        if !finite || !state.placement.translation.is_finite() {
            state.placement = before;
            return false;
        }
        std::mem::swap(&mut state.offsets, &mut work.offsets);
        std::mem::swap(&mut state.velocities, &mut work.velocities);
        true
    }

    /// The last step of a tick: takes over what contact did, then the water drags.
    pub(super) fn finish(&self, motion: &Motion, state: &mut State, work: &mut Work, lent: &Lent) {
        let rate = (1.0 / TICK_SECS) as f32;
        for (&r, (push, gain)) in self.outside.iter().zip(lent.pushes.iter().zip(&lent.gains)) {
            state.offsets[r as usize] += *push;
            state.velocities[r as usize] += rate * *gain;
        }
        if let Some(water) = &motion.water {
            self.swim(water, state, work);
        }
    }

    fn whole(&self, state: &State, run: &Run<'_>) -> Whole {
        let Regions { masses, rest, .. } = &self.regions;
        Whole::of(masses, rest, (&state.offsets, &state.velocities), run)
    }

    /// Lays the frame anew where the body has moved or turned away from it; says whether it did.
    fn rebase(&self, state: &mut State, whole: &Whole) -> bool {
        // A turn by t makes the antisymmetric part of the fit 2 sin t times its half trace or less.
        let fit = whole.fit;
        let twist = DVec3::new(
            fit.y_axis.z - fit.z_axis.y,
            fit.z_axis.x - fit.x_axis.z,
            fit.x_axis.y - fit.y_axis.x,
        );
        let trace = fit.x_axis.x + fit.y_axis.y + fit.z_axis.z;
        let near = whole.center.length() < REBASE_WAY * self.size;
        if near && twist.length() < REBASE_TURN * trace {
            return false;
        }
        let turn = nearest(fit);
        let back = turn.conjugate();
        let Placement { rotation, translation, velocity } = state.placement;
        state.placement = Placement {
            rotation: (rotation * turn).normalize(),
            translation: translation + rotation * whole.center,
            velocity: velocity + rotation * whole.velocity,
        };
        for (r, rest) in self.regions.rest.iter().enumerate() {
            let x = *rest + state.offsets[r].as_dvec3() - whole.center;
            state.offsets[r] = (back * x - *rest).as_vec3();
            let v = state.velocities[r].as_dvec3() - whole.velocity;
            state.velocities[r] = (back * v).as_vec3();
        }
        true
    }

    /// Damps towards the rigid motion of the whole body, adds forces, and goes on with that velocity.
    fn predict(
        &self,
        motion: &Motion,
        whole: &Whole,
        state: &State,
        work: &mut Work,
        run: &Run<'_>,
    ) {
        let damped = (1.0 - libm::exp(-motion.damping.max(0.0) * TICK_SECS)) as f32;
        let turning = whole.turning(whole.spin).as_vec3();
        let (center, velocity) = (whole.center.as_vec3(), whole.velocity.as_vec3());
        let push = (TICK_SECS * state.placement.local_vector(motion.gravity)).as_vec3();
        let h = TICK_SECS as f32;
        let count = self.regions.len();
        work.passing.resize(count);
        work.predicted.resize(count, Vec3::ZERO);
        work.velocities.clone_from(&state.velocities);
        run.for_each_piece(&mut work.velocities, SUMMED, |start, velocities| {
            for (r, v) in (start..).zip(velocities) {
                if damped > 0.0 {
                    let arm = self.regions.rest[r].as_vec3() + state.offsets[r] - center;
                    *v += damped * (velocity + turning.cross(arm) - *v);
                }
                *v += push;
            }
        });
        let velocities = &work.velocities;
        run.for_each_piece(&mut work.predicted, SUMMED, |start, predicted| {
            for (r, y) in (start..).zip(predicted) {
                *y = state.offsets[r] + h * velocities[r];
            }
        });
        let predicted = &work.predicted;
        run.for_each_piece(&mut work.passing.now, SUMMED, |start, now| {
            for (r, now) in (start..).zip(now) {
                *now = quad(predicted[r]);
            }
        });
    }

    /// The regions that are held, and where.
    fn pinned(&self, pins: &[Pin], placement: &Placement) -> Vec<(u32, Quad)> {
        let held = |pin: &Pin| {
            let region = *self.regions.region_of.get(pin.vertex as usize)?;
            let rest = self.regions.rest.get(region as usize)?;
            let offset = placement.local_point(pin.to) - *rest;
            Some((region, quad(offset.clamp_length_max(FURTHEST_PIN * self.size).as_vec3())))
        };
        pins.iter().filter_map(held).collect()
    }

    /// New offsets and velocities from what the passes did, without the momentum that rounding and later passes add.
    fn read_off(
        &self,
        motion: &Motion,
        (drive, whole): (&Drive<'_>, &Whole),
        state: &State,
        work: &mut Work,
        run: &Run<'_>,
    ) {
        let Work { passing, predicted, offsets, velocities, areas, .. } = work;
        let (now, predicted) = (&passing.now, &*predicted);
        offsets.resize(now.len(), Vec3::ZERO);
        run.for_each_piece(offsets, SUMMED, |start, offsets| {
            for (r, offset) in (start..).zip(offsets) {
                *offset = displacement(&now[r]);
            }
        });
        if motion.keep_volume {
            self.restore_volume(offsets, areas);
        }
        let (mut shift, mut turn) = (Vec3::ZERO, Vec3::ZERO);
        if drive.pins.is_empty() {
            let (linear, angular) = self.momentum(whole, state, (offsets, predicted), run);
            (shift, turn) = (linear.as_vec3(), whole.turning(angular).as_vec3());
        }
        let rate = (1.0 / TICK_SECS) as f32;
        let center = whole.center.as_vec3();
        let correction = |r: usize, offset: Vec3| {
            let arm = self.regions.rest[r].as_vec3() + state.offsets[r] - center;
            offset - predicted[r] - shift - turn.cross(arm)
        };
        let goals: &[Vec3] = offsets;
        run.for_each_piece(velocities, SUMMED, |start, velocities| {
            for (r, v) in (start..).zip(velocities) {
                *v += rate * correction(r, goals[r]);
            }
        });
        run.for_each_piece(offsets, SUMMED, |start, offsets| {
            for (r, offset) in (start..).zip(offsets) {
                *offset = predicted[r] + correction(r, *offset);
            }
        });
    }

    /// `Σ m d` and `Σ m (x − c) × d` of the corrections `d` that the passes made.
    fn momentum(
        &self,
        whole: &Whole,
        state: &State,
        (goals, predicted): (&[Vec3], &[Vec3]),
        run: &Run<'_>,
    ) -> (DVec3, DVec3) {
        let count = self.regions.len();
        let chunks = run.map_tasks(count.div_ceil(SUMMED), |chunk| {
            let (mut sum, mut moment) = (DVec3::ZERO, DVec3::ZERO);
            for r in chunk * SUMMED..((chunk + 1) * SUMMED).min(count) {
                let md = self.regions.masses[r] * (goals[r] - predicted[r]).as_dvec3();
                sum += md;
                moment += (self.regions.rest[r] + state.offsets[r].as_dvec3()).cross(md);
            }
            (sum, moment)
        });
        let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
        for (sum, moment) in chunks {
            linear += sum;
            angular += moment;
        }
        (linear, angular - whole.center.cross(linear))
    }

    /// Moves the surface along its area vectors, as a pressure would, until the body has its volume again.
    fn restore_volume(&self, offsets: &mut [Vec3], areas: &mut Vec<Vec3>) {
        for _ in 0..VOLUME_STEPS {
            self.area_vectors(offsets, areas);
            let at = |r: u32| self.regions.rest[r as usize] + offsets[r as usize].as_dvec3();
            let cone = |[a, b, c]: &[u32; 3]| at(*a).dot(at(*b).cross(at(*c)));
            let volume = self.surface.iter().map(cone).sum::<f64>() / 6.0;
            let gain = |&r: &u32| {
                areas[r as usize].as_dvec3().length_squared() / self.regions.masses[r as usize]
            };
            let gain: f64 = self.outside.iter().map(gain).sum();
            let pressure = (self.volume - volume) / gain;
            if !pressure.is_finite() {
                return;
            }
            for &r in &self.outside {
                let push = pressure / self.regions.masses[r as usize];
                offsets[r as usize] += (push * areas[r as usize].as_dvec3()).as_vec3();
            }
        }
    }

    /// A third of the area vectors of the triangles of each vertex of the surface.
    fn area_vectors(&self, offsets: &[Vec3], areas: &mut Vec<Vec3>) {
        areas.clear();
        areas.resize(self.regions.len(), Vec3::ZERO);
        let at = |r: u32| self.regions.rest[r as usize].as_vec3() + offsets[r as usize];
        for &[a, b, c] in &self.surface {
            let (p, q, r) = (at(a), at(b), at(c));
            let area = (q - p).cross(r - p) / 6.0;
            areas[a as usize] += area;
            areas[b as usize] += area;
            areas[c as usize] += area;
        }
    }

    /// Drag of the water on the surface.
    fn swim(&self, water: &Water, state: &mut State, work: &mut Work) {
        self.area_vectors(&state.offsets, &mut work.areas);
        let placement = &state.placement;
        let glide = placement.local_vector(placement.velocity - water.current.as_dvec3()).as_vec3();
        for &r in &self.outside {
            let r = r as usize;
            let volume = (self.regions.masses[r] * self.volume) as f32;
            let v = state.velocities[r] + glide;
            let dragged = water.dragged(v, work.areas[r], volume, TICK_SECS as f32);
            state.velocities[r] += dragged - v;
        }
    }
}

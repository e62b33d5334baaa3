//! What was learned, played again, to see how much of the motion is there.

use glam::{DMat3, DQuat, DVec3, Vec3};

use super::rotation::nearest;
use super::tissue::{Fields, Played, Tissue};
use super::{Body, Chart, Drive, Motion, Pin, State, Stretches, TICK_SECS, Work};
use crate::Run;

/// Seconds that a body gets going before it is watched.
const WARM_UP_SECS: f64 = 1.5;
/// A vertex that never goes further than this share of the farthest way is held.
const HELD: f32 = 0.02;
/// Fewer still vertices than this hold nothing: a body that pulses in place may have one in its middle.
const FEWEST_HELD: usize = 4;

/// One cycle of a motion that is to be played.
pub(super) struct Wanted {
    /// Where the vertices of the mesh are, by frames.
    frames: Vec<Vec<Vec3>>,
    fps: f64,
    pins: Vec<Pin>,
}

impl Wanted {
    /// The frames of a cycle; vertices that hardly move are held where they rest.
    pub(super) fn new(rest: &[Vec3], frames: Vec<Vec<Vec3>>, fps: f64) -> Self {
        let way = |v: usize| frames.iter().map(|x| x[v].distance(rest[v])).fold(0.0, f32::max);
        let ways: Vec<f32> = (0..rest.len()).map(way).collect();
        let most = ways.iter().copied().fold(0.0, f32::max);
        let held = (0..rest.len()).filter(|&v| ways[v] <= HELD * most);
        let pin = |v: usize| Pin { vertex: v as u32, to: rest[v].as_dvec3() };
        let mut pins: Vec<Pin> = held.map(pin).collect();
        if pins.len() < FEWEST_HELD {
            pins.clear();
        }
        Self { frames, fps, pins }
    }

    /// The vertices that are held.
    pub(super) fn held(&self) -> Vec<u32> {
        self.pins.iter().map(|p| p.vertex).collect()
    }

    /// The same frames as the body plays them.
    pub(super) fn played(
        &self,
        body: &Body,
        (fields, chart): (&Fields, &Chart),
        run: &Run<'_>,
    ) -> Option<Vec<Vec<Vec3>>> {
        let (tissue, chart) = (Tissue::new(body, fields), chart.sampled().ok()?);
        let (mut state, mut work) = (State::at_rest(body), Work::default());
        let mut stretches = Stretches::ones(body);
        // Whole cycles before the first frame, and the ticks in which those go.
        let before = (WARM_UP_SECS / chart.cycle).ceil() * chart.cycle;
        let ticks = ((before + chart.cycle) / TICK_SECS).ceil() as usize;
        let mut frames = Vec::with_capacity(self.frames.len());
        let mut last = body.positions(&state);
        for tick in 1..=ticks {
            let secs = tick as f64 * TICK_SECS - before;
            let played = [Played { chart: &chart, share: 1.0 }];
            tissue.stretch(&played, (&chart, &[]), secs, &mut stretches);
            let drive = Drive { pins: &self.pins, ..Drive::by(&stretches) };
            body.tick(&Motion::default(), &drive, &mut state, &mut work, run);
            // Every frame up to this tick lies between the tick before and this one.
            let mut now = None;
            while frames.len() < self.frames.len() && frames.len() as f64 / self.fps <= secs {
                let now = now.get_or_insert_with(|| body.positions(&state));
                let back = ((secs - frames.len() as f64 / self.fps) / TICK_SECS) as f32;
                let between = |(b, a): (&Vec3, &Vec3)| b.lerp(*a, back.clamp(0.0, 1.0));
                frames.push(now.iter().zip(&last).map(between).collect());
            }
            last = now.unwrap_or_else(|| body.positions(&state));
        }
        // The last frame may be rounded to just after the last tick.
        frames.resize(self.frames.len(), last);
        Some(frames)
    }

    /// The share of the motion that is there: of all ways from the vertices' mean places, squared. Where nothing is held,
    /// every frame is turned and moved to the wanted one first.
    pub(super) fn explained(&self, rest: &[Vec3], played: &[Vec<Vec3>]) -> f64 {
        let free = self.pins.is_empty();
        let fit = |x: &[Vec3], to: &[Vec3]| if free { fitted(x, to) } else { doubles(x) };
        let wanted: Vec<Vec<DVec3>> = self.frames.iter().map(|x| fit(x, rest)).collect();
        let count = wanted.len() as f64;
        let mean = |v: usize| wanted.iter().map(|x| x[v]).sum::<DVec3>() / count;
        let means: Vec<DVec3> = (0..rest.len()).map(mean).collect();
        let (mut all, mut wrong) = (0.0, 0.0);
        for (wanted, played) in wanted.iter().zip(played) {
            let single: Vec<Vec3> = wanted.iter().map(|x| x.as_vec3()).collect();
            for ((x, y), mean) in wanted.iter().zip(fit(played, &single)).zip(&means) {
                all += x.distance_squared(*mean);
                wrong += x.distance_squared(y);
            }
        }
        if all > 0.0 { 1.0 - wrong / all } else { 0.0 }
    }
}

fn doubles(x: &[Vec3]) -> Vec<DVec3> {
    x.iter().map(|p| p.as_dvec3()).collect()
}

/// A shape, moved and turned to where it is nearest to another.
fn fitted(x: &[Vec3], to: &[Vec3]) -> Vec<DVec3> {
    let mean = |x: &[Vec3]| x.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / x.len().max(1) as f64;
    let (a, b) = (mean(x), mean(to));
    let mut moment = DMat3::ZERO;
    for (p, q) in x.iter().zip(to) {
        let (p, q) = (p.as_dvec3() - a, q.as_dvec3() - b);
        moment += DMat3::from_cols(q * p.x, q * p.y, q * p.z);
    }
    let turn: DQuat = nearest(moment);
    x.iter().map(|p| turn * (p.as_dvec3() - a) + b).collect()
}

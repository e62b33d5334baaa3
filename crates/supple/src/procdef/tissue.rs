//! Where and when tissue stretches: directions, amplitude and phase at every vertex, and the stretches they make.
//!
//! # Method
//!
//! ```text
//! ln c_k = A ln chart_k(t − P/v) + Σ_touches D^(−d) (ln chart_k(t − t₀ − d/v) − ln chart_k(0))      T = 1 + Σ (c_k − 1) d_k d_kᵀ
//! ```
//!
//! with amplitude `A`, phase `P`, speed `v`, and for each touch the distance `d` inside the body from the touched place,
//! as a share of the largest. All multiply in the logarithm, so a product `c₁c₂c₃ = 1` stays one.
//!
//! # Where we differ from the paper
//!
//! `T = D diag(c) Dᵀ` as printed is not 1 for `c = 1` unless `D` is orthonormal to the last bit; written about 1 it is. Where
//! two directions are arbitrary in their plane (on the axis of tube layers) their stretches become their geometric mean, so
//! that a round worm stays round. A touch divides by its chart's first value, so that none begins with a jump.

use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

use super::chart::{MOST_STRETCH, Sampled};
use super::orientation::{Alike, Fibers};
use super::wide::{WIDTH, Wide};
use super::{Body, Stretches};

/// Fields over a body, one value a vertex of its mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields {
    /// Directions.
    pub fibers: Vec<Fibers>,
    /// How much of the chart each place does, in `[−1, 1]`.
    pub amplitude: Vec<f32>,
    /// How late each place is, in `[0, 1]`, over the chart's speed.
    pub phase: Vec<f32>,
}

/// Fields in the order of a body's regions.
#[derive(Clone, Debug)]
pub struct Tissue {
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
struct Block {
    directions: [[Wide; 3]; 3],
    amplitude: Wide,
    phase: Wide,
    /// 1 where the first and second direction are alike.
    first_second: Wide,
    /// 1 where the second and third are.
    second_third: Wide,
}

/// A touch that still runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Touch {
    /// When it happened, in seconds.
    pub at_secs: f64,
    /// The damping `D`: how many times weaker the strongest place far away is.
    pub damping: f32,
    /// Distance inside the body of each region, as a share of the largest.
    distances: Vec<f32>,
}

impl Touch {
    /// A touch of a vertex of the mesh.
    #[must_use]
    pub fn new(body: &Body, vertex: usize, at_secs: f64, damping: f32) -> Self {
        let mut distances = body.distances(vertex);
        let most = distances.iter().copied().filter(|d| d.is_finite()).fold(0.0, f32::max);
        let scale = if most > 0.0 { 1.0 / most } else { 0.0 };
        // What does not hang together with the touched place feels nothing.
        distances.iter_mut().for_each(|d| *d = if d.is_finite() { *d * scale } else { 1e6 });
        Self { at_secs, damping: damping.max(1.0), distances }
    }

    /// The distance of each vertex of the mesh from the touched one, as a share of the largest.
    #[must_use]
    pub fn distances(&self, body: &Body) -> Vec<f32> {
        let of = |&r: &u32| self.distances.get(r as usize).copied().unwrap_or(0.0);
        body.regions.region_of.iter().map(of).collect()
    }

    /// Whether it is one of this body.
    pub(super) fn fits(&self, body: &Body) -> bool {
        self.distances.len() == body.regions.len()
    }

    /// Bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of::<f32>() * self.distances.len()
    }

    /// Whether its last place has finished its cycle.
    #[must_use]
    pub fn is_over(&self, chart: &Sampled, secs: f64) -> bool {
        secs > self.at_secs + 1.0 / chart.speed + chart.cycle
    }
}

/// A chart and how much of it counts.
#[derive(Clone, Copy, Debug)]
pub struct Played<'a> {
    /// The chart.
    pub chart: &'a Sampled,
    /// Multiplies its logarithm.
    pub share: f32,
}

impl Tissue {
    /// Fields of a body.
    ///
    /// # Panics
    ///
    /// If a field does not have one value a vertex of the body's mesh.
    #[must_use]
    pub fn new(body: &Body, fields: &Fields) -> Self {
        let count = body.vertex_count();
        let fits = [fields.fibers.len(), fields.amplitude.len(), fields.phase.len()];
        assert_eq!(fits, [count; 3], "one value a vertex");
        let block = Block {
            directions: [[Wide::ZERO; 3]; 3],
            amplitude: Wide::ZERO,
            phase: Wide::ZERO,
            first_second: Wide::ZERO,
            second_third: Wide::ZERO,
        };
        let mut blocks = vec![block; body.regions.len().div_ceil(WIDTH)];
        for (r, &v) in body.regions.vertices.iter().enumerate() {
            let (block, lane, v) = (&mut blocks[r / WIDTH], r % WIDTH, v as usize);
            for (wide, d) in block.directions.iter_mut().zip(fields.fibers[v].directions) {
                for k in 0..3 {
                    wide[k].0[lane] = d[k] as f32;
                }
            }
            block.amplitude.0[lane] = fields.amplitude[v];
            block.phase.0[lane] = fields.phase[v];
            match fields.fibers[v].alike {
                Alike::None => {}
                Alike::FirstSecond => block.first_second.0[lane] = 1.0,
                Alike::SecondThird => block.second_third.0[lane] = 1.0,
            }
        }
        Self { blocks }
    }

    /// The stretches at a time.
    pub fn stretch(
        &self,
        charts: &[Played<'_>],
        touches: (&Sampled, &[Touch]),
        secs: f64,
        out: &mut Stretches,
    ) {
        Arch::new().dispatch(Stretch {
            blocks: &self.blocks,
            charts,
            touches,
            secs,
            out: &mut out.blocks,
        });
    }

    /// The largest logarithm of a stretch at each vertex of the mesh, with its sign: below zero where it contracts.
    #[must_use]
    pub fn contraction(
        &self,
        body: &Body,
        charts: &[Played<'_>],
        touches: (&Sampled, &[Touch]),
        secs: f64,
    ) -> Vec<f32> {
        let starts = Starts::new(charts, secs);
        let logs: Vec<[Wide; 3]> = (0..self.blocks.len())
            .map(|b| logarithms(&self.blocks[b], b, &starts, touches, secs))
            .collect();
        let of =
            |&r: &u32| logs.get(r as usize / WIDTH).map_or(0.0, |l| l[0].0[r as usize % WIDTH]);
        body.regions.region_of.iter().map(of).collect()
    }
}

/// Where each chart's cycle stands for a place of phase 0, and how many cycles a place of phase 1 is late.
struct Starts<'a>(Vec<(&'a Sampled, f32, f32, f32)>);

impl<'a> Starts<'a> {
    fn new(charts: &[Played<'a>], secs: f64) -> Self {
        let start = |played: &Played<'a>| {
            let chart = played.chart;
            let cycles = secs / chart.cycle;
            let share = cycles - cycles.floor();
            (chart, share as f32, (1.0 / (chart.speed * chart.cycle)) as f32, played.share)
        };
        Self(charts.iter().filter(|p| p.share != 0.0).map(start).collect())
    }
}

struct Stretch<'a> {
    blocks: &'a [Block],
    charts: &'a [Played<'a>],
    touches: (&'a Sampled, &'a [Touch]),
    secs: f64,
    out: &'a mut [[Wide; 6]],
}

impl WithSimd for Stretch<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let starts = Starts::new(self.charts, self.secs);
        for (b, (block, out)) in self.blocks.iter().zip(self.out).enumerate() {
            let logs = logarithms(block, b, &starts, self.touches, self.secs);
            let mut strain = [Wide::ZERO; 6];
            for (log, d) in logs.into_iter().zip(&block.directions) {
                let c = beyond_one(log);
                let scaled = [c * d[0], c * d[1], c * d[2]];
                let terms = [
                    scaled[0] * d[0],
                    scaled[0] * d[1],
                    scaled[0] * d[2],
                    scaled[1] * d[1],
                    scaled[1] * d[2],
                    scaled[2] * d[2],
                ];
                for (entry, term) in strain.iter_mut().zip(terms) {
                    *entry = *entry + term;
                }
            }
            *out = strain;
        }
    }
}

/// `ln c_k` of sixteen regions.
#[inline(always)]
fn logarithms(
    block: &Block,
    index: usize,
    starts: &Starts<'_>,
    (chart, touches): (&Sampled, &[Touch]),
    secs: f64,
) -> [Wide; 3] {
    let mut logs = [Wide::ZERO; 3];
    for &(chart, start, late, share) in &starts.0 {
        let mut values = [Wide::ZERO; 3];
        for lane in 0..WIDTH {
            let place = start - late * block.phase.0[lane];
            let sample = chart.at(place - place.floor());
            (0..3).for_each(|k| values[k].0[lane] = sample[k]);
        }
        let amplitude = share * block.amplitude;
        for (log, value) in logs.iter_mut().zip(values) {
            *log = *log + amplitude * value;
        }
    }
    for touch in touches {
        add_touch(touch, chart, index, secs, &mut logs);
    }
    let [first, second, third] = logs;
    let half = Wide::all(0.5);
    let early = 0.5 * (first + second);
    let first = block.first_second.above(half, early, first);
    let second = block.first_second.above(half, early, second);
    let late = 0.5 * (second + third);
    let logs = [
        first,
        block.second_third.above(half, late, second),
        block.second_third.above(half, late, third),
    ];
    let most = MOST_STRETCH.ln() as f32;
    logs.map(|log| log.map(|l| l.clamp(-most, most)))
}

/// What a touch adds to sixteen regions.
#[inline(always)]
fn add_touch(touch: &Touch, chart: &Sampled, index: usize, secs: f64, logs: &mut [Wide; 3]) {
    let since = secs - touch.at_secs;
    let first = chart.at(0.0);
    for lane in 0..WIDTH {
        let Some(&d) = touch.distances.get(index * WIDTH + lane) else { continue };
        let share = (since - f64::from(d) / chart.speed) / chart.cycle;
        if !(0.0..1.0).contains(&share) {
            continue;
        }
        let strength = libm::powf(touch.damping, -d);
        let sample = chart.at(share as f32);
        (0..3).for_each(|k| logs[k].0[lane] += strength * (sample[k] - first[k]));
    }
}

/// `eˣ − 1` for `|x| ≤ ln` [`MOST_STRETCH`]: exactly 0 at 0, within 2e-7.
#[inline(always)]
pub(super) fn beyond_one(x: Wide) -> Wide {
    let y = 0.25 * x;
    let mut sum = Wide::all(1.0 / 5040.0);
    for factor in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0] {
        sum = sum * y + Wide::all(factor);
    }
    let mut e = sum * y;
    for _ in 0..2 {
        e = e * (Wide::all(2.0) + e);
    }
    e
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_one_at_zero_and_right_elsewhere() {
        assert_eq!(beyond_one(Wide::ZERO), Wide::ZERO);
        for k in -138..=138 {
            let x = k as f32 / 100.0;
            let (found, exact) = (f64::from(beyond_one(Wide::all(x)).0[3]), f64::from(x).exp_m1());
            assert!(
                (found - exact).abs() < 5e-7 * (1.0 + exact.abs()),
                "{x}: {found}, not {exact}"
            );
        }
    }
}

//! A seed line and a step for a flow nobody said anything about.
//!
//! Velocity is looked at on a lattice of places over the whole flow, at a few times. The stream runs along the axis with
//! the largest mean; the line stands across it near the side it comes from, along the longer of the other axes. If
//! something stands in the stream, the line runs along its span, a little before it and just below its upper edge, from
//! where smoke passes close over it into its wake. Where there is no stream (a box in which everything turns), the line
//! stands across the fastest place.

use super::seed::BadSeed;
use crate::Run;
use crate::flow::{Flow, Unreadable};

/// Places along each axis that are looked at.
const PLACES: usize = 25;

/// Times that are looked at.
const TIMES: u32 = 3;

/// A mean along the stream below this share of the mean speed is none.
const STREAM: f64 = 0.35;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The ends of a seed line.
    pub seed: [[f64; 3]; 2],
    /// Mean velocity.
    pub mean: [f64; 3],
    /// Mean speed.
    pub speed: f64,
}

/// Why there is no choice.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing moves anywhere.
    #[error(
        "nothing moves in this flow at the places and times looked at; give a seed line with --seed"
    )]
    Still,
    /// A level could not be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The line has no length.
    #[error(transparent)]
    Seed(#[from] BadSeed),
}

struct Look {
    place: [f64; 3],
    /// Mean over the times; the fourth is the share of fluid.
    velocity: [f64; 4],
}

/// A seed line across the stream.
///
/// # Errors
///
/// [`Error`] if nothing moves, or a level cannot be read.
pub fn seed(flow: &Flow, run: &Run<'_>) -> Result<Choice, Error> {
    let [low, high] = flow.bounds();
    let looks = looks(flow, [low, high], run)?;
    let fluid: f64 = looks.iter().map(|look| look.velocity[3]).sum();
    let speed_of = |look: &Look| look.velocity[..3].iter().map(|c| c * c).sum::<f64>().sqrt();
    let speed = looks.iter().map(speed_of).sum::<f64>() / fluid.max(1e-9);
    if fluid <= 0.0 || speed <= 0.0 {
        return Err(Error::Still);
    }
    let mean = [0, 1, 2].map(|c| looks.iter().map(|l| l.velocity[c]).sum::<f64>() / fluid);
    let stream = (0..3).fold(0, |most, a| if mean[a].abs() > mean[most].abs() { a } else { most });
    let extent = [0, 1, 2].map(|a| high[a] - low[a]);
    if mean[stream].abs() < STREAM * speed {
        // Rather in the middle than at a wall.
        let score = |look: &Look| {
            let off = |a: usize| (look.place[a] - 0.5 * (low[a] + high[a])) / extent[a].max(1e-300);
            let within = |a: usize| if extent[a] > 0.0 { 1.0 - 4.0 * off(a) * off(a) } else { 1.0 };
            speed_of(look) * within(0) * within(1) * within(2)
        };
        let fastest = looks.iter().max_by(|a, b| score(a).total_cmp(&score(b)));
        let fastest = fastest.ok_or(Error::Still)?;
        return Ok(Choice { seed: across(fastest, extent, [low, high]), mean, speed });
    }
    let along = Stream { axis: stream, forward: mean[stream] > 0.0 };
    if let Some(seed) = before_obstacle(&looks, along, [low, high]) {
        return Ok(Choice { seed, mean, speed });
    }
    // The longer of the others; of equals the last, which is the span of most wakes.
    let line = (0..3)
        .filter(|&a| a != stream)
        .fold(stream, |best, a| if best == stream || extent[a] >= extent[best] { a } else { best });
    let mut ends = [[0, 1, 2].map(|a| 0.5 * (low[a] + high[a])); 2];
    let inset = 0.06 * extent[stream];
    let inflow = if mean[stream] > 0.0 { low[stream] + inset } else { high[stream] - inset };
    for (end, share) in ends.iter_mut().zip([0.1, 0.9]) {
        end[stream] = inflow;
        end[line] = low[line] + share * extent[line];
    }
    Ok(Choice { seed: ends, mean, speed })
}

/// Where the stream runs.
#[derive(Clone, Copy)]
struct Stream {
    axis: usize,
    forward: bool,
}

/// A line before what stands in the stream, along its span; `None` if nothing does.
fn before_obstacle(
    looks: &[Look],
    stream: Stream,
    [low, high]: [[f64; 3]; 2],
) -> Option<[[f64; 3]; 2]> {
    let extent = [0, 1, 2].map(|a| high[a] - low[a]);
    let cell = extent.map(|e| e / PLACES as f64);
    // Not the floor, nor the ends: what touches a side all along is no obstacle.
    let is_inner = |p: &[f64; 3]| {
        (0..3).all(|a| extent[a] <= 0.0 || (p[a] - low[a] > cell[a] && high[a] - p[a] > cell[a]))
    };
    let solid = || looks.iter().filter(|look| look.velocity[3] <= 0.0 && is_inner(&look.place));
    let count = solid().count();
    if count == 0 || 5 * count > looks.len() {
        return None;
    }
    let ends = |a: usize| {
        let of =
            |least: f64, pick: fn(f64, f64) -> f64| solid().map(|l| l.place[a]).fold(least, pick);
        [
            of(f64::INFINITY, f64::min) - 0.5 * cell[a],
            of(f64::NEG_INFINITY, f64::max) + 0.5 * cell[a],
        ]
    };
    let box_of = [ends(0), ends(1), ends(2)];
    let share = |a: usize| (box_of[a][1] - box_of[a][0]) / extent[a].max(1e-300);
    let others: Vec<usize> = (0..3).filter(|&a| a != stream.axis && extent[a] > 0.0).collect();
    let &[first, second] = &others[..] else { return None };
    let (span, up) = if share(first) > share(second) { (first, second) } else { (second, first) };
    let [front, back] = box_of[stream.axis];
    let ahead = 0.25 * (back - front);
    let mut line = [[0.0; 3]; 2];
    let overhang = 0.15 * (box_of[span][1] - box_of[span][0]);
    let reach = [
        (box_of[span][0] - overhang).max(low[span] + 0.02 * extent[span]),
        (box_of[span][1] + overhang).min(high[span] - 0.02 * extent[span]),
    ];
    for (end, at) in line.iter_mut().zip(reach) {
        end[stream.axis] = if stream.forward { front - ahead } else { back + ahead };
        end[up] = box_of[up][1] - 0.2 * (box_of[up][1] - box_of[up][0]);
        end[span] = at;
    }
    Some(line)
}

fn looks(flow: &Flow, [low, high]: [[f64; 3]; 2], run: &Run<'_>) -> Result<Vec<Look>, Error> {
    let count = [0, 1, 2].map(|a| if high[a] > low[a] { PLACES } else { 1 });
    let place = |i: usize| {
        let at = [i % count[0], i / count[0] % count[1], i / (count[0] * count[1])];
        [0, 1, 2].map(|a| low[a] + (high[a] - low[a]) * (at[a] as f64 + 0.5) / count[a] as f64)
    };
    let places: Vec<[f64; 3]> = (0..count.iter().product()).map(place).collect();
    let mut looks: Vec<Look> =
        places.iter().map(|&place| Look { place, velocity: [0.0; 4] }).collect();
    let [from, to] = flow.span().unwrap_or([0.0, 1.0]);
    for k in 0..TIMES {
        let t = from + (to - from) * f64::from(k) / f64::from(TIMES - 1);
        let velocities = match flow.velocities(&places, t, run) {
            Ok(velocities) => velocities,
            // A record that breaks off is looked at up to there.
            Err(_) if k > 0 && !run.is_cancelled() => continue,
            Err(error) => return Err(error.into()),
        };
        for (look, v) in looks.iter_mut().zip(velocities) {
            if v[3] > 0.5 {
                look.velocity = [0, 1, 2, 3].map(|c| look.velocity[c] + v[c] / f64::from(TIMES));
            }
        }
    }
    Ok(looks)
}

/// A line through the fastest place, along the axis the flow there runs along least.
fn across(at: &Look, extent: [f64; 3], [low, high]: [[f64; 3]; 2]) -> [[f64; 3]; 2] {
    let least = (0..3)
        .filter(|&a| extent[a] > 0.0)
        .min_by(|&a, &b| at.velocity[a].abs().total_cmp(&at.velocity[b].abs()))
        .unwrap_or(0);
    let reach = 0.3 * extent[least];
    let mut ends = [at.place; 2];
    ends[0][least] = (at.place[least] - reach).max(low[least] + 0.02 * extent[least]);
    ends[1][least] = (at.place[least] + reach).min(high[least] - 0.02 * extent[least]);
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::analytic::Analytic;

    #[test]
    fn the_line_stands_across_the_stream_near_its_inflow() {
        let run = Run::default();
        let wake = seed(&Flow::Analytic(Analytic::Wake), &run).unwrap();
        // A cylinder of diameter 1 along z stands in a stream along x.
        assert!(wake.mean[0] > 0.5 && (-1.2..-0.5).contains(&wake.seed[0][0]), "{wake:?}");
        assert!((0.1..0.5).contains(&wake.seed[0][1]), "{wake:?}");
        assert!(wake.seed[0][2] < 0.5 && wake.seed[1][2] > 3.5, "{wake:?}");
        let hill = seed(&Flow::Analytic(Analytic::Hill), &run).unwrap();
        // Nothing solid: along the last of two equal sides, near the inflow.
        assert!(
            hill.seed[0][0] < -2.0 && hill.seed[0][2] < -1.0 && hill.seed[1][2] > 1.0,
            "{hill:?}"
        );
    }

    #[test]
    fn where_there_is_no_stream_the_line_crosses_the_fastest_place() {
        let gyre = seed(&Flow::Analytic(Analytic::Gyre), &Run::default()).unwrap();
        // Nothing moves along z: the line stands upright.
        assert!(gyre.seed[0][2] < 0.5 && gyre.seed[1][2] > 0.5, "{gyre:?}");
        assert_eq!(gyre.seed[0][..2], gyre.seed[1][..2]);
    }
}

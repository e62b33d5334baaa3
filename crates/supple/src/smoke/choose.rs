//! A seed line and a step for a flow nobody said anything about.
//!
//! Velocity is looked at on a lattice of places over the whole flow, at a few times. The stream runs along the axis with
//! the largest mean; the line stands across it near the side it comes from, along the longer of the other axes. If
//! something stands in the stream, the line runs along its span, a little before it and just below its upper edge, from
//! where smoke passes close over it into its wake. Where there is no stream (a box in which everything turns), the line
//! stands across the fastest place.
//!
//! A flow in a plane, an ocean at its surface, and any flow in which such a line would lie in still water or over land, is
//! searched: of all runs of neighbouring places with fluid that moves to one side of them, the one is taken through which most
//! flows, the sooner the more of the flow lies downstream.

use super::seed::BadSeed;
use crate::Run;
use crate::flow::{Flow, Unreadable};

/// Places along each axis that are looked at; in a plane.
const PLACES: usize = 25;
const IN_PLANE: usize = 49;

/// How deep below the surface of an ocean smoke is released: a share of its depth, and metres.
const DEEP: f64 = 0.02;
const DEEP_METRES: f64 = 5.0;

/// Of a line, the share that must lie in fluid that moves.
const MOVES: f64 = 0.6;

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

impl Look {
    fn speed(&self) -> f64 {
        self.velocity[..3].iter().map(|c| c * c).sum::<f64>().sqrt()
    }
}

/// Places of a lattice, x fastest.
struct Looks {
    all: Vec<Look>,
    count: [usize; 3],
}

/// A seed line across the stream.
///
/// # Errors
///
/// [`Error`] if nothing moves, or a level cannot be read.
pub fn seed(flow: &Flow, run: &Run<'_>) -> Result<Choice, Error> {
    let bounds @ [low, high] = looked_at(flow);
    let looks = Looks::new(flow, bounds, run)?;
    let fluid: f64 = looks.all.iter().map(|look| look.velocity[3]).sum();
    let speed = looks.all.iter().map(Look::speed).sum::<f64>() / fluid.max(1e-9);
    if fluid <= 0.0 || speed <= 0.0 {
        return Err(Error::Still);
    }
    let mean = [0, 1, 2].map(|c| looks.all.iter().map(|l| l.velocity[c]).sum::<f64>() / fluid);
    let stream = (0..3).fold(0, |most, a| if mean[a].abs() > mean[most].abs() { a } else { most });
    let extent = [0, 1, 2].map(|a| high[a] - low[a]);
    let has_stream = mean[stream].abs() >= STREAM * speed;
    let along = Stream { axis: stream, forward: mean[stream] > 0.0 };
    let is_plane = extent.iter().filter(|e| **e > 0.0).count() < 3;
    let seed = if is_plane {
        None
    } else if has_stream {
        let before = before_obstacle(&looks.all, along, bounds);
        Some(before.unwrap_or_else(|| at_inflow(along, extent, bounds)))
    } else {
        Some(across_fastest(&looks.all, extent, bounds)?)
    };
    let found = match seed {
        Some(seed) if moves(flow, &seed, speed, run)? => seed,
        other => {
            let best = looks.strongest(has_stream.then_some(along));
            best.or(other).ok_or(Error::Still)?
        }
    };
    Ok(Choice { seed: found, mean, speed })
}

/// The box that is looked at: of a thin slab its middle, of an ocean its surface.
fn looked_at(flow: &Flow) -> [[f64; 3]; 2] {
    let [mut low, mut high] = flow.bounds();
    if flow.is_on_sphere() {
        let under = (DEEP * (high[2] - low[2])).min(DEEP_METRES);
        (low[2], high[2]) = (high[2] - under, high[2] - under);
    } else if flow.is_flat() {
        let middle = 0.5 * (low[2] + high[2]);
        (low[2], high[2]) = (middle, middle);
    }
    [low, high]
}

/// Whether enough of a line lies in fluid that moves.
fn moves(flow: &Flow, [a, b]: &[[f64; 3]; 2], speed: f64, run: &Run<'_>) -> Result<bool, Error> {
    const PLACES: u32 = 33;
    let place = |k: u32| {
        let s = f64::from(k) / f64::from(PLACES - 1);
        [0, 1, 2].map(|c| a[c] + s * (b[c] - a[c]))
    };
    let places: Vec<[f64; 3]> = (0..PLACES).map(place).collect();
    let is_moving = |v: &&[f64; 4]| {
        v[3] > 0.5 && v[..3].iter().map(|c| c * c).sum::<f64>().sqrt() > 0.02 * speed
    };
    let enough = |t: f64| -> Result<bool, Error> {
        let velocities = flow.velocities(&places, t, run)?;
        Ok(velocities.iter().filter(is_moving).count() as f64 >= MOVES * f64::from(PLACES))
    };
    let [first, last] = flow.span().unwrap_or([0.0; 2]);
    // Many records start from rest: then their last level says what moves, unless the record breaks off before.
    Ok(enough(first)?
        || enough(last).or_else(|e| if run.is_cancelled() { Err(e) } else { Ok(false) })?)
}

/// A line across the stream near where it comes in.
fn at_inflow(stream: Stream, extent: [f64; 3], [low, high]: [[f64; 3]; 2]) -> [[f64; 3]; 2] {
    let Stream { axis, forward } = stream;
    // The longer of the others; of equals the last, which is the span of most wakes.
    let line = (0..3)
        .filter(|&a| a != axis)
        .fold(axis, |best, a| if best == axis || extent[a] >= extent[best] { a } else { best });
    let mut ends = [[0, 1, 2].map(|a| 0.5 * (low[a] + high[a])); 2];
    let inset = 0.06 * extent[axis];
    for (end, share) in ends.iter_mut().zip([0.1, 0.9]) {
        end[axis] = if forward { low[axis] + inset } else { high[axis] - inset };
        end[line] = low[line] + share * extent[line];
    }
    ends
}

/// A line across the fastest place, rather in the middle than at a wall.
fn across_fastest(
    looks: &[Look],
    extent: [f64; 3],
    [low, high]: [[f64; 3]; 2],
) -> Result<[[f64; 3]; 2], Error> {
    let score = |look: &Look| {
        let off = |a: usize| (look.place[a] - 0.5 * (low[a] + high[a])) / extent[a].max(1e-300);
        let within = |a: usize| if extent[a] > 0.0 { 1.0 - 4.0 * off(a) * off(a) } else { 1.0 };
        look.speed() * within(0) * within(1) * within(2)
    };
    let fastest = looks.iter().max_by(|a, b| score(a).total_cmp(&score(b)));
    Ok(across(fastest.ok_or(Error::Still)?, extent, [low, high]))
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

impl Looks {
    fn new(flow: &Flow, [low, high]: [[f64; 3]; 2], run: &Run<'_>) -> Result<Self, Error> {
        let is_plane = (0..3).any(|a| high[a] <= low[a]);
        let along = if is_plane { IN_PLANE } else { PLACES };
        let count = [0, 1, 2].map(|a| if high[a] > low[a] { along } else { 1 });
        let place = |i: usize| {
            let at = [i % count[0], i / count[0] % count[1], i / (count[0] * count[1])];
            [0, 1, 2].map(|a| low[a] + (high[a] - low[a]) * (at[a] as f64 + 0.5) / count[a] as f64)
        };
        let places: Vec<[f64; 3]> = (0..count.iter().product()).map(place).collect();
        let mut all: Vec<Look> =
            places.iter().map(|&place| Look { place, velocity: [0.0; 4] }).collect();
        let [from, to] = flow.span().unwrap_or([0.0, 1.0]);
        let mut read = 0;
        for k in 0..TIMES {
            let t = from + (to - from) * f64::from(k) / f64::from(TIMES - 1);
            let velocities = match flow.velocities(&places, t, run) {
                Ok(velocities) => velocities,
                // A record that breaks off is looked at up to there.
                Err(_) if k > 0 && !run.is_cancelled() => continue,
                Err(error) => return Err(error.into()),
            };
            read += 1;
            for (look, v) in all.iter_mut().zip(velocities) {
                if v[3] > 0.5 {
                    look.velocity = [0, 1, 2, 3].map(|c| look.velocity[c] + v[c]);
                }
            }
        }
        all.iter_mut().for_each(|look| look.velocity = look.velocity.map(|c| c / f64::from(read)));
        Ok(Self { all, count })
    }

    /// The line through which most flows to one side, where most of the flow lies ahead of it; along the stream, if
    /// there is one.
    fn strongest(&self, stream: Option<Stream>) -> Option<[[f64; 3]; 2]> {
        let ways = (0..3).flat_map(|axis| (0..3).map(move |line| [axis, line]));
        let is_way = |[axis, line]: &[usize; 2]| {
            axis != line
                && self.count[*axis] > 1
                && self.count[*line] > 1
                && stream.is_none_or(|s| s.axis == *axis)
        };
        let rows = ways.filter(is_way).flat_map(|[axis, line]| {
            let rows = self.count[axis] * self.count[3 - axis - line];
            (0..rows).map(move |row| ([axis, line], row))
        });
        let lines = rows.flat_map(|(way, row)| self.lines(way, row, stream));
        // Of equals the first.
        let best = lines.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map(|(_, ends)| ends)
    }

    /// The lines in one of the rows across an axis, with how good they are.
    fn lines(
        &self,
        [axis, line]: [usize; 2],
        row: usize,
        stream: Option<Stream>,
    ) -> Vec<(f64, [[f64; 3]; 2])> {
        let strides = [1, self.count[0], self.count[0] * self.count[1]];
        let third = 3 - axis - line;
        let (i, k) = (row % self.count[axis], row / self.count[axis]);
        let start = i * strides[axis] + k * strides[third];
        let row: Vec<&Look> =
            (0..self.count[line]).map(|j| &self.all[start + j * strides[line]]).collect();
        // Neither at the very edge along the stream, nor far from the middle across it.
        let from_start = (i as f64 + 0.5) / self.count[axis] as f64;
        let off = (k as f64 + 0.5) / self.count[third] as f64 - 0.5;
        if !(0.04..0.96).contains(&from_start) {
            return Vec::new();
        }
        let is_with = |(flux, _): &(f64, _)| stream.is_none_or(|s| s.forward == (*flux > 0.0));
        let scored = |(flux, ends): (f64, [[f64; 3]; 2])| {
            let ahead = if flux > 0.0 { 1.0 - from_start } else { from_start };
            let ahead = if stream.is_some() { 0.2 + ahead } else { 0.6 + ahead };
            (flux.abs() * ahead * (1.0 - 3.0 * off * off), inset(ends, line, &row))
        };
        runs(&row, axis).into_iter().filter(is_with).map(scored).collect()
    }
}

/// Runs of a row with fluid that moves to one side of it: what flows through, and their ends.
fn runs(row: &[&Look], axis: usize) -> Vec<(f64, [[f64; 3]; 2])> {
    let side = |look: &Look| {
        if look.velocity[3] < 0.99 || look.velocity[axis] == 0.0 {
            return 0.0;
        }
        look.velocity[axis].signum()
    };
    let mut found = Vec::new();
    for run in row.chunk_by(|a, b| side(a) == side(b)) {
        if side(run[0]) != 0.0 && run.len() > 2 {
            let flux = run.iter().map(|look| look.velocity[axis]).sum();
            found.push((flux, [run[0].place, run[run.len() - 1].place]));
        }
    }
    found
}

/// A line that reaches from one side of the flow to the other is drawn in a little.
fn inset([mut a, mut b]: [[f64; 3]; 2], line: usize, row: &[&Look]) -> [[f64; 3]; 2] {
    let [low, high] = [row[0].place[line], row[row.len() - 1].place[line]];
    if b[line] - a[line] > 0.9 * (high - low) {
        let width = high - low;
        (a[line], b[line]) = (low + 0.03 * width, high - 0.03 * width);
    }
    [a, b]
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

    /// A row of places in a plane, with some land.
    fn plane(velocity: impl Fn(usize, usize) -> [f64; 2]) -> Looks {
        const N: usize = 20;
        let look = |at: usize| {
            let (i, j) = (at % N, at / N);
            let [u, v] = velocity(i, j);
            let fluid = if u.is_nan() { [0.0; 4] } else { [u, v, 0.0, 1.0] };
            Look { place: [i as f64, j as f64, -1.0], velocity: fluid }
        };
        Looks { all: (0..N * N).map(look).collect(), count: [N, N, 1] }
    }

    #[test]
    fn in_a_plane_the_strongest_stream_off_the_land_is_crossed() {
        // A sea between two coasts that narrows; a current to the east in its northern half, a weak one back.
        let sea = plane(|i, j| match j {
            0..4 | 17.. => [f64::NAN; 2],
            10.. if i < 15 => [1.0, 0.1],
            _ => [-0.1, 0.0],
        });
        let [a, b] = sea.strongest(None).expect("a current");
        assert_eq!((a[0], b[0]), (a[0], a[0]), "across the current");
        assert_eq!([a[1], b[1]], [10.0, 16.0], "all of it, off the land");
        assert_eq!([a[2], b[2]], [-1.0; 2]);
        let stream = Stream { axis: 0, forward: true };
        let [a, _] = sea.strongest(Some(stream)).expect("a current");
        assert!(a[0] < 2.0, "near its inflow: {a:?}");
        assert!(plane(|_, _| [f64::NAN; 2]).strongest(None).is_none());
    }
}

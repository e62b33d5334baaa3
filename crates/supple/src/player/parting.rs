//! Segments of one body that cross, taken apart as far as it takes and no farther.
//!
//! Whether two segments meet is found by their hulls. A hull fills what a palm leaves hollow, so what counts
//! in the end is the skin: a pair is left alone unless its triangles cross, and of the way that takes the
//! hulls apart only the share is gone that leaves none crossing, found by bisection. What would not leave
//! fewer of them, would change the volume of the body too much, or would carry any of it much farther than
//! the two are taken apart, is not done.

use glam::Vec3;

use crate::Run;
use crate::mesh::intersect::self_intersections;
use crate::mesh::volume::volume;
use crate::rig::Body;
use crate::rig::contact::{Obstacle, Parting, Report, Segments, part};

/// Segments are not taken apart if that changes the body's volume by more, all pairs together.
const MOST_SWELLING: f64 = 0.01;

/// Nothing may move farther than this many times as far as both segments together are pushed.
const FARTHEST: f32 = 1.0;

/// How often the share of the way is halved.
const HALVINGS: u32 = 4;

/// A triangle of no segment.
const NOBODY: u32 = u32::MAX;

/// The triangles of a body and the segments they belong to.
#[derive(Debug, Default)]
pub(super) struct Skin {
    triangles: Vec<[u32; 3]>,
    segments: Vec<u32>,
}

/// The skin of two segments.
struct Pair {
    triangles: Vec<[u32; 3]>,
    /// How many of them are those of the first.
    first: usize,
}

/// Pairs of triangles that cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Crossings {
    all: usize,
    /// Of the first segment with the second.
    between: usize,
}

/// What is tried: the body with the segments apart, and what is left.
struct Trial {
    positions: Vec<Vec3>,
    crossings: Crossings,
    report: Report,
}

/// Two segments that their hulls say are in each other.
pub(super) struct Meeting<'a> {
    pub(super) segments: [usize; 2],
    /// How far the hulls are in each other.
    pub(super) depth: f32,
    /// What each must not enter, if only a share of the way from where it is to apart is gone.
    pub(super) sides: &'a dyn Fn(f32) -> [Obstacle<'a>; 2],
}

/// Segments that stay in each other.
pub(super) struct Unparted;

impl Skin {
    pub(super) fn new(body: &Body, segments: &Segments) -> Self {
        let mut of_joint = vec![NOBODY; body.joints.len()];
        for (number, segment) in (0..).zip(&segments.all) {
            of_joint[segment.joint] = number;
        }
        let weights = body.weights();
        let segment = |triangle: &[u32; 3]| {
            let rows = triangle.iter().flat_map(|&v| weights.of(v as usize));
            let strongest = rows.fold((0, 0.0), |most, (joint, weight)| {
                if weight > most.1 { (usize::from(joint), weight) } else { most }
            });
            if strongest.1 > 0.0 { of_joint[strongest.0] } else { NOBODY }
        };
        let triangles = body.mesh.triangles.clone();
        Self { segments: triangles.iter().map(segment).collect(), triangles }
    }

    /// The signed volume of the body.
    pub(super) fn volume(&self, positions: &[Vec3], run: &Run<'_>) -> f64 {
        volume(positions, &self.triangles, run)
    }

    /// Takes two segments apart. The body's volume was `whole` before any were.
    pub(super) fn part(
        &self,
        positions: &mut [Vec3],
        segments: &Segments,
        meeting: &Meeting<'_>,
        (softness, whole): (f32, f64),
        run: &Run<'_>,
    ) -> Result<Report, Unparted> {
        let pair = self.pair(meeting.segments);
        let before = pair.crossings(positions, run);
        if before.between == 0 {
            return Ok(Report::default());
        }
        let attempt = |share: f32| {
            let parting = Parting { segments: meeting.segments, sides: (meeting.sides)(share) };
            let mut moved = positions.to_vec();
            let report = part(&mut moved, segments, &parting, softness, run)?;
            let swelling = self.volume(&moved, run) - whole;
            let crossings = pair.crossings(&moved, run);
            let ways = moved.iter().zip(&*positions).map(|(to, from)| to.distance(*from));
            let is_good = crossings.all < before.all
                && swelling.abs() <= MOST_SWELLING * whole.abs()
                && ways.fold(0.0, f32::max) <= FARTHEST * share * meeting.depth;
            is_good.then_some(Trial { positions: moved, crossings, report })
        };
        let best = least_way(attempt).ok_or(Unparted)?;
        positions.copy_from_slice(&best.positions);
        Ok(best.report)
    }

    fn pair(&self, [first, second]: [usize; 2]) -> Pair {
        let of = |segment: usize| {
            let all = self.triangles.iter().zip(&self.segments);
            all.filter(move |(_, s)| **s as usize == segment).map(|(triangle, _)| *triangle)
        };
        let mut triangles: Vec<[u32; 3]> = of(first).collect();
        let count = triangles.len();
        triangles.extend(of(second));
        Pair { triangles, first: count }
    }
}

/// The trial with the fewest crossings between the segments and, of those without any, the one that goes
/// the smallest share of the way.
fn least_way(attempt: impl Fn(f32) -> Option<Trial>) -> Option<Trial> {
    let (mut from, mut to) = (0.0, 1.0);
    let mut best = attempt(to);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (from + to);
        let trial = attempt(middle);
        let is_apart = |t: &Option<Trial>| t.as_ref().is_some_and(|t| t.crossings.between == 0);
        match (is_apart(&best), is_apart(&trial)) {
            // Too far altogether, or not needed so far.
            (false, true) | (true, true) => (best, to) = (trial, middle),
            (true, false) => from = middle,
            (false, false) => {
                let left =
                    |t: &Option<Trial>| t.as_ref().map_or(usize::MAX, |t| t.crossings.between);
                if best.is_none() {
                    to = middle;
                } else {
                    from = middle;
                }
                if left(&trial) < left(&best) {
                    best = trial;
                }
            }
        }
    }
    best
}

impl Pair {
    fn crossings(&self, positions: &[Vec3], run: &Run<'_>) -> Crossings {
        // Someone who does not want to wait is told so by whoever asked for the frame.
        let pairs = self_intersections(positions, &self.triangles, run).unwrap_or_default();
        let is_first = |t: u32| (t as usize) < self.first;
        let between = pairs.iter().filter(|[t, u]| is_first(*t) != is_first(*u)).count();
        Crossings { all: pairs.len(), between }
    }
}

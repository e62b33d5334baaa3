//! Segments of one body that cross, taken apart where they do and no farther than it takes.
//!
//! Whether two segments may meet is found by their hulls. A hull fills what a palm leaves hollow, so what
//! counts in the end is the skin: a pair is left alone unless triangles of the one cross triangles of the
//! other. They cross along a ring; the plane through its middle, as far around as the ring reaches, is what
//! neither may pass. What would not leave fewer triangles crossing, would change the volume of the body too
//! much, or would carry any of it about as far as the ring reaches, is not done.

use glam::Vec3;

use crate::Run;
use crate::contact::flesh::{Meet, Parting, Report, Segments, part};
use crate::mesh::intersect::self_intersections;
use crate::mesh::volume::volume;
use crate::rig::Body;

/// Segments are not taken apart if that changes the body's volume by more, all pairs together.
const MOST_SWELLING: f64 = 0.01;

/// Nothing may move farther than this many times as far as the ring reaches.
const FARTHEST: f32 = 0.7;

/// A triangle of no segment.
const NOBODY: u32 = u32::MAX;

/// The triangles of a body and the segments they belong to.
#[derive(Debug, Default)]
pub(crate) struct Skin {
    triangles: Vec<[u32; 3]>,
    segments: Vec<u32>,
}

/// The skin of two segments.
struct Pair {
    triangles: Vec<[u32; 3]>,
    /// How many of them are those of the first.
    first: usize,
}

/// Where the skins of two segments cross.
pub(crate) struct Crossing {
    pair: Pair,
    /// How many triangles cross, those of one segment among themselves too.
    count: usize,
    /// The plane through the middle of the ring.
    pub(crate) ring: Meet,
}

/// Segments that stay in each other.
pub(crate) struct Unparted;

impl Skin {
    pub(crate) fn new(body: &Body, segments: &Segments) -> Self {
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
    pub(crate) fn volume(&self, positions: &[Vec3], run: &Run<'_>) -> f64 {
        volume(positions, &self.triangles, run)
    }

    /// Where two segments of one body cross whose hulls are in each other; `None` if they do not.
    pub(crate) fn crossing(
        &self,
        meet: &Meet,
        positions: &[Vec3],
        run: &Run<'_>,
    ) -> Option<Crossing> {
        let pair = self.pair([meet.above[1], meet.below[1]]);
        let crossing = pair.crossings(positions, run);
        let [mut above, mut below] = [Vec::new(), Vec::new()];
        for &[t, u] in crossing.iter().filter(|[t, u]| pair.is_first(*t) != pair.is_first(*u)) {
            // The triangles of the first come first.
            above.push(pair.triangles[t as usize].map(|v| positions[v as usize]));
            below.push(pair.triangles[u as usize].map(|v| positions[v as usize]));
        }
        let corners = || above.iter().chain(&below).flatten();
        let middle = |triangles: &[[Vec3; 3]]| {
            triangles.iter().flatten().sum::<Vec3>() / (3 * triangles.len()).max(1) as f32
        };
        let point = 0.5 * (middle(&above) + middle(&below));
        let normal = (facing(&below) - facing(&above)).normalize_or(meet.normal);
        let far = |x: &Vec3| (*x - point).reject_from(normal).length();
        let radius = corners().map(far).fold(0.0, f32::max);
        let ring = Meet { normal, point, radius, depth: radius, ..*meet };
        let count = crossing.len();
        (radius > 0.0).then_some(Crossing { pair, count, ring })
    }

    /// Takes two segments apart. The body's volume was `whole` before any were.
    pub(crate) fn part(
        &self,
        positions: &mut [Vec3],
        segments: &Segments,
        (crossing, parting): (&Crossing, &Parting<'_>),
        (softness, whole): (f32, f64),
        run: &Run<'_>,
    ) -> Result<Report, Unparted> {
        let mut moved = positions.to_vec();
        let report = part(&mut moved, segments, parting, softness, run).ok_or(Unparted)?;
        let swelling = self.volume(&moved, run) - whole;
        let ways = moved.iter().zip(&*positions).map(|(to, from)| to.distance(*from));
        let is_good = crossing.pair.crossings(&moved, run).len() < crossing.count
            && swelling.abs() <= MOST_SWELLING * whole.abs()
            && ways.fold(0.0, f32::max) <= FARTHEST * crossing.ring.radius;
        if !is_good {
            return Err(Unparted);
        }
        positions.copy_from_slice(&moved);
        Ok(report)
    }

    fn pair(&self, [first, second]: [u32; 2]) -> Pair {
        let of = |segment: u32| {
            let all = self.triangles.iter().zip(&self.segments);
            all.filter(move |(_, s)| **s == segment).map(|(triangle, _)| *triangle)
        };
        let mut triangles: Vec<[u32; 3]> = of(first).collect();
        let count = triangles.len();
        triangles.extend(of(second));
        Pair { triangles, first: count }
    }
}

/// Where triangles face, on the whole: a vector of at most unit length.
fn facing(triangles: &[[Vec3; 3]]) -> Vec3 {
    let area = |[a, b, c]: &[Vec3; 3]| (*b - *a).cross(*c - *a);
    let all: f32 = triangles.iter().map(|t| area(t).length()).sum();
    triangles.iter().map(area).sum::<Vec3>() / all.max(f32::MIN_POSITIVE)
}

impl Pair {
    fn is_first(&self, triangle: u32) -> bool {
        (triangle as usize) < self.first
    }

    fn crossings(&self, positions: &[Vec3], run: &Run<'_>) -> Vec<[u32; 2]> {
        // Someone who does not want to wait is told so by whoever asked for the frame.
        self_intersections(positions, &self.triangles, run).unwrap_or_default()
    }
}

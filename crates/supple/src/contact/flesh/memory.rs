//! What is remembered of contacts from tick to tick, and how hard they press.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::Segment;
use crate::contact::collider::{Collider, Frame, Gaps, Isometry, Probe, Solid};
use crate::lanes::Lanes;
use crate::lengths::Lengths as _;
use crate::mesh::measure::Bounds;

/// Parts within this share of a segment's size are watched before they touch.
const WATCHED: f32 = 0.5;
/// How far the way out may turn while a contact lasts, in radians a call.
const MOST_TURN: f32 = 0.06;
/// Of solids with at most so many faces, that stand alone, each face is tried as the way out.
const MOST_FACES: usize = 32;
/// Faces are a turn back if the cosine between their normal and the last way out is less.
const TURNS_BACK: f32 = -0.3;
/// Another way out is taken if it is shorter than this share of the last.
const KEPT: f32 = 0.6;
/// A segment that moves farther than this share of its size in one call is looked at on the way.
const SWEEP: f32 = 0.4;
/// Most places looked at on the way.
const MOST_SWEEPS: f32 = 64.0;
/// Proxies that are looked at together.
const BLOCK: usize = 32;

/// A segment at one moment.
#[derive(Clone, Debug)]
pub struct PosedSegment<'a> {
    /// Which body.
    pub body: u32,
    /// Which of its segments.
    pub number: u32,
    /// The segment.
    pub segment: &'a Segment,
    /// Its proxies, in the world.
    pub proxies: Vec<Vec3>,
    /// Its convex hull and where that is, if it takes part in contacts between bodies.
    pub hull: Option<(&'a Solid, Isometry)>,
}

/// A collider at one moment.
#[derive(Clone, Copy, Debug)]
pub struct PosedCollider<'a> {
    /// The collider.
    pub collider: &'a Collider,
    /// Where it is.
    pub place: Isometry,
}

/// A segment near a part of a collider.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Touch {
    /// Which body.
    pub body: u32,
    /// Which of its segments.
    pub segment: u32,
    /// Which collider.
    pub collider: u32,
    /// Which of its parts.
    pub part: u32,
    /// The way out, a unit vector in the world.
    pub normal: Vec3,
}

/// Two segments in each other, and the plane between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meet {
    /// Body and segment on the side the normal points to.
    pub above: [u32; 2],
    /// Body and segment on the other side.
    pub below: [u32; 2],
    /// The plane's unit normal.
    pub normal: Vec3,
    /// The middle of the contact, on the plane.
    pub point: Vec3,
    /// How far around that point.
    pub radius: f32,
    /// How far the two are in each other.
    pub depth: f32,
}

impl Meet {
    /// True if both are segments of one body.
    #[must_use]
    pub fn is_within_one_body(&self) -> bool {
        self.above[0] == self.below[0]
    }
}

/// What is remembered of all contacts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contacts {
    /// With colliders, in order of body, segment, collider and part.
    pub touches: Vec<Touch>,
    /// Between segments, in order.
    pub meets: Vec<Meet>,
    /// Where the segments were, in order.
    pub centers: Vec<Vec3>,
}

/// A point of a segment that presses on something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pressure {
    /// Which body.
    pub body: u32,
    /// The joint that the segment moves with.
    pub joint: usize,
    /// Where.
    pub point: Vec3,
    /// The way out, a unit vector.
    pub normal: Vec3,
    /// How deep it is along that way.
    pub depth: f32,
    /// Its share of all that presses in the same contact, by depth: these add up to one.
    pub share: f32,
}

impl Contacts {
    /// True if a body is near a collider or in another.
    #[must_use]
    pub fn touch(&self, body: u32) -> bool {
        self.touches.iter().any(|t| t.body == body)
            || self.meets.iter().any(|m| m.above[0] == body || m.below[0] == body)
    }

    /// Follows the segments to where they are now; `may_meet` says which of them, by their places in
    /// the list, collide with each other. Returns where they press.
    pub fn advance(
        &mut self,
        segments: &[PosedSegment<'_>],
        colliders: &[PosedCollider<'_>],
        may_meet: &dyn Fn(usize, usize) -> bool,
    ) -> Vec<Pressure> {
        let mut pressures = Vec::new();
        let centers: Vec<Vec3> = segments.iter().map(|s| mean(&s.proxies)).collect();
        let mut touches = Vec::new();
        for (s, segment) in segments.iter().enumerate() {
            let sweep = self.centers.get(s).map_or(Vec3::ZERO, |from| centers[s] - *from);
            self.touch_colliders(segment, sweep, colliders, &mut touches, &mut pressures);
        }
        let mut meets = Vec::new();
        let bounds: Vec<_> = segments.iter().map(|s| Bounds::of(&s.proxies)).collect();
        for [i, j] in overlapping(&bounds).into_iter().filter(|[i, j]| may_meet(*i, *j)) {
            let (a, b) = (&segments[i], &segments[j]);
            let pair = [[a.body, a.number], [b.body, b.number]];
            // Meetings are in the order of the segments.
            let last = self.meets.binary_search_by(|m| [m.above, m.below].cmp(&pair)).ok();
            let last = last.map(|at| self.meets[at].normal);
            if let Some(meet) = meet(a, b, last, centers[i] - centers[j]) {
                pressures.extend(press_apart(&meet, a, b));
                meets.push(meet);
            }
        }
        (self.touches, self.meets, self.centers) = (touches, meets, centers);
        pressures
    }

    fn touch_colliders(
        &self,
        segment: &PosedSegment<'_>,
        sweep: Vec3,
        colliders: &[PosedCollider<'_>],
        touches: &mut Vec<Touch>,
        pressures: &mut Vec<Pressure>,
    ) {
        let own = (segment.body, segment.number);
        let from = self.touches.partition_point(|t| (t.body, t.segment) < own);
        let to = self.touches.partition_point(|t| (t.body, t.segment) <= own);
        let known = &self.touches[from..to];
        let around = Bounds::of(&segment.proxies).unwrap_or(Bounds::EMPTY);
        for (c, posed) in (0..).zip(colliders) {
            let frame = posed.place.frame();
            let (here, back) = (frame.bounds(&around), frame.turned(sweep));
            let reach = segment.segment.radius;
            let parts = (0..).zip(&posed.collider.parts);
            let mut close = parts.filter(|(_, s)| !s.is_beyond(&here, back, reach)).peekable();
            if close.peek().is_none() {
                continue;
            }
            let near = Near::new(segment, &frame, sweep);
            let solitary = posed.collider.parts.len() == 1;
            for (p, solid) in close {
                let last = known.iter().find(|t| (t.collider, t.part) == (c, p)).map(|t| t.normal);
                let gaps = near.gaps(solid, Vec3::ZERO);
                let place = posed.place;
                let around = Watch { near: &near, gaps, segment, solid, place, solitary };
                let Some(normal) = around.way_out(last) else { continue };
                around.press(normal, pressures);
                let (body, segment) = own;
                touches.push(Touch { body, segment, collider: c, part: p, normal });
            }
        }
    }
}

/// The pairs of boxes that overlap, rising: sorted along x and swept.
fn overlapping(bounds: &[Option<Bounds>]) -> Vec<[usize; 2]> {
    let mut order: Vec<(usize, Bounds)> =
        bounds.iter().enumerate().filter_map(|(i, b)| Some((i, (*b)?))).collect();
    order.sort_by(|a, b| a.1.min.x.total_cmp(&b.1.min.x).then(a.0.cmp(&b.0)));
    let mut pairs = Vec::new();
    for (k, (i, here)) in order.iter().enumerate() {
        for (j, there) in order[k + 1..].iter().take_while(|o| o.1.min.x <= here.max.x) {
            if here.overlaps(there) {
                pairs.push([*i.min(j), *i.max(j)]);
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

fn mean(points: &[Vec3]) -> Vec3 {
    points.iter().sum::<Vec3>() / points.len().max(1) as f32
}

/// The proxies of a segment in the space of a collider.
struct Near {
    /// The last block is filled up with its last proxy.
    blocks: Vec<Lanes<BLOCK>>,
    count: usize,
    around: Bounds,
    sweep: Vec3,
}

impl Near {
    fn new(segment: &PosedSegment<'_>, frame: &Frame, sweep: Vec3) -> Self {
        let mut blocks = Vec::with_capacity(segment.proxies.len().div_ceil(BLOCK));
        let mut around = Bounds::EMPTY;
        for proxies in segment.proxies.chunks(BLOCK) {
            let block = frame.lanes(&Lanes::<BLOCK>::of(proxies));
            let [min, max] = block.bounds();
            around = around.union(&Bounds { min, max });
            blocks.push(block);
        }
        let count = segment.proxies.len();
        Self { blocks, count, around, sweep: frame.turned(sweep) }
    }

    fn get(&self, proxy: usize) -> Vec3 {
        self.blocks[proxy / BLOCK].get(proxy % BLOCK)
    }

    /// How far each proxy, shifted, is outside a solid.
    fn gaps(&self, solid: &Solid, shift: Vec3) -> Vec<Gaps<BLOCK>> {
        let gaps = |x: &Lanes<BLOCK>| match shift == Vec3::ZERO {
            true => solid.gaps(x),
            false => solid.gaps(&x.shifted(shift)),
        };
        self.blocks.iter().map(gaps).collect()
    }
}

/// One segment and one part of a collider; all in the space of the collider.
struct Watch<'a> {
    near: &'a Near,
    /// How far each proxy is outside.
    gaps: Vec<Gaps<BLOCK>>,
    segment: &'a PosedSegment<'a>,
    solid: &'a Solid,
    place: Isometry,
    solitary: bool,
}

impl Watch<'_> {
    fn radius(&self) -> f32 {
        self.segment.segment.radius
    }

    fn margin(&self) -> f32 {
        WATCHED * self.radius()
    }

    /// The way out now, in the world, given the last one; `None` if the two are far apart.
    fn way_out(&self, last: Option<Vec3>) -> Option<Vec3> {
        let Some(last) = last else { return Some(self.place.rotation * self.first_way_out()?) };
        let last = self.place.rotation.inverse() * last;
        let mut wanted = Vec3::ZERO;
        for probe in self.inside().map(|i| self.solid.probe(self.near.get(i), last)) {
            wanted -= probe.distance * probe.normal;
        }
        if !self.has_inside() && !self.is_behind(last) {
            let nearest = self.nearest(&self.gaps, Vec3::ZERO, last)?;
            return Some(self.place.rotation * nearest.normal);
        }
        let wanted = wanted.normalize_or(last);
        let wanted = self.least(last).unwrap_or(wanted);
        Some(self.place.rotation * turned(last, wanted))
    }

    /// Out of a box that stands alone: the way that is shortest for all of the segment, but not a turn
    /// back.
    fn least(&self, last: Vec3) -> Option<Vec3> {
        let Solid::Hull { faces, .. } = self.solid else { return None };
        if !self.solitary || faces.len() > MOST_FACES {
            return None;
        }
        let depth = |n: Vec3| {
            let behind = self.chords(n).filter(|c| c.0 < self.radius());
            behind.map(|c| c.1).fold(0.0, f32::max)
        };
        let onward = faces.iter().map(|f| f.normal).filter(|n| n.dot(last) > TURNS_BACK);
        let nearest = |n: &Vec3| 1.0 - n.dot(last);
        let (mut best, mut least) = (last, (KEPT * depth(last), 0.0));
        for n in onward {
            let this = (depth(n), nearest(&n));
            if this.0 < least.0 || (this.0 == least.0 && this.1 < least.1) {
                (best, least) = (n, this);
            }
        }
        Some(best)
    }

    /// Where a segment that comes near for the first time is first near, the nearest way out.
    fn first_way_out(&self) -> Option<Vec3> {
        let sweep = self.near.sweep;
        let far = sweep.norm() / (SWEEP * self.radius());
        let stops = far.ceil().clamp(1.0, MOST_SWEEPS) as u32;
        let toward = if stops > 1 { -sweep.unit_or_zero() } else { Vec3::ZERO };
        for stop in 1..=stops {
            let back = (stop as f32 / stops as f32 - 1.0) * sweep;
            let found = match back == Vec3::ZERO {
                true => self.nearest(&self.gaps, back, toward),
                false => self.nearest(&self.near.gaps(self.solid, back), back, toward),
            };
            if let Some(nearest) = found {
                return Some(nearest.normal);
            }
        }
        None
    }

    /// True if a proxy is inside.
    fn has_inside(&self) -> bool {
        self.gaps.iter().any(|gaps| gaps.least < 0.0)
    }

    /// The proxies inside.
    fn inside(&self) -> impl Iterator<Item = usize> {
        let blocks = self.gaps.iter().enumerate().filter(|(_, gaps)| gaps.least < 0.0);
        blocks.flat_map(|(block, gaps)| {
            let first = block * BLOCK;
            let count = BLOCK.min(self.near.count - first);
            (0..count).filter(|&lane| gaps.all[lane] < 0.0).map(move |lane| first + lane)
        })
    }

    /// What the part says about the nearest of the proxies, shifted, if it is near.
    fn nearest(&self, gaps: &[Gaps<BLOCK>], shift: Vec3, toward: Vec3) -> Option<Probe> {
        let around = self.solid.bounds().map(|b| b.grown(self.margin()));
        let own = Bounds { min: self.near.around.min + shift, max: self.near.around.max + shift };
        if around.is_some_and(|a| !a.overlaps(&own)) {
            return None;
        }
        let (mut nearest, mut least) = (None, self.margin());
        for (block, gaps) in gaps.iter().enumerate() {
            let first = block * BLOCK;
            for lane in 0..BLOCK.min(self.near.count - first) {
                if gaps.least >= least || gaps.all[lane] >= least {
                    continue;
                }
                let x = self.near.get(first + lane) + shift;
                if around.is_some_and(|a| x.cmplt(a.min).any() || x.cmpgt(a.max).any()) {
                    continue;
                }
                let probe = self.solid.probe(x, toward);
                if probe.distance < least {
                    (nearest, least) = (Some(probe), probe.distance);
                }
            }
        }
        nearest
    }

    /// True if a proxy stands behind the part.
    fn is_behind(&self, normal: Vec3) -> bool {
        let reach = self.radius();
        self.solitary && self.chords(normal).any(|(enter, _, _)| enter > 0.0 && enter < reach)
    }

    /// For each proxy whose way out passes through the part: where it enters and leaves.
    fn chords(&self, normal: Vec3) -> impl Iterator<Item = (f32, f32, Vec3)> {
        let around = self.solid.bounds().map(|b| {
            let behind = if self.solitary { -self.radius() * normal } else { Vec3::ZERO };
            b.union(&Bounds { min: b.min + behind, max: b.max + behind })
        });
        let inside =
            move |x: &Vec3| around.is_none_or(|a| x.cmpge(a.min).all() && x.cmple(a.max).all());
        let blocks = self.near.blocks.iter().zip(self.segment.proxies.chunks(BLOCK));
        // Of what is hollow only what is inside matters.
        let blocks = blocks.zip(&self.gaps).filter(|(_, g)| self.solitary || g.least < 0.0);
        blocks.flat_map(move |((block, at), _)| {
            let chords = self.solid.rays(block, normal);
            let passing = move |(lane, at): (usize, &Vec3)| {
                let [enter, exit] = chords.get(lane)?;
                inside(&block.get(lane)).then_some((enter, exit, *at))
            };
            at.iter().enumerate().filter_map(passing)
        })
    }

    /// Adds how the segment presses.
    fn press(&self, normal: Vec3, pressures: &mut Vec<Pressure>) {
        let (body, joint) = (self.segment.body, self.segment.segment.joint);
        if !self.solitary && !self.has_inside() {
            return;
        }
        let reach = if self.solitary { self.radius() } else { 0.0 };
        let first = pressures.len();
        let mut total = 0.0;
        let along = self.place.rotation.inverse() * normal;
        for (_, depth, point) in self.chords(along).filter(|c| c.0 < reach && c.1 > 0.0) {
            total += depth;
            pressures.push(Pressure { body, joint, point, normal, depth, share: depth });
        }
        pressures[first..].iter_mut().for_each(|p| p.share /= total);
    }
}

/// From one unit vector towards another, but only so far, and never to the opposite side.
fn turned(from: Vec3, to: Vec3) -> Vec3 {
    let angle = from.angle_between(to);
    if angle <= MOST_TURN {
        return to;
    }
    let Some(axis) = from.cross(to).try_normalize() else { return from };
    (Quat::from_axis_angle(axis, MOST_TURN) * from).normalize_or(from)
}

/// The plane between two segments that are in each other.
fn meet(
    a: &PosedSegment<'_>,
    b: &PosedSegment<'_>,
    last: Option<Vec3>,
    apart: Vec3,
) -> Option<Meet> {
    let ((hull_a, place_a), (hull_b, place_b)) = (a.hull?, b.hull?);
    let inside = |points: &[Vec3], hull: &Solid, place: &Isometry| -> Vec<(Vec3, Probe)> {
        let probe = |x: &Vec3| {
            let local = place.to_local(*x);
            hull.contains(local).then(|| (*x, hull.probe(local, Vec3::ZERO)))
        };
        points.iter().filter_map(probe).collect()
    };
    let in_b = inside(&a.proxies, hull_b, &place_b);
    let in_a = inside(&b.proxies, hull_a, &place_a);
    if in_a.is_empty() && in_b.is_empty() {
        return None;
    }
    let out_of_b: Vec3 =
        in_b.iter().map(|(_, p)| -p.distance * (place_b.rotation * p.normal)).sum();
    let out_of_a: Vec3 = in_a.iter().map(|(_, p)| p.distance * (place_a.rotation * p.normal)).sum();
    let wanted = (out_of_a + out_of_b).normalize_or(apart.normalize_or(Vec3::Y));
    let normal = last.map_or(wanted, |last| turned(last, wanted));
    let exit = |x: Vec3, hull: &Solid, place: &Isometry, along: Vec3| {
        let local = place.rotation.inverse() * along;
        hull.ray(place.to_local(x), local).map_or(0.0, |s| s[1].max(0.0))
    };
    let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
    for (x, _) in &in_b {
        low = low.min(normal.dot(*x));
        high = high.max(normal.dot(*x) + exit(*x, hull_b, &place_b, normal));
    }
    for (x, _) in &in_a {
        high = high.max(normal.dot(*x));
        low = low.min(normal.dot(*x) - exit(*x, hull_a, &place_a, -normal));
    }
    let touching: Vec<Vec3> = in_a.iter().chain(&in_b).map(|t| t.0).collect();
    let center = mean(&touching);
    let point = center + (0.5 * (low + high) - normal.dot(center)) * normal;
    let spread = touching.iter().map(|x| (*x - center).reject_from(normal).norm());
    let radius = spread.fold(0.0, f32::max) + 0.5 * a.segment.radius.min(b.segment.radius);
    let (above, below) = ([a.body, a.number], [b.body, b.number]);
    Some(Meet { above, below, normal, point, radius, depth: high - low })
}

/// How two segments press on each other.
fn press_apart(meet: &Meet, a: &PosedSegment<'_>, b: &PosedSegment<'_>) -> [Pressure; 2] {
    let press = |s: &PosedSegment<'_>, normal: Vec3| Pressure {
        body: s.body,
        joint: s.segment.joint,
        point: meet.point,
        normal,
        depth: 0.5 * meet.depth,
        share: 1.0,
    };
    [press(a, meet.normal), press(b, -meet.normal)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sweep_finds_the_pairs_that_all_pairs_have() {
        let mut seed = 7_u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) as f32 / 65_536.0
        };
        let mut boxed = |i: usize| {
            let min = 4.0 * Vec3::new(next(), next(), next());
            let max = min + Vec3::new(next(), next(), next());
            (i % 17 != 3).then_some(Bounds { min, max })
        };
        let bounds: Vec<_> = (0..200).map(&mut boxed).collect();
        let mut all = Vec::new();
        for (i, a) in bounds.iter().enumerate() {
            for (j, b) in bounds.iter().enumerate().skip(i + 1) {
                if let (Some(a), Some(b)) = (a, b)
                    && a.overlaps(b)
                {
                    all.push([i, j]);
                }
            }
        }
        assert!(all.len() > 100, "{} pairs", all.len());
        assert_eq!(overlapping(&bounds), all);
    }
}

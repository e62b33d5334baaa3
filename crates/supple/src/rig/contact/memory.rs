//! What is remembered of contacts from tick to tick, and how hard they press.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::Segment;
use crate::mesh::measure::Bounds;
use crate::rig::collider::{Collider, Place, Probe, Solid};

/// Parts within this share of a segment's size are watched before they touch.
const WATCHED: f32 = 0.5;
/// How far the way out may turn while a contact lasts, in radians a call.
const MOST_TURN: f32 = 0.06;
/// Parts farther than this many times a segment's size are forgotten.
const FAR: f32 = 2.5;
/// A segment that moves farther than this share of its size in one call is looked at on the way.
const SWEEP: f32 = 0.4;
/// Most places looked at on the way.
const MOST_SWEEPS: f32 = 64.0;

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
    pub hull: Option<(&'a Solid, Place)>,
}

/// A collider at one moment.
#[derive(Clone, Copy, Debug)]
pub struct PosedCollider<'a> {
    /// The collider.
    pub collider: &'a Collider,
    /// Where it is.
    pub place: Place,
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
    /// Which of its segments.
    pub segment: u32,
    /// Where.
    pub point: Vec3,
    /// The way out, a unit vector.
    pub normal: Vec3,
    /// How deep it is along that way.
    pub depth: f32,
    /// Its share of the segment's surface.
    pub share: f32,
}

impl Contacts {
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
        for (i, a) in segments.iter().enumerate() {
            for (j, b) in segments.iter().enumerate().skip(i + 1).filter(|(j, _)| may_meet(i, *j)) {
                let pair = [[a.body, a.number], [b.body, b.number]];
                let last = self.meets.iter().find(|m| [m.above, m.below] == pair);
                let apart = centers[i] - centers[j];
                if let Some(meet) = meet(a, b, last.map(|m| m.normal), apart) {
                    pressures.extend(press_apart(&meet, a, b));
                    meets.push(meet);
                }
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
        for (c, posed) in (0..).zip(colliders) {
            for (p, solid) in (0..).zip(&posed.collider.parts) {
                let key = (segment.body, segment.number, c, p);
                let same = |t: &&Touch| (t.body, t.segment, t.collider, t.part) == key;
                let last = self.touches.iter().find(same).map(|t| t.normal);
                let solitary = posed.collider.parts.len() == 1;
                let around = Watch { segment, solid, place: posed.place, sweep, solitary };
                let Some(normal) = around.way_out(last) else { continue };
                around.press(normal, pressures);
                let (body, segment) = (segment.body, segment.number);
                touches.push(Touch { body, segment, collider: c, part: p, normal });
            }
        }
    }
}

fn mean(points: &[Vec3]) -> Vec3 {
    points.iter().sum::<Vec3>() / points.len().max(1) as f32
}

/// One segment and one part of a collider.
struct Watch<'a> {
    segment: &'a PosedSegment<'a>,
    solid: &'a Solid,
    place: Place,
    sweep: Vec3,
    solitary: bool,
}

impl Watch<'_> {
    fn margin(&self) -> f32 {
        WATCHED * self.segment.segment.radius
    }

    /// The way out now, given the last one; `None` if the two are far apart.
    fn way_out(&self, last: Option<Vec3>) -> Option<Vec3> {
        let Some(last) = last else { return self.first_way_out() };
        if !self.may_be_near(Vec3::ZERO) {
            return None;
        }
        let probes = self.probes(Vec3::ZERO, last);
        let nearest = nearest(&probes)?;
        let (mut wanted, mut inside) = (Vec3::ZERO, false);
        for probe in probes.iter().filter(|p| p.distance < 0.0) {
            wanted -= probe.distance * probe.normal;
            inside = true;
        }
        if !inside && !self.is_behind(last) {
            return (nearest.distance < self.margin()).then_some(nearest.normal);
        }
        Some(turned(last, wanted.normalize_or(last)))
    }

    /// Where a segment that comes near for the first time is first near, the nearest way out.
    fn first_way_out(&self) -> Option<Vec3> {
        let far = self.sweep.length() / (SWEEP * self.segment.segment.radius);
        let stops = far.ceil().clamp(1.0, MOST_SWEEPS) as u32;
        let first = if stops > 1 { 1 } else { stops };
        for stop in first..=stops {
            let back = (stop as f32 / stops as f32 - 1.0) * self.sweep;
            if !self.may_be_near(back) {
                continue;
            }
            let toward = if stops > 1 { -self.sweep.normalize_or_zero() } else { Vec3::ZERO };
            let probes = self.probes(back, toward);
            let nearest = nearest(&probes)?;
            if nearest.distance < self.margin() {
                return Some(nearest.normal);
            }
        }
        None
    }

    fn may_be_near(&self, shift: Vec3) -> bool {
        let Some(bounds) = self.solid.bounds() else { return true };
        let around = self.place.bounds(&bounds);
        let mut own = Bounds::of(&self.segment.proxies).unwrap_or(Bounds::EMPTY);
        let margin = Vec3::splat(FAR * self.segment.segment.radius);
        own = Bounds { min: own.min + shift - margin, max: own.max + shift + margin };
        own.overlaps(&around)
    }

    /// What the part says about each proxy, ways out in the world.
    fn probes(&self, shift: Vec3, toward: Vec3) -> Vec<Probe> {
        let toward = self.place.rotation.inverse() * toward;
        let probe = |x: &Vec3| {
            let probe = self.solid.probe(self.place.to_local(*x + shift), toward);
            Probe { normal: self.place.rotation * probe.normal, ..probe }
        };
        self.segment.proxies.iter().map(probe).collect()
    }

    /// True if a proxy stands behind the part.
    fn is_behind(&self, normal: Vec3) -> bool {
        let reach = self.segment.segment.radius;
        self.solitary && self.chords(normal).any(|(enter, _, _)| enter > 0.0 && enter < reach)
    }

    /// For each proxy whose way out passes through the part: where it enters and leaves.
    fn chords(&self, normal: Vec3) -> impl Iterator<Item = (f32, f32, Vec3)> {
        let along = self.place.rotation.inverse() * normal;
        self.segment.proxies.iter().filter_map(move |x| {
            let [enter, exit] = self.solid.ray(self.place.to_local(*x), along)?;
            Some((enter, exit, *x))
        })
    }

    /// Adds how the segment presses.
    fn press(&self, normal: Vec3, pressures: &mut Vec<Pressure>) {
        let share = 1.0 / self.segment.proxies.len() as f32;
        let (body, segment) = (self.segment.body, self.segment.number);
        let reach = if self.solitary { self.segment.segment.radius } else { 0.0 };
        for (_, depth, point) in self.chords(normal).filter(|c| c.0 < reach && c.1 > 0.0) {
            pressures.push(Pressure { body, segment, point, normal, depth, share });
        }
    }
}

fn nearest(probes: &[Probe]) -> Option<Probe> {
    probes.iter().min_by(|a, b| a.distance.total_cmp(&b.distance)).copied()
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
    let bounds = |s: &PosedSegment<'_>| Bounds::of(&s.proxies);
    if !bounds(a)?.overlaps(&bounds(b)?) {
        return None;
    }
    let inside = |points: &[Vec3], hull: &Solid, place: &Place| -> Vec<(Vec3, Probe)> {
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
    let exit = |x: Vec3, hull: &Solid, place: &Place, along: Vec3| {
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
    let spread = touching.iter().map(|x| (*x - center).reject_from(normal).length());
    let radius = spread.fold(0.0, f32::max) + 0.5 * a.segment.radius.min(b.segment.radius);
    let (above, below) = ([a.body, a.number], [b.body, b.number]);
    Some(Meet { above, below, normal, point, radius, depth: high - low })
}

/// How two segments press on each other.
fn press_apart(meet: &Meet, a: &PosedSegment<'_>, b: &PosedSegment<'_>) -> [Pressure; 2] {
    let press = |s: &PosedSegment<'_>, normal: Vec3| Pressure {
        body: s.body,
        segment: s.number,
        point: meet.point,
        normal,
        depth: 0.5 * meet.depth,
        share: 0.1,
    };
    [press(a, meet.normal), press(b, -meet.normal)]
}

//! Moving vertices out of obstacles: detect, push, detect again, and at last project.

use std::sync::atomic::{AtomicU32, Ordering};

use glam::{Mat3, Vec3};
use serde::{Deserialize, Serialize};

use super::Segments;
use super::detect::{Cloud, TOLERANCE};
use super::field::{Posed, Push, SummedPushes};
use super::surrounding::{Surrounding, surrounding};
use crate::Run;
use crate::contact::collider::{Frame, Isometry, Solid};
use crate::lengths::Lengths as _;
use crate::mesh::measure::Bounds;

/// Times that fields are placed and concatenated before what is left is projected.
pub const MOST_PASSES: u32 = 8;

/// Two segments leave one obstacle to opposite sides if the cosine between their ways is less.
const OPPOSED: f32 = -0.5;

/// A contact in a collider around it whose way out makes a larger cosine with the way through blocks it.
const BLOCKED: f32 = 0.8;

/// Regions are cut at this many times the body's size.
const BEYOND: f32 = 1.5;

/// Ways out with a larger cosine between them are about the same.
const ALIKE: f32 = 0.7;

/// A push that must not move what is behind the obstacle fades over at least this share of the
/// obstacle's thickness.
const LEAST_FADE: f32 = 1.0;

/// Sweeps that share the work among pushes that act together, and how much one may be raised.
const SHARING_SWEEPS: usize = 24;
const MOST_RAISED: f32 = 2.0;

/// Vertices that one task carries.
pub(super) const PIECE: usize = 256;

/// Where an obstacle comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A part of a collider: an obstacle to all segments.
    Part(u32, u32),
    /// The plane of a [`Meet`](super::Meet), by its number: an obstacle to the two that meet.
    Plane(u32),
}

/// Something convex that a segment must not enter.
#[derive(Clone, Debug)]
pub struct Obstacle<'a> {
    /// Where it comes from.
    pub origin: Origin,
    /// Its shape.
    pub solid: &'a Solid,
    /// Where it is.
    pub place: Isometry,
    /// The size its depths are compared with.
    pub size: f32,
    /// The way out, in the world, if it is known from before; otherwise the shortest is taken.
    pub way_out: Option<Vec3>,
    /// True if what stands behind it, as seen along the way out, has come through it: for walls and
    /// bars, not for the parts of something hollow.
    pub solitary: bool,
}

impl Obstacle<'_> {
    /// The way out, if what is behind as seen along it has come through.
    pub(super) fn way_back(&self) -> Option<Vec3> {
        self.way_out.filter(|_| self.solitary)
    }
}

/// What was done about contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Pairs of a segment and a convex part that touched, summed over the passes.
    pub contacts: u32,
    /// Passes of fields.
    pub passes: u32,
    /// Runge–Kutta steps of all passes.
    pub steps: u32,
    /// Deepest penetration found, in scene units.
    pub deepest: f32,
    /// Vertices that the fields left inside and that were projected.
    pub projected: u32,
    /// How far the farthest of them was moved, in scene units.
    pub farthest: f32,
    /// Pairs of segments of one body that were too deep in each other to be taken apart.
    #[serde(default)]
    pub unparted: u32,
    /// By how much of its volume the body grew by all this.
    pub volume_change: f64,
}

impl Report {
    /// True if vertices were moved.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.passes > 0 || self.projected > 0
    }

    /// This and what was done before.
    #[must_use]
    pub fn after(self, before: &Self) -> Self {
        Self {
            contacts: before.contacts + self.contacts,
            passes: before.passes + self.passes,
            steps: before.steps + self.steps,
            deepest: before.deepest.max(self.deepest),
            unparted: before.unparted + self.unparted,
            ..self
        }
    }
}

/// A penetration into one obstacle.
pub(super) struct Penetration<'a> {
    pub(super) obstacle: &'a Obstacle<'a>,
    /// The way out, in the world.
    pub(super) normal: Vec3,
    /// How far along it.
    pub(super) depth: f32,
    /// Over which distance a push would fade.
    pub(super) width: f32,
    /// The sum of the depths of the vertices inside, and their middle by depth.
    pub(super) weight: f32,
    pub(super) center: Vec3,
    /// Where it is deepest.
    pub(super) deepest: Vec3,
    /// True if a whole segment is inside.
    pub(super) swallowed: bool,
    /// True if other segments leave the obstacle to the other side: the push must not move them.
    pub(super) opposed: bool,
    /// In a [`Surrounding`], the way through it; otherwise zero.
    pub(super) through: Vec3,
}

/// Moves the vertices of a body out of obstacles; `near[s]` are those of segment `s`.
///
/// After that no vertex of a segment is inside its obstacles, up to rounding, unless obstacles leave it
/// no room.
pub fn resolve(
    positions: &mut [Vec3],
    segments: &Segments,
    near: &[Vec<Obstacle<'_>>],
    softness: f32,
    run: &Run<'_>,
) -> Report {
    let mut report = Report::default();
    if near.iter().all(Vec::is_empty) {
        return report;
    }
    let around = surrounding(near);
    let near = with_those_of_others(near);
    let mut points = segments.gather(positions);
    let mut clouds = clouds(&points, segments, &near, run);
    while report.passes < MOST_PASSES {
        let contacts = detect_all(&points, &clouds, &near, softness, run);
        if contacts.is_empty() {
            break;
        }
        report.passes += 1;
        let mut contacts = joined(contacts);
        lead_through(&mut contacts, &around);
        push_out(&mut points, &clouds, &contacts, &mut report, run);
        clouds = self::clouds(&points, segments, &near, run);
    }
    project(&mut points, &clouds, &mut report, run);
    segments.scatter(&points, positions);
    report
}

/// Parts of colliders that one segment touches are obstacles to all: a push may move neighbours there.
fn with_those_of_others<'a>(near: &[Vec<Obstacle<'a>>]) -> Vec<Vec<Obstacle<'a>>> {
    let mut all: Vec<Obstacle<'a>> = Vec::new();
    for obstacle in near.iter().flatten().filter(|o| matches!(o.origin, Origin::Part(..))) {
        if all.iter().all(|o| o.origin != obstacle.origin) {
            all.push(Obstacle { way_out: None, solitary: false, ..obstacle.clone() });
        }
    }
    let extended = |own: &Vec<Obstacle<'a>>| {
        let new = all.iter().filter(|o| own.iter().all(|own| own.origin != o.origin));
        own.iter().chain(new).cloned().collect()
    };
    near.iter().map(extended).collect()
}

/// What is in a collider around it makes room along it, from where it is narrowest for the body.
fn lead_through(contacts: &mut [Penetration<'_>], around: &[Surrounding]) {
    for Surrounding { collider, through } in around {
        let within = |c: &Penetration<'_>| {
            matches!(c.obstacle.origin, Origin::Part(of, _) if of == *collider)
                && c.normal.dot(*through).abs() < BLOCKED
        };
        let (mut sum, mut weight) = (0.0, 0.0);
        for contact in contacts.iter().filter(|c| within(c)) {
            sum += contact.depth * contact.center.dot(*through);
            weight += contact.depth;
        }
        for contact in contacts.iter_mut().filter(|c| within(c)) {
            contact.through = *through;
            contact.center += (sum / weight - contact.center.dot(*through)) * *through;
        }
    }
}

fn clouds<'a>(
    points: &[Vec3],
    segments: &'a Segments,
    near: &'a [Vec<Obstacle<'a>>],
    run: &Run<'_>,
) -> Vec<Cloud<'a>> {
    run.map_tasks(near.len(), |s| Cloud::new(points, &segments.all[s], &near[s], run))
}

fn detect_all<'a>(
    points: &[Vec3],
    clouds: &[Cloud<'a>],
    near: &[Vec<Obstacle<'_>>],
    softness: f32,
    run: &Run<'_>,
) -> Vec<Penetration<'a>> {
    let found = run.map_tasks(clouds.len(), |s| {
        let mut contacts = clouds[s].contacts(points, softness, run);
        for contact in &mut contacts {
            contact.opposed = opposed(near, s, contact.obstacle.origin, contact.normal);
        }
        contacts
    });
    found.into_iter().flatten().collect()
}

/// True if other segments leave the same thing to the other side.
fn opposed(near: &[Vec<Obstacle<'_>>], own: usize, origin: Origin, normal: Vec3) -> bool {
    let leaves_opposite = |o: &Obstacle<'_>| {
        o.origin == origin && o.way_out.is_some_and(|other| other.dot(normal) < OPPOSED)
    };
    (0..near.len()).any(|s| s != own && near[s].iter().any(leaves_opposite))
}

impl Penetration<'_> {
    /// The field that takes the body, which is inside a box, out.
    pub(super) fn push(&self, body: &Bounds) -> Push {
        let Obstacle { solid, place, .. } = self.obstacle;
        let reach = 0.5 * body.diagonal();
        let mut region = solid.region(place.to_local(body.center()), BEYOND * reach);
        region.center = place.to_world(region.center);
        region.rotation = (place.rotation * region.rotation).normalize();
        let (normal, depth, width) = (self.normal, self.depth, self.width);
        let mut push = Push {
            region,
            normal,
            depth,
            strength: depth,
            center: self.center,
            width,
            along: Vec3::ZERO,
            back: f32::NEG_INFINITY,
            fade: f32::MAX,
        };
        if self.swallowed {
            // The region takes in all of the body, which then moves as it is.
            (push.region.half, push.region.radius) = (Vec3::ZERO, 8.0 * (reach + depth));
            push.region.center = body.center();
        } else if let Some(along) = self.normal.cross(self.through).try_normalize() {
            push.along = along;
        } else if region.half != Vec3::ZERO {
            make_room_aside(&mut push, body);
        }
        if self.opposed && !self.swallowed {
            self.spare_what_is_behind(&mut push);
        }
        push
    }

    /// Lets the push fade out between the deepest vertex and the back of the obstacle, where others are
    /// that must not be pushed into it.
    fn spare_what_is_behind(&self, push: &mut Push) {
        let Obstacle { solid, place, .. } = self.obstacle;
        let n = place.rotation.inverse() * self.normal;
        let Some([enter, exit]) = solid.ray(place.to_local(self.deepest), n) else { return };
        let thick = exit - enter;
        if !thick.is_finite() {
            return;
        }
        let height = self.normal.dot(self.deepest - push.center);
        push.back = height.max(height + enter + LEAST_FADE * thick);
        push.fade = (push.back - height - enter).max(LEAST_FADE * thick);
    }

    /// One contact out of two with the same obstacle and about the same way out.
    fn join(&mut self, other: &Self) {
        let (a, b) = (self.weight, other.weight);
        let mean = |x: f32, y: f32| (a * x + b * y) / (a + b);
        if other.depth > self.depth {
            self.deepest = other.deepest;
        }
        let normal = (a * self.normal + b * other.normal).normalize_or(self.normal);
        let along = |c: &Self| c.depth / c.normal.dot(normal).max(ALIKE);
        self.depth = along(self).max(along(other));
        self.normal = normal;
        self.width = mean(self.width, other.width);
        self.center = (a * self.center + b * other.center) / (a + b);
        self.weight = a + b;
        self.swallowed |= other.swallowed;
        self.opposed |= other.opposed;
    }
}

/// Before something that reaches beyond the body on all sides, the body makes room on all of them, from its
/// own middle. Before something long it makes room only along the side on which that reaches farther
/// beyond the body, to both ends. So nothing flows back where the obstacle ends, which would push the
/// body's other parts into it.
fn make_room_aside(push: &mut Push, body: &Bounds) {
    let m = Mat3::from_quat(push.region.rotation);
    let axes = [m.x_axis, m.y_axis, m.z_axis];
    let slope = |k: usize| axes[k].dot(push.normal).abs();
    let up = (0..3).fold(0, |a, b| if slope(b) > slope(a) { b } else { a });
    let beyond = |k: usize| {
        let own = 0.5 * axes[k].abs().dot(body.size());
        let aside = axes[k].dot(body.center() - push.region.center).abs();
        push.region.half[k] - aside - own
    };
    let (a, b) = ((up + 1) % 3, (up + 2) % 3);
    let (across, along) = if beyond(a) > beyond(b) { (a, b) } else { (b, a) };
    if beyond(across) < 0.0 {
        return;
    }
    push.center += axes[across].dot(body.center() - push.center) * axes[across];
    if beyond(along) >= 0.0 {
        push.center += axes[along].dot(body.center() - push.center) * axes[along];
        return;
    }
    let flat = axes[along] - axes[along].dot(push.normal) * push.normal;
    push.along = flat.unit_or_zero();
}

/// What leaves the same obstacle about the same way is one contact.
fn joined(contacts: Vec<Penetration<'_>>) -> Vec<Penetration<'_>> {
    let mut joined: Vec<Penetration<'_>> = Vec::new();
    for contact in contacts {
        let alike = |c: &&mut Penetration<'_>| {
            c.obstacle.origin == contact.obstacle.origin && c.normal.dot(contact.normal) > ALIKE
        };
        match joined.iter_mut().find(alike) {
            Some(known) => known.join(&contact),
            None => joined.push(contact),
        }
    }
    joined
}

/// Carries all vertices through the sum of the pushes of contacts.
fn push_out(
    points: &mut [Vec3],
    clouds: &[Cloud<'_>],
    group: &[Penetration<'_>],
    report: &mut Report,
    run: &Run<'_>,
) {
    let body = clouds.iter().fold(Bounds::EMPTY, |b, c| b.union(&c.around));
    let pushes = share(group, group.iter().map(|c| c.push(&body)).collect());
    report.contacts += group.len() as u32;
    let deepest = group.iter().map(|c| c.depth).fold(0.0, f32::max);
    report.deepest = report.deepest.max(deepest);
    let way = SummedPushes::new(&pushes);
    let steps = AtomicU32::new(0);
    run.for_each_piece(points, PIECE, |_, piece| {
        steps.fetch_max(way.carry(piece), Ordering::Relaxed);
    });
    report.steps += steps.into_inner();
}

/// Sets the strengths of pushes that act together, so that each deepest point moves as far as it has
/// to and neighbours do not add up: Gauss–Seidel on `Σ_j a_j n_i·u_j(x_i) = d_i`, `a ≥ 0`.
fn share(group: &[Penetration<'_>], mut pushes: Vec<Push>) -> Vec<Push> {
    if pushes.len() < 2 {
        return pushes;
    }
    let unit: Vec<Posed> = pushes.iter().map(|p| Push { strength: 1.0, ..*p }.posed()).collect();
    let response = |i: usize, j: usize| {
        if i == j {
            return 1.0;
        }
        let at = group[i].deepest + 0.5 * group[i].depth * group[i].normal;
        group[i].normal.dot(unit[j].velocity(at, 0.5))
    };
    let all = 0..pushes.len();
    let matrix: Vec<Vec<f32>> =
        all.clone().map(|i| all.clone().map(|j| response(i, j)).collect()).collect();
    for _ in 0..SHARING_SWEEPS {
        for i in 0..pushes.len() {
            let others: f32 = (0..pushes.len())
                .filter(|&j| j != i)
                .map(|j| matrix[i][j] * pushes[j].strength)
                .sum();
            let wanted = pushes[i].depth;
            pushes[i].strength = (wanted - others).clamp(0.0, MOST_RAISED * wanted);
        }
    }
    pushes.retain(|p| p.strength > 0.0);
    pushes
}

/// Moves what is still inside straight out.
fn project(points: &mut [Vec3], clouds: &[Cloud<'_>], report: &mut Report, run: &Run<'_>) {
    let at: &[Vec3] = points;
    let moved = run.map_tasks(clouds.len(), |s| {
        let places = clouds[s].inside();
        if places.is_empty() {
            return Vec::new();
        }
        let exits: Vec<Exit<'_>> = clouds[s].obstacles().map(Exit::of).collect();
        let out = |p: &u32| Some((*p, projected(at[*p as usize], &exits)?));
        places.iter().filter_map(out).collect()
    });
    for (p, (to, notable)) in moved.into_iter().flatten() {
        let x = &mut points[p as usize];
        if notable {
            report.projected += 1;
            report.farthest = report.farthest.max(x.distance_to(to));
        }
        *x = to;
    }
}

/// An obstacle that points leave one by one.
struct Exit<'a> {
    obstacle: &'a Obstacle<'a>,
    frame: Frame,
    around: Option<Bounds>,
    /// The way out in its own space, or zero.
    toward: Vec3,
}

impl<'a> Exit<'a> {
    fn of(obstacle: &'a Obstacle<'a>) -> Self {
        let frame = obstacle.place.frame();
        let toward = obstacle.way_out.map_or(Vec3::ZERO, |n| frame.turned(n));
        Self { obstacle, frame, around: obstacle.solid.bounds(), toward }
    }
}

/// Where a point leaves all obstacles, and whether that is farther than a rounding; `None` if it is
/// outside.
fn projected(x: Vec3, exits: &[Exit<'_>]) -> Option<(Vec3, bool)> {
    let (mut at, mut notable) = (x, false);
    for _ in 0..MOST_PASSES {
        let before = at;
        for Exit { obstacle, frame, around, toward } in exits {
            let local = frame.to_local(at);
            let is_near =
                around.is_none_or(|a| local.cmpge(a.min).all() && local.cmple(a.max).all());
            if !is_near || !obstacle.solid.contains(local) {
                continue;
            }
            let probe = obstacle.solid.probe(local, *toward);
            let depth = -probe.distance;
            notable |= depth > TOLERANCE * obstacle.size;
            let out = local + (depth + 1e-5 * obstacle.size) * probe.normal;
            at = obstacle.place.to_world(out);
        }
        if at == before {
            break;
        }
    }
    (at != x).then_some((at, notable))
}

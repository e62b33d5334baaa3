//! Moving vertices out of obstacles: detect, push, detect again, and at last project.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::Segment;
use super::field::{self, Push};
use crate::Run;
use crate::mesh::measure::Bounds;
use crate::rig::collider::{Place, Solid};

/// Times that fields are placed and concatenated before what is left is projected.
pub const MOST_PASSES: u32 = 8;

/// Vertices deeper than this share of the obstacle's size are pushed out.
const TOLERANCE: f32 = 3e-4;

/// Vertices behind an obstacle count if those in front of them do, up to gaps of this share of the
/// segment's size.
const GAP: f32 = 0.15;

/// A segment deeper inside than this share of its size is moved as a whole.
const SWALLOWED: f32 = 1.0;

/// Sweeps that share the work among pushes of one segment, and how much one may be raised.
const SHARING_SWEEPS: usize = 24;
const MOST_RAISED: f32 = 2.0;

/// Something convex that a segment must not enter.
#[derive(Clone, Debug)]
pub struct Obstacle<'a> {
    /// Its shape.
    pub solid: &'a Solid,
    /// Where it is.
    pub place: Place,
    /// The size its depths are compared with.
    pub size: f32,
    /// The way out, in the world, if it is known from before; otherwise the shortest is taken.
    pub way_out: Option<Vec3>,
    /// True if what stands behind it, as seen along the way out, has come through it: for walls and
    /// bars, not for the parts of something hollow.
    pub solitary: bool,
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
}

/// A penetration of one segment into one obstacle.
struct Contact {
    push: Push,
    /// Where it is deepest.
    deepest: Vec3,
}

/// Moves the vertices of a body out of obstacles; `near[s]` are those of segment `s`.
///
/// After that no vertex of a segment is inside its obstacles, up to rounding, unless obstacles leave it
/// no room.
pub fn resolve(
    positions: &mut [Vec3],
    segments: &[Segment],
    near: &[Vec<Obstacle<'_>>],
    softness: f32,
    run: &Run<'_>,
) -> Report {
    let mut report = Report::default();
    if near.iter().all(Vec::is_empty) {
        return report;
    }
    for _ in 0..MOST_PASSES {
        let before = report.contacts;
        for (segment, obstacles) in segments.iter().zip(near).filter(|(_, o)| !o.is_empty()) {
            let around = segment.bounds(positions);
            let at: &[Vec3] = positions;
            let found = run.map_tasks(obstacles.len(), |i| {
                detect(at, segment, &around, &obstacles[i], softness)
            });
            let contacts: Vec<Contact> = found.into_iter().flatten().collect();
            if !contacts.is_empty() {
                push_out(positions, segment, &contacts, &mut report, run);
            }
        }
        if report.contacts == before {
            break;
        }
        report.passes += 1;
    }
    project(positions, segments, near, &mut report, run);
    report
}

/// Finds whether a segment is inside an obstacle, and the push that takes it out.
fn detect(
    positions: &[Vec3],
    segment: &Segment,
    around: &Bounds,
    obstacle: &Obstacle<'_>,
    softness: f32,
) -> Option<Contact> {
    let (solid, place) = (obstacle.solid, &obstacle.place);
    let tolerance = TOLERANCE * obstacle.size;
    let mut reach = solid.bounds().map(|b| place.bounds(&b));
    let way_out = obstacle.way_out.map(|n| place.rotation.inverse() * n);
    if let (Some(reach), Some(n)) = (&mut reach, obstacle.way_out) {
        // What went right through stands behind, as seen along the way out.
        let behind = if obstacle.solitary { -2.0 * segment.radius * n } else { Vec3::ZERO };
        *reach = reach.union(&Bounds { min: reach.min + behind, max: reach.max + behind });
    }
    if reach.is_some_and(|r| !r.overlaps(around)) {
        return None;
    }
    let followers = segment.vertices[..segment.followers].iter().map(|v| positions[v.0 as usize]);
    let inside = |x: &Vec3| reach.is_none_or(|r| x.cmpge(r.min).all() && x.cmple(r.max).all());
    let close: Vec<Vec3> = followers.filter(inside).map(|x| place.to_local(x)).collect();
    let n = match way_out {
        Some(n) if obstacle.solitary => n,
        toward => mean_way_out(solid, &close, toward.unwrap_or_default(), tolerance)?,
    };
    let mut chords: Vec<([f32; 2], Vec3)> =
        close.iter().filter_map(|&x| Some((solid.ray(x, n)?, x))).collect();
    chords.retain(|c| c.0[1] > tolerance && (obstacle.solitary || c.0[0] < 0.0));
    chords.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]));
    let (mut depth, mut sum, mut weight, mut deepest) = (0.0, Vec3::ZERO, 0.0, Vec3::ZERO);
    for ([enter, exit], x) in chords {
        // What is far behind, with nothing in between, is another side of the body.
        if enter > depth + GAP * segment.radius {
            break;
        }
        sum += exit * x;
        weight += exit;
        if exit > depth {
            (depth, deepest) = (exit, x);
        }
    }
    if depth == 0.0 {
        return None;
    }
    let center = place.to_world(sum / weight);
    let mut region = solid.region(place.to_local(around.center()), 0.5 * around.diagonal());
    region.center = place.to_world(region.center);
    region.rotation = (place.rotation * region.rotation).normalize();
    let depth = depth + 0.5 * tolerance;
    if depth > SWALLOWED * segment.radius {
        // The region takes in all of the segment, which then moves as it is.
        (region.half, region.radius) = (Vec3::ZERO, 8.0 * (around.diagonal() + depth));
        region.center = around.center();
    }
    let push = Push {
        region,
        normal: place.rotation * n,
        depth,
        strength: depth,
        center,
        width: softness * segment.radius,
    };
    Some(Contact { push, deepest: place.to_world(deepest) })
}

/// Of the vertices inside, the mean of the ways out, by depth.
fn mean_way_out(solid: &Solid, points: &[Vec3], toward: Vec3, tolerance: f32) -> Option<Vec3> {
    let inside = points.iter().filter(|x| solid.contains(**x));
    let (mut sum, mut deepest) = (Vec3::ZERO, 0.0_f32);
    for probe in inside.map(|x| solid.probe(*x, toward)) {
        sum -= probe.distance * probe.normal;
        deepest = deepest.max(-probe.distance);
    }
    (deepest > tolerance).then(|| sum.normalize_or(toward.normalize_or(Vec3::Y)))
}

/// Carries the vertices of a segment, as far as they follow it, through the sum of its pushes.
fn push_out(
    positions: &mut [Vec3],
    segment: &Segment,
    contacts: &[Contact],
    report: &mut Report,
    run: &Run<'_>,
) {
    let pushes = share(contacts);
    let steps = field::steps(&pushes, 2.0 * segment.radius);
    report.steps += steps;
    report.contacts += contacts.len() as u32;
    let deepest = contacts.iter().map(|c| c.push.depth).fold(0.0, f32::max);
    report.deepest = report.deepest.max(deepest);
    let mut points: Vec<Vec3> = segment.vertices.iter().map(|v| positions[v.0 as usize]).collect();
    run.for_each_piece(&mut points, 256, |_, piece| field::carry(piece, &pushes, steps));
    for (&(i, weight), to) in segment.vertices.iter().zip(points) {
        let x = &mut positions[i as usize];
        // Where it follows fully it goes there exactly.
        *x = if weight >= 1.0 - 1e-6 { to } else { *x + weight * (to - *x) };
    }
}

/// Sets the strengths of pushes that act together, so that each deepest point moves as far as it has
/// to and neighbours do not add up: Gauss–Seidel on `Σ_j a_j n_i·u_j(x_i) = d_i`, `a ≥ 0`.
fn share(group: &[Contact]) -> Vec<Push> {
    let mut pushes: Vec<Push> = group.iter().map(|c| c.push).collect();
    if pushes.len() < 2 {
        return pushes;
    }
    let unit = |p: &Push| Push { strength: 1.0, ..*p };
    let response = |i: &Contact, j: &Contact| {
        if std::ptr::eq(i, j) {
            return 1.0;
        }
        i.push
            .normal
            .dot(unit(&j.push).velocity(i.deepest + 0.5 * i.push.depth * i.push.normal, 0.5))
    };
    let matrix: Vec<Vec<f32>> =
        group.iter().map(|i| group.iter().map(|j| response(i, j)).collect()).collect();
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
fn project(
    positions: &mut [Vec3],
    segments: &[Segment],
    near: &[Vec<Obstacle<'_>>],
    report: &mut Report,
    run: &Run<'_>,
) {
    for (segment, obstacles) in segments.iter().zip(near) {
        if obstacles.is_empty() {
            continue;
        }
        let at: &[Vec3] = positions;
        let moved = run.map(segment.vertices.len(), |k| {
            let x = at[segment.vertices[k].0 as usize];
            projected(x, obstacles)
        });
        for (&(i, _), to) in segment.vertices.iter().zip(moved) {
            let Some((to, notable)) = to else { continue };
            let x = &mut positions[i as usize];
            if notable {
                report.projected += 1;
                report.farthest = report.farthest.max(x.distance(to));
            }
            *x = to;
        }
    }
}

/// Where a point leaves all obstacles, and whether that is farther than a rounding; `None` if it is
/// outside.
fn projected(x: Vec3, obstacles: &[Obstacle<'_>]) -> Option<(Vec3, bool)> {
    let (mut at, mut notable) = (x, false);
    for _ in 0..MOST_PASSES {
        let before = at;
        for obstacle in obstacles {
            let (solid, place) = (obstacle.solid, &obstacle.place);
            let local = place.to_local(at);
            if !solid.contains(local) {
                continue;
            }
            let toward = obstacle.way_out.map_or(Vec3::ZERO, |n| place.rotation.inverse() * n);
            let probe = solid.probe(local, toward);
            let depth = -probe.distance;
            notable |= depth > TOLERANCE * obstacle.size;
            at = place.to_world(local + (depth + 1e-5 * obstacle.size) * probe.normal);
        }
        if at == before {
            break;
        }
    }
    (at != x).then_some((at, notable))
}

//! Segments of one body that meet.
//!
//! Where two segments are in each other, no field of space takes them apart: it would move both alike. So
//! each has its own, and a vertex goes with both, by how much it belongs to each: the joints on the way from
//! one segment to the other through the skeleton belong less and less to the first, and what hangs on
//! them belongs as they do.

use std::sync::atomic::{AtomicU32, Ordering};

use glam::Vec3;

use super::detect::Cloud;
use super::field::SummedPushes;
use super::resolve::{PIECE, Penetration};
use super::{MOST_PASSES, Obstacle, Report, Segment, Segments};
use crate::Run;
use crate::mesh::SkinWeights;
use crate::rig::Body;

/// A pair in each other by a larger share of a segment's size is left as it is.
const DEEPEST: f32 = 0.4;

/// The skeleton of a body, as far as contacts go.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Hierarchy {
    /// For each joint, the one above it.
    parents: Vec<Option<usize>>,
    /// Of the vertices, in the order of the segments.
    weights: SkinWeights,
}

impl Hierarchy {
    pub(super) fn new(body: &Body, order: &[u32]) -> Self {
        let parents = (0..body.joints.len()).map(|j| body.parent_joint(j)).collect();
        let weights = body.mesh.skin_weights.as_ref().map(|w| w.gather(order)).unwrap_or_default();
        Self { parents, weights }
    }

    fn ancestors(&self, joint: usize) -> Vec<usize> {
        // A chain longer than the list of joints would be a ring.
        let up = std::iter::successors(Some(joint), |&j| self.parents[j]);
        up.take(self.parents.len()).collect()
    }

    /// The joints on the way from one to the other, with both, and the place of the topmost.
    fn path(&self, from: usize, to: usize) -> (Vec<usize>, usize) {
        let (mut up, down) = (self.ancestors(from), self.ancestors(to));
        let meeting = up.iter().position(|j| down.contains(j));
        up.truncate(meeting.map_or(up.len(), |k| k + 1));
        let top = up.len() - 1;
        let below = down.iter().position(|j| *j == up[top]).unwrap_or(down.len());
        up.extend(down[..below].iter().rev());
        (up, top)
    }

    /// True if one joint hangs on the other, directly or on what hangs on it: their segments touch at
    /// rest, or what is between them belongs to both too much to be taken apart.
    pub(super) fn adjoin(&self, a: usize, b: usize) -> bool {
        let hangs = |from: usize, on: usize| self.ancestors(from).iter().take(3).any(|j| *j == on);
        hangs(a, b) || hangs(b, a)
    }

    /// How much each vertex belongs to the first joint, rather than to the second.
    fn belonging(&self, first: usize, second: usize) -> Vec<f32> {
        let (path, top) = self.path(first, second);
        let share = |place: usize| 1.0 - place as f32 / (path.len() - 1).max(1) as f32;
        let of_joint: Vec<f32> = (0..self.parents.len())
            .map(|j| {
                let on_path = |a: &usize| path.iter().position(|p| p == a);
                share(self.ancestors(j).iter().find_map(on_path).unwrap_or(top))
            })
            .collect();
        let of_vertex = |v: usize| {
            let (sum, total) = self.weights.of(v).fold((0.0, 0.0), |(sum, total), (j, w)| {
                (sum + w * of_joint[usize::from(j)], total + w)
            });
            if total > 0.0 { sum / total } else { share(top) }
        };
        (0..self.weights.len()).map(of_vertex).collect()
    }
}

/// Two segments of one body and the sides of the plane between them that they must not enter.
#[derive(Debug)]
pub struct Parting<'a> {
    /// The segments.
    pub segments: [usize; 2],
    /// What each must not enter.
    pub sides: [Obstacle<'a>; 2],
}

/// Takes two segments of one body apart; `None`, and the positions are of no use, if they are too deep in
/// each other.
pub fn part(
    positions: &mut [Vec3],
    segments: &Segments,
    parting: &Parting<'_>,
    softness: f32,
    run: &Run<'_>,
) -> Option<Report> {
    let mut report = Report::default();
    let mut points = segments.gather(positions);
    let pair = parting.segments.map(|s| &segments.all[s]);
    let belonging = segments.hierarchy.belonging(pair[0].joint, pair[1].joint);
    for _ in 0..MOST_PASSES {
        let sides = parting.sides.each_ref().map(std::slice::from_ref);
        let clouds = [0, 1].map(|k| Cloud::new(&points, pair[k], sides[k], run));
        let found = clouds.each_ref().map(|c| c.contacts(&points, softness, run).pop());
        if found.iter().all(Option::is_none) {
            segments.scatter(&points, positions);
            return Some(report);
        }
        let deep = |(c, s): (&Option<Penetration<'_>>, &&Segment)| {
            c.as_ref().is_some_and(|c| c.depth > DEEPEST * s.radius)
        };
        if found.iter().zip(&pair).any(deep) {
            return None;
        }
        report.passes += 1;
        push_apart(&mut points, &belonging, &clouds, &found, &mut report, run);
    }
    None
}

/// Carries each vertex through both fields, by how much it belongs to each.
fn push_apart(
    points: &mut [Vec3],
    belonging: &[f32],
    clouds: &[Cloud<'_>; 2],
    found: &[Option<Penetration<'_>>; 2],
    report: &mut Report,
    run: &Run<'_>,
) {
    let push = |k: usize| found[k].as_ref().map(|c| c.push(&clouds[k].around));
    let ways: [Option<SummedPushes>; 2] =
        [push(0), push(1)].map(|p| p.map(|p| SummedPushes::new(&[p])));
    let steps = [AtomicU32::new(0), AtomicU32::new(0)];
    for contact in found.iter().flatten() {
        report.contacts += 1;
        report.deepest = report.deepest.max(contact.depth);
    }
    run.for_each_piece(points, PIECE, |start, piece| {
        let start_points = piece.to_vec();
        for (k, way) in ways.iter().enumerate() {
            let Some(way) = way else { continue };
            let mut carried = start_points.clone();
            let taken = way.carry(&mut carried);
            steps[k].fetch_max(taken, Ordering::Relaxed);
            for (i, x) in piece.iter_mut().enumerate() {
                let share = if k == 0 { belonging[start + i] } else { 1.0 - belonging[start + i] };
                *x += share * (carried[i] - start_points[i]);
            }
        }
    });
    report.steps += steps.into_iter().map(AtomicU32::into_inner).sum::<u32>();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trunk with two arms of two bones each.
    fn hierarchy() -> Hierarchy {
        let mut weights = SkinWeights::default();
        for joint in 0..5 {
            weights.push([(joint, 1.0)]);
        }
        weights.push([(1, 0.5), (2, 0.5)]);
        Hierarchy { parents: vec![None, Some(0), Some(1), Some(0), Some(3)], weights }
    }

    #[test]
    fn what_is_between_belongs_to_both() {
        let hierarchy = hierarchy();
        assert_eq!(hierarchy.belonging(2, 0), [0.0, 0.5, 1.0, 0.0, 0.0, 0.75]);
        assert_eq!(hierarchy.belonging(0, 2), [1.0, 0.5, 0.0, 1.0, 1.0, 0.25]);
        assert_eq!(hierarchy.belonging(2, 4), [0.5, 0.75, 1.0, 0.25, 0.0, 0.875]);
        assert!(
            hierarchy.adjoin(1, 2)
                && hierarchy.adjoin(0, 2)
                && !hierarchy.adjoin(2, 4)
                && !hierarchy.adjoin(1, 3)
        );
    }
}

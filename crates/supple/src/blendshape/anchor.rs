//! Anchors: small rigid rectangles inside a body that are its boundary conditions (001 §3.4).
//!
//! # Method
//!
//! 1. An anchor is placed in the base, at the centre or where it is asked for.
//! 2. Each of its corners gets springs to the nodes around it.
//! 3. In a target it goes where these springs, as long as in the base, are least stretched; then they are measured.
//! 4. Its motion from the base to the target is rigid.
//! 5. In a blend its corners are held on the blended motion, and everything else comes to rest about them.
//!
//! # Where we differ from the paper
//!
//! The anchor is rigid from the start, where very hard springs leave it 3e-4 to 2e-2 off. The rotation and the way of the
//! anchor's own centre are blended: a transformation about the origin moves what turns in place by up to 0.29 of its
//! distance from there. Several anchors are held each on its own motion, seen from the first.

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use super::body::SpringBody;
use super::rigid::Rigid;
use super::rotations::{rotation, rotation_vector};
use crate::spring::network::Network;

/// Corners of an anchor.
pub(super) const CORNERS: usize = 4;

/// Springs of a corner.
const SPRINGS: usize = 24;

/// Half the side of an anchor, in diagonals of the base's box.
const HALF_SIDE: f64 = 0.02;

/// Rounds of placing an anchor in a target: each turns it to where its springs point.
const ROUNDS: usize = 500;

/// Where an anchor is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Anchor {
    /// At the centre of the body's nodes.
    #[default]
    Centre,
    /// At a point.
    At(DVec3),
}

/// An anchor in a body.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) corners: [u32; CORNERS],
    pub(super) centre: DVec3,
}

/// A rotation vector and the way of the centre, from the base to a target.
pub(super) type Motion = [DVec3; 2];

impl Placed {
    /// Its motion to a target.
    pub(super) fn motion(&self, base: &[DVec3], target: &[DVec3]) -> Motion {
        let pairs = self.corners.iter().map(|&i| (base[i as usize], target[i as usize]));
        let fit = Rigid::fit(pairs);
        [rotation_vector(fit.turn), fit.to - fit.from]
    }

    /// `x ↦ turn (x − centre) + to` of a motion.
    pub(super) fn map(&self, [omega, way]: Motion) -> (DMat3, DVec3, DVec3) {
        (rotation(omega), self.centre, self.centre + way)
    }
}

/// Adds anchors to a body: nodes, springs, and their places in every target.
pub(super) fn add(body: &mut SpringBody, anchors: &[Anchor], diagonal: f64) -> Vec<Placed> {
    if anchors.is_empty() {
        return Vec::new();
    }
    let nodes = body.base.len();
    let k = body.network.stiffness();
    let mean = k.iter().sum::<f64>() / k.len().max(1) as f64;
    let (mut ends, mut stiffness) = (body.network.ends().to_vec(), k.to_vec());
    let mut placed = Vec::new();
    for anchor in anchors {
        let centre = match anchor {
            Anchor::Centre => body.base.iter().take(nodes).sum::<DVec3>() / nodes.max(1) as f64,
            Anchor::At(at) => *at,
        };
        let first = body.base.len() as u32;
        let half = HALF_SIDE * diagonal;
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(x, y)| centre + half * DVec3::new(x, y, 0.0));
        let arms: Vec<Arm> = corners.iter().flat_map(|c| arms(*c, &body.base[..nodes])).collect();
        for (corner, arms) in arms.chunks(SPRINGS.min(nodes)).enumerate() {
            let corner = first + corner as u32;
            ends.extend(arms.iter().map(|a| [a.node, corner]));
            stiffness.extend(arms.iter().map(|_| mean));
        }
        let reach: Vec<(usize, Arm)> = arms
            .chunks(SPRINGS.min(nodes))
            .enumerate()
            .flat_map(|(c, arms)| arms.iter().map(move |a| (c, *a)))
            .collect();
        for target in &mut body.targets {
            let start = Rigid::fit(reach.iter().map(|(_, a)| {
                let node = a.node as usize;
                (body.base[node], target[node])
            }));
            let motion = place(&corners, &reach, target, start);
            target.extend(corners.map(|c| motion.apply(c)));
        }
        body.base.extend(corners);
        body.is_surface.extend([false; CORNERS]);
        placed.push(Placed { corners: [0, 1, 2, 3].map(|c| first + c), centre });
    }
    body.network = Network::new(body.base.len(), ends, stiffness);
    placed
}

/// A spring from a corner to a node.
#[derive(Clone, Copy, Debug)]
struct Arm {
    node: u32,
    length: f64,
}

/// The nodes next to a corner.
fn arms(corner: DVec3, nodes: &[DVec3]) -> Vec<Arm> {
    let mut near: Vec<Arm> = (0..)
        .zip(nodes)
        .map(|(node, x)| Arm { node, length: (*x - corner).length_squared().sqrt() })
        .collect();
    let order = |a: &Arm, b: &Arm| a.length.total_cmp(&b.length).then(a.node.cmp(&b.node));
    if near.len() > SPRINGS {
        near.select_nth_unstable_by(SPRINGS - 1, order);
        near.truncate(SPRINGS);
    }
    near.sort_by(order);
    near
}

/// The rigid motion of an anchor for which its springs are least stretched in a target, from a start.
fn place(
    corners: &[DVec3; CORNERS],
    arms: &[(usize, Arm)],
    target: &[DVec3],
    start: Rigid,
) -> Rigid {
    let mut motion = start;
    for _ in 0..ROUNDS {
        let now = corners.map(|c| motion.apply(c));
        // Where each corner's springs would have it, were their directions right.
        let mut wanted = [(DVec3::ZERO, 0.0); CORNERS];
        for (corner, arm) in arms {
            let node = target[arm.node as usize];
            let way = now[*corner] - node;
            let size = way.length_squared().sqrt();
            let along = if size > 0.0 { way * (arm.length / size) } else { DVec3::ZERO };
            wanted[*corner].0 += node + along;
            wanted[*corner].1 += 1.0;
        }
        let pairs = corners.iter().zip(&wanted).map(|(c, (sum, n))| (*c, *sum / *n));
        let next = Rigid::fit(pairs);
        let moved = corners
            .iter()
            .zip(&now)
            .map(|(c, now)| (next.apply(*c) - *now).length_squared())
            .fold(0.0, f64::max);
        motion = next;
        if moved.is_nan() || moved <= 1e-24 * (corners[0] - corners[2]).length_squared() {
            break;
        }
    }
    if motion.turn.is_finite() && motion.to.is_finite() { motion } else { start }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;

    /// Whatever the start, an anchor comes to lie in the same place.
    #[test]
    fn anchors_are_placed_alike_from_three_starts() {
        let mut nodes = Vec::new();
        for x in -3..=3 {
            for y in -2..=2 {
                for z in -2..=2 {
                    nodes.push(DVec3::new(f64::from(x), f64::from(y), f64::from(z)));
                }
            }
        }
        let turn = DQuat::from_rotation_z(1.2) * DQuat::from_rotation_x(0.4);
        let bend = |p: &DVec3| {
            let bent = DVec3::new(p.x, p.y + 0.03 * p.x * p.x, p.z);
            turn * bent + DVec3::new(5.0, -2.0, 1.0)
        };
        let target: Vec<DVec3> = nodes.iter().map(bend).collect();
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(x, y)| DVec3::new(0.3 * x + 0.1, 0.3 * y, 0.05));
        let reach: Vec<(usize, Arm)> = corners
            .iter()
            .enumerate()
            .flat_map(|(c, corner)| arms(*corner, &nodes).into_iter().map(move |a| (c, a)))
            .collect();
        let fitted = Rigid::fit(nodes.iter().copied().zip(target.iter().copied()));
        let askew =
            Rigid { turn: DQuat::from_rotation_y(0.9), to: DVec3::new(4.0, -1.0, 2.0), ..fitted };
        let found = [fitted, Rigid::default(), askew]
            .map(|start| place(&corners, &reach, &target, start))
            .map(|motion| corners.map(|c| motion.apply(c)));
        for other in &found[1..] {
            for (a, b) in found[0].iter().zip(other) {
                assert!((*a - *b).length() < 1e-6, "{found:?}");
            }
        }
    }
}

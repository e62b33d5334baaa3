//! Evens out the triangles of a mesh on a solid's surface, keeping their number.
//!
//! # Method
//!
//! Rounds of two steps. Flips: an edge turns if the worse of its two triangles gets better, both
//! stay upright, and the new edge is no farther from the surface. Moves: every vertex goes half way
//! to the mean of its neighbours within its tangent plane and back onto the surface; all at once
//! from the same positions, so the result does not depend on the number of threads.

use glam::DVec3;

use super::fabric::{Fabric, area_normal, quality};
use super::solid::Solid;
use crate::Run;
use crate::run::Cancelled;

/// Rounds of flips and moves.
const ROUNDS: usize = 4;
/// Smallest cosine between a triangle and the surface's normal at its corners.
const UPRIGHT: f64 = 0.35;
/// How much better than before the worse triangle must be for a flip.
const GAIN: f64 = 1.02;

/// Flips edges and moves vertices along the surface.
pub(super) fn relax(fabric: &mut Fabric, solid: &Solid, run: &Run<'_>) -> Result<(), Cancelled> {
    for _ in 0..ROUNDS {
        run.check()?;
        let normals = surface_normals(fabric, solid, run);
        flip_edges(fabric, solid, &normals);
        run.check()?;
        let count = fabric.positions.len();
        fabric.positions = run.map(count, |v| moved(fabric, solid, &normals, v as u32));
    }
    run.check()?;
    run.for_each(&mut fabric.positions, |_, p| *p = solid.project(*p, 1));
    Ok(())
}

fn surface_normals(fabric: &Fabric, solid: &Solid, run: &Run<'_>) -> Vec<DVec3> {
    run.map(fabric.positions.len(), |v| solid.gradient(fabric.positions[v]).normalize_or_zero())
}

fn flip_edges(fabric: &mut Fabric, solid: &Solid, normals: &[DVec3]) {
    for a in 0..fabric.positions.len() as u32 {
        let neighbours: Vec<u32> = fabric.neighbours(a).filter(|&b| a < b).collect();
        for b in neighbours {
            if let Some(across) = better_edge(fabric, solid, normals, [a, b]) {
                fabric.flip([a, b], across);
            }
        }
    }
}

/// The ends of the edge that should replace `a b`, if it should be replaced.
fn better_edge(
    fabric: &Fabric,
    solid: &Solid,
    normals: &[DVec3],
    [a, b]: [u32; 2],
) -> Option<[u32; 2]> {
    let (c, d) = (fabric.opposite(a, b)?, fabric.opposite(b, a)?);
    if fabric.around(a).len() <= 4 || fabric.around(b).len() <= 4 {
        return None;
    }
    let [pa, pb, pc, pd] = [a, b, c, d].map(|v| fabric.positions[v as usize]);
    let before = quality([pa, pb, pc]).min(quality([pb, pa, pd]));
    let after = quality([pc, pa, pd]).min(quality([pd, pb, pc]));
    if after < GAIN * before {
        return None;
    }
    let off = |p: DVec3, q: DVec3| solid.distance(0.5 * (p + q)).abs();
    let allowed = off(pa, pb).max(0.02 * (pd - pc).length());
    if off(pc, pd) > 1.5 * allowed || fabric.neighbours(c).any(|n| n == d) {
        return None;
    }
    let upright = is_upright([c, a, d], [pc, pa, pd], normals)
        && is_upright([d, b, c], [pd, pb, pc], normals);
    upright.then_some([c, d])
}

fn is_upright(corners: [u32; 3], points: [DVec3; 3], normals: &[DVec3]) -> bool {
    let face = area_normal(points);
    let lean = UPRIGHT * face.length();
    corners.iter().all(|&v| face.dot(normals[v as usize]) > lean)
}

fn moved(fabric: &Fabric, solid: &Solid, normals: &[DVec3], v: u32) -> DVec3 {
    let (p, normal) = (fabric.positions[v as usize], normals[v as usize]);
    let valence = fabric.around(v).len();
    if valence == 0 {
        return p;
    }
    let sum = fabric.neighbours(v).fold(DVec3::ZERO, |s, n| s + fabric.positions[n as usize]);
    let towards = 0.5 * (sum / valence as f64 - p);
    let target = solid.project(p + towards - normal * normal.dot(towards), 1);
    let (mut worst_before, mut worst_after) = (1.0_f64, 1.0_f64);
    for &t in fabric.around(v) {
        let (corners, before) = (fabric.corners(t), fabric.points(t));
        let mut after = before;
        for k in 0..3 {
            if corners[k] == v {
                after[k] = target;
            }
        }
        let face = area_normal(after);
        let lean = UPRIGHT * face.length();
        let upright = (0..3).all(|k| {
            face.dot(if corners[k] == v { normal } else { normals[corners[k] as usize] }) > lean
        });
        if !upright {
            return p;
        }
        worst_before = worst_before.min(quality(before));
        worst_after = worst_after.min(quality(after));
    }
    if worst_after > 0.5 || worst_after >= worst_before { target } else { p }
}

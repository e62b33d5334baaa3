//! Tangential smoothing: every vertex towards the middle of its neighbours, along the surface.
//!
//! All vertices move at once, from the positions before. What that spoils is put back: the corners of
//! triangles that turned over or went thin, and of pairs of triangles, also of other meshes, that did not intersect
//! before.
//! What is put back may spoil its neighbours, so this is repeated until nothing is left to mend.

use glam::Vec3;

use super::connect::{NONE, prev};
use super::guard::{quality, sound_normal};
use super::passes::{Passes, is_near, span};
use super::surface::Constraint;
use super::work::Work;
use crate::Run;
use crate::mesh::intersect::self_intersections;
use crate::run::Cancelled;

/// New triangles face within this of the old ones: 60°.
const SAME_FACING: f64 = 0.5;

/// Triangles better than this may get worse down to it.
const GOOD_QUALITY: f64 = 0.3;

/// Smooths once. The mesh must be compact.
pub(super) fn smooth(passes: &mut Passes<'_>, run: &Run<'_>) -> Result<(), Cancelled> {
    let before = passes.work.positions.clone();
    let places = passes.work.places.clone();
    let known = known_pairs(passes, run)?;
    let known_beside = pairs_beside(passes, run)?;
    let moved = run.map(before.len(), |v| target(passes, v as u32));
    for (v, (place, at)) in moved.into_iter().enumerate() {
        passes.work.places[v] = place;
        passes.work.positions[v] = at;
    }
    let mut back = vec![false; before.len()];
    loop {
        run.check()?;
        mend_shapes(&mut passes.work, &before, &places, &mut back, run);
        let pairs = self_intersections(&passes.work.positions, &passes.work.triangles, run)?;
        let new = pairs.iter().filter(|pair| known.binary_search(pair).is_err());
        let mut met: Vec<u32> = new.flatten().copied().collect();
        let beside = pairs_beside(passes, run)?;
        let new = beside.iter().filter(|pair| known_beside.binary_search(pair).is_err());
        met.extend(new.map(|pair| pair[0]));
        let mut mended = false;
        for t in met {
            for v in passes.work.triangles[t as usize].map(|v| v as usize) {
                mended |= !back[v];
                put_back(&mut passes.work, &before, &places, &mut back, v);
            }
        }
        if !mended {
            return Ok(());
        }
    }
}

/// Pairs that intersect already, if any can.
fn known_pairs(passes: &Passes<'_>, run: &Run<'_>) -> Result<Vec<[u32; 2]>, Cancelled> {
    if !passes.guard.dirty {
        return Ok(Vec::new());
    }
    self_intersections(&passes.work.positions, &passes.work.triangles, run)
}

/// Pairs of a triangle and one of another mesh.
fn pairs_beside(passes: &Passes<'_>, run: &Run<'_>) -> Result<Vec<[u32; 2]>, Cancelled> {
    let Some(beside) = passes.guard.beside else { return Ok(Vec::new()) };
    beside.pairs(&passes.work.positions, &passes.work.triangles, run)
}

fn put_back(work: &mut Work, before: &[Vec3], places: &[Constraint], back: &mut [bool], v: usize) {
    work.positions[v] = before[v];
    work.places[v] = places[v];
    back[v] = true;
}

/// Puts vertices back until no triangle that moved is turned over or thin.
fn mend_shapes(
    work: &mut Work,
    before: &[Vec3],
    places: &[Constraint],
    back: &mut [bool],
    run: &Run<'_>,
) {
    loop {
        let (shape, gone) = (&*work, &*back);
        let spoilt = run.map(work.triangles.len(), |t| {
            let corners = shape.triangles[t].map(|v| v as usize);
            corners.iter().any(|&v| !gone[v]) && is_spoilt(shape, before, t)
        });
        let mut any = false;
        for (t, _) in spoilt.iter().enumerate().filter(|(_, spoilt)| **spoilt) {
            for v in work.triangles[t].map(|v| v as usize) {
                any |= !back[v];
                put_back(work, before, places, back, v);
            }
        }
        if !any {
            return;
        }
    }
}

fn is_spoilt(work: &Work, before: &[Vec3], t: usize) -> bool {
    let new = work.corners_of(t as u32);
    let old = work.triangles[t].map(|v| before[v as usize]);
    if new == old {
        return false;
    }
    let Some(n) = sound_normal(&new) else { return true };
    if sound_normal(&old).is_some_and(|m| n.dot(m) < SAME_FACING) {
        return true;
    }
    quality(&new) < quality(&old).min(GOOD_QUALITY)
}

/// Where a vertex goes: nowhere if the surface would leave it by more than the tolerance.
fn target(passes: &Passes<'_>, v: u32) -> (Constraint, Vec3) {
    let work = &passes.work;
    let stay = (work.places[v as usize], work.at(v));
    let (place, at) = if passes.is_free(stay.0) { evened(passes, v) } else { stay };
    let side = |spoke: u32| [at, work.at(work.to(spoke)), work.at(work.from(prev(spoke)))];
    let is_kept = || {
        let fan: Vec<[Vec3; 3]> = work.spokes(v).map(side).collect();
        is_near(stay.1, &fan, passes.tolerance)
    };
    if passes.tolerance.is_infinite() || at == stay.1 || is_kept() { (place, at) } else { stay }
}

/// The middle between the neighbours of a vertex, on the surface.
fn evened(passes: &Passes<'_>, v: u32) -> (Constraint, Vec3) {
    let work = &passes.work;
    let place = work.places[v as usize];
    let stay = (place, work.at(v));
    match place {
        Constraint::Corner(_) => stay,
        Constraint::Curve(curve, _) => {
            let Some(at) = between_neighbours(passes, v) else { return stay };
            (Constraint::Curve(curve, at), passes.surface.point_on_curve(curve, at))
        }
        Constraint::Face(t) => {
            let Some(at) = centred(work, v) else { return stay };
            let (t, at) = passes.surface.project(at, t);
            (Constraint::Face(t), at)
        }
    }
}

/// Halfway between the neighbours along the curve.
fn between_neighbours(passes: &Passes<'_>, v: u32) -> Option<f64> {
    let work = &passes.work;
    let (mut sum, mut count) = (0.0, 0);
    for spoke in work.spokes(v) {
        if work.label[spoke as usize] != 0 {
            sum += span(passes.surface, work, spoke)[1];
            count += 1;
        }
        let last = prev(spoke);
        if work.twin[last as usize] == NONE && work.label[last as usize] != 0 {
            sum += span(passes.surface, work, last)[0];
            count += 1;
        }
    }
    (count == 2).then_some(0.5 * sum)
}

/// The middle of the neighbours, in the plane across the normal.
fn centred(work: &Work, v: u32) -> Option<Vec3> {
    let at = work.at(v);
    let (mut normal, mut sum, mut count) = (Vec3::ZERO, Vec3::ZERO, 0.0);
    for spoke in work.spokes(v) {
        let [p, q] = [work.to(spoke), work.from(prev(spoke))].map(|v| work.at(v) - at);
        normal += p.cross(q);
        sum += p;
        count += 1.0;
    }
    let normal = normal.try_normalize()?;
    let shift = sum / count;
    Some(at + shift - normal * normal.dot(shift))
}

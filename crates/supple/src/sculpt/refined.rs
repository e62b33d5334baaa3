//! Edits on a mesh that becomes as fine as they need it (thesis, section 2.4.2).

use glam::Vec3;

use super::correct::restore_volume;
use super::path::{NotReversible, SpaceMap};
use super::{Error, OnContact, Op, Outcome, Params, apply, apply_keeping, measure};
use crate::mesh::bvh::Bvh;
use crate::mesh::exact_volume::freedom_by_displacement;
use crate::mesh::intersect::self_intersections;
use crate::mesh::measure::Bounds;
use crate::mesh::refine::{self, Refined, refine};
use crate::mesh::remesh::settle::{Merge, settle};
use crate::mesh::remesh::{self, mean_edge};
use crate::mesh::untangle::untangle;
use crate::mesh::volume::volume;
use crate::mesh::welding::is_closed;
use crate::mesh::{TriMesh, Values};
use crate::run::{Cancelled, Run};

/// Share of the old mesh's mean edge below which edges may be merged.
const NEEDLESS: f32 = 0.7;

/// Share of the tolerance by which evening out may leave the edited shape; that share of it again if it
/// costs too much volume.
const LEFT: f32 = 0.25;

/// How often settling is tried, each time with more triangles left as they are.
const SETTLINGS: usize = 4;

/// How far small folds may be smoothed, over the diagonal of the shape.
const SMOOTHED_REL_BBOX: f32 = 0.02;

/// How often an edit that lives on the surface is made anew on a finer one.
const MADE_ANEW: usize = 3;

/// Why a shape could not be edited and refined. The mesh is then as it was.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RefineError {
    /// An edit cannot be carried out.
    #[error(transparent)]
    Edit(#[from] Error),
    /// The shape was closed and would not be.
    #[error("edges would open in a closed shape; weld it first (supple convert --weld 0)")]
    Opened,
    /// New vertices could not be sent through the edits.
    #[error(transparent)]
    Refinement(#[from] refine::Error<NotReversible>),
}

impl From<Cancelled> for RefineError {
    fn from(cancelled: Cancelled) -> Self {
        Self::Refinement(cancelled.into())
    }
}

/// Carries out the edits as [`apply`] does, on a mesh as fine as the edited shape needs it.
///
/// It is split at rest; see [`mesh::refine`](crate::mesh::refine). Then the vertices of what moved are
/// spread evenly over the edited shape, and what became needlessly fine is merged: that, too, is a choice
/// of points at rest, so that all vertices have gone through the edits.
///
/// An edit along a curve lives on the surface it was made on: it is made anew on each finer one. With a mask, or an
/// edit that names vertices, the mesh stays as fine as it is, and the report says so. Small folds that are left are
/// smoothed ([`mesh::untangle`](crate::mesh::untangle)). What intersects afterwards is for the caller to count
/// ([`mesh::folding`](crate::mesh::folding)).
///
/// # Errors
///
/// [`RefineError::Edit`] names the edit and what is wrong with it.
pub fn apply_refined(
    mesh: &mut TriMesh,
    ops: &[Op],
    params: &Params,
    fineness: &refine::Params,
    run: &Run<'_>,
) -> Result<Outcome, RefineError> {
    // What is evened out must be whole: copies of a vertex would be merged and spread one by one.
    let whole = if params.mask.is_empty() { remesh::seamless(mesh) } else { None };
    let Some(mut whole) = whole else { return apply_to_whole(mesh, ops, params, fineness, run) };
    let outcome = apply_to_whole(&mut whole, ops, params, fineness, run)?;
    remesh::check_closed(mesh, &whole).map_err(|_open| RefineError::Opened)?;
    remesh::shade_as(&mut whole, mesh, remesh::Params::default().feature_degrees, run);
    *mesh = whole;
    Ok(outcome)
}

/// As [`apply_refined`], on a mesh without copies of vertices.
fn apply_to_whole(
    mesh: &mut TriMesh,
    ops: &[Op],
    params: &Params,
    fineness: &refine::Params,
    run: &Run<'_>,
) -> Result<Outcome, RefineError> {
    let quiet = unwatched(params);
    let plain = Params { exact_volume: false, ..quiet.clone() };
    let Some(refined) = split(mesh, ops, &plain, fineness, run)? else {
        if params.mask.is_empty()
            && !mesh.triangles.is_empty()
            && !ops.iter().any(Op::names_vertices)
        {
            return apply_anew(mesh, ops, params, fineness, run);
        }
        let mut outcome = apply(&mut mesh.positions, &mesh.triangles, ops, params, run)?;
        let why = "not remeshed: new vertices cannot follow an edit of some vertices (picked, painted, or with a mask)";
        outcome.report.warnings.extend((!mesh.triangles.is_empty()).then(|| why.to_owned()));
        return Ok(outcome);
    };
    let volume = volume(&mesh.positions, &mesh.triangles, run);
    let edited = |rest: &TriMesh, params: &Params| Edited::new(rest, volume, ops, params, run);
    let is_watched = *params != quiet && ops.iter().any(Op::may_meet_itself);
    let at_rest = pairs_of(mesh, run)?.len();
    let known = at_rest + refined.intersections_added;
    let loss = may_lose(mesh, &refined, fineness, run);
    let (mut free, mut left) = (moved(&refined), LEFT);
    let mut settlings = 0;
    let mut finer = loop {
        let settled = settled(mesh, &refined, &free, left * fineness.tolerance_rel_bbox, run)?;
        let finer = edited(&settled, &quiet)?;
        let pairs = pairs_of(&finer.mesh, run)?;
        let keeps_volume = finer.outcome.report.volume_error().abs() <= loss;
        if pairs.len() <= known && keeps_volume {
            break if is_watched { edited(&settled, params)? } else { finer };
        }
        settlings += 1;
        if settlings == SETTLINGS {
            break edited(&refined.mesh, params)?;
        }
        if pairs.len() > known {
            hold_near(&mut free, &refined, &finer.mesh, &pairs, run);
        }
        if !keeps_volume {
            left *= LEFT;
        }
    };
    let mut found = pairs_of(&finer.mesh, run)?.len();
    if found > at_rest {
        finer.untangle(volume, params, run)?;
        found = pairs_of(&finer.mesh, run)?.len();
    }
    if found > at_rest {
        // No finer mesh is worth more intersections than the mesh as it is would have.
        let mut coarse = edited(mesh, params)?;
        coarse.untangle(volume, params, run)?;
        if pairs_of(&coarse.mesh, run)?.len() < found {
            let why = "not remeshed: the finer mesh would intersect itself, this one does so less";
            coarse.outcome.report.warnings.push(why.to_owned());
            finer = coarse;
        }
    }
    *mesh = finer.mesh;
    Ok(finer.outcome)
}

/// A mesh and what edits made of it.
struct Edited {
    rest: Vec<Vec3>,
    mesh: TriMesh,
    outcome: Outcome,
}

impl Edited {
    fn new(
        rest: &TriMesh,
        volume: f64,
        ops: &[Op],
        params: &Params,
        run: &Run<'_>,
    ) -> Result<Self, Error> {
        let mut mesh = rest.clone();
        let (positions, triangles) = (&mut mesh.positions, &mesh.triangles);
        let outcome = apply_keeping(volume, positions, triangles, ops, params, run)?;
        Ok(Self { rest: rest.positions.clone(), mesh, outcome })
    }

    /// Smooths the small folds that triangles as fine as they may be still have, and gives the volume back if that is
    /// asked for.
    fn untangle(&mut self, volume: f64, params: &Params, run: &Run<'_>) -> Result<(), Cancelled> {
        let Self { rest, mesh: TriMesh { positions, triangles, .. }, outcome } = self;
        let reach = SMOOTHED_REL_BBOX * Bounds::of(rest).map_or(0.0, |b| b.diagonal());
        let told = untangle(rest, positions, triangles, reach, run)?;
        if told.vertices == 0 {
            return Ok(());
        }
        let report = &mut outcome.report;
        report.warnings.push(format!(
            "{} vertices smoothed where {} pairs of triangles would intersect",
            told.vertices, told.before
        ));
        if params.exact_volume {
            let freedom = freedom_by_displacement(rest, positions);
            let not_done = restore_volume(positions, triangles, volume, freedom, run)?;
            report.warnings.extend(not_done);
        }
        let measured = measure(rest, positions, triangles, run);
        report.volume_after = measured.volume_after;
        report.moved = measured.moved;
        report.max_displacement = measured.max_displacement;
        Ok(())
    }
}

/// For edits that live on the surface: it is split where the edited shape is seen to need it, and they are made anew on
/// the finer one, as long as that makes fewer triangles intersect.
fn apply_anew(
    mesh: &mut TriMesh,
    ops: &[Op],
    params: &Params,
    fineness: &refine::Params,
    run: &Run<'_>,
) -> Result<Outcome, RefineError> {
    let quiet = unwatched(params);
    let volume = volume(&mesh.positions, &mesh.triangles, run);
    let edit = |rest: &TriMesh, params: &Params| -> Result<_, RefineError> {
        let edited = Edited::new(rest, volume, ops, params, run)?;
        let pairs = pairs_of(&edited.mesh, run)?.len();
        Ok((edited, pairs))
    };
    let at_rest = pairs_of(mesh, run)?.len();
    let mut rest = mesh.clone();
    let (mut edited, mut pairs) = edit(&rest, &quiet)?;
    for made in 0..MADE_ANEW {
        if made > 0 && pairs <= at_rest {
            break;
        }
        let Some(finer) = refine::split_for(&rest, &edited.mesh.positions, fineness, run)? else {
            break;
        };
        let next = edit(&finer, &quiet)?;
        if next.1 > pairs || (next.1 == pairs && made > 0) {
            break;
        }
        rest = finer;
        (edited, pairs) = next;
    }
    if *params != quiet && ops.iter().any(Op::may_meet_itself) {
        (edited, _) = edit(&rest, params)?;
    }
    if pairs > at_rest {
        edited.untangle(volume, params, run)?;
    }
    *mesh = edited.mesh;
    Ok(edited.outcome)
}

/// For edits of which nobody hears what they run into.
fn unwatched(params: &Params) -> Params {
    let on_contact = match params.on_contact {
        OnContact::Ignore | OnContact::Report => OnContact::Ignore,
        OnContact::Stop => OnContact::Stop,
    };
    Params { on_contact, ..params.clone() }
}

fn pairs_of(mesh: &TriMesh, run: &Run<'_>) -> Result<Vec<[u32; 2]>, Cancelled> {
    self_intersections(&mesh.positions, &mesh.triangles, run)
}

/// How much volume may be gained or lost once the mesh is evened out: as much again as splitting may. An
/// open shape has none.
fn may_lose(mesh: &TriMesh, refined: &Refined, fineness: &refine::Params, run: &Run<'_>) -> f64 {
    let is_closed = is_closed(&mesh.positions, &mesh.triangles);
    let Some(share) = fineness.volume_rel.filter(|_| is_closed) else {
        return f64::INFINITY;
    };
    let before = volume(&mesh.positions, &mesh.triangles, run);
    let after = volume(&refined.frames[0], &refined.mesh.triangles, run);
    (after / before - 1.0).abs() + f64::from(share)
}

/// Which triangles the edits moved.
fn moved(refined: &Refined) -> Vec<bool> {
    let moved = |v: &u32| refined.mesh.positions[*v as usize] != refined.frames[0][*v as usize];
    refined.mesh.triangles.iter().map(|t| t.iter().any(moved)).collect()
}

/// Keeps the triangles as they are that lie where others intersect after settling.
fn hold_near(
    free: &mut [bool],
    refined: &Refined,
    finer: &TriMesh,
    pairs: &[[u32; 2]],
    run: &Run<'_>,
) {
    let bvh = Bvh::new(&refined.frames[0], &refined.mesh.triangles, run);
    for &t in pairs.as_flattened() {
        let Some(bounds) = Bounds::of(&finer.corners_of(t as usize)) else { continue };
        let (min, max) = (bounds.min - bounds.diagonal(), bounds.max + bounds.diagonal());
        for near in bvh.in_box(&Bounds { min, max }) {
            free[near as usize] = false;
        }
    }
}

/// Name of the attribute that holds where a vertex rests.
const REST: &str = "sculpt.rest";

/// The mesh at rest whose edited shape is evened out.
fn settled(
    old: &TriMesh,
    refined: &Refined,
    free: &[bool],
    tolerance_rel_bbox: f32,
    run: &Run<'_>,
) -> Result<TriMesh, RefineError> {
    let mut edited = refined.mesh.clone();
    edited.positions.clone_from(&refined.frames[0]);
    edited.attributes.set(REST, Values::Vec3(refined.mesh.positions.clone()));
    let diagonal = Bounds::of(&old.positions).map_or(0.0, |b| b.diagonal());
    let merge = Merge {
        shortest: NEEDLESS * mean_edge(old, run) as f32,
        tolerance: tolerance_rel_bbox * diagonal,
    };
    let mut even = match settle(&edited, free, &merge, run) {
        Ok(even) => even,
        Err(remesh::Error::Cancelled(cancelled)) => return Err(cancelled.into()),
        Err(_) => return Ok(refined.mesh.clone()),
    };
    if let Some(Values::Vec3(rest)) = even.attributes.remove(REST) {
        even.positions = rest;
    }
    Ok(even)
}

/// The mesh at rest, split wherever the edited shape needs more triangles; as it is if one of the edits
/// lives on its vertices.
///
/// # Errors
///
/// As [`apply_refined`].
pub fn refined(
    mesh: &TriMesh,
    ops: &[Op],
    fineness: &refine::Params,
    run: &Run<'_>,
) -> Result<TriMesh, RefineError> {
    let split = split(mesh, ops, &Params::default(), fineness, run)?;
    Ok(split.map_or_else(|| mesh.clone(), |refined| refined.mesh))
}

/// Refines for the edits, unless one of them lives on the vertices.
fn split(
    mesh: &TriMesh,
    ops: &[Op],
    params: &Params,
    fineness: &refine::Params,
    run: &Run<'_>,
) -> Result<Option<Refined>, RefineError> {
    let is_of_one_mesh = ops.iter().any(Op::names_vertices);
    if !params.mask.is_empty() || mesh.triangles.is_empty() || is_of_one_mesh {
        return Ok(None);
    }
    let params = unwatched(params);
    let mut trial = mesh.positions.clone();
    let path = apply(&mut trial, &mesh.triangles, ops, &params, run)?.path;
    if path.maps.iter().any(|map| matches!(map, SpaceMap::Stored(_))) {
        return Ok(None);
    }
    let replay = |points: &TriMesh| -> Result<_, NotReversible> {
        let mut moved = points.positions.clone();
        path.replay(&mut moved, &params.integration, run)?;
        Ok(vec![moved])
    };
    Ok(Some(refine(mesh, &replay, fineness, run)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::adjacency::topology;
    use crate::sculpt::{Curve, Extent, Guide, Twist};
    use crate::zoo;

    fn bar() -> TriMesh {
        let size = zoo::Size { triangles: Some(800) };
        zoo::build("bar", &size, &Run::default()).unwrap().meshes.swap_remove(0)
    }

    fn twist() -> [Op; 1] {
        [Op::Twist(Twist { axis: Vec3::X, degrees: 120.0, from: 0.0, to: 2.0, ..Twist::default() })]
    }

    /// Merging takes triangles away, not volume; what no edit moves has the vertices it had.
    #[test]
    fn what_moved_is_evened_out_and_what_rests_stays() {
        let (old, run, fineness) = (bar(), Run::default(), refine::Params::default());
        let split = refined(&old, &twist(), &fineness, &run).unwrap();
        let mut even = old.clone();
        let outcome =
            apply_refined(&mut even, &twist(), &Params::default(), &fineness, &run).unwrap();
        assert_eq!(even.validate(), Ok(()));
        assert_eq!(pairs_of(&even, &run), Ok(Vec::new()));
        let counts = [old.triangles.len(), even.triangles.len(), split.triangles.len()];
        assert!(counts.is_sorted_by(|a, b| a < b), "{counts:?}");
        assert!(outcome.report.volume_error().abs() < 3e-4, "{}", outcome.report.volume_error());
        for p in old.positions.iter().filter(|p| p.x < -0.5) {
            assert!(even.positions.contains(p), "{p} is gone");
        }
    }

    /// An edit that lives on the surface is made anew on a finer one.
    #[test]
    fn a_pull_along_a_curve_is_refined() {
        let (size, run) = (zoo::Size { triangles: Some(320) }, Run::default());
        let mut ball = zoo::build("ball", &size, &run).unwrap().meshes.swap_remove(0);
        let old = ball.triangles.len();
        let guide = Guide::Through(vec![Vec3::Y, 1.4 * Vec3::Y, 1.8 * Vec3::Y]);
        let extent = Extent::Geodesic { from: Vec3::Y, inner: 0.5, outer: 1.5 };
        let ops = [Op::Curve(Curve { guide, extent, ..Curve::default() })];
        let fineness = refine::Params::default();
        let done = apply_refined(&mut ball, &ops, &Params::default(), &fineness, &run).unwrap();
        assert!(ball.triangles.len() > 2 * old, "{} triangles of {old}", ball.triangles.len());
        assert!(topology(ball.positions.len(), &ball.triangles, &run).is_closed());
        assert_eq!(pairs_of(&ball, &run), Ok(Vec::new()));
        assert!(done.report.volume_error().abs() < 1e-6, "{}", done.report.volume_error());
        assert!(done.report.warnings.is_empty(), "{:?}", done.report.warnings);
    }

    #[test]
    fn colours_come_along() {
        let (mut mesh, run) = (bar(), Run::default());
        let along = mesh.positions.iter().map(|p| p.x).collect();
        mesh.attributes.set("along", Values::Scalar(along));
        let params = Params::default();
        apply_refined(&mut mesh, &twist(), &params, &refine::Params::default(), &run).unwrap();
        // A twist about x leaves x as it is.
        for (p, x) in mesh.positions.iter().zip(mesh.attributes.scalar("along").unwrap()) {
            assert!((p.x - x).abs() < 1e-4, "{p} carries {x}");
        }
    }
}

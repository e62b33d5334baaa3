//! Edits on a mesh that becomes as fine as they need it (thesis, section 2.4.2).

use super::path::{NotReversible, Stage};
use super::{Error, Op, Outcome, Params, apply};
use crate::mesh::TriMesh;
use crate::mesh::refine::{self, refine};
use crate::run::{Cancelled, Run};

/// Why a shape could not be edited and refined. The mesh is then as it was.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RefineError {
    /// An edit cannot be carried out.
    #[error(transparent)]
    Edit(#[from] Error),
    /// New vertices could not be sent through the edits.
    #[error(transparent)]
    Refinement(#[from] refine::Error<NotReversible>),
}

impl From<Cancelled> for RefineError {
    fn from(cancelled: Cancelled) -> Self {
        Self::Refinement(cancelled.into())
    }
}

/// Carries out the edits as [`apply`] does, on a mesh that is split, at rest, wherever the edited shape
/// needs more triangles; see [`mesh::refine`](crate::mesh::refine).
///
/// An edit along a curve lives on the vertices it was made on: with one among the edits the mesh stays
/// as fine as it is, and the report says so.
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
    let mut trial = mesh.positions.clone();
    let plain = Params { exact_volume: false, ..params.clone() };
    let path = apply(&mut trial, &mesh.triangles, ops, &plain, run)?.path;
    let is_stored = |stage: &Stage| matches!(stage, Stage::Stored(_));
    if path.stages.iter().any(is_stored) || mesh.triangles.is_empty() {
        let mut outcome = apply(&mut mesh.positions, &mesh.triangles, ops, params, run)?;
        let why = "not remeshed: new vertices cannot follow an edit along a curve on the surface";
        outcome.report.warnings.extend((!mesh.triangles.is_empty()).then(|| why.to_owned()));
        return Ok(outcome);
    }
    let replay = |points: &TriMesh| {
        let mut moved = points.positions.clone();
        path.replay(&mut moved, &params.integration, run)?;
        Ok(vec![moved])
    };
    let refined = refine(mesh, &replay, fineness, run)?;
    let mut finer = refined.mesh;
    let mut outcome = apply(&mut finer.positions, &finer.triangles, ops, params, run)?;
    if refined.intersections_added > 0 {
        let pairs = refined.intersections_added;
        outcome.report.warnings.push(format!("{pairs} pairs of triangles intersect that did not"));
    }
    *mesh = finer;
    Ok(outcome)
}

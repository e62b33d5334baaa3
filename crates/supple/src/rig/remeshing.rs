//! Remeshing all meshes of an asset, one after the other, each with the others beside it.
//!
//! # Method
//!
//! What counts is where the file shows its meshes. A mesh that one matrix takes there sees the triangles of all others
//! near it, brought into its own space; triangles it must not run into. One that its skin bends already where the file
//! shows it is remeshed there, and its new vertices are bound where they are on the old surface. Vertices of borders
//! that are where others have vertices stay: the body would open there.
//!
//! # Limits
//!
//! - What a bend does within a triangle is not looked at; a mesh that is shown several times and bent does not see the
//!   others; instances of one mesh do not see each other. What comes to intersect is counted.
//!
//! # Example
//!
//! ```
//! use supple::mesh::remesh::Params;
//! use supple::rig::remeshing::remesh_all;
//! use supple::{Run, zoo};
//!
//! let run = Run::default();
//! let mut asset = zoo::build("cow", &zoo::Size { triangles: Some(500) }, &run)?;
//! let done = remesh_all(&mut asset, &Params::default(), &run)?;
//! assert_eq!(done.meshes.len(), asset.meshes.len());
//! assert!(done.intersections_after <= done.intersections_before);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::HashMap;

use glam::{Mat4, Vec3};

use super::asset::Asset;
use super::body::{InstanceSurface, Parts};
use crate::Run;
use crate::mesh::attribute::NORMAL;
use crate::mesh::intersect::count_self_intersections;
use crate::mesh::measure::{Bounds, area};
use crate::mesh::remesh::{
    Beside, Error, Params, Report, Target, mean_edge, remesh_beside, shade_as,
};
use crate::mesh::{TriMesh, Values};
use crate::run::Cancelled;

/// How near to a mesh's box triangles of others are looked at, as a share of its size.
const NEAR: f32 = 1e-3;

/// What was done to an asset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// What was done to each mesh with triangles.
    pub meshes: Vec<Report>,
    /// Pairs of triangles that intersected where the file shows its meshes, also those of two meshes.
    pub intersections_before: u64,
    /// Pairs of triangles that intersect now.
    pub intersections_after: u64,
}

/// Remeshes all meshes that have triangles. A number of triangles is shared out by area.
///
/// # Errors
///
/// What [`remesh`](crate::mesh::remesh::remesh) says of the first mesh that cannot be; those before it are done then.
pub fn remesh_all(asset: &mut Asset, params: &Params, run: &Run<'_>) -> Result<Done, Error> {
    let areas: Vec<f64> =
        asset.meshes.iter().map(|m| area(&m.positions, &m.triangles, run)).collect();
    let whole: f64 = areas.iter().sum();
    let mut shown = if asset.is_one_still_mesh() { Vec::new() } else { placed(asset, run) };
    let mut done = Done { intersections_before: pairs(&shown, run)?, ..Done::default() };
    for (m, area) in areas.into_iter().enumerate() {
        if asset.meshes[m].triangles.is_empty() {
            continue;
        }
        let share = area / whole.max(f64::MIN_POSITIVE);
        let own = Params { target: shared_out(params.target, share), ..params.clone() };
        let (new, report) = one(&asset.meshes[m], m, &shown, &own, run)?;
        asset.meshes[m] = new;
        done.meshes.push(report);
        if !shown.is_empty() {
            shown = placed(asset, run);
        }
    }
    done.intersections_after = pairs(&shown, run)?;
    if shown.is_empty() {
        let sum = |of: fn(&Report) -> usize| done.meshes.iter().map(of).sum::<usize>() as u64;
        done.intersections_before = sum(|report| report.intersections_before);
        done.intersections_after = sum(|report| report.intersections_after);
    }
    Ok(done)
}

/// Remeshes mesh `m`.
fn one(
    mesh: &TriMesh,
    m: usize,
    shown: &[Shown],
    params: &Params,
    run: &Run<'_>,
) -> Result<(TriMesh, Report), Error> {
    let mut own = shown.iter().filter(|own| own.mesh == m);
    let bent = own.next().filter(|o| o.matrix.is_none() && own.next().is_none());
    let is_alone = shown.iter().all(|other| other.mesh == m);
    let Some(bent) = bent.filter(|_| !is_alone) else {
        let beside = beside(&mesh.positions, m, shown, None, run);
        return remesh_beside(mesh, beside.as_ref(), params, run);
    };
    let positions = bent.surface.positions.clone();
    let beside = beside(&positions, m, shown, Some(Mat4::IDENTITY), run);
    let mut there = TriMesh { positions, ..mesh.clone() };
    there.attributes.set(BOUND.to_owned(), Values::Vec3(mesh.positions.clone()));
    let scale = mean_edge(&there, run) / mean_edge(mesh, run);
    let scale = if scale.is_normal() { scale as f32 } else { 1.0 };
    let mut params = params.clone();
    if let Target::Length(length) = &mut params.target {
        *length *= scale;
    }
    let (mut new, mut report) = remesh_beside(&there, beside.as_ref(), &params, run)?;
    if let Some(Values::Vec3(bound)) = new.attributes.remove(BOUND) {
        new.positions = bound;
    }
    // Made where it is shown: anew where it is bound.
    new.corners.retain(|corner| corner.name != NORMAL);
    shade_as(&mut new, mesh, params.feature_degrees, run);
    report.length /= scale;
    Ok((new, report))
}

/// Where vertices are bound, while they are elsewhere.
const BOUND: &str = "bound while remeshed";

fn shared_out(target: Target, share: f64) -> Target {
    match target {
        Target::Triangles(count) => Target::Triangles((count as f64 * share).round() as usize),
        other => other,
    }
}

/// An instance of a mesh where the file shows it.
struct Shown {
    mesh: usize,
    surface: InstanceSurface,
    bounds: Bounds,
    /// What takes the mesh there, if one matrix does.
    matrix: Option<Mat4>,
}

/// The instances of an asset's meshes; none of one that is no body.
fn placed(asset: &Asset, run: &Run<'_>) -> Vec<Shown> {
    let Ok(parts) = Parts::of(asset) else { return Vec::new() };
    let one = |index: usize| {
        let (surface, matrix) = parts.placed(index, run).ok()?;
        let bounds = Bounds::of(&surface.positions).unwrap_or(Bounds::EMPTY);
        Some(Shown { mesh: parts.mesh(index), surface, bounds, matrix })
    };
    (0..parts.len()).filter_map(one).collect()
}

/// Pairs that intersect in all of them together.
fn pairs(shown: &[Shown], run: &Run<'_>) -> Result<u64, Cancelled> {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for Shown { surface, .. } in shown {
        let base = positions.len() as u32;
        positions.extend_from_slice(&surface.positions);
        triangles.extend(surface.triangles.iter().map(|t| t.map(|v| v + base)));
    }
    Ok(count_self_intersections(&positions, &triangles, run)?.pairs)
}

/// What stands beside mesh `m`, in the space of the positions given; `matrix` brings them where they are shown, if that is
/// not the instance's own.
fn beside(
    positions: &[Vec3],
    m: usize,
    shown: &[Shown],
    matrix: Option<Mat4>,
    run: &Run<'_>,
) -> Option<Beside> {
    let (mut corners, mut shared) = (Vec::new(), Vec::new());
    for (i, own) in shown.iter().enumerate().filter(|(_, own)| own.mesh == m) {
        let at = own.surface.positions.iter().zip(positions);
        let known: HashMap<[u32; 3], Vec3> = at.map(|(at, own)| (bits(*at), *own)).collect();
        let near = own.bounds.grown(NEAR * own.bounds.diagonal());
        let others =
            shown.iter().enumerate().filter(|(k, other)| *k != i && other.bounds.overlaps(&near));
        for (_, other) in others {
            let places = &other.surface.positions;
            shared.extend(places.iter().filter_map(|x| known.get(&bits(*x))));
            if let Some(matrix) = matrix.or(own.matrix).filter(|_| other.mesh != m) {
                add_near(&mut corners, &other.surface, &near, &FromShown { matrix, known: &known });
            }
        }
    }
    let triangles: Vec<[u32; 3]> =
        (0..corners.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let any = !triangles.is_empty() || !shared.is_empty();
    any.then(|| Beside::new(corners, triangles, shared, run))
}

/// From where an instance is shown into the space of its mesh; places of its vertices to the bit.
struct FromShown<'a> {
    matrix: Mat4,
    known: &'a HashMap<[u32; 3], Vec3>,
}

/// Adds the corners of the triangles of a surface that are near.
fn add_near(
    corners: &mut Vec<Vec3>,
    surface: &InstanceSurface,
    near: &Bounds,
    way: &FromShown<'_>,
) {
    let back = way.matrix.as_dmat4().inverse();
    for t in &surface.triangles {
        let at = t.map(|v| surface.positions[v as usize]);
        if Bounds::of(&at).is_none_or(|b| !b.overlaps(near)) {
            continue;
        }
        corners.extend(at.map(|x| match way.known.get(&bits(x)) {
            Some(own) => *own,
            None if way.matrix == Mat4::IDENTITY => x,
            None => back.transform_point3(x.as_dvec3()).as_vec3(),
        }));
    }
}

/// A place by its bits; both zeros are one.
fn bits(place: Vec3) -> [u32; 3] {
    (place + 0.0).to_array().map(f32::to_bits)
}

//! Remeshing: triangles of one size and good shape on the same surface.
//!
#![doc = include_str!("../../../../../docs/pictures/remesh.md")]
//!
//! # Method
//!
//! Ten times over: split edges longer than 4/3 of the wanted length, merge those shorter than 4/5 of it,
//! turn edges where that brings vertices nearer to six neighbours, and move every vertex along the
//! surface towards the middle of its neighbours (Botsch and Kobbelt).
//!
//! - **The surface stays.** Every vertex knows its triangle on the old surface; when it moves, a walk
//!   from there finds its new place. It cannot jump to the other side of a thin wall.
//! - **Features stay.** Borders, edges sharper than [`Params::feature_degrees`], seams of corner
//!   attributes and borders of groups are curves; their vertices move along them only, and the
//!   corners where they meet stay where they are.
//! - **Seams stay shut.** Copies of a vertex that move alike are joined first; what differs between them is a
//!   corner attribute. Normals of corners are made anew: they jump at every edge of a shape that is shaded flat.
//! - **Attributes come along**: vertex attributes, corner attributes on their own side of each seam,
//!   skin weights, morph targets, groups with their materials. They are interpolated once, from the old
//!   mesh at the place each vertex ends up at.
//! - **Nothing intersects that did not.** Each change is tried against the triangles near it with the
//!   exact test of [`intersect`](super::intersect), and left out if it would add a pair. Smoothing moves
//!   all vertices at once and puts back those that met something. Other meshes of the same body are not changed
//!   ([`remesh_beside`]), but count as well, and borders that they share stay as they are.
//!
//! # Where we differ from the paper
//!
//! Vertices lie on the old surface at any time, not only after the last step; feature curves are kept by
//! their arc length; and there is the test for intersections.
//!
//! # Limits
//!
//! - Borders that lie on each other, of copies that skin or morph targets move differently, are left as
//!   they are (`borders_of_copies_that_move_differently_stay`).
//! - Where the mesh is no manifold it is left as it is: edges of more than two triangles are neither split
//!   nor merged, and vertices there do not move.
//! - Where the wanted length is larger than the shape's detail, that detail goes, as far as nothing
//!   folds.
//!
//! # References
//!
//! - M. Botsch, L. Kobbelt. A Remeshing Approach to Multiresolution Modeling. Symposium on Geometry
//!   Processing, 2004.
//!
//! # Example
//!
//! ```
//! use supple::{Run, mesh::remesh, zoo};
//!
//! let run = Run::default();
//! let size = zoo::Size { triangles: Some(1000) };
//! let ball = zoo::build("ball", &size, &run)?.meshes.swap_remove(0);
//! let params = remesh::Params { target: remesh::Target::Triangles(2000), ..Default::default() };
//! let (finer, report) = remesh::remesh(&ball, &params, &run)?;
//! assert!(finer.triangles.len().abs_diff(2000) < 200);
//! assert_eq!(report.triangles_after, finer.triangles.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod beside;
pub(crate) mod carry;
mod connect;
mod guard;
mod index;
mod passes;
pub(crate) mod settle;
mod smooth;
mod surface;
#[cfg(test)]
mod tests;
mod work;

use serde::{Deserialize, Serialize};

use super::attribute::{NORMAL, TANGENT};
use super::intersect::count_self_intersections;
use super::measure::{Bounds, area};
use super::normals::{creased_normals, is_flat_shaded};
use super::tri::Defect;
use super::welding::open_edges;
use super::{TriMesh, repair};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::run::Cancelled;
pub use beside::Beside;
use guard::Guard;
use passes::Passes;
use surface::Surface;
use work::Work;

/// Triangles that are never exceeded: about four gigabytes while remeshing.
pub const MOST_TRIANGLES: usize = 20_000_000;

/// Coordinates beyond which the fourth power of a length, an area squared, is no number any more.
const LARGEST_COORDINATE: f32 = 1e9;

/// Share of the wanted length above which an edge is split, and below which it is merged.
const LONGEST: f32 = 4.0 / 3.0;
const SHORTEST: f32 = 4.0 / 5.0;

/// Area of an equilateral triangle with sides of length one.
const UNIT_AREA: f64 = 0.433_012_701_892_219_3;

/// How fine the new mesh is to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Edges of about this length, in the mesh's units.
    Length(f32),
    /// About so many triangles.
    Triangles(usize),
    /// Edges of about this multiple of the mean edge length.
    Ratio(f32),
}

/// How to remesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// How fine the new mesh is to be. As fine as the old one by default.
    pub target: Target,
    /// Rounds of splitting, merging, turning and smoothing. 10 by default; fewer are faster, 5 give most
    /// of the quality.
    pub iterations: u32,
    /// Edges whose triangles meet at more than this angle, in degrees, are kept. 40 by default; 180
    /// keeps borders and seams only.
    pub feature_degrees: f32,
}

impl Default for Params {
    fn default() -> Self {
        Self { target: Target::Ratio(1.0), iterations: 10, feature_degrees: 40.0 }
    }
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Triangles before.
    pub triangles_before: usize,
    /// Triangles after.
    pub triangles_after: usize,
    /// The edge length aimed at.
    pub length: f32,
    /// Edges split, over all iterations.
    pub splits: usize,
    /// Edges merged.
    pub merges: usize,
    /// Edges turned.
    pub turns: usize,
    /// Pairs of triangles that intersected to begin with.
    pub intersections_before: usize,
    /// Pairs of triangles that intersect now.
    pub intersections_after: usize,
    /// What the caller should know.
    pub warnings: Vec<String>,
}

/// Why a mesh was not remeshed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// There is nothing to remesh.
    #[error("the mesh has no triangle with an area: there is nothing to remesh")]
    NoTriangles,
    /// The mesh is inconsistent.
    #[error(transparent)]
    Defect(#[from] Defect),
    /// A parameter that must be positive is not.
    #[error("{what} is {value}; it must be a positive number")]
    NotPositive {
        /// Which parameter.
        what: &'static str,
        /// Its value.
        value: f32,
    },
    /// Edges would be shorter than what the coordinates can tell apart.
    #[error(
        "an edge length of {length} is too short for coordinates of up to {extent}: use at least {least}"
    )]
    TooShort {
        /// The length wanted.
        length: f32,
        /// The largest coordinate.
        extent: f32,
        /// The shortest that works.
        least: f32,
    },
    /// Products of lengths would not be numbers any more.
    #[error(
        "coordinates of up to {extent} are too large to be computed with: scale the mesh to below \
         {LARGEST_COORDINATE}"
    )]
    TooLarge {
        /// The largest coordinate.
        extent: f32,
    },
    /// The result would be too large.
    #[error(
        "edges of length {length} make about {triangles} triangles, more than {MOST_TRIANGLES}: use a \
         length of at least {least}"
    )]
    TooFine {
        /// The length wanted.
        length: f32,
        /// How many there would be.
        triangles: u64,
        /// The shortest length that works.
        least: f32,
    },
    /// The result became too large on the way.
    #[error("more than {limit} triangles would be needed; use a larger length")]
    TooManyTriangles {
        /// How many are allowed.
        limit: usize,
    },
    /// The shape was closed and would not be.
    #[error("{edges} edges would open in a closed shape; weld it first (supple convert --repair)")]
    Opened {
        /// How many.
        edges: usize,
    },
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// The edge lengths of one iteration.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    longest: f32,
    shortest: f32,
}

impl Lengths {
    fn around(length: f32) -> Self {
        Self { longest: LONGEST * length, shortest: SHORTEST * length }
    }
}

/// Remeshes; the old mesh is not changed.
///
/// # Errors
///
/// [`Error`] says what is wrong with the mesh or the parameters.
pub fn remesh(mesh: &TriMesh, params: &Params, run: &Run<'_>) -> Result<(TriMesh, Report), Error> {
    remesh_beside(mesh, None, params, run)
}

/// Remeshes a mesh with others beside it: nothing intersects them that did not, and shared borders stay. The report
/// counts pairs within the mesh alone.
///
/// # Errors
///
/// [`Error`] says what is wrong with the mesh or the parameters.
pub fn remesh_beside(
    mesh: &TriMesh,
    beside: Option<&Beside>,
    params: &Params,
    run: &Run<'_>,
) -> Result<(TriMesh, Report), Error> {
    run.install(|| {
        let (new, mut report) = match seamless(mesh) {
            Some(whole) => {
                let (mut new, report) = remesh_inside(&whole, beside, params, run)?;
                shade_as(&mut new, mesh, params.feature_degrees, run);
                (new, report)
            }
            None => remesh_inside(mesh, beside, params, run)?,
        };
        check_closed(mesh, &new)?;
        let found = count_self_intersections(&new.positions, &new.triangles, run)?;
        report.intersections_after = found.pairs as usize;
        Ok((new, report))
    })
}

/// The mesh with the copies of its vertices joined and without normals and tangents of corners, which jump
/// wherever a shape is shaded flat; `None` if it is so already.
pub(crate) fn seamless(mesh: &TriMesh) -> Option<TriMesh> {
    let mut whole = mesh.clone();
    let joined = repair::weld_copies(&mut whole);
    let corners = whole.corners.len();
    whole.corners.retain(|corner| ![NORMAL, TANGENT].contains(&corner.name.as_str()));
    (joined > 0 || whole.corners.len() < corners).then_some(whole)
}

/// Gives a new mesh normals if the old one had any and lost them: flat ones if those were, otherwise smooth ones
/// between the sharp edges.
pub(crate) fn shade_as(new: &mut TriMesh, old: &TriMesh, feature_degrees: f32, run: &Run<'_>) {
    let is_shaded = |mesh: &TriMesh| {
        mesh.attributes.get(NORMAL).is_some() || mesh.corners.iter().any(|c| c.name == NORMAL)
    };
    if is_shaded(old) && !is_shaded(new) {
        let degrees = if is_flat_shaded(old) { 0.0 } else { feature_degrees };
        new.corners.push(creased_normals(&new.positions, &new.triangles, degrees, run));
    }
}

/// Refuses a result that is open where the shape was closed.
pub(crate) fn check_closed(old: &TriMesh, new: &TriMesh) -> Result<(), Error> {
    let open = |mesh: &TriMesh| open_edges(&mesh.positions, &mesh.triangles);
    match open(new) {
        edges if edges > 0 && open(old) == 0 => Err(Error::Opened { edges }),
        _ => Ok(()),
    }
}

fn remesh_inside(
    mesh: &TriMesh,
    beside: Option<&Beside>,
    params: &Params,
    run: &Run<'_>,
) -> Result<(TriMesh, Report), Error> {
    mesh.validate()?;
    let mut length = wanted_length(mesh, params, run)?;
    check_size(mesh, length, run)?;
    let pairs = count_self_intersections(&mesh.positions, &mesh.triangles, run)?.pairs as usize;
    let across = beside.map(|b| b.pairs(&mesh.positions, &mesh.triangles, run)).transpose()?;
    let guard = Guard::new(pairs > 0 || across.is_some_and(|pairs| !pairs.is_empty()), beside);
    let surface = Surface::new(mesh, params.feature_degrees, beside, run);
    let work = Work::new(&surface, mesh);
    let mut passes = Passes::new(&surface, work, guard, 2 * MOST_TRIANGLES);
    let mut report = Report {
        triangles_before: mesh.triangles.len(),
        intersections_before: pairs,
        warnings: warnings(&surface),
        ..Report::default()
    };
    report.warnings.extend(outliers(mesh, run));
    passes.tidy(run);
    for iteration in 0..params.iterations {
        run.check()?;
        run.report(u64::from(iteration), u64::from(params.iterations));
        let lengths = Lengths::around(length);
        report.splits += passes.split_long(&lengths, run)?;
        report.merges += passes.merge_short(&lengths, run)?;
        report.turns += passes.turn_edges(run)?;
        passes.tidy(run);
        smooth::smooth(&mut passes, run)?;
        passes.tidy(run);
        length = adjusted(length, passes.work.alive, iteration, params);
    }
    run.report(u64::from(params.iterations), u64::from(params.iterations));
    report.length = length;
    report.triangles_after = passes.work.alive;
    Ok((carry::carry(mesh, &surface, &passes.work, run), report))
}

/// The edge length that a target asks for.
fn wanted_length(mesh: &TriMesh, params: &Params, run: &Run<'_>) -> Result<f32, Error> {
    let area = area(&mesh.positions, &mesh.triangles, run);
    if area.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
        return Err(Error::NoTriangles);
    }
    let positive = |what: &'static str, value: f32| {
        let is_positive = value > 0.0 && value.is_finite();
        if is_positive { Ok(value) } else { Err(Error::NotPositive { what, value }) }
    };
    match params.target {
        Target::Length(length) => positive("the edge length", length),
        Target::Ratio(ratio) => Ok(positive("the ratio", ratio)? * usual_edge(mesh, run) as f32),
        Target::Triangles(count) => {
            positive("the number of triangles", count as f32)?;
            Ok((usual_area(mesh, area, run) / (UNIT_AREA * count as f64)).sqrt() as f32)
        }
    }
}

/// Sides longer than so many times the one that nine in ten are shorter than are outliers.
const OUTLIER: f64 = 10.0;

/// The length that sides of ordinary triangles do not exceed.
fn ordinary_length(mesh: &TriMesh, run: &Run<'_>) -> f64 {
    let mut lengths = run.map(mesh.triangles.len(), |t| longest_side(mesh, t));
    let at = lengths.len() * 9 / 10;
    let (_, quantile, _) = lengths.select_nth_unstable_by(at, f64::total_cmp);
    OUTLIER * *quantile
}

fn longest_side(mesh: &TriMesh, t: usize) -> f64 {
    let [a, b, c] = mesh.corners_of(t).map(glam::Vec3::as_dvec3);
    a.distance_to(b).max(b.distance_to(c)).max(c.distance_to(a))
}

/// The mean length of the sides of ordinary triangles: one vertex far away must not make all others
/// coarse. Without such a vertex it is the mean of all.
fn usual_edge(mesh: &TriMesh, run: &Run<'_>) -> f64 {
    let most = ordinary_length(mesh, run);
    let is_ordinary = |t: usize| longest_side(mesh, t) <= most;
    let count = run.sum(mesh.triangles.len(), |t| f64::from(u8::from(is_ordinary(t))));
    if count == mesh.triangles.len() as f64 {
        return mean_edge(mesh, run);
    }
    let sum =
        run.sum(mesh.triangles.len(), |t| if is_ordinary(t) { perimeter(mesh, t) } else { 0.0 });
    sum / (3.0 * count)
}

/// The area of ordinary triangles.
fn usual_area(mesh: &TriMesh, all: f64, run: &Run<'_>) -> f64 {
    let most = ordinary_length(mesh, run);
    let odd = run.sum(mesh.triangles.len(), |t| {
        let [a, b, c] = mesh.corners_of(t).map(glam::Vec3::as_dvec3);
        if longest_side(mesh, t) <= most { 0.0 } else { 0.5 * (b - a).cross(c - a).norm() }
    });
    if odd > 0.0 && odd < all { all - odd } else { all }
}

/// Tells of triangles that are far larger than the others.
fn outliers(mesh: &TriMesh, run: &Run<'_>) -> Option<String> {
    let most = ordinary_length(mesh, run);
    let is_odd = |&t: &usize| longest_side(mesh, t) > most;
    let mut odd = (0..mesh.triangles.len()).filter(is_odd);
    let first = odd.next()?;
    let count = 1 + odd.count();
    let corners = mesh.triangles[first];
    Some(format!(
        "{count} triangles have sides of more than {OUTLIER} times what nine in ten stay below (triangle \
         {first}, vertices {corners:?}): a stray vertex? The edge length is that of the others"
    ))
}

/// The mean length of the sides of all triangles.
pub(crate) fn mean_edge(mesh: &TriMesh, run: &Run<'_>) -> f64 {
    let sum = run.sum(mesh.triangles.len(), |t| perimeter(mesh, t));
    sum / (3 * mesh.triangles.len()) as f64
}

fn perimeter(mesh: &TriMesh, t: usize) -> f64 {
    let [a, b, c] = mesh.corners_of(t).map(glam::Vec3::as_dvec3);
    a.distance_to(b) + b.distance_to(c) + c.distance_to(a)
}

/// Refuses what would not fit into memory or into the coordinates.
fn check_size(mesh: &TriMesh, length: f32, run: &Run<'_>) -> Result<(), Error> {
    let bounds = Bounds::of(&mesh.positions).ok_or(Error::NoTriangles)?;
    let extent = bounds.min.abs().max(bounds.max.abs()).max_element();
    if extent > LARGEST_COORDINATE || !length.is_finite() {
        return Err(Error::TooLarge { extent });
    }
    let least = 64.0 * f32::EPSILON * extent;
    if length <= least {
        return Err(Error::TooShort { length, extent, least });
    }
    let area = area(&mesh.positions, &mesh.triangles, run);
    let border = mean_edge(mesh, run) * 3.0 * mesh.triangles.len() as f64;
    let triangles = |length: f64| {
        // Needles have hardly any area, but two triangles for each piece of their long sides.
        area / (UNIT_AREA * length * length)
            + (border / length).min(area / (UNIT_AREA * length * length) + 1e6)
    };
    let found = triangles(f64::from(length));
    if found > MOST_TRIANGLES as f64 {
        let least = (f64::from(length) * (found / MOST_TRIANGLES as f64).sqrt()) as f32;
        return Err(Error::TooFine { length, triangles: found as u64, least });
    }
    Ok(())
}

/// Follows the number of triangles that is wanted, while there are iterations left to settle.
fn adjusted(length: f32, triangles: usize, iteration: u32, params: &Params) -> f32 {
    let Target::Triangles(count) = params.target else { return length };
    if iteration + 2 >= params.iterations {
        return length;
    }
    let off = (triangles as f64 / count as f64).sqrt().clamp(0.8, 1.25);
    (f64::from(length) * off) as f32
}

fn warnings(surface: &Surface) -> Vec<String> {
    let count = |all: &[bool]| all.iter().filter(|&&is| is).count();
    let held = count(&surface.cut.held);
    let locked = surface.curves.iter().filter(|curve| curve.locked).count();
    // A border that is shared has corners all along: its curves are its edges.
    let (torn, pinched) = (locked.saturating_sub(held), count(&surface.cut.pinched));
    let odd = (torn + pinched > 0).then(|| {
        format!(
            "the mesh is not a manifold: {torn} sides of edges and {pinched} fans at vertices are left as they are"
        )
    });
    let shared = (held > 0)
        .then(|| format!("{held} edges of borders that other meshes share are left as they are"));
    odd.into_iter().chain(shared).collect()
}

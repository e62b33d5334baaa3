//! Welding and repair: explicit operations that say what they did.
//!
//! Each function changes one thing and returns how much it changed; [`repair`] runs those that its
//! [`Params`] ask for, in the order in which one helps the next. Attributes, corner values, groups,
//! skin weights and morph targets follow the vertices and triangles they belong to.
//!
//! # Method
//!
//! - [`weld`] goes through the vertices in order and joins each to the first earlier one that was
//!   kept and is no farther than the tolerance. So nothing moves by more than the tolerance, however
//!   many vertices lie in a row. What differs between joined vertices (texture coordinates at a seam)
//!   becomes a corner attribute, so that nothing is lost; skin weights and morph targets are those
//!   of the vertex that was kept.
//! - [`orient`] makes neighbours across edges agree, turning the fewer triangles of each patch, and
//!   then turns everything if the volume is negative. Patches that agree already keep their side: an
//!   inner wall stays one.
//! - [`fill_holes`] closes a rim with a fan from one of its vertices, if that makes no edge that is
//!   already there.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::{Run, TriMesh, mesh::repair};
//!
//! // A tetrahedron in which every triangle has corners of its own, and one looks inward.
//! let [o, x, y, z] = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
//! let positions = vec![o, y, x, o, x, z, y, x, z, y, o, z];
//! let triangles = vec![[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]];
//! let mut mesh = TriMesh::new(positions, triangles);
//!
//! let report = repair::repair(&mut mesh, &repair::Params::default(), &Run::default());
//! assert_eq!((report.welded_vertices, report.flipped_triangles), (8, 1));
//! assert_eq!(mesh.positions.len(), 4);
//! ```

use std::collections::HashMap;

use glam::Vec3;

use super::measure::is_flat;
use super::welding::Welding;
use super::{CornerAttribute, TriMesh, adjacency, volume};
use crate::Run;

/// Which repairs to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Join vertices no farther apart than this, in scene units; 0 joins exact copies only, `None`
    /// nothing. Default 0.
    pub weld_tolerance: Option<f32>,
    /// Largest hole to close, in edges; 0 closes none. Default 0: a hole may be meant.
    pub largest_hole: usize,
    /// Which triangles and vertices to remove. Default: all that add nothing to the shape.
    pub remove: Removals,
    /// Make neighbours face the same way, and the whole outward. Default on.
    pub orient: bool,
}

/// What to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removals {
    /// Triangles without area.
    pub degenerate: bool,
    /// Triangles with the same three vertices as an earlier one.
    pub duplicate: bool,
    /// Vertices no triangle uses.
    pub unreferenced: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            weld_tolerance: Some(0.0),
            largest_hole: 0,
            remove: Removals { degenerate: true, duplicate: true, unreferenced: true },
            orient: true,
        }
    }
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Vertices joined to another.
    pub welded_vertices: usize,
    /// Triangles without area removed.
    pub degenerate_triangles: usize,
    /// Triangles removed because an earlier one has the same vertices.
    pub duplicate_triangles: usize,
    /// Vertices removed because no triangle uses them.
    pub unreferenced_vertices: usize,
    /// Holes closed.
    pub filled_holes: usize,
    /// Triangles added to close them.
    pub added_triangles: usize,
    /// Triangles turned round.
    pub flipped_triangles: usize,
    /// Edges whose two triangles cannot be made to agree.
    pub conflicting_edges: usize,
}

/// Makes the repairs that `params` ask for and says what was done.
///
/// # Panics
///
/// If the mesh is not [valid](TriMesh::validate).
pub fn repair(mesh: &mut TriMesh, params: &Params, run: &Run<'_>) -> Report {
    let mut report = Report::default();
    if let Some(tolerance) = params.weld_tolerance {
        report.welded_vertices = weld(mesh, tolerance);
    }
    if params.remove.degenerate {
        report.degenerate_triangles = remove_degenerate(mesh);
    }
    if params.remove.duplicate {
        report.duplicate_triangles = remove_duplicates(mesh);
    }
    if params.orient {
        (report.flipped_triangles, report.conflicting_edges) = orient(mesh, run);
    }
    if params.largest_hole > 0 {
        (report.filled_holes, report.added_triangles) = fill_holes(mesh, params.largest_hole);
    }
    if params.remove.unreferenced {
        report.unreferenced_vertices = remove_unreferenced(mesh);
    }
    report
}

/// Joins vertices no farther apart than `tolerance` and returns how many went; a tolerance of zero,
/// below zero or NaN joins exact copies only.
///
/// # Panics
///
/// If the mesh is not [valid](TriMesh::validate).
pub fn weld(mesh: &mut TriMesh, tolerance: f32) -> usize {
    let kept_for = if tolerance > 0.0 {
        first_within(&mesh.positions, tolerance)
    } else {
        adjacency::coincident(&mesh.positions)
    };
    join(mesh, &kept_for)
}

/// Joins the copies of vertices that skin and morph targets move alike ([`Welding::of_mesh`]) and returns how
/// many went.
///
/// # Panics
///
/// If the mesh is not [valid](TriMesh::validate).
pub fn weld_copies(mesh: &mut TriMesh) -> usize {
    join(mesh, &Welding::of_mesh(mesh).firsts())
}

/// Joins each vertex to the one it is kept for.
fn join(mesh: &mut TriMesh, kept_for: &[u32]) -> usize {
    keep_seams(mesh, kept_for);
    mesh.triangles = adjacency::renamed(&mesh.triangles, kept_for);
    let keep: Vec<bool> = (0..).zip(kept_for).map(|(v, &kept)| v == kept).collect();
    retain_vertices(mesh, &keep)
}

/// For each vertex the first one that is kept and no farther than the tolerance.
fn first_within(positions: &[Vec3], tolerance: f32) -> Vec<u32> {
    let reach = f64::from(tolerance);
    let cell_of = |p: Vec3| (p.as_dvec3() / reach).floor().to_array().map(|x| x as i64);
    // Kept vertices are farther apart than the tolerance, so a cell never holds more than a few.
    let mut kept: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    let mut first = Vec::with_capacity(positions.len());
    for (v, &p) in (0..).zip(positions) {
        let [x, y, z] = cell_of(p);
        let around = (0..27_i64).filter_map(|i| {
            let step = |at: i64, by: i64| at.saturating_add(by - 1);
            kept.get(&[step(x, i % 3), step(y, i / 3 % 3), step(z, i / 9)])
        });
        let near = |&&w: &&u32| {
            positions[w as usize].as_dvec3().distance_squared(p.as_dvec3()) <= reach * reach
        };
        match around.flatten().filter(near).min() {
            Some(&w) => first.push(w),
            None => {
                kept.entry([x, y, z]).or_default().push(v);
                first.push(v);
            }
        }
    }
    first
}

/// Makes corner attributes of the vertex attributes that differ between vertices to be joined.
fn keep_seams(mesh: &mut TriMesh, kept_for: &[u32]) {
    let differing: Vec<String> = mesh
        .attributes
        .iter()
        .filter(|a| {
            let (floats, width) = (a.values.as_floats(), a.values.width());
            let value = |v: usize| &floats[v * width..][..width];
            (0..kept_for.len()).any(|v| value(v) != value(kept_for[v] as usize))
        })
        .map(|a| a.name.clone())
        .collect();
    for name in differing {
        if let Some(values) = mesh.attributes.remove(&name) {
            let triangles = mesh.triangles.clone();
            mesh.corners.push(CornerAttribute { name, values, triangles });
        }
    }
}

/// Drops the vertices for which `keep` is false, which no triangle may use; returns how many.
fn retain_vertices(mesh: &mut TriMesh, keep: &[bool]) -> usize {
    let kept: Vec<u32> = (0..).zip(keep).filter(|(_, k)| **k).map(|(v, _)| v).collect();
    let removed = mesh.positions.len() - kept.len();
    if removed > 0 {
        let mut name = vec![0; keep.len()];
        for (new, &old) in (0..).zip(&kept) {
            name[old as usize] = new;
        }
        mesh.triangles = adjacency::renamed(&mesh.triangles, &name);
        mesh.gather_vertices(&kept);
    }
    removed
}

/// Removes triangles whose corners lie on one line or one point, exactly; returns how many.
///
/// # Panics
///
/// If the mesh is not [valid](TriMesh::validate).
pub fn remove_degenerate(mesh: &mut TriMesh) -> usize {
    let has_area = |t: usize| {
        !adjacency::is_index_degenerate(mesh.triangles[t])
            && !is_flat(mesh.corners_of(t).map(Vec3::as_dvec3))
    };
    let keep: Vec<bool> = (0..mesh.triangles.len()).map(has_area).collect();
    retain(mesh, &keep)
}

/// Removes triangles with the same three vertices as an earlier one, whichever way they face;
/// returns how many.
///
/// # Panics
///
/// If the mesh is not [valid](TriMesh::validate).
pub fn remove_duplicates(mesh: &mut TriMesh) -> usize {
    let mut sorted: Vec<([u32; 3], usize)> = (mesh.triangles.iter().copied())
        .enumerate()
        .map(|(t, mut corners)| {
            corners.sort_unstable();
            (corners, t)
        })
        .collect();
    sorted.sort_unstable();
    let mut keep = vec![true; sorted.len()];
    for same in sorted.chunk_by(|a, b| a.0 == b.0) {
        for &(_, later) in &same[1..] {
            keep[later] = false;
        }
    }
    retain(mesh, &keep)
}

fn retain(mesh: &mut TriMesh, keep: &[bool]) -> usize {
    let removed = keep.iter().filter(|k| !**k).count();
    if removed > 0 {
        mesh.retain_triangles(keep);
    }
    removed
}

/// Removes vertices that no triangle uses; returns how many.
///
/// # Panics
///
/// If the mesh is not [valid](TriMesh::validate).
pub fn remove_unreferenced(mesh: &mut TriMesh) -> usize {
    let mut used = vec![false; mesh.positions.len()];
    for &v in mesh.triangles.as_flattened() {
        used[v as usize] = true;
    }
    retain_vertices(mesh, &used)
}

/// Makes neighbours face the same way and the whole outward; returns how many triangles were turned
/// and at how many edges no choice helps.
///
/// # Panics
///
/// If the mesh is not [valid](TriMesh::validate).
pub fn orient(mesh: &mut TriMesh, run: &Run<'_>) -> (usize, usize) {
    let facing = adjacency::facing(mesh.positions.len(), &mesh.triangles);
    let mut balance = vec![0_i64; facing.patches];
    for (&patch, &against) in facing.patch.iter().zip(&facing.against) {
        if patch != u32::MAX {
            balance[patch as usize] += if against { 1 } else { -1 };
        }
    }
    // Turn the fewer; of equally many, those that face against the first triangle.
    let turn = |t: usize| match facing.patch[t] {
        u32::MAX => false,
        patch => facing.against[t] == (balance[patch as usize] <= 0),
    };
    let mut turned: Vec<bool> = (0..mesh.triangles.len()).map(turn).collect();
    turn_round(mesh, &turned);
    if volume::volume(&mesh.positions, &mesh.triangles, run) < 0.0 {
        turn_round(mesh, &vec![true; turned.len()]);
        turned.iter_mut().for_each(|t| *t = !*t);
    }
    (turned.iter().filter(|t| **t).count(), facing.conflicts)
}

/// Swaps the last two corners of the triangles for which `turned` is true.
fn turn_round(mesh: &mut TriMesh, turned: &[bool]) {
    let lists = mesh.corners.iter_mut().map(|c| &mut c.triangles);
    for list in lists.chain([&mut mesh.triangles]) {
        for (row, _) in list.iter_mut().zip(turned).filter(|(_, turned)| **turned) {
            row.swap(1, 2);
        }
    }
}

/// Closes the holes of at most `largest` edges; returns how many, and how many triangles that took.
///
/// The new triangles go to the last group. Rims that touch themselves, and those where every fan
/// would double an edge, are left open.
///
/// # Panics
///
/// If the mesh is not [valid](TriMesh::validate).
pub fn fill_holes(mesh: &mut TriMesh, largest: usize) -> (usize, usize) {
    let mut neighbours = None;
    let (mut holes, before) = (0, mesh.triangles.len());
    let mut fans = Vec::new();
    for rim in adjacency::boundary_loops(mesh.positions.len(), &mesh.triangles) {
        let is_simple = rim.len() >= 3 && {
            let mut sorted = rim.clone();
            sorted.sort_unstable();
            sorted.windows(2).all(|w| w[0] != w[1])
        };
        if rim.len() > largest || !is_simple {
            continue;
        }
        let neighbours = neighbours.get_or_insert_with(|| {
            adjacency::vertex_vertices(mesh.positions.len(), &mesh.triangles)
        });
        if let Some(fan) = fan_of(&rim, neighbours) {
            holes += 1;
            fans.extend(fan);
        }
    }
    append(mesh, &fans);
    (holes, mesh.triangles.len() - before)
}

/// A fan over a rim from the first vertex whose new edges are not there yet.
fn fan_of(rim: &[u32], neighbours: &adjacency::Rows) -> Option<Vec<[u32; 3]>> {
    let n = rim.len();
    let at = |i: usize| rim[i % n];
    let is_free = |&tip: &usize| {
        (2..n - 1).all(|i| neighbours.row(at(tip) as usize).binary_search(&at(tip + i)).is_err())
    };
    let tip = (0..n).find(is_free)?;
    // Against the direction of the rim, as neighbours must.
    Some((1..n - 1).map(|i| [at(tip), at(tip + i + 1), at(tip + i)]).collect())
}

/// Appends triangles; their corners take the value that the first triangle at the vertex has.
fn append(mesh: &mut TriMesh, added: &[[u32; 3]]) {
    for corner in &mut mesh.corners {
        let mut value_at = vec![0; mesh.positions.len()];
        let corners = mesh.triangles.as_flattened().iter().zip(corner.triangles.as_flattened());
        for (&v, &value) in corners.rev() {
            value_at[v as usize] = value;
        }
        corner.triangles.extend(adjacency::renamed(added, &value_at));
    }
    mesh.triangles.extend_from_slice(added);
    if let Some(last) = mesh.groups.last_mut() {
        last.triangles.end = mesh.triangles.len() as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::super::attribute::UV;
    use super::super::sample::bumpy_sphere;
    use super::super::{Group, MorphTarget, SkinWeights, Values};
    use super::*;

    /// A sphere with everything a mesh can carry; each value tells its vertex.
    fn laden(n: u32) -> TriMesh {
        let (positions, triangles) = bumpy_sphere(n);
        let mut mesh = TriMesh::new(positions, triangles);
        let names: Vec<f32> = (0..mesh.positions.len()).map(|v| v as f32).collect();
        let mut skin = SkinWeights::default();
        (0..mesh.positions.len()).for_each(|v| skin.push([(v as u16, 1.0), (0, 0.5)]));
        mesh.skin_weights = Some(skin);
        let shift: Vec<Vec3> = names.iter().map(|&x| Vec3::splat(x)).collect();
        mesh.morphs.push(MorphTarget { positions: shift, ..MorphTarget::default() });
        let triangles = mesh.triangles.clone();
        let values = Values::Scalar(names.clone());
        mesh.corners.push(CornerAttribute { name: UV.to_owned(), values, triangles });
        mesh.attributes.set("name", Values::Scalar(names));
        let end = mesh.triangles.len() as u32;
        mesh.groups = vec![
            Group { triangles: 0..7, ..Group::default() },
            Group { triangles: 7..end, ..Group::default() },
        ];
        mesh
    }

    /// Every value still tells the same place.
    fn assert_same_places(mesh: &TriMesh, original: &TriMesh) {
        assert_eq!(mesh.validate(), Ok(()));
        let place = |name: f32| original.positions[name as usize];
        let names = mesh.attributes.scalar("name").unwrap();
        for (v, &name) in names.iter().enumerate() {
            assert_eq!(mesh.positions[v], place(name), "vertex {v}");
            assert_eq!(mesh.morphs[0].positions[v], Vec3::splat(name), "morph of vertex {v}");
            let joint = mesh.skin_weights.as_ref().unwrap().of(v).next().unwrap().0;
            assert_eq!(f32::from(joint), name, "joint of vertex {v}");
        }
        let Values::Scalar(values) = &mesh.corners[0].values else { panic!("scalars stay so") };
        for (row, corner) in mesh.triangles.iter().zip(&mesh.corners[0].triangles) {
            for k in 0..3 {
                let there = place(values[corner[k] as usize]);
                assert_eq!(there, mesh.positions[row[k] as usize], "corner value");
            }
        }
    }

    #[test]
    fn a_sound_mesh_is_left_alone() {
        let mut mesh = laden(8);
        let original = mesh.clone();
        let report =
            repair(&mut mesh, &Params { largest_hole: 9, ..Params::default() }, &Run::default());
        assert_eq!(report, Report::default());
        assert_eq!(mesh, original);
    }

    #[test]
    fn removing_carries_everything_along() {
        let mut mesh = laden(8);
        let original = mesh.clone();
        mesh.triangles[3] = mesh.triangles[2];
        mesh.corners[0].triangles[3] = mesh.corners[0].triangles[2];
        mesh.triangles[9] = [4, 4, 5];
        mesh.corners[0].triangles[9] = [4, 4, 5];
        let alone: Vec<bool> = mesh.triangles.iter().map(|t| !t.contains(&40)).collect();
        mesh.retain_triangles(&alone);
        assert_eq!(remove_duplicates(&mut mesh), 1);
        assert_eq!(remove_degenerate(&mut mesh), 1);
        assert_eq!(remove_unreferenced(&mut mesh), 1);
        assert_same_places(&mesh, &original);
        let first = mesh.groups[0].triangles.len();
        assert!(first < 7, "groups shrink: {first}");
    }

    #[test]
    fn welding_undoes_splitting() {
        let mesh = laden(8);
        let (mut soup, _) = mesh.split_seams();
        // Tear every triangle off.
        let corners: Vec<u32> = soup.triangles.as_flattened().to_vec();
        soup.gather_vertices(&corners);
        soup.triangles =
            (0..corners.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let torn = soup.positions.len();
        let different: Vec<f32> = (0..torn).map(|v| v as f32).collect();
        soup.attributes.set("corner", Values::Scalar(different.clone()));
        let welded = weld(&mut soup, 0.0);
        assert_eq!(welded, torn - mesh.positions.len());
        assert_eq!(soup.validate(), Ok(()));
        let topology = adjacency::topology(soup.positions.len(), &soup.triangles, &Run::default());
        assert!(topology.is_closed() && topology.is_vertex_manifold(), "{topology:?}");
        assert_eq!(soup.attributes.get("corner"), None, "what differs at a vertex");
        assert_eq!(soup.corners[0].values, Values::Scalar(different), "is kept at the corners");
        assert!(soup.attributes.scalar("name").is_some(), "what agrees stays at the vertices");
    }

    #[test]
    fn a_tolerance_joins_no_chain() {
        let row: Vec<Vec3> = (0..10).map(|i| Vec3::X * 0.75 * i as f32).collect();
        assert_eq!(first_within(&row, 1.0), [0, 0, 2, 2, 4, 4, 6, 6, 8, 8]);
        let mut mesh = TriMesh::new(row, vec![[0, 2, 9]]);
        assert_eq!(weld(&mut mesh, f32::NAN), 0, "exact copies only");
        assert_eq!(weld(&mut mesh, 100.0), 9, "all within reach");
    }

    #[test]
    fn orienting_turns_the_fewer_and_then_the_whole() {
        let mut mesh = laden(8);
        let original = mesh.clone();
        let some: Vec<bool> = (0..mesh.triangles.len()).map(|t| t % 7 == 1).collect();
        turn_round(&mut mesh, &some);
        let count = some.iter().filter(|s| **s).count();
        assert_eq!(orient(&mut mesh, &Run::default()), (count, 0));
        assert_eq!(mesh, original);
        turn_round(&mut mesh, &vec![true; some.len()]);
        assert_eq!(orient(&mut mesh, &Run::default()), (some.len(), 0));
        assert_same_places(&mesh, &original);
    }

    #[test]
    fn an_inner_wall_stays_one() {
        let mut mesh = laden(8);
        let (inner, triangles) = bumpy_sphere(8);
        let n = mesh.positions.len() as u32;
        mesh = TriMesh::new(mesh.positions, mesh.triangles);
        mesh.positions.extend(inner.iter().map(|&p| 0.5 * p));
        mesh.triangles.extend(triangles.iter().map(|&[a, b, c]| [a + n, c + n, b + n]));
        let hollow = mesh.clone();
        assert_eq!(orient(&mut mesh, &Run::default()), (0, 0));
        assert_eq!(mesh, hollow);
    }

    #[test]
    fn small_holes_are_closed_and_large_ones_left() {
        let mut mesh = laden(8);
        let original = mesh.clone();
        // One vertex of six triangles gone, and the pole with its sixteen.
        let keep: Vec<bool> =
            mesh.triangles.iter().map(|t| !t.contains(&40) && !t.contains(&0)).collect();
        mesh.retain_triangles(&keep);
        assert_eq!(fill_holes(&mut mesh, 6), (1, 4));
        assert_same_places(&mesh, &original);
        let open = adjacency::topology(mesh.positions.len(), &mesh.triangles, &Run::default());
        assert_eq!((open.boundary_edges, open.misoriented_edges), (16, 0));
        assert_eq!(fill_holes(&mut mesh, 16), (1, 14));
        let whole = adjacency::topology(mesh.positions.len(), &mesh.triangles, &Run::default());
        assert!(
            whole.is_closed() && whole.is_oriented() && whole.is_vertex_manifold(),
            "{whole:?}"
        );
        assert_eq!(mesh.validate(), Ok(()));
    }

    #[test]
    fn a_hole_whose_fan_would_double_an_edge_stays() {
        // Of a tetrahedron without one face the fill is that face; of two faces sharing an edge
        // every fan would double an edge.
        let mut mesh = TriMesh::new(
            vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            vec![[0, 1, 3], [1, 2, 3], [2, 0, 3]],
        );
        assert_eq!(fill_holes(&mut mesh, 3), (1, 1));
        let positions = mesh.positions.clone();
        let mut open = TriMesh::new(positions, vec![[0, 1, 3], [1, 0, 2]]);
        let (holes, _) = fill_holes(&mut open, 4);
        assert_eq!(holes, 1, "from the other diagonal");
    }
}

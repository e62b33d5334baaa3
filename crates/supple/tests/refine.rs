//! Refinement for a deformation: what crosses only because it is coarse comes apart.

use std::convert::Infallible;

use glam::Vec3;
use supple::mesh::intersect::self_intersections;
use supple::mesh::refine::{Params, refine, refine_whole};
use supple::{Run, TriMesh};

/// A strip along x from −1 to 1 at a height, of so many squares.
fn strip(squares: u32, height: f32) -> TriMesh {
    let point = |i: u32| {
        let x = 2.0 * (i / 2) as f32 / squares as f32 - 1.0;
        Vec3::new(x, (i % 2) as f32 - 0.5, height)
    };
    let positions = (0..2 * squares + 2).map(point).collect();
    let square = |k: u32| {
        let [a, b, c, d] = [2 * k, 2 * k + 1, 2 * k + 2, 2 * k + 3];
        [[a, c, b], [b, c, d]]
    };
    TriMesh::new(positions, (0..squares).flat_map(square).collect())
}

/// A fine strip and a coarse one above it.
fn two_sheets() -> TriMesh {
    let (mut both, above) = (strip(32, 0.0), strip(1, 0.05));
    let first = both.positions.len() as u32;
    both.positions.extend(above.positions);
    both.triangles.extend(above.triangles.iter().map(|t| t.map(|v| v + first)));
    both
}

/// Bent about y into an arc of radius one.
fn bent(points: &TriMesh) -> Result<Vec<Vec<Vec3>>, Infallible> {
    let turn = |p: &Vec3| {
        let (s, c) = p.x.sin_cos();
        Vec3::new((1.0 + p.z) * s, p.y, (1.0 + p.z) * c)
    };
    Ok(vec![points.positions.iter().map(turn).collect()])
}

fn pairs(positions: &[Vec3], triangles: &[[u32; 3]]) -> usize {
    self_intersections(positions, triangles, &Run::default()).expect("nobody cancels").len()
}

/// Nothing but their crossing asks for a split: one sheet is bent around another, and its chord goes through it.
#[test]
fn what_crosses_only_when_deformed_is_split_until_it_comes_apart() {
    let (mesh, run) = (two_sheets(), Run::default());
    let coarse = bent(&mesh).unwrap().remove(0);
    assert_eq!(pairs(&mesh.positions, &mesh.triangles), 0);
    assert!(pairs(&coarse, &mesh.triangles) > 0, "a chord goes through the other sheet");
    let loose = Params {
        tolerance_rel_bbox: 9.0,
        volume_rel: None,
        longest_rel_bbox: 9.0,
        angle_degrees: 180.0,
        ..Params::default()
    };
    let fine = refine(&mesh, &bent, &loose, &run).unwrap();
    assert!(fine.splits > 0 && fine.intersections_added == 0, "{fine:?}");
    assert_eq!(pairs(&fine.frames[0], &fine.mesh.triangles), 0);
}

/// Where middles are guessed from the surface, rounds of splitting come as near to an arc as where they are known.
#[test]
fn a_surface_of_which_only_vertices_are_known_becomes_as_fine_as_it_is_bent() {
    let (mesh, run) = (strip(4, 0.0), Run::default());
    let params = Params { tolerance_rel_bbox: 1e-3, volume_rel: None, ..Params::default() };
    let known = refine(&mesh, &bent, &params, &run).unwrap();
    let guessed = refine_whole(&mesh, &bent, &params, &run).unwrap();
    assert_eq!(guessed.mesh.validate(), Ok(()));
    assert_eq!(guessed.mesh.positions[..mesh.positions.len()], mesh.positions[..]);
    assert_eq!(guessed.frames[0], bent(&guessed.mesh).unwrap()[0], "played, not guessed");
    let [known, guessed] = [known, guessed].map(|r| r.mesh.triangles.len());
    assert!(guessed > 2 * mesh.triangles.len(), "{guessed}");
    assert!(2 * guessed > known && guessed < 3 * known, "{guessed} where {known} are known");
}

//! Real models, remeshed, and twisted and bent with refinement: no intersection is added.

mod data;

use data::test_data;
use glam::Vec3;
use supple::Run;
use supple::io::ReadOptions;
use supple::mesh::measure::Bounds;
use supple::mesh::remesh::{Params, Target, remesh};
use supple::mesh::volume::volume;
use supple::mesh::{TriMesh, adjacency, intersect, refine};
use supple::sculpt::{self, Bend, Op, Twist};

/// Closed ones, small ones first: with several handles, and with intersections of their own.
const CLOSED: [&str; 9] = [
    "meshes/spot.obj",
    "meshes/cow.obj",
    "meshes/fertility.off",
    "meshes/goathead.obj",
    "meshes/bunny_closed_3k.obj",
    "meshes/penguin.obj",
    "meshes/koala_low_resolution.obj",
    "meshes/liver_surface_sofa.vtk",
    "meshes/max-planck_decimated.obj",
];
/// With borders, and no manifold.
const OPEN: [&str; 3] = ["meshes/teapot.obj", "meshes/suzanne.obj", "meshes/lion.off"];

fn read(file: &str) -> Option<TriMesh> {
    let loaded =
        supple::io::read(&test_data(file)?, &ReadOptions::default()).expect("a readable model");
    loaded.asset.meshes.into_iter().next()
}

fn pairs(mesh: &TriMesh) -> usize {
    let run = Run::default();
    intersect::self_intersections(&mesh.positions, &mesh.triangles, &run)
        .expect("not cancelled")
        .len()
}

/// A quarter turn over the middle half of the longest axis, and a bend of 45° over the same width.
fn edits(mesh: &TriMesh) -> [Op; 2] {
    let bounds = Bounds::of(&mesh.positions).expect("vertices");
    let (size, center) = (bounds.size(), bounds.center());
    let long = (0..3).max_by(|&a, &b| size[a].total_cmp(&size[b])).expect("three axes");
    let along = Vec3::AXES[long];
    let (axis, quarter) = (Vec3::AXES[(long + 1) % 3], 0.25 * size[long]);
    let (from, to) = (-quarter, quarter);
    let twist = Twist { center, axis: along, degrees: 90.0, from, to, ..Twist::default() };
    // The thick ones reach beyond the centre of the bend: the line that keeps its length is moved.
    let bend = Bend { center, axis, along, degrees: 45.0, width: to - from, ..Bend::default() };
    [Op::Twist(twist), Op::Bend(bend)]
}

#[test]
fn closed_models_twist_and_bend_without_a_new_intersection() {
    let (params, fineness) = (sculpt::Params::default(), refine::Params::default());
    for file in CLOSED {
        let Some(mesh) = read(file) else { continue };
        for op in edits(&mesh) {
            let (mut new, name) = (mesh.clone(), op.name());
            let done = sculpt::apply_refined(&mut new, &[op], &params, &fineness, &Run::default());
            let report = done.unwrap().report;
            assert_eq!(new.validate(), Ok(()), "{file} {name}");
            assert!(pairs(&new) <= pairs(&mesh), "{file} {name}: {} pairs", pairs(&new));
            let volume = |m: &TriMesh| volume(&m.positions, &m.triangles, &Run::default());
            let error = volume(&new) / volume(&mesh) - 1.0;
            assert!(error.abs() < 1e-4, "{file} {name}: volume off by {error}");
            assert!((report.volume_error() - error).abs() < 1e-9, "{file} {name}: told otherwise");
            let (old, count) = (mesh.triangles.len(), new.triangles.len());
            assert!(2 * count < 5 * old, "{file} {name}: {old} triangles became {count}");
        }
    }
}

#[test]
fn open_models_twist_and_bend_without_an_error() {
    let params = sculpt::Params::default();
    let fineness = refine::Params { most_triangles: 12_000, ..refine::Params::default() };
    for file in OPEN {
        let Some(mesh) = read(file) else { continue };
        for op in edits(&mesh) {
            let (mut new, name) = (mesh.clone(), op.name());
            sculpt::apply_refined(&mut new, &[op], &params, &fineness, &Run::default()).unwrap();
            assert_eq!(new.validate(), Ok(()), "{file} {name}");
        }
    }
}

#[test]
fn models_are_remeshed_without_a_new_intersection() {
    let run = Run::default();
    for file in CLOSED.into_iter().chain(OPEN) {
        let Some(mesh) = read(file) else { continue };
        let params = Params { target: Target::Ratio(1.2), iterations: 3, ..Params::default() };
        let (new, _) = remesh(&mesh, &params, &run).unwrap();
        assert_eq!(new.validate(), Ok(()), "{file}");
        assert!(pairs(&new) <= pairs(&mesh), "{file}: {} pairs", pairs(&new));
        let [before, after] =
            [&mesh, &new].map(|m| adjacency::topology(m.positions.len(), &m.triangles, &run));
        assert_eq!(before.nonmanifold_edges, after.nonmanifold_edges, "{file}");
        // Parts that share places are joined.
        assert!(after.components <= before.components, "{file}");
        // Sheets that touch in one vertex only may come apart there: none do in closed models.
        if CLOSED.contains(&file) {
            assert_eq!(before.components, after.components, "{file}");
            assert_eq!(before.euler_characteristic, after.euler_characteristic, "{file}");
        }
    }
}

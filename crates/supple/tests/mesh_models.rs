//! Real models against what other programs say of them: counts, and pairs of self-intersecting
//! triangles as libigl's exact kernel lists them.

mod data;

use std::path::Path;

use data::test_data;
use glam::Vec3;
use supple::io::ReadOptions;
use supple::mesh::{TriMesh, adjacency, bvh::Bvh, intersect, repair, volume, winding};
use supple::run::Run;

/// The one mesh of a file.
fn read(path: &Path) -> TriMesh {
    let loaded = supple::io::read(path, &ReadOptions::default()).expect("the model can be read");
    let [mesh] = <[TriMesh; 1]>::try_from(loaded.asset.meshes).expect("one mesh");
    mesh
}

struct Known {
    file: &'static str,
    triangles: usize,
    boundary_edges: usize,
    nonmanifold_edges: usize,
    components: usize,
    euler_characteristic: i64,
    self_intersections: usize,
}

const fn known(
    file: &'static str,
    triangles: usize,
    open: [usize; 2],
    counts: (usize, i64, usize),
) -> Known {
    let [boundary_edges, nonmanifold_edges] = open;
    let (components, euler_characteristic, self_intersections) = counts;
    Known {
        file,
        triangles,
        boundary_edges,
        nonmanifold_edges,
        components,
        euler_characteristic,
        self_intersections,
    }
}

const MODELS: [Known; 12] = [
    known("meshes/spot.obj", 5856, [0, 0], (1, 2, 0)),
    known("meshes/cow.obj", 5804, [0, 0], (1, 1, 81)),
    known("meshes/camel.off", 19536, [0, 0], (1, 2, 20)),
    known("meshes/teapot.obj", 6320, [1036, 0], (4, -34, 161)),
    known("meshes/suzanne.obj", 968, [42, 1], (3, 3, 90)),
    known("meshes/fertility.off", 9000, [0, 0], (1, -6, 0)),
    known("meshes/lion.off", 16674, [36, 0], (1, 1, 0)),
    known("meshes/stanford-bunny.obj", 69451, [223, 0], (1, -3, 0)),
    known("meshes/armadillo_43k.obj", 86482, [0, 0], (1, 2, 0)),
    known("broken/open/truck.obj", 4770, [1388, 54], (50, -96, 422)),
    known("broken/open/camelhead.off", 22704, [56, 0], (1, 1, 5)),
    known("broken/open/cube_no_bottom.obj", 40, [8, 0], (1, 1, 0)),
];

#[test]
fn models_are_what_others_say() {
    let run = Run::default();
    for model in MODELS {
        let Some(path) = test_data(model.file) else { continue };
        let mesh = read(&path);
        assert_eq!(mesh.validate(), Ok(()), "{}", model.file);
        assert_eq!(mesh.triangles.len(), model.triangles, "{}", model.file);
        let found = adjacency::topology(mesh.positions.len(), &mesh.triangles, &run);
        assert_eq!(found.boundary_edges, model.boundary_edges, "{}", model.file);
        assert_eq!(found.nonmanifold_edges, model.nonmanifold_edges, "{}", model.file);
        assert_eq!(found.components, model.components, "{}", model.file);
        assert_eq!(found.euler_characteristic, model.euler_characteristic, "{}", model.file);
        let pairs = intersect::self_intersections(&mesh.positions, &mesh.triangles, &run).unwrap();
        assert_eq!(pairs.len(), model.self_intersections, "{}", model.file);
    }
}

/// A model whose inside is known by its volume: the share of random points of its box that are
/// inside is the share of the volume.
#[test]
fn the_inside_of_a_model_is_as_large_as_its_volume() {
    let Some(path) = test_data("meshes/fertility.off") else { return };
    let (mesh, run) = (read(&path), Run::default());
    let winding = winding::Winding::new(&mesh.positions, &mesh.triangles, &run);
    let bounds = winding.bvh().bounds().unwrap();
    let n = 24;
    let step = bounds.size() / n as f32;
    let points: Vec<Vec3> = (0..n * n * n)
        .map(|i| [i % n, i / n % n, i / n / n].map(|k| k as f32 + 0.5))
        .map(|at| bounds.min + step * Vec3::from(at))
        .collect();
    let inside = points.iter().filter(|&&p| winding.inside(p)).count();
    let found = inside as f64 * f64::from(step.x * step.y * step.z);
    let volume = volume::volume(&mesh.positions, &mesh.triangles, &run);
    assert!((found / volume - 1.0).abs() < 0.03, "{found} of {volume}");
}

/// Every vertex of a model is on the model.
#[test]
fn vertices_are_their_own_closest_points() {
    let Some(path) = test_data("meshes/camel.off") else { return };
    let mesh = read(&path);
    let bvh = Bvh::new(&mesh.positions, &mesh.triangles, &Run::default());
    for &p in mesh.positions.iter().step_by(7) {
        let closest = bvh.closest_point(p).unwrap();
        assert_eq!((closest.distance, closest.point), (0.0, p));
    }
}

/// The bunny's five holes, closed.
#[test]
fn the_bunny_can_be_closed() {
    let Some(path) = test_data("meshes/stanford-bunny.obj") else { return };
    let (mut mesh, run) = (read(&path), Run::default());
    let params = repair::Params { largest_hole: 200, ..repair::Params::default() };
    let report = repair::repair(&mut mesh, &params, &run);
    assert_eq!((report.unreferenced_vertices, report.filled_holes), (1113, 5));
    let found = adjacency::topology(mesh.positions.len(), &mesh.triangles, &run);
    assert!(found.is_closed() && found.is_oriented(), "{found:?}");
    assert!(volume::volume(&mesh.positions, &mesh.triangles, &run) > 0.0, "outward");
}

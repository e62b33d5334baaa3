//! Bodies: angles, pieces, the skin in them.

use std::collections::HashMap;

use super::*;
use crate::mesh::tet::FACES;
use crate::zoo;

fn shape(name: &str) -> TriMesh {
    let mesh = zoo::build(name, &zoo::Size::default(), &Run::default()).unwrap().meshes.remove(0);
    TriMesh::new(mesh.positions, mesh.triangles)
}

fn made(surface: &TriMesh, nodes: usize) -> EmbeddedSkin {
    let params = Params { nodes, spacing: None };
    body(surface, &params, &Run::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Every face is in one tet, or in two that see it from its two sides.
fn check_sides(mesh: &TetMesh, what: &str) {
    let mut sides: HashMap<[u32; 3], [u32; 2]> = HashMap::new();
    for (t, tet) in mesh.tets.iter().enumerate() {
        assert!(mesh.volume_of(t) > 0.0, "{what}: tet {t}");
        for face in FACES {
            let face = face.map(|corner| tet[corner]);
            let least = (0..3).min_by_key(|&k| face[k]).unwrap();
            let [a, b, c] = [0, 1, 2].map(|k| face[(least + k) % 3]);
            let (key, side) = if b < c { ([a, b, c], 0) } else { ([a, c, b], 1) };
            sides.entry(key).or_default()[side] += 1;
        }
    }
    assert!(sides.values().all(|s| s.iter().all(|&n| n <= 1)), "{what}: tets overlap");
}

#[test]
fn angles_stay_above_ten_degrees() {
    for (name, nodes) in [
        ("ball", 300),
        ("box", 1500),
        ("torus", 800),
        ("cow", 1500),
        ("hand", 1500),
        ("comb", 1000),
    ] {
        let surface = shape(name);
        let EmbeddedSkin { mesh, report, .. } = made(&surface, nodes);
        check_sides(&mesh, name);
        let [least, most] = report.dihedral_degrees;
        assert!(least >= 10.0 && most <= 165.0, "{name}: {report:?}");
        assert_eq!(report.pieces, 1, "{name}: {report:?}");
        let ratio = report.nodes as f64 / nodes as f64;
        assert!((ratio - 1.0).abs() < 0.15, "{name}: {report:?}");
        assert!(report.skin_outside_max < 0.6, "{name}: {report:?}");
    }
}

#[test]
fn thick_bodies_keep_their_volume_and_their_place() {
    let surface = shape("ball");
    let EmbeddedSkin { mesh, embedding, report } = made(&surface, 1500);
    assert!((report.volume_ratio - 1.0).abs() < 0.03, "{report:?}");
    assert_eq!(report.rounds, 0, "nothing is thin: {report:?}");
    let skin = embedding.apply(&mesh.positions, &Run::default());
    for (&was, is) in surface.positions.iter().zip(skin) {
        assert!(was.distance(is) < 1e-5, "{was} {is}");
    }
}

#[test]
fn a_plate_thinner_than_the_lattice_is_rescued_in_one_piece() {
    let mut surface = shape("box");
    surface.positions.iter_mut().for_each(|p| p.z *= 0.02);
    let EmbeddedSkin { mesh, report, .. } = made(&surface, 600);
    check_sides(&mesh, "plate");
    assert!(report.rounds > 0 && report.pieces == 1, "{report:?}");
    assert!(report.dihedral_degrees[0] >= 10.0, "{report:?}");
    assert!(report.skin_outside_max < 0.6, "{report:?}");
}

#[test]
fn an_open_surface_is_refused() {
    let run = Run::default();
    let mut surface = shape("ball");
    surface.triangles.pop();
    let why = body(&surface, &Params::default(), &run).unwrap_err().to_string();
    assert!(why.contains("3 open edges") && why.contains("close"), "{why}");
    let why = body(&TriMesh::default(), &Params::default(), &run).unwrap_err().to_string();
    assert!(why.contains("no triangle"), "{why}");
    let bad = Params { spacing: Some(-1.0), ..Params::default() };
    let why = body(&shape("ball"), &bad, &run).unwrap_err().to_string();
    assert!(why.contains("-1"), "{why}");
    let fine = Params { spacing: Some(1e-9), ..Params::default() };
    let why = body(&shape("ball"), &fine, &run).unwrap_err().to_string();
    assert!(why.contains("larger spacing"), "{why}");
}

#[test]
fn same_bits_for_any_thread_count() {
    let surface = shape("cow");
    let serial = made(&surface, 500);
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let params = Params { nodes: 500, spacing: None };
        assert_eq!(body(&surface, &params, &run).unwrap(), serial, "{threads} threads");
    }
}

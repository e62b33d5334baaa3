//! Filled shapes: volume, nodes, and bad input.

use super::*;
use crate::zoo;

fn shape(name: &str, triangles: usize) -> TriMesh {
    let size = zoo::Size { triangles: Some(triangles) };
    let mesh = zoo::build(name, &size, &Run::default()).unwrap().meshes.remove(0);
    TriMesh::new(mesh.positions, mesh.triangles)
}

fn filled(surface: &TriMesh) -> Filled {
    fill(surface, &Params::default(), &Run::default()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn closed_zoo_shapes_keep_their_volume() {
    for (name, triangles) in [
        ("ball", 1280),
        ("bar", 3328),
        ("box", 768),
        ("capsule", 1000),
        ("torus", 2000),
        ("rope", 3000),
        ("cow", 5804),
        ("hand", 6000),
        ("jelly", 3000),
    ] {
        let surface = shape(name, triangles);
        let Filled { mesh, merged, report } = filled(&surface);
        assert!((report.volume_ratio - 1.0).abs() < 0.003, "{name}: {report:?}");
        assert_eq!((report.in_no_tet, report.duplicates, report.open_edges), (0, 0, 0), "{name}");
        let n = surface.positions.len();
        assert_eq!(mesh.positions[..n], surface.positions, "{name}: nodes begin with its vertices");
        assert!(merged.iter().enumerate().all(|(i, &m)| i == m as usize), "{name}");
        assert!((0..mesh.tets.len()).all(|t| mesh.volume_of(t) > 0.0), "{name}: all oriented");
        assert!(report.interior_nodes > 0, "{report:?}");
    }
}

#[test]
fn interior_nodes_stand_clear_of_the_surface_at_the_spacing_asked_for() {
    let surface = shape("ball", 1280);
    let run = Run::default();
    let params = Params { spacing: Some(0.2) };
    let Filled { mesh, report, .. } = fill(&surface, &params, &run).unwrap();
    let interior = &mesh.positions[surface.positions.len()..];
    let farthest = interior.iter().map(|p| p.length()).fold(0.0, f32::max);
    assert!(farthest < 0.9 && farthest > 0.7, "{farthest}");
    // A node of the lattice fills 4 / (3 √3) of its spacing cubed.
    let expected = 4.0 / 3.0 * std::f64::consts::PI * 0.9_f64.powi(3) / (0.008 * 0.769_8);
    let ratio = report.interior_nodes as f64 / expected;
    assert!((ratio - 1.0).abs() < 0.15, "{ratio}");
}

#[test]
fn a_hole_is_closed_and_said() {
    let mut surface = shape("ball", 1280);
    surface.triangles.drain(100..104);
    let Filled { report, .. } = filled(&surface);
    assert!(report.open_edges > 2, "{report:?}");
    assert!((report.volume_ratio - 1.0).abs() < 0.02, "{report:?}");
}

#[test]
fn inside_out_and_in_parts_and_doubled() {
    let run = Run::default();
    let mut surface = shape("box", 300);
    surface.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    let report = filled(&surface).report;
    assert!((report.volume_ratio - 1.0).abs() < 0.003, "inside out: {report:?}");
    // Two parts, the second with every triangle's corners of their own, and a vertex of nothing.
    let other = shape("ball", 500);
    let n = surface.positions.len() as u32;
    let corners = other.triangles.as_flattened().iter();
    surface.positions.extend(corners.map(|&v| other.positions[v as usize] + Vec3::X * 5.0));
    surface.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    let extra = (0..other.triangles.len() as u32).map(|t| [0, 1, 2].map(|c| n + 3 * t + c));
    surface.triangles.extend(extra);
    surface.positions.push(Vec3::splat(20.0));
    let Filled { mesh, merged, report } = fill(&surface, &Params::default(), &run).unwrap();
    assert!((report.volume_ratio - 1.0).abs() < 0.003, "{report:?}");
    assert_eq!(report.duplicates, 3 * other.triangles.len() - other.positions.len());
    assert_eq!((report.in_no_tet, report.open_edges), (1, 0), "{report:?}");
    let used = mesh.tets.as_flattened().iter();
    let of_surface = used.filter(|&&v| (v as usize) < merged.len());
    assert!(of_surface.clone().all(|&v| merged[v as usize] == v), "copies are in no tet");
}

#[test]
fn same_bits_for_any_thread_count() {
    let surface = shape("jelly", 2000);
    let serial = filled(&surface);
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        assert_eq!(fill(&surface, &Params::default(), &run).unwrap(), serial, "{threads} threads");
    }
}

#[test]
fn what_cannot_be_filled_is_said() {
    let run = Run::default();
    let why = |surface: &TriMesh, spacing: Option<f32>| {
        fill(surface, &Params { spacing }, &run).expect_err("no tets").to_string()
    };
    assert!(why(&TriMesh::default(), None).contains("no triangle"), "empty");
    let sheet = shape("plane", 200);
    assert!(why(&sheet, None).contains("one plane"), "{}", why(&sheet, None));
    let point = TriMesh::new(vec![Vec3::ONE; 3], vec![[0, 1, 2]]);
    assert!(why(&point, None).contains("at one place"), "{}", why(&point, None));
    let mut ball = shape("ball", 300);
    for spacing in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(why(&ball, Some(spacing)).contains("no length"), "{spacing}");
    }
    assert!(why(&ball, Some(1e-6)).contains("larger spacing"), "{}", why(&ball, Some(1e-6)));
    assert!(why(&ball, Some(1e-30)).contains("larger spacing"), "{}", why(&ball, Some(1e-30)));
    ball.positions[7].y = f32::NAN;
    assert!(why(&ball, None).contains("vertex 7 is not finite"), "{}", why(&ball, None));
    ball.positions[7].y = 0.0;
    ball.triangles[3][1] = 9999;
    assert!(why(&ball, None).contains("9999"), "{}", why(&ball, None));
}

#[test]
fn tiny_and_huge_shapes_are_filled_alike() {
    let surface = shape("torus", 800);
    let report = filled(&surface).report;
    for scale in [1e-15_f32, 1e15] {
        let mut scaled = surface.clone();
        scaled.positions.iter_mut().for_each(|p| *p *= scale);
        let other = filled(&scaled).report;
        assert!((other.volume_ratio - report.volume_ratio).abs() < 1e-3, "{scale}: {other:?}");
        assert_eq!(other.in_no_tet, 0, "{scale}");
    }
}

//! Distances in closed form, and what must hold on any surface.

use std::f32::consts::{PI, TAU};

use glam::Vec3;

use super::heat::{Error, Params, Solver};
use super::{dijkstra, smoothed};
use crate::Run;
use crate::mesh::adjacency::vertex_vertices;

type Surface = (Vec<Vec3>, Vec<[u32; 3]>);

/// The unit square, n by n.
fn grid(n: u32) -> Surface {
    let at = |k: u32| Vec3::new((k % (n + 1)) as f32, (k / (n + 1)) as f32, 0.0) / n as f32;
    let positions = (0..(n + 1) * (n + 1)).map(at).collect();
    let mut triangles = Vec::new();
    for k in 0..n * n {
        let a = k / n * (n + 1) + k % n;
        triangles.extend([[a, a + 1, a + n + 2], [a, a + n + 2, a + n + 1]]);
    }
    (positions, triangles)
}

/// The unit sphere.
fn ball(triangles: usize) -> Surface {
    let size = crate::zoo::Size { triangles: Some(triangles) };
    let mesh = crate::zoo::build("ball", &size, &Run::default()).unwrap().meshes.swap_remove(0);
    (mesh.positions, mesh.triangles)
}

/// An open cylinder of radius 1 and height 4 about z.
fn tube(n: u32) -> Surface {
    let rows = 2 * n / 3;
    let at = |k: u32| {
        let (sin, cos) = (TAU * (k % n) as f32 / n as f32).sin_cos();
        Vec3::new(cos, sin, 4.0 * (k / n) as f32 / rows as f32)
    };
    let mut triangles = Vec::new();
    for k in 0..n * rows {
        let (a, b) = (k, k / n * n + (k + 1) % n);
        triangles.extend([[a, b, b + n], [a, b + n, a + n]]);
    }
    ((0..n * (rows + 1)).map(at).collect(), triangles)
}

fn heat((positions, triangles): &Surface, sources: &[u32]) -> Vec<f32> {
    let run = Run::default();
    let solver = Solver::new(positions, triangles, &Params::default(), &run).unwrap();
    solver.distances(sources, &run).unwrap()
}

/// Largest difference from what it should be.
fn error(surface: &Surface, found: &[f32], truth: impl Fn(Vec3) -> f32) -> f32 {
    surface.0.iter().zip(found).map(|(&p, d)| (d - truth(p)).abs()).fold(0.0, f32::max)
}

fn sphere_error(triangles: usize) -> f32 {
    let sphere = ball(triangles);
    let from = sphere.0[0];
    let truth = |p: Vec3| from.dot(p).clamp(-1.0, 1.0).acos();
    error(&sphere, &heat(&sphere, &[0]), truth)
}

#[test]
fn heat_on_a_sphere() {
    let found = sphere_error(8000);
    assert!(found < 0.015 * PI, "{found}");
}

#[test]
fn the_error_shrinks_with_the_triangles() {
    let (coarse, fine) = (sphere_error(1280), sphere_error(20_480));
    assert!(fine < 0.5 * coarse, "{coarse}, then {fine}");
}

#[test]
fn heat_on_a_plane() {
    let plane = grid(40);
    let middle = 20 * 41 + 20;
    let from = plane.0[middle];
    let found = error(&plane, &heat(&plane, &[middle as u32]), |p| p.distance(from));
    assert!(found < 0.03, "{found}");
}

#[test]
fn heat_on_a_cylinder() {
    let tube = tube(60);
    let source = 60 * 20;
    let from = tube.0[source];
    let truth = |p: Vec3| {
        let around = (p.y.atan2(p.x) - from.y.atan2(from.x)).abs();
        around.min(TAU - around).hypot(p.z - from.z)
    };
    let found = error(&tube, &heat(&tube, &[source as u32]), truth);
    assert!(found < 0.12, "{found} of {PI}, with edges of 0.1");
}

/// From a whole rim of the cylinder the distance is the height.
#[test]
fn heat_from_a_curve() {
    let tube = tube(48);
    let rim: Vec<u32> = (0..48).collect();
    let found = error(&tube, &heat(&tube, &rim), |p| p.z);
    assert!(found < 0.02, "{found}");
}

#[test]
fn both_methods_are_symmetric_and_obey_the_triangle_inequality() {
    let sphere = ball(1280);
    let ends = [0_usize, 100, 333];
    let slack = 0.05;
    let all: Vec<Vec<f32>> = ends.iter().map(|&i| heat(&sphere, &[i as u32])).collect();
    let paths: Vec<Vec<f32>> =
        ends.iter().map(|&i| dijkstra::distances(&sphere.0, &sphere.1, &[i as u32])).collect();
    for (from, slack) in [(all, slack), (paths, 1e-5)] {
        for (i, j) in [(0, 1), (1, 2), (2, 0)] {
            let (there, back) = (from[i][ends[j]], from[j][ends[i]]);
            assert!((there - back).abs() < slack, "{there} there, {back} back");
            for (k, (direct, onwards)) in from[i].iter().zip(&from[j]).enumerate() {
                assert!(*direct <= there + onwards + slack, "{i} to {k} by {j}");
            }
        }
    }
}

/// Needles, triangles without area, a doubled triangle and an edge with three triangles.
#[test]
fn heat_on_bad_triangles() {
    let (mut positions, mut triangles) = grid(20);
    for (k, p) in positions.iter_mut().enumerate() {
        // Rows bunch up: triangles a thousand times longer than high.
        p.y = if (k / 21) % 2 == 1 { p.y - 0.0499 } else { p.y };
    }
    let far = positions.len() as u32;
    positions.push(Vec3::new(0.5, 0.5, 0.05));
    triangles.extend([[220, 221, far], triangles[7], [3, 3, 4], [0, 1, 2]]);
    let surface = (positions, triangles);
    let found = heat(&surface, &[0]);
    assert!(found.iter().all(|d| d.is_finite()), "no NaN");
    let worst =
        surface.0.iter().zip(&found).map(|(p, d)| (d - p.length()).abs()).fold(0.0, f32::max);
    assert!(worst < 0.12, "{worst}");
}

#[test]
fn what_cannot_be_reached_is_infinitely_far() {
    let positions =
        vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE, 2.0 * Vec3::X, Vec3::NEG_X];
    let surface = (positions, vec![[0, 1, 2], [3, 4, 5]]);
    let paths = dijkstra::distances(&surface.0, &surface.1, &[0]);
    assert_eq!(paths[..3], [0.0, 1.0, 1.0]);
    let spread = heat(&surface, &[0]);
    assert!((spread[1] - 1.0).abs() < 0.35 && (spread[1] - spread[2]).abs() < 1e-5, "{spread:?}");
    for found in [paths, spread] {
        assert!(found[3..].iter().all(|d| *d == f32::INFINITY), "{found:?}");
    }
    assert_eq!(heat(&surface, &[6])[6], 0.0, "a source without triangles");
    assert!(heat(&surface, &[]).iter().all(|d| *d == f32::INFINITY), "no source at all");
    assert!(heat(&surface, &[0, 4]).iter().take(6).all(|d| d.is_finite()), "a source in each part");
}

/// A strip two thousand triangles long: the heat at its end is smaller than any number.
#[test]
fn heat_reaches_the_end_of_a_long_strip() {
    let at = |k: u32| Vec3::new((k / 2) as f32, (k % 2) as f32, 0.0);
    let positions: Vec<Vec3> = (0..2000).map(at).collect();
    let triangles =
        (0..999).flat_map(|k| [[2 * k, 2 * k + 2, 2 * k + 1], [2 * k + 1, 2 * k + 2, 2 * k + 3]]);
    let found = heat(&(positions, triangles.collect()), &[0, 1]);
    assert!((found[1999] - 999.0).abs() < 10.0, "{}", found[1999]);
    assert!(found.windows(3).all(|w| w[2] > w[0]), "farther and farther");
}

#[test]
fn says_what_is_wrong_with_a_surface() {
    let run = Run::default();
    let solver = |positions: &[Vec3], triangles: &[[u32; 3]], time: f64| {
        Solver::new(positions, triangles, &Params { time }, &run).map(drop).unwrap_err()
    };
    let (positions, triangles) = grid(2);
    assert_eq!(
        solver(&positions[..4], &triangles, 1.0),
        Error::NoSuchVertex { vertex: 4, vertices: 4 }
    );
    assert_eq!(solver(&positions, &triangles, 0.0), Error::Time { time: 0.0 });
    assert_eq!(solver(&[Vec3::NAN], &[], 1.0), Error::NotFinite { vertex: 0 });
    let right = Solver::new(&positions, &triangles, &Params::default(), &run).unwrap();
    let beyond = right.distances(&[9], &run).unwrap_err();
    assert_eq!(beyond, Error::NoSuchVertex { vertex: 9, vertices: 9 });
}

#[test]
fn same_bits_for_any_thread_count() {
    let (positions, triangles) = ball(5120);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let run = Run { threads: Some(&pool), ..Run::default() };
    let solver = Solver::new(&positions, &triangles, &Params::default(), &run).unwrap();
    assert_eq!(solver.distances(&[0], &run).unwrap(), heat(&(positions, triangles), &[0]));
}

#[test]
fn paths_on_a_plane_are_within_nine_percent() {
    let (positions, triangles) = grid(20);
    let found = dijkstra::distances(&positions, &triangles, &[0]);
    for (p, d) in positions.iter().zip(found) {
        let error = (d - p.length()) / p.length().max(0.05);
        assert!((-1e-4..0.09).contains(&error), "{p}: {d}");
    }
}

#[test]
fn smoothing_keeps_a_linear_function_inside() {
    let (positions, triangles) = grid(8);
    let around = vertex_vertices(positions.len(), &triangles);
    let values: Vec<f32> = positions.iter().map(|p| p.x + 2.0 * p.y).collect();
    let smooth = smoothed(&values, &around, 1, &Run::default());
    let middle = 4 * 9 + 4;
    assert!((smooth[middle] - values[middle]).abs() < 1e-6, "{}", smooth[middle]);
}

//! Invariants, closed forms and hostile input.

use std::sync::atomic::AtomicBool;

use glam::{Vec2, Vec3};

use super::*;
use crate::mesh::adjacency::{boundary_loops, topology};
use crate::mesh::attribute::UV;
use crate::mesh::bvh::Bvh;
use crate::mesh::intersect::self_intersections;
use crate::mesh::sample::bumpy_sphere;
use crate::mesh::volume::volume;
use crate::mesh::{CornerAttribute, Group, MorphTarget, SkinWeights, Values};

fn ball(n: u32) -> TriMesh {
    let (positions, triangles) = bumpy_sphere(n);
    TriMesh::new(positions, triangles)
}

/// A flat square of `n × n` cells in the plane z = 0, from −1 to 1.
fn square(n: u32) -> TriMesh {
    let at = |i: u32| 2.0 * i as f32 / n as f32 - 1.0;
    let cells = || (0..=n).flat_map(|y| (0..=n).map(move |x| (x, y)));
    let positions = cells().map(|(x, y)| Vec3::new(at(x), at(y), 0.0)).collect();
    let name = |x: u32, y: u32| y * (n + 1) + x;
    let mut triangles = Vec::new();
    for (x, y) in cells().filter(|&(x, y)| x < n && y < n) {
        triangles.push([name(x, y), name(x + 1, y), name(x + 1, y + 1)]);
        triangles.push([name(x, y), name(x + 1, y + 1), name(x, y + 1)]);
    }
    TriMesh::new(positions, triangles)
}

fn with_length(length: f32) -> Params {
    Params { target: Target::Length(length), ..Params::default() }
}

fn remeshed(mesh: &TriMesh, params: &Params) -> TriMesh {
    let (new, _) = remesh(mesh, params, &Run::default()).unwrap();
    assert_eq!(new.validate(), Ok(()));
    new
}

fn pairs(mesh: &TriMesh) -> usize {
    self_intersections(&mesh.positions, &mesh.triangles, &Run::default()).unwrap().len()
}

/// The largest distance of vertices and centroids of one mesh from the other.
fn farthest(from: &TriMesh, to: &TriMesh) -> f32 {
    let bvh = Bvh::new(&to.positions, &to.triangles, &Run::default());
    let centroids =
        (0..from.triangles.len()).map(|t| from.corners_of(t).iter().sum::<Vec3>() / 3.0);
    let points: Vec<Vec3> = from.positions.iter().copied().chain(centroids).collect();
    let found = bvh.closest_points(&points, &Run::default()).unwrap();
    found.iter().map(|c| c.distance).fold(0.0, f32::max)
}

#[test]
fn a_closed_shape_stays_closed_whole_and_where_it_is() {
    let old = ball(24);
    let run = Run::default();
    for length in [0.06, 0.12, 0.3] {
        let new = remeshed(&old, &with_length(length));
        let found = topology(new.positions.len(), &new.triangles, &run);
        assert!(found.is_closed() && found.is_oriented() && found.is_vertex_manifold());
        assert_eq!(found.euler_characteristic, 2, "length {length}");
        assert_eq!(pairs(&new), 0, "length {length}");
        let [before, after] = [&old, &new].map(|m| volume(&m.positions, &m.triangles, &run));
        let bound = f64::from(0.6 * length * length + 0.004);
        assert!((after / before - 1.0).abs() < bound, "volume {before} → {after}, {length}");
        let off = farthest(&new, &old).max(farthest(&old, &new));
        assert!(off < 1.2 * length * length + 0.01, "{off} away at length {length}");
    }
}

#[test]
fn triangles_get_the_size_and_shape_wanted() {
    let old = ball(24);
    let length = 0.08;
    let new = remeshed(&old, &with_length(length));
    let mean = mean_edge(&new, &Run::default()) as f32;
    assert!((mean / length - 1.0).abs() < 0.1, "mean edge {mean}");
    let shapes: Vec<f64> =
        (0..new.triangles.len()).map(|t| guard::quality(&new.corners_of(t))).collect();
    let average = shapes.iter().sum::<f64>() / shapes.len() as f64;
    let worst = shapes.iter().copied().fold(1.0, f64::min);
    assert!(average > 0.93, "mean quality {average}");
    assert!(worst > 0.3, "worst quality {worst}");
}

#[test]
fn the_edges_and_corners_of_a_cube_stay_exactly() {
    let mut cube = cube();
    cube.attributes.set("x", Values::Scalar(cube.positions.iter().map(|p| p.x).collect()));
    let new = remeshed(&cube, &with_length(0.2));
    assert_eq!(pairs(&new), 0);
    let kept = volume(&new.positions, &new.triangles, &Run::default());
    assert!((kept - 8.0).abs() < 1e-12, "volume {kept}");
    for corner in &cube.positions {
        assert!(new.positions.contains(corner), "{corner} is gone");
    }
    let on_surface = |p: &Vec3| p.abs().max_element() == 1.0;
    assert!(new.positions.iter().all(on_surface), "all vertices on the faces");
    let edge = |p: &&Vec3| p.abs().to_array().iter().filter(|x| **x == 1.0).count() >= 2;
    assert!(new.positions.iter().filter(edge).count() > 12 * 7, "vertices on the edges");
    for (p, x) in new.positions.iter().zip(new.attributes.scalar("x").unwrap()) {
        assert!((p.x - x).abs() < 1e-6, "{p} has {x}");
    }
}

fn cube() -> TriMesh {
    let positions = (0..8)
        .map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32) * 2.0 - 1.0)
        .collect();
    let quads =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    TriMesh::new(positions, triangles)
}

#[test]
fn a_border_stays_and_linear_attributes_are_reproduced() {
    let mut old = square(10);
    let linear = |p: &Vec3| 3.0 * p.x - 2.0 * p.y + 0.5;
    old.attributes.set("paint", Values::Scalar(old.positions.iter().map(linear).collect()));
    let shift = |p: &Vec3| Vec3::new(p.y, 0.0, p.x);
    old.morphs.push(MorphTarget {
        positions: old.positions.iter().map(shift).collect(),
        ..MorphTarget::default()
    });
    let mut skin = SkinWeights::default();
    for p in &old.positions {
        let w = 0.5 + 0.5 * p.x;
        skin.push([(0, w), (1, 1.0 - w)]);
    }
    old.skin_weights = Some(skin);
    for length in [0.07, 0.35] {
        let new = remeshed(&old, &with_length(length));
        let skin = new.skin_weights.as_ref().unwrap();
        for (v, p) in new.positions.iter().enumerate() {
            let paint = new.attributes.scalar("paint").unwrap()[v];
            assert!((paint - linear(p)).abs() < 1e-5, "{p} has {paint}");
            assert!(new.morphs[0].positions[v].distance(shift(p)) < 1e-5, "morph at {p}");
            let sum: f32 = skin.of(v).map(|(_, w)| w).sum();
            assert!((sum - 1.0).abs() < 1e-6, "weights add up to {sum}");
            let first: f32 = skin.of(v).filter(|(j, _)| *j == 0).map(|(_, w)| w).sum();
            assert!((first - (0.5 + 0.5 * p.x)).abs() < 1e-5, "weight {first} at {p}");
        }
        let loops = boundary_loops(new.positions.len(), &new.triangles);
        assert_eq!(loops.len(), 1, "one border");
        let rim = |p: &Vec3| p.abs().max_element() == 1.0;
        assert!(loops[0].iter().all(|&v| rim(&new.positions[v as usize])), "on the old border");
        let area = area(&new.positions, &new.triangles, &Run::default());
        assert!((area - 4.0).abs() < 1e-5, "area {area}");
    }
}

/// The left half has one texture, the right half another, and they differ along x = 0.
#[test]
fn seams_are_not_smeared_and_groups_stay_apart() {
    let mut old = square(8);
    let side = |mesh: &TriMesh, t: usize| mesh.corners_of(t).iter().map(|p| p.x).sum::<f32>() > 0.0;
    let mut order: Vec<usize> = (0..old.triangles.len()).collect();
    order.sort_by_key(|&t| side(&old, t));
    old.triangles = order.iter().map(|&t| old.triangles[t]).collect();
    let half = old.triangles.len() as u32 / 2;
    let n = old.positions.len() as u32;
    let uv = |p: &Vec3, right: bool| Vec2::new(p.x + if right { 10.0 } else { 0.0 }, p.y);
    let values = [false, true].iter().flat_map(|&r| old.positions.iter().map(move |p| uv(p, r)));
    let rows = (0..).zip(&old.triangles).map(|(t, c)| c.map(|v| if t < half { v } else { v + n }));
    old.corners = vec![CornerAttribute {
        name: UV.to_owned(),
        values: Values::Vec2(values.collect()),
        triangles: rows.collect(),
    }];
    let group = |r: std::ops::Range<u32>| Group { triangles: r, ..Group::default() };
    old.groups = vec![group(0..half), group(half..2 * half)];
    let new = remeshed(&old, &with_length(0.15));
    let Values::Vec2(values) = &new.corners[0].values else { panic!("still two numbers") };
    for (t, row) in new.corners[0].triangles.iter().enumerate() {
        let right = side(&new, t);
        assert_eq!(right, t as u32 >= new.groups[1].triangles.start, "group of triangle {t}");
        for (&i, p) in row.iter().zip(new.corners_of(t)) {
            let found = values[i as usize];
            assert!(found.distance(uv(&p, right)) < 1e-5, "{found} at {p}, right {right}");
        }
    }
    let on_seam = new.positions.iter().filter(|p| p.x == 0.0).count();
    assert!(on_seam > 8, "{on_seam} vertices on the seam");
    let (split, _) = new.split_seams();
    assert_eq!(split.positions.len(), new.positions.len() + on_seam, "only the seam is double");
}

#[test]
fn a_mesh_that_meets_itself_gets_no_more_pairs() {
    let mut old = ball(12);
    let other = ball(14);
    let n = old.positions.len() as u32;
    old.positions.extend(other.positions.iter().map(|&p| p + Vec3::new(0.7, 0.3, 0.1)));
    old.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + n)));
    let before = pairs(&old);
    for length in [0.1, 0.3] {
        let new = remeshed(&old, &with_length(length));
        assert!(pairs(&new) <= before, "{} pairs, {before} before", pairs(&new));
    }
}

#[test]
fn what_is_no_manifold_is_kept() {
    // Three sheets that share an edge.
    let sheets = [Vec3::X, Vec3::Y, Vec3::new(-1.0, -1.0, 0.0)];
    let positions = [vec![Vec3::ZERO, Vec3::Z], sheets.to_vec()].concat();
    let old = TriMesh::new(positions, vec![[0, 1, 2], [0, 1, 3], [0, 1, 4]]);
    let (new, report) = remesh(&old, &with_length(0.2), &Run::default()).unwrap();
    assert_eq!(new.validate(), Ok(()));
    assert_eq!(report.warnings.len(), 1, "{report:?}");
    assert!(new.triangles.len() > 20, "the sheets are finer");
    let found = topology(new.positions.len(), &new.triangles, &Run::default());
    assert_eq!((found.nonmanifold_edges, found.components), (1, 1), "the edge is one edge still");
}

#[test]
fn same_bits_for_any_thread_count() {
    let old = ball(20);
    let serial = remeshed(&old, &with_length(0.1));
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let (parallel, _) = remesh(&old, &with_length(0.1), &run).unwrap();
        assert_eq!(parallel, serial, "{threads} threads");
    }
}

#[test]
fn bad_input_is_refused_with_reasons() {
    let run = Run::default();
    let of = |mesh: &TriMesh, params: &Params| remesh(mesh, params, &run).map(drop);
    let sound = ball(6);
    assert_eq!(of(&TriMesh::default(), &Params::default()), Err(Error::NoTriangles));
    let flat = TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::X * 2.0], vec![[0, 1, 2], [0, 0, 1]]);
    assert_eq!(of(&flat, &Params::default()), Err(Error::NoTriangles));
    let mut bad = sound.clone();
    bad.positions[3] = Vec3::NAN;
    assert!(matches!(of(&bad, &Params::default()), Err(Error::Defect(Defect::NotFinite { .. }))));
    for length in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let found = of(&sound, &with_length(length));
        assert!(matches!(found, Err(Error::NotPositive { .. })), "{found:?}");
    }
    assert!(matches!(of(&sound, &with_length(1e-4)), Err(Error::TooFine { .. })));
    assert!(matches!(of(&sound, &with_length(1e-9)), Err(Error::TooShort { .. })));
    let flag = AtomicBool::new(true);
    let stopped = Run { cancel: Some(&flag), ..Run::default() };
    let result = remesh(&sound, &Params::default(), &stopped).map(drop);
    assert_eq!(result, Err(Error::Cancelled(Cancelled)));
}

#[test]
fn a_length_larger_than_the_shape_leaves_a_sound_one() {
    let new = remeshed(&ball(10), &with_length(50.0));
    let found = topology(new.positions.len(), &new.triangles, &Run::default());
    assert!(found.is_closed() && found.euler_characteristic == 2, "{found:?}");
    assert_eq!(pairs(&new), 0);
}

#[test]
fn triangles_without_area_go_away() {
    let mut old = square(4);
    // A vertex on an edge makes one of the two triangles there flat.
    let [a, b, c] = old.triangles[9];
    let m = old.positions.len() as u32;
    old.positions.push(0.5 * (old.positions[a as usize] + old.positions[b as usize]));
    old.triangles[9] = [m, b, c];
    old.triangles.extend([[a, m, c], [a, b, m]]);
    let new = remeshed(&old, &with_length(0.2));
    assert_eq!(
        crate::mesh::measure::degenerate_triangles(&new.positions, &new.triangles, &Run::default()),
        0
    );
    assert_eq!(pairs(&new), 0);
}

/// The finding: one stray vertex made every other triangle as large as its own, or never ended.
#[test]
fn a_stray_vertex_does_not_make_all_the_others_coarse() {
    let clean = ball(12);
    let (even, _) = remesh(&clean, &Params::default(), &Run::default()).unwrap();
    for far in [30.0, 100.0] {
        let mut stray = clean.clone();
        stray.positions[7] *= far;
        let (new, report) = remesh(&stray, &Params::default(), &Run::default()).unwrap();
        assert!(new.triangles.len() > even.triangles.len() / 2, "{} left", new.triangles.len());
        let told = report.warnings.join("\n");
        assert!(told.contains("a stray vertex?"), "{told}");
    }
    let (_, report) = remesh(&clean, &Params::default(), &Run::default()).unwrap();
    assert_eq!(report.warnings, Vec::<String>::new(), "nothing is odd about a ball");
}

#[test]
fn coordinates_beyond_all_sense_are_refused() {
    for scale in [1e20, 1e30] {
        let mut far = ball(6);
        far.positions.iter_mut().for_each(|x| *x *= scale);
        for params in [Params::default(), with_length(0.5 * scale)] {
            let found = remesh(&far, &params, &Run::default()).map(drop);
            assert!(matches!(found, Err(Error::TooLarge { .. })), "{scale}: {found:?}");
        }
    }
}

//! Every complex against the definition, with exact signs.

use std::collections::HashMap;

use super::*;
use crate::mesh::sample::Random;

/// What a complex must be; gives its volume.
fn check(points: &[Vec3], what: &str) -> f64 {
    let found = delaunay(points, &Run::default()).unwrap_or_else(|e| panic!("{what}: {e}"));
    let coord = |i: u32| {
        let [x, y, z] = points[i as usize].as_dvec3().to_array();
        Coord3D { x, y, z }
    };
    let mut is_used = vec![false; points.len()];
    found.tets.as_flattened().iter().for_each(|&i| is_used[i as usize] = true);
    for (i, &same) in found.same_as.iter().enumerate() {
        let first = points.iter().position(|p| *p == points[i]).unwrap();
        assert_eq!(same as usize, first, "{what}: point {i}");
        assert_eq!(is_used[i], first == i, "{what}: point {i} is in a tet unless it is a copy");
    }
    let mut faces: HashMap<[u32; 3], Vec<(usize, usize)>> = HashMap::new();
    for (t, tet) in found.tets.iter().enumerate() {
        let [a, b, c, d] = tet.map(coord);
        assert!(sees(a, b, c, d) > 0.0, "{what}: tet {t} is flat or turned");
        for (k, face) in FACES.iter().enumerate() {
            let mut face = face.map(|corner| tet[corner]);
            face.sort_unstable();
            faces.entry(face).or_default().push((t, k));
        }
    }
    let mut hull: HashMap<[u32; 2], i32> = HashMap::new();
    let mut faces: Vec<_> = faces.into_values().collect();
    faces.sort_unstable();
    for of in faces {
        let corners_of = |(t, k): (usize, usize)| FACES[k].map(|corner| found.tets[t][corner]);
        match of[..] {
            [one, (t, k)] => {
                let [a, b, c, d] = found.tets[one.0].map(coord);
                let inside = robust::insphere(b, a, c, d, coord(found.tets[t][k]));
                assert!(inside <= 0.0, "{what}: tet {t} has a corner in the sphere of {}", one.0);
            }
            [one] => {
                let [a, b, c] = corners_of(one);
                for [u, v] in [[a, b], [b, c], [c, a]] {
                    *hull.entry([u.min(v), u.max(v)]).or_default() += if u < v { 1 } else { -1 };
                }
                let beyond = (0..points.len() as u32)
                    .find(|&p| sees(coord(a), coord(b), coord(c), coord(p)) > 0.0);
                assert_eq!(beyond, None, "{what}: the hull is convex");
            }
            _ => panic!("{what}: a face of {} tets", of.len()),
        }
    }
    assert!(hull.values().all(|&sum| sum == 0), "{what}: the hull is closed");
    if found.tets.len() * points.len() < 1_000_000 {
        for (t, tet) in found.tets.iter().enumerate() {
            let [a, b, c, d] = tet.map(coord);
            let mut all = 0..points.len() as u32;
            let inside = all.find(|&p| robust::insphere(b, a, c, d, coord(p)) > 0.0);
            assert_eq!(inside, None, "{what}: in the sphere of tet {t}");
        }
    }
    let volume =
        |t: &[u32; 4]| crate::mesh::tet::signed_volume(t.map(|i| points[i as usize].as_dvec3()));
    found.tets.iter().map(volume).sum()
}

fn random_points(n: usize, seed: u64) -> Vec<Vec3> {
    let mut random = Random(seed);
    (0..n).map(|_| random.point()).collect()
}

fn grid(n: i32) -> Vec<Vec3> {
    let at = |i: i32| Vec3::new((i % n) as f32, (i / n % n) as f32, (i / (n * n)) as f32);
    (0..n * n * n).map(at).collect()
}

#[test]
fn the_sphere_of_every_tet_is_empty() {
    for (n, seed) in [(4, 1), (5, 2), (20, 3), (200, 4), (2000, 5)] {
        check(&random_points(n, seed), &format!("{n} random points"));
    }
    let volume = check(&grid(8), "a grid");
    assert!((volume - 343.0).abs() < 1e-9, "{volume}");
    let mut centred = grid(6);
    centred.extend(grid(5).iter().map(|p| p + 0.5));
    let volume = check(&centred, "a body-centred grid");
    assert!((volume - 125.0).abs() < 1e-9, "{volume}");
}

#[test]
fn cospherical_points_make_no_flat_tet() {
    let all = -17..=17;
    let mut points = Vec::new();
    for x in all.clone() {
        for y in all.clone() {
            for z in all.clone() {
                if x * x + y * y + z * z == 17 * 17 {
                    points.push(Vec3::new(x as f32, y as f32, z as f32));
                }
            }
        }
    }
    assert!(points.len() > 100, "{}", points.len());
    check(&points, "integer points of one sphere");
    points.push(Vec3::ZERO);
    check(&points, "the same and their middle");
    let ball: Vec<Vec3> = random_points(1000, 6).iter().map(|p| p.normalize_or_zero()).collect();
    let volume = check(&ball, "a rounded sphere");
    assert!(volume > 4.0 && volume < 4.19, "{volume}");
}

#[test]
fn copies_are_named_and_planes_are_no_trouble() {
    let mut twice = random_points(300, 7);
    twice.extend(random_points(300, 7).into_iter().rev());
    check(&twice, "each point twice");
    let plane = |z: f32| (0..144).map(move |i| Vec3::new((i % 12) as f32, (i / 12) as f32, z));
    let planes: Vec<Vec3> = plane(0.0).chain(plane(1.0)).collect();
    let volume = check(&planes, "two planes");
    assert!((volume - 121.0).abs() < 1e-9, "{volume}");
    let tent: Vec<Vec3> = plane(0.0).chain([Vec3::new(5.0, 3.0, 7.0)]).collect();
    let volume = check(&tent, "a plane and a point");
    assert!((volume - 121.0 * 7.0 / 3.0).abs() < 1e-9, "{volume}");
    let mut signs = vec![Vec3::ZERO, -Vec3::ZERO];
    signs.extend([Vec3::X, Vec3::Y, Vec3::Z]);
    check(&signs, "both zeros are one place");
}

#[test]
fn two_skew_lines_have_as_many_tets_as_pairs_of_segments() {
    let one = (0..40).map(|i| Vec3::new(i as f32, 0.0, 0.0));
    let other = (0..40).map(|i| Vec3::new(19.0, i as f32 - 20.0, 10.0));
    let points: Vec<Vec3> = one.chain(other).collect();
    check(&points, "two skew lines");
    assert_eq!(delaunay(&points, &Run::default()).unwrap().tets.len(), 39 * 39);
}

#[test]
fn size_and_place_do_not_matter() {
    let points = random_points(200, 8);
    let tets = delaunay(&points, &Run::default()).unwrap().tets;
    for scale in [libm::ldexpf(1.0, -120), libm::ldexpf(1.0, 100)] {
        let scaled: Vec<Vec3> = points.iter().map(|p| p * scale).collect();
        let same = delaunay(&scaled, &Run::default()).unwrap().tets == tets;
        assert!(same, "times {scale}");
    }
    let tiny: Vec<Vec3> = grid(4).iter().map(|p| p * f32::from_bits(1)).collect();
    check(&tiny, "the smallest numbers there are");
    let far: Vec<Vec3> = random_points(500, 9).iter().map(|p| p + 1e5).collect();
    check(&far, "far away, many on one place");
    let huge: Vec<Vec3> = random_points(100, 10).iter().map(|p| p * 3e38).collect();
    check(&huge, "the largest numbers there are");
}

#[test]
fn what_cannot_be_done_is_said() {
    let run = Run::default();
    let flat = |points: &[Vec3]| {
        assert_eq!(delaunay(points, &run), Err(Error::Flat { points: points.len() }));
    };
    flat(&[]);
    flat(&[Vec3::ONE; 9]);
    let tilted = |i: u32| Vec3::new((i % 10) as f32, (i / 10) as f32, (i % 10 + i / 10) as f32);
    flat(&(0..100).map(tilted).collect::<Vec<_>>());
    flat(&(0..10).map(|i| i as f32 * Vec3::new(1.0, 2.0, 3.0)).collect::<Vec<_>>());
    let nan = [Vec3::ZERO, Vec3::X, Vec3::NAN, Vec3::Y, Vec3::Z];
    assert!(matches!(delaunay(&nan, &run), Err(Error::NotFinite { vertex: 2, .. })), "NaN");
    let stop = std::sync::atomic::AtomicBool::new(true);
    let stopped = Run { cancel: Some(&stop), ..Run::default() };
    assert!(matches!(delaunay(&grid(4), &stopped), Err(Error::Cancelled(_))), "stopped");
}

/// The curve visits every cell once, each beside the one before.
#[test]
fn the_curve_goes_from_neighbour_to_neighbour() {
    let side = 1 << (BITS - 3);
    let cells = (0..512_u32).map(|i| [i & 7, i >> 3 & 7, i >> 6].map(|c| c * side));
    let mut along: Vec<(u64, [u32; 3])> = cells.map(|cell| (hilbert(cell), cell)).collect();
    along.sort_unstable();
    for pair in along.windows(2) {
        let steps: u32 = (0..3).map(|a| pair[0].1[a].abs_diff(pair[1].1[a])).sum();
        assert_eq!(steps, side, "{pair:?}");
    }
}

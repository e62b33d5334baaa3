//! The hierarchy against brute force.

use super::super::sample::{Random, bumpy_sphere, soup};
use super::*;

fn tree((positions, triangles): &(Vec<Vec3>, Vec<[u32; 3]>)) -> Bvh {
    Bvh::new(positions, triangles, &Run::default())
}

#[test]
fn closest_point_is_the_best_of_all_triangles() {
    let mut random = Random(1);
    let shape = soup(300, 0.2, &mut random);
    let bvh = tree(&shape);
    for _ in 0..300 {
        let q = 1.5 * random.point();
        let found = bvh.closest_point(q).unwrap();
        let distance = |t: &[u32; 3]| {
            let corners = t.map(|i| shape.0[i as usize]);
            let weights = closest_weights(&corners.map(Vec3::as_dvec3), q.as_dvec3());
            blend(&corners, weights).distance(q.as_dvec3()) as f32
        };
        let least = shape.1.iter().map(distance).fold(f32::INFINITY, f32::min);
        assert_eq!(found.distance.to_bits(), least.to_bits(), "at {q}");
        let at = bvh.closest_within(q, 0.5 * found.distance);
        assert_eq!(at, None, "nothing within half the distance");
    }
}

/// A dense sampling of one triangle never comes nearer than the closed form.
#[test]
fn no_sample_of_a_triangle_is_nearer() {
    let mut random = Random(2);
    for case in 0..200 {
        let mut corners = [0; 3].map(|_| random.point());
        match case % 8 {
            0 => corners[1] = corners[0],
            1 => corners[2] = 0.5 * (corners[0] + corners[1]),
            2 => corners = [corners[0]; 3],
            _ => {}
        }
        let q = 2.0 * random.point().as_dvec3();
        let weights = closest_weights(&corners.map(Vec3::as_dvec3), q);
        assert!((weights.element_sum() - 1.0).abs() < 1e-12, "{weights} add up to one");
        assert!(weights.min_element() >= -1e-12, "{weights} is inside");
        let found = blend(&corners, weights).distance(q);
        for i in 0..=20 {
            for j in 0..=20 - i {
                let w = DVec3::new(f64::from(i), f64::from(j), f64::from(20 - i - j)) / 20.0;
                let sample = blend(&corners, w).distance(q);
                assert!(found <= sample + 1e-9, "{sample} < {found} for {corners:?}");
            }
        }
    }
}

#[test]
fn rays_from_inside_find_the_way_out_through_every_vertex_and_edge() {
    let shape = bumpy_sphere(12);
    let bvh = tree(&shape);
    let origin = Vec3::new(0.05, -0.1, 0.02);
    let middle = |a: u32, b: u32| 0.5 * (shape.0[a as usize] + shape.0[b as usize]);
    let edges = super::super::adjacency::edges(shape.0.len(), &shape.1);
    let targets = shape.0.iter().copied().chain(edges.iter().map(|&[a, b]| middle(a, b)));
    for target in targets {
        let ray = Ray { origin, direction: target - origin };
        let hit = bvh.first_hit(&ray, 2.0).expect("watertight");
        assert!((hit.distance - 1.0).abs() < 1e-4, "{hit:?}");
        assert!(!hit.front, "leaves through the back");
    }
}

#[test]
fn hits_come_in_order_and_alternate_on_a_closed_shape() {
    let shape = bumpy_sphere(16);
    let bvh = tree(&shape);
    let mut random = Random(3);
    let mut crossings = 0;
    for _ in 0..500 {
        let origin = 3.0 * random.point();
        let ray = Ray { origin, direction: random.point() - origin };
        let hits = bvh.all_hits(&ray);
        crossings += hits.len();
        assert!(hits.is_sorted_by(|a, b| a.distance <= b.distance), "nearest first");
        assert!(hits.windows(2).all(|w| w[0].front != w[1].front), "in, out, in, out");
        let first = bvh.first_hit(&ray, f32::INFINITY);
        assert_eq!(first, hits.first().copied());
        let brute = shape.1.iter().filter(|t| {
            let corners = t.map(|i| shape.0[i as usize]);
            Sheared::new(&ray).unwrap().meets(&corners, f64::INFINITY).is_some()
        });
        assert_eq!(brute.count(), hits.len());
    }
    assert!(crossings > 100, "enough rays met the shape: {crossings}");
}

#[test]
fn a_ray_along_an_axis_within_a_face_of_the_box_still_hits() {
    let shape = (vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]);
    let bvh = tree(&shape);
    let down = Ray { origin: Vec3::new(0.0, 0.5, 3.0), direction: -Vec3::Z };
    let hit = bvh.first_hit(&down, f32::INFINITY).unwrap();
    assert!(hit.front && hit.distance == 3.0, "{hit:?}");
    assert_eq!(hit.barycentric, [0.5, 0.0, 0.5]);
    assert_eq!(bvh.first_hit(&down, 2.5), None);
    let still = Ray { direction: Vec3::ZERO, ..down };
    assert_eq!(bvh.first_hit(&still, f32::INFINITY), None);
}

#[test]
fn boxes_and_pairs_are_those_of_brute_force() {
    let mut random = Random(4);
    let shape = soup(200, 0.3, &mut random);
    let bvh = tree(&shape);
    let boxes: Vec<Bounds> =
        shape.1.iter().map(|t| bounds_of(&t.map(|i| shape.0[i as usize]))).collect();
    let mut pairs = Vec::new();
    for i in 0..200_u32 {
        let overlapping: Vec<u32> =
            (0..200).filter(|&j| boxes[i as usize].overlaps(&boxes[j as usize])).collect();
        assert_eq!(bvh.in_box(&boxes[i as usize]), overlapping);
        pairs.extend(overlapping.into_iter().filter(|&j| i < j).map(|j| [i, j]));
    }
    assert_eq!(bvh.near_pairs(&Run::default()).unwrap(), pairs);
}

#[test]
fn refitting_answers_like_building_anew() {
    let (mut positions, triangles) = bumpy_sphere(10);
    let mut bvh = Bvh::new(&positions, &triangles, &Run::default());
    for p in &mut positions {
        *p = Vec3::new(p.x + p.z, 2.0 * p.y, p.z - p.x * p.y) * 3.0;
    }
    bvh.refit(&positions, &triangles, &Run::default());
    let fresh = Bvh::new(&positions, &triangles, &Run::default());
    assert_eq!(bvh.bounds(), fresh.bounds());
    let mut random = Random(5);
    for _ in 0..100 {
        let q = 6.0 * random.point();
        assert_eq!(bvh.closest_point(q), fresh.closest_point(q));
    }
}

#[test]
fn piles_and_needles_do_not_overflow_the_walk() {
    let pile: Vec<[u32; 3]> = vec![[0, 1, 2]; 3000];
    let corner = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let bvh = Bvh::new(&corner, &pile, &Run::default());
    assert_eq!(bvh.closest_point(Vec3::Z).unwrap().triangle, 0);
    // Middles that halve and halve again: the deepest tree the curve can make.
    let halving: Vec<Vec3> = (0..3000)
        .map(|i| Vec3::splat(0.5_f32.powi(i / 40)) + Vec3::splat(i as f32 * 1e-12))
        .collect();
    let triangles: Vec<[u32; 3]> = (0..1000).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let bvh = Bvh::new(&halving, &triangles, &Run::default());
    let far = bvh.closest_point(Vec3::splat(-1.0)).unwrap();
    assert!((far.distance - 3.0_f32.sqrt()).abs() < 1e-6, "{far:?}");
}

#[test]
fn an_empty_tree_finds_nothing() {
    let bvh = Bvh::new(&[], &[], &Run::default());
    assert!(bvh.is_empty() && bvh.bounds().is_none(), "nothing there");
    assert_eq!(bvh.closest_point(Vec3::ZERO), None);
    let ray = Ray { origin: Vec3::ZERO, direction: Vec3::X };
    assert!(bvh.all_hits(&ray).is_empty(), "no hits");
    assert!(bvh.near_pairs(&Run::default()).unwrap().is_empty(), "no pairs");
}

#[test]
fn same_tree_for_any_thread_count() {
    let (positions, triangles) = bumpy_sphere(60);
    let serial = Bvh::new(&positions, &triangles, &Run::default());
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let parallel = Bvh::new(&positions, &triangles, &run);
        assert_eq!(parallel.order, serial.order, "{threads} threads");
        assert_eq!(format!("{:?}", parallel.nodes), format!("{:?}", serial.nodes));
    }
}

//! Chapter 3 of the source: boundaries drawn on the surface.

mod sculpt_shapes;

use glam::Vec3;
use sculpt_shapes::{Shape, bar, sphere};
use supple::Run;
use supple::pathline;
use supple::sculpt::{self, Boundary, Knob, Op, Outcome, Params, Part, Problem, SpaceMap};

/// A rectangle around a bar of thickness one, at a place along it.
fn ring(x: f32) -> Vec<Vec3> {
    let corners = [(1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0)];
    corners.map(|(y, z)| Vec3::new(x, 0.5 * y as f32, 0.5 * z as f32)).to_vec()
}

fn long_bar() -> Shape {
    bar(Vec3::new(6.0, 1.0, 1.0), [72, 12, 12])
}

fn bend(degrees: f32) -> Boundary {
    Boundary {
        inner: ring(1.5),
        outer: ring(-1.5),
        knob: Knob::Rotate { joint: Vec3::ZERO, axis: Vec3::Z, degrees },
        ..Boundary::default()
    }
}

fn sculpted(shape: &mut Shape, op: Boundary) -> Result<Outcome, Problem> {
    let (params, run) = (Params::default(), Run::default());
    let ops = [Op::Boundary(op)];
    sculpt::apply(&mut shape.positions, &shape.triangles, &ops, &params, &run)
        .map_err(|e| e.problem)
}

fn parts(outcome: &Outcome) -> &[Part] {
    match &outcome.path.maps[0] {
        SpaceMap::Boundary(map) => map.parts(),
        stage => panic!("{stage:?}"),
    }
}

#[test]
fn the_handle_turns_rigidly_and_the_rest_stays() {
    let mut shape = long_bar();
    let rest = shape.positions.clone();
    let outcome = sculpted(&mut shape, bend(90.0)).unwrap();
    let parts = parts(&outcome);
    for (i, (a, b)) in rest.iter().zip(&shape.positions).enumerate() {
        match parts[i] {
            Part::Handle => {
                let expected = Vec3::new(-a.y, a.x, a.z);
                assert!(b.abs_diff_eq(expected, 1e-6), "{a} went to {b}");
            }
            Part::Still => assert_eq!(a, b, "at rest"),
            _ => {}
        }
        if a.x > 1.7 {
            assert_eq!(parts[i], Part::Handle, "{a}");
        }
        if a.x.abs() < 1.2 {
            assert_eq!(parts[i], Part::Lower, "{a}");
        }
        if a.x < -1.7 {
            assert_eq!(parts[i], Part::Still, "{a}");
        }
    }
    assert!(outcome.report.volume_error().abs() < 3e-3, "{}", outcome.report.volume_error());
}

/// The error is the mesh's own: four times as many vertices, a quarter of it.
#[test]
fn the_volume_error_shrinks_with_the_mesh() {
    let error = |n: u32| {
        let mut shape = bar(Vec3::new(6.0, 1.0, 1.0), [6 * n, n, n]);
        sculpted(&mut shape, bend(60.0)).unwrap().report.volume_error().abs()
    };
    let (coarse, fine) = (error(10), error(20));
    assert!(fine < 0.4 * coarse, "{coarse} then {fine}");
    assert!(fine < 1e-3, "{fine}");
}

/// What moves rigidly and what stays go over into the support without a kink: edges that lead from one into the other keep
/// their lengths, the better the finer the mesh. A blend with a slope at its ends would stretch them by a sixth.
#[test]
fn the_support_meets_handle_and_rest_without_a_kink() {
    let strain = |n: u32| {
        let mut shape = bar(Vec3::new(6.0, 1.0, 1.0), [6 * n, n, n]);
        let rest = shape.positions.clone();
        let op = Boundary { thickness: Some(0.2), ..bend(60.0) };
        let outcome = sculpted(&mut shape, op).unwrap();
        let parts = parts(&outcome);
        let is_support = |v: usize| !matches!(parts[v], Part::Handle | Part::Still);
        let (mut most, mut seen) = (0.0_f32, 0);
        for t in &shape.triangles {
            for k in 0..3 {
                let (a, b) = (t[k] as usize, t[(k + 1) % 3] as usize);
                if is_support(a) != is_support(b) {
                    let now = shape.positions[a].distance(shape.positions[b]);
                    most = most.max((now / rest[a].distance(rest[b]) - 1.0).abs());
                    seen += 1;
                }
            }
        }
        assert!(seen > 50, "{seen} edges lead across");
        most
    };
    let (coarse, fine) = (strain(10), strain(20));
    assert!(coarse < 0.03 && fine < 0.5 * coarse, "{coarse} then {fine}");
}

#[test]
fn every_knob_lands_where_it_must() {
    let translate = Knob::Translate { by: Vec3::new(0.3, 0.4, -0.2) };
    let drag = Knob::Drag { joint: Vec3::ZERO, knob: 2.0 * Vec3::X, to: Vec3::new(3.0, 0.0, 3.0) };
    let twist = Knob::Twist { joint: Vec3::ZERO, knob: Vec3::X, degrees: 90.0, uniform: false };
    let end = Vec3::new(3.0, 0.5, 0.25);
    let root = 0.5_f32.sqrt();
    let cases = [
        (translate, end + Vec3::new(0.3, 0.4, -0.2)),
        (drag, Vec3::new(root * (3.0 - 0.25), 0.5, root * (3.0 + 0.25))),
        (twist, Vec3::new(3.0, -0.25, 0.5)),
    ];
    for (knob, expected) in cases {
        let mut shape = long_bar();
        let tip = shape.positions.iter().position(|p| p.abs_diff_eq(end, 1e-5)).unwrap();
        let report = sculpted(&mut shape, Boundary { knob, ..bend(0.0) }).unwrap().report;
        let found = shape.positions[tip];
        assert!(found.abs_diff_eq(expected, 1e-5), "{knob:?}: {found} {expected}");
        assert!(report.volume_error().abs() < 3e-3, "{knob:?}: {}", report.volume_error());
    }
}

#[test]
fn a_middle_boundary_moves_by_half() {
    let mut shape = long_bar();
    let rest = shape.positions.clone();
    let op = Boundary { middle: ring(0.0), ..bend(90.0) };
    let outcome = sculpted(&mut shape, op).unwrap();
    // Turned back by half the angle, the middle curve lies in its plane again, about.
    let (s, c) = 45.0_f32.to_radians().sin_cos();
    let (mut middle, mut off) = (0, 0.0);
    for (i, (a, b)) in rest.iter().zip(&shape.positions).enumerate() {
        if parts(&outcome)[i] == Part::Middle {
            off += c * b.x + s * b.y - a.x;
            middle += 1;
        } else if parts(&outcome)[i] == Part::Handle {
            assert!(b.abs_diff_eq(Vec3::new(-a.y, a.x, a.z), 1e-5), "{a} went to {b}");
        }
    }
    assert!(middle >= 48, "{middle}");
    assert!((off / middle as f32).abs() < 0.05, "{}", off / middle as f32);
    assert!(outcome.report.volume_error().abs() < 3e-3, "{}", outcome.report.volume_error());
    let mut back = shape.positions;
    outcome.path.undo(&mut back, &pathline::Params::default(), &Run::default()).unwrap();
    let error = rest.iter().zip(&back).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(error < 1e-5 * 38.0_f32.sqrt(), "{error}");
}

/// The logarithms of the stretches of a triangle, the larger first.
fn stretches(rest: [Vec3; 3], now: [Vec3; 3]) -> [f32; 2] {
    // A triangle in its plane: the first side along x, the second corner at (y.x, y.y).
    let flat = |[a, b, c]: [Vec3; 3]| {
        let (along, other) = (b - a, c - a);
        let length = along.length();
        let x = along.dot(other) / length;
        (length, x, (other.length_squared() - x * x).max(1e-12).sqrt())
    };
    let ((l0, x0, y0), (l1, x1, y1)) = (flat(rest), flat(now));
    let (a, d) = (l1 / l0, y1 / y0);
    let b = (x1 - a * x0) / y0;
    let (sum, product) = (a * a + b * b + d * d, a * d);
    let large = (0.5 * (sum + (sum * sum - 4.0 * product * product).max(0.0).sqrt())).sqrt();
    [large.ln(), (product / large).max(1e-9).ln()]
}

/// What a third curve is for: an extreme bend is less distorted with it, over the whole support and at worst.
#[test]
fn a_middle_boundary_mends_an_extreme_bend() {
    let distortion = |middle: Vec<Vec3>| {
        let mut shape = long_bar();
        let rest = shape.positions.clone();
        let outcome = sculpted(&mut shape, Boundary { middle, ..bend(100.0) }).unwrap();
        let moves = |v: u32| !matches!(parts(&outcome)[v as usize], Part::Handle | Part::Still);
        let (mut sum, mut area, mut worst) = (0.0, 0.0, 0.0_f32);
        for t in shape.triangles.iter().filter(|t| t.iter().any(|&v| moves(v))) {
            let corners = t.map(|v| rest[v as usize]);
            let [large, small] = stretches(corners, t.map(|v| shape.positions[v as usize]));
            let [a, b, c] = corners;
            let own = (b - a).cross(c - a).length();
            (sum, area) = (sum + own * (large * large + small * small), area + own);
            worst = worst.max(large.abs()).max(small.abs());
        }
        ((sum / area).sqrt(), worst.exp())
    };
    let (without, with) = (distortion(Vec::new()), distortion(ring(0.0)));
    assert!(with.0 < 0.9 * without.0, "{without:?} without, {with:?} with");
    assert!(with.1 < 0.7 * without.1, "{without:?} without, {with:?} with");
}

#[test]
fn undo_returns_and_replay_repeats() {
    let mut shape = long_bar();
    let rest = shape.positions.clone();
    let outcome = sculpted(&mut shape, bend(90.0)).unwrap();
    let (params, run) = (pathline::Params::default(), Run::default());
    let mut copy = rest.clone();
    outcome.path.replay(&mut copy, &params, &run).unwrap();
    assert_eq!(copy, shape.positions);
    outcome.path.undo(&mut copy, &params, &run).unwrap();
    let error = rest.iter().zip(&copy).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(error < 1e-5 * 38.0_f32.sqrt(), "{error}");
}

#[test]
fn exact_volume_leaves_handle_and_rest() {
    let params = Params { exact_volume: true, ..Params::default() };
    let mut shape = long_bar();
    let mut plain = long_bar();
    let outcome = sculpted(&mut plain, bend(90.0)).unwrap();
    let ops = [Op::Boundary(bend(90.0))];
    let run = Run::default();
    let done = sculpt::apply(&mut shape.positions, &shape.triangles, &ops, &params, &run).unwrap();
    assert!(done.report.volume_error().abs() < 1e-6, "{}", done.report.volume_error());
    for (i, part) in parts(&outcome).iter().enumerate() {
        if matches!(part, Part::Handle | Part::Still) {
            assert_eq!(shape.positions[i], plain.positions[i], "{part:?}");
        }
    }
}

#[test]
fn bad_boundaries_are_named() {
    let mut shape = long_bar();
    let short = sculpted(&mut shape, Boundary { inner: vec![Vec3::X; 2], ..bend(30.0) });
    assert!(matches!(short, Err(Problem::TooFew { least: 3, .. })), "{short:?}");
    let near = sculpted(&mut shape, Boundary { outer: ring(1.45), ..bend(30.0) });
    assert!(matches!(near, Err(Problem::BoundariesTouch { .. })), "{near:?}");
    let thin =
        sculpted(&mut shape, Boundary { thickness: Some(1e-3), inner: ring(1.51), ..bend(30.0) });
    assert!(matches!(thin, Err(Problem::DoesNotDivide { what: "inner", .. })), "{thin:?}");
    let axis = Knob::Rotate { joint: Vec3::ZERO, axis: Vec3::ZERO, degrees: 10.0 };
    let none = sculpted(&mut shape, Boundary { knob: axis, ..bend(30.0) });
    assert!(matches!(none, Err(Problem::NoDirection { .. })), "{none:?}");
    assert_eq!(shape.positions, long_bar().positions, "errors leave the shape alone");
    let mut cloud = Shape { positions: sphere(1).positions, triangles: vec![] };
    let flat = sculpted(&mut cloud, bend(30.0));
    assert!(matches!(flat, Err(Problem::NeedsTriangles { .. })), "{flat:?}");
}

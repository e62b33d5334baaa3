//! Chapter 2 of the source: implicit tools, painting, point sets, twist and bend.

mod sculpt_shapes;

use glam::Vec3;
use sculpt_shapes::{Shape, bar, sphere};
use supple::Run;
use supple::pathline::{self, Direction, Method};
use supple::sculpt::{
    self, Bend, Keep, Mirror, Move, Op, Outcome, Paint, Params, Points, Problem, Side, Tool, Twist,
    printed,
};

fn sculpted(shape: &mut Shape, ops: &[Op]) -> Outcome {
    let params = Params::default();
    sculpt::apply(&mut shape.positions, &shape.triangles, ops, &params, &Run::default())
        .expect("these edits are possible")
}

/// The push of the command line's example.
fn push() -> Move {
    Move {
        center: Vec3::new(0.0, 0.0, 1.4),
        by: vec![Vec3::new(0.0, 0.0, -1.2)],
        inner: 0.3,
        outer: 1.2,
        ..Move::default()
    }
}

/// 180° over the length of a bar of four units.
fn twist() -> Twist {
    Twist { axis: Vec3::X, degrees: 180.0, from: -2.0, to: 2.0, ..Twist::default() }
}

fn right_angle() -> Bend {
    Bend { degrees: 90.0, width: 4.0, ..Bend::default() }
}

#[test]
fn a_push_has_the_mesh_s_own_volume_error() {
    for (level, expected) in [(4, 1.6e-3), (5, 4.0e-4)] {
        let mut ball = sphere(level);
        let error = sculpted(&mut ball, &[Op::Move(push())]).report.volume_error();
        assert!(error.abs() < 1.3 * expected, "level {level}: {error}");
        assert!(error.abs() > 0.5 * expected, "level {level}: {error}");
    }
}

#[test]
fn a_shape_outside_the_inner_region_never_enters_it() {
    let mut ball = sphere(4);
    sculpted(&mut ball, &[Op::Move(push())]);
    let end = Vec3::new(0.0, 0.0, 0.2);
    let nearest = ball.positions.iter().map(|p| p.distance(end)).fold(f32::MAX, f32::min);
    assert!(nearest > 0.3 - 1e-4, "{nearest}");
}

#[test]
fn the_core_of_a_capsule_follows_every_leg() {
    let legs = vec![Vec3::new(0.2, 0.0, 0.1), Vec3::new(0.0, -0.4, 0.0)];
    let tool = Tool::Capsule { half: Vec3::new(0.5, 0.0, 0.0) };
    let op = Move { tool, by: legs.clone(), inner: 0.2, outer: 0.7, ..Move::default() };
    let inside = Vec3::new(0.4, 0.1, -0.1);
    let outside = Vec3::new(0.0, 0.75, 0.0);
    let mut cloud = Shape { positions: vec![inside, outside], triangles: vec![] };
    sculpted(&mut cloud, &[Op::Move(op)]);
    let expected = inside + legs[0] + legs[1];
    assert!(cloud.positions[0].abs_diff_eq(expected, 1e-6), "{}", cloud.positions[0]);
    assert_eq!(cloud.positions[1], outside, "not by one bit");
}

#[test]
fn undo_returns_within_the_promise() {
    let ops = [
        Op::Move(push()),
        Op::Twist(Twist { axis: Vec3::Z, ..twist() }),
        Op::Points(Points {
            points: vec![Vec3::X, -Vec3::X],
            by: vec![Vec3::new(0.0, 0.3, 0.0)],
            outer: 0.6,
            ..Points::default()
        }),
        Op::Bend(Bend { degrees: 30.0, ..right_angle() }),
    ];
    let mut ball = sphere(4);
    let rest = ball.positions.clone();
    let outcome = sculpted(&mut ball, &ops);
    assert!(outcome.report.max_displacement > 0.5, "{:?}", outcome.report);
    let integration = pathline::Params::default();
    outcome.path.undo(&mut ball.positions, &integration, &Run::default()).unwrap();
    let error = farthest(&rest, &ball.positions);
    assert!(error < 1e-5 * 12.0_f32.sqrt(), "{error}");
}

#[test]
fn a_replayed_point_goes_where_the_vertex_went() {
    let mut ball = sphere(3);
    let mut copies = ball.positions.clone();
    let outcome = sculpted(&mut ball, &[Op::Move(push()), Op::Twist(twist())]);
    let integration = pathline::Params::default();
    outcome.path.replay(&mut copies, &integration, &Run::default()).unwrap();
    assert_eq!(copies, ball.positions);
}

#[test]
fn a_twisted_bar_keeps_its_volume_and_its_ends() {
    let mut shape = bar(Vec3::new(6.0, 1.0, 1.0), [144, 24, 24]);
    let rest = shape.positions.clone();
    let error = sculpted(&mut shape, &[Op::Twist(twist())]).report.volume_error();
    assert!(error.abs() < 2.5e-4, "{error}");
    for (a, b) in rest.iter().zip(&shape.positions) {
        if a.x <= -2.0 {
            assert_eq!(a, b, "still below");
        } else if a.x >= 2.0 {
            assert!(b.abs_diff_eq(Vec3::new(a.x, -a.y, -a.z), 1e-6), "{a} turned to {b}");
        }
    }
}

#[test]
fn a_bent_bar_keeps_its_volume_and_its_ends() {
    let mut shape = bar(Vec3::new(6.0, 1.0, 1.0), [144, 24, 24]);
    let rest = shape.positions.clone();
    let error = sculpted(&mut shape, &[Op::Bend(right_angle())]).report.volume_error();
    assert!(error.abs() < 8e-5, "{error}");
    let corner = Vec3::new(0.3537, 2.3537, 0.0);
    for (a, b) in rest.iter().zip(&shape.positions) {
        if a.x <= -2.0 {
            assert_eq!(a, b, "still before");
        } else if a.x >= 2.0 {
            let expected = corner + Vec3::new(-a.y, a.x - 2.0, a.z);
            assert!(b.abs_diff_eq(expected, 1e-4), "{a} turned to {b}, not {expected}");
        }
    }
}

#[test]
fn a_cylinder_limits_a_twist_to_one_of_two_bars() {
    let mut shape = bar(Vec3::new(6.0, 1.0, 1.0), [24, 4, 4]);
    let one = shape.positions.len();
    let other = bar(Vec3::new(6.0, 1.0, 1.0), [24, 4, 4]);
    shape.positions.extend(other.positions.iter().map(|p| *p + 3.0 * Vec3::Y));
    let moved = |t: &[u32; 3]| t.map(|i| i + one as u32);
    shape.triangles.extend(other.triangles.iter().map(moved));
    let rest = shape.positions.clone();
    sculpted(&mut shape, &[Op::Twist(Twist { radius: Some(1.0), ..twist() })]);
    assert_eq!(shape.positions[one..], rest[one..], "the other bar stays");
    assert_ne!(shape.positions[..one], rest[..one], "this one turns");
    for radius in [0.6, 2.7] {
        let op = Op::Twist(Twist { radius: Some(radius), ..twist() });
        let before = shape.positions.clone();
        let problem = refused(&mut shape, op);
        assert!(matches!(problem, Problem::CrossesTheCylinder { .. }), "{radius}: {problem}");
        assert_eq!(shape.positions, before, "an error leaves the shape alone");
    }
}

fn refused(shape: &mut Shape, op: Op) -> Problem {
    let (params, run) = (Params::default(), Run::default());
    let triangles = &shape.triangles;
    sculpt::apply(&mut shape.positions, triangles, &[op], &params, &run)
        .expect_err("this edit is impossible")
        .problem
}

#[test]
fn bad_parameters_are_named() {
    let mut ball = sphere(1);
    let empty = Op::Move(Move { inner: 1.0, outer: 0.5, ..push() });
    let message = |op: Op, shape: &mut Shape| {
        let (params, run) = (Params::default(), Run::default());
        sculpt::apply(&mut shape.positions, &shape.triangles, &[op], &params, &run)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message(empty, &mut ball),
        "operation 1 (move): the outer radius 0.5 must be larger than the inner radius 1, for example 2"
    );
    let cases = [
        (Op::Twist(Twist { axis: Vec3::ZERO, ..twist() }), "axis"),
        (Op::Twist(Twist { from: 2.0, to: -2.0, ..twist() }), "height"),
        (Op::Bend(Bend { along: Vec3::Z, ..right_angle() }), "parallel"),
        (Op::Bend(Bend { width: 0.0, ..right_angle() }), "width"),
        (Op::Bend(Bend { width: 0.5, ..right_angle() }), "at most"),
        (Op::Move(Move { center: Vec3::NAN, ..push() }), "finite"),
        (Op::Points(Points::default()), "empty"),
        (Op::Paint(Paint::default()), "empty"),
        (Op::Paint(Paint { stroke: vec![Vec3::splat(9.0)], ..Paint::default() }), "farther"),
        (Op::Move(Move { inner: -1.0, ..push() }), "positive"),
    ];
    for (op, word) in cases {
        let text = message(op.clone(), &mut ball);
        assert!(text.contains(word), "{op:?}: {text}");
    }
    let mut cloud = Shape { positions: vec![Vec3::X], triangles: vec![] };
    let paint = Op::Paint(Paint { stroke: vec![Vec3::X], ..Paint::default() });
    assert!(message(paint, &mut cloud).contains("no triangles"), "painting needs a surface");
}

#[test]
fn painting_moves_the_middle_of_the_stroke_by_the_depth() {
    for (side, sign) in [(Side::In, -1.0), (Side::Out, 1.0)] {
        let mut ball = sphere(5);
        let arc = (-8..=8).map(|k| {
            let (s, c) = (0.05 * k as f32).sin_cos();
            Vec3::new(s, 0.0, c)
        });
        let stroke: Vec<Vec3> = arc.collect();
        let paint = Paint { stroke, radius: 0.15, depth: 0.03, side, ..Paint::default() };
        let rest = ball.positions.clone();
        let report = sculpted(&mut ball, &[Op::Paint(paint)]).report;
        let top = rest.iter().enumerate().max_by(|a, b| a.1.z.total_cmp(&b.1.z)).unwrap().0;
        let rise = ball.positions[top].length() - 1.0;
        assert!((rise - sign * 0.03).abs() < 0.006, "{side:?}: {rise}");
        assert!(report.volume_error().abs() < 1e-3, "{}", report.volume_error());
    }
}

#[test]
fn one_dab_moves_its_centre_by_exactly_the_depth() {
    let mut ball = sphere(4);
    let center = ball.positions[100];
    let paint = Paint { stroke: vec![center], radius: 0.3, depth: 0.1, ..Paint::default() };
    sculpted(&mut ball, &[Op::Paint(paint)]);
    let expected = 0.9 * center;
    assert!(ball.positions[100].abs_diff_eq(expected, 2e-3), "{} {expected}", ball.positions[100]);
    let depth = ball.positions[100].distance(center);
    assert!((depth - 0.1).abs() < 1e-5, "{depth}");
}

#[test]
fn marked_points_move_and_disconnected_parts_with_them() {
    let mut ball = sphere(4);
    let eyes = vec![ball.positions[10], ball.positions[40]];
    let by = Vec3::new(0.0, 0.0, 0.2);
    let op = Points { points: eyes.clone(), by: vec![by], outer: 0.5, ..Points::default() };
    sculpted(&mut ball, &[Op::Points(op)]);
    for (eye, vertex) in eyes.iter().zip([10, 40]) {
        let found = ball.positions[vertex];
        assert!(found.abs_diff_eq(*eye + by, 1e-4), "{found} {}", *eye + by);
    }
}

#[test]
fn what_is_kept_stays() {
    let mut ball = sphere(4);
    let kept = Vec3::new(0.0, 0.6, 0.8);
    let keep = vec![Keep { center: kept, inner: 0.2, outer: 0.5, ..Keep::default() }];
    let rest = ball.positions.clone();
    let by = vec![Vec3::new(0.0, 0.0, -0.5)];
    let report = sculpted(&mut ball, &[Op::Move(Move { keep, by, ..push() })]).report;
    let mut inside = 0;
    for (a, b) in rest.iter().zip(&ball.positions) {
        if a.distance(kept) < 0.2 {
            assert_eq!(a, b, "kept");
            inside += 1;
        }
    }
    assert!(inside > 10, "{inside} vertices were to be kept");
    assert!(report.moved > 300, "the rest moved: {report:?}");
    assert!(report.volume_error().abs() < 5e-3, "{}", report.volume_error());
}

#[test]
fn a_mirrored_edit_gives_a_symmetric_shape() {
    let mut ball = sphere(4);
    let op = Move {
        center: Vec3::new(0.5, 0.1, 0.9),
        by: vec![Vec3::new(0.3, 0.1, 0.3)],
        inner: 0.1,
        outer: 0.7,
        mirror: Some(Mirror::default()),
        ..Move::default()
    };
    let rest = ball.positions.clone();
    sculpted(&mut ball, &[Op::Move(op)]);
    let flip = |p: Vec3| Vec3::new(-p.x, p.y, p.z);
    let mut moved = 0;
    for (a, b) in rest.iter().zip(&ball.positions) {
        let twin = rest.iter().position(|p| p.distance_squared(flip(*a)) < 1e-10).unwrap();
        let image = flip(ball.positions[twin]);
        assert!(image.abs_diff_eq(*b, 1e-5), "{b} {image}");
        moved += usize::from(a != b);
    }
    assert!(moved > 200, "{moved}");
}

/// On an open shell, less sideways flow leaves the far sheet where it is.
#[test]
fn grabbing_leaves_the_far_sheet_alone() {
    let sheet = |z: f32| (0..121).map(move |k| Vec3::new((k / 11) as f32, (k % 11) as f32, z));
    let pull = |lateral: f32| {
        let mut cloth =
            Shape { positions: sheet(0.0).chain(sheet(-0.5)).collect(), triangles: vec![] };
        let rest = cloth.positions.clone();
        let op = Move {
            center: Vec3::new(5.0, 5.0, 1.0),
            by: vec![Vec3::new(2.0, 0.0, 0.0)],
            inner: 0.5,
            outer: 3.0,
            lateral,
            ..Move::default()
        };
        sculpted(&mut cloth, &[Op::Move(op)]);
        let back = |(a, b): (&Vec3, &Vec3)| (a.x - b.x).max(0.0);
        rest.iter().zip(&cloth.positions).map(back).fold(0.0, f32::max)
    };
    assert!(pull(1.0) > 0.2, "making room pushes something back: {}", pull(1.0));
    assert!(pull(0.0) <= 0.0, "grabbing pushes nothing back: {}", pull(0.0));
}

#[test]
fn exact_volume_is_exact_and_holds_what_must_stay() {
    let params = Params { exact_volume: true, ..Params::default() };
    let grab = Move {
        center: Vec3::Z,
        by: vec![Vec3::new(0.2, 0.0, 0.5)],
        inner: 0.4,
        outer: 1.0,
        ..Move::default()
    };
    let mut ball = sphere(5);
    let rest = ball.positions.clone();
    let outcome = sculpt::apply(
        &mut ball.positions,
        &ball.triangles,
        &[Op::Move(grab.clone())],
        &params,
        &Run::default(),
    );
    let report = outcome.unwrap().report;
    assert!(report.volume_error().abs() < 1e-6, "{}", report.volume_error());
    assert_eq!(report.warnings, Vec::<String>::new());
    for (a, b) in rest.iter().zip(&ball.positions) {
        if a.distance(Vec3::Z) <= 0.4 {
            assert_eq!(*b, *a + grab.by[0], "the core landed exactly");
        } else if a.z < -0.1 {
            assert_eq!(a, b, "out of reach");
        }
    }
    for (op, size) in
        [(Op::Twist(twist()), 6.0), (Op::Bend(right_angle()), 6.0), (Op::Move(push()), 2.0)]
    {
        let mut shape = bar(Vec3::new(size, 1.0, 1.0), [96, 16, 16]);
        let done =
            sculpt::apply(&mut shape.positions, &shape.triangles, &[op], &params, &Run::default());
        let error = done.unwrap().report.volume_error();
        assert!(error.abs() < 1e-6, "{error}");
    }
}

/// The source's own twist and bend: the far end turns as printed, the near end stays.
#[test]
fn the_printed_fields_turn_the_far_end() {
    let mut points = vec![Vec3::new(4.0, 0.2, 0.3), Vec3::new(-3.0, 0.2, 0.3)];
    let flow = printed::bend(&Bend { degrees: 60.0, width: 2.0, ..Bend::default() }).unwrap();
    let params = pathline::Params::default();
    pathline::advect(&mut points, &flow, &params, Direction::Forward, &Run::default()).unwrap();
    let (s, c) = 60.0_f32.to_radians().sin_cos();
    let expected = Vec3::new(4.0 * c - 0.2 * s, 4.0 * s + 0.2 * c, 0.3);
    assert!(points[0].abs_diff_eq(expected, 1e-4), "{} {expected}", points[0]);
    assert_eq!(points[1], Vec3::new(-3.0, 0.2, 0.3), "the near end");

    let mut points = vec![Vec3::new(1.0, 1.0, 0.0), Vec3::new(-1.0, 1.0, 0.0)];
    let twist = Twist { axis: Vec3::X, degrees: 90.0, from: -1.0, to: 1.0, ..Twist::default() };
    let flow = printed::twist(&twist).unwrap();
    pathline::advect(&mut points, &flow, &params, Direction::Forward, &Run::default()).unwrap();
    assert!(points[0].abs_diff_eq(Vec3::new(1.0, 0.0, 1.0), 1e-4), "{}", points[0]);
    assert_eq!(points[1], Vec3::new(-1.0, 1.0, 0.0), "below");
}

#[test]
fn same_bits_for_any_thread_count() {
    let arc = (0..9).map(|k| {
        let (s, c) = (0.06 * k as f32).sin_cos();
        Vec3::new(s, 0.0, c)
    });
    let paint = Paint { stroke: arc.collect(), ..Paint::default() };
    let ops = [Op::Paint(paint), Op::Move(push()), Op::Twist(twist())];
    let params = Params { exact_volume: true, ..Params::default() };
    let mut serial = sphere(5);
    sculpt::apply(&mut serial.positions, &serial.triangles, &ops, &params, &Run::default())
        .unwrap();
    for threads in [2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let mut ball = sphere(5);
        sculpt::apply(&mut ball.positions, &ball.triangles, &ops, &params, &run).unwrap();
        assert_eq!(ball.positions, serial.positions, "{threads} threads");
    }
}

#[test]
fn operations_are_plain_values() {
    let text = r#"
        [[ops]]
        kind = "move"
        center = [0.0, 0.0, 1.4]
        by = [[0.0, 0.0, -1.2]]
        inner = 0.3
        outer = 1.2

        [[ops]]
        kind = "twist"
        axis = [1.0, 0.0, 0.0]
        degrees = 180.0
        from = -2.0
        to = 2.0
    "#;
    #[derive(serde::Deserialize)]
    struct Session {
        ops: Vec<Op>,
    }
    let session: Session = toml::from_str(text).unwrap();
    assert_eq!(session.ops, [Op::Move(push()), Op::Twist(twist())]);
    assert!(toml::from_str::<Session>("[[ops]]\nkind = \"move\"\nradius = 1.0").is_err(), "a typo");
}

#[test]
fn fixed_steps_converge_to_the_adaptive_result() {
    let (mut adaptive, mut fixed) = (sphere(3), sphere(3));
    sculpted(&mut adaptive, &[Op::Move(push())]);
    let integration = pathline::Params { method: Method::Fixed { steps: 100 } };
    let params = Params { integration, ..Params::default() };
    let ops = [Op::Move(push())];
    sculpt::apply(&mut fixed.positions, &fixed.triangles, &ops, &params, &Run::default()).unwrap();
    let error = farthest(&adaptive.positions, &fixed.positions);
    assert!(error < 1e-5, "{error}");
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

//! `sculpt` in scenes: what is read and refused, and how a list of edits is carried out up to a point.

mod sculpt_shapes;

use glam::Vec3;
use sculpt_shapes::{Shape, bar, sphere};
use supple::Run;
use supple::player::{Player, PlayerError};
use supple::scene::{Entry, Folder, Problem, Scene};
use supple::sculpt::modifier::Params;
use supple::sculpt::{
    self, Bend, Boundary, Curve, Extent, Guide, Handle, Knob, Move, Op, Paint, Points, Side, Stamp,
    Tool, ToolShape, Twist, partial,
};

fn document(op: &str) -> String {
    format!(
        "supple = 1\n[[asset]]\nzoo = \"ball\"\n[[asset.modifier]]\nkind = \"sculpt\"\n\
         [[asset.modifier.op]]\n{op}\n"
    )
}

fn scene(text: &str) -> Scene {
    Scene::parse(text, None).unwrap_or_else(|p| panic!("{p}"))
}

fn player(scene: &Scene) -> Result<Player, PlayerError> {
    Player::open(scene, &Folder::new(".".as_ref()), &Run::default()).map(|(player, _)| player)
}

fn refused(op: &str) -> Problem {
    Scene::parse(&document(op), None).expect_err("this is wrong")
}

/// One edit of each kind, on the unit ball.
fn ops() -> Vec<Op> {
    let ring = |z: f32| {
        let r = (1.0 - z * z).sqrt();
        let at = |k: u32| std::f32::consts::TAU * k as f32 / 24.0;
        (0..24).map(|k| Vec3::new(r * at(k).cos(), r * at(k).sin(), z)).collect::<Vec<_>>()
    };
    let boundary = |knob| {
        Op::Boundary(Boundary { inner: ring(0.6), outer: ring(-0.3), knob, ..Boundary::default() })
    };
    let curve = |guide| {
        let extent = Extent::Geodesic { from: Vec3::Z, inner: 0.5, outer: 1.8 };
        let (twist_degrees, steps) = (40.0, 16);
        Op::Curve(Curve { guide, extent, twist_degrees, steps, ..Curve::default() })
    };
    let up = |x: f32, z: f32| Vec3::new(x, 0.0, z);
    let tool = Tool::Capsule { half: 0.2 * Vec3::Y };
    let by = vec![Vec3::new(0.0, 0.0, -0.5), Vec3::new(0.2, 0.0, 0.0)];
    vec![
        Op::Move(Move {
            center: 1.3 * Vec3::Z,
            by,
            tool,
            inner: 0.3,
            outer: 1.2,
            ..Move::default()
        }),
        Op::Points(Points { points: vec![Vec3::X], by: vec![0.3 * Vec3::X], ..Points::default() }),
        Op::Paint(Paint {
            stroke: vec![Vec3::X, Vec3::new(0.8, 0.6, 0.0)],
            radius: 0.4,
            depth: 0.1,
            side: Side::Out,
            ..Paint::default()
        }),
        Op::Stamp(Stamp {
            tool: ToolShape::Mesh {
                positions: bar(Vec3::splat(0.5), [1, 1, 1]).positions,
                triangles: bar(Vec3::splat(0.5), [1, 1, 1]).triangles,
            },
            from: 1.35 * Vec3::X,
            by: vec![-0.4 * Vec3::X],
            ..Stamp::default()
        }),
        Op::Twist(Twist { degrees: 120.0, ..Twist::default() }),
        Op::Bend(Bend { degrees: 30.0, width: 4.0, ..Bend::default() }),
        boundary(Knob::Translate { by: 0.4 * Vec3::Z }),
        boundary(Knob::Drag { joint: Vec3::ZERO, knob: Vec3::Z, to: Vec3::new(0.5, 0.0, 1.0) }),
        curve(Guide::Through(vec![up(0.0, 0.5), up(0.1, 0.9), up(0.4, 1.2)])),
        curve(Guide::Handles {
            from: Handle { position: 0.8 * Vec3::Z, normal: Vec3::Z, binormal: Vec3::X },
            to: Handle { position: up(0.3, 1.3), normal: Vec3::Z, binormal: Vec3::Y },
        }),
        curve(Guide::Turn { center: Vec3::ZERO, axis: Vec3::Z, degrees: 50.0 }),
    ]
}

fn carried(shape: &Shape, ops: &[Op]) -> Vec<Vec3> {
    let mut positions = shape.positions.clone();
    let (params, run) = (sculpt::Params::default(), Run::default());
    sculpt::apply(&mut positions, &shape.triangles, ops, &params, &run)
        .unwrap_or_else(|e| panic!("{e}"));
    positions
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x.distance(*y)).fold(0.0, f32::max)
}

#[test]
fn nothing_and_all_of_a_list_are_exact() {
    let log = ops();
    assert_eq!(partial(&log, 0.0), []);
    assert_eq!(partial(&log, -1.0), []);
    assert_eq!(partial(&log, f64::NAN), []);
    assert_eq!(partial(&log, 1.0), log);
    assert_eq!(partial(&log, 9.0), log);
    for op in &log {
        let alone = std::slice::from_ref(op);
        assert_eq!(partial(alone, 1.0), alone);
    }
    assert_eq!(partial(&log[..8], 0.5), log[..4]);
}

/// From nothing to the whole edit without a jump: each of twelve steps moves a share of the whole.
#[test]
fn every_edit_grows_without_a_jump() {
    let ball = sphere(3);
    for op in ops() {
        let log = [op.clone()];
        let at = |amount: f64| carried(&ball, &partial(&log, amount));
        let whole = at(1.0);
        let far = farthest(&ball.positions, &whole);
        assert!(far > 0.05, "{op:?} moves");
        assert!(farthest(&ball.positions, &at(1e-4)) < 0.002 * far, "{op:?} starts at rest");
        assert!(farthest(&whole, &at(1.0 - 1e-4)) < 0.002 * far, "{op:?} ends in the whole");
        let frames: Vec<_> = (0..=12).map(|k| at(f64::from(k) / 12.0)).collect();
        for pair in frames.windows(2) {
            assert!(farthest(&pair[0], &pair[1]) < 0.3 * far, "{op:?} jumps");
        }
    }
}

#[test]
fn half_a_twist_is_a_twist_by_half_the_angle() {
    let shape = bar(Vec3::new(1.0, 1.0, 4.0), [2, 2, 8]);
    let twist = |degrees| [Op::Twist(Twist { degrees, ..Twist::default() })];
    assert_eq!(carried(&shape, &partial(&twist(90.0), 0.5)), carried(&shape, &twist(45.0)));
}

#[test]
fn a_tool_that_is_cut_short_is_on_its_way_by_length() {
    let by = vec![3.0 * Vec3::X, Vec3::ZERO, Vec3::Y];
    let log = [Op::Move(Move { by, ..Move::default() })];
    let way = |amount: f64| match &partial(&log, amount)[0] {
        Op::Move(op) => op.by.iter().sum::<Vec3>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(way(0.25), Vec3::X);
    assert_eq!(way(0.75), 3.0 * Vec3::X);
    assert_eq!(way(0.875), Vec3::new(3.0, 0.5, 0.0));
}

#[test]
fn a_document_holds_every_edit() {
    let mut whole = scene(&document("kind = \"twist\""));
    let sculpt = &mut whole.assets[0].world[0];
    let params = Params { ops: ops(), exact_volume: true, ..sculpt.read().unwrap() };
    *sculpt = Entry::of("sculpt", &params);
    let text = whole.to_toml();
    assert_eq!(scene(&text), whole, "{text}");
}

#[test]
fn what_is_wrong_with_an_edit_is_said_where_it_stands() {
    let cases = [
        ("kind = \"twits\"", (7, 8), "did you mean 'twist'?"),
        ("kind = \"twist\"\ndegree = 9", (8, 1), "did you mean 'degrees'?"),
        ("kind = \"twist\"\ndegrees = \"far\"", (8, 11), "deg, rad, turn"),
        ("kind = \"twist\"\naxis = [1, 0]", (8, 8), "three are needed"),
        ("kind = \"twist\"\naxis = [1, 0, 0, 0]", (8, 8), "three are needed"),
        ("kind = \"move\"\nby = [[1, 0, 0], [1, 0, 0, 0]]", (8, 18), "three are needed"),
        ("kind = \"move\"\nmirror = { norm = [1, 0, 0] }", (8, 12), "did you mean 'normal'?"),
        ("kind = \"move\"\ninner = 2", (6, 1), "must be larger than the inner radius 2"),
        ("kind = \"move\"\nlateral = 3", (8, 11), "between 0 and 1"),
        ("kind = \"twist\"\naxis = [0, 0, 0]", (6, 1), "the axis is zero"),
        ("kind = \"paint\"\nradius = -1", (6, 1), "the stroke is empty"),
        ("kind = \"curve\"\nuntil = 2", (8, 9), "between 0 and 1"),
        ("kind = \"boundary\"\ninner = [[1, 2, 3]]", (6, 1), "is empty"),
        ("kind = \"stamp\"", (6, 1), "the tool has no triangles"),
        ("kind = \"stamp\"\ntool = { fil = \"a.ply\" }", (8, 10), "file"),
        ("degrees = 9", (6, 1), "has no 'kind'"),
    ];
    for (op, place, says) in cases {
        let problem = refused(op);
        assert_eq!((problem.line, problem.column), place, "{op}: {problem}");
        assert!(problem.to_string().contains(says), "{op}: {problem}");
    }
}

#[test]
fn an_amount_stays_between_nothing_and_all() {
    let text = document("kind = \"twist\"");
    for amount in ["1.5", "-0.1", "true", "\"way\""] {
        let wrong = text.replace("\"sculpt\"", &format!("\"sculpt\"\namount = {amount}"));
        let problem = Scene::parse(&wrong, None).expect_err("this is wrong");
        assert_eq!((problem.line, problem.column), (6, 10), "{problem}");
    }
}

#[test]
fn an_edit_that_does_not_fit_the_asset_is_refused_on_load() {
    let op = "kind = \"curve\"\nguide = { through = [[0, 0, 0], [1, 0, 0]] }\n\
              extent = { painted = { values = [0, 1] } }";
    let error = player(&scene(&document(op))).expect_err("a ball has more than two vertices");
    assert!(error.to_string().contains("2 painted values for"), "{error}");
}

#[test]
fn an_edit_that_fails_on_a_frame_leaves_it_and_warns_once() {
    let op = "kind = \"bend\"\nwidth = 1";
    let mut player = player(&scene(&document(op))).unwrap_or_else(|e| panic!("{e}"));
    let frame = player.frame(0, &Run::default()).expect("nobody cancels");
    assert_eq!(frame.bodies[0].positions, player.cast()[0].rest.meshes[0].positions);
    let [warning] = &frame.report.warnings[..] else { panic!("{:?}", frame.report) };
    assert!(warning.contains("modifier 1 (sculpt)") && warning.contains("left out"), "{warning}");
}

#[test]
fn a_modifier_does_what_the_edit_does() {
    let text = document("kind = \"twist\"\naxis = [1, 0, 0]\nfrom = 0");
    let mut player = player(&scene(&text)).unwrap_or_else(|e| panic!("{e}"));
    let frame = player.frame(7, &Run::default()).expect("nobody cancels");
    let mesh = &player.cast()[0].rest.meshes[0];
    let shape = Shape { positions: mesh.positions.clone(), triangles: mesh.triangles.clone() };
    let twist = Op::Twist(Twist { axis: Vec3::X, from: 0.0, ..Twist::default() });
    assert_eq!(frame.bodies[0].positions, carried(&shape, &[twist]));
    assert_ne!(frame.bodies[0].positions, mesh.positions);
}

#[test]
fn a_stamp_takes_its_tool_from_the_zoo_or_a_file() {
    let op = |tool: &str| {
        format!(
            "kind = \"stamp\"\ntool = {tool}\nfrom = [0, 0, 2.1]\nby = [[0, 0, -0.4]]\nscale = 1"
        )
    };
    let moved = |tool: &str| {
        let mut player = player(&scene(&document(&op(tool))))?;
        let frame = player.frame(0, &Run::default()).expect("nobody cancels");
        Ok::<_, PlayerError>((frame.bodies[0].positions.clone(), player.fingerprint()))
    };
    let (ball, print) = moved("{ zoo = \"ball\" }").unwrap_or_else(|e| panic!("{e}"));
    let (other, other_print) = moved("{ zoo = \"box\" }").unwrap_or_else(|e| panic!("{e}"));
    assert_ne!(ball, other);
    assert_ne!(print, other_print);
    for (tool, says) in [("{ zoo = \"plane\" }", "not closed"), ("{ file = \"no.ply\" }", "no.ply")]
    {
        let error = moved(tool).expect_err("this cannot be a tool");
        assert!(error.to_string().contains(says), "{error}");
    }
}

//! Shape stamping: a closed mesh pushed into a shape.

mod sculpt_shapes;

use glam::Vec3;
use sculpt_shapes::{Shape, bar, sphere};
use supple::Run;
use supple::mesh::bvh::Bvh;
use supple::mesh::intersect::{intersections_between, self_intersections};
use supple::mesh::winding::Winding;
use supple::mesh::{TriMesh, refine};
use supple::pathline;
use supple::sculpt::{self, Mirror, Op, Outcome, Params, Problem, Stamp, ToolShape};

fn tool(shape: &Shape) -> ToolShape {
    ToolShape::Mesh { positions: shape.positions.clone(), triangles: shape.triangles.clone() }
}

/// A box from −size/2 to size/2, of twelve triangles.
fn die(size: Vec3) -> Shape {
    bar(size, [1, 1, 1])
}

/// A box pressed into the top of the unit ball.
fn press() -> Stamp {
    Stamp {
        tool: tool(&die(Vec3::new(0.6, 0.4, 0.4))),
        from: Vec3::new(0.0, 0.0, 1.3),
        by: vec![Vec3::new(0.0, 0.0, -0.3)],
        outer: 0.5,
        ..Stamp::default()
    }
}

fn stamped(shape: &mut Shape, ops: &[Op]) -> Outcome {
    let params = Params::default();
    sculpt::apply(&mut shape.positions, &shape.triangles, ops, &params, &Run::default())
        .unwrap_or_else(|e| panic!("{e}"))
}

fn refused(op: Stamp) -> Problem {
    let mut ball = sphere(1);
    let (params, run) = (Params::default(), Run::default());
    sculpt::apply(&mut ball.positions, &ball.triangles, &[Op::Stamp(op)], &params, &run)
        .expect_err("this edit is impossible")
        .problem
}

/// The tool where it ends, if it is neither turned nor scaled.
fn at_end(op: &Stamp) -> Shape {
    let ToolShape::Mesh { positions, triangles } = &op.tool else { panic!("a mesh") };
    let shift = op.from + op.by.iter().sum::<Vec3>();
    let positions = positions.iter().map(|&p| p + shift).collect();
    Shape { positions, triangles: triangles.clone() }
}

/// Pairs of triangles of the two, and vertices of the first inside the second.
fn in_each_other(shape: &Shape, tool: &Shape) -> (usize, usize) {
    let run = Run::default();
    let hierarchy = |s: &Shape| Bvh::new(&s.positions, &s.triangles, &run);
    let pairs = intersections_between(&hierarchy(shape), &hierarchy(tool), &run);
    let pairs = pairs.expect("nobody cancels").len();
    let winding = Winding::new(&tool.positions, &tool.triangles, &run);
    (pairs, shape.positions.iter().filter(|&&p| winding.inside(p)).count())
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn the_contact_lands_exactly_and_what_is_far_does_not_move() {
    let mut block = bar(Vec3::new(4.0, 4.0, 1.0), [40, 40, 10]);
    let rest = block.positions.clone();
    // Its lower face starts 0.1 above the block and ends 0.2 below its top.
    let (from, by) = (Vec3::new(0.02, 0.01, 0.8), vec![Vec3::new(0.0, 0.0, -0.3)]);
    let step = 0.02;
    let tool = tool(&die(Vec3::splat(0.4)));
    let op = Stamp { tool, from, by, outer: 0.4, step: Some(step), ..Stamp::default() };
    let outcome = stamped(&mut block, &[Op::Stamp(op.clone())]);
    assert!(outcome.report.warnings.is_empty(), "{:?}", outcome.report.warnings);
    let (mut under, mut far) = (0, 0);
    for (a, b) in rest.iter().zip(&block.positions) {
        if a.z == 0.5 && (a.x - 0.02).abs() <= 0.2 && (a.y - 0.01).abs() <= 0.2 {
            assert_eq!((a.x, a.y), (b.x, b.y), "straight down");
            let gap = 0.3 - b.z;
            assert!(gap > 0.0 && gap < 1.3 * step, "{a} is {gap} below the tool");
            under += 1;
        }
        if a.truncate().length() > 1.4 {
            assert_eq!(a, b, "not by one bit");
            far += 1;
        }
    }
    assert!(under >= 16 && far > 1000, "{under} {far}");
    assert_eq!(in_each_other(&block, &at_end(&op)), (0, 0));
    assert!(outcome.report.volume_error().abs() < 2.4e-3, "{}", outcome.report.volume_error());
}

/// The error is the mesh's own: four times as many vertices, about a quarter of it.
#[test]
fn the_volume_error_shrinks_with_the_mesh() {
    let error = |level: u32| {
        let mut ball = sphere(level);
        stamped(&mut ball, &[Op::Stamp(press())]).report.volume_error().abs()
    };
    let (coarse, fine) = (error(4), error(5));
    assert!(fine < 0.5 * coarse, "{coarse} then {fine}");
}

#[test]
fn a_ball_never_enters_the_tool() {
    let mut ball = sphere(5);
    let outcome = stamped(&mut ball, &[Op::Stamp(press())]);
    assert!(outcome.report.warnings.is_empty(), "{:?}", outcome.report.warnings);
    assert_eq!(in_each_other(&ball, &at_end(&press())), (0, 0));
    let pairs = self_intersections(&ball.positions, &ball.triangles, &Run::default()).unwrap();
    assert_eq!(pairs, Vec::<[u32; 2]>::new(), "folds");
    assert!(outcome.report.volume_error().abs() < 6e-4, "{}", outcome.report.volume_error());
    assert!(outcome.report.max_displacement > 0.15, "{:?}", outcome.report);
}

/// Where the mesh is as fine as the stamp needs it, its volume is kept as well as that of any edit.
#[test]
fn refined_for_it_a_ball_keeps_its_volume() {
    let ball = sphere(4);
    let mut mesh = TriMesh::new(ball.positions, ball.triangles);
    let (ops, params) = ([Op::Stamp(press())], Params::default());
    let fineness = refine::Params::default();
    let done = sculpt::apply_refined(&mut mesh, &ops, &params, &fineness, &Run::default()).unwrap();
    assert_eq!(done.report.warnings, Vec::<String>::new());
    let ball = Shape { positions: mesh.positions, triangles: mesh.triangles };
    assert_eq!(in_each_other(&ball, &at_end(&press())), (0, 0));
    let pairs = self_intersections(&ball.positions, &ball.triangles, &Run::default()).unwrap();
    assert_eq!(pairs, Vec::<[u32; 2]>::new(), "folds");
    assert!(done.report.volume_error().abs() < 1e-4, "{}", done.report.volume_error());
}

/// Tools of random size and place, on their way to a random point near the middle.
#[test]
fn no_random_tool_is_entered() {
    let mut seed = 7_u32;
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 24) as f32
    };
    for case in 0..12 {
        let mut unit = || Vec3::new(random() - 0.5, random() - 0.5, random() - 0.5);
        let direction = unit().normalize_or(Vec3::X);
        let size = Vec3::splat(0.3) + 0.4 * (unit() + 0.5);
        let aim = 0.6 * unit();
        let from = 1.9 * direction;
        let by = vec![0.45 * (aim - from), 0.2 * unit()];
        let tool = if case % 2 == 0 { die(size) } else { small_ball(0.25) };
        let outer = 0.35 + 0.3 * random();
        let op = Stamp { tool: self::tool(&tool), from, by, outer, ..Stamp::default() };
        let mut ball = sphere(4);
        let report = stamped(&mut ball, &[Op::Stamp(op.clone())]).report;
        assert_eq!(report.warnings, Vec::<String>::new(), "case {case}");
        assert_eq!(in_each_other(&ball, &at_end(&op)), (0, 0), "case {case}: {op:?}");
        assert!(report.volume_error().abs() < 1.2e-2, "case {case}: {}", report.volume_error());
    }
}

fn small_ball(radius: f32) -> Shape {
    let mut ball = sphere(2);
    ball.positions.iter_mut().for_each(|p| *p *= radius);
    ball
}

/// A tool beside the middle and its image: the ball is pressed on both sides alike.
#[test]
fn a_mirrored_tool_presses_both_sides_alike() {
    let mut ball = sphere(4);
    let from = Vec3::new(0.5, 0.1, 1.2);
    let tool = tool(&die(Vec3::new(0.3, 0.4, 0.4)));
    let op = Stamp { tool, from, mirror: Some(Mirror::default()), ..press() };
    let outcome = stamped(&mut ball, &[Op::Stamp(op.clone())]);
    assert!(outcome.report.warnings.is_empty(), "{:?}", outcome.report.warnings);
    let mut image = at_end(&op);
    assert_eq!(in_each_other(&ball, &image), (0, 0));
    image.positions.iter_mut().for_each(|p| p.x = -p.x);
    image.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    assert_eq!(in_each_other(&ball, &image), (0, 0));
    for &p in &ball.positions {
        let mirrored = Vec3::new(-p.x, p.y, p.z);
        let nearest = ball.positions.iter().map(|q| q.distance(mirrored)).fold(9.0, f32::min);
        assert!(nearest < 1e-4, "{p} has no image: {nearest}");
    }
}

#[test]
fn a_tool_that_is_drawn_back_leaves_its_footprint() {
    let (mut there, mut back) = (sphere(4), sphere(4));
    stamped(&mut there, &[Op::Stamp(press())]);
    let mut op = press();
    op.by.push(Vec3::new(0.0, 0.0, 0.5));
    stamped(&mut back, &[Op::Stamp(op)]);
    assert_eq!(there.positions, back.positions);
}

#[test]
fn a_tool_that_only_passes_by_changes_nothing() {
    let mut ball = sphere(3);
    let rest = ball.positions.clone();
    let by = vec![Vec3::new(3.0, 0.0, 0.0)];
    let from = Vec3::new(-1.5, 0.0, 1.25);
    let report = stamped(&mut ball, &[Op::Stamp(Stamp { from, by, ..press() })]).report;
    assert_eq!(ball.positions, rest);
    assert_eq!(report.steps, 0);
}

/// Two prongs far apart: each has its own region, and the middle between them stays.
#[test]
fn contacts_far_apart_are_regions_of_their_own() {
    let mut fork = die(Vec3::splat(0.3));
    let count = fork.positions.len() as u32;
    let other: Vec<Vec3> = fork.positions.iter().map(|&p| p + 3.0 * Vec3::X).collect();
    let shifted = |t: &[u32; 3]| t.map(|v| v + count);
    let more: Vec<[u32; 3]> = fork.triangles.iter().map(shifted).collect();
    fork.positions.extend(other);
    fork.triangles.extend(more);
    let mut block = bar(Vec3::new(6.0, 2.0, 1.0), [48, 16, 8]);
    let rest = block.positions.clone();
    let from = Vec3::new(-1.5, 0.0, 0.7);
    let by = vec![Vec3::new(0.0, 0.0, -0.2)];
    let op = Stamp { tool: tool(&fork), from, by, outer: 0.3, ..Stamp::default() };
    stamped(&mut block, &[Op::Stamp(op.clone())]);
    assert_eq!(in_each_other(&block, &at_end(&op)), (0, 0));
    let moved = |near: f32| {
        let under = |a: &Vec3| (a.x - near).abs() < 0.1 && a.y.abs() < 0.1 && a.z == 0.5;
        rest.iter().zip(&block.positions).filter(|(a, _)| under(a)).all(|(a, b)| b.z < a.z - 0.1)
    };
    assert!(moved(-1.5) && moved(1.5), "both prongs");
    for (a, b) in rest.iter().zip(&block.positions) {
        assert!(a.x.abs() > 0.4 || a == b, "the middle stays: {a} {b}");
    }
}

#[test]
fn undo_returns_and_replay_repeats() {
    let mut ball = sphere(4);
    let rest = ball.positions.clone();
    let outcome = stamped(&mut ball, &[Op::Stamp(press())]);
    let (params, run) = (pathline::Params::default(), Run::default());
    let mut copy = rest.clone();
    outcome.path.replay(&mut copy, &params, &run).unwrap();
    assert_eq!(copy, ball.positions);
    outcome.path.undo(&mut copy, &params, &run).unwrap();
    let error = farthest(&rest, &copy);
    assert!(error < 1e-5 * 12.0_f32.sqrt(), "{error}");
}

/// Whatever the way, the start that the error names is one that works.
#[test]
fn a_tool_that_starts_inside_is_refused() {
    for by in [Vec3::new(0.0, 0.0, 0.2), Vec3::new(0.0, 0.0, -0.2), Vec3::new(0.3, -0.1, -0.2)] {
        let op = Stamp { from: Vec3::new(0.0, 0.0, 0.95), by: vec![by], ..press() };
        let problem = refused(op.clone());
        let Problem::ToolStartsInside { triangles, outside } = problem else {
            panic!("{problem}");
        };
        assert!(triangles > 0 && problem.to_string().contains("start it outside"), "{problem}");
        let mut ball = sphere(3);
        stamped(&mut ball, &[Op::Stamp(Stamp { from: outside, ..op })]);
    }
}

#[test]
fn turned_and_scaled_tools_are_where_they_should() {
    // A flat box turned upright, twice as large: a wall of 0.2 by 1 by 1.
    let tool = tool(&die(Vec3::new(0.5, 0.5, 0.1)));
    let (from, by) = (Vec3::new(1.5, 0.0, 0.0), vec![Vec3::new(-0.6, 0.0, 0.0)]);
    let rotate = Vec3::new(0.0, 90.0, 0.0);
    let op = Stamp { tool, from, by, rotate, scale: 2.0, ..Stamp::default() };
    let mut ball = sphere(4);
    stamped(&mut ball, &[Op::Stamp(op)]);
    let wall = Shape {
        positions: die(Vec3::new(0.2, 1.0, 1.0))
            .positions
            .iter()
            .map(|p| *p + 0.9 * Vec3::X)
            .collect(),
        triangles: die(Vec3::ONE).triangles,
    };
    assert_eq!(in_each_other(&ball, &wall), (0, 0));
    let front = ball.positions.iter().filter(|p| p.y.abs() < 0.3 && p.z.abs() < 0.3);
    let nearest = front.map(|p| p.x).fold(f32::MIN, f32::max);
    assert!(nearest < 0.8 && nearest > 0.8 - 1.3 / 32.0, "{nearest}");
}

#[test]
fn same_bits_for_any_thread_count() {
    let ops = [Op::Stamp(press())];
    let params = Params { exact_volume: true, ..Params::default() };
    let mut serial = sphere(4);
    let run = Run::default();
    sculpt::apply(&mut serial.positions, &serial.triangles, &ops, &params, &run).unwrap();
    for threads in [2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let mut ball = sphere(4);
        sculpt::apply(&mut ball.positions, &ball.triangles, &ops, &params, &run).unwrap();
        assert_eq!(ball.positions, serial.positions, "{threads} threads");
    }
}

#[test]
fn bad_tools_are_named() {
    let empty = refused(Stamp { tool: ToolShape::default(), ..press() });
    assert_eq!(empty, Problem::EmptyTool);
    let mut open = die(Vec3::splat(0.2));
    open.triangles.pop();
    let open = refused(Stamp { tool: tool(&open), ..press() });
    assert!(matches!(open, Problem::ToolNotClosed { open: 3, .. }), "{open}");
    let mut inside_out = die(Vec3::splat(0.2));
    inside_out.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    assert_eq!(refused(Stamp { tool: tool(&inside_out), ..press() }), Problem::ToolInsideOut);
    let mut one_flipped = die(Vec3::splat(0.2));
    one_flipped.triangles[0].swap(0, 1);
    assert_eq!(refused(Stamp { tool: tool(&one_flipped), ..press() }), Problem::ToolInsideOut);
    let mut nowhere = die(Vec3::splat(0.2));
    nowhere.positions[3].y = f32::NAN;
    let nowhere = refused(Stamp { tool: tool(&nowhere), ..press() });
    assert!(matches!(nowhere, Problem::NotFinite { .. }), "{nowhere}");
    let mut missing = die(Vec3::splat(0.2));
    missing.triangles[0][0] = 99;
    let missing = refused(Stamp { tool: tool(&missing), ..press() });
    assert!(matches!(missing, Problem::NoSuchVertex { vertex: 99, .. }), "{missing}");
    let named = refused(Stamp { tool: ToolShape::File("y.ply".to_owned()), ..press() });
    assert!(named.to_string().contains("'y.ply' was not loaded"), "{named}");
    for (op, says) in [
        (Stamp { outer: 0.0, ..press() }, "larger than the inner"),
        (Stamp { scale: 0.0, ..press() }, "scale"),
        (Stamp { step: Some(-1.0), ..press() }, "step"),
        (Stamp { step: Some(1e-9), ..press() }, "longer step"),
        (Stamp { by: vec![Vec3::NAN], ..press() }, "finite"),
        (Stamp { by: vec![Vec3::splat(1e30)], ..press() }, "steps"),
        (
            Stamp { mirror: Some(Mirror { normal: Vec3::ZERO, ..Mirror::default() }), ..press() },
            "mirror",
        ),
    ] {
        let problem = refused(op);
        assert!(problem.to_string().contains(says), "{problem}");
    }
}

//! `supple deform` and `supple remesh` through the binary: where vertices end up, and what stays as it was.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Runs a line that must succeed, and gives what it printed.
fn ok(folder: &Path, line: &str) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_supple"))
        .current_dir(folder)
        .args(line.split(' '))
        .output()
        .expect("the binary runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "supple {line} failed: {errors}");
    output.stdout
}

/// Runs a line that must succeed, and gives its report.
fn json(folder: &Path, line: &str) -> Value {
    serde_json::from_slice(&ok(folder, &format!("--json {line}"))).expect("JSON")
}

type Point = [f64; 3];

/// The vertices of an OBJ file.
fn vertices(folder: &Path, file: &str) -> Vec<Point> {
    let text = fs::read_to_string(folder.join(file)).expect("it was written");
    let lines = text.lines().filter_map(|line| line.strip_prefix("v "));
    let numbers = |line: &str| -> Vec<f64> {
        line.split_whitespace().map(|word| word.parse().expect("a number")).collect()
    };
    lines.map(numbers).map(|x| [x[0], x[1], x[2]]).collect()
}

fn away(a: Point, b: Point) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

/// A bar from −3 to 3 along x, one high and one deep, deformed: where its vertices were, and where they are.
fn deformed(folder: &Path, line: &str) -> (Vec<(Point, Point)>, Value) {
    ok(folder, "zoo bar --triangles 3328 -o bar.obj");
    let told = json(folder, &format!("deform bar.obj -o out.obj {line}"));
    let pairs = vertices(folder, "bar.obj").into_iter().zip(vertices(folder, "out.obj"));
    (pairs.collect(), told)
}

#[test]
fn points_take_along_what_is_near_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let line = "points --points 3,0.5,0.5 --by 0,0.3,0 --inner 0.1 --outer 0.8";
    let (pairs, told) = deformed(folder.path(), line);
    let corner = pairs.iter().find(|(rest, _)| *rest == [3.0, 0.5, 0.5]).unwrap();
    assert!(away(corner.1, [3.0, 0.8, 0.5]) < 1e-5, "{corner:?}");
    for (rest, now) in pairs.iter().filter(|(rest, _)| away(*rest, [3.0, 0.5, 0.5]) > 0.8) {
        assert_eq!(rest, now, "out of reach");
    }
    assert!(told["volume_error"].as_f64().unwrap().abs() < 1e-3, "{told}");
}

#[test]
fn paint_raises_the_surface_along_its_stroke() {
    let folder = tempfile::tempdir().unwrap();
    let line = "paint --stroke 0,0.5,0;1,0.5,0 --radius 0.3 --depth 0.1 --side";
    for (side, sign) in [("out", 1.0), ("in", -1.0)] {
        let (pairs, told) = deformed(folder.path(), &format!("{line} {side}"));
        let middle = pairs.iter().find(|(rest, _)| *rest == [0.5, 0.5, 0.0]).unwrap();
        let raised = sign * (middle.1[1] - middle.0[1]);
        // Edges of an eighth follow a stroke of 0.3 roughly.
        assert!((raised - 0.1).abs() < 0.025, "{side}: {raised} of 0.1");
        let far = |p: Point| p[0] < -0.3 || p[0] > 1.3 || p[1] < 0.2;
        assert!(pairs.iter().all(|(rest, now)| !far(*rest) || rest == now), "out of reach");
        assert_eq!(told["self_intersections"]["added"], 0, "{told}");
    }
}

/// Before the operations or behind them, a switch of the whole command is one.
#[test]
fn exact_volume_is_asked_for_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let bend = "bend --axis 0,0,1 --along 1,0,0 --degrees 90 --width 2";
    let error =
        |line: &str| deformed(folder.path(), line).1["volume_error"].as_f64().unwrap().abs();
    let plain = error(bend);
    assert!(plain > 1e-5, "the mesh costs some: {plain:e}");
    for line in [format!("--exact-volume {bend}"), format!("{bend} --exact-volume")] {
        assert!(error(&line) < 1e-6, "{line}: {:e} of {plain:e}", error(&line));
    }
}

#[test]
fn what_reaches_nothing_says_where_the_shape_is() {
    let folder = tempfile::tempdir().unwrap();
    ok(folder.path(), "zoo bar --triangles 800 -o bar.obj");
    let told = |by: &str| {
        let line = format!("deform bar.obj -o out.obj move --by 0,1,0 --inner 1 --outer 2 {by}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_supple"));
        let output = command.current_dir(folder.path()).args(line.split(' ')).output();
        String::from_utf8_lossy(&output.expect("the binary runs").stderr).into_owned()
    };
    let far = told("--center 0,9,0");
    assert!(far.contains("no vertex moved") && far.contains("[3, 0.5, 0.5]"), "{far}");
    assert!(!told("--center 0,0,0").contains("no vertex moved"));
}

const LOOPS: &str = "boundary --inner 1,-0.5,-0.5;1,0.5,-0.5;1,0.5,0.5;1,-0.5,0.5 \
                     --outer -1,-0.5,-0.5;-1,0.5,-0.5;-1,0.5,0.5;-1,-0.5,0.5";

#[test]
fn what_a_boundary_encloses_moves_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let (pairs, told) = deformed(folder.path(), &format!("{LOOPS} --by 0.5,0.4,0"));
    for (rest, now) in &pairs {
        if rest[0] > 1.05 {
            let there = [rest[0] + 0.5, rest[1] + 0.4, rest[2]];
            assert!(away(*now, there) < 1e-5, "{rest:?} went to {now:?}");
        } else if rest[0] < -1.05 {
            assert_eq!(rest, now, "beyond the outer curve");
        }
    }
    assert!(told["volume_error"].as_f64().unwrap().abs() < 5e-3, "{told}");
    let turn = "--joint 0,0,0 --axis 0,0,1 --degrees 30";
    let (pairs, _) = deformed(folder.path(), &format!("{LOOPS} {turn}"));
    let (sin, cos) = 30.0_f64.to_radians().sin_cos();
    for (rest, now) in pairs.iter().filter(|(rest, _)| rest[0] > 1.05) {
        let there = [cos * rest[0] - sin * rest[1], sin * rest[0] + cos * rest[1], rest[2]];
        assert!(away(*now, there) < 1e-5, "{rest:?} turned to {now:?}");
    }
}

#[test]
fn a_curve_guides_the_end_and_stops_before_parts_meet() {
    let folder = tempfile::tempdir().unwrap();
    let line = "curve --through 3,0,0;4,0.5,0;4.5,1.5,0 --inner 1 --outer 3 --keep-orientation";
    let (pairs, told) = deformed(folder.path(), line);
    for (rest, now) in &pairs {
        if rest[0] > 2.7 {
            let there = [rest[0] + 1.5, rest[1] + 1.5, rest[2]];
            assert!(away(*now, there) < 1e-4, "{rest:?} went to {now:?}");
        } else if rest[0] < 0.0 {
            assert_eq!(rest, now, "beyond the outer distance");
        }
    }
    assert!(told["volume_error"].as_f64().unwrap().abs() < 1e-6, "{told}");
    let meeting = "curve --through 2,0,0;3,0.5,0;3.5,1.5,0 --inner 1 --outer 3";
    let (_, told) = deformed(folder.path(), meeting);
    assert!(told["self_intersections"]["added"].as_u64() > Some(0), "it folds: {told}");
    let (_, told) = deformed(folder.path(), &format!("--stop-on-contact {meeting}"));
    assert_eq!(told["self_intersections"]["added"], 0, "{told}");
    assert_eq!(told["contacts"][0]["stopped"], true, "{told}");
    let share = told["contacts"][0]["share"].as_f64().unwrap();
    assert!((0.9..1.0).contains(&share), "most of the way is free: {share}");
}

/// The bar with values at its vertices, as text.
fn painted(folder: &Path, file: &str, value: impl Fn(Point) -> f64) {
    ok(folder, "zoo bar --triangles 3328 -o bar.obj");
    let text = fs::read_to_string(folder.join("bar.obj")).expect("it was written");
    let corner = |word: &str| {
        let number = word.split('/').next().and_then(|first| first.parse::<usize>().ok());
        number.expect("a corner") - 1
    };
    let faces: Vec<Vec<usize>> = text
        .lines()
        .filter_map(|line| line.strip_prefix("f "))
        .map(|line| line.split_whitespace().map(corner).collect())
        .collect();
    let points = vertices(folder, "bar.obj");
    let mut ply = format!(
        "ply\nformat ascii 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
         property float hold\nelement face {}\nproperty list uchar int vertex_indices\nend_header\n",
        points.len(),
        faces.len()
    );
    for x in points {
        ply += &format!("{} {} {} {}\n", x[0], x[1], x[2], value(x));
    }
    faces.iter().for_each(|f| ply += &format!("3 {} {} {}\n", f[0], f[1], f[2]));
    fs::write(folder.join(file), ply).expect("room on the disk");
}

#[test]
fn a_mask_holds_back_what_is_painted() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    painted(at, "none.ply", |_| 0.0);
    painted(at, "all.ply", |_| 1.0);
    painted(at, "half.ply", |x| if x[2] > 0.0 { 1.0 } else { 0.0 });
    let op = "points --points 0,0.5,0 --by 0,0.3,0 --inner 0.2 --outer 1";
    let run = |file: &str| {
        let told = json(at, &format!("deform {file} -o out.obj --mask hold {op}"));
        (vertices(at, "out.obj"), told["moved"].as_u64())
    };
    let rest = vertices(at, "bar.obj");
    assert_eq!(run("none.ply"), (rest.clone(), Some(0)), "nothing moves");
    json(at, &format!("deform all.ply -o free.obj {op}"));
    let free = vertices(at, "free.obj");
    let off = run("all.ply").0.iter().zip(&free).map(|(a, b)| away(*a, *b)).fold(0.0, f64::max);
    assert!(off < 1e-4, "{off} off what it is without a mask: steps are chosen in another way");
    let (half, moved) = run("half.ply");
    assert!(moved > Some(10), "{moved:?} vertices moved");
    let held = rest.iter().zip(&half).filter(|(rest, _)| rest[2] <= 0.0);
    assert!(held.into_iter().all(|(rest, now)| rest == now), "what is held stays");
}

#[test]
fn remeshing_splits_what_is_stretched_and_adds_no_fold() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    ok(at, "zoo ball --triangles 1280 -o ball.ply");
    let op = "move --center 0,0,1.4 --by 0,0,-1.2 --inner 0.3 --outer 1.2";
    let plain = json(at, &format!("deform ball.ply -o plain.ply {op}"));
    let told = json(at, &format!("deform ball.ply -o fine.ply --remesh {op}"));
    assert_eq!(told["self_intersections"]["added"], 0, "{told}");
    let error = |told: &Value| told["volume_error"].as_f64().unwrap().abs();
    assert!(error(&told) < 3e-4 && error(&told) < 0.2 * error(&plain), "{told} against {plain}");
    let fine = json(at, "info fine.ply --deep");
    assert!(fine["triangles"].as_u64() > Some(4 * 1280) && fine["closed"] == true, "{fine}");
    for (how, least, most) in
        [("--ratio 0.5", 4000, 6500), ("--triangles 3000", 2600, 3400), ("--length 0.2", 600, 1000)]
    {
        json(at, &format!("remesh ball.ply -o even.ply {how}"));
        let even = json(at, "info even.ply --deep");
        let triangles = even["triangles"].as_u64().unwrap();
        assert!((least..most).contains(&triangles), "{how}: {triangles} triangles");
        assert!(even["closed"] == true && even["self_intersections"] == 0, "{how}: {even}");
        let volume = even["volume"].as_f64().unwrap();
        assert!((volume / 4.1527 - 1.0).abs() < 0.02, "{how}: volume {volume}");
    }
}

/// The number of the vertex nearest to a place.
fn pick(folder: &Path, at: Point) -> usize {
    let all = vertices(folder, "bar.obj");
    let nearest = (0..all.len()).min_by(|&a, &b| away(all[a], at).total_cmp(&away(all[b], at)));
    nearest.expect("there are vertices")
}

#[test]
fn a_tool_may_be_a_plane_a_curve_points_or_a_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let drag = "move --center 3,0,0 --by 0.3,0.2,0";
    for (tool, core) in [
        ("--plane -1,0,0 --inner 0.2 --outer 1.5", 2.81),
        ("--curve 0,-0.5,0;0,0.5,0 --inner 0.9 --outer 1.6", 2.7),
        ("--cloud 0,-0.5,0;0,0.5,0 --inner 0.9 --outer 1.6", 2.9),
        ("--solid box --solid-scale 0.6 --inner 0.2 --outer 1.5", 2.41),
    ] {
        let (pairs, told) = deformed(folder.path(), &format!("{drag} {tool}"));
        for (rest, now) in &pairs {
            if rest[0] > core {
                let there = [rest[0] + 0.3, rest[1] + 0.2, rest[2]];
                assert!(away(*now, there) < 1e-4, "{tool}: {rest:?} went to {now:?}");
            } else if rest[0] < 0.0 {
                assert_eq!(rest, now, "{tool}: out of reach");
            }
        }
        assert!(told["volume_error"].as_f64().unwrap().abs() < 5e-3, "{tool}: {told}");
    }
}

#[test]
fn a_closed_curve_takes_its_last_leg_along() {
    let folder = tempfile::tempdir().unwrap();
    let tool = "move --center 2,0,0 --by 0.3,0,0 --inner 0.15 --outer 0.6 \
                --curve 0,-0.5,-0.5;0,0.5,-0.5;0,0.5,0.5;0,-0.5,0.5";
    let way = |line: &str| {
        let (pairs, _) = deformed(folder.path(), line);
        let middle = |x: &&(Point, Point)| away(x.0, [2.0, -0.5, 0.0]);
        let nearest = pairs.iter().min_by(|a, b| middle(a).total_cmp(&middle(b))).unwrap();
        away(nearest.0, nearest.1)
    };
    let (open, closed) = (way(tool), way(&format!("{tool} --closed")));
    assert!((closed - 0.3).abs() < 1e-4, "from the last point back to the first: {closed}");
    assert!(open < 0.27, "no leg is there: {open}");
}

#[test]
fn a_knob_is_dragged_twisted_and_bound_by_picked_loops() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (pairs, _) = deformed(at, &format!("{LOOPS} --joint 0,0,0 --knob 3,0,0 --to 2,2,0"));
    let (sin, cos) = 45.0_f64.to_radians().sin_cos();
    for (rest, now) in pairs.iter().filter(|(rest, _)| rest[0] > 1.1) {
        let there = [cos * rest[0] - sin * rest[1], sin * rest[0] + cos * rest[1], rest[2]];
        assert!(away(*now, there) < 1e-4, "dragged: {rest:?} {now:?}");
    }
    let twist = "--joint 0,0,0 --knob 3,0,0 --degrees 90 --uniform";
    let ring = |x: f64| {
        let corners = [[0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5], [0.5, -0.5]];
        let all = corners.map(|[y, z]| pick(at, [x, y, z]).to_string());
        all.join(",")
    };
    let loops = format!("--inner-vertices {} --outer-vertices {}", ring(1.0), ring(-1.0));
    let (pairs, _) = deformed(at, &format!("boundary {loops} {twist}"));
    for (rest, now) in &pairs {
        assert!((rest[0] - now[0]).abs() < 1e-6, "heights stay");
        if rest[0] > 1.1 {
            assert!(away(*now, [rest[0], -rest[2], rest[1]]) < 1e-5, "twisted: {rest:?} {now:?}");
        } else if rest[0].abs() < 0.01 {
            let half = std::f64::consts::FRAC_1_SQRT_2;
            let there = [rest[0], half * (rest[1] - rest[2]), half * (rest[1] + rest[2])];
            assert!(away(*now, there) < 0.05, "half of it: {rest:?} {now:?}");
        }
    }
}

/// The end of the bar goes where each form of a curve ends; the extent is one or the other.
#[test]
fn curves_and_extents_have_all_their_forms() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let drawn = "--inner-curve 1,-0.5,-0.5;1,0.5,-0.5;1,0.5,0.5;1,-0.5,0.5 \
                 --outer-curve -1,-0.5,-0.5;-1,0.5,-0.5;-1,0.5,0.5;-1,-0.5,0.5";
    for guide in [
        "--polyline 1,0,0;1.3,0,0;1.3,0.4,0",
        "--through 1,0,0;1.2,0.1,0;1.3,0.4,0",
        "--bezier 1,0,0;1.1,0,0;1.2,0.2,0;1.3,0.4,0",
        "--b-spline 1,0,0;1.1,0,0;1.2,0.2,0;1.3,0.4,0",
    ] {
        let (pairs, told) = deformed(at, &format!("curve {guide} {drawn} --keep-orientation"));
        for (rest, now) in &pairs {
            if rest[0] > 1.1 {
                let there = [rest[0] + 0.3, rest[1] + 0.4, rest[2]];
                assert!(away(*now, there) < 1e-5, "{guide}: {rest:?} went to {now:?}");
            } else if rest[0] < -1.1 {
                assert_eq!(rest, now, "{guide}");
            }
        }
        assert!(told["volume_error"].as_f64().unwrap().abs() < 2e-6, "{guide}: {told}");
    }
    let turns = [
        "--turn-center 1,0,0 --turn-axis 1,0,0 --turn-degrees 90",
        "--polyline 1,0,0;1.0001,0,0 --twist-over 0,0;0.4,30;1,90",
        "--from-handle 1,0,0;1,0,0;0,1,0 --to-handle 1.0001,0,0;1,0,0;0,0,1",
    ];
    for guide in turns {
        let (pairs, _) = deformed(at, &format!("curve {guide} {drawn}"));
        for (rest, now) in pairs.iter().filter(|(rest, _)| rest[0] > 1.1) {
            assert!(away(*now, [rest[0], -rest[2], rest[1]]) < 2e-4, "{guide}: {rest:?} {now:?}");
        }
    }
    painted(at, "soft.ply", |x| (0.5 - 0.5 * x[0]).clamp(0.0, 1.0));
    for extent in ["--painted hold", "--regions hold"] {
        let line = format!("deform soft.ply -o out.obj curve --through 1,0,0;1.5,0,0 {extent}");
        json(at, &line);
        let pairs = vertices(at, "bar.obj").into_iter().zip(vertices(at, "out.obj"));
        for (rest, now) in pairs.filter(|(rest, _)| rest[0] >= 1.0) {
            assert!(away(now, [rest[0] + 0.5, rest[1], rest[2]]) < 1e-5, "{extent}: {rest:?}");
        }
    }
    let refused = Command::new(env!("CARGO_BIN_EXE_supple"))
        .current_dir(at)
        .args("deform soft.ply -o out.obj curve --through 1,0,0;2,0,0 --painted hlod".split(' '))
        .output()
        .expect("the binary runs");
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && errors.contains("hold"), "the names there are: {errors}");
}

#[test]
fn a_stroke_may_come_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("stroke.obj"), "v 0 0.5 0\nv 1 0.5 0\nl 1 2\n").unwrap();
    let paint = "--radius 0.3 --depth 0.1 --side out";
    let (typed, _) = deformed(at, &format!("paint --stroke 0,0.5,0;1,0.5,0 {paint}"));
    let (read, _) = deformed(at, &format!("paint --stroke @stroke.obj {paint}"));
    assert_eq!(typed, read);
}

/// Made, taken back, made again, made on another mesh.
#[test]
fn a_log_of_strokes_goes_back_and_forth() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    ok(at, "zoo ball --triangles 2000 -o ball.obj");
    let pull = "move --center 0,0,1 --by 0.2,0,0.5 --inner 0.3 --outer 0.9";
    let dent = "paint --stroke -1,0,0 --radius 0.5 --depth 0.1";
    json(at, &format!("deform ball.obj -o one.obj --log log.json {pull}"));
    json(at, &format!("deform one.obj -o two.obj --log log.json {dent}"));
    let off = |a: &str, b: &str| {
        let pairs = vertices(at, a).into_iter().zip(vertices(at, b));
        pairs.map(|(a, b)| away(a, b)).fold(0.0, f64::max)
    };
    let told = json(at, "deform two.obj -o back1.obj --log log.json --undo 1");
    assert_eq!(told["undone"]["by_shape"], 1, "{told}");
    assert!(off("back1.obj", "one.obj") < 1e-6, "as kept");
    let told = json(at, "deform back1.obj -o back2.obj --log log.json --undo 1");
    assert_eq!(told["undone"]["by_mathematics"], 1, "{told}");
    let error = told["undone"]["error_rel_bbox"].as_f64().unwrap();
    assert!(error > 0.0 && error < 1e-5, "{told}");
    assert!(off("back2.obj", "ball.obj") < 2e-5, "{}", off("back2.obj", "ball.obj"));
    json(at, "deform back2.obj -o forth.obj --log log.json --redo 2");
    assert!(off("forth.obj", "two.obj") < 1e-4, "{}", off("forth.obj", "two.obj"));
    json(at, "deform ball.obj -o again.obj --replay log.json");
    assert!(off("again.obj", "two.obj") < 1e-6, "{}", off("again.obj", "two.obj"));
    ok(at, "zoo ball --triangles 8000 -o fine.obj");
    let told = json(at, "deform fine.obj -o fine2.obj --replay log.json");
    assert!(told["moved"].as_u64() > Some(500), "{told}");
    let failed = Command::new(env!("CARGO_BIN_EXE_supple"))
        .current_dir(at)
        .args("deform fine.obj -o no.obj --log log.json --undo 1".split(' '))
        .output()
        .expect("the binary runs");
    let errors = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(!failed.status.success() && errors.contains("replay"), "what to do: {errors}");
}

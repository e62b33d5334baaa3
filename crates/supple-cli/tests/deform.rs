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

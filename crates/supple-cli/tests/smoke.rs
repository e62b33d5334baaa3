//! `supple smoke` as a person runs it: on formulas, on series it wrote itself, on files of others.

mod binary;

use std::path::{Path, PathBuf};

use supple::dataset::{Array, Centering, Dataset, Grid};
use supple::io::{self, ReadOptions};
use supple::mesh::Values;
use supple::{Asset, TriMesh};

use binary::{ok, supple};

fn error(folder: &Path, args: &[&str]) -> String {
    let output = supple(folder, args);
    assert!(!output.status.success(), "supple {args:?} should have failed");
    let errors = String::from_utf8(output.stderr).expect("text");
    assert!(!errors.contains("panicked"), "supple {args:?} panicked: {errors}");
    errors
}

fn mesh(path: &Path) -> TriMesh {
    let Asset { mut meshes, .. } =
        io::read(path, &ReadOptions::default()).expect("a file that was just written").asset;
    meshes.remove(0)
}

fn scalar<'a>(mesh: &'a TriMesh, name: &str) -> &'a [f32] {
    match mesh.attributes.get(name) {
        Some(Values::Scalar(values)) => values,
        other => panic!("{name}: {other:?}"),
    }
}

fn data(relative: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("SUPPLE_TEST_DATA").map_or(beside, PathBuf::from);
    let path = root.join(relative);
    path.exists().then_some(path)
}

#[test]
fn frames_are_numbered_and_hold_the_terms() {
    let folder = tempfile::tempdir().unwrap();
    let told = ok(
        folder.path(),
        &[
            "smoke",
            "uniform",
            "--columns",
            "10",
            "--rows",
            "6",
            "--frames",
            "0..4",
            "-o",
            "out/frame.ply",
        ],
    );
    // The line is one long, the stream one fast: square cells.
    assert!(told.contains("--dt 0.2") && told.contains("--seed -1,-0.5,0:-1,0.5,0"), "{told}");
    // The first frame is a line of vertices without a triangle.
    for frame in 1..4 {
        let mesh = mesh(&folder.path().join(format!("out/frame.{frame:04}.ply")));
        assert_eq!(mesh.positions.len(), 6 * (frame + 1));
        assert_eq!(mesh.triangles.len(), 10 * frame);
        for name in ["row", "born", "age", "alpha_", "density", "shape", "curvature", "fade"] {
            assert_eq!(scalar(&mesh, name).len(), mesh.positions.len(), "{name}");
        }
    }
    let last = mesh(&folder.path().join("out/frame.0003.ply"));
    assert!((scalar(&last, "density")[0] - 0.35).abs() < 1e-5);
}

/// A formula written as a series and read back gives the smoke of the formula.
#[test]
fn a_series_of_the_zoo_plays_like_its_formula() {
    let folder = tempfile::tempdir().unwrap();
    ok(folder.path(), &["zoo", "gyre", "-o", "gyre.pvd", "--size", "129x65x3", "--levels", "41"]);
    let common = ["--seed", "1,0.2,0.2:1,0.2,0.8", "--columns", "20", "--rows", "5", "--dt", "0.1"];
    for (flow, out) in [("gyre", "formula.ply"), ("gyre.pvd", "series.ply")] {
        let args = [&["smoke", flow, "--frames", "19..20", "-o", out], &common[..]].concat();
        ok(folder.path(), &args);
    }
    let [a, b] =
        ["formula", "series"].map(|name| mesh(&folder.path().join(format!("{name}.0019.ply"))));
    for (p, q) in a.positions.iter().zip(&b.positions) {
        assert!((*p - *q).length() < 2e-3, "{p} {q}");
    }
}

/// The closed form of `swirl`, from four levels that another program wrote.
#[test]
fn swirl_of_another_program_ends_where_its_closed_form_does() {
    let Some(pvd) = data("flow/closed_form/swirl.pvd") else { return };
    let folder = tempfile::tempdir().unwrap();
    let flow = pvd.to_str().unwrap();
    ok(
        folder.path(),
        &[
            "--allow-outside",
            "smoke",
            flow,
            "--seed",
            "1,0,0:1,0.5,0",
            "--columns",
            "60",
            "--rows",
            "21",
            "--dt",
            "0.05",
            "--frames",
            "60..61",
            "-o",
            "swirl.ply",
        ],
    );
    let mesh = mesh(&folder.path().join("swirl.0060.ply"));
    let (mut worst, mut most) = (0.0_f64, 0.0_f64);
    for (i, x) in mesh.positions.iter().enumerate() {
        let born = f64::from(scalar(&mesh, "born")[i]);
        let y = 0.025 * f64::from(scalar(&mesh, "row")[i]);
        let g = (3.0 - born) + (9.0 - born * born) / 4.0;
        let w = 0.91_f64.sqrt();
        let (s, c) = ((w * g).sin() / w, (w * g).cos());
        let end = glam::DVec3::new(c + s * (0.3 - y), c * y + s * (1.0 - 0.3 * y), 0.2 * g);
        worst = worst.max((x.as_dvec3() - end).length());
        most = most.max(g);
    }
    assert!(worst < 2e-5 && most > 5.0, "{worst:e}");
}

/// Each style on the wake, whose obstacle is known: what it makes has as many vertices as it should.
/// Whatever is missing of a record, what was written before stays, and the message names file and level.
#[test]
fn frames_before_a_level_that_cannot_be_read_stay() {
    let folder = tempfile::tempdir().unwrap();
    ok(folder.path(), &["zoo", "gyre", "-o", "gyre.pvd", "--size", "17x9x5", "--levels", "7"]);
    let args = [
        "smoke",
        "gyre.pvd",
        "--seed",
        "0.5,0.2,0.5:0.5,0.8,0.5",
        "--columns",
        "8",
        "--rows",
        "5",
        "--dt",
        "0.2",
        "--frames",
        "0..50",
        "-o",
        "out/a.ply",
    ];
    ok(folder.path(), &args);
    let frames = || {
        let entries = std::fs::read_dir(folder.path().join("out")).unwrap();
        let read = |e: std::io::Result<std::fs::DirEntry>| {
            let path = e.unwrap().path();
            (path.clone(), std::fs::read(path).unwrap())
        };
        entries.map(read).collect::<std::collections::BTreeMap<_, _>>()
    };
    let whole = frames();
    assert_eq!(whole.len(), 50);
    let levels: Vec<PathBuf> = {
        let found = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path());
        let mut levels: Vec<_> =
            found.filter(|p| p.extension().is_some_and(|e| e == "vti")).collect();
        levels.sort();
        levels
    };
    std::fs::remove_dir_all(folder.path().join("out")).unwrap();
    std::fs::remove_file(&levels[4]).unwrap();
    let told = error(folder.path(), &args);
    let name = levels[4].file_name().unwrap().to_string_lossy().into_owned();
    assert!(told.contains("played up to frame") && told.contains("level 4"), "{told}");
    assert!(told.contains(&name), "{told}");
    let part = frames();
    assert!(part.len() > 10 && part.len() < 50, "{}", part.len());
    let places = |bytes: &[u8]| {
        let path = folder.path().join("one.ply");
        std::fs::write(&path, bytes).unwrap();
        mesh(&path).positions
    };
    // The first column alone is no surface.
    for (path, bytes) in part.iter().skip(2) {
        assert_eq!(places(bytes), places(&whole[path]), "{}", path.display());
    }
}

#[test]
fn every_style_writes_its_surface() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let seed = "0.9,0.12,0.5:0.9,0.12,3.5";
    let corners = "1,-0.5,2:1,0.5,2:3,0.5,2:3,-0.5,2";
    let styles = [
        ("smoke", seed, 6 * 10),
        ("streaks", seed, 6 * 10),
        ("times", seed, 6 * 10),
        ("nozzles", seed, 6 * 10),
        ("path", seed, 6 * 10),
        ("stream", seed, 8 * 10),
        ("surface", corners, 8 * 10),
    ];
    for (style, seed, vertices) in styles {
        let out = format!("{style}.ply");
        let common = ["--columns", "8", "--rows", "10", "--dt", "0.1", "--frames", "5..6"];
        let args = [&["smoke", "wake", "--style", style, "--seed", seed, "-o", &out], &common[..]];
        ok(at, &args.concat());
        let mesh = mesh(&at.join(format!("{style}.0005.ply")));
        assert_eq!(mesh.positions.len(), vertices, "{style}");
        assert!(!mesh.triangles.is_empty(), "{style}");
    }
    let tufts = ["smoke", "wake", "--style", "tufts", "--tufts", "40", "--frames", "9..10"];
    ok(at, &[&tufts[..], &["-o", "tufts.ply"]].concat());
    let mesh = mesh(&at.join("tufts.0009.ply"));
    assert!(mesh.positions.len() > 20 * 3 * 10, "{}", mesh.positions.len());
}

/// Two keys of a line are one surface whose seeds move; two lines without times are two surfaces.
#[test]
fn lines_with_times_move() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let common =
        ["--columns", "8", "--rows", "3", "--dt", "0.1", "--frames", "5..6", "-o", "a.ply"];
    let keyed =
        ["smoke", "uniform", "--seed", "0,0,0:0,1,0@0", "--seed", "0,0,2:0,1,2@1"].as_slice();
    ok(at, &[keyed, &common].concat());
    let moved = mesh(&at.join("a.0005.ply"));
    // Released at t = 0, 0.1 …, each a fifth higher.
    for (i, x) in moved.positions.iter().enumerate() {
        assert!((x.z - 0.2 * (i / 3) as f32).abs() < 1e-5, "{x}");
    }
    let two = ["smoke", "uniform", "--seed", "0,0,0:0,1,0", "--seed", "0,0,2:0,1,2"].as_slice();
    ok(at, &[two, &common].concat());
    assert!(at.join("a.0.0005.ply").exists() && at.join("a.1.0005.ply").exists());
}

/// A scalar of the recording is carried to the vertices; one that is not there is named.
#[test]
fn any_scalar_becomes_a_channel() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let dims = [5, 5, 5];
    let grid = Grid::Uniform { dims, origin: [0.0; 3], spacing: [1.0; 3] };
    let count = grid.point_count();
    let velocity = (0..count).flat_map(|_| [1.0, 0.0, 0.0]).collect();
    let heat = (0..count).map(|i| grid.point(i).x as f32 + 10.0).collect();
    let arrays = vec![
        Array::new("U", 3, Centering::Point, velocity),
        Array::new("heat", 1, Centering::Point, heat),
    ];
    let dataset = Dataset::new(grid, arrays);
    io::save(&at.join("box.vti"), |out| io::vtk_xml::write(&dataset, out)).unwrap();
    let common = ["--seed", "0.5,1,2:0.5,3,2", "--columns", "8", "--rows", "3", "--dt", "0.2"];
    let args = ["smoke", "box.vti", "--by", "heat", "--frames", "6..7", "-o", "a.ply"];
    ok(at, &[&args[..], &common].concat());
    let smoke = mesh(&at.join("a.0006.ply"));
    for (x, heat) in smoke.positions.iter().zip(scalar(&smoke, "heat")) {
        assert!((heat - 10.0 - x.x).abs() < 1e-4, "{x}: {heat}");
    }
    let none = error(at, &["smoke", "box.vti", "--by", "cold", "-o", "b.ply"]);
    assert!(none.contains("cold") && none.contains("heat"), "{none}");
}

/// Two levels, between which smoke goes a hundredth of the seed line's length.
#[test]
fn where_the_record_is_too_short_smoke_moves_on_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let grid = Grid::Uniform { dims: [5, 5, 5], origin: [0.0; 3], spacing: [1.0; 3] };
    let velocity = (0..grid.point_count()).flat_map(|_| [1.0, 0.0, 0.0]).collect();
    let dataset = Dataset::new(grid, vec![Array::new("U", 3, Centering::Point, velocity)]);
    for name in ["a0.vti", "a1.vti"] {
        io::save(&at.join(name), |out| io::vtk_xml::write(&dataset, out)).unwrap();
    }
    let common = ["smoke", "a0.vti", "a1.vti", "--times", "0:0.02", "--seed", "0.5,1,2:0.5,3,2"];
    let size = ["--columns", "20", "--rows", "3", "-o", "a.ply"];
    let told = supple(at, &[&common[..], &size].concat());
    let [said, warned] = [&told.stdout, &told.stderr].map(|s| String::from_utf8_lossy(s));
    assert!(told.status.success(), "{warned}");
    assert!(warned.contains("stands still") && warned.contains("--loop"), "{warned}");
    assert!(said.contains("--frames 0..21"), "{said}");
    let moved = mesh(&at.join("a.0020.ply"));
    let farthest = moved.positions.iter().map(|x| x.x).fold(0.0, f32::max);
    // The oldest column left the seed line twenty steps ago, or nineteen if it was released again.
    assert!((2.3..2.6).contains(&farthest), "the seed line's length further: {farthest}");
    let said = ok(at, &[&common[..], &size, &["--frames", "0..3"]].concat());
    assert!(!said.contains("0..21"), "who says how long gets that: {said}");
}

/// A stream that begins when the second of four levels is due: the step follows what moves, not what stood still.
#[test]
fn a_flow_that_starts_from_rest_has_steps_for_its_stream() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let grid = Grid::Uniform { dims: [9, 9, 9], origin: [0.0; 3], spacing: [1.0; 3] };
    for (k, speed) in [0.0, 2.0, 2.0, 2.0].into_iter().enumerate() {
        let velocity = (0..grid.point_count()).flat_map(|_| [speed, 0.0, 0.0]).collect();
        let dataset =
            Dataset::new(grid.clone(), vec![Array::new("U", 3, Centering::Point, velocity)]);
        let name = format!("a{k}.vti");
        io::save(&at.join(name), |out| io::vtk_xml::write(&dataset, out)).unwrap();
    }
    let args = ["smoke", "a*.vti", "--times", "0:1", "--columns", "20", "--rows", "41"];
    let said = ok(at, &[&args[..], &["--seed", "1,2,4:1,6,4", "-o", "a.ply"]].concat());
    // Rows are a tenth apart, which takes a twentieth of a unit of time.
    assert!(said.contains("--dt 0.05"), "{said}");
    let tower = supple(
        at,
        &[&args[..], &["--seed", "1,2,4:1,6,4", "--lift", "20", "-o", "b.ply"]].concat(),
    );
    let warned = String::from_utf8_lossy(&tower.stderr).into_owned();
    assert!(warned.contains("tower") && warned.contains("--lift 0.8"), "{warned}");
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let none = error(at, &["smoke", "nothing.pvd", "-o", "a.ply"]);
    assert!(none.contains("nothing.pvd"), "{none}");
    let kind = error(at, &["smoke", "abc", "-o", "a.xyz"]);
    assert!(kind.contains(".png"), "{kind}");
    let line = error(at, &["smoke", "abc", "--seed", "1,1,1", "-o", "a.ply"]);
    assert!(line.contains("0,0,0:0,1,0"), "{line}");
    let inside =
        error(at, &["smoke", "wake", "--seed", "0,0,0:0,0.1,0", "--dt", "0.1", "-o", "a.ply"]);
    assert!(inside.contains("no seed lies in the fluid"), "{inside}");
    let tufts = error(at, &["smoke", "abc", "--style", "tufts", "-o", "a.ply"]);
    assert!(tufts.contains("--obstacle"), "{tufts}");
    let columns = error(at, &["smoke", "abc", "--columns", "0", "-o", "a.ply"]);
    assert!(columns.contains("--columns 0"), "{columns}");
    let line = error(at, &["smoke", "abc", "--seed", "1,1,1:1,1,1", "-o", "a.ply"]);
    assert!(line.contains("different places"), "{line}");
    let ribbons = error(at, &["smoke", "abc", "--lift", "0", "-o", "a.ply"]);
    assert!(ribbons.contains("height"), "{ribbons}");
    std::fs::write(at.join("case.foam"), "").unwrap();
    let case = error(at, &["smoke", "case.foam", "-o", "a.ply"]);
    assert!(case.contains("no OpenFOAM case"), "{case}");
    let rows = error(at, &["smoke", "abc", "--rows", "1", "-o", "a.ply"]);
    assert!(rows.contains("2 rows"), "{rows}");
}

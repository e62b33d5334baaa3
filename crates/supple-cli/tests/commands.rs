//! The commands as a person runs them: through the binary, on files.

mod binary;

use std::fs;
use std::path::Path;

use serde_json::Value;

use binary::{ok, supple};

/// Runs a command that must succeed with `--json`.
fn json(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&ok(folder, &[&["--json"], args].concat())).expect("JSON")
}

/// Runs a command that must fail and gives its error.
fn error(folder: &Path, args: &[&str]) -> String {
    let output = supple(folder, args);
    assert!(!output.status.success(), "supple {args:?} should have failed");
    let errors = String::from_utf8(output.stderr).expect("text");
    assert!(!errors.contains("panicked"), "supple {args:?} panicked: {errors}");
    errors
}

fn zoo(folder: &Path, name: &str, triangles: &str, file: &str) {
    ok(folder, &["zoo", name, "--triangles", triangles, "-o", file]);
}

#[test]
fn info_tells_all_keys() {
    let folder = tempfile::tempdir().unwrap();
    zoo(folder.path(), "ball", "1280", "ball.ply");
    let info = json(folder.path(), &["info", "ball.ply", "--deep"]);
    for key in [
        "kind",
        "vertices",
        "triangles",
        "closed",
        "manifold",
        "components",
        "volume",
        "area",
        "bounds",
        "attributes",
        "skins",
        "morph_targets",
        "animations",
        "self_intersections",
    ] {
        assert!(info.get(key).is_some(), "info has no key {key}");
    }
    assert_eq!(info["kind"], "mesh");
    assert_eq!(info["closed"], true);
    assert_eq!(info["components"], 1);
    assert_eq!(info["self_intersections"], 0);
    let sphere = 4.0 / 3.0 * std::f64::consts::PI;
    let volume = info["volume"].as_f64().unwrap();
    assert!((volume / sphere - 1.0).abs() < 0.02, "a unit ball has volume {sphere}, not {volume}");
}

#[test]
fn check_measures_a_scaled_shape() {
    let folder = tempfile::tempdir().unwrap();
    zoo(folder.path(), "ball", "1280", "ball.obj");
    let text = fs::read_to_string(folder.path().join("ball.obj")).unwrap();
    fs::write(folder.path().join("large.obj"), doubled(&text)).unwrap();
    let check = json(folder.path(), &["check", "ball.obj", "large.obj"]);
    let figure = |key: &str| check[key].as_f64().unwrap_or_else(|| panic!("no figure {key}"));
    assert!(
        (figure("volume_error") - 7.0).abs() < 1e-5,
        "twice as large is eight times the volume"
    );
    assert!((figure("max_edge_stretch") - 2.0).abs() < 1e-5, "every edge is twice as long");
    assert!((figure("max_displacement") - 1.0).abs() < 1e-3, "a unit ball's skin moves by one");
    assert!(figure("mean_displacement") <= figure("max_displacement"), "mean within max");
    assert_eq!(figure("self_intersections_rest"), 0.0);
    assert_eq!(figure("self_intersections_deformed"), 0.0);
    assert_eq!(figure("degenerate_triangles"), 0.0);
    assert!(figure("volume_deformed") > figure("volume_rest"), "larger");
}

/// An OBJ text with every position multiplied by two.
fn doubled(text: &str) -> String {
    let double = |line: &str| match line.strip_prefix("v ") {
        Some(numbers) => {
            let numbers = numbers.split_whitespace().take(3);
            let twice = numbers.map(|n| (2.0 * n.parse::<f32>().expect("a number")).to_string());
            format!("v {}", twice.collect::<Vec<_>>().join(" "))
        }
        None => line.to_owned(),
    };
    text.lines().map(double).collect::<Vec<_>>().join("\n")
}

#[test]
fn convert_keeps_counts_and_volume_through_every_format() {
    let folder = tempfile::tempdir().unwrap();
    zoo(folder.path(), "torus", "600", "torus.glb");
    let first = json(folder.path(), &["info", "torus.glb"]);
    let mut last = "torus.glb".to_owned();
    for ending in ["obj", "ply", "off", "stl", "gltf"] {
        let next = format!("torus.{ending}");
        ok(folder.path(), &["convert", &last, &next]);
        let info = json(folder.path(), &["info", &next]);
        for key in ["vertices", "triangles", "closed", "components"] {
            assert_eq!(info[key], first[key], "{key} changed on the way to {next}");
        }
        let (a, b) = (info["volume"].as_f64().unwrap(), first["volume"].as_f64().unwrap());
        assert!((a / b - 1.0).abs() < 1e-6, "volume changed on the way to {next}: {b} to {a}");
        last = next;
    }
}

#[test]
fn errors_say_what_and_where_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let missing = error(folder.path(), &["info", "nothing.obj"]);
    assert!(missing.contains("nothing.obj"), "{missing}");
    fs::write(folder.path().join("bad.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 nan\nf 1 2 9\n").unwrap();
    let bad = error(folder.path(), &["info", "bad.obj"]);
    assert!(bad.contains("bad.obj") && bad.contains("line"), "{bad}");
    fs::write(folder.path().join("a.xyz"), "").unwrap();
    let unknown = error(folder.path(), &["info", "a.xyz"]);
    assert!(unknown.contains("obj"), "lists the kinds it knows: {unknown}");
    let animal = error(folder.path(), &["zoo", "cwo", "-o", "cow.obj"]);
    assert!(animal.contains("cow"), "suggests a name: {animal}");
}

#[test]
fn a_mesh_becomes_a_scene_becomes_a_bake() {
    let folder = tempfile::tempdir().unwrap();
    zoo(folder.path(), "boxer", "3000", "boxer.glb");
    ok(folder.path(), &["new", "boxer.glb"]);
    let again = error(folder.path(), &["new", "boxer.glb"]);
    assert!(again.contains("exists"), "never overwrites a person's scene: {again}");
    let formats = "glb,usda,pc2,mdd,ply,obj";
    let args = ["bake", "boxer.toml", "-o", "out", "--frames", "0..4", "--format", formats];
    ok(folder.path(), &args);
    let mut names: Vec<_> = fs::read_dir(folder.path().join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for ending in [".glb", ".usda", ".pc2", ".mdd", ".0003.ply", ".0003.obj"] {
        assert!(names.iter().any(|name| name.ends_with(ending)), "no {ending} in {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("supple-tmp")), "leftovers in {names:?}");
    let info = json(folder.path(), &["info", "out/boxer.glb"]);
    assert_eq!(info["animations"], 1);
}

#[test]
fn completions_name_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let script = ok(folder.path(), &["completions", "bash"]);
    for command in ["info", "check", "convert", "new", "bake", "demo", "zoo", "bench"] {
        assert!(script.contains(command), "bash completions lack {command}");
    }
}

/// `deform` with `--json` after its operations.
fn json_after(folder: &Path, words: &[&str]) -> Value {
    let told = ok(folder, &[&["deform"], words, &["--json"]].concat());
    serde_json::from_str(&told).expect("JSON")
}

#[test]
fn deform_runs_the_lines_of_its_help() {
    let folder = tempfile::tempdir().unwrap();
    zoo(folder.path(), "ball", "5120", "ball.ply");
    zoo(folder.path(), "bar", "3328", "bar.ply");
    let lines = [
        "ball.ply -o out.ply move --center 0,0,1.4 --by 0,0,-1.2 --inner 0.3 --outer 1.2",
        "ball.ply -o out.ply stamp --tool torus --scale 0.4 --from 0,0,1.6 --by 0,0,-0.35 --outer 0.4",
        "bar.ply -o out.ply twist --center 0,0,0 --axis 1,0,0 --degrees 180 --from -2 --to 2",
        "bar.ply -o out.ply bend --center 0,0,0 --axis 0,0,1 --along 1,0,0 --degrees 90 --width 4",
        "bar.ply -o out.ply --exact-volume twist --axis 1,0,0 bend --axis 0,0,1 --width 5",
    ];
    for line in lines {
        let words: Vec<_> = line.split(' ').collect();
        let told = json(folder.path(), &[&["deform"], &words[..]].concat());
        let error = told["volume_error"].as_f64().unwrap().abs();
        let after = json_after(folder.path(), &words);
        assert_eq!(after, told, "--json may stand at the end");
        let bound = if line.contains("exact") { 1e-6 } else { 2e-3 };
        assert!(error < bound, "{line}: volume error {error}");
        let check = json(folder.path(), &["check", words[0], "out.ply"]);
        assert_eq!(check["self_intersections_deformed"], 0, "{line} folds");
    }
    let wrong = ["deform", "bar.ply", "-o", "o.ply", "move", "--center", "0,0,0", "--by", "1,0,0"];
    let wrong = error(folder.path(), &[&wrong[..], &["--inner", "2", "--outer", "1"]].concat());
    assert!(wrong.contains("larger than the inner radius"), "{wrong}");
    let stamp = |tool: &str| {
        let words =
            ["deform", "ball.ply", "-o", "o.ply", "stamp", "--from", "0,0,2", "--by", "0,0,-1"];
        error(folder.path(), &[&words[..], &["--tool", tool]].concat())
    };
    assert!(stamp("plane").contains("not closed"), "{}", stamp("plane"));
    assert!(stamp("nosuch.ply").contains("nosuch.ply"), "{}", stamp("nosuch.ply"));
}

#[test]
fn deform_reads_its_options_as_scenes_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    zoo(at, "bar", "300", "bar.ply");
    // Lines are wrapped to the width of a terminal.
    let help = ok(at, &["deform", "bar.ply", "-o", "o.ply", "move", "--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in
        ["--center", "--mirror-origin", "--box", "[default: 0.5]", "[m]", "between 0 and 1"]
    {
        assert!(help.contains(words), "the help lacks {words}:\n{help}");
    }
    let twist = |degrees: &str| {
        let words = ["bar.ply", "-o", "o.ply", "twist", "--axis", "1,0,0", "--degrees", degrees];
        json(at, &[&["deform"], &words[..]].concat())
    };
    assert_eq!(twist("0.25 turn"), twist("90"), "an angle may have a unit");
    let wrong = |words: &[&str]| {
        let output = supple(at, &[&["deform", "bar.ply", "-o", "o.ply"], words].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let drag = ["move", "--center", "0,0,0", "--by", "1,0,0"];
    for (words, says) in [
        (&["--inner", "nan"][..], "--inner: 'inner' is NaN"),
        (&["--inner", "3 kg"], "m, cm, mm"),
        (&["--lateral", "3"], "between 0 and 1"),
        (&["--capsule", "0,inf,0"], "--capsule: 'half' is inf"),
        (&["--by", "0,1"], "three are needed"),
        (&["--innr", "1"], "--inner"),
        (&["--capsule", "0,1,0", "--box", "1,1,1"], "cannot be used with"),
        (&["--mirror-origin", "0,1,0"], "--mirror"),
    ] {
        let said = wrong(&[&drag[..], words].concat());
        assert!(said.contains(says), "{words:?} should say '{says}':\n{said}");
    }
    assert!(wrong(&["mov", "--by", "1,0,0"]).contains("move"), "the nearest operation");
    assert!(wrong(&["move", "--center", "0,0,0"]).contains("--by"), "what is missing");
    assert!(wrong(&["paint", "--stroke", "0,0,0", "--side", "up"]).contains("out"), "the words");
}

#[test]
fn the_schema_is_printed_whole_or_for_a_kind() {
    let folder = tempfile::tempdir().unwrap();
    let schema: Value = serde_json::from_str(&ok(folder.path(), &["schema"])).expect("JSON");
    let asset = &schema["properties"]["asset"]["items"]["properties"];
    for stage in ["rest", "pose", "world"] {
        assert!(asset[stage].is_object(), "{stage}: {asset}");
    }
    let follow: Value = serde_json::from_str(&ok(folder.path(), &["schema", "follow"])).unwrap();
    assert_eq!(follow["properties"]["frequency"]["unit"], "Hz");
    assert!(error(folder.path(), &["schema", "folow"]).contains("'follow'"), "the nearest");
}

#[test]
fn render_and_demo_write_pictures() {
    let folder = tempfile::tempdir().unwrap();
    zoo(folder.path(), "torus", "600", "torus.ply");
    ok(folder.path(), &["render", "torus.ply", "-o", "torus.png", "--size", "96x64"]);
    let picture = fs::read(folder.path().join("torus.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"), "a PNG file");
    let unknown =
        error(folder.path(), &["render", "torus.ply", "-o", "torus.png", "--field", "heat"]);
    assert!(unknown.contains("displacement"), "lists the fields there are: {unknown}");
    fs::write(folder.path().join("nothing.toml"), "supple = 1\n").unwrap();
    let bare =
        error(folder.path(), &["render", "nothing.toml", "-o", "bare.png", "--size", "96x64"]);
    assert!(bare.contains("nothing to draw"), "never an empty picture: {bare}");
    ok(folder.path(), &["demo", "twist", "-o", "out"]);
    for file in ["index.html", "twist.glb", "twist.png", "twist.toml"] {
        assert!(folder.path().join("out").join(file).exists(), "the demo wrote no {file}");
    }
}

#[test]
fn render_draws_points_and_names_those_it_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("points.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\n").unwrap();
    ok(at, &["render", "points.obj", "-o", "points.png", "--size", "96x64"]);
    assert!(at.join("points.png").exists(), "points are drawn");
    fs::write(at.join("far.obj"), "v 0 0 0\nv 1e38 0 0\nv 0 1e38 0\nf 1 2 3\n").unwrap();
    let far = error(at, &["render", "far.obj", "-o", "far.png", "--size", "96x64"]);
    assert!(far.contains("vertex 1 is at"), "{far}");
}

#[test]
fn render_says_when_there_is_nothing_to_see() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("line.obj"), "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n").unwrap();
    fs::write(at.join("point.obj"), "v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n").unwrap();
    for mesh in ["line.obj", "point.obj"] {
        let drawn = supple(at, &["render", mesh, "-o", "o.png", "--size", "96x64"]);
        let said = String::from_utf8_lossy(&drawn.stderr);
        assert!(drawn.status.success() && said.contains("nothing to see"), "{mesh}: {said}");
    }
}

#[test]
fn render_shows_how_bodies_are_moved() {
    const SCENE: &str = r#"
        supple = 1
        [time]
        end = 1
        [[asset]]
        zoo = "rigged-bar"
        triangles = 600
        [[asset.modifier]]
        kind = "sculpt"
        [[asset.modifier.op]]
        kind = "move"
        center = [0, 0.5, 0]
        by = [[0, 0.5, 0]]
        inner = 0.3
        outer = 1
        [[asset.modifier]]
        kind = "secondary"
        [[asset.modifier.set]]
        anchor = [1, 0, 0]
        radius = 1
        [[collider]]
        kind = "sphere"
        radius = 0.5
        placement = { translate = [0, 2, 0] }
    "#;
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("scene.toml"), SCENE).unwrap();
    let picture = |show: &[&str]| {
        ok(at, &[&["render", "scene.toml", "-o", "o.png", "--size", "96x64"], show].concat());
        fs::read(at.join("o.png")).unwrap()
    };
    let bare = picture(&["--from", "0,0,1"]);
    for what in ["springs", "skeleton", "colliders", "curves", "boundaries", "anchors"] {
        assert_ne!(picture(&["--from", "0,0,1", "--show", what]), bare, "{what} is not seen");
    }
    let unknown = error(at, &["render", "scene.toml", "-o", "o.png", "--show", "bones"]);
    assert!(unknown.contains("skeleton") && unknown.contains("anchors"), "{unknown}");
    zoo(at, "torus", "600", "torus.ply");
    let nothing = supple(
        at,
        &["render", "torus.ply", "-o", "o.png", "--size", "96x64", "--show", "springs,colliders"],
    );
    let said = String::from_utf8_lossy(&nothing.stderr);
    assert!(said.contains("no springs") && said.contains("no colliders"), "{said}");
}

#[test]
fn skin_keeps_the_volume_of_a_clip_and_of_a_moment() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    zoo(at, "rigged-bar", "1200", "bar.glb");
    let told =
        json(at, &["skin", "bar.glb", "-o", "out.glb", "--volume", "--clip", "bend", "--fps", "6"]);
    assert_eq!(told["frames"], 13);
    assert!(told["volume_error_plain"].as_f64().unwrap() < -0.01, "{told}");
    assert!(told["volume_error"].as_f64().unwrap().abs() < 1e-6, "{told}");
    assert!(told["largest_lambda"].as_f64().unwrap().abs() > 0.01, "{told}");
    assert_eq!(told["left"].as_array().unwrap().len(), 0);
    assert!(at.join("out.glb").exists(), "the take is written");
    let plain = json(at, &["skin", "bar.glb", "-o", "out.pc2", "--method", "dual-quaternion"]);
    assert_eq!(plain["volume_error"], plain["volume_error_plain"]);
    let moment =
        json(at, &["skin", "bar.glb", "-o", "out.obj", "--volume", "--clip", "1", "--time", "1"]);
    assert_eq!(moment["frames"], 1);
    assert!(moment["volume_error"].as_f64().unwrap().abs() < 1e-6, "{moment}");
    assert_eq!(json(at, &["info", "out.obj", "--deep"])["self_intersections"], 0);
}

/// Whatever writes a shape tells how often it goes through itself, against what it was made from.
#[test]
fn nothing_folds_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    ok(folder, &["zoo", "hand", "--triangles", "2000", "-o", "hand.glb"]);
    let fist = ["skin", "hand.glb", "--clip", "fist", "-o", "fist.glb"];
    let frames = |told: &Value| -> Vec<[u64; 3]> {
        let frames = told["folds"]["frames"].as_array().expect("frames");
        let count = |f: &Value, key: &str| f[key].as_u64().expect("a number");
        frames.iter().map(|f| ["before", "after", "added"].map(|key| count(f, key))).collect()
    };
    let told = frames(&json(folder, &fist));
    assert_eq!(told[0], [0, 0, 0], "an open hand");
    assert!(told.iter().any(|f| f[2] > 0 && f[1] == f[2]), "fingers go through it: {told:?}");
    let output = supple(folder, &fist);
    let [said, warned] = [output.stdout, output.stderr].map(|s| String::from_utf8(s).unwrap());
    assert!(said.contains("self-intersections 0 → "), "{said}");
    assert!(warned.contains("intersect that did not at rest"), "{warned}");
    // Two sheets apart, and one drawn through the other.
    let sheet = |z: f32| format!("v 0 0 {z}\nv 2 0 {z}\nv 0 2 {z}\n");
    let faces = "f 1 2 3\nf 4 5 6\n";
    fs::write(folder.join("a.obj"), [&sheet(0.0), &sheet(1.0), faces].concat()).unwrap();
    let through = "v 0.5 0.5 -1\nv 0.5 0.5 1\nv 5 5 0\n";
    fs::write(folder.join("b.obj"), [&sheet(0.0), through, faces].concat()).unwrap();
    let blend = ["blend", "a.obj", "b.obj", "--weights", "0,1", "-o", "c.ply"];
    assert_eq!(frames(&json(folder, &blend)), [[0, 1, 1]]);
    let said = ok(folder, &["convert", "b.obj", "d.ply", "--repair"]);
    assert!(said.contains("self-intersections 1 → 1"), "{said}");
    assert!(!ok(folder, &["convert", "b.obj", "d.ply"]).contains("self-inter"), "as it was");
    let tets = json(folder, &["tetrahedralize", "hand.glb", "-o", "hand.msh"]);
    assert_eq!(tets["self_intersections"]["after"], 0);
}

#[test]
fn skin_says_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    zoo(at, "rigged-bar", "300", "bar.glb");
    zoo(at, "ball", "300", "ball.glb");
    assert!(error(at, &["skin", "ball.glb", "-o", "x.glb"]).contains("no skin"));
    assert!(
        error(at, &["skin", "bar.glb", "-o", "x.glb", "--clip", "run"]).contains("bend, twist")
    );
    assert!(error(at, &["skin", "bar.glb", "-o", "x.obj"]).contains("--time"));
    let weights = error(at, &["skin", "bar.glb", "-o", "x.glb", "--volume", "--weights", "fat"]);
    assert!(weights.contains("no painted field 'fat'"), "{weights}");
    assert!(error(at, &["skin", "bar.glb", "-o", "x.glb", "--fps", "0"]).contains("--fps"));
}

/// A bar, and the same one bent.
fn bent_bar(folder: &Path) {
    zoo(folder, "bar", "600", "a.obj");
    ok(
        folder,
        &[
            "deform",
            "a.obj",
            "-o",
            "b.obj",
            "bend",
            "--axis",
            "0,0,1",
            "--along",
            "1,0,0",
            "--degrees",
            "90",
            "--width",
            "4",
        ],
    );
}

#[test]
fn blend_writes_shapes_takes_and_sequences_and_keeps_volume() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    bent_bar(folder);
    let told = json(folder, &["blend", "a.obj", "b.obj", "--weights", "0.5,0.5", "-o", "half.obj"]);
    let volume = |key: &str| told[key].as_f64().unwrap().abs();
    assert!(volume("volume_error") < 0.01 && volume("volume_error_linear") > 0.02, "{told}");
    assert_eq!(told["frames_not_proved"], 0);
    let take = json(folder, &["blend", "a.obj", "b.obj", "--steps", "4", "-o", "take.glb"]);
    assert_eq!(take["frames"], 5);
    ok(folder, &["blend", "a.obj", "b.obj", "--steps", "2", "-o", "out/b.obj"]);
    assert!(
        folder.join("out/b.0000.obj").exists() && folder.join("out/b.0002.obj").exists(),
        "numbered"
    );
    ok(folder, &["blend", "a.obj", "b.obj", "--additive", "--weights", "1.5", "-o", "beyond.ply"]);
    // A shape for two targets used together is met at full weight of both.
    ok(folder, &["deform", "a.obj", "-o", "c.obj", "twist", "--axis", "1,0,0", "--degrees", "40"]);
    ok(folder, &["deform", "b.obj", "-o", "d.obj", "twist", "--axis", "1,0,0", "--degrees", "30"]);
    let both = ["--additive", "--combine", "d=b*c", "--weights", "1,1", "-o", "both.obj"];
    ok(folder, &[&["blend", "a.obj", "b.obj", "c.obj", "d.obj"][..], &both].concat());
    let vertices = |file: &str| -> Vec<String> {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        text.lines().filter(|l| l.starts_with("v ")).map(str::to_owned).collect()
    };
    assert_eq!(vertices("both.obj"), vertices("d.obj"));
    for anchor in ["centre", "@-2,0,0", "0,1,2,3"] {
        let end = ["--weights", "0,1", "--anchor", anchor, "-o", "end.obj"];
        ok(folder, &[&["blend", "a.obj", "b.obj"][..], &end].concat());
        assert_eq!(vertices("end.obj"), vertices("b.obj"), "{anchor}");
    }
    assert!(folder.join("take.glb").exists() && folder.join("beyond.ply").exists(), "written");
}

#[test]
fn blend_says_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    bent_bar(folder);
    zoo(folder, "ball", "200", "ball.obj");
    let wrong = |args: &[&str]| error(folder, &[&["blend"], args].concat());
    let text = wrong(&["a.obj", "ball.obj", "--weights", "0.5,0.5", "-o", "o.obj"]);
    assert!(text.contains("vertices"), "{text}");
    let text = wrong(&["a.obj", "b.obj", "--weights", "0.5,0.25", "-o", "o.obj"]);
    assert!(text.contains("0.75"), "{text}");
    let text = wrong(&["a.obj", "b.obj", "--weights", "0.5", "-o", "o.obj"]);
    assert!(text.contains("1 numbers for 2"), "{text}");
    let text = wrong(&["a.obj", "b.obj", "--steps", "2", "--hold", "999999", "-o", "o.glb"]);
    assert!(text.contains("999999"), "{text}");
    let text = wrong(&["a.obj", "b.obj", "--steps", "2", "--pull", "3", "-o", "o.glb"]);
    assert!(text.contains("17:0,0.5,1"), "{text}");
    let text = wrong(&["a.obj", "b.obj", "--steps", "2", "--pull", "9999:0,0,0", "-o", "o.glb"]);
    assert!(text.contains("no vertex 9999"), "{text}");
    let twice = ["--pull", "3:0,0,0", "--pull", "3:1,0,0", "-o", "o.glb"];
    let text = wrong(&[&["a.obj", "b.obj", "--steps", "2"][..], &twice].concat());
    assert!(text.contains("vertex 3 twice"), "{text}");
    let text = wrong(&["a.obj", "b.obj", "--weights", "b=1,b=0.5", "-o", "o.obj"]);
    assert!(text.contains("'b' twice"), "{text}");
    let text = wrong(&["a.obj", "b.obj", "--steps", "2", "--hold", "0,-1", "-o", "o.glb"]);
    assert!(text.contains("no vertex -1"), "{text}");
    // A ball about everything.
    let ball = fs::read_to_string(folder.join("ball.obj")).unwrap();
    let grown = |line: &str| match line.strip_prefix("v ") {
        Some(at) => {
            let at = at.split(' ').take(3).map(|x| 50.0 * x.parse::<f64>().unwrap());
            at.fold("v".to_owned(), |line, x| format!("{line} {x}"))
        }
        None => line.to_owned(),
    };
    let huge: Vec<String> = ball.lines().map(grown).collect();
    fs::write(folder.join("huge.obj"), huge.join("\n")).unwrap();
    let text = wrong(&["a.obj", "b.obj", "--steps", "2", "--obstacle", "huge.obj", "-o", "o.glb"]);
    assert!(text.contains("inside huge.obj"), "{text}");
    let text = wrong(&["a.obj", "b.obj", "--steps", "2", "--anchor", "@1,2", "-o", "o.glb"]);
    assert!(text.contains("@0,1.2,0"), "{text}");
    let both = ["--hold", "0,1", "--anchor", "centre", "--steps", "2", "-o", "o.glb"];
    let text = wrong(&[&["a.obj", "b.obj"][..], &both].concat());
    assert!(text.contains("not both"), "{text}");
    for (given, said) in [("b", "smile*jawOpen"), ("b=c*d", "'c'"), ("b=b*b", "two other")] {
        let text = wrong(&["a.obj", "b.obj", "--combine", given, "--weights", "1", "-o", "o.glb"]);
        assert!(text.contains(said), "{given}: {text}");
    }
    let text = wrong(&["a.obj", "-o", "o.glb"]);
    assert!(text.contains("no morph targets"), "{text}");
    let text = wrong(&["a.obj", "b.obj", "-o", "o.glb"]);
    assert!(text.contains("--weights"), "{text}");
}

/// Bodies of tets are their own network: in as Gmsh, out as a body or as its skin.
#[test]
fn blend_takes_bodies_of_tets() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    zoo(folder, "bar", "300", "bar.obj");
    ok(folder, &["tetrahedralize", "bar.obj", "-o", "a.msh"]);
    let mut body = supple::io::read_tets(&folder.join("a.msh")).unwrap().mesh;
    let nodes = body.positions.len();
    for p in &mut body.positions {
        let radius = 6.0 / 90.0_f32.to_radians();
        let (sin, cos) = (p.x / radius).sin_cos();
        (p.x, p.y) = ((radius - p.y) * sin, radius - (radius - p.y) * cos);
    }
    supple::io::write_tets(&folder.join("b.msh"), &body).unwrap();
    let half = ["blend", "a.msh", "b.msh", "--weights", "0.5,0.5"];
    let told = json(folder, &[&half[..], &["-o", "half.msh"]].concat());
    assert_eq!(told["network"]["nodes"].as_u64(), Some(nodes as u64), "no others: {told}");
    assert!(told["volume_error"].as_f64().unwrap().abs() < 3e-3, "{told}");
    let back = supple::io::read_tets(&folder.join("half.msh")).unwrap().mesh;
    assert_eq!((back.positions.len(), &back.tets), (nodes, &body.tets));
    ok(folder, &[&half[..], &["-o", "half.ply"]].concat());
    let skin = json(folder, &["info", "half.ply"]);
    assert_eq!(skin["closed"], true, "{skin}");
    let text = error(folder, &["blend", "a.msh", "bar.obj", "--weights", "0.5,0.5", "-o", "x.ply"]);
    assert!(text.contains("no body of tets"), "{text}");
    body.tets.swap(0, 1);
    supple::io::write_tets(&folder.join("c.msh"), &body).unwrap();
    let text = error(folder, &["blend", "a.msh", "c.msh", "--weights", "0.5,0.5", "-o", "x.ply"]);
    assert!(text.contains("differ at tet 0"), "{text}");
}

#[test]
fn blend_plays_morph_targets_and_writes_correctives() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    zoo(folder, "morph-bar", "400", "bar.glb");
    let told = json(folder, &["blend", "bar.glb", "--weights", "curl=0.5", "-o", "half.glb"]);
    assert!(told["held_vertices"].as_u64().unwrap() > 4, "its left end: {told}");
    assert!(told["volume_error"].as_f64().unwrap().abs() < 0.01, "{told}");
    let played = json(folder, &["blend", "bar.glb", "--fps", "4", "-o", "played.glb"]);
    assert_eq!(played["frames"], 9, "its clip: {played}");
    let engine = |between: &str| {
        let out = format!("engine{between}.glb");
        let told = json(
            folder,
            &["blend", "bar.glb", "--as", "correctives", "--between", between, "-o", &out],
        );
        let info = json(folder, &["info", &out]);
        assert_eq!(info["clips"].as_array().map(Vec::len), Some(2), "clips stay: {info}");
        told["correctives_error_rel_diagonal"].as_f64().unwrap()
    };
    let (few, many) = (engine("2"), engine("5"));
    assert!(many < 2e-3 && many < 0.4 * few, "{few} {many}");
    let text = error(folder, &["blend", "bar.glb", "--weights", "smile=1", "-o", "x.glb"]);
    assert!(text.contains("curl, wring"), "{text}");
}

const BOWEL: &str = r#"
supple = 1
name = "bowel"
[time]
end = "3 s"
fps = 24
[[asset]]
zoo = "bowel"
triangles = 2000
[[asset.modifier]]
kind = "procdef"
tets = { zoo = "bowel", nodes = 500 }
design = { rule = { axis = "phase" } }
charts = [{ name = "wave", primary = [[0, 1], [0.25, 0.7], [0.5, 1]], speed = 1 }]
[output]
formats = ["glb", "pc2"]
"#;

#[test]
fn procdef_learns_a_baked_motion_from_its_skin() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("bowel.toml"), BOWEL).unwrap();
    ok(folder, &["bake", "bowel.toml", "-o", "out"]);
    let learn =
        ["procdef", "learn", "bowel", "out/bowel.glb", "-o", "learned.toml", "--nodes", "500"];
    let learned = json(folder, &learn);
    assert_eq!(learned["cycle_frames"], 24, "{learned}");
    assert!(learned["explained"].as_f64().unwrap() > 0.93, "{learned}");
    ok(folder, &["bake", "learned.toml", "-o", "again", "--frames", "0..3"]);
    assert!(error(folder, &learn).contains("--force"), "nothing is replaced unasked");
    let wrong =
        |args: &[&str]| error(folder, &[&["procdef", "learn"], args, &["-o", "x.toml"]].concat());
    assert!(wrong(&["bar", "out/bowel.pc2"]).contains("vertices"), "another body");
    assert!(wrong(&["bowel", "none.pc2"]).contains("none.pc2"), "no such file");
    fs::write(folder.join("short.pc2"), b"POINTCACHE2\0").unwrap();
    assert!(wrong(&["bowel", "short.pc2"]).contains("PC2"), "cut off");
}

#[test]
fn render_cuts_bodies_open() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    zoo(folder, "ball", "1280", "ball.ply");
    for plane in ["y=0", "-x=0.2", "1,1,0=0.1"] {
        ok(folder, &["render", "ball.ply", "-o", "cut.png", "--size", "64x48", "--section", plane]);
    }
    let wrong = error(folder, &["render", "ball.ply", "-o", "cut.png", "--section", "up"]);
    assert!(wrong.contains("plane"), "{wrong}");
}

#[test]
fn bodies_of_tets_are_written_and_moved() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    assert!(ok(at, &["zoo"]).contains("jellyfish"));
    ok(at, &["zoo", "jellyfish", "--vertices", "300", "-o", "bell.msh"]);
    let told = ok(at, &["info", "bell.msh", "--json"]);
    assert!(told.contains("tets"), "{told}");
    ok(at, &["zoo", "jellyfish", "-o", "bell.ply"]);
    // A bar is a model and a body: the format tells which.
    assert!(ok(at, &["zoo", "bar", "-o", "bar.ply"]).contains("3328 triangles"));
    assert!(ok(at, &["zoo", "bar", "-o", "bar.msh"]).contains("525 vertices"));
    ok(at, &["new", "bell.ply", "--procdef", "jellyfish"]);
    let scene = fs::read_to_string(at.join("bell.toml")).unwrap();
    assert!(scene.contains("supple = 2") && scene.contains("[[asset.world]]"), "{scene}");
}

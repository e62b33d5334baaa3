//! Nothing without end, nothing silently wrong: through the binary, on files made to hurt.

mod binary;

use std::fs;
use std::path::Path;

use binary::{ok, supple};

/// Runs a command that must be refused with these words.
fn refused(folder: &Path, args: &[&str], words: &str) {
    let output = supple(folder, args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "supple {args:?} should have been refused");
    assert!(!errors.contains("panicked"), "supple {args:?} panicked: {errors}");
    assert!(errors.contains(words), "supple {args:?} does not say '{words}': {errors}");
}

/// A triangle whose nodes and animation are given as JSON.
fn triangle(nodes: &str, more: &str, keys: [f32; 2]) -> String {
    let numbers = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, keys[0], keys[1]];
    let moves = [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0];
    let bytes: Vec<u8> = numbers.iter().chain(&moves).flat_map(|x: &f32| x.to_le_bytes()).collect();
    let data: String = bytes.iter().map(|b| format!("%{b:02X}")).collect();
    format!(
        r#"{{ "asset": {{ "version": "2.0" }},
        "buffers": [{{ "byteLength": {}, "uri": "data:,{data}" }}],
        "bufferViews": [{{ "buffer": 0, "byteLength": 36 }},
            {{ "buffer": 0, "byteOffset": 36, "byteLength": 8 }},
            {{ "buffer": 0, "byteOffset": 44, "byteLength": 24 }}],
        "accessors": [{{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" }},
            {{ "bufferView": 1, "componentType": 5126, "count": 2, "type": "SCALAR" }},
            {{ "bufferView": 2, "componentType": 5126, "count": 2, "type": "VEC3" }}],
        "meshes": [{{ "primitives": [{{ "attributes": {{ "POSITION": 0 }} }}] }}],
        "nodes": {nodes} {more} }}"#,
        bytes.len()
    )
}

#[test]
fn scales_that_overflow_name_their_node() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let nodes = r#"[{ "name": "top", "scale": [1e38, 1e38, 1e38], "children": [1] },
        { "name": "inner", "scale": [1e38, 1e38, 1e38], "mesh": 0 }]"#;
    fs::write(at.join("huge.gltf"), triangle(nodes, "", [0.0, 1.0])).unwrap();
    refused(at, &["info", "huge.gltf"], "'inner'");
    refused(at, &["new", "huge.gltf"], "'inner'");
    refused(at, &["convert", "huge.gltf", "huge.ply"], "'inner'");
    assert!(!at.join("huge.ply").exists(), "nothing is written that could not be read");
}

#[test]
fn a_clip_of_a_year_is_not_played_by_accident() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let animation = r#", "animations": [{ "name": "long",
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }],
        "samplers": [{ "input": 1, "output": 2 }] }]"#;
    let nodes = r#"[{ "mesh": 0 }]"#;
    fs::write(at.join("long.gltf"), triangle(nodes, animation, [0.0, 4e7])).unwrap();
    refused(at, &["render", "long.gltf", "-o", "long.gif", "--size", "96x64"], "--frames");
    refused(at, &["render", "long.gltf", "-o", "a.png", "--sheet", "4"], "--frames");
    let far = ["render", "long.gltf", "-o", "a.png", "--frame", "900000000"];
    refused(at, &far, "--yes");
    let some = ["render", "long.gltf", "-o", "a.png", "--size", "96x64", "--frame", "3"];
    ok(at, &some);
}

#[test]
fn nonsense_in_options_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    ok(at, &["zoo", "rigged-bar", "--triangles", "300", "-o", "bar.glb"]);
    for args in [
        &["skin", "bar.glb", "-o", "o.obj", "--time", "nan"][..],
        &["skin", "bar.glb", "-o", "o.glb", "--fps", "inf"],
        &["remesh", "bar.glb", "-o", "o.glb", "--feature-angle", "nan"],
        &["convert", "bar.glb", "o.glb", "--weld", "nan"],
    ] {
        refused(at, args, "is not a number");
    }
    let twist =
        ["deform", "bar.glb", "-o", "o.glb", "twist", "--axis", "1,0,0", "--degrees", "nan"];
    refused(at, &twist, "'degrees' is NaN");
    refused(at, &["info", "bar.glb", "--threads", "100000"], "threads");
    let camera = ["render", "bar.glb", "-o", "o.png", "--eye", "1,2,3", "--target", "1,2,3"];
    refused(at, &camera, "looks nowhere");
    let left: Vec<_> = fs::read_dir(at).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["bar.glb"], "nothing was written");
}

#[test]
fn repairs_that_leave_nothing_write_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("line.obj"), "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n").unwrap();
    refused(at, &["convert", "line.obj", "out.ply", "--repair"], "nothing is written");
    assert!(!at.join("out.ply").exists());
}

#[test]
fn names_from_files_do_not_reach_the_terminal_raw() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let animation = r#", "animations": [{ "name": "run\u001b[2J\nvolume 7",
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }],
        "samplers": [{ "input": 1, "output": 2 }] }]"#;
    let text = triangle(r#"[{ "mesh": 0 }]"#, animation, [0.0, 1.0]);
    let text = text.replace(r#""POSITION": 0"#, r#""POSITION": 0, "_A\u001b]0;B": 0"#);
    fs::write(at.join("names.gltf"), text).unwrap();
    let told = ok(at, &["info", "names.gltf"]);
    assert!(!told.contains('\u{1b}'), "an escape reached the terminal: {told:?}");
    assert!(told.contains("run\\u{1b}[2J\\nvolume 7"), "{told}");
    let json = ok(at, &["--json", "info", "names.gltf"]);
    assert!(!json.contains('\u{1b}') && json.trim_end().lines().count() == 1, "{json:?}");
}

#[test]
fn a_heap_of_coincident_triangles_is_looked_at_in_bounded_time() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut text = String::new();
    for i in 0..20_000 {
        let z = 1e-6 * f64::from(i % 11);
        text.push_str(&format!("v 0 0 {z}\nv 1 {z} 0\nv {z} 1 0\n"));
    }
    for t in 0..20_000 {
        text.push_str(&format!("f {} {} {}\n", 3 * t + 1, 3 * t + 2, 3 * t + 3));
    }
    fs::write(at.join("heap.obj"), text).unwrap();
    let told = ok(at, &["info", "heap.obj", "--deep"]);
    assert!(told.contains("at least") || told.contains("more than"), "{told}");
}

#[test]
fn a_bake_of_many_gigabytes_wants_a_yes() {
    const SCENE: &str = "supple = 1\n[time]\nend = 100000\n[[asset]]\nzoo = \"ball\"\n\
                         [output]\nformats = [\"pc2\"]\n";
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("long.toml"), SCENE).unwrap();
    refused(at, &["bake", "long.toml", "-o", "out"], "--yes");
    refused(at, &["bake", "long.toml", "-o", "out", "--format", "glb"], "4.3 GB");
    assert!(!at.join("out").exists(), "refused before anything is written");
    ok(at, &["bake", "long.toml", "-o", "out", "--frames", "0..2"]);
}

/// A budget that holds not even a look at the flow had no end.
#[test]
fn a_budget_that_is_too_small_is_refused_with_what_would_do() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    ok(at, &["zoo", "gyre", "-o", "gyre.pvd", "--size", "17x9x5", "--levels", "3"]);
    let smoke = ["smoke", "gyre.pvd", "--frames", "0..2", "-o", "a.ply"];
    refused(at, &[&smoke[..], &["--memory", "1"]].concat(), "MB are allowed");
    let late = supple(at, &[&smoke[..], &["--start", "1e9"]].concat());
    let said = String::from_utf8_lossy(&late.stderr).into_owned();
    assert!(late.status.success() && said.contains("outside the record"), "{said}");
    refused(at, &[&smoke[..], &["--seed", "nan,0,0:1,1,1"]].concat(), "is no line");
    // What is there and cannot be read is not called missing.
    let wrong = supple(at, &[&smoke[..], &["--velocity", "wind"]].concat());
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(!wrong.status.success() && said.contains("'wind'"), "{said}");
    assert!(!said.contains("neither a file"), "{said}");
}

#[test]
fn sizes_that_nobody_means_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    ok(at, &["zoo", "ball", "--triangles", "300", "-o", "ball.ply"]);
    let body = ["tetrahedralize", "ball.ply", "-o", "ball.msh", "--body", "--spacing", "1e9"];
    refused(at, &body, "more than the size of the surface");
    ok(at, &["zoo", "morph-bar", "--triangles", "200", "-o", "bar.glb"]);
    refused(at, &["blend", "bar.glb", "--weights", "curl=1e30", "-o", "b.glb"], "full weight is 1");
}

#[test]
fn smoke_and_turntables_without_end_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    refused(at, &["smoke", "abc", "--frames", "0..4000000000", "-o", "x.pvd"], "--yes");
    refused(
        at,
        &["smoke", "abc", "--rows", "1000000000", "-o", "x.ply"],
        "at most 50000000 vertices",
    );
    // A record that is long beside its step.
    ok(at, &["zoo", "swirl", "-o", "swirl.pvd", "--size", "5x5x3", "--levels", "2"]);
    refused(at, &["smoke", "swirl.pvd", "--dt", "1e-300", "-o", "x.ply"], "--yes");
    ok(at, &["zoo", "ball", "--triangles", "100", "-o", "ball.ply"]);
    refused(at, &["render", "ball.ply", "--turntable", "1000000000", "-o", "x.png"], "100000");
}

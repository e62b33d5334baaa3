//! No command replaces a file it reads, however the file is called.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn supple(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_supple"))
        .current_dir(folder)
        .args(args)
        .output()
        .expect("the binary runs")
}

fn ok(folder: &Path, args: &[&str]) {
    let output = supple(folder, args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "supple {args:?} failed: {errors}");
}

/// Runs a command that must refuse and leave the file as it is; gives what it said.
fn refused(folder: &Path, file: &str, args: &[&str]) -> String {
    let before = fs::read(folder.join(file)).expect("the file system works");
    let output = supple(folder, args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "supple {args:?} should have refused");
    assert!(errors.contains("not replaced"), "supple {args:?}: {errors}");
    assert_eq!(
        fs::read(folder.join(file)).expect("the file system works"),
        before,
        "supple {args:?} changed {file}"
    );
    errors
}

/// The names that all mean `bar.glb`.
fn names(at: &Path) -> Vec<&'static str> {
    fs::create_dir(at.join("sub")).expect("the file system works");
    let mut names = vec!["bar.glb", "./bar.glb", "sub/../bar.glb"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("bar.glb", at.join("link.glb")).expect("the file system works");
        fs::hard_link(at.join("bar.glb"), at.join("hard.glb")).expect("the file system works");
        names.extend(["link.glb", "hard.glb"]);
    }
    // Where upper and lower case are the same.
    if at.join("BAR.GLB").exists() {
        names.push("BAR.GLB");
    }
    names
}

#[test]
fn no_command_replaces_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    ok(at, &["zoo", "rigged-bar", "--triangles", "300", "-o", "bar.glb"]);
    ok(at, &["zoo", "ball", "--triangles", "300", "-o", "ball.ply"]);
    for name in names(at) {
        let said = refused(at, "bar.glb", &["convert", "bar.glb", name]);
        assert!(said.contains("-new.glb"), "names one that would do: {said}");
        refused(at, "bar.glb", &["remesh", "bar.glb", "-o", name]);
        refused(at, "bar.glb", &["skin", "bar.glb", "-o", name, "--fps", "2"]);
        refused(at, "bar.glb", &["new", "bar.glb", "-o", name, "--force"]);
        let deform = ["deform", "bar.glb", "-o", name, "twist", "--axis", "1,0,0"];
        refused(at, "bar.glb", &deform);
    }
    let stamp = ["deform", "bar.glb", "-o", "ball.ply", "stamp", "--tool", "ball.ply"];
    refused(at, "ball.ply", &[&stamp[..], &["--from", "0,0,3", "--by", "0,0,-1"]].concat());
    ok(at, &["convert", "bar.glb", "bar-new.glb"]);
    ok(at, &["convert", "ball.ply", "bar-new.glb"]);
}

#[test]
fn a_bake_into_its_own_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    ok(at, &["zoo", "rigged-bar", "--triangles", "300", "-o", "bar.glb"]);
    ok(at, &["new", "bar.glb"]);
    let said = refused(at, "bar.glb", &["bake", "bar.toml", "-o", ".", "--frames", "0..2"]);
    assert!(said.contains("baked"), "names a folder that would do: {said}");
    ok(at, &["bake", "bar.toml", "-o", "baked", "--frames", "0..2"]);
    ok(at, &["bake", "bar.toml", "-o", ".", "--frames", "0..2", "--format", "pc2"]);
    let file = supple(at, &["bake", "bar.toml", "-o", "bar.glb"]);
    let said = String::from_utf8_lossy(&file.stderr).into_owned();
    assert!(
        !file.status.success() && said.contains("bar.glb is a file: -o names a folder"),
        "{said}"
    );
}

/// What a glTF file names is read too.
#[test]
fn the_files_that_a_file_names_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let corners: [f32; 9] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let bytes: Vec<u8> = corners.iter().flat_map(|x| x.to_le_bytes()).collect();
    fs::write(at.join("triangle.ply"), bytes).unwrap();
    let document = r#"{ "asset": { "version": "2.0" },
        "buffers": [{ "byteLength": 36, "uri": "triangle.ply" }],
        "bufferViews": [{ "buffer": 0, "byteLength": 36 }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "nodes": [{ "mesh": 0 }], "scenes": [{ "nodes": [0] }] }"#;
    fs::write(at.join("triangle.gltf"), document).unwrap();
    refused(at, "triangle.ply", &["convert", "triangle.gltf", "triangle.ply"]);
}

#[test]
fn pictures_do_not_replace_what_they_show() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // Contents say what kind of file it is where the name does not.
    fs::write(at.join("shape.png"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    refused(at, "shape.png", &["render", "shape.png", "-o", "shape.png", "--size", "96x64"]);
}

/// Two outputs of one name: the second would replace the first.
#[test]
fn no_output_replaces_another() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    ok(at, &["zoo", "rigged-bar", "--triangles", "300", "-o", "bar.glb"]);
    ok(at, &["zoo", "ball", "--triangles", "300", "-o", "ball.ply"]);
    fs::create_dir(at.join("sub")).unwrap();
    let push = ["move", "--by", "0,0,0.1"];
    let refused = |args: &[&str]| {
        let output = supple(at, args);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "supple {args:?} should have refused");
        assert!(errors.contains("is what --output writes"), "supple {args:?}: {errors}");
    };
    for other in ["--scene", "--log"] {
        refused(
            &[&["deform", "ball.ply", "-o", "out.ply", other, "sub/../out.ply"], &push[..]]
                .concat(),
        );
    }
    refused(&["skin", "bar.glb", "-o", "out.glb", "--scene", "./out.glb"]);
    assert!(!at.join("out.ply").exists() && !at.join("out.glb").exists(), "nothing was written");
}

/// A pipe waits for its writer, and a device may have no end.
#[cfg(unix)]
#[test]
fn pipes_and_devices_are_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let made = Command::new("mkfifo").arg(at.join("pipe.obj")).status();
    assert!(made.is_ok_and(|status| status.success()), "a pipe can be made");
    std::os::unix::fs::symlink("pipe.obj", at.join("pipe.toml")).unwrap();
    std::os::unix::fs::symlink("pipe.obj", at.join("pipe.nc")).unwrap();
    std::os::unix::fs::symlink("pipe.obj", at.join("pipe.msh")).unwrap();
    let commands: [&[&str]; 6] = [
        &["info", "/dev/zero"],
        &["info", "pipe.obj"],
        &["info", "pipe.msh"],
        &["convert", "pipe.obj", "out.ply"],
        &["bake", "pipe.toml", "-o", "out"],
        &["smoke", "pipe.nc", "-o", "out.ply"],
    ];
    for args in commands {
        let output = supple(at, args);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "supple {args:?} should have refused");
        assert!(errors.contains("a pipe or a device"), "supple {args:?}: {errors}");
    }
}

//! Memory and room on the disk in proportion to what there is: commands under limits that the system enforces.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// Runs a command that may have so many megabytes of addresses, threads and program included.
fn within(megabytes: u32, folder: &Path, args: &[&str]) -> Result<String, String> {
    let limited = format!("ulimit -v {}; exec \"$0\" \"$@\"", 1024 * megabytes);
    let output = Command::new("sh")
        .args(["-c", &limited, env!("CARGO_BIN_EXE_supple"), "--threads", "1"])
        .args(args)
        .env("MALLOC_ARENA_MAX", "1")
        .current_dir(folder)
        .output()
        .expect("a shell");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(errors)
    }
}

/// A mesh of 0.4 MB that a thousand nodes carry.
fn crowd(folder: &Path) {
    let zoo = ["zoo", "ball", "--triangles", "20000", "-o", "ball.gltf"];
    within(4000, folder, &zoo).expect("a ball");
    let text = fs::read_to_string(folder.join("ball.gltf")).expect("it was written");
    let mut document: Value = serde_json::from_str(&text).expect("a document");
    let node = |i: u32| json!({ "mesh": 0, "translation": [3 * (i % 40), 0, 3 * (i / 40)] });
    document["nodes"] = (0..1000).map(node).collect();
    document["scenes"] = json!([{ "nodes": (0..1000).collect::<Vec<u32>>() }]);
    fs::write(folder.join("crowd.gltf"), document.to_string()).expect("room");
    let size = fs::metadata(folder.join("crowd.gltf")).expect("it was written").len();
    assert!((300_000..3_000_000).contains(&size), "{size} bytes");
}

#[test]
fn a_thousand_instances_take_the_memory_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    crowd(at);
    let told = within(500, at, &["info", "--json", "crowd.gltf"]).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["components"], 1000);
    assert_eq!(told["closed_when_welded"], true);
    let one: Value = {
        let told = within(500, at, &["info", "--json", "ball.gltf"]).unwrap();
        serde_json::from_str(&told).unwrap()
    };
    let [all, one] = [&told, &one].map(|info| info["volume"].as_f64().unwrap());
    assert!((all / (1000.0 * one) - 1.0).abs() < 1e-5, "{all} is not a thousand times {one}");
    within(500, at, &["convert", "crowd.gltf", "crowd.glb"]).unwrap();
    within(700, at, &["new", "crowd.gltf"]).unwrap();
    assert!(at.join("crowd.toml").exists());
}

/// The limit bites: what needs more than it is refused by the system, so that the test above means something.
#[test]
fn the_limit_is_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    crowd(folder.path());
    // A format without instances holds a thousand balls.
    let all = within(500, folder.path(), &["convert", "crowd.gltf", "crowd.ply"]);
    assert!(all.is_err(), "{all:?}");
}

#[test]
fn what_the_disk_cannot_hold_is_refused_first() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "supple = 1\n[time]\nend = 1000000\n[[asset]]\nzoo = \"ball\"\n[output]\nformats = [\"pc2\"]\n";
    fs::write(at.join("endless.toml"), text).unwrap();
    let refused = within(4000, at, &["bake", "endless.toml", "-o", "out/deep", "--yes"]);
    let errors = refused.expect_err("no disk holds so much");
    assert!(errors.contains("free: make room"), "{errors}");
    assert!(!at.join("out").exists(), "refused before anything is written");
}

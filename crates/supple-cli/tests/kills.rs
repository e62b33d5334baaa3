//! Bakes that are killed at any moment, in any way, and begun again: to the bytes of one that ran through.
//!
//! `SUPPLE_KILLS=500 cargo test -p supple-cli --test kills` kills more of them than the checks do.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Kills in the checks.
const KILLS: u32 = 12;

/// Bodies on springs that fall; from inside; blended; made anew in every frame.
const SCENES: [&str; 4] = [
    "[[asset]]\nzoo = \"cow\"\ntriangles = 3000\nplacement = { translate = [0, 3, 0] }\n\
     motion = { kind = \"rigid\", velocity = [1, 0, 0] }\n[[asset.modifier]]\nkind = \"secondary\"\n\
     [[asset.modifier.set]]\nanchor = [0, 0, 0]\nradius = 0.5\n[[collider]]\nkind = \"box\"\nsize = [9, 0.2, 9]\n",
    "[[asset]]\nzoo = \"worm\"\ntriangles = 600\n[[asset.modifier]]\nkind = \"procdef\"\n[asset.modifier.tets]\n\
     zoo = \"worm\"\nnodes = 120\n[asset.modifier.design]\narrows = [{ points = [[-0.5, 0, 0], [0.5, 0, 0]] }]\n\
     [[asset.modifier.charts]]\nname = \"c\"\nprimary = [[0, 1], [0.5, 0.7]]\nvolume = \"both\"\n",
    "[[asset]]\nzoo = \"morph-bar\"\ntriangles = 400\nmotion = { kind = \"keyframes\" }\n[[asset.modifier]]\n\
     kind = \"blendshape\"\n",
    "[flow.abc]\nzoo = \"abc\"\n[[asset]]\nname = \"smoke\"\nempty = true\n[[asset.modifier]]\nkind = \"smoke\"\n\
     flow = \"abc\"\nseed = [[1, 1, 1], [1, 5, 1]]\ncolumns = 48\nrows = 40\nreleases_per_second = 24\n",
];

fn bake(folder: &Path, scene: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_supple"));
    command.args(["bake", "--quiet", "--threads", "2", "--format", "ply,glb", "-o"]);
    command.arg(folder).arg(scene).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).unwrap_or_default())
        })
        .collect()
}

/// Random numbers that are the same everywhere.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[test]
#[expect(clippy::print_stdout, reason = "the figure of a long run")]
fn killed_in_any_way_at_any_moment_the_files_are_the_same() {
    let kills = std::env::var("SUPPLE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(KILLS);
    let here = tempfile::tempdir().unwrap();
    let mut calm = Vec::new();
    for (i, text) in SCENES.iter().enumerate() {
        let (scene, folder) =
            (here.path().join(format!("{i}.toml")), here.path().join(format!("calm{i}")));
        fs::write(
            &scene,
            format!("supple = 1\nname = \"take\"\n[time]\nend = 2\nfps = 24\n{text}"),
        )
        .unwrap();
        let start = Instant::now();
        assert!(bake(&folder, &scene).status().unwrap().success(), "{text}");
        calm.push((scene, contents(&folder), start.elapsed()));
    }
    let (mut killed, mut late, mut dice) = (0_u32, 0_u32, 20_261_118_u64);
    for trial in 0_usize.. {
        if killed >= kills {
            break;
        }
        let (scene, expected, time) = &calm[trial % SCENES.len()];
        let folder = here.path().join("killed");
        for _ in 0..1 + next(&mut dice) % 4 {
            let mut child = bake(&folder, scene).spawn().unwrap();
            let wait = time.as_micros() as u64 * (next(&mut dice) % 1000) / 1000;
            std::thread::sleep(Duration::from_micros(wait));
            let signal = ["-KILL", "-INT", "-TERM"][(next(&mut dice) % 3) as usize];
            let sent = Command::new("kill").args([signal, &child.id().to_string()]).output();
            let done = child.wait().unwrap().success();
            assert!(sent.is_ok());
            if done {
                late += 1;
            } else {
                killed += 1;
            }
            for (name, bytes) in contents(&folder) {
                let known = expected.get(&name);
                let unfinished = name == ".supple-bake" || name.ends_with("supple-tmp");
                assert!(unfinished || known == Some(&bytes), "{name} after {signal}, {wait} µs");
            }
        }
        assert!(bake(&folder, scene).status().unwrap().success(), "after {killed} kills");
        assert!(contents(&folder) == *expected, "after {killed} kills: {}", scene.display());
        fs::remove_dir_all(&folder).unwrap();
    }
    println!("{killed} bakes killed, {late} had ended before");
}

/// Ctrl-C ends a bake within a quarter of a second, in the middle of whatever it does; the best of three, since others may
/// have the machine.
#[test]
fn an_interrupt_is_heeded_at_once() {
    let here = tempfile::tempdir().unwrap();
    let mut best = Duration::MAX;
    for (i, text) in SCENES.iter().enumerate() {
        // Long enough to be in the middle of.
        let text = text.replace("triangles = 3000", "triangles = 30000");
        let scene = here.path().join(format!("{i}.toml"));
        let head = "supple = 1\nname = \"take\"\n[time]\nend = 600\nfps = 24\n";
        fs::write(&scene, format!("{head}{text}")).unwrap();
        let folder = here.path().join(format!("out{i}"));
        for _ in 0..3 {
            let mut child = bake(&folder, &scene).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(700));
            let start = Instant::now();
            let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).output();
            let ended = child.wait().unwrap();
            assert!(sent.is_ok() && !ended.success(), "it was still at work: {text}");
            best = best.min(start.elapsed());
        }
        assert!(best < Duration::from_millis(250), "{best:?}: {text}");
        best = Duration::MAX;
    }
}

//! Scenes that nobody thought of: random modifiers on random bodies, by seed.
//!
//! Whatever the scene, frames are finite, closed bodies keep their triangles, and neither threads nor the order
//! of asking nor an interruption changes a bit.

use std::fmt::Write as _;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use supple::Run;
use supple::bake::{Options, WRITERS, bake};
use supple::player::{Frame, Player};
use supple::scene::{Folder, Format, Scene};

/// Random numbers that are the same everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// A number between two.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.below(10_001) as f64 / 10_000.0
    }

    fn vector(&mut self, size: f64) -> String {
        let [x, y, z] = [0; 3].map(|_| self.between(-size, size));
        format!("[{x:.4}, {y:.4}, {z:.4}]")
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

/// A scene of one to three bodies, each with up to three modifiers.
fn document(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let fps = dice.pick(&["24", "30", "25"]);
    let mut text = format!("supple = 1\n[time]\nend = 0.5\nfps = {fps}\n");
    for body in 0..1 + dice.below(3) {
        let zoo = dice.pick(&["ball", "torus", "bar", "rigged-bar", "cow"]);
        let _ = writeln!(text, "[[asset]]\nname = \"b{body}\"\nzoo = \"{zoo}\"\ntriangles = 400");
        let _ = writeln!(text, "placement = {{ translate = {} }}", dice.vector(2.0));
        match (zoo, dice.below(3)) {
            ("rigged-bar", _) => text.push_str("motion = { kind = \"keyframes\" }\n"),
            (_, 0) => {
                let keys = [0.0, 0.2, 0.5].map(|t| {
                    let (position, rotation) = (dice.vector(0.5), dice.vector(90.0));
                    format!("{{ time = {t}, position = {position}, rotation = {rotation} }}")
                });
                let _ =
                    writeln!(text, "motion = {{ kind = \"path\", keys = [{}] }}", keys.join(", "));
            }
            _ => {}
        }
        for _ in 0..dice.below(4) {
            modifier(&mut text, &mut dice, zoo);
        }
    }
    text.push_str("[track.t]\nkeys = [[0, 0], [0.3, 1], [0.5, 0.2]]\n");
    text
}

fn modifier(text: &mut String, dice: &mut Dice, zoo: &str) {
    match dice.below(if zoo == "rigged-bar" { 5 } else { 4 }) {
        0 => {
            let (turn, push) = (dice.vector(60.0), dice.between(-1.0, 1.0));
            let _ = writeln!(
                text,
                "[[asset.modifier]]\nkind = \"place\"\nrotate = {turn}\ntranslate = [{push:.3}, \"t\", 0]"
            );
        }
        1 => {
            let (frequency, damping) = (dice.between(0.5, 6.0), dice.between(0.0, 1.5));
            let _ = writeln!(
                text,
                "[[asset.modifier]]\nkind = \"follow\"\nfrequency = {frequency:.3}\ndamping = {damping:.3}"
            );
        }
        2 => {
            let (center, by) = (dice.vector(1.0), dice.vector(0.3));
            let inner = dice.between(0.1, 0.4);
            let _ = writeln!(
                text,
                "[[asset.modifier]]\nkind = \"sculpt\"\namount = \"t\"\n[[asset.modifier.op]]\nkind = \"move\"\n\
                 center = {center}\nby = [{by}]\ninner = {inner:.3}\nouter = {:.3}",
                inner + dice.between(0.3, 1.0)
            );
        }
        3 => {
            let (anchor, radius) = (dice.vector(0.8), dice.between(0.2, 0.8));
            let _ = writeln!(
                text,
                "[[asset.modifier]]\nkind = \"secondary\"\n[[asset.modifier.set]]\nanchor = {anchor}\n\
                 radius = {radius:.3}\nmass = 0.5"
            );
        }
        _ => text.push_str("[[asset.modifier]]\nkind = \"skinning\"\n"),
    }
}

fn player(scene: &Scene) -> Player {
    let here = Folder::new(".".as_ref());
    Player::open(scene, &here, &Run::default()).unwrap_or_else(|e| panic!("{e}")).0
}

fn bits(frame: &Frame) -> Vec<u32> {
    let positions = frame.bodies.iter().flat_map(|b| b.positions.iter());
    positions.flat_map(|x| x.to_array().map(f32::to_bits)).collect()
}

/// Frames in order, with so many threads.
fn in_order(scene: &Scene, threads: usize) -> Vec<Vec<u32>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let run = Run { threads: Some(&pool), ..Run::default() };
    let mut player = player(scene);
    (0..player.frames()).map(|i| bits(&player.frame(i, &run).expect("a frame"))).collect()
}

#[test]
fn random_scenes_hold() {
    let mut modified = 0;
    for seed in 0..24 {
        let text = document(seed);
        let scene =
            Scene::parse(&text, None).unwrap_or_else(|p| panic!("seed {seed}: {p}\n{text}"));
        modified += scene.assets.iter().map(|a| a.modifiers.len()).sum::<usize>();
        let mut serial = player(&scene);
        let count = serial.frames();
        let mut frames = Vec::new();
        for i in 0..count {
            let frame = serial.frame(i, &Run::default()).expect("a frame");
            let finite = frame.bodies.iter().all(|b| b.positions.iter().all(|x| x.is_finite()));
            assert!(finite, "seed {seed}, frame {i}\n{text}");
            frames.push(bits(&frame));
        }
        for threads in [1, 2, 8] {
            assert_eq!(in_order(&scene, threads), frames, "seed {seed}, {threads} threads\n{text}");
        }
        // Asked for alone, and backwards.
        for i in [count - 1, count / 2, 0] {
            let alone = player(&scene).frame(i, &Run::default()).expect("a frame");
            assert_eq!(bits(&alone), frames[i as usize], "seed {seed}, frame {i} alone\n{text}");
            let back = serial.frame(i, &Run::default()).expect("a frame");
            assert_eq!(bits(&back), frames[i as usize], "seed {seed}, back to {i}\n{text}");
        }
    }
    assert!(modified > 20, "{modified} modifiers");
}

#[test]
fn random_scenes_bake_the_same_when_interrupted() {
    for seed in 100..108 {
        let text = document(seed);
        let scene =
            Scene::parse(&text, None).unwrap_or_else(|p| panic!("seed {seed}: {p}\n{text}"));
        let options =
            Options { formats: Some(vec![Format::Pc2, Format::Glb]), ..Options::default() };
        let bake_to = |folder: &std::path::Path, run: &Run<'_>| {
            bake(&mut player(&scene), folder, &options, &WRITERS, run).map(|baked| baked.files)
        };
        let (whole, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let expected = bake_to(whole.path(), &Run::default()).unwrap();
        let stop = 1 + seed % 7;
        let flag = AtomicBool::new(false);
        let progress = |done: u64, _| {
            flag.fetch_or(done >= stop, Ordering::Relaxed);
        };
        let run = Run { cancel: Some(&flag), progress: Some(&progress), ..Run::default() };
        assert!(bake_to(broken.path(), &run).is_err(), "seed {seed} was stopped");
        let files = bake_to(broken.path(), &Run::default()).unwrap();
        for (file, expected) in files.iter().zip(&expected) {
            let same = fs::read(file).unwrap() == fs::read(expected).unwrap();
            assert!(same, "seed {seed}: {}\n{text}", file.display());
        }
    }
}

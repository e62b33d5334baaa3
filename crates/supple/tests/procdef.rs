//! Scenes of bodies moved from inside, played; presets on other people's meshes.

mod data;

use std::path::{Path, PathBuf};

use glam::Vec3;
use supple::io::uri::Policy;
use supple::mesh::Values;
use supple::modifier::Overlay;
use supple::player::{Frame, Player};
use supple::procdef::preset::Preset;
use supple::procdef::starter;
use supple::scene::{Folder, Scene, Source};
use supple::{Asset, Run, io, zoo};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

fn open(name: &str) -> Player {
    let file = folder().join(format!("procdef-{name}.toml"));
    let scene = Scene::load(&file, Policy::default()).expect("a scene of ours");
    Player::open(&scene, &Folder::new(&folder()), &Run::default()).expect("it plays").0
}

fn center(frame: &Frame) -> Vec3 {
    let x = &frame.bodies[0].positions;
    x.iter().sum::<Vec3>() / x.len() as f32
}

/// How far the body goes in a second, from one second to another.
fn way(player: &mut Player, from: u32, to: u32) -> Vec3 {
    let at = |player: &mut Player, secs: u32| {
        center(&player.frame(24 * secs, &Run::default()).expect("a frame"))
    };
    let start = at(player, from);
    (at(player, to) - start) / (to - from) as f32
}

#[test]
fn scenes_swim_and_crawl() {
    let jellyfish = way(&mut open("jellyfish"), 2, 4);
    assert!(jellyfish.y > 0.09 && jellyfish.x.hypot(jellyfish.z) < 0.01, "jellyfish: {jellyfish}");
    let worm = way(&mut open("worm"), 2, 4);
    assert!(worm.x > 0.2 && worm.z.abs() < 0.02, "worm: {worm}");
    let eel = way(&mut open("eel"), 2, 5);
    assert!(eel.length() > 0.25, "eel: {eel}");
}

#[test]
fn every_scene_plays_and_shows_where_it_contracts() {
    for name in ["bar", "bowel", "earthworm", "heart", "snail", "snake"] {
        let mut player = open(name);
        let frame = player.frame(20, &Run::default()).expect("a frame");
        assert!(frame.report.warnings.is_empty(), "{name}: {:?}", frame.report.warnings);
        let body = &frame.bodies[0];
        assert!(body.positions.iter().all(|x| x.is_finite()), "{name}");
        let Some(Values::Scalar(contraction)) = body.channels.get("contraction") else {
            panic!("{name} tells where it contracts");
        };
        assert_eq!(contraction.len(), body.positions.len(), "{name}");
        assert!(contraction.iter().any(|c| *c > 0.01), "{name} contracts somewhere");
    }
}

const TRACKS: &str = r#"
supple = 1
[time]
end = "4 s"
fps = 24
[track.go]
interpolation = "step"
keys = [[0, 0], [2, 1]]
[track.click]
interpolation = "step"
keys = [[0, 0], [0.5, 1], [0.6, 0], [1.5, 1]]
[[asset]]
name = "body"
empty = true
[[asset.modifier]]
kind = "procdef"
tets = { zoo = "worm", nodes = 120 }
charts = [
  { name = "rest" },
  { name = "twitch", share = "go", primary = [[0, 1], [0.5, 0.7]] },
]
touches = [{ at = [0.5, 0, 0], on = "click" }]
touch_chart = { primary = [[0, 1], [0.3, 0.8], [0.8, 1]], cycle = "0.2 s", speed = 10 }
"#;

#[test]
fn tracks_switch_charts_and_start_touches() {
    let scene = Scene::parse(TRACKS, None).expect("a scene");
    let mut player = Player::open(&scene, &Folder::new(&folder()), &Run::default()).unwrap().0;
    let mut most = |from: u32, to: u32| {
        let contraction = |frame: u32| {
            let frame = player.frame(frame, &Run::default()).expect("a frame");
            let channel = frame.bodies[0].channels.scalar("contraction").expect("told").to_vec();
            channel.into_iter().fold(0.0_f32, |m, c| m.max(c.abs()))
        };
        (from..to).map(contraction).fold(0.0, f32::max)
    };
    assert_eq!(most(0, 12), 0.0, "nobody touches it");
    assert!(most(13, 16) > 0.1, "the first click");
    assert_eq!(most(24, 36), 0.0, "at rest again");
    assert!(most(37, 40) > 0.1, "the second click");
    assert!(most(60, 72) > 0.3, "another chart");
    let missing = TRACKS.replace("on = \"click\"", "on = \"clack\"");
    let scene = Scene::parse(&missing, None).expect("a scene");
    let refused = Player::open(&scene, &Folder::new(&folder()), &Run::default());
    let error = refused.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("clack"), "{error}");
}

/// The ends of two keyframed clips, reached by tissue that stretches: curled by 150°, wrung by 180°.
#[test]
#[expect(clippy::print_stdout, reason = "the figures in docs/procdef.md")]
fn keyframed_shapes_are_reached_from_inside() {
    let mut player = open("target");
    let frame = player.frame(143, &Run::default()).expect("a frame");
    assert!(frame.report.warnings.is_empty(), "{:?}", frame.report.warnings);
    let size = zoo::Size { triangles: Some(6000) };
    let bar = &zoo::build("morph-bar", &size, &Run::default()).unwrap().meshes[0];
    for (body, shift) in [(0, Vec3::ZERO), (1, 3.0 * Vec3::Z)] {
        let shown = &frame.bodies[body].positions;
        assert_eq!(shown.len(), bar.positions.len(), "the same vertices");
        let off = |v: usize| {
            let wanted = bar.positions[v] + bar.morphs[body].positions[v] + shift;
            shown[v].distance(wanted) / 6.16
        };
        let mean = (0..shown.len()).map(off).sum::<f32>() / shown.len() as f32;
        let worst = (0..shown.len()).map(off).fold(0.0, f32::max);
        println!("target {body}: {mean:.5} on average, {worst:.5} at worst");
        assert!(mean < 0.002 && worst < 0.006, "body {body}: {mean} on average, {worst} at worst");
    }
}

#[test]
fn guides_are_lines_along_the_directions_that_are_asked_for() {
    let lines = |show: &str| -> Vec<Vec<Vec3>> {
        let text = format!(
            "supple = 2\n[[asset]]\nempty = true\n[[asset.world]]\nkind = \"procdef\"\n\
             tets = {{ zoo = \"heart\", nodes = 300 }}\n{show}"
        );
        let scene = Scene::parse(&text, None).expect("a scene");
        let (mut player, _) =
            Player::open(&scene, &Folder::new(&folder()), &Run::default()).expect("it plays");
        let frame = player.frame(0, &Run::default()).expect("a frame");
        let line = |overlay: &Overlay| match overlay {
            Overlay::Line(points) => points.clone(),
            other => panic!("{other:?}"),
        };
        frame.bodies[0].guides.overlays.iter().map(line).collect()
    };
    let primary = lines("");
    assert!(primary.len() > 100, "{}", primary.len());
    assert_eq!(primary, lines("show = [\"primary\", \"layer\"]"));
    let all = lines("show = [\"primary\", \"secondary\", \"third\"]");
    assert_eq!(all.len(), 3 * primary.len());
    let along = |k: usize| (all[k][1] - all[k][0]).normalize_or_zero();
    for i in 0..primary.len() {
        let [a, b, c] = [0, 1, 2].map(|d| along(i + d * primary.len()));
        assert!(a.dot(b).abs() < 1e-3 && (a.cross(b) - c).length() < 1e-3, "{a}, {b}, {c}");
    }
}

#[test]
fn threads_and_seeking_give_the_same_bits() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let two = Run { threads: Some(&pool), ..Run::default() };
    let (mut a, mut b) = (open("worm"), open("worm"));
    let _ = b.frame(30, &two).expect("a frame");
    for i in [7, 12] {
        let (one, other) = (a.frame(i, &Run::default()).unwrap(), b.frame(i, &two).unwrap());
        assert!(one.bodies[0].positions == other.bodies[0].positions, "frame {i}");
    }
}

/// A starter scene for an asset, played: lengths a second along the head's direction.
fn moved_by(preset: Preset, asset: &Asset, secs: u32) -> f32 {
    let written = starter::scene("mesh.obj", asset, preset, (None, None)).expect("a starter");
    let scene = Scene::parse(&written.text, None).expect("it reads what it writes");
    let mut given = |_: &Source| Ok(asset.clone());
    let mut player = Player::new(&scene, &Folder::new(&folder()), &mut given, &Run::default())
        .expect("it plays");
    let mesh = &asset.meshes[0].positions;
    let low = mesh.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = mesh.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
    way(&mut player, 1, secs).length() / (high - low).max_element()
}

#[test]
fn every_preset_is_written_read_and_played() {
    let asset = zoo::build("rope", &zoo::Size { triangles: Some(2000) }, &Run::default()).unwrap();
    for preset in Preset::ALL {
        let way = moved_by(preset, &asset, 2);
        assert!(way.is_finite(), "{preset:?}: {way}");
    }
}

#[test]
fn presets_move_real_meshes() {
    let Some(folder) = data::test_data("meshes") else { return };
    let asset = io::read(&folder.join("blub_fish.obj"), &io::ReadOptions::default());
    let way = moved_by(Preset::Worm, &asset.expect("a model").asset, 3);
    assert!(way > 0.05, "blub_fish.obj: {way} lengths a second");
}

const CARRIED: &str = r#"
supple = 1
[time]
end = "2 s"
fps = 24
[[asset]]
zoo = "rope"
triangles = 2000
placement = { translate = [0, 2, 0], rotate = [0, 90, 0] }
[asset.motion]
kind = "path"
keys = [{ time = 0, position = [0, 0, 0] }, { time = 1, position = [1, 0, 0] }]
[[asset.modifier]]
kind = "procdef"
tets = { nodes = 300 }
holds = [{ at = [0, 0, 0], radius = 100 }]
"#;

/// What is held goes where the body's own motion carries it; what is not is left behind.
#[test]
fn held_nodes_are_carried_by_the_bodys_motion() {
    let way = |text: &str| {
        let scene = Scene::parse(text, None).expect("a scene");
        let mut player = Player::open(&scene, &Folder::new(&folder()), &Run::default()).unwrap().0;
        let start = center(&player.frame(0, &Run::default()).unwrap());
        center(&player.frame(47, &Run::default()).unwrap()) - start
    };
    // A metre along the x axis of the placed body is one against the world's z.
    let held = way(CARRIED);
    assert!(held.distance(-Vec3::Z) < 1e-3, "carried by {held}");
    let free = way(&CARRIED.replace("holds = [{ at = [0, 0, 0], radius = 100 }]", ""));
    assert!(free.length() < 1e-6, "nothing holds it: {free}");
}

#[test]
fn tets_of_another_body_and_passes_without_number_are_told() {
    let told = |tets: &str, passes: u32| {
        let text = format!(
            "supple = 2\n[time]\nend = 0.1\n[[asset]]\nzoo = \"worm\"\ntriangles = 600\n[[asset.world]]\n\
             kind = \"procdef\"\npasses = {{ plain = {passes} }}\n[asset.world.tets]\nzoo = \"{tets}\"\nnodes = 200\n"
        );
        let scene = Scene::parse(&text, None).expect("a scene");
        let here = Folder::new(Path::new("."));
        let (mut player, _) = Player::open(&scene, &here, &Run::default()).expect("it plays");
        player.frame(0, &Run::default()).expect("a frame").report.warnings.join("; ")
    };
    assert_eq!(told("worm", 4), "", "its own");
    assert!(told("heart", 4).contains("far outside the tets"), "{}", told("heart", 4));
    let many = told("worm", 1_000_000);
    assert!(many.contains("256 passes are made, not 1000000"), "{many}");
}

//! `secondary` in scenes: what must stay the same, and where things must end up.

mod data;

use std::path::{Path, PathBuf};

use data::test_data;
use glam::Vec3;
use supple::io::uri::Policy;
use supple::io::{self, ReadOptions};
use supple::mesh::intersect::self_intersections;
use supple::player::{Frame, Player};
use supple::scene::{self, Entry, Folder, Motion, Scene, Source};
use supple::secondary::modifier::Params;
use supple::{Asset, Run, zoo};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

/// A scene of the collection, with its models at a low resolution.
fn load(name: &str, triangles: u32) -> Scene {
    let mut scene = Scene::load(&folder().join(name), Policy::default()).expect("a scene of ours");
    for actor in &mut scene.assets {
        if let Source::Zoo { triangles: own, .. } = &mut actor.source {
            *own = Some(triangles);
        }
    }
    scene
}

fn open(scene: &Scene) -> Player {
    Player::open(scene, &Folder::new(&folder()), &Run::default()).expect("it plays").0
}

fn frame(player: &mut Player, i: u32) -> Frame {
    player.frame(i, &Run::default()).expect("nobody cancels")
}

/// The same scene without flesh.
fn bare(scene: &Scene) -> Scene {
    let mut bare = scene.clone();
    for actor in &mut bare.assets {
        actor.world.retain(|m| m.kind != "secondary");
    }
    bare
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn frame_rates_agree_to_the_bit_where_they_meet() {
    let rates = [24, 30, 60];
    let mut players = rates.map(|fps| {
        let mut scene = load("boxer-flesh.toml", 1500);
        scene.time.fps = f64::from(fps);
        open(&scene)
    });
    for sixth in 1..=6 {
        let frames = [0, 1, 2].map(|k| frame(&mut players[k], sixth * rates[k] / 6));
        assert_eq!(frames[0].bodies, frames[1].bodies, "24 and 30 fps, {sixth}/6 s");
        assert_eq!(frames[0].bodies, frames[2].bodies, "24 and 60 fps, {sixth}/6 s");
    }
}

#[test]
fn looking_between_ticks_and_going_back_change_nothing() {
    let scene = load("jelly.toml", 1500);
    let (mut plain, mut curious) = (open(&scene), open(&scene));
    let expected = frame(&mut plain, 40);
    let run = Run::default();
    for secs in [0.003, 0.11, 3.0, 0.5001, 1.2345] {
        curious.at(secs, &run).unwrap();
    }
    assert_eq!(frame(&mut curious, 40).bodies, expected.bodies);
    let state = curious.snapshot();
    let next = frame(&mut curious, 60);
    let mut other = open(&scene);
    other.restore(&state).unwrap();
    assert_eq!(frame(&mut other, 60).bodies, next.bodies, "from a snapshot");
}

#[test]
fn any_thread_count_gives_the_same_bits() {
    let scene = load("detail.toml", 1500);
    let expected = frame(&mut open(&scene), 9);
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let played = open(&scene).frame(9, &run).unwrap();
        assert_eq!(played, expected, "{threads} threads");
    }
}

#[test]
fn the_flesh_moves_and_comes_to_rest() {
    for name in ["jelly.toml", "cow-flesh.toml"] {
        let scene = load(name, 2000);
        let (mut with, mut without) = (open(&scene), open(&bare(&scene)));
        let moved = |a: &Frame, b: &Frame| farthest(&a.bodies[0].positions, &b.bodies[0].positions);
        let early = [16, 20, 24].map(|i| moved(&frame(&mut with, i), &frame(&mut without, i)));
        let most = early.into_iter().fold(0.0, f32::max);
        assert!(most > 0.02, "{name} jiggles: {early:?}");
        let late = moved(
            &with.at(60.0, &Run::default()).unwrap(),
            &without.at(60.0, &Run::default()).unwrap(),
        );
        assert!(late < 1e-5, "{name} comes to rest: {late}");
    }
}

/// The cow stands still and only its head is pulled: primary deformation excites flesh (000, section 6.2).
#[test]
fn pulling_the_head_excites_flesh() {
    let mut scene = load("cow-flesh.toml", 2000);
    scene.assets[0].motion = Motion::Still;
    let (mut with, mut without) = (open(&scene), open(&bare(&scene)));
    let moved = |i: u32, with: &mut Player, without: &mut Player| {
        farthest(&frame(with, i).bodies[0].positions, &frame(without, i).bodies[0].positions)
    };
    assert!(moved(0, &mut with, &mut without) < 1e-6, "at rest before");
    let most = (4..40).map(|i| moved(i, &mut with, &mut without)).fold(0.0, f32::max);
    assert!(most > 0.02, "the pull is felt: {most}");
    // Nothing pulls at the tail.
    let tail = |player: &mut Player| {
        let frame = frame(player, 20);
        frame.bodies[0].positions.iter().copied().filter(|x| x.z < -0.9).collect::<Vec<_>>()
    };
    assert_eq!(farthest(&tail(&mut with), &tail(&mut without)), 0.0);
}

/// Pulled to the extreme by four hands and let go.
#[test]
fn a_head_pulled_to_the_extreme_keeps_its_volume_and_returns() {
    let mut player = open(&load("draggers.toml", 4000));
    let rest = player.cast()[0].rest.meshes[0].clone();
    let pulled = frame(&mut player, 58);
    let far = farthest(&pulled.bodies[0].positions, &rest.positions);
    assert!(far > 0.1, "a third of the head: {far}");
    let error = pulled.report.volume_errors[0].unwrap();
    assert!(error.abs() < 2e-2, "a coarse mesh, but its volume: {error}");
    let crossings =
        |p: &[Vec3]| self_intersections(p, &rest.triangles, &Run::default()).unwrap().len();
    assert!(
        crossings(&pulled.bodies[0].positions) <= crossings(&rest.positions),
        "nothing goes through itself"
    );
    let back = player.at(30.0, &Run::default()).unwrap();
    assert!(farthest(&back.bodies[0].positions, &rest.positions) < 1e-5, "back to rest");
}

#[test]
fn far_bodies_have_less_flesh() {
    let mut player = open(&load("detail.toml", 1500));
    let report = frame(&mut player, 9).report;
    let culled: Vec<f64> = (0..3).flat_map(|i| report.figure(i, "secondary", "culled")).collect();
    assert_eq!(culled[0], 0.0, "near: all eight");
    assert!(culled[1] > 0.0 && culled[1] < 8.0, "middle: some, {culled:?}");
    assert_eq!(culled[2], 8.0, "far: none");
}

#[test]
fn the_exact_correction_restores_the_volume() {
    let mut scene = load("cow-flesh.toml", 3000);
    let change = |scene: &Scene| {
        let report = frame(&mut open(scene), 20).report;
        assert!(report.warnings.is_empty(), "{:?}", report.warnings);
        report.figure(0, "secondary", "volume change").next().unwrap().abs()
    };
    let plain = change(&scene);
    let flesh = scene.assets[0].world.last_mut().unwrap();
    let params = Params { exact_volume: true, ..flesh.read().unwrap() };
    *flesh = Entry::of("secondary", &params);
    let exact = change(&scene);
    assert!(exact < 1e-6 && plain > exact, "{plain} became {exact}");
}

#[test]
fn a_crowd_plays() {
    let mut scene = load("detail.toml", 500);
    let model = scene.assets[0].clone();
    scene.assets.clear();
    for k in 0..30 {
        let mut actor = model.clone();
        actor.name = format!("cow {k}");
        actor.placement.translate = [f64::from(k % 6) * 2.0, 0.0, -3.0 * f64::from(k / 6)];
        scene.assets.push(actor);
    }
    let size = zoo::Size { triangles: Some(500) };
    let cow = zoo::build("cow", &size, &Run::default()).unwrap();
    let mut from_memory = |_: &Source| Ok(cow.clone());
    let here = Folder::new(".".as_ref());
    let mut player = Player::new(&scene, &here, &mut from_memory, &Run::default()).unwrap();
    let report = frame(&mut player, 9).report;
    let culled: Vec<f64> = (0..30).flat_map(|i| report.figure(i, "secondary", "culled")).collect();
    assert!(culled[0] < culled[29], "{culled:?}");
}

/// A starter scene for an asset makes it jiggle, visibly and not too much.
fn starter_jiggles(file: &str, asset: Asset) {
    let text = scene::starter(file, &asset, &Run::default());
    let scene = Scene::parse(&text, None).unwrap_or_else(|p| panic!("{file}: {p}\n{text}"));
    let mut load = |_: &Source| Ok(asset.clone());
    let here = Folder::new(".".as_ref());
    let run = Run::default();
    let mut with = Player::new(&scene, &here, &mut load, &run).expect("it plays");
    let mut without = Player::new(&bare(&scene), &here, &mut load, &run).expect("it plays");
    let rest = &with.cast()[0].rest.meshes[0].positions;
    let size = supple::mesh::measure::Bounds::of(rest).expect("it has vertices").diagonal();
    let mut largest = 0.0_f32;
    for i in (0..with.frames().min(40)).step_by(3) {
        let (a, b) = (frame(&mut with, i), frame(&mut without, i));
        assert!(a.report.warnings.is_empty(), "{file}: {:?}", a.report.warnings);
        largest = largest.max(farthest(&a.bodies[0].positions, &b.bodies[0].positions) / size);
    }
    assert!((0.004..0.15).contains(&largest), "{file} jiggles by {largest} of its size");
}

#[test]
fn starter_scenes_jiggle() {
    for name in ["boxer", "cow", "camel", "jelly", "hand"] {
        let size = zoo::Size { triangles: Some(2500) };
        starter_jiggles(name, zoo::build(name, &size, &Run::default()).unwrap());
    }
}

#[test]
fn starter_scenes_of_real_characters_jiggle() {
    for file in ["gltf/CesiumMan/CesiumMan.glb", "gltf/Fox/Fox.glb", "meshes/spot.obj"] {
        let Some(path) = test_data(file) else { continue };
        starter_jiggles(file, io::read(&path, &ReadOptions::default()).unwrap().asset);
    }
}

#[test]
fn wrong_sets_are_refused_with_what_would_be_right() {
    let text = |set: &str| {
        format!(
            "supple = 1\n[[asset]]\nzoo = \"boxer\"\ntriangles = 1500\n[[asset.modifier]]\nkind = \"secondary\"\n{set}"
        )
    };
    let set = "[[asset.modifier.set]]\nanchor = [0, 1, 0]\n";
    let problem = Scene::parse(&text(set), None).unwrap_err();
    assert!(problem.to_string().contains("radius"), "{problem}");
    let problem = Scene::parse(&text(&format!("{set}radius = -1\n")), None).unwrap_err();
    assert_eq!(problem.line, 9, "{problem}");
    let hand = format!("{set}radius = 1\n[asset.modifier.hand.nose]\noffset = [0, 0, 0]\n");
    let problem = Scene::parse(&text(&hand), None).unwrap_err();
    assert!(problem.to_string().contains("no set 'nose'"), "{problem}");
    let scene = Scene::parse(&text(&format!("{set}radius = 1\nbone = \"chst\"\n")), None).unwrap();
    let error = Player::open(&scene, &Folder::new(&folder()), &Run::default()).unwrap_err();
    assert!(error.to_string().contains("chest"), "{error}");
}

/// A bar that curls and straightens by morph targets, round and round, in a time that no rate of solves divides.
fn curling_bar() -> Asset {
    let size = zoo::Size { triangles: Some(300) };
    let mut asset = zoo::build("morph-bar", &size, &Run::default()).expect("it is in the zoo");
    asset.clips.truncate(1);
    let channel = &mut asset.clips[0].channels[0];
    channel.times = vec![0.0, 0.19, 0.37, 0.53, 0.71];
    let weights = vec![0.0, 0.0, 0.3, 0.1, 0.5, 0.0, 0.2, 0.0, 0.0, 0.0];
    channel.track = supple::rig::Track::Weights(weights);
    asset
}

/// Flesh behind a blend warms up over whole rounds of the loop, and so does the blend.
#[test]
fn flesh_behind_a_blend_that_loops_meets_itself() {
    let (asset, run) = (curling_bar(), Run::default());
    let text = scene::starter("bar.glb", &asset, &run);
    assert!(text.contains("\nkind = \"blendshape\""), "{text}");
    let scene = Scene::parse(&text, None).unwrap();
    let mut load = |_: &Source| Ok(asset.clone());
    let mut player = Player::new(&scene, &Folder::new(".".as_ref()), &mut load, &run).unwrap();
    let rest = &player.cast()[0].rest.meshes[0].positions;
    let size = supple::mesh::measure::Bounds::of(rest).unwrap().diagonal();
    let last = player.frames() - 1;
    let (a, b) = (frame(&mut player, 0), frame(&mut player, last));
    let gap = farthest(&a.bodies[0].positions, &b.bodies[0].positions) / size;
    assert!(gap < 3e-4, "{gap}");
}

//! The scenes that come with Supple: they play, and the edits in them keep volume and do not fold.

use std::path::{Path, PathBuf};

use glam::Vec3;
use supple::Run;
use supple::io::uri::Policy;
use supple::mesh::intersect::self_intersections;
use supple::player::{Frame, Player};
use supple::scene::{Folder, Scene, Source};
use supple::sculpt::modifier::Params;

/// Models of the scenes have at most so many triangles here.
const MOST_TRIANGLES: u32 = 10_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

/// A scene, with large models at a lower resolution.
fn load(name: &str) -> Scene {
    let loaded = Scene::load(&folder().join(name), Policy::default());
    let mut scene = loaded.unwrap_or_else(|e| panic!("{e}"));
    for actor in &mut scene.assets {
        if let Source::Zoo { triangles: Some(triangles), .. } = &mut actor.source {
            *triangles = (*triangles).min(MOST_TRIANGLES);
        }
    }
    scene
}

fn names() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the scenes are here");
    let name = |e: std::io::Result<std::fs::DirEntry>| {
        e.expect("the folder can be read").file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).filter(|n| n.ends_with(".toml")).collect();
    names.sort();
    names
}

fn play(scene: &Scene) -> Player {
    let folder = folder();
    let (player, warnings) = Player::open(scene, &Folder::new(&folder), &Run::default())
        .unwrap_or_else(|e| panic!("{}: {e}", scene.name));
    assert!(warnings.is_empty(), "{}: {warnings:?}", scene.name);
    player
}

/// The first, the middle and the last frame.
fn three(player: &mut Player) -> Vec<Frame> {
    let last = player.frames() - 1;
    let frame = |i| player.frame(i, &Run::default()).expect("nobody cancels");
    [0, last / 2, last].map(frame).into()
}

fn crossings(positions: &[Vec3], triangles: &[[u32; 3]]) -> usize {
    self_intersections(positions, triangles, &Run::default()).expect("nobody cancels").len()
}

/// Whether the volume is restored exactly, for a scene whose modifiers are all `sculpt`.
fn sculpted(scene: &Scene) -> Option<bool> {
    let mut exact = None;
    for (_, modifier) in scene.assets.iter().flat_map(|a| a.modifiers()) {
        if modifier.kind != "sculpt" {
            return None;
        }
        exact = Some(modifier.read::<Params>().expect("edits").exact_volume);
    }
    exact
}

#[test]
fn every_scene_plays_without_a_warning_and_is_its_own_document() {
    for name in names() {
        let scene = load(&name);
        let again = Scene::parse(&scene.to_toml(), None).unwrap_or_else(|p| panic!("{name}: {p}"));
        assert_eq!(scene, again, "{name}");
        for frame in three(&mut play(&scene)) {
            let at = frame.secs;
            assert!(frame.report.warnings.is_empty(), "{name}, {at} s: {:?}", frame.report);
            let finite = |p: &Vec3| p.is_finite();
            assert!(frame.bodies.iter().all(|b| b.positions.iter().all(finite)), "{name}, {at} s");
        }
    }
}

#[test]
fn sculpted_scenes_keep_volume_and_do_not_fold() {
    let mut checked = 0;
    for name in names() {
        let scene = load(&name);
        let Some(exact) = sculpted(&scene) else { continue };
        let mut player = play(&scene);
        let frames = three(&mut player);
        for frame in &frames {
            for (body, cast) in frame.bodies.iter().zip(player.cast()) {
                let mesh = &cast.rest.meshes[0];
                let added = crossings(&body.positions, &mesh.triangles)
                    .saturating_sub(crossings(&mesh.positions, &mesh.triangles));
                assert_eq!(added, 0, "{name}, {} s: pairs of triangles cross", frame.secs);
            }
            let most = if exact { 1e-6 } else { 1e-3 };
            for error in frame.report.volume_errors.iter().flatten() {
                assert!(error.abs() <= most, "{name}, {} s: volume off by {error:e}", frame.secs);
            }
        }
        assert_ne!(frames[0].bodies, frames[1].bodies, "{name} moves");
        assert_ne!(frames[1].bodies, frames[2].bodies, "{name} moves");
        checked += 1;
    }
    assert!(checked >= 3, "push, twist and bend at least: {checked}");
}

/// In closed form: what lies beyond the fade of the bar's twist and bend turns rigidly.
#[test]
fn the_ends_of_the_bar_land_where_the_angle_says() {
    let end = |name: &str| {
        let mut player = play(&load(name));
        let last = player.frames() - 1;
        let frame = player.frame(last, &Run::default()).expect("nobody cancels");
        let rest = player.cast()[0].rest.meshes[0].positions.clone();
        rest.into_iter().zip(frame.bodies[0].positions.clone()).filter(|(x, _)| x.x > 2.0)
    };
    for (x, y) in end("twist.toml") {
        let turned = Vec3::new(x.x, -x.y, -x.z);
        assert!(y.distance(turned) < 1e-5, "{x} went to {y}, not to {turned}");
    }
    let (near, far): (Vec<_>, Vec<_>) = end("bend.toml").partition(|(x, _)| x.x < 2.5);
    for ((a, b), (c, d)) in near.iter().zip(&far) {
        let way = *c - *a;
        let turned = Vec3::new(-way.y, way.x, way.z);
        assert!((*d - *b).distance(turned) < 1e-4, "{way} became {}", *d - *b);
    }
}

/// Chapter 6: the volume of every skinned scene is kept to 1e-6 and nothing new crosses, where plain
/// skinning loses volume visibly.
#[test]
fn skinned_scenes_keep_volume_and_do_not_fold() {
    for name in ["three-bone-bar.toml", "muscle-arm.toml", "twisted-shoulder.toml"] {
        let scene = load(name);
        let mut plain = scene.clone();
        for actor in &mut plain.assets {
            for list in [&mut actor.rest, &mut actor.pose, &mut actor.world] {
                list.clear();
            }
        }
        let (mut kept, mut plain) = (play(&scene), play(&plain));
        // Clips go there and back: the middle is the strongest pose.
        let strongest = kept.frames() / 2;
        let lost = plain.frame(strongest, &Run::default()).expect("nobody cancels").report;
        assert!(lost.volume_errors[0].expect("a volume") < -1e-3, "{name}: {lost:?}");
        for i in [strongest / 2, strongest] {
            let frame = kept.frame(i, &Run::default()).expect("nobody cancels");
            assert!(frame.report.warnings.is_empty(), "{name}: {:?}", frame.report);
            let error = frame.report.volume_errors[0].expect("a volume");
            assert!(error.abs() <= 1e-6, "{name}, frame {i}: volume off by {error:e}");
            let mesh = &kept.cast()[0].rest.meshes[0];
            let crossing = crossings(&frame.bodies[0].positions, &mesh.triangles);
            assert_eq!(crossing, 0, "{name}, frame {i}: pairs of triangles cross");
        }
    }
}

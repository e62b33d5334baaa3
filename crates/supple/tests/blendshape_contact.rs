//! Blends in scenes: colliders that move push and drag them; and the scenes of the paper's figures that come with Supple.

use std::path::Path;

use glam::Vec3;
use supple::Run;
use supple::io::uri::Policy;
use supple::mesh::measure::Bounds;
use supple::mesh::{TriMesh, adjacency, volume};
use supple::player::Player;
use supple::scene::{Folder, Scene};

/// A bar along x that is held at its left end, and a rod along z that a path moves.
fn scene(friction: f64, keys: &str) -> Scene {
    let text = format!(
        r#"
        supple = 1
        [time]
        end = "3 s"
        [[asset]]
        zoo = "morph-bar"
        triangles = 700
        [[asset.modifier]]
        kind = "blendshape"
        contact = true
        friction = {friction}
        [[collider]]
        kind = "capsule"
        radius = 0.4
        length = 4
        placement = {{ rotate = ["90 deg", 0, 0] }}
        motion = {{ kind = "path", keys = [{keys}] }}
        "#
    );
    Scene::parse(&text, None).unwrap_or_else(|p| panic!("{p}"))
}

fn open(scene: &Scene) -> Player {
    Player::open(scene, &Folder::new(Path::new(".")), &Run::default()).expect("it plays").0
}

/// The vertices of a frame, and how deep the deepest is in the rod.
fn frame(player: &mut Player, i: u32) -> (Vec<Vec3>, f32) {
    let mut frame = player.frame(i, &Run::default()).expect("a frame");
    let (rod, place) = (&player.colliders()[0].parts[0], frame.colliders[0]);
    let positions = std::mem::take(&mut frame.bodies[0].positions);
    let depth = |x: &Vec3| -rod.probe(place.to_local(*x), Vec3::ZERO).distance;
    let deepest = positions.iter().map(depth).fold(0.0, f32::max);
    (positions, deepest)
}

/// A key of the rod's path: its own axes are the world's turned by a right angle about x.
fn key(time: f64, x: f64, height: f64) -> String {
    format!("{{ time = {time}, position = [{x}, 0, {}] }}", -height)
}

/// Where the free end of the bar is.
fn end(positions: &[Vec3]) -> Vec3 {
    let right = positions.iter().map(|x| x.x).fold(f32::NEG_INFINITY, f32::max);
    let last: Vec<Vec3> = positions.iter().copied().filter(|x| x.x > right - 0.3).collect();
    last.iter().sum::<Vec3>() / last.len() as f32
}

#[test]
fn a_moving_rod_pushes_a_blend_and_lets_it_go() {
    let keys = [key(0.0, 2.0, 2.0), key(1.0, 2.0, 0.3), key(2.0, 2.0, 2.0)].join(", ");
    let mut player = open(&scene(0.0, &keys));
    let (rest, _) = frame(&mut player, 0);
    let mut farthest = 0.0_f32;
    for i in (4..=72).step_by(4) {
        let (positions, depth) = frame(&mut player, i);
        // A thousandth of the diagonal is what a blend promises.
        assert!(depth < 6e-3, "frame {i}: {depth} deep");
        farthest = farthest.max(end(&rest).y - end(&positions).y);
    }
    assert!(farthest > 0.3, "the rod pushed the end by {farthest}");
    let (back, _) = frame(&mut player, 72);
    let off = back.iter().zip(&rest).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(off < 6e-3, "back where it was but for {off}");
}

#[test]
fn a_rod_that_slides_along_a_blend_drags_it_by_friction() {
    // It comes down onto the bar, then slides along it.
    let keys = [key(0.0, 1.5, 2.0), key(1.0, 1.5, 0.7), key(2.0, 2.5, 0.7)].join(", ");
    let stretched = |friction: f64| {
        let mut player = open(&scene(friction, &keys));
        let (positions, depth) = frame(&mut player, 48);
        assert!(depth < 6e-3, "{depth} deep at friction {friction}");
        positions.iter().map(|x| x.x).sum::<f32>() / positions.len() as f32
    };
    let (smooth, rough) = (stretched(0.0), stretched(0.8));
    assert!(rough > smooth + 1e-4, "dragged along: {rough}, smooth {smooth}");
}

/// A scene that comes with Supple, and its player.
fn shipped(name: &str) -> (Scene, Player) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let scene =
        Scene::load(&folder.join(name), Policy::default()).unwrap_or_else(|e| panic!("{e}"));
    let player = open(&scene);
    (scene, player)
}

fn positions(player: &mut Player, i: u32, body: usize) -> Vec<Vec3> {
    let mut frame = player.frame(i, &Run::default()).expect("a frame");
    assert!(frame.report.warnings.is_empty(), "frame {i}: {:?}", frame.report.warnings);
    frame.bodies.swap_remove(body).positions
}

fn rest(player: &Player, body: usize) -> TriMesh {
    player.cast()[body].rest.meshes[0].clone()
}

fn diagonal(x: &[Vec3]) -> f32 {
    Bounds::of(x).map_or(0.0, |b| b.diagonal())
}

fn apart(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max) / diagonal(a)
}

/// A body with so much of each of its morph targets, along straight lines.
fn target(player: &Player, body: usize, weights: &[(usize, f32)]) -> Vec<Vec3> {
    let body = &player.cast()[body].body;
    let mut x = body.mesh.positions.clone();
    for (morph, weight) in weights.iter().map(|(m, weight)| (&body.morphs[*m], weight)) {
        for (v, by) in morph.vertices.clone().zip(&morph.positions) {
            x[v as usize] += *weight * *by;
        }
    }
    x
}

/// Figure 3: a third of each, and both targets together, keep the volume where straight lines lose a quarter.
#[test]
fn three_shapes_keep_their_volume() {
    let (_, mut player) = shipped("blend-three.toml");
    let mesh = rest(&player, 0);
    let volume = |x: &[Vec3]| volume::volume(x, &mesh.triangles, &Run::default());
    let whole = volume(&mesh.positions);
    let third = positions(&mut player, 24, 0);
    let linear = target(&player, 0, &[(0, 1.0 / 3.0), (1, 1.0 / 3.0)]);
    let [found, straight] = [&third, &linear].map(|x| volume(x) / whole - 1.0);
    assert!(found.abs() < 0.01 && straight < -0.15, "{found}, along straight lines {straight}");
    let both = volume(&positions(&mut player, 48, 0)) / whole - 1.0;
    assert!(both.abs() < 0.015, "both: {both}");
}

/// Figure 4: both ends are met where they lie, and the middle goes the anchor's way.
#[test]
fn an_anchored_bar_meets_both_ends() {
    let (_, mut player) = shipped("blend-anchor.toml");
    let mesh = rest(&player, 0);
    assert!(apart(&positions(&mut player, 0, 0), &mesh.positions) < 1e-4, "the base");
    let end = positions(&mut player, 36, 0);
    assert!(apart(&end, &target(&player, 0, &[(0, 1.0)])) < 1e-4, "the target");
    let half = positions(&mut player, 18, 0);
    let volume = |x: &[Vec3]| volume::volume(x, &mesh.triangles, &Run::default());
    let off = volume(&half) / volume(&mesh.positions) - 1.0;
    assert!(off.abs() < 0.01, "{off}");
}

/// Figure 5: the pulled vertex arrives, its neighbours follow, and let go all is back.
#[test]
fn a_pulled_face_follows_and_goes_back() {
    let (scene, mut player) = shipped("blend-pull.toml");
    let entry = &scene.assets[0].pose[0];
    let text = format!("{entry:?}");
    let (before, pulled) = (positions(&mut player, 17, 0), positions(&mut player, 36, 0));
    let after = positions(&mut player, 47, 0);
    let way = |v: usize| pulled[v].distance(before[v]);
    let most = (0..before.len()).fold(0, |best, v| if way(v) > way(best) { v } else { best });
    assert!(text.contains(&most.to_string()), "vertex {most} moves most, not the one of {text}");
    let size = diagonal(&before);
    assert!(way(most) > 0.05 * size, "{} of {size}", way(most));
    let near = (0..before.len()).filter(|&v| before[v].distance(before[most]) < 0.03 * size);
    assert!(near.clone().count() > 3, "it has neighbours");
    for v in near {
        assert!(way(v) > 0.2 * way(most), "{v} follows: {} of {}", way(v), way(most));
    }
    assert!(apart(&before, &after) < 2e-4, "let go: {}", apart(&before, &after));
}

/// A pull that could do nothing is refused.
#[test]
fn what_is_held_is_not_pulled() {
    let (scene, player) = shipped("blend-pull.toml");
    let mesh = rest(&player, 0);
    let agrees = |v: &usize| mesh.morphs.iter().all(|m| m.positions[*v] == Vec3::ZERO);
    let still = (0..mesh.positions.len()).find(agrees).expect("a vertex where all shapes agree");
    let text = scene.to_toml().replace("vertex = 719", &format!("vertex = {still}"));
    let scene = Scene::parse(&text, None).unwrap_or_else(|p| panic!("{p}"));
    let refused = Player::open(&scene, &Folder::new(Path::new(".")), &Run::default());
    let error = refused.expect_err("nothing pulls what is held").to_string();
    assert!(error.contains(&format!("vertex {still} is held")), "{error}");
}

/// Section 6: the half that is painted stiff is strained at most half as much.
#[test]
fn a_stiff_half_keeps_its_lengths() {
    let (scene, mut player) = shipped("blend-stiff.toml");
    let text = scene.to_toml().replace("stiffness = \"stiff\"", "");
    let mut plain = open(&Scene::parse(&text, None).unwrap_or_else(|p| panic!("{p}")));
    let mesh = rest(&player, 0);
    let wanted = target(&player, 0, &[(0, 1.0)]);
    let edges = adjacency::edges(wanted.len(), &mesh.triangles);
    let strain = |x: &[Vec3]| {
        let right = edges.iter().filter(|e| e.iter().all(|&v| mesh.positions[v as usize].x > 0.3));
        let length = |x: &[Vec3], e: &[u32; 2]| x[e[0] as usize].distance(x[e[1] as usize]);
        let off: Vec<f32> =
            right.map(|e| (length(x, e) / length(&wanted, e) - 1.0).abs()).collect();
        off.iter().sum::<f32>() / off.len() as f32
    };
    let [stiff, soft] = [&mut player, &mut plain].map(|p| strain(&positions(p, 40, 0)));
    assert!(2.0 * stiff <= soft, "{stiff} of {soft}");
}

/// A rod that moves by more than half its thickness a step is not passed.
#[test]
fn a_driven_rod_is_not_passed() {
    let (_, mut player) = shipped("blend-driven.toml");
    let mesh = rest(&player, 0);
    for i in [8, 14, 19, 24] {
        let (now, depth) = frame(&mut player, i);
        assert!(depth < 1e-3 * diagonal(&mesh.positions), "frame {i}: {depth} deep");
        // What was below the rod at rest is below it still.
        let place = player.frame(i, &Run::default()).expect("a frame").colliders[0];
        let rod = place.translation;
        let under = mesh.positions.iter().zip(&now).filter(|(x, _)| (x.x - 1.5).abs() < 0.1);
        for (was, is) in under {
            let beyond = (is.x - rod.x).abs() < 0.2 && is.y > rod.y;
            assert!(!beyond, "frame {i}: {was} came to {is}, beyond the rod at {rod}");
        }
    }
    let (back, _) = frame(&mut player, 58);
    assert!(apart(&back, &mesh.positions) < 1e-4, "back: {}", apart(&back, &mesh.positions));
}

/// Figure 6: hand, man, cat and horse over 36 steps.
#[test]
fn creatures_bend_over_36_steps() {
    let (_, mut player) = shipped("blend-creatures.toml");
    let meshes: Vec<TriMesh> = (0..4).map(|b| rest(&player, b)).collect();
    let run = Run::default();
    let volume = |b: usize, x: &[Vec3]| volume::volume(x, &meshes[b].triangles, &run);
    let ends = [0, 36].map(|i| {
        let frame = player.frame(i, &run).expect("a frame");
        [0, 1, 2, 3].map(|b: usize| volume(b, &frame.bodies[b].positions))
    });
    let mut worst = [[0.0_f64; 2]; 4];
    for i in (1..36).step_by(5) {
        let frame = player.frame(i, &run).expect("a frame");
        assert!(frame.report.warnings.is_empty(), "{i}: {:?}", frame.report.warnings);
        for b in 0..4 {
            for (k, body) in [b, b + 4].into_iter().enumerate() {
                let x = &frame.bodies[body].positions;
                assert!(x.iter().all(|p| p.is_finite()), "frame {i}, body {body}");
                let between = ends[0][b] + f64::from(i) / 36.0 * (ends[1][b] - ends[0][b]);
                worst[b][k] = worst[b][k].max((volume(b, x) / between - 1.0).abs());
            }
        }
    }
    for (b, [springs, linear]) in worst.into_iter().enumerate() {
        assert!(springs < 0.02 && springs < 0.4 * linear, "body {b}: {springs}, linear {linear}");
    }
}

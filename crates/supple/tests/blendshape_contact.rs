//! Blends in scenes with colliders that move: they are pushed along, dragged by friction, and come back.

use std::path::Path;

use glam::Vec3;
use supple::Run;
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

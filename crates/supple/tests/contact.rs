//! Bodies in contact: with walls, bars, a ring, each other and themselves.

use std::path::Path;

use glam::Vec3;
use supple::Run;
use supple::mesh::intersect::self_intersections;
use supple::player::{Frame, Player};
use supple::scene::{Folder, Scene};

fn player(text: &str) -> Player {
    let folder = Folder::new(Path::new("."));
    let scene = Scene::parse(text, Some(&folder)).unwrap_or_else(|p| panic!("{p}"));
    Player::open(&scene, &folder, &Run::default()).unwrap_or_else(|e| panic!("{e}")).0
}

/// A scene of the project with a coarser asset.
fn demo(name: &str, replacements: &[(&str, &str)]) -> Player {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name);
    let mut text = std::fs::read_to_string(path).unwrap();
    for (from, to) in replacements {
        assert!(text.contains(from), "{name} has no {from}");
        text = text.replace(from, to);
    }
    player(&text)
}

/// The deepest vertex inside a collider, as a share of the collider's size.
fn deepest(player: &Player, frame: &Frame) -> f32 {
    let mut deepest = 0.0_f32;
    for (collider, place) in player.colliders().iter().zip(&frame.colliders) {
        let size = collider.size.unwrap_or(2.0);
        for x in frame.bodies.iter().flat_map(|b| &b.positions) {
            let local = place.to_local(*x);
            for part in collider.parts.iter().filter(|p| p.contains(local)) {
                deepest = deepest.max(-part.probe(local, Vec3::ZERO).distance / size);
            }
        }
    }
    deepest
}

#[test]
fn a_camel_falls_through_walls_and_bars() {
    let mut player =
        demo("ragdoll.toml", &[("zoo = \"camel\"", "zoo = \"camel\"\ntriangles = 3000")]);
    let run = Run::default();
    let mut touched = 0;
    for i in (0..player.frames()).step_by(3) {
        let frame = player.frame(i, &run).unwrap();
        let inside = deepest(&player, &frame);
        let (contact, volume) = (frame.report.contacts[0], frame.report.volume_errors[0].unwrap());
        touched += u32::from(contact.contacts > 0);
        let middle =
            frame.bodies[0].positions.iter().sum::<Vec3>() / frame.bodies[0].positions.len() as f32;
        println!("{i}: {middle} inside {inside:.1e} volume {volume:.1e} {contact:?}");
        assert!(inside <= 1e-3, "frame {i}: {inside}");
        assert!(volume.abs() < 0.05, "frame {i}: volume {volume}");
    }
    assert!(touched > 10, "it hits things: {touched}");
}

#[test]
fn a_head_goes_through_a_ring() {
    let mut player = demo("ring.toml", &[("triangles = 16532", "triangles = 5000")]);
    let run = Run::default();
    let rest = player.cast()[0].rest.meshes[0].clone();
    let before = self_intersections(&rest.positions, &rest.triangles, &run).unwrap().len();
    let mut passes = 0;
    for i in (0..player.frames()).step_by(3) {
        let frame = player.frame(i, &run).unwrap();
        let inside = deepest(&player, &frame);
        let (contact, volume) = (frame.report.contacts[0], frame.report.volume_errors[0].unwrap());
        passes += contact.passes;
        let positions = &frame.bodies[0].positions;
        let crossings = self_intersections(positions, &rest.triangles, &run).unwrap().len();
        let middle = positions.iter().sum::<Vec3>() / positions.len() as f32;
        println!(
            "{i}: {middle} inside {inside:.1e} volume {volume:.1e} crossings {before}->{crossings} {contact:?}"
        );
        assert!(inside <= 1e-3, "frame {i}: {inside}");
        assert!(volume.abs() < 0.02, "frame {i}: volume {volume}");
    }
    assert!(passes > 0, "the ring is too small for it");
    let last = player.frame(player.frames() - 1, &run).unwrap();
    let lowest = last.bodies[0].positions.iter().map(|x| x.y).fold(f32::INFINITY, f32::min);
    assert!(lowest > 0.0, "it is through: {lowest}");
}

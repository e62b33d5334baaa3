//! Smoke in scenes: the same bits however a frame is reached, and a clock of its own.

use supple::Run;
use supple::mesh::Values;
use supple::player::{Frame, Player};
use supple::scene::{Folder, Scene};

fn scene(fps: u32, rate: u32) -> Scene {
    let text = format!(
        r#"
supple = 1
name = "smoke"
[time]
end = "1 s"
fps = {fps}
[flow.stream]
zoo = "oscillating"
start = "0.5 s"
speed = 2
[[asset]]
name = "smoke"
empty = true
[[asset.modifier]]
kind = "smoke"
flow = "stream"
seed = [[-1, -0.5, 0], [-1, 0.5, 0]]
columns = 8
rows = 5
releases_per_second = {rate}
"#
    );
    Scene::parse(&text, None).unwrap_or_else(|e| panic!("{e}"))
}

fn player(scene: &Scene) -> Player {
    let here = std::env::temp_dir();
    Player::open(scene, &Folder::new(&here), &Run::default()).unwrap_or_else(|e| panic!("{e}")).0
}

fn frame(player: &mut Player, i: u32) -> Frame {
    player.frame(i, &Run::default()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_frame_has_the_same_bits_however_it_is_reached() {
    let scene = scene(24, 12);
    let mut straight = player(&scene);
    let frames: Vec<Frame> = (0..=24).map(|i| frame(&mut straight, i)).collect();
    let mut jumping = player(&scene);
    for i in [24, 3, 17, 4, 0, 24, 16] {
        let found = frame(&mut jumping, i);
        let (a, b) = (&found.bodies[0], &frames[i as usize].bodies[0]);
        assert!(a.positions == b.positions && a.channels == b.channels, "frame {i}");
        assert_eq!(a.topology, b.topology, "frame {i}");
    }
}

/// The flow's clock: start + speed × seconds. A streak in the oscillating stream has a closed form.
#[test]
fn columns_are_where_the_flows_clock_has_brought_them() {
    let mut player = player(&scene(24, 12));
    for i in [12, 13, 24] {
        let shown = frame(&mut player, i);
        let body = &shown.bodies[0];
        let now = 0.5 + 2.0 * f64::from(i) / 24.0;
        let Some(Values::Scalar(born)) = body.channels.get("born") else { panic!("born") };
        assert!(body.positions.len() >= 35, "frame {i}: {}", body.positions.len());
        for (x, &born) in body.positions.iter().zip(born) {
            let born = f64::from(born);
            let along = -1.0 + (now - born);
            assert!((f64::from(x.x) - along).abs() < 1e-5, "frame {i}: {x}");
            let up = 0.5 * ((2.0 * now).sin() - (2.0 * born).sin());
            let row = (f64::from(x.y) - up + 0.5) / 0.25;
            assert!((row - row.round()).abs() < 1e-4, "frame {i}: {x}");
        }
    }
}

/// What does not fit is said with the modifier's own words.
#[test]
fn what_does_not_fit_is_refused() {
    let here = std::env::temp_dir();
    let open = |scene: &Scene| Player::open(scene, &Folder::new(&here), &Run::default());
    let rate = open(&scene(24, 7)).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(rate.contains("divisor of 120"), "{rate}");
}

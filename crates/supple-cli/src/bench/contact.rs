//! Rows of `secondary` with collisions: the scenes of the camel and the ring, as a player plays them.

use std::time::Instant;

use anyhow::Context as _;
use supple::mesh::measure::Bounds;
use supple::player::Player;
use supple::rig::Skinning;
use supple::scene::{Folder, Scene};

use super::{Bench, Row, median_ms};

/// A scene of the paper's table with its frames a second there, and those wanted here.
struct Take {
    row: &'static str,
    scene: &'static str,
    paper: f64,
    target: f64,
}

const TAKES: [Take; 2] = [
    Take {
        row: "camel-19536",
        scene: include_str!("../../../../scenes/ragdoll.toml"),
        paper: 113.0,
        target: 800.0,
    },
    Take {
        row: "ring-16532",
        scene: include_str!("../../../../scenes/ring.toml"),
        paper: 95.0,
        target: 800.0,
    },
];

/// Frames a second of the take: each is two ticks.
const FPS: f64 = 60.0;

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    for take in TAKES.iter().filter(|take| bench.wants(take.row)) {
        frames(bench, take)?;
    }
    Ok(())
}

/// Frames a second over the whole take: rigid bodies, springs, contacts, deformation and normals.
fn frames(bench: &Bench<'_>, take: &Take) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let folder = Folder::new(".".as_ref());
    let mut scene = Scene::parse(take.scene, Some(&folder)).context(take.row)?;
    scene.time.fps = FPS;
    let (mut player, _) = Player::open(&scene, &folder, &run)?;
    let mut times = Vec::new();
    let (mut deepest, mut steps, mut touching, mut projected) = (0.0_f32, 0, 0, 0);
    let (mut worst, mut secondary_steps) = (0.0_f64, 0);
    for i in 0..player.frames() {
        let start = Instant::now();
        let frame = player.frame(i, &run)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        for contact in &frame.report.contacts {
            deepest = deepest.max(contact.deepest);
            steps = steps.max(contact.steps);
            touching += u32::from(contact.contacts > 0);
            projected += contact.projected;
        }
        let volumes = frame.report.volume_errors.iter().flatten();
        worst = volumes.fold(worst, |w, v| w.max(v.abs()));
        let sets = frame.report.secondary.iter().flatten();
        secondary_steps = sets.map(|s| s.steps).fold(secondary_steps, u32::max);
    }
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let floor = floor_ms(bench, &player)?;
    let body = &player.cast()[0].body.mesh;
    let size = Bounds::of(&player.cast()[0].rest.meshes[0].positions).map_or(1.0, |b| b.diagonal());
    bench.print(&Row {
        bench: "secondary",
        row: take.row,
        value: 1e3 / mean,
        unit: "fps",
        better: "higher",
        paper: Some(take.paper),
        target: Some(take.target),
        threads: bench.shell.threads(),
        note: format!(
            "{} triangles, mean of {} frames of two ticks, {touching} in contact up to {:.3} deep, {steps} \
             collision steps and {secondary_steps} of the sets at most, {projected} vertices projected, \
             volume {worst:.1e}, {:.1} times linear skinning",
            body.triangles.len(),
            times.len(),
            deepest / size,
            mean / floor
        ),
    })
}

/// Linear skinning of the same mesh.
fn floor_ms(bench: &Bench<'_>, player: &Player) -> anyhow::Result<f64> {
    let run = bench.shell.quiet_run();
    let body = &player.cast()[0].body;
    median_ms(bench.shell, || Ok(body.pose(body.rest_pose(), Skinning::Linear, &run)))
}

//! Rows of `procdef` with contact: crowds, as a player simulates them, and how deep they are in each other.

use anyhow::Context as _;
use supple::Run;
use supple::mesh::measure::Bounds;
use supple::mesh::winding::Winding;
use supple::player::{Frame, Player};
use supple::scene::{Folder, Scene};

use super::{Bench, Row, median_ms};

/// A scene of the project, the paper's time of a step in ms, and the one wanted here.
struct Crowd {
    row: &'static str,
    depth: &'static str,
    scene: &'static str,
    paper: f64,
    target: f64,
}

const CROWDS: [Crowd; 2] = [
    Crowd {
        row: "jellyfishes",
        depth: "jellyfishes-depth",
        scene: include_str!("../../../../scenes/procdef-jellyfishes.toml"),
        paper: 31.64,
        target: 0.55,
    },
    Crowd {
        row: "worms",
        depth: "worms-depth",
        scene: include_str!("../../../../scenes/procdef-worms.toml"),
        paper: 34.01,
        target: 0.60,
    },
];

/// When the measurement begins: by then bodies lie on each other.
const START_SECS: f64 = 4.0;

/// Frames between those that are looked at for depth: a quarter of a second.
const EVERY: usize = 6;

/// The deepest that a vertex may be in another body, as a share of a body's length.
const DEEPEST: f64 = 0.03;

/// Ticks of a repeat: enough that the clock does not matter.
const TICKS: u32 = 12;

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    for crowd in CROWDS.iter().filter(|crowd| bench.wants(crowd.row)) {
        ticks(bench, crowd)?;
    }
    for crowd in CROWDS.iter().filter(|crowd| bench.wants(crowd.depth)) {
        depth(bench, crowd)?;
    }
    Ok(())
}

/// The time of a tick through the player: stretches, motion, contact; no frames.
fn ticks(bench: &Bench<'_>, crowd: &Crowd) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let folder = Folder::new(".".as_ref());
    let scene = Scene::parse(crowd.scene, Some(&folder)).context(crowd.row)?;
    let (mut player, _) = Player::open(&scene, &folder, &run)?;
    let mut secs = START_SECS;
    player.simulate(secs, &run)?;
    let value = median_ms(bench.shell, || {
        secs += f64::from(TICKS) / 120.0;
        Ok(player.simulate(secs, &run)?)
    })? / f64::from(TICKS);
    bench.print(&Row {
        bench: "procdef",
        row: crowd.row,
        value,
        unit: "ms",
        better: "lower",
        paper: Some(crowd.paper),
        target: Some(crowd.target),
        threads: run.thread_count(),
        note: format!("a tick of {} bodies in contact, through the player", scene.assets.len()),
    })
}

/// How deep the deepest vertex of a skin is in another, at any time of the scene; bodies are of length one.
fn depth(bench: &Bench<'_>, crowd: &Crowd) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let folder = Folder::new(".".as_ref());
    let scene = Scene::parse(crowd.scene, Some(&folder)).context(crowd.row)?;
    let (mut player, _) = Player::open(&scene, &folder, &run)?;
    let mut deepest = (0.0, 0);
    for i in (0..player.frames()).step_by(EVERY) {
        let depth = deepest_in(&player.frame(i, &run)?, &run);
        if depth > deepest.0 {
            deepest = (depth, i);
        }
    }
    bench.print(&Row {
        bench: "procdef",
        row: crowd.depth,
        value: f64::from(deepest.0),
        unit: "lengths",
        better: "lower",
        paper: None,
        target: Some(DEEPEST),
        threads: run.thread_count(),
        note: format!("deepest vertex of {} skins, in frame {}", scene.assets.len(), deepest.1),
    })
}

fn deepest_in(frame: &Frame, run: &Run<'_>) -> f32 {
    let around = |x: &Vec<glam::Vec3>| Bounds::of(x).unwrap_or(Bounds::EMPTY);
    let bounds: Vec<Bounds> = frame.bodies.iter().map(|b| around(&b.positions)).collect();
    let one = |i: usize| {
        let (inside, around) = (&frame.bodies[i], &bounds[i]);
        let solid = Winding::new(&inside.positions, inside.topology.triangles(), &Run::default());
        let near = |j: &usize| *j != i && bounds[*j].overlaps(around);
        let others = (0..bounds.len()).filter(near).flat_map(|j| &frame.bodies[j].positions);
        let within = others.filter(|x| x.cmpge(around.min).all() && x.cmple(around.max).all());
        let depth = |x: &glam::Vec3| {
            let nearest = solid.bvh().closest_point(*x)?.point;
            Some(nearest.distance(*x))
        };
        within.filter(|x| solid.inside(**x)).filter_map(depth).fold(0.0_f32, f32::max)
    };
    run.map_tasks(bounds.len(), one).into_iter().fold(0.0, f32::max)
}

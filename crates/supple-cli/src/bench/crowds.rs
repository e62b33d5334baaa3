//! Rows of `procdef` with contact: crowds, as a player simulates them.

use anyhow::Context as _;
use supple::player::Player;
use supple::scene::{Folder, Scene};

use super::{Bench, Row, median_ms};

/// A scene of the project, the paper's time of a step in ms, and the one wanted here.
struct Crowd {
    row: &'static str,
    scene: &'static str,
    paper: f64,
    target: f64,
}

const CROWDS: [Crowd; 2] = [
    Crowd {
        row: "jellyfishes",
        scene: include_str!("../../../../scenes/procdef-jellyfishes.toml"),
        paper: 31.64,
        target: 0.55,
    },
    Crowd {
        row: "worms",
        scene: include_str!("../../../../scenes/procdef-worms.toml"),
        paper: 34.01,
        target: 0.60,
    },
];

/// When the measurement begins: by then bodies lie on each other.
const START_SECS: f64 = 4.0;

/// Ticks of a repeat: enough that the clock does not matter.
const TICKS: u32 = 12;

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    for crowd in CROWDS.iter().filter(|crowd| bench.wants(crowd.row)) {
        ticks(bench, crowd)?;
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

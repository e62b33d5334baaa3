//! Rows of `secondary` as a player plays them: table 5.1, the scenes of its figures with the triangles, segments and sets
//! it names, the camel and the ring with collisions.

use std::time::Instant;

use anyhow::Context as _;
use supple::mesh::measure::Bounds;
use supple::modifier::Modifier as _;
use supple::player::{Player, Report};
use supple::rig::Skinning;
use supple::scene::{Folder, Scene, Source};
use supple::secondary::modifier::Secondary;
use supple::{Run, zoo};

use super::secondary::{COW_BONES, STRETCH, segment, soften};
use super::{Bench, Row, median_ms};

/// A scene of the paper's table with its frames a second there, and those wanted here.
struct Take {
    row: &'static str,
    scene: &'static str,
    /// How many triangles its body has, if not as many as the scene says.
    triangles: Option<u32>,
    /// A cow has nine segments here, and what edits it is left out or not.
    cow: Option<Cow>,
    paper: f64,
    target: f64,
}

/// What is done to the cow besides moving it.
#[derive(Clone, Copy, PartialEq)]
enum Cow {
    Moved,
    MovedAndPulled,
}

const TAKES: [Take; 6] = [
    Take {
        row: "played-cow-5804",
        scene: include_str!("../../../../scenes/cow-flesh.toml"),
        triangles: Some(5804),
        cow: Some(Cow::Moved),
        paper: 375.0,
        target: 375.0,
    },
    Take {
        row: "played-boxer-15596",
        scene: include_str!("../../../../scenes/boxer-flesh.toml"),
        triangles: Some(15_596),
        cow: None,
        paper: 134.0,
        target: 134.0,
    },
    Take {
        row: "camel-19536",
        scene: include_str!("../../../../scenes/ragdoll.toml"),
        triangles: None,
        cow: None,
        paper: 113.0,
        target: 800.0,
    },
    Take {
        row: "ring-16532",
        scene: include_str!("../../../../scenes/ring.toml"),
        triangles: None,
        cow: None,
        paper: 95.0,
        target: 800.0,
    },
    Take {
        row: "played-movie-5804",
        scene: include_str!("../../../../scenes/cow-flesh.toml"),
        triangles: Some(5804),
        cow: Some(Cow::MovedAndPulled),
        paper: 328.0,
        target: 328.0,
    },
    Take {
        row: "played-large-345944",
        scene: include_str!("../../../../scenes/large.toml"),
        triangles: None,
        cow: None,
        paper: 12.0,
        target: 12.0,
    },
];

/// Frames a second of the take: each is two ticks.
const FPS: f64 = 60.0;

/// How often the springs are made softer or stiffer at most.
const SOFTENED: u32 = 8;

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    for take in TAKES.iter().filter(|take| bench.wants(take.row)) {
        frames(bench, take)?;
    }
    Ok(())
}

/// What a take did.
#[derive(Default)]
struct Statistics {
    times_ms: Vec<f64>,
    deepest: f32,
    collision_steps: u32,
    touching: u32,
    projected: u32,
    worst_volume: f64,
    by_contacts: f64,
    set_steps: u32,
    /// Of the sets over their radii, summed over the frames.
    stretch: f64,
    /// Vertices that sets moved, summed over the frames.
    moved: u64,
}

impl Statistics {
    fn frames(&self) -> f64 {
        self.times_ms.len() as f64
    }

    fn mean_stretch(&self) -> f64 {
        self.stretch / self.frames()
    }

    fn add(&mut self, report: &Report) {
        for contact in &report.contacts {
            self.deepest = self.deepest.max(contact.deepest);
            self.collision_steps = self.collision_steps.max(contact.steps);
            self.touching += u32::from(contact.contacts > 0);
            self.projected += contact.projected;
            self.by_contacts = self.by_contacts.max(contact.volume_change.abs());
        }
        for error in report.volume_errors.iter().flatten() {
            self.worst_volume = self.worst_volume.max(error.abs());
        }
        for figure in report.figures.iter().filter(|f| f.kind == Secondary::KIND) {
            match figure.name.as_ref() {
                "steps" => self.set_steps = self.set_steps.max(figure.value as u32),
                "stretch" => self.stretch += figure.value,
                "moved" => self.moved += figure.value as u64,
                _ => {}
            }
        }
    }
}

fn play(player: &mut Player, run: &Run<'_>) -> anyhow::Result<Statistics> {
    let mut went = Statistics::default();
    for i in 0..player.frames() {
        let start = Instant::now();
        let frame = player.frame(i, run)?;
        went.times_ms.push(start.elapsed().as_secs_f64() * 1e3);
        went.add(&frame.report);
    }
    Ok(went)
}

fn scene_of(take: &Take) -> anyhow::Result<Scene> {
    let mut scene = Scene::parse(take.scene, Some(&Folder::new(".".as_ref()))).context(take.row)?;
    scene.time.fps = FPS;
    let body = &mut scene.assets[0];
    if let (Source::Zoo { triangles, .. }, Some(_)) = (&mut body.source, take.triangles) {
        *triangles = take.triangles;
    }
    if take.cow == Some(Cow::Moved) {
        body.rest.clear();
    }
    Ok(scene)
}

fn opened(scene: &Scene, take: &Take, run: &Run<'_>) -> anyhow::Result<Player> {
    let folder = Folder::new(".".as_ref());
    if take.cow.is_none() {
        return Ok(Player::open(scene, &folder, run)?.0);
    }
    let size = zoo::Size { triangles: take.triangles.map(|n| n as usize) };
    let mut cow = zoo::build("cow", &size, run)?;
    segment(&mut cow, &COW_BONES);
    Ok(Player::new(scene, &folder, &mut |_| Ok(cow.clone()), run)?)
}

/// Frames a second over the whole take: rigid bodies, springs, contacts, deformation and normals. As in the other
/// rows, the springs are as soft as it takes for the mean stretch.
fn frames(bench: &Bench<'_>, take: &Take) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let mut scene = scene_of(take)?;
    let mut player = opened(&scene, take, &run)?;
    let mut went = play(&mut player, &run)?;
    for _ in 0..SOFTENED {
        let factor = went.mean_stretch() / STRETCH;
        if (factor - 1.0).abs() < 0.1 {
            break;
        }
        soften(&mut scene, factor.clamp(0.3, 3.0));
        player = opened(&scene, take, &run)?;
        went = play(&mut player, &run)?;
    }
    let mean = went.times_ms.iter().sum::<f64>() / went.frames();
    let floor = floor_ms(bench, &player)?;
    bench.print(&Row {
        bench: "secondary",
        row: take.row,
        value: 1e3 / mean,
        unit: "fps",
        better: "higher",
        paper: Some(take.paper),
        target: Some(take.target),
        threads: bench.shell.threads(),
        note: format!("{}; {:.1} times linear skinning", note(&went, &player), mean / floor),
    })
}

fn note(went: &Statistics, player: &Player) -> String {
    let cast = &player.cast()[0];
    let size = Bounds::of(&cast.rest.meshes[0].positions).map_or(1.0, |b| b.diagonal());
    let share = went.moved as f64 / went.frames() / cast.body.mesh.positions.len() as f64;
    format!(
        "{} triangles, {} segments, mean of {} frames of two ticks, {} in contact up to {:.3} deep, {} collision steps at \
         most, {} vertices projected, volume {:.1e}, of which contacts {:.1e}; sets on {:.0} % of the vertices, \
         stretch {:.2} R, {} steps at most",
        cast.body.mesh.triangles.len(),
        cast.body.joints.len(),
        went.frames(),
        went.touching,
        went.deepest / size,
        went.collision_steps,
        went.projected,
        went.worst_volume,
        went.by_contacts,
        100.0 * share,
        went.mean_stretch(),
        went.set_steps
    )
}

/// Linear skinning of the same mesh.
fn floor_ms(bench: &Bench<'_>, player: &Player) -> anyhow::Result<f64> {
    let run = bench.shell.quiet_run();
    let body = &player.cast()[0].body;
    median_ms(bench.shell, || Ok(body.pose(body.rest_pose(), Skinning::Linear, &run)))
}

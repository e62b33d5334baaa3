//! Rows of `procdef`: the paper's table of bodies, and what it leaves open: firmness, large bodies, fields.

use std::path::Path;

use glam::DVec3;
use supple::modifier::TICKS_PER_SECOND;
use supple::player::Player;
use supple::procdef::field::{Known, inside, space};
use supple::procdef::{Chart, Passes};
use supple::scene::{Folder, Scene};
use supple::zoo::tet_bodies;

use super::{Bench, Row, median_ms};

/// A row of the paper's table: a body of the zoo, and the paper's time of a step in ms. Crowds are in `crowds.rs`.
struct Bodies {
    row: &'static str,
    body: &'static str,
    vertices: usize,
    passes: Passes,
    paper: Option<f64>,
    target: f64,
}

const BODIES: [Bodies; 6] = [
    bodies("jellyfish", "jellyfish", 854, Passes::Plain(2), Some(4.37), 0.09),
    bodies("worm", "worm", 470, Passes::Plain(6), Some(5.04), 0.11),
    bodies("heart", "heart", 1302, Passes::Plain(6), Some(14.79), 0.28),
    bodies("bowel", "bowel", 1576, Passes::Plain(6), Some(17.49), 0.33),
    bodies("heart-firm", "heart", 1302, Passes::Accelerated(3), None, 0.16),
    bodies("large-100k", "bar", 100_000, Passes::Plain(4), None, 18.0),
];

const fn bodies(
    row: &'static str,
    body: &'static str,
    vertices: usize,
    passes: Passes,
    paper: Option<f64>,
    target: f64,
) -> Bodies {
    Bodies { row, body, vertices, passes, paper, target }
}

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    for bodies in BODIES.iter().filter(|b| bench.wants(b.row)) {
        ticks(bench, bodies)?;
    }
    super::crowds::run(bench)?;
    if bench.wants("rbf-3000") {
        in_space(bench)?;
    }
    if bench.wants("body-field-100k") {
        in_the_body(bench)?;
    }
    Ok(())
}

/// A scene of a body that waves.
fn scene(row: &Bodies) -> anyhow::Result<Scene> {
    let passes = match row.passes {
        Passes::Plain(n) => format!("{{ plain = {n} }}"),
        Passes::Accelerated(n) => format!("{{ accelerated = {n} }}"),
        Passes::Firmness(f) => format!("{{ firmness = {f:?} }}"),
    };
    let water = if row.body == "jellyfish" { "water = {}\n" } else { "" };
    let wave = Chart::wave(1.3, 1.0).primary;
    let text = format!(
        "supple = 2\n[time]\nend = \"1000 s\"\nfps = 24\n[[asset]]\nname = \"body\"\nempty = true\n\
         [[asset.world]]\nkind = \"procdef\"\ntets = {{ zoo = \"{}\", nodes = {} }}\n\
         passes = {passes}\n{water}charts = [{{ name = \"wave\", primary = {wave:?} }}]\n",
        row.body, row.vertices,
    );
    Ok(Scene::parse(&text, None)?)
}

/// The time of a tick with the chart moving, through the player: stretches and motion.
fn ticks(bench: &Bench<'_>, row: &Bodies) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let mesh = tet_bodies::build(row.body, Some(row.vertices))?;
    let scene = scene(row)?;
    let (mut player, _) = Player::open(&scene, &Folder::new(Path::new(".")), &run)?;
    // Enough ticks a repeat that the clock does not matter.
    let ticks = (200_000 / row.vertices).clamp(4, 100) as f64;
    let mut secs = 0.5;
    player.simulate(secs, &run)?;
    let value = median_ms(bench.shell, || {
        secs += ticks / f64::from(TICKS_PER_SECOND);
        Ok(player.simulate(secs, &run)?)
    })? / ticks;
    bench.print(&Row {
        bench: "procdef",
        row: row.row,
        value,
        unit: "ms",
        better: "lower",
        paper: row.paper,
        target: Some(row.target),
        threads: run.thread_count(),
        note: format!("a tick of {} vertices, {:?}", mesh.positions.len(), row.passes),
    })
}

/// 3,000 constraints with 6 right sides, evaluated at 10,000 places.
fn in_space(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let place = |k: u32| {
        let share = |by: f64| (f64::from(k) * by).fract();
        DVec3::new(share(0.754_877_666), share(0.569_840_291), share(0.426_150_3))
    };
    let value = |x: DVec3| [x.x, x.y * x.y, x.z, (3.0 * x.x).sin(), x.y, x.z * x.x];
    let known: Vec<Known<6>> =
        (0..3000).map(|k| Known { at: place(k), value: value(place(k)) }).collect();
    let milliseconds = median_ms(bench.shell, || {
        let field = space::Interpolant::new(&known, &run)?;
        Ok(run.map(10_000, |k| field.at(place(5000 + k as u32))[0]))
    })?;
    bench.print(&Row {
        bench: "procdef",
        row: "rbf-3000",
        value: milliseconds,
        unit: "ms",
        better: "lower",
        paper: None,
        target: Some(600.0),
        threads: run.thread_count(),
        note: "3000 constraints, 6 right sides, at 10,000 places".to_owned(),
    })
}

/// A harmonic field over 100,000 vertices.
fn in_the_body(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let bar = tet_bodies::build("bar", Some(100_000))?;
    let ends = bar.positions.iter().filter(|p| p.x.abs() > 2.499).take(200);
    let known: Vec<Known<1>> =
        ends.map(|p| Known { at: p.as_dvec3(), value: [f64::from(p.x)] }).collect();
    let value = median_ms(bench.shell, || {
        Ok(inside::interpolate(&bar, &known, inside::Smoothness::Harmonic, &run))
    })?;
    bench.print(&Row {
        bench: "procdef",
        row: "body-field-100k",
        value,
        unit: "ms",
        better: "lower",
        paper: None,
        target: Some(500.0),
        threads: run.thread_count(),
        note: format!("harmonic, {} vertices", bar.positions.len()),
    })
}

//! Rows of `procdef`: the paper's table of bodies, and what it leaves open: firmness, large bodies, fields.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use glam::DVec3;
use supple::Run;
use supple::modifier::TICKS_PER_SECOND;
use supple::player::Player;
use supple::procdef::field::{Known, inside, space};
use supple::procdef::{Chart, Passes};
use supple::scene::{Folder, Scene};
use supple::zoo::tet_bodies;

use super::{Bench, Row, foreign, median_ms};

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
    for (row, body) in [("pypbd-heart", "heart"), ("pypbd-worm", "worm")] {
        if let Some(bodies) = BODIES.iter().find(|b| b.row == body && bench.wants(row)) {
            beside_pypbd(bench, row, bodies)?;
        }
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

/// Both on one thread: pyPBD's shape matching of the very same regions, and a whole tick here.
fn beside_pypbd(bench: &Bench<'_>, row: &'static str, bodies: &Bodies) -> anyhow::Result<()> {
    let Passes::Plain(passes) = bodies.passes else { return Ok(()) };
    let mesh = tet_bodies::build(bodies.body, Some(bodies.vertices))?;
    let mut regions: Vec<BTreeSet<u32>> = (0..).take(mesh.positions.len()).map(alone).collect();
    for tet in &mesh.tets {
        tet.iter().for_each(|&v| regions[v as usize].extend(tet));
    }
    let nodes: Vec<[f32; 3]> = mesh.positions.iter().map(|x| x.to_array()).collect();
    let text = serde_json::json!({ "nodes": nodes, "tets": mesh.tets, "regions": regions });
    let path = std::env::temp_dir().join(format!("supple-{row}-{}.json", std::process::id()));
    std::fs::write(&path, text.to_string())?;
    let other = foreign::pypbd_matching(&path, passes);
    std::fs::remove_file(&path)?;
    let Some(other) = other else {
        bench.shell.say(format!("{row} is left out: pyPBD is not installed for this Python"));
        return Ok(());
    };
    let (ms, count) = least_ms(bench, bodies)?;
    let (version, theirs) = (other.version, other.ms);
    bench.print(&Row {
        bench: "procdef",
        row,
        value: theirs / ms,
        unit: "×",
        better: "higher",
        paper: None,
        target: Some(8.0),
        threads: 1,
        note: format!(
            "pyPBD {version} takes {theirs:.2} ms for {count} regions, {passes} iterations, ours {ms:.3}"
        ),
    })
}

fn alone(vertex: u32) -> BTreeSet<u32> {
    BTreeSet::from([vertex])
}

/// The least time of a tick on one thread, and of how many vertices: what else runs only ever adds.
fn least_ms(bench: &Bench<'_>, row: &Bodies) -> anyhow::Result<(f64, usize)> {
    const TICKS: u32 = 20;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let run = Run { threads: Some(&pool), ..bench.shell.quiet_run() };
    let (mut player, _) = Player::open(&scene(row)?, &Folder::new(Path::new(".")), &run)?;
    let (mut secs, mut least) = (0.5, f64::INFINITY);
    player.simulate(secs, &run)?;
    for _ in 0..60 {
        secs += f64::from(TICKS) / f64::from(TICKS_PER_SECOND);
        let start = Instant::now();
        player.simulate(secs, &run)?;
        least = least.min(1e3 * start.elapsed().as_secs_f64() / f64::from(TICKS));
    }
    Ok((least, tet_bodies::build(row.body, Some(row.vertices))?.positions.len()))
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

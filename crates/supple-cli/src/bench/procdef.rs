//! Rows of `procdef`: the paper's table of bodies, and what it leaves open: firmness, large bodies, fields.

use std::time::Instant;

use glam::DVec3;
use supple::Run;
use supple::procdef::chart::Sampled;
use supple::procdef::field::{Known, inside, space};
use supple::procdef::{
    Body, Chart, Design, Drive, Motion, Passes, Played, State, Stretches, Tissue, Water, Work,
};
use supple::zoo::tet_bodies;

use super::{Bench, Row, median_ms};

/// A row of the paper's table: a body of the zoo, how many of it, and the paper's time of a step in ms.
struct Bodies {
    row: &'static str,
    body: &'static str,
    vertices: usize,
    models: usize,
    passes: Passes,
    paper: Option<f64>,
    target: f64,
}

const BODIES: [Bodies; 8] = [
    bodies("jellyfish", "jellyfish", [854, 1], Passes::Plain(2), Some(4.37), 0.09),
    bodies("worm", "worm", [470, 1], Passes::Plain(6), Some(5.04), 0.11),
    bodies("jellyfishes", "jellyfish", [315, 31], Passes::Plain(1), Some(31.64), 0.55),
    bodies("worms", "worm", [73, 101], Passes::Plain(1), Some(34.01), 0.60),
    bodies("heart", "heart", [1302, 1], Passes::Plain(6), Some(14.79), 0.28),
    bodies("bowel", "bowel", [1576, 1], Passes::Plain(6), Some(17.49), 0.33),
    bodies("heart-firm", "heart", [1302, 1], Passes::Accelerated(3), None, 0.16),
    bodies("large-100k", "bar", [100_000, 1], Passes::Plain(4), None, 18.0),
];

const fn bodies(
    row: &'static str,
    body: &'static str,
    [vertices, models]: [usize; 2],
    passes: Passes,
    paper: Option<f64>,
    target: f64,
) -> Bodies {
    Bodies { row, body, vertices, models, passes, paper, target }
}

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    for bodies in BODIES.iter().filter(|b| bench.wants(b.row)) {
        ticks(bench, bodies)?;
    }
    if bench.wants("rbf-3000") {
        in_space(bench)?;
    }
    if bench.wants("body-field-100k") {
        in_the_body(bench)?;
    }
    Ok(())
}

/// One body with all that a tick of it needs.
struct Mover<'a> {
    body: &'a Body,
    tissue: &'a Tissue,
    chart: &'a Sampled,
    motion: Motion,
    state: State,
    work: Work,
    stretches: Stretches,
}

impl Mover<'_> {
    fn tick(&mut self, secs: f64, run: &Run<'_>) {
        let played = [Played { chart: self.chart, share: 1.0 }];
        self.tissue.stretch(&played, (self.chart, &[]), secs, &mut self.stretches);
        let drive = Drive::by(&self.stretches);
        self.body.tick(&self.motion, &drive, &mut self.state, &mut self.work, run);
    }
}

/// The time of a tick with the chart moving: stretches and motion.
fn ticks(bench: &Bench<'_>, row: &Bodies) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let mesh = tet_bodies::build(row.body, Some(row.vertices))?;
    let body = Body::new(&mesh)?;
    let fields = Design::default().fields(&mesh, &run)?.fields;
    let (tissue, chart) = (Tissue::new(&body, &fields), Chart::wave(1.3, 1.0).sampled()?);
    let water = (row.body == "jellyfish").then(Water::default);
    let motion = Motion { passes: row.passes, water, ..Motion::default() };
    let one = || Mover {
        body: &body,
        tissue: &tissue,
        chart: &chart,
        motion,
        state: State::at_rest(&body),
        work: Work::default(),
        stretches: Stretches::ones(&body),
    };
    let mut all: Vec<Mover<'_>> = (0..row.models).map(|_| one()).collect();
    // Enough ticks a repeat that the clock does not matter.
    let repeats = (200_000 / (row.vertices * row.models)).clamp(1, 100) as u32;
    let mut tick = 0_u32;
    let value = median_ms(bench.shell, || {
        let start = Instant::now();
        for _ in 0..repeats {
            tick += 1;
            let secs = f64::from(tick) / 120.0;
            match all.as_mut_slice() {
                [single] => single.tick(secs, &run),
                many => run.for_each_piece(many, 1, |_, bodies| {
                    bodies.iter_mut().for_each(|b| b.tick(secs, &Run::default()));
                }),
            }
        }
        Ok(start.elapsed())
    })? / f64::from(repeats);
    bench.print(&Row {
        bench: "procdef",
        row: row.row,
        value,
        unit: "ms",
        better: "lower",
        paper: row.paper,
        target: Some(row.target),
        threads: run.thread_count(),
        note: format!(
            "a tick of {} × {} vertices, {:?}",
            row.models,
            mesh.positions.len(),
            row.passes
        ),
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

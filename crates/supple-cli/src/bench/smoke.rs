//! Rows of `smoke`: the thesis' Table 7.1 at all its sizes, and how exactly tracers are carried.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use supple::flow::Flow;
use supple::flow::advect::{Tracer, tracer};
use supple::flow::analytic::Analytic;
use supple::flow::grid::Axis;
use supple::flow::sampled::Sampled;
use supple::player::Player;
use supple::scene::{Entry, FlowEntry, Folder, OpenFlows, Scene, Source, Time};
use supple::smoke::opacity::{Shade, Sheet, shade};
use supple::smoke::{Opacity, SmokeParams};
use supple::{Asset, TriMesh};
use supple_gpu::Renderer;
use supple_gpu::camera::Framing;
use supple_gpu::view::{Backdrop, Body, Paint, View, aspect};

use super::{Bench, Row, median_ms, sorted_ms};

/// Table 7.1, in milliseconds: vertices, integration, alpha and normals.
const TABLE: [(usize, [&str; 2], [f64; 2]); 6] = [
    (5_000, ["integrate-5k", "alpha-5k"], [6.0, 4.0]),
    (10_000, ["integrate-10k", "alpha-10k"], [13.0, 9.0]),
    (20_000, ["integrate-20k", "alpha-20k"], [21.0, 15.0]),
    (30_000, ["integrate-30k", "alpha-30k"], [31.0, 21.0]),
    (40_000, ["integrate-40k", "alpha-40k"], [39.0, 29.0]),
    (50_000, ["integrate-50k", "alpha-50k"], [48.0, 37.0]),
];

/// What 50,000 vertices may take, in milliseconds.
const TARGETS: [f64; 2] = [1.2, 0.6];

/// Vertices in a column.
const ROWS: usize = 250;

/// A step of one frame: a tenth of a cell.
const STEP: [f64; 2] = [0.2, 0.21];

pub(super) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    table(bench)?;
    frames(bench)?;
    seek(bench)?;
    scattered(bench)?;
    super::smoke_mesh::run(bench)?;
    picture(bench)?;
    super::smoke_files::run(bench)?;
    accuracy(bench)?;
    vtk(bench)
}

fn gyre(nodes: usize) -> anyhow::Result<Flow> {
    Ok(Sampled::of(Analytic::Gyre, [nodes; 3], &[0.0, 1.0])?.into_flow()?)
}

/// A coherent sheet in the gyre.
pub(super) fn sheet(vertices: usize) -> Vec<Tracer> {
    let columns = vertices / ROWS;
    let place = |i: usize| {
        let (c, r) = ((i / ROWS) as f64 / columns as f64, (i % ROWS) as f64 / ROWS as f64);
        tracer([0.2 + 1.5 * c, 0.3 + 0.2 * (6.0 * c).sin(), 0.05 + 0.9 * r])
    };
    (0..columns * ROWS).map(place).collect()
}

fn table(bench: &Bench<'_>) -> anyhow::Result<()> {
    let flow = gyre(64)?;
    for (vertices, rows, paper) in TABLE {
        let tracers = sheet(vertices);
        let targets = TARGETS.map(|ms| ms * vertices as f64 / 50_000.0);
        if bench.wants(rows[0]) {
            let value = integration_ms(bench, &flow, &tracers)?;
            let note = "RK4, gyre 64³, two levels";
            print(bench, rows[0], value, [Some(paper[0]), Some(targets[0])], note)?;
        }
        if bench.wants(rows[1]) {
            let (surface, mut shaded) = (laid_out(&tracers), Shade::default());
            let run = bench.shell.quiet_run();
            let value = median_ms(bench.shell, || {
                shade(&surface, &Opacity::default(), 1e-4, &mut shaded, &run);
                Ok(())
            })?;
            print(
                bench,
                rows[1],
                value,
                [Some(paper[1]), Some(targets[1])],
                "normals, four terms",
            )?;
        }
    }
    Ok(())
}

pub(super) fn integration_ms(
    bench: &Bench<'_>,
    flow: &Flow,
    tracers: &[Tracer],
) -> anyhow::Result<f64> {
    let times = integration_times(bench, flow, tracers)?;
    Ok(times[times.len() / 2])
}

/// Times of steps in milliseconds, the least first.
fn integration_times(
    bench: &Bench<'_>,
    flow: &Flow,
    tracers: &[Tracer],
) -> anyhow::Result<Vec<f64>> {
    let run = bench.shell.quiet_run();
    // Back again afterwards, so that every repeat does the same.
    let mut moving = tracers.to_vec();
    let mut forward = true;
    sorted_ms(bench.shell, || {
        let times = if forward { STEP } else { [STEP[1], STEP[0]] };
        forward = !forward;
        Ok(flow.advance(times, &mut moving, &run)?)
    })
}

fn laid_out(tracers: &[Tracer]) -> Sheet {
    let column = |column: &[Tracer]| {
        let of = |c: usize| column.iter().map(move |x| x[c] as f32);
        of(0).chain(of(1)).chain(of(2)).chain(of(3)).collect::<Vec<f32>>()
    };
    let columns: Vec<f32> = tracers.chunks(ROWS).flat_map(column).collect();
    let count = tracers.len() / ROWS;
    let life = (0..count).map(|i| 1.0 - (i + 1) as f64 / count as f64).collect();
    Sheet { rows: ROWS, columns, life, end_strips: [1.0; 2], joined: Vec::new() }
}

/// A frame of a scene: a step, and the surface with all its channels.
fn frames(bench: &Bench<'_>) -> anyhow::Result<()> {
    let rows = [("frame-5k", 5_000, Some(10.0), 0.2), ("frame-1m", 1_000_000, None, 40.0)];
    for (row, vertices, paper, target) in rows {
        if !bench.wants(row) {
            continue;
        }
        let rows = if vertices < 10_000 { 50 } else { 1000 };
        let columns = vertices / rows;
        let mut player = player(rows, columns, bench)?;
        let run = bench.shell.quiet_run();
        // Until the surface is complete.
        let mut frame = columns as u32;
        player.frame(frame, &run)?;
        let value = median_ms(bench.shell, || {
            frame += 1;
            let shown = player.frame(frame, &run)?;
            player.take_back(shown.bodies);
            Ok(())
        })?;
        print(bench, row, value, [paper, Some(target)], "step, opacity and mesh, by the player")?;
    }
    Ok(())
}

/// How often a second is sought back.
const SEEKS: usize = 9;

/// A seek back by a second with 100,000 particles: its time a tick that it replays, over that of ticks forward.
fn seek(bench: &Bench<'_>) -> anyhow::Result<()> {
    const ROW: &str = "seek-100k";
    if !bench.wants(ROW) {
        return Ok(());
    }
    let (mut player, run) = (player(500, 200, bench)?, bench.shell.quiet_run());
    let mut taken = |secs: f64| -> anyhow::Result<(u64, f64)> {
        let start = Instant::now();
        let ticks = player.simulate(secs, &run)?.max(1);
        Ok((ticks, start.elapsed().as_secs_f64() * 1e3 / ticks as f64))
    };
    let (mut ratios, mut replayed, mut back_ms) = (Vec::with_capacity(SEEKS), 0, 0.0);
    for k in 0..SEEKS {
        // The surface is complete after 200/24 s; what comes after this moment nobody has simulated yet.
        let end = 10.2 + k as f64;
        taken(end)?;
        let forth = taken(end + 1.0)?.1;
        let (ticks, back) = taken(end)?;
        ratios.push(back / forth);
        (replayed, back_ms) = (ticks, back * ticks as f64);
    }
    ratios.sort_by(f64::total_cmp);
    bench.print(&Row {
        bench: "smoke",
        row: ROW,
        value: ratios[SEEKS / 2],
        unit: "1",
        better: "lower",
        paper: None,
        target: Some(1.1),
        threads: run.thread_count(),
        note: format!(
            "a tick replayed over one forward; {replayed} ticks, {back_ms:.1} ms at last"
        ),
    })
}

/// A scene of one sheet in the gyre.
fn player(rows: usize, columns: usize, bench: &Bench<'_>) -> anyhow::Result<Player> {
    const RATE: u32 = 24;
    let params = SmokeParams {
        flow: "gyre".to_owned(),
        rows: rows as u32,
        columns: columns as u32,
        releases_per_second: RATE,
        seed: vec![[0.6, 0.3, 0.05], [0.6, 0.3, 0.95]],
        ..SmokeParams::default()
    };
    let mut scene = Scene::of("smoke", Source::Empty { empty: true });
    scene.time = Time { start: 0.0, end: 1e4, fps: f64::from(RATE) };
    scene.assets[0].world = vec![Entry::of("smoke", &params)];
    let entry = FlowEntry::of(Source::Zoo { zoo: "gyre".to_owned(), triangles: None });
    scene.flows.insert("gyre".to_owned(), FlowEntry { speed: 1e-3 * f64::from(RATE), ..entry });
    let flows: OpenFlows = [("gyre".to_owned(), Arc::new(gyre(64)?))].into();
    let folder = Folder::new(Path::new(".")).with_flows(&flows);
    let mut load = |_: &Source| Ok(Asset::from_mesh(TriMesh::default()));
    Ok(Player::new(&scene, &folder, &mut load, &bench.shell.quiet_run())?)
}

fn scattered(bench: &Bench<'_>) -> anyhow::Result<()> {
    const ROW: &str = "scattered-50k";
    if !bench.wants(ROW) {
        return Ok(());
    }
    let flow = gyre(256)?;
    let place = |i: u32| {
        let share = |k: f64| (f64::from(i) * k).fract();
        tracer([2.0 * share(0.754_877_666), share(0.569_840_291), share(0.618_033_989)])
    };
    let tracers: Vec<Tracer> = (0..50_000).map(place).collect();
    let value = integration_ms(bench, &flow, &tracers)?;
    print(bench, ROW, value, [None, Some(12.0)], "random vertices, 256³: memory bound")
}

/// The picture of a sheet of 50,000 vertices.
fn picture(bench: &Bench<'_>) -> anyhow::Result<()> {
    const ROW: &str = "picture-50k";
    if !bench.wants(ROW) {
        return Ok(());
    }
    let columns = 50_000 / ROWS;
    let frame = player(ROWS, columns, bench)?.frame(columns as u32, &bench.shell.quiet_run())?;
    let shown = &frame.bodies[0];
    let mut mesh = TriMesh::new(shown.positions.clone(), shown.topology.triangles().to_vec());
    mesh.attributes = shown.channels.clone();
    let mut renderer = Renderer::new()?;
    let size = [1280, 720];
    let mut framing = Framing::new(glam::Vec3::new(1.0, 0.6, 1.0), glam::Vec3::Y, aspect(size));
    framing.add(&mesh.positions);
    let view = View {
        bodies: vec![Body { paint: Paint::smoke([1.0; 3]), ..Body::new(&mesh) }],
        backdrop: Backdrop::Dark,
        ..View::through(framing.camera(), size)
    };
    let value = median_ms(bench.shell, || Ok(renderer.render(&view)?))?;
    print(
        bench,
        ROW,
        value,
        [Some(6.0), Some(1200.0)],
        "1280×720, this machine's adapter; the thesis on a GPU",
    )
}

/// `exp(S g)` for S = [[0.3, −1], [1, −0.3]].
fn swirled([x, y, z]: [f64; 3], t: f64) -> [f64; 3] {
    let g = t + t * t / 4.0;
    let w = 0.91_f64.sqrt();
    let (s, c) = ((w * g).sin() / w, (w * g).cos());
    [c * x + s * (0.3 * x - y), c * y + s * (x - 0.3 * y), z + 0.2 * g]
}

fn accuracy(bench: &Bench<'_>) -> anyhow::Result<()> {
    const ROW: &str = "swirl-error";
    if !bench.wants(ROW) {
        return Ok(());
    }
    bench.print(&Row {
        bench: "smoke",
        row: ROW,
        value: swirl_error(bench)?,
        unit: "1",
        better: "lower",
        paper: None,
        target: Some(2e-5),
        threads: bench.shell.threads(),
        note: "four levels, closed form at t = 3".to_owned(),
    })
}

/// How far tracers are from where the swirl's closed form has them.
fn swirl_error(bench: &Bench<'_>) -> anyhow::Result<f64> {
    let run = bench.shell.quiet_run();
    let axis = |low: f64, n: usize| Axis::even(low, 6.0 / (n - 1) as f64, n);
    let axes = [axis(-3.0, 25)?, axis(-3.0, 25)?, axis(-1.0, 25)?];
    let times = [0.0, 1.0, 2.0, 3.0];
    let flow = Sampled::new(axes, &times, |x, t| Analytic::Swirl.velocity(x, t)).into_flow()?;
    let starts: Vec<[f64; 3]> = (0..21).map(|j| [1.0, 0.025 * f64::from(j), 0.0]).collect();
    let mut tracers: Vec<Tracer> = starts.iter().map(|&x| tracer(x)).collect();
    for k in 0..60 {
        let at = |k: u32| 0.05 * f64::from(k);
        flow.advance([at(k), at(k + 1)], &mut tracers, &run)?;
    }
    let error = |(x, start): (&Tracer, &[f64; 3])| {
        let end = swirled(*start, 3.0);
        (0..3).map(|c| (x[c] - end[c]).powi(2)).sum::<f64>().sqrt()
    };
    Ok(tracers.iter().zip(&starts).map(error).fold(0.0, f64::max))
}

/// VTK's tracer beside ours: the same particles, the same step.
fn vtk(bench: &Bench<'_>) -> anyhow::Result<()> {
    const ROW: &str = "vtk-50k";
    if !bench.wants(ROW) {
        return Ok(());
    }
    let Some(other) = super::foreign::vtk_tracer() else {
        bench.shell.say("vtk-50k is left out: VTK is not installed for this Python");
        return Ok(());
    };
    // Least times of both: what else runs on the machine only ever adds.
    let ms = integration_times(bench, &gyre(64)?, &sheet(50_000))?[0];
    let note = format!(
        "VTK {} takes {:.0} ms, ours {ms:.2}; in the swirl it is off by {:.2}, ours by {:.1e}",
        other.version,
        other.ms,
        other.error,
        swirl_error(bench)?
    );
    bench.print(&Row {
        bench: "smoke",
        row: ROW,
        value: other.ms / ms,
        unit: "×",
        better: "higher",
        paper: None,
        target: Some(100.0),
        threads: bench.shell.threads(),
        note,
    })
}

pub(super) fn print(
    bench: &Bench<'_>,
    row: &'static str,
    value: f64,
    [paper, target]: [Option<f64>; 2],
    note: &str,
) -> anyhow::Result<()> {
    bench.print(&Row {
        bench: "smoke",
        row,
        value,
        unit: "ms",
        better: "lower",
        paper,
        target,
        threads: bench.shell.threads(),
        note: note.to_owned(),
    })
}

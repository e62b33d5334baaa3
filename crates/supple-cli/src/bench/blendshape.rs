//! Rows of `blendshape`: Table I of the paper on pairs of the zoo, and how well a bent bar keeps its volume.
//!
//! A pair is a model of the zoo and the same one bent by 110° and twisted by 60° along its longest side, at about the
//! vertices that Table I counts. Times are medians of the steps 1 to 35 of 36, each started from the ones before.

use std::time::Instant;

use glam::{Quat, Vec3};
use supple::blendshape::contact::{Interaction, Touch, World};
use supple::blendshape::obstacle::{Obstacle, Pose, Solid};
use supple::blendshape::{History, Params, Shapes, Solver, oracle};
use supple::mesh::{TriMesh, adjacency, volume};
use supple::run::Cancelled;
use supple::{Run, zoo};

use super::{Bench, Row};

/// Steps of a blend in Table I.
const STEPS: u32 = 36;

/// A row of Table I.
struct Case {
    row: &'static str,
    zoo: &'static str,
    triangles: usize,
    /// The paper's CPU, in milliseconds.
    paper: f64,
    target: f64,
    counts: &'static str,
}

const CASES: [Case; 4] = [
    Case {
        row: "man",
        zoo: "boxer",
        triangles: 2_800,
        paper: 2_230.0,
        target: 12.0,
        counts: "2.2k / 21.6k",
    },
    Case {
        row: "cat",
        zoo: "cow",
        triangles: 9_600,
        paper: 67_580.0,
        target: 80.0,
        counts: "7.3k / 81.7k",
    },
    Case {
        row: "horse",
        zoo: "camel",
        triangles: 11_200,
        paper: 81_360.0,
        target: 100.0,
        counts: "8.5k / 96.1k",
    },
    Case {
        row: "hand",
        zoo: "hand",
        triangles: 19_000,
        paper: 153_990.0,
        target: 180.0,
        counts: "18.6k / 150.4k",
    },
];

/// Two shapes.
struct Pair {
    mesh: TriMesh,
    target: Vec<Vec3>,
}

impl Pair {
    fn of(name: &str, triangles: usize, run: &Run<'_>) -> anyhow::Result<Self> {
        let size = zoo::Size { triangles: Some(triangles) };
        let mesh = zoo::build(name, &size, run)?.into_rest_mesh(run)?;
        let target = bent(&mesh.positions, 110.0, 60.0);
        Ok(Self { mesh, target })
    }

    fn solver(&self, run: &Run<'_>) -> anyhow::Result<Solver> {
        let shapes =
            Shapes::of_surface(&self.mesh.triangles, &self.mesh.positions, vec![&self.target]);
        Ok(Solver::new(&shapes, &Params::default(), run)?)
    }

    fn linear(&self, w: f32) -> Vec<Vec3> {
        self.mesh.positions.iter().zip(&self.target).map(|(a, b)| a.lerp(*b, w)).collect()
    }
}

/// Bent and twisted along the longest side, about the middle.
fn bent(positions: &[Vec3], bend_degrees: f32, twist_degrees: f32) -> Vec<Vec3> {
    let ends = positions.iter().fold((Vec3::MAX, Vec3::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
    let (size, middle) = (ends.1 - ends.0, 0.5 * (ends.0 + ends.1));
    let along = (0..3).fold(0, |best, k| if size[k] > size[best] { k } else { best });
    let up = (along + 1) % 3;
    let radius = size[along] / bend_degrees.to_radians();
    let mut axis = Vec3::ZERO;
    axis[along] = 1.0;
    let map = |x: &Vec3| {
        let d = *x - middle;
        let turn = Quat::from_axis_angle(axis, twist_degrees.to_radians() * d[along] / size[along]);
        let d = turn * d;
        let (sin, cos) = (d[along] / radius).sin_cos();
        let mut bent = d;
        bent[along] = (radius - d[up]) * sin;
        bent[up] = radius - (radius - d[up]) * cos;
        bent + middle
    };
    positions.iter().map(map).collect()
}

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    for case in &CASES {
        if bench.wants(case.row) {
            steps(bench, case)?;
        }
    }
    if bench.wants("jump-cat") {
        jump(bench)?;
    }
    if bench.wants("newton-oracle-horse") {
        against_newton(bench)?;
    }
    if bench.wants("contact-cat") {
        contact(bench)?;
    }
    if bench.wants("bar90-volume") || bench.wants("bar150-volume") || bench.wants("bar90-edges") {
        bars(bench)?;
    }
    Ok(())
}

fn row(name: &'static str, value: f64, unit: &'static str, target: f64) -> Row {
    Row {
        bench: "blendshape",
        row: name,
        value,
        unit,
        better: "lower",
        paper: None,
        target: Some(target),
        threads: 1,
        note: String::new(),
    }
}

/// What 36 steps cost, one after the other.
struct Course {
    median: f64,
    mean: f64,
    newton: f64,
    gradients: f64,
    not_proved: usize,
    worst_volume: [f64; 2],
}

fn course(bench: &Bench<'_>, pair: &Pair, solver: &Solver) -> anyhow::Result<Course> {
    let run = bench.shell.quiet_run();
    let mut history = History::default();
    let mut found = Course {
        median: 0.0,
        mean: 0.0,
        newton: 0.0,
        gradients: 0.0,
        not_proved: 0,
        worst_volume: [0.0; 2],
    };
    let mut times = Vec::new();
    let volume = |x: &[Vec3]| volume::volume(x, &pair.mesh.triangles, &run);
    let ends = [volume(&pair.mesh.positions), volume(&pair.target)];
    for k in 1..STEPS {
        if run.is_cancelled() {
            return Err(Cancelled.into());
        }
        let w = f64::from(k) / f64::from(STEPS);
        let start = Instant::now();
        let blend = solver.solve(&[w], &mut history, &run)?;
        times.push(1e3 * start.elapsed().as_secs_f64());
        found.newton += blend.report.newton_steps as f64 / f64::from(STEPS - 1);
        found.gradients += blend.report.gradient_steps as f64 / f64::from(STEPS - 1);
        found.not_proved += usize::from(!blend.report.is_proved);
        let between = ends[0] + w * (ends[1] - ends[0]);
        for (worst, x) in
            found.worst_volume.iter_mut().zip([&blend.positions, &pair.linear(w as f32)])
        {
            let error = volume(x) / between - 1.0;
            *worst = if error.abs() > worst.abs() { error } else { *worst };
        }
    }
    found.mean = times.iter().sum::<f64>() / times.len() as f64;
    times.sort_by(f64::total_cmp);
    found.median = times[times.len() / 2];
    Ok(found)
}

fn steps(bench: &Bench<'_>, case: &Case) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let pair = Pair::of(case.zoo, case.triangles, &run)?;
    let solver = pair.solver(&run)?;
    let found = course(bench, &pair, &solver)?;
    let n = solver.counts();
    let note = format!(
        "{} {:.1}k / {:.1}k (Table I {}), mean {:.1} ms, {:.1} Newton and {:.0} gradient steps, {} not proved; volume {:+.2} % (linear {:+.1} %)",
        case.zoo,
        n.nodes as f64 / 1e3,
        n.springs as f64 / 1e3,
        case.counts,
        found.mean,
        found.newton,
        found.gradients,
        found.not_proved,
        100.0 * found.worst_volume[0],
        100.0 * found.worst_volume[1],
    );
    let threads = bench.shell.threads();
    bench.print(&Row {
        paper: Some(case.paper),
        threads,
        note,
        ..row(case.row, found.median, "ms", case.target)
    })
}

/// Any weight, without history.
fn jump(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let pair = Pair::of(CASES[1].zoo, CASES[1].triangles, &run)?;
    let solver = pair.solver(&run)?;
    let mut times = Vec::new();
    for w in [0.5, 0.2, 0.8, 0.35, 0.65] {
        let start = Instant::now();
        solver.solve(&[w], &mut History::default(), &run)?;
        times.push(1e3 * start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let threads = bench.shell.threads();
    bench.print(&Row {
        threads,
        note: "five weights, no history".to_owned(),
        ..row("jump-cat", times[2], "ms", 200.0)
    })
}

/// How many times slower plain Newton with fresh factors is.
fn against_newton(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let pair = Pair::of(CASES[2].zoo, CASES[2].triangles, &run)?;
    let solver = pair.solver(&run)?;
    let start = Instant::now();
    let judge = oracle::newton(&solver, &[0.5], 1e-4, &run)?;
    let plain = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let found = solver.solve(&[0.5], &mut History::default(), &run)?;
    let ours = start.elapsed().as_secs_f64();
    let apart = judge
        .positions
        .iter()
        .zip(&found.positions)
        .map(|(a, b)| f64::from(a.distance(*b)))
        .fold(0.0, f64::max);
    let note = format!(
        "both from the predictor: {:.0} ms in {} steps, {:.0} ms; {:.1e} of the diagonal apart",
        1e3 * plain,
        judge.steps,
        1e3 * ours,
        apart / solver.diagonal()
    );
    let threads = bench.shell.threads();
    bench.print(&Row {
        better: "higher",
        threads,
        note,
        ..row("newton-oracle-horse", plain / ours, "times", 3.0)
    })
}

/// A step with contacts over a free one.
fn contact(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let pair = Pair::of(CASES[1].zoo, CASES[1].triangles, &run)?;
    let solver = pair.solver(&run)?;
    let interaction = Interaction::new(&solver, &run)?;
    let half = solver.solve(&[0.5], &mut History::default(), &run)?.positions;
    // A half-space that takes the lowest few dozen vertices.
    let mut heights: Vec<f32> = half.iter().map(|x| x.z).collect();
    heights.sort_by(f32::total_cmp);
    let at = glam::DVec3::new(0.0, 0.0, f64::from(heights[50.min(heights.len() - 1)]));
    let floor = Obstacle::still(
        Solid::HalfSpace { normal: glam::DVec3::Z },
        Pose { at, ..Pose::default() },
    );
    let obstacles = [floor];
    let world = World { obstacles: &obstacles, ..World::default() };
    let (mut history, mut touch, mut alone) =
        (History::default(), Touch::default(), History::default());
    let (mut times, mut contacts) = ([Vec::new(), Vec::new()], 0);
    for k in 14..22 {
        let w = [f64::from(k) / f64::from(STEPS)];
        let start = Instant::now();
        solver.solve(&w, &mut alone, &run)?;
        times[0].push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let blend = interaction.solve(&solver, &w, &world, (&mut touch, &mut history), &run)?;
        times[1].push(start.elapsed().as_secs_f64());
        contacts = contacts.max(blend.report.contacts);
    }
    let [free, touching] = times.map(|mut t| {
        t.sort_by(f64::total_cmp);
        t[t.len() / 2]
    });
    let note = format!(
        "{:.0} ms with up to {contacts} contacts, {:.0} ms free",
        1e3 * touching,
        1e3 * free
    );
    let threads = bench.shell.threads();
    bench.print(&Row { threads, note, ..row("contact-cat", touching / free, "times", 3.0) })
}

/// The bar of Figure 1, half bent.
fn bars(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let mesh =
        zoo::build("bar", &zoo::Size { triangles: Some(3_000) }, &run)?.into_rest_mesh(&run)?;
    for (name, degrees) in [("bar90-volume", 90.0), ("bar150-volume", 150.0)] {
        let pair = Pair { target: bent(&mesh.positions, degrees, 0.0), mesh: mesh.clone() };
        let half = pair.solver(&run)?.solve(&[0.5], &mut History::default(), &run)?.positions;
        let volume = |x: &[Vec3]| volume::volume(x, &mesh.triangles, &run);
        let between = 0.5 * (volume(&mesh.positions) + volume(&pair.target));
        let errors = [&half, &pair.linear(0.5)].map(|x| volume(x) / between - 1.0);
        if bench.wants(name) {
            let note = format!("linear {:.1} %", 100.0 * errors[1]);
            bench.print(&Row { note, ..row(name, errors[0].abs(), "", 3e-3) })?;
        }
        if degrees < 100.0 && bench.wants("bar90-edges") {
            let off = [&half, &pair.linear(0.5)].map(|x| edges_off(&pair, x));
            let note = format!("linear {:.1} %", 100.0 * off[1]);
            bench.print(&Row { note, ..row("bar90-edges", off[0], "", 2e-3) })?;
        }
    }
    Ok(())
}

/// Mean relative error of edges at one half.
fn edges_off(pair: &Pair, x: &[Vec3]) -> f64 {
    let edges = adjacency::edges(x.len(), &pair.mesh.triangles);
    let length = |x: &[Vec3], e: &[u32; 2]| f64::from(x[e[0] as usize].distance(x[e[1] as usize]));
    let off = |e: &[u32; 2]| {
        let wanted = 0.5 * (length(&pair.mesh.positions, e) + length(&pair.target, e));
        (length(x, e) / wanted - 1.0).abs()
    };
    edges.iter().map(off).sum::<f64>() / edges.len().max(1) as f64
}

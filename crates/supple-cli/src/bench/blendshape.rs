//! Rows of `blendshape`: Table I of the paper on pairs of the zoo, and how well a bent bar keeps its volume.
//!
//! A pair is a model of the zoo with morph targets, all at one: bent by 110° and twisted by 60° along its longest side, or the
//! front of the head with its jaw opened by 20° and a smile. Triangles and the spacing inside are chosen so that nodes and springs
//! are those of Table I within 5 %. A pair is a scene with the modifier, and a step a frame of the player: times are
//! medians of the frames 1 to 35 of 36, each started from the ones before.

use std::path::Path;
use std::time::Instant;

use glam::Vec3;
use supple::blendshape::contact::{Interaction, Touch, World};
use supple::blendshape::obstacle::{Obstacle, Pose, Solid};
use supple::blendshape::{
    Bending, Counts, History, Params, Report, Shapes, Solver, modifier, oracle,
};
use supple::mesh::{TriMesh, adjacency, volume};
use supple::modifier::{Source, Track, Value};
use supple::player::Player;
use supple::run::Cancelled;
use supple::scene::{Entry, Folder, Scene, Time};
use supple::{Asset, Run, zoo};

use super::{Bench, Row};

/// Steps of a blend in Table I.
const STEPS: u32 = 36;

/// Frames a second, and solves.
const RATE: u32 = 24;

/// A row of Table I.
struct Case {
    row: &'static str,
    zoo: &'static str,
    triangles: usize,
    /// Between inner nodes, in mean edges of the surface; none for the face, which is open.
    spacing: Option<f64>,
    /// The paper's CPU, in milliseconds.
    paper: f64,
    target: f64,
    /// Nodes and springs of Table I.
    counts: [f64; 2],
}

const MAN: Case = Case {
    row: "man",
    zoo: "morph-boxer",
    triangles: 3_000,
    spacing: Some(1.165),
    paper: 2_230.0,
    target: 12.0,
    counts: [2.2e3, 21.6e3],
};

const FACE: Case = Case {
    row: "face",
    zoo: "morph-face",
    triangles: 19_800,
    spacing: None,
    paper: 40_100.0,
    target: 180.0,
    counts: [8.1e3, 65.1e3],
};

const CAT: Case = Case {
    row: "cat",
    zoo: "morph-cow",
    triangles: 14_400,
    spacing: Some(6.3),
    paper: 67_580.0,
    target: 80.0,
    counts: [7.3e3, 81.7e3],
};

const HORSE: Case = Case {
    row: "horse",
    zoo: "morph-camel",
    triangles: 16_800,
    spacing: Some(6.2),
    paper: 81_360.0,
    target: 100.0,
    counts: [8.5e3, 96.1e3],
};

const HAND: Case = Case {
    row: "hand",
    zoo: "morph-hand",
    triangles: 10_360,
    spacing: Some(1.01),
    paper: 153_990.0,
    target: 180.0,
    counts: [18.6e3, 150.4e3],
};

/// Two shapes.
struct Pair {
    mesh: TriMesh,
    target: Vec<Vec3>,
    /// Of nodes inside, in mean edges; none for an open surface.
    spacing: Option<f64>,
}

impl Pair {
    fn of(case: &Case, run: &Run<'_>) -> anyhow::Result<Self> {
        let size = zoo::Size { triangles: Some(case.triangles) };
        let mesh = zoo::build(case.zoo, &size, run)?.meshes.swap_remove(0);
        let moved = |v: usize| mesh.morphs.iter().map(|m| m.positions[v]).sum::<Vec3>();
        let target = mesh.positions.iter().enumerate().map(|(v, x)| *x + moved(v)).collect();
        let mesh = TriMesh::new(mesh.positions, mesh.triangles);
        Ok(Self { mesh, target, spacing: case.spacing })
    }

    /// Table I has as many springs for the face as with opposite vertices alone.
    fn bending(&self) -> Bending {
        if self.spacing.is_some() { Bending::TwoRing } else { Bending::Opposite }
    }

    fn solver(&self, run: &Run<'_>) -> anyhow::Result<Solver> {
        let shapes =
            Shapes::of_surface(&self.mesh.triangles, &self.mesh.positions, vec![&self.target]);
        let params = Params {
            bending: self.bending(),
            spacing_edges: self.spacing.unwrap_or(1.0),
            ..Params::default()
        };
        Ok(Solver::new(&shapes, &params, run)?)
    }

    /// The blend over 36 frames as a scene, opened.
    fn player(&self, run: &Run<'_>) -> anyhow::Result<Player> {
        let file = |name: &str| Source::File { file: name.to_owned() };
        let params = modifier::Params {
            targets: vec![file("target")],
            weights: vec![Value::Track("weight".to_owned())],
            bending: self.bending(),
            spacing_edges: self.spacing.unwrap_or(1.0),
            rate: RATE,
            ..modifier::Params::default()
        };
        let mut scene = Scene::of("pair", file("base"));
        let end = f64::from(STEPS) / f64::from(RATE);
        scene.time = Time { start: 0.0, end, fps: f64::from(RATE) };
        let keys = vec![[0.0, 0.0], [end, 1.0]];
        scene.tracks.insert("weight".to_owned(), Track { keys, ..Track::default() });
        scene.assets[0].pose = vec![Entry::of("blendshape", &params)];
        let target = TriMesh::new(self.target.clone(), self.mesh.triangles.clone());
        let mut load = |source: &Source| {
            let is_target = matches!(source, Source::File { file } if file == "target");
            Ok(Asset::from_mesh(if is_target { target.clone() } else { self.mesh.clone() }))
        };
        Ok(Player::new(&scene, &Folder::new(Path::new(".")), &mut load, run)?)
    }

    fn linear(&self, w: f32) -> Vec<Vec3> {
        self.mesh.positions.iter().zip(&self.target).map(|(a, b)| a.lerp(*b, w)).collect()
    }
}

/// The bar along x as an arc of a circle.
fn bent(positions: &[Vec3], degrees: f32) -> Vec<Vec3> {
    let radius = 6.0 / degrees.to_radians();
    let bend = |p: &Vec3| {
        let (sin, cos) = (p.x / radius).sin_cos();
        Vec3::new((radius - p.y) * sin, radius - (radius - p.y) * cos, p.z)
    };
    positions.iter().map(bend).collect()
}

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    for case in &[MAN, FACE, CAT, HORSE, HAND] {
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
#[derive(Default)]
struct Course {
    median: f64,
    mean: f64,
    longest: f64,
    inverted: f64,
    newton: f64,
    gradients: f64,
    not_proved: usize,
    worst_volume: [f64; 2],
}

fn course(bench: &Bench<'_>, pair: &Pair) -> anyhow::Result<Course> {
    let run = bench.shell.quiet_run();
    let mut player = pair.player(&run)?;
    let mut found = Course::default();
    let mut times = Vec::new();
    let volume = |x: &[Vec3]| volume::volume(x, &pair.mesh.triangles, &run);
    let ends = [volume(&pair.mesh.positions), volume(&pair.target)];
    player.frame(0, &run)?;
    for k in 1..STEPS {
        if run.is_cancelled() {
            return Err(Cancelled.into());
        }
        let w = f64::from(k) / f64::from(STEPS);
        let start = Instant::now();
        let frame = player.frame(k, &run)?;
        times.push(1e3 * start.elapsed().as_secs_f64());
        let told = |name: &str| {
            frame.report.figures.iter().find(|f| f.name == name).map_or(0.0, |f| f.value)
        };
        found.newton += told("newton steps") / f64::from(STEPS - 1);
        found.gradients += told("gradient steps") / f64::from(STEPS - 1);
        found.inverted = found.inverted.max(told("inverted tets"));
        found.not_proved += usize::from(!frame.report.warnings.is_empty());
        let between = ends[0] + w * (ends[1] - ends[0]);
        let linear = pair.linear(w as f32);
        for (worst, x) in found.worst_volume.iter_mut().zip([&frame.bodies[0].positions, &linear]) {
            let error = volume(x) / between - 1.0;
            *worst = if error.abs() > worst.abs() { error } else { *worst };
        }
    }
    found.mean = times.iter().sum::<f64>() / times.len() as f64;
    found.longest = times.iter().copied().fold(0.0, f64::max);
    found.median = median(times);
    Ok(found)
}

fn steps(bench: &Bench<'_>, case: &Case) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let pair = Pair::of(case, &run)?;
    let found = course(bench, &pair)?;
    let n: Counts = pair.solver(&run)?.counts();
    let note = format!(
        "Fig. 6, {} {:.1}k / {:.1}k (Table I {:+.0} / {:+.0} %), mean {:.1} ms, longest {:.0} ms, {:.1} Newton and {:.0} gradient steps, {} not proved, {} tets inverted; volume {:+.2} % (linear {:+.1} %)",
        case.zoo,
        n.nodes as f64 / 1e3,
        n.springs as f64 / 1e3,
        100.0 * (n.nodes as f64 / case.counts[0] - 1.0),
        100.0 * (n.springs as f64 / case.counts[1] - 1.0),
        found.mean,
        found.longest,
        found.newton,
        found.gradients,
        found.not_proved,
        found.inverted,
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

/// The middle of some numbers.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Any weight, without history.
fn jump(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let pair = Pair::of(&CAT, &run)?;
    let solver = pair.solver(&run)?;
    let (mut times, mut newton, mut gradients, mut not_proved) = (Vec::new(), 0, 0, 0);
    // The first solve also lays out the pattern of the curvature, once for all.
    solver.solve(&[0.5], &mut History::default(), &run)?;
    let weights = [0.5, 0.2, 0.8, 0.35, 0.65, 0.05, 0.95];
    for w in weights {
        let start = Instant::now();
        let report = solver.solve(&[w], &mut History::default(), &run)?.report;
        times.push(1e3 * start.elapsed().as_secs_f64());
        newton += report.newton_steps;
        gradients += report.gradient_steps;
        not_proved += usize::from(!report.is_proved);
    }
    let count = weights.len() as f64;
    let longest = times.iter().copied().fold(0.0, f64::max);
    let note = format!(
        "{count} weights of the cat of Fig. 6, no history; longest {longest:.0} ms, {:.1} Newton and {:.0} gradient steps, {not_proved} not proved",
        newton as f64 / count,
        gradients as f64 / count,
    );
    let threads = bench.shell.threads();
    bench.print(&Row { threads, note, ..row("jump-cat", median(times), "ms", 200.0) })
}

/// How many times slower plain Newton with fresh factors is, from the same extrapolated starts.
fn against_newton(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let pair = Pair::of(&HORSE, &run)?;
    let solver = pair.solver(&run)?;
    let mut history = History::default();
    let (mut times, mut steps, mut apart) = ([Vec::new(), Vec::new()], 0, 0.0_f64);
    for k in 10..22 {
        let w = [f64::from(k) / f64::from(STEPS)];
        let before = history.clone();
        let start = Instant::now();
        let found = solver.solve(&w, &mut history, &run)?;
        let ours = start.elapsed().as_secs_f64();
        // The first ones have no history to start from.
        if k < 16 {
            continue;
        }
        let start = Instant::now();
        let judge = oracle::newton(&solver, &w, (&before, 1e-4), &run)?;
        times[1].push(start.elapsed().as_secs_f64());
        times[0].push(ours);
        steps += judge.steps;
        let off = judge.positions.iter().zip(&found.positions);
        let off = off.map(|(a, b)| f64::from(a.distance(*b))).fold(0.0, f64::max);
        apart = apart.max(off / solver.diagonal());
    }
    let count = times[0].len();
    let [ours, plain] = times.map(median);
    let note = format!(
        "medians of {count} steps from the same starts: {:.0} ms in {:.1} steps, {:.0} ms; up to {apart:.1e} of the diagonal apart",
        1e3 * plain,
        f64::from(steps as u32) / count as f64,
        1e3 * ours,
    );
    let threads = bench.shell.threads();
    bench.print(&Row {
        better: "higher",
        threads,
        note,
        ..row("newton-oracle-horse", plain / ours, "times", 3.0)
    })
}

/// Contacts that a step has, about.
const CONTACTS: usize = 50;

/// A wall at the flank, so deep that it takes so many vertices of a shape.
fn wall(shape: &[Vec3], vertices: usize) -> Obstacle {
    let mut sides: Vec<f32> = shape.iter().map(|x| x.x).collect();
    sides.sort_by(f32::total_cmp);
    let x = f64::from(sides[vertices.min(sides.len() - 1)]);
    let pose = Pose { at: glam::DVec3::new(x, 0.0, 0.0), ..Pose::default() };
    Obstacle::still(Solid::HalfSpace { normal: glam::DVec3::X }, pose)
}

/// A step with contacts over a free one.
fn contact(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let pair = Pair::of(&CAT, &run)?;
    let solver = pair.solver(&run)?;
    let interaction = Interaction::new(&solver, &run)?;
    // A wall that about so many vertices of the middle step touch.
    let middle = [20.5 / f64::from(STEPS)];
    let shape = solver.solve(&middle, &mut History::default(), &run)?.positions;
    let mut vertices = CONTACTS;
    let mut obstacles = [wall(&shape, vertices)];
    for _ in 0..6 {
        let world = World { obstacles: &obstacles, ..World::default() };
        let state = (&mut Touch::default(), &mut History::default());
        let contacts =
            interaction.solve(&solver, &middle, &world, state, &run)?.report.contacts.max(1);
        if contacts.abs_diff(CONTACTS) <= CONTACTS / 20 {
            break;
        }
        let share = (CONTACTS as f64 / contacts as f64).clamp(0.25, 4.0);
        vertices = (vertices as f64 * share).ceil() as usize;
        obstacles = [wall(&shape, vertices)];
    }
    let world = World { obstacles: &obstacles, ..World::default() };
    let (mut history, mut touch, mut alone) =
        (History::default(), Touch::default(), History::default());
    let (mut times, mut contacts, mut steps) = ([Vec::new(), Vec::new()], Vec::new(), [0; 3]);
    for k in 12..26 {
        let w = [f64::from(k) / f64::from(STEPS)];
        let start = Instant::now();
        solver.solve(&w, &mut alone, &run)?;
        let free = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let blend = interaction.solve(&solver, &w, &world, (&mut touch, &mut history), &run)?;
        let touching = start.elapsed().as_secs_f64();
        // The first ones have no history to start from.
        if k >= 16 {
            times[0].push(free);
            times[1].push(touching);
            contacts.push(blend.report.contacts);
            let Report { rounds, newton_steps, gradient_steps, .. } = blend.report;
            steps = [steps[0] + rounds, steps[1] + newton_steps, steps[2] + gradient_steps];
        }
    }
    contacts.sort_unstable();
    let mean = steps.map(|s| s as f64 / contacts.len() as f64);
    let [free, touching] = times.map(median);
    let note = format!(
        "Fig. 2, {:.0} ms with {} to {} contacts, {:.0} ms free; {:.1} rounds, {:.1} Newton and {:.0} gradient steps",
        1e3 * touching,
        contacts[0],
        contacts[contacts.len() - 1],
        1e3 * free,
        mean[0],
        mean[1],
        mean[2],
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
        let target = bent(&mesh.positions, degrees);
        let pair = Pair { mesh: mesh.clone(), target, spacing: Some(1.0) };
        let half = pair.solver(&run)?.solve(&[0.5], &mut History::default(), &run)?.positions;
        let volume = |x: &[Vec3]| volume::volume(x, &mesh.triangles, &run);
        let between = 0.5 * (volume(&mesh.positions) + volume(&pair.target));
        let errors = [&half, &pair.linear(0.5)].map(|x| volume(x) / between - 1.0);
        if bench.wants(name) {
            let note = format!("Fig. 1, linear {:.1} %", 100.0 * errors[1]);
            bench.print(&Row { note, ..row(name, errors[0].abs(), "", 3e-3) })?;
        }
        if degrees < 100.0 && bench.wants("bar90-edges") {
            let off = [&half, &pair.linear(0.5)].map(|x| edges_off(&pair, x));
            let note = format!("Fig. 1, linear {:.1} %", 100.0 * off[1]);
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

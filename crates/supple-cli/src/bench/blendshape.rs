//! Rows of `blendshape`: Table I of the paper on pairs of the zoo, and how well a bent bar keeps its volume.
//!
//! A pair is a model of the zoo and the same one bent by 110° and twisted by 60° along its longest side, or the front of the
//! head with its jaw opened by 20° and a smile. Triangles and the spacing inside are chosen so that nodes and springs
//! are those of Table I within 5 %. Times are medians of the steps 1 to 35 of 36, each started from the ones before.

use std::time::Instant;

use glam::{Quat, Vec3};
use supple::blendshape::contact::{Interaction, Touch, World};
use supple::blendshape::obstacle::{Obstacle, Pose, Solid};
use supple::blendshape::{Bending, History, Params, Shapes, Solver, oracle};
use supple::mesh::tetrahedralize::{body, fill};
use supple::mesh::{TetMesh, TriMesh, adjacency, volume};
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
    /// Between inner nodes, in mean edges of the surface; none for the face, which is open.
    spacing: Option<f32>,
    /// The paper's CPU, in milliseconds.
    paper: f64,
    target: f64,
    /// Nodes and springs of Table I.
    counts: [f64; 2],
}

const MAN: Case = Case {
    row: "man",
    zoo: "boxer",
    triangles: 3_000,
    spacing: Some(1.165),
    paper: 2_230.0,
    target: 12.0,
    counts: [2.2e3, 21.6e3],
};

const FACE: Case = Case {
    row: "face",
    zoo: "head",
    triangles: 19_800,
    spacing: None,
    paper: 40_100.0,
    target: 180.0,
    counts: [8.1e3, 65.1e3],
};

const CAT: Case = Case {
    row: "cat",
    zoo: "cow",
    triangles: 14_400,
    spacing: Some(6.3),
    paper: 67_580.0,
    target: 80.0,
    counts: [7.3e3, 81.7e3],
};

const HORSE: Case = Case {
    row: "horse",
    zoo: "camel",
    triangles: 16_800,
    spacing: Some(6.2),
    paper: 81_360.0,
    target: 100.0,
    counts: [8.5e3, 96.1e3],
};

const HAND: Case = Case {
    row: "hand",
    zoo: "hand",
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
    inside: Option<TetMesh>,
}

impl Pair {
    fn of(case: &Case, run: &Run<'_>) -> anyhow::Result<Self> {
        let size = zoo::Size { triangles: Some(case.triangles) };
        let mesh = zoo::build(case.zoo, &size, run)?.into_rest_mesh(run)?;
        let Some(spacing) = case.spacing else {
            return Ok(Self::face(&mesh));
        };
        let target = bent(&mesh.positions, 110.0, 60.0);
        let spacing = Some(spacing * mean_edge(&mesh));
        let inside = Some(fill(&mesh, &fill::Params { spacing }, run)?.mesh);
        Ok(Self { mesh, target, inside })
    }

    /// The front of the head; the jaw turned by 20° about the ears, the corners of the mouth up and out.
    fn face(head: &TriMesh) -> Self {
        let is_front = |v: &u32| {
            let p = head.positions[*v as usize];
            p.z > -0.01 && p.y > 0.09
        };
        let triangles: Vec<[u32; 3]> =
            head.triangles.iter().copied().filter(|t| t.iter().all(is_front)).collect();
        let mut names = vec![u32::MAX; head.positions.len()];
        let mut positions = Vec::new();
        let mut name = |v: u32| {
            let known = &mut names[v as usize];
            if *known == u32::MAX {
                *known = positions.len() as u32;
                positions.push(head.positions[v as usize]);
            }
            *known
        };
        let triangles = triangles.iter().map(|t| t.map(&mut name)).collect();
        let target = positions.iter().map(smiling).collect();
        Self { mesh: TriMesh::new(positions, triangles), target, inside: None }
    }

    fn solver(&self, run: &Run<'_>) -> anyhow::Result<Solver> {
        let shapes = Shapes {
            inside: self.inside.as_ref(),
            ..Shapes::of_surface(&self.mesh.triangles, &self.mesh.positions, vec![&self.target])
        };
        // Table I has as many springs for the face as with these.
        let bending = if self.inside.is_some() { Bending::TwoRing } else { Bending::Opposite };
        Ok(Solver::new(&shapes, &Params { bending, ..Params::default() }, run)?)
    }

    fn linear(&self, w: f32) -> Vec<Vec3> {
        self.mesh.positions.iter().zip(&self.target).map(|(a, b)| a.lerp(*b, w)).collect()
    }
}

/// Where a vertex of the zoo's head is with its jaw open and a smile.
fn smiling(p: &Vec3) -> Vec3 {
    let ease = |x: f32| {
        let x = x.clamp(0.0, 1.0);
        x * x * (3.0 - 2.0 * x)
    };
    let hinge = Vec3::new(0.0, 0.175, 0.0);
    let open = 20.0_f32.to_radians() * ease((0.150 - p.y) / 0.02) * ease(p.z / 0.05);
    let mut x = hinge + Quat::from_rotation_x(open) * (*p - hinge);
    for side in [-1.0, 1.0] {
        let corner = Vec3::new(side * 0.026, 0.14, 0.09);
        let near = (-(p.distance(corner) / 0.018).powi(2)).exp();
        x += near * Vec3::new(side * 0.008, 0.008, -0.004);
    }
    x
}

fn mean_edge(mesh: &TriMesh) -> f32 {
    let edges = adjacency::edges(mesh.positions.len(), &mesh.triangles);
    let length =
        |e: &[u32; 2]| mesh.positions[e[0] as usize].distance(mesh.positions[e[1] as usize]);
    edges.iter().map(length).sum::<f32>() / edges.len().max(1) as f32
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
    if bench.wants("tetrahedralize-10k") {
        filling(bench)?;
    }
    if bench.wants("tetrahedralize-min-dihedral") {
        dihedral(bench)?;
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
    let pair = Pair::of(case, &run)?;
    let solver = pair.solver(&run)?;
    let found = course(bench, &pair, &solver)?;
    let n = solver.counts();
    let note = format!(
        "{} {:.1}k / {:.1}k (Table I {:+.0} / {:+.0} %), mean {:.1} ms, {:.1} Newton and {:.0} gradient steps, {} not proved; volume {:+.2} % (linear {:+.1} %)",
        case.zoo,
        n.nodes as f64 / 1e3,
        n.springs as f64 / 1e3,
        100.0 * (n.nodes as f64 / case.counts[0] - 1.0),
        100.0 * (n.springs as f64 / case.counts[1] - 1.0),
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
    let pair = Pair::of(&CAT, &run)?;
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
    let [ours, plain] = times.map(|mut t| {
        t.sort_by(f64::total_cmp);
        t[t.len() / 2]
    });
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

/// A model of 10k triangles filled.
fn filling(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let size = zoo::Size { triangles: Some(10_000) };
    let mesh = zoo::build("camel", &size, &run)?.into_rest_mesh(&run)?;
    let (mut times, mut told) = (Vec::new(), String::new());
    for _ in 0..5 {
        let start = Instant::now();
        let filled = fill(&mesh, &fill::Params::default(), &run)?;
        times.push(1e3 * start.elapsed().as_secs_f64());
        let r = &filled.report;
        told = format!(
            "camel, {} vertices and {} inside, {} tets, volume {:.4} of the surface's",
            r.surface_vertices, r.interior_nodes, r.tets, r.volume_ratio
        );
    }
    times.sort_by(f64::total_cmp);
    let threads = bench.shell.threads();
    bench.print(&Row { threads, note: told, ..row("tetrahedralize-10k", times[2], "ms", 400.0) })
}

/// The smallest angle in bodies of the zoo's creatures.
fn dihedral(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let (mut least, mut at) = (f64::INFINITY, "");
    let names = ["ball", "bar", "boxer", "camel", "cow", "dragon", "hand", "head", "torus"];
    for name in names {
        let size = zoo::Size { triangles: Some(6_000) };
        let mesh = zoo::build(name, &size, &run)?.into_rest_mesh(&run)?;
        let made = body(&mesh, &body::Params { nodes: 1_500, ..body::Params::default() }, &run)?;
        if made.report.dihedral_degrees[0] < least {
            (least, at) = (made.report.dihedral_degrees[0], name);
        }
    }
    let note = format!("{} models at 1,500 nodes; the least is of the {at}", names.len());
    let row = row("tetrahedralize-min-dihedral", least, "°", 10.0);
    bench.print(&Row { better: "higher", note, ..row })
}

/// A step with contacts over a free one.
fn contact(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let pair = Pair::of(&CAT, &run)?;
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
        let target = bent(&mesh.positions, degrees, 0.0);
        let spacing = Some(mean_edge(&mesh));
        let inside = Some(fill(&mesh, &fill::Params { spacing }, &run)?.mesh);
        let pair = Pair { mesh: mesh.clone(), target, inside };
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

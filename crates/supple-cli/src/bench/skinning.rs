//! Rows of `skinning`: the thesis' figure of chapter 6, and how exactly volume is kept by the method that retreats.

use glam::{Mat4, Quat, Vec3};
use supple::mesh::intersect::self_intersections;
use supple::rig::{Body, Pose, Skinning, Transform};
use supple::skinning::{Method, Params, Solver};
use supple::{Run, zoo};

use super::{Bench, Row, median_ms};

/// Triangles of the thesis' figure.
const TRIANGLES: usize = 20_000;

/// Poses that are measured together, one after the other, as they follow in a take.
const IN_A_ROW: u32 = 8;

/// The thesis: 28 ms a joint on a notebook of 2008.
const THESIS_MS: f64 = 28.0;

/// A pose of the bar's second bone.
struct Case {
    what: &'static str,
    turn: fn() -> Quat,
    twists: bool,
}

const CASES: [Case; 3] = [
    Case {
        what: "bend 90°", turn: || Quat::from_rotation_z(f32::to_radians(90.0)), twists: false
    },
    Case {
        what: "bend 120°",
        turn: || Quat::from_rotation_z(f32::to_radians(120.0)),
        twists: false,
    },
    Case {
        what: "twist 180°",
        turn: || Quat::from_rotation_x(f32::to_radians(180.0)),
        twists: true,
    },
];

/// The bar, prepared for both methods.
struct Bar {
    body: Body,
    /// Retreating.
    solver: Solver,
    closed_form: Solver,
}

impl Bar {
    fn new(run: &Run<'_>) -> anyhow::Result<Self> {
        let size = zoo::Size { triangles: Some(TRIANGLES) };
        let body = Body::from_asset(&zoo::build("rigged-bar", &size, run)?)?;
        let [solver, closed_form] = [Method::Retreating, Method::ClosedForm]
            .map(|method| Solver::new(&body, &Params { method, ..Params::default() }, run));
        Ok(Self { body, solver: solver?, closed_form: closed_form? })
    }

    fn turned(&self, turn: Quat) -> (Pose, Vec<Mat4>) {
        let mut pose = self.body.rest_pose().clone();
        if let Transform::Trs { rotation, .. } = &mut pose.locals[1] {
            *rotation = turn;
        }
        let matrices = self.body.matrices(&pose);
        (pose, matrices)
    }
}

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    if !["per-joint-20k", "retreating-20k", "volume-error", "floor-lbs-20k"]
        .iter()
        .any(|row| bench.wants(row))
    {
        return Ok(());
    }
    let bar = Bar::new(&bench.shell.quiet_run())?;
    let timed = ["per-joint-20k", "retreating-20k", "floor-lbs-20k"];
    let floor = if timed.iter().any(|row| bench.wants(row)) { floor(bench, &bar)? } else { 0.0 };
    if bench.wants("per-joint-20k") {
        per_joint(bench, &bar, floor)?;
    }
    if bench.wants("retreating-20k") {
        retreating(bench, &bar, floor)?;
    }
    if bench.wants("volume-error") {
        for case in &CASES {
            volume_error(bench, &bar, case)?;
        }
    }
    Ok(())
}

/// Plain linear blend skinning of the same bar.
fn floor(bench: &Bench<'_>, bar: &Bar) -> anyhow::Result<f64> {
    let run = bench.shell.quiet_run();
    let (pose, matrices) = bar.turned((CASES[0].turn)());
    let once = || bar.body.skin(&pose, &matrices, Skinning::Linear, &run);
    let ms = median_ms(bench.shell, || {
        run.install(|| (0..IN_A_ROW).for_each(|_| drop(std::hint::black_box(once()))));
        Ok(())
    })? / f64::from(IN_A_ROW);
    if bench.wants("floor-lbs-20k") {
        let mesh = &bar.body.mesh;
        bench.print(&Row {
            bench: "skinning",
            row: "floor-lbs-20k",
            value: ms,
            unit: "ms",
            better: "lower",
            paper: None,
            target: None,
            threads: bench.shell.threads(),
            note: format!(
                "kernel: plain linear blend of {} vertices, {} triangles",
                mesh.positions.len(),
                mesh.triangles.len()
            ),
        })?;
    }
    Ok(ms)
}

/// The time of a pose bent by 90°.
fn pose_ms(bench: &Bench<'_>, bar: &Bar, solver: &Solver) -> anyhow::Result<f64> {
    let run = bench.shell.quiet_run();
    let (pose, matrices) = bar.turned((CASES[0].turn)());
    let once = || solver.pose(&bar.body, &pose, &matrices, Skinning::Linear, &run);
    let ms = median_ms(bench.shell, || {
        Ok(run.install(|| (0..IN_A_ROW).try_for_each(|_| once().map(drop)))?)
    })?;
    Ok(ms / f64::from(IN_A_ROW))
}

/// Everything a joint costs in closed form: plain skinning, then three steps of 30°, each corrected.
fn per_joint(bench: &Bench<'_>, bar: &Bar, floor: f64) -> anyhow::Result<()> {
    let ms = pose_ms(bench, bar, &bar.closed_form)?;
    bench.print(&Row {
        bench: "skinning",
        row: "per-joint-20k",
        value: ms,
        unit: "ms",
        better: "lower",
        paper: Some(THESIS_MS),
        target: Some(0.4),
        threads: bench.shell.threads(),
        note: format!(
            "kernel, closed form: bend 90° in three corrected steps, plain skinning included: {:.1} × the floor; {} of \
             {} triangles blend",
            ms / floor,
            bar.closed_form.blended_triangles("second"),
            bar.body.mesh.triangles.len()
        ),
    })
}

/// The same pose as `skin --volume` makes it: given back, and every pair, edge and triangle looked after.
fn retreating(bench: &Bench<'_>, bar: &Bar, floor: f64) -> anyhow::Result<()> {
    let ms = pose_ms(bench, bar, &bar.solver)?;
    bench.print(&Row {
        bench: "skinning",
        row: "retreating-20k",
        value: ms,
        unit: "ms",
        better: "lower",
        paper: Some(THESIS_MS),
        target: None,
        threads: bench.shell.threads(),
        note: format!("kernel: bend 90°, looked after: {:.0} × the floor", ms / floor),
    })
}

fn volume_error(bench: &Bench<'_>, bar: &Bar, case: &Case) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let (pose, matrices) = bar.turned((case.turn)());
    let plain = bar.body.skin(&pose, &matrices, Skinning::Linear, &run);
    let skinned = bar.solver.pose(&bar.body, &pose, &matrices, Skinning::Linear, &run)?;
    let error = |positions: &[Vec3]| {
        let errors = bar.solver.volume_errors(&bar.body, &pose, &matrices, positions, &run);
        errors.into_iter().flatten().fold(0.0, |a: f64, e| if e.abs() > a.abs() { e } else { a })
    };
    let pairs = self_intersections(&skinned.positions, &bar.body.mesh.triangles, &run)?.len();
    let section = if case.twists {
        format!(", cross-section {:.3} of its size", thinnest(&bar.body, &skinned.positions))
    } else {
        String::new()
    };
    bench.print(&Row {
        bench: "skinning",
        row: "volume-error",
        value: error(&skinned.positions).abs(),
        unit: "",
        better: "lower",
        paper: None,
        target: Some(1e-6),
        threads: bench.shell.threads(),
        note: format!(
            "{}, plain {:+.2} %, {pairs} pairs cross, |λ| ≤ {:.3}{section}",
            case.what,
            100.0 * error(&plain),
            skinned.report.largest_lambda().abs()
        ),
    })
}

/// The smallest distance from the bar's axis of its four edges, as a share of what it is at rest.
fn thinnest(body: &Body, positions: &[Vec3]) -> f32 {
    let radius = |p: Vec3| p.y.hypot(p.z);
    let edge = |rest: &Vec3| rest.y.abs().min(rest.z.abs()) > 0.499;
    let share = |(rest, now): (&Vec3, &Vec3)| radius(*now) / radius(*rest);
    let edges = body.mesh.positions.iter().zip(positions).filter(|(rest, _)| edge(rest));
    edges.map(share).fold(f32::INFINITY, f32::min)
}

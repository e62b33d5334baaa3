//! Rows of `sculpt`: the thesis' tables 2.1 (speed) and 2.2 (volume).

use glam::Vec3;
use supple::pathline::{self, Direction, Method};
use supple::sculpt::{Bend, Move, Op, Twist};
use supple::zoo;

use super::{Bench, Row, median_ms, remesh};

/// A row of table 2.1: vertices, the thesis' steps a second (the better of CPU and GPU), ours wanted.
struct Speed {
    row: &'static str,
    vertices: usize,
    paper: f64,
    target: f64,
}

const SPEEDS: [Speed; 4] = [
    Speed { row: "steps-31k", vertices: 30_696, paper: 292.0, target: 1460.0 },
    Speed { row: "steps-37k", vertices: 36_619, paper: 258.0, target: 1290.0 },
    Speed { row: "steps-173k", vertices: 172_974, paper: 62.0, target: 310.0 },
    Speed { row: "steps-438k", vertices: 437_645, paper: 27.2, target: 150.0 },
];

/// A row of table 2.2: a zoo shape, what is done to it, and the thesis' volume error.
struct Volume {
    row: &'static str,
    shape: &'static str,
    triangles: usize,
    paper: f64,
    op: fn() -> Op,
}

const VOLUMES: [Volume; 3] = [
    Volume { row: "volume-push", shape: "ball", triangles: 81_920, paper: 1.060e-3, op: push },
    Volume { row: "volume-twist", shape: "bar", triangles: 28_000, paper: 7.81e-4, op: twist },
    Volume { row: "volume-bend", shape: "bar", triangles: 28_000, paper: 7.51e-4, op: bend },
];

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    for speed in SPEEDS.iter().filter(|speed| bench.wants(speed.row)) {
        steps(bench, speed)?;
    }
    for volume in &VOLUMES {
        if bench.wants(volume.row) || bench.wants("volume-exact") {
            volumes(bench, volume)?;
        }
    }
    Ok(())
}

/// Runge–Kutta steps a second, every vertex inside the tool's fade.
fn steps(bench: &Bench<'_>, speed: &Speed) -> anyhow::Result<()> {
    const STEPS: u32 = 8;
    let flow =
        Move { by: vec![0.1 * Vec3::X], inner: 0.3, outer: 3.0, ..Move::default() }.flow()?;
    let params = pathline::Params { method: Method::Fixed { steps: STEPS } };
    let run = bench.shell.quiet_run();
    let rest = sphere(speed.vertices);
    let mut points = rest.clone();
    let mut taken = 0;
    let ms = median_ms(bench.shell, || {
        points.copy_from_slice(&rest);
        taken = pathline::advect(&mut points, &flow, &params, Direction::Forward, &run)?.steps;
        Ok(())
    })?;
    bench.print(&Row {
        bench: "sculpt",
        row: speed.row,
        value: taken as f64 / ms * 1e3,
        unit: "steps/s",
        better: "higher",
        paper: Some(speed.paper),
        target: Some(speed.target),
        threads: bench.shell.threads(),
        note: format!("{} vertices, fourth-order steps", speed.vertices),
    })
}

/// The volume error with remeshing, and with the exact correction.
fn volumes(bench: &Bench<'_>, volume: &Volume) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let size = zoo::Size { triangles: Some(volume.triangles) };
    let mesh = zoo::build(volume.shape, &size, &run)?.meshes.swap_remove(0);
    for (row, exact, target) in [(volume.row, false, 1e-4), ("volume-exact", true, 1e-6)] {
        if !bench.wants(row) {
            continue;
        }
        let (error, note) = remesh::refined_error(&mesh, (volume.op)(), exact, &run)?;
        bench.print(&Row {
            bench: "sculpt",
            row,
            value: error,
            unit: "",
            better: "lower",
            paper: Some(volume.paper),
            target: Some(target),
            threads: bench.shell.threads(),
            note: format!("{}, {}: {note}", volume.shape, volume.row),
        })?;
    }
    Ok(())
}

/// The tool goes in at the top of a unit ball and out at its bottom.
fn push() -> Op {
    let (center, by) = (1.4 * Vec3::Z, vec![-2.4 * Vec3::Z]);
    Op::Move(Move { center, by, inner: 0.3, outer: 1.2, ..Move::default() })
}

fn twist() -> Op {
    let (from, to) = (-2.0, 2.0);
    Op::Twist(Twist { axis: Vec3::X, degrees: 180.0, from, to, ..Twist::default() })
}

fn bend() -> Op {
    Op::Bend(Bend { degrees: 90.0, width: 4.0, ..Bend::default() })
}

/// Points spread evenly over the unit sphere.
fn sphere(count: usize) -> Vec<Vec3> {
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let point = |i: usize| {
        let z = 1.0 - (2 * i + 1) as f64 / count as f64;
        let (sin, cos) = (golden * i as f64).sin_cos();
        let r = (1.0 - z * z).sqrt();
        Vec3::new((r * cos) as f32, (r * sin) as f32, z as f32)
    };
    (0..count).map(point).collect()
}

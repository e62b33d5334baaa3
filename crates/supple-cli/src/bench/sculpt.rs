//! Rows of `sculpt`: the thesis' tables 2.1 (speed), 2.2 (volume), 3.1 (boundaries) and 4.1 (along a
//! curve), each on shapes of the kind and the number of vertices that the source names. Volumes after whole figures are in
//! [`figures`](super::figures).

use glam::Vec3;
use supple::mesh::measure::Bounds;
use supple::pathline::{self, Direction, Method};
use supple::sculpt::{self, Bend, Curve, Extent, Guide, Move, OnContact, Op, Twist};
use supple::{Run, TriMesh, io, zoo};

use super::{Bench, Row, foreign, median_ms, remesh};

/// A row of table 2.1: vertices, the thesis' steps a second (the better of CPU and GPU), ours wanted.
struct Speed {
    row: &'static str,
    shape: &'static str,
    vertices: usize,
    paper: f64,
    target: f64,
}

const SPEEDS: [Speed; 4] = [
    Speed { row: "steps-31k", shape: "head", vertices: 30_696, paper: 292.0, target: 1460.0 },
    Speed { row: "steps-37k", shape: "hand", vertices: 36_619, paper: 258.0, target: 1290.0 },
    Speed { row: "steps-173k", shape: "boxer", vertices: 172_974, paper: 62.0, target: 310.0 },
    Speed { row: "steps-438k", shape: "dragon", vertices: 437_645, paper: 27.2, target: 150.0 },
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

/// A row of table 4.1: vertices, and the thesis' time a step and volume error.
struct Explicit {
    row: &'static str,
    shape: &'static str,
    vertices: usize,
    paper_ms: f64,
}

const EXPLICIT: [Explicit; 6] = [
    Explicit { row: "explicit-step-2k", shape: "box", vertices: 2462, paper_ms: 4.0 },
    Explicit { row: "explicit-step-9k7", shape: "bar", vertices: 9730, paper_ms: 9.0 },
    Explicit { row: "explicit-step-10k", shape: "cow", vertices: 9995, paper_ms: 9.0 },
    Explicit { row: "explicit-step-20k", shape: "camel", vertices: 19_851, paper_ms: 22.0 },
    Explicit { row: "explicit-step-21k", shape: "rope", vertices: 21_302, paper_ms: 20.0 },
    Explicit { row: "explicit-step-53k", shape: "hand", vertices: 53_054, paper_ms: 55.0 },
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
    if bench.wants("bend-20k") {
        beside_arap(bench)?;
    }
    for explicit in EXPLICIT.iter().filter(|explicit| bench.wants(explicit.row)) {
        along_a_curve(bench, explicit)?;
    }
    super::figures::run(bench)?;
    super::geodesic::run(bench)
}

/// Runge–Kutta steps a second, every vertex inside the tool's fade.
fn steps(bench: &Bench<'_>, speed: &Speed) -> anyhow::Result<()> {
    const STEPS: u32 = 8;
    let flow =
        Move { by: vec![0.1 * Vec3::X], inner: 0.3, outer: 3.0, ..Move::default() }.flow()?;
    let params = pathline::Params { method: Method::Fixed { steps: STEPS } };
    let run = bench.shell.quiet_run();
    let rest = in_unit_ball(&shape(speed.shape, speed.vertices, &run)?.positions);
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
        note: format!("kernel: {} of {} vertices, fourth-order steps", speed.shape, rest.len()),
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

/// A bar of 20k vertices bent by a right angle, beside libigl's as-rigid-as-possible surface.
fn beside_arap(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let asset = zoo::build("bar", &zoo::Size { triangles: Some(40_000) }, &run)?;
    let (rest, triangles) = (&asset.meshes[0].positions, &asset.meshes[0].triangles);
    let op = Op::Bend(Bend { axis: Vec3::Z, along: Vec3::X, width: 4.0, ..Bend::default() });
    let params = sculpt::Params { on_contact: OnContact::Ignore, ..sculpt::Params::default() };
    let mut bent = asset.clone();
    let mut error = 0.0;
    let ms = median_ms(bench.shell, || {
        bent.meshes[0].positions.copy_from_slice(rest);
        let positions = &mut bent.meshes[0].positions;
        let done = sculpt::apply(positions, triangles, std::slice::from_ref(&op), &params, &run)?;
        error = done.report.volume_error();
        Ok(())
    })?;
    let file =
        |name| std::env::temp_dir().join(format!("supple-{name}-{}.ply", std::process::id()));
    let paths = [file("rest"), file("bent")];
    io::write(&paths[0], &asset)?;
    io::write(&paths[1], &bent)?;
    let other = foreign::libigl_arap(&paths[0], &paths[1]);
    paths.iter().try_for_each(std::fs::remove_file)?;
    let beside = match other {
        Some(o) => format!(
            "libigl {} ARAP {:.0} ms, volume error {:.1e}, same run",
            o.version, o.ms, o.volume_error
        ),
        None => "libigl is not installed".to_owned(),
    };
    bench.print(&Row {
        bench: "sculpt",
        row: "bend-20k",
        value: ms,
        unit: "ms",
        better: "lower",
        paper: None,
        target: None,
        threads: bench.shell.threads(),
        note: format!("{} vertices by 90°, volume error {error:.1e}; {beside}", rest.len()),
    })
}

/// A shape guided along a quarter circle: time a step with every vertex moving.
fn along_a_curve(bench: &Bench<'_>, explicit: &Explicit) -> anyhow::Result<()> {
    const STEPS: u32 = 100;
    let run = bench.shell.quiet_run();
    let mesh = shape(explicit.shape, explicit.vertices, &run)?;
    let rest = in_unit_ball(&mesh.positions);
    // From nearly 0 to nearly 1 along y: all move, none rigidly.
    let s = |p: &Vec3| (0.5 - 0.5 * p.y).clamp(1e-4, 1.0 - 1e-4);
    let extent = Extent::Painted { values: rest.iter().map(s).collect() };
    let op = Op::Curve(Curve { guide: quarter_circle(), extent, steps: STEPS, ..Curve::default() });
    let params = sculpt::Params { on_contact: OnContact::Ignore, ..sculpt::Params::default() };
    let mut positions = rest.clone();
    let ms = median_ms(bench.shell, || {
        positions.copy_from_slice(&rest);
        let ops = std::slice::from_ref(&op);
        Ok(sculpt::apply(&mut positions, &mesh.triangles, ops, &params, &run)?)
    })?;
    bench.print(&Row {
        bench: "sculpt",
        row: explicit.row,
        value: ms / f64::from(STEPS),
        unit: "ms",
        better: "lower",
        paper: Some(explicit.paper_ms),
        target: Some(explicit.paper_ms / 10.0),
        threads: bench.shell.threads(),
        note: format!(
            "kernel: {} of {} vertices, all moving, one of {STEPS} steps",
            explicit.shape,
            rest.len()
        ),
    })
}

/// From (0, 1, 0), a radius of two thirds, aside.
fn quarter_circle() -> Guide {
    let (r, k) = (2.0 / 3.0, 2.0 / 3.0 * 0.552_284_8);
    let points = [(0.0, 1.0), (0.0, 1.0 + k), (r - k, 1.0 + r), (r, 1.0 + r)];
    Guide::Bezier(points.map(|(x, y)| Vec3::new(x, y, 0.0)).to_vec())
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

/// A model of the zoo with about so many vertices.
fn shape(name: &str, vertices: usize, run: &Run<'_>) -> anyhow::Result<TriMesh> {
    let size = zoo::Size { triangles: Some(2 * vertices) };
    Ok(zoo::build(name, &size, run)?.meshes.swap_remove(0))
}

/// Points moved and scaled into the unit ball, which they reach.
fn in_unit_ball(points: &[Vec3]) -> Vec<Vec3> {
    let center = Bounds::of(points).map_or(Vec3::ZERO, |b| b.center());
    let radius = points.iter().map(|p| p.distance(center)).fold(f32::MIN_POSITIVE, f32::max);
    points.iter().map(|&p| (p - center) / radius).collect()
}

//! Rows of `sculpt`: the thesis' tables 2.1 (speed), 2.2 (volume), 3.1 (boundaries) and 4.1 (along a
//! curve).

use glam::Vec3;
use supple::mesh::shading::{Buffers, Shading};
use supple::pathline::{self, Direction, Method};
use supple::sculpt::{
    self, Bend, Boundary, Curve, Extent, Guide, Knob, Move, OnContact, Op, Part, Twist,
};
use supple::{io, zoo};

use super::{Bench, Row, foreign, median_ms, remesh};

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

/// A row of table 4.1: vertices, and the thesis' time a step and volume error.
struct Explicit {
    row: &'static str,
    vertices: usize,
    paper_ms: f64,
    paper_volume: f64,
}

const EXPLICIT: [Explicit; 6] = [
    Explicit { row: "explicit-step-2k", vertices: 2462, paper_ms: 4.0, paper_volume: 1.8e-2 },
    Explicit { row: "explicit-step-9k7", vertices: 9730, paper_ms: 9.0, paper_volume: 4e-3 },
    Explicit { row: "explicit-step-10k", vertices: 9995, paper_ms: 9.0, paper_volume: 8e-4 },
    Explicit { row: "explicit-step-20k", vertices: 19_851, paper_ms: 22.0, paper_volume: 7e-3 },
    Explicit { row: "explicit-step-21k", vertices: 21_302, paper_ms: 20.0, paper_volume: 1.6e-2 },
    Explicit { row: "explicit-step-53k", vertices: 53_054, paper_ms: 55.0, paper_volume: 1e-4 },
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
    if bench.wants("boundary-vertices-per-second") {
        boundary(bench)?;
    }
    if bench.wants("bend-20k") {
        beside_arap(bench)?;
    }
    for explicit in &EXPLICIT {
        along_a_curve(bench, explicit)?;
    }
    super::geodesic::run(bench)
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

/// Support vertices a second, integration and normals: a bar of table 3.1's size bent by a right angle.
fn boundary(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let size = zoo::Size { triangles: Some(2 * 31_014) };
    let mesh = zoo::build("bar", &size, &run)?.meshes.swap_remove(0);
    // A bar of six units, one thick: eight points around it, and nine.
    let ring = |x: f32, more: &[(f32, f32)]| {
        let corners = [(1.0, 1.0), (0.0, 1.0), (-1.0, 1.0), (-1.0, 0.0)];
        let others = [(-1.0, -1.0), (0.0, -1.0), (1.0, -1.0), (1.0, 0.0)];
        let all = corners.iter().chain(&others).chain(more);
        all.map(|&(y, z)| Vec3::new(x, 0.5 * y, 0.5 * z)).collect::<Vec<_>>()
    };
    let (inner, outer) = (ring(2.0, &[]), ring(-2.0, &[(1.0, 0.5)]));
    let knob = Knob::Rotate { joint: Vec3::ZERO, axis: Vec3::Z, degrees: 90.0 };
    let points = inner.len() + outer.len();
    let op = Boundary { inner, outer, knob, ..Boundary::default() };
    let map = op.prepare(&mesh.positions, &mesh.triangles, &run)?;
    let support = map.parts().iter().filter(|part| **part == Part::Lower).count();
    let params = pathline::Params { method: Method::Adaptive { tolerance_rel_bbox: 1e-4 } };
    let mut positions = mesh.positions.clone();
    let shading = Shading::new(positions.len(), &mesh.triangles);
    let mut buffers = Buffers::default();
    let ms = median_ms(bench.shell, || {
        positions.copy_from_slice(&mesh.positions);
        map.apply(&mut positions, &params, &run)?;
        shading.normals(&positions, &mut buffers, &run);
        Ok(())
    })?;
    bench.print(&Row {
        bench: "sculpt",
        row: "boundary-vertices-per-second",
        value: support as f64 / ms * 1e3,
        unit: "1/s",
        better: "higher",
        paper: Some(382_889.0),
        target: Some(1e6),
        threads: bench.shell.threads(),
        note: format!("{support} support vertices of a bar, {points} boundary points, 90°"),
    })
}

/// A bar guided along a quarter circle: time a step with every vertex moving, and the volume error.
fn along_a_curve(bench: &Bench<'_>, explicit: &Explicit) -> anyhow::Result<()> {
    const STEPS: u32 = 100;
    let run = bench.shell.quiet_run();
    let size = zoo::Size { triangles: Some(2 * explicit.vertices) };
    let mesh = zoo::build("bar", &size, &run)?.meshes.swap_remove(0);
    let vertices = mesh.positions.len();
    let curve = |steps: u32, least: f32| {
        let s = |p: &Vec3| (0.5 - 0.25 * p.x).clamp(least, 1.0 - least);
        let extent = Extent::Painted { values: mesh.positions.iter().map(s).collect() };
        Op::Curve(Curve { guide: quarter_circle(), extent, steps, ..Curve::default() })
    };
    let bent = |op: Op, exact_volume: bool| {
        let on_contact = OnContact::Ignore;
        let params = sculpt::Params { exact_volume, on_contact, ..sculpt::Params::default() };
        let mut positions = mesh.positions.clone();
        sculpt::apply(&mut positions, &mesh.triangles, &[op], &params, &run)
    };
    let row = |row, value, unit, paper, target, note| Row {
        bench: "sculpt",
        row,
        value,
        unit,
        better: "lower",
        paper: Some(paper),
        target: Some(target),
        threads: bench.shell.threads(),
        note,
    };
    if bench.wants(explicit.row) {
        let ms = median_ms(bench.shell, || Ok(bent(curve(STEPS, 1e-4), false)?))?;
        let (value, target) = (ms / f64::from(STEPS), explicit.paper_ms / 10.0);
        let note = format!("{vertices} vertices, all moving, one of {STEPS} steps");
        bench.print(&row(explicit.row, value, "ms", explicit.paper_ms, target, note))?;
    }
    for (name, exact) in [("explicit-volume", false), ("explicit-volume-exact", true)] {
        if bench.wants(name) {
            let error = bent(curve(64, 0.0), exact)?.report.volume_error().abs();
            let target = if exact { 1e-6 } else { explicit.paper_volume / 3.0 };
            let note = format!("bar of {vertices} vertices along a quarter circle");
            bench.print(&row(name, error, "", explicit.paper_volume, target, note))?;
        }
    }
    Ok(())
}

/// From (2, 0, 0), a radius of two, up.
fn quarter_circle() -> Guide {
    let k = 2.0 * 0.552_284_8;
    let points = [(2.0, 0.0), (2.0 + k, 0.0), (4.0, 2.0 - k), (4.0, 2.0)];
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

//! Rows of distances along a surface, beside potpourri3d.

use supple::io;
use supple::mesh::geodesic::heat::{Params, Solver};
use supple::zoo;

use super::{Bench, Row, foreign, median_ms};

const PREPARE: &str = "geodesic-prepare-50k";
const SOLVE: &str = "geodesic-solve-50k";

/// Triangles of a closed surface of 50k vertices.
const TRIANGLES: usize = 100_000;

/// potpourri3d's times on a reference machine in milliseconds, for when it is not installed.
const REFERENCE_MS: [f64; 2] = [1085.0, 33.0];

pub(super) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    if !bench.wants(PREPARE) && !bench.wants(SOLVE) {
        return Ok(());
    }
    let run = bench.shell.quiet_run();
    let asset = zoo::build("cow", &zoo::Size { triangles: Some(TRIANGLES) }, &run)?;
    let path = std::env::temp_dir().join(format!("supple-bench-{}.ply", std::process::id()));
    io::write(&path, &asset)?;
    let other = foreign::potpourri_heat(&path);
    std::fs::remove_file(&path)?;
    let (theirs, note) = match &other {
        Some(m) => ([m.prepare_ms, m.solve_ms], format!("potpourri3d {}, same run", m.version)),
        None => (REFERENCE_MS, "potpourri3d is not installed: target from a reference".to_owned()),
    };
    let mesh = &asset.meshes[0];
    let prepare = || Solver::new(&mesh.positions, &mesh.triangles, &Params::default(), &run);
    let solver = prepare()?;
    if bench.wants(PREPARE) {
        let value = median_ms(bench.shell, || Ok(prepare()?))?;
        print(bench, PREPARE, value, theirs[0] / 3.0, format!("{note}: {:.1} ms", theirs[0]))?;
    }
    if bench.wants(SOLVE) {
        let value = median_ms(bench.shell, || Ok(solver.distances(&[0], &run)?))?;
        print(bench, SOLVE, value, theirs[1] / 2.0, format!("{note}: {:.1} ms", theirs[1]))?;
    }
    Ok(())
}

fn print(
    bench: &Bench<'_>,
    row: &'static str,
    value: f64,
    target: f64,
    note: String,
) -> anyhow::Result<()> {
    bench.print(&Row {
        bench: "sculpt",
        row,
        value,
        unit: "ms",
        better: "lower",
        paper: None,
        target: Some(target),
        threads: bench.shell.threads(),
        note,
    })
}

//! Rows of tets: how fast a surface is filled, how good a body's tets are.

use supple::mesh::tetrahedralize::{body, fill};
use supple::zoo;

use super::{Bench, Row, median_ms};

/// Triangles of the surface that is filled.
const TRIANGLES: usize = 10_000;

/// Milliseconds TetGen takes to fill a surface of as many triangles (a reference machine).
const TETGEN_MS: f64 = 87.0;

/// Models whose bodies are judged.
const BODIES: [&str; 8] = ["ball", "box", "comb", "cow", "dragon", "hand", "head", "torus"];

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let threads = bench.shell.threads();
    if bench.wants("tetrahedralize-10k") {
        let size = zoo::Size { triangles: Some(TRIANGLES) };
        let surface = zoo::build("cow", &size, &run)?.meshes.remove(0);
        let params = fill::Params::default();
        let report = fill(&surface, &params, &run)?.report;
        let value = median_ms(bench.shell, || Ok(fill(&surface, &params, &run)?))?;
        let note = format!(
            "{} triangles, {} tets, volume {:.4} of the surface's",
            surface.triangles.len(),
            report.tets,
            report.volume_ratio
        );
        bench.print(&Row {
            bench: "blendshape",
            row: "tetrahedralize-10k",
            value,
            unit: "ms",
            better: "lower",
            paper: Some(TETGEN_MS),
            target: Some(400.0),
            threads,
            note,
        })?;
    }
    if bench.wants("tetrahedralize-min-dihedral") {
        let mut least = (f64::INFINITY, "");
        for name in BODIES {
            let surface = zoo::build(name, &zoo::Size::default(), &run)?.meshes.remove(0);
            let report = body(&surface, &body::Params::default(), &run)?.report;
            if report.dihedral_degrees[0] < least.0 {
                least = (report.dihedral_degrees[0], name);
            }
        }
        bench.print(&Row {
            bench: "blendshape",
            row: "tetrahedralize-min-dihedral",
            value: least.0,
            unit: "°",
            better: "higher",
            paper: None,
            target: Some(10.0),
            threads,
            note: format!("{}, the least of {} bodies of 1500 nodes", least.1, BODIES.len()),
        })?;
    }
    Ok(())
}

//! Rows of `sculpt` about remeshing: speed beside pymeshlab's, and volume with refinement.

use glam::Vec3;
use supple::mesh::intersect::self_intersections;
use supple::mesh::measure::Bounds;
use supple::mesh::refine;
use supple::mesh::remesh;
use supple::sculpt::{self, Bend, Op};
use supple::{Run, TriMesh, io, zoo};

use super::{Bench, Row, foreign, median_ms};

/// Triangles of the mesh to remesh.
const TRIANGLES: usize = 100_000;
/// How many times faster than pymeshlab it must be, and what pymeshlab needed on a reference machine.
const TIMES_FASTER: f64 = 3.0;
const REFERENCE_MS: f64 = 11_000.0;

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    if bench.wants("remesh-100k") {
        speed(bench)?;
    }
    if bench.wants("volume-character") || bench.wants("volume-exact") {
        character(bench)?;
    }
    Ok(())
}

/// A mesh of that many triangles at its own mean edge length, ten iterations.
fn speed(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let asset = zoo::build("cow", &zoo::Size { triangles: Some(TRIANGLES) }, &run)?;
    let mesh = &asset.meshes[0];
    let params = remesh::Params::default();
    let (new, report) = remesh::remesh(mesh, &params, &run)?;
    let added = pairs(&new, &run)?.saturating_sub(report.intersections_before);
    let value = median_ms(bench.shell, || Ok(remesh::remesh(mesh, &params, &run)?))?;
    let path = std::env::temp_dir().join(format!("supple-remesh-{}.ply", std::process::id()));
    io::write(&path, &asset)?;
    let measured = foreign::pymeshlab_remesh(&path, report.length);
    std::fs::remove_file(&path)?;
    let (other, beside) = match measured {
        Some(m) => (m.ms, format!("pymeshlab {} {:.0} ms, same run", m.version, m.ms)),
        None => (REFERENCE_MS, "pymeshlab is not installed: target from a reference".to_owned()),
    };
    let (before, after) = (report.triangles_before, report.triangles_after);
    bench.print(&Row {
        bench: "sculpt",
        row: "remesh-100k",
        value,
        unit: "ms",
        better: "lower",
        paper: None,
        target: Some(other / TIMES_FASTER),
        threads: bench.shell.threads(),
        note: format!("{before} → {after} triangles, {added} intersections added; {beside}"),
    })
}

/// The bent character of table 2.2.
fn character(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let mesh =
        zoo::build("cow", &zoo::Size { triangles: Some(80_000) }, &run)?.meshes.swap_remove(0);
    let Some(bounds) = Bounds::of(&mesh.positions) else { return Ok(()) };
    let (size, width) = (bounds.size(), 0.5 * bounds.size().max_element());
    let long = size.max_position();
    let (along, axis) = (Vec3::AXES[long], Vec3::AXES[(long + 1) % 3]);
    // About a line on the inner side: no part of the body is beyond the centre of the bend.
    let center = bounds.center() + 0.5 * size * axis.cross(along);
    let op = Op::Bend(Bend { center, axis, along, degrees: 45.0, width, ..Bend::default() });
    for (row, exact, target) in [("volume-character", false, 1e-4), ("volume-exact", true, 1e-6)] {
        if !bench.wants(row) {
            continue;
        }
        let (error, note) = refined_error(&mesh, op.clone(), exact, &run)?;
        bench.print(&Row {
            bench: "sculpt",
            row,
            value: error,
            unit: "",
            better: "lower",
            paper: Some(1.344e-3),
            target: Some(target),
            threads: bench.shell.threads(),
            note: format!("bent cow, {note}"),
        })?;
    }
    Ok(())
}

/// The volume error of an edit with refinement, and what it took.
pub(crate) fn refined_error(
    mesh: &TriMesh,
    op: Op,
    exact: bool,
    run: &Run<'_>,
) -> anyhow::Result<(f64, String)> {
    let params = sculpt::Params { exact_volume: exact, ..sculpt::Params::default() };
    let mut finer = mesh.clone();
    let done = sculpt::apply_refined(&mut finer, &[op], &params, &refine::Params::default(), run)?;
    let added = pairs(&finer, run)?.saturating_sub(pairs(mesh, run)?);
    let (before, after) = (mesh.positions.len(), finer.positions.len());
    let note = format!("{before} → {after} vertices, {added} intersections added");
    Ok((done.report.volume_error().abs(), note))
}

fn pairs(mesh: &TriMesh, run: &Run<'_>) -> anyhow::Result<usize> {
    Ok(self_intersections(&mesh.positions, &mesh.triangles, run)?.len())
}

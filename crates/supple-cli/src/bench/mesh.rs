//! Rows of the foundation: loading, normals, winding numbers, closest points,
//! self-intersections.

use std::path::Path;

use glam::Vec3;
use supple::io::{self, ReadOptions};
use supple::mesh::bvh::Bvh;
use supple::mesh::intersect::self_intersections;
use supple::mesh::measure::Bounds;
use supple::mesh::normals::vertex_normals;
use supple::mesh::winding::Winding;
use supple::{Asset, TriMesh, zoo};

use super::{Bench, Row, foreign, median_ms};

/// Triangles of the large model: that of the paper's largest table row.
const TRIANGLES: usize = 345_944;
/// Points to classify as inside or outside.
const POINTS: usize = 100_000;

/// A file to load, how many times faster than trimesh it must be, and trimesh's figure on a
/// reference machine for when it is not installed.
struct Load {
    row: &'static str,
    file: &'static str,
    times_faster: f64,
    reference_ms: f64,
}

const LOADS: [Load; 3] = [
    Load { row: "load-glb-350k", file: "cow.glb", times_faster: 3.0, reference_ms: 33.0 },
    Load { row: "load-ply-350k", file: "cow.ply", times_faster: 3.0, reference_ms: 75.0 },
    Load { row: "load-obj-350k", file: "cow.obj", times_faster: 5.0, reference_ms: 1309.0 },
];

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let size = zoo::Size { triangles: Some(TRIANGLES) };
    let asset = zoo::build("cow", &size, &run)?;
    let folder = std::env::temp_dir().join(format!("supple-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = loads(bench, &asset, &folder);
    std::fs::remove_dir_all(&folder)?;
    measured?;
    geometry(bench, &asset.meshes[0])
}

fn loads(bench: &Bench<'_>, asset: &Asset, folder: &Path) -> anyhow::Result<()> {
    for load in LOADS.iter().filter(|load| bench.wants(load.row)) {
        let path = folder.join(load.file);
        io::write(&path, asset)?;
        let value = median_ms(bench.shell, || Ok(io::read(&path, &ReadOptions::default())?))?;
        let (other, note) = match foreign::trimesh_load(&path) {
            Some(m) => (m.ms, format!("trimesh {} {:.1} ms, same run", m.version, m.ms)),
            None => (load.reference_ms, "trimesh is not installed: target from a reference".into()),
        };
        let target = Some(other / load.times_faster);
        bench.print(&row(bench, load.row, value, target, note))?;
    }
    Ok(())
}

fn geometry(bench: &Bench<'_>, mesh: &TriMesh) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let (positions, triangles) = (&mesh.positions, &mesh.triangles);
    if bench.wants("self-intersections-350k") {
        let pairs = self_intersections(positions, triangles, &run)?.len();
        let value = median_ms(bench.shell, || Ok(self_intersections(positions, triangles, &run)?))?;
        let note = format!("{pairs} pairs in {} triangles", triangles.len());
        bench.print(&row(bench, "self-intersections-350k", value, Some(2000.0), note))?;
    }
    if bench.wants("normals-350k") {
        let value = median_ms(bench.shell, || Ok(vertex_normals(positions, triangles, &run)))?;
        bench.print(&row(bench, "normals-350k", value, None, String::new()))?;
    }
    if bench.wants("winding-100k-points") {
        let points = points_around(positions);
        let winding = Winding::new(positions, triangles, &run);
        let value = median_ms(bench.shell, || Ok(winding.at_points(&points, &run)?))?;
        let note = format!("{POINTS} points against {} triangles", triangles.len());
        bench.print(&row(bench, "winding-100k-points", value, None, note))?;
    }
    if bench.wants("closest-100k-points") {
        let points = points_around(positions);
        let bvh = Bvh::new(positions, triangles, &run);
        let value = median_ms(bench.shell, || Ok(bvh.closest_points(&points, &run)?))?;
        let note = format!("{POINTS} points against {} triangles", triangles.len());
        bench.print(&row(bench, "closest-100k-points", value, None, note))?;
    }
    Ok(())
}

fn row(bench: &Bench<'_>, row: &'static str, value: f64, target: Option<f64>, note: String) -> Row {
    let threads = bench.shell.threads();
    Row {
        bench: "mesh",
        row,
        value,
        unit: "ms",
        better: "lower",
        paper: None,
        target,
        threads,
        note,
    }
}

/// Points spread evenly over the bounding box (the R₃ low-discrepancy sequence).
fn points_around(positions: &[Vec3]) -> Vec<Vec3> {
    const STEP: Vec3 = Vec3::new(0.819_172_5, 0.671_043_6, 0.549_700_5);
    let Some(bounds) = Bounds::of(positions) else { return Vec::new() };
    (0..POINTS).map(|i| bounds.min + (i as f32 * STEP).fract() * bounds.size()).collect()
}

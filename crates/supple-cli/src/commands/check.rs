//! `supple check`: what a deformation did to a shape.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use supple::TriMesh;
use supple::mesh::intersect::count_self_intersections;
use supple::mesh::measure;
use supple::mesh::volume::volume;

use crate::shell::{self, Shell};

/// Compare a deformed shape with its rest shape: volume, displacement, stretch, self-intersections
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The shape at rest
    rest: PathBuf,
    /// The shape deformed; the same vertices in the same order for displacements
    deformed: PathBuf,
}

/// What `check` tells, under the names it has in JSON.
#[derive(Debug, Serialize)]
struct Check {
    volume_rest: f64,
    volume_deformed: f64,
    /// deformed / rest − 1; nothing if the rest shape encloses no volume.
    volume_error: Option<f64>,
    /// Nothing if the two shapes do not have the same vertices.
    max_displacement: Option<f64>,
    mean_displacement: Option<f64>,
    self_intersections_rest: u64,
    self_intersections_deformed: u64,
    degenerate_triangles: usize,
    /// Longest deformed edge as a multiple of its rest length.
    max_edge_stretch: Option<f64>,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let rest = super::rest_mesh(&args.rest, super::read(&args.rest, shell)?, shell)?;
    let deformed = super::rest_mesh(&args.deformed, super::read(&args.deformed, shell)?, shell)?;
    let check = compare(&rest, &deformed, shell)?;
    if shell.options().json {
        shell.print_json(&check)?;
    } else {
        print(&check);
    }
    Ok(ExitCode::SUCCESS)
}

fn compare(rest: &TriMesh, deformed: &TriMesh, shell: &Shell) -> anyhow::Result<Check> {
    let run = shell.quiet_run();
    let volume_of = |mesh: &TriMesh| volume(&mesh.positions, &mesh.triangles, &run);
    let (volume_rest, volume_deformed) = (volume_of(rest), volume_of(deformed));
    let pairs_of = |mesh: &TriMesh, what: &str| {
        let count = shell.with_progress(what, |run| {
            count_self_intersections(&mesh.positions, &mesh.triangles, run)
        })?;
        if !count.is_all {
            let told = format!("{what}: {count} pairs of triangles intersect");
            shell.warn("check", &[told]);
        }
        anyhow::Ok(count.pairs)
    };
    let same_vertices = rest.positions.len() == deformed.positions.len();
    if !same_vertices {
        let (a, b) = (rest.positions.len(), deformed.positions.len());
        let what = format!("{a} vertices at rest, {b} deformed: displacements cannot be told");
        shell.warn("check", &[what]);
    }
    let displacement =
        same_vertices.then(|| measure::displacement(&rest.positions, &deformed.positions, &run));
    let same_triangles = same_vertices && rest.triangles == deformed.triangles;
    Ok(Check {
        volume_rest,
        volume_deformed,
        volume_error: (volume_rest != 0.0).then(|| volume_deformed / volume_rest - 1.0),
        max_displacement: displacement.map(|d| d.max),
        mean_displacement: displacement.map(|d| d.mean),
        self_intersections_rest: pairs_of(rest, "rest shape")?,
        self_intersections_deformed: pairs_of(deformed, "deformed shape")?,
        degenerate_triangles: measure::degenerate_triangles(
            &deformed.positions,
            &deformed.triangles,
            &run,
        ),
        max_edge_stretch: same_triangles.then(|| {
            measure::max_edge_stretch(&rest.positions, &deformed.positions, &rest.triangles, &run)
        }),
    })
}

fn print(check: &Check) {
    let line = |name: &str, value: String| shell::out(&format!("{name:<28} {value}"));
    let figure = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |v| format!("{v:.6e}"));
    line("volume at rest", format!("{:.9}", check.volume_rest));
    line("volume deformed", format!("{:.9}", check.volume_deformed));
    line("volume error", figure(check.volume_error));
    line("max displacement", figure(check.max_displacement));
    line("mean displacement", figure(check.mean_displacement));
    line("self-intersections at rest", check.self_intersections_rest.to_string());
    line("self-intersections deformed", check.self_intersections_deformed.to_string());
    line("degenerate triangles", check.degenerate_triangles.to_string());
    line("max edge stretch", figure(check.max_edge_stretch));
}

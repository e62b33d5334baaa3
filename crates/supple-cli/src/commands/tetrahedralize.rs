//! `supple tetrahedralize`: tets from a surface; and what other commands do with files of tets.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde::Serialize;
use supple::mesh::folding::Folding;
use supple::mesh::repair::{self, Removals};
use supple::mesh::tetrahedralize::{body, fill};
use supple::mesh::{TetMesh, adjacency, measure};
use supple::{Asset, TriMesh, io};

use super::number;
use crate::shell::{self, Shell};

/// Make tets from a surface
///
/// By default the surface is filled: every vertex is a node, with points between them. With --body few
/// tets of good shape are made around it, for simulation.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// File with the surface
    input: PathBuf,
    /// File to write: .msh, .mesh, .vtk, .vtu, or .node and .ele
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Distance between neighbouring nodes inside, in the file's units; default the mean edge
    #[arg(long, value_parser = number::<f32>, value_name = "H")]
    spacing: Option<f32>,
    /// Few tets of good shape, whatever the triangles; the surface must be closed
    #[arg(long)]
    body: bool,
    /// About so many nodes; 1500 if neither this nor a spacing is given
    #[arg(long, value_name = "N", requires = "body", conflicts_with = "spacing")]
    nodes: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  supple zoo cow -o cow.ply
  supple tetrahedralize cow.ply -o cow.msh
  supple tetrahedralize cow.ply -o cow.msh --body --nodes 3000
  supple info cow.msh";

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    if io::TetFormat::of(&args.output).is_none() {
        bail!(
            "{}: no writer for tets in this kind of file (known: {})",
            args.output.display(),
            io::TetFormat::written()
        );
    }
    let asset = super::read(&args.input, shell)?;
    io::check_output(&args.output)?;
    let surface = super::rest_mesh(&args.input, asset, shell)?;
    let mesh =
        if args.body { make_body(args, &surface, shell) } else { make_fill(args, &surface, shell) };
    write(&args.output, &mesh.with_context(|| args.input.display().to_string())?, shell)?;
    Ok(ExitCode::SUCCESS)
}

/// What is told of tets, under the names it has in JSON.
#[derive(Debug, Serialize)]
struct Results<'a, R> {
    #[serde(flatten)]
    report: &'a R,
    /// Of the surface that was read, and of that of the tets.
    self_intersections: Folding,
}

/// What became of the surface.
fn folding(surface: &TriMesh, tets: &TetMesh, shell: &Shell) -> anyhow::Result<Folding> {
    let folding = super::folding(surface, &tets.surface(), shell)?;
    shell.warn("tetrahedralize", folding.warning().as_slice());
    Ok(folding)
}

fn tell_folding(folding: &Folding, shell: &Shell) {
    shell.say(format!("self-intersections of the surface {} → {}", folding.before, folding.after));
}

fn make_fill(args: &Args, surface: &TriMesh, shell: &Shell) -> anyhow::Result<TetMesh> {
    let params = fill::Params { spacing: args.spacing };
    let filled = shell.with_progress("tetrahedralize", |run| fill(surface, &params, run))?;
    let report = &filled.report;
    let mut notes = Vec::new();
    for (count, what) in [
        (report.duplicates, "vertices are at the place of an earlier one, and in no tet"),
        (report.in_no_tet, "vertices are in no tet"),
        (report.open_edges, "edges are open: the inside is a guess, by winding number"),
    ] {
        if count > 0 {
            notes.push(format!("{count} {what}"));
        }
    }
    shell.warn("tetrahedralize", &notes);
    let self_intersections = folding(surface, &filled.mesh, shell)?;
    if shell.options().json {
        shell.print_json(&Results { report, self_intersections })?;
        return Ok(filled.mesh);
    }
    let [least, most] = report.dihedral_degrees;
    shell.say(format!(
        "{} vertices and {} nodes inside, {} tets; volume {:.5} of the surface's; dihedral {least:.1}° to {most:.1}°",
        report.surface_vertices, report.interior_nodes, report.tets, report.volume_ratio,
    ));
    tell_folding(&self_intersections, shell);
    Ok(filled.mesh)
}

fn make_body(args: &Args, surface: &TriMesh, shell: &Shell) -> anyhow::Result<TetMesh> {
    let nodes = args.nodes.unwrap_or(body::Params::default().nodes);
    let params = body::Params { nodes, spacing: args.spacing };
    let made = shell.with_progress("tetrahedralize", |run| body(surface, &params, run))?;
    let report = &made.report;
    let mut notes = Vec::new();
    if report.pieces > report.surface_parts {
        notes.push(format!(
            "the body is in {} pieces, the surface in {}: more --nodes may join them",
            report.pieces, report.surface_parts
        ));
    }
    if report.touching_edges > 0 {
        notes.push(format!("{} edges touch: near parts are glued together", report.touching_edges));
    }
    if report.volume_ratio > 1.5 {
        notes
            .push("the body is thin throughout and was thickened: ask for more --nodes".to_owned());
    }
    shell.warn("tetrahedralize", &notes);
    let self_intersections = folding(surface, &made.mesh, shell)?;
    if shell.options().json {
        shell.print_json(&Results { report, self_intersections })?;
        return Ok(made.mesh);
    }
    let [least, most] = report.dihedral_degrees;
    shell.say(format!(
        "{} nodes, {} tets, spacing {}; volume {:.3} of the surface's; dihedral {least:.1}° to {most:.1}°; \
         {} vertices of the skin outside, by up to {:.2} spacings",
        report.nodes,
        report.tets,
        report.spacing,
        report.volume_ratio,
        report.skin_outside,
        report.skin_outside_max,
    ));
    tell_folding(&self_intersections, shell);
    Ok(made.mesh)
}

fn read(path: &Path, shell: &Shell) -> anyhow::Result<TetMesh> {
    let loaded = io::read_tets(path)?;
    shell.warn(&path.display().to_string(), &loaded.warnings);
    Ok(loaded.mesh)
}

fn write(path: &Path, mesh: &TetMesh, shell: &Shell) -> anyhow::Result<()> {
    let warnings = io::write_tets(path, mesh)?;
    shell.warn(&path.display().to_string(), &warnings);
    Ok(())
}

/// `supple convert` from a file of tets to another, or to their boundary as a surface.
pub(crate) fn convert(input: &Path, output: &Path, shell: &Shell) -> anyhow::Result<ExitCode> {
    if !io::is_tets(input) {
        bail!("{} is a surface: supple tetrahedralize makes tets from it", input.display());
    }
    let mesh = read(input, shell)?;
    io::check_output(output)?;
    if io::TetFormat::of(output).is_some() {
        write(output, &mesh, shell)?;
    } else {
        let mut surface = mesh.surface();
        let remove = Removals { degenerate: false, duplicate: false, unreferenced: true };
        let params =
            repair::Params { weld_tolerance: None, largest_hole: 0, remove, orient: false };
        repair::repair(&mut surface, &params, &shell.quiet_run());
        let folding = super::folding(&surface, &surface, shell)?;
        let warnings = io::write(output, &Asset::from_mesh(surface))?;
        shell.warn(&output.display().to_string(), &warnings);
        shell.say(format!("self-intersections {}", folding.after));
    }
    shell.say(format!("{} → {}", input.display(), output.display()));
    Ok(ExitCode::SUCCESS)
}

/// What `supple info` tells of a file of tets, under the names it has in JSON.
#[derive(Debug, Serialize)]
struct Info {
    kind: &'static str,
    vertices: usize,
    tets: usize,
    boundary_triangles: usize,
    /// Every edge of the boundary is in two of its triangles.
    closed: bool,
    components: usize,
    volume: f64,
    area: f64,
    dihedral_degrees: Option<[f64; 2]>,
    bounds: Option<[[f32; 3]; 2]>,
    attributes: Vec<String>,
}

/// `supple info` of a file of tets.
pub(crate) fn info(path: &Path, shell: &Shell) -> anyhow::Result<ExitCode> {
    let mesh = read(path, shell)?;
    let run = shell.quiet_run();
    let surface = mesh.surface();
    let topology = adjacency::topology(surface.positions.len(), &surface.triangles, &run);
    let bounds = measure::Bounds::of(&mesh.positions);
    let info = Info {
        kind: "tets",
        vertices: mesh.positions.len(),
        tets: mesh.tets.len(),
        boundary_triangles: surface.triangles.len(),
        closed: topology.is_closed(),
        components: adjacency::components(surface.positions.len(), &surface.triangles).count,
        volume: mesh.volume(),
        area: measure::area(&surface.positions, &surface.triangles, &run),
        dihedral_degrees: mesh.dihedral_degrees(&run),
        bounds: bounds.map(|b| [b.min.to_array(), b.max.to_array()]),
        attributes: mesh.attributes.iter().map(|a| a.name.clone()).collect(),
    };
    if shell.options().json {
        shell.print_json(&info)?;
    } else {
        print(&path.display().to_string(), &info);
    }
    Ok(ExitCode::SUCCESS)
}

fn print(file: &str, info: &Info) {
    shell::out(&format!("{file}: {}", info.kind));
    let line = |name: &str, value: String| shell::out(&format!("  {name:<20} {value}"));
    line("vertices", info.vertices.to_string());
    line("tets", info.tets.to_string());
    let manifold = if info.closed { "closed" } else { "with edges in more than two" };
    line("boundary", format!("{} triangles, {manifold}", info.boundary_triangles));
    line("components", info.components.to_string());
    line("volume", format!("{:.6}", info.volume));
    line("area", format!("{:.6}", info.area));
    if let Some([least, most]) = info.dihedral_degrees {
        line("dihedral angles", format!("{least:.1}° to {most:.1}°"));
    }
    if let Some([min, max]) = info.bounds {
        line("bounds", format!("{min:?} … {max:?}"));
    }
    let attributes = info.attributes.join(", ");
    line("attributes", if attributes.is_empty() { "none".to_owned() } else { attributes });
}

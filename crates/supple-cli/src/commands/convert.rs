//! `supple convert`: from one file format to another.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use supple::mesh::repair::{self, Removals};
use supple::{Asset, TriMesh, io};

use super::number;
use crate::shell::Shell;

/// Write a file in another format, keeping vertex order and attributes
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// File to read
    input: PathBuf,
    /// File to write; its ending says the format
    output: PathBuf,
    /// Merge vertices that are at most this far apart (in the file's units) first
    #[arg(long, value_parser = number::<f32>, value_name = "DISTANCE")]
    weld: Option<f32>,
    /// Weld exact copies, drop triangles without area and duplicates, face them all outward first
    #[arg(long)]
    repair: bool,
    /// Close holes of up to this many edges first
    #[arg(long, value_name = "EDGES", default_value_t = 0)]
    fill_holes: usize,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    if io::is_tets(&args.input) || io::TetFormat::of(&args.output).is_some() {
        return super::tetrahedralize::convert(&args.input, &args.output, shell);
    }
    let mut asset = super::read(&args.input, shell)?;
    io::check_output(&args.output)?;
    let had_triangles = asset.meshes.iter().any(|mesh| !mesh.triangles.is_empty());
    let changes = args.repair || args.weld.is_some() || args.fill_holes > 0;
    let before = (changes && had_triangles).then(|| asset.clone());
    for mesh in &mut asset.meshes {
        mend(mesh, args, shell)?;
    }
    if asset.meshes.iter().all(|mesh| mesh.triangles.is_empty()) && asset.clouds.is_empty() {
        if had_triangles {
            bail!(
                "{}: no triangle is left after the repairs, so nothing is written; look at it with \
                 'supple info', or convert it without --repair",
                args.input.display()
            );
        }
        shell.warn(&args.input.display().to_string(), &["it has no triangles"]);
    }
    let warnings = io::write(&args.output, &asset)?;
    shell.warn(&args.output.display().to_string(), &warnings);
    shell.say(format!("{} → {}", args.input.display(), args.output.display()));
    if let Some(before) = before {
        tell_folding(args, [before, asset], shell)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Says what welding and filling did to the self-intersections of the shape at rest.
fn tell_folding(args: &Args, shapes: [Asset; 2], shell: &Shell) -> anyhow::Result<()> {
    let [before, after] = shapes.map(|asset| super::rest_mesh(&args.input, asset, shell));
    let folding = super::folding(&before?, &after?, shell)?;
    shell.warn("convert", folding.warning().as_slice());
    shell.say(format!("self-intersections {} → {}", folding.before, folding.after));
    Ok(())
}

/// Makes the repairs that were asked for and says what was done.
fn mend(mesh: &mut TriMesh, args: &Args, shell: &Shell) -> anyhow::Result<()> {
    if let Some(distance) = args.weld
        && !(distance >= 0.0 && distance.is_finite())
    {
        bail!("--weld {distance} is no distance; give one of 0 or more");
    }
    let params = repair::Params {
        weld_tolerance: args.weld.or(args.repair.then_some(0.0)),
        largest_hole: args.fill_holes,
        remove: Removals {
            degenerate: args.repair,
            duplicate: args.repair,
            unreferenced: args.repair,
        },
        orient: args.repair,
    };
    let report = repair::repair(mesh, &params, &shell.quiet_run());
    for (count, what) in [
        (report.welded_vertices, "vertices welded"),
        (report.degenerate_triangles, "triangles without area removed"),
        (report.duplicate_triangles, "duplicate triangles removed"),
        (report.unreferenced_vertices, "unused vertices removed"),
        (report.filled_holes, "holes closed"),
        (report.flipped_triangles, "triangles turned round"),
        (report.conflicting_edges, "edges whose triangles cannot agree on a side"),
    ] {
        if count > 0 {
            shell.say(format!("{count} {what}"));
        }
    }
    Ok(())
}

//! `supple remesh`: triangles of one size and good shape on the same surface.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde::Serialize;
use supple::io;
use supple::mesh::remesh::{Params, Report, Target};
use supple::rig::remeshing::{Done, remesh_all};

use super::number;
use crate::shell::Shell;

/// Give a mesh triangles of one size and good shape, on the same surface
///
/// Sharp edges, borders, texture seams and materials stay where they are; vertex attributes, texture
/// coordinates, skin weights and morph targets come along. Nothing intersects that did not before, and borders that
/// meshes share stay as they are.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// File to read
    input: PathBuf,
    /// File to write; its ending says the format
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Edges of about this length, in the file's units
    #[arg(long, value_parser = number::<f32>, value_name = "L", group = "target", allow_negative_numbers = true)]
    length: Option<f32>,
    /// About so many triangles, shared out by area if there are several meshes
    #[arg(long, value_name = "N", group = "target")]
    triangles: Option<usize>,
    /// Edges of about this multiple of the mean edge length; 1 if nothing else is given
    #[arg(long, value_parser = number::<f32>, value_name = "R", group = "target", allow_negative_numbers = true)]
    ratio: Option<f32>,
    /// Rounds of splitting, merging, turning and smoothing
    #[arg(long, value_name = "N", default_value_t = 10)]
    iterations: u32,
    /// Keep edges whose triangles meet at more than this; 180 keeps borders and seams only
    #[arg(long, value_parser = number::<f32>, value_name = "DEGREES", default_value_t = 40.0)]
    feature_angle: f32,
}

const EXAMPLES: &str = "\
Examples:
  supple zoo cow -o cow.ply
  supple remesh cow.ply -o even.ply
  supple remesh cow.ply -o coarse.ply --triangles 2000
  supple remesh cow.ply -o fine.ply --length 0.02 --feature-angle 60";

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let mut asset = super::read(&args.input, shell)?;
    io::check_output(&args.output)?;
    if asset.meshes.iter().all(|mesh| mesh.triangles.is_empty()) {
        bail!("{}: there are no triangles to remesh", args.input.display());
    }
    let params = params(args);
    let done = shell.with_progress("remeshing", |run| remesh_all(&mut asset, &params, run));
    let done = done.with_context(|| args.input.display().to_string())?;
    let warnings = io::write(&args.output, &asset)?;
    shell.warn(&args.output.display().to_string(), &warnings);
    tell(&done, shell)?;
    Ok(ExitCode::SUCCESS)
}

fn params(args: &Args) -> Params {
    let target = match (args.length, args.triangles) {
        (Some(length), _) => Target::Length(length),
        (_, Some(triangles)) => Target::Triangles(triangles),
        _ => Target::Ratio(args.ratio.unwrap_or(1.0)),
    };
    Params { target, iterations: args.iterations, feature_degrees: args.feature_angle }
}

/// What `remesh` tells, under the names it has in JSON: of all meshes together, and of each if there are several.
#[derive(Debug, Serialize)]
struct Results<'a> {
    #[serde(flatten)]
    all: Report,
    #[serde(skip_serializing_if = "<[Report]>::is_empty")]
    meshes: &'a [Report],
}

fn tell(done: &Done, shell: &Shell) -> anyhow::Result<()> {
    let (all, reports) = (together(done), &done.meshes);
    shell.warn("remesh", &all.warnings);
    let added = all.intersections_after.saturating_sub(all.intersections_before);
    if added > 0 {
        shell.warn("remesh", &[format!("{added} pairs of triangles intersect that did not")]);
    }
    if shell.options().json {
        let meshes = if reports.len() > 1 { &reports[..] } else { &[] };
        return shell.print_json(&Results { all, meshes });
    }
    let Report { triangles_before, triangles_after, length, .. } = all;
    shell.say(format!("{triangles_before} → {triangles_after} triangles, edges of about {length}"));
    let Report { intersections_before: before, intersections_after: after, .. } = all;
    shell.say(format!("self-intersections {before} → {after}"));
    Ok(())
}

/// The sums over all meshes, pairs of two meshes included; the edge length is the mean over their triangles.
fn together(done: &Done) -> Report {
    let mut all = Report {
        intersections_before: done.intersections_before as usize,
        intersections_after: done.intersections_after as usize,
        ..Report::default()
    };
    let mut lengths = 0.0;
    for report in &done.meshes {
        all.triangles_before += report.triangles_before;
        all.triangles_after += report.triangles_after;
        all.splits += report.splits;
        all.merges += report.merges;
        all.turns += report.turns;
        all.warnings.extend_from_slice(&report.warnings);
        lengths += f64::from(report.length) * report.triangles_after as f64;
    }
    all.warnings.sort();
    all.warnings.dedup();
    all.length = (lengths / all.triangles_after.max(1) as f64) as f32;
    all
}

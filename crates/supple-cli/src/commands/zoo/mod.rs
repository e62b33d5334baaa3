//! `supple zoo`: the built-in models and flows.

mod flow;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use supple::zoo::tet_bodies;
use supple::{Asset, io, zoo};

use crate::shell::Shell;

/// List the built-in models and flows, or write one to a file
///
/// Bodies of tets (`supple zoo jellyfish -o bell.msh`) are written with their fields; into a format for surfaces, their skin.
/// Flows are written as a series: `supple zoo gyre -o gyre.pvd --size 129x65x5 --levels 41`. Those of cylinder, square,
/// wing and ramp are simulated, which takes minutes.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Which model; without it, lists them all
    name: Option<String>,
    /// File to write; its ending says the format
    #[arg(short, long, value_name = "FILE", requires = "name")]
    output: Option<PathBuf>,
    /// How many triangles; the model's own number if not given
    #[arg(long, value_name = "N")]
    triangles: Option<usize>,
    /// About how many vertices a body of tets has; its own number if not given
    #[arg(long, value_name = "N")]
    vertices: Option<usize>,
    /// Nodes of a flow along x, y and z
    #[arg(long, value_name = "XxYxZ", value_parser = nodes)]
    size: Option<[usize; 3]>,
    /// Levels of a flow over time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    levels: Option<u32>,
}

fn nodes(text: &str) -> Result<[usize; 3], String> {
    let wrong = || format!("'{text}' is no size; write it like 129x65x5");
    let number =
        |part: &str| part.trim().parse::<usize>().ok().filter(|&n| (1..=4096).contains(&n));
    let numbers: Option<Vec<usize>> = text.split(['x', '×']).map(number).collect();
    numbers.and_then(|n| n.try_into().ok()).ok_or_else(wrong)
}

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    match &args.name {
        Some(name) => write(name, args, shell)?,
        None => list(shell)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write(name: &str, args: &Args, shell: &Shell) -> anyhow::Result<()> {
    let output = args.output.as_ref().context("say where to write it: -o FILE")?;
    if flow::is_known(name) {
        let levels = args.levels.map(|n| n as usize);
        return flow::write(name, &flow::Wanted { output, size: args.size, levels }, shell);
    }
    let is_model = zoo::names().iter().any(|entry| entry.name == name);
    let is_body = tet_bodies::BODIES.iter().any(|entry| entry.name == name);
    if is_body && (io::TetFormat::of(output).is_some() || !is_model) {
        return write_body(name, output, args, shell);
    }
    let size = zoo::Size { triangles: args.triangles };
    let asset = shell.with_progress(name, |run| zoo::build(name, &size, run))?;
    let warnings = io::write(output, &asset)?;
    shell.warn(&output.display().to_string(), &warnings);
    let triangles: usize = asset.meshes.iter().map(|mesh| mesh.triangles.len()).sum();
    shell.say(format!("{name}: {triangles} triangles → {}", output.display()));
    Ok(())
}

/// A body of tets, or its skin where the format holds surfaces alone.
fn write_body(name: &str, output: &Path, args: &Args, shell: &Shell) -> anyhow::Result<()> {
    let to = output.display();
    if io::TetFormat::of(output).is_none() {
        let skin = tet_bodies::surface(name, args.triangles)?;
        let triangles = skin.triangles.len();
        shell.warn(&to.to_string(), &io::write(output, &Asset::from_mesh(skin))?);
        shell.say(format!("{name}: {triangles} triangles → {to}"));
        return Ok(());
    }
    let body = tet_bodies::build(name, args.vertices)?;
    shell.warn(&to.to_string(), &io::write_tets(output, &body)?);
    shell.say(format!(
        "{name}: {} vertices, {} tets → {to}",
        body.positions.len(),
        body.tets.len()
    ));
    Ok(())
}

fn list(shell: &Shell) -> anyhow::Result<()> {
    if shell.options().json {
        let bodies = tet_bodies::BODIES.iter().map(|entry| entry.name);
        let morphs = zoo::morph_names();
        let names = zoo::names().iter().map(|entry| entry.name);
        let names: Vec<_> = names.chain(morphs).chain(bodies).collect();
        return shell.print_json(&names);
    }
    for entry in zoo::names() {
        shell.say(format!(
            "{:<10} {:>7} triangles  {}",
            entry.name, entry.default_triangles, entry.what
        ));
    }
    for entry in tet_bodies::BODIES {
        shell.say(format!(
            "{:<10} {:>7} vertices of tets  {}",
            entry.name, entry.default_vertices, entry.what
        ));
    }
    let morphs = zoo::morph_names().join(", ");
    shell.say(format!("with morph targets, for blends: {morphs}"));
    Ok(())
}

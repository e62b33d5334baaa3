//! `supple zoo`: the built-in models.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use supple::{io, zoo};

use crate::shell::Shell;

/// List the built-in models, or write one to a file
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
    let size = zoo::Size { triangles: args.triangles };
    let asset = shell.with_progress(name, |run| zoo::build(name, &size, run))?;
    let warnings = io::write(output, &asset)?;
    shell.warn(&output.display().to_string(), &warnings);
    let triangles: usize = asset.meshes.iter().map(|mesh| mesh.triangles.len()).sum();
    shell.say(format!("{name}: {triangles} triangles → {}", output.display()));
    Ok(())
}

fn list(shell: &Shell) -> anyhow::Result<()> {
    if shell.options().json {
        let names: Vec<_> = zoo::names().iter().map(|entry| entry.name).collect();
        return shell.print_json(&names);
    }
    for entry in zoo::names() {
        shell.say(format!("{:<10} {:>7} triangles  {}", entry.name, entry.default_triangles, entry.what));
    }
    Ok(())
}

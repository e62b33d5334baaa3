//! `supple convert`: from one file format to another.

use std::path::PathBuf;
use std::process::ExitCode;

use supple::io;

use crate::shell::Shell;

/// Write a file in another format, keeping vertex order and attributes
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// File to read
    input: PathBuf,
    /// File to write; its ending says the format
    output: PathBuf,
    /// Merge vertices that are at most this far apart (in the file's units) first
    #[arg(long, value_name = "DISTANCE")]
    weld: Option<f32>,
    /// Drop degenerate and duplicate triangles, orient consistently, close small holes first
    #[arg(long)]
    repair: bool,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let mut asset = super::read(&args.input, shell)?;
    for mesh in &mut asset.meshes {
        mend(mesh, args, shell)?;
    }
    let warnings = io::write(&args.output, &asset)?;
    shell.warn(&args.output.display().to_string(), &warnings);
    shell.say(format!("{} → {}", args.input.display(), args.output.display()));
    Ok(ExitCode::SUCCESS)
}

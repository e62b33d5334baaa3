//! `supple completions`: a script for the shell.

use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell as ShellKind;

use super::Cli;

/// Print a completion script for a shell
///
/// For bash: `supple completions bash > ~/.local/share/bash-completion/completions/supple`
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Which shell
    shell: ShellKind,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "supple", &mut script);
    crate::shell::out(String::from_utf8(script)?.trim_end());
    Ok(ExitCode::SUCCESS)
}

//! The `supple` command: each subcommand is a thin face of the library.

mod bench;
mod commands;
mod options;
mod shell;

use std::process::ExitCode;

use clap::Parser as _;

use crate::commands::{Cli, Command};
use crate::shell::Shell;

fn main() -> ExitCode {
    supple::io::protect_inputs();
    let cli = Cli::parse();
    let shell = match Shell::new(&cli.global) {
        Ok(shell) => shell,
        Err(error) => return shell::fail(&error),
    };
    match run(cli.command, &shell) {
        Ok(code) => code,
        Err(error) => shell::fail(&error),
    }
}

fn run(command: Command, shell: &Shell) -> anyhow::Result<ExitCode> {
    match command {
        Command::Info(args) => commands::info::run(&args, shell),
        Command::Check(args) => commands::check::run(&args, shell),
        Command::Render(args) => commands::render::run(&args, shell),
        Command::Convert(args) => commands::convert::run(&args, shell),
        Command::New(args) => commands::new::run(&args, shell),
        Command::Bake(args) => commands::bake::run(&args, shell),
        Command::Deform(args) => commands::deform::run(&args, shell),
        Command::Remesh(args) => commands::remesh::run(&args, shell),
        Command::Tetrahedralize(args) => commands::tetrahedralize::run(&args, shell),
        Command::Skin(args) => commands::skin::run(&args, shell),
        Command::Blend(args) => commands::blend::run(&args, shell),
        Command::Smoke(args) => commands::smoke::run(&args, shell),
        Command::Procdef(args) => commands::procdef::run(&args, shell),
        Command::Demo(args) => commands::demo::run(&args, shell),
        Command::Zoo(args) => commands::zoo::run(&args, shell),
        Command::Schema(args) => commands::schema::run(&args),
        Command::Bench(args) => bench::run(&args, shell),
        Command::Completions(args) => commands::completions::run(&args),
    }
}

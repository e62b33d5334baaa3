//! The binary as a person runs it.

use std::path::Path;
use std::process::{Command, Output};

/// Runs a command in a folder.
pub(crate) fn supple(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_supple"))
        .current_dir(folder)
        .args(args)
        .output()
        .expect("the binary runs")
}

/// Runs a command that must succeed and gives what it printed.
pub(crate) fn ok(folder: &Path, args: &[&str]) -> String {
    let output = supple(folder, args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "supple {args:?} failed: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

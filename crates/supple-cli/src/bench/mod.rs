//! `supple bench`: how fast and how exact, on this machine, beside the sources' figures.

mod contact;
mod foreign;
mod geodesic;
mod mesh;
mod remesh;
mod sculpt;
mod secondary;
mod skinning;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde::Serialize;
use supple::run::Cancelled;

use crate::shell::{self, Shell};

/// Time a row may take before its median is taken from fewer repeats.
const BUDGET: Duration = Duration::from_secs(4);
/// Repeats that make a median worth having.
const REPEATS: usize = 15;

/// Measure this machine: a table for people, one JSON object a line with --json
///
/// Rows that compare with a foreign program run it when it is installed (Python's trimesh, potpourri3d
/// and pymeshlab; set `SUPPLE_PYTHON` to the interpreter that has them) and say so when it is not.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What to measure; everything if not given
    #[arg(value_parser = ["mesh", "sculpt", "secondary", "skinning"])]
    capability: Option<String>,
    /// Only the rows whose name contains this
    #[arg(long, value_name = "TEXT")]
    row: Option<String>,
}

/// One measurement.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    bench: &'static str,
    row: &'static str,
    value: f64,
    unit: &'static str,
    better: &'static str,
    /// The source's figure in the same unit.
    paper: Option<f64>,
    target: Option<f64>,
    threads: usize,
    note: String,
}

/// What the rows of one capability need.
pub(crate) struct Bench<'a> {
    pub(crate) shell: &'a Shell,
    only: Option<&'a str>,
}

impl Bench<'_> {
    /// True if the person asked for this row.
    pub(crate) fn wants(&self, row: &str) -> bool {
        self.only.is_none_or(|text| row.contains(text))
    }

    /// Prints a row as soon as it is measured.
    pub(crate) fn print(&self, row: &Row) -> anyhow::Result<()> {
        if self.shell.options().json {
            return self.shell.print_json(row);
        }
        let figure = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), figure_text);
        let met = match row.target {
            Some(target) if is_met(row, target) => "✓",
            Some(_) => "✗",
            None => " ",
        };
        let text = format!(
            "{:<28} {:>12} {:<6} {met} target {:>10}  paper {:>10}  {}",
            format!("{} {}", row.bench, row.row),
            figure(Some(row.value)),
            row.unit,
            figure(row.target),
            figure(row.paper),
            row.note
        );
        shell::out(text.trim_end());
        Ok(())
    }
}

/// Four decimals, or an exponent for what would vanish in them.
fn figure_text(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-2 { format!("{value:.2e}") } else { format!("{value:.4}") }
}

fn is_met(row: &Row, target: f64) -> bool {
    if row.better == "lower" { row.value <= target } else { row.value >= target }
}

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let bench = Bench { shell, only: args.row.as_deref() };
    type Rows = fn(&Bench<'_>) -> anyhow::Result<()>;
    let all: [(&str, Rows); 6] = [
        ("mesh", mesh::run),
        ("sculpt", sculpt::run),
        ("sculpt", remesh::run),
        ("secondary", secondary::run),
        ("secondary", contact::run),
        ("skinning", skinning::run),
    ];
    for (name, rows) in all {
        if args.capability.as_deref().is_none_or(|wanted| wanted == name) {
            rows(&bench)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Median time of `work` in milliseconds, over enough repeats to trust it.
pub(crate) fn median_ms<R>(
    shell: &Shell,
    mut work: impl FnMut() -> anyhow::Result<R>,
) -> anyhow::Result<f64> {
    let started = Instant::now();
    let mut times = Vec::with_capacity(REPEATS);
    while times.len() < REPEATS && (times.len() < 3 || started.elapsed() < BUDGET) {
        if shell.quiet_run().is_cancelled() {
            return Err(Cancelled.into());
        }
        let start = Instant::now();
        let result = work()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        drop(std::hint::black_box(result));
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

//! `supple bench`: how fast and how exact, on this machine, beside the sources' figures.

mod blendshape;
mod contact;
mod crowds;
mod figures;
mod foreign;
mod fuzz;
mod geodesic;
mod mesh;
mod procdef;
mod remesh;
mod render;
mod saved;
mod sculpt;
mod secondary;
mod skinning;
mod smoke;
mod smoke_files;
mod smoke_mesh;
mod tables;
mod tetrahedralize;

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use supple::run::Cancelled;

use self::saved::Saved;
use crate::commands::number;
use crate::shell::{self, Shell};

/// Time a row may take before its median is taken from fewer repeats.
const BUDGET: Duration = Duration::from_secs(4);
/// Repeats that make a median worth having.
const REPEATS: usize = 15;
/// Whether each row runs once only.
static ONCE: AtomicBool = AtomicBool::new(false);

/// Measure this machine: a table for people, one JSON object a line with --json
///
/// `supple bench fuzz --minutes 60` measures nothing: it attacks the readers with altered files and the
/// player with random scenes.
///
/// Rows whose note begins with `kernel` call one routine by itself; what stands for a table of frames plays scenes.
///
/// Rows that compare with a foreign program run it when it is installed (Python's trimesh, potpourri3d,
/// pymeshlab and libigl; set `SUPPLE_PYTHON` to the interpreter that has them) and say so when it is not.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What to measure; everything if not given
    #[arg(value_parser = [
        "mesh",
        "sculpt",
        "secondary",
        "skinning",
        "blendshape",
        "procdef",
        "smoke",
        "render",
        "fuzz",
    ])]
    capability: Option<String>,
    /// Only the rows whose name contains this
    #[arg(long, value_name = "TEXT")]
    row: Option<String>,
    /// Keep the rows in this file
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Compare with the rows of such a file: how many times worse each became, worst first
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Also count the instructions of each row, with valgrind: slow, and not disturbed by other programs
    #[arg(long)]
    instructions: bool,
    /// How long `fuzz` attacks the readers with altered files; they share the time
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = number::<f64>)]
    minutes: f64,
    /// How many altered files of each kind, or random scenes, `fuzz` tries, however long it takes
    #[arg(long, value_name = "N", conflicts_with = "minutes")]
    count: Option<u64>,
    /// Which altered files `fuzz` begins with
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Run each row once only
    #[arg(long, hide = true)]
    once: bool,
}

/// The name of the function that a row's work runs in, for valgrind.
const MEASURED: &str = "measured_work";

/// One measurement.
#[derive(Clone, Debug, Serialize)]
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
    rows: RefCell<Vec<Row>>,
}

impl Bench<'_> {
    /// True if the person asked for this row.
    pub(crate) fn wants(&self, row: &str) -> bool {
        self.only.is_none_or(|text| row.contains(text))
    }

    /// Prints a row as soon as it is measured.
    pub(crate) fn print(&self, row: &Row) -> anyhow::Result<()> {
        self.rows.borrow_mut().push(row.clone());
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
    if args.capability.as_deref() == Some("fuzz") {
        let (minutes, seed, only) = (args.minutes, args.seed, args.row.as_deref());
        return fuzz::run(&fuzz::Plan { minutes, count: args.count, seed, only }, shell);
    }
    let before = args.against.as_deref().map(Saved::read).transpose()?;
    let bench = Bench { shell, only: args.row.as_deref(), rows: RefCell::default() };
    ONCE.store(args.once, Ordering::Relaxed);
    type Rows = fn(&Bench<'_>) -> anyhow::Result<()>;
    let all: &[(&str, Rows)] = &[
        ("mesh", mesh::run),
        ("blendshape", tetrahedralize::run),
        ("sculpt", sculpt::run),
        ("sculpt", remesh::run),
        ("secondary", secondary::run),
        ("secondary", contact::run),
        ("skinning", skinning::run),
        ("blendshape", blendshape::run),
        ("smoke", smoke::run),
        ("procdef", procdef::run),
        ("render", render::run),
    ];
    for &(name, rows) in all {
        if args.capability.as_deref().is_none_or(|wanted| wanted == name) {
            rows(&bench)?;
        }
    }
    let mut saved = Saved::of(&bench.rows.into_inner());
    if args.instructions {
        saved.count_instructions(shell)?;
    }
    if let Some(path) = &args.save {
        saved.write(path)?;
    }
    if let Some(before) = before {
        saved.compare(&before, shell)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Median time of `work` in milliseconds, over enough repeats to trust it.
pub(crate) fn median_ms<R>(
    shell: &Shell,
    work: impl FnMut() -> anyhow::Result<R>,
) -> anyhow::Result<f64> {
    let times = sorted_ms(shell, work)?;
    Ok(times[times.len() / 2])
}

/// Times of several runs of some work, the least first.
pub(crate) fn sorted_ms<R>(
    shell: &Shell,
    mut work: impl FnMut() -> anyhow::Result<R>,
) -> anyhow::Result<Vec<f64>> {
    let started = Instant::now();
    let mut times = Vec::with_capacity(REPEATS);
    let repeats = if ONCE.load(Ordering::Relaxed) { 1 } else { REPEATS };
    while times.len() < repeats && (times.len() < 3 || started.elapsed() < BUDGET) {
        if shell.quiet_run().is_cancelled() {
            return Err(Cancelled.into());
        }
        let start = Instant::now();
        let result = measured_work(&mut work)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        drop(std::hint::black_box(result));
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// Not inlined, so that valgrind can count what happens inside it and nothing else.
#[inline(never)]
fn measured_work<R>(work: &mut impl FnMut() -> anyhow::Result<R>) -> anyhow::Result<R> {
    work()
}

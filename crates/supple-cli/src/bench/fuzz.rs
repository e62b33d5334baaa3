//! `supple bench fuzz`: readers under attack for as long as one likes.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::Serialize;
use supple::hostile::{self, READERS, Reader, Report};
use supple::io;

use crate::shell::{self, Shell};

/// Mutations of one task; between rounds of tasks the clock is looked at.
const TASK: u64 = 250;

/// What `bench fuzz` tells of one reader, under the names it has in JSON.
#[derive(Debug, Serialize)]
struct Told<'a> {
    bench: &'static str,
    reader: &'a str,
    seed: u64,
    mutations: u64,
    accepted: u64,
    longest_ms: f64,
    finds: Vec<PathBuf>,
}

/// How long, from where, and which readers.
pub(super) struct Plan<'a> {
    pub(super) minutes: f64,
    pub(super) seed: u64,
    pub(super) only: Option<&'a str>,
}

/// Alters files and reads them until the time is over; the readers share it. Fails if there was a find.
pub(super) fn run(plan: &Plan<'_>, shell: &Shell) -> anyhow::Result<ExitCode> {
    let wanted = |reader: &&Reader| plan.only.is_none_or(|text| reader.name.contains(text));
    let readers: Vec<&Reader> = READERS.iter().filter(wanted).collect();
    let names = || READERS.map(|reader| reader.name).join(", ");
    anyhow::ensure!(!readers.is_empty(), "no such reader; there are {}", names());
    let each = Duration::from_secs_f64(60.0 * plan.minutes.max(0.0) / readers.len() as f64);
    let mut found = false;
    for reader in readers {
        let report = hunt(reader, plan.seed, each, shell)?;
        let told = Told {
            bench: "fuzz",
            reader: reader.name,
            seed: plan.seed,
            mutations: report.tried,
            accepted: report.accepted,
            longest_ms: 1e3 * report.longest_secs,
            finds: keep(reader, plan.seed, &report)?,
        };
        found |= !told.finds.is_empty();
        tell(&told, shell)?;
    }
    Ok(if found { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Attacks one reader on all threads.
fn hunt(reader: &Reader, seed: u64, time: Duration, shell: &Shell) -> anyhow::Result<Report> {
    let run = shell.quiet_run();
    let (start, mut first) = (Instant::now(), 0);
    let mut report = Report::default();
    let tasks = 4 * shell.threads() as u64;
    while report.finds.is_empty() && (first == 0 || start.elapsed() < time) {
        run.check()?;
        let parts = run.map_tasks(tasks as usize, |task| {
            let from = first + TASK * task as u64;
            hostile::attack(reader, seed, from..from + TASK)
        });
        for part in parts {
            report.tried += part.tried;
            report.accepted += part.accepted;
            report.longest_secs = report.longest_secs.max(part.longest_secs);
            report.finds.extend(part.finds);
        }
        first += TASK * tasks;
    }
    Ok(report)
}

/// Writes the files that did harm, to be looked at.
fn keep(reader: &Reader, seed: u64, report: &Report) -> anyhow::Result<Vec<PathBuf>> {
    let write = |find: &hostile::Find| {
        let path = Path::new(".").join(format!("fuzz-{seed}-{}.{}", find.number, reader.name));
        io::save(&path, |out| out.write_all(&find.file))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    };
    report.finds.iter().map(write).collect()
}

fn tell(told: &Told<'_>, shell: &Shell) -> anyhow::Result<()> {
    if shell.options().json {
        return shell.print_json(told);
    }
    shell::out(&format!(
        "fuzz {:<8} {:>10} mutations, {:>8} read as sound, longest {:.1} ms, {} finds",
        told.reader,
        told.mutations,
        told.accepted,
        told.longest_ms,
        told.finds.len()
    ));
    for file in &told.finds {
        shell::out(&format!("  it did harm: {}", file.display()));
    }
    Ok(())
}

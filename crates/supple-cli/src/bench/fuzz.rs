//! `supple bench fuzz`: readers under attack for as long as one likes.

use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::Serialize;
use supple::hostile::{self, READERS, Report};
use supple::io;

use crate::shell::{self, Shell};

/// Mutations of one task; between rounds of tasks the clock is looked at.
const TASK: u64 = 250;

/// The row that plays random scenes.
const SCENES: &str = "scenes";

/// What `bench fuzz` tells of one reader, under the names it has in JSON.
#[derive(Debug, Serialize)]
struct Results<'a> {
    bench: &'static str,
    reader: &'a str,
    seed: u64,
    mutations: u64,
    accepted: u64,
    longest_ms: f64,
    finds: Vec<PathBuf>,
}

/// How long or how many, from where, and which readers.
pub(super) struct Plan<'a> {
    pub(super) minutes: f64,
    pub(super) count: Option<u64>,
    pub(super) seed: u64,
    pub(super) only: Option<&'a str>,
}

/// What is attacked: a name, how many tries make a task, and the tries of these numbers.
type Attack<'a> = (&'a str, u64, Box<dyn Fn(Range<u64>) -> Report + Sync + 'a>);

/// Alters files and reads them, and plays random scenes, until the time is over; the readers share it. Fails if there
/// was a find.
pub(super) fn run(plan: &Plan<'_>, shell: &Shell) -> anyhow::Result<ExitCode> {
    let scratch = std::env::temp_dir().join(format!("supple-fuzz-{}", std::process::id()));
    let seed = plan.seed;
    let mut attacks: Vec<Attack<'_>> = Vec::new();
    for reader in &READERS {
        attacks.push((reader.name, TASK, Box::new(move |n| hostile::attack(reader, seed, n))));
    }
    let play = |numbers| hostile::attack_player(&scratch, seed, numbers);
    attacks.push((SCENES, 1, Box::new(play)));
    // A name that is part of others (vtk, scene) means itself.
    let is_whole = attacks.iter().any(|attack| plan.only == Some(attack.0));
    let wanted = |name: &str, text: &str| name == text || (!is_whole && name.contains(text));
    attacks.retain(|attack| plan.only.is_none_or(|text| wanted(attack.0, text)));
    let names = || READERS.map(|reader| reader.name).join(", ");
    anyhow::ensure!(!attacks.is_empty(), "no such reader; there are {}, {SCENES}", names());
    let each = Duration::from_secs_f64(60.0 * plan.minutes.max(0.0) / attacks.len() as f64);
    let mut found = false;
    for attack in &attacks {
        let report = hunt(attack, plan.count, each, shell)?;
        let told = Results {
            bench: "fuzz",
            reader: attack.0,
            seed: plan.seed,
            mutations: report.tried,
            accepted: report.accepted,
            longest_ms: 1e3 * report.longest_secs,
            finds: keep(attack.0, plan.seed, &report)?,
        };
        found |= !told.finds.is_empty();
        tell(&told, &report, shell)?;
    }
    // Scenes clean up behind them; those that failed may not have.
    let _ = std::fs::remove_dir_all(&scratch);
    Ok(if found { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Attacks on all threads, for a time or, if given, so many times.
fn hunt(
    (_, task, attack): &Attack<'_>,
    count: Option<u64>,
    time: Duration,
    shell: &Shell,
) -> anyhow::Result<Report> {
    let run = shell.quiet_run();
    let (start, mut first) = (Instant::now(), 0);
    let mut report = Report::default();
    let tasks = 4 * shell.threads() as u64;
    let goes_on = |first: u64| match count {
        Some(count) => first < count,
        None => first == 0 || start.elapsed() < time,
    };
    while report.finds.is_empty() && goes_on(first) {
        run.check()?;
        let end = count.unwrap_or(u64::MAX);
        let parts = run.map_tasks(tasks as usize, |i| {
            let from = first + task * i as u64;
            attack(from.min(end)..(from + task).min(end))
        });
        for part in parts {
            report.tried += part.tried;
            report.accepted += part.accepted;
            report.longest_secs = report.longest_secs.max(part.longest_secs);
            report.finds.extend(part.finds);
        }
        first += task * tasks;
    }
    Ok(report)
}

/// Writes the files that did harm, to be looked at.
fn keep(reader: &str, seed: u64, report: &Report) -> anyhow::Result<Vec<PathBuf>> {
    let write = |find: &hostile::Find| {
        let path = Path::new(".").join(format!("fuzz-{seed}-{}.{reader}", find.number));
        io::save(&path, |out| out.write_all(&find.file))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    };
    report.finds.iter().map(write).collect()
}

fn tell(told: &Results<'_>, report: &Report, shell: &Shell) -> anyhow::Result<()> {
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
    for (file, find) in told.finds.iter().zip(&report.finds) {
        let what = find.what.lines().next().unwrap_or_default();
        shell::out(&format!("  {} did harm: {}", file.display(), shell::shown(what)));
    }
    Ok(())
}

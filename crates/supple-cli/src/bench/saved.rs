//! Rows that are kept, so that none gets slower unseen.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use supple::io;

use super::Row;
use crate::shell::{self, Shell};

/// The rows of one run of `supple bench`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Saved {
    /// Which version was measured.
    version: String,
    /// What it ran on.
    machine: String,
    rows: Vec<SavedRow>,
}

/// One row, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SavedRow {
    bench: String,
    row: String,
    value: f64,
    unit: String,
    better: String,
    threads: usize,
    /// Instructions of one run on one thread, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<u64>,
}

impl From<&Row> for SavedRow {
    fn from(row: &Row) -> Self {
        Self {
            bench: row.bench.to_owned(),
            row: row.row.to_owned(),
            value: row.value,
            unit: row.unit.to_owned(),
            better: row.better.to_owned(),
            threads: row.threads,
            instructions: None,
        }
    }
}

impl SavedRow {
    fn is_same(&self, other: &Self) -> bool {
        (&self.bench, &self.row, &self.unit) == (&other.bench, &other.row, &other.unit)
    }
}

/// A row now and before.
#[derive(Debug, PartialEq, Serialize)]
struct Change {
    bench: String,
    row: String,
    before: f64,
    now: f64,
    unit: String,
    /// How many times worse it became: above one is worse, whichever way is better.
    worse: f64,
    /// The same of its instructions, where both were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    worse_instructions: Option<f64>,
}

impl Saved {
    pub(super) fn of(rows: &[Row]) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine: machine(),
            rows: rows.iter().map(SavedRow::from).collect(),
        }
    }

    /// Reads a file that [`write`](Self::write) wrote.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        io::inputs::remember(path);
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text)
            .with_context(|| format!("{}: not a file of 'supple bench --save'", path.display()))
    }

    pub(super) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        io::save(path, |out| writeln!(out, "{text}"))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Counts the instructions of each row: once, on one thread, under callgrind.
    pub(super) fn count_instructions(&mut self, shell: &Shell) -> anyhow::Result<()> {
        for row in &mut self.rows {
            shell.quiet_run().check()?;
            row.instructions = Some(instructions(row)?);
        }
        Ok(())
    }

    /// All rows that both have, worst first; those of one name are compared in their order.
    fn changes(&self, before: &Self) -> Vec<Change> {
        let mut changes: Vec<Change> = self
            .rows
            .iter()
            .enumerate()
            .filter_map(|(i, now)| {
                let nth = self.rows[..i].iter().filter(|other| other.is_same(now)).count();
                let before = before.rows.iter().filter(|before| before.is_same(now)).nth(nth)?;
                let [a, b] = [before.instructions, now.instructions];
                Some(Change {
                    bench: now.bench.clone(),
                    row: now.row.clone(),
                    before: before.value,
                    now: now.value,
                    unit: now.unit.clone(),
                    worse: worse(before.value, now.value, &now.better),
                    worse_instructions: a.zip(b).map(|(a, b)| b as f64 / a.max(1) as f64),
                })
            })
            .collect();
        changes.sort_by(|a, b| b.worse.total_cmp(&a.worse));
        changes
    }

    /// Prints how each row changed, worst first.
    pub(super) fn compare(&self, before: &Self, shell: &Shell) -> anyhow::Result<()> {
        let changes = self.changes(before);
        if changes.is_empty() {
            bail!("the saved rows are others than those that were measured: nothing to compare");
        }
        let missing = before.rows.len().saturating_sub(changes.len());
        if missing > 0 {
            let note = format!("{missing} saved rows were not measured this time");
            shell.warn("bench", &[note]);
        }
        if before.machine != self.machine {
            let note = format!("the saved rows are from another machine: {}", before.machine);
            shell.warn("bench", &[note]);
        }
        if shell.options().json {
            return shell.print_json(&changes);
        }
        shell::out(&format!("\n{:<40} {:>12} {:>12}         worse by", "row", "before", "now"));
        for change in &changes {
            let Change { bench, row, before, now, unit, worse, worse_instructions } = change;
            let counted = worse_instructions.map(|w| format!("  instructions × {w:.3}"));
            shell::out(&format!(
                "{:<40} {:>12} {:>12} {unit:<6}  × {worse:.3}{}",
                format!("{bench} {row}"),
                super::figure_text(*before),
                super::figure_text(*now),
                counted.unwrap_or_default(),
            ));
        }
        Ok(())
    }
}

/// How many times worse: 1 for what did not change; infinite for what was perfect and is not any more.
fn worse(before: f64, now: f64, better: &str) -> f64 {
    let (good, bad) = if better == "lower" { (before, now) } else { (now, before) };
    if good == bad { 1.0 } else { bad / good }
}

/// Runs one row under callgrind and gives what it counted.
fn instructions(row: &SavedRow) -> anyhow::Result<u64> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect=*{}*", super::MEASURED))
        .arg(program)
        .args(["--threads", "1", "bench", &row.bench, "--row", &row.row, "--once"])
        .output()
        .context("counting instructions needs valgrind, which is not there")?;
    let told = String::from_utf8_lossy(&output.stderr);
    let count = told.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    count.with_context(|| format!("valgrind counted nothing for the row {}", row.row))
}

/// What rows are comparable on: the processor's name and how many there are.
fn machine() -> String {
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let name = model.map_or("unknown processor", |(_, name)| name.trim());
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{count} × {name}, {}", std::env::consts::OS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, value: f64, better: &str) -> SavedRow {
        SavedRow {
            bench: "mesh".to_owned(),
            row: name.to_owned(),
            value,
            unit: "ms".to_owned(),
            better: better.to_owned(),
            threads: 2,
            instructions: None,
        }
    }

    #[test]
    fn the_worst_row_comes_first_whichever_way_is_better() {
        let rows = |values: [f64; 4]| Saved {
            rows: vec![
                row("steady", values[0], "lower"),
                row("slower", values[1], "lower"),
                row("fewer frames", values[2], "higher"),
                row("new zero", values[3], "lower"),
            ],
            ..Saved::default()
        };
        let changes = rows([5.0, 30.0, 10.0, 0.0]).changes(&rows([5.0, 10.0, 20.0, 0.0]));
        let told: Vec<_> = changes.iter().map(|c| (c.row.as_str(), c.worse)).collect();
        let expected = [("slower", 3.0), ("fewer frames", 2.0), ("steady", 1.0), ("new zero", 1.0)];
        assert_eq!(told, expected);
    }

    #[test]
    fn rows_of_one_name_are_compared_in_their_order() {
        let rows = |values: [f64; 2]| Saved {
            rows: values.map(|value| row("volume-error", value, "lower")).to_vec(),
            ..Saved::default()
        };
        let changes = rows([1.0, 8.0]).changes(&rows([1.0, 4.0]));
        let told: Vec<_> = changes.iter().map(|c| (c.before, c.worse)).collect();
        assert_eq!(told, [(4.0, 2.0), (1.0, 1.0)]);
    }

    #[test]
    fn saved_rows_are_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.json");
        let mut saved = Saved { rows: vec![row("a", 1.5, "lower")], ..Saved::default() };
        saved.rows[0].instructions = Some(12);
        saved.write(&path).unwrap();
        assert_eq!(Saved::read(&path).unwrap().rows, saved.rows);
        fs::write(&path, "[]").unwrap();
        let error = format!("{:#}", Saved::read(&path).unwrap_err());
        assert!(error.contains("bench --save"), "{error}");
    }
}

//! How a command runs: its threads, its way to be stopped, its progress bar and its voice.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use supple::Run;
use supple::io::uri::Policy;
use supple::run::Cancelled;

/// Exit code of a command that was stopped by Ctrl-C, as shells know it.
const INTERRUPTED: u8 = 130;

/// How long running work has to stop by itself after Ctrl-C.
const GRACE: Duration = Duration::from_millis(200);

/// Work shorter than this shows no progress bar.
const QUIET_START: Duration = Duration::from_secs(1);

/// Options every command takes.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct GlobalArgs {
    /// Print the result as JSON, for machines
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Threads to use; 0 means as many as the machine has. Never changes a result
    #[arg(long, global = true, default_value_t = 0, value_name = "N", value_parser = thread_count)]
    pub(crate) threads: usize,
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: every warning in full
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Let an asset or scene name files outside its own folder
    #[arg(long, global = true)]
    pub(crate) allow_outside: bool,
}

/// Threads that any machine bears.
const MOST_THREADS: usize = 1024;

fn thread_count(text: &str) -> Result<usize, String> {
    let found = text.trim().parse().ok().filter(|&count| count <= MOST_THREADS);
    found.ok_or_else(|| {
        format!("'{text}' is no number of threads; give one from 0 (all of them) to {MOST_THREADS}")
    })
}

/// What a command needs from its surroundings.
#[derive(Debug)]
pub(crate) struct Shell {
    pool: rayon::ThreadPool,
    options: GlobalArgs,
}

static CANCEL: AtomicBool = AtomicBool::new(false);
static FINISHED: AtomicBool = AtomicBool::new(false);
static HANDLER: OnceLock<()> = OnceLock::new();

impl Shell {
    /// Sets up threads and the reaction to Ctrl-C.
    pub(crate) fn new(options: &GlobalArgs) -> anyhow::Result<Self> {
        // This thread is one of them: what it starts it works on at once, without waking another.
        let pool = rayon::ThreadPoolBuilder::new()
            .use_current_thread()
            .num_threads(options.threads)
            .build()
            .context("cannot start threads; try --threads 1")?;
        if HANDLER.set(()).is_ok() {
            ctrlc::set_handler(interrupted).context("cannot listen for Ctrl-C")?;
        }
        Ok(Self { pool, options: options.clone() })
    }

    /// The threads and the cancel flag, without a progress bar.
    pub(crate) fn quiet_run(&self) -> Run<'_> {
        Run { threads: Some(&self.pool), cancel: Some(&CANCEL), progress: None }
    }

    /// Does two things at once, where there are threads for it.
    pub(crate) fn both<A: Send, B: Send>(
        &self,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        self.pool.join(first, second)
    }

    /// Runs `work` with a progress bar that appears after a second, on a terminal only.
    pub(crate) fn with_progress<R>(&self, what: &str, work: impl FnOnce(&Run<'_>) -> R) -> R {
        let bar = self.progress_bar(what);
        let started = std::time::Instant::now();
        let progress = |done: u64, total: u64| {
            if started.elapsed() >= QUIET_START {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            bar.set_length(total);
            bar.set_position(done);
        };
        let show = self.shows_progress();
        let run = Run { progress: show.then_some(&progress), ..self.quiet_run() };
        let result = work(&run);
        bar.finish_and_clear();
        result
    }

    fn shows_progress(&self) -> bool {
        !self.options.quiet && !self.options.json && io::stderr().is_terminal()
    }

    fn progress_bar(&self, what: &str) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = "{msg} {wide_bar} {pos}/{len}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        bar
    }

    /// Options of every command.
    pub(crate) fn options(&self) -> &GlobalArgs {
        &self.options
    }

    /// Which files an asset or scene may name.
    pub(crate) fn policy(&self) -> Policy {
        if self.options.allow_outside { Policy::AllowOutside } else { Policy::FolderOnly }
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Prints a line for people, unless they asked for quiet or for JSON.
    pub(crate) fn say(&self, line: impl AsRef<str>) {
        if !self.options.quiet && !self.options.json {
            out(line.as_ref());
        }
    }

    /// Prints a result for machines.
    pub(crate) fn print_json(&self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        out(&serde_json::to_string(value)?);
        Ok(())
    }

    /// Tells of what was mended or left out: three in full, the rest counted, all with `-v`.
    pub(crate) fn warn(&self, subject: &str, warnings: &[impl ToString]) {
        const SHOWN: usize = 3;
        if self.options.quiet {
            return;
        }
        let shown = if self.options.verbose { warnings.len() } else { SHOWN };
        for warning in warnings.iter().take(shown) {
            err(&format!("warning: {subject}: {}", warning.to_string()));
        }
        if warnings.len() > shown {
            err(&format!("warning: {subject}: {} more, see them with -v", warnings.len() - shown));
        }
    }
}

/// Prints an error with its causes and gives the exit code for it.
pub(crate) fn fail(error: &anyhow::Error) -> ExitCode {
    FINISHED.store(true, Ordering::SeqCst);
    if CANCEL.load(Ordering::SeqCst) || error.downcast_ref::<Cancelled>().is_some() {
        err("stopped");
        return ExitCode::from(INTERRUPTED);
    }
    let mut message = format!("error: {error}");
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !message.contains(&cause) {
            message.push_str(&format!("\n  because: {cause}"));
        }
    }
    err(&message);
    ExitCode::FAILURE
}

/// Asks the work to stop; ends the process if it has not within the grace period.
#[expect(clippy::exit, reason = "the work did not stop in time, and a person waits")]
fn interrupted() {
    if CANCEL.swap(true, Ordering::SeqCst) {
        return;
    }
    std::thread::sleep(GRACE);
    if !FINISHED.load(Ordering::SeqCst) {
        supple::io::discard_unfinished();
        err("stopped");
        std::process::exit(i32::from(INTERRUPTED));
    }
}

/// A line on standard output; a closed pipe is nobody's error.
pub(crate) fn out(line: &str) {
    let _ = writeln!(io::stdout().lock(), "{}", harmless(line));
}

/// A line on standard error.
pub(crate) fn err(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", harmless(line));
}

/// A name from a file, on one line.
pub(crate) fn shown(name: &str) -> String {
    harmless(name).replace('\n', "\\n").replace('\t', "\\t")
}

/// Text that a terminal shows and does not obey: names come from files, and files from anywhere.
fn harmless(text: &str) -> Cow<'_, str> {
    let is_command = |c: char| {
        let turns_around = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        (c.is_control() && c != '\n' && c != '\t') || turns_around
    };
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    let show = |c: char| if is_command(c) { c.escape_unicode().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(show).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_no_name() {
        assert_eq!(harmless("a line\n\tand ünother"), "a line\n\tand ünother");
        assert_eq!(harmless("\u{1b}[2J\r"), "\\u{1b}[2J\\u{d}");
        assert_eq!(harmless("glb.\u{202e}txt"), "glb.\\u{202e}txt");
        assert_eq!(shown("two\nlines\u{7}"), "two\\nlines\\u{7}");
    }
}

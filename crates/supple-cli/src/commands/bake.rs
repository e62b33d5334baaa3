//! `supple bake`: plays a scene into files.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{bail, ensure};
use serde::Serialize;
use supple::bake::{self, Baked, Estimate, Summary};
use supple::player::Player;
use supple::scene::{Folder, Scene, TakeFormat};

use crate::shell::Shell;

/// Play a scene and write every frame; goes on where an interrupted bake stopped
///
/// Frames are stored as they finish. Stop with Ctrl-C at any moment and run the same command again:
/// the result is bit for bit that of a bake that ran through.
#[derive(clap::Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Args {
    /// The scene, a TOML file
    scene: PathBuf,
    /// Folder to write to; made if it is not there. Nothing is written outside it
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Frames to bake, counted from 0, the end not included: 10..20
    #[arg(long, value_name = "A..B", value_parser = frame_range)]
    frames: Option<Range<u32>>,
    /// Formats to write: glb, usda, pc2, mdd, ply, obj; those of the scene if not given
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = format)]
    format: Option<Vec<TakeFormat>>,
    /// Only simulate, and store the state of every 24th frame in the folder: then parts of the scene (--frames) start
    /// from the nearest, here or from a copy of the folder elsewhere, and have the bits of one bake
    #[arg(long, conflicts_with_all = ["frames", "format", "check"])]
    simulate: bool,
    /// Split triangles, at rest, wherever the take stretches or bends them strongly
    #[arg(long)]
    resample: bool,
    /// Keep the stored frames, so that another bake of other formats or more frames is quicker
    #[arg(long)]
    keep_cache: bool,
    /// Count the self-intersections of every frame, not only of the first, the last and the most stretched one
    #[arg(long)]
    check: bool,
    /// Write more than 2 GB
    #[arg(long)]
    yes: bool,
}

/// Bytes that are written without being asked.
const MOST_BYTES: u64 = 2_000_000_000;

/// Files and bodies that are listed one by one.
const LISTED: usize = 8;

/// What `bake` tells, under the names it has in JSON.
#[derive(Debug, Serialize)]
struct Results<'a> {
    files: &'a [PathBuf],
    frames: [u32; 2],
    reused_frames: u32,
    bodies: &'a [Summary],
    warnings: &'a [String],
}

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let out = args.output.display();
    ensure!(
        !args.output.is_file(),
        "{out} is a file: -o names a folder (--format says what is written)"
    );
    let policy = shell.policy();
    let mut notes = Vec::new();
    let scene = Scene::load_noting(&args.scene, policy, &mut notes)?;
    shell.warn("scene", &notes);
    let folder = Folder::of(&args.scene, policy);
    let options = bake::Options {
        frames: args.frames.clone(),
        formats: args.format.clone(),
        keep_cache: args.keep_cache,
        check: args.check,
    };
    let (mut player, mended) = if args.resample {
        shell.with_progress("resampling", |run| Player::open_resampled(&scene, &folder, run))?
    } else {
        Player::open(&scene, &folder, &shell.quiet_run())?
    };
    shell.warn("scene", &mended);
    if args.simulate {
        return simulate(&mut player, &args.output, shell);
    }
    let estimate = bake::estimate(&player, &options)?;
    announce(&estimate, args.yes, shell)?;
    let stored = bake::stored_bytes(&player, &args.output);
    // Frames that an interrupted bake left here are not written again.
    check_room(estimate.total().saturating_sub(stored), &args.output)?;
    let baked = bake_player(&mut player, &args.output, &options, shell)?;
    tell(&baked, shell)?;
    Ok(ExitCode::SUCCESS)
}

/// Stores states for parts that are baked later.
fn simulate(player: &mut Player, output: &Path, shell: &Shell) -> anyhow::Result<ExitCode> {
    let states = shell.with_progress("simulating", |run| bake::simulate(player, output, run))?;
    if shell.options().json {
        shell.print_json(&serde_json::json!({ "states": states }))?;
    }
    shell.say(format!("{states} states stored; bake parts with --frames A..B"));
    Ok(ExitCode::SUCCESS)
}

/// Says how much will be written, and stops before too much is.
fn announce(estimate: &Estimate, yes: bool, shell: &Shell) -> anyhow::Result<()> {
    if let Some(format) = estimate.too_long() {
        bail!(
            "a .{} file ends at 4.3 GB, and this take is longer: bake fewer --frames at a time, or another \
             --format, such as usda, pc2 or mdd",
            format.ending()
        );
    }
    let total = estimate.total();
    if total > MOST_BYTES && !yes {
        bail!(
            "this bake would write about {}, {} of it for stored frames: say --yes if that is wanted, or \
             bake fewer --frames or another --format",
            gigabytes(total),
            gigabytes(estimate.cache)
        );
    }
    if total > MOST_BYTES / 20 {
        shell.say(format!("about {} will be written", gigabytes(total)));
    }
    Ok(())
}

/// Refuses what the disk cannot hold, as far as the system tells.
fn check_room(bytes: u64, output: &Path) -> anyhow::Result<()> {
    let there = output.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
    let Some(free) = free_bytes(there) else { return Ok(()) };
    if bytes > free {
        bail!(
            "this bake would write about {} more, but {} has {} free: make room, bake fewer --frames, or choose \
             another folder or --format",
            gigabytes(bytes),
            there.display(),
            gigabytes(free)
        );
    }
    Ok(())
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

/// What an ordinary user may still write to the disk of a folder; `None` where the system does not say.
#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Plays a scene into a folder, with a progress bar, and tells of its warnings. Gives the player
/// back, so that pictures can be taken.
pub(crate) fn bake_scene(
    scene: &Scene,
    folder: &Folder<'_>,
    output: &Path,
    options: &bake::Options,
    shell: &Shell,
) -> anyhow::Result<(Baked, Player)> {
    let (mut player, mended) = Player::open(scene, folder, &shell.quiet_run())?;
    shell.warn("scene", &mended);
    let baked = bake_player(&mut player, output, options, shell)?;
    Ok((baked, player))
}

fn bake_player(
    player: &mut Player,
    output: &Path,
    options: &bake::Options,
    shell: &Shell,
) -> anyhow::Result<Baked> {
    let baked = shell
        .with_progress("baking", |run| bake::bake(player, output, options, &bake::WRITERS, run))?;
    shell.warn("bake", &baked.warnings);
    Ok(baked)
}

fn tell(baked: &Baked, shell: &Shell) -> anyhow::Result<()> {
    if shell.options().json {
        return shell.print_json(&Results {
            files: &baked.files,
            frames: [baked.frames.start, baked.frames.end],
            reused_frames: baked.reused,
            bodies: &baked.bodies,
            warnings: &baked.warnings,
        });
    }
    if baked.reused > 0 {
        shell.say(format!("{} frames were stored by an earlier run", baked.reused));
    }
    for file in baked.files.iter().take(LISTED) {
        shell.say(file.display().to_string());
    }
    if baked.files.len() > LISTED {
        shell.say(format!("… and {} more files", baked.files.len() - LISTED));
    }
    summarize(&baked.bodies, shell);
    Ok(())
}

/// A line for each body of the first few.
fn summarize(bodies: &[Summary], shell: &Shell) {
    for body in bodies.iter().take(LISTED) {
        shell.say(format!("{}: {body}", body.body));
    }
    if bodies.len() > LISTED {
        shell.say(format!("… and {} more bodies; --json has them all", bodies.len() - LISTED));
    }
}

pub(crate) fn frame_range(text: &str) -> Result<Range<u32>, String> {
    let wrong = || format!("'{text}' is not a range of frames; write it like 10..20");
    let number = |part: &str| part.trim().parse::<u32>().ok();
    let (start, end) = text.split_once("..").ok_or_else(wrong)?;
    let start = if start.is_empty() { Some(0) } else { number(start) };
    let range = start.zip(number(end)).map(|(start, end)| start..end).ok_or_else(wrong)?;
    if range.is_empty() {
        return Err(format!("'{text}' is empty: the second number must be larger"));
    }
    Ok(range)
}

fn format(text: &str) -> Result<TakeFormat, String> {
    let found = TakeFormat::ALL.iter().find(|(name, _)| *name == text.trim().to_ascii_lowercase());
    let known = || TakeFormat::ALL.map(|(name, _)| name).join(", ");
    found
        .map(|&(_, format)| format)
        .ok_or_else(|| format!("no format '{text}'; there are {}", known()))
}

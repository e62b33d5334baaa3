//! What volume-keeping skinning does to characters, as a table in Markdown.
//!
//! ```text
//! cargo run --release -p supple --example skinning_table -- FILE.glb …
//! ```
//!
//! Ten poses of every clip by themselves, then every clip as a take at 24 frames a second (`--frames N`: at most N of
//! each; `--poses N`: other than ten; `--clip NAME`: that one alone).

#[path = "../tests/skinned/mod.rs"]
mod skinned;

use std::io::Write as _;
use std::path::PathBuf;

use skinned::{Character, Measured, clips};
use supple::Run;
use supple::io::{self, ReadOptions};
use supple::rig::Body;
use supple::skinning::{Params, Solver};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut frames, mut poses, mut only, mut files) = (usize::MAX, 10, None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or("an option needs a value");
        match argument.as_str() {
            "--frames" => frames = value()?.parse()?,
            "--poses" => poses = value()?.parse()?,
            "--clip" => only = Some(value()?),
            _ => files.push(PathBuf::from(argument)),
        }
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    let run = Run { threads: Some(&pool), ..Run::default() };
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "| character | lost, mean (most) % | stretch | pairs added | turned | back as poses % | \
         as takes % | second difference |\n|---|---|---|---|---|---|---|---|"
    )?;
    let mut all = [Measured::default(); 2];
    for file in &files {
        let asset = io::read(file, &ReadOptions::default())?.asset;
        let body = Body::from_asset(&asset)?;
        let solver = Solver::new(&body, &Params::default(), &run)?;
        let character = Character::new(&body, &solver, run);
        let mut of_file = [Measured::default(); 2];
        let wanted = |name: &str| only.as_ref().is_none_or(|o| o == name);
        for clip in clips(&asset).filter(|c| wanted(&c.name)) {
            of_file[0] = of_file[0].and(character.poses(clip, poses));
            of_file[1] = of_file[1].and(character.take(clip, 24.0, frames));
        }
        all = [all[0].and(of_file[0]), all[1].and(of_file[1])];
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        writeln!(out, "{}", row(&name, of_file))?;
    }
    writeln!(out, "{}", row("all", all))?;
    Ok(())
}

fn row(name: &str, [poses, takes]: [Measured; 2]) -> String {
    let both = poses.and(takes);
    format!(
        "| {name} | {:.1} ({:.1}) | {:.3} | {} | {} | {:.1} | {:.1} | {:.4} |",
        100.0 * poses.lost / poses.poses.max(1) as f64,
        100.0 * both.most_lost,
        both.stretch,
        both.pairs,
        both.turned,
        100.0 * poses.back(),
        100.0 * takes.back(),
        takes.jerk,
    )
}

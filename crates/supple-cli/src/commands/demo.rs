//! `supple demo`: built-in scenes, from nothing to files other programs open.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde::Serialize;
use supple::bake;
use supple::scene::{Folder, Scene};

use super::bake::bake_scene;
use crate::shell::Shell;

/// Play the built-in scenes: writes the scene, a GLB that any viewer opens, and a report
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Which scene; all of them if not given
    name: Option<String>,
    /// Folder to write to
    #[arg(short, long, value_name = "DIR", default_value = "supple-demo")]
    output: PathBuf,
}

/// A built-in scene: its name and its document.
struct Demo {
    name: &'static str,
    document: &'static str,
}

const DEMOS: &[Demo] = &[
    Demo { name: "boxer", document: include_str!("../../../../scenes/boxer.toml") },
    Demo { name: "camel", document: include_str!("../../../../scenes/camel.toml") },
    Demo { name: "cow", document: include_str!("../../../../scenes/cow.toml") },
];

/// What a demo tells, under the names it has in JSON.
#[derive(Debug, Serialize)]
struct Told {
    demo: &'static str,
    files: Vec<PathBuf>,
    frames: u32,
    worst_volume_errors: Vec<Option<f64>>,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let wanted = |demo: &&Demo| args.name.as_deref().is_none_or(|name| name == demo.name);
    let demos: Vec<_> = DEMOS.iter().filter(wanted).collect();
    if demos.is_empty() {
        let names: Vec<_> = DEMOS.iter().map(|demo| demo.name).collect();
        bail!("no demo '{}'; there are {}", args.name.as_deref().unwrap_or(""), names.join(", "));
    }
    std::fs::create_dir_all(&args.output)
        .with_context(|| format!("cannot make the folder {}", args.output.display()))?;
    for demo in demos {
        play(demo, &args.output, shell)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the scene, bakes it, and tells what came of it.
fn play(demo: &Demo, output: &Path, shell: &Shell) -> anyhow::Result<()> {
    let folder = Folder::new(output);
    let scene = Scene::parse(demo.document, Some(&folder))
        .map_err(|problem| anyhow::anyhow!("scene {}: {problem}", demo.name))?;
    let document = output.join(format!("{}.toml", demo.name));
    std::fs::write(&document, demo.document)
        .with_context(|| format!("cannot write {}", document.display()))?;
    let baked = bake_scene(&scene, &folder, output, &bake::Options::default(), shell)?;
    shell.say(format!("{}: {} frames", demo.name, baked.frames.len()));
    let mut files = vec![document];
    files.extend(baked.files);
    for file in &files {
        shell.say(format!("  {}", file.display()));
    }
    if shell.options().json {
        let frames = baked.frames.len() as u32;
        let worst_volume_errors = baked.worst_volume_errors;
        shell.print_json(&Told { demo: demo.name, files, frames, worst_volume_errors })?;
    }
    Ok(())
}

//! `supple new`: a starter scene for a mesh.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use glam::DVec3;
use supple::procdef::preset::Preset;
use supple::procdef::starter;
use supple::rig::body::Parts;
use supple::scene;

use super::one_shot;
use crate::shell::Shell;

/// Write a starter scene for a mesh: its clips, skeleton, morph targets and flesh that jiggles, ready to
/// edit and bake
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The mesh or character
    mesh: PathBuf,
    /// Scene file to write; beside the mesh and named after it if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// A body moved from inside in place of flesh that jiggles: eel, snake, worm, jellyfish, heart, bowel, twitch, touch
    #[arg(long, value_name = "PRESET", value_parser = PRESETS)]
    procdef: Option<String>,
    /// With --procdef: where the head looks, as +x, -y, z …, where the body's own axes guess wrong
    #[arg(long, visible_alias = "axis", value_name = "DIRECTION", requires = "procdef", value_parser = direction, allow_hyphen_values = true)]
    head: Option<DVec3>,
    /// With --procdef: which way is up; y if not given
    #[arg(long, value_name = "DIRECTION", requires = "procdef", value_parser = direction, allow_hyphen_values = true)]
    up: Option<DVec3>,
    /// The clip to play, by its name or its number from 0; the first if not given. Flesh suits all of them
    #[arg(long, value_name = "NAME", conflicts_with = "procdef")]
    clip: Option<String>,
    /// Replace a scene that is already there
    #[arg(long)]
    force: bool,
}

const PRESETS: [&str; 8] =
    ["eel", "snake", "worm", "jellyfish", "heart", "bowel", "twitch", "touch"];

/// A direction along an axis: `x`, `+x`, `-x`.
fn direction(text: &str) -> Result<DVec3, String> {
    let (sign, axis) = match text.strip_prefix('-') {
        Some(axis) => (-1.0, axis),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    match axis {
        "x" => Ok(sign * DVec3::X),
        "y" => Ok(sign * DVec3::Y),
        "z" => Ok(sign * DVec3::Z),
        _ => Err(format!("'{text}' is no direction; write x, y or z, with + or - before it")),
    }
}

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let asset = super::read(&args.mesh, shell)?;
    // A scene of what cannot be played helps nobody.
    if asset.meshes.is_empty() && asset.clouds.is_empty() {
        let clips = if asset.clips.is_empty() { "" } else { ", only clips of another file's body" };
        bail!("{} holds no shape{clips}: there is nothing to play", args.mesh.display());
    }
    if !asset.meshes.is_empty() {
        Parts::of(&asset).with_context(|| args.mesh.display().to_string())?;
    }
    let (asset, left_out) = scene::sample_of(&asset);
    if left_out > 0 {
        let note =
            format!("{left_out} more instances of its meshes were not looked at for this scene");
        shell.warn(&args.mesh.display().to_string(), &[note]);
    }
    let scene_file = args.output.clone().unwrap_or_else(|| args.mesh.with_extension("toml"));
    if scene_file.exists() && !args.force {
        bail!(
            "{} exists; replace it with --force, or choose another with -o",
            scene_file.display()
        );
    }
    supple::io::check_output(&scene_file)?;
    let name = one_shot::named(&args.mesh, Some(&scene_file))?;
    let text = match args.procdef.as_deref().and_then(Preset::named) {
        Some(preset) => {
            let written = starter::scene(&name, &asset, preset, (args.head, args.up))?;
            shell.warn(&args.mesh.display().to_string(), &written.notes);
            written.text
        }
        None => {
            let played = one_shot::clip(args.clip.as_deref(), &asset)?.unwrap_or_default();
            let written = scene::starter_for(&name, &asset, played, &shell.quiet_run());
            for note in &written.notes {
                shell.say(format!("note: {note}"));
            }
            written.text
        }
    };
    supple::io::save(&scene_file, |out| out.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {}", scene_file.display()))?;
    shell.say(format!("{} written; play it with:", scene_file.display()));
    let outside = if Path::new(&name).is_absolute() { " --allow-outside" } else { "" };
    let quote = if scene_file.to_string_lossy().contains(' ') { "\"" } else { "" };
    shell.say(format!("  supple bake {quote}{}{quote} -o out{outside}", scene_file.display()));
    if shell.options().json {
        shell.print_json(&serde_json::json!({ "scene": scene_file }))?;
    }
    Ok(ExitCode::SUCCESS)
}

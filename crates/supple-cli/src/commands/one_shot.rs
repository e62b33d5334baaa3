//! What the commands share that play one capability straight from files: a scene is built in memory, kept if that is
//! asked for, and played.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use supple::player::{Player, PlayerError};
use supple::scene::{Folder, Scene, Source};
use supple::{Asset, io};

use crate::shell::{self, Shell};

/// How a scene names a file: relative to the folder of the scene's own file if it is in it or below. A scene that is not
/// kept names it as it was given.
pub(super) fn named(file: &Path, scene_file: Option<&Path>) -> anyhow::Result<String> {
    let Some(scene_file) = scene_file else { return Ok(file.display().to_string()) };
    let file = fs::canonicalize(file)?;
    let folder = match scene_file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => ".".as_ref(),
    };
    let folder = fs::canonicalize(folder)
        .with_context(|| format!("the folder {} does not exist", folder.display()))?;
    let name = file.strip_prefix(&folder).map_or_else(|_| file.clone(), PathBuf::from);
    let name = name.to_str().context("the name of the file is not Unicode")?;
    Ok(name.replace('\\', "/"))
}

/// Refuses two outputs of one name: the second would replace the first.
pub(super) fn apart(outputs: &[(&str, Option<&Path>)]) -> anyhow::Result<()> {
    let named =
        outputs.iter().filter_map(|&(flag, path)| path.map(|path| (flag, path, place(path))));
    let named: Vec<_> = named.collect();
    for (k, (flag, path, at)) in named.iter().enumerate() {
        if let Some((other, ..)) = named[..k].iter().find(|(_, _, before)| before == at) {
            bail!("{flag} {} is what {other} writes: give it another name", path.display());
        }
    }
    Ok(())
}

/// Where a file is or will be, the same for every spelling of its name.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let by_folder = || Some(fs::canonicalize(folder).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(by_folder).unwrap_or_else(|| path.to_owned())
}

/// Writes a scene where the person asked for it.
pub(super) fn keep(scene: &Scene, file: Option<&Path>, shell: &Shell) -> anyhow::Result<()> {
    let Some(file) = file else { return Ok(()) };
    let text = scene.to_toml();
    io::save(file, |out| std::io::Write::write_all(out, text.as_bytes()))
        .with_context(|| format!("cannot write {}", file.display()))?;
    shell.say(format!("{} written", file.display()));
    Ok(())
}

/// A player of a scene of one asset, which was read already; what modifiers need beside it comes from the zoo, and from
/// files that the person named.
pub(super) fn play(
    scene: &Scene,
    asset: Asset,
    scene_file: Option<&Path>,
    shell: &Shell,
) -> anyhow::Result<Player> {
    let run = shell.quiet_run();
    let folder = Folder::of(scene_file.unwrap_or(Path::new("")), shell.policy());
    let (own, mut asset) = (scene.assets[0].source.clone(), Some(asset));
    let mut load = |source: &Source| match (asset.take_if(|_| *source == own), source) {
        (Some(asset), _) => Ok(asset),
        (None, Source::File { file }) => {
            super::read(&folder.path.join(file), shell).map_err(Into::into)
        }
        (None, other) => Ok(supple::player::load(other, &folder, &mut Vec::new(), &run)?),
    };
    let player = Player::new(scene, &folder, &mut load, &run);
    player.map_err(|error| match error {
        // There is one modifier a body: its own words are enough.
        PlayerError::Modifier { what, .. } => anyhow!(what),
        other => other.into(),
    })
}

/// The number of the clip that was asked for, by its name or its number from 0; the first if none was, and none if there
/// is none.
pub(super) fn clip(wanted: Option<&str>, asset: &Asset) -> anyhow::Result<Option<usize>> {
    let Some(wanted) = wanted else { return Ok((!asset.clips.is_empty()).then_some(0)) };
    let by_name = asset.clips.iter().position(|c| c.name == wanted);
    let by_number = wanted.parse().ok().filter(|&i: &usize| i < asset.clips.len());
    let found = by_name.or(by_number).with_context(|| {
        let names: Vec<String> =
            asset.clips.iter().take(20).map(|c| shell::shown(&c.name)).collect();
        match &names[..] {
            [] => format!("there is no clip '{wanted}': the file has none; leave --clip out"),
            names => format!("there is no clip '{wanted}'; there are {}", names.join(", ")),
        }
    });
    found.map(Some)
}

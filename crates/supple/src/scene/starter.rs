//! A first scene for an asset, written for a person to edit.

use std::fmt::Write as _;
use std::path::Path;

use crate::Asset;

/// So many names are listed in a comment before the rest is only counted.
const LISTED: usize = 40;
/// So much of a file's name becomes the name of the scene.
const LONGEST_NAME: usize = 60;

/// A scene document for an asset that lies beside it: its first clip if it has any, with its clips,
/// skeleton and morph targets listed in comments.
///
/// ```
/// use supple::{Asset, TriMesh, scene};
///
/// let text = scene::starter("bar.ply", &Asset::from_mesh(TriMesh::default()));
/// assert!(text.contains("file = \"bar.ply\""));
/// assert!(scene::Scene::parse(&text, None).is_ok());
/// ```
#[must_use]
pub fn starter(asset_file: &str, asset: &Asset) -> String {
    let file = asset_file.strip_suffix(".gz").unwrap_or(asset_file);
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
    let safe = |c: char| if c.is_alphanumeric() || "-_ ".contains(c) { c } else { '_' };
    let mut name: String = stem.chars().map(safe).take(LONGEST_NAME).collect();
    if name.trim().is_empty() {
        name = "scene".to_owned();
    }
    let span = asset.clips.first().and_then(|c| c.span());
    let secs = span.map_or(2.0, |(a, b)| f64::from((b - a).clamp(0.1, 600.0)));
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_head(&mut text, &name, secs);
    let _ = write_asset(&mut text, asset_file, asset);
    let _ = write_motion(&mut text, asset);
    let _ = write_modifiers(&mut text, asset);
    text.push_str("\n[output]\nformats = [\"glb\"]          # also: usda, pc2, mdd, ply, obj\n");
    text
}

fn write_head(text: &mut String, name: &str, secs: f64) -> std::fmt::Result {
    writeln!(
        text,
        "# A scene for Supple. Play it into files with: supple bake THIS_FILE -o FOLDER"
    )?;
    writeln!(text, "supple = 1                  # version of this format")?;
    writeln!(text, "name = {}\n", quoted(name))?;
    writeln!(text, "[time]")?;
    writeln!(
        text,
        "start = 0                   # s; any time may also be \"500 ms\", \"12 frames\""
    )?;
    writeln!(text, "end = {secs:?}")?;
    writeln!(text, "fps = 24                    # how often the motion is looked at, not its speed")
}

fn write_asset(text: &mut String, file: &str, asset: &Asset) -> std::fmt::Result {
    let vertices: usize = asset.meshes.iter().map(|m| m.positions.len()).sum();
    let triangles: usize = asset.meshes.iter().map(|m| m.triangles.len()).sum();
    let joints: usize = asset.skins.iter().map(|s| s.joints.len()).sum();
    writeln!(text, "\n[[asset]]                   # {vertices} vertices, {triangles} triangles")?;
    writeln!(text, "file = {}", quoted(file))?;
    if joints > 0 {
        let names = asset.skins.iter().flat_map(|s| &s.joints);
        let names = names.filter_map(|&j| asset.nodes.get(j as usize)).map(|n| n.name.as_str());
        writeln!(text, "# Skeleton of {joints} joints: {}", listed(names))?;
    }
    writeln!(text, "\n[asset.placement]")?;
    writeln!(text, "translate = [0, 0, 0]       # m")?;
    writeln!(text, "rotate = [0, 0, 0]          # degrees about x, then y, then z")?;
    writeln!(text, "scale = 1")
}

fn write_motion(text: &mut String, asset: &Asset) -> std::fmt::Result {
    writeln!(text, "\n[asset.motion]")?;
    let Some(first) = asset.clips.first() else {
        return writeln!(text, "kind = \"still\"              # the file has no clips; also: path");
    };
    writeln!(text, "kind = \"keyframes\"          # also: still, path")?;
    let same = asset.clips.iter().filter(|c| c.name == first.name).count();
    let by_name = !first.name.is_empty() && same == 1;
    let choice = if by_name { quoted(&first.name) } else { "0".to_owned() };
    writeln!(text, "clip = {choice}")?;
    for (i, clip) in asset.clips.iter().enumerate().take(LISTED) {
        let (from, to) = clip.span().unwrap_or_default();
        let length = to - from;
        writeln!(text, "#   clip {i}: {}, {length:.2} s", quoted(&clip.name))?;
    }
    if asset.clips.len() > LISTED {
        writeln!(text, "#   and {} more", asset.clips.len() - LISTED)?;
    }
    writeln!(
        text,
        "skinning = \"linear\"         # or \"dual-quaternion\": twists keep their radius"
    )?;
    writeln!(text, "repeat = \"loop\"             # or once, ping-pong")?;
    writeln!(text, "speed = 1")
}

fn write_modifiers(text: &mut String, asset: &Asset) -> std::fmt::Result {
    writeln!(text, "\n# Modifiers are applied in this order; remove the # to try one.")?;
    writeln!(text, "# [[asset.modifier]]")?;
    writeln!(text, "# kind = \"follow\"             # the body trails its motion on a spring")?;
    writeln!(text, "# frequency = 2               # Hz")?;
    writeln!(text, "# damping = 0.3               # 1: no overshoot")?;
    let placed = asset.nodes.iter().filter_map(|n| asset.meshes.get(n.mesh? as usize));
    let mut names: Vec<&str> = Vec::new();
    for morph in placed.flat_map(|m| &m.morphs) {
        if !names.contains(&morph.name.as_str()) && names.len() < 10_000 {
            names.push(&morph.name);
        }
    }
    let Some(first) = names.first() else { return Ok(()) };
    let first = if first.is_empty() { "0" } else { first };
    writeln!(text, "\n# Morph targets: {}", listed(names.iter().copied()))?;
    writeln!(text, "# [[asset.modifier]]")?;
    writeln!(text, "# kind = \"morph\"")?;
    writeln!(
        text,
        "# weights = {{ {} = \"blend\" }}   # a number, or the name of a track",
        quoted(first)
    )?;
    writeln!(text, "# [track.blend]")?;
    writeln!(text, "# interpolation = \"smooth\"")?;
    writeln!(text, "# keys = [[0, 0], [1, 1]]     # [time, value]")
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = names.map(quoted).collect();
    let more = names.len().saturating_sub(LISTED);
    names.truncate(LISTED);
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}

/// A name as TOML writes it, on one line.
fn quoted(name: &str) -> String {
    let mut text = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(text, "\\u{:04X}", c as u32);
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

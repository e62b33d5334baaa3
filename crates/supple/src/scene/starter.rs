//! A first scene for an asset, written for a person to edit.

use std::fmt::Write as _;
use std::path::Path;

use crate::mesh::measure::Bounds;
use crate::rig::{Body, Skinning};
use crate::secondary::{self, Params};
use crate::{Asset, Run};

/// So many names are listed in a comment before the rest is only counted.
const LISTED: usize = 40;
/// So much of a file's name becomes the name of the scene.
const LONGEST_NAME: usize = 60;
/// Time, height and turn of the hop of a body without a clip.
const HOP: [(f64, f32, f64); 7] = [
    (0.0, 0.0, 0.0),
    (0.25, 1.0, 0.0),
    (0.5, 0.0, 0.0),
    (0.7, 0.0, 25.0),
    (0.9, 0.0, -25.0),
    (1.1, 0.0, 0.0),
    (2.0, 0.0, 0.0),
];

/// A scene document for an asset that lies beside it: its first clip if it has any, else a hop; flesh that
/// jiggles ([`secondary::place`]); with its clips, skeleton and morph targets listed in comments.
///
/// ```
/// use supple::{Asset, Run, TriMesh, scene};
///
/// let text = scene::starter("bar.ply", &Asset::from_mesh(TriMesh::default()), &Run::default());
/// assert!(text.contains("file = \"bar.ply\""));
/// assert!(scene::Scene::parse(&text, None).is_ok());
/// ```
#[must_use]
pub fn starter(asset_file: &str, asset: &Asset, run: &Run<'_>) -> String {
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
    let body = Body::from_asset(asset).ok();
    let _ = write_motion(&mut text, asset, body.as_ref(), run);
    let _ = write_modifiers(&mut text, asset);
    if let Some(body) = &body {
        let params = secondary::place(body, asset.clips.first(), run);
        let _ = write_flesh(&mut text, &params);
    }
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

fn write_motion(
    text: &mut String,
    asset: &Asset,
    body: Option<&Body>,
    run: &Run<'_>,
) -> std::fmt::Result {
    writeln!(text, "\n[asset.motion]")?;
    let Some(first) = asset.clips.first() else {
        return write_hop(text, body, run);
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

/// A body without a clip hops and turns, so that there is something to see.
fn write_hop(text: &mut String, body: Option<&Body>, run: &Run<'_>) -> std::fmt::Result {
    let posed = body.map(|b| b.pose(b.rest_pose(), Skinning::Linear, run));
    let Some(bounds) = posed.and_then(|p| Bounds::of(&p)) else {
        return writeln!(text, "kind = \"still\"              # the file has no clips; also: path");
    };
    let height = 0.2 * bounds.diagonal();
    writeln!(
        text,
        "# The file has no clips: here it hops and turns. For no motion: kind = \"still\""
    )?;
    writeln!(text, "kind = \"path\"")?;
    writeln!(text, "keys = [")?;
    for (time, up, turn) in HOP {
        writeln!(
            text,
            "  {{ time = {time}, position = [0, {:.4}, 0], rotation = [0, {turn}, 0] }},",
            up * height
        )?;
    }
    writeln!(text, "]")
}

fn write_flesh(text: &mut String, params: &Params) -> std::fmt::Result {
    if params.sets.is_empty() {
        return Ok(());
    }
    writeln!(
        text,
        "\n# Flesh: masses on springs that lag behind the motion. Move, add and remove sets freely."
    )?;
    writeln!(text, "[[asset.modifier]]")?;
    writeln!(text, "kind = \"secondary\"")?;
    writeln!(text, "preset = \"flesh\"            # also: fat, muscle, jelly, rubber")?;
    if let Some(stiffness) = params.stiffness {
        writeln!(
            text,
            "stiffness = {stiffness:<15} # N/m, of all springs; less is softer. The preset's if removed"
        )?;
    }
    writeln!(text, "# damping = 0.2             # 0 swings for ever, 1 does not overshoot")?;
    let down = params.gravity.y;
    writeln!(text, "gravity = [0, {down}, 0]     # units/s2; the rest pose does not sag")?;
    writeln!(
        text,
        "# detail = 0.02             # with a [camera]: smaller sets than this share of the distance fade"
    )?;
    writeln!(text, "# exact_volume = true       # restores what blends between joints lose")?;
    for set in &params.sets {
        let [x, y, z] = set.anchor.to_array();
        writeln!(text, "\n[[asset.modifier.set]]")?;
        writeln!(text, "name = {}", quoted(&set.name))?;
        writeln!(text, "anchor = [{x}, {y}, {z}]      # in the rest pose")?;
        writeln!(text, "radius = {}", set.radius)?;
        if let Some(bone) = &set.bone {
            writeln!(text, "bone = {}", quoted(bone))?;
        }
        if let Some(mass) = set.mass {
            writeln!(text, "mass = {mass}                # kg; more is slower")?;
        }
    }
    Ok(())
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

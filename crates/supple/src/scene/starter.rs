//! A first scene for an asset, written for a person to edit.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::mem;
use std::path::Path;

use glam::Vec3;

use crate::blendshape::{self, Mode};
use crate::mesh::measure::Bounds;
use crate::rig::asset::Material;
use crate::rig::{Body, Clip, Skinning, Track};
use crate::secondary::{self, Placed, Wishes};
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

/// Rates at which clips are keyed, those of films first.
const KEY_RATES: [f64; 9] = [24.0, 30.0, 25.0, 60.0, 50.0, 48.0, 40.0, 100.0, 120.0];
/// A key lies on a frame if it is no farther from it than this, in frames.
const ON_FRAME: f64 = 0.02;
/// Springs of a loop swing for so long before the first frame, in whole rounds.
const WARM_UP_SECS: f64 = 3.0;

/// A scene for a person to edit, and what that person should know.
#[derive(Clone, Debug, Default)]
pub struct Starter {
    /// The document.
    pub text: String,
    /// What gets no flesh and why, and the like.
    pub notes: Vec<String>,
}

/// Vertices up to which all instances of meshes are looked at.
const MOST_VERTICES: usize = 1 << 20;

/// An asset in which meshes that nodes carry very often are carried by the first of them only, and how many
/// instances that leaves out: enough to see what the body is like, in proportion to the file.
#[must_use]
pub fn sample_of(asset: &Asset) -> (Cow<'_, Asset>, usize) {
    let vertices =
        |mesh: u32| asset.meshes.get(mesh as usize).map_or(0, |mesh| mesh.positions.len());
    let own: usize = (0..asset.meshes.len() as u32).map(vertices).sum();
    let most = own.saturating_mul(2).max(MOST_VERTICES);
    let placed = asset.nodes.iter().filter_map(|node| node.mesh).map(vertices);
    if placed.fold(0, usize::saturating_add) <= most {
        return (Cow::Borrowed(asset), 0);
    }
    let mut sample = asset.clone();
    let (mut seen, mut total, mut left_out) = (vec![false; asset.meshes.len()], own, 0);
    for node in &mut sample.nodes {
        let Some(mesh) = node.mesh else { continue };
        let is_first = !seen.get_mut(mesh as usize).is_some_and(|seen| mem::replace(seen, true));
        if !is_first && total.saturating_add(vertices(mesh)) > most {
            node.mesh = None;
            left_out += 1;
        } else if !is_first {
            total += vertices(mesh);
        }
    }
    (Cow::Owned(sample), left_out)
}

/// A scene document for an asset that lies beside it.
///
/// Its first clip if it has any, else a hop; flesh that jiggles ([`secondary::place`]); morph targets blended as
/// [`blendshape`](crate::blendshape) does, where they turn; with its clips, skeleton and morph targets listed in comments.
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
    starter_for(asset_file, asset, 0, run).text
}

/// As [`starter`], with one of the asset's clips played; flesh suits all of them.
#[must_use]
pub fn starter_for(asset_file: &str, asset: &Asset, played: usize, run: &Run<'_>) -> Starter {
    let file = asset_file.strip_suffix(".gz").unwrap_or(asset_file);
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
    let safe = |c: char| if c.is_alphanumeric() || "-_ ".contains(c) { c } else { '_' };
    let mut name: String = stem.chars().map(safe).take(LONGEST_NAME).collect();
    if name.trim().is_empty() {
        name = "scene".to_owned();
    }
    let body = Body::from_asset(asset).ok();
    let take = Take::of(asset, played, body.as_ref(), run);
    let hard = hard_materials(asset);
    let wishes = Wishes { clips: &asset.clips, played, hard: &hard };
    let placed = body.as_ref().map_or_else(Placed::default, |b| secondary::place(b, &wishes, run));
    let mut written = Starter::default();
    let text = &mut written.text;
    // Writing to a string cannot fail.
    let _ = write_head(text, &name, &take);
    let _ = write_asset(text, asset_file, asset);
    let _ = write_motion(text, asset, &take, body.as_ref(), &placed.stiffness_of_clips, run);
    let _ = write_modifiers(text, asset);
    if let Some(body) = &body {
        let _ = write_skinning(text, body, &take);
        let _ = write_flesh(text, &placed, &take);
        written.notes = placed.notes;
        if is_skinned(body, &take) && is_long(body, &take) {
            written.notes.push(
                "the volume that joints take is not given back, which would take minutes here: remove the # before \
                 kind = \"skinning\" to have it"
                    .to_owned(),
            );
        }
    }
    text.push_str("\n[output]\nformats = [\"glb\"]          # also: usda, pc2, mdd, ply, obj\n");
    written
}

/// How long a scene is, and what is played in it.
struct Take<'a> {
    clip: Option<&'a Clip>,
    secs: f64,
    fps: f64,
    /// Whether the clip ends where it began.
    closes: bool,
}

impl<'a> Take<'a> {
    fn of(asset: &'a Asset, played: usize, body: Option<&Body>, run: &Run<'_>) -> Self {
        let clip = asset.clips.get(played);
        let Some((first, last)) = clip.and_then(Clip::span) else {
            return Self { clip, secs: 2.0, fps: 24.0, closes: false };
        };
        let secs = (f64::from(last) - f64::from(first)).clamp(0.1, 600.0);
        let rate = clip.map_or(24.0, key_rate);
        // The last frame is the last key, but for what rounding its time to single precision did.
        let frames = (secs * rate).round().max(1.0);
        let is_whole = (frames / rate - secs).abs() <= 1e-6 * secs;
        let (secs, fps) = if is_whole { (frames / rate, rate) } else { (secs, frames / secs) };
        let closes = body.zip(clip).is_some_and(|(b, c)| b.closes(c, run));
        Self { clip, secs, fps, closes }
    }

    /// How long springs swing before the first frame: whole rounds of a loop, so that its last frame meets its
    /// first.
    fn warm_up(&self) -> f64 {
        match self.closes {
            true => ((WARM_UP_SECS / self.secs).ceil() * self.secs).min(60.0),
            false => 1.0,
        }
    }
}

/// The rate at which a clip is keyed: the first at which all its keys are frames, else that of the middle of its
/// intervals.
fn key_rate(clip: &Clip) -> f64 {
    let (first, _) = clip.span().unwrap_or_default();
    let times = || clip.channels.iter().flat_map(|c| &c.times).map(|t| f64::from(t - first));
    let fits = |rate: &f64| {
        times().all(|t| (t * rate - (t * rate).round()).abs() <= ON_FRAME.max(1e-6 * t * rate))
    };
    if let Some(rate) = KEY_RATES.into_iter().find(fits) {
        return rate;
    }
    let gaps = clip.channels.iter().flat_map(|c| c.times.windows(2)).map(|w| w[1] - w[0]);
    let mut gaps: Vec<f32> = gaps.filter(|gap| *gap > 0.0).collect();
    if gaps.is_empty() {
        return KEY_RATES[0];
    }
    let at = gaps.len() / 2;
    let (_, middle, _) = gaps.select_nth_unstable_by(at, f32::total_cmp);
    (1.0 / f64::from(*middle)).clamp(24.0, 60.0)
}

/// Words in the names of materials that are no flesh.
const HARD_WORDS: [&str; 22] = [
    "metal", "steel", "iron", "armor", "armour", "helmet", "visor", "horn", "antler", "hoof",
    "hooves", "claw", "beak", "tooth", "teeth", "bone", "glass", "gun", "sword", "weapon",
    "shield", "plastic",
];

/// The numbers of materials that are metals, or called after what is hard.
fn hard_materials(asset: &Asset) -> Vec<u32> {
    let is_hard = |m: &Material| {
        let name = m.name.to_lowercase();
        HARD_WORDS.iter().any(|word| name.contains(word))
    };
    // Many files say metal of everything, by leaving it out.
    let metals = asset.materials.iter().filter(|m| m.metallic >= 0.5).count();
    let few = 2 * metals <= asset.materials.len();
    let found = (0..).zip(&asset.materials);
    found.filter(|(_, m)| is_hard(m) || (few && m.metallic >= 0.5)).map(|(i, _)| i).collect()
}

fn write_head(text: &mut String, name: &str, take: &Take<'_>) -> std::fmt::Result {
    let Take { secs, fps, .. } = take;
    writeln!(
        text,
        "# A scene for Supple. Play it into files with: supple bake THIS_FILE -o FOLDER"
    )?;
    writeln!(text, "supple = 2                  # version of this format")?;
    writeln!(text, "name = {}\n", quoted(name))?;
    writeln!(text, "[time]")?;
    writeln!(
        text,
        "start = 0                   # s; any time may also be \"500 ms\", \"12 frames\""
    )?;
    writeln!(text, "end = {secs:?}")?;
    let shown = if fps.fract() == 0.0 { format!("{fps}") } else { format!("{fps:?}") };
    writeln!(text, "fps = {shown:<21} # how often the motion is looked at, not its speed")
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
        let named: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        let colon = if named.is_empty() { "" } else { ": " };
        writeln!(text, "# Skeleton of {joints} joints{colon}{}", listed(named.into_iter()))?;
    }
    writeln!(text, "\n[asset.placement]")?;
    writeln!(text, "translate = [0, 0, 0]       # m")?;
    writeln!(text, "rotate = [0, 0, 0]          # degrees about x, then y, then z")?;
    writeln!(text, "scale = 1")
}

fn write_motion(
    text: &mut String,
    asset: &Asset,
    take: &Take<'_>,
    body: Option<&Body>,
    stiffness: &[f64],
    run: &Run<'_>,
) -> std::fmt::Result {
    writeln!(text, "\n[asset.motion]")?;
    let Some(clip) = take.clip else {
        return write_hop(text, body, run);
    };
    writeln!(text, "kind = \"keyframes\"          # also: still, path")?;
    let same = asset.clips.iter().filter(|c| c.name == clip.name).count();
    let by_name = !clip.name.is_empty() && same == 1;
    let number = asset.clips.iter().position(|c| std::ptr::eq(c, clip)).unwrap_or(0);
    let choice = if by_name { quoted(&clip.name) } else { number.to_string() };
    writeln!(text, "clip = {choice}")?;
    for (i, clip) in asset.clips.iter().enumerate().take(LISTED) {
        let other = Take::of(asset, i, body, run);
        let repeat = if other.closes { "loop" } else { "once" };
        write!(
            text,
            "#   clip {i}: {}, with end = {:?}, fps = {:?}, repeat = \"{repeat}\"",
            quoted(&clip.name),
            other.secs,
            other.fps
        )?;
        match stiffness.get(i) {
            Some(n) => {
                writeln!(text, "; for its flesh stiffness = {n}, warm_up = {:?}", other.warm_up())?;
            }
            None => writeln!(text)?,
        }
    }
    if asset.clips.len() > LISTED {
        writeln!(text, "#   and {} more", asset.clips.len() - LISTED)?;
    }
    writeln!(
        text,
        "skinning = \"linear\"         # or \"dual-quaternion\": twists keep their radius"
    )?;
    match take.closes {
        true => writeln!(
            text,
            "repeat = \"auto\"             # a loop, since it ends where it begins; or once, ping-pong"
        )?,
        false => writeln!(
            text,
            "repeat = \"auto\"             # once, since it does not end where it begins; or loop, ping-pong"
        )?,
    }
    writeln!(text, "speed = 1")
}

fn write_modifiers(text: &mut String, asset: &Asset) -> std::fmt::Result {
    writeln!(text, "\n# What happens where the body is, in this order; remove the # to try one.")?;
    writeln!(text, "# [[asset.world]]")?;
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
    if names.is_empty() { Ok(()) } else { write_morphs(text, asset, &names) }
}

/// Morph targets: along straight lines where they hardly turn.
fn write_morphs(text: &mut String, asset: &Asset, names: &[&str]) -> std::fmt::Result {
    writeln!(text, "\n# Morph targets: {}", listed(names.iter().copied()))?;
    // Weights that a clip moves are played; else a track shows the first target.
    let moves = asset.clips.first().is_some_and(|c| {
        c.channels.iter().any(|channel| matches!(channel.track, Track::Weights(_)))
    });
    let sign = if moves { "# " } else { "" };
    let keeps = "kind = \"blendshape\"         # what turns keeps its size; without it targets move along straight lines";
    let weights = match blend_mode(asset) {
        Some(mode) => {
            let mode = match mode {
                Mode::Springs => {
                    "\"springs\"            # its targets turn; or \"rotations\": faster, nearer to straight lines"
                }
                Mode::Rotations => {
                    "\"rotations\"          # its targets turn a little; or \"springs\": keeps lengths best, slower"
                }
            };
            write!(text, "[[asset.pose]]\n{keeps}\nmode = {mode}\n")?;
            "morphs"
        }
        None => {
            let straight = "kind = \"morph\"              # straight lines, which serve its targets as well; or \"blendshape\" with morphs in place of weights";
            write!(text, "{sign}[[asset.pose]]\n{sign}{straight}\n")?;
            "weights"
        }
    };
    let first = names.first().filter(|name| !name.is_empty()).unwrap_or(&"0");
    writeln!(
        text,
        "{sign}{weights} = {{ {} = \"blend\" }}   # a number, or the name of a track; others as the clip has them",
        quoted(first)
    )?;
    writeln!(text, "{sign}[track.blend]")?;
    writeln!(text, "{sign}interpolation = \"smooth\"")?;
    writeln!(text, "{sign}keys = [[0, 0], [1, 1], [2, 0]]     # [time, value]")
}

/// The mode for the morph target that goes farthest; none where straight lines serve as well.
fn blend_mode(asset: &Asset) -> Option<Mode> {
    let placed = asset.nodes.iter().filter_map(|n| asset.meshes.get(n.mesh? as usize));
    let targets = placed.flat_map(|m| m.morphs.iter().map(move |t| (m, &t.positions)));
    let longest = |ways: &[Vec3]| ways.iter().map(|w| w.length_squared()).fold(0.0, f32::max);
    targets
        .max_by(|a, b| longest(a.1).total_cmp(&longest(b.1)))
        .and_then(|(mesh, ways)| blendshape::suggested(&mesh.triangles, &mesh.positions, ways))
}

/// Triangles times poses up to which a starter keeps the volume of skinning: beyond, it takes minutes.
const MOST_KEPT: f64 = 1.5e6;

/// Whether keeping the volume of a take's skinning would take long: what retreats is found 24 times a second, and sixteen
/// times before and after; a frame is a fifth of that work.
fn is_long(body: &Body, take: &Take<'_>) -> bool {
    let poses = 24.0 * take.secs + 33.0 + 0.2 * take.fps * take.secs;
    poses * body.mesh.triangles.len() as f64 > MOST_KEPT
}

/// Joints that a clip turns take volume away where they blend; the modifier does no harm anywhere else.
fn write_skinning(text: &mut String, body: &Body, take: &Take<'_>) -> std::fmt::Result {
    if !is_skinned(body, take) {
        return Ok(());
    }
    let sign = if is_long(body, take) { "# " } else { "" };
    writeln!(text, "\n{sign}[[asset.pose]]")?;
    writeln!(
        text,
        "{sign}kind = \"skinning\"           # gives back the volume that turns of joints take, where that does no harm"
    )
}

/// Whether a skeleton moves a skin that blends joints: where one joint carries each vertex, turns take nothing.
fn is_skinned(body: &Body, take: &Take<'_>) -> bool {
    let blends = body.mesh.skin_weights.as_ref().is_some_and(|w| w.max_influences() > 1);
    take.clip.is_some() && blends && body.parts.iter().any(|part| part.skinned)
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

fn write_flesh(text: &mut String, placed: &Placed, take: &Take<'_>) -> std::fmt::Result {
    let params = &placed.params;
    if !placed.notes.is_empty() {
        writeln!(text)?;
    }
    for note in &placed.notes {
        writeln!(text, "## {}", note.replace(char::is_control, " "))?;
    }
    if params.sets.is_empty() {
        return Ok(());
    }
    writeln!(
        text,
        "\n# Flesh: masses on springs that lag behind the motion. Move, add and remove sets freely."
    )?;
    if take.clip.is_some() {
        writeln!(
            text,
            "# No clip of the file stretches a set by more than {:.2} radii; here flesh moves by {:.2} % of the size.",
            placed.stretch,
            100.0 * placed.moved_rel_bbox
        )?;
    }
    writeln!(text, "[[asset.world]]")?;
    writeln!(text, "kind = \"secondary\"")?;
    writeln!(text, "amount = 1                  # less is calmer, 0 is nothing")?;
    writeln!(text, "preset = \"flesh\"            # also: fat, muscle, jelly, rubber")?;
    if let Some(stiffness) = params.stiffness {
        writeln!(
            text,
            "stiffness = {stiffness:<15} # N/m, of all springs; less is softer. The preset's if removed"
        )?;
    }
    writeln!(text, "max_stretch = {:<13} # radii; beyond it a stretch is cut", params.max_stretch)?;
    writeln!(
        text,
        "retreat = true              # flesh draws back where triangles would intersect for it"
    )?;
    let why = if take.closes { "whole rounds of the clip, so that the loop closes" } else { "s" };
    writeln!(text, "warm_up = {:<17?} # {why}", take.warm_up())?;
    if params.spare_rigid {
        writeln!(
            text,
            "spare_rigid = true          # what one joint carries alone stays as it is"
        )?;
    }
    if !params.hard.is_empty() {
        writeln!(text, "hard = {:?}   # materials, by their numbers in the file", params.hard)?;
    }
    if let Some(height) = params.still_below {
        writeln!(text, "still_below = {height:<13} # above the ground: feet stay")?;
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
        writeln!(text, "\n[[asset.world.set]]")?;
        writeln!(text, "name = {}", quoted(&set.name))?;
        writeln!(text, "anchor = [{x}, {y}, {z}]      # in the rest pose")?;
        writeln!(text, "radius = {}", set.radius)?;
        if let Some(bone) = &set.bone {
            writeln!(text, "bone = {}", quoted(bone))?;
        }
        if let Some(mass) = set.mass {
            writeln!(text, "mass = {mass}                # kg; more is slower")?;
        }
        if let Some(stiffness) = set.stiffness {
            writeln!(
                text,
                "stiffness = {stiffness}         # N/m, its own: a clip throws it about"
            )?;
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

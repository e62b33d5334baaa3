//! Scenes that nobody thought of: random modifiers of every kind on random bodies, by seed.
//!
//! Whatever the scene, its frames are finite, a closed body stays closed, what keeps volume does, and neither threads
//! nor the order of asking, an interruption or baking it in two parts changes a bit.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::mutate::Dice;
use crate::Run;
use crate::bake::{BakeError, Options, WRITERS, bake};
use crate::mesh::adjacency;
use crate::player::{Frame, Player};
use crate::scene::{Folder, Scene, TakeFormat};

/// Volume that bodies of 400 triangles may gain or lose under what keeps it in the limit of fine meshes: an edit takes 7.5 % of
/// a cow's, 0.59 % with 3,000 triangles, 0.05 % with 20,000.
const VOLUME_TOLERANCE: f64 = 0.1;

/// Every so many scenes are also baked: whole, interrupted, and in two parts.
const BAKED: u64 = 4;

impl Dice {
    /// A number between two, of four decimals.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.below(10_001) as f64 / 10_000.0
    }

    fn vector(&mut self, size: f64) -> String {
        let [x, y, z] = [0; 3].map(|_| self.between(-size, size));
        format!("[{x:.4}, {y:.4}, {z:.4}]")
    }

    fn word<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// The scene of a seed: one to three bodies, each with modifiers in up to three stages.
#[must_use]
pub fn document(seed: u64) -> String {
    let mut dice = Dice::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (fps, end) = (dice.word(&["24", "30", "25"]), dice.word(&["0.25", "0.4"]));
    let mut text = format!("supple = 2\n[time]\nend = {end}\nfps = {fps}\n");
    let mut flows = 0;
    for body in 0..1 + dice.below(3) {
        let _ = writeln!(text, "[[asset]]\nname = \"b{body}\"");
        match dice.below(8) {
            0 => blended(&mut text, &mut dice),
            1 => moved_from_inside(&mut text, &mut dice),
            2 => {
                smoke(&mut text, flows, &mut dice);
                flows += 1;
            }
            _ => ordinary(&mut text, &mut dice),
        }
    }
    for flow in 0..flows {
        let names = ["abc", "gyre", "hill", "wake", "swirl", "uniform", "oscillating", "saddle"];
        let (name, speed) = (dice.word(&names), dice.between(0.2, 2.0));
        let _ = writeln!(text, "[flow.f{flow}]\nzoo = \"{name}\"\nspeed = {speed:.3}");
    }
    for _ in 0..dice.below(2) {
        let (at, size) = (dice.vector(2.0), dice.between(0.2, 1.0));
        let shape = dice.word(&["sphere\"\nradius", "capsule\"\nlength = 1\nradius"]);
        let _ = writeln!(
            text,
            "[[collider]]\nkind = \"{shape} = {size:.3}\nplacement = {{ translate = {at} }}"
        );
    }
    text.push_str("[track.t]\nkeys = [[0, 0], [0.2, 1], [0.4, 0.2]]\n");
    text
}

fn place(text: &mut String, dice: &mut Dice) {
    let _ = writeln!(text, "placement = {{ translate = {} }}", dice.vector(2.0));
}

/// A body with modifiers that keep volume. The cow takes longer to grow than all that follows: it comes seldom.
fn ordinary(text: &mut String, dice: &mut Dice) {
    let simple = ["ball", "torus", "bar", "box", "capsule", "cylinder", "plane", "comb"];
    let zoo = match dice.below(64) {
        0 => "cow",
        1..24 => "rigged-bar",
        _ => dice.word(&simple),
    };
    let _ = writeln!(text, "zoo = \"{zoo}\"\ntriangles = 400");
    place(text, dice);
    match (zoo, dice.below(4)) {
        ("rigged-bar", 1..) => text.push_str("motion = { kind = \"keyframes\" }\n"),
        ("rigged-bar", 0) => text.push_str("[[asset.pose]]\nkind = \"ragdoll\"\n"),
        (_, 0) => {
            let keys = [0.0, 0.1, 0.4].map(|t| {
                let (position, rotation) = (dice.vector(0.5), dice.vector(90.0));
                format!("{{ time = {t}, position = {position}, rotation = {rotation} }}")
            });
            let _ = writeln!(text, "motion = {{ kind = \"path\", keys = [{}] }}", keys.join(", "));
        }
        // A sheet has no mass. Written as it was before rigid bodies were modifiers.
        (_, 1) if zoo != "plane" => {
            let velocity = dice.vector(3.0);
            let _ = writeln!(text, "motion = {{ kind = \"rigid\", velocity = {velocity} }}");
        }
        _ => {}
    }
    match dice.below(6) {
        0 => edit(text, dice, "rest", "1"),
        1 => edit(text, dice, "rest", "\"t\""),
        _ => {}
    }
    if zoo == "rigged-bar" && dice.below(4) == 0 {
        text.push_str("[[asset.pose]]\nkind = \"skinning\"\n");
    }
    in_the_world(text, dice, 4);
}

/// Fewer than so many modifiers of where the body is.
fn in_the_world(text: &mut String, dice: &mut Dice, most: usize) {
    for _ in 0..dice.below(most) {
        let _ = match dice.below(4) {
            0 => {
                let (turn, push) = (dice.vector(60.0), dice.between(-1.0, 1.0));
                writeln!(
                    text,
                    "[[asset.world]]\nkind = \"place\"\nrotate = {turn}\ntranslate = [{push:.3}, \"t\", 0]"
                )
            }
            1 => {
                let (frequency, damping) = (dice.between(0.5, 6.0), dice.between(0.0, 1.5));
                writeln!(
                    text,
                    "[[asset.world]]\nkind = \"follow\"\nfrequency = {frequency:.3}\ndamping = {damping:.3}"
                )
            }
            2 => {
                edit(text, dice, "world", "\"t\"");
                Ok(())
            }
            _ => {
                let (anchor, radius) = (dice.vector(0.8), dice.between(0.2, 0.8));
                writeln!(
                    text,
                    "[[asset.world]]\nkind = \"secondary\"\n[[asset.world.set]]\nanchor = {anchor}\n\
                     radius = {radius:.3}\nmass = 0.5"
                )
            }
        };
    }
}

/// An edit by a field in space, as much as `amount` says.
fn edit(text: &mut String, dice: &mut Dice, stage: &str, amount: &str) {
    let on_contact = dice.word(&["report", "stop"]);
    let _ = writeln!(
        text,
        "[[asset.{stage}]]\nkind = \"sculpt\"\namount = {amount}\non_contact = \"{on_contact}\"\n\
         [[asset.{stage}.op]]"
    );
    let _ = match dice.below(4) {
        0 => {
            let (points, by) = (dice.vector(1.0), dice.vector(0.3));
            let outer = dice.between(0.4, 1.2);
            writeln!(
                text,
                "kind = \"points\"\npoints = [{points}]\nby = [{by}]\nouter = {outer:.3}"
            )
        }
        1 => {
            let degrees = dice.between(-40.0, 40.0);
            writeln!(
                text,
                "kind = \"twist\"\naxis = [1, 0, 0]\ndegrees = {degrees:.2}\nfrom = -1\nto = 1"
            )
        }
        _ => {
            let (center, by) = (dice.vector(1.0), dice.vector(0.3));
            let inner = dice.between(0.1, 0.4);
            let outer = inner + dice.between(0.3, 1.0);
            writeln!(
                text,
                "kind = \"move\"\ncenter = {center}\nby = [{by}]\ninner = {inner:.3}\nouter = {outer:.3}"
            )
        }
    };
}

fn blended(text: &mut String, dice: &mut Dice) {
    let triangles = 150 + dice.below(250);
    let _ = writeln!(text, "zoo = \"morph-bar\"\ntriangles = {triangles}");
    place(text, dice);
    if dice.below(4) == 0 {
        text.push_str("[[asset.pose]]\nkind = \"morph\"\nweights = { curl = \"t\" }\n");
    } else {
        let mode = dice.word(&["springs", "rotations"]);
        let (rate, contact) = (dice.word(&["12", "24", "60"]), dice.below(2) == 0);
        let _ = writeln!(
            text,
            "[[asset.pose]]\nkind = \"blendshape\"\nmode = \"{mode}\"\nrate = {rate}\n\
             contact = {contact}\nfriction = {:.3}\nmorphs = {{ curl = \"t\" }}",
            dice.between(0.0, 1.0)
        );
    }
    in_the_world(text, dice, 3);
}

fn moved_from_inside(text: &mut String, dice: &mut Dice) {
    let zoo = dice.word(&["worm", "jellyfish", "heart", "bar"]);
    let nodes = 60 + dice.below(120);
    let _ = writeln!(text, "zoo = \"{zoo}\"\ntriangles = 400");
    // A bar is filled here, the others bring their own tets.
    let solid = if zoo == "bar" { String::new() } else { format!("zoo = \"{zoo}\"\n") };
    let (low, gravity) = (dice.between(0.6, 1.0), dice.vector(9.81));
    let volume = dice.word(&["both", "secondary", "free"]);
    let (cycle, keep) = (dice.between(0.2, 2.0), dice.below(2) == 0);
    let _ = writeln!(
        text,
        "[[asset.world]]\nkind = \"procdef\"\ngravity = {gravity}\nkeep_volume = {keep}\ndamping = {:.3}\n\
         [asset.world.tets]\n{solid}nodes = {nodes}\n[asset.world.design]\n\
         rule = {{ axis = [0, 1, 0] }}\n[[asset.world.charts]]\nname = \"c\"\nshare = \"t\"\n\
         primary = [[0, 1], [0.4, {low:.4}]]\nvolume = \"{volume}\"\ncycle = {cycle:.3}\nspeed = {:.3}",
        dice.between(0.0, 20.0),
        dice.between(0.5, 10.0)
    );
    match dice.below(3) {
        0 => text.push_str("[asset.world.water]\nnormal_drag = 1\n"),
        1 => text.push_str(
            "[asset.world.ground]\nnormal = [0, 1, 0]\nheight = -0.5\n\
             friction = { forward = 0.2, backward = 1, sideways = 0.6 }\n",
        ),
        _ => {}
    }
    in_the_world(text, dice, 3);
}

fn smoke(text: &mut String, flow: usize, dice: &mut Dice) {
    let (from, to) = (dice.vector(1.5), dice.vector(1.5));
    let (columns, rows) = (4 + dice.below(20), 3 + dice.below(12));
    let releases = dice.word(&["24", "30", "60"]);
    let _ = writeln!(
        text,
        "empty = true\n[[asset.world]]\nkind = \"smoke\"\nflow = \"f{flow}\"\nseed = [{from}, {to}]\n\
         columns = {columns}\nrows = {rows}\nreleases_per_second = {releases}"
    );
    if dice.below(4) == 0 {
        edit(text, dice, "world", "\"t\"");
    }
}

/// Plays the scene of a seed in every way there is; `scratch` is a folder of its own.
///
/// # Errors
///
/// What was wrong.
///
/// # Panics
///
/// If the library has a bug of that kind.
pub fn check(seed: u64, scratch: &Path) -> Result<(), String> {
    let text = document(seed);
    let said = |what: String| format!("scene {seed}: {what}\n{text}");
    let scene = Scene::parse(&text, None).map_err(|problem| said(problem.to_string()))?;
    let frames = sound_frames(&scene).map_err(said)?;
    for threads in [1, 2, 8] {
        let other = in_order(&scene, threads, frames.len() as u32).map_err(said)?;
        if other != frames {
            return Err(said(format!("other bits with {threads} threads")));
        }
    }
    out_of_order(&scene, &frames).map_err(said)?;
    if seed.is_multiple_of(BAKED) {
        baked(&scene, scratch, 1 + (seed / BAKED) % 6, frames.len() as u32).map_err(said)?;
    }
    Ok(())
}

fn player(scene: &Scene) -> Result<Player, String> {
    let here = Folder::new(".".as_ref());
    Player::open(scene, &here, &Run::default()).map(|opened| opened.0).map_err(|e| e.to_string())
}

/// All that a frame shows.
fn bits(frame: &Frame) -> Vec<u32> {
    let mut all = Vec::new();
    for body in &frame.bodies {
        all.extend(body.positions.iter().flat_map(|x| x.to_array().map(f32::to_bits)));
        all.extend(body.topology.triangles().iter().flatten());
        for channel in body.channels.iter() {
            all.extend(channel.values.as_floats().iter().map(|x| x.to_bits()));
        }
    }
    all
}

/// The frames in order on this thread, each looked at.
fn sound_frames(scene: &Scene) -> Result<Vec<Vec<u32>>, String> {
    let mut player = player(scene)?;
    let (mut frames, mut closed) = (Vec::new(), Vec::new());
    for i in 0..player.frames() {
        let frame = player.frame(i, &Run::default()).map_err(|e| e.to_string())?;
        for (b, body) in frame.bodies.iter().enumerate() {
            if !body.positions.iter().all(|x| x.is_finite()) {
                return Err(format!("frame {i}: body {b} is not finite"));
            }
            let is_closed = is_closed(body.positions.len(), body.topology.triangles());
            if i == 0 {
                closed.push(is_closed);
            }
            if closed[b] && !is_closed {
                return Err(format!("frame {i}: body {b} was closed and is open"));
            }
            // What contacts do to coarse bodies is told by a figure of its own.
            let told = frame.report.contacts.get(b).map_or(0.0, |contact| contact.volume_change);
            if let Some(change) = frame.report.volume_errors.get(b).copied().flatten()
                && keeps_volume(scene, b)
                && ((change - told).abs() > VOLUME_TOLERANCE || change.is_nan())
            {
                return Err(format!("frame {i}: the volume of body {b} changed by {change:e}"));
            }
        }
        frames.push(bits(&frame));
    }
    Ok(frames)
}

fn is_closed(vertices: usize, triangles: &[[u32; 3]]) -> bool {
    !triangles.is_empty() && adjacency::topology(vertices, triangles, &Run::default()).is_closed()
}

/// Whether all that happens to a body keeps its volume, but for what its triangles cannot follow.
fn keeps_volume(scene: &Scene, body: usize) -> bool {
    const KEEPERS: [&str; 5] = ["place", "follow", "sculpt", "secondary", "skinning"];
    scene.assets[body].modifiers().all(|(_, m)| KEEPERS.contains(&m.kind.as_str()))
}

/// So many frames in order, with so many threads.
fn in_order(scene: &Scene, threads: usize, count: u32) -> Result<Vec<Vec<u32>>, String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| e.to_string())?;
    let run = Run { threads: Some(&pool), ..Run::default() };
    let mut player = player(scene)?;
    let frame = |i| player.frame(i, &run).map(|frame| bits(&frame)).map_err(|e| e.to_string());
    (0..count).map(frame).collect()
}

/// The frames backwards, and the first, the last and one between them each asked for alone.
fn out_of_order(scene: &Scene, frames: &[Vec<u32>]) -> Result<(), String> {
    let same = |how: &str, i: usize, player: &mut Player| {
        let frame = player.frame(i as u32, &Run::default()).map_err(|e| e.to_string())?;
        match bits(&frame) == frames[i] {
            true => Ok(()),
            false => Err(format!("frame {i} {how} has other bits")),
        }
    };
    let mut back = player(scene)?;
    (0..frames.len()).rev().try_for_each(|i| same("backwards", i, &mut back))?;
    let last = frames.len() - 1;
    [0, last / 2, last].into_iter().try_for_each(|i| same("alone", i, &mut player(scene)?))
}

/// A bake that is stopped and goes on, and one in two parts, give the files of one that runs through all its frames.
fn baked(scene: &Scene, scratch: &Path, stop: u64, count: u32) -> Result<(), String> {
    let to = |name: &str, frames, run: &Run<'_>| -> Result<Vec<PathBuf>, BakeError> {
        let formats = Some(vec![TakeFormat::Ply]);
        let options = Options { frames, formats, ..Options::default() };
        let mut player = player(scene).map_err(|e| BakeError::Io {
            path: scratch.to_owned(),
            source: std::io::Error::other(e),
        })?;
        bake(&mut player, &scratch.join(name), &options, &WRITERS, run).map(|baked| baked.files)
    };
    let tell = |error: BakeError| error.to_string();
    let whole = to("whole", None, &Run::default()).map_err(tell)?;
    let flag = AtomicBool::new(false);
    let progress = |done: u64, _| {
        flag.fetch_or(done >= stop, Ordering::Relaxed);
    };
    let run = Run { cancel: Some(&flag), progress: Some(&progress), ..Run::default() };
    if to("stopped", None, &run).is_ok() {
        return Err(format!("the bake was not stopped after frame {stop}"));
    }
    let resumed = to("stopped", None, &Run::default()).map_err(tell)?;
    let mut parts = to("parts", Some(0..count / 2), &Run::default()).map_err(tell)?;
    parts.extend(to("parts", Some(count / 2..count), &Run::default()).map_err(tell)?);
    let mut contents = Vec::new();
    for mut files in [whole, resumed, parts] {
        files.sort();
        let read =
            files.iter().map(|file| Some((file.file_name()?.to_owned(), fs::read(file).ok()?)));
        contents.push(read.collect::<Option<Vec<_>>>().ok_or("a file that was baked is gone")?);
    }
    for name in ["whole", "stopped", "parts"] {
        fs::remove_dir_all(scratch.join(name)).map_err(|e| e.to_string())?;
    }
    match contents.windows(2).position(|pair| pair[0] != pair[1]) {
        None => Ok(()),
        Some(0) => Err(format!("stopped after frame {stop}, the files are others")),
        Some(_) => Err("baked in two parts, the files are others".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checks' share; `supple bench fuzz --row scenes --count 20000` goes on.
    #[test]
    fn random_scenes_hold() {
        let folder = tempfile::tempdir().unwrap();
        // More by `supple bench fuzz --row scenes`: a scene takes seconds.
        for seed in 0..8 {
            assert_eq!(check(seed, folder.path()), Ok(()));
        }
    }

    #[test]
    fn every_kind_of_modifier_is_in_some_scene() {
        let all: String = (0..200).map(document).collect();
        let kinds = [
            "place",
            "morph",
            "follow",
            "sculpt",
            "secondary",
            "skinning",
            "blendshape",
            "procdef",
            "smoke",
            "rigid",
            "ragdoll",
            "path",
            "keyframes",
        ];
        for kind in kinds {
            assert!(all.contains(&format!("kind = \"{kind}\"")), "{kind}");
        }
        // Random flows are formulas; `walls` shows what files mask.
        for kind in crate::modifier::Registry::default().iter().filter(|k| k.name != "walls") {
            assert!(kinds.contains(&kind.name), "{} is in no random scene", kind.name);
        }
    }
}

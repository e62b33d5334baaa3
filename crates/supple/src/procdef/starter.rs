//! A first scene for a mesh that a preset moves, written out in full for a person to edit.

use std::fmt::Write as _;
use std::path::Path;

use glam::DVec3;
use serde::Serialize;

use super::cage::{self, cage};
use super::learn::Learned;
use super::modifier::{Params, Play, Tets, TouchAt};
use super::preset::{Pose, Preset, Starter};
use crate::mesh::welding::is_closed;
use crate::{Asset, rig};

/// Nodes of the cage that a starter scene is tried with.
const NODES: usize = 1500;
/// Seconds of a starter scene.
const SECS: f64 = 6.0;

/// Why there is no starter scene.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The asset cannot be used as one body.
    #[error("{0}")]
    Body(String),
    /// No tets can be put around it.
    #[error(transparent)]
    Cage(#[from] cage::Error),
}

/// A starter scene and what the user should know of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The document.
    pub text: String,
    /// Remarks.
    pub notes: Vec<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    supple: u32,
    name: &'a str,
    time: Time,
    asset: [Cast<'a>; 1],
    output: Output,
}

#[derive(Serialize)]
struct Time {
    end: f64,
    fps: u32,
}

#[derive(Serialize)]
struct Cast<'a> {
    file: &'a str,
    world: [Entry<'a>; 1],
}

#[derive(Serialize)]
struct Entry<'a> {
    kind: &'a str,
    #[serde(flatten)]
    params: &'a Params,
}

#[derive(Serialize)]
struct Output {
    formats: [&'static str; 1],
}

/// A scene in which a preset moves the mesh of a file beside it, along its own axes unless told otherwise.
///
/// # Errors
///
/// If there is nothing to move, or it falls into parts.
pub fn scene(
    file: &str,
    asset: &Asset,
    preset: Preset,
    (head, up): (Option<DVec3>, Option<DVec3>),
) -> Result<Written, Error> {
    let body = rig::Body::from_asset(asset).map_err(|e| Error::Body(e.to_string()))?;
    let mesh = &body.mesh;
    let tried = cage(&mesh.positions, &mesh.triangles, NODES)?;
    let mut notes = Vec::new();
    if !tried.closed {
        notes.push(match is_closed(&mesh.positions, &mesh.triangles) {
            true => format!(
                "the body is thinner than the cubes of its cage ({:.3}), so it moves as if it were as thick; more \
                 nodes make them smaller: `nodes` under [asset.world.tets]",
                tried.edge
            ),
            false => "the surface is open: there is nothing inside, so its crust moves alone; \
                      `supple convert --fill-holes EDGES` closes holes"
                .to_owned(),
        });
    }
    let pose = Pose::of(&mesh.positions, head, up);
    if up.is_none() && pose.up.y.abs() < 0.5 {
        let [x, y, z] = pose.up.to_array();
        notes.push(format!(
            "the body stands upright, so it lies on its flattest side here: up is [{x:.2}, {y:.2}, {z:.2}]; --head and --up change that"
        ));
    }
    let Starter { design, chart, motion, touched } = preset.starter(&pose);
    let touch = |at: [f64; 3]| TouchAt { at, time: 0.5, damping: 4.0, ..TouchAt::default() };
    let play = Play::of(preset.name(), chart.clone());
    let params = Params {
        design,
        charts: if touched.is_some() { Vec::new() } else { vec![play] },
        touch_chart: touched.map(|_| chart),
        touches: touched.into_iter().map(touch).collect(),
        passes: motion.passes,
        damping: motion.damping,
        gravity: motion.gravity.to_array(),
        keep_volume: motion.keep_volume,
        water: motion.water,
        ground: motion.ground,
        ..Params::default()
    };
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
    let document = Document {
        supple: 2,
        name: &stem,
        time: Time { end: SECS, fps: 24 },
        asset: [Cast { file, world: [Entry { kind: "procdef", params: &params }] }],
        output: Output { formats: ["glb"] },
    };
    let body = toml::to_string(&document).map_err(|e| Error::Body(e.to_string()))?;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "# A body moved from inside, by the preset '{}'. Play it into files with:",
        preset.name()
    );
    let _ = writeln!(text, "#   supple bake THIS_FILE -o FOLDER");
    let _ = writeln!(
        text,
        "# or see where it contracts: supple render THIS_FILE -o film.mp4 --field contraction"
    );
    let [x, y, z] = pose.head.to_array();
    let _ = writeln!(
        text,
        "# Its head looks along [{x:.2}, {y:.2}, {z:.2}]; --head and --up of `supple new` change that.\n"
    );
    text.push_str(&body);
    Ok(Written { text, notes })
}

#[derive(Serialize)]
struct Shown<'a> {
    supple: u32,
    name: &'a str,
    time: Time,
    asset: [Nothing<'a>; 1],
    output: Output,
}

#[derive(Serialize)]
struct Nothing<'a> {
    name: &'a str,
    empty: bool,
    world: [Entry<'a>; 1],
}

/// A scene that plays what was learned, on tets in a file beside it that hold the fields; their boundary is shown.
///
/// # Errors
///
/// If it cannot be written as text.
pub fn learned_scene(tets: &str, learned: &Learned) -> Result<String, Error> {
    let stem = Path::new(tets).file_stem().unwrap_or_default().to_string_lossy();
    let params = Params {
        tets: Tets { file: Some(tets.to_owned()), ..Tets::default() },
        charts: vec![Play::of("learned", learned.chart.clone())],
        ..Params::default()
    };
    let document = Shown {
        supple: 2,
        name: &stem,
        time: Time { end: 4.0 * learned.chart.cycle, fps: 24 },
        asset: [Nothing {
            name: &stem,
            empty: true,
            world: [Entry { kind: "procdef", params: &params }],
        }],
        output: Output { formats: ["glb"] },
    };
    let body = toml::to_string(&document).map_err(|e| Error::Body(e.to_string()))?;
    let share = 100.0 * learned.explained;
    let held = match learned.held.len() {
        0 => "Nothing holds the body.".to_owned(),
        count => format!("{count} nodes that hardly moved are held: attribute `held`."),
    };
    Ok(format!(
        "# Learned from a motion: fields and charts that, played, show {share:.1} % of it. Directions, amplitude and phase\n\
         # are attributes of {tets}; marks in `design` take their place. {held}\n\n{body}"
    ))
}

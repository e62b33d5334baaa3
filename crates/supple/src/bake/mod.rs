//! Baking: playing a scene into files, so that nothing finished is ever lost.
//!
//! # Method
//!
//! First every frame is played and stored in a cache inside the output folder, together with the state
//! the player had; then each writer makes its file from the cache, fetching one frame at a time. Memory
//! stays that of one frame, whatever the length of the scene.
//!
//! Every file, of the cache and of the output, is written under a temporary name and renamed when it is
//! complete. A stored frame carries its own checksum. A later run therefore goes on from the last sound
//! frame, also after a crash or a torn disk, and since the player is deterministic the result is bit for
//! bit that of a run that was never interrupted. Frames are stored under a fingerprint of the scene and
//! its assets: if those change, the bake starts anew and says so.
//!
//! The cache is removed once all files are written, unless [`Options::keep_cache`] asks for it.
//!
//! # Example
//!
//! ```
//! use std::io::Write as _;
//! use supple::{Asset, Run, TriMesh, bake};
//! use supple::player::Player;
//! use supple::scene::{Folder, Scene, TakeFormat};
//!
//! let scene = Scene::parse("supple = 2\n[[asset]]\nzoo = \"dot\"\n[output]\nformats = [\"obj\"]", None)?;
//! let mut load = |_: &_| Ok(Asset::from_mesh(TriMesh::new(vec![glam::Vec3::X], vec![])));
//! let run = Run::default();
//! let mut player = Player::new(&scene, &Folder::new(".".as_ref()), &mut load, &run)?;
//! let writers = [(TakeFormat::Obj, bake::Writer::Sequence(|mesh, out| {
//!     writeln!(out, "v {} 0 0", mesh.positions[0].x)
//! }))];
//! let folder = tempfile::tempdir()?;
//! let options = bake::Options { frames: Some(0..3), ..bake::Options::default() };
//! let baked = bake::bake(&mut player, folder.path(), &options, &writers, &run)?;
//! assert_eq!(baked.files.len(), 3);
//! assert_eq!(std::fs::read_to_string(&baked.files[2])?, "v 1 0 0\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cache;
mod estimate;
mod folds;
mod names;
mod output;
mod summary;
mod take;

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Run;
use crate::mesh::measure::max_edge_stretch;
use crate::player::{BodyFrame, Cast, FrameError, Player, Report, Unreadable};
use crate::run::Cancelled;
use crate::scene::TakeFormat;

use cache::{Cache, Opened, Stored};
pub use estimate::{Estimate, estimate, stored_bytes};
pub use folds::{FoldedFrame, Folds};
use names::Names;
pub use output::{WRITERS, Writer};
pub use summary::{ContactSummary, Flesh, Summary};
pub use take::{TakeOf, holds_takes, write_take};

/// What to bake.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Which frames, counted from 0; all of the scene's by default.
    pub frames: Option<Range<u32>>,
    /// Which formats; those of the scene's `[output]` by default.
    pub formats: Option<Vec<TakeFormat>>,
    /// Whether stored frames stay after the files are written: a later bake of other formats or more
    /// frames is then quicker, for the price of the disk space. Default: no.
    pub keep_cache: bool,
    /// Whether the self-intersections of every frame are counted, not only of the first, the last and the one
    /// that is stretched most. Default: no.
    pub check: bool,
}

/// What a bake has done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baked {
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// Which frames are in them.
    pub frames: Range<u32>,
    /// How many of the frames an earlier run had stored.
    pub reused: u32,
    /// What the take did to each body.
    pub bodies: Vec<Summary>,
    /// What the person should know, each thing once, with the frame where it first happened.
    pub warnings: Vec<String>,
}

/// Why a bake stopped.
#[derive(Debug, thiserror::Error)]
pub enum BakeError {
    /// The caller asked to stop; another run goes on from here.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// Something that a modifier reads on the way could not be read.
    #[error(transparent)]
    Unreadable(Box<Unreadable>),
    /// The operating system refused.
    #[error("cannot write {path}: {source}", path = path.display())]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The scene has not the frames that were asked for.
    #[error("frames {}..{} were asked for, but the scene has {have} frames (0..{have})", asked.start, asked.end)]
    NoFrames {
        /// What was asked for.
        asked: Range<u32>,
        /// How many there are.
        have: u32,
    },
    /// A format was asked for that nothing writes.
    #[error("there is no writer for {format:?} files")]
    NoWriter {
        /// Which format.
        format: TakeFormat,
    },
    /// The scene reads a file that the bake would replace.
    #[error("{path} is read by the scene, so it is not replaced: bake into another folder, such as {folder}", path = path.display(), folder = folder.display())]
    ReplacesInput {
        /// Which file.
        path: PathBuf,
        /// A folder that is not there yet.
        folder: PathBuf,
    },
    /// There is nothing to bake.
    #[error("the scene has no assets: add an [[asset]]")]
    NoAssets,
    /// Another program bakes into the same folder.
    #[error("another bake is writing to {folder}: wait for it, or choose another folder", folder = folder.display())]
    Busy {
        /// Which folder.
        folder: PathBuf,
    },
}

impl From<FrameError> for BakeError {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            FrameError::Unreadable(unreadable) => Self::Unreadable(unreadable),
        }
    }
}

/// Plays a scene and writes its frames to files in `folder`, going on from where an earlier run stopped.
///
/// Progress counts frames: played first, then written once for each format.
///
/// # Errors
///
/// [`BakeError`]; finished frames stay stored, and only whole files are left.
pub fn bake(
    player: &mut Player,
    folder: &Path,
    options: &Options,
    writers: &[(TakeFormat, Writer)],
    run: &Run<'_>,
) -> Result<Baked, BakeError> {
    let frames = wanted_frames(player, options)?;
    let formats = options.formats.as_ref().unwrap_or(&player.scene().output.formats).clone();
    let writers = wanted_writers(&formats, writers)?;
    let names = Names::new(player.scene(), output_folder(player, folder), frames.clone());
    names.check(player, &writers)?;
    let own = player.cast().iter().map(|c| c.topology().clone()).collect();
    let (cache, opened) = Cache::open(names.folder(), player.fingerprint(), own)?;
    output::clear_temporaries(names.folder(), &player.scene().name);
    let bodies = player.scene().assets.iter().map(|actor| Summary::new(&actor.name)).collect();
    let mut baked = Baked { frames: frames.clone(), bodies, ..Baked::default() };
    if opened == Opened::Anew {
        let note = "the scene or an asset has changed since the last bake: starting anew";
        baked.warnings.push(note.to_owned());
    }
    let total = u64::from(frames.end - frames.start) * (1 + writers.len() as u64);
    let stretches = play_all(player, &cache, &mut baked, run, total)?;
    folds::look(player, &cache, &mut baked, &stretches, options.check, run)?;
    let mut outputs = output::Outputs { player, cache: &cache, frames, run, total, names };
    let kept = outputs.survey()?;
    for (number, (format, writer)) in (1..).zip(&writers) {
        outputs.write(*format, writer, (number, &kept), &mut baked)?;
    }
    baked.warnings.extend(outputs.names.left_over(&writers));
    let is_part = baked.frames != (0..player.frames());
    match (options.keep_cache, is_part) {
        (true, _) => {}
        // Other parts start from the states.
        (false, true) => cache.remove_frames()?,
        (false, false) => cache.remove()?,
    }
    Ok(baked)
}

/// Simulates a scene and stores its state every 24 frames; returns how many were stored.
///
/// They lie beside where [`bake`] with the same `folder` stores frames: parts of the scene, baked here or on another
/// machine of the same kind, start from the nearest state and have the bits of one bake.
///
/// # Errors
///
/// [`BakeError`]; states that were stored stay.
pub fn simulate(player: &mut Player, folder: &Path, run: &Run<'_>) -> Result<u32, BakeError> {
    let frames = wanted_frames(player, &Options::default())?;
    let names = Names::new(player.scene(), output_folder(player, folder), frames.clone());
    let own = player.cast().iter().map(|c| c.topology().clone()).collect();
    let (cache, _) = Cache::open(names.folder(), player.fingerprint(), own)?;
    let time = player.scene().time;
    let mut stored = 0;
    for frame in frames.clone().step_by(FRAMES_A_STATE as usize) {
        player.simulate(time.start + f64::from(frame) / time.fps, run)?;
        cache.store_state(frame, &player.snapshot())?;
        stored += 1;
        run.report(u64::from(frame) + 1, u64::from(frames.end));
    }
    Ok(stored)
}

/// The folder that files are written to: the scene may name one inside.
fn output_folder(player: &Player, folder: &Path) -> PathBuf {
    match &player.scene().output.folder {
        Some(inner) => folder.join(names::file_name(inner)),
        None => folder.to_owned(),
    }
}

fn wanted_frames(player: &Player, options: &Options) -> Result<Range<u32>, BakeError> {
    if player.cast().is_empty() {
        return Err(BakeError::NoAssets);
    }
    let have = player.frames();
    let asked = options.frames.clone().unwrap_or(0..have);
    if asked.start >= asked.end || asked.end > have {
        return Err(BakeError::NoFrames { asked, have });
    }
    Ok(asked)
}

fn wanted_writers(
    formats: &[TakeFormat],
    writers: &[(TakeFormat, Writer)],
) -> Result<Vec<(TakeFormat, Writer)>, BakeError> {
    let mut wanted: Vec<(TakeFormat, Writer)> = Vec::new();
    for &format in formats {
        let found = writers.iter().find(|w| w.0 == format);
        let writer = found.ok_or(BakeError::NoWriter { format })?;
        if !wanted.iter().any(|w| w.0 == format) {
            wanted.push(*writer);
        }
    }
    Ok(wanted)
}

/// States of up to so many bytes are stored with every frame.
const SMALL_STATE: usize = 1 << 16;

/// Larger ones, and those of a simulation alone, with every so many frames.
const FRAMES_A_STATE: u32 = 24;

/// Stores every frame that is not stored yet; returns how far edges of each body are stretched in each.
fn play_all(
    player: &mut Player,
    cache: &Cache,
    baked: &mut Baked,
    run: &Run<'_>,
    total: u64,
) -> Result<Vec<Vec<f64>>, BakeError> {
    let (mut stretches, mut told) = (Vec::new(), HashSet::new());
    let frames = baked.frames.clone();
    // The last stored state, until the player has been brought there.
    let mut ahead = cache.state_before(frames.start);
    for i in frames.clone() {
        let report = match cache.verify(i, run)? {
            Some(Stored { state, report }) => {
                baked.reused += 1;
                ahead = state.or(ahead);
                report
            }
            None => {
                if let Some(state) = ahead.take() {
                    // A stored state of this scene fits; one that does not is only replayed.
                    let _ = player.restore(&state);
                }
                let frame = player.frame_without_normals(i, run)?;
                // A large state is stored seldom: those between follow from it.
                let is_small = player.state_size() <= SMALL_STATE;
                let is_due = is_small || (i - frames.start).is_multiple_of(FRAMES_A_STATE);
                let state = is_due.then(|| player.snapshot());
                let mut report = frame.report;
                report.edge_stretches = edge_stretches(player, &frame.bodies, run);
                let stored = Stored { state, report };
                cache.store(i, &stored, &frame.bodies, run)?;
                player.take_back(frame.bodies);
                stored.report
            }
        };
        stretches.push(report.edge_stretches.clone());
        baked.add(i, report, &mut told);
        run.report(u64::from(i - frames.start) + 1, total);
    }
    Ok(stretches)
}

/// The longest an edge of each body is over its length at rest; 1 for what has another topology then.
fn edge_stretches(player: &Player, bodies: &[BodyFrame], run: &Run<'_>) -> Vec<f64> {
    let of_body = |(cast, shape): (&Cast, &BodyFrame)| {
        let rest = &cast.rest.meshes[0].positions;
        if !Arc::ptr_eq(&shape.topology, cast.topology()) || rest.len() != shape.positions.len() {
            return 1.0;
        }
        max_edge_stretch(rest, &shape.positions, shape.topology.triangles(), run)
    };
    player.cast().iter().zip(bodies).map(of_body).collect()
}

impl Baked {
    /// Takes in a frame; `told` is the gist of all warnings so far.
    fn add(&mut self, frame: u32, report: Report, told: &mut HashSet<(String, String)>) {
        for (i, body) in self.bodies.iter_mut().enumerate() {
            body.add(i, &report);
        }
        for warning in report.warnings {
            if told.insert(gist(&warning)) {
                self.warnings.push(format!("frame {frame}: {warning}"));
            }
        }
    }
}

/// Who a warning is about, and what it says without its numbers, which change from frame to frame.
fn gist(warning: &str) -> (String, String) {
    let (who, what) = warning.split_once(": ").unwrap_or(("", warning));
    (who.to_owned(), what.chars().filter(|c| !c.is_ascii_digit() && !"+-.".contains(*c)).collect())
}

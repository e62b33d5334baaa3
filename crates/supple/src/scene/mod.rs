//! The scene: a document that names assets and what happens to them.
//!
//! A scene is plain data, kept as a TOML file a person can write:
//!
//! ```toml
//! supple = 1                      # version of this format
//! name = "fox"
//!
//! [time]
//! start = 0                       # s; any time may also be text with a unit: "500 ms", "12 frames"
//! end = "2 s"                     # or: frames = 49
//! fps = 24
//!
//! [[asset]]
//! file = "fox.glb"                # or: zoo = "boxer", triangles = 10000
//!
//! [asset.placement]
//! translate = [0, 0, 0]           # m
//! rotate = [0, "90 deg", 0]       # about x, then y, then z
//! scale = 1                       # or [x, y, z]
//!
//! [asset.motion]
//! kind = "keyframes"              # or "still", "path", "rigid", "ragdoll"
//! clip = "Run"                    # or its number, from 0
//! skinning = "dual-quaternion"    # or "linear"
//! repeat = "loop"                 # or "once", "ping-pong"
//!
//! [[asset.modifier]]              # in the order they are applied
//! kind = "place"
//! translate = [0, "lift", 0]      # a number, or the name of a track
//!
//! [[asset.modifier]]
//! kind = "follow"                 # trails behind on a damped spring
//! frequency = "2 Hz"
//!
//! [[asset.modifier]]
//! kind = "sculpt"                 # edits the shape; see modifier::sculpt
//! amount = 1                      # how much of the edits, from 0 to 1
//!
//! [[asset.modifier.op]]           # in the order they are carried out
//! kind = "twist"                  # or "move", "points", "paint", "stamp", "bend", "boundary", "curve"
//! degrees = 180
//!
//! [[asset.modifier]]
//! kind = "skinning"               # the blends around joints keep the volume
//!
//! [asset.contact]                 # gives way to colliders and other assets; see collider
//! softness = 1
//!
//! [[collider]]
//! kind = "plane"                  # or "box", "sphere", "capsule", "ring", "convex", "mesh"
//!
//! [flow.wake]                     # velocity over space and time, for modifiers that name it
//! file = "wake.vti"               # or: zoo = "…"
//! start = "0 s"                   # time of the flow at the scene's time zero
//! speed = 1                       # seconds of the flow in a second of the scene
//!
//! [track.lift]
//! interpolation = "smooth"        # or "step", "linear"
//! keys = [[0, 0.0], ["1 s", 0.5]]
//!
//! [camera]                        # for pictures; without it they are framed by themselves
//! eye = [0, 1, 4]
//! target = [0, 1, 0]
//! fov = "35 deg"                  # across the shorter side of the picture
//!
//! [output]
//! formats = ["glb", "pc2"]
//! folder = "fox"
//! ```
//!
//! It is checked on load: an unknown key, a missing file, a wrong unit or a value out of range is a
//! [`Problem`] that names the line and column, and what would be right.
//!
//! # Example
//!
//! ```
//! use supple::scene::Scene;
//!
//! let problem = Scene::parse("supple = 1\n[time]\nend = \"2 kg\"\n", None).unwrap_err();
//! assert_eq!((problem.line, problem.column), (3, 7));
//! assert!(problem.to_string().contains("s, ms, min, frames"));
//! ```

pub mod camera;
pub mod collider;
mod document;
mod error;
pub mod folder;
mod kinds;
pub mod modifier;
pub mod motion;
pub mod path;
pub mod placement;
mod starter;
mod track;

use std::cell::{Cell, RefCell};
use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::de::DeTable;

use document::{Document, Range, Table};

use crate::io::uri::Policy;
use crate::modifier::Registry;

pub use crate::modifier::read::Unit;
pub use crate::modifier::{Ease, FlowEntry, Flows, Source, Tets, Track, Tracks, Value};
pub use camera::Camera;
pub use collider::{ColliderEntry, Contact, Ride};
pub use error::{Problem, SceneError};
pub use folder::Folder;
pub use modifier::Modifier;
pub use motion::{ClipChoice, Keyframes, Motion, Recording, Repeat, RigidMotion};
pub use path::{PathError, PathKey, RigidPath};
pub use placement::Placement;
pub use starter::starter;

/// The version of the format this library reads and writes.
pub const VERSION: u32 = 1;

/// A document that names assets and what happens to them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// Version of the format.
    pub supple: u32,
    /// What baked files are called. Default: `scene`.
    pub name: String,
    /// Which frames there are.
    pub time: Time,
    /// The assets and their motions.
    #[serde(rename = "asset", default)]
    pub assets: Vec<Actor>,
    /// What the assets collide with.
    #[serde(rename = "collider", default, skip_serializing_if = "Vec::is_empty")]
    pub colliders: Vec<ColliderEntry>,
    /// Values over time that parameters may name.
    #[serde(rename = "track", default)]
    pub tracks: Tracks,
    /// Velocity over space and time that modifiers may name.
    #[serde(rename = "flow", default, skip_serializing_if = "Flows::is_empty")]
    pub flows: Flows,
    /// Where pictures are taken from; found by itself if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub camera: Option<Camera>,
    /// What to write when the scene is baked.
    pub output: Output,
}

/// Which frames a scene has: frame `i` is at `start + i/fps`, up to and including `end`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// Time of the first frame, in seconds. Default: 0.
    pub start: f64,
    /// Time of the last frame, in seconds. Default: 1.
    pub end: f64,
    /// Frames a second. Default: 24. Changes how often the motion is looked at, never the motion.
    pub fps: f64,
}

impl Default for Time {
    fn default() -> Self {
        Self { start: 0.0, end: 1.0, fps: 24.0 }
    }
}

impl Time {
    /// How many frames there are; at least one.
    #[must_use]
    pub fn frames(&self) -> u32 {
        // A last frame that misses the end by rounding is still in.
        ((self.end - self.start) * self.fps + 1e-6).floor().clamp(0.0, 1e9) as u32 + 1
    }

    fn read(table: &Table<'_>) -> Result<Self, Problem> {
        table.only(&["start", "end", "frames", "fps"])?;
        let rates = Range { least: 0.01, most: 10_000.0 };
        let default = Self::default();
        let fps = table.number_or("fps", Unit("fps"), rates, default.fps)?;
        table.document.fps.set(fps);
        let times = Range { least: -1e6, most: 1e6 };
        let start = table.number_or("start", Unit("s"), times, default.start)?;
        let end = match (table.get("end"), table.get("frames")) {
            (Some(end), None) => {
                let secs = end.number(Unit("s"), times)?;
                if secs < start {
                    let fix = format!("it starts at {start} s: end there or later");
                    return Err(end.wrong(&format!("the scene ends at {secs} s"), &fix));
                }
                secs
            }
            (None, Some(frames)) => start + f64::from(frames.count(1..=10_000_000)? - 1) / fps,
            (Some(_), Some(frames)) => {
                return Err(frames.wrong("both 'end' and 'frames' are given", "keep one"));
            }
            (None, None) => start + default.end,
        };
        Ok(Self { start, end, fps })
    }
}

/// An asset in a scene: where it comes from, where it stands, how it moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Actor {
    /// What baked files and reports call it; unique in the scene. Default: from the file's name.
    pub name: String,
    /// Where the asset comes from.
    #[serde(flatten)]
    pub source: Source,
    /// The solid beside its surface, for modifiers that need one. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tets: Option<Tets>,
    /// Where it stands, with all its motion.
    #[serde(default)]
    pub placement: Placement,
    /// How it moves before anything modifies it.
    #[serde(default)]
    pub motion: Motion,
    /// How it behaves in contact; without it, it passes through everything, unless it is a rigid
    /// body or a ragdoll.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<Contact>,
    /// What happens to it then, in this order.
    #[serde(rename = "modifier", default)]
    pub modifiers: Vec<Modifier>,
}

impl Source {
    fn read(table: &Table<'_>) -> Result<Self, Problem> {
        match (table.get("file"), table.get("zoo")) {
            (Some(file), None) => {
                if let Some(triangles) = table.get("triangles") {
                    return Err(triangles.wrong("a file has its own triangles", "remove this key"));
                }
                Ok(Self::File { file: file.file()? })
            }
            (None, Some(zoo)) => {
                let most = crate::zoo::MOST_TRIANGLES as u32;
                let triangles = table.get("triangles").map(|f| f.count(4..=most)).transpose()?;
                Ok(Self::Zoo { zoo: zoo.zoo()?, triangles })
            }
            (Some(_), Some(zoo)) => {
                Err(zoo.wrong("both 'file' and 'zoo' are given", "keep one of them"))
            }
            (None, None) => {
                let fix = "add file = \"model.glb\", or zoo = \"boxer\" for a built-in model";
                Err(table.wrong(&format!("{} has neither 'file' nor 'zoo'", table.what), fix))
            }
        }
    }

    /// A name for what comes from here.
    fn name(&self) -> String {
        match self {
            Self::Zoo { zoo, .. } => zoo.clone(),
            Self::Empty { .. } => "empty".to_owned(),
            Self::File { file } => {
                let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
                stem.trim_start_matches('.').replace(|c| "/\\:*?\"<>|".contains(c), "_")
            }
        }
    }
}

impl Actor {
    fn read(table: &Table<'_>, others: &[Self]) -> Result<Self, Problem> {
        table.only(&[
            "name",
            "file",
            "zoo",
            "triangles",
            "empty",
            "tets",
            "placement",
            "motion",
            "contact",
            "modifier",
        ])?;
        let source = match table.get("empty") {
            Some(empty) => read_empty(table, &empty)?,
            None => Source::read(table)?,
        };
        let tets = table.get("tets").map(|f| read_tets(&f)).transpose()?;
        let name = match table.get("name") {
            Some(field) => field.name()?,
            None => source.name(),
        };
        if others.iter().any(|o| o.name == name) {
            let fix = "give each [[asset]] a name of its own: name = \"…\"";
            return Err(table.wrong(&format!("two assets are called '{name}'"), fix));
        }
        let placement = match table.get("placement") {
            Some(field) => Placement::read(&field.table("[asset.placement]")?)?,
            None => Placement::default(),
        };
        let motion = match table.get("motion") {
            Some(field) => Motion::read(&field.table("[asset.motion]")?)?,
            None => Motion::default(),
        };
        let contact = match table.get("contact") {
            Some(field) => Some(Contact::read(&field.table("[asset.contact]")?)?),
            None => None,
        };
        let modifiers = match table.get("modifier") {
            Some(field) => field.tables("[[asset.modifier]]")?,
            None => Vec::new(),
        };
        let modifiers = modifiers.iter().map(Modifier::read).collect::<Result<_, _>>()?;
        Ok(Self { name, source, tets, placement, motion, contact, modifiers })
    }
}

/// What to write when a scene is baked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// File formats. Default: `["glb"]`.
    pub formats: Vec<Format>,
    /// Folder for the files, inside the folder the caller names. Default: that folder itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

impl Default for Output {
    fn default() -> Self {
        Self { formats: vec![Format::Glb], folder: None }
    }
}

/// A format that frames can be baked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// One glTF binary for all assets: morph targets with a weights animation.
    Glb,
    /// A USD text file for each asset: time-sampled points.
    Usda,
    /// A point cache for each asset, as Blender's Mesh Cache reads it.
    Pc2,
    /// A point cache for each asset, in seconds.
    Mdd,
    /// A PLY file for each frame of each asset.
    Ply,
    /// An OBJ file for each frame of each asset.
    Obj,
}

impl Format {
    /// Every format with the ending of its files.
    pub const ALL: [(&'static str, Self); 6] = [
        ("glb", Self::Glb),
        ("usda", Self::Usda),
        ("pc2", Self::Pc2),
        ("mdd", Self::Mdd),
        ("ply", Self::Ply),
        ("obj", Self::Obj),
    ];

    /// The ending of its files.
    #[must_use]
    pub fn ending(self) -> &'static str {
        Self::ALL.iter().find(|f| f.1 == self).map_or("", |f| f.0)
    }
}

impl Output {
    fn read(table: &Table<'_>) -> Result<Self, Problem> {
        table.only(&["formats", "folder"])?;
        let default = Self::default();
        let formats = match table.get("formats") {
            Some(field) => {
                field.items()?.iter().map(|f| f.choice(&Format::ALL)).collect::<Result<_, _>>()?
            }
            None => default.formats,
        };
        let folder = table.get("folder").map(|f| f.name()).transpose()?;
        Ok(Self { formats, folder })
    }
}

impl Scene {
    /// A scene of one asset that stands still.
    #[must_use]
    pub fn of(name: &str, source: Source) -> Self {
        let actor = Actor {
            name: name.to_owned(),
            source,
            tets: None,
            placement: Placement::default(),
            motion: Motion::default(),
            contact: None,
            modifiers: Vec::new(),
        };
        Self {
            supple: VERSION,
            name: name.to_owned(),
            time: Time::default(),
            assets: vec![actor],
            colliders: Vec::new(),
            tracks: Tracks::new(),
            flows: Flows::new(),
            camera: None,
            output: Output::default(),
        }
    }

    /// Loads a scene file, whose assets are in its folder, or where `policy` allows.
    ///
    /// # Errors
    ///
    /// [`SceneError`] if the file cannot be read or is wrong.
    pub fn load(path: &Path, policy: Policy) -> Result<Self, SceneError> {
        let read = |source| SceneError::Read { path: path.to_owned(), source };
        crate::io::inputs::remember(path);
        let text = std::fs::read_to_string(path).map_err(read)?;
        let wrong = |problem| SceneError::Wrong { path: path.to_owned(), problem };
        Self::parse(&text, Some(&Folder::of(path, policy))).map_err(wrong)
    }

    /// Reads a document; the files it names are looked for in `folder`, or not at all.
    ///
    /// # Errors
    ///
    /// The first [`Problem`] of the document.
    pub fn parse(text: &str, folder: Option<&Folder<'_>>) -> Result<Self, Problem> {
        Self::parse_with(text, folder, &Registry::default())
    }

    /// As [`parse`](Self::parse), with the kinds of modifiers of `registry`.
    ///
    /// # Errors
    ///
    /// The first [`Problem`] of the document.
    pub fn parse_with(
        text: &str,
        folder: Option<&Folder<'_>>,
        registry: &Registry,
    ) -> Result<Self, Problem> {
        let document = Document {
            text,
            folder,
            registry,
            fps: Cell::new(Time::default().fps),
            tracks: RefCell::default(),
        };
        let root = DeTable::parse(text).map_err(|e| {
            document.problem(e.span().unwrap_or(0..0), e.message(), "this is not TOML; see toml.io")
        })?;
        Self::read(&Table::root(&document, &root))
    }

    fn read(root: &Table<'_>) -> Result<Self, Problem> {
        let version = root.need("supple")?;
        let known = format!("this program reads version {VERSION}");
        if version.count(0..=u32::MAX)? != VERSION {
            return Err(version.wrong("a scene of another version", &known));
        }
        root.only(&[
            "supple", "name", "time", "asset", "collider", "track", "flow", "camera", "output",
        ])?;
        let name = root.get("name").map_or(Ok("scene".to_owned()), |f| f.name())?;
        let time = match root.get("time") {
            Some(field) => Time::read(&field.table("[time]")?)?,
            None => Time::default(),
        };
        let tracks = read_tracks(root)?;
        root.document.tracks.replace(tracks.clone());
        let flows = read_flows(root)?;
        let mut assets = Vec::new();
        for table in root.get("asset").map_or(Ok(Vec::new()), |f| f.tables("[[asset]]"))? {
            assets.push(Actor::read(&table, &assets)?);
        }
        let colliders = read_colliders(root, &assets)?;
        let camera = match root.get("camera") {
            Some(field) => Some(Camera::read(&field.table("[camera]")?)?),
            None => None,
        };
        let output = match root.get("output") {
            Some(field) => Output::read(&field.table("[output]")?)?,
            None => Output::default(),
        };
        let supple = VERSION;
        Ok(Self { supple, name, time, assets, colliders, tracks, flows, camera, output })
    }

    /// The document of this scene.
    ///
    /// # Panics
    ///
    /// Never: every scene has a document.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).expect("a scene is plain data")
    }
}

fn read_colliders(root: &Table<'_>, assets: &[Actor]) -> Result<Vec<ColliderEntry>, Problem> {
    let Some(field) = root.get("collider") else { return Ok(Vec::new()) };
    let mut colliders: Vec<ColliderEntry> = Vec::new();
    for (number, table) in (1..).zip(field.tables("[[collider]]")?) {
        let collider = ColliderEntry::read(&table, number)?;
        if colliders.iter().any(|c| c.name == collider.name) {
            let what = format!("two colliders are called '{}'", collider.name);
            return Err(table.wrong(&what, "give each a name of its own: name = \"…\""));
        }
        let unknown = |r: &&Ride| assets.iter().all(|a| a.name != r.asset);
        if let Some(ride) = collider.rides.as_ref().filter(unknown) {
            let known: Vec<&str> = assets.iter().map(|a| a.name.as_str()).collect();
            let what = format!("there is no asset '{}' to ride on", ride.asset);
            return Err(table.wrong(&what, &format!("assets here: {}", known.join(", "))));
        }
        colliders.push(collider);
    }
    Ok(colliders)
}

/// An asset that a modifier makes.
fn read_empty(table: &Table<'_>, empty: &document::Field<'_>) -> Result<Source, Problem> {
    let others = ["file", "zoo", "triangles", "tets"].iter().find_map(|key| table.get(key));
    if let Some(other) = others {
        return Err(other.wrong("an empty asset comes from nowhere", "keep one of them"));
    }
    if !empty.flag()? {
        return Err(empty.wrong("'empty' is false", "write true, or name a file or zoo model"));
    }
    Ok(Source::Empty { empty: true })
}

fn read_tets(field: &document::Field<'_>) -> Result<Tets, Problem> {
    let lengths = Range { least: 1e-9, most: 1e9 };
    // A length may be text too: "2 cm".
    if field.is_text() && field.as_quantity(Unit("m")).is_none() {
        return field.file().map(Tets::File);
    }
    field.number(Unit("m"), lengths).map(Tets::Spacing)
}

fn read_flows(root: &Table<'_>) -> Result<Flows, Problem> {
    let Some(field) = root.get("flow") else { return Ok(Flows::new()) };
    let mut flows = Flows::new();
    for entry in field.table("[flow]")?.entries() {
        let table = entry.table(&format!("[flow.{}]", entry.key))?;
        table.only(&["file", "zoo", "start", "speed"])?;
        let source = match table.get("zoo") {
            // The zoo of flows is not that of models.
            Some(zoo) if table.get("file").is_none() => {
                Source::Zoo { zoo: zoo.name()?, triangles: None }
            }
            _ => Source::read(&table)?,
        };
        let times = Range { least: -1e9, most: 1e9 };
        let start = table.number_or("start", Unit("s"), times, 0.0)?;
        let speed = table.number_or("speed", Unit(""), times, 1.0)?;
        flows.insert(entry.key.clone(), FlowEntry { source, start, speed });
    }
    Ok(flows)
}

fn read_tracks(root: &Table<'_>) -> Result<Tracks, Problem> {
    let Some(field) = root.get("track") else { return Ok(Tracks::new()) };
    let mut tracks = Tracks::new();
    for entry in field.table("[track]")?.entries() {
        let table = entry.table(&format!("[track.{}]", entry.key))?;
        if !entry.key.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            let what = format!("'{}' cannot be the name of a track", entry.key);
            return Err(table.wrong(&what, "start it with a letter"));
        }
        tracks.insert(entry.key.clone(), Track::read(&table)?);
    }
    Ok(tracks)
}

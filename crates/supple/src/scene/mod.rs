//! The scene: a document that names assets and what happens to them.
//!
//! A scene is plain data, kept as a TOML file a person can write:
//!
//! ```toml
//! supple = 2                      # version of this format
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
//! [asset.paint]                   # painted vertex values in files beside the scene, in the place of its own
//! softness = "fox-softness.ply"
//!
//! [asset.placement]
//! translate = [0, 0, 0]           # m
//! rotate = [0, "90 deg", 0]       # about x, then y, then z
//! scale = 1                       # or [x, y, z]
//!
//! [asset.motion]
//! kind = "keyframes"              # or "still", "path"
//! clip = "Run"                    # or its number, from 0
//! skinning = "dual-quaternion"    # or "linear"
//! repeat = "loop"                 # or "once", "ping-pong", "auto"
//!
//! [[asset.rest]]                  # the shape as it was modelled, in the order of effect
//! kind = "sculpt"                 # edits the shape; see sculpt::modifier
//! amount = 1                      # how much of the edits, from 0 to 1
//!
//! [[asset.rest.op]]               # in the order they are carried out
//! kind = "twist"                  # or "move", "points", "paint", "stamp", "bend", "boundary", "curve"
//! degrees = 180
//!
//! [[asset.pose]]                  # before the skeleton, and how that moves the body
//! kind = "skinning"               # the blends around joints keep the volume; or "ragdoll": bones that fall
//!
//! [[asset.world]]                 # where the body is
//! kind = "place"
//! translate = [0, "lift", 0]      # a number, or the name of a track
//!
//! [[asset.world]]
//! kind = "follow"                 # trails behind on a damped spring
//! frequency = "2 Hz"
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
//! A document of version 1, which has one list `[[asset.modifier]]` in which each kind acts where it must, is read as one
//! of version 2, and a motion `rigid` or `ragdoll` as the modifier that it is now.
//!
//! It is checked on load: an unknown key, a missing file, a wrong unit or a value out of range is a
//! [`Problem`] that names the line and column, and what would be right.
//!
//! # Example
//!
//! ```
//! use supple::scene::Scene;
//!
//! let problem = Scene::parse("supple = 2\n[time]\nend = \"2 kg\"\n", None).unwrap_err();
//! assert_eq!((problem.line, problem.column), (3, 7));
//! assert!(problem.to_string().contains("s, ms, min, frames"));
//! ```

pub mod camera;
pub mod collider;
mod document;
mod entry;
mod error;
pub mod folder;
mod kinds;
pub mod motion;
mod starter;
mod upgrade;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use document::{Location, Texts};

use crate::io::inputs;
use crate::io::uri::Policy;
use crate::modifier::read::{self, Reader};
use crate::modifier::{Kind, Registry, Stage};

pub use crate::modifier::read::Unit;
pub use crate::modifier::{
    Ease, FlowEntry, Flows, PathError, PathKey, Placement, RigidPath, Source, Tets, Track, Tracks,
    Value,
};
pub use camera::Camera;
pub use collider::{ColliderEntry, Contact, Ride};
pub use entry::{Entry, Unread};
pub use error::{Problem, SceneError};
pub use folder::{Folder, Noted, OpenFlows};
pub use motion::{ClipChoice, Keyframes, Motion, Recording, Repeat};
pub use starter::{Starter, sample_of, starter, starter_for};

/// The version of the format this library reads and writes.
pub const VERSION: u32 = 2;

/// A document that names assets and what happens to them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scene {
    /// Version of the format.
    #[schemars(extend("examples" = [2]))]
    pub supple: u32,
    /// What baked files are called. Default: `scene`.
    #[serde(default = "scene")]
    #[schemars(extend("format" = "name"))]
    pub name: String,
    /// Which frames there are.
    #[serde(default)]
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
    #[serde(default)]
    pub output: Output,
}

/// Which frames a scene has: frame `i` is at `start + i/fps`, up to and including `end`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "TimeKeys")]
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

    fn check(&self, at: Location<'_>) -> Result<(), Problem> {
        if at.has("end") && at.has("frames") {
            let what = "both 'end' and 'frames' are given";
            return Err(at.get("frames").wrong(what, "keep one"));
        }
        if self.end < self.start {
            let fix = format!("it starts at {} s: end there or later", self.start);
            return Err(at.get("end").wrong(&format!("the scene ends at {} s", self.end), &fix));
        }
        Ok(())
    }
}

/// How a document says which frames there are.
#[derive(Deserialize, JsonSchema)]
struct TimeKeys {
    /// Time of the first frame. Default: 0.
    #[serde(default)]
    #[schemars(range(min = -1e6, max = 1e6), extend("unit" = "s"))]
    start: f64,
    /// Time of the last frame. Default: a second after the first.
    #[schemars(range(min = -1e6, max = 1e6), extend("unit" = "s"))]
    end: Option<f64>,
    /// How many frames there are, in place of `end`.
    #[schemars(range(min = 1, max = 10_000_000))]
    frames: Option<u32>,
    /// Frames a second. Default: 24.
    #[serde(default = "fps")]
    #[schemars(range(min = 0.01, max = 10_000.0), extend("unit" = "fps"))]
    fps: f64,
}

fn fps() -> f64 {
    Time::default().fps
}

impl From<TimeKeys> for Time {
    fn from(TimeKeys { start, end, frames, fps }: TimeKeys) -> Self {
        let last = |frames: u32| start + f64::from(frames.max(1) - 1) / fps;
        let end = end.or(frames.map(last)).unwrap_or(start + Self::default().end);
        Self { start, end, fps }
    }
}

/// An asset in a scene: where it comes from, where it stands, how it moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Actor {
    /// What baked files and reports call it; unique in the scene. Default: from the file's name.
    #[serde(default)]
    #[schemars(extend("format" = "name"))]
    pub name: String,
    /// Where the asset comes from.
    #[serde(flatten)]
    pub source: Source,
    /// The solid beside its surface, for modifiers that need one. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tets: Option<Tets>,
    /// Painted vertex values by name, each in a file beside the scene, in the place of the values of that name in the
    /// asset's own file. Default: none.
    #[serde(default, skip_serializing_if = "Paint::is_empty")]
    pub paint: Paint,
    /// Where it stands, with all its motion.
    #[serde(default)]
    pub placement: Placement,
    /// Where the same asset, moved and modified alike, stands once more. Each copy becomes an asset of its own: `name-2`,
    /// `name-3`, …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<Placement>,
    /// How it moves before anything modifies it.
    #[serde(default)]
    pub motion: Motion,
    /// How it behaves in contact; without it, it passes through everything, unless it is a rigid
    /// body or a ragdoll.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<Contact>,
    /// What happens to its shape as it was modelled, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<serde_json::Value>")]
    pub rest: Vec<Entry>,
    /// What happens to it before its skeleton moves it, and how that does so, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<serde_json::Value>")]
    pub pose: Vec<Entry>,
    /// What happens to it where it is, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<serde_json::Value>")]
    pub world: Vec<Entry>,
}

/// Painted layers of an asset, by the name of their values.
pub type Paint = BTreeMap<String, PaintFile>;

/// A file whose vertices have the values of a painted layer: any mesh or cloud that keeps named values, PLY for one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PaintFile(#[schemars(extend("format" = "file"))] pub String);

impl Source {
    /// A name for what comes from here.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Zoo { zoo, .. } => zoo.clone(),
            Self::Empty { .. } => "empty".to_owned(),
            Self::File { file } => {
                let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
                document::name_of(&stem)
            }
        }
    }
}

impl Actor {
    /// All its modifiers with their stages, in the order of effect.
    pub fn modifiers(&self) -> impl Iterator<Item = (Stage, &Entry)> {
        let lists =
            [(Stage::Rest, &self.rest), (Stage::Pose, &self.pose), (Stage::World, &self.world)];
        lists.into_iter().flat_map(|(stage, list)| list.iter().map(move |entry| (stage, entry)))
    }

    /// All its modifiers, in the order of effect.
    pub fn modifiers_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.rest.iter_mut().chain(&mut self.pose).chain(&mut self.world)
    }

    /// It and its copies, each an asset of its own.
    fn with_copies(mut self) -> Vec<Self> {
        let copies = std::mem::take(&mut self.copies);
        let copy = |(k, placement): (usize, Placement)| Self {
            name: format!("{}-{k}", self.name),
            placement,
            ..self.clone()
        };
        let copies: Vec<Self> = (2..).zip(copies).map(copy).collect();
        std::iter::once(self).chain(copies).collect()
    }

    fn check(&self, registry: &Registry, version: u32, at: Location<'_>) -> Result<(), Problem> {
        if self.source == (Source::Empty { empty: false }) {
            let fix = "write true, or name a file or zoo model";
            return Err(at.get("empty").wrong("'empty' is false", fix));
        }
        if let (Source::Empty { .. }, Some(_)) = (&self.source, &self.tets) {
            let fix = "keep one of them";
            return Err(at.get("tets").wrong("an empty asset comes from nowhere", fix));
        }
        check_placement(&self.placement, at.get("placement"))?;
        for (i, copy) in self.copies.iter().enumerate() {
            check_placement(copy, at.get("copies").entry(i))?;
        }
        self.motion.check(at.get("motion"))?;
        for (stage, list) in
            [(Stage::Rest, &self.rest), (Stage::Pose, &self.pose), (Stage::World, &self.world)]
        {
            for (k, entry) in list.iter().enumerate() {
                let at = upgrade::place((version, at), registry, (stage, k));
                entry.check_document(registry, at)?;
            }
        }
        Ok(())
    }
}

/// What to write when a scene is baked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Output {
    /// File formats. Default: `["glb"]`.
    pub formats: Vec<TakeFormat>,
    /// Folder for the files, inside the folder the caller names. Default: that folder itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "name"))]
    pub folder: Option<String>,
}

impl Default for Output {
    fn default() -> Self {
        Self { formats: vec![TakeFormat::Glb], folder: None }
    }
}

/// A format that frames can be baked to.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum TakeFormat {
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

impl TakeFormat {
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

fn scene() -> String {
    "scene".to_owned()
}

/// The schema of scenes with the kinds that every registry has; theirs are added to its list.
static SCHEMA: LazyLock<Schema> = LazyLock::new(read::schema::<Scene>);

impl Scene {
    /// A scene of one asset that stands still.
    #[must_use]
    pub fn of(name: &str, source: Source) -> Self {
        let actor = Actor {
            name: name.to_owned(),
            source,
            tets: None,
            paint: Paint::new(),
            placement: Placement::default(),
            copies: Vec::new(),
            motion: Motion::default(),
            contact: None,
            rest: Vec::new(),
            pose: Vec::new(),
            world: Vec::new(),
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
        Self::load_noting(path, policy, &mut Vec::new())
    }

    /// As [`load`](Self::load); what a person should know of the document is added to `notes`.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn load_noting(
        path: &Path,
        policy: Policy,
        notes: &mut Vec<String>,
    ) -> Result<Self, SceneError> {
        let read = |source| SceneError::Read { path: path.to_owned(), source };
        inputs::remember(path);
        let text = inputs::read_to_string(path).map_err(read)?;
        let wrong = |problem| SceneError::Wrong { path: path.to_owned(), problem };
        let folder = Folder::of(path, policy);
        let (scene, old) =
            Self::parse_any(&text, Some(&folder), &Registry::default()).map_err(wrong)?;
        notes.extend(old);
        Ok(scene)
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
        Self::parse_any(text, folder, registry).map(|read| read.0)
    }

    /// Reads a document of any version, and says what is old in it.
    fn parse_any(
        text: &str,
        folder: Option<&Folder<'_>>,
        registry: &Registry,
    ) -> Result<(Self, Vec<String>), Problem> {
        let texts = Texts(folder);
        let none = Tracks::new();
        let fps = Time::default().fps;
        let mut reader = Reader { text, fps, tracks: &none, formats: Some(&texts) };
        let root = reader.parse()?;
        let version = check_version(Location::new(reader, &root))?;
        let part = |path: &str| read::part(&SCHEMA, path);
        // Times may be given in frames, and parameters by tracks: these are read first.
        if let Some(value) = root.get_ref().get("time").and_then(|time| time.get_ref().get("fps")) {
            reader.fps =
                reader.read("time.fps", value, &part("/properties/time/properties/fps"))?;
        }
        let mut tracks = Tracks::new();
        if let Some(value) = root.get_ref().get("track") {
            tracks = reader.read("track", value, &part("/properties/track"))?;
            check_tracks(&tracks, Location::new(reader, value))?;
        }
        reader.tracks = &tracks;
        let place = Location::new(reader, &root);
        let schema = upgrade::with_motions(Self::schema_of(version, registry), registry);
        let notes = upgrade::notes(version, place);
        let mut scene: Self = match notes.is_empty() {
            false => {
                let document = reader.read("", &root, &schema)?;
                let upgraded = upgrade::upgraded(document, registry);
                let unread = |e: toml::de::Error| place.wrong(e.message(), "see `supple schema`");
                Self::deserialize(upgraded).map_err(unread)?
            }
            true => reader.read("", &root, &schema)?,
        };
        scene.check(registry, version, place)?;
        Ok((scene, notes))
    }

    /// The schema of scenes with the kinds of modifiers of `registry`: what is read, with what it means.
    #[must_use]
    pub fn schema(registry: &Registry) -> Schema {
        Self::schema_of(VERSION, registry)
    }

    /// That of documents of a version.
    ///
    /// # Panics
    ///
    /// Never: assets have lists of modifiers.
    fn schema_of(version: u32, registry: &Registry) -> Schema {
        let mut schema = SCHEMA.clone();
        let asset = schema.pointer_mut("/properties/asset/items/properties");
        let keys = asset.and_then(|asset| asset.as_object_mut()).expect("assets have keys");
        let named = |kind: &Kind| (kind.name, (kind.schema)());
        let list =
            |kinds: Schema| serde_json::json!({ "type": "array", "items": kinds.to_value() });
        if version == 1 {
            Stage::ALL.iter().for_each(|stage| drop(keys.remove(stage.list())));
            let kinds = read::kinds(registry.iter().map(named));
            keys.insert(upgrade::LIST.to_owned(), list(kinds));
            return schema;
        }
        for stage in Stage::ALL {
            let here = registry.iter().filter(|kind| kind.stages.contains(&stage)).map(named);
            if let Some(list) = keys.get_mut(stage.list()).and_then(|list| list.as_object_mut()) {
                list.insert("items".to_owned(), read::kinds(here).to_value());
            }
        }
        schema
    }

    /// What a schema cannot say; gives names to what has none.
    fn check(
        &mut self,
        registry: &Registry,
        version: u32,
        at: Location<'_>,
    ) -> Result<(), Problem> {
        self.time.check(at.get("time"))?;
        for i in 0..self.assets.len() {
            let (before, actor) = (&self.assets[..i], &self.assets[i]);
            let at = at.get("asset").entry(i);
            let own = &actor.name;
            let name = if own.is_empty() { actor.source.name() } else { own.clone() };
            if before.iter().any(|other| other.name == name) {
                let fix = "give each [[asset]] a name of its own: name = \"…\"";
                return Err(at.wrong(&format!("two assets are called '{name}'"), fix));
            }
            actor.check(registry, version, at)?;
            self.assets[i].name = name;
        }
        self.assets =
            std::mem::take(&mut self.assets).into_iter().flat_map(Actor::with_copies).collect();
        let mut names: Vec<&str> = self.assets.iter().map(|a| a.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|n| n[0] == n[1]) {
            let what = format!("an asset and a copy of another are both called '{}'", twice[0]);
            return Err(at.get("asset").wrong(&what, "rename the asset: name = \"…\""));
        }
        ColliderEntry::check_all(&mut self.colliders, &self.assets, at.get("collider"))?;
        self.camera.map_or(Ok(()), |camera| camera.check(at.get("camera")))
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

/// The version of a document, if it can be read.
fn check_version(root: Location<'_>) -> Result<u32, Problem> {
    if !root.has("supple") {
        let what = "the document has no 'supple'";
        return Err(root.wrong(what, &format!("add it: supple = {VERSION}")));
    }
    let version = root.get("supple").number().and_then(|v| u32::try_from(v).ok());
    version.filter(|v| (1..=VERSION).contains(v)).ok_or_else(|| {
        let known = format!("this program reads versions 1 to {VERSION}");
        root.get("supple").wrong("a scene of another version", &known)
    })
}

fn check_placement(placement: &Placement, at: Location<'_>) -> Result<(), Problem> {
    if placement.scale.contains(&0.0) {
        let fix = "use a factor other than 0";
        return Err(at.get("scale").wrong("a scale of 0 flattens the shape", fix));
    }
    Ok(())
}

fn check_tracks(tracks: &Tracks, at: Location<'_>) -> Result<(), Problem> {
    for (name, track) in tracks {
        let at = at.get(name);
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            let what = format!("'{name}' cannot be the name of a track");
            return Err(at.wrong(&what, "start it with a letter"));
        }
        if let Some(i) = track.keys.windows(2).position(|k| k[0][0] >= k[1][0]) {
            let time = at.get("keys").entry(i + 1).entry(0);
            return Err(time.wrong("this key is not later than the one before", "sort the keys"));
        }
    }
    Ok(())
}

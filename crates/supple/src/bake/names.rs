//! What the files of a bake are called: each its own, and none that the scene reads.

use std::collections::HashSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{BakeError, Writer};
use crate::io::inputs;
use crate::player::Player;
use crate::scene::{Actor, Scene, Source, TakeFormat};

/// Bytes of a name: two of them, a frame number and the ending of a temporary file fit into the 255 that
/// file systems allow.
const NAME_BYTES: usize = 100;

/// The names of one bake's files.
#[derive(Debug)]
pub(super) struct Names {
    folder: PathBuf,
    scene: String,
    /// What the files of each body begin with.
    bodies: Vec<String>,
    /// The bodies that modifiers make: they may have a file a frame in every format.
    generated: Vec<usize>,
    frames: Range<u32>,
    /// Number of the scene's first frame on the time line of the files.
    first: u32,
}

impl Names {
    pub(super) fn new(scene: &Scene, folder: PathBuf, frames: Range<u32>) -> Self {
        let first = (scene.time.start * scene.time.fps).round().clamp(0.0, 1e9) as u32;
        let is_empty = |(_, actor): &(usize, &Actor)| matches!(actor.source, Source::Empty { .. });
        let generated = scene.assets.iter().enumerate().filter(is_empty).map(|(i, _)| i).collect();
        let (scene, bodies) = (file_name(&scene.name), body_names(scene));
        Self { folder, scene, bodies, generated, frames, first }
    }

    /// The folder they are in.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The frames as the files number them.
    pub(super) fn shown(&self) -> Range<u32> {
        self.first + self.frames.start..self.first + self.frames.end
    }

    /// A file for all bodies.
    pub(super) fn together(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.scene))
    }

    /// A file of one body.
    pub(super) fn of_body(&self, body: usize, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.bodies[body]))
    }

    /// A file of one frame of one body.
    pub(super) fn of_frame(&self, body: usize, frame: u32, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{:04}.{ending}", self.bodies[body], self.first + frame))
    }

    fn all(&self, format: TakeFormat, writer: &Writer) -> Vec<PathBuf> {
        let (ending, bodies) = (format.ending(), 0..self.bodies.len());
        let frames = |body| self.frames.clone().map(move |i| self.of_frame(body, i, ending));
        let made = self.generated.iter().flat_map(|&body| frames(body));
        match writer {
            Writer::Together(_) => made.chain([self.together(ending)]).collect(),
            Writer::Each(_) => made.chain(bodies.map(|body| self.of_body(body, ending))).collect(),
            Writer::Sequence(_) => bodies.flat_map(frames).collect(),
        }
    }

    /// Checks, before anything is played, that no file is replaced that the scene reads.
    pub(super) fn check(
        &self,
        player: &Player,
        writers: &[(TakeFormat, Writer)],
    ) -> Result<(), BakeError> {
        let paths = writers.iter().flat_map(|(format, writer)| self.all(*format, writer));
        for path in paths.filter(|path| path.exists()) {
            let is_read = player.files().any(|read| inputs::same_file(read, &path));
            if is_read || inputs::check_output(&path).is_err() {
                return Err(BakeError::ReplacesInput { path, folder: free_folder(&self.folder) });
            }
        }
        Ok(())
    }

    /// Tells of frames beside those of this bake, as a longer take leaves them: whoever loads the folder
    /// loads them too. They are somebody's files, so they stay.
    pub(super) fn left_over(&self, writers: &[(TakeFormat, Writer)]) -> Option<String> {
        let is_sequence = |w: &&(TakeFormat, Writer)| matches!(w.1, Writer::Sequence(_));
        let endings: Vec<&str> = writers.iter().filter(is_sequence).map(|w| w.0.ending()).collect();
        let is_other = |file: &String| {
            sequence_parts(file).is_some_and(|(name, number, ending)| {
                let is_ours = endings.contains(&ending) && self.bodies.iter().any(|b| b == name);
                is_ours && !self.shown().contains(&number)
            })
        };
        let mut others: Vec<String> = fs::read_dir(&self.folder)
            .ok()?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(is_other)
            .collect();
        others.sort_unstable();
        let (first, last) = (others.first()?, others.last()?);
        Some(format!(
            "{} files of other frames lie beside those of this take, from {first} to {last}: delete them \
             if a longer take left them",
            others.len()
        ))
    }
}

/// What the files of each body begin with, no two alike, also where upper and lower case are the same.
fn body_names(scene: &Scene) -> Vec<String> {
    let begin = file_name(&scene.name);
    if let [_] = &scene.assets[..] {
        return vec![begin];
    }
    let mut taken = HashSet::new();
    let distinct = |actor: &Actor| {
        let name = file_name(&actor.name);
        let numbered = |k: u64| if k == 1 { name.clone() } else { format!("{name}-{k}") };
        let free = (1..).map(numbered).find(|name| taken.insert(name.to_lowercase()));
        format!("{begin}.{}", free.unwrap_or_default())
    };
    scene.assets.iter().map(distinct).collect()
}

/// Name, number and ending of a file of a sequence: `cow.0012.ply`.
fn sequence_parts(file: &str) -> Option<(&str, u32, &str)> {
    let (rest, ending) = file.rsplit_once('.')?;
    let (name, digits) = rest.rsplit_once('.')?;
    let is_number = digits.len() >= 4 && digits.bytes().all(|b| b.is_ascii_digit());
    Some((name, digits.parse().ok().filter(|_| is_number)?, ending))
}

/// A folder inside `folder` that is not there yet.
fn free_folder(folder: &Path) -> PathBuf {
    let numbered = |k: u32| match k {
        1 => folder.join("baked"),
        _ => folder.join(format!("baked-{k}")),
    };
    (1..100).map(numbered).find(|f| !f.exists()).unwrap_or_else(|| numbered(100))
}

/// A name that cannot lead out of a folder.
pub(super) fn file_name(name: &str) -> String {
    let safe = |c: char| if c.is_control() || "/\\:*?\"<>|".contains(c) { '_' } else { c };
    let mut name: String = name.trim_start_matches('.').chars().map(safe).collect();
    name.truncate(name.floor_char_boundary(NAME_BYTES));
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside_their_folder() {
        assert_eq!(file_name("../../etc/passwd"), "_.._etc_passwd");
        assert_eq!(file_name(".."), "unnamed");
        assert_eq!(file_name("fox 2"), "fox 2");
        assert_eq!(file_name(&"ü".repeat(80)), "ü".repeat(50), "bytes are what file systems count");
    }

    #[test]
    fn two_bodies_never_share_a_file() {
        let long = "a".repeat(100);
        let names = [
            &format!("{long}, left"),
            &format!("{long}, right"),
            "Cow",
            "cow",
            "a/b",
            "a:b",
            "cow-2",
        ];
        let mut scene = Scene::of("s", Source::Zoo { zoo: "ball".to_owned(), triangles: None });
        let actor = scene.assets[0].clone();
        let named = |name: &&str| Actor { name: (*name).to_owned(), ..actor.clone() };
        scene.assets = names.iter().map(named).collect();
        let files: HashSet<String> =
            body_names(&scene).into_iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(files.len(), names.len(), "{files:?}");
        assert!(files.iter().all(|file| file.len() < 255 - 50), "they fit with all that follows");
    }

    #[test]
    fn a_numbered_file_is_taken_apart() {
        assert_eq!(sequence_parts("s.cow.0012.ply"), Some(("s.cow", 12, "ply")));
        assert_eq!(sequence_parts("s.12345.obj"), Some(("s", 12345, "obj")));
        assert_eq!(sequence_parts("s.12.ply"), None, "frames have four digits");
        assert_eq!(sequence_parts("s.cow.ply"), None);
    }
}

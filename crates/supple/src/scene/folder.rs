//! Where the files of a scene are, and which may be opened.
//!
//! ```
//! use supple::scene::Folder;
//!
//! let folder = Folder::new(".".as_ref());
//! assert!(folder.resolve("../secret.glb").unwrap_err().is_refusal());
//! assert!(folder.resolve("https://example.org/fox.glb").unwrap_err().is_refusal());
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::flow::Flow;
use crate::io::inputs;
use crate::io::uri::{self, FetchError, Policy};
use crate::modifier::read::suggest;

/// The folder that a scene's file names are relative to.
#[derive(Clone, Copy, Debug)]
pub struct Folder<'a> {
    /// The folder of the scene file.
    pub path: &'a Path,
    /// Which files may be opened.
    pub policy: Policy,
    /// Where the files are noted that are opened through it, if anybody wants to know.
    noted: Option<&'a Mutex<Noted>>,
    /// Flows that are open already, by the names scenes call them.
    flows: Option<&'a OpenFlows>,
}

/// The files that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Noted {
    /// Those that were read while a scene was opened.
    pub files: BTreeSet<PathBuf>,
    /// Those that are read while it is played: levels of flows, of any size and number.
    pub levels: BTreeSet<PathBuf>,
}

/// Flows that are open, by name.
pub type OpenFlows = BTreeMap<String, Arc<Flow>>;

impl<'a> Folder<'a> {
    /// A folder that its scenes may not leave.
    #[must_use]
    pub fn new(path: &'a Path) -> Self {
        Self { path, policy: Policy::FolderOnly, noted: None, flows: None }
    }

    /// The folder that a scene file lies in.
    #[must_use]
    pub fn of(scene_file: &'a Path, policy: Policy) -> Self {
        let path = scene_file.parent().filter(|p| !p.as_os_str().is_empty());
        Self { path: path.unwrap_or(Path::new(".")), policy, noted: None, flows: None }
    }

    /// The same folder, which notes every file it is asked for.
    #[must_use]
    pub fn noting<'b>(&self, files: &'b Mutex<Noted>) -> Folder<'b>
    where
        'a: 'b,
    {
        Folder { path: self.path, policy: self.policy, noted: Some(files), flows: self.flows }
    }

    /// The same folder, with flows that are open already.
    #[must_use]
    pub fn with_flows(self, flows: &'a OpenFlows) -> Self {
        Self { flows: Some(flows), ..self }
    }

    /// Flows that are open already.
    #[must_use]
    pub fn flows(&self) -> Option<&'a OpenFlows> {
        self.flows
    }

    /// The file a scene means by a name, to be read.
    ///
    /// Whatever decides where vertices go is asked for here: so stored frames are known to be stale when it
    /// changes, and no bake replaces it.
    ///
    /// # Errors
    ///
    /// [`FetchError`] if the name leaves the folder and may not, or there is no such file.
    pub fn resolve(&self, file: &str) -> Result<PathBuf, FetchError> {
        let path = self.find(file)?;
        self.note([path.clone()]);
        Ok(path)
    }

    /// Notes files that are read because one that was asked for names them, or lies beside them.
    pub fn note(&self, paths: impl IntoIterator<Item = PathBuf>) {
        self.add(paths, |noted| &mut noted.files);
    }

    /// Notes files that will be read while the scene is played.
    pub fn note_levels(&self, paths: impl IntoIterator<Item = PathBuf>) {
        self.add(paths, |noted| &mut noted.levels);
    }

    fn add(
        &self,
        paths: impl IntoIterator<Item = PathBuf>,
        list: fn(&mut Noted) -> &mut BTreeSet<PathBuf>,
    ) {
        let mut noted = self.noted.and_then(|noted| noted.lock().ok());
        for path in paths {
            inputs::remember(&path);
            if let Some(noted) = &mut noted {
                list(noted).insert(path);
            }
        }
    }

    fn find(&self, file: &str) -> Result<PathBuf, FetchError> {
        // A scene names files as they are called, not as URIs write them.
        uri::resolve(self.path, &file.replace('%', "%25"), self.policy)
    }

    /// Checks that a file may be opened and is there; otherwise says what is wrong and what to do.
    pub(super) fn check(&self, file: &str) -> Result<(), (String, String)> {
        let Err(error) = self.find(file) else { return Ok(()) };
        if error.is_refusal() {
            return Err((error.to_string(), error.fix().to_owned()));
        }
        let what = format!("there is no file '{file}' in {}", self.path.display());
        let near = similar(&self.path.join(file));
        let fix = near.map_or("check the name".to_owned(), |n| format!("did you mean '{n}'?"));
        Err((what, fix))
    }
}

/// A file in the same folder with a similar name.
fn similar(path: &Path) -> Option<String> {
    let entries = std::fs::read_dir(path.parent()?).ok()?;
    let mut names: Vec<String> =
        entries.take(1000).filter_map(|e| e.ok()?.file_name().into_string().ok()).collect();
    names.sort_unstable();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    suggest(path.file_name()?.to_str()?, &known).map(str::to_owned)
}

//! Where the files of a scene are, and which may be opened.
//!
//! ```
//! use supple::scene::Folder;
//!
//! let folder = Folder::new(".".as_ref());
//! assert!(folder.resolve("../secret.glb").unwrap_err().is_refusal());
//! assert!(folder.resolve("https://example.org/fox.glb").unwrap_err().is_refusal());
//! ```

use std::path::{Path, PathBuf};
use std::sync::Mutex;

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
    noted: Option<&'a Mutex<Vec<PathBuf>>>,
}

impl<'a> Folder<'a> {
    /// A folder that its scenes may not leave.
    #[must_use]
    pub fn new(path: &'a Path) -> Self {
        Self { path, policy: Policy::FolderOnly, noted: None }
    }

    /// The folder that a scene file lies in.
    #[must_use]
    pub fn of(scene_file: &'a Path, policy: Policy) -> Self {
        let path = scene_file.parent().filter(|p| !p.as_os_str().is_empty());
        Self { path: path.unwrap_or(Path::new(".")), policy, noted: None }
    }

    /// The same folder, which notes every file it is asked for.
    #[must_use]
    pub fn noting<'b>(&self, files: &'b Mutex<Vec<PathBuf>>) -> Folder<'b>
    where
        'a: 'b,
    {
        Folder { path: self.path, policy: self.policy, noted: Some(files) }
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
        inputs::remember(&path);
        if let Some(mut noted) = self.noted.and_then(|files| files.lock().ok())
            && !noted.contains(&path)
        {
            noted.push(path.clone());
        }
        Ok(path)
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

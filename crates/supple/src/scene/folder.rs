//! Where the files of a scene are, and which may be opened.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::document::suggest;
use crate::io::uri::{self, FetchError, Policy};

/// The folder that a scene's file names are relative to.
#[derive(Clone, Copy, Debug)]
pub struct Folder<'a> {
    /// The folder of the scene file.
    pub path: &'a Path,
    /// Whether files outside this folder may be opened too. Default in every caller: no.
    pub outside: bool,
}

impl Folder<'_> {
    /// Checks that a file may be opened and is there; otherwise says what is wrong and what to do.
    pub(super) fn check(&self, file: &str) -> Result<(), (String, String)> {
        if uri::scheme(file).is_some() {
            let fix = "name a file beside the scene; nothing is fetched from a network";
            return Err((format!("'{file}' is not a file name"), fix.to_owned()));
        }
        match self.locate(file) {
            Ok(_) => Ok(()),
            Err(FetchError::Io { path, source }) if source.kind() == ErrorKind::NotFound => {
                let what = format!("there is no file '{file}' in {}", self.path.display());
                let fix = similar(&path)
                    .map_or("check the name".to_owned(), |near| format!("did you mean '{near}'?"));
                Err((what, fix))
            }
            Err(error) => Err((error.to_string(), error.fix().to_owned())),
        }
    }

    /// Where a file the scene names is.
    ///
    /// # Errors
    ///
    /// [`FetchError`] if it may not be opened or is not there.
    pub fn locate(&self, file: &str) -> Result<PathBuf, FetchError> {
        let policy = if self.outside { Policy::AllowOutside } else { Policy::FolderOnly };
        uri::locate(self.path, Path::new(file), policy)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_inside_the_folder_are_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("scene");
        std::fs::create_dir_all(inner.join("parts")).unwrap();
        for file in ["outside.ply", "scene/a.ply", "scene/parts/b.ply"] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        let here = Folder { path: &inner, outside: false };
        for inside in ["a.ply", "./a.ply", "parts/../a.ply", "parts/b.ply"] {
            assert_eq!(here.check(inside), Ok(()), "{inside}");
        }
        for outside in ["../outside.ply", "parts/../../outside.ply", "/etc/passwd"] {
            let (what, fix) = here.check(outside).unwrap_err();
            assert!(what.contains("leaves the folder"), "{outside}: {what}");
            assert!(fix.contains("allow"), "{outside}: {fix}");
        }
        let (_, fix) = here.check("aa.ply").unwrap_err();
        assert!(fix.contains("a.ply"), "suggests what is there: {fix}");
        let anywhere = Folder { path: &inner, outside: true };
        assert_eq!(anywhere.check("../outside.ply"), Ok(()));
        let (what, _) = anywhere.check("https://example.org/a.glb").unwrap_err();
        assert!(what.contains("not a file name"), "{what}");
    }
}

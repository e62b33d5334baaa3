//! Where the files of a scene are, and which may be opened.

use std::path::{Component, Path};

use super::document::suggest;

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
        if file.contains("://") || file.starts_with("data:") {
            let fix = "name a file beside the scene; nothing is fetched from a network";
            return Err((format!("'{file}' is not a file name"), fix.to_owned()));
        }
        if !self.outside && leaves_folder(Path::new(file)) {
            let fix = "copy it beside the scene, or allow files outside its folder";
            return Err((format!("'{file}' leaves the folder of the scene"), fix.to_owned()));
        }
        let path = self.path.join(file);
        if path.is_file() {
            return Ok(());
        }
        let what = format!("there is no file '{file}' in {}", self.path.display());
        let fix = similar(&path)
            .map_or("check the name".to_owned(), |near| format!("did you mean '{near}'?"));
        Err((what, fix))
    }
}

fn leaves_folder(file: &Path) -> bool {
    let mut depth = 0_i32;
    for component in file.components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => depth -= 1,
            Component::RootDir | Component::Prefix(_) => return true,
        }
        if depth < 0 {
            return true;
        }
    }
    false
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
        for inside in ["a.glb", "./a.glb", "b/../a.glb", "b/c/a.glb"] {
            assert!(!leaves_folder(Path::new(inside)), "{inside}");
        }
        for outside in ["../a.glb", "b/../../a.glb", "/etc/passwd"] {
            assert!(leaves_folder(Path::new(outside)), "{outside}");
        }
        let here = Folder { path: Path::new("."), outside: true };
        let (what, _) = here.check("https://example.org/a.glb").unwrap_err();
        assert!(what.contains("not a file name"), "{what}");
    }
}

//! Files that are read: none is ever replaced, and all of them end.
//!
//! A file is known by itself, not by its name: through links, hard links, `./` and other spellings of the
//! name, and on file systems that do not tell `Cow.glb` from `cow.glb`.
//!
//! A program that only turns files into other files calls [`protect_inputs`] once: from then on whatever
//! a reader of this library opens is remembered, and [`save`](super::save()) refuses to replace it. A program
//! in which a person opens a file, changes it and saves it under its own name does not.
//!
//! # Limits
//!
//! Where the system has no file numbers (other than Unix) a hard link is not known for what it is.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was read since [`protect_inputs`]; nothing before it.
static READ: Mutex<Option<Vec<Known>>> = Mutex::new(None);

/// A file, however it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    /// The one path without links.
    path: PathBuf,
    /// Device and number on it, where the system has them.
    number: Option<[u64; 2]>,
}

impl Known {
    /// The file at a path, if there is one.
    fn at(path: &Path) -> Option<Self> {
        let (real, found) = (fs::canonicalize(path).ok()?, fs::metadata(path).ok()?);
        Some(Self { path: real, number: number(&found) })
    }

    fn is(&self, other: &Self) -> bool {
        self.path == other.path || (self.number.is_some() && self.number == other.number)
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no such numbers")]
fn number(found: &fs::Metadata) -> Option<[u64; 2]> {
    use std::os::unix::fs::MetadataExt as _;
    Some([found.dev(), found.ino()])
}

#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> Option<[u64; 2]> {
    None
}

/// A file would have been replaced that is read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is read, so it is not replaced: write to another name, such as {}", read.display(), free.display())]
pub struct ReplacesInput {
    /// The file that is read.
    pub read: PathBuf,
    /// A name that is free.
    pub free: PathBuf,
}

/// True if both paths lead to the same file, whatever they are called. One that is not there is no file.
#[must_use]
pub fn same_file(a: &Path, b: &Path) -> bool {
    Known::at(a).zip(Known::at(b)).is_some_and(|(a, b)| a.is(&b))
}

/// True if an open file still is the one of that name.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => number(&open) == number(&named),
        _ => false,
    }
}

/// From now on whatever this library reads is remembered, and never replaced.
pub fn protect_inputs() {
    read_files().get_or_insert_default();
}

/// Remembers a file that is read, if [`protect_inputs`] asked for that: for readers outside of this library.
pub fn remember(path: &Path) {
    if let (Some(read), Some(file)) = (read_files().as_mut(), Known::at(path))
        && !read.contains(&file)
    {
        read.push(file);
    }
}

/// Opens a file to be read. Pipes and devices are refused: they may have no end, and opening a pipe waits for its writer.
///
/// # Errors
///
/// Whatever the operating system reports.
pub fn open(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        let what = "this is a pipe or a device, not a file: save what it gives as a file first";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    File::open(path)
}

/// The bytes of a file that may be [opened](open).
///
/// # Errors
///
/// Whatever the operating system reports.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a file that may be [opened](open).
///
/// # Errors
///
/// Whatever the operating system reports; text that is not Unicode.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Checks that writing to `path` replaces nothing that was read since [`protect_inputs`].
///
/// [`save`](super::save()) checks by itself; whoever computes for long asks before.
///
/// # Errors
///
/// [`ReplacesInput`] with a name that would do.
pub fn check_output(path: &Path) -> Result<(), ReplacesInput> {
    let Some(file) = Known::at(path) else { return Ok(()) };
    let is_read = read_files().iter().flatten().any(|known| known.is(&file));
    if is_read {
        return Err(ReplacesInput { read: path.to_owned(), free: free_name(path) });
    }
    Ok(())
}

impl From<ReplacesInput> for io::Error {
    fn from(error: ReplacesInput) -> Self {
        Self::new(io::ErrorKind::AlreadyExists, error)
    }
}

/// A name beside `path` that no file has: `cow-new.glb`, `cow-new-2.glb`, ….
fn free_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (stem, ending) = match name.find('.').filter(|&dot| dot > 0) {
        Some(dot) => name.split_at(dot),
        None => (name.as_str(), ""),
    };
    let numbered = |k: u32| match k {
        1 => format!("{stem}-new{ending}"),
        _ => format!("{stem}-new-{k}{ending}"),
    };
    let names = (1..100).map(|k| path.with_file_name(numbered(k)));
    let fallback = path.with_file_name(numbered(100));
    names.into_iter().find(|name| fs::symlink_metadata(name).is_err()).unwrap_or(fallback)
}

fn read_files() -> MutexGuard<'static, Option<Vec<Known>>> {
    READ.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("cow.glb"), b"cow").unwrap();
        fs::write(at("other.glb"), b"cow").unwrap();
        fs::create_dir(at("sub")).unwrap();
        assert!(same_file(&at("cow.glb"), &at("sub/../cow.glb")));
        assert!(same_file(&at("cow.glb"), &at("./cow.glb")));
        assert!(!same_file(&at("cow.glb"), &at("other.glb")), "equal contents are not one file");
        assert!(!same_file(&at("new.glb"), &at("new.glb")), "there is no such file");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("cow.glb"), at("link.glb")).unwrap();
            fs::hard_link(at("cow.glb"), at("hard.glb")).unwrap();
            assert!(same_file(&at("cow.glb"), &at("link.glb")));
            assert!(same_file(&at("cow.glb"), &at("hard.glb")));
        }
    }

    #[test]
    fn the_name_that_is_proposed_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let cow = folder.path().join("cow.ply.gz");
        assert_eq!(free_name(&cow), folder.path().join("cow-new.ply.gz"));
        fs::write(folder.path().join("cow-new.ply.gz"), b"").unwrap();
        assert_eq!(free_name(&cow), folder.path().join("cow-new-2.ply.gz"));
    }
}

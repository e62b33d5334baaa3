//! Writing a file so that only whole files are ever seen.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::check_output;

/// Temporary files being written now, for [`discard_unfinished`].
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Writes `path` under a temporary name beside it and renames it when it is complete.
///
/// On any error the temporary file is removed and an earlier file at `path` is left as it was. A file that
/// is read is not replaced, if the program asked for that ([`protect_inputs`](super::protect_inputs)).
///
/// # Errors
///
/// Whatever the operating system or `write` reports.
pub fn save(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    check_output(path)?;
    let temporary = Temporary::new(temporary_name(path));
    write_whole(temporary.path(), write)?;
    temporary.keep_as(path)
}

/// A file that is not whole yet. Unless it is kept it is removed, also by [`discard_unfinished`].
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// A file to be written at `path`.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        unfinished().push(path.clone());
        Self(path)
    }

    /// Where it is written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Gives the whole file its name.
    ///
    /// # Errors
    ///
    /// Whatever the operating system reports.
    pub fn keep_as(self, name: &Path) -> io::Result<()> {
        check_output(name)?;
        fs::rename(&self.0, name)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Not there any more if it was kept; else a leftover is only untidy.
        let _ = fs::remove_file(&self.0);
        unfinished().retain(|path| *path != self.0);
    }
}

/// Removes every [`Temporary`] file, those of [`save`] too; for a process about to end at once.
pub fn discard_unfinished() {
    for path in unfinished().drain(..) {
        let _ = fs::remove_file(path);
    }
}

fn unfinished() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, File::create(path)?);
    write(&mut out)?;
    out.flush()?;
    out.get_ref().sync_all()
}

/// `name.ext` becomes `name.ext.<process>-<count>.supple-tmp`, unique within and between processes.
fn temporary_name(path: &Path) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{count}.supple-tmp", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files_in(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_failed_write_leaves_the_earlier_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        save(&path, |out| out.write_all(b"whole")).unwrap();
        let result = save(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("stopped"))
        });
        assert!(result.is_err(), "the error is passed on");
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(files_in(folder.path()), ["a.txt"]);
    }
}

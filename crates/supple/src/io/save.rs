//! Writing a file so that only whole files are ever seen.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Temporary files being written now, for [`discard_unfinished`].
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Writes `path` under a temporary name beside it and renames it when it is complete.
///
/// On any error the temporary file is removed and an earlier file at `path` is left as it was.
///
/// # Errors
///
/// Whatever the operating system or `write` reports.
pub fn save(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = temporary_name(path);
    unfinished().push(temporary.clone());
    let result = write_whole(&temporary, write).and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        // The first error is the one to report; a leftover is only untidy.
        let _ = fs::remove_file(&temporary);
    }
    unfinished().retain(|path| *path != temporary);
    result
}

/// Removes the temporary files of every [`save`] under way; for a process about to end at once.
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

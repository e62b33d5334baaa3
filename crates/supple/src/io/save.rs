//! Writing a file so that only whole files are ever seen.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

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
    let result = write_whole(&temporary, write).and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        // The first error is the one to report; a leftover is only untidy.
        let _ = fs::remove_file(&temporary);
    }
    result
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

fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.supple-tmp", std::process::id()));
    path.with_file_name(name)
}

//! One body's motion as one file, from frames that are made once, in order.
//!
//! Some formats say how far a motion reaches before they say where, so their writers ask for all frames twice. What
//! was made waits in a file beside the output: memory stays that of one frame.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use glam::Vec3;

use super::{WRITERS, Writer};
use crate::Asset;
use crate::io::{Take, Temporary, save};
use crate::scene::TakeFormat;

/// A take to be written: the body at rest, and its frames.
#[derive(Clone, Copy, Debug)]
pub struct TakeOf<'a> {
    /// The body at rest: exactly one mesh, with its materials and images.
    pub asset: &'a Asset,
    /// Frames a second.
    pub fps: f64,
    /// How many frames.
    pub frames: u32,
}

/// True if files of a path's ending hold a whole motion.
#[must_use]
pub fn holds_takes(path: &Path) -> bool {
    matches!(writer_of(path), Some(Writer::Together(_) | Writer::Each(_)))
}

fn writer_of(path: &Path) -> Option<Writer> {
    let ending = path.extension()?.to_str()?.to_lowercase();
    let format = TakeFormat::ALL.iter().find(|f| f.0 == ending)?.1;
    WRITERS.iter().find(|w| w.0 == format).map(|w| w.1)
}

/// Writes a take in the format of the path's ending. `make` gives the positions of a frame; it is asked for each once,
/// in order.
///
/// # Errors
///
/// What `make` or the operating system reports; [`io::ErrorKind::InvalidInput`] if files of this ending do not hold a
/// motion ([`holds_takes`]).
pub fn write_take(
    path: &Path,
    of: TakeOf<'_>,
    make: &mut dyn FnMut(u32) -> io::Result<Vec<Vec3>>,
) -> io::Result<()> {
    let writer = writer_of(path);
    let mut made = Made::new(path)?;
    let mut positions = |frame: u32, positions: &mut [Vec3]| {
        while made.frames <= frame {
            made.push(&make(made.frames)?)?;
        }
        made.read(frame, positions)
    };
    let TakeOf { asset, fps, frames } = of;
    let mut takes = [Take { asset, fps, first_frame: 0, frames, positions: &mut positions }];
    let mut write = |out: &mut BufWriter<File>| match writer {
        Some(Writer::Together(write)) => write(&mut takes, out),
        Some(Writer::Each(write)) => write(&mut takes[0], out),
        Some(Writer::Sequence(_)) | None => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "not a format of takes"))
        }
    };
    save(path, &mut write)
}

/// Frames that were made: the last in memory, all of them on disk.
struct Made {
    file: File,
    /// Removes the file.
    _temporary: Temporary,
    frames: u32,
    last: Vec<Vec3>,
}

impl Made {
    fn new(path: &Path) -> io::Result<Self> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}-frames.supple-tmp", std::process::id()));
        let temporary = Temporary::new(path.with_file_name(name));
        let mut how = OpenOptions::new();
        let file = how.read(true).write(true).create(true).truncate(true).open(temporary.path())?;
        Ok(Self { file, _temporary: temporary, frames: 0, last: Vec::new() })
    }

    fn push(&mut self, positions: &[Vec3]) -> io::Result<()> {
        self.file.seek(SeekFrom::End(0))?;
        self.file.write_all(bytemuck::cast_slice(positions))?;
        self.frames += 1;
        self.last.clear();
        self.last.extend_from_slice(positions);
        Ok(())
    }

    fn read(&mut self, frame: u32, positions: &mut [Vec3]) -> io::Result<()> {
        if frame + 1 == self.frames {
            positions.copy_from_slice(&self.last);
            return Ok(());
        }
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(positions);
        self.file.seek(SeekFrom::Start(u64::from(frame) * bytes.len() as u64))?;
        self.file.read_exact(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TriMesh;

    #[test]
    fn frames_are_made_once_and_nothing_is_left_beside_the_file() {
        let triangle = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let asset = Asset::from_mesh(TriMesh::new(triangle.to_vec(), vec![[0, 1, 2]]));
        let folder = tempfile::tempdir().unwrap();
        for ending in ["glb", "usda", "pc2", "mdd"] {
            let path = folder.path().join(format!("a.{ending}"));
            let mut made = Vec::new();
            let of = TakeOf { asset: &asset, fps: 24.0, frames: 3 };
            let mut make = |i: u32| {
                made.push(i);
                Ok(triangle.map(|x| x + i as f32 * Vec3::Z).to_vec())
            };
            write_take(&path, of, &mut make).unwrap();
            assert_eq!(made, [0, 1, 2], "{ending}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
        assert!(!holds_takes(Path::new("a.obj")) && !holds_takes(Path::new("a")));
    }
}

//! Stored frames: one file each, sound or not there.
//!
//! A stored frame is `magic, fingerprint, frame number, length of the head, head, positions, checksum`:
//! the head is the player's state and report, the positions are raw little-endian f32 of all bodies, the
//! checksum is BLAKE3 of all before it. Whatever is cut short or altered is not read but played again.

use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::BakeError;
use crate::Run;
use crate::io::{inputs, save};
use crate::player::{Report, State};

const MAGIC: &[u8; 8] = b"SUPPLEB2";
/// Bytes before the head: magic, fingerprint, frame, length of the head.
const FIXED: u64 = 8 + 32 + 4 + 4;
const CHECKSUM: u64 = 32;
/// The name of the lock in the folder of the cache.
const LOCK: &str = "lock";
/// How often a lock that others take away is tried for before the folder counts as busy.
const LOCK_TRIES: u32 = 100;
/// Vertices that are converted at a time; between them the caller may cancel.
const BLOCK: usize = 1 << 14;

/// The frames of one scene.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    fingerprint: [u8; 32],
    /// Vertices of each body.
    sizes: Vec<usize>,
    /// Keeps others out as long as it is open; the system lets go of it when the program ends.
    lock: File,
}

/// How a cache was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// There was none, or one of the same scene.
    Usable,
    /// There was one of another scene, which is gone.
    Anew,
}

/// What is stored with a frame's positions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) state: State,
    pub(super) report: Report,
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> BakeError + '_ {
    move |source| BakeError::Io { path: path.to_owned(), source }
}

impl Cache {
    /// Opens or makes the cache of an output folder.
    pub(super) fn open(
        output: &Path,
        fingerprint: [u8; 32],
        sizes: Vec<usize>,
    ) -> Result<(Self, Opened), BakeError> {
        let folder = output.join(".supple-bake");
        let lock = lock(&folder, output)?;
        let cache = Self { folder, fingerprint, sizes, lock };
        let opened = cache.clear_foreign()?;
        Ok((cache, opened))
    }

    /// Removes temporary files, and all frames if they belong to another scene.
    fn clear_foreign(&self) -> Result<Opened, BakeError> {
        let key = self.folder.join("scene");
        let name = blake3::Hash::from(self.fingerprint).to_hex();
        let before = fs::read(&key).ok();
        let same = before.as_deref() == Some(name.as_bytes());
        let mut foreign = false;
        for entry in fs::read_dir(&self.folder).map_err(at(&self.folder))? {
            let path = entry.map_err(at(&self.folder))?.path();
            let ending = path.extension().and_then(|e| e.to_str());
            let frame = ending == Some("frame") && !same;
            if frame || ending == Some("supple-tmp") {
                fs::remove_file(&path).map_err(at(&path))?;
            }
            foreign |= frame;
        }
        if !same {
            save(&key, |out| out.write_all(name.as_bytes())).map_err(at(&key))?;
        }
        Ok(if foreign { Opened::Anew } else { Opened::Usable })
    }

    /// Takes the cache away; the lock last, and with its name before it is let go of.
    pub(super) fn remove(self) -> Result<(), BakeError> {
        let lock = self.folder.join(LOCK);
        for entry in fs::read_dir(&self.folder).map_err(at(&self.folder))? {
            let path = entry.map_err(at(&self.folder))?.path();
            if path.is_dir() {
                fs::remove_dir_all(&path).map_err(at(&path))?;
            } else if path != lock {
                fs::remove_file(&path).map_err(at(&path))?;
            }
        }
        fs::remove_file(&lock).map_err(at(&lock))?;
        // Another bake may have begun in the folder since: then it is not empty, and is left to that one.
        let _ = fs::remove_dir(&self.folder);
        drop(self.lock);
        Ok(())
    }

    fn path(&self, frame: u32) -> PathBuf {
        self.folder.join(format!("{frame:07}.frame"))
    }

    /// Stores a finished frame.
    pub(super) fn store(
        &self,
        frame: u32,
        stored: &Stored,
        bodies: &[&[Vec3]],
        run: &Run<'_>,
    ) -> Result<(), BakeError> {
        let path = self.path(frame);
        let head = postcard::to_stdvec(stored).map_err(io::Error::other).map_err(at(&path))?;
        let result = save(&path, |out| {
            let mut out = Summing { out, hash: blake3::Hasher::new() };
            out.write_all(MAGIC)?;
            out.write_all(&self.fingerprint)?;
            out.write_all(&frame.to_le_bytes())?;
            out.write_all(&(head.len() as u32).to_le_bytes())?;
            out.write_all(&head)?;
            for block in bodies.iter().flat_map(|b| b.chunks(BLOCK)) {
                run.check().map_err(io::Error::other)?;
                let bytes: Vec<u8> =
                    block.iter().flat_map(|x| x.to_array()).flat_map(f32::to_le_bytes).collect();
                out.write_all(&bytes)?;
            }
            let sum = out.hash.finalize();
            out.out.write_all(sum.as_bytes())
        });
        run.check()?;
        result.map_err(at(&path))
    }

    /// The head of a stored frame, if all of it is sound.
    pub(super) fn verify(&self, frame: u32, run: &Run<'_>) -> Result<Option<Stored>, BakeError> {
        run.check()?;
        let read = || -> Option<Stored> {
            let mut file = self.read_fixed(frame)?;
            let mut sum = blake3::Hasher::new();
            sum.update(&file.fixed);
            let mut head = vec![0; file.head as usize];
            file.rest.read_exact(&mut head).ok()?;
            sum.update(&head);
            let mut left = 12 * self.vertices();
            let mut block = vec![0; 12 * BLOCK];
            while left > 0 {
                run.check().ok()?;
                let part = &mut block[..left.min(12 * BLOCK as u64) as usize];
                file.rest.read_exact(part).ok()?;
                sum.update(part);
                left -= part.len() as u64;
            }
            let mut expected = [0; CHECKSUM as usize];
            file.rest.read_exact(&mut expected).ok()?;
            let sound = *sum.finalize().as_bytes() == expected;
            if sound { postcard::from_bytes(&head).ok() } else { None }
        };
        let stored = read();
        run.check()?;
        Ok(stored)
    }

    /// Fills in the positions of one body in a frame that was verified or stored.
    pub(super) fn positions(
        &self,
        frame: u32,
        body: usize,
        positions: &mut [Vec3],
        run: &Run<'_>,
    ) -> io::Result<()> {
        let lost = || io::Error::other(format!("the stored frame {frame} is gone or damaged"));
        let mut file = self.read_fixed(frame).ok_or_else(lost)?;
        if positions.len() != self.sizes[body] {
            return Err(io::Error::other("as many positions as the body has vertices"));
        }
        let before: usize = self.sizes[..body].iter().sum();
        let start = FIXED + file.head + 12 * before as u64;
        file.rest.seek(SeekFrom::Start(start))?;
        let mut bytes = vec![0; 12 * BLOCK.min(positions.len())];
        for block in positions.chunks_mut(BLOCK) {
            run.check().map_err(io::Error::other)?;
            let bytes = &mut bytes[..12 * block.len()];
            file.rest.read_exact(bytes)?;
            for (x, raw) in block.iter_mut().zip(bytes.chunks_exact(12)) {
                let number =
                    |k: usize| f32::from_le_bytes([raw[k], raw[k + 1], raw[k + 2], raw[k + 3]]);
                *x = Vec3::new(number(0), number(4), number(8));
            }
        }
        Ok(())
    }

    fn vertices(&self) -> u64 {
        self.sizes.iter().map(|&n| n as u64).sum()
    }

    /// Opens a stored frame whose fixed part and length are right.
    fn read_fixed(&self, frame: u32) -> Option<Frame> {
        let file = File::open(self.path(frame)).ok()?;
        let length = file.metadata().ok()?.len();
        let mut rest = BufReader::with_capacity(1 << 16, file);
        let mut fixed = [0; FIXED as usize];
        rest.read_exact(&mut fixed).ok()?;
        let mut expected = MAGIC.to_vec();
        expected.extend_from_slice(&self.fingerprint);
        expected.extend_from_slice(&frame.to_le_bytes());
        let (known, head) = fixed.split_at(expected.len());
        let head = u64::from(u32::from_le_bytes(head.try_into().ok()?));
        let right = known == expected && length == FIXED + head + 12 * self.vertices() + CHECKSUM;
        right.then_some(Frame { fixed, head, rest })
    }
}

/// A stored frame, opened.
struct Frame {
    fixed: [u8; FIXED as usize],
    /// Length of the head.
    head: u64,
    rest: BufReader<File>,
}

/// Keeps other bakes out of the folder, which is made if it is not there.
///
/// A bake that ends takes lock and folder away. Whoever comes at that moment may find the folder gone, or
/// hold a lock whose name is gone, which keeps nobody out: then it tries again.
fn lock(folder: &Path, output: &Path) -> Result<File, BakeError> {
    let busy = || BakeError::Busy { folder: output.to_owned() };
    let path = folder.join(LOCK);
    let mut gone = None;
    for _ in 0..LOCK_TRIES {
        let file = match fs::create_dir_all(folder).and_then(|()| File::create(&path)) {
            Ok(file) => file,
            Err(e)
                if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) =>
            {
                gone = Some(e);
                continue;
            }
            Err(source) => return Err(BakeError::Io { path, source }),
        };
        gone = None;
        match file.try_lock() {
            // A file system without locks cannot keep others out; it can still be baked to.
            Err(fs::TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {
                return Ok(file);
            }
            Ok(()) if inputs::is_at(&file, &path) => return Ok(file),
            Ok(()) => {}
            Err(fs::TryLockError::Error(source)) => return Err(BakeError::Io { path, source }),
            Err(fs::TryLockError::WouldBlock) => return Err(busy()),
        }
    }
    Err(gone.map_or_else(busy, |source| BakeError::Io { path, source }))
}

/// Sums up what is written.
struct Summing<W> {
    out: W,
    hash: blake3::Hasher,
}

impl<W: Write> Write for Summing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

//! Stored frames: one file each, sound or not there.
//!
//! A stored frame is `magic, fingerprint, frame number, lengths of layout and head, layout, head, numbers, checksum`. The
//! layout says how many vertices each body has, how they hang together and which channels they carry; the head
//! is the player's report and, in some frames, its state; the numbers are raw little-endian f32: the positions of each
//! body, then its channels. The checksum is BLAKE3 of all before it. Whatever is cut short or altered is not read but
//! played again. A topology that is not the body's own is a file of its own, named after its hash.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use std::sync::{Arc, Mutex, PoisonError};

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::BakeError;
use crate::Run;
use crate::io::{inputs, save};
use crate::mesh::{Attribute, Shape, Topology, Values};
use crate::player::{BodyFrame, Report, State};

const MAGIC: &[u8; 8] = b"SUPPLEB3";
/// Bytes before the layout: magic, fingerprint, frame, lengths of layout and head.
const FIXED: u64 = 8 + 32 + 4 + 4 + 4;
/// No layout is longer: it is read before its checksum.
const MOST_LAYOUT: u64 = 1 << 26;
const CHECKSUM: u64 = 32;
/// The ending of states that are stored by themselves.
const STATE: &str = "state";
/// The name of the lock in the folder of the cache.
const LOCK: &str = "lock";
/// How often a lock that others take away is tried for before the folder counts as busy.
const LOCK_TRIES: u32 = 100;
/// Numbers that are converted at a time; between them the caller may cancel.
const BLOCK: usize = 1 << 16;

/// The frames of one scene.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    fingerprint: [u8; 32],
    /// The topology of each body, unless a frame says otherwise.
    own: Vec<Arc<Topology>>,
    /// The layout that was read last. Frames are mostly laid out alike, and each is opened once for each body.
    known: Mutex<Known>,
    /// Keeps others out as long as it is open; the system lets go of it when the program ends.
    lock: File,
}

/// A layout as it is stored, and as it is read.
#[derive(Debug, Default)]
struct Known {
    bytes: Vec<u8>,
    layouts: Arc<[Layout]>,
}

/// How a cache was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// There was none, or one of the same scene.
    Usable,
    /// There was one of another scene, which is gone.
    Anew,
}

/// What is stored with a frame's shapes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Stored {
    /// In some frames: a state may be large, and the next one follows from it.
    pub(super) state: Option<State>,
    pub(super) report: Report,
}

/// What is stored of one body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Layout {
    pub(super) vertices: u64,
    /// The hash of its topology; `None` for the body's own.
    pub(super) topology: Option<[u8; 32]>,
    /// Names and widths of its channels.
    pub(super) channels: Vec<(String, u8)>,
}

impl Layout {
    /// Numbers of the body: three a vertex, then its channels.
    fn floats(&self) -> Option<u64> {
        let widths: u64 = self.channels.iter().map(|c| u64::from(c.1)).sum();
        self.vertices.checked_mul(3 + widths)
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> BakeError + '_ {
    move |source| BakeError::Io { path: path.to_owned(), source }
}

impl Cache {
    /// Where the cache of an output folder is.
    pub(super) fn folder_in(output: &Path) -> PathBuf {
        output.join(".supple-bake")
    }

    /// Opens or makes the cache of an output folder.
    pub(super) fn open(
        output: &Path,
        fingerprint: [u8; 32],
        own: Vec<Arc<Topology>>,
    ) -> Result<(Self, Opened), BakeError> {
        let folder = Self::folder_in(output);
        let lock = lock(&folder, output)?;
        let cache = Self { folder, fingerprint, own, known: Mutex::default(), lock };
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
            let frame = matches!(ending, Some("frame" | "topology" | STATE)) && !same;
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

    /// Takes the frames away and leaves states that are stored by themselves, if there are any; else all of it.
    pub(super) fn remove_frames(self) -> Result<(), BakeError> {
        if self.states().is_empty() {
            return self.remove();
        }
        for entry in fs::read_dir(&self.folder).map_err(at(&self.folder))? {
            let path = entry.map_err(at(&self.folder))?.path();
            let ending = path.extension().and_then(|e| e.to_str());
            if matches!(ending, Some("frame" | "topology")) {
                fs::remove_file(&path).map_err(at(&path))?;
            }
        }
        Ok(())
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
        bodies: &[BodyFrame],
        run: &Run<'_>,
    ) -> Result<(), BakeError> {
        let path = self.path(frame);
        let layouts = bodies
            .iter()
            .zip(&self.own)
            .map(|(body, own)| self.lay_out(body, own))
            .collect::<Result<Vec<_>, _>>()?;
        let encode =
            |bytes: postcard::Result<Vec<u8>>| bytes.map_err(io::Error::other).map_err(at(&path));
        let layout = encode(postcard::to_stdvec(&layouts))?;
        let head = encode(postcard::to_stdvec(stored))?;
        let result = save(&path, |out| {
            let mut out = Summing { out, hash: blake3::Hasher::new() };
            out.write_all(MAGIC)?;
            out.write_all(&self.fingerprint)?;
            out.write_all(&frame.to_le_bytes())?;
            out.write_all(&(layout.len() as u32).to_le_bytes())?;
            out.write_all(&(head.len() as u32).to_le_bytes())?;
            out.write_all(&layout)?;
            out.write_all(&head)?;
            for body in bodies {
                let channels = body.channels.iter().map(|c| c.values.as_floats());
                let floats = std::iter::once(bytemuck::cast_slice(&body.positions)).chain(channels);
                for block in floats.flat_map(|f: &[f32]| f.chunks(BLOCK)) {
                    run.check().map_err(io::Error::other)?;
                    let bytes: Vec<u8> = block.iter().flat_map(|x| x.to_le_bytes()).collect();
                    out.write_all(&bytes)?;
                }
            }
            let sum = out.hash.finalize();
            out.out.write_all(sum.as_bytes())
        });
        run.check()?;
        result.map_err(at(&path))
    }

    /// How a body is stored; a topology that is not its own is stored first.
    fn lay_out(&self, body: &BodyFrame, own: &Arc<Topology>) -> Result<Layout, BakeError> {
        let is_own = Arc::ptr_eq(&body.topology, own);
        let topology = if is_own { None } else { Some(self.store_topology(&body.topology)?) };
        let channel = |c: &Attribute| (c.name.clone(), c.values.width() as u8);
        let channels = body.channels.iter().map(channel).collect();
        Ok(Layout { vertices: body.positions.len() as u64, topology, channels })
    }

    fn store_topology(&self, topology: &Topology) -> Result<[u8; 32], BakeError> {
        let bytes = postcard::to_stdvec(topology).map_err(io::Error::other);
        let bytes = bytes.map_err(at(&self.folder))?;
        let hash = blake3::hash(&bytes);
        let path = self.topology_path(hash.as_bytes());
        if !path.exists() {
            save(&path, |out| out.write_all(&bytes)).map_err(at(&path))?;
        }
        Ok(*hash.as_bytes())
    }

    fn topology_path(&self, hash: &[u8; 32]) -> PathBuf {
        self.folder.join(format!("{}.topology", blake3::Hash::from(*hash).to_hex()))
    }

    fn topology(&self, hash: &[u8; 32]) -> io::Result<Topology> {
        let bytes = fs::read(self.topology_path(hash))?;
        if blake3::hash(&bytes).as_bytes() != hash {
            return Err(io::Error::other("a stored topology is damaged"));
        }
        postcard::from_bytes(&bytes).map_err(io::Error::other)
    }

    fn state_path(&self, frame: u32) -> PathBuf {
        self.folder.join(format!("{frame:07}.{STATE}"))
    }

    /// Stores the state of a frame by itself.
    pub(super) fn store_state(&self, frame: u32, state: &State) -> Result<(), BakeError> {
        let path = self.state_path(frame);
        let bytes = postcard::to_stdvec(state).map_err(io::Error::other).map_err(at(&path))?;
        save(&path, |out| {
            let mut out = Summing { out, hash: blake3::Hasher::new() };
            out.write_all(MAGIC)?;
            out.write_all(&self.fingerprint)?;
            out.write_all(&bytes)?;
            let sum = out.hash.finalize();
            out.out.write_all(sum.as_bytes())
        })
        .map_err(at(&path))
    }

    /// The numbers of frames whose states are stored by themselves, in rising order.
    pub(super) fn states(&self) -> Vec<u32> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let number = |entry: fs::DirEntry| {
            let path = entry.path();
            let is_state = path.extension().is_some_and(|ending| ending == STATE);
            path.file_stem().filter(|_| is_state)?.to_str()?.parse().ok()
        };
        let mut numbers: Vec<u32> = entries.filter_map(number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The last sound state that is stored by itself of a frame not after `frame`.
    pub(super) fn state_before(&self, frame: u32) -> Option<State> {
        let read = |number: u32| -> Option<State> {
            let bytes = fs::read(self.state_path(number)).ok()?;
            let (content, sum) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
            let own = content.strip_prefix(MAGIC)?.strip_prefix(&self.fingerprint)?;
            let is_sound = blake3::hash(content).as_bytes() == sum;
            if is_sound { postcard::from_bytes(own).ok() } else { None }
        };
        self.states().into_iter().rev().filter(|number| *number <= frame).find_map(read)
    }

    /// The head of a stored frame, if all of it is sound.
    pub(super) fn verify(&self, frame: u32, run: &Run<'_>) -> Result<Option<Stored>, BakeError> {
        run.check()?;
        let read = || -> Option<Stored> {
            let mut file = self.read_fixed(frame)?;
            let mut sum = blake3::Hasher::new();
            sum.update(&file.fixed);
            sum.update(&file.layout_bytes);
            let mut head = vec![0; file.head as usize];
            file.rest.read_exact(&mut head).ok()?;
            sum.update(&head);
            let mut left = 4 * total(&file.layouts)?;
            let mut block = vec![0; 4 * BLOCK];
            while left > 0 {
                run.check().ok()?;
                let part = &mut block[..left.min(4 * BLOCK as u64) as usize];
                file.rest.read_exact(part).ok()?;
                sum.update(part);
                left -= part.len() as u64;
            }
            let mut expected = [0; CHECKSUM as usize];
            file.rest.read_exact(&mut expected).ok()?;
            let sound = *sum.finalize().as_bytes() == expected;
            let mut hashes = file.layouts.iter().filter_map(|l| l.topology.as_ref());
            let complete = sound && hashes.all(|hash| self.topology(hash).is_ok());
            if complete { postcard::from_bytes(&head).ok() } else { None }
        };
        let stored = read();
        run.check()?;
        Ok(stored)
    }

    /// Where the frames are.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// How the bodies of a frame are stored that was verified or stored.
    pub(super) fn layouts(&self, frame: u32) -> io::Result<Arc<[Layout]>> {
        Ok(self.read_fixed(frame).ok_or_else(|| lost(frame))?.layouts)
    }

    /// Fills in the positions of one body in a frame that was verified or stored.
    pub(super) fn positions(
        &self,
        frame: u32,
        body: usize,
        positions: &mut [Vec3],
        run: &Run<'_>,
    ) -> io::Result<()> {
        let mut file = self.open_body(frame, body)?;
        if positions.len() as u64 != file.layouts[body].vertices {
            return Err(io::Error::other("as many positions as the body has vertices"));
        }
        read_floats(&mut file.rest, bytemuck::cast_slice_mut(positions), run)
    }

    /// One body in a frame that was verified or stored.
    pub(super) fn shape(&self, frame: u32, body: usize, run: &Run<'_>) -> io::Result<Shape> {
        let mut file = self.open_body(frame, body)?;
        let Layout { vertices, topology, channels } = file.layouts[body].clone();
        let topology = match topology {
            Some(hash) => Arc::new(self.topology(&hash)?),
            None => self.own[body].clone(),
        };
        let mut shape = Shape { topology, ..Shape::default() };
        shape.positions = vec![Vec3::ZERO; vertices as usize];
        read_floats(&mut file.rest, bytemuck::cast_slice_mut(&mut shape.positions), run)?;
        for (name, width) in channels {
            let mut floats = vec![0.0; usize::from(width) * vertices as usize];
            read_floats(&mut file.rest, &mut floats, run)?;
            let values = Values::from_floats(usize::from(width), floats);
            shape.channels.set(name, values.ok_or_else(|| lost(frame))?);
        }
        shape.check().map_err(io::Error::other)?;
        Ok(shape)
    }

    /// Opens a frame at the numbers of one body.
    fn open_body(&self, frame: u32, body: usize) -> io::Result<Frame> {
        let mut file = self.read_fixed(frame).ok_or_else(|| lost(frame))?;
        let before = file.layouts.get(..body).and_then(total).ok_or_else(|| lost(frame))?;
        let start = FIXED + file.layout_bytes.len() as u64 + file.head + 4 * before;
        file.rest.seek(SeekFrom::Start(start))?;
        Ok(file)
    }

    /// Opens a stored frame whose fixed part, layout and length are right.
    fn read_fixed(&self, frame: u32) -> Option<Frame> {
        let file = File::open(self.path(frame)).ok()?;
        let length = file.metadata().ok()?.len();
        let mut rest = BufReader::with_capacity(1 << 16, file);
        let mut fixed = [0; FIXED as usize];
        rest.read_exact(&mut fixed).ok()?;
        let mut expected = MAGIC.to_vec();
        expected.extend_from_slice(&self.fingerprint);
        expected.extend_from_slice(&frame.to_le_bytes());
        let (known, lengths) = fixed.split_at(expected.len());
        let number = |bytes: &[u8]| Some(u64::from(u32::from_le_bytes(bytes.try_into().ok()?)));
        let (layout, head) = (number(&lengths[..4])?, number(&lengths[4..])?);
        if known != expected || layout > MOST_LAYOUT.min(length) {
            return None;
        }
        let mut layout_bytes = vec![0; layout as usize];
        rest.read_exact(&mut layout_bytes).ok()?;
        let layouts = self.read_layouts(&layout_bytes)?;
        let numbers = total(&layouts)?.checked_mul(4)?;
        let expected = [FIXED, layout, head, numbers, CHECKSUM];
        let expected = expected.into_iter().try_fold(0_u64, u64::checked_add)?;
        let right = layouts.len() == self.own.len() && length == expected;
        right.then_some(Frame { fixed, layout_bytes, layouts, head, rest })
    }

    /// What the layout of a frame says.
    fn read_layouts(&self, bytes: &[u8]) -> Option<Arc<[Layout]>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.bytes != bytes || known.layouts.is_empty() {
            let layouts = postcard::from_bytes::<Vec<Layout>>(bytes).ok()?.into();
            *known = Known { bytes: bytes.to_vec(), layouts };
        }
        Some(Arc::clone(&known.layouts))
    }
}

/// Numbers of some bodies; `None` if there are too many to count.
fn total(layouts: &[Layout]) -> Option<u64> {
    layouts.iter().try_fold(0, |sum: u64, layout| sum.checked_add(layout.floats()?))
}

fn lost(frame: u32) -> io::Error {
    io::Error::other(format!("the stored frame {frame} is gone or damaged"))
}

fn read_floats(from: &mut impl Read, floats: &mut [f32], run: &Run<'_>) -> io::Result<()> {
    let mut bytes = vec![0; 4 * BLOCK.min(floats.len())];
    for block in floats.chunks_mut(BLOCK) {
        run.check().map_err(io::Error::other)?;
        let bytes = &mut bytes[..4 * block.len()];
        from.read_exact(bytes)?;
        for (x, raw) in block.iter_mut().zip(bytes.chunks_exact(4)) {
            *x = f32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]);
        }
    }
    Ok(())
}

/// A stored frame, opened.
struct Frame {
    fixed: [u8; FIXED as usize],
    layout_bytes: Vec<u8>,
    layouts: Arc<[Layout]>,
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

//! Where a run was when it was stopped: the next one goes on from there, with the same bits.
//!
//! The state of the player lies beside the output while the command runs, with a hash of the arguments and of what the
//! flow's files say of themselves; another command or other files make it worth nothing.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use supple::io;
use supple::player::State;

use super::Args;
use super::cast::Cast;
use crate::shell::Shell;

/// How often the state is stored: what a stop costs.
const EVERY: Duration = Duration::from_secs(5);

/// A state on the disk.
#[derive(Serialize, Deserialize)]
struct Stored {
    key: [u8; 32],
    /// The frame after the last one that was finished.
    next: u32,
    state: State,
}

/// Where the state of a command is stored.
pub(super) struct Checkpoint {
    path: Option<PathBuf>,
    key: [u8; 32],
    next: u32,
    stored: Instant,
}

impl Checkpoint {
    /// Nothing is stored.
    pub(super) fn none() -> Self {
        Self { path: None, key: [0; 32], next: 0, stored: Instant::now() }
    }

    /// Beside an output.
    pub(super) fn open(output: &Path, cast: &mut Cast, args: &Args) -> Self {
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push(".resume");
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{args:?}").as_bytes());
        hasher.update(&cast.player().fingerprint());
        for file in cast.files() {
            hasher.update(file.as_os_str().as_encoded_bytes());
            if let Ok(told) = std::fs::metadata(file) {
                let changed = told.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
                hasher.update(&told.len().to_le_bytes());
                hasher.update(&changed.unwrap_or_default().as_nanos().to_le_bytes());
            }
        }
        let key = *hasher.finalize().as_bytes();
        let path = Some(output.with_file_name(name));
        Self { path, key, next: 0, stored: Instant::now() }
    }

    /// Takes up the state of an earlier run, if it is not beyond a frame.
    pub(super) fn resume(&mut self, cast: &mut Cast, last: u32, shell: &Shell) {
        let Some(path) = &self.path else { return };
        let read = std::fs::read(path).ok();
        let stored = read.and_then(|bytes| postcard::from_bytes::<Stored>(&bytes).ok());
        let Some(stored) = stored.filter(|s| s.key == self.key && s.next <= last) else { return };
        if cast.player().restore(&stored.state).is_ok() {
            self.next = stored.next;
            shell.say(format!("going on at frame {}, where an earlier run was stopped", self.next));
        }
    }

    /// The first frame that an earlier run did not finish.
    pub(super) fn from(&self) -> u32 {
        self.next
    }

    /// A frame is finished; now and then its state is stored.
    pub(super) fn note(&mut self, cast: &mut Cast, frame: u32) {
        let Some(path) = &self.path else { return };
        if self.stored.elapsed() < EVERY {
            return;
        }
        self.stored = Instant::now();
        let stored = Stored { key: self.key, next: frame + 1, state: cast.player().snapshot() };
        // A state that cannot be stored costs time after a stop, nothing else.
        if let Ok(bytes) = postcard::to_stdvec(&stored) {
            let _ = io::save(path, |out| out.write_all(&bytes));
        }
    }

    /// All is done.
    pub(super) fn remove(&self) {
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
    }
}

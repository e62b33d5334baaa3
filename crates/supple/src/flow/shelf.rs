//! Levels at hand, and levels on their way: each is read by a thread of its own.
//!
//! Who wants a level that is being read waits for it, and looks every few milliseconds whether it should give up:
//! a disk that hangs cannot be interrupted, but nobody needs to wait for it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::recording::{Inner, RecordingError};
use crate::Run;
use crate::dataset::{Level, Part};

/// Levels that stay: two in use, one ahead.
const KEPT: usize = 3;

/// How often who waits looks up.
const LOOK: Duration = Duration::from_millis(10);

/// Levels of a recording.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    slots: Mutex<Vec<Slot>>,
    changed: Condvar,
}

#[derive(Debug)]
struct Slot {
    level: usize,
    /// The points that it holds; all without.
    part: Option<Part>,
    state: State,
}

#[derive(Debug)]
enum State {
    Reading,
    Ready(Arc<Level>),
    Failed(RecordingError),
}

impl Slot {
    fn holds(&self, level: usize, part: Option<&Part>) -> bool {
        let within = |own: &Part, part: &Part| {
            (0..3).all(|a| own[a].start <= part[a].start && part[a].end <= own[a].end)
        };
        self.level == level
            && match (&self.part, part) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(own), Some(part)) => within(own, part),
            }
    }
}

impl Shelf {
    fn lock(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a level, which is begun if it was not.
    pub(super) fn get(
        self: &Arc<Self>,
        inner: &Arc<Inner>,
        level: usize,
        part: Option<&Part>,
        run: &Run<'_>,
    ) -> Result<Arc<Level>, RecordingError> {
        self.begin(inner, level, part);
        let mut slots = self.lock();
        loop {
            if run.is_cancelled() {
                return Err(RecordingError::Cancelled);
            }
            let Some(at) = slots.iter().position(|slot| slot.holds(level, part)) else {
                return Err(RecordingError::Lost { path: inner.path(level).to_owned() });
            };
            match &slots[at].state {
                State::Reading => {}
                State::Ready(ready) => {
                    let ready = Arc::clone(ready);
                    // Last used, last let go.
                    let slot = slots.remove(at);
                    slots.push(slot);
                    return Ok(ready);
                }
                State::Failed(_) => {
                    if let State::Failed(error) = slots.remove(at).state {
                        return Err(error);
                    }
                }
            }
            slots =
                self.changed.wait_timeout(slots, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Begins to read a level, unless that was begun.
    pub(super) fn begin(self: &Arc<Self>, inner: &Arc<Inner>, level: usize, part: Option<&Part>) {
        let mut slots = self.lock();
        if slots.iter().any(|slot| slot.holds(level, part)) {
            return;
        }
        let ready = |slot: &Slot| !matches!(slot.state, State::Reading);
        // A smaller part of it is in the larger one.
        slots.retain(|slot| slot.level != level || !ready(slot));
        while slots.iter().filter(|slot| ready(slot)).count() >= KEPT {
            let oldest = slots.iter().position(ready);
            oldest.map(|k| slots.remove(k));
        }
        slots.push(Slot { level, part: part.cloned(), state: State::Reading });
        drop(slots);
        let (shelf, inner, part) = (Arc::clone(self), Arc::clone(inner), part.cloned());
        let task = Task { shelf, path: inner.path(level).to_owned(), level, part, result: None };
        let reading = std::thread::Builder::new().name("levels".to_owned());
        let started = reading.spawn(move || {
            let mut task = task;
            task.result = Some(inner.read(level, task.part.as_ref()));
        });
        // Without a thread the task is dropped, and says so.
        drop(started);
    }

    /// Lets a level go.
    pub(super) fn forget(&self, level: usize) {
        self.lock().retain(|slot| slot.level != level || matches!(slot.state, State::Reading));
    }

    /// How many levels are at hand or on their way.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }
}

/// A level on its way. However its thread ends, who waits for it is told.
struct Task {
    shelf: Arc<Shelf>,
    path: std::path::PathBuf,
    level: usize,
    part: Option<Part>,
    result: Option<Result<Level, RecordingError>>,
}

impl Drop for Task {
    fn drop(&mut self) {
        let state = match self.result.take() {
            Some(Ok(level)) => State::Ready(Arc::new(level)),
            Some(Err(error)) => State::Failed(error),
            None => State::Failed(RecordingError::Lost { path: self.path.clone() }),
        };
        let mut slots = self.shelf.lock();
        let own = slots.iter_mut().find(|slot| {
            slot.level == self.level
                && slot.part == self.part
                && matches!(slot.state, State::Reading)
        });
        if let Some(slot) = own {
            slot.state = state;
        }
        drop(slots);
        self.shelf.changed.notify_all();
    }
}

//! How to run an algorithm, kept apart from what it computes.
//!
//! A [`Run`] carries threads, cancellation and progress. It never changes a result: work is cut into
//! chunks whose size does not depend on the thread count, and sums are added up in chunk order.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

/// Terms of a sum that are added up before the sums are.
///
/// Fixed, never derived from the thread count: results must be the same bits for any thread count.
const CHUNK: usize = 1024;

/// Items per task: few enough that small meshes, too, are shared out evenly.
const PIECE: usize = 256;

/// Called with the work done and the work in all, in the caller's own unit.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// Threads, cancellation and progress of one call; never changes the result.
#[derive(Clone, Copy, Default)]
pub struct Run<'a> {
    /// Pool to use; `None` runs on the calling thread.
    pub threads: Option<&'a rayon::ThreadPool>,
    /// Set to `true` from another thread to stop early.
    pub cancel: Option<&'a AtomicBool>,
    /// Told how far the work is.
    pub progress: Option<Progress<'a>>,
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("threads", &self.thread_count())
            .field("cancelled", &self.is_cancelled())
            .field("progress", &self.progress.is_some())
            .finish()
    }
}

/// The caller asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

impl Run<'_> {
    /// How many threads the work may use.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads.map_or(1, rayon::ThreadPool::current_num_threads)
    }

    /// True once the caller asked to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|c| c.load(Ordering::Relaxed))
    }

    /// `Err` once the caller asked to stop, for use with `?` between pieces of work.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] when the flag is set.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Reports that `done` of `total` pieces of work are finished.
    pub fn report(&self, done: u64, total: u64) {
        if let Some(progress) = self.progress {
            progress(done, total);
        }
    }

    /// Runs `f` inside the pool, so that nested parallel work uses it. Worth it around many short pieces of
    /// parallel work: from outside, each would wake a thread of the pool and wait for it.
    ///
    /// # Panics
    ///
    /// If `f` does.
    pub fn install<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        let (mut f, mut result) = (Some(f), None);
        install_in(self.threads, &mut || result = f.take().map(|f| f()));
        result.expect("the pool runs what it is given")
    }

    /// Two pieces of work side by side.
    ///
    /// # Panics
    ///
    /// If one of them does.
    pub fn join<A: Send, B: Send>(
        &self,
        one: impl FnOnce() -> A + Send,
        other: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        let (mut one, mut first) = (Some(one), None);
        let (mut other, mut second) = (Some(other), None);
        join_in(self.threads, &mut || first = one.take().map(|f| f()), &mut || {
            second = other.take().map(|f| f());
        });
        first.zip(second).expect("the pool runs what it is given")
    }

    /// Applies `f` to every item with its index.
    pub fn for_each<T: Send>(&self, items: &mut [T], f: impl Fn(usize, &mut T) + Send + Sync) {
        self.for_each_chunk(items, |start, chunk| {
            for (k, item) in chunk.iter_mut().enumerate() {
                f(start + k, item);
            }
        });
    }

    /// Applies `f` to fixed chunks of the items; `f` gets the index of the chunk's first item.
    pub fn for_each_chunk<T: Send>(
        &self,
        items: &mut [T],
        f: impl Fn(usize, &mut [T]) + Send + Sync,
    ) {
        self.for_each_piece(items, PIECE, f);
    }

    /// Like [`for_each_chunk`](Self::for_each_chunk) for heavier items: `size` of them are a task. It
    /// must not depend on the thread count.
    ///
    /// # Panics
    ///
    /// If `size` is zero.
    pub fn for_each_piece<T: Send>(
        &self,
        items: &mut [T],
        size: usize,
        f: impl Fn(usize, &mut [T]) + Send + Sync,
    ) {
        match self.threads {
            Some(pool) => pieces_in(pool, items, size, &f),
            None => items.chunks_mut(size).enumerate().for_each(|(i, piece)| f(i * size, piece)),
        }
    }

    /// `f(0), f(1), … f(n-1)`, in that order.
    pub fn map<T: Send>(&self, n: usize, f: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
        match self.threads {
            Some(pool) => {
                pool.install(|| (0..n).into_par_iter().with_min_len(PIECE).map(f).collect())
            }
            None => (0..n).map(f).collect(),
        }
    }

    /// Like [`map`](Self::map) for few, heavy pieces of work: each is a task of its own.
    pub fn map_tasks<T: Send>(&self, n: usize, f: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
        match self.threads {
            Some(pool) => tasks_in(pool, n, &f),
            None => (0..n).map(f).collect(),
        }
    }

    /// `Σ f(i)` over `0..n`, added in chunks of fixed size and in chunk order.
    pub fn sum(&self, n: usize, f: impl Fn(usize) -> f64 + Send + Sync) -> f64 {
        let chunk = |c: usize| (c * CHUNK..((c + 1) * CHUNK).min(n)).map(&f).sum::<f64>();
        self.map_tasks(n.div_ceil(CHUNK), chunk).into_iter().sum()
    }
}

// What follows is compiled once, or once for a type of items, instead of once for every closure: the plumbing of a
// parallel loop is much more code than most of the loops.

fn install_in(threads: Option<&rayon::ThreadPool>, f: &mut (dyn FnMut() + Send)) {
    match threads {
        Some(pool) => pool.install(f),
        None => f(),
    }
}

fn join_in(
    threads: Option<&rayon::ThreadPool>,
    one: &mut (dyn FnMut() + Send),
    other: &mut (dyn FnMut() + Send),
) {
    match threads {
        Some(pool) => {
            pool.install(|| rayon::join(one, other));
        }
        None => {
            one();
            other();
        }
    }
}

fn pieces_in<T: Send>(
    pool: &rayon::ThreadPool,
    items: &mut [T],
    size: usize,
    f: &(dyn Fn(usize, &mut [T]) + Send + Sync),
) {
    pool.install(|| {
        items.par_chunks_mut(size).enumerate().for_each(|(i, piece)| f(i * size, piece));
    });
}

fn tasks_in<T: Send>(
    pool: &rayon::ThreadPool,
    n: usize,
    f: &(dyn Fn(usize) -> T + Send + Sync),
) -> Vec<T> {
    pool.install(|| (0..n).into_par_iter().with_max_len(1).map(f).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_the_same_bits_for_any_thread_count() {
        let term = |i: usize| 1.0 / (1.0 + i as f64);
        let serial = Run::default().sum(100_003, term);
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = Run { threads: Some(&pool), ..Run::default() };
            assert_eq!(run.sum(100_003, term).to_bits(), serial.to_bits(), "{threads} threads");
        }
    }

    #[test]
    fn for_each_gives_every_item_its_index() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let mut items = vec![0; 5000];
        run.for_each(&mut items, |i, item| *item = i);
        assert!(items.iter().enumerate().all(|(i, &x)| i == x), "indices in order");
    }

    #[test]
    fn check_fails_once_cancelled() {
        let flag = AtomicBool::new(false);
        let run = Run { cancel: Some(&flag), ..Run::default() };
        assert_eq!(run.check(), Ok(()));
        flag.store(true, Ordering::Relaxed);
        assert_eq!(run.check(), Err(Cancelled));
    }
}

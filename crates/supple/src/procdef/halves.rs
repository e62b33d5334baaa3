//! Two threads on one small body: each half of its regions with copies of what it touches of the other.
//!
//! # Method
//!
//! A pass takes tens of microseconds, less than waking a thread. So the second thread is asked once a tick and spins
//! between the steps of the passes: *maps* of all regions, then *goals* of all vertices. After each step a half lays out
//! what the other half's rings reach, and takes over what the other laid out before the next. A half belongs to no
//! thread: whoever comes first takes it, so a second thread that is late or busy elsewhere costs nothing but its help, and
//! no two bodies can wait for each other. Every sum runs over the same numbers in the same order as in one piece.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::acceleration::Pass;
use super::matching::{Quad, Rings, Row, Strains, find_goals, find_maps};
use super::regions::Regions;
use super::wide::{WIDTH, Wide};
use crate::Run;

/// Bodies of fewer vertices are not worth a second thread: they come in crowds, which go to threads whole.
const LEAST: usize = 400;
/// Bodies of more go to threads task by task.
const MOST: usize = 8192;
/// How often a thread looks whether the other is done before it lets others run.
const SPINS: usize = 4096;

/// Half of a body's regions, their neighbours numbered within the half.
#[derive(Clone, Debug)]
pub(super) struct Half {
    /// Its first region.
    first: usize,
    /// How many it has.
    count: usize,
    starts: Vec<u32>,
    /// Own regions first, filled up to a whole block, then the copies.
    ring: Vec<u32>,
    /// Regions of the other half that it has copies of, ascending.
    copies: Vec<u32>,
}

impl Half {
    fn new(regions: &Regions, first: usize, end: usize) -> Self {
        let (a, b) = (regions.starts[first], regions.starts[end]);
        let ring = &regions.ring[a as usize..b as usize];
        let own = |i: u32| (first..end).contains(&(i as usize));
        let mut copies: Vec<u32> = ring.iter().copied().filter(|&i| !own(i)).collect();
        copies.sort_unstable();
        copies.dedup();
        let count = end - first;
        let local = |&i: &u32| match copies.binary_search(&i) {
            Ok(copy) => (count.next_multiple_of(WIDTH) + copy) as u32,
            Err(_) => i - first as u32,
        };
        let starts = regions.starts[first..=end].iter().map(|s| s - a).collect();
        Self { first, count, starts, ring: ring.iter().map(local).collect(), copies }
    }

    fn rings<'a>(&'a self, regions: &'a Regions) -> Rings<'a> {
        let base = regions.starts[self.first] as usize;
        Rings {
            starts: &self.starts,
            ring: &self.ring,
            weights: &regions.weights[base..],
            homes: &regions.homes[self.first..],
            blocks: &regions.blocks[self.first / WIDTH..],
        }
    }

    fn padded(&self) -> usize {
        self.count.next_multiple_of(WIDTH)
    }
}

/// Cuts a body whose size suits two threads.
pub(super) fn cut(regions: &Regions) -> Option<[Half; 2]> {
    let count = regions.len();
    let middle = (count / 2).next_multiple_of(WIDTH);
    (LEAST..MOST)
        .contains(&count)
        .then(|| [Half::new(regions, 0, middle), Half::new(regions, middle, count)])
}

/// What the passes over one half work in.
#[derive(Debug, Default)]
struct Desk {
    now: Vec<Quad>,
    before: Vec<Quad>,
    maps: Vec<Row>,
}

/// What a half lays out for the other.
#[derive(Debug, Default)]
struct Tray {
    quads: Vec<Quad>,
    maps: Vec<Row>,
}

/// Memory of both halves.
#[derive(Debug, Default)]
pub(super) struct Desks {
    desks: [Mutex<Desk>; 2],
    trays: [Mutex<Tray>; 2],
}

/// All that the steps of a tick read.
struct Task<'a> {
    regions: &'a Regions,
    halves: &'a [Half; 2],
    strains: &'a [Strains],
    schedule: &'a [Pass],
    pins: &'a [(u32, Quad)],
    start: &'a [Quad],
    desks: &'a Desks,
    /// The step that each half is to be taken for next, and the steps it has behind it.
    taken: [AtomicUsize; 2],
    done: [AtomicUsize; 2],
}

impl Desks {
    /// All passes of a tick by two threads; `now` goes in and comes out.
    pub(super) fn run(
        &mut self,
        (regions, halves): (&Regions, &[Half; 2]),
        strains: &[Strains],
        (schedule, pins): (&[Pass], &[(u32, Quad)]),
        now: &mut [Quad],
        run: &Run<'_>,
    ) {
        let zero = || [AtomicUsize::new(0), AtomicUsize::new(0)];
        let task = Task {
            regions,
            halves,
            strains,
            schedule,
            pins,
            start: now,
            desks: self,
            taken: zero(),
            done: zero(),
        };
        run.join(|| task.work(0), || task.work(1));
        for (half, desk) in halves.iter().zip(&mut self.desks) {
            let desk = desk.get_mut().unwrap_or_else(PoisonError::into_inner);
            let out = &mut now[half.first..half.first + half.count];
            out.copy_from_slice(&desk.now[..half.count]);
        }
    }

    /// The map of a region after the last pass.
    pub(super) fn map(&self, halves: &[Half; 2], region: usize) -> Row {
        let side = usize::from(region >= halves[1].first);
        locked(&self.desks[side]).maps[region - halves[side].first]
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Task<'_> {
    /// Takes halves, step by step, its own first.
    fn work(&self, own: usize) {
        for step in 0..2 * self.schedule.len() {
            for side in [own, 1 - own] {
                let first = self.taken[side].compare_exchange(
                    step,
                    step + 1,
                    Ordering::AcqRel,
                    Ordering::Relaxed,
                );
                if first.is_ok() {
                    self.step(side, step);
                    self.done[side].store(step + 1, Ordering::Release);
                }
            }
            let mut spins = 0_usize;
            while self.done.iter().any(|done| done.load(Ordering::Acquire) <= step) {
                spins += 1;
                if spins.is_multiple_of(SPINS) {
                    std::thread::yield_now();
                } else {
                    std::hint::spin_loop();
                }
            }
        }
    }

    fn step(&self, side: usize, step: usize) {
        let (half, other) = (&self.halves[side], &self.halves[1 - side]);
        let mut desk = locked(&self.desks.desks[side]);
        let rings = half.rings(self.regions);
        let strains = &self.strains[half.first / WIDTH..];
        let padded = half.padded();
        if step == 0 {
            self.lay(half, &mut desk);
        } else if step.is_multiple_of(2) {
            let tray = locked(&self.desks.trays[1 - side]);
            desk.now[padded..].copy_from_slice(&tray.quads);
        } else {
            let tray = locked(&self.desks.trays[1 - side]);
            desk.maps[padded..].copy_from_slice(&tray.maps);
        }
        let Desk { now, before, maps } = &mut *desk;
        if step.is_multiple_of(2) {
            find_maps(rings, strains, &now[..], (0, half.count), &mut maps[..padded]);
        } else {
            let pass = self.schedule[step / 2].after(step == 1);
            find_goals(rings, maps, &now[..half.count], pass, (0, &mut before[..half.count]));
            std::mem::swap(now, before);
            for (region, held) in self.pins {
                let region = *region as usize;
                if (half.first..half.first + half.count).contains(&region) {
                    now[region - half.first] = *held;
                }
            }
        }
        let mut tray = locked(&self.desks.trays[side]);
        let reached = other.copies.iter().map(|&r| r as usize - half.first);
        if step.is_multiple_of(2) {
            tray.maps.clear();
            tray.maps.extend(reached.map(|r| maps[r]));
        } else {
            tray.quads.clear();
            tray.quads.extend(reached.map(|r| now[r]));
        }
    }

    /// Lays the start out, with the copies.
    fn lay(&self, half: &Half, desk: &mut Desk) {
        let total = half.padded() + half.copies.len();
        for quads in [&mut desk.now, &mut desk.before] {
            quads.resize(total, Quad([0.0; 4]));
        }
        desk.maps.resize(total, Wide::ZERO);
        let end = half.first + half.count;
        desk.now[..half.count].copy_from_slice(&self.start[half.first..end]);
        for (to, &from) in desk.now[half.padded()..].iter_mut().zip(&half.copies) {
            *to = self.start[from as usize];
        }
    }
}

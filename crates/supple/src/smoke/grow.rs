//! How a surface grows: what is released when, and what a step carries on.
//!
//! | growth | a column is | a step |
//! |---|---|---|
//! | streak | what left the seeds at one time | carries all columns, then releases one |
//! | time | a row of a patch, all put in at once (thesis §7.3.2) | carries all; every `inject` the patch is put in anew |
//! | path | where the particles of one release were at one time | carries a copy of the newest column |
//! | stream | the seeds carried so long through the flow as it is at one moment | changes nothing: made when it is shown |
//!
//! In a steady flow streak, path and stream surfaces are the same (`in_a_steady_flow_all_surfaces_are_one`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Emitter, Error, Ring};
use crate::Run;
use crate::flow::advect::{self, Tracer};
use crate::flow::{Flow, Unreadable};

/// How a surface grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// Columns are released one after the other: smoke.
    #[default]
    Streak,
    /// A patch that is put in as a whole and carried along.
    Time,
    /// The ways of particles that were released together.
    Path,
    /// The ways particles would take if the flow stood still.
    Stream,
}

/// A column as it is shown.
#[derive(Clone, Debug)]
pub(super) struct Column<'a> {
    /// When it was released.
    pub(super) born: f64,
    /// How long it has been carried.
    pub(super) age: f64,
    pub(super) vertices: &'a [Tracer],
}

/// Columns that exist only while they are shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Moved {
    ring: Ring,
    /// Columns of a stream surface, the farthest first; the one at the seeds of a streak between two releases; the
    /// front of a path surface.
    extra: Vec<Vec<Tracer>>,
}

impl Emitter {
    /// A ring before its first step, at a time of the flow.
    #[must_use]
    pub fn begin(&self, start: f64) -> Ring {
        let mut ring = Ring::new(self.params.columns, self.seeds.rows(), start);
        match self.params.growth {
            Growth::Streak | Growth::Path => ring.release(&self.seeds.at(start), start),
            Growth::Time => self.put_in(&mut ring, start),
            Growth::Stream => {}
        }
        ring
    }

    fn put_in(&self, ring: &mut Ring, t: f64) {
        ring.clear();
        self.patch.iter().for_each(|column| ring.release(column, t));
    }

    /// One step: all columns are carried on by `dt`, then one is released.
    ///
    /// # Errors
    ///
    /// [`Error::Unreadable`] if a level of the flow cannot be read; the ring is then as it was.
    pub fn step(&self, ring: &mut Ring, flow: &Flow, run: &Run<'_>) -> Result<(), Error> {
        let (from, to) = (self.time(ring), self.time_of(ring, ring.steps() + 1));
        self.carry(ring, flow, [from, to], run)?;
        if self.params.growth == Growth::Streak {
            ring.release(&self.seeds.at(to), to);
        }
        ring.count();
        Ok(())
    }

    /// Carries a ring on within a step; what is injected on the way is.
    fn carry(
        &self,
        ring: &mut Ring,
        flow: &Flow,
        [from, to]: [f64; 2],
        run: &Run<'_>,
    ) -> Result<(), Unreadable> {
        let anew = self.injection(ring, [from, to]);
        match self.params.growth {
            Growth::Streak => ring.advance(flow, [from, to], run),
            Growth::Time => match anew {
                Some(t) => {
                    // Read before anything is moved.
                    let mut next = ring.clone();
                    self.put_in(&mut next, t);
                    next.advance(flow, [t, to], run)?;
                    *ring = next;
                    Ok(())
                }
                None => ring.advance(flow, [from, to], run),
            },
            Growth::Path => {
                let mut next = ring.clone();
                let from = anew.unwrap_or(from);
                if anew.is_some() {
                    next.clear();
                    next.release(&self.seeds.at(from), from);
                }
                if next.live() < self.params.columns {
                    next.repeat(to);
                    next.advance_newest(flow, [from, to], run)?;
                }
                *ring = next;
                Ok(())
            }
            Growth::Stream => Ok(()),
        }
    }

    /// When the surface last begins anew in a stretch of time, its end included.
    fn injection(&self, ring: &Ring, [from, to]: [f64; 2]) -> Option<f64> {
        let every = self.params.inject? * self.params.dt.signum();
        // What falls on a step is due at its end, whatever rounding makes of it.
        let due = |t: f64| ((t - ring.start()) / every + 1e-9).floor();
        (due(to) > due(from) && due(to) > 0.0).then(|| ring.start() + due(to) * every)
    }

    /// What is shown so long after the last step beside the ring itself; nothing at a step.
    pub(super) fn moved(
        &self,
        ring: &Ring,
        flow: &Flow,
        now: f64,
        run: &Run<'_>,
    ) -> Result<Option<Moved>, Unreadable> {
        let at_step = self.time(ring);
        let mut moved = Moved::default();
        match self.params.growth {
            Growth::Stream => {
                moved.extra = self.stream(flow, now, run)?;
                return Ok(Some(moved));
            }
            _ if now == at_step => return Ok(None),
            // A partial step, forgotten afterwards; the strip at the seeds is growing.
            Growth::Streak => {
                moved.extra = vec![self.seeds.at(now).into_iter().map(advect::tracer).collect()];
            }
            Growth::Time | Growth::Path => {}
        }
        moved.ring = ring.clone();
        self.carry(&mut moved.ring, flow, [at_step, now], run)?;
        Ok(Some(moved))
    }

    /// Columns of a stream surface, the farthest first.
    fn stream(&self, flow: &Flow, now: f64, run: &Run<'_>) -> Result<Vec<Vec<Tracer>>, Unreadable> {
        let mut column: Vec<Tracer> = self.seeds.at(now).into_iter().map(advect::tracer).collect();
        let mut columns = vec![column.clone()];
        for _ in 1..self.params.columns {
            flow.advance_frozen(now, self.params.dt, &mut column, run)?;
            columns.push(column.clone());
        }
        columns.reverse();
        Ok(columns)
    }

    /// The columns that are shown at a time, the oldest or farthest first, and how much of a whole strip the first and
    /// the last one are.
    pub(super) fn columns<'a>(
        &self,
        ring: &'a Ring,
        moved: Option<&'a Moved>,
        now: f64,
    ) -> (Vec<Column<'a>>, [f32; 2]) {
        let dt = self.params.dt;
        let shown = moved.map_or(ring, |moved| &moved.ring);
        let extra = moved.map_or(&[][..], |moved| &moved.extra);
        let of_ring = |i: usize| {
            let (born, vertices) = shown.column(i);
            Column { born, age: (now - born).abs(), vertices }
        };
        let mut columns: Vec<Column<'a>> = (0..shown.live()).map(of_ring).collect();
        let share = |from: f64| ((now - from) / dt).clamp(0.0, 1.0) as f32;
        match self.params.growth {
            Growth::Streak => {
                let newest = columns.last().map_or(now, |column| column.born);
                columns.extend(extra.iter().map(|c| Column { born: now, age: 0.0, vertices: c }));
                let last = if extra.is_empty() { 1.0 } else { share(newest) };
                (columns, [1.0, last])
            }
            Growth::Time => (columns, [1.0, 1.0]),
            Growth::Path => {
                // The ring holds when particles were there; all were released together.
                let born = columns.first().map_or(now, |column| column.born);
                let front = columns.iter().rev().take(2).map(|c| c.born).collect::<Vec<_>>();
                let first = match front[..] {
                    [last, before] => (((last - before) / dt) as f32).clamp(0.0, 1.0),
                    _ => 1.0,
                };
                columns.reverse();
                for column in &mut columns {
                    column.age = (column.born - born).abs();
                    column.born = born;
                }
                (columns, [first, 1.0])
            }
            Growth::Stream => {
                let count = extra.len();
                let of = |(i, vertices): (usize, &'a Vec<Tracer>)| {
                    let age = (count - 1 - i) as f64 * dt.abs();
                    Column { born: now, age, vertices }
                };
                (extra.iter().enumerate().map(of).collect(), [1.0, 1.0])
            }
        }
    }
}

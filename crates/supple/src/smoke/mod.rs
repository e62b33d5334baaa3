//! Smoke-like streak surfaces in flows that change over time.
//!
//! A streak surface is what smoke from a burning stick would be: columns of vertices are released from a seed line
//! one after the other and carried by the flow. Its mesh is never refined; instead it is drawn the thinner the more it
//! was stretched, bent or cut ([`opacity`]), and that is what smoke does.
//!
//! # Method
//!
//! An [`Emitter`] grows a [`Ring`] of columns; a [`Streak`] is both. Every `dt` of the flow's time all columns are carried on by Runge–Kutta
//! steps ([`crate::flow`]), then a column is put on the seeds: a new one, or the oldest. [`Streak::surface`] is the
//! mesh with its opacity at that moment or a part of a step later, where a strip at the seeds is still growing.
//!
//! # Limits
//!
//! - Resolution is fixed: what is stretched far apart is hidden, not refined.
//! - Vertices that leave the fluid stay there and are in no triangle (`what_leaves_the_fluid_is_in_no_triangle`).
//!
//! # References
//!
//! W. von Funck: Vector field based shape deformations (thesis), chapter 7; W. von Funck, T. Weinkauf, H. Theisel,
//! H.-P. Seidel: Smoke Surfaces, IEEE TVCG 14(6), 2008.
//!
//! # Example
//!
//! ```
//! use supple::Run;
//! use supple::flow::{Flow, analytic::Analytic};
//! use supple::smoke::{Params, SeedLine, Streak};
//!
//! let flow = Flow::Analytic(Analytic::Uniform);
//! let line = SeedLine { points: vec![[0.0; 3], [0.0, 1.0, 0.0]], ..SeedLine::default() };
//! let params = Params { columns: 20, rows: 11, dt: 0.1, seeds: vec![line], ..Params::default() };
//! let run = Run::default();
//! let mut smoke = Streak::new(&params, &flow, &run)?;
//! for _ in 0..10 {
//!     smoke.step(&flow, &run)?;
//! }
//! let surface = smoke.surface(&flow, 0.0, &run)?;
//! assert_eq!(surface.mesh.positions.len(), 11 * 11);
//! # Ok::<(), supple::smoke::Error>(())
//! ```

pub mod choose;
mod modifier;
pub mod opacity;
mod ring;
mod seed;
pub mod style;
mod surface;
pub mod tufts;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::modifier::{Smoke, SmokeParams};
pub use self::opacity::Opacity;
pub use self::ring::Ring;
pub use self::seed::{BadSeed, SeedLine, Seeds, resample};
pub use self::surface::{ALPHA, Surface};
use crate::Run;
use crate::flow::{Flow, Unreadable};

/// What a streak surface is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Columns in the ring: a column lives for `columns` × `dt`.
    pub columns: usize,
    /// Vertices in a column.
    pub rows: usize,
    /// Time between releases, in the flow's units; negative runs backwards. Cells are square where it is the spacing
    /// of the rows over the speed of the flow.
    pub dt: f64,
    /// When the first column is released, on the flow's clock.
    pub start: f64,
    /// Where columns are released; several are keys of one line over time.
    pub seeds: Vec<SeedLine>,
    /// How the terms of the opacity are weighed.
    pub opacity: Opacity,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            columns: 200,
            rows: 60,
            dt: 0.05,
            start: 0.0,
            seeds: Vec::new(),
            opacity: Opacity::default(),
        }
    }
}

/// Most vertices of a surface.
pub const MOST_VERTICES: usize = 50_000_000;

/// Why there is no smoke.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The seeds are no line.
    #[error(transparent)]
    Seed(#[from] BadSeed),
    /// A ring must have room for a strip, and fit into memory.
    #[error(
        "a smoke surface needs 2 columns or more and at most {MOST_VERTICES} vertices; {columns} columns of {rows} rows were asked for"
    )]
    Size {
        /// Columns asked for.
        columns: usize,
        /// Rows asked for.
        rows: usize,
    },
    /// Time does not move.
    #[error("the time between releases must be finite and not zero, not {dt}")]
    Dt {
        /// What was asked for.
        dt: f64,
    },
    /// All seeds are outside.
    #[error(
        "no seed lies in the fluid at time {t}: the seed line reaches from {from:?} to {to:?}, the flow from {low:?} to {high:?}"
    )]
    Outside {
        /// When.
        t: f64,
        /// First seed.
        from: [f64; 3],
        /// Last seed.
        to: [f64; 3],
        /// Least corner of the flow.
        low: [f64; 3],
        /// Greatest corner of the flow.
        high: [f64; 3],
    },
    /// A level could not be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

/// Times in the record at which the flow at the seeds is looked at to find the amount of smoke.
const LOOKS: u32 = 5;

/// Where smoke is released, and how much: what a surface is grown by.
#[derive(Clone, Debug)]
pub struct Emitter {
    params: Params,
    seeds: Seeds,
    /// Smoke a triangle holds: an area.
    k: f64,
    along: f64,
}

impl Emitter {
    /// Smoke from a line in a flow.
    ///
    /// # Errors
    ///
    /// [`Error`] says what does not fit.
    pub fn new(params: &Params, flow: &Flow, run: &Run<'_>) -> Result<Self, Error> {
        let Params { columns, rows, dt, start, .. } = *params;
        if columns < 2 || columns.saturating_mul(rows) > MOST_VERTICES {
            return Err(Error::Size { columns, rows });
        }
        if !(dt.abs() > 0.0 && dt.is_finite() && start.is_finite()) {
            return Err(Error::Dt { dt });
        }
        let seeds = Seeds::new(&params.seeds, rows)?;
        let (k, along) = amount_of_smoke(params, &seeds.at(start), flow, run)?;
        Ok(Self { params: params.clone(), seeds, k, along })
    }

    /// A ring with its first column on the seeds.
    #[must_use]
    pub fn begin(&self) -> Ring {
        let mut ring = Ring::new(self.params.columns, self.params.rows);
        ring.release(&self.seeds.at(self.params.start), self.params.start);
        ring
    }

    /// One step: all columns are carried on by `dt`, then one is released.
    ///
    /// # Errors
    ///
    /// [`Error::Unreadable`] if a level of the flow cannot be read; the ring is then between two steps.
    pub fn step(&self, ring: &mut Ring, flow: &Flow, run: &Run<'_>) -> Result<(), Error> {
        let (from, to) = (self.time(ring), self.time_of(ring.released()));
        ring.advance(flow, [from, to], run)?;
        ring.release(&self.seeds.at(to), to);
        Ok(())
    }

    /// When the newest column of a ring was released.
    #[must_use]
    pub fn time(&self, ring: &Ring) -> f64 {
        self.time_of(ring.released().saturating_sub(1))
    }

    /// From the number of the release, not by adding up: the same after any seek.
    fn time_of(&self, release: u64) -> f64 {
        self.params.start + release as f64 * self.params.dt
    }

    /// Columns and rows.
    #[must_use]
    pub fn size(&self) -> [usize; 2] {
        [self.params.columns, self.params.rows]
    }
}

/// A streak surface on its way.
#[derive(Clone, Debug)]
pub struct Streak {
    emitter: Emitter,
    ring: Ring,
}

impl Streak {
    /// A surface with its first column on the seeds.
    ///
    /// # Errors
    ///
    /// [`Error`] says what does not fit.
    pub fn new(params: &Params, flow: &Flow, run: &Run<'_>) -> Result<Self, Error> {
        let emitter = Emitter::new(params, flow, run)?;
        let ring = emitter.begin();
        Ok(Self { emitter, ring })
    }

    /// One step: all columns are carried on by `dt`, then one is released.
    ///
    /// # Errors
    ///
    /// [`Error::Unreadable`] if a level of the flow cannot be read.
    pub fn step(&mut self, flow: &Flow, run: &Run<'_>) -> Result<(), Error> {
        self.emitter.step(&mut self.ring, flow, run)
    }

    /// The surface so long after the newest release: a share of a step, from 0 (included) to 1 (not).
    ///
    /// # Errors
    ///
    /// [`Error::Unreadable`] if a level of the flow cannot be read.
    pub fn surface(&self, flow: &Flow, share: f64, run: &Run<'_>) -> Result<Surface, Error> {
        self.emitter.surface(&self.ring, flow, share, run)
    }

    /// When the newest column was released: now.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.emitter.time(&self.ring)
    }

    /// The vertices.
    #[must_use]
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// Takes up an earlier state, of the same size.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if the ring has another.
    pub fn resume(&mut self, ring: Ring) -> Result<(), Error> {
        let [columns, rows] = ring.size();
        if [columns, rows] != self.ring.size() || ring.released() == 0 {
            return Err(Error::Size { columns, rows });
        }
        self.ring = ring;
        Ok(())
    }

    /// Share of the seed line along which the flow runs: no smoke sheet comes from there.
    #[must_use]
    pub fn along(&self) -> f64 {
        self.emitter.along
    }

    /// Its parameters.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.emitter.params
    }
}

/// `k` from the mean velocity at the seeds over the record, or over a life for flows without end.
fn amount_of_smoke(
    params: &Params,
    places: &[[f64; 3]],
    flow: &Flow,
    run: &Run<'_>,
) -> Result<(f64, f64), Error> {
    let life = params.columns as f64 * params.dt;
    let [from, to] = flow.span().unwrap_or([params.start, params.start + life]);
    let mut mean = vec![[0.0_f64; 3]; places.len()];
    let mut fluid = 0.0;
    for look in 0..LOOKS {
        let t = from + (to - from) * f64::from(look) / f64::from(LOOKS - 1);
        for (mean, v) in mean.iter_mut().zip(flow.velocities(places, t, run)?) {
            fluid += v[3];
            *mean = [0, 1, 2].map(|c| mean[c] + v[c] / f64::from(LOOKS));
        }
    }
    if fluid <= 0.0 {
        let ([low, high], last) = (flow.bounds(), places.len() - 1);
        return Err(Error::Outside { t: from, from: places[0], to: places[last], low, high });
    }
    Ok(opacity::particles(&params.opacity, places, &mean, params.dt))
}

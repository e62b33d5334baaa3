//! Smoke-like streak surfaces in flows that change over time.
//!
//! A streak surface is what smoke from a burning stick would be: columns of vertices are released from a seed line
//! one after the other and carried by the flow. Its mesh is never refined; instead it is drawn the thinner the more it
//! was stretched, bent or cut ([`opacity`]), and that is what smoke does.
//!
//! # Method
//!
//! An [`Emitter`] grows a [`Ring`] of columns; a [`Streak`] is both. Every `dt` of the flow's time all columns are carried
//! on by Runge–Kutta steps ([`crate::flow`]), then a column is put on the seeds: a new one, or the oldest.
//! [`Streak::surface`] is the mesh with its opacity at that moment or a part of a step later, where a strip at the
//! seeds is still growing. Time, path and stream surfaces are grown otherwise ([`Growth`]) and shown alike.
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
//! assert_eq!(surface.into_mesh().positions.len(), 11 * 11);
//! # Ok::<(), supple::smoke::Error>(())
//! ```

pub mod choose;
mod grow;
pub mod land;
mod modifier;
pub mod opacity;
mod ring;
mod seed;
pub mod style;
mod surface;
pub mod tufts;
pub mod walls;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::grow::Growth;
pub use self::modifier::{SeedKey, Smoke, SmokeParams};
pub use self::opacity::Opacity;
pub use self::ring::Ring;
pub use self::seed::{BadSeed, SeedLine, Seeds, patch, resample};
pub use self::surface::{ALPHA, Surface};
pub use self::walls::Walls;
use crate::Run;
use crate::flow::{Flow, Unreadable};

/// What a surface is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// How it grows.
    pub growth: Growth,
    /// Columns in the ring: a column lives for `columns` × `dt`.
    pub columns: usize,
    /// Vertices in a column of one part.
    pub rows: usize,
    /// Time between releases, in the flow's units; negative runs backwards. Cells are square where it is the spacing
    /// of the rows over the speed of the flow.
    pub dt: f64,
    /// When the first column is released, on the flow's clock.
    pub start: f64,
    /// Where columns are released; several are keys of one line over time. Of a time surface, one with four corners.
    pub seeds: Vec<SeedLine>,
    /// Other lines that belong to every column, with nothing between them.
    pub parts: Vec<Vec<[f64; 3]>>,
    /// Rows of a nozzle and the gap after it, of which it is the first half; 0 for none.
    pub nozzle: usize,
    /// Time after which time and path surfaces begin anew; `None` is never.
    pub inject: Option<f64>,
    /// What the third coordinate is multiplied with in the mesh.
    pub vertical_scale: f64,
    /// How the terms of the opacity are weighed.
    pub opacity: Opacity,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            growth: Growth::Streak,
            columns: 200,
            rows: 60,
            dt: 0.05,
            start: 0.0,
            seeds: Vec::new(),
            parts: Vec::new(),
            nozzle: 0,
            inject: None,
            vertical_scale: 1.0,
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
    /// Nothing is ever injected.
    #[error("the time after which a surface begins anew must be finite and positive, not {inject}")]
    Inject {
        /// What was asked for.
        inject: f64,
    },
    /// Heights are multiplied with nothing.
    #[error("the vertical scale must be finite and not zero, not {scale}")]
    Scale {
        /// What was asked for.
        scale: f64,
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
    /// Columns of a time surface where it is put; none otherwise.
    patch: Vec<Vec<[f64; 3]>>,
    /// See [`opacity::Sheet::joined`].
    joined: Vec<f32>,
    /// Smoke a triangle holds: an area.
    k: f64,
    along: f64,
    known: surface::Known,
    spare: surface::Spare,
}

impl Emitter {
    /// Smoke from a line in a flow.
    ///
    /// # Errors
    ///
    /// [`Error`] says what does not fit.
    pub fn new(params: &Params, flow: &Flow, run: &Run<'_>) -> Result<Self, Error> {
        check(params)?;
        // Before the seeds are made: they are as many as the rows.
        let rows = params.rows.saturating_mul(1 + params.parts.len());
        let columns = params.columns;
        if columns < 2 || columns.saturating_mul(rows) > MOST_VERTICES {
            return Err(Error::Size { columns, rows });
        }
        let seeds = Seeds::new(&params.seeds, &params.parts, params.rows)?;
        let mut emitter = Self {
            patch: Vec::new(),
            joined: joined(rows, seeds.rows_of_part(), params.nozzle),
            params: params.clone(),
            seeds,
            k: 0.0,
            along: 0.0,
            known: surface::Known::default(),
            spare: surface::Spare::default(),
        };
        if params.growth == Growth::Time {
            emitter.patch = patch(&params.seeds[0].points, columns, params.rows)?;
        }
        let places = emitter.seeds.at(params.start);
        let mean = mean_velocities(params, &places, flow, run)?;
        (emitter.k, emitter.along) = emitter.amount(&places, &mean);
        Ok(emitter)
    }

    /// `k` and the share of the line along which the flow runs.
    fn amount(&self, places: &[[f64; 3]], mean: &[[f64; 3]]) -> (f64, f64) {
        let Params { opacity, dt, vertical_scale, .. } = &self.params;
        let seen = |p: &[f64; 3]| [p[0], p[1], p[2] * vertical_scale];
        let part = self.seeds.rows_of_part();
        if let [first, second, ..] = &self.patch[..] {
            // The cells of a time surface are there from the beginning.
            let places: Vec<[f64; 3]> = first.iter().map(seen).collect();
            let sides: Vec<[f64; 3]> = first
                .iter()
                .zip(second)
                .map(|(a, b)| seen(&[0, 1, 2].map(|c| b[c] - a[c])))
                .collect();
            return (opacity::particles(opacity, &places, &sides, part, 1.0).0, 0.0);
        }
        let places: Vec<[f64; 3]> = places.iter().map(seen).collect();
        let mean: Vec<[f64; 3]> = mean.iter().map(seen).collect();
        opacity::particles(opacity, &places, &mean, part, *dt)
    }

    /// When the last step of a ring ended.
    #[must_use]
    pub fn time(&self, ring: &Ring) -> f64 {
        self.time_of(ring, ring.steps())
    }

    /// From the number of the step, not by adding up: the same after any seek.
    fn time_of(&self, ring: &Ring, step: u64) -> f64 {
        ring.start() + step as f64 * self.params.dt
    }

    /// Columns and rows.
    #[must_use]
    pub fn size(&self) -> [usize; 2] {
        [self.params.columns, self.seeds.rows()]
    }

    /// How long a column lives, on the flow's clock.
    fn life(&self) -> f64 {
        let whole = self.params.columns as f64 * self.params.dt.abs();
        match (self.params.growth, self.params.inject) {
            (Growth::Time, Some(inject)) => inject,
            _ => whole,
        }
    }

    /// The seeds over time.
    #[must_use]
    pub fn seeds(&self) -> &Seeds {
        &self.seeds
    }

    /// Share of the seed line along which the flow runs: no smoke sheet comes from there.
    #[must_use]
    pub fn along(&self) -> f64 {
        self.along
    }

    /// Its parameters.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }
}

fn check(params: &Params) -> Result<(), Error> {
    let Params { dt, start, vertical_scale: scale, .. } = *params;
    if !(dt.abs() > 0.0 && dt.is_finite() && start.is_finite()) {
        return Err(Error::Dt { dt });
    }
    if let Some(inject) = params.inject.filter(|t| !(*t > 0.0 && t.is_finite())) {
        return Err(Error::Inject { inject });
    }
    if scale == 0.0 || !scale.is_finite() {
        return Err(Error::Scale { scale });
    }
    Ok(())
}

/// Which neighbouring rows have something between them: not across parts, nor between nozzles.
fn joined(rows: usize, rows_of_part: usize, nozzle: usize) -> Vec<f32> {
    if rows == rows_of_part && nozzle < 2 {
        return Vec::new();
    }
    let in_nozzle = |row: usize| nozzle < 2 || row % nozzle < nozzle.div_ceil(2);
    let is_joined = |row: usize| {
        let next = row + 1;
        // The last row of a nozzle has a gap after it, so both in one means both in the same.
        !next.is_multiple_of(rows_of_part)
            && in_nozzle(row % rows_of_part)
            && in_nozzle(next % rows_of_part)
    };
    (0..rows - 1).map(|row| f32::from(u8::from(is_joined(row)))).collect()
}

/// A surface on its way.
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
        let ring = emitter.begin(params.start);
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

    /// The surface so long after the last step: a share of a step, from 0 (included) to 1 (not).
    ///
    /// # Errors
    ///
    /// [`Error::Unreadable`] if a level of the flow cannot be read.
    pub fn surface(&self, flow: &Flow, share: f64, run: &Run<'_>) -> Result<Surface, Error> {
        self.emitter.surface(&self.ring, flow, share, run)
    }

    /// When the last step ended: now.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.emitter.time(&self.ring)
    }

    /// The vertices.
    #[must_use]
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// What it is grown by.
    #[must_use]
    pub fn emitter(&self) -> &Emitter {
        &self.emitter
    }

    /// Takes up an earlier state, of the same size.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if the ring has another.
    pub fn resume(&mut self, ring: Ring) -> Result<(), Error> {
        let [columns, rows] = ring.size();
        if [columns, rows] != self.ring.size() {
            return Err(Error::Size { columns, rows });
        }
        self.ring = ring;
        Ok(())
    }
}

/// Mean velocity at the seeds over the record, or over a life for flows without end.
fn mean_velocities(
    params: &Params,
    places: &[[f64; 3]],
    flow: &Flow,
    run: &Run<'_>,
) -> Result<Vec<[f64; 3]>, Error> {
    let life = params.columns as f64 * params.dt;
    let [from, to] = flow.span().unwrap_or([params.start, params.start + life]);
    let mut mean = vec![[0.0_f64; 3]; places.len()];
    let mut fluid = 0.0;
    let mut unread = 0;
    for look in 0..LOOKS {
        let t = from + (to - from) * f64::from(look) / f64::from(LOOKS - 1);
        let velocities = match flow.velocities(places, t, run) {
            Ok(velocities) => velocities,
            // A record that breaks off is played up to there.
            Err(_) if look > 0 && !run.is_cancelled() => {
                unread += 1;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        for (mean, v) in mean.iter_mut().zip(velocities) {
            fluid += v[3];
            *mean = [0, 1, 2].map(|c| mean[c] + v[c] / f64::from(LOOKS));
        }
    }
    if unread > 0 {
        let whole = f64::from(LOOKS) / f64::from(LOOKS - unread);
        mean.iter_mut().for_each(|v| v.iter_mut().for_each(|c| *c *= whole));
    }
    if fluid <= 0.0 {
        let ([low, high], last) = (flow.bounds(), places.len() - 1);
        return Err(Error::Outside { t: from, from: places[0], to: places[last], low, high });
    }
    Ok(mean)
}

//! Velocity over space and time: flows given by formulas, and recorded ones.
//!
//! # Method
//!
//! A [`Flow`] carries tracers ([`Flow::advance`]) from one time to another by Runge–Kutta steps
//! ([`advect`]). A recorded flow is linear in time between two levels; steps are cut at every level they would
//! cross ([`time`]), and again so that nothing moves farther than a cell, so that two levels are all that is in memory.
//!
//! On the sphere (longitude λ and latitude φ in degrees, velocity in metres a second), `λ' = u / (R cos φ)` and
//! `φ' = v / R` with R = 6 371 000 m.
//!
//! # Limits
//!
//! Before the first level and after the last one the nearest holds, unless the record is a period.
//!
//! # Example
//!
//! ```
//! use supple::Run;
//! use supple::flow::{Flow, advect, analytic::Analytic};
//!
//! let flow = Flow::Analytic(Analytic::Uniform);
//! let mut tracers = [advect::tracer([0.0; 3])];
//! flow.advance([0.0, 2.0], &mut tracers, &Run::default())?;
//! assert!((tracers[0][0] - 2.0).abs() < 1e-12);
//! # Ok::<(), supple::flow::Unreadable>(())
//! ```

pub mod advect;
pub mod analytic;
mod bins;
pub mod curvilinear;
pub mod grid;
pub mod recorded;
pub mod recording;
pub mod sampled;
pub mod searched;
mod shelf;
mod source;
pub mod time;
pub mod unstructured;
pub mod wide;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex};

use self::advect::{BLOCK, Row, Sampler, Tracer};
use self::analytic::{Analytic, FormulaSampler};
use self::curvilinear::Lattice;
use self::grid::GridSampler;
use self::searched::SearchSampler;
use self::time::Clock;
use self::unstructured::Mesh;
use self::wide::Wide;
use crate::{Run, TriMesh};

/// Two neighbouring levels, ready to be sampled.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "two are ever in memory, and they hold far more elsewhere"
)]
pub enum Pair {
    /// On a uniform or rectilinear grid.
    Grid(grid::Pair),
    /// On a curvilinear grid.
    Lattice(searched::Pair<Lattice>),
    /// On an unstructured grid.
    Mesh(searched::Pair<Mesh>),
}

/// The box around some places; `None` without any.
fn around<'a, const N: usize>(places: impl Iterator<Item = &'a [f64; N]>) -> Option<Region> {
    let mut region: Option<Region> = None;
    for place in places {
        let own: [f64; 3] = [place[0], place[1], place[2]];
        let [low, high] = region.get_or_insert([own; 2]);
        for a in 0..3 {
            low[a] = low[a].min(own[a]);
            high[a] = high[a].max(own[a]);
        }
    }
    region
}

impl Pair {
    /// Cells crossed in a unit of time by what moves fastest.
    #[must_use]
    pub fn rate(&self) -> f64 {
        match self {
            Self::Grid(pair) => pair.rate(),
            Self::Lattice(pair) => pair.rate(),
            Self::Mesh(pair) => pair.rate(),
        }
    }

    /// When its levels stand.
    #[must_use]
    pub fn times(&self) -> [f64; 2] {
        match self {
            Self::Grid(pair) => pair.times(),
            Self::Lattice(pair) => pair.times(),
            Self::Mesh(pair) => pair.times(),
        }
    }

    /// One sample a place.
    fn sampled(&self, places: &[[f64; 3]], t: f64, sphere: Option<Sphere>) -> Vec<[f64; 4]> {
        match self {
            Self::Grid(pair) => sampled(&GridSampler::<false>::new(pair), places, t, sphere),
            Self::Lattice(pair) => sampled(&SearchSampler::new(pair), places, t, sphere),
            Self::Mesh(pair) => sampled(&SearchSampler::new(pair), places, t, sphere),
        }
    }

    /// Carries tracers in equal steps from one time to another, both between its levels.
    fn advect(&self, to: Interval<'_>, tracers: &mut [Tracer], run: &Run<'_>) {
        match self {
            Self::Grid(pair) if pair.is_even_and_open() => {
                to.along(&GridSampler::<true>::new(pair), tracers, run);
            }
            Self::Grid(pair) => to.along(&GridSampler::<false>::new(pair), tracers, run),
            Self::Lattice(pair) => to.along(&SearchSampler::new(pair), tracers, run),
            Self::Mesh(pair) => to.along(&SearchSampler::new(pair), tracers, run),
        }
    }
}

/// From one time to another in some steps, in a plane or on the sphere.
#[derive(Clone, Copy)]
struct Interval<'a> {
    times: [f64; 2],
    steps: u32,
    /// True if the flow stands still meanwhile, as it is at the first time.
    frozen: bool,
    sphere: Option<&'a Sphere>,
}

impl Interval<'_> {
    fn along<S: Sampler>(self, sampler: &S, tracers: &mut [Tracer], run: &Run<'_>) {
        let sampler = Timed { sampler, frozen: self.frozen.then_some(self.times[0]) };
        match self.sphere {
            None => advect::advect(&sampler, self.times, self.steps, tracers, run),
            Some(sphere) => {
                let sampler = OnSphere { sampler: &sampler, sphere: *sphere };
                advect::advect(&sampler, self.times, self.steps, tracers, run);
            }
        }
    }
}

/// A flow whose clock runs, or stands still.
struct Timed<'a, S> {
    sampler: &'a S,
    frozen: Option<f64>,
}

impl<S: Sampler> Sampler for Timed<'_, S> {
    #[inline(always)]
    fn sample<W: Wide>(&self, wide: W, x: &[Row; 3], t: f64, cells: &mut [u32; BLOCK]) -> [Row; 4] {
        self.sampler.sample(wide, x, self.frozen.unwrap_or(t), cells)
    }
}

/// Radius of the earth, in metres.
pub const EARTH_RADIUS: f64 = 6_371_000.0;

/// Longitude and latitude in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Metres a velocity of one covers in a unit of the record's time: 86400 for metres a second and days.
    pub metres: f64,
    /// The same for the third axis, in its own units.
    pub upward: f64,
}

struct OnSphere<'a, S> {
    sampler: &'a S,
    sphere: Sphere,
}

impl<S: Sampler> Sampler for OnSphere<'_, S> {
    #[inline(always)]
    fn sample<W: Wide>(&self, wide: W, x: &[Row; 3], t: f64, cells: &mut [u32; BLOCK]) -> [Row; 4] {
        let mut v = self.sampler.sample(wide, x, t, cells);
        let degrees = self.sphere.metres * (180.0 / std::f64::consts::PI) / EARTH_RADIUS;
        for i in 0..BLOCK {
            let cos = libm::cos(x[1][i].to_radians());
            v[0][i] *= degrees / cos.max(1e-6);
            v[1][i] *= degrees;
            v[2][i] *= self.sphere.upward;
        }
        v
    }
}

/// Who can hand over the levels of a recording, two at a time.
pub trait Levels: Send + Sync + fmt::Debug {
    /// Two levels, by their numbers, with the times at which they stand.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if one cannot be read.
    fn pair(&self, levels: [usize; 2], times: [f64; 2], run: &Run<'_>) -> Result<Pair, Unreadable>;

    /// The box around the grid.
    fn bounds(&self) -> [[f64; 3]; 2];

    /// Scalars there are.
    fn scalars(&self) -> Vec<String> {
        Vec::new()
    }

    /// Two levels of a scalar, as the first component of a velocity; `None` if there is none of that name.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if one cannot be read.
    fn scalar(
        &self,
        _name: &str,
        _levels: [usize; 2],
        _times: [f64; 2],
        _run: &Run<'_>,
    ) -> Result<Option<Pair>, Unreadable> {
        Ok(None)
    }

    /// The levels of a piece of time, at least around a box; who can begins to read the next one.
    ///
    /// # Errors
    ///
    /// As [`pair`](Self::pair).
    fn pair_near(
        &self,
        piece: &time::Piece,
        region: Option<Region>,
        run: &Run<'_>,
    ) -> Result<Pair, Unreadable> {
        let _ = region;
        self.pair(piece.levels, piece.times, run)
    }

    /// Whether a pair will do for what begins in a box at the beginning of a piece.
    fn covers(&self, pair: &Pair, piece: &time::Piece, region: Region) -> bool {
        let _ = (pair, piece, region);
        true
    }

    /// True if all of it lies in one plane, or is one cell thick: a flow in two dimensions.
    fn is_flat(&self) -> bool {
        false
    }

    /// What stands in it, if that is known better than by its cells.
    fn walls(&self) -> Option<TriMesh> {
        None
    }

    /// How much it keeps in memory.
    fn thrift(&self) -> Thrift {
        Thrift::None
    }
}

/// A box in space: its least and its greatest corner.
pub type Region = [[f64; 3]; 2];

/// How much of a recording is kept in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thrift {
    /// What was used last.
    None,
    /// What is in use, and the level that comes next.
    Levels,
    /// Of that only the part that is reached.
    Parts,
}

/// A level that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("level {level} of the flow cannot be read")]
pub struct Unreadable {
    /// Its number, from 0.
    pub level: usize,
    /// Why.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// A flow on levels over time.
#[derive(Debug)]
pub struct Recorded {
    clock: Clock,
    levels: Box<dyn Levels>,
    sphere: Option<Sphere>,
    /// Pairs used last. Reading ahead or again changes no bits.
    at_hand: Mutex<Vec<([usize; 2], Arc<Pair>)>>,
    /// The pair of a scalar used last.
    scalar_at_hand: Mutex<Option<ScalarPair>>,
}

/// Levels of a scalar, by its name.
type ScalarPair = (String, [usize; 2], Arc<Pair>);

/// Pairs kept: that of now, and that of a partial step beyond it.
const AT_HAND: usize = 2;

impl Recorded {
    /// A recording whose levels stand at the times of a clock.
    #[must_use]
    pub fn new(clock: Clock, levels: Box<dyn Levels>, sphere: Option<Sphere>) -> Self {
        let (at_hand, scalar_at_hand) = (Mutex::default(), Mutex::default());
        Self { clock, levels, sphere, at_hand, scalar_at_hand }
    }

    /// When its levels stand.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    fn pair(
        &self,
        piece: &time::Piece,
        places: impl FnOnce() -> Option<Region>,
        run: &Run<'_>,
    ) -> Result<Arc<Pair>, Unreadable> {
        let mut at_hand = self.at_hand.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let thrift = self.levels.thrift();
        let region = if thrift == Thrift::Parts { places() } else { None };
        // A recorded period stands at other times when it comes again.
        let is_same = |known: &([usize; 2], Arc<Pair>)| {
            known.0 == piece.levels
                && known.1.times() == piece.times
                && region.is_none_or(|region| self.levels.covers(&known.1, piece, region))
        };
        if let Some(known) = at_hand.iter().position(is_same) {
            return Ok(Arc::clone(&at_hand[known].1));
        }
        if thrift != Thrift::None {
            at_hand.clear();
        }
        let pair = Arc::new(self.levels.pair_near(piece, region, run)?);
        at_hand.truncate(AT_HAND - 1);
        at_hand.insert(0, (piece.levels, Arc::clone(&pair)));
        Ok(pair)
    }

    /// Levels of a scalar around a moment.
    fn scalar(
        &self,
        name: &str,
        piece: &time::Piece,
        run: &Run<'_>,
    ) -> Result<Option<Arc<Pair>>, Unreadable> {
        let at_hand =
            || self.scalar_at_hand.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_it = |(known, levels, pair): &&ScalarPair| {
            known == name && *levels == piece.levels && pair.times() == piece.times
        };
        if let Some((_, _, pair)) = at_hand().as_ref().filter(is_it) {
            return Ok(Some(Arc::clone(pair)));
        }
        let read = self.levels.scalar(name, piece.levels, piece.times, run)?;
        let Some(pair) = read.map(Arc::new) else { return Ok(None) };
        *at_hand() = Some((name.to_owned(), piece.levels, Arc::clone(&pair)));
        Ok(Some(pair))
    }
}

/// A velocity over space and time.
#[derive(Debug)]
pub enum Flow {
    /// Given by a formula.
    Analytic(Analytic),
    /// Read from files.
    Recorded(Recorded),
}

/// Most steps within one stretch of time: beyond, something is wrong with the data.
const MOST_STEPS: f64 = 10_000.0;

/// Steps of at most a cell each, at so many cells a unit of time.
fn steps(rate: f64, [from, to]: [f64; 2]) -> u32 {
    ((to - from).abs() * rate - 1e-9).ceil().clamp(1.0, MOST_STEPS) as u32
}

impl Flow {
    /// Carries tracers from one time to another; backwards if the second is earlier. Those that leave the fluid stay
    /// where they left it and are dead.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if a level cannot be read; the tracers are then where they were.
    pub fn advance(
        &self,
        times: [f64; 2],
        tracers: &mut [Tracer],
        run: &Run<'_>,
    ) -> Result<(), Unreadable> {
        match self {
            Self::Analytic(formula) => {
                let steps = steps(formula.rate(), times);
                let interval = Interval { times, steps, frozen: false, sphere: None };
                interval.along(&FormulaSampler(*formula), tracers, run);
            }
            Self::Recorded(recorded) => match &recorded.clock.pieces(times[0], times[1])[..] {
                [piece] => recorded.advance(piece, tracers, run)?,
                pieces => {
                    // A later level may not be readable: nobody is to be left half-way.
                    let mut moving = tracers.to_vec();
                    for piece in pieces {
                        recorded.advance(piece, &mut moving, run)?;
                    }
                    tracers.copy_from_slice(&moving);
                }
            },
        }
        Ok(())
    }

    /// Carries tracers for some time through the flow as it is at one moment; backwards if that is negative.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if a level cannot be read.
    pub fn advance_frozen(
        &self,
        t: f64,
        time: f64,
        tracers: &mut [Tracer],
        run: &Run<'_>,
    ) -> Result<(), Unreadable> {
        let times = [t, t + time];
        match self {
            Self::Analytic(formula) => {
                let steps = steps(formula.rate(), times);
                let interval = Interval { times, steps, frozen: true, sphere: None };
                interval.along(&FormulaSampler(*formula), tracers, run);
            }
            Self::Recorded(recorded) => {
                let mut piece = recorded.clock.pieces(t, t)[0];
                piece.to = t + time;
                let places = || around(tracers.iter().filter(|x| advect::is_alive(x)));
                let pair = recorded.pair(&piece, places, run)?;
                let steps = steps(pair.rate() * recorded.scale(&pair), times);
                let interval =
                    Interval { times, steps, frozen: true, sphere: recorded.sphere.as_ref() };
                pair.advect(interval, tracers, run);
            }
        }
        Ok(())
    }

    /// What can be looked at anywhere beside the velocity: `speed`, and the scalars of a recording.
    #[must_use]
    pub fn channels(&self) -> Vec<String> {
        let scalars = match self {
            Self::Analytic(_) => Vec::new(),
            Self::Recorded(recorded) => recorded.levels.scalars(),
        };
        [SPEED.to_owned(), STRETCH.to_owned()].into_iter().chain(scalars).collect()
    }

    /// True if there is something of that name to be looked at.
    #[must_use]
    pub fn has_channel(&self, name: &str) -> bool {
        self.channels().iter().any(|known| known == name)
    }

    /// Speed or a scalar at some places; not a number outside the fluid, and everywhere if there is none of that name.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if a level cannot be read.
    pub fn channel(
        &self,
        name: &str,
        places: &[[f64; 3]],
        t: f64,
        run: &Run<'_>,
    ) -> Result<Vec<f32>, Unreadable> {
        if let (false, Self::Recorded(recorded)) = (name == SPEED, self) {
            let piece = recorded.clock.pieces(t, t)[0];
            let values = match recorded.scalar(name, &piece, run)? {
                Some(pair) => pair.sampled(places, t, None),
                None => vec![[0.0; 4]; places.len()],
            };
            let of = |v: &[f64; 4]| if v[3] > 0.0 { v[0] as f32 } else { f32::NAN };
            return Ok(values.iter().map(of).collect());
        }
        let velocities = self.velocities(places, t, run)?;
        let speed = |v: &[f64; 4]| (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt() as f32;
        Ok(velocities.iter().map(speed).collect())
    }

    /// Velocity at some places, and the share of fluid there.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if a level cannot be read.
    pub fn velocities(
        &self,
        places: &[[f64; 3]],
        t: f64,
        run: &Run<'_>,
    ) -> Result<Vec<[f64; 4]>, Unreadable> {
        match self {
            Self::Analytic(formula) => Ok(sampled(&FormulaSampler(*formula), places, t, None)),
            Self::Recorded(recorded) => {
                let piece = recorded.clock.pieces(t, t)[0];
                let pair = recorded.pair(&piece, || around(places.iter()), run)?;
                Ok(pair.sampled(places, t, recorded.sphere))
            }
        }
    }

    /// The first and the last recorded time; `None` for formulas, which hold for ever.
    #[must_use]
    pub fn span(&self) -> Option<[f64; 2]> {
        match self {
            Self::Analytic(_) => None,
            Self::Recorded(recorded) => Some(recorded.clock.span()),
        }
    }

    /// True if it lies in a plane, or is one cell thick: a flow in two dimensions.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        match self {
            Self::Analytic(_) => false,
            Self::Recorded(recorded) => recorded.levels.is_flat(),
        }
    }

    /// What stands in it, if that is known better than by its cells.
    #[must_use]
    pub fn walls(&self) -> Option<TriMesh> {
        match self {
            Self::Analytic(_) => None,
            Self::Recorded(recorded) => recorded.levels.walls(),
        }
    }

    /// True if its coordinates are degrees on the sphere.
    #[must_use]
    pub fn is_on_sphere(&self) -> bool {
        matches!(self, Self::Recorded(Recorded { sphere: Some(_), .. }))
    }

    /// The box in which there is a flow worth looking at.
    #[must_use]
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        match self {
            Self::Analytic(formula) => formula.bounds(),
            Self::Recorded(recorded) => recorded.levels.bounds(),
        }
    }
}

/// How fast the flow is somewhere.
const SPEED: &str = "speed";

/// How far a surface was stretched: no property of the flow, but looked at like one.
const STRETCH: &str = "stretch";

impl Recorded {
    /// Carries tracers between two levels.
    fn advance(
        &self,
        piece: &time::Piece,
        tracers: &mut [Tracer],
        run: &Run<'_>,
    ) -> Result<(), Unreadable> {
        let places = || around(tracers.iter().filter(|x| advect::is_alive(x)));
        let pair = self.pair(piece, places, run)?;
        let times = [piece.from, piece.to];
        let steps = steps(pair.rate() * self.scale(&pair), times);
        let interval = Interval { times, steps, frozen: false, sphere: self.sphere.as_ref() };
        pair.advect(interval, tracers, run);
        Ok(())
    }

    /// How much faster the grid is crossed than its numbers say.
    fn scale(&self, pair: &Pair) -> f64 {
        // A lattice knows that its points are degrees.
        if let Pair::Lattice(_) = pair {
            return self.sphere.map_or(1.0, |sphere| sphere.metres);
        }
        let degrees = (180.0 / std::f64::consts::PI) / EARTH_RADIUS;
        // Towards the poles meridians are closer: an allowance up to latitude 80. What rises or sinks crosses layers,
        // whose spacing is in other units, much more slowly than it drifts.
        self.sphere.map_or(1.0, |sphere| sphere.metres * degrees * 6.0)
    }
}

/// One sample a place.
fn sampled<S: Sampler>(
    sampler: &S,
    places: &[[f64; 3]],
    t: f64,
    sphere: Option<Sphere>,
) -> Vec<[f64; 4]> {
    let mut cells = vec![0; places.len()];
    match sphere {
        None => advect::samples(sampler, places, t, &mut cells),
        Some(sphere) => advect::samples(&OnSphere { sampler, sphere }, places, t, &mut cells),
    }
}

//! Recordings as flows: levels from files, sampled as they are needed.

use super::dataset::{Coordinates, Grid};
use super::grid;
use super::recording::Recording;
use super::time::{BadTimes, Clock};
use super::{Flow, Levels, Pair, Recorded, Sphere, Unreadable};
use crate::Run;

/// A recording as a flow; with `looped` its record is a period that repeats.
///
/// # Errors
///
/// [`BadTimes`] if its times do not grow.
pub fn flow(recording: Recording, looped: bool) -> Result<Flow, BadTimes> {
    let clock = Clock::new(recording.times().to_vec())?;
    let clock = if looped { clock.looped() } else { clock };
    // The recording has brought its velocities to lengths a unit of time already.
    let degrees = recording.coordinates() == Coordinates::Degrees;
    let sphere = degrees.then_some(Sphere { metres: 1.0, upward: 1.0 });
    Ok(Flow::Recorded(Recorded::new(clock, Box::new(recording), sphere)))
}

/// True if all of a grid lies in one plane: a flow in two dimensions.
#[must_use]
pub fn is_flat(grid: &Grid) -> bool {
    match grid.dims() {
        Some([_, _, deep]) => deep == 1,
        None => grid.bounds().is_some_and(|(low, high)| low.z == high.z),
    }
}

impl Levels for Recording {
    fn pair(&self, [a, b]: [usize; 2], times: [f64; 2], run: &Run<'_>) -> Result<Pair, Unreadable> {
        let unreadable = |level: usize| {
            move |error: super::recording::RecordingError| Unreadable {
                level,
                source: error.into(),
            }
        };
        let first = self.level(a).map_err(unreadable(a))?;
        let second = self.level(b).map_err(unreadable(b))?;
        let pair = grid::Pair::of_levels([&first, &second], times, self.periodic(), run);
        pair.map(Pair::Grid).map_err(|error| Unreadable { level: a, source: error.into() })
    }

    fn bounds(&self) -> [[f64; 3]; 2] {
        self.grid().bounds().map_or([[0.0; 3]; 2], |(low, high)| [low.to_array(), high.to_array()])
    }
}

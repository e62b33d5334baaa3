//! A recorded flow: levels over time, read when they are asked for.
//!
//! # Method
//!
//! [`Recording::open`] looks at names, times, the first grid and which arrays are the velocity; nothing else is
//! read. [`Recording::level`] reads one moment and keeps the last ones: two are what an integration needs between
//! two times, a third is read ahead meanwhile ([`Recording::read_ahead`]), on a thread of its own, so that waiting for a
//! disk can be given up at any time. Every guess is a sentence in [`Recording::assumed`].
//!
//! With [`Options::memory`] levels are let go as soon as they can be, and of vectors that stand in their file row by row
//! (images, raw numbers) a box of points can be read alone ([`Recording::part`]).
//!
//! Times come from the caller ([`Options::times`]), else from the series (`.pvd`, `.series`, NetCDF), else from the
//! files themselves, else they are 0, 1, 2 … Velocities are in units of length a unit of time: m/s of files whose
//! times are days are multiplied by 86,400.
//!
//! # Limits
//!
//! - The grid is that of the first level: one that changes is refused (`a_grid_that_moves_is_refused`).
//! - Files of a list without times are opened once to look for them, unless they are larger than 1 GiB together.
//!
//! # Example
//!
//! ```no_run
//! use supple::flow::recording::{Options, Recording};
//!
//! let recording = Recording::open(&["swirl.pvd".into()], &Options::default()).unwrap();
//! let level = recording.level(0).unwrap();
//! println!("{} levels, {} points", recording.times().len(), level.velocity.len());
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::DVec3;

use super::shelf::Shelf;
use super::source::{self, Source};
use crate::Run;
use crate::dataset::Coast;
use crate::dataset::{
    ArrayInfo, Coordinates, Dataset, Grid, Level, Part, Select, VelocityError, VelocitySource,
};
use crate::io::ReadError;
use crate::io::netcdf::{Collection, TimeUnits};
use crate::io::rows::Rows;

/// Bytes of files that are opened only to look for their times.
const LOOK_FOR_TIMES: u64 = 1 << 30;

/// How a recording is understood.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Names of the velocity or of its components; empty: found by itself.
    pub velocity: Vec<String>,
    /// Names of scalars that levels carry.
    pub scalars: Vec<String>,
    /// Time of the first level and from one to the next; `None`: as the files say.
    pub times: Option<(f64, f64)>,
    /// What the coordinates are; `None`: as the units say.
    pub coordinates: Option<Coordinates>,
    /// Axes whose end is their beginning.
    pub periodic: [bool; 3],
    /// The axis that is time, of files that hold all times in one grid: 2 is z.
    pub time_axis: Option<usize>,
    /// Whether a series may name files outside its folder.
    pub allow_outside: bool,
    /// Bytes that levels may take in memory; `None`: as many as they do.
    pub memory: Option<u64>,
    /// Of a lattice only every so many points along each axis are taken; 0 and 1: all.
    pub stride: usize,
}

/// Why a recording cannot be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// There is no velocity.
    #[error("{path}: {source}", path = path.display())]
    Velocity {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: VelocityError,
    },
    /// No file was found.
    #[error("{pattern}: there is no such file (check the name; patterns take * and ?)")]
    Missing {
        /// What was looked for.
        pattern: String,
    },
    /// A level has another grid than the first.
    #[error("{path}: its grid is not that of the first level (grids that move or change are not read; resample them to one grid)", path = path.display())]
    Moves {
        /// Which file.
        path: PathBuf,
    },
    /// The times make no sense.
    #[error("{what} (give the times with --times START:STEP)")]
    Times {
        /// What is wrong.
        what: String,
    },
    /// Points of a grid that is no lattice cannot be left out.
    #[error("{path}: its grid is {grid}: points can be left out of lattices alone (leave --stride out)", path = path.display())]
    Stride {
        /// Which file.
        path: PathBuf,
        /// Its kind.
        grid: &'static str,
    },
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// The thread that read it is gone.
    #[error("{path}: reading it ended early (a defect; please report it)", path = path.display())]
    Lost {
        /// Which file.
        path: PathBuf,
    },
    /// The list of files is no recording.
    #[error("{what}")]
    Mixed {
        /// What is wrong, and what to do.
        what: String,
    },
}

/// A unit of time, for reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeUnit {
    /// Its name, such as `days since 2000-01-01`; `None` if no file says it.
    pub name: Option<String>,
    /// Seconds in it; 1 if unknown.
    pub seconds: f64,
    /// What dates its times are, if they count from one.
    pub dates: Option<TimeUnits>,
}

impl TimeUnit {
    /// A time as people read it: its date, else the number with so many decimals and the unit.
    #[must_use]
    pub fn say(&self, time: f64, decimals: usize) -> String {
        let date = self.dates.as_ref().and_then(|dates| dates.date(time));
        date.unwrap_or_else(|| match &self.name {
            Some(name) => format!("t = {time:.decimals$} {name}"),
            None => format!("t = {time:.decimals$}"),
        })
    }
}

/// A recorded flow.
#[derive(Debug)]
pub struct Recording {
    inner: Arc<Inner>,
    shelf: Arc<Shelf>,
}

/// All of a recording that stays as it is.
#[derive(Debug)]
pub(super) struct Inner {
    source: Source,
    times: Vec<f64>,
    unit: TimeUnit,
    velocity: VelocitySource,
    scalars: Vec<String>,
    /// What velocities of the file are multiplied by.
    scale: f32,
    coordinates: Coordinates,
    periodic: [bool; 3],
    /// As files have it, and with points left out.
    whole: Arc<Grid>,
    grid: Arc<Grid>,
    stride: usize,
    memory: Option<u64>,
    coast: Option<Arc<Coast>>,
    contents: Vec<ArrayInfo>,
    assumed: Vec<String>,
}

impl Recording {
    /// Opens files: a series, a pattern, a list, one file.
    ///
    /// # Errors
    ///
    /// [`RecordingError`] with what is wrong, where, and what to do.
    pub fn open(paths: &[PathBuf], options: &Options) -> Result<Self, RecordingError> {
        let mut assumed = Vec::new();
        let mut source = Source::open(paths, options)?;
        let first = source.read(0, Select::Names(&[]))?;
        let contents = first.contents();
        let velocity = VelocitySource::choose(&contents, &options.velocity).map_err(|source_| {
            RecordingError::Velocity { path: source.path(0).to_owned(), source: source_ }
        })?;
        if options.velocity.is_empty() && contents.len() > 1 {
            assumed.push(format!(
                "the velocity is {} (--velocity)",
                velocity.names().join(if matches!(velocity, VelocitySource::Momentum { .. }) {
                    " / "
                } else {
                    ", "
                })
            ));
        }
        let times = times_of(&mut source, &first, options, &mut assumed)?;
        let unit = source.time_unit().unwrap_or(TimeUnit { seconds: 1.0, ..TimeUnit::default() });
        let units = contents.iter().find(|i| Some(&i.name.as_str()) == velocity.names().first());
        let units = units.and_then(|i| i.units.as_deref());
        let coordinates = options.coordinates.unwrap_or(first.coordinates);
        let scale = scale_of(units, &unit, coordinates, &mut assumed);
        if times.len() == 1 {
            assumed.push("one level alone: the flow is steady".to_owned());
        }
        assumed.extend(first.assumed.iter().cloned());
        assumed.dedup();
        let periodic = [0, 1, 2].map(|a| options.periodic[a] || first.periodic[a]);
        let stride = options.stride.max(1);
        let grid = match first.grid.thinned(stride) {
            _ if stride == 1 => Arc::clone(&first.grid),
            Some(grid) => Arc::new(grid),
            None => {
                let (path, grid) = (source.path(0).to_owned(), first.grid.name());
                return Err(RecordingError::Stride { path, grid });
            }
        };
        let inner = Inner {
            source,
            times,
            unit,
            velocity,
            scalars: options.scalars.clone(),
            scale,
            coordinates,
            periodic,
            whole: first.grid,
            grid,
            stride,
            memory: options.memory,
            coast: first.coast,
            contents,
            assumed,
        };
        Ok(Self { inner: Arc::new(inner), shelf: Arc::default() })
    }

    /// Bytes that levels may take in memory.
    #[must_use]
    pub fn memory(&self) -> Option<u64> {
        self.inner.memory
    }

    /// Whether a box of points can be read without the rest of a level.
    ///
    /// # Errors
    ///
    /// [`RecordingError`] if the first level cannot be read.
    pub fn has_parts(&self) -> Result<bool, RecordingError> {
        Ok(self.inner.rows(0)?.is_some() || self.inner.collection().is_some())
    }

    /// When the levels are, rising.
    #[must_use]
    pub fn times(&self) -> &[f64] {
        &self.inner.times
    }

    /// What the times are counted in.
    #[must_use]
    pub fn time_unit(&self) -> &TimeUnit {
        &self.inner.unit
    }

    /// Where values are known.
    #[must_use]
    pub fn grid(&self) -> &Arc<Grid> {
        &self.inner.grid
    }

    /// Cells that are land, and faces nothing crosses.
    #[must_use]
    pub fn coast(&self) -> Option<&Arc<Coast>> {
        self.inner.coast.as_ref()
    }

    /// Whether what is missing is land that the flow slips along: nothing gets beyond its first points.
    #[must_use]
    pub fn slips(&self) -> bool {
        self.inner.source.slips()
    }

    /// What the horizontal coordinates mean.
    #[must_use]
    pub fn coordinates(&self) -> Coordinates {
        self.inner.coordinates
    }

    /// Axes whose end is their beginning.
    #[must_use]
    pub fn periodic(&self) -> [bool; 3] {
        self.inner.periodic
    }

    /// The arrays that are the velocity.
    #[must_use]
    pub fn velocity(&self) -> &VelocitySource {
        &self.inner.velocity
    }

    /// Names of the scalars that levels carry.
    #[must_use]
    pub fn scalars(&self) -> &[String] {
        &self.inner.scalars
    }

    /// All arrays.
    #[must_use]
    pub fn contents(&self) -> &[ArrayInfo] {
        &self.inner.contents
    }

    /// What was guessed or left out, a sentence each.
    #[must_use]
    pub fn assumed(&self) -> &[String] {
        &self.inner.assumed
    }

    /// The file of a level.
    #[must_use]
    pub fn path(&self, level: usize) -> &Path {
        self.inner.source.path(level)
    }

    /// All files that levels are read from, as far as names and headers tell.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        self.inner.source.files()
    }

    /// A level, from memory if it is one of the last.
    ///
    /// # Errors
    ///
    /// [`RecordingError`] if its file cannot be read, or has another grid.
    ///
    /// # Panics
    ///
    /// If there is no such level.
    pub fn level(&self, level: usize) -> Result<Arc<Level>, RecordingError> {
        self.part(level, None, &Run::default())
    }

    /// A box of points of a level, or all of it; at least what is asked for, if more is in memory.
    ///
    /// # Errors
    ///
    /// As [`level`](Self::level), and [`RecordingError::Cancelled`] if the run is.
    ///
    /// # Panics
    ///
    /// If there is no such level.
    pub fn part(
        &self,
        level: usize,
        part: Option<&Part>,
        run: &Run<'_>,
    ) -> Result<Arc<Level>, RecordingError> {
        assert!(level < self.inner.times.len(), "level {level} of {}", self.inner.times.len());
        self.shelf.get(&self.inner, level, part, run)
    }

    /// Every so many points of a level along each axis, beside those that are kept.
    ///
    /// # Errors
    ///
    /// [`RecordingError`] if its file cannot be read, or has another grid.
    pub fn glance(&self, level: usize, stride: usize) -> Result<Level, RecordingError> {
        self.inner.glance(level, stride)
    }

    /// Begins to read a level, unless that was begun.
    pub fn read_ahead(&self, level: usize, part: Option<&Part>) {
        if level < self.inner.times.len() {
            self.shelf.begin(&self.inner, level, part);
        }
    }

    /// Lets a level go.
    pub fn forget(&self, level: usize) {
        self.shelf.forget(level);
    }

    /// What is in it, for people and machines; reads the first level.
    ///
    /// # Errors
    ///
    /// [`RecordingError`] if the first level cannot be read.
    pub fn summary(&self) -> Result<Summary, RecordingError> {
        let level = self.level(0)?;
        Ok(Summary {
            grid: self.inner.grid.name(),
            dims: self.inner.grid.dims(),
            points: self.inner.grid.point_count(),
            cells: self.inner.grid.cell_count(),
            bounds: self.inner.grid.bounds(),
            masked: level.masked(),
            bytes_a_level: 16 * level.velocity.len()
                + level.scalars.iter().map(|(_, s)| 4 * s.len()).sum::<usize>(),
        })
    }
}

impl Inner {
    /// The file of a level.
    pub(super) fn path(&self, level: usize) -> &Path {
        self.source.path(level)
    }

    /// Where the velocity of a level stands in its file, if it does so row by row.
    fn rows(&self, level: usize) -> Result<Option<Rows>, RecordingError> {
        let (VelocitySource::Vector(name), []) = (&self.velocity, &self.scalars[..]) else {
            return Ok(None);
        };
        let Some((rows, grid)) = self.source.rows(level, name)? else { return Ok(None) };
        if grid != *self.whole {
            return Err(RecordingError::Moves { path: self.path(level).to_owned() });
        }
        Ok(Some(rows))
    }

    /// Reads a level, or a box of its points.
    pub(super) fn read(&self, level: usize, part: Option<&Part>) -> Result<Level, RecordingError> {
        let mut made = match (self.rows(level)?, self.collection(), part) {
            (Some(rows), ..) => self.on_part(part, |part| rows.read(part, self.stride))?,
            (None, Some(files), Some(_)) => {
                self.on_part(part, |part| files.part(level, part, self.stride))?
            }
            _ => self.read_whole(level)?,
        };
        if self.scale != 1.0 {
            made.velocity.iter_mut().for_each(|v| v[..3].iter_mut().for_each(|x| *x *= self.scale));
        }
        Ok(made)
    }

    /// Files that hand out boxes of points.
    fn collection(&self) -> Option<&Collection> {
        self.source.collection().filter(|_| self.scalars.is_empty())
    }

    /// A box of points, or all, read by their numbers in the file.
    fn on_part(
        &self,
        part: Option<&Part>,
        read: impl FnOnce(&Part) -> Result<Vec<[f32; 4]>, ReadError>,
    ) -> Result<Level, RecordingError> {
        let dims = self.grid.dims().unwrap_or([1; 3]);
        let all = dims.map(|n| 0..n);
        let part = part.unwrap_or(&all);
        let in_file = [0, 1, 2].map(|a| {
            let last = part[a].end.saturating_sub(1) * self.stride;
            part[a].start * self.stride..last + 1
        });
        let velocity = read(&in_file)?;
        let grid = if *part == all {
            Arc::clone(&self.grid)
        } else {
            self.grid.cropped(part).map_or_else(|| Arc::clone(&self.grid), Arc::new)
        };
        Ok(Level { grid, velocity, scalars: Vec::new() })
    }

    fn glance(&self, level: usize, stride: usize) -> Result<Level, RecordingError> {
        let every = self.stride * stride;
        let Some((grid, dims)) = self.whole.thinned(every).zip(self.whole.dims()) else {
            return self.read(level, None);
        };
        let all = dims.map(|n| 0..n);
        let mut velocity = match (self.rows(level)?, self.collection()) {
            (Some(rows), _) => rows.read(&all, every)?,
            (None, Some(files)) => files.part(level, &all, every)?,
            (None, None) => return self.read(level, None),
        };
        velocity.iter_mut().for_each(|v| v[..3].iter_mut().for_each(|x| *x *= self.scale));
        Ok(Level { grid: Arc::new(grid), velocity, scalars: Vec::new() })
    }

    fn read_whole(&self, level: usize) -> Result<Level, RecordingError> {
        let path = || self.source.path(level).to_owned();
        let mut wanted: Vec<String> =
            self.velocity.names().into_iter().map(str::to_owned).collect();
        wanted.extend(self.scalars.iter().cloned());
        let mut dataset = self.source.read(level, Select::Names(&wanted))?;
        if !Arc::ptr_eq(&dataset.grid, &self.whole) && dataset.grid != self.whole {
            return Err(RecordingError::Moves { path: path() });
        }
        dataset.grid = Arc::clone(&self.whole);
        let made = dataset.level(&self.velocity, &self.scalars);
        let made = made.map_err(|source| RecordingError::Velocity { path: path(), source })?;
        Ok(if self.stride == 1 { made } else { made.thinned(self.stride, &self.grid) })
    }
}

/// Reads one file of any kind, its first moment, with all arrays.
///
/// # Errors
///
/// [`RecordingError`] with what is wrong, where, and what to do.
pub fn read(path: &Path, options: &Options) -> Result<Dataset, RecordingError> {
    let source = Source::open(&[path.to_owned()], options)?;
    Ok(source.read(0, Select::All)?)
}

/// Whether a name is that of a recorded flow rather than of a mesh: a pattern, a kind of file that holds flow, or a
/// legacy VTK file that is not polydata.
#[must_use]
pub fn is_flow(path: &Path) -> bool {
    source::is_flow(path)
}

/// Figures of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Kind of grid.
    pub grid: &'static str,
    /// Points along the axes of a lattice.
    pub dims: Option<[usize; 3]>,
    /// Points in all.
    pub points: usize,
    /// Cells in all.
    pub cells: usize,
    /// The box around all points.
    pub bounds: Option<(DVec3, DVec3)>,
    /// Share of points of the first level where no velocity is known.
    pub masked: f64,
    /// Memory a level takes.
    pub bytes_a_level: usize,
}

/// The times of all levels; sorts the source by them.
fn times_of(
    source: &mut Source,
    first: &Dataset,
    options: &Options,
    assumed: &mut Vec<String>,
) -> Result<Vec<f64>, RecordingError> {
    let count = source.len();
    if let Some((levels, file)) = source.in_parts() {
        let file = file.display();
        assumed.push(format!(
            "files with one time are parts of one level: {levels} levels ({file} …)"
        ));
    }
    if let Some((start, step)) = options.times {
        if !(start.is_finite() && step.is_finite() && step > 0.0) {
            let what = format!("times from {start} in steps of {step} do not rise");
            return Err(RecordingError::Times { what });
        }
        return Ok((0..count).map(|k| start + step * k as f64).collect());
    }
    let own = match source.times() {
        Some(times) => Some(times),
        None if count == 1 => Some(vec![first.time.unwrap_or(0.0)]),
        None => times_of_files(source, first, assumed)?,
    };
    let Some(mut times) = own else {
        assumed.push("the times are 0, 1, 2 …: no file says them (--times START:STEP)".to_owned());
        return Ok((0..count).map(|k| k as f64).collect());
    };
    if let Some(bad) = times.iter().position(|t| !t.is_finite()) {
        let what = format!("{}: its time is not a number", source.path(bad).display());
        return Err(RecordingError::Times { what });
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
    let doubled = order.windows(2).filter(|w| times[w[0]] == times[w[1]]).map(|w| w[1]);
    let doubled: Vec<usize> = doubled.collect();
    if !doubled.is_empty() {
        let again = source.path(doubled[0]).display();
        let n = doubled.len();
        assumed
            .push(format!("levels with the time of the one before are left out: {n} ({again} …)"));
        order.retain(|k| !doubled.contains(k));
    }
    source.reorder(&order);
    times = order.iter().map(|&k| times[k]).collect();
    Ok(times)
}

/// The times that the files of a list say themselves, if all do.
fn times_of_files(
    source: &Source,
    first: &Dataset,
    assumed: &mut Vec<String>,
) -> Result<Option<Vec<f64>>, RecordingError> {
    if first.time.is_none() {
        return Ok(None);
    }
    if source.bytes() > LOOK_FOR_TIMES {
        assumed.push("the times of files larger than 1 GiB together are not looked for".to_owned());
        return Ok(None);
    }
    let mut times = Vec::with_capacity(source.len());
    for level in 0..source.len() {
        let Some(time) = source.read(level, Select::Names(&[]))?.time else { return Ok(None) };
        times.push(time);
    }
    let differ = times.iter().any(|t| *t != times[0]);
    Ok(differ.then_some(times))
}

/// What velocities of a file are multiplied by to be lengths a unit of time.
fn scale_of(
    units: Option<&str>,
    time: &TimeUnit,
    coordinates: Coordinates,
    assumed: &mut Vec<String>,
) -> f32 {
    let known = units.and_then(source::metres_a_second);
    match (known, units) {
        (Some(speed), _) => {
            if time.name.is_none() && coordinates == Coordinates::Degrees {
                assumed.push("times are seconds: no file says their unit".to_owned());
            }
            (speed * time.seconds) as f32
        }
        (None, Some(units)) => {
            assumed.push(format!(
                "the unit of the velocity, '{units}', is not known: taken as lengths a unit of time"
            ));
            1.0
        }
        (None, None) => {
            if coordinates == Coordinates::Degrees {
                assumed.push("velocities are m/s: no file says their unit".to_owned());
                return time.seconds as f32;
            }
            if time.name.is_some() && time.seconds != 1.0 {
                assumed.push(
                    "velocities are lengths a unit of time: no file says their unit".to_owned(),
                );
            }
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Array, Centering};
    use crate::io::vtk_xml;

    fn write(folder: &Path, name: &str, dataset: &Dataset) {
        crate::io::save(&folder.join(name), |out| vtk_xml::write(dataset, out)).unwrap();
    }

    fn uniform(value: f32, time: Option<f64>, origin: f64) -> Dataset {
        let grid = Grid::Uniform { dims: [2, 2, 2], origin: [origin; 3], spacing: [1.0; 3] };
        let values = [value, 0.0, 0.0].repeat(8);
        let p = Array::new("p", 1, Centering::Point, vec![value; 8]);
        let arrays = vec![Array::new("U", 3, Centering::Point, values), p];
        Dataset { time, ..Dataset::new(grid, arrays) }
    }

    fn open(folder: &Path, names: &[&str]) -> Result<Recording, RecordingError> {
        let paths: Vec<PathBuf> = names.iter().map(|n| folder.join(n)).collect();
        Recording::open(&paths, &Options::default())
    }

    #[test]
    fn a_series_has_its_times_in_order_and_two_levels_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        for k in 0..4 {
            write(folder.path(), &format!("u.{k}.vti"), &uniform(k as f32, None, 0.0));
        }
        let entries: Vec<_> =
            [2, 0, 1, 3].map(|k| (f64::from(k) * 0.5, format!("u.{k}.vti"))).into();
        let pvd = folder.path().join("u.pvd");
        crate::io::save(&pvd, |out| crate::io::vtp::write_series(&entries, out)).unwrap();
        let recording = open(folder.path(), &["u.pvd"]).unwrap();
        assert_eq!(recording.times(), [0.0, 0.5, 1.0, 1.5]);
        for k in [0, 1, 2, 3, 2] {
            let level = recording.level(k).unwrap();
            assert_eq!(level.velocity[5], [k as f32, 0.0, 0.0, 1.0]);
            assert!(Arc::ptr_eq(&level.grid, recording.grid()), "one grid");
            assert!(recording.shelf.len() <= 3, "two levels and one ahead");
        }
    }

    #[test]
    fn patterns_are_in_the_order_of_their_numbers_and_times_are_guessed_aloud() {
        let folder = tempfile::tempdir().unwrap();
        for k in [1, 2, 10] {
            write(folder.path(), &format!("u.{k}.vti"), &uniform(k as f32, None, 0.0));
        }
        let recording = open(folder.path(), &["u.*.vti"]).unwrap();
        assert_eq!(recording.times(), [0.0, 1.0, 2.0]);
        assert_eq!(recording.level(2).unwrap().velocity[0][0], 10.0);
        assert!(recording.assumed().iter().any(|a| a.contains("0, 1, 2")), "said");
        let options = Options { times: Some((1.0, 0.1)), ..Options::default() };
        let again = Recording::open(&[folder.path().join("u.*.vti")], &options).unwrap();
        assert_eq!(again.times(), [1.0, 1.1, 1.2]);
    }

    #[test]
    fn files_that_say_their_time_are_sorted_by_it() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a.vti", &uniform(3.0, Some(3.0), 0.0));
        write(folder.path(), "b.vti", &uniform(1.0, Some(1.0), 0.0));
        write(folder.path(), "c.vti", &uniform(9.0, Some(3.0), 0.0));
        let recording = open(folder.path(), &["a.vti", "b.vti", "c.vti"]).unwrap();
        assert_eq!(recording.times(), [1.0, 3.0]);
        assert_eq!(recording.level(1).unwrap().velocity[0][0], 3.0);
        assert!(
            recording.assumed().iter().any(|a| a.contains("c.vti")),
            "{:?}",
            recording.assumed()
        );
    }

    #[test]
    fn a_grid_that_moves_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "u.0.vti", &uniform(0.0, None, 0.0));
        write(folder.path(), "u.1.vti", &uniform(1.0, None, 0.5));
        let recording = open(folder.path(), &["u.*.vti"]).unwrap();
        let error = recording.level(1).unwrap_err().to_string();
        assert!(error.contains("u.1.vti") && error.contains("grid"), "{error}");
    }

    #[test]
    fn what_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = open(folder.path(), &["no.*.vti"]).unwrap_err().to_string();
        assert!(error.contains("no.*.vti"), "{error}");
        let error = open(folder.path(), &["none.vti"]).unwrap_err().to_string();
        assert!(error.contains("none.vti"), "{error}");
        std::fs::write(folder.path().join("a.cgns"), b"x").unwrap();
        let error = open(folder.path(), &["a.cgns"]).unwrap_err().to_string();
        assert!(error.contains("CGNS"), "{error}");
    }

    #[test]
    fn velocities_of_days_are_lengths_a_day() {
        let mut said = Vec::new();
        let days = TimeUnit { name: Some("days".to_owned()), seconds: 86400.0, dates: None };
        let scale = scale_of(Some("cm s-1"), &days, Coordinates::Degrees, &mut said);
        assert_eq!(scale, 864.0);
        assert!(said.is_empty(), "{said:?}");
        assert_eq!(scale_of(Some("furlongs"), &days, Coordinates::Metres, &mut said), 1.0);
        assert!(said[0].contains("furlongs"), "{said:?}");
    }
}

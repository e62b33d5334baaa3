//! Recordings as flows: levels from files, two at a time, ready to be sampled on the grid they have.
//!
//! # Method
//!
//! While tracers are carried between two levels the next one is read. With a budget ([`Options::memory`]) the level that
//! was left behind is let go first; if three levels do not fit, only a box of points is read around what is carried,
//! from files in which that can be found. How far smoke can get is known once the box is read: nothing crosses more
//! cells than the fastest point in it. If that leads out of the box it is read again, larger.
//!
//! # Limits
//!
//! Looking at a flow that does not fit (to choose a seed line) takes every so many points of it.
//!
//! [`Options::memory`]: super::recording::Options::memory

use std::sync::{Arc, Mutex, PoisonError};

use super::curvilinear::Lattice;
use super::recording::{Recording, RecordingError};
use super::time::{BadTimes, Clock, Piece};
use super::unstructured::{Mesh, MeshError};
use super::{Flow, Levels, Pair, Recorded, Region, Sphere, Thrift, Unreadable, grid, searched};
use crate::Run;
use crate::dataset::{Coordinates, Grid, Level, Part};

/// Bytes a point takes: both levels of a pair interleaved, one level beside it, one on its way.
const BYTES_A_POINT: u64 = 32 + 16 + 16;

/// And what reading a file takes that must be read as a whole: its bytes, its numbers, its vectors.
const BYTES_TO_READ: u64 = 36;

/// Why a recording is no flow.
#[derive(Debug, thiserror::Error)]
pub enum NoFlow {
    /// Its grid cannot be sampled.
    #[error(transparent)]
    Grid(#[from] MeshError),
    /// Its times do not grow.
    #[error(transparent)]
    Times(#[from] BadTimes),
    /// Its first level cannot be read.
    #[error(transparent)]
    Read(#[from] RecordingError),
    /// It does not fit.
    #[error(transparent)]
    Memory(#[from] TooLarge),
}

/// More memory is needed than is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} takes {} MB of memory, {} MB are allowed (give --memory {}M, or take every second point along each axis: --stride 2)",
    megabytes(*need), budget / 1_000_000, megabytes(*need)
)]
pub struct TooLarge {
    /// What is too large.
    pub what: &'static str,
    /// Bytes it takes.
    pub need: u64,
    /// Bytes that are allowed.
    pub budget: u64,
}

fn megabytes(bytes: u64) -> u64 {
    bytes.div_ceil(1_000_000)
}

/// A grid that places are searched in.
#[derive(Debug)]
enum CellSearch {
    /// Along axes, prepared with each pair.
    Axes,
    Mesh(Arc<Mesh>),
    Lattice(Arc<Lattice>),
}

#[derive(Debug)]
struct FileLevels {
    recording: Recording,
    place: CellSearch,
    looped: bool,
    is_flat: bool,
    window: Option<Window>,
}

/// Of a level that does not fit, the part that is reached.
#[derive(Debug)]
struct Window {
    /// Where points are along each axis, rising.
    axes: [Vec<f64>; 3],
    /// Metres of a velocity are so many units of a coordinate, at most.
    scale: f64,
    budget: u64,
    /// Cells a unit of time, as the last pair had it.
    rate: Mutex<f64>,
}

/// A recording as a flow; with `looped` its record is a period that repeats.
///
/// # Errors
///
/// [`NoFlow`] if its grid cannot be sampled, its times do not grow, or it takes more memory than it may.
pub fn flow(recording: Recording, looped: bool) -> Result<Flow, NoFlow> {
    let window = window(&recording)?;
    let grid = recording.grid();
    let place = match &**grid {
        Grid::Uniform { .. } | Grid::Rectilinear { .. } => CellSearch::Axes,
        Grid::Curvilinear { .. } => {
            let lattice = Lattice::new(grid)?;
            let coast = recording.coast().cloned();
            CellSearch::Lattice(Arc::new(lattice.with_coast(coast, recording.coordinates())))
        }
        Grid::Unstructured { .. } => CellSearch::Mesh(Arc::new(Mesh::new(grid)?)),
    };
    let clock = Clock::new(recording.times().to_vec())?;
    let clock = if looped { clock.looped() } else { clock };
    // The recording has brought its velocities to lengths a unit of time already.
    let degrees = recording.coordinates() == Coordinates::Degrees;
    let sphere = degrees.then_some(Sphere { metres: 1.0, upward: 1.0 });
    let is_flat = is_flat(recording.grid());
    let levels = FileLevels { recording, place, looped, is_flat, window };
    Ok(Flow::Recorded(Recorded::new(clock, Box::new(levels), sphere)))
}

/// How to do with the memory that is allowed; `None` if there is enough.
fn window(recording: &Recording) -> Result<Option<Window>, NoFlow> {
    let Some(budget) = recording.memory() else { return Ok(None) };
    let grid = recording.grid();
    let points = grid.point_count() as u64;
    let has_parts = recording.has_parts()?;
    let static_bytes = match &**grid {
        Grid::Uniform { .. } | Grid::Rectilinear { .. } => 0,
        // The points, and the bins they are found by.
        Grid::Curvilinear { .. } => points * 72,
        // Twelve tetrahedra of a hundred bytes for eight corners.
        Grid::Unstructured { cells, .. } => cells.corners.len() as u64 * 150,
    };
    let a_point = BYTES_A_POINT + if has_parts { 0 } else { BYTES_TO_READ };
    let need = points * a_point + static_bytes;
    if need <= budget {
        return Ok(None);
    }
    let rises = |axis: &Vec<f64>| axis.windows(2).all(|w| w[0] < w[1]);
    let axes = grid.axes().filter(|axes| axes.iter().all(rises));
    match axes {
        Some(axes) if has_parts && recording.periodic() == [false; 3] => {
            let degrees = recording.coordinates() == Coordinates::Degrees;
            // As for steps: up to latitude 80.
            let degree = (180.0 / std::f64::consts::PI) / super::EARTH_RADIUS;
            let scale = if degrees { 6.0 * degree } else { 1.0 };
            Ok(Some(Window { axes, scale, budget, rate: Mutex::new(0.0) }))
        }
        _ => Err(TooLarge { what: "this flow", need, budget }.into()),
    }
}

impl Window {
    fn last_rate(&self) -> std::sync::MutexGuard<'_, f64> {
        self.rate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The points around a region, and so many more on each side.
    fn part(&self, [low, high]: Region, margin: f64) -> Part {
        [0, 1, 2].map(|a| {
            let last = self.axes[a].len() - 1;
            let margin = margin.ceil().clamp(0.0, 1e9) as usize;
            let from = self.below(a, low[a]).saturating_sub(margin);
            let to = (self.below(a, high[a]) + 1).saturating_add(margin).min(last);
            // A cell at least, for what lies on an edge.
            from.min(last.saturating_sub(1))..to.max(1).min(last) + 1
        })
    }

    /// The last point not beyond a place.
    fn below(&self, a: usize, x: f64) -> usize {
        self.axes[a].partition_point(|&at| at <= x).saturating_sub(1)
    }

    /// The point nearest to a place.
    fn nearest(&self, a: usize, x: f64) -> usize {
        let axis = &self.axes[a];
        let below = self.below(a, x);
        match axis.get(below + 1) {
            Some(next) if next - x < x - axis[below] => below + 1,
            _ => below,
        }
    }

    fn bytes(part: &Part) -> u64 {
        part.iter().map(|r| r.len() as u64).product::<u64>() * BYTES_A_POINT
    }

    /// Whether nothing that begins in a region leaves a part in a time.
    fn holds(&self, part: &Part, region: Region, reach: f64) -> bool {
        let needed = self.part(region, reach);
        (0..3).all(|a| part[a].start <= needed[a].start && needed[a].end <= part[a].end)
    }
}

/// How long a piece of time may last: from level to level, or as long as it is asked for.
fn duration(piece: &Piece) -> f64 {
    let between = piece.times[1] - piece.times[0];
    let asked = (piece.to - piece.from).abs();
    if between.is_finite() { between.max(asked) } else { asked }
}

/// True if all of a grid lies in one plane, or is one cell thick: a flow in two dimensions.
fn is_flat(grid: &Grid) -> bool {
    let Some((low, high)) = grid.bounds() else { return false };
    let thick = high.z - low.z;
    let is_thin = thick < 0.5 * (high - low).truncate().min_element();
    match grid {
        // OpenFOAM's flows in two dimensions: points on two planes.
        Grid::Unstructured { points, .. } => {
            let off = |p: &glam::DVec3| (p.z - low.z).abs().min((high.z - p.z).abs());
            thick == 0.0 || is_thin && points.iter().all(|p| off(p) < 1e-6 * thick)
        }
        _ => grid.dims().is_some_and(|[_, _, deep]| deep == 1 || deep == 2 && is_thin),
    }
}

impl FileLevels {
    fn read(
        &self,
        level: usize,
        part: Option<&Part>,
        run: &Run<'_>,
    ) -> Result<Arc<Level>, Unreadable> {
        let read = self.recording.part(level, part, run);
        read.map_err(|source| Unreadable { level, source: Box::new(source) })
    }

    /// Two levels of values at the points, four numbers each, ready to be sampled.
    fn ready(
        &self,
        both: [&Level; 2],
        level: usize,
        times: [f64; 2],
        run: &Run<'_>,
    ) -> Result<Pair, Unreadable> {
        let values = both.map(|level| &level.velocity[..]);
        match &self.place {
            CellSearch::Axes => {
                let periodic = self.recording.periodic();
                let pair = grid::Pair::of_levels(both, times, periodic, run);
                pair.map(Pair::Grid).map_err(|e| Unreadable { level, source: Box::new(e) })
            }
            CellSearch::Mesh(mesh) => {
                let pair = searched::Pair::new(mesh, values, times);
                pair.map(Pair::Mesh).map_err(|e| Unreadable { level, source: Box::new(e) })
            }
            CellSearch::Lattice(lattice) => {
                let pair = searched::Pair::new(lattice, values, times);
                pair.map(Pair::Lattice).map_err(|e| Unreadable { level, source: Box::new(e) })
            }
        }
    }

    /// The level that comes after those of a piece, in the direction of time.
    fn next(&self, piece: &Piece) -> Option<usize> {
        let count = self.recording.times().len();
        let next = if piece.to < piece.from {
            piece.levels[0].checked_sub(1).or(self.looped.then(|| count - 1))
        } else {
            let next = piece.levels[1] + 1;
            if next < count { Some(next) } else { self.looped.then_some(0) }
        };
        next.filter(|next| !piece.levels.contains(next) && count > 1)
    }

    /// Begins the next level, and lets go what is behind.
    fn go_on(&self, piece: &Piece, part: Option<&Part>) {
        // A look at one moment says nothing of where time goes.
        let Some(next) = self.next(piece).filter(|_| piece.from != piece.to) else { return };
        if self.recording.memory().is_some() && piece.levels[0] != piece.levels[1] {
            let behind = usize::from(piece.to < piece.from);
            self.recording.forget(piece.levels[behind]);
        }
        self.recording.read_ahead(next, part);
    }

    /// A pair on a part of the grid, large enough for what begins in a region.
    fn pair_in_window(
        &self,
        window: &Window,
        piece: &Piece,
        region: Region,
        run: &Run<'_>,
    ) -> Result<Pair, Unreadable> {
        let level = piece.levels[0];
        let lasts = duration(piece);
        // A little more than the last pair needed, for this one and for what is read ahead.
        let mut reach = 1.25 * *window.last_rate() * lasts + 2.0;
        loop {
            let part = window.part(region, reach);
            let need = Window::bytes(&part);
            if need > window.budget {
                if piece.from == piece.to {
                    return self.glance(window, piece, run);
                }
                let what = "the part of a level that smoke can reach before the next one";
                let large = TooLarge { what, need, budget: window.budget };
                return Err(Unreadable { level, source: Box::new(large) });
            }
            let levels = [0, 1].map(|k| self.read(piece.levels[k], Some(&part), run));
            let [a, b] = levels;
            let both = [self.within(&a?, window, &part), self.within(&b?, window, &part)];
            let pair = grid::Pair::of_levels([&both[0], &both[1]], piece.times, [false; 3], run);
            let pair = pair.map_err(|e| Unreadable { level, source: Box::new(e) })?;
            let rate = pair.rate() * window.scale;
            if piece.from == piece.to || window.holds(&part, region, rate * lasts + 1.0) {
                *window.last_rate() = rate;
                // Where smoke may be two levels later.
                let ahead = window.part(region, 3.0 * (1.25 * rate * lasts + 2.0));
                if Window::bytes(&ahead) <= window.budget {
                    self.go_on(piece, Some(&ahead));
                }
                return Ok(Pair::Grid(pair));
            }
            reach = 1.1 * rate * lasts + 2.0;
        }
    }

    /// Every so many points of two levels that do not fit.
    fn glance(&self, window: &Window, piece: &Piece, run: &Run<'_>) -> Result<Pair, Unreadable> {
        let level = piece.levels[0];
        let mut stride = 2;
        let points =
            |n: usize| window.axes.iter().map(|x| x.len().div_ceil(n) as u64).product::<u64>();
        while points(stride) * BYTES_A_POINT > window.budget {
            if points(stride) <= 8 {
                let (what, need) = ("a look at this flow", points(stride) * BYTES_A_POINT);
                let large = TooLarge { what, need, budget: window.budget };
                return Err(Unreadable { level, source: Box::new(large) });
            }
            stride += 1;
        }
        let read = |level: usize| {
            let read = self.recording.glance(level, stride);
            read.map_err(|source| Unreadable { level, source: Box::new(source) })
        };
        let both = [read(piece.levels[0])?, read(piece.levels[1])?];
        let pair = grid::Pair::of_levels([&both[0], &both[1]], piece.times, [false; 3], run);
        pair.map(Pair::Grid).map_err(|e| Unreadable { level, source: Box::new(e) })
    }

    /// A part of a level that holds at least these points. Its places are those of the whole grid: which larger part was at
    /// hand depends on how fast files are read, and must not change a bit.
    fn within(&self, level: &Arc<Level>, window: &Window, part: &Part) -> Arc<Level> {
        let Some(dims) = level.grid.dims() else { return Arc::clone(level) };
        let origin = level.grid.point(0).to_array();
        let first = [0, 1, 2].map(|a| window.nearest(a, origin[a]));
        let own = [0, 1, 2].map(|a| {
            part[a].start - first[a].min(part[a].start)..part[a].end - first[a].min(part[a].end)
        });
        if (0..3).all(|a| own[a] == (0..dims[a])) {
            return Arc::clone(level);
        }
        let mut velocity = Vec::with_capacity(own.iter().map(ExactSizeIterator::len).product());
        for k in own[2].clone() {
            for j in own[1].clone() {
                let row = (k * dims[1] + j) * dims[0];
                velocity.extend_from_slice(&level.velocity[row + own[0].start..row + own[0].end]);
            }
        }
        let whole = self.recording.grid();
        let grid = whole.cropped(part).map_or_else(|| Arc::clone(&level.grid), Arc::new);
        Arc::new(Level { grid, velocity, scalars: Vec::new() })
    }
}

impl Levels for FileLevels {
    fn pair(&self, levels: [usize; 2], times: [f64; 2], run: &Run<'_>) -> Result<Pair, Unreadable> {
        let both = [self.read(levels[0], None, run)?, self.read(levels[1], None, run)?];
        self.ready([&both[0], &both[1]], levels[0], times, run)
    }

    fn bounds(&self) -> [[f64; 3]; 2] {
        let bounds = self.recording.grid().bounds();
        bounds.map_or([[0.0; 3]; 2], |(low, high)| [low.to_array(), high.to_array()])
    }

    fn is_flat(&self) -> bool {
        self.is_flat
    }

    fn scalars(&self) -> Vec<String> {
        self.recording.scalars().to_vec()
    }

    fn scalar(
        &self,
        name: &str,
        levels: [usize; 2],
        times: [f64; 2],
        run: &Run<'_>,
    ) -> Result<Option<Pair>, Unreadable> {
        let both = [self.read(levels[0], None, run)?, self.read(levels[1], None, run)?];
        let of = |level: &Level| {
            let values = level.scalars.iter().find(|(known, _)| known == name)?;
            let point = |v: &f32| if v.is_finite() { [*v, 0.0, 0.0, 1.0] } else { [0.0; 4] };
            let velocity = values.1.iter().map(point).collect();
            Some(Level { grid: Arc::clone(&level.grid), velocity, scalars: Vec::new() })
        };
        let (Some(a), Some(b)) = (of(&both[0]), of(&both[1])) else { return Ok(None) };
        self.ready([&a, &b], levels[0], times, run).map(Some)
    }

    fn pair_near(
        &self,
        piece: &Piece,
        region: Option<Region>,
        run: &Run<'_>,
    ) -> Result<Pair, Unreadable> {
        if let (Some(window), Some(region)) = (&self.window, region) {
            return self.pair_in_window(window, piece, region, run);
        }
        if let Some(window) = &self.window {
            // Nothing is alive: any part will do.
            let corner = [0, 1, 2].map(|a| window.axes[a][0]);
            return self.pair_in_window(window, piece, [corner; 2], run);
        }
        let pair = self.pair(piece.levels, piece.times, run)?;
        self.go_on(piece, None);
        Ok(pair)
    }

    fn covers(&self, pair: &Pair, piece: &Piece, region: Region) -> bool {
        let (Some(window), Pair::Grid(pair)) = (&self.window, pair) else { return true };
        let axes = pair.axes();
        let part = [0, 1, 2].map(|a| {
            let [first, last] = axes[a].ends().map(|x| window.nearest(a, x));
            first..last + 1
        });
        // What was glanced at has fewer points.
        let is_whole = (0..3).all(|a| axes[a].nodes().len() == part[a].len());
        let reach = pair.rate() * window.scale * (piece.to - piece.from).abs();
        is_whole && window.holds(&part, region, reach + 0.01)
    }

    fn thrift(&self) -> Thrift {
        match (&self.window, self.recording.memory()) {
            (Some(_), _) => Thrift::Parts,
            (None, Some(_)) => Thrift::Levels,
            (None, None) => Thrift::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Array, Centering, Dataset};
    use crate::flow::advect;
    use crate::flow::recording::Options;
    use crate::io::{self, vtk_xml, vtp};

    /// v = (1 + t/2) (S x, 0.2) at t = 0, 1, 2, 3 (MATHS supplement, swirl).
    fn swirl(grid: &Grid, t: f64) -> Dataset {
        let values = (0..grid.point_count()).flat_map(|i| {
            let p = grid.point(i);
            let g = 1.0 + 0.5 * t;
            [g * (0.3 * p.x - p.y), g * (p.x - 0.3 * p.y), 0.2 * g].map(|x| x as f32)
        });
        let array = Array::new("velocity", 3, Centering::Point, values.collect());
        Dataset::new(grid.clone(), vec![array])
    }

    /// x = exp(S g) x₀ with g = t + t²/4; S² = −(1 − 0.09) I.
    fn expected(x: [f64; 3], t: f64) -> [f64; 3] {
        let g = t + 0.25 * t * t;
        let w = 0.91_f64.sqrt();
        let (sin, cos) = libm::sincos(w * g);
        let [a, b] = [0.3 * x[0] - x[1], x[0] - 0.3 * x[1]];
        [cos * x[0] + sin / w * a, cos * x[1] + sin / w * b, x[2] + 0.2 * g]
    }

    fn flow_of(grid: &Grid) -> Flow {
        let folder = tempfile::tempdir().unwrap();
        let mut entries = Vec::new();
        for k in 0..4 {
            let name = format!("swirl.{k}.{}", vtk_xml::ending(grid));
            let dataset = swirl(grid, f64::from(k));
            io::save(&folder.path().join(&name), |out| vtk_xml::write(&dataset, out)).unwrap();
            entries.push((f64::from(k), name));
        }
        let series = folder.path().join("swirl.pvd");
        io::save(&series, |out| vtp::write_series(&entries, out)).unwrap();
        let recording = Recording::open(&[series], &Options::default()).unwrap();
        // Files are read when levels are asked for: keep them till then.
        let _ = folder.keep();
        flow(recording, false).unwrap()
    }

    #[test]
    fn swirl_is_followed_exactly_on_every_kind_of_grid() {
        let uniform =
            Grid::Uniform { dims: [17, 17, 9], origin: [-4.0, -4.0, -1.0], spacing: [0.5; 3] };
        let points: Vec<glam::DVec3> =
            (0..uniform.point_count()).map(|i| uniform.point(i)).collect();
        let cells = uniform.to_cells();
        let grids = [
            Grid::Curvilinear { dims: [17, 17, 9], points: points.clone() },
            Grid::Unstructured { points, cells },
            uniform,
        ];
        for grid in grids {
            let flow = flow_of(&grid);
            let start = [1.0, 0.4, 0.1];
            let mut tracers = [advect::tracer(start)];
            // Steps of a twentieth, as the command takes them.
            for k in 0..60 {
                let times = [f64::from(k) * 0.05, f64::from(k + 1) * 0.05];
                flow.advance(times, &mut tracers, &Run::default()).unwrap();
            }
            let end = expected(start, 3.0);
            let error = (0..3).map(|c| (tracers[0][c] - end[c]).abs()).fold(0.0, f64::max);
            assert!(advect::is_alive(&tracers[0]) && error < 2e-5, "{}: {error:e}", grid.name());
        }
    }
}

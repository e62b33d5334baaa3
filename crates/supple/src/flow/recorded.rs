//! Recordings as flows: levels from files, two at a time, ready to be sampled on the grid they have.

use std::sync::Arc;

use super::curvilinear::{self, Lattice};
use super::dataset::{Coordinates, Grid};
use super::recording::Recording;
use super::time::{BadTimes, Clock};
use super::unstructured::{self, Mesh, MeshError};
use super::{Flow, Levels, Pair, Recorded, Sphere, Unreadable, grid};
use crate::Run;

/// Why a recording is no flow.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoFlow {
    /// Its grid cannot be sampled.
    #[error(transparent)]
    Grid(#[from] MeshError),
    /// Its times do not grow.
    #[error(transparent)]
    Times(#[from] BadTimes),
}

/// A grid that places are searched in.
#[derive(Debug)]
enum Place {
    /// Along axes, prepared with each pair.
    Axes,
    Mesh(Arc<Mesh>),
    Lattice(Arc<Lattice>),
}

#[derive(Debug)]
struct FileLevels {
    recording: Recording,
    place: Place,
}

/// A recording as a flow; with `looped` its record is a period that repeats.
///
/// # Errors
///
/// [`NoFlow`] if its grid cannot be sampled, or its times do not grow.
pub fn flow(recording: Recording, looped: bool) -> Result<Flow, NoFlow> {
    let grid = recording.grid();
    let place = match &**grid {
        Grid::Uniform { .. } | Grid::Rectilinear { .. } => Place::Axes,
        Grid::Curvilinear { .. } => Place::Lattice(Arc::new(Lattice::new(grid)?)),
        Grid::Unstructured { .. } => Place::Mesh(Arc::new(Mesh::new(grid)?)),
    };
    let clock = Clock::new(recording.times().to_vec())?;
    let clock = if looped { clock.looped() } else { clock };
    // The recording has brought its velocities to lengths a unit of time already.
    let degrees = recording.coordinates() == Coordinates::Degrees;
    let sphere = degrees.then_some(Sphere { metres: 1.0, upward: 1.0 });
    let levels = FileLevels { recording, place };
    Ok(Flow::Recorded(Recorded::new(clock, Box::new(levels), sphere)))
}

/// True if all of a grid lies in one plane: a flow in two dimensions.
#[must_use]
pub fn is_flat(grid: &Grid) -> bool {
    match grid.dims() {
        Some([_, _, deep]) => deep == 1,
        None => grid.bounds().is_some_and(|(low, high)| low.z == high.z),
    }
}

impl Levels for FileLevels {
    fn pair(&self, levels: [usize; 2], times: [f64; 2], run: &Run<'_>) -> Result<Pair, Unreadable> {
        let read = |level: usize| {
            let read = self.recording.level(level);
            read.map_err(|source| Unreadable { level, source: Box::new(source) })
        };
        let both = [read(levels[0])?, read(levels[1])?];
        let values = [&both[0].velocity[..], &both[1].velocity[..]];
        let level = levels[0];
        match &self.place {
            Place::Axes => {
                let periodic = self.recording.periodic();
                let pair = grid::Pair::of_levels([&both[0], &both[1]], times, periodic, run);
                pair.map(Pair::Grid).map_err(|e| Unreadable { level, source: Box::new(e) })
            }
            Place::Mesh(mesh) => {
                let pair = unstructured::Pair::new(mesh, values, times);
                pair.map(Pair::Mesh).map_err(|e| Unreadable { level, source: Box::new(e) })
            }
            Place::Lattice(lattice) => {
                let pair = curvilinear::Pair::new(lattice, values, times);
                pair.map(Pair::Lattice).map_err(|e| Unreadable { level, source: Box::new(e) })
            }
        }
    }

    fn bounds(&self) -> [[f64; 3]; 2] {
        let bounds = self.recording.grid().bounds();
        bounds.map_or([[0.0; 3]; 2], |(low, high)| [low.to_array(), high.to_array()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::advect;
    use crate::flow::dataset::{Array, Centering, Dataset};
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

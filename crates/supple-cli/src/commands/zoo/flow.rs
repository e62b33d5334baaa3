//! `supple zoo gyre|cylinder|wing|ramp -o flow.pvd`: flows as series of files.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use supple::dataset::{Array, Centering, Dataset, Grid};
use supple::flow::analytic::Analytic;
use supple::flow::sampled::Sampled;
use supple::io::{self, vtk_xml, vtp};
use supple::zoo::lattice::{self, Obstacle, Params};

use crate::shell::Shell;

/// What was asked for besides the name.
pub(super) struct Wanted<'a> {
    pub(super) output: &'a Path,
    pub(super) size: Option<[usize; 3]>,
    pub(super) levels: Option<usize>,
}

/// True if there is a flow of this name.
pub(super) fn is_known(name: &str) -> bool {
    Analytic::named(name).is_some() || Obstacle::named(name).is_some()
}

/// Writes a flow as a series of `.vti` files.
pub(super) fn write(name: &str, wanted: &Wanted<'_>, shell: &Shell) -> anyhow::Result<()> {
    let is_series = wanted.output.extension().is_some_and(|ending| ending == "pvd");
    ensure!(is_series, "{}: a flow is written as a series, .pvd", wanted.output.display());
    let mut series = Series { path: wanted.output.to_owned(), files: Vec::new() };
    match (Obstacle::named(name), Analytic::named(name)) {
        (Some(obstacle), _) => wake(obstacle, wanted, &mut series, shell)?,
        (None, Some(formula)) => sampled(formula, wanted, &mut series)?,
        (None, None) => anyhow::bail!("there is no flow '{name}'"),
    }
    let series_written = io::save(wanted.output, |out| vtp::write_series(&series.files, out));
    series_written.with_context(|| format!("cannot write {}", wanted.output.display()))?;
    let (levels, at) = (series.files.len(), wanted.output.display());
    shell.say(format!("{name}: {levels} levels → {at}"));
    Ok(())
}

struct Series {
    path: PathBuf,
    files: Vec<(f64, String)>,
}

impl Series {
    /// One level, with what is not fluid left out.
    fn push(&mut self, time: f64, grid: Grid, level: &[[f32; 4]]) -> anyhow::Result<()> {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = format!("{stem}.{:04}.vti", self.files.len());
        let known = |v: &[f32; 4]| if v[3] > 0.0 { [v[0], v[1], v[2]] } else { [f32::NAN; 3] };
        let values = level.iter().flat_map(known).collect();
        let arrays = vec![Array::new("velocity", 3, Centering::Point, values)];
        let dataset = Dataset { time: Some(time), ..Dataset::new(grid, arrays) };
        let path = self.path.with_file_name(&name);
        io::save(&path, |out| vtk_xml::write(&dataset, out))
            .with_context(|| format!("cannot write {}", path.display()))?;
        self.files.push((time, name));
        Ok(())
    }
}

/// A period of 10 for the gyre; others need no more time than shows how they move.
fn sampled(formula: Analytic, wanted: &Wanted<'_>, series: &mut Series) -> anyhow::Result<()> {
    let size = wanted.size.unwrap_or([65, 65, 33]);
    let levels = wanted.levels.unwrap_or(41);
    let times: Vec<f64> =
        (0..levels).map(|k| 10.0 * k as f64 / (levels.max(2) - 1) as f64).collect();
    let sampled = Sampled::of(formula, size, &times)?;
    let [low, high] = formula.bounds();
    let spacing = [0, 1, 2].map(|a| {
        let cells = size[a].saturating_sub(1).max(1) as f64;
        (high[a] - low[a]) / cells
    });
    for (k, &time) in times.iter().enumerate() {
        series.push(time, Grid::Uniform { dims: size, origin: low, spacing }, sampled.level(k))?;
    }
    Ok(())
}

fn wake(
    obstacle: Obstacle,
    wanted: &Wanted<'_>,
    series: &mut Series,
    shell: &Shell,
) -> anyhow::Result<()> {
    let mut params = Params::of(obstacle);
    if let Some(size) = wanted.size {
        params = params.resized(size);
    }
    params.levels = wanted.levels.unwrap_or(params.levels);
    ensure!(
        params.size.iter().all(|&n| n >= 8),
        "a lattice needs 8 cells or more in every direction"
    );
    let (origin, spacing) = params.grid();
    let grid = || Grid::Uniform { dims: params.size, origin, spacing: [spacing; 3] };
    shell.with_progress("simulating", |run| {
        lattice::simulate(&params, run, |time, level| series.push(time, grid(), level))
    })
}

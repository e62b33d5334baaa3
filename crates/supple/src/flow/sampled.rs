//! A formula on a grid at some times: a recording without files, for benchmarks, tests and the zoo.

use super::analytic::Analytic;
use super::grid::{self, Axis};
use super::{Flow, Levels, Pair, Recorded, Unreadable, time};
use crate::Run;
use crate::TriMesh;
use crate::run::Cancelled;
use crate::zoo::lattice::{self, Obstacle};

/// Levels of a formula, in memory.
#[derive(Clone, Debug)]
pub struct Sampled {
    axes: [Axis; 3],
    times: Vec<f64>,
    levels: Vec<Vec<[f32; 4]>>,
    obstacle: Option<Obstacle>,
}

impl Sampled {
    /// A velocity (and 1 for fluid) at the nodes of a grid, x fastest, at some times.
    #[must_use]
    pub fn new(
        axes: [Axis; 3],
        times: &[f64],
        velocity: impl Fn([f64; 3], f64) -> [f64; 4],
    ) -> Self {
        let level = |&t: &f64| {
            let mut nodes = Vec::new();
            for &z in axes[2].nodes() {
                for &y in axes[1].nodes() {
                    let row = axes[0].nodes().iter().map(|&x| velocity([x, y, z], t));
                    nodes.extend(row.map(|v| v.map(|c| c as f32)));
                }
            }
            nodes
        };
        let levels = times.iter().map(level).collect();
        Self { axes, times: times.to_vec(), levels, obstacle: None }
    }

    /// A formula over its bounds.
    ///
    /// # Errors
    ///
    /// [`grid::BadAxis`] if a direction has no node.
    pub fn of(formula: Analytic, size: [usize; 3], times: &[f64]) -> Result<Self, grid::BadAxis> {
        let [low, high] = formula.bounds();
        let axis = |a: usize| {
            let spacing = (high[a] - low[a]) / size[a].saturating_sub(1).max(1) as f64;
            Axis::even(low[a], spacing, size[a])
        };
        Ok(Self::new([axis(0)?, axis(1)?, axis(2)?], times, |x, t| formula.velocity(x, t)))
    }

    /// A wake of the zoo's solver; with `looped` its record is a period that repeats.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] if the caller asked to stop.
    ///
    /// # Panics
    ///
    /// If there is no cell or no level.
    pub fn simulated(
        params: &lattice::Params,
        looped: bool,
        run: &Run<'_>,
    ) -> Result<Flow, Cancelled> {
        let (mut times, mut levels) = (Vec::new(), Vec::new());
        lattice::simulate(params, run, |time, level| {
            times.push(time);
            levels.push(level.to_vec());
            Ok::<_, Cancelled>(())
        })?;
        let (origin, spacing) = params.grid();
        let axis = |a: usize| Axis::even(origin[a], spacing, params.size[a]).ok();
        // The solver's steps go on in time, and its lattice in space.
        let axes = [axis(0), axis(1), axis(2)].map(|axis| axis.expect("a lattice has nodes"));
        let clock = time::Clock::new(times.clone()).expect("levels follow each other");
        let clock = if looped { clock.looped() } else { clock };
        let levels = Box::new(Self { axes, times, levels, obstacle: Some(params.obstacle) });
        Ok(Flow::Recorded(Recorded::new(clock, levels, None)))
    }

    /// The values of a level.
    #[must_use]
    pub fn level(&self, level: usize) -> grid::Nodes<'_> {
        &self.levels[level]
    }

    /// It as a flow.
    ///
    /// # Errors
    ///
    /// [`time::BadTimes`] if times do not grow.
    pub fn into_flow(self) -> Result<Flow, time::BadTimes> {
        let clock = time::Clock::new(self.times.clone())?;
        Ok(Flow::Recorded(Recorded::new(clock, Box::new(self), None)))
    }
}

impl Levels for Sampled {
    fn pair(&self, [a, b]: [usize; 2], times: [f64; 2], run: &Run<'_>) -> Result<Pair, Unreadable> {
        let levels = [&self.levels[a][..], &self.levels[b]];
        let pair = grid::Pair::new(self.axes.clone(), levels, times, run);
        pair.map(Pair::Grid).map_err(|error| Unreadable { level: a, source: error.into() })
    }

    fn bounds(&self) -> [[f64; 3]; 2] {
        [0, 1].map(|end| [0, 1, 2].map(|a| self.axes[a].ends()[end]))
    }

    fn walls(&self) -> Option<TriMesh> {
        let ends = self.axes[2].ends().map(|z| z as f32);
        self.obstacle.map(|obstacle| obstacle.mesh(ends))
    }
}

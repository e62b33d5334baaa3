//! The row of `smoke` on an unstructured grid: a million tetrahedra.

use std::sync::Arc;

use glam::DVec3;
use supple::Run;
use supple::dataset::{CellType, Cells, Grid};
use supple::flow::analytic::Analytic;
use supple::flow::searched;
use supple::flow::time::Clock;
use supple::flow::unstructured::Mesh;
use supple::flow::{Flow, Levels, Pair, Recorded, Unreadable};

use super::Bench;
use super::smoke::{integration_ms, print, sheet};

/// Cells along each side of the box; six tetrahedra each: 998,250.
const CELLS: u32 = 55;

/// Two levels on tetrahedra, in memory.
#[derive(Debug)]
struct MeshLevels {
    mesh: Arc<Mesh>,
    levels: [Vec<[f32; 4]>; 2],
    bounds: [[f64; 3]; 2],
}

impl Levels for MeshLevels {
    fn pair(&self, [a, b]: [usize; 2], times: [f64; 2], _: &Run<'_>) -> Result<Pair, Unreadable> {
        let pair = searched::Pair::new(&self.mesh, [&self.levels[a], &self.levels[b]], times);
        pair.map(Pair::Mesh).map_err(|error| Unreadable { level: a, source: Box::new(error) })
    }

    fn bounds(&self) -> [[f64; 3]; 2] {
        self.bounds
    }
}

pub(super) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    const ROW: &str = "unstructured-50k";
    if !bench.wants(ROW) {
        return Ok(());
    }
    let flow = gyre()?;
    let value = integration_ms(bench, &flow, &sheet(50_000))?;
    print(bench, ROW, value, [None, Some(6.0)], "RK4, gyre on a million tetrahedra, two levels")
}

/// The double gyre at the corners of tetrahedra.
fn gyre() -> anyhow::Result<Flow> {
    flow_on(&tetrahedra(Analytic::Gyre.bounds()))
}

/// The double gyre at the points of a grid.
pub(super) fn flow_on(grid: &Grid) -> anyhow::Result<Flow> {
    let bounds = Analytic::Gyre.bounds();
    let level = |t: f64| {
        let velocity = |i: usize| Analytic::Gyre.velocity(grid.point(i).to_array(), t);
        (0..grid.point_count()).map(velocity).map(|v| v.map(|c| c as f32)).collect()
    };
    let levels = [level(0.0), level(1.0)];
    let levels = MeshLevels { mesh: Arc::new(Mesh::new(grid)?), levels, bounds };
    Ok(Flow::Recorded(Recorded::new(Clock::new(vec![0.0, 1.0])?, Box::new(levels), None)))
}

/// A box of cubes, each cut into six about a diagonal.
fn tetrahedra([low, high]: [[f64; 3]; 2]) -> Grid {
    let nodes = CELLS + 1;
    let points = (0..nodes.pow(3)).map(|p| {
        let at = [p % nodes, p / nodes % nodes, p / (nodes * nodes)];
        DVec3::from_array(
            [0, 1, 2].map(|a| low[a] + (high[a] - low[a]) * f64::from(at[a]) / f64::from(CELLS)),
        )
    });
    let mut cells = Cells::default();
    for cube in 0..CELLS.pow(3) {
        let [i, j, k] = [cube % CELLS, cube / CELLS % CELLS, cube / (CELLS * CELLS)];
        let corner = |c: u32| ((k + (c >> 2)) * nodes + j + (c >> 1 & 1)) * nodes + i + (c & 1);
        // Around the diagonal from corner 0 to corner 7.
        for [a, b] in [[1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 1]] {
            cells.push(CellType::Tetra, &[corner(0), corner(a), corner(b), corner(7)], &[]);
        }
    }
    Grid::Unstructured { points: points.collect(), cells }
}

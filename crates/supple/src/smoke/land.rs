//! Land of a flow in a plane, or of an ocean at its surface, to be shown beneath the smoke.
//!
//! # Method
//!
//! Cells of the grid are shown as they are: stepped where the model is. Land is what the coast of a C-grid says; else, where
//! the flow slips along points without a value, all cells with such a point; else those of which at least half the corners
//! have none. Single spots of the last kind (vectors that were flagged, in a measurement) are no land.
//!
//! # Limits
//!
//! Land is that of the first level. Grids without rows and columns have none.

use glam::{DVec3, Vec3};

use crate::TriMesh;
use crate::dataset::Grid;
use crate::flow::recording::{Recording, RecordingError};

/// Points looked at, at most: of more, every so many.
const MOST_POINTS: usize = 4_000_000;

/// Patches of missing values smaller than this share of all cells are spots.
const SPOT: f64 = 1e-2;

/// Land and its shore.
#[derive(Clone, Debug, Default)]
pub struct Land {
    /// Its cells, seen from above.
    pub mesh: TriMesh,
    /// Edges between land and sea.
    pub shore: Vec<[Vec3; 2]>,
}

/// The layer of a grid that is looked at from above.
struct Layer {
    size: [usize; 2],
    points: Vec<DVec3>,
    land: Vec<bool>,
}

impl Layer {
    fn cells(&self) -> [usize; 2] {
        self.size.map(|n| n - 1)
    }

    /// Corners of a cell, around it.
    fn corners(&self, cell: usize) -> [usize; 4] {
        let nx = self.cells()[0];
        let first = cell / nx * self.size[0] + cell % nx;
        [first, first + 1, first + 1 + self.size[0], first + self.size[0]]
    }

    fn can_be_shown(&self, cell: usize) -> bool {
        self.corners(cell).iter().all(|&p| self.points[p].is_finite())
    }

    /// Neighbours of a cell over each of its edges, in the order of its corners.
    fn beside(&self, cell: usize) -> [Option<usize>; 4] {
        let [nx, ny] = self.cells();
        let (i, j) = (cell % nx, cell / nx);
        [
            (j > 0).then(|| cell - nx),
            (i + 1 < nx).then(|| cell + 1),
            (j + 1 < ny).then(|| cell + nx),
            (i > 0).then(|| cell - 1),
        ]
    }

    /// Takes patches of few cells for sea.
    fn leave_out_spots(&mut self) {
        let least = (SPOT * self.land.len() as f64).max(4.0) as usize;
        let mut seen = vec![false; self.land.len()];
        for start in 0..self.land.len() {
            if !self.land[start] || seen[start] {
                continue;
            }
            let (mut patch, mut next) = (vec![start], 0);
            seen[start] = true;
            while let Some(&cell) = patch.get(next) {
                next += 1;
                for other in self.beside(cell).into_iter().flatten().filter(|&o| self.land[o]) {
                    let is_new = !std::mem::replace(&mut seen[other], true);
                    patch.extend(is_new.then_some(other));
                }
            }
            if patch.len() < least {
                patch.iter().for_each(|&cell| self.land[cell] = false);
            }
        }
    }

    fn shown(&self) -> Land {
        let mut land = Land::default();
        let mut number = vec![u32::MAX; self.points.len()];
        for cell in (0..self.land.len()).filter(|&c| self.land[c] && self.can_be_shown(c)) {
            let corners = self.corners(cell);
            let at = corners.map(|p| self.points[p].as_vec3());
            let quad = corners.map(|p| {
                if number[p] == u32::MAX {
                    number[p] = land.mesh.positions.len() as u32;
                    land.mesh.positions.push(self.points[p].as_vec3());
                }
                number[p]
            });
            let [a, b, c, d] = quad;
            // Upwards, whichever way the grid runs.
            let is_up = (at[2] - at[0]).cross(at[3] - at[1]).z >= 0.0;
            let halves = [[a, b, c], [a, c, d]];
            land.mesh
                .triangles
                .extend(halves.map(|[a, b, c]| if is_up { [a, b, c] } else { [a, c, b] }));
            for (edge, other) in self.beside(cell).into_iter().enumerate() {
                if other.is_some_and(|other| !self.land[other]) {
                    land.shore.push([at[edge], at[(edge + 1) % 4]]);
                }
            }
        }
        land
    }
}

/// The land of a recording, at its uppermost layer; `None` if there is none.
///
/// # Errors
///
/// [`RecordingError`] if its first level cannot be read.
pub fn of(recording: &Recording) -> Result<Option<Land>, RecordingError> {
    let points = recording.grid().point_count();
    let stride = (1..).find(|n| points / (n * n) <= MOST_POINTS).unwrap_or(1);
    let level = if stride > 1 && recording.has_parts()? {
        std::sync::Arc::new(recording.glance(0, stride)?)
    } else {
        recording.level(0)?
    };
    let grid = &*level.grid;
    let Some([nx, ny, nz]) = grid.dims().filter(|d| d[0] > 1 && d[1] > 1) else { return Ok(None) };
    let k = top(grid, [nx, ny, nz]);
    let first = k * nx * ny;
    let points: Vec<DVec3> = (first..first + nx * ny).map(|i| grid.point(i)).collect();
    let known: Vec<bool> =
        level.velocity[first..first + nx * ny].iter().map(|v| v[3] > 0.0).collect();
    let cells = (nx - 1) * (ny - 1);
    let mut layer = Layer { size: [nx, ny], points, land: vec![false; cells] };
    let coast = recording.coast().filter(|coast| coast.len() == grid.cell_count());
    // Cells below the points of the top layer.
    let below = k.saturating_sub(usize::from(k > 0)) * cells;
    for cell in 0..cells {
        let missing = layer.corners(cell).iter().filter(|&&p| !known[p]).count();
        layer.land[cell] = match coast {
            Some(coast) => coast.is_land(below + cell),
            None if recording.slips() => missing > 0,
            None => missing > 1,
        };
    }
    if coast.is_none() && !recording.slips() {
        layer.leave_out_spots();
    }
    let land = layer.shown();
    Ok((!land.mesh.triangles.is_empty()).then_some(land))
}

/// The layer that is highest.
fn top(grid: &Grid, [nx, ny, nz]: [usize; 3]) -> usize {
    let height = |k: usize| {
        let layer = (k * nx * ny..(k + 1) * nx * ny).map(|i| grid.point(i).z);
        layer.filter(|z| z.is_finite()).fold(f64::NEG_INFINITY, f64::max)
    };
    if nz > 1 && height(nz - 1) >= height(0) { nz - 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three by three cells, of which some are land.
    fn layer(land: [u8; 9]) -> Layer {
        let points = (0..16).map(|i| DVec3::new(f64::from(i % 4), f64::from(i / 4), 0.0)).collect();
        Layer { size: [4, 4], points, land: land.map(|l| l > 0).to_vec() }
    }

    #[test]
    fn an_island_has_a_shore_all_around_and_looks_up() {
        let land = layer([0, 0, 0, 0, 1, 0, 0, 0, 0]).shown();
        assert_eq!((land.mesh.triangles.len(), land.shore.len()), (2, 4));
        for t in &land.mesh.triangles {
            let [a, b, c] = t.map(|i| land.mesh.positions[i as usize]);
            assert!((b - a).cross(c - a).z > 0.0, "{t:?}");
        }
        // Land at the edge of the grid has a shore towards the sea alone.
        assert_eq!(layer([1, 1, 1, 0, 0, 0, 0, 0, 0]).shown().shore.len(), 3);
        assert!(layer([0; 9]).shown().mesh.triangles.is_empty());
    }

    #[test]
    fn spots_are_no_land() {
        let mut spots = layer([1, 0, 0, 0, 0, 0, 0, 1, 1]);
        spots.leave_out_spots();
        assert!(!spots.land.contains(&true));
        let mut patch = layer([1, 1, 1, 1, 0, 0, 0, 0, 1]);
        patch.leave_out_spots();
        assert_eq!(patch.land.iter().filter(|l| **l).count(), 4);
    }
}

//! One moment of a recorded flow as its file has it: a grid, arrays on its points or cells, a time.
//!
//! # Method
//!
//! Readers of all formats ([`crate::io`]) end here. Coordinates are `f64`; values are `f32` (an `f64` of a
//! file is rounded). Points of structured grids count x fastest, then y, then z. Where a file says that there
//! is nothing (fill values, masks, NaN) the value is NaN.
//!
//! A [`VelocitySource`] names the arrays that are the velocity; [`Dataset::level`] makes of them what is
//! integrated: four numbers a point, velocity and validity (1 in the fluid, 0 elsewhere). Values of cells go to
//! points by inverse distance from the centres of the valid cells around: `v = Σ vᵢ/dᵢ / Σ 1/dᵢ`.
//!
//! # Limits
//!
//! - Grids stand still; quadratic cells keep their corners only.
//!
//! # Example
//!
//! ```
//! use supple::dataset::{Array, Centering, Dataset, Grid, VelocitySource};
//!
//! let grid = Grid::Uniform { dims: [2, 1, 1], origin: [0.0; 3], spacing: [1.0; 3] };
//! let wind = Array::new("wind", 3, Centering::Point, vec![1.0, 0.0, 0.0, f32::NAN, 0.0, 0.0]);
//! let dataset = Dataset::new(grid, vec![wind]);
//! let source = VelocitySource::choose(&dataset.contents(), &[]).unwrap();
//! let level = dataset.level(&source, &[]).unwrap();
//! assert_eq!(level.velocity, [[1.0, 0.0, 0.0, 1.0], [0.0; 4]]);
//! ```

mod cells;
mod coast;
mod velocity;

use std::sync::Arc;

use glam::DVec3;

pub(crate) use cells::faces_of_stream;
pub use cells::{CellBuilder, CellError, CellType, Cells, Faces};
pub use coast::Coast;
pub use velocity::{VelocityError, VelocitySource};

/// A box of points of a lattice: from the first to before the last along x, y, z.
pub type Part = [std::ops::Range<usize>; 3];

/// Where the values of an array belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Centering {
    /// One tuple a point.
    Point,
    /// One tuple a cell.
    Cell,
}

/// What the horizontal coordinates mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coordinates {
    /// Lengths, in metres or in any unit of its own.
    #[default]
    Metres,
    /// Longitude and latitude in degrees; z is a length.
    Degrees,
}

/// Where values are known.
#[derive(Clone, Debug, PartialEq)]
pub enum Grid {
    /// Equal steps along each axis.
    Uniform {
        /// Points along x, y, z; at least one each.
        dims: [usize; 3],
        /// The first point.
        origin: [f64; 3],
        /// From a point to the next; not zero, may be negative.
        spacing: [f64; 3],
    },
    /// Axes with steps of their own, each rising.
    Rectilinear {
        /// Coordinates along x.
        x: Vec<f64>,
        /// Coordinates along y.
        y: Vec<f64>,
        /// Coordinates along z.
        z: Vec<f64>,
    },
    /// Points in the order of a lattice, anywhere in space.
    Curvilinear {
        /// Points along the three directions of the lattice.
        dims: [usize; 3],
        /// Where they are.
        points: Vec<DVec3>,
    },
    /// Points and cells that name them.
    Unstructured {
        /// Where the points are.
        points: Vec<DVec3>,
        /// What they are the corners of.
        cells: Cells,
    },
}

impl Grid {
    /// Every so many points along each axis of a lattice; `None` for unstructured grids.
    #[must_use]
    pub fn thinned(&self, stride: usize) -> Option<Self> {
        let n = stride.max(1);
        Some(match self {
            Self::Uniform { dims, origin, spacing } => Self::Uniform {
                dims: dims.map(|d| d.div_ceil(n)),
                origin: *origin,
                spacing: spacing.map(|s| s * n as f64),
            },
            Self::Rectilinear { x, y, z } => {
                let every = |axis: &[f64]| axis.iter().copied().step_by(n).collect();
                Self::Rectilinear { x: every(x), y: every(y), z: every(z) }
            }
            Self::Curvilinear { dims, points } => {
                let points = thinned(points, *dims, n);
                Self::Curvilinear { dims: dims.map(|d| d.div_ceil(n)), points }
            }
            Self::Unstructured { .. } => return None,
        })
    }

    /// A box of the points of a grid along axes; `None` for others.
    #[must_use]
    pub fn cropped(&self, part: &Part) -> Option<Self> {
        if let Self::Rectilinear { x, y, z } = self {
            let of = |axis: &[f64], a: usize| axis[part[a].clone()].to_vec();
            return Some(Self::Rectilinear { x: of(x, 0), y: of(y, 1), z: of(z, 2) });
        }
        let Self::Uniform { origin, spacing, .. } = self else { return None };
        let first = |a: usize| origin[a] + spacing[a] * part[a].start as f64;
        Some(Self::Uniform {
            dims: [0, 1, 2].map(|a| part[a].len()),
            origin: [first(0), first(1), first(2)],
            spacing: *spacing,
        })
    }

    /// Where points are along each axis; `None` for grids without axes.
    #[must_use]
    pub fn axes(&self) -> Option<[Vec<f64>; 3]> {
        match self {
            Self::Uniform { dims, origin, spacing } => Some(
                [0, 1, 2]
                    .map(|a| (0..dims[a]).map(|i| origin[a] + spacing[a] * i as f64).collect()),
            ),
            Self::Rectilinear { x, y, z } => Some([x.clone(), y.clone(), z.clone()]),
            _ => None,
        }
    }

    /// What it is called in reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Uniform { .. } => "uniform",
            Self::Rectilinear { .. } => "rectilinear",
            Self::Curvilinear { .. } => "curvilinear",
            Self::Unstructured { .. } => "unstructured",
        }
    }

    /// Points along the three axes of a lattice; `None` for unstructured grids.
    #[must_use]
    pub fn dims(&self) -> Option<[usize; 3]> {
        match self {
            Self::Uniform { dims, .. } | Self::Curvilinear { dims, .. } => Some(*dims),
            Self::Rectilinear { x, y, z } => Some([x.len(), y.len(), z.len()]),
            Self::Unstructured { .. } => None,
        }
    }

    /// How many points there are.
    #[must_use]
    pub fn point_count(&self) -> usize {
        match self {
            Self::Unstructured { points, .. } => points.len(),
            _ => self.dims().map_or(0, |d| d[0] * d[1] * d[2]),
        }
    }

    /// How many cells there are. A lattice one point thick is a sheet of cells, as in VTK.
    #[must_use]
    pub fn cell_count(&self) -> usize {
        match self {
            Self::Unstructured { cells, .. } => cells.len(),
            _ => self.dims().map_or(0, |d| d.iter().map(|n| n.saturating_sub(1).max(1)).product()),
        }
    }

    /// How many tuples an array on it has.
    #[must_use]
    pub fn count(&self, centering: Centering) -> usize {
        match centering {
            Centering::Point => self.point_count(),
            Centering::Cell => self.cell_count(),
        }
    }

    /// Where point `i` is.
    ///
    /// # Panics
    ///
    /// If there is no such point.
    #[must_use]
    pub fn point(&self, i: usize) -> DVec3 {
        match self {
            Self::Uniform { dims, origin, spacing } => {
                let k = [i % dims[0], i / dims[0] % dims[1], i / (dims[0] * dims[1])];
                DVec3::from_array([0, 1, 2].map(|a| origin[a] + spacing[a] * k[a] as f64))
            }
            Self::Rectilinear { x, y, z } => {
                DVec3::new(x[i % x.len()], y[i / x.len() % y.len()], z[i / (x.len() * y.len())])
            }
            Self::Curvilinear { points, .. } | Self::Unstructured { points, .. } => points[i],
        }
    }

    /// The smallest box around all points; `None` without any that is finite.
    #[must_use]
    pub fn bounds(&self) -> Option<(DVec3, DVec3)> {
        let ends = |axis: &[f64]| Some((*axis.first()?, *axis.last()?));
        let corners: Vec<DVec3> = match self {
            Self::Uniform { dims, .. } => {
                vec![self.point(0), self.point(dims[0] * dims[1] * dims[2] - 1)]
            }
            Self::Rectilinear { x, y, z } => {
                let (x, y, z) = (ends(x)?, ends(y)?, ends(z)?);
                vec![DVec3::new(x.0, y.0, z.0), DVec3::new(x.1, y.1, z.1)]
            }
            Self::Curvilinear { points, .. } | Self::Unstructured { points, .. } => {
                return bounds_of(points);
            }
        };
        bounds_of(&corners)
    }

    /// The cells of a lattice one by one: hexahedra, quads, lines or a vertex.
    #[must_use]
    pub fn to_cells(&self) -> Cells {
        if let Self::Unstructured { cells, .. } = self {
            return cells.clone();
        }
        let mut cells = Cells::default();
        let mut corners = Vec::new();
        for cell in 0..self.cell_count() {
            self.corners_of(cell, &mut corners);
            let kind = match corners.len() {
                8 => CellType::Voxel,
                4 => CellType::Pixel,
                2 => CellType::Line,
                _ => CellType::Vertex,
            };
            cells.push(kind, &corners, &[]);
        }
        cells
    }

    /// The points around a cell of a lattice or of a list, at most a few.
    fn corners_of(&self, cell: usize, into: &mut Vec<u32>) {
        into.clear();
        let dims = match self {
            Self::Unstructured { cells, .. } => {
                into.extend_from_slice(cells.corners(cell));
                return;
            }
            _ => self.dims().unwrap_or([1; 3]),
        };
        let n = dims.map(|d| d.saturating_sub(1).max(1));
        let at = [cell % n[0], cell / n[0] % n[1], cell / (n[0] * n[1])];
        let steps = dims.map(|d| if d > 1 { 2 } else { 1 });
        for k in 0..steps[2] {
            for j in 0..steps[1] {
                for i in 0..steps[0] {
                    let p = at[0] + i + dims[0] * (at[1] + j + dims[1] * (at[2] + k));
                    into.push(p as u32);
                }
            }
        }
    }

    /// Values of cells brought to points by inverse distance; cells with a NaN take no part.
    #[must_use]
    pub fn to_points(&self, components: usize, values: &[f32]) -> Vec<f32> {
        let points = self.point_count();
        let mut sums = vec![0.0_f64; points * components];
        let mut weights = vec![0.0_f64; points];
        let mut corners = Vec::new();
        for (cell, tuple) in values.chunks_exact(components.max(1)).enumerate() {
            if cell >= self.cell_count() || tuple.iter().any(|x| x.is_nan()) {
                continue;
            }
            self.corners_of(cell, &mut corners);
            let centre = corners.iter().map(|&p| self.point(p as usize)).sum::<DVec3>()
                / corners.len().max(1) as f64;
            for &p in &corners {
                let distance = (self.point(p as usize) - centre).length_squared().sqrt();
                let weight = 1.0 / distance.max(f64::MIN_POSITIVE.sqrt());
                weights[p as usize] += weight;
                for (sum, &x) in sums[p as usize * components..].iter_mut().zip(tuple) {
                    *sum += weight * f64::from(x);
                }
            }
        }
        let mean = |(k, sum): (usize, f64)| {
            let weight = weights[k / components.max(1)];
            if weight > 0.0 { (sum / weight) as f32 } else { f32::NAN }
        };
        sums.into_iter().enumerate().map(mean).collect()
    }
}

/// Values of a lattice, backwards along the axes that are turned.
pub(crate) fn turn(
    values: &[f32],
    components: usize,
    n: [usize; 3],
    turned: [bool; 3],
) -> Vec<f32> {
    let at = |a: usize, i: usize| if turned[a] { n[a] - 1 - i } else { i };
    let mut result = Vec::with_capacity(values.len());
    for (k, j) in (0..n[2]).flat_map(|k| (0..n[1]).map(move |j| (k, j))) {
        for i in 0..n[0] {
            let tuple = (at(2, k) * n[1] + at(1, j)) * n[0] + at(0, i);
            result.extend(
                values.get(tuple * components..(tuple + 1) * components).into_iter().flatten(),
            );
        }
    }
    result
}

/// Every so many values along each axis of a lattice.
fn thinned<T: Copy>(values: &[T], dims: [usize; 3], n: usize) -> Vec<T> {
    let mut kept = Vec::new();
    for k in (0..dims[2]).step_by(n) {
        for j in (0..dims[1]).step_by(n) {
            let row = (k * dims[1] + j) * dims[0];
            kept.extend(values[row..row + dims[0]].iter().step_by(n));
        }
    }
    kept
}

fn bounds_of(points: &[DVec3]) -> Option<(DVec3, DVec3)> {
    let mut finite = points.iter().filter(|p| p.is_finite());
    let first = *finite.next()?;
    Some(finite.fold((first, first), |(low, high), &p| (low.min(p), high.max(p))))
}

/// What an array is, without its values.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayInfo {
    /// Its name in the file.
    pub name: String,
    /// Numbers a tuple: 1 for scalars, 2 or 3 for vectors.
    pub components: usize,
    /// Whose values these are.
    pub centering: Centering,
    /// The unit as the file writes it.
    pub units: Option<String>,
    /// What the file says it is, as `eastward_sea_water_velocity` of the CF conventions.
    pub meaning: Option<String>,
}

/// Which arrays of a file are read; the others are only named.
#[derive(Clone, Copy, Debug)]
pub enum Select<'a> {
    /// All of them.
    All,
    /// Those of these names.
    Names(&'a [String]),
}

impl Select<'_> {
    /// Whether no array is read: only the grid, and what there is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Names([]))
    }

    /// Whether an array of this name is read.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Names(names) => names.iter().any(|n| n == name),
        }
    }
}

/// Values on a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// What it is.
    pub info: ArrayInfo,
    /// Tuples one after the other; NaN where there is nothing.
    pub values: Vec<f32>,
}

impl Array {
    /// An array without a unit.
    #[must_use]
    pub fn new(name: &str, components: usize, centering: Centering, values: Vec<f32>) -> Self {
        let name = name.to_owned();
        let info = ArrayInfo { name, components, centering, units: None, meaning: None };
        Self { info, values }
    }
}

/// One moment of a recorded flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Where values are known; shared by moments whose grid is the same.
    pub grid: Arc<Grid>,
    /// The arrays that were asked for.
    pub arrays: Vec<Array>,
    /// What else the file has.
    pub others: Vec<ArrayInfo>,
    /// The file's own time.
    pub time: Option<f64>,
    /// What the horizontal coordinates mean.
    pub coordinates: Coordinates,
    /// Axes whose end is their beginning.
    pub periodic: [bool; 3],
    /// Cells that are land, and faces nothing crosses.
    pub coast: Option<Arc<Coast>>,
    /// What had to be guessed or was left out, a sentence each.
    pub assumed: Vec<String>,
}

impl Dataset {
    /// Arrays on a grid, in lengths, without a time.
    #[must_use]
    pub fn new(grid: Grid, arrays: Vec<Array>) -> Self {
        Self::on(Arc::new(grid), arrays)
    }

    /// The same on a grid that is shared.
    #[must_use]
    pub fn on(grid: Arc<Grid>, arrays: Vec<Array>) -> Self {
        Self {
            grid,
            arrays,
            others: Vec::new(),
            time: None,
            coordinates: Coordinates::Metres,
            periodic: [false; 3],
            coast: None,
            assumed: Vec::new(),
        }
    }

    /// Whether grid and arrays fit each other.
    ///
    /// # Errors
    ///
    /// A sentence about the first that does not.
    pub fn validate(&self) -> Result<(), String> {
        if let Grid::Curvilinear { dims, points } = &*self.grid
            && points.len() != dims.iter().product::<usize>()
        {
            return Err(format!("{} points on a lattice of {dims:?}", points.len()));
        }
        if let Grid::Unstructured { points, cells } = &*self.grid
            && cells.corners.iter().chain(&cells.faces.points).any(|&p| p as usize >= points.len())
        {
            return Err("a cell names a point that is not there".to_owned());
        }
        for Array { info, values } in &self.arrays {
            if values.len() != self.grid.count(info.centering) * info.components {
                return Err(format!("'{}' has {} numbers", info.name, values.len()));
            }
        }
        Ok(())
    }

    /// All arrays of the file, read or not.
    #[must_use]
    pub fn contents(&self) -> Vec<ArrayInfo> {
        self.arrays.iter().map(|a| &a.info).chain(&self.others).cloned().collect()
    }

    /// An array that was read; values of points come before values of cells.
    #[must_use]
    pub fn array(&self, name: &str) -> Option<&Array> {
        let named = |a: &&Array| a.info.name == name;
        let points = self.arrays.iter().filter(named);
        points.min_by_key(|a| a.info.centering == Centering::Cell)
    }

    /// An array that is there, and fits the grid.
    fn checked(&self, name: &str) -> Result<&Array, VelocityError> {
        let array = self.array(name).ok_or_else(|| VelocityError::Missing {
            name: name.to_owned(),
            known: velocity::names(&self.contents()),
        })?;
        let found = array.values.len();
        let expected = self.grid.count(array.info.centering).saturating_mul(array.info.components);
        if found != expected || array.info.components == 0 {
            return Err(VelocityError::Size { name: name.to_owned(), found, expected });
        }
        Ok(array)
    }

    /// An array at the points.
    fn at_points(&self, name: &str) -> Result<(usize, Vec<f32>), VelocityError> {
        let Array { info, values } = self.checked(name)?;
        let values = match info.centering {
            Centering::Point => values.clone(),
            Centering::Cell => self.grid.to_points(info.components, values),
        };
        Ok((info.components, values))
    }

    /// Turns axes that fall, with all that is on them.
    ///
    /// # Errors
    ///
    /// A sentence if an axis neither rises nor falls.
    pub fn make_axes_rise(&mut self) -> Result<(), String> {
        let Some(dims) = self.grid.dims() else { return Ok(()) };
        let mut turned = [false; 3];
        if matches!(&*self.grid, Grid::Curvilinear { .. }) {
            return Ok(());
        }
        let grid = Arc::make_mut(&mut self.grid);
        match grid {
            Grid::Uniform { origin, spacing, .. } => {
                for a in 0..3 {
                    if spacing[a] >= 0.0 {
                        continue;
                    }
                    turned[a] = true;
                    origin[a] += spacing[a] * (dims[a] - 1) as f64;
                    spacing[a] = -spacing[a];
                }
            }
            Grid::Rectilinear { x, y, z } => {
                for (a, axis) in [x, y, z].into_iter().enumerate() {
                    turned[a] = axis.len() > 1 && axis[1] < axis[0];
                    if turned[a] {
                        axis.reverse();
                    }
                    let finite = axis.iter().all(|x| x.is_finite());
                    if !finite || axis.windows(2).any(|w| w[1] <= w[0]) {
                        let name = ["x", "y", "z"][a];
                        return Err(format!("the coordinates along {name} do not rise"));
                    }
                }
            }
            _ => {}
        }
        if turned.contains(&true) {
            for array in &mut self.arrays {
                let n = match array.info.centering {
                    Centering::Point => dims,
                    Centering::Cell => dims.map(|d| d.saturating_sub(1).max(1)),
                };
                array.values = turn(&array.values, array.info.components, n, turned);
            }
        }
        Ok(())
    }

    /// What is integrated: velocity and validity at the points, and the scalars of these names (vectors become
    /// their length).
    ///
    /// # Errors
    ///
    /// [`VelocityError`] if an array is not there or has another size than the grid.
    pub fn level(
        &self,
        source: &VelocitySource,
        scalars: &[String],
    ) -> Result<Level, VelocityError> {
        let points = self.grid.point_count();
        // A grid may claim more points than there is memory: its values must be there first.
        for name in source.names() {
            self.checked(name)?;
        }
        let mut velocity = vec![[0.0_f32, 0.0, 0.0, 1.0]; points];
        match source {
            VelocitySource::Vector(name) => {
                let (components, values) = self.at_points(name)?;
                for (v, tuple) in velocity.iter_mut().zip(values.chunks_exact(components)) {
                    v.iter_mut().zip(&tuple[..components.min(3)]).for_each(|(v, x)| *v = *x);
                }
            }
            VelocitySource::Components(names) => {
                for (axis, name) in names.iter().take(3).enumerate() {
                    let (components, values) = self.at_points(name)?;
                    for (v, tuple) in velocity.iter_mut().zip(values.chunks_exact(components)) {
                        v[axis] = tuple[0];
                    }
                }
            }
            VelocitySource::Momentum { momentum, density } => {
                let (components, values) = self.at_points(momentum)?;
                let (width, densities) = self.at_points(density)?;
                for (p, v) in velocity.iter_mut().enumerate() {
                    let density = densities[p * width];
                    let tuple = &values[p * components..][..components.min(3)];
                    v.iter_mut().zip(tuple).for_each(|(v, x)| *v = *x / density);
                }
            }
        }
        for v in &mut velocity {
            if !v.iter().all(|x| x.is_finite()) {
                *v = [0.0; 4];
            }
        }
        let scalars = scalars.iter().map(|name| self.scalar(name)).collect::<Result<_, _>>()?;
        Ok(Level { grid: Arc::clone(&self.grid), velocity, scalars })
    }

    fn scalar(&self, name: &str) -> Result<(String, Vec<f32>), VelocityError> {
        let (components, values) = self.at_points(name)?;
        let length =
            |t: &[f32]| if let [x] = t { *x } else { t.iter().map(|x| x * x).sum::<f32>().sqrt() };
        Ok((name.to_owned(), values.chunks_exact(components).map(length).collect()))
    }
}

/// A moment as it is integrated: everything at points.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Where the points are.
    pub grid: Arc<Grid>,
    /// Velocity, and 1 where it is known; all four 0 where it is not.
    pub velocity: Vec<[f32; 4]>,
    /// Scalars by name, NaN where they are not known.
    pub scalars: Vec<(String, Vec<f32>)>,
}

impl Level {
    /// Every so many points along each axis, on the grid of these.
    pub(super) fn thinned(self, stride: usize, grid: &Arc<Grid>) -> Self {
        let Some(dims) = self.grid.dims() else { return self };
        let velocity = thinned(&self.velocity, dims, stride);
        let scalars =
            self.scalars.iter().map(|(n, s)| (n.clone(), thinned(s, dims, stride))).collect();
        Self { grid: Arc::clone(grid), velocity, scalars }
    }

    /// Share of points where no velocity is known.
    #[must_use]
    pub fn masked(&self) -> f64 {
        let masked = self.velocity.iter().filter(|v| v[3] == 0.0).count();
        masked as f64 / self.velocity.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_give_points_the_mean_of_what_is_valid() {
        let grid = Grid::Uniform { dims: [3, 2, 1], origin: [0.0; 3], spacing: [1.0; 3] };
        assert_eq!(grid.to_points(1, &[1.0, 3.0]), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
        let half = grid.to_points(1, &[f32::NAN, 3.0]);
        assert!(half[0].is_nan() && half[3].is_nan(), "{half:?}");
        assert_eq!(half[1], 3.0);
    }

    #[test]
    fn axes_that_fall_are_turned_with_their_values() {
        let (x, y, z) = (vec![3.0, 2.0, 0.0], vec![0.0, 1.0], vec![0.0]);
        let values = (0..6).map(|k| k as f32).collect();
        let array = Array::new("a", 1, Centering::Point, values);
        let mut dataset = Dataset::new(Grid::Rectilinear { x, y, z }, vec![array]);
        dataset.make_axes_rise().unwrap();
        assert_eq!(dataset.arrays[0].values, [2.0, 1.0, 0.0, 5.0, 4.0, 3.0]);
        assert_eq!(dataset.grid.point(0).x, 0.0);
        let x = vec![0.0, 1.0, 1.0];
        let grid = Grid::Rectilinear { x, y: vec![0.0], z: vec![0.0] };
        let error = Dataset::new(grid, Vec::new()).make_axes_rise().unwrap_err();
        assert!(error.contains("along x"), "{error}");
    }

    #[test]
    fn momentum_is_divided_by_density_and_holes_are_outside() {
        let grid = Grid::Uniform { dims: [2, 1, 1], origin: [0.0; 3], spacing: [1.0; 3] };
        let momentum = vec![2.0, 4.0, 6.0, 1.0, 1.0, 1.0];
        let dataset = Dataset::new(
            grid,
            vec![
                Array::new("Density", 1, Centering::Point, vec![2.0, 0.0]),
                Array::new("Momentum", 3, Centering::Point, momentum),
            ],
        );
        let source = VelocitySource::choose(&dataset.contents(), &[]).unwrap();
        let level = dataset.level(&source, &["Momentum".to_owned()]).unwrap();
        assert_eq!(level.velocity, [[1.0, 2.0, 3.0, 1.0], [0.0; 4]]);
        assert_eq!(level.masked(), 0.5);
        assert_eq!(level.scalars[0].1, [56.0_f32.sqrt(), 3.0_f32.sqrt()]);
    }
}

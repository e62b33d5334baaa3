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
//! use supple::flow::dataset::{Array, Centering, Dataset, Grid, VelocitySource};
//!
//! let grid = Grid::Uniform { dims: [2, 1, 1], origin: [0.0; 3], spacing: [1.0; 3] };
//! let wind = Array::new("wind", 3, Centering::Point, vec![1.0, 0.0, 0.0, f32::NAN, 0.0, 0.0]);
//! let dataset = Dataset::new(grid, vec![wind]);
//! let source = VelocitySource::choose(&dataset.contents(), &[]).unwrap();
//! let level = dataset.level(&source, &[]).unwrap();
//! assert_eq!(level.velocity, [[1.0, 0.0, 0.0, 1.0], [0.0; 4]]);
//! ```

use std::sync::Arc;

use glam::DVec3;

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

/// What a cell is: the linear types of VTK, under VTK's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names of VTK say it")]
pub enum CellType {
    Empty = 0,
    Vertex = 1,
    PolyVertex = 2,
    Line = 3,
    PolyLine = 4,
    Triangle = 5,
    TriangleStrip = 6,
    Polygon = 7,
    Pixel = 8,
    Quad = 9,
    Tetra = 10,
    Voxel = 11,
    Hexahedron = 12,
    Wedge = 13,
    Pyramid = 14,
    PentagonalPrism = 15,
    HexagonalPrism = 16,
    Polyhedron = 42,
}

impl CellType {
    /// The linear type of VTK's number, how many corners of it count (`None`: all), and whether that leaves
    /// points of a cell of higher order out. `None` for numbers that are no cell.
    #[must_use]
    pub fn from_vtk(code: u8) -> Option<(Self, Option<usize>, bool)> {
        let linear = |kind, corners| Some((kind, corners, false));
        let curved = |kind, corners| Some((kind, Some(corners), true));
        match code {
            0 => linear(Self::Empty, Some(0)),
            1 => linear(Self::Vertex, Some(1)),
            2 => linear(Self::PolyVertex, None),
            3 => linear(Self::Line, Some(2)),
            4 => linear(Self::PolyLine, None),
            5 => linear(Self::Triangle, Some(3)),
            6 => linear(Self::TriangleStrip, None),
            7 => linear(Self::Polygon, None),
            8 => linear(Self::Pixel, Some(4)),
            9 => linear(Self::Quad, Some(4)),
            10 => linear(Self::Tetra, Some(4)),
            11 => linear(Self::Voxel, Some(8)),
            12 => linear(Self::Hexahedron, Some(8)),
            13 => linear(Self::Wedge, Some(6)),
            14 => linear(Self::Pyramid, Some(5)),
            15 => linear(Self::PentagonalPrism, Some(10)),
            16 => linear(Self::HexagonalPrism, Some(12)),
            42 => linear(Self::Polyhedron, None),
            // Quadratic, cubic, Lagrange and Bézier cells list their corners first.
            21 | 35 | 68 | 75 => curved(Self::Line, 2),
            22 | 34 | 69 | 76 => curved(Self::Triangle, 3),
            23 | 28 | 30 | 70 | 77 => curved(Self::Quad, 4),
            24 | 71 | 78 => curved(Self::Tetra, 4),
            25 | 29 | 33 | 72 | 79 => curved(Self::Hexahedron, 8),
            26 | 31 | 32 | 73 | 80 => curved(Self::Wedge, 6),
            27 | 37 | 74 | 81 => curved(Self::Pyramid, 5),
            _ => None,
        }
    }

    /// 3 for solids, 2 for faces, 1 for lines, 0 for points.
    #[must_use]
    pub fn dimension(self) -> usize {
        match self {
            Self::Empty | Self::Vertex | Self::PolyVertex => 0,
            Self::Line | Self::PolyLine => 1,
            Self::Triangle | Self::TriangleStrip | Self::Polygon | Self::Pixel | Self::Quad => 2,
            _ => 3,
        }
    }
}

/// The cells of an unstructured grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    /// What each is.
    pub types: Vec<CellType>,
    /// Where the corners of each begin in `corners`, and where the last end: one more than cells.
    pub offsets: Vec<u32>,
    /// The points, cell by cell.
    pub corners: Vec<u32>,
    /// The faces of polyhedra; empty if there is none.
    pub faces: Faces,
}

/// Faces of polyhedra. Cell `c` has the faces `cell[c]..cell[c + 1]`; none for other cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faces {
    /// Where the faces of each cell begin, and where the last end; empty without polyhedra.
    pub cell: Vec<u32>,
    /// Where the points of each face begin in `points`, and where the last end.
    pub offsets: Vec<u32>,
    /// The points, face by face.
    pub points: Vec<u32>,
}

impl Cells {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// True without cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// The points of a cell.
    #[must_use]
    pub fn corners(&self, cell: usize) -> &[u32] {
        &self.corners[self.offsets[cell] as usize..self.offsets[cell + 1] as usize]
    }

    /// The faces of a polyhedron, each by its points.
    pub fn faces(&self, cell: usize) -> impl Iterator<Item = &[u32]> {
        let faces = &self.faces;
        let range = match (faces.cell.get(cell), faces.cell.get(cell + 1)) {
            (Some(&first), Some(&end)) => first as usize..end as usize,
            _ => 0..0,
        };
        range.map(|f| &faces.points[faces.offsets[f] as usize..faces.offsets[f + 1] as usize])
    }

    /// The largest dimension among the cells: 3 for solids, 2 for faces; 0 without cells.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.types.iter().map(|t| t.dimension()).max().unwrap_or(0)
    }
}

impl Grid {
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
    /// What had to be guessed or was left out, a sentence each.
    pub assumed: Vec<String>,
}

impl Dataset {
    /// Arrays on a grid, in lengths, without a time.
    #[must_use]
    pub fn new(grid: Grid, arrays: Vec<Array>) -> Self {
        Self {
            grid: Arc::new(grid),
            arrays,
            others: Vec::new(),
            time: None,
            coordinates: Coordinates::Metres,
            periodic: [false; 3],
            assumed: Vec::new(),
        }
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

    /// An array at the points.
    fn at_points(&self, name: &str) -> Result<(usize, Vec<f32>), VelocityError> {
        let array = self.array(name).ok_or_else(|| VelocityError::Missing {
            name: name.to_owned(),
            known: names(&self.contents(), |_| true),
        })?;
        let components = array.info.components;
        let values = match array.info.centering {
            Centering::Point => array.values.clone(),
            Centering::Cell => self.grid.to_points(components, &array.values),
        };
        let expected = self.grid.point_count() * components;
        if values.len() != expected || components == 0 {
            let name = name.to_owned();
            return Err(VelocityError::Size { name, found: values.len(), expected });
        }
        Ok((components, values))
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
    /// Share of points where no velocity is known.
    #[must_use]
    pub fn masked(&self) -> f64 {
        let masked = self.velocity.iter().filter(|v| v[3] == 0.0).count();
        masked as f64 / self.velocity.len().max(1) as f64
    }
}

/// Which arrays are the velocity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VelocitySource {
    /// An array of two or three components.
    Vector(String),
    /// Two or three arrays, one a component.
    Components(Vec<String>),
    /// A vector divided by a scalar, as compressible solvers write it.
    Momentum {
        /// Momentum per volume.
        momentum: String,
        /// Mass per volume.
        density: String,
    },
}

/// Why there is no velocity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VelocityError {
    /// An array is not in the file.
    #[error("there is no array '{name}' (there are: {known})")]
    Missing {
        /// Its name.
        name: String,
        /// What there is.
        known: String,
    },
    /// Nothing looks like a velocity.
    #[error(
        "there is no vector that could be a velocity (there are: {known}; name one, or its components, with --velocity)"
    )]
    None {
        /// What there is.
        known: String,
    },
    /// Several could be it.
    #[error("several arrays could be the velocity: {known} (choose with --velocity NAME)")]
    Several {
        /// Their names.
        known: String,
    },
    /// One component was found, another was not.
    #[error(
        "'{name}' is one component of a velocity, the other is not here (add the file that has it, or name the components with --velocity U,V)"
    )]
    Half {
        /// The component that is there.
        name: String,
    },
    /// A name stands for an array that has too few components.
    #[error(
        "'{name}' has one component, a velocity has two or three (name two or three arrays: --velocity U,V[,W])"
    )]
    Scalar {
        /// Its name.
        name: String,
    },
    /// An array does not fit its grid.
    #[error(
        "the array '{name}' has {found} numbers where the grid has room for {expected} (the file is damaged; export it again)"
    )]
    Size {
        /// Its name.
        name: String,
        /// Numbers that are there.
        found: usize,
        /// Numbers that should be.
        expected: usize,
    },
}

/// Names a velocity has in files, the likelier first; compared without regard to case.
const VECTOR_NAMES: [&str; 10] = [
    "u",
    "velocity",
    "vel",
    "v",
    "velocities",
    "vectors",
    "velocity_field",
    "umean",
    "wind",
    "vectors_",
];

/// Names its components have, the likelier first.
const COMPONENT_NAMES: [[&str; 3]; 14] = [
    ["u", "v", "w"],
    ["ux", "uy", "uz"],
    ["vx", "vy", "vz"],
    ["x velocity", "y velocity", "z velocity"],
    ["velocity_x", "velocity_y", "velocity_z"],
    ["x_velocity", "y_velocity", "z_velocity"],
    ["velocityx", "velocityy", "velocityz"],
    ["vozocrtx", "vomecrty", "vovecrtz"],
    ["uo", "vo", "wo"],
    ["uvel", "vvel", "wvel"],
    ["water_u", "water_v", "water_w"],
    ["u10", "v10", "w10"],
    ["u_velocity", "v_velocity", "w_velocity"],
    [
        "eastward_eulerian_current_velocity",
        "northward_eulerian_current_velocity",
        "upward_velocity",
    ],
];

impl VelocitySource {
    /// The arrays named, or if none is named those that are the velocity by their name, by what the file says
    /// of them, or because there is no other vector.
    ///
    /// # Errors
    ///
    /// [`VelocityError`] with the names to choose from.
    pub fn choose(contents: &[ArrayInfo], named: &[String]) -> Result<Self, VelocityError> {
        match named {
            [] => Self::guess(contents),
            [name] => {
                let info = find(contents, name)?;
                if info.components < 2 {
                    return Err(VelocityError::Scalar { name: name.clone() });
                }
                Ok(Self::Vector(info.name.clone()))
            }
            _ => {
                let found = named.iter().map(|n| find(contents, n).map(|i| i.name.clone()));
                Ok(Self::Components(found.collect::<Result<_, _>>()?))
            }
        }
    }

    /// The names of the arrays.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Vector(name) => vec![name],
            Self::Components(names) => names.iter().map(String::as_str).collect(),
            Self::Momentum { momentum, density } => vec![momentum, density],
        }
    }

    fn guess(contents: &[ArrayInfo]) -> Result<Self, VelocityError> {
        let vectors: Vec<&ArrayInfo> = contents
            .iter()
            .filter(|i| matches!(i.components, 2 | 3) && !is_geometry(&i.name))
            .collect();
        let is = |info: &ArrayInfo, name: &str| info.name.eq_ignore_ascii_case(name);
        let known = VECTOR_NAMES.iter().find_map(|n| vectors.iter().find(|i| is(i, n)));
        if let Some(info) = known {
            return Ok(Self::Vector(info.name.clone()));
        }
        let of = |wanted: &str| contents.iter().find(|i| is(i, wanted) && i.components == 1);
        let momentum = vectors.iter().find(|i| is(i, "momentum") || is(i, "rhou"));
        if let (Some(momentum), Some(density)) = (momentum, of("density").or_else(|| of("rho"))) {
            let (momentum, density) = (momentum.name.clone(), density.name.clone());
            return Ok(Self::Momentum { momentum, density });
        }
        if let Some(found) = Self::components(contents) {
            return found;
        }
        let mut different: Vec<&str> = vectors.iter().map(|i| i.name.as_str()).collect();
        different.dedup();
        match different[..] {
            [] => Err(VelocityError::None { known: names(contents, |_| true) }),
            [only] => Ok(Self::Vector(only.to_owned())),
            _ => Err(VelocityError::Several { known: different.join(", ") }),
        }
    }

    /// Two or three scalars that belong together.
    fn components(contents: &[ArrayInfo]) -> Option<Result<Self, VelocityError>> {
        let scalar = |test: &dyn Fn(&ArrayInfo) -> bool| {
            contents.iter().find(|i| i.components == 1 && test(i)).map(|i| i.name.clone())
        };
        let meaning = |word: &str| {
            scalar(&|i| {
                let meaning = i.meaning.as_deref().unwrap_or_default();
                meaning.starts_with(word) && meaning.ends_with("velocity")
            })
        };
        let mut half = None;
        let triples = COMPONENT_NAMES
            .iter()
            .map(|names| names.map(|n| scalar(&|i| i.name.eq_ignore_ascii_case(n))))
            .chain(
                [["eastward", "northward", "upward"], ["sea_water_x", "sea_water_y", "upward"]]
                    .map(|words| words.map(meaning)),
            );
        for triple in triples {
            match triple {
                [Some(u), Some(v), w] => {
                    let names = [u, v].into_iter().chain(w).collect();
                    return Some(Ok(Self::Components(names)));
                }
                [Some(one), None, _] | [None, Some(one), _] => half = half.or(Some(one)),
                _ => {}
            }
        }
        half.map(|name| Err(VelocityError::Half { name }))
    }
}

fn is_geometry(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("normal") || name == "points" || name.contains("coord") || name.contains("color")
}

fn find<'a>(contents: &'a [ArrayInfo], name: &str) -> Result<&'a ArrayInfo, VelocityError> {
    let exact = contents.iter().find(|i| i.name == name);
    exact.or_else(|| contents.iter().find(|i| i.name.eq_ignore_ascii_case(name))).ok_or_else(|| {
        VelocityError::Missing { name: name.to_owned(), known: names(contents, |_| true) }
    })
}

fn names(contents: &[ArrayInfo], keep: impl Fn(&ArrayInfo) -> bool) -> String {
    let names: Vec<&str> = contents.iter().filter(|i| keep(i)).map(|i| i.name.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str, components: usize) -> ArrayInfo {
        Array::new(name, components, Centering::Point, Vec::new()).info
    }

    fn choose(contents: &[ArrayInfo]) -> Result<VelocitySource, VelocityError> {
        VelocitySource::choose(contents, &[])
    }

    #[test]
    fn velocity_is_found_by_name_and_kind() {
        let vector = |name: &str| Ok(VelocitySource::Vector(name.to_owned()));
        assert_eq!(choose(&[info("p", 1), info("flux", 3)]), vector("flux"));
        assert_eq!(choose(&[info("B", 3), info("Velocity", 3)]), vector("Velocity"));
        assert_eq!(choose(&[info("Normals", 3), info("flux", 3)]), vector("flux"));
        let parts =
            |n: &[&str]| Ok(VelocitySource::Components(n.iter().map(|&s| s.to_owned()).collect()));
        let cth = ["X Velocity", "Y Velocity", "Z Velocity"];
        assert_eq!(choose(&cth.map(|n| info(n, 1))), parts(&cth));
        assert_eq!(choose(&[info("uo", 1), info("vo", 1)]), parts(&["uo", "vo"]));
        let momentum = VelocitySource::Momentum {
            momentum: "Momentum".to_owned(),
            density: "Density".to_owned(),
        };
        assert_eq!(choose(&[info("Density", 1), info("Momentum", 3)]), Ok(momentum));
        let east =
            ArrayInfo { meaning: Some("eastward_sea_water_velocity".to_owned()), ..info("a", 1) };
        let north =
            ArrayInfo { meaning: Some("northward_sea_water_velocity".to_owned()), ..info("b", 1) };
        assert_eq!(choose(&[north, east]), parts(&["a", "b"]));
    }

    #[test]
    fn what_is_no_velocity_is_refused_with_the_names() {
        let none = choose(&[info("p", 1)]).unwrap_err().to_string();
        assert!(none.contains("there are: p"), "{none}");
        let several = choose(&[info("a", 3), info("b", 3)]).unwrap_err().to_string();
        assert!(several.contains("a, b"), "{several}");
        let half = choose(&[info("vozocrtx", 1)]).unwrap_err().to_string();
        assert!(half.contains("'vozocrtx' is one component"), "{half}");
        let scalar = VelocitySource::choose(&[info("p", 1)], &["p".to_owned()]);
        assert_eq!(scalar, Err(VelocityError::Scalar { name: "p".to_owned() }));
    }

    #[test]
    fn cells_give_points_the_mean_of_what_is_valid() {
        let grid = Grid::Uniform { dims: [3, 2, 1], origin: [0.0; 3], spacing: [1.0; 3] };
        assert_eq!(grid.to_points(1, &[1.0, 3.0]), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
        let half = grid.to_points(1, &[f32::NAN, 3.0]);
        assert!(half[0].is_nan() && half[3].is_nan(), "{half:?}");
        assert_eq!(half[1], 3.0);
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
        let source = choose(&dataset.contents()).unwrap();
        let level = dataset.level(&source, &["Momentum".to_owned()]).unwrap();
        assert_eq!(level.velocity, [[1.0, 2.0, 3.0, 1.0], [0.0; 4]]);
        assert_eq!(level.masked(), 0.5);
        assert_eq!(level.scalars[0].1, [56.0_f32.sqrt(), 3.0_f32.sqrt()]);
    }

    #[test]
    fn cells_of_higher_order_keep_their_corners() {
        assert_eq!(CellType::from_vtk(24), Some((CellType::Tetra, Some(4), true)));
        assert_eq!(CellType::from_vtk(10), Some((CellType::Tetra, Some(4), false)));
        assert_eq!(CellType::from_vtk(99), None);
    }
}

//! NetCDF 3, CDF-5 and 4 files by the CF conventions: axes, times, masks.
//!
//! # What is read
//!
//! Variables with a horizontal grid, from one file or several: files with the same variables follow each other in
//! time, files with others (`U.nc V.nc`) belong together. Axes are found by `axis`, `units`, `standard_name`,
//! `positive` and the names models use. Horizontal coordinates with two dimensions become axes if they are a product
//! of two, else a curvilinear grid. `scale_factor` and `add_offset` are undone; `_FillValue`, `missing_value`,
//! `valid_min`, `valid_max`, `valid_range` and NetCDF's own fill values become NaN. Degrees are coordinates whose
//! unit says so, or that are called longitude and latitude and could be (`nav_lon` of 100,000 is a length).
//! Depths count down: z = −depth.
//!
//! # Limits
//!
//! - Components on grids of different sizes (Arakawa C), terrain-following levels and meshes of triangles are
//!   refused by name.
//! - Variables are read in one piece a level.
//!
//! # References
//!
//! - NetCDF Climate and Forecast (CF) Metadata Conventions, 1.11, 2023.

mod axes;
mod time;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use netcdf_reader::{NcFile, NcSliceInfo, NcSliceInfoElem, NcType, NcVariable};

use axes::{Axis, Horizontal};
pub use time::TimeUnits;

use super::{Malformed, Place, ReadError};
use crate::flow::dataset::{
    Array, ArrayInfo, Centering, Coordinates, Dataset, Grid, Select, VelocitySource,
};

/// Deflate makes at most this many bytes of one.
const MOST_RATIO: u64 = 1100;

/// Names an attribute for units has; some programs write a capital.
const UNITS: [&str; 3] = ["units", "Unit", "Units"];

/// A file that is open.
struct Open {
    path: PathBuf,
    file: NcFile,
    bytes: u64,
}

/// Where a variable is at one level: the file, and the index along its time.
type LevelPlace = (usize, Option<u64>);

/// NetCDF files that are one recording.
pub struct Collection {
    files: Vec<Open>,
    grid: Arc<Grid>,
    coordinates: Coordinates,
    /// The size of the grid as its variables have it.
    shape: [usize; 3],
    contents: Vec<ArrayInfo>,
    /// For each level, the index along time in the files that have it.
    levels: Vec<Vec<LevelPlace>>,
    times: Option<Vec<f64>>,
    units: Option<TimeUnits>,
    assumed: Vec<String>,
}

impl fmt::Debug for Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collection").field("levels", &self.levels.len()).finish_non_exhaustive()
    }
}

/// Whether bytes start as a NetCDF file does.
#[must_use]
pub fn is_netcdf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"CDF\x01")
        || bytes.starts_with(b"CDF\x02")
        || bytes.starts_with(b"CDF\x05")
        || bytes.starts_with(b"\x89HDF\r\n\x1a\n")
}

/// Reads the first moment of a file that is in memory.
///
/// # Errors
///
/// [`Malformed`] with what makes no sense.
pub fn read(bytes: Vec<u8>, select: Select<'_>) -> Result<Dataset, Malformed> {
    let open = Open::from_bytes(Path::new(""), bytes);
    let read = open.and_then(|f| Collection::of(vec![f], &[])).and_then(|c| c.read(0, select));
    read.map_err(|error| match error {
        ReadError::Malformed { source, .. } => source,
        other => Malformed::new(Place::File, other.to_string(), "copy the file again"),
    })
}

fn malformed(path: &Path, what: impl Into<String>, fix: &str) -> ReadError {
    let source = Malformed::new(Place::File, what, fix);
    ReadError::Malformed { path: path.to_owned(), source }
}

impl Open {
    fn new(path: &Path) -> Result<Self, ReadError> {
        let io = |source| ReadError::Io { path: path.to_owned(), source };
        crate::io::inputs::remember(path);
        // Not mapped into memory: a file that shrinks meanwhile would end the process.
        Self::from_bytes(path, std::fs::read(path).map_err(io)?)
    }

    fn from_bytes(path: &Path, data: Vec<u8>) -> Result<Self, ReadError> {
        let bytes = data.len() as u64;
        let file = NcFile::from_vec(data).map_err(|error| {
            malformed(path, format!("not a NetCDF file that can be read: {error}"), "copy it again")
        })?;
        Ok(Self { path: path.to_owned(), file, bytes })
    }

    fn variables(&self) -> Result<&[NcVariable], ReadError> {
        self.file.variables().map_err(|error| self.damaged(&error.to_string()))
    }

    fn damaged(&self, why: &str) -> ReadError {
        malformed(&self.path, format!("the file is damaged: {why}"), "copy or write it again")
    }

    fn variable(&self, name: &str) -> Option<&NcVariable> {
        self.variables().ok()?.iter().find(|v| v.name() == name)
    }

    /// A slice of a variable as `f64`, unpacked, NaN where it is masked.
    fn read(&self, variable: &NcVariable, slice: &NcSliceInfo) -> Result<Vec<f64>, ReadError> {
        let name = variable.name();
        let sizes = variable.dimensions().iter().zip(&slice.selections).map(|(d, s)| match s {
            NcSliceInfoElem::Index(_) => 1,
            NcSliceInfoElem::Slice { .. } => d.size,
        });
        let size = sizes.fold(1_u64, u64::saturating_mul);
        if size > self.bytes.saturating_mul(MOST_RATIO).saturating_add(1 << 20) {
            let what = format!("{size} numbers of '{name}' cannot be in {} bytes", self.bytes);
            return Err(malformed(&self.path, what, "the file is damaged; copy it again"));
        }
        let read = self.file.read_variable_slice_as_f64(name, slice);
        let values = read.map_err(|error| self.damaged(&format!("'{name}': {error}")))?;
        let mut values: Vec<f64> = values.iter().copied().collect();
        unpack(variable, &mut values);
        Ok(values)
    }

    fn read_all(&self, variable: &NcVariable) -> Result<Vec<f64>, ReadError> {
        self.read(variable, &NcSliceInfo::all(variable.ndim()))
    }
}

fn text_of(variable: &NcVariable, name: &str) -> Option<String> {
    let text = variable.attribute(name)?.value.as_string()?;
    Some(text.trim_matches(['\0', ' ']).to_owned())
}

fn units_of(variable: &NcVariable) -> Option<String> {
    UNITS.iter().find_map(|name| text_of(variable, name)).filter(|u| !u.is_empty())
}

/// Masks what is missing, and undoes packing.
fn unpack(variable: &NcVariable, values: &mut [f64]) {
    let number = |name: &str| variable.attribute(name).and_then(|a| a.value.as_f64());
    let float = matches!(variable.dtype(), NcType::Float | NcType::Double);
    let (scale, offset) = (number("scale_factor"), number("add_offset"));
    let packed = scale.is_some() || offset.is_some();
    let (scale, offset) = (scale.unwrap_or(1.0), offset.unwrap_or(0.0));
    let default = match variable.dtype() {
        NcType::Short => Some(-32767.0),
        NcType::Int => Some(-2_147_483_647.0),
        NcType::Float | NcType::Double => Some(9.969_209_968_386_869e36),
        _ => None,
    };
    let fills: Vec<f64> = ["_FillValue", "missing_value"]
        .iter()
        .filter_map(|name| variable.attribute(name)?.value.as_f64_vec())
        .flatten()
        .chain(default)
        .collect();
    // A limit is in packed numbers; where it is not of their type, nobody knows what it means.
    let limit = |name: &str| number(name).filter(|_| !packed);
    let range = variable.attribute("valid_range").and_then(|a| a.value.as_f64_vec());
    let range = range.filter(|r| r.len() == 2 && !packed);
    let low = limit("valid_min").or(range.as_ref().map(|r| r[0])).unwrap_or(f64::NEG_INFINITY);
    let high = limit("valid_max").or(range.as_ref().map(|r| r[1])).unwrap_or(f64::INFINITY);
    // Fill values of floats are compared as floats: some files hold them rounded.
    let same = |x: f64, fill: f64| {
        x == fill || float && (x - fill).abs() <= 1e-6 * fill.abs() && fill.abs() > 1e10
    };
    for x in values {
        let missing = fills.iter().any(|&f| same(*x, f)) || *x < low || *x > high;
        *x = if missing { f64::NAN } else { *x * scale + offset };
    }
}

impl Collection {
    /// Opens files; the grid is that of the velocity (named, or found), else of the largest variable.
    ///
    /// # Errors
    ///
    /// [`ReadError`] with what makes no sense, and in which file.
    pub fn open(paths: &[PathBuf], velocity: &[String]) -> Result<Self, ReadError> {
        Self::of(paths.iter().map(|p| Open::new(p)).collect::<Result<Vec<_>, _>>()?, velocity)
    }

    fn of(files: Vec<Open>, velocity: &[String]) -> Result<Self, ReadError> {
        let contents = contents_of(&files)?;
        let chosen = VelocitySource::choose(&contents, velocity).ok();
        let names: Vec<String> = match &chosen {
            Some(source) => source.names().into_iter().map(str::to_owned).collect(),
            None => contents.iter().take(1).map(|i| i.name.clone()).collect(),
        };
        let first = names.first().and_then(|n| find(&files, n));
        let Some((file, variable)) = first else {
            let names: Vec<String> =
                files[0].variables()?.iter().take(12).map(|v| v.name().to_owned()).collect();
            let what =
                format!("no variable has a horizontal grid (there are: {})", names.join(", "));
            return Err(malformed(&files[0].path, what, "name files with u and v on a grid"));
        };
        let mut assumed = Vec::new();
        let order = axes::order(&files[file], variable)?;
        let horizontal = axes::horizontal(&files[file], variable, &order, &mut assumed)?;
        let depth = axes::vertical(&files[file], variable, &order)?;
        let shape = order.shape(variable);
        same_shape(&files, &names, shape)?;
        let coordinates = horizontal.coordinates;
        let grid = Grid::from_axes(horizontal, depth, shape);
        let (levels, times, units) = time::levels(&files, &names, &mut assumed)?;
        Ok(Self {
            grid: Arc::new(grid),
            coordinates,
            shape,
            contents,
            levels,
            times,
            units,
            assumed,
            files,
        })
    }

    /// How many levels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// Never: a collection has a level.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// When the levels are, if a file says it.
    #[must_use]
    pub fn times(&self) -> Option<&[f64]> {
        self.times.as_deref()
    }

    /// What times are counted in.
    #[must_use]
    pub fn time_units(&self) -> Option<&TimeUnits> {
        self.units.as_ref()
    }

    /// The variables with a horizontal grid.
    #[must_use]
    pub fn contents(&self) -> &[ArrayInfo] {
        &self.contents
    }

    /// Keeps these levels, in this order.
    pub fn reorder(&mut self, order: &[usize]) {
        self.levels = order.iter().map(|&k| self.levels[k].clone()).collect();
        if let Some(times) = &mut self.times {
            *times = order.iter().map(|&k| times[k]).collect();
        }
    }

    /// The first file of a level.
    #[must_use]
    pub fn path(&self, level: usize) -> &Path {
        let file = self.levels.get(level).and_then(|l| l.first()).map_or(0, |(file, _)| *file);
        &self.files[file].path
    }

    /// Reads the selected variables of a level.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if a variable cannot be read, or has another grid.
    pub fn read(&self, level: usize, select: Select<'_>) -> Result<Dataset, ReadError> {
        let mut dataset = Dataset::new((*self.grid).clone(), Vec::new());
        dataset.coordinates = self.coordinates;
        dataset.time = self.times.as_ref().map(|t| t[level]);
        dataset.assumed.clone_from(&self.assumed);
        for info in &self.contents {
            if !select.wants(&info.name) {
                dataset.others.push(info.clone());
                continue;
            }
            let values = self.values(level, &info.name)?;
            dataset.arrays.push(Array { info: info.clone(), values });
        }
        let rising = dataset.make_axes_rise();
        rising.map_err(|what| malformed(self.path(level), what, "correct the coordinates"))?;
        Ok(dataset)
    }

    fn values(&self, level: usize, name: &str) -> Result<Vec<f32>, ReadError> {
        let places = self.levels[level].iter();
        let found = places.filter_map(|&(f, t)| Some((f, t, self.files[f].variable(name)?))).next();
        let Some((file, time, variable)) = found else {
            let what = format!("'{name}' is not there at every time");
            return Err(malformed(self.path(level), what, "add the file that has it"));
        };
        let open = &self.files[file];
        let order = axes::order(open, variable)?;
        if order.shape(variable) != self.shape {
            let what = format!("'{name}' has another size than the velocity");
            return Err(malformed(&open.path, what, "choose a variable of the same grid"));
        }
        let values = open.read(variable, &order.slice(variable, time))?;
        Ok(order.sorted(variable, &values))
    }
}

fn find<'a>(files: &'a [Open], name: &str) -> Option<(usize, &'a NcVariable)> {
    files.iter().enumerate().find_map(|(k, f)| Some((k, f.variable(name)?)))
}

/// All variables with two dimensions of space, as they come.
fn contents_of(files: &[Open]) -> Result<Vec<ArrayInfo>, ReadError> {
    let mut contents: Vec<ArrayInfo> = Vec::new();
    for file in files {
        for variable in file.variables()? {
            let numeric = !matches!(variable.dtype(), NcType::Char | NcType::String)
                && variable.dtype().is_primitive();
            let name = variable.name();
            let known = contents.iter().any(|i| i.name == name);
            if !numeric || known || axes::is_coordinate(name) || variable.ndim() < 2 {
                continue;
            }
            let order = axes::order(file, variable)?;
            if order.has(Axis::X) && order.has(Axis::Y) && order.others(variable).is_empty() {
                contents.push(ArrayInfo {
                    name: name.to_owned(),
                    components: 1,
                    centering: Centering::Point,
                    units: units_of(variable),
                    meaning: text_of(variable, "standard_name"),
                });
            }
        }
    }
    Ok(contents)
}

/// All components must have one size.
fn same_shape(files: &[Open], names: &[String], shape: [usize; 3]) -> Result<(), ReadError> {
    for name in names {
        let Some((file, variable)) = find(files, name) else { continue };
        let open = &files[file];
        let found = axes::order(open, variable)?.shape(variable);
        if found != shape {
            let what = format!("'{name}' has {found:?} points, '{}' has {shape:?}", names[0]);
            let fix =
                "components on staggered grids (Arakawa C) are not read: bring them to one grid";
            return Err(malformed(&open.path, what, fix));
        }
    }
    Ok(())
}

impl Grid {
    /// The grid of axes that were found.
    fn from_axes(horizontal: Horizontal, z: Vec<f64>, shape: [usize; 3]) -> Self {
        match horizontal.points {
            None => Self::Rectilinear { x: horizontal.x, y: horizontal.y, z },
            Some(points) => {
                let layer = |&z: &f64| points.iter().map(move |p| glam::DVec3::new(p[0], p[1], z));
                Self::Curvilinear { dims: shape, points: z.iter().flat_map(layer).collect() }
            }
        }
    }
}

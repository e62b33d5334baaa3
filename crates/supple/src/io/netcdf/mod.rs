//! NetCDF 3, CDF-5 and 4 files by the CF conventions: axes, times, masks, oceans.
//!
//! # What is read
//!
//! Variables with a horizontal grid, from one file or several: files with the same variables follow each other in
//! time, files with others (`U.nc V.nc`, a grid file) belong together. Axes are found by `axis`, `units`, `standard_name`,
//! `positive` and the names models use. Horizontal coordinates with two dimensions become axes if they are a product
//! of two, else a curvilinear grid. `scale_factor` and `add_offset` are undone; `_FillValue`, `missing_value`,
//! `valid_min`, `valid_max`, `valid_range` and NetCDF's own fill values become NaN. Degrees are coordinates whose
//! unit says so, or that are called longitude and latitude and could be (`nav_lon` of 100,000 is a length).
//! Depths count down: z = −depth.
//!
//! Of oceans, components on the faces of an Arakawa C-grid are brought to the corners of its cells (`staggered.rs`),
//! layers may follow the sea floor (`terrain.rs`), components along the grid are turned to east and north, and the flow
//! slips along coasts (`coast.rs`).
//!
//! Files are read by position, a level at a time.
//!
//! # Limits
//!
//! - Meshes of triangles are refused by name.
//!
//! # References
//!
//! - NetCDF Climate and Forecast (CF) Metadata Conventions, 1.11, 2023.
//! - A. Arakawa, V. R. Lamb. Computational design of the basic dynamical processes of the UCLA general circulation
//!   model. Methods in Computational Physics 17, 1977.

mod axes;
mod coast;
mod file;
mod staggered;
mod terrain;
mod time;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::DVec3;
use netcdf_reader::{NcType, NcVariable};

use axes::{Axis, Horizontal, Vertical};
use file::{Open, malformed, text_of, units_of};
use staggered::{Component, Staggered};
use terrain::{Ends, Terrain};
pub use time::TimeUnits;

use super::{Malformed, Place, ReadError};
use crate::dataset::Coast;
use crate::dataset::{
    Array, ArrayInfo, Centering, Coordinates, Dataset, Grid, Part, Select, VelocitySource,
};

/// Where a variable is at one level: the file, and the index along its time.
type LevelPlace = (usize, Option<u64>);

/// NetCDF files that are one recording.
pub struct Collection {
    files: Vec<Open>,
    grid: Arc<Grid>,
    coordinates: Coordinates,
    /// The size of the velocity's first component in its file.
    shape: [usize; 3],
    /// The components of the velocity.
    names: Vec<String>,
    layout: Layout,
    terrain: Option<Terrain>,
    coast: Option<Arc<Coast>>,
    contents: Vec<ArrayInfo>,
    /// For each level, the index along time in the files that have it.
    levels: Vec<Vec<LevelPlace>>,
    times: Option<Vec<f64>>,
    units: Option<TimeUnits>,
    assumed: Vec<String>,
}

/// How the components of the velocity stand to each other.
#[derive(Debug)]
enum Layout {
    /// At the same points. They may run along the grid, by whose direction they are turned; and there may be a coast.
    Together { turn: Option<Vec<[f32; 2]>>, slips: bool },
    /// On the faces of a C-grid.
    Staggered(Box<Staggered>),
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
        let mut assumed: Vec<String> = files.iter().filter_map(Open::cut_warning).collect();
        let order = axes::order(&files[file], variable)?;
        let shape = order.shape(variable);
        let points = shape.iter().fold(1_u64, |n, &d| n.saturating_mul(d as u64));
        if points == 0 || points > files[file].most_numbers() {
            let what = format!("'{}' has {shape:?} points", variable.name());
            return Err(malformed(&files[file].path, what, "the file is damaged; copy it again"));
        }
        let vertical = axes::vertical(&files, &files[file], variable, &order, &mut assumed)?;
        let u = Component { file: &files[file], variable, order: &order };
        let placed = placed(&files, &names, &u, vertical, &mut assumed)?;
        let (levels, times, units) = time::levels(&files, &names, &mut assumed)?;
        let mut collection = Self {
            grid: Arc::new(placed.grid),
            coordinates: placed.coordinates,
            shape,
            layout: placed.layout,
            terrain: placed.terrain,
            coast: None,
            names,
            contents,
            levels,
            times,
            units,
            assumed,
            files,
        };
        collection.find_coast()?;
        Ok(collection)
    }

    /// The coast of a C-grid, as its first level has it.
    fn find_coast(&mut self) -> Result<(), ReadError> {
        if let (Layout::Staggered(grid), [u, v, ..]) = (&self.layout, &self.names[..]) {
            let (u, v) = (self.raw(0, u)?.values, self.raw(0, v)?.values);
            let coast = grid.velocities(&u, &v).1;
            let coast = match &self.terrain {
                // Layers at floor and surface have the coast of those beside them.
                Some(terrain) => {
                    let [nx, ny] = grid.size;
                    coast.repeated((nx - 1) * (ny - 1), terrain.layers() - 1)
                }
                None => coast,
            };
            self.coast = Some(Arc::new(coast));
        }
        Ok(())
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
        let mut dataset = Dataset::on(Arc::clone(&self.grid), Vec::new());
        dataset.coast.clone_from(&self.coast);
        dataset.coordinates = self.coordinates;
        dataset.time = self.times.as_ref().map(|t| t[level]);
        dataset.assumed.clone_from(&self.assumed);
        let mut velocity = match &self.names[..] {
            [u, v, ..] if select.wants(u) || select.wants(v) => self.velocity(level, [u, v])?,
            _ => Vec::new(),
        };
        for info in &self.contents {
            let own = velocity.iter_mut().find(|(name, _)| *name == info.name);
            let values = match own {
                _ if !select.wants(&info.name) => None,
                Some((_, values)) => Some(std::mem::take(values)),
                None => self.other(level, &info.name, select)?,
            };
            match values {
                Some(values) => dataset.arrays.push(Array { info: info.clone(), values }),
                None => dataset.others.push(info.clone()),
            }
        }
        let rising = dataset.make_axes_rise();
        rising.map_err(|what| malformed(self.path(level), what, "correct the coordinates"))?;
        Ok(dataset)
    }

    /// Both components of the velocity at the points of the grid, to the east and to the north.
    fn velocity(
        &self,
        level: usize,
        names: [&String; 2],
    ) -> Result<Vec<(String, Vec<f32>)>, ReadError> {
        let [mut u, mut v] = [self.raw(level, names[0])?, self.raw(level, names[1])?];
        let (u, v) = match &self.layout {
            Layout::Staggered(grid) => {
                let [u, v] = grid.velocities(&u.values, &v.values).0;
                (u, v)
            }
            Layout::Together { turn, slips } => {
                for raw in [&u, &v] {
                    if raw.shape != self.shape {
                        return Err(self.misfit(level, &raw.name));
                    }
                }
                if *slips {
                    coast::slip(&mut u.values, &mut v.values, [self.shape[0], self.shape[1]]);
                }
                if let Some(turn) = turn {
                    for ((u, v), [cos, sin]) in
                        u.values.iter_mut().zip(&mut v.values).zip(turn.iter().cycle())
                    {
                        (*u, *v) = (cos * *u - sin * *v, sin * *u + cos * *v);
                    }
                }
                (u.values, v.values)
            }
        };
        let whole = |values| self.padded(values, Ends::Same);
        Ok(vec![(names[0].clone(), whole(u)), (names[1].clone(), whole(v))])
    }

    fn padded(&self, values: Vec<f32>, ends: Ends) -> Vec<f32> {
        match &self.terrain {
            Some(terrain) => terrain.padded(values, self.plane(), ends),
            None => values,
        }
    }

    /// Points of the grid in a layer.
    fn plane(&self) -> usize {
        self.grid.dims().map_or(1, |d| d[0] * d[1])
    }

    fn misfit(&self, level: usize, name: &str) -> ReadError {
        let what = format!("'{name}' has another size than the velocity");
        malformed(self.path(level), what, "choose a variable of the same grid")
    }

    /// Any other variable at the points of the grid; of all variables those that fit.
    fn other(
        &self,
        level: usize,
        name: &str,
        select: Select<'_>,
    ) -> Result<Option<Vec<f32>>, ReadError> {
        let raw = match (self.raw(level, name), select) {
            (Ok(raw), _) => raw,
            (Err(_), Select::All) => return Ok(None),
            (Err(error), _) => return Err(error),
        };
        let [nx, ny, layers] = raw.shape;
        let fits = match &self.layout {
            Layout::Staggered(grid) => [nx, ny] == grid.centre_size(),
            Layout::Together { .. } => [nx, ny] == self.shape[..2],
        };
        let is_upward = self.names.get(2).is_some_and(|w| w == name);
        let between = layers == self.shape[2] + 1;
        if !fits || !(between || layers == self.shape[2]) {
            return if matches!(select, Select::All) {
                Ok(None)
            } else {
                Err(self.misfit(level, name))
            };
        }
        // Between layers, or at their tops (NEMO, MITgcm): brought to their middles.
        let values = if between || is_upward && raw.at_tops {
            middles(&raw.values, nx * ny, self.shape[2])
        } else {
            raw.values
        };
        let values = match &self.layout {
            Layout::Staggered(grid) => grid.centres_at_corners(&values),
            Layout::Together { .. } => values,
        };
        Ok(Some(self.padded(values, if is_upward { Ends::Zero } else { Ends::Same })))
    }

    /// Whether the flow slips along points without a value.
    #[must_use]
    pub fn slips(&self) -> bool {
        matches!(&self.layout, Layout::Together { slips: true, .. })
    }

    /// Whether boxes of points can be read alone: both components along axes.
    #[must_use]
    pub fn has_parts(&self) -> bool {
        matches!(&self.layout, Layout::Together { turn: None, .. })
            && matches!(&*self.grid, Grid::Rectilinear { .. })
            && self.names.len() > 1
    }

    /// Velocity and validity at a box of points (axes rising), every so many along each axis.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if a component cannot be read.
    pub fn part(
        &self,
        level: usize,
        part: &Part,
        stride: usize,
    ) -> Result<Vec<[f32; 4]>, ReadError> {
        let Grid::Rectilinear { x, y, z } = &*self.grid else {
            return Err(self.misfit(level, &self.names[0]));
        };
        let falls = [x, y, z].map(|axis| axis.len() > 1 && axis[1] < axis[0]);
        let slips = matches!(&self.layout, Layout::Together { slips: true, .. }) && stride == 1;
        // A coast is known by what is beside it.
        let halo = usize::from(slips);
        let wide: Part = [0, 1, 2].map(|a| {
            let halo = if a < 2 { halo } else { 0 };
            part[a].start.saturating_sub(halo)..(part[a].end + halo).min(self.shape[a])
        });
        let mut components = Vec::new();
        for name in self.names.iter().take(3) {
            components.push(self.raw_part(level, name, &wide, stride, falls)?);
        }
        let n = [0, 1, 2].map(|a| wide[a].len().div_ceil(stride));
        if slips && let [u, v, ..] = &mut components[..] {
            coast::slip(u, v, [n[0], n[1]]);
        }
        let inner = [0, 1, 2].map(|a| (part[a].start - wide[a].start).div_ceil(stride));
        let count = [0, 1, 2].map(|a| part[a].len().div_ceil(stride));
        let known = |at: usize| {
            let c = |c: usize| components.get(c).map_or(0.0, |values| values[at]);
            let v = [c(0), c(1), c(2)];
            if v.iter().all(|x| x.is_finite()) { [v[0], v[1], v[2], 1.0] } else { [0.0; 4] }
        };
        let mut velocity = Vec::with_capacity(count.iter().product());
        for (k, j) in (0..count[2]).flat_map(|k| (0..count[1]).map(move |j| (k, j))) {
            let row = ((k + inner[2]) * n[1] + j + inner[1]) * n[0] + inner[0];
            velocity.extend((row..row + count[0]).map(known));
        }
        Ok(velocity)
    }

    /// A box of a variable, along axes that rise.
    fn raw_part(
        &self,
        level: usize,
        name: &str,
        part: &Part,
        stride: usize,
        falls: [bool; 3],
    ) -> Result<Vec<f32>, ReadError> {
        let (open, time, variable) = self.place_of(level, name)?;
        let order = axes::order(open, variable)?;
        if order.shape(variable) != self.shape {
            return Err(self.misfit(level, name));
        }
        // Counted from the other end; the last point of a stride must be the same.
        let in_file: Part = [0, 1, 2].map(|a| {
            let last = part[a].start + (part[a].len() - 1) / stride * stride;
            let n = self.shape[a];
            if falls[a] { n - 1 - last..n - part[a].start } else { part[a].start..last + 1 }
        });
        let slice = order.slice_of(variable, time, &in_file, stride);
        let n = [0, 1, 2].map(|a| part[a].len().div_ceil(stride));
        let values = order.sorted_as(n, open.read_f32(variable, &slice)?);
        if values.len() != n.iter().product::<usize>() {
            return Err(self.misfit(level, name));
        }
        Ok(if falls == [false; 3] { values } else { crate::dataset::turn(&values, 1, n, falls) })
    }

    /// Where a variable is at a level.
    fn place_of(
        &self,
        level: usize,
        name: &str,
    ) -> Result<(&Open, Option<u64>, &NcVariable), ReadError> {
        let places = self.levels[level].iter();
        let found = places.filter_map(|&(f, t)| Some((f, t, self.files[f].variable(name)?))).next();
        let Some((file, time, variable)) = found else {
            let what = format!("'{name}' is not there at every time");
            return Err(malformed(self.path(level), what, "add the file that has it"));
        };
        Ok((&self.files[file], time, variable))
    }

    /// A variable as it is in its file, x fastest.
    fn raw(&self, level: usize, name: &str) -> Result<Raw, ReadError> {
        let (open, time, variable) = self.place_of(level, name)?;
        let order = axes::order(open, variable)?;
        let values = open.read_f32(variable, &order.slice(variable, time))?;
        let shape = order.shape(variable);
        let values = order.sorted(variable, values);
        if values.len() != shape.iter().product::<usize>() {
            return Err(self.misfit(level, name));
        }
        let vertical = order.dimension(Axis::Z).map(|k| variable.dimensions()[k].name.as_str());
        let at_tops =
            vertical.is_some_and(|d| matches!(d, "depthw" | "Zl" | "k_l" | "Zl_" | "z_w_top"));
        Ok(Raw { name: name.to_owned(), values, shape, at_tops })
    }
}

/// A variable as it is in its file.
struct Raw {
    name: String,
    values: Vec<f32>,
    shape: [usize; 3],
    /// Values stand on top of the layers they belong to.
    at_tops: bool,
}

/// Values between layers in the middle of each; below the last, which may not be there, nothing moves.
fn middles(values: &[f32], plane: usize, layers: usize) -> Vec<f32> {
    let mut middles = Vec::with_capacity(plane * layers);
    for k in 0..layers {
        let above = &values[k * plane..(k + 1) * plane];
        let below = values.get((k + 1) * plane..(k + 2) * plane);
        let middle = |(i, above): (usize, &f32)| 0.5 * (above + below.map_or(0.0, |b| b[i]));
        middles.extend(above.iter().enumerate().map(middle));
    }
    middles
}

/// Where the velocity is.
struct Placed {
    grid: Grid,
    coordinates: Coordinates,
    layout: Layout,
    terrain: Option<Terrain>,
}

fn placed(
    files: &[Open],
    names: &[String],
    u: &Component<'_>,
    vertical: Vertical,
    assumed: &mut Vec<String>,
) -> Result<Placed, ReadError> {
    let [nx, ny, layers] = u.order.shape(u.variable);
    if let Some((k, variable)) = names.get(1).and_then(|v| find(files, v)) {
        let order = axes::order(&files[k], variable)?;
        let v = Component { file: &files[k], variable, order: &order };
        let found = order.shape(variable);
        if found[2] != layers {
            let what = format!(
                "'{}' has {} layers, '{}' {layers}",
                v.variable.name(),
                found[2],
                u.variable.name()
            );
            return Err(malformed(&v.file.path, what, "name components with the same layers"));
        }
        if let Some(grid) = Staggered::find(files, u, &v, assumed)? {
            let depths = match &vertical {
                Vertical::Terrain(terrain) => grid.depths(files, &terrain.depth)?,
                Vertical::Heights(_) => None,
            };
            let (dims, coordinates) = (grid.size, grid.coordinates);
            let (grid_, terrain) = lattice(u, &grid.corners, dims, vertical, depths)?;
            let layout = Layout::Staggered(Box::new(grid));
            return Ok(Placed { grid: grid_, coordinates, layout, terrain });
        }
    }
    let horizontal = axes::horizontal(u.file, u.variable, u.order, assumed)?;
    let coordinates = horizontal.coordinates;
    let slips = names.len() > 1 && is_ocean(u.variable);
    let turn = turn_of(files, u, &horizontal)?;
    let is_bent = horizontal.points.is_some() && turn.is_none();
    // Components to the east and to the north do not say which way a bent coast runs.
    let layout = Layout::Together { turn, slips: slips && !is_bent };
    let points = || match &horizontal.points {
        Some(points) => points.clone(),
        None => {
            let row = |&y: &f64| horizontal.x.iter().map(move |&x| [x, y]);
            horizontal.y.iter().flat_map(row).collect()
        }
    };
    match (&horizontal.points, vertical) {
        (None, Vertical::Heights(z)) => {
            let grid = Grid::Rectilinear { x: horizontal.x, y: horizontal.y, z };
            Ok(Placed { grid, coordinates, layout, terrain: None })
        }
        (_, vertical) => {
            let depths = match &vertical {
                Vertical::Terrain(terrain) => plane_of(files, &terrain.depth, [nx, ny])?,
                Vertical::Heights(_) => None,
            };
            let (grid, terrain) = lattice(u, &points(), [nx, ny], vertical, depths)?;
            Ok(Placed { grid, coordinates, layout, terrain })
        }
    }
}

/// Points in a plane with their layers.
fn lattice(
    u: &Component<'_>,
    points: &[[f64; 2]],
    [nx, ny]: [usize; 2],
    vertical: Vertical,
    depths: Option<Vec<f64>>,
) -> Result<(Grid, Option<Terrain>), ReadError> {
    match vertical {
        Vertical::Heights(z) => {
            let layer = |&z: &f64| points.iter().map(move |p| DVec3::new(p[0], p[1], z));
            let points = z.iter().flat_map(layer).collect();
            Ok((Grid::Curvilinear { dims: [nx, ny, z.len()], points }, None))
        }
        Vertical::Terrain(terrain) => {
            let Some(depths) = depths else {
                let what =
                    format!("layers follow the sea floor, and '{}' is not here", terrain.depth);
                return Err(malformed(&u.file.path, what, "add the grid file, which has it"));
            };
            let heights = terrain.heights(&depths);
            let place = |(z, p): (&f64, &[f64; 2])| DVec3::new(p[0], p[1], *z);
            let points = heights.iter().zip(points.iter().cycle()).map(place).collect();
            Ok((Grid::Curvilinear { dims: [nx, ny, terrain.layers()], points }, Some(terrain)))
        }
    }
}

/// A variable of two dimensions and this size.
fn plane_of(
    files: &[Open],
    name: &str,
    [nx, ny]: [usize; 2],
) -> Result<Option<Vec<f64>>, ReadError> {
    for file in files {
        let Some(variable) = file.variable(name) else { continue };
        let sizes: Vec<usize> = variable.dimensions().iter().map(|d| d.size as usize).collect();
        if sizes == [ny, nx] {
            return file.read_all(variable).map(Some);
        }
    }
    Ok(None)
}

/// The direction of a bent grid whose components run along it.
fn turn_of(
    files: &[Open],
    u: &Component<'_>,
    horizontal: &Horizontal,
) -> Result<Option<Vec<[f32; 2]>>, ReadError> {
    let Some(points) = &horizontal.points else { return Ok(None) };
    let [nx, ny, _] = u.order.shape(u.variable);
    let meaning = text_of(u.variable, "standard_name").unwrap_or_default();
    if meaning.starts_with("eastward") || u.variable.name().to_ascii_lowercase().contains("east") {
        return Ok(None);
    }
    if let Some(angles) = plane_of(files, "angle", [nx, ny])? {
        let turn = |a: &f64| [a.cos() as f32, a.sin() as f32];
        return Ok(Some(angles.iter().map(turn).collect()));
    }
    let along = ["_x_velocity", "x_wind"].iter().any(|m| meaning.ends_with(m));
    let turn = || staggered::directions(points, [nx, ny], horizontal.coordinates);
    Ok(along.then(turn))
}

/// Whether a component is that of an ocean.
fn is_ocean(variable: &NcVariable) -> bool {
    let name = variable.name().to_ascii_lowercase();
    let meaning = text_of(variable, "standard_name").unwrap_or_default().to_ascii_lowercase();
    let words = ["sea_water", "ocean", "current"];
    words.iter().any(|w| meaning.contains(w) || name.contains(w))
        || ["vozocrtx", "uo", "uos", "water_u", "uvel", "ssu", "u_rho"].contains(&name.as_str())
        || variable.dimensions().iter().any(|d| d.name == "xi_rho")
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

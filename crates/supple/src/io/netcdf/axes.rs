//! Which dimension is which axis, and where the points along it are.

use netcdf_reader::{NcSliceInfo, NcSliceInfoElem, NcVariable};

use super::file::{Open, malformed, text_of, units_of};
use super::terrain::Terrain;
use crate::dataset::{Coordinates, Part};
use crate::io::ReadError;

/// An axis of space or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    X,
    Y,
    Z,
    T,
}

/// The axis of each dimension of a variable; `None` for those that are none.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order(Vec<Option<Axis>>);

/// Horizontal coordinates.
#[derive(Debug)]
pub(super) struct Horizontal {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    /// If they are no product of two axes: each point.
    pub(super) points: Option<Vec<[f64; 2]>>,
    pub(super) coordinates: Coordinates,
    /// Whether the file says them: else they count points.
    pub(super) is_known: bool,
}

/// The axis a coordinate variable says it is.
fn axis_of_variable(variable: &NcVariable) -> Option<Axis> {
    if let Some(axis) = text_of(variable, "axis") {
        match axis.to_ascii_uppercase().as_str() {
            "X" => return Some(Axis::X),
            "Y" => return Some(Axis::Y),
            "Z" => return Some(Axis::Z),
            "T" => return Some(Axis::T),
            _ => {}
        }
    }
    let units = units_of(variable).unwrap_or_default().to_ascii_lowercase();
    if units.contains(" since ") {
        return Some(Axis::T);
    }
    let east = ["degrees_east", "degree_east", "degrees_e", "degreee", "degreese"];
    let north = ["degrees_north", "degree_north", "degrees_n", "degreen", "degreesn"];
    if east.contains(&units.as_str()) {
        return Some(Axis::X);
    }
    if north.contains(&units.as_str()) {
        return Some(Axis::Y);
    }
    match text_of(variable, "standard_name").unwrap_or_default().as_str() {
        "longitude" | "projection_x_coordinate" | "grid_longitude" => return Some(Axis::X),
        "latitude" | "projection_y_coordinate" | "grid_latitude" => return Some(Axis::Y),
        "time" => return Some(Axis::T),
        "depth" | "height" | "altitude" => return Some(Axis::Z),
        _ => {}
    }
    text_of(variable, "positive").map(|_| Axis::Z)
}

/// The axis a name stands for in the models that use it.
fn axis_of_name(name: &str) -> Option<Axis> {
    let name = name.to_ascii_lowercase();
    let starts = |words: &[&str]| words.iter().any(|w| name.starts_with(w));
    let is = |words: &[&str]| words.contains(&name.as_str());
    if is(&["t"]) || starts(&["time", "ocean_time"]) {
        Some(Axis::T)
    } else if is(&["x", "i", "nx", "nlon", "ni", "xc", "xu", "xg"])
        || starts(&["lon", "xi", "rlon", "x_", "west_east"])
    {
        Some(Axis::X)
    } else if is(&["y", "j", "ny", "nlat", "nj", "yc", "yu", "yg"])
        || starts(&["lat", "eta", "rlat", "y_", "south_north"])
    {
        Some(Axis::Y)
    } else if is(&["z", "k", "nz"])
        || starts(&[
            "depth",
            "lev",
            "z_",
            "s_rho",
            "s_w",
            "sigma",
            "height",
            "alt",
            "plev",
            "bottom_top",
        ])
    {
        Some(Axis::Z)
    } else {
        None
    }
}

/// Names of variables that say where points are rather than what is there.
pub(super) fn is_coordinate(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["lon", "lat", "nav_lon", "nav_lat", "xlong", "xlat", "glam", "gphi", "time_bnds"]
        .iter()
        .any(|w| name.starts_with(w))
        || name.ends_with("_bnds")
        || name.ends_with("_bounds")
}

/// Finds the axis of each dimension.
pub(super) fn order(file: &Open, variable: &NcVariable) -> Result<Order, ReadError> {
    let variables = file.variables()?;
    let dimensions = variable.dimensions();
    let mut axes: Vec<Option<Axis>> = Vec::with_capacity(dimensions.len());
    for dimension in dimensions {
        let own = variables.iter().find(|v| v.name() == dimension.name && v.ndim() == 1);
        let axis = own.and_then(axis_of_variable).or_else(|| axis_of_name(&dimension.name));
        axes.push(axis.filter(|a| !axes.contains(&Some(*a))));
    }
    // What nothing names: the last two are y and x, an unlimited one before them is time.
    let count = axes.len();
    for (back, axis) in [(1, Axis::X), (2, Axis::Y)] {
        if count >= back && axes[count - back].is_none() && !axes.contains(&Some(axis)) {
            axes[count - back] = Some(axis);
        }
    }
    for k in 0..count {
        if axes[k].is_none() && dimensions[k].is_unlimited && !axes.contains(&Some(Axis::T)) {
            axes[k] = Some(Axis::T);
        }
    }
    Ok(Order(axes))
}

impl Order {
    pub(super) fn has(&self, axis: Axis) -> bool {
        self.0.contains(&Some(axis))
    }

    pub(super) fn dimension(&self, axis: Axis) -> Option<usize> {
        self.0.iter().position(|a| *a == Some(axis))
    }

    /// Dimensions longer than one that are no axis.
    pub(super) fn others<'a>(&self, variable: &'a NcVariable) -> Vec<&'a str> {
        let dimensions = variable.dimensions().iter().zip(&self.0);
        dimensions
            .filter(|(d, a)| a.is_none() && d.size != 1)
            .map(|(d, _)| d.name.as_str())
            .collect()
    }

    /// Points along x, y and z.
    pub(super) fn shape(&self, variable: &NcVariable) -> [usize; 3] {
        let size = |axis| {
            let dimension = self.dimension(axis).and_then(|k| variable.dimensions().get(k));
            dimension.map_or(1, |d| usize::try_from(d.size).unwrap_or(usize::MAX))
        };
        [size(Axis::X), size(Axis::Y), size(Axis::Z)]
    }

    /// One level: an index along time and along what is no axis, all of space.
    pub(super) fn slice(&self, variable: &NcVariable, time: Option<u64>) -> NcSliceInfo {
        let mut slice = NcSliceInfo::all(variable.ndim());
        for (selection, axis) in slice.selections.iter_mut().zip(&self.0) {
            match axis {
                Some(Axis::T) => *selection = NcSliceInfoElem::Index(time.unwrap_or(0)),
                None => *selection = NcSliceInfoElem::Index(0),
                _ => {}
            }
        }
        slice
    }

    /// One level: of space a box, every so many points.
    pub(super) fn slice_of(
        &self,
        variable: &NcVariable,
        time: Option<u64>,
        part: &Part,
        stride: usize,
    ) -> NcSliceInfo {
        let mut slice = self.slice(variable, time);
        for (selection, axis) in slice.selections.iter_mut().zip(&self.0) {
            let range = match axis {
                Some(Axis::X) => &part[0],
                Some(Axis::Y) => &part[1],
                Some(Axis::Z) => &part[2],
                _ => continue,
            };
            let (start, end) = (range.start as u64, range.end as u64);
            *selection = NcSliceInfoElem::Slice { start, end, step: stride as u64 };
        }
        slice
    }

    /// Values of points along x, y and z in the order of the file, with x fastest and z slowest.
    pub(super) fn sorted_as(&self, n: [usize; 3], values: Vec<f32>) -> Vec<f32> {
        // The step from one point to the next along each axis, in the order of the file.
        let mut strides = [0_usize; 3];
        let mut step = 1;
        for axis in self.0.iter().rev() {
            let k = match axis {
                Some(Axis::X) => 0,
                Some(Axis::Y) => 1,
                Some(Axis::Z) => 2,
                _ => continue,
            };
            strides[k] = step;
            step *= n[k];
        }
        let in_order = [1, n[0], n[0] * n[1]];
        if (0..3).all(|a| n[a] == 1 || strides[a] == in_order[a])
            && values.len() == n.iter().product::<usize>()
        {
            return values;
        }
        let mut sorted = Vec::with_capacity(values.len());
        for (k, j) in (0..n[2]).flat_map(|k| (0..n[1]).map(move |j| (k, j))) {
            let row = k * strides[2] + j * strides[1];
            let at = |i: usize| values.get(row + i * strides[0]).copied().unwrap_or(f32::NAN);
            sorted.extend((0..n[0]).map(at));
        }
        sorted
    }

    /// Values of a level with x fastest and z slowest.
    pub(super) fn sorted(&self, variable: &NcVariable, values: Vec<f32>) -> Vec<f32> {
        self.sorted_as(self.shape(variable), values)
    }
}

/// The horizontal coordinates of a variable.
pub(super) fn horizontal(
    file: &Open,
    variable: &NcVariable,
    order: &Order,
    assumed: &mut Vec<String>,
) -> Result<Horizontal, ReadError> {
    let [nx, ny, _] = order.shape(variable);
    file.check_count(variable, (nx as u64).saturating_mul(ny as u64))?;
    if let Some((x, y)) = curved(file, variable, order)? {
        let (xs, ys) = (file.read_all(x)?, file.read_all(y)?);
        let coordinates = coordinates_of(x, y, &xs, &ys, assumed);
        let across = (0..ny).all(|j| (0..nx).all(|i| close(xs[j * nx + i], xs[i], &xs)));
        let along = (0..ny).all(|j| (0..nx).all(|i| close(ys[j * nx + i], ys[j * nx], &ys)));
        if across && along {
            let y = (0..ny).map(|j| ys[j * nx]).collect();
            let x = xs[..nx].to_vec();
            return Ok(Horizontal { x, y, points: None, coordinates, is_known: true });
        }
        let points = xs.iter().zip(&ys).map(|(&x, &y)| [x, y]).collect();
        let (x, y) = (Vec::new(), Vec::new());
        return Ok(Horizontal { x, y, points: Some(points), coordinates, is_known: true });
    }
    let mut axes = Vec::new();
    let mut named = Vec::new();
    for (axis, n) in [(Axis::X, nx), (Axis::Y, ny)] {
        let dimension = order.dimension(axis).map(|k| &variable.dimensions()[k]);
        let own = dimension.and_then(|d| {
            let mut all = file.variables().ok()?.iter();
            all.find(|v| v.name() == d.name && v.ndim() == 1)
        });
        match own {
            Some(coordinate) => {
                let values = file.read_all(coordinate)?;
                named.push((coordinate, values.clone()));
                axes.push(values);
            }
            None => {
                let name = dimension.map_or("", |d| d.name.as_str());
                assumed.push(format!("'{name}' has no coordinates: its points are 0, 1, 2 …"));
                axes.push((0..n).map(|k| k as f64).collect());
            }
        }
    }
    let coordinates = match &named[..] {
        [(x, xs), (y, ys)] => coordinates_of(x, y, xs, ys, assumed),
        _ => Coordinates::Metres,
    };
    let y = axes.pop().unwrap_or_default();
    let x = axes.pop().unwrap_or_default();
    if x.len() != nx || y.len() != ny {
        let what = format!("'{}' has coordinates of another length", variable.name());
        return Err(malformed(&file.path, what, "the file is damaged; write it again"));
    }
    Ok(Horizontal { x, y, points: None, coordinates, is_known: named.len() == 2 })
}

fn close(a: f64, b: f64, all: &[f64]) -> bool {
    let size = all.first().zip(all.last()).map_or(1.0, |(a, b)| (b - a).abs().max(a.abs()));
    (a - b).abs() <= 1e-6 * size
}

/// Names that coordinates of two dimensions have in files of models.
const USUAL: [&str; 24] = [
    "nav_lon",
    "nav_lat",
    "lon",
    "lat",
    "longitude",
    "latitude",
    "XLONG",
    "XLAT",
    "lon_rho",
    "lat_rho",
    "lon_u",
    "lat_u",
    "lon_v",
    "lat_v",
    "x_rho",
    "y_rho",
    "x_u",
    "y_u",
    "x_v",
    "y_v",
    "ULONG",
    "ULAT",
    "TLONG",
    "TLAT",
];

/// Coordinates with two dimensions that the variable names, or that models call so.
fn curved<'a>(
    file: &'a Open,
    variable: &NcVariable,
    order: &Order,
) -> Result<Option<(&'a NcVariable, &'a NcVariable)>, ReadError> {
    let [nx, ny, _] = order.shape(variable);
    // Some programs keep a time of length one.
    let plane = |v: &NcVariable| -> Vec<(String, usize)> {
        let long = v.dimensions().iter().filter(|d| d.size != 1 || v.ndim() == 2);
        long.map(|d| (d.name.clone(), d.size as usize)).collect()
    };
    let named = |axis| order.dimension(axis).map(|k| variable.dimensions()[k].name.as_str());
    let own = [named(Axis::Y), named(Axis::X)];
    let listed = text_of(variable, "coordinates").unwrap_or_default();
    let words: Vec<&str> = listed.split_ascii_whitespace().collect();
    let variables = file.variables()?;
    let (mut x, mut y) = (None, None);
    for (k, name) in words.iter().copied().chain(USUAL).enumerate() {
        let fits = |v: &&NcVariable| {
            let d = plane(v);
            let sizes = d.len() == 2 && d[0].1 == ny && d[1].1 == nx;
            // What the variable does not name must have its very dimensions.
            sizes && (k < words.len() || [0, 1].iter().all(|&a| own[a] == Some(&d[a].0)))
        };
        let Some(found) = variables.iter().find(|v| v.name() == name).filter(fits) else {
            continue;
        };
        let lower = name.to_ascii_lowercase();
        match axis_of_variable(found) {
            Some(Axis::X) => x = x.or(Some(found)),
            Some(Axis::Y) => y = y.or(Some(found)),
            _ if lower.contains("lon") || lower.contains('x') => x = x.or(Some(found)),
            _ if lower.contains("lat") || lower.contains('y') => y = y.or(Some(found)),
            _ => {}
        }
    }
    Ok(x.zip(y))
}

/// Whether coordinates are degrees or lengths.
pub(super) fn coordinates_of(
    x: &NcVariable,
    y: &NcVariable,
    xs: &[f64],
    ys: &[f64],
    assumed: &mut Vec<String>,
) -> Coordinates {
    let units = units_of(x).unwrap_or_default().to_ascii_lowercase();
    if units.contains("degree") || units.starts_with('°') {
        return Coordinates::Degrees;
    }
    if !units.is_empty() {
        return Coordinates::Metres;
    }
    let called = |v: &NcVariable, word: &str| v.name().to_ascii_lowercase().contains(word);
    let within = |values: &[f64], most: f64| values.iter().all(|v| v.is_nan() || v.abs() <= most);
    if called(x, "lon") && called(y, "lat") && within(xs, 720.0) && within(ys, 90.0) {
        let what = "coordinates are degrees: so called, without a unit (--coordinates)";
        assumed.push(what.to_owned());
        return Coordinates::Degrees;
    }
    assumed.push("coordinates are metres: no unit says otherwise (--coordinates)".to_owned());
    Coordinates::Metres
}

/// Where layers are.
#[derive(Debug)]
pub(super) enum Vertical {
    /// At these heights; one at 0 without a vertical axis.
    Heights(Vec<f64>),
    /// Above the sea floor.
    Terrain(Terrain),
}

/// The layers of a variable.
pub(super) fn vertical(
    files: &[Open],
    file: &Open,
    variable: &NcVariable,
    order: &Order,
    assumed: &mut Vec<String>,
) -> Result<Vertical, ReadError> {
    let Some(k) = order.dimension(Axis::Z) else { return Ok(Vertical::Heights(vec![0.0])) };
    let dimension = &variable.dimensions()[k];
    let count = dimension.size as usize;
    let own = file.variables()?.iter().find(|v| v.name() == dimension.name && v.ndim() == 1);
    let Some(own) = own else {
        return Ok(Vertical::Heights((0..count).map(|k| k as f64).collect()));
    };
    if count > 1
        && let Some(terrain) = Terrain::of(files, file, own, assumed)?
    {
        return Ok(Vertical::Terrain(terrain));
    }
    let values = file.read_all(own)?;
    if values.len() != count {
        let what = format!("'{}' has coordinates of another length", dimension.name);
        return Err(malformed(&file.path, what, "the file is damaged; write it again"));
    }
    let down = text_of(own, "positive").is_some_and(|p| p.eq_ignore_ascii_case("down"))
        || dimension.name.to_ascii_lowercase().starts_with("depth");
    let height = |&z: &f64| {
        if z.is_nan() && count == 1 {
            0.0
        } else if down {
            0.0 - z
        } else {
            z
        }
    };
    Ok(Vertical::Heights(values.iter().map(height).collect()))
}

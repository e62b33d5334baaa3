//! Raw numbers with a small header in TOML beside them; read only.
//!
//! # What is read
//!
//! ```toml
//! file = "u.raw"              # beside the header
//! dims = [64, 32, 16]         # points along x, y, z
//! type = "float"              # float, double, int8 … uint64
//! endian = "little"           # or "big"
//! components = 3              # numbers a point
//! offset = 0                  # bytes before the numbers
//! order = "xyz"               # the axis that runs fastest first: "zyx" of arrays of C and NumPy
//! layout = "interleaved"      # or "planar": one component after the other
//! origin = [0, 0, 0]
//! spacing = [0.1, 0.1, 0.1]
//! name = "velocity"
//! units = "m/s"
//! time = 0.5
//! fill = -999                 # stands where nothing is known
//! ```
//!
//! `file`, `dims` and `type` must be there; the rest is as above without `units`, `time` and `fill`, with spacing 1. Several
//! moments are several headers: `u.*.toml`.

use serde::Deserialize;

use super::number::Number;
use super::rows::Rows;
use super::vtk_xml::Fetch;
use super::{Malformed, Place};
use crate::dataset::{Array, ArrayInfo, Centering, Dataset, Grid, Select};

/// What the header says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    pub(crate) file: String,
    dims: Vec<usize>,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    endian: Endian,
    #[serde(default = "three")]
    components: usize,
    #[serde(default)]
    offset: u64,
    #[serde(default = "x_fastest")]
    order: String,
    #[serde(default)]
    layout: Layout,
    #[serde(default)]
    origin: [f64; 3],
    #[serde(default = "ones")]
    spacing: [f64; 3],
    #[serde(default = "velocity")]
    name: String,
    units: Option<String>,
    time: Option<f64>,
    fill: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Endian {
    #[default]
    Little,
    Big,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Layout {
    #[default]
    Interleaved,
    Planar,
}

fn three() -> usize {
    3
}

fn x_fastest() -> String {
    "xyz".to_owned()
}

fn ones() -> [f64; 3] {
    [1.0; 3]
}

fn velocity() -> String {
    "velocity".to_owned()
}

fn problem(what: impl Into<String>, fix: &str) -> Malformed {
    Malformed::new(Place::File, what, fix)
}

/// Whether a document of TOML is such a header rather than a scene.
#[must_use]
pub fn is_header(text: &str) -> bool {
    let has =
        |key: &str| text.lines().any(|l| l.split('=').next().is_some_and(|k| k.trim() == key));
    has("dims") && has("file") && has("type")
}

impl Header {
    /// Understands a header.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let text = String::from_utf8_lossy(bytes);
        let header: Self = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |s| 1 + text[..s.start].matches('\n').count());
            let what = format!("this is no header of raw numbers: {}", error.message());
            Malformed::new(Place::Line(line), what, "it has file, dims and type; see docs/flow.md")
        })?;
        if !(1..=3).contains(&header.dims.len()) || header.dims.contains(&0) {
            let what = format!("dims are {:?}", header.dims);
            return Err(problem(what, "write one to three numbers above 0"));
        }
        let finite = header.origin.iter().chain(&header.spacing).all(|x| x.is_finite());
        if !finite || header.spacing.contains(&0.0) {
            return Err(problem("origin and spacing make no grid", "spacings are not 0"));
        }
        if !(1..=3).contains(&header.components) {
            let what = format!("{} components", header.components);
            return Err(problem(what, "a velocity has two or three, a scalar one"));
        }
        if !matches!(header.order.as_str(), "xyz" | "zyx") {
            let what = format!("the order is '{}'", header.order);
            return Err(problem(what, "write \"xyz\" if x runs fastest, \"zyx\" if z does"));
        }
        header.number()?;
        header.size()?;
        Ok(header)
    }

    fn number(&self) -> Result<Number, Malformed> {
        Ok(match self.kind.to_ascii_lowercase().as_str() {
            "float" | "float32" | "f4" | "f32" => Number::F32,
            "double" | "float64" | "f8" | "f64" => Number::F64,
            "int8" => Number::I8,
            "uint8" => Number::U8,
            "int16" => Number::I16,
            "uint16" => Number::U16,
            "int32" => Number::I32,
            "uint32" => Number::U32,
            "int64" => Number::I64,
            "uint64" => Number::U64,
            other => {
                let what = format!("the type is '{other}'");
                return Err(problem(what, "types are float, double, int8 … uint64"));
            }
        })
    }

    fn dims(&self) -> [usize; 3] {
        [0, 1, 2].map(|a| self.dims.get(a).copied().unwrap_or(1))
    }

    /// Bytes of all numbers.
    fn size(&self) -> Result<usize, Malformed> {
        let sizes = self.dims().into_iter().chain([self.components, self.number()?.size()]);
        let size = sizes.into_iter().try_fold(1_usize, usize::checked_mul).filter(|&n| n < 1 << 46);
        size.ok_or_else(|| problem("there are too many points", "correct dims"))
    }

    fn grid(&self) -> Grid {
        Grid::Uniform { dims: self.dims(), origin: self.origin, spacing: self.spacing }
    }

    /// Where its vectors stand in a file, if they do so as they are sampled.
    pub(crate) fn rows(&self, path: std::path::PathBuf, name: &str) -> Option<(Rows, Grid)> {
        let plain = self.order == "xyz"
            && self.layout == Layout::Interleaved
            && self.fill.is_none()
            && self.components > 1
            && self.spacing.iter().all(|&s| s > 0.0);
        let rows = Rows {
            path,
            start: self.offset,
            dims: self.dims(),
            components: self.components,
            number: self.number().ok()?,
            big_endian: self.endian == Endian::Big,
            blocks: None,
        };
        (plain && name == self.name).then(|| (rows, self.grid()))
    }
}

/// Reads a lattice by its header.
///
/// # Errors
///
/// [`Malformed`] with what makes no sense.
pub fn read(bytes: &[u8], select: Select<'_>, fetch: Fetch<'_>) -> Result<Dataset, Malformed> {
    let header = Header::parse(bytes)?;
    let mut dataset = Dataset::new(header.grid(), Vec::new());
    dataset.time = header.time;
    let info = ArrayInfo {
        name: header.name.clone(),
        components: header.components,
        centering: Centering::Point,
        units: header.units.clone(),
        meaning: None,
    };
    if !select.wants(&info.name) {
        dataset.others.push(info);
        return Ok(dataset);
    }
    let data = fetch(&header.file)?;
    let size = header.size()?;
    let start = usize::try_from(header.offset).unwrap_or(usize::MAX);
    let Some(data) = data.get(start..start.saturating_add(size)) else {
        let what = format!("{} has {} bytes, not {size} from {start} on", header.file, data.len());
        return Err(problem(what, "correct dims, type, components or offset"));
    };
    let fill = header.fill;
    let value = |x: f64| if Some(x) == fill { f32::NAN } else { x as f32 };
    let values = header.number()?.decode(data, header.endian == Endian::Big, value);
    dataset.arrays.push(Array { info, values: header.sorted(values) });
    dataset.make_axes_rise().map_err(|what| problem(what, "correct the header"))?;
    Ok(dataset)
}

impl Header {
    /// Tuples with x fastest.
    fn sorted(&self, values: Vec<f32>) -> Vec<f32> {
        if self.order == "xyz" && self.layout == Layout::Interleaved {
            return values;
        }
        let [nx, ny, nz] = self.dims();
        let count = nx * ny * nz;
        let of = |point: usize, c: usize| match self.layout {
            Layout::Interleaved => values[point * self.components + c],
            Layout::Planar => values[c * count + point],
        };
        let mut sorted = Vec::with_capacity(values.len());
        for at in 0..count {
            let (i, j, k) = (at % nx, at / nx % ny, at / (nx * ny));
            let point = if self.order == "zyx" { (i * ny + j) * nz + k } else { at };
            sorted.extend((0..self.components).map(|c| of(point, c)));
        }
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_byte_orders_orders_of_axes_and_layouts_are_one_lattice() {
        let value = |i: usize, j: usize, c: usize| (100 * i + 10 * j + c) as f64;
        let (nx, ny) = (3, 2);
        let at = |order: &str, layout: &str, n: usize| {
            let (point, c) = if layout == "planar" { (n % 6, n / 6) } else { (n / 2, n % 2) };
            let (i, j) =
                if order == "zyx" { (point / ny, point % ny) } else { (point % nx, point / nx) };
            value(i, j, c)
        };
        for order in ["xyz", "zyx"] {
            for layout in ["interleaved", "planar"] {
                for (endian, kind) in [("little", "float"), ("big", "double")] {
                    let numbers = (0..12).map(|n| at(order, layout, n));
                    let data: Vec<u8> = match kind {
                        "float" => numbers.flat_map(|x| (x as f32).to_le_bytes()).collect(),
                        _ => numbers.flat_map(f64::to_be_bytes).collect(),
                    };
                    let text = format!(
                        "file = 'u.raw'\ndims = [3, 2]\ntype = '{kind}'\nendian = '{endian}'\ncomponents = 2\n\
                         order = '{order}'\nlayout = '{layout}'\noffset = 2\nspacing = [0.5, 1, 1]\n"
                    );
                    let fetch = |_: &str| Ok([b"__".to_vec(), data.clone()].concat());
                    let dataset = read(text.as_bytes(), Select::All, &fetch).unwrap();
                    let expected: Vec<f32> =
                        (0..12).map(|n| at("xyz", "interleaved", n) as f32).collect();
                    assert_eq!(dataset.arrays[0].values, expected, "{text}");
                    assert_eq!(dataset.grid.point(2).x, 1.0);
                }
            }
        }
    }

    #[test]
    fn headers_that_make_no_sense_say_where() {
        let refused = |text: &str| Header::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(refused("dims = [2]\ntype = 'float'").contains("file"), "file is missing");
        let typo = refused("file = 'a'\ndims = [2]\ntype = 'float'\nspaceing = 1");
        assert!(typo.contains("line 4") && typo.contains("spaceing"), "{typo}");
        assert!(refused("file = 'a'\ndims = [0]\ntype = 'float'").contains("above 0"));
        assert!(refused("file = 'a'\ndims = [2]\ntype = 'real'").contains("real"));
        let short =
            read(b"file = 'a'\ndims = [9]\ntype = 'float'", Select::All, &|_: &str| Ok(vec![0; 9]));
        assert!(short.unwrap_err().to_string().contains("9 bytes, not 108"));
        assert!(is_header("file = 'a'\ndims = [2]\ntype = 'x'") && !is_header("supple = 1\n"));
    }
}

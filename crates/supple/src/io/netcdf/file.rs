//! One NetCDF file that is open: read by position, unpacked and masked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use netcdf_reader::{
    NcFile, NcOpenOptions, NcSliceInfo, NcSliceInfoElem, NcType, NcVariable, RangeRequestStorage,
};

use crate::io::hdf5::read_range;
use crate::io::{Malformed, Place, ReadError, inputs};

/// Deflate makes at most this many bytes of one.
const MOST_RATIO: u64 = 1100;

/// Decompressed chunks a file keeps: a chunk may hold several levels.
const CHUNK_CACHE: usize = 8 << 20;

/// Names an attribute for units has; some programs write a capital.
const UNITS: [&str; 3] = ["units", "Unit", "Units"];

/// Where a file of version 3 says how many records it has; all ones while it is still written, and then readers count what
/// is there.
const RECORDS: std::ops::Range<usize> = 4..8;

/// A file that is open.
pub(super) struct Open {
    pub(super) path: PathBuf,
    file: NcFile,
    pub(super) bytes: u64,
    /// Of a file that is cut off, the records that are whole and those there should be.
    cut: Option<[u64; 2]>,
}

pub(super) fn malformed(path: &Path, what: impl Into<String>, fix: &str) -> ReadError {
    let source = Malformed::new(Place::File, what, fix);
    ReadError::Malformed { path: path.to_owned(), source }
}

/// A file whose ranges are read when they are needed; its records can be counted instead of believed.
fn opened(path: &Path, bytes: u64, counts: bool) -> netcdf_reader::Result<NcFile> {
    let from = path.to_owned();
    let storage = RangeRequestStorage::new(bytes, move |offset, length| {
        let mut range = read_range(&from, offset, length)?;
        // Headers are read from the beginning.
        if let (true, 0, Some(records)) = (counts, offset, range.get_mut(RECORDS)) {
            records.fill(0xff);
        }
        Ok(range)
    });
    let options = NcOpenOptions { chunk_cache_bytes: CHUNK_CACHE, ..NcOpenOptions::default() };
    NcFile::from_storage_with_options(Arc::new(storage), options)
}

impl Open {
    pub(super) fn new(path: &Path) -> Result<Self, ReadError> {
        inputs::remember(path);
        let io = |source| ReadError::Io { path: path.to_owned(), source };
        let bytes = path.metadata().map_err(io)?.len();
        let whole = Self::of(path, bytes, opened(path, bytes, false));
        whole.or_else(|error| Self::cut_off(path, bytes).ok_or(error))
    }

    /// A file of version 3 that ends before its last record, if it has a whole one.
    fn cut_off(path: &Path, bytes: u64) -> Option<Self> {
        let head = read_range(path, 0, RECORDS.end).ok()?;
        if !(head.starts_with(b"CDF\x01") || head.starts_with(b"CDF\x02")) {
            return None;
        }
        let declared = u32::from_be_bytes(*head[RECORDS].first_chunk()?);
        let open = Self::of(path, bytes, opened(path, bytes, true)).ok()?;
        let whole = open.file.dimensions().ok()?.iter().find(|d| d.is_unlimited)?.size;
        let cut = Some([whole, u64::from(declared)]);
        (whole > 0).then_some(Self { cut, ..open })
    }

    /// What a person should know who plays a file that is cut off.
    pub(super) fn cut_warning(&self) -> Option<String> {
        let [whole, declared] = self.cut?;
        let path = self.path.display();
        Some(format!(
            "{path} is cut off: of {declared} levels {whole} are whole, level {whole} (from 0) is the first that is \
             not; copy it again"
        ))
    }

    pub(super) fn from_bytes(path: &Path, data: Vec<u8>) -> Result<Self, ReadError> {
        Self::of(path, data.len() as u64, NcFile::from_vec(data))
    }

    fn of(path: &Path, bytes: u64, file: netcdf_reader::Result<NcFile>) -> Result<Self, ReadError> {
        let file = file.map_err(|error| {
            malformed(path, format!("not a NetCDF file that can be read: {error}"), "copy it again")
        })?;
        Ok(Self { path: path.to_owned(), file, bytes, cut: None })
    }

    pub(super) fn variables(&self) -> Result<&[NcVariable], ReadError> {
        self.file.variables().map_err(|error| self.damaged(&error.to_string()))
    }

    fn damaged(&self, why: &str) -> ReadError {
        malformed(&self.path, format!("the file is damaged: {why}"), "copy or write it again")
    }

    /// More numbers than this cannot be in the file, however well they are compressed.
    pub(super) fn most_numbers(&self) -> u64 {
        self.bytes.saturating_mul(MOST_RATIO).saturating_add(1 << 20)
    }

    pub(super) fn variable(&self, name: &str) -> Option<&NcVariable> {
        self.variables().ok()?.iter().find(|v| v.name() == name)
    }

    /// A slice of a variable, unpacked, NaN where it is masked.
    pub(super) fn read(
        &self,
        variable: &NcVariable,
        slice: &NcSliceInfo,
    ) -> Result<Vec<f64>, ReadError> {
        self.check_size(variable, slice)?;
        let name = variable.name();
        let read = self.file.read_variable_slice_as_f64(name, slice);
        let values = read.map_err(|error| self.damaged(&format!("'{name}': {error}")))?;
        let mut values: Vec<f64> = values.iter().copied().collect();
        let packing = Packing::of(variable);
        values.iter_mut().for_each(|x| *x = packing.unpacked(*x));
        Ok(values)
    }

    /// The same in single precision, without a detour over doubles where the file has floats.
    pub(super) fn read_f32(
        &self,
        variable: &NcVariable,
        slice: &NcSliceInfo,
    ) -> Result<Vec<f32>, ReadError> {
        if *variable.dtype() != NcType::Float {
            return Ok(self.read(variable, slice)?.into_iter().map(|x| x as f32).collect());
        }
        self.check_size(variable, slice)?;
        let name = variable.name();
        let read = self.file.read_variable_slice::<f32>(name, slice);
        let values = read.map_err(|error| self.damaged(&format!("'{name}': {error}")))?;
        let packing = Packing::of(variable);
        Ok(values.iter().map(|&x| packing.unpacked(f64::from(x)) as f32).collect())
    }

    fn check_size(&self, variable: &NcVariable, slice: &NcSliceInfo) -> Result<(), ReadError> {
        let sizes = variable.dimensions().iter().zip(&slice.selections).map(|(d, s)| match s {
            NcSliceInfoElem::Index(_) => 1,
            NcSliceInfoElem::Slice { start, end, step } => {
                d.size.min(*end).saturating_sub(*start).div_ceil((*step).max(1))
            }
        });
        self.check_count(variable, sizes.fold(1_u64, u64::saturating_mul))
    }

    /// Refuses more numbers of a variable than the file can hold.
    pub(super) fn check_count(&self, variable: &NcVariable, size: u64) -> Result<(), ReadError> {
        if size > self.most_numbers() {
            let name = variable.name();
            let what = format!("{size} numbers of '{name}' cannot be in {} bytes", self.bytes);
            return Err(malformed(&self.path, what, "the file is damaged; copy it again"));
        }
        Ok(())
    }

    pub(super) fn read_all(&self, variable: &NcVariable) -> Result<Vec<f64>, ReadError> {
        self.read(variable, &NcSliceInfo::all(variable.ndim()))
    }

    /// A single number: a variable without dimensions, else a global attribute.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        let variable = self.variable(name).filter(|v| v.ndim() == 0);
        let value = variable.and_then(|v| self.read_all(v).ok()?.first().copied());
        value.or_else(|| self.file.global_attribute(name).ok()?.value.as_f64())
    }
}

pub(super) fn text_of(variable: &NcVariable, name: &str) -> Option<String> {
    let text = variable.attribute(name)?.value.as_string()?;
    Some(text.trim_matches(['\0', ' ']).to_owned())
}

pub(super) fn units_of(variable: &NcVariable) -> Option<String> {
    UNITS.iter().find_map(|name| text_of(variable, name)).filter(|u| !u.is_empty())
}

/// How numbers of a variable are packed and masked.
struct Packing {
    scale: f64,
    offset: f64,
    fills: Vec<f64>,
    low: f64,
    high: f64,
    is_float: bool,
}

impl Packing {
    fn of(variable: &NcVariable) -> Self {
        let number = |name: &str| variable.attribute(name).and_then(|a| a.value.as_f64());
        let (scale, offset) = (number("scale_factor"), number("add_offset"));
        let packed = scale.is_some() || offset.is_some();
        let default = match variable.dtype() {
            NcType::Short => Some(-32767.0),
            NcType::Int => Some(-2_147_483_647.0),
            NcType::Float | NcType::Double => Some(9.969_209_968_386_869e36),
            _ => None,
        };
        let fills = ["_FillValue", "missing_value"]
            .iter()
            .filter_map(|name| variable.attribute(name)?.value.as_f64_vec())
            .flatten()
            .chain(default)
            .collect();
        // A limit is in packed numbers; where it is not of their type, nobody knows what it means.
        let limit = |name: &str| number(name).filter(|_| !packed);
        let range = variable.attribute("valid_range").and_then(|a| a.value.as_f64_vec());
        let range = range.filter(|r| r.len() == 2 && !packed);
        Self {
            scale: scale.unwrap_or(1.0),
            offset: offset.unwrap_or(0.0),
            fills,
            low: limit("valid_min").or(range.as_ref().map(|r| r[0])).unwrap_or(f64::NEG_INFINITY),
            high: limit("valid_max").or(range.as_ref().map(|r| r[1])).unwrap_or(f64::INFINITY),
            is_float: matches!(variable.dtype(), NcType::Float | NcType::Double),
        }
    }

    fn unpacked(&self, x: f64) -> f64 {
        // Fill values of floats are compared as floats: some files hold them rounded.
        let same = |fill: f64| {
            x == fill || self.is_float && (x - fill).abs() <= 1e-6 * fill.abs() && fill.abs() > 1e10
        };
        let missing = self.fills.iter().any(|&f| same(f)) || x < self.low || x > self.high;
        if missing { f64::NAN } else { x * self.scale + self.offset }
    }
}

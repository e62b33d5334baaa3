//! Groups and arrays of HDF5 files, read by position; what an array claims is checked against the bytes that are there.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hdf5_reader::datatype_api::H5Type;
use hdf5_reader::group::Group;
use hdf5_reader::{
    Dataset, Datatype, Hdf5File, OpenOptions, RangeRequestStorage, SliceInfo, SliceInfoElem,
};

use super::{Malformed, Place, ReadError, inputs};

/// How many times as long as its file an array may be: no compression of HDF5 does better.
const MOST_RATIO: u64 = 1032;

/// A range of a file, opened for it alone: a series has more files than there are handles, and a file that is mapped
/// into memory and shrinks meanwhile would end the process.
pub(super) fn read_range(path: &Path, offset: u64, length: usize) -> std::io::Result<Vec<u8>> {
    let mut file = inputs::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A file that is open.
pub(super) struct Hdf5 {
    root: Group,
    most_bytes: u64,
}

pub(super) fn damaged(what: impl Into<String>) -> Malformed {
    Malformed::new(Place::File, what, "the file is damaged; copy or write it again")
}

impl Hdf5 {
    /// A file whose ranges are read when they are needed.
    pub(super) fn open(path: &Path) -> Result<Self, ReadError> {
        inputs::remember(path);
        let io = |source| ReadError::Io { path: path.to_owned(), source };
        let bytes = path.metadata().map_err(io)?.len();
        let from: PathBuf = path.to_owned();
        let storage = RangeRequestStorage::new(bytes, move |offset, length| {
            Ok(read_range(&from, offset, length)?)
        });
        let file = Hdf5File::from_storage_with_options(Arc::new(storage), options(bytes));
        Self::of(file, bytes)
            .map_err(|source| ReadError::Malformed { path: path.to_owned(), source })
    }

    /// A file that is in memory.
    pub(super) fn from_bytes(data: Vec<u8>) -> Result<Self, Malformed> {
        let bytes = data.len() as u64;
        Self::of(Hdf5File::from_vec_with_options(data, options(bytes)), bytes)
    }

    fn of(file: hdf5_reader::error::Result<Hdf5File>, bytes: u64) -> Result<Self, Malformed> {
        let root = file.and_then(|file| file.root_group());
        let root =
            root.map_err(|error| damaged(format!("not an HDF5 file that can be read: {error}")))?;
        Ok(Self { root, most_bytes: bytes.saturating_mul(MOST_RATIO) })
    }

    /// A group by its path; `None` if it is not there.
    pub(super) fn group(&self, path: &str) -> Option<Group> {
        let names = path.split('/').filter(|name| !name.is_empty());
        names.into_iter().try_fold(self.root.clone(), |group, name| group.group(name).ok())
    }

    /// An array by its path.
    pub(super) fn array(&self, path: &str) -> Result<Array, Malformed> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let missing = || damaged(format!("there is no array '{path}' in the file"));
        let group = self.group(folder).ok_or_else(missing)?;
        self.of_group(&group, name).ok_or_else(missing)
    }

    /// An array of a group; `None` if it is not there.
    pub(super) fn of_group(&self, group: &Group, name: &str) -> Option<Array> {
        let dataset = group.dataset(name).ok()?;
        Some(Array { dataset, most_bytes: self.most_bytes })
    }
}

fn options(bytes: u64) -> OpenOptions {
    let most = usize::try_from(bytes.saturating_mul(MOST_RATIO)).unwrap_or(usize::MAX);
    OpenOptions::default().with_max_read_bytes(most)
}

/// An array of numbers.
pub(super) struct Array {
    dataset: Dataset,
    most_bytes: u64,
}

impl Array {
    /// Its sizes, the slowest first.
    pub(super) fn shape(&self) -> &[u64] {
        self.dataset.shape()
    }

    /// How many numbers it has; more than its file can hold are an error.
    pub(super) fn len(&self) -> Result<usize, Malformed> {
        let count = self.shape().iter().try_fold(1_u64, |n, &d| n.checked_mul(d));
        let count = count.filter(|n| *n <= self.most_bytes).and_then(|n| usize::try_from(n).ok());
        count.ok_or_else(|| {
            damaged(format!("the array '{}' claims more than the file can hold", self.name()))
        })
    }

    fn name(&self) -> &str {
        self.dataset.name()
    }

    /// All numbers.
    pub(super) fn all<T>(&self, of: impl Fn(f64) -> T) -> Result<Vec<T>, Malformed> {
        let rows = self.shape().first().copied().unwrap_or(1);
        self.rows(0, rows as usize, of)
    }

    /// Some rows along its slowest axis, as numbers of another kind.
    pub(super) fn rows<T>(
        &self,
        first: usize,
        count: usize,
        of: impl Fn(f64) -> T,
    ) -> Result<Vec<T>, Malformed> {
        let mut box_of: Vec<[u64; 3]> = self.shape().iter().map(|&n| [0, n, 1]).collect();
        if let Some(rows) = box_of.first_mut() {
            *rows = [first as u64, count as u64, 1];
        }
        self.part(&box_of, of)
    }

    /// A box of numbers: along each axis the first, how many, and how far apart.
    pub(super) fn part<T>(
        &self,
        box_of: &[[u64; 3]],
        of: impl Fn(f64) -> T,
    ) -> Result<Vec<T>, Malformed> {
        self.len()?;
        let outside = || damaged(format!("the array '{}' ends too early", self.name()));
        if box_of.len() != self.shape().len() {
            return Err(outside());
        }
        let mut selections = Vec::new();
        for (&[start, count, step], &size) in box_of.iter().zip(self.shape()) {
            if count == 0 {
                return Ok(Vec::new());
            }
            let last = (count - 1).checked_mul(step).and_then(|n| n.checked_add(start));
            let end = last.filter(|last| step > 0 && *last < size).ok_or_else(outside)? + 1;
            selections.push(SliceInfoElem::Slice { start, end, step });
        }
        self.read(&SliceInfo { selections }, of)
    }

    fn read<T>(&self, slice: &SliceInfo, of: impl Fn(f64) -> T) -> Result<Vec<T>, Malformed> {
        match self.dataset.dtype() {
            Datatype::FloatingPoint { size: 4, .. } => self.typed(slice, |x: f32| of(f64::from(x))),
            Datatype::FloatingPoint { size: 8, .. } => self.typed(slice, of),
            Datatype::FixedPoint { size: 1, signed: true, .. } => {
                self.typed(slice, |x: i8| of(f64::from(x)))
            }
            Datatype::FixedPoint { size: 1, .. } => self.typed(slice, |x: u8| of(f64::from(x))),
            Datatype::FixedPoint { size: 2, signed: true, .. } => {
                self.typed(slice, |x: i16| of(f64::from(x)))
            }
            Datatype::FixedPoint { size: 2, .. } => self.typed(slice, |x: u16| of(f64::from(x))),
            Datatype::FixedPoint { size: 4, signed: true, .. } => {
                self.typed(slice, |x: i32| of(f64::from(x)))
            }
            Datatype::FixedPoint { size: 4, .. } => self.typed(slice, |x: u32| of(f64::from(x))),
            Datatype::FixedPoint { size: 8, signed: true, .. } => {
                self.typed(slice, |x: i64| of(x as f64))
            }
            Datatype::FixedPoint { size: 8, .. } => self.typed(slice, |x: u64| of(x as f64)),
            _ => Err(damaged(format!("the array '{}' has no numbers", self.name()))),
        }
    }

    fn typed<F: H5Type, T>(
        &self,
        slice: &SliceInfo,
        of: impl Fn(F) -> T,
    ) -> Result<Vec<T>, Malformed> {
        let read = self.dataset.read_slice::<F>(slice);
        let values = read.map_err(|error| damaged(format!("'{}': {error}", self.name())))?;
        Ok(values.into_iter().map(of).collect())
    }
}

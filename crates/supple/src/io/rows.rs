//! Vectors of a lattice in a file, read by position: any box of points, without the rest of the file.
//!
//! # Method
//!
//! Numbers stand row by row, plain or in blocks that were compressed one by one (zlib, LZ4), of which only those are
//! read that the box touches. A plane of the box is read at a time, so that no more than it is in memory beside
//! what is asked for; planes are shared by two threads, since decompressing takes longer than reading. Nothing is
//! mapped into memory: a file that was cut off is an error with a name.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::number::Number;
use super::{Malformed, Place, ReadError};
use crate::dataset::Part;

/// Threads that read and decompress: more wait for the disk.
const READERS: usize = 2;

/// Most bytes of a block that are believed.
const LARGEST_BLOCK: usize = 1 << 28;

/// Vectors of a lattice in a file.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub(super) path: PathBuf,
    /// Where the numbers begin, or the table of blocks.
    pub(super) start: u64,
    pub(crate) dims: [usize; 3],
    pub(super) components: usize,
    pub(super) number: Number,
    pub(super) big_endian: bool,
    pub(super) blocks: Option<Blocks>,
}

/// Blocks that were compressed one by one.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    /// Bytes of a whole one.
    pub(crate) size: usize,
    /// Where each begins in the file, and where the last ends.
    pub(crate) places: Vec<u64>,
    pub(crate) lz4: bool,
}

impl Rows {
    fn damaged(&self, what: impl Into<String>) -> ReadError {
        let fix = "the file was cut off or is damaged; copy or write it again";
        let source = Malformed::new(Place::File, what, fix);
        ReadError::Malformed { path: self.path.clone(), source }
    }

    /// Velocity and validity at each point of a box, every `every`-th along each axis, x fastest.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the bytes are not there, or make no sense.
    pub(crate) fn read(&self, part: &Part, every: usize) -> Result<Vec<[f32; 4]>, ReadError> {
        let count = [0, 1, 2].map(|a| part[a].len().div_ceil(every));
        let plane = count[0] * count[1];
        let mut out = vec![[0.0_f32; 4]; plane * count[2]];
        let planes: Vec<usize> = part[2].clone().step_by(every).collect();
        let share = count[2].div_ceil(READERS).max(1);
        let mut results = Vec::new();
        std::thread::scope(|scope| {
            let workers: Vec<_> = out
                .chunks_mut(plane * share)
                .zip(planes.chunks(share))
                .map(|(out, planes)| scope.spawn(move || self.planes(part, every, planes, out)))
                .collect();
            for worker in workers {
                let gone = || Err(self.damaged("reading it ended early"));
                results.push(worker.join().unwrap_or_else(|_| gone()));
            }
        });
        results.into_iter().collect::<Result<(), _>>()?;
        Ok(out)
    }

    fn planes(
        &self,
        part: &Part,
        every: usize,
        planes: &[usize],
        out: &mut [[f32; 4]],
    ) -> Result<(), ReadError> {
        let io = |source| ReadError::Io { path: self.path.clone(), source };
        let mut file = File::open(&self.path).map_err(io)?;
        let count = [0, 1].map(|a| part[a].len().div_ceil(every));
        let tuple = self.components * self.number.size();
        let [nx, ny, _] = self.dims;
        let mut bytes = Vec::new();
        let mut cache = (usize::MAX, Vec::new());
        for (&k, out) in planes.iter().zip(out.chunks_mut(count[0] * count[1])) {
            // From the first point of the plane's first row to the last of its last.
            let first = (k * ny + part[1].start) * nx + part[0].start;
            let last = (k * ny + part[1].end - 1) * nx + part[0].end;
            self.bytes(&mut file, first * tuple..last * tuple, &mut bytes, &mut cache)?;
            for (row, j) in out.chunks_mut(count[0]).zip((0..part[1].len()).step_by(every)) {
                let from = j * nx * tuple;
                self.vectors(&bytes[from..from + part[0].len() * tuple], every, row);
            }
        }
        Ok(())
    }

    /// A row of numbers as vectors; what is not finite is outside.
    fn vectors(&self, bytes: &[u8], every: usize, row: &mut [[f32; 4]]) {
        let n = self.components.min(3);
        if self.number == Number::F32 && !self.big_endian && self.components == 3 && every == 1 {
            for (out, b) in row.iter_mut().zip(bytes.as_chunks::<12>().0) {
                let at = |c: usize| f32::from_le_bytes([b[c], b[c + 1], b[c + 2], b[c + 3]]);
                *out = known([at(0), at(4), at(8)]);
            }
            return;
        }
        let values = self.number.decode(bytes, self.big_endian, |x| x as f32);
        for (out, tuple) in row.iter_mut().zip(values.chunks(self.components).step_by(every)) {
            let mut v = [0.0; 3];
            v[..n].copy_from_slice(&tuple[..n]);
            *out = known(v);
        }
    }

    /// Bytes of a range of the numbers.
    fn bytes(
        &self,
        file: &mut File,
        range: Range<usize>,
        into: &mut Vec<u8>,
        cache: &mut (usize, Vec<u8>),
    ) -> Result<(), ReadError> {
        into.clear();
        let Some(blocks) = &self.blocks else {
            into.resize(range.len(), 0);
            return self.at(file, self.start + range.start as u64, into);
        };
        let mut at = range.start;
        while at < range.end {
            let block = at / blocks.size;
            if cache.0 != block {
                let decoded = self.block(file, blocks, block)?;
                *cache = (block, decoded);
            }
            let skip = at - block * blocks.size;
            let end = cache.1.len().min(range.end - block * blocks.size);
            if skip >= end {
                return Err(self.damaged(format!("block {} is too short", block + 1)));
            }
            into.extend_from_slice(&cache.1[skip..end]);
            at += end - skip;
        }
        Ok(())
    }

    fn block(&self, file: &mut File, blocks: &Blocks, k: usize) -> Result<Vec<u8>, ReadError> {
        let (Some(&from), Some(&to)) = (blocks.places.get(k), blocks.places.get(k + 1)) else {
            return Err(self.damaged(format!("block {} is not there", k + 1)));
        };
        let size = usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX);
        if size > LARGEST_BLOCK || blocks.size > LARGEST_BLOCK {
            return Err(self.damaged(format!("block {} has {size} bytes", k + 1)));
        }
        let mut packed = vec![0; size];
        self.at(file, from, &mut packed)?;
        let problem = |why: String| self.damaged(format!("block {}: {why}", k + 1));
        if blocks.lz4 {
            return lz4_flex::block::decompress(&packed, blocks.size)
                .map_err(|e| problem(e.to_string()));
        }
        let mut decoded = Vec::with_capacity(blocks.size);
        let most = blocks.size as u64 + 1;
        let read = flate2::read::ZlibDecoder::new(&packed[..]).take(most).read_to_end(&mut decoded);
        read.map_err(|e| problem(e.to_string()))?;
        Ok(decoded)
    }

    fn at(&self, file: &mut File, offset: u64, into: &mut [u8]) -> Result<(), ReadError> {
        let read = file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(into));
        read.map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                let need = offset + into.len() as u64;
                self.damaged(format!("the file ends before byte {need}"))
            }
            _ => ReadError::Io { path: self.path.clone(), source: error },
        })
    }
}

fn known([x, y, z]: [f32; 3]) -> [f32; 4] {
    if (x + y + z).is_finite() { [x, y, z, 1.0] } else { [0.0; 4] }
}

/// The beginning of a file, until what is looked for is in it.
pub(crate) fn beginning(path: &Path, wanted: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
    /// Headers are a few thousand bytes.
    const MOST: usize = 1 << 22;
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(io)?;
    let mut head = Vec::new();
    let mut chunk = 1 << 14;
    while head.len() < MOST {
        let before = head.len();
        (&mut file).take(chunk).read_to_end(&mut head).map_err(io)?;
        if let Some(at) = memchr::memmem::find(&head, wanted) {
            // A little more: what is looked for may have attributes.
            if at + wanted.len() + 256 < head.len() || head.len() == before {
                return Ok(Some(head));
            }
        }
        if head.len() == before {
            return Ok(None);
        }
        chunk *= 2;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIMS: [usize; 3] = [7, 5, 4];

    fn value(i: usize, j: usize, k: usize) -> [f32; 3] {
        [i as f32, 10.0 * j as f32, 100.0 * k as f32]
    }

    fn all() -> Vec<u8> {
        let mut bytes = Vec::new();
        for k in 0..DIMS[2] {
            for j in 0..DIMS[1] {
                for i in 0..DIMS[0] {
                    value(i, j, k).iter().for_each(|x| bytes.extend(x.to_le_bytes()));
                }
            }
        }
        bytes
    }

    fn check(rows: &Rows) {
        for (part, every) in
            [([0..7, 0..5, 0..4], 1), ([2..5, 1..4, 1..3], 1), ([0..7, 0..5, 0..4], 2)]
        {
            let found = rows.read(&part, every).unwrap();
            let mut expected = Vec::new();
            for (k, j) in part[2]
                .clone()
                .step_by(every)
                .flat_map(|k| part[1].clone().step_by(every).map(move |j| (k, j)))
            {
                let row = part[0].clone().step_by(every).map(|i| value(i, j, k));
                expected.extend(row.map(|[x, y, z]| [x, y, z, 1.0]));
            }
            assert_eq!(found, expected, "{part:?} {every}");
        }
    }

    #[test]
    fn any_box_is_read_alone_plain_and_compressed() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain");
        std::fs::write(&plain, [b"head".to_vec(), all()].concat()).unwrap();
        let rows = Rows {
            path: plain,
            start: 4,
            dims: DIMS,
            components: 3,
            number: Number::F32,
            big_endian: false,
            blocks: None,
        };
        check(&rows);
        // Blocks that end within numbers.
        let mut packed = Vec::new();
        let mut places = vec![0];
        for block in all().chunks(101) {
            let mut encoder =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            std::io::Write::write_all(&mut encoder, block).unwrap();
            packed.extend(encoder.finish().unwrap());
            places.push(packed.len() as u64);
        }
        let path = folder.path().join("packed");
        std::fs::write(&path, &packed).unwrap();
        let blocks = Some(Blocks { size: 101, places, lz4: false });
        let rows = Rows { path: path.clone(), start: 0, blocks, ..rows };
        check(&rows);
        std::fs::write(&path, &packed[..packed.len() - 9]).unwrap();
        let error = rows.read(&[0..7, 0..5, 0..4], 1).unwrap_err().to_string();
        assert!(error.contains("packed") && error.contains("cut off"), "{error}");
    }
}

//! Where the vectors of an image stand in its file, so that parts of them can be read alone.

use std::path::Path;
use std::sync::Arc;

use super::piece::{dims_of, extent_of};
use super::values::{Coding, number_of};
use super::xml::Document;
use crate::dataset::{Grid, Select};
use crate::io::ReadError;
use crate::io::rows::{self, Blocks, Rows};

/// The vectors of this name at the points of a grid in one piece, if they are appended as raw bytes; `None` if they
/// are coded in another way, which is read as a whole.
///
/// # Errors
///
/// [`ReadError`] if the file cannot be read.
pub(crate) fn rows(path: &Path, name: &str) -> Result<Option<(Rows, Grid)>, ReadError> {
    let Some(head) = rows::beginning(path, b"<AppendedData")? else { return Ok(None) };
    let Ok(document) = Document::parse(&head) else { return Ok(None) };
    let Some((rows, coding, whole)) = found(path, name, &head, &document) else { return Ok(None) };
    let Ok(dataset) = super::read(&head, Select::Names(&[]), &super::no_files) else {
        return Ok(None);
    };
    let Some(rows) = coding.place(rows, whole)? else { return Ok(None) };
    Ok(Arc::into_inner(dataset.grid).map(|grid| (rows, grid)))
}

fn found(
    path: &Path,
    name: &str,
    head: &[u8],
    document: &Document<'_>,
) -> Option<(Rows, Coding, usize)> {
    let kind = document.root.get("type")?;
    let main = document.root.child(kind)?;
    let turned = main.get("Direction").is_some_and(|d| {
        !d.split_ascii_whitespace().eq(["1", "0", "0", "0", "1", "0", "0", "0", "1"])
    });
    if kind != "ImageData" || turned {
        return None;
    }
    let mut pieces = main.all("Piece");
    let (piece, more) = (pieces.next()?, pieces.next());
    let whole = extent_of(main.get("WholeExtent")?)?;
    let extent = piece.get("Extent").and_then(extent_of).unwrap_or(whole);
    if more.is_some() || extent != whole {
        return None;
    }
    let dims = dims_of(&whole)?;
    let data = piece.child("PointData")?;
    if data.all("DataArray").any(|a| a.get("Name") == Some("vtkGhostType")) {
        return None;
    }
    let array = data.all("DataArray").find(|a| a.get("Name") == Some(name))?;
    let components: usize = array.get("NumberOfComponents")?.parse().ok()?;
    let appended = array.get("format").is_some_and(|f| f.eq_ignore_ascii_case("appended"));
    let (bytes, raw) = document.appended?;
    if !appended || !raw || !matches!(components, 2 | 3) {
        return None;
    }
    let offset: u64 = array.get("offset")?.parse().ok()?;
    let number = number_of(array)?;
    let coding = Coding::of(&document.root).ok()?;
    let start = ((head.len() - bytes.len()) as u64).checked_add(offset)?;
    let tuple = components * number.size();
    let whole = dims.iter().product::<usize>().checked_mul(tuple)?;
    let rows = Rows {
        path: path.to_owned(),
        start,
        dims,
        components,
        number,
        big_endian: coding.big_endian(),
        blocks: None,
    };
    Some((rows, coding, whole))
}

impl Coding {
    /// Finds the bytes behind their header, or the table of their blocks.
    fn place(self, rows: Rows, whole: usize) -> Result<Option<Rows>, ReadError> {
        let io = |source| ReadError::Io { path: rows.path.clone(), source };
        let size = self.header_size();
        let bytes = rows.path.metadata().map_err(io)?.len();
        if self.is_plain() {
            return Ok(Some(Rows { start: rows.start + size as u64, ..rows }));
        }
        let Some(lz4) = self.is_lz4() else { return Ok(None) };
        let number = |at: u64, count: usize| -> std::io::Result<Vec<usize>> {
            use std::io::{Read as _, Seek as _, SeekFrom};
            let mut file = std::fs::File::open(&rows.path)?;
            file.seek(SeekFrom::Start(at))?;
            let mut table = vec![0; count * size];
            file.read_exact(&mut table)?;
            Ok(table.chunks(size).map(|b| self.header(b).unwrap_or(usize::MAX)).collect())
        };
        let head = number(rows.start, 3).map_err(io)?;
        let (count, block) = (head[0], head[1]);
        // The table must be in the file, and the blocks must be what is asked for.
        let table = (count as u64).saturating_mul(size as u64);
        let fits = block > 0 && count == whole.div_ceil(block) && table < bytes;
        if !fits {
            return Ok(None);
        }
        let sizes = number(rows.start + 3 * size as u64, count).map_err(io)?;
        let mut at = rows.start + (3 + count as u64) * size as u64;
        let mut places = vec![at];
        for size in sizes {
            at = at.saturating_add(size as u64);
            places.push(at);
        }
        Ok(Some(Rows { blocks: Some(Blocks { size: block, places, lz4 }), ..rows }))
    }
}

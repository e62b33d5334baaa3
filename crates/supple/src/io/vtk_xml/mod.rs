//! VTK XML files: image, rectilinear, structured and unstructured grids and polydata, in one file or in pieces;
//! blocks. Reading, and writing with raw appended data.
//!
//! # What is read
//!
//! `.vti .vtr .vts .vtu .vtp`, the lists of pieces `.pvti .pvtr .pvts .pvtu .pvtp`, blocks `.vtm`. Numbers as text,
//! inline base64, appended base64 or raw, with headers of 32 or 64 bits in both byte orders, plain or in blocks of
//! zlib, LZ4 or LZMA. Extents may start anywhere and be cut into pieces. Only arrays that are asked for are decoded.
//! All linear cells and polyhedra; cells of higher order keep their corners, which is said. Hidden points and cells
//! (`vtkGhostType`) become NaN, doubled cells are left out. The time is `TimeValue`, `TIME` or `time` of the field
//! data.
//!
//! # Limits
//!
//! - A whole file is in memory while it is read, unless it is an image in one piece with raw appended
//!   vectors, plain or in blocks of zlib or LZ4: of those any box of points is read alone.
//! - Several blocks, and pieces of different grids, become one unstructured grid, which is said.
//! - Tables, graphs, hyper trees and refined blocks of AMR are refused by name.
//!
//! # References
//!
//! - The VTK User's Guide, File Formats for VTK; XML file formats. Kitware, 2010.

mod appended;
mod piece;
mod values;
mod write;
mod xml;

pub(crate) use appended::rows;
use piece::Part;
pub(super) use piece::{GHOSTS, without_ghosts};
pub use write::{ending, write};
pub(super) use xml::{Document, Element};

use super::text::quote;
use super::{Malformed, Place};
use crate::dataset::{Dataset, Select};

/// Reads a file that another one names, as pieces and blocks do.
pub type Fetch<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, Malformed>;

/// For a file that stands alone: whatever it names is not there.
///
/// # Errors
///
/// Always.
pub fn no_files(name: &str) -> Result<Vec<u8>, Malformed> {
    let what = format!("there is no file {}", quote(name.as_bytes()));
    Err(Malformed::new(Place::File, what, "put the piece where the file names it"))
}

/// How deep files may name files: blocks name lists of pieces, which name pieces.
const DEEPEST: usize = 3;

/// Reads a dataset: all of its grid, and the arrays selected.
///
/// # Errors
///
/// [`Malformed`] with what makes no sense, or what the file is if it is no flow.
pub fn read(bytes: &[u8], select: Select<'_>, fetch: Fetch<'_>) -> Result<Dataset, Malformed> {
    read_nested(bytes, select, fetch, 0)
}

fn read_nested(
    bytes: &[u8],
    select: Select<'_>,
    fetch: Fetch<'_>,
    depth: usize,
) -> Result<Dataset, Malformed> {
    if depth > DEEPEST {
        let what = format!("files name files more than {DEEPEST} deep");
        return Err(Malformed::new(Place::File, what, "name the pieces themselves"));
    }
    let document = Document::parse(bytes)?;
    let kind = document.root.get("type").unwrap_or_default();
    let Some(main) = document.root.child(kind) else {
        let what = format!("there is no element {} in the file", quote(kind.as_bytes()));
        return Err(Malformed::new(Place::File, what, "it was cut off, or is damaged"));
    };
    match kind {
        "ImageData" | "RectilinearGrid" | "StructuredGrid" | "UnstructuredGrid" | "PolyData" => {
            piece::read(&document, main, select)
        }
        "PImageData" | "PRectilinearGrid" | "PStructuredGrid" | "PUnstructuredGrid"
        | "PPolyData" => read_pieces(main, select, fetch, depth),
        "vtkMultiBlockDataSet"
        | "vtkMultiBlockDataset"
        | "vtkPartitionedDataSet"
        | "vtkPartitionedDataSetCollection" => read_blocks(main, select, fetch, depth),
        "Collection" => {
            let what = "this is a series of files (.pvd), not one moment";
            Err(Malformed::new(Place::File, what, "open it as a recording"))
        }
        other => {
            let what = format!("{} is not a kind of grid that is read", quote(other.as_bytes()));
            let fix = "convert it to an unstructured or image grid, for example with ParaView";
            Err(Malformed::new(Place::File, what, fix))
        }
    }
}

/// Several datasets of one moment as one.
///
/// # Errors
///
/// [`Malformed`] if there is none.
pub fn join(datasets: Vec<Dataset>) -> Result<Dataset, Malformed> {
    let parts = datasets.into_iter().map(|dataset| Part { dataset, extent: None });
    piece::join(parts.collect(), None)
}

/// The files that a list of pieces names, joined.
fn read_pieces(
    main: &Element,
    select: Select<'_>,
    fetch: Fetch<'_>,
    depth: usize,
) -> Result<Dataset, Malformed> {
    let mut parts = Vec::new();
    for piece in main.all("Piece") {
        let Some(source) = piece.get("Source") else {
            let fix = "each piece names its file as Source; write the file again";
            return Err(Malformed::new(Place::File, "a piece names no file", fix));
        };
        let within = |e: Malformed| Malformed {
            what: format!("{source}: {}{}", e.place, e.what),
            place: Place::File,
            ..e
        };
        let bytes = fetch(source)?;
        let dataset = read_nested(&bytes, select, fetch, depth + 1).map_err(within)?;
        let extent = piece.get("Extent").and_then(piece::extent_of);
        parts.push(Part { dataset, extent });
    }
    let whole = main.get("WholeExtent").and_then(piece::extent_of);
    piece::join(parts, whole)
}

/// The files that blocks name, joined; empty ones are left out.
fn read_blocks(
    main: &Element,
    select: Select<'_>,
    fetch: Fetch<'_>,
    depth: usize,
) -> Result<Dataset, Malformed> {
    let mut files = Vec::new();
    collect_files(main, &mut files);
    let mut parts = Vec::new();
    for file in files {
        let within = |e: Malformed| Malformed {
            what: format!("{file}: {}{}", e.place, e.what),
            place: Place::File,
            ..e
        };
        let dataset = read_nested(&fetch(file)?, select, fetch, depth + 1).map_err(within)?;
        if dataset.grid.point_count() > 0 {
            parts.push(Part { dataset, extent: None });
        }
    }
    piece::join(parts, None)
}

fn collect_files<'a>(element: &'a Element, files: &mut Vec<&'a str>) {
    for child in &element.children {
        match (child.name.as_str(), child.get("file")) {
            ("DataSet", Some(file)) if !file.is_empty() => files.push(file),
            _ => collect_files(child, files),
        }
    }
}

/// The entries of a `.pvd`: time and file, as the file orders them.
///
/// # Errors
///
/// [`Malformed`] if the file is no series.
pub fn read_series(bytes: &[u8]) -> Result<Vec<(f64, String)>, Malformed> {
    let document = Document::parse(bytes)?;
    let Some(collection) = document.root.child("Collection") else {
        let fix = "a .pvd file lists <DataSet timestep=… file=…/> in a <Collection>";
        return Err(Malformed::new(Place::File, "the file has no collection", fix));
    };
    let mut entries = Vec::new();
    for set in collection.all("DataSet") {
        let Some(file) = set.get("file").filter(|f| !f.is_empty()) else {
            let what = format!("entry {} names no file", entries.len() + 1);
            return Err(Malformed::new(Place::File, what, "correct it, or write the series again"));
        };
        let word = set.get("timestep").unwrap_or("0");
        let Some(time) = word.parse::<f64>().ok().filter(|t| t.is_finite()) else {
            let what = format!("{} is not a time", quote(word.as_bytes()));
            return Err(Malformed::new(Place::File, what, "correct it, or write the series again"));
        };
        entries.push((time, file.to_owned()));
    }
    if entries.is_empty() {
        return Err(Malformed::new(Place::File, "the series is empty", "write it again"));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests;

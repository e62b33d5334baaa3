//! OpenFOAM cases: a folder with `constant/polyMesh` and a folder a time; read only.
//!
//! # What is read
//!
//! A case by its folder, its `.foam` file or `system/controlDict`; text and binary with labels of 32 and 64 bits and
//! scalars of 32 and 64, `.gz`; polyhedra; uniform and non-uniform fields of cells, scalars and vectors; cases that
//! were decomposed into `processor0`, `processor1` … or, collated, into `processors4` are joined.
//!
//! Values go from cells to points by inverse distance; points of a patch whose field has a `value` take the mean of
//! that instead, `noSlip` is zero.
//!
//! # Limits
//!
//! - A mesh that moves (`polyMesh` in time folders) is refused.

mod fields;
mod lexer;
mod mesh;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fields::CellValues;
use lexer::{Foam, of_processor, processors};
use mesh::PolyMesh;

use super::levels::Levels;
use super::{Malformed, Place, ReadError, gzip, inputs, vtk_xml};
use crate::dataset::{Array, ArrayInfo, Centering, Dataset, Grid, Select};

/// A case that is open.
#[derive(Debug)]
pub struct Case {
    path: PathBuf,
    /// The case itself, or its parts.
    parts: Vec<Part>,
    times: Vec<(f64, String)>,
    contents: Vec<ArrayInfo>,
}

#[derive(Debug)]
struct Part {
    folder: PathBuf,
    /// Which of the processors whose files are collated there.
    processor: usize,
    mesh: PolyMesh,
    grid: Arc<Grid>,
}

/// Reads a file, or the same compressed.
fn read_bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    inputs::remember(path);
    match inputs::read(path) {
        Ok(bytes) => Ok(bytes),
        Err(error) => {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(".gz");
            let compressed = path.with_file_name(name);
            let Ok(bytes) = inputs::read(&compressed) else { return Err(io(error)) };
            inputs::remember(&compressed);
            let malformed = |source| ReadError::Malformed { path: path.to_owned(), source };
            gzip::decompress(&bytes).map_err(malformed)
        }
    }
}

/// Reads a file of a case, that of one processor.
fn read_as<T>(
    path: &Path,
    processor: usize,
    read: impl FnOnce(&mut Foam<'_>) -> Result<T, Malformed>,
) -> Result<T, ReadError> {
    let malformed = |source| ReadError::Malformed { path: path.to_owned(), source };
    let bytes = of_processor(read_bytes(path)?, processor).map_err(malformed)?;
    let mut foam = Foam::new(&bytes).map_err(malformed)?;
    read(&mut foam).map_err(malformed)
}

/// The folder of a case that a path names; `None` if it is none.
#[must_use]
pub fn case_folder(path: &Path) -> Option<PathBuf> {
    let is_case = |folder: &Path| {
        folder.join("constant/polyMesh").is_dir()
            || folder.join("processor0").is_dir()
            || !collated(folder).is_empty()
            || folder.join("system/controlDict").is_file()
    };
    let here = |folder: &Path| {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        is_case(folder).then(|| folder.to_owned())
    };
    if path.is_dir() {
        return here(path);
    }
    match path.extension().and_then(|e| e.to_str()) {
        Some("foam" | "OpenFOAM") => here(path.parent()?),
        _ if path.ends_with("system/controlDict") => here(path.parent()?.parent()?),
        _ => None,
    }
}

/// Whether a file is one of those a case is made of: they begin alike.
#[must_use]
pub fn is_part(path: &Path) -> bool {
    const HEADER: &[u8] = b"FoamFile";
    // Who opens a pipe waits.
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    let read = inputs::open(path).and_then(|f| f.take(1 << 12).read_to_end(&mut head));
    read.is_ok() && head.windows(HEADER.len()).any(|w| w == HEADER)
}

impl Case {
    /// Opens a case: its mesh, its times, and what fields there are.
    ///
    /// # Errors
    ///
    /// [`ReadError`] with what makes no sense, and in which file.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let refuse = |what: &str, fix: &str| {
            let source = Malformed::new(Place::File, what, fix);
            ReadError::Malformed { path: path.to_owned(), source }
        };
        let Some(folder) = case_folder(path) else {
            return Err(refuse(
                "there is no OpenFOAM case",
                "name the folder with constant and system",
            ));
        };
        let folders = parts_of(&folder)?;
        let Some((first, _)) = folders.first() else {
            return Err(refuse("the case has no mesh", "make it first: blockMesh"));
        };
        let times = times_of(first);
        if times.is_empty() {
            return Err(refuse("the case has no time with fields", "run the solver first"));
        }
        if times.iter().any(|(_, name)| first.join(name).join("polyMesh/points").exists()) {
            return Err(refuse("the mesh of the case moves", "map it to one mesh: mapFields"));
        }
        let mut parts = Vec::new();
        for (folder, processor) in folders {
            let mesh = PolyMesh::read(&folder.join("constant/polyMesh"), processor)?;
            let grid = Arc::new(mesh.grid());
            parts.push(Part { folder, processor, mesh, grid });
        }
        let contents = contents_of(&parts[0].folder.join(&times[times.len() - 1].1));
        Ok(Self { path: path.to_owned(), parts, times, contents })
    }

    fn read_part(&self, part: &Part, time: &str, select: Select<'_>) -> Result<Dataset, ReadError> {
        let mut dataset = Dataset::on(Arc::clone(&part.grid), Vec::new());
        for info in self.contents.iter().filter(|i| select.wants(&i.name)) {
            let path = part.folder.join(time).join(&info.name);
            let field = read_as(&path, part.processor, |foam| {
                CellValues::read(foam, part.mesh.cells, info.components)
            })?;
            let malformed = |what: String| {
                let source = Malformed::new(Place::File, what, "write the case again");
                ReadError::Malformed { path: path.clone(), source }
            };
            let values = field.at_points(&part.mesh, &part.grid).map_err(malformed)?;
            dataset.arrays.push(Array { info: info.clone(), values });
        }
        Ok(dataset)
    }
}

impl Levels for Case {
    fn count(&self) -> usize {
        self.times.len()
    }

    fn times(&self) -> Option<Vec<f64>> {
        Some(self.times.iter().map(|(t, _)| *t).collect())
    }

    fn in_seconds(&self) -> bool {
        true
    }

    fn path(&self, _level: usize) -> &Path {
        &self.path
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for part in &self.parts {
            let times = self.times.iter().map(|(_, name)| part.folder.join(name));
            for folder in times.chain([part.folder.join("constant/polyMesh")]) {
                let entries = folder.read_dir().into_iter().flatten().flatten();
                let mut own: Vec<PathBuf> =
                    entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
                own.sort();
                files.extend(own);
            }
        }
        files
    }

    fn reorder(&mut self, order: &[usize]) {
        self.times = order.iter().map(|&k| self.times[k].clone()).collect();
    }

    fn read(&self, level: usize, select: Select<'_>) -> Result<Dataset, ReadError> {
        let (time, name) = &self.times[level];
        let read = |part: &Part| self.read_part(part, name, select);
        let mut parts = self.parts.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let mut dataset = match parts.len() {
            1 => parts.remove(0),
            _ => vtk_xml::join(parts)
                .map_err(|source| ReadError::Malformed { path: self.path.clone(), source })?,
        };
        dataset.time = Some(*time);
        let unread = |i: &&ArrayInfo| !select.wants(&i.name);
        dataset.others = self.contents.iter().filter(unread).cloned().collect();
        Ok(dataset)
    }
}

/// The case, or its parts in order: folders, and which of the processors there.
fn parts_of(folder: &Path) -> Result<Vec<(PathBuf, usize)>, ReadError> {
    if folder.join("constant/polyMesh").is_dir() {
        return Ok(vec![(folder.to_owned(), 0)]);
    }
    let parts: Vec<(PathBuf, usize)> = (0..)
        .map(|k| folder.join(format!("processor{k}")))
        .take_while(|p| p.join("constant/polyMesh").is_dir())
        .map(|p| (p, 0))
        .collect();
    if !parts.is_empty() {
        return Ok(parts);
    }
    let mut parts = Vec::new();
    for folder in collated(folder) {
        let points = folder.join("constant/polyMesh/points");
        let malformed = |source| ReadError::Malformed { path: points.clone(), source };
        let count = processors(&read_bytes(&points)?).map_err(malformed)?;
        parts.extend((0..count).map(|k| (folder.clone(), k)));
    }
    Ok(parts)
}

/// Folders with the files of several processors: `processors4`, or `processors4_0-1`, `processors4_2-3`; in order.
fn collated(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<(usize, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let rest = name.strip_prefix("processors")?;
            let (count, range) = rest.split_once('_').unwrap_or((rest, "0"));
            count.parse::<usize>().ok()?;
            let first = range.split('-').next()?.parse::<usize>().ok()?;
            let path = entry.path();
            path.join("constant/polyMesh").is_dir().then_some((first, path))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// Folders whose names are numbers, with fields in them; sorted.
fn times_of(folder: &Path) -> Vec<(f64, String)> {
    let entries = folder.read_dir().into_iter().flatten().filter_map(Result::ok);
    let mut times: Vec<(f64, String)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let time = name.parse::<f64>().ok().filter(|t| t.is_finite())?;
            (!contents_of(&entry.path()).is_empty()).then_some((time, name))
        })
        .collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    times
}

/// Fields of cells in a time folder.
fn contents_of(folder: &Path) -> Vec<ArrayInfo> {
    let entries = folder.read_dir().into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<ArrayInfo> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let name = name.strip_suffix(".gz").unwrap_or(&name).to_owned();
            let bytes = of_processor(read_bytes(&folder.join(&name)).ok()?, 0).ok()?;
            let foam = Foam::new(&bytes).ok()?;
            let components = match foam.class() {
                "volVectorField" => 3,
                "volScalarField" => 1,
                _ => return None,
            };
            let units = foam.speed().then(|| "m/s".to_owned());
            Some(ArrayInfo { name, components, centering: Centering::Point, units, meaning: None })
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Between the files of a case that is in memory.
const SEPARATOR: u8 = 0x1e;

/// Reads a case that is in memory: the files `points`, `faces`, `owner`, `neighbour` and `boundary` of its mesh and one
/// of a field, with a record separator between them.
///
/// # Errors
///
/// [`Malformed`] with what makes no sense.
pub fn read(bytes: &[u8]) -> Result<Dataset, Malformed> {
    let inside = |error: ReadError| match error {
        ReadError::Malformed { source, .. } => source,
        other => Malformed::new(Place::File, other.to_string(), "copy the case again"),
    };
    let files: Vec<&[u8]> = bytes.split(|&b| b == SEPARATOR).collect();
    let [_, _, _, _, _, field] = files[..] else {
        let what = format!("{} files are no mesh and a field", files.len());
        return Err(Malformed::new(Place::File, what, "name the folder of a case"));
    };
    let mesh = PolyMesh::of(Path::new(""), |_, k| Ok(files[k].to_vec())).map_err(inside)?;
    let grid = Arc::new(mesh.grid());
    let mut foam = Foam::new(field)?;
    let components = if foam.class() == "volScalarField" { 1 } else { 3 };
    let field = CellValues::read(&mut foam, mesh.cells, components)?;
    let values = field.at_points(&mesh, &grid);
    let values =
        values.map_err(|what| Malformed::new(Place::File, what, "write the case again"))?;
    Ok(Dataset::on(grid, vec![Array::new("U", components, Centering::Point, values)]))
}

#[cfg(test)]
mod tests;

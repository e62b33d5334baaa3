//! XDMF: a document of grids and arrays whose numbers stand in it, in HDF5 files, or raw beside it; read only.
//!
//! # What is read
//!
//! Versions 2 and 3 as solvers, ParaView, FEniCS and meshio write them: uniform grids, temporal collections (several with the
//! same times are one), spatial collections (joined); lattices by origin and spacing, by axes, or by points;
//! meshes of one kind of cell and mixed ones. Numbers as text, in HDF5 by path, raw with their byte order and start;
//! hyperslabs; references to another item, and to another grid's topology and geometry.
//!
//! # Limits
//!
//! - Functions of items but `JOIN`, polyhedra and finite elements of their own are refused or left out by name.
//!
//! # References
//!
//! - XDMF Model and Format, version 3. Kitware and the US Army Research Laboratory, 2017.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use glam::DVec3;

use super::hdf5::{Hdf5, read_range};
use super::levels::Levels;
use super::number::Number;
use super::text::{parse_f64, quote};
use super::uri::{self, Policy};
use super::vtk_xml::{self, Document, Element};
use super::{Malformed, Place, ReadError, inputs};
use crate::dataset::{Array, ArrayInfo, CellBuilder, Centering, Dataset, Grid, Select};

/// Numbers of one item, at most.
const MOST_NUMBERS: usize = 1 << 36;

/// How deep items may name items.
const DEEPEST: usize = 8;

/// Documents are no longer than this: numbers belong beside them.
const LONGEST: u64 = 1 << 31;

fn problem(what: impl Into<String>, fix: &str) -> Malformed {
    Malformed::new(Place::File, what, fix)
}

fn damaged(what: impl Into<String>) -> Malformed {
    problem(what, "the file is damaged; write it again")
}

/// A document that was opened.
#[derive(Debug)]
pub struct Xdmf {
    path: PathBuf,
    files: Files,
    levels: Vec<Level>,
    /// The grid of the level that was read last: most levels share it.
    last: Mutex<Option<Kept>>,
}

/// A grid that was read, and what was to be told of it.
type Kept = (GridShape, Arc<Grid>, Vec<String>);

/// Where the files that a document names are.
#[derive(Debug)]
enum Files {
    Beside(PathBuf, Policy),
    /// There are none: the document stands alone.
    Nowhere,
}

/// A moment: its time, and its grids.
#[derive(Clone, Debug, Default)]
struct Level {
    time: Option<f64>,
    blocks: Vec<Collection>,
}

/// A grid and what is on it.
#[derive(Clone, Debug)]
struct Collection {
    shape: GridShape,
    arrays: Vec<(ArrayInfo, Item)>,
}

/// Topology and geometry.
#[derive(Clone, Debug, PartialEq)]
struct GridShape {
    topology: String,
    /// Points along the axes of a lattice, the slowest first; of a mesh how many cells.
    counts: Vec<usize>,
    nodes: usize,
    base: i64,
    cells: Option<Item>,
    geometry: String,
    points: Vec<Item>,
}

/// Where numbers are.
#[derive(Clone, Debug, PartialEq)]
enum Item {
    Text {
        text: String,
        dims: Vec<usize>,
    },
    Hdf {
        file: String,
        array: String,
        dims: Vec<usize>,
    },
    Raw {
        file: String,
        number: Number,
        big_endian: bool,
        seek: u64,
        dims: Vec<usize>,
    },
    /// A box of another item: along each axis the first, how many, and how far apart.
    Slab {
        of: Box<Self>,
        part: Vec<[u64; 3]>,
    },
    /// Components that stand apart.
    Join(Vec<Self>),
}

impl Xdmf {
    /// Opens a document; files that it names must lie as `policy` says.
    ///
    /// # Errors
    ///
    /// [`ReadError`] with what makes no sense, or is not read.
    pub fn open(path: &Path, policy: Policy) -> Result<Self, ReadError> {
        let io = |source| ReadError::Io { path: path.to_owned(), source };
        inputs::remember(path);
        let bytes = path.metadata().map_err(io)?.len().min(LONGEST);
        let text = read_range(path, 0, bytes as usize).map_err(io)?;
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        let malformed = |source| ReadError::Malformed { path: path.to_owned(), source };
        Self::of(path, &text, Files::Beside(folder, policy)).map_err(malformed)
    }

    fn of(path: &Path, bytes: &[u8], files: Files) -> Result<Self, Malformed> {
        let plain = without_doctype(bytes)?;
        let document = Document::parse_as(&plain, "Xdmf")?;
        let reader = Reader { document: &document, files: &files };
        let levels = reader.levels()?;
        Ok(Self { path: path.to_owned(), files, levels, last: Mutex::new(None) })
    }

    fn dataset(&self, level: &Level, select: Select<'_>) -> Result<Dataset, Malformed> {
        let block = |block: &Collection| self.block(block, select);
        let mut blocks = level.blocks.iter().map(block).collect::<Result<Vec<_>, _>>()?;
        let mut dataset = match blocks.len() {
            1 => blocks.remove(0),
            _ => vtk_xml::join(blocks)?,
        };
        dataset.time = level.time;
        Ok(dataset)
    }

    fn block(&self, block: &Collection, select: Select<'_>) -> Result<Dataset, Malformed> {
        let (grid, said) = self.grid(&block.shape)?;
        let mut dataset = Dataset::on(grid, Vec::new());
        dataset.assumed = said;
        for (info, item) in &block.arrays {
            let tuples = dataset.grid.count(info.centering);
            let size = item.len()?;
            let components = size / tuples.max(1);
            if components == 0 || components > 9 || components * tuples != size {
                let what = format!("'{}' has {size} numbers for {tuples} places", info.name);
                return Err(damaged(what));
            }
            let info = ArrayInfo { components, ..info.clone() };
            if !select.wants(&info.name) {
                dataset.others.push(info);
                continue;
            }
            let values = self.files.numbers(item, 0, |x| x as f32)?;
            dataset.arrays.push(Array { info, values });
        }
        dataset.make_axes_rise().map_err(damaged)?;
        Ok(dataset)
    }

    /// The grid of a block; of levels that share theirs it is read once.
    fn grid(&self, shape: &GridShape) -> Result<(Arc<Grid>, Vec<String>), Malformed> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, grid, said)) = last.as_ref().filter(|(of, ..)| of == shape) {
            return Ok((Arc::clone(grid), said.clone()));
        }
        let (grid, said) = shape.grid(&self.files)?;
        let grid = Arc::new(grid);
        *last = Some((shape.clone(), Arc::clone(&grid), said.clone()));
        Ok((grid, said))
    }
}

impl Levels for Xdmf {
    fn count(&self) -> usize {
        self.levels.len()
    }

    fn times(&self) -> Option<Vec<f64>> {
        self.levels.iter().map(|level| level.time).collect()
    }

    fn path(&self, _level: usize) -> &Path {
        &self.path
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files = vec![self.path.clone()];
        let blocks = self.levels.iter().flat_map(|level| &level.blocks);
        let items = blocks.flat_map(|b| {
            b.arrays.iter().map(|(_, item)| item).chain(&b.shape.cells).chain(&b.shape.points)
        });
        let mut names = Vec::new();
        items.for_each(|item| item.files(&mut names));
        names.sort();
        names.dedup();
        files.extend(names.iter().filter_map(|name| self.files.path(name).ok()));
        files
    }

    fn reorder(&mut self, order: &[usize]) {
        self.levels = order.iter().map(|&k| self.levels[k].clone()).collect();
    }

    fn read(&self, level: usize, select: Select<'_>) -> Result<Dataset, ReadError> {
        let malformed = |source| ReadError::Malformed { path: self.path.clone(), source };
        self.dataset(&self.levels[level], select).map_err(malformed)
    }
}

/// Reads the first moment of a document that stands alone.
///
/// # Errors
///
/// [`Malformed`] with what makes no sense.
pub fn read(bytes: &[u8], select: Select<'_>) -> Result<Dataset, Malformed> {
    let document = Xdmf::of(Path::new("memory"), bytes, Files::Nowhere)?;
    document.dataset(&document.levels[0], select)
}

/// A document without its type, which most have and which says nothing; entities of their own are refused.
fn without_doctype(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut plain = bytes.to_vec();
    let Some(start) = memchr::memmem::find(bytes, b"<!DOCTYPE") else { return Ok(plain) };
    let cut = || damaged("the document type does not end");
    let mut end = start + memchr::memchr(b'>', &bytes[start..]).ok_or_else(cut)?;
    if let Some(open) = memchr::memchr(b'[', &bytes[start..end]) {
        let own = start + open;
        let close = own + memchr::memchr(b']', &bytes[own..]).ok_or_else(cut)?;
        if memchr::memmem::find(&bytes[own..close], b"<!ENTITY").is_some() {
            let fix = "write the names of its files where &…; stands";
            return Err(problem("the document declares entities", fix));
        }
        end = close + memchr::memchr(b'>', &bytes[close..]).ok_or_else(cut)?;
    }
    plain[start..=end].fill(b' ');
    Ok(plain)
}

/// The elements of a document as levels.
struct Reader<'a> {
    document: &'a Document<'a>,
    files: &'a Files,
}

impl Reader<'_> {
    fn levels(&self) -> Result<Vec<Level>, Malformed> {
        let domains: Vec<&Element> = self.document.root.all("Domain").collect();
        let grids: Vec<&Element> = domains.iter().flat_map(|d| d.all("Grid")).collect();
        let is_series = |grid: &&Element| {
            kind_of(grid) == "collection" && kind(grid, "CollectionType") == "temporal"
        };
        let series: Vec<&Element> = grids.iter().copied().filter(is_series).collect();
        let mut levels: Vec<Level> = Vec::new();
        for series in &series {
            let own = self.series(series)?;
            if levels.is_empty() {
                levels = own;
                continue;
            }
            // Fields at the same times, each in a series of its own.
            let same = own.len() == levels.len()
                && own
                    .iter()
                    .zip(&levels)
                    .all(|(a, b)| a.time == b.time && a.blocks.len() == b.blocks.len());
            if !same {
                let fix = "write the fields at the same times, or name a document that has one";
                return Err(problem("its temporal collections have other times", fix));
            }
            for (level, more) in levels.iter_mut().zip(own) {
                for (block, more) in level.blocks.iter_mut().zip(more.blocks) {
                    block.arrays.extend(more.arrays);
                }
            }
        }
        if series.is_empty() {
            let mut blocks = Vec::new();
            for grid in &grids {
                self.blocks(grid, None, 0, &mut blocks)?;
            }
            let time = grids.iter().find_map(|grid| self.time(grid));
            levels.push(Level { time, blocks });
        }
        levels.retain(|level| !level.blocks.is_empty());
        if levels.is_empty() {
            return Err(damaged("there is no grid in the document"));
        }
        Ok(levels)
    }

    /// The levels of a temporal collection.
    fn series(&self, series: &Element) -> Result<Vec<Level>, Malformed> {
        let listed = self.listed_times(series)?;
        let first = series.all("Grid").find(|grid| has_shape(grid));
        let mut levels = Vec::new();
        for (k, grid) in series.all("Grid").enumerate() {
            let mut blocks = Vec::new();
            self.blocks(grid, first, 0, &mut blocks)?;
            let time = self.time(grid).or_else(|| listed.get(k).copied());
            levels.push(Level { time, blocks });
        }
        Ok(levels)
    }

    /// The times that a collection lists for its grids.
    fn listed_times(&self, series: &Element) -> Result<Vec<f64>, Malformed> {
        let Some(time) = series.child("Time") else { return Ok(Vec::new()) };
        let Some(item) = time.child("DataItem") else { return Ok(Vec::new()) };
        let numbers = self.files.numbers(&self.item(item, 0)?, 0, |x| x)?;
        match (kind(time, "TimeType").as_str(), &numbers[..]) {
            ("hyperslab", &[start, step, count]) if count >= 0.0 => {
                let count = (count as usize).min(series.children.len());
                Ok((0..count).map(|k| start + step * k as f64).collect())
            }
            ("hyperslab" | "range", _) => Err(damaged("the times of a collection make no sense")),
            _ => Ok(numbers),
        }
    }

    fn time(&self, grid: &Element) -> Option<f64> {
        let value = grid.child("Time")?.get("Value")?;
        parse_f64(value.as_bytes()).filter(|t| t.is_finite())
    }

    /// The grids of a tree; those without a shape have that of the first of their series, or of the document.
    fn blocks(
        &self,
        grid: &Element,
        first: Option<&Element>,
        depth: usize,
        into: &mut Vec<Collection>,
    ) -> Result<(), Malformed> {
        if depth > DEEPEST {
            return Err(damaged("grids lie too deep in each other"));
        }
        match kind_of(grid).as_str() {
            "collection" | "tree" => {
                grid.all("Grid").try_for_each(|grid| self.blocks(grid, first, depth + 1, into))
            }
            "uniform" => {
                into.push(self.uniform(grid, first)?);
                Ok(())
            }
            other => {
                let what = format!("a grid of type {}", quote(other.as_bytes()));
                Err(problem(what, "save its parts as grids of their own"))
            }
        }
    }

    fn uniform(&self, grid: &Element, first: Option<&Element>) -> Result<Collection, Malformed> {
        let shaped = if has_shape(grid) { Some(grid) } else { first };
        let shaped =
            shaped.or_else(|| find(&self.document.root, &|e| e.name == "Grid" && has_shape(e)));
        let Some(shaped) = shaped else {
            return Err(damaged("a grid has neither topology nor geometry"));
        };
        let shape = self.shape(shaped)?;
        let mut arrays = Vec::new();
        for (k, attribute) in grid.all("Attribute").enumerate() {
            let centering = match kind(attribute, "Center").as_str() {
                "node" | "" => Centering::Point,
                "cell" => Centering::Cell,
                _ => continue,
            };
            let Some(item) = attribute.child("DataItem") else { continue };
            if attribute.get("ItemType") == Some("FiniteElementFunction") {
                continue;
            }
            let name = attribute.get("Name").filter(|n| !n.is_empty());
            let name = name.map_or_else(|| format!("array {}", k + 1), str::to_owned);
            let info = ArrayInfo { name, components: 0, centering, units: None, meaning: None };
            arrays.push((info, self.item(item, 0)?));
        }
        Ok(Collection { shape, arrays })
    }

    fn shape(&self, grid: &Element) -> Result<GridShape, Malformed> {
        let (topology, geometry) = (self.part(grid, "Topology")?, self.part(grid, "Geometry")?);
        let counts = topology.get("Dimensions").or_else(|| topology.get("NumberOfElements"));
        let counts = counts.map_or(Ok(Vec::new()), sizes)?;
        let number = |name: &str| topology.get(name).and_then(|n| n.parse::<i64>().ok());
        let cells = topology.child("DataItem").map(|item| self.item(item, 0)).transpose()?;
        let points = geometry.all("DataItem").map(|item| self.item(item, 0));
        Ok(GridShape {
            topology: either(topology, "TopologyType"),
            counts,
            nodes: number("NodesPerElement").and_then(|n| usize::try_from(n).ok()).unwrap_or(0),
            base: number("BaseOffset").unwrap_or(0),
            cells,
            geometry: either(geometry, "GeometryType"),
            points: points.collect::<Result<_, _>>()?,
        })
    }

    /// The topology or geometry of a grid, which may be that of another one.
    fn part<'e>(&'e self, grid: &'e Element, name: &str) -> Result<&'e Element, Malformed> {
        let own = grid.child(name);
        let own = own.ok_or_else(|| damaged(format!("a grid has no {}", name.to_lowercase())))?;
        let Some(reference) = own.get("Reference") else { return Ok(own) };
        let wanted = named_in(reference);
        let fits = |e: &Element| {
            e.name == name
                && e.get("Reference").is_none()
                && wanted.is_none_or(|n| e.get("Name") == Some(n))
        };
        let found = find(&self.document.root, &fits);
        found.ok_or_else(|| damaged(format!("there is no {}", quote(reference.as_bytes()))))
    }

    fn item(&self, element: &Element, depth: usize) -> Result<Item, Malformed> {
        if depth > DEEPEST {
            return Err(damaged("items lie too deep in each other"));
        }
        let text = self.document.text(element).trim();
        if element.get("Reference").is_some() {
            let path =
                if text.is_empty() { element.get("Reference").unwrap_or_default() } else { text };
            let wanted = named_in(path).ok_or_else(|| {
                problem(
                    format!("a reference to {}", quote(path.as_bytes())),
                    "refer to items by [@Name=…]",
                )
            })?;
            let fits = |e: &Element| {
                e.name == "DataItem"
                    && e.get("Name") == Some(wanted)
                    && e.get("Reference").is_none()
            };
            let found = find(&self.document.root, &fits);
            let found = found.ok_or_else(|| damaged(format!("there is no item '{wanted}'")))?;
            return self.item(found, depth + 1);
        }
        let kinds = kind(element, "ItemType");
        let mut parts = element.all("DataItem").map(|item| self.item(item, depth + 1));
        match kinds.as_str() {
            "uniform" | "" => {}
            "hyperslab" => {
                let (Some(slab), Some(of)) = (parts.next(), parts.next()) else {
                    return Err(damaged("a hyperslab needs what it is cut from"));
                };
                return self.slab(&slab?, of?);
            }
            "function" if element.get("Function").is_some_and(is_join) => {
                return Ok(Item::Join(parts.collect::<Result<_, _>>()?));
            }
            other => {
                let what = format!("an item of type {}", quote(other.as_bytes()));
                return Err(problem(what, "write its numbers themselves"));
            }
        }
        let dims = element.get("Dimensions").or_else(|| element.get("DataDimensions"));
        let dims = sizes(dims.ok_or_else(|| damaged("an item has no dimensions"))?)?;
        match kind(element, "Format").as_str() {
            "xml" | "" => Ok(Item::Text { text: text.to_owned(), dims }),
            "hdf" => {
                // A path of Windows has a colon of its own.
                let split = text.rsplit_once(':').filter(|(file, _)| !file.is_empty());
                let (file, array) = split.ok_or_else(|| {
                    damaged(format!("{} names no array of an HDF5 file", quote(text.as_bytes())))
                })?;
                Ok(Item::Hdf { file: file.trim().to_owned(), array: array.trim().to_owned(), dims })
            }
            "binary" => {
                if element.get("Compression").is_some_and(|c| !c.eq_ignore_ascii_case("raw")) {
                    return Err(problem(
                        "raw numbers are compressed",
                        "write them plainly, or as HDF5",
                    ));
                }
                let seek = element.get("Seek").map_or(Some(0), |s| s.parse().ok());
                let seek = seek.ok_or_else(|| damaged("where raw numbers begin makes no sense"))?;
                let big_endian =
                    element.get("Endian").is_some_and(|e| e.eq_ignore_ascii_case("big"));
                Ok(Item::Raw {
                    file: text.to_owned(),
                    number: number_of(element)?,
                    big_endian,
                    seek,
                    dims,
                })
            }
            other => {
                let what = format!("numbers in the format {}", quote(other.as_bytes()));
                Err(problem(what, "write them as XML, HDF or Binary"))
            }
        }
    }

    /// `start…, stride…, count…` of another item.
    fn slab(&self, slab: &Item, of: Item) -> Result<Item, Malformed> {
        let numbers = self.files.numbers(slab, 0, |x| x)?;
        let axes = numbers.len() / 3;
        let sane = numbers.len() == 3 * axes
            && numbers.iter().all(|x| *x >= 0.0 && *x < 9e15 && x.fract() == 0.0);
        if !sane || axes != of.dims().len() || axes == 0 {
            return Err(damaged("a hyperslab has not a start, a stride and a count for each axis"));
        }
        let at = |row: usize, axis: usize| numbers[row * axes + axis] as u64;
        let part = (0..axes).map(|a| [at(0, a), at(2, a), at(1, a)]).collect();
        Ok(Item::Slab { of: Box::new(of), part })
    }
}

/// The first element of a tree that fits.
fn find<'e>(root: &'e Element, fits: &dyn Fn(&Element) -> bool) -> Option<&'e Element> {
    if fits(root) {
        return Some(root);
    }
    root.children.iter().find_map(|child| find(child, fits))
}

fn has_shape(grid: &Element) -> bool {
    grid.child("Topology").is_some() && grid.child("Geometry").is_some()
}

/// An attribute in lower case, empty if it is not there.
fn kind(element: &Element, name: &str) -> String {
    element.get(name).unwrap_or_default().to_ascii_lowercase()
}

/// What kind of grid it is.
fn kind_of(grid: &Element) -> String {
    let kind = kind(grid, "GridType");
    if kind.is_empty() { "uniform".to_owned() } else { kind }
}

/// `TopologyType`, in older files `Type`.
fn either(element: &Element, name: &str) -> String {
    element.get(name).or_else(|| element.get("Type")).unwrap_or_default().to_ascii_lowercase()
}

/// The name in `/Xdmf/Domain/DataItem[@Name="x"]`.
fn named_in(path: &str) -> Option<&str> {
    let rest = path.split_once("@Name=")?.1;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest[1..].split(quote).next()
}

fn is_join(function: &str) -> bool {
    let plain: String = function.chars().filter(|c| !c.is_whitespace()).collect();
    plain.to_ascii_uppercase().starts_with("JOIN(")
        && plain.bytes().all(|c| c.is_ascii_alphanumeric() || b"$(),".contains(&c))
}

fn sizes(text: &str) -> Result<Vec<usize>, Malformed> {
    let sizes: Option<Vec<usize>> =
        text.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    let sane = |sizes: &Vec<usize>| {
        let count = sizes.iter().try_fold(1_usize, |n, &d| n.checked_mul(d.max(1)));
        !sizes.is_empty() && sizes.len() <= 8 && count.is_some_and(|n| n < MOST_NUMBERS)
    };
    sizes
        .filter(sane)
        .ok_or_else(|| damaged(format!("{} are no dimensions", quote(text.as_bytes()))))
}

fn number_of(element: &Element) -> Result<Number, Malformed> {
    let precision = element.get("Precision").unwrap_or("4");
    let name = element.get("NumberType").or_else(|| element.get("DataType")).unwrap_or("Float");
    match (name.to_ascii_lowercase().as_str(), precision) {
        ("float", "4") => Ok(Number::F32),
        ("float", "8") => Ok(Number::F64),
        ("int", "4") => Ok(Number::I32),
        ("int", "8") => Ok(Number::I64),
        ("int" | "short", "2") => Ok(Number::I16),
        ("uint", "4") => Ok(Number::U32),
        ("uint", "8") => Ok(Number::U64),
        ("uint" | "ushort", "2") => Ok(Number::U16),
        ("char" | "int", _) => Ok(Number::I8),
        ("uchar" | "uint", _) => Ok(Number::U8),
        _ => Err(damaged(format!("numbers of type {}", quote(name.as_bytes())))),
    }
}

impl Item {
    fn dims(&self) -> Vec<usize> {
        match self {
            Self::Text { dims, .. } | Self::Hdf { dims, .. } | Self::Raw { dims, .. } => {
                dims.clone()
            }
            Self::Slab { part, .. } => part.iter().map(|[_, count, _]| *count as usize).collect(),
            Self::Join(items) => {
                let mut dims = items.first().map(Self::dims).unwrap_or_default();
                dims.push(items.len());
                dims
            }
        }
    }

    /// How many numbers it has.
    fn len(&self) -> Result<usize, Malformed> {
        let count = self.dims().iter().try_fold(1_usize, |n, &d| n.checked_mul(d));
        count.filter(|n| *n < MOST_NUMBERS).ok_or_else(|| damaged("an item has too many numbers"))
    }

    /// The files it needs.
    fn files(&self, into: &mut Vec<String>) {
        match self {
            Self::Text { .. } => {}
            Self::Hdf { file, .. } | Self::Raw { file, .. } => into.push(file.clone()),
            Self::Slab { of, .. } => of.files(into),
            Self::Join(items) => items.iter().for_each(|item| item.files(into)),
        }
    }
}

impl Files {
    fn path(&self, name: &str) -> Result<PathBuf, Malformed> {
        let Self::Beside(folder, policy) = self else {
            return Err(problem(
                format!("there is no file {}", quote(name.as_bytes())),
                "put it beside the document",
            ));
        };
        let name = name.replace('\\', "/");
        uri::resolve_path(folder, Path::new(&name), *policy)
            .map_err(|error| Malformed::new(Place::File, error.to_string(), error.fix()))
    }

    /// The numbers of an item.
    fn numbers<T: Clone>(
        &self,
        item: &Item,
        depth: usize,
        of: impl Fn(f64) -> T + Copy,
    ) -> Result<Vec<T>, Malformed> {
        if depth > DEEPEST {
            return Err(damaged("items lie too deep in each other"));
        }
        let size = item.len()?;
        let values = match item {
            Item::Text { text, .. } => {
                let words = text.split_ascii_whitespace();
                words.take(size).map_while(|w| parse_f64(w.as_bytes())).map(of).collect()
            }
            Item::Hdf { file, array, .. } => {
                let found = self.open(file)?.array(array);
                found.and_then(|found| found.all(of)).map_err(|e| within(file, e))?
            }
            Item::Raw { file, number, big_endian, seek, .. } => {
                let path = self.path(file)?;
                inputs::remember(&path);
                let bytes = size.saturating_mul(number.size());
                let there = path.metadata().map_or(0, |m| m.len());
                if seek.saturating_add(bytes as u64) > there {
                    let what =
                        format!("{file} has {there} bytes, {bytes} from byte {seek} are needed");
                    return Err(problem(what, "the file was cut off; copy it again"));
                }
                let read = read_range(&path, *seek, bytes);
                let read = read.map_err(|error| damaged(format!("cannot read {file}: {error}")))?;
                number.decode(&read, *big_endian, of)
            }
            Item::Slab { of: whole, part } => match &**whole {
                Item::Hdf { file, array, .. } => {
                    let found = self.open(file)?.array(array);
                    found.and_then(|found| found.part(part, of)).map_err(|e| within(file, e))?
                }
                whole => cut(&self.numbers(whole, depth + 1, of)?, &whole.dims(), part)?,
            },
            Item::Join(items) => {
                let parts = items.iter().map(|item| self.numbers(item, depth + 1, of));
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                let count = parts.first().map_or(0, Vec::len);
                if parts.iter().any(|part| part.len() != count) {
                    return Err(damaged("components that are joined have other sizes"));
                }
                (0..count).flat_map(|k| parts.iter().map(move |part| part[k].clone())).collect()
            }
        };
        if values.len() != size {
            return Err(damaged(format!(
                "there are {} numbers where {size} should be",
                values.len()
            )));
        }
        Ok(values)
    }

    fn open(&self, file: &str) -> Result<Hdf5, Malformed> {
        let path = self.path(file)?;
        Hdf5::open(&path).map_err(|error| match error {
            ReadError::Malformed { source, .. } => within(file, source),
            other => problem(other.to_string(), "put the file where the document names it"),
        })
    }
}

/// What is wrong in a file that the document names.
fn within(file: &str, error: Malformed) -> Malformed {
    Malformed { what: format!("{file}: {}", error.what), ..error }
}

/// A box of numbers of a lattice, the slowest axis first.
fn cut<T: Clone>(values: &[T], dims: &[usize], part: &[[u64; 3]]) -> Result<Vec<T>, Malformed> {
    let outside = || damaged("a hyperslab is not in what it is cut from");
    let mut indices = vec![0_usize];
    for (&size, &[start, count, step]) in dims.iter().zip(part) {
        let last = count.saturating_sub(1).checked_mul(step).and_then(|n| n.checked_add(start));
        if count == 0 || step == 0 || last.is_none_or(|last| last >= size as u64) {
            return Err(outside());
        }
        let along =
            |before: usize| (0..count).map(move |k| before * size + (start + k * step) as usize);
        indices = indices.into_iter().flat_map(along).collect();
    }
    indices.into_iter().map(|i| values.get(i).cloned().ok_or_else(outside)).collect()
}

/// VTK's number of a kind of cell, and its corners; of mixed cells the number stands before each.
fn cell_of(name: &str) -> Option<(i64, usize)> {
    Some(match name {
        "triangle" => (5, 3),
        "quadrilateral" => (9, 4),
        "tetrahedron" => (10, 4),
        "pyramid" => (14, 5),
        "wedge" => (13, 6),
        "hexahedron" => (12, 8),
        "edge_3" => (21, 3),
        "triangle_6" | "tri_6" => (22, 6),
        "quadrilateral_8" | "quad_8" => (23, 8),
        "quadrilateral_9" | "quad_9" => (28, 9),
        "tetrahedron_10" | "tet_10" => (24, 10),
        "pyramid_13" => (27, 13),
        "wedge_15" => (26, 15),
        "hexahedron_20" | "hex_20" => (25, 20),
        "hexahedron_27" | "hex_27" => (29, 27),
        _ => return None,
    })
}

/// The same by the number of a cell in a mixed list; `None` for corners if their count follows.
fn mixed_cell(code: i64) -> Option<(i64, Option<usize>)> {
    Some(match code {
        1 => (2, None),
        2 => (4, None),
        3 => (7, None),
        4 => (5, Some(3)),
        5 => (9, Some(4)),
        6 => (10, Some(4)),
        7 => (14, Some(5)),
        8 => (13, Some(6)),
        9 => (12, Some(8)),
        0x22 => (21, Some(3)),
        0x24 => (22, Some(6)),
        0x25 => (23, Some(8)),
        0x23 => (28, Some(9)),
        0x26 => (24, Some(10)),
        0x27 => (27, Some(13)),
        0x28 => (26, Some(15)),
        0x30 => (25, Some(20)),
        0x32 => (29, Some(27)),
        _ => return None,
    })
}

impl GridShape {
    fn grid(&self, files: &Files) -> Result<(Grid, Vec<String>), Malformed> {
        match self.topology.as_str() {
            "2dcorectmesh" | "3dcorectmesh" => Ok((self.image(files)?, Vec::new())),
            "2drectmesh" | "3drectmesh" => Ok((self.axes(files)?, Vec::new())),
            "2dsmesh" | "3dsmesh" => {
                let dims = self.dims()?;
                let points = self.places(files)?;
                if points.len() != dims.iter().product::<usize>() {
                    return Err(damaged(format!(
                        "{} points on a lattice of {dims:?}",
                        points.len()
                    )));
                }
                Ok((Grid::Curvilinear { dims, points }, Vec::new()))
            }
            _ => self.mesh(files),
        }
    }

    /// Points along x, y and z.
    fn dims(&self) -> Result<[usize; 3], Malformed> {
        let wrong = || damaged(format!("a lattice of dimensions {:?}", self.counts));
        let mut dims = [1; 3];
        if self.counts.is_empty() || self.counts.len() > 3 || self.counts.contains(&0) {
            return Err(wrong());
        }
        dims.iter_mut().zip(self.counts.iter().rev()).for_each(|(d, n)| *d = *n);
        Ok(dims)
    }

    /// The numbers of all items of the geometry.
    fn geometry(&self, files: &Files) -> Result<Vec<Vec<f64>>, Malformed> {
        self.points.iter().map(|item| files.numbers(item, 0, |x| x)).collect()
    }

    fn image(&self, files: &Files) -> Result<Grid, Malformed> {
        let dims = self.dims()?;
        let items = self.geometry(files)?;
        let [origin, spacing] = &items[..] else {
            return Err(damaged("an origin and a spacing are needed"));
        };
        let axes = self.counts.len();
        if origin.len() != axes || spacing.len() != axes {
            return Err(damaged("origin and spacing have a number for each axis"));
        }
        let mut grid = ([0.0; 3], [1.0; 3]);
        // As the dimensions, z comes first.
        for a in 0..axes {
            (grid.0[a], grid.1[a]) = (origin[axes - 1 - a], spacing[axes - 1 - a]);
        }
        for (spacing, n) in grid.1.iter_mut().zip(dims) {
            if *spacing == 0.0 && n == 1 {
                *spacing = 1.0;
            }
        }
        if !grid.0.iter().chain(&grid.1).all(|x| x.is_finite()) || grid.1.contains(&0.0) {
            return Err(damaged("origin or spacing make no sense"));
        }
        Ok(Grid::Uniform { dims, origin: grid.0, spacing: grid.1 })
    }

    fn axes(&self, files: &Files) -> Result<Grid, Malformed> {
        let dims = self.dims()?;
        let mut items = self.geometry(files)?;
        items.resize(3, vec![0.0]);
        let [x, y, z] =
            <[Vec<f64>; 3]>::try_from(items).ok().ok_or_else(|| damaged("too many axes"))?;
        if [x.len(), y.len(), z.len()] != dims {
            let what = format!(
                "axes of {}, {} and {} points on a lattice of {dims:?}",
                x.len(),
                y.len(),
                z.len()
            );
            return Err(damaged(what));
        }
        Ok(Grid::Rectilinear { x, y, z })
    }

    fn places(&self, files: &Files) -> Result<Vec<DVec3>, Malformed> {
        let items = self.geometry(files)?;
        match (self.geometry.as_str(), &items[..]) {
            ("xyz" | "", [flat]) if flat.len() % 3 == 0 => {
                Ok(flat.as_chunks::<3>().0.iter().map(|&p| DVec3::from_array(p)).collect())
            }
            ("xy", [flat]) if flat.len() % 2 == 0 => {
                Ok(flat.as_chunks::<2>().0.iter().map(|&[x, y]| DVec3::new(x, y, 0.0)).collect())
            }
            ("x_y_z", [x, y, z]) if x.len() == y.len() && y.len() == z.len() => {
                Ok(x.iter().zip(y).zip(z).map(|((&x, &y), &z)| DVec3::new(x, y, z)).collect())
            }
            ("x_y", [x, y]) if x.len() == y.len() => {
                Ok(x.iter().zip(y).map(|(&x, &y)| DVec3::new(x, y, 0.0)).collect())
            }
            (other, _) => {
                let what =
                    format!("a geometry of type {} with these numbers", quote(other.as_bytes()));
                Err(problem(what, "write it as XYZ, XY or X_Y_Z"))
            }
        }
    }

    fn mesh(&self, files: &Files) -> Result<(Grid, Vec<String>), Malformed> {
        let points = self.places(files)?;
        let list = match &self.cells {
            Some(item) => files.numbers(item, 0, |x| x as i64)?,
            None => Vec::new(),
        };
        let mut builder = CellBuilder::new(points.len());
        let (types, ends, corners) = match self.topology.as_str() {
            "mixed" => mixed(&list, self.base)?,
            name => {
                let known = cell_of(name).or(match name {
                    "polyvertex" => Some((2, self.nodes.max(1))),
                    "polyline" => Some((4, self.nodes.max(2))),
                    "polygon" => Some((7, self.nodes)),
                    _ => None,
                });
                let Some((code, nodes)) = known.filter(|(_, nodes)| *nodes > 0) else {
                    let what = format!("cells of type {}", quote(name.as_bytes()));
                    return Err(problem(what, "convert them to tetrahedra or hexahedra"));
                };
                if list.len() % nodes != 0 {
                    return Err(damaged(format!("{} corners for cells of {nodes}", list.len())));
                }
                let count = list.len() / nodes;
                let ends = (1..=count).map(|k| (k * nodes) as i64).collect();
                (
                    vec![code; count],
                    ends,
                    list.iter().map(|p| p.saturating_sub(self.base)).collect(),
                )
            }
        };
        builder.add(&types, &ends, &corners, &[]).map_err(|error| damaged(error.to_string()))?;
        let said = builder.said().into_iter().collect();
        Ok((Grid::Unstructured { points, cells: builder.cells }, said))
    }
}

/// Types, ends and corners.
type CellLists = (Vec<i64>, Vec<i64>, Vec<i64>);

/// Cells whose number, and for some how many corners, stand before their corners.
fn mixed(list: &[i64], base: i64) -> Result<CellLists, Malformed> {
    let (mut types, mut ends, mut corners) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = list;
    while let Some((&code, after)) = rest.split_first() {
        let known = mixed_cell(code);
        let (kind, count) = known.ok_or_else(|| {
            problem(
                format!("mixed cells with number {code}"),
                "convert them to tetrahedra or hexahedra",
            )
        })?;
        let cut = || damaged("the last of mixed cells has too few corners");
        let (count, after) = match count {
            Some(count) => (count, after),
            None => {
                let (&count, after) = after.split_first().ok_or_else(cut)?;
                (usize::try_from(count).ok().ok_or_else(cut)?, after)
            }
        };
        let own = after.get(..count).ok_or_else(cut)?;
        types.push(kind);
        corners.extend(own.iter().map(|p| p.saturating_sub(base)));
        ends.push(corners.len() as i64);
        rest = &after[count..];
    }
    Ok((types, ends, corners))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name)
    }

    #[test]
    fn a_lattice_whose_axes_stand_backwards() {
        let file = Xdmf::open(&corpus("xdmf/lattice.xmf"), Policy::FolderOnly).unwrap();
        assert_eq!(file.times(), Some(vec![0.5]));
        let moment = file.read(0, Select::All).unwrap();
        let grid =
            Grid::Uniform { dims: [4, 3, 2], origin: [2.0, 1.0, 0.0], spacing: [0.25, 0.5, 1.0] };
        assert_eq!(*moment.grid, grid);
        // Three items joined, the second every other number of a wider one.
        let velocity = moment.array("U").unwrap();
        assert_eq!(velocity.values[..9], [1.0, 0.0, 0.0, 1.0, 2.0, 0.0, 1.0, 4.0, 0.0]);
        assert_eq!(velocity.values[3 * 23 + 1], 46.0);
        assert_eq!(moment.array("heat").unwrap().info.centering, Centering::Cell);
    }

    #[test]
    fn a_series_shares_its_mesh() {
        let file = Xdmf::open(&corpus("xdmf/series.xdmf"), Policy::FolderOnly).unwrap();
        assert_eq!(file.times(), Some(vec![0.0, 1.0]));
        let [first, second] = [0, 1].map(|k| file.read(k, Select::All).unwrap());
        assert!(Arc::ptr_eq(&first.grid, &second.grid), "read once");
        let Grid::Unstructured { points, cells } = &*first.grid else { panic!("a mesh") };
        assert_eq!((points.len(), cells.len(), cells.corners(2)), (5, 3, &[0, 1, 2][..]));
        assert_eq!(second.array("u").unwrap().values[14], 28.0);
    }

    /// A document beside an HDF5 file, whose numbers it names by path and by hyperslab, and beside a raw one.
    fn beside(folder: &Path, raw: &[u8]) -> Result<Dataset, ReadError> {
        std::fs::copy(corpus("vtkhdf/mesh.vtkhdf"), folder.join("a.h5")).unwrap();
        std::fs::write(folder.join("a.raw"), raw).unwrap();
        let text = r#"<Xdmf><Domain><Grid><Topology TopologyType="Tetrahedron" NumberOfElements="2">
            <DataItem Dimensions="2 4" Format="XML">0 1 2 3 4 5 6 7</DataItem></Topology>
            <Geometry GeometryType="XYZ"><DataItem Dimensions="8 3" Format="HDF">a.h5:/VTKHDF/Points</DataItem></Geometry>
            <Attribute Name="U" AttributeType="Vector"><DataItem ItemType="HyperSlab" Dimensions="8 3">
            <DataItem Dimensions="3 2">8 0 1 1 8 3</DataItem>
            <DataItem Dimensions="16 3" Format="HDF">a.h5:/VTKHDF/PointData/U</DataItem></DataItem></Attribute>
            <Attribute Name="p" Center="Cell"><DataItem Dimensions="2" NumberType="Float" Precision="8" Endian="Big"
            Seek="4" Format="Binary">a.raw</DataItem></Attribute></Grid></Domain></Xdmf>"#;
        let path = folder.join("a.xdmf");
        std::fs::write(&path, text).unwrap();
        Xdmf::open(&path, Policy::FolderOnly)?.read(0, Select::All)
    }

    #[test]
    fn numbers_beside_the_document() {
        let folder = tempfile::tempdir().unwrap();
        let raw = [vec![9; 4], 1.5_f64.to_be_bytes().to_vec(), (-2.0_f64).to_be_bytes().to_vec()]
            .concat();
        let moment = beside(folder.path(), &raw).unwrap();
        assert_eq!(moment.array("U").unwrap().values[..3], [24.0, 25.0, 26.0]);
        assert_eq!(moment.array("p").unwrap().values, [1.5, -2.0]);
        assert_eq!(moment.grid.point(7), DVec3::ONE);
        let cut = beside(folder.path(), &raw[..12]).unwrap_err().to_string();
        assert!(cut.contains("a.raw has 12 bytes"), "{cut}");
    }

    #[test]
    fn what_is_not_read_is_named() {
        let error = |text: &str| read(text.as_bytes(), Select::All).unwrap_err().what;
        let lattice = std::fs::read_to_string(corpus("xdmf/lattice.xmf")).unwrap();
        for (from, to, said) in [
            ("JOIN($0, $1, $2)", "SIN($0)", "function"),
            ("Dimensions=\"2 3 4\" Format", "Dimensions=\"2 3\" Format", "18 numbers"),
            ("0 0 0 1 1 2 2 3 4", "0 0 0 1 1 9 2 3 4", "hyperslab"),
            (" []>", " [<!ENTITY a \"b\">]>", "entities"),
            ("Uniform", "SubSet", "subset"),
        ] {
            let what = error(&lattice.replacen(from, to, 1));
            assert!(what.contains(said), "{to}: {what}");
        }
        let series = std::fs::read_to_string(corpus("xdmf/series.xdmf")).unwrap();
        assert!(error(&series.replace("Mixed", "Polyhedron")).contains("polyhedron"), "cells");
        assert!(error("<Xdmf><Domain/></Xdmf>").contains("no grid"), "empty");
        let outside = std::fs::read_to_string(corpus("xdmf/beside.xdmf")).unwrap();
        assert!(error(&outside).contains("a.h5"), "alone");
    }
}

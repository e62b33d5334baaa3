//! EnSight Gold: a `.case` file that names geometry, variables and times; read only.
//!
//! # What is read
//!
//! Geometry as text, as C binary and as Fortran binary, in both byte orders; unstructured parts of all kinds of cells
//! but polyhedra, several parts joined; scalars and vectors at nodes and in elements; one time set, numbers in
//! names by `*`. Places without a value (`undef`) are outside the flow.
//!
//! # Limits
//!
//! - A geometry that changes, structured blocks, polyhedra, `partial` values and several steps in one file are refused.
//! - Ghost elements are left out, with their values.
//!
//! # References
//!
//! - EnSight User Manual: EnSight Gold Casefile Format. Ansys, 2020.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::DVec3;

use super::levels::Levels;
use super::number::Number;
use super::text::{parse_f64, quote};
use super::uri::{self, Policy};
use super::{Malformed, Place, ReadError, inputs, vtk_xml};
use crate::dataset::{Array, ArrayInfo, CellBuilder, Centering, Dataset, Grid, Select};

/// Characters of a line in binary files.
const LINE: usize = 80;

/// Kinds of elements, their nodes, and VTK's number.
const ELEMENTS: [(&str, usize, i64); 15] = [
    ("point", 1, 1),
    ("bar2", 2, 3),
    ("bar3", 3, 21),
    ("tria3", 3, 5),
    ("tria6", 6, 22),
    ("quad4", 4, 9),
    ("quad8", 8, 23),
    ("tetra4", 4, 10),
    ("tetra10", 10, 24),
    ("pyramid5", 5, 14),
    ("pyramid13", 13, 27),
    ("penta6", 6, 13),
    ("penta15", 15, 26),
    ("hexa8", 8, 12),
    ("hexa20", 20, 25),
];

fn problem(what: impl Into<String>, fix: &str) -> Malformed {
    Malformed::new(Place::File, what, fix)
}

fn damaged(what: impl Into<String>) -> Malformed {
    problem(what, "the file is damaged; export it again")
}

/// A case that was opened: its geometry is read, its values are not.
#[derive(Debug)]
pub struct Case {
    path: PathBuf,
    policy: Policy,
    variables: Vec<Variable>,
    /// Time and number of each level; one without them for a case of one moment.
    steps: Vec<(Option<f64>, i64)>,
    geometry: PathBuf,
    parts: Vec<Part>,
    said: Vec<String>,
}

/// What a case says of a variable.
#[derive(Debug)]
struct Variable {
    info: ArrayInfo,
    pattern: String,
}

/// A part: its grid, and its elements in the order of the file.
#[derive(Debug)]
struct Part {
    number: i64,
    grid: Arc<Grid>,
    points: usize,
    elements: Vec<Elements>,
}

/// Elements of a kind.
#[derive(Debug)]
struct Elements {
    kind: String,
    count: usize,
    is_ghost: bool,
}

impl Case {
    /// Opens a case; files that it names must lie as `policy` says.
    ///
    /// # Errors
    ///
    /// [`ReadError`] with what makes no sense, or is not read.
    pub fn open(path: &Path, policy: Policy) -> Result<Self, ReadError> {
        let malformed = |source| ReadError::Malformed { path: path.to_owned(), source };
        let listed = Listed::read(&bytes_of(path)?).map_err(malformed)?;
        let geometry = named(path, &listed.geometry, policy).map_err(malformed)?;
        let (parts, said) = geometry_of(&bytes_of(&geometry)?)
            .map_err(|source| ReadError::Malformed { path: geometry.clone(), source })?;
        let Listed { variables, steps, .. } = listed;
        Ok(Self { path: path.to_owned(), policy, variables, steps, geometry, parts, said })
    }

    /// The file of a variable at a level.
    fn file(&self, variable: &Variable, level: usize) -> Result<PathBuf, Malformed> {
        named(&self.path, &numbered(&variable.pattern, self.steps[level].1), self.policy)
    }
}

impl Levels for Case {
    fn count(&self) -> usize {
        self.steps.len()
    }

    fn times(&self) -> Option<Vec<f64>> {
        self.steps.iter().map(|(time, _)| *time).collect()
    }

    fn path(&self, _level: usize) -> &Path {
        &self.path
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files = vec![self.path.clone(), self.geometry.clone()];
        for variable in &self.variables {
            files.extend((0..self.steps.len()).filter_map(|k| self.file(variable, k).ok()));
        }
        files.dedup();
        files
    }

    fn reorder(&mut self, order: &[usize]) {
        self.steps = order.iter().map(|&k| self.steps[k]).collect();
    }

    fn read(&self, level: usize, select: Select<'_>) -> Result<Dataset, ReadError> {
        let malformed =
            |path: &Path, source| ReadError::Malformed { path: path.to_owned(), source };
        let mut blocks: Vec<Dataset> =
            self.parts.iter().map(|part| Dataset::on(Arc::clone(&part.grid), Vec::new())).collect();
        let mut others = Vec::new();
        for variable in &self.variables {
            if !select.wants(&variable.info.name) {
                others.push(variable.info.clone());
                continue;
            }
            let path = self.file(variable, level).map_err(|e| malformed(&self.path, e))?;
            let values = values_of(&bytes_of(&path)?, &variable.info, &self.parts);
            let values = values.map_err(|e| malformed(&path, e))?;
            for (block, values) in blocks.iter_mut().zip(values) {
                block.arrays.push(Array { info: variable.info.clone(), values });
            }
        }
        let mut dataset = match blocks.len() {
            1 => blocks.remove(0),
            _ => vtk_xml::join(blocks).map_err(|e| malformed(&self.path, e))?,
        };
        dataset.others = others;
        dataset.time = self.steps[level].0;
        dataset.assumed.extend(self.said.iter().cloned());
        Ok(dataset)
    }
}

/// Reads a geometry that stands alone.
///
/// # Errors
///
/// [`Malformed`] with what makes no sense.
pub fn read(bytes: &[u8]) -> Result<Dataset, Malformed> {
    let (parts, said) = geometry_of(bytes)?;
    let blocks = parts.iter().map(|part| Dataset::on(Arc::clone(&part.grid), Vec::new())).collect();
    let mut dataset = vtk_xml::join(blocks)?;
    dataset.assumed.extend(said);
    Ok(dataset)
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, ReadError> {
    inputs::remember(path);
    inputs::read(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })
}

fn named(case: &Path, name: &str, policy: Policy) -> Result<PathBuf, Malformed> {
    let folder = case.parent().unwrap_or(Path::new("."));
    let name = name.trim_matches('"').replace('\\', "/");
    uri::resolve_path(folder, Path::new(&name), policy)
        .map_err(|error| Malformed::new(Place::File, error.to_string(), error.fix()))
}

/// A pattern with its stars as the digits of a number.
fn numbered(pattern: &str, number: i64) -> String {
    let stars = pattern.matches('*').count();
    let Some(first) = pattern.find('*') else { return pattern.to_owned() };
    let end = pattern.rfind('*').unwrap_or(first) + 1;
    format!("{}{number:0stars$}{}", &pattern[..first], &pattern[end..])
}

/// What a `.case` file lists.
#[derive(Debug, Default)]
struct Listed {
    geometry: String,
    variables: Vec<Variable>,
    steps: Vec<(Option<f64>, i64)>,
}

impl Listed {
    fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let text = String::from_utf8_lossy(bytes);
        let lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
        let (mut section, mut listed, mut times) =
            (String::new(), Self::default(), Times::default());
        for line in lines {
            let Some((key, value)) = line.split_once(':') else {
                if section == "TIME" && times.goes_on(line) {
                    continue;
                }
                section = line.to_ascii_uppercase();
                continue;
            };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match (section.as_str(), key.as_str()) {
                ("FORMAT", "type") if !value.to_ascii_lowercase().contains("gold") => {
                    return Err(problem(
                        format!("a case of type {}", quote(value.as_bytes())),
                        "export it as EnSight Gold",
                    ));
                }
                ("GEOMETRY", "model") => listed.geometry = geometry_name(value)?,
                ("VARIABLE", _) => listed.variables.extend(Variable::listed(&key, value)?),
                ("TIME", _) => times.take(&key, value)?,
                ("FILE", _) => {
                    return Err(problem("its steps are in one file", "export a file a step"));
                }
                _ => {}
            }
        }
        if listed.geometry.is_empty() {
            return Err(problem(
                "it names no geometry",
                "this is no EnSight case; export it again",
            ));
        }
        listed.steps = times.steps()?;
        Ok(listed)
    }
}

fn geometry_name(value: &str) -> Result<String, Malformed> {
    // `model: [ts] [fs] name [change_coords_only]`
    let words: Vec<&str> = value.split_ascii_whitespace().collect();
    if value.contains('*') || words.last().is_some_and(|w| w.starts_with("change_coords")) {
        return Err(problem("its geometry changes", "resample it to one grid"));
    }
    let name = words.iter().find(|w| w.parse::<i64>().is_err());
    name.map(|n| (*n).to_owned()).ok_or_else(|| damaged("the model has no name"))
}

impl Variable {
    /// `vector per node: [ts] [fs] name file`; nothing for constants and tensors.
    fn listed(key: &str, value: &str) -> Result<Option<Self>, Malformed> {
        let components = match key.split_ascii_whitespace().next() {
            Some("scalar") => 1,
            Some("vector") => 3,
            _ => return Ok(None),
        };
        let centering = match key {
            _ if key.ends_with("per node") => Centering::Point,
            _ if key.ends_with("per element") => Centering::Cell,
            _ => return Ok(None),
        };
        let mut words: Vec<&str> = value.split_ascii_whitespace().collect();
        while words.len() > 2 && words[0].parse::<i64>().is_ok() {
            words.remove(0);
        }
        let [name, file] = words[..] else {
            return Err(damaged(format!("{} is no variable", quote(value.as_bytes()))));
        };
        let info =
            ArrayInfo { name: name.to_owned(), components, centering, units: None, meaning: None };
        Ok(Some(Self { info, pattern: file.to_owned() }))
    }
}

/// The time set of a case.
#[derive(Debug, Default)]
struct Times {
    sets: usize,
    count: usize,
    start: i64,
    step: i64,
    numbers: Vec<f64>,
    values: Vec<f64>,
    /// Which list the lines without a name belong to.
    list: Option<bool>,
}

impl Times {
    fn take(&mut self, key: &str, value: &str) -> Result<(), Malformed> {
        let whole = || {
            let first = value.split_ascii_whitespace().next();
            let number = first.and_then(|w| w.parse::<i64>().ok()).filter(|n| n.abs() < 1 << 40);
            number.ok_or_else(|| damaged(format!("{} is no number", quote(value.as_bytes()))))
        };
        self.list = None;
        match key {
            "time set" => {
                self.sets += 1;
                if self.sets > 1 {
                    return Err(problem(
                        "it has several time sets",
                        "export variables at the same times",
                    ));
                }
            }
            "number of steps" => {
                self.count =
                    usize::try_from(whole()?).ok().ok_or_else(|| damaged("fewer than no steps"))?;
            }
            "filename start number" => self.start = whole()?,
            "filename increment" => self.step = whole()?,
            "filename numbers" => self.list = Some(false),
            "time values" => self.list = Some(true),
            _ => {}
        }
        self.goes_on(value);
        Ok(())
    }

    /// Takes numbers of a list that goes on over several lines.
    fn goes_on(&mut self, line: &str) -> bool {
        let Some(is_times) = self.list else { return false };
        let numbers: Option<Vec<f64>> =
            line.split_ascii_whitespace().map(|w| parse_f64(w.as_bytes())).collect();
        let Some(numbers) = numbers else { return false };
        if is_times { &mut self.values } else { &mut self.numbers }.extend(numbers);
        true
    }

    fn steps(&self) -> Result<Vec<(Option<f64>, i64)>, Malformed> {
        if self.sets == 0 {
            return Ok(vec![(None, 0)]);
        }
        if self.values.len() != self.count
            || self.count == 0
            || !self.values.iter().all(|t| t.is_finite())
        {
            return Err(damaged(format!("{} steps with {} times", self.count, self.values.len())));
        }
        let number = |k: usize| match self.numbers.get(k) {
            Some(number) => *number as i64,
            None => self.start.saturating_add(self.step.saturating_mul(k as i64)),
        };
        Ok(self.values.iter().enumerate().map(|(k, t)| (Some(*t), number(k))).collect())
    }
}

/// How a file is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Coding {
    Text,
    C,
    Fortran,
}

/// Lines and numbers, one after the other.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    coding: Coding,
    big_endian: bool,
}

impl<'a> Reader<'a> {
    /// A geometry, which begins with how it is written.
    fn new(bytes: &'a [u8]) -> Self {
        let has = |word: &[u8]| {
            bytes.get(..LINE).is_some_and(|l| memchr::memmem::find(l, word).is_some())
        };
        let coding = match bytes {
            _ if has(b"Fortran Binary") => Coding::Fortran,
            _ if has(b"C Binary") => Coding::C,
            _ => Coding::Text,
        };
        let mut reader = Self { bytes, at: 0, coding, big_endian: false };
        if coding != Coding::Text {
            reader.big_endian = reader.is_big_endian();
            let _ = reader.line();
        }
        reader
    }

    /// Values have no first line that says how they are written: their first part does.
    fn values(bytes: &'a [u8]) -> Self {
        let is_text =
            bytes.iter().take(400).all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace());
        let starts = |at: usize| bytes.get(at..at + 4) == Some(b"part");
        let coding = match is_text {
            _ if starts(LINE) => Coding::C,
            _ if starts(LINE + 12) => Coding::Fortran,
            _ => Coding::Text,
        };
        let mut reader = Self { bytes, at: 0, coding, big_endian: false };
        reader.big_endian = reader.is_big_endian();
        reader
    }

    /// The number of the first part is small in one of the byte orders.
    fn is_big_endian(&self) -> bool {
        if self.coding == Coding::Fortran {
            return self.bytes.starts_with(&[0, 0, 0, LINE as u8]);
        }
        let padded = |at: &usize| {
            let line = self.bytes.get(at + 4..at + LINE);
            line.is_some_and(|rest| rest.iter().all(|b| matches!(b, 0 | b' ')))
        };
        let part = memchr::memmem::find_iter(self.bytes, b"part").find(padded);
        let number = part.and_then(|at| self.bytes.get(at + LINE..at + LINE + 4));
        let number = number.and_then(|n| <[u8; 4]>::try_from(n).ok()).unwrap_or_default();
        i32::from_be_bytes(number).unsigned_abs() < i32::from_le_bytes(number).unsigned_abs()
    }

    fn cut(&self) -> Malformed {
        let place = Place::Byte(self.at as u64);
        Malformed::new(place, "the file ends too early", "it was cut off; copy it again")
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let end = self.at.checked_add(count);
        let taken = end.and_then(|end| self.bytes.get(self.at..end)).ok_or_else(|| self.cut())?;
        self.at += count;
        Ok(taken)
    }

    /// The bytes of so many numbers, or of a line.
    fn record(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        if self.coding != Coding::Fortran {
            return self.take(count);
        }
        let mark = self.take(4)?;
        let length = self.number(mark);
        if length != count as f64 {
            let what = format!("a record has {length} bytes where {count} should be");
            return Err(Malformed::new(Place::Byte(self.at as u64), what, "export it again"));
        }
        let record = self.take(count)?;
        self.take(4)?;
        Ok(record)
    }

    fn number(&self, bytes: &[u8]) -> f64 {
        Number::I32.decode(bytes, self.big_endian, |x| x).first().copied().unwrap_or(f64::NAN)
    }

    /// The next line without blanks around it; `None` at the end.
    fn line(&mut self) -> Result<Option<String>, Malformed> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(None);
        }
        if self.coding == Coding::Text {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            self.at += (end + 1).min(rest.len());
            return Ok(Some(String::from_utf8_lossy(&rest[..end]).trim().to_owned()));
        }
        let line = self.record(LINE)?;
        let end = memchr::memchr(0, line).unwrap_or(LINE);
        Ok(Some(String::from_utf8_lossy(&line[..end]).trim().to_owned()))
    }

    /// A line that must be there.
    fn need(&mut self) -> Result<String, Malformed> {
        let line = self.line()?;
        line.ok_or_else(|| self.cut())
    }

    fn numbers<T>(
        &mut self,
        count: usize,
        number: Number,
        of: impl Fn(f64) -> T,
    ) -> Result<Vec<T>, Malformed> {
        if self.coding != Coding::Text {
            let size = count.checked_mul(number.size()).ok_or_else(|| self.cut())?;
            let (big, bytes) = (self.big_endian, self.record(size)?);
            return Ok(number.decode(bytes, big, of));
        }
        // Every number takes two bytes at least.
        if count > self.bytes.len() {
            return Err(self.cut());
        }
        (0..count).map(|_| self.word().map(&of)).collect()
    }

    fn word(&mut self) -> Result<f64, Malformed> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let start = rest.iter().position(|b| !b.is_ascii_whitespace()).ok_or_else(|| self.cut())?;
        let end =
            rest[start..].iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len() - start);
        let word = &rest[start..start + end];
        self.at += start + end;
        // What follows the last number of a line is the next line.
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
        if self.bytes.get(self.at) == Some(&b'\n') {
            self.at += 1;
        }
        parse_f64(word).ok_or_else(|| {
            let place = Place::Byte(self.at as u64);
            Malformed::new(place, format!("{} is no number", quote(word)), "export it again")
        })
    }

    fn count(&mut self) -> Result<usize, Malformed> {
        let number = self.numbers(1, Number::I32, |x| x)?[0];
        let whole = number >= 0.0 && number < f64::from(u32::MAX) && number.fract() == 0.0;
        if whole { Ok(number as usize) } else { Err(damaged(format!("{number} is no count"))) }
    }
}

/// The parts of a geometry, and what is to be told.
fn geometry_of(bytes: &[u8]) -> Result<(Vec<Part>, Vec<String>), Malformed> {
    let mut reader = Reader::new(bytes);
    reader.need()?;
    reader.need()?;
    let mut has_ids = [false; 2];
    for (has, name) in has_ids.iter_mut().zip(["node id", "element id"]) {
        let line = reader.need()?.to_ascii_lowercase();
        let Some(how) = line.strip_prefix(name) else {
            let what = format!("{} stands where '{name}' should", quote(line.as_bytes()));
            return Err(problem(what, "this is no geometry of EnSight Gold; export it again"));
        };
        *has = how.contains("given") || how.contains("ignore");
    }
    let (mut parts, mut said) = (Vec::new(), Vec::new());
    while let Some(line) = reader.line()? {
        let word = line.split_ascii_whitespace().next().unwrap_or_default();
        match word {
            "extents" => {
                reader.numbers(6, Number::F32, |_| ())?;
            }
            "part" => parts.push(part_of(&mut reader, has_ids, &mut said)?),
            "" => {}
            other => {
                let what = format!("{} stands where a part should", quote(other.as_bytes()));
                return Err(damaged(what));
            }
        }
    }
    if parts.is_empty() {
        return Err(damaged("the geometry has no part"));
    }
    Ok((parts, said))
}

fn part_of(
    reader: &mut Reader<'_>,
    has_ids: [bool; 2],
    said: &mut Vec<String>,
) -> Result<Part, Malformed> {
    let number = reader.count()? as i64;
    reader.need()?;
    let line = reader.need()?;
    if line != "coordinates" {
        let what = format!("a part of {}", quote(line.as_bytes()));
        return Err(problem(what, "export it as unstructured parts"));
    }
    let points = reader.count()?;
    if has_ids[0] {
        reader.numbers(points, Number::I32, |_| ())?;
    }
    let [x, y, z] = [
        reader.numbers(points, Number::F32, |x| x)?,
        reader.numbers(points, Number::F32, |x| x)?,
        reader.numbers(points, Number::F32, |x| x)?,
    ];
    let places: Vec<DVec3> =
        x.iter().zip(&y).zip(&z).map(|((&x, &y), &z)| DVec3::new(x, y, z)).collect();
    let mut builder = CellBuilder::new(points);
    let mut elements = Vec::new();
    loop {
        let before = reader.at;
        let Some(line) = reader.line()? else { break };
        if line.starts_with("part") {
            reader.at = before;
            break;
        }
        if line.is_empty() {
            continue;
        }
        elements.push(elements_of(reader, &line, has_ids[1], &mut builder)?);
    }
    if let Some(curved) = builder.said() {
        said.push(curved);
    }
    let grid = Arc::new(Grid::Unstructured { points: places, cells: builder.cells });
    Ok(Part { number, grid, points, elements })
}

fn elements_of(
    reader: &mut Reader<'_>,
    line: &str,
    has_ids: bool,
    builder: &mut CellBuilder,
) -> Result<Elements, Malformed> {
    let is_ghost = line.starts_with("g_");
    let kind = line.strip_prefix("g_").unwrap_or(line);
    let count = reader.count()?;
    if has_ids {
        reader.numbers(count, Number::I32, |_| ())?;
    }
    // Nodes count from one; what is no number of a node is refused with the cells.
    let whole = |x: f64| (x as i64).saturating_sub(1);
    let cut = || damaged("elements have more nodes than can be counted");
    let (code, sizes): (i64, Vec<i64>) = match ELEMENTS.iter().find(|(name, ..)| *name == kind) {
        Some(&(_, nodes, code)) => (code, vec![nodes as i64; count.min(reader.bytes.len())]),
        None if kind == "nsided" => (7, reader.numbers(count, Number::I32, |x| x as i64)?),
        None => {
            let what = format!("elements of type {}", quote(kind.as_bytes()));
            return Err(problem(what, "convert them to tetrahedra or hexahedra"));
        }
    };
    if sizes.len() != count || sizes.iter().any(|n| *n < 0) {
        return Err(reader.cut());
    }
    let mut ends = Vec::with_capacity(count);
    let mut end = 0_i64;
    for size in sizes {
        end = end.checked_add(size).ok_or_else(cut)?;
        ends.push(end);
    }
    let corners = reader.numbers(usize::try_from(end).ok().ok_or_else(cut)?, Number::I32, whole)?;
    if !is_ghost {
        let types = vec![code; count];
        builder.add(&types, &ends, &corners, &[]).map_err(|e| damaged(e.to_string()))?;
    }
    Ok(Elements { kind: line.to_owned(), count, is_ghost })
}

/// Values of a variable, part by part; NaN where a part has none.
fn values_of(bytes: &[u8], info: &ArrayInfo, parts: &[Part]) -> Result<Vec<Vec<f32>>, Malformed> {
    let mut reader = Reader::values(bytes);
    reader.need()?;
    let tuples = |part: &Part| part.grid.count(info.centering);
    let mut values: Vec<Vec<f32>> =
        parts.iter().map(|part| vec![f32::NAN; tuples(part) * info.components]).collect();
    while let Some(line) = reader.line()? {
        if line.is_empty() {
            continue;
        }
        if !line.starts_with("part") {
            return Err(damaged(format!("{} stands where a part should", quote(line.as_bytes()))));
        }
        let number = reader.count()? as i64;
        let Some(k) = parts.iter().position(|part| part.number == number) else {
            return Err(damaged(format!("there is no part {number} in the geometry")));
        };
        match info.centering {
            Centering::Point => {
                let line = reader.need()?;
                let whole =
                    block_of(&mut reader, &line, "coordinates", parts[k].points, info.components)?;
                values[k] = whole;
            }
            Centering::Cell => values[k] = cells_of(&mut reader, &parts[k], info)?,
        }
    }
    Ok(values)
}

/// Values of the elements of a part, kind by kind; kinds without values have none.
fn cells_of(reader: &mut Reader<'_>, part: &Part, info: &ArrayInfo) -> Result<Vec<f32>, Malformed> {
    let mut found: Vec<Option<Vec<f32>>> = part.elements.iter().map(|_| None).collect();
    loop {
        let before = reader.at;
        let Some(line) = reader.line()? else { break };
        if line.starts_with("part") {
            reader.at = before;
            break;
        }
        if line.is_empty() {
            continue;
        }
        let kind = line.split_ascii_whitespace().next().unwrap_or_default();
        let own = part
            .elements
            .iter()
            .enumerate()
            .position(|(k, e)| e.kind == kind && found[k].is_none());
        let Some(own) = own else {
            return Err(damaged(format!(
                "the part has no elements of type {}",
                quote(kind.as_bytes())
            )));
        };
        let count = part.elements[own].count;
        found[own] = Some(block_of(reader, &line, kind, count, info.components)?);
    }
    let of = |(elements, values): (&Elements, Option<Vec<f32>>)| match values {
        _ if elements.is_ghost => Vec::new(),
        Some(values) => values,
        None => vec![f32::NAN; elements.count * info.components],
    };
    Ok(part.elements.iter().zip(found).flat_map(of).collect())
}

/// One component after the other, as tuples.
fn block_of(
    reader: &mut Reader<'_>,
    line: &str,
    kind: &str,
    count: usize,
    components: usize,
) -> Result<Vec<f32>, Malformed> {
    let undefined = match line.strip_prefix(kind).map(str::trim) {
        Some("") => None,
        Some("undef") => Some(reader.numbers(1, Number::F32, |x| x as f32)?[0]),
        _ => {
            let what = format!("values of {}", quote(line.as_bytes()));
            return Err(problem(what, "export values for all nodes or elements"));
        }
    };
    let known = |x: f64| if Some(x as f32) == undefined { f32::NAN } else { x as f32 };
    let columns = (0..components)
        .map(|_| reader.numbers(count, Number::F32, known))
        .collect::<Result<Vec<_>, _>>()?;
    Ok((0..count).flat_map(|k| columns.iter().map(move |column| column[k])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(name: &str) -> Vec<u8> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/ensight");
        std::fs::read(folder.join(name)).unwrap()
    }

    #[test]
    fn one_geometry_in_three_codings() {
        let first = read(&corpus("text.geo")).unwrap();
        let Grid::Unstructured { points, cells } = &*first.grid else { panic!("a mesh") };
        assert_eq!((points.len(), cells.len()), (14, 4));
        assert_eq!(cells.corners(2), [8, 9, 2, 5]);
        assert_eq!(cells.corners(3), [10, 11, 12, 13], "the second part counts on");
        for name in ["binary.geo", "fortran.geo"] {
            assert_eq!(read(&corpus(name)).unwrap().grid, first.grid, "{name}");
        }
    }

    /// A case with values at nodes of one part, and of elements, at two times.
    fn case(folder: &Path) -> PathBuf {
        std::fs::write(folder.join("a.geo"), corpus("text.geo")).unwrap();
        let text = "FORMAT\ntype: ensight gold\nGEOMETRY\nmodel: 1 a.geo\nVARIABLE\n\
            vector per node: 1 U a.U**\nscalar per element: 1 p a.p**\nconstant per case: nu 3\nTIME\n\
            time set: 1\nnumber of steps: 2\nfilename start number: 5\nfilename increment: 5\n\
            time values: 0.5\n 1.5\n";
        let column = |of: &dyn Fn(usize) -> f64| {
            (0..10).map(|k| format!("{:12.5e}\n", of(k))).collect::<String>()
        };
        for (name, t) in [("05", 0.0), ("10", 1.0)] {
            let (u, v, w) = (column(&|k| k as f64 + t), column(&|_| 2.0), column(&|k| -(k as f64)));
            let values = format!("U\npart\n 1 \ncoordinates undef\n 3.0\n{u}{v}{w}");
            std::fs::write(folder.join(format!("a.U{name}")), values).unwrap();
            let values = format!("p\npart\n1\ntetra4\n{t}\n7\nhexa8\n9\npart\n2\nquad4\n4\n");
            std::fs::write(folder.join(format!("a.p{name}")), values).unwrap();
        }
        let path = folder.join("a.case");
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn values_of_two_times() {
        let folder = tempfile::tempdir().unwrap();
        let case = Case::open(&case(folder.path()), Policy::FolderOnly).unwrap();
        assert_eq!(case.times(), Some(vec![0.5, 1.5]));
        let second = case.read(1, Select::All).unwrap();
        let velocity = &second.array("U").unwrap().values;
        assert_eq!(velocity[..3], [1.0, 2.0, 0.0]);
        assert!(velocity[6].is_nan(), "3 is said to be no value");
        assert_eq!(velocity[27..30], [10.0, 2.0, -9.0]);
        assert!(velocity[30].is_nan(), "the wall has none");
        assert_eq!(
            second.array("p").unwrap().values,
            [9.0, 1.0, 7.0, 4.0],
            "in the order of the elements"
        );
        assert_eq!(case.files().len(), 6);
    }

    #[test]
    fn what_is_not_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = case(folder.path());
        let text = std::fs::read_to_string(&path).unwrap();
        for (from, to, said) in [
            ("gold", "6", "type"),
            ("1 a.geo", "1 a.geo change_coords_only", "changes"),
            ("a.geo", "b.geo", "b.geo"),
            ("number of steps: 2", "number of steps: 3", "3 steps"),
            ("TIME", "FILE\nfile set: 1\nTIME", "one file"),
        ] {
            std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
            let error = Case::open(&path, Policy::FolderOnly).unwrap_err().to_string();
            assert!(error.contains(said), "{to}: {error}");
        }
        std::fs::write(&path, &text).unwrap();
        let values = folder.path().join("a.U10");
        let whole = std::fs::read(&values).unwrap();
        std::fs::write(&values, &whole[..whole.len() / 2]).unwrap();
        let case = Case::open(&path, Policy::FolderOnly).unwrap();
        let cut = case.read(1, Select::All).unwrap_err().to_string();
        assert!(cut.contains("a.U10") && cut.contains("early"), "{cut}");
        assert!(case.read(0, Select::All).is_ok(), "up to there");
        let block = read(&corpus("block.geo")).unwrap_err();
        assert!(block.what.contains("block"), "{block:?}");
    }
}

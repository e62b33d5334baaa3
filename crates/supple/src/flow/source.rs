//! Where the levels of a recording come from: lists of files, series that name files.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::recording::{Options, RecordingError, TimeUnit};
use crate::dataset::{Array, Centering, Dataset, Grid, Select};
use crate::io::levels::Levels;
use crate::io::netcdf::{self, Collection};
use crate::io::rows::{self, Rows};
use crate::io::uri::{self, FetchError, Policy};
use crate::io::vtkhdf::VtkHdf;
use crate::io::xdmf::Xdmf;
use crate::io::{
    Malformed, Place, ReadError, amira, ensight, gzip, inputs, nrrd, openfoam, piv, raw, vtk,
    vtk_xml,
};

/// The levels of a recording, in order.
#[derive(Debug)]
pub(super) enum Source {
    /// Each level is a file, or several that are parts of it.
    Files { levels: Vec<Vec<PathBuf>>, times: Option<Vec<f64>>, policy: Policy },
    /// NetCDF files that belong together.
    NetCdf(Box<Collection>),
    /// A file or folder that holds all levels, or a document that says where they are.
    Whole(Box<dyn Levels>),
    /// One lattice, of which an axis is time.
    Stack { path: PathBuf, dataset: Box<Dataset>, order: Vec<usize>, times: Vec<f64> },
}

/// Formats that hold flow and are not read, with what to do.
const REFUSED: [(&str, &str, &str); 15] = [
    ("cgns", "a CGNS file", "open it in ParaView and save it as .vtu or .vtm"),
    ("cas", "a Fluent case", "export it as EnSight or VTK, or save it from ParaView as .vtu"),
    ("dat", "a Fluent or Tecplot file", "open it in ParaView and save it as .vtu"),
    ("plt", "a Tecplot file", "open it in ParaView and save it as .vtu"),
    ("vc7", "a DaVis file", "export it from DaVis as text"),
    ("im7", "a DaVis picture", "export the vectors from DaVis as text"),
    ("grib", "a GRIB file", "convert it to NetCDF, for example with cdo -f nc copy"),
    ("grib2", "a GRIB file", "convert it to NetCDF, for example with cdo -f nc copy"),
    ("grb2", "a GRIB file", "convert it to NetCDF, for example with cdo -f nc copy"),
    ("set", "a DaVis set", "export the vectors from DaVis as text"),
    ("msh5", "a Fluent mesh", "export case and data as EnSight or VTK"),
    ("szplt", "a Tecplot file", "open it in ParaView and save it as .vtu"),
    ("grb", "a GRIB file", "convert it to NetCDF, for example with cdo -f nc copy"),
    ("zarr", "a Zarr store", "convert it to NetCDF, for example with xarray's to_netcdf"),
    (
        "nek5000",
        "a Nek5000 series",
        "open it in ParaView and save it as .pvd; docs/flow.md says what reading it would take",
    ),
];

/// Endings that are read.
const KNOWN: &str = "pvd, series, vti, vtr, vts, vtu, vtp, pvti, pvtr, pvts, pvtu, pvtp, vtm, vtk, nc, am, foam, nrrd, nhdr, vec, txt, vtkhdf, hdf, xdmf, xmf, case, toml (beside a raw file)";

impl Source {
    /// Finds the levels that names and patterns stand for.
    pub(super) fn open(paths: &[PathBuf], options: &Options) -> Result<Self, RecordingError> {
        let policy = if options.allow_outside { Policy::AllowOutside } else { Policy::FolderOnly };
        let mut files = Vec::new();
        for path in paths {
            files.extend(expanded(path)?);
        }
        let Some(first) = files.first() else {
            return Err(RecordingError::Missing { pattern: "no file was named".to_owned() });
        };
        inputs::open(first).map_err(|source| ReadError::Io { path: first.clone(), source })?;
        match (ending(first).as_str(), files.len()) {
            ("pvd" | "series", 1) if options.time_axis.is_some() => {
                let what =
                    "a time axis is one of a file, a series has times (leave it out)".to_owned();
                return Err(RecordingError::Mixed { what });
            }
            ("pvd" | "series", 1) => return Self::series(first, policy),
            ("pvd" | "series", _) => {
                let what = "one series at a time is opened (name one .pvd or .series)".to_owned();
                return Err(RecordingError::Mixed { what });
            }
            _ => {}
        }
        if let Some(kind) = whole(first) {
            if files.len() > 1 {
                let what = format!("{kind} at a time is opened (name one)");
                return Err(RecordingError::Mixed { what });
            }
            return Ok(Self::Whole(open_whole(first, policy)?));
        }
        if matches!(ending(first).as_str(), "nc" | "nc4" | "cdf" | "netcdf") || is_netcdf(first) {
            let collection = Collection::open(&files, &options.velocity)?;
            return Ok(Self::NetCdf(Box::new(collection)));
        }
        if let Some(other) = files.iter().find(|f| ending(f) != ending(first)) {
            let what = format!(
                "{} and {} are of different kinds (name files of one kind)",
                first.display(),
                other.display()
            );
            return Err(RecordingError::Mixed { what });
        }
        if let Some(axis) = options.time_axis {
            return Self::stack(&files, axis, policy);
        }
        let levels = files.into_iter().map(|f| vec![f]).collect();
        Ok(Self::Files { levels, times: None, policy })
    }

    /// A file that holds all times along its last axis.
    fn stack(files: &[PathBuf], axis: usize, policy: Policy) -> Result<Self, RecordingError> {
        let [path] = files else {
            let what = "a time axis is one of one file (name one file)".to_owned();
            return Err(RecordingError::Mixed { what });
        };
        let dataset = read_file(path, Select::All, policy)?;
        let times = match (&*dataset.grid, axis) {
            (Grid::Uniform { dims, origin, spacing }, 2) => {
                (0..dims[2]).map(|k| origin[2] + spacing[2] * k as f64).collect()
            }
            (Grid::Rectilinear { z, .. }, 2) => z.clone(),
            _ => {
                let what = format!(
                    "{}: only the last axis, z, of a uniform or rectilinear grid can be time",
                    path.display()
                );
                return Err(RecordingError::Mixed { what });
            }
        };
        let order = (0..times.len()).collect();
        Ok(Self::Stack { path: path.clone(), dataset: Box::new(dataset), order, times })
    }

    /// The files of a `.pvd` or `.series`; equal times are parts of one level.
    fn series(path: &Path, policy: Policy) -> Result<Self, RecordingError> {
        let bytes = read_bytes(path)?;
        let malformed = |source| ReadError::Malformed { path: path.to_owned(), source };
        let entries =
            if ending(path) == "pvd" { vtk_xml::read_series(&bytes) } else { json_series(&bytes) };
        let mut entries = entries.map_err(malformed)?;
        entries.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut times: Vec<f64> = Vec::new();
        let mut levels: Vec<Vec<PathBuf>> = Vec::new();
        for (time, name) in entries {
            let file = listed(path, &name, policy).map_err(malformed)?;
            if times.last() == Some(&time)
                && let Some(parts) = levels.last_mut()
            {
                parts.push(file);
            } else {
                times.push(time);
                levels.push(vec![file]);
            }
        }
        Ok(Self::Files { levels, times: Some(times), policy })
    }

    /// How many levels there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Files { levels, .. } => levels.len(),
            Self::NetCdf(collection) => collection.len(),
            Self::Whole(levels) => levels.count(),
            Self::Stack { order, .. } => order.len(),
        }
    }

    /// The times the series says.
    pub(super) fn times(&self) -> Option<Vec<f64>> {
        match self {
            Self::Files { times, .. } => times.clone(),
            Self::NetCdf(collection) => collection.times().map(<[f64]>::to_vec),
            Self::Stack { times, .. } => Some(times.clone()),
            Self::Whole(levels) => levels.times(),
        }
    }

    /// What times are counted in, if a file says it.
    pub(super) fn time_unit(&self) -> Option<TimeUnit> {
        match self {
            Self::Files { .. } | Self::Stack { .. } => None,
            Self::Whole(levels) => levels.in_seconds().then(|| TimeUnit {
                name: Some("s".to_owned()),
                seconds: 1.0,
                dates: None,
            }),
            Self::NetCdf(collection) => collection.time_units().map(|u| TimeUnit {
                name: Some(u.text.clone()),
                seconds: u.seconds,
                dates: Some(u.clone()),
            }),
        }
    }

    /// Bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        let size = |p: &PathBuf| p.metadata().map_or(0, |m| m.len());
        match self {
            Self::Files { levels, .. } => levels.iter().flatten().map(size).sum(),
            Self::NetCdf(_) | Self::Stack { .. } | Self::Whole(_) => 0,
        }
    }

    /// Keeps these levels, in this order.
    pub(super) fn reorder(&mut self, order: &[usize]) {
        match self {
            Self::Files { levels, times, .. } => {
                *levels = order.iter().map(|&k| levels[k].clone()).collect();
                if let Some(times) = times {
                    *times = order.iter().map(|&k| times[k]).collect();
                }
            }
            Self::NetCdf(collection) => collection.reorder(order),
            Self::Whole(levels) => levels.reorder(order),
            Self::Stack { order: own, times, .. } => {
                *own = order.iter().map(|&k| own[k]).collect();
                *times = order.iter().map(|&k| times[k]).collect();
            }
        }
    }

    /// How many levels have several files, and the first file of the first of them.
    pub(super) fn in_parts(&self) -> Option<(usize, &Path)> {
        let Self::Files { levels, .. } = self else { return None };
        let mut several = levels.iter().filter(|parts| parts.len() > 1);
        let first = several.next()?;
        Some((1 + several.count(), &first[0]))
    }

    /// The file of a level, the first if it has parts.
    pub(super) fn path(&self, level: usize) -> &Path {
        match self {
            Self::Files { levels, .. } => {
                levels.get(level).and_then(|parts| parts.first()).map_or(Path::new(""), |p| p)
            }
            Self::NetCdf(collection) => collection.path(level),
            Self::Whole(levels) => levels.path(level),
            Self::Stack { path, .. } => path,
        }
    }

    /// Whether boxes of points can be had without knowing where they stand in a file.
    pub(super) fn collection(&self) -> Option<&Collection> {
        match self {
            Self::NetCdf(collection) if collection.has_parts() => Some(collection),
            _ => None,
        }
    }

    /// Whether the flow slips along points without a value.
    pub(super) fn slips(&self) -> bool {
        matches!(self, Self::NetCdf(collection) if collection.slips())
    }

    /// Where vectors of a level stand in its file, if they do so row by row, and on which grid.
    pub(super) fn rows(&self, level: usize, name: &str) -> Result<Option<(Rows, Grid)>, ReadError> {
        let Self::Files { levels, policy, .. } = self else { return Ok(None) };
        match &levels[level][..] {
            [path] if ending(path) == "vti" => vtk_xml::rows(path, name),
            [path] if ending(path) == "toml" => {
                let malformed = |source| ReadError::Malformed { path: path.clone(), source };
                let header = raw::Header::parse(&read_bytes(path)?).map_err(malformed)?;
                let file = named(path, &header.file, *policy).map_err(malformed)?;
                inputs::remember(&file);
                Ok(header.rows(file, name))
            }
            _ => Ok(None),
        }
    }

    /// All files that levels are read from.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::Files { levels, policy, .. } => {
                levels.iter().flatten().flat_map(|path| with_pieces(path, *policy)).collect()
            }
            Self::NetCdf(collection) => {
                (0..collection.len()).map(|level| collection.path(level).to_owned()).collect()
            }
            Self::Whole(levels) => levels.files(),
            Self::Stack { path, .. } => vec![path.clone()],
        }
    }

    /// Reads a level.
    pub(super) fn read(&self, level: usize, select: Select<'_>) -> Result<Dataset, ReadError> {
        match self {
            Self::Files { levels, policy, .. } => {
                let parts = &levels[level];
                let read = |path: &PathBuf| read_file(path, select, *policy);
                if let [path] = &parts[..] {
                    return read(path);
                }
                let mut datasets = parts.iter().map(read).collect::<Result<Vec<_>, _>>()?;
                // Parts are at different places: what is at the same one was listed twice.
                if datasets.iter().all(|d| d.grid == datasets[0].grid) {
                    return Ok(datasets.swap_remove(0));
                }
                let malformed = |source| ReadError::Malformed { path: parts[0].clone(), source };
                vtk_xml::join(datasets).map_err(malformed)
            }
            Self::NetCdf(collection) => collection.read(level, select),
            Self::Whole(levels) => levels.read(level, select),
            Self::Stack { dataset, order, times, .. } => {
                Ok(slice(dataset, order[level], times[level], select))
            }
        }
    }
}

/// What a name stands for if that holds all its levels, as an error calls one of it.
fn whole(path: &Path) -> Option<&'static str> {
    match ending(path).as_str() {
        _ if openfoam::case_folder(path).is_some() => Some("one OpenFOAM case"),
        "vtkhdf" | "hdf" | "h5" | "hdf5" => Some("one HDF5 file"),
        "xdmf" | "xmf" | "xdmf3" => Some("one XDMF document"),
        "case" | "encas" => Some("one EnSight case"),
        _ => None,
    }
}

/// Opens what holds all its levels.
fn open_whole(path: &Path, policy: Policy) -> Result<Box<dyn Levels>, ReadError> {
    Ok(match ending(path).as_str() {
        _ if openfoam::case_folder(path).is_some() => Box::new(openfoam::Case::open(path)?),
        "xdmf" | "xmf" | "xdmf3" => Box::new(Xdmf::open(path, policy)?),
        "case" | "encas" => Box::new(ensight::Case::open(path, policy)?),
        _ => Box::new(VtkHdf::open(path)?),
    })
}

/// Whether a name is that of a recorded flow rather than of a mesh: a pattern, a kind that holds flow, or a legacy
/// file that is not polydata.
#[must_use]
pub(super) fn is_flow(path: &Path) -> bool {
    let kind = ending(path);
    if kind == "vtk" {
        let mut head = Vec::new();
        let read = inputs::open(path).and_then(|f| f.take(1 << 12).read_to_end(&mut head));
        return read.is_err() || !vtk::is_mesh(&head);
    }
    if kind == "toml" {
        return inputs::read_to_string(path).is_ok_and(|text| raw::is_header(&text));
    }
    KNOWN.split(", ").any(|k| k == kind)
        || whole(path).is_some()
        || is_nek(&kind)
        || REFUSED.iter().any(|(k, ..)| *k == kind)
        || openfoam::is_part(path)
        || path.is_file() && is_netcdf(path)
}

/// One layer of a lattice as a moment.
fn slice(whole: &Dataset, layer: usize, time: f64, select: Select<'_>) -> Dataset {
    let grid = match (*whole.grid).clone() {
        Grid::Uniform { dims: [nx, ny, _], origin: [x, y, _], spacing: [dx, dy, _] } => {
            Grid::Uniform { dims: [nx, ny, 1], origin: [x, y, 0.0], spacing: [dx, dy, 1.0] }
        }
        Grid::Rectilinear { x, y, .. } => Grid::Rectilinear { x, y, z: vec![0.0] },
        other => other,
    };
    let mut moment = Dataset { time: Some(time), ..Dataset::new(grid, Vec::new()) };
    moment.coordinates = whole.coordinates;
    for array in whole.arrays.iter().filter(|a| a.info.centering == Centering::Point) {
        if !select.wants(&array.info.name) {
            moment.others.push(array.info.clone());
            continue;
        }
        let size = moment.grid.point_count() * array.info.components;
        let values =
            array.values.get(layer * size..(layer + 1) * size).unwrap_or_default().to_vec();
        moment.arrays.push(Array { info: array.info.clone(), values });
    }
    moment
}

/// Whether a file without a telling name starts as NetCDF does.
fn is_netcdf(path: &Path) -> bool {
    let mut head = [0; 8];
    whole(path).is_none()
        && inputs::open(path).and_then(|mut f| f.read_exact(&mut head)).is_ok()
        && netcdf::is_netcdf(&head)
}

/// The bytes of a file, decompressed.
fn read_bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    inputs::remember(path);
    let bytes =
        inputs::read(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    if gzip::is_gzip(&bytes) {
        let malformed = |source| ReadError::Malformed { path: path.to_owned(), source };
        return gzip::decompress(&bytes).map_err(malformed);
    }
    Ok(bytes)
}

/// One moment of a file of any kind.
fn read_file(path: &Path, select: Select<'_>, policy: Policy) -> Result<Dataset, ReadError> {
    let malformed = |source| ReadError::Malformed { path: path.to_owned(), source };
    let fetch = |name: &str| {
        let file = named(path, name, policy)?;
        inputs::remember(&file);
        inputs::read(&file).map_err(|error| {
            let what = format!("cannot read {}: {error}", file.display());
            Malformed::new(Place::File, what, "put the piece where the file names it")
        })
    };
    if select.is_empty() && ending(path) == "vti" {
        // What it holds stands before its numbers, of which there may be many.
        inputs::remember(path);
        if let Some(head) = rows::beginning(path, b"<AppendedData")?
            && let Ok(dataset) = vtk_xml::read(&head, select, &fetch)
        {
            return Ok(dataset);
        }
    }
    match ending(path).as_str() {
        "vti" | "vtr" | "vts" | "vtu" | "vtp" | "pvti" | "pvtr" | "pvts" | "pvtu" | "pvtp"
        | "vtm" | "vtmb" => vtk_xml::read(&read_bytes(path)?, select, &fetch).map_err(malformed),
        "am" => amira::read(&read_bytes(path)?, select).map_err(malformed),
        "nrrd" | "nhdr" => nrrd::read(&read_bytes(path)?, select, &fetch).map_err(malformed),
        "toml" => raw::read(&read_bytes(path)?, select, &fetch).map_err(malformed),
        "vec" | "txt" => piv::read(&read_bytes(path)?, select).map_err(malformed),
        "vtk" => vtk::read_dataset(&read_bytes(path)?, select).map_err(malformed),
        "pvd" | "series" => {
            let what = "this is a series, where the file of one level should be";
            Err(malformed(Malformed::new(Place::File, what, "name the files of its levels")))
        }
        "foam" | "openfoam" | "" if path.is_dir() || !ending(path).is_empty() => {
            let what = "there is no OpenFOAM case here";
            let fix = "one has constant/polyMesh, processor0 or system/controlDict beside it; name its folder";
            Err(malformed(Malformed::new(Place::File, what, fix)))
        }
        other => {
            let other = if is_nek(other) { "nek5000" } else { other };
            if let Some((_, what, fix)) = REFUSED.iter().find(|(e, ..)| *e == other) {
                let what = format!("this is {what}, which is not read");
                return Err(malformed(Malformed::new(Place::File, what, *fix)));
            }
            if openfoam::is_part(path) {
                let what = "this is one file of an OpenFOAM case";
                let fix = "name the folder of the case, with constant and system";
                return Err(malformed(Malformed::new(Place::File, what, fix)));
            }
            Err(ReadError::UnknownFormat { path: path.to_owned(), known: KNOWN.to_owned() })
        }
    }
}

/// Whether an ending is that of a level of Nek5000: `f00001`.
fn is_nek(ending: &str) -> bool {
    ending.len() == 6 && ending.starts_with('f') && ending[1..].bytes().all(|c| c.is_ascii_digit())
}

/// Headers that name pieces are no longer than this.
const LONGEST_HEADER: u64 = 1 << 24;

/// A file and those that it names as its pieces.
fn with_pieces(path: &Path, policy: Policy) -> Vec<PathBuf> {
    let mut files = vec![path.to_owned()];
    let marks: &[&str] = match ending(path).as_str() {
        "pvti" | "pvtr" | "pvts" | "pvtu" | "pvtp" => &["Source=\""],
        "vtm" | "vtmb" => &["file=\""],
        "nhdr" | "nrrd" => &["data file: ", "datafile: "],
        "toml" => &["file = \"", "file=\""],
        _ => return files,
    };
    let mut text = Vec::new();
    let read = inputs::open(path).and_then(|f| f.take(LONGEST_HEADER).read_to_end(&mut text));
    if read.is_err() {
        return files;
    }
    let text = String::from_utf8_lossy(&text);
    for mark in marks {
        for rest in text.split(mark).skip(1) {
            let name = rest.split(['"', '\n', '\r']).next().unwrap_or_default();
            if let Ok(piece) = named(path, name, policy)
                && !files.contains(&piece)
            {
                // Blocks may themselves be in pieces; none names its own kind.
                match ending(&piece) == ending(path) {
                    true => files.push(piece),
                    false => files.extend(with_pieces(&piece, policy)),
                }
            }
        }
    }
    files
}

/// The file that another names, relative to it.
fn named(by: &Path, name: &str, policy: Policy) -> Result<PathBuf, Malformed> {
    found(by, name, policy)
        .map_err(|error| Malformed::new(Place::File, error.to_string(), error.fix()))
}

/// A file of a series. One that is missing is told when its level is due: what comes before it can be played.
fn listed(by: &Path, name: &str, policy: Policy) -> Result<PathBuf, Malformed> {
    match found(by, name, policy) {
        Err(FetchError::Io { path, source }) if source.kind() == ErrorKind::NotFound => Ok(path),
        other => other.map_err(|error| Malformed::new(Place::File, error.to_string(), error.fix())),
    }
}

fn found(by: &Path, name: &str, policy: Policy) -> Result<PathBuf, FetchError> {
    let folder = by.parent().unwrap_or(Path::new("."));
    // File names are no URIs: '%' and '#' stand for themselves. Windows writes its own separator.
    let name = name.replace('\\', "/");
    uri::resolve_path(folder, Path::new(&name), policy)
}

/// The ending of a file's name, in lower case, without `.gz`.
pub(super) fn ending(path: &Path) -> String {
    let name =
        path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').map(|(_, e)| e.to_owned()).unwrap_or_default()
}

/// The files a name or pattern stands for, in the order of the numbers in their names.
fn expanded(path: &Path) -> Result<Vec<PathBuf>, RecordingError> {
    let missing = || RecordingError::Missing { pattern: path.display().to_string() };
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if path.exists() || !name.contains(['*', '?']) {
        return if path.exists() { Ok(vec![path.to_owned()]) } else { Err(missing()) };
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = folder.read_dir() else { return Err(missing()) };
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|p| p.file_name().is_some_and(|n| matches(&name, &n.to_string_lossy())))
        .collect();
    if found.is_empty() {
        return Err(missing());
    }
    found.sort_by_cached_key(|p| natural_key(&p.to_string_lossy()));
    Ok(found)
}

/// Whether a name fits a pattern with `*` (anything) and `?` (any one character).
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    // Where to go on after the last star, if what follows it does not fit.
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, n));
            p += 1;
        } else if pattern.get(p).is_some_and(|&c| c == '?' || c == name[n]) {
            (p, n) = (p + 1, n + 1);
        } else if let Some((at, from)) = star {
            (p, n) = (at + 1, from + 1);
            star = Some((at, from + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// A key that sorts numbers by value: text and numbers in turn.
fn natural_key(name: &str) -> Vec<(String, Option<u64>)> {
    let mut key = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, after) = rest.split_at(digits);
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (number, after) = after.split_at(end);
        let value = (!number.is_empty()).then(|| number.parse().unwrap_or(u64::MAX));
        key.push((text.to_owned(), value));
        rest = after;
    }
    key
}

/// The entries of a `.series` file of ParaView.
fn json_series(bytes: &[u8]) -> Result<Vec<(f64, String)>, Malformed> {
    #[derive(serde::Deserialize)]
    struct Series {
        files: Vec<Entry>,
    }
    #[derive(serde::Deserialize)]
    struct Entry {
        name: String,
        time: f64,
    }
    let series: Series = serde_json::from_slice(bytes).map_err(|error| {
        let fix =
            "it is {\"file-series-version\": \"1.0\", \"files\": [{\"name\": …, \"time\": …}, …]}";
        Malformed::new(Place::Line(error.line()), format!("this is no series: {error}"), fix)
    })?;
    if series.files.is_empty() {
        return Err(Malformed::new(Place::File, "the series is empty", "write it again"));
    }
    Ok(series.files.into_iter().map(|e| (e.time, e.name)).collect())
}

/// Metres a second in a unit of speed; `None` if it is not one that is known.
pub(super) fn metres_a_second(units: &str) -> Option<f64> {
    let plain: String =
        units.to_ascii_lowercase().chars().filter(|c| !c.is_whitespace() && *c != '^').collect();
    let plain = plain.replace("**", "").replace('.', "");
    Some(match plain.as_str() {
        "m/s" | "ms-1" | "meter/second" | "metersecond-1" | "meters/second" | "meterss-1"
        | "meter/sec" | "m/sec" | "metre/s" | "metressecond-1" | "meterssecond-1" | "msec-1" => 1.0,
        "cm/s" | "cms-1" | "centimeter/second" | "centimetersecond-1" | "cm/sec" => 0.01,
        "mm/s" | "mms-1" => 0.001,
        "km/h" | "kmh-1" | "km/hr" => 1.0 / 3.6,
        "km/s" | "kms-1" => 1000.0,
        "knot" | "knots" | "kt" | "kts" => 1852.0 / 3600.0,
        "m/day" | "mday-1" => 1.0 / 86400.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_and_the_order_of_numbers() {
        assert!(matches("u.*.vtk", "u.0001.vtk"));
        assert!(matches("a?c*", "abcd"));
        assert!(matches("*a*b", "xaxxab"));
        assert!(!matches("u.*.vtk", "u.1.vti"));
        assert!(!matches("?", ""));
        let mut names = ["a10", "a9", "a2b3", "a2b20", "a"];
        names.sort_by_cached_key(|n| natural_key(n));
        assert_eq!(names, ["a", "a2b3", "a2b20", "a9", "a10"]);
    }

    #[test]
    fn series_of_paraview() {
        let text = br#"{"file-series-version":"1.0","files":[{"name":"a.vtk","time":0.5}]}"#;
        assert_eq!(json_series(text).unwrap(), [(0.5, "a.vtk".to_owned())]);
        for bad in ["", "{}", "[]", "{\"files\":[]}", "{\"files\":[{\"name\":3}]}"] {
            assert!(json_series(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn units_of_speed() {
        for (text, expected) in [
            ("m/s", 1.0),
            ("m s-1", 1.0),
            ("cm s**-1", 0.01),
            ("meter second-1", 1.0),
            ("m.s-1", 1.0),
        ] {
            assert_eq!(metres_a_second(text), Some(expected), "{text}");
        }
        assert_eq!(metres_a_second("kg"), None);
    }
}

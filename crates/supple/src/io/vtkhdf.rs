//! VTKHDF: images and unstructured grids in an HDF5 file, one moment or many; read only.
//!
//! # What is read
//!
//! The group `VTKHDF` of types `ImageData` and `UnstructuredGrid`, the latter in one piece or several, with or without
//! `Steps`; all types of numbers, chunked and compressed as `hdf5-reader` reads them. A step is read by position: others
//! of its file are not looked at. Hidden points and cells become NaN, doubled cells are left out.
//!
//! # Limits
//!
//! - Polyhedra, polydata, AMR, and collections of blocks are refused by name.
//!
//! # References
//!
//! - VTK File Formats: VTKHDF. Kitware, 2026.

use std::path::{Path, PathBuf};

use glam::DVec3;
use hdf5_reader::Attribute;
use hdf5_reader::group::Group;

use super::hdf5::{Array as Numbers, Hdf5, damaged};
use super::levels::Levels;
use super::text::quote;
use super::{Malformed, Place, ReadError, vtk_xml};
use crate::dataset::{Array, ArrayInfo, CellBuilder, Centering, Dataset, Grid, Select};

/// The group everything is in.
const ROOT: &str = "VTKHDF";

/// Groups of arrays, and what they belong to.
const DATA: [(&str, Centering); 2] =
    [("PointData", Centering::Point), ("CellData", Centering::Cell)];

/// More points than any lattice has.
const LARGEST: f64 = 1e12;

/// More steps than any file has.
const MOST_STEPS: usize = 100_000_000;

/// A file that was opened.
#[derive(Debug)]
pub struct VtkHdf {
    path: PathBuf,
    /// The time of each step, if there are steps.
    times: Option<Vec<f64>>,
    /// Which step a level is.
    order: Vec<usize>,
}

impl VtkHdf {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if it is none, or of a type that is not read.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let malformed = |source| ReadError::Malformed { path: path.to_owned(), source };
        let times = File::of(Hdf5::open(path)?).and_then(|file| file.times()).map_err(malformed)?;
        let order = (0..times.as_ref().map_or(1, Vec::len)).collect();
        Ok(Self { path: path.to_owned(), times, order })
    }
}

impl Levels for VtkHdf {
    fn count(&self) -> usize {
        self.order.len()
    }

    fn times(&self) -> Option<Vec<f64>> {
        let times = self.times.as_ref()?;
        Some(self.order.iter().map(|&k| times[k]).collect())
    }

    fn path(&self, _level: usize) -> &Path {
        &self.path
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }

    fn reorder(&mut self, order: &[usize]) {
        self.order = order.iter().map(|&k| self.order[k]).collect();
    }

    fn read(&self, level: usize, select: Select<'_>) -> Result<Dataset, ReadError> {
        let malformed = |source| ReadError::Malformed { path: self.path.clone(), source };
        let file = File::of(Hdf5::open(&self.path)?).map_err(malformed)?;
        let step = self.times.as_ref().map(|_| self.order[level]);
        let mut dataset = file.read(step, select).map_err(malformed)?;
        dataset.time = self.times.as_ref().map(|times| times[self.order[level]]);
        Ok(dataset)
    }
}

/// Reads the first moment of a file that is in memory.
///
/// # Errors
///
/// [`Malformed`] with what makes no sense.
pub fn read(bytes: Vec<u8>, select: Select<'_>) -> Result<Dataset, Malformed> {
    let file = File::of(Hdf5::from_bytes(bytes)?)?;
    let times = file.times()?;
    let mut dataset = file.read(times.as_ref().map(|_| 0), select)?;
    dataset.time = times.and_then(|times| times.first().copied());
    Ok(dataset)
}

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Image,
    Mesh,
}

/// A file while it is read.
struct File {
    hdf5: Hdf5,
    root: Group,
    steps: Option<Group>,
    kind: Kind,
}

impl File {
    fn of(hdf5: Hdf5) -> Result<Self, Malformed> {
        let Some(root) = hdf5.group(ROOT) else {
            let what = "there is no group VTKHDF in the file";
            return Err(Malformed::new(Place::File, what, "convert it to NetCDF or VTK"));
        };
        let text = root.attribute("Type").ok().and_then(|a| a.read_string().ok());
        let text = text.unwrap_or_default();
        let kind = match text.trim_matches(['\0', ' ']) {
            "ImageData" => Kind::Image,
            "UnstructuredGrid" => Kind::Mesh,
            other => {
                let what = format!("it holds {}, which is not read", quote(other.as_bytes()));
                let fix = "save an image or an unstructured grid, or one block, from ParaView";
                return Err(Malformed::new(Place::File, what, fix));
            }
        };
        let steps = root.group("Steps").ok();
        Ok(Self { hdf5, root, steps, kind })
    }

    /// When its steps are; `None` without steps.
    fn times(&self) -> Result<Option<Vec<f64>>, Malformed> {
        let Some(steps) = &self.steps else { return Ok(None) };
        let values = self.hdf5.of_group(steps, "Values");
        let values = values.ok_or_else(|| damaged("the steps have no times"))?;
        let times = values.all(|t| t)?;
        let said = number(steps, "NSteps").unwrap_or(times.len() as f64);
        if times.is_empty() || times.len() > MOST_STEPS || said != times.len() as f64 {
            return Err(damaged(format!("{said} steps with {} times", times.len())));
        }
        Ok(Some(times))
    }

    fn read(&self, step: Option<usize>, select: Select<'_>) -> Result<Dataset, Malformed> {
        let (grid, rows) = match self.kind {
            Kind::Image => (self.image()?, [0, 0]),
            Kind::Mesh => self.mesh(step)?,
        };
        let mut dataset = Dataset::new(grid.grid, Vec::new());
        dataset.assumed = grid.said;
        let mut ghosts = [None, None];
        for (k, (group, centering)) in DATA.into_iter().enumerate() {
            let Ok(arrays) = self.root.group(group) else { continue };
            let (_, names) = arrays.member_names().map_err(|e| damaged(e.to_string()))?;
            let tuples = dataset.grid.count(centering);
            for name in names {
                let Some(numbers) = self.hdf5.of_group(&arrays, &name) else { continue };
                let Some(components) = self.components(&numbers, tuples, step)? else { continue };
                let is_ghosts = name == vtk_xml::GHOSTS;
                let info = ArrayInfo { name, components, centering, units: None, meaning: None };
                if !is_ghosts && !select.wants(&info.name) {
                    dataset.others.push(info);
                    continue;
                }
                let first = self.offset(step, &format!("{group}Offsets"), &info.name, rows[k])?;
                let values = self.values(&numbers, first, tuples, components)?;
                if is_ghosts {
                    ghosts[k] = Some(values.iter().map(|&x| x as u8).collect());
                } else {
                    dataset.arrays.push(Array { info, values });
                }
            }
        }
        vtk_xml::without_ghosts(&mut dataset, ghosts);
        dataset.make_axes_rise().map_err(damaged)?;
        Ok(dataset)
    }

    /// Numbers a tuple of an array; `None` for what has none, or none for each point.
    fn components(
        &self,
        numbers: &Numbers,
        tuples: usize,
        step: Option<usize>,
    ) -> Result<Option<usize>, Malformed> {
        numbers.len()?;
        let row: u64 = numbers.shape().iter().skip(1).product();
        let components = match (self.kind, step) {
            // A row along the first axis is a moment, else a layer.
            (Kind::Image, Some(_)) => row as usize / tuples.max(1),
            (Kind::Image, None) => numbers.len()? / tuples.max(1),
            (Kind::Mesh, _) => row as usize,
        };
        Ok((1..=9).contains(&components).then_some(components))
    }

    /// The row at which the values of an array begin.
    fn offset(
        &self,
        step: Option<usize>,
        group: &str,
        name: &str,
        otherwise: usize,
    ) -> Result<usize, Malformed> {
        let (Some(steps), Some(step)) = (&self.steps, step) else { return Ok(otherwise) };
        let of_array = steps.group(group).ok().and_then(|g| self.hdf5.of_group(&g, name));
        match (of_array, self.kind) {
            (Some(offsets), _) => index(&offsets, step),
            (None, Kind::Image) => Ok(step),
            (None, Kind::Mesh) => Ok(otherwise),
        }
    }

    fn values(
        &self,
        numbers: &Numbers,
        first: usize,
        tuples: usize,
        components: usize,
    ) -> Result<Vec<f32>, Malformed> {
        let size = tuples.saturating_mul(components);
        let values = match self.kind {
            Kind::Mesh => numbers.rows(first, tuples, |x| x as f32)?,
            Kind::Image if self.steps.is_some() => numbers.rows(first, 1, |x| x as f32)?,
            Kind::Image => numbers.all(|x| x as f32)?,
        };
        if values.len() != size {
            let what = format!("an array has {} numbers where {size} should be", values.len());
            return Err(damaged(what));
        }
        Ok(values)
    }

    /// The lattice of an image.
    fn image(&self) -> Result<Made, Malformed> {
        let numbers = |name: &str, size: usize| -> Result<Option<Vec<f64>>, Malformed> {
            let Ok(attribute) = self.root.attribute(name) else { return Ok(None) };
            let numbers = all_of(&attribute).filter(|n| n.len() == size);
            let finite = numbers.filter(|n| n.iter().all(|x| x.is_finite()));
            finite.map(Some).ok_or_else(|| damaged(format!("{name} makes no sense")))
        };
        let extent =
            numbers("WholeExtent", 6)?.ok_or_else(|| damaged("there is no WholeExtent"))?;
        let origin = numbers("Origin", 3)?.unwrap_or_else(|| vec![0.0; 3]);
        let spacing = numbers("Spacing", 3)?.unwrap_or_else(|| vec![1.0; 3]);
        let straight = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        if numbers("Direction", 9)?.is_some_and(|d| d != straight) {
            let what = "the image is turned";
            return Err(Malformed::new(Place::File, what, "resample it along x, y and z"));
        }
        let wrong = || damaged(format!("the extent {extent:?} is no grid"));
        let dims = [0, 1, 2].map(|a| extent[2 * a + 1] - extent[2 * a] + 1.0);
        let whole = extent.iter().all(|x| x.fract() == 0.0 && x.abs() < LARGEST);
        if !whole || dims.iter().any(|d| *d < 1.0) || dims.iter().product::<f64>() > LARGEST {
            return Err(wrong());
        }
        let mut steps = [1.0; 3];
        for a in 0..3 {
            if spacing[a] != 0.0 {
                steps[a] = spacing[a];
            } else if dims[a] > 1.0 {
                return Err(damaged("the spacing is zero"));
            }
        }
        let origin = [0, 1, 2].map(|a| origin[a] + steps[a] * extent[2 * a]);
        let dims = dims.map(|d| d as usize);
        Ok(Made { grid: Grid::Uniform { dims, origin, spacing: steps }, said: Vec::new() })
    }

    /// The pieces of a mesh at a step as one, and the rows at which its points and cells begin.
    fn mesh(&self, step: Option<usize>) -> Result<(Made, [usize; 2]), Malformed> {
        let array = |name: &str| {
            let found = self.hdf5.of_group(&self.root, name);
            found.ok_or_else(|| damaged(format!("there is no array '{name}'")))
        };
        let parts = |name: &str| array(name)?.all(|n| n as usize);
        let (points, cells, ids) =
            (parts("NumberOfPoints")?, parts("NumberOfCells")?, parts("NumberOfConnectivityIds")?);
        let of_step = |name: &str, otherwise: usize| match (&self.steps, step) {
            (Some(steps), Some(step)) => match self.hdf5.of_group(steps, name) {
                Some(numbers) => index(&numbers, step),
                None => Ok(otherwise),
            },
            _ => Ok(otherwise),
        };
        let first = of_step("PartOffsets", 0)?;
        let count = of_step("NumberOfParts", if step.is_some() { 1 } else { points.len() })?;
        let end = first.saturating_add(count);
        let (Some(points), Some(cells), Some(ids)) =
            (points.get(first..end), cells.get(first..end), ids.get(first..end))
        else {
            return Err(damaged("a step has pieces that are not there"));
        };
        let rows = [of_step("PointOffsets", 0)?, of_step("CellOffsets", 0)?];
        let mut from = From {
            cell: rows[1],
            id: of_step("ConnectivityIdOffsets", 0)?,
            // Every piece has one offset more than cells.
            offset: rows[1].saturating_add(first),
        };
        let total = points.iter().fold(0_usize, |n, &p| n.saturating_add(p));
        if total >= u32::MAX as usize {
            return Err(damaged(format!("{total} points")));
        }
        let flat = array("Points")?.rows(rows[0], total, |x| x)?;
        if flat.len() != 3 * total {
            return Err(damaged("points have not three coordinates"));
        }
        let places: Vec<DVec3> =
            flat.as_chunks::<3>().0.iter().map(|&p| DVec3::from_array(p)).collect();
        let (types, offsets, corners) =
            (array("Types")?, array("Offsets")?, array("Connectivity")?);
        let mut builder = CellBuilder::new(total);
        let mut before = 0;
        for ((&n, &m), &k) in points.iter().zip(cells).zip(ids) {
            let types = types.rows(from.cell, m, |x| x as i64)?;
            if types.contains(&42) {
                let what = "it has polyhedra, which are not read from VTKHDF";
                return Err(Malformed::new(Place::File, what, "save it as .vtu from ParaView"));
            }
            let ends = offsets.rows(from.offset, m.saturating_add(1), |x| x as i64)?;
            let corners = corners.rows(from.id, k, |x| (x as i64).saturating_add(before))?;
            builder
                .add(&types, ends.get(1..).unwrap_or_default(), &corners, &[])
                .map_err(|error| damaged(error.to_string()))?;
            from = from.after(m, k);
            before += n as i64;
        }
        let said = builder.said().into_iter().collect();
        let grid = Grid::Unstructured { points: places, cells: builder.cells };
        Ok((Made { grid, said }, rows))
    }
}

/// A grid, and what is to be told of it.
struct Made {
    grid: Grid,
    said: Vec<String>,
}

/// Where the next piece begins in the arrays.
#[derive(Clone, Copy)]
struct From {
    cell: usize,
    id: usize,
    offset: usize,
}

impl From {
    /// After a piece of so many cells and corners.
    fn after(self, cells: usize, ids: usize) -> Self {
        Self {
            cell: self.cell.saturating_add(cells),
            id: self.id.saturating_add(ids),
            offset: self.offset.saturating_add(cells).saturating_add(1),
        }
    }
}

/// Number `k` of an array of offsets, which may have a column for each kind of cell.
fn index(numbers: &Numbers, k: usize) -> Result<usize, Malformed> {
    let row = numbers.rows(k, 1, |x| x)?;
    let number = row.first().copied().filter(|x| *x >= 0.0 && *x < 9e15 && x.fract() == 0.0);
    number.map(|x| x as usize).ok_or_else(|| damaged("an offset makes no sense"))
}

fn number(group: &Group, name: &str) -> Option<f64> {
    group.attribute(name).ok()?.read_as_f64().ok()
}

/// The numbers of an attribute.
fn all_of(attribute: &Attribute) -> Option<Vec<f64>> {
    let doubles = attribute.read_1d::<f64>().ok();
    let floats = || Some(attribute.read_1d::<f32>().ok()?.into_iter().map(f64::from).collect());
    let long = || Some(attribute.read_1d::<i64>().ok()?.into_iter().map(|n| n as f64).collect());
    let short = || Some(attribute.read_1d::<i32>().ok()?.into_iter().map(f64::from).collect());
    doubles.or_else(floats).or_else(long).or_else(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/vtkhdf").join(name)
    }

    #[test]
    fn pieces_and_steps_of_a_mesh() {
        let mut file = VtkHdf::open(&corpus("mesh.vtkhdf")).unwrap();
        assert_eq!((file.count(), file.times()), (2, Some(vec![0.0, 1.0])));
        let second = file.read(1, Select::All).unwrap();
        assert_eq!(second.time, Some(1.0));
        let Grid::Unstructured { points, cells } = &*second.grid else { panic!("a mesh") };
        assert_eq!((points.len(), cells.corners(1)), (8, &[4, 5, 6, 7][..]));
        assert_eq!(points[7], DVec3::ONE);
        let expected: Vec<f32> = (24..48).map(|k| k as f32).collect();
        assert_eq!(second.array("U").unwrap().values, expected);
        assert_eq!(second.array("id").unwrap().values, [2.0, 3.0]);
        file.reorder(&[1, 0]);
        assert_eq!(file.times(), Some(vec![1.0, 0.0]));
        assert_eq!(file.read(0, Select::All).unwrap(), second);
        let named = file.read(1, Select::Names(&["id".to_owned()])).unwrap();
        assert_eq!((named.arrays.len(), named.others.len()), (1, 1));
    }

    #[test]
    fn an_image_whose_extent_starts_anywhere() {
        let file = VtkHdf::open(&corpus("image.vtkhdf")).unwrap();
        assert_eq!((file.count(), file.times()), (1, None));
        let image = file.read(0, Select::All).unwrap();
        let grid =
            Grid::Uniform { dims: [3, 2, 2], origin: [0.5, -1.0, 2.0], spacing: [0.5, 0.25, 1.0] };
        assert_eq!(*image.grid, grid);
        // A swirl: −y, x, 0.2.
        let velocity = &image.array("velocity").unwrap().values;
        assert_eq!(velocity[..6], [1.0, 0.5, 0.2, 1.0, 1.0, 0.2]);
        assert_eq!(image.array("id").unwrap().info.centering, Centering::Cell);
    }

    #[test]
    fn what_is_not_read_is_named() {
        let error = |name: &str| VtkHdf::open(&corpus(name)).unwrap_err().to_string();
        let other = error("polydata.vtkhdf");
        assert!(other.contains("PolyData") && other.contains("ParaView"), "{other}");
        let cut = VtkHdf::open(&corpus("cut.vtkhdf")).and_then(|file| file.read(0, Select::All));
        let cut = cut.unwrap_err().to_string();
        assert!(cut.contains("cut.vtkhdf"), "{cut}");
    }
}

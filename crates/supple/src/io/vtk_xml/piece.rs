//! Grids of one file, piece by piece, and pieces joined to one dataset.

use glam::DVec3;

use super::values::{Values, number_of};
use super::xml::{Document, Element};
use crate::dataset::faces_of_stream;
use crate::dataset::{
    Array, ArrayInfo, CellBuilder, CellError, Cells, Centering, Dataset, Grid, Select,
};
use crate::io::text::quote;
use crate::io::{Malformed, Place};

/// First and last point along x, y and z.
pub(super) type Extent = [[i64; 2]; 3];

/// A piece that is to be joined with others.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) dataset: Dataset,
    pub(super) extent: Option<Extent>,
}

fn problem(what: impl Into<String>, fix: &str) -> Malformed {
    Malformed::new(Place::File, what, fix)
}

/// Six numbers of an attribute.
pub(super) fn extent_of(text: &str) -> Option<Extent> {
    let mut words = text.split_ascii_whitespace().map(|w| w.parse::<i64>().ok());
    let mut next = || words.next().flatten();
    let mut pair = || Some([next()?, next()?]);
    let extent = [pair()?, pair()?, pair()?];
    // Beyond this, differences and products would overflow.
    let sane = |[a, b]: [i64; 2]| a.abs() < 1 << 40 && b.abs() < 1 << 40;
    extent.iter().all(|&p| sane(p)).then_some(extent)
}

/// Points along each axis; `None` if they are no grid, or more than can be counted.
pub(super) fn dims_of(extent: &Extent) -> Option<[usize; 3]> {
    let dims = extent.map(|[a, b]| usize::try_from(b - a + 1).unwrap_or(0));
    dims.iter().try_fold(1_usize, |n, &d| n.checked_mul(d)).filter(|&n| n < 1 << 40)?;
    (!dims.contains(&0)).then_some(dims)
}

/// Reads one file of a serial kind.
pub(super) fn read(
    document: &Document<'_>,
    main: &Element,
    select: Select<'_>,
) -> Result<Dataset, Malformed> {
    let values = Values::new(document)?;
    let reader = Reader { values, main, select };
    let whole = main.get("WholeExtent").and_then(extent_of);
    let mut parts = Vec::new();
    for piece in main.all("Piece") {
        if let Some(part) = reader.piece(piece, whole)? {
            parts.push(part);
        }
    }
    let mut dataset = join(parts, whole)?;
    dataset.time = reader.time(document)?;
    Ok(dataset)
}

struct Reader<'a> {
    values: Values<'a>,
    main: &'a Element,
    select: Select<'a>,
}

impl Reader<'_> {
    /// A time among the field data.
    fn time(&self, document: &Document<'_>) -> Result<Option<f64>, Malformed> {
        let fields = [self.main.child("FieldData"), document.root.child("FieldData")];
        for array in fields.into_iter().flatten().flat_map(|f| f.all("DataArray")) {
            let name = array.get("Name").unwrap_or_default().to_ascii_lowercase();
            if matches!(name.as_str(), "timevalue" | "time") && number_of(array).is_some() {
                return Ok(self.values.all(array, Some(1), |x| x)?.first().copied());
            }
        }
        Ok(None)
    }

    /// One piece; `None` if it is empty.
    fn piece(&self, piece: &Element, whole: Option<Extent>) -> Result<Option<Part>, Malformed> {
        if matches!(self.main.name.as_str(), "UnstructuredGrid" | "PolyData") {
            let dataset = self.mesh(piece)?;
            return Ok(Some(Part { dataset, extent: None }));
        }
        let extent = piece.get("Extent").and_then(extent_of).or(whole);
        let Some(extent) = extent else {
            return Err(problem("a piece has no extent", "write the file again"));
        };
        if extent.iter().any(|[a, b]| b < a) {
            return Ok(None);
        }
        let Some(dims) = dims_of(&extent) else {
            return Err(problem(
                format!("the extent {extent:?} is no grid"),
                "write the file again",
            ));
        };
        let grid = match self.main.name.as_str() {
            "ImageData" => self.image(&extent, dims)?,
            "RectilinearGrid" => self.axes(piece, dims)?,
            _ => Grid::Curvilinear { dims, points: self.points(piece, dims.iter().product())? },
        };
        let dataset = self.with_arrays(piece, grid)?;
        Ok(Some(Part { dataset, extent: Some(extent) }))
    }

    fn image(&self, extent: &Extent, dims: [usize; 3]) -> Result<Grid, Malformed> {
        let numbers = |name: &str, default: &[f64]| -> Result<Vec<f64>, Malformed> {
            let Some(text) = self.main.get(name) else { return Ok(default.to_vec()) };
            let numbers: Option<Vec<f64>> =
                text.split_ascii_whitespace().map(|w| w.parse().ok()).collect();
            let finite =
                numbers.filter(|n| n.len() == default.len() && n.iter().all(|x| x.is_finite()));
            finite.ok_or_else(|| {
                problem(format!("{name} is {}", quote(text.as_bytes())), "write the file again")
            })
        };
        let origin = numbers("Origin", &[0.0; 3])?;
        let mut spacing = numbers("Spacing", &[1.0; 3])?;
        for axis in 0..3 {
            if spacing[axis] == 0.0 {
                if dims[axis] > 1 {
                    return Err(problem("the spacing is zero", "correct Spacing in the file"));
                }
                spacing[axis] = 1.0;
            }
        }
        let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let direction = numbers("Direction", &identity)?;
        let step = |axis: usize, k: f64| spacing[axis] * (extent[axis][0] as f64 + k);
        if direction == identity {
            let origin = [0, 1, 2].map(|a| origin[a] + step(a, 0.0));
            return Ok(Grid::Uniform {
                dims,
                origin,
                spacing: [spacing[0], spacing[1], spacing[2]],
            });
        }
        // A turned image has no axes along x, y, z: its points stand for themselves.
        let count = dims.iter().product::<usize>();
        // Its points take memory that only values of as many points justify.
        if count > self.values.document.most_numbers() {
            let what = format!("{count} points cannot be in a file of this size");
            return Err(problem(what, "the file was cut off, or its extent is wrong"));
        }
        let point = |i: usize| {
            let k = [i % dims[0], i / dims[0] % dims[1], i / (dims[0] * dims[1])];
            let steps = [0, 1, 2].map(|a| step(a, k[a] as f64));
            DVec3::from_array([0, 1, 2].map(|row| {
                origin[row] + (0..3).map(|a| direction[3 * row + a] * steps[a]).sum::<f64>()
            }))
        };
        Ok(Grid::Curvilinear { dims, points: (0..count).map(point).collect() })
    }

    fn axes(&self, piece: &Element, dims: [usize; 3]) -> Result<Grid, Malformed> {
        let arrays: Vec<&Element> =
            piece.child("Coordinates").into_iter().flat_map(|c| c.all("DataArray")).collect();
        let [x, y, z] = arrays[..] else {
            return Err(problem(
                format!("there are {} coordinate arrays, not 3", arrays.len()),
                "write the file again",
            ));
        };
        let axis = |array, n| self.values.read(array, n, |v| v);
        Ok(Grid::Rectilinear { x: axis(x, dims[0])?, y: axis(y, dims[1])?, z: axis(z, dims[2])? })
    }

    fn points(&self, piece: &Element, count: usize) -> Result<Vec<DVec3>, Malformed> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let array = piece.child("Points").and_then(|p| p.child("DataArray"));
        let Some(array) = array else {
            return Err(problem("a piece has no points", "write the file again"));
        };
        let size = count
            .checked_mul(3)
            .ok_or_else(|| problem("too many points", "write the file again"))?;
        let flat = self.values.read(array, size, |x| x)?;
        Ok(flat.as_chunks::<3>().0.iter().map(|&p| DVec3::from_array(p)).collect())
    }

    fn mesh(&self, piece: &Element) -> Result<Dataset, Malformed> {
        let points = self.points(piece, count_of(piece, "NumberOfPoints")?)?;
        let mut builder = CellBuilder::new(points.len());
        let failed = |error: CellError| problem(error.to_string(), "write the file again");
        if self.main.name == "PolyData" {
            // The order of cell data.
            for (group, count, code) in [
                ("Verts", "NumberOfVerts", 2),
                ("Lines", "NumberOfLines", 4),
                ("Strips", "NumberOfStrips", 6),
                ("Polys", "NumberOfPolys", 7),
            ] {
                let count = count_of(piece, count)?;
                if let Some(group) = piece.child(group).filter(|_| count > 0) {
                    let (connectivity, offsets) = self.connectivity(group, count)?;
                    builder
                        .add(&vec![code; count], &offsets, &connectivity, &[])
                        .map_err(failed)?;
                }
            }
        } else {
            let count = count_of(piece, "NumberOfCells")?;
            if let Some(group) = piece.child("Cells").filter(|_| count > 0) {
                let (connectivity, offsets) = self.connectivity(group, count)?;
                let types = self.values.read(array_of(group, "types")?, count, |x| x as i64)?;
                let faces = self.faces(group, &types)?;
                builder.add(&types, &offsets, &connectivity, &faces).map_err(failed)?;
            }
        }
        let said = builder.said();
        let grid = Grid::Unstructured { points, cells: builder.cells };
        let mut dataset = self.with_arrays(piece, grid)?;
        dataset.assumed.extend(said);
        Ok(dataset)
    }

    /// Connectivity, and where each cell ends in it.
    fn connectivity(
        &self,
        group: &Element,
        count: usize,
    ) -> Result<(Vec<i64>, Vec<i64>), Malformed> {
        let offsets = self.values.read(array_of(group, "offsets")?, count, |x| x as i64)?;
        let size = offsets.last().copied().unwrap_or(0);
        let Ok(size) = usize::try_from(size) else {
            return Err(problem(format!("a cell ends at {size}"), "write the file again"));
        };
        let connectivity =
            self.values.read(array_of(group, "connectivity")?, size, |x| x as i64)?;
        Ok((connectivity, offsets))
    }

    /// The faces of each polyhedron, in the older stream (`n`, then for each face its number of points and the
    /// points) or in the newer arrays; by cell, empty for others.
    fn faces(&self, group: &Element, types: &[i64]) -> Result<Vec<Vec<Vec<i64>>>, Malformed> {
        if !types.contains(&42) {
            return Ok(Vec::new());
        }
        let damaged = || problem("the faces of polyhedra make no sense", "write the file again");
        let all = |name: &str| -> Result<Vec<i64>, Malformed> {
            self.values.all(array_of(group, name)?, None, |x| x as i64)
        };
        let usize_of = |x: i64| usize::try_from(x).ok().ok_or_else(damaged);
        let mut cells = vec![Vec::new(); types.len()];
        if find_array(group, "faces").is_some() {
            let (stream, ends) = (all("faces")?, all("faceoffsets")?);
            for (cell, &end) in ends.iter().enumerate().take(types.len()) {
                // The offset is where the stream of a cell ends; -1 for cells that are no polyhedra.
                if types[cell] != 42 || end < 0 {
                    continue;
                }
                let before = ends[..cell].iter().rev().find(|&&e| e >= 0).copied().unwrap_or(0);
                let part = stream.get(usize_of(before)?..usize_of(end)?).ok_or_else(damaged)?;
                cells[cell] = faces_of_stream(part).ok_or_else(damaged)?;
            }
            return Ok(cells);
        }
        let (points, ends) = (all("face_connectivity")?, all("face_offsets")?);
        let (of_cells, cell_ends) = (all("polyhedron_to_faces")?, all("polyhedron_offsets")?);
        let mut first = 0;
        for (cell, &end) in cell_ends.iter().enumerate().take(types.len()) {
            let end = usize_of(end)?;
            for &face in of_cells.get(first..end).ok_or_else(damaged)? {
                let face = usize_of(face)?;
                let before = face.checked_sub(1).map(|f| ends.get(f).ok_or_else(damaged));
                let start = before.transpose()?.map_or(Ok(0), |end| usize_of(*end))?;
                let stop = usize_of(*ends.get(face).ok_or_else(damaged)?)?;
                cells[cell].push(points.get(start..stop).ok_or_else(damaged)?.to_vec());
            }
            first = end;
        }
        Ok(cells)
    }

    /// The arrays of a piece; what is hidden becomes NaN, and doubled cells of meshes go.
    fn with_arrays(&self, piece: &Element, grid: Grid) -> Result<Dataset, Malformed> {
        let mut dataset = Dataset::new(grid, Vec::new());
        let mut ghosts = [None, None];
        for (k, (group, centering)) in
            [("PointData", Centering::Point), ("CellData", Centering::Cell)].into_iter().enumerate()
        {
            let tuples = dataset.grid.count(centering);
            for (n, array) in
                piece.child(group).into_iter().flat_map(|g| g.all("DataArray")).enumerate()
            {
                if number_of(array).is_none() {
                    continue;
                }
                let name = array.get("Name").filter(|n| !n.is_empty());
                let name = name.map_or_else(|| format!("array {}", n + 1), str::to_owned);
                if name == GHOSTS {
                    ghosts[k] = Some(self.values.read(array, tuples, |x| x as u8)?);
                    continue;
                }
                let components = array.get("NumberOfComponents").and_then(|c| c.parse().ok());
                let components: usize = components.unwrap_or(1).max(1);
                let units = array
                    .all("InformationKey")
                    .find(|key| key.get("name") == Some("UNITS_LABEL"))
                    .map(|key| self.values.document.text(key).trim().to_owned());
                let info = ArrayInfo { name, components, centering, units, meaning: None };
                if !self.select.wants(&info.name) {
                    dataset.others.push(info);
                    continue;
                }
                let size = tuples.saturating_mul(components);
                let values = self.values.read(array, size, |x| x as f32)?;
                dataset.arrays.push(Array { info, values });
            }
        }
        without_ghosts(&mut dataset, ghosts);
        Ok(dataset)
    }
}

/// The array that says which points and cells are hidden or doubled.
pub(in crate::io) const GHOSTS: &str = "vtkGhostType";

/// What is hidden among points and cells becomes NaN, and doubled cells of meshes go.
pub(in crate::io) fn without_ghosts(dataset: &mut Dataset, [points, cells]: [Option<Vec<u8>>; 2]) {
    hide(dataset, Centering::Point, points.as_deref(), 2);
    hide(dataset, Centering::Cell, cells.as_deref(), 8 | 32);
    if let Some(ghosts) = cells.filter(|g| g.iter().any(|x| x & 1 != 0)) {
        drop_cells(dataset, &ghosts);
    }
}

fn hide(dataset: &mut Dataset, centering: Centering, ghosts: Option<&[u8]>, bits: u8) {
    let Some(ghosts) = ghosts else { return };
    for array in dataset.arrays.iter_mut().filter(|a| a.info.centering == centering) {
        let tuples = array.values.chunks_exact_mut(array.info.components);
        for (tuple, _) in tuples.zip(ghosts).filter(|(_, g)| *g & bits != 0) {
            tuple.fill(f32::NAN);
        }
    }
}

/// Leaves out the cells of a mesh that another piece has too.
fn drop_cells(dataset: &mut Dataset, ghosts: &[u8]) {
    let Grid::Unstructured { points, cells } = &*dataset.grid else { return };
    let mut kept = Cells { offsets: vec![0], ..Cells::default() };
    let kept_cells: Vec<usize> = (0..cells.len()).filter(|&c| ghosts[c] & 1 == 0).collect();
    for &cell in &kept_cells {
        let faces: Vec<&[u32]> = cells.faces(cell).collect();
        kept.push(cells.types[cell], cells.corners(cell), &faces);
    }
    dataset.grid = std::sync::Arc::new(Grid::Unstructured { points: points.clone(), cells: kept });
    for array in dataset.arrays.iter_mut().filter(|a| a.info.centering == Centering::Cell) {
        let n = array.info.components;
        let values = kept_cells.iter().flat_map(|&c| &array.values[c * n..(c + 1) * n]);
        array.values = values.copied().collect();
    }
}

fn count_of(piece: &Element, name: &str) -> Result<usize, Malformed> {
    let text = piece.get(name).unwrap_or("0");
    let count = text.parse::<usize>().ok().filter(|&n| n < u32::MAX as usize);
    count.ok_or_else(|| {
        problem(format!("{name} is {}", quote(text.as_bytes())), "write the file again")
    })
}

fn find_array<'a>(group: &'a Element, name: &str) -> Option<&'a Element> {
    group.children.iter().find(|c| c.name == "DataArray" && c.get("Name") == Some(name))
}

fn array_of<'a>(group: &'a Element, name: &str) -> Result<&'a Element, Malformed> {
    find_array(group, name).ok_or_else(|| {
        let what = format!("<{}> has no array '{name}'", group.name);
        problem(what, "the file is damaged; write it again")
    })
}

/// One dataset of all parts.
pub(super) fn join(mut parts: Vec<Part>, whole: Option<Extent>) -> Result<Dataset, Malformed> {
    if parts.is_empty() {
        return Err(problem("the file holds no piece", "it is empty; write it again"));
    }
    let alone = parts.len() == 1 && (whole.is_none() || parts[0].extent == whole);
    if alone || parts.len() == 1 && parts[0].extent.is_none() {
        return rising(parts.remove(0).dataset);
    }
    if let Some(whole) = whole
        && let Some(extents) = parts.iter().map(|p| p.extent).collect::<Option<Vec<_>>>()
    {
        let inside = |e: &Extent| (0..3).all(|a| whole[a][0] <= e[a][0] && e[a][1] <= whole[a][1]);
        if !extents.iter().all(inside) {
            return Err(problem("a piece is outside the whole extent", "write the file again"));
        }
        return rising(lattice(parts, &extents, &whole)?);
    }
    concatenated(parts)
}

/// Pieces of one lattice.
fn lattice(parts: Vec<Part>, extents: &[Extent], whole: &Extent) -> Result<Dataset, Malformed> {
    let dims = dims_of(whole).ok_or_else(|| {
        problem(format!("the extent {whole:?} is no grid"), "write the file again")
    })?;
    let count: usize = dims.iter().product();
    let there: usize = parts.iter().map(|p| p.dataset.grid.point_count()).sum();
    // Pieces may leave holes, but memory follows what is there.
    if count > there.saturating_mul(8) {
        let what = format!("pieces hold {there} of {count} points");
        return Err(problem(what, "most of the grid is missing; write the file again"));
    }
    let grid = lattice_grid(&parts, extents, whole, dims)?;
    let mut joined = Dataset::new(grid, Vec::new());
    joined.others.clone_from(&parts[0].dataset.others);
    joined.time = parts[0].dataset.time;
    if there < count {
        joined.assumed.push("pieces leave holes, which are outside the flow".to_owned());
    }
    for (n, array) in parts[0].dataset.arrays.iter().enumerate() {
        let info = array.info.clone();
        let size = joined.grid.count(info.centering).saturating_mul(info.components);
        let mut values = vec![f32::NAN; size];
        for (part, extent) in parts.iter().zip(extents) {
            let Some(piece) = part.dataset.arrays.get(n).filter(|a| a.info == info) else {
                let what = format!("not all pieces have the array '{}'", info.name);
                return Err(problem(what, "write the file again, or leave the array out"));
            };
            copy_block(&piece.values, &mut values, &info, extent, whole);
        }
        joined.arrays.push(Array { info, values });
    }
    Ok(joined)
}

/// Copies what a piece has to its place in the whole, row by row.
fn copy_block(from: &[f32], into: &mut [f32], info: &ArrayInfo, piece: &Extent, whole: &Extent) {
    let size = |extent: &Extent| {
        extent.map(|[a, b]| {
            let points = (b - a + 1) as usize;
            if info.centering == Centering::Cell { (points - 1).max(1) } else { points }
        })
    };
    let (n, all) = (size(piece), size(whole));
    let start = [0, 1, 2].map(|a| (piece[a][0] - whole[a][0]) as usize);
    let width = n[0] * info.components;
    for (row, values) in from.chunks_exact(width.max(1)).enumerate() {
        let (j, k) = (row % n[1] + start[1], row / n[1] + start[2]);
        let at = ((k * all[1] + j) * all[0] + start[0]) * info.components;
        if let Some(place) = into.get_mut(at..at + width) {
            place.copy_from_slice(values);
        }
    }
}

fn lattice_grid(
    parts: &[Part],
    extents: &[Extent],
    whole: &Extent,
    dims: [usize; 3],
) -> Result<Grid, Malformed> {
    let mixed = || problem("pieces are of different kinds of grid", "write the file again");
    match &*parts[0].dataset.grid {
        Grid::Uniform { origin, spacing, .. } => {
            let shift = |a: usize| (whole[a][0] - extents[0][a][0]) as f64 * spacing[a];
            let origin = [0, 1, 2].map(|a| origin[a] + shift(a));
            Ok(Grid::Uniform { dims, origin, spacing: *spacing })
        }
        Grid::Rectilinear { .. } => {
            let mut axes = dims.map(|n| vec![f64::NAN; n]);
            for (part, extent) in parts.iter().zip(extents) {
                let Grid::Rectilinear { x, y, z } = &*part.dataset.grid else {
                    return Err(mixed());
                };
                for (a, axis) in [x, y, z].into_iter().enumerate() {
                    let start = (extent[a][0] - whole[a][0]) as usize;
                    axes[a][start..start + axis.len()].copy_from_slice(axis);
                }
            }
            let [x, y, z] = axes;
            Ok(Grid::Rectilinear { x, y, z })
        }
        Grid::Curvilinear { .. } => {
            let mut all = vec![DVec3::NAN; dims.iter().product()];
            for (part, extent) in parts.iter().zip(extents) {
                let Grid::Curvilinear { dims: n, points } = &*part.dataset.grid else {
                    return Err(mixed());
                };
                let start = [0, 1, 2].map(|a| (extent[a][0] - whole[a][0]) as usize);
                for (row, values) in points.chunks_exact(n[0]).enumerate() {
                    let (j, k) = (row % n[1] + start[1], row / n[1] + start[2]);
                    let at = (k * dims[1] + j) * dims[0] + start[0];
                    all[at..at + n[0]].copy_from_slice(values);
                }
            }
            Ok(Grid::Curvilinear { dims, points: all })
        }
        Grid::Unstructured { .. } => Err(mixed()),
    }
}

/// Any grids as one mesh.
fn concatenated(parts: Vec<Part>) -> Result<Dataset, Malformed> {
    let mut points: Vec<DVec3> = Vec::new();
    let mut cells = Cells { offsets: vec![0], ..Cells::default() };
    let mut arrays: Vec<Array> = Vec::new();
    let mut assumed = Vec::new();
    let (time, others) = (parts[0].dataset.time, parts[0].dataset.others.clone());
    for (k, Part { dataset, .. }) in parts.iter().enumerate() {
        let first = points.len() as u32;
        if let Grid::Unstructured { points: own, cells: own_cells } = &*dataset.grid {
            points.extend_from_slice(own);
            cells.append(own_cells, first);
        } else {
            let own = dataset.grid.to_cells();
            points.extend((0..dataset.grid.point_count()).map(|i| dataset.grid.point(i)));
            cells.append(&own, first);
            assumed = vec![format!("{} blocks became one unstructured grid", parts.len())];
        }
        assumed.extend(dataset.assumed.iter().cloned());
        if k == 0 {
            arrays.clone_from(&dataset.arrays);
            continue;
        }
        // Only what all have can be one array.
        arrays.retain(|a| dataset.arrays.iter().any(|b| a.info == b.info));
        for array in &mut arrays {
            if let Some(more) = dataset.arrays.iter().find(|b| array.info == b.info) {
                array.values.extend_from_slice(&more.values);
            }
        }
    }
    let mut joined = Dataset::new(Grid::Unstructured { points, cells }, arrays);
    assumed.dedup();
    (joined.time, joined.others, joined.assumed) = (time, others, assumed);
    Ok(joined)
}

fn rising(mut dataset: Dataset) -> Result<Dataset, Malformed> {
    dataset
        .make_axes_rise()
        .map_err(|what| problem(what, "correct the coordinates in the file"))?;
    Ok(dataset)
}

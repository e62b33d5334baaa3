//! Tets in VTK files: unstructured grids, legacy `.vtk` and XML `.vtu`.
//!
//! Straight tets and the corners of curved ones are read, in every encoding that [`vtk`] and
//! [`vtk_xml`] know; arrays of points with one to four components become attributes. Other solids and
//! arrays of cells are left out with a warning, surfaces, lines and points without.

use std::io::{self, Write};

use glam::DVec3;

use super::tets::finish_tets;
use super::{Malformed, Place, Warning, vtk, vtk_xml};
use crate::dataset::{Array, CellType, Cells, Centering, Dataset, Grid, Select};
use crate::mesh::{TetMesh, Values};

/// Reads the tets of a file, legacy or XML.
///
/// # Errors
///
/// [`Malformed`] with what makes no sense, or if there is no tet.
pub fn read(bytes: &[u8], warnings: &mut Vec<Warning>) -> Result<TetMesh, Malformed> {
    let dataset = read_dataset(bytes, Select::All)?;
    let Grid::Unstructured { points, cells } = &*dataset.grid else {
        let what = format!("the grid is {}, which has no tets", dataset.grid.name());
        return Err(Malformed::new(Place::File, what, "save it as an unstructured grid of tets"));
    };
    let mut say = |what: String| warnings.push(Warning::new(Place::File, what));
    dataset.assumed.iter().for_each(|what| say(what.clone()));
    let of_kind = |kind: CellType| (0..cells.len()).filter(move |&c| cells.types[c] == kind);
    let tets = of_kind(CellType::Tetra).filter_map(|c| cells.corners(c).try_into().ok());
    let mut mesh =
        TetMesh::new(points.iter().map(|p| p.as_vec3()).collect(), tets.collect::<Vec<[u32; 4]>>());
    let is_other = |kind: &&CellType| kind.dimension() == 3 && **kind != CellType::Tetra;
    let others = cells.types.iter().filter(is_other).count();
    if others > 0 {
        say(format!("{others} solids that are no tets left out"));
    }
    for Array { info, values } in dataset.arrays {
        let is_of_points = info.centering == Centering::Point;
        match Values::from_floats(info.components, values).filter(|_| is_of_points) {
            Some(values) if values.len() == mesh.positions.len() => {
                mesh.attributes.set(info.name, values);
            }
            _ => say(format!("'{}' left out: it is no value of points", info.name)),
        }
    }
    finish_tets(mesh, warnings)
}

fn read_dataset(bytes: &[u8], select: Select<'_>) -> Result<Dataset, Malformed> {
    if super::text::without_mark(bytes).trim_ascii_start().starts_with(b"<") {
        vtk_xml::read(bytes, select, &vtk_xml::no_files)
    } else {
        vtk::read_dataset(bytes, select)
    }
}

/// Whether a file is a body of tets rather than a surface or a flow: its solids are tets and no array is a velocity.
#[must_use]
pub fn is_body(bytes: &[u8]) -> bool {
    let Ok(dataset) = read_dataset(bytes, Select::Names(&[])) else { return false };
    let Grid::Unstructured { cells, .. } = &*dataset.grid else { return false };
    let mut solids = cells.types.iter().filter(|kind| kind.dimension() == 3).peekable();
    let is_velocity = |name: &str| name == "U" || name.to_ascii_lowercase().contains("velocity");
    solids.peek().is_some()
        && solids.all(|kind| *kind == CellType::Tetra)
        && dataset.time.is_none()
        && !dataset.others.iter().any(|array| is_velocity(&array.name))
}

/// Writes tets and the values at their vertices as XML.
///
/// # Errors
///
/// What `out` reports.
pub fn write_xml(mesh: &TetMesh, out: &mut impl Write) -> io::Result<()> {
    let points: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    let mut cells = Cells::default();
    mesh.tets.iter().for_each(|tet| cells.push(CellType::Tetra, tet, &[]));
    let array = |name: &str, values: &Values| {
        Array::new(name, values.width(), Centering::Point, values.as_floats().to_vec())
    };
    let arrays = mesh.attributes.iter().map(|a| array(&a.name, &a.values)).collect();
    vtk_xml::write(&Dataset::new(Grid::Unstructured { points, cells }, arrays), out)
}

/// Writes tets and the values at their vertices as legacy text, in decimals that give the same bits back.
///
/// # Errors
///
/// What `out` reports.
pub fn write_legacy(mesh: &TetMesh, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "# vtk DataFile Version 3.0\ntets\nASCII\nDATASET UNSTRUCTURED_GRID")?;
    writeln!(out, "POINTS {} float", mesh.positions.len())?;
    for p in &mesh.positions {
        writeln!(out, "{} {} {}", p.x, p.y, p.z)?;
    }
    let tets = mesh.tets.len();
    writeln!(out, "CELLS {tets} {}", 5 * tets)?;
    for [a, b, c, d] in &mesh.tets {
        writeln!(out, "4 {a} {b} {c} {d}")?;
    }
    writeln!(out, "CELL_TYPES {tets}")?;
    (0..tets).try_for_each(|_| writeln!(out, "10"))?;
    let arrays = mesh.attributes.iter().count();
    if arrays > 0 {
        writeln!(out, "POINT_DATA {}\nFIELD FieldData {arrays}", mesh.positions.len())?;
    }
    for attribute in &mesh.attributes {
        let values = &attribute.values;
        let width = values.width();
        writeln!(out, "{} {width} {} float", in_one_word(&attribute.name), values.len())?;
        for row in values.as_floats().chunks(width) {
            let row: Vec<String> = row.iter().map(ToString::to_string).collect();
            writeln!(out, "{}", row.join(" "))?;
        }
    }
    Ok(())
}

/// A name in one word: what is no plain character as `%20`.
fn in_one_word(name: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_graphic() && b != b'%' && b != b'"';
    let word = |b: u8| if is_plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") };
    name.bytes().map(word).collect()
}

//! A legacy file as one moment of a flow.

use glam::DVec3;

use super::legacy::{self, CellKind, Contents, Kind, LegacyArray, Owner, Role};
use crate::dataset::{Array, ArrayInfo, CellBuilder, CellError, Centering, Dataset, Grid, Select};
use crate::io::{Malformed, Place};

/// Reads any grid with its arrays.
///
/// # Errors
///
/// [`Malformed`] with the line or byte of what makes no sense.
pub fn read_dataset(bytes: &[u8], select: Select<'_>) -> Result<Dataset, Malformed> {
    let mut contents = legacy::parse(bytes, None)?;
    let arrays = std::mem::take(&mut contents.arrays);
    let time = contents.time;
    let (grid, said) = grid_of(contents)?;
    let mut dataset = Dataset { time, ..Dataset::new(grid, Vec::new()) };
    dataset.assumed.extend(said);
    for array in arrays {
        add(&mut dataset, array, select)?;
    }
    let rising = dataset.make_axes_rise();
    rising.map_err(|what| problem(what, "correct the coordinates in the file"))?;
    Ok(dataset)
}

/// Whether a legacy file says that it is polydata, which is a mesh rather than a flow.
#[must_use]
pub fn is_mesh(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1 << 12)];
    let text = String::from_utf8_lossy(head).to_ascii_uppercase();
    let mut words = text.split_ascii_whitespace().skip_while(|w| *w != "DATASET");
    words.nth(1) == Some("POLYDATA")
}

fn problem(what: impl Into<String>, fix: &str) -> Malformed {
    Malformed::new(Place::File, what, fix)
}

fn add(dataset: &mut Dataset, array: LegacyArray, select: Select<'_>) -> Result<(), Malformed> {
    let LegacyArray { role, owner, name, components, values } = array;
    let (centering, tuples) = match owner {
        Owner::Points(n) => (Centering::Point, n),
        Owner::Cells(n) => (Centering::Cell, n),
        Owner::File => return Ok(()),
    };
    if matches!(role, Role::Other | Role::Colors | Role::TextureCoordinates) || components == 0 {
        return Ok(());
    }
    let expected = dataset.grid.count(centering);
    if tuples != expected {
        let what = format!("'{name}' has {tuples} values where the grid has room for {expected}");
        return Err(problem(what, "the counts are wrong; export the file again"));
    }
    let info = ArrayInfo { name, components, centering, units: None, meaning: None };
    if select.wants(&info.name) {
        dataset.arrays.push(Array { info, values });
    } else {
        dataset.others.push(info);
    }
    Ok(())
}

fn grid_of(contents: Contents) -> Result<(Grid, Option<String>), Malformed> {
    let Contents { kind, dims, origin, mut spacing, axes, points, cells, types, .. } = contents;
    let points: Vec<DVec3> = points.into_iter().map(DVec3::from_array).collect();
    let count = dims.iter().try_fold(1_usize, |n, &d| n.checked_mul(d)).unwrap_or(0);
    if !matches!(kind, Kind::PolyData | Kind::UnstructuredGrid) && count == 0 {
        return Err(problem(format!("the dimensions are {dims:?}"), "export the file again"));
    }
    match kind {
        Kind::StructuredPoints => {
            for (step, &n) in spacing.iter_mut().zip(&dims) {
                if *step == 0.0 && n == 1 {
                    *step = 1.0;
                }
            }
            if spacing.iter().any(|s| *s == 0.0 || !s.is_finite())
                || !origin.iter().all(|x| x.is_finite())
            {
                return Err(problem("the spacing is zero or not finite", "correct SPACING"));
            }
            Ok((Grid::Uniform { dims, origin, spacing }, None))
        }
        Kind::RectilinearGrid => {
            let [x, y, z] = axes;
            if [x.len(), y.len(), z.len()] != dims {
                let found = [x.len(), y.len(), z.len()];
                let what = format!("the axes have {found:?} coordinates, the grid {dims:?}");
                return Err(problem(what, "export the file again"));
            }
            Ok((Grid::Rectilinear { x, y, z }, None))
        }
        Kind::StructuredGrid => {
            if points.len() != count {
                let what = format!("there are {} points, the grid has {count}", points.len());
                return Err(problem(what, "export the file again"));
            }
            Ok((Grid::Curvilinear { dims, points }, None))
        }
        Kind::PolyData | Kind::UnstructuredGrid => {
            let mut builder = CellBuilder::new(points.len());
            let failed = |error: CellError| problem(error.to_string(), "export the file again");
            for list in &cells {
                let ends = list.offsets.get(1..).unwrap_or_default();
                let code = match list.kind {
                    CellKind::Vertices => 2,
                    CellKind::Lines => 4,
                    CellKind::Polygons => 7,
                    CellKind::Strips => 6,
                    CellKind::Typed if types.len() != ends.len() => {
                        let what = format!("{} cells have {} types", ends.len(), types.len());
                        return Err(problem(what, "export the file again"));
                    }
                    CellKind::Typed => {
                        builder.add_stream(&types, ends, &list.corners).map_err(failed)?;
                        continue;
                    }
                };
                builder.add(&vec![code; ends.len()], ends, &list.corners, &[]).map_err(failed)?;
            }
            let said = builder.said();
            Ok((Grid::Unstructured { points, cells: builder.cells }, said))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Dataset, Malformed> {
        let file = format!("# vtk DataFile Version 3.0\ntitle\nASCII\n{text}");
        read_dataset(file.as_bytes(), Select::All)
    }

    #[test]
    fn all_datasets_are_read() {
        let points = "DATASET STRUCTURED_POINTS\nDIMENSIONS 2 2 1\nORIGIN 1 2 3\nSPACING 1 1 0\n\
            FIELD FieldData 1\nTIME 1 1 double\n2.5\nPOINT_DATA 4\nVECTORS u float\n1 0 0 2 0 0 3 0 0 4 0 0\n";
        let dataset = read(points).unwrap();
        assert_eq!(dataset.time, Some(2.5));
        assert_eq!(dataset.grid.point(3), DVec3::new(2.0, 3.0, 3.0));
        assert_eq!(dataset.array("u").unwrap().values[9], 4.0);
        let axes = "DATASET RECTILINEAR_GRID\nDIMENSIONS 2 1 1\nX_COORDINATES 2 float\n1 0\nY_COORDINATES 1 \
            float\n0\nZ_COORDINATES 1 float\n0\nPOINT_DATA 2\nSCALARS s int\nLOOKUP_TABLE default\n5 6\n";
        let dataset = read(axes).unwrap();
        assert_eq!(dataset.array("s").unwrap().values, [6.0, 5.0]);
        let grid = "DATASET STRUCTURED_GRID\nDIMENSIONS 2 1 1\nPOINTS 2 double\n0 0 0 1 1 1\nCELL_DATA 1\n\
            FIELD f 1\nw 3 1 float\n1 2 3\n";
        assert_eq!(read(grid).unwrap().array("w").unwrap().info.centering, Centering::Cell);
        let mesh = "DATASET UNSTRUCTURED_GRID\nPOINTS 5 float\n0 0 0 1 0 0 0 1 0 0 0 1 1 1 1\nCELLS 2 24\n\
            4 0 1 2 3\n18 4 3 0 1 2 3 0 1 4 3 1 2 4 4 0 2 4 1\nCELL_TYPES 2\n10 42\n";
        let dataset = read(mesh).unwrap();
        let Grid::Unstructured { cells, .. } = &*dataset.grid else { panic!("{:?}", dataset.grid) };
        assert_eq!(cells.corners(0), [0, 1, 2, 3]);
        assert_eq!(cells.corners(1), [0, 1, 2, 4]);
        assert_eq!(cells.faces(1).count(), 4);
    }

    #[test]
    fn version_5_and_counts_that_lie() {
        let cells = "DATASET UNSTRUCTURED_GRID\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\nCELLS 2 3\nOFFSETS vtktypeint64\n\
            0 3\nCONNECTIVITY vtktypeint64\n0 1 2\nCELL_TYPES 1\n5\nPOINT_DATA 3\nVECTORS v float\n1 1 1 1 1 1 1 1 1\n";
        assert_eq!(read(cells).unwrap().grid.cell_count(), 1);
        for bad in [
            cells.replace("0 1 2\nCELL", "0 1 3\nCELL"),
            cells.replace("0 3\n", "0 4\n"),
            cells.replace("\n5\n", "\n99\n"),
            cells.replace("POINT_DATA 3", "POINT_DATA 4"),
            cells.replace("CELL_TYPES 1\n5", "CELL_TYPES 2\n5 5"),
            "DATASET STRUCTURED_POINTS\nDIMENSIONS 99999999 99999999 99999999\n".to_owned(),
            "DATASET STRUCTURED_POINTS\nDIMENSIONS 2 2 2\nSPACING 0 1 1\n".to_owned(),
            "DATASET TABLE\n".to_owned(),
            "FIELD f 0\n".to_owned(),
        ] {
            let error = read(&bad).unwrap_err();
            assert!(!error.fix.is_empty(), "{error}");
        }
    }
}

//! What is written is read again, in pieces and cut off too.

use super::*;
use crate::dataset::{Array, CellType, Cells, Centering, Grid};
use glam::DVec3;

fn written(dataset: &Dataset) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(dataset, &mut bytes).unwrap();
    bytes
}

fn ramp(count: usize) -> Vec<f32> {
    (0..count).map(|k| k as f32 * 0.25 - 1.0).collect()
}

fn with_ramps(grid: Grid) -> Dataset {
    let (points, cells) = (grid.point_count(), grid.cell_count());
    let arrays = vec![
        Array::new("velocity", 3, Centering::Point, ramp(3 * points)),
        Array::new("p < 1 & \"q\"", 1, Centering::Cell, ramp(cells)),
    ];
    Dataset { time: Some(2.5), ..Dataset::new(grid, arrays) }
}

fn grids() -> Vec<Grid> {
    let points = (0..24).map(|i| DVec3::new(f64::from(i % 4), f64::from(i / 4 % 3), f64::from(i)));
    let mut cells = Cells::default();
    cells.push(CellType::Tetra, &[0, 1, 4, 12], &[]);
    let faces: [&[u32]; 4] = [&[0, 1, 4], &[0, 1, 12], &[1, 4, 12], &[0, 4, 12]];
    cells.push(CellType::Polyhedron, &[0, 1, 4, 12], &faces);
    cells.push(CellType::Hexahedron, &[0, 1, 5, 4, 12, 13, 17, 16], &[]);
    let axis = |n: u32| (0..n).map(|k| f64::from(k * k)).collect();
    vec![
        Grid::Uniform { dims: [4, 3, 2], origin: [1.0, -0.1, 2.0], spacing: [0.1, 0.2, 0.3] },
        Grid::Rectilinear { x: axis(4), y: axis(3), z: axis(2) },
        Grid::Curvilinear { dims: [4, 3, 2], points: points.clone().collect() },
        Grid::Unstructured { points: points.collect(), cells },
    ]
}

#[test]
fn every_grid_comes_back_as_it_was_written() {
    for grid in grids() {
        let dataset = with_ramps(grid);
        let found = read(&written(&dataset), Select::All, &no_files).unwrap();
        assert_eq!(found, dataset);
        let only = ["velocity".to_owned()];
        let found = read(&written(&dataset), Select::Names(&only), &no_files).unwrap();
        assert_eq!(found.arrays[..], dataset.arrays[..1]);
        assert_eq!(found.others[0].name, "p < 1 & \"q\"");
    }
}

#[test]
fn files_cut_off_anywhere_are_refused() {
    for grid in grids() {
        let bytes = written(&with_ramps(grid));
        // Without the last line it is whole: all numbers are there.
        let end = bytes.len() - b"\n</AppendedData>\n</VTKFile>\n".len();
        for length in (0..end).step_by(7).chain([end - 1]) {
            let error = read(&bytes[..length], Select::All, &no_files).unwrap_err();
            assert!(!error.fix.is_empty(), "{error}");
        }
    }
}

#[test]
fn bytes_changed_anywhere_never_panic() {
    let mut state = 7_u64;
    for grid in grids() {
        let bytes = written(&with_ramps(grid));
        for _ in 0..400 {
            let mut bad = bytes.clone();
            for _ in 0..3 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let at = (state >> 33) as usize % bad.len();
                bad[at] = (state >> 20) as u8;
            }
            if let Ok(dataset) = read(&bad, Select::All, &no_files) {
                assert!(dataset.grid.bounds().is_none_or(|(a, b)| a.cmple(b).all()), "bounds");
            }
        }
    }
}

#[test]
fn huge_counts_take_no_memory() {
    let file = |extent: &str, array: &str| {
        format!(
            "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"{extent}\"><Piece Extent=\"{extent}\">\
             <PointData><DataArray type=\"Float32\" Name=\"a\" {array}</DataArray></PointData></Piece></ImageData></VTKFile>"
        )
    };
    for array in [
        "format=\"ascii\">1 2 3",
        "format=\"binary\">/////w==AAAA",
        "format=\"appended\" offset=\"9\">",
    ] {
        let huge = file("0 99999 0 99999 0 0", array);
        assert!(read(huge.as_bytes(), Select::All, &no_files).is_err(), "{array}");
    }
    let overflow = file("0 9999999999 0 9999999999 0 9999999999", "format=\"ascii\">1");
    assert!(read(overflow.as_bytes(), Select::All, &no_files).is_err(), "overflow");
}

#[test]
fn pieces_are_put_where_their_extent_says() {
    let half = |x0: i32, values: &str| {
        format!(
            "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"{x0} {x1} 0 1 0 0\" Origin=\"1 0 0\" Spacing=\"2 1 1\">\
             <Piece Extent=\"{x0} {x1} 0 1 0 0\"><PointData><DataArray type=\"Float64\" Name=\"a\">{values}</DataArray>\
             </PointData></Piece></ImageData></VTKFile>",
            x1 = x0 + 1
        )
    };
    let list = "<VTKFile type=\"PImageData\"><PImageData WholeExtent=\"5 7 0 1 0 0\">\
        <Piece Extent=\"5 6 0 1 0 0\" Source=\"l.vti\"/><Piece Extent=\"6 7 0 1 0 0\" Source=\"r.vti\"/>\
        </PImageData></VTKFile>";
    let fetch = |name: &str| match name {
        "l.vti" => Ok(half(5, "0 1 3 4").into_bytes()),
        "r.vti" => Ok(half(6, "1 2 4 5").into_bytes()),
        _ => no_files(name),
    };
    let dataset = read(list.as_bytes(), Select::All, &fetch).unwrap();
    assert_eq!(dataset.arrays[0].values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(dataset.grid.point(0), DVec3::new(11.0, 0.0, 0.0));
    let missing = read(list.as_bytes(), Select::All, &no_files).unwrap_err();
    assert!(missing.what.contains("l.vti"), "{missing}");
}

#[test]
fn series_keep_their_times_and_names() {
    let entries = vec![(0.5, "a & b.vti".to_owned()), (1e-3, "c.vti".to_owned())];
    let mut bytes = Vec::new();
    crate::io::vtp::write_series(&entries, &mut bytes).unwrap();
    assert_eq!(read_series(&bytes).unwrap(), entries);
    let error = read(&bytes, Select::All, &no_files).unwrap_err();
    assert!(error.what.contains("series"), "{error}");
}

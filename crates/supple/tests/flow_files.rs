//! Recorded flows of other programs: every file of the test data is read or refused with a reason, and the numbers
//! are those that VTK and netCDF4 read.

mod data;

use std::path::{Path, PathBuf};

use data::test_data;
use supple::dataset::{Centering, Dataset, Grid};
use supple::flow::recording::{self, Options, Recording};

fn all_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().expect("the folder can be listed") {
        let path = entry.expect("its entries can be read").path();
        if path.is_dir() {
            all_files(&path, into);
        } else {
            into.push(path);
        }
    }
}

fn sum(dataset: &Dataset, centering: Centering, name: &str) -> f64 {
    let found =
        dataset.arrays.iter().find(|a| a.info.name == name && a.info.centering == centering);
    found.unwrap_or_else(|| panic!("{name}")).values.iter().map(|&x| f64::from(x)).sum()
}

#[test]
fn every_file_is_read_or_refused_with_a_reason_that_names_it() {
    let Some(folder) = test_data("flow") else { return };
    let mut files = Vec::new();
    all_files(&folder, &mut files);
    let (mut read, mut refused) = (0, Vec::new());
    for file in &files {
        match recording::read(file, &Options::default()) {
            Ok(dataset) => {
                read += 1;
                for array in &dataset.arrays {
                    let tuples = dataset.grid.count(array.info.centering);
                    let size = tuples * array.info.components;
                    assert_eq!(array.values.len(), size, "{} {}", file.display(), array.info.name);
                }
            }
            Err(error) => {
                let said = error.to_string();
                let name = file.file_name().unwrap().to_string_lossy().into_owned();
                assert!(said.contains(&name) && said.contains('('), "{said}");
                refused.push(said);
            }
        }
    }
    assert!(read >= 118, "{read} of {} files are read\n{}", files.len(), refused.join("\n"));
}

/// File, points, cells, whose values, their name, and their sum as VTK 9.7 reads them.
const VTK: [(&str, usize, usize, Centering, &str, f64); 18] = [
    ("closed_form/swirl.1.vti", 5625, 4608, Centering::Point, "velocity", 1687.5000670552254),
    (
        "heated_cylinder_speed_sim1/1_3.5.vti",
        32768,
        32385,
        Centering::Point,
        "nrrd",
        1866.58139006485,
    ),
    ("ib2d_channel/u.0003.vtk", 16384, 16129, Centering::Point, "u", 1713.4283707449213),
    (
        "von_karman_gerris/BuiltInExample1.vti",
        33345,
        32768,
        Centering::Point,
        "Vectors_",
        33401.93146558964,
    ),
    ("vtk_formats/RectGrid2.vtk", 17061, 14720, Centering::Point, "vectors", 9147.89521042828),
    ("vtk_formats/StructuredGrid.vts", 648, 440, Centering::Point, "Momentum", 53887.51470439136),
    (
        "vtk_formats/cth.vtr",
        545_025,
        524_288,
        Centering::Cell,
        "Z Velocity",
        2_266_134_779.619_800_6,
    ),
    ("vtk_formats/office.binary.vtk", 8400, 7220, Centering::Point, "vectors", -16.35671122221207),
    ("vtkio_assets/RectilinearGrid.pvtr", 16, 3, Centering::Cell, "X Velocity", 1.399999976158142),
    ("vtkio_assets/RectilinearGridCompressed.vtr", 16, 3, Centering::Cell, "Y Velocity", 1.0),
    ("vtkio_assets/RectilinearGridInlineBinary.vtr", 16, 3, Centering::Cell, "Z Velocity", 0.5),
    ("vtkio_assets/box_para.vtu", 8, 6, Centering::Cell, "uv", 5.0030802842229605),
    ("vtkio_assets/cube.pvtp", 16, 12, Centering::Point, "my_scalars", 56.0),
    ("vtkio_assets/hexahedron_inline_binary.vtu", 8, 1, Centering::Point, "uint16x1", 348.0),
    ("vtkio_assets/hexahedron_ascii.vtu", 8, 1, Centering::Cell, "float64x1", 1024.0),
    ("vtkio_assets/para_test.vtk", 12, 3, Centering::Point, "Floats", 18.299999833106995),
    ("vtkio_assets/unstructured_grid_complex.vtk", 27, 12, Centering::Point, "vectors", 35.0),
    ("vtkio_assets/volume_complex.vtk", 72, 30, Centering::Point, "volume_scalars", 900.0),
];

#[test]
fn numbers_are_those_that_vtk_reads() {
    for (file, points, cells, centering, name, expected) in VTK {
        let Some(path) = test_data(&format!("flow/{file}")) else { return };
        let dataset = recording::read(&path, &Options::default()).unwrap();
        assert_eq!(dataset.grid.point_count(), points, "{file}");
        assert_eq!(dataset.grid.cell_count(), cells, "{file}");
        let found = sum(&dataset, centering, name);
        assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{file}: {found}");
    }
}

#[test]
fn every_way_of_coding_a_cell_is_the_same_cell() {
    let Some(folder) = test_data("flow/vtkio_assets") else { return };
    let ways = [
        "",
        "_ascii",
        "_binary",
        "_inline_binary",
        "_lz4",
        "_lz4_inline_binary",
        "_lzma_inline_binary",
        "_zlib",
        "_zlib_binary",
        "_zlib_inline_binary",
        "_zlib_para",
    ];
    let read = |name: String| {
        recording::read(&folder.join(&name), &Options::default()).unwrap_or_else(|e| panic!("{e}"))
    };
    let first = read("hexahedron.vtu".to_owned());
    for way in ways {
        assert_eq!(read(format!("hexahedron{way}.vtu")).grid, first.grid, "{way}");
    }
    for name in ["hexahedron_parallel.pvtu", "hexahedron_parallel_lzma.pvtu"] {
        assert_eq!(read(name.to_owned()).grid, first.grid, "{name}");
    }
}

/// Files of `scripts/vtk_encodings.py`, if it was run.
#[test]
fn files_in_all_encodings_of_vtk_are_read() {
    let Some(folder) = std::env::var_os("SUPPLE_VTK_ENCODINGS") else { return };
    let mut files = Vec::new();
    all_files(Path::new(&folder), &mut files);
    assert!(files.len() >= 200, "{} files", files.len());
    for file in &files {
        let name = file.display();
        let dataset = recording::read(file, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
        let velocity = &dataset.array("velocity").unwrap().values;
        for (i, v) in velocity.as_chunks::<3>().0.iter().enumerate() {
            let i = i as f32;
            assert_eq!(*v, [i, 2.0 * i, 0.5 - i], "{name}");
        }
        for (c, &p) in dataset.array("p").unwrap().values.iter().enumerate() {
            assert_eq!(p, (c * c) as f32, "{name}");
        }
        assert_eq!(velocity.len(), 3 * dataset.grid.point_count(), "{name}");
        assert_eq!(dataset.time, Some(2.5), "{name}");
        match &*dataset.grid {
            Grid::Uniform { dims, origin, .. } => {
                assert_eq!((*dims, *origin), ([7, 6, 5], [2.5, 1.5, 3.0]), "{name}");
            }
            Grid::Rectilinear { x, .. } => assert_eq!(x[6], 36.0, "{name}"),
            Grid::Curvilinear { points, .. } => {
                assert!((points[50].y - 1.1).abs() < 1e-6, "{name}: {}", points[50]);
            }
            Grid::Unstructured { cells, .. } => {
                assert_eq!(cells.len(), 3, "{name}");
                assert_eq!(cells.faces(1).count(), 6, "{name}");
                assert_eq!(cells.faces(1).nth(1), Some(&[7, 8, 11, 10][..]), "{name}");
            }
        }
    }
}

/// Files of `scripts/flow_formats.py`, if it was run: (−y + t/10, x, 0.2).
#[test]
fn recordings_of_other_programs_in_one_file_are_read() {
    let Some(folder) = std::env::var_os("SUPPLE_FLOW_FORMATS") else { return };
    let one = [
        "mesh.vtkhdf",
        "image.vtkhdf",
        "xml.xdmf",
        "hdf.xdmf",
        "binary.xdmf",
        "mixed.xdmf",
        "flow.0.case",
    ];
    let many = ["meshes.vtkhdf", "images.vtkhdf", "series.xdmf"];
    for (name, times) in
        one.map(|n| (n, &[0.0][..])).into_iter().chain(many.map(|n| (n, &[0.0, 0.5, 1.25][..])))
    {
        let path = Path::new(&folder).join(name);
        let opened = Recording::open(&[path], &Options::default());
        let recording = opened.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(recording.times(), times, "{name}");
        for (k, t) in times.iter().enumerate() {
            let level = recording.level(k).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(level.velocity.len(), 36, "{name}");
            for (i, v) in level.velocity.iter().enumerate() {
                let p = level.grid.point(i);
                let expected = [0.1 * t - p.y, p.x, 0.2, 1.0].map(|x| x as f32);
                let off = v.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(off < 1e-6, "{name} at {t}, point {i}: {v:?}, {expected:?}");
            }
        }
    }
}

#[test]
fn series_know_their_times() {
    let Some(folder) = test_data("flow") else { return };
    let open = |names: &[&str]| {
        let paths: Vec<PathBuf> = names.iter().map(|n| folder.join(n)).collect();
        Recording::open(&paths, &Options::default()).unwrap_or_else(|e| panic!("{e}"))
    };
    let swirl = open(&["closed_form/swirl.pvd"]);
    assert_eq!(swirl.times(), [0.0, 1.0, 2.0, 3.0]);
    let channel = open(&["ib2d_channel/u.*.vtk"]);
    assert_eq!(channel.times(), [0.0, 1.0, 2.0]);
    assert!(channel.assumed().iter().any(|a| a.contains("0, 1, 2")), "{:?}", channel.assumed());
    let options = Options { velocity: vec!["nrrd".to_owned()], ..Options::default() };
    let scalar = Recording::open(&[folder.join("heated_cylinder_speed_sim1/*.vti")], &options);
    assert!(scalar.unwrap_err().to_string().contains("one component"), "a scalar is no velocity");
    let cth = open(&["vtk_formats/cth.vtr"]);
    assert_eq!(cth.velocity().names(), ["X Velocity", "Y Velocity", "Z Velocity"]);
    let momentum = open(&["vtk_formats/StructuredGrid.vts"]);
    assert_eq!(momentum.velocity().names(), ["Momentum", "Density"]);
}

#[test]
fn cases_lattices_and_tables_are_flows() {
    let Some(folder) = test_data("flow") else { return };
    let open = |name: &str| {
        let opened = Recording::open(&[folder.join(name)], &Options::default());
        opened.unwrap_or_else(|e| panic!("{e}"))
    };
    let cavity = open("openfoam_cavity/case.foam");
    assert_eq!(cavity.times(), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
    assert_eq!((cavity.grid().point_count(), cavity.grid().cell_count()), (882, 400));
    let level = cavity.level(1).unwrap();
    // The lid moves at 1, the walls stand; a point inside has the mean of four cells.
    let at = |x: f64, y: f64| {
        let distance = |i: &usize| (cavity.grid().point(*i) - glam::DVec3::new(x, y, 0.0)).length();
        let near = (0..level.velocity.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        level.velocity[near.unwrap()]
    };
    assert_eq!(at(0.05, 0.1), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(at(0.05, 0.0), [0.0, 0.0, 0.0, 1.0]);
    let inside = at(0.05, 0.05);
    assert!(inside[0] < -0.05 && inside[0] > -0.3, "{inside:?}");
    let square = open("square_cylinder_camarri/sqflow2D-1608.nrrd");
    assert_eq!(square.grid().dims(), Some([192, 64, 1]));
    assert_eq!(square.grid().point(0).x, -11.916666666666666);
    let piv = open("piv_insight/*.vec");
    assert_eq!(piv.times().len(), 5);
    let masked = piv.summary().unwrap().masked;
    assert!(masked > 0.0 && masked < 0.5, "{masked}");
}

#[test]
fn oceans_are_read_as_netcdf4_reads_them() {
    use supple::dataset::Coordinates;
    let Some(folder) = test_data("flow") else { return };
    let open = |names: &[&str]| {
        let paths: Vec<PathBuf> = names.iter().map(|n| folder.join(n)).collect();
        Recording::open(&paths, &Options::default()).unwrap_or_else(|e| panic!("{e}"))
    };
    let globe = open(&["closed_form/globe.nc"]);
    assert_eq!(globe.coordinates(), Coordinates::Degrees);
    assert_eq!(globe.grid().dims(), Some([121, 81, 1]));
    assert_eq!(globe.time_unit().seconds, 86400.0);
    let peninsula = open(&["peninsula/peninsulaU.nc", "peninsula/peninsulaV.nc"]);
    assert_eq!(peninsula.coordinates(), Coordinates::Metres);
    assert_eq!(peninsula.velocity().names(), ["vozocrtx", "vomecrty"]);
    let half = Recording::open(&[folder.join("peninsula/peninsulaU.nc")], &Options::default());
    assert!(half.unwrap_err().to_string().contains("one component"), "u alone");
    let current = open(&["globcurrent/2002*.nc"]);
    assert_eq!(current.times().len(), 31);
    assert_eq!(current.times()[1] - current.times()[0], 1.0);
}

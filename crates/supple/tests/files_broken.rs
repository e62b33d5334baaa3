//! Broken and hostile files: a clear error or a sound mesh, never a panic, a hang, or memory out of
//! proportion to the file.

mod data;

use std::path::{Path, PathBuf};

use data::test_data;
use glam::Vec3;
use supple::io::{
    self, Malformed, Place, ReadError, ReadOptions, Warning, obj, off, ply, stl, vtk,
};
use supple::{Asset, TriMesh};

type Read = fn(&[u8], &mut Vec<Warning>) -> Result<Asset, Malformed>;

const READERS: [(&str, Read); 5] = [
    ("obj", obj::read),
    ("ply", ply::read),
    ("stl", stl::read),
    ("off", off::read),
    ("vtk", vtk::read),
];

/// What a reader returns must be sound; what it refuses must be said well.
fn check(what: &str, result: Result<Asset, Malformed>) {
    match result {
        Ok(asset) => {
            for mesh in &asset.meshes {
                assert_eq!(mesh.validate(), Ok(()), "{what}");
                assert!(!mesh.triangles.is_empty(), "{what}: a mesh has triangles");
            }
            assert!(!asset.meshes.is_empty() || !asset.clouds.is_empty(), "{what}: not empty");
        }
        Err(error) => {
            assert!(!error.what.is_empty() && !error.fix.is_empty(), "{what}: {error}");
            assert!(error.to_string().len() < 400, "{what}: {error}");
        }
    }
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        folder.read_dir().expect("a folder").map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn every_broken_file_is_refused_or_read_soundly() {
    let Some(folder) = test_data("broken") else { return };
    let mut files = Vec::new();
    files_below(&folder, &mut files);
    let mut seen = 0;
    for path in files {
        let kind = io::Format::of(&path).map(|(f, _)| f.ending());
        if !READERS.iter().any(|&(name, _)| Some(name) == kind) {
            continue;
        }
        seen += 1;
        let what = path.display().to_string();
        match io::read(&path, &ReadOptions::default()) {
            Ok(loaded) => check(&what, Ok(loaded.asset)),
            Err(ReadError::Malformed { source, .. }) => check(&what, Err(source)),
            Err(other) => panic!("{what}: {other}"),
        }
    }
    assert!(seen > 60, "only {seen} files");
}

/// A small valid file of each kind.
fn samples() -> Vec<(&'static str, Read, Vec<u8>)> {
    let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
    let mut mesh = TriMesh::new(positions, triangles);
    mesh.attributes.set("heat", supple::mesh::Values::Scalar(vec![5.0, 6.0, 7.0, 8.0]));
    let mut written = [(); 4].map(|()| Vec::new());
    obj::write(&mesh, &mut written[0]).expect("memory takes all");
    ply::write(&mesh, &mut written[1]).expect("memory takes all");
    stl::write(&mesh, &mut written[2]).expect("memory takes all");
    off::write(&mesh, &mut written[3]).expect("memory takes all");
    let [obj_file, ply_file, stl_file, off_file] = written;
    let ply_text = b"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
        property float z\nelement face 1\nproperty list uchar int vertex_indices\n\
        property list uchar float texcoord\nend_header\n0 0 0\n1 0 0\n0 1 0\n\
        3 0 1 2 6 0 0 1 0 0 1\n";
    let stl_text = b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n\
        vertex 0 1 0\nendloop\nendfacet\nendsolid a\n";
    let vtk_text = b"# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n\
        0 0 0 1 0 0 0 1 0\nPOLYGONS 1 4\n3 0 1 2\nPOINT_DATA 3\nSCALARS heat float 1\n\
        LOOKUP_TABLE default\n1 2 3\nFIELD f 1\nflow 3 3 double\n1 2 3 4 5 6 7 8 9\n";
    let mut vtk_binary =
        b"# vtk DataFile Version 3.0\nt\nBINARY\nDATASET POLYDATA\nPOINTS 3 float\n".to_vec();
    for x in [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0] {
        vtk_binary.extend(x.to_be_bytes());
    }
    vtk_binary.extend(b"\nPOLYGONS 1 4\n");
    for i in [3_i32, 0, 1, 2] {
        vtk_binary.extend(i.to_be_bytes());
    }
    vec![
        ("obj", obj::read, obj_file),
        ("ply", ply::read, ply_file),
        ("ply text", ply::read, ply_text.to_vec()),
        ("stl", stl::read, stl_file),
        ("stl text", stl::read, stl_text.to_vec()),
        ("off", off::read, off_file),
        ("vtk", vtk::read, vtk_text.to_vec()),
        ("vtk binary", vtk::read, vtk_binary),
    ]
}

#[test]
fn the_samples_are_valid() {
    for (name, read, bytes) in samples() {
        let asset = read(&bytes, &mut Vec::new()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(asset.meshes.len(), 1, "{name}");
    }
}

#[test]
fn files_cut_off_anywhere_do_no_harm() {
    for (name, read, bytes) in samples() {
        for length in 0..bytes.len() {
            check(&format!("{name}, {length} bytes"), read(&bytes[..length], &mut Vec::new()));
        }
    }
}

/// A step of a linear congruential generator.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

#[test]
fn files_with_changed_bytes_do_no_harm() {
    let mut state = 7;
    for (name, read, bytes) in samples() {
        for round in 0..3000 {
            let mut broken = bytes.clone();
            for _ in 0..=round % 4 {
                let at = next(&mut state) % broken.len();
                broken[at] = match next(&mut state) % 4 {
                    0 => b'0' + (next(&mut state) % 10) as u8,
                    1 => b" \n-./e#\\"[next(&mut state) % 8],
                    2 => 0xff,
                    _ => next(&mut state) as u8,
                };
            }
            check(&format!("{name}, round {round}"), read(&broken, &mut Vec::new()));
        }
    }
}

#[test]
fn every_reader_refuses_every_other_kind_of_file_without_harm() {
    for (name, _, bytes) in samples() {
        for (reader, read) in READERS {
            check(&format!("{name} as {reader}"), read(&bytes, &mut Vec::new()));
        }
    }
    for junk in [&b""[..], b"\n", b"\0", b"ply", b"OFF", b"solid", b"\xff\xfe\0\0", &[0; 84]] {
        for (reader, read) in READERS {
            let error = read(junk, &mut Vec::new()).expect_err(reader);
            assert!(!error.fix.is_empty(), "{error}");
        }
    }
}

fn refuse(read: Read, bytes: &[u8]) -> Malformed {
    read(bytes, &mut Vec::new()).expect_err("should be refused")
}

#[test]
fn counts_of_billions_in_small_files_are_refused() {
    let ply = |vertices: &str, list: &str| {
        format!(
            "ply\nformat binary_little_endian 1.0\nelement vertex {vertices}\nproperty float x\n\
             property float y\nproperty float z\nelement face {list}\n\
             property list uint int vertex_indices\nend_header\n"
        )
    };
    let mut long_list = ply("0", "1").into_bytes();
    long_list.extend(u32::MAX.to_le_bytes());
    let huge = [
        (ply::read as Read, ply("4000000000", "0").into_bytes()),
        (ply::read, ply("0", "4000000000").into_bytes()),
        (ply::read, ply("18446744073709551615", "0").into_bytes()),
        (ply::read, long_list),
        (ply::read, b"ply\nformat ascii 1.0\nelement a 4000000000\nend_header\n".to_vec()),
        (off::read, b"OFF\n4000000000 1 0\n0 0 0\n".to_vec()),
        (off::read, b"OFF\n1 4000000000 0\n0 0 0\n".to_vec()),
        (off::read, b"OFF\n1 1 0\n0 0 0\n4000000000 0 0\n".to_vec()),
        (stl::read, [&[0; 80][..], &u32::MAX.to_le_bytes(), &[0; 50]].concat()),
        (vtk::read, b"# vtk DataFile Version 3.0\nt\nBINARY\nDATASET POLYDATA\nPOINTS 4000000000 float\n".to_vec()),
        (vtk::read, b"# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOLYGONS 4000000000 9000000000\n3".to_vec()),
        (vtk::read, b"# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nFIELD f 4000000000\n".to_vec()),
    ];
    for (read, bytes) in huge {
        let error = refuse(read, &bytes);
        assert!(!error.fix.is_empty(), "{error}");
    }
}

#[test]
fn vertices_that_are_not_finite_are_refused_with_their_place() {
    let error = refuse(obj::read, b"v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n");
    assert_eq!(error.place, Place::Line(2), "{error}");
    assert!(error.what.contains("vertex 2"), "{error}");
    let error = refuse(obj::read, b"v 0 0 1e39\n");
    assert_eq!(error.place, Place::Line(1), "{error}");
    let error = refuse(off::read, b"OFF\n3 1 0\n0 0 0\n0 inf 0\n1 1 0\n3 0 1 2\n");
    assert_eq!(error.place, Place::Line(4), "{error}");
    for (name, read, bytes) in samples() {
        let one = if name == "vtk binary" { 1_f32.to_be_bytes() } else { 1_f32.to_le_bytes() };
        if !["ply", "stl", "vtk binary"].contains(&name) {
            continue;
        }
        let nan =
            if name == "vtk binary" { f32::NAN.to_be_bytes() } else { f32::NAN.to_le_bytes() };
        // The last 1.0 of an STL is a corner; the first of the others a coordinate.
        let mut ones = (0..bytes.len() - 4).filter(|&at| bytes[at..at + 4] == one);
        let at = if name == "stl" { ones.next_back() } else { ones.next() }.unwrap();
        let mut broken = bytes.clone();
        broken[at..at + 4].copy_from_slice(&nan);
        let error = refuse(read, &broken);
        assert!(error.what.contains("not finite"), "{name}: {error}");
        assert!(matches!(error.place, Place::Byte(_)), "{name}: {error}");
    }
}

#[test]
fn indices_out_of_range_are_refused_with_their_place() {
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    for (face, said) in
        [("f 1 2 4", "vertex 4"), ("f 0 1 2", "vertex 0"), ("f -4 1 2", "vertex -4")]
    {
        let error = refuse(obj::read, format!("{triangle}{face}\n").as_bytes());
        assert_eq!(error.place, Place::Line(4), "{error}");
        assert!(error.what.contains(said), "{error}");
    }
    let error = refuse(off::read, b"OFF\n3 1 0\n0 0 0\n0 1 0\n1 1 0\n3 0 1 3\n");
    assert_eq!(error.place, Place::Line(6), "{error}");
    let header = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
                  property float z\nelement face 1\nproperty list uchar int vertex_index\nend_header\n";
    let error = refuse(ply::read, format!("{header}0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n").as_bytes());
    assert!(error.what.contains("vertex 3"), "{error}");
    let error = refuse(ply::read, format!("{header}0 0 0\n1 0 0\n0 1 0\n3 0 1 -3\n").as_bytes());
    assert_eq!(error.place, Place::Line(13), "{error}");
}

#[test]
fn words_that_are_no_numbers_are_named_with_their_line() {
    let error = refuse(obj::read, b"v 0 0 0\nv 1 x2 0\n");
    assert_eq!(error.to_string(), "line 2: 'x2' is not a number (correct or remove the line)");
    let error = refuse(obj::read, b"v 0 0 0\nf 1/1/1/1 1 1\n");
    assert_eq!(error.place, Place::Line(2), "{error}");
}

#[test]
fn triangles_without_area_are_kept_and_counted() {
    let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 2 0 0\nf 1 2 3\nf 1 2 4\nf 1 1 2\n";
    let mut warnings = Vec::new();
    let asset = obj::read(text, &mut warnings).unwrap();
    assert_eq!(asset.meshes[0].triangles.len(), 3);
    assert!(
        warnings.iter().any(|w| w.what.starts_with("2 triangles have no area")),
        "{warnings:?}"
    );
}

#[test]
fn texture_coordinates_that_are_missing_do_not_cost_the_surface() {
    let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0.5 0.5\nvn 0 0 1\nf 1/1/1 2/7/9 3//1\n";
    let mut warnings = Vec::new();
    let mesh = &obj::read(text, &mut warnings).unwrap().meshes[0];
    assert_eq!(mesh.corners.len(), 2);
    assert_eq!(mesh.validate(), Ok(()));
    assert_eq!(warnings.len(), 2, "{warnings:?}");
}

#[test]
fn datasets_that_are_not_polydata_are_refused_with_advice() {
    let text = b"# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n";
    let error = refuse(vtk::read, text);
    assert!(error.what.contains("UNSTRUCTURED_GRID") && error.fix.contains("polydata"), "{error}");
    let error = refuse(off::read, b"OFF BINARY\n\0\0\0\x03");
    assert!(error.what.contains("binary OFF"), "{error}");
}

#[test]
fn a_list_long_enough_for_one_face_is_not_given_to_all() {
    let mut bytes = b"ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\n\
        property float y\nproperty float z\nelement face 20001\nproperty list uchar uchar vertex_indices\n\
        property list uint float corner_x\nend_header\n"
        .to_vec();
    bytes.extend([0; 12]);
    bytes.extend([3, 0, 0, 0]);
    bytes.extend(60_000_u32.to_le_bytes());
    bytes.extend(vec![0; 240_000]);
    for _ in 0..20_000 {
        bytes.extend([3, 0, 0, 0, 0, 0, 0, 0]);
    }
    let mesh = &ply::read(&bytes, &mut Vec::new()).unwrap().meshes[0];
    assert_eq!((mesh.triangles.len(), mesh.corners.len()), (20_001, 0));
}

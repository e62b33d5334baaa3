//! Round trips, mended and hostile files.

use glam::{Vec3, Vec4};

use super::*;
use crate::mesh::Values;

/// A bar of five tets a cube, with values of every width.
fn body() -> TetMesh {
    let corner = |i: u32| Vec3::new((i >> 2) as f32, (i & 1) as f32 * 0.1, (i >> 1 & 1) as f32);
    let cube = |x: u32| {
        let tets = [[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]];
        tets.map(|tet| tet.map(|v| v + 4 * x))
    };
    let mut mesh = TetMesh::new((0..16).map(corner).collect(), (0..3).flat_map(cube).collect());
    mesh.orient();
    let scalar = |i: u32| 0.1 * i as f32;
    mesh.attributes.set("a phase", Values::Scalar((0..16).map(scalar).collect()));
    mesh.attributes.set("fiber", Values::Vec3((0..16).map(|i| corner(i) / 3.0).collect()));
    mesh.attributes.set("four", Values::Vec4((0..16).map(|i| Vec4::splat(scalar(i))).collect()));
    mesh
}

#[test]
fn gmsh_files_come_back_as_they_were() {
    for version in [gmsh::Version::V22, gmsh::Version::V41] {
        for encoding in [gmsh::Encoding::Text, gmsh::Encoding::Binary] {
            let mut file = Vec::new();
            gmsh::write(&body(), version, encoding, &mut file).unwrap();
            let mut warnings = Vec::new();
            let back = gmsh::read(&file, &mut warnings).unwrap();
            assert_eq!((back, warnings.len()), (body(), 0), "{version:?} {encoding:?}");
        }
    }
}

#[test]
fn every_format_comes_back_with_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["msh", "mesh", "node", "ele", "vtk", "vtu", "MSH"] {
        let path = folder.path().join(format!("bar.{ending}"));
        write_tets(&path, &body()).unwrap();
        let LoadedTets { mesh, warnings } = read_tets(&path).unwrap();
        assert_eq!(mesh.positions, body().positions, "{ending}");
        assert_eq!(mesh.tets, body().tets, "{ending}");
        assert_eq!((mesh.name.as_str(), warnings.len()), ("bar", 0), "{ending}: {warnings:?}");
        assert!(is_tets(&path), "{ending}");
        match ending {
            "mesh" => assert!(mesh.attributes.iter().next().is_none(), "no place for them"),
            "node" | "ele" => assert_eq!(mesh.attributes.iter().count(), 8, "one a number"),
            _ => assert_eq!(mesh.attributes, body().attributes, "{ending}"),
        }
    }
    assert!(matches!(read_tets(Path::new("x.obj")), Err(ReadError::UnknownFormat { .. })), "obj");
    let gz = folder.path().join("bar.msh.gz");
    assert!(matches!(write_tets(&gz, &body()), Err(WriteError::UnknownFormat { .. })), "gz");
    let lonely = folder.path().join("lonely.node");
    std::fs::write(&lonely, "4 3 0 0\n").unwrap();
    let why = read_tets(&lonely).unwrap_err().to_string();
    assert!(why.contains("lonely.ele"), "{why}");
}

#[test]
fn a_file_of_version_one_and_numbers_with_gaps() {
    let text = "$NOD\n5\n7 0 0 0\n3 1 0 0\n20 0 1 0\n4 0 0 1\n9 5 5 5\n$ENDNOD\n\
                $ELM\n2\n1 2 1 1 3 7 3 20\n2 4 1 1 4 7 3 20 4\n$ENDELM\n";
    let mut warnings = Vec::new();
    let mesh = gmsh::read(text.as_bytes(), &mut warnings).unwrap();
    assert_eq!((mesh.positions.len(), mesh.tets), (4, vec![[0, 1, 2, 3]]));
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

#[test]
fn what_is_mended_is_said() {
    let mut mesh = body();
    mesh.tets[1].swap(0, 1);
    mesh.tets.push([0, 1, 2, 3]);
    mesh.positions.push(Vec3::splat(9.0));
    for (_, values) in mesh.attributes.values_mut() {
        let mut floats = values.as_floats().to_vec();
        floats.extend(vec![f32::NAN; values.width()]);
        *values = Values::from_floats(values.width(), floats).unwrap();
    }
    let mut file = Vec::new();
    let (version, encoding) = (gmsh::Version::V41, gmsh::Encoding::Text);
    gmsh::write(&mesh, version, encoding, &mut file).unwrap();
    let mut warnings = Vec::new();
    let back = gmsh::read(&file, &mut warnings).unwrap();
    let said: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    let expected = [
        "1 tet is flat; it is left out",
        "1 tet was inside out; it is turned",
        "1 vertex is in no tet; it is left out",
    ];
    assert_eq!(said, expected);
    assert_eq!(back.tets.len(), 15);
    assert_eq!(back.attributes, body().attributes, "values follow their vertices");
}

#[test]
fn nonsense_is_refused_in_a_sentence() {
    let mut warnings = Vec::new();
    let mut gmsh = |text: &str| gmsh::read(text.as_bytes(), &mut warnings).unwrap_err().to_string();
    let head = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
    let nodes = "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n";
    assert!(gmsh("").contains("no tet"), "{}", gmsh(""));
    assert!(gmsh("solid").contains("start of a section"), "{}", gmsh("solid"));
    let old = gmsh("$MeshFormat\n4 0 8\n$EndMeshFormat\n");
    assert!(old.contains("msh41"), "{old}");
    let many = gmsh(&format!("{head}$Nodes\n99999999999\n1 0 0 0\n$EndNodes\n"));
    assert!(many.contains("99999999999 entries"), "{many}");
    let twice = gmsh(&format!("{head}$Nodes\n2\n1 0 0 0\n1 0 0 1\n$EndNodes\n"));
    assert!(twice.contains("two nodes 1") && twice.contains("line"), "{twice}");
    let gone = gmsh(&format!("{head}{nodes}$Elements\n1\n1 4 2 1 1 1 2 3 8\n$EndElements\n"));
    assert!(gone.contains("node 8"), "{gone}");
    let flat = nodes.replace("0 0 1", "1 1 0");
    let flat = gmsh(&format!("{head}{flat}$Elements\n1\n1 4 2 1 1 1 2 3 4\n$EndElements\n"));
    assert!(flat.contains("flat"), "{flat}");
    let nan = nodes.replace("0 0 1", "0 nan 1");
    let nan = gmsh(&format!("{head}{nan}$Elements\n1\n1 4 2 1 1 1 2 3 4\n$EndElements\n"));
    assert!(nan.contains("not finite"), "{nan}");
    let mut warnings = Vec::new();
    let mut medit =
        |text: &str| medit::read(text.as_bytes(), &mut warnings).unwrap_err().to_string();
    assert!(medit("Dimension 2\n").contains("2 dimensions"), "flat");
    assert!(medit("Vertices\n8000000000\n").contains("8000000000"), "count");
    assert!(
        medit("Vertices\n1\n0 0 0 0\nTetrahedra\n1\n1 1 1 2 0\n").contains("vertex 2"),
        "index"
    );
    let tetgen = |node: &str, ele: &str| {
        tetgen::read(node.as_bytes(), ele.as_bytes(), &mut Vec::new()).unwrap_err().to_string()
    };
    let why = tetgen("1 3 0 0\n0 0 0 0\n", "1 4 0\n0 0 0 0 1\n");
    assert!(why.contains(".ele file") && why.contains("vertex 1"), "{why}");
    assert!(tetgen("9999999 3 0 0\n", "").contains("9999999"), "count");
    assert!(tetgen("1 3 0 0\n5 0 0 0\n", "").contains("in a row"), "numbers");
}

/// Files cut off anywhere, and with any byte changed, are refused or sound.
#[test]
fn damaged_files_are_refused_or_sound() {
    let mut files: Vec<Vec<u8>> = Vec::new();
    for version in [gmsh::Version::V22, gmsh::Version::V41] {
        for encoding in [gmsh::Encoding::Text, gmsh::Encoding::Binary] {
            let mut file = Vec::new();
            gmsh::write(&body(), version, encoding, &mut file).unwrap();
            files.push(file);
        }
    }
    let mut text = Vec::new();
    medit::write(&body(), &mut text).unwrap();
    files.push(text);
    let mut text = Vec::new();
    vtk_tets::write_legacy(&body(), &mut text).unwrap();
    files.push(text);
    let read = |bytes: &[u8]| {
        let all = [
            gmsh::read(bytes, &mut Vec::new()),
            medit::read(bytes, &mut Vec::new()),
            vtk_tets::read(bytes, &mut Vec::new()),
            tetgen::read(bytes, bytes, &mut Vec::new()),
        ];
        for mesh in all.into_iter().flatten() {
            assert!((0..mesh.tets.len()).all(|t| mesh.volume_of(t) > 0.0), "sound");
            assert!(
                mesh.attributes.iter().all(|a| a.values.len() == mesh.positions.len()),
                "sound"
            );
        }
    };
    for file in files {
        for end in (0..file.len()).step_by(7) {
            read(&file[..end]);
        }
        for at in (0..file.len()).step_by(3) {
            let mut changed = file.clone();
            changed[at] = changed[at].wrapping_add(1 + (at % 250) as u8);
            read(&changed);
        }
    }
}

#[test]
fn slivers_without_volume_are_left_out() {
    // −1/6 in this order of corners; rounded away once it is turned.
    let text = |x: &str| {
        format!(
            "MeshVersionFormatted 1\nDimension 3\nVertices\n5\n0 0 0 0\n1 {x} 0 0\n0 1 0 0\n0 0 -1 0\n0 0 1 0\n\
             Tetrahedra\n2\n1 2 3 4 0\n1 3 5 4 0\nEnd\n"
        )
    };
    let refused = medit::read(text("1e38").as_bytes(), &mut Vec::new()).unwrap_err().to_string();
    assert!(refused.contains("all tets are flat"), "{refused}");
    let mut warnings = Vec::new();
    let sound = medit::read(text("1").as_bytes(), &mut warnings).unwrap();
    assert!((0..sound.tets.len()).all(|t| sound.volume_of(t) > 0.0), "{warnings:?}");
    // Here the sum of the products is below the rounding of each, with one sign in every order of the corners.
    let needle = "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n4 0 0 0\n90 1 9007199254740993 0\n\
                  0 0 1 0\n0 0 0 0\nTetrahedra\n1\n1 2 3 4 0\nEnd\n";
    let refused = medit::read(needle.as_bytes(), &mut Vec::new()).unwrap_err().to_string();
    assert!(refused.contains("all tets are flat"), "{refused}");
}

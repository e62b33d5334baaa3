//! The seeds of the fuzz targets, each through the reader its folder is named after.

use std::path::Path;

use supple::Asset;
use supple::flow::dataset::{Dataset, Select};
use supple::io::{
    Malformed, amira, gltf, gmsh, medit, netcdf, nrrd, obj, off, piv, ply, stl, tetgen, uri, vtk,
    vtk_xml,
};
use supple::mesh::TetMesh;
use supple::scene::{RigidPath, Scene};

const TARGETS: [&str; 17] = [
    "obj", "ply", "stl", "off", "vtk", "gltf", "scene", "path", "vtk_xml", "vtk_flow", "netcdf",
    "amira", "nrrd", "piv", "gmsh", "medit", "tetgen",
];

/// Does what the fuzz target does; the words of the refusal if the reader refuses.
fn run(target: &str, bytes: &[u8]) -> Result<(), String> {
    let warnings = &mut Vec::new();
    match target {
        "obj" => sound(obj::read(bytes, warnings)),
        "ply" => sound(ply::read(bytes, warnings)),
        "stl" => sound(stl::read(bytes, warnings)),
        "off" => sound(off::read(bytes, warnings)),
        "vtk" => sound(vtk::read(bytes, warnings)),
        "vtk_xml" => fitting(vtk_xml::read(bytes, Select::All, &vtk_xml::no_files)),
        "vtk_flow" => fitting(vtk::read_dataset(bytes, Select::All)),
        "netcdf" => fitting(netcdf::read(bytes.to_vec(), Select::All)),
        "nrrd" => fitting(nrrd::read(bytes, Select::All, &vtk_xml::no_files)),
        "piv" => fitting(piv::read(bytes, Select::All)),
        "amira" => fitting(amira::read(bytes, Select::All)),
        "gmsh" => oriented(gmsh::read(bytes, warnings)),
        "medit" => oriented(medit::read(bytes, warnings)),
        "tetgen" => {
            let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
            let ele = bytes.get(end + 1..).unwrap_or_default();
            oriented(tetgen::read(&bytes[..end], ele, warnings))
        }
        "gltf" => sound(gltf::read(bytes, &uri::no_folder, warnings)),
        "scene" => {
            let scene = Scene::parse(&String::from_utf8_lossy(bytes), None).map_err(|e| e.what)?;
            assert!(Scene::parse(&scene.to_toml(), None).is_ok(), "a scene's document is a scene");
            Ok(())
        }
        "path" => {
            let path = RigidPath::from_csv(&String::from_utf8_lossy(bytes)).map_err(|e| e.what)?;
            let (first, last) = path.span();
            assert!(path.at(0.5 * (first + last)).0.is_finite(), "a path is somewhere");
            Ok(())
        }
        _ => panic!("no reader for {target}"),
    }
}

fn oriented(result: Result<TetMesh, Malformed>) -> Result<(), String> {
    let mesh = result.map_err(|error| {
        assert!(!error.fix.is_empty(), "{error}");
        error.to_string()
    })?;
    assert!((0..mesh.tets.len()).all(|t| mesh.volume_of(t) > 0.0), "what is read is sound");
    Ok(())
}

fn fitting(result: Result<Dataset, Malformed>) -> Result<(), String> {
    let dataset = result.map_err(|error| {
        assert!(!error.fix.is_empty(), "{error}");
        error.to_string()
    })?;
    assert_eq!(dataset.validate(), Ok(()), "arrays fit their grid");
    Ok(())
}

fn sound(result: Result<Asset, Malformed>) -> Result<(), String> {
    let asset = result.map_err(|error| {
        assert!(!error.fix.is_empty(), "{error}");
        error.to_string()
    })?;
    for mesh in &asset.meshes {
        assert_eq!(mesh.validate(), Ok(()), "what is read is sound");
    }
    Ok(())
}

#[test]
fn every_seed_is_refused_or_read_soundly() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for target in TARGETS {
        let (mut accepted, mut refused) = (0, 0);
        for entry in corpora.join(target).read_dir().unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            match run(target, &bytes) {
                Ok(()) => accepted += 1,
                Err(what) => {
                    refused += 1;
                    assert!(!what.is_empty(), "{target}: a refusal says why");
                }
            }
        }
        assert!(accepted > 0 && refused > 0, "{target}: {accepted} read, {refused} refused");
    }
}

#[test]
fn every_fuzz_target_has_seeds_that_are_tested() {
    let targets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    for entry in targets.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(TARGETS.contains(&name.as_str()), "{name} is not tested");
    }
}

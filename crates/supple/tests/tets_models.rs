//! Real bodies of tets and surfaces: what their files hold, and how they are filled.

mod data;

use data::test_data;
use supple::io::{self, ReadOptions};
use supple::mesh::Values;
use supple::mesh::tetrahedralize::{fill, fill::Params};
use supple::{Run, TriMesh};

/// A file, its vertices, tets and faces of the boundary, and how many tets are inside out.
const BODIES: &[(&str, usize, usize, usize, usize)] = &[
    ("libigl_bunny.mesh", 5433, 34_055, 670, 0),
    ("libigl_hand.mesh", 7234, 29_998, 9556, 0),
    ("libigl_octopus-low.mesh", 452, 1140, 898, 0),
    ("armadillo_4k.node", 1180, 3717, 2102, 0),
    ("armadillo_4k.ele", 1180, 3717, 2102, 0),
    ("polyfem_dolphin.msh", 8111, 36_304, 10_000, 0),
    ("polyfem_octocat.msh", 6133, 21_426, 8554, 0),
    ("polyfem_22_ascii.msh", 8, 5, 12, 0),
    ("polyfem_22_binary.msh", 8, 5, 12, 0),
    ("polyfem_41_ascii.msh", 8, 5, 12, 0),
    ("polyfem_41_binary.msh", 8, 5, 12, 0),
    ("blub_fish.mesh", 1890, 6418, 2896, 0),
    ("spot_cow.mesh", 2304, 8103, 3318, 0),
    ("sofa_liver2.msh", 507, 1493, 860, 0),
    // Three of its 2,996 vertices are in no tet.
    ("sofa_raptorTetra_8418.vtu", 2993, 8418, 5750, 0),
    ("softrobots_trunk.vtk", 709, 1972, 1322, 0),
    ("heart_lv_ellipsoid_derived.vtu", 562, 2167, 808, 1065),
    ("heart_lv_ellipsoid_fenics.h5", 562, 2167, 808, 1065),
];

#[test]
fn every_body_has_the_counts_other_programs_find() {
    for &(file, vertices, tets, boundary, turned) in BODIES {
        let Some(path) = test_data(&format!("tets/{file}")) else { continue };
        let loaded = io::read_tets(&path).unwrap_or_else(|e| panic!("{e}"));
        let mesh = loaded.mesh;
        let found = (mesh.positions.len(), mesh.tets.len(), mesh.boundary().len());
        assert_eq!(found, (vertices, tets, boundary), "{file}: {:?}", loaded.warnings);
        assert!((0..mesh.tets.len()).all(|t| mesh.volume_of(t) > 0.0), "{file}: all oriented");
        let says = format!("{turned} tets were inside out");
        let said = loaded.warnings.iter().any(|w| w.what.starts_with(&says));
        assert_eq!(said, turned > 0, "{file}: {:?}", loaded.warnings);
        assert!(io::is_tets(&path), "{file} is a body");
    }
}

/// Closed models and how far from one their volume may be: what they are within.
#[test]
fn closed_models_are_filled_to_their_volume() {
    for file in ["fertility.off", "cow.obj", "spot.obj", "bunny_closed_3k.obj", "penguin.obj"] {
        let Some(path) = test_data(&format!("meshes/{file}")) else { continue };
        let loaded = io::read(&path, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let [mesh] = <[TriMesh; 1]>::try_from(loaded.asset.meshes).expect("one mesh");
        let report = fill(&mesh, &Params::default(), &Run::default()).unwrap().report;
        assert!((report.volume_ratio - 1.0).abs() < 0.003, "{file}: {report:?}");
        assert!(report.in_no_tet <= 1, "{file}: {report:?}");
    }
}

/// What another program computed on the vertices arrives by its name.
#[test]
fn a_ventricle_arrives_with_its_fibres() {
    let Some(path) = test_data("tets/heart_lv_ellipsoid_fenics.h5") else { return };
    let mesh = io::read_tets(&path).unwrap().mesh;
    let vectors = |name: &str| match mesh.attributes.get(name) {
        Some(Values::Vec3(v)) => v.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let (fiber, sheet, radial) = (vectors("fiber"), vectors("sheet"), vectors("radial"));
    let mut beside = Vec::new();
    for v in 0..mesh.positions.len() {
        let (f, s) = (fiber[v], sheet[v]);
        assert!((f.length() - 1.0).abs() < 1e-5 && f.dot(s).abs() < 1e-4, "{f} across {s}");
        // Around an ellipsoid along x the radial direction lies beside the way from the axis, but for the apex.
        let across = glam::Vec3::new(0.0, 1.0, 1.0);
        let (away, r) = (mesh.positions[v] * across, radial[v] * across);
        if away.length() > 0.1 {
            beside.push(away.cross(r).length() / (away.length() * r.length()));
        }
    }
    beside.sort_by(f32::total_cmp);
    let (median, worst) = (beside[beside.len() / 2], beside[beside.len() - 1]);
    // As h5py reads the same file, cell by cell: 0.0289 and, next to the apex, 0.4018.
    assert!((median - 0.0289).abs() < 1e-3 && (worst - 0.4018).abs() < 1e-3, "{median} {worst}");
}

#[test]
fn altered_files_of_dolfin_do_no_harm() {
    let refused = io::dolfin::read(b"solid ball".to_vec(), &mut Vec::new()).unwrap_err();
    assert!(refused.what.contains("HDF5"), "{refused:?}");
    let Some(path) = test_data("tets/heart_lv_ellipsoid_fenics.h5") else { return };
    let sound = std::fs::read(path).unwrap();
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize
    };
    for round in 0..80 {
        let mut bytes = sound.clone();
        if round % 4 == 0 {
            bytes.truncate(next() % sound.len());
        } else {
            // The structure lies in the first pages and between the arrays.
            let span = if round % 2 == 0 { 4096 } else { bytes.len() };
            (0..8).for_each(|_| bytes[next() % span] = next() as u8);
        }
        let _ = io::dolfin::read(bytes, &mut Vec::new());
    }
}

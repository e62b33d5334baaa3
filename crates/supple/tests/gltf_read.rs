//! glTF files of other programs: what they hold, and what happens when they are broken.

mod data;

use std::fs;
use std::path::{Path, PathBuf};

use data::test_data;
use supple::Asset;
use supple::io::uri::{Policy, fetcher};
use supple::io::{Malformed, Warning, gltf};
use supple::mesh::Values;
use supple::rig::{Interpolation, Track};

fn load(path: &Path) -> Result<(Asset, Vec<Warning>), Malformed> {
    let bytes = fs::read(path).expect("the file was listed");
    let mut warnings = Vec::new();
    let fetch = fetcher(path.parent().expect("a file is in a folder"), Policy::FolderOnly);
    gltf::read(&bytes, &fetch, &mut warnings).map(|asset| (asset, warnings))
}

fn gltf_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("the folder can be listed").path();
        if path.is_dir() {
            files.extend(gltf_files(&path));
        } else if path.extension().is_some_and(|e| e == "gltf" || e == "glb") {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test]
fn real_files_load() {
    let Some(folder) = test_data("gltf") else { return };
    let files = gltf_files(&folder);
    assert!(files.len() >= 11, "{files:?}");
    for file in files {
        let (asset, _) = match load(&file) {
            Ok(loaded) => loaded,
            // Draco is refused by the name of its extension, and nothing else is.
            Err(error) if error.to_string().contains("KHR_draco_mesh_compression") => continue,
            Err(error) => panic!("{}: {error}", file.display()),
        };
        let has_content = !asset.meshes.is_empty() || !asset.clips.is_empty();
        assert!(has_content, "{}: a file of clips alone has clips", file.display());
        for mesh in &asset.meshes {
            mesh.validate().unwrap();
        }
    }
}

/// Vertices, triangles, joints, clips and morph targets, as the inventory of the models says.
#[test]
fn real_files_hold_what_they_should() {
    for (name, vertices, triangles, joints, clips, morphs) in [
        ("CesiumMan/CesiumMan.glb", 3273, 4672, 19, 1, 0),
        ("Fox/Fox.glb", 1728, 576, 24, 3, 0),
        ("RiggedFigure/RiggedFigure.glb", 370, 256, 19, 1, 0),
        ("RiggedSimple/RiggedSimple.glb", 160, 188, 2, 1, 0),
        ("AnimatedMorphCube/AnimatedMorphCube.glb", 24, 12, 0, 1, 2),
        ("MorphStressTest/MorphStressTest.glb", 1528, 2412, 0, 3, 8),
        ("SimpleSkin/SimpleSkin.gltf", 10, 8, 2, 1, 0),
        ("SimpleMorph/SimpleMorph.gltf", 3, 1, 0, 1, 2),
        ("InterpolationTest/InterpolationTest.glb", 28, 14, 0, 9, 0),
        ("gltf-rs/box_sparse.glb", 8, 12, 0, 1, 1),
    ] {
        let Some(path) = test_data(&format!("gltf/{name}")) else { return };
        let (asset, _) = load(&path).unwrap();
        let sum = |f: &dyn Fn(&supple::TriMesh) -> usize| asset.meshes.iter().map(f).sum::<usize>();
        assert_eq!(sum(&|m| m.positions.len()), vertices, "{name}: vertices");
        assert_eq!(sum(&|m| m.triangles.len()), triangles, "{name}: triangles");
        let found = asset.skins.iter().map(|s| s.joints.len()).sum::<usize>();
        assert_eq!(found, joints, "{name}: joints");
        assert_eq!(asset.clips.len(), clips, "{name}: clips");
        let found = asset.meshes.iter().map(|m| m.morphs.len()).max();
        assert_eq!(found, Some(morphs), "{name}: morph targets");
    }
}

#[test]
fn a_sparse_accessor_is_patched() {
    let (Some(text), Some(binary)) =
        (test_data("gltf/gltf-rs/box_sparse.gltf"), test_data("gltf/gltf-rs/box_sparse.glb"))
    else {
        return;
    };
    let (asset, _) = load(&text).unwrap();
    assert_eq!(load(&binary).unwrap().0.meshes, asset.meshes);
    let morph = &asset.meshes[0].morphs[0];
    let moved: Vec<usize> = (0..8).filter(|&i| morph.positions[i] != glam::Vec3::ZERO).collect();
    assert!(!moved.is_empty() && moved.len() < 8, "a part of the box moves: {moved:?}");
}

#[test]
fn a_simple_skin_has_its_weights_and_bind_pose() {
    let Some(path) = test_data("gltf/SimpleSkin/SimpleSkin.gltf") else { return };
    let (asset, warnings) = load(&path).unwrap();
    assert_eq!(warnings, []);
    let skin = asset.meshes[0].skin_weights.as_ref().unwrap();
    let row = |v: usize| skin.of(v).collect::<Vec<_>>();
    assert_eq!(row(0), [(0, 1.0)]);
    assert_eq!(row(2), [(0, 0.75), (1, 0.25)]);
    assert_eq!(row(4), [(0, 0.5), (1, 0.5)]);
    assert_eq!(row(9), [(1, 1.0)]);
    let bind = asset.skins[0].inverse_bind[1];
    assert_eq!(bind.w_axis.truncate(), glam::Vec3::new(0.0, -1.0, 0.0));
    let channel = &asset.clips[0].channels[0];
    assert_eq!((channel.node, channel.times.len()), (2, 12));
    let Track::Rotation(turns) = &channel.track else { panic!("{:?}", channel.track) };
    let most = turns.iter().map(|q| q.z).fold(0.0, f32::max);
    assert_eq!(most, 0.707, "it bends by a quarter turn");
}

#[test]
fn all_interpolations_are_read() {
    let Some(path) = test_data("gltf/InterpolationTest/InterpolationTest.glb") else { return };
    let (asset, _) = load(&path).unwrap();
    for interpolation in [Interpolation::Step, Interpolation::Linear, Interpolation::CubicSpline] {
        let channels = asset.clips.iter().flat_map(|c| &c.channels);
        let found = channels.filter(|c| c.interpolation == interpolation).count();
        assert_eq!(found, 3, "{interpolation:?}: translation, rotation and scale");
    }
    for channel in asset.clips.iter().flat_map(|c| &c.channels) {
        let values = channel.track.value_count();
        let per_key = if channel.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        assert_eq!(values, per_key * channel.times.len());
    }
}

#[test]
fn textures_come_with_their_material() {
    let Some(path) = test_data("gltf/CesiumMan/CesiumMan.glb") else { return };
    let (asset, _) = load(&path).unwrap();
    assert_eq!(asset.materials[0].base_color_image, Some(0));
    assert_eq!(asset.images[0].mime, "image/jpeg");
    assert!(matches!(asset.meshes[0].attributes.get("uv"), Some(Values::Vec2(_))), "has UVs");
}

/// Broken on purpose: an error that says where, or a load; never a panic.
#[test]
fn broken_files_load_or_say_why() {
    let mut files = Vec::new();
    for folder in ["broken/gltf-validator", "broken/trimesh"] {
        files.extend(test_data(folder).map(|f| gltf_files(&f)).unwrap_or_default());
    }
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        match load(&file) {
            Ok((asset, _)) => {
                for mesh in &asset.meshes {
                    mesh.validate().unwrap();
                }
            }
            Err(error) => {
                assert!(!name.starts_with("valid"), "{}: {error}", file.display());
                assert!(!error.what.is_empty() && !error.fix.is_empty(), "{}", file.display());
            }
        }
    }
}

//! Real rigs: every skinned, morphed and animated model of the test data, posed through its clips.

mod data;

use std::path::{Path, PathBuf};

use data::test_data;
use glam::Vec3;
use supple::io::gltf;
use supple::io::uri::{Policy, fetcher};
use supple::mesh::measure::Bounds;
use supple::rig::body::Morph;
use supple::rig::{Body, Pose, Skinning};
use supple::{Asset, Run};

fn models() -> Vec<PathBuf> {
    let Some(folder) = test_data("gltf") else { return Vec::new() };
    let mut models = Vec::new();
    for folder in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        for file in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let path = file.path();
            if path.extension().is_some_and(|e| e == "glb" || e == "gltf") {
                models.push(path);
            }
        }
    }
    models.sort_unstable();
    models
}

fn load(path: &Path) -> Asset {
    let bytes = std::fs::read(path).expect("a readable file");
    let folder = path.parent().expect("a file in a folder");
    gltf::read(&bytes, &fetcher(folder, Policy::FolderOnly), &mut Vec::new()).expect("a sound file")
}

fn posed(asset: &Asset, clip: usize, secs: f32, skinning: Skinning) -> Vec<Vec3> {
    let body = Body::from_asset(asset).expect("a body");
    let mut pose = Pose::rest(asset);
    asset.clips[clip].sample(secs, &mut pose);
    body.pose(&pose, skinning, &Run::default())
}

#[test]
fn every_model_plays_every_clip_and_stays_in_one_piece() {
    for path in models() {
        let asset = load(&path);
        let body = Body::from_asset(&asset).expect("a body");
        body.mesh.validate().expect("a sound mesh");
        let rest = body.rest_mesh(&Run::default());
        rest.validate().expect("a sound rest mesh");
        let size = Bounds::of(&rest.positions).map_or(0.0, |b| b.diagonal());
        for clip in &asset.clips {
            clip.check(&asset).expect("a clip that fits");
            let (first, last) = clip.span().unwrap_or_default();
            let mut pose = Pose::rest(&asset);
            for k in 0..=4 {
                clip.sample(first + (last - first) * k as f32 / 4.0, &mut pose);
                for skinning in [Skinning::Linear, Skinning::DualQuaternion] {
                    let moved = body.pose(&pose, skinning, &Run::default());
                    let now = Bounds::of(&moved).map_or(0.0, |b| b.diagonal());
                    let name = path.display();
                    assert!(moved.iter().all(|x| x.is_finite()), "{name} {}", clip.name);
                    assert!(now < 4.0 * size + 10.0, "{name} {} {skinning:?}: {now}", clip.name);
                }
            }
        }
    }
}

/// The strip of the glTF tutorial, from its file: a quarter turn of the upper joint after one second.
#[test]
fn simple_skin_bends_by_a_quarter_turn() {
    let Some(path) = test_data("gltf/SimpleSkin/SimpleSkin.gltf") else { return };
    let asset = load(&path);
    let rest = Body::from_asset(&asset).unwrap().rest_mesh(&Run::default());
    let bent = posed(&asset, 0, 1.0, Skinning::Linear);
    for (i, x) in rest.positions.iter().enumerate().filter(|(_, x)| x.y == 0.0 || x.y == 2.0) {
        // The foot stays; the top turns about (0, 1, 0) in the plane.
        let turned = Vec3::new(1.0 - x.y, 1.0 + x.x, x.z);
        let expected = if x.y == 0.0 { *x } else { turned };
        assert!(bent[i].abs_diff_eq(expected, 1e-5), "vertex {i}: {} is not {expected}", bent[i]);
    }
}

/// At every key the tutorial's triangle is the weighted sum of its targets.
#[test]
fn simple_morph_reaches_its_targets() {
    let Some(path) = test_data("gltf/SimpleMorph/SimpleMorph.gltf") else { return };
    let asset = load(&path);
    let body = Body::from_asset(&asset).unwrap();
    let still = body.mesh.positions.clone();
    let node = body.parts[0].node as usize;
    for &time in &asset.clips[0].channels[0].times {
        let mut pose = Pose::rest(&asset);
        asset.clips[0].sample(time, &mut pose);
        let moved = posed(&asset, 0, time, Skinning::Linear);
        for (i, x) in moved.iter().enumerate() {
            let blend = |m: &Morph| m.positions[i] * pose.morph_weights[node][m.index];
            let expected = still[i] + body.morphs.iter().map(blend).sum::<Vec3>();
            assert!(x.abs_diff_eq(expected, 1e-5), "{time} s, vertex {i}: {x} is not {expected}");
        }
    }
}

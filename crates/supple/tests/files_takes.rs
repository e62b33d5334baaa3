//! Baked motions as point caches and USD layers, byte for byte where the formats say so.

use glam::Vec3;
use supple::io::{Take, gltf, mdd, pc2, uri, usd};
use supple::rig::Track;
use supple::{Asset, TriMesh};

const FRAMES: u32 = 3;

fn triangle() -> Asset {
    let mut mesh = TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]);
    mesh.name = "2 birds".to_owned();
    Asset::from_mesh(mesh)
}

/// Writes a take in which frame `i` lifts everything by `i`.
fn take(write: impl FnOnce(&mut Take<'_>, &mut Vec<u8>) -> std::io::Result<()>) -> Vec<u8> {
    let asset = triangle();
    let rest = asset.meshes[0].positions.clone();
    let mut lift = |frame: u32, positions: &mut [Vec3]| {
        for (p, r) in positions.iter_mut().zip(&rest) {
            *p = *r + frame as f32 * Vec3::Z;
        }
        Ok(())
    };
    let mut take =
        Take { asset: &asset, fps: 24.0, first_frame: 5, frames: FRAMES, positions: &mut lift };
    let mut bytes = Vec::new();
    write(&mut take, &mut bytes).expect("memory takes all");
    bytes
}

#[test]
fn pc2_has_its_header_and_every_frame() {
    let bytes = take(pc2::write);
    assert_eq!(bytes.len(), 32 + 4 * 9 * FRAMES as usize);
    assert_eq!(&bytes[..12], b"POINTCACHE2\0");
    assert_eq!(bytes[12..16], 1_i32.to_le_bytes());
    assert_eq!(bytes[16..20], 3_i32.to_le_bytes());
    assert_eq!(bytes[20..24], 5_f32.to_le_bytes());
    assert_eq!(bytes[24..28], 1_f32.to_le_bytes());
    assert_eq!(bytes[28..32], FRAMES.to_le_bytes());
    let last_z = &bytes[bytes.len() - 4..];
    assert_eq!(last_z, 2_f32.to_le_bytes(), "the last frame is lifted by two");
}

#[test]
fn mdd_has_times_and_every_frame_in_big_endian() {
    let bytes = take(mdd::write);
    assert_eq!(bytes.len(), 8 + 4 * FRAMES as usize + 4 * 9 * FRAMES as usize);
    assert_eq!(bytes[..4], FRAMES.to_be_bytes());
    assert_eq!(bytes[4..8], 3_i32.to_be_bytes());
    assert_eq!(bytes[12..16], (6.0_f32 / 24.0).to_be_bytes(), "the second frame is number 6");
    assert_eq!(bytes[bytes.len() - 4..], 2_f32.to_be_bytes());
}

#[test]
fn usd_has_samples_at_frame_numbers() {
    let text = String::from_utf8(take(usd::write_take)).unwrap();
    for line in [
        "#usda 1.0",
        "    defaultPrim = \"_2_birds\"",
        "    startTimeCode = 5",
        "    endTimeCode = 7",
        "    timeCodesPerSecond = 24",
        "    metersPerUnit = 1",
        "    upAxis = \"Y\"",
        "def Mesh \"_2_birds\"",
        "    int[] faceVertexIndices = [0, 1, 2]",
        "        6: [(0, 0, 1), (1, 0, 1), (0, 1, 1)],",
        "        7: [(0, 0, 2), (1, 1, 2)],",
    ] {
        assert!(text.lines().any(|l| l == line), "no line {line:?} in\n{text}");
    }
}

#[test]
fn an_error_of_the_player_ends_the_writing() {
    let asset = triangle();
    let mut fail = |_: u32, _: &mut [Vec3]| Err(std::io::Error::other("no such frame"));
    let mut take =
        Take { asset: &asset, fps: 24.0, first_frame: 0, frames: 2, positions: &mut fail };
    let error = pc2::write(&mut take, &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "no such frame");
    let none = Asset::default();
    let mut take =
        Take { asset: &none, fps: 24.0, first_frame: 0, frames: 0, positions: &mut fail };
    assert!(usd::write_take(&mut take, &mut Vec::new()).is_err(), "a take needs one mesh");
}

/// A grid that waves, as a GLB of so many frames.
fn waving(frames: u32) -> Vec<u8> {
    let at = |i: u32| Vec3::new((i % 5) as f32, (i / 5) as f32, 0.0);
    let quad = |i: u32| [[i, i + 1, i + 6], [i, i + 6, i + 5]];
    let cells = (0..20).filter(|i| i % 5 < 4);
    let mesh = TriMesh::new((0..25).map(at).collect(), cells.flat_map(quad).collect());
    let asset = Asset::from_mesh(mesh);
    let mut wave = |frame: u32, positions: &mut [Vec3]| {
        for (i, p) in (0..).zip(positions) {
            *p = at(i) + (0.1 * frame as f32).sin() * Vec3::Z;
        }
        Ok(())
    };
    let take = Take { asset: &asset, fps: 24.0, first_frame: 0, frames, positions: &mut wave };
    let mut bytes = Vec::new();
    gltf::write_takes(&mut [take], &mut bytes).expect("memory takes all");
    bytes
}

#[test]
fn long_takes_do_not_grow_with_the_square_of_their_frames() {
    let (short, long) = (waving(600), waving(1800));
    let growth = long.len() as f64 / short.len() as f64;
    assert!(growth < 3.2, "three times the frames are {growth} times the bytes");
    for (frames, bytes) in [(40, waving(40)), (600, short)] {
        let asset = gltf::read(&bytes, &uri::no_folder, &mut Vec::new()).expect("it can be read");
        let targets = frames - 1;
        let weights = match &asset.clips[0].channels[0].track {
            Track::Weights(weights) if frames < 257 => weights.clone(),
            // A long take stays sparse in memory, too.
            Track::SparseWeights(weights) if frames > 256 => weights.to_dense(),
            other => panic!("weights are animated, not {other:?}"),
        };
        assert_eq!(weights.len(), frames * targets);
        for (i, &weight) in weights.iter().enumerate() {
            let is_shown = i / targets == i % targets + 1;
            assert_eq!(weight, f32::from(u8::from(is_shown)), "weight {i} of {frames} frames");
        }
    }
}

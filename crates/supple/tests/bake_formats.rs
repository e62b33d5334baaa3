//! Baking to every format: what is in the files is what the player shows.

use std::fs;
use std::path::Path;

use glam::{Vec2, Vec3};
use supple::asset::UvOrigin;
use supple::bake::{Options, WRITERS, bake};
use supple::io::uri::{Policy, fetcher};
use supple::io::{self, ReadOptions, gltf};
use supple::mesh::attribute::UV;
use supple::mesh::{TriMesh, Values};
use supple::player::{Frame, Player};
use supple::rig::{Body, Pose, Skinning};
use supple::scene::{Folder, Scene};
use supple::{Asset, Run};

const SCENE: &str = r#"
supple = 1
name = "round"
[time]
frames = 7
[[asset]]
zoo = "torus"
triangles = 400
[[asset.modifier]]
kind = "place"
rotate = [0, "spin", 0]
translate = ["spin", 0, 0]
scale = [1, 0.5, 1]
[[asset.modifier]]
kind = "follow"
[[asset]]
zoo = "ball"
triangles = 80
[asset.placement]
translate = [2, 1, 0]
[track.spin]
keys = [[0, 0], [0.2, 2]]
[output]
formats = ["glb", "usda", "pc2", "mdd", "ply", "obj"]
"#;

fn read_glb(path: &Path) -> Asset {
    let bytes = fs::read(path).expect("a file");
    gltf::read(&bytes, &fetcher(Path::new("."), Policy::FolderOnly), &mut Vec::new())
        .expect("sound")
}

/// Plays a baked GLB at a frame's time and compares it, body by body.
fn assert_plays(asset: &Asset, frame: &Frame) {
    let body = Body::from_asset(asset).expect("a body");
    let mut pose = Pose::rest(asset);
    asset.clips.iter().for_each(|clip| clip.sample(frame.secs as f32, &mut pose));
    let all = body.pose(&pose, Skinning::Linear, &Run::default());
    assert_eq!(body.parts.len(), frame.bodies.len(), "a part for each body");
    for (part, expected) in body.parts.iter().zip(&frame.bodies) {
        let shown = &all[part.vertices.start as usize..part.vertices.end as usize];
        assert_eq!(shown.len(), expected.positions.len(), "{}", part.name);
        for (x, y) in shown.iter().zip(&expected.positions) {
            assert!(x.abs_diff_eq(*y, 1e-5), "{} at {} s: {x} is not {y}", part.name, frame.secs);
        }
    }
}

#[test]
fn every_format_holds_the_frames() {
    let output = tempfile::tempdir().unwrap();
    let folder = Folder::new(output.path());
    let scene = Scene::parse(SCENE, Some(&folder)).unwrap();
    let run = Run::default();
    let (mut player, warnings) = Player::open(&scene, &folder, &run).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let baked = bake(&mut player, output.path(), &Options::default(), &WRITERS, &run).unwrap();
    assert_eq!(baked.files.len(), 1 + 3 * 2 + 2 * 2 * 7, "{:?}", baked.files);
    let glb = read_glb(&output.path().join("round.glb"));
    for i in 0..7 {
        let frame = player.frame(i, &run).unwrap();
        assert_plays(&glb, &frame);
        for (name, body) in ["torus", "ball"].iter().zip(&frame.bodies) {
            let path = output.path().join(format!("round.{name}.{i:04}.ply"));
            let ply = io::read(&path, &ReadOptions::default()).unwrap().asset;
            assert_eq!(ply.meshes[0].positions, body.positions, "{}", path.display());
            let obj = io::read(&path.with_extension("obj"), &ReadOptions::default()).unwrap().asset;
            assert_eq!(obj.meshes[0].positions.len(), body.positions.len());
        }
    }
    let vertices = player.cast()[0].body.mesh.positions.len() as u64;
    let length = |name: &str| fs::metadata(output.path().join(name)).unwrap().len();
    assert_eq!(length("round.torus.pc2"), 32 + 7 * 12 * vertices);
    assert_eq!(length("round.torus.mdd"), 8 + 7 * 4 + 7 * 12 * vertices);
}

/// Players count texture coordinates from the top; USD, PLY and OBJ from the bottom.
#[test]
fn baked_texture_coordinates_count_as_each_format_does() {
    let output = tempfile::tempdir().unwrap();
    let mut mesh = TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]);
    let uvs = [0.0, 0.25, 0.75].map(|v| Vec2::new(0.5, v));
    mesh.attributes.set(UV, Values::Vec2(uvs.to_vec()));
    let bottom = Asset { uv_origin: UvOrigin::Bottom, ..Asset::from_mesh(mesh) };
    io::write(&output.path().join("card.ply"), &bottom).unwrap();
    let folder = Folder::new(output.path());
    let text = "supple = 1\nname = \"card\"\n[time]\nframes = 1\n[[asset]]\nfile = \"card.ply\"\n\
                [output]\nformats = [\"glb\", \"usda\", \"ply\", \"obj\"]\n";
    let scene = Scene::parse(text, Some(&folder)).unwrap();
    let run = Run::default();
    let (mut player, _) = Player::open(&scene, &folder, &run).unwrap();
    let flipped = Values::Vec2(uvs.map(|uv| Vec2::new(uv.x, 1.0 - uv.y)).to_vec());
    assert_eq!(player.cast()[0].body.mesh.attributes.get(UV), Some(&flipped));
    bake(&mut player, output.path(), &Options::default(), &WRITERS, &run).unwrap();
    assert_eq!(
        read_glb(&output.path().join("card.glb")).meshes[0].attributes.get(UV),
        Some(&flipped)
    );
    for name in ["card.0000.ply", "card.0000.obj"] {
        let copy = io::read(&output.path().join(name), &ReadOptions::default()).unwrap().asset;
        assert_eq!(copy.meshes[0].attributes.get(UV), Some(&Values::Vec2(uvs.to_vec())), "{name}");
    }
    let usd = fs::read_to_string(output.path().join("card.usda")).unwrap();
    assert!(usd.contains("primvars:st = [(0.5, 0), (0.5, 0.25), (0.5, 0.75)]"), "{usd}");
}

#[test]
fn unknown_models_are_named_with_their_line() {
    let text = SCENE.replace("zoo = \"torus\"", "zoo = \"boxxer\"");
    let problem = Scene::parse(&text, Some(&Folder::new(".".as_ref()))).unwrap_err();
    assert_eq!(problem.line, 7, "{problem}");
    assert!(problem.fix.contains("did you mean 'boxer'?"), "{problem}");
}

//! A small stage for player and bake tests: a scene with every motion and modifier, in memory.

use glam::{Mat4, Quat, Vec3};
use supple::mesh::{MorphTarget, SkinWeights};
use supple::player::{Player, PlayerError};
use supple::rig::{Channel, Clip, Interpolation, Node, Skin, Track, Transform};
use supple::scene::{Folder, Scene, Source};
use supple::{Asset, Run, TriMesh};

/// Three bodies: one skinned, morphed and trailing, one on a path, one still.
pub(crate) const SCENE: &str = r#"
supple = 1
name = "stage"

[time]
end = "1 s"
fps = 24

[[asset]]
zoo = "bar"
[asset.placement]
translate = [1, 0, 0]
[asset.motion]
kind = "keyframes"
clip = "bend"
skinning = "dual-quaternion"
repeat = "ping-pong"
[[asset.modifier]]
kind = "place"
translate = ["shove", 0, 0]
rotate = [0, 30, 0]
[[asset.modifier]]
kind = "follow"
frequency = 3
damping = 0.2
gravity = [0, -9.81, 0]
[[asset.modifier]]
kind = "morph"
weights = { fat = "shove" }

[[asset]]
name = "thrown"
zoo = "box"
[asset.motion]
kind = "path"
keys = [
  { time = 0, position = [0, 0, 0] },
  { time = 0.6, position = [0, 2, 1], rotation = [0, 90, 0] },
  { time = 1, position = [0, 0, 3], rotation = [0, 170, 0] },
]
[[asset.modifier]]
kind = "follow"

[[asset]]
name = "floor"
zoo = "box"

[track.shove]
interpolation = "step"
keys = [[0, 0], [0.26, 1]]
"#;

/// The unit cube.
pub(crate) fn cube() -> TriMesh {
    let corner = |i: u32| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32);
    let quads =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let halves = |q: [u32; 4]| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]];
    TriMesh::new((0..8).map(corner).collect(), quads.into_iter().flat_map(halves).collect())
}

/// A bar of stacked rings along y, with two joints, a clip `bend` and a morph target `fat`.
fn bar(rings: u32) -> Asset {
    let mut mesh = TriMesh::default();
    let mut weights = SkinWeights::default();
    let mut fat = MorphTarget { name: "fat".to_owned(), ..MorphTarget::default() };
    for ring in 0..rings {
        let y = 2.0 * ring as f32 / (rings - 1) as f32;
        for (x, z) in [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)] {
            mesh.positions.push(Vec3::new(x, y, z));
            fat.positions.push(0.3 * Vec3::new(x - 0.5, 0.0, z - 0.5));
            weights.push([(0, 1.0 - 0.5 * y), (1, 0.5 * y)]);
        }
    }
    for ring in 0..rings - 1 {
        for k in 0..4 {
            let (a, b) = (4 * ring + k, 4 * ring + (k + 1) % 4);
            mesh.triangles.extend([[a, a + 4, b + 4], [a, b + 4, b]]);
        }
    }
    let top = 4 * (rings - 1);
    mesh.triangles.extend([[0, 1, 2], [0, 2, 3], [top, top + 2, top + 1], [top, top + 3, top + 2]]);
    mesh.skin_weights = Some(weights);
    mesh.morphs = vec![fat];
    let bend = Channel {
        node: 1,
        times: vec![0.0, 0.3, 0.7],
        track: Track::Rotation([0.0, 0.9, -0.4].map(Quat::from_rotation_x).to_vec()),
        interpolation: Interpolation::Linear,
    };
    Asset {
        meshes: vec![mesh],
        nodes: vec![
            Node { name: "root".to_owned(), ..Node::default() },
            Node {
                parent: Some(0),
                local: Transform::from_translation(Vec3::Y),
                ..Node::default()
            },
            Node { mesh: Some(0), skin: Some(0), ..Node::default() },
        ],
        skins: vec![Skin {
            joints: vec![0, 1],
            inverse_bind: vec![Mat4::IDENTITY, Mat4::from_translation(-Vec3::Y)],
            ..Skin::default()
        }],
        clips: vec![Clip { name: "bend".to_owned(), channels: vec![bend] }],
        ..Asset::default()
    }
}

/// The assets the scene names.
pub(crate) fn load(source: &Source) -> Result<Asset, Box<dyn std::error::Error + Send + Sync>> {
    match source {
        Source::Zoo { zoo, .. } if zoo == "bar" => Ok(bar(400)),
        Source::Zoo { zoo, .. } if zoo == "box" => Ok(Asset::from_mesh(cube())),
        other => Err(format!("no such thing: {other:?}").into()),
    }
}

/// Parses a scene that is right.
pub(crate) fn scene(text: &str) -> Scene {
    Scene::parse(text, None).unwrap_or_else(|p| panic!("{p}"))
}

/// A player of a scene.
pub(crate) fn player(scene: &Scene) -> Result<Player, PlayerError> {
    Player::new(scene, &Folder::new(".".as_ref()), &mut load, &Run::default())
}

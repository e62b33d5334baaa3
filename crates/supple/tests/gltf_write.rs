//! glTF files written here: read back the same, and what a motion looks like in them.

mod data;

use data::test_data;
use glam::{Mat4, Quat, Vec2, Vec3, Vec4};
use supple::asset::{Alpha, Camera, Image, Lens, Material, UvOrigin};
use supple::io::uri::{Policy, fetcher, no_folder};
use supple::io::{Take, gltf};
use supple::mesh::{CornerAttribute, Group, MorphTarget, PointCloud, SkinWeights, Values};
use supple::rig::{Channel, Clip, Interpolation, Node, Skin, Track, Transform};
use supple::{Asset, TriMesh};

fn glb(asset: &Asset) -> Vec<u8> {
    let mut bytes = Vec::new();
    gltf::write_glb(asset, &mut bytes).expect("the asset is consistent");
    bytes
}

fn read(bytes: &[u8]) -> Asset {
    let mut warnings = Vec::new();
    let asset = gltf::read(bytes, &no_folder, &mut warnings).expect("the file is whole");
    assert_eq!(warnings, [], "nothing to warn of");
    asset
}

/// A body with something of everything.
fn specimen() -> Asset {
    let positions: Vec<Vec3> = (0..6)
        .map(|i| Vec3::new(0.1 * i as f32, (i % 2) as f32, -0.3 / (1.0 + i as f32)))
        .collect();
    let mut mesh = TriMesh::new(positions, vec![[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 5]]);
    mesh.name = "specimen \"1\"".to_owned();
    mesh.attributes.set("normal", Values::Vec3(vec![Vec3::Y; 6]));
    mesh.attributes.set("uv", Values::Vec2((0..6).map(|i| Vec2::splat(0.1 * i as f32)).collect()));
    mesh.attributes.set("color", Values::Vec4(vec![Vec4::new(0.1, 0.2, 0.3, 1.0); 6]));
    mesh.attributes
        .set("stiffness", Values::Scalar((0..6).map(|i| 1.0 / 3.0 * i as f32).collect()));
    mesh.attributes.set("flow", Values::Vec3(vec![Vec3::new(1e-30, -2.0, 3e20); 6]));
    mesh.groups = vec![
        Group { triangles: 0..1, material: Some(1), ..Group::default() },
        Group { triangles: 1..4, material: Some(0), ..Group::default() },
    ];
    let mut skin = SkinWeights::default();
    for v in 0..6 {
        // Up to six influences: more than one set.
        let n = v + 1;
        skin.push((0..n).map(|j| (j as u16, 1.0 / n as f32)));
    }
    mesh.skin_weights = Some(skin);
    mesh.morphs.push(MorphTarget {
        name: "smile".to_owned(),
        positions: vec![Vec3::new(0.0, 0.1, 0.7); 6],
        normals: Some(vec![Vec3::new(0.0, -0.1, 0.0); 6]),
        weight: 0.25,
    });
    mesh.morphs.push(MorphTarget {
        name: "frown".to_owned(),
        positions: vec![Vec3::new(0.0, -0.1, 0.7); 6],
        normals: None,
        weight: 0.0,
    });
    Asset {
        meshes: vec![mesh],
        clouds: vec![PointCloud {
            name: "dust".into(),
            positions: vec![Vec3::X, Vec3::Y],
            ..Default::default()
        }],
        nodes: specimen_nodes(),
        skins: vec![Skin {
            name: "rig".to_owned(),
            joints: (1..7).collect(),
            inverse_bind: (0..6).map(|i| Mat4::from_translation(-Vec3::Y * i as f32)).collect(),
            root: Some(1),
        }],
        cameras: vec![
            Camera { name: "front".into(), node: 2, lens: Lens::Perspective { fov_y: 0.6 } },
            Camera { name: String::new(), node: 3, lens: Lens::Orthographic { height: 2.5 } },
        ],
        clips: vec![specimen_clip()],
        materials: vec![
            Material { name: "skin".into(), base_color_image: Some(0), ..Material::default() },
            Material {
                base_color: [0.5, 0.25, 1.0, 0.5],
                metallic: 1.0,
                roughness: 0.3,
                alpha: Alpha::Mask(0.25),
                double_sided: true,
                ..Material::default()
            },
        ],
        images: vec![Image {
            name: "picture".to_owned(),
            mime: "image/png".to_owned(),
            bytes: b"\x89PNG\r\n\x1a\nnot much of a picture".to_vec(),
        }],
        uv_origin: UvOrigin::Top,
    }
}

fn specimen_nodes() -> Vec<Node> {
    let mut nodes = vec![Node {
        name: "body".to_owned(),
        mesh: Some(0),
        skin: Some(0),
        morph_weights: vec![0.5, 0.125],
        ..Node::default()
    }];
    for i in 0..6_u32 {
        nodes.push(Node {
            name: format!("joint {i}"),
            parent: i.checked_sub(1).map(|p| p + 1),
            local: Transform::Trs {
                translation: Vec3::Y,
                rotation: Quat::from_rotation_x(0.1 * i as f32),
                scale: Vec3::ONE,
            },
            ..Node::default()
        });
    }
    let matrix = Mat4::from_scale_rotation_translation(
        Vec3::splat(2.0),
        Quat::from_rotation_z(0.3),
        Vec3::X,
    );
    nodes.push(Node { local: Transform::Matrix(matrix), ..Node::default() });
    nodes
}

fn specimen_clip() -> Clip {
    let times = vec![0.0, 0.5, 1.25];
    let turn = |i: usize| Quat::from_rotation_y(0.4 * i as f32);
    let channel =
        |node, track, interpolation| Channel { node, times: times.clone(), track, interpolation };
    Clip {
        name: "wave".to_owned(),
        channels: vec![
            channel(1, Track::Rotation((0..3).map(turn).collect()), Interpolation::Linear),
            channel(2, Track::Translation(vec![Vec3::X; 9]), Interpolation::CubicSpline),
            channel(
                3,
                Track::Scale(vec![Vec3::ONE, 2.0 * Vec3::ONE, Vec3::ONE]),
                Interpolation::Step,
            ),
            channel(0, Track::Weights(vec![0.0, 1.0, 0.5, 0.5, 1.0, 0.0]), Interpolation::Linear),
        ],
    }
}

/// Attributes by name: JSON objects have no order of their own.
fn sorted(mut asset: Asset) -> Asset {
    for mesh in &mut asset.meshes {
        let mut list: Vec<_> = mesh.attributes.iter().cloned().collect();
        list.sort_by(|a, b| a.name.cmp(&b.name));
        mesh.attributes = Default::default();
        for attribute in list {
            mesh.attributes.set(attribute.name, attribute.values);
        }
    }
    asset
}

#[test]
fn everything_comes_back_the_same() {
    let asset = specimen();
    let mut text = Vec::new();
    gltf::write_gltf(&asset, &mut text).unwrap();
    for bytes in [glb(&asset), text] {
        let mut back = read(&bytes);
        let cloud_node = back.nodes.pop().unwrap();
        assert_eq!(cloud_node.name, "dust");
        assert_eq!(sorted(back), sorted(asset.clone()));
    }
    assert_eq!(glb(&asset), glb(&asset), "the same bytes every time");
}

#[test]
fn files_of_other_programs_come_back_the_same() {
    for name in [
        "CesiumMan/CesiumMan.glb",
        "Fox/Fox.glb",
        "AnimatedMorphCube/AnimatedMorphCube.glb",
        "MorphStressTest/MorphStressTest.glb",
        "SimpleMorph/SimpleMorph.gltf",
        "InterpolationTest/InterpolationTest.glb",
        "gltf-rs/box_sparse.glb",
        "RobotExpressive/RobotExpressive.glb",
    ] {
        let Some(path) = test_data(&format!("gltf/{name}")) else { return };
        let bytes = std::fs::read(&path).unwrap();
        let fetch = fetcher(path.parent().unwrap(), Policy::FolderOnly);
        let asset = gltf::read(&bytes, &fetch, &mut Vec::new()).unwrap();
        let back = read(&glb(&asset));
        for (mesh, back) in asset.meshes.iter().zip(&back.meshes) {
            assert_eq!(back.positions, mesh.positions, "{name}");
            assert_eq!(back.triangles, mesh.triangles, "{name}");
            assert_eq!(back.morphs, mesh.morphs, "{name}");
            for attribute in mesh.attributes.iter().filter(|a| a.name != "normal") {
                assert_eq!(back.attributes.get(&attribute.name), Some(&attribute.values), "{name}");
            }
        }
        assert_eq!(back.nodes.len(), asset.nodes.len(), "{name}");
        assert_eq!(back.skins, asset.skins, "{name}");
        assert_eq!(back.images, asset.images, "{name}");
        assert_eq!(back.materials, asset.materials, "{name}");
        assert_eq!(back.clips.len(), asset.clips.len(), "{name}");
    }
}

#[test]
fn a_seam_doubles_vertices_at_the_end() {
    let mut mesh =
        TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE], vec![[0, 1, 2], [2, 1, 3]]);
    mesh.corners.push(CornerAttribute {
        name: "uv".to_owned(),
        values: Values::Vec2((0..6).map(|i| Vec2::splat(0.1 * i as f32)).collect()),
        triangles: vec![[0, 1, 2], [3, 4, 5]],
    });
    let back = read(&glb(&Asset::from_mesh(mesh.clone())));
    assert_eq!(back.meshes[0].positions[..4], mesh.positions[..]);
    assert_eq!(back.meshes[0].triangles, [[0, 1, 2], [4, 5, 3]]);
    assert_eq!(back.meshes[0].positions[4..], [Vec3::Y, Vec3::X]);
}

#[test]
fn a_texture_needs_coordinates() {
    let mut asset = specimen();
    asset.meshes[0].attributes.remove("uv");
    let back = read(&glb(&asset));
    let materials: Vec<_> = back.meshes[0].groups.iter().map(|g| g.material).collect();
    assert_eq!(materials, [Some(1), Some(2)], "a twin for the one with a picture");
    let plain = Material { base_color_image: None, ..asset.materials[0].clone() };
    assert_eq!(back.materials[2], plain);
}

#[test]
fn what_is_inconsistent_is_not_written() {
    let triangle = || TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]);
    let mut nan = triangle();
    nan.positions[1].y = f32::NAN;
    let mut index = triangle();
    index.triangles[0][2] = 3;
    let mut material = triangle();
    material.groups = vec![Group { triangles: 0..1, material: Some(7), ..Group::default() }];
    for mesh in [nan, index, material] {
        let error = gltf::write_glb(&Asset::from_mesh(mesh), &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{error}");
    }
}

#[test]
fn nothing_at_all_can_be_written() {
    for asset in [Asset::default(), Asset::from_mesh(TriMesh::default())] {
        let back = gltf::read(&glb(&asset), &no_folder, &mut Vec::new()).unwrap();
        assert!(back.meshes.is_empty(), "an empty mesh is left out");
    }
}

/// A tetrahedron whose tip rises by a tenth a frame.
fn rising_tip() -> Asset {
    let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let mut mesh = TriMesh::new(positions, vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]);
    mesh.name = "tip".to_owned();
    Asset::from_mesh(mesh)
}

#[test]
fn a_take_shows_every_frame_at_its_time() {
    let asset = rising_tip();
    let rest = asset.meshes[0].positions.clone();
    let mut frame = |i: u32, positions: &mut [Vec3]| {
        positions.copy_from_slice(&rest);
        positions[3].z += 0.1 * (i as f32 + 1.0);
        Ok(())
    };
    let take = Take { asset: &asset, fps: 25.0, first_frame: 10, frames: 4, positions: &mut frame };
    let mut bytes = Vec::new();
    gltf::write_takes(&mut [take], &mut bytes).unwrap();
    let baked = read(&bytes);
    let mesh = &baked.meshes[0];
    assert_eq!(mesh.positions[3].z, 1.1, "frame 0 without animation");
    assert_eq!(mesh.morphs.len(), 3);
    assert!(mesh.morphs.iter().all(|m| m.weight == 0.0), "no target at rest");
    let channel = &baked.clips[0].channels[0];
    assert_eq!(channel.interpolation, Interpolation::Linear);
    assert_eq!(channel.times, [10.0_f32 / 25.0, 11.0 / 25.0, 12.0 / 25.0, 13.0 / 25.0]);
    let Track::Weights(weights) = &channel.track else { panic!("{:?}", channel.track) };
    for (i, key) in weights.chunks(3).enumerate() {
        let blend = |v: usize| {
            let moved = mesh.morphs.iter().zip(key).map(|(m, &w)| w * m.positions[v]).sum::<Vec3>();
            mesh.positions[v] + moved
        };
        let tip = Vec3::Z * (1.0 + 0.1 * (i as f32 + 1.0));
        assert!(blend(3).abs_diff_eq(tip, 1e-6), "frame {i}: {}", blend(3));
        assert_eq!(blend(1), Vec3::X, "frame {i}");
        let normals = mesh.attributes.normals().unwrap();
        let turned = mesh.morphs.iter().zip(key);
        let normal: Vec3 =
            normals[3] + turned.map(|(m, &w)| w * m.normals.as_ref().unwrap()[3]).sum::<Vec3>();
        assert!((normal.length() - 1.0).abs() < 1e-6, "frame {i}: a unit normal");
    }
}

fn json_length(bytes: &[u8]) -> usize {
    u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]) as usize
}

/// The numbers of an accessor of vectors in a binary file.
fn vectors(bytes: &[u8], document: &serde_json::Value, accessor: &serde_json::Value) -> Vec<Vec3> {
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0) as usize;
    let accessor = &document["accessors"][number(accessor)];
    let view = &document["bufferViews"][number(&accessor["bufferView"])];
    let start =
        28 + json_length(bytes) + number(&view["byteOffset"]) + number(&accessor["byteOffset"]);
    let floats = bytes[start..start + 12 * number(&accessor["count"])].chunks(4);
    let floats: Vec<f32> = floats.map(|f| f32::from_le_bytes([f[0], f[1], f[2], f[3]])).collect();
    floats.chunks(3).map(Vec3::from_slice).collect()
}

/// A body with tangents that is turned keeps them, turned: normal maps look the same from frame to frame.
#[test]
fn tangents_turn_with_a_take() {
    let mut asset = rising_tip();
    let tangents = vec![Vec4::new(0.0, 1.0, 0.0, -1.0); 4];
    asset.meshes[0].attributes.set("tangent", Values::Vec4(tangents.clone()));
    let rest = asset.meshes[0].positions.clone();
    let turn = |frame: u32| Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.5 + frame as f32);
    let mut frame = |i: u32, positions: &mut [Vec3]| {
        positions.iter_mut().zip(&rest).for_each(|(x, rest)| *x = turn(i) * *rest);
        Ok(())
    };
    let take = Take { asset: &asset, fps: 24.0, first_frame: 0, frames: 3, positions: &mut frame };
    let mut bytes = Vec::new();
    gltf::write_takes(&mut [take], &mut bytes).unwrap();
    let mut warnings = Vec::new();
    let baked = gltf::read(&bytes, &no_folder, &mut warnings).unwrap();
    assert_eq!(warnings.len(), 1, "morphed tangents are not read: {warnings:?}");
    let Some(Values::Vec4(first)) = baked.meshes[0].attributes.get("tangent") else {
        panic!("tangents are written");
    };
    assert!(first.iter().all(|t| t.w == -1.0), "handedness stays");
    let document: serde_json::Value =
        serde_json::from_slice(&bytes[20..20 + json_length(&bytes)]).unwrap();
    let targets = &document["meshes"][0]["primitives"][0]["targets"];
    let normals = baked.meshes[0].attributes.normals().unwrap();
    for i in 0..3 {
        let change = match i {
            0 => vec![Vec3::ZERO; 4],
            _ => vectors(&bytes, &document, &targets[i - 1]["TANGENT"]),
        };
        for v in 0..4 {
            let found = first[v].truncate() + change[v];
            // What the first frame shows, turned on.
            let wanted = turn(i as u32) * turn(0).inverse() * first[v].truncate();
            assert!(
                found.abs_diff_eq(wanted, 1e-5),
                "frame {i}, vertex {v}: {found}, not {wanted}"
            );
            assert!(first[v].truncate().dot(normals[v]).abs() < 1e-5, "across the normal");
        }
    }
}

/// The normals of frame 0 of a take that stands still.
fn baked_normals(asset: &Asset) -> Vec<Vec3> {
    let mut still = |_: u32, _: &mut [Vec3]| Ok(());
    let take = Take { asset, fps: 24.0, first_frame: 0, frames: 2, positions: &mut still };
    let mut bytes = Vec::new();
    gltf::write_takes(&mut [take], &mut bytes).expect("the take is consistent");
    let baked = read(&bytes);
    let changes = baked.meshes[0].morphs[0].normals.as_deref().expect("normals are morphed");
    assert!(changes.iter().all(|c| *c == Vec3::ZERO), "nothing moves");
    baked.meshes[0].attributes.normals().expect("normals are written").to_vec()
}

/// A texture seam must not show in the light; a hard edge must.
#[test]
fn takes_shade_across_seams_and_not_across_hard_edges() {
    let roof = vec![Vec3::ZERO, Vec3::Y, Vec3::new(1.0, 0.0, -1.0), Vec3::new(-1.0, 0.0, -1.0)];
    let mut seam = TriMesh::new(roof.clone(), vec![[0, 2, 1], [0, 1, 3]]);
    seam.corners.push(CornerAttribute {
        name: "uv".to_owned(),
        values: Values::Vec2((0..6).map(|i| Vec2::splat(i as f32)).collect()),
        triangles: vec![[0, 1, 2], [3, 4, 5]],
    });
    let normals = baked_normals(&Asset::from_mesh(seam));
    assert_eq!(normals.len(), 6, "the ridge is doubled");
    assert!(normals[0].abs_diff_eq(Vec3::Z, 1e-6), "smooth over the ridge: {}", normals[0]);
    assert_eq!((normals[4], normals[5]), (normals[0], normals[1]));

    let doubled = [roof.clone(), vec![roof[0], roof[1]]].concat();
    let mut edge = TriMesh::new(doubled, vec![[0, 2, 1], [4, 5, 3]]);
    let (right, left) =
        (Vec3::new(1.0, 0.0, 1.0) / 2_f32.sqrt(), Vec3::new(-1.0, 0.0, 1.0) / 2_f32.sqrt());
    edge.attributes.set("normal", Values::Vec3(vec![right, right, right, left, left, left]));
    let normals = baked_normals(&Asset::from_mesh(edge));
    assert!(
        normals[0].abs_diff_eq(right, 1e-6) && normals[4].abs_diff_eq(left, 1e-6),
        "{normals:?}"
    );
}

#[test]
fn takes_share_a_file_and_bad_takes_are_refused() {
    let asset = rising_tip();
    let mut still = |_: u32, _: &mut [Vec3]| Ok(());
    let mut again = still;
    let mut takes = [
        Take { asset: &asset, fps: 30.0, first_frame: 0, frames: 3, positions: &mut still },
        Take { asset: &asset, fps: 60.0, first_frame: 0, frames: 1, positions: &mut again },
    ];
    let mut bytes = Vec::new();
    gltf::write_takes(&mut takes, &mut bytes).unwrap();
    let baked = read(&bytes);
    assert_eq!((baked.meshes.len(), baked.nodes.len()), (2, 2));
    assert_eq!(baked.clips[0].channels.len(), 1, "one frame is no motion");

    let mut wild = |i: u32, positions: &mut [Vec3]| {
        positions[0].x = if i == 2 { f32::NAN } else { 0.0 };
        Ok(())
    };
    for (frames, fps) in [(0, 30.0), (3, 0.0), (3, 30.0)] {
        let take = Take { asset: &asset, fps, first_frame: 0, frames, positions: &mut wild };
        let error = gltf::write_takes(&mut [take], &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{error}");
    }
}

//! Bodies: whole assets, skinned and rigid, moved as one mesh.

use glam::{Mat4, Quat, Vec2, Vec3};
use supple::mesh::volume::{centroid, volume};
use supple::mesh::{Group, MorphTarget, SkinWeights, Values};
use supple::rig::body::BodyError;
use supple::rig::{
    Body, Channel, Clip, Interpolation, Node, Pose, Skin, Skinning, Track, Transform,
};
use supple::{Asset, Run, TriMesh};

const BOTH: [Skinning; 2] = [Skinning::Linear, Skinning::DualQuaternion];

/// The skinned strip of the glTF tutorial: ten vertices, two joints, the upper one turns by 90° and
/// back.
fn simple_skin() -> Asset {
    let mut weights = SkinWeights::default();
    for w in [1.0, 0.75, 0.5, 0.25, 0.0] {
        weights.push([(0, w), (1, 1.0 - w)]);
        weights.push([(0, w), (1, 1.0 - w)]);
    }
    let row = |i: u32| [[0, 1, 3], [0, 3, 2]].map(|t: [u32; 3]| t.map(|k| k + 2 * i));
    let mesh = TriMesh {
        positions: (0..5)
            .flat_map(|i| [-0.5, 0.5].map(|x| Vec3::new(x, 0.5 * i as f32, 0.0)))
            .collect(),
        triangles: (0..4).flat_map(row).collect(),
        skin_weights: Some(weights),
        ..TriMesh::default()
    };
    let turn = [0.0, 0.25, 0.5, 0.25, 0.0].map(|t| Quat::from_rotation_z(t * std::f32::consts::PI));
    Asset {
        meshes: vec![mesh],
        nodes: vec![
            // The transform of a skinned mesh's node does not count.
            Node {
                mesh: Some(0),
                skin: Some(0),
                local: Transform::from_translation(9.0 * Vec3::ONE),
                ..Node::default()
            },
            Node {
                local: Transform::from_translation(Vec3::Y),
                parent: Some(2),
                ..Node::default()
            },
            Node::default(),
        ],
        skins: vec![Skin {
            joints: vec![2, 1],
            inverse_bind: vec![Mat4::IDENTITY, Mat4::from_translation(-Vec3::Y)],
            ..Skin::default()
        }],
        clips: vec![Clip {
            name: "bend".to_owned(),
            channels: vec![Channel {
                node: 1,
                times: vec![0.0, 0.5, 1.0, 1.5, 2.0],
                track: Track::Rotation(turn.to_vec()),
                interpolation: Interpolation::Linear,
            }],
        }],
        ..Asset::default()
    }
}

fn posed_at(asset: &Asset, secs: f32, skinning: Skinning) -> Vec<Vec3> {
    let body = Body::from_asset(asset).expect("a sound asset");
    let mut pose = Pose::rest(asset);
    asset.clips[0].check(asset).expect("a clip that fits");
    asset.clips[0].sample(secs, &mut pose);
    body.pose(&pose, skinning, &Run::default())
}

#[test]
fn the_skinned_strip_bends_as_the_tutorial_says() {
    let asset = simple_skin();
    let rest = Body::from_asset(&asset).unwrap().rest_mesh(&Run::default());
    assert_eq!(rest.positions, asset.meshes[0].positions, "bound where it rests");
    for skinning in BOTH {
        let bent = posed_at(&asset, 1.0, skinning);
        assert_eq!(bent[..2], asset.meshes[0].positions[..2], "the foot stays");
        // The tip turned by 90° about (0, 1): (±0.5, 2) goes to (-1, 1 ± 0.5).
        assert!(bent[8].abs_diff_eq(Vec3::new(-1.0, 0.5, 0.0), 1e-6), "{skinning:?}: {}", bent[8]);
        assert!(bent[9].abs_diff_eq(Vec3::new(-1.0, 1.5, 0.0), 1e-6), "{skinning:?}: {}", bent[9]);
    }
    // Halfway up both joints pull alike: linear blending takes the mean of (0.5, 1) and (0, 1.5).
    let linear = posed_at(&asset, 1.0, Skinning::Linear)[5];
    assert!(linear.abs_diff_eq(Vec3::new(0.25, 1.25, 0.0), 1e-6), "{linear}");
    // Dual quaternions turn it by half the angle about the joint.
    let dual = posed_at(&asset, 1.0, Skinning::DualQuaternion)[5];
    let half = 0.5_f32 * 0.5_f32.sqrt();
    assert!(dual.abs_diff_eq(Vec3::new(half, 1.0 + half, 0.0), 1e-6), "{dual}");
}

fn tetrahedron() -> TriMesh {
    let mut mesh = TriMesh::new(
        vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
        vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    );
    mesh.name = "tetrahedron".to_owned();
    mesh
}

/// One mesh on two nodes, one of them mirrored, beside a skinned strip.
fn mixed() -> Asset {
    let mut asset = simple_skin();
    let mut tetrahedron = tetrahedron();
    tetrahedron.groups = vec![Group { name: "t".to_owned(), triangles: 0..4, material: Some(0) }];
    tetrahedron.attributes.set("uv", Values::Vec2(vec![Vec2::ONE; 4]));
    tetrahedron.morphs = vec![MorphTarget {
        name: "long".to_owned(),
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::ZERO, Vec3::ZERO],
        weight: 0.0,
        ..MorphTarget::default()
    }];
    asset.meshes.push(tetrahedron);
    let mirror = Transform::Trs {
        translation: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        scale: Vec3::new(-2.0, 1.0, 1.0),
    };
    let rigid = |name: &str, local| Node {
        name: name.to_owned(),
        mesh: Some(1),
        local,
        parent: Some(1),
        ..Node::default()
    };
    asset.nodes.push(rigid("plain", Transform::IDENTITY));
    asset.nodes.push(rigid("mirrored", mirror));
    asset.nodes[4].morph_weights = vec![1.0];
    asset
}

#[test]
fn parts_keep_to_themselves() {
    let asset = mixed();
    let body = Body::from_asset(&asset).unwrap();
    let run = Run::default();
    body.mesh.validate().unwrap();
    assert_eq!(body.parts.len(), 3);
    assert_eq!(body.joints.len(), 4, "two of the skin, one for each rigid part");
    assert_eq!(body.mesh.groups.len(), 3);
    assert_eq!(
        body.mesh.attributes.get("uv").map(Values::len),
        Some(18),
        "filled in for the strip"
    );
    let rest = body.rest_mesh(&run);
    rest.validate().unwrap();
    let part = |k: usize| {
        let t = body.parts[k].triangles.clone();
        volume(&rest.positions, &rest.triangles[t.start as usize..t.end as usize], &run)
    };
    assert!((part(1) - 1.0 / 6.0).abs() < 1e-6, "{}", part(1));
    // Mirrored and stretched by 2, its morph target doubles it again; still counter-clockwise.
    assert!((part(2) - 4.0 / 6.0).abs() < 1e-6, "{}", part(2));
}

#[test]
fn a_rigid_part_moves_rigidly_with_its_ancestors() {
    let asset = mixed();
    for skinning in BOTH {
        let posed = posed_at(&asset, 1.0, skinning);
        // "plain" hangs on the joint at (0, 1), turned by 90°.
        let motion = Mat4::from_rotation_translation(
            Quat::from_rotation_z(std::f32::consts::FRAC_PI_2),
            Vec3::Y,
        );
        for (x, rest) in posed[10..14].iter().zip(&tetrahedron().positions) {
            let expected = motion.transform_point3(*rest);
            assert!(x.abs_diff_eq(expected, 1e-6), "{skinning:?}: {x} is not {expected}");
        }
    }
}

#[test]
fn the_centroid_needs_no_vertices() {
    let asset = mixed();
    let body = Body::from_asset(&asset).unwrap();
    let mut pose = Pose::rest(&asset);
    pose.morph_weights[4] = vec![0.0];
    asset.clips[0].sample(0.7, &mut pose);
    let run = Run::default();
    let slow = centroid(&body.pose(&pose, Skinning::Linear, &run), &run);
    let fast = body.centroid(&body.matrices(&pose));
    assert!(slow.abs_diff_eq(fast, 1e-6), "{slow} is not {fast}");
}

#[test]
fn posing_is_the_same_bits_for_any_thread_count() {
    let asset = mixed();
    let body = Body::from_asset(&asset).unwrap();
    for skinning in BOTH {
        let serial = body.pose(body.rest_pose(), skinning, &Run::default());
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = Run { threads: Some(&pool), ..Run::default() };
            assert_eq!(body.pose(body.rest_pose(), skinning, &run), serial, "{threads} threads");
        }
    }
}

#[test]
fn what_does_not_fit_is_an_error_that_says_so() {
    let refused = |spoil: &dyn Fn(&mut Asset)| {
        let mut asset = mixed();
        spoil(&mut asset);
        Body::from_asset(&asset).unwrap_err()
    };
    let says = |error: BodyError, what: &str| {
        assert!(error.to_string().contains(what), "'{error}' should say '{what}'");
    };
    says(refused(&|a| a.nodes.clear()), "no mesh");
    says(refused(&|a| a.nodes[3].mesh = Some(8)), "node 3 ('plain') names mesh 8");
    says(refused(&|a| a.nodes[0].skin = Some(3)), "names skin 3, but there are 1");
    says(refused(&|a| a.skins[0].joints[1] = 77), "names node 77 as a joint");
    says(refused(&|a| a.skins[0].inverse_bind.truncate(1)), "1 inverse bind");
    says(refused(&|a| a.meshes[0].skin_weights = None), "no skin weights");
    says(refused(&|a| a.nodes[2].parent = Some(1)), "cycle");
    says(refused(&|a| a.meshes[1].triangles[0] = [0, 1, 99]), "names vertex 99");
    let short = |a: &mut Asset| {
        a.skins[0].joints.truncate(1);
        a.skins[0].inverse_bind.truncate(1);
    };
    says(refused(&short), "bound to joint 1");
}

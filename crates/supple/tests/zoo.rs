//! Every model of the zoo is a sound mesh, the size that was asked for, and the same everywhere.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use glam::Vec3;
use supple::mesh::intersect;
use supple::mesh::volume::volume;
use supple::mesh::{TriMesh, Values};
use supple::rig::Track;
use supple::{Asset, Run, zoo};

/// Models of smooth parts, which have exactly the wanted number of triangles.
const SMOOTH: [&str; 9] =
    ["arm", "boxer", "camel", "cow", "dragon", "hand", "head", "jelly", "shoulder"];

/// Every model at 2,000 triangles, and at its default size; built once for all tests.
static SMALL: LazyLock<BTreeMap<&str, Asset>> =
    LazyLock::new(|| zoo::names().iter().map(|e| (e.name, build(e.name, Some(2000)))).collect());
static DEFAULT: LazyLock<BTreeMap<&str, Asset>> =
    LazyLock::new(|| zoo::names().iter().map(|e| (e.name, build(e.name, None))).collect());

fn build(name: &str, triangles: Option<usize>) -> Asset {
    zoo::build(name, &zoo::Size { triangles }, &Run::default()).expect("the zoo builds")
}

/// The sound-mesh properties that hold for every model.
fn assert_sound(name: &str, mesh: &TriMesh, smallest_angle: f64) {
    mesh.validate().expect("a consistent mesh");
    assert_manifold(name, mesh, name != "plane");
    let angle = min_angle(mesh);
    assert!(angle > smallest_angle, "{name}: smallest angle {angle}°");
    if name != "plane" {
        let v = volume(&mesh.positions, &mesh.triangles, &Run::default());
        assert!(v > 0.0, "{name}: volume {v}");
    }
}

/// Every directed edge once, with its opposite if closed; one fan of triangles a vertex.
fn assert_manifold(name: &str, mesh: &TriMesh, closed: bool) {
    let mut edges = BTreeMap::new();
    let mut degree = vec![0_usize; mesh.positions.len()];
    for t in &mesh.triangles {
        for k in 0..3 {
            let (a, b, c) = (t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
            assert_eq!(edges.insert((a, b), c), None, "{name}: edge {a} {b} twice");
            degree[a as usize] += 1;
        }
    }
    if !closed {
        return;
    }
    let mut one_edge = vec![u32::MAX; mesh.positions.len()];
    for &(a, b) in edges.keys() {
        assert!(edges.contains_key(&(b, a)), "{name}: edge {a} {b} is open");
        one_edge[a as usize] = b;
    }
    for (v, &start) in one_edge.iter().enumerate() {
        let (mut at, mut fan) = (edges[&(v as u32, start)], 1);
        while at != start {
            at = edges[&(v as u32, at)];
            fan += 1;
        }
        assert_eq!(fan, degree[v], "{name}: two fans at vertex {v}");
    }
    let euler = mesh.positions.len() as i64 + mesh.triangles.len() as i64 - edges.len() as i64 / 2;
    assert_eq!(euler, if name == "torus" { 0 } else { 2 }, "{name}: Euler characteristic");
}

/// In degrees.
fn min_angle(mesh: &TriMesh) -> f64 {
    let angle = |t: usize, k: usize| {
        let p = mesh.corners_of(t).map(|p| p.as_dvec3());
        (p[(k + 1) % 3] - p[k]).angle_between(p[(k + 2) % 3] - p[k]).to_degrees()
    };
    (0..3 * mesh.triangles.len()).map(|i| angle(i / 3, i % 3)).fold(180.0, f64::min)
}

#[test]
fn simple_models_are_sound_and_near_the_wanted_size() {
    for entry in zoo::names().iter().filter(|e| !SMOOTH.contains(&e.name)) {
        let default = &DEFAULT[entry.name];
        assert_eq!(default.meshes[0].triangles.len(), entry.default_triangles, "{}", entry.name);
        for (step, wanted) in [1, 300, 3000, 40_000].into_iter().enumerate() {
            let mesh = &build(entry.name, Some(wanted)).meshes[0];
            let angle = if wanted < 300 { 5.0 } else { 25.0 };
            assert_sound(entry.name, mesh, angle);
            let ratio = mesh.triangles.len() as f64 / wanted as f64;
            // A comb has 1,196 n²: the coarser, the fewer sizes there are to choose from.
            let near = [0.0..2000.0, 0.0..5.0, 0.6..1.6, 0.8..1.25][step].clone();
            assert!(near.contains(&ratio), "{}: {ratio} of {wanted}", entry.name);
        }
    }
}

#[test]
fn simple_models_have_the_volumes_of_their_shapes() {
    use std::f64::consts::PI;
    let expected = [
        ("ball", 4.0 / 3.0 * PI),
        ("bar", 6.0),
        ("box", 8.0),
        ("capsule", PI * 0.5 + 4.0 / 3.0 * PI * 0.125),
        ("comb", 6.25 * 0.5 * 0.5 + 13.0 * 0.25 * 1.25 * 0.5),
        ("cylinder", PI * 0.5),
        ("rope", PI * 0.15 * 0.15 * 11.7 + 4.0 / 3.0 * PI * 0.15 * 0.15 * 0.15),
        ("torus", 2.0 * PI * PI * 0.35 * 0.35),
    ];
    for (name, exact) in expected {
        // A rope is thin: it takes more triangles to be as round.
        let wanted = if name == "rope" { 80_000 } else { 20_000 };
        let mesh = &build(name, Some(wanted)).meshes[0];
        let v = volume(&mesh.positions, &mesh.triangles, &Run::default());
        assert!((v / exact - 1.0).abs() < 4e-3, "{name}: {v} for {exact}");
    }
}

#[test]
fn creatures_are_sound_and_exactly_the_wanted_size() {
    for entry in zoo::names().iter().filter(|e| SMOOTH.contains(&e.name)) {
        for (models, wanted) in [(&SMALL, 2000), (&DEFAULT, entry.default_triangles)] {
            let mesh = &models[entry.name].meshes[0];
            assert_eq!(mesh.triangles.len(), wanted, "{}", entry.name);
            assert_sound(entry.name, mesh, 5.0);
        }
    }
}

#[test]
fn no_model_cuts_itself() {
    for (name, asset) in &*DEFAULT {
        let mesh = &asset.meshes[0];
        let run = Run::default();
        let pairs = intersect::self_intersections(&mesh.positions, &mesh.triangles, &run).unwrap();
        assert!(pairs.is_empty(), "{name}: {pairs:?}");
    }
}

#[test]
fn an_odd_size_gives_the_next_even_one() {
    assert_eq!(build("jelly", Some(2999)).meshes[0].triangles.len(), 3000);
}

/// Left and right weigh the same: the centre of mass is in the middle.
#[test]
fn creatures_with_two_sides_are_symmetric() {
    for name in ["boxer", "camel", "cow", "dragon", "head"] {
        let mesh = &SMALL[name].meshes[0];
        let (mut moment, mut size) = (0.0, 0.0);
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners_of(t).map(|p| p.as_dvec3());
            let volume = a.dot(b.cross(c)) / 6.0;
            moment += volume * (a.x + b.x + c.x) / 4.0;
            size += volume;
        }
        assert!((moment / size).abs() < 2e-3, "{name}: centre of mass at x = {}", moment / size);
    }
}

#[test]
fn creatures_stand_on_the_ground() {
    for name in SMOOTH {
        let mesh = &SMALL[name].meshes[0];
        let lowest = mesh.positions.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
        assert!(lowest.abs() < 0.006, "{name} stands at y = {lowest}");
    }
}

/// Half the width of the strip in the middle of a body that both sides may move, in metres.
const MIDDLE: f32 = 0.05;

#[test]
fn skins_bind_every_vertex_and_keep_left_from_right() {
    for name in ["arm", "boxer", "camel", "hand", "rigged-bar", "shoulder"] {
        let asset = &SMALL[name];
        let (mesh, skin) = (&asset.meshes[0], &asset.skins[0]);
        let weights = mesh.skin_weights.as_ref().unwrap();
        assert!(weights.joint_count() <= skin.joints.len(), "{name}");
        assert_eq!(skin.inverse_bind.len(), skin.joints.len());
        for (v, p) in mesh.positions.iter().enumerate() {
            let total: f32 = weights.of(v).map(|(_, w)| w).sum();
            assert!((total - 1.0).abs() < 1e-5, "{name}: weights of {v} sum to {total}");
            for (joint, w) in weights.of(v) {
                let joint_name = &asset.nodes[joint as usize].name;
                let other_side = joint_name.ends_with(".L") && p.x < -MIDDLE
                    || joint_name.ends_with(".R") && p.x > MIDDLE;
                assert!(!other_side, "{name}: joint {joint} moves {p} by {w}");
            }
        }
        assert!(weights.max_influences() <= 6, "{name}: {}", weights.max_influences());
    }
}

#[test]
fn clips_move_joints_by_unit_turns_and_cycles_close() {
    for (name, clips) in [
        ("boxer", vec!["guard", "punch", "walk"]),
        ("camel", vec!["walk"]),
        ("hand", vec!["fist", "wave"]),
        ("arm", vec!["bend"]),
        ("rigged-bar", vec!["bend", "twist"]),
        ("shoulder", vec!["twist"]),
    ] {
        let asset = &SMALL[name];
        assert_eq!(asset.clips.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), clips);
        let joints = asset.skins[0].joints.len() as u32;
        for channel in asset.clips.iter().flat_map(|c| &c.channels) {
            assert!(channel.node < joints, "{name}: node {}", channel.node);
            assert!(channel.times.is_sorted_by(|a, b| a < b), "{name}: times");
            match &channel.track {
                Track::Rotation(turns) => {
                    assert_eq!(turns.len(), channel.times.len());
                    assert!(turns.iter().all(|q| q.is_normalized()), "{name}: unit turns");
                    let back = turns[0].dot(turns[turns.len() - 1]).abs();
                    assert!(back > 0.999, "{name}: ends where it began, {back}");
                }
                Track::Translation(places) => assert_eq!(places.len(), channel.times.len()),
                _ => panic!("{name}: only joints move"),
            }
        }
    }
}

#[test]
fn softness_is_painted_between_zero_and_one() {
    for name in ["cow", "jelly"] {
        let asset = &SMALL[name];
        let softness = asset.meshes[0].attributes.scalar("softness").unwrap();
        let (low, high) =
            softness.iter().fold((1.0_f32, 0.0_f32), |(l, h), &s| (l.min(s), h.max(s)));
        assert!(
            (0.0..0.2).contains(&low) && (0.7..=1.0).contains(&high),
            "{name}: {low} to {high}"
        );
    }
}

#[test]
fn same_bits_for_any_thread_count() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let run = Run { threads: Some(&pool), ..Run::default() };
    let parallel = zoo::build("cow", &zoo::Size { triangles: Some(2000) }, &run).unwrap();
    assert_eq!(fingerprint(&SMALL["cow"]), fingerprint(&parallel));
}

#[test]
fn a_cancelled_build_says_so() {
    let flag = std::sync::atomic::AtomicBool::new(true);
    let run = Run { cancel: Some(&flag), ..Run::default() };
    for name in ["ball", "boxer"] {
        let result = zoo::build(name, &zoo::Size::default(), &run);
        assert!(matches!(result, Err(zoo::Error::Cancelled(_))), "{name}");
    }
}

/// A hash of every number of the model.
fn fingerprint(asset: &Asset) -> String {
    let mut hash = blake3::Hasher::new();
    let mut floats = |values: &[f32]| {
        for v in values {
            hash.update(&v.to_le_bytes());
        }
    };
    for mesh in &asset.meshes {
        mesh.positions.iter().for_each(|p| floats(&p.to_array()));
        mesh.attributes.iter().for_each(|a| floats(a.values.as_floats()));
        if let Some(weights) = &mesh.skin_weights {
            for (joint, weight) in (0..weights.len()).flat_map(|v| weights.of(v)) {
                floats(&[f32::from(joint), weight]);
            }
        }
    }
    for node in &asset.nodes {
        floats(&node.local.matrix().to_cols_array());
    }
    for channel in asset.clips.iter().flat_map(|c| &c.channels) {
        floats(&channel.times);
        match &channel.track {
            Track::Rotation(turns) => turns.iter().for_each(|q| floats(&q.to_array())),
            Track::Translation(v) | Track::Scale(v) => v.iter().for_each(|p| floats(&p.to_array())),
            Track::Weights(w) => floats(w),
            Track::SparseWeights(w) => floats(&w.to_dense()),
        }
    }
    for t in asset.meshes.iter().flat_map(|m| &m.triangles) {
        t.iter().for_each(|i| {
            hash.update(&i.to_le_bytes());
        });
    }
    hash.finalize().to_hex()[..16].to_owned()
}

/// The bits of every model at its default size. A change here changes what users and tests see: make
/// it on purpose, and say so in the changelog.
#[test]
fn every_model_has_the_same_bits_everywhere() {
    let expected: BTreeMap<&str, &str> = BTreeMap::from([
        ("arm", "6c01d35b8c185787"),
        ("ball", "332bd371a50fd836"),
        ("bar", "e7dca665f03ae195"),
        ("box", "1e4b3ebb63ea5303"),
        ("boxer", "c5531b224be7661e"),
        ("camel", "195289d117f700ce"),
        ("capsule", "c65faf70574187ff"),
        ("comb", "3f5313d40ffd7841"),
        ("cow", "f6a5bf711b044260"),
        ("cylinder", "fb3e3d25bd79a7b6"),
        ("dragon", "323eb09b5a36fc0c"),
        ("fan", "ce47ba3fe66667f0"),
        ("hand", "d764e717cb13e2f8"),
        ("head", "124b040dc8bc4607"),
        ("jelly", "8dc6284711775085"),
        ("morph-bar", "ea7716c305739487"),
        ("plane", "b53d93add439d23f"),
        ("rigged-bar", "627550c239a84e7b"),
        ("rope", "3cafd995c5a02cb8"),
        ("shoulder", "c1d9860121e312c8"),
        ("torus", "6acb5d00898187f4"),
    ]);
    let found: BTreeMap<&str, String> =
        zoo::names().iter().map(|e| (e.name, fingerprint(&DEFAULT[e.name]))).collect();
    assert!(
        found.iter().all(|(name, bits)| expected.get(name) == Some(&bits.as_str())),
        "{found:#?}"
    );
}

#[test]
fn colours_and_normals_are_there() {
    for entry in zoo::names() {
        let mesh = &SMALL[entry.name].meshes[0];
        let Some(Values::Vec4(colors)) = mesh.attributes.get("color") else {
            panic!("{} has no colours", entry.name);
        };
        assert!(colors.iter().all(|c| c.min_element() >= 0.0 && c.max_element() <= 1.0));
        if let Some(normals) = mesh.attributes.normals() {
            let outward: f32 = mesh
                .triangles
                .iter()
                .enumerate()
                .map(|(t, corners)| {
                    let [a, b, c] = mesh.corners_of(t);
                    let face: Vec3 = (b - a).cross(c - a);
                    face.dot(normals[corners[0] as usize]).signum()
                })
                .sum();
            assert!(outward > 0.99 * mesh.triangles.len() as f32, "{}: {outward}", entry.name);
        }
    }
}

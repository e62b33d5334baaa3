//! Shapes as files hold them, split along their seams: nothing tears, whatever is done to them.

mod compressed;

use glam::{Mat4, Quat, Vec3};
use supple::io::gltf;
use supple::mesh::attribute::NORMAL;
use supple::mesh::intersect::self_intersections;
use supple::mesh::refine;
use supple::mesh::remesh::{self, Target};
use supple::mesh::volume::volume;
use supple::mesh::welding::{Welding, is_closed, open_edges};
use supple::mesh::{SkinWeights, Values};
use supple::player::{self, Player};
use supple::rig::remeshing::remesh_all;
use supple::rig::{Channel, Clip, Interpolation, Node, Skin, Track, Transform};
use supple::scene::{self, Folder, Scene, Source};
use supple::sculpt::{
    self, Bend, Curve, Extent, Guide, Move, OnContact, Op, Paint, Params, Points, Twist,
};
use supple::{Asset, Run, TriMesh, skinning, zoo};

fn model(name: &str, triangles: usize) -> TriMesh {
    let size = zoo::Size { triangles: Some(triangles) };
    zoo::build(name, &size, &Run::default()).expect("a model of the zoo").meshes.swap_remove(0)
}

/// The mesh with corners of its own for every triangle and flat normals, as exporters write low-poly models.
fn shattered(mesh: &TriMesh) -> TriMesh {
    let mut split = mesh.clone();
    split.gather_vertices(mesh.triangles.as_flattened());
    split.triangles =
        (0..mesh.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    split.corners.clear();
    let flat = |t: usize| {
        let [a, b, c] = split.corners_of(t);
        [(b - a).cross(c - a).normalize_or(Vec3::Z); 3]
    };
    let normals = (0..split.triangles.len()).flat_map(flat).collect();
    split.attributes.set(NORMAL, Values::Vec3(normals));
    split
}

fn edits() -> Vec<(&'static str, Op)> {
    let way = vec![Vec3::Y, Vec3::new(0.0, 1.3, 0.2), Vec3::new(0.3, 1.5, 0.3)];
    let guide = Guide::Through(way);
    let extent = Extent::Geodesic { from: Vec3::Y, inner: 0.3, outer: 1.2 };
    vec![
        (
            "move",
            Op::Move(Move {
                center: Vec3::Y,
                by: vec![Vec3::new(0.2, 0.4, 0.0)],
                inner: 0.3,
                outer: 1.0,
                ..Move::default()
            }),
        ),
        (
            "points",
            Op::Points(Points {
                points: vec![Vec3::Y],
                by: vec![0.3 * Vec3::Y],
                outer: 0.9,
                ..Points::default()
            }),
        ),
        (
            "paint",
            Op::Paint(Paint {
                stroke: vec![Vec3::Y, Vec3::new(0.4, 0.9, 0.0)],
                radius: 0.4,
                depth: 0.1,
                ..Paint::default()
            }),
        ),
        (
            "twist",
            Op::Twist(Twist {
                axis: Vec3::Y,
                degrees: 90.0,
                from: -0.8,
                to: 0.8,
                ..Twist::default()
            }),
        ),
        (
            "bend",
            Op::Bend(Bend {
                axis: Vec3::Z,
                along: Vec3::Y,
                degrees: 40.0,
                width: 1.6,
                ..Bend::default()
            }),
        ),
        ("curve", Op::Curve(Curve { guide, extent, ..Curve::default() })),
    ]
}

/// A split shape is edited as the whole one is, with the correction of its volume along the normals.
#[test]
fn edits_of_split_shapes_are_those_of_whole_ones() {
    let (whole, run) = (model("ball", 1500), Run::default());
    let split = shattered(&whole);
    let params = Params { exact_volume: true, on_contact: OnContact::Ignore, ..Params::default() };
    for (name, op) in edits() {
        let (mut a, mut b) = (whole.positions.clone(), split.positions.clone());
        let ops = [op];
        sculpt::apply(&mut a, &whole.triangles, &ops, &params, &run).unwrap();
        let done = sculpt::apply(&mut b, &split.triangles, &ops, &params, &run).unwrap();
        assert_eq!(open_edges(&b, &split.triangles), 0, "{name} opened edges");
        assert!(done.report.volume_error().abs() < 1e-6, "{name}: {:?}", done.report);
        assert!(done.report.moved > 10, "{name} moves something");
        let corners = whole.triangles.as_flattened();
        for (x, &v) in b.iter().zip(corners) {
            assert!(x.distance(a[v as usize]) < 2e-5, "{name}: {x} and {}", a[v as usize]);
        }
    }
}

/// Copies with different paint move as the most held of them.
#[test]
fn masks_do_not_tear() {
    let (whole, run) = (model("ball", 1500), Run::default());
    let split = shattered(&whole);
    let mask: Vec<f32> = (0..split.positions.len()).map(|i| (i % 3) as f32 / 2.0).collect();
    let params = Params { mask, ..Params::default() };
    let ops = [edits().swap_remove(0).1];
    let mut moved = split.positions.clone();
    sculpt::apply(&mut moved, &split.triangles, &ops, &params, &run).unwrap();
    assert_eq!(open_edges(&moved, &split.triangles), 0);
    let short = Params { mask: vec![1.0; 5], ..Params::default() };
    let error = sculpt::apply(&mut moved, &split.triangles, &ops, &short, &run).unwrap_err();
    assert!(error.to_string().contains("5 values"), "{error}");
}

#[test]
fn refined_edits_of_split_shapes_stay_closed() {
    let (split, run) = (shattered(&model("bar", 400)), Run::default());
    let ops = [Op::Twist(Twist {
        axis: Vec3::X,
        degrees: 120.0,
        from: -1.5,
        to: 1.5,
        ..Twist::default()
    })];
    for exact_volume in [false, true] {
        let mut mesh = split.clone();
        let params = Params { exact_volume, ..Params::default() };
        let done =
            sculpt::apply_refined(&mut mesh, &ops, &params, &refine::Params::default(), &run)
                .unwrap();
        assert_eq!(mesh.validate(), Ok(()));
        assert_eq!(open_edges(&mesh.positions, &mesh.triangles), 0);
        assert_eq!(self_intersections(&mesh.positions, &mesh.triangles, &run), Ok(Vec::new()));
        assert!(done.report.volume_error().abs() < 3e-4, "{:?}", done.report);
        assert!(mesh.corners.iter().any(|c| c.name == NORMAL), "still shaded flat");
    }
    let finer = sculpt::refined(&split, &ops, &refine::Params::default(), &run).unwrap();
    assert!(finer.triangles.len() > split.triangles.len(), "it was split");
    let mut moved = finer.positions.clone();
    sculpt::apply(&mut moved, &finer.triangles, &ops, &Params::default(), &run).unwrap();
    assert_eq!([&finer.positions, &moved].map(|p| open_edges(p, &finer.triangles)), [0, 0]);
}

#[test]
fn split_shapes_stay_closed_when_remeshed() {
    let run = Run::default();
    for (name, triangles) in [("ball", 800), ("box", 300), ("cow", 1500)] {
        let split = shattered(&model(name, triangles));
        let params = remesh::Params { target: Target::Ratio(0.8), ..remesh::Params::default() };
        let (new, report) = remesh::remesh(&split, &params, &run).unwrap();
        assert_eq!(new.validate(), Ok(()));
        assert_eq!(open_edges(&new.positions, &new.triangles), 0, "{name}");
        assert!(report.intersections_after <= report.intersections_before, "{name}");
        let normals = new.corners.iter().find(|c| c.name == NORMAL).expect("shaded as before");
        let Values::Vec3(values) = &normals.values else { panic!("normals") };
        let [a, b, c] = new.corners_of(0);
        let flat = (b - a).cross(c - a).normalize_or_zero();
        assert!(values[normals.triangles[0][1] as usize].dot(flat) > 0.99, "{name} is flat still");
    }
}

/// Two halves of a box that different joints move: closed at rest, and each half must keep its rim.
#[test]
fn borders_of_copies_that_move_differently_stay() {
    let (mesh, run) = (model("box", 600), Run::default());
    let mut split = shattered(&mesh);
    let mut weights = SkinWeights::default();
    for t in &split.triangles {
        let middle = t.iter().map(|&v| split.positions[v as usize].x).sum::<f32>();
        (0..3).for_each(|_| weights.push([(u16::from(middle > 0.0), 1.0)]));
    }
    split.skin_weights = Some(weights);
    let whole = Welding::of(&split.positions).places();
    assert!(Welding::of_mesh(&split).places() > whole, "two kinds of copies");
    let params = remesh::Params { target: Target::Ratio(0.7), ..remesh::Params::default() };
    let (new, _) = remesh::remesh(&split, &params, &run).unwrap();
    assert_eq!(open_edges(&new.positions, &new.triangles), 0);
    assert!(new.triangles.len() > split.triangles.len(), "finer elsewhere");
}

/// The triangles of a mesh on one side of a plane, as a mesh of their own.
fn part_of(mesh: &TriMesh, is_in: impl Fn(Vec3) -> bool) -> TriMesh {
    let mut part = mesh.clone();
    part.triangles
        .retain(|t| is_in(t.map(|v| mesh.positions[v as usize]).iter().sum::<Vec3>() / 3.0));
    let corners: Vec<u32> = part.triangles.as_flattened().to_vec();
    part.gather_vertices(&corners);
    part.triangles = (0..corners.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    part.corners.clear();
    part.groups.clear();
    part
}

fn placed(mesh: u32, translation: Vec3) -> Node {
    let (rotation, scale) = (Quat::from_rotation_y(0.3), Vec3::splat(2.0));
    let local = Transform::Trs { translation, rotation, scale };
    Node { mesh: Some(mesh), local, ..Node::default() }
}

fn at_rest(asset: &Asset) -> TriMesh {
    asset.clone().into_rest_mesh(&Run::default()).expect("meshes")
}

/// Halves of a shape that are two meshes share a rim, which stays; by themselves they would come apart.
#[test]
fn meshes_that_share_a_border_do_not_part_when_remeshed() {
    let (whole, run) = (model("cow", 3000), Run::default());
    let halves = [1.0, -1.0].map(|side| part_of(&whole, |x| side * (x.x - 0.1) > 0.0));
    assert!(halves.iter().all(|half| half.triangles.len() > 200), "two real parts");
    let nodes = vec![placed(0, Vec3::X), placed(1, Vec3::X)];
    let mut asset = Asset { meshes: halves.to_vec(), nodes, ..Asset::default() };
    let open = |asset: &Asset| {
        let shown = at_rest(asset);
        open_edges(&shown.positions, &shown.triangles)
    };
    assert_eq!(open(&asset), 0);
    let params = remesh::Params { target: Target::Ratio(0.8), ..remesh::Params::default() };
    let mut alone = asset.clone();
    for mesh in &mut alone.meshes {
        *mesh = remesh::remesh(mesh, &params, &run).unwrap().0;
    }
    assert!(open(&alone) > 0, "a real case");
    let done = remesh_all(&mut asset, &params, &run).unwrap();
    assert_eq!(open(&asset), 0);
    assert!(done.intersections_after <= done.intersections_before, "{done:?}");
    let changed = |(new, old): (&TriMesh, &TriMesh)| new.positions != old.positions;
    assert!(asset.meshes.iter().zip(&halves).all(changed), "both are made anew");
    assert!(done.meshes.iter().all(|m| m.warnings.iter().any(|w| w.contains("share"))), "{done:?}");
}

/// A shape that goes through another one does so with no more triangles than before.
#[test]
fn meshes_that_go_through_each_other_do_so_no_more_when_remeshed() {
    let run = Run::default();
    let nodes = vec![placed(0, Vec3::ZERO), placed(1, Vec3::new(0.9, 0.3, 0.2))];
    let meshes = vec![model("ball", 1500), model("ball", 900)];
    let asset = Asset { meshes, nodes, ..Asset::default() };
    let pairs = |asset: &Asset| {
        let shown = at_rest(asset);
        self_intersections(&shown.positions, &shown.triangles, &run).unwrap().len() as u64
    };
    let params = remesh::Params { target: Target::Ratio(0.7), ..remesh::Params::default() };
    let mut alone = asset.clone();
    for mesh in &mut alone.meshes {
        *mesh = remesh::remesh(mesh, &params, &run).unwrap().0;
    }
    assert!(pairs(&alone) > pairs(&asset), "a real case");
    let mut beside = asset.clone();
    let done = remesh_all(&mut beside, &params, &run).unwrap();
    assert_eq!(
        [done.intersections_before, done.intersections_after],
        [pairs(&asset), pairs(&beside)]
    );
    assert!(done.intersections_after <= done.intersections_before, "{done:?}");
    assert!(done.meshes.iter().all(|m| m.triangles_after > m.triangles_before), "{done:?}");
}

/// Closed by its indices, with two vertices in one place: it has a volume to restore.
#[test]
fn a_closed_shape_that_touches_itself_is_not_called_open() {
    let run = Run::default();
    let mesh = model("box", 300);
    let width = mesh.positions.iter().map(|p| p.x).fold(0.0, f32::max);
    let aside = mesh.positions.iter().map(|&p| p + 2.0 * width * Vec3::X);
    let mut positions: Vec<Vec3> = mesh.positions.iter().copied().chain(aside).collect();
    let count = mesh.positions.len() as u32;
    let others = mesh.triangles.iter().map(|t| t.map(|v| v + count));
    let triangles: Vec<[u32; 3]> = mesh.triangles.iter().copied().chain(others).collect();
    assert!(is_closed(&positions, &triangles));
    let before = volume(&positions, &triangles, &run);
    let ops = [Op::Twist(Twist {
        axis: Vec3::X,
        degrees: 60.0,
        from: -1.0,
        to: 3.0,
        ..Twist::default()
    })];
    let params = Params { exact_volume: true, ..Params::default() };
    let done = sculpt::apply(&mut positions, &triangles, &ops, &params, &run).unwrap();
    assert!(done.report.warnings.iter().all(|w| !w.contains("open")), "{:?}", done.report.warnings);
    assert!((volume(&positions, &triangles, &run) / before - 1.0).abs() < 1e-6);
}

/// A limb of two joints in two layers, each with a skin of its own, split along all seams, a hundredth as large as
/// its nodes make it; an arm guard that one joint carries alone.
fn character() -> Asset {
    let along = |x: f32| ((x + 0.5) / 1.0).clamp(0.0, 1.0);
    let skinned = |scale: f32, name: &str| {
        let mut mesh = model("bar", 400);
        let longest = mesh.positions.iter().map(|p| p.x).fold(0.0, f32::max);
        mesh.positions.iter_mut().for_each(|p| {
            *p = Vec3::new(0.02 * p.x / longest, 0.004 * scale * p.y, 0.004 * scale * p.z);
        });
        let mut weights = SkinWeights::default();
        for p in &mesh.positions {
            let share = along(100.0 * p.x);
            weights.push([(0, 1.0 - share), (1, share)]);
        }
        mesh.skin_weights = Some(weights);
        name.clone_into(&mut mesh.name);
        shattered(&mesh)
    };
    let mut guard = model("box", 12);
    guard.positions.iter_mut().for_each(|p| *p = 0.002 * *p + Vec3::new(-0.015, 0.008, 0.0));
    let mut weights = SkinWeights::default();
    guard.positions.iter().for_each(|_| weights.push([(0, 1.0)]));
    guard.skin_weights = Some(weights);
    let local = |x: f32| Transform::from_translation(x * Vec3::X);
    let bone = |name: &str, parent: Option<u32>, local: Transform| Node {
        name: name.to_owned(),
        parent,
        local,
        ..Node::default()
    };
    let shown =
        |mesh: u32, skin: u32| Node { mesh: Some(mesh), skin: Some(skin), ..Node::default() };
    let skin = || Skin {
        joints: vec![1, 2],
        inverse_bind: vec![
            Mat4::from_translation(0.02 * Vec3::X),
            Mat4::from_translation(Vec3::ZERO),
        ],
        ..Skin::default()
    };
    let (translation, rotation) = (Vec3::ZERO, Quat::IDENTITY);
    let large = Transform::Trs { translation, rotation, scale: Vec3::splat(100.0) };
    let turn = |degrees: f32| Quat::from_rotation_z(degrees.to_radians());
    let bend = Channel {
        node: 2,
        times: (0..=24).map(|k| k as f32 / 24.0).collect(),
        track: Track::Rotation(
            (0..=24).map(|k| turn(50.0 * (k as f32 * 15.0).to_radians().sin())).collect(),
        ),
        interpolation: Interpolation::Linear,
    };
    let fall = Channel {
        node: 0,
        times: vec![0.0, 0.5],
        track: Track::Translation(vec![Vec3::ZERO, -3.0 * Vec3::Y]),
        interpolation: Interpolation::Linear,
    };
    Asset {
        meshes: vec![skinned(1.0, "skin"), skinned(1.3, "sleeve"), shattered(&guard)],
        nodes: vec![
            bone("root", None, large),
            bone("upper", Some(0), local(-0.02)),
            bone("lower", Some(1), local(0.02)),
            shown(0, 0),
            shown(1, 1),
            shown(2, 0),
        ],
        skins: vec![skin(), skin()],
        clips: vec![
            Clip { name: "wave".to_owned(), channels: vec![bend] },
            Clip { name: "fall".to_owned(), channels: vec![fall] },
        ],
        ..Asset::default()
    }
}

fn play(scene: &Scene, asset: &Asset) -> Player {
    let mut load = |_: &Source| Ok(asset.clone());
    Player::new(scene, &Folder::new(".".as_ref()), &mut load, &Run::default())
        .expect("a scene that plays")
}

/// A character whose file is compressed is the one whose file is not.
#[test]
fn compressed_characters_are_read_as_they_are() {
    let (mut character, mut glb) = (character(), Vec::new());
    character.meshes.iter_mut().for_each(|mesh| mesh.groups.clear());
    gltf::write_glb(&character, &mut glb).unwrap();
    let read = |bytes: &[u8]| {
        let mut warnings = Vec::new();
        let asset = gltf::read(bytes, &|uri| panic!("{uri} is asked for"), &mut warnings);
        (asset, warnings)
    };
    let (whole, known) = read(&glb);
    let whole = whole.unwrap();
    for extension in ["EXT_meshopt_compression", "KHR_meshopt_compression"] {
        let (packed, views) = compressed::compressed(&glb, extension);
        assert!(views > 10, "{views} views are compressed");
        let (asset, warnings) = read(&packed);
        assert_eq!((asset.unwrap(), &warnings), (whole.clone(), &known), "{extension}");
        let at = packed.windows(10).position(|w| w == b"ATTRIBUTES").expect("a mode");
        let mut other = packed.clone();
        other[at] = b'X';
        let error = read(&other).0.unwrap_err().to_string();
        assert!(error.contains(&format!("extensions.{extension}")), "{error}");
    }
}

/// A take with flesh, its volume restored, and an edit: copies stay together in all frames.
#[test]
fn takes_of_split_characters_do_not_tear() {
    let asset = character();
    let text = scene::starter("limb.glb", &asset, &Run::default());
    let edit = "\n[[asset.world]]\nkind = \"sculpt\"\nexact_volume = true\n[[asset.world.op]]\nkind = \"twist\"\n\
                axis = [1, 0, 0]\ndegrees = 30\nfrom = -1\nto = 1\n";
    let text = text
        .replace("# exact_volume = true", "exact_volume = true")
        .replace("\n[output]", &format!("{edit}\n[output]"));
    let scene = Scene::parse(&text, None).unwrap_or_else(|p| panic!("{p}\n{text}"));
    let mut player = play(&scene, &asset);
    let body = player.cast()[0].body.clone();
    let welding = body.welding().clone();
    assert!(welding.places() < welding.vertices() / 4, "copies are found");
    for i in (0..player.frames()).step_by(4) {
        let frame = player.frame(i, &Run::default()).unwrap();
        let positions = &frame.bodies[0].positions;
        let plain = player.posed(0, i, &Run::default()).unwrap();
        assert_eq!(welding.opened(&body.mesh.triangles, &plain, positions), 0, "frame {i}");
        assert!(positions.iter().zip(&plain).any(|(a, b)| a.distance(*b) > 1e-3), "it moves");
    }
}

/// A fist that opens and closes in 27.8 steps of 1/24 s: what is given back at its end is what was at its beginning, and
/// from tick to tick it moves on as the motion does, not by what frames 1/24 s apart make of it each for themselves.
#[test]
fn volume_given_back_goes_round_and_does_not_jump_from_tick_to_tick() {
    let ticks = 139;
    let [end, speed] = [f64::from(ticks) / 120.0, 240.0 / f64::from(ticks)];
    let text = format!(
        "supple = 2\n[time]\nend = {end}\nfps = 120\n[[asset]]\nzoo = \"hand\"\ntriangles = 2000\n[asset.motion]\n\
         kind = \"keyframes\"\nclip = \"fist\"\nstart = 0.4\nspeed = {speed}\n[[asset.pose]]\nkind = \"skinning\"\n",
    );
    let run = Run::default();
    let folder = Folder::new(".".as_ref());
    let mut load = |source: &Source| Ok(player::load(source, &folder, &mut Vec::new(), &run)?);
    let scene = Scene::parse(&text, None).unwrap();
    let mut player = Player::new(&scene, &folder, &mut load, &run).expect("a scene that plays");
    let (mut by, mut drawn_back) = (Vec::new(), 0);
    for i in 0..=ticks {
        let frame = player.frame(i, &run).unwrap();
        let reports = frame.report.details.of::<skinning::Report>(0);
        drawn_back += reports.flat_map(|r| &r.joints).map(|j| j.drawn_back).sum::<usize>();
        let plain = player.posed(0, i, &run).unwrap();
        let now = frame.bodies[0].positions.iter();
        by.push(now.zip(&plain).map(|(x, p)| *x - *p).collect::<Vec<Vec3>>());
    }
    assert!(drawn_back > 0, "it retreats");
    let most = |of: &mut dyn Iterator<Item = f32>| of.fold(0.0, f32::max);
    let way = most(&mut by.iter().flatten().map(|d| d.length()));
    let gap = most(&mut by[0].iter().zip(&by[ticks as usize]).map(|(a, b)| a.distance(*b)));
    assert!(gap < 1e-4 * way, "the ends are {gap} apart, of {way}");
    let bend = |three: &[Vec<Vec3>]| {
        let change = |v: usize| (three[0][v] - 2.0 * three[1][v] + three[2][v]).length();
        most(&mut (0..three[0].len()).map(change))
    };
    let mean = by.windows(3).map(bend).sum::<f32>() / (by.len() - 2) as f32;
    assert!(mean < 0.12 * way, "from tick to tick it turns by {mean}, of {way}");
}

/// A soft ball in a shell of another bone, a hundredth of its radius away: pulled, it would go through the shell.
#[test]
fn flesh_draws_back_before_layers_cross() {
    let mut mesh = model("ball", 1280);
    let inner = mesh.positions.clone();
    let shell = inner.iter().map(|x| 1.02 * *x);
    let count = inner.len() as u32;
    let outer: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| t.map(|v| v + count)).collect();
    mesh = TriMesh::new(
        inner.iter().copied().chain(shell).collect(),
        mesh.triangles.iter().copied().chain(outer).collect(),
    );
    let mut weights = SkinWeights::default();
    (0..2 * count).for_each(|v| weights.push([(u16::from(v >= count), 1.0)]));
    mesh.skin_weights = Some(weights);
    let bone = |name: &str| Node { name: name.to_owned(), ..Node::default() };
    let asset = Asset {
        meshes: vec![shattered(&mesh)],
        nodes: vec![
            bone("soft"),
            bone("hard"),
            Node { mesh: Some(0), skin: Some(0), ..Node::default() },
        ],
        skins: vec![Skin {
            joints: vec![0, 1],
            inverse_bind: vec![Mat4::IDENTITY; 2],
            ..Skin::default()
        }],
        ..Asset::default()
    };
    let pairs = |retreat: bool| {
        let text = format!(
            "supple = 1\n[time]\nend = 1\n[[asset]]\nzoo = \"ball\"\n[[asset.modifier]]\nkind = \"secondary\"\n\
             retreat = {retreat}\ngravity = [0, 0, 0]\n[[asset.modifier.set]]\nname = \"middle\"\nbone = \"soft\"\n\
             anchor = [0.3, 0, 0]\nradius = 1.2\n[asset.modifier.hand.middle]\noffset = [0.3, 0.1, 0]\n"
        );
        let scene = Scene::parse(&text, None).unwrap_or_else(|p| panic!("{p}\n{text}"));
        let mut player = play(&scene, &asset);
        let positions = player.frame(4, &Run::default()).unwrap().bodies[0].positions.clone();
        let body = &player.cast()[0].body;
        let plain = player.posed(0, 4, &Run::default()).unwrap();
        let opened = body.welding().opened(&body.mesh.triangles, &plain, &positions);
        assert_eq!(opened, 0, "copies stay together");
        let moved = positions.iter().zip(&plain).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        let run = Run::default();
        (self_intersections(&positions, &body.mesh.triangles, &run).unwrap().len(), moved)
    };
    let ((free, _), (drawn_back, moved)) = (pairs(false), pairs(true));
    assert!(free > 20, "a real case: {free}");
    assert_eq!(drawn_back, 0, "of {free}");
    assert!(moved > 0.005, "it still moves: {moved}");
}

/// What `new` writes: no flesh on the guard, a closed loop at the clip's own rate, an open clip played once.
#[test]
fn starters_fit_their_clips() {
    let (asset, run) = (character(), Run::default());
    let loops = Scene::parse(&scene::starter_for("limb.glb", &asset, 0, &run).text, None).unwrap();
    assert_eq!((loops.time.fps, loops.time.end, loops.time.frames()), (24.0, 1.0, 25));
    let once = scene::starter_for("limb.glb", &asset, 1, &run);
    let scene = Scene::parse(&once.text, None).unwrap();
    assert!(once.text.contains("repeat = \"once\"") && scene.time.end == 0.5, "{}", once.text);
    // Another clip by hand: it is not wrapped where it does not close.
    let text = scene::starter_for("limb.glb", &asset, 0, &run).text;
    let other = text.replace("\nclip = \"wave\"", "\nclip = \"fall\"");
    assert_ne!(text, other);
    let fall = play(&Scene::parse(&other, None).unwrap(), &asset);
    let [end, after] = [12, 20].map(|i| fall.posed(0, i, &run).unwrap());
    assert_eq!(end, after, "it stays where it fell to");
    let mut player = play(&loops, &asset);
    let size = 4.0;
    let guard = player.cast()[0].body.parts[2].vertices.clone();
    let (mut first, mut moved) = (Vec::new(), 0.0_f32);
    for i in 0..player.frames() {
        let frame = player.frame(i, &run).unwrap();
        let plain = player.posed(0, i, &run).unwrap();
        let positions = frame.bodies[0].positions.clone();
        for cut in frame.report.figure(0, "secondary", "cut short") {
            assert_eq!(cut, 0.0, "frame {i}");
        }
        for v in guard.clone() {
            assert_eq!(positions[v as usize], plain[v as usize], "the guard is rigid");
        }
        let way = positions.iter().zip(&plain).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        moved = moved.max(way / size);
        if i == 0 {
            first = positions;
        } else if i + 1 == player.frames() {
            let gap = first.iter().zip(&positions).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
            assert!(gap < 1e-3 * size, "the loop closes within {gap}");
        }
    }
    assert!(moved > 0.002, "flesh moves by {moved} of the size");
}

/// Anchors follow morph targets and edits: flesh swings though no joint moves.
#[test]
fn flesh_follows_morphs_and_edits() {
    let flesh = "[[asset.modifier]]\nkind = \"secondary\"\nstiffness = 100\n[[asset.modifier.set]]\nanchor = [0, 0.9, 0]\nradius = 0.6\n";
    let track = "[track.go]\ninterpolation = \"linear\"\nkeys = [[0, 0], [0.3, 1]]\n";
    let edit = "[[asset.modifier]]\nkind = \"sculpt\"\namount = \"go\"\n[[asset.modifier.op]]\nkind = \"move\"\ncenter = [0, 1, 0]\n\
                by = [[0, 0.5, 0]]\ninner = 0.4\nouter = 1.2\n";
    let drawn = "[[asset.modifier]]\nkind = \"sculpt\"\namount = \"go\"\n[[asset.modifier.op]]\nkind = \"curve\"\n\
                 guide = { through = [[0, 1, 0], [0, 1.25, 0], [0, 1.5, 0]] }\n\
                 extent = { geodesic = { from = [0, 1, 0], inner = 0.6, outer = 1.6 } }\n";
    let morph = "[[asset.modifier]]\nkind = \"morph\"\nweights = { up = \"go\" }\n";
    let blend = "[[asset.modifier]]\nkind = \"blendshape\"\nmorphs = { up = \"go\" }\n";
    let mut mesh = model("ball", 800);
    let up = mesh.positions.iter().map(|p| 0.5 * p.y.max(0.0) * Vec3::Y).collect();
    mesh.morphs = vec![supple::mesh::MorphTarget {
        name: "up".to_owned(),
        positions: up,
        ..Default::default()
    }];
    let asset = Asset::from_mesh(mesh);
    for (what, drive) in
        [("morph", morph), ("edit", edit), ("curve", drawn), ("blend", blend), ("nothing", "")]
    {
        let text = format!(
            "supple = 1\n[time]\nend = 1\n[[asset]]\nzoo = \"ball\"\n{drive}{flesh}{track}"
        );
        let scene = Scene::parse(&text, None).unwrap_or_else(|p| panic!("{p}\n{text}"));
        let mut player = play(&scene, &asset);
        let stretch = |i: u32, player: &mut Player| {
            let report = player.frame(i, &Run::default()).unwrap().report;
            report.figure(0, "secondary", "stretch").next().expect("it is told")
        };
        let [still, lively] = [0, 8].map(|i| stretch(i, &mut player));
        assert!(still < 1e-6, "{what}: at rest {still}");
        // A blend is followed as the vertices around the anchor go, which is a little less.
        let least = if what == "blend" { 0.04 } else { 0.05 };
        assert_eq!(lively > least, what != "nothing", "{what}: stretched by {lively}");
    }
}

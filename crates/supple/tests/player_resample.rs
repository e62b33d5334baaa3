//! Takes that stretch their meshes get finer ones: with several meshes, and with modifiers that need the whole surface.

use std::collections::HashMap;
use std::path::Path;

use glam::Vec3;
use supple::io::uri::Policy;
use supple::mesh::TriMesh;
use supple::mesh::volume::volume;
use supple::player::Player;
use supple::rig::{Node, Transform};
use supple::scene::{Folder, Scene, Source};
use supple::{Asset, Run, io, zoo};

fn scenes() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

/// A scene of the collection, with its models at a low resolution.
fn load(name: &str, triangles: u32) -> Scene {
    let mut scene = Scene::load(&scenes().join(name), Policy::default()).expect("a scene of ours");
    for actor in &mut scene.assets {
        if let Source::Zoo { triangles: own, .. } = &mut actor.source {
            *own = Some(triangles);
        }
    }
    scene
}

/// As it is, and with finer meshes; nothing was left out.
fn both(scene: &Scene, folder: &Path) -> [Player; 2] {
    let (folder, run) = (Folder::new(folder), Run::default());
    let coarse = Player::open(scene, &folder, &run).expect("it plays").0;
    let (fine, warnings) = Player::open_resampled(scene, &folder, &run).expect("it plays");
    assert_eq!(warnings, Vec::<String>::new(), "nothing is left as it was");
    [coarse, fine]
}

/// The first body in some frames of a take.
fn positions(player: &mut Player) -> Vec<Vec<Vec3>> {
    let frames = 0..player.frames();
    let at =
        |k| player.frame(k, &Run::default()).expect("nobody cancels").bodies.remove(0).positions;
    frames.step_by(6).map(at).collect()
}

/// The longest edge in any frame.
fn longest(frames: &[Vec<Vec3>], triangles: &[[u32; 3]]) -> f32 {
    let of = |p: &Vec<Vec3>| {
        let length = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| p[i as usize]);
            a.distance(b).max(b.distance(c)).max(c.distance(a))
        };
        triangles.iter().map(length).fold(0.0, f32::max)
    };
    frames.iter().map(of).fold(0.0, f32::max)
}

fn triangles(player: &Player) -> Vec<[u32; 3]> {
    player.cast()[0].body.mesh.triangles.clone()
}

/// A ball that four hands pull out gets the triangles it needs, once for the whole take.
#[test]
fn a_take_that_stretches_is_resampled() {
    let scene = load("draggers.toml", 800);
    let [mut coarse, mut fine] = both(&scene, &scenes());
    let (few, many) = (triangles(&coarse), triangles(&fine));
    assert!(many.len() > few.len() && many.len() <= 8 * few.len(), "{} triangles", many.len());
    let before = longest(&positions(&mut coarse), &few);
    let after = longest(&positions(&mut fine), &many);
    assert!(after < 0.7 * before, "the longest edge was {before}, is {after}");
}

/// The head of `draggers` cut into a left and a right mesh; the right one is brought to its place by its node.
fn cut_head(shift: Vec3) -> Asset {
    let size = zoo::Size { triangles: Some(800) };
    let mut whole =
        zoo::build("head", &size, &Run::default()).expect("a model of the zoo").meshes.remove(0);
    // So that the node takes them back to the bit.
    whole.positions.iter_mut().for_each(|x| *x = (*x * 4096.0).round() / 4096.0);
    let is_left =
        |t: &[u32; 3]| t.iter().map(|&v| whole.positions[v as usize].x).sum::<f32>() < 0.0;
    let side = |left: bool| {
        let mut mesh = TriMesh::default();
        let mut names = HashMap::new();
        let mut name = |v: u32| {
            *names.entry(v).or_insert_with(|| {
                let at = whole.positions[v as usize];
                mesh.positions.push(if left { at } else { at - shift });
                mesh.positions.len() as u32 - 1
            })
        };
        let own = whole.triangles.iter().filter(|t| is_left(t) == left);
        let triangles = own.map(|t| t.map(&mut name)).collect();
        mesh.triangles = triangles;
        mesh
    };
    let node = |m: u32, local| Node { mesh: Some(m), local, ..Node::default() };
    Asset {
        meshes: vec![side(true), side(false)],
        nodes: vec![node(1, Transform::from_translation(shift)), node(0, Transform::IDENTITY)],
        ..Asset::default()
    }
}

/// One name for all vertices that are at one place.
fn places(positions: &[Vec3]) -> Vec<usize> {
    let mut known = HashMap::new();
    let name = |(v, p): (usize, &Vec3)| *known.entry(p.to_array().map(f32::to_bits)).or_insert(v);
    positions.iter().enumerate().map(name).collect()
}

/// Edges that have no triangle on one side.
fn open_edges(places: &[usize], triangles: &[[u32; 3]]) -> usize {
    let mut sides: HashMap<_, i32> = HashMap::new();
    for t in triangles {
        for k in 0..3 {
            let [a, b] = [t[k], t[(k + 1) % 3]].map(|v| places[v as usize]);
            *sides.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
        }
    }
    sides.values().filter(|s| **s != 0).count()
}

/// Meshes that touch are split together: none of their common border opens, at rest or later.
#[test]
fn several_meshes_are_resampled_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cut.glb");
    io::write(&file, &cut_head(0.25 * Vec3::Z)).unwrap();
    let mut scene = load("draggers.toml", 800);
    scene.assets[0].source = Source::File { file: "cut.glb".to_owned() };
    // Each mesh hangs on a node of its own: flesh is that of both.
    for set in scene.assets[0].world[0].params["set"].as_array_mut().unwrap() {
        set.as_table_mut().unwrap().insert("segments".to_owned(), "all".into());
    }
    let [mut coarse, mut fine] = both(&scene, folder.path());
    let (few, many) = (triangles(&coarse), triangles(&fine));
    assert_eq!(fine.cast()[0].body.parts.len(), 2, "still two meshes");
    for (old, new) in coarse.cast()[0].body.parts.iter().zip(&fine.cast()[0].body.parts) {
        let of = |player: &Player, part: &supple::rig::body::Part| {
            let range = part.vertices.start as usize..part.vertices.end as usize;
            player.cast()[0].body.mesh.positions[range].to_vec()
        };
        let (old, new) = (of(&coarse, old), of(&fine, new));
        assert!(new.len() > old.len(), "each is split");
        assert_eq!(new[..old.len()], old[..], "its first vertices are those it had");
    }
    let rest = fine.cast()[0].rest.meshes[0].positions.clone();
    let places = places(&rest);
    assert_eq!(open_edges(&places, &many), 0, "the seam is closed at rest");
    let (before, after) = (positions(&mut coarse), positions(&mut fine));
    // New vertices are bound half way, which rounds differently on either side: by no more than that the seam opens.
    let gaps = after.iter().flat_map(|f| places.iter().zip(f).map(|(&p, x)| x.distance(f[p])));
    let widest = gaps.fold(0.0, f32::max);
    assert!(widest < 5e-6, "and in every frame: {widest}");
    let [before, after] = [longest(&before, &few), longest(&after, &many)];
    assert!(after < 0.7 * before, "the longest edge was {before}, is {after}");
}

/// The largest volume error of any frame that was looked at.
fn volume_error(frames: &[Vec<Vec3>], triangles: &[[u32; 3]]) -> f64 {
    let of = |p: &Vec<Vec3>| volume(p, triangles, &Run::default());
    let rest = of(&frames[0]);
    frames.iter().map(|p| (of(p) / rest - 1.0).abs()).fold(0.0, f64::max)
}

/// Edits along the surface need all of it: they are played again after each round.
#[test]
fn an_edit_in_time_is_resampled() {
    let mut scene = load("twist.toml", 400);
    scene.assets[0].world[0].params["op"][0]["degrees"] = 360.0.into();
    let [mut coarse, mut fine] = both(&scene, &scenes());
    let (few, many) = (triangles(&coarse), triangles(&fine));
    assert!(many.len() > few.len() && many.len() <= 8 * few.len(), "{} triangles", many.len());
    let (old, new) = (&coarse.cast()[0].body.mesh.positions, &fine.cast()[0].body.mesh.positions);
    assert_eq!(new[..old.len()], old[..], "its first vertices are those it had");
    let [before, after] =
        [volume_error(&positions(&mut coarse), &few), volume_error(&positions(&mut fine), &many)];
    assert!(before > 0.01, "coarse, it loses volume: {before}");
    assert!(after < 0.25 * before, "volume was off by {before}, is by {after}");
}

#[test]
fn a_body_with_corrected_skinning_is_resampled() {
    let mut scene = load("three-bone-bar.toml", 300);
    scene.assets.truncate(1);
    let [mut coarse, mut fine] = both(&scene, &scenes());
    let (few, many) = (triangles(&coarse), triangles(&fine));
    assert!(many.len() > few.len() && many.len() <= 8 * few.len(), "{} triangles", many.len());
    let [before, after] = [&mut coarse, &mut fine].map(|player| {
        let frame = player.frame(player.frames() - 1, &Run::default()).unwrap();
        frame.report.volume_errors[0].expect("it is closed").abs()
    });
    assert!(after < 1e-4 && after < before.max(1e-5), "volume was off by {before}, is by {after}");
}

/// What cannot be done is told, and the scene plays as it is.
#[test]
fn what_stays_as_it_is_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cut.glb");
    io::write(&file, &cut_head(Vec3::ZERO)).unwrap();
    let document = "supple = 2\n[[asset]]\nfile = 'cut.glb'\n[[asset.world]]\nkind = 'sculpt'\n\
        [[asset.world.op]]\nkind = 'points'\nvertices = [3]\nby = [[0, 0, 0.1]]\ninner = 0.01\nouter = 0.05\n";
    let scene = Scene::parse(document, None).unwrap();
    let (here, run) = (Folder::new(folder.path()), Run::default());
    let (player, warnings) = Player::open_resampled(&scene, &here, &run).unwrap();
    assert!(warnings[0].contains("names vertices by number"), "{warnings:?}");
    let plain = Player::open(&scene, &here, &run).unwrap().0;
    assert_eq!(triangles(&player), triangles(&plain));

    let document = "supple = 2\n[[asset]]\nzoo = 'bar'\ntriangles = 200\n[[asset.world]]\nkind = 'sculpt'\n\
        remesh = true\n[[asset.world.op]]\nkind = 'twist'\naxis = [1, 0, 0]\ndegrees = 90\nfrom = -1\nto = 1\n";
    let scene = Scene::parse(document, None).unwrap();
    let (_, warnings) = Player::open_resampled(&scene, &here, &run).unwrap();
    assert!(warnings[0].contains("remesh = true"), "{warnings:?}");
}

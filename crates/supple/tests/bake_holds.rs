//! Baking: nothing lost, nothing stale, nothing mixed.

mod stage;

use std::fs;
use std::path::Path;

use glam::{Mat4, Quat, Vec2, Vec3};
use stage::{SCENE, player, scene};
use supple::bake::{BakeError, Baked, Options, WRITERS, bake};
use supple::io;
use supple::mesh::attribute::{NORMAL, UV};
use supple::mesh::{CornerAttribute, SkinWeights, Values};
use supple::player::Player;
use supple::rig::{Interpolation, Node, Track, Transform};
use supple::scene::{Folder, Scene, Source, TakeFormat};
use supple::{Asset, Run};

/// A skinned bar with a clip, a morph target, paint and split normals.
fn bar() -> Asset {
    let bar = Source::Zoo { zoo: "bar".to_owned(), triangles: None };
    let mut asset = stage::load(&bar).expect("the stage has a bar");
    let mesh = &mut asset.meshes[0];
    let vertices = mesh.positions.len();
    mesh.attributes.set("mask", Values::Scalar(vec![1.0; vertices]));
    mesh.attributes.set(UV, Values::Vec2(vec![Vec2::ZERO; vertices]));
    mesh.corners.push(CornerAttribute {
        name: NORMAL.to_owned(),
        values: Values::Vec3(vec![Vec3::X, Vec3::Y]),
        triangles: vec![[0, 1, 0]; mesh.triangles.len()],
    });
    asset
}

/// The key of a scene in which one thing was loaded, as a body, a tool or a collider.
fn key_of(text: &str, asset: &Asset) -> [u8; 32] {
    let mut load = |source: &Source| match source {
        Source::Zoo { zoo, .. } if zoo == "changing" => Ok(asset.clone()),
        other => stage::load(other),
    };
    let here = Folder::new(".".as_ref());
    let player = Player::new(&scene(text), &here, &mut load, &Run::default());
    player.unwrap_or_else(|e| panic!("{e}")).fingerprint()
}

type Change = fn(&mut Asset);

/// One of each kind of thing that an asset holds and a frame may depend on.
const CHANGES: [(&str, Change); 17] = [
    ("a position", |a| a.meshes[0].positions[7].x += 1e-6),
    ("a triangle", |a| a.meshes[0].triangles[3].rotate_left(1)),
    ("paint", |a| {
        if let Some(Values::Scalar(mask)) = a.meshes[0].attributes.get_mut("mask") {
            mask[9] = 0.5;
        }
    }),
    ("the name of paint", |a| {
        let mask = a.meshes[0].attributes.remove("mask").expect("the bar has a mask");
        a.meshes[0].attributes.set("flesh", mask);
    }),
    ("new paint", |a| {
        let n = a.meshes[0].positions.len();
        a.meshes[0].attributes.set("_VOLUME_ELBOW", Values::Scalar(vec![0.0; n]));
    }),
    ("a texture coordinate", |a| {
        if let Some(Values::Vec2(uv)) = a.meshes[0].attributes.get_mut(UV) {
            uv[0].x = 0.25;
        }
    }),
    ("a value at a corner", |a| {
        if let Values::Vec3(normals) = &mut a.meshes[0].corners[0].values {
            normals[1] = Vec3::Z;
        }
    }),
    ("which value a corner has", |a| a.meshes[0].corners[0].triangles[2] = [1, 1, 0]),
    ("skin weights", |a| {
        let n = a.meshes[0].positions.len();
        let mut weights = SkinWeights::default();
        (0..n).for_each(|_| weights.push([(0, 0.5), (1, 0.5)]));
        a.meshes[0].skin_weights = Some(weights);
    }),
    ("a morph target", |a| a.meshes[0].morphs[0].positions[5].y = 0.125),
    ("the weight of a morph target", |a| a.meshes[0].morphs[0].weight = 0.5),
    ("an inverse bind matrix", |a| {
        a.skins[0].inverse_bind[1] = Mat4::from_translation(Vec3::NEG_Z);
    }),
    ("a node's place", |a| a.nodes[1].local = Transform::from_translation(Vec3::X)),
    ("a new node", |a| a.nodes.push(Node::default())),
    ("the time of a key", |a| a.clips[0].channels[0].times[1] = 0.31),
    ("the value of a key", |a| {
        if let Track::Rotation(turns) = &mut a.clips[0].channels[0].track {
            turns[1] = Quat::from_rotation_y(0.2);
        }
    }),
    ("how a clip goes from key to key", |a| {
        a.clips[0].channels[0].interpolation = Interpolation::Step;
    }),
];

#[test]
fn whatever_changes_in_an_asset_changes_the_key() {
    let text = SCENE.replacen("zoo = \"bar\"", "name = \"bar\"\nzoo = \"changing\"", 1);
    let before = key_of(&text, &bar());
    assert_eq!(before, key_of(&text, &bar()), "the same asset has the same key");
    for (what, change) in CHANGES {
        let mut asset = bar();
        change(&mut asset);
        assert_ne!(asset, bar(), "{what} was not changed");
        assert_ne!(key_of(&text, &asset), before, "{what}");
    }
}

#[test]
fn tools_and_colliders_are_in_the_key() {
    let collider = "[[collider]]\nname = \"wall\"\nkind = \"mesh\"\nzoo = \"changing\"\n";
    let stamp = "[[asset.modifier]]\nkind = \"sculpt\"\n[[asset.modifier.op]]\nkind = \"stamp\"\n\
                 tool = { zoo = \"changing\" }\nfrom = [0, 3, 0]\nby = [[0, -1, 0]]\ninner = 0.1\nouter = 0.5\n";
    for (what, more) in [("collider", collider), ("tool", stamp)] {
        let text = format!("{}\n{more}", SCENE.split("[track.shove]").next().unwrap());
        let text = text.replace("\"shove\"", "0.5");
        let asset = |size: f32| {
            let mut cube = stage::cube();
            cube.positions.iter_mut().for_each(|x| *x *= size);
            Asset::from_mesh(cube)
        };
        let before = key_of(&text, &asset(1.0));
        assert_eq!(before, key_of(&text, &asset(1.0)));
        assert_ne!(before, key_of(&text, &asset(1.5)), "{what}");
    }
}

/// Every number, word and switch of a document, changed one at a time where the result is a scene.
#[test]
fn every_parameter_of_a_scene_is_in_the_key() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut documents: Vec<String> = vec![SCENE.to_owned()];
    for entry in fs::read_dir(&here).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            documents.push(fs::read_to_string(path).unwrap());
        }
    }
    let mut changed = 0;
    for text in &documents {
        let root: toml::Table = toml::from_str(text).unwrap();
        let before = scene(text);
        for number in 0.. {
            let mut other = root.clone();
            let mut left = number;
            let Some(place) = alter(&mut other, &mut left, "") else { break };
            if place.starts_with("output") || place.starts_with("supple") {
                continue;
            }
            let Ok(after) = Scene::parse(&toml::to_string(&other).unwrap(), None) else { continue };
            if after != before {
                assert_ne!(
                    after.to_toml(),
                    before.to_toml(),
                    "{place} is not in the document's key"
                );
                changed += 1;
            }
        }
    }
    assert!(changed > 500, "only {changed} parameters could be changed");
}

/// Changes the `left`th leaf of a document; gives its place, or nothing if there are fewer.
fn alter(table: &mut toml::Table, left: &mut usize, place: &str) -> Option<String> {
    for (key, value) in table.iter_mut() {
        if let Some(place) = alter_value(value, left, &format!("{place}{key}")) {
            return Some(place);
        }
    }
    None
}

fn alter_value(value: &mut toml::Value, left: &mut usize, place: &str) -> Option<String> {
    match value {
        toml::Value::Table(table) => return alter(table, left, &format!("{place}.")),
        toml::Value::Array(list) => {
            return list
                .iter_mut()
                .enumerate()
                .find_map(|(i, item)| alter_value(item, left, &format!("{place}[{i}]")));
        }
        _ if *left > 0 => {
            *left -= 1;
            return None;
        }
        toml::Value::Integer(n) => *n += 1,
        toml::Value::Float(x) => *x = 0.75 * *x + 0.0625,
        toml::Value::Boolean(yes) => *yes = !*yes,
        toml::Value::String(text) => text.push('2'),
        toml::Value::Datetime(_) => {}
    }
    Some(place.to_owned())
}

/// A recorded path is a file of its own: of a body and of a collider.
#[test]
fn files_beside_the_scene_are_in_the_key() {
    const BODY: &str = "supple = 1\n[[asset]]\nzoo = \"ball\"\ntriangles = 80\n\
                        [asset.motion]\nkind = \"path\"\nfile = \"path.csv\"\n";
    const COLLIDER: &str = "supple = 1\n[[asset]]\nzoo = \"ball\"\ntriangles = 80\n\
                            [[collider]]\nkind = \"sphere\"\nradius = 1\n\
                            motion = { kind = \"path\", file = \"path.csv\" }\n";
    let folder = tempfile::tempdir().unwrap();
    let here = Folder::new(folder.path());
    for text in [BODY, COLLIDER] {
        let key = |height: &str| {
            let path = format!("time,x,y,z\n0,0,0,0\n1,0,{height},0\n");
            fs::write(folder.path().join("path.csv"), path).unwrap();
            let scene = Scene::parse(text, Some(&here)).unwrap_or_else(|p| panic!("{p}"));
            let (player, _) = Player::open(&scene, &here, &Run::default()).unwrap();
            player.fingerprint()
        };
        let before = key("1");
        assert_eq!(before, key("1"));
        assert_ne!(before, key("2"), "{text}");
    }
}

fn key_in(folder: &Path, text: &str) -> [u8; 32] {
    let here = Folder::new(folder);
    let scene = Scene::parse(text, Some(&here)).unwrap_or_else(|p| panic!("{p}"));
    let (player, _) =
        Player::open(&scene, &here, &Run::default()).unwrap_or_else(|e| panic!("{e}"));
    player.fingerprint()
}

/// A flow of eight points; `x` is a velocity of the last.
fn level(x: f32) -> String {
    let zeros = "0 0 0 ".repeat(7);
    format!(
        "<VTKFile type=\"ImageData\" version=\"1.0\"><ImageData WholeExtent=\"0 1 0 1 0 1\" Origin=\"0 0 0\" \
         Spacing=\"4 4 4\"><Piece Extent=\"0 1 0 1 0 1\"><PointData Vectors=\"velocity\"><DataArray type=\"Float32\" \
         Name=\"velocity\" NumberOfComponents=\"3\" format=\"ascii\">{zeros}{x} 0 0</DataArray></PointData></Piece>\
         </ImageData></VTKFile>"
    )
}

/// Levels are read while a scene is played, one after the other; the key is made before.
#[test]
fn levels_of_a_flow_are_in_the_key() {
    const SMOKE: &str = "supple = 1\n[time]\nend = 0.5\n[flow.f]\nfile = \"FLOW\"\n[[asset]]\nname = \"s\"\n\
                         empty = true\n[[asset.modifier]]\nkind = \"smoke\"\nflow = \"f\"\n\
                         seed = [[1, 1, 1], [1, 3, 1]]\n";
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let pieces = "<VTKFile type=\"PImageData\" version=\"1.0\"><PImageData WholeExtent=\"0 1 0 1 0 1\" \
                  GhostLevel=\"0\" Origin=\"0 0 0\" Spacing=\"4 4 4\"><PPointData Vectors=\"velocity\"><PDataArray \
                  type=\"Float32\" Name=\"velocity\" NumberOfComponents=\"3\"/></PPointData><Piece \
                  Extent=\"0 1 0 1 0 1\" Source=\"piece.vti\"/></PImageData></VTKFile>";
    let series = |last: &str| {
        format!(
            "<VTKFile type=\"Collection\"><Collection><DataSet timestep=\"0\" file=\"a.vti\"/>\
             <DataSet timestep=\"1\" file=\"{last}\"/></Collection></VTKFile>"
        )
    };
    fs::write(at("one.pvd"), series("b.vti")).unwrap();
    fs::write(at("two.pvd"), series("b.pvti")).unwrap();
    fs::write(at("b.pvti"), pieces).unwrap();
    for (flow, late) in [("one.pvd", "b.vti"), ("two.pvd", "piece.vti"), ("b.pvti", "piece.vti")] {
        for name in ["a.vti", "b.vti", "piece.vti"] {
            fs::write(at(name), level(1.0)).unwrap();
        }
        let text = SMOKE.replace("FLOW", flow);
        let before = key_in(folder.path(), &text);
        assert_eq!(before, key_in(folder.path(), &text), "{flow}: the same files, the same key");
        fs::write(at(late), level(2.0)).unwrap();
        assert_ne!(before, key_in(folder.path(), &text), "{flow}: {late} has changed");
    }
}

/// TetGen has its vertices in one file and its tets in another; a scene names either.
#[test]
fn both_files_of_a_tet_body_are_in_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let ball = "supple = 1\n[[asset]]\nzoo = \"ball\"\ntriangles = 80\n[[asset.modifier]]\nkind = \"procdef\"\n\
                [asset.modifier.tets]\nfile = \"body.node\"\n";
    let node = "5 3 0 0\n0 -9 -9 -9\n1 30 -9 -9\n2 -9 30 -9\n3 -9 -9 30\n4 30 30 30\n";
    write("body.node", node);
    write("body.ele", "2 4 0\n0 0 1 2 3\n1 1 2 3 4\n");
    let before = key_in(folder.path(), ball);
    assert_eq!(before, key_in(folder.path(), ball));
    write("body.ele", "2 4 0\n0 0 1 2 3\n1 1 3 2 4\n");
    assert_ne!(before, key_in(folder.path(), ball), "the tets have changed");
}

fn ball(name: &str, size: f32) -> Asset {
    let mut mesh = stage::cube();
    name.clone_into(&mut mesh.name);
    mesh.positions.iter_mut().for_each(|x| *x *= size);
    Asset::from_mesh(mesh)
}

#[test]
fn a_bake_never_replaces_what_its_scene_reads() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    io::write(&at("bar.glb"), &ball("bar", 1.0)).unwrap();
    fs::create_dir(at("out")).unwrap();
    let before = fs::read(at("bar.glb")).unwrap();
    let text = "supple = 1\nname = \"bar\"\n[time]\nend = 0.1\n[[asset]]\nfile = \"bar.glb\"\n";
    let here = Folder::new(folder.path());
    let scene = Scene::parse(text, Some(&here)).unwrap();
    let bake_to = |output: &Path| -> Result<Baked, BakeError> {
        let (mut player, _) = Player::open(&scene, &here, &Run::default()).unwrap();
        bake(&mut player, output, &Options::default(), &WRITERS, &Run::default())
    };
    #[cfg(unix)]
    {
        // The same file under another folder's name, and as a second name of its own.
        std::os::unix::fs::symlink(folder.path(), at("link")).unwrap();
        fs::create_dir(at("hard")).unwrap();
        fs::hard_link(at("bar.glb"), at("hard/bar.glb")).unwrap();
    }
    let outputs = if cfg!(unix) { &["", ".", "out/..", "link", "hard"][..] } else { &["", "."] };
    for output in outputs {
        let error = bake_to(&at(output)).unwrap_err();
        assert!(matches!(error, BakeError::ReplacesInput { .. }), "-o {output}: {error}");
        assert!(error.to_string().contains("baked"), "names a folder that would do: {error}");
        assert_eq!(fs::read(at("bar.glb")).unwrap(), before, "-o {output}");
        assert!(!at(output).join(".supple-bake").exists(), "refused before anything is played");
    }
    bake_to(&at("out")).unwrap();
    bake_to(&at("out")).unwrap();
    assert_eq!(fs::read(at("bar.glb")).unwrap(), before);
}

#[test]
fn a_shorter_take_tells_of_the_frames_of_a_longer_one() {
    let folder = tempfile::tempdir().unwrap();
    let bake_frames = |frames| {
        let options = Options {
            frames: Some(frames),
            formats: Some(vec![TakeFormat::Ply]),
            keep_cache: false,
            check: false,
        };
        let mut player = player(&scene(SCENE)).unwrap();
        bake(&mut player, folder.path(), &options, &WRITERS, &Run::default()).unwrap()
    };
    let long = bake_frames(0..9);
    assert_eq!(long.warnings, Vec::<String>::new(), "nothing beside it");
    let short = bake_frames(0..6);
    let told = short.warnings.join("\n");
    assert!(told.contains("9 files of other frames"), "three frames of three bodies: {told}");
    assert!(
        told.contains("stage.bar.0006.ply") && told.contains("stage.thrown.0008.ply"),
        "{told}"
    );
    assert!(folder.path().join("stage.bar.0008.ply").exists(), "they are left to their owner");
}

#[test]
fn two_bodies_with_one_long_name_have_two_files() {
    const TWO: &str = "supple = 1\n[time]\nend = 0\n[[asset]]\nzoo = \"box\"\n[[asset]]\nname = \"b\"\n\
                       zoo = \"box\"\nplacement = { translate = [5, 0, 0] }\n";
    let long = "a".repeat(100);
    let mut scene = scene(TWO);
    scene.assets[0].name = format!("{long} left");
    scene.assets[1].name = format!("{long} right");
    let folder = tempfile::tempdir().unwrap();
    let formats = vec![TakeFormat::Pc2, TakeFormat::Ply];
    let options = Options { formats: Some(formats), ..Options::default() };
    let mut player = player(&scene).unwrap();
    let baked = bake(&mut player, folder.path(), &options, &WRITERS, &Run::default()).unwrap();
    let mut files = baked.files;
    files.sort();
    files.dedup();
    assert_eq!(files.len(), 4, "{files:?}");
    let first_x = |i: usize| {
        let path = files.iter().filter(|f| f.extension().is_some_and(|e| e == "ply")).nth(i);
        io::read(path.unwrap(), &io::ReadOptions::default()).unwrap().asset.meshes[0].positions[0].x
    };
    assert!((first_x(0) - first_x(1)).abs() > 4.0, "each has its own body");
}

/// Several bakes into one folder at once, over and over: each is done or told that another is.
#[test]
fn bakes_into_one_folder_are_done_or_busy() {
    const TINY: &str = "supple = 1\n[time]\nend = 0\n[[asset]]\nzoo = \"box\"\n";
    let folder = tempfile::tempdir().unwrap();
    let (scene, path) = (scene(TINY), folder.path());
    let tell = |result: Result<Baked, BakeError>| match result {
        Ok(baked) => {
            assert_eq!(baked.files.len(), 1);
            true
        }
        Err(BakeError::Busy { .. }) => false,
        Err(odd) => panic!("neither done nor busy: {odd}"),
    };
    let bakes = || {
        let mut player = player(&scene).unwrap();
        let mut once =
            || tell(bake(&mut player, path, &Options::default(), &WRITERS, &Run::default()));
        (0..300).filter(|_| once()).count()
    };
    let done: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(bakes)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(done > 0, "somebody gets through");
    let left: Vec<_> = fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["scene.glb"], "nothing but the result is left");
}

#[test]
fn what_a_bake_writes_is_about_what_it_said() {
    let formats = vec![
        TakeFormat::Glb,
        TakeFormat::Usda,
        TakeFormat::Pc2,
        TakeFormat::Mdd,
        TakeFormat::Ply,
        TakeFormat::Obj,
    ];
    for format in formats {
        let folder = tempfile::tempdir().unwrap();
        let options =
            Options { formats: Some(vec![format]), keep_cache: true, ..Options::default() };
        let mut player = player(&scene(SCENE)).unwrap();
        let said = supple::bake::estimate(&player, &options).unwrap();
        let baked = bake(&mut player, folder.path(), &options, &WRITERS, &Run::default()).unwrap();
        let size = |path: &Path| fs::metadata(path).unwrap().len() as f64;
        let files: f64 = baked.files.iter().map(|file| size(file)).sum();
        let ratio = files / said.files[0].1 as f64;
        assert!(
            (0.5..2.5).contains(&ratio),
            "{format:?}: {files} bytes, {ratio} times what was said"
        );
        let stored = fs::read_dir(folder.path().join(".supple-bake")).unwrap();
        let cache: f64 = stored.map(|entry| size(&entry.unwrap().path())).sum();
        let ratio = cache / said.cache as f64;
        assert!((0.8..2.0).contains(&ratio), "{cache} bytes stored, {ratio} times what was said");
        assert_eq!(said.total(), said.cache + said.files[0].1);
    }
}

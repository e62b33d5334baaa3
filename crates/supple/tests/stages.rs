//! Stages: where modifiers stand in a document, what is folded into the shape, what follows what.

use std::path::Path;

use glam::Vec3;
use supple::mesh::{TriMesh, Values};
use supple::player::{Frame, Player};
use supple::scene::{Folder, Scene, Source};
use supple::sculpt::{self, Move, Op, modifier::Sculpt};
use supple::{Asset, Run, zoo};

fn model(name: &str, triangles: usize) -> Asset {
    zoo::build(name, &zoo::Size { triangles: Some(triangles) }, &Run::default())
        .expect("it is sound")
}

fn scene(text: &str) -> Scene {
    Scene::parse(text, None).unwrap_or_else(|p| panic!("{p}\n{text}"))
}

fn play(text: &str, asset: &Asset) -> Player {
    let mut load = |_: &Source| Ok(asset.clone());
    Player::new(&scene(text), &Folder::new(Path::new(".")), &mut load, &Run::default())
        .unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn frame(player: &mut Player, i: u32) -> Frame {
    player.frame(i, &Run::default()).expect("nobody cancels")
}

/// One list, whose kinds act where they must, and three lists in which they stand there are the same scene.
#[test]
fn a_document_of_version_1_is_one_of_version_2() {
    let head = "[[asset]]\nzoo = \"arm\"\n";
    let [skin, morph, follow, place] = [
        "kind = \"skinning\"\nstep = \"20 deg\"\n",
        "kind = \"morph\"\nweights = {}\n",
        "kind = \"follow\"\nfrequency = 3\n",
        "kind = \"place\"\ntranslate = [1, 2, 3]\n",
    ];
    let list = "[[asset.modifier]]\n";
    let old = format!("supple = 1\n{head}{list}{follow}{list}{skin}{list}{place}{list}{morph}");
    let (pose, world) = ("[[asset.pose]]\n", "[[asset.world]]\n");
    let new = format!("supple = 2\n{head}{pose}{skin}{world}{follow}{pose}{morph}{world}{place}");
    let upgraded = scene(&old);
    assert_eq!(upgraded, scene(&new));
    assert_eq!(upgraded.supple, 2, "it is written in the new version");
    assert_eq!(scene(&upgraded.to_toml()), upgraded);
    let kinds: Vec<_> = upgraded.assets[0].modifiers().map(|(_, m)| m.kind.clone()).collect();
    assert_eq!(kinds, ["skinning", "morph", "follow", "place"], "in the order of effect");
}

/// Rigid bodies and ragdolls were motions: they are read as what they are now, with a word how to write it.
#[test]
fn a_motion_that_is_a_modifier_now_is_read_as_one() {
    let pull = |secs: u32| {
        format!(
            "pull = [{{ time = 1, position = [0, 0, 0] }}, {{ time = {secs}, position = [0, 1, 0] }}]\n"
        )
    };
    let rest = "[[asset.LIST]]\nkind = \"skinning\"\nmethod = \"closed-form\"\n";
    let body =
        |kind: &str, secs: u32| format!("kind = \"{kind}\"\nspin = [0, 90, 0]\n{}", pull(secs));
    for (version, list) in [(1, "modifier"), (2, "pose")] {
        let rest = rest.replace("LIST", list);
        for kind in ["rigid", "ragdoll"] {
            let old = |secs: u32| {
                let motion = body(kind, secs);
                format!(
                    "supple = {version}\n[[asset]]\nzoo = \"arm\"\n[asset.motion]\n{motion}{rest}"
                )
            };
            let new = old(2).replace(&format!("supple = {version}"), "supple = 2");
            let new = new.replace("[asset.motion]", "[[asset.pose]]").replace("modifier", "pose");
            let upgraded = scene(&old(2));
            assert_eq!(upgraded, scene(&new));
            assert_eq!(scene(&upgraded.to_toml()), upgraded);
            let problem = Scene::parse(&old(1), None).unwrap_err();
            assert_eq!(problem.line, 7, "the keys of its path are not in order: {problem}");
            let problem = Scene::parse(&format!("{}clpi = 1\n", old(2)), None).unwrap_err();
            assert_eq!(problem.line, 11, "and what follows is where it stands: {problem}");
        }
    }
}

#[test]
fn what_is_wrong_is_said_where_it_stands_in_either_version() {
    let hand = "[[asset.LIST.set]]\nname = \"a\"\nanchor = [0, 0, 0]\nradius = 1\n[asset.LIST.hand.b]\noffset = [0, 0, 0]\n";
    for (version, list) in [(1, "modifier"), (2, "world")] {
        let text = format!(
            "supple = {version}\n[[asset]]\nzoo = \"arm\"\n[[asset.LIST]]\nkind = \"place\"\n[[asset.LIST]]\nkind = \"secondary\"\n{hand}"
        );
        let text = text.replace("LIST", list);
        let problem = Scene::parse(&text, None).unwrap_err();
        assert!(problem.to_string().contains("no set 'b'"), "{problem}");
        assert_eq!(problem.line, 12, "{problem}");
    }
    let early = "supple = 2\n[[asset]]\nzoo = \"arm\"\n[[asset.pose]]\nkind = \"secondary\"\n";
    let problem = Scene::parse(early, None).unwrap_err();
    assert_eq!(problem.line, 5, "flesh cannot stand before the skeleton: {problem}");
    let mixed = "supple = 2\n[[asset]]\nzoo = \"arm\"\n[[asset.modifier]]\nkind = \"place\"\n";
    assert_eq!(Scene::parse(mixed, None).unwrap_err().line, 4, "one list was version 1");
}

#[test]
fn a_file_of_version_1_is_read_with_a_word_how_to_write_it() {
    let folder = std::env::temp_dir().join(format!("supple-stages-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("old.toml");
    let said = |version: u32, motion: &str| {
        let text = format!("supple = {version}\n[[asset]]\nzoo = \"arm\"\n{motion}");
        std::fs::write(&path, text).unwrap();
        let mut notes = Vec::new();
        Scene::load_noting(&path, Default::default(), &mut notes).unwrap();
        notes
    };
    assert!(said(1, "")[0].contains("[[asset.world]]"), "{:?}", said(1, ""));
    assert!(said(2, "").is_empty());
    let ragdoll = "motion = { kind = \"ragdoll\" }\n";
    assert!(said(2, ragdoll)[0].contains("[[asset.pose]]"), "{:?}", said(2, ragdoll));
    assert_eq!(said(1, ragdoll).len(), 2);
    std::fs::remove_dir_all(&folder).unwrap();
}

const BUMP: &str =
    "kind = \"move\"\ncenter = [1, 0.3, 0]\nby = [[0, 0.4, 0]]\ninner = 0.2\nouter = 0.8\n";

fn bump() -> Op {
    let (center, by) = (Vec3::new(1.0, 0.3, 0.0), vec![Vec3::new(0.0, 0.4, 0.0)]);
    Op::Move(Move { center, by, inner: 0.2, outer: 0.8, ..Move::default() })
}

fn bar(edit: &str) -> String {
    format!(
        "supple = 2\n[[asset]]\nzoo = \"rigged-bar\"\n[asset.motion]\nkind = \"keyframes\"\nclip = 0\n{edit}\
         [track.full]\nkeys = [[0, 1]]\n"
    )
}

/// A still edit of the shape as it was modelled is the same as another model, to the bit, and is not made again.
#[test]
fn still_edits_at_the_head_of_rest_are_part_of_the_shape() {
    let asset = model("rigged-bar", 1500);
    let edit = |amount: &str| {
        bar(&format!(
            "[[asset.rest]]\nkind = \"sculpt\"\namount = {amount}\n[[asset.rest.op]]\n{BUMP}"
        ))
    };
    let mut edited = asset.clone();
    let mesh = &mut edited.meshes[0];
    let plain = mesh.positions.clone();
    let (params, run) = (sculpt::Params::default(), Run::default());
    sculpt::apply(&mut mesh.positions, &mesh.triangles, &[bump()], &params, &run).unwrap();
    assert!(plain.iter().zip(&mesh.positions).any(|(a, b)| a.distance(*b) > 0.1), "it is edited");
    let mut folded = play(&edit("1"), &asset);
    let mut before = play(&bar(""), &edited);
    let mut moving = play(&edit("\"full\""), &asset);
    assert!(folded.cast()[0].modifier::<Sculpt>(0).is_none(), "nothing is left to do");
    assert!(moving.cast()[0].modifier::<Sculpt>(0).is_some(), "a track may change it");
    // What the edit costs is told, folded or not.
    assert_eq!(folded.cast()[0].rest_volume, moving.cast()[0].rest_volume);
    for i in [0, 7, 20] {
        let [a, b, c] = [&mut folded, &mut before, &mut moving].map(|p| frame(p, i));
        assert_eq!(a.bodies[0].positions, b.bodies[0].positions, "frame {i}");
        assert_eq!(a.bodies[0].positions, c.bodies[0].positions, "frame {i}");
        assert!(a.report.warnings.is_empty(), "{:?}", a.report.warnings);
    }
}

/// One rule: what is folded may be finer, whatever moves the body afterwards.
#[test]
fn a_folded_edit_may_remesh_a_body_that_moves() {
    let asset = model("rigged-bar", 400);
    let edit = |more: &str| {
        bar(&format!("[[asset.rest]]\nkind = \"sculpt\"\n{more}[[asset.rest.op]]\n{BUMP}"))
    };
    let (mut coarse, mut fine) = (play(&edit(""), &asset), play(&edit("remesh = true\n"), &asset));
    let [coarse, fine] = [&mut coarse, &mut fine].map(|p| frame(p, 7).bodies.remove(0));
    assert!(fine.positions.len() > coarse.positions.len(), "{} vertices", fine.positions.len());
    // Its first vertices are those it had, and go where they went.
    for (v, (a, b)) in coarse.positions.iter().zip(&fine.positions).enumerate() {
        assert!(a.distance(*b) < 1e-4, "vertex {v}: {a} and {b}");
    }
    let mut load = |_: &Source| Ok(asset.clone());
    let text = edit("remesh = true\namount = \"full\"\n");
    let refused =
        Player::new(&scene(&text), &Folder::new(Path::new(".")), &mut load, &Run::default());
    assert!(refused.unwrap_err().to_string().contains("never change"));
}

/// What flesh hangs on goes through all modifiers before it, in their order.
#[test]
fn anchors_follow_edits_and_the_places_after_them() {
    let asset = model("ball", 800);
    let text = "supple = 2\n[[asset]]\nzoo = \"ball\"\n\
        [[asset.world]]\nkind = \"sculpt\"\n[[asset.world.op]]\nkind = \"move\"\ncenter = [0, 1, 0]\nby = [[0, 0.5, 0]]\ninner = 0.4\nouter = 1.2\n\
        [[asset.world]]\nkind = \"place\"\nrotate = [0, 0, 90]\ntranslate = [0, 3, 0]\n\
        [[asset.world]]\nkind = \"secondary\"\ngravity = [0, 0, 0]\n[[asset.world.set]]\nanchor = [0, 0.9, 0]\nradius = 0.6\n";
    let mut player = play(text, &asset);
    let first = frame(&mut player, 0);
    let springs: Vec<_> = first.bodies[0].guides.springs().collect();
    // Up by the edit, then turned onto the x axis and up by the place.
    let expected = Vec3::new(-1.4, 3.0, 0.0);
    assert!(springs[0].anchor.distance(expected) < 1e-5, "{:?}", springs[0]);
    assert!(springs[0].mass.distance(expected) < 1e-5, "at rest: {:?}", springs[0]);
}

/// Only one of a body's modifiers moves its joints, and only one its surface after them.
#[test]
fn two_that_move_the_same_are_refused() {
    let refused = |pose: &[&str]| {
        let list = pose.iter().map(|kind| format!("[[asset.pose]]\nkind = \"{kind}\"\n"));
        let text = format!("supple = 2\n[[asset]]\nzoo = \"arm\"\n{}", list.collect::<String>());
        let mut load = |_: &Source| Ok(model("arm", 500));
        let folder = Folder::new(Path::new("."));
        Player::new(&scene(&text), &folder, &mut load, &Run::default()).err().map(|e| e.to_string())
    };
    assert_eq!(refused(&["rigid", "skinning"]), None);
    for (pose, who) in [
        (["rigid", "ragdoll"], "modifier 2 (ragdoll): it moves the joints, and modifier 1 (rigid)"),
        (["skinning", "skinning"], "modifier 1 (skinning) does so, too: keep one of them"),
    ] {
        let told = refused(&pose).unwrap_or_default();
        assert!(told.contains(who), "{pose:?}: {told}");
    }
}

/// A motion beside what moves the joints in its place is told: it would be missed.
#[test]
fn a_motion_that_moves_nothing_is_told() {
    let clip = "motion = { kind = \"keyframes\", clip = 0 }\n";
    let path = "motion = { kind = \"path\", keys = [{ time = 0, position = [0, 0, 0] }, { time = 1, position = [0, 1, 0] }] }\n";
    let told = |motion: &str, pose: &str| {
        let text = format!("supple = 2\n[[asset]]\nzoo = \"arm\"\n{motion}{pose}");
        frame(&mut play(&text, &model("arm", 500)), 0).report.warnings
    };
    let ragdoll = "[[asset.pose]]\nkind = \"ragdoll\"\n";
    assert_eq!(told("", ragdoll), [""; 0]);
    assert_eq!(told(clip, ""), [""; 0]);
    for (motion, what) in [(clip, "its clip moves no joints"), (path, "its path moves no joints")] {
        let warnings = told(motion, ragdoll);
        assert!(warnings.iter().any(|w| w.contains(what)), "{warnings:?}");
    }
}

/// A ball with a number for each vertex: its height, from 0 to 1.
fn painted(triangles: usize) -> Asset {
    let mut asset = model("ball", triangles);
    let heights =
        asset.meshes[0].positions.iter().map(|p| 0.5 + 0.5 * p.z.clamp(-1.0, 1.0)).collect();
    asset.meshes[0].attributes.set("height", Values::Scalar(heights));
    asset
}

const MASKED: &str = "[[asset.rest]]\nkind = \"sculpt\"\nmask = \"height\"\n\
    [[asset.rest.op]]\nkind = \"move\"\ncenter = [0, 0, 1]\nby = [[0, 0, 0.3]]\n";

fn painted_player(layer: &Asset) -> Result<Player, String> {
    let text = format!(
        "supple = 2\n[[asset]]\nfile = \"ball.ply\"\n[asset.paint]\nheight = \"paint.ply\"\n{MASKED}"
    );
    let mut load = |source: &Source| match source {
        Source::File { file } if file == "paint.ply" => Ok(layer.clone()),
        _ => Ok(model("ball", 1280)),
    };
    Player::new(&scene(&text), &Folder::new(Path::new(".")), &mut load, &Run::default())
        .map_err(|e| e.to_string())
}

/// Paint of the document acts as that of the asset's file does, to the bit, and decides what is stored.
#[test]
fn a_painted_layer_is_paint_of_the_file() {
    let own = format!("supple = 2\n[[asset]]\nfile = \"ball.ply\"\n{MASKED}");
    let own = frame(&mut play(&own, &painted(1280)), 0);
    let mut beside = painted_player(&painted(1280)).expect("it fits");
    assert_eq!(frame(&mut beside, 0).bodies[0].positions, own.bodies[0].positions);
    assert_ne!(own.bodies[0].positions, model("ball", 1280).meshes[0].positions);
    let mut other = painted(1280);
    let Some(Values::Scalar(heights)) = other.meshes[0].attributes.get_mut("height") else {
        panic!("it is painted");
    };
    heights[7] *= 0.875;
    let other = painted_player(&other).expect("it fits");
    assert_ne!(other.fingerprint(), beside.fingerprint(), "other paint gives other frames");
}

/// Paint made on another mesh of the same shape is read where that is nearest, and this is told.
#[test]
fn a_painted_layer_of_another_mesh_is_taken_from_the_nearest_place() {
    let here = frame(&mut painted_player(&painted(1280)).expect("it fits"), 0);
    let there = frame(&mut painted_player(&painted(4000)).expect("it fits"), 0);
    let told = &there.report.warnings[0];
    assert!(told.contains("painted layer 'height'") && told.contains("nearest"), "{told}");
    let pairs = here.bodies[0].positions.iter().zip(&there.bodies[0].positions);
    let off = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(off > 0.0 && off < 2e-3, "{off}");
}

#[test]
fn a_painted_layer_that_cannot_be_had_says_why() {
    let refused = |layer: &Asset| painted_player(layer).expect_err("it does not fit");
    let told = refused(&model("ball", 1280));
    assert!(told.contains("paint.ply: there are no values 'height' in it"), "{told}");
    let mut bad = painted(1280);
    bad.meshes[0].attributes.set("height", Values::Scalar(vec![f32::NAN; 642]));
    assert!(refused(&bad).contains("value of vertex 0 is not finite"));
    let points = painted(80).meshes[0].clone();
    let points = TriMesh { triangles: Vec::new(), groups: Vec::new(), ..points };
    let told = refused(&Asset::from_mesh(points));
    assert!(told.contains("paint.ply") && told.contains("points"), "{told}");
}

/// Of what does not go round a space the volume depends on where it is measured from: it is not told.
#[test]
fn a_sheet_has_no_volume_and_a_body_with_a_hole_has() {
    const EDIT: &str = "[[asset.rest]]\nkind = \"sculpt\"\n[[asset.rest.op]]\nkind = \"move\"\n\
        center = [0.5, 0, 0.9]\nby = [[0, 0.2, 0.3]]\n";
    let told = |zoo: &str, asset: &Asset| {
        let text = format!(
            "supple = 2\n[[asset]]\nzoo = \"{zoo}\"\nplacement = {{ translate = [9, 8, 7] }}\n{EDIT}"
        );
        frame(&mut play(&text, asset), 0).report.volume_errors[0]
    };
    let mut ball = model("ball", 1280);
    assert_eq!(told("plane", &model("plane", 400)), None);
    let half: Vec<_> = ball.meshes[0].triangles.clone();
    let up = |t: &[u32; 3]| t.iter().all(|&v| ball.meshes[0].positions[v as usize].z > 0.0);
    let bowl = TriMesh::new(
        ball.meshes[0].positions.clone(),
        half.iter().copied().filter(|t| up(t)).collect(),
    );
    assert_eq!(told("ball", &Asset::from_mesh(bowl)), None);
    ball.meshes[0].triangles.truncate(1260);
    ball.meshes[0].groups.clear();
    assert!(told("ball", &ball).is_some_and(|error| error.abs() < 0.02));
}

/// Edits that are folded into the shape are made before the first frame; the volume is still that of the asset.
#[test]
fn what_folded_edits_do_to_the_volume_is_told() {
    let text = |placement: &str| {
        format!(
            "supple = 2\n[[asset]]\nzoo = \"ball\"\nplacement = {{ {placement} }}\n[[asset.rest]]\nkind = \"sculpt\"\n\
             [[asset.rest.op]]\nkind = \"move\"\ncenter = [0, 0, 1]\nby = [[0, 0, 0.3]]\n"
        )
    };
    let ball = model("ball", 1280);
    let [one, other] = ["scale = 1", "scale = [-2, 1, 1]"].map(|placement| {
        frame(&mut play(&text(placement), &ball), 0).report.volume_errors[0].expect("it is closed")
    });
    // The triangles of a coarse ball cannot follow: 0.34 %.
    assert!((0.001..0.01).contains(&one), "{one}");
    assert!((one - other).abs() < 1e-5, "{one} {other}");
}

#[test]
fn masks_are_painted_with_shares() {
    let mut asset = painted(1280);
    let Some(Values::Scalar(heights)) = asset.meshes[0].attributes.get_mut("height") else {
        panic!("it is painted");
    };
    heights[7] = 1.5;
    let text = format!("supple = 2\n[[asset]]\nfile = \"ball.ply\"\n{MASKED}");
    let mut load = |_: &Source| Ok(asset.clone());
    let folder = Folder::new(Path::new("."));
    let told =
        Player::new(&scene(&text), &folder, &mut load, &Run::default()).expect_err("no share");
    assert!(told.to_string().contains("a painted value of 'height' is 1.5"), "{told}");
}

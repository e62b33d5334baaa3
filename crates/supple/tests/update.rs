//! A player that is given another version of its scene, and input while it plays.

use std::path::Path;
use std::sync::LazyLock;

use supple::modifier::Modifier as _;
use supple::player::{Frame, Player, RecordError};
use supple::scene::{Entry, Folder, Scene, Source};
use supple::secondary::modifier::{Params, Secondary};
use supple::{Asset, Run, zoo};

const SCENE: &str = "supple = 2\n[time]\nend = 2\n[[asset]]\nname = \"a\"\nzoo = \"jelly\"\ntriangles = 900\n\
    [[asset.world]]\nkind = \"place\"\ntranslate = [0, \"lift\", 0]\n\
    [[asset.world]]\nkind = \"secondary\"\nstiffness = 200\n\
    [[asset.world.set]]\nname = \"top\"\nanchor = [0, 1.1, 0]\nradius = 0.5\n\
    [[asset.world.set]]\nname = \"low\"\nanchor = [0, 0.4, 0]\nradius = 0.3\n\
    [[asset]]\nname = \"b\"\nzoo = \"jelly\"\ntriangles = 900\nplacement = { translate = [3, 0, 0] }\n\
    [[asset.world]]\nkind = \"follow\"\nfrequency = 3\n\
    [track.lift]\ninterpolation = \"step\"\nkeys = [[0, 0], [0.25, 0.4]]\n";

fn scene() -> Scene {
    Scene::parse(SCENE, None).unwrap_or_else(|p| panic!("{p}"))
}

fn asset() -> Asset {
    static JELLY: LazyLock<Asset> = LazyLock::new(|| {
        zoo::build("jelly", &zoo::Size { triangles: Some(900) }, &Run::default())
            .expect("the zoo has it")
    });
    JELLY.clone()
}

fn open(scene: &Scene) -> Player {
    let jelly = asset();
    let mut load = |_: &Source| Ok(jelly.clone());
    Player::new(scene, &Folder::new(Path::new(".")), &mut load, &Run::default())
        .expect("it is sound")
}

/// What an update loads is counted.
fn update(player: &mut Player, scene: &Scene) -> Result<usize, String> {
    let (jelly, mut loads) = (asset(), 0);
    let mut load = |_: &Source| {
        loads += 1;
        Ok(jelly.clone())
    };
    let folder = Folder::new(Path::new("."));
    player.update(scene, &folder, &mut load, &Run::default()).map_err(|e| e.to_string())?;
    Ok(loads)
}

fn frame(player: &mut Player, i: u32) -> Frame {
    player.frame(i, &Run::default()).expect("nobody cancels")
}

fn same(a: &Frame, b: &Frame, what: &str) {
    for (k, (a, b)) in a.bodies.iter().zip(&b.bodies).enumerate() {
        assert_eq!(a.positions, b.positions, "{what}: body {k}");
        assert_eq!(a.normals, b.normals, "{what}: body {k}");
    }
    assert_eq!(a.bodies.len(), b.bodies.len(), "{what}");
    assert_eq!(a.report.figures, b.report.figures, "{what}");
}

/// The flesh of the first body with other parameters.
fn with_flesh(change: impl Fn(&mut Params)) -> Scene {
    let mut scene = scene();
    let flesh = &mut scene.assets[0].world[1];
    let mut params = flesh.read().expect("flesh");
    change(&mut params);
    *flesh = Entry::of(Secondary::KIND, &params);
    scene
}

/// Versions of the scene with what is loaded anew for each.
fn versions() -> Vec<(&'static str, Scene, usize)> {
    let mut swapped = scene();
    swapped.assets[0].world.swap(0, 1);
    let mut fewer = scene();
    fewer.assets[0].world.remove(0);
    let mut one = scene();
    one.assets.remove(1);
    let mut moved = scene();
    moved.assets[1].placement.translate = [5.0, 0.0, 0.0];
    let mut sculpted = scene();
    sculpted.assets[0].rest =
        vec![Entry::of("sculpt", &supple::sculpt::modifier::Params::default())];
    let mut higher = scene();
    higher.tracks.get_mut("lift").expect("a track").keys[1][1] = 0.9;
    vec![
        ("a spring", with_flesh(|p| p.flesh.sets[0].stiffness = Some(90.0)), 0),
        ("all springs", with_flesh(|p| p.flesh.stiffness = Some(300.0)), 0),
        ("a radius", with_flesh(|p| p.flesh.sets[0].radius = 0.6), 0),
        ("another order", swapped, 0),
        ("one modifier less", fewer, 0),
        ("one body less", one, 0),
        ("a body elsewhere", moved, 1),
        ("an edit", sculpted, 1),
        ("a track", higher, 0),
    ]
}

/// From the start on an updated player is a new one, and loads nothing that did not change.
#[test]
fn an_updated_player_is_a_new_one_after_a_rewind() {
    for (what, version, loads) in versions() {
        let mut player = open(&scene());
        for i in 0..13 {
            frame(&mut player, i);
        }
        assert_eq!(update(&mut player, &version), Ok(loads), "{what}");
        assert_eq!(player.scene(), &version);
        frame(&mut player, 14);
        frame(&mut player, 30);
        let mut new = open(&version);
        for i in [0, 5, 20, 31] {
            same(&frame(&mut player, i), &frame(&mut new, i), what);
        }
    }
}

/// What did not change goes on as if nothing had been done.
#[test]
fn what_is_kept_goes_on() {
    let (mut plain, mut updated) = (open(&scene()), open(&scene()));
    for player in [&mut plain, &mut updated] {
        frame(player, 9);
    }
    assert_eq!(update(&mut updated, &scene()), Ok(0));
    same(&frame(&mut plain, 10), &frame(&mut updated, 10), "the same scene");
    let softer = with_flesh(|p| p.flesh.stiffness = Some(150.0));
    update(&mut updated, &softer).unwrap();
    let [a, b] = [&mut plain, &mut updated].map(|p| frame(p, 11));
    assert_eq!(a.bodies[1].positions, b.bodies[1].positions, "the other body trails on");
    let farthest = |a: &Frame, b: &Frame| {
        let pairs = a.bodies[0].positions.iter().zip(&b.bodies[0].positions);
        pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
    };
    let apart = farthest(&a, &b);
    assert!(apart > 0.0 && apart < 0.05, "a live edit does not jump: {apart}");
}

#[test]
fn an_update_that_fails_changes_nothing() {
    let (mut plain, mut player) = (open(&scene()), open(&scene()));
    for p in [&mut plain, &mut player] {
        frame(p, 7);
    }
    let wrong = with_flesh(|p| p.flesh.sets[0].bone = Some("no such bone".to_owned()));
    let error = update(&mut player, &wrong).unwrap_err();
    assert!(error.contains("no such bone"), "{error}");
    assert_eq!(player.scene(), &scene());
    same(&frame(&mut plain, 8), &frame(&mut player, 8), "as it was");
}

/// What was done live is in the scene, and replayed to the bit.
#[test]
fn recorded_input_is_replayed() {
    let mut player = open(&scene());
    let mut live = Vec::new();
    for i in 0..24 {
        if [3, 8, 15].contains(&i) {
            player.record("lift", f64::from(i) * 0.1).unwrap();
        }
        live.push(frame(&mut player, i));
    }
    let keys = &player.scene().tracks["lift"].keys;
    assert_eq!(keys.len(), 4, "the first, and three that were recorded: {keys:?}");
    assert!(keys.windows(2).all(|k| k[0][0] < k[1][0]), "{keys:?}");
    let text = player.scene().to_toml();
    let mut replayed = open(&Scene::parse(&text, None).unwrap());
    for (i, frame_live) in live.iter().enumerate() {
        same(frame_live, &frame(&mut replayed, i as u32), "replayed");
        same(frame_live, &frame(&mut player, i as u32), "and played again");
    }
    assert_ne!(live[2].bodies[0].positions, live[20].bodies[0].positions, "it did something");
}

#[test]
fn input_needs_a_track_of_steps() {
    let text = SCENE.replace("interpolation = \"step\"\n", "");
    let mut player = open(&Scene::parse(&text, None).unwrap());
    let refused = |e: &str| e.to_owned();
    assert_eq!(player.record("lift", 1.0), Err(RecordError::NotStep(refused("lift"))));
    assert_eq!(player.record("left", 1.0), Err(RecordError::NoTrack(refused("left"))));
    let mut player = open(&scene());
    assert_eq!(player.record("lift", f64::NAN), Err(RecordError::NotFinite(refused("lift"))));
}

//! The player: where bodies end up, and that nothing but the scene decides it.

mod stage;

use std::sync::atomic::AtomicBool;

use glam::{DVec3, Vec3};
use stage::{SCENE, player, scene};
use supple::Run;
use supple::modifier::AnyState;
use supple::player::FrameError;
use supple::player::{Frame, Player, State};
use supple::run::Cancelled;
use supple::spring::{Mass, Spring};

fn bits(frame: &Frame) -> Vec<u32> {
    let numbers = |b: &supple::player::BodyFrame| -> Vec<u32> {
        let all = b.positions.iter().chain(&b.normals);
        all.flat_map(|v| v.to_array().map(f32::to_bits)).collect()
    };
    frame.bodies.iter().flat_map(numbers).collect()
}

fn play(text: &str) -> Player {
    player(&scene(text)).unwrap_or_else(|e| panic!("{e}"))
}

fn frame(player: &mut Player, i: u32) -> Frame {
    player.frame(i, &Run::default()).expect("nobody cancels")
}

fn at(player: &mut Player, secs: f64) -> Frame {
    player.at(secs, &Run::default()).expect("nobody cancels")
}

#[test]
fn any_thread_count_gives_the_same_bits() {
    let mut serial = play(SCENE);
    let expected: Vec<_> = (0..25).map(|i| bits(&frame(&mut serial, i))).collect();
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let mut player = play(SCENE);
        for (i, expected) in (0..).zip(&expected) {
            let frame = player.frame(i, &run).unwrap();
            assert_eq!(bits(&frame), *expected, "{threads} threads, frame {i}");
        }
    }
}

#[test]
fn frame_rates_agree_to_the_bit_where_they_meet() {
    let rates = [24, 30, 60];
    let mut players = rates.map(|fps| play(&SCENE.replace("fps = 24", &format!("fps = {fps}"))));
    for sixth in 0..=6 {
        let frames = [0, 1, 2].map(|k| frame(&mut players[k], sixth * rates[k] / 6));
        assert_eq!(frames[0].secs.to_bits(), frames[1].secs.to_bits());
        assert_eq!(bits(&frames[0]), bits(&frames[1]), "24 and 30 fps, {sixth}/6 s");
        assert_eq!(bits(&frames[0]), bits(&frames[2]), "24 and 60 fps, {sixth}/6 s");
    }
}

/// Rates that fall between ticks look at partial steps, which must not be kept.
#[test]
fn looking_between_ticks_changes_nothing() {
    let mut straight = play(SCENE);
    let mut nosy = play(SCENE);
    let mut slow = play(&SCENE.replace("fps = 24", "fps = 25"));
    let mut fast = play(&SCENE.replace("fps = 24", "fps = 50"));
    for i in 0..=24 {
        for k in 0..4 {
            at(&mut nosy, f64::from(i) / 24.0 - 0.01 + 0.0023 * f64::from(k));
        }
        assert_eq!(bits(&frame(&mut nosy, i)), bits(&frame(&mut straight, i)), "frame {i}");
        assert_eq!(bits(&frame(&mut slow, i)), bits(&frame(&mut fast, 2 * i)), "25 and 50 fps");
    }
}

/// A partial step is a step: between ticks the motion is that of the ticks.
#[test]
fn frames_between_ticks_lie_on_the_same_motion() {
    let mut player = play(SCENE);
    let mut last: Option<Frame> = None;
    for i in 0..480 {
        let now = at(&mut player, 0.5 + f64::from(i) / 4800.0);
        if let Some(last) = last {
            let moved = |b: usize| {
                let pairs = now.bodies[b].positions.iter().zip(&last.bodies[b].positions);
                pairs.map(|(x, y)| x.distance(*y)).fold(0.0, f32::max)
            };
            assert!(moved(0) < 0.01 && moved(1) < 0.01, "jumps at step {i}: {}", moved(0));
        }
        last = Some(now);
    }
}

#[test]
fn seeking_gives_the_bits_of_playing_through() {
    let long = SCENE.replace("end = \"1 s\"", "end = \"4 s\"");
    let mut straight = play(&long);
    let expected: Vec<_> = (0..97).map(|i| bits(&frame(&mut straight, i))).collect();
    let mut seeking = play(&long);
    for i in [96, 3, 95, 0, 50, 49, 51, 13, 96] {
        assert_eq!(bits(&frame(&mut seeking, i)), expected[i as usize], "frame {i}");
    }
    assert!(frame(&mut seeking, 95).report.steps < 40, "from a snapshot, not from the start");
}

#[test]
fn a_restored_state_goes_on_to_the_same_bits() {
    let mut straight = play(SCENE);
    let expected: Vec<_> = (0..25).map(|i| bits(&frame(&mut straight, i))).collect();
    for stop in 0..25 {
        let mut first = play(SCENE);
        frame(&mut first, stop);
        let stored = postcard::to_stdvec(&first.snapshot()).unwrap();
        assert!(stored.len() < 400, "the state is small: {}", stored.len());
        let state: State = postcard::from_bytes(&stored).unwrap();
        let mut second = play(SCENE);
        second.restore(&state).unwrap();
        let next = frame(&mut second, stop + 1);
        assert!(next.report.steps <= 5, "goes on, does not start again");
        assert_eq!(Some(&bits(&next)), expected.get(stop as usize + 1).or(Some(&bits(&next))));
    }
    let mut other = play("supple = 1\n[[asset]]\nzoo = \"box\"");
    assert!(other.restore(&straight.snapshot()).is_err(), "a state of another scene");
}

/// With a thread to spare the next frame is simulated before it is asked for.
#[test]
fn what_was_simulated_ahead_is_never_shown_too_early() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let run = Run { threads: Some(&pool), ..Run::default() };
    let mut plain = play(SCENE);
    let expected: Vec<_> = (0..25)
        .map(|i| {
            let frame = frame(&mut plain, i);
            (bits(&frame), frame.report.steps, plain.snapshot())
        })
        .collect();
    let mut player = play(SCENE);
    let early = expected[4].2.clone();
    for i in [0, 1, 2, 3, 3, 4, 5, 3, 4, 5, 9, 10, 11, 20, 21, 6, 7, 8, 24] {
        let frame = player.frame(i, &run).unwrap();
        assert_eq!(bits(&frame), expected[i as usize].0, "frame {i}");
        assert_eq!(player.snapshot(), expected[i as usize].2, "state after frame {i}");
    }
    let mut player = play(SCENE);
    for (i, (_, steps, _)) in (0..12).zip(&expected) {
        assert_eq!(player.frame(i, &run).unwrap().report.steps, *steps, "steps of frame {i}");
    }
    player.restore(&early).unwrap();
    assert_eq!(bits(&player.frame(12, &run).unwrap()), expected[12].0, "from another state");
}

#[test]
fn place_and_path_move_where_they_say() {
    let mut player = play(SCENE);
    // The path turns the cube by 90° about y and puts it at (0, 2, 1): corner x goes to -z.
    let mut still =
        play(&SCENE.replace("[[asset.modifier]]\nkind = \"follow\"\n\n[[asset]]", "[[asset]]"));
    let thrown = &at(&mut still, 0.6).bodies[1].positions;
    assert!(thrown[1].abs_diff_eq(Vec3::new(0.0, 2.0, 0.0), 1e-5), "{}", thrown[1]);
    let floor = &frame(&mut player, 24).bodies[2].positions;
    assert_eq!(floor[7], Vec3::ONE, "stands still");
    let scaled = SCENE.replace("rotate = [0, 30, 0]", "scale = [1, 2, 1]");
    let report = frame(&mut play(&scaled), 0).report;
    let error = report.volume_errors[0].unwrap();
    assert!((error - 1.0).abs() < 1e-4, "twice the volume: {error}");
}

/// Shoved by one unit, the trailing body swings as the spring's closed form says.
#[test]
fn a_follower_swings_as_its_spring_does() {
    let text = "supple = 1\n[[asset]]\nzoo = \"box\"\n\
        [[asset.modifier]]\nkind = \"place\"\ntranslate = [\"x\", 0, 0]\n\
        [[asset.modifier]]\nkind = \"follow\"\nfrequency = 2\ndamping = 0.1\n\
        [track.x]\ninterpolation = \"linear\"\nkeys = [[0, 0], [0.5, 1]]\n";
    let mut player = play(text);
    let spring = Spring::from_frequency(2.0, 0.1);
    let mut mass = Mass::at_rest(DVec3::ZERO);
    mass.step(&spring, DVec3::X, DVec3::ZERO, 0.5);
    mass.step(&spring, DVec3::X, DVec3::ZERO, 0.4);
    let x = at(&mut player, 0.9).bodies[0].positions[0];
    assert!((f64::from(x.x) - mass.position.x).abs() < 1e-6, "{x} is not at {}", mass.position);
}

#[test]
fn volume_is_reported_against_rest() {
    let mut player = play(SCENE);
    let report = frame(&mut player, 0).report;
    assert_eq!(report.volume_errors.len(), 3);
    for error in report.volume_errors {
        assert!(error.unwrap().abs() < 1e-6, "at rest: {error:?}");
    }
    let flat =
        play("supple = 1\n[[asset]]\nzoo = \"box\"\n[asset.placement]\nscale = [1, 1e-9, 1]");
    assert_eq!(flat.cast()[0].rest_volume, None, "nothing enclosed");
}

/// A simulation that goes non-finite is frozen and named, and the frame still appears.
#[test]
fn what_goes_non_finite_is_frozen_and_named() {
    let mut player = play(SCENE);
    let mut state = player.snapshot();
    let mut memory = serde_json::to_value(&state.bodies[1].slots[0].memory).unwrap();
    // A mass: position, velocity, anchor.
    let bytes = memory.as_array_mut().unwrap();
    assert_eq!(bytes.len(), 9 * size_of::<f64>(), "three vectors");
    for (byte, huge) in bytes[24..32].iter_mut().zip(1.7e308_f64.to_le_bytes()) {
        *byte = huge.into();
    }
    let memory: AnyState = serde_json::from_value(memory).unwrap();
    state.bodies[1].slots[0].memory = memory;
    player.restore(&state).unwrap();
    for i in 1..4 {
        let frame = frame(&mut player, i);
        let finite = frame.bodies.iter().flat_map(|b| &b.positions).all(|x| x.is_finite());
        assert!(finite, "frame {i}");
        assert!(frame.report.warnings.iter().all(|w| w.contains("asset 'thrown'")), "{frame:?}");
        assert!(!frame.report.warnings.is_empty(), "frame {i} warns");
    }
}

/// A mirrored placement turns the triangles round, so that the outside stays outside.
#[test]
fn a_mirrored_body_is_not_inside_out() {
    let mut player =
        play("supple = 1\n[[asset]]\nzoo = \"box\"\n[asset.placement]\nscale = [-2, 1, 1]");
    assert!((player.cast()[0].rest_volume.unwrap() - 2.0).abs() < 1e-6, "positive");
    let frame = frame(&mut player, 0);
    let outward = frame.bodies[0].positions[7] - Vec3::new(-1.0, 0.5, 0.5);
    assert!(frame.bodies[0].normals[7].dot(outward) > 0.5, "{}", frame.bodies[0].normals[7]);
    assert!(frame.report.volume_errors[0].unwrap().abs() < 1e-6, "at rest");
}

#[test]
fn cancelling_stops_and_the_player_lives_on() {
    let mut player = play(SCENE);
    let expected = bits(&frame(&mut play(SCENE), 20));
    let flag = AtomicBool::new(true);
    let run = Run { cancel: Some(&flag), ..Run::default() };
    assert_eq!(player.frame(20, &run).unwrap_err(), FrameError::Cancelled(Cancelled));
    assert_eq!(bits(&frame(&mut player, 20)), expected);
}

#[test]
fn what_does_not_fit_is_an_error_that_says_so() {
    let fails = |from: &str, to: &str, says: &str| {
        assert!(SCENE.contains(from), "the scene has '{from}'");
        let error = player(&scene(&SCENE.replacen(from, to, 1))).unwrap_err().to_string();
        assert!(error.contains(says), "'{error}' should say '{says}'");
    };
    fails("clip = \"bend\"", "clip = \"bnd\"", "no clip 'bnd' (it has 'bend')");
    fails("clip = \"bend\"", "clip = 4", "no clip 4");
    fails("{ fat =", "{ fatt =", "did you mean 'fat'?");
    fails("zoo = \"box\"", "zoo = \"bax\"", "asset 'thrown': no such thing");
    let keys = &SCENE[SCENE.find("keys = [\n").unwrap()..=SCENE.find("\n]\n").unwrap() + 1];
    fails(keys, "file = \"nowhere.csv\"", "its recorded path: cannot read");
}

#[test]
fn fingerprints_tell_scenes_apart_but_not_their_outputs() {
    let of = |text: &str| play(text).fingerprint();
    let same =
        SCENE.replace("[track.shove]", "[output]\nformats = [\"ply\"]\n# note\n[track.shove]");
    assert_eq!(of(SCENE), of(&same));
    assert_ne!(of(SCENE), of(&SCENE.replace("frequency = 3", "frequency = 3.5")));
    assert_ne!(of(SCENE), of(&SCENE.replace("position = [0, 2, 1]", "position = [0, 2, 2]")));
}

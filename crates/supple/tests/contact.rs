//! Bodies in contact: with walls, bars, a ring, each other and themselves.

use std::path::Path;

use glam::Vec3;
use supple::Run;
use supple::mesh::intersect::self_intersections;
use supple::modifier::{SUBSTEPS, Substeps as _};
use supple::player::{Frame, Player};
use supple::rigid::{BoneState, Jointed, Ragdoll, RigidState};
use supple::scene::{Folder, Scene};

fn player(text: &str) -> Player {
    let folder = Folder::new(Path::new("."));
    let scene = Scene::parse(text, Some(&folder)).unwrap_or_else(|p| panic!("{p}"));
    Player::open(&scene, &folder, &Run::default()).unwrap_or_else(|e| panic!("{e}")).0
}

/// A scene of the project with a coarser asset.
fn demo(name: &str, replacements: &[(&str, &str)]) -> Player {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name);
    let mut text = std::fs::read_to_string(path).expect("a scene of the project");
    for (from, to) in replacements {
        assert!(text.contains(from), "{name} has no {from}");
        text = text.replace(from, to);
    }
    player(&text)
}

/// The deepest vertex inside a collider, as a share of the collider's size.
fn deepest(player: &Player, frame: &Frame) -> f32 {
    let mut deepest = 0.0_f32;
    for (collider, place) in player.colliders().iter().zip(&frame.colliders) {
        let size = collider.size.unwrap_or(2.0);
        for x in frame.bodies.iter().flat_map(|b| &b.positions) {
            let local = place.to_local(*x);
            for part in collider.parts.iter().filter(|p| p.contains(local)) {
                deepest = deepest.max(-part.probe(local, Vec3::ZERO).distance / size);
            }
        }
    }
    deepest
}

#[test]
fn a_camel_falls_through_walls_and_bars() {
    let mut player =
        demo("ragdoll.toml", &[("zoo = \"camel\"", "zoo = \"camel\"\ntriangles = 10000")]);
    let run = Run::default();
    let mut touched = 0;
    let start = middle(&player.frame(0, &run).unwrap()).y;
    for i in (0..player.frames()).step_by(3) {
        let frame = player.frame(i, &run).unwrap();
        let inside = deepest(&player, &frame);
        let contact = frame.report.contacts[0];
        touched += u32::from(contact.contacts > 0);
        assert!(inside <= 1e-3, "frame {i}: {inside}");
        assert!(contact.volume_change.abs() < 2e-3, "frame {i}: {contact:?}");
        assert!(middle(&frame).y <= start + 1e-4, "frame {i}: energy came from nowhere");
        assert_eq!(contact.projected, 0, "frame {i}: fields suffice");
    }
    assert!(touched > 10, "it hits things: {touched}");
}

/// A camel of bones, with nothing to fall for.
const FLOATING: &str = "supple = 1\n[time]\nend = 3\nfps = 24\n[[asset]]\nzoo = \"camel\"\ntriangles = 1500\n\
    motion = { kind = \"ragdoll\", gravity = [0, 0, 0], drag = 0 }\n";

#[test]
fn bent_joints_return_to_the_rest_pose() {
    let ball = "[[collider]]\nkind = \"sphere\"\nradius = 0.3\nmotion = { kind = \"path\", keys = [\
        { time = 0, position = [0, 0.3, 2.5] }, { time = 0.6, position = [0, 0.3, 0.6] }, \
        { time = 1, position = [0, -9, 0.6] }] }\n";
    let mut player = player(&format!("{FLOATING}{ball}"));
    let run = Run::default();
    let rest = player.frame(0, &run).unwrap().bodies[0].positions.clone();
    // Distances between vertices do not change when all of the body moves as one.
    let bent = |positions: &[Vec3]| {
        (0..rest.len() / 2)
            .map(|i| (i, rest.len() - 1 - i))
            .map(|(i, j)| (positions[i].distance(positions[j]) - rest[i].distance(rest[j])).abs())
            .fold(0.0, f32::max)
    };
    let hit = bent(&player.at(0.7, &run).unwrap().bodies[0].positions);
    assert!(hit > 0.1, "the ball bends it: {hit}");
    let after = bent(&player.at(12.0, &run).unwrap().bodies[0].positions);
    assert!(after < 0.01, "and it returns: {after}");
}

/// The bones of the first body, to be asked for their energy.
fn bones(player: &Player) -> &Ragdoll {
    player.cast()[0].modifier::<Jointed>(0).expect("a ragdoll").0.ragdoll()
}

/// Two swings a second by default, whatever the shape of the bone.
#[test]
fn a_leg_swings_at_the_frequency_of_its_joint() {
    let player = player(&FLOATING.replace("drag = 0", "drag = 0, joint_damping = 0"));
    let ragdoll = bones(&player);
    let mut state = ragdoll.begin();
    state.bones[3].spin = Vec3::X;
    let swing = |bones: &[BoneState]| {
        let [trunk, leg] = [0, 3].map(|b: usize| bones[b].place.rotation);
        (trunk.inverse() * leg).to_scaled_axis().x
    };
    let mut ticks = 0;
    while ticks < 120 && (ticks == 0 || swing(&state.bones) > 0.0) {
        let mut stepper = ragdoll.begin_tick(&state, 1.0 / 120.0);
        for _ in 0..SUBSTEPS {
            stepper.substep(0.0, &[], &mut state).expect("finite");
        }
        ticks += 1;
    }
    assert!((24..=38).contains(&ticks), "half a swing takes {ticks} of 30 ticks");
}

/// It begins with nothing stored in joints and contacts, so what moves and what is high can never have
/// more than at the start.
fn energy_never_grows(player: &mut Player, secs: f64, what: &str) {
    let run = Run::default();
    let energy = |player: &Player| {
        let slot = &player.snapshot().bodies[0].slots[0];
        bones(player).energy(slot.memory.get::<RigidState>().expect("that of bones"))
    };
    player.at(0.0, &run).expect("nobody cancels");
    let (start, mut most) = (energy(player), f64::MIN);
    for tick in 1..=(secs * 24.0) as u32 {
        player.at(f64::from(tick) / 24.0, &run).expect("nobody cancels");
        most = most.max(energy(player));
    }
    assert!(most <= start * (1.0 + 1e-3), "{what}: {start} became {most}");
    let last = energy(player);
    assert!(last < 0.9 * start, "{what}: it fell and lost energy, {start} became {last}");
}

#[test]
fn energy_of_ragdolls_never_grows_without_input() {
    let coarse = ("zoo = \"camel\"", "zoo = \"camel\"\ntriangles = 1500");
    energy_never_grows(&mut demo("ragdoll.toml", &[coarse]), 5.0, "the scene");
    let mut seed = 7_u64;
    let mut random = |scale: f64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        scale * ((seed >> 33) as f64 / f64::from(1_u32 << 30) - 1.0)
    };
    for _ in 0..4 {
        let [a, b, c] = [0; 3].map(|_| random(180.0));
        let [x, y, z] = [0; 3].map(|_| random(2.0));
        let [p, q, r] = [0; 3].map(|_| random(200.0));
        let thrown = format!(
            "supple = 1\n[time]\nend = 4\n[[asset]]\nzoo = \"camel\"\ntriangles = 1500\n\
             placement = {{ translate = [0, 3, 0], rotate = [{a}, {b}, {c}] }}\n\
             motion = {{ kind = \"ragdoll\", velocity = [{x}, {y}, {z}], spin = [{p}, {q}, {r}] }}\n\
             [[collider]]\nkind = \"plane\"\n\
             [[collider]]\nkind = \"box\"\nsize = [1, 1, 3]\nplacement = {{ rotate = [0, 30, 10] }}\n"
        );
        energy_never_grows(&mut player(&thrown), 4.0, &thrown);
    }
}

#[test]
fn a_ragdoll_at_rest_stays_at_rest() {
    let run = Run::default();
    let mut floating = player(FLOATING);
    let rest = floating.frame(0, &run).unwrap().bodies[0].positions.clone();
    let later = floating.at(3.0, &run).unwrap().bodies[0].positions.clone();
    let moved = rest.iter().zip(&later).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(moved < 1e-4, "with nothing to fall for it moved by {moved}");
    let fallen = "supple = 1\n[time]\nend = 3\n[[asset]]\nzoo = \"camel\"\ntriangles = 1500\n\
        placement = { translate = [0, 0.5, 0] }\nmotion = { kind = \"ragdoll\" }\n\
        [[collider]]\nkind = \"plane\"\n";
    let mut fallen = player(fallen);
    let mut at = |secs: f64| fallen.at(secs, &run).unwrap().bodies[0].positions.clone();
    let (before, after) = (at(15.0), at(17.0));
    let moved = before.iter().zip(&after).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(moved < 2e-2, "on the floor it moved by {moved} in two seconds");
}

#[test]
fn ragdolls_do_not_depend_on_frame_rate_or_threads() {
    let coarse = ("zoo = \"camel\"", "zoo = \"camel\"\ntriangles = 1500");
    let run = Run::default();
    let expected = demo("ragdoll.toml", &[coarse]).frame(24, &run).unwrap().bodies;
    for (fps, frame) in [("fps = 30", 30), ("fps = 60", 60)] {
        let mut other = demo("ragdoll.toml", &[coarse, ("fps = 24", fps)]);
        assert_eq!(other.frame(frame, &run).unwrap().bodies, expected, "{fps}");
    }
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let mut other = demo("ragdoll.toml", &[coarse]);
        assert_eq!(other.frame(24, &run).unwrap().bodies, expected, "{threads} threads");
    }
}

/// The ring's hole is a fifth narrower than the head, and its depth a third.
#[test]
fn a_head_goes_through_a_ring() {
    for fps in [24, 60] {
        let coarse = ("triangles = 16532", "triangles = 9000");
        let mut player = demo("ring.toml", &[coarse, ("fps = 24", &format!("fps = {fps}"))]);
        let run = Run::default();
        let rest = player.cast()[0].rest.meshes[0].clone();
        let before = self_intersections(&rest.positions, &rest.triangles, &run).unwrap().len();
        let mut narrowest = f32::INFINITY;
        for i in (0..player.frames()).step_by(fps / 6) {
            let frame = player.frame(i, &run).unwrap();
            let inside = deepest(&player, &frame);
            let contact = frame.report.contacts[0];
            let volume = frame.report.volume_errors[0].unwrap();
            let positions = &frame.bodies[0].positions;
            let crossings = self_intersections(positions, &rest.triangles, &run).unwrap().len();
            assert!(crossings <= before, "frame {i}: {crossings} pairs of triangles cross");
            assert!(inside <= 1e-3, "frame {i}: {inside}");
            assert!(volume.abs() < 1e-3, "frame {i}: volume {volume}");
            assert_eq!(contact.projected, 0, "frame {i}: fields suffice");
            let in_the_ring = positions.iter().filter(|x| x.y.abs() < 0.05);
            let reach = in_the_ring.map(|x| x.x.hypot(x.z)).fold(0.0, f32::max);
            narrowest = if reach > 0.7 { narrowest.min(reach) } else { narrowest };
        }
        assert!(narrowest < 0.76, "it touches all around: {narrowest}");
        let last = player.frame(player.frames() - 1, &run).unwrap();
        let lowest = last.bodies[0].positions.iter().map(|x| x.y).fold(f32::INFINITY, f32::min);
        assert!(lowest > 0.0, "it is through: {lowest}");
    }
}

/// A ball of radius 1 and what it falls on.
fn ball(motion: &str, more: &str) -> String {
    format!(
        "supple = 1\n[time]\nend = 3\nfps = 24\n[[asset]]\nzoo = \"ball\"\ntriangles = 1280\n{motion}\n{more}\n"
    )
}

const FALLING: &str =
    "placement = { translate = [0, 2, 0] }\nmotion = { kind = \"rigid\" }\n[asset.contact]";
const FLOOR: &str = "[[collider]]\nkind = \"plane\"";

fn middle(frame: &Frame) -> Vec3 {
    let positions = &frame.bodies[0].positions;
    positions.iter().sum::<Vec3>() / positions.len() as f32
}

#[test]
fn a_ball_comes_to_rest_and_stays_at_rest() {
    let mut player = player(&ball(FALLING, FLOOR));
    let run = Run::default();
    let settled = middle(&player.at(10.0, &run).unwrap());
    assert!(settled.y > 0.75 && settled.y < 1.05, "lies on the floor: {settled}");
    for secs in [10.5, 11.0, 12.0] {
        let frame = player.at(secs, &run).unwrap();
        let moved = middle(&frame).distance(settled);
        assert!(moved < 2e-3, "at {secs} s it has moved by {moved}");
        assert!(deepest(&player, &frame) <= 1e-3, "at {secs} s");
        let volume = frame.report.volume_errors[0].unwrap();
        assert!(volume.abs() < 5e-3, "at {secs} s the volume is off by {volume}");
    }
}

#[test]
fn no_bounce_is_higher_than_the_one_before() {
    let mut player = player(&ball(FALLING, FLOOR));
    let run = Run::default();
    let heights: Vec<f32> =
        (0..=400).map(|i| middle(&player.at(f64::from(i) * 0.01, &run).unwrap()).y).collect();
    let peaks: Vec<f32> =
        heights.windows(3).filter(|w| w[1] > w[0] && w[1] > w[2]).map(|w| w[1]).collect();
    assert!(peaks.iter().all(|p| *p < 2.0), "energy came from nowhere: {peaks:?}");
    assert!(peaks.windows(2).all(|w| w[1] <= w[0] + 2e-3), "{peaks:?}");
}

#[test]
fn frames_do_not_depend_on_their_rate_their_order_or_the_threads() {
    let text = ball(
        "placement = { translate = [0.3, 2, 0] }\nmotion = { kind = \"rigid\", spin = [90, 0, 40] }",
        "[[collider]]\nkind = \"plane\"\n[[collider]]\nkind = \"sphere\"\nradius = 0.4\nplacement = { translate = [0, 0.3, 0] }",
    );
    let run = Run::default();
    let mut steady = player(&text);
    let frames: Vec<Frame> = (0..=24).map(|i| steady.frame(i, &run).unwrap()).collect();
    let snapshot = {
        let mut other = player(&text.replace("fps = 24", "fps = 60"));
        for i in 0..=60 {
            let frame = other.frame(i, &run).unwrap();
            if i % 5 == 0 {
                assert_eq!(frame.bodies, frames[i as usize * 2 / 5].bodies, "frame {i} of 60");
            }
        }
        other.snapshot()
    };
    let mut again = player(&text);
    assert_eq!(again.frame(24, &run).unwrap().bodies, frames[24].bodies, "straight there");
    assert_eq!(again.frame(11, &run).unwrap().bodies, frames[11].bodies, "and back");
    let bytes = serde_json::to_vec(&snapshot).unwrap();
    again.restore(&serde_json::from_slice(&bytes).unwrap()).unwrap();
    let on = again.frame(30, &run).unwrap();
    assert_eq!(on.bodies, steady.frame(30, &run).unwrap().bodies, "from a stored state");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let two = Run { threads: Some(&pool), ..Run::default() };
    let mut threaded = player(&text);
    assert_eq!(threaded.frame(24, &two).unwrap().bodies, frames[24].bodies, "two threads");
}

#[test]
fn a_fast_ball_does_not_pass_a_thin_wall() {
    let wall =
        "[[collider]]\nkind = \"box\"\nsize = [0.05, 8, 8]\nplacement = { translate = [4, 0, 0] }";
    let motion = "motion = { kind = \"rigid\", gravity = [0, 0, 0], velocity = [60, 0, 0] }\n[asset.contact]";
    let mut player = player(&ball(motion, wall));
    let run = Run::default();
    for i in 0..24 {
        let frame = player.frame(i, &run).unwrap();
        let farthest = frame.bodies[0].positions.iter().map(|x| x.x).fold(f32::MIN, f32::max);
        assert!(farthest < 4.0, "frame {i}: a vertex is at {farthest}");
    }
    assert!(middle(&player.frame(48, &run).unwrap()).x < 3.0, "it bounced back");
}

#[test]
fn a_body_inside_a_collider_gets_out_or_says_so() {
    let around =
        "[[collider]]\nkind = \"box\"\nsize = [6, 6, 6]\nplacement = { translate = [0, 0, 0] }";
    let mut player = player(&ball("[asset.contact]", around));
    let frame = player.frame(0, &Run::default()).unwrap();
    assert!(frame.bodies[0].positions.iter().all(|x| x.is_finite()), "finite");
    assert!(deepest(&player, &frame) <= 1e-3, "out of it");
}

#[test]
fn two_balls_flatten_each_other() {
    let text = ball(
        "motion = { kind = \"path\", keys = [{ time = 0, position = [-2, 0, 0] }, { time = 1, position = [-0.85, 0, 0] }] }\n[asset.contact]",
        "[[asset]]\nname = \"other\"\nzoo = \"ball\"\ntriangles = 1280\nmotion = { kind = \"path\", keys = [{ time = 0, position = [2, 0, 0] }, { time = 1, position = [0.85, 0, 0] }] }\n[asset.contact]",
    );
    let mut player = player(&text);
    let frame = player.frame(24, &Run::default()).unwrap();
    let [left, right] = [&frame.bodies[0].positions, &frame.bodies[1].positions];
    let farthest = left.iter().map(|x| x.x).fold(f32::MIN, f32::max);
    let nearest = right.iter().map(|x| x.x).fold(f32::MAX, f32::min);
    assert!(farthest <= nearest + 1e-4, "one ends at {farthest}, the other begins at {nearest}");
    for volume in &frame.report.volume_errors {
        assert!(volume.unwrap().abs() < 5e-3, "{volume:?}");
    }
    let mirrored = left.iter().map(|x| x.x).sum::<f32>() + right.iter().map(|x| x.x).sum::<f32>();
    assert!(mirrored.abs() / (left.len() as f32) < 0.02, "both give way alike: {mirrored}");
}

#[test]
fn fingers_give_way_to_the_palm() {
    let run = Run::default();
    let closed = |itself: &str| {
        let mut player = demo("fist.toml", &[("itself = true", itself)]);
        let frame = player.at(1.0, &run).unwrap();
        let change = frame.report.contacts[0].volume_change;
        assert!(change.abs() < 0.01, "{itself}: the volume changes by {change}");
        let triangles = &player.cast()[0].body.mesh.triangles;
        let positions = frame.bodies[0].positions.clone();
        (self_intersections(&positions, triangles, &run).unwrap().len(), positions)
    };
    let ((with, parted), (without, plain)) = (closed("itself = true"), closed("itself = false"));
    assert!(3 * with < 2 * without, "{with} pairs of triangles cross, {without} without contact");
    let farthest = parted.iter().zip(&plain).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(farthest < 0.01, "a fingertip is that thick, {farthest} is moved");
}

/// How far a dent reaches is a matter of taste: it must not tear the hand.
#[test]
fn fingers_of_any_softness_stay_in_shape() {
    let run = Run::default();
    let places = |settings: &str| {
        let mut player = demo("fist.toml", &[("softness = 1\nitself = true", settings)]);
        player.at(0.9, &run).unwrap().bodies[0].positions.clone()
    };
    let plain = places("itself = false");
    for softness in [0.15, 0.4, 3.0] {
        let parted = places(&format!("softness = {softness}\nitself = true"));
        let farthest = parted.iter().zip(&plain).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(farthest < 0.01, "softness {softness}: {farthest}");
    }
}

/// The hulls of a boxer on his guard are in each other, his skin is not; a fist is.
#[test]
fn a_body_that_meets_itself_does_not_swell() {
    for (zoo, clip, secs, touches) in [("boxer", "guard", 0.25, false), ("hand", "fist", 1.0, true)]
    {
        let mut player = player(&format!(
            "supple = 1\n[time]\nend = 1\n[[asset]]\nzoo = \"{zoo}\"\ntriangles = 4000\n\
             motion = {{ kind = \"keyframes\", clip = \"{clip}\" }}\ncontact = {{ itself = true }}\n"
        ));
        let report = player.at(secs, &Run::default()).unwrap().report;
        let contact = report.contacts[0];
        assert_eq!(contact.moves(), touches, "{zoo}: {contact:?}");
        assert!(contact.volume_change.abs() < 0.005, "{zoo}: {contact:?}");
        let told = report.warnings.iter().any(|w| w.contains("too deep in each other"));
        assert_eq!(told, contact.unparted > 0, "{zoo}: {:?}", report.warnings);
    }
}

#[test]
fn wrong_colliders_are_named_with_their_line() {
    let problem = |text: &str| {
        let folder = Folder::new(Path::new("."));
        Scene::parse(text, Some(&folder)).unwrap_err()
    };
    let unknown = problem("supple = 1\n[[collider]]\nkind = \"blob\"\n");
    assert_eq!(unknown.line, 3);
    assert!(unknown.to_string().contains("capsule"), "{unknown}");
    let flat = problem("supple = 1\n[[collider]]\nkind = \"sphere\"\nradius = 0\n");
    assert_eq!(flat.line, 4);
    let ride = problem("supple = 1\n[[collider]]\nkind = \"plane\"\nrides = { asset = \"dog\" }\n");
    assert!(ride.to_string().contains("'dog'"), "{ride}");
    let run = Run::default();
    let folder = Folder::new(Path::new("."));
    let open =
        "supple = 1\n[[asset]]\nzoo = \"ball\"\n[[collider]]\nkind = \"mesh\"\nzoo = \"plane\"\n";
    let scene = Scene::parse(open, Some(&folder)).unwrap();
    let error = Player::open(&scene, &folder, &run).unwrap_err().to_string();
    assert!(error.contains("open"), "{error}");
}

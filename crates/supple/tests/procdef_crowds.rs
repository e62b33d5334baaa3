//! Crowds of bodies moved from inside: they lie on each other, crawl over each other, and never through.

use std::path::{Path, PathBuf};

use glam::Vec3;
use supple::io::uri::Policy;
use supple::mesh::measure::Bounds;
use supple::mesh::winding::Winding;
use supple::player::{Frame, Player};
use supple::scene::{Folder, Scene};
use supple::{Run, zoo};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

/// A scene with some of its bodies.
fn crowd(name: &str, wanted: impl Fn(usize) -> bool) -> Scene {
    let file = folder().join(format!("procdef-{name}.toml"));
    let mut scene = Scene::load(&file, Policy::default()).expect("a scene of ours");
    let mut number = 0;
    scene.assets.retain(|_| {
        number += 1;
        wanted(number - 1)
    });
    scene
}

fn open(scene: &Scene) -> Player {
    Player::open(scene, &Folder::new(&folder()), &Run::default()).expect("it plays").0
}

/// How deep the deepest vertex of a body is in another, and how many are in one.
fn deepest(frame: &Frame) -> (f32, usize) {
    let run = Run::default();
    let bounds: Vec<Bounds> =
        frame.bodies.iter().map(|b| Bounds::of(&b.positions).expect("vertices")).collect();
    let (mut depth, mut count) = (0.0_f32, 0);
    for (i, inside) in frame.bodies.iter().enumerate() {
        let near = |j: &usize| *j != i && bounds[*j].overlaps(&bounds[i]);
        let others: Vec<usize> = (0..frame.bodies.len()).filter(near).collect();
        if others.is_empty() {
            continue;
        }
        let solid = Winding::new(&inside.positions, inside.topology.triangles(), &run);
        for x in others.iter().flat_map(|&j| &frame.bodies[j].positions) {
            let box_of = &bounds[i];
            let outside = x.cmplt(box_of.min).any() || x.cmpgt(box_of.max).any();
            if outside || !solid.inside(*x) {
                continue;
            }
            let nearest = solid.bvh().closest_point(*x).expect("a surface").point;
            depth = depth.max(nearest.distance(*x));
            count += 1;
        }
    }
    (depth, count)
}

/// The middle lines of worms: the mean of their vertices in slices along them.
fn middles(frame: &Frame) -> Vec<Vec<Vec3>> {
    const SLICES: usize = 24;
    let rest = zoo::tet_bodies::surface("worm", Some(900)).expect("a worm");
    let slice = |x: &Vec3| (((x.x + 0.5) * SLICES as f32) as usize).min(SLICES - 1);
    let of = |positions: &Vec<Vec3>| {
        let mut sums = vec![(Vec3::ZERO, 0.0_f32); SLICES];
        for (x, home) in positions.iter().zip(&rest.positions) {
            let sum = &mut sums[slice(home)];
            *sum = (sum.0 + *x, sum.1 + 1.0);
        }
        sums.into_iter().filter(|s| s.1 > 0.0).map(|(sum, n)| sum / n).collect()
    };
    assert_eq!(rest.positions.len(), frame.bodies[0].positions.len(), "the scene's own worm");
    frame.bodies.iter().map(|b| of(&b.positions)).collect()
}

/// The smallest distance between the middle lines of two worms.
fn nearest_middles(frame: &Frame) -> f32 {
    let lines = middles(frame);
    let boxes: Vec<Bounds> = lines.iter().map(|l| Bounds::of(l).expect("slices")).collect();
    let mut nearest = f32::INFINITY;
    for i in 0..lines.len() {
        for j in (0..i).filter(|&j| boxes[j].grown(0.1).overlaps(&boxes[i])) {
            for a in lines[i].windows(2) {
                nearest = lines[j].windows(2).map(|b| apart(a, b)).fold(nearest, f32::min);
            }
        }
    }
    nearest
}

/// The distance of two segments, sampled.
fn apart(a: &[Vec3], b: &[Vec3]) -> f32 {
    let at = |s: &[Vec3], k: u16| s[0].lerp(s[1], f32::from(k) / 8.0);
    let ends = |k: u16| (0..=8).map(move |m| at(a, k).distance_squared(at(b, m)));
    (0..=8).flat_map(ends).fold(f32::INFINITY, f32::min).sqrt()
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures in docs/contact.md")]
fn worms_crawl_over_each_other_and_never_through() {
    // A corner of the tray: worms of both layers, and its walls.
    let scene = crowd("worms", |k| k < 12 || (51..63).contains(&k));
    let mut player = open(&scene);
    let (mut touched, mut nearest) = (0, f32::INFINITY);
    let start: Vec<Vec3> = {
        let frame = player.frame(0, &Run::default()).expect("a frame");
        frame.bodies.iter().map(|b| b.positions[0]).collect()
    };
    let (mut moved, mut deep, mut under) = (0.0_f32, 0.0_f32, 0.0_f32);
    for i in (4..=96).step_by(4) {
        let frame = player.frame(i, &Run::default()).expect("a frame");
        assert!(frame.report.warnings.is_empty(), "{:?}", frame.report.warnings);
        let (depth, count) = deepest(&frame);
        deep = deep.max(depth);
        touched += count;
        nearest = nearest.min(nearest_middles(&frame));
        let low = frame.bodies.iter().flat_map(|b| &b.positions).map(|x| x.y);
        under = under.max(-low.fold(f32::INFINITY, f32::min));
        let ways = frame.bodies.iter().zip(&start).map(|(b, x)| b.positions[0].distance(*x));
        moved = ways.fold(moved, f32::max);
    }
    println!("worms: {deep:.4} deep, {under:.4} under the ground, middles {nearest:.4} apart");
    assert!(deep < 0.015, "{deep} deep in each other");
    assert!(under < 0.015, "{under} under the ground");
    assert!(touched > 0, "some lie on each other");
    assert!(nearest > 0.02, "middle lines came within {nearest}: worms are 0.06 thick");
    assert!(moved > 0.05, "the fastest went {moved} lengths in four seconds");
}

/// The deepest vertex in five seconds of some jellyfish that swim towards each other from nearby.
fn deepest_jellyfish(touching: bool) -> f32 {
    let mut scene =
        crowd("jellyfishes", |k| k == 15 || (6..10).contains(&k) || (20..24).contains(&k));
    for actor in &mut scene.assets {
        actor.placement.translate = actor.placement.translate.map(|c| 0.85 * c);
        actor.contact = actor.contact.filter(|_| touching);
    }
    let mut player = open(&scene);
    let frames = (8..=120).step_by(16);
    let depth = |i| deepest(&player.frame(i, &Run::default()).expect("a frame")).0;
    frames.map(depth).fold(0.0, f32::max)
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures in docs/contact.md")]
fn jellyfish_push_each_other_and_never_pass() {
    let (apart, through) = (deepest_jellyfish(true), deepest_jellyfish(false));
    println!("jellyfish: {apart:.4} deep, {through:.4} without contact");
    assert!(apart < 0.035, "{apart} deep");
    assert!(through > apart, "without contact {through}, with {apart}");
}

#[test]
fn a_crowd_has_the_same_bits_for_any_threads_and_after_seeking() {
    let scene = crowd("worms", |k| k < 6 || (51..57).contains(&k));
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let (two, eight) = (pool(2), pool(8));
    let runs = [Some(&two), Some(&eight)].map(|threads| Run { threads, ..Run::default() });
    let mut one = open(&scene);
    let expected = one.frame(24, &Run::default()).expect("a frame");
    let positions = |frame: &Frame| -> Vec<Vec3> {
        frame.bodies.iter().flat_map(|b| b.positions.clone()).collect()
    };
    for run in runs {
        let mut player = open(&scene);
        let _ = player.frame(30, &run).expect("a frame");
        let frame = player.frame(24, &run).expect("a frame");
        assert!(positions(&frame) == positions(&expected), "{} threads", run.thread_count());
    }
}

#[test]
fn a_body_lies_on_a_collider_and_rides_on_a_moving_one() {
    let text = |motion: &str| {
        format!(
            r#"
            supple = 1
            [[asset]]
            zoo = "worm"
            triangles = 900
            placement = {{ translate = [0, 0.04, 0], rotate = [0, 90, 0] }}
            contact = {{}}
            [[asset.modifier]]
            kind = "procdef"
            gravity = [0, -9.81, 0]
            tets = {{ zoo = "worm", nodes = 120 }}
            [[collider]]
            kind = "box"
            size = [4, 1, 8]
            placement = {{ translate = [0, -0.5, 0] }}
            {motion}
            "#
        )
    };
    let play = |motion: &str| {
        let scene = Scene::parse(&text(motion), None).expect("a scene");
        let frame = open(&scene).frame(48, &Run::default()).expect("a frame");
        let x = &frame.bodies[0].positions;
        let low = x.iter().map(|x| x.y).fold(f32::INFINITY, f32::min);
        (x.iter().sum::<Vec3>() / x.len() as f32, low)
    };
    let (center, low) = play("");
    assert!(low.abs() < 0.01, "it lies on the box: {low}");
    assert!(center.x.abs() < 0.01 && center.z.abs() < 0.01, "it stays: {center}");
    let keys = "keys = [{ time = 0, position = [0, 0, 0] }, { time = 2, position = [1, 0, 0] }]";
    let (carried, low) = play(&format!("motion = {{ kind = \"path\", {keys} }}"));
    assert!(low.abs() < 0.01, "it lies on the moving box: {low}");
    assert!((carried.x - 1.0).abs() < 0.05, "friction carries it along: {carried}");
}

#[test]
fn a_body_answers_where_a_collider_touches_it() {
    let text = r#"
        supple = 1
        [[asset]]
        zoo = "worm"
        triangles = 900
        placement = { translate = [0, 0.3, 0] }
        contact = {}
        [[asset.modifier]]
        kind = "procdef"
        gravity = [0, -9.81, 0]
        tets = { zoo = "worm", nodes = 120 }
        answer = { damping = 2, rest = "10 s" }
        touch_chart = { primary = [[0, 1], [0.3, 0.7], [0.8, 1]], cycle = "0.2 s", speed = 10 }
        [[collider]]
        kind = "box"
        size = [4, 1, 8]
        placement = { translate = [0, -0.5, 0] }
    "#;
    let scene = Scene::parse(text, None).expect("a scene");
    let strongest = |player: &mut Player, i: u32| {
        let frame = player.frame(i, &Run::default()).expect("a frame");
        let contraction = frame.bodies[0].channels.scalar("contraction").expect("told").to_vec();
        contraction.into_iter().fold(0.0_f32, f32::max)
    };
    let mut player = open(&scene);
    // It falls for a quarter of a second, and answers once, for three tenths.
    assert_eq!(strongest(&mut player, 4), 0.0, "in the air");
    let answers: Vec<f32> = (5..16).map(|i| strongest(&mut player, i)).collect();
    assert!(answers.iter().any(|c| *c > 0.1), "touched: {answers:?}");
    assert_eq!(strongest(&mut player, 24), 0.0, "over");
    let again: Vec<f32> = (5..16).map(|i| strongest(&mut player, i)).collect();
    assert_eq!(answers, again, "the same after going back");
}

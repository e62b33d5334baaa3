//! The figures of the thesis, chapters 5 (flesh) and 6 (skinning), as scenes: each shows what it says, in numbers.

use std::path::Path;

use glam::Vec3;
use supple::Run;
use supple::io::uri::Policy;
use supple::mesh::intersect::self_intersections;
use supple::mesh::normals::vertex_normals;
use supple::player::{Frame, Player};
use supple::scene::{Folder, Scene, Source};

/// A scene with bodies of so many triangles, ready to play.
fn open(name: &str, count: Option<u32>) -> Player {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/figures");
    let path = folder.join(format!("{name}.toml"));
    let mut scene = Scene::load(&path, Policy::default()).unwrap_or_else(|e| panic!("{e}"));
    for asset in &mut scene.assets {
        if let Source::Zoo { triangles, .. } = &mut asset.source {
            *triangles = count.or(*triangles);
        }
    }
    Player::open(&scene, &Folder::new(&folder), &Run::default())
        .unwrap_or_else(|e| panic!("{name}: {e}"))
        .0
}

/// The first and the last frame.
fn ends(player: &mut Player) -> [Frame; 2] {
    let last = player.frames() - 1;
    [0, last].map(|i| player.frame(i, &Run::default()).expect("nobody cancels"))
}

/// How far the vertices of a body went that rest where `is_in` says; those are placed in the scene.
fn went(ends: &[Frame; 2], body: usize, is_in: impl Fn(Vec3) -> bool) -> f32 {
    let [from, to] = [0, 1].map(|k: usize| &ends[k].bodies[body].positions);
    let inside = from.iter().zip(to).filter(|(x, _)| is_in(**x));
    inside.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

fn volume_error(frame: &Frame, body: usize) -> f64 {
    frame.report.volume_errors[body].expect("a closed body")
}

/// Figure 5.3: small masses move details alone, a large one what they are on.
#[test]
fn details_move_first_and_are_carried_on() {
    let mut player = open("5-3", Some(6000));
    let ends = ends(&mut player);
    let is_head =
        |offset: f32| move |x: Vec3| x.z > 0.9 && x.y > 1.0 && (x.x - offset).abs() < 0.12;
    assert_eq!(went(&ends, 0, |_| true), 0.0, "at rest");
    assert_eq!(went(&ends, 1, |x| x.z < 0.8), 0.0, "only details");
    assert!(went(&ends, 1, |x| x.z > 0.8) > 0.08, "ears and muzzle");
    assert!(went(&ends, 2, is_head(1.6)) > 0.25, "all of the head is carried on");
    for body in 1..3 {
        assert!(volume_error(&ends[1], body).abs() < 2e-3, "{}", volume_error(&ends[1], body));
    }
}

/// Figure 5.4: a set in one leg leaves the other in peace, to the bit; in space alone it does not. Neither crosses itself.
#[test]
fn one_leg_only() {
    let mut player = open("5-4", None);
    let ends = ends(&mut player);
    for (body, cast) in ends[1].bodies.iter().zip(player.cast()) {
        let triangles = &cast.rest.meshes[0].triangles;
        let crossing = self_intersections(&body.positions, triangles, &Run::default());
        assert_eq!(crossing.expect("nobody cancels"), Vec::<[u32; 2]>::new());
    }
    let other_leg = |place: f32| move |x: Vec3| x.x - place > 0.1 && x.y < 0.7 && x.z > 0.1;
    let own_leg = |place: f32| move |x: Vec3| x.x - place < -0.1 && x.y < 0.7 && x.z > 0.1;
    assert!(went(&ends, 0, own_leg(-1.1)) > 0.3, "its own leg follows");
    assert_eq!(went(&ends, 0, other_leg(-1.1)), 0.0, "the other stays");
    assert!(went(&ends, 1, other_leg(1.1)) > 0.05, "felt by all bones it would be caught");
}

/// Figure 5.7: local, then global, then collision. Were flesh to move after what it collides with had pushed it out, it
/// would be inside again.
#[test]
fn what_flesh_carries_into_an_obstacle_is_pushed_out_last() {
    let mut player = open("5-7", Some(5000));
    let [_, last] = ends(&mut player);
    let top = -1.05;
    let lowest = |body: usize| {
        let over = last.bodies[body].positions.iter().filter(|x| x.z.abs() < 0.55);
        over.map(|x| x.y).fold(f32::INFINITY, f32::min)
    };
    assert!(lowest(0) > -1.02, "the small mass alone does not reach it");
    assert!(lowest(1) < top - 0.05, "the large one goes in: {}", lowest(1));
    assert!(lowest(2) > top - 2e-3, "and is pushed out: {}", lowest(2));
    assert!(volume_error(&last, 2).abs() < 5e-3, "{}", volume_error(&last, 2));
}

/// Figure 6.2: plain skinning takes volume from a bent bar, the correction gives it back.
#[test]
fn a_bar_of_three_bones_keeps_its_volume() {
    let mut player = open("6-2", Some(4000));
    let [_, last] = ends(&mut player);
    assert_eq!(volume_error(&last, 0), 0.0);
    assert!(volume_error(&last, 1) < -0.05, "{}", volume_error(&last, 1));
    assert!(volume_error(&last, 2).abs() < 1e-6, "{}", volume_error(&last, 2));
}

/// Figure 6.3: what is painted positive bulges, what is painted negative folds in, nothing crosses, all volume is back.
#[test]
fn muscles_bulge_and_the_crook_of_the_arm_folds() {
    let (mut player, run) = (open("6-3", None), Run::default());
    let [_, last] = ends(&mut player);
    let mesh = &player.cast()[1].rest.meshes[0];
    let paint = mesh.attributes.scalar("VOLUME_ELBOW").expect("painted");
    let [plain, kept] = [0, 1].map(|k: usize| &last.bodies[k].positions);
    let aside = 0.5 * Vec3::Z;
    let normals = vertex_normals(plain, &mesh.triangles, &run);
    let size = 0.67;
    let outward = |is_in: &dyn Fn(f32) -> bool| {
        let ways = (0..paint.len()).filter(|&v| is_in(paint[v]));
        let ways = ways.map(|v| (kept[v] + aside - plain[v]).dot(normals[v]) / size);
        let ways: Vec<f32> = ways.collect();
        ways.iter().sum::<f32>() / ways.len() as f32
    };
    let (bulge, fold) = (outward(&|w| w > 0.6), outward(&|w| w < -1.2));
    assert!(bulge > 0.01, "the biceps bulges: {bulge}");
    assert!(fold < -0.006, "the crook folds: {fold}");
    // Other joints have no paint of their own and move what they may.
    let unpainted = outward(&|w| w == 0.0);
    assert!(unpainted.abs() < 0.4 * bulge.min(-fold), "the rest stays: {unpainted}");
    assert!(volume_error(&last, 0) < -1e-3 && volume_error(&last, 1).abs() < 1e-6, "volume");
    let crossings = self_intersections(kept, &mesh.triangles, &run).expect("nobody cancels");
    assert_eq!(crossings, Vec::<[u32; 2]>::new());
}

/// Figure 6.4: the candy wrapper, and a shoulder without it.
#[test]
fn a_twisted_shoulder_is_no_candy_wrapper() {
    let mut player = open("6-4", Some(8000));
    let [_, last] = ends(&mut player);
    // The thinnest place between chest and elbow, measured from the arm's axis.
    let waist = |body: usize, place: f32| {
        let slice = |k: u32| {
            let x = place + 0.24 + 0.01 * k as f32;
            let near = last.bodies[body].positions.iter().filter(move |p| (p.x - x).abs() < 0.008);
            near.map(|p| (p.y - 0.385).hypot(p.z)).fold(0.0, f32::max)
        };
        (0..15).map(slice).fold(f32::INFINITY, f32::min)
    };
    let [bind, plain, kept] = [(0, -1.25), (1, 0.0), (2, 1.25)].map(|(b, x)| waist(b, x));
    assert!(plain < 0.5 * bind, "the wrapper: {plain} of {bind}");
    assert!(kept > 0.9 * bind, "none: {kept} of {bind}");
    assert!(volume_error(&last, 2).abs() < 1e-6, "{}", volume_error(&last, 2));
}

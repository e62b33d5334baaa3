//! Characters as they come: split at seams, in layers, with several skins, at odd scales, with feet on the root.

use std::collections::HashSet;

use glam::{DVec3, Mat4, Quat, Vec3};

use super::super::tests::{about_z, model, numbers, turned};
use super::super::{Instant, Left, Memo, Params, Skinned, Solver, Take};
use crate::mesh::intersect::self_intersections;
use crate::mesh::{SkinWeights, TriMesh, Values};
use crate::rig::{Body, Pose, Skinning, Transform};
use crate::{Asset, Run};

fn bound(asset: &Asset) -> (Body, Solver) {
    let body = Body::from_asset(asset).unwrap();
    let solver = Solver::new(&body, &Params::default(), &Run::default()).unwrap();
    (body, solver)
}

fn skin(solver: &Solver, body: &Body, pose: &Pose) -> Skinned {
    solver.pose(body, pose, &body.matrices(pose), Skinning::Linear, &Run::default()).unwrap()
}

fn plain(body: &Body, pose: &Pose) -> Vec<Vec3> {
    body.pose(pose, Skinning::Linear, &Run::default())
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    assert_eq!(a.len(), b.len(), "as many vertices");
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

fn back(skinned: &Skinned) -> f64 {
    1.0 - skinned.report.missing() / skinned.report.lost()
}

/// What is promised of every pose, measured from the vertices alone.
fn assert_harmless(body: &Body, plain: &[Vec3], now: &[Vec3], what: &str) {
    let triangles = &body.mesh.triangles;
    let pairs = |at: &[Vec3]| self_intersections(at, triangles, &Run::default()).unwrap();
    let known: HashSet<[u32; 2]> = pairs(plain).into_iter().collect();
    let added = pairs(now).iter().filter(|p| !known.contains(*p)).count();
    assert_eq!(added, 0, "{what}: pairs added");
    let rest = body.pose(body.rest_pose(), Skinning::Linear, &Run::default());
    for t in triangles {
        let normal = |at: &[Vec3]| {
            let [a, b, c] = t.map(|v| at[v as usize].as_dvec3());
            (b - a).cross(c - a)
        };
        assert!(normal(plain).dot(normal(now)) >= 0.0, "{what}: {t:?} is turned round");
        for [a, b] in [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]] {
            let length = |at: &[Vec3]| at[a as usize].distance(at[b as usize]);
            let most = 1.25 * length(plain).max(length(&rest));
            assert!(length(now) <= most, "{what}: {} is longer than {most}", length(now));
        }
    }
}

fn volume(positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    crate::mesh::volume::volume(positions, triangles, &Run::default())
}

#[test]
fn a_bent_bar_gets_all_of_its_volume_back() {
    let (body, solver) = bound(&model("rigged-bar", 3328));
    for degrees in [20.0, 60.0, 90.0, 110.0] {
        let pose = turned(&body, &[(1, about_z(degrees))]);
        let skinned = skin(&solver, &body, &pose);
        let base = plain(&body, &pose);
        assert_harmless(&body, &base, &skinned.positions, &format!("{degrees}°"));
        let volume = |at: &[Vec3]| volume(at, &body.mesh.triangles);
        // The bar is 6 long and 1 thick.
        let (before, after) = (volume(&base) / 6.0 - 1.0, volume(&skinned.positions) / 6.0 - 1.0);
        assert!(before < -1e-4 * f64::from(degrees), "plain skinning loses some: {before}");
        assert!(after.abs() < 1e-6, "{degrees}°: {after}");
        let [joint] = &skinned.report.joints[..] else { panic!("{:?}", skinned.report) };
        assert!((joint.lost + before).abs() < 1e-6, "the loss is the joint's: {joint:?} {before}");
        assert!((f64::from(degrees) - joint.degrees).abs() < 1e-3, "{joint:?}");
    }
}

/// A twist by half a turn leaves no candy wrapper: the edges of the bar stay away from its axis.
#[test]
fn twists_keep_their_cross_section() {
    let (body, solver) = bound(&model("rigged-bar", 3328));
    for (degrees, least) in
        [(90.0, 0.85), (150.0, 0.95), (163.0, 0.95), (172.0, 0.95), (179.9, 0.95)]
    {
        let turn = Quat::from_rotation_x(f32::to_radians(degrees));
        let pose = turned(&body, &[(1, turn)]);
        let skinned = skin(&solver, &body, &pose);
        let edge = |p: &Vec3| p.y.abs().min(p.z.abs()) > 0.499;
        let edges = body.mesh.positions.iter().zip(&skinned.positions).filter(|(r, _)| edge(r));
        let thinnest =
            edges.map(|(rest, p)| p.y.hypot(p.z) / rest.y.hypot(rest.z)).fold(9.0, f32::min);
        assert!(thinnest > least, "{degrees}°: {thinnest}");
        let error = volume(&skinned.positions, &body.mesh.triangles) / 6.0 - 1.0;
        assert!(error.abs() < 1e-6, "{degrees}°: {error}");
        let pairs = self_intersections(&skinned.positions, &body.mesh.triangles, &Run::default());
        assert_eq!(pairs.unwrap().len(), 0, "{degrees}°");
    }
}

#[test]
fn at_rest_and_moved_as_a_whole_it_is_plain_skinning_bit_for_bit() {
    for name in ["rigged-bar", "boxer"] {
        let (body, solver) = bound(&model(name, 1200));
        let whole = Quat::from_scaled_axis(Vec3::new(0.7, -1.9, 0.4));
        for pose in [turned(&body, &[]), turned(&body, &[(0, whole)])] {
            let skinned = skin(&solver, &body, &pose);
            assert_eq!(skinned.positions, plain(&body, &pose), "{name}");
            assert!(skinned.report.joints.is_empty(), "{name}: nothing to do");
        }
    }
}

/// Every joint of a character turned at random.
fn random_pose(body: &Body, nodes: usize, seed: u64, most: f32) -> Pose {
    let mut number = numbers(seed);
    let turn = |_| Quat::from_scaled_axis(most * Vec3::new(number(), number(), number()));
    let turns: Vec<(usize, Quat)> = (0..nodes).zip((0..nodes).map(turn)).collect();
    turned(body, &turns)
}

#[test]
fn random_poses_of_characters_are_never_worse() {
    for name in ["boxer", "hand", "camel"] {
        let asset = model(name, 2000);
        let (body, solver) = bound(&asset);
        for seed in 1..5 {
            let pose = random_pose(&body, asset.nodes.len() - 1, seed, 0.6);
            let skinned = skin(&solver, &body, &pose);
            assert_harmless(&body, &plain(&body, &pose), &skinned.positions, name);
            assert!(back(&skinned) > 0.95, "{name}, {seed}: {}", back(&skinned));
            assert!(skinned.report.joints.len() > 5, "{name}: many joints move");
        }
    }
}

#[test]
fn same_bits_for_any_thread_count_and_order_of_frames() {
    let asset = model("boxer", 3000);
    let (body, _) = bound(&asset);
    let pose = |k: i64| {
        let mut pose = random_pose(&body, asset.nodes.len() - 1, 5, 0.9);
        for local in &mut pose.locals {
            if let Transform::Trs { rotation, .. } = local {
                *rotation = Quat::IDENTITY.slerp(*rotation, 0.1 * k as f32);
            }
        }
        pose
    };
    let frames = |order: &[i64], run: &Run<'_>| -> Vec<(i64, Vec<Vec3>)> {
        let solver = Solver::new(&body, &Params::default(), run).unwrap();
        let instants = |k: i64| {
            let matrices = body.matrices(&pose(k));
            (0..5)
                .contains(&k)
                .then(|| Instant { bound: (&body.mesh.positions[..]).into(), matrices })
        };
        let memo = Memo::default();
        let take =
            Take { body: &body, skinning: Skinning::Linear, instants: &instants, memo: &memo };
        let one =
            |&k: &i64| (k, solver.frame(&take, k, &instants(k).unwrap(), run).unwrap().positions);
        let mut frames: Vec<_> = order.iter().map(one).collect();
        frames.sort_by_key(|f| f.0);
        frames
    };
    let serial = frames(&[0, 1, 2, 3, 4], &Run::default());
    assert!(farthest(&serial[4].1, &plain(&body, &pose(4))) > 1e-3, "something is given back");
    for threads in [2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        assert!(frames(&[3, 1, 4, 0, 2], &run) == serial, "{threads} threads");
    }
}

/// Every face with vertices of its own, as flat shading splits them.
fn split(asset: &Asset) -> Asset {
    let mut split = asset.clone();
    let mesh = &mut split.meshes[0];
    let corners: Vec<u32> = mesh.triangles.as_flattened().to_vec();
    mesh.gather_vertices(&corners);
    mesh.triangles = (0..corners.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    split
}

#[test]
fn split_faces_move_as_if_they_were_not() {
    for name in ["rigged-bar", "boxer"] {
        let asset = model(name, 2000);
        let ((body, solver), (other, other_solver)) = (bound(&asset), bound(&split(&asset)));
        let pose = random_pose(&body, asset.nodes.len() - 1, 3, 0.7);
        let whole = skin(&solver, &body, &pose);
        let faces = skin(&other_solver, &other, &pose);
        assert!((back(&whole) - back(&faces)).abs() < 1e-2, "{} {}", back(&whole), back(&faces));
        // What is at one place stays at one place, to the bit.
        let mut at = std::collections::HashMap::new();
        for (v, x) in body.mesh.triangles.as_flattened().iter().zip(&faces.positions) {
            let first = at.entry(*v).or_insert(*x);
            assert_eq!(first, x, "vertex {v} is torn apart");
            let off = whole.positions[*v as usize].distance(*x);
            // Where it retreats, another order of sums may decide another way.
            assert!(off < 1e-6 || name == "boxer", "{name}: {off}");
        }
    }
}

/// The third bone hangs on the first, as feet do that are moved by inverse kinematics.
#[test]
fn a_foot_on_the_root_hangs_where_its_skin_is() {
    let asset = model("rigged-bar", 1200);
    let mut odd = asset.clone();
    odd.nodes[2].parent = Some(0);
    odd.nodes[2].local = Transform::from_translation(Vec3::new(4.0, 0.0, 0.0));
    let ((body, solver), (other, other_solver)) = (bound(&asset), bound(&odd));
    let pose = turned(&body, &[(1, about_z(60.0)), (2, about_z(-50.0))]);
    let mut odd_pose = pose.clone();
    let global =
        |pose: &Pose, body: &Body, node: usize| body.hierarchy().globals(&pose.locals)[node];
    let local = global(&pose, &body, 0).inverse() * global(&pose, &body, 2);
    let (scale, rotation, translation) = local.to_scale_rotation_translation();
    odd_pose.locals[2] = Transform::Trs { translation, rotation, scale };
    let (one, two) = (skin(&solver, &body, &pose), skin(&other_solver, &other, &odd_pose));
    assert_eq!(two.report.joints[1].hangs_on.as_deref(), Some("second"), "{:?}", two.report);
    assert_eq!(one.report.joints[1].hangs_on, None);
    let off = farthest(&one.positions, &two.positions);
    assert!(off < 1e-4, "the same shape: {off}");
    assert!(back(&two) > 0.9999, "{:?}", two.report);
}

/// The bar in a coat, with a belt that one bone carries.
fn layered() -> (Asset, usize) {
    let mut asset = model("rigged-bar", 1200);
    let mesh = &mut asset.meshes[0];
    let n = mesh.positions.len() as u32;
    let twice: Vec<u32> = (0..n).chain(0..n).chain(0..n).collect();
    mesh.gather_vertices(&twice);
    for p in &mut mesh.positions[n as usize..2 * n as usize] {
        *p = Vec3::new(1.01 * p.x, 1.06 * p.y, 1.06 * p.z);
    }
    for p in &mut mesh.positions[2 * n as usize..] {
        *p = Vec3::new(0.05 * p.x - 1.0, 1.5 * p.y, 1.5 * p.z);
    }
    let triangles = mesh.triangles.clone();
    for layer in [n, 2 * n] {
        mesh.triangles.extend(triangles.iter().map(|t| t.map(|v| v + layer)));
    }
    mesh.groups.clear();
    let weights = mesh.skin_weights.take().unwrap();
    let mut bound = SkinWeights::default();
    for i in 0..2 * n as usize {
        bound.push(weights.of(i));
    }
    (0..n).for_each(|_| bound.push([(0, 1.0)]));
    mesh.skin_weights = Some(bound);
    (asset, n as usize)
}

#[test]
fn layers_move_together_and_a_belt_stays_rigid() {
    let (asset, n) = layered();
    let (body, solver) = bound(&asset);
    for degrees in [40.0, 80.0] {
        let pose = turned(&body, &[(1, about_z(degrees))]);
        let skinned = skin(&solver, &body, &pose);
        let base = plain(&body, &pose);
        assert_harmless(&body, &base, &skinned.positions, &format!("{degrees}°"));
        assert_eq!(skinned.positions[2 * n..], base[2 * n..], "the belt is its bone's");
        assert!(back(&skinned) > 0.95, "{degrees}°: {}", back(&skinned));
        assert_eq!(skinned.report.joints.len(), 1, "one λ for both layers");
        let moved = |k: usize| farthest(&skinned.positions[k * n..][..n], &base[k * n..][..n]);
        assert!((moved(0) / moved(1) - 1.0).abs() < 0.3, "{} {}", moved(0), moved(1));
    }
}

/// One character in two meshes, each with a skin of its own.
#[test]
fn a_seam_between_two_skins_stays_closed() {
    let asset = model("rigged-bar", 1200);
    let mut two = asset.clone();
    let carrier = two.nodes.iter().position(|n| n.mesh.is_some()).unwrap();
    let half = |left: bool| -> TriMesh {
        let mut mesh = asset.meshes[0].clone();
        let middle = |t: &[u32; 3]| {
            t.iter().map(|&v| mesh.positions[v as usize].x).sum::<f32>() / 3.0 < -1.0
        };
        let kept: Vec<[u32; 3]> =
            mesh.triangles.iter().filter(|t| middle(t) == left).copied().collect();
        mesh.triangles = kept;
        mesh.groups.clear();
        mesh
    };
    two.meshes = vec![half(true), half(false)];
    two.skins.push(two.skins[0].clone());
    let mut node = two.nodes[carrier].clone();
    (node.mesh, node.skin) = (Some(1), Some(1));
    two.nodes.push(node);
    let ((body, solver), (other, other_solver)) = (bound(&asset), bound(&two));
    let (pose, other_pose) =
        (turned(&body, &[(1, about_z(70.0))]), turned(&other, &[(1, about_z(70.0))]));
    let whole = skin(&solver, &body, &pose);
    let halves = skin(&other_solver, &other, &other_pose);
    let n = body.mesh.positions.len();
    for &v in other.mesh.triangles.as_flattened() {
        let off = halves.positions[v as usize].distance(whole.positions[v as usize % n]);
        assert!(off < 1e-5, "vertex {v}: {off}");
    }
}

/// Modelled in centimetres, shown in metres.
#[test]
fn odd_scales_change_nothing() {
    let asset = model("rigged-bar", 1200);
    let mut large = asset.clone();
    large.meshes[0].positions.iter_mut().for_each(|p| *p *= 100.0);
    for node in &mut large.nodes {
        if let Transform::Trs { translation, .. } = &mut node.local {
            *translation *= 100.0;
        }
    }
    for bind in &mut large.skins[0].inverse_bind {
        bind.w_axis = (bind.w_axis.truncate() * 100.0).extend(1.0);
    }
    let root = large.nodes.iter().position(|n| n.parent.is_none() && n.name == "first").unwrap();
    if let Transform::Trs { scale, translation, .. } = &mut large.nodes[root].local {
        (*scale, *translation) = (Vec3::splat(0.01), *translation * 0.01);
    }
    let ((body, solver), (other, other_solver)) = (bound(&asset), bound(&large));
    let turns = [(1, about_z(80.0)), (2, about_z(-40.0))];
    let one = skin(&solver, &body, &turned(&body, &turns));
    let two = skin(&other_solver, &other, &turned(&other, &turns));
    let off = farthest(&one.positions, &two.positions);
    assert!(off < 2e-5, "{off}");
    assert!(back(&two) > 0.9999, "{:?}", two.report);
}

#[test]
fn edges_with_three_triangles_open_ends_and_flipped_faces_are_taken_as_they_are() {
    let asset = model("rigged-bar", 1200);
    type Spoil = fn(&mut TriMesh);
    let spoil: [(&str, Spoil); 3] = [
        ("a fin", |mesh| {
            let [a, b, _] = mesh.triangles[100];
            let tip = mesh.positions[a as usize] + Vec3::new(0.01, 0.2, 0.2);
            let all: Vec<u32> = (0..mesh.positions.len() as u32).chain([a]).collect();
            mesh.gather_vertices(&all);
            *mesh.positions.last_mut().unwrap() = tip;
            mesh.triangles.push([a, b, all.len() as u32 - 1]);
        }),
        ("no end", |mesh| {
            let kept = |t: &&[u32; 3]| t.iter().any(|&v| mesh.positions[v as usize].x < 2.999);
            mesh.triangles = mesh.triangles.iter().filter(kept).copied().collect();
        }),
        ("flipped faces", |mesh| mesh.triangles.iter_mut().step_by(37).for_each(|t| t.swap(0, 1))),
    ];
    let (body, solver) = bound(&asset);
    let closed = skin(&solver, &body, &turned(&body, &[(1, about_z(70.0))])).report.lost();
    for (what, spoil) in spoil {
        let mut odd = asset.clone();
        spoil(&mut odd.meshes[0]);
        odd.meshes[0].groups.clear();
        let (body, solver) = bound(&odd);
        let pose = turned(&body, &[(1, about_z(70.0))]);
        let skinned = skin(&solver, &body, &pose);
        assert_harmless(&body, &plain(&body, &pose), &skinned.positions, what);
        assert!(back(&skinned) > 0.99, "{what}: {:?}", skinned.report);
        let lost = skinned.report.lost();
        assert!(
            (lost / closed - 1.0).abs() < 0.05,
            "{what}: the closed bar loses {closed}, not {lost}"
        );
    }
}

#[test]
fn moves_and_stretches_are_the_artists() {
    let (body, solver) = bound(&model("rigged-bar", 1200));
    let mut pose = body.rest_pose().clone();
    pose.locals[1] = Transform::from_translation(Vec3::new(2.6, 0.0, 0.0));
    let pulled = skin(&solver, &body, &pose);
    assert!(pulled.report.lost() < 1e-9, "{:?}", pulled.report);
    assert!(farthest(&pulled.positions, &plain(&body, &pose)) < 1e-6, "as it was pulled");
    assert!((pulled.report.kept - 0.1).abs() < 1e-3, "0.6 more of 6: {}", pulled.report.kept);
    let mut pose = body.rest_pose().clone();
    if let Transform::Trs { scale, rotation, .. } = &mut pose.locals[1] {
        (*scale, *rotation) = (Vec3::splat(1.5), about_z(80.0));
    }
    let scaled = skin(&solver, &body, &pose);
    assert!(scaled.report.joints[0].scaled && back(&scaled) > 0.99, "{:?}", scaled.report);
    assert!(scaled.report.kept > 1.0, "half of the bar is 1.5³ times as large");
}

#[test]
fn hard_bindings_and_flat_joints_are_left_and_reported() {
    let mut asset = model("rigged-bar", 700);
    let mesh = &mut asset.meshes[0];
    let mut hard = SkinWeights::default();
    for p in &mesh.positions {
        hard.push([(u16::from(p.x > -1.0), 1.0)]);
    }
    mesh.skin_weights = Some(hard);
    let (body, solver) = bound(&asset);
    let pose = turned(&body, &[(1, about_z(60.0))]);
    let skinned = skin(&solver, &body, &pose);
    let base = plain(&body, &pose);
    assert_harmless(&body, &base, &skinned.positions, "hard");
    // What is told as lost is what plain skinning took.
    let (report, lost) = (&skinned.report, 1.0 - volume(&base, &body.mesh.triangles) / 6.0);
    assert!(lost > 1e-3 && (report.lost() - lost).abs() < 1e-6, "{lost} {report:?}");
    let (body, solver) = bound(&model("rigged-bar", 700));
    let mut pose = turned(&body, &[(2, about_z(50.0))]);
    if let Transform::Trs { scale, .. } = &mut pose.locals[1] {
        *scale = Vec3::ZERO;
    }
    let flat = skin(&solver, &body, &pose);
    assert!(flat.positions.iter().all(|p| p.is_finite()), "finite");
    assert!(flat.report.left().any(|l| l.1 == Left::Flattened), "{:?}", flat.report);
}

/// What is painted negative goes in where the rest goes out, each along its own way from the bone.
#[test]
fn painted_weights_of_both_signs_say_where_volume_goes() {
    let mut asset = model("rigged-bar", 700);
    let rest = asset.meshes[0].positions.clone();
    let paint = |p: &Vec3| match p.y {
        y if y > 0.49 => 1.0,
        y if y < -0.49 => -0.3,
        _ => 0.0,
    };
    let values = rest.iter().map(paint).collect();
    asset.meshes[0].attributes.set("VOLUME_SECOND", Values::Scalar(values));
    let (body, solver) = bound(&asset);
    let pose = turned(&body, &[(1, about_z(-12.0))]);
    let (skinned, base) = (skin(&solver, &body, &pose), plain(&body, &pose));
    assert_harmless(&body, &base, &skinned.positions, "painted");
    assert!(back(&skinned) > 0.99, "{:?}", skinned.report);
    let joint = &skinned.report.joints[0];
    assert!(joint.lambda > 1e-3 && joint.drawn_back == 0, "{joint:?}");
    for (i, p) in rest.iter().enumerate().filter(|(_, p)| p.x < -2.5) {
        let moved = skinned.positions[i].y - base[i].y;
        let expected = 0.5 * (2.0 * joint.lambda as f32 * paint(p)).tanh() * p.y;
        assert!((moved - expected).abs() < 1e-5, "{p} moved by {moved}, not {expected}");
    }
}

/// A limb that is thrown to and fro, so that its joint retreats in some frames: nothing pops, at any rate.
#[test]
fn a_take_does_not_pop() {
    let asset = model("hand", 2000);
    let (body, solver) = bound(&asset);
    let pose = |moment: f32| {
        let share = (std::f32::consts::PI * moment / 8.0).sin().powi(2);
        let mut pose = random_pose(&body, asset.nodes.len() - 1, 8, 1.1);
        for (local, rest) in pose.locals.iter_mut().zip(&body.rest_pose().locals) {
            if let (Transform::Trs { rotation, .. }, Transform::Trs { rotation: from, .. }) =
                (local, rest)
            {
                *rotation = from.slerp(*rotation, share);
            }
        }
        pose
    };
    let instant = |moment: f32| Instant {
        bound: (&body.mesh.positions[..]).into(),
        matrices: body.matrices(&pose(moment)),
    };
    let instants = |k: i64| (0..17).contains(&k).then(|| instant(k as f32));
    let memo = Memo::default();
    let take = Take { body: &body, skinning: Skinning::Linear, instants: &instants, memo: &memo };
    let (mut by, mut lost, mut missing, mut drawn) = (Vec::new(), 0.0, 0.0, 0);
    for tick in 0..=80_i64 {
        let (k, part) = (tick / 5, (tick % 5) as f64 / 5.0);
        let moment = k as f32 + part as f32;
        let skinned = solver.between(&take, (k, part), &instant(moment), &Run::default()).unwrap();
        let base = plain(&body, &pose(moment));
        assert_harmless(&body, &base, &skinned.positions, &format!("frame {moment}"));
        by.push(base.iter().zip(&skinned.positions).map(|(p, x)| *x - *p).collect::<Vec<Vec3>>());
        lost += skinned.report.lost();
        missing += skinned.report.missing();
        drawn = skinned.report.joints.iter().map(|j| j.drawn_back).fold(drawn, usize::max);
    }
    let size = crate::mesh::measure::Bounds::of(&body.mesh.positions).unwrap().diagonal();
    // At 24 frames a second and from tick to tick.
    for (apart, bound) in [(5, 0.02), (1, 0.02)] {
        let middle = (apart..by.len() - apart).step_by(apart);
        let most = middle.map(|at| {
            let three = [&by[at - apart], &by[at], &by[at + apart]];
            let change = |v: usize| (three[0][v] - 2.0 * three[1][v] + three[2][v]).length();
            (0..three[0].len()).map(change).fold(0.0, f32::max) / size
        });
        let most = most.fold(0.0, f32::max);
        assert!(most <= bound, "{most}, {apart} apart");
    }
    assert!(drawn > 0, "something had to retreat");
    assert!(1.0 - missing / lost > 0.85, "{missing} of {lost}");
}

/// A limb that goes round: its last frame is its first, and those before the first count as those before the last.
#[test]
fn a_round_meets_its_beginning() {
    let asset = model("hand", 2000);
    let (body, solver) = bound(&asset);
    let instant = |k: i64| {
        let share = (std::f32::consts::TAU * k.rem_euclid(12) as f32 / 12.0).cos();
        let mut pose = random_pose(&body, asset.nodes.len() - 1, 8, 1.1);
        for (local, rest) in pose.locals.iter_mut().zip(&body.rest_pose().locals) {
            if let (Transform::Trs { rotation, .. }, Transform::Trs { rotation: from, .. }) =
                (local, rest)
            {
                *rotation = from.slerp(*rotation, 0.5 + 0.5 * share);
            }
        }
        let bound = (&body.mesh.positions[..]).into();
        Instant { bound, matrices: body.matrices(&pose) }
    };
    let ends = |take: &Take<'_>| {
        let at = |k: i64| solver.frame(take, k, &instant(k), &Run::default()).unwrap();
        let [first, last] = [at(0), at(12)];
        assert!(first.report.joints.iter().any(|j| j.drawn_back > 0), "it retreats");
        farthest(&first.positions, &last.positions)
    };
    let (on, memo) = (|k: i64| Some(instant(k)), Memo::of_round(Some(12)));
    let (body, skinning) = (&body, Skinning::Linear);
    let gap = ends(&Take { body, skinning, instants: &on, memo: &memo });
    assert_eq!(gap, 0.0, "the last frame is the first");
    // Frame 12 of a take of 18 has neighbours on both sides, frame 0 has not.
    let (some, memo) = (|k: i64| (0..18).contains(&k).then(|| instant(k)), Memo::default());
    let gap = ends(&Take { body, skinning, instants: &some, memo: &memo });
    assert!(gap > 1e-5, "they differ where a take has ends: {gap}");
}

#[test]
fn a_mirrored_root_is_no_obstacle() {
    let (body, solver) = bound(&model("rigged-bar", 700));
    let pose = turned(&body, &[(1, about_z(70.0))]);
    let flip = Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
    let matrices: Vec<Mat4> = body.matrices(&pose).iter().map(|m| flip * *m).collect();
    let run = Run::default();
    let mirrored = solver.pose(&body, &pose, &matrices, Skinning::Linear, &run).unwrap();
    let straight = skin(&solver, &body, &pose);
    let back = |p: &Vec3| DVec3::new(-f64::from(p.x), p.y.into(), p.z.into()).as_vec3();
    let mirrored: Vec<Vec3> = mirrored.positions.iter().map(back).collect();
    let off = farthest(&mirrored, &straight.positions);
    assert!(off < 1e-5, "{off}");
}

/// A root that shears and one that is scaled unevenly: what turns cost is measured where they are turns.
#[test]
fn a_sheared_root_does_no_harm() {
    let (body, solver) = bound(&model("rigged-bar", 1200));
    let turns = [(1, Quat::from_rotation_x(1.9) * about_z(50.0)), (2, about_z(-40.0))];
    let pose = turned(&body, &turns);
    let straight = skin(&solver, &body, &pose);
    let shear = Mat4::from_rotation_z(-0.6)
        * Mat4::from_scale(Vec3::new(1.5, 0.8, 1.0))
        * Mat4::from_rotation_z(0.5);
    for root in [shear, Mat4::from_scale(Vec3::new(1.0, 1.0, 2.0))] {
        let matrices: Vec<Mat4> = body.matrices(&pose).iter().map(|m| root * *m).collect();
        let run = Run::default();
        let sheared = solver.pose(&body, &pose, &matrices, Skinning::Linear, &run).unwrap();
        let carried = |p: &Vec3| root.transform_point3(*p);
        let wanted: Vec<Vec3> = straight.positions.iter().map(carried).collect();
        let off = farthest(&sheared.positions, &wanted);
        assert!(off < 2e-5, "{off}");
        for (one, other) in straight.report.joints.iter().zip(&sheared.report.joints) {
            let off = (one.lost - other.lost).abs().max((one.degrees - other.degrees).abs());
            assert!(off < 1e-4, "{one:?} and {other:?}");
        }
    }
}

//! The closed form.

use glam::{DQuat, DVec3, Quat, Vec3};

use super::*;
use crate::mesh::intersect::self_intersections;
use crate::mesh::{SkinWeights, Values};
use crate::rig::Transform;
use crate::{Asset, zoo};

const BOTH: [Skinning; 2] = [Skinning::Linear, Skinning::DualQuaternion];

pub(super) fn model(name: &str, triangles: usize) -> Asset {
    let size = zoo::Size { triangles: Some(triangles) };
    zoo::build(name, &size, &Run::default()).unwrap()
}

fn bound(asset: &Asset) -> (Body, Solver) {
    let body = Body::from_asset(asset).unwrap();
    let solver = Solver::new(&body, &closed_form(), &Run::default()).unwrap();
    (body, solver)
}

fn closed_form() -> Params {
    Params { method: Method::ClosedForm, ..Params::default() }
}

/// The rest pose with some nodes turned.
pub(super) fn turned(body: &Body, turns: &[(usize, Quat)]) -> Pose {
    let mut pose = body.rest_pose().clone();
    for &(node, by) in turns {
        if let Transform::Trs { rotation, .. } = &mut pose.locals[node] {
            *rotation = by * *rotation;
        }
    }
    pose
}

pub(super) fn about_z(degrees: f32) -> Quat {
    Quat::from_rotation_z(degrees.to_radians())
}

fn skin(solver: &Solver, body: &Body, pose: &Pose, skinning: Skinning) -> Skinned {
    solver.pose(body, pose, &body.matrices(pose), skinning, &Run::default()).unwrap()
}

fn plain(body: &Body, pose: &Pose, skinning: Skinning) -> Vec<Vec3> {
    body.skin(pose, &body.matrices(pose), skinning, &Run::default())
}

fn errors(solver: &Solver, body: &Body, pose: &Pose, positions: &[Vec3]) -> Vec<Option<f64>> {
    solver.volume_errors(body, pose, &body.matrices(pose), positions, &Run::default())
}

fn assert_kept(solver: &Solver, body: &Body, pose: &Pose, skinned: &Skinned) {
    for error in errors(solver, body, pose, &skinned.positions) {
        assert!(error.unwrap().abs() < 1e-6, "{error:?}: {:?}", skinned.report);
    }
    assert_eq!(skinned.report.left().count(), 0, "{:?}", skinned.report);
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

/// The row `volume-error` of the benchmark, at a smaller size: bends of 90° and 120°, a twist of 180°.
#[test]
fn bends_and_twists_keep_volume_and_do_not_fold() {
    let (body, solver) = bound(&model("rigged-bar", 3328));
    let twist = Quat::from_rotation_x(std::f32::consts::PI);
    for (by, lost) in [(about_z(90.0), 0.01), (about_z(120.0), 0.02), (twist, 0.05)] {
        let pose = turned(&body, &[(1, by)]);
        let before = errors(&solver, &body, &pose, &plain(&body, &pose, Skinning::Linear))[0];
        assert!(before.unwrap() < -lost, "plain skinning loses volume: {before:?}");
        for skinning in BOTH {
            let skinned = skin(&solver, &body, &pose, skinning);
            assert_kept(&solver, &body, &pose, &skinned);
            let triangles = &body.mesh.triangles;
            let pairs = self_intersections(&skinned.positions, triangles, &Run::default());
            assert_eq!(pairs.unwrap().len(), 0, "{by} {skinning:?}");
            assert!(skinned.report.largest_lambda().abs() < 0.5, "{:?}", skinned.report);
        }
    }
}

/// A twist by half a turn leaves no candy wrapper: the edges of the bar stay away from its axis.
#[test]
fn a_twist_keeps_its_cross_section() {
    let (body, solver) = bound(&model("rigged-bar", 3328));
    let pose = turned(&body, &[(1, Quat::from_rotation_x(std::f32::consts::PI))]);
    let thinnest = |positions: &[Vec3]| {
        let edge = |p: &Vec3| p.y.abs().min(p.z.abs()) > 0.499;
        let edges = body.mesh.positions.iter().zip(positions).filter(|(rest, _)| edge(rest));
        edges.map(|(rest, p)| p.y.hypot(p.z) / rest.y.hypot(rest.z)).fold(9.0, f32::min)
    };
    assert!(thinnest(&plain(&body, &pose, Skinning::Linear)) < 0.1, "the candy wrapper");
    for skinning in BOTH {
        let section = thinnest(&skin(&solver, &body, &pose, skinning).positions);
        assert!(section > 0.95, "{skinning:?}: {section}");
    }
}

#[test]
fn at_rest_and_moved_as_a_whole_it_is_plain_skinning_bit_for_bit() {
    for name in ["rigged-bar", "boxer"] {
        let (body, solver) = bound(&model(name, 1200));
        let whole = Quat::from_scaled_axis(Vec3::new(0.7, -1.9, 0.4));
        for pose in [turned(&body, &[]), turned(&body, &[(0, whole)])] {
            for skinning in BOTH {
                let skinned = skin(&solver, &body, &pose, skinning);
                assert_eq!(skinned.positions, plain(&body, &pose, skinning), "{name}");
                assert_eq!(skinned.report, Report::default(), "{name}: nothing to do");
            }
        }
    }
}

#[test]
fn what_no_moving_joint_blends_has_the_bits_of_plain_skinning() {
    let (body, solver) = bound(&model("rigged-bar", 1200));
    let pose = turned(&body, &[(1, about_z(100.0))]);
    let (kept, plain) =
        (skin(&solver, &body, &pose, Skinning::Linear), plain(&body, &pose, Skinning::Linear));
    for (i, rest) in body.mesh.positions.iter().enumerate() {
        let blended = (-2.0..0.0).contains(&rest.x);
        assert!(
            blended || kept.positions[i] == plain[i],
            "{rest} is not blended by the second bone"
        );
    }
    assert!(farthest(&kept.positions, &plain) > 0.01, "and something is corrected");
}

/// One step, independently in f64: `P' + λV` as the thesis prints it, λ by bisection of the volume.
#[test]
fn one_step_is_the_thesis_with_a_brute_force_root() {
    let (body, solver) = bound(&model("rigged-bar", 700));
    let (angle, joint) = (25.0_f64.to_radians(), DVec3::new(-1.0, 0.0, 0.0));
    let pose = turned(&body, &[(1, about_z(25.0))]);
    let turn = DQuat::from_rotation_z(angle);
    let away = |x: DVec3, from: f64, to: f64| DVec3::new(x.x - x.x.clamp(from, to), x.y, x.z);
    let mut blended = Vec::new();
    for (i, rest) in body.mesh.positions.iter().enumerate() {
        let x = rest.as_dvec3();
        let share =
            |j: u16| body.weights().of(i).filter(|w| w.0 == j).map(|w| f64::from(w.1)).sum::<f64>();
        let (first, second, third) = (share(0), share(1), share(2));
        let w = (second + third) / (first + second + third);
        let u = (1.0 - w) * away(x, -3.0, -1.0)
            + second * away(x, -1.0, 1.0)
            + third * away(x, 1.0, 3.0);
        let p = (1.0 - w) * x + w * (joint + turn * (x - joint));
        blended.push((p, w * (1.0 - w) * ((1.0 - w) * u + w * (turn * u))));
    }
    let at =
        |lambda: f64| -> Vec<DVec3> { blended.iter().map(|(p, v)| *p + lambda * *v).collect() };
    let volume = |points: &[DVec3]| -> f64 {
        let six = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| points[i as usize]);
            a.dot(b.cross(c))
        };
        body.mesh.triangles.iter().map(six).sum::<f64>() / 6.0
    };
    let (mut low, mut high) = (-0.5, 0.5);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if volume(&at(middle)) < 6.0 { low = middle } else { high = middle }
    }
    let skinned = skin(&solver, &body, &pose, Skinning::Linear);
    let [joint] = &skinned.report.joints[..] else { panic!("one joint: {:?}", skinned.report) };
    assert!((joint.lambda - low).abs() < 1e-6, "λ = {} is not {low}", joint.lambda);
    let expected: Vec<Vec3> = at(low).iter().map(|p| p.as_vec3()).collect();
    let off = farthest(&skinned.positions, &expected);
    assert!(off < 2e-6, "{off}");
}

/// As an angle passes a multiple of the step, the shape does not jump.
#[test]
fn nothing_jumps_at_the_steps() {
    let (body, solver) = bound(&model("rigged-bar", 1200));
    for degrees in [30.0, 60.0, 90.0] {
        let at = |d: f32| {
            skin(&solver, &body, &turned(&body, &[(1, about_z(d))]), Skinning::Linear).positions
        };
        let jump = farthest(&at(degrees - 0.005), &at(degrees + 0.005));
        assert!(jump < 1.5e-3, "{degrees}°: {jump}, of which the turn is 7e-4");
    }
}

/// Numbers from −1 to 1 that look random.
pub(super) fn numbers(seed: u64) -> impl FnMut() -> f32 {
    let mut state = seed;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / 8_388_608.0 - 1.0
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
fn random_poses_of_characters_keep_volume() {
    for name in ["boxer", "hand", "camel"] {
        let asset = model(name, 2000);
        let (body, solver) = bound(&asset);
        for seed in 1..4 {
            let pose = random_pose(&body, asset.nodes.len() - 1, seed, 0.6);
            for skinning in BOTH {
                let skinned = skin(&solver, &body, &pose, skinning);
                assert!(skinned.positions.iter().all(|p| p.is_finite()), "{name}");
                assert_kept(&solver, &body, &pose, &skinned);
                assert!(skinned.report.joints.len() > 5, "{name}: many joints move");
            }
        }
    }
}

#[test]
fn same_bits_for_any_thread_count() {
    let asset = model("boxer", 9000);
    let (body, solver) = bound(&asset);
    let pose = random_pose(&body, asset.nodes.len() - 1, 5, 0.5);
    let serial = skin(&solver, &body, &pose, Skinning::Linear);
    for threads in [2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let solver = Solver::new(&body, &closed_form(), &run).unwrap();
        let skinned = solver.pose(&body, &pose, &body.matrices(&pose), Skinning::Linear, &run);
        assert_eq!(skinned.unwrap(), serial, "{threads} threads");
    }
}

/// The character seen in a mirror: shape, skeleton and pose, with its joints in the opposite order.
fn mirrored(asset: &Asset, pose: &Pose) -> (Asset, Pose) {
    let flip = Vec3::new(-1.0, 1.0, 1.0);
    let (mut other, mut posed) = (asset.clone(), pose.clone());
    let mesh = &mut other.meshes[0];
    mesh.positions.iter_mut().for_each(|p| *p *= flip);
    mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    // Joints are all nodes but the last, which carries the mesh.
    let joints = other.skins[0].joints.len() as u16;
    let weights = mesh.skin_weights.take().unwrap();
    let mut renamed = SkinWeights::default();
    for i in 0..weights.len() {
        renamed.push(weights.of(i).map(|(j, w)| (joints - 1 - j, w)));
    }
    mesh.skin_weights = Some(renamed);
    other.nodes[..usize::from(joints)].reverse();
    for node in &mut other.nodes[..usize::from(joints)] {
        node.parent = node.parent.map(|p| u32::from(joints) - 1 - p);
    }
    other.skins[0].inverse_bind.reverse();
    let mirror = Mat4::from_scale(flip);
    for bind in &mut other.skins[0].inverse_bind {
        *bind = mirror * *bind * mirror;
    }
    posed.locals[..usize::from(joints)].reverse();
    let locals = other.nodes.iter_mut().map(|n| &mut n.local).chain(&mut posed.locals);
    for local in locals {
        if let Transform::Trs { translation, rotation, .. } = local {
            *translation *= flip;
            *rotation = Quat::from_xyzw(rotation.x, -rotation.y, -rotation.z, rotation.w);
        }
    }
    (other, posed)
}

#[test]
fn a_mirrored_pose_gives_the_mirrored_shape_whatever_the_order_of_joints() {
    let asset = model("boxer", 3000);
    let (body, solver) = bound(&asset);
    let pose = random_pose(&body, asset.nodes.len() - 1, 11, 0.5);
    let (other, other_pose) = mirrored(&asset, &pose);
    let (other_body, other_solver) = bound(&other);
    for skinning in BOTH {
        let one = skin(&solver, &body, &pose, skinning).positions;
        let two = skin(&other_solver, &other_body, &other_pose, skinning).positions;
        let back: Vec<Vec3> = two.iter().map(|p| Vec3::new(-p.x, p.y, p.z)).collect();
        let off = farthest(&one, &back);
        assert!(off < 1e-5, "{skinning:?}: {off}");
    }
}

#[test]
fn a_joint_that_is_pulled_thins_the_bar() {
    let (body, solver) = bound(&model("rigged-bar", 1200));
    let mut pose = body.rest_pose().clone();
    pose.locals[1] = Transform::from_translation(Vec3::new(2.6, 0.0, 0.0));
    let skinned = skin(&solver, &body, &pose, Skinning::Linear);
    assert_kept(&solver, &body, &pose, &skinned);
    assert!(skinned.report.joints[0].lambda < -0.01, "thinner: {:?}", skinned.report);
}

#[test]
fn a_scaled_joint_keeps_its_scale_and_says_so() {
    let (body, solver) = bound(&model("rigged-bar", 1200));
    let mut pose = body.rest_pose().clone();
    if let Transform::Trs { scale, rotation, .. } = &mut pose.locals[1] {
        (*scale, *rotation) = (Vec3::splat(1.5), about_z(80.0));
    }
    let skinned = skin(&solver, &body, &pose, Skinning::Linear);
    assert!(skinned.report.joints[0].scaled, "{:?}", skinned.report);
    let error = errors(&solver, &body, &pose, &skinned.positions)[0].unwrap();
    // Half of the bar is 1.5³ times as large.
    assert!(error > 1.0, "{error}");
}

#[test]
fn a_joint_that_flattens_all_leaves_plain_skinning() {
    let (body, solver) = bound(&model("rigged-bar", 700));
    let mut pose = turned(&body, &[(2, about_z(50.0))]);
    if let Transform::Trs { scale, .. } = &mut pose.locals[1] {
        *scale = Vec3::ZERO;
    }
    let skinned = skin(&solver, &body, &pose, Skinning::Linear);
    assert_eq!(skinned.positions, plain(&body, &pose, Skinning::Linear));
    assert_eq!(skinned.report.flattened, [0]);
    assert_eq!(warnings(&solver, &skinned.report).len(), 1);
}

#[test]
fn a_joint_without_influence_changes_nothing() {
    let (body, solver) = bound(&model("rigged-bar", 700));
    let pose = turned(&body, &[(3, about_z(70.0))]);
    let skinned = skin(&solver, &body, &pose, Skinning::Linear);
    assert_eq!(skinned.positions, plain(&body, &pose, Skinning::Linear));
    assert!(skinned.report.joints.is_empty(), "{:?}", skinned.report);
}

/// Every vertex bound to one joint alone: nothing may be displaced.
#[test]
fn hard_bindings_are_left_alone_and_reported() {
    let mut asset = model("rigged-bar", 700);
    let mesh = &mut asset.meshes[0];
    let mut hard = SkinWeights::default();
    for p in &mesh.positions {
        hard.push([(u16::from(p.x > -1.0), 1.0)]);
    }
    mesh.skin_weights = Some(hard);
    let (body, solver) = bound(&asset);
    let pose = turned(&body, &[(1, about_z(60.0))]);
    let skinned = skin(&solver, &body, &pose, Skinning::Linear);
    assert_eq!(skinned.positions, plain(&body, &pose, Skinning::Linear));
    assert_eq!(skinned.report.joints[0].left, Some(Left::Immovable));
    assert_eq!(warnings(&solver, &skinned.report).len(), 1);
}

#[test]
fn an_open_bar_is_closed_for_measuring() {
    let mut asset = model("rigged-bar", 1200);
    let mesh = &mut asset.meshes[0];
    let end = |t: &[u32; 3]| t.iter().all(|&v| mesh.positions[v as usize].x > 2.999);
    let inside = |t: &[u32; 3]| {
        let at = t.map(|v| mesh.positions[v as usize]);
        at.iter().all(|p| p.z > 0.499 && (-1.2..-0.6).contains(&p.x) && p.y.abs() < 0.4)
    };
    let keep: Vec<bool> = mesh.triangles.iter().map(|t| !end(t) && !inside(t)).collect();
    mesh.retain_triangles(&keep);
    let (body, solver) = bound(&asset);
    assert!(solver.pieces()[0].holes >= 2, "{:?}", solver.pieces());
    let pose = turned(&body, &[(1, about_z(70.0)), (2, about_z(-50.0))]);
    let skinned = skin(&solver, &body, &pose, Skinning::Linear);
    assert_kept(&solver, &body, &pose, &skinned);
}

#[test]
fn a_fin_and_a_sheet_are_refused_with_the_reason() {
    let mut fin = model("rigged-bar", 700);
    let mesh = &mut fin.meshes[0];
    let [a, b, _] = mesh.triangles[0];
    let far = mesh.positions.len() as u32 - 1;
    mesh.triangles.push([a, b, far]);
    mesh.groups.clear();
    let (body, solver) = bound(&fin);
    let refusal = solver.pieces()[0].refusal;
    assert!(matches!(refusal, Some(Refusal::NonManifold { edges: 1 })), "{refusal:?}");
    let pose = turned(&body, &[(1, about_z(70.0))]);
    let skinned = skin(&solver, &body, &pose, Skinning::Linear);
    assert_eq!(skinned.positions, plain(&body, &pose, Skinning::Linear));
    let told = warnings(&solver, &skinned.report);
    assert!(told[0].contains("more than two triangles"), "{told:?}");

    let mut sheet = model("rigged-bar", 700);
    let mesh = &mut sheet.meshes[0];
    let top = |t: &[u32; 3]| t.iter().all(|&v| mesh.positions[v as usize].z > 0.499);
    let keep: Vec<bool> = mesh.triangles.iter().map(top).collect();
    mesh.retain_triangles(&keep);
    assert_eq!(bound(&sheet).1.pieces()[0].refusal, Some(Refusal::Sheet));
}

/// A seam of doubled vertices neither opens the shape nor tears it.
#[test]
fn seams_are_merged() {
    let asset = model("rigged-bar", 1200);
    let mut split = asset.clone();
    let mesh = &mut split.meshes[0];
    let n = mesh.positions.len() as u32;
    let seam: Vec<u32> = (0..n).filter(|&v| mesh.positions[v as usize].y > 0.499).collect();
    let all: Vec<u32> = (0..n).chain(seam.iter().copied()).collect();
    mesh.gather_vertices(&all);
    for t in &mut mesh.triangles {
        let front = t.iter().all(|&v| mesh.positions[v as usize].y > 0.499);
        if front {
            *t = t.map(|v| n + seam.binary_search(&v).unwrap() as u32);
        }
    }
    let ((body, solver), (other, other_solver)) = (bound(&asset), bound(&split));
    assert_eq!(other_solver.pieces().len(), 1);
    assert_eq!(other_solver.pieces()[0].holes, 0);
    let pose = turned(&body, &[(1, about_z(80.0))]);
    let one = skin(&solver, &body, &pose, Skinning::Linear).positions;
    let two = skin(&other_solver, &other, &pose, Skinning::Linear).positions;
    let off = farthest(&one, &two[..n as usize]);
    assert!(off < 1e-6, "{off}");
    for (k, &v) in seam.iter().enumerate() {
        assert_eq!(two[v as usize], two[n as usize + k], "the seam stays closed");
    }
}

#[test]
fn two_pieces_are_corrected_separately() {
    let mut asset = model("rigged-bar", 700);
    let mesh = &mut asset.meshes[0];
    let n = mesh.positions.len() as u32;
    let twice: Vec<u32> = (0..n).chain(0..n).collect();
    mesh.gather_vertices(&twice);
    for p in &mut mesh.positions[n as usize..] {
        *p = Vec3::new(0.99 * p.x, 0.37 * p.y + 0.11, 0.29 * p.z + 0.013);
    }
    let second: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| t.map(|v| v + n)).collect();
    mesh.triangles.extend(second);
    mesh.groups.clear();
    let (body, solver) = bound(&asset);
    assert_eq!(solver.pieces().len(), 2);
    let pose = turned(&body, &[(1, about_z(40.0))]);
    let skinned = skin(&solver, &body, &pose, Skinning::Linear);
    assert_eq!(skinned.report.joints.len(), 2);
    assert_kept(&solver, &body, &pose, &skinned);
}

fn painted(values: Values, name: &str) -> Asset {
    let mut asset = model("rigged-bar", 700);
    asset.meshes[0].attributes.set(name, values);
    asset
}

#[test]
fn painted_weights_of_both_signs_say_where_volume_goes() {
    let rest = model("rigged-bar", 700).meshes[0].positions.clone();
    let paint = |p: &Vec3| {
        if p.y > 0.49 {
            1.0
        } else if p.y < -0.49 {
            -0.3
        } else {
            0.0
        }
    };
    let asset = painted(Values::Scalar(rest.iter().map(paint).collect()), "VOLUME_SECOND");
    let (body, solver) = bound(&asset);
    let pose = turned(&body, &[(1, about_z(-29.0))]);
    let skinned = skin(&solver, &body, &pose, Skinning::Linear);
    assert_kept(&solver, &body, &pose, &skinned);
    let lambda = skinned.report.joints[0].lambda;
    assert!(lambda > 0.0, "volume was lost: {lambda}");
    let plain = plain(&body, &pose, Skinning::Linear);
    for (i, p) in rest.iter().enumerate().filter(|(_, p)| p.x < -2.5) {
        let moved = skinned.positions[i].y - plain[i].y;
        let expected = lambda as f32 * paint(p) * p.y;
        assert!((moved - expected).abs() < 1e-5, "{p} moved by {moved}, not {expected}");
    }
}

#[test]
fn a_common_field_multiplies_the_automatic_weights() {
    let rest = model("rigged-bar", 700).meshes[0].positions.clone();
    let upper = |p: &Vec3| f32::from(u8::from(p.y > 0.0));
    let asset = painted(Values::Scalar(rest.iter().map(upper).collect()), "volume");
    let (body, solver) = bound(&asset);
    let pose = turned(&body, &[(1, about_z(20.0))]);
    let skinned = skin(&solver, &body, &pose, Skinning::Linear);
    assert_kept(&solver, &body, &pose, &skinned);
    let plain = plain(&body, &pose, Skinning::Linear);
    let lower = rest.iter().enumerate().filter(|(_, p)| p.y <= 0.0);
    let off = lower.map(|(i, _)| skinned.positions[i].distance(plain[i])).fold(0.0, f32::max);
    assert!(off < 1e-6, "what is painted zero stays: {off}");
}

#[test]
fn bad_paint_and_bad_parameters_are_refused_with_the_reason() {
    let n = model("rigged-bar", 700).meshes[0].positions.len();
    let refused = |asset: &Asset, params: &Params| {
        let body = Body::from_asset(asset).unwrap();
        Solver::new(&body, params, &Run::default()).unwrap_err().to_string()
    };
    let default = Params::default();
    let wide = painted(Values::Vec3(vec![Vec3::ZERO; n]), "VOLUME");
    assert!(refused(&wide, &default).contains("3 numbers a vertex"));
    let mut values = vec![1.0; n];
    values[7] = f32::NAN;
    let nan = painted(Values::Scalar(values), "volume_second");
    assert!(refused(&nan, &default).contains("NaN at vertex 7"));
    let nobody = painted(Values::Scalar(vec![1.0; n]), "volume_knee");
    let told = refused(&nobody, &default);
    assert!(told.contains("names no joint") && told.contains("second"), "{told}");
    let missing = Params { weights: Some("_muscle".to_owned()), ..Params::default() };
    assert!(refused(&nobody, &missing).contains("volume_knee"));
    for degrees in [0.0, -30.0, f64::NAN, 180.0] {
        let bad = Params { step_degrees: degrees, ..Params::default() };
        assert!(refused(&model("rigged-bar", 700), &bad).contains("make no sense"));
    }
}

#[test]
fn weights_that_are_no_numbers_do_no_harm() {
    let mut asset = model("rigged-bar", 700);
    let mesh = &mut asset.meshes[0];
    let weights = mesh.skin_weights.take().unwrap();
    let mut spoilt = SkinWeights::default();
    for i in 0..weights.len() {
        match i % 50 {
            0 => spoilt.push([(0, f32::NAN), (1, 0.5)]),
            1 => spoilt.push([]),
            2 => spoilt.push([(0, -0.25), (1, 1.25)]),
            _ => spoilt.push(weights.of(i)),
        }
    }
    mesh.skin_weights = Some(spoilt);
    let (body, solver) = bound(&asset);
    let pose = turned(&body, &[(0, about_z(20.0)), (1, about_z(80.0))]);
    for skinning in BOTH {
        let skinned = skin(&solver, &body, &pose, skinning);
        assert!(skinned.positions.iter().all(|p| p.is_finite()), "{skinning:?}");
    }
}

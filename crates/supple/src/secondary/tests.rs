use glam::{DAffine3, DMat3, DVec3, Mat4, Quat, Vec3};

use super::field::{PosedSet, integrate, steps_for};
use super::kernel::{Fields, carry_one};
use super::*;
use crate::lanes::Lanes;
use crate::mesh::{SkinWeights, Values};
use crate::rig::{Body, Node, Skin, Skinning};
use crate::{Asset, Run, TriMesh, zoo};

/// The field as the paper prints it, in f64.
fn printed(set: &PosedSet, x: DVec3, t: f64) -> DVec3 {
    let (p, a) = (set.anchor.as_dvec3(), set.stretch.as_dvec3());
    let (b, r2) = (x - p - t * a, f64::from(set.radius).powi(2));
    let b2 = b.length_squared();
    if b2 > r2 {
        return DVec3::ZERO;
    }
    let stretch = (r2 - b2).powi(3) / r2.powi(4) * ((r2 - 5.0 * b2) * a + 4.0 * a.dot(b) * b);
    stretch + (1.0 - b2 / r2).powi(3) * set.turn.as_dvec3().cross(b)
}

/// A converged integration of the printed fields: the oracle.
fn converged(sets: &[PosedSet], mut x: DVec3) -> DVec3 {
    let (n, h) = (200, 1.0 / 200.0);
    for k in 0..n {
        let t = f64::from(k) * h;
        let v = |x: DVec3, t: f64| sets.iter().map(|s| printed(s, x, t)).sum::<DVec3>();
        let k1 = v(x, t);
        let k2 = v(x + 0.5 * h * k1, t + 0.5 * h);
        let k3 = v(x + 0.5 * h * k2, t + 0.5 * h);
        let k4 = v(x + h * k3, t + h);
        x += h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
    }
    x
}

fn stretched(anchor: Vec3, stretch: Vec3, radius: f32) -> PosedSet {
    PosedSet { anchor, stretch, turn: Vec3::ZERO, radius }
}

/// Points spread over a cube of half edge `size`.
fn points(count: u32, size: f32) -> impl Iterator<Item = Vec3> {
    const STEP: Vec3 = Vec3::new(0.819_172_5, 0.671_043_6, 0.549_700_5);
    (0..count).map(move |i| size * (2.0 * (i as f32 * STEP).fract() - 1.0))
}

/// Sets that the only joint feels, all local.
fn local(sets: Vec<PosedSet>) -> Fields {
    let all = (0..sets.len() as u32).collect();
    Fields { sets, felt: vec![[all, Vec::new()]] }
}

fn body(name: &str, triangles: usize) -> Body {
    let size = zoo::Size { triangles: Some(triangles) };
    Body::from_asset(&zoo::build(name, &size, &Run::default()).unwrap()).unwrap()
}

fn one_set(radius: f64) -> Params {
    Params { sets: vec![Set { radius, ..Set::default() }], ..Params::default() }
}

#[test]
fn the_field_is_the_printed_one_and_has_no_divergence() {
    let turn = Vec3::new(0.3, -0.8, 0.5);
    let set = PosedSet { turn, ..stretched(Vec3::X, Vec3::new(0.3, -0.2, 0.9), 1.3) };
    for (x, t) in points(400, 2.0).zip((0..).map(|i| i as f32 % 7.0 / 7.0)) {
        let mut v = Lanes::<1>::ZERO;
        let mut at = v;
        at.set(0, x);
        set.add_velocity(&at, t, &mut v);
        let expected = printed(&set, x.as_dvec3(), f64::from(t));
        assert!(v.get(0).as_dvec3().distance(expected) < 1e-6, "{} is not {expected}", v.get(0));
        let (h, at) = (1e-4, |x: DVec3| printed(&set, x, f64::from(t)));
        let slope = |e: DVec3| (at(x.as_dvec3() + h * e) - at(x.as_dvec3() - h * e)) / (2.0 * h);
        let jacobian = DMat3::from_cols(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z));
        let divergence = jacobian.x_axis.x + jacobian.y_axis.y + jacobian.z_axis.z;
        assert!(divergence.abs() < 1e-5, "div v = {divergence} at {x}");
        let norm = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE.normalize()]
            .map(|e| (jacobian * e).length())
            .into_iter()
            .fold(0.0, f64::max);
        assert!(norm <= f64::from(set.steepness()), "‖∇v‖ = {norm} > {}", set.steepness());
    }
}

#[test]
fn the_anchor_goes_to_the_mass_and_nothing_beyond_the_radius_moves() {
    for size in [0.1, 0.5, 1.0, 1.5] {
        let set = stretched(Vec3::Y, size * Vec3::new(0.6, 0.0, 0.8), 1.0);
        let fields = local(vec![set]);
        let end = carry_one(&fields, 0, Vec3::Y);
        assert!(end.distance(Vec3::Y + set.stretch) < 1e-5, "{end}");
        for x in points(300, 4.0) {
            let s = set.stretch.dot(x - set.anchor) / set.stretch.length_squared();
            let nearest = set.anchor + s.clamp(0.0, 1.0) * set.stretch;
            if x.distance(nearest) > set.radius {
                assert_eq!(carry_one(&fields, 0, x), x, "outside");
            }
        }
    }
}

#[test]
fn the_steps_of_the_bound_are_close_to_a_converged_integration() {
    assert_eq!(
        [0.22, 0.23, 1.0].map(|a| steps_for(3.081 * a)),
        [1, 2, 5],
        "MATHS: 1 up to 0.22, 5 at 1"
    );
    let far = |size: f32| {
        let sets = vec![
            stretched(Vec3::ZERO, size * Vec3::X, 1.0),
            stretched(0.7 * Vec3::Y, size * Vec3::new(-0.3, 0.5, 0.4), 0.9),
            PosedSet { turn: 2.0 * size * Vec3::Z, ..stretched(-0.5 * Vec3::X, Vec3::ZERO, 1.2) },
        ];
        let fields = local(sets);
        let error = |x: Vec3| {
            let end = carry_one(&fields, 0, x).as_dvec3();
            end.distance(converged(&fields.sets, x.as_dvec3()))
        };
        points(200, 1.5).map(error).fold(0.0, f64::max)
    };
    let errors = [0.1, 0.3, 1.0].map(far);
    assert!(errors[0] < 2e-4 && errors[1] < 4e-4 && errors[2] < 1e-3, "{errors:?}");
}

/// Points carried into a set by another one feel it, although they start beyond it.
#[test]
fn a_point_carried_into_another_set_feels_it() {
    let sets = vec![
        stretched(Vec3::ZERO, 1.4 * Vec3::X, 1.0),
        stretched(2.0 * Vec3::X, 0.5 * Vec3::Y, 0.9),
    ];
    let fields = local(sets);
    let end = carry_one(&fields, 0, 0.05 * Vec3::X);
    let expected = converged(&fields.sets, 0.05 * DVec3::X);
    assert!(
        end.y.abs() > 1e-3 && end.as_dvec3().distance(expected) < 1e-4,
        "{end}, not {expected}"
    );
}

#[test]
fn a_turning_set_alone_turns_by_its_closed_flow() {
    let turn = Vec3::new(0.4, 1.1, -0.3);
    let set = PosedSet { turn, ..stretched(Vec3::X, Vec3::ZERO, 1.5) };
    let fields = local(vec![set]);
    for x in points(300, 2.0) {
        let b = x - set.anchor;
        let u = (1.0 - b.length_squared() / (set.radius * set.radius)).max(0.0);
        let exact = set.anchor + Quat::from_scaled_axis(u * u * u * turn) * b;
        let end = carry_one(&fields, 0, x);
        assert!(end.distance(exact) < 1e-3, "{x} went to {end}, not {exact}");
    }
}

/// Sixteen at a time are the same bits as one at a time.
#[test]
fn lanes_do_not_change_bits() {
    let turn = Vec3::new(0.3, 0.2, 0.1);
    let sets = [
        stretched(Vec3::ZERO, 0.6 * Vec3::X, 1.0),
        PosedSet { turn, ..stretched(0.5 * Vec3::Y, 0.4 * Vec3::Z, 0.8) },
    ];
    let xs: Vec<Vec3> = points(16, 1.0).collect();
    let mut all = Lanes::<16>::gather(&xs, &(0..16).collect::<Vec<_>>());
    integrate(&sets, &[0, 1], 3, &mut all);
    for (lane, x) in xs.iter().enumerate() {
        let mut one = Lanes::<1>::gather(&[*x], &[0]);
        integrate(&sets, &[0, 1], 3, &mut one);
        assert_eq!(one.get(0), all.get(lane), "lane {lane}");
    }
}

/// A plain two-joint arm: the formula (18) in f64, vertex by vertex, is the oracle.
fn arm() -> (Body, Vec<Mat4>) {
    let size = zoo::Size { triangles: Some(800) };
    let bar = zoo::build("bar", &size, &Run::default()).unwrap();
    let mut mesh: TriMesh = bar.meshes[0].clone();
    let mut weights = SkinWeights::default();
    for x in &mesh.positions {
        let w = (0.5 + 0.5 * x.x).clamp(0.0, 1.0);
        weights.push([(0, 1.0 - w), (1, w)]);
    }
    mesh.skin_weights = Some(weights);
    let asset = Asset {
        meshes: vec![mesh],
        nodes: vec![
            Node { name: "upper".to_owned(), ..Node::default() },
            Node { name: "lower".to_owned(), parent: Some(0), ..Node::default() },
            Node { mesh: Some(0), skin: Some(0), ..Node::default() },
        ],
        skins: vec![Skin {
            joints: vec![0, 1],
            inverse_bind: vec![Mat4::IDENTITY; 2],
            ..Skin::default()
        }],
        ..Asset::default()
    };
    let body = Body::from_asset(&asset).unwrap();
    let joints = vec![Mat4::from_translation(0.2 * Vec3::Y), Mat4::from_rotation_z(0.7)];
    (body, joints)
}

fn swung(flesh: &Flesh, joints: &[Mat4], offsets: &[DVec3]) -> State {
    let mut state = flesh.begin(joints);
    for (swing, offset) in state.swings.iter_mut().zip(offsets) {
        swing.mass.position += *offset;
    }
    state
}

#[test]
fn skinned_flesh_follows_the_formula_of_the_paper() {
    let (body, joints) = arm();
    let set = |bone: &str, x: f64| Set {
        anchor: x * DVec3::X,
        radius: 1.6,
        bone: Some(bone.to_owned()),
        ..Set::default()
    };
    let params = Params { sets: vec![set("upper", -1.0), set("lower", 0.8)], ..Params::default() };
    let flesh = Flesh::new(&body, &DAffine3::IDENTITY, &params).unwrap();
    let offsets = [DVec3::new(0.1, 0.5, 0.2), DVec3::new(-0.2, 0.1, 0.6)];
    let state = swung(&flesh, &joints, &offsets);
    for skinning in [Skinning::Linear, Skinning::DualQuaternion] {
        let run = Run::default();
        let posed = body.skin(body.rest_pose(), &joints, skinning, &run);
        let linear = body.skin(body.rest_pose(), &joints, Skinning::Linear, &run);
        let mut moved = posed.clone();
        let frame = Frame { joints: &joints, eye: None, amount: 1.0 };
        let report = flesh.deform(&state, &frame, &mut moved, &run);
        assert!(report.moved > 100 && report.steps >= 2, "{report:?}");
        for (v, x) in body.mesh.positions.iter().enumerate() {
            let e = (posed[v] - linear[v]).as_dvec3();
            let weights = body.mesh.skin_weights.as_ref().unwrap();
            let mut expected = DVec3::ZERO;
            for (joint, w) in weights.of(v) {
                let j = usize::from(joint);
                let mass = state.swings[j].mass;
                let a = (mass.position - mass.anchor).as_vec3();
                let set = stretched(mass.anchor.as_vec3(), a, 1.6);
                let y = joints[j].transform_point3(*x).as_dvec3() + e;
                expected += f64::from(w) * converged(&[set], y);
            }
            let off = moved[v].as_dvec3().distance(expected);
            assert!(off < 2e-4, "vertex {v} is off by {off} ({skinning:?})");
        }
    }
}

#[test]
fn nothing_moves_without_motion_to_the_bit() {
    let body = body("boxer", 1500);
    let sets = (0..5).map(|k| Set {
        anchor: DVec3::new(0.05, 0.4 * f64::from(k), 0.0),
        radius: 0.4,
        lag: [Lag::Stretch, Lag::Turn, Lag::Both][k as usize % 3],
        ..Set::default()
    });
    let params = Params { sets: sets.collect(), ..Params::default() };
    let placement = DAffine3::from_rotation_y(0.7);
    let flesh = Flesh::new(&body, &placement, &params).unwrap();
    let joints: Vec<Mat4> = body
        .matrices(body.rest_pose())
        .iter()
        .map(|m| (glam::DMat4::from(placement) * m.as_dmat4()).as_mat4())
        .collect();
    let mut state = flesh.begin(&joints);
    let start = state.clone();
    for _ in 0..200 {
        flesh.step(
            &mut state,
            &Step { joints: &joints, hands: &[], shifts: &[], dt_secs: 1.0 / 120.0 },
        );
    }
    assert_eq!(state, start, "a body at rest stays at rest");
    let posed = body.skin(body.rest_pose(), &joints, Skinning::Linear, &Run::default());
    let mut moved = posed.clone();
    let frame = Frame { joints: &joints, eye: None, amount: 1.0 };
    let report = flesh.deform(&state, &frame, &mut moved, &Run::default());
    assert_eq!((report.moved, report.culled), (0, 5));
    assert!(
        moved
            .iter()
            .zip(&posed)
            .all(|(a, b)| a.to_array().map(f32::to_bits) == b.to_array().map(f32::to_bits)),
        "same bits"
    );
}

#[test]
fn one_long_step_equals_many_short_ones() {
    let body = body("ball", 320);
    for lag in [Lag::Stretch, Lag::Turn, Lag::Both] {
        let mut params = one_set(1.0);
        params.sets[0].lag = lag;
        params.gravity = DVec3::ZERO;
        let flesh = Flesh::new(&body, &DAffine3::IDENTITY, &params).unwrap();
        let fly = |steps: u32| {
            let mut state = flesh.begin(&[Mat4::IDENTITY]);
            for k in 1..=steps {
                let s = k as f32 / steps as f32;
                let turn = Quat::from_rotation_z(0.6 * s);
                let joints = [Mat4::from_rotation_translation(turn, s * Vec3::new(0.3, 0.1, -0.2))];
                let dt_secs = 1.0 / 24.0 / f64::from(steps);
                flesh.step(&mut state, &Step { joints: &joints, hands: &[], shifts: &[], dt_secs });
            }
            state.swings[0]
        };
        let (one, many) = (fly(1), fly(240));
        // The joints are f32: so is what they say.
        assert!(one.mass.position.distance(many.mass.position) < 1e-6, "{lag:?}");
        assert!(one.mass.velocity.distance(many.mass.velocity) < 1e-4, "{lag:?}");
        if let (Some(one), Some(many)) = (one.turning, many.turning) {
            assert!(one.angle.position.distance(many.angle.position) < 1e-6, "{lag:?}");
        }
    }
}

#[test]
fn energy_never_grows_without_input() {
    let body = body("ball", 320);
    let rest = [Mat4::IDENTITY];
    for preset in Preset::ALL.map(|p| p.1) {
        let params = Params { preset, ..one_set(1.0) };
        let flesh = Flesh::new(&body, &DAffine3::IDENTITY, &params).unwrap();
        let mut state = swung(&flesh, &rest, &[DVec3::new(0.3, 0.2, 0.1)]);
        let energy = |s: &State| {
            let mass = s.swings[0].mass;
            let y = mass.position - mass.anchor;
            0.5 * (preset.stiffness() * y.length_squared() + mass.velocity.length_squared())
        };
        let mut last = energy(&state);
        for _ in 0..600 {
            flesh.step(
                &mut state,
                &Step { joints: &rest, hands: &[], shifts: &[], dt_secs: 1.0 / 120.0 },
            );
            assert!(energy(&state) <= last * (1.0 + 1e-12), "{preset:?}");
            last = energy(&state);
        }
        assert!(last < 0.3 * preset.stiffness() * 0.07, "{preset:?} comes to rest: {last}");
    }
}

#[test]
fn no_stiffness_mass_or_step_makes_a_nan() {
    let body = body("ball", 320);
    for stiffness in [0.0, 1e-12, 1e12, f64::MAX] {
        for (mass, dt_secs) in [(1e-9, 1e-9), (1.0, 1.0 / 120.0), (1e9, 1e6), (1e-300, 10.0)] {
            let mut params = one_set(1.0);
            params.sets[0].mass = Some(mass);
            params.sets[0].lag = Lag::Both;
            params.stiffness = Some(stiffness);
            let flesh = Flesh::new(&body, &DAffine3::IDENTITY, &params).unwrap();
            let mut state = flesh.begin(&[Mat4::IDENTITY]);
            for k in 0..20 {
                let far = if k % 2 == 0 { 100.0 } else { -100.0 };
                let turn = Quat::from_rotation_x(far);
                let joints = [Mat4::from_rotation_translation(turn, Vec3::splat(far))];
                flesh.step(&mut state, &Step { joints: &joints, hands: &[], shifts: &[], dt_secs });
                assert!(state.is_finite(), "k {stiffness} m {mass} dt {dt_secs}");
                let mut positions: Vec<Vec3> =
                    body.mesh.positions.iter().map(|x| joints[0].transform_point3(*x)).collect();
                let frame = Frame { joints: &joints, eye: None, amount: 1.0 };
                flesh.deform(&state, &frame, &mut positions, &Run::default());
                assert!(positions.iter().all(|x| x.is_finite()), "k {stiffness} m {mass}");
            }
        }
    }
}

#[test]
fn a_stretch_too_far_is_cut_and_reported() {
    let body = body("ball", 320);
    let mut params = one_set(1.0);
    params.sets[0].name = "belly".to_owned();
    let flesh = Flesh::new(&body, &DAffine3::IDENTITY, &params).unwrap();
    let rest = [Mat4::IDENTITY];
    let frame = Frame { joints: &rest, eye: None, amount: 1.0 };
    let moved = |far: f64| {
        let state = swung(&flesh, &rest, &[far * DVec3::X]);
        let mut positions = body.mesh.positions.clone();
        let report = flesh.deform(&state, &frame, &mut positions, &Run::default());
        (positions, report.clamped)
    };
    assert_eq!(moved(1e6), (moved(1.5).0, vec!["'belly'".to_owned()]));
    assert!(moved(1.4).1.is_empty());
}

#[test]
fn any_thread_count_gives_the_same_bits() {
    let body = body("boxer", 4000);
    let params = Params {
        sets: vec![
            Set {
                anchor: DVec3::new(0.0, 1.1, 0.0),
                radius: 0.5,
                segments: Segments::All,
                ..Set::default()
            },
            Set { anchor: DVec3::new(0.1, 0.6, 0.0), radius: 0.2, ..Set::default() },
        ],
        ..Params::default()
    };
    let flesh = Flesh::new(&body, &DAffine3::IDENTITY, &params).unwrap();
    let joints = body.matrices(body.rest_pose());
    let state = swung(&flesh, &joints, &[DVec3::new(0.1, 0.2, 0.0), DVec3::new(0.0, 0.1, 0.1)]);
    let frame = Frame { joints: &joints, eye: None, amount: 1.0 };
    let posed = body.skin(body.rest_pose(), &joints, Skinning::Linear, &Run::default());
    let deform = |run: &Run<'_>| {
        let mut positions = posed.clone();
        let report = flesh.deform(&state, &frame, &mut positions, run);
        (positions, report)
    };
    let serial = deform(&Run::default());
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        assert_eq!(deform(&run), serial, "{threads} threads");
    }
}

#[test]
fn sets_fade_with_distance_and_never_pop() {
    let body = body("ball", 320);
    let params = Params { detail: 0.1, ..one_set(1.0) };
    let flesh = Flesh::new(&body, &DAffine3::IDENTITY, &params).unwrap();
    let rest = [Mat4::IDENTITY];
    let state = swung(&flesh, &rest, &[0.4 * DVec3::X]);
    let seen = |distance: f64| {
        let mut positions = body.mesh.positions.clone();
        let eye = Some(distance * DVec3::Z);
        flesh.deform(
            &state,
            &Frame { joints: &rest, eye, amount: 1.0 },
            &mut positions,
            &Run::default(),
        );
        positions
    };
    assert_eq!(seen(11.0), body.mesh.positions, "R = 1 is not more than t d = 1.1");
    let full = seen(1.0);
    assert_eq!(seen(6.0), full, "near enough");
    let mut last = full;
    for k in 0..=200 {
        let next = seen(6.0 + 0.025 * f64::from(k));
        let jump = last.iter().zip(&next).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(jump < 8e-3, "a jump of {jump} at {}", 6.0 + 0.025 * f64::from(k));
        last = next;
    }
    assert_eq!(last, body.mesh.positions);
}

#[test]
fn painted_shares_scale_the_effect() {
    let mut body = body("ball", 1280);
    let share = |x: &Vec3| if x.x > 0.0 { 0.25 } else { 0.0 };
    let values: Vec<f32> = body.mesh.positions.iter().map(share).collect();
    let plain = one_set(2.0);
    let painted = Params { paint: Some("_SOFT".to_owned()), ..plain.clone() };
    let missing = Flesh::new(&body, &DAffine3::IDENTITY, &painted);
    assert!(matches!(missing, Err(Error::NoPaint { .. })), "{missing:?}");
    body.mesh.attributes.set("_SOFT", Values::Scalar(values.clone()));
    let rest = [Mat4::IDENTITY];
    let moved = |params: &Params| {
        let flesh = Flesh::new(&body, &DAffine3::IDENTITY, params).unwrap();
        let state = swung(&flesh, &rest, &[0.4 * DVec3::Y]);
        let mut positions = body.mesh.positions.clone();
        let frame = Frame { joints: &rest, eye: None, amount: 1.0 };
        flesh.deform(&state, &frame, &mut positions, &Run::default());
        positions
    };
    let (all, part) = (moved(&plain), moved(&painted));
    for (v, x) in body.mesh.positions.iter().enumerate() {
        let expected = *x + values[v] * (all[v] - *x);
        assert!(part[v].distance(expected) < 1e-6, "{} is not {expected}", part[v]);
    }
}

/// Sets scale with the body they are in.
#[test]
fn a_larger_body_has_larger_sets() {
    let body = body("ball", 320);
    let flesh = Flesh::new(&body, &DAffine3::IDENTITY, &one_set(1.5)).unwrap();
    let deform = |scale: f32| {
        let joints = [Mat4::from_scale(Vec3::splat(scale))];
        let state = swung(&flesh, &joints, &[f64::from(0.3 * scale) * DVec3::X]);
        let mut positions: Vec<Vec3> = body.mesh.positions.iter().map(|x| scale * *x).collect();
        let frame = Frame { joints: &joints, eye: None, amount: 1.0 };
        flesh.deform(&state, &frame, &mut positions, &Run::default());
        positions
    };
    for (one, two) in deform(1.0).iter().zip(deform(2.0)) {
        assert!((2.0 * *one).distance(two) < 1e-5, "{one} and {two}");
    }
}

#[test]
fn a_turned_body_sags_and_a_lifted_one_does_not() {
    let body = body("ball", 320);
    let flesh = Flesh::new(&body, &DAffine3::IDENTITY, &one_set(1.0)).unwrap();
    let hang = |joint: Mat4| {
        let mut state = flesh.begin(&[joint]);
        for _ in 0..100 {
            flesh.step(
                &mut state,
                &Step { joints: &[joint], hands: &[], shifts: &[], dt_secs: 1.0 },
            );
        }
        state.swings[0].mass.position - state.swings[0].mass.anchor
    };
    assert_eq!(hang(Mat4::IDENTITY), DVec3::ZERO);
    assert!(hang(Mat4::from_translation(3.0 * Vec3::Y)).length() < 1e-12);
    // Upside down, the weight counts twice: once for the load of the spring, once for itself.
    let sag = -2.0 * 9.81 / Preset::Flesh.stiffness();
    let down = hang(Mat4::from_rotation_x(std::f32::consts::PI));
    assert!((down - sag * DVec3::Y).length() < 1e-5, "{down}");
}

#[test]
fn a_hand_holds_and_lets_go() {
    let body = body("ball", 320);
    let flesh = Flesh::new(&body, &DAffine3::IDENTITY, &one_set(1.0)).unwrap();
    let rest = [Mat4::IDENTITY];
    let mut state = flesh.begin(&rest);
    for k in 1..=60 {
        let hand = [Some(f64::from(k) / 60.0 * DVec3::X)];
        flesh.step(
            &mut state,
            &Step { joints: &rest, hands: &hand, shifts: &[], dt_secs: 1.0 / 120.0 },
        );
        let mass = state.swings[0].mass;
        assert!(mass.position.distance(hand[0].unwrap()) < 1e-12, "held");
    }
    assert!((state.swings[0].mass.velocity - 2.0 * DVec3::X).length() < 1e-9, "the hand's speed");
    for _ in 0..1200 {
        flesh.step(
            &mut state,
            &Step { joints: &rest, hands: &[], shifts: &[], dt_secs: 1.0 / 120.0 },
        );
    }
    assert!(state.swings[0].mass.position.length() < 1e-6, "back to rest");
}

#[test]
fn bones_that_are_not_there_are_named() {
    let (body, _) = arm();
    let mut params = one_set(1.0);
    params.sets[0].bone = Some("ankle".to_owned());
    let error = Flesh::new(&body, &DAffine3::IDENTITY, &params).unwrap_err().to_string();
    assert!(error.contains("'ankle'") && error.contains("upper, lower"), "{error}");
    params.sets[0].bone = Some("lower".to_owned());
    params.sets[0].radius = f64::NAN;
    assert!(Flesh::new(&body, &DAffine3::IDENTITY, &params).is_err(), "a radius is a number");
}

/// 000, section 5.1: small sets carry first, then large ones, and where one begins is a length that can be set.
#[test]
fn small_sets_carry_before_large_ones() {
    let (body, run) = (body("ball", 1280), Run::default());
    let set = |x: f64, radius: f64| Set { anchor: x * DVec3::X, radius, ..Set::default() };
    let offsets = [DVec3::new(0.3, 0.5, 0.0), DVec3::new(0.2, -0.3, 0.1)];
    let posed = [(0.0, 1.6, offsets[0]), (0.8, 0.7, offsets[1])]
        .map(|(x, radius, by)| stretched((x * DVec3::X).as_vec3(), by.as_vec3(), radius));
    let [large, small] = posed;
    // Half of the largest radius by default; all sets on one side of it are added up.
    let ends = |local_below: Option<f64>| {
        let sets = vec![set(0.0, 1.6), set(0.8, 0.7)];
        let params = Params { sets, local_below, ..Params::default() };
        let flesh = Flesh::new(&body, &DAffine3::IDENTITY, &params).unwrap();
        let joints = [Mat4::IDENTITY];
        let state = swung(&flesh, &joints, &offsets);
        let mut moved = body.mesh.positions.clone();
        let frame = Frame { joints: &joints, eye: None, amount: 1.0 };
        flesh.deform(&state, &frame, &mut moved, &run);
        moved
    };
    let in_turn = |x: DVec3| converged(&[large], converged(&[small], x));
    let swapped = |x: DVec3| converged(&[small], converged(&[large], x));
    let together = |x: DVec3| converged(&[large, small], x);
    let off = |ends: &[Vec3], expected: &dyn Fn(DVec3) -> DVec3| {
        let pairs = body.mesh.positions.iter().zip(ends);
        pairs.map(|(x, y)| expected(x.as_dvec3()).distance(y.as_dvec3())).fold(0.0, f64::max)
    };
    let by_default = ends(None);
    assert!(off(&by_default, &in_turn) < 1e-3, "{}", off(&by_default, &in_turn));
    assert!(off(&by_default, &swapped) > 0.05, "the order is seen");
    assert!(off(&by_default, &together) > 0.05, "so is the size that separates them");
    for all_on_one_side in [0.5, 2.0] {
        let ends = ends(Some(all_on_one_side));
        assert!(off(&ends, &together) < 1e-3, "{all_on_one_side}: {}", off(&ends, &together));
    }
}

/// 000, section 3.5: one set near the centre of gravity that reaches about as far as the object, smaller ones in what
/// stands out, masses as their reach, one stiffness for all.
#[test]
fn sets_are_placed_by_the_rules_of_the_paper() {
    let run = Run::default();
    let size = zoo::Size { triangles: Some(2000) };
    for name in ["ball", "cow", "jelly"] {
        let mut asset = zoo::build(name, &size, &run).unwrap();
        // Nothing depends on where the body stands.
        asset.meshes[0].positions.iter_mut().for_each(|x| *x += Vec3::new(3.0, -1.0, 2.0));
        (asset.skins, asset.clips) = (Vec::new(), Vec::new());
        asset.nodes.truncate(1);
        let mesh = &mut asset.meshes[0];
        mesh.skin_weights = None;
        let (points, triangles) = (mesh.positions.clone(), mesh.triangles.clone());
        let body = Body::from_asset(&asset).unwrap();
        let sets = place(&body, &Wishes::default(), &run).params.sets;
        let mean = surface_mean(&points, &triangles);
        let far = |x: &Vec3| x.as_dvec3().distance(mean);
        let extent = points.iter().map(far).fold(0.0, f64::max);
        let middle = &sets[0];
        assert!(middle.anchor.distance(mean) < 0.01 * extent, "{name}: {:?}", middle.anchor);
        assert!((0.5..1.5).contains(&(middle.radius / extent)), "{name}: {}", middle.radius);
        for tip in &sets[1..] {
            assert!(tip.anchor.distance(mean) > 0.3 * extent, "{name}: {tip:?} stands out");
            assert!(tip.radius < 0.5 * middle.radius, "{name}: {tip:?} is smaller");
        }
        for set in &sets {
            let (mass, reach) = (set.mass.unwrap(), set.radius / middle.radius);
            assert!((mass - reach).abs() < 0.01, "{name}: {set:?}");
            assert_eq!(set.stiffness, None, "{name}: one for all");
        }
        // The cow has four feet, a head and a tail, a ball has nothing.
        let tips = sets.len() - 1;
        let expected = match name {
            "ball" => 0..=0,
            "cow" => 5..=8,
            _ => 0..=8,
        };
        assert!(expected.contains(&tips), "{name}: {tips}");
    }
}

/// The centre of a surface.
fn surface_mean(points: &[Vec3], triangles: &[[u32; 3]]) -> DVec3 {
    let (mut sum, mut total) = (DVec3::ZERO, 0.0);
    for t in triangles {
        let [a, b, c] = t.map(|v| points[v as usize].as_dvec3());
        let area = (b - a).cross(c - a).length();
        (sum, total) = (sum + area * (a + b + c) / 3.0, total + area);
    }
    sum / total
}

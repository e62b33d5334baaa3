//! Chapter 4 of the source: part of a surface guided along a curve.

mod sculpt_shapes;

use glam::Vec3;
use sculpt_shapes::{Shape, bar, sphere};
use supple::Run;
use supple::pathline;
use supple::sculpt::{
    self, Curve, Extent, Guide, NotReversible, Op, Orientation, Outcome, Params, Problem,
};

fn long_bar(n: u32) -> Shape {
    bar(Vec3::new(6.0, 1.0, 1.0), [6 * n, n, n])
}

/// What lies beyond x = 1.5 moves, what lies before x = −1.5 stays.
fn extent(shape: &Shape) -> Extent {
    let pick = |keep: &dyn Fn(f32) -> bool| {
        (0..shape.positions.len() as u32)
            .filter(|&i| keep(shape.positions[i as usize].x))
            .collect::<Vec<u32>>()
    };
    Extent::Between { inner: pick(&|x| x >= 1.5), outer: pick(&|x| x <= -1.5) }
}

/// A quarter circle of radius two from (2, 0, 0), up.
fn quarter_circle() -> Guide {
    let k = 2.0 * 0.552_284_8;
    Guide::Bezier(vec![
        Vec3::new(2.0, 0.0, 0.0),
        Vec3::new(2.0 + k, 0.0, 0.0),
        Vec3::new(4.0, 2.0 - k, 0.0),
        Vec3::new(4.0, 2.0, 0.0),
    ])
}

fn sculpted(shape: &mut Shape, op: Curve) -> Result<Outcome, Problem> {
    let (params, run) = (Params::default(), Run::default());
    let ops = [Op::Curve(op)];
    sculpt::apply(&mut shape.positions, &shape.triangles, &ops, &params, &run)
        .map_err(|e| e.problem)
}

#[test]
fn the_inner_part_follows_the_curve_and_turns_with_it() {
    let mut shape = long_bar(10);
    let rest = shape.positions.clone();
    let op = Curve { guide: quarter_circle(), extent: extent(&shape), ..Curve::default() };
    let outcome = sculpted(&mut shape, op).unwrap();
    for (a, b) in rest.iter().zip(&shape.positions) {
        if a.x >= 1.5 {
            // Turned by a right angle about (2, 0, 0), which went to (4, 2, 0).
            let expected = Vec3::new(4.0 - a.y, 2.0 + a.x - 2.0, a.z);
            assert!(b.abs_diff_eq(expected, 1e-5), "{a} went to {b}, not {expected}");
        } else if a.x <= -1.5 {
            assert_eq!(a, b, "at rest");
        }
    }
    assert!(outcome.report.volume_error().abs() < 1e-6, "{}", outcome.report.volume_error());
}

#[test]
fn keeping_the_orientation_is_a_translation() {
    let mut shape = long_bar(8);
    let rest = shape.positions.clone();
    let op = Curve {
        guide: quarter_circle(),
        orientation: Orientation::Keep,
        extent: extent(&shape),
        ..Curve::default()
    };
    sculpted(&mut shape, op).unwrap();
    for (a, b) in rest.iter().zip(&shape.positions) {
        if a.x >= 1.5 {
            assert!(b.abs_diff_eq(*a + Vec3::new(2.0, 2.0, 0.0), 1e-5), "{a} went to {b}");
        }
    }
}

#[test]
fn a_twist_turns_the_inner_part_about_the_tangent() {
    let mut shape = long_bar(8);
    let rest = shape.positions.clone();
    let guide = Guide::Through(vec![Vec3::new(2.0, 0.0, 0.0), Vec3::new(2.5, 0.0, 0.0)]);
    let op = Curve { guide, twist_degrees: 90.0, extent: extent(&shape), ..Curve::default() };
    let outcome = sculpted(&mut shape, op).unwrap();
    for (a, b) in rest.iter().zip(&shape.positions) {
        if a.x >= 1.5 {
            assert!(b.abs_diff_eq(Vec3::new(a.x + 0.5, -a.z, a.y), 1e-5), "{a} went to {b}");
        }
    }
    assert!(outcome.report.volume_error().abs() < 1e-6, "{}", outcome.report.volume_error());
}

/// The potential of a twist vanishes in the middle of the fade: next to nothing turns backwards first (at the curve itself,
/// as printed, twice as much as is allowed here), nothing beyond the angle.
#[test]
fn a_twist_turns_nothing_backwards() {
    let mut shape = long_bar(10);
    let rest = shape.positions.clone();
    let guide = Guide::Through(vec![Vec3::new(3.0, 0.0, 0.0), Vec3::new(3.1, 0.0, 0.0)]);
    let op = Curve { guide, twist_degrees: 60.0, extent: extent(&shape), ..Curve::default() };
    sculpted(&mut shape, op).unwrap();
    let mut between = 0;
    for (a, b) in rest.iter().zip(&shape.positions).filter(|(a, _)| a.y.hypot(a.z) > 0.49) {
        let degrees = (a.y * b.z - a.z * b.y).atan2(a.y * b.y + a.z * b.z).to_degrees();
        assert!((-4.0..64.0).contains(&degrees), "{a} was turned by {degrees}°");
        between += usize::from((20.0..40.0).contains(&degrees));
    }
    assert!(between > 30, "{between}");
}

/// Half of a Bézier curve is one, too: where it ends the motion ends, everywhere.
#[test]
fn half_of_a_way_is_the_way_of_its_first_half() {
    let Guide::Bezier(points) = quarter_circle() else { panic!("a Bézier curve") };
    let [a, b, c, d] = [0, 1, 2, 3].map(|k: usize| points[k]);
    let (ab, bc, cd) = (a.midpoint(b), b.midpoint(c), c.midpoint(d));
    let first = vec![a, ab, ab.midpoint(bc), ab.midpoint(bc).midpoint(bc.midpoint(cd))];
    let moved = |guide: Guide, until: f32| {
        let mut shape = long_bar(6);
        let op = Curve { guide, until, extent: extent(&shape), ..Curve::default() };
        sculpted(&mut shape, op).unwrap();
        shape.positions
    };
    let (half, whole) = (moved(quarter_circle(), 0.5), moved(Guide::Bezier(first), 1.0));
    let apart = half.iter().zip(&whole).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(apart < 1e-3, "{apart}");
}

/// Not only on fine meshes: what flows through each triangle is accounted for.
#[test]
fn the_volume_is_kept_on_any_mesh() {
    for (n, twist_degrees) in [(3, 0.0), (6, 40.0), (18, 0.0)] {
        let mut shape = long_bar(n);
        let extent = extent(&shape);
        let op = Curve { guide: quarter_circle(), extent, twist_degrees, ..Curve::default() };
        let error = sculpted(&mut shape, op).unwrap().report.volume_error().abs();
        assert!(error < 2e-6, "{n}: {error:e}");
    }
}

/// More steps change nothing: the equation is solved, not only stepped.
#[test]
fn the_steps_have_converged() {
    let run = |steps: u32| {
        let mut shape = long_bar(6);
        let op =
            Curve { guide: quarter_circle(), extent: extent(&shape), steps, ..Curve::default() };
        sculpted(&mut shape, op).unwrap();
        shape.positions
    };
    let (few, many) = (run(32), run(128));
    let apart = few.iter().zip(&many).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(apart < 1e-3, "{apart}");
}

#[test]
fn a_geodesic_extent_takes_what_is_near_along_the_surface() {
    let mut ball = sphere(4);
    let rest = ball.positions.clone();
    let op = Curve {
        guide: Guide::Through(vec![Vec3::Z, Vec3::Z * 1.3]),
        extent: Extent::Geodesic { from: Vec3::Z, inner: 0.4, outer: 1.2 },
        ..Curve::default()
    };
    sculpted(&mut ball, op).unwrap();
    let mut fully = 0;
    for (a, b) in rest.iter().zip(&ball.positions) {
        let angle = a.angle_between(Vec3::Z);
        if angle < 0.3 {
            assert!(b.abs_diff_eq(*a + 0.3 * Vec3::Z, 1e-5), "{a} went to {b}");
            fully += 1;
        } else if angle > 1.3 {
            assert_eq!(a, b, "too far");
        }
    }
    assert!(fully > 40, "{fully}");
}

#[test]
fn exact_volume_corrects_only_the_part_between() {
    let params = Params { exact_volume: true, ..Params::default() };
    let mut shape = long_bar(8);
    let rest = shape.positions.clone();
    let op = Curve { guide: quarter_circle(), extent: extent(&shape), ..Curve::default() };
    let ops = [Op::Curve(op)];
    let run = Run::default();
    let done = sculpt::apply(&mut shape.positions, &shape.triangles, &ops, &params, &run).unwrap();
    assert!(done.report.volume_error().abs() < 1e-6, "{}", done.report.volume_error());
    for (a, b) in rest.iter().zip(&shape.positions) {
        if a.x >= 1.5 {
            assert!(b.abs_diff_eq(Vec3::new(4.0 - a.y, a.x, a.z), 1e-5), "{a} went to {b}");
        }
    }
}

#[test]
fn undo_restores_and_other_points_are_refused() {
    let mut shape = long_bar(6);
    let rest = shape.positions.clone();
    let op = Curve { guide: quarter_circle(), extent: extent(&shape), ..Curve::default() };
    let outcome = sculpted(&mut shape, op).unwrap();
    let (params, run) = (pathline::Params::default(), Run::default());
    outcome.path.undo(&mut shape.positions, &params, &run).unwrap();
    assert_eq!(shape.positions, rest);
    let other = outcome.path.replay(&mut [Vec3::ZERO], &params, &run);
    assert!(matches!(other, Err(NotReversible::OtherPoints { number: 1, .. })), "{other:?}");
}

#[test]
fn same_bits_for_any_thread_count() {
    let moved = |run: &Run<'_>| {
        let mut shape = long_bar(8);
        let op = Curve { guide: quarter_circle(), extent: extent(&shape), ..Curve::default() };
        let ops = [Op::Curve(op)];
        sculpt::apply(&mut shape.positions, &shape.triangles, &ops, &Params::default(), run)
            .unwrap();
        shape.positions
    };
    let serial = moved(&Run::default());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(moved(&Run { threads: Some(&pool), ..Run::default() }), serial);
}

#[test]
fn bad_parameters_are_named() {
    let mut shape = long_bar(4);
    let good = Curve { guide: quarter_circle(), extent: extent(&shape), ..Curve::default() };
    let mut refused = |op: Curve| sculpted(&mut shape, op).unwrap_err();
    let none = refused(Curve { guide: Guide::default(), ..good.clone() });
    assert!(matches!(none, Problem::TooFew { .. }), "{none}");
    let nowhere = refused(Curve { guide: Guide::Bezier(vec![Vec3::X; 4]), ..good.clone() });
    assert!(matches!(nowhere, Problem::NoWay), "{nowhere}");
    let points = (0_u8..5).map(|k| Vec3::X * f32::from(k)).collect();
    let five = refused(Curve { guide: Guide::Bezier(points), ..good.clone() });
    assert!(matches!(five, Problem::BezierPoints { found: 5 }), "{five}");
    let few = refused(Curve { extent: Extent::Painted { values: vec![0.0] }, ..good.clone() });
    assert!(matches!(few, Problem::WrongCount { found: 1, .. }), "{few}");
    let outside = Extent::Between { inner: vec![99_999], outer: vec![0] };
    let missing = refused(Curve { extent: outside, ..good.clone() });
    assert!(matches!(missing, Problem::NoSuchVertex { vertex: 99_999, .. }), "{missing}");
    let empty = Extent::Geodesic { from: Vec3::ZERO, inner: 1.0, outer: 1.0 };
    let fade = refused(Curve { extent: empty, ..good });
    assert!(matches!(fade, Problem::EmptyFade { .. }), "{fade}");
}

#[test]
fn a_way_too_far_for_the_numbers_is_refused() {
    let mut shape = long_bar(3);
    let (before, extent) = (shape.positions.clone(), extent(&shape));
    let guide = Guide::Through(vec![Vec3::X * 2.0, Vec3::new(1e30, 0.0, 0.0)]);
    let far = sculpted(&mut shape, Curve { guide, extent, ..Curve::default() });
    assert!(matches!(far, Err(Problem::OutOfRange)), "{far:?}");
    assert_eq!(shape.positions, before, "as it was");
}

/// With far too few steps the volume is off and is not pushed back into place by force.
#[test]
fn too_few_steps_show_in_the_volume() {
    let error = |steps: u32| {
        let mut shape = long_bar(8);
        let op =
            Curve { guide: quarter_circle(), extent: extent(&shape), steps, ..Curve::default() };
        let done = sculpt::apply(
            &mut shape.positions,
            &shape.triangles,
            &[Op::Curve(op)],
            &Params::default(),
            &Run::default(),
        );
        done.unwrap().report.volume_error().abs()
    };
    let (few, enough) = (error(1), error(64));
    assert!(few > 1e-3 && enough < 1e-6, "{few:e} {enough:e}");
}

use super::kernel::{Kernel, Support, Sweep, sweep};
use super::*;
use crate::field::smooth_distance::CurveDistance;
use crate::field::{Fade, Field, Generator, Influence, Region, RigidMotion};

fn push(center: Vec3, by: Vec3, inner: f32, outer: f32) -> Field {
    let motion = RigidMotion::Translation { velocity: by };
    let region = Region::Point(center);
    let influence = Influence::Fade(Fade { region, motion, inner, outer });
    Field::new(influence, Generator::translation(center, by), motion)
}

fn flow(fields: Vec<Field>) -> Flow {
    Flow { phases: vec![Phase { fields, duration: 1.0 }] }
}

/// Two overlapping tools, one of them masked, then a capsule that turns.
fn busy_flow() -> Flow {
    let mut masked = push(Vec3::new(0.4, 0.0, 0.2), Vec3::new(0.2, 0.3, -0.1), 0.1, 0.8);
    masked.masks.push(Fade {
        region: Region::Point(Vec3::new(0.0, 0.6, 0.0)),
        motion: RigidMotion::Still,
        inner: 0.1,
        outer: 0.5,
    });
    let motion = RigidMotion::Rotation { center: Vec3::ZERO, axis: Vec3::Y, speed: 0.7 };
    let ring = (0..9).map(|k| {
        let (s, c) = (0.7 * k as f32).sin_cos();
        Vec3::new(0.5 * c, 0.5 * s, 0.3)
    });
    let region = Region::Curve(CurveDistance::new(ring.collect(), true));
    let influence = Influence::Fade(Fade { region, motion, inner: 0.1, outer: 0.6 });
    let turn = Field::new(influence, Generator::rotation(Vec3::ZERO, Vec3::Y, 0.7), motion);
    let together = push(Vec3::new(-0.3, 0.1, 0.0), Vec3::new(0.0, 0.5, 0.2), 0.2, 0.9);
    Flow {
        phases: vec![
            Phase { fields: vec![together, masked], duration: 1.0 },
            Phase { fields: vec![turn], duration: 0.5 },
        ],
    }
}

fn cloud(n: usize) -> Vec<Vec3> {
    let at = |i: usize| {
        let t = i as f32 * 0.618_034;
        1.2 * Vec3::new((3.1 * t).sin(), (4.7 * t).sin(), (5.9 * t).sin())
    };
    (0..n).map(at).collect()
}

fn moved(n: usize, flow: &Flow, method: Method, run: &Run<'_>) -> Vec<Vec3> {
    let mut points = cloud(n);
    advect(&mut points, flow, &Params { method }, Direction::Forward, run).unwrap();
    points
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn the_core_lands_where_the_tool_went_and_the_rest_stays() {
    let by = Vec3::new(0.3, -1.7, 0.4);
    let tool = push(Vec3::ONE, by, 0.5, 1.1);
    let inside = Vec3::new(1.2, 0.8, 1.3);
    let outside = Vec3::new(-0.0, 3.0, 1.0);
    for method in [Method::Fixed { steps: 7 }, Method::default()] {
        let mut points = vec![inside, outside];
        let params = Params { method };
        let run = Run::default();
        advect(&mut points, &flow(vec![tool.clone()]), &params, Direction::Forward, &run).unwrap();
        assert_eq!(points[0], inside + by, "{method:?}");
        assert_eq!(points[1].x.to_bits(), outside.x.to_bits(), "not by one bit");
        assert_eq!(points[1], outside, "{method:?}");
    }
}

/// The rule that the core is carried directly must agree with integrating it.
#[test]
fn integrating_the_core_gives_the_same() {
    let by = Vec3::new(0.3, -1.7, 0.4);
    let mut twice = push(Vec3::ONE, by, 0.5, 1.1);
    twice.lateral = 1.0;
    let away = push(Vec3::splat(50.0), by, 0.5, 1.1);
    let mut points = vec![Vec3::new(1.2, 0.8, 1.3)];
    let both = flow(vec![twice, away]);
    advect(&mut points, &both, &Params::default(), Direction::Forward, &Run::default()).unwrap();
    let expected = Vec3::new(1.2, 0.8, 1.3) + by;
    assert!(points[0].abs_diff_eq(expected, 1e-5), "{} {expected}", points[0]);
}

/// Steps as told, without the bound that would raise them.
fn swept(flow: &Flow, steps: u32) -> Vec<Vec3> {
    let phase = &flow.phases[0];
    let kernel = Kernel::new(phase, Pace::Fixed { steps }, Direction::Forward);
    let mut points = cloud(500);
    sweep::<_, 1>(
        pulp::Scalar::new(),
        Sweep { points: &mut points, reach: &Support::of(phase), kernel: &kernel },
    );
    points
}

#[test]
fn rk4_converges_with_order_four() {
    let flow = flow(vec![push(Vec3::ZERO, Vec3::new(0.0, 0.0, 0.9), 0.2, 1.4)]);
    let exact = swept(&flow, 128);
    let (coarse, fine) = (farthest(&swept(&flow, 4), &exact), farthest(&swept(&flow, 8), &exact));
    assert!(coarse > 5e-5, "coarse enough to measure: {coarse}");
    assert!(fine < coarse / 9.0, "order four: {coarse} then {fine}");
}

#[test]
fn adaptive_steps_keep_the_tolerance() {
    let run = Run::default();
    let exact = moved(1000, &busy_flow(), Method::Fixed { steps: 400 }, &run);
    let diagonal = Bounds::of(&cloud(1000)).unwrap().diagonal();
    for tolerance_rel_bbox in [1e-4, 1e-5, 1e-6] {
        let found = moved(1000, &busy_flow(), Method::Adaptive { tolerance_rel_bbox }, &run);
        let error = farthest(&found, &exact) / diagonal;
        // The flow stretches: an early error has grown tenfold by the end.
        assert!(error < 15.0 * tolerance_rel_bbox, "{error} at {tolerance_rel_bbox}");
    }
}

#[test]
fn going_back_returns() {
    let run = Run::default();
    let start = cloud(2000);
    let mut points = start.clone();
    let params = Params::default();
    advect(&mut points, &busy_flow(), &params, Direction::Forward, &run).unwrap();
    assert!(farthest(&points, &start) > 0.1, "something moved");
    advect(&mut points, &busy_flow(), &params, Direction::Backward, &run).unwrap();
    let diagonal = Bounds::of(&start).unwrap().diagonal();
    let error = farthest(&points, &start) / diagonal;
    assert!(error < 1e-5, "returned within {error} of the box");
}

#[test]
fn same_bits_for_any_thread_count() {
    for method in [Method::Fixed { steps: 12 }, Method::default()] {
        let serial = moved(5000, &busy_flow(), method, &Run::default());
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = Run { threads: Some(&pool), ..Run::default() };
            assert_eq!(moved(5000, &busy_flow(), method, &run), serial, "{threads} threads");
        }
    }
}

/// The vector kernel against the plain loop: one point at a time, no dispatch.
#[test]
fn the_vector_kernel_has_the_bits_of_the_plain_loop() {
    for phase in &busy_flow().phases {
        let kernel = Kernel::new(phase, Pace::Fixed { steps: 9 }, Direction::Forward);
        let reach = Support::of(phase);
        let (mut plain, mut wide) = (cloud(777), cloud(777));
        sweep::<_, 1>(
            pulp::Scalar::new(),
            Sweep { points: &mut plain, reach: &reach, kernel: &kernel },
        );
        Sweep { points: &mut wide, reach: &reach, kernel: &kernel }.run();
        assert_eq!(plain, wide, "same operations in the same order");
    }
}

#[test]
fn gradients_match_finite_differences_and_keep_volume() {
    let flow = busy_flow();
    let params = Params { method: Method::Fixed { steps: 100 } };
    let run = Run::default();
    let points = cloud(40);
    let gradients =
        deformation_gradients(&points, &flow, &params, Direction::Forward, &run).unwrap();
    let h = 2e-3;
    for (k, axis) in Vec3::AXES.into_iter().enumerate() {
        let mut ahead: Vec<Vec3> = points.iter().map(|&x| x + h * axis).collect();
        let mut behind: Vec<Vec3> = points.iter().map(|&x| x - h * axis).collect();
        advect(&mut ahead, &flow, &params, Direction::Forward, &run).unwrap();
        advect(&mut behind, &flow, &params, Direction::Forward, &run).unwrap();
        for i in 0..points.len() {
            let difference = (ahead[i] - behind[i]) / (2.0 * h);
            let column = gradients[i].col(k);
            assert!(difference.distance(column) < 0.02, "point {i}: {difference} {column}");
        }
    }
    for (i, gradient) in gradients.iter().enumerate() {
        assert!((gradient.determinant() - 1.0).abs() < 1e-4, "point {i}");
    }
}

#[test]
fn normals_stay_perpendicular_to_tangents() {
    let run = Run::default();
    let points = cloud(200);
    let params = Params::default();
    let gradients =
        deformation_gradients(&points, &busy_flow(), &params, Direction::Forward, &run).unwrap();
    let mut normals = vec![Vec3::X; 200];
    let mut tangents = vec![Vec3::new(0.0, 0.6, 0.8); 200];
    transport_normals(&mut normals, &gradients, &run);
    transport_tangents(&mut tangents, &gradients, &run);
    let mut turned = 0;
    for (n, t) in normals.iter().zip(&tangents) {
        assert!(n.dot(*t).abs() < 1e-4, "{n} {t}");
        turned += usize::from(n.dot(Vec3::X) < 0.99);
    }
    assert!(turned > 20, "only {turned} normals turned");
}

#[test]
fn a_fade_that_is_too_steep_is_refused() {
    let tool = push(Vec3::ZERO, Vec3::X * 1e6, 1.0, 1.000_1);
    let mut points = cloud(10);
    let result = advect(
        &mut points,
        &flow(vec![tool]),
        &Params::default(),
        Direction::Forward,
        &Run::default(),
    );
    assert!(matches!(result, Err(Error::TooSteep { .. })), "{result:?}");
    assert_eq!(points, cloud(10), "nothing moved");
}

#[test]
fn reports_add_up() {
    let first = Report { steps: 3, frozen: 1 };
    assert_eq!(first.and(Report { steps: 4, frozen: 2 }), Report { steps: 7, frozen: 3 });
}

/// An error is a share of the points' size.
#[test]
fn tolerances_are_shares_of_the_size() {
    let points = vec![Vec3::ZERO, Vec3::new(3.0, 0.0, 4.0)];
    let phase = Phase { fields: vec![push(Vec3::ZERO, Vec3::X, 0.1, 0.4)], duration: 1.0 };
    let params = Params { method: Method::Adaptive { tolerance_rel_bbox: 1e-3 } };
    let bounds = Bounds::of(&points).unwrap();
    let pace = pace(&points, &phase, &params, Direction::Forward, &bounds, &Run::default());
    let Pace::Adaptive { tolerance, .. } = pace.unwrap() else { panic!("adaptive") };
    assert!((tolerance - 5e-3).abs() < 1e-8, "{tolerance}");
}

/// As many steps as keep each below the bound of injectivity, for any length of the phase, and no shorter ones; where the
/// bound is only sampled, a safety more.
#[test]
fn steps_are_as_long_as_they_may_be() {
    let run = Run::default();
    let points = cloud(4000);
    let bounds = Bounds::of(&points).unwrap();
    let tool = push(Vec3::ZERO, Vec3::X, 0.1, 0.4);
    let bound = tool.gradient_bound(&bounds).unwrap();
    let steps = |fields: Vec<Field>, duration: f32| {
        let phase = Phase { fields, duration };
        least_steps(&points, &phase, Direction::Forward, &bounds, &run).unwrap()
    };
    for duration in [1.0, 3.0] {
        assert_eq!(
            steps(vec![tool.clone()], duration),
            (duration * bound / INJECTIVE).ceil() as u32
        );
    }
    // A mask that is nowhere near changes nothing but that there is no proof.
    let mut masked = tool.clone();
    let far = Region::Point(100.0 * Vec3::X);
    masked.masks.push(Fade { region: far, motion: RigidMotion::Still, inner: 0.1, outer: 0.2 });
    let phase = Phase { fields: vec![masked.clone()], duration: 1.0 };
    let span = SAMPLE_SPAN * bounds.diagonal();
    for direction in [Direction::Forward, Direction::Backward] {
        let sampled = sampled_gradient(&points, &phase, direction, span, &run);
        assert!(sampled > 0.5 * bound && sampled <= bound, "{sampled} of {bound}, {direction:?}");
    }
    let passing = masked.passing_rate(&bounds);
    let sampled = SAFETY * sampled_gradient(&points, &phase, Direction::Forward, span, &run);
    let expected = (passing.max(sampled) / INJECTIVE).ceil() as u32;
    assert_eq!(steps(vec![masked], 1.0), expected);
}

#[test]
fn no_points_is_no_work() {
    let flow = busy_flow();
    let report =
        advect(&mut [], &flow, &Params::default(), Direction::Forward, &Run::default()).unwrap();
    assert_eq!(report.steps, 0);
}

/// Two boundaries that meet: the blend between them is undefined there, the points stay finite.
#[test]
fn nothing_becomes_infinite_where_boundaries_meet() {
    let ring = |x: f32| {
        (0..8).map(move |k| {
            let (s, c) = (std::f32::consts::FRAC_PI_4 * k as f32).sin_cos();
            Vec3::new(x, c, s)
        })
    };
    let tube = |x: f32, motion: RigidMotion| crate::field::Tube {
        curve: CurveDistance::new(ring(x).collect(), true),
        thickness: 0.2,
        motion,
    };
    let motion = RigidMotion::Translation { velocity: Vec3::new(-2.0, 0.0, 0.0) };
    let (inner, outer) = (tube(1.0, motion), tube(-1.0, RigidMotion::Still));
    let influence = Influence::Between(crate::field::Between { inner, outer, weight: 1.0 });
    let generator = Generator::translation(Vec3::X, Vec3::new(-2.0, 0.0, 0.0));
    let field = Field::new(influence, generator, motion);
    let points = moved(300, &flow(vec![field]), Method::Fixed { steps: 20 }, &Run::default());
    assert!(points.iter().all(|p| p.is_finite()), "finite");
}

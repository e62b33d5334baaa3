use super::smooth_distance::{CurveDistance, PointsDistance, SurfaceDistance};
use super::*;
use crate::lanes::Lanes;

/// `SplitMix64`: random parameters that are the same in every run.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1_u64 << 24) as f32
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    fn vector(&mut self, size: f32) -> Vec3 {
        Vec3::new(self.between(-size, size), self.between(-size, size), self.between(-size, size))
    }

    fn direction(&mut self) -> Vec3 {
        self.vector(1.0).normalize_or(Vec3::Z)
    }

    fn region(&mut self, kind: usize) -> Region {
        match kind {
            0 => Region::Point(self.vector(0.5)),
            1 => Region::Segment([self.vector(0.7), self.vector(0.7)]),
            2 => Region::Plane { origin: self.vector(0.5), normal: self.direction() },
            3 => Region::Box(Bounds { min: self.vector(0.2) - 0.4, max: self.vector(0.2) + 0.4 }),
            4 => Region::Points(PointsDistance::new((0..5).map(|_| self.vector(0.8)).collect())),
            5 => {
                let points = (0..7).map(|_| self.vector(0.8)).collect();
                Region::Curve(CurveDistance::new(points, true))
            }
            _ => {
                let samples = (0..40).map(|_| self.vector(0.5)).collect();
                Region::Surface(SurfaceDistance::new(samples, &[0.05; 40]))
            }
        }
    }

    fn motion(&mut self) -> RigidMotion {
        match (3.0 * self.unit()) as u32 {
            0 => RigidMotion::Still,
            1 => RigidMotion::Translation { velocity: self.vector(1.0) },
            _ => RigidMotion::Rotation {
                center: self.vector(0.5),
                axis: self.direction(),
                speed: self.between(-2.0, 2.0),
            },
        }
    }

    fn generator(&mut self) -> Generator {
        let center = self.vector(0.4);
        match (4.0 * self.unit()) as u32 {
            0 => Generator::translation(center, self.vector(1.0)),
            1 => Generator::rotation(center, self.direction(), self.between(-2.0, 2.0)),
            2 => Generator::twist(center, self.direction(), self.between(-2.0, 2.0)),
            _ => Generator::along_curve(center, self.direction(), self.vector(1.0)),
        }
    }

    fn fade(&mut self, kind: usize) -> Fade {
        let inner = self.between(0.05, 0.4);
        let outer = inner + self.between(0.3, 1.0);
        Fade { region: self.region(kind), motion: self.motion(), inner, outer }
    }

    fn field(&mut self, kind: usize) -> Field {
        let influence = if kind < 7 {
            Influence::Fade(self.fade(kind))
        } else {
            let mut tube = |height: f32| Tube {
                curve: CurveDistance::new(
                    (0..8)
                        .map(|k| {
                            let (s, c) = (std::f32::consts::FRAC_PI_4 * k as f32).sin_cos();
                            Vec3::new(c, s, height + 0.1 * self.unit())
                        })
                        .collect(),
                    true,
                ),
                thickness: 0.1,
                motion: self.motion().slowed(0.2),
            };
            let (inner, outer) = (tube(0.8), tube(-0.8));
            Influence::Between(Between { inner, outer, weight: self.between(0.5, 2.0) })
        };
        let generator = self.generator();
        let mut field = Field::new(influence, generator, RigidMotion::Still);
        if kind.is_multiple_of(2) {
            field.masks.push(self.fade(0));
        }
        field
    }
}

const KINDS: usize = 8;

/// Calls `check` for many random fields, points and times.
fn for_random_fields(mut check: impl FnMut(&Field, DVec3, f64)) {
    let mut random = Random(7);
    for round in 0..40 * KINDS {
        let field = random.field(round % KINDS);
        for _ in 0..12 {
            check(&field, random.vector(1.2).as_dvec3(), f64::from(random.unit()));
        }
    }
}

fn norm(m: DMat3) -> f64 {
    (0..3).map(|k| m.col(k).length_squared()).sum::<f64>().sqrt()
}

#[test]
fn divergence_is_zero_to_rounding() {
    let mut moving = 0;
    for_random_fields(|field, x, t| {
        let j = field.sample(x, t).jacobian;
        let trace = j.x_axis.x + j.y_axis.y + j.z_axis.z;
        assert!(trace.abs() <= 1e-12 * (1.0 + norm(j)), "div v = {trace} at {x}, {field:?}");
        moving += usize::from(norm(j) > 1e-3);
    });
    assert!(moving > 500, "only {moving} samples moved at all");
}

#[test]
fn jacobians_match_finite_differences() {
    let h = 1e-6;
    for_random_fields(|field, x, t| {
        let sample = field.sample(x, t);
        for (k, axis) in DVec3::AXES.into_iter().enumerate() {
            let difference =
                field.sample(x + h * axis, t).velocity - field.sample(x - h * axis, t).velocity;
            let error = (difference / (2.0 * h) - sample.jacobian.col(k)).length();
            // Second derivatives of a segment's or box's distance jump; near one, allow a step's worth.
            let tolerance = 1e-4 * (1.0 + norm(sample.jacobian));
            assert!(error < tolerance, "column {k} off by {error} at {x}: {field:?}");
        }
    });
}

#[test]
fn kernels_match_the_closed_form() {
    for_random_fields(|field, x, t| {
        let expected = field.sample(x.as_vec3().as_dvec3(), f64::from(t as f32));
        let lanes = Lanes::<1>::gather(&[x.as_vec3()], &[0]);
        let mut v = Lanes::<1>::ZERO;
        field.at(t as f32).add_velocity(&lanes, &mut v);
        let error = (v.get(0).as_dvec3() - expected.velocity).length();
        let scale = 1.0 + expected.velocity.length() + norm(expected.jacobian);
        assert!(error < 3e-6 * scale, "{} is off by {error} at {x}: {field:?}", v.get(0));
    });
}

#[test]
fn sixteen_lanes_give_the_bits_of_one() {
    let mut random = Random(3);
    for kind in 0..KINDS {
        let field = random.field(kind);
        let points: Vec<Vec3> = (0..16).map(|_| random.vector(1.2)).collect();
        let all: Vec<usize> = (0..16).collect();
        let mut wide = Lanes::<16>::ZERO;
        field.at(0.3).add_velocity(&Lanes::<16>::gather(&points, &all), &mut wide);
        for (i, _) in points.iter().enumerate() {
            let mut one = Lanes::<1>::ZERO;
            field.at(0.3).add_velocity(&Lanes::<1>::gather(&points, &[i]), &mut one);
            assert_eq!(one.get(0), wide.get(i), "lane {i} of kind {kind}");
        }
    }
}

/// Velocity and Jacobian agree on both sides of `r = inner` and `r = outer`.
#[test]
fn fields_are_c1_across_the_borders() {
    let mut random = Random(11);
    for round in 0..200 {
        let kind = round % 7;
        let mut fade = random.fade(kind);
        let x = random.vector(1.0).as_dvec3();
        let r = moved_distance(&fade, x);
        if r.value < 0.1 || r.gradient.length() < 0.1 {
            continue;
        }
        // Put a border of the region through x.
        let width = fade.outer - fade.inner;
        if round.is_multiple_of(2) {
            (fade.inner, fade.outer) = (r.value as f32, r.value as f32 + width);
        } else {
            (fade.inner, fade.outer) = (r.value as f32 - width, r.value as f32);
        }
        let field = Field::new(Influence::Fade(fade), random.generator(), RigidMotion::Still);
        // What is continuous changes over a way in proportion to it; what jumps does not.
        let over = |way: f64| {
            let across = 0.5 * way * r.gradient.normalize();
            let (inside, outside) = (field.sample(x - across, 0.0), field.sample(x + across, 0.0));
            let velocity = (inside.velocity - outside.velocity).length();
            (velocity, norm(inside.jacobian - outside.jacobian), norm(inside.jacobian))
        };
        let (far, near) = (over(1e-3), over(1e-5));
        let rounding = 1e-8 * (1.0 + far.2);
        assert!(near.0 <= 0.05 * far.0 + rounding, "kind {kind}: velocity {near:?} {far:?}");
        assert!(near.1 <= 0.05 * far.1 + rounding, "kind {kind}: Jacobian {near:?} {far:?}");
    }
}

/// Two derivatives vanish where the blend begins, one where it ends, and there `β β″` does too.
#[test]
fn the_blend_is_as_smooth_as_the_field_needs() {
    let h = 1e-6;
    for k in 0..=40 {
        let u = f64::from(k) / 40.0;
        let [b, db, ddb] = blend::fade_derivatives(u);
        let (ahead, behind) = (blend::fade_derivatives(u + h), blend::fade_derivatives(u - h));
        assert!((ahead[0] - behind[0] - 2.0 * h * db).abs() < 1e-10, "slope at {u}");
        // In the end its second derivative jumps, where nothing is left to multiply.
        let jump = if k == 40 { 1.3e-5 } else { 0.0 };
        assert!((ahead[1] - behind[1] - 2.0 * h * ddb).abs() < jump + 1e-10, "bend at {u}");
        assert!((ahead[0] * ahead[2] - behind[0] * behind[2]).abs() < 3e-4, "β β″ at {u}: {b}");
    }
    assert_eq!(blend::fade_derivatives(1e-9).map(f64::round), [1.0, 0.0, 0.0]);
    assert_eq!(blend::fade_derivatives(1.0 - 1e-12).map(f64::round), [0.0, 0.0, 12.0]);
}

fn moved_distance(fade: &Fade, x: DVec3) -> Jet {
    let (rest, turn) = fade.motion.rest(x, 0.0);
    let jet = fade.region.jet(rest);
    Jet { gradient: turn * jet.gradient, ..jet }
}

/// The largest factor by which a matrix stretches a vector.
fn stretch(j: DMat3) -> f64 {
    let m = j.transpose() * j;
    let grow = |start: DVec3| {
        let mut v = start;
        (0..60).for_each(|_| v = (m * v).normalize_or(start));
        (j * v).length()
    };
    [DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE.normalize()].map(grow).into_iter().fold(0.0, f64::max)
}

/// For every kind of region whose distance is known not to bend more than that of a point; the others have none and
/// are sampled.
#[test]
fn the_gradient_bound_holds() {
    let mut random = Random(5);
    let shape = Bounds { min: Vec3::splat(-1.3), max: Vec3::splat(1.3) };
    let mut without = [0; KINDS];
    for round in 0..14 * KINDS {
        let mut field = random.field(round % KINDS);
        field.masks.clear();
        let Some(bound) = field.gradient_bound(&shape).map(f64::from) else {
            without[round % KINDS] += 1;
            continue;
        };
        for _ in 0..300 {
            let x = random.vector(1.3).as_dvec3();
            let most = stretch(field.sample(x, 0.0).jacobian);
            assert!(most <= bound * 1.001, "{most} exceeds {bound} at {x}: {field:?}");
        }
    }
    assert_eq!(without, [0, 0, 0, 0, 0, 14, 14, 14], "curves, surfaces, and what is between two");
}

/// A tool about the origin whose fade begins at once: there its direction turns fastest.
fn pointed(generator: Generator) -> Field {
    let region = Region::Point(Vec3::ZERO);
    let fade = Fade { region, motion: RigidMotion::Still, inner: 0.0, outer: 0.5 };
    Field::new(Influence::Fade(fade), generator, RigidMotion::Still)
}

/// The bound adds up terms that are never all at their worst in one place: so many times what is found, no less, or it
/// would have lost a term that another field needs, and no more, since that costs steps.
#[test]
fn the_gradient_bound_has_all_its_terms() {
    let generators = [
        (Generator::translation(Vec3::ZERO, Vec3::X), 1.77),
        (Generator::rotation(Vec3::ZERO, Vec3::Z, 1.0), 4.87),
        (Generator::twist(Vec3::ZERO, Vec3::Z, 1.0), 9.94),
        (Generator::along_curve(Vec3::ZERO, Vec3::X, Vec3::Y), 3.1),
    ];
    let shape = Bounds { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) };
    let mut random = Random(17);
    for (generator, times) in generators {
        let field = pointed(generator);
        let bound = f64::from(field.gradient_bound(&shape).expect("a point's has one"));
        let mut most = 0.0_f64;
        for k in 0..2000 {
            let x = (f64::from(k % 100) + 0.5) / 200.0 * random.direction().as_dvec3();
            most = most.max(stretch(field.sample(x, 0.0).jacobian));
        }
        assert!((bound / most / times - 1.0).abs() < 0.05, "{bound} for {most}: {generator:?}");
    }
}

/// Velocity, `e∇f − f∇e` and their gradients are within their bounds, at some points nearly as large, and every term
/// counts: for fields with only one of a generator's parts the bounds are known.
#[test]
fn generators_are_within_their_bounds() {
    let mut random = Random(19);
    let h = 1e-4;
    for _ in 0..200 {
        let (rise, linear) = ([random.unit(), random.unit()], random.vector(1.0));
        let axis = random.direction();
        let across = linear - axis * axis.dot(linear);
        let g = Generator { center: Vec3::ZERO, axis, rise, linear: across, radial: random.unit() };
        let distance = random.between(0.2, 2.0);
        let bounds = g.bounds(distance);
        let moment = |x: DVec3| {
            let [e, f] = g.jets(x);
            e.value * f.gradient - f.value * e.gradient
        };
        let velocity = |x: DVec3| {
            let [e, f] = g.jets(x);
            e.gradient.cross(f.gradient)
        };
        let slope = |of: &dyn Fn(DVec3) -> DVec3, x: DVec3| {
            let column = |e: DVec3| (of(x + h * e) - of(x - h * e)) / (2.0 * h);
            stretch(DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z)))
        };
        for _ in 0..40 {
            let x = f64::from(distance) * random.direction().as_dvec3();
            let within = |value: f64, bound: f32| value <= f64::from(bound) * 1.001 + 1e-6;
            assert!(within(velocity(x).length(), bounds.velocity), "velocity: {g:?}");
            assert!(within(moment(x).length(), bounds.moment), "moment: {g:?}");
            assert!(within(slope(&velocity, x), bounds.velocity_gradient), "∇velocity: {g:?}");
            assert!(within(slope(&moment, x), bounds.moment_gradient), "∇moment: {g:?}");
        }
    }
    let found = |rise: [f32; 2], linear: f32, radial: f32| {
        let (axis, linear) = (Vec3::Z, linear * Vec3::X);
        let b = Generator { center: Vec3::ZERO, axis, rise, linear, radial }.bounds(3.0);
        [b.velocity, b.velocity_gradient, b.moment, b.moment_gradient]
    };
    assert_eq!(found([2.0, 0.0], 5.0, 0.0), [10.0, 0.0, 30.0, 10.0], "a translation");
    assert_eq!(found([2.0, 0.0], 0.0, 1.0), [12.0, 4.0, 54.0, 24.0], "a rotation");
    assert_eq!(found([0.0, 1.0], 0.0, 1.0), [36.0, 24.0, 108.0, 72.0], "a twist");
}

/// The integral along a way is that of `½β²(e∇f − f∇e)`, β seen at three places: for a parabola of β² it is exact.
#[test]
fn circulations_are_line_integrals_of_the_potential() {
    let mut random = Random(23);
    for round in 0..60 {
        let mut field = random.field(round % KINDS);
        field.lateral = 1.0;
        let painted = [0.9, 0.7, 0.4];
        let (from, way) = (random.vector(0.8), random.vector(0.4));
        let t = 0.25;
        let mut sums = [0.0_f32];
        let lane = |x: Vec3| Lanes::<1>::gather(&[x], &[0]);
        let shares = painted.map(|share: f32| [share]);
        field.at(t).add_circulation(&shares, &lane(from), &lane(way), &mut sums);
        let generator = field.generator.moved_to(field.center_at(t));
        let at = |k: usize| {
            let x = from.as_dvec3() + 0.5 * k as f64 * way.as_dvec3();
            let masked =
                field.masks.iter().fold(field.influence.jet(x, f64::from(t)), |beta, mask| {
                    let r = Influence::Fade(mask.clone()).jet(x, f64::from(t));
                    beta * (Jet::constant(1.0) - r)
                });
            let [e, f] = generator.jets(x);
            let beta = f64::from(painted[k]) * masked.value;
            0.5 * beta * beta * (e.value * f.gradient - f.value * e.gradient).dot(way.as_dvec3())
        };
        let expected = (at(0) + 4.0 * at(1) + at(2)) / 6.0;
        assert!((f64::from(sums[0]) - expected).abs() < 2e-6, "{sums:?} is not {expected}");
    }
}

/// How many widths of its fade a tool passes in a unit of time, whichever way it moves: 2.8 times that.
#[test]
fn the_passing_rate_is_that_of_the_fastest_place() {
    let region = Region::Point(Vec3::new(2.0, 0.0, 0.0));
    let shape = Bounds { min: Vec3::splat(-9.0), max: Vec3::splat(9.0) };
    let rate = |motion: RigidMotion| {
        let fade = Fade { region: region.clone(), motion, inner: 0.5, outer: 1.0 };
        let still = Generator::translation(Vec3::ZERO, Vec3::X);
        Field::new(Influence::Fade(fade), still, motion).passing_rate(&shape)
    };
    let (center, axis) = (Vec3::new(1.0, 0.0, 0.0), Vec3::Z);
    assert!(rate(RigidMotion::Still).abs() <= 0.0, "it passes nothing");
    assert!((rate(RigidMotion::Translation { velocity: 3.0 * Vec3::Y }) - 2.8 * 6.0).abs() < 1e-4);
    // The reach of the tool is the cube from (1, −1, −1) to (3, 1, 1): its farthest corner is √6 from the centre.
    let turning = rate(RigidMotion::Rotation { center, axis, speed: -0.5 });
    assert!((turning - 2.8 * 0.5 * 6.0_f32.sqrt() / 0.5).abs() < 1e-4, "{turning}");
    let drift = Vec3::new(0.0, 3.0, 4.0);
    let swinging = rate(RigidMotion::Swing { center, axis, speed: -0.5, drift });
    assert!((swinging - 2.8 * (0.5 * 45.0_f32.sqrt() + 5.0) / 0.5).abs() < 1e-3, "{swinging}");
    let boxed = Region::Box(Bounds { min: Vec3::ZERO, max: Vec3::ONE });
    let aside = Generator::translation(3.0 * Vec3::X, Vec3::X);
    let fade = Fade { region: boxed.clone(), motion: RigidMotion::Still, inner: 0.1, outer: 0.5 };
    let far =
        Field::new(Influence::Fade(fade), aside, RigidMotion::Still).farthest(&boxed, 0.5, &shape);
    assert!((far - Vec3::new(3.5, 1.5, 1.5).norm()).abs() < 1e-5, "its farthest corner: {far}");
}

/// The centre of a tool goes along with it, and what is carried rigidly is told only if all of it is.
#[test]
fn a_tool_takes_its_centre_along() {
    let center = Vec3::new(0.3, -0.2, 0.5);
    let velocity = Vec3::new(0.6, -0.3, 0.2);
    let motion = RigidMotion::Translation { velocity };
    let fade = |motion: RigidMotion| {
        let region = Region::Point(center);
        Influence::Fade(Fade { region, motion, inner: 0.2, outer: 0.7 })
    };
    let push = |of: RigidMotion, by: Vec3| {
        Field::new(fade(of), Generator::translation(center, by), motion)
    };
    let field = push(motion, velocity);
    assert_eq!(field.center_at(0.5), center + 0.5 * velocity);
    assert_eq!(field.rigid_motion(), Some(motion));
    assert_eq!(push(RigidMotion::Still, velocity).rigid_motion(), None, "the region stays behind");
    assert_eq!(push(motion, 0.5 * velocity).rigid_motion(), None, "it moves its inside slower");
    let turn = Generator::along_curve(center, velocity, Vec3::Y);
    assert_eq!(Field::new(fade(motion), turn, motion).rigid_motion(), None, "it turns, too");
    let mut masked = push(motion, velocity);
    masked.masks.push(Fade {
        region: Region::Point(center),
        motion: RigidMotion::Still,
        inner: 0.1,
        outer: 0.2,
    });
    assert_eq!(masked.rigid_motion(), None, "some of it is held back");
}

/// Far from both curves, where cubes of distances leave single precision, the blend is what it is.
#[test]
fn the_blend_between_curves_holds_far_away() {
    let mut random = Random(29);
    let Influence::Between(between) = random.field(7).influence else { panic!("kind 7") };
    let influence = Influence::Between(between);
    for far in [1e12_f32, 1e15] {
        let x = far * Vec3::new(0.6, 0.0, 0.8);
        let beta = influence.at(0.0).eval(&Lanes::<1>::gather(&[x], &[0])).value[0];
        let expected = influence.jet(x.as_dvec3(), 0.0).value;
        assert!((f64::from(beta) - expected).abs() < 1e-3, "{beta} is not {expected} at {far}");
    }
}

/// What a tool reaches on its way lies in the box it tells of, and the box is no larger.
#[test]
fn a_moving_tool_reaches_from_its_start_to_its_end() {
    let motion = RigidMotion::Translation { velocity: Vec3::new(2.0, -4.0, 0.0) };
    let fade = Fade { region: Region::Point(Vec3::ZERO), motion, inner: 0.1, outer: 0.5 };
    let reach = Influence::Fade(fade).reach(1.5).expect("a ball");
    assert_eq!(reach.min, Vec3::new(-0.5, -6.5, -0.5));
    assert_eq!(reach.max, Vec3::new(3.5, 0.5, 0.5));
}

#[test]
fn a_mirrored_tool_moves_the_mirror_image() {
    let mut random = Random(9);
    for round in 0..35 {
        let kind = [0, 1, 2, 4, 5, 6][round % 6];
        let field = random.field(kind);
        let (origin, normal) = (random.vector(0.5), random.direction());
        let image = field.mirrored(origin, normal).unwrap();
        let (o, n) = (origin.as_dvec3(), normal.as_dvec3());
        let x = random.vector(1.0).as_dvec3();
        let here = field.sample(x, 0.4).velocity;
        let there = image.sample(x - 2.0 * n.dot(x - o) * n, 0.4).velocity;
        let expected = here - 2.0 * n.dot(here) * n;
        assert!((there - expected).length() < 1e-5 * (1.0 + here.length()), "kind {kind}");
    }
}

#[test]
fn less_sideways_flow_still_has_its_jacobian() {
    let mut random = Random(13);
    for round in 0..40 {
        let mut field = random.field(round % KINDS);
        field.lateral = 0.3;
        let (x, h) = (random.vector(0.8).as_dvec3(), 1e-6);
        let sample = field.sample(x, 0.5);
        let ahead = field.sample(x + h * DVec3::X, 0.5).velocity;
        let behind = field.sample(x - h * DVec3::X, 0.5).velocity;
        let error = ((ahead - behind) / (2.0 * h) - sample.jacobian.x_axis).length();
        assert!(error < 1e-4 * (1.0 + norm(sample.jacobian)), "off by {error}");
        let mut v = Lanes::<1>::ZERO;
        let lanes = Lanes::<1>::gather(&[x.as_vec3()], &[0]);
        field.at(0.5).add_velocity(&lanes, &mut v);
        let off = (v.get(0).as_dvec3() - sample.velocity).length();
        assert!(off < 1e-5 * (1.0 + norm(sample.jacobian)), "kernel off by {off}");
    }
}

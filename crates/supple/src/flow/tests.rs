use std::f64::consts::PI;

use super::advect::{is_alive, tracer};
use super::grid::Axis;
use super::sampled::Sampled;
use super::*;

fn even(low: f64, high: f64, count: usize) -> Axis {
    Axis::even(low, (high - low) / (count - 1) as f64, count).unwrap()
}

fn recorded(sampled: Sampled) -> Flow {
    sampled.into_flow().unwrap()
}

fn carried(flow: &Flow, x: [f64; 3], times: [f64; 2], steps: u32) -> Tracer {
    let mut tracers = [tracer(x)];
    let run = Run::default();
    let at = |k: u32| times[0] + (times[1] - times[0]) * f64::from(k) / f64::from(steps);
    for k in 0..steps {
        flow.advance([at(k), at(k + 1)], &mut tracers, &run).unwrap();
    }
    tracers[0]
}

fn distance(a: Tracer, b: [f64; 3]) -> f64 {
    [0, 1, 2].map(|c| (a[c] - b[c]) * (a[c] - b[c])).iter().sum::<f64>().sqrt()
}

/// `exp(S g)` for S = [[.3, −1], [1, −.3]], whose square is −0.91.
fn swirled([x, y, z]: [f64; 3], from: f64, to: f64) -> [f64; 3] {
    let g = (to - from) + (to * to - from * from) / 4.0;
    let w = 0.91_f64.sqrt();
    let (s, c) = ((w * g).sin() / w, (w * g).cos());
    [c * x + s * (0.3 * x - y), c * y + s * (x - 0.3 * y), z + 0.2 * g]
}

/// Four levels of a flow that is linear in space and time are the flow itself: only steps are in error.
#[test]
fn a_swirl_on_four_levels_ends_where_its_closed_form_does() {
    let times = [0.0, 1.0, 2.0, 3.0];
    let axes = [even(-3.0, 3.0, 25), even(-3.0, 3.0, 25), even(-1.0, 3.0, 9)];
    let sampled = Sampled::new(axes, &times, |x, t| Analytic::Swirl.velocity(x, t));
    let flow = recorded(sampled);
    for (x, from) in [([1.0, 0.0, 0.0], 0.0), ([1.0, 0.5, 0.0], 0.0), ([1.0, 0.25, 0.0], 0.7)] {
        let error = distance(carried(&flow, x, [from, 3.0], 60), swirled(x, from, 3.0));
        assert!(error < 2e-5, "{error:e} from {from}");
    }
    // A field frozen at one level is far off: the test can tell.
    let axes = [even(-3.0, 3.0, 25), even(-3.0, 3.0, 25), even(-1.0, 3.0, 9)];
    let frozen = recorded(Sampled::new(axes, &[0.0], |x, t| Analytic::Swirl.velocity(x, t)));
    let error = distance(
        carried(&frozen, [1.0, 0.0, 0.0], [0.0, 3.0], 60),
        swirled([1.0, 0.0, 0.0], 0.0, 3.0),
    );
    assert!(error > 0.5, "{error}");
}

#[test]
fn formulas_end_where_their_closed_forms_do() {
    let swirl = Flow::Analytic(Analytic::Swirl);
    let x = [0.4, -0.2, 0.1];
    assert!(distance(carried(&swirl, x, [0.3, 2.0], 20), swirled(x, 0.3, 2.0)) < 1e-7);
    let swing = Flow::Analytic(Analytic::Oscillating);
    let (t0, t1) = (0.4_f64, 2.9_f64);
    let ends = [t1 - t0, 0.5 * ((2.0 * t1).sin() - (2.0 * t0).sin()), 0.0];
    assert!(distance(carried(&swing, [0.0; 3], [t0, t1], 20), ends) < 1e-8);
    // R(t) diag(k, −k) R(−t): in the turning frame a constant matrix [[k, 1], [−1, −k]], its square k² − 1.
    let saddle = Flow::Analytic(Analytic::Saddle);
    let turn = |[x, y]: [f64; 2], by: f64| {
        let (s, c) = by.sin_cos();
        [c * x - s * y, s * x + c * y]
    };
    let (k, x0, t0, t1) = (0.5_f64, [0.7, -0.3], 0.2, 1.9);
    let y = turn(x0, -t0);
    let w = (1.0 - k * k).sqrt();
    let (s, c) = ((w * (t1 - t0)).sin() / w, (w * (t1 - t0)).cos());
    let [ex, ey] = turn([c * y[0] + s * (k * y[0] + y[1]), c * y[1] - s * (y[0] + k * y[1])], t1);
    assert!(distance(carried(&saddle, [x0[0], x0[1], 0.0], [t0, t1], 20), [ex, ey, 0.0]) < 1e-6);
}

/// Against central differences, at places all over each flow.
#[test]
fn formulas_are_free_of_divergence() {
    for (name, flow, _) in analytic::ALL {
        let mut worst = 0.0_f64;
        for k in 0..200 {
            let f = f64::from(k);
            let [low, high] = flow.bounds();
            let share = [0.618 * f, 0.414 * f, 0.732 * f].map(f64::fract);
            let x = [0, 1, 2].map(|c| low[c] + share[c] * (high[c] - low[c]));
            let h = 1e-5;
            let mut divergence = 0.0;
            let mut fluid = 1.0_f64;
            for c in 0..3 {
                let ends = [-h, h].map(|d| {
                    let mut at = x;
                    at[c] += d;
                    flow.velocity(at, 0.37 * f)
                });
                divergence += (ends[1][c] - ends[0][c]) / (2.0 * h);
                fluid = fluid.min(ends[0][3]).min(ends[1][3]);
            }
            // Hill's vortex has a kink at its ball, where differences see one side and the other.
            let r = x.iter().map(|c| c * c).sum::<f64>().sqrt();
            if fluid > 0.5 && (flow != Analytic::Hill || (r - 1.0).abs() > 1e-4) {
                worst = worst.max(divergence.abs());
            }
        }
        assert!(worst < 1e-6, "{name}: {worst:e}");
    }
}

/// The f64 answer on the same samples.
#[test]
fn f32_samples_and_f64_positions_stay_with_f64_in_the_gyre() {
    let times: Vec<f64> = (0..41).map(|i| 0.25 * f64::from(i)).collect();
    let axes = || [even(0.0, 2.0, 129), even(0.0, 1.0, 65), even(0.0, 1.0, 2)];
    let sampled = Sampled::new(axes(), &times, |x, t| Analytic::Gyre.velocity(x, t));
    let levels: Vec<Vec<[f32; 4]>> = (0..41).map(|k| sampled.level(k).to_vec()).collect();
    let flow = recorded(sampled);
    // Bilinear in space and linear in time, all in f64.
    let velocity = |x: f64, y: f64, t: f64| {
        let (u, v, w) = (x * 64.0, y * 64.0, (t / 0.25).min(39.999_999));
        let (i, j, l) = (u.floor().min(127.0), v.floor().min(63.0), w.floor());
        let mut sum = [0.0; 2];
        for corner in 0..8_usize {
            let [a, b, c] = [corner & 1, corner >> 1 & 1, corner >> 2];
            let share = |place: f64, cell: f64, at: usize| {
                if at == 1 { place - cell } else { 1.0 - place + cell }
            };
            let weight = share(u, i, a) * share(v, j, b) * share(w, l, c);
            let node = levels[l as usize + c][(j as usize + b) * 129 + i as usize + a];
            sum = [0, 1].map(|k| sum[k] + weight * f64::from(node[k]));
        }
        sum
    };
    let (mut worst, mut sampling) = (0.0_f64, Vec::new());
    for seed in 0..20 {
        let x0 = [0.1 + 0.09 * f64::from(seed), 0.15 + 0.03 * f64::from(seed), 0.5];
        let mut x = [x0[0], x0[1]];
        let h = 0.05;
        for k in 0..200 {
            let t = h * f64::from(k);
            let k1 = velocity(x[0], x[1], t);
            let k2 = velocity(x[0] + 0.5 * h * k1[0], x[1] + 0.5 * h * k1[1], t + 0.5 * h);
            let k3 = velocity(x[0] + 0.5 * h * k2[0], x[1] + 0.5 * h * k2[1], t + 0.5 * h);
            let k4 = velocity(x[0] + h * k3[0], x[1] + h * k3[1], t + h);
            x = [0, 1].map(|c| x[c] + h / 6.0 * (k1[c] + 2.0 * k2[c] + 2.0 * k3[c] + k4[c]));
        }
        worst = worst.max(distance(carried(&flow, x0, [0.0, 10.0], 200), [x[0], x[1], 0.5]));
        // The formula itself is farther away: sampling is the larger error.
        let exact = carried(&Flow::Analytic(Analytic::Gyre), x0, [0.0, 10.0], 1000);
        sampling.push(distance(exact, [x[0], x[1], 0.5]));
    }
    sampling.sort_by(f64::total_cmp);
    assert!(sampling[10] < 0.01 && sampling[10] > worst, "{sampling:?}");
    assert!(worst < 1e-4, "{worst:e}");
}

#[test]
fn uneven_axes_find_the_same_velocity_as_even_ones() {
    let uneven: Vec<f64> = (0..30).map(|i| 2.0 * (f64::from(i) / 29.0).powi(2)).collect();
    let linear = |x: [f64; 3]| [1.0 + x[0] - x[2], 0.5 * x[1], x[0] + x[1], 1.0];
    let axes = || [Axis::new(uneven.clone()).unwrap(), even(0.0, 1.0, 7), even(0.0, 3.0, 2)];
    let flow = recorded(Sampled::new(axes(), &[0.0], |x, _| linear(x)));
    let places: Vec<[f64; 3]> = (0..100)
        .map(f64::from)
        .map(|k| [2.0 * (0.618 * k).fract(), (0.414 * k).fract(), 3.0 * (0.732 * k).fract()])
        .collect();
    let found = flow.velocities(&places, 0.0, &Run::default()).unwrap();
    for (x, v) in places.iter().zip(found) {
        let wanted = linear(*x);
        assert!((0..4).all(|c| (v[c] - wanted[c]).abs() < 1e-5), "{x:?}: {v:?}");
    }
}

#[test]
fn a_mask_is_outside_and_does_not_slow_its_neighbours() {
    let axes = [even(0.0, 4.0, 5), even(0.0, 4.0, 5), even(0.0, 1.0, 2)];
    // Everything below y = 1 is masked.
    let masked =
        |x: [f64; 3], _: f64| if x[1] < 1.0 { [f64::NAN; 4] } else { [1.0, 0.0, 0.0, 1.0] };
    let flow = recorded(Sampled::new(axes, &[0.0], masked));
    let at = |y: f64| flow.velocities(&[[1.0, y, 0.5]], 0.0, &Run::default()).unwrap()[0];
    assert_eq!(at(2.0), [1.0, 0.0, 0.0, 1.0]);
    let near = at(0.75);
    assert!((near[0] - 1.0).abs() < 1e-6 && (near[3] - 0.75).abs() < 1e-6, "{near:?}");
    assert!(at(0.25)[3] < 0.5);
    // What is there dies at once, and stays; what leaves dies at the wall.
    let dead = carried(&flow, [1.0, 0.25, 0.5], [0.0, 1.0], 4);
    assert!(!is_alive(&dead) && dead[..3] == [1.0, 0.25, 0.5], "{dead:?}");
    let left = carried(&flow, [3.0, 2.0, 0.5], [0.0, 3.0], 30);
    assert!(!is_alive(&left) && left[0] > 3.8 && left[0] <= 4.0, "{left:?}");
    let outside = carried(&flow, [f64::NAN, 2.0, 0.5], [0.0, 1.0], 1);
    assert!(!is_alive(&outside), "NaN is nowhere");
}

#[test]
fn a_period_in_space_is_sampled_wrapped_and_positions_run_on() {
    let wave = |x: [f64; 3], _: f64| [1.0, (PI * x[0]).sin(), 0.0, 1.0];
    for repeated in [false, true] {
        // With and without the last node that repeats the first.
        let nodes: Vec<f64> = (0..64 + usize::from(repeated)).map(|i| i as f64 / 32.0).collect();
        let axis = Axis::new(nodes).unwrap().periodic(Some(2.0));
        let axes = [axis, even(-9.0, 9.0, 3), even(0.0, 1.0, 2)];
        let flow = recorded(Sampled::new(axes, &[0.0], wave));
        let end = carried(&flow, [0.25, 0.0, 0.5], [0.0, 7.0], 140);
        let rise = ((0.25 * PI).cos() - (7.25 * PI).cos()) / PI;
        assert!(distance(end, [7.25, rise, 0.5]) < 1e-3, "{end:?} {rise}");
        let back = carried(&flow, [0.25, 0.0, 0.5], [0.0, -3.0], 60);
        assert!(is_alive(&back) && (back[0] + 2.75).abs() < 1e-6, "{back:?}");
    }
}

/// Rodrigues' formula: a rigid rotation about a tilted axis.
#[test]
fn a_rotation_of_the_sphere_moves_rigidly() {
    let axis = [0.3_f64, 0.2, 0.932_737_9];
    let rate = 2.0 * PI / (12.0 * 86_400.0);
    let unit = |lon: f64, lat: f64| {
        let ((sl, cl), (sp, cp)) = (lon.to_radians().sin_cos(), lat.to_radians().sin_cos());
        [cp * cl, cp * sl, sp]
    };
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    // Centimetres a second.
    let velocity = |x: [f64; 3], _: f64| {
        let v = cross(axis, unit(x[0], x[1])).map(|c| c * rate * EARTH_RADIUS * 100.0);
        let ((sl, cl), (sp, cp)) = (x[0].to_radians().sin_cos(), x[1].to_radians().sin_cos());
        [cl * v[1] - sl * v[0], cp * v[2] - sp * (cl * v[0] + sl * v[1]), 0.0, 1.0]
    };
    let axes = [even(0.0, 120.0, 121), even(-60.0, 80.0, 141), Axis::new(vec![0.0]).unwrap()];
    let sampled = Sampled::new(axes, &[0.0], velocity);
    let clock = Clock::new(vec![0.0]).unwrap();
    // A unit of time is a day.
    let sphere = Sphere { metres: 864.0, upward: 0.0 };
    let flow = Flow::Recorded(Recorded::new(clock, Box::new(sampled), Some(sphere)));
    let (lon, days) = (20.0, 2.0);
    let mut errors = Vec::new();
    for lat in (30..=40).map(f64::from) {
        let end = carried(&flow, [lon, lat, 0.0], [0.0, days], 40);
        let (p, angle) = (unit(lon, lat), rate * 86_400.0 * days);
        let along: f64 = (0..3).map(|c| axis[c] * p[c]).sum();
        let side = cross(axis, p);
        let (sin, cos) = angle.sin_cos();
        let turned = [0, 1, 2].map(|c| cos * p[c] + sin * side[c] + (1.0 - cos) * along * axis[c]);
        let wanted = [turned[1].atan2(turned[0]).to_degrees(), turned[2].asin().to_degrees()];
        assert!(is_alive(&end) && wanted[0] > lon + 20.0, "{end:?} {wanted:?}");
        errors.push(distance(end, [wanted[0], wanted[1], 0.0]));
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(mean < 1e-3, "{mean:e}");
}

/// A thousand steps in a chaotic flow against all of it in f64 on the same samples, in cells.
#[test]
fn f64_positions_stay_with_f64_in_the_abc_flow() {
    const N: usize = 64;
    let spacing = 2.0 * PI / N as f64;
    let axis = || Axis::even(0.0, spacing, N).unwrap().periodic(None);
    let velocity = |x: [f64; 3], t: f64| Analytic::Abc.velocity(x, t);
    let sampled = Sampled::new([axis(), axis(), axis()], &[0.0], velocity);
    let nodes = sampled.level(0).to_vec();
    let flow = recorded(sampled);
    let plain = |x: [f64; 3]| {
        let u = x.map(|c| c / spacing);
        let cell = u.map(f64::floor);
        let mut sum = [0.0; 3];
        for corner in 0..8_usize {
            let bits = [corner & 1, corner >> 1 & 1, corner >> 2];
            let share = |a: usize| {
                let s = u[a] - cell[a];
                if bits[a] == 1 { s } else { 1.0 - s }
            };
            let at = |a: usize| (cell[a] as i64 + bits[a] as i64).rem_euclid(N as i64) as usize;
            let node = nodes[(at(2) * N + at(1)) * N + at(0)];
            let weight = share(0) * share(1) * share(2);
            sum = [0, 1, 2].map(|c| sum[c] + weight * f64::from(node[c]));
        }
        sum
    };
    let h = 0.02;
    let ahead = |x: [f64; 3], k: [f64; 3], by: f64| [0, 1, 2].map(|c| x[c] + by * k[c]);
    let mut errors: Vec<f64> = (0..200)
        .map(|i| {
            let share = |k: f64| 2.0 * PI * (f64::from(i) * k).fract();
            let x0 = [share(0.754_877_666), share(0.569_840_291), share(0.618_033_989)];
            let mut x = x0;
            for _ in 0..1000 {
                let k1 = plain(x);
                let k2 = plain(ahead(x, k1, 0.5 * h));
                let k3 = plain(ahead(x, k2, 0.5 * h));
                let k4 = plain(ahead(x, k3, h));
                x = [0, 1, 2].map(|c| x[c] + h / 6.0 * (k1[c] + 2.0 * k2[c] + 2.0 * k3[c] + k4[c]));
            }
            distance(carried(&flow, x0, [0.0, 20.0], 1000), x) / spacing
        })
        .collect();
    errors.sort_by(f64::total_cmp);
    let (median, most) = (errors[100], errors[198]);
    assert!(median < 2e-5 && most < 2e-3, "median {median:e}, 99 % {most:e}");
}

/// A step of one cell is off by less than the samples are.
#[test]
fn steps_of_a_cell_are_fine_enough() {
    let axes = || [even(0.0, 2.0 * PI, 65), even(0.0, 2.0 * PI, 65), even(0.0, 2.0 * PI, 65)];
    let flow = recorded(Sampled::new(axes(), &[0.0], |x, t| Analytic::Abc.velocity(x, t)));
    let x = [2.0, 3.0, 2.5];
    let coarse = carried(&flow, x, [0.0, 1.0], 1);
    let fine = carried(&flow, x, [0.0, 1.0], 400);
    let exact = carried(&Flow::Analytic(Analytic::Abc), x, [0.0, 1.0], 400);
    let [steps, samples] = [coarse, exact].map(|end| distance(end, [fine[0], fine[1], fine[2]]));
    assert!(steps < 0.5 * samples, "steps {steps:e}, samples {samples:e}");
}

#[test]
fn threads_change_no_bits() {
    let axes = || [even(0.0, 7.0, 33), even(0.0, 7.0, 33), even(0.0, 7.0, 33)];
    let flow = recorded(Sampled::new(axes(), &[0.0], |x, t| Analytic::Abc.velocity(x, t)));
    let start: Vec<Tracer> = (0..5000)
        .map(f64::from)
        .map(|k| tracer([0.618 * k, 0.414 * k, 0.732 * k].map(|s| 7.0 * s.fract())))
        .collect();
    let mut alone = start.clone();
    flow.advance([0.0, 0.5], &mut alone, &Run::default()).unwrap();
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let mut shared = start.clone();
        flow.advance([0.0, 0.5], &mut shared, &run).unwrap();
        assert!(alone == shared, "{threads} threads");
    }
}

#[test]
fn levels_that_do_not_fit_are_refused() {
    let axes = [even(0.0, 1.0, 2), even(0.0, 1.0, 2), even(0.0, 1.0, 2)];
    let few = [[0.0; 4]; 7];
    let refused = grid::Pair::new(axes, [&few, &few], [0.0, 1.0], &Run::default()).unwrap_err();
    assert_eq!(refused, grid::WrongCount { found: 7, expected: 8 });
    assert_eq!(Axis::new(vec![0.0, 1.0, 1.0]), Err(grid::BadAxis { node: 2 }));
    assert_eq!(Axis::new(vec![]), Err(grid::BadAxis { node: 0 }));
}

#[test]
fn axes_that_run_down_are_turned_round() {
    use crate::dataset::{Grid, Level};
    let velocity = |x: f64, y: f64| [(x + 10.0 * y) as f32, 0.0, 0.0, 1.0];
    let (xs, ys) = ([4.0, 2.0, 0.0], [0.0, 1.0]);
    let values = ys.iter().flat_map(|&y| xs.iter().map(move |&x| velocity(x, y))).collect();
    let grid =
        Grid::Uniform { dims: [3, 2, 1], origin: [4.0, 0.0, 0.0], spacing: [-2.0, 1.0, 1.0] };
    let level = Level { grid: grid.into(), velocity: values, scalars: Vec::new() };
    let run = Run::default();
    let pair = grid::Pair::of_levels([&level, &level], [0.0, 1.0], [false; 3], &run).unwrap();
    let found = sampled(&GridSampler::<false>::new(&pair), &[[3.0, 0.5, 7.0]], 0.5, None);
    assert_eq!(found[0], [8.0, 0.0, 0.0, 1.0]);
}

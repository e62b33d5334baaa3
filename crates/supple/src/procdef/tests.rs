//! What must hold of every body, and the plain f64 loop that the kernel is measured against.

use glam::{DMat3, DQuat, DVec3, EulerRot, Mat3, Quat, Vec3};

use super::acceleration::Passes;
use super::matching::{Passing, displacement, quad};
use super::rotation::{beyond_identity, nearest, rotations};
use super::wide::{WIDTH, Wide};
use super::*;
use crate::Run;
use crate::zoo::tet_bodies;

/// Random numbers in `[−1, 1]`, the same every time.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.roll(), self.roll(), self.roll())
    }

    fn rotation(&mut self) -> DQuat {
        DQuat::from_xyzw(self.roll(), self.roll(), self.roll(), self.roll()).normalize()
    }
}

fn body(name: &str, vertices: usize) -> Body {
    Body::new(&tet_bodies::build(name, Some(vertices)).unwrap()).unwrap()
}

/// Random stretches, each of determinant 1 or not, alike for neighbours only by chance.
fn random_stretches(body: &Body, most: f64, seed: u64) -> Stretches {
    let mut dice = Dice(seed);
    let mut stretches = Stretches::ones(body);
    for v in 0..body.vertex_count() {
        let frame = Mat3::from_quat(dice.rotation().as_quat());
        let rates = (dice.vector() * most.ln()).to_array().map(|e| e.exp() as f32);
        stretches.set(body, v, [frame.x_axis, frame.y_axis, frame.z_axis], Vec3::from(rates));
    }
    stretches
}

/// A wave that runs along x, in the body's vertices.
fn wave(body: &Body, t: f64) -> Stretches {
    let mut stretches = Stretches::ones(body);
    for v in 0..body.vertex_count() {
        let x = body.regions.rest[body.regions.region_of[v] as usize].x / body.size;
        let c = 1.4_f64.powf((std::f64::consts::TAU * (t - 1.3 * x)).sin()) as f32;
        let rest = 1.0 / c.sqrt();
        stretches.set(body, v, [Vec3::X, Vec3::Y, Vec3::Z], Vec3::new(c, rest, rest));
    }
    stretches
}

/// The plain loop, f64, as the formulas say it.
struct Plain<'a> {
    body: &'a Body,
    t: Vec<DMat3>,
    regions: Vec<(Vec<usize>, DVec3)>,
}

impl<'a> Plain<'a> {
    fn new(body: &'a Body, stretches: &Stretches) -> Self {
        let matrix = |r: usize| {
            let e = |k: usize| f64::from(stretches.blocks[r / WIDTH][k].0[r % WIDTH]);
            DMat3::from_cols_array(&[
                1.0 + e(0),
                e(1),
                e(2),
                e(1),
                1.0 + e(3),
                e(4),
                e(2),
                e(4),
                1.0 + e(5),
            ])
        };
        let count = body.regions.len();
        let regions = (0..count).map(|r| body.regions.members(r)).collect();
        Self { body, t: (0..count).map(matrix).collect(), regions }
    }

    fn fit(&self, x: &[DVec3], r: usize) -> (DMat3, DVec3) {
        let (members, center) = &self.regions[r];
        let regions = &self.body.regions;
        let mass: f64 = members.iter().map(|&i| regions.shared_mass(i)).sum();
        let c = members.iter().map(|&i| regions.shared_mass(i) * x[i]).sum::<DVec3>() / mass;
        let mut a = DMat3::ZERO;
        for &i in members {
            let (p, q) = (x[i] - c, self.t[r] * (regions.rest[i] - *center));
            a += DMat3::from_cols(p * q.x, p * q.y, p * q.z) * regions.shared_mass(i);
        }
        (DMat3::from_quat(nearest(a)) * self.t[r], c)
    }

    /// One plain pass (7).
    fn pass(&self, x: &[DVec3]) -> Vec<DVec3> {
        let mut sums = vec![(DVec3::ZERO, 0.0); x.len()];
        for r in 0..x.len() {
            let (map, c) = self.fit(x, r);
            let (members, center) = &self.regions[r];
            for &i in members {
                sums[i].0 += map * (self.body.regions.rest[i] - *center) + c;
                sums[i].1 += 1.0;
            }
        }
        sums.into_iter().map(|(sum, n)| sum / n).collect()
    }

    fn energy(&self, x: &[DVec3]) -> f64 {
        let of_region = |r: usize| {
            let (map, c) = self.fit(x, r);
            let (members, center) = &self.regions[r];
            let term = |&i: &usize| {
                let off = map * (self.body.regions.rest[i] - *center) + c - x[i];
                self.body.regions.shared_mass(i) * off.length_squared()
            };
            members.iter().map(term).sum::<f64>()
        };
        (0..x.len()).map(of_region).sum()
    }

    /// The shape of least energy: Chebyshev's passes until nothing moves.
    fn minimum(&self) -> Vec<DVec3> {
        let mut x = self.body.regions.rest.clone();
        for _ in 0..400 {
            let start = x.clone();
            let mut before = x.clone();
            for (k, pass) in Passes::Accelerated(8).schedule(0.05).into_iter().enumerate() {
                let goals = self.pass(&x);
                let weight = if k == 0 { 1.0 } else { f64::from(pass.weight) };
                let next = |i: usize| {
                    let z = x[i] + f64::from(pass.relax) * (goals[i] - x[i]);
                    before[i] + weight * (z - before[i])
                };
                let moved = (0..x.len()).map(next).collect();
                before = std::mem::replace(&mut x, moved);
            }
            let step = x.iter().zip(&start).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            if step < 1e-10 * self.body.size {
                break;
            }
        }
        x
    }
}

/// Largest distance between two shapes after the best rigid fit, over the body's size.
pub(super) fn apart(body: &Body, x: &[DVec3], y: &[DVec3]) -> f64 {
    let masses = &body.regions.masses;
    let center = |x: &[DVec3]| x.iter().zip(masses).map(|(x, m)| *x * *m).sum::<DVec3>();
    let (cx, cy) = (center(x), center(y));
    let mut fit = DMat3::ZERO;
    for i in 0..x.len() {
        let (p, q) = (masses[i] * (x[i] - cx), y[i] - cy);
        fit += DMat3::from_cols(p * q.x, p * q.y, p * q.z);
    }
    let turn = nearest(fit);
    let off = |i: usize| (x[i] - cx - turn * (y[i] - cy)).length();
    (0..x.len()).map(off).fold(0.0, f64::max) / body.size
}

fn shape(body: &Body, state: &State) -> Vec<DVec3> {
    body.regions.rest.iter().zip(&state.offsets).map(|(x, u)| *x + u.as_dvec3()).collect()
}

fn rotation_of(a: DMat3) -> DMat3 {
    let a = a.as_mat3().to_cols_array();
    let entry = |i: usize, j: usize| Wide::all(a[3 * j + i]);
    let wide: [Wide; 9] = std::array::from_fn(|k| entry(k / 3, k % 3));
    let turn = beyond_identity(rotations(&wide)).map(|e| f64::from(e.0[5]));
    DMat3::from_cols_array(&turn).transpose() + DMat3::IDENTITY
}

fn overlap(r: DMat3, a: DMat3) -> f64 {
    r.x_axis.dot(a.x_axis) + r.y_axis.dot(a.y_axis) + r.z_axis.dot(a.z_axis)
}

#[test]
fn lanes_find_the_rotation_of_any_matrix() {
    let mut dice = Dice(7);
    let kinds: [(&str, [f64; 3], f64); 8] = [
        ("plain", [1.0, 0.8, 0.6], 1e-6),
        ("inverted", [1.0, 0.8, -0.3], 1e-6),
        ("flat", [1.0, 0.6, 0.0], 1e-6),
        ("line", [1.0, 0.0, 0.0], 1e-3),
        ("nearly a line", [1.0, 1e-5, 1e-6], 1e-3),
        ("ambiguous", [1.0, 0.2, -0.2], 2e-2),
        ("round", [1.0, 1.0, 1.0], 1e-6),
        ("mirrored", [-1.0, -1.0, -1.0], 1e-2),
    ];
    for (kind, sigma, most) in kinds {
        for scale in [1.0, 1e-15, 1e15] {
            for k in 0..200 {
                let (u, v) = (dice.rotation(), dice.rotation());
                let u = if k % 4 == 0 {
                    v * DQuat::from_axis_angle(dice.vector().normalize(), std::f64::consts::PI)
                } else {
                    u
                };
                let a = DMat3::from_quat(u)
                    * DMat3::from_diagonal(DVec3::from(sigma))
                    * DMat3::from_quat(v.conjugate());
                let r = rotation_of(a * scale);
                let best = overlap(DMat3::from_quat(nearest(a)), a);
                assert!(
                    (r.transpose() * r - DMat3::IDENTITY)
                        .to_cols_array()
                        .iter()
                        .all(|e| e.abs() < 1e-5),
                    "{kind}"
                );
                assert!(r.determinant() > 0.99, "{kind}: a reflection");
                let loss = (best - overlap(r, a))
                    / a.to_cols_array().iter().map(|e| e * e).sum::<f64>().sqrt();
                assert!(loss < most, "{kind} at {scale}: loss {loss}");
            }
        }
    }
    assert_eq!(rotation_of(DMat3::ZERO), DMat3::IDENTITY);
}

#[test]
fn the_f64_rotation_is_the_polar_factor() {
    let mut dice = Dice(3);
    for _ in 0..100 {
        let r = dice.rotation();
        let s = DMat3::from_diagonal(DVec3::new(0.3, 1.0, 2.0) + 0.2 * dice.vector());
        let found = nearest(DMat3::from_quat(r) * s);
        assert!(found.dot(r).abs() > 1.0 - 1e-12, "{found} for {r}");
    }
}

#[test]
fn a_pass_of_the_kernel_is_the_plain_pass() {
    for (name, count) in [("bar", 225), ("jellyfish", 300), ("worm", 120)] {
        let body = body(name, count);
        let stretches = random_stretches(&body, 1.5, 11);
        let plain = Plain::new(&body, &stretches);
        let mut dice = Dice(5);
        let u: Vec<Vec3> = (0..body.regions.len())
            .map(|_| (0.002 * body.size * dice.vector()).as_vec3())
            .collect();
        let x: Vec<DVec3> =
            body.regions.rest.iter().zip(&u).map(|(x, u)| *x + u.as_dvec3()).collect();
        let mut passing = Passing::default();
        passing.resize(u.len());
        passing.now = u.iter().map(|u| quad(*u)).collect();
        let pass = Passes::Plain(1).schedule(0.05)[0];
        passing.run(&body.regions, &stretches.blocks, (&[pass], &[]), &Run::default());
        let expected = plain.pass(&x);
        let off = |(r, now): (usize, &matching::Quad)| {
            let found = body.regions.rest[r] + displacement(now).as_dvec3();
            found.distance(expected[r]) / body.size
        };
        let off: Vec<f64> = passing.now.iter().enumerate().map(off).collect();
        let mean = off.iter().sum::<f64>() / off.len() as f64;
        let worst = off.iter().copied().fold(0.0, f64::max);
        // Thin regions at the corners of grids leave their rotation almost open.
        assert!(mean < 1e-5 && worst < 2e-3, "{name}: {mean} on average, {worst} at worst");
    }
}

#[test]
fn energy_falls_with_every_plain_pass() {
    let body = body("bar", 225);
    let plain = Plain::new(&body, &random_stretches(&body, 2.0, 1));
    let mut dice = Dice(2);
    let mut x: Vec<DVec3> = body.regions.rest.iter().map(|x| *x + 0.3 * dice.vector()).collect();
    let mut energy = plain.energy(&x);
    for k in 0..30 {
        x = plain.pass(&x);
        let next = plain.energy(&x);
        assert!(next < energy * (1.0 + 1e-12), "pass {k}: {energy} → {next}");
        energy = next;
    }
}

#[test]
fn the_equilibrium_is_the_minimum_of_the_energy_for_any_passes() {
    let body = body("bar", 225);
    let stretches = wave(&body, 0.3);
    let expected = Plain::new(&body, &stretches).minimum();
    for passes in
        [Passes::Plain(2), Passes::Plain(6), Passes::Accelerated(4), Passes::Accelerated(8)]
    {
        let motion = Motion { passes, ..Motion::default() };
        let (mut state, mut work) = (State::at_rest(&body), Work::default());
        for _ in 0..2400 {
            body.tick(&motion, &Drive::by(&stretches), &mut state, &mut work, &Run::default());
        }
        let off = apart(&body, &shape(&body, &state), &expected);
        assert!(off < 1e-4, "{passes:?}: {off}");
    }
}

#[test]
fn a_chart_of_ones_leaves_a_body_still_to_the_bit() {
    let mut dice = Dice(9);
    for name in ["bar", "jellyfish", "heart", "snail"] {
        let body = body(name, 300);
        for far in [0.0, 1000.0] {
            let turn = if far > 0.0 { dice.rotation() } else { DQuat::IDENTITY };
            let translation = far * body.size * DVec3::new(1.0, -0.4, 0.3);
            let start = State::placed(
                &body,
                Placement { rotation: turn, translation, ..Placement::default() },
            );
            for passes in [Passes::Plain(3), Passes::Accelerated(6)] {
                let motion = Motion {
                    passes,
                    keep_volume: false,
                    water: Some(Water::default()),
                    ..Motion::default()
                };
                let (mut state, mut work) = (start.clone(), Work::default());
                let stretches = Stretches::ones(&body);
                for _ in 0..200 {
                    body.tick(
                        &motion,
                        &Drive::by(&stretches),
                        &mut state,
                        &mut work,
                        &Run::default(),
                    );
                }
                assert_eq!(state, start, "{name}, {passes:?}, {far} sizes away");
            }
        }
    }
}

/// Linear and angular momentum about the origin, with `Σ m|v|` and `Σ m|x||v|`.
fn momenta(body: &Body, state: &State) -> (DVec3, DVec3, f64, f64) {
    let mut sums = (DVec3::ZERO, DVec3::ZERO, 0.0, 0.0);
    let center = body.center(state);
    for (r, &v) in body.regions.vertices.iter().enumerate() {
        let (m, x, v) = (
            body.regions.masses[r],
            body.world(state, r) - center,
            body.velocity(state, v as usize),
        );
        sums.0 += m * v;
        sums.1 += x.cross(m * v);
        sums.2 += m * v.length();
        sums.3 += m * x.length() * v.length();
    }
    sums
}

#[test]
fn momenta_of_a_driven_free_body_are_kept() {
    let body = body("worm", 120);
    for passes in [Passes::Plain(6), Passes::Accelerated(6)] {
        let motion = Motion { passes, ..Motion::default() };
        let (mut state, mut work) = (State::at_rest(&body), Work::default());
        let (mut speed, mut swing, mut ticks) = (0.0, 0.0, 0);
        for tick in 0..10_000 {
            // Out of line with the body's axes, so that there is something to turn.
            let mut stretches = wave(&body, f64::from(tick) / 120.0);
            for block in &mut stretches.blocks {
                block[1] = 0.5 * block[0];
            }
            body.tick(&motion, &Drive::by(&stretches), &mut state, &mut work, &Run::default());
            let (_, _, s, w) = momenta(&body, &state);
            (speed, swing, ticks) = (speed + s, swing + w, ticks + 1);
        }
        let (p, l, _, _) = momenta(&body, &state);
        let (p, l) = (p.length() * f64::from(ticks) / speed, l.length() * f64::from(ticks) / swing);
        assert!(p < 1e-4 && l < 1e-4, "{passes:?}: {p} of Σm|v|, {l} of Σm|x||v|");
    }
}

/// Bodies that two threads share by halves, and larger ones that go to all in tasks; one vertex is held.
#[test]
fn threads_and_machines_give_the_same_bits() {
    let mut hash = 0_u64;
    for (name, vertices) in [("jellyfish", 867), ("worm", 261), ("bar", 12_000)] {
        let body = body(name, vertices);
        let motion =
            Motion { passes: Passes::Accelerated(3), keep_volume: true, ..Motion::default() };
        let held = body.positions(&State::at_rest(&body))[7].as_dvec3();
        let play = |run: &Run<'_>| {
            let (mut state, mut work) = (State::at_rest(&body), Work::default());
            for tick in 0..3 {
                let stretches = wave(&body, 0.1 * f64::from(tick));
                let pins = [Pin { vertex: 7, to: held + 0.01 * f64::from(tick) * DVec3::Y }];
                let drive = Drive { pins: &pins, ..Drive::by(&stretches) };
                body.tick(&motion, &drive, &mut state, &mut work, run);
            }
            state
        };
        let alone = play(&Run::default());
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = Run { threads: Some(&pool), ..Run::default() };
            assert!(play(&run) == alone, "{name}, {threads} threads");
        }
        let bits = alone.offsets.iter().flat_map(|u| u.to_array()).map(f32::to_bits);
        hash = bits.fold(hash, |h, e| h.rotate_left(7) ^ u64::from(e));
    }
    assert!(hash != 0, "moved");
}

/// Each body asks for the thread that is busy with another one: none waits for ever.
#[test]
fn bodies_on_all_threads_do_not_wait_for_each_other() {
    let body = body("worm", 300);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let run = Run { threads: Some(&pool), ..Run::default() };
    let mut all: Vec<(State, Work)> =
        (0..4).map(|_| (State::at_rest(&body), Work::default())).collect();
    for tick in 0..30 {
        let stretches = wave(&body, 0.01 * f64::from(tick));
        run.for_each_piece(&mut all, 1, |_, bodies| {
            for (state, work) in bodies {
                body.tick(&Motion::default(), &Drive::by(&stretches), state, work, &run);
            }
        });
    }
    assert!(all.windows(2).all(|pair| pair[0].0 == pair[1].0), "all alike");
}

#[test]
fn energy_stays_bounded_over_a_hundred_thousand_ticks_of_random_drags() {
    let body = body("worm", 45);
    let (mut state, mut work) = (State::at_rest(&body), Work::default());
    let stretches = Stretches::ones(&body);
    let mut dice = Dice(77);
    let mut most = [0.0_f64; 2];
    let mut pins: Vec<Pin> = Vec::new();
    for tick in 0..100_000_usize {
        if tick.is_multiple_of(100) {
            let count = body.vertex_count() as u32;
            let vertex = (0.5 * (1.0 + dice.roll()) * f64::from(count)) as u32;
            let to = body.center(&state) + body.size * dice.vector();
            pins = vec![Pin { vertex: vertex.min(count - 1), to }];
        } else if tick % 100 == 30 {
            pins.clear();
        }
        let drive = Drive { pins: &pins, ..Drive::by(&stretches) };
        let ticked = body.tick(&Motion::default(), &drive, &mut state, &mut work, &Run::default());
        assert!(!ticked.refused, "tick {tick}");
        let (_, _, speed, _) = momenta(&body, &state);
        let half = &mut most[tick / 50_000];
        *half = half.max(speed / body.size);
    }
    // A hand that pulls by a size along each axis in a tick has a speed of 208 sizes a second.
    assert!(most[1] < 2.0 * most[0] && most[0] < 208.0, "{most:?} sizes a second");
}

/// The bodies of a pass at every level of vector instructions this machine has.
#[test]
fn vector_widths_give_the_same_bits() {
    let body = body("jellyfish", 300);
    let stretches = random_stretches(&body, 1.5, 4);
    let mut dice = Dice(8);
    let now: Vec<_> =
        (0..body.regions.len()).map(|_| quad((0.1 * dice.vector()).as_vec3())).collect();
    let results = matching::at_every_width(&body.regions, &stretches.blocks, &now);
    assert!(!results.is_empty(), "the plain width always runs");
    assert!(results.windows(2).all(|w| w[0] == w[1]), "{} widths", results.len());
}

#[test]
fn a_dragged_vertex_never_makes_a_nan_and_a_solid_body_comes_back() {
    for (name, sizes) in
        [("bar", 1.0), ("bar", 10.0), ("bar", 1e4), ("jellyfish", 10.0), ("worm", 1e4)]
    {
        let body = body(name, 200);
        // Air: it takes the speed that a hand gave, and the spin that would keep the body stretched.
        let air = Water { density: 0.01, ..Water::default() };
        let motion = Motion { water: Some(air), ..Motion::default() };
        let (mut state, mut work) = (State::at_rest(&body), Work::default());
        let stretches = Stretches::ones(&body);
        let start = body.positions(&state);
        for tick in 0..30 {
            let way = sizes * body.size * f64::from(tick) / 30.0;
            let pins =
                [Pin { vertex: 0, to: start[0].as_dvec3() + way * DVec3::new(0.6, 0.8, 0.0) }];
            let drive = Drive { pins: &pins, ..Drive::by(&stretches) };
            body.tick(&motion, &drive, &mut state, &mut work, &Run::default());
        }
        for _ in 0..3600 {
            let ticked =
                body.tick(&motion, &Drive::by(&stretches), &mut state, &mut work, &Run::default());
            assert!(!ticked.refused, "{name} dragged by {sizes}");
        }
        let off = apart(&body, &shape(&body, &state), &body.regions.rest);
        assert!(
            off.is_finite() && (name != "bar" || off < 1e-2),
            "{name} dragged by {sizes}: {off}"
        );
    }
}

#[test]
fn a_body_turned_inside_out_flattened_or_collapsed_is_a_body_again() {
    let body = body("bar", 225);
    let stretches = Stretches::ones(&body);
    let squashes = [
        ("mirrored", DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0))),
        ("flat", DMat3::from_diagonal(DVec3::new(1.0, 0.0, 1.0))),
        ("a line", DMat3::from_diagonal(DVec3::new(1.0, 0.0, 0.0))),
        ("a point", DMat3::ZERO),
        (
            "turned",
            DMat3::from_quat(DQuat::from_euler(EulerRot::XYZ, 0.0, std::f64::consts::PI, 0.0)),
        ),
    ];
    for (what, squash) in squashes {
        let mut state = State::at_rest(&body);
        let x: Vec<Vec3> =
            body.positions(&state).iter().map(|x| (squash * x.as_dvec3()).as_vec3()).collect();
        state.put(&body, &x);
        let mut work = Work::default();
        for _ in 0..2400 {
            body.tick(
                &Motion::default(),
                &Drive::by(&stretches),
                &mut state,
                &mut work,
                &Run::default(),
            );
        }
        let off = apart(&body, &shape(&body, &state), &body.regions.rest);
        assert!(off < 1e-3, "{what}: {off}");
    }
}

#[test]
fn the_volume_is_kept_on_request() {
    let body = body("bar", 225);
    let mut stretches = Stretches::ones(&body);
    (0..body.vertex_count()).for_each(|v| {
        stretches.set(&body, v, [Vec3::X, Vec3::Y, Vec3::Z], Vec3::new(0.7, 1.0, 1.0));
    });
    let volume = |keep_volume: bool| {
        let motion = Motion { keep_volume, ..Motion::default() };
        let (mut state, mut work) = (State::at_rest(&body), Work::default());
        for _ in 0..600 {
            body.tick(&motion, &Drive::by(&stretches), &mut state, &mut work, &Run::default());
        }
        let x = shape(&body, &state);
        let cone = |f: &[u32; 3]| x[f[0] as usize].dot(x[f[1] as usize].cross(x[f[2] as usize]));
        body.surface.iter().map(cone).sum::<f64>() / 6.0 / body.volume
    };
    assert!((volume(false) - 0.7).abs() < 0.01, "without: {}", volume(false));
    assert!((volume(true) - 1.0).abs() < 1e-5, "with: {}", volume(true));
}

#[test]
fn a_body_falls_as_a_stone_does_and_lies_on_the_ground() {
    let body = body("bar", 225);
    let ground = Ground { normal: DVec3::Y, height: -0.5, friction: Friction::default() };
    let gravity = DVec3::new(0.0, -9.81, 0.0);
    let stretches = Stretches::ones(&body);
    let free = Motion { gravity, ..Motion::default() };
    let (mut state, mut work) = (State::at_rest(&body), Work::default());
    for _ in 0..120 {
        body.tick(&free, &Drive::by(&stretches), &mut state, &mut work, &Run::default());
    }
    let fall = -body.center(&state).y;
    let expected = 9.81 * 0.5 * (1.0 + TICK_SECS);
    assert!((fall - expected).abs() < 1e-4 * expected, "fell {fall}, not {expected}");
    let lying = Motion { ground: Some(ground), ..free };
    let mut state = State::at_rest(&body);
    for _ in 0..600 {
        body.tick(&lying, &Drive::by(&stretches), &mut state, &mut work, &Run::default());
    }
    let low = body.positions(&state).iter().map(|x| x.y).fold(f32::INFINITY, f32::min);
    assert!((low + 0.5).abs() < 0.01, "lowest at {low}");
    let fastest =
        (0..body.vertex_count()).map(|v| body.velocity(&state, v).length()).fold(0.0, f64::max);
    assert!(fastest < 1e-3, "still moving at {fastest}");
}

#[test]
fn drag_never_turns_a_velocity_round() {
    let mut dice = Dice(12);
    let water = Water { normal_drag: 3.0, tangential_drag: 0.5, ..Water::default() };
    for _ in 0..1000 {
        let v = (dice.vector() * 10.0_f64.powf(5.0 * dice.roll())).as_vec3();
        let area = dice.vector().as_vec3();
        let after = water.dragged(v, area, 1e-4, 0.1);
        assert!(
            after.dot(v) >= 0.0 && after.length_squared() <= v.length_squared() * 1.0001,
            "{v} → {after}"
        );
    }
}

#[test]
fn what_is_no_body_is_refused_with_a_reason() {
    let none = TetMesh::new(vec![Vec3::ZERO], Vec::new());
    assert_eq!(Body::new(&none).unwrap_err(), Error::Empty);
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y];
    assert_eq!(
        Body::new(&TetMesh::new(corners.clone(), vec![[0, 1, 2, 3]])).unwrap_err(),
        Error::Flat
    );
    let lost = Body::new(&TetMesh::new(corners.clone(), vec![[0, 1, 2, 9]])).unwrap_err();
    assert_eq!(lost, Error::Index { tet: 0, vertex: 9, count: 4 });
    let mut corners = corners;
    corners[3] = Vec3::new(f32::NAN, 0.0, 1.0);
    assert_eq!(
        Body::new(&TetMesh::new(corners, vec![[0, 1, 2, 3]])).unwrap_err(),
        Error::NotFinite { vertex: 3 }
    );
}

#[test]
fn a_state_far_away_and_turned_plays_like_one_at_home() {
    let body = body("worm", 120);
    let motion = Motion { water: Some(Water::default()), ..Motion::default() };
    let play = |placement: Placement| {
        let (mut state, mut work) = (State::placed(&body, placement), Work::default());
        for tick in 0..240 {
            let stretches = wave(&body, f64::from(tick) / 120.0);
            body.tick(&motion, &Drive::by(&stretches), &mut state, &mut work, &Run::default());
        }
        state.offsets
    };
    let turn = Quat::from_rotation_y(1.0).as_dquat();
    let far = Placement { rotation: turn, translation: DVec3::splat(1e5), ..Placement::default() };
    assert_eq!(play(Placement::default()), play(far));
}

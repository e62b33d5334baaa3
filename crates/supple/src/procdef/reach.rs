//! What bodies of the zoo reach: the figures of the paper, and how far their characters come.

use std::f64::consts::TAU;

use glam::{DVec3, Vec3};

use super::chart::Volume;
use super::design::{Axis, Mark, Painted, PhaseWord, Rule, Within};
use super::*;
use crate::Run;
use crate::mesh::Values;
use crate::zoo::tet_bodies;

/// A body of the zoo that plays one chart.
struct Creature {
    mesh: TetMesh,
    body: Body,
    tissue: Tissue,
    directions: Vec<Vec3>,
    chart: chart::Sampled,
    share: f32,
    motion: Motion,
    pins: Vec<Pin>,
    touches: Vec<Touch>,
    state: State,
    work: Work,
    stretches: Stretches,
    ticks: u32,
}

impl Creature {
    fn new(mesh: TetMesh, design: &Design, chart: &Chart, motion: Motion) -> Self {
        let body = Body::new(&mesh).unwrap();
        let made = design.fields(&mesh, &Run::default()).unwrap();
        let directions = made.fields.fibers.iter().map(|f| f.directions[0].as_vec3()).collect();
        Self {
            tissue: Tissue::new(&body, &made.fields),
            directions,
            chart: chart.sampled().unwrap(),
            share: 1.0,
            motion,
            pins: Vec::new(),
            touches: Vec::new(),
            state: State::at_rest(&body),
            work: Work::default(),
            stretches: Stretches::ones(&body),
            ticks: 0,
            body,
            mesh,
        }
    }

    fn secs(&self) -> f64 {
        f64::from(self.ticks) * TICK_SECS
    }

    fn tick(&mut self) {
        self.ticks += 1;
        let played = [Played { chart: &self.chart, share: self.share }];
        self.tissue.stretch(
            &played,
            (&self.chart, &self.touches),
            self.secs(),
            &mut self.stretches,
        );
        let drive =
            Drive { stretches: &self.stretches, directions: &self.directions, pins: &self.pins };
        self.body.tick(&self.motion, &drive, &mut self.state, &mut self.work, &Run::default());
    }

    fn play(&mut self, secs: f64) {
        (0..(secs / TICK_SECS).round() as u32).for_each(|_| self.tick());
    }

    fn center(&self) -> DVec3 {
        self.body.center(&self.state)
    }

    fn positions(&self) -> Vec<DVec3> {
        self.body.positions(&self.state).iter().map(|p| p.as_dvec3()).collect()
    }

    /// How far the centre goes in a cycle, after some to get going.
    fn way_a_cycle(&mut self, before: u32, cycles: u32) -> DVec3 {
        let cycle = self.chart.cycle;
        self.play(f64::from(before) * cycle);
        let start = self.center();
        self.play(f64::from(cycles) * cycle);
        (self.center() - start) / f64::from(cycles)
    }

    /// Holds the vertices that `which` chooses.
    fn hold(&mut self, which: impl Fn(&Vec3) -> bool) {
        let held =
            |(v, p): (usize, &Vec3)| which(p).then(|| Pin { vertex: v as u32, to: p.as_dvec3() });
        self.pins = self.mesh.positions.iter().enumerate().filter_map(held).collect();
        assert!(!self.pins.is_empty(), "something is held");
    }
}

fn painted(mesh: &mut TetMesh, name: &str, value: impl Fn(&Vec3) -> f32) {
    let values = mesh.positions.iter().map(value).collect();
    mesh.attributes.set(name, Values::Scalar(values));
}

fn ring(axis: Axis, inside: f64, outside: f64) -> Design {
    Design { rule: Some(Rule { axis, inside, outside }), ..Design::default() }
}

fn along_x() -> Design {
    Design {
        arrows: vec![design::Arrow { points: vec![[-0.4, 0.0, 0.0], [0.4, 0.0, 0.0]] }],
        layer: line_across(1, 0.0, 1.0),
        ..Design::default()
    }
}

/// A field that is linear along an axis.
fn line_across(axis: usize, low: f64, high: f64) -> Painted {
    let at = |sign: f64| {
        let mut p = [0.0; 3];
        p[axis] = sign;
        p
    };
    let marks =
        vec![Mark::Point { at: at(-1.0), value: low }, Mark::Point { at: at(1.0), value: high }];
    Painted { marks, within: Within::Space }
}

fn jellyfish(vertices: usize, reversed: bool, water: Option<Water>) -> Creature {
    let mut mesh = tet_bodies::build("jellyfish", Some(vertices)).unwrap();
    let Some(Values::Scalar(reach)) = mesh.attributes.get("phase").cloned() else {
        panic!("phase")
    };
    let amplitude = reach.iter().map(|r| (2.0 * r).min(1.0)).collect();
    mesh.attributes.set("amplitude", Values::Scalar(amplitude));
    if reversed {
        mesh.attributes.set("phase", Values::Scalar(reach.iter().map(|r| 1.0 - r).collect()));
    }
    let chart = Chart {
        primary: vec![[0.0, 1.0], [0.25, 1.0 / 1.5], [0.9, 1.0]],
        volume: Volume::Secondary,
        speed: 2.0,
        ..Chart::default()
    };
    let motion = Motion { passes: Passes::Plain(2), water, ..Motion::default() };
    Creature::new(mesh, &ring(Axis::Fixed([0.0, 1.0, 0.0]), 0.0, 0.0), &chart, motion)
}

#[test]
fn a_jellyfish_swims_upwards_backwards_with_its_wave_reversed_and_nowhere_without_water() {
    let way = jellyfish(854, false, Some(Water::default())).way_a_cycle(2, 3);
    assert!(way.y >= 0.09, "{way} diameters a cycle");
    assert!(way.x.abs().max(way.z.abs()) < 0.01, "sideways: {way}");
    let back = jellyfish(854, true, Some(Water::default())).way_a_cycle(2, 3);
    assert!(back.y < -0.02, "reversed: {back}");
    let mut dry = jellyfish(854, false, None);
    let start = dry.center();
    dry.play(4.0);
    assert!((dry.center() - start).length() < 1e-6, "without water: {}", dry.center() - start);
}

fn worm(amplitude: Option<usize>, chart: &Chart, motion: Motion) -> Creature {
    let mut mesh = tet_bodies::build("worm", None).unwrap();
    if amplitude.is_none() {
        painted(&mut mesh, "amplitude", |_| 1.0);
    }
    let mut design = along_x();
    if let Some(axis) = amplitude {
        let mut marks = Vec::new();
        for (sign, value) in [(-0.03, -1.0), (0.03, 1.0)] {
            let mut at = [0.0; 3];
            at[axis] = sign;
            marks.push(Mark::Point { at, value });
        }
        design.amplitude = Painted { marks, within: Within::Space };
    }
    Creature::new(mesh, &design, chart, motion)
}

fn lying(friction: Friction) -> Motion {
    let ground = Ground { normal: DVec3::Y, height: -0.03, friction };
    Motion { gravity: DVec3::new(0.0, -9.81, 0.0), ground: Some(ground), ..Motion::default() }
}

#[test]
fn a_worm_crawls_by_one_way_friction_and_against_its_wave_by_equal_friction() {
    let one_way = Friction { forward: 0.2, backward: 1.0, sideways: 0.6 };
    let way = worm(None, &Chart::wave(1.4, 1.0), lying(one_way)).way_a_cycle(2, 3);
    assert!(way.x >= 0.20, "one-way friction: {way}");
    let mut still = worm(None, &Chart::default(), lying(one_way));
    still.play(1.0);
    let start = still.center();
    still.play(2.0);
    assert!((still.center() - start).length() < 1e-3, "a still chart: {}", still.center() - start);
    let firm = Motion { passes: Passes::Accelerated(12), ..lying(Friction::uniform(0.6)) };
    let way = worm(None, &Chart::wave(1.6, 1.0), firm).way_a_cycle(2, 3);
    assert!(way.x <= -0.06, "equal friction, against the wave: {way}");
}

fn bending(rate: f64, cycle: f64) -> Chart {
    Chart { volume: Volume::Free, speed: 1.0 / cycle, ..Chart::wave(rate, cycle) }
}

#[test]
fn a_snake_glides_by_sideways_friction_and_an_eel_swims() {
    let friction = Friction { forward: 0.1, backward: 0.1, sideways: 1.0 };
    let passes = Passes::Accelerated(16);
    let motion = Motion { passes, damping: 0.0, ..lying(friction) };
    let mut snake = worm(Some(2), &bending(2.0, 2.0), motion);
    snake.play(4.0);
    // It turns while it glides: how far it comes in each cycle counts.
    let ways = [0; 3].map(|_| snake.way_a_cycle(0, 1).length());
    let way = ways.iter().sum::<f64>() / 3.0;
    assert!(way >= 0.12, "snake: {ways:?}");
    let water = Water { normal_drag: 2.0, ..Water::default() };
    let motion = Motion { damping: 0.0, water: Some(water), ..Motion::default() };
    let way = worm(Some(2), &bending(1.5, 1.0), motion).way_a_cycle(3, 4);
    assert!(way.length() >= 0.25, "eel: {way}");
}

/// Directions of the body's two ends in the plane of x and an axis, in degrees.
fn ends(creature: &Creature, axis: usize) -> [f64; 2] {
    let x = creature.positions();
    let rest = &creature.mesh.positions;
    let low = rest.iter().map(|p| p.x).fold(f32::INFINITY, f32::min);
    let high = rest.iter().map(|p| p.x).fold(f32::NEG_INFINITY, f32::max);
    let mean = |at: f32| {
        let near: Vec<usize> =
            (0..rest.len()).filter(|&v| (rest[v].x - at).abs() < 0.02 * (high - low)).collect();
        near.iter().map(|&v| x[v]).sum::<DVec3>() / near.len() as f64
    };
    let step = 0.1 * (high - low);
    let angle = |a: DVec3, b: DVec3| libm::atan2(b[axis] - a[axis], b.x - a.x).to_degrees();
    [angle(mean(low), mean(low + step)), angle(mean(high - step), mean(high))]
}

#[test]
fn a_bending_worm_turns_its_ends_both_ways() {
    let motion = Motion { passes: Passes::Accelerated(12), ..Motion::default() };
    let mut worm = worm(Some(1), &Chart { speed: 1e9, ..bending(1.5, 2.0) }, motion);
    worm.hold(|p| p.x.abs() < 0.015);
    worm.play(2.0);
    let (mut turned, mut before, mut range) = (0.0, ends(&worm, 1)[1], [0.0_f64; 2]);
    for _ in 0..480 {
        worm.tick();
        let now = ends(&worm, 1)[1];
        let step = (now - before + 540.0).rem_euclid(360.0) - 180.0;
        (turned, before) = (turned + step, now);
        range = [range[0].min(turned), range[1].max(turned)];
    }
    let half = 0.5 * (range[1] - range[0]);
    assert!(half >= 200.0, "the end turns by ±{half}°");
}

fn bar(amplitude: bool) -> (TetMesh, Design) {
    let mut mesh = tet_bodies::build("bar", None).unwrap();
    assert_eq!(mesh.positions.len(), 525);
    if amplitude {
        painted(&mut mesh, "amplitude", |p| 2.0 * p.y);
    }
    (mesh, along_x())
}

#[test]
fn a_bar_bends_both_ways() {
    for sign in [1.0, -1.0] {
        let (mesh, design) = bar(true);
        let still = Chart { primary: vec![[0.0, 1.5]], volume: Volume::Free, ..Chart::default() };
        let motion = Motion { passes: Passes::Accelerated(12), ..Motion::default() };
        let mut bar = Creature::new(mesh, &design, &still, motion);
        // Bent in slowly, so that the angle is that of the equilibrium.
        let (mut turned, mut before) = (0.0, 0.0);
        for k in 0..1200 {
            bar.share = sign * (k as f32 / 600.0).min(1.0);
            bar.tick();
            let [a, b] = ends(&bar, 1);
            let step = (b - a - before + 540.0).rem_euclid(360.0) - 180.0;
            (turned, before) = (turned + step, b - a);
        }
        assert!((170.0..=200.0).contains(&(-f64::from(sign) * turned)), "bent by {turned}°");
    }
}

#[test]
fn a_wave_runs_at_the_charts_speed() {
    let (mut mesh, design) = bar(false);
    painted(&mut mesh, "phase", |p| p.x / 5.0 + 0.5);
    let speed = 0.8;
    let chart = Chart { speed, volume: Volume::Both, ..Chart::wave(1.2, 1.0) };
    let mut bar = Creature::new(mesh, &design, &chart, Motion::default());
    bar.play(3.0);
    // Time of the first harmonic of the local length at two places along the bar.
    let places = [-1.5_f32, 1.5];
    let mut sums = [(0.0, 0.0); 2];
    for _ in 0..240 {
        bar.tick();
        let x = bar.positions();
        let angle = TAU * bar.secs();
        for (sum, at) in sums.iter_mut().zip(places) {
            let near = |d: f32| {
                let v = bar
                    .mesh
                    .positions
                    .iter()
                    .position(|p| (*p - Vec3::new(at + d, 0.0, 0.0)).length() < 0.01);
                x[v.unwrap()].x
            };
            let length = near(0.25) - near(-0.25);
            sum.0 += length * libm::cos(angle);
            sum.1 += length * libm::sin(angle);
        }
    }
    let phase = |(c, s): (f64, f64)| libm::atan2(s, c) / TAU;
    let late = (phase(sums[1]) - phase(sums[0])).rem_euclid(1.0);
    let found = 0.6 / late;
    assert!((found / speed - 1.0).abs() < 0.01, "speed {found}, not {speed}");
}

#[test]
fn a_touched_snail_answers_when_and_as_strongly_as_it_should_and_comes_back() {
    let mesh = tet_bodies::build("snail", None).unwrap();
    let chart = Chart {
        primary: vec![[0.0, 1.0], [0.3, 0.8], [0.8, 1.0]],
        cycle: 0.6,
        speed: 1.5,
        ..Chart::default()
    };
    let mut snail = Creature::new(mesh, &along_x(), &chart, Motion::default());
    snail.share = 0.0;
    let front = (0..snail.mesh.positions.len())
        .max_by(|&a, &b| snail.mesh.positions[a].x.total_cmp(&snail.mesh.positions[b].x))
        .unwrap();
    let damping = 4.0;
    let touch = Touch::new(&snail.body, front, 0.1, damping);
    let distances = touch.distances(&snail.body);
    snail.touches.push(touch);
    let count = distances.len();
    let (mut arrival, mut strongest) = (vec![f64::NAN; count], vec![0.0_f32; count]);
    for tick in 1..=300 {
        snail.tick();
        let secs = f64::from(tick) * TICK_SECS;
        let played: [Played<'_>; 0] = [];
        let now =
            snail.tissue.contraction(&snail.body, &played, (&snail.chart, &snail.touches), secs);
        for v in 0..count {
            if now[v] != 0.0 && arrival[v].is_nan() {
                arrival[v] = secs;
            }
            strongest[v] = strongest[v].max(-now[v]);
        }
    }
    for v in 0..count {
        let d = f64::from(distances[v]);
        let off = (arrival[v] - 0.1 - d / 1.5) / TICK_SECS;
        assert!(off.abs() <= 2.0, "vertex {v} at {d}: {off} ticks late");
        let expected = -(0.8_f64.ln()) * f64::from(damping).powf(-d);
        assert!(
            (f64::from(strongest[v]) / expected - 1.0).abs() < 0.05,
            "vertex {v}: {}",
            strongest[v]
        );
    }
    let start = State::at_rest(&snail.body);
    assert!(snail.state != start, "it moved");
    snail.play(5.0);
    let ordered = |x: &[DVec3]| -> Vec<DVec3> {
        snail.body.regions.vertices.iter().map(|&v| x[v as usize]).collect()
    };
    let rest: Vec<DVec3> = snail.mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    let off = tests::apart(&snail.body, &ordered(&snail.positions()), &ordered(&rest));
    assert!(off < 1e-4, "back within {off}");
}

#[test]
fn a_worm_held_in_the_middle_sags_less_with_more_passes() {
    let sag = |passes: Passes| {
        let motion = Motion { passes, gravity: DVec3::new(0.0, -9.81, 0.0), ..Motion::default() };
        let mut worm = worm(None, &Chart::default(), motion);
        worm.hold(|p| p.x.abs() < 0.015);
        worm.play(6.0);
        -worm.positions().iter().map(|x| x.y).fold(0.0, f64::min)
    };
    let sags: Vec<f64> = [1, 2, 4, 6, 12, 24].map(|n| sag(Passes::Plain(n))).to_vec();
    assert!(sags.windows(2).all(|w| w[1] < w[0]), "{sags:?}");
    let (less, accelerated, more) =
        (sag(Passes::Plain(30)), sag(Passes::Accelerated(6)), sag(Passes::Plain(26)));
    assert!(less < accelerated && accelerated < more, "{accelerated} between {less} and {more}");
}

/// Inner volume, wall thickness, twist of the outer layer and wall volume of a ventricle.
fn ventricle(creature: &Creature) -> [f64; 4] {
    let x = creature.positions();
    let (side, layers) = (18, 4);
    let at = |i: usize, j: usize, k: usize| x[(k * side + j) * side + i];
    let rest = |i: usize, j: usize, k: usize| {
        creature.mesh.positions[(k * side + j) * side + i].as_dvec3()
    };
    let mut inner = 0.0;
    // The open base is closed by a fan about its mean.
    let rim: Vec<DVec3> = (0..side - 1)
        .map(|i| at(i, 0, 0))
        .chain((0..side - 1).map(|j| at(side - 1, j, 0)))
        .chain((1..side).rev().map(|i| at(i, side - 1, 0)))
        .chain((1..side).rev().map(|j| at(0, j, 0)))
        .collect();
    let lid = rim.iter().sum::<DVec3>() / rim.len() as f64;
    let cone = |a: DVec3, b: DVec3, c: DVec3| (a - lid).dot((b - lid).cross(c - lid)) / 6.0;
    let (mut wall, mut walls) = (0.0, 0.0);
    for j in 0..side - 1 {
        for i in 0..side - 1 {
            let q = [at(i, j, 0), at(i + 1, j, 0), at(i + 1, j + 1, 0), at(i, j + 1, 0)];
            inner += cone(q[0], q[1], q[2]) + cone(q[0], q[2], q[3]);
        }
    }
    // Turned angle near the apex and near the base.
    let mut turned = [(0.0, 0.0); 2];
    let axis: DVec3 = lid * DVec3::new(1.0, 0.0, 1.0);
    for j in 0..side {
        for i in 0..side {
            let r = rest(i, j, layers - 1);
            let height = r.y / 0.066;
            if (-0.95..-0.7).contains(&height) || height > 0.2 {
                let p = at(i, j, layers - 1) - axis;
                let angle = libm::atan2(r.z * p.x - r.x * p.z, r.x * p.x + r.z * p.z).to_degrees();
                let band = &mut turned[usize::from(height > 0.0)];
                *band = (band.0 + angle, band.1 + 1.0);
            }
            if (-0.6..0.0).contains(&height) {
                wall += (at(i, j, layers - 1) - at(i, j, 0)).length();
                walls += 1.0;
            }
        }
    }
    let volume = (0..creature.mesh.tets.len())
        .map(|t| crate::mesh::tet::signed_volume(creature.mesh.tets[t].map(|v| x[v as usize])))
        .sum();
    let [apex, base] = turned.map(|(sum, n)| sum / n);
    [inner.abs(), wall / walls, apex - base, volume]
}

fn heart(inside: f64, outside: f64, contraction: f64) -> Creature {
    let mesh = tet_bodies::build("heart", None).unwrap();
    let chart = Chart {
        primary: vec![[0.0, 1.0], [0.5, contraction]],
        volume: Volume::Secondary,
        speed: 1e9,
        ..Chart::default()
    };
    Creature::new(
        mesh,
        &ring(Axis::Fixed([0.0, 1.0, 0.0]), inside, outside),
        &chart,
        Motion::default(),
    )
}

#[test]
fn a_heart_ejects_thickens_and_twists() {
    let mut heart_beat = heart(60.0, -60.0, 1.0 / 1.4);
    let [inner, wall, twist, volume] = ventricle(&heart_beat);
    heart_beat.play(2.5);
    let [inner1, wall1, twist1, volume1] = ventricle(&heart_beat);
    let (ejection, thicker, turned, kept) =
        (1.0 - inner1 / inner, wall1 / wall - 1.0, twist1 - twist, volume1 / volume);
    assert!(ejection >= 0.45, "ejection {ejection}, wall {thicker}, twist {turned}, volume {kept}");
    assert!(thicker >= 0.30, "wall {thicker}");
    assert!(turned.abs() >= 10.0, "twist {turned}");
    assert!((kept - 1.0).abs() < 0.02, "wall volume {kept}");
    let mut mirrored = heart(-60.0, 60.0, 1.0 / 1.4);
    mirrored.play(2.5);
    let back = ventricle(&mirrored)[2];
    assert!((back + turned).abs() < 0.1, "mirrored {back}, not {}", -turned);
    let mut rings = heart(0.0, 0.0, 1.0 / 1.4);
    rings.play(2.5);
    let still = ventricle(&rings)[2];
    assert!(still.abs() < 0.5, "ring fibres twist by {still}");
}

#[test]
fn contracting_rings_do_not_twist_a_tube() {
    let mesh = tet_bodies::build("tube", None).unwrap();
    let chart = Chart { primary: vec![[0.0, 1.0 / 1.4]], volume: Volume::Both, ..Chart::default() };
    let mut tube = Creature::new(
        mesh,
        &ring(Axis::Fixed([1.0, 0.0, 0.0]), 0.0, 0.0),
        &chart,
        Motion::default(),
    );
    tube.play(4.0);
    let x = tube.positions();
    let turn = |end: bool| {
        let chosen = |p: &Vec3| (p.x > 0.49) == end && p.x.abs() > 0.49;
        let rest = &tube.mesh.positions;
        let angle = |v: usize| {
            let (r, p) = (rest[v].as_dvec3(), x[v]);
            libm::atan2(r.y * p.z - r.z * p.y, r.y * p.y + r.z * p.z).to_degrees()
        };
        let vertices: Vec<usize> = (0..x.len()).filter(|&v| chosen(&rest[v])).collect();
        vertices.iter().map(|&v| angle(v)).sum::<f64>() / vertices.len() as f64
    };
    let twist = turn(true) - turn(false);
    assert!(twist.abs() < 0.1, "{twist}°");
    let narrow = x.iter().map(|p| libm::hypot(p.y, p.z)).fold(0.0, f64::max);
    assert!(narrow < 0.052, "it did contract: {narrow} of 0.06");
}

#[test]
fn a_wave_squeezes_the_bowel_and_runs_along_it() {
    let mesh = tet_bodies::build("bowel", None).unwrap();
    let speed = 0.5;
    let chart = Chart {
        primary: vec![[0.0, 1.0], [0.15, 1.0 / 1.6], [0.3, 1.0]],
        speed,
        ..Chart::default()
    };
    let phase = Axis::Phase(PhaseWord::Phase);
    let mut bowel = Creature::new(mesh, &ring(phase, 0.0, 0.0), &chart, Motion::default());
    let ends: Vec<Pin> = (0..bowel.mesh.positions.len())
        .filter(|v| matches!(v % 44, 0 | 43))
        .map(|v| Pin { vertex: v as u32, to: bowel.mesh.positions[v].as_dvec3() })
        .collect();
    bowel.pins = ends;
    bowel.play(4.0);
    // Area of the lumen at each place along: of the polygon of the innermost layer.
    let area = |x: &[DVec3], i: usize| {
        let ring: Vec<DVec3> = (0..12).map(|j| x[j * 44 + i]).collect();
        let center = ring.iter().sum::<DVec3>() / 12.0;
        let cross = |k: usize| (ring[k] - center).cross(ring[(k + 1) % 12] - center);
        0.5 * (0..12).map(cross).sum::<DVec3>().length()
    };
    let start: Vec<DVec3> = bowel.mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    let places = [12, 31];
    let (mut sums, mut least) = ([(0.0, 0.0); 2], 1.0_f64);
    for _ in 0..240 {
        bowel.tick();
        let x = bowel.positions();
        let angle = TAU * bowel.secs();
        for (sum, i) in sums.iter_mut().zip(places) {
            let share = area(&x, i) / area(&start, i);
            least = least.min(share);
            sum.0 += share * libm::cos(angle);
            sum.1 += share * libm::sin(angle);
        }
    }
    let phase = |(c, s): (f64, f64)| libm::atan2(s, c) / TAU;
    let way = (places[1] - places[0]) as f64 / 43.0;
    let waves = phase(sums[1]) - phase(sums[0]);
    let cycles = (way / speed - waves).round() + waves;
    let found = way / cycles;
    assert!((found / speed - 1.0).abs() < 0.01, "speed {found}, not {speed}");
    assert!(least <= 0.6, "lumen down to {least}");
}

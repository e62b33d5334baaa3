//! Rows of `secondary`: the kernels of the paper's table of frame rates, volume, and a crowd. The table itself is played in
//! [`contact`](super::contact).
//!
//! A frame is what a player does for it: two ticks of the springs, pose, skinning, deformation, normals. The
//! springs are made as soft as it takes for a mean stretch of 0.3 radii over the take.

use std::time::Instant;

use anyhow::Context as _;
use glam::{DAffine3, DVec3, Mat4, Quat, Vec3};
use supple::mesh::SkinWeights;
use supple::mesh::exact_volume::{exact_volume, freedom_by_displacement};
use supple::mesh::intersect::self_intersections;
use supple::mesh::measure::Bounds;
use supple::mesh::shading::{Buffers, Shading};
use supple::mesh::volume::volume;
use supple::modifier::Modifier as _;
use supple::player::Player;
use supple::rig::{Body, Clip, Node, Palette, Skin, Skinning};
use supple::scene::{Entry, Folder, Scene, Source};
use supple::secondary::modifier::{self, Secondary};
use supple::secondary::{Flesh, Frame, Params, Segments, Set, State, Step, Wishes, place};
use supple::{Asset, Run, zoo};

use super::{Bench, Row, median_ms};

/// Mean stretch over radius of the take.
pub(super) const STRETCH: f64 = 0.3;
/// Frames of the take, sixty a second, and ticks of each.
const FRAMES: u32 = 60;
const TICKS: u32 = 2;
/// Every set of this many of the vertices at least.
const COVERAGE: f64 = 0.5;

/// A row of the paper's table: model, triangles, sets, its frames a second, and those wanted here.
struct Speed {
    row: &'static str,
    model: &'static str,
    triangles: usize,
    sets: usize,
    paper: f64,
    target: f64,
    /// Whether a hand pulls at its head all the while.
    is_pulled: bool,
}

const SPEEDS: [Speed; 4] = [
    Speed {
        row: "cow-5804",
        model: "cow",
        triangles: 5804,
        sets: 8,
        paper: 375.0,
        target: 5000.0,
        is_pulled: false,
    },
    Speed {
        row: "boxer-15596",
        model: "boxer",
        triangles: 15_596,
        sets: 13,
        paper: 134.0,
        target: 1500.0,
        is_pulled: false,
    },
    Speed {
        row: "movie-5804",
        model: "cow",
        triangles: 5804,
        sets: 8,
        paper: 328.0,
        target: 5000.0,
        is_pulled: true,
    },
    Speed {
        row: "large-345944",
        model: "camel",
        triangles: 345_944,
        sets: 10,
        paper: 12.0,
        target: 100.0,
        is_pulled: false,
    },
];

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    for speed in SPEEDS.iter().filter(|speed| bench.wants(speed.row)) {
        frames(bench, speed)?;
    }
    if bench.wants("volume-error") {
        volumes(bench)?;
    }
    if bench.wants("crowd-200") {
        crowd(bench)?;
    }
    if bench.wants("update-345944") {
        update(bench)?;
    }
    Ok(())
}

/// What it costs to change the springs of a large scene while it plays.
fn update(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let (here, text) = (Folder::new(".".as_ref()), include_str!("../../../../scenes/large.toml"));
    let mut scene = Scene::parse(text, Some(&here)).context("the scene of the row is in order")?;
    let (mut player, _) = Player::open(&scene, &here, &run)?;
    player.frame(5, &run)?;
    let mut load = |_: &Source| Err("nothing is loaded anew".into());
    let value = median_ms(bench.shell, || {
        soften(&mut scene, 1.01);
        Ok(player.update(&scene, &here, &mut load, &run)?)
    })?;
    let triangles = player.cast()[0].body.mesh.triangles.len();
    bench.print(&Row {
        bench: "secondary",
        row: "update-345944",
        value,
        unit: "ms",
        better: "lower",
        paper: None,
        target: Some(20.0),
        threads: bench.shell.threads(),
        note: format!(
            "Player::update with other springs; {triangles} triangles, a second of warm-up, twice"
        ),
    })
}

/// A body with its sets and a primary motion.
struct Take {
    body: Body,
    clip: Option<Clip>,
    flesh: Flesh,
    shading: Shading,
    /// Of the body's box, corner to corner.
    size: f32,
    /// The set that a hand pulls, of how many, and the set's radius.
    pulled: Option<(usize, usize, f64)>,
}

/// What one take did.
#[derive(Default)]
struct Statistics {
    stretch: f64,
    moved: f64,
    steps: u32,
}

impl Take {
    fn new(asset: &Asset, speed: &Speed, run: &Run<'_>) -> anyhow::Result<Self> {
        let body = Body::from_asset(asset)?;
        let clip = asset.clips.last().cloned();
        let wishes = Wishes { clips: clip.as_slice(), ..Wishes::default() };
        // Every vertex takes part, however far it goes: the rows are about time.
        let mut params = Params {
            max_stretch: Params::default().max_stretch,
            spare_rigid: false,
            still_below: None,
            ..place(&body, &wishes, run).params
        };
        fill_up(&mut params, speed.sets);
        let shading = Shading::new(body.mesh.positions.len(), &body.mesh.triangles);
        let flesh = Flesh::new(&body, &DAffine3::IDENTITY, &params)?;
        let size = Bounds::of(&body.mesh.positions).map_or(1.0, |b| b.diagonal());
        let foremost = |s: &(usize, &Set)| s.1.anchor.z;
        let all = params.sets.iter().enumerate();
        let head = all.max_by(|a, b| foremost(a).total_cmp(&foremost(b)));
        let pulled = head.filter(|_| speed.is_pulled);
        let pulled = pulled.map(|(i, set)| (i, params.sets.len(), set.radius));
        let mut take = Self { body, clip, flesh, shading, size, pulled };
        for _ in 0..12 {
            let went = take.play(run);
            if went.moved < COVERAGE {
                params.sets.iter_mut().for_each(|s| s.radius *= 1.15);
            } else if (went.stretch / STRETCH - 1.0).abs() < 0.05 {
                break;
            }
            let stiffness = params.stiffness.unwrap_or_else(|| params.preset.stiffness());
            params.stiffness = Some(stiffness * (went.stretch / STRETCH).clamp(0.2, 5.0));
            take.flesh = Flesh::new(&take.body, &DAffine3::IDENTITY, &params)?;
        }
        Ok(take)
    }

    /// From bind to world, after some ticks: the clip, tossed about by hand.
    fn joints(&self, tick: u32) -> Vec<Mat4> {
        let secs = f64::from(tick) / 120.0;
        let mut pose = self.body.rest_pose().clone();
        if let Some((clip, (first, last))) = self.clip.as_ref().and_then(|c| Some((c, c.span()?))) {
            clip.sample(first + (secs as f32).rem_euclid((last - first).max(0.01)), &mut pose);
        }
        let wave = |speed: f64| (std::f64::consts::TAU * speed * secs).sin() as f32;
        let toss = 0.08 * self.size * Vec3::new(wave(1.3), wave(2.0), wave(1.7));
        let turn = Quat::from_rotation_y(0.2 * wave(1.0));
        let world = Mat4::from_rotation_translation(turn, toss);
        let own = |(k, m): (usize, &Mat4)| match (&self.clip, COW_BONES.get(k)) {
            // Without a clip every bone nods about its middle, each at a pace of its own.
            (None, Some(&at)) => {
                let nod = Quat::from_rotation_x(0.08 * wave(0.8 + 0.1 * k as f64));
                let about = Mat4::from_rotation_translation(nod, at - nod * at);
                world * about * *m
            }
            _ => world * *m,
        };
        self.body.matrices(&pose).iter().enumerate().map(own).collect()
    }

    /// Where a hand holds masses, after some ticks: the head is pulled about.
    fn hands(&self, tick: u32) -> Vec<Option<DVec3>> {
        let Some((set, count, radius)) = self.pulled else { return Vec::new() };
        let wave = |speed: f64| (std::f64::consts::TAU * speed * f64::from(tick) / 120.0).sin();
        let way = 0.5 * radius * DVec3::new(wave(0.9), wave(1.1), wave(0.7));
        (0..count).map(|i| (i == set).then_some(way)).collect()
    }

    /// Simulates a frame and says where its joints are.
    fn simulate(&self, state: &mut State, frame: u32) -> Vec<Mat4> {
        let mut joints = Vec::new();
        for tick in 0..TICKS {
            let now = TICKS * frame + tick + 1;
            joints = self.joints(now);
            let hands = self.hands(now);
            let step = Step { joints: &joints, hands: &hands, shifts: &[], dt_secs: 1.0 / 120.0 };
            self.flesh.step(state, &step);
        }
        joints
    }

    fn play(&self, run: &Run<'_>) -> Statistics {
        let mut went = Statistics::default();
        let mut state = self.flesh.begin(&self.joints(0));
        let mut buffers = Buffers::default();
        for k in 0..FRAMES {
            let joints = self.simulate(&mut state, k);
            let mut positions =
                self.body.skin(self.body.rest_pose(), &joints, Skinning::Linear, run);
            let frame = Frame { joints: &joints, eye: None, amount: 1.0 };
            let report = self.flesh.deform(&state, &frame, &mut positions, run);
            self.shading.normals(&positions, &mut buffers, run);
            went.stretch += report.mean_stretch / f64::from(FRAMES);
            went.moved += report.moved as f64 / positions.len() as f64 / f64::from(FRAMES);
            went.steps = went.steps.max(report.steps);
        }
        went
    }

    /// The floor: the same frames with nothing but a linear blend of matrices.
    fn play_floor(&self, run: &Run<'_>) -> anyhow::Result<f32> {
        let weights = self.body.mesh.skin_weights.as_ref().context("a body has weights")?;
        let mut sum = 0.0;
        for k in 0..FRAMES {
            let palette = Palette::new(&self.joints(TICKS * k), Skinning::Linear);
            sum += palette.positions(&self.body.mesh.positions, weights, run)[0].x;
        }
        Ok(sum)
    }
}

/// Exactly so many sets: the largest, or smaller ones beside them.
fn fill_up(params: &mut Params, count: usize) {
    params.sets.truncate(count);
    let placed = params.sets.clone();
    for k in 0..count.saturating_sub(placed.len()) {
        let set = &placed[k % placed.len().max(1)];
        let anchor = set.anchor + 0.5 * set.radius * DVec3::new(0.6, 0.5, -0.6);
        params.sets.push(Set { anchor, radius: 0.6 * set.radius, ..set.clone() });
    }
}

fn frames(bench: &Bench<'_>, speed: &Speed) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let mut asset = zoo::build(speed.model, &zoo::Size { triangles: Some(speed.triangles) }, &run)?;
    if asset.skins.is_empty() {
        segment(&mut asset, &COW_BONES);
    }
    let take = Take::new(&asset, speed, &run)?;
    let went = take.play(&run);
    let ms = median_ms(bench.shell, || Ok(run.install(|| take.play(&run).steps)))?;
    let floor = median_ms(bench.shell, || run.install(|| take.play_floor(&run)))?;
    let joints = take.body.joints.len();
    let note = format!(
        "kernel: {joints} segments, {} sets{}, {:.0} % of the vertices, stretch {:.2} R, up to {} steps; {:.1} × the \
         linear blend's {:.0} fps",
        take.flesh.len(),
        if speed.is_pulled { ", the head pulled about" } else { "" },
        100.0 * went.moved,
        went.stretch,
        went.steps,
        ms / floor,
        1e3 * f64::from(FRAMES) / floor
    );
    bench.print(&Row {
        bench: "secondary",
        row: speed.row,
        value: 1e3 * f64::from(FRAMES) / ms,
        unit: "fps",
        better: "higher",
        paper: Some(speed.paper),
        target: Some(speed.target),
        threads: bench.shell.threads(),
        note,
    })
}

/// Nine bones for the zoo's cow, which has no skeleton: barrel, neck, head, tail, udder, legs.
pub(super) const COW_BONES: [Vec3; 9] = [
    Vec3::new(0.0, 1.0, 0.0),
    Vec3::new(0.0, 1.25, 0.8),
    Vec3::new(0.0, 1.35, 1.25),
    Vec3::new(0.0, 0.8, -1.05),
    Vec3::new(0.0, 0.55, -0.34),
    Vec3::new(0.19, 0.35, 0.5),
    Vec3::new(-0.19, 0.35, 0.5),
    Vec3::new(0.2, 0.35, -0.7),
    Vec3::new(-0.2, 0.35, -0.7),
];

/// Binds a mesh to the nearest of some bones, blended where two are about as near.
pub(super) fn segment(asset: &mut Asset, bones: &[Vec3]) {
    let mesh = &mut asset.meshes[0];
    let mut weights = SkinWeights::default();
    for x in &mesh.positions {
        let mut near: Vec<(f32, u16)> = bones.iter().map(|b| b.distance(*x)).zip(0..).collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ratio = near[0].0 / (near[0].0 + near[1].0);
        let second = ((ratio - 0.4) / 0.2).clamp(0.0, 0.5);
        weights.push([(near[0].1, 1.0 - second), (near[1].1, second)]);
    }
    mesh.skin_weights = Some(weights);
    let bone = |k: usize| Node { name: format!("bone {k}"), ..Node::default() };
    let first = asset.nodes.len() as u32;
    asset.nodes.extend((0..bones.len()).map(bone));
    asset.nodes[0].skin = Some(0);
    asset.skins = vec![Skin {
        joints: (first..first + bones.len() as u32).collect(),
        inverse_bind: vec![Mat4::IDENTITY; bones.len()],
        ..Skin::default()
    }];
}

/// A sphere of 20k vertices and the cow, one set stretched by up to its radius.
fn volumes(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let cases = [("ball", 40_000, DVec3::ZERO, 1.0), ("cow", 5804, DVec3::new(0.0, 0.8, 0.0), 0.6)];
    for (model, triangles, anchor, radius) in cases {
        let asset = zoo::build(model, &zoo::Size { triangles: Some(triangles) }, &run)?;
        let body = Body::from_asset(&asset)?;
        let sheet = Sheet::of(&body, anchor, radius, &run)?;
        let vertices = body.mesh.positions.len();
        let beyond = sheet.worst_beyond_converged;
        let rows = [
            (sheet.worst, (model == "ball").then_some(1e-4), "as it comes"),
            (beyond, Some(1e-4), "beyond the converged integration"),
            (sheet.worst_corrected, Some(1e-6), "corrected"),
        ];
        for (value, target, what) in rows {
            bench.print(&Row {
                bench: "secondary",
                row: "volume-error",
                value,
                unit: "",
                better: "lower",
                paper: None,
                target,
                threads: bench.shell.threads(),
                note: format!(
                    "{model} of {vertices} vertices, stretch up to R = {radius}, {what}; {} intersecting \
                     pairs added",
                    sheet.pairs_added
                ),
            })?;
        }
    }
    Ok(())
}

/// Worst errors over stretches of a quarter, a half, three quarters and a whole radius.
#[derive(Default)]
struct Sheet {
    worst: f64,
    worst_beyond_converged: f64,
    worst_corrected: f64,
    pairs_added: usize,
}

impl Sheet {
    fn of(body: &Body, anchor: DVec3, radius: f64, run: &Run<'_>) -> anyhow::Result<Self> {
        let (rest, triangles) = (&body.mesh.positions, &body.mesh.triangles);
        let before = volume(rest, triangles, run);
        let pairs = self_intersections(rest, triangles, run)?.len();
        let mut sheet = Self::default();
        for share in [0.25, 0.5, 0.75, 1.0] {
            let stretch = share * radius * DVec3::new(0.48, 0.6, 0.64);
            let mut moved = stretched(body, anchor, radius, &[stretch], run)?;
            let error = volume(&moved, triangles, run) / before - 1.0;
            // The same way in sixteen parts: each set takes the next part over from the last.
            let parts = [stretch / 16.0; 16];
            let fine = stretched(body, anchor, radius, &parts, run)?;
            let converged = volume(&fine, triangles, run) / before - 1.0;
            let added = self_intersections(&moved, triangles, run)?.len().saturating_sub(pairs);
            let freedom = freedom_by_displacement(rest, &moved);
            exact_volume(&mut moved, triangles, before, &freedom, run)?;
            let corrected = volume(&moved, triangles, run) / before - 1.0;
            sheet.worst = sheet.worst.max(error.abs());
            sheet.worst_beyond_converged =
                sheet.worst_beyond_converged.max((error - converged).abs());
            sheet.worst_corrected = sheet.worst_corrected.max(corrected.abs());
            sheet.pairs_added = sheet.pairs_added.max(added);
        }
        Ok(sheet)
    }
}

/// A body after the stretches, one after the other, each from where the last has ended.
fn stretched(
    body: &Body,
    mut anchor: DVec3,
    radius: f64,
    stretches: &[DVec3],
    run: &Run<'_>,
) -> anyhow::Result<Vec<Vec3>> {
    let joints = body.matrices(body.rest_pose());
    let mut positions = body.mesh.positions.clone();
    for stretch in stretches {
        let set = Set { anchor, radius, segments: Segments::All, ..Set::default() };
        let params = Params { sets: vec![set], ..Params::default() };
        let flesh = Flesh::new(body, &DAffine3::IDENTITY, &params)?;
        let mut state = flesh.begin(&joints);
        state.swings[0].mass.position += *stretch;
        let frame = Frame { joints: &joints, eye: None, amount: 1.0 };
        flesh.deform(&state, &frame, &mut positions, run);
        anchor += *stretch;
    }
    Ok(positions)
}

/// What a herd does, in the player.
#[derive(Default)]
struct Herd {
    /// Per cow and frame.
    faded: f64,
    /// Of the sets that act, over their radii.
    stretch: f64,
    fps: f64,
}

/// Two hundred cows in twenty rows, played by the player with everything it does.
fn crowd(bench: &Bench<'_>) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let mut scene = herd(200)?;
    let mut cow = zoo::build("cow", &zoo::Size { triangles: Some(5804) }, &run)?;
    segment(&mut cow, &COW_BONES);
    // As soft as it takes for the sets that act to stretch as far as in the other rows.
    let mut went = Herd::default();
    for _ in 0..6 {
        went = graze(&scene, &cow, 12, &run)?;
        if (went.stretch / STRETCH - 1.0).abs() < 0.1 {
            break;
        }
        soften(&mut scene, (went.stretch / STRETCH).clamp(0.2, 5.0));
    }
    let mut fps: Vec<f64> = Vec::new();
    for _ in 0..3 {
        went = graze(&scene, &cow, 48, &run)?;
        fps.push(went.fps);
    }
    fps.sort_by(f64::total_cmp);
    bench.print(&Row {
        bench: "secondary",
        row: "crowd-200",
        value: fps[fps.len() / 2],
        unit: "fps",
        better: "higher",
        paper: None,
        target: Some(30.0),
        threads: bench.shell.threads(),
        note: format!(
            "frames of the player at 24 fps with volumes and normals; 8 sets each, {:.1} of them faded, the \
             others stretched by {:.2} R",
            went.faded, went.stretch
        ),
    })
}

/// Cows in rows of ten, from right before the camera to far away.
fn herd(count: u32) -> anyhow::Result<Scene> {
    let text = include_str!("../../../../scenes/detail.toml");
    let here = Folder::new(".".as_ref());
    let mut scene = Scene::parse(text, Some(&here)).context("the scene of the rows is in order")?;
    let mut model = scene.assets[0].clone();
    change(&mut model.world, |params| params.flesh.detail = 0.008);
    scene.assets.clear();
    for k in 0..count {
        let mut actor = model.clone();
        actor.name = format!("cow {k}");
        actor.placement.translate = [2.0 * f64::from(k % 10), 0.0, -3.5 * f64::from(k / 10)];
        scene.assets.push(actor);
    }
    Ok(scene)
}

/// Makes all springs of a scene so many times as stiff.
pub(super) fn soften(scene: &mut Scene, factor: f64) {
    for actor in &mut scene.assets {
        change(&mut actor.world, |params| {
            let flesh = &mut params.flesh;
            let stiffness = flesh.stiffness.unwrap_or_else(|| flesh.preset.stiffness());
            flesh.stiffness = Some(factor * stiffness);
        });
    }
}

/// Changes the parameters of all flesh among modifiers.
fn change(modifiers: &mut [Entry], change: impl Fn(&mut modifier::Params)) {
    for entry in modifiers.iter_mut().filter(|entry| entry.kind == Secondary::KIND) {
        if let Ok(mut params) = entry.read::<modifier::Params>() {
            change(&mut params);
            *entry = Entry::of(Secondary::KIND, &params);
        }
    }
}

fn graze(scene: &Scene, cow: &Asset, frames: u32, run: &Run<'_>) -> anyhow::Result<Herd> {
    let mut load = |_: &_| Ok(cow.clone());
    let mut player = Player::new(scene, &Folder::new(".".as_ref()), &mut load, run)?;
    let (mut herd, mut acting) = (Herd::default(), 0.0);
    let started = Instant::now();
    for k in 0..frames {
        let report = player.frame(k, run)?.report;
        for cow in 0..scene.assets.len() {
            let told = |name| report.figure(cow, Secondary::KIND, name);
            for (culled, stretch) in told("culled").zip(told("stretch")) {
                herd.faded += culled;
                herd.stretch += 8.0 * stretch;
                acting += 8.0 - culled;
            }
        }
    }
    herd.fps = f64::from(frames) / started.elapsed().as_secs_f64();
    herd.faded /= f64::from(frames) * scene.assets.len() as f64;
    herd.stretch /= f64::max(acting, 1.0);
    Ok(herd)
}

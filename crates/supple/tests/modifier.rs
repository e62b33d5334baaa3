//! A capability of one file and one line: what `docs/capability.md` shows, played.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use glam::{Vec3, Vec4};
use supple::flow::Flow;
use supple::mesh::{MorphTarget, PointCloud, Shape, Topology, Values};
use supple::modifier::{
    Fold, Halt, Inputs, Modifier, Moment, Nature, Need, Overlay, Registry, Report, Stage,
    Stateless, Value,
};
use supple::player::{FrameError, Player, State};
use supple::scene::{Folder, Scene, TakeFormat};
use supple::{Asset, Run, TriMesh, bake};

/// `wobble`: a body goes up and down.
struct Wobble {
    vertices: usize,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Params {
    /// How high.
    #[schemars(extend("unit" = "m"))]
    height: Value,
    /// How often, in hertz.
    #[schemars(range(min = 0.0, max = 10.0), extend("unit" = "Hz"))]
    frequency: f64,
    /// Ticks a second.
    rate: u32,
    /// The tick from which on nothing is finite any more.
    breaks_at: u64,
    /// The tick whose file is missing.
    unreadable_at: u64,
    /// Numbers to remember for nothing.
    ballast: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            height: Value::Number(1.0),
            frequency: 1.0,
            rate: 120,
            breaks_at: u64::MAX,
            unreadable_at: u64::MAX,
            ballast: 0,
        }
    }
}

/// A memory that counts how often it is copied.
#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Phase {
    radians: f64,
    ballast: Vec<f32>,
}

static COPIES: AtomicUsize = AtomicUsize::new(0);

impl Clone for Phase {
    fn clone(&self) -> Self {
        COPIES.fetch_add(1, Ordering::SeqCst);
        Self { radians: self.radians, ballast: self.ballast.clone() }
    }
}

impl Modifier for Wobble {
    const KIND: &'static str = "wobble";
    const STAGES: &'static [Stage] = &[Stage::World];
    type Params = Params;
    type State = Phase;

    fn prepare(_: &Params, from: &Inputs<'_>) -> Result<Self, String> {
        let vertices = from.rest.positions.len();
        if vertices == 0 { Err("nothing to move".to_owned()) } else { Ok(Self { vertices }) }
    }

    fn nature(&self, params: &Params) -> Nature {
        Nature { ticks_per_second: params.rate, ..Nature::default() }
    }

    fn begin(&self, params: &Params, _: &Moment<'_>) -> Phase {
        Phase { radians: 0.0, ballast: vec![0.0; self.vertices + params.ballast as usize] }
    }

    fn tick(&self, params: &Params, now: &Moment<'_>, phase: &mut Phase) -> Result<(), Halt> {
        if now.tick >= params.breaks_at {
            return Err(Halt::NotFinite);
        }
        if now.tick == params.unreadable_at {
            return Err(Halt::Unreadable("level 7 of the flow is gone".to_owned()));
        }
        phase.radians += std::f64::consts::TAU * params.frequency * now.dt_secs;
        Ok(())
    }

    fn deform(
        &self,
        params: &Params,
        now: &Moment<'_>,
        phase: &Phase,
        shape: &mut Shape,
        report: &mut Report,
    ) -> Result<(), Halt> {
        let ahead = std::f64::consts::TAU * params.frequency * now.since_tick_secs;
        let up = (now.value(&params.height) * (phase.radians + ahead).sin()) as f32;
        shape.positions.iter_mut().for_each(|x| x.y += up);
        shape.channels.set("lift", Values::Scalar(vec![up; shape.positions.len()]));
        report.tell("lift", "m", Fold::Largest, up);
        Ok(())
    }

    fn overlays(&self, _: &Params, _: &Moment<'_>, _: &Phase, out: &mut Vec<Overlay>) {
        out.push(Overlay::Arrow(Vec3::ZERO, Vec3::Y));
    }

    fn size(&self, phase: &Phase) -> Option<usize> {
        (phase.ballast.len() >= self.vertices).then_some(8 + 4 * phase.ballast.len())
    }
}

/// `swell`: grows a body before its skeleton moves it.
struct Swell;

impl Modifier for Swell {
    const KIND: &'static str = "swell";
    const STAGES: &'static [Stage] = &[Stage::Pose];
    type Params = NoParams;
    type State = Stateless;

    fn prepare(_: &NoParams, _: &Inputs<'_>) -> Result<Self, String> {
        Ok(Self)
    }

    fn begin(&self, _: &NoParams, _: &Moment<'_>) -> Stateless {
        Stateless {}
    }

    fn deform(
        &self,
        _: &NoParams,
        _: &Moment<'_>,
        _: &Stateless,
        shape: &mut Shape,
        _: &mut Report,
    ) -> Result<(), Halt> {
        shape.positions.iter_mut().for_each(|x| *x *= 2.0);
        Ok(())
    }
}

#[derive(
    Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
struct NoParams {}

fn registry() -> Registry {
    Registry::default()
        .with::<Wobble>()
        .with::<Swell>()
        .with::<Sheet>()
        .with::<Probe>()
        .with::<Feel>()
}

fn open(text: &str) -> Player {
    let scene = Scene::parse_with(text, None, &registry()).expect("a scene");
    let tetrahedron = TriMesh::new(
        vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
        vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    );
    let mut load = |_: &_| Ok(Asset::from_mesh(tetrahedron.clone()));
    let here = Folder::new(".".as_ref());
    Player::with_registry(&scene, &registry(), &here, &mut load, &Run::default()).expect("it plays")
}

fn scene(keys: &str) -> String {
    format!(
        "supple = 1\n[time]\nend = 2\n[[asset]]\nzoo = \"tetrahedron\"\n\
         [[asset.modifier]]\nkind = \"wobble\"\n{keys}\n[track.rise]\nkeys = [[0, 0], [1, 1]]"
    )
}

fn height(player: &mut Player, secs: f64) -> f32 {
    player.at(secs, &Run::default()).expect("a frame").bodies[0].positions[0].y
}

#[test]
fn a_capability_is_one_file_and_one_line() {
    let mut player = open(&scene("height = \"rise\"\nfrequency = 0.25"));
    let frame = player.frame(12, &Run::default()).unwrap();
    let expected = 0.5 * (0.5 * std::f32::consts::FRAC_PI_2).sin();
    let body = &frame.bodies[0];
    assert!((body.positions[0].y - expected).abs() < 1e-6, "{} {expected}", body.positions[0]);
    let Some(Values::Scalar(lift)) = body.channels.get("lift") else { panic!("{body:?}") };
    assert_eq!(lift.len(), 4);
    assert_eq!(body.guides.overlays, [Overlay::Arrow(Vec3::ZERO, Vec3::Y)]);
    let figure = &frame.report.figures[0];
    assert_eq!((figure.body, figure.modifier, &*figure.name), (0, 1, "lift"));
    assert!(frame.report.warnings.is_empty(), "{:?}", frame.report.warnings);
}

#[test]
fn the_document_keeps_it() {
    let text = scene("height = 0.5");
    let read = Scene::parse_with(&text, None, &registry()).unwrap();
    assert_eq!(read.assets[0].world[0].kind, "wobble");
    let again = Scene::parse_with(&read.to_toml(), None, &registry()).unwrap();
    assert_eq!(again, read, "{}", read.to_toml());
    let problem = |text: &str| Scene::parse_with(text, None, &registry()).unwrap_err().to_string();
    let unknown = problem(&scene("hight = 0.5"));
    assert!(unknown.contains("hight") && unknown.contains("height"), "{unknown}");
    let unknown = problem(&text.replace("wobble", "wobbel"));
    assert!(unknown.contains("did you mean 'wobble'?"), "{unknown}");
    assert!(Scene::parse(&text, None).is_err(), "only who knows it can read it");
}

#[test]
fn snapshots_give_the_same_bits_and_other_states_are_refused() {
    let mut player = open(&scene(""));
    let run = Run::default();
    player.frame(7, &run).unwrap();
    let kept = player.snapshot();
    let twelve = player.frame(12, &run).unwrap();
    player.restore(&kept).unwrap();
    assert_eq!(player.frame(12, &run).unwrap().bodies, twelve.bodies, "from the snapshot");
    player.frame(3, &run).unwrap();
    assert_eq!(player.frame(12, &run).unwrap().bodies, twelve.bodies, "after going back");
    let saved: State = postcard::from_bytes(&postcard::to_stdvec(&kept).unwrap()).unwrap();
    assert_eq!(saved, kept);
    let mut other = open(&scene(""));
    other.restore(&saved).unwrap();
    assert_eq!(other.frame(12, &run).unwrap().bodies, twelve.bodies, "on another machine");
    let mut swell = open(&scene("").replace("wobble", "swell"));
    assert!(swell.restore(&kept).is_err() && swell.restore(&saved).is_err(), "another kind");
}

#[test]
fn states_are_copied_by_the_tick_after_a_snapshot_and_by_no_other() {
    let mut player = open(&scene(""));
    // One thread: no frame is simulated ahead.
    let run = Run { threads: None, ..Run::default() };
    let before = COPIES.load(Ordering::SeqCst);
    player.at(2.0, &run).unwrap();
    // The other tests of this file run beside this one.
    let copies = COPIES.load(Ordering::SeqCst) - before;
    assert!((8..100).contains(&copies), "240 ticks, a snapshot every 30: {copies}");
}

#[test]
fn a_rate_of_its_own_changes_no_frame() {
    let (mut fine, mut coarse) = (open(&scene("")), open(&scene("rate = 8")));
    for secs in [0.0, 0.013, 0.1, 0.125, 0.37, 1.0, 0.2] {
        let (a, b) = (height(&mut fine, secs), height(&mut coarse, secs));
        assert!((a - b).abs() < 1e-5, "at {secs}: {a} {b}");
    }
    let text = scene("rate = 7");
    let wrong = Scene::parse_with(&text, None, &registry()).unwrap();
    let mut load = |_: &_| Ok(Asset::from_mesh(TriMesh::new(vec![Vec3::X], vec![])));
    let here = Folder::new(".".as_ref());
    let error = Player::with_registry(&wrong, &registry(), &here, &mut load, &Run::default());
    assert!(error.unwrap_err().to_string().contains("a divisor of 120"), "7 is none");
}

#[test]
fn what_goes_non_finite_is_frozen_and_what_cannot_be_read_fails_the_frame() {
    let run = Run::default();
    let mut player = open(&scene("breaks_at = 31\nfrequency = 0.25"));
    let frame = player.frame(20, &run).unwrap();
    let frozen = (0.25 * std::f32::consts::FRAC_PI_2).sin();
    assert!((frame.bodies[0].positions[0].y - frozen).abs() < 1e-5, "as at tick 30");
    let warning = "asset 'tetrahedron', modifier 1 (wobble): not finite at tick 31, frozen";
    assert_eq!(frame.report.warnings, [warning]);
    let mut player = open(&scene("unreadable_at = 31"));
    assert!(player.frame(6, &run).is_ok(), "tick 30");
    let error = player.frame(7, &run).unwrap_err();
    assert!(matches!(error, FrameError::Unreadable(_)), "{error}");
    assert!(error.to_string().ends_with("(wobble): level 7 of the flow is gone"), "{error}");
    assert_eq!(height(&mut player, 0.25), height(&mut open(&scene("")), 0.25), "it goes on");
}

#[test]
fn a_pose_modifier_acts_before_the_body_is_placed_and_others_follow() {
    let mut player = open(
        "supple = 1\n[[asset]]\nzoo = \"tetrahedron\"\n[asset.placement]\ntranslate = [0, 0, 1]\n\
         [[asset.modifier]]\nkind = \"place\"\ntranslate = [10, 0, 0]\n[[asset.modifier]]\nkind = \"swell\"",
    );
    let frame = player.frame(0, &Run::default()).unwrap();
    assert_eq!(frame.bodies[0].positions[1], Vec3::new(12.0, 0.0, 1.0), "grown, then moved");
}

#[test]
fn a_bake_sums_up_its_figures() {
    let mut player = open(&scene("frequency = 0.5"));
    let folder = tempfile::tempdir().unwrap();
    let writers = bake::WRITERS;
    let options = bake::Options { keep_cache: true, ..bake::Options::default() };
    let run = Run::default();
    let baked = bake::bake(&mut player, folder.path(), &options, &writers, &run).unwrap();
    let figure = &baked.bodies[0].figures[0];
    assert!((figure.value.abs() - 1.0).abs() < 1e-3, "the largest: {figure}");
    assert!(baked.bodies[0].to_string().contains("wobble lift"), "{}", baked.bodies[0]);
    let again = bake::bake(&mut player, folder.path(), &options, &writers, &run).unwrap();
    assert_eq!(again.reused, again.frames.end, "all were stored");
    assert_eq!(again.bodies, baked.bodies);
}

/// `sheet`: grows from nothing, a column a frame, and fades.
struct Sheet;

impl Modifier for Sheet {
    const KIND: &'static str = "sheet";
    const STAGES: &'static [Stage] = &[Stage::World];
    type Params = NoParams;
    type State = Stateless;

    fn prepare(_: &NoParams, from: &Inputs<'_>) -> Result<Self, String> {
        let is_empty = from.rest.positions.is_empty();
        is_empty.then_some(Self).ok_or("grows from nothing: empty = true".to_owned())
    }

    fn begin(&self, _: &NoParams, _: &Moment<'_>) -> Stateless {
        Stateless {}
    }

    fn deform(
        &self,
        _: &NoParams,
        now: &Moment<'_>,
        _: &Stateless,
        shape: &mut Shape,
        _: &mut Report,
    ) -> Result<(), Halt> {
        let columns = now.tick / 5;
        for column in 0..columns as u32 {
            let x = column as f32;
            shape.positions.extend([Vec3::new(x, 0.0, 0.0), Vec3::new(x, 1.0, 0.0)]);
        }
        let strip = (1..columns as u32).flat_map(|k| {
            let [a, b, c, d] = [2 * k - 2, 2 * k - 1, 2 * k, 2 * k + 1];
            [[a, c, b], [b, c, d]]
        });
        shape.topology = Arc::new(Topology::Triangles(strip.collect()));
        let fade = (0..shape.positions.len()).map(|i| Vec4::new(1.0, 0.5, 0.2, 0.1 * i as f32));
        shape.channels.set("color", Values::Vec4(fade.collect()));
        Ok(())
    }
}

const SHEET: &str = "supple = 1\n[time]\nframes = 6\n[[asset]]\nname = \"sheet\"\nempty = true\n\
                     [[asset.modifier]]\nkind = \"sheet\"\n[[asset.modifier]]\nkind = \"place\"\n\
                     translate = [0, 0, 2]\n[[asset]]\nzoo = \"tetrahedron\"\n\
                     [[asset.modifier]]\nkind = \"wobble\"";

#[test]
fn a_generator_grows_from_nothing_and_others_follow_it() {
    let mut player = open(SHEET);
    let run = Run::default();
    assert!(player.frame(0, &run).unwrap().bodies[0].positions.is_empty(), "nothing yet");
    let frame = player.frame(4, &run).unwrap();
    let sheet = &frame.bodies[0];
    assert_eq!((sheet.positions.len(), sheet.topology.triangles().len()), (8, 6));
    assert_eq!(sheet.positions[7], Vec3::new(3.0, 1.0, 2.0), "placed");
    assert!(sheet.normals.iter().all(|n| n.z.abs() > 0.999), "{:?}", sheet.normals);
    assert!(frame.report.warnings.is_empty(), "{:?}", frame.report.warnings);
    let text = SHEET.replace("empty = true", "zoo = \"tetrahedron\"");
    let scene = Scene::parse_with(&text, None, &registry());
    assert!(scene.is_ok(), "the first is called sheet");
    let wrong = SHEET.replace("empty = true", "empty = true\nzoo = \"ball\"");
    let problem = Scene::parse_with(&wrong, None, &registry()).unwrap_err().to_string();
    assert!(problem.contains("both 'zoo' and 'empty' are given"), "{problem}");
}

/// Every format writes what it can hold and says once what it cannot; a bake goes on from what is stored.
#[test]
fn a_generator_is_baked_to_files() {
    let run = Run::default();
    let folder = tempfile::tempdir().unwrap();
    let formats = TakeFormat::ALL.map(|f| f.1).to_vec();
    let options = bake::Options {
        formats: Some(formats.clone()),
        keep_cache: true,
        ..bake::Options::default()
    };
    let mut player = open(SHEET);
    let baked = bake::bake(&mut player, folder.path(), &options, &bake::WRITERS, &run).unwrap();
    let names: Vec<String> =
        baked.files.iter().map(|f| f.file_name().unwrap().to_string_lossy().into_owned()).collect();
    for name in
        ["scene.glb", "scene.sheet.0003.glb", "scene.sheet.0005.ply", "scene.sheet.0002.usda"]
    {
        assert!(names.iter().any(|n| n == name), "{name} in {names:?}");
    }
    assert!(!names.iter().any(|n| n == "scene.sheet.pc2"), "{names:?}");
    let warned = |what: &str| baked.warnings.iter().filter(|w| w.contains(what)).count();
    assert_eq!(warned("asset 'sheet': its topology changes"), 2, "pc2, mdd: {:?}", baked.warnings);
    let read = |name: &str| {
        supple::io::read(&folder.path().join(name), &Default::default()).unwrap().asset
    };
    for name in ["scene.sheet.0005.ply", "scene.sheet.0005.glb"] {
        let mesh = &read(name).meshes[0];
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (10, 8), "{name}");
        let Some(Values::Vec4(colors)) = mesh.attributes.get("color") else { panic!("{name}") };
        assert!((colors[3].w - 0.3).abs() < 0.01, "{name}: {}", colors[3]);
    }
    let lift = read("scene.tetrahedron.0003.ply");
    assert!(lift.meshes[0].attributes.scalar("lift").is_some(), "{:?}", lift.meshes[0].attributes);
    // What is stored is read again, and what is damaged is played again.
    let cache = folder.path().join(".supple-bake");
    std::fs::write(cache.join("0000003.frame"), b"torn").unwrap();
    let mut again = open(SHEET);
    let second = bake::bake(&mut again, folder.path(), &options, &bake::WRITERS, &run).unwrap();
    assert_eq!(second.reused, 5);
    let mesh = &read("scene.sheet.0003.ply").meshes[0];
    assert_eq!(mesh.positions.len(), 6);
}

#[test]
fn a_point_cloud_plays() {
    let text = scene("").replace("tetrahedron", "cloud");
    let parsed = Scene::parse_with(&text, None, &registry()).unwrap();
    let cloud = PointCloud { positions: vec![Vec3::X, Vec3::Y], ..PointCloud::default() };
    let mut load = |_: &_| Ok(Asset::from_cloud(cloud.clone()));
    let (here, run) = (Folder::new(".".as_ref()), Run::default());
    let mut player = Player::with_registry(&parsed, &registry(), &here, &mut load, &run).unwrap();
    let frame = player.frame(6, &run).unwrap();
    assert_eq!(*frame.bodies[0].topology, Topology::Points);
    assert!((frame.bodies[0].positions[0] - Vec3::new(1.0, 1.0, 0.0)).length() < 1e-5, "up");
}

/// `probe`: tells what it was prepared from.
struct Probe {
    tets: usize,
    time: f64,
}

impl Modifier for Probe {
    const KIND: &'static str = "probe";
    const STAGES: &'static [Stage] = &[Stage::World];
    type Params = NoParams;
    type State = Stateless;

    fn needs(_: &NoParams) -> Vec<Need> {
        vec![Need::Flow("wake".to_owned())]
    }

    fn prepare(_: &NoParams, from: &Inputs<'_>) -> Result<Self, String> {
        let flow = from.sources[0].flow().ok_or("no flow")?;
        flow.get::<Flow>().ok_or("another kind of flow")?;
        let tets = from.tets.ok_or("no tets: add tets = 0.5")?;
        Ok(Self { tets: tets.tets.len(), time: flow.time(2.0) })
    }

    fn begin(&self, _: &NoParams, _: &Moment<'_>) -> Stateless {
        Stateless {}
    }

    fn deform(
        &self,
        _: &NoParams,
        _: &Moment<'_>,
        _: &Stateless,
        _: &mut Shape,
        report: &mut Report,
    ) -> Result<(), Halt> {
        report.tell("tets", "", Fold::Last, self.tets as f64);
        report.tell("time", "s", Fold::Last, self.time);
        Ok(())
    }
}

#[test]
fn solids_and_flows_reach_a_modifier() {
    let text = "supple = 1\n[[asset]]\nzoo = \"tetrahedron\"\ntets = 0.5\n\
                [[asset.modifier]]\nkind = \"probe\"\n\
                [flow.wake]\nzoo = \"abc\"\nstart = \"500 ms\"\nspeed = 2";
    let frame = open(text).frame(0, &Run::default()).unwrap();
    let figures: Vec<f64> = frame.report.figures.iter().map(|f| f.value).collect();
    assert!(figures[0] >= 1.0 && figures[1] == 4.5, "{figures:?}");
    let fails = |text: &str| {
        let scene = Scene::parse_with(text, None, &registry()).unwrap();
        // Open: it has no inside.
        let mesh = TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]);
        let mut load = |_: &_| Ok(Asset::from_mesh(mesh.clone()));
        let (here, run) = (Folder::new(".".as_ref()), Run::default());
        let player = Player::with_registry(&scene, &registry(), &here, &mut load, &run);
        player.unwrap_err().to_string()
    };
    let hollow = text.replace("tets = 0.5", "");
    let none = fails(&hollow.replace("flow.wake", "flow.lake"));
    assert!(none.contains("there is no flow 'wake'; there are lake"), "{none}");
    let unknown = fails(&hollow.replace("\"abc\"", "\"abd\""));
    assert!(unknown.contains("the zoo has no 'abd'") && unknown.contains("abc"), "{unknown}");
    assert!(fails(&hollow).contains("no tets: add tets = 0.5"), "{}", fails(&hollow));
    assert!(fails(text).starts_with("asset 'tetrahedron': "), "{}", fails(text));
}

/// Large states are stored with few frames: a bake that goes on from the nearest gives the same files.
#[test]
fn a_bake_goes_on_from_a_frame_without_a_state() {
    let text = scene("ballast = 20000\nheight = \"rise\"");
    let run = Run::default();
    let bake_to = |folder: &std::path::Path| {
        let options = bake::Options {
            formats: Some(vec![TakeFormat::Pc2]),
            keep_cache: true,
            ..bake::Options::default()
        };
        let baked = bake::bake(&mut open(&text), folder, &options, &bake::WRITERS, &run).unwrap();
        (std::fs::read(&baked.files[0]).unwrap(), baked.reused)
    };
    let (whole, torn) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (expected, _) = bake_to(whole.path());
    bake_to(torn.path());
    let frame = |i: u32| torn.path().join(format!(".supple-bake/{i:07}.frame"));
    let bytes = |i: u32| std::fs::metadata(frame(i)).unwrap().len();
    assert!(bytes(24) > 80_000 && bytes(25) < 10_000, "{} {}", bytes(24), bytes(25));
    (30..49).for_each(|i| std::fs::remove_file(frame(i)).unwrap());
    let (again, reused) = bake_to(torn.path());
    assert_eq!(reused, 30);
    assert!(again == expected, "the same bytes");
}

/// `feel`: tells what a tick can feel.
struct Feel;

impl Modifier for Feel {
    const KIND: &'static str = "feel";
    const STAGES: &'static [Stage] = &[Stage::Pose];
    type Params = NoParams;
    type State = [f64; 3];

    fn prepare(_: &NoParams, from: &Inputs<'_>) -> Result<Self, String> {
        if from.body.morphs.is_empty() { Err("no morph targets".to_owned()) } else { Ok(Self) }
    }

    fn begin(&self, _: &NoParams, _: &Moment<'_>) -> [f64; 3] {
        [0.0; 3]
    }

    fn tick(&self, _: &NoParams, now: &Moment<'_>, state: &mut [f64; 3]) -> Result<(), Halt> {
        let origin = now.joints[0].transform_point3(Vec3::ZERO);
        let depth = now.obstacles.deepest(origin).map_or(0.0, |inside| inside.depth);
        *state = [f64::from(now.morph_weights[0]), f64::from(origin.y), f64::from(depth)];
        Ok(())
    }

    fn deform(
        &self,
        _: &NoParams,
        _: &Moment<'_>,
        state: &[f64; 3],
        _: &mut Shape,
        report: &mut Report,
    ) -> Result<(), Halt> {
        for (name, value) in ["weight", "height", "depth"].into_iter().zip(*state) {
            report.tell(name, "", Fold::Last, value);
        }
        Ok(())
    }
}

#[test]
fn a_tick_feels_joints_morph_weights_and_obstacles() {
    let text = "supple = 1\n[[asset]]\nzoo = \"face\"\n[asset.placement]\ntranslate = [0, -0.25, 0]\n\
                [[asset.modifier]]\nkind = \"morph\"\nweights = { smile = \"rise\" }\n\
                [[asset.modifier]]\nkind = \"feel\"\n[[collider]]\nkind = \"plane\"\n\
                [track.rise]\nkeys = [[0, 0], [1, 1]]";
    let scene = Scene::parse_with(text, None, &registry()).unwrap();
    let mut mesh = TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]);
    let smile = MorphTarget {
        name: "smile".to_owned(),
        positions: vec![Vec3::Z; 3],
        ..MorphTarget::default()
    };
    mesh.morphs = vec![smile];
    let mut load = |_: &_| Ok(Asset::from_mesh(mesh.clone()));
    let (here, run) = (Folder::new(".".as_ref()), Run::default());
    let mut player = Player::with_registry(&scene, &registry(), &here, &mut load, &run).unwrap();
    let frame = player.frame(12, &run).unwrap();
    let felt: Vec<f64> = frame.report.figures.iter().map(|f| f.value).collect();
    let expected = [0.5, -0.25, 0.25];
    let near = felt.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(near, "{felt:?}, not {expected:?}");
    assert!((frame.bodies[0].positions[0].z - 0.5).abs() < 1e-6, "it smiles");
}

#[test]
fn any_thread_count_gives_the_same_bits() {
    let bits = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let mut player = open(SHEET);
        let frames: Vec<_> = (0..6).map(|i| player.frame(i, &run).unwrap().bodies).collect();
        frames
    };
    let one = bits(1);
    assert!(bits(2) == one && bits(8) == one, "threads change no bits");
}

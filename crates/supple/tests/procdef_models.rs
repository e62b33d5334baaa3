//! Other people's bodies, moved from inside: tets of other programs twitch and come back, a ventricle beats by its own
//! fibres, meshes swim and crawl.

mod data;

use data::test_data;
use glam::{DMat3, DQuat, DVec3, Vec3};
use supple::mesh::TetMesh;
use supple::player::Player;
use supple::procdef::chart::Volume;
use supple::procdef::preset::{Pose, Preset};
use supple::procdef::{
    Body, Chart, Design, Drive, Motion, Passes, Played, State, Stretches, Tissue, Work, starter,
};
use supple::scene::{Folder, Scene, Source};
use supple::{Run, io};

/// Plays a chart on the fields of a design for some seconds; after `until` the body is left alone.
fn play(mesh: &TetMesh, chart: &Chart, motion: &Motion, (until, secs): (f64, f64)) -> Vec<Vec3> {
    let body = Body::new(mesh).expect("a body");
    let fields = Design::default().fields(mesh, &Run::default()).expect("fields").fields;
    let (tissue, chart) = (Tissue::new(&body, &fields), chart.sampled().expect("a chart"));
    let (mut state, mut work, mut stretches) =
        (State::at_rest(&body), Work::default(), Stretches::ones(&body));
    for tick in 1..=(120.0 * secs) as u32 {
        let now = f64::from(tick) / 120.0;
        let share = if now < until { 1.0 } else { 0.0 };
        tissue.stretch(&[Played { chart: &chart, share }], (&chart, &[]), now, &mut stretches);
        body.tick(motion, &Drive::by(&stretches), &mut state, &mut work, &Run::default());
    }
    body.positions(&state)
}

/// The largest distance of two shapes after the best rigid fit, over the diagonal.
fn apart(shape: &[Vec3], rest: &[Vec3]) -> f64 {
    let mean = |x: &[Vec3]| x.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / x.len() as f64;
    let (a, b) = (mean(shape), mean(rest));
    let mut turn = DQuat::IDENTITY;
    for _ in 0..60 {
        let (mut moment, mut inertia) = (DVec3::ZERO, DMat3::ZERO);
        for (p, q) in shape.iter().zip(rest) {
            let r = turn * (p.as_dvec3() - a);
            moment += r.cross(q.as_dvec3() - b);
            inertia += DMat3::from_diagonal(DVec3::splat(r.length_squared()))
                - DMat3::from_cols(r * r.x, r * r.y, r * r.z);
        }
        turn = (DQuat::from_scaled_axis(inertia.inverse() * moment) * turn).normalize();
    }
    let off = |(p, q): (&Vec3, &Vec3)| (turn * (p.as_dvec3() - a) + b - q.as_dvec3()).length();
    let low = rest.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = rest.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
    let worst = shape.iter().zip(rest).map(off).fold(0.0, f64::max);
    worst / f64::from((high - low).length())
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures in docs/procdef.md")]
fn every_body_of_tets_twitches_and_is_back() {
    let bodies = [
        "libigl_bunny.mesh",
        "libigl_hand.mesh",
        "libigl_octopus-low.mesh",
        "armadillo_4k.node",
        "polyfem_dolphin.msh",
        "polyfem_octocat.msh",
        "polyfem_22_binary.msh",
        "polyfem_41_ascii.msh",
        "blub_fish.mesh",
        "spot_cow.mesh",
        "sofa_liver2.msh",
        "sofa_raptorTetra_8418.vtu",
        "softrobots_trunk.vtk",
        "heart_lv_ellipsoid_derived.vtu",
    ];
    let chart = Chart { primary: vec![[0.0, 1.0], [0.5, 1.0 / 1.3]], ..Chart::default() };
    // The octocat's ears swing about twice a second: damping of 6 would let them creep back.
    let motion = Motion { passes: Passes::Accelerated(4), damping: 4.0, ..Motion::default() };
    for name in bodies {
        let Some(path) = test_data(&format!("tets/{name}")) else { continue };
        let mut mesh = io::read_tets(&path).unwrap_or_else(|e| panic!("{e}")).mesh;
        mesh.attributes = supple::mesh::Attributes::default();
        let squeezed = apart(&play(&mesh, &chart, &motion, (1.0, 0.5)), &mesh.positions);
        assert!(squeezed > 0.01, "{name} moves: {squeezed}");
        // Hair-thin ears swing longer.
        let secs = if name.contains("octocat") { 11.0 } else { 6.0 };
        let back = apart(&play(&mesh, &chart, &motion, (1.0, secs)), &mesh.positions);
        println!("{name}: {squeezed:.3} away, back within {back:.1e}");
        assert!(back < 1e-4, "{name} is back within {back}");
    }
}

/// The walls of a ventricle that opens at its least x: faces of the inner and of the outer wall.
struct Walls {
    inner: Vec<[u32; 3]>,
    outer: Vec<[u32; 3]>,
    /// Vertices of the inner wall that lie in the base.
    rim: Vec<u32>,
}

impl Walls {
    fn of(mesh: &TetMesh) -> Self {
        let rest = |v: u32| mesh.positions[v as usize].as_dvec3();
        let base = mesh.positions.iter().map(|p| p.x).fold(f32::INFINITY, f32::min);
        let normal = |[a, b, c]: [u32; 3]| (rest(b) - rest(a)).cross(rest(c) - rest(a));
        let is_base = |v: u32| mesh.positions[v as usize].x < base + 1e-3;
        let faces: Vec<[u32; 3]> =
            mesh.boundary().into_iter().filter(|f| !f.iter().all(|&v| is_base(v))).collect();
        let is_inner = |f: &[u32; 3]| normal(*f).dot(rest(f[0]) + rest(f[1]) + rest(f[2])) < 0.0;
        let (inner, outer): (Vec<_>, Vec<_>) = faces.into_iter().partition(is_inner);
        let mut rim: Vec<u32> = inner.iter().flatten().copied().filter(|&v| is_base(v)).collect();
        rim.sort_unstable();
        rim.dedup();
        assert!(rim.len() > 2, "an inner wall that ends at the base");
        Self { inner, outer, rim }
    }

    fn lid(&self, x: &[Vec3]) -> DVec3 {
        self.rim.iter().map(|&v| x[v as usize].as_dvec3()).sum::<DVec3>() / self.rim.len() as f64
    }

    /// What the inner wall and a lid on its rim enclose.
    fn cavity(&self, x: &[Vec3]) -> f64 {
        let lid = self.lid(x);
        let at = |v: u32| x[v as usize].as_dvec3() - lid;
        self.inner.iter().map(|&[a, b, c]| at(a).dot(at(b).cross(at(c))) / -6.0).sum()
    }

    /// How far the outer wall near the apex is turned against the base, in degrees.
    fn twist(&self, mesh: &TetMesh, x: &[Vec3]) -> f64 {
        let lid = self.lid(x);
        let mut turned = [(0.0, 0.0); 2];
        for &v in self.outer.iter().flatten() {
            let r = mesh.positions[v as usize].as_dvec3();
            let p = x[v as usize].as_dvec3() - DVec3::new(0.0, lid.y, lid.z);
            let height = r.x / 2.0;
            if libm::hypot(r.y, r.z) > 0.2 && !(0.25..0.75).contains(&height) {
                let angle = libm::atan2(r.y * p.z - r.z * p.y, r.y * p.y + r.z * p.z);
                let band = &mut turned[usize::from(height > 0.5)];
                *band = (band.0 + angle.to_degrees(), band.1 + 1.0);
            }
        }
        let [base, apex] = turned.map(|(sum, n)| sum / n);
        apex - base
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures in docs/procdef.md")]
fn a_ventricle_ejects_and_twists_by_the_fibres_of_its_file() {
    let Some(path) = test_data("tets/heart_lv_ellipsoid_fenics.h5") else { return };
    let mesh = io::read_tets(&path).expect("a ventricle").mesh;
    let walls = Walls::of(&mesh);
    let chart =
        Chart { primary: vec![[0.0, 1.0 / 1.3]], volume: Volume::Secondary, ..Chart::default() };
    let beaten = play(&mesh, &chart, &Motion::default(), (9.0, 3.0));
    let ejection = 1.0 - walls.cavity(&beaten) / walls.cavity(&mesh.positions);
    let twist = walls.twist(&mesh, &beaten);
    println!("ventricle: ejection {ejection:.3}, twist {twist:.1}");
    assert!(twist.abs() >= 4.0, "twist {twist}");
    assert!(ejection >= 0.5, "ejection {ejection}");
}

/// Lengths a second along head, up and side of a preset on a mesh of the test data.
fn preset_way(preset: Preset, file: &str, scale: f32) -> Option<DVec3> {
    let path = test_data(&format!("meshes/{file}"))?;
    let mut asset = io::read(&path, &io::ReadOptions::default()).expect("a model").asset;
    for mesh in &mut asset.meshes {
        mesh.positions.iter_mut().for_each(|p| *p *= scale);
    }
    let pose = Pose::of(&asset.meshes[0].positions, None, None);
    let written = starter::scene("mesh.obj", &asset, preset, (None, None)).expect("a starter");
    let scene = Scene::parse(&written.text, None).expect("it reads what it writes");
    let mut given = |_: &Source| Ok(asset.clone());
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut player =
        Player::new(&scene, &Folder::new(here), &mut given, &Run::default()).expect("it plays");
    let mut center = |secs: u32| {
        let frame = player.frame(24 * secs, &Run::default()).expect("a frame");
        let x = &frame.bodies[0].positions;
        x.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / x.len() as f64
    };
    let way = (center(1) - center(4)) / -3.0 / (2.0 * pose.half.x);
    Some(DVec3::new(way.dot(pose.head), way.dot(pose.up), way.dot(pose.side)))
}

#[test]
#[expect(clippy::print_stdout, reason = "the table in docs/procdef.md")]
fn worms_made_of_six_meshes_crawl_along_their_axis() {
    for file in ["blub_fish.obj", "homer.obj", "penguin.obj", "spot.obj", "camel.off", "cow.obj"] {
        let Some(way) = preset_way(Preset::Worm, file, 1.0) else { continue };
        println!("worm {file}: {way:.3}");
        assert!(way.x > 0.05 && way.x > way.y.hypot(way.z), "{file}: {way} lengths a second");
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the table in docs/procdef.md")]
fn eels_made_of_six_meshes_swim_along_their_axis() {
    for file in EELS {
        let Some(way) = preset_way(Preset::Eel, file, 1.0) else { continue };
        println!("eel {file}: {way:.3}");
        assert!(way.x > 0.02 && way.x > way.y.hypot(way.z), "{file}: {way} lengths a second");
    }
}

const EELS: [&str; 6] = [
    "cow.obj",
    "spot.obj",
    "koala_low_resolution.obj",
    "bunny_closed_3k.obj",
    "hand_closed.obj",
    "blub_fish.obj",
];

#[test]
fn a_preset_does_the_same_at_any_size() {
    let ways = [0.01, 10.0].map(|scale| preset_way(Preset::Worm, "homer.obj", scale));
    if let [Some(small), Some(large)] = ways {
        assert!((small - large).length() < 0.01 * small.x, "{small} and {large}");
    }
}

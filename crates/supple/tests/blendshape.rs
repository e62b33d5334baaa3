//! Blends against equilibria of another program, and on scanned faces and people, where the data is.

mod data;

use std::path::Path;

use data::test_data;
use glam::{DVec3, Vec3};
use supple::Run;
use supple::blendshape::contact::{Interaction, Touch, World};
use supple::blendshape::obstacle::{Obstacle, Pose, Solid};
use supple::blendshape::rigid::Rigid;
use supple::blendshape::{History, Hold, Params, Shapes, Solver};
use supple::io::{self, ReadOptions};
use supple::mesh::{TetMesh, volume};
use supple::player::Player;
use supple::scene::{Folder, Scene};

/// Nodes and tets of a Gmsh 2.2 file of tets alone.
fn tets(path: &Path) -> TetMesh {
    let text = std::fs::read_to_string(path).expect("as the reference says");
    let mut lines = text.lines();
    lines.find(|l| *l == "$Nodes").expect("as the reference says");
    let count: usize =
        lines.next().expect("as the reference says").parse().expect("as the reference says");
    let numbers = |line: &str| {
        line.split_whitespace()
            .map(|x| x.parse::<f64>().expect("as the reference says"))
            .collect::<Vec<_>>()
    };
    let node = |line: &str| {
        let n = numbers(line);
        Vec3::new(n[1] as f32, n[2] as f32, n[3] as f32)
    };
    let positions =
        (0..count).map(|_| node(lines.next().expect("as the reference says"))).collect();
    lines.find(|l| *l == "$Elements").expect("as the reference says");
    let count: usize =
        lines.next().expect("as the reference says").parse().expect("as the reference says");
    let tet = |line: &str| {
        let n = numbers(line);
        let corner = |k: usize| n[n.len() - 4 + k] as u32 - 1;
        [corner(0), corner(1), corner(2), corner(3)]
    };
    let mut mesh = TetMesh::new(
        positions,
        (0..count).map(|_| tet(lines.next().expect("as the reference says"))).collect(),
    );
    mesh.orient();
    mesh
}

fn surface(path: &Path) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mesh = io::read(path, &ReadOptions::default())
        .expect("as the reference says")
        .asset
        .meshes
        .swap_remove(0);
    (mesh.positions, mesh.triangles)
}

/// Largest distance after the best rigid fit, in diagonals.
fn away(found: &[Vec3], ideal: &[Vec3], diagonal: f64) -> f64 {
    let pairs = || found.iter().zip(ideal).map(|(a, b)| (a.as_dvec3(), b.as_dvec3()));
    let fit = Rigid::fit(pairs());
    pairs().map(|(a, b)| (fit.apply(a) - b).length()).fold(0.0, f64::max) / diagonal
}

fn blend(shapes: &Shapes<'_>, w: f64) -> (Vec<Vec3>, f64) {
    let solver =
        Solver::new(shapes, &Params::default(), &Run::default()).expect("as the reference says");
    let blend = solver
        .solve(&[w], &mut History::default(), &Run::default())
        .expect("as the reference says");
    assert!(blend.report.is_proved, "{:?}", blend.report);
    (blend.positions, solver.diagonal())
}

#[test]
fn equilibria_of_another_program_are_met() {
    let Some(folder) = test_data("blendshapes/reference") else { return };
    let (bar, bend) = (tets(&folder.join("bar.msh")), tets(&folder.join("bend90.msh")));
    let boundary = bar.boundary();
    let shapes = Shapes {
        tets: &bar.tets,
        ..Shapes::of_surface(&boundary, &bar.positions, vec![&bend.positions])
    };
    let (skin, triangles) = surface(&folder.join("bar.obj"));
    let skin_bent = &bend.positions[..skin.len()];
    let of_surface = Shapes::of_surface(&triangles, &skin, vec![skin_bent]);
    for (w, file, tolerance) in
        [(0.5, "half-bend90.obj", [3e-4, 1e-3]), (1.5, "beyond.obj", [3e-4, 3e-3])]
    {
        let (expected, _) = surface(&folder.join(file));
        let (found, diagonal) = blend(&shapes, w);
        let off = away(&found[..expected.len()], &expected, diagonal);
        assert!(off < tolerance[0], "{w}: tets {off}");
        let (found, diagonal) = blend(&of_surface, w);
        let off = away(&found, &expected, diagonal);
        assert!(off < tolerance[1], "{w}: surface {off}");
    }
}

#[test]
fn the_contact_of_another_program_is_met() {
    let Some(folder) = test_data("blendshapes/reference") else { return };
    let bar = tets(&folder.join("bar.msh"));
    let said: serde_json::Value = serde_json::from_str(
        &std::fs::read_to_string(folder.join("contact.json")).expect("as the reference says"),
    )
    .expect("as the reference says");
    let hold: Vec<u32> = said["hold"]
        .as_array()
        .expect("as the reference says")
        .iter()
        .map(|v| v.as_u64().expect("as the reference says") as u32)
        .collect();
    let radius = 6.0 / 150.0_f32.to_radians();
    let bend = |p: &Vec3| {
        let (sin, cos) = ((p.x + 3.0) / radius).sin_cos();
        Vec3::new((radius - p.y) * sin - 3.0, radius - (radius - p.y) * cos, p.z)
    };
    let target: Vec<Vec3> =
        bar.positions.iter().map(|p| if p.x < -2.999 { *p } else { bend(p) }).collect();
    let boundary = bar.boundary();
    let shapes =
        Shapes { tets: &bar.tets, ..Shapes::of_surface(&boundary, &bar.positions, vec![&target]) };
    let params = Params { hold: Hold::Vertices(hold), ..Params::default() };
    let run = Run::default();
    let solver = Solver::new(&shapes, &params, &run).expect("as the reference says");
    let interaction = Interaction::new(&solver, &run).expect("as the reference says");
    let number = |v: &serde_json::Value| v.as_f64().expect("as the reference says");
    let at = DVec3::new(number(&said["centre"][0]), number(&said["centre"][1]), 0.0);
    let solid = Solid::Cylinder { axis: DVec3::Z, radius: number(&said["radius"]) };
    let obstacles = [Obstacle::still(solid, Pose { at, ..Pose::default() })];
    let world = World { obstacles: &obstacles, ..World::default() };
    let (mut touch, mut history) = (Touch::default(), History::default());
    let mut last = None;
    for k in 1..=9 {
        let w = [f64::from(k) / 9.0];
        last = Some(
            interaction
                .solve(&solver, &w, &world, (&mut touch, &mut history), &run)
                .expect("as the reference says"),
        );
    }
    let last = last.expect("as the reference says");
    let (expected, _) = surface(&folder.join("contact.obj"));
    let off = away(&last.positions[..expected.len()], &expected, solver.diagonal());
    assert!(off < 5e-3, "{off}: {:?}", last.report);
    assert!(last.report.contacts.abs_diff(7) <= 3, "{:?}", last.report);
}

/// Two bars in a scene: one is blended, the other moves along straight lines.
const SCENE: &str = r#"
supple = 1
[time]
end = "2 s"
fps = 24
[[asset]]
name = "springs"
zoo = "morph-bar"
triangles = 700
[asset.motion]
kind = "keyframes"
clip = "curl"
[[asset.modifier]]
kind = "blendshape"
[[asset]]
name = "linear"
zoo = "morph-bar"
triangles = 700
[asset.motion]
kind = "keyframes"
clip = "curl"
"#;

fn play(text: &str) -> Player {
    let scene = Scene::parse(text, None).unwrap_or_else(|p| panic!("{p}"));
    let here = Path::new(".");
    Player::open(&scene, &Folder::new(here), &Run::default()).unwrap_or_else(|e| panic!("{e}")).0
}

#[test]
fn a_scene_blends_and_seeks() {
    let run = Run::default();
    let mut player = play(SCENE);
    let volumes = |player: &mut Player, i: u32| {
        let frame = player.frame(i, &run).expect("nobody cancels");
        let mesh =
            supple::zoo::build("morph-bar", &supple::zoo::Size { triangles: Some(700) }, &run);
        let triangles = mesh.expect("there is one").meshes.swap_remove(0).triangles;
        let bits: Vec<u32> =
            frame.bodies[0].positions.iter().flat_map(|p| p.to_array().map(f32::to_bits)).collect();
        ([0, 1].map(|b| volume::volume(&frame.bodies[b].positions, &triangles, &run)), bits)
    };
    let (rest, _) = volumes(&mut player, 0);
    let (half, bits) = volumes(&mut player, 18);
    assert!((half[0] / rest[0] - 1.0).abs() < 0.01, "springs: {} of {}", half[0], rest[0]);
    assert!(half[1] / rest[1] < 0.93, "linear: {} of {}", half[1], rest[1]);
    volumes(&mut player, 40);
    assert_eq!(volumes(&mut player, 18).1, bits, "after going on and back");
    assert_eq!(volumes(&mut play(SCENE), 18).1, bits, "straight there");
}

#[test]
fn a_scene_says_what_is_wrong() {
    for (from, to, said) in [
        ("kind = \"blendshape\"", "kind = \"blendshape\"\nmorphs = { smile = 1 }", "smile"),
        ("kind = \"blendshape\"", "kind = \"blendshape\"\nrate = 7", "7"),
        ("kind = \"blendshape\"", "kind = \"blendshape\"\nstiffness = \"bone\"", "bone"),
        (
            "kind = \"blendshape\"",
            "kind = \"blendshape\"\ntargets = [{ zoo = \"ball\" }]\nweights = [1]",
            "vertices",
        ),
    ] {
        let text = SCENE.replacen(from, to, 1);
        let error = match Scene::parse(&text, None) {
            Err(problem) => problem.to_string(),
            Ok(scene) => {
                match Player::open(&scene, &Folder::new(Path::new(".")), &Run::default()) {
                    Err(error) => error.to_string(),
                    Ok(_) => panic!("{to} should have been refused"),
                }
            }
        };
        assert!(error.contains(said), "{to}: {error}");
    }
}

//! Blends against equilibria of another program, and on scanned faces and people, where the data is.

mod data;

use std::path::Path;

use data::test_data;
use glam::{DQuat, DVec3, Vec3};
use supple::Run;
use supple::blendshape::contact::{Interaction, Touch, World};
use supple::blendshape::obstacle::{Obstacle, Pose, Solid};
use supple::blendshape::rigid::Rigid;
use supple::blendshape::{History, Hold, Mode, Params, Shapes, Solver};
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
        (
            "kind = \"blendshape\"",
            "kind = \"blendshape\"\ncombinations = { curl = \"wring*smile\" }",
            "smile",
        ),
        (
            "kind = \"blendshape\"",
            "kind = \"blendshape\"\ncombinations = { curl = \"wring\" }",
            "at least two",
        ),
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

/// All expressions of a face with random weights in [−1, 2]; how many solves, the environment may say.
#[test]
fn random_expressions_are_finite_and_go_back() {
    let Some(folder) = test_data("blendshapes/makehuman") else { return };
    let solves: usize =
        std::env::var("SUPPLE_BLEND_SOLVES").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let (base, triangles) = surface(&folder.join("base.obj"));
    let mut files: Vec<_> = std::fs::read_dir(folder.join("expression/units/caucasian"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert_eq!(files.len(), 34);
    let moves: Vec<Vec<Vec3>> = files
        .iter()
        .map(|file| {
            let bytes = std::fs::read(file).expect("a file");
            io::makehuman::read_target(&bytes, base.len()).expect("a target")
        })
        .collect();
    // What moves, and its neighbours, which hold it.
    let is_moved: Vec<bool> =
        (0..base.len()).map(|v| moves.iter().any(|m| m[v] != Vec3::ZERO)).collect();
    let mut names = vec![u32::MAX; base.len()];
    let mut kept = Vec::new();
    let mut face = Vec::new();
    for t in triangles.iter().filter(|t| t.iter().any(|&v| is_moved[v as usize])) {
        face.push(t.map(|v| {
            if names[v as usize] == u32::MAX {
                names[v as usize] = kept.len() as u32;
                kept.push(v as usize);
            }
            names[v as usize]
        }));
    }
    let rest: Vec<Vec3> = kept.iter().map(|&v| base[v]).collect();
    let shapes: Vec<Vec<Vec3>> =
        moves.iter().map(|m| kept.iter().map(|&v| base[v] + m[v]).collect()).collect();
    let given = Shapes::of_surface(&face, &rest, shapes.iter().map(Vec::as_slice).collect());
    // Few steps: whatever comes of them must be a shape.
    let params = Params {
        hold: Hold::Agreeing,
        max_newton_steps: 3,
        max_gradient_steps: 40,
        ..Params::default()
    };
    let run = Run::default();
    let solver = Solver::new(&given, &params, &run).expect("a network");
    let mut seed = 7_u64;
    let mut number = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut history = History::default();
    for k in 0..solves {
        let w: Vec<f64> = (0..34).map(|_| 3.0 * number() - 1.0).collect();
        let blend = solver.solve(&w, &mut history, &run).expect("a blend");
        assert!(blend.positions.iter().all(|p| p.is_finite()), "{k}: {:?}", blend.report);
        let back = solver.solve(&[0.0; 34], &mut history, &run).expect("a blend");
        assert_eq!(back.positions, rest, "{k}: back at the base");
    }
}

fn files_with_morphs(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files_with_morphs(&path, found);
        } else if path.extension().is_some_and(|e| e == "glb" || e == "gltf") {
            found.push(path);
        }
    }
}

/// Every glTF file with morph targets, at the weights of its own first clip: finite, and closed seams stay closed.
#[test]
fn files_with_morph_targets_play_and_keep_their_seams() {
    let Some(folder) = test_data("gltf") else { return };
    let mut files = Vec::new();
    files_with_morphs(&folder, &mut files);
    let (run, mut played) = (Run::default(), 0);
    for file in files {
        let Ok(read) = io::read(&file, &ReadOptions::default()) else { continue };
        let asset = read.asset;
        let Ok(body) = supple::rig::Body::from_asset(&asset) else { continue };
        if body.morphs.is_empty() {
            continue;
        }
        let base = &body.mesh.positions;
        let shape = |morph: &supple::rig::body::Morph| {
            let mut shape = base.clone();
            let range = morph.vertices.start as usize..morph.vertices.end as usize;
            shape[range].iter_mut().zip(&morph.positions).for_each(|(x, d)| *x += *d);
            shape
        };
        let shapes: Vec<Vec<Vec3>> = body.morphs.iter().map(shape).collect();
        let given = Shapes::of_surface(
            &body.mesh.triangles,
            base,
            shapes.iter().map(Vec::as_slice).collect(),
        );
        let params = Params { hold: Hold::Agreeing, max_newton_steps: 8, ..Params::default() };
        let solver = match Solver::new(&given, &params, &run) {
            Ok(solver) => solver,
            Err(reason) => panic!("{}: {reason}", file.display()),
        };
        let mut history = History::default();
        for k in 0..3 {
            let mut pose = body.rest_pose().clone();
            if let Some(clip) = asset.clips.first() {
                let (from, to) = clip.span().unwrap_or_default();
                clip.sample(from + (to - from) * (0.2 + 0.3 * k as f32), &mut pose);
            }
            let weights: Vec<f64> =
                body.morph_weights(&pose).iter().map(|w| f64::from(*w)).collect();
            let blend = solver.solve(&weights, &mut history, &run).expect("a blend");
            let x = &blend.positions;
            assert!(x.iter().all(|p| p.is_finite()), "{}: {:?}", file.display(), blend.report);
            let first = supple::mesh::adjacency::coincident(base);
            for (v, &f) in first.iter().enumerate() {
                let f = f as usize;
                if shapes.iter().all(|s| s[v] == s[f]) {
                    assert_eq!(x[v], x[f], "{}: seam at {v} and {f}", file.display());
                }
            }
        }
        played += 1;
    }
    assert!(played >= 5, "{played} files with morph targets");
}

/// Half of a rigid motion, as a screw: half the turn about its axis, half the way along it.
fn half(motion: &Rigid, x: DVec3) -> DVec3 {
    let (axis, angle) = motion.turn.to_axis_angle();
    let way = motion.to - motion.from;
    let along = axis * axis.dot(way);
    let across = way - along;
    let hinge = motion.from + 0.5 * across + axis.cross(across) / (2.0 * (0.5 * angle).tan());
    DQuat::from_axis_angle(axis, 0.5 * angle) * (x - hinge) + hinge + 0.5 * along
}

/// Targets each half on, by rotations of vertices and along straight lines.
fn half_by_rotations(
    (base, triangles): (&[Vec3], &[[u32; 3]]),
    targets: &[Vec<Vec3>],
) -> [Vec<Vec3>; 2] {
    let shapes = Shapes::of_surface(triangles, base, targets.iter().map(Vec::as_slice).collect());
    let params = Params { mode: Mode::Rotations, hold: Hold::Agreeing, ..Params::default() };
    let run = Run::default();
    let solver = Solver::new(&shapes, &params, &run).expect("a network");
    let weights = vec![0.5; targets.len()];
    let turned = solver.solve(&weights, &mut History::default(), &run).expect("a blend");
    let between = |v: usize| base[v] + targets.iter().map(|t| 0.5 * (t[v] - base[v])).sum::<Vec3>();
    [turned.positions, (0..base.len()).map(between).collect()]
}

/// Mean distances from half a rigid motion, what else happens to the vertices halved in its frame.
fn from_half(
    motion: &Rigid,
    [base, full]: [&[Vec3]; 2],
    found: &[Vec<Vec3>; 2],
    of: &[usize],
) -> [f64; 2] {
    let back = motion.inverse();
    let ideal =
        |v: usize| half(motion, 0.5 * (base[v].as_dvec3() + back.apply(full[v].as_dvec3())));
    found.each_ref().map(|x| {
        of.iter().map(|&v| (x[v].as_dvec3() - ideal(v)).length()).sum::<f64>() / of.len() as f64
    })
}

/// The jaw of the zoo's face turns by 20° about its hinge: half on, the chin is near 10° by rotations of vertices.
#[test]
fn a_chin_is_nearer_to_half_its_turn_than_along_straight_lines() {
    let size = supple::zoo::Size { triangles: Some(12_000) };
    let asset = supple::zoo::build("morph-face", &size, &Run::default()).expect("there is one");
    let mesh = &asset.meshes[0];
    let base = &mesh.positions;
    let target: Vec<Vec3> =
        base.iter().zip(&mesh.morphs[0].positions).map(|(x, d)| *x + *d).collect();
    let hinge = DVec3::new(0.0, 0.175, 0.0);
    let turn = DQuat::from_rotation_x(20.0_f64.to_radians());
    let motion = Rigid { turn, from: hinge, to: hinge };
    let is_chin = |v: &usize| base[*v].y < 0.13 && base[*v].z > 0.05;
    let chin: Vec<usize> = (0..base.len()).filter(is_chin).collect();
    assert!(chin.len() > 50, "{}", chin.len());
    let off = |v: &usize| (motion.apply(base[*v].as_dvec3()) - target[*v].as_dvec3()).length();
    assert!(chin.iter().map(off).fold(0.0, f64::max) < 1e-6, "the chin turns rigidly");
    let found = half_by_rotations((base, &mesh.triangles), std::slice::from_ref(&target));
    let [turned, straight] = from_half(&motion, [base, &target], &found, &chin);
    assert!(turned < 0.75 * straight, "rotations {turned}, straight lines {straight}");
}

/// On a scanned face the lower teeth, pieces of their own, show how the jaw turns: by 25°, as one.
#[test]
fn a_scanned_chin_is_nearer_to_half_the_turn_of_its_teeth() {
    let Some(folder) = test_data("blendshapes/ict_face") else { return };
    let (base, triangles) = surface(&folder.join("generic_neutral_mesh.obj"));
    let [jaw, smile] =
        ["jawOpen.obj", "mouthSmile_L.obj"].map(|name| surface(&folder.join(name)).0);
    let diagonal = {
        let low = base.iter().fold(Vec3::MAX, |a, x| a.min(*x));
        f64::from(base.iter().fold(Vec3::MIN, |a, x| a.max(*x)).distance(low))
    };
    let pieces = pieces(base.len(), &triangles);
    let moved = |v: &usize| f64::from(base[*v].distance(jaw[*v]));
    let most = (0..base.len()).map(|v| moved(&v)).fold(0.0, f64::max);
    let teeth: Vec<usize> =
        pieces[2..].iter().flatten().copied().filter(|v| moved(v) > 0.3 * most).collect();
    let motion = Rigid::fit(teeth.iter().map(|&v| (base[v].as_dvec3(), jaw[v].as_dvec3())));
    let off = |v: &usize| (motion.apply(base[*v].as_dvec3()) - jaw[*v].as_dvec3()).length();
    assert!(teeth.iter().map(off).fold(0.0, f64::max) < 1e-3 * diagonal, "teeth turn as one");
    for targets in [vec![jaw.clone()], vec![jaw.clone(), smile]] {
        let full: Vec<Vec3> = (0..base.len())
            .map(|v| base[v] + targets.iter().map(|t| t[v] - base[v]).sum::<Vec3>())
            .collect();
        let found = half_by_rotations((&base, &triangles), &targets);
        // The skin, and with the gums, which are the next largest piece.
        for (of, part) in [(&pieces[..1], 0.6), (&pieces[1..2], 1.0), (&pieces[..2], 0.85)] {
            let of: Vec<usize> =
                of.iter().flatten().copied().filter(|v| moved(v) > 0.6 * most).collect();
            let [turned, straight] = from_half(&motion, [&base, &full], &found, &of);
            assert!(
                turned < part * straight,
                "{} vertices, {} targets: rotations {:.2e}, straight lines {:.2e}",
                of.len(),
                targets.len(),
                turned / diagonal,
                straight / diagonal
            );
        }
    }
}

/// The vertices of each piece of a mesh, the largest first.
fn pieces(vertices: usize, triangles: &[[u32; 3]]) -> Vec<Vec<usize>> {
    let found = supple::mesh::adjacency::components(vertices, triangles);
    let mut all = vec![Vec::new(); found.count];
    for (v, &piece) in found.of_vertex.iter().enumerate().filter(|(_, p)| **p != u32::MAX) {
        all[piece as usize].push(v);
    }
    all.sort_by_key(|piece| std::cmp::Reverse(piece.len()));
    all
}

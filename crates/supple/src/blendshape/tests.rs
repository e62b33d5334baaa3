//! The scenes of the paper, on a bar of 24 × 4 × 4 cells with 115 nodes inside.

use glam::{DVec3, Quat, Vec3};

use super::rigid::Rigid;
use super::*;
use crate::Run;
use crate::mesh::{TetMesh, volume};

const CELLS: [u32; 3] = [24, 4, 4];
const LENGTH: f32 = 6.0;

/// A bar of length six along x, each cell cut into six tets.
pub(super) fn bar() -> TetMesh {
    let [nx, ny, nz] = CELLS;
    let name = |x: u32, y: u32, z: u32| (x * (ny + 1) + y) * (nz + 1) + z;
    let mut positions = Vec::new();
    for (x, (y, z)) in
        (0..=nx).flat_map(|x| (0..=ny).flat_map(move |y| (0..=nz).map(move |z| (x, (y, z)))))
    {
        let part = |i: u32, n: u32| i as f32 / n as f32 - 0.5;
        positions.push(Vec3::new(LENGTH * part(x, nx), part(y, ny), part(z, nz)));
    }
    let mut tets = Vec::new();
    for (x, (y, z)) in
        (0..nx).flat_map(|x| (0..ny).flat_map(move |y| (0..nz).map(move |z| (x, (y, z)))))
    {
        let corner = |c: u32| name(x + (c & 1), y + (c >> 1 & 1), z + (c >> 2));
        for [a, b] in [[1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 1]] {
            tets.push([corner(0), corner(7), corner(a), corner(b)]);
        }
    }
    let mut mesh = TetMesh::new(positions, tets);
    mesh.orient();
    mesh
}

/// The bar as an arc of a circle; its middle line keeps its length.
pub(super) fn bent(positions: &[Vec3], degrees: f32) -> Vec<Vec3> {
    let angle = degrees.to_radians();
    let radius = LENGTH / angle;
    let bend = |p: &Vec3| {
        let (sin, cos) = (p.x / radius).sin_cos();
        Vec3::new((radius - p.y) * sin, radius - (radius - p.y) * cos, p.z)
    };
    positions.iter().map(bend).collect()
}

fn twisted(positions: &[Vec3], degrees: f32) -> Vec<Vec3> {
    let twist = |p: &Vec3| Quat::from_rotation_x(degrees.to_radians() * p.x / LENGTH) * *p;
    positions.iter().map(twist).collect()
}

struct Scene {
    mesh: TetMesh,
    surface: Vec<[u32; 3]>,
    solver: Solver,
}

fn scene_with(targets: &[Vec<Vec3>], params: &Params) -> Scene {
    let mesh = bar();
    let surface = mesh.boundary();
    let shapes = Shapes {
        tets: &mesh.tets,
        ..Shapes::of_surface(&surface, &mesh.positions, targets.iter().map(Vec::as_slice).collect())
    };
    let solver = Solver::new(&shapes, params, &Run::default()).unwrap();
    Scene { solver, mesh, surface }
}

fn scene(targets: &[Vec<Vec3>]) -> Scene {
    scene_with(targets, &Params::default())
}

impl Scene {
    fn at(&self, weights: &[f64]) -> Blend {
        let blend = self.solver.solve(weights, &mut History::default(), &Run::default()).unwrap();
        assert!(blend.report.is_proved, "{weights:?}: {:?}", blend.report);
        blend
    }

    fn volume(&self, positions: &[Vec3]) -> f64 {
        volume::volume(positions, &self.surface, &Run::default())
    }

    /// Relative error of the volume, the base's being right.
    fn volume_error(&self, positions: &[Vec3]) -> f64 {
        self.volume(positions) / self.volume(&self.mesh.positions) - 1.0
    }

    /// Mean relative error of the surface's edges, against blended lengths.
    fn edge_error(&self, found: &[Vec3], base: &[Vec3], target: &[Vec3], w: f32) -> f64 {
        let edges = crate::mesh::adjacency::edges(base.len(), &self.surface);
        let length = |x: &[Vec3], e: &[u32; 2]| x[e[0] as usize].distance(x[e[1] as usize]);
        let off = edges.iter().map(|e| {
            let wanted = (1.0 - w) * length(base, e) + w * length(target, e);
            f64::from((length(found, e) - wanted).abs() / wanted)
        });
        off.sum::<f64>() / edges.len() as f64
    }
}

/// Largest distance after the best rigid fit, in diagonals of the bar.
fn away(found: &[Vec3], ideal: &[Vec3]) -> f64 {
    let pairs = || found.iter().zip(ideal).map(|(a, b)| (a.as_dvec3(), b.as_dvec3()));
    let fit = Rigid::fit(pairs());
    let diagonal = f64::from((LENGTH * LENGTH + 2.0).sqrt());
    pairs().map(|(a, b)| (fit.apply(a) - b).length()).fold(0.0, f64::max) / diagonal
}

/// Largest distance as they lie, in diagonals.
fn apart(found: &[Vec3], ideal: &[Vec3]) -> f64 {
    let diagonal = f64::from((LENGTH * LENGTH + 2.0).sqrt());
    found.iter().zip(ideal).map(|(a, b)| f64::from(a.distance(*b))).fold(0.0, f64::max) / diagonal
}

#[test]
fn a_bent_bar_keeps_volume_and_edges() {
    for (degrees, off) in [(90.0, 1e-3), (150.0, 1e-3)] {
        let base = bar().positions;
        let target = bent(&base, degrees);
        let scene = scene(std::slice::from_ref(&target));
        let half = scene.at(&[0.5]);
        let linear: Vec<Vec3> = base.iter().zip(&target).map(|(a, b)| a.midpoint(*b)).collect();
        let error = scene.volume_error(&half.positions);
        assert!(error.abs() < 3e-3 && scene.volume_error(&linear) < -0.04, "{degrees}°: {error}");
        let edges = scene.edge_error(&half.positions, &base, &target, 0.5);
        assert!(edges < 2e-3, "{degrees}°: {edges}");
        let from_ideal = away(&half.positions, &bent(&base, 0.5 * degrees));
        assert!(from_ideal < off, "{degrees}°: {from_ideal}");
        assert_eq!(half.report.inverted_tets, 0, "{degrees}°");
    }
}

#[test]
fn a_bar_bent_to_a_ring_does_not_fold() {
    let base = bar().positions;
    let scene = scene(&[bent(&base, 340.0)]);
    let half = scene.at(&[0.5]);
    let error = scene.volume_error(&half.positions);
    assert!(error.abs() < 0.01, "{error}");
    let from_ideal = away(&half.positions, &bent(&base, 170.0));
    assert!(from_ideal < 6e-3, "{from_ideal}");
    assert_eq!(half.report.inverted_tets, 0);
}

#[test]
fn a_twisted_bar_keeps_its_volume_within_one_percent() {
    let base = bar().positions;
    let scene = scene(&[twisted(&base, 180.0)]);
    let half = scene.at(&[0.5]);
    let error = scene.volume_error(&half.positions);
    assert!(error.abs() < 0.01, "{error}");
    let from_ideal = away(&half.positions, &twisted(&base, 90.0));
    assert!(from_ideal < 6e-3, "{from_ideal}");
}

#[test]
fn both_ends_are_met() {
    let base = bar().positions;
    let target = bent(&base, 150.0);
    let scene = scene(std::slice::from_ref(&target));
    assert_eq!(scene.at(&[0.0]).positions, base);
    assert_eq!(scene.at(&[1.0]).positions, target);
    // By solving, too: a hair off, as they lie.
    for (w, shape) in [(1e-7, &base), (1.0 - 1e-7, &target)] {
        let found = scene.at(&[w]);
        assert_ne!(found.report.start, Start::Exact);
        let off = apart(&found.positions, shape);
        assert!(off < 1e-4, "{w}: {off}");
    }
}

#[test]
fn a_rigidly_turned_target_turns() {
    let base = bar().positions;
    let middle = Vec3::new(0.4, -1.0, 20.0);
    for degrees in [30.0_f32, 120.0, 179.9, 180.0] {
        let turn = |part: f32| {
            Quat::from_axis_angle(Vec3::new(0.0, 0.6, 0.8), part * degrees.to_radians())
        };
        let target: Vec<Vec3> = base.iter().map(|p| turn(1.0) * *p + middle).collect();
        let half = scene(&[target]).at(&[0.5]);
        let deformed = away(&half.positions, &base);
        assert!(deformed < 1e-4, "{degrees}°: {deformed}");
        let ideal: Vec<Vec3> = base.iter().map(|p| turn(0.5) * *p + 0.5 * middle).collect();
        let off = apart(&half.positions, &ideal);
        // 0.2° at half the bar's length is 1.7e-3 of its diagonal.
        assert!(off < 1.7e-3, "{degrees}°: {off}");
    }
}

#[test]
fn three_shapes_sums_and_weights_beyond() {
    let base = bar().positions;
    let (bend, twist) = (bent(&base, 90.0), twisted(&base, 180.0));
    let both = scene(&[bend.clone(), twist]);
    let third = both.at(&[1.0 / 3.0, 1.0 / 3.0]);
    assert!(
        both.volume_error(&third.positions).abs() < 0.01,
        "{}",
        both.volume_error(&third.positions)
    );
    let sum = both.at(&[1.0, 1.0]);
    assert!(
        both.volume_error(&sum.positions).abs() < 0.01,
        "{}",
        both.volume_error(&sum.positions)
    );
    let one = scene(&[bend]);
    for (w, degrees, off) in [(1.5, 135.0, 6e-4), (-0.5, -45.0, 3e-4)] {
        let found = one.at(&[w]);
        assert_eq!(found.report.beyond, 1);
        let error = one.volume_error(&found.positions);
        assert!(error.abs() < 4e-3, "{w}: {error}");
        let from_ideal = away(&found.positions, &bent(&base, degrees));
        assert!(from_ideal < off, "{w}: {from_ideal}");
    }
}

#[test]
fn an_anchor_keeps_its_place_and_both_ends() {
    let base = bar().positions;
    // Bent, and moved so that its left end stays where it was.
    let bend = bent(&base, 90.0);
    let left: Vec<u32> = (0..base.len() as u32).filter(|&v| base[v as usize].x < -2.7).collect();
    let fit = Rigid::fit(
        left.iter().map(|&v| (bend[v as usize].as_dvec3(), base[v as usize].as_dvec3())),
    );
    let target: Vec<Vec3> = bend.iter().map(|p| fit.apply(p.as_dvec3()).as_vec3()).collect();
    let scene = scene_with(&[target], &Params { anchor: left.clone(), ..Params::default() });
    let half = scene.at(&[0.5]);
    let moved = left
        .iter()
        .map(|&v| half.positions[v as usize].distance(base[v as usize]))
        .fold(0.0, f32::max);
    assert!(moved < 0.02, "its end stays, but for what bends within it: {moved}");
    let half_error = away(&half.positions, &bent(&base, 45.0));
    assert!(half_error < 1e-3, "{half_error}");
}

/// Figure 4: an anchor inside, at the centre, placed, and two of them; also for a target that is turned and far away.
#[test]
fn anchors_inside_meet_both_ends_and_the_half() {
    let base = bar().positions;
    let bend = bent(&base, 120.0);
    let turn = Quat::from_rotation_y(120.0_f32.to_radians());
    let far: Vec<Vec3> = bend.iter().map(|p| turn * *p + Vec3::new(20.0, 3.0, 0.0)).collect();
    for target in [bend, far] {
        for anchors in [
            vec![Anchor::Centre],
            vec![Anchor::At(DVec3::new(-2.0, 0.1, 0.0))],
            vec![Anchor::At(DVec3::new(-2.0, 0.0, 0.0)), Anchor::At(DVec3::new(2.0, 0.0, 0.0))],
        ] {
            let several = anchors.len() > 1;
            let params = Params { anchors, ..Params::default() };
            let scene = scene_with(std::slice::from_ref(&target), &params);
            for (w, end) in [(1e-9, &base), (1.0 - 1e-9, &target)] {
                let found = scene.at(&[w]);
                assert!(
                    apart(&found.positions, end) < 1e-4,
                    "{w}: {}",
                    apart(&found.positions, end)
                );
            }
            // Two anchors go each their own way: the bar between them is no longer at its ease.
            let half = scene.at(&[0.5]);
            let from_ideal = away(&half.positions, &bent(&base, 60.0));
            assert!(from_ideal < if several { 0.2 } else { 1e-3 }, "{from_ideal}");
        }
    }
}

#[test]
fn held_vertices_stay_and_the_rest_follows() {
    let base = bar().positions;
    let held: Vec<u32> = (0..base.len() as u32).filter(|&v| base[v as usize].x < -2.9).collect();
    let bend = bent(&base, 60.0);
    let fit = Rigid::fit(
        held.iter().map(|&v| (bend[v as usize].as_dvec3(), base[v as usize].as_dvec3())),
    );
    let target: Vec<Vec3> = (0..base.len())
        .map(|v| {
            if held.contains(&(v as u32)) {
                base[v]
            } else {
                fit.apply(bend[v].as_dvec3()).as_vec3()
            }
        })
        .collect();
    for hold in [Hold::Agreeing, Hold::Vertices(held.clone())] {
        let scene =
            scene_with(std::slice::from_ref(&target), &Params { hold, ..Params::default() });
        assert_eq!(scene.solver.held(), held.len());
        let half = scene.at(&[0.5]);
        assert!(
            held.iter().all(|&v| half.positions[v as usize] == base[v as usize]),
            "held is held"
        );
        let from_ideal = away(&half.positions, &bent(&base, 30.0));
        assert!(from_ideal < 3e-3, "{from_ideal}");
    }
}

#[test]
fn an_open_sheet_gets_an_inner_layer_and_bends() {
    let (nx, ny) = (30_u32, 10_u32);
    let at = |x: u32, y: u32| {
        Vec3::new(
            LENGTH * (x as f32 / nx as f32 - 0.5),
            0.3 * ((y as f32 - 5.0) * 0.3).cos(),
            2.0 * y as f32 / ny as f32 - 1.0,
        )
    };
    let base: Vec<Vec3> = (0..=nx).flat_map(|x| (0..=ny).map(move |y| at(x, y))).collect();
    let name = |x: u32, y: u32| x * (ny + 1) + y;
    let cell = |x: u32, y: u32| {
        [
            [name(x, y), name(x, y + 1), name(x + 1, y)],
            [name(x + 1, y), name(x, y + 1), name(x + 1, y + 1)],
        ]
    };
    let triangles: Vec<[u32; 3]> =
        (0..nx).flat_map(|x| (0..ny).flat_map(move |y| cell(x, y))).collect();
    let target = bent(&base, 150.0);
    let shapes = Shapes::of_surface(&triangles, &base, vec![&target]);
    let solver = Solver::new(&shapes, &Params::default(), &Run::default()).unwrap();
    assert_eq!(solver.counts().inner, base.len(), "{:?}", solver.counts());
    let half = solver.solve(&[0.5], &mut History::default(), &Run::default()).unwrap();
    assert!(half.report.is_proved, "{:?}", half.report);
    let from_ideal = away(&half.positions, &bent(&base, 75.0));
    assert!(from_ideal < 2e-3, "{from_ideal}");
}

#[test]
fn rotations_are_exact_at_the_ends_and_near_between() {
    let base = bar().positions;
    let target = bent(&base, 150.0);
    let params = Params { mode: Mode::Rotations, ..Params::default() };
    let scene = scene_with(std::slice::from_ref(&target), &params);
    let end = scene.at(&[1.0 - 1e-6]);
    assert!(apart(&end.positions, &target) < 1e-4, "{}", apart(&end.positions, &target));
    let half = scene.at(&[0.5]);
    assert_eq!((half.report.newton_steps, half.report.start), (0, Start::Predictor));
    let from_ideal = away(&half.positions, &bent(&base, 75.0));
    assert!(from_ideal < 3e-2, "{from_ideal}");
}

/// Of two bars one stays, the other turns by 40° about a hinge far from its middle: half on by 20°, at 1.5 by 60°.
#[test]
fn a_free_piece_beside_a_held_one_turns_about_its_hinge() {
    let (mesh, run) = (bar(), Run::default());
    let (hinge, count) = (Vec3::new(1.0, -8.0, 3.0), mesh.positions.len());
    let turned = |degrees: f32| -> Vec<Vec3> {
        let turn = Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), degrees.to_radians());
        let away = mesh.positions.iter().map(|p| turn * (*p - hinge) + hinge);
        let stays = mesh.positions.iter().map(|p| *p + 20.0 * Vec3::Y);
        stays.chain(away).collect()
    };
    let mut triangles = mesh.boundary();
    let more: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|v| v + count as u32)).collect();
    triangles.extend(more);
    let mut tets = mesh.tets.clone();
    tets.extend(mesh.tets.iter().map(|t| t.map(|v| v + count as u32)));
    let (base, target) = (turned(0.0), turned(40.0));
    let shapes = Shapes { tets: &tets, ..Shapes::of_surface(&triangles, &base, vec![&target]) };
    for mode in [Mode::Springs, Mode::Rotations] {
        let params = Params { mode, hold: Hold::Agreeing, ..Params::default() };
        let solver = Solver::new(&shapes, &params, &run).unwrap();
        for weight in [0.5, 1.5] {
            let blend = solver.solve(&[weight], &mut History::default(), &run).unwrap();
            let off = apart(&blend.positions, &turned(40.0 * weight as f32));
            assert!(off < 1e-4, "{mode:?} {weight}: {off}");
        }
    }
}

#[test]
fn history_gives_the_same_shape_and_fewer_steps() {
    let base = bar().positions;
    let scene = scene(&[bent(&base, 150.0)]);
    let run = Run::default();
    let mut history = History::default();
    let mut steps = [0, 0];
    for k in (1..18).chain((1..17).rev()) {
        let w = f64::from(k) / 18.0;
        let warm = scene.solver.solve(&[w], &mut history, &run).unwrap();
        let cold = scene.at(&[w]);
        assert!(warm.report.is_proved, "{:?}", warm.report);
        let off = apart(&warm.positions, &cold.positions);
        assert!(off < 1e-4, "{w}: {off}");
        steps[0] += warm.report.gradient_steps;
        steps[1] += cold.report.gradient_steps;
    }
    assert!(2 * steps[0] < 3 * steps[1], "{steps:?}");
}

/// Along a way of weights: what is proved of Newton's step is never less than it, and what a long run shows is it, as
/// far as `most`.
fn proofs_agree(solver: &Solver, most: f64, way: impl Fn(f64) -> Vec<f64>) {
    let (mut history, run) = (History::default(), Run::default());
    for k in 1..=14 {
        let w = way(f64::from(k) / 36.0);
        if k > 4 {
            let steps = oracle::newton_step(solver, &w, &history, &run).unwrap();
            assert!(steps.bounds.iter().all(|b| *b >= steps.fresh), "step {k}: {steps:?}");
            let part = steps.shown / steps.fresh;
            assert!((0.8..most).contains(&part), "step {k}: {steps:?}");
        }
        let blend = solver.solve(&w, &mut history, &run).unwrap();
        assert!(blend.report.is_proved, "step {k}: {:?}", blend.report);
    }
}

#[test]
fn proofs_agree_with_a_fresh_factorisation() {
    let base = bar().positions;
    let scene = scene(&[bent(&base, 150.0), twisted(&base, 180.0)]);
    proofs_agree(&scene.solver, 1.25, |w| vec![0.1 + w, 0.9 - 1.2 * w]);
}

/// A camel with hardly a node inside: thin shells are what the constant matrix knows least of.
#[test]
fn proofs_agree_on_a_thin_body() {
    let run = Run::default();
    let size = crate::zoo::Size { triangles: Some(2_000) };
    let mut camel = crate::zoo::build("camel", &size, &run).unwrap().into_rest_mesh(&run).unwrap();
    let bounds = crate::mesh::measure::Bounds::of(&camel.positions).unwrap();
    let scale = LENGTH / bounds.size().max_element();
    // As long as the bar, about the middle, so that it bends as the bar does.
    camel.positions.iter_mut().for_each(|p| *p = scale * (*p - bounds.center()));
    let target = bent(&camel.positions, 90.0);
    let shapes = Shapes::of_surface(&camel.triangles, &camel.positions, vec![&target]);
    let params = Params { inside: Inside::Layer, ..Params::default() };
    // Here a long run has not come to its end and shows more than the step; the bounds hold.
    proofs_agree(&Solver::new(&shapes, &params, &run).unwrap(), f64::INFINITY, |w| vec![w]);
}

#[test]
fn the_oracle_finds_the_same_equilibrium() {
    let base = bar().positions;
    let scene = scene(&[bent(&base, 150.0), twisted(&base, 180.0)]);
    for w in [[0.5, 0.0], [0.4, 0.4], [1.2, -0.3]] {
        let judge = oracle::newton(&scene.solver, &w, (&History::default(), 2e-6), &Run::default())
            .unwrap();
        let off = apart(&scene.at(&w).positions, &judge.positions);
        assert!(off < 1e-4, "{w:?}: {off} ({} steps)", judge.steps);
    }
}

#[test]
fn same_bits_for_any_thread_count() {
    let base = bar().positions;
    let scene = scene(&[bent(&base, 150.0)]);
    let first = scene.at(&[0.6]);
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let again = scene.solver.solve(&[0.6], &mut History::default(), &run).unwrap();
        assert_eq!(again, first, "{threads} threads");
    }
}

#[test]
fn combinations_are_met_at_full_weight() {
    let base = bar().positions;
    let (bend, twist) = (bent(&base, 60.0), twisted(&base, 60.0));
    let together: Vec<Vec3> = bent(&twisted(&base, 60.0), 60.0).iter().map(|p| 1.05 * *p).collect();
    let (mesh, surface) = (bar(), bar().boundary());
    let mut shapes =
        Shapes { tets: &mesh.tets, ..Shapes::of_surface(&surface, &base, vec![&bend, &twist]) };
    shapes.combinations.push(Combination { of: vec![0, 1], positions: &together });
    let solver = Solver::new(&shapes, &Params::default(), &Run::default()).unwrap();
    let at =
        |w: [f64; 2]| solver.solve(&w, &mut History::default(), &Run::default()).unwrap().positions;
    assert_eq!(at([1.0, 1.0]), together);
    assert_eq!(at([1.0, 0.0]), bend);
    assert!(away(&at([1.0 - 1e-7, 1.0]), &together) < 1e-4, "and next to it");
    assert!(away(&at([0.5, 0.0]), &bent(&base, 30.0)) < 1e-3, "alone it does not act");
}

#[test]
fn random_weights_never_make_a_nan() {
    let base = bar().positions;
    let scene = scene(&[
        bent(&base, 150.0),
        twisted(&base, 180.0),
        base.iter().map(|p| *p * Vec3::new(0.2, 1.5, 1.5)).collect(),
    ]);
    let mut random = 1_u32;
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(random >> 8) / f64::from(1 << 24) * 3.0 - 1.0
    };
    let mut history = History::default();
    for _ in 0..20 {
        let w = [next(), next(), next()];
        let found = scene.solver.solve(&w, &mut history, &Run::default()).unwrap();
        assert!(found.positions.iter().all(|p| p.is_finite()), "{w:?}: {:?}", found.report);
    }
    let back = scene.solver.solve(&[0.0; 3], &mut history, &Run::default()).unwrap();
    assert_eq!(back.positions, base);
}

#[test]
fn parts_are_blended_each_for_itself() {
    let one = bar();
    let surface = one.boundary();
    let n = one.positions.len() as u32;
    let double = |x: &[Vec3], y: &[Vec3]| -> Vec<Vec3> {
        x.iter().copied().chain(y.iter().map(|p| *p + 5.0 * Vec3::Z)).collect()
    };
    let base = double(&one.positions, &one.positions);
    let target = double(&bent(&one.positions, 90.0), &twisted(&one.positions, 90.0));
    let triangles: Vec<[u32; 3]> =
        surface.iter().copied().chain(surface.iter().map(|t| t.map(|v| v + n))).collect();
    let tets: Vec<[u32; 4]> =
        one.tets.iter().copied().chain(one.tets.iter().map(|t| t.map(|v| v + n))).collect();
    let shapes = Shapes { tets: &tets, ..Shapes::of_surface(&triangles, &base, vec![&target]) };
    let solver = Solver::new(&shapes, &Params::default(), &Run::default()).unwrap();
    assert_eq!(solver.counts().pieces, 2);
    let half = solver.solve(&[0.5], &mut History::default(), &Run::default()).unwrap().positions;
    assert!(away(&half[..n as usize], &bent(&one.positions, 45.0)) < 1e-3, "one");
    assert!(away(&half[n as usize..], &twisted(&one.positions, 45.0)) < 2e-3, "the other");
}

#[test]
fn says_what_is_wrong() {
    let mesh = bar();
    let (base, surface) = (&mesh.positions, mesh.boundary());
    let new = |shapes: &Shapes<'_>, params: &Params| {
        Solver::new(shapes, params, &Run::default()).map(drop).unwrap_err()
    };
    let plain = Params::default();
    let short = Shapes::of_surface(&surface, base, vec![&base[1..]]);
    assert_eq!(
        new(&short, &plain),
        Error::OtherCount { shape: 1, found: base.len() - 1, expected: base.len() }
    );
    let mut broken = base.clone();
    broken[7].y = f32::NAN;
    let nan = Shapes::of_surface(&surface, base, vec![&broken]);
    assert_eq!(new(&nan, &plain), Error::NotFinite { shape: 1, vertex: 7 });
    let points = Shapes::of_surface(&[], base, vec![base]);
    assert_eq!(new(&points, &plain), Error::NoEdges);
    let good = Shapes::of_surface(&surface, base, vec![base]);
    let held = Params { hold: Hold::Vertices(vec![99_999]), ..Params::default() };
    assert_eq!(new(&good, &held), Error::NoSuchVertex { vertex: 99_999, vertices: base.len() });
    let solver = Solver::new(&good, &plain, &Run::default()).unwrap();
    let wrong = |w: &[f64]| solver.solve(w, &mut History::default(), &Run::default()).unwrap_err();
    assert!(matches!(wrong(&[]), Error::OtherWeights { found: 0, expected: 1, .. }), "too few");
    assert_eq!(wrong(&[f64::INFINITY]), Error::WeightNotFinite { weight: 0 });
    let far: Vec<Vec3> = base.iter().map(|p| 1e37 * *p).collect();
    let far = Shapes::of_surface(&surface, base, vec![&far]);
    let solver = Solver::new(&far, &plain, &Run::default()).unwrap();
    let beyond = solver.solve(&[900.0], &mut History::default(), &Run::default()).unwrap_err();
    assert!(matches!(beyond, Error::TooFar { .. }), "{beyond}");
}

//! The bar and the world: a cylinder in its way, one that is driven through it, a hand.

use glam::{DVec3, Vec3};

use super::contact::{Interaction, Pull, Response, Touch, World};
use super::obstacle::{Obstacle, Pose, Solid};
use super::tests::bar;
use super::*;
use crate::Run;
use crate::mesh::{TetMesh, volume};

const DIAGONAL: f64 = 6.164_414;

/// The bar bent by 150° with its left end where it was.
fn bent_from_the_left(positions: &[Vec3]) -> Vec<Vec3> {
    let radius = 6.0 / 150.0_f32.to_radians();
    let bend = |p: &Vec3| {
        if p.x < -2.999 {
            return *p;
        }
        let (sin, cos) = ((p.x + 3.0) / radius).sin_cos();
        Vec3::new((radius - p.y) * sin - 3.0, radius - (radius - p.y) * cos, p.z)
    };
    positions.iter().map(bend).collect()
}

struct Scene {
    mesh: TetMesh,
    surface: Vec<[u32; 3]>,
    solver: Solver,
    interaction: Interaction,
}

impl Scene {
    fn new(hold: Hold, stiffness: Option<&[f32]>) -> Self {
        let mesh = bar();
        let surface = mesh.boundary();
        let target = bent_from_the_left(&mesh.positions);
        let shapes = Shapes {
            tets: &mesh.tets,
            stiffness,
            ..Shapes::of_surface(&surface, &mesh.positions, vec![&target])
        };
        let solver =
            Solver::new(&shapes, &Params { hold, ..Params::default() }, &Run::default()).unwrap();
        let interaction = Interaction::new(&solver, &Run::default()).unwrap();
        Self { mesh, surface, solver, interaction }
    }

    fn at(&self, w: f64, world: &World<'_>, touch: &mut Touch) -> Blend {
        let state = (touch, &mut History::default());
        self.interaction.solve(&self.solver, &[w], world, state, &Run::default()).unwrap()
    }

    fn volume_error(&self, positions: &[Vec3]) -> f64 {
        let volume = |x: &[Vec3]| volume::volume(x, &self.surface, &Run::default());
        volume(positions) / volume(&self.mesh.positions) - 1.0
    }

    fn off(&self, a: &[Vec3], b: &[Vec3]) -> f64 {
        // What is inside follows: the surface counts.
        let on = |v: usize| self.surface.iter().any(|t| t.contains(&(v as u32)));
        let away = (0..a.len()).filter(|&v| on(v)).map(|v| f64::from(a[v].distance(b[v])));
        away.fold(0.0, f64::max) / DIAGONAL
    }
}

fn left(mesh: &TetMesh) -> Vec<u32> {
    (0..mesh.positions.len() as u32).filter(|&v| mesh.positions[v as usize].x < -2.999).collect()
}

fn cylinder() -> Obstacle {
    let at = DVec3::new(-1.42, 2.57, 0.0);
    Obstacle::still(Solid::Cylinder { axis: DVec3::Z, radius: 0.4 }, Pose { at, ..Pose::default() })
}

#[test]
fn a_bar_bends_into_a_cylinder_and_back() {
    let scene = Scene::new(Hold::Vertices(left(&bar())), None);
    let obstacles = [cylinder()];
    let world = World { obstacles: &obstacles, ..World::default() };
    let mut touch = Touch::default();
    let mut last = scene.at(0.0, &world, &mut touch);
    assert_eq!(last.positions, scene.mesh.positions, "nothing touches at rest");
    for k in 1..=9 {
        last = scene.at(f64::from(k) / 9.0, &world, &mut touch);
        assert!(last.report.depth_rel_diagonal < 1e-3, "step {k}: {:?}", last.report);
    }
    assert!((3..=15).contains(&last.report.contacts), "{:?}", last.report);
    assert!(
        scene.volume_error(&last.positions).abs() < 0.01,
        "{}",
        scene.volume_error(&last.positions)
    );
    assert_eq!(last.report.inverted_tets, 0);
    let jump = scene.at(1.0, &world, &mut Touch::default());
    let off = scene.off(&jump.positions, &last.positions);
    assert!(off < 1e-3, "in one jump and in nine steps: {off}");
    let back = scene.at(0.0, &world, &mut touch);
    assert!(scene.off(&back.positions, &scene.mesh.positions) < 1e-4, "back where it was");
    assert_eq!((back.report.contacts, touch.contacts()), (0, 0), "no contact left");
}

#[test]
fn sticking_holds_more_vertices_than_sliding() {
    let scene = Scene::new(Hold::Vertices(left(&bar())), None);
    let obstacles = [cylinder()];
    let shape = |response: Response| {
        let world = World { obstacles: &obstacles, response, ..World::default() };
        scene.at(1.0, &world, &mut Touch::default())
    };
    let (slide, stick) = (shape(Response::Slide), shape(Response::Stick));
    assert!(stick.report.depth_rel_diagonal < 1e-2, "{:?}", stick.report);
    let off = scene.off(&slide.positions, &stick.positions);
    assert!((5e-3..0.1).contains(&off), "nothing slides: {off}");
}

#[test]
fn friction_holds_back() {
    let scene = Scene::new(Hold::Vertices(left(&bar())), None);
    let obstacles = [cylinder()];
    let last = |friction: f64| {
        let world = World { obstacles: &obstacles, friction, ..World::default() };
        let mut touch = Touch::default();
        let mut last = scene.at(0.0, &world, &mut touch);
        for k in 1..=9 {
            last = scene.at(f64::from(k) / 9.0, &world, &mut touch);
        }
        assert!(last.report.depth_rel_diagonal < 1e-3, "{friction}: {:?}", last.report);
        last.positions
    };
    let free = last(0.0);
    let off = scene.off(&last(1.0), &free);
    assert!((1e-3..0.05).contains(&off), "{off}");
    assert!(scene.off(&last(1e-6), &free) < 1e-4, "next to none does next to nothing");
}

#[test]
fn a_cylinder_is_driven_through_without_being_passed() {
    let scene = Scene::new(Hold::Vertices(left(&bar())), None);
    let place = |y: f64| Pose { at: DVec3::new(1.5, y, 0.0), ..Pose::default() };
    let mut touch = Touch::default();
    let mut y = 1.0;
    // Three times its radius at once: it goes in smaller steps by itself. At the end it stands still, and still holds.
    for next in [0.25, -0.5, -0.5] {
        let solid = Solid::Cylinder { axis: DVec3::Z, radius: 0.25 };
        let obstacles = [Obstacle { solid, poses: [place(y), place(next)] }];
        let world = World { obstacles: &obstacles, ..World::default() };
        let blend = scene.at(0.0, &world, &mut touch);
        assert!(blend.report.depth_rel_diagonal < 1e-3, "{next}: {:?}", blend.report);
        let top = scene
            .mesh
            .positions
            .iter()
            .zip(&blend.positions)
            .filter(|(rest, _)| (rest.x - 1.5).abs() < 0.1);
        for (rest, now) in top {
            assert!(f64::from(now.y) < next, "at {next}: {rest} came to {now}, on its far side");
        }
        y = next;
    }
}

#[test]
fn a_pulled_vertex_arrives_the_rest_follows_and_goes_back() {
    let scene = Scene::new(Hold::Vertices(left(&bar())), None);
    let tip = scene
        .mesh
        .positions
        .iter()
        .position(|p| p.x > 2.999 && p.y > 0.499 && p.z > 0.499)
        .unwrap();
    let free = scene.at(0.5, &World::default(), &mut Touch::default());
    let to = free.positions[tip].as_dvec3() + DVec3::new(0.0, 0.0, 1.0);
    let pulls = [Pull { vertex: tip as u32, to, amount: 1.0 }];
    let mut touch = Touch::default();
    let pulled = scene.at(0.5, &World { pulls: &pulls, ..World::default() }, &mut touch);
    let missed = (pulled.positions[tip].as_dvec3() - to).length() / DIAGONAL;
    assert!(missed < 1e-4, "{missed}");
    let other = scene
        .mesh
        .positions
        .iter()
        .position(|p| p.x > 2.999 && p.y < -0.499 && p.z < -0.499)
        .unwrap();
    assert!(pulled.positions[other].z > free.positions[other].z + 0.5, "the rest follows");
    let back = scene.at(0.5, &World::default(), &mut touch);
    assert!(scene.off(&back.positions, &free.positions) < 1e-4, "let go");
}

#[test]
fn painted_stiffness_keeps_its_half_in_shape() {
    let strain = |paint: Option<&[f32]>| {
        let scene = Scene::new(Hold::Vertices(left(&bar())), paint);
        let obstacles = [cylinder()];
        let world = World { obstacles: &obstacles, ..World::default() };
        let blend = scene.at(1.0, &world, &mut Touch::default());
        let target = bent_from_the_left(&scene.mesh.positions);
        let edges = crate::mesh::adjacency::edges(target.len(), &scene.surface);
        let right =
            edges.iter().filter(|e| e.iter().all(|&v| scene.mesh.positions[v as usize].x > 0.3));
        let length = |x: &[Vec3], e: &[u32; 2]| x[e[0] as usize].distance(x[e[1] as usize]);
        let (mut sum, mut count) = (0.0, 0.0);
        for e in right {
            sum += (length(&blend.positions, e) / length(&target, e) - 1.0).abs();
            count += 1.0;
        }
        sum / count
    };
    let paint: Vec<f32> =
        bar().positions.iter().map(|p| if p.x > 0.0 { 100.0 } else { 1.0 }).collect();
    let (plain, stiff) = (strain(None), strain(Some(&paint)));
    assert!(2.0 * stiff < plain, "{stiff} of {plain}");
}

#[test]
fn nothing_held_still_meets_obstacles() {
    let scene = Scene::new(Hold::Nothing, None);
    let at = DVec3::new(2.0, 0.6, 0.0);
    let obstacles = [Obstacle::still(Solid::Ball { radius: 0.4 }, Pose { at, ..Pose::default() })];
    let blend =
        scene.at(1e-3, &World { obstacles: &obstacles, ..World::default() }, &mut Touch::default());
    assert!(
        blend.report.depth_rel_diagonal < 1e-3 && blend.report.contacts > 0,
        "{:?}",
        blend.report
    );
}

#[test]
fn meshes_are_obstacles_too_and_say_what_is_wrong() {
    let cube =
        crate::zoo::build("ball", &crate::zoo::Size { triangles: Some(500) }, &Run::default())
            .unwrap();
    let mesh = &cube.meshes[0];
    let solid = Solid::mesh(&mesh.positions, &mesh.triangles, &Run::default()).unwrap();
    let scene = Scene::new(Hold::Vertices(left(&bar())), None);
    let size = mesh.positions.iter().map(|p| p.length()).fold(0.0, f32::max);
    let at = DVec3::new(2.0, f64::from(size) + 0.4, 0.0);
    let obstacles = [Obstacle::still(solid, Pose { at, ..Pose::default() })];
    let blend =
        scene.at(0.0, &World { obstacles: &obstacles, ..World::default() }, &mut Touch::default());
    assert!(blend.report.depth_rel_diagonal < 2e-3, "{:?}", blend.report);
    let flipped: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| [t[0], t[2], t[1]]).collect();
    assert_eq!(
        Solid::mesh(&mesh.positions, &flipped, &Run::default()).unwrap_err(),
        Error::ObstacleInsideOut
    );
    assert_eq!(
        Solid::mesh(&mesh.positions, &[], &Run::default()).unwrap_err(),
        Error::ObstacleEmpty
    );
    let around = [Obstacle::still(Solid::Ball { radius: 50.0 }, Pose::default())];
    let world = World { obstacles: &around, ..World::default() };
    let state = (&mut Touch::default(), &mut History::default());
    let wrong = scene.interaction.solve(&scene.solver, &[0.0], &world, state, &Run::default());
    assert_eq!(wrong.unwrap_err(), Error::ObstacleAround { obstacle: 0 });
}

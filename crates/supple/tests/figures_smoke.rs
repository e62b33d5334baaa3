//! The figures of the thesis, chapter 7, as scenes: each is played on a flow coarse enough to be quick; and a coarse surface
//! with all its terms looks like its ground truth, which it does not with a term off or the seam drawn.

use std::path::{Path, PathBuf};

use glam::{Vec2, Vec3};
use supple::Run;
use supple::flow::Flow;
use supple::flow::analytic::Analytic;
use supple::io::uri::Policy;
use supple::mesh::Values;
use supple::mesh::attribute::COLOR;
use supple::player::{BodyFrame, Frame, Player};
use supple::scene::{Folder, Scene};
use supple::smoke::{Opacity, Params, SeedLine, Streak, Surface};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/figures")
}

fn names() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the scenes are here");
    let name = |e: std::io::Result<std::fs::DirEntry>| {
        let path = e.expect("the folder can be read").path();
        path.file_stem().expect("a file").to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).filter(|n| n.starts_with("7-")).collect();
    names.sort();
    names
}

/// A scene with coarse flows and surfaces, as long as half a second.
fn coarse(name: &str) -> Scene {
    let path = folder().join(format!("{name}.toml"));
    let mut scene = Scene::load(&path, Policy::default()).unwrap_or_else(|e| panic!("{e}"));
    for entry in scene.flows.values_mut() {
        entry.size = entry.size.map(|size| size.map(|n| (n / 2).max(8)));
        entry.levels = entry.levels.map(|_| 5);
    }
    for actor in &mut scene.assets {
        for entry in actor.modifiers_mut() {
            let few = |key: &str, most: i64| {
                toml::Value::Integer(entry.params[key].as_integer().unwrap_or(most).min(most))
            };
            if entry.kind == "smoke" {
                let (columns, rows) = (few("columns", 12), few("rows", 24));
                entry.params.insert("columns".to_owned(), columns);
                entry.params.insert("rows".to_owned(), rows);
            }
        }
    }
    scene
}

fn last_frame(name: &str) -> (Player, Frame) {
    let (scene, here) = (coarse(name), folder());
    let (mut player, warnings) = Player::open(&scene, &Folder::new(&here), &Run::default())
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(warnings.is_empty(), "{name}: {warnings:?}");
    let frame = player.frame(12, &Run::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
    (player, frame)
}

fn scalar<'a>(body: &'a BodyFrame, name: &str) -> &'a [f32] {
    match body.channels.get(name) {
        Some(Values::Scalar(values)) => values,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn every_figure_plays_and_shows_something() {
    let names = names();
    assert_eq!(names.len(), 11, "{names:?}");
    for name in names {
        let (player, frame) = last_frame(&name);
        assert!(frame.report.warnings.is_empty(), "{name}: {:?}", frame.report.warnings);
        for (body, cast) in frame.bodies.iter().zip(player.cast()) {
            let body_name = &cast.actor.name;
            assert!(body.topology.triangles().len() > 10, "{name}: {body_name} is empty");
            if body.channels.get("alpha").is_some() {
                let seen = scalar(body, "alpha").iter().filter(|alpha| **alpha > 0.02).count();
                assert!(4 * seen > body.positions.len(), "{name}: {body_name}: {seen} seen");
            }
        }
    }
}

#[test]
fn lines_are_drawn_where_the_figures_have_them() {
    let (_, frame) = last_frame("7-5");
    let red = |body: &BodyFrame| match body.channels.get(COLOR) {
        Some(Values::Vec4(colors)) => colors.iter().map(|c| c.y < 0.5).collect::<Vec<bool>>(),
        other => panic!("{other:?}"),
    };
    let rows = 24;
    let (streaks, times) = (red(&frame.bodies[0]), red(&frame.bodies[1]));
    assert!((0..streaks.len()).all(|i| streaks[i] == (i % rows % 8 == 0)), "rows");
    let columns: Vec<bool> = times.iter().step_by(rows).copied().collect();
    assert!(columns.iter().any(|c| *c) && !columns.iter().all(|c| *c), "{columns:?}");
    assert!((0..times.len()).all(|i| times[i] == columns[i / rows]), "columns");
}

/// What a camera far away sees of smoke: one minus what passes all its sheets, which does not depend on their order.
struct Picture {
    passes: Vec<f32>,
}

const SIZE: [usize; 2] = [192, 96];

impl Picture {
    fn new() -> Self {
        Self { passes: vec![1.0; SIZE[0] * SIZE[1]] }
    }

    /// A triangle with density, hiding terms and slant at its corners.
    fn draw(&mut self, at: [Vec2; 3], look: [[f32; 3]; 3]) {
        let area = (at[1] - at[0]).perp_dot(at[2] - at[0]);
        if area.abs() < 1e-12 {
            return;
        }
        let low = at[0].min(at[1]).min(at[2]).max(Vec2::ZERO);
        let high = at[0].max(at[1]).max(at[2]).min(Vec2::new(SIZE[0] as f32, SIZE[1] as f32));
        for y in low.y as usize..high.y.ceil().max(0.0) as usize {
            for x in low.x as usize..high.x.ceil().max(0.0) as usize {
                let p = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                let share = [
                    (at[1] - p).perp_dot(at[2] - p) / area,
                    (at[2] - p).perp_dot(at[0] - p) / area,
                    (at[0] - p).perp_dot(at[1] - p) / area,
                ];
                if share.iter().all(|s| *s >= 0.0) {
                    let of = |c: usize| (0..3).map(|i| share[i] * look[i][c]).sum::<f32>();
                    let slant = of(2).abs().max(0.03);
                    let cover = (1.0 - (1.0 - of(0)).max(1e-4).powf(1.0 / slant)) * of(1);
                    self.passes[y * SIZE[0] + x] *= 1.0 - cover;
                }
            }
        }
    }

    /// Each pixel without the mean around it: the veils, folds and lines that an eye follows, whatever the exposure.
    fn details(&self) -> Vec<f32> {
        let seen: Vec<f32> = self.passes.iter().map(|passes| 1.0 - passes).collect();
        let around = evened(&evened(&seen));
        seen.iter().zip(&around).map(|(a, b)| a - b).collect()
    }
}

/// Means over 3 × 3 pixels; those at the rim stay.
fn evened(picture: &[f32]) -> Vec<f32> {
    let mut evened = picture.to_vec();
    for y in 1..SIZE[1] - 1 {
        for x in 1..SIZE[0] - 1 {
            let around = (0..9).map(|k| picture[(y + k / 3 - 1) * SIZE[0] + x + k % 3 - 1]);
            evened[y * SIZE[0] + x] = around.sum::<f32>() / 9.0;
        }
    }
    evened
}

/// The wake of Figure 7.8, `fine` times as fine in both directions.
fn wake(fine: usize, opacity: Opacity) -> Surface {
    let flow = Flow::Analytic(Analytic::Wake);
    let line = SeedLine { points: vec![[0.9, 0.12, 0.1], [0.9, 0.12, 3.9]], ..SeedLine::default() };
    let (columns, rows, dt) = (110 * fine, 40 * fine, 0.1 / fine as f64);
    let (seeds, start) = (vec![line], 10.0);
    let params = Params { columns, rows, dt, start, seeds, opacity, ..Params::default() };
    let run = Run::default();
    let mut smoke = Streak::new(&params, &flow, &run).expect("smoke");
    for _ in 0..columns + 7 * fine {
        smoke.step(&flow, &run).expect("a formula");
    }
    smoke.surface(&flow, 0.0, &run).expect("a formula")
}

fn picture(surface: &Surface, seam: bool) -> Vec<f32> {
    let (right, up, back) =
        (Vec3::new(0.8, 0.0, -0.6), Vec3::new(-0.18, 0.954, -0.24), Vec3::new(0.572, 0.3, 0.763));
    let shape = &surface.shape;
    let scalar = |name: &str| match shape.channels.get(name) {
        Some(Values::Scalar(values)) => values,
        other => panic!("{name}: {other:?}"),
    };
    let Some(Values::Vec3(normals)) = shape.channels.get("normal") else { panic!("normals") };
    let hiding = ["shape", "curvature", "fade"].map(scalar);
    let scale = 15.0;
    let place = |i: u32| {
        let p = shape.positions[i as usize] - Vec3::new(5.5, 0.0, 2.0);
        Vec2::new(96.0 + scale * p.dot(right), 48.0 + scale * p.dot(up))
    };
    let look = |i: u32| {
        let i = i as usize;
        let hidden = hiding.iter().map(|term| term[i]).product();
        [scalar("density")[i], hidden, normals[i].dot(back)]
    };
    let mut picture = Picture::new();
    let mut draw = |t: [u32; 3]| picture.draw(t.map(place), t.map(look));
    shape.topology.triangles().iter().for_each(|t| draw(*t));
    if seam {
        let [columns, rows] = surface.size;
        let last = ((columns - 1) * rows) as u32;
        for row in 0..rows as u32 - 1 {
            draw([last + row, last + row + 1, row]);
            draw([row, last + row + 1, row + 1]);
        }
    }
    picture.details()
}

/// Pearson's correlation.
fn correlation(a: &[f32], b: &[f32]) -> f64 {
    let mean = |a: &[f32]| a.iter().copied().map(f64::from).sum::<f64>() / a.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let [mut both, mut of_a, mut of_b] = [0.0; 3];
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (f64::from(*a) - mean_a, f64::from(*b) - mean_b);
        both += a * b;
        of_a += a * a;
        of_b += b * b;
    }
    both / (of_a * of_b).sqrt()
}

/// The ground truth has nine times the vertices and is drawn by its density alone, as in the thesis. The terms darken the
/// coarse picture, too; what they are for is what they hide: details that are not there.
#[test]
fn a_coarse_surface_with_all_terms_looks_like_its_ground_truth() {
    const ALIKE: f64 = 0.515;
    let all = Opacity { fade: 0.5, ..Opacity::default() };
    let truth = picture(&wake(3, Opacity { shape: 0.0, curvature: 0.0, ..all }), false);
    let of = |opacity: Opacity, seam: bool| correlation(&picture(&wake(1, opacity), seam), &truth);
    let with_all = of(all, false);
    assert!(with_all > ALIKE, "{with_all}");
    let without = [
        ("density", of(Opacity { fresh: 1.0, ..all }, false)),
        ("shape", of(Opacity { shape: 0.0, ..all }, false)),
        ("curvature", of(Opacity { curvature: 0.0, ..all }, false)),
        ("fade", of(Opacity { fade: 1.0, ..all }, false)),
        ("a gap at the seam", of(all, true)),
    ];
    assert!(without.iter().all(|(_, alike)| *alike < ALIKE), "{with_all}: {without:?}");
}

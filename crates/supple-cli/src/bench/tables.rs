//! Tables 2.1, 3.1 and 4.1 of the thesis, one row each, as a player plays the scenes of their figures: with everything that
//! belongs to a frame. (Table 5.1 is in [`contact`](super::contact).)

use anyhow::Context as _;
use glam::Vec3;
use supple::Run;
use supple::player::Player;
use supple::scene::{Folder, Scene, Source};
use supple::sculpt::{self, OnContact, Op, Part, modifier};

use super::{Bench, Row, median_ms};

/// What a table counts.
#[derive(Clone, Copy, PartialEq)]
enum Counted {
    /// Milliseconds from the original to the final shape (table 2.1: steps over steps a second).
    Way,
    /// Vertices of the support a second, with normals (table 3.1).
    Support,
    /// Milliseconds a step (table 4.1).
    Step,
}

/// A body of a figure, with about so many vertices, and the source's number.
struct Played {
    row: &'static str,
    scene: &'static str,
    body: usize,
    vertices: usize,
    counted: Counted,
    paper: f64,
}

macro_rules! played {
    ($row:literal, $name:literal, $body:literal, $vertices:literal, $counted:ident, $paper:expr) => {
        Played {
            row: $row,
            scene: include_str!(concat!("../../../../scenes/figures/", $name, ".toml")),
            body: $body,
            vertices: $vertices,
            counted: Counted::$counted,
            paper: $paper,
        }
    };
}

/// The tables, in their order. Of table 2.1 the better of processor and graphics card; of figure 3.4 both legs are one.
const TABLES: [Played; 14] = [
    played!("played-2.1-bust", "2-19", 0, 30_696, Way, 1e3 * 212.737 / 292.221),
    played!("played-2.1-hand", "2-19", 1, 36_619, Way, 1e3 * 186.194 / 257.886),
    played!("played-2.1-armadillo", "2-19", 2, 172_974, Way, 1e3 * 152.656 / 61.8539),
    played!("played-2.1-dragon", "2-19", 3, 437_645, Way, 1e3 * 249.196 / 27.2049),
    played!("played-3.1-box", "3-4", 0, 47_296, Support, 647_890.0),
    played!("played-3.1-dragon", "3-4", 3, 86_814, Support, 369_421.0),
    played!("played-3.1-leg", "3-4", 1, 31_014, Support, 382_889.0),
    played!("played-3.1-finger", "3-4", 2, 2725, Support, 454_167.0),
    played!("played-4.1-box", "4-3", 0, 2462, Step, 4.0),
    played!("played-4.1-bar", "4-12", 0, 9730, Step, 9.0),
    played!("played-4.1-squirrel", "4-5", 0, 9995, Step, 9.0),
    played!("played-4.1-horse", "4-8", 0, 19_851, Step, 22.0),
    played!("played-4.1-cylinder", "4-13", 0, 21_302, Step, 20.0),
    played!("played-4.1-hand", "4-6", 0, 53_054, Step, 55.0),
];

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    for played in TABLES.iter().filter(|played| bench.wants(played.row)) {
        row(bench, played)?;
    }
    Ok(())
}

/// The scene with that body alone, as fine as the table has it.
fn alone(played: &Played) -> anyhow::Result<Scene> {
    let mut scene = Scene::parse(played.scene, None)?;
    let mut asset = scene.assets.swap_remove(played.body);
    if let Source::Zoo { triangles, .. } = &mut asset.source {
        *triangles = Some(u32::try_from(2 * played.vertices)?);
    }
    scene.assets = vec![asset];
    Ok(scene)
}

/// Frames at the end of the motion: nothing of one is left for the next.
fn row(bench: &Bench<'_>, played: &Played) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let scene = alone(played)?;
    let here = std::env::temp_dir();
    let (mut player, _) = Player::open(&scene, &Folder::new(&here), &run)?;
    let rest = player.frame(0, &run)?.bodies.swap_remove(0).positions;
    let triangles = player.cast()[0].rest.meshes[0].triangles.clone();
    let mut is_last = false;
    let ms = median_ms(bench.shell, || {
        is_last = !is_last;
        let secs = scene.time.end - if is_last { 0.0 } else { 1e-3 };
        Ok(player.at(secs, &run)?)
    })?;
    let edit = &scene.assets[0].world[0];
    let ops = edit.read::<modifier::Params>().map_err(|p| anyhow::anyhow!("{p:?}"))?.ops;
    let (value, unit, better, what) = match played.counted {
        Counted::Way => (ms, "ms", "lower", "the whole way".to_owned()),
        Counted::Support => {
            let support = support(&ops, &rest, &triangles, &run)?;
            (1e3 * support as f64 / ms, "1/s", "higher", format!("{support} support vertices"))
        }
        Counted::Step => {
            let steps = steps(&ops, &rest, &triangles, &run)?;
            (ms / steps as f64, "ms", "lower", format!("{steps} steps"))
        }
    };
    bench.print(&Row {
        bench: "sculpt",
        row: played.row,
        value,
        unit,
        better,
        paper: Some(played.paper),
        // The source's set-up is not in its table 3.1: that many a second are no aim here.
        target: (played.counted != Counted::Support).then_some(played.paper),
        threads: bench.shell.threads(),
        note: format!(
            "{} vertices, {what} in a frame of {ms:.1} ms with set-up, contact, normals and volume",
            rest.len()
        ),
    })
}

/// How many vertices lie between the boundaries.
fn support(
    ops: &[Op],
    rest: &[Vec3],
    triangles: &[[u32; 3]],
    run: &Run<'_>,
) -> anyhow::Result<usize> {
    let boundary = ops.iter().find_map(|op| match op {
        Op::Boundary(boundary) => Some(boundary),
        _ => None,
    });
    let map = boundary.context("the figure has a boundary")?.prepare(rest, triangles, run)?;
    Ok(map.parts().iter().filter(|part| **part == Part::Lower).count())
}

/// How many steps all of the edits take.
fn steps(ops: &[Op], rest: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> anyhow::Result<u64> {
    let params = sculpt::Params { on_contact: OnContact::Ignore, ..sculpt::Params::default() };
    let mut moved = rest.to_vec();
    Ok(sculpt::apply(&mut moved, triangles, ops, &params, run)?.report.steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_body_of_its_figure_with_its_edit() {
        for played in &TABLES {
            let scene = alone(played).expect("a scene of ours");
            let edit = scene.assets[0].world[0].read::<modifier::Params>().expect("edits");
            let fits = |op: &Op| match played.counted {
                Counted::Way => matches!(op, Op::Move(_)),
                Counted::Support => matches!(op, Op::Boundary(_)),
                Counted::Step => matches!(op, Op::Curve(_)),
            };
            assert!(edit.ops.iter().all(fits), "{}: {:?}", played.row, edit.ops);
        }
    }
}

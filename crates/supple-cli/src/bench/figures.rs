//! Rows of `sculpt` from the figures themselves: the volumes of tables 2.2 and 4.1 after their figures' motions, as a player
//! plays the scenes, and the boundaries of table 3.1 on the four shapes of figure 3.4.

use anyhow::Context as _;
use glam::Vec3;
use supple::modifier::Tracks;
use supple::modifier::read::{self, Reader};
use supple::pathline::{self, Method};
use supple::player::Player;
use supple::scene::{Folder, Scene};
use supple::sculpt::{Op, Part};
use supple::zoo;

use super::{Bench, Row, median_ms};

/// A figure, which of its bodies, and the source's volume error.
struct Volume {
    row: &'static str,
    scene: &'static str,
    body: usize,
    paper: f64,
}

macro_rules! figure {
    ($row:literal, $name:literal, $body:literal, $paper:literal) => {
        Volume {
            row: $row,
            scene: include_str!(concat!("../../../../scenes/figures/", $name, ".toml")),
            body: $body,
            paper: $paper,
        }
    };
}

/// Tables 2.2 and 4.1, in their order.
const VOLUMES: [Volume; 14] = [
    figure!("volume-2.2-sphere", "2-7", 0, 1.060e-3),
    figure!("volume-2.2-box-twisted", "2-14", 1, 7.81e-4),
    figure!("volume-2.2-box-bent", "2-15", 1, 7.51e-4),
    figure!("volume-2.2-fan", "2-11", 0, 7e-6),
    figure!("volume-2.2-armadillo", "2-16", 0, 1.344e-3),
    figure!("volume-2.2-dragon", "2-19", 3, 1.520e-3),
    figure!("volume-2.2-spider", "2-17-snail", 0, 1.875e-3),
    figure!("volume-2.2-monster", "2-17-imp", 0, 7.0e-5),
    figure!("volume-4.1-box", "4-3", 0, 1.8e-2),
    figure!("volume-4.1-bar", "4-12", 0, 4e-3),
    figure!("volume-4.1-squirrel", "4-5", 0, 8e-4),
    figure!("volume-4.1-horse", "4-8", 0, 7e-3),
    figure!("volume-4.1-cylinder", "4-13", 0, 1.6e-2),
    figure!("volume-4.1-hand", "4-6", 0, 1e-4),
];

/// A row of table 3.1: a body of figure 3.4, where it stands there, and the source's support vertices a second (integration).
struct Boundaries {
    row: &'static str,
    shape: &'static str,
    vertices: usize,
    /// Which of the scene's edits.
    edit: usize,
    translate: Vec3,
    scale: f32,
    paper: f64,
}

const BOUNDARIES: [Boundaries; 4] = [
    Boundaries {
        row: "boundary-box",
        shape: "bar",
        vertices: 47_296,
        edit: 0,
        translate: Vec3::ZERO,
        scale: 1.0,
        paper: 788_267.0,
    },
    Boundaries {
        row: "boundary-dragon",
        shape: "dragon",
        vertices: 86_814,
        edit: 3,
        translate: Vec3::new(8.6, -2.5, 0.0),
        scale: 1.6,
        paper: 413_400.0,
    },
    Boundaries {
        row: "boundary-leg",
        shape: "boxer",
        vertices: 31_014,
        edit: 1,
        translate: Vec3::new(4.5, -2.5, 0.0),
        scale: 3.0,
        paper: 449_478.0,
    },
    Boundaries {
        row: "boundary-finger",
        shape: "hand",
        vertices: 2725,
        edit: 2,
        translate: Vec3::new(-5.4, -2.2, 0.0),
        scale: 18.0,
        paper: 454_167.0,
    },
];

/// The scene of figure 3.4.
const BENT: &str = include_str!("../../../../scenes/figures/3-4.toml");

/// How many times as many support vertices a second as the source are wanted.
const TIMES_FASTER: f64 = 2.5;

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    for volume in VOLUMES.iter().filter(|volume| bench.wants(volume.row)) {
        volume_of(bench, volume)?;
    }
    for boundaries in BOUNDARIES.iter().filter(|boundaries| bench.wants(boundaries.row)) {
        support(bench, boundaries)?;
    }
    super::tables::run(bench)
}

/// Plays a figure to its end.
fn volume_of(bench: &Bench<'_>, volume: &Volume) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let scene = Scene::parse(volume.scene, None)?;
    let here = std::env::temp_dir();
    let (mut player, _) = Player::open(&scene, &Folder::new(&here), &run)?;
    let frame = player.frame(player.frames() - 1, &run)?;
    let error = frame.report.volume_errors.get(volume.body).copied().flatten();
    let value = error.context("the body has a volume")?.abs();
    let triangles = player.cast()[volume.body].rest.meshes[0].triangles.len();
    let has = |key: &str| {
        let mut edits = scene.assets[volume.body].modifiers();
        edits.any(|(_, m)| m.params.get(key).and_then(toml::Value::as_bool) == Some(true))
    };
    let how = match (has("exact_volume"), has("remesh")) {
        (true, _) => ", exact_volume",
        (_, true) => ", remesh",
        _ => "",
    };
    bench.print(&Row {
        bench: "sculpt",
        row: volume.row,
        value,
        unit: "",
        better: "lower",
        paper: Some(volume.paper),
        target: Some(volume.paper),
        threads: bench.shell.threads(),
        note: format!("{triangles} triangles, played to the end{how}"),
    })
}

/// The edits of the scene of figure 3.4, in their order: one a body.
fn edits() -> anyhow::Result<Vec<Op>> {
    let schema = read::schema::<Op>();
    let none = Tracks::new();
    let read = |op: &toml::Value| -> anyhow::Result<Op> {
        let text = toml::to_string(op)?;
        let reader = Reader { text: &text, fps: 24.0, tracks: &none, formats: None };
        let op = reader.parse().and_then(|root| reader.read("", &root, &schema));
        op.map_err(|problem| anyhow::anyhow!("{} ({})", problem.what, problem.fix))
    };
    let scene: toml::Value = toml::from_str(BENT)?;
    let bodies = scene.get("asset").and_then(toml::Value::as_array).context("bodies")?;
    let op = |body: &toml::Value| body.get("world")?.get(0)?.get("op")?.get(0).cloned();
    bodies.iter().filter_map(op).map(|op| read(&op)).collect()
}

/// Support vertices a second, integration alone: the normals are those of the whole shape, of which the support is a part.
fn support(bench: &Bench<'_>, row: &Boundaries) -> anyhow::Result<()> {
    let run = bench.shell.quiet_run();
    let size = zoo::Size { triangles: Some(2 * row.vertices) };
    let mut mesh = zoo::build(row.shape, &size, &run)?.meshes.swap_remove(0);
    mesh.positions.iter_mut().for_each(|p| *p = row.scale * *p + row.translate);
    let Some(Op::Boundary(op)) = edits()?.into_iter().nth(row.edit) else {
        anyhow::bail!("figure 3.4 has no boundary {}", row.edit + 1);
    };
    let map = op.prepare(&mesh.positions, &mesh.triangles, &run)?;
    let support = map.parts().iter().filter(|part| **part == Part::Lower).count();
    let params = pathline::Params { method: Method::Adaptive { tolerance_rel_bbox: 1e-4 } };
    let mut positions = mesh.positions.clone();
    let mut steps = 0;
    let ms = median_ms(bench.shell, || {
        positions.copy_from_slice(&mesh.positions);
        steps = map.apply(&mut positions, &params, &run)?.steps;
        Ok(())
    })?;
    let points = op.inner.len() + op.outer.len();
    bench.print(&Row {
        bench: "sculpt",
        row: row.row,
        value: support as f64 / ms * 1e3,
        unit: "1/s",
        better: "higher",
        paper: Some(row.paper),
        target: Some(TIMES_FASTER * row.paper),
        threads: bench.shell.threads(),
        note: format!(
            "kernel: {support} support vertices of {} ({}), {points} boundary points, up to {steps} steps",
            positions.len(),
            row.shape
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_boundary_of_figure_3_4_is_read() {
        let edits = edits().expect("the scene's edits");
        for row in &BOUNDARIES {
            assert!(matches!(edits.get(row.edit), Some(Op::Boundary(_))), "{}", row.row);
        }
    }
}

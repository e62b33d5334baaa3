//! Rows of the renderer: a picture once everything is warm, in draft while a camera goes round a body that stands still,
//! the same while the body moves, and as it goes to a file.

use glam::{Quat, Vec3};
use supple::{TriMesh, zoo};
use supple_gpu::view::{Body, View};
use supple_gpu::{Quality, Renderer};

use super::{Bench, Row, median_ms};

/// Triangles of the body, and pixels of a picture.
const TRIANGLES: usize = 20_000;
const SIZE: [u32; 2] = [900, 600];

/// A quality with what moves.
struct Case {
    row: &'static str,
    quality: Quality,
    body_moves: bool,
    target: Option<f64>,
}

const CASES: [Case; 3] = [
    Case { row: "draft-20k", quality: Quality::DRAFT, body_moves: false, target: Some(25.0) },
    Case { row: "draft-moving-20k", quality: Quality::DRAFT, body_moves: true, target: None },
    Case { row: "still-20k", quality: Quality::STILL, body_moves: false, target: None },
];

pub(crate) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    for case in CASES.iter().filter(|case| bench.wants(case.row)) {
        picture(bench, case)?;
    }
    Ok(())
}

fn picture(bench: &Bench<'_>, case: &Case) -> anyhow::Result<()> {
    let size = zoo::Size { triangles: Some(TRIANGLES) };
    let boxer = zoo::build("boxer", &size, &bench.shell.quiet_run())?;
    let mesh = boxer.into_rest_mesh(&bench.shell.quiet_run())?;
    let mut renderer = Renderer::with(case.quality)?;
    let mut number = 0;
    // Shaders compile when they first draw.
    for _ in 0..3 {
        take(&mut renderer, &mesh, case, &mut number)?;
    }
    let ms = median_ms(bench.shell, || take(&mut renderer, &mesh, case, &mut number))?;
    let software = if renderer.is_software() { "software" } else { "GPU" };
    bench.print(&Row {
        bench: "render",
        row: case.row,
        value: ms,
        unit: "ms",
        better: "lower",
        paper: None,
        target: case.target,
        threads: bench.shell.threads(),
        note: format!(
            "{} triangles, {} × {}, {}, prepared, drawn and read back; {software}: {}",
            mesh.triangles.len(),
            SIZE[0],
            SIZE[1],
            if case.body_moves { "body and camera move" } else { "camera moves" },
            renderer.adapter()
        ),
    })
}

/// The next picture on a way round the body.
fn take(
    renderer: &mut Renderer,
    mesh: &TriMesh,
    case: &Case,
    number: &mut u32,
) -> anyhow::Result<()> {
    *number += 1;
    let turn = Quat::from_rotation_y(0.05 * *number as f32);
    let wave = 1.0 + 0.02 * (0.3 * *number as f32).sin();
    let moved: Vec<Vec3> = mesh.positions.iter().map(|p| *p * Vec3::new(1.0, wave, 1.0)).collect();
    let positions = case.body_moves.then_some(&moved[..]);
    let mut view = View::of(vec![Body { positions, ..Body::new(mesh) }], SIZE);
    view.camera.eye = view.camera.target + turn * (view.camera.eye - view.camera.target);
    std::hint::black_box(renderer.render(&view)?);
    Ok(())
}

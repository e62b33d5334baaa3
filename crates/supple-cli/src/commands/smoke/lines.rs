//! Streak lines, time lines and grids as lines of constant width in pixels.

use glam::Vec3;
use supple::mesh::Values;
use supple::player::BodyFrame;
use supple::smoke::style::Style;
use supple::smoke::{ALPHA, SmokeParams};
use supple_gpu::overlay::Overlay;

/// Vertices of a line that have one opacity.
const PIECE: usize = 6;

/// Lines thinner than this are not drawn.
const FAINTEST: f32 = 0.01;

/// The lines of a style over a body of a frame, each as dense as the smoke it lies on.
pub(super) fn draw(body: &BodyFrame, params: &SmokeParams, width_px: f32, out: &mut Vec<Overlay>) {
    let rows = params.rows as usize * (1 + params.parts.len());
    let columns = body.positions.len() / rows.max(1);
    let every = params.every.max(2) as usize;
    let (Some(Values::Scalar(alpha)), Some(Values::Scalar(born))) =
        (body.channels.get(ALPHA), body.channels.get("born"))
    else {
        return;
    };
    let is_last = |i: usize, n: usize| params.style == Style::Surface && i + 1 == n;
    let along_rows = matches!(params.style, Style::Streaks | Style::Surface);
    let along_columns = matches!(params.style, Style::Times | Style::Surface);
    // Time lines stay on their columns: they are counted from when they were born.
    let step = (columns > 1).then(|| (born[rows] - born[0]).abs()).filter(|step| *step > 0.0);
    let number = |column: usize| match step {
        Some(step) => (born[column * rows] / step).round().abs() as usize,
        None => column,
    };
    let mut line = |indices: Vec<usize>| pieces(&indices, body, alpha, params, width_px, out);
    if along_rows {
        for row in (0..rows).filter(|row| row.is_multiple_of(every) || is_last(*row, rows)) {
            line((0..columns).map(|column| column * rows + row).collect());
        }
    }
    if along_columns {
        let is_line = |c: &usize| number(*c).is_multiple_of(every) || is_last(*c, columns);
        for column in (0..columns).filter(is_line) {
            line((column * rows..(column + 1) * rows).collect());
        }
    }
}

fn pieces(
    indices: &[usize],
    body: &BodyFrame,
    alpha: &[f32],
    params: &SmokeParams,
    width_px: f32,
    out: &mut Vec<Overlay>,
) {
    let [r, g, b] = params.line_color.map(|c| (255.0 * c.clamp(0.0, 1.0).powf(1.0 / 2.2)) as u8);
    for start in (0..indices.len()).step_by(PIECE) {
        // The next piece begins where this one ends.
        let piece = &indices[start..(start + PIECE + 1).min(indices.len())];
        let thin = piece.iter().map(|&i| alpha[i]).fold(f32::INFINITY, f32::min);
        if piece.len() < 2 || thin < FAINTEST {
            continue;
        }
        let cover = (255.0 * (thin / params.opacity.max(0.05)).sqrt()).min(255.0) as u8;
        let points: Vec<Vec3> = piece.iter().map(|&i| body.positions[i]).collect();
        out.push(Overlay::Curve { points, closed: false, color: [r, g, b, cover], width_px });
    }
}

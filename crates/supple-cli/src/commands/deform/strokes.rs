//! Strokes that a log remembers: made, taken back, made again, made on another shape.

use std::path::Path;

use anyhow::Context as _;
use glam::Vec3;
use supple::Run;
use supple::io;
use supple::mesh::volume::volume;
use supple::sculpt::{Log, Op, Outcome, Params, Report, Undone};

use super::Args;

/// Does to a shape what the command says of a log, and writes the log.
pub(super) fn run(
    args: &Args,
    ops: Vec<Op>,
    positions: &mut [Vec3],
    triangles: &[[u32; 3]],
    params: &Params,
    run: &Run<'_>,
) -> anyhow::Result<(Report, Option<Undone>)> {
    let rest = positions.to_vec();
    let (mut done, mut undone): (Vec<Outcome>, _) = (Vec::new(), None);
    if let Some(path) = &args.replay {
        done = read(path)?.replay(positions, triangles, run)?;
    }
    if let Some(path) = &args.log {
        let is_new = args.undo.is_none() && args.redo.is_none() && !path.exists();
        let mut log = if is_new { Log::new(positions.len()) } else { read(path)? };
        if let Some(count) = args.undo {
            undone = Some(log.undo(count, positions, run)?);
        }
        if let Some(count) = args.redo {
            done = log.redo(count, positions, triangles, run)?;
        }
        for op in ops {
            done.push(log.make(op, positions, triangles, params, run)?);
        }
        let text = serde_json::to_vec(&log)?;
        io::save(path, |file| std::io::Write::write_all(file, &text))
            .with_context(|| path.display().to_string())?;
    }
    Ok((report(&rest, positions, triangles, &done, run), undone))
}

fn read(path: &Path) -> anyhow::Result<Log> {
    let text = io::inputs::read(path).with_context(|| path.display().to_string())?;
    serde_json::from_slice(&text)
        .with_context(|| format!("{} is no log of strokes", path.display()))
}

/// What all strokes did together.
fn report(
    rest: &[Vec3],
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    done: &[Outcome],
    run: &Run<'_>,
) -> Report {
    let pairs = || rest.iter().zip(positions);
    let of_all = done.iter().map(|outcome| &outcome.report);
    Report {
        steps: of_all.clone().map(|report| report.steps).sum(),
        moved: pairs().filter(|(a, b)| a != b).count(),
        max_displacement: pairs().map(|(a, b)| a.distance(*b)).fold(0.0, f32::max),
        volume_before: volume(rest, triangles, run),
        volume_after: volume(positions, triangles, run),
        contacts: of_all.clone().flat_map(|report| report.contacts.clone()).collect(),
        warnings: of_all.flat_map(|report| report.warnings.clone()).collect(),
    }
}

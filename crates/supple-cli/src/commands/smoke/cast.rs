//! A flow and the surfaces in it, with what nobody asked for chosen.

use std::path::PathBuf;

use anyhow::Context as _;
use glam::{DVec3, Vec3};
use supple::flow::Flow;
use supple::flow::analytic::{self, Analytic};
use supple::flow::recorded;
use supple::flow::recording::{Options, Recording};
use supple::mesh::measure::Bounds;
use supple::smoke::{Params, SeedLine, Streak, choose, tufts};
use supple::{Run, TriMesh};

use super::picture::cylinder;
use super::{Args, Shown};
use crate::commands::{read, rest_mesh};
use crate::shell::Shell;

/// Frames of a record played with nothing said about time, at most.
const MOST_FRAMES: f64 = 600.0;

/// And at least.
const LEAST_FRAMES: f64 = 40.0;

/// Ribbons that stand on a lifted seed line, and their rows.
const RIBBONS: usize = 12;
const RIBBON_ROWS: usize = 12;

/// Columns and rows of a tuft, and how many there are.
const TUFT: [usize; 2] = [24, 3];
const TUFTS: usize = 180;

/// A flow and the surfaces in it, before their first step.
pub(super) struct Cast {
    flow: Flow,
    streaks: Vec<Streak>,
    colors: Vec<[f32; 3]>,
    chosen: Vec<String>,
    /// Mean direction of the flow at the seeds, and of the first seed line.
    axes: [Vec3; 2],
    /// True if it lies in a plane, to be seen from above.
    is_flat: bool,
    /// Frames until the record ends, or until the surface is complete.
    frames: u32,
    /// What a formula has in its way.
    obstacle: Option<TriMesh>,
}

/// A flow that was opened.
struct Opened {
    flow: Flow,
    formula: Option<Analytic>,
    is_flat: bool,
}

impl Cast {
    pub(super) fn new(args: &Args, shell: &Shell) -> anyhow::Result<Self> {
        let run = shell.quiet_run();
        let mut chosen = Vec::new();
        let Opened { flow, formula, is_flat } = open(args, shell)?;
        let mut lines: Vec<Vec<[f64; 3]>> = args.seed.iter().map(|line| line.0.clone()).collect();
        let obstacle = obstacle_of(args, formula, shell)?;
        if args.style == Shown::Tufts {
            lines = tufts(obstacle.as_ref(), &flow, &run)?;
        }
        if lines.is_empty() {
            let ends = match formula {
                Some(formula) => formula.seed().0,
                None => choose::seed(&flow, &run)?.seed,
            };
            chosen.push(format!("--seed {}", ends.map(comma).join(":")));
            lines.push(ends.to_vec());
        }
        let [first, last] = flow.span().unwrap_or([0.0; 2]);
        let start = args.start.unwrap_or(if args.backward { last } else { first });
        let mean = mean_velocity(&flow, &lines[0], start, &run)?;
        let dt = match args.dt {
            Some(dt) => dt,
            None if args.style == Shown::Tufts => tuft_step(obstacle.as_ref(), &flow, &run)?,
            None => step_of(&flow, &lines[0], args.rows, mean)?,
        };
        if args.dt.is_none() {
            chosen.push(format!("--dt {dt}"));
        }
        let frames = frames_of(&flow, args.columns, start, dt, args.backward);
        let axes = axes_of(&lines[0], mean);
        let (mut rows, mut columns) = (args.rows, args.columns);
        if args.style == Shown::Tufts {
            (rows, columns) = (TUFT[1], columns.min(TUFT[0]));
        }
        if let Some(height) = args.lift {
            lines = lines.iter().flat_map(|line| lifted(line, height)).collect();
            rows = rows.min(RIBBON_ROWS);
        }
        let dt = if args.backward { -dt } else { dt };
        let streak = |points: &Vec<[f64; 3]>| {
            let seeds = vec![SeedLine { points: points.clone(), ..SeedLine::default() }];
            let opacity = args.look.terms();
            Streak::new(&Params { columns, rows, dt, start, seeds, opacity }, &flow, &run)
        };
        let streaks = lines.iter().map(streak).collect::<Result<Vec<_>, _>>()?;
        warn_of_flow_along(&streaks, shell);
        let colors = (0..lines.len()).map(|i| color_of(args, i)).collect();
        let is_flat = is_flat && args.lift.is_none();
        Ok(Self { flow, streaks, colors, chosen, axes, is_flat, frames, obstacle })
    }

    pub(super) fn flow(&self) -> &Flow {
        &self.flow
    }

    pub(super) fn streaks(&self) -> &[Streak] {
        &self.streaks
    }

    pub(super) fn colors(&self) -> &[[f32; 3]] {
        &self.colors
    }

    /// What was chosen, as the flags that change it.
    pub(super) fn chosen(&self) -> &[String] {
        &self.chosen
    }

    /// Directions of the stream and of the seed line.
    pub(super) fn axes(&self) -> [Vec3; 2] {
        self.axes
    }

    /// True if it lies in a plane, to be seen from above.
    pub(super) fn is_flat(&self) -> bool {
        self.is_flat
    }

    /// Frames until the record ends, or until the surface is complete.
    pub(super) fn frames(&self) -> u32 {
        self.frames
    }

    /// What a formula has in its way.
    pub(super) fn obstacle(&self) -> Option<&TriMesh> {
        self.obstacle.as_ref()
    }
}

fn open(args: &Args, shell: &Shell) -> anyhow::Result<Opened> {
    if let [name] = &args.flow[..]
        && let Some(formula) = Analytic::named(name)
    {
        return Ok(Opened {
            flow: Flow::Analytic(formula),
            formula: Some(formula),
            is_flat: false,
        });
    }
    let paths: Vec<PathBuf> = args.flow.iter().map(PathBuf::from).collect();
    let options = Options {
        velocity: args.velocity.clone(),
        times: args.times,
        coordinates: args.coordinates.map(Into::into),
        periodic: args.periodic,
        allow_outside: shell.options().allow_outside,
        ..Options::default()
    };
    let recording = Recording::open(&paths, &options).map_err(|error| {
        let known = analytic::ALL.map(|known| known.0).join(", ");
        anyhow::Error::from(error).context(format!("no flow: neither a file nor one of {known}"))
    })?;
    shell.warn("flow", recording.assumed());
    let is_flat = recorded::is_flat(recording.grid());
    let flow = recorded::flow(recording, args.looped)?;
    Ok(Opened { flow, formula: None, is_flat })
}

/// What stands in the flow: a mesh that was named, or what a formula has.
fn obstacle_of(
    args: &Args,
    formula: Option<Analytic>,
    shell: &Shell,
) -> anyhow::Result<Option<TriMesh>> {
    match &args.look.obstacle {
        Some(path) => Ok(Some(rest_mesh(path, read(path, shell)?, shell)?)),
        None => Ok((formula == Some(Analytic::Wake)).then(|| cylinder(0.5, [0.0, 4.0]))),
    }
}

/// Seed lines all over an obstacle.
fn tufts(
    obstacle: Option<&TriMesh>,
    flow: &Flow,
    run: &Run<'_>,
) -> anyhow::Result<Vec<Vec<[f64; 3]>>> {
    let mesh = obstacle.context("tufts need something to sit on: name a mesh with --obstacle")?;
    let bounds = Bounds::of(&mesh.positions).context("the obstacle has no vertices")?;
    let size = f64::from(bounds.diagonal());
    let time = flow.span().map_or(0.0, |[first, last]| 0.5 * (first + last));
    let params = tufts::Params { count: TUFTS, off: 0.03 * size, width: 0.01 * size, time };
    let lines = tufts::seeds(mesh, flow, &params, run)?;
    anyhow::ensure!(
        !lines.is_empty(),
        "nothing moves around the obstacle: is it in the flow's units?"
    );
    Ok(lines.into_iter().map(|line| line.to_vec()).collect())
}

/// Tufts are about a seventh as long as what they sit on.
fn tuft_step(obstacle: Option<&TriMesh>, flow: &Flow, run: &Run<'_>) -> anyhow::Result<f64> {
    let bounds = obstacle.and_then(|mesh| Bounds::of(&mesh.positions));
    let size = bounds.map_or(1.0, |bounds| f64::from(bounds.diagonal()));
    Ok(0.15 * size / TUFT[0] as f64 / choose::seed(flow, run)?.speed)
}

fn warn_of_flow_along(streaks: &[Streak], shell: &Shell) {
    let along = streaks.iter().map(Streak::along).fold(0.0, f64::max);
    if along > 0.5 {
        let what = format!(
            "the flow runs along {:.0} % of a seed line: no sheet comes from there; turn the line across the flow",
            100.0 * along
        );
        shell.warn("smoke", &[what]);
    }
}

fn axes_of(line: &[[f64; 3]], mean: DVec3) -> [Vec3; 2] {
    let ends = [line[0], line[line.len() - 1]].map(DVec3::from);
    [mean, ends[1] - ends[0]].map(|v| v.as_vec3().normalize_or_zero())
}

/// Upright lines on a seed line, each the seed of a ribbon.
fn lifted(line: &[[f64; 3]], height: f64) -> Vec<Vec<[f64; 3]>> {
    let places = supple::smoke::resample(line, false, RIBBONS).unwrap_or_default();
    places.into_iter().map(|[x, y, z]| vec![[x, y, z], [x, y, z + height]]).collect()
}

fn color_of(args: &Args, i: usize) -> [f32; 3] {
    const WHITE: [f32; 3] = [0.95, 0.95, 0.95];
    const WOOL: [f32; 3] = [0.80, 0.34, 0.08];
    let seeds = args.seed.len().max(1);
    // Ribbons of one seed line have its colour.
    let i = if args.lift.is_some() { i / RIBBONS.max(1) } else { i };
    let default = if args.style == Shown::Tufts { WOOL } else { WHITE };
    args.color.get(i.min(seeds - 1)).copied().unwrap_or(default)
}

fn comma(point: [f64; 3]) -> String {
    point.map(|c| c.to_string()).join(",")
}

/// Over a line.
fn mean_velocity(flow: &Flow, line: &[[f64; 3]], t: f64, run: &Run<'_>) -> anyhow::Result<DVec3> {
    const PLACES: u32 = 16;
    let between =
        |ends: &[[f64; 3]], s: f64| [0, 1, 2].map(|c| ends[0][c] + s * (ends[1][c] - ends[0][c]));
    let places: Vec<[f64; 3]> = line
        .windows(2)
        .flat_map(|ends| (0..=PLACES).map(move |k| between(ends, f64::from(k) / f64::from(PLACES))))
        .collect();
    let velocities = flow.velocities(&places, t, run)?;
    let inside = || velocities.iter().filter(|v| v[3] > 0.5);
    let sum = inside().map(|v| DVec3::new(v[0], v[1], v[2])).sum::<DVec3>();
    Ok(sum / inside().count().max(1) as f64)
}

/// The step in which the flow crosses a cell as long as it is wide; of a record, one that divides the time between
/// levels and plays it in not too many frames.
fn step_of(flow: &Flow, line: &[[f64; 3]], rows: usize, mean: DVec3) -> anyhow::Result<f64> {
    let length: f64 =
        line.windows(2).map(|ends| DVec3::from(ends[0]).distance(DVec3::from(ends[1]))).sum();
    let step = length / rows.saturating_sub(1).max(1) as f64 / mean.length();
    let Flow::Recorded(recorded) = flow else {
        anyhow::ensure!(
            step > 0.0 && step.is_finite(),
            "nothing moves at the seed line; give the step with --dt, or another --seed"
        );
        let digit = 10.0_f64.powf(step.log10().floor() - 1.0);
        // Divided, so that 0.05 is written so.
        return Ok((step / digit).round() / (1.0 / digit));
    };
    let times = recorded.clock().times();
    let [first, last] = recorded.clock().span();
    if times.len() < 2 {
        anyhow::ensure!(step.is_finite(), "nothing moves at the seed line; give another --seed");
        return Ok(step);
    }
    let spacing = (last - first) / (times.len() - 1) as f64;
    let least = (last - first) / MOST_FRAMES;
    let most = (last - first) / LEAST_FRAMES;
    let step = if step.is_finite() { step.clamp(least, most) } else { spacing.min(most) };
    Ok(if step < spacing { spacing / (spacing / step).ceil() } else { step })
}

fn frames_of(flow: &Flow, columns: usize, start: f64, dt: f64, backward: bool) -> u32 {
    let complete = columns as u32 + 1;
    match flow.span() {
        Some([first, last]) if last > first => {
            let left = if backward { start - first } else { last - start };
            (((left / dt) + 1e-9).floor().clamp(1.0, 1e6) as u32) + 1
        }
        _ => complete,
    }
}

//! A flow and the surfaces in it, as a scene that is played; what nobody asked for is chosen.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use glam::{DVec3, Vec3};
use supple::dataset::{Coordinates, Grid};
use supple::flow::Flow;
use supple::flow::analytic::{self, Analytic};
use supple::flow::recorded;
use supple::flow::recording::{Recording, RecordingError, TimeUnit};
use supple::mesh::measure::Bounds;
use supple::player::{Frame, Player};
use supple::scene::{Entry, Folder, OpenFlows, Scene, Source, Time};
use supple::smoke::style::Style;
use supple::smoke::{SeedKey, SmokeParams, choose, land, walls};
use supple::{Asset, Run, TriMesh};

use super::{Args, Line};
use crate::commands::render::check_length;
use crate::commands::{read, rest_mesh};
use crate::shell::Shell;

/// Frames of a record played with nothing said about time, at most.
const MOST_FRAMES: f64 = 600.0;

/// And at least.
const LEAST_FRAMES: f64 = 40.0;

/// Degrees that a metre of depth is shown as: ten times what it is.
const DEGREES_DEEP: f64 = 9e-5;

/// Ribbons that stand on a lifted seed line, and their rows.
const RIBBONS: usize = 12;
const RIBBON_ROWS: usize = 12;

/// A record in which smoke goes less than this share of the seed line's length is too short to show that it moves.
const LEAST_WAY: f64 = 0.2;

/// Slower than this share of its fastest, a flow is taken to be at rest.
const AT_REST: f64 = 0.1;

/// Ribbons higher than this many times the length of their line hide the flow.
const HIGHEST_LIFT: f64 = 3.0;

/// Columns and rows of a tuft.
const TUFT: [usize; 2] = [24, 3];

/// Frames and releases in a second of the scene: a frame is a release.
const RATE: u32 = 24;

/// The name of the flow in the scene.
const FLOW: &str = "flow";

/// A flow and the surfaces in it.
pub(super) struct Cast {
    player: Player,
    chosen: Vec<String>,
    /// Mean direction of the flow at the seeds, and of the first seed line.
    axes: [Vec3; 2],
    /// True if it lies in a plane, to be seen from above.
    is_flat: bool,
    /// Frames until the record ends, or until the surface is complete.
    frames: u32,
    /// When the first frame is, and from one to the next.
    times: [f64; 2],
    /// First and last level of a record that is not repeated: beyond them nothing was measured.
    measured: Option<[f64; 2]>,
    unit: TimeUnit,
    /// What stands in the flow.
    obstacle: Option<TriMesh>,
    /// What lies beside it.
    land: Option<land::Land>,
    /// What a degree of longitude is to one of latitude; 1 where there are none.
    narrow: f32,
    /// What each body is made with.
    params: Vec<SmokeParams>,
    files: Vec<PathBuf>,
}

/// A flow that was opened.
struct Opened {
    flow: Flow,
    formula: Option<Analytic>,
    is_flat: bool,
    /// True if it is degrees wide and metres deep.
    on_globe: bool,
    unit: TimeUnit,
    /// Of flows that are seen from above.
    land: Option<land::Land>,
    /// True if what is not fluid can be shown: a mask on a grid, not the outside of a mesh, nor land on a globe.
    has_walls: bool,
    files: Vec<PathBuf>,
}

/// A surface that was asked for: its seed lines over time.
struct Asked {
    lines: Vec<Line>,
    color: [f32; 3],
}

impl Cast {
    pub(super) fn new(args: &Args, shell: &Shell) -> anyhow::Result<Self> {
        let run = shell.quiet_run();
        let mut chosen = Vec::new();
        let opened = open(args, shell)?;
        let Opened { flow, formula, is_flat, on_globe, unit, land, has_walls, files } = opened;
        let start = start_of(args, &flow, shell);
        let obstacle = obstacle_of(args, &flow, start, has_walls, shell)?;
        let mut asked = asked(args);
        if asked.is_empty() {
            let ends = match formula {
                Some(formula) => formula.seed().0,
                None => choose::seed(&flow, &run)?.seed,
            };
            if args.style != Style::Tufts {
                chosen.push(format!("--seed {}", ends.map(comma).join(":")));
            }
            asked.push(Asked { lines: vec![Line::of(&ends)], color: color_of(args, 0) });
        }
        let line = asked[0].lines[0].points.clone();
        if let Some(warning) = tower(args, length_of(&line)) {
            shell.warn("flow", &[warning]);
        }
        let mut mean = stream(&flow, &line, start, &run)?;
        if on_globe {
            // Metres down are no measure of degrees.
            mean.z = 0.0;
        }
        let up = scale_of(args, on_globe, &mut chosen);
        if args.style == Style::Surface {
            asked.iter_mut().try_for_each(|asked| spread(asked, mean, &mut chosen))?;
        }
        let (rows, columns) = size_of(args, &mut chosen);
        anyhow::ensure!(columns > 0, "a surface needs columns, --columns {columns} were asked for");
        check_line(args, &line)?;
        let dt = match args.dt {
            Some(dt) => dt,
            None if args.style == Style::Tufts => tuft_step(obstacle.as_ref(), &flow, &run)?,
            None => step_of(&flow, width_of(args, &line, rows), mean, args.frames.is_none())?,
        };
        let frames = frames_of(&flow, columns, start, dt, args.backward);
        let way = [mean.length(), length_of(&line)];
        let Pace { dt, frames } = go_on(args, Pace { dt, frames }, columns, way, shell);
        if args.dt.is_none() {
            chosen.push(format!("--dt {dt}"));
        }
        if args.frames.is_none() {
            chosen.push(format!("--frames 0..{frames}"));
        }
        check_length(args.frames.as_ref().map_or(frames, |f| f.end), args.yes)?;
        let dt = if args.backward { -dt } else { dt };
        let bodies: Vec<SmokeParams> =
            asked.iter().map(|asked| body(args, asked, [rows, columns], up)).collect();
        let measured = flow.span().filter(|[first, last]| first < last && !args.looped);
        let flow = Arc::new(flow);
        let scene =
            scene_of(&bodies, &files, [start, dt], args.frames.as_ref().map_or(frames, |f| f.end));
        let player = play(&scene, &flow, args, shell)?;
        let obstacle = obstacle.map(|mesh| raised(mesh, up as f32));
        let axes = axes_of(&line, mean);
        let is_level = on_globe && line.iter().all(|place| place[2] == line[0][2]);
        let is_flat = (is_flat || is_level) && args.lift.is_none();
        let land = land.map(|land| beneath(land, &line, up));
        let narrow = if on_globe { narrow_at(&line) } else { 1.0 };
        let times = [start, dt];
        let params = bodies;
        Ok(Self {
            player,
            chosen,
            axes,
            is_flat,
            frames,
            times,
            measured,
            unit,
            obstacle,
            land,
            narrow,
            params,
            files,
        })
    }

    /// The bodies of a frame.
    pub(super) fn frame(&mut self, i: u32, run: &Run<'_>) -> anyhow::Result<Frame> {
        Ok(self.player.frame(i, run)?)
    }

    pub(super) fn player(&mut self) -> &mut Player {
        &mut self.player
    }

    /// The flow's time of a frame.
    pub(super) fn time(&self, frame: u32) -> f64 {
        self.times[0] + f64::from(frame) * self.times[1]
    }

    /// That time, to be read.
    pub(super) fn when(&self, frame: u32) -> String {
        read_time(&self.unit, self.time(frame), self.times[1].abs(), self.measured)
    }

    /// Land beside the flow, and its shore.
    pub(super) fn land(&self) -> Option<&land::Land> {
        self.land.as_ref()
    }

    /// What a degree of longitude is to one of latitude; 1 where there are none.
    pub(super) fn narrow(&self) -> f32 {
        self.narrow
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

    /// What stands in the flow.
    pub(super) fn obstacle(&self) -> Option<&TriMesh> {
        self.obstacle.as_ref()
    }

    /// What each body is made with.
    pub(super) fn params(&self) -> &[SmokeParams] {
        &self.params
    }

    /// The files of the recording.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }
}

/// What stands in the flow: the file that was named, or where the flow has none.
fn obstacle_of(
    args: &Args,
    flow: &Flow,
    start: f64,
    has_walls: bool,
    shell: &Shell,
) -> anyhow::Result<Option<TriMesh>> {
    Ok(match &args.look.obstacle {
        Some(path) => Some(rest_mesh(path, read(path, shell)?, shell)?),
        None if has_walls || args.style == Style::Tufts => {
            let run = shell.quiet_run();
            Some(walls::mesh(flow, start, &run)?).filter(|mesh| !mesh.triangles.is_empty())
        }
        None => None,
    })
}

/// When smoke begins; a start that the record does not have is told.
fn start_of(args: &Args, flow: &Flow, shell: &Shell) -> f64 {
    let Some([first, last]) = flow.span() else { return args.start.unwrap_or(0.0) };
    let start = args.start.unwrap_or(if args.backward { last } else { first });
    if !args.looped && !(first..=last).contains(&start) {
        shell.warn("flow", &[format!(
            "the start, {start}, is outside the record, which lasts from {first} to {last}: its nearest level is \
             taken as it is"
        )]);
    }
    start
}

fn open(args: &Args, shell: &Shell) -> anyhow::Result<Opened> {
    if let [name] = &args.flow[..]
        && let Some(formula) = Analytic::named(name)
    {
        let (flow, files) = (Flow::Analytic(formula), Vec::new());
        let has_walls = formula == Analytic::Wake;
        let (is_flat, on_globe, land, unit) = (false, false, None, TimeUnit::default());
        let formula = Some(formula);
        return Ok(Opened { flow, formula, is_flat, on_globe, unit, land, has_walls, files });
    }
    let paths: Vec<PathBuf> = args.flow.iter().map(PathBuf::from).collect();
    let own = ["speed", "stretch", "age", "row", "born", "alpha"];
    let scalars: Vec<String> =
        args.by.iter().filter(|by| !own.contains(&by.as_str())).cloned().collect();
    let options = args.recorded.options(&scalars, shell);
    let recording = Recording::open(&paths, &options).map_err(|error| {
        let is_missing = matches!(error, RecordingError::Missing { .. });
        let error = anyhow::Error::from(error);
        if !is_missing {
            return error;
        }
        let known = analytic::ALL.map(|known| known.0).join(", ");
        error.context(format!("no flow: neither a file nor one of {known}"))
    })?;
    shell.warn("flow", recording.assumed());
    let is_grid = matches!(**recording.grid(), Grid::Uniform { .. } | Grid::Rectilinear { .. });
    let on_globe = recording.coordinates() == Coordinates::Degrees;
    let is_layer = recording.grid().dims().is_some_and(|[_, _, deep]| deep < 3);
    let land = if on_globe || is_layer { land::of(&recording)? } else { None };
    let unit = recording.time_unit().clone();
    let files =
        (0..recording.times().len()).map(|level| recording.path(level).to_owned()).collect();
    let flow = recorded::flow(recording, args.looped)?;
    let is_flat = flow.is_flat();
    let has_walls = is_grid && !is_flat && !on_globe;
    Ok(Opened { flow, formula: None, is_flat, on_globe, unit, land, has_walls, files })
}

/// The surfaces of the command line: lines with a time belong to the one before.
fn asked(args: &Args) -> Vec<Asked> {
    let mut all: Vec<Asked> = Vec::new();
    for line in &args.seed {
        let goes_on = |asked: &Asked| asked.lines.iter().all(|line| line.at.is_some());
        match all.last_mut() {
            Some(last) if line.at.is_some() && goes_on(last) => last.lines.push(line.clone()),
            _ => {
                let color = color_of(args, all.len());
                all.push(Asked { lines: vec![line.clone()], color });
            }
        }
    }
    all
}

/// A time surface from a line alone: as long down the stream as it is wide.
fn spread(asked: &mut Asked, mean: DVec3, chosen: &mut Vec<String>) -> anyhow::Result<()> {
    let line = &mut asked.lines[0];
    if let [a, b] = line.points[..] {
        let [p, q] = [a, b].map(DVec3::from);
        let along = mean.try_normalize().context(
            "nothing moves at the seed line: give the four corners of the surface with --seed",
        )?;
        let way = along * p.distance(q);
        line.points.extend([q + way, p + way].map(|c| c.to_array()));
        let corners: Vec<String> = line.points.iter().map(|p| comma(*p)).collect();
        chosen.push(format!("--seed {}", corners.join(":")));
    }
    Ok(())
}

/// Rows and columns of a body.
fn size_of(args: &Args, chosen: &mut Vec<String>) -> (usize, usize) {
    let (rows, columns) = match args.style {
        Style::Tufts => (TUFT[1], TUFT[0]),
        _ if args.lift.is_some() => (RIBBON_ROWS, 200),
        // Seen as a grid, a time surface is as fine both ways.
        Style::Surface => (81, 81),
        _ => (60, 200),
    };
    if args.columns.is_none() {
        chosen.push(format!("--columns {columns}"));
    }
    if args.rows.is_none() {
        chosen.push(format!("--rows {rows}"));
    }
    (args.rows.unwrap_or(rows), args.columns.unwrap_or(columns))
}

/// One surface as a modifier of the scene.
fn body(args: &Args, asked: &Asked, [rows, columns]: [usize; 2], up: f64) -> SmokeParams {
    let look = &args.look;
    let first = &asked.lines[0];
    let keys = match &asked.lines[..] {
        [_] => Vec::new(),
        lines => lines
            .iter()
            .map(|line| SeedKey { at: line.at.unwrap_or(0.0), seed: line.points.clone() })
            .collect(),
    };
    let mut params = SmokeParams {
        flow: FLOW.to_owned(),
        style: args.style,
        columns: columns as u32,
        rows: rows as u32,
        releases_per_second: RATE,
        seed: first.points.clone(),
        keys,
        every: args.every as u32,
        inject: args.inject.unwrap_or(0.0),
        tufts: args.tufts,
        channels: args.by.iter().filter(|by| is_channel(by)).cloned().collect(),
        vertical_scale: up,
        color: asked.color,
        opacity: look.opacity,
        shape: look.shape,
        curvature: look.curvature,
        fade: look.fade,
        linear: look.linear,
        ..SmokeParams::default()
    };
    if let Some(height) = args.lift {
        let mut ribbons = lifted(&first.points, height);
        params.seed = ribbons.remove(0);
        params.parts = ribbons;
    }
    if args.style == Style::Tufts {
        params.obstacle =
            look.obstacle.as_ref().map(|path| Source::File { file: path.display().to_string() });
    }
    params
}

/// True for what a surface has only if it is asked for.
fn is_channel(by: &str) -> bool {
    !["age", "row", "born", "alpha"].contains(&by)
}

/// The scene that is played: a frame is a release.
fn scene_of(
    bodies: &[SmokeParams],
    files: &[PathBuf],
    [start, dt]: [f64; 2],
    frames: u32,
) -> Scene {
    let mut scene = Scene::of("smoke", Source::Empty { empty: true });
    let seconds = f64::from(frames.max(1) - 1) / f64::from(RATE);
    scene.time = Time { start: 0.0, end: seconds, fps: f64::from(RATE) };
    let file = files.first().map_or_else(String::new, |file| file.display().to_string());
    let entry = supple::scene::FlowEntry {
        start,
        speed: dt * f64::from(RATE),
        ..supple::scene::FlowEntry::of(Source::File { file })
    };
    scene.flows.insert(FLOW.to_owned(), entry);
    let actor = scene.assets[0].clone();
    scene.assets = (1..)
        .zip(bodies)
        .map(|(number, params)| {
            let mut actor = actor.clone();
            actor.name = format!("smoke {number}");
            actor.world = vec![Entry::of("smoke", params)];
            actor
        })
        .collect();
    scene
}

fn play(scene: &Scene, flow: &Arc<Flow>, args: &Args, shell: &Shell) -> anyhow::Result<Player> {
    let flows: OpenFlows = [(FLOW.to_owned(), Arc::clone(flow))].into();
    let folder = Folder::new(Path::new(".")).with_flows(&flows);
    let mut load = |source: &Source| match source {
        Source::Empty { .. } => Ok(Asset::from_mesh(TriMesh::default())),
        _ => {
            let path = args.look.obstacle.as_deref().unwrap_or(Path::new(""));
            read(path, shell).map_err(Into::into)
        }
    };
    let player = Player::new(scene, &folder, &mut load, &shell.quiet_run());
    player.map_err(|error| match error {
        // There is one modifier a body: its own words are enough.
        supple::player::PlayerError::Modifier { what, .. } => anyhow::anyhow!(what),
        other => other.into(),
    })
}

/// Land a little below the lowest seed.
fn beneath(mut land: land::Land, line: &[[f64; 3]], up: f64) -> land::Land {
    let low = line.iter().map(|p| p[2]).fold(f64::INFINITY, f64::min) * up;
    let wide = Bounds::of(&land.mesh.positions).map_or(0.0, |b| f64::from(b.diagonal()));
    let z = (low - 2e-3 * wide) as f32;
    land.mesh.positions.iter_mut().chain(land.shore.iter_mut().flatten()).for_each(|p| p.z = z);
    land
}

fn raised(mut mesh: TriMesh, up: f32) -> TriMesh {
    mesh.positions.iter_mut().for_each(|p| p.z *= up);
    mesh
}

/// Tufts are about a seventh as long as what they sit on.
fn tuft_step(obstacle: Option<&TriMesh>, flow: &Flow, run: &Run<'_>) -> anyhow::Result<f64> {
    let bounds = obstacle.and_then(|mesh| Bounds::of(&mesh.positions));
    let bounds = bounds.context("tufts need something to sit on: name a mesh with --obstacle")?;
    Ok(0.15 * f64::from(bounds.diagonal()) / TUFT[0] as f64 / choose::seed(flow, run)?.speed)
}

fn axes_of(line: &[[f64; 3]], mean: DVec3) -> [Vec3; 2] {
    let ends = [line[0], line[line.len() - 1]].map(DVec3::from);
    [mean, ends[1] - ends[0]].map(|v| v.as_vec3().normalize_or_zero())
}

/// Upright lines on a seed line, each the seed of a ribbon.
fn lifted(line: &[[f64; 3]], height: f64) -> Vec<Vec<[f64; 3]>> {
    let places = supple::smoke::resample(line, false, RIBBONS);
    let places = places.unwrap_or_else(|_| line.to_vec());
    places.into_iter().map(|[x, y, z]| vec![[x, y, z], [x, y, z + height]]).collect()
}

fn color_of(args: &Args, i: usize) -> [f32; 3] {
    const WHITE: [f32; 3] = [0.95, 0.95, 0.95];
    const WOOL: [f32; 3] = [0.80, 0.34, 0.08];
    let default = if args.style == Style::Tufts { WOOL } else { WHITE };
    let last = args.color.last().copied().filter(|_| args.color.len() == 1);
    args.color.get(i).copied().or(last).unwrap_or(default)
}

fn comma(point: [f64; 3]) -> String {
    point.map(|c| rounded(c).to_string()).join(",")
}

/// To six digits: what is printed is read by people, and read back.
fn rounded(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

/// A line without length has no cells, from which steps follow.
fn check_line(args: &Args, line: &[[f64; 3]]) -> anyhow::Result<()> {
    anyhow::ensure!(args.lift != Some(0.0), "ribbons need a height: --lift 0 gives them none");
    if length_of(line) > 0.0 {
        return Ok(());
    }
    Err(supple::smoke::BadSeed::TooShort.into())
}

/// What is wrong with ribbons that are much higher than their line is long, if they are.
fn tower(args: &Args, length: f64) -> Option<String> {
    let height = args.lift.filter(|height| height.abs() > HIGHEST_LIFT * length)?;
    Some(format!(
        "ribbons {height} high on a line {} long are a tower: --lift {} gives a picture",
        rounded(length),
        rounded(0.2 * length)
    ))
}

/// The mean velocity over a line when smoke begins. A flow that starts from rest is taken when it is fastest: else
/// steps would be as long as the whole record.
fn stream(flow: &Flow, line: &[[f64; 3]], start: f64, run: &Run<'_>) -> anyhow::Result<DVec3> {
    const LOOKS: u32 = 4;
    let at_start = mean_velocity(flow, line, start, run)?;
    let Some([first, last]) = flow.span() else { return Ok(at_start) };
    // Other levels cost time to read: they are looked at only if there is a doubt.
    if at_start.length() * (last - first) >= LEAST_WAY * length_of(line) {
        return Ok(at_start);
    }
    let mut fastest = at_start;
    for k in 1..=LOOKS {
        let t = first + (last - first) * f64::from(k) / f64::from(LOOKS);
        match mean_velocity(flow, line, t, run) {
            Ok(mean) if mean.length() > fastest.length() => fastest = mean,
            // A record that breaks off is looked at up to there.
            Err(error) if run.is_cancelled() => return Err(error),
            _ => {}
        }
    }
    Ok(if at_start.length() < AT_REST * fastest.length() { fastest } else { at_start })
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

/// What heights are multiplied with.
fn scale_of(args: &Args, on_globe: bool, chosen: &mut Vec<String>) -> f64 {
    match args.vertical_scale {
        Some(up) => up,
        None if on_globe => {
            chosen.push(format!("--vertical-scale {DEGREES_DEEP}"));
            DEGREES_DEEP
        }
        None => 1.0,
    }
}

/// How far apart rows are; ribbons are cut along their height.
fn width_of(args: &Args, line: &[[f64; 3]], rows: usize) -> f64 {
    args.lift.map_or_else(|| length_of(line), f64::abs) / (rows.max(2) - 1) as f64
}

/// What a degree of longitude is to one of latitude, in the middle of a line.
fn narrow_at(line: &[[f64; 3]]) -> f32 {
    let latitude = 0.5 * (line[0][1] + line[line.len() - 1][1]);
    latitude.to_radians().cos().max(0.05) as f32
}

fn length_of(line: &[[f64; 3]]) -> f64 {
    line.windows(2).map(|ends| DVec3::from(ends[0]).distance(DVec3::from(ends[1]))).sum()
}

/// The step in which the flow crosses a cell as long as it is wide; of a record, one that divides the time between
/// levels and, if all of it is shown, plays it in neither too many nor too few frames.
fn step_of(flow: &Flow, width: f64, mean: DVec3, is_whole: bool) -> anyhow::Result<f64> {
    let step = width / mean.length();
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
    let most = if is_whole { (last - first) / LEAST_FRAMES } else { last - first };
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

/// Steps, and how many frames there are.
#[derive(Clone, Copy)]
struct Pace {
    dt: f64,
    frames: u32,
}

/// The pace at which smoke goes the length of the seed line in its life, if the record is over before it has moved and
/// nobody said how long it is shown; that is told, because what comes after the record was not measured.
fn go_on(
    args: &Args,
    record: Pace,
    columns: usize,
    [speed, length]: [f64; 2],
    shell: &Shell,
) -> Pace {
    let way = speed * record.dt * f64::from(record.frames);
    if args.frames.is_some() || args.style != Style::Smoke || way >= LEAST_WAY * length {
        return record;
    }
    let life = columns as f64;
    let dt = args.dt.unwrap_or_else(|| rounded(record.dt.max(length / (speed * life))));
    let steps = (length / (speed * dt)).ceil().clamp(1.0, life) as u32;
    let lasts = record.dt * f64::from(record.frames.saturating_sub(1));
    if !dt.is_finite() || f64::from(steps) * dt <= lasts {
        let what = "smoke hardly leaves the seed line while it lives: give another --seed, --start or --dt";
        shell.warn("flow", &[what]);
        return record;
    }
    let then = match (args.looped, args.backward) {
        (true, _) => "it is repeated",
        (false, false) => "its last level stands still",
        (false, true) => "its first level stands still",
    };
    let last = (lasts / dt + 1e-9).floor() as u32;
    shell.warn("flow", &[format!(
        "the record is over before smoke has gone a fifth of the seed line's length: after frame {last} {then}. \
         --times START:STEP says how long it lasts, --loop repeats it, --dt {dt} --frames 0..{} ends with it",
        last + 1
    )]);
    Pace { dt, frames: steps + 1 }
}

/// A time to be read: a date, or a number with the decimals that change from frame to frame; beyond the record also which level
/// stands still.
fn read_time(unit: &TimeUnit, time: f64, step: f64, measured: Option<[f64; 2]>) -> String {
    let decimals = (1.0 - step.log10()).ceil().clamp(0.0, 9.0) as usize;
    let say = |time| unit.say(time, decimals);
    let recorded = measured.map_or(time, |[first, last]| time.clamp(first, last));
    // Frames are sums of steps: the last one may end a rounding error later than the record.
    if (time - recorded).abs() <= 1e-6 * step {
        return say(time);
    }
    format!("{} (flow as recorded at {})", say(time), say(recorded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_beyond_the_record_name_the_level_that_stands_still() {
        let unit = TimeUnit::default();
        let at = |time| read_time(&unit, time, 0.01, Some([0.0, 0.04]));
        assert_eq!(at(0.02), "t = 0.020");
        assert_eq!(at(0.04 + 1e-12), "t = 0.040");
        assert_eq!(at(0.05), "t = 0.050 (flow as recorded at t = 0.040)");
        assert_eq!(at(-0.01), "t = -0.010 (flow as recorded at t = 0.000)");
        assert_eq!(read_time(&unit, 0.05, 0.01, None), "t = 0.050");
    }
}

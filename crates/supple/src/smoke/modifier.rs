//! Smoke in a scene: a body that grows from nothing in a flow the scene names.
//!
//! Its state is the ring of columns. It ticks at its own rate, once a release; a frame between two of them takes a
//! partial step and forgets it, so that frames have the same bits however they are reached.

use std::sync::Arc;

use glam::{DVec3, Vec4};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::opacity::Opacity;
use super::style::{self, Lines, Style};
use super::{Emitter, Error, Ring, SeedLine, Surface, tufts, walls};
use crate::flow::Flow;
use crate::mesh::attribute::COLOR;
use crate::mesh::{Shape, Values};
use crate::modifier::{
    Fold, Halt, Inputs, Modifier, Moment, NamedFlow, Nature, Need, Overlay, Report, Source, Stage,
    TICKS_PER_SECOND,
};
use crate::rig::Body;

/// A seed line at a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SeedKey {
    /// When, on the flow's clock; in between it moves in a straight line.
    pub at: f64,
    /// Its corners.
    pub seed: Vec<[f64; 3]>,
}

/// Smoke from a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SmokeParams {
    /// The flow, by its name in the scene.
    pub flow: String,
    /// How it is made and shown: `smoke`, `streaks`, `times`, `surface`, `nozzles`, `tufts`, `path`, `stream`.
    pub style: Style,
    /// Columns of the surface: a column lives for so many releases.
    #[schemars(range(min = 2, max = 100_000))]
    pub columns: u32,
    /// Vertices in a column.
    #[schemars(range(min = 2, max = 100_000))]
    pub rows: u32,
    /// Releases in a second of the scene: a divisor of 120.
    #[schemars(range(min = 1, max = 120), extend("unit" = "Hz"))]
    pub releases_per_second: u32,
    /// Corners of the line at which smoke is released; of a time surface, its four corners.
    pub seed: Vec<[f64; 3]>,
    /// True if the last corner is joined to the first.
    pub closed: bool,
    /// The line at several times, instead of `seed`.
    pub keys: Vec<SeedKey>,
    /// More lines that smoke comes from, with nothing between them.
    pub parts: Vec<Vec<[f64; 3]>>,
    /// Rows or columns from one line to the next; rows of a nozzle and the gap after it.
    #[schemars(range(min = 2, max = 100_000))]
    pub every: u32,
    /// Time of the flow after which a time or path surface begins anew; 0 is never.
    #[schemars(range(min = 0.0))]
    pub inject: f64,
    /// What tufts sit on; the walls of the flow if nothing is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Source>,
    /// About how many tufts there are.
    #[schemars(range(min = 1, max = 100_000))]
    pub tufts: u32,
    /// Channels beside the terms: `speed`, `stretch`, or a scalar of the recording.
    pub channels: Vec<String>,
    /// What the third coordinate is multiplied with.
    pub vertical_scale: f64,
    /// Linear RGB.
    #[schemars(extend("live" = true))]
    pub color: [f32; 3],
    /// Linear RGB of lines.
    #[schemars(extend("live" = true))]
    pub line_color: [f32; 3],
    /// Opacity of fresh smoke seen face on.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub opacity: f32,
    /// Exponent of the shape of triangles; 0 switches it off.
    #[schemars(range(min = 0.0, max = 4.0))]
    pub shape: f32,
    /// Factor of the curvature; 0 switches it off.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub curvature: f32,
    /// Share of its life after which smoke fades; 1 is never.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub fade: f32,
    /// The thesis' linearised density.
    pub linear: bool,
}

impl Default for SmokeParams {
    fn default() -> Self {
        let Opacity { fresh, shape, curvature, fade, linear } = Opacity::default();
        let Lines { every, color } = Lines::default();
        Self {
            flow: String::new(),
            style: Style::Smoke,
            columns: 200,
            rows: 60,
            releases_per_second: 24,
            seed: Vec::new(),
            closed: false,
            keys: Vec::new(),
            parts: Vec::new(),
            every: every as u32,
            inject: 0.0,
            obstacle: None,
            tufts: 180,
            channels: Vec::new(),
            vertical_scale: 1.0,
            color: [0.95, 0.95, 0.95],
            line_color: color,
            opacity: fresh,
            shape,
            curvature,
            fade,
            linear,
        }
    }
}

impl SmokeParams {
    /// What the emitter of such smoke is made with, `dt` apart from `start` on.
    fn emitter(&self, start: f64, dt: f64) -> super::Params {
        let line = |points: &[[f64; 3]], at: f64| SeedLine {
            points: points.to_vec(),
            closed: self.closed,
            at,
        };
        let seeds = match &self.keys[..] {
            [] => vec![line(&self.seed, 0.0)],
            keys => keys.iter().map(|key| line(&key.seed, key.at)).collect(),
        };
        let &Self { opacity, shape, curvature, fade, linear, .. } = self;
        let nozzle = if self.style == Style::Nozzles { self.every as usize } else { 0 };
        super::Params {
            growth: self.style.growth(),
            columns: self.columns as usize,
            rows: self.rows as usize,
            dt,
            start,
            seeds,
            parts: self.parts.clone(),
            nozzle,
            inject: (self.inject > 0.0).then_some(self.inject),
            vertical_scale: self.vertical_scale,
            opacity: self.style.opacity(Opacity { fresh: opacity, shape, curvature, fade, linear }),
        }
    }
}

/// Smoke, prepared: its flow and what it is released from.
#[derive(Debug)]
pub struct Smoke {
    flow: Arc<Flow>,
    named: NamedFlow,
    emitter: Emitter,
}

/// The flow that a body in a scene asks for.
pub(super) fn flow_of(name: &str, from: &Inputs<'_>) -> Result<(NamedFlow, Arc<Flow>), String> {
    let named = from.sources.first().and_then(|source| source.flow());
    let named = named.ok_or_else(|| format!("there is no flow '{name}'"))?;
    let wrong = || format!("'{}' is no flow that smoke can follow", named.name);
    Ok((named.clone(), named.get::<Flow>().ok_or_else(wrong)?))
}

impl Modifier for Smoke {
    const KIND: &'static str = "smoke";
    const STAGES: &'static [Stage] = &[Stage::World];
    type Params = SmokeParams;
    type State = Ring;

    fn needs(params: &SmokeParams) -> Vec<Need> {
        let obstacle = params.obstacle.iter().cloned().map(Need::Model);
        [Need::Flow(params.flow.clone())].into_iter().chain(obstacle).collect()
    }

    fn prepare(params: &SmokeParams, from: &Inputs<'_>) -> Result<Self, String> {
        if !from.rest.positions.is_empty() {
            return Err("smoke grows from nothing: give it a body that is empty".to_owned());
        }
        let (named, flow) = flow_of(&params.flow, from)?;
        let rate = params.releases_per_second.max(1);
        if !TICKS_PER_SECOND.is_multiple_of(rate) {
            return Err(format!("releases_per_second must be a divisor of 120; {rate} is none"));
        }
        for name in &params.channels {
            if !flow.has_channel(name) {
                let known = flow.channels().join(", ");
                return Err(format!("the flow has no '{name}'; there are {known}"));
            }
        }
        let mut emitter = params.emitter(named.time(0.0), named.speed / f64::from(rate));
        if params.style == Style::Tufts {
            let lines = tuft_lines(params, &flow, &named, from)?;
            let (first, parts) = lines.split_first().ok_or("nothing moves at these walls")?;
            emitter.seeds = vec![SeedLine { points: first.to_vec(), ..SeedLine::default() }];
            emitter.parts = parts.iter().map(|line| line.to_vec()).collect();
        }
        let emitter = Emitter::new(&emitter, &flow, from.run).map_err(|error| error.to_string())?;
        Ok(Self { flow, named, emitter })
    }

    fn nature(&self, params: &SmokeParams) -> Nature {
        Nature {
            ticks_per_second: params.releases_per_second.max(1),
            whole_ticks: true,
            ..Nature::default()
        }
    }

    fn begin(&self, _: &SmokeParams, now: &Moment<'_>) -> Ring {
        self.emitter.begin(self.named.time(now.secs))
    }

    fn tick(&self, _: &SmokeParams, now: &Moment<'_>, state: &mut Ring) -> Result<(), Halt> {
        self.emitter.step(state, &self.flow, now.run).map_err(halt)
    }

    fn deform(
        &self,
        params: &SmokeParams,
        now: &Moment<'_>,
        state: &Ring,
        shape: &mut Shape,
        report: &mut Report,
    ) -> Result<(), Halt> {
        let share = now.since_tick_secs * f64::from(params.releases_per_second.max(1));
        let mut surface = self.emitter.surface(state, &self.flow, share, now.run).map_err(halt)?;
        let vertices = surface.shape.positions.len() as u32;
        report.tell("smoke vertices", "", Fold::Largest, vertices);
        report.tell("left the fluid", "", Fold::Largest, surface.dead as u32);
        if self.emitter.along() > 0.5 {
            report.warn(
                "the flow runs along more than half of the seed line, where no sheet comes from: turn it across the flow",
            );
        }
        self.add_channels(params, now, &mut surface)?;
        if params.color != [1.0; 3]
            && let Some(Values::Vec4(colors)) = surface.shape.channels.get_mut(COLOR)
        {
            let [r, g, b] = params.color;
            now.run.for_each(colors, |_, c| *c *= Vec4::new(r, g, b, 1.0));
        }
        let lines = Lines { every: params.every as usize, color: params.line_color };
        let released = state.released() + u64::from(surface.size[0] > state.live());
        style::apply(&mut surface, params.style, &lines, released);
        *shape = surface.shape;
        Ok(())
    }

    fn overlays(&self, params: &SmokeParams, now: &Moment<'_>, _: &Ring, out: &mut Vec<Overlay>) {
        if params.style == Style::Tufts {
            return;
        }
        let up = params.vertical_scale;
        let seen = |p: &[f64; 3]| DVec3::new(p[0], p[1], up * p[2]).as_vec3();
        let seeds = self.emitter.seeds();
        if params.style == Style::Surface {
            let corners: Vec<_> = params.seed.iter().chain(params.seed.first()).map(seen).collect();
            out.push(Overlay::Line(corners));
            return;
        }
        for part in seeds.at(self.named.time(now.secs)).chunks(seeds.rows_of_part()) {
            out.push(Overlay::Line(part.iter().map(seen).collect()));
        }
    }

    fn take_back(&self, shape: Shape) {
        self.emitter.take_back(shape);
    }

    fn size(&self, state: &Ring) -> Option<usize> {
        (state.size() == self.emitter.size()).then(|| state.bytes())
    }
}

impl Smoke {
    /// Speed, stretch and scalars of the recording, where they are asked for.
    fn add_channels(
        &self,
        params: &SmokeParams,
        now: &Moment<'_>,
        surface: &mut Surface,
    ) -> Result<(), Halt> {
        if params.channels.is_empty() {
            return Ok(());
        }
        let up = params.vertical_scale;
        let place = |p: &glam::Vec3| [f64::from(p.x), f64::from(p.y), f64::from(p.z) / up];
        let places: Vec<[f64; 3]> = surface.shape.positions.iter().map(place).collect();
        for name in &params.channels {
            let values = match name.as_str() {
                "stretch" => self.stretch(surface),
                name => self
                    .flow
                    .channel(name, &places, surface.time, now.run)
                    .map_err(|error| halt(error.into()))?,
            };
            surface.shape.channels.set(name.clone(), Values::Scalar(values));
        }
        Ok(())
    }

    /// How often the area of its birth a triangle has: optical depth falls as the area grows.
    fn stretch(&self, surface: &Surface) -> Vec<f32> {
        let fresh = self.emitter.params().opacity;
        let depth = fresh.depth() as f32;
        let of =
            |d: &f32| depth / if fresh.linear { *d } else { -(1.0 - d).max(1e-6).ln() }.max(1e-6);
        match surface.shape.channels.get("density") {
            Some(Values::Scalar(density)) => density.iter().map(of).collect(),
            _ => Vec::new(),
        }
    }
}

/// Seed lines of tufts: over a mesh, or over the walls of the flow.
fn tuft_lines(
    params: &SmokeParams,
    flow: &Flow,
    named: &NamedFlow,
    from: &Inputs<'_>,
) -> Result<Vec<[[f64; 3]; 2]>, String> {
    let mesh = match from.sources.get(1).and_then(|source| source.model()) {
        Some(asset) => Body::from_asset(asset).map_err(|e| e.to_string())?.rest_mesh(from.run),
        None => walls::mesh(flow, named.time(0.0), from.run).map_err(|e| e.to_string())?,
    };
    tufts::over(&mesh, flow, params.tufts as usize, from.run).map_err(|e| e.to_string())
}

/// Which level, which file, and what is wrong with it.
fn halt(error: Error) -> Halt {
    let mut told = error.to_string();
    let mut why = std::error::Error::source(&error);
    while let Some(error) = why {
        let more = error.to_string();
        // What only passes an error on says the same.
        if !told.ends_with(&more) {
            told = format!("{told}: {more}");
        }
        why = error.source();
    }
    Halt::Unreadable(told)
}

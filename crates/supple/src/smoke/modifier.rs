//! Smoke in a scene: a body that grows from nothing in a flow the scene names.
//!
//! Its state is the ring of columns. It ticks at its own rate, once a release; a frame between two of them takes a
//! partial step and forgets it, so that frames have the same bits however they are reached.

use std::sync::Arc;

use glam::Vec4;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::opacity::Opacity;
use super::{Emitter, Error, Ring, SeedLine};
use crate::flow::Flow;
use crate::mesh::attribute::COLOR;
use crate::mesh::{Shape, Topology, Values};
use crate::modifier::{
    Fold, Halt, Inputs, Modifier, Moment, Nature, Need, Report, Stage, TICKS_PER_SECOND,
};

/// Smoke from a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SmokeParams {
    /// The flow, by its name in the scene.
    pub flow: String,
    /// Columns of the surface: a column lives for so many releases.
    #[schemars(range(min = 2, max = 100_000))]
    pub columns: u32,
    /// Vertices in a column.
    #[schemars(range(min = 2, max = 100_000))]
    pub rows: u32,
    /// Releases in a second of the scene: a divisor of 120.
    #[schemars(range(min = 1, max = 120), extend("unit" = "Hz"))]
    pub releases_per_second: u32,
    /// Corners of the line at which smoke is released.
    pub seed: Vec<[f64; 3]>,
    /// True if the last corner is joined to the first.
    pub closed: bool,
    /// Linear RGB.
    #[schemars(extend("live" = true))]
    pub color: [f32; 3],
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
}

impl Default for SmokeParams {
    fn default() -> Self {
        let Opacity { fresh, shape, curvature, fade, .. } = Opacity::default();
        Self {
            flow: String::new(),
            columns: 200,
            rows: 60,
            releases_per_second: 24,
            seed: Vec::new(),
            closed: false,
            color: [0.95, 0.95, 0.95],
            opacity: fresh,
            shape,
            curvature,
            fade,
        }
    }
}

/// Smoke, prepared: its flow and what it is released from.
#[derive(Debug)]
pub struct Smoke {
    flow: Arc<Flow>,
    emitter: Emitter,
}

impl Modifier for Smoke {
    const KIND: &'static str = "smoke";
    const STAGES: &'static [Stage] = &[Stage::World];
    type Params = SmokeParams;
    type State = Ring;

    fn needs(params: &SmokeParams) -> Vec<Need> {
        vec![Need::Flow(params.flow.clone())]
    }

    fn prepare(params: &SmokeParams, from: &Inputs<'_>) -> Result<Self, String> {
        if !from.rest.positions.is_empty() {
            return Err("smoke grows from nothing: give it a body that is empty".to_owned());
        }
        let named = from.sources.first().and_then(|source| source.flow());
        let named = named.ok_or_else(|| format!("there is no flow '{}'", params.flow))?;
        let wrong = || format!("'{}' is no flow that smoke can follow", named.name);
        let flow = named.get::<Flow>().ok_or_else(wrong)?;
        let rate = params.releases_per_second.max(1);
        if !TICKS_PER_SECOND.is_multiple_of(rate) {
            return Err(format!("releases_per_second must be a divisor of 120; {rate} is none"));
        }
        let line =
            SeedLine { points: params.seed.clone(), closed: params.closed, ..SeedLine::default() };
        let &SmokeParams { columns, rows, opacity, shape, curvature, fade, .. } = params;
        let params = super::Params {
            columns: columns as usize,
            rows: rows as usize,
            dt: named.speed / f64::from(rate),
            start: named.time(0.0),
            seeds: vec![line],
            opacity: Opacity { fresh: opacity, shape, curvature, fade, linear: false },
        };
        let emitter = Emitter::new(&params, &flow, from.run).map_err(|error| error.to_string())?;
        Ok(Self { flow, emitter })
    }

    fn nature(&self, params: &SmokeParams) -> Nature {
        Nature { ticks_per_second: params.releases_per_second.max(1), whole_ticks: true }
    }

    fn begin(&self, _: &SmokeParams, _: &Moment<'_>) -> Ring {
        self.emitter.begin()
    }

    fn tick(&self, _: &SmokeParams, now: &Moment<'_>, state: &mut Ring) -> Result<(), Halt> {
        // On a copy: a level that cannot be read must leave the state as it was.
        let mut next = state.clone();
        self.emitter.step(&mut next, &self.flow, now.run).map_err(halt)?;
        *state = next;
        Ok(())
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
        let surface = self.emitter.surface(state, &self.flow, share, now.run).map_err(halt)?;
        let vertices = surface.mesh.positions.len() as u32;
        report.tell("smoke vertices", "", Fold::Largest, vertices);
        report.tell("left the fluid", "", Fold::Largest, surface.dead as u32);
        shape.positions = surface.mesh.positions;
        shape.topology = Arc::new(Topology::Triangles(surface.mesh.triangles));
        shape.channels = surface.mesh.attributes;
        let [r, g, b] = params.color;
        for (name, values) in shape.channels.values_mut() {
            if let (COLOR, Values::Vec4(colors)) = (name, values) {
                colors.iter_mut().for_each(|c| *c *= Vec4::new(r, g, b, 1.0));
            }
        }
        Ok(())
    }

    fn size(&self, state: &Ring) -> Option<usize> {
        (state.size() == self.emitter.size()).then(|| state.bytes())
    }
}

fn halt(error: Error) -> Halt {
    Halt::Unreadable(error.to_string())
}

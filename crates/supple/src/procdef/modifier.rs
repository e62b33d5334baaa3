//! `kind = "procdef"`: a body of a scene, moved from inside.

use std::sync::{Arc, Mutex, PoisonError};

use glam::{DVec3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chart::{Between, Sampled, Volume};
use super::skin::Skin;
use super::tissue::{Played, Tissue, Touch};
use super::{
    Body, Chart, Design, Drive, Ground, Motion, Passes, Pin, State, Stretches, Water, Work,
};
use crate::mesh::{Shape, TetMesh, Values};
use crate::modifier::{Fold, Halt, Inputs, Modifier, Moment, Nature, Need, Report, Stage, Value};
use crate::zoo::tet_bodies;

/// Nodes of a body that is filled with tets here.
const NODES: u32 = 1500;

/// Where the tets come from, if the body has none of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tets {
    /// A file with a tetrahedral mesh in the body's coordinates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A tet body of the zoo: bar, tube, worm, snail, jellyfish, heart, bowel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zoo: Option<String>,
    /// About how many nodes a body of the zoo, or one that is filled with tets, has.
    #[schemars(range(min = 8, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
}

/// A chart and how much of it is played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Play {
    /// What it is called.
    pub name: String,
    /// How much of it counts: a number or a track; charts are mixed in the logarithm of their stretches.
    pub share: Value,
    /// Control points `[share of the cycle, stretch]` of the primary direction; none: it keeps its length.
    pub primary: Vec<[f64; 2]>,
    /// Those of the secondary direction, where `volume = "free"`.
    pub secondary: Vec<[f64; 2]>,
    /// Those of the third direction, where `volume = "free"`.
    pub third: Vec<[f64; 2]>,
    /// How the curves run between their points.
    pub between: Between,
    /// Which stretches follow from the primary one.
    pub volume: Volume,
    /// How long a cycle takes.
    #[schemars(extend("unit" = "s"))]
    pub cycle: f64,
    /// How fast phase travels, per second: a place of phase P is `P/speed` seconds late.
    pub speed: f64,
}

impl Play {
    /// A chart, all of it.
    #[must_use]
    pub fn of(name: &str, chart: Chart) -> Self {
        let Chart { primary, secondary, third, between, volume, cycle, speed } = chart;
        let share = Value::Number(1.0);
        Self {
            name: name.to_owned(),
            share,
            primary,
            secondary,
            third,
            between,
            volume,
            cycle,
            speed,
        }
    }

    fn chart(&self) -> Chart {
        Chart {
            primary: self.primary.clone(),
            secondary: self.secondary.clone(),
            third: self.third.clone(),
            between: self.between,
            volume: self.volume,
            cycle: self.cycle,
            speed: self.speed,
        }
    }
}

impl Default for Play {
    fn default() -> Self {
        Self::of("chart", Chart::default())
    }
}

/// A touch of the body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TouchAt {
    /// Where, on the body at rest.
    #[schemars(extend("unit" = "m"))]
    pub at: [f64; 3],
    /// When.
    #[schemars(extend("unit" = "s"))]
    pub time: f64,
    /// How many times weaker the farthest place answers.
    #[schemars(range(min = 1.0, max = 1e6))]
    pub damping: f64,
}

impl Default for TouchAt {
    fn default() -> Self {
        Self { at: [0.0; 3], time: 0.0, damping: 2.0 }
    }
}

/// A ball of nodes that is held, or carried by tracks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hold {
    /// Its middle, on the body at rest.
    #[schemars(extend("unit" = "m"))]
    pub at: [f64; 3],
    /// Its radius; at least the node nearest to the middle is held.
    #[schemars(range(min = 0.0, max = 1e6), extend("unit" = "m"))]
    pub radius: f64,
    /// How far it is carried: numbers or tracks.
    #[schemars(extend("unit" = "m"))]
    pub by: [Value; 3],
    /// From when on it holds.
    #[schemars(extend("unit" = "s"))]
    pub from: f64,
    /// Until when it holds; for ever if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "s"))]
    pub until: Option<f64>,
}

impl Default for Hold {
    fn default() -> Self {
        Self { at: [0.0; 3], radius: 0.0, by: Value::numbers([0.0; 3]), from: 0.0, until: None }
    }
}

/// What the artist sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Where the tets come from, if the body has none.
    pub tets: Tets,
    /// Painted fields: layers, directions, amplitude, phase.
    pub design: Design,
    /// What is played; several are mixed.
    pub charts: Vec<Play>,
    /// What a touch starts; the first chart if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub touch_chart: Option<Chart>,
    /// Touches, in the order of their times.
    pub touches: Vec<TouchAt>,
    /// What is held or dragged.
    pub holds: Vec<Hold>,
    /// How stiff the body is: passes of matching a tick.
    pub passes: Passes,
    /// How fast what is not rigid motion dies away, per second.
    #[schemars(range(min = 0.0, max = 1000.0), extend("live" = true))]
    pub damping: f64,
    /// Gravity.
    #[schemars(extend("unit" = "m/s²", "live" = true))]
    pub gravity: [f64; 3],
    /// Whether the volume of the whole body is restored in every tick.
    pub keep_volume: bool,
    /// What the body swims in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub water: Option<Water>,
    /// What the body lies on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ground: Option<Ground>,
}

impl Default for Params {
    fn default() -> Self {
        let motion = Motion::default();
        Self {
            tets: Tets::default(),
            design: Design::default(),
            charts: Vec::new(),
            touch_chart: None,
            touches: Vec::new(),
            holds: Vec::new(),
            passes: motion.passes,
            damping: motion.damping,
            gravity: motion.gravity.to_array(),
            keep_volume: motion.keep_volume,
            water: motion.water,
            ground: motion.ground,
        }
    }
}

impl Params {
    /// The motion that these parameters ask for.
    #[must_use]
    pub fn motion(&self) -> Motion {
        Motion {
            passes: self.passes,
            damping: self.damping,
            gravity: DVec3::from(self.gravity),
            keep_volume: self.keep_volume,
            water: self.water,
            ground: self.ground,
        }
    }
}

/// What is prepared for a body.
#[derive(Debug)]
pub struct Procdef {
    body: Body,
    tissue: Tissue,
    directions: Vec<Vec3>,
    charts: Vec<Sampled>,
    touch_chart: Sampled,
    /// When each touch happens, and what it does.
    touches: Vec<Touch>,
    /// The nodes of each hold, and where they rest.
    holds: Vec<Vec<(u32, DVec3)>>,
    skin: Skin,
    notes: Vec<String>,
    /// What ticks work in, kept so that they need not ask for memory.
    work: Mutex<Work>,
}

impl Procdef {
    fn played<'a>(&'a self, params: &Params, now: &Moment<'_>) -> Vec<Played<'a>> {
        let shares = params.charts.iter().map(|play| now.value(&play.share) as f32);
        self.charts.iter().zip(shares).map(|(chart, share)| Played { chart, share }).collect()
    }

    fn stretches(&self, params: &Params, now: &Moment<'_>) -> Stretches {
        let mut stretches = Stretches::ones(&self.body);
        let running = self.running(now.secs);
        let touches = (&self.touch_chart, running.as_slice());
        self.tissue.stretch(&self.played(params, now), touches, now.secs, &mut stretches);
        stretches
    }

    fn pins(&self, params: &Params, now: &Moment<'_>) -> Vec<Pin> {
        let mut pins = Vec::new();
        for (hold, nodes) in params.holds.iter().zip(&self.holds) {
            if now.secs < hold.from || hold.until.is_some_and(|until| now.secs >= until) {
                continue;
            }
            let by = now.vector(&hold.by);
            pins.extend(nodes.iter().map(|&(vertex, rest)| Pin { vertex, to: rest + by }));
        }
        pins
    }

    /// Touches that run at a time.
    fn running(&self, secs: f64) -> Vec<Touch> {
        let runs = |t: &&Touch| t.at_secs <= secs && !t.is_over(&self.touch_chart, secs);
        self.touches.iter().filter(runs).cloned().collect()
    }
}

/// The tets of a body: its own, those its parameters name, or made here.
fn solid(params: &Params, from: &Inputs<'_>) -> Result<TetMesh, String> {
    let named = from.sources.iter().find_map(|s| s.tets());
    if let Some(tets) = named {
        return Ok(TetMesh::clone(tets));
    }
    if let Some(name) = &params.tets.zoo {
        let nodes = params.tets.nodes.map(|n| n as usize);
        return tet_bodies::build(name, nodes).map_err(|e| e.to_string());
    }
    if let Some(tets) = from.tets {
        return Ok(tets.clone());
    }
    super::skin::fill(from.rest, params.tets.nodes.unwrap_or(NODES) as usize)
}

impl Modifier for Procdef {
    const KIND: &'static str = "procdef";
    const STAGES: &'static [Stage] = &[Stage::World];
    type Params = Params;
    type State = State;

    fn needs(params: &Params) -> Vec<Need> {
        params.tets.file.iter().map(|file| Need::Tets(file.clone())).collect()
    }

    fn prepare(params: &Params, from: &Inputs<'_>) -> Result<Self, String> {
        let mesh = solid(params, from)?;
        let body = Body::new(&mesh).map_err(|e| e.to_string())?;
        let made = params.design.fields(&mesh, from.run).map_err(|e| e.to_string())?;
        let mut notes = made.notes;
        if body.loose() > 0 {
            notes.push(format!("{} vertices are in no tet and stay where they rest", body.loose()));
        }
        let sampled =
            |play: &Play| play.chart().sampled().map_err(|e| format!("chart '{}': {e}", play.name));
        let charts = params.charts.iter().map(sampled).collect::<Result<Vec<_>, _>>()?;
        let touch_chart = match (&params.touch_chart, charts.first()) {
            (Some(chart), _) => chart.sampled().map_err(|e| format!("touch_chart: {e}"))?,
            (None, Some(first)) => first.clone(),
            (None, None) => Chart::default().sampled().map_err(|e| e.to_string())?,
        };
        let nearest = |at: DVec3| {
            let distance = |v: &usize| mesh.positions[*v].as_dvec3().distance_squared(at);
            (0..mesh.positions.len())
                .min_by(|a, b| distance(a).total_cmp(&distance(b)))
                .unwrap_or(0)
        };
        let touch =
            |t: &TouchAt| Touch::new(&body, nearest(DVec3::from(t.at)), t.time, t.damping as f32);
        let held = |hold: &Hold| {
            let at = DVec3::from(hold.at);
            let within = |v: &usize| mesh.positions[*v].as_dvec3().distance(at) <= hold.radius;
            let mut nodes: Vec<usize> = (0..mesh.positions.len()).filter(within).collect();
            if nodes.is_empty() {
                nodes.push(nearest(at));
            }
            nodes.into_iter().map(|v| (v as u32, mesh.positions[v].as_dvec3())).collect()
        };
        Ok(Self {
            tissue: Tissue::new(&body, &made.fields),
            directions: made.fields.fibers.iter().map(|f| f.directions[0].as_vec3()).collect(),
            touches: params.touches.iter().map(touch).collect(),
            holds: params.holds.iter().map(held).collect(),
            skin: Skin::new(&mesh, from.rest),
            work: Mutex::default(),
            charts,
            touch_chart,
            notes,
            body,
        })
    }

    fn nature(&self, _: &Params) -> Nature {
        Nature { whole_ticks: true, ..Nature::default() }
    }

    fn begin(&self, _: &Params, _: &Moment<'_>) -> State {
        State::at_rest(&self.body)
    }

    fn tick(&self, params: &Params, now: &Moment<'_>, state: &mut State) -> Result<(), Halt> {
        let stretches = self.stretches(params, now);
        let pins = self.pins(params, now);
        let drive = Drive { stretches: &stretches, directions: &self.directions, pins: &pins };
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let ticked = self.body.tick(&params.motion(), &drive, state, &mut work, now.run);
        if ticked.refused { Err(Halt::NotFinite) } else { Ok(()) }
    }

    fn deform(
        &self,
        params: &Params,
        now: &Moment<'_>,
        state: &State,
        shape: &mut Shape,
        report: &mut Report,
    ) -> Result<(), Halt> {
        if let Some(topology) = self.skin.own_topology() {
            shape.topology = Arc::clone(topology);
        }
        let stretches = self.stretches(params, now);
        shape.positions =
            self.skin.positions(&self.body, state, (&stretches, now.since_tick_secs), now.run);
        let running = self.running(now.secs);
        let touches = (&self.touch_chart, running.as_slice());
        let contraction =
            self.tissue.contraction(&self.body, &self.played(params, now), touches, now.secs);
        // Above zero where it contracts, below where it stretches.
        let contraction: Vec<f32> = self.skin.scalars(&contraction).iter().map(|c| -c).collect();
        let most = contraction.iter().fold(0.0_f32, |m, c| m.max(c.abs()));
        shape.channels.set("contraction", Values::Scalar(contraction));
        report.tell("contraction", "1", Fold::Largest, most);
        self.notes.iter().for_each(|note| report.warn(note.clone()));
        Ok(())
    }

    fn size(&self, state: &State) -> Option<usize> {
        state.fits(&self.body).then(|| state.bytes())
    }
}

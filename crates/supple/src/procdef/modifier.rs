//! `kind = "procdef"`: a body of a scene, moved from inside.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glam::{DAffine3, DMat4, DVec3, Mat4};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chart::{Between, Volume};
use super::holding::Held;
use super::prepared::{Aim, Prepared, Standing};
use super::tissue::{Played, Touch};
use super::{
    Chart, Design, Drive, Friction, Ground, Motion, Passes, Pin, State, Stretches, TICK_SECS,
    Water, Work,
};
use crate::contact::{Lent, Whose};
use crate::io::TetFormat;
use crate::mesh::{Shape, Values};
use crate::modifier::{
    Fold, Halt, Inputs, Modifier, Moment, Nature, Need, Overlay, Report, Source, Stage, Tracks,
    Value,
};

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

    pub(super) fn chart(&self) -> Chart {
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
    /// Where, on the asset at rest, before it is placed.
    #[schemars(extend("unit" = "m"))]
    pub at: [f64; 3],
    /// When.
    #[schemars(extend("unit" = "s"))]
    pub time: f64,
    /// A track: in place of `time`, it is touched whenever this rises above one half.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// How many times weaker the farthest place answers.
    #[schemars(range(min = 1.0, max = 1e6))]
    pub damping: f64,
}

impl Default for TouchAt {
    fn default() -> Self {
        Self { at: [0.0; 3], time: 0.0, on: None, damping: 2.0 }
    }
}

impl TouchAt {
    /// When it happens.
    pub(super) fn times(&self, tracks: &Tracks) -> Result<Vec<f64>, String> {
        let Some(name) = &self.on else { return Ok(vec![self.time]) };
        let Some(track) = tracks.get(name) else {
            return Err(format!("a touch waits for the track '{name}', which is not there"));
        };
        let [Some(first), Some(last)] = [track.keys.first(), track.keys.last()] else {
            return Ok(Vec::new());
        };
        // The ticks up to and after the last key, up to a day of them.
        let begin = (first[0] / TICK_SECS).floor() as i64;
        let end = ((last[0] / TICK_SECS).ceil() as i64 + 1).min(begin + 10_000_000);
        let secs = |tick: i64| tick as f64 * TICK_SECS;
        let rises = |&tick: &i64| track.at(secs(tick - 1)) <= 0.5 && track.at(secs(tick)) > 0.5;
        Ok((begin..=end).filter(rises).map(secs).collect())
    }
}

/// How a body answers when something touches it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Answer {
    /// How many times weaker the farthest place answers.
    #[schemars(range(min = 1.0, max = 1e6))]
    pub damping: f64,
    /// How long after a touch it does not feel another.
    #[schemars(range(min = 0.0, max = 1e6), extend("unit" = "s"))]
    pub rest: f64,
}

impl Default for Answer {
    fn default() -> Self {
        Self { damping: 2.0, rest: 1.0 }
    }
}

/// What a body of a scene hands from one tick to the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Playing {
    /// Where it is.
    body: State,
    /// Touches by other bodies and colliders that still run.
    touches: Vec<Touch>,
}

/// A field of the design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Painting {
    /// The layers.
    Layer,
    /// How much each place does.
    Amplitude,
    /// How late each place is.
    Phase,
    /// Along the tissue, as lines among the guides.
    Primary,
    /// Across the layers, as lines among the guides.
    Secondary,
    /// At right angles to both, as lines among the guides.
    Third,
}

impl Painting {
    /// Which of the three directions it is, if it is one.
    fn direction(self) -> Option<usize> {
        match self {
            Self::Primary => Some(0),
            Self::Secondary => Some(1),
            Self::Third => Some(2),
            Self::Layer | Self::Amplitude | Self::Phase => None,
        }
    }
}

/// A shape that the body takes, as far as the world lets it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Target {
    /// A morph target of the body, by name; it counts as much as the motion says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub morph: Option<String>,
    /// A file with the deformed body: as many vertices as the body, or as its tets.
    #[schemars(extend("format" = "file"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How much of it counts, times the weight of the morph target: a number or a track.
    pub share: Value,
}

impl Default for Target {
    fn default() -> Self {
        Self { morph: None, file: None, share: Value::Number(1.0) }
    }
}

impl Target {
    fn need(&self) -> Option<Need> {
        let file = self.file.clone()?;
        Some(match TetFormat::of(Path::new(&file)) {
            Some(_) => Need::Tets(file),
            None => Need::Model(Source::File { file }),
        })
    }
}

/// A ball of nodes that is held, or carried: by the body's motion, by tracks, and by the targets that move it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hold {
    /// Its middle, on the asset at rest, before it is placed.
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
    /// Shapes that the body takes, on top of what the charts do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// What a touch starts; the first chart if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub touch_chart: Option<Chart>,
    /// Touches, in the order of their times.
    pub touches: Vec<TouchAt>,
    /// Whether it answers where other bodies or colliders touch it, as `touches` do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// What is held or dragged.
    pub holds: Vec<Hold>,
    /// Fields of the design that frames carry as channels, beside `contraction`; directions are drawn among the guides,
    /// the primary one if none is named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub show: Vec<Painting>,
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
    /// How it holds on colliders and other bodies, if the asset has `contact`.
    pub friction: Friction,
}

impl Default for Params {
    fn default() -> Self {
        let motion = Motion::default();
        Self {
            tets: Tets::default(),
            design: Design::default(),
            charts: Vec::new(),
            targets: Vec::new(),
            touch_chart: None,
            touches: Vec::new(),
            answer: None,
            holds: Vec::new(),
            show: Vec::new(),
            passes: motion.passes,
            damping: motion.damping,
            gravity: motion.gravity.to_array(),
            keep_volume: motion.keep_volume,
            water: motion.water,
            ground: motion.ground,
            friction: Friction::default(),
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

/// A body of a scene.
#[derive(Debug)]
pub struct Procdef {
    prepared: Arc<Prepared>,
    standing: Standing,
    /// Where the joints rest in the world.
    joints: Vec<Mat4>,
    /// What ticks work in, kept so that they need not ask for memory. Between a tick and what is lent after it nobody
    /// else uses it: a body is one thread's work.
    work: Mutex<Work>,
}

impl Procdef {
    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn played<'a>(&'a self, params: &Params, now: &Moment<'_>) -> Vec<Played<'a>> {
        let shares = params.charts.iter().map(|play| now.value(&play.share) as f32);
        self.prepared
            .charts
            .iter()
            .zip(shares)
            .map(|(chart, share)| Played { chart, share })
            .collect()
    }

    fn stretches(&self, params: &Params, now: &Moment<'_>, felt: &[Touch]) -> Stretches {
        let Prepared { body, tissue, touch_chart, .. } = &*self.prepared;
        let mut stretches = Stretches::ones(body);
        let running = self.running(now.secs, felt);
        let touches = (touch_chart, running.as_slice());
        tissue.stretch(&self.played(params, now), touches, now.secs, &mut stretches);
        for (aim, share) in self.aims(params, now) {
            stretches.multiply(&aim.shaped, share);
        }
        stretches
    }

    /// The targets that count, and how much.
    fn aims<'a>(
        &'a self,
        params: &'a Params,
        now: &'a Moment<'_>,
    ) -> impl Iterator<Item = (&'a Aim, f32)> {
        let aims = params.targets.iter().zip(&self.prepared.targets);
        let shared = aims.map(|(target, aim)| {
            let weight = aim.morph.and_then(|k| now.morph_weights.get(k).copied()).unwrap_or(1.0);
            (aim, weight * now.value(&target.share) as f32)
        });
        shared.filter(|(_, share)| *share != 0.0)
    }

    fn pins(&self, params: &Params, now: &Moment<'_>) -> Vec<Pin> {
        let pin = |held: &Held| {
            let carried = held.carried(&self.joints, now.joints);
            Pin { vertex: held.node, to: self.standing.point(held.rest) + carried }
        };
        let mut pins: Vec<Pin> = self.prepared.held.iter().map(pin).collect();
        let holds = params.holds.iter().zip(&self.prepared.holds).enumerate();
        for (number, (hold, nodes)) in holds {
            if now.secs < hold.from || hold.until.is_some_and(|until| now.secs >= until) {
                continue;
            }
            let first = pins.len();
            let by = now.vector(&hold.by);
            pins.extend(nodes.iter().map(pin).map(|p| Pin { to: p.to + by, ..p }));
            // Where a keyframed shape moves what is held, it is carried along.
            for (aim, share) in self.aims(params, now) {
                for (pin, carry) in pins[first..].iter_mut().zip(&aim.carries[number]) {
                    pin.to += self.standing.turn * (f64::from(share) * *carry);
                }
            }
        }
        pins
    }

    /// Touches that run at a time: those of the scene, and what was felt.
    fn running(&self, secs: f64, felt: &[Touch]) -> Vec<Touch> {
        let Prepared { touches, touch_chart, .. } = &*self.prepared;
        let runs = |t: &&Touch| t.at_secs <= secs && !t.is_over(touch_chart, secs);
        touches.iter().chain(felt).filter(runs).cloned().collect()
    }

    /// Feels what touched it, once in a while.
    fn feel(&self, answer: &Answer, secs: f64, touches: &mut Vec<Touch>, lent: &Lent) {
        let Prepared { body, touch_chart, .. } = &*self.prepared;
        let is_rested = touches.iter().all(|t| secs >= t.at_secs + answer.rest);
        touches.retain(|t| secs < t.at_secs + answer.rest || !t.is_over(touch_chart, secs));
        let met = lent.touches.iter().find(|t| t.whose != Whose::Ground);
        let Some(met) = met.filter(|_| is_rested) else { return };
        if let Some(vertex) = body.surface_vertex(met.particle as usize) {
            touches.push(Touch::new(body, vertex, secs, answer.damping as f32));
        }
    }
}

impl Modifier for Procdef {
    const KIND: &'static str = "procdef";
    const STAGES: &'static [Stage] = &[Stage::World];
    const READS_TRACKS: bool = true;
    type Params = Params;
    type State = Playing;

    fn needs(params: &Params) -> Vec<Need> {
        let own = params.tets.file.iter().map(|file| Need::Tets(file.clone()));
        own.chain(params.targets.iter().filter_map(Target::need)).collect()
    }

    fn prepare(params: &Params, from: &Inputs<'_>) -> Result<Self, String> {
        let prepared = Prepared::of(params, from)?;
        let (standing, world) = (Standing::of(&from.placement), DMat4::from(from.placement));
        let mut joints = from.body.matrices(from.body.rest_pose());
        if from.placement != DAffine3::IDENTITY {
            joints.iter_mut().for_each(|m| *m = (world * m.as_dmat4()).as_mat4());
        }
        Ok(Self { prepared, standing, joints, work: Mutex::default() })
    }

    fn nature(&self, _: &Params) -> Nature {
        Nature { whole_ticks: true, touches: true, ..Nature::default() }
    }

    /// At rest; if the motion carries what is held elsewhere, there.
    fn begin(&self, _: &Params, now: &Moment<'_>) -> Playing {
        let Prepared { body, held, holds, .. } = &*self.prepared;
        let mut placement = self.standing.begin(body);
        let held: Vec<&Held> = held.iter().chain(holds.iter().flatten()).collect();
        if !held.is_empty() {
            let ways = held.iter().map(|h| h.carried(&self.joints, now.joints));
            placement.translation += ways.sum::<DVec3>() / held.len() as f64;
        }
        Playing { body: State::placed(body, placement), touches: Vec::new() }
    }

    fn tick(&self, params: &Params, now: &Moment<'_>, state: &mut Playing) -> Result<(), Halt> {
        let stretches = self.stretches(params, now, &state.touches);
        let pins = self.pins(params, now);
        let Prepared { body, directions, .. } = &*self.prepared;
        let drive = Drive { stretches: &stretches, directions, pins: &pins };
        let state = &mut state.body;
        let taken = body.advance(&params.motion(), &drive, state, &mut self.work(), now.run);
        if taken { Ok(()) } else { Err(Halt::NotFinite) }
    }

    fn lend(&self, params: &Params, now: &Moment<'_>, state: &Playing, lent: &mut Lent) -> bool {
        let Prepared { body, directions, flesh, .. } = &*self.prepared;
        if params.ground.is_none() && flesh.is_none() && now.obstacles.colliders.is_empty() {
            return false;
        }
        let work = self.work();
        lent.ground = params.ground;
        lent.particles.friction = params.friction;
        body.lend(directions, &state.body, &work, lent);
        flesh.iter().for_each(|flesh| body.lend_flesh(flesh, &state.body, &work, lent));
        true
    }

    fn settle(&self, params: &Params, now: &Moment<'_>, state: &mut Playing, lent: &Lent) {
        self.prepared.body.finish(&params.motion(), &mut state.body, &mut self.work(), lent);
        if let Some(answer) = &params.answer {
            self.feel(answer, now.secs, &mut state.touches, lent);
        }
    }

    fn deform(
        &self,
        params: &Params,
        now: &Moment<'_>,
        state: &Playing,
        shape: &mut Shape,
        report: &mut Report,
    ) -> Result<(), Halt> {
        let Prepared { body, tissue, skin, touch_chart, .. } = &*self.prepared;
        if let Some(topology) = skin.own_topology() {
            shape.topology = Arc::clone(topology);
        }
        let stretches = self.stretches(params, now, &state.touches);
        shape.positions =
            skin.positions(body, &state.body, (&stretches, now.since_tick_secs), now.run);
        let running = self.running(now.secs, &state.touches);
        let touches = (touch_chart, running.as_slice());
        let contraction = tissue.contraction(body, &self.played(params, now), touches, now.secs);
        // Above zero where it contracts, below where it stretches.
        let contraction: Vec<f32> = skin.scalars(&contraction).iter().map(|c| -c).collect();
        let most = contraction.iter().fold(0.0_f32, |m, c| m.max(c.abs()));
        shape.channels.set("contraction", Values::Scalar(contraction));
        report.tell("contraction", "1", Fold::Largest, most);
        let paintings = &self.prepared.paintings;
        for painting in &params.show {
            let (name, values) = match painting {
                Painting::Layer => ("layer", &paintings[0]),
                Painting::Amplitude => ("amplitude", &paintings[1]),
                Painting::Phase => ("phase", &paintings[2]),
                Painting::Primary | Painting::Secondary | Painting::Third => continue,
            };
            shape.channels.set(name, Values::Scalar(values.clone()));
        }
        self.prepared.notes.iter().for_each(|note| report.warn(note.clone()));
        Ok(())
    }

    /// Short lines along the directions that are asked for, all over the surface.
    fn overlays(&self, params: &Params, _: &Moment<'_>, state: &Playing, out: &mut Vec<Overlay>) {
        let Prepared { body, directions, across, .. } = &*self.prepared;
        let all = [directions, &across[0], &across[1]];
        let mut shown: Vec<usize> = params.show.iter().filter_map(|p| p.direction()).collect();
        if shown.is_empty() {
            shown.push(0);
        }
        for k in shown {
            out.extend(body.lines_along(&state.body, all[k]).map(Overlay::Line));
        }
    }

    fn size(&self, state: &Playing) -> Option<usize> {
        let body = &self.prepared.body;
        let fits = state.body.fits(body) && state.touches.iter().all(|t| t.fits(body));
        let touches: usize = state.touches.iter().map(Touch::bytes).sum();
        fits.then(|| state.body.bytes() + touches)
    }
}

//! `blendshape` in scenes: targets from files, or the body's own morph targets, with weights that tracks drive.
//!
//! The blend is found at a rate of its own; what starts the next solve is state, so that a frame has the same bits
//! however it is reached, and a frame on a solve costs nothing. In between, `deform` goes on to its own moment and
//! forgets. Other modifiers of the pose keep what they did: the blend is added to it.

use std::collections::BTreeMap;

use glam::{DVec3, Mat4, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contact::{Interaction, Pull, Touch, World};
use super::obstacle::{Obstacle, Pose, Solid};
use super::{
    Anchor, Bending, Combination, Error, History, Hold, Mode, Params as Blending, Report as Solved,
    Shapes, Solver,
};
use crate::mesh::Shape;
use crate::modifier::{
    Fold, Halt, Inputs, Modifier, Moment, Nature, Need, OnItsWay, Report, Source, Stage,
    TICKS_PER_SECOND, Value,
};

/// How a body is blended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The other shapes, with the vertices of the body in the same order. None: the body's own morph targets.
    pub targets: Vec<Source>,
    /// Weight of each target, the base not counted. Numbers, or names of tracks.
    pub weights: Vec<Value>,
    /// Weight of morph targets by name; others keep that of the file or clip.
    pub morphs: BTreeMap<String, Value>,
    /// Morph targets that belong to others used together, as in `fix = "smile*jawOpen"`: added to them by the product of their
    /// weights.
    pub combinations: BTreeMap<String, String>,
    /// `springs`: the equilibrium, for what bends and turns. `rotations`: interpolated rotations, for faces.
    pub mode: Mode,
    /// Hold the vertices where all shapes agree. Default: yes for morph targets, no for other shapes.
    pub hold_agreeing: Option<bool>,
    /// Vertices that are held, from 0.
    pub hold: Vec<u32>,
    /// Vertices whose motion the whole takes part in where nothing is held; none: all.
    pub anchor: Vec<u32>,
    /// Places of rigid rectangles inside that the rest comes to rest about (001 §3.4), in place of `anchor` and held vertices.
    pub anchors: Vec<[f64; 3]>,
    /// Painted values of the body: vertices above one half are held.
    pub hold_painted: Option<String>,
    /// Vertices that a hand pulls.
    pub pulls: Vec<Pulled>,
    /// Painted values of the body that make springs stiffer.
    pub stiffness: Option<String>,
    /// Springs against bending: `two-ring`, between all vertices two edges apart; `opposite`, between those opposite each
    /// edge; `nothing`.
    pub bending: Bending,
    /// Distance of the nodes inside a closed surface, in mean edges of it.
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub spacing_edges: f64,
    /// Stay out of the scene's colliders.
    pub contact: bool,
    /// Coefficient of friction on colliders.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub friction: f64,
    /// Solves a second: a divisor of 120.
    #[schemars(range(min = 1, max = 120), extend("unit" = "Hz"))]
    pub rate: u32,
}

/// A vertex in a hand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pulled {
    /// Which vertex, from 0.
    pub vertex: u32,
    /// Where to, in the space of the body.
    pub to: [f64; 3],
    /// How far: 0 lets go, 1 brings it there. A number, or the name of a track.
    #[serde(default = "whole")]
    pub amount: Value,
}

fn whole() -> Value {
    Value::Number(1.0)
}

impl Default for Params {
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            weights: Vec::new(),
            morphs: BTreeMap::new(),
            combinations: BTreeMap::new(),
            mode: Mode::Springs,
            hold_agreeing: None,
            hold: Vec::new(),
            anchor: Vec::new(),
            anchors: Vec::new(),
            hold_painted: None,
            pulls: Vec::new(),
            stiffness: None,
            bending: Bending::TwoRing,
            spacing_edges: 1.0,
            contact: false,
            friction: 0.0,
            rate: 24,
        }
    }
}

/// The last solves, and what they found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct State {
    history: History,
    touch: Touch,
    weights: Vec<f64>,
    positions: Vec<Vec3>,
    /// The last solve that had other weights.
    #[serde(default)]
    before: (Vec<f64>, Vec<Vec3>),
    solved: Option<Solved>,
    /// Where colliders were.
    places: Vec<Pose>,
    /// How far vertices were pulled.
    amounts: Vec<f64>,
}

/// Weights go on as they did if the square of the cosine between both ways is at least this.
const ON_A_LINE: f64 = 0.95;

/// Times the way between the last two solves that what they say holds on.
const FARTHEST: f64 = 3.0;

/// A body prepared for blends.
#[derive(Debug)]
pub struct Blendshape {
    solver: Solver,
    interaction: Option<Interaction>,
    rest: Vec<Vec3>,
    /// For each weight the morph targets it belongs to; empty for targets from files.
    morphs: Vec<Vec<usize>>,
    names: Vec<String>,
    /// The body's own morph targets: their morphs, and displacements at weight one.
    own: Vec<Moved>,
}

/// Morphs or targets, and what they do to each vertex or where they put it.
type Moved = (Vec<usize>, Vec<Vec3>);

/// The body's own morph targets by name, and those that belong to others used together.
#[derive(Default)]
struct Own {
    names: Vec<String>,
    all: Vec<Moved>,
    /// Places of targets among all.
    plain: Vec<usize>,
    /// Place among all, and the targets that it belongs to, as places among the plain ones.
    combined: Vec<(usize, Vec<usize>)>,
}

impl Blendshape {
    fn weights(&self, params: &Params, now: &Moment<'_>) -> Vec<f64> {
        if self.morphs.is_empty() {
            return params.weights.iter().map(|w| now.value(w)).collect();
        }
        let weight = |(of, name): (&Vec<usize>, &String)| match params.morphs.get(name) {
            Some(value) => now.value(value),
            None => {
                of.first().and_then(|&m| now.morph_weights.get(m)).map_or(0.0, |w| f64::from(*w))
            }
        };
        self.morphs.iter().zip(&self.names).map(weight).collect()
    }

    /// Solves for a moment, from and into a state.
    fn advance(&self, params: &Params, now: &Moment<'_>, state: &mut State) -> Result<(), Halt> {
        let weights = self.weights(params, now);
        if weights.iter().any(|w| !w.is_finite()) {
            return Err(Halt::NotFinite);
        }
        let blend = match &self.interaction {
            Some(interaction) => {
                let (obstacles, places) = if params.contact {
                    obstacles(now, &state.places)
                } else {
                    (Vec::new(), Vec::new())
                };
                let pulls: Vec<Pull> = params.pulls.iter().filter_map(|p| pull(p, now)).collect();
                let world = World {
                    obstacles: &obstacles,
                    pulls: &pulls,
                    friction: params.friction,
                    ..World::default()
                };
                let found = interaction.solve(
                    &self.solver,
                    &weights,
                    &world,
                    (&mut state.touch, &mut state.history),
                    now.run,
                );
                state.places = places;
                found
            }
            None => self.solver.solve(&weights, &mut state.history, now.run),
        };
        let blend = blend.map_err(|wrong| match wrong {
            Error::Cancelled(stop) => Halt::Cancelled(stop),
            other => Halt::Unreadable(other.to_string()),
        })?;
        if blend.positions.iter().any(|x| !x.is_finite()) {
            return Err(Halt::NotFinite);
        }
        let was = std::mem::replace(&mut state.positions, blend.positions);
        if weights != state.weights {
            state.before = (std::mem::replace(&mut state.weights, weights), was);
        }
        state.solved = Some(blend.report);
        state.amounts = amounts(params, now);
        Ok(())
    }
}

/// How far each vertex is pulled.
fn amounts(params: &Params, now: &Moment<'_>) -> Vec<f64> {
    params.pulls.iter().map(|p| now.value(&p.amount)).collect()
}

/// What is pulled now.
fn pull(pulled: &Pulled, now: &Moment<'_>) -> Option<Pull> {
    let amount = now.value(&pulled.amount);
    let to = DVec3::from_array(pulled.to);
    (amount != 0.0).then_some(Pull { vertex: pulled.vertex, to, amount })
}

/// The scene's colliders in the space of the body, where they were and where they are.
fn obstacles(now: &Moment<'_>, before: &[Pose]) -> (Vec<Obstacle>, Vec<Pose>) {
    let to_body = now.joints.first().map_or(Mat4::IDENTITY, Mat4::inverse);
    let (_, turn, at) = to_body.to_scale_rotation_translation();
    let (turn, at) = (turn.as_dquat(), at.as_dvec3());
    let mut obstacles = Vec::new();
    let mut places = Vec::new();
    for (k, (collider, place)) in
        now.obstacles.colliders.iter().zip(now.obstacles.places).enumerate()
    {
        let placed = Pose {
            turn: turn * place.rotation.as_dquat(),
            at: turn * place.translation.as_dvec3() + at,
        };
        let solid = Solid::Parts(collider.parts.clone());
        obstacles
            .push(Obstacle { solid, poses: [before.get(k).copied().unwrap_or(placed), placed] });
        places.push(placed);
    }
    (obstacles, places)
}

impl Own {
    fn new(params: &Params, from: &Inputs<'_>) -> Result<Self, String> {
        let (mut names, mut of): (Vec<String>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
        for (m, morph) in from.body.morphs.iter().enumerate() {
            let name =
                if morph.name.is_empty() { morph.index.to_string() } else { morph.name.clone() };
            match names.iter().position(|n| *n == name) {
                Some(known) => of[known].push(m),
                None => {
                    names.push(name);
                    of.push(vec![m]);
                }
            }
        }
        if names.is_empty() {
            return Err("there is nothing to blend to: give targets, or a body with morph targets"
                .to_owned());
        }
        let place = |wanted: &str| {
            names.iter().position(|n| n == wanted.trim()).ok_or_else(|| {
                let known = names[..names.len().min(20)].join(", ");
                format!("there is no morph target '{}' (known: {known})", wanted.trim())
            })
        };
        for wanted in params.morphs.keys() {
            place(wanted)?;
        }
        let mut combined = Vec::new();
        for (name, of) in &params.combinations {
            let of: Vec<usize> = of.split('*').map(place).collect::<Result<_, _>>()?;
            combined.push((place(name)?, of));
        }
        let is_plain = |t: &usize| combined.iter().all(|(name, _)| name != t);
        let plain: Vec<usize> = (0..names.len()).filter(is_plain).collect();
        for (name, of) in &mut combined {
            let among = |t: &usize| plain.iter().position(|p| p == t);
            *of = of.iter().filter_map(among).collect();
            if of.len() < 2 {
                return Err(format!(
                    "combination '{}' must name at least two morph targets, as in \"smile*jawOpen\"",
                    names[*name]
                ));
            }
        }
        let all = of.into_iter().map(|of| (of.clone(), displacement(&of, from))).collect();
        let names = plain.iter().map(|&t| names[t].clone()).collect();
        Ok(Self { names, all, plain, combined })
    }

    /// Where the vertices are at weight one of each target, and of those used together.
    fn positions(&self, rest: &[Vec3]) -> (Vec<Vec<Vec3>>, Vec<Moved>) {
        let moved = |of: &[usize]| -> Vec<Vec3> {
            let all = |v: usize| of.iter().map(|&t| self.all[t].1[v]).sum::<Vec3>();
            rest.iter().enumerate().map(|(v, x)| *x + all(v)).collect()
        };
        let together = |(own, of): &(usize, Vec<usize>)| {
            let mut all: Vec<usize> = of.iter().map(|&t| self.plain[t]).collect();
            all.push(*own);
            (of.clone(), moved(&all))
        };
        let plain = self.plain.iter().map(|&t| moved(&[t])).collect();
        (plain, self.combined.iter().map(together).collect())
    }
}

/// What morphs do to the vertices together.
fn displacement(of: &[usize], from: &Inputs<'_>) -> Vec<Vec3> {
    let mut all = vec![Vec3::ZERO; from.rest.positions.len()];
    for morph in of.iter().map(|&m| &from.body.morphs[m]) {
        let range = morph.vertices.start as usize..morph.vertices.end as usize;
        if let Some(part) = all.get_mut(range) {
            part.iter_mut().zip(&morph.positions).for_each(|(x, d)| *x += *d);
        }
    }
    all
}

/// The positions of targets from files.
fn loaded(params: &Params, from: &Inputs<'_>) -> Result<Vec<Vec<Vec3>>, String> {
    let mut targets = Vec::new();
    for (k, source) in from.sources.iter().enumerate() {
        let Some(model) = source.model() else {
            return Err(format!("target {} is no model", k + 1));
        };
        let mesh = crate::Asset::clone(model)
            .into_rest_mesh(from.run)
            .map_err(|wrong| format!("target {}: {wrong}", k + 1))?;
        targets.push(mesh.positions);
    }
    if params.weights.len() != targets.len() {
        return Err(format!(
            "{} weights for {} targets: give one for each, the base not counted",
            params.weights.len(),
            targets.len()
        ));
    }
    Ok(targets)
}

impl Blendshape {
    /// What a linear blend did already, by the weights that the pose has: one weight for each target of the body's own.
    fn done(&self, now: &Moment<'_>) -> Vec<f32> {
        let done = |of: &Vec<usize>| {
            of.first().and_then(|&m| now.morph_weights.get(m)).copied().unwrap_or(0.0)
        };
        self.own.iter().map(|(of, _)| done(of)).collect()
    }

    /// How far a blend takes a vertex beyond what is `done`.
    fn beyond(&self, done: &[f32], found: &State, v: usize) -> Vec3 {
        let linear: Vec3 = self.own.iter().zip(done).map(|((_, d), w)| *w * d[v]).sum();
        found.positions[v] - self.rest[v] - linear
    }

    /// How far weights take each vertex from the last solve, about: where they go on as they did between the last two
    /// solves, as these say; otherwise as straight as targets are.
    fn since(&self, state: &State, weights: &[f64]) -> impl Fn(usize) -> DVec3 {
        let (before, was) = &state.before;
        let way = |from: &[f64], to: &[f64]| -> Vec<f64> {
            to.iter().zip(from).map(|(b, a)| b - a).collect()
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (last, next) = (way(before, &state.weights), way(&state.weights, weights));
        let along = dot(&last, &next);
        let share = along / dot(&last, &last);
        let is_on_line = along * along >= ON_A_LINE * dot(&last, &last) * dot(&next, &next);
        let known = was.len() == state.positions.len() && share.is_finite() && is_on_line;
        let share = if known { share.clamp(-FARTHEST, FARTHEST) } else { 0.0 };
        let straight = self.solver.straight(&state.weights, weights);
        move |v| match known {
            true => share * (state.positions[v] - was[v]).as_dvec3(),
            false => straight.at(v),
        }
    }
}

impl Modifier for Blendshape {
    const KIND: &'static str = "blendshape";
    const STAGES: &'static [Stage] = &[Stage::Pose];
    type Params = Params;
    type State = State;

    fn needs(params: &Params) -> Vec<Need> {
        params.targets.iter().cloned().map(Need::Model).collect()
    }

    fn prepare(params: &Params, from: &Inputs<'_>) -> Result<Self, String> {
        let rate = params.rate;
        if rate == 0 || !TICKS_PER_SECOND.is_multiple_of(rate) {
            return Err(format!(
                "a rate of {rate} does not divide {TICKS_PER_SECOND}: give 24, 30, 40, 60 or 120"
            ));
        }
        let rest = &from.rest.positions;
        let (own, targets, combined) = if params.targets.is_empty() {
            let own = Own::new(params, from)?;
            let (targets, combined) = own.positions(rest);
            (own, targets, combined)
        } else {
            (Own::default(), loaded(params, from)?, Vec::new())
        };
        let painted = |name: &String| {
            let paint = from.rest.channels.scalar(name);
            paint.ok_or_else(|| format!("the body has no painted values '{name}'"))
        };
        let stiffness = params.stiffness.as_ref().map(painted).transpose()?;
        let mut held = params.hold.clone();
        if let Some(paint) = params.hold_painted.as_ref().map(painted).transpose()? {
            held.extend((0..).zip(paint).filter(|(_, x)| **x > 0.5).map(|(v, _)| v));
        }
        if params.pulls.iter().any(|p| p.to.iter().any(|x| !x.is_finite())) {
            return Err("a pull needs a finite place".to_owned());
        }
        let is_anchored = !params.anchors.is_empty();
        let agree = params.hold_agreeing.unwrap_or(!own.names.is_empty() && !is_anchored);
        let hold = match (&held[..], agree) {
            ([], true) => Hold::Agreeing,
            ([], false) => Hold::Nothing,
            (held, _) => Hold::Vertices(held.to_vec()),
        };
        let blending = Blending {
            mode: params.mode,
            hold,
            anchor: params.anchor.clone(),
            anchors: params.anchors.iter().map(|&at| Anchor::At(DVec3::from_array(at))).collect(),
            bending: params.bending,
            spacing_edges: params.spacing_edges,
            ..Blending::default()
        };
        let given = targets.iter().map(Vec::as_slice).collect();
        let combinations = combined
            .iter()
            .map(|(of, positions)| Combination { of: of.clone(), positions })
            .collect();
        let shapes = Shapes {
            stiffness,
            combinations,
            ..Shapes::of_surface(from.rest.topology.triangles(), rest, given)
        };
        let solver =
            Solver::new(&shapes, &blending, from.run).map_err(|wrong| wrong.to_string())?;
        if params.contact && from.body.joints.len() > 1 {
            return Err("contact needs a body without a skeleton: blends happen before the skeleton moves them".to_owned());
        }
        let interaction = if params.contact || !params.pulls.is_empty() {
            let new = Interaction::new(&solver, from.run).and_then(|new| {
                params.pulls.iter().try_for_each(|pull| new.check_pull(&solver, pull.vertex))?;
                Ok(new)
            });
            Some(new.map_err(|wrong| wrong.to_string())?)
        } else {
            None
        };
        let morphs = own.plain.iter().map(|&t| own.all[t].0.clone()).collect();
        let (names, own) = (own.names, own.all);
        Ok(Self { solver, interaction, rest: rest.clone(), morphs, names, own })
    }

    fn nature(&self, params: &Params) -> Nature {
        let ticks_per_second = params.rate;
        // Colliders are known from the scene's start on.
        let warms_up = !params.contact;
        Nature { ticks_per_second, whole_ticks: true, warms_up, carries: true, ..Nature::default() }
    }

    fn begin(&self, params: &Params, now: &Moment<'_>) -> State {
        let mut state = State::default();
        // A start that cannot be solved shows in the first frame, which solves again.
        let _ = self.advance(params, now, &mut state);
        state
    }

    fn tick(&self, params: &Params, now: &Moment<'_>, state: &mut State) -> Result<(), Halt> {
        let mut next = state.clone();
        self.advance(params, now, &mut next)?;
        *state = next;
        Ok(())
    }

    /// By the last solve, and on from there: a tick does not blend anew, but what hangs on markers must not be jerked
    /// at every solve.
    fn carry(
        &self,
        params: &Params,
        now: &Moment<'_>,
        state: &State,
        markers: &mut [OnItsWay<'_>],
    ) {
        if state.positions.len() == self.rest.len() {
            let done = self.done(now);
            let weights = self.weights(params, now);
            let since = self.since(state, &weights);
            for marker in markers {
                let shift = |v| self.beyond(&done, state, v).as_dvec3() + since(v);
                marker.shift += marker.mean(shift);
            }
        }
    }

    fn deform(
        &self,
        params: &Params,
        now: &Moment<'_>,
        state: &State,
        shape: &mut Shape,
        report: &mut Report,
    ) -> Result<(), Halt> {
        let weights = self.weights(params, now);
        let mut own = None;
        let is_still = weights == state.weights && amounts(params, now) == state.amounts;
        if !is_still || state.positions.len() != self.rest.len() {
            let mut next = state.clone();
            self.advance(params, now, &mut next)?;
            own = Some(next);
        }
        let found = own.as_ref().unwrap_or(state);
        let done = self.done(now);
        let shown = |v: usize| self.beyond(&done, found, v);
        shape.positions.iter_mut().enumerate().for_each(|(v, x)| *x += shown(v));
        if let Some(solved) = &found.solved {
            tell(solved, report);
        }
        Ok(())
    }

    fn size(&self, state: &State) -> Option<usize> {
        let fits = state.positions.is_empty() || state.positions.len() == self.rest.len();
        fits.then(|| {
            size_of::<State>()
                + 12 * (state.positions.len() + state.before.1.len())
                + state.history.size()
                + state.touch.size()
        })
    }
}

fn tell(solved: &Solved, report: &mut Report) {
    report.tell("newton steps", "", Fold::Largest, solved.newton_steps as f64);
    report.tell("gradient steps", "", Fold::Largest, solved.gradient_steps as f64);
    report.tell("last step", "diagonals", Fold::Largest, solved.last_step_rel_diagonal);
    report.tell("inverted tets", "", Fold::Largest, solved.inverted_tets as f64);
    report.tell("bent-off lengths", "", Fold::Largest, solved.bent_off as f64);
    report.tell("contacts", "", Fold::Largest, solved.contacts as f64);
    report.tell("depth", "diagonals", Fold::Largest, solved.depth_rel_diagonal);
    if !solved.is_proved {
        report.warn("a blend is the best found, not proved to be at rest");
    }
}

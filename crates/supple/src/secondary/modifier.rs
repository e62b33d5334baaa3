//! `secondary`: flesh that jiggles on top of the motion, with a handful of masses on springs.
//!
//! Everything about the method is in [`crate::secondary`]. A set is a table `[[asset.world.set]]`; its
//! anchor and radius are measured in the asset's rest pose, in the asset's own units. `supple new` places
//! sets by itself. A hand that holds the mass of a set is a table of the set's name,
//! `[asset.world.hand.nose]`: its `offset` from the anchor along the scene's axes, and its `grip` (1
//! holds, 0 lets go), each a number or a track.
//!
//! Anchors are [markers](crate::modifier::Marker): they follow the body as its joints, its morph targets and the
//! modifiers before carry it.
//!
//! The masses begin `warm_up` before the scene's start, so that a loop is in full swing at the first frame
//! and what stands still is at rest.
//!
//! ```
//! use supple::scene::Scene;
//! use supple::secondary::modifier::Params;
//!
//! let scene = Scene::parse(r#"
//!     supple = 2
//!     [[asset]]
//!     zoo = "jelly"
//!     [[asset.world]]
//!     kind = "secondary"
//!     preset = "jelly"
//!     [[asset.world.set]]
//!     name = "top"
//!     anchor = [0, 1.1, 0]
//!     radius = "30 cm"
//!     [asset.world.hand.top]
//!     offset = [0, "pull", 0]
//!     [track.pull]
//!     keys = [[0, 0], [1, 0.2]]
//! "#, None)?;
//! let params: Params = scene.assets[0].world[0].read()?;
//! assert_eq!(params.flesh.sets.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;

use glam::{DVec3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Flesh, Frame, Set, State, Step};
use crate::Run;
use crate::mesh::Shape;
use crate::mesh::exact_volume::{self, freedom_by_displacement};
use crate::mesh::retreat;
use crate::mesh::volume::volume;
use crate::mesh::welding::Welding;
use crate::modifier::{
    Fold, Halt, Inputs, Key, Marker, Modifier, Moment, Nature, Overlay, Report, Spring, Stage,
    Value, Wrong,
};

/// The flesh of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["set"]))]
pub struct Params {
    /// How much of the effect: 0 is nothing, 1 all of it. Default: 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub amount: Value,
    /// How long before the scene's start the masses begin, in seconds. Default: 1.
    #[schemars(range(min = 0.0, max = 60.0), extend("unit" = "s"))]
    pub warm_up: f64,
    /// Restore exactly the volume the body had before. Default: no.
    pub exact_volume: bool,
    /// Draw flesh back where triangles would intersect that do not without it, in each frame by itself; also what
    /// `exact_volume` moves. Default: no.
    pub retreat: bool,
    /// The sets and their springs.
    #[serde(flatten)]
    pub flesh: super::Params,
    /// The hands that hold masses, by the name of the set.
    #[serde(rename = "hand", skip_serializing_if = "BTreeMap::is_empty")]
    pub hands: BTreeMap<String, Hand>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            amount: Value::Number(1.0),
            warm_up: 1.0,
            exact_volume: false,
            retreat: false,
            flesh: super::Params::default(),
            hands: BTreeMap::new(),
        }
    }
}

/// A hand that holds a mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hand {
    /// Where it holds the mass, seen from the anchor, in scene units.
    #[schemars(extend("unit" = "m", "examples" = [[0, 0, 0]]))]
    pub offset: [Value; 3],
    /// Whether it holds: yes from 0.5 on. Default: 1.
    #[serde(default = "held")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub grip: Value,
}

fn held() -> Value {
    Value::Number(1.0)
}

impl Params {
    /// Where hands hold masses, seen from their anchors; nothing at all if there are none.
    fn held(&self, now: &Moment<'_>) -> Vec<Option<DVec3>> {
        let held = |set: &Set| {
            let hand = self.hands.get(&set.name)?;
            (now.value(&hand.grip) >= 0.5).then(|| now.vector(&hand.offset))
        };
        match self.hands.is_empty() {
            true => Vec::new(),
            false => self.flesh.sets.iter().map(held).collect(),
        }
    }
}

/// The flesh of a body, and what gives its volume back.
#[derive(Clone, Debug)]
pub struct Secondary {
    flesh: Flesh,
    /// How many vertices the body has.
    vertices: usize,
    /// Which vertices are one place, if the volume is restored or folds are drawn back.
    welding: Option<Welding>,
}

impl Modifier for Secondary {
    const KIND: &'static str = "secondary";
    const STAGES: &'static [Stage] = &[Stage::World];
    const POINTWISE: bool = true;
    type Params = Params;
    type State = State;

    fn check(params: &Params) -> Result<(), Wrong> {
        let known = |name: &str| params.flesh.sets.iter().any(|set| set.name == name);
        let Some(name) = params.hands.keys().find(|name| !known(name)) else { return Ok(()) };
        Err(Wrong {
            at: vec![Key::Name("hand".to_owned()), Key::Name(name.clone())],
            what: format!("there is no set '{name}' to hold"),
            fix: "give a set this name: name = \"…\"".to_owned(),
        })
    }

    /// Springs, gravity, bounds and hands may change; masses must stay sound.
    fn adapt(&self, params: &Params, to: &Params) -> Option<Self> {
        let mut same = Params { amount: to.amount.clone(), warm_up: to.warm_up, ..params.clone() };
        same.hands.clone_from(&to.hands);
        let (flesh, tuned) = (&mut same.flesh, &to.flesh);
        flesh.preset = tuned.preset;
        (flesh.stiffness, flesh.damping) = (tuned.stiffness, tuned.damping);
        (flesh.gravity, flesh.detail) = (tuned.gravity, tuned.detail);
        (flesh.max_stretch, flesh.max_turn) = (tuned.max_stretch, tuned.max_turn);
        for (set, tuned) in flesh.sets.iter_mut().zip(&tuned.sets) {
            (set.stiffness, set.damping) = (tuned.stiffness, tuned.damping);
        }
        (same == *to).then(|| Self { flesh: self.flesh.tuned(&to.flesh), ..self.clone() })
    }

    fn prepare(params: &Params, from: &Inputs<'_>) -> Result<Self, String> {
        let flesh = Flesh::new(from.body, &from.placement, &params.flesh);
        let flesh = flesh.map_err(|e| e.to_string())?;
        let welds = params.exact_volume || params.retreat;
        let welding = welds.then(|| from.body.welding().clone());
        Ok(Self { flesh, vertices: from.rest.positions.len(), welding })
    }

    fn nature(&self, params: &Params) -> Nature {
        Nature { warms_up: true, warm_up_secs: params.warm_up, ..Nature::default() }
    }

    fn markers(&self, _: &Params) -> Vec<Marker> {
        self.flesh.anchors()
    }

    fn begin(&self, _: &Params, now: &Moment<'_>) -> State {
        self.flesh.begin_at(now.joints, now.shifts)
    }

    fn tick(&self, params: &Params, now: &Moment<'_>, state: &mut State) -> Result<(), Halt> {
        let before = state.clone();
        let (hands, dt_secs) = (params.held(now), now.dt_secs);
        let step = Step { joints: now.joints, hands: &hands, shifts: now.shifts, dt_secs };
        self.flesh.step(state, &step);
        if state.is_finite() {
            return Ok(());
        }
        *state = before;
        Err(Halt::NotFinite)
    }

    fn deform(
        &self,
        params: &Params,
        now: &Moment<'_>,
        state: &State,
        shape: &mut Shape,
        report: &mut Report,
    ) -> Result<(), Halt> {
        if shape.positions.len() != self.vertices {
            report.warn("a modifier before it changed the vertices; left out of this frame");
            return Ok(());
        }
        let (flesh, run) = (&self.flesh, now.run);
        let amount = now.value(&params.amount);
        let frame = Frame { joints: now.joints, eye: now.eye, amount };
        let Shape { positions, topology, .. } = shape;
        if flesh.is_still(state, &frame) {
            tell(&flesh.deform(state, &frame, positions, run), report);
            return Ok(());
        }
        let (rest, triangles) = (positions.clone(), topology.triangles());
        let (told, before) = run
            .join(|| flesh.deform(state, &frame, positions, run), || volume(&rest, triangles, run));
        if let Some(welding) = self.welding.as_ref().filter(|_| told.moved > 0) {
            if params.exact_volume
                && let Err(error) = restore(welding, triangles, &rest, positions, before, run)
            {
                report.warn(format!("the volume is not restored: {error}"));
            }
            if params.retreat {
                draw_back(welding, triangles, &rest, positions, run);
            }
        }
        report.volume_before = (told.moved > 0 && before != 0.0).then_some(before);
        tell(&told, report);
        Ok(())
    }

    fn overlays(&self, _: &Params, now: &Moment<'_>, state: &State, out: &mut Vec<Overlay>) {
        for (swing, radius) in state.swings.iter().zip(self.flesh.radii(now.joints)) {
            out.push(Overlay::Spring(Spring {
                anchor: swing.mass.anchor.as_vec3(),
                mass: swing.mass.position.as_vec3(),
                radius: radius as f32,
            }));
        }
    }

    fn size(&self, state: &State) -> Option<usize> {
        let fits = state.swings.len() == self.flesh.len();
        fits.then(|| size_of::<State>() + size_of_val(&state.swings[..]))
    }
}

/// Tells what the masses did.
fn tell(told: &super::Report, report: &mut Report) {
    report.tell("stretch", "radii", Fold::Largest, told.mean_stretch);
    report.tell("most stretch", "radii", Fold::Largest, told.most_stretch);
    report.tell("moved", "vertices", Fold::Largest, told.moved as f64);
    report.tell("steps", "", Fold::Largest, told.steps);
    report.tell("culled", "sets", Fold::Largest, told.culled);
    report.tell("cut short", "frames", Fold::Sum, u32::from(!told.clamped.is_empty()));
}

/// Draws what moved since `rest` back where it makes triangles intersect; copies of a vertex move as one.
fn draw_back(
    welding: &Welding,
    triangles: &[[u32; 3]],
    rest: &[Vec3],
    positions: &mut [Vec3],
    run: &Run<'_>,
) {
    let (from, moved) = (welding.gather(rest), welding.gather(positions));
    let (mut to, triangles) = (moved.clone(), welding.triangles(triangles));
    // Cancelled: the frame is not shown.
    if retreat::draw_back(&from, &mut to, &triangles, run).is_ok_and(|drawn| drawn > 0) {
        welding.carry(&moved, &to, positions);
    }
}

/// Gives a body the volume back that it had at `rest`; copies of a vertex move as one.
fn restore(
    welding: &Welding,
    triangles: &[[u32; 3]],
    rest: &[Vec3],
    positions: &mut [Vec3],
    target: f64,
    run: &Run<'_>,
) -> Result<(), exact_volume::Error> {
    let (rest, from) = (welding.gather(rest), welding.gather(positions));
    let freedom = freedom_by_displacement(&rest, &from);
    let (mut to, triangles) = (from.clone(), welding.triangles(triangles));
    exact_volume::exact_volume(&mut to, &triangles, target, &freedom, run)?;
    welding.carry(&from, &to, positions);
    Ok(())
}

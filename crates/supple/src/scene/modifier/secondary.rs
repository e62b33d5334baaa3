//! `secondary`: flesh that jiggles on top of the motion, with a handful of masses on springs.
//!
//! Everything about the method is in [`crate::secondary`]. A set is a table `[[asset.modifier.set]]`; its
//! anchor and radius are measured in the asset's rest pose, in the asset's own units. `supple new` places
//! sets by itself. A hand that holds the mass of a set is a table of the set's name,
//! `[asset.modifier.hand.nose]`: its `offset` from the anchor along the scene's axes, and its `grip` (1
//! holds, 0 lets go), each a number or a track.
//!
//! Anchors follow the deformed body: its joints, its morph targets, and the edits of `sculpt` before it. Those that need
//! the surface (`paint`, `stamp`, `boundary`, `curve`, and all with a mask) are followed as they move the body at rest.
//!
//! The masses begin `warm_up` before the scene's start, so that a loop is in full swing at the first frame
//! and what stands still is at rest.
//!
//! ```
//! use supple::scene::{Modifier, Scene};
//!
//! let scene = Scene::parse(r#"
//!     supple = 1
//!     [[asset]]
//!     zoo = "jelly"
//!     [[asset.modifier]]
//!     kind = "secondary"
//!     preset = "jelly"
//!     [[asset.modifier.set]]
//!     name = "top"
//!     anchor = [0, 1.1, 0]
//!     radius = "30 cm"
//!     [asset.modifier.hand.top]
//!     offset = [0, "pull", 0]
//!     [track.pull]
//!     keys = [[0, 0], [1, 0.2]]
//! "#, None)?;
//! assert!(matches!(&scene.assets[0].modifiers[0], Modifier::Secondary(s) if s.flesh.sets.len() == 1));
//! # Ok::<(), supple::scene::Problem>(())
//! ```

use std::collections::BTreeMap;

use glam::{DAffine3, DVec3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Carried, Outcome, Prepared, Stage};
use crate::Run;
use crate::mesh::exact_volume::{self, freedom_by_displacement};
use crate::mesh::retreat;
use crate::mesh::volume::volume;
use crate::rig::Body;
use crate::scene::document::Place;
use crate::scene::{Problem, Value};
use crate::sculpt;
use crate::secondary::{self, Flesh, Frame, Set, State, Step};

/// The flesh of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
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
    pub flesh: secondary::Params,
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
            flesh: secondary::Params::default(),
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
    pub(super) fn check_document(&self, at: Place<'_>) -> Result<(), Problem> {
        at.need("set", "[[asset.modifier]]")?;
        let known = |name: &str| self.flesh.sets.iter().any(|set| set.name == name);
        let Some(name) = self.hands.keys().find(|name| !known(name)) else { return Ok(()) };
        let what = format!("there is no set '{name}' to hold");
        Err(at.get("hand").get(name).wrong(&what, "give a set this name: name = \"…\""))
    }

    pub(super) fn prepare(&self, body: &Body, placement: &DAffine3) -> Result<Flesh, String> {
        Flesh::new(body, placement, &self.flesh).map_err(|e| e.to_string())
    }

    pub(super) fn step(
        &self,
        stage: &Stage<'_>,
        state: &mut State,
        dt_secs: f64,
        carried: &Carried,
    ) {
        let Prepared::Secondary(flesh) = stage.prepared else { return };
        let (secs, tracks) = (stage.moment.secs, stage.moment.tracks);
        let held = |set: &Set| {
            let hand = self.hands.get(&set.name)?;
            let offset = DVec3::from(Value::at3(&hand.offset, secs, tracks));
            (hand.grip.at(secs, tracks) >= 0.5).then_some(offset)
        };
        let hands: Vec<Option<DVec3>> = match self.hands.is_empty() {
            true => Vec::new(),
            false => self.flesh.sets.iter().map(held).collect(),
        };
        let shifts = shifts(flesh, carried);
        let step = Step { joints: &carried.joints, hands: &hands, shifts: &shifts, dt_secs };
        flesh.step(state, &step);
    }

    pub(super) fn deform(
        &self,
        stage: &Stage<'_>,
        state: &State,
        carried: &Carried,
        positions: &mut [Vec3],
        run: &Run<'_>,
    ) -> Outcome {
        let Prepared::Secondary(flesh) = stage.prepared else { return Outcome::default() };
        let amount = self.amount.at(stage.moment.secs, stage.moment.tracks);
        let frame = Frame { joints: &carried.joints, eye: stage.moment.eye, amount };
        let triangles = &stage.body.mesh.triangles;
        if flesh.is_still(state, &frame) {
            let secondary = Some(flesh.deform(state, &frame, positions, run));
            return Outcome { secondary, ..Outcome::default() };
        }
        let rest = positions.to_vec();
        let (report, before) = run
            .join(|| flesh.deform(state, &frame, positions, run), || volume(&rest, triangles, run));
        let mut warning = None;
        if self.exact_volume && report.moved > 0 {
            let corrected = restore(stage.body, &rest, positions, before, run);
            warning = corrected.err().map(|e| format!("the volume is not restored: {e}"));
        }
        if self.retreat && report.moved > 0 {
            draw_back(stage.body, &rest, positions, run);
        }
        let volume_before = (report.moved > 0 && before != 0.0).then_some(before);
        Outcome { warning, secondary: Some(report), volume_before }
    }
}

/// How far morph targets and edits take the anchors from where the joints carry them.
pub(super) fn shifts(flesh: &Flesh, carried: &Carried) -> Vec<DVec3> {
    let Carried { joints, morphs, edits, courses, .. } = carried;
    if edits.is_empty() && courses.is_empty() && morphs.iter().all(|w| *w == 0.0) {
        return Vec::new();
    }
    let mut shifts = flesh.shifts(joints, morphs, |anchors| {
        if !edits.is_empty() {
            let (params, run) = (sculpt::Params::default(), Run::default());
            // An edit that fails leaves the points, and is told when the body is deformed.
            let _ = sculpt::apply(anchors, &[], edits, &params, &run);
        }
    });
    for (course, amount) in courses {
        let anchors = flesh.anchors_at_rest();
        shifts.iter_mut().zip(anchors).for_each(|(s, x)| *s += course.way(x, *amount));
    }
    shifts
}

/// Draws what moved since `rest` back where it makes triangles intersect; copies of a vertex move as one.
fn draw_back(body: &Body, rest: &[Vec3], positions: &mut [Vec3], run: &Run<'_>) {
    let welding = body.welding();
    let (from, moved) = (welding.gather(rest), welding.gather(positions));
    let (mut to, triangles) = (moved.clone(), welding.triangles(&body.mesh.triangles));
    // Cancelled: the frame is not shown.
    if retreat::draw_back(&from, &mut to, &triangles, run).is_ok_and(|drawn| drawn > 0) {
        welding.carry(&moved, &to, positions);
    }
}

/// Gives a body the volume back that it had at `rest`; copies of a vertex move as one.
fn restore(
    body: &Body,
    rest: &[Vec3],
    positions: &mut [Vec3],
    target: f64,
    run: &Run<'_>,
) -> Result<(), exact_volume::Error> {
    let welding = body.welding();
    let (rest, from) = (welding.gather(rest), welding.gather(positions));
    let freedom = freedom_by_displacement(&rest, &from);
    let (mut to, triangles) = (from.clone(), welding.triangles(&body.mesh.triangles));
    exact_volume::exact_volume(&mut to, &triangles, target, &freedom, run)?;
    welding.carry(&from, &to, positions);
    Ok(())
}

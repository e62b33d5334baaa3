//! `secondary`: flesh that jiggles on top of the motion, with a handful of masses on springs.
//!
//! Everything about the method is in [`crate::secondary`]. A set is a table `[[asset.modifier.set]]`; its
//! anchor and radius are measured in the asset's rest pose, in the asset's own units. `supple new` places
//! sets by itself. A hand that holds the mass of a set is a table of the set's name,
//! `[asset.modifier.hand.nose]`: its `offset` from the anchor along the scene's axes, and its `grip` (1
//! holds, 0 lets go), each a number or a track.
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
use serde::{Deserialize, Serialize};

use super::{Carried, Outcome, Prepared, Stage};
use crate::Run;
use crate::mesh::exact_volume::{exact_volume, freedom_by_displacement};
use crate::mesh::volume::volume;
use crate::rig::Body;
use crate::scene::document::{Field, Range, Table};
use crate::scene::{Problem, Unit, Value};
use crate::secondary::{self, Flesh, Frame, Lag, Preset, Segments, Set, State, Step};

/// The flesh of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Params {
    /// How much of the effect: 0 is nothing, 1 all of it. Default: 1.
    pub amount: Value,
    /// How long before the scene's start the masses begin, in seconds. Default: 1.
    pub warm_up: f64,
    /// Restore exactly the volume the body had before. Default: no.
    pub exact_volume: bool,
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
            flesh: secondary::Params::default(),
            hands: BTreeMap::new(),
        }
    }
}

/// A hand that holds a mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hand {
    /// Where it holds the mass, seen from the anchor, in scene units.
    pub offset: [Value; 3],
    /// Whether it holds: yes from 0.5 on. Default: 1.
    pub grip: Value,
}

const POSITIVE: Range = Range { least: 1e-9, most: 1e9 };
const NOT_NEGATIVE: Range = Range { least: 0.0, most: 1e9 };

impl Params {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, Problem> {
        table.only(&[
            "kind",
            "amount",
            "warm_up",
            "exact_volume",
            "preset",
            "stiffness",
            "damping",
            "gravity",
            "local_below",
            "max_stretch",
            "max_turn",
            "detail",
            "paint",
            "set",
            "hand",
        ])?;
        let default = Self::default();
        let sets = table.need("set")?.tables("[[asset.modifier.set]]")?;
        let sets: Vec<Set> = sets.iter().map(read_set).collect::<Result<_, _>>()?;
        let share = Range { least: 0.0, most: 1.0 };
        let minute = Range { least: 0.0, most: 60.0 };
        Ok(Self {
            amount: table.get("amount").map_or(Ok(default.amount), |f| f.value(Unit(""), share))?,
            warm_up: table.number_or("warm_up", Unit("s"), minute, default.warm_up)?,
            exact_volume: table.get("exact_volume").map_or(Ok(false), |f| f.flag())?,
            hands: read_hands(table, &sets)?,
            flesh: read_flesh(table, sets)?,
        })
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
        flesh.step(state, &Step { joints: &carried.joints, hands: &hands, dt_secs });
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
            let freedom = freedom_by_displacement(&rest, positions);
            let corrected = exact_volume(positions, triangles, before, &freedom, run);
            warning = corrected.err().map(|e| format!("the volume is not restored: {e}"));
        }
        let volume_before = (report.moved > 0 && before != 0.0).then_some(before);
        Outcome { warning, secondary: Some(report), volume_before }
    }
}

fn read_flesh(table: &Table<'_>, sets: Vec<Set>) -> Result<secondary::Params, Problem> {
    let default = secondary::Params::default();
    let optional =
        |key: &str, unit, range| table.get(key).map(|f| f.number(unit, range)).transpose();
    Ok(secondary::Params {
        preset: table.get("preset").map_or(Ok(default.preset), |f| f.choice(&Preset::ALL))?,
        stiffness: optional("stiffness", Unit(""), NOT_NEGATIVE)?,
        damping: optional("damping", Unit(""), NOT_NEGATIVE)?,
        gravity: table.get("gravity").map_or(Ok(default.gravity), |f| {
            f.numbers3(Unit("m/s2"), Range::ANY).map(DVec3::from)
        })?,
        local_below: optional("local_below", Unit("m"), NOT_NEGATIVE)?,
        max_stretch: table.number_or(
            "max_stretch",
            Unit(""),
            Range { least: 0.0, most: 10.0 },
            default.max_stretch,
        )?,
        max_turn: table.number_or(
            "max_turn",
            Unit("deg"),
            Range { least: 0.0, most: 360.0 },
            default.max_turn,
        )?,
        detail: table.number_or("detail", Unit(""), NOT_NEGATIVE, default.detail)?,
        paint: table.get("paint").map(|f| f.text().map(str::to_owned)).transpose()?,
        sets,
    })
}

fn read_set(table: &Table<'_>) -> Result<Set, Problem> {
    table.only(&[
        "name",
        "anchor",
        "radius",
        "bone",
        "segments",
        "mass",
        "stiffness",
        "damping",
        "lag",
    ])?;
    let optional =
        |key: &str, unit, range| table.get(key).map(|f| f.number(unit, range)).transpose();
    let text = |key: &str| table.get(key).map(|f| f.text().map(str::to_owned)).transpose();
    let lags = [("stretch", Lag::Stretch), ("turn", Lag::Turn), ("both", Lag::Both)];
    Ok(Set {
        name: text("name")?.unwrap_or_default(),
        anchor: table.need("anchor")?.numbers3(Unit("m"), Range::ANY)?.into(),
        radius: table.need("radius")?.number(Unit("m"), POSITIVE)?,
        bone: text("bone")?,
        segments: table.get("segments").map_or(Ok(Segments::Own), |f| read_segments(&f))?,
        mass: optional("mass", Unit(""), POSITIVE)?,
        stiffness: optional("stiffness", Unit(""), NOT_NEGATIVE)?,
        damping: optional("damping", Unit(""), NOT_NEGATIVE)?,
        lag: table.get("lag").map_or(Ok(Lag::Stretch), |f| f.choice(&lags))?,
    })
}

fn read_segments(field: &Field<'_>) -> Result<Segments, Problem> {
    if field.is_array() {
        let names = field.items()?;
        let names = names.iter().map(|f| f.text().map(str::to_owned));
        return names.collect::<Result<_, _>>().map(Segments::Named);
    }
    field.choice(&[("own", 0), ("all", 1)]).map(|k| [Segments::Own, Segments::All][k].clone())
}

fn read_hands(table: &Table<'_>, sets: &[Set]) -> Result<BTreeMap<String, Hand>, Problem> {
    let Some(field) = table.get("hand") else { return Ok(BTreeMap::new()) };
    let mut hands = BTreeMap::new();
    for entry in field.table("[asset.modifier.hand]")?.entries() {
        let hand = entry.table(&format!("[asset.modifier.hand.{}]", entry.key))?;
        if !sets.iter().any(|s| s.name == entry.key) {
            let what = format!("there is no set '{}' to hold", entry.key);
            return Err(hand.wrong(&what, "give a set this name: name = \"…\""));
        }
        hand.only(&["offset", "grip"])?;
        let grip = hand.get("grip").map(|f| f.value(Unit(""), Range { least: 0.0, most: 1.0 }));
        let offset = hand.need("offset")?.values3(Unit("m"), Range::ANY)?;
        let grip = grip.transpose()?.unwrap_or(Value::Number(1.0));
        hands.insert(entry.key.clone(), Hand { offset, grip });
    }
    Ok(hands)
}

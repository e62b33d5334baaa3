//! Documents as they were written before: with one list of modifiers, with motions that are modifiers now.
//!
//! In version 1 each modifier acted in the stage of its kind, wherever it stood; in version 2 that is where it is written.
//! Rigid bodies and ragdolls were motions; they stand at the head of `pose`. Read, such a document is one of today that
//! gives the same frames.

use schemars::Schema;
use serde_json::Value as Json;
use toml::{Table, Value};

use super::document::Location;
use crate::modifier::{Registry, Stage, read};

/// What a person should know of a document of version 1.
const VERSION_1: &str = "this scene is of version 1 and is read as one of version 2: write supple = 2 and, in the \
     place of [[asset.modifier]], [[asset.pose]] for morph, blendshape and skinning, [[asset.world]] for all else";

/// What a person should know of a document whose motion is a modifier now.
const MOVED: &str = "a rigid body or ragdoll is a modifier now, and is read as one: write [[asset.pose]] in the place of \
     [asset.motion], before all others of that list";

/// The list of an asset of version 1.
pub(super) const LIST: &str = "modifier";

/// Motions that are modifiers now.
const MOTIONS: [&str; 2] = ["rigid", "ragdoll"];

/// What a person should know of a document that was written before; nothing if it is one of today.
pub(super) fn notes(version: u32, document: Location<'_>) -> Vec<String> {
    let assets = document.get("asset");
    let is_moved = (0..assets.count()).any(|i| has_moved(assets.entry(i)));
    let old = [(version == 1, VERSION_1), (is_moved, MOVED)].into_iter().filter(|old| old.0);
    old.map(|(_, note)| note.to_owned()).collect()
}

/// Whether the motion of an asset is a modifier now.
fn has_moved(asset: Location<'_>) -> bool {
    MOTIONS.contains(&asset.get("motion").text("kind"))
}

/// The schema with motions as they were written.
pub(super) fn with_motions(mut schema: Schema, registry: &Registry) -> Schema {
    let kinds = MOTIONS.iter().filter_map(|name| registry.get(name));
    let kinds = read::kinds(kinds.map(|kind| (kind.name, (kind.schema)())));
    let old = kinds.get("oneOf").and_then(Json::as_array).into_iter().flatten().cloned();
    let motions = schema.pointer_mut("/properties/asset/items/properties/motion/oneOf");
    if let Some(motions) = motions.and_then(Json::as_array_mut) {
        motions.extend(old);
    }
    schema
}

/// The stage that a kind acts in.
fn stage_of(kind: &str, registry: &Registry) -> Stage {
    let first = registry.get(kind).and_then(|kind| kind.stages.first());
    first.copied().unwrap_or(Stage::World)
}

/// The document as it is written today.
pub(super) fn upgraded(mut document: Table, registry: &Registry) -> Table {
    document.insert("supple".to_owned(), Value::Integer(super::VERSION.into()));
    let assets = document.get_mut("asset").and_then(Value::as_array_mut);
    for asset in assets.into_iter().flatten().filter_map(Value::as_table_mut) {
        for modifier in asset.remove(LIST).and_then(array).into_iter().flatten() {
            let stage = stage_of(kind(&modifier), registry);
            if let Some(list) = list(asset, stage) {
                list.push(modifier);
            }
        }
        if asset.get("motion").is_some_and(|motion| MOTIONS.contains(&kind(motion))) {
            let motion = asset.remove("motion");
            if let (Some(motion), Some(pose)) = (motion, list(asset, Stage::Pose)) {
                pose.insert(0, motion);
            }
        }
    }
    document
}

fn kind(table: &Value) -> &str {
    table.get("kind").and_then(Value::as_str).unwrap_or_default()
}

fn array(value: Value) -> Option<Vec<Value>> {
    if let Value::Array(list) = value { Some(list) } else { None }
}

/// The list of an asset that holds what happens in a stage.
fn list(asset: &mut Table, stage: Stage) -> Option<&mut Vec<Value>> {
    asset.entry(stage.list()).or_insert_with(|| Value::Array(Vec::new())).as_array_mut()
}

/// Where the `k`-th modifier of a stage of an asset is written.
pub(super) fn place<'a>(
    (version, asset): (u32, Location<'a>),
    registry: &Registry,
    (stage, k): (Stage, usize),
) -> Location<'a> {
    let mut k = k;
    if stage == Stage::Pose && has_moved(asset) {
        if k == 0 {
            return asset.get("motion");
        }
        k -= 1;
    }
    if version > 1 {
        return asset.get(stage.list()).entry(k);
    }
    let list = asset.get(LIST);
    let is_there = |i: &usize| stage_of(list.entry(*i).text("kind"), registry) == stage;
    (0..list.count()).filter(is_there).nth(k).map_or(list, |i| list.entry(i))
}

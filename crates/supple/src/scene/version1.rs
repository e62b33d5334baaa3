//! Documents of version 1, in which an asset had one list of modifiers.
//!
//! Each of them acted in the stage of its kind, wherever it stood; in version 2 that is where it is written. Read, such a
//! document is one of version 2 that gives the same frames.

use toml::{Table, Value};

use super::document::Place;
use crate::modifier::{Registry, Stage};

/// What a person should know of a document of version 1.
pub(super) const NOTE: &str = "this scene is of version 1 and is read as one of version 2: write supple = 2 and, in \
     the place of [[asset.modifier]], [[asset.pose]] for morph, blendshape and skinning, [[asset.world]] for all else";

/// The list of an asset.
pub(super) const LIST: &str = "modifier";

/// The stage that a kind acts in.
fn stage_of(kind: &str, registry: &Registry) -> Stage {
    let first = registry.get(kind).and_then(|kind| kind.stages.first());
    first.copied().unwrap_or(Stage::World)
}

/// The document with the modifiers of all its assets in the lists of their stages.
pub(super) fn upgraded(mut document: Table, registry: &Registry) -> Table {
    document.insert("supple".to_owned(), Value::Integer(super::VERSION.into()));
    let assets = document.get_mut("asset").and_then(Value::as_array_mut);
    for asset in assets.into_iter().flatten().filter_map(Value::as_table_mut) {
        let Some(Value::Array(listed)) = asset.remove(LIST) else { continue };
        for modifier in listed {
            let kind = modifier.get("kind").and_then(Value::as_str).unwrap_or_default();
            let list = asset.entry(stage_of(kind, registry).list());
            let list = list.or_insert_with(|| Value::Array(Vec::new()));
            list.as_array_mut().into_iter().for_each(|list| list.push(modifier.clone()));
        }
    }
    document
}

/// Where the `k`-th modifier of a stage stands in the list of an asset.
pub(super) fn place<'a>(
    asset: Place<'a>,
    registry: &Registry,
    stage: Stage,
    k: usize,
) -> Place<'a> {
    let list = asset.get(LIST);
    let is_there = |i: &usize| stage_of(list.entry(*i).text("kind"), registry) == stage;
    (0..list.count()).filter(is_there).nth(k).map_or(list, |i| list.entry(i))
}

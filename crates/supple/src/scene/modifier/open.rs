//! A modifier of a kind that a registry knows: its name and its parameters, as the document has them.

use serde::{Deserialize, Serialize};

use super::Modifier;
use crate::scene::Problem;
use crate::scene::document::Table;

/// A modifier as the document has it: checked by its kind, typed by its owner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What kind, in the registry.
    pub kind: String,
    /// Its parameters.
    #[serde(flatten)]
    pub params: toml::Table,
}

pub(super) fn read(table: &Table<'_>) -> Result<Modifier, Problem> {
    let kind = table.need("kind")?.text()?.to_owned();
    read_params(table, &kind).map(|params| Modifier::Open(Entry { kind, params }))
}

/// The parameters of a kind, checked.
fn read_params(table: &Table<'_>, kind: &str) -> Result<toml::Table, Problem> {
    let Some(known) = table.document.registry.get(kind) else { return table.parse("kind") };
    let params = table.checked("kind", &(known.schema)())?;
    (known.check)(&params).map_err(|error| table.explain(&error))?;
    Ok(params)
}

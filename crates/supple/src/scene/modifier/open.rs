//! A modifier of a kind that a registry knows: its name and its parameters, as the document has them.

use serde::{Deserialize, Serialize};

use crate::modifier::Registry;
use crate::scene::Problem;
use crate::scene::document::Place;

/// A modifier as the document has it: checked by its kind, typed by its owner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What kind, in the registry.
    pub kind: String,
    /// Its parameters.
    #[serde(flatten)]
    pub params: toml::Table,
}

impl Entry {
    /// A modifier of a kind with its parameters; without those that no document could hold.
    #[must_use]
    pub fn of<P: Serialize>(kind: &str, params: &P) -> Self {
        Self { kind: kind.to_owned(), params: toml::Table::try_from(params).unwrap_or_default() }
    }

    /// What only its owner can say.
    pub(super) fn check_document(&self, registry: &Registry, at: Place<'_>) -> Result<(), Problem> {
        let check = registry.get(&self.kind).map(|kind| (kind.check)(&self.params));
        let fix = format!("this {} cannot be read", self.kind);
        check.unwrap_or(Ok(())).map_err(|error| at.wrong(error.message(), &fix))
    }
}

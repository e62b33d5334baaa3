//! A modifier as a document has it: its kind and its parameters.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Problem;
use super::document::Location;
use crate::modifier::{Registry, registry};

/// A modifier as the document has it: checked by its kind, typed by its owner.
///
/// ```
/// use supple::follow;
/// use supple::scene::Entry;
///
/// let trailing = Entry::of("follow", &follow::Params::default());
/// assert_eq!(trailing.kind, "follow");
/// assert_eq!(trailing.read::<follow::Params>()?, follow::Params::default());
/// # Ok::<(), supple::scene::Unread>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What kind, in the registry.
    pub kind: String,
    /// Its parameters.
    #[serde(flatten)]
    pub params: toml::Table,
}

/// Parameters that are not those of the kind they were taken for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unread(String);

impl Entry {
    /// A modifier of a kind with its parameters; without those that no document could hold.
    #[must_use]
    pub fn of<P: Serialize>(kind: &str, params: &P) -> Self {
        Self { kind: kind.to_owned(), params: toml::Table::try_from(params).unwrap_or_default() }
    }

    /// Its parameters as what they are.
    ///
    /// # Errors
    ///
    /// [`Unread`] if they are those of another kind.
    pub fn read<P: DeserializeOwned>(&self) -> Result<P, Unread> {
        registry::read(&self.params).map_err(Unread)
    }

    /// What a schema cannot say.
    pub(super) fn check_document(
        &self,
        registry: &Registry,
        at: Location<'_>,
    ) -> Result<(), Problem> {
        let Some(kind) = registry.get(&self.kind) else { return Ok(()) };
        (kind.check)(&self.params).map_err(|wrong| at.problem(&wrong))
    }
}

//! The kinds of modifiers there are.

use std::sync::Arc;

use schemars::Schema;
use serde::de::DeserializeOwned;

use super::erased::{Erased, Ready};
use super::{Inputs, Modifier, Need, Stage};

/// All that is known of a kind before there is a body.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The word for it in a document.
    pub name: &'static str,
    /// Where it may stand.
    pub stages: &'static [Stage],
    /// What its parameters are: types, meanings, units, ranges, defaults.
    pub schema: fn() -> Schema,
    pub(crate) check: fn(&toml::Table) -> Result<(), toml::de::Error>,
    pub(crate) needs: fn(&toml::Table) -> Result<Vec<Need>, String>,
    pub(crate) make: Make,
}

/// Prepares a modifier from its parameters, as the document has them.
type Make = fn(&toml::Table, &Inputs<'_>) -> Result<Arc<dyn Erased>, String>;

/// The kinds of modifiers that documents may name. [`Registry::default`] has all of this library
/// (`scene/kinds.rs`: one line a capability); [`with`](Self::with) adds one's own.
#[derive(Clone, Debug)]
pub struct Registry(Vec<Kind>);

impl Registry {
    /// No kinds at all.
    #[must_use]
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// With one kind more; it takes the place of one of the same name.
    #[must_use]
    pub fn with<M: Modifier>(mut self) -> Self {
        self.0.retain(|kind| kind.name != M::KIND);
        self.0.push(Kind {
            name: M::KIND,
            stages: M::STAGES,
            schema: super::read::schema::<M::Params>,
            check: |table| read::<M::Params>(table).map(|_| ()),
            needs: |table| Ok(M::needs(&read(table).map_err(|e| e.to_string())?)),
            make: make::<M>,
        });
        self
    }

    /// The kind of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Kind> {
        self.0.iter().find(|kind| kind.name == name)
    }

    /// All kinds, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Kind> {
        self.0.iter()
    }
}

fn read<P: DeserializeOwned>(table: &toml::Table) -> Result<P, toml::de::Error> {
    P::deserialize(table.clone())
}

fn make<M: Modifier>(table: &toml::Table, from: &Inputs<'_>) -> Result<Arc<dyn Erased>, String> {
    let params: M::Params = read(table).map_err(|e| e.to_string())?;
    let modifier = M::prepare(&params, from)?;
    let nature = modifier.nature(&params);
    let rate = nature.ticks_per_second;
    if rate == 0 || !super::TICKS_PER_SECOND.is_multiple_of(rate) {
        return Err(format!("ticks {rate} times a second; a divisor of 120 is needed"));
    }
    Ok(Arc::new(Ready { modifier, params, nature }))
}

//! The kinds of modifiers there are.

use std::sync::Arc;

use schemars::Schema;
use serde::de::DeserializeOwned;

use super::erased::{Erased, Ready};
use super::{Inputs, Loaded, Modifier, Need, Stage, Wrong};
use crate::Run;
use crate::mesh::TriMesh;

/// All that is known of a kind before there is a body.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The word for it in a document.
    pub name: &'static str,
    /// Where it may stand.
    pub stages: &'static [Stage],
    /// What its parameters are: types, meanings, units, ranges, defaults.
    pub schema: fn() -> Schema,
    /// Whether it moves each vertex by itself.
    pub pointwise: bool,
    pub(crate) reads_tracks: bool,
    pub(crate) check: fn(&toml::Table) -> Result<(), Wrong>,
    pub(crate) remeshes: fn(&toml::Table) -> Result<bool, String>,
    pub(crate) remesh: Remesh,
    pub(crate) needs: fn(&toml::Table) -> Result<Vec<Need>, String>,
    pub(crate) make: Make,
}

/// Prepares a modifier from its parameters, as the document has them.
type Make = fn(&toml::Table, &Inputs<'_>) -> Result<Arc<dyn Erased>, String>;

/// Makes a body at rest as fine as a modifier with these parameters needs it.
type Remesh = fn(&toml::Table, &TriMesh, &[Loaded], &Run<'_>) -> Result<TriMesh, String>;

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
            pointwise: M::POINTWISE,
            reads_tracks: M::READS_TRACKS,
            check: check::<M>,
            remeshes: |table| Ok(M::remeshes(&read(table)?)),
            remesh: |table, mesh, sources, run| M::remesh(&read(table)?, mesh, sources, run),
            needs: |table| Ok(M::needs(&read(table)?)),
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

/// Parameters as what they are.
pub(crate) fn read<P: DeserializeOwned>(table: &toml::Table) -> Result<P, String> {
    P::deserialize(table.clone()).map_err(|e| e.message().to_owned())
}

fn check<M: Modifier>(table: &toml::Table) -> Result<(), Wrong> {
    let fix = || format!("this {} cannot be read", M::KIND);
    let unread = |what| Wrong { at: Vec::new(), what, fix: fix() };
    M::check(&read(table).map_err(unread)?)
}

fn make<M: Modifier>(table: &toml::Table, from: &Inputs<'_>) -> Result<Arc<dyn Erased>, String> {
    let params: M::Params = read(table)?;
    ready(M::prepare(&params, from)?, params)
}

/// A modifier with its parameters.
pub(super) fn ready<M: Modifier>(
    modifier: M,
    params: M::Params,
) -> Result<Arc<dyn Erased>, String> {
    let nature = modifier.nature(&params);
    let rate = nature.ticks_per_second;
    if rate == 0 || !super::TICKS_PER_SECOND.is_multiple_of(rate) {
        return Err(format!("ticks {rate} times a second; a divisor of 120 is needed"));
    }
    Ok(Arc::new(Ready { modifier, params, nature }))
}

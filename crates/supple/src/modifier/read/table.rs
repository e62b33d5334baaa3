//! Tables: which keys there may be, which there must be, and what each holds.

use std::ops;

use serde_json::Value as Json;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

use super::{At, Problem, Reader, suggest};

/// The keys of a table, gathered from its schema and those of its alternatives that hold.
#[derive(Default)]
struct Keys<'s> {
    known: Vec<(&'s str, &'s Json)>,
    required: Vec<&'s str>,
    /// Keys of alternatives that do not hold, and a key of the one that does.
    elsewhere: Vec<(&'s str, &'s str)>,
    /// What any other key holds.
    other: Option<&'s Json>,
}

/// A table being read.
#[derive(Clone, Copy)]
struct Open<'t, 'd> {
    at: At<'t>,
    table: &'t DeTable<'d>,
    span: &'t ops::Range<usize>,
}

impl<'t> Open<'t, '_> {
    fn entry(&self, key: &str) -> Option<(ops::Range<usize>, &'t Spanned<DeValue<'t>>)> {
        let found = self.table.iter().find(|(k, _)| k.get_ref() == key);
        found.map(|(key, value)| (key.span(), value))
    }

    fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }
}

impl Reader<'_> {
    pub(super) fn table(
        &self,
        at: At<'_>,
        value: &Spanned<DeValue<'_>>,
        schema: &Json,
    ) -> Result<Value, Problem> {
        let Some(table) = value.get_ref().as_table() else {
            return Err(self.wrong_type(at, value, schema));
        };
        let open = Open { at, table, span: &value.span() };
        let mut keys = Keys::default();
        self.gather(open, schema, &mut keys)?;
        self.only_known(open, &keys)?;
        if let Some(missing) = keys.required.iter().find(|key| !open.has(key)) {
            let schema = keys.known.iter().find(|k| k.0 == *missing).map(|k| k.1);
            let fix = match schema.and_then(|s| example(missing, s)) {
                Some(example) => format!("add it: {example}"),
                None => "add it".to_owned(),
            };
            let what = format!("{} has no '{missing}'", at.table());
            return Err(self.problem(value.span(), &what, &fix));
        }
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut read = toml::Table::new();
        for (key, value) in entries {
            let key = key.get_ref().as_ref();
            let known = keys.known.iter().find(|k| k.0 == key).map(|k| k.1).or(keys.other);
            let path =
                if at.path.is_empty() { key.to_owned() } else { format!("{}.{key}", at.path) };
            let within = At { path: &path, key, lists: 0 };
            read.insert(key.to_owned(), self.value(within, value, known.unwrap_or(&Json::Null))?);
        }
        Ok(Value::Table(read))
    }

    /// Adds the keys of a schema, of all its parts, and of the alternatives that the table is one of.
    fn gather<'s>(
        &self,
        open: Open<'_, '_>,
        schema: &'s Json,
        keys: &mut Keys<'s>,
    ) -> Result<(), Problem> {
        keys.known.extend(properties(schema));
        keys.required.extend(required(schema));
        keys.other = keys.other.or(schema.get("additionalProperties").filter(|s| s.is_object()));
        for part in schema.get("allOf").and_then(Json::as_array).into_iter().flatten() {
            self.gather(open, part, keys)?;
        }
        for choice in ["oneOf", "anyOf"].iter().filter_map(|key| schema.get(key)?.as_array()) {
            let tables: Vec<&Json> = choice
                .iter()
                .flat_map(super::alternatives)
                .filter(|s| super::is_table(s))
                .collect();
            // A choice that may also be nothing.
            let optional = choice.iter().any(|s| s.as_object().is_some_and(|s| s.is_empty()));
            let chosen = match tag(&tables) {
                Some(tag) => self.by_tag(open, tag, &tables, optional)?,
                None => self.by_keys(open, &tables, keys, optional)?,
            };
            if let Some(chosen) = chosen {
                self.gather(open, chosen, keys)?;
            }
        }
        Ok(())
    }

    /// The alternative whose word the tag says.
    fn by_tag<'s>(
        &self,
        open: Open<'_, '_>,
        tag: &str,
        tables: &[&'s Json],
        optional: bool,
    ) -> Result<Option<&'s Json>, Problem> {
        let known: Vec<&str> = tables.iter().filter_map(|s| word(s, tag)).collect();
        let Some((_, value)) = open.entry(tag) else {
            let what = format!("{} has no '{tag}'", open.at.table());
            let fix = format!("add it; known: {}", known.join(", "));
            return if optional {
                Ok(None)
            } else {
                Err(self.problem(open.span.clone(), &what, &fix))
            };
        };
        let Some(given) = value.get_ref().as_str() else {
            let at = At { path: tag, key: tag, lists: 0 };
            return Err(self.wrong_type(at, value, &Json::Null));
        };
        let found = tables.iter().find(|s| word(s, tag) == Some(given)).copied();
        found.map(Some).ok_or_else(|| self.no_choice(tag, value.span(), given, &known))
    }

    /// The alternative whose keys are there.
    fn by_keys<'s>(
        &self,
        open: Open<'_, '_>,
        tables: &[&'s Json],
        keys: &mut Keys<'s>,
        optional: bool,
    ) -> Result<Option<&'s Json>, Problem> {
        let complete = |s: &&&Json| required(s).all(|key| open.has(key));
        let mut found = tables.iter().filter(complete);
        let Some(first) = found.next().copied() else {
            let all = || tables.iter().flat_map(|s| properties(s));
            let strange = |key: &str| all().chain(keys.known.iter().copied()).all(|k| k.0 != key);
            if optional || open.table.keys().any(|key| strange(key.get_ref())) {
                keys.known.extend(all());
                return Ok(None);
            }
            return Err(self.neither(open, tables));
        };
        let lead = required(first).next().unwrap_or_default();
        let own = |key: &str| properties(first).any(|k| k.0 == key);
        if let Some(second) = found.flat_map(|s| required(s)).find(|key| !own(key)) {
            let span = open.entry(second).map_or(open.span.clone(), |(key, _)| key);
            let what = format!("both '{lead}' and '{second}' are given");
            return Err(self.problem(span, &what, "keep one of them"));
        }
        let others = tables.iter().flat_map(|s| properties(s)).filter(|k| !own(k.0));
        keys.elsewhere.extend(others.map(|k| (k.0, lead)));
        Ok(Some(first))
    }

    fn neither(&self, open: Open<'_, '_>, tables: &[&Json]) -> Problem {
        let leads: Vec<&str> = tables.iter().filter_map(|s| required(s).next()).collect();
        let what = match &leads[..] {
            [one] => format!("has no '{one}'"),
            [one, other] => format!("has neither '{one}' nor '{other}'"),
            many => format!("has none of: {}", many.join(", ")),
        };
        let first = |s: &&Json| properties(s).find_map(|(key, schema)| example(key, schema));
        let examples: Vec<String> = tables.iter().filter_map(first).collect();
        let fix = match &examples[..] {
            [] => "add one of them".to_owned(),
            examples => format!("add {}", examples.join(", or ")),
        };
        self.problem(open.span.clone(), &format!("{} {what}", open.at.table()), &fix)
    }

    /// Refuses the first key that the table does not have.
    fn only_known(&self, open: Open<'_, '_>, keys: &Keys<'_>) -> Result<(), Problem> {
        let known: Vec<&str> = keys.known.iter().map(|k| k.0).collect();
        let unknown = open.table.keys().filter(|k| !known.contains(&k.get_ref().as_ref()));
        let unknown = unknown.filter(|_| keys.other.is_none()).min_by_key(|k| k.span().start);
        let Some(key) = unknown else { return Ok(()) };
        let name = key.get_ref().as_ref();
        if let Some((_, lead)) = keys.elsewhere.iter().find(|(key, _)| *key == name) {
            let what = format!("'{name}' does not go with '{lead}'");
            return Err(self.problem(key.span(), &what, "remove this key"));
        }
        let fix = match suggest(name, &known) {
            Some(near) => format!("did you mean '{near}'?"),
            None if known.is_empty() => "remove it: there are no keys here".to_owned(),
            None => format!("keys here: {}", known.join(", ")),
        };
        let what = format!("unknown key '{name}' in {}", open.at.table());
        Err(self.problem(key.span(), &what, &fix))
    }
}

fn properties(schema: &Json) -> impl Iterator<Item = (&str, &Json)> {
    let keys = schema.get("properties").and_then(Json::as_object);
    keys.into_iter().flatten().map(|(key, schema)| (key.as_str(), schema))
}

fn required(schema: &Json) -> impl Iterator<Item = &str> {
    let keys = schema.get("required").and_then(Json::as_array);
    keys.into_iter().flatten().filter_map(Json::as_str)
}

/// The word that a key of this table must be.
fn word<'s>(schema: &'s Json, key: &str) -> Option<&'s str> {
    schema.get("properties")?.get(key)?.get("const")?.as_str()
}

/// The key by which all of these tables can be told apart.
fn tag<'s>(tables: &[&'s Json]) -> Option<&'s str> {
    let first = tables.first()?;
    properties(first).map(|k| k.0).find(|key| tables.iter().all(|s| word(s, key).is_some()))
}

/// A line that would do.
fn example(key: &str, schema: &Json) -> Option<String> {
    let value = schema.get("examples")?.as_array()?.first()?;
    Some(format!("{key} = {value}"))
}

//! Schemas of parameters: from the types of a capability to what readers, editors and help texts use.

use std::fmt::Write as _;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::{Map, Value as Json};

use super::number::Range;

/// The schema of some parameters, in one piece. Units and bounds that are written at a list or map stand at its
/// numbers; what is optional is not required instead of being null.
#[must_use]
pub fn schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    settle(&mut schema, &Map::new());
    Schema::try_from(schema).unwrap_or_default()
}

/// Whether a parameter is one that `prepare` does not read, so that it may be turned while playing.
#[must_use]
pub fn is_live(schema: &Schema, key: &str) -> bool {
    let key = key.replace('~', "~0").replace('/', "~1");
    let parts = ["", "/items", "/additionalProperties"];
    let live = |part: &str| schema.pointer(&format!("/properties/{key}{part}/live"));
    parts.iter().any(|part| live(part) == Some(&Json::Bool(true)))
}

/// A schema for a list of kinds: a table whose `kind` says which schema holds for the rest of it.
#[must_use]
pub fn kinds<'k>(kinds: impl IntoIterator<Item = (&'k str, Schema)>) -> Schema {
    let one = |(name, schema): (&str, Schema)| {
        let mut schema = schema.to_value();
        let kind = Json::from_iter([("type", "string"), ("const", name)]);
        if let Some(schema) = schema.as_object_mut() {
            schema.remove("$schema");
            let own = schema.remove("properties");
            let own = own.as_ref().and_then(Json::as_object).into_iter().flatten();
            let own = own.map(|(key, part)| (key.clone(), part.clone()));
            let keys: Map<_, _> = std::iter::once(("kind".to_owned(), kind)).chain(own).collect();
            schema.insert("properties".to_owned(), keys.into());
            let required = schema.entry("required").or_insert_with(|| Json::Array(Vec::new()));
            if let Some(required) = required.as_array_mut() {
                required.insert(0, "kind".into());
            }
        }
        schema
    };
    json_schema!({ "oneOf": kinds.into_iter().map(one).collect::<Vec<_>>() })
}

/// What stands at a list or map and is meant for the numbers in it.
const HANDED_DOWN: [&str; 6] =
    ["unit", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "live"];

/// The keywords under which more schemas stand: one, a list, or a map of them.
const PARTS: [&str; 9] = [
    "properties",
    "items",
    "prefixItems",
    "additionalProperties",
    "oneOf",
    "anyOf",
    "allOf",
    "$defs",
    "patternProperties",
];

/// Drops nulls, hands units and bounds down, writes defaults of f32 as short as they are.
fn settle(schema: &mut Json, from_above: &Map<String, Json>) {
    let Some(schema) = schema.as_object_mut() else { return };
    without_null(schema);
    let holds = |word: &str| types_of(schema.get("type")).any(|t| t == word);
    let is_number = holds("number") || holds("integer");
    let is_leaf = is_number || holds("string") || holds("boolean");
    let is_list = holds("array") || schema.get("additionalProperties").is_some_and(Json::is_object);
    if is_number {
        for (key, value) in from_above {
            schema.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    let mut down = Map::new();
    if !is_leaf {
        down.clone_from(from_above);
    }
    for key in HANDED_DOWN {
        if let (true, Some(value)) = (is_list || !is_leaf, schema.get(key)) {
            down.insert(key.to_owned(), value.clone());
        }
        if is_list && key.ends_with("imum") {
            schema.remove(key);
        }
    }
    for (key, part) in schema.iter_mut().filter(|(key, _)| PARTS.contains(&key.as_str())) {
        let maps = ["properties", "$defs", "patternProperties"].contains(&key.as_str());
        // The keys of a table have units of their own; its alternatives are still the same value.
        let down = if key == "properties" { &Map::new() } else { &down };
        match part {
            Json::Array(parts) => parts.iter_mut().for_each(|p| settle(p, down)),
            Json::Object(parts) if maps => parts.values_mut().for_each(|p| settle(p, down)),
            part => settle(part, down),
        }
    }
    let single = is_single(schema);
    if let (true, Some(default)) = (single, schema.get_mut("default")) {
        shorten(default);
    }
}

/// Whether the numbers of a schema are f32.
fn is_single(schema: &Map<String, Json>) -> bool {
    let format = schema.get("format").and_then(Json::as_str);
    let items = schema.get("items").and_then(Json::as_object);
    format == Some("float") || items.is_some_and(is_single)
}

/// Writes the f32 behind each number with as few digits as tell it from the next: 0.3, not 0.30000001192092896.
fn shorten(default: &mut Json) {
    match default {
        Json::Array(entries) => entries.iter_mut().for_each(shorten),
        Json::Number(number) => {
            let short = number.as_f64().and_then(|x| (x as f32).to_string().parse().ok());
            if let Some(short) = short.and_then(serde_json::Number::from_f64) {
                *number = short;
            }
        }
        _ => {}
    }
}

pub(super) fn types_of(types: Option<&Json>) -> impl Iterator<Item = &str> {
    let one = types.and_then(Json::as_str);
    let many = types.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    one.into_iter().chain(many)
}

/// A document has no null: what it leaves out is not there.
fn without_null(schema: &mut Map<String, Json>) {
    let types: Vec<Json> =
        types_of(schema.get("type")).filter(|t| *t != "null").map(Json::from).collect();
    match &types[..] {
        [] => {}
        [one] => drop(schema.insert("type".to_owned(), one.clone())),
        _ => drop(schema.insert("type".to_owned(), types.into())),
    }
    if let Some(words) = schema.get_mut("enum").and_then(Json::as_array_mut) {
        words.retain(|word| !word.is_null());
    }
    if schema.get("default").is_some_and(Json::is_null) {
        schema.remove("default");
    }
    let is_null = |part: &Json| part.get("type").and_then(Json::as_str) == Some("null");
    let Some(parts) = schema.get_mut("anyOf").and_then(Json::as_array_mut) else { return };
    parts.retain(|part| !is_null(part));
    if let [Json::Object(only)] = &mut parts[..] {
        let only = std::mem::take(only);
        schema.remove("anyOf");
        for (key, value) in only {
            schema.entry(key).or_insert(value);
        }
    }
}

/// The schema as editors want it: every number may also be a text with a unit or the name of a track, and a table
/// has no keys but its own.
#[must_use]
pub fn published(schema: &Schema) -> Schema {
    let mut schema = schema.clone().to_value();
    publish(&mut schema, true);
    Schema::try_from(schema).unwrap_or_default()
}

fn publish(schema: &mut Json, closed: bool) {
    let Some(schema) = schema.as_object_mut() else { return };
    if schema.get("type").and_then(Json::as_str) == Some("number") {
        schema.insert("type".to_owned(), ["number", "string"].as_slice().into());
    }
    let table = schema.contains_key("properties");
    let composed = ["oneOf", "anyOf", "allOf"].iter().any(|key| schema.contains_key(*key));
    if table && closed && !schema.contains_key("additionalProperties") {
        let word = if composed { "unevaluatedProperties" } else { "additionalProperties" };
        schema.insert(word.to_owned(), false.into());
    }
    for (key, part) in schema.iter_mut().filter(|(key, _)| PARTS.contains(&key.as_str())) {
        let maps = ["properties", "$defs", "patternProperties"].contains(&key.as_str());
        // Alternatives of a table that has keys of its own do not know those.
        let closed = !(table && key.ends_with("Of")) && (closed || !key.ends_with("Of"));
        match part {
            Json::Array(parts) => parts.iter_mut().for_each(|p| publish(p, closed)),
            Json::Object(parts) if maps => parts.values_mut().for_each(|p| publish(p, closed)),
            part => publish(part, closed),
        }
    }
}

/// A part of a schema, by its JSON pointer; anything goes where there is none.
#[must_use]
pub fn part(schema: &Schema, pointer: &str) -> Schema {
    schema.pointer(pointer).and_then(|part| Schema::try_from(part.clone()).ok()).unwrap_or_default()
}

/// The schema of one kind, of a choice of [`kinds`].
#[must_use]
pub fn kind(schema: &Schema, word: &str) -> Option<Schema> {
    let is_it = |part: &&Json| part.pointer("/properties/kind/const").is_some_and(|k| k == word);
    let found = super::alternatives(schema.as_value()).into_iter().find(is_it)?;
    Schema::try_from(found.clone()).ok()
}

/// The words of a choice of [`kinds`].
#[must_use]
pub fn kinds_of(schema: &Schema) -> Vec<&str> {
    let parts = super::alternatives(schema.as_value()).into_iter();
    parts.filter_map(|part| part.pointer("/properties/kind/const")?.as_str()).collect()
}

/// The parameter at a path of keys with points between (`tool.capsule.half`), in whichever alternative it is.
#[must_use]
pub fn key<'s>(schema: &'s Schema, path: &'s str) -> Option<Key<'s>> {
    let found = path.split('.').try_fold(schema.as_value(), find)?;
    Some(Key::of(path, found))
}

fn find<'s>(schema: &'s Json, key: &str) -> Option<&'s Json> {
    let own = schema.get("properties").and_then(|keys| keys.get(key));
    let parts = ["oneOf", "anyOf", "allOf"].iter().filter_map(|k| schema.get(k)?.as_array());
    own.or_else(|| parts.flatten().find_map(|part| find(part, key)))
}

/// One parameter, as a help text or a panel shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Key<'s> {
    /// What it is called.
    pub name: &'s str,
    /// What it does.
    pub description: String,
    /// What its number is measured in; empty for plain numbers and what is no number.
    pub unit: &'s str,
    /// What holds if it is not given; empty if it must be, or if nothing holds then.
    pub default: String,
    /// The numbers or words it may be; empty if there are no bounds.
    pub allowed: String,
    /// Whether it must be given.
    pub required: bool,
    /// Its schema.
    pub schema: &'s Json,
}

/// The parameters of a schema, in the order they are declared.
#[must_use]
pub fn keys(schema: &Schema) -> Vec<Key<'_>> {
    let required = schema.get("required").and_then(Json::as_array);
    let required = |name: &str| required.is_some_and(|r| r.iter().any(|k| k == name));
    let properties = schema.get("properties").and_then(Json::as_object);
    let all = properties.into_iter().flatten();
    all.map(|(name, schema)| Key { required: required(name), ..Key::of(name, schema) }).collect()
}

impl<'s> Key<'s> {
    fn of(name: &'s str, schema: &'s Json) -> Self {
        let text = |key: &str| schema.get(key).and_then(Json::as_str).unwrap_or_default();
        let default = schema.get("default").map(shown).unwrap_or_default();
        let words = super::words(schema);
        let note = || Range::of(schema).note(schema);
        let allowed = if words.is_empty() { note() } else { words.join(", ") };
        let description = meaning(text("description"));
        let unit = text("unit");
        Self { name, description, unit, default, allowed, required: false, schema }
    }
}

/// The sentences of a doc comment but for those about the default, which stands beside them; without marks and links.
fn meaning(doc: &str) -> String {
    let mut text = doc.replace('\n', " ").replace('`', "");
    while let Some((start, end)) = text.find("](").zip(text.find(')')).filter(|(s, e)| s < e) {
        text.replace_range(start..=end, "");
        text = text.replacen('[', "", 1);
    }
    let words = |sentence: &str| sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    let about_default = |s: &&str| s.contains("Default:") || s.contains("by default");
    let sentences = text.split_inclusive(". ").filter(|s| !about_default(s)).map(words);
    sentences.collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
}

/// A default as a document or a command line would write it.
fn shown(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(entries) => entries.iter().map(shown).collect::<Vec<_>>().join(","),
        Json::Number(number) => match number.as_f64() {
            Some(x) => x.to_string(),
            None => number.to_string(),
        },
        Json::Object(entries) if entries.is_empty() => String::new(),
        Json::Null => String::new(),
        other => other.to_string(),
    }
}

/// The parameters of a schema as text: name, meaning, unit, default, what is allowed.
#[must_use]
pub fn help(schema: &Schema) -> String {
    let keys = keys(schema);
    let width = keys.iter().map(|k| k.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for key in keys {
        let notes = [
            (!key.unit.is_empty() && key.unit != "1").then(|| format!(" [{}]", key.unit)),
            (!key.allowed.is_empty()).then(|| format!(" [{}]", key.allowed)),
            (!key.default.is_empty()).then(|| format!(" [default: {}]", key.default)),
            key.required.then(|| " [must be given]".to_owned()),
        ];
        let notes: String = notes.into_iter().flatten().collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:width$}  {}{notes}", key.name, key.description);
    }
    text
}

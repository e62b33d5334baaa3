//! The schema of scenes: a schema indeed, and one that every scene of this project keeps to.

use std::path::{Path, PathBuf};
use std::{fs, iter};

use serde_json::{Map, Value};
use supple::modifier::{Registry, read};
use supple::scene::Scene;

fn schema() -> Value {
    read::published(&Scene::schema(&Registry::default())).to_value()
}

/// Keywords of draft 2020-12 that say what a value must be, and those that only describe it.
const ASSERTIONS: [&str; 22] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "unevaluatedProperties",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "oneOf",
    "anyOf",
    "allOf",
    "const",
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "pattern",
    "$schema",
];
const ANNOTATIONS: [&str; 8] =
    ["title", "description", "default", "examples", "format", "unit", "live", "deprecated"];

/// The schemas within a schema, with their places.
fn parts(schema: &Map<String, Value>) -> Vec<(String, &Value)> {
    let mut parts = Vec::new();
    for (word, part) in schema {
        match (word.as_str(), part) {
            ("properties", Value::Object(keys)) => {
                parts.extend(keys.iter().map(|(key, part)| (format!("properties/{key}"), part)));
            }
            ("oneOf" | "anyOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                parts
                    .extend(list.iter().enumerate().map(|(i, part)| (format!("{word}/{i}"), part)));
            }
            ("items" | "additionalProperties" | "unevaluatedProperties", part) => {
                parts.push((word.clone(), part));
            }
            _ => {}
        }
    }
    parts
}

/// What the schema of schemas says of the keywords that are used.
fn check_schema(at: &str, schema: &Value) {
    let Some(schema) = schema.as_object() else {
        assert!(schema.is_boolean(), "{at}: a schema is an object or a boolean");
        return;
    };
    for (word, value) in schema {
        let right = match word.as_str() {
            "type" => {
                let known = ["object", "array", "number", "integer", "string", "boolean"];
                let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                !list.is_empty()
                    && list.iter().all(|t| t.as_str().is_some_and(|t| known.contains(&t)))
            }
            "properties" => value.is_object(),
            "required" | "enum" => value.as_array().is_some_and(|list| !list.is_empty()),
            "oneOf" | "anyOf" | "allOf" | "prefixItems" => {
                value.as_array().is_some_and(|list| !list.is_empty())
            }
            "minItems" | "maxItems" | "minLength" | "maxLength" => value.is_u64(),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
            "title" | "description" | "format" | "unit" | "pattern" => value.is_string(),
            "$schema" => value == "https://json-schema.org/draft/2020-12/schema",
            "examples" => value.is_array(),
            _ => true,
        };
        assert!(right, "{at}: {word} = {value}");
        let known = ASSERTIONS.contains(&word.as_str()) || ANNOTATIONS.contains(&word.as_str());
        assert!(known, "{at}: '{word}' is no keyword");
    }
    let own = |key: &Value| schema["properties"].get(key.as_str().unwrap_or_default()).is_some();
    let required = schema.get("required").and_then(Value::as_array);
    assert!(required.is_none_or(|keys| keys.iter().all(own)), "{at}: requires what it has not");
    for (word, part) in parts(schema) {
        check_schema(&format!("{at}/{word}"), part);
    }
}

/// What a value must not be; the keys that were looked at are added to `seen`.
fn judge(value: &Value, schema: &Value, seen: &mut Vec<String>) -> Result<(), String> {
    let Some(schema) = schema.as_object() else {
        return if *schema == false { Err(format!("{value} is not allowed")) } else { Ok(()) };
    };
    let wrong = |why: &str| Err(format!("{value}: {why}"));
    let is = |t: &str| match t {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "string" => value.is_string(),
        _ => value.is_boolean(),
    };
    if let Some(types) = schema.get("type") {
        let list = types.as_array().map_or(std::slice::from_ref(types), Vec::as_slice);
        if !list.iter().filter_map(Value::as_str).any(is) {
            return wrong(&format!("not {types}"));
        }
    }
    if schema.get("const").is_some_and(|c| c != value)
        || schema.get("enum").is_some_and(|e| !e.as_array().expect("a list").contains(value))
    {
        return wrong("another word");
    }
    if let Some(x) = value.as_f64() {
        let bound = |word: &str| schema.get(word).and_then(Value::as_f64);
        if bound("minimum").is_some_and(|b| x < b)
            || bound("maximum").is_some_and(|b| x > b)
            || bound("exclusiveMinimum").is_some_and(|b| x <= b)
            || bound("exclusiveMaximum").is_some_and(|b| x >= b)
        {
            return wrong("out of range");
        }
    }
    judge_choice(value, schema, seen)?;
    match value {
        Value::Array(list) => judge_list(list, schema),
        Value::Object(table) => judge_table(table, schema, seen),
        _ => Ok(()),
    }
}

fn judge_choice(
    value: &Value,
    schema: &Map<String, Value>,
    seen: &mut Vec<String>,
) -> Result<(), String> {
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        judge(value, part, seen)?;
    }
    for (word, most) in [("anyOf", usize::MAX), ("oneOf", 1)] {
        let Some(list) = schema.get(word).and_then(Value::as_array) else { continue };
        let mut why = Vec::new();
        let mut right = 0;
        for part in list {
            let mut keys = Vec::new();
            match judge(value, part, &mut keys) {
                Ok(()) => {
                    right += 1;
                    seen.extend(keys);
                }
                Err(problem) => why.push(problem),
            }
        }
        if right == 0 || right > most {
            return Err(format!("{right} of {word} fit: {}", why.join(" | ")));
        }
    }
    Ok(())
}

fn judge_list(list: &[Value], schema: &Map<String, Value>) -> Result<(), String> {
    let bound = |word: &str| schema.get(word).and_then(Value::as_u64);
    let count = list.len() as u64;
    if bound("minItems").is_some_and(|b| count < b) || bound("maxItems").is_some_and(|b| count > b)
    {
        return Err(format!("{count} entries"));
    }
    let prefix = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let rest = iter::repeat(schema.get("items").unwrap_or(&Value::Bool(true)));
    let mut pairs = list.iter().zip(prefix.iter().chain(rest));
    pairs.try_for_each(|(value, part)| judge(value, part, &mut Vec::new()))
}

fn judge_table(
    table: &Map<String, Value>,
    schema: &Map<String, Value>,
    seen: &mut Vec<String>,
) -> Result<(), String> {
    for key in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !table.contains_key(key.as_str().expect("a name")) {
            return Err(format!("no {key}"));
        }
    }
    for (key, value) in table {
        let own = schema.get("properties").and_then(|keys| keys.get(key));
        if let Some(part) = own.or(schema.get("additionalProperties")) {
            judge(value, part, &mut Vec::new()).map_err(|why| format!("{key}: {why}"))?;
            seen.push(key.clone());
        }
        if schema.get("unevaluatedProperties").is_some() && !seen.contains(key) {
            return Err(format!("'{key}' is not known"));
        }
    }
    Ok(())
}

fn json(text: &str) -> Value {
    let table: toml::Table = toml::from_str(text).expect("a document");
    serde_json::to_value(table).expect("plain data")
}

fn scenes() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut files = Vec::new();
    for folder in [root.clone(), root.join("figures")] {
        let entries = fs::read_dir(folder)
            .expect("a folder of scenes")
            .map(|entry| entry.expect("an entry").path());
        files.extend(entries.filter(|path| path.extension().is_some_and(|e| e == "toml")));
    }
    files.sort();
    files
}

#[test]
fn the_schema_is_a_schema() {
    let schema = schema();
    check_schema("#", &schema);
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let asset = &schema["properties"]["asset"]["items"]["properties"];
    let stages = [
        ("rest", &["sculpt"][..]),
        ("pose", &["morph", "blendshape", "skinning"]),
        ("world", &["place", "follow", "sculpt", "secondary", "procdef", "smoke"]),
    ];
    for (list, kind) in
        stages.iter().flat_map(|(list, kinds)| kinds.iter().map(move |k| (list, *k)))
    {
        let kinds: Vec<_> = asset[*list]["items"]["oneOf"].as_array().unwrap().iter().collect();
        let is_it = |part: &&&Value| part["properties"]["kind"]["const"] == kind;
        let part = kinds.iter().find(is_it).unwrap_or_else(|| panic!("{kind} is missing"));
        let keys = part["properties"].as_object().unwrap();
        for (key, part) in keys.iter().filter(|(key, _)| *key != "kind") {
            assert!(part["description"].is_string(), "{kind}.{key} says what it means");
        }
    }
}

#[test]
fn every_scene_keeps_to_the_schema() {
    let schema = schema();
    let files = scenes();
    assert!(files.len() > 15, "{} scenes", files.len());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let judged = judge(&json(&text), &schema, &mut Vec::new());
        assert_eq!(judged, Ok(()), "{}", file.display());
        let scene = Scene::parse(&text, None).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let written = scene.to_toml();
        let judged = judge(&json(&written), &schema, &mut Vec::new());
        assert_eq!(judged, Ok(()), "written again: {}\n{written}", file.display());
        assert_eq!(Scene::parse(&written, None).unwrap(), scene, "{}", file.display());
    }
}

#[test]
fn what_the_reader_refuses_the_schema_refuses() {
    let schema = schema();
    let scene = "supple = 2\n[[asset]]\nzoo = \"ball\"\n";
    for wrong in [
        "suple = 1",
        "supple = 2\n[time]\nfps = 0",
        "supple = 2\n[[asset]]\nname = \"nothing\"",
        &format!("{scene}colour = 3"),
        &format!("{scene}[asset.motion]\nkind = \"fly\""),
        &format!("{scene}[[asset.world]]\nkind = \"folow\""),
        &format!("{scene}[[asset.world]]\nkind = \"follow\"\ndamping = -1"),
        &format!("{scene}[[asset.world]]\nkind = \"follow\"\ngravity = [0, 1]"),
        "supple = 2\n[[collider]]\nkind = \"sphere\"",
        "supple = 2\n[[collider]]\nkind = \"sphere\"\nradius = 1\nlength = 2",
        "supple = 2\n[camera]\neye = [0, 0, 1]",
    ] {
        assert!(Scene::parse(wrong, None).is_err(), "the reader takes\n{wrong}");
        let judged = judge(&json(wrong), &schema, &mut Vec::new());
        assert!(judged.is_err(), "the schema takes\n{wrong}");
    }
}

//! One reader for all parameters: declared once, read, checked, explained and published from the declaration.
//!
//! A field of `Params` carries its meaning (doc comment), its default (`Default`), its range
//! (`#[schemars(range(…))]`), its unit (`extend("unit" = "Hz")`) and whether it may be turned while playing
//! (`"live" = true`, if `prepare` does not read it). The JSON schema made of that drives the [`Reader`] of documents,
//! the [`help`] of commands and the schema that `supple schema` prints; serde makes the value. Fields stay plain
//! numbers for callers in Rust.
//!
//! # What can be written
//!
//! | in Rust | in a document |
//! |---|---|
//! | number with a unit | a number in that unit, or a text with any unit of the same kind: `"500 ms"` ([`Unit`]) |
//! | [`Value`](crate::modifier::Value) | the same, or the name of a track that stays within the range |
//! | `[f64; 3]`; `Vec3` with `#[schemars(with = "[f32; 3]")]` | three numbers; a unit at the field is that of each |
//! | enum without fields | one of its words |
//! | `#[serde(tag = "kind")]` enum | a table whose `kind` is one of its words |
//! | other enums with fields | a word, or a table with one of the keys; with `untagged` whatever fits |
//! | `Option` | left out, or the value |
//! | `BTreeMap<String, T>` | a table with any keys |
//! | `#[serde(flatten)]` | its keys among the others; defaults are those of its own type |
//!
//! Bounds at a list or map (`extend("minimum" = 0)`) are those of the numbers in it. A `format` of a text
//! (`#[schemars(extend("format" = "file"))]`) is checked by whoever reads ([`Formats`]). `#[schemars(example = …)]` is
//! shown where a key is missing.
//!
//! # Limits
//!
//! Numbers without bounds are read up to a thousand million, finite always (`numbers_are_finite_and_within_bounds`).
//! Types that contain themselves are left to serde, which knows lines but not keys.
//!
//! # Example
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use supple::modifier::read;
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
//! #[serde(default)]
//! struct Params {
//!     /// How fast it swings.
//!     #[schemars(range(min = 0.001, max = 1e4), extend("unit" = "Hz", "live" = true))]
//!     frequency: f64,
//! }
//!
//! impl Default for Params {
//!     fn default() -> Self {
//!         Self { frequency: 2.0 }
//!     }
//! }
//!
//! let params: Params = read::from_toml("frequency = \"0.5 kHz\"")?;
//! assert_eq!(params, Params { frequency: 500.0 });
//! let problem = read::from_toml::<Params>("freqency = 3").unwrap_err();
//! assert_eq!((problem.line, problem.column), (1, 1));
//! assert_eq!(problem.fix, "did you mean 'frequency'?");
//! let help = read::help(&read::schema::<Params>());
//! assert_eq!(help, "  frequency  How fast it swings [Hz] [between 0.001 and 10000] [default: 2]\n");
//! # Ok::<(), read::Problem>(())
//! ```

pub(crate) mod number;
pub mod quantity;
mod schema;
mod table;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops;

use schemars::JsonSchema;
pub use schemars::Schema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use serde_path_to_error::Segment;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

use super::Tracks;
use number::Range;
pub use quantity::Unit;
use schema::types_of;
pub use schema::{Key, help, is_live, key, keys, kind, kinds, kinds_of, part, published, schema};

/// Something wrong in a document: where, what, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what} ({fix})")]
pub struct Problem {
    /// Line, counted from 1.
    pub line: usize,
    /// Character in the line, counted from 1.
    pub column: usize,
    /// What is wrong, with the offending text.
    pub what: String,
    /// What would be right.
    pub fix: String,
}

/// Knows what texts of some `format` must be: names of files, of models.
pub trait Formats: fmt::Debug {
    /// Checks a text of this format; formats that are not known are right.
    ///
    /// # Errors
    ///
    /// What is wrong, and what would be right.
    fn check(&self, format: &str, text: &str) -> Result<(), (String, String)>;
}

/// Reads the values of one document.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// The whole document.
    pub text: &'a str,
    /// Frames a second, for times given in frames.
    pub fps: f64,
    /// The tracks that parameters may name.
    pub tracks: &'a Tracks,
    /// What texts must be; `None` leaves them unchecked.
    pub formats: Option<&'a dyn Formats>,
}

/// Where a value stands.
#[derive(Clone, Copy)]
struct At<'p> {
    /// The keys of the tables around it and its own, with points between.
    path: &'p str,
    /// Its own key.
    key: &'p str,
    /// How many lists it is in.
    lists: usize,
}

impl At<'_> {
    /// How a document writes this table.
    fn table(&self) -> String {
        match (self.path, self.lists) {
            ("", _) => "the document".to_owned(),
            (path, 0) => format!("[{path}]"),
            (path, _) => format!("[[{path}]]"),
        }
    }
}

/// Reads parameters from a document that holds nothing else.
///
/// # Errors
///
/// The first [`Problem`] of the document.
pub fn from_toml<T: JsonSchema + DeserializeOwned>(text: &str) -> Result<T, Problem> {
    let reader = Reader { text, fps: 24.0, tracks: &Tracks::new(), formats: None };
    let root = reader.parse()?;
    reader.read("", &root, &schema::<T>())
}

impl<'a> Reader<'a> {
    /// The document as a table whose values know their places.
    ///
    /// # Errors
    ///
    /// A [`Problem`] if it is not TOML.
    pub fn parse(&self) -> Result<Spanned<DeValue<'a>>, Problem> {
        let table = DeTable::parse(self.text).map_err(|e| {
            self.problem(e.span().unwrap_or(0..0), e.message(), "this is not TOML; see toml.io")
        })?;
        Ok(Spanned::new(0..0, DeValue::Table(table.into_inner())))
    }

    /// Reads a value that stands at `path` (`asset.motion`; the whole document at nothing) as its schema wants it.
    ///
    /// # Errors
    ///
    /// The first [`Problem`].
    pub fn read<T: DeserializeOwned>(
        &self,
        path: &str,
        value: &Spanned<DeValue<'_>>,
        schema: &Schema,
    ) -> Result<T, Problem> {
        let checked = self.checked(path, value, schema)?;
        serde_path_to_error::deserialize(checked).map_err(|error| self.explain(value, &error))
    }

    /// A value as the schema wants it: keys and kinds known, units converted, numbers in range.
    ///
    /// # Errors
    ///
    /// The first [`Problem`].
    pub fn checked(
        &self,
        path: &str,
        value: &Spanned<DeValue<'_>>,
        schema: &Schema,
    ) -> Result<Value, Problem> {
        let key = path.rsplit('.').next().unwrap_or_default();
        self.value(At { path, key, lists: 0 }, value, schema.as_value())
    }

    /// A problem at a place of the text.
    #[must_use]
    pub fn problem(&self, span: ops::Range<usize>, what: &str, fix: &str) -> Problem {
        let before = &self.text[..self.text.floor_char_boundary(span.start.min(self.text.len()))];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Problem { line, column, what: what.to_owned(), fix: fix.to_owned() }
    }

    /// What serde says of a checked value, with its place in the document.
    fn explain(
        &self,
        root: &Spanned<DeValue<'_>>,
        error: &serde_path_to_error::Error<toml::de::Error>,
    ) -> Problem {
        let mut at = root;
        for segment in error.path() {
            let next = match segment {
                Segment::Seq { index } => at.get_ref().get(*index),
                Segment::Map { key } => at.get_ref().get(key.as_str()),
                Segment::Enum { .. } | Segment::Unknown => None,
            };
            at = next.unwrap_or(at);
        }
        let message = error.inner().message().trim_end();
        let (what, fix) = match message.strip_suffix(')').and_then(|m| m.split_once(" (")) {
            Some(parts) => parts,
            None => (message, "see what this table may hold: supple schema"),
        };
        self.problem(at.span(), what, fix)
    }

    fn value(
        &self,
        at: At<'_>,
        value: &Spanned<DeValue<'_>>,
        schema: &Json,
    ) -> Result<Value, Problem> {
        let alternatives = alternatives(schema);
        match value.get_ref() {
            DeValue::Table(_) if alternatives.iter().any(|s| is_table(s)) => {
                self.table(at, value, schema)
            }
            DeValue::Array(entries) if alternatives.len() > 1 => {
                let lists: Vec<&Json> =
                    alternatives.into_iter().filter(|s| holds(s, "array")).collect();
                let fitting = lists.iter().find(|s| Count::of(s).contains(entries.len()));
                match (fitting, &lists[..]) {
                    (Some(list), _) => self.list(at, value, list),
                    (None, []) => Err(self.wrong_type(at, value, schema)),
                    (None, lists) => {
                        let counts: Vec<_> = lists.iter().map(|s| Count::of(s).word()).collect();
                        Err(self.wrong_count(at, value, &counts.join(" or ")))
                    }
                }
            }
            DeValue::Array(_) if alternatives.iter().any(|s| holds(s, "array")) => {
                self.list(at, value, alternatives[0])
            }
            DeValue::Array(_) => Err(self.wrong_type(at, value, schema)),
            DeValue::String(text) => self.text_value(at, value, text, schema),
            _ => {
                let fits = |s: &&&Json| types_of(s.get("type")).any(|t| fits(value.get_ref(), t));
                let near = alternatives.iter().find(fits).or(match alternatives.len() {
                    1 => alternatives.first(),
                    _ => None,
                });
                near.map_or_else(
                    || Err(self.wrong_type(at, value, schema)),
                    |s| self.plain(at, value, s),
                )
            }
        }
    }

    /// A text: a word, a name, or a number with its unit.
    fn text_value(
        &self,
        at: At<'_>,
        value: &Spanned<DeValue<'_>>,
        text: &str,
        schema: &Json,
    ) -> Result<Value, Problem> {
        let alternatives = alternatives(schema);
        let words = words(schema);
        let free = alternatives.iter().find(|s| is_free(s));
        let number = alternatives.iter().find(|s| holds(s, "number"));
        match (free, number) {
            _ if words.contains(&text) => Ok(Value::String(text.to_owned())),
            // "2 cm" is a length, even where a name may stand.
            (Some(_), Some(schema)) if self.is_quantity(text, schema) => {
                self.number(at, value, schema)
            }
            (Some(schema), _) => {
                let format = schema.get("format").and_then(Json::as_str);
                if let (Some(format), Some(formats)) = (format, self.formats) {
                    let checked = formats.check(format, text);
                    checked.map_err(|(what, fix)| self.problem(value.span(), &what, &fix))?;
                }
                Ok(Value::String(text.to_owned()))
            }
            (None, Some(schema)) => self.number(at, value, schema),
            (None, None) if !words.is_empty() => {
                Err(self.no_choice(at.key, value.span(), text, &words))
            }
            (None, None) => match &alternatives[..] {
                [schema] => self.plain(at, value, schema),
                _ => Err(self.wrong_type(at, value, schema)),
            },
        }
    }

    fn is_quantity(&self, text: &str, schema: &Json) -> bool {
        let unit = Unit(schema.get("unit").and_then(Json::as_str).unwrap_or_default());
        unit.parse(text, self.fps).is_ok()
    }

    /// A value with one schema that is no table or list.
    fn plain(
        &self,
        at: At<'_>,
        value: &Spanned<DeValue<'_>>,
        schema: &Json,
    ) -> Result<Value, Problem> {
        match value.get_ref() {
            _ if holds(schema, "integer") => self.count(at, value, schema),
            DeValue::Integer(_) | DeValue::Float(_) if holds(schema, "number") => {
                self.number(at, value, schema)
            }
            DeValue::Boolean(flag) if holds(schema, "boolean") => Ok(Value::Boolean(*flag)),
            _ if schema.get("type").is_some() => Err(self.wrong_type(at, value, schema)),
            // A schema that says nothing leaves it to serde.
            _ => {
                let plain = toml::de::ValueDeserializer::from(value.clone());
                serde::Deserialize::deserialize(plain).map_err(|e: toml::de::Error| {
                    self.problem(value.span(), e.message(), "check it")
                })
            }
        }
    }

    /// A finite number in the unit, within the range; or the name of a track.
    fn number(
        &self,
        at: At<'_>,
        value: &Spanned<DeValue<'_>>,
        schema: &Json,
    ) -> Result<Value, Problem> {
        let unit = Unit(schema.get("unit").and_then(Json::as_str).unwrap_or_default());
        let range = Range::of(schema);
        let key = at.key;
        let wrong = |what: &str, fix: &str| self.problem(value.span(), what, fix);
        let number = match value.get_ref() {
            DeValue::Integer(i) => {
                i128::from_str_radix(i.as_str(), i.radix()).ok().map(|i| i as f64)
            }
            DeValue::Float(f) => f.as_str().parse().ok(),
            DeValue::String(text) => {
                let is_name = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
                let driven = holds(schema, "string");
                if is_name && driven {
                    return self.track(at, value.span(), text, (unit, range));
                }
                if is_name && self.tracks.contains_key(&**text) {
                    let what = format!("'{key}' cannot be driven by a track");
                    return Err(wrong(&what, &format!("write {}", unit.measures())));
                }
                let parsed = unit.parse(text, self.fps);
                Some(parsed.map_err(|what| wrong(&format!("'{key}': {what}"), "for example 2"))?)
            }
            _ => return Err(self.wrong_type(at, value, schema)),
        };
        let must = format!("{} {range} is needed", unit.measures());
        match number {
            Some(x) if x.is_finite() && range.contains(x) => Ok(Value::Float(x)),
            Some(x) => Err(wrong(&format!("'{key}' is {x}"), &must)),
            None => Err(wrong(&format!("'{key}' is no number"), &must)),
        }
    }

    /// The name of a track that stays within the range.
    fn track(
        &self,
        at: At<'_>,
        span: ops::Range<usize>,
        name: &str,
        (unit, range): (Unit<'_>, Range),
    ) -> Result<Value, Problem> {
        let Some(track) = self.tracks.get(name) else {
            let known: Vec<&str> = self.tracks.keys().map(String::as_str).collect();
            let wanted = format!("or write {}", unit.measures());
            let near = suggest(name, &known);
            let fix = near.map_or(wanted, |near| format!("did you mean the track '{near}'?"));
            return Err(self.problem(span, &format!("there is no track '{name}'"), &fix));
        };
        if let Some([time, value]) = track.keys.iter().find(|k| !range.contains(k[1])) {
            let what = format!("track '{name}' is {value} at {time} s");
            return Err(self.problem(span, &what, &format!("'{}' must be {range}", at.key)));
        }
        Ok(Value::String(name.to_owned()))
    }

    /// A whole number within the range.
    fn count(
        &self,
        at: At<'_>,
        value: &Spanned<DeValue<'_>>,
        schema: &Json,
    ) -> Result<Value, Problem> {
        let range = Range::of(schema);
        let fix = format!("a whole number {range} is needed");
        let wrong = |what: &str| self.problem(value.span(), what, &fix);
        let DeValue::Integer(i) = value.get_ref() else {
            return Err(wrong(&format!("'{}' is not a whole number", at.key)));
        };
        let number = i64::from_str_radix(i.as_str(), i.radix()).ok();
        let number = number.filter(|n| range.contains(*n as f64)).map(Value::Integer);
        number.ok_or_else(|| wrong(&format!("'{}' is {i}", at.key)))
    }

    fn list(
        &self,
        at: At<'_>,
        value: &Spanned<DeValue<'_>>,
        schema: &Json,
    ) -> Result<Value, Problem> {
        let Some(entries) = value.get_ref().as_array() else {
            return Err(self.wrong_type(at, value, schema));
        };
        let count = Count::of(schema);
        if !count.contains(entries.len()) {
            return Err(self.wrong_count(at, value, &count.word()));
        }
        let prefix = schema.get("prefixItems").and_then(Json::as_array);
        let items = schema.get("items").unwrap_or(&Json::Bool(true));
        let within = At { lists: at.lists + 1, ..at };
        let entry = |(i, entry): (usize, &Spanned<DeValue<'_>>)| {
            self.value(within, entry, prefix.and_then(|p| p.get(i)).unwrap_or(items))
        };
        entries.iter().enumerate().map(entry).collect::<Result<_, _>>().map(Value::Array)
    }

    fn wrong_count(&self, at: At<'_>, value: &Spanned<DeValue<'_>>, wanted: &str) -> Problem {
        let given = value.get_ref().as_array().map_or(0, |a| a.len());
        let what = match (at.lists, wanted) {
            (0, _) => format!("'{}' has {given} entries", at.key),
            (_, "three") => format!("a point in '{}' has {given} entries", at.key),
            _ => format!("an entry of '{}' has {given} entries", at.key),
        };
        let form = if wanted == "three" && at.lists > 0 { ": [x, y, z]" } else { "" };
        let verb = if wanted.ends_with("one") { "is" } else { "are" };
        self.problem(value.span(), &what, &format!("{wanted} {verb} needed{form}"))
    }

    fn wrong_type(&self, at: At<'_>, value: &Spanned<DeValue<'_>>, schema: &Json) -> Problem {
        let kind = value.get_ref().type_str();
        let article = if kind.starts_with(['a', 'i']) { "an" } else { "a" };
        let mut wanted: Vec<String> = Vec::new();
        for schema in alternatives(schema) {
            let word = wanted_by(schema, at);
            if !wanted.contains(&word) {
                wanted.push(word);
            }
        }
        let wanted = wanted.join(" or ");
        let (what, fix) = match at.lists {
            0 => (format!("'{}' is {article} {kind}", at.key), format!("write {wanted}")),
            _ => (
                format!("an entry of '{}' is {article} {kind}", at.key),
                format!("write {wanted} for each entry"),
            ),
        };
        self.problem(value.span(), &what, &fix)
    }

    fn no_choice(&self, key: &str, span: ops::Range<usize>, text: &str, known: &[&str]) -> Problem {
        let near = suggest(text, known).map_or(String::new(), |n| format!("did you mean '{n}'? "));
        let what = format!("'{text}' is no {key}");
        self.problem(span, &what, &format!("{near}known: {}", known.join(", ")))
    }
}

/// How many entries a list may have.
struct Count(usize, usize);

impl Count {
    fn of(schema: &Json) -> Self {
        let bound = |key: &str| schema.get(key).and_then(Json::as_u64).map(|n| n as usize);
        Self(bound("minItems").unwrap_or(0), bound("maxItems").unwrap_or(usize::MAX))
    }

    fn contains(&self, count: usize) -> bool {
        (self.0..=self.1).contains(&count)
    }

    fn word(&self) -> String {
        let number = |n: usize| match n {
            1 => "one".to_owned(),
            2 => "two".to_owned(),
            3 => "three".to_owned(),
            4 => "four".to_owned(),
            n => n.to_string(),
        };
        match *self {
            Self(least, most) if least == most => number(least),
            Self(least, usize::MAX) => format!("at least {}", number(least)),
            Self(0, most) => format!("at most {}", number(most)),
            Self(least, most) => format!("{} to {}", number(least), number(most)),
        }
    }
}

/// What a value of this schema is called.
fn wanted_by(schema: &Json, at: At<'_>) -> String {
    let unit = Unit(schema.get("unit").and_then(Json::as_str).unwrap_or_default());
    let types: Vec<&str> = types_of(schema.get("type")).collect();
    match types.first() {
        Some(&"integer") => format!("a whole number {}", Range::of(schema)),
        Some(&"number") => unit.measures().into_owned(),
        Some(&"boolean") => "true or false".to_owned(),
        Some(&"array") if schema.get("items").is_some_and(is_table) => {
            format!("a list of tables: [[{}]]", at.path)
        }
        Some(&"array") => "a list in [ ]".to_owned(),
        Some(&"object") => format!("a table: {}", at.table()),
        _ => "a text in quotes".to_owned(),
    }
}

/// Whether a value of TOML may stand for this type of JSON.
fn fits(value: &DeValue<'_>, kind: &str) -> bool {
    match value {
        DeValue::Integer(_) => matches!(kind, "integer" | "number"),
        DeValue::Float(_) => kind == "number",
        DeValue::Boolean(_) => kind == "boolean",
        DeValue::Array(_) => kind == "array",
        DeValue::Table(_) => kind == "object",
        DeValue::String(_) | DeValue::Datetime(_) => kind == "string",
    }
}

fn holds(schema: &Json, kind: &str) -> bool {
    types_of(schema.get("type")).any(|t| t == kind)
}

fn is_table(schema: &Json) -> bool {
    let composed = || alternatives(schema).iter().any(|s| s.get("properties").is_some());
    holds(schema, "object") || schema.get("properties").is_some() || composed()
}

/// What a value may be: the schema itself, or each of its alternatives if it is nothing but a choice.
fn alternatives(schema: &Json) -> Vec<&Json> {
    let choice = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(key)?.as_array());
    match choice {
        Some(parts) if schema.get("properties").is_none() => {
            parts.iter().flat_map(alternatives).collect()
        }
        _ => vec![schema],
    }
}

/// Whether any text will do; a number that may also be a text is one that a track may drive.
fn is_free(schema: &Json) -> bool {
    holds(schema, "string") && !holds(schema, "number") && words_of(schema).is_empty()
}

/// The words that one schema allows.
fn words_of(schema: &Json) -> Vec<&str> {
    let one = schema.get("const").and_then(Json::as_str);
    let many = schema.get("enum").and_then(Json::as_array).into_iter().flatten();
    one.into_iter().chain(many.filter_map(Json::as_str)).collect()
}

/// The words that stand for a value of this schema.
fn words(schema: &Json) -> Vec<&str> {
    alternatives(schema).into_iter().flat_map(words_of).collect()
}

/// The known word nearest to `word`, if it is near enough to be a slip.
#[must_use]
pub fn suggest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let allowed = 1 + word.chars().count().min(32) / 4;
    let near = known.iter().map(|k| (slips(word, k), *k)).min()?;
    (near.0 <= allowed).then_some(near.1)
}

/// Letters to add, drop, change or swap with their neighbour to get from one word to the other.
fn slips(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().take(64).collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let (mut before, mut last) = (vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<_>>());
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        (before, last) = (last, row);
    }
    last[b.len()]
}

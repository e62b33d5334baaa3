//! Reading TOML with care: every value knows its line, every table its keys.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops;

use schemars::Schema;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::{Folder, Problem, Tracks, Unit};
use crate::modifier::Registry;
pub(super) use crate::modifier::read::suggest;
use crate::modifier::read::{Formats, Reader};

/// A document being read, and what its parts must know of each other.
pub(super) struct Document<'a> {
    pub(super) text: &'a str,
    /// Where files are looked for; `None` leaves them unchecked.
    pub(super) folder: Option<&'a Folder<'a>>,
    /// The kinds of modifiers it may name, beside those of [`Modifier`](super::Modifier).
    pub(super) registry: &'a Registry,
    /// Frames a second, for times given in frames.
    pub(super) fps: Cell<f64>,
    /// The tracks that parameters may name.
    pub(super) tracks: RefCell<Tracks>,
}

impl Document<'_> {
    pub(super) fn problem(&self, span: ops::Range<usize>, what: &str, fix: &str) -> Problem {
        let at = self.text.floor_char_boundary(span.start.min(self.text.len()));
        let before = &self.text[..at];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Problem { line, column, what: what.to_owned(), fix: fix.to_owned() }
    }
}

/// The numbers a parameter may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Range {
    pub(super) const ANY: Self = Self { least: -1e9, most: 1e9 };

    pub(super) fn contains(&self, x: f64) -> bool {
        (self.least..=self.most).contains(&x)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "between {} and {}", self.least, self.most)
    }
}

/// A table of the document.
#[derive(Clone)]
pub(super) struct Table<'a> {
    pub(super) document: &'a Document<'a>,
    /// How the document writes it: `[asset.motion]`.
    pub(super) what: String,
    table: &'a DeTable<'a>,
    span: ops::Range<usize>,
}

impl<'a> Table<'a> {
    pub(super) fn root(document: &'a Document<'a>, table: &'a Spanned<DeTable<'a>>) -> Self {
        let what = "the document".to_owned();
        Self { document, what, table: table.get_ref(), span: 0..0 }
    }

    /// Refuses keys that are not in the list.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Problem> {
        let unknown = self.table.iter().filter(|(k, _)| !known.contains(&k.get_ref().as_ref()));
        let Some((key, _)) = unknown.min_by_key(|(k, _)| k.span().start) else { return Ok(()) };
        let fix = match suggest(key.get_ref(), known) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("keys here: {}", known.join(", ")),
        };
        let what = format!("unknown key '{}' in {}", key.get_ref(), self.what);
        Err(self.document.problem(key.span(), &what, &fix))
    }

    pub(super) fn get(&self, key: &str) -> Option<Field<'a>> {
        let (key, value) = self.table.iter().find(|(k, _)| k.get_ref() == key)?;
        Some(Field { document: self.document, key: key.get_ref().to_string(), value })
    }

    pub(super) fn need(&self, key: &str) -> Result<Field<'a>, Problem> {
        let missing = || self.wrong(&format!("{} has no '{key}'", self.what), "add it");
        self.get(key).ok_or_else(missing)
    }

    /// All entries, in alphabetical order.
    pub(super) fn entries(&self) -> impl Iterator<Item = Field<'a>> + '_ {
        let document = self.document;
        self.table.iter().map(move |(key, value)| Field {
            document,
            key: key.get_ref().to_string(),
            value,
        })
    }

    pub(super) fn wrong(&self, what: &str, fix: &str) -> Problem {
        self.document.problem(self.span.clone(), what, fix)
    }

    /// The table as a value of its own, but for the key `apart`.
    pub(super) fn parse<T: DeserializeOwned>(&self, apart: &str) -> Result<T, Problem> {
        let others = self.table.clone().into_iter().filter(|(key, _)| key.get_ref() != apart);
        let table: DeTable<'_> = others.collect();
        let value = Spanned::new(self.span.clone(), DeValue::Table(table));
        T::deserialize(ValueDeserializer::from(value)).map_err(|error| self.explain(&error))
    }

    /// The table as a schema wants it, but for the key `apart`: keys known, units converted, numbers in range.
    pub(super) fn checked(&self, apart: &str, schema: &Schema) -> Result<toml::Table, Problem> {
        let document = self.document;
        let others = self.table.clone().into_iter().filter(|(key, _)| key.get_ref() != apart);
        let table: DeTable<'_> = others.collect();
        let value = Spanned::new(self.span.clone(), DeValue::Table(table));
        let reader = Reader {
            text: document.text,
            fps: document.fps.get(),
            tracks: &document.tracks.borrow(),
            formats: document.folder.map(|folder| folder as &dyn Formats),
        };
        let path = self.what.trim_matches(['[', ']']);
        match reader.checked(path, &value, schema)? {
            toml::Value::Table(table) => Ok(table),
            _ => Ok(toml::Table::new()),
        }
    }

    /// What a parser says, in the words of this document.
    pub(super) fn explain(&self, error: &toml::de::Error) -> Problem {
        let span = error.span().unwrap_or(self.span.clone());
        let (what, wanted) = error.message().split_once(", expected ").unwrap_or_default();
        let Some(unknown) = what.strip_prefix("unknown field ") else {
            return match wanted {
                "" => self.document.problem(span, error.message(), "see what this table may hold"),
                wanted => self.document.problem(span, what, &format!("write {wanted}")),
            };
        };
        let unknown = unknown.trim_matches('`');
        let known: Vec<&str> = wanted.split('`').skip(1).step_by(2).collect();
        let fix = match suggest(unknown, &known) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("keys here: {}", known.join(", ")),
        };
        self.document.problem(span, &format!("unknown key '{unknown}' in {}", self.what), &fix)
    }

    /// The number of `key`, or `default` where it is not given.
    pub(super) fn number_or(
        &self,
        key: &str,
        unit: Unit<'_>,
        range: Range,
        default: f64,
    ) -> Result<f64, Problem> {
        self.get(key).map_or(Ok(default), |f| f.number(unit, range))
    }
}

/// A value of the document, with its key.
#[derive(Clone)]
pub(super) struct Field<'a> {
    pub(super) document: &'a Document<'a>,
    pub(super) key: String,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Field<'a> {
    pub(super) fn wrong(&self, what: &str, fix: &str) -> Problem {
        self.document.problem(self.value.span(), what, fix)
    }

    fn wrong_type(&self, wanted: &str) -> Problem {
        let kind = self.value.get_ref().type_str();
        let article = if kind.starts_with(['a', 'i']) { "an" } else { "a" };
        self.wrong(&format!("'{}' is {article} {kind}", self.key), &format!("write {wanted}"))
    }

    pub(super) fn text(&self) -> Result<&'a str, Problem> {
        self.value.get_ref().as_str().ok_or_else(|| self.wrong_type("a text in quotes"))
    }

    /// A text that cannot be a quantity: one that starts with a letter.
    pub(super) fn as_name(&self) -> Option<&'a str> {
        let text = self.value.get_ref().as_str()?;
        text.starts_with(|c: char| c.is_alphabetic() || c == '_').then_some(text)
    }

    /// A text that is a number with a unit.
    pub(super) fn as_quantity(&self, unit: Unit<'_>) -> Option<f64> {
        unit.parse(self.value.get_ref().as_str()?, self.document.fps.get()).ok()
    }

    /// A name that is safe as a part of a file name.
    pub(super) fn name(&self) -> Result<String, Problem> {
        let text = self.text()?;
        let bad = |c: char| c.is_control() || "/\\:*?\"<>|".contains(c);
        if text.is_empty() || text.len() > 100 || text.starts_with('.') || text.contains(bad) {
            let what = format!("'{}' cannot be a name", text.escape_debug());
            let fix = "use at most 100 letters, digits, spaces, - and _; it becomes a file name";
            return Err(self.wrong(&what, fix));
        }
        Ok(text.to_owned())
    }

    pub(super) fn is_text(&self) -> bool {
        self.value.get_ref().is_str()
    }

    pub(super) fn is_array(&self) -> bool {
        self.value.get_ref().is_array()
    }

    /// A finite number in the unit, within the range.
    pub(super) fn number(&self, unit: Unit<'_>, range: Range) -> Result<f64, Problem> {
        let number = match self.value.get_ref() {
            DeValue::Integer(i) => {
                i128::from_str_radix(i.as_str(), i.radix()).ok().map(|i| i as f64)
            }
            DeValue::Float(f) => f.as_str().parse().ok(),
            DeValue::String(text) => {
                let parsed = unit.parse(text, self.document.fps.get());
                Some(parsed.map_err(|what| {
                    self.wrong(&format!("'{}': {what}", self.key), "for example 2")
                })?)
            }
            _ => return Err(self.wrong_type(&unit.measures())),
        };
        let must = format!("{} {range} is needed", unit.measures());
        match number {
            Some(x) if x.is_finite() && range.contains(x) => Ok(x),
            Some(x) => Err(self.wrong(&format!("'{}' is {x}", self.key), &must)),
            None => Err(self.wrong(&format!("'{}' is no number", self.key), &must)),
        }
    }

    /// A whole number within the range.
    pub(super) fn count(&self, range: ops::RangeInclusive<u32>) -> Result<u32, Problem> {
        let (least, most) = (*range.start(), *range.end());
        let fix = format!("a whole number between {least} and {most} is needed");
        let DeValue::Integer(i) = self.value.get_ref() else {
            return Err(self.wrong(&format!("'{}' is not a whole number", self.key), &fix));
        };
        let number = u32::from_str_radix(i.as_str(), i.radix()).ok().filter(|n| range.contains(n));
        number.ok_or_else(|| self.wrong(&format!("'{}' is {i}", self.key), &fix))
    }

    pub(super) fn flag(&self) -> Result<bool, Problem> {
        self.value.get_ref().as_bool().ok_or_else(|| self.wrong_type("true or false"))
    }

    /// Refuses points, anywhere in the value, that have not three coordinates. Under the keys of
    /// `lists` a row of numbers is no point.
    pub(super) fn check_points(&self, lists: &[&str]) -> Result<(), Problem> {
        match self.value.get_ref() {
            DeValue::Table(_) => {
                self.table(&self.key)?.entries().try_for_each(|f| f.check_points(lists))
            }
            DeValue::Array(entries) => {
                let number = |v: &Spanned<DeValue<'_>>| {
                    matches!(v.get_ref(), DeValue::Integer(_) | DeValue::Float(_))
                };
                let row = !entries.is_empty() && entries.iter().all(number);
                if row && entries.len() != 3 && !lists.contains(&self.key.as_str()) {
                    let what = format!("a point in '{}' has {} entries", self.key, entries.len());
                    return Err(self.wrong(&what, "three are needed: [x, y, z]"));
                }
                self.items()?.iter().try_for_each(|item| {
                    let inside = if item.is_array() { &[][..] } else { lists };
                    item.check_points(inside)
                })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn numbers3(&self, unit: Unit<'_>, range: Range) -> Result<[f64; 3], Problem> {
        let items = self.items()?;
        let [x, y, z] = &items[..] else {
            let what = format!("'{}' has {} entries", self.key, items.len());
            return Err(self.wrong(&what, "three are needed"));
        };
        Ok([x.number(unit, range)?, y.number(unit, range)?, z.number(unit, range)?])
    }

    /// One of the words.
    pub(super) fn choice<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, Problem> {
        let text = self.text()?;
        let found = words.iter().find(|w| w.0 == text).map(|w| w.1);
        found.ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|w| w.0).collect();
            let hint =
                suggest(text, &known).map_or(String::new(), |n| format!("did you mean '{n}'? "));
            let what = format!("'{text}' is no {}", self.key);
            self.wrong(&what, &format!("{hint}known: {}", known.join(", ")))
        })
    }

    pub(super) fn items(&self) -> Result<Vec<Self>, Problem> {
        let array =
            self.value.get_ref().as_array().ok_or_else(|| self.wrong_type("a list in [ ]"))?;
        let item = |value| Field { document: self.document, key: self.key.clone(), value };
        Ok(array.iter().map(item).collect())
    }

    /// A table; `what` is how the document writes it.
    pub(super) fn table(&self, what: &str) -> Result<Table<'a>, Problem> {
        let wrong = || self.wrong_type(&format!("a table: {what}"));
        let table = self.value.get_ref().as_table().ok_or_else(wrong)?;
        let what = what.to_owned();
        Ok(Table { document: self.document, what, table, span: self.value.span() })
    }

    /// A list of tables; `what` is how the document writes one.
    pub(super) fn tables(&self, what: &str) -> Result<Vec<Table<'a>>, Problem> {
        if !self.is_array() {
            return Err(self.wrong_type(&format!("a list of tables: [{what}]")));
        }
        self.items()?.iter().map(|item| item.table(what)).collect()
    }

    /// The name of a model of the zoo.
    pub(super) fn zoo(&self) -> Result<String, Problem> {
        if self.document.folder.is_none() {
            return self.name();
        }
        let models = crate::zoo::names().iter().map(|e| e.name);
        let bodies = crate::zoo::tet_bodies::BODIES.iter().map(|e| e.name);
        let names: Vec<_> = models.chain(bodies).map(|name| (name, name)).collect();
        self.choice(&names).map(str::to_owned)
    }

    /// The name of a file that must exist beside the document.
    pub(super) fn file(&self) -> Result<String, Problem> {
        let file = self.text()?;
        if let Some(folder) = self.document.folder {
            folder.check(file).map_err(|(what, fix)| self.wrong(&what, &fix))?;
        }
        Ok(file.to_owned())
    }
}

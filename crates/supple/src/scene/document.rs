//! Places in a document, and what texts in it must be.

use toml::Spanned;
use toml::de::DeValue;

use super::{Folder, Problem};
use crate::modifier::read::{Formats, Reader, suggest};
use crate::modifier::{Key, Wrong};

/// A place in a document, for what is found wrong after it was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location<'a> {
    reader: Reader<'a>,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Location<'a> {
    pub(super) fn new(reader: Reader<'a>, value: &'a Spanned<DeValue<'a>>) -> Self {
        Self { reader, value }
    }

    /// That of a key; that of the table itself if the key is not given.
    pub(super) fn get(self, key: &str) -> Self {
        Self { value: self.value.get_ref().get(key).unwrap_or(self.value), ..self }
    }

    /// That of an entry of a list.
    pub(super) fn entry(self, index: usize) -> Self {
        Self { value: self.value.get_ref().get(index).unwrap_or(self.value), ..self }
    }

    /// How many entries a list has.
    pub(super) fn count(self) -> usize {
        self.value.get_ref().as_array().map_or(0, |list| list.len())
    }

    pub(super) fn has(self, key: &str) -> bool {
        self.value.get_ref().get(key).is_some()
    }

    /// The text of a key, if it is one.
    pub(super) fn text(self, key: &str) -> &'a str {
        self.value.get_ref().get(key).and_then(|v| v.get_ref().as_str()).unwrap_or_default()
    }

    /// The whole number that stands here, if it is one.
    pub(super) fn number(self) -> Option<u64> {
        let number = self.value.get_ref().as_integer()?;
        u64::from_str_radix(number.as_str(), number.radix()).ok()
    }

    pub(super) fn wrong(self, what: &str, fix: &str) -> Problem {
        self.reader.problem(self.value.span(), what, fix)
    }

    /// What is wrong in the table that stands here.
    pub(super) fn problem(self, wrong: &Wrong) -> Problem {
        let at = wrong.at.iter().fold(self, |at, key| match key {
            Key::Name(name) => at.get(name),
            Key::Entry(index) => at.entry(*index),
        });
        at.wrong(&wrong.what, &wrong.fix)
    }
}

/// What texts must be: names, models of the zoo, files in a folder if there is one.
#[derive(Debug)]
pub(super) struct Texts<'a>(pub(super) Option<&'a Folder<'a>>);

impl Formats for Texts<'_> {
    fn check(&self, format: &str, text: &str) -> Result<(), (String, String)> {
        match (format, self.0) {
            ("name", _) | ("zoo", None) => check_name(text),
            ("zoo", Some(_)) => check_model(text),
            ("file", Some(folder)) => folder.check(text),
            _ => Ok(()),
        }
    }
}

/// Bytes of the longest name.
const LONGEST_NAME: usize = 100;

/// What no file name may hold.
fn is_unsafe(c: char) -> bool {
    c.is_control() || "/\\:*?\"<>|".contains(c)
}

/// The name that the stem of a file gives, whatever the file is called.
pub(super) fn name_of(stem: &str) -> String {
    let mut name = stem.trim_start_matches('.').replace(is_unsafe, "_");
    // Letters of other scripts take two to four bytes.
    name.truncate(name.floor_char_boundary(LONGEST_NAME));
    if name.is_empty() { "asset".to_owned() } else { name }
}

/// A name that is safe as a part of a file name.
fn check_name(text: &str) -> Result<(), (String, String)> {
    let is_long = text.len() > LONGEST_NAME;
    if text.is_empty() || is_long || text.starts_with('.') || text.contains(is_unsafe) {
        let what = format!("'{}' cannot be a name", text.escape_debug());
        let fix = "use at most 100 letters, digits, spaces, - and _; it becomes a file name";
        return Err((what, fix.to_owned()));
    }
    Ok(())
}

fn check_model(text: &str) -> Result<(), (String, String)> {
    let models = crate::zoo::names().iter().map(|entry| entry.name);
    let bodies = crate::zoo::tet_bodies::BODIES.iter().map(|entry| entry.name);
    let known: Vec<&str> = models.chain(crate::zoo::morph_names()).chain(bodies).collect();
    if known.contains(&text) {
        return Ok(());
    }
    let near = suggest(text, &known).map_or(String::new(), |n| format!("did you mean '{n}'? "));
    Err((format!("'{text}' is no zoo"), format!("{near}known: {}", known.join(", "))))
}

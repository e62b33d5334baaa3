//! Options of one-shot commands, made from the schema of the parameters they set: meaning, unit, range and default
//! are those of the library, and so is the reader. What a command line writes becomes a document of one line an option.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches};
use serde::de::DeserializeOwned;
use supple::modifier::Tracks;
use supple::modifier::read::{self, Key, Reader, Schema};

/// An option and the key of the document that it writes.
pub(crate) struct Opt {
    name: String,
    path: String,
    form: Form,
    pub(crate) arg: Arg,
}

/// How the value of an option is written.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// The option alone.
    Flag,
    /// A word or a name.
    Text,
    /// `1.5`, `"30 cm"`.
    Number,
    /// `0,1,0`.
    Point,
    /// `7,12,9`.
    Whole,
    /// `0,1,0;0,2,0`, or the option several times.
    Points,
}

impl Form {
    fn of(key: &Key<'_>) -> Option<Self> {
        // A number that may also be a text is one that a track may drive.
        let kind = |schema: &serde_json::Value| match &schema["type"] {
            serde_json::Value::Array(types) => {
                types.first().and_then(|t| t.as_str().map(str::to_owned))
            }
            one => one.as_str().map(str::to_owned),
        };
        match kind(key.schema).unwrap_or_default().as_str() {
            "boolean" => Some(Self::Flag),
            "number" | "integer" => Some(Self::Number),
            "array" => match kind(&key.schema["items"]).unwrap_or_default().as_str() {
                "number" => Some(Self::Point),
                "integer" => Some(Self::Whole),
                "array" => Some(Self::Points),
                _ => None,
            },
            "string" => Some(Self::Text),
            _ => {
                let words = key.schema["oneOf"].as_array();
                let only = words.is_some_and(|words| words.iter().all(|w| w["type"] == "string"));
                only.then_some(Self::Text)
            }
        }
    }

    /// The value as a document writes it.
    fn write(self, words: &[&str]) -> String {
        let point = |word: &str| {
            let numbers: Vec<_> = word.split(',').map(number).collect();
            format!("[{}]", numbers.join(", "))
        };
        match (self, words) {
            (Self::Points, words) => {
                let points =
                    words.iter().flat_map(|w| w.split(';')).filter(|p| !p.trim().is_empty());
                format!("[{}]", points.map(point).collect::<Vec<_>>().join(", "))
            }
            (_, [.., last]) => match self {
                Self::Number => number(last),
                Self::Point | Self::Whole => point(last),
                _ => quoted(last),
            },
            (_, []) => "true".to_owned(),
        }
    }
}

/// A number as a document writes it; what is none becomes a text, which may have a unit.
fn number(word: &str) -> String {
    let word = word.trim();
    match (word.parse::<i64>(), word.parse::<f64>()) {
        (Ok(whole), _) => whole.to_string(),
        (_, Ok(number)) => format!("{number:?}").to_lowercase(),
        _ => quoted(word),
    }
}

/// JSON escapes are those of TOML.
fn quoted(word: &str) -> String {
    serde_json::Value::from(word).to_string()
}

impl Opt {
    /// An option called `name` for the key at `path`; `None` if that is no number, point, list of points, word or switch.
    pub(crate) fn new(name: &str, path: &str, key: &Key<'_>) -> Option<Self> {
        let form = Form::of(key)?;
        let note = |text: &str, before: &str| match text {
            "" => String::new(),
            text => format!(" [{before}{text}]"),
        };
        let allowed = if form == Form::Text { "" } else { &key.allowed };
        let default = if form == Form::Flag { "" } else { &key.default };
        let notes = [note(key.unit, ""), note(allowed, ""), note(default, "default: ")];
        let arg = Arg::new(name.to_owned()).long(name.to_owned()).help(format!(
            "{}{}",
            key.description,
            notes.concat()
        ));
        let arg = match form {
            Form::Flag => arg.action(ArgAction::SetTrue),
            Form::Text if !key.allowed.is_empty() => {
                let words: Vec<String> = key.allowed.split(", ").map(str::to_owned).collect();
                arg.value_parser(PossibleValuesParser::new(words))
            }
            Form::Text => arg.value_name("NAME"),
            Form::Number => arg.value_name("NUMBER").allow_hyphen_values(true),
            Form::Point => arg.value_name("X,Y,Z").allow_hyphen_values(true),
            Form::Whole => arg.value_name("N,N,…"),
            Form::Points => {
                let pairs = key.schema["items"]["maxItems"] == 2;
                let name = if pairs { "T,VALUE;…" } else { "X,Y,Z;…" };
                arg.value_name(name).allow_hyphen_values(true).action(ArgAction::Append)
            }
        };
        Some(Self { name: name.to_owned(), path: path.to_owned(), form, arg })
    }

    /// Options for all keys of a schema that can be one, and for `nested` ones: name and path.
    pub(crate) fn all(schema: &Schema, nested: &[(&str, &str)]) -> Vec<Self> {
        let plain = read::keys(schema).into_iter().filter_map(|key| {
            let name = key.name.replace('_', "-");
            let taken = nested.iter().any(|n| n.0 == name || n.1 == key.name);
            (!taken && key.name != "kind").then(|| Self::new(&name, key.name, &key)).flatten()
        });
        let nested = nested.iter().filter_map(|(name, path)| {
            read::key(schema, path).and_then(|key| Self::new(name, path, &key))
        });
        plain.chain(nested).collect()
    }
}

/// A document of one line an option, which remembers the options.
#[derive(Default)]
pub(crate) struct Document {
    text: String,
    options: Vec<String>,
}

impl Document {
    /// The options that were given.
    pub(crate) fn of(options: &[Opt], given: &ArgMatches) -> Self {
        let mut document = Self::default();
        for opt in options {
            let written = match opt.form {
                Form::Flag => given.get_flag(&opt.name).then(|| "true".to_owned()),
                form => given
                    .get_many::<String>(&opt.name)
                    .map(|words| form.write(&words.map(String::as_str).collect::<Vec<_>>())),
            };
            if let Some(value) = written {
                document.push(&opt.name, &opt.path, &value);
            }
        }
        document
    }

    /// Writes a value, as a document has it, at a path.
    pub(crate) fn push(&mut self, option: &str, path: &str, value: &str) {
        self.text.push_str(&format!("{path} = {value}\n"));
        self.options.push(option.to_owned());
    }

    /// Writes a point, as a command line has it, at a path.
    pub(crate) fn push_point(&mut self, option: &str, path: &str, word: &str) {
        self.push(option, path, &Form::Point.write(&[word]));
    }

    /// Writes a number, as a command line has it, at a path.
    pub(crate) fn push_number(&mut self, option: &str, path: &str, word: &str) {
        self.push(option, path, &Form::Number.write(&[word]));
    }

    /// Writes points, as a command line has them, at a path.
    pub(crate) fn push_points(&mut self, option: &str, path: &str, word: &str) {
        self.push(option, path, &Form::Points.write(&[word]));
    }

    /// Writes a text at a path.
    pub(crate) fn push_text(&mut self, option: &str, path: &str, text: &str) {
        self.push(option, path, &quoted(text));
    }

    /// The parameters; or which option is wrong, how, and what would be right.
    pub(crate) fn read<T: DeserializeOwned>(&self, schema: &Schema) -> Result<T, String> {
        let none = Tracks::new();
        let reader = Reader { text: &self.text, fps: 24.0, tracks: &none, formats: None };
        let read = reader.parse().and_then(|root| reader.read("", &root, schema));
        read.map_err(|problem| match self.options.get(problem.line - 1) {
            Some(option) => format!("--{option}: {} ({})", problem.what, problem.fix),
            None => format!("{} ({})", problem.what, problem.fix),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_documents() {
        assert_eq!(Form::Point.write(&["0, .5,-1e-7"]), "[0, 0.5, -1e-7]");
        assert_eq!(
            Form::Points.write(&["0,1,0;1,1,1", "2,2,2"]),
            "[[0, 1, 0], [1, 1, 1], [2, 2, 2]]"
        );
        assert_eq!(Form::Number.write(&["NaN"]), "nan");
        assert_eq!(Form::Number.write(&["30 cm"]), "\"30 cm\"");
        assert_eq!(Form::Text.write(&["a\"b\\"]), "\"a\\\"b\\\\\"");
    }
}

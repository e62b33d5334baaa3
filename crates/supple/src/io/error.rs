//! What can go wrong with a file, and how it is said.

use std::fmt;
use std::path::PathBuf;

/// Where in a file something is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line of a text file, counted from 1.
    Line(usize),
    /// An offset into a binary file.
    Byte(u64),
    /// A place in a JSON document, such as `meshes[0].primitives[2].indices`.
    Json(String),
}

/// As the beginning of a message: `line 3: `, or nothing for the file as a whole, whose name comes
/// before.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Line(line) => write!(f, "line {line}: "),
            Self::Byte(byte) => write!(f, "byte {byte}: "),
            Self::Json(path) => write!(f, "{path}: "),
        }
    }
}

/// A file that cannot be understood: what is wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}{what} ({fix})")]
pub struct Malformed {
    /// Where.
    pub place: Place,
    /// What is wrong, with the offending value.
    pub what: String,
    /// What the person can do about it.
    pub fix: String,
}

impl Malformed {
    /// A problem at a place, with a way out.
    pub fn new(place: Place, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { place, what: what.into(), fix: fix.into() }
    }
}

/// Something in a file that was mended or left out; the rest was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where.
    pub place: Place,
    /// What was found and what was done about it.
    pub what: String,
}

impl Warning {
    /// A warning at a place.
    pub fn new(place: Place, what: impl Into<String>) -> Self {
        Self { place, what: what.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.place, self.what)
    }
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operating system refused.
    #[error("cannot read {path}: {source}", path = path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file name has an ending no reader knows.
    #[error(
        "{path}: no reader for this kind of file (known: {known})",
        path = path.display()
    )]
    UnknownFormat {
        /// Which file.
        path: PathBuf,
        /// The endings that are known.
        known: String,
    },
    /// The contents make no sense.
    #[error("{path}: {source}", path = path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: Malformed,
    },
}

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The operating system refused.
    #[error("cannot write {path}: {source}", path = path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file name has an ending no writer knows.
    #[error(
        "{path}: no writer for this kind of file (known: {known})",
        path = path.display()
    )]
    UnknownFormat {
        /// Which file.
        path: PathBuf,
        /// The endings that are known.
        known: String,
    },
    /// The format has no place for what should be written.
    #[error("{path}: {what}", path = path.display())]
    Unsupported {
        /// Which file.
        path: PathBuf,
        /// What does not fit, and what would.
        what: String,
    },
}

//! What can be wrong with a scene document, and how it is said.

use std::path::PathBuf;

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

/// Why a scene could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// The operating system refused.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The document is wrong.
    #[error("{path}: {problem}", path = path.display())]
    Wrong {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        problem: Problem,
    },
}

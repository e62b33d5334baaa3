//! What can be wrong with a scene document, and how it is said.

use std::path::PathBuf;

pub use crate::modifier::read::Problem;

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

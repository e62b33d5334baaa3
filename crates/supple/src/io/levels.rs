//! What formats have in common whose file or folder holds all its levels.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use super::ReadError;
use crate::dataset::{Dataset, Select};

/// All levels of a recording, from one file or folder that was opened.
pub trait Levels: Debug + Send + Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// When they are, if the files say so.
    fn times(&self) -> Option<Vec<f64>>;

    /// Whether times are in seconds; else nobody says what they are counted in.
    fn in_seconds(&self) -> bool {
        false
    }

    /// The file or folder as it was named, or the one that holds a level.
    fn path(&self, level: usize) -> &Path;

    /// All files that levels are read from.
    fn files(&self) -> Vec<PathBuf>;

    /// Keeps these levels, in this order.
    fn reorder(&mut self, order: &[usize]);

    /// Reads the selected arrays of a level.
    ///
    /// # Errors
    ///
    /// [`ReadError`] with what makes no sense, and in which file.
    fn read(&self, level: usize, select: Select<'_>) -> Result<Dataset, ReadError>;
}

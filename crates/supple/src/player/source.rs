//! Where assets come from: files beside the scene, and the zoo.
//!
//! ```
//! use supple::Run;
//! use supple::player::load;
//! use supple::scene::{Folder, Source};
//!
//! let ball = Source::Zoo { zoo: "ball".to_owned(), triangles: Some(80) };
//! let here = Folder::new(".".as_ref());
//! let asset = load(&ball, &here, &mut Vec::new(), &Run::default())?;
//! assert_eq!(asset.meshes[0].triangles.len(), 80);
//! # Ok::<(), supple::player::SourceError>(())
//! ```

use crate::io::uri::{FetchError, Policy};
use crate::io::{self, ReadError, ReadOptions};
use crate::scene::{Folder, Source};
use crate::{Asset, Run, zoo};

/// Why an asset could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file may not be opened or is not there.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The file makes no sense.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The zoo has no such model.
    #[error(transparent)]
    Zoo(#[from] zoo::Error),
}

/// Reads or builds the asset a scene names; what had to be mended in a file is added to `warnings`.
///
/// # Errors
///
/// [`SourceError`] if there is no such file or model, or the file cannot be read.
pub fn load(
    source: &Source,
    folder: &Folder<'_>,
    warnings: &mut Vec<String>,
    run: &Run<'_>,
) -> Result<Asset, SourceError> {
    match source {
        Source::File { file } => {
            let path = folder.resolve(file)?;
            let options = ReadOptions { allow_outside: folder.policy == Policy::AllowOutside };
            let loaded = io::read(&path, &options)?;
            warnings.extend(loaded.warnings.iter().map(|w| format!("{file}: {w}")));
            Ok(loaded.asset)
        }
        Source::Zoo { zoo, triangles } => {
            let size = zoo::Size { triangles: triangles.map(|t| t as usize) };
            Ok(zoo::build(zoo, &size, run)?)
        }
    }
}

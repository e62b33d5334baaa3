//! Where a scene's assets come from: files beside it, and the zoo.

use crate::io::{self, ReadOptions};
use crate::scene::{Folder, Source};
use crate::{Asset, Run, zoo};

/// Loads assets from files in `folder` and from the zoo; what had to be mended is added to `warnings`.
pub fn from_files<'a>(
    folder: Folder<'a>,
    warnings: &'a mut Vec<String>,
    run: &'a Run<'a>,
) -> impl FnMut(&Source) -> Result<Asset, Box<dyn std::error::Error + Send + Sync>> + 'a {
    move |source| match source {
        Source::File { file } => {
            let options = ReadOptions { allow_outside: folder.outside };
            let loaded = io::read(&folder.locate(file)?, &options)?;
            warnings.extend(loaded.warnings.iter().map(|warning| format!("{file}: {warning}")));
            Ok(loaded.asset)
        }
        Source::Zoo { zoo: name, triangles } => {
            let size = zoo::Size { triangles: triangles.map(|count| count as usize) };
            Ok(zoo::build(name, &size, run)?)
        }
    }
}

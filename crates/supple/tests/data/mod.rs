//! Where the tests find real models: the folder `SUPPLE_TEST_DATA`, or `shared/data` beside the
//! checkout. Tests use them when they are there and pass without them.

use std::path::{Path, PathBuf};

/// The file or folder `relative` of the test data, if it is there.
pub(crate) fn test_data(relative: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("SUPPLE_TEST_DATA").map_or(beside, PathBuf::from);
    let path = root.join(relative);
    path.exists().then_some(path)
}

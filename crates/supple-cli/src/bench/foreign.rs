//! Foreign programs to measure against, when they are installed.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

/// Loads a file several times and prints the median in milliseconds.
const TRIMESH_LOAD: &str = r#"
import json, statistics, sys, time
import trimesh
times = []
for _ in range(7):
    start = time.perf_counter()
    trimesh.load(sys.argv[1], process=False)
    times.append(1e3 * (time.perf_counter() - start))
print(json.dumps({"ms": statistics.median(times), "version": trimesh.__version__}))
"#;

/// What a foreign program measured.
#[derive(Debug, Deserialize)]
pub(crate) struct Measured {
    /// Median time in milliseconds.
    pub(crate) ms: f64,
    /// Its version.
    pub(crate) version: String,
}

/// How long trimesh needs to load `path`; `None` if it is not installed.
pub(crate) fn trimesh_load(path: &Path) -> Option<Measured> {
    let python = std::env::var_os("SUPPLE_PYTHON").unwrap_or_else(|| "python3".into());
    let output = Command::new(python).arg("-c").arg(TRIMESH_LOAD).arg(path).output().ok()?;
    output.status.success().then(|| serde_json::from_slice(&output.stdout).ok())?
}

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

/// Prepares a surface for the heat method and solves it, several times; prints the medians.
const POTPOURRI_HEAT: &str = r#"
import json, statistics, sys, time
import importlib.metadata
import potpourri3d as pp3d
vertices, faces = pp3d.read_mesh(sys.argv[1])
prepare, solve = [], []
for k in range(5):
    start = time.perf_counter()
    solver = pp3d.MeshHeatMethodDistanceSolver(vertices, faces)
    prepare.append(1e3 * (time.perf_counter() - start))
    for source in range(3):
        start = time.perf_counter()
        solver.compute_distance(source)
        solve.append(1e3 * (time.perf_counter() - start))
print(json.dumps({"prepare_ms": statistics.median(prepare), "solve_ms": statistics.median(solve),
                  "version": importlib.metadata.version("potpourri3d")}))
"#;

/// What a foreign program measured.
#[derive(Debug, Deserialize)]
pub(crate) struct Measured {
    /// Median time in milliseconds.
    pub(crate) ms: f64,
    /// Its version.
    pub(crate) version: String,
}

/// What potpourri3d measured.
#[derive(Debug, Deserialize)]
pub(crate) struct Geodesics {
    /// Median time to prepare, in milliseconds.
    pub(crate) prepare_ms: f64,
    /// Median time of one search, in milliseconds.
    pub(crate) solve_ms: f64,
    /// Its version.
    pub(crate) version: String,
}

/// How long trimesh needs to load `path`; `None` if it is not installed.
pub(crate) fn trimesh_load(path: &Path) -> Option<Measured> {
    python(TRIMESH_LOAD, path)
}

/// How long potpourri3d needs for distances on the surface in `path`; `None` if it is not installed.
pub(crate) fn potpourri_heat(path: &Path) -> Option<Geodesics> {
    python(POTPOURRI_HEAT, path)
}

fn python<T: for<'a> Deserialize<'a>>(script: &str, path: &Path) -> Option<T> {
    let python = std::env::var_os("SUPPLE_PYTHON").unwrap_or_else(|| "python3".into());
    let output = Command::new(python).arg("-c").arg(script).arg(path).output().ok()?;
    output.status.success().then(|| serde_json::from_slice(&output.stdout).ok())?
}

//! Foreign programs to measure against, when they are installed.

use std::ffi::OsStr;
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

/// Remeshes a file to an edge length and prints the time in milliseconds.
const PYMESHLAB_REMESH: &str = r#"
import importlib.metadata, json, sys, time
import pymeshlab
meshes = pymeshlab.MeshSet()
meshes.load_new_mesh(sys.argv[1])
length = pymeshlab.PureValue(float(sys.argv[2]))
start = time.perf_counter()
meshes.meshing_isotropic_explicit_remeshing(iterations=10, targetlen=length)
ms = 1e3 * (time.perf_counter() - start)
print(json.dumps({"ms": ms, "version": importlib.metadata.version("pymeshlab")}))
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
    measure(TRIMESH_LOAD, &[path.as_os_str()])
}

/// How long potpourri3d needs for distances on the surface in `path`; `None` if it is not installed.
pub(crate) fn potpourri_heat(path: &Path) -> Option<Geodesics> {
    measure(POTPOURRI_HEAT, &[path.as_os_str()])
}

/// How long pymeshlab needs to remesh `path` ten times over; `None` if it is not installed.
pub(crate) fn pymeshlab_remesh(path: &Path, length: f32) -> Option<Measured> {
    measure(PYMESHLAB_REMESH, &[path.as_os_str(), length.to_string().as_ref()])
}

/// Runs a script; what it prints last is its result.
fn measure<T: for<'a> Deserialize<'a>>(script: &str, args: &[&OsStr]) -> Option<T> {
    let python = std::env::var_os("SUPPLE_PYTHON").unwrap_or_else(|| "python3".into());
    let output = Command::new(python).arg("-c").arg(script).args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| serde_json::from_str(text.lines().last()?).ok())?
}

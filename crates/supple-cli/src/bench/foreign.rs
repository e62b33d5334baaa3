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

/// Moves the ends of a bar to where they are in a second file, ten iterations of ARAP between them.
const LIBIGL_ARAP: &str = r#"
import importlib.metadata, json, sys, time
import igl, numpy
rest, faces = igl.read_triangle_mesh(sys.argv[1])
bent, _ = igl.read_triangle_mesh(sys.argv[2])
rest, bent = numpy.asarray(rest, dtype=numpy.float64), numpy.asarray(bent, dtype=numpy.float64)
faces = numpy.asarray(faces, dtype=numpy.int64)
x = rest[:, 0]
ends = numpy.abs(x - (x.min() + x.max()) / 2) > 0.45 * (x.max() - x.min())
held = numpy.nonzero(ends)[0].astype(numpy.int32)
def volume(v):
    a, b, c = (v[faces[:, k]] for k in range(3))
    return numpy.einsum("ij,ij->i", a, numpy.cross(b, c)).sum() / 6
start = time.perf_counter()
data = igl.ARAPData()
data.max_iter = 10
igl.arap_precomputation(rest, faces, 3, held, data)
moved = igl.arap_solve(bent[held], data, rest.copy())
ms = 1e3 * (time.perf_counter() - start)
print(json.dumps({"ms": ms, "volume_error": volume(moved) / volume(rest) - 1,
                  "version": importlib.metadata.version("libigl")}))
"#;

/// Carries 50,000 particles by one step of the double gyre on 64³ points, and some through the four levels of the
/// swirl, whose answer is known.
const VTK_TRACER: &str = r#"
import json, time
import numpy, vtk
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtk.util.vtkAlgorithm import VTKPythonAlgorithmBase
pipeline = vtk.vtkStreamingDemandDrivenPipeline
class Series(VTKPythonAlgorithmBase):
    def __init__(self, times, low, high, n, velocity):
        VTKPythonAlgorithmBase.__init__(self, nInputPorts=0, nOutputPorts=1, outputType="vtkImageData")
        self.times, self.n, self.levels = times, n, []
        z, y, x = numpy.meshgrid(*(numpy.linspace(low[a], high[a], n) for a in (2, 1, 0)), indexing="ij")
        for t in times:
            level = vtk.vtkImageData()
            level.SetDimensions(n, n, n)
            level.SetOrigin(low)
            level.SetSpacing([(high[a] - low[a]) / (n - 1) for a in range(3)])
            values = numpy.stack(velocity(x, y, z, t), -1).reshape(-1, 3).astype("f4")
            array = numpy_to_vtk(values, deep=True)
            array.SetName("velocity")
            level.GetPointData().SetVectors(array)
            self.levels.append(level)
    def RequestInformation(self, request, inputs, outputs):
        info, end = outputs.GetInformationObject(0), self.n - 1
        info.Set(pipeline.WHOLE_EXTENT(), (0, end, 0, end, 0, end), 6)
        info.Set(pipeline.TIME_STEPS(), self.times, len(self.times))
        info.Set(pipeline.TIME_RANGE(), [self.times[0], self.times[-1]], 2)
        return 1
    def RequestData(self, request, inputs, outputs):
        info, key = outputs.GetInformationObject(0), pipeline.UPDATE_TIME_STEP()
        t = info.Get(key) if info.Has(key) else self.times[0]
        k = int(numpy.argmin([abs(t - own) for own in self.times]))
        out = vtk.vtkImageData.GetData(info)
        out.ShallowCopy(self.levels[k])
        out.GetInformation().Set(vtk.vtkDataObject.DATA_TIME_STEP(), self.times[k])
        return 1
def tracer(series, places):
    points, seeds = vtk.vtkPoints(), vtk.vtkPolyData()
    points.SetData(numpy_to_vtk(numpy.ascontiguousarray(places), deep=True))
    seeds.SetPoints(points)
    filter = vtk.vtkParticleTracer()
    filter.SetInputConnection(0, series.GetOutputPort())
    filter.SetInputData(1, seeds)
    filter.SetStaticSeeds(True)
    filter.SetMeshOverTimeToStatic()
    filter.SetComputeVorticity(False)
    filter.SetIntegratorType(1)
    return filter
def gyre(x, y, z, t):
    e = 0.25 * numpy.sin(0.2 * numpy.pi * t)
    f, slope = e * x * x + (1 - 2 * e) * x, 2 * e * x + 1 - 2 * e
    return (-0.1 * numpy.pi * numpy.sin(numpy.pi * f) * numpy.cos(numpy.pi * y),
            0.1 * numpy.pi * numpy.cos(numpy.pi * f) * numpy.sin(numpy.pi * y) * slope, 0 * x)
def swirl(x, y, z, t):
    g = 1 + t / 2
    return g * (0.3 * x - y), g * (x - 0.3 * y), 0.2 * g + 0 * z
index = numpy.arange(50000)
c, r = index // 250 / 200, index % 250 / 250
sheet = numpy.stack([0.2 + 1.5 * c, 0.3 + 0.2 * numpy.sin(6 * c), 0.05 + 0.9 * r], -1)
times = []
for _ in range(3):
    series = Series([0.0, 0.01], [0, 0, 0], [2, 1, 1], 64, gyre)
    moving = tracer(series, sheet)
    series.Update()
    start = time.perf_counter()
    moving.UpdateTimeStep(0.01)
    times.append(1e3 * (time.perf_counter() - start))
starts = numpy.array([[1, 0.025 * j, 0] for j in range(21)])
moving = tracer(Series([0.0, 1.0, 2.0, 3.0], [-3, -3, -1], [3, 3, 5], 25, swirl), starts)
for t in (1.0, 2.0, 3.0):
    moving.UpdateTimeStep(t)
out = moving.GetOutput()
order = numpy.argsort(vtk_to_numpy(out.GetPointData().GetArray("ParticleId")))
ends = vtk_to_numpy(out.GetPoints().GetData())[order]
w, g = numpy.sqrt(0.91), 3 + 9 / 4
s, c = numpy.sin(w * g) / w, numpy.cos(w * g)
x, y = starts[:, 0], starts[:, 1]
exact = numpy.stack([c * x + s * (0.3 * x - y), c * y + s * (x - 0.3 * y), 0.2 * g + 0 * x], -1)
print(json.dumps({"ms": min(times), "error": float(numpy.linalg.norm(ends - exact, axis=1).max()),
                  "version": vtk.VTK_VERSION}))
"#;

/// Matches the regions of a body, one substep of so many iterations, on one thread; prints the least time in
/// milliseconds. A vertex is shared by as many clusters as regions hold it.
const PYPBD_MATCHING: &str = r#"
import os, sys
os.environ["OMP_NUM_THREADS"] = "1"
import importlib.metadata, json, time
import numpy, pypbd
with open(sys.argv[1]) as file:
    body = json.load(file)
nodes, regions = body["nodes"], body["regions"]
simulation = pypbd.Simulation.getCurrent()
simulation.initDefault()
model = simulation.getModel()
model.addTetModel([numpy.array(x) for x in nodes], [node for tet in body["tets"] for node in tet])
particles = model.getParticles()
holding = [0] * len(nodes)
for region in regions:
    for node in region:
        holding[node] += 1
for k, region in enumerate(regions):
    particles.setMass(k, 1.0)
for region in regions:
    model.addShapeMatchingConstraint(len(region), region, [holding[node] for node in region], 1.0)
step = simulation.getTimeStep()
step.setValueUInt(pypbd.TimeStepController.NUM_SUB_STEPS, 1)
step.setValueUInt(pypbd.TimeStepController.MAX_ITERATIONS, int(sys.argv[2]))
pypbd.TimeManager.getCurrent().setTimeStepSize(1 / 120)
x = particles.getPosition(0)
particles.setPosition(0, [1.01 * x[0], x[1], x[2]])
times = []
for _ in range(60):
    start = time.perf_counter()
    step.step(model)
    times.append(1e3 * (time.perf_counter() - start))
print(json.dumps({"ms": min(times), "version": importlib.metadata.version("pyPBD")}))
"#;

/// What VTK's tracer measured.
#[derive(Debug, Deserialize)]
pub(crate) struct Traced {
    /// Least time of a step of 50,000 particles, in milliseconds.
    pub(crate) ms: f64,
    /// How far the swirl's particles are from where they end.
    pub(crate) error: f64,
    /// Its version.
    pub(crate) version: String,
}

/// How VTK's tracer carries particles; `None` if it is not installed.
pub(crate) fn vtk_tracer() -> Option<Traced> {
    measure(VTK_TRACER, &[])
}

/// What libigl measured.
#[derive(Debug, Deserialize)]
pub(crate) struct Bent {
    /// Time in milliseconds.
    pub(crate) ms: f64,
    /// Relative change of the volume.
    pub(crate) volume_error: f64,
    /// Its version.
    pub(crate) version: String,
}

/// How libigl's ARAP bends the bar in `rest` so that its ends are where they are in `bent`; `None` if it
/// is not installed.
pub(crate) fn libigl_arap(rest: &Path, bent: &Path) -> Option<Bent> {
    measure(LIBIGL_ARAP, &[rest.as_os_str(), bent.as_os_str()])
}

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

/// How long pyPBD matches the body in `path`, by so many iterations; `None` if it is not installed.
pub(crate) fn pypbd_matching(path: &Path, passes: u32) -> Option<Measured> {
    measure(PYPBD_MATCHING, &[path.as_os_str(), passes.to_string().as_ref()])
}

/// Runs a script; what it prints last is its result.
fn measure<T: for<'a> Deserialize<'a>>(script: &str, args: &[&OsStr]) -> Option<T> {
    let python = std::env::var_os("SUPPLE_PYTHON").unwrap_or_else(|| "python3".into());
    let output = Command::new(python).arg("-c").arg(script).args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| serde_json::from_str(text.lines().last()?).ok())?
}

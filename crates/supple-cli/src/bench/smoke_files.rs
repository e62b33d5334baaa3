//! Rows of `smoke` on recordings: polyhedra as OpenFOAM has them, series that do not fit into memory, how fast levels
//! are read.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use supple::dataset::{Array, CellType, Cells, Centering, Dataset, Grid};
use supple::flow::advect::{self, Tracer};
use supple::flow::analytic::Analytic;
use supple::flow::recording::{Options, Recording};
use supple::flow::sampled::Sampled;
use supple::flow::time::Clock;
use supple::flow::{Flow, Recorded, grid::Axis, recorded};
use supple::io::{self, vtk_xml, vtp};

use super::smoke::{integration_ms, print, sheet};
use super::smoke_mesh::flow_on;
use super::{Bench, Row};

/// Cells along each side of the box of polyhedra: a million.
const CELLS: u32 = 100;

/// Points of a level of the long series: 23.6 MB.
const DIMS: [usize; 3] = [160, 128, 96];

/// What the series may take, in bytes: three levels as they are sampled, and no more.
const BUDGET: u64 = 128_000_000;

/// Levels of the series: 20 times the budget.
const LEVELS: usize = 109;

/// Steps between two levels.
const STEPS: u32 = 10;

/// Vertices that are carried.
const VERTICES: usize = 50_000;

pub(super) fn run(bench: &Bench<'_>) -> anyhow::Result<()> {
    polyhedra(bench)?;
    out_of_core(bench)?;
    reading(bench)
}

/// A million hexahedra, each a list of faces.
fn polyhedra(bench: &Bench<'_>) -> anyhow::Result<()> {
    const ROW: &str = "polyhedra-50k";
    if !bench.wants(ROW) {
        return Ok(());
    }
    let [low, high] = Analytic::Gyre.bounds();
    let nodes = CELLS + 1;
    let points = (0..nodes.pow(3)).map(|p| {
        let at = [p % nodes, p / nodes % nodes, p / (nodes * nodes)];
        glam::DVec3::from_array(
            [0, 1, 2].map(|a| low[a] + (high[a] - low[a]) * f64::from(at[a]) / f64::from(CELLS)),
        )
    });
    let mut cells = Cells::default();
    for cube in 0..CELLS.pow(3) {
        let [i, j, k] = [cube % CELLS, cube / CELLS % CELLS, cube / (CELLS * CELLS)];
        let c = [0, 1, 2, 3, 4, 5, 6, 7]
            .map(|c: u32| ((k + (c >> 2)) * nodes + j + (c >> 1 & 1)) * nodes + i + (c & 1));
        let faces: [&[u32]; 6] = [
            &[c[0], c[4], c[6], c[2]],
            &[c[1], c[3], c[7], c[5]],
            &[c[0], c[1], c[5], c[4]],
            &[c[2], c[6], c[7], c[3]],
            &[c[0], c[2], c[3], c[1]],
            &[c[4], c[5], c[7], c[6]],
        ];
        cells.push(CellType::Polyhedron, &c, &faces);
    }
    let grid = Grid::Unstructured { points: points.collect(), cells };
    let flow = flow_on(&grid)?;
    let value = integration_ms(bench, &flow, &sheet(VERTICES))?;
    print(bench, ROW, value, [None, Some(20.0)], "RK4, gyre on a million polyhedra of six faces")
}

/// A folder that goes when it is done with.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("supple-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn axes() -> anyhow::Result<[Axis; 3]> {
    let [low, high] = Analytic::Gyre.bounds();
    let axis = |a: usize| Axis::even(low[a], (high[a] - low[a]) / (DIMS[a] - 1) as f64, DIMS[a]);
    Ok([axis(0)?, axis(1)?, axis(2)?])
}

/// One moment of the gyre.
fn moment(t: f64) -> anyhow::Result<Dataset> {
    let axes = axes()?;
    let [x, y, z] = [0, 1, 2].map(|a| axes[a].nodes());
    let mut values = Vec::with_capacity(3 * x.len() * y.len() * z.len());
    for &z in z {
        for &y in y {
            for &x in x {
                let v = Analytic::Gyre.velocity([x, y, z], t);
                values.extend([v[0] as f32, v[1] as f32, v[2] as f32]);
            }
        }
    }
    let spacing = [0, 1, 2].map(|a| axes[a].nodes()[1] - axes[a].nodes()[0]);
    let origin = [0, 1, 2].map(|a| axes[a].nodes()[0]);
    let grid = Grid::Uniform { dims: DIMS, origin, spacing };
    Ok(Dataset::new(grid, vec![Array::new("velocity", 3, Centering::Point, values)]))
}

/// A series of 20 times the budget: the same moments over and over, in files of their own.
fn series(folder: &Path) -> anyhow::Result<PathBuf> {
    let mut entries = Vec::new();
    let moments = [moment(0.0)?, moment(1.0)?];
    for k in 0..LEVELS {
        let name = format!("u.{k:04}.vti");
        io::save(&folder.join(&name), |out| vtk_xml::write(&moments[k % 2], out))?;
        entries.push((k as f64, name));
    }
    let path = folder.join("u.pvd");
    io::save(&path, |out| vtp::write_series(&entries, out))?;
    Ok(path)
}

fn open(series: &Path) -> anyhow::Result<Recording> {
    let options = Options { memory: Some(BUDGET), ..Options::default() };
    Ok(Recording::open(&[series.to_owned()], &options)?)
}

/// Carries a sheet through all levels; returns seconds.
fn play(bench: &Bench<'_>, flow: &Flow) -> anyhow::Result<f64> {
    let run = bench.shell.quiet_run();
    let mut tracers: Vec<Tracer> = sheet(VERTICES);
    let start = Instant::now();
    for step in 0..(LEVELS as u32 - 1) * STEPS {
        run.check()?;
        let times = [step, step + 1].map(|s| f64::from(s) / f64::from(STEPS));
        flow.advance(times, &mut tracers, &run)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    anyhow::ensure!(tracers.iter().filter(|x| advect::is_alive(x)).count() > VERTICES / 2, "alive");
    Ok(seconds)
}

fn out_of_core(bench: &Bench<'_>) -> anyhow::Result<()> {
    let rows = ["out-of-core-peak-mb", "out-of-core-overhead"];
    if !rows.iter().any(|row| bench.wants(row)) {
        return Ok(());
    }
    let scratch = Scratch::new()?;
    let path = series(&scratch.0)?;
    // Everything once, so that all runs find the files where the system keeps them.
    let recording = open(&path)?;
    let mut reading = f64::INFINITY;
    for _ in 0..2 {
        let start = Instant::now();
        for level in 0..LEVELS {
            drop(recording.level(level)?);
            recording.forget(level);
        }
        reading = reading.min(start.elapsed().as_secs_f64());
    }
    drop(recording);
    let formula = Sampled::new(axes()?, &[0.0, 1.0], |x, t| Analytic::Gyre.velocity(x, t));
    let clock = Clock::new(vec![0.0, 1.0])?.looped();
    let computing = play(bench, &Flow::Recorded(Recorded::new(clock, Box::new(formula), None)))?;
    let before = peak_memory(true);
    let both = play(bench, &recorded::flow(open(&path)?, false)?)?;
    let after = peak_memory(false);
    let row = |row, value, unit, target, note| {
        bench.print(&Row {
            bench: "smoke",
            row,
            value,
            unit,
            better: "lower",
            paper: None,
            target: Some(target),
            threads: bench.shell.threads(),
            note,
        })
    };
    let gigabytes = (LEVELS * DIMS.iter().product::<usize>() * 12) as f64 / 1e9;
    if let Some((before, after)) = before.zip(after) {
        let note = format!("{gigabytes:.1} GB with --memory {} MB", BUDGET / 1_000_000);
        row(rows[0], after - before, "MB", BUDGET as f64 / 1e6 + 100.0, note)?;
    }
    let note =
        format!("reading alone {reading:.2} s, computing alone {computing:.2} s, both {both:.2} s");
    row(rows[1], both / reading.max(computing), "1", 1.15, note)
}

/// Megabytes that were in memory at most; from now on, if it begins. `None` where the system does not say it.
fn peak_memory(begins: bool) -> Option<f64> {
    if begins {
        std::fs::write("/proc/self/clear_refs", "5").ok()?;
    }
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let name = if begins { "VmRSS:" } else { "VmHWM:" };
    let line = status.lines().find_map(|l| l.strip_prefix(name))?;
    let kilobytes: f64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024.0 / 1e6)
}

/// How fast a level is read, beside reading its bytes and doing nothing with them.
fn reading(bench: &Bench<'_>) -> anyhow::Result<()> {
    let rows = ["read-raw", "read-zlib"];
    if !rows.iter().any(|row| bench.wants(row)) {
        return Ok(());
    }
    let scratch = Scratch::new()?;
    let moment = moment(0.5)?;
    let raw = scratch.0.join("raw.vti");
    io::save(&raw, |out| vtk_xml::write(&moment, out))?;
    let packed = scratch.0.join("zlib.vti");
    std::fs::write(&packed, zlib_image(&moment)?)?;
    let megabytes = (DIMS.iter().product::<usize>() * 12) as f64 / 1e6;
    let speed = |ms: f64| megabytes / ms * 1e3;
    let row = |row, value, target, note| {
        bench.print(&Row {
            bench: "smoke",
            row,
            value,
            unit: "1",
            better: "higher",
            paper: None,
            target: Some(target),
            threads: bench.shell.threads(),
            note,
        })
    };
    if bench.wants(rows[0]) {
        let [ratio, level, disk] =
            beside(bench, &raw, true, &mut || Ok(std::fs::read(&raw)?.len()))?;
        let note = format!(
            "a level of {megabytes:.0} MB: {:.0} MB/s, its bytes {:.0} MB/s",
            speed(level),
            speed(disk)
        );
        row(rows[0], ratio, 0.8, note)?;
    }
    if bench.wants(rows[1]) {
        let blocks = packed_blocks(&moment)?;
        let [ratio, level, alone] = beside(bench, &packed, false, &mut || {
            let mut sum = 0;
            for block in &blocks {
                let mut out = Vec::with_capacity(BLOCK);
                std::io::copy(&mut flate2::read::ZlibDecoder::new(&block[..]), &mut out)?;
                sum += out.len();
            }
            Ok(sum)
        })?;
        let note = format!(
            "{:.0} MB/s; times one thread that only decompresses ({:.0} MB/s)",
            speed(level),
            speed(alone)
        );
        row(rows[1], ratio, 1.6, note)?;
    }
    Ok(())
}

/// The median ratio of a plain read to that of a level, and the milliseconds of the level and of the plain read. What disk
/// and page cache give swings from minute to minute: both are timed in turn.
fn beside(
    bench: &Bench<'_>,
    path: &Path,
    cold: bool,
    plain: &mut dyn FnMut() -> anyhow::Result<usize>,
) -> anyhow::Result<[f64; 3]> {
    let recording = Recording::open(&[path.to_owned()], &Options::default())?;
    let [mut ratios, mut own, mut other] = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        bench.shell.quiet_run().check()?;
        if cold {
            evict(path);
        }
        let start = Instant::now();
        anyhow::ensure!(std::hint::black_box(plain()?) > 0, "nothing was read");
        let alone = start.elapsed().as_secs_f64() * 1e3;
        recording.forget(0);
        if cold {
            evict(path);
        }
        let start = Instant::now();
        drop(std::hint::black_box(recording.level(0)?));
        let level = start.elapsed().as_secs_f64() * 1e3;
        // The first fetches both from the disk.
        if round > 0 {
            ratios.push(alone / level);
            own.push(level);
            other.push(alone);
        }
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Ok([median(&mut ratios), median(&mut own), median(&mut other)])
}

/// Makes the system forget a file, so that it comes from the disk; where there is no GNU dd it stays where it is.
fn evict(path: &Path) {
    let of = format!("of={}", path.display());
    let ways = ["oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"];
    let _ = std::process::Command::new("dd").arg(of).args(ways).output();
}

/// Times that a level and its bytes are read in turn.
const ROUNDS: usize = 15;

/// Bytes of a block before it is compressed, as VTK takes them.
const BLOCK: usize = 32_768;

fn packed_blocks(moment: &Dataset) -> anyhow::Result<Vec<Vec<u8>>> {
    let bytes: Vec<u8> = moment.arrays[0].values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let pack = |block: &[u8]| -> anyhow::Result<Vec<u8>> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(block)?;
        Ok(encoder.finish()?)
    };
    bytes.chunks(BLOCK).map(pack).collect()
}

/// An image whose vectors are compressed in blocks.
fn zlib_image(moment: &Dataset) -> anyhow::Result<Vec<u8>> {
    let Grid::Uniform { dims, origin, spacing } = &*moment.grid else {
        anyhow::bail!("the gyre is on a uniform grid");
    };
    let extent = dims.map(|n| format!("0 {}", n - 1)).join(" ");
    let numbers = |v: &[f64; 3]| v.map(|x| x.to_string()).join(" ");
    let mut file = format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n<ImageData WholeExtent=\"{extent}\" \
         Origin=\"{}\" Spacing=\"{}\">\n<Piece Extent=\"{extent}\">\n<PointData>\n<DataArray type=\"Float32\" \
         Name=\"velocity\" NumberOfComponents=\"3\" format=\"appended\" offset=\"0\"/>\n</PointData>\n</Piece>\n\
         </ImageData>\n<AppendedData encoding=\"raw\">\n_",
        numbers(origin),
        numbers(spacing)
    )
    .into_bytes();
    let blocks = packed_blocks(moment)?;
    let last = moment.arrays[0].values.len() * 4 % BLOCK;
    let table = [blocks.len(), BLOCK, last].into_iter().chain(blocks.iter().map(Vec::len));
    table.for_each(|n| file.extend((n as u64).to_le_bytes()));
    blocks.iter().for_each(|block| file.extend(block));
    file.extend(b"\n</AppendedData>\n</VTKFile>\n");
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compressed_image_is_read_as_it_was() {
        let scratch = Scratch::new().unwrap();
        let grid = Grid::Uniform { dims: [40, 30, 20], origin: [0.0; 3], spacing: [0.5; 3] };
        let values: Vec<f32> = (0..3 * 24_000).map(|k| (k % 977) as f32).collect();
        let moment =
            Dataset::new(grid, vec![Array::new("velocity", 3, Centering::Point, values.clone())]);
        let path = scratch.0.join("a.vti");
        std::fs::write(&path, zlib_image(&moment).unwrap()).unwrap();
        let level = Recording::open(&[path], &Options::default()).unwrap().level(0).unwrap();
        let flat: Vec<f32> = level.velocity.iter().flat_map(|v| v[..3].to_vec()).collect();
        assert_eq!(flat, values);
    }
}

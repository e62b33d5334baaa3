//! Series larger than memory, and series that break off: read ahead, in parts, up to where it can be read.

mod netcdf3;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use supple::Run;
use supple::dataset::{Array, Centering, Dataset, Grid};
use supple::flow::advect::{self, Tracer};
use supple::flow::recording::{Options, Recording};
use supple::flow::{Flow, recorded};
use supple::io::{self, vtk_xml, vtp};

const DIMS: [usize; 3] = [48, 24, 20];

/// A stream along x that sways, one cell a unit of time.
fn moment(t: f64, dims: [usize; 3]) -> Dataset {
    let grid = Grid::Uniform { dims, origin: [-2.0, 1.0, 0.0], spacing: [0.5, 0.25, 0.5] };
    let values = (0..grid.point_count()).flat_map(|i| {
        let p = grid.point(i);
        [0.5 + 0.1 * (p.y + t).sin(), 0.05 * (p.x + 0.3 * t).cos(), 0.1 * (p.x - p.z).sin()]
            .map(|x| x as f32)
    });
    let array = Array::new("velocity", 3, Centering::Point, values.collect());
    Dataset::new(grid, vec![array])
}

/// Files and their list, a level each unit of time.
fn series(folder: &Path, levels: usize) -> PathBuf {
    series_at(folder, &(0..levels).map(|k| k as f64).collect::<Vec<_>>())
}

/// Files and their list, a level at each of these times.
fn series_at(folder: &Path, times: &[f64]) -> PathBuf {
    let mut entries = Vec::new();
    for (k, &time) in times.iter().enumerate() {
        let name = format!("u.{k}.vti");
        let dataset = moment(time, DIMS);
        io::save(&folder.join(&name), |out| vtk_xml::write(&dataset, out)).expect("written");
        entries.push((time, name));
    }
    let path = folder.join("u.pvd");
    io::save(&path, |out| vtp::write_series(&entries, out)).expect("written");
    path
}

fn open(path: &Path, memory: Option<u64>, stride: usize) -> Flow {
    let options = Options { memory, stride, ..Options::default() };
    let recording = Recording::open(&[path.to_owned()], &options).expect("opened");
    recorded::flow(recording, false).unwrap_or_else(|e| panic!("{e}"))
}

fn seeds() -> Vec<Tracer> {
    seeds_at(0.1)
}

fn seeds_at(x: f64) -> Vec<Tracer> {
    (0..40).map(|k| advect::tracer([x, 3.0 + 0.03 * f64::from(k), 4.0])).collect()
}

/// Steps of a quarter, up to the first that cannot be done.
fn play(flow: &Flow, [from, to]: [f64; 2]) -> (Vec<Tracer>, Option<String>) {
    // Down the stream from its near end, up from its far end.
    let mut tracers = if to > from { seeds() } else { seeds_at(10.0) };
    let step = if to > from { 0.25 } else { -0.25 };
    let count = ((to - from) / step).round() as u32;
    for k in 0..count {
        let times = [k, k + 1].map(|k| from + f64::from(k) * step);
        let before = tracers.clone();
        if let Err(error) = flow.advance(times, &mut tracers, &Run::default()) {
            let why = std::error::Error::source(&error).map(ToString::to_string);
            return (before, Some(format!("{error}: {}", why.unwrap_or_default())));
        }
    }
    (tracers, None)
}

#[test]
fn parts_of_levels_carry_smoke_as_whole_levels_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = series(folder.path(), 12);
    // A level of 23,040 points takes 1.5 MB as it is sampled; a part must do with less.
    for times in [[0.0, 11.0], [11.0, 0.0]] {
        let (whole, none) = play(&open(&path, None, 1), times);
        assert_eq!(none, None);
        let (thrifty, none) = play(&open(&path, Some(1_600_000), 1), times);
        assert_eq!(none, None);
        assert_eq!(whole, thrifty, "levels that are let go change no bits");
        let (parts, none) = play(&open(&path, Some(700_000), 1), times);
        assert_eq!(none, None);
        let error =
            |(a, b): (&Tracer, &Tracer)| (0..3).map(|c| (a[c] - b[c]).abs()).fold(0.0, f64::max);
        let worst = whole.iter().zip(&parts).map(error).fold(0.0, f64::max);
        assert!(parts.iter().all(advect::is_alive) && worst < 1e-5, "{times:?}: {worst:e}");
    }
}

/// An ocean with latitudes that fall, depths, and an island; in parts and as a whole.
#[test]
fn parts_of_oceans_are_those_of_the_whole() {
    let [nx, ny, nz, nt] = [90_usize, 60, 4, 5];
    let island = |i: usize, j: usize| (40..44).contains(&i) && (28..33).contains(&j);
    let component = |phase: f64| -> Vec<f64> {
        let at = |n: usize| {
            let (i, j, k, t) = (n % nx, n / nx % ny, n / (nx * ny) % nz, n / (nx * ny * nz));
            let wave =
                (0.1 * i as f64 + phase).sin() + 0.3 * (0.2 * j as f64 + 0.5 * t as f64).cos();
            if island(i, j) { f64::NAN } else { 0.3 + 0.1 * wave - 0.02 * k as f64 }
        };
        (0..nx * ny * nz * nt).map(at).collect()
    };
    let axis = |n: usize, from: f64, step: f64| (0..n).map(|k| from + step * k as f64).collect();
    let current = [("units", "m s-1"), ("standard_name", "eastward_sea_water_velocity")];
    let file = netcdf3::File::default()
        .dimension("time", 0)
        .dimension("depth", nz)
        .dimension("latitude", ny)
        .dimension("longitude", nx)
        .double("time", "time", &[("units", "hours since 2000-01-01")], axis(nt, 0.0, 6.0))
        .double("depth", "depth", &[("units", "m"), ("positive", "down")], axis(nz, 0.5, 5.0))
        .double("latitude", "latitude", &[("units", "degrees_north")], axis(ny, 50.0, -0.05))
        .double("longitude", "longitude", &[("units", "degrees_east")], axis(nx, -20.0, 0.05))
        .float("uo", "time depth latitude longitude", &current, component(0.0))
        .float("vo", "time depth latitude longitude", &current, component(1.5));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ocean.nc");
    file.write(&path);
    let seeds: Vec<Tracer> =
        (0..30).map(|k| advect::tracer([-18.2, 48.2 + 0.02 * f64::from(k), -3.0])).collect();
    let carried = |memory| {
        let flow = open(&path, memory, 1);
        let mut tracers = seeds.clone();
        for k in 0..48 {
            let times = [k, k + 1].map(|k| 0.5 * f64::from(k));
            flow.advance(times, &mut tracers, &Run::default()).unwrap_or_else(|e| panic!("{e:?}"));
        }
        tracers
    };
    let (whole, parts) = (carried(None), carried(Some(1_200_000)));
    let error =
        |(a, b): (&Tracer, &Tracer)| (0..3).map(|c| (a[c] - b[c]).abs()).fold(0.0, f64::max);
    let worst = whole.iter().zip(&parts).map(error).fold(0.0, f64::max);
    assert!(whole.iter().all(advect::is_alive) && worst < 1e-5, "{worst:e}");
    let moved = whole.iter().zip(&seeds).map(|(a, b)| a[0] - b[0]).fold(0.0, f64::max);
    assert!(moved > 0.25, "they move: {moved}");
}

#[test]
fn what_does_not_fit_says_how_much_would() {
    let folder = tempfile::tempdir().unwrap();
    let path = series(folder.path(), 3);
    let (_, error) = play(&open(&path, Some(20_000), 1), [0.0, 2.0]);
    let error = error.unwrap();
    assert!(
        error.contains("level 0") && error.contains("--memory") && error.contains("--stride 2"),
        "{error}"
    );
    // A grid that must be read as a whole is refused at once.
    let x = (0..40).map(|k| f64::from(k * k)).collect();
    let (y, z) = ((0..30).map(f64::from).collect(), (0..20).map(f64::from).collect());
    let grid = Grid::Rectilinear { x, y, z };
    let array = Array::new("U", 3, Centering::Point, vec![1.0; 3 * 24_000]);
    let file = folder.path().join("a.vtr");
    io::save(&file, |out| vtk_xml::write(&Dataset::new(grid, vec![array]), out)).unwrap();
    let options = Options { memory: Some(1_000_000), ..Options::default() };
    let recording = Recording::open(std::slice::from_ref(&file), &options).unwrap();
    let refused = recorded::flow(recording, false).unwrap_err().to_string();
    assert!(refused.contains("3 MB") && refused.contains("--memory 3M"), "{refused}");
    let options = Options { stride: 2, ..options };
    let recording = Recording::open(&[file], &options).unwrap();
    assert_eq!(recording.grid().dims(), Some([20, 15, 10]));
    assert!(recorded::flow(recording, false).is_ok(), "every second point fits");
}

#[test]
fn every_second_point_is_the_same_from_rows_and_from_whole_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = series(folder.path(), 1);
    let open = |stride| {
        let options = Options { stride, ..Options::default() };
        Recording::open(std::slice::from_ref(&path), &options).unwrap()
    };
    let (all, half) = (open(1).level(0).unwrap(), open(3).level(0).unwrap());
    assert_eq!(half.grid.dims(), Some([16, 8, 7]));
    for i in 0..half.velocity.len() {
        let [a, b, c] = [i % 16, i / 16 % 8, i / 128].map(|k| 3 * k);
        assert_eq!(half.velocity[i], all.velocity[(c * DIMS[1] + b) * DIMS[0] + a], "{i}");
        let place = all.grid.point((c * DIMS[1] + b) * DIMS[0] + a);
        assert!((half.grid.point(i) - place).length() < 1e-12);
    }
}

#[test]
fn a_series_that_breaks_off_is_played_up_to_there() {
    let whole = tempfile::tempdir().unwrap();
    let (complete, _) = play(&open(&series(whole.path(), 6), None, 1), [0.0, 4.0]);
    for memory in [None, Some(1_600_000), Some(700_000)] {
        // Cut off in its last level.
        let folder = tempfile::tempdir().unwrap();
        let path = series(folder.path(), 6);
        let last = folder.path().join("u.5.vti");
        let bytes = std::fs::read(&last).unwrap();
        std::fs::write(&last, &bytes[..bytes.len() / 2]).unwrap();
        let (reached, error) = play(&open(&path, memory, 1), [0.0, 5.0]);
        let error = error.unwrap();
        assert!(error.contains("level 5") && error.contains("u.5.vti"), "{memory:?}: {error}");
        let off = |(a, b): (&Tracer, &Tracer)| (a[0] - b[0]).abs();
        let worst = reached.iter().zip(&complete).map(off).fold(0.0, f64::max);
        assert!(worst < 1e-5, "up to level 4: {worst}");
        // A level that is not there.
        let folder = tempfile::tempdir().unwrap();
        let path = series(folder.path(), 6);
        std::fs::remove_file(folder.path().join("u.5.vti")).unwrap();
        let (reached, error) = play(&open(&path, memory, 1), [0.0, 5.0]);
        let error = error.unwrap();
        assert!(error.contains("level 5") && error.contains("u.5.vti"), "{memory:?}: {error}");
        let worst = reached.iter().zip(&complete).map(off).fold(0.0, f64::max);
        assert!(worst < 1e-5, "up to the level before: {worst}");
        std::fs::remove_file(folder.path().join("u.3.vti")).unwrap();
        let (_, error) = play(&open(&path, memory, 1), [0.0, 5.0]);
        assert!(error.unwrap().contains("u.3.vti"), "the first that is missing");
        std::fs::remove_file(folder.path().join("u.0.vti")).unwrap();
        let options = Options { memory, ..Options::default() };
        let error = Recording::open(&[path], &options).unwrap_err();
        assert!(error.to_string().contains("u.0.vti"), "nothing to begin with: {error}");
        // A disk that goes away.
        let folder = tempfile::tempdir().unwrap();
        let path = series(folder.path(), 6);
        let flow = open(&path, memory, 1);
        let mut tracers = seeds();
        flow.advance([0.0, 1.5], &mut tracers, &Run::default()).unwrap();
        drop(folder);
        let error = flow.advance([1.5, 5.0], &mut tracers, &Run::default()).unwrap_err();
        assert!(error.to_string().contains("level"), "{error}");
    }
}

/// Levels of a series of twenty times the budget, a quarter of a unit of time apart.
const MANY: usize = 60;

/// A twentieth of the bytes of all of them.
const TWENTIETH: u64 = (12 * DIMS[0] * DIMS[1] * DIMS[2] * MANY / 20) as u64;

fn many(folder: &Path) -> PathBuf {
    series_at(folder, &(0..MANY).map(|k| 0.25 * k as f64).collect::<Vec<_>>())
}

/// Where smoke is up to a time, the series being whole.
fn whole_up_to(time: f64) -> Vec<Tracer> {
    let folder = tempfile::tempdir().expect("a folder");
    let (reached, none) = play(&open(&many(folder.path()), Some(TWENTIETH), 1), [0.0, time]);
    assert_eq!(none, None, "it plays");
    assert!(reached.iter().all(advect::is_alive), "nothing leaves");
    reached
}

#[test]
fn twenty_times_the_budget_is_played_up_to_a_last_level_that_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = many(folder.path());
    let last = folder.path().join("u.59.vti");
    let file = std::fs::OpenOptions::new().write(true).open(last).unwrap();
    file.set_len(100_000).unwrap();
    let (reached, error) = play(&open(&path, Some(TWENTIETH), 1), [0.0, 15.0]);
    let error = error.unwrap();
    assert!(error.contains("level 59") && error.contains("u.59.vti"), "{error}");
    assert_eq!(reached, whole_up_to(14.5), "the same bits up to there");
}

#[test]
fn twenty_times_the_budget_is_played_up_to_a_level_that_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = many(folder.path());
    std::fs::remove_file(folder.path().join("u.33.vti")).unwrap();
    let (reached, error) = play(&open(&path, Some(TWENTIETH), 1), [0.0, 14.0]);
    let error = error.unwrap();
    assert!(error.contains("level 33") && error.contains("u.33.vti"), "{error}");
    assert_eq!(reached, whole_up_to(8.0), "the same bits up to there");
}

#[test]
fn twenty_times_the_budget_is_played_past_two_equal_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = many(folder.path());
    // The file of level 30 has the time of level 29 in the list.
    let text = std::fs::read_to_string(&path).unwrap();
    let doubled = text.replace("timestep=\"7.5\"", "timestep=\"7.25\"");
    assert_ne!(text, doubled);
    std::fs::write(&path, doubled).unwrap();
    let options = Options { memory: Some(TWENTIETH), ..Options::default() };
    let recording = Recording::open(std::slice::from_ref(&path), &options).unwrap();
    assert_eq!(recording.times().len(), MANY - 1);
    let said = recording.assumed().join("; ");
    assert!(said.contains("u.29.vti") && said.contains("one level"), "{said}");
    let (reached, error) = play(&open(&path, Some(TWENTIETH), 1), [0.0, 14.0]);
    assert_eq!(error, None);
    let off = |(a, b): (&Tracer, &Tracer)| (a[0] - b[0]).abs();
    let worst = reached.iter().zip(&whole_up_to(14.0)).map(off).fold(0.0, f64::max);
    assert!(worst < 1e-3, "one level of sixty less: {worst}");
}

#[test]
fn twenty_times_the_budget_on_a_disk_that_goes_away_is_played_up_to_there() {
    let folder = tempfile::tempdir().unwrap();
    let flow = open(&many(folder.path()), Some(TWENTIETH), 1);
    let (mut tracers, mut gone) = (seeds(), Some(folder));
    for k in 0..56 {
        let times = [k, k + 1].map(|k| 0.25 * f64::from(k));
        let before = tracers.clone();
        if let Err(error) = flow.advance(times, &mut tracers, &Run::default()) {
            let why = std::error::Error::source(&error).unwrap().to_string();
            let level = error.to_string();
            assert!(level.contains("level 2") && why.contains("u.2"), "{level}: {why}");
            assert_eq!(before, whole_up_to(times[0]), "the same bits up to there");
            return;
        }
        if k == 20 {
            drop(gone.take());
        }
    }
    panic!("nobody missed the disk");
}

/// Twelve records of a current.
fn ocean() -> netcdf3::File {
    let [nx, ny, nt] = [90_usize, 60, 12];
    let axis = |n: usize, from: f64, step: f64| (0..n).map(|k| from + step * k as f64).collect();
    let current = [("units", "m s-1"), ("standard_name", "eastward_sea_water_velocity")];
    netcdf3::File::default()
        .dimension("time", 0)
        .dimension("latitude", ny)
        .dimension("longitude", nx)
        .double("time", "time", &[("units", "hours since 2000-01-01")], axis(nt, 0.0, 6.0))
        .double("latitude", "latitude", &[("units", "degrees_north")], axis(ny, 30.0, 0.05))
        .double("longitude", "longitude", &[("units", "degrees_east")], axis(nx, -20.0, 0.05))
        .float("uo", "time latitude longitude", &current, vec![0.1; nx * ny * nt])
        .float("vo", "time latitude longitude", &current, vec![0.02; nx * ny * nt])
}

/// What is cut off while it plays is found by reading, not by a signal.
#[test]
fn a_netcdf_file_cut_off_while_it_plays_names_its_level() {
    let file = ocean();
    for memory in [None, Some(200_000)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ocean.nc");
        file.write(&path);
        let flow = open(&path, memory, 1);
        let seed = |k: i32| advect::tracer([-18.0, 31.0 + 0.02 * f64::from(k), 0.0]);
        let mut tracers: Vec<Tracer> = (0..30).map(seed).collect();
        flow.advance([0.0, 12.0], &mut tracers, &Run::default()).unwrap();
        let bytes = path.metadata().unwrap().len();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(bytes / 2).unwrap();
        let error = flow.advance([12.0, 66.0], &mut tracers, &Run::default()).unwrap_err();
        let why = std::error::Error::source(&error).unwrap().to_string();
        let told = format!("{error}: {why}");
        assert!(told.contains("level ") && told.contains("ocean.nc"), "{memory:?}: {told}");
    }
}

#[test]
fn a_netcdf_file_cut_off_before_it_is_opened_plays_its_whole_levels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ocean.nc");
    ocean().write(&path);
    let whole = std::fs::read(&path).unwrap();
    let times = |bytes: usize| {
        std::fs::write(&path, &whole[..bytes]).unwrap();
        let opened = Recording::open(std::slice::from_ref(&path), &Options::default());
        opened.map(|recording| (recording.times().to_vec(), recording.assumed().to_vec()))
    };
    assert_eq!(times(whole.len()).unwrap().0.len(), 12);
    let record = 8 + 2 * 4 * 90 * 60;
    // In the middle of the sixth record from the end.
    let (left, told) = times(whole.len() - 5 * record - record / 2).unwrap();
    assert_eq!(left, [0.0, 6.0, 12.0, 18.0, 24.0, 30.0]);
    let warned = told.iter().any(|w| w.contains("ocean.nc") && w.contains("level 6"));
    assert!(warned, "{told:?}");
    let mut tracers = vec![advect::tracer([-18.0, 31.0, 0.0])];
    let flow = open(&path, None, 1);
    flow.advance([0.0, 30.0], &mut tracers, &Run::default()).unwrap();
    assert!(advect::is_alive(&tracers[0]) && tracers[0][0] > -18.0, "{tracers:?}");
    let none = times(whole.len() - 11 * record - record / 2).unwrap_err().to_string();
    assert!(none.contains("ocean.nc"), "without a whole level: {none}");
}

#[test]
fn two_levels_at_one_time_are_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut entries = Vec::new();
    for (k, time) in [0.0, 1.0, 1.0, 2.0].into_iter().enumerate() {
        let name = format!("u.{k}.vti");
        io::save(&folder.path().join(&name), |out| vtk_xml::write(&moment(time, DIMS), out))
            .unwrap();
        entries.push((time, name));
    }
    let path = folder.path().join("u.pvd");
    io::save(&path, |out| vtp::write_series(&entries, out)).unwrap();
    let (_, error) = play(&open(&path, None, 1), [0.0, 2.0]);
    assert_eq!(error, None);
    let listed = Recording::open(&[path], &Options::default()).unwrap();
    assert_eq!(listed.times(), [0.0, 1.0, 2.0]);
}

/// Nobody writes to a pipe: who reads it waits for ever.
#[cfg(unix)]
#[test]
fn who_waits_for_a_disk_can_be_called_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = series(folder.path(), 3);
    let flow = open(&path, None, 1);
    let level = folder.path().join("u.1.vti");
    std::fs::remove_file(&level).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&level).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    let stop = AtomicBool::new(false);
    let mut took = Duration::MAX;
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let run = Run { cancel: Some(&stop), ..Run::default() };
            flow.advance([0.0, 1.0], &mut seeds(), &run)
        });
        std::thread::sleep(Duration::from_millis(100));
        assert!(!waiting.is_finished(), "it waits");
        let called = Instant::now();
        stop.store(true, Ordering::Relaxed);
        let error = waiting.join().unwrap().unwrap_err();
        took = called.elapsed();
        assert!(std::error::Error::source(&error).unwrap().to_string().contains("cancelled"));
    });
    assert!(took < Duration::from_millis(250), "{took:?}");
    // Let the reader go.
    drop(std::fs::OpenOptions::new().write(true).open(&level));
}

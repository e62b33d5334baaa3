//! Oceans as models write them: C-grids of NEMO, ROMS and `MITgcm`, layers over the sea floor, coasts.

mod data;
mod netcdf3;

use std::path::PathBuf;

use data::test_data;
use netcdf3::File;
use supple::Run;
use supple::flow::advect::{self, Tracer};
use supple::flow::recording::{Options, Recording};
use supple::flow::{Flow, recorded};

/// Cell centres along i and j.
const CELLS: [usize; 2] = [24, 18];

/// The radius of the earth, in metres.
const RADIUS: f64 = 6_371_000.0;

/// A map from places counted in cells to coordinates.
type Map = fn([f64; 2]) -> [f64; 2];

/// A component along the grid at a place counted in cells, and a time.
type Along = fn([f64; 2], f64) -> f64;

/// Land by the number of a cell.
type Land = fn(usize, usize) -> bool;

#[derive(Clone, Copy)]
struct Ocean {
    map: Map,
    u: Along,
    v: Along,
    land: Land,
    times: &'static [f64],
    degrees: bool,
}

/// What NetCDF writes where nothing was written.
const MISSING: f64 = 9.969_209_968_386_869e36;

fn is_missing(x: f64) -> bool {
    x.to_bits() == MISSING.to_bits()
}

/// Half way between two faces, each with whether the sea is beside it: none through walls, that of the one that is
/// known.
fn mean_of_faces(faces: [(f64, bool); 2]) -> f64 {
    let has_wall = faces.iter().any(|&(x, at_sea)| is_missing(x) && at_sea);
    let known: Vec<f64> = faces.iter().map(|face| face.0).filter(|&x| !is_missing(x)).collect();
    if has_wall || known.is_empty() { 0.0 } else { known.iter().sum::<f64>() / known.len() as f64 }
}

impl Ocean {
    /// u on the faces i + ½, v on j + ½; missing where a neighbour is land.
    fn face(&self, i: usize, j: usize, along_i: bool, t: f64) -> f64 {
        let (di, dj) = if along_i { (1, 0) } else { (0, 1) };
        let is_land = |i: usize, j: usize| i < CELLS[0] && j < CELLS[1] && (self.land)(i, j);
        if is_land(i, j) || is_land(i + di, j + dj) {
            return MISSING;
        }
        let at = [i as f64 + 0.5 * di as f64, j as f64 + 0.5 * dj as f64];
        // As the file holds it.
        f64::from((if along_i { self.u } else { self.v })(at, t) as f32)
    }

    fn component(&self, n: [usize; 2], along_i: bool) -> Vec<f64> {
        let level = |&t: &f64| cells(n).map(move |(i, j)| self.face(i, j, along_i, t));
        self.times.iter().flat_map(level).collect()
    }

    fn coordinate(&self, n: [usize; 2], off: [f64; 2], c: usize) -> Vec<f64> {
        cells(n).map(|(i, j)| (self.map)([i as f64 + off[0], j as f64 + off[1]])[c]).collect()
    }

    fn units(&self) -> [[(&'static str, &'static str); 1]; 2] {
        if self.degrees {
            [[("units", "degrees_east")], [("units", "degrees_north")]]
        } else {
            [[("units", "m")]; 2]
        }
    }

    /// A pair of files as NEMO writes them: u and v of a cell on its east and north.
    fn nemo(&self) -> [(&'static str, File); 2] {
        let [east, north] = self.units();
        let one = |name: &'static str, off: [f64; 2], along_i: bool, file: &'static str| {
            let made = File::default()
                .dimension("time_counter", 0)
                .dimension("y", CELLS[1])
                .dimension("x", CELLS[0])
                .double("nav_lon", "y x", &east, self.coordinate(CELLS, off, 0))
                .double("nav_lat", "y x", &north, self.coordinate(CELLS, off, 1))
                .double("time_counter", "time_counter", &SECONDS, self.times.to_vec())
                .float(name, "time_counter y x", &NEMO, self.component(CELLS, along_i));
            (file, made)
        };
        [
            one("vozocrtx", [0.5, 0.0], true, "grid_U.nc"),
            one("vomecrty", [0.0, 0.5], false, "grid_V.nc"),
        ]
    }

    /// A file as ROMS writes it: fewer faces than cells.
    fn roms(&self) -> [(&'static str, File); 1] {
        let [nx, ny] = CELLS;
        let [east, north] = self.units();
        let mask = cells(CELLS).map(|(i, j)| f64::from(u8::from(!(self.land)(i, j)))).collect();
        let angle = cells(CELLS).map(|(i, j)| self.angle([i as f64, j as f64])).collect();
        // The mask says where land is; velocities there are anything.
        let anything = |values: Vec<f64>| {
            values.iter().map(|&x| if is_missing(x) { 0.3 } else { x }).collect()
        };
        let file = File::default()
            .dimension("ocean_time", 0)
            .dimension("eta_rho", ny)
            .dimension("xi_rho", nx)
            .dimension("eta_u", ny)
            .dimension("xi_u", nx - 1)
            .dimension("eta_v", ny - 1)
            .dimension("xi_v", nx)
            .double("lon_rho", "eta_rho xi_rho", &east, self.coordinate(CELLS, [0.0; 2], 0))
            .double("lat_rho", "eta_rho xi_rho", &north, self.coordinate(CELLS, [0.0; 2], 1))
            .double("mask_rho", "eta_rho xi_rho", &[], mask)
            .double("angle", "eta_rho xi_rho", &[("units", "radians")], angle)
            .double("ocean_time", "ocean_time", &SECONDS, self.times.to_vec())
            .float(
                "u",
                "ocean_time eta_u xi_u",
                &ROMS,
                anything(self.component([nx - 1, ny], true)),
            )
            .float(
                "v",
                "ocean_time eta_v xi_v",
                &ROMS,
                anything(self.component([nx, ny - 1], false)),
            );
        [("roms.nc", file)]
    }

    /// A file as `MITgcm` writes it: u and v of a cell on its west and south. For grids along axes.
    fn mitgcm(&self) -> [(&'static str, File); 1] {
        let [nx, ny] = CELLS;
        let axis = |c: usize, n: usize, off: f64| -> Vec<f64> {
            let place = |k: usize| {
                let mut at = [0.0; 2];
                at[c] = k as f64 + off;
                (self.map)(at)[c]
            };
            (0..n).map(place).collect()
        };
        let level = |along_i: bool| {
            move |&t: &f64| {
                cells(CELLS).map(move |(i, j)| match (along_i, i, j) {
                    (true, 0, _) | (false, _, 0) => MISSING,
                    (true, ..) => self.face(i - 1, j, true, t),
                    (false, ..) => self.face(i, j - 1, false, t),
                })
            }
        };
        let file = File::default()
            .dimension("T", self.times.len())
            .dimension("YC", ny)
            .dimension("YG", ny)
            .dimension("XC", nx)
            .dimension("XG", nx)
            .double("T", "T", &SECONDS, self.times.to_vec())
            .double("XC", "XC", &[("units", "m")], axis(0, nx, 0.0))
            .double("XG", "XG", &[("units", "m")], axis(0, nx, -0.5))
            .double("YC", "YC", &[("units", "m")], axis(1, ny, 0.0))
            .double("YG", "YG", &[("units", "m")], axis(1, ny, -0.5))
            .float("UVEL", "T YC XG", &NEMO, self.times.iter().flat_map(level(true)).collect())
            .float("VVEL", "T YG XC", &NEMO, self.times.iter().flat_map(level(false)).collect());
        [("mitgcm.nc", file)]
    }

    /// From east to the direction of i.
    fn angle(&self, at: [f64; 2]) -> f64 {
        let [a, b] = [-0.5, 0.5].map(|d| (self.map)([at[0] + d, at[1]]));
        let narrow = if self.degrees { a[1].to_radians().cos() } else { 1.0 };
        f64::atan2(b[1] - a[1], (b[0] - a[0]) * narrow)
    }

    /// The flow of files of it.
    fn flow(files: &[(&str, File)]) -> (Flow, Recording) {
        let folder = tempfile::tempdir().expect("the file system works").keep();
        let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.join(name)).collect();
        for (path, (_, file)) in paths.iter().zip(files) {
            file.write(path);
        }
        let open =
            || Recording::open(&paths, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
        (recorded::flow(open(), false).expect("a flow"), open())
    }
}

const SECONDS: [(&str, &str); 1] = [("units", "seconds since 2000-01-01 00:00:00")];
const NEMO: [(&str, &str); 2] = [("units", "m/s"), ("standard_name", "sea_water_x_velocity")];
const ROMS: [(&str, &str); 1] = [("units", "meter second-1")];

fn cells([nx, ny]: [usize; 2]) -> impl Iterator<Item = (usize, usize)> {
    (0..ny).flat_map(move |j| (0..nx).map(move |i| (i, j)))
}

fn nowhere(_: usize, _: usize) -> bool {
    false
}

/// A field that is linear in space is exact on corners between faces; all models mean the same.
#[test]
fn c_grids_of_three_models_are_the_same_flow() {
    let ocean = Ocean {
        map: |[i, j]| [1000.0 * i, 800.0 * j],
        u: |[i, j], _| 0.2 + 0.01 * i - 0.02 * j,
        v: |[i, j], _| -0.1 + 0.015 * i + 0.005 * j,
        land: nowhere,
        times: &[0.0, 600.0],
        degrees: false,
    };
    let models = [
        ("NEMO", Ocean::flow(&ocean.nemo())),
        ("ROMS", Ocean::flow(&ocean.roms())),
        ("MITgcm", Ocean::flow(&ocean.mitgcm())),
    ];
    let mut random = random();
    for (name, (flow, recording)) in &models {
        assert!(recording.assumed().iter().any(|a| a.contains("C-grid")), "{name}: said");
        for _ in 0..200 {
            let at = [2.0 + 19.0 * random(), 2.0 + 13.0 * random()];
            let [x, y] = (ocean.map)(at);
            let found = flow.velocities(&[[x, y, 0.0]], 300.0, &Run::default()).unwrap()[0];
            let expected = [(ocean.u)(at, 0.0), (ocean.v)(at, 0.0)];
            let error = (0..2).map(|c| (found[c] - expected[c]).abs()).fold(0.0, f64::max);
            assert!(error < 1e-6 && found[3] > 0.99, "{name} at {at:?}: {found:?} {expected:?}");
        }
    }
}

fn random() -> impl FnMut() -> f64 {
    let mut state = 11_u64;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A bent, turned grid off Norway, an island and a headland, a flow that swings.
fn bent() -> Ocean {
    Ocean {
        map: |[i, j]| {
            let (sin, cos) = (0.5_f64 + 0.01 * i).sin_cos();
            let [x, y] = [0.04 * i, 0.04 * j];
            [5.0 + (x * cos - y * sin) / 62.0_f64.to_radians().cos(), 62.0 + x * sin + y * cos]
        },
        u: |[i, j], t| 0.4 + 0.3 * (0.5 * j).sin() * (0.3 * i).cos() + 0.2 * (t / 30_000.0).sin(),
        v: |[i, j], t| 0.35 * (0.4 * i).sin() * (0.35 * j + 1.0).cos() - 0.1 * (t / 20_000.0).cos(),
        land: |i, j| ((9..12).contains(&i) && (7..9).contains(&j)) || (j < 3 && i > 12) || j == 0,
        times: &[0.0, 7200.0, 14400.0, 28800.0],
        degrees: true,
    }
}

/// The same files sampled in double precision, written down without the library: corners, walls, cells, time.
struct Sampling {
    corners: Vec<[f64; 2]>,
    /// Of each level.
    velocity: Vec<Vec<[f64; 2]>>,
    ocean: Ocean,
}

const CORNERS: [usize; 2] = [CELLS[0] - 1, CELLS[1] - 1];

impl Sampling {
    fn new(ocean: Ocean, of_centres: bool) -> Self {
        let at =
            |i: usize, j: usize, off: [f64; 2]| (ocean.map)([i as f64 + off[0], j as f64 + off[1]]);
        let corner = |(i, j): (usize, usize)| {
            let around = if of_centres {
                [
                    at(i, j, [0.0; 2]),
                    at(i + 1, j, [0.0; 2]),
                    at(i, j + 1, [0.0; 2]),
                    at(i + 1, j + 1, [0.0; 2]),
                ]
            } else {
                [
                    at(i, j, [0.5, 0.0]),
                    at(i, j + 1, [0.5, 0.0]),
                    at(i, j, [0.0, 0.5]),
                    at(i + 1, j, [0.0, 0.5]),
                ]
            };
            [0, 1].map(|c| around.iter().map(|p| p[c]).sum::<f64>() / 4.0)
        };
        let corners: Vec<[f64; 2]> = cells(CORNERS).map(corner).collect();
        let direction = |i: usize, j: usize| {
            if of_centres {
                let around = [[i, j], [i + 1, j], [i, j + 1], [i + 1, j + 1]];
                let turn = around.map(|[i, j]| ocean.angle([i as f64, j as f64]).sin_cos());
                let (s, c) = turn.iter().fold((0.0, 0.0), |(s, c), t| (s + t.0, c + t.1));
                return f64::atan2(s, c);
            }
            let [a, b] = [i.saturating_sub(1), (i + 1).min(CORNERS[0] - 1)]
                .map(|i| corners[j * CORNERS[0] + i]);
            let narrow = corners[j * CORNERS[0] + i][1].to_radians().cos();
            f64::atan2(b[1] - a[1], (b[0] - a[0]) * narrow)
        };
        let velocity = |&t: &f64| {
            let one = |(i, j): (usize, usize)| {
                let sea = |i: usize, j: usize| !(ocean.land)(i, j);
                let u = mean_of_faces(
                    [j, j + 1].map(|j| (ocean.face(i, j, true, t), sea(i, j) || sea(i + 1, j))),
                );
                let v = mean_of_faces(
                    [i, i + 1].map(|i| (ocean.face(i, j, false, t), sea(i, j) || sea(i, j + 1))),
                );
                let (sin, cos) = direction(i, j).sin_cos();
                [u * cos - v * sin, u * sin + v * cos]
            };
            cells(CORNERS).map(one).collect()
        };
        let velocity = ocean.times.iter().map(velocity).collect();
        Self { corners, velocity, ocean }
    }

    /// ξ of a place in a cell, by Newton's steps.
    fn inverse(&self, [i, j]: [usize; 2], x: [f64; 2]) -> Option<[f64; 2]> {
        let mut at = [0.5; 2];
        for _ in 0..30 {
            let (place, [a, b]) = self.place([i, j], at);
            let off = [x[0] - place[0], x[1] - place[1]];
            let area = a[0] * b[1] - a[1] * b[0];
            let step =
                [(off[0] * b[1] - off[1] * b[0]) / area, (a[0] * off[1] - a[1] * off[0]) / area];
            at = [at[0] + step[0], at[1] + step[1]];
            if step[0].abs() + step[1].abs() < 1e-13 {
                break;
            }
        }
        at.iter().all(|s| (-1e-9..=1.0 + 1e-9).contains(s)).then_some(at)
    }

    fn four(&self, [i, j]: [usize; 2]) -> [usize; 4] {
        let first = j * CORNERS[0] + i;
        [first, first + 1, first + CORNERS[0], first + CORNERS[0] + 1]
    }

    fn place(&self, cell: [usize; 2], [r, s]: [f64; 2]) -> ([f64; 2], [[f64; 2]; 2]) {
        let p = self.four(cell).map(|k| self.corners[k]);
        let mix = |f: &dyn Fn(usize) -> f64| [f(0), f(1)];
        let place = mix(&|c| {
            (1.0 - s) * ((1.0 - r) * p[0][c] + r * p[1][c])
                + s * ((1.0 - r) * p[2][c] + r * p[3][c])
        });
        let a = mix(&|c| (1.0 - s) * (p[1][c] - p[0][c]) + s * (p[3][c] - p[2][c]));
        let b = mix(&|c| (1.0 - r) * (p[2][c] - p[0][c]) + r * (p[3][c] - p[1][c]));
        (place, [a, b])
    }

    /// Degrees a second; `None` on land.
    fn velocity(&self, x: [f64; 2], t: f64, last: &mut [usize; 2]) -> Option<[f64; 2]> {
        let size = [CORNERS[0] - 1, CORNERS[1] - 1];
        let found = std::iter::once((last[0], last[1])).chain(cells(size));
        let (cell, at) = found.map(|(i, j)| [i, j]).find_map(|c| Some((c, self.inverse(c, x)?)))?;
        *last = cell;
        let [i, j] = [cell[0] + 1, cell[1] + 1];
        let land = self.ocean.land;
        if land(i, j) {
            return None;
        }
        let after =
            self.ocean.times.partition_point(|&k| k <= t).clamp(1, self.ocean.times.len() - 1);
        let [t0, t1] = [self.ocean.times[after - 1], self.ocean.times[after]];
        let share = (t - t0) / (t1 - t0);
        let four = self.four(cell);
        let v = four.map(|k| {
            [0, 1].map(|c| {
                let [a, b] = [after - 1, after].map(|l| self.velocity[l][k][c]);
                a + share * (b - a)
            })
        });
        let weights = [
            (1.0 - at[0]) * (1.0 - at[1]),
            at[0] * (1.0 - at[1]),
            (1.0 - at[0]) * at[1],
            at[0] * at[1],
        ];
        let walls = [land(i - 1, j), land(i + 1, j), land(i, j - 1), land(i, j + 1)];
        let degree = 180.0 / std::f64::consts::PI / RADIUS;
        if walls == [false; 4] {
            let sum = |c: usize| (0..4).map(|k| weights[k] * v[k][c]).sum::<f64>();
            return Some([degree * sum(0) / x[1].to_radians().cos(), degree * sum(1)]);
        }
        // Along the edges of the cell, nothing across walls.
        let p = four.map(|k| self.corners[k]);
        let mut rate = [0.0; 2];
        for k in 0..4 {
            let a = [0, 1].map(|c| p[k | 1][c] - p[k & 2][c]);
            let b = [0, 1].map(|c| p[k | 2][c] - p[k & 1][c]);
            let w = [v[k][0] / p[k][1].to_radians().cos(), v[k][1]];
            let area = a[0] * b[1] - a[1] * b[0];
            let mut own = [(w[0] * b[1] - w[1] * b[0]) / area, (a[0] * w[1] - a[1] * w[0]) / area];
            if walls[k & 1] {
                own[0] = 0.0;
            }
            if walls[2 + (k >> 1)] {
                own[1] = 0.0;
            }
            rate = [0, 1].map(|c| rate[c] + weights[k] * own[c]);
        }
        let (_, [a, b]) = self.place(cell, at);
        Some([0, 1].map(|c| degree * (a[c] * rate[0] + b[c] * rate[1])))
    }

    /// Many small steps.
    fn carried(&self, mut x: [f64; 2], [from, to]: [f64; 2], steps: u32) -> Option<[f64; 2]> {
        let h = (to - from) / f64::from(steps);
        let mut cell = [0, 0];
        for n in 0..steps {
            let t = from + f64::from(n) * h;
            let ahead = |k: [f64; 2], s: f64| [x[0] + s * k[0], x[1] + s * k[1]];
            let k1 = self.velocity(x, t, &mut cell)?;
            let k2 = self.velocity(ahead(k1, h / 2.0), t + h / 2.0, &mut cell)?;
            let k3 = self.velocity(ahead(k2, h / 2.0), t + h / 2.0, &mut cell)?;
            let k4 = self.velocity(ahead(k3, h), t + h, &mut cell)?;
            x = [0, 1].map(|c| x[c] + h / 6.0 * (k1[c] + 2.0 * k2[c] + 2.0 * k3[c] + k4[c]));
        }
        Some(x)
    }
}

#[test]
fn positions_on_roms_and_nemo_agree_with_sampling_in_double_precision() {
    let ocean = bent();
    for (name, files, of_centres) in [
        ("ROMS", ocean.roms().into_iter().collect::<Vec<_>>(), true),
        ("NEMO", ocean.nemo().into(), false),
    ] {
        let (flow, _) = Ocean::flow(&files);
        let sampling = Sampling::new(ocean, of_centres);
        let starts: Vec<[f64; 2]> = (0..30)
            .map(|k| {
                (ocean.map)([
                    3.0 + 0.37 * f64::from(k % 6),
                    2.0 + 2.3 * f64::from(k / 6) + 0.21 * f64::from(k % 6),
                ])
            })
            .collect();
        let mut tracers: Vec<Tracer> =
            starts.iter().map(|[x, y]| advect::tracer([*x, *y, 0.0])).collect();
        // In steps of a frame.
        let steps = 48;
        let end = 28_800.0;
        for k in 0..steps {
            let times = [k, k + 1].map(|k| end * f64::from(k) / f64::from(steps));
            flow.advance(times, &mut tracers, &Run::default()).unwrap();
        }
        let (mut compared, mut worst) = (0, 0.0_f64);
        for (start, tracer) in starts.iter().zip(&tracers) {
            let Some(expected) = sampling.carried(*start, [0.0, end], 960) else { continue };
            if !advect::is_alive(tracer) {
                continue;
            }
            compared += 1;
            // A cell is 0.04 degrees of latitude.
            let off =
                [(tracer[0] - expected[0]) * 62.0_f64.to_radians().cos(), tracer[1] - expected[1]];
            worst = worst.max(f64::hypot(off[0], off[1]) / 0.04);
        }
        assert!(compared >= 24, "{name}: {compared} are compared");
        assert!(worst < 1e-3, "{name}: {worst:.2e} cells off");
    }
}

#[test]
fn smoke_slips_along_a_bent_coast_and_never_lands() {
    let ocean = bent();
    for files in [ocean.roms().into_iter().collect::<Vec<_>>(), ocean.nemo().into()] {
        let (flow, recording) = Ocean::flow(&files);
        // Close to the southern coast, which lies at j = ½, and before the island.
        let starts = (0..20)
            .map(|k| (ocean.map)([2.0 + 0.2 * f64::from(k), 0.52 + 0.05 * f64::from(k % 4)]));
        let island = (0..20).map(|k| (ocean.map)([6.0, 6.6 + 0.1 * f64::from(k)]));
        let mut tracers: Vec<Tracer> =
            starts.chain(island).map(|[x, y]| advect::tracer([x, y, 0.0])).collect();
        let begun = tracers.clone();
        for k in 0..96 {
            let times = [k, k + 1].map(|k| 300.0 * f64::from(k));
            flow.advance(times, &mut tracers, &Run::default()).unwrap();
        }
        assert!(tracers.iter().all(advect::is_alive), "none runs aground: {tracers:?}");
        let moved = |(a, b): (&Tracer, &Tracer)| f64::hypot(a[0] - b[0], a[1] - b[1]);
        let least = tracers.iter().zip(&begun).map(moved).fold(f64::INFINITY, f64::min);
        assert!(least > 0.02, "they move along: {least}");
        // On land there is no fluid.
        let land: Vec<[f64; 3]> = cells(CELLS)
            .filter(|&(i, j)| i > 0 && j > 0 && i + 1 < CELLS[0] && (ocean.land)(i, j))
            .map(|(i, j)| (ocean.map)([i as f64, j as f64]))
            .map(|[x, y]| [x, y, 0.0])
            .collect();
        let there = flow.velocities(&land, 0.0, &Run::default()).unwrap();
        assert!(land.len() > 20 && there.iter().all(|v| v[3] == 0.0), "land is outside");
        assert!(recording.coast().is_some());
    }
}

/// Over a flat floor a velocity that is linear in z is exact between the layers' middles.
#[test]
fn layers_follow_the_sea_floor() {
    let n = [6, 5];
    let depth = |i: usize| 80.0 + 10.0 * i as f64;
    let s: Vec<f64> = (0..8).map(|k| -1.0 + (f64::from(k) + 0.5) / 8.0).collect();
    let stretching: Vec<f64> = s.iter().map(|s| -s * s).collect();
    let z = |h: f64, k: usize| h * (20.0 * s[k] + h * stretching[k]) / (h + 20.0);
    let plane =
        |f: &dyn Fn(usize, usize) -> f64| -> Vec<f64> { cells(n).map(|(i, j)| f(i, j)).collect() };
    let on_u: Vec<f64> = (0..8)
        .flat_map(|k| cells([n[0] - 1, n[1]]).map(move |(i, _)| (i, k)))
        .map(|(i, k)| 0.5 + 0.01 * z(0.5 * (depth(i) + depth(i + 1)), k))
        .collect();
    let on_v = vec![0.25; 8 * n[0] * (n[1] - 1)];
    let upward: Vec<f64> = (0..9).flat_map(|k| vec![1e-3 * f64::from(k); n[0] * n[1]]).collect();
    let file = File::default()
        .dimension("ocean_time", 1)
        .dimension("s_rho", 8)
        .dimension("s_w", 9)
        .dimension("eta_rho", n[1])
        .dimension("xi_rho", n[0])
        .dimension("eta_u", n[1])
        .dimension("xi_u", n[0] - 1)
        .dimension("eta_v", n[1] - 1)
        .dimension("xi_v", n[0])
        .double("x_rho", "eta_rho xi_rho", &[("units", "meter")], plane(&|i, _| 1000.0 * i as f64))
        .double("y_rho", "eta_rho xi_rho", &[("units", "meter")], plane(&|_, j| 1000.0 * j as f64))
        .double("h", "eta_rho xi_rho", &[("units", "meter")], plane(&|i, _| depth(i)))
        .double(
            "s_rho",
            "s_rho",
            &[
                ("standard_name", "ocean_s_coordinate_g2"),
                ("formula_terms", "s: s_rho C: Cs_r eta: zeta depth: h depth_c: hc"),
            ],
            s.clone(),
        )
        .double("Cs_r", "s_rho", &[], stretching.clone())
        .double("hc", "", &[], vec![20.0])
        .double("ocean_time", "ocean_time", &SECONDS, vec![0.0])
        .float("u", "ocean_time s_rho eta_u xi_u", &ROMS, on_u)
        .float("v", "ocean_time s_rho eta_v xi_v", &ROMS, on_v)
        .float("w", "ocean_time s_w eta_rho xi_rho", &ROMS, upward);
    let (flow, recording) = Ocean::flow(&[("roms.nc", file)]);
    assert_eq!(recording.grid().dims(), Some([5, 4, 10]), "with the floor and the surface");
    assert_eq!(recording.velocity().names(), ["u", "v", "w"]);
    // Over a corner, where columns are straight.
    let x = 2500.0;
    let h = 0.5 * (depth(2) + depth(3));
    for height in [-0.9 * h, -0.5 * h, -0.2 * h, -0.1 * h] {
        let v = flow.velocities(&[[x, 1500.0, height]], 0.0, &Run::default()).unwrap()[0];
        let expected = 0.5 + 0.01 * height;
        let between = height > z(h, 0) && height < z(h, 7);
        assert!(!between || (v[0] - expected).abs() < 1e-5, "{height}: {v:?} {expected}");
        assert!((v[1] - 0.25).abs() < 1e-6 && v[2] > 0.0, "{v:?}");
    }
    // The sea reaches up to its surface and down to its floor.
    let ends = [[x, 1500.0, -0.01], [x, 1500.0, 0.01 - h], [x, 1500.0, -h - 1.0]];
    let found = flow.velocities(&ends, 0.0, &Run::default()).unwrap();
    assert!(found[0][3] > 0.5 && found[1][3] > 0.5 && found[2][3] == 0.0, "{found:?}");
    assert!(found[0][2].abs() < 1e-3 && found[1][2].abs() < 1e-4, "nothing leaves: {found:?}");
}

#[test]
fn oceans_of_the_test_data_keep_smoke_off_the_land() {
    let Some(folder) = test_data("flow") else { return };
    let open = |names: &[&str]| {
        let paths: Vec<PathBuf> = names.iter().map(|n| folder.join(n)).collect();
        let recording = Recording::open(&paths, &Options::default());
        recording.unwrap_or_else(|e| panic!("{e}"))
    };
    // The peninsula's points are land where they do not move.
    let pair = open(&["peninsula/peninsulaU.nc", "peninsula/peninsulaV.nc"]);
    let level = pair.level(0).unwrap();
    assert!(level.masked() > 0.02, "{}", level.masked());
    let flow = recorded::flow(pair, false).unwrap();
    let mut tracers: Vec<Tracer> =
        (0..40).map(|k| advect::tracer([8000.0, 3000.0 + 500.0 * f64::from(k), 0.0])).collect();
    for _ in 0..1500 {
        flow.advance([0.0, 100.0], &mut tracers, &Run::default()).unwrap();
    }
    // They pass the peninsula, or leave to the east: none ends beside it.
    assert!(tracers.iter().all(|t| t[0] > 60_000.0), "{tracers:?}");
    let roms = open(&["opendrift_nordic_roms/Nordic_subset.nc"]);
    assert_eq!(roms.grid().dims(), Some([30, 20, 37]));
    assert_eq!(roms.times().len(), 3);
    let masked = roms.level(0).unwrap().masked();
    assert!(masked > 0.1 && masked < 0.5, "{masked}");
    // Five metres deep all the way, off the land and along it: layers slope towards the coast, smoke does not climb them.
    let flow = recorded::flow(roms, false).unwrap();
    let mut tracers: Vec<Tracer> = (0..60)
        .map(|k| advect::tracer([13.3, 66.893 + 0.28 * f64::from(k) / 59.0, -5.0]))
        .collect();
    let [from, to] = flow.span().unwrap();
    flow.advance([from, to], &mut tracers, &Run::default()).unwrap();
    let alive = tracers.iter().filter(|t| advect::is_alive(t)).count();
    assert!(alive > 50, "{alive} of 60 are at sea");
    assert!(tracers.iter().all(|t| (t[2] + 5.0).abs() < 1e-6), "{tracers:?}");
}

/// A start and an end, by `scripts/ocean_positions.py`.
type Drift = ([f64; 2], [f64; 2]);

/// A pair of files as NEMO writes them, 40,000 s.
const PENINSULA: [Drift; 9] = [
    ([8000.0, 3000.0], [35067.4995, 10678.5589]),
    ([8000.0, 7500.0], [43035.0028, 18543.7760]),
    ([8000.0, 12000.0], [47697.9930, 21933.9336]),
    ([8000.0, 16500.0], [49871.5682, 24763.0835]),
    ([8000.0, 21000.0], [50811.8078, 27771.8394]),
    ([8000.0, 25500.0], [51138.8342, 31034.0187]),
    ([8000.0, 30000.0], [51156.5848, 34523.8601]),
    ([8000.0, 34500.0], [51023.4826, 38206.0918]),
    ([8000.0, 39000.0], [50823.0975, 42046.8672]),
];

/// A file of ROMS, five metres deep, 36 hours.
const NORDIC: [Drift; 8] = [
    ([13.2697, 67.1207], [13.2923479, 67.2314141]),
    ([13.5419, 67.2248], [13.3180022, 67.3892893]),
    ([14.0937, 67.4316], [14.0542054, 67.5043955]),
    ([14.3737, 67.5343], [14.1951027, 67.6795807]),
    ([13.4074, 67.2776], [13.2011361, 67.4102875]),
    ([14.2392, 67.5879], [13.7174195, 67.6434324]),
    ([13.0001, 67.2258], [12.7416360, 67.2064256]),
    ([14.3869, 67.7442], [14.6382591, 67.8296515]),
];

#[test]
fn positions_on_files_of_the_data_are_those_of_another_program() {
    let Some(folder) = test_data("flow") else { return };
    let carried = |names: &[&str], drifts: &[Drift], depth: f64, [step, steps]: [u32; 2]| {
        let paths: Vec<PathBuf> = names.iter().map(|n| folder.join(n)).collect();
        let recording = Recording::open(&paths, &Options::default());
        let flow = recorded::flow(recording.unwrap_or_else(|e| panic!("{e}")), false).unwrap();
        let start = flow.span().map_or(0.0, |span| span[0]);
        let mut tracers: Vec<Tracer> =
            drifts.iter().map(|([x, y], _)| advect::tracer([*x, *y, depth])).collect();
        for k in 0..steps {
            let times = [k, k + 1].map(|k| start + f64::from(k * step));
            flow.advance(times, &mut tracers, &Run::default()).unwrap();
        }
        assert!(tracers.iter().all(advect::is_alive), "{tracers:?}");
        tracers
    };
    let worst = |tracers: &[Tracer], drifts: &[Drift], cell: [f64; 2]| {
        let off = |(tracer, (_, end)): (&Tracer, &Drift)| {
            f64::hypot((tracer[0] - end[0]) / cell[0], (tracer[1] - end[1]) / cell[1])
        };
        tracers.iter().zip(drifts).map(off).fold(0.0, f64::max)
    };
    let pair = ["peninsula/peninsulaU.nc", "peninsula/peninsulaV.nc"];
    let found = carried(&pair, &PENINSULA, 0.0, [100, 400]);
    let off = worst(&found, &PENINSULA, [989.9, 979.6]);
    assert!(off < 1e-3, "NEMO: {off:.2e} cells");
    let file = ["opendrift_nordic_roms/Nordic_subset.nc"];
    let found = carried(&file, &NORDIC, -5.0, [1800, 72]);
    // Cells of 4 km.
    let degree = RADIUS.to_radians();
    let off =
        worst(&found, &NORDIC, [4000.0 / (degree * 67.4_f64.to_radians().cos()), 4000.0 / degree]);
    assert!(off < 1e-3, "ROMS: {off:.2e} cells");
}

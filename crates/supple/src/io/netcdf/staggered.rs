//! Arakawa C-grids: components on the faces of cells, brought to their corners, with a coast that lets nothing through.
//!
//! # Method
//!
//! On a C-grid u stands on the faces between cells along i, v on those along j (NEMO, ROMS, `MITgcm`). Both are brought
//! to the corners of the cells: u as the mean of the two faces above and below, v of those left and right. How u and v
//! count relative to each other is found from where their points are: v lies half a cell off u along both
//! directions.
//!
//! A face between sea and land is a wall. At a corner on a wall the component across it is zero, and the one along it
//! is that of the open faces alone: the flow slips. A cell knows its walls and whether it is land ([`Coast`]);
//! [`Lattice`](crate::flow::curvilinear::Lattice) keeps tracers from crossing them also where the grid is bent.
//! Land is where a mask of the file says so, else where faces hold no value, else (in files that know no missing
//! values) where they are exactly zero.
//!
//! u and v run along the grid; at corners they are turned by the file's `angle`, else by the direction of the grid.
//! Variables of cell centres go to corners as the mean of the cells around that are sea.
//!
//! # Limits
//!
//! Positions where meridians meet (the folds of tripolar grids) are not special: smoke ends at the grid's edge.

use netcdf_reader::NcVariable;

use super::axes::{self, Axis, Order};
use super::file::{Open, malformed, text_of};
use crate::dataset::Coast;
use crate::dataset::Coordinates;
use crate::io::ReadError;

/// Where points are, in the order of the file: x fastest.
#[derive(Debug)]
pub(super) struct Points {
    pub(super) at: Vec<[f64; 2]>,
    pub(super) size: [usize; 2],
    /// The axes they are the product of, if they are one.
    axes: Option<[Vec<f64>; 2]>,
    pub(super) coordinates: Coordinates,
}

/// A C-grid and its corners.
#[derive(Debug)]
pub(super) struct Staggered {
    /// Sizes of the arrays of u and v.
    of_u: [usize; 2],
    of_v: [usize; 2],
    /// The first u, the first v and the first cell centre that are used.
    first_u: [usize; 2],
    first_v: [usize; 2],
    first_centre: [usize; 2],
    /// Corners along i and j.
    pub(super) size: [usize; 2],
    /// Where the corners are.
    pub(super) corners: Vec<[f64; 2]>,
    pub(super) coordinates: Coordinates,
    /// Cosine and sine of the angle from east to the grid's i, at the corners.
    turn: Vec<[f32; 2]>,
    /// Cells that are sea, by a mask of the file.
    sea: Option<Vec<bool>>,
}

/// A component, and where it is.
#[derive(Clone, Copy)]
pub(super) struct Component<'a> {
    pub(super) file: &'a Open,
    pub(super) variable: &'a NcVariable,
    pub(super) order: &'a Order,
}

impl Component<'_> {
    fn size(&self) -> [usize; 2] {
        let [nx, ny, _] = self.order.shape(self.variable);
        [nx, ny]
    }

    fn dimension(&self, axis: Axis) -> &str {
        let k = self.order.dimension(axis);
        k.map_or("", |k| self.variable.dimensions()[k].name.as_str())
    }

    /// Its points, if they are somewhere: some files hold zeros in their place.
    fn points(&self, assumed: &mut Vec<String>) -> Option<Points> {
        let found = axes::horizontal(self.file, self.variable, self.order, assumed).ok()?;
        let [nx, ny] = self.size();
        let (at, axes) = match found.points {
            Some(at) => (at, None),
            None => {
                let row = |&y: &f64| found.x.iter().map(move |&x| [x, y]);
                (found.y.iter().flat_map(row).collect(), Some([found.x.clone(), found.y.clone()]))
            }
        };
        let somewhere = |c: usize| at.iter().any(|p| p[c] != at[0][c]);
        let is_known = found.is_known && somewhere(0) && somewhere(1);
        is_known.then_some(Points { at, size: [nx, ny], axes, coordinates: found.coordinates })
    }
}

/// A difference of longitudes, the short way round.
fn short_way(difference: f64, coordinates: Coordinates) -> f64 {
    match coordinates {
        Coordinates::Degrees => difference - 360.0 * (difference / 360.0).round(),
        Coordinates::Metres => difference,
    }
}

impl Points {
    fn get(&self, i: usize, j: usize) -> [f64; 2] {
        self.at[j * self.size[0] + i]
    }

    /// From one point to another.
    fn step(&self, from: [f64; 2], to: [f64; 2]) -> [f64; 2] {
        [short_way(to[0] - from[0], self.coordinates), to[1] - from[1]]
    }

    /// By how many cells the points of `other` lie beside those of the same index here.
    fn offset_of(&self, other: &Self) -> Option<[f64; 2]> {
        let most = [0, 1].map(|a| self.size[a].min(other.size[a]));
        if most[0] < 2 || most[1] < 2 {
            return None;
        }
        let mut offsets = [Vec::new(), Vec::new()];
        for (s, t) in [(1, 1), (1, 3), (2, 2), (3, 1), (3, 3)] {
            let (i, j) = ((most[0] - 2) * s / 4, (most[1] - 2) * t / 4);
            let here = self.get(i, j);
            let along = self.step(here, self.get(i + 1, j));
            let across = self.step(here, self.get(i, j + 1));
            let off = self.step(here, other.get(i, j));
            let area = along[0] * across[1] - along[1] * across[0];
            offsets[0].push((off[0] * across[1] - off[1] * across[0]) / area);
            offsets[1].push((along[0] * off[1] - along[1] * off[0]) / area);
        }
        let median = |values: &mut Vec<f64>| {
            values.retain(|x| x.is_finite());
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied()
        };
        let [a, b] = &mut offsets;
        median(a).zip(median(b)).map(|(a, b)| [a, b])
    }
}

/// How the points of v count relative to those of u: `None` if both are at the same places.
fn shift_of(
    u: &Component<'_>,
    v: &Component<'_>,
    points: [Option<&Points>; 2],
) -> Result<Option<[isize; 2]>, ReadError> {
    // ROMS names its faces; those who cut a piece out of its files leave the names.
    let is_roms = |c: &Component<'_>, letter: char| c.dimension(Axis::X) == format!("xi_{letter}");
    if is_roms(u, 'u') && is_roms(v, 'v') {
        return Ok(Some([0, 0]));
    }
    let offset = points[0].zip(points[1]).and_then(|(u, v)| u.offset_of(v));
    let Some(offset) = offset else {
        if u.size() == v.size() {
            return Ok(None);
        }
        let what = format!(
            "'{}' has {:?} points, '{}' has {:?}, and nothing says where they are",
            u.variable.name(),
            u.size(),
            v.variable.name(),
            v.size()
        );
        return Err(malformed(&v.file.path, what, "add the file with the grid's coordinates"));
    };
    let near = |x: f64, to: f64| (x - to).abs() < 0.2;
    if offset.iter().all(|&x| near(x, 0.0)) && u.size() == v.size() {
        return Ok(None);
    }
    let half = offset.map(|x| (x - 0.5).round() + 0.5);
    if !(near(offset[0], half[0]) && near(offset[1], half[1])) {
        let what = format!(
            "'{}' lies {:.2} and {:.2} cells beside '{}'",
            v.variable.name(),
            offset[0],
            offset[1],
            u.variable.name()
        );
        let fix = "components at the same points, or half a cell apart as on an Arakawa C-grid, are read; bring them to one grid";
        return Err(malformed(&v.file.path, what, fix));
    }
    Ok(Some([(-0.5 - half[0]) as isize, (0.5 - half[1]) as isize]))
}

impl Staggered {
    /// The C-grid of two components; `None` if both are at the same points.
    pub(super) fn find(
        files: &[Open],
        u: &Component<'_>,
        v: &Component<'_>,
        assumed: &mut Vec<String>,
    ) -> Result<Option<Self>, ReadError> {
        let mut said = Vec::new();
        let points = [u.points(&mut said), v.points(&mut said)];
        let Some([p, q]) = shift_of(u, v, [points[0].as_ref(), points[1].as_ref()])? else {
            return Ok(None);
        };
        let (of_u, of_v) = (u.size(), v.size());
        let first = [p.saturating_neg().max(0), q.saturating_neg().max(0)];
        let end = [
            (of_u[0] as isize).min((of_v[0] as isize - 1).saturating_sub(p)),
            (of_u[1] as isize - 1).min((of_v[1] as isize).saturating_sub(q)),
        ];
        let size = [0, 1].map(|a| usize::try_from(end[a].saturating_sub(first[a])).unwrap_or(0));
        if size[0] < 2 || size[1] < 2 {
            let what = format!("a C-grid of {of_u:?} and {of_v:?} points has no cell inside");
            return Err(malformed(&u.file.path, what, "name a larger piece of the grid"));
        }
        let first_u = first.map(isize::unsigned_abs);
        let first_v = [first[0] + p, first[1] + q].map(isize::unsigned_abs);
        let first_centre = [first_v[0], first_u[1]];
        let mut grid = Self {
            of_u,
            of_v,
            first_u,
            first_v,
            first_centre,
            size,
            corners: Vec::new(),
            coordinates: Coordinates::Metres,
            turn: Vec::new(),
            sea: None,
        };
        let centres = grid.centre_points(files, assumed)?;
        grid.place(u, &points, centres)?;
        grid.turn = grid.turns(files, u)?;
        grid.sea = grid.mask(files)?;
        assumed.push(format!(
            "'{}' and '{}' are on the faces of a C-grid: brought to the corners of its cells",
            u.variable.name(),
            v.variable.name()
        ));
        Ok(Some(grid))
    }

    /// Size of arrays at the centres of the cells.
    pub(super) fn centre_size(&self) -> [usize; 2] {
        [self.of_v[0], self.of_u[1]]
    }

    /// The four centres around a corner, as indices into arrays of centres.
    fn centres_around(&self, i: usize, j: usize) -> [usize; 4] {
        let wide = self.of_v[0];
        let at = (self.first_centre[1] + j) * wide + self.first_centre[0] + i;
        [at, at + 1, at + wide, at + wide + 1]
    }

    fn corner_indices(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let [nx, ny] = self.size;
        (0..ny).flat_map(move |j| (0..nx).map(move |i| (i, j)))
    }

    /// A variable of two dimensions at the centres, in any of the files.
    fn at_centres(&self, files: &[Open], names: &[&str]) -> Result<Option<Vec<f64>>, ReadError> {
        let [nx, ny] = self.centre_size();
        for name in names {
            for file in files {
                let Some(variable) = file.variable(name) else { continue };
                let sizes = variable.dimensions().iter().map(|d| d.size as usize);
                let sizes: Vec<usize> = sizes.filter(|&n| n != 1).collect();
                if sizes == [ny, nx] {
                    return file.read_all(variable).map(Some);
                }
            }
        }
        Ok(None)
    }

    /// Where the centres of the cells are, in files that say it.
    fn centre_points(
        &self,
        files: &[Open],
        assumed: &mut Vec<String>,
    ) -> Result<Option<Points>, ReadError> {
        for [x, y] in [["lon_rho", "lat_rho"], ["x_rho", "y_rho"]] {
            let (xs, ys) = (self.at_centres(files, &[x])?, self.at_centres(files, &[y])?);
            let Some((xs, ys)) = xs.zip(ys) else { continue };
            if xs.iter().all(|v| *v == xs[0]) || ys.iter().all(|v| *v == ys[0]) {
                continue;
            }
            let variable = |name| files.iter().find_map(|f| f.variable(name));
            let Some((vx, vy)) = variable(x).zip(variable(y)) else { continue };
            let coordinates = axes::coordinates_of(vx, vy, &xs, &ys, assumed);
            let at = xs.iter().zip(&ys).map(|(&x, &y)| [x, y]).collect();
            return Ok(Some(Points { at, size: self.centre_size(), axes: None, coordinates }));
        }
        Ok(None)
    }

    /// Finds where the corners are: between the centres, else between the faces.
    fn place(
        &mut self,
        u: &Component<'_>,
        points: &[Option<Points>; 2],
        centres: Option<Points>,
    ) -> Result<(), ReadError> {
        let indices: Vec<(usize, usize)> = self.corner_indices().collect();
        let corners: Vec<[f64; 2]> = match (centres, points) {
            (Some(centres), _) => {
                self.coordinates = centres.coordinates;
                let around = |&(i, j): &(usize, usize)| {
                    mean_of(self.centres_around(i, j).map(|k| centres.at[k]), self.coordinates)
                };
                indices.iter().map(around).collect()
            }
            (None, [Some(us), Some(vs)]) => {
                self.coordinates = us.coordinates;
                let [x, y] = [0, 1].map(|a| (self.first_u[a], self.first_v[a]));
                let between = |&(i, j): &(usize, usize)| {
                    if let (Some([xs, _]), Some([_, ys])) = (&us.axes, &vs.axes) {
                        return [xs[x.0 + i], ys[y.1 + j]];
                    }
                    let faces = [
                        us.get(x.0 + i, y.0 + j),
                        us.get(x.0 + i, y.0 + j + 1),
                        vs.get(x.1 + i, y.1 + j),
                        vs.get(x.1 + i + 1, y.1 + j),
                    ];
                    mean_of(faces, self.coordinates)
                };
                indices.iter().map(between).collect()
            }
            _ => {
                let what = "nothing says where the points of this C-grid are";
                let fix =
                    "add the grid file, with lon_rho and lat_rho or the coordinates of u and v";
                return Err(malformed(&u.file.path, what, fix));
            }
        };
        self.corners = corners;
        if self.coordinates == Coordinates::Degrees {
            self.unroll();
        }
        Ok(())
    }

    /// Makes longitudes go on over the date line.
    fn unroll(&mut self) {
        let [nx, ny] = self.size;
        for j in 0..ny {
            for i in 0..nx {
                let before = match (i, j) {
                    (0, 0) => continue,
                    (0, _) => self.corners[(j - 1) * nx][0],
                    _ => self.corners[j * nx + i - 1][0],
                };
                let here = &mut self.corners[j * nx + i][0];
                *here = before + short_way(*here - before, Coordinates::Degrees);
            }
        }
    }

    /// The direction of the grid at each corner.
    fn turns(&self, files: &[Open], u: &Component<'_>) -> Result<Vec<[f32; 2]>, ReadError> {
        let meaning = text_of(u.variable, "standard_name").unwrap_or_default();
        if meaning.starts_with("eastward") {
            return Ok(vec![[1.0, 0.0]; self.corners.len()]);
        }
        if let Some(angles) = self.at_centres(files, &["angle"])? {
            let known = |(i, j)| {
                let around = self.centres_around(i, j).map(|k| angles[k]);
                let (s, c) = around.iter().fold((0.0, 0.0), |(s, c), a| (s + a.sin(), c + a.cos()));
                let length = f64::hypot(s, c);
                [(c / length) as f32, (s / length) as f32]
            };
            return Ok(self.corner_indices().map(known).collect());
        }
        Ok(directions(&self.corners, self.size, self.coordinates))
    }

    /// Cells that are sea by a mask of the file.
    fn mask(&self, files: &[Open]) -> Result<Option<Vec<bool>>, ReadError> {
        let names = ["mask_rho", "tmaskutil", "tmask", "mask_t", "wet_c", "maskC", "hFacC"];
        let mask = self.at_centres(files, &names)?;
        Ok(mask.map(|m| m.iter().map(|&x| x > 0.5).collect()))
    }

    /// One layer of u and v at the corners, and the coast of its cells.
    fn layer(&self, u: &[f32], v: &[f32]) -> Layer {
        let [nx, ny] = self.size;
        // Faces of u: nx along i, one more than corners along j; of v the other way round.
        let at_u =
            |i: usize, j: usize| u[(self.first_u[1] + j) * self.of_u[0] + self.first_u[0] + i];
        let at_v =
            |i: usize, j: usize| v[(self.first_v[1] + j) * self.of_v[0] + self.first_v[0] + i];
        let centres = [nx + 1, ny + 1];
        let is_masked = |i: usize, j: usize| {
            let wide = self.of_v[0];
            let at = (self.first_centre[1] + j) * wide + self.first_centre[0] + i;
            self.sea.as_ref().is_some_and(|sea| !sea[at])
        };
        // A file that knows no missing values has zeros on land; one at rest has them everywhere.
        let zero_is_land = self.sea.is_none()
            && !u.iter().chain(v).any(|x| x.is_nan())
            && u.iter().chain(v).any(|x| *x != 0.0);
        let is_none = |x: f32| x.is_nan() || zero_is_land && x == 0.0;
        let closed_u =
            |i: usize, j: usize| is_none(at_u(i, j)) || is_masked(i, j) || is_masked(i + 1, j);
        let closed_v =
            |i: usize, j: usize| is_none(at_v(i, j)) || is_masked(i, j) || is_masked(i, j + 1);
        let is_sea = |i: usize, j: usize| {
            (i > 0 && !closed_u(i - 1, j))
                || (i < nx && !closed_u(i, j))
                || (j > 0 && !closed_v(i, j - 1))
                || (j < ny && !closed_v(i, j))
        };
        let sea: Vec<bool> = (0..centres[1])
            .flat_map(|j| (0..centres[0]).map(move |i| (i, j)))
            .map(|(i, j)| is_sea(i, j))
            .collect();
        let sea_at = |i: usize, j: usize| sea[j * centres[0] + i];
        let mut velocity = Vec::with_capacity(nx * ny);
        for (i, j) in self.corner_indices() {
            let cells = [sea_at(i, j), sea_at(i + 1, j), sea_at(i, j + 1), sea_at(i + 1, j + 1)];
            if cells == [false; 4] {
                velocity.push([f32::NAN; 2]);
                continue;
            }
            let face = |x: f32, closed: bool, [a, b]: [bool; 2]| match (a || b, closed) {
                (false, _) => Face::Land,
                (true, true) => Face::Wall,
                (true, false) => Face::Open(x),
            };
            let [sw, se, nw, ne] = cells;
            let along = [
                face(at_u(i, j), closed_u(i, j), [sw, se]),
                face(at_u(i, j + 1), closed_u(i, j + 1), [nw, ne]),
            ];
            let across = [
                face(at_v(i, j), closed_v(i, j), [sw, nw]),
                face(at_v(i + 1, j), closed_v(i + 1, j), [se, ne]),
            ];
            let [a, b] = [between(along), between(across)];
            let [cos, sin] = self.turn[j * nx + i];
            velocity.push([cos * a - sin * b, sin * a + cos * b]);
        }
        let coast = (0..ny - 1).flat_map(|j| (0..nx - 1).map(move |i| (i, j))).map(|(i, j)| {
            let walls = [
                (Coast::WEST, closed_u(i, j + 1)),
                (Coast::EAST, closed_u(i + 1, j + 1)),
                (Coast::SOUTH, closed_v(i + 1, j)),
                (Coast::NORTH, closed_v(i + 1, j + 1)),
                (Coast::LAND, !sea_at(i + 1, j + 1)),
            ];
            walls.iter().filter(|w| w.1).fold(0, |bits, w| bits | w.0)
        });
        Layer { velocity, coast: coast.collect() }
    }

    /// All layers of u and v at the corners: east, north, and the coast of the cells between layers.
    pub(super) fn velocities(&self, u: &[f32], v: &[f32]) -> ([Vec<f32>; 2], Coast) {
        let [of_u, of_v] = [self.of_u, self.of_v].map(|n| n[0] * n[1]);
        let layers: Vec<Layer> =
            u.chunks_exact(of_u).zip(v.chunks_exact(of_v)).map(|(u, v)| self.layer(u, v)).collect();
        let component =
            |c: usize| layers.iter().flat_map(|l| l.velocity.iter().map(move |v| v[c])).collect();
        let coast = match &layers[..] {
            [one] => one.coast.clone(),
            many => many
                .windows(2)
                .flat_map(|w| w[0].coast.iter().zip(&w[1].coast).map(|(a, b)| a & b))
                .collect(),
        };
        ([component(0), component(1)], Coast::new(coast))
    }

    /// Values of cell centres at the corners: the mean of those that are known.
    pub(super) fn centres_at_corners(&self, values: &[f32]) -> Vec<f32> {
        let [nx, ny] = self.centre_size();
        let mut result = Vec::new();
        for layer in values.chunks_exact(nx * ny) {
            for (i, j) in self.corner_indices() {
                let around = self.centres_around(i, j);
                let sea = |k: &usize| self.sea.as_ref().is_none_or(|sea| sea[*k]);
                let known = around.iter().filter(|k| sea(k)).map(|&k| layer[k]);
                let (sum, n) = known
                    .filter(|x| !x.is_nan())
                    .fold((0.0_f32, 0.0_f32), |(s, n), x| (s + x, n + 1.0));
                result.push(sum / n);
            }
        }
        result
    }

    /// The depth of the sea at the corners.
    pub(super) fn depths(&self, files: &[Open], name: &str) -> Result<Option<Vec<f64>>, ReadError> {
        let Some(depths) = self.at_centres(files, &[name])? else { return Ok(None) };
        let single: Vec<f32> = depths.iter().map(|&h| h as f32).collect();
        let all = |(i, j)| self.centres_around(i, j).iter().map(|&k| depths[k]).sum::<f64>() / 4.0;
        // On land the mean of the cells around, sea or not: corners there have a place, too.
        let known =
            self.centres_at_corners(&single).into_iter().zip(self.corner_indices().map(all));
        Ok(Some(known.map(|(sea, all)| if sea.is_nan() { all } else { f64::from(sea) }).collect()))
    }
}

struct Layer {
    velocity: Vec<[f32; 2]>,
    coast: Vec<u8>,
}

/// A face at a corner.
#[derive(Clone, Copy)]
enum Face {
    Open(f32),
    /// Between sea and land.
    Wall,
    /// Between land and land: the flow does not know of it.
    Land,
}

/// What two faces say of a corner between them.
fn between(faces: [Face; 2]) -> f32 {
    match faces {
        [Face::Wall, _] | [_, Face::Wall] | [Face::Land, Face::Land] => 0.0,
        [Face::Open(a), Face::Open(b)] => 0.5 * (a + b),
        [Face::Open(a), Face::Land] | [Face::Land, Face::Open(a)] => a,
    }
}

/// The mean of four places, the short way round.
fn mean_of(places: [[f64; 2]; 4], coordinates: Coordinates) -> [f64; 2] {
    let from = places[0];
    let x = places.iter().map(|p| short_way(p[0] - from[0], coordinates)).sum::<f64>();
    [from[0] + x / 4.0, places.iter().map(|p| p[1]).sum::<f64>() / 4.0]
}

/// Cosine and sine of the angle from east to the direction of i.
pub(super) fn directions(
    points: &[[f64; 2]],
    [nx, ny]: [usize; 2],
    coordinates: Coordinates,
) -> Vec<[f32; 2]> {
    let one = |(i, j): (usize, usize)| {
        let [a, b] = [i.saturating_sub(1), (i + 1).min(nx - 1)].map(|i| points[j * nx + i]);
        let narrow = match coordinates {
            Coordinates::Degrees => points[j * nx + i][1].to_radians().cos(),
            Coordinates::Metres => 1.0,
        };
        let (x, y) = (short_way(b[0] - a[0], coordinates) * narrow, b[1] - a[1]);
        let length = f64::hypot(x, y);
        if length > 0.0 { [(x / length) as f32, (y / length) as f32] } else { [1.0, 0.0] }
    };
    (0..ny).flat_map(|j| (0..nx).map(move |i| (i, j))).map(one).collect()
}

//! Velocity on curvilinear grids: trilinear in the cells of a lattice, found by walking in index space.
//!
//! # Method
//!
//! Within a cell the place is `X(ξ) = Σ wᵢ(ξ) pᵢ` with the trilinear weights of ξ ∈ [0, 1]³. Newton's steps
//! `ξ ← ξ + X'(ξ)⁻¹ (x − X(ξ))` find the ξ of a place; where ξ leaves the cell the walk goes on in the neighbour it
//! points to. A tracer starts in the cell where it was found last. Where the walk does not arrive, the cells
//! that touch the place's bin are tried. Values are mixed by the same weights; what is not valid takes no part.
//!
//! A [`Coast`] says which cells are land and which faces nothing crosses. In a cell with such a wall the velocity is
//! taken as `ξ' = X'(ξᵢ)⁻¹ vᵢ` at each corner, with the component across the wall zero at the wall's corners,
//! interpolated as such, and brought back by `v = X'(ξ) ξ'`: what drifts along a wall stays on its side, however the grid
//! is bent. On the sphere X counts degrees, so that x of a velocity is divided by the cosine of the latitude before and
//! multiplied by it after. Walls are upright, and the third component is interpolated as it is: layers that slope towards
//! a wall must not lift what it stops.
//!
//! # Limits
//!
//! - A lattice one point thick is a sheet, along the two axes in which it has the largest extent; the third
//!   coordinate is not looked at (`a_sheet_is_a_slab`).
//! - Points that are not finite (land in ocean models) have no cells.

use std::sync::Arc;

use glam::{DMat3, DVec3};

use super::EARTH_RADIUS;
use super::advect::LEAST_FLUID;
use super::bins::{Bins, Box3};
use super::searched::{Search, mixed};
use super::unstructured::MeshError;
use crate::dataset::{Coast, Coordinates, Grid};

/// Newton's steps before a walk is given up.
const MOST_STEPS: usize = 40;

/// Steps shorter than this share of a cell have arrived.
const ARRIVED: f64 = 1e-7;

/// So far outside a cell is still inside: Newton's answer is as exact as its last step.
const TOLERANCE: f64 = 1e-6;

/// A lattice of points, ready for tracers.
#[derive(Clone, Debug)]
pub struct Lattice {
    dims: [usize; 3],
    points: Vec<DVec3>,
    coast: Option<Arc<Coast>>,
    coordinates: Coordinates,
    bins: Bins,
    /// Of a sheet: the axis of the lattice that has one point, and the direction that is not looked at.
    flat: Option<(usize, usize)>,
}

/// A place in a cell: its lowest corner, and ξ.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    cell: [usize; 3],
    at: [f64; 3],
}

impl Lattice {
    /// Takes the points of a curvilinear grid.
    ///
    /// # Errors
    ///
    /// [`MeshError`] if it is of another kind, or a line.
    pub fn new(grid: &Grid) -> Result<Self, MeshError> {
        let Grid::Curvilinear { dims, points } = grid else {
            return Err(MeshError::Kind { kind: grid.name() });
        };
        let thin: Vec<usize> = (0..3).filter(|&a| dims[a] < 2).collect();
        let flat = match thin[..] {
            [] => None,
            [axis] => {
                let (low, high) = grid.bounds().ok_or(MeshError::Empty)?;
                let size = (high - low).to_array();
                let least = (0..3).rev().min_by(|&a, &b| size[a].total_cmp(&size[b]));
                Some((axis, least.unwrap_or(2)))
            }
            _ => return Err(MeshError::Empty),
        };
        let mut points = points.clone();
        if let Some((_, direction)) = flat {
            points.iter_mut().for_each(|p| p[direction] = 0.0);
        }
        let mut lattice = Self {
            dims: *dims,
            points,
            coast: None,
            coordinates: Coordinates::Metres,
            bins: Bins::new(&[]),
            flat,
        };
        let boxes: Vec<Box3> = (0..lattice.cell_count()).map(|c| lattice.box_of(c)).collect();
        lattice.bins = Bins::new(&boxes);
        Ok(lattice)
    }

    /// The same with a coast, if it is one of this grid, and with what the coordinates are.
    #[must_use]
    pub fn with_coast(mut self, coast: Option<Arc<Coast>>, coordinates: Coordinates) -> Self {
        self.coast = coast.filter(|coast| coast.len() == self.cell_count());
        self.coordinates = coordinates;
        self
    }

    /// Walls and land of a cell.
    #[inline]
    fn coast_of(&self, cell: [usize; 3]) -> u8 {
        self.coast.as_ref().map_or(0, |coast| coast.bits(self.index(cell) as usize))
    }

    /// Metres a degree of longitude is shorter by than one of latitude.
    #[inline]
    fn narrow(&self, y: f64) -> f64 {
        match self.coordinates {
            Coordinates::Degrees => libm::cos(y.to_radians()).max(1e-6),
            Coordinates::Metres => 1.0,
        }
    }

    /// `X'` at a corner of a cell: the edges that meet there.
    fn edges_at(&self, points: &[DVec3; 8], corner: usize) -> DMat3 {
        let mut edges = [1, 2, 4].map(|bit| points[corner | bit] - points[corner & !bit]);
        if let Some((axis, direction)) = self.flat {
            edges[axis] = DVec3::AXES[direction];
        }
        DMat3::from_cols(edges[0], edges[1], edges[2])
    }

    fn cells(&self) -> [usize; 3] {
        self.dims.map(|n| n.saturating_sub(1).max(1))
    }

    fn cell_count(&self) -> usize {
        self.cells().iter().product()
    }

    fn cell(&self, index: usize) -> [usize; 3] {
        let n = self.cells();
        [index % n[0], index / n[0] % n[1], index / (n[0] * n[1])]
    }

    fn index(&self, cell: [usize; 3]) -> u32 {
        let n = self.cells();
        ((cell[2] * n[1] + cell[1]) * n[0] + cell[0]) as u32
    }

    /// The eight corners of a cell, x fastest; in a sheet some are the same.
    #[inline]
    fn corners(&self, cell: [usize; 3]) -> [usize; 8] {
        let n = self.dims;
        let step = [
            usize::from(n[0] > 1),
            if n[1] > 1 { n[0] } else { 0 },
            if n[2] > 1 { n[0] * n[1] } else { 0 },
        ];
        let first = (cell[2] * n[1] + cell[1]) * n[0] + cell[0];
        [0, 1, 2, 3, 4, 5, 6, 7]
            .map(|c| first + (c & 1) * step[0] + (c >> 1 & 1) * step[1] + (c >> 2) * step[2])
    }

    fn box_of(&self, cell: usize) -> Box3 {
        let corners = self.corners(self.cell(cell)).map(|c| self.points[c]);
        if !corners.iter().all(|p| p.is_finite()) {
            return [[f64::NAN; 3]; 2];
        }
        let low = corners.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let high = corners.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
        [low.to_array(), high.to_array()]
    }

    /// `X(ξ)` and the columns of `X'(ξ)`.
    #[inline]
    fn place(&self, spot: &Spot) -> (DVec3, [DVec3; 3]) {
        let p = self.corners(spot.cell).map(|c| self.points[c]);
        let [r, s, t] = spot.at;
        let x = [0, 2, 4, 6].map(|c| p[c] + r * (p[c + 1] - p[c]));
        let dx = [0, 2, 4, 6].map(|c| p[c + 1] - p[c]);
        let y = [0, 2].map(|c| x[c] + s * (x[c + 1] - x[c]));
        let dxy = [0, 2].map(|c| dx[c] + s * (dx[c + 1] - dx[c]));
        let dy = [x[1] - x[0], x[3] - x[2]];
        let found = y[0] + t * (y[1] - y[0]);
        let along = [dxy[0] + t * (dxy[1] - dxy[0]), dy[0] + t * (dy[1] - dy[0]), y[1] - y[0]];
        (found, along)
    }

    /// Walks from a spot to a place.
    fn walk(&self, x: DVec3, mut spot: Spot) -> Option<Spot> {
        let n = self.cells();
        for _ in 0..MOST_STEPS {
            let (found, mut along) = self.place(&spot);
            if let Some((axis, direction)) = self.flat {
                along[axis] = DVec3::AXES[direction];
            }
            let matrix = DMat3::from_cols(along[0], along[1], along[2]);
            let volume = matrix.determinant();
            // Also when a corner is not finite.
            if volume == 0.0 || !volume.is_finite() {
                return None;
            }
            let step = (matrix.inverse() * (x - found)).to_array();
            let mut moved = false;
            for a in 0..3 {
                if self.flat.is_some_and(|(axis, _)| axis == a) {
                    continue;
                }
                spot.at[a] += step[a];
                if !spot.at[a].is_finite() {
                    return None;
                }
                if (-TOLERANCE..=1.0 + TOLERANCE).contains(&spot.at[a]) {
                    continue;
                }
                // On in the cell that ξ points to; far ahead the map is another one.
                let ahead = spot.at[a].floor().clamp(-16.0, 16.0);
                let to = (spot.cell[a] as f64 + ahead).clamp(0.0, (n[a] - 1) as f64);
                let shift = to - spot.cell[a] as f64;
                spot.cell[a] = to as usize;
                moved |= shift != 0.0;
                // Not too far beyond the edge, where trilinear maps fold.
                spot.at[a] = (spot.at[a] - shift).clamp(-1.0, 2.0);
            }
            if !moved && step.iter().all(|s| s.abs() < ARRIVED) {
                let inside = |a: &f64| (-TOLERANCE..=1.0 + TOLERANCE).contains(a);
                return spot.at.iter().all(inside).then_some(spot);
            }
        }
        None
    }

    /// The spot of a place, from the cell where it was last.
    fn find(&self, x: &[f64; 4], hint: u32) -> Option<Spot> {
        let mut place = DVec3::new(x[0], x[1], x[2]);
        if let Some((_, direction)) = self.flat {
            place[direction] = 0.0;
        }
        if !place.is_finite() {
            return None;
        }
        let centre =
            [0, 1, 2].map(|a| if self.flat.is_some_and(|(axis, _)| axis == a) { 0.0 } else { 0.5 });
        let from = |cell: u32| Spot { cell: self.cell(cell as usize), at: centre };
        let near = hint.min(self.cell_count() as u32 - 1);
        self.walk(place, from(near)).or_else(|| {
            // A walk that finds nothing is long: only from cells around whose corners the place may be.
            let holds = |cell: &&u32| {
                let [low, high] = self.box_of(**cell as usize);
                (0..3).all(|a| {
                    let slack = 1e-3 * (high[a] - low[a]);
                    place[a] >= low[a] - slack && place[a] <= high[a] + slack
                })
            };
            let near = self.bins.at(place.to_array()).iter().filter(holds);
            near.copied().find_map(|cell| self.walk(place, from(cell)))
        })
    }
}

/// Cells crossed in a unit of time in the middle of a cell, by the fastest of its corners.
fn rate_in(lattice: &Lattice, nodes: &[[f32; 8]], cell: usize) -> f64 {
    let at =
        [0, 1, 2].map(|a| if lattice.flat.is_some_and(|(axis, _)| axis == a) { 0.0 } else { 0.5 });
    let spot = Spot { cell: lattice.cell(cell), at };
    let (middle, mut along) = lattice.place(&spot);
    if let Some((axis, direction)) = lattice.flat {
        along[axis] = DVec3::AXES[direction];
    }
    let matrix = DMat3::from_cols(along[0], along[1], along[2]);
    if matrix.determinant().abs() < f64::MIN_POSITIVE {
        return 0.0;
    }
    let inverse = matrix.inverse();
    // On the sphere velocities are in metres; heights are in metres anyhow.
    let scale = match lattice.coordinates {
        Coordinates::Metres => DVec3::ONE,
        Coordinates::Degrees => {
            let degree = (180.0 / std::f64::consts::PI) / EARTH_RADIUS;
            DVec3::new(degree / lattice.narrow(middle.y), degree, 1.0)
        }
    };
    let corners = lattice.corners(spot.cell);
    let velocities = corners.iter().flat_map(|&c| {
        let v = &nodes[c];
        [[v[0], v[1], v[2]], [v[4], v[5], v[6]]]
    });
    let crossed = velocities.map(|v| {
        let v = scale * DVec3::from_array(v.map(f64::from));
        let mut crossed = (inverse * v).abs().to_array();
        if let Some((axis, _)) = lattice.flat {
            crossed[axis] = 0.0;
        }
        crossed.iter().fold(0.0_f64, |m, &c| m.max(c))
    });
    crossed.fold(0.0, f64::max)
}

impl Search for Lattice {
    type Found = Spot;

    fn points(&self) -> usize {
        self.points.len()
    }

    fn rate(&self, nodes: &[[f32; 8]]) -> f64 {
        let rates = (0..self.cell_count()).map(|cell| rate_in(self, nodes, cell));
        rates.filter(|r| r.is_finite()).fold(0.0, f64::max)
    }

    fn search(&self, x: &[f64; 4], hint: u32) -> Option<(u32, Spot)> {
        self.find(x, hint).map(|spot| (self.index(spot.cell), spot))
    }

    fn value(&self, nodes: &[[f32; 8]], spot: &Spot, share: f32) -> [f64; 4] {
        match self.coast_of(spot.cell) {
            0 => {}
            bits if bits & Coast::LAND != 0 => return [0.0; 4],
            bits => return self.along_walls(nodes, spot, share, bits),
        }
        let [r, u, t] = spot.at.map(|x| x as f32);
        let weighed = self.corners(spot.cell).into_iter().enumerate().map(|(k, corner)| {
            let side = |bit: usize, x: f32| if k >> bit & 1 == 1 { x } else { 1.0 - x };
            (corner, side(0, r) * side(1, u) * side(2, t))
        });
        mixed(weighed, nodes, share)
    }
}

impl Lattice {
    /// In a cell with walls: interpolated in the coordinates of the cell, so that nothing crosses them.
    fn along_walls(&self, nodes: &[[f32; 8]], spot: &Spot, s: f32, bits: u8) -> [f64; 4] {
        let corners = self.corners(spot.cell);
        let points = corners.map(|c| self.points[c]);
        let (mut rates, mut upward, mut fluid) = (DVec3::ZERO, 0.0, 0.0);
        for (k, corner) in corners.into_iter().enumerate() {
            let side = |bit: usize| {
                let x = spot.at[bit];
                if k >> bit & 1 == 1 { x } else { 1.0 - x }
            };
            let value = &nodes[corner];
            let v = [0, 1, 2, 3].map(|c| f64::from(value[c] + s * (value[c + 4] - value[c])));
            let weight = side(0) * side(1) * side(2);
            let edges = self.edges_at(&points, k);
            if v[3] <= 0.0 || edges.determinant().abs() < f64::MIN_POSITIVE {
                continue;
            }
            let narrow = self.narrow(points[k].y);
            let mut rate = edges.inverse() * DVec3::new(v[0] / narrow, v[1], v[2]);
            let wall = |low: u8, high: u8, bit: usize| {
                bits & if k >> bit & 1 == 1 { high } else { low } != 0
            };
            if wall(Coast::WEST, Coast::EAST, 0) {
                rate.x = 0.0;
            }
            if wall(Coast::SOUTH, Coast::NORTH, 1) {
                rate.y = 0.0;
            }
            rates += weight * rate;
            upward += weight * v[2];
            fluid += weight * v[3];
        }
        let (place, mut along) = self.place(spot);
        if let Some((axis, direction)) = self.flat {
            along[axis] = DVec3::AXES[direction];
        }
        let v = along[0] * rates.x + along[1] * rates.y + along[2] * rates.z;
        // Walls are upright: what they stop rises no more than it did, though layers may slope.
        let whole = 1.0 / if fluid > LEAST_FLUID { fluid } else { 1.0 };
        [v.x * self.narrow(place.y) * whole, v.y * whole, upward * whole, fluid]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::advect::samples;
    use crate::flow::searched::{Pair, SearchSampler};

    /// A quarter of a ring, higher towards its end.
    fn ring(dims: [usize; 3]) -> Grid {
        let point = |i: usize| {
            let k = [i % dims[0], i / dims[0] % dims[1], i / (dims[0] * dims[1])];
            let [r, s, t] = [0, 1, 2].map(|a| k[a] as f64 / (dims[a].max(2) - 1) as f64);
            let (sin, cos) = libm::sincos(1.5 * s);
            DVec3::new(
                (1.0 + r) * cos,
                (1.0 + r) * sin,
                t + if dims[2] > 1 { 0.2 * s } else { 0.0 },
            )
        };
        Grid::Curvilinear { dims, points: (0..dims.iter().product()).map(point).collect() }
    }

    fn linear(x: DVec3, t: f64) -> [f64; 3] {
        [1.0 + x.x - 2.0 * x.y + t, 0.5 * x.z - t * x.x, x.y + 3.0 * t]
    }

    fn pair_on(grid: &Grid) -> Pair<Lattice> {
        let lattice = Arc::new(Lattice::new(grid).unwrap());
        let level = |t: f64| -> Vec<[f32; 4]> {
            let value = |i| linear(grid.point(i), t);
            (0..grid.point_count())
                .map(value)
                .map(|[u, v, w]| [u as f32, v as f32, w as f32, 1.0])
                .collect()
        };
        let (a, b) = (level(0.0), level(2.0));
        Pair::new(&lattice, [&a, &b], [0.0, 2.0]).unwrap()
    }

    #[test]
    fn places_are_found_anywhere_and_linear_fields_are_exact() {
        let grid = ring([9, 13, 7]);
        let pair = pair_on(&grid);
        let mut state = 5_u64;
        let mut cells = [0; 4];
        for _ in 0..500 {
            let places = [(); 4].map(|()| {
                let u = [(); 3].map(|()| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 11) as f64 / (1_u64 << 53) as f64
                });
                let (sin, cos) = libm::sincos(1.5 * (0.02 + 0.96 * u[1]));
                let r = 1.02 + 0.96 * u[0];
                [r * cos, r * sin, 0.2 + 0.8 * u[2]]
            });
            let found = samples(&SearchSampler::new(&pair), &places, 0.5, &mut cells);
            for (v, x) in found.iter().zip(&places) {
                let expected = linear(DVec3::new(x[0], x[1], x[2]), 0.5);
                let error = (0..3).map(|c| (v[c] - expected[c]).abs()).fold(0.0, f64::max);
                assert!(error < 1e-5 && (v[3] - 1.0).abs() < 1e-5, "{x:?}: {v:?} {expected:?}");
            }
        }
        let beyond = [[0.5, 0.5, 0.5], [3.0, 0.0, 0.5], [1.5, 0.1, 9.0], [f64::NAN; 3]];
        let found = samples(&SearchSampler::new(&pair), &beyond, 0.5, &mut [40; 4]);
        assert_eq!(found, [[0.0; 4]; 4]);
    }

    #[test]
    fn a_sheet_is_a_slab() {
        let grid = ring([9, 13, 1]);
        let pair = pair_on(&grid);
        let places = [[1.5, 0.2, 0.0], [1.0, 1.0, 7.0], [0.3, 1.3, -3.0], [0.1, 0.1, 0.0]];
        let found = samples(&SearchSampler::new(&pair), &places, 1.0, &mut [0; 4]);
        for (v, x) in found[..3].iter().zip(&places) {
            let expected = linear(DVec3::new(x[0], x[1], 0.0), 1.0);
            assert!((v[0] - expected[0]).abs() < 1e-5, "{v:?} {expected:?}");
        }
        assert_eq!(found[3], [0.0; 4]);
        assert!(pair.rate() > 0.0, "something moves");
    }

    #[test]
    fn land_is_outside_and_hides_nothing_else() {
        let Grid::Curvilinear { dims, mut points } = ring([9, 13, 1]) else { panic!("a lattice") };
        points[4 + 9 * 6] = DVec3::NAN;
        let grid = Grid::Curvilinear { dims, points };
        let lattice = Lattice::new(&grid).unwrap();
        assert!(lattice.find(&[1.9, 0.1, 0.0, 1.0], 50).is_some(), "round the hole");
        let (sin, cos) = libm::sincos(0.75);
        assert!(lattice.find(&[1.5 * cos, 1.5 * sin, 0.0, 1.0], 50).is_none(), "in the hole");
    }
}

//! The body-centred cubic lattice: the corners and the middles of cubes.

use glam::{DVec3, Vec3};

use super::Error;
use crate::mesh::measure::Bounds;

/// Points a lattice may have: a byte each while signs are found.
const MOST: u64 = 1 << 26;

/// Where the lattice begins relative to the box it is laid around, in edges of its cubes: faces and edges that are
/// parallel to the axes, as models have them, then miss its lines.
const SHIFT: [f64; 3] = [0.13, 0.29, 0.41];

/// Cubes of edge `h` around a box.
///
/// Coordinates count halves of an edge: all even at the corners of cubes, all odd in their middles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lattice {
    origin: [f64; 3],
    pub(super) h: f64,
    /// Cubes along each axis.
    cubes: [usize; 3],
}

impl Lattice {
    /// The lattice around a box, with at least `margin` whole cubes on each side.
    pub(super) fn around(bounds: &Bounds, h: f64, margin: usize) -> Result<Self, Error> {
        let (min, size) = (bounds.min.as_dvec3(), bounds.max.as_dvec3() - bounds.min.as_dvec3());
        let mut lattice = Self { origin: [0.0; 3], h, cubes: [0; 3] };
        let mut points = 2.0_f64;
        for axis in 0..3 {
            lattice.origin[axis] = min[axis] - (margin as f64 + 1.0 - SHIFT[axis]) * h;
            let cubes = (size[axis] / h).ceil() + 2.0 * margin as f64 + 2.0;
            points *= cubes + 1.0;
            lattice.cubes[axis] = cubes.min(1e9) as usize;
        }
        if points <= MOST as f64 {
            Ok(lattice)
        } else {
            Err(Error::TooMany { points: points as u64, limit: MOST })
        }
    }

    /// Corners, if `odd` is zero, or middles along each axis.
    pub(super) fn counts(&self, odd: usize) -> [usize; 3] {
        self.cubes.map(|n| n + 1 - odd)
    }

    /// How many points there are.
    pub(super) fn len(&self) -> usize {
        self.corners() + self.counts(1).iter().product::<usize>()
    }

    fn corners(&self) -> usize {
        self.counts(0).iter().product()
    }

    /// The number of corner or middle `[i, j, k]`.
    pub(super) fn index(&self, odd: usize, [i, j, k]: [usize; 3]) -> usize {
        let [nx, ny, _] = self.counts(odd);
        odd * self.corners() + (k * ny + j) * nx + i
    }

    /// One coordinate of the corners or middles that are number `i` along an axis.
    pub(super) fn coordinate(&self, axis: usize, odd: usize, i: usize) -> f32 {
        (self.origin[axis] + self.h * (i as f64 + 0.5 * odd as f64)) as f32
    }

    /// Where corner or middle `[i, j, k]` is.
    pub(super) fn position(&self, odd: usize, at: [usize; 3]) -> Vec3 {
        let [x, y, z] = [0, 1, 2].map(|axis| self.coordinate(axis, odd, at[axis]));
        Vec3::new(x, y, z)
    }

    /// Whether a point is the middle of a cube, and where it is among its kind.
    fn at(&self, point: u32) -> (usize, [usize; 3]) {
        let odd = usize::from(self.is_middle(point));
        let [nx, ny, _] = self.counts(odd);
        let i = point as usize - odd * self.corners();
        (odd, [i % nx, i / nx % ny, i / (nx * ny)])
    }

    /// Whether a point is the middle of a cube.
    pub(super) fn is_middle(&self, point: u32) -> bool {
        point as usize >= self.corners()
    }

    /// Where the point of a number is.
    pub(super) fn place(&self, point: u32) -> DVec3 {
        let (odd, at) = self.at(point);
        self.position(odd, at).as_dvec3()
    }

    /// The points at the other ends of a point's six long and eight short edges.
    pub(super) fn neighbours(&self, point: u32) -> [Option<u32>; 14] {
        let (odd, at) = self.at(point);
        let number = |odd: usize, at: [Option<usize>; 3]| {
            let counts = self.counts(odd);
            let [i, j, k] = [0, 1, 2].map(|axis| at[axis].filter(|&c| c < counts[axis]));
            Some(self.index(odd, [i?, j?, k?]) as u32)
        };
        let mut found = [None; 14];
        for axis in 0..3 {
            let mut along = at.map(Some);
            along[axis] = at[axis].checked_sub(1);
            found[2 * axis] = number(odd, along);
            along[axis] = Some(at[axis] + 1);
            found[2 * axis + 1] = number(odd, along);
        }
        for corner in 0..8 {
            // The middle of a cube is half an edge before the corner of the next number.
            let step = |axis: usize| (at[axis] + odd + (corner >> axis & 1)).checked_sub(1);
            found[6 + corner] = number(1 - odd, [0, 1, 2].map(step));
        }
        found
    }

    /// The points no farther than `reach` from a place along each axis.
    pub(super) fn near(&self, place: DVec3, reach: f64) -> Vec<u32> {
        let mut found = Vec::new();
        for odd in 0..2 {
            let counts = self.counts(odd);
            let ranges = [0, 1, 2].map(|axis| {
                let middle = (place[axis] - self.origin[axis]) / self.h - 0.5 * odd as f64;
                let (from, to) =
                    ((middle - reach / self.h).ceil(), (middle + reach / self.h).floor());
                from.max(0.0) as usize..((to + 1.0).max(0.0) as usize).min(counts[axis])
            });
            for k in ranges[2].clone() {
                for j in ranges[1].clone() {
                    let row = ranges[0].clone().map(|i| self.index(odd, [i, j, k]) as u32);
                    found.extend(row);
                }
            }
        }
        found
    }
}

//! The body-centred cubic lattice: the corners and the middles of cubes.

use glam::Vec3;

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
}

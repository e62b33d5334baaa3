//! The nearest of many points, by a grid.

use std::collections::BTreeMap;

use glam::Vec3;

use crate::lengths::Lengths as _;
use crate::mesh::measure::Bounds;

/// Points in the cells of a grid.
pub(super) struct Nearest<'a> {
    points: &'a [Vec3],
    bounds: Bounds,
    cell: f32,
    cells: BTreeMap<[i32; 3], Vec<u32>>,
}

impl<'a> Nearest<'a> {
    /// `None` if there are no points.
    pub(super) fn new(points: &'a [Vec3]) -> Option<Self> {
        let bounds = Bounds::of(points)?;
        // About one point a cell if they lie on a surface.
        let cell = bounds.diagonal() / (points.len() as f32).sqrt();
        let cell = cell.max(1e-6 * bounds.diagonal()).max(f32::MIN_POSITIVE);
        let mut grid = Self { points, bounds, cell, cells: BTreeMap::new() };
        for (i, &p) in points.iter().enumerate() {
            grid.cells.entry(grid.cell_of(p)).or_default().push(i as u32);
        }
        Some(grid)
    }

    fn cell_of(&self, p: Vec3) -> [i32; 3] {
        ((p - self.bounds.min) / self.cell).floor().to_array().map(|v| v as i32)
    }

    /// Index of the point nearest to `x`; the first one if several are.
    pub(super) fn find(&self, x: Vec3) -> usize {
        // What is nearest to x is no nearer to it than to the point of the box nearest to x.
        let [cx, cy, cz] = self.cell_of(x.clamp(self.bounds.min, self.bounds.max));
        let rings = (self.bounds.diagonal() / self.cell) as i32 + 2;
        let (mut best, mut found) = (f32::INFINITY, u32::MAX);
        for ring in 0..=rings {
            if best <= (ring - 1).max(0) as f32 * self.cell {
                break;
            }
            let keys = shell(ring).map(|[a, b, c]| [cx + a, cy + b, cz + c]);
            for &i in keys.filter_map(|key| self.cells.get(&key)).flatten() {
                let d = self.points[i as usize].distance_to(x);
                if d < best || (d <= best && i < found) {
                    (best, found) = (d, i);
                }
            }
        }
        found as usize
    }
}

/// Cells at a distance of `ring` cells.
fn shell(ring: i32) -> impl Iterator<Item = [i32; 3]> {
    let side = -ring..=ring;
    side.clone().flat_map(move |a| {
        let side = side.clone();
        side.clone().flat_map(move |b| {
            let step = if a.abs() == ring || b.abs() == ring { 1 } else { (2 * ring).max(1) };
            (-ring..=ring).step_by(step as usize).map(move |c| [a, b, c])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_plain_search_finds() {
        let at = |i: usize| {
            let t = i as f32 * 0.618_034;
            Vec3::new((3.1 * t).sin(), (4.7 * t).sin(), 0.1 * (5.9 * t).sin())
        };
        let points: Vec<Vec3> = (0..500).map(at).collect();
        let grid = Nearest::new(&points).unwrap();
        for k in 0..200 {
            let x = 2.0 * at(k * 7 + 3) + Vec3::new(0.0, 0.0, 0.3);
            let plain = (0..500)
                .min_by(|&a, &b| points[a].distance(x).total_cmp(&points[b].distance(x)))
                .unwrap();
            let found = grid.find(x);
            assert_eq!(points[found].distance(x), points[plain].distance(x), "{x}");
        }
    }
}

//! Overlapping discs that cover a surface, of a size that depends on the width of the fade and not on the
//! triangles: what is averaged over them is the same on a finer mesh.

use std::ops::{AddAssign, Mul};

use glam::Vec3;

use super::table::{Share, Table};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::mesh::geodesic::dijkstra;

/// Radius of a disc as a share of the width of the fade.
const REACH: f32 = 0.125;

/// Discs a thread works on at a time.
const TASK: usize = 8;

/// The discs, and how much each vertex belongs to each: its shares add up to one.
pub(super) struct Discs {
    /// The vertices of each disc.
    members: Table,
    /// The discs of each vertex.
    vertices: Table,
}

impl Discs {
    /// For the first `moving` vertices of a surface with a fade of some width.
    pub(super) fn new(
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        moving: usize,
        width: f32,
    ) -> Self {
        let radius = REACH * width;
        let discs = dijkstra::cover(positions, triangles, radius);
        let mut entries = Vec::with_capacity(discs.iter().map(Vec::len).sum());
        for (number, disc) in (0..).zip(&discs) {
            for &(v, distance) in disc.iter().filter(|(v, _)| (*v as usize) < moving) {
                let inside = (1.0 - (distance / radius).powi(2)).max(0.0);
                // The centre counts even if the disc has no size.
                let weight = if distance > 0.0 { inside * inside } else { 1.0 };
                entries.push((v, Share { of: number, weight }));
            }
        }
        let mut vertices = Table::sorted(moving, entries.iter().copied());
        for v in 0..moving {
            let row = vertices.row_mut(v);
            let all: f32 = row.iter().map(|share| share.weight).sum();
            row.iter_mut().for_each(|share| share.weight /= all);
        }
        Self { members: vertices.transposed(discs.len()), vertices }
    }

    /// The sum over each disc of its vertices' shares.
    pub(super) fn sums<T>(&self, of: impl Fn(usize) -> T + Sync, run: &Run<'_>) -> Vec<T>
    where
        T: Copy + Default + Mul<f32, Output = T> + AddAssign + Send,
    {
        let mut sums = vec![T::default(); self.members.len()];
        run.for_each_piece(&mut sums, TASK, |start, sums| {
            for (d, of_disc) in (start..).zip(sums) {
                let mut sum = T::default();
                for share in self.members.row(d) {
                    sum += of(share.of as usize) * share.weight;
                }
                *of_disc = sum;
            }
        });
        sums
    }

    /// The mean over the discs of a vertex.
    #[inline(always)]
    pub(super) fn mean<T>(&self, vertex: usize, of: &[T]) -> T
    where
        T: Copy + Default + Mul<f32, Output = T> + AddAssign,
    {
        self.vertices.sum(vertex, of)
    }
}

/// How long it takes s to go from 0 to 1, on average over the area.
pub(super) fn fade_width(positions: &[Vec3], values: &[f32], triangles: &[[u32; 3]]) -> f32 {
    let (mut area, mut change) = (0.0_f64, 0.0_f64);
    for corners in triangles.iter().map(|t| t.map(|i| i as usize)) {
        let [a, b, c] = corners.map(|i| positions[i]);
        let [u, v, w] = corners.map(|i| values[i]);
        if u.min(v).min(w) < 1.0 && u.max(v).max(w) > 0.0 {
            // The area times the gradient, turned by a right angle within the triangle.
            let turned = 0.5 * (u * (c - b) + v * (a - c) + w * (b - a));
            area += 0.5 * f64::from((b - a).cross(c - a).norm());
            change += f64::from(turned.norm());
        }
    }
    if change > 0.0 { (area / change) as f32 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zoo;

    fn bar() -> (crate::TriMesh, Vec<f32>) {
        let size = zoo::Size { triangles: Some(3000) };
        let mesh = zoo::build("bar", &size, &Run::default()).unwrap().meshes.swap_remove(0);
        let values = mesh.positions.iter().map(|p| 0.5 + 0.1 * p.x).collect();
        (mesh, values)
    }

    #[test]
    fn the_width_of_a_linear_fade_is_its_length() {
        let (mesh, values) = bar();
        let width = fade_width(&mesh.positions, &values, &mesh.triangles);
        // The two ends, across which s does not change, count as well.
        assert!((10.0..12.0).contains(&width), "{width}");
    }

    #[test]
    fn the_shares_of_a_vertex_add_up_to_one() {
        let (mesh, values) = bar();
        let n = mesh.positions.len();
        let width = fade_width(&mesh.positions, &values, &mesh.triangles);
        let discs = Discs::new(&mesh.positions, &mesh.triangles, n, width);
        let sums = discs.sums(|_| 1.0_f32, &Run::default());
        assert!(sums.len() > 4 && sums.len() < n / 10, "{} discs", sums.len());
        assert!((sums.iter().sum::<f32>() - n as f32).abs() < 1e-3 * n as f32, "nothing is lost");
        let ones = vec![1.0_f32; sums.len()];
        for v in 0..n {
            assert!((discs.mean(v, &ones) - 1.0).abs() < 1e-5, "{v}");
        }
    }
}

//! Cutting polygons into triangles.
//!
//! # Method
//!
//! A convex polygon becomes a fan around its first corner. Any other one is projected along its
//! Newell normal and loses one ear at a time: a convex corner whose triangle holds no other corner.
//!
//! # Limits
//!
//! A polygon that crosses itself, has no area, or would need more than [`EFFORT`] tests a corner
//! becomes a fan; every triangulation keeps the boundary, so a closed surface stays closed.
//!
//! # References
//!
//! - G. H. Meisters. Polygons Have Ears. American Mathematical Monthly, 1975.

use glam::{DVec2, DVec3, Vec3};

/// Corner-in-triangle tests a corner of a polygon may cost.
const EFFORT: usize = 2000;

/// Cuts polygons; keeps its buffers from one to the next.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    points: Vec<DVec2>,
    ring: Vec<u32>,
    triangles: Vec<[u32; 3]>,
    /// How many polygons were not cut by ears although they are not convex.
    pub(super) fans: usize,
}

impl Cutter {
    /// The triangles of a polygon, as indices into `corners`. Corners that are no vertices are
    /// allowed: such a polygon becomes a fan.
    pub(super) fn cut(&mut self, positions: &[Vec3], corners: &[u32]) -> &[[u32; 3]] {
        self.triangles.clear();
        let n = corners.len() as u32;
        if n == 3 || corners.iter().any(|&c| c as usize >= positions.len()) {
            self.fan(0..n);
            return &self.triangles;
        }
        self.project(positions, corners);
        if self.is_convex() {
            self.fan(0..n);
        } else {
            self.clip_ears();
        }
        &self.triangles
    }

    fn fan(&mut self, ring: impl IntoIterator<Item = u32>) {
        let mut ring = ring.into_iter();
        let (Some(first), Some(mut last)) = (ring.next(), ring.next()) else { return };
        for next in ring {
            self.triangles.push([first, last, next]);
            last = next;
        }
    }

    /// Fills `points` with the corners in the plane of the polygon, counter-clockwise.
    fn project(&mut self, positions: &[Vec3], corners: &[u32]) {
        let at = |k: usize| positions[corners[k % corners.len()] as usize].as_dvec3();
        let origin = at(0);
        let mut normal = DVec3::ZERO;
        for k in 1..corners.len() {
            normal += (at(k) - origin).cross(at(k + 1) - origin);
        }
        let size = normal.abs();
        self.points.clear();
        self.points.extend((0..corners.len()).map(|k| {
            let p = at(k) - origin;
            // Dropping the largest component of the normal keeps the shape; the order of the
            // other two keeps the orientation.
            let (u, v, up) = if size.x >= size.y && size.x >= size.z {
                (p.y, p.z, normal.x)
            } else if size.y >= size.z {
                (p.z, p.x, normal.y)
            } else {
                (p.x, p.y, normal.z)
            };
            if up >= 0.0 { DVec2::new(u, v) } else { DVec2::new(v, u) }
        }));
    }

    /// Turn at corner `b` from `a` to `c`: positive to the left.
    fn turn(&self, a: u32, b: u32, c: u32) -> f64 {
        let [a, b, c] = [a, b, c].map(|k| self.points[k as usize]);
        (b - a).perp_dot(c - b)
    }

    /// True if every turn is to the left; a spiral is not simple and may pass, as a fan.
    fn is_convex(&self) -> bool {
        let n = self.points.len() as u32;
        (0..n).all(|k| self.turn(k, (k + 1) % n, (k + 2) % n) >= 0.0)
    }

    fn clip_ears(&mut self) {
        let n = self.points.len();
        self.ring.clear();
        self.ring.extend(0..n as u32);
        let mut effort = EFFORT * n;
        let mut at = 0;
        let mut refused = 0;
        while self.ring.len() > 3 {
            let len = self.ring.len();
            let corner =
                [self.ring[(at + len - 1) % len], self.ring[at], self.ring[(at + 1) % len]];
            // A whole round without an ear: take corners on a straight line, too.
            let least = if refused < len { f64::MIN_POSITIVE } else { 0.0 };
            effort = effort.saturating_sub(len);
            if self.turn(corner[0], corner[1], corner[2]) >= least && self.is_empty(corner) {
                self.triangles.push(corner);
                self.ring.remove(at);
                refused = 0;
                at = if at == 0 { 0 } else { at - 1 };
            } else {
                refused += 1;
                at += 1;
            }
            at %= self.ring.len();
            if refused > 2 * len || effort == 0 {
                self.fans += 1;
                break;
            }
        }
        let ring = std::mem::take(&mut self.ring);
        self.fan(ring.iter().copied());
        self.ring = ring;
    }

    /// True if no other corner of the ring lies in the triangle, save on its corners.
    fn is_empty(&self, corner: [u32; 3]) -> bool {
        let [a, b, c] = corner.map(|k| self.points[k as usize]);
        !self.ring.iter().any(|&k| {
            let p = self.points[k as usize];
            let inside = (b - a).perp_dot(p - a) >= 0.0
                && (c - b).perp_dot(p - b) >= 0.0
                && (a - c).perp_dot(p - c) >= 0.0;
            inside && p != a && p != b && p != c
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Signed area of each triangle of a polygon in the plane z = 0, and their sum.
    fn areas(outline: &[[f32; 2]]) -> (Vec<f64>, f64) {
        let positions: Vec<Vec3> = outline.iter().map(|p| Vec3::new(p[0], p[1], 0.0)).collect();
        let corners: Vec<u32> = (0..outline.len() as u32).collect();
        let mut cutter = Cutter::default();
        let triangles = cutter.cut(&positions, &corners).to_vec();
        assert_eq!(triangles.len(), outline.len() - 2, "n - 2 triangles");
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|k| positions[k as usize].as_dvec3());
            0.5 * (b - a).cross(c - a).z
        };
        let list: Vec<f64> = triangles.iter().map(area).collect();
        let sum = list.iter().sum();
        (list, sum)
    }

    #[test]
    fn a_concave_polygon_is_covered_without_overlap() {
        let arrow = [[0.0, 0.0], [2.0, -1.0], [1.0, 0.0], [2.0, 1.0]];
        let comb = [
            [0.0, 0.0],
            [5.0, 0.0],
            [5.0, 3.0],
            [4.0, 3.0],
            [4.0, 1.0],
            [3.0, 1.0],
            [3.0, 3.0],
            [2.0, 3.0],
            [2.0, 1.0],
            [1.0, 1.0],
            [1.0, 3.0],
            [0.0, 3.0],
        ];
        for (outline, area) in [(&arrow[..], 1.0), (&comb[..], 11.0)] {
            let (list, sum) = areas(outline);
            assert!(list.iter().all(|&a| a > 0.0), "every triangle turns left: {list:?}");
            assert!((sum - area).abs() < 1e-12, "area {sum}");
        }
    }

    #[test]
    fn a_clockwise_polygon_keeps_its_side() {
        let (list, sum) = areas(&[[0.0, 0.0], [2.0, 1.0], [1.0, 0.0], [2.0, -1.0]]);
        assert!(list.iter().all(|&a| a < 0.0), "{list:?}");
        assert!((sum + 1.0).abs() < 1e-12, "{sum}");
    }

    #[test]
    fn a_long_polygon_ends_in_bounded_time() {
        let zigzag: Vec<[f32; 2]> = (0..20_000)
            .map(|k| [k as f32, if k % 2 == 0 { 0.0 } else { 1.0 + (k % 7) as f32 }])
            .collect();
        let _ = areas(&zigzag);
    }

    #[test]
    fn a_polygon_without_area_still_gives_triangles() {
        let _ = areas(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.5, 0.0]]);
        let _ = areas(&[[1.0, 1.0]; 6]);
    }
}

//! A closed triangle mesh that edges can be collapsed and flipped in.

use glam::DVec3;

/// A closed manifold mesh under change: positions, triangles, and the triangles around each vertex.
#[derive(Clone, Debug)]
pub(super) struct Fabric {
    pub(super) positions: Vec<DVec3>,
    /// Dead triangles have equal corners.
    pub(super) triangles: Vec<[u32; 3]>,
    around: Vec<Vec<u32>>,
    alive: usize,
}

/// What a triangle that has been collapsed away holds.
const DEAD: [u32; 3] = [u32::MAX; 3];

impl Fabric {
    pub(super) fn new(positions: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Self {
        let mut around = vec![Vec::with_capacity(6); positions.len()];
        for (t, corners) in triangles.iter().enumerate() {
            for &v in corners {
                around[v as usize].push(t as u32);
            }
        }
        let alive = triangles.len();
        Self { positions, triangles, around, alive }
    }

    /// How many triangles are left.
    pub(super) fn triangle_count(&self) -> usize {
        self.alive
    }

    /// The triangles around a vertex, in no order.
    pub(super) fn around(&self, v: u32) -> &[u32] {
        &self.around[v as usize]
    }

    /// The corners of a triangle.
    pub(super) fn corners(&self, t: u32) -> [u32; 3] {
        self.triangles[t as usize]
    }

    /// The positions of a triangle's corners.
    pub(super) fn points(&self, t: u32) -> [DVec3; 3] {
        self.corners(t).map(|v| self.positions[v as usize])
    }

    /// The neighbours of a vertex of a closed mesh, each once.
    pub(super) fn neighbours(&self, v: u32) -> impl Iterator<Item = u32> + '_ {
        self.around(v).iter().map(move |&t| self.after(t, v))
    }

    /// The corner of `t` that follows `v`.
    fn after(&self, t: u32, v: u32) -> u32 {
        let [a, b, c] = self.corners(t);
        if a == v {
            b
        } else if b == v {
            c
        } else {
            a
        }
    }

    /// The triangle with the directed edge `a → b`.
    pub(super) fn triangle_of(&self, a: u32, b: u32) -> Option<u32> {
        self.around(a).iter().copied().find(|&t| self.after(t, a) == b)
    }

    /// The corner opposite the directed edge `a → b` of its triangle.
    pub(super) fn opposite(&self, a: u32, b: u32) -> Option<u32> {
        let t = self.triangle_of(a, b)?;
        self.corners(t).into_iter().find(|&v| v != a && v != b)
    }

    /// True if the collapse of the edge keeps the mesh a manifold: its ends have exactly the two
    /// opposite corners as common neighbours, and neither of those has only three triangles.
    pub(super) fn may_collapse(&self, a: u32, b: u32) -> bool {
        let (Some(c), Some(d)) = (self.opposite(a, b), self.opposite(b, a)) else {
            return false;
        };
        let common = self.neighbours(a).filter(|&n| self.neighbours(b).any(|m| m == n)).count();
        common == 2 && self.around(c).len() > 3 && self.around(d).len() > 3
    }

    /// Merges `b` into `a`; two triangles go.
    pub(super) fn collapse(&mut self, a: u32, b: u32) {
        let moved = std::mem::take(&mut self.around[b as usize]);
        for t in moved {
            let corners = self.corners(t);
            if corners.contains(&a) {
                for v in corners.into_iter().filter(|&v| v != b) {
                    self.around[v as usize].retain(|&s| s != t);
                }
                self.triangles[t as usize] = DEAD;
                self.alive -= 1;
            } else {
                self.triangles[t as usize] = corners.map(|v| if v == b { a } else { v });
                self.around[a as usize].push(t);
            }
        }
    }

    /// Turns the edge `a b` of two triangles into the edge `c d` of their opposite corners.
    pub(super) fn flip(&mut self, [a, b]: [u32; 2], [c, d]: [u32; 2]) {
        let (Some(left), Some(right)) = (self.triangle_of(a, b), self.triangle_of(b, a)) else {
            return;
        };
        self.triangles[left as usize] = [c, a, d];
        self.triangles[right as usize] = [d, b, c];
        self.around[a as usize].retain(|&t| t != right);
        self.around[b as usize].retain(|&t| t != left);
        self.around[c as usize].push(right);
        self.around[d as usize].push(left);
    }

    /// Positions and triangles without the dead.
    pub(super) fn into_mesh(self) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let mut number = vec![u32::MAX; self.positions.len()];
        let mut positions = Vec::with_capacity(self.alive / 2 + 2);
        for (v, around) in self.around.iter().enumerate() {
            if !around.is_empty() {
                number[v] = positions.len() as u32;
                positions.push(self.positions[v]);
            }
        }
        let live = self.triangles.into_iter().filter(|&t| t != DEAD);
        (positions, live.map(|t| t.map(|v| number[v as usize])).collect())
    }
}

/// Twice the area times the unit normal.
pub(super) fn area_normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a)
}

/// How good a triangle is: 1 if equilateral, 0 if degenerate.
pub(super) fn quality([a, b, c]: [DVec3; 3]) -> f64 {
    let edges = (b - a).length_squared() + (c - b).length_squared() + (a - c).length_squared();
    let twice_area = area_normal([a, b, c]).length();
    if edges > 0.0 { 2.0 * 1.732_050_807_568_877_2 * twice_area / edges } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn octahedron() -> Fabric {
        let p = [DVec3::X, DVec3::Y, -DVec3::X, -DVec3::Y, DVec3::Z, -DVec3::Z].to_vec();
        let mut t = Vec::new();
        for i in 0..4_u32 {
            t.push([i, (i + 1) % 4, 4]);
            t.push([(i + 1) % 4, i, 5]);
        }
        Fabric::new(p, t)
    }

    #[test]
    fn a_collapse_takes_two_triangles_and_a_vertex() {
        let mut fabric = octahedron();
        assert!(fabric.may_collapse(0, 1), "an octahedron's edge may go");
        fabric.collapse(0, 1);
        let (positions, triangles) = fabric.into_mesh();
        assert_eq!((positions.len(), triangles.len()), (5, 6));
    }

    #[test]
    fn a_tetrahedron_cannot_be_collapsed() {
        let p = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let fabric = Fabric::new(p, vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]);
        assert!(!fabric.may_collapse(0, 1), "nothing closed would be left");
    }

    #[test]
    fn a_flip_keeps_volume_sign_and_counts() {
        let mut fabric = octahedron();
        let (c, d) = (fabric.opposite(0, 1).unwrap(), fabric.opposite(1, 0).unwrap());
        fabric.flip([0, 1], [c, d]);
        assert_eq!(fabric.opposite(c, d).map(|v| v < 2), Some(true));
        assert_eq!(fabric.around(0).len() + fabric.around(1).len(), 6);
        assert_eq!(fabric.around(4).len() + fabric.around(5).len(), 10);
    }

    #[test]
    fn an_equilateral_triangle_has_quality_one() {
        let h = 0.75_f64.sqrt();
        let q = quality([DVec3::ZERO, DVec3::X, DVec3::new(0.5, h, 0.0)]);
        assert!((q - 1.0).abs() < 1e-12, "{q}");
    }
}

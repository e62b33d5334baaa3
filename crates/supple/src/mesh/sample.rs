//! Shapes and random numbers for the tests of this folder.

use glam::Vec3;

use super::TetMesh;

/// Positions and triangles.
pub(crate) type Soup = (Vec<Vec3>, Vec<[u32; 3]>);

/// Repeatable random numbers (`SplitMix64`).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A whole number below `n`.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        (self.bits() % u64::from(n)) as u32
    }

    /// A number in −1..1.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// A point in the cube of side two about the origin.
    pub(crate) fn point(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit())
    }
}

/// A closed, outward, bumpy sphere of about `4 n²` triangles.
pub(crate) fn bumpy_sphere(n: u32) -> Soup {
    let bumpy = |p: Vec3| p * (1.0 + 0.2 * (5.0 * p.x).sin() * (4.0 * p.y).cos());
    let (mut points, mut triangles) = (vec![bumpy(Vec3::Z), bumpy(-Vec3::Z)], vec![]);
    let m = 2 * n;
    for i in 1..n {
        let (s, c) = (std::f32::consts::PI * i as f32 / n as f32).sin_cos();
        for j in 0..m {
            let (y, x) = (std::f32::consts::TAU * j as f32 / m as f32).sin_cos();
            points.push(bumpy(Vec3::new(s * x, s * y, c)));
        }
    }
    let at = |i: u32, j: u32| 2 + (i - 1) * m + j % m;
    for j in 0..m {
        triangles.push([0, at(1, j), at(1, j + 1)]);
        triangles.push([1, at(n - 1, j + 1), at(n - 1, j)]);
        for i in 1..n - 1 {
            triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    (points, triangles)
}

/// Triangles at random, with corners of their own.
pub(crate) fn soup(triangles: u32, size: f32, random: &mut Random) -> Soup {
    let mut points = Vec::new();
    for _ in 0..triangles {
        let at = random.point();
        points.extend([0; 3].map(|_| at + size * random.point()));
    }
    (points, (0..triangles).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect())
}

/// A cube of five tets, the middle one regular.
pub(crate) fn cube_of_tets() -> TetMesh {
    let corner = |i: u32| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32);
    let tets = vec![[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]];
    let mut cube = TetMesh::new((0..8).map(corner).collect(), tets);
    cube.orient();
    cube
}

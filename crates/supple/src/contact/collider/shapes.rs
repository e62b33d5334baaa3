//! Meshes of the simple colliders, to be drawn.

use glam::Vec3;

use crate::mesh::TriMesh;

/// Segments round a sphere or capsule.
const ROUND: u32 = 32;
/// Capsules of a ring: they leave its circle by 1.2e-3 of the radius.
const AROUND: u32 = 32;
/// Half the edge of the square that stands for a plane.
const PLANE_HALF: f32 = 20.0;

/// A capsule along y; a sphere if `half` is zero.
pub(super) fn capsule(radius: f32, half: f32) -> TriMesh {
    let rows = ROUND / 2;
    let mut positions = vec![(radius + half) * Vec3::Y];
    for row in 1..rows {
        let polar = std::f32::consts::PI * row as f32 / rows as f32;
        // The equator belongs to both halves of a capsule.
        let copies: &[f32] = match (2 * row).cmp(&rows) {
            std::cmp::Ordering::Less => &[1.0],
            std::cmp::Ordering::Equal if half > 0.0 => &[1.0, -1.0],
            std::cmp::Ordering::Equal | std::cmp::Ordering::Greater => &[-1.0],
        };
        for side in copies {
            for k in 0..ROUND {
                let turn = std::f32::consts::TAU * k as f32 / ROUND as f32;
                let around = Vec3::new(turn.sin(), 0.0, turn.cos());
                let y = radius * polar.cos() + side * half;
                positions.push(radius * polar.sin() * around + y * Vec3::Y);
            }
        }
    }
    positions.push(-(radius + half) * Vec3::Y);
    let rings = (positions.len() as u32 - 2) / ROUND;
    let last = positions.len() as u32 - 1;
    let at = |ring: u32, k: u32| 1 + ring * ROUND + k % ROUND;
    let mut triangles = Vec::new();
    for k in 0..ROUND {
        triangles.push([0, at(0, k), at(0, k + 1)]);
        triangles.push([last, at(rings - 1, k + 1), at(rings - 1, k)]);
        for ring in 0..rings - 1 {
            let [a, b, c, d] = [at(ring, k), at(ring, k + 1), at(ring + 1, k), at(ring + 1, k + 1)];
            triangles.extend([[a, c, d], [a, d, b]]);
        }
    }
    TriMesh::new(positions, triangles)
}

/// The corners of a polygon about y that is as far outside a circle as inside.
pub(super) fn circle(radius: f32) -> Vec<Vec3> {
    let half = std::f32::consts::PI / AROUND as f32;
    let corner = 2.0 * radius / (1.0 + half.cos());
    let at = |k: u32| {
        let (sin, cos) = (2.0 * half * k as f32).sin_cos();
        corner * Vec3::new(sin, 0.0, cos)
    };
    (0..AROUND).map(at).collect()
}

/// A tube around a closed row of corners about y.
pub(super) fn ring(corners: &[Vec3], thickness: f32) -> TriMesh {
    let across = |x: &Vec3| {
        let (x, outward) = (*x, x.normalize_or_zero());
        (0..ROUND).map(move |k| {
            let (sin, cos) = (std::f32::consts::TAU * k as f32 / ROUND as f32).sin_cos();
            x + thickness * (cos * outward + sin * Vec3::Y)
        })
    };
    let count = corners.len() as u32;
    let at = |i: u32, k: u32| (i % count) * ROUND + k % ROUND;
    let quad = |i: u32, k: u32| [at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1)];
    let quads = (0..count).flat_map(|i| (0..ROUND).map(move |k| (i, k)));
    let halves = |q: [u32; 4]| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]];
    let triangles = quads.flat_map(|(i, k)| halves(quad(i, k))).collect();
    TriMesh::new(corners.iter().flat_map(across).collect(), triangles)
}

/// A box.
pub(super) fn cuboid(half: Vec3) -> TriMesh {
    let sign = |i: u32, bit: u32| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
    let corner = |i: u32| half * Vec3::new(sign(i, 0), sign(i, 1), sign(i, 2));
    let quads =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let halves = |q: [u32; 4]| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]];
    TriMesh::new((0..8).map(corner).collect(), quads.into_iter().flat_map(halves).collect())
}

/// A square in the plane y = 0, facing up.
pub(super) fn plane() -> TriMesh {
    let corner = |x: f32, z: f32| PLANE_HALF * Vec3::new(x, 0.0, z);
    let corners = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    TriMesh::new(corners, vec![[0, 2, 1], [0, 3, 2]])
}

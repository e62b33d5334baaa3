//! Shapes whose volume and vertices the sculpt tests know.

use std::collections::BTreeMap;

use glam::Vec3;

/// Positions and triangles.
pub(crate) struct Shape {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
}

/// The unit sphere with `10·4^level + 2` vertices.
pub(crate) fn sphere(level: u32) -> Shape {
    let g = 0.5 * (1.0 + 5.0_f32.sqrt());
    let mut positions: Vec<Vec3> = Vec::new();
    for (a, b) in [(1.0, g), (-1.0, g), (1.0, -g), (-1.0, -g)] {
        positions.push(Vec3::new(0.0, a, b));
        positions.push(Vec3::new(a, b, 0.0));
        positions.push(Vec3::new(b, 0.0, a));
    }
    let mut triangles = hull(&positions);
    for p in &mut positions {
        *p = p.normalize_or_zero();
    }
    for _ in 0..level {
        triangles = split(&mut positions, &triangles);
    }
    Shape { positions, triangles }
}

/// The twenty faces of the icosahedron: triples of vertices at edge length 2.
fn hull(p: &[Vec3]) -> Vec<[u32; 3]> {
    let near = |a: usize, b: usize| (p[a].distance(p[b]) - 2.0).abs() < 0.01;
    let triples = (0..12 * 12 * 12).map(|k| [k / 144, k / 12 % 12, k % 12]);
    let faces = triples.filter(|&[a, b, c]| {
        // The smallest index first, then counter-clockwise seen from outside.
        let outward = (p[b] - p[a]).cross(p[c] - p[a]).dot(p[a]) > 0.0;
        a < b && a < c && outward && near(a, b) && near(b, c) && near(a, c)
    });
    faces.map(|face| face.map(|i| i as u32)).collect()
}

fn split(positions: &mut Vec<Vec3>, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut middles = BTreeMap::new();
    let mut middle = |a: u32, b: u32| {
        *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
            let between = positions[a as usize] + positions[b as usize];
            positions.push(between.normalize_or_zero());
            positions.len() as u32 - 1
        })
    };
    let mut finer = Vec::with_capacity(4 * triangles.len());
    for &[a, b, c] in triangles {
        let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
        finer.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
    }
    finer
}

/// A closed box from `−size/2` to `size/2` whose faces are grids of `cells` cells along each axis.
pub(crate) fn bar(size: Vec3, cells: [u32; 3]) -> Shape {
    let mut index = BTreeMap::new();
    let mut positions = Vec::new();
    let mut vertex = |at: [u32; 3]| {
        *index.entry(at).or_insert_with(|| {
            let t = |k: usize| at[k] as f32 / cells[k] as f32 - 0.5;
            positions.push(size * Vec3::new(t(0), t(1), t(2)));
            positions.len() as u32 - 1
        })
    };
    let mut triangles = Vec::new();
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for cell in 0..cells[u] * cells[v] {
            let mut corner = |side: u32, di: u32, dj: u32| {
                let mut at = [0; 3];
                (at[axis], at[u], at[v]) = (side, cell / cells[v] + di, cell % cells[v] + dj);
                vertex(at)
            };
            let [a, b, c, d] = [(0, 0), (0, 1), (1, 1), (1, 0)].map(|(i, j)| corner(0, i, j));
            triangles.extend([[a, b, c], [a, c, d]]);
            let far = cells[axis];
            let [a, b, c, d] = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(i, j)| corner(far, i, j));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    Shape { positions, triangles }
}

//! Shapes whose volume and vertices the sculpt tests know.

use std::collections::BTreeMap;

use glam::Vec3;

/// Positions and triangles.
pub struct Shape {
    pub positions: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
}

/// The unit sphere with `10·4^level + 2` vertices.
pub fn sphere(level: u32) -> Shape {
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
    let mut faces = Vec::new();
    let near = |a: usize, b: usize| (p[a].distance(p[b]) - 2.0).abs() < 0.01;
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b) && near(b, c) && near(a, c) {
                    let outward = (p[b] - p[a]).cross(p[c] - p[a]).dot(p[a]) > 0.0;
                    let (b, c) = if outward { (b, c) } else { (c, b) };
                    faces.push([a as u32, b as u32, c as u32]);
                }
            }
        }
    }
    faces
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
pub fn bar(size: Vec3, cells: [u32; 3]) -> Shape {
    let mut index = BTreeMap::new();
    let mut shape = Shape { positions: Vec::new(), triangles: Vec::new() };
    for axis in 0..3 {
        for side in [0, cells[axis]] {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for i in 0..cells[u] {
                for j in 0..cells[v] {
                    let mut corner = |di: u32, dj: u32| {
                        let mut at = [0; 3];
                        (at[axis], at[u], at[v]) = (side, i + di, j + dj);
                        *index.entry(at).or_insert_with(|| {
                            let t = |k: usize| at[k] as f32 / cells[k] as f32 - 0.5;
                            shape.positions.push(size * Vec3::new(t(0), t(1), t(2)));
                            shape.positions.len() as u32 - 1
                        })
                    };
                    let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                    if side > 0 {
                        shape.triangles.extend([[a, b, c], [a, c, d]]);
                    } else {
                        shape.triangles.extend([[a, c, b], [a, d, c]]);
                    }
                }
            }
        }
    }
    shape
}

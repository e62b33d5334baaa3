//! Simple shapes with regular meshes: ball, bar, box, capsule, comb, cylinder, fan, plane, rope,
//! torus.
//!
//! Their counts are those a regular grid can have; the nearest to the wanted one is taken.

use std::f64::consts::{PI, TAU};

use glam::{DVec3, Vec3};

use crate::mesh::attribute::NORMAL;
use crate::mesh::{TriMesh, Values};

/// The simple shape called `name`, if there is one.
pub(super) fn build(name: &str, triangles: usize) -> Option<TriMesh> {
    Some(match name {
        "ball" => ball(triangles),
        "bar" => bar(triangles),
        "box" => Blocks::cube(triangles).mesh(),
        "capsule" => capsule(triangles),
        "comb" => Blocks::comb(triangles).mesh(),
        "cylinder" => cylinder(triangles),
        "fan" => fan(triangles),
        "plane" => plane(triangles),
        "rope" => rope(triangles),
        "torus" => torus(triangles),
        _ => return None,
    })
}

/// The `n ≥ 1` whose `each n²` triangles come nearest to the wanted number.
fn divisions(wanted: usize, each: f64) -> usize {
    let wanted = wanted as f64;
    let n = (wanted / each).sqrt().floor().max(1.0);
    let off = |n: f64| (each * n * n - wanted).abs();
    (if off(n + 1.0) < off(n) { n + 1.0 } else { n }) as usize
}

/// A mesh with the given unit normals.
fn smooth(points: &[DVec3], triangles: Vec<[u32; 3]>, normal: impl Fn(DVec3) -> DVec3) -> TriMesh {
    let mut mesh = TriMesh::new(points.iter().map(|p| p.as_vec3()).collect(), triangles);
    let normals = points.iter().map(|&p| normal(p).normalize_or_zero().as_vec3()).collect();
    mesh.attributes.set(NORMAL, Values::Vec3(normals));
    mesh
}

/// An icosahedron whose faces are divided into `20 n²` triangles, pushed onto the unit sphere.
fn ball(wanted: usize) -> TriMesh {
    let n = divisions(wanted, 20.0);
    let (corners, faces) = icosahedron();
    let mut points = corners.clone();
    // Vertices inside each of the 30 edges, from its lower to its higher corner.
    let mut edge_start = [[u32::MAX; 12]; 12];
    for face in &faces {
        for k in 0..3 {
            let (a, b) = (face[k].min(face[(k + 1) % 3]), face[k].max(face[(k + 1) % 3]));
            if edge_start[a][b] == u32::MAX {
                edge_start[a][b] = points.len() as u32;
                let along = |i: usize| corners[a].lerp(corners[b], i as f64 / n as f64);
                points.extend((1..n).map(along));
            }
        }
    }
    let on_edge = |a: usize, b: usize, i: usize| match i {
        0 => a as u32,
        i if i == n => b as u32,
        i if a < b => edge_start[a][b] + i as u32 - 1,
        i => edge_start[b][a] + (n - i) as u32 - 1,
    };
    let mut triangles = Vec::with_capacity(20 * n * n);
    for &[a, b, c] in &faces {
        let inside = points.len() as u32;
        for i in 2..n {
            let (left, right) = (i as f64 / n as f64, (n - i) as f64 / n as f64);
            for j in 1..i {
                let across = (corners[c] - corners[b]) * (j as f64 / n as f64);
                points.push(corners[a] * right + corners[b] * left + across);
            }
        }
        // Row i runs from edge ab to edge ac; row 0 is the corner a, row n the edge bc.
        let at = |i: usize, j: usize| {
            if i == n {
                on_edge(b, c, j)
            } else if j == 0 {
                on_edge(a, b, i)
            } else if j == i {
                on_edge(a, c, i)
            } else {
                inside + ((i - 1) * (i - 2) / 2 + j - 1) as u32
            }
        };
        for i in 0..n {
            for j in 0..=i {
                triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
                if j < i {
                    triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
                }
            }
        }
    }
    for p in &mut points {
        *p = p.normalize_or_zero();
    }
    smooth(&points, triangles, |p| p)
}

fn icosahedron() -> (Vec<DVec3>, Vec<[usize; 3]>) {
    let g = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut corners = Vec::with_capacity(12);
    for (s, t) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
        corners.push(DVec3::new(0.0, s, t * g));
        corners.push(DVec3::new(s, t * g, 0.0));
        corners.push(DVec3::new(t * g, 0.0, s));
    }
    let near = |a: usize, b: usize| (corners[a] - corners[b]).length_squared() < 4.1;
    let pairs = (0..12).flat_map(|a| (a + 1..12).map(move |b| (a, b)));
    let triples = pairs.flat_map(|(a, b)| (b + 1..12).map(move |c| [a, b, c]));
    let faces = triples.filter(|&[a, b, c]| near(a, b) && near(b, c) && near(c, a));
    let faces = faces.map(|[a, b, c]| {
        let [p, q, r] = [a, b, c].map(|i| corners[i]);
        if (q - p).cross(r - p).dot(p) > 0.0 { [a, b, c] } else { [a, c, b] }
    });
    let faces = faces.collect();
    (corners, faces)
}

/// A surface of axis-aligned squares: the boundary of the filled cells of a grid.
struct Blocks {
    cells: [usize; 3],
    /// Edge length of a cell along each axis.
    cell: DVec3,
    filled: fn([usize; 3], usize) -> bool,
    /// Cells along the shape's smallest feature, passed to `filled`.
    fine: usize,
}

impl Blocks {
    fn cube(wanted: usize) -> Self {
        let n = divisions(wanted, 12.0);
        Self { cells: [n; 3], cell: DVec3::splat(2.0 / n as f64), filled: |_, _| true, fine: n }
    }

    /// Thirteen teeth, a quarter wide, a quarter apart, 1.25 long, under a back half as high.
    fn comb(wanted: usize) -> Self {
        let filled = |[x, y, _]: [usize; 3], n: usize| y >= 5 * n || (x / n).is_multiple_of(2);
        let with = |n: usize| Self {
            cells: [25 * n, 7 * n, 2 * n],
            cell: DVec3::splat(0.25 / n as f64),
            filled,
            fine: n,
        };
        // What the coarsest comb has, each division squares.
        let each = with(1).mesh().triangles.len() as f64;
        with(divisions(wanted, each))
    }

    fn is_filled(&self, at: [usize; 3], axis: usize, forward: bool) -> bool {
        let mut next = at;
        if forward {
            next[axis] += 1;
        } else if next[axis] == 0 {
            return false;
        } else {
            next[axis] -= 1;
        }
        next[axis] < self.cells[axis] && (self.filled)(next, self.fine)
    }

    fn mesh(&self) -> TriMesh {
        let [nx, ny, nz] = self.cells;
        let mut corner = Corners::new(self);
        let mut triangles = Vec::new();
        for k in 0..nx * ny * nz {
            let at = [k % nx, k / nx % ny, k / (nx * ny)];
            if (self.filled)(at, self.fine) {
                self.add_faces(at, &mut corner, &mut triangles);
            }
        }
        TriMesh::new(corner.points, triangles)
    }

    fn add_faces(&self, at: [usize; 3], corner: &mut Corners<'_>, triangles: &mut Vec<[u32; 3]>) {
        for axis in 0..3 {
            for forward in [false, true] {
                if self.is_filled(at, axis, forward) {
                    continue;
                }
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                let mut vertex = |du: usize, dv: usize| {
                    let mut c = at;
                    c[axis] += usize::from(forward);
                    c[u] += du;
                    c[v] += dv;
                    corner.vertex(c)
                };
                let [a, b, c, d] = [vertex(0, 0), vertex(1, 0), vertex(1, 1), vertex(0, 1)];
                // Diagonals alternate like a chessboard, so that no direction is preferred.
                let pair = if (at[u] + at[v]).is_multiple_of(2) {
                    [[a, b, c], [a, c, d]]
                } else {
                    [[a, b, d], [b, c, d]]
                };
                let outward = |t: [u32; 3]| if forward { t } else { [t[0], t[2], t[1]] };
                triangles.extend(pair.map(outward));
            }
        }
    }
}

/// The vertices of a [`Blocks`] surface, numbered as they are met.
struct Corners<'a> {
    blocks: &'a Blocks,
    numbers: Vec<u32>,
    points: Vec<Vec3>,
}

impl<'a> Corners<'a> {
    fn new(blocks: &'a Blocks) -> Self {
        let all = blocks.cells.iter().map(|n| n + 1).product();
        Self { blocks, numbers: vec![u32::MAX; all], points: Vec::new() }
    }

    fn vertex(&mut self, [x, y, z]: [usize; 3]) -> u32 {
        let [nx, ny, nz] = self.blocks.cells;
        let number = &mut self.numbers[(z * (ny + 1) + y) * (nx + 1) + x];
        if *number == u32::MAX {
            *number = self.points.len() as u32;
            let centered = |i: usize, n: usize| i as f64 - 0.5 * n as f64;
            let steps = DVec3::new(centered(x, nx), centered(y, ny), centered(z, nz));
            self.points.push((steps * self.blocks.cell).as_vec3());
        }
        *number
    }
}

/// A bar of square section, its length divided so that the count is near the wanted one.
fn bar(wanted: usize) -> TriMesh {
    let n = divisions(wanted, 52.0);
    let around = (8 * n) as f64;
    let along = ((wanted as f64 - (4 * n * n) as f64) / around).round().max(1.0) as usize;
    let cell = DVec3::new(6.0 / along as f64, 1.0 / n as f64, 1.0 / n as f64);
    Blocks { cells: [along, n, n], cell, filled: |_, _| true, fine: n }.mesh()
}

/// A paper fan, a third of a turn wide: a flat bar whose rows become rays and rise and fall in pleats.
fn fan(wanted: usize) -> TriMesh {
    const PLEATS: usize = 10;
    const INNER: f64 = 0.9;
    const OUTER: f64 = 1.8;
    const THICKNESS: f64 = 0.15;
    // Height of a pleat over the length of the ray.
    const RISE: f64 = 0.025;
    let with = |n: usize| Blocks {
        cells: [2 * PLEATS * n, 7 * n, n],
        cell: DVec3::new(1.0 / n as f64, (OUTER - INNER) / (7 * n) as f64, THICKNESS / n as f64),
        filled: |_, _| true,
        fine: n,
    };
    let each = with(1).mesh().triangles.len() as f64;
    let mut mesh = with(divisions(wanted, each)).mesh();
    for p in &mut mesh.positions {
        let [fold, ray, height] = p.as_dvec3().to_array();
        let fold = fold + PLEATS as f64;
        let (sin, cos) = circle_at((fold / (2 * PLEATS) as f64 - 0.5) / 3.0);
        let from_valley = (fold + 1.0).rem_euclid(2.0) - 1.0;
        let r = ray + 0.5 * (INNER + OUTER);
        let rise = RISE * r * (2.0 * from_valley.abs() - 1.0);
        *p = DVec3::new(r * sin, r * cos - 0.5 * (INNER + OUTER), height + rise).as_vec3();
    }
    mesh
}

/// A sheet in the plane `y = 0`, facing up.
fn plane(wanted: usize) -> TriMesh {
    let n = divisions(wanted, 2.0);
    let mut points = Vec::with_capacity((n + 1) * (n + 1));
    for i in 0..=n {
        for j in 0..=n {
            let at = |k: usize| (2.0 * k as f64 / n as f64 - 1.0) as f32;
            points.push(Vec3::new(at(j), 0.0, at(i)));
        }
    }
    let mut triangles = Vec::with_capacity(2 * n * n);
    for i in 0..n {
        for j in 0..n {
            let a = (i * (n + 1) + j) as u32;
            let (b, c, d) = (a + 1, a + n as u32 + 2, a + n as u32 + 1);
            if (i + j).is_multiple_of(2) {
                triangles.extend([[a, c, b], [a, d, c]]);
            } else {
                triangles.extend([[a, d, b], [b, d, c]]);
            }
        }
    }
    let mut mesh = TriMesh::new(points, triangles);
    let normals = vec![Vec3::Y; mesh.positions.len()];
    mesh.attributes.set(NORMAL, Values::Vec3(normals));
    mesh
}

/// A ring about the y axis, of triangles about as long as wide.
fn torus(wanted: usize) -> TriMesh {
    const THICKNESS: f64 = 0.35;
    let around = divisions(wanted, 2.0 * THICKNESS).max(3);
    let tube = ((wanted as f64 / (2 * around) as f64).round() as usize).max(3);
    let mut points = Vec::with_capacity(around * tube);
    for i in 0..around {
        let (s, c) = circle(i, around);
        for j in 0..tube {
            let (sin, cos) = circle(j, tube);
            let r = 1.0 + THICKNESS * cos;
            points.push(DVec3::new(r * c, THICKNESS * sin, r * s));
        }
    }
    let at = |i: usize, j: usize| ((i % around) * tube + j % tube) as u32;
    let mut triangles = Vec::with_capacity(2 * around * tube);
    for i in 0..around {
        for j in 0..tube {
            let [a, b, c, d] = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    smooth(&points, triangles, |p| p - DVec3::new(p.x, 0.0, p.z).normalize_or_zero())
}

/// Sine and cosine of `i / n` of a turn.
fn circle(i: usize, n: usize) -> (f64, f64) {
    let angle = TAU * i as f64 / n as f64;
    (libm::sin(angle), libm::cos(angle))
}

/// Sine and cosine of a share of a turn.
fn circle_at(share: f64) -> (f64, f64) {
    (libm::sin(TAU * share), libm::cos(TAU * share))
}

/// A closed cylinder about the y axis.
fn cylinder(wanted: usize) -> TriMesh {
    const RADIUS: f64 = 0.5;
    const HEIGHT: f64 = 2.0;
    // Rims of 6n segments of length π/6n, rows as high: 12 n² in the caps, 12 n m in the wall.
    let n = divisions(wanted, 12.0 + 12.0 * 6.0 * HEIGHT / (TAU * RADIUS));
    let rows = rows_between(wanted, n);
    let disc = |i: usize| (RADIUS * i as f64 / n as f64, 0.5 * HEIGHT);
    let (points, triangles) = Spindle { n, rows, half: 0.5 * HEIGHT, cap: &disc }.build();
    TriMesh::new(points.iter().map(|p| p.as_vec3()).collect(), triangles)
}

/// A cylinder about the y axis with half balls at its ends.
fn capsule(wanted: usize) -> TriMesh {
    let (points, triangles) = rounded(wanted, 0.5, 1.0);
    smooth(&points, triangles, |p| p - DVec3::Y * p.y.clamp(-1.0, 1.0))
}

/// A long thin capsule about the x axis.
fn rope(wanted: usize) -> TriMesh {
    const RADIUS: f64 = 0.15;
    const HALF: f64 = 6.0 - RADIUS;
    let (mut points, triangles) = rounded(wanted, RADIUS, HALF);
    points.iter_mut().for_each(|p| *p = DVec3::new(p.y, -p.x, p.z));
    smooth(&points, triangles, |p| p - DVec3::X * p.x.clamp(-HALF, HALF))
}

/// A cylinder about the y axis with half balls around `half` and `-half`.
fn rounded(wanted: usize, radius: f64, half: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let n = divisions(wanted, 12.0 + 12.0 * 6.0 * 2.0 * half / (TAU * radius));
    // Triangles at most twice as long as wide, even if there are more then.
    let least = (half * (6 * n) as f64 / (TAU * radius)).ceil() as usize;
    let rows = rows_between(wanted, n).max(least);
    let dome = |i: usize| {
        let angle = 0.5 * PI * i as f64 / n as f64;
        (radius * libm::sin(angle), half + radius * libm::cos(angle))
    };
    Spindle { n, rows, half, cap: &dome }.build()
}

/// Rows of the wall between two caps of `6 n²` triangles each.
fn rows_between(wanted: usize, n: usize) -> usize {
    let wall = wanted as f64 - (12 * n * n) as f64;
    (wall / (12 * n) as f64).round().max(1.0) as usize
}

/// A shape of revolution about y: two caps of hexagonal rings, ring `i` of `6 i` vertices, and a
/// wall between their rims.
struct Spindle<'a> {
    n: usize,
    rows: usize,
    half: f64,
    /// Radius and height of ring `i` of the upper cap.
    cap: &'a dyn Fn(usize) -> (f64, f64),
}

impl Spindle<'_> {
    fn build(&self) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let (n, rim) = (self.n, 6 * self.n);
        let (mut points, mut triangles) = (Vec::new(), Vec::new());
        self.add_cap(&mut points, &mut triangles, 1.0);
        let upper_rim = points.len() - rim;
        let mut above = upper_rim;
        let (radius, _) = (self.cap)(n);
        for row in 1..self.rows {
            let y = self.half * (1.0 - 2.0 * row as f64 / self.rows as f64);
            let here = points.len();
            points.extend(ring(radius, y, rim));
            wall(&mut triangles, above, here, rim);
            above = here;
        }
        self.add_cap(&mut points, &mut triangles, -1.0);
        let lower_rim = points.len() - rim;
        wall(&mut triangles, above, lower_rim, rim);
        (points, triangles)
    }

    fn add_cap(&self, points: &mut Vec<DVec3>, triangles: &mut Vec<[u32; 3]>, up: f64) {
        let first = points.len();
        points.push(DVec3::Y * (up * (self.cap)(0).1));
        for i in 1..=self.n {
            let (radius, y) = (self.cap)(i);
            points.extend(ring(radius, up * y, 6 * i));
        }
        let at = |i: usize, k: usize| {
            let start = if i == 0 { 0 } else { 1 + 3 * i * (i - 1) };
            (first + start + if i == 0 { 0 } else { k % (6 * i) }) as u32
        };
        let mut add = |a: u32, b: u32, c: u32| {
            triangles.push(if up > 0.0 { [a, b, c] } else { [a, c, b] });
        };
        for i in 0..self.n {
            // Each of the six sides: i + 1 triangles that point in, i that point out.
            for k in 0..6 * (i + 1) {
                let (side, k) = (k / (i + 1), k % (i + 1));
                let (inner, outer) = (side * i + k, side * (i + 1) + k);
                add(at(i, inner), at(i + 1, outer + 1), at(i + 1, outer));
                if k < i {
                    add(at(i, inner), at(i, inner + 1), at(i + 1, outer + 1));
                }
            }
        }
    }
}

fn ring(radius: f64, y: f64, count: usize) -> impl Iterator<Item = DVec3> {
    (0..count).map(move |k| {
        let (s, c) = circle(k, count);
        DVec3::new(radius * c, y, radius * s)
    })
}

fn wall(triangles: &mut Vec<[u32; 3]>, above: usize, below: usize, rim: usize) {
    for k in 0..rim {
        let next = (k + 1) % rim;
        let [a, b] = [above + k, above + next].map(|v| v as u32);
        let [c, d] = [below + k, below + next].map(|v| v as u32);
        triangles.extend([[a, b, d], [a, d, c]]);
    }
}

//! What the estimated velocities lack so that no volume is lost.
//!
//! # Method
//!
//! The velocity is the curl of `½β²(e∇f − f∇e)`, so the volume that flows through a triangle is the sum of
//! that potential's line integrals along its sides. They need β at the vertices but no gradient of it, and
//! over a closed surface they cancel: every side is passed once in each direction. The vertices of a
//! triangle with the area vector a sweep the volume `a·(v₁ + v₂ + v₃)/3`. What is missing to the integrals is
//! counted for those of its vertices that neither stay nor are carried rigidly, added up over overlapping discs,
//! and the vertices of each disc get a push along their normals that makes up for it. The push is smooth, and
//! none at the borders of the fade. So the volume of a closed mesh does not change at all, but for
//! the error of the steps in time.
//!
//! Along a side β is that of the linear s, and the integrals are exact for what is carried rigidly.

use glam::{Vec2, Vec3};

use super::disc::Discs;
use super::{Block, Mover, Shape, each, gathered, offset};
use crate::Run;
use crate::field::lanes::WIDTH;
use crate::mesh::adjacency::{edges, is_index_degenerate};

/// Sides of triangles.
struct Sides {
    from: [u32; WIDTH],
    to: [u32; WIDTH],
    /// β at the start, in the middle, at the end.
    beta: [[f32; WIDTH]; 3],
}

/// Triangles of which some corner is free.
struct Faces {
    corners: [[u32; WIDTH]; 3],
    sides: [[u32; WIDTH]; 3],
    /// Whether a side is passed from its start to its end (1) or back (−1).
    ways: [[f32; WIDTH]; 3],
    /// One over the number of free corners; zero in lanes that hold no triangle.
    share: [f32; WIDTH],
}

/// The triangles and sides that some free vertex belongs to.
pub(super) struct Flux {
    sides: Vec<Sides>,
    faces: Vec<Faces>,
    /// The faces around each vertex.
    around: Columns,
    /// How much of a push each vertex may take: none where it stays or is carried rigidly.
    window: Vec<[f32; WIDTH]>,
}

/// Lists of numbers for each vertex of a block, in columns padded to the same length.
struct Columns {
    rows: Vec<[u32; WIDTH]>,
    starts: Vec<usize>,
}

impl Columns {
    fn new(lists: &[Vec<u32>], none: u32) -> Self {
        let mut columns = Self { rows: Vec::new(), starts: Vec::new() };
        for block in lists.chunks(WIDTH) {
            columns.starts.push(columns.rows.len());
            let longest = block.iter().map(Vec::len).max().unwrap_or(0);
            for k in 0..longest {
                let row = |i: usize| block[i].get(k).copied().unwrap_or(none);
                columns.rows.push(std::array::from_fn(row));
            }
        }
        columns
    }

    /// The sum over the list of each vertex of a block.
    #[inline(always)]
    fn sum(&self, b: usize, of: &[f32]) -> [f32; WIDTH] {
        let end = self.starts.get(b + 1).copied().unwrap_or(self.rows.len());
        let mut sum = [0.0; WIDTH];
        for row in &self.rows[self.starts[b]..end] {
            for i in 0..WIDTH {
                sum[i] += of[row[i] as usize];
            }
        }
        sum
    }
}

impl Flux {
    /// For triangles of a surface's vertices, of which the first `moving` move, and s of each vertex.
    pub(super) fn new(
        triangles: &[[u32; 3]],
        moving: usize,
        values: &[f32],
        blend: fn(f32) -> (f32, f32),
    ) -> Self {
        let is_free = |v: u32| (v as usize) < moving && values[v as usize] > 0.0;
        let has_free = |t: &[u32; 3]| !is_index_degenerate(*t) && t.iter().any(|&v| is_free(v));
        let faces: Vec<[u32; 3]> = triangles.iter().copied().filter(has_free).collect();
        let sides = edges(values.len(), &faces);
        let padded = moving.next_multiple_of(WIDTH);
        let mut around = vec![Vec::new(); padded];
        for (f, corners) in (0..).zip(&faces) {
            for &v in corners.iter().filter(|v| is_free(**v)) {
                around[v as usize].push(f);
            }
        }
        let window = |v: usize| {
            let s = values.get(v).copied().filter(|_| v < moving).unwrap_or(0.0);
            4.0 * s * (1.0 - s)
        };
        let faces: Vec<Faces> =
            faces.chunks(WIDTH).map(|chunk| Faces::new(chunk, &sides, is_free)).collect();
        Self {
            // One beyond the last lacks nothing.
            around: Columns::new(&around, (faces.len() * WIDTH) as u32),
            window: (0..padded / WIDTH)
                .map(|b| std::array::from_fn(|i| window(b * WIDTH + i)))
                .collect(),
            sides: sides.chunks(WIDTH).map(|chunk| Sides::new(chunk, values, blend)).collect(),
            faces,
        }
    }

    /// How fast each vertex must move along its normal besides, from the positions and velocities.
    pub(super) fn pushes<M: Mover>(
        &self,
        discs: &Discs,
        [local, velocities]: [&[Vec3]; 2],
        shapes: &[Shape],
        posed: &M::Posed,
        run: &Run<'_>,
    ) -> Vec<Block> {
        let along = each(
            self.sides.len(),
            run,
            #[inline(always)]
            |s| self.sides[s].integral::<M>(local, posed),
        );
        let missing = each(
            self.faces.len(),
            run,
            #[inline(always)]
            |f| self.faces[f].missing(local, velocities, along.as_flattened()),
        );
        let volumes = each(
            self.window.len(),
            run,
            #[inline(always)]
            |b| self.volumes(b, missing.as_flattened(), &shapes[b]),
        );
        let speed = |v: Vec2| if v.y > f32::MIN_POSITIVE { v.x / v.y } else { 0.0 };
        let sums = discs.sums(volumes.as_flattened(), run);
        let speeds: Vec<f32> = sums.into_iter().map(speed).collect();
        each(
            self.window.len(),
            run,
            #[inline(always)]
            |b| {
                let mut push = Block::ZERO;
                for i in 0..WIDTH {
                    let speed = self.window[b][i] * discs.mean(b * WIDTH + i, &speeds);
                    push.set(i, speed * shapes[b].normal.get(i).normalize_or_zero());
                }
                push
            },
        )
    }

    /// What each vertex has to make up for, and what it sweeps with a push of one.
    #[inline(always)]
    fn volumes(&self, b: usize, missing: &[f32], shape: &Shape) -> [Vec2; WIDTH] {
        let sum = self.around.sum(b, missing);
        std::array::from_fn(
            #[inline(always)]
            |i| Vec2::new(sum[i], self.window[b][i] * shape.normal.get(i).length() / 6.0),
        )
    }
}

impl Sides {
    fn new(chunk: &[[u32; 2]], values: &[f32], blend: fn(f32) -> (f32, f32)) -> Self {
        // Lanes beyond the last side repeat it.
        let side = |i: usize| chunk[i.min(chunk.len() - 1)];
        let value = |i: usize, u: f32| {
            let [from, to] = side(i).map(|v| values[v as usize]);
            (1.0 - u) * from + u * to
        };
        Self {
            from: std::array::from_fn(|i| side(i)[0]),
            to: std::array::from_fn(|i| side(i)[1]),
            beta: [0.0, 0.5, 1.0].map(|u| std::array::from_fn(|i| blend(value(i, u)).0)),
        }
    }

    #[inline(always)]
    fn integral<M: Mover>(&self, local: &[Vec3], posed: &M::Posed) -> [f32; WIDTH] {
        let from = gathered(&self.from, local);
        let way = offset(&self.to, local, &from);
        M::circulation(posed, &from, &way, &self.beta)
    }
}

impl Faces {
    fn new(chunk: &[[u32; 3]], sides: &[[u32; 2]], is_free: impl Fn(u32) -> bool) -> Self {
        let mut faces = Self {
            corners: [[0; WIDTH]; 3],
            sides: [[0; WIDTH]; 3],
            ways: [[1.0; WIDTH]; 3],
            share: [0.0; WIDTH],
        };
        for (lane, &corners) in chunk.iter().enumerate() {
            let free = corners.iter().filter(|v| is_free(**v)).count();
            faces.share[lane] = 1.0 / free as f32;
            for k in 0..3 {
                let (from, to) = (corners[k], corners[(k + 1) % 3]);
                let found = sides.binary_search(&[from.min(to), from.max(to)]);
                faces.corners[k][lane] = from;
                faces.sides[k][lane] = found.unwrap_or(0) as u32;
                faces.ways[k][lane] = if from < to { 1.0 } else { -1.0 };
            }
        }
        faces
    }

    /// A free corner's share of what the corners sweep too little.
    #[inline(always)]
    fn missing(&self, local: &[Vec3], velocities: &[Vec3], along: &[f32]) -> [f32; WIDTH] {
        let [a, b, c] = [0, 1, 2].map(
            #[inline(always)]
            |k: usize| gathered(&self.corners[k], local),
        );
        let mut sum = Block::ZERO;
        let mut through = [0.0; WIDTH];
        for k in 0..3 {
            for i in 0..WIDTH {
                let v = self.corners[k][i] as usize;
                // What is not in a block stays; one beyond the last is zero.
                sum.set(i, sum.get(i) + velocities[v.min(velocities.len() - 1)]);
                through[i] += self.ways[k][i] * along[self.sides[k][i] as usize];
            }
        }
        std::array::from_fn(
            #[inline(always)]
            |i| {
                let cross = (b.get(i) - a.get(i)).cross(c.get(i) - a.get(i));
                self.share[i] * (through[i] - sum.get(i).dot(cross) / 6.0)
            },
        )
    }
}

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

use glam::Vec2;

use super::disc::Discs;
use super::table::{Share, Table};
use super::{Block, Mover, Normal, Row, cross, gathered, offset, over};
use crate::Run;
use crate::lanes::WIDTH;
use crate::mesh::adjacency::{edges, is_index_degenerate};

/// Sides of triangles.
struct Sides {
    from: [u32; WIDTH],
    to: [u32; WIDTH],
    /// β at the start, in the middle, at the end.
    beta: [[f32; WIDTH]; 3],
}

/// A triangle of which some corner is free.
struct Face {
    corners: [u32; 3],
    /// Its sides, passed from their start to their end (1) or back (−1).
    sides: [Share; 3],
}

/// The triangles and sides that some free vertex belongs to.
pub(super) struct Flux {
    sides: Vec<Sides>,
    faces: Vec<Face>,
    /// The faces around each moving vertex, and its share of what they lack.
    around: Table,
    /// How much of a push each vertex may take: none where it stays or is carried rigidly.
    window: Vec<f32>,
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
        let mut around = Vec::with_capacity(3 * faces.len());
        for (of, corners) in (0..).zip(&faces) {
            let free = corners.iter().filter(|v| is_free(**v)).count();
            for &v in corners.iter().filter(|v| is_free(**v)) {
                around.push((v, Share { of, weight: 1.0 / free as f32 }));
            }
        }
        Self {
            around: Table::sorted(moving, around.iter().copied()),
            window: values[..moving].iter().map(|s| 4.0 * s * (1.0 - s)).collect(),
            faces: faces_of(&faces, &sides, values.len()),
            sides: sides.chunks(WIDTH).map(|chunk| Sides::new(chunk, values, blend)).collect(),
        }
    }

    /// The potential's integrals along the sides.
    pub(super) fn along<M: Mover>(
        &self,
        local: &[Row],
        posed: &M::Posed,
        run: &Run<'_>,
    ) -> Vec<[f32; WIDTH]> {
        let mut along = vec![[0.0; WIDTH]; self.sides.len()];
        over(
            &mut along,
            run,
            #[inline(always)]
            |s, along| *along = self.sides[s].integral::<M>(local, posed),
        );
        along
    }

    /// How fast each vertex must move along its normal besides, from the positions and velocities.
    pub(super) fn pushes(
        &self,
        discs: &Discs,
        [local, velocities]: [&[Row]; 2],
        along: &[[f32; WIDTH]],
        normals: &[Normal],
        run: &Run<'_>,
    ) -> Vec<Block> {
        let missing = run.map(self.faces.len(), |f| {
            self.faces[f].missing(local, velocities, along.as_flattened())
        });
        // What each vertex has to make up for, and what it sweeps with a push of one.
        let volumes = run.map(normals.len(), |v| {
            let swept = self.window[v] * normals[v].size() / 6.0;
            Vec2::new(self.around.sum(v, &missing), swept)
        });
        let speed = |v: Vec2| if v.y > f32::MIN_POSITIVE { v.x / v.y } else { 0.0 };
        let sums = discs.sums(|v| volumes[v], run);
        let speeds: Vec<f32> = sums.into_iter().map(speed).collect();
        let mut pushes = vec![Block::ZERO; normals.len().div_ceil(WIDTH)];
        over(
            &mut pushes,
            run,
            #[inline(always)]
            |b, push| {
                for (i, v) in (b * WIDTH..normals.len()).take(WIDTH).enumerate() {
                    let speed = self.window[v] * discs.mean(v, &speeds);
                    push.set(i, (speed * normals[v].direction()).truncate());
                }
            },
        );
        pushes
    }
}

impl Flux {
    /// Moves the vertices along their normals, those in the middle of the fade farthest, to add a volume; none
    /// if that is farther than `most`.
    pub(super) fn add_volume(&self, local: &mut [Row], normals: &[Normal], volume: f64, most: f32) {
        let swept = |(normal, window): (&Normal, &f32)| f64::from(window * normal.size());
        let all: f64 = normals.iter().zip(&self.window).map(swept).sum::<f64>() / 6.0;
        let far = if all > 0.0 { (volume / all) as f32 } else { 0.0 };
        if far.abs() > most {
            return;
        }
        for ((x, normal), window) in local.iter_mut().zip(normals).zip(&self.window) {
            *x += far * window * normal.direction();
        }
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
    fn integral<M: Mover>(&self, local: &[Row], posed: &M::Posed) -> [f32; WIDTH] {
        let from = gathered(&self.from, local);
        let way = offset(&self.to, local, &from);
        M::circulation(posed, &from, &way, &self.beta)
    }
}

/// The triangles with their sides, which are sorted.
fn faces_of(triangles: &[[u32; 3]], sides: &[[u32; 2]], vertices: usize) -> Vec<Face> {
    // Where the sides from each vertex to a larger one begin.
    let mut starts = vec![0; vertices];
    for (k, &[from, _]) in sides.iter().enumerate().rev() {
        starts[from as usize] = k;
    }
    let side = |from: u32, to: u32| {
        let ends = [from.min(to), from.max(to)];
        let start = starts[ends[0] as usize];
        let place = sides[start..].iter().position(|side| *side == ends).unwrap_or(0);
        Share { of: (start + place) as u32, weight: if from < to { 1.0 } else { -1.0 } }
    };
    let face = |&corners: &[u32; 3]| {
        let [a, b, c] = corners;
        Face { corners, sides: [side(a, b), side(b, c), side(c, a)] }
    };
    triangles.iter().map(face).collect()
}

impl Face {
    /// What the corners sweep too little.
    #[inline(always)]
    fn missing(&self, local: &[Row], velocities: &[Row], along: &[f32]) -> f32 {
        let [a, b, c] = self.corners.map(|v| local[v as usize]);
        // What is not in a block stays.
        let velocity = |v: u32| velocities.get(v as usize).copied().unwrap_or(Row::ZERO);
        let [u, v, w] = self.corners.map(velocity);
        let [p, q, r] = self.sides.map(|side| side.weight * along[side.of as usize]);
        p + q + r - (u + v + w).dot(cross(b - a, c - a)) / 6.0
    }
}

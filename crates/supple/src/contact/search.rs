//! Points of one body in another, sixteen at a time.
//!
//! # Method
//!
//! Particles, and the points between them, stand in blocks of sixteen. A box around a block of particles and those that
//! share an edge with them holds the triangles there; a point inside the body is no farther from one of these boxes than
//! the body is deep. Blocks of points that meet no box grown by that are never looked at. In what is left the nearest
//! particle is found for all points of a block at once, and its map carries the point back to the shape at rest, where
//! the distance field decides.

use glam::{Mat3, Vec3};
use pulp::{Arch, Simd, WithSimd};

use super::bodies::{Found, Pair};
use super::{Between, DistanceField, Lent};
use crate::lanes::{Lanes, WIDTH};
use crate::lengths::Lengths as _;
use crate::mesh::measure::Bounds;

/// Below this length of the distance's gradient there is no way out: a point on the middle of a body is as near to one
/// side as to the other, and is left to its neighbours.
const LEAST_GRADIENT: f32 = 0.1;

/// Below this determinant a map has no inverse: the body is flat there.
const FLAT: f32 = 1e-4;

/// How much farther from surface and particles a point inside may be than the maps alone say: they are those of the tick, and
/// particles were pushed since.
const SLACK: f32 = 1.2;

/// How the particles of a body hang together.
#[derive(Clone, Debug, Default)]
pub struct Rings {
    /// For each block of particles, those of other blocks that share an edge with one of them.
    beside: Vec<Box<[u32]>>,
    /// How far from a particle a point of the surface may be, at rest.
    widest: f32,
}

impl Rings {
    /// Of the surface that particles and triangles between them are at rest.
    #[must_use]
    pub fn new(particles: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let mut beside = vec![Vec::new(); particles.len().div_ceil(WIDTH)];
        let block = |p: u32| p as usize / WIDTH;
        for &[a, b, c] in triangles {
            for [p, q] in [[a, b], [b, c], [c, a]] {
                if block(p) != block(q) {
                    beside[block(p)].push(q);
                    beside[block(q)].push(p);
                }
            }
        }
        let finish = |mut ring: Vec<u32>| {
            ring.sort_unstable();
            ring.dedup();
            ring.into()
        };
        let radius = |t: &[u32; 3]| circle(t.map(|v| particles[v as usize]));
        let widest = triangles.iter().map(radius).fold(0.0, f32::max);
        Self { beside: beside.into_iter().map(finish).collect(), widest }
    }
}

/// The radius of the smallest circle around a triangle: no point of it is farther from the nearest corner.
fn circle([a, b, c]: [Vec3; 3]) -> f32 {
    let mut squares = [a - b, b - c, c - a].map(|e| e.length_squared());
    squares.sort_by(f32::total_cmp);
    let [p, q, r] = squares;
    if p + q <= r {
        return 0.5 * r.sqrt();
    }
    // The circle through its corners: R = |a||b||c| / 4A.
    let double_area = (b - a).cross(c - a).norm();
    0.5 * (p * q * r).sqrt() / double_area
}

/// A body in the form in which it is searched.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    /// The particles where the tick left them; the last one fills the last block.
    particles: Vec<Lanes<WIDTH>>,
    /// Boxes that, together, hold the inside of the body.
    around: Vec<Bounds>,
    /// From where the tick left the body back to rest, around each particle: `[N | s]` of `x⁰ = N x + s`.
    backs: Vec<(Mat3, Vec3)>,
    /// Particles and then points between them, as they are pushed so far.
    points: Vec<Lanes<WIDTH>>,
    /// Boxes around the points before any push.
    boxes: Vec<Bounds>,
    /// How far from its nearest particle a point inside may be.
    reach: f32,
}

/// A block of points near a block of particles, by their numbers.
pub(super) type Near = [u32; 2];

impl Blocks {
    pub(super) fn clear(&mut self) {
        let Self { particles, around, backs, points, boxes, reach } = self;
        particles.clear();
        around.clear();
        backs.clear();
        points.clear();
        boxes.clear();
        *reach = 0.0;
    }
}

impl Lent {
    /// Lays particles and points out for the search.
    pub(super) fn lay_out(&mut self) {
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.clear();
        blocks.particles.extend(self.particles.places.chunks(WIDTH).map(Lanes::of));
        let stretch = SLACK * self.interior.maps.iter().map(stretch).fold(1.0, f32::max);
        let deep = self.interior.field.as_ref().map_or(0.0, |field| stretch * field.deepest());
        blocks.reach = deep + stretch * self.interior.rings.widest;
        let rings = self.interior.rings.beside.iter();
        let boxes = blocks.particles.iter().zip(rings).map(|(block, ring)| {
            let place = |p: &u32| self.particles.places[*p as usize];
            let Bounds { min, max } = around(block);
            let grow = |(min, max): (Vec3, Vec3), x: Vec3| (min.min(x), max.max(x));
            let (min, max) = ring.iter().map(place).fold((min, max), grow);
            Bounds { min, max }.grown(deep)
        });
        blocks.around.extend(boxes);
        blocks.backs.extend(self.interior.maps.iter().map(back));
        self.blocks = blocks;
        self.move_points();
        let Blocks { points, boxes, .. } = &mut self.blocks;
        boxes.extend(points.iter().map(around));
    }

    /// Moves the points to where pushes have brought them.
    pub(super) fn move_points(&mut self) {
        let mut points = std::mem::take(&mut self.blocks.points);
        points.clear();
        let mut block = [Vec3::ZERO; WIDTH];
        for start in (0..self.len()).step_by(WIDTH) {
            let count = WIDTH.min(self.len() - start);
            (0..count).for_each(|k| block[k] = self.place(start + k));
            points.push(Lanes::of(&block[..count]));
        }
        for between in self.particles.between.chunks(WIDTH) {
            let places = block.iter_mut().zip(between);
            places.for_each(|(place, point)| *place = self.place_between(point));
            points.push(Lanes::of(&block[..between.len()]));
        }
        self.blocks.points = points;
    }

    /// What a lane of a block of points is; `None` for one that only fills the last block.
    #[inline(always)]
    fn point(&self, block: usize, lane: usize) -> Option<Between> {
        let own = self.blocks.particles.len();
        if block < own {
            let p = block * WIDTH + lane;
            let of = Between { of: [p as u32; 2], share: 0.0, edge: Vec3::ZERO };
            (p < self.len()).then_some(of)
        } else {
            self.particles.between.get((block - own) * WIDTH + lane).copied()
        }
    }
}

#[inline(always)]
fn around(block: &Lanes<WIDTH>) -> Bounds {
    let [min, max] = block.bounds();
    Bounds { min, max }
}

/// `1 + M` of a map.
#[inline(always)]
fn linear(map: &[f32; 12]) -> Mat3 {
    Mat3::from_cols(
        Vec3::new(1.0 + map[0], map[4], map[8]),
        Vec3::new(map[1], 1.0 + map[5], map[9]),
        Vec3::new(map[2], map[6], 1.0 + map[10]),
    )
}

/// No length becomes more times as long by a map: from the rows of `AᵀA` (Gershgorin), one for every rotation.
#[inline(always)]
fn stretch(map: &[f32; 12]) -> f32 {
    let Mat3 { x_axis: x, y_axis: y, z_axis: z } = linear(map);
    let [xy, yz, zx] = [x.dot(y).abs(), y.dot(z).abs(), z.dot(x).abs()];
    let rows = [x.dot(x) + xy + zx, y.dot(y) + xy + yz, z.dot(z) + yz + zx];
    rows.into_iter().fold(0.0, f32::max).sqrt()
}

/// The way back of a map; nowhere if it is flat.
#[inline(always)]
fn back(map: &[f32; 12]) -> (Mat3, Vec3) {
    let stretch = linear(map);
    if stretch.determinant() < FLAT {
        return (Mat3::ZERO, Vec3::INFINITY);
    }
    let back = stretch.inverse();
    (back, -(back * Vec3::new(map[3], map[7], map[11])))
}

/// The blocks of a pair that may touch, blocks of points in their order.
pub(super) fn near(pair: &Pair, points: &Lent, inside: &Lent) -> Vec<Near> {
    let own = [pair.turn.x_axis, pair.turn.y_axis, pair.turn.z_axis].map(Vec3::abs);
    let mut found = Vec::new();
    for (i, block) in points.blocks.boxes.iter().enumerate() {
        let (center, half) = (pair.turn * block.center() + pair.shift, 0.5 * block.size());
        let half = half.x * own[0] + half.y * own[1] + half.z * own[2];
        let block = Bounds { min: center - half, max: center + half };
        if !block.overlaps(&pair.around) {
            continue;
        }
        let near = inside.blocks.around.iter().enumerate().filter(|(_, b)| b.overlaps(&block));
        found.extend(near.map(|(j, _)| [i as u32, j as u32]));
    }
    found
}

/// Adds the points of the first body of a pair that are in the second.
pub(super) fn search(pair: &Pair, points: &Lent, inside: &Lent, found: &mut Vec<Found>) {
    Arch::new().dispatch(Search { pair, points, inside, found });
}

struct Search<'a> {
    pair: &'a Pair,
    points: &'a Lent,
    inside: &'a Lent,
    found: &'a mut Vec<Found>,
}

impl WithSimd for Search<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { pair, points, inside, found } = self;
        let Some(field) = inside.interior.field.as_deref() else { return };
        let (farthest, last) = (inside.blocks.reach * inside.blocks.reach, inside.len() - 1);
        for near in pair.near.chunk_by(|a, b| a[0] == b[0]) {
            let block = near[0][0] as usize;
            let x = carried(pair, &points.blocks.points[block]);
            let (nearest, squares) = nearest(inside, near, &x);
            for lane in 0..WIDTH {
                if squares[lane] > farthest {
                    continue;
                }
                let against = (nearest[lane] as usize).min(last);
                let Some((depth, out)) = depth((inside, field), against, x.get(lane)) else {
                    continue;
                };
                let Some(of) = points.point(block, lane) else { continue };
                found.push(pair.found(points, inside, (of, against), (depth, out)));
            }
        }
    }
}

/// Points in the space of the second body.
#[inline(always)]
fn carried(pair: &Pair, x: &Lanes<WIDTH>) -> Lanes<WIDTH> {
    let (turn, shift) = (&pair.turn, pair.shift);
    let mut y = Lanes::ZERO;
    for i in 0..WIDTH {
        let along = |a: f32, b: f32, c: f32| a * x.x[i] + b * x.y[i] + c * x.z[i];
        y.x[i] = along(turn.x_axis.x, turn.y_axis.x, turn.z_axis.x) + shift.x;
        y.y[i] = along(turn.x_axis.y, turn.y_axis.y, turn.z_axis.y) + shift.y;
        y.z[i] = along(turn.x_axis.z, turn.y_axis.z, turn.z_axis.z) + shift.z;
    }
    y
}

/// For each point the nearest particle of the blocks it is near to, and the square of its distance.
#[inline(always)]
fn nearest(inside: &Lent, near: &[Near], x: &Lanes<WIDTH>) -> ([u32; WIDTH], [f32; WIDTH]) {
    let mut best = ([0_u32; WIDTH], [f32::INFINITY; WIDTH]);
    for &[_, k] in near {
        let block = &inside.blocks.particles[k as usize];
        for j in 0..WIDTH {
            best = nearer(best, (k * WIDTH as u32 + j as u32, block.get(j)), x);
        }
    }
    best
}

/// The nearer of what was found and another particle. (By value: kept in registers, not behind masked stores.)
#[inline(always)]
fn nearer(
    (mut at, mut best): ([u32; WIDTH], [f32; WIDTH]),
    (number, p): (u32, Vec3),
    x: &Lanes<WIDTH>,
) -> ([u32; WIDTH], [f32; WIDTH]) {
    for i in 0..WIDTH {
        let (dx, dy, dz) = (p.x - x.x[i], p.y - x.y[i], p.z - x.z[i]);
        let d = dx * dx + dy * dy + dz * dz;
        at[i] = if d < best[i] { number } else { at[i] };
        best[i] = best[i].min(d);
    }
    (at, best)
}

/// How deep a point is in a body and the way out, by the map of a particle; `None` outside.
#[inline(always)]
fn depth((inside, field): (&Lent, &DistanceField), against: usize, x: Vec3) -> Option<(f32, Vec3)> {
    let (back, home) = inside.blocks.backs.get(against)?;
    let x = x - inside.pushes[against];
    let (distance, gradient) = field.at(*back * x + *home)?;
    let is_inside = distance < 0.0;
    if !is_inside || gradient.length_squared() < LEAST_GRADIENT * LEAST_GRADIENT {
        return None;
    }
    let way = back.transpose() * gradient;
    let steep = way.norm();
    Some((-distance / steep, way / steep))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Run;
    use crate::contact::{Party, bodies};
    use crate::zoo::tet_bodies;

    /// A worm turned and stretched by one map, moved, with points between its particles.
    fn worm(map: Mat3, shift: Vec3) -> Lent {
        let surface = tet_bodies::build("worm", Some(73)).unwrap().surface();
        let mut lent = Lent::default();
        lent.particles.places = surface.positions.iter().map(|x| map * *x + shift).collect();
        lent.particles.motions = vec![Vec3::ZERO; surface.positions.len()];
        lent.particles.inverse_masses = vec![1.0; surface.positions.len()].into();
        lent.particles.size = 1.0;
        let edge = |a: u32, b: u32| surface.positions[b as usize] - surface.positions[a as usize];
        let halves = surface.triangles.iter().map(|&[a, b, _]| Between {
            of: [a, b],
            share: 0.5,
            edge: edge(a, b),
        });
        lent.particles.between = halves.collect();
        let field = DistanceField::new(&surface.positions, &surface.triangles, &Run::default());
        lent.interior.field = field.map(Arc::new);
        lent.interior.rings = Arc::new(Rings::new(&surface.positions, &surface.triangles));
        let m = (map - Mat3::IDENTITY).transpose().to_cols_array();
        let map = [m[0], m[1], m[2], shift.x, m[3], m[4], m[5], shift.y, m[6], m[7], m[8], shift.z];
        lent.interior.maps = vec![map; surface.positions.len()];
        lent.begin();
        lent
    }

    /// All points against all particles.
    fn plainly(points: &Lent, inside: &Lent) -> usize {
        let field = inside.interior.field.as_deref().unwrap();
        let particles = (0..points.len()).map(|p| points.place(p));
        let between = points.particles.between.iter().map(|b| points.place_between(b));
        let is_inside = |x: &Vec3| {
            let square = |p: &usize| inside.particles.places[*p].distance_squared(*x);
            let nearest = (0..inside.len()).min_by(|a, b| square(a).total_cmp(&square(b)));
            depth((inside, field), nearest.unwrap(), *x).is_some()
        };
        particles.chain(between).filter(is_inside).count()
    }

    #[test]
    fn blocks_find_what_a_plain_search_finds() {
        let mut total = 0;
        for k in 0..200 {
            let share = |by: f32| (0.5 + k as f32 * by).fract();
            let turn = Mat3::from_rotation_y(6.0 * share(0.618_034));
            let turn = turn * Mat3::from_rotation_x(3.0 * share(0.754_878));
            // Up to five times as long or as thick.
            let [a, b] = [share(0.569_84), share(0.426_15)].map(|s| 5.0_f32.powf(2.0 * s - 1.0));
            let stretched = turn * Mat3::from_diagonal(Vec3::new(a, b, b));
            let shift = 0.2 * Vec3::new(share(0.3) - 0.5, share(0.7) - 0.5, share(0.11) - 0.5);
            let mut lents = [worm(Mat3::IDENTITY, Vec3::ZERO), worm(stretched, shift)];
            let mut parties =
                lents.each_mut().map(|lent| Party { lent, others: true, obstacles: false });
            let pairs = bodies::pairs(&mut parties, &Run::default());
            let mut found = [0; 2];
            for pair in &pairs {
                let [points, inside] = [pair.point, pair.inside];
                let mut all = Vec::new();
                search(pair, parties[points].lent, parties[inside].lent, &mut all);
                found[points] += all.len();
            }
            let expected = [plainly(&lents[0], &lents[1]), plainly(&lents[1], &lents[0])];
            assert_eq!(found, expected, "{k}: stretched by {a}, {b}");
            total += found[0] + found[1];
        }
        assert!(total > 1_000, "{total}");
    }
}

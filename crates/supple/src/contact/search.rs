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
use super::{Between, Lent};
use crate::lanes::{Lanes, WIDTH};
use crate::lengths::Lengths as _;
use crate::mesh::measure::Bounds;

/// Below this length of the distance's gradient there is no way out: a point on the middle of a body is as near to one
/// side as to the other, and is left to its neighbours.
const LEAST_GRADIENT: f32 = 0.1;

/// Below this determinant a map has no inverse: the body is flat there.
const FLAT: f32 = 1e-4;

/// How much farther from its nearest particle a point inside may be than at rest: charts stretch tissue by up to 1.5.
const STRETCHED: f32 = 1.5;

/// For each block of a body's particles, those of other blocks that share an edge with one of them.
#[derive(Clone, Debug, Default)]
pub struct Rings(Vec<Box<[u32]>>);

impl Rings {
    /// Of a surface of so many particles.
    #[must_use]
    pub fn new(triangles: &[[u32; 3]], particles: usize) -> Self {
        let mut rings = vec![Vec::new(); particles.div_ceil(WIDTH)];
        let block = |p: u32| p as usize / WIDTH;
        for &[a, b, c] in triangles {
            for [p, q] in [[a, b], [b, c], [c, a]] {
                if block(p) != block(q) {
                    rings[block(p)].push(q);
                    rings[block(q)].push(p);
                }
            }
        }
        let finish = |mut ring: Vec<u32>| {
            ring.sort_unstable();
            ring.dedup();
            ring.into()
        };
        Self(rings.into_iter().map(finish).collect())
    }
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
}

/// A block of points near a block of particles, by their numbers.
pub(super) type Near = [u32; 2];

impl Blocks {
    pub(super) fn clear(&mut self) {
        let Self { particles, around, backs, points, boxes } = self;
        particles.clear();
        around.clear();
        backs.clear();
        points.clear();
        boxes.clear();
    }
}

impl Lent {
    /// Lays particles and points out for the search.
    pub(super) fn lay_out(&mut self) {
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.clear();
        blocks.particles.extend(self.particles.places.chunks(WIDTH).map(Lanes::of));
        let deep = self.interior.field.as_ref().map_or(0.0, |field| STRETCHED * field.deepest());
        let rings = self.interior.rings.0.iter();
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

/// The way back of a map; nowhere if it is flat.
#[inline(always)]
fn back(map: &[f32; 12]) -> (Mat3, Vec3) {
    let stretch = Mat3::from_cols(
        Vec3::new(1.0 + map[0], map[4], map[8]),
        Vec3::new(map[1], 1.0 + map[5], map[9]),
        Vec3::new(map[2], map[6], 1.0 + map[10]),
    );
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
        for near in pair.near.chunk_by(|a, b| a[0] == b[0]) {
            let block = near[0][0] as usize;
            let x = carried(pair, &points.blocks.points[block]);
            let (nearest, squares) = nearest(inside, near, &x);
            for lane in 0..WIDTH {
                if squares[lane] > pair.farthest {
                    continue;
                }
                let against = (nearest[lane] as usize).min(inside.len() - 1);
                let Some((depth, out)) = depth(inside, against, x.get(lane)) else { continue };
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
fn depth(inside: &Lent, against: usize, x: Vec3) -> Option<(f32, Vec3)> {
    let field = inside.interior.field.as_ref()?;
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

/// The square of how far from its nearest particle a point inside a body may be.
pub(super) fn farthest(inside: &Lent) -> f32 {
    let reach = STRETCHED * inside.interior.reach;
    reach * reach
}

//! Points of one body in another, sixteen at a time.
//!
//! # Method
//!
//! A patch of points of the one body is looked at if the box around it meets one of the boxes that hold the inside of the
//! other (`patches.rs`); only then are its points placed. Particles stand in blocks of sixteen; a box around a block and the
//! particles that share an edge with it, grown by how deep the body is, holds what is nearest to it. In the blocks that a
//! patch meets the nearest particle is found for all points of the patch at once, and its map carries the point back to the
//! shape at rest, where the distance field decides.
//!
//! A search also tells how far outside the points of a patch are at least: what moved less since is not looked at again.

use glam::{Mat3, Vec3};
use pulp::{Arch, Simd, WithSimd};

use super::bodies::{Found, Pair};
use super::{Between, Lent};
use crate::lanes::{Lanes, WIDTH, least};
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

/// A body in the form in which it is searched.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    /// The particles where the tick left them; the last one fills the last block.
    particles: Vec<Lanes<WIDTH>>,
    /// Around each block of particles, with what it shares edges with, and as far as the body is deep.
    around: Vec<Bounds>,
    /// From where the tick left the body back to rest, around each particle: `[N | s]` of `x⁰ = N x + s`.
    backs: Vec<(Mat3, Vec3)>,
    /// Boxes around the points of each patch where the tick left them.
    pub(super) own: Vec<Bounds>,
    /// Boxes that, together, hold the inside of the body.
    inside: Vec<Boxes>,
    /// The points of patches that were asked for, as they are pushed so far.
    points: Vec<Lanes<WIDTH>>,
    /// How far from its nearest particle a point inside may be.
    reach: f32,
    /// No length at rest becomes shorter than this share of it.
    least: f32,
    /// How far particles were pushed since patches were first looked at.
    pushed: f32,
}

/// Sixteen boxes.
#[derive(Clone, Copy, Debug)]
struct Boxes {
    min: Lanes<WIDTH>,
    max: Lanes<WIDTH>,
}

/// A patch of points near another body.
pub(super) struct Near {
    patch: u32,
    /// How far outside that body its points are, or more; 0 as long as nobody knows.
    gap: f32,
}

impl Blocks {
    pub(super) fn clear(&mut self) {
        let Self { particles, around, backs, own, inside, points, reach, least, pushed } = self;
        particles.clear();
        around.clear();
        backs.clear();
        own.clear();
        inside.clear();
        points.clear();
        (*reach, *least, *pushed) = (0.0, 0.0, 0.0);
    }
}

impl Boxes {
    /// Of at most sixteen; the last one fills up.
    fn of(boxes: &[Bounds]) -> Self {
        let corners = |corner: fn(&Bounds) -> Vec3| {
            let mut lanes = Lanes::ZERO;
            let filled = boxes.iter().chain(std::iter::repeat(&boxes[boxes.len() - 1]));
            filled.take(WIDTH).enumerate().for_each(|(lane, b)| lanes.set(lane, corner(b)));
            lanes
        };
        Self { min: corners(|b| b.min), max: corners(|b| b.max) }
    }

    #[inline(always)]
    fn overlap(&self, b: &Bounds) -> bool {
        let mut apart = [0.0_f32; WIDTH];
        for i in 0..WIDTH {
            let x = (self.min.x[i] - b.max.x).max(b.min.x - self.max.x[i]);
            let y = (self.min.y[i] - b.max.y).max(b.min.y - self.max.y[i]);
            let z = (self.min.z[i] - b.max.z).max(b.min.z - self.max.z[i]);
            apart[i] = x.max(y).max(z);
        }
        least(&apart) <= 0.0
    }
}

impl Lent {
    /// Lays particles and boxes out for the search.
    pub(super) fn lay_out(&mut self) {
        self.bound_patches();
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.particles.extend(self.particles.places.chunks(WIDTH).map(Lanes::of));
        if let Some(field) = &self.interior.field {
            let stretch = SLACK * self.interior.maps.iter().map(stretch).fold(1.0, f32::max);
            let deep = stretch * field.deepest();
            let rings = &self.particles.patches.rings;
            blocks.reach = deep + stretch * rings.widest;
            let boxes = blocks.particles.iter().zip(&rings.beside).map(|(block, ring)| {
                let place = |p: &u32| self.particles.places[*p as usize];
                let Bounds { min, max } = around(block);
                let grow = |(min, max): (Vec3, Vec3), x: Vec3| (min.min(x), max.max(x));
                let (min, max) = ring.iter().map(place).fold((min, max), grow);
                Bounds { min, max }.grown(deep)
            });
            blocks.around.extend(boxes);
            blocks.backs.extend(self.interior.maps.iter().map(back));
            let shrink = |(back, _): &(Mat3, Vec3)| longest(back);
            blocks.least = 1.0 / blocks.backs.iter().map(shrink).fold(1e-6, f32::max);
        }
        blocks.points.resize(blocks.own.len(), Lanes::ZERO);
        self.blocks = blocks;
    }

    /// The boxes of all patches; particles without patches are taken block by block.
    pub(super) fn bound_patches(&mut self) {
        if !self.blocks.own.is_empty() {
            return;
        }
        let Self { particles, blocks, .. } = &mut *self;
        let patches = std::sync::Arc::clone(&particles.patches);
        if patches.all.is_empty() {
            blocks.own.extend(particles.places.chunks(WIDTH).filter_map(Bounds::of));
            return;
        }
        let (mut own, mut sixteen) = (std::mem::take(&mut blocks.own), Vec::with_capacity(WIDTH));
        for patches in patches.all.chunks(WIDTH) {
            sixteen.clear();
            for patch in patches {
                let carried = patch.carried(self);
                own.push(carried.own);
                sixteen.push(carried.inside);
            }
            self.blocks.inside.push(Boxes::of(&sixteen));
        }
        self.blocks.own = own;
    }

    /// Places the points of the patches that pairs look at, as pushes have brought them.
    pub(super) fn place_patches<'a>(&mut self, near: impl Iterator<Item = &'a Near>) {
        let mut points = std::mem::take(&mut self.blocks.points);
        let mut wanted = vec![false; points.len()];
        near.for_each(|near| wanted[near.patch as usize] = true);
        for (patch, points) in points.iter_mut().enumerate().filter(|(patch, _)| wanted[*patch]) {
            let mut places = [Vec3::ZERO; WIDTH];
            let mut count = 0;
            while let Some(point) = self.point(patch, count) {
                places[count] = self.place_between(&point);
                count += 1;
            }
            *points = Lanes::of(&places[..count.max(1)]);
        }
        self.blocks.points = points;
    }

    /// Notes how far pushes have moved particles.
    pub(super) fn note_pushes(&mut self) {
        self.blocks.pushed = self.farthest_push();
    }

    /// What a lane of a patch is; `None` for one that only fills the last.
    #[inline(always)]
    fn point(&self, patch: usize, lane: usize) -> Option<Between> {
        let (number, points) = (patch * WIDTH + lane, &self.particles.patches.points);
        if lane >= WIDTH {
            None
        } else if points.is_empty() {
            (number < self.len()).then(|| Between::particle(number as u32))
        } else {
            points.get(number).copied()
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

#[inline(always)]
fn stretch(map: &[f32; 12]) -> f32 {
    longest(&linear(map))
}

/// No vector of length one becomes longer by a matrix: from the rows of `AᵀA` (Gershgorin), one for every rotation.
#[inline(always)]
fn longest(a: &Mat3) -> f32 {
    let Mat3 { x_axis: x, y_axis: y, z_axis: z } = a;
    let [xy, yz, zx] = [x.dot(*y).abs(), y.dot(*z).abs(), z.dot(*x).abs()];
    let rows = [x.dot(*x) + xy + zx, y.dot(*y) + xy + yz, z.dot(*z) + yz + zx];
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

/// The patches of the first body of a pair that may touch the second, in their order.
pub(super) fn near(pair: &Pair, points: &Lent, inside: &Lent) -> Vec<Near> {
    Arch::new().dispatch(Meet { pair, points, inside })
}

struct Meet<'a> {
    pair: &'a Pair,
    points: &'a Lent,
    inside: &'a Lent,
}

impl WithSimd for Meet<'_> {
    type Output = Vec<Near>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<Near> {
        let Self { pair, points, inside } = self;
        let own = [pair.turn.x_axis, pair.turn.y_axis, pair.turn.z_axis].map(Vec3::abs);
        let mut found = Vec::new();
        for (patch, around) in points.blocks.own.iter().enumerate() {
            let (center, half) = (pair.turn * around.center() + pair.shift, 0.5 * around.size());
            let half = half.x * own[0] + half.y * own[1] + half.z * own[2];
            let around = Bounds { min: center - half, max: center + half };
            let meets = around.overlaps(&pair.around)
                && inside.blocks.inside.iter().any(|boxes| boxes.overlap(&around));
            if meets {
                found.push(Near { patch: patch as u32, gap: 0.0 });
            }
        }
        found
    }
}

/// Leaves only patches that pushes may have brought inside since they were looked at.
pub(super) fn look_again(near: &mut Vec<Near>, points: &Lent, inside: &Lent) {
    let moved = points.blocks.pushed + inside.blocks.pushed;
    near.retain(|near| near.gap <= moved);
}

/// Finds the points of the first body of a pair that are in the second.
pub(super) fn search(pair: &mut Pair, points: &Lent, inside: &Lent) {
    let (mut near, mut found) = (std::mem::take(&mut pair.near), std::mem::take(&mut pair.found));
    found.clear();
    Arch::new().dispatch(Search { pair, points, inside, near: &mut near, found: &mut found });
    (pair.near, pair.found) = (near, found);
}

struct Search<'a> {
    pair: &'a Pair,
    points: &'a Lent,
    inside: &'a Lent,
    near: &'a mut [Near],
    found: &'a mut Vec<Found>,
}

impl WithSimd for Search<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { pair, points, inside, near, found } = self;
        let Some(field) = &inside.interior.field else { return };
        let Blocks { reach, least: shortest, .. } = inside.blocks;
        for near in near {
            let patch = near.patch as usize;
            let x = carried(pair, &points.blocks.points[patch]);
            let (nearest, squares, apart) = nearest(inside, &x);
            let homes = homes(inside, &nearest, &x);
            let beyond = field.beyond(&homes);
            let mut gaps = [apart; WIDTH];
            for lane in 0..WIDTH {
                // The grid begins a cell before the surface.
                let out = shortest * field.cell() * (1.0 + beyond[lane]);
                let far = squares[lane].sqrt() - reach;
                let out = if beyond[lane] >= 0.0 { out } else { 0.0 };
                gaps[lane] = gaps[lane].min(out.max(far));
            }
            near.gap = least(&gaps);
            if near.gap > 0.0 {
                continue;
            }
            near.gap = apart;
            for lane in 0..WIDTH {
                if squares[lane] > reach * reach || beyond[lane] >= 0.0 {
                    near.gap = near.gap.min(gaps[lane]);
                    continue;
                }
                let against = nearest[lane] as usize;
                let Some(of) = points.point(patch, lane) else { continue };
                match depth(inside, against, homes.get(lane)) {
                    Ok(way) => {
                        found.push(pair.found(points, inside, (of, against), way));
                        near.gap = 0.0;
                    }
                    Err(away) => near.gap = near.gap.min(shortest * away),
                }
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

/// For each point the nearest particle of the blocks that the points meet, the square of its distance, and how far all points
/// are from the other blocks.
#[inline(always)]
fn nearest(inside: &Lent, x: &Lanes<WIDTH>) -> ([u32; WIDTH], [f32; WIDTH], f32) {
    let Bounds { min, max } = around(x);
    let (mut best, mut apart) = (([0_u32; WIDTH], [f32::INFINITY; WIDTH]), f32::INFINITY);
    for (k, (block, around)) in
        inside.blocks.particles.iter().zip(&inside.blocks.around).enumerate()
    {
        let gap = (around.min - max).max(min - around.max).max_element();
        if gap > 0.0 {
            apart = apart.min(gap);
            continue;
        }
        for j in 0..WIDTH {
            best = nearer(best, ((k * WIDTH + j) as u32, block.get(j)), x);
        }
    }
    // What fills the last block is its last particle.
    let last = inside.len() as u32 - 1;
    (best.0.map(|k| k.min(last)), best.1, apart)
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

/// Points at rest, each by the map of a particle.
#[inline(always)]
fn homes(inside: &Lent, nearest: &[u32; WIDTH], x: &Lanes<WIDTH>) -> Lanes<WIDTH> {
    let mut homes = Lanes::ZERO;
    for lane in 0..WIDTH {
        let against = nearest[lane] as usize;
        homes.set(lane, home(inside, against, x.get(lane)));
    }
    homes
}

/// Where a point rests, by the map of a particle; nowhere in a body that nothing is near to.
#[inline(always)]
fn home(inside: &Lent, against: usize, x: Vec3) -> Vec3 {
    let Some((back, home)) = inside.blocks.backs.get(against) else { return Vec3::INFINITY };
    *back * (x - inside.pushes[against]) + *home
}

/// How deep a point that rests somewhere is in a body and the way out, by the map of a particle; outside, how far at rest.
#[inline(always)]
fn depth(inside: &Lent, against: usize, home: Vec3) -> Result<(f32, Vec3), f32> {
    let Some(field) = &inside.interior.field else { return Err(f32::INFINITY) };
    let Some((distance, gradient)) = field.at(home) else { return Err(field.cell()) };
    let is_inside = distance < 0.0;
    if !is_inside || gradient.length_squared() < LEAST_GRADIENT * LEAST_GRADIENT {
        return Err(distance.max(0.0));
    }
    let (back, _) = &inside.blocks.backs[against];
    let way = back.transpose() * gradient;
    let steep = way.norm();
    Ok((-distance / steep, way / steep))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Run;
    use crate::contact::{DistanceField, Party, Patches, bodies};
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
        let halves: Vec<Between> = halves.collect();
        let (rest, triangles) = (&surface.positions, &surface.triangles);
        let field = DistanceField::new(rest, triangles, &Run::default()).unwrap();
        lent.particles.patches = Arc::new(Patches::new(rest, triangles, &halves, &field));
        lent.interior.field = Some(Arc::new(field));
        let m = (map - Mat3::IDENTITY).transpose().to_cols_array();
        let map = [m[0], m[1], m[2], shift.x, m[3], m[4], m[5], shift.y, m[6], m[7], m[8], shift.z];
        lent.interior.maps = vec![map; surface.positions.len()];
        lent.begin();
        lent
    }

    /// All points against all particles.
    fn plainly(points: &Lent, inside: &Lent) -> usize {
        let places = points.particles.patches.points.iter().map(|b| points.place_between(b));
        let is_inside = |x: &Vec3| {
            let square = |p: &usize| inside.particles.places[*p].distance_squared(*x);
            let nearest = (0..inside.len()).min_by(|a, b| square(a).total_cmp(&square(b)));
            let nearest = nearest.unwrap();
            depth(inside, nearest, home(inside, nearest, *x)).is_ok()
        };
        places.filter(is_inside).count()
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
            let mut pairs = bodies::pairs(&mut parties, &Run::default());
            let mut found = [0; 2];
            bodies::find(&mut parties, &mut pairs, &Run::default());
            pairs.iter().for_each(|pair| found[pair.point] += pair.found.len());
            let expected = [plainly(&lents[0], &lents[1]), plainly(&lents[1], &lents[0])];
            assert_eq!(found, expected, "{k}: stretched by {a}, {b}");
            total += found[0] + found[1];
        }
        assert!(total > 1_000, "{total}");
    }
}

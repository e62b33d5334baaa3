//! The surface of a body at rest, cut into patches: sixteen points that lie together.
//!
//! # Method
//!
//! Particles and the points between them are halved along the longest edge of the box around them until sixteen are left. Two
//! boxes belong to a patch: one around its points, and one more that, together with those of the other patches, holds the
//! inside of the body (each node of the distance field's grid that is inside, or just outside, is given to the patch whose
//! points are nearest). Both are carried by the maps around one point of the patch, its *carrier*, so that a body which moved
//! is bounded without one of its points being placed.

use std::collections::VecDeque;

use glam::{Mat3, Vec3};

use super::distance::DistanceField;
use super::{Between, Lent};
use crate::lanes::WIDTH;
use crate::mesh::measure::Bounds;

/// Points of a patch move a little otherwise than its carrier: how much farther out its boxes are than the maps say, as a
/// share of their longest half edge.
const BENT: f32 = 0.2;

/// The surface of a body in patches.
#[derive(Clone, Debug, Default)]
pub struct Patches {
    /// Particles and points between them, patch by patch; the last patch may have fewer.
    pub(super) points: Vec<Between>,
    pub(super) all: Vec<Patch>,
    pub(super) rings: Rings,
}

/// Some points of a surface that lie together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patch {
    carrier: Between,
    /// Around its points, seen from the carrier.
    own: Bounds,
    /// Around its part of the inside, seen from there.
    inside: Bounds,
}

/// The boxes of a patch where a body is now.
pub(super) struct Carried {
    pub(super) own: Bounds,
    pub(super) inside: Bounds,
}

/// How the particles of a body hang together.
#[derive(Clone, Debug, Default)]
pub(super) struct Rings {
    /// For each block of particles, those of other blocks that share an edge with one of them.
    pub(super) beside: Vec<Box<[u32]>>,
    /// How far from a particle a point of the surface may be, at rest.
    pub(super) widest: f32,
}

impl Patches {
    /// Of the surface that particles and triangles between them are at rest, with points between the particles and the
    /// distances to that surface.
    #[must_use]
    pub fn new(
        particles: &[Vec3],
        triangles: &[[u32; 3]],
        between: &[Between],
        field: &DistanceField,
    ) -> Self {
        let own = (0..particles.len() as u32).map(Between::particle);
        let points: Vec<Between> = own.chain(between.iter().copied()).collect();
        let home = |b: &Between| particles[b.of[0] as usize] + b.share * b.edge;
        let homes: Vec<Vec3> = points.iter().map(home).collect();
        let order = neighbours_together(&homes);
        let points: Vec<Between> = order.iter().map(|&k| points[k]).collect();
        let homes: Vec<Vec3> = order.iter().map(|&k| homes[k]).collect();
        let boxes: Vec<Bounds> = homes.chunks(WIDTH).filter_map(Bounds::of).collect();
        let insides = insides(&boxes, field);
        let patches = points.chunks(WIDTH).zip(homes.chunks(WIDTH)).zip(boxes.iter().zip(insides));
        let all = patches.map(|((points, homes), (own, inside))| {
            let away = |k: &usize| homes[*k].distance_squared(own.center());
            let k = (0..homes.len()).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap_or(0);
            let seen = |b: &Bounds| Bounds { min: b.min - homes[k], max: b.max - homes[k] };
            Patch { carrier: points[k], own: seen(own), inside: seen(&inside) }
        });
        Self { all: all.collect(), points, rings: Rings::new(particles, triangles) }
    }

    /// The points of a patch.
    pub(super) fn points(&self, patch: usize) -> &[Between] {
        &self.points[patch * WIDTH..((patch + 1) * WIDTH).min(self.points.len())]
    }
}

impl Patch {
    /// Its boxes where a body is now.
    pub(super) fn carried(&self, body: &Lent) -> Carried {
        let at = body.place_between(&self.carrier);
        let turn = body.linear_between(&self.carrier);
        let size = [turn.x_axis.abs(), turn.y_axis.abs(), turn.z_axis.abs()];
        let carry = |b: &Bounds| {
            let (center, half) = (at + turn * b.center(), 0.5 * b.size());
            let half = half.x * size[0] + half.y * size[1] + half.z * size[2];
            let half = half + BENT * half.max_element();
            Bounds { min: center - half, max: center + half }
        };
        Carried { own: carry(&self.own), inside: carry(&self.inside) }
    }
}

impl Between {
    /// A particle itself.
    pub(super) fn particle(number: u32) -> Self {
        Self { of: [number; 2], share: 0.0, edge: Vec3::ZERO }
    }
}

impl Lent {
    /// The linear part of the map around a point between two particles.
    fn linear_between(&self, point: &Between) -> Mat3 {
        let maps = point.of.map(|p| self.interior.maps.get(p as usize));
        let [Some(a), Some(b)] = maps else { return Mat3::IDENTITY };
        let mix = |k: usize| a[k] + point.share * (b[k] - a[k]);
        Mat3::from_cols(
            Vec3::new(1.0 + mix(0), mix(4), mix(8)),
            Vec3::new(mix(1), 1.0 + mix(5), mix(9)),
            Vec3::new(mix(2), mix(6), 1.0 + mix(10)),
        )
    }
}

/// An order in which each [`WIDTH`] points lie together.
fn neighbours_together(points: &[Vec3]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    let mut parts = VecDeque::from([0..points.len()]);
    while let Some(part) = parts.pop_front() {
        let count = part.len();
        if count <= WIDTH {
            continue;
        }
        let places: Vec<Vec3> = order[part.clone()].iter().map(|&k| points[k]).collect();
        let size = Bounds::of(&places).unwrap_or(Bounds::EMPTY).size();
        let axis = size.max_position();
        let along = |k: &usize| points[*k][axis];
        order[part.clone()].sort_by(|a, b| along(a).total_cmp(&along(b)).then(a.cmp(b)));
        let middle = part.start + (count / 2).next_multiple_of(WIDTH);
        parts.extend([part.start..middle, middle..part.end]);
    }
    order
}

/// The boxes grown until they hold the inside of a body together.
fn insides(boxes: &[Bounds], field: &DistanceField) -> Vec<Bounds> {
    let mut grown = boxes.to_vec();
    let half = 0.5 * field.cell();
    let mut last = 0;
    for x in field.inner_nodes() {
        let holds = |b: &Bounds| b.min.cmple(x - half).all() && b.max.cmpge(x + half).all();
        if grown.get(last).is_none_or(holds) {
            continue;
        }
        let away = |k: &usize| (x - x.clamp(boxes[*k].min, boxes[*k].max)).length_squared();
        last = (0..boxes.len()).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap_or(0);
        grown[last] = grown[last].union(&Bounds { min: x - half, max: x + half });
    }
    grown
}

impl Rings {
    fn new(particles: &[Vec3], triangles: &[[u32; 3]]) -> Self {
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
    use crate::lengths::Lengths as _;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Run;
    use crate::zoo::tet_bodies;

    #[test]
    fn patches_hold_every_point_once_and_the_whole_inside() {
        for name in ["worm", "jellyfish", "bowel"] {
            let surface = tet_bodies::build(name, Some(300)).unwrap().surface();
            let (places, triangles) = (&surface.positions, &surface.triangles);
            let field = DistanceField::new(places, triangles, &Run::default()).unwrap();
            let between: Vec<Between> = triangles
                .iter()
                .filter(|[a, b, _]| a < b)
                .map(|&[a, b, _]| {
                    let edge = places[b as usize] - places[a as usize];
                    Between { of: [a, b], share: 0.5, edge }
                })
                .collect();
            let patches = Patches::new(places, triangles, &between, &field);
            assert_eq!(patches.points.len(), places.len() + between.len(), "{name}");
            let home = |b: &Between| places[b.of[0] as usize] + b.share * b.edge;
            let (mut seen, mut boxes) = (vec![0; places.len()], Vec::new());
            for (k, patch) in patches.all.iter().enumerate() {
                let from = home(&patch.carrier);
                for point in patches.points(k) {
                    let x = home(point) - from;
                    let holds = x.cmpge(patch.own.min - 1e-6) & x.cmple(patch.own.max + 1e-6);
                    assert!(holds.all(), "{name}: {x} in {:?}", patch.own);
                    if point.of[0] == point.of[1] {
                        seen[point.of[0] as usize] += 1;
                    }
                }
                let inside = &patch.inside;
                boxes.push(Bounds { min: inside.min + from, max: inside.max + from });
            }
            assert!(seen.iter().all(|n| *n == 1), "{name}");
            let around = field.bounds();
            let mut inner = 0;
            for k in 0..20_000_u32 {
                let share = |by: f64| (f64::from(k) * by).fract() as f32;
                let at = Vec3::new(share(0.754_877), share(0.569_84), share(0.426_15));
                let x = around.min + at * around.size();
                if field.at(x).is_some_and(|(distance, _)| distance < 0.0) {
                    inner += 1;
                    let holds = |b: &&Bounds| x.clamp(b.min, b.max) == x;
                    assert!(boxes.iter().any(|b| holds(&b)), "{name}: {x} is inside");
                }
            }
            assert!(inner > 500, "{name}: {inner}");
        }
    }

    #[test]
    fn circles_around_triangles_hold_them() {
        // Right-angled: half the longest edge; with equal edges: that over √3.
        let right = circle([Vec3::ZERO, 3.0 * Vec3::X, 4.0 * Vec3::Y]);
        assert!((right - 2.5).abs() < 1e-6, "{right}");
        let high = 3.0_f32.sqrt() / 2.0;
        let equal = circle([Vec3::ZERO, Vec3::X, Vec3::new(0.5, high, 0.0)]);
        assert!((equal - 1.0 / 3.0_f32.sqrt()).abs() < 1e-6, "{equal}");
    }
}

//! Closest points of a mesh.
//!
//! # Method
//!
//! Depth first, the nearer child first, leaving out boxes farther away than the best so far.
//!
//! From a point at distance `D` of a smooth surface a box as large as its triangles' edges `e` is
//! nearer than it should be, so that all triangles within about `√(2De)` must be looked at:
//! hundreds. For many points at once each node also gets a disk, a short cylinder about its mean
//! normal, which fits a smooth surface like a coin: few are nearer than what they hold.
//! Points are taken along the Morton curve, and each starts with the triangle of the one before as
//! its bound. None of this changes an answer.

use glam::{DVec3, Vec3};

use super::{
    Below, Bvh, Closest, STACK, along_curve, blend, bounds_of, closest_weights,
    squared_distance_to_box,
};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::run::Cancelled;

/// Points a task answers; fixed, so that the work is cut the same way for any thread count.
const TASK: usize = 256;

/// The triangle nearest to a point so far.
#[derive(Clone, Copy)]
pub(super) struct Nearest {
    squared: f64,
    /// Its place in leaf order; `usize::MAX` before there is one.
    slot: usize,
    weights: DVec3,
}

impl Closest {
    /// What a point has that is nowhere: not finite.
    const NONE: Self = Self {
        triangle: u32::MAX,
        point: Vec3::NAN,
        barycentric: [f32::NAN; 3],
        distance: f32::NAN,
    };
}

impl Bvh {
    /// The closest point of the mesh to each of many points, in their order: those of
    /// [`closest_point`](Self::closest_point), faster. Empty without triangles; a point that is not
    /// finite has a NaN distance.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] when the caller asked to stop.
    pub fn closest_points(
        &self,
        points: &[Vec3],
        run: &Run<'_>,
    ) -> Result<Vec<Closest>, Cancelled> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let places = along_curve(points, run);
        let disks = self.disks(run)?;
        let parts = run.map_tasks(points.len().div_ceil(TASK), |task| {
            run.check()?;
            let end = ((task + 1) * TASK).min(points.len());
            let mut guess = None;
            let closest = places[task * TASK..end].iter().map(|&place| {
                let q = points[place as usize].as_dvec3();
                let nearest = self.nearest(q, f64::INFINITY, guess, &disks);
                guess = nearest.map(|n| n.slot);
                nearest.map_or(Closest::NONE, |n| self.closest(&n))
            });
            Ok(closest.collect::<Vec<_>>())
        });
        let mut all = vec![Closest::NONE; points.len()];
        for (part, places) in parts.into_iter().zip(places.chunks(TASK)) {
            for (closest, &place) in part?.into_iter().zip(places) {
                all[place as usize] = closest;
            }
        }
        Ok(all)
    }

    pub(super) fn closest(&self, nearest: &Nearest) -> Closest {
        let weights = nearest.weights;
        Closest {
            triangle: self.order[nearest.slot],
            point: blend(&self.corners[nearest.slot], weights).as_vec3(),
            barycentric: weights.as_vec3().to_array(),
            distance: nearest.squared.sqrt() as f32,
        }
    }

    /// The triangle nearest to `q` within a squared distance. A good guess and the disks of the
    /// nodes, if there are any, make it faster and never change it.
    pub(super) fn nearest(
        &self,
        q: DVec3,
        limit: f64,
        guess: Option<usize>,
        disks: &[Disk],
    ) -> Option<Nearest> {
        let mut best = Nearest { squared: limit, slot: usize::MAX, weights: DVec3::X };
        if let Some(slot) = guess {
            self.improve(&mut best, slot, q);
        }
        let mut stack = [(0.0, 0_u32); STACK];
        let mut height = usize::from(!self.is_empty());
        while height > 0 {
            height -= 1;
            let (squared, n) = stack[height];
            let is_far = || disks.get(n as usize).is_some_and(|d| d.squared_to(q) > best.squared);
            if squared > best.squared || is_far() {
                continue;
            }
            let node = &self.nodes[n as usize];
            if node.second == 0 {
                self.slots(node).for_each(|slot| self.improve(&mut best, slot, q));
                continue;
            }
            let child = |c: u32| (squared_distance_to_box(&self.nodes[c as usize].bounds, q), c);
            let (first, second) = (child(n + 1), child(node.second));
            let (near, far) = if second.0 < first.0 { (second, first) } else { (first, second) };
            for child in [far, near] {
                stack[height] = child;
                height += usize::from(child.0 <= best.squared);
            }
        }
        (best.slot != usize::MAX).then_some(best)
    }

    /// Takes the triangle at `slot` if it is nearer than the best, or as near with a smaller index.
    fn improve(&self, best: &mut Nearest, slot: usize, q: DVec3) {
        let corners = &self.corners[slot];
        if squared_distance_to_box(&bounds_of(corners), q) > best.squared {
            return;
        }
        let weights = closest_weights(&corners.map(Vec3::as_dvec3), q);
        let squared = blend(corners, weights).distance_squared(q);
        let is_first = || best.slot == usize::MAX || self.order[slot] < self.order[best.slot];
        if squared < best.squared || (squared == best.squared && is_first()) {
            *best = Nearest { squared, slot, weights };
        }
    }

    /// The disk of every node, children first.
    fn disks(&self, run: &Run<'_>) -> Result<Vec<Disk>, Cancelled> {
        let leaves = run.map(self.nodes.len(), |n| match self.below(n) {
            Below::Leaf(slots) => Disk::around(&self.corners[slots]),
            Below::Nodes(_) => Disk::default(),
        });
        run.check()?;
        let mut disks = leaves;
        for n in (0..disks.len()).rev() {
            if let Below::Nodes([first, second]) = self.below(n) {
                disks[n] = Disk::around_both(&disks[first], &disks[second]);
            }
        }
        Ok(disks)
    }
}

/// A cylinder that holds what is below a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Disk {
    center: Vec3,
    /// Of unit length up to rounding.
    normal: Vec3,
    /// Across the normal.
    radius: f32,
    /// To both sides along the normal.
    thickness: f32,
}

impl Disk {
    /// More than rounding could take away.
    const UP: f64 = 1.0 + 1e-6;
    /// The same for squares, some of which nearly cancel.
    const DOWN: f64 = 1.0 - 1e-5;

    fn around(triangles: &[[Vec3; 3]]) -> Self {
        let mut sum = DVec3::ZERO;
        let mut normal = DVec3::ZERO;
        for corners in triangles {
            let [a, b, c] = corners.map(Vec3::as_dvec3);
            sum += a + b + c;
            normal += (b - a).cross(c - a);
        }
        let normal = normal.try_normalize().unwrap_or(DVec3::Z).as_vec3();
        let center = (sum / (3 * triangles.len()) as f64).as_vec3();
        let mut disk = Self { center, normal, radius: 0.0, thickness: 0.0 };
        for &corner in triangles.as_flattened() {
            disk.grow(corner, 0.0, 0.0);
        }
        disk
    }

    fn around_both(a: &Self, b: &Self) -> Self {
        // By size, so that the larger one is not tilted.
        let weight = |d: &Self| f64::from(d.radius) * f64::from(d.radius);
        let sum = weight(a) * a.normal.as_dvec3() + weight(b) * b.normal.as_dvec3();
        let normal = sum.try_normalize().unwrap_or(DVec3::Z).as_vec3();
        let center = (0.5 * (a.center.as_dvec3() + b.center.as_dvec3())).as_vec3();
        let mut disk = Self { center, normal, radius: 0.0, thickness: 0.0 };
        for part in [a, b] {
            let n = part.normal.as_dvec3();
            let along = n.dot(normal.as_dvec3()).abs().min(1.0);
            let across = n.cross(normal.as_dvec3()).norm();
            let (radius, thickness) = (f64::from(part.radius), f64::from(part.thickness));
            disk.grow(
                part.center,
                radius + thickness * across,
                thickness * along + radius * (across + 1e-6),
            );
        }
        disk
    }

    /// Grows it to hold what is `wide` and `thick` about a point.
    fn grow(&mut self, point: Vec3, wide: f64, thick: f64) {
        let (along, across) = self.coordinates(point.as_dvec3());
        self.radius = self.radius.max(((across + wide) * Self::UP) as f32);
        self.thickness = self.thickness.max(((along + thick) * Self::UP) as f32);
    }

    /// How far a point is from the middle plane, and from the axis.
    fn coordinates(&self, point: DVec3) -> (f64, f64) {
        let d = point - self.center.as_dvec3();
        let along = self.normal.as_dvec3().dot(d);
        (along.abs(), (d.length_squared() - along * along).max(0.0).sqrt())
    }

    /// No more than the squared distance of what is inside.
    fn squared_to(&self, q: DVec3) -> f64 {
        let (along, across) = self.coordinates(q);
        let along = (along - f64::from(self.thickness)).max(0.0);
        let across = (across - f64::from(self.radius)).max(0.0);
        (along * along + across * across) * Self::DOWN
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::{Random, bumpy_sphere, soup};
    use super::*;

    #[test]
    fn many_points_get_what_each_would_alone() {
        let mut random = Random(31);
        for (scale, at) in [(1.0, Vec3::ZERO), (1e-9, Vec3::ZERO), (1e12, Vec3::splat(1e13))] {
            for (positions, triangles) in [bumpy_sphere(30), soup(500, 0.2, &mut random)] {
                let moved: Vec<Vec3> = positions.iter().map(|&p| p * scale + at).collect();
                let bvh = Bvh::new(&moved, &triangles, &Run::default());
                let points: Vec<Vec3> =
                    (0..700).map(|_| 1.5 * random.point() * scale + at).collect();
                let together = bvh.closest_points(&points, &Run::default()).unwrap();
                for (&point, found) in points.iter().zip(together) {
                    assert_eq!(Some(found), bvh.closest_point(point), "{point} at {scale}");
                }
            }
        }
    }

    #[test]
    fn disks_hold_their_triangles() {
        let (positions, triangles) = bumpy_sphere(25);
        let bvh = Bvh::new(&positions, &triangles, &Run::default());
        let disks = bvh.disks(&Run::default()).unwrap();
        for (n, disk) in disks.iter().enumerate() {
            for corner in corners_below(&bvh, n) {
                let outside = disk.squared_to(corner.as_dvec3());
                assert!(outside < 1e-13, "{corner} is {outside} outside {disk:?}");
            }
        }
    }

    fn corners_below(bvh: &Bvh, n: usize) -> Vec<Vec3> {
        match bvh.below(n) {
            Below::Nodes(children) => {
                children.into_iter().flat_map(|c| corners_below(bvh, c)).collect()
            }
            Below::Leaf(slots) => bvh.corners[slots].as_flattened().to_vec(),
        }
    }

    #[test]
    fn nothing_to_find_and_nowhere_to_be() {
        let none = Bvh::new(&[], &[], &Run::default());
        assert!(none.closest_points(&[Vec3::ZERO], &Run::default()).unwrap().is_empty(), "no mesh");
        let flat = [Vec3::ZERO, Vec3::X, 2.0 * Vec3::X];
        let bvh = Bvh::new(&flat, &[[0, 1, 2], [0, 0, 0]], &Run::default());
        let found = bvh.closest_points(&[Vec3::NAN, Vec3::Y], &Run::default()).unwrap();
        assert!(found[0].distance.is_nan(), "{found:?}");
        assert_eq!((found[1].triangle, found[1].distance), (0, 1.0));
    }
}

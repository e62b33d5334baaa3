//! The signed distance to a closed surface, on a grid.
//!
//! Distances at the nodes are exact (nearest triangle, sign by winding number); between them they are interpolated, and
//! the way out is the gradient of that interpolation. The grid ends a cell outside the surface: what is beyond is outside.

use glam::{UVec3, Vec3};

use crate::Run;
use crate::lengths::Lengths as _;
use crate::mesh::measure::Bounds;
use crate::mesh::winding::Winding;

/// Most nodes of a grid: a bell 1 wide and 0.05 thick at its rim gets cells of 0.02; more would leave the second cache
/// (256 KB here), and two cells across are enough to tell the sides of a wall apart.
const MOST_NODES: f32 = 65_536.0;

/// Cells along the longest edge, where there is room: a worm of 1 × 0.06 gets six across.
const LONGEST: f32 = 100.0;

/// Distances around a shape at rest.
#[derive(Clone, Debug)]
pub struct DistanceField {
    low: Vec3,
    cell: f32,
    nodes: UVec3,
    values: Vec<f32>,
    deepest: f32,
}

/// The first node of a cell, and how far a point is from it along each edge, in edges.
type InCell = (usize, Vec3);

impl DistanceField {
    /// Of a closed surface whose triangles are seen counter-clockwise from outside; `None` without an inside.
    #[must_use]
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> Option<Self> {
        let winding = Winding::new(positions, triangles, run);
        let bounds = winding.bvh().bounds()?;
        let size = bounds.size();
        if !size.is_finite() || size.max_element() <= 0.0 {
            return None;
        }
        let cell = spacing(size);
        let low = bounds.min - cell;
        let nodes = (size / cell).ceil().as_uvec3() + 3;
        let count = (nodes.x * nodes.y * nodes.z) as usize;
        let values = run.map(count, |k| {
            let [k, x, y] = [k as u32, nodes.x, nodes.y];
            let at = low + cell * UVec3::new(k % x, k / x % y, k / (x * y)).as_vec3();
            let away = winding.bvh().closest_point(at).map_or(0.0, |c| at.distance_to(c.point));
            if winding.inside(at) { -away } else { away }
        });
        let deepest = -values.iter().copied().fold(0.0, f32::min);
        (deepest > 0.0).then_some(Self { low, cell, nodes, values, deepest })
    }

    /// Its nodes inside.
    pub(super) fn nodes_inside(&self) -> impl Iterator<Item = Vec3> {
        let node = |k: usize| {
            let [k, x, y] = [k as u32, self.nodes.x, self.nodes.y];
            self.low + self.cell * UVec3::new(k % x, k / x % y, k / (x * y)).as_vec3()
        };
        (0..self.values.len()).filter(|&k| self.values[k] < 0.0).map(node)
    }

    /// The distance between its nodes.
    pub(super) fn cell(&self) -> f32 {
        self.cell
    }

    /// How deep its deepest node is: half the thickness of the thickest part.
    #[must_use]
    pub fn deepest(&self) -> f32 {
        self.deepest
    }

    /// The box that the grid fills.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        Bounds { min: self.low, max: self.low + self.cell * (self.nodes - 1).as_vec3() }
    }

    /// The distance at a point, negative inside, and its gradient; `None` beyond the grid.
    #[inline(always)]
    #[must_use]
    pub fn at(&self, x: Vec3) -> Option<(f32, Vec3)> {
        Some(self.between(self.place(x)?))
    }

    /// The distance at a point that is inside or no farther outside than so, and its gradient.
    #[inline(always)]
    pub(super) fn near(&self, x: Vec3, farthest: f32) -> Option<(f32, Vec3)> {
        let place = self.place(x)?;
        // No other corner of the cell is farther than its diagonal, √3 edges.
        if self.values[place.0] >= 1.733 * self.cell + farthest {
            return None;
        }
        let at = self.between(place);
        (at.0 < farthest).then_some(at)
    }

    /// The cell that a point is in.
    #[inline(always)]
    fn place(&self, x: Vec3) -> Option<InCell> {
        let at = (x - self.low) / self.cell;
        let last = (self.nodes - 1).as_vec3();
        let is_near = at.cmpge(Vec3::ZERO).all() && at.cmplt(last).all();
        if !is_near {
            return None;
        }
        let corner = at.as_uvec3();
        let (row, sheet) = (self.nodes.x as usize, (self.nodes.x * self.nodes.y) as usize);
        let start = corner.x as usize + row * corner.y as usize + sheet * corner.z as usize;
        Some((start, at - corner.as_vec3()))
    }

    /// The distance in a cell and its gradient.
    #[inline(always)]
    fn between(&self, (start, f): InCell) -> (f32, Vec3) {
        let (row, sheet) = (self.nodes.x as usize, (self.nodes.x * self.nodes.y) as usize);
        let edge = |k: usize| -> (f32, f32) {
            let (a, b) = (self.values[k], self.values[k + 1]);
            (a + f.x * (b - a), b - a)
        };
        let mix = |t: f32, (a, b): (f32, f32)| a + t * (b - a);
        let [e0, e1] = [edge(start), edge(start + row)];
        let [e2, e3] = [edge(start + sheet), edge(start + sheet + row)];
        let (near, far) = (mix(f.y, (e0.0, e1.0)), mix(f.y, (e2.0, e3.0)));
        let along = mix(f.z, (mix(f.y, (e0.1, e1.1)), mix(f.y, (e2.1, e3.1))));
        let across = mix(f.z, (e1.0 - e0.0, e3.0 - e2.0));
        let gradient = Vec3::new(along, across, far - near) / self.cell;
        (mix(f.z, (near, far)), gradient)
    }
}

/// The edge of a cell for a box: as fine as both limits allow.
fn spacing(size: Vec3) -> f32 {
    let finest = size.max_element() / LONGEST;
    let nodes = |cell: f32| (size / cell + 3.0).element_product();
    let mut cell = finest;
    // A twelfth at a time: the count is no power of the spacing where the box is thin.
    while nodes(cell) > MOST_NODES {
        cell *= 1.08;
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zoo::tet_bodies;

    #[test]
    fn a_bar_has_the_distances_of_a_box() {
        let bar = tet_bodies::build("bar", Some(225)).unwrap().surface();
        let field = DistanceField::new(&bar.positions, &bar.triangles, &Run::default()).unwrap();
        assert!((field.deepest() - 0.5).abs() < 0.03, "{}", field.deepest());
        let half = Vec3::new(2.5, 0.5, 0.5);
        let mut near = 0;
        for k in 0..1000 {
            let share = |by: f64| ((f64::from(k) * by).fract() - 0.5) as f32;
            let x = Vec3::new(share(0.754_88), share(0.569_84), share(0.426_15)) * 2.1 * half;
            let Some((found, way)) = field.at(x) else {
                assert!((x.abs() - half).max_element() > 0.0, "{x} is inside");
                continue;
            };
            let out = x.abs() - half;
            let exact = out.max(Vec3::ZERO).length() + out.max_element().min(0.0);
            // Between nodes the edges of a box are bent off by up to a cell's diagonal.
            assert!((found - exact).abs() < 0.07, "{x}: {found}, not {exact}");
            let mut depths = (-out).to_array();
            depths.sort_by(f32::total_cmp);
            if depths[0] > 0.0 && depths[1] > depths[0] + 0.12 {
                near += 1;
                assert!((found - exact).abs() < 1e-4, "{x}: {found}, not {exact}");
                assert!((way.length() - 1.0).abs() < 1e-3, "{x}: {way}");
            }
        }
        assert!(near > 100, "{near} away from edges");
    }

    #[test]
    fn what_has_no_inside_has_no_field() {
        let flat = [Vec3::ZERO, Vec3::X, Vec3::Y];
        assert!(DistanceField::new(&flat, &[[0, 1, 2]], &Run::default()).is_none());
        assert!(DistanceField::new(&[], &[], &Run::default()).is_none());
    }
}

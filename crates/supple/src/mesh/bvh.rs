//! A bounding-volume hierarchy over triangles: closest points, rays, boxes, and pairs that are near.
//!
//! # Method
//!
//! Triangles are sorted along the Morton curve of their middles and split top-down where the
//! highest differing bit of the code changes.
//! Each node's first child is the next entry; children always come after their parent, so moved
//! vertices need one backward sweep ([`Bvh::refit`]).
//!
//! Corners are copied in leaf order: a query reads memory in a row and needs no mesh beside it.
//!
//! Rays are watertight in the sense of Woop et al.: the sign of a side is computed from its two ends
//! alone, so that a ray through a shared edge or vertex cannot slip between the triangles.
//!
//! # Where we differ from the papers
//!
//! Lauterbach et al. split at the change of the bit; we then move the split to a whole number of
//! leaves. So every leaf but the last holds exactly [`LEAF`] triangles, a subtree's size is known
//! before it is built, and both halves can be built at the same time into one flat array, with the
//! same bits for any thread count. Woop et al. use f32 and a second pass for signs it cannot tell;
//! edge functions are f64 here, for f32 corners.
//!
//! # Limits
//!
//! Positions must be finite, as [`TriMesh::validate`](super::TriMesh::validate) checks. A ray in the
//! plane of a triangle misses it.
//!
//! # References
//!
//! - C. Lauterbach, M. Garland, S. Sengupta, D. Luebke, D. Manocha. Fast BVH Construction on GPUs.
//!   Computer Graphics Forum (Eurographics), 2009.
//! - S. Woop, C. Benthin, I. Wald. Watertight Ray/Triangle Intersection. Journal of Computer
//!   Graphics Techniques, 2013.
//! - C. Ericson. Real-Time Collision Detection. Morgan Kaufmann, 2005 (closest point).
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::{Run, mesh::bvh::{Bvh, Ray}};
//!
//! let positions = [Vec3::ZERO, Vec3::X, Vec3::Y];
//! let bvh = Bvh::new(&positions, &[[0, 1, 2]], &Run::default());
//!
//! let closest = bvh.closest_point(Vec3::new(0.25, 0.25, 2.0)).unwrap();
//! assert_eq!((closest.point, closest.distance), (Vec3::new(0.25, 0.25, 0.0), 2.0));
//!
//! let ray = Ray { origin: Vec3::new(0.2, 0.2, -1.0), direction: Vec3::Z };
//! assert_eq!(bvh.first_hit(&ray, f32::INFINITY).unwrap().distance, 1.0);
//! ```

mod closest;
mod count;

use std::ops::Range;

use glam::{DVec3, Vec3};
use rayon::slice::ParallelSliceMut as _;

use super::measure::Bounds;
use crate::Run;
use crate::run::Cancelled;

/// Triangles in a leaf.
pub const LEAF: usize = 4;

/// Cells of the Morton curve along each axis: 21 bits, so that three fit in 64.
const CELLS: f32 = (1 << 21) as f32;

/// Below this many triangles a subtree is not worth a task of its own.
const SMALLEST_TASK: usize = 4096;

/// From this depth on triangles are split into halves: no input makes the tree deeper than
/// [`STACK`] allows.
const DEPTH_OF_HALVES: usize = 48;

/// Entries a depth-first walk may need: the depth above, plus 32 levels of halves.
pub(crate) const STACK: usize = 96;

/// Pairs of subtrees a walk over all pairs is cut into, at least.
const PAIR_TASKS: usize = 1024;

/// A box and what is in it; a leaf has no second child.
#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Bounds,
    /// Where the second child is (the first is the next node); zero in a leaf.
    second: u32,
    /// Where the triangles below begin in leaf order.
    first: u32,
}

/// A hierarchy of boxes over the triangles of a mesh.
#[derive(Clone, Debug)]
pub struct Bvh {
    nodes: Vec<Node>,
    /// Which triangle each place in leaf order is.
    order: Vec<u32>,
    /// The corners of that triangle.
    corners: Vec<[Vec3; 3]>,
}

/// The point of a mesh closest to a given one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Which triangle it is on; the smallest index if several are equally near.
    pub triangle: u32,
    /// Where it is.
    pub point: Vec3,
    /// Weights of the triangle's corners; they add up to one.
    pub barycentric: [f32; 3],
    /// How far it is.
    pub distance: f32,
}

/// A half line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Where it starts.
    pub origin: Vec3,
    /// Where it goes; need not be of unit length.
    pub direction: Vec3,
}

/// Where a ray meets a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Which triangle.
    pub triangle: u32,
    /// How far along, in lengths of the ray's direction.
    pub distance: f32,
    /// Weights of the triangle's corners; they add up to one.
    pub barycentric: [f32; 3],
    /// True if the ray enters through the front: the corners are counter-clockwise to it.
    pub front: bool,
}

/// A triangle while the tree is built: its place on the Morton curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    code: u64,
    triangle: u32,
}

impl Bvh {
    /// Builds the hierarchy. A run that is cancelled gives one that must not be asked.
    ///
    /// # Panics
    ///
    /// If a triangle names a vertex that does not exist.
    #[must_use]
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> Self {
        let corners_of = |t: usize| triangles[t].map(|i| positions[i as usize]);
        let items = sorted_items(triangles.len(), &|t| middle(&corners_of(t)), run);
        let order: Vec<u32> = items.iter().map(|item| item.triangle).collect();
        let corners = run.map(order.len(), |slot| corners_of(order[slot] as usize));
        let unset = Node { bounds: Bounds::EMPTY, second: 0, first: 0 };
        let mut nodes = vec![unset; node_count(items.len())];
        if !items.is_empty() {
            let builder = Builder { items: &items, corners: &corners, run };
            run.install(|| builder.build(&mut nodes, 0, 0..items.len(), 0));
        }
        Self { nodes, order, corners }
    }

    /// Follows moved vertices: same triangles, new positions. The tree stays as it was built, so
    /// after a large change a new one answers faster, never differently.
    ///
    /// # Panics
    ///
    /// If a triangle is missing or names a vertex that does not exist.
    pub fn refit(&mut self, positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) {
        let order = &self.order;
        run.for_each(&mut self.corners, |slot, corners| {
            *corners = triangles[order[slot] as usize].map(|i| positions[i as usize]);
        });
        for n in (0..self.nodes.len()).rev() {
            let node = self.nodes[n];
            self.nodes[n].bounds = if node.second == 0 {
                let leaf = &self.corners[self.slots(&node)];
                leaf.iter().fold(Bounds::EMPTY, |b, corners| b.union(&bounds_of(corners)))
            } else {
                self.nodes[n + 1].bounds.union(&self.nodes[node.second as usize].bounds)
            };
        }
    }

    /// The box around everything; `None` without triangles.
    #[must_use]
    pub fn bounds(&self) -> Option<Bounds> {
        self.nodes.first().map(|node| node.bounds)
    }

    /// How many triangles there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// True if there is no triangle.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The closest point of the mesh; `None` without triangles.
    #[must_use]
    pub fn closest_point(&self, point: Vec3) -> Option<Closest> {
        self.closest_within(point, f32::INFINITY)
    }

    /// The closest point of the mesh no farther than `radius`.
    #[must_use]
    pub fn closest_within(&self, point: Vec3, radius: f32) -> Option<Closest> {
        let limit = f64::from(radius) * f64::from(radius);
        self.nearest(point.as_dvec3(), limit, None, &[]).map(|nearest| self.closest(&nearest))
    }

    /// The first triangle a ray meets within `reach` lengths of its direction; the smallest index
    /// if it meets several at once.
    #[must_use]
    pub fn first_hit(&self, ray: &Ray, reach: f32) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        self.cast(ray, reach, |hit| {
            let nearer = best.is_none_or(|b| {
                hit.distance < b.distance
                    || (hit.distance == b.distance && hit.triangle < b.triangle)
            });
            if nearer {
                best = Some(hit);
            }
            best.map_or(reach, |b| b.distance)
        });
        best
    }

    /// All triangles a ray meets, nearest first. A ray through an edge or a vertex meets all
    /// triangles there.
    #[must_use]
    pub fn all_hits(&self, ray: &Ray) -> Vec<Hit> {
        let mut hits = Vec::new();
        self.cast(ray, f32::INFINITY, |hit| {
            hits.push(hit);
            f32::INFINITY
        });
        hits.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.triangle.cmp(&b.triangle)));
        hits
    }

    /// Calls `found` with every hit closer than the reach that the last call returned.
    fn cast(&self, ray: &Ray, reach: f32, mut found: impl FnMut(Hit) -> f32) {
        let Some(sheared) = Sheared::new(ray) else { return };
        let mut reach = f64::from(reach);
        let mut stack = Stack::default();
        stack.push_if_any(&self.nodes);
        while let Some(n) = stack.pop() {
            let node = &self.nodes[n];
            if !sheared.enters(&node.bounds, reach) {
                continue;
            }
            if node.second != 0 {
                stack.push(node.second as usize);
                stack.push(n + 1);
                continue;
            }
            for slot in self.slots(node) {
                if let Some(mut hit) = sheared.meets(&self.corners[slot], reach) {
                    hit.triangle = self.order[slot];
                    reach = f64::from(found(hit));
                }
            }
        }
    }

    /// The triangles whose boxes share a point with `query`, in rising order.
    #[must_use]
    pub fn in_box(&self, query: &Bounds) -> Vec<u32> {
        let mut inside = Vec::new();
        let mut stack = Stack::default();
        stack.push_if_any(&self.nodes);
        while let Some(n) = stack.pop() {
            let node = &self.nodes[n];
            if !node.bounds.overlaps(query) {
                continue;
            }
            if node.second != 0 {
                stack.push(node.second as usize);
                stack.push(n + 1);
                continue;
            }
            for slot in self.slots(node) {
                if bounds_of(&self.corners[slot]).overlaps(query) {
                    inside.push(self.order[slot]);
                }
            }
        }
        inside.sort_unstable();
        inside
    }

    /// All pairs of triangles whose boxes share a point, smaller index first, sorted.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] when the caller asked to stop.
    pub fn near_pairs(&self, run: &Run<'_>) -> Result<Vec<[u32; 2]>, Cancelled> {
        self.filter_pairs(&|_, _| true, run)
    }

    /// The pairs of triangles with overlapping boxes of which `keep` says so, smaller index first,
    /// sorted. `keep` gets places in leaf order; see [`corners`](Self::corners).
    pub(crate) fn filter_pairs(
        &self,
        keep: &(dyn Fn(usize, usize) -> bool + Sync),
        run: &Run<'_>,
    ) -> Result<Vec<[u32; 2]>, Cancelled> {
        let tasks = self.pair_tasks();
        let found = run.map_tasks(tasks.len(), |task| {
            run.check()?;
            let mut pairs = Vec::new();
            self.walk_pairs(tasks[task], |i, j| {
                if keep(i, j) {
                    let (a, b) = (self.order[i], self.order[j]);
                    pairs.push([a.min(b), a.max(b)]);
                }
            });
            Ok(pairs)
        });
        let mut pairs = Vec::new();
        for part in found {
            pairs.extend(part?);
        }
        pairs.sort_unstable();
        Ok(pairs)
    }

    /// Pairs of subtrees that together hold all pairs of triangles.
    fn pair_tasks(&self) -> Vec<[usize; 2]> {
        let mut tasks = Vec::new();
        if !self.nodes.is_empty() {
            tasks.push([0, 0]);
        }
        loop {
            let mut finer = Vec::with_capacity(3 * tasks.len());
            for &pair in &tasks {
                if !self.open_pair(pair, &mut finer) {
                    finer.push(pair);
                }
            }
            let is_finest = finer.len() == tasks.len();
            tasks = finer;
            if tasks.len() >= PAIR_TASKS || is_finest {
                return tasks;
            }
        }
    }

    /// Replaces a pair of subtrees by pairs of their children that overlap; false for two leaves.
    fn open_pair(&self, [a, b]: [usize; 2], onto: &mut Vec<[usize; 2]>) -> bool {
        let children = |n: usize| [n + 1, self.nodes[n].second as usize];
        let (is_leaf_a, is_leaf_b) = (self.nodes[a].second == 0, self.nodes[b].second == 0);
        if is_leaf_a && is_leaf_b {
            return false;
        }
        let mut push = |x: usize, y: usize| {
            if self.nodes[x].bounds.overlaps(&self.nodes[y].bounds) {
                onto.push([x, y]);
            }
        };
        if a == b {
            let [l, r] = children(a);
            push(l, l);
            push(l, r);
            push(r, r);
        } else if is_leaf_b || (!is_leaf_a && self.size(a) >= self.size(b)) {
            children(a).into_iter().for_each(|c| push(c, b));
        } else {
            children(b).into_iter().for_each(|c| push(a, c));
        }
        true
    }

    /// How large a node is, for choosing which of two to open.
    fn size(&self, n: usize) -> f32 {
        self.nodes[n].bounds.size().element_sum()
    }

    /// Visits the pairs of triangles below a pair of subtrees whose boxes overlap.
    fn walk_pairs(&self, from: [usize; 2], mut visit: impl FnMut(usize, usize)) {
        let mut stack = vec![from];
        while let Some([a, b]) = stack.pop() {
            if self.open_pair([a, b], &mut stack) {
                continue;
            }
            self.pairs_of_leaves([a, b], &mut visit);
        }
    }

    /// Visits the pairs of triangles of two leaves whose boxes overlap.
    fn pairs_of_leaves(&self, [a, b]: [usize; 2], visit: &mut impl FnMut(usize, usize)) {
        let (of_a, of_b) = (self.slots(&self.nodes[a]), self.slots(&self.nodes[b]));
        let mut boxes = [Bounds::EMPTY; LEAF];
        for (k, j) in of_b.clone().enumerate() {
            boxes[k] = bounds_of(&self.corners[j]);
        }
        for i in of_a {
            let mine = bounds_of(&self.corners[i]);
            for (j, other) in of_b.clone().zip(&boxes) {
                if (a != b || i < j) && mine.overlaps(other) {
                    visit(i, j);
                }
            }
        }
    }

    /// The corners of the triangles, in leaf order.
    pub(crate) fn corners(&self) -> &[[Vec3; 3]] {
        &self.corners
    }

    /// Which triangle each place in leaf order is.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// How many nodes there are; node 0 is the root.
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The two children of a node, or the places in leaf order that a leaf holds.
    pub(crate) fn below(&self, n: usize) -> Below {
        let node = &self.nodes[n];
        if node.second == 0 {
            Below::Leaf(self.slots(node))
        } else {
            Below::Nodes([n + 1, node.second as usize])
        }
    }

    /// The box of a node.
    pub(crate) fn node_bounds(&self, n: usize) -> &Bounds {
        &self.nodes[n].bounds
    }

    /// The places in leaf order of a leaf's triangles.
    fn slots(&self, leaf: &Node) -> Range<usize> {
        let first = leaf.first as usize;
        first..(first + LEAF).min(self.order.len())
    }
}

/// What is below a node.
pub(crate) enum Below {
    /// Two nodes.
    Nodes([usize; 2]),
    /// Triangles, as places in leaf order.
    Leaf(Range<usize>),
}

/// Nodes still to visit in a depth-first walk.
pub(crate) struct Stack {
    nodes: [u32; STACK],
    len: usize,
}

impl Default for Stack {
    fn default() -> Self {
        Self { nodes: [0; STACK], len: 0 }
    }
}

impl Stack {
    fn push_if_any(&mut self, nodes: &[Node]) {
        if !nodes.is_empty() {
            self.push(0);
        }
    }

    pub(crate) fn push(&mut self, n: usize) {
        self.nodes[self.len] = n as u32;
        self.len += 1;
    }

    pub(crate) fn pop(&mut self) -> Option<usize> {
        self.len = self.len.checked_sub(1)?;
        Some(self.nodes[self.len] as usize)
    }
}

/// Nodes of a tree over `triangles`.
fn node_count(triangles: usize) -> usize {
    (2 * triangles.div_ceil(LEAF)).saturating_sub(1)
}

fn bounds_of([a, b, c]: &[Vec3; 3]) -> Bounds {
    Bounds { min: a.min(*b).min(*c), max: a.max(*b).max(*c) }
}

/// Twice the middle of the box of a triangle; without the rounding of halving.
fn middle(corners: &[Vec3; 3]) -> Vec3 {
    let b = bounds_of(corners);
    b.min + b.max
}

/// All triangles in the order of the Morton curve, equal places in index order.
fn sorted_items(n: usize, middle: &(dyn Fn(usize) -> Vec3 + Sync), run: &Run<'_>) -> Vec<Item> {
    let tasks = run.map_tasks(n.div_ceil(SMALLEST_TASK), |task| {
        let range = task * SMALLEST_TASK..((task + 1) * SMALLEST_TASK).min(n);
        range.map(middle).fold(Bounds::EMPTY, grow)
    });
    let all = tasks.iter().fold(Bounds::EMPTY, |b, part| b.union(part));
    let scale = Vec3::splat(CELLS) / all.size().max(Vec3::splat(f32::MIN_POSITIVE));
    let mut items = run.map(n, |t| {
        let cell = ((middle(t) - all.min) * scale).min(Vec3::splat(CELLS - 1.0));
        let [x, y, z] = cell.to_array().map(|c| spread(c as u64));
        Item { code: x << 2 | y << 1 | z, triangle: t as u32 }
    });
    match run.threads {
        Some(pool) => pool.install(|| items.par_sort_unstable()),
        None => items.sort_unstable(),
    }
    items
}

/// The points in an order in which those near each other are near: along the Morton curve.
pub(crate) fn along_curve(points: &[Vec3], run: &Run<'_>) -> Vec<u32> {
    let items = sorted_items(points.len(), &|i| points[i], run);
    items.into_iter().map(|item| item.triangle).collect()
}

fn grow(b: Bounds, p: Vec3) -> Bounds {
    Bounds { min: b.min.min(p), max: b.max.max(p) }
}

/// Puts two zeros between the 21 bits of `x`.
fn spread(x: u64) -> u64 {
    let x = (x | x << 32) & 0x001f_0000_0000_ffff;
    let x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    let x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    let x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

/// Builds subtrees, both halves at the same time if there are threads.
struct Builder<'a> {
    items: &'a [Item],
    corners: &'a [[Vec3; 3]],
    run: &'a Run<'a>,
}

impl Builder<'_> {
    /// Fills `nodes`, exactly as many as the triangles at `slots` need, and gives the box around
    /// them; `at` is where the nodes begin in the whole tree.
    fn build(&self, nodes: &mut [Node], at: usize, slots: Range<usize>, depth: usize) -> Bounds {
        let first = slots.start as u32;
        let (node, rest) = nodes.split_first_mut().expect("a subtree has at least its root");
        if slots.len() <= LEAF {
            let leaf = &self.corners[slots];
            let bounds = leaf.iter().fold(Bounds::EMPTY, |b, c| b.union(&bounds_of(c)));
            *node = Node { bounds, second: 0, first };
            return bounds;
        }
        let is_large = slots.len() >= SMALLEST_TASK && self.run.threads.is_some();
        if slots.len() >= SMALLEST_TASK && self.run.is_cancelled() {
            return Bounds::EMPTY;
        }
        let cut = slots.start + Self::cut(&self.items[slots.clone()], depth);
        let (left, right) = rest.split_at_mut(node_count(cut - slots.start));
        let second = at + 1 + left.len();
        let mut build_left = || self.build(left, at + 1, slots.start..cut, depth + 1);
        let mut build_right = || self.build(right, second, cut..slots.end, depth + 1);
        let (l, r) = if is_large {
            rayon::join(build_left, build_right)
        } else {
            (build_left(), build_right())
        };
        let bounds = l.union(&r);
        *node = Node { bounds, second: second as u32, first };
        bounds
    }

    /// How many of the items go to the first side: up to where the highest differing bit of the
    /// code changes, or half, then a whole number of leaves.
    fn cut(items: &[Item], depth: usize) -> usize {
        let (first, last) = (items[0].code, items[items.len() - 1].code);
        let wanted = if first == last || depth >= DEPTH_OF_HALVES {
            items.len() / 2
        } else {
            let highest = 1_u64 << (63 - (first ^ last).leading_zeros());
            items.partition_point(|item| item.code & highest == 0)
        };
        let leaves = items.len().div_ceil(LEAF);
        ((wanted + LEAF / 2) / LEAF).clamp(1, leaves - 1) * LEAF
    }
}

/// Rounded like the distances it is compared with, a little below them.
fn squared_distance_to_box(b: &Bounds, q: DVec3) -> f64 {
    const DOWN: f64 = 1.0 - 8.0 * f64::EPSILON;
    let outside = (b.min.as_dvec3() - q).max(q - b.max.as_dvec3()).max(DVec3::ZERO);
    outside.length_squared() * DOWN
}

pub(crate) fn blend(corners: &[Vec3; 3], w: DVec3) -> DVec3 {
    let [a, b, c] = corners.map(Vec3::as_dvec3);
    // Relative to a corner: exact where the weight is one.
    if w.x == 1.0 {
        return a;
    }
    a * w.x + b * w.y + c * w.z
}

/// Barycentric weights of the point of a triangle closest to `q` (Ericson, section 5.1.5).
pub(crate) fn closest_weights([a, b, c]: &[DVec3; 3], q: DVec3) -> DVec3 {
    let (ab, ac) = (*b - *a, *c - *a);
    let normal = ab.cross(ac).length_squared();
    let size = ab.length_squared().max(ac.length_squared());
    // Needles too thin for the division below have nothing but their sides.
    if normal <= 1e-20 * size * size {
        return closest_on_sides([*a, *b, *c], q);
    }
    let ap = q - *a;
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return DVec3::X;
    }
    let bp = q - *b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return DVec3::Y;
    }
    let cp = q - *c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return DVec3::Z;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return DVec3::new(1.0 - t, t, 0.0);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return DVec3::new(1.0 - t, 0.0, t);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return DVec3::new(0.0, 1.0 - t, t);
    }
    let sum = va + vb + vc;
    let (v, w) = (vb / sum, vc / sum);
    DVec3::new(1.0 - v - w, v, w)
}

/// Barycentric weights of the point on the three sides closest to `q`.
fn closest_on_sides(corners: [DVec3; 3], q: DVec3) -> DVec3 {
    let mut best = (f64::INFINITY, DVec3::X);
    for k in 0..3 {
        let next = (k + 1) % 3;
        let along = corners[next] - corners[k];
        let squared = along.length_squared();
        let t = if squared > 0.0 { along.dot(q - corners[k]) / squared } else { 0.0 };
        let t = t.clamp(0.0, 1.0);
        let distance = (corners[k] + t * along).distance_squared(q);
        if distance < best.0 {
            let mut weights = DVec3::ZERO;
            weights[k] = 1.0 - t;
            weights[next] = t;
            best = (distance, weights);
        }
    }
    best.1
}

/// A ray in the space where it runs along the last axis.
struct Sheared {
    origin: DVec3,
    inverse: DVec3,
    /// Axes in order, the one the ray mostly follows last.
    axes: [usize; 3],
    shear: DVec3,
}

impl Sheared {
    /// `None` for a ray without a direction.
    fn new(ray: &Ray) -> Option<Self> {
        let direction = ray.direction.as_dvec3();
        let z = direction.abs().max_position();
        let along = direction[z];
        if !(along != 0.0 && direction.is_finite() && ray.origin.is_finite()) {
            return None;
        }
        let (x, y) = ((z + 1) % 3, (z + 2) % 3);
        // Swapped for a ray that runs backwards, to keep what is counter-clockwise.
        let (x, y) = if along < 0.0 { (y, x) } else { (x, y) };
        Some(Self {
            origin: ray.origin.as_dvec3(),
            inverse: direction.recip(),
            axes: [x, y, z],
            shear: DVec3::new(direction[x] / along, direction[y] / along, 1.0 / along),
        })
    }

    /// True unless the ray surely misses the box within the reach.
    fn enters(&self, b: &Bounds, reach: f64) -> bool {
        const UP: f64 = 1.0 + 4.0 * f64::EPSILON;
        let to_min = (b.min.as_dvec3() - self.origin) * self.inverse;
        let to_max = (b.max.as_dvec3() - self.origin) * self.inverse;
        // A ray within a face of the box gives 0 · ∞: that axis says nothing.
        let is_open = |i: usize| to_min[i].is_nan() || to_max[i].is_nan();
        let near = |i| if is_open(i) { f64::NEG_INFINITY } else { to_min[i].min(to_max[i]) };
        let far = |i| if is_open(i) { f64::INFINITY } else { to_min[i].max(to_max[i]) };
        let enter = near(0).max(near(1)).max(near(2)).max(0.0);
        let leave = far(0).min(far(1)).min(far(2)).min(reach);
        enter <= leave * UP
    }

    /// The hit with one triangle within the reach; its index is left to the caller.
    fn meets(&self, corners: &[Vec3; 3], reach: f64) -> Option<Hit> {
        let [x, y, z] = self.axes;
        let [a, b, c] = corners.map(|p| {
            let p = p.as_dvec3() - self.origin;
            DVec3::new(p[x] - self.shear.x * p[z], p[y] - self.shear.y * p[z], p[z])
        });
        let u = c.x * b.y - c.y * b.x;
        let v = a.x * c.y - a.y * c.x;
        let w = b.x * a.y - b.y * a.x;
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let sum = u + v + w;
        if sum == 0.0 {
            return None;
        }
        let distance = (u * a.z + v * b.z + w * c.z) * self.shear.z / sum;
        if !(0.0..=reach).contains(&distance) {
            return None;
        }
        let barycentric = [u, v, w].map(|s| (s / sum) as f32);
        Some(Hit { triangle: 0, distance: distance as f32, barycentric, front: sum > 0.0 })
    }
}

#[cfg(test)]
mod tests;

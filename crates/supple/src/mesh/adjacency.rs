//! Who is next to whom, in compressed rows, and what kind of surface that makes.
//!
//! # Method
//!
//! Everything starts from one counting sort: for each vertex, the triangles around it
//! ([`vertex_triangles`]). Edges are then found vertex by vertex, each at its smaller end, from a
//! sorted handful of neighbours; no table of all edges is built unless [`edges`] is asked for.
//!
//! # Conventions
//!
//! - A triangle that names a vertex twice has no edges of its own and is left out everywhere
//!   (counted in [`Topology::index_degenerate`]).
//! - A mesh is closed if each edge is in exactly two triangles, edge-manifold if in at most two.
//! - It is vertex-manifold if, further, the triangles around each vertex are one fan.
//! - Two triangles are in the same component if a chain of shared vertices links them.
//! - Indices alone decide. Vertices that lie on each other (the seams of a glTF file) are joined
//!   first with [`coincident`] and [`renamed`], by callers who want that.
//!
//! # Limits
//!
//! Every index must be below the vertex count, as [`TriMesh::validate`](super::TriMesh::validate)
//! checks, and three times the triangle count must fit in 32 bits.
//!
//! # Example
//!
//! ```
//! use supple::{Run, mesh::adjacency};
//!
//! let tetrahedron = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
//! let whole = adjacency::topology(4, &tetrahedron, &Run::default());
//! assert!(whole.is_closed() && whole.is_oriented() && whole.is_vertex_manifold());
//!
//! let open = adjacency::boundary_loops(4, &tetrahedron[1..]);
//! assert_eq!(open, [[0, 1, 2]]); // the rim, as the missing triangle's neighbours run
//! ```

use std::collections::VecDeque;
use std::ops::Range;

use glam::Vec3;

use super::welding::Welding;
use crate::Run;

pub use crate::rows::Rows;

/// True if a triangle names a vertex twice.
#[must_use]
pub fn is_index_degenerate([a, b, c]: [u32; 3]) -> bool {
    a == b || b == c || c == a
}

/// The triangles around each vertex, in rising order; index-degenerate ones are left out.
#[must_use]
pub fn vertex_triangles(vertices: usize, triangles: &[[u32; 3]]) -> Rows {
    let sound = (0..).zip(triangles).filter(|(_, t)| !is_index_degenerate(**t));
    Rows::sorted(vertices, sound.flat_map(|(t, triangle)| triangle.map(|v| (v, t))))
}

/// The corners at each vertex, in rising order: corner `c` of triangle `t` is `3 t + c`. None is left out.
pub(crate) fn vertex_corners(vertices: usize, triangles: &[[u32; 3]]) -> Rows {
    Rows::sorted(vertices, triangles.as_flattened().iter().copied().zip(0..))
}

/// The neighbours of each vertex along edges, in rising order.
#[must_use]
pub fn vertex_vertices(vertices: usize, triangles: &[[u32; 3]]) -> Rows {
    let around = vertex_triangles(vertices, triangles);
    let (mut rows, mut neighbours) = (Rows::default(), Vec::new());
    for v in 0..vertices {
        neighbours.clear();
        for &t in around.row(v) {
            let [next, last] = others(triangles[t as usize], v as u32);
            neighbours.extend([next, last]);
        }
        neighbours.sort_unstable();
        neighbours.dedup();
        rows.push(neighbours.iter().copied());
    }
    rows
}

/// Each edge once, smaller vertex first, sorted.
#[must_use]
pub fn edges(vertices: usize, triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let around = vertex_triangles(vertices, triangles);
    let mut edges = Vec::with_capacity(around.entries().len() / 2);
    let mut spokes = Vec::new();
    for v in 0..vertices {
        gather_spokes(&around, triangles, v, &mut spokes);
        edges.extend(upward_edges(&spokes, v as u32).map(|edge| [v as u32, edge.end]));
    }
    edges
}

/// The two corners after `v`, in the triangle's order.
pub(crate) fn others([a, b, c]: [u32; 3], v: u32) -> [u32; 2] {
    if a == v {
        [b, c]
    } else if b == v {
        [c, a]
    } else {
        [a, b]
    }
}

/// A side of a triangle at a vertex: its other end, and whether the triangle runs towards it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Spoke {
    end: u32,
    outgoing: bool,
}

/// All sides at `v`, sorted by their other end.
fn gather_spokes(around: &Rows, triangles: &[[u32; 3]], v: usize, spokes: &mut Vec<Spoke>) {
    spokes.clear();
    for &t in around.row(v) {
        let [next, last] = others(triangles[t as usize], v as u32);
        spokes.push(Spoke { end: next, outgoing: true });
        spokes.push(Spoke { end: last, outgoing: false });
    }
    spokes.sort_unstable();
}

/// One edge seen from one end, and how many triangles run along it each way.
struct Edge {
    end: u32,
    outgoing: u32,
    incoming: u32,
}

/// The edges at `v` that lead to a larger vertex.
fn upward_edges(spokes: &[Spoke], v: u32) -> impl Iterator<Item = Edge> + '_ {
    let first = spokes.partition_point(|s| s.end < v);
    spokes[first..].chunk_by(|a, b| a.end == b.end).map(|run| {
        let outgoing = run.iter().filter(|s| s.outgoing).count() as u32;
        Edge { end: run[0].end, outgoing, incoming: run.len() as u32 - outgoing }
    })
}

/// What kind of surface a mesh is, in counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Edges in all.
    pub edges: usize,
    /// Edges in one triangle only.
    pub boundary_edges: usize,
    /// Edges in more than two triangles.
    pub nonmanifold_edges: usize,
    /// Edges in exactly two triangles that run along them the same way: one of the two is flipped.
    pub misoriented_edges: usize,
    /// Vertices whose triangles are more than one fan, or meet in a non-manifold edge.
    pub nonmanifold_vertices: usize,
    /// Vertices no triangle uses.
    pub unreferenced_vertices: usize,
    /// Triangles that name a vertex twice; the other counts leave them out.
    pub index_degenerate: usize,
    /// Parts not linked by shared vertices; unreferenced vertices are none.
    pub components: usize,
    /// Vertices in use − edges + triangles: 2 for a sphere, 0 for a torus.
    pub euler_characteristic: i64,
}

impl Topology {
    /// True if each edge is in exactly two triangles; an empty mesh is not closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.edges > 0 && self.boundary_edges == 0 && self.nonmanifold_edges == 0
    }

    /// True if each edge is in at most two triangles.
    #[must_use]
    pub fn is_edge_manifold(&self) -> bool {
        self.nonmanifold_edges == 0
    }

    /// True if the triangles around each vertex are one fan, open or closed.
    #[must_use]
    pub fn is_vertex_manifold(&self) -> bool {
        self.nonmanifold_vertices == 0
    }

    /// True if neighbours across an edge run along it in opposite directions.
    #[must_use]
    pub fn is_oriented(&self) -> bool {
        self.misoriented_edges == 0 && self.nonmanifold_edges == 0
    }
}

/// The counts of two meshes that share no vertex.
impl std::ops::AddAssign for Topology {
    fn add_assign(&mut self, other: Self) {
        self.edges += other.edges;
        self.boundary_edges += other.boundary_edges;
        self.nonmanifold_edges += other.nonmanifold_edges;
        self.misoriented_edges += other.misoriented_edges;
        self.nonmanifold_vertices += other.nonmanifold_vertices;
        self.unreferenced_vertices += other.unreferenced_vertices;
        self.index_degenerate += other.index_degenerate;
        self.components += other.components;
        self.euler_characteristic += other.euler_characteristic;
    }
}

/// Vertices a task looks at; fixed, so that the work is cut the same way for any thread count.
const TASK: usize = 4096;

/// Counts edges, boundaries, components and all that breaks a manifold.
#[must_use]
pub fn topology(vertices: usize, triangles: &[[u32; 3]], run: &Run<'_>) -> Topology {
    let around = vertex_triangles(vertices, triangles);
    let parts = run.map_tasks(vertices.div_ceil(TASK), |task| {
        count_around(&around, triangles, task * TASK..((task + 1) * TASK).min(vertices))
    });
    let mut sum = Topology::default();
    parts.iter().for_each(|part| sum += *part);
    let used = vertices - sum.unreferenced_vertices;
    let sound = around.entries().len() / 3;
    drop(around);
    sum.index_degenerate = triangles.len() - sound;
    sum.components = components(vertices, triangles).count;
    sum.euler_characteristic = used as i64 - sum.edges as i64 + sound as i64;
    sum
}

/// The counts of [`topology`] that can be seen at the given vertices.
fn count_around(around: &Rows, triangles: &[[u32; 3]], vertices: Range<usize>) -> Topology {
    let mut counts = Topology::default();
    let (mut spokes, mut link) = (Vec::new(), Link::default());
    for v in vertices {
        if around.row(v).is_empty() {
            counts.unreferenced_vertices += 1;
            continue;
        }
        gather_spokes(around, triangles, v, &mut spokes);
        for edge in upward_edges(&spokes, v as u32) {
            counts.edges += 1;
            match (edge.outgoing, edge.incoming) {
                (1, 1) => {}
                (0, 1) | (1, 0) => counts.boundary_edges += 1,
                (2, 0) | (0, 2) => counts.misoriented_edges += 1,
                _ => counts.nonmanifold_edges += 1,
            }
        }
        if !link.is_one_fan(around, triangles, v, &spokes) {
            counts.nonmanifold_vertices += 1;
        }
    }
    counts
}

/// The sides opposite a vertex, as a small graph over its neighbours.
#[derive(Default)]
struct Link {
    ends: Vec<u32>,
    sets: Sets,
}

impl Link {
    /// True if the sides opposite `v` are one open or closed chain.
    fn is_one_fan(
        &mut self,
        around: &Rows,
        triangles: &[[u32; 3]],
        v: usize,
        spokes: &[Spoke],
    ) -> bool {
        if spokes.chunk_by(|a, b| a.end == b.end).any(|run| run.len() > 2) {
            return false;
        }
        self.ends.clear();
        self.ends.extend(spokes.iter().map(|s| s.end));
        self.ends.dedup();
        self.sets.reset(self.ends.len());
        let mut parts = self.ends.len();
        for &t in around.row(v) {
            let pair = others(triangles[t as usize], v as u32)
                .map(|w| self.ends.partition_point(|&end| end < w) as u32);
            parts -= usize::from(self.sets.join(pair[0], pair[1]));
        }
        parts == 1
    }
}

/// Disjoint sets with path halving; the smaller root wins, so that roots do not depend on order.
#[derive(Default)]
struct Sets(Vec<u32>);

impl Sets {
    fn reset(&mut self, n: usize) {
        self.0.clear();
        self.0.extend(0..n as u32);
    }

    fn root(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize] != i {
            let above = self.0[self.0[i as usize] as usize];
            self.0[i as usize] = above;
            i = above;
        }
        i
    }

    /// True if the two were apart.
    fn join(&mut self, i: u32, j: u32) -> bool {
        let (i, j) = (self.root(i), self.root(j));
        self.0[i.max(j) as usize] = i.min(j);
        i != j
    }
}

/// The parts of a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// How many parts there are.
    pub count: usize,
    /// Which part each vertex is in, numbered by first vertex; `u32::MAX` for unreferenced ones.
    pub of_vertex: Vec<u32>,
}

/// Splits a mesh into the parts linked by shared vertices.
#[must_use]
pub fn components(vertices: usize, triangles: &[[u32; 3]]) -> Components {
    let mut sets = Sets::default();
    sets.reset(vertices);
    let mut used = vec![false; vertices];
    for &[a, b, c] in triangles.iter().filter(|t| !is_index_degenerate(**t)) {
        sets.join(a, b);
        sets.join(b, c);
        for v in [a, b, c] {
            used[v as usize] = true;
        }
    }
    let (mut count, mut of_vertex) = (0, vec![u32::MAX; vertices]);
    for v in 0..vertices {
        if !used[v] {
            continue;
        }
        // The root is the smallest vertex of its set, so it already has its number.
        let root = sets.root(v as u32) as usize;
        if root == v {
            of_vertex[v] = count;
            count += 1;
        } else {
            of_vertex[v] = of_vertex[root];
        }
    }
    Components { count: count as usize, of_vertex }
}

/// The rims of an open mesh: each a closed chain of vertices along boundary edges, in the direction
/// in which the triangles run along it.
///
/// A loop starts at its smallest vertex. Where several rims meet in one vertex each loop takes the
/// first way on that is left. Chains that do not close (flipped triangles) are left out.
#[must_use]
pub fn boundary_loops(vertices: usize, triangles: &[[u32; 3]]) -> Vec<Vec<u32>> {
    let mut sides = boundary_sides(vertices, triangles);
    sides.sort_unstable();
    let mut left = vec![true; sides.len()];
    let mut loops = Vec::new();
    for first in 0..sides.len() {
        if !left[first] {
            continue;
        }
        let (mut rim, mut next) = (Vec::new(), Some(first));
        while let Some(side) = next {
            left[side] = false;
            let [from, to] = sides[side];
            rim.push(from);
            if to == rim[0] {
                loops.push(rim);
                break;
            }
            let start = sides.partition_point(|s| s[0] < to);
            next = (start..sides.len()).take_while(|&s| sides[s][0] == to).find(|&s| left[s]);
        }
    }
    loops
}

/// Sides of triangles whose edge is in no other triangle, as the triangle runs along them.
fn boundary_sides(vertices: usize, triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let around = vertex_triangles(vertices, triangles);
    let (mut sides, mut spokes) = (Vec::new(), Vec::new());
    for v in 0..vertices {
        gather_spokes(&around, triangles, v, &mut spokes);
        for edge in upward_edges(&spokes, v as u32) {
            match (edge.outgoing, edge.incoming) {
                (1, 0) => sides.push([v as u32, edge.end]),
                (0, 1) => sides.push([edge.end, v as u32]),
                _ => {}
            }
        }
    }
    sides
}

/// For each vertex the first vertex at exactly the same place: itself, if it is alone there.
///
/// Joins what a file format had to split, when applied with [`renamed`]. Zero and minus zero are
/// the same place.
#[must_use]
pub fn coincident(positions: &[Vec3]) -> Vec<u32> {
    Welding::of(positions).firsts()
}

/// The triangles with each vertex `v` called `names[v]`.
#[must_use]
pub fn renamed(triangles: &[[u32; 3]], names: &[u32]) -> Vec<[u32; 3]> {
    triangles.iter().map(|t| t.map(|v| names[v as usize])).collect()
}

/// Whether meshes close each other, once vertices at the same place count as one: found one mesh at a time, in no
/// memory.
///
/// Edges that are open in their own mesh are told by where they are, and cancel in pairs.
#[derive(Clone, Debug, Default)]
pub struct Seams {
    has_edges: bool,
    /// An edge of some mesh has more than two triangles.
    is_branched: bool,
    /// The hashes of all open edges, added without carry.
    open: u128,
}

impl Seams {
    /// Looks at one more mesh.
    pub fn add(&mut self, positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) {
        let triangles = renamed(triangles, &coincident(positions));
        let topology = topology(positions.len(), &triangles, run);
        self.has_edges |= topology.edges > 0;
        self.is_branched |= topology.nonmanifold_edges > 0;
        if topology.boundary_edges == 0 {
            return;
        }
        let place = |v: u32| (positions[v as usize] + 0.0).to_array().map(f32::to_bits);
        for side in boundary_sides(positions.len(), &triangles) {
            let mut ends = side.map(place);
            ends.sort_unstable();
            let hash = blake3::hash(bytemuck::cast_slice(ends.as_flattened()));
            let mut half = [0; 16];
            half.copy_from_slice(&hash.as_bytes()[..16]);
            self.open ^= u128::from_le_bytes(half);
        }
    }

    /// True if every open edge found another.
    #[must_use]
    pub fn are_closed(&self) -> bool {
        self.has_edges && !self.is_branched && self.open == 0
    }
}

/// How the triangles of a mesh would have to face for neighbours to agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facing {
    /// Which triangles face the other way than the first of their patch.
    pub against: Vec<bool>,
    /// Which patch each triangle is in: a set linked by edges with two triangles. Index-degenerate
    /// triangles are in none: `u32::MAX`.
    pub patch: Vec<u32>,
    /// How many patches there are.
    pub patches: usize,
    /// Edges at which no choice helps; a Möbius strip has one.
    pub conflicts: usize,
}

/// Finds which triangles face which way.
#[must_use]
pub fn facing(vertices: usize, triangles: &[[u32; 3]]) -> Facing {
    let around = vertex_triangles(vertices, triangles);
    let n = triangles.len();
    let mut found =
        Facing { against: vec![false; n], patch: vec![u32::MAX; n], patches: 0, conflicts: 0 };
    let mut queue = VecDeque::new();
    for first in 0..n {
        if found.patch[first] != u32::MAX || is_index_degenerate(triangles[first]) {
            continue;
        }
        found.patch[first] = found.patches as u32;
        found.patches += 1;
        queue.push_back(first);
        while let Some(t) = queue.pop_front() {
            let [a, b, c] = triangles[t];
            let neighbours = [(a, b), (b, c), (c, a)].map(|s| across(&around, triangles, t, s));
            for (other, same_way) in neighbours.into_iter().flatten() {
                let against = found.against[t] ^ same_way;
                if found.patch[other] == u32::MAX {
                    found.patch[other] = found.patch[t];
                    found.against[other] = against;
                    queue.push_back(other);
                } else if found.against[other] != against {
                    // Each such edge is met from both of its sides.
                    found.conflicts += usize::from(t < other);
                }
            }
        }
    }
    found
}

/// The one other triangle at a side of `t`, and whether it runs along the side the same way; `None`
/// at a boundary and at a non-manifold edge.
fn across(
    around: &Rows,
    triangles: &[[u32; 3]],
    t: usize,
    (from, to): (u32, u32),
) -> Option<(usize, bool)> {
    // The end with fewer triangles, so that a vertex with very many costs little.
    let at =
        if around.row(from as usize).len() <= around.row(to as usize).len() { from } else { to };
    let mut sharing = around
        .row(at as usize)
        .iter()
        .map(|&o| o as usize)
        .filter(|&o| o != t && triangles[o].contains(&from) && triangles[o].contains(&to));
    let other = sharing.next()?;
    if sharing.next().is_some() {
        return None;
    }
    Some((other, others(triangles[other], from)[0] == to))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

    fn count(vertices: usize, triangles: &[[u32; 3]]) -> Topology {
        topology(vertices, triangles, &Run::default())
    }

    #[test]
    fn a_tetrahedron_is_a_sphere() {
        let t = count(4, &TETRAHEDRON);
        let sphere =
            Topology { edges: 6, components: 1, euler_characteristic: 2, ..Topology::default() };
        assert_eq!(t, sphere);
        assert!(t.is_closed() && t.is_edge_manifold() && t.is_vertex_manifold() && t.is_oriented());
    }

    #[test]
    fn rows_hold_triangles_and_neighbours_in_order() {
        let around = vertex_triangles(5, &TETRAHEDRON);
        assert_eq!(around.row(0), [0, 1, 3]);
        assert_eq!(around.row(3), [1, 2, 3]);
        assert!(around.row(4).is_empty(), "an unreferenced vertex has no triangles");
        let neighbours = vertex_vertices(5, &TETRAHEDRON);
        assert_eq!(neighbours.row(2), [0, 1, 3]);
        assert_eq!(neighbours.len(), 5);
        let all = edges(5, &TETRAHEDRON);
        assert_eq!(all, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
    }

    #[test]
    fn two_tetrahedra_joined_in_a_vertex_pinch_there() {
        let mut triangles = TETRAHEDRON.to_vec();
        triangles.extend(TETRAHEDRON.map(|t| t.map(|v| v + 3)));
        let t = count(7, &triangles);
        assert!(t.is_closed() && t.is_edge_manifold() && t.is_oriented(), "{t:?}");
        assert_eq!((t.nonmanifold_vertices, t.components, t.euler_characteristic), (1, 1, 3));
    }

    #[test]
    fn three_triangles_on_one_edge_are_no_manifold() {
        let t = count(5, &[[0, 1, 2], [1, 0, 3], [0, 1, 4]]);
        assert_eq!((t.nonmanifold_edges, t.boundary_edges, t.nonmanifold_vertices), (1, 6, 2));
        assert!(!t.is_closed() && !t.is_edge_manifold() && !t.is_oriented(), "{t:?}");
    }

    #[test]
    fn degenerate_and_unreferenced_are_counted_and_left_out() {
        let mut triangles = TETRAHEDRON.to_vec();
        triangles.push([5, 5, 1]);
        let t = count(7, &triangles);
        assert_eq!((t.index_degenerate, t.unreferenced_vertices, t.components), (1, 3, 1));
        assert!(t.is_closed(), "{t:?}");
        assert!(!count(0, &[]).is_closed(), "an empty mesh is not closed");
        assert!(!count(3, &[[1, 1, 1]]).is_closed(), "nor one without a sound triangle");
    }

    #[test]
    fn loops_follow_the_rim() {
        let strip = [[0, 1, 3], [1, 4, 3], [1, 2, 4], [2, 5, 4]];
        assert_eq!(boundary_loops(6, &strip), [[0, 1, 2, 5, 4, 3]]);
        assert_eq!(boundary_loops(6, &strip[..1]), [[0, 1, 3]]);
        assert!(boundary_loops(4, &TETRAHEDRON).is_empty(), "closed meshes have none");
        let two = [[0, 1, 2], [0, 3, 4]];
        assert_eq!(boundary_loops(5, &two), [[0, 1, 2], [0, 3, 4]]);
    }

    #[test]
    fn a_chain_that_flipped_triangles_break_is_no_loop() {
        assert!(boundary_loops(4, &[[0, 1, 2], [1, 2, 3]]).is_empty(), "no way round");
    }

    #[test]
    fn facing_finds_the_flipped_one() {
        let mut triangles = TETRAHEDRON;
        triangles[2].swap(0, 1);
        assert_eq!(count(4, &triangles).misoriented_edges, 3);
        let found = facing(4, &triangles);
        assert_eq!(found.against, [false, false, true, false]);
        assert_eq!((found.patches, found.conflicts), (1, 0));
        // A Möbius strip of five triangles.
        let strip = [[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 0, 4], [4, 0, 1]];
        assert_eq!(facing(5, &strip).conflicts, 1, "one edge cannot agree");
    }

    #[test]
    fn coincident_names_the_first() {
        let at = [Vec3::X, Vec3::ZERO, Vec3::new(1.0, -0.0, 0.0), Vec3::ZERO];
        let names = coincident(&at);
        assert_eq!(names, [0, 1, 0, 1]);
        assert_eq!(renamed(&[[3, 2, 1]], &names), [[1, 0, 1]]);
    }

    #[test]
    fn same_counts_for_any_thread_count() {
        let n: u32 = 10_000;
        let fan: Vec<[u32; 3]> = (1..n - 1).map(|i| [0, i, i + 1]).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let parallel = topology(n as usize, &fan, &run);
        assert_eq!(parallel, count(n as usize, &fan));
        assert_eq!((parallel.boundary_edges, parallel.nonmanifold_vertices), (n as usize, 0));
    }
}

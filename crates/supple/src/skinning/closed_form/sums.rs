//! The sums behind the cubic (6.3), eight pairs of triangles at a time.
//!
//! With positions `p` and shifts `v`, `Σ (p+λv)_a · ((p+λv)_b × (p+λv)_c)` is a cubic in λ. Its four
//! coefficients take one pass over the triangles. Two triangles with a common edge `bc` share its cross
//! products, and their other corners enter by their difference only, so they are summed as one. All of it is
//! f64.

use std::collections::HashMap;

use pulp::{Simd, WithSimd};

use crate::Run;

/// Vertices that are kept, and pairs of triangles that are summed, side by side: one 512-bit register, or two of
/// 256 bits.
pub(super) const WIDTH: usize = 8;

/// Pairs a task sums up at most, whatever the number of threads, which so never change the result.
const TASK: usize = 512;

/// Below this many pairs a second thread costs more than it gives.
const WORTH_THREADS: usize = 4 * TASK;

/// Position and shift of a vertex.
pub(super) type Record = [f64; 6];

/// Those of some vertices side by side: `block[axis][lane]`.
pub(super) type Block = [[f64; WIDTH]; 6];

/// Two triangles with a common edge: the corner of each that is not on it, then its ends as the first one runs. A
/// triangle by itself has a record of zeros for the second.
pub(super) type Pair = [u32; 4];

/// One of the records in blocks.
#[inline(always)]
pub(super) fn record(blocks: &[Block], i: usize) -> Record {
    blocks[i / WIDTH].map(|axis| axis[i % WIDTH])
}

/// Replaces one of the records in blocks.
#[inline(always)]
pub(super) fn set_record(blocks: &mut [Block], i: usize, record: Record) {
    for (axis, number) in blocks[i / WIDTH].iter_mut().zip(record) {
        axis[i % WIDTH] = number;
    }
}

/// Records in blocks; what is left over in the last one is zero.
pub(super) fn in_blocks(count: usize, record: impl Fn(usize) -> Record) -> Vec<Block> {
    let mut blocks = vec![[[0.0; WIDTH]; 6]; count.div_ceil(WIDTH)];
    for i in 0..count {
        set_record(&mut blocks, i, record(i));
    }
    blocks
}

/// Puts neighbouring triangles together; `zero` is the record of zeros.
pub(super) fn paired(triangles: &[[u32; 3]], zero: u32) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(triangles.len());
    // Directed edges of triangles that have no partner yet, and where in the pairs those are.
    let mut waiting: HashMap<[u32; 2], usize> = HashMap::new();
    for &[a, b, c] in triangles {
        let turned = [[a, b, c], [b, c, a], [c, a, b]];
        let partner =
            turned.iter().find_map(|&[apex, b, c]| Some((apex, [c, b], *waiting.get(&[c, b])?)));
        if let Some((apex, [b, c], place)) = partner {
            let [x, _, y, z] = pairs[place];
            for [first, from, to] in [[x, y, z], [y, z, x], [z, x, y]] {
                waiting.remove(&[from, to]);
                if [from, to] == [b, c] {
                    pairs[place] = [first, apex, b, c];
                }
            }
        } else {
            for [_, from, to] in turned {
                waiting.insert([from, to], pairs.len());
            }
            pairs.push([a, zero, b, c]);
        }
    }
    pairs
}

/// Coefficients of six times the volume along the shifts, divided by six.
pub(super) fn cubic(blocks: &[Block], pairs: &[Pair], run: &Run<'_>) -> [f64; 4] {
    let arch = pulp::Arch::new();
    in_tasks(pairs, run, |pairs| arch.dispatch(Sum { blocks, pairs }))
}

/// The first of them alone: the volume without the shifts.
pub(super) fn volume(blocks: &[Block], pairs: &[Pair], run: &Run<'_>) -> f64 {
    let arch = pulp::Arch::new();
    let [volume] = in_tasks(pairs, run, |pairs| [arch.dispatch(First { blocks, pairs })]);
    volume
}

/// The sums of all tasks, divided by six.
fn in_tasks<const N: usize>(
    pairs: &[Pair],
    run: &Run<'_>,
    sum: impl Fn(&[Pair]) -> [f64; N] + Sync + Send,
) -> [f64; N] {
    // Tasks of one size: a short one would leave a thread waiting.
    let size = pairs.len().div_ceil(pairs.len().div_ceil(TASK).max(1)).next_multiple_of(WIDTH);
    let task = |k: usize| sum(&pairs[k * size..((k + 1) * size).min(pairs.len())]);
    let alone = Run { threads: None, ..*run };
    let run = if pairs.len() < WORTH_THREADS { &alone } else { run };
    let mut total = [0.0; N];
    for part in run.map_tasks(pairs.len().div_ceil(size), task) {
        for (sum, x) in total.iter_mut().zip(part) {
            *sum += x / 6.0;
        }
    }
    total
}

struct Sum<'a> {
    blocks: &'a [Block],
    pairs: &'a [Pair],
}

impl WithSimd for Sum<'_> {
    type Output = [f64; 4];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [f64; 4] {
        let mut sums = Cubics([[0.0; WIDTH]; 4]);
        in_turn(self.blocks, self.pairs, &mut sums);
        sums.0.map(|lanes| lanes.iter().sum())
    }
}

struct First<'a> {
    blocks: &'a [Block],
    pairs: &'a [Pair],
}

impl WithSimd for First<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let mut sums = Volumes([0.0; WIDTH]);
        in_turn(self.blocks, self.pairs, &mut sums);
        sums.0.iter().sum()
    }
}

type Lane = [f64; WIDTH];

/// The corners of some pairs: `corner[k][axis]`, positions first, then shifts.
type Corners<const AXES: usize> = [[Lane; AXES]; 4];

/// Sums in lanes.
trait Sums<const AXES: usize> {
    fn add(&mut self, corners: &Corners<AXES>);
}

/// The four coefficients of each lane.
struct Cubics([Lane; 4]);

/// The volume of each lane.
struct Volumes(Lane);

/// Gathers pairs, so many at a time; what is left over of the last ones is zero. Numbers that were just written one
/// by one are slow to read as a register, so the sums are one turn behind.
#[inline(always)]
fn in_turn<const AXES: usize>(blocks: &[Block], pairs: &[Pair], sums: &mut impl Sums<AXES>) {
    let mut corners: [Corners<AXES>; 2] = [[[[0.0; WIDTH]; AXES]; 4]; 2];
    let (full, rest) = pairs.as_chunks::<WIDTH>();
    for (turn, pairs) in full.iter().enumerate() {
        for (lane, pair) in pairs.iter().enumerate() {
            gather(blocks, pair, lane, &mut corners[turn % 2]);
        }
        sums.add(&corners[(turn + 1) % 2]);
    }
    let last = full.len() + 1;
    sums.add(&corners[last % 2]);
    corners[last % 2] = [[[0.0; WIDTH]; AXES]; 4];
    for (lane, pair) in rest.iter().enumerate() {
        gather(blocks, pair, lane, &mut corners[last % 2]);
    }
    sums.add(&corners[last % 2]);
}

#[inline(always)]
fn gather<const AXES: usize>(
    blocks: &[Block],
    pair: &Pair,
    lane: usize,
    corners: &mut Corners<AXES>,
) {
    for (corner, &v) in corners.iter_mut().zip(pair) {
        let (block, place) = (&blocks[v as usize / WIDTH], v as usize % WIDTH);
        for axis in 0..AXES {
            corner[axis][lane] = block[axis][place];
        }
    }
}

impl Sums<3> for Volumes {
    #[inline(always)]
    fn add(&mut self, [a, r, b, c]: &Corners<3>) {
        for i in 0..WIDTH {
            let at = |corner: &[Lane; 3]| [corner[0][i], corner[1][i], corner[2][i]];
            self.0[i] += dot(minus(at(a), at(r)), cross(at(b), at(c)));
        }
    }
}

impl Sums<6> for Cubics {
    #[inline(always)]
    fn add(&mut self, [a, r, b, c]: &Corners<6>) {
        let sums = &mut self.0;
        for i in 0..WIDTH {
            let at = |corner: &[Lane; 6], first: usize| {
                [corner[first][i], corner[first + 1][i], corner[first + 2][i]]
            };
            let (pa, va) = (minus(at(a, 0), at(r, 0)), minus(at(a, 3), at(r, 3)));
            let (pb, vb) = (at(b, 0), at(b, 3));
            let (pc, vc) = (at(c, 0), at(c, 3));
            let pp = cross(pb, pc);
            let (pv, vp) = (cross(pb, vc), cross(vb, pc));
            let mixed = [pv[0] + vp[0], pv[1] + vp[1], pv[2] + vp[2]];
            let vv = cross(vb, vc);
            sums[0][i] += dot(pa, pp);
            sums[1][i] += dot(va, pp) + dot(pa, mixed);
            sums[2][i] += dot(va, mixed) + dot(pa, vv);
            sums[3][i] += dot(va, vv);
        }
    }
}

#[inline(always)]
fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zoo;

    /// Numbers between −1 and 1 that look random, and a record of zeros after them.
    fn records(n: usize) -> Vec<Block> {
        let number = |k: usize| ((k * 7919 % 1009) as f64 / 504.0) - 1.0;
        in_blocks(n + 1, |i| {
            if i < n { std::array::from_fn(|axis| number(6 * i + axis)) } else { [0.0; 6] }
        })
    }

    fn triangles(n: usize, vertices: usize) -> Vec<[u32; 3]> {
        let at = |k: usize| (k * 104_729 % vertices) as u32;
        (0..n).map(|t| [at(3 * t), at(3 * t + 1), at(3 * t + 2)]).collect()
    }

    fn volume_at(blocks: &[Block], triangles: &[[u32; 3]], lambda: f64) -> f64 {
        let place = |v: u32| {
            let [x, y, z, u, v, w] = record(blocks, v as usize);
            [x + lambda * u, y + lambda * v, z + lambda * w]
        };
        let six: f64 =
            triangles.iter().map(|t| dot(place(t[0]), cross(place(t[1]), place(t[2])))).sum();
        six / 6.0
    }

    /// The cubic is the volume wherever it is looked at: a brute-force sum is the judge.
    #[test]
    fn the_cubic_is_the_volume() {
        for n in [1, 7, 8, 100, 133] {
            let (blocks, triangles) = (records(50), triangles(n, 50));
            let pairs = paired(&triangles, 50);
            let [c0, c1, c2, c3] = cubic(&blocks, &pairs, &Run::default());
            assert_eq!(volume(&blocks, &pairs, &Run::default()), c0, "the same bits");
            for lambda in [-2.0, -0.3, 0.0, 0.7, 1.0] {
                let value = c0 + lambda * (c1 + lambda * (c2 + lambda * c3));
                let expected = volume_at(&blocks, &triangles, lambda);
                assert!((value - expected).abs() < 1e-9, "{n} triangles, λ = {lambda}");
            }
        }
    }

    #[test]
    fn most_triangles_of_a_surface_have_a_partner() {
        let size = zoo::Size { triangles: Some(3000) };
        for name in ["ball", "bar", "cow"] {
            let mesh = zoo::build(name, &size, &Run::default()).unwrap().meshes.swap_remove(0);
            let zero = mesh.positions.len() as u32;
            let pairs = paired(&mesh.triangles, zero);
            let share = pairs.len() as f64 / mesh.triangles.len() as f64;
            assert!(share < 0.6, "{name}: {share}");
            let place = |i: usize| mesh.positions[i].as_dvec3();
            let blocks = in_blocks(zero as usize + 1, |i| {
                if i < zero as usize {
                    let [x, y, z] = place(i).to_array();
                    [x, y, z, 0.0, 0.0, 0.0]
                } else {
                    [0.0; 6]
                }
            });
            let found = volume(&blocks, &pairs, &Run::default());
            let wanted = volume_at(&blocks, &mesh.triangles, 0.0);
            assert!((found / wanted - 1.0).abs() < 1e-12, "{name}: {found}, not {wanted}");
        }
    }

    #[test]
    fn same_bits_for_any_thread_count() {
        let (blocks, pairs) = (records(3000), paired(&triangles(20_001, 3000), 3000));
        let serial = cubic(&blocks, &pairs, &Run::default());
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = Run { threads: Some(&pool), ..Run::default() };
            let sums = cubic(&blocks, &pairs, &run);
            assert_eq!(sums.map(f64::to_bits), serial.map(f64::to_bits), "{threads} threads");
        }
    }
}

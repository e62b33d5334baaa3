//! The sums behind the cubic (6.3), eight triangles at a time.
//!
//! With positions `p` and shifts `v`, `Σ (p+λv)_a · ((p+λv)_b × (p+λv)_c)` is a cubic in λ. Its four
//! coefficients take one pass over the triangles. All of it is f64: a vertex is a record of position and
//! shift side by side, so that a triangle touches three places in memory.

use pulp::{Simd, WithSimd};

use crate::Run;

/// Triangles a block works on at a time: one 512-bit register, or two of 256 bits.
const WIDTH: usize = 8;

/// Triangles a task sums up; fixed, so that threads never change the result.
const TASK: usize = 2048;

/// Below this many triangles a second thread costs more than it gives.
const WORTH_THREADS: usize = 2 * TASK;

/// Position and shift of a vertex.
pub(super) type Record = [f64; 6];

/// Coefficients of six times the volume along the shifts, divided by six.
pub(super) fn cubic(records: &[Record], triangles: &[[u32; 3]], run: &Run<'_>) -> [f64; 4] {
    let arch = pulp::Arch::new();
    let task = |k: usize| {
        let triangles = &triangles[k * TASK..((k + 1) * TASK).min(triangles.len())];
        arch.dispatch(Sum { records, triangles })
    };
    let alone = Run { threads: None, ..*run };
    let run = if triangles.len() < WORTH_THREADS { &alone } else { run };
    let parts = run.map_tasks(triangles.len().div_ceil(TASK), task);
    let mut total = [0.0; 4];
    for part in parts {
        for (sum, x) in total.iter_mut().zip(part) {
            *sum += x / 6.0;
        }
    }
    total
}

struct Sum<'a> {
    records: &'a [Record],
    triangles: &'a [[u32; 3]],
}

impl WithSimd for Sum<'_> {
    type Output = [f64; 4];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [f64; 4] {
        sum(self.records, self.triangles)
    }
}

type Lane = [f64; WIDTH];

/// The corners of a block of triangles: `corner[k][axis]`, positions first, then shifts.
type Corners = [[Lane; 6]; 3];

#[inline(always)]
fn sum(records: &[Record], triangles: &[[u32; 3]]) -> [f64; 4] {
    let mut sums = [[0.0; WIDTH]; 4];
    let mut corners: Corners = [[[0.0; WIDTH]; 6]; 3];
    let (blocks, rest) = triangles.as_chunks::<WIDTH>();
    for block in blocks {
        for (lane, triangle) in block.iter().enumerate() {
            gather(records, triangle, lane, &mut corners);
        }
        add(&corners, &mut sums);
    }
    if !rest.is_empty() {
        corners = [[[0.0; WIDTH]; 6]; 3];
        for (lane, triangle) in rest.iter().enumerate() {
            gather(records, triangle, lane, &mut corners);
        }
        add(&corners, &mut sums);
    }
    sums.map(|lanes| lanes.iter().sum())
}

#[inline(always)]
fn gather(records: &[Record], triangle: &[u32; 3], lane: usize, corners: &mut Corners) {
    for (corner, &v) in corners.iter_mut().zip(triangle) {
        let record = &records[v as usize];
        for axis in 0..6 {
            corner[axis][lane] = record[axis];
        }
    }
}

#[inline(always)]
fn add(corners: &Corners, sums: &mut [Lane; 4]) {
    let [a, b, c] = corners;
    for i in 0..WIDTH {
        let at = |corner: &[Lane; 6], first: usize| {
            [corner[first][i], corner[first + 1][i], corner[first + 2][i]]
        };
        let (pa, va) = (at(a, 0), at(a, 3));
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

    /// Numbers between −1 and 1 that look random.
    fn records(n: usize) -> Vec<Record> {
        let number = |k: usize| ((k * 7919 % 1009) as f64 / 504.0) - 1.0;
        (0..n).map(|i| std::array::from_fn(|axis| number(6 * i + axis))).collect()
    }

    fn triangles(n: usize, vertices: usize) -> Vec<[u32; 3]> {
        let at = |k: usize| (k * 104_729 % vertices) as u32;
        (0..n).map(|t| [at(3 * t), at(3 * t + 1), at(3 * t + 2)]).collect()
    }

    fn volume_at(records: &[Record], triangles: &[[u32; 3]], lambda: f64) -> f64 {
        let place = |v: u32| {
            let [x, y, z, u, v, w] = records[v as usize];
            [x + lambda * u, y + lambda * v, z + lambda * w]
        };
        let six: f64 =
            triangles.iter().map(|t| dot(place(t[0]), cross(place(t[1]), place(t[2])))).sum();
        six / 6.0
    }

    /// The cubic is the volume wherever it is looked at: a brute-force sum is the judge.
    #[test]
    fn the_cubic_is_the_volume() {
        for n in [1, 7, 8, 100] {
            let (records, triangles) = (records(50), triangles(n, 50));
            let [c0, c1, c2, c3] = cubic(&records, &triangles, &Run::default());
            for lambda in [-2.0, -0.3, 0.0, 0.7, 1.0] {
                let value = c0 + lambda * (c1 + lambda * (c2 + lambda * c3));
                let expected = volume_at(&records, &triangles, lambda);
                assert!((value - expected).abs() < 1e-9, "{n} triangles, λ = {lambda}");
            }
        }
    }

    #[test]
    fn same_bits_for_any_thread_count() {
        let (records, triangles) = (records(3000), triangles(20_001, 3000));
        let serial = cubic(&records, &triangles, &Run::default());
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = Run { threads: Some(&pool), ..Run::default() };
            let sums = cubic(&records, &triangles, &run);
            assert_eq!(sums.map(f64::to_bits), serial.map(f64::to_bits), "{threads} threads");
        }
    }
}

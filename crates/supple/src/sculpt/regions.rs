//! Which part of a surface lies inside, between and outside closed curves drawn on it.

use glam::Vec3;

use super::error::Problem;
use crate::Run;
use crate::field::smooth_distance::CurveDistance;
use crate::lanes::Lanes;

/// What an edit between curves does with a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Moves with the handle.
    Handle,
    /// Between the inner and the middle curve.
    Upper,
    /// On the middle curve: moves by about half.
    Middle,
    /// Before the outer curve.
    Lower,
    /// Stays.
    Still,
}

/// The curves of an edit.
pub(super) struct Curves {
    pub(super) inner: CurveDistance,
    pub(super) middle: Option<CurveDistance>,
    pub(super) outer: CurveDistance,
}

/// Bits of the tubes a vertex lies in or a piece touches.
const INNER: u8 = 1;
const MIDDLE: u8 = 2;
const OUTER: u8 = 4;

/// Radii of the tubes around the curves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thickness {
    pub(super) inner: f32,
    pub(super) middle: f32,
    pub(super) outer: f32,
}

impl Thickness {
    fn of(&self, bit: u8) -> f32 {
        match bit {
            INNER => self.inner,
            OUTER => self.outer,
            _ => self.middle,
        }
    }
}

/// Smooth distances of every vertex to the curves, each with its bit.
pub(super) struct Distances {
    curves: Vec<(u8, Vec<f32>)>,
}

impl Distances {
    pub(super) fn new(curves: &Curves, positions: &[Vec3], run: &Run<'_>) -> Self {
        let to = |curve: &CurveDistance| {
            let one = |i: usize| curve.eval(&Lanes::<1>::gather(positions, &[i])).value[0];
            run.map(positions.len(), one)
        };
        let mut all = vec![(INNER, to(&curves.inner)), (OUTER, to(&curves.outer))];
        all.extend(curves.middle.as_ref().map(|curve| (MIDDLE, to(curve))));
        Self { curves: all }
    }

    /// The parts of the surface, if tubes of this thickness cut it.
    pub(super) fn cut(
        &self,
        triangles: &[[u32; 3]],
        thickness: Thickness,
    ) -> Result<Vec<Part>, Problem> {
        let tubes = self.tubes(triangles, thickness)?;
        let mut pieces = Pieces::new(tubes.len());
        for [a, b] in edges(triangles) {
            if tubes[a] == 0 && tubes[b] == 0 {
                pieces.join(a, b);
            }
        }
        let mut touched = vec![0_u8; tubes.len()];
        for [a, b] in edges(triangles) {
            for (free, tube) in [(a, b), (b, a)] {
                if tubes[free] == 0 && tubes[tube] != 0 {
                    touched[pieces.root(free)] |= tubes[tube];
                }
            }
        }
        let has_middle = self.curves.len() == 3;
        let masks: Vec<u8> = (0..tubes.len()).map(|i| touched[pieces.root(i)]).collect();
        let has = |mask: u8| tubes.iter().zip(&masks).any(|(&tube, &m)| tube == 0 && m == mask);
        if !has(INNER) {
            return Err(Problem::DoesNotDivide { what: "inner", thickness: thickness.inner });
        }
        if !has(OUTER) {
            return Err(Problem::DoesNotDivide { what: "outer", thickness: thickness.outer });
        }
        let leaks = |mask: u8| mask & INNER != 0 && mask & OUTER != 0;
        if has_middle && masks.iter().any(|&mask| leaks(mask)) {
            return Err(Problem::DoesNotDivide { what: "middle", thickness: thickness.middle });
        }
        Ok(tubes.iter().zip(&masks).map(|(&tube, &mask)| part(tube, mask)).collect())
    }

    /// The tube of each vertex.
    fn tubes(&self, triangles: &[[u32; 3]], thickness: Thickness) -> Result<Vec<u8>, Problem> {
        let count = self.curves[0].1.len();
        let inside = |i: usize| {
            let near = self.curves.iter().filter(|(bit, d)| d[i] <= thickness.of(*bit));
            near.fold(0, |mask, (bit, _)| mask | bit)
        };
        let tubes: Vec<u8> = (0..count).map(inside).collect();
        let meet = |a: u8, b: u8| a != 0 && b != 0 && a != b;
        let touch = tubes.iter().any(|t| t.count_ones() > 1)
            || edges(triangles).any(|[a, b]| meet(tubes[a], tubes[b]));
        let thickness = thickness.inner.max(thickness.outer);
        if touch { Err(Problem::BoundariesTouch { thickness }) } else { Ok(tubes) }
    }
}

fn part(tube: u8, mask: u8) -> Part {
    match (tube, mask) {
        (INNER, _) | (0, INNER) => Part::Handle,
        (MIDDLE, _) | (0, MIDDLE) => Part::Middle,
        (0, m) if m == INNER | MIDDLE => Part::Upper,
        (0, m) if m == INNER | OUTER || m == MIDDLE | OUTER => Part::Lower,
        _ => Part::Still,
    }
}

pub(super) fn edges(triangles: &[[u32; 3]]) -> impl Iterator<Item = [usize; 2]> + '_ {
    let sides = |&[a, b, c]: &[u32; 3]| [[a, b], [b, c], [c, a]];
    triangles.iter().flat_map(sides).map(|edge| edge.map(|i| i as usize))
}

/// Mean length of the edges.
pub(super) fn mean_edge(positions: &[Vec3], triangles: &[[u32; 3]]) -> f32 {
    let total: f64 =
        edges(triangles).map(|[a, b]| f64::from(positions[a].distance(positions[b]))).sum();
    (total / (3 * triangles.len()).max(1) as f64) as f32
}

/// Sets of vertices that are joined step by step.
struct Pieces(Vec<u32>);

impl Pieces {
    fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }

    fn root(&mut self, mut i: usize) -> usize {
        while self.0[i] as usize != i {
            self.0[i] = self.0[self.0[i] as usize];
            i = self.0[i] as usize;
        }
        i
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b) as u32;
    }
}

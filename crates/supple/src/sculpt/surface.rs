//! Vertices that move by a field which lives on their surface (thesis, 4.3 and 4.4).
//!
//! # Method
//!
//! s stays with the vertices, so its gradient changes as they move. It is estimated from the neighbours
//! by least squares with no part along the normal n: with offsets d, `M = Σ d dᵀ`, `r = Σ Δs d` and
//! P the projection along n, the best tangent vector is
//!
//! ```text
//! ∇s = (tr(PMP) I − PMP) P r / det        det = nᵀ adj(M) n
//! ```
//!
//! and then averaged over the neighbours. The velocities of all vertices together are one ordinary
//! differential equation. Gradients cost most and change slowly: a Runge–Kutta step of four stages takes
//! two, at its start and its middle (predicted with the last step's velocity), and continues them to its
//! end as a parabola through the middle of the last step. That is of order three. Where the motion has a
//! corner the past is forgotten.
//!
//! Sixteen vertices are worked on at a time, their neighbours in columns padded to the same length.

use glam::Vec3;
use pulp::{Simd, WithSimd};

use super::guide::Ride;
use crate::Run;
use crate::field::Generator;
use crate::field::lanes::{Lanes, ScalarLanes, WIDTH};
use crate::run::Cancelled;

/// Blocks a thread works on at a time.
const TASK: usize = 32;

/// Neighbours in nearly one line have no gradient across it.
const FLAT: f32 = 1e-6;

type Block = Lanes<WIDTH>;

/// The next neighbour of each vertex of a block, in order around it.
struct Spoke {
    /// The neighbour; the vertex itself if there are no more, or before the next of several fans.
    to: [u32; WIDTH],
    /// The neighbour as a place for gradients; the last place, which is zero, if it has none.
    near: [u32; WIDTH],
    /// How much larger s is there.
    rise: [f32; WIDTH],
}

/// What does not change for a block.
struct Still {
    /// Where its spokes start.
    spokes: usize,
    /// The last neighbour of each vertex, which comes before the first; the vertex itself at a border.
    before: [u32; WIDTH],
    beta: [f32; WIDTH],
    slope: [f32; WIDTH],
    /// Weights of the averages over the neighbours.
    own: [f32; WIDTH],
    others: [f32; WIDTH],
}

/// A surface with s on it.
pub(super) struct Surface {
    /// Vertices that are not at rest, then their neighbours that are.
    vertices: Vec<u32>,
    moving: usize,
    spokes: Vec<Spoke>,
    blocks: Vec<Still>,
    smoothing: u32,
}

/// What a step leaves to the next one.
struct Past {
    velocity: Vec<Block>,
    middle: Vec<[Vec3; WIDTH]>,
}

/// What moves a surface.
pub(super) trait Mover: Sync {
    /// The motion at one time.
    type Posed: Sync;

    fn at(&self, t: f64) -> Self::Posed;

    /// The velocity of points whose blend, and its gradient, is known.
    fn velocity(posed: &Self::Posed, x: &Lanes<WIDTH>, beta: &ScalarLanes<WIDTH>) -> Lanes<WIDTH>;
}

/// How a motion is cut into steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// In a unit of time.
    pub(super) steps: u32,
    /// When it ends.
    pub(super) until: f64,
    /// After so many steps the motion may have a corner.
    pub(super) piece: u32,
}

impl Mover for Ride {
    type Posed = [Generator; 2];

    fn at(&self, t: f64) -> Self::Posed {
        self.generators(t)
    }

    #[inline(always)]
    fn velocity(motion: &[Generator; 2], x: &Block, beta: &ScalarLanes<WIDTH>) -> Block {
        let mut v = Block::ZERO;
        for generator in motion {
            for i in 0..WIDTH {
                let (e, grad_e, f, grad_f) = generator.eval(x.get(i));
                let sideways = beta.gradient.get(i).cross(e * grad_f - f * grad_e);
                let beta = beta.value[i];
                let sum = v.get(i) + beta * (beta * grad_e.cross(grad_f) + sideways);
                v.set(i, sum);
            }
        }
        v
    }
}

impl Surface {
    /// With the blend, and its slope, that each of the values stands for.
    pub(super) fn new(
        values: &[f32],
        blend: fn(f32) -> (f32, f32),
        triangles: &[[u32; 3]],
        smoothing: u32,
    ) -> Self {
        let mut surface = Self {
            vertices: (0..values.len() as u32).filter(|&i| values[i as usize] < 1.0).collect(),
            moving: 0,
            spokes: Vec::new(),
            blocks: Vec::new(),
            smoothing,
        };
        surface.moving = surface.vertices.len();
        let mut place = vec![u32::MAX; values.len()];
        (0..).zip(&surface.vertices).for_each(|(k, &i)| place[i as usize] = k);
        let mut fans = fans(&place, surface.moving, triangles);
        for corner in fans.iter_mut().flat_map(|fan| &mut fan.around) {
            if place[*corner as usize] == u32::MAX {
                place[*corner as usize] = surface.vertices.len() as u32;
                surface.vertices.push(*corner);
            }
            *corner = place[*corner as usize];
        }
        for start in (0..surface.moving).step_by(WIDTH) {
            surface.add_block(start, &fans, values, blend);
        }
        surface
    }

    fn value(&self, values: &[f32], place: u32) -> f32 {
        values[self.vertices[place as usize] as usize]
    }

    fn add_block(
        &mut self,
        start: usize,
        fans: &[Fan],
        values: &[f32],
        blend: fn(f32) -> (f32, f32),
    ) {
        let (moving, nowhere) = (self.moving, self.moving.next_multiple_of(WIDTH) as u32);
        // Lanes beyond the last vertex repeat it, without neighbours.
        let itself: [u32; WIDTH] =
            std::array::from_fn(|lane| (start + lane).min(moving - 1) as u32);
        let mut still = Still {
            spokes: self.spokes.len(),
            before: itself,
            beta: [0.0; WIDTH],
            slope: [0.0; WIDTH],
            own: [1.0; WIDTH],
            others: [0.0; WIDTH],
        };
        let lanes = start..(start + WIDTH).min(moving);
        let longest = fans[lanes.clone()].iter().map(|f| f.around.len()).max().unwrap_or(0);
        for k in 0..longest {
            let mut spoke = Spoke { to: itself, near: [nowhere; WIDTH], rise: [0.0; WIDTH] };
            for v in lanes.clone().filter(|&v| k < fans[v].around.len()) {
                let (lane, to) = (v - start, fans[v].around[k]);
                spoke.to[lane] = to;
                spoke.rise[lane] = self.value(values, to) - self.value(values, v as u32);
                if (to as usize) < moving && to as usize != v {
                    spoke.near[lane] = to;
                }
            }
            self.spokes.push(spoke);
        }
        for v in lanes {
            let (lane, fan) = (v - start, &fans[v]);
            if let (true, Some(&last)) = (fan.is_closed, fan.around.last()) {
                still.before[lane] = last;
            }
            (still.beta[lane], still.slope[lane]) = blend(self.value(values, v as u32));
            let is_inside = |to: &&u32| (**to as usize) < moving && **to as usize != v;
            let inside = fan.around.iter().filter(is_inside).count();
            if inside > 0 {
                (still.own[lane], still.others[lane]) = (0.5, 0.5 / inside as f32);
            }
        }
        self.blocks.push(still);
    }

    /// Moves the vertices along the ride in steps of `h`; returns how many it took.
    pub(super) fn follow(
        &self,
        positions: &mut [Vec3],
        mover: &impl Mover,
        pace: Pace,
        run: &Run<'_>,
    ) -> Result<u32, Cancelled> {
        let h = 1.0 / f64::from(pace.steps);
        let taken = (pace.until * f64::from(pace.steps)).ceil() as u32;
        let mut local: Vec<Vec3> = self.vertices.iter().map(|&i| positions[i as usize]).collect();
        let mut past = None;
        for k in 0..taken {
            run.check()?;
            let t = f64::from(k) * h;
            let last = f64::from(k + 1) * h > pace.until;
            if last || k % pace.piece.max(1) == 0 {
                past = None;
            }
            let length = if last { pace.until - t } else { h };
            past = Some(self.step(&mut local, mover, [t, length], past.as_ref(), run));
            run.report(u64::from(k) + 1, u64::from(taken));
        }
        for (&i, x) in self.vertices[..self.moving].iter().zip(local) {
            positions[i as usize] = x;
        }
        Ok(taken)
    }

    /// One Runge–Kutta step of all vertices that move.
    fn step<M: Mover>(
        &self,
        local: &mut [Vec3],
        mover: &M,
        [t, h]: [f64; 2],
        past: Option<&Past>,
        run: &Run<'_>,
    ) -> Past {
        let motion = [t, t + 0.5 * h, t + h].map(|t| mover.at(t));
        let h = h as f32;
        let start = self.gradients(local, run);
        let velocity = self.each(
            run,
            #[inline(always)]
            |b| self.velocity::<M>(b, &self.gather(b, local), &start[b], &motion[0]),
        );
        let mut ahead = local.to_vec();
        let half = self.each(
            run,
            #[inline(always)]
            |b| {
                let x = self.gather(b, local);
                match past {
                    Some(past) => {
                        along(&along(&x, 0.625 * h, &velocity[b]), -0.125 * h, &past.velocity[b])
                    }
                    None => along(&x, 0.5 * h, &velocity[b]),
                }
            },
        );
        self.scatter(&half, &mut ahead);
        let middle = self.gradients(&ahead, run);
        let end = self.each(
            run,
            #[inline(always)]
            |b| {
                let x = self.gather(b, local);
                let last = continued(&start[b], &middle[b], past.map(|p| &p.middle[b]));
                let k1 = &velocity[b];
                let k2 = self.velocity::<M>(b, &along(&x, 0.5 * h, k1), &middle[b], &motion[1]);
                let k3 = self.velocity::<M>(b, &along(&x, 0.5 * h, &k2), &middle[b], &motion[1]);
                let k4 = self.velocity::<M>(b, &along(&x, h, &k3), &last, &motion[2]);
                let mut next = along(&x, h / 6.0, k1);
                for (k, weight) in [(k2, h / 3.0), (k3, h / 3.0), (k4, h / 6.0)] {
                    next = along(&next, weight, &k);
                }
                next
            },
        );
        self.scatter(&end, local);
        Past { velocity, middle }
    }

    /// ∇s of all blocks, and one that is zero.
    fn gradients(&self, local: &[Vec3], run: &Run<'_>) -> Vec<[Vec3; WIDTH]> {
        let mut gradients = self.each(
            run,
            #[inline(always)]
            |b| self.gradient(b, local),
        );
        for _ in 0..self.smoothing {
            let rough = gradients.as_flattened();
            gradients = self.each(
                run,
                #[inline(always)]
                |b| self.averaged(b, rough),
            );
        }
        gradients
    }

    /// A result for each block, worked out with the widest vectors there are, and one that is zero.
    ///
    /// The closures are inlined into the vector code: it would be of no use without.
    fn each<T: Nothing>(&self, run: &Run<'_>, f: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
        let arch = pulp::Arch::new();
        let mut done = vec![T::NOTHING; self.blocks.len() + 1];
        let count = self.blocks.len();
        run.for_each_piece(&mut done[..count], TASK, |start, done| {
            arch.dispatch(Blocks { start, done, f: &f });
        });
        done
    }

    fn spokes(&self, b: usize) -> &[Spoke] {
        let end = self.blocks.get(b + 1).map_or(self.spokes.len(), |next| next.spokes);
        &self.spokes[self.blocks[b].spokes..end]
    }

    #[inline(always)]
    fn gather(&self, b: usize, local: &[Vec3]) -> Block {
        let mut x = Lanes::ZERO;
        for lane in 0..WIDTH {
            x.set(lane, local[(b * WIDTH + lane).min(self.moving - 1)]);
        }
        x
    }

    fn scatter(&self, blocks: &[Block], local: &mut [Vec3]) {
        for (k, x) in local[..self.moving].iter_mut().enumerate() {
            *x = blocks[k / WIDTH].get(k % WIDTH);
        }
    }

    /// Least squares over the neighbours, in the tangent plane.
    #[inline(always)]
    fn gradient(&self, b: usize, local: &[Vec3]) -> [Vec3; WIDTH] {
        let x = self.gather(b, local);
        let mut last = offset(&self.blocks[b].before, local, &x);
        let mut normal = Block::ZERO;
        let mut right = Block::ZERO;
        let mut squares = Block::ZERO;
        let mut products = Block::ZERO;
        for spoke in self.spokes(b) {
            let p = offset(&spoke.to, local, &x);
            for i in 0..WIDTH {
                normal.x[i] += last.y[i] * p.z[i] - last.z[i] * p.y[i];
                normal.y[i] += last.z[i] * p.x[i] - last.x[i] * p.z[i];
                normal.z[i] += last.x[i] * p.y[i] - last.y[i] * p.x[i];
                right.x[i] += spoke.rise[i] * p.x[i];
                right.y[i] += spoke.rise[i] * p.y[i];
                right.z[i] += spoke.rise[i] * p.z[i];
                squares.x[i] += p.x[i] * p.x[i];
                squares.y[i] += p.y[i] * p.y[i];
                squares.z[i] += p.z[i] * p.z[i];
                products.x[i] += p.y[i] * p.z[i];
                products.y[i] += p.x[i] * p.z[i];
                products.z[i] += p.x[i] * p.y[i];
            }
            last = p;
        }
        let mut gradient = Block::ZERO;
        for i in 0..WIDTH {
            let moments = Moments { squares: squares.get(i), products: products.get(i) };
            gradient.set(i, moments.solve(normal.get(i), right.get(i)));
        }
        in_rows(&gradient)
    }

    #[inline(always)]
    fn averaged(&self, b: usize, gradients: &[Vec3]) -> [Vec3; WIDTH] {
        let mut sum = Block::ZERO;
        for spoke in self.spokes(b) {
            let mut near = Block::ZERO;
            for i in 0..WIDTH {
                near.set(i, gradients[spoke.near[i] as usize]);
            }
            for i in 0..WIDTH {
                sum.x[i] += near.x[i];
                sum.y[i] += near.y[i];
                sum.z[i] += near.z[i];
            }
        }
        let still = &self.blocks[b];
        let own = in_columns(&gradients[b * WIDTH..(b + 1) * WIDTH]);
        let mut mean = Block::ZERO;
        for i in 0..WIDTH {
            mean.set(i, still.own[i] * own.get(i) + still.others[i] * sum.get(i));
        }
        in_rows(&mean)
    }

    #[inline(always)]
    fn velocity<M: Mover>(
        &self,
        b: usize,
        x: &Block,
        gradient: &[Vec3; WIDTH],
        posed: &M::Posed,
    ) -> Block {
        let still = &self.blocks[b];
        let mut beta = ScalarLanes { value: still.beta, gradient: in_columns(gradient) };
        for i in 0..WIDTH {
            let sloped = still.slope[i] * beta.gradient.get(i);
            beta.gradient.set(i, sloped);
        }
        M::velocity(posed, x, &beta)
    }
}

/// A value for what has not been worked out.
trait Nothing: Clone + Send {
    const NOTHING: Self;
}

impl Nothing for Block {
    const NOTHING: Self = Self::ZERO;
}

impl Nothing for [Vec3; WIDTH] {
    const NOTHING: Self = [Vec3::ZERO; WIDTH];
}

/// Some blocks to work out.
struct Blocks<'a, T, F> {
    start: usize,
    done: &'a mut [T],
    f: &'a F,
}

impl<T, F: Fn(usize) -> T> WithSimd for Blocks<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (b, done) in (self.start..).zip(self.done) {
            *done = (self.f)(b);
        }
    }
}

/// From the vertices of a block to some others.
#[inline(always)]
fn offset(to: &[u32; WIDTH], local: &[Vec3], x: &Block) -> Block {
    let mut offset = Block::ZERO;
    for i in 0..WIDTH {
        offset.set(i, local[to[i] as usize]);
    }
    for i in 0..WIDTH {
        offset.x[i] -= x.x[i];
        offset.y[i] -= x.y[i];
        offset.z[i] -= x.z[i];
    }
    offset
}

/// As vectors side by side, which others gather from.
#[inline(always)]
fn in_rows(block: &Block) -> [Vec3; WIDTH] {
    std::array::from_fn(|i| block.get(i))
}

/// Back from rows.
#[inline(always)]
fn in_columns(rows: &[Vec3]) -> Block {
    let mut block = Block::ZERO;
    for (i, row) in rows.iter().enumerate() {
        block.set(i, *row);
    }
    block
}

/// `x + h v`.
#[inline(always)]
fn along(x: &Block, h: f32, v: &Block) -> Block {
    let mut moved = Block::ZERO;
    for i in 0..WIDTH {
        moved.set(i, x.get(i) + h * v.get(i));
    }
    moved
}

/// The gradient at the end of a step, from its start and middle and the middle of the step before.
#[inline(always)]
fn continued(
    start: &[Vec3; WIDTH],
    middle: &[Vec3; WIDTH],
    before: Option<&[Vec3; WIDTH]>,
) -> [Vec3; WIDTH] {
    std::array::from_fn(|i| match before {
        Some(before) => 3.0 * (middle[i] - start[i]) + before[i],
        None => 2.0 * middle[i] - start[i],
    })
}

/// `Σ d dᵀ`.
#[derive(Clone, Copy)]
struct Moments {
    /// `xx, yy, zz`.
    squares: Vec3,
    /// `yz, xz, xy`.
    products: Vec3,
}

impl Moments {
    /// The tangent vector that fits best; zero where the neighbours lie in one line.
    #[inline(always)]
    fn solve(self, normal: Vec3, right: Vec3) -> Vec3 {
        let n = normal * (1.0 / normal.length_squared().max(f32::MIN_POSITIVE).sqrt());
        let flat = right - n * n.dot(right);
        let across = self.times(n);
        let trace = self.squares.element_sum() - n.dot(across);
        let determinant = n.dot(self.adjugate_times(n));
        let turned = self.times(flat);
        let top = trace * flat - (turned - n * n.dot(turned));
        let is_flat = determinant <= FLAT * trace * trace;
        let inverse = if is_flat { 0.0 } else { 1.0 / determinant };
        top * inverse
    }

    #[inline(always)]
    fn times(self, v: Vec3) -> Vec3 {
        let (s, p) = (self.squares, self.products);
        Vec3::new(
            s.x * v.x + p.z * v.y + p.y * v.z,
            p.z * v.x + s.y * v.y + p.x * v.z,
            p.y * v.x + p.x * v.y + s.z * v.z,
        )
    }

    #[inline(always)]
    fn adjugate_times(self, v: Vec3) -> Vec3 {
        let (s, p) = (self.squares, self.products);
        let squares =
            Vec3::new(s.y * s.z - p.x * p.x, s.x * s.z - p.y * p.y, s.x * s.y - p.z * p.z);
        let products =
            Vec3::new(p.z * p.y - s.x * p.x, p.z * p.x - p.y * s.y, p.y * p.x - p.z * s.z);
        Self { squares, products }.times(v)
    }
}

/// The neighbours of a vertex.
#[derive(Default)]
struct Fan {
    /// In order; where a fan ends and another begins, the vertex itself.
    around: Vec<u32>,
    /// Whether the last comes before the first.
    is_closed: bool,
}

/// The neighbours of each moving vertex.
fn fans(place: &[u32], moving: usize, triangles: &[[u32; 3]]) -> Vec<Fan> {
    let mut sides: Vec<Vec<[u32; 2]>> = vec![Vec::new(); moving];
    for &[a, b, c] in triangles {
        for [apex, next, last] in [[a, b, c], [b, c, a], [c, a, b]] {
            if let Some(sides) = sides.get_mut(place[apex as usize] as usize) {
                sides.push([next, last]);
            }
        }
    }
    let mut apexes = vec![0; moving];
    for (i, &k) in (0..).zip(place) {
        if let Some(apex) = apexes.get_mut(k as usize) {
            *apex = i;
        }
    }
    sides.into_iter().zip(apexes).map(|(sides, apex)| Fan::new(sides, apex)).collect()
}

impl Fan {
    /// Strings the sides opposite of a vertex together.
    fn new(mut sides: Vec<[u32; 2]>, apex: u32) -> Self {
        let mut fan = Self::default();
        while !sides.is_empty() {
            // At a border begins what no other side leads to.
            let begins = |s: &[u32; 2]| sides.iter().all(|other| other[1] != s[0]);
            let start = sides.iter().position(begins).unwrap_or(0);
            let [first, mut end] = sides.swap_remove(start);
            if !fan.around.is_empty() {
                fan.around.push(apex);
            }
            fan.around.push(first);
            while let Some(next) = sides.iter().position(|s| s[0] == end) {
                fan.around.push(end);
                [_, end] = sides.swap_remove(next);
            }
            if end == first {
                fan.is_closed = !fan.around.contains(&apex) && sides.is_empty();
            } else {
                fan.around.push(end);
            }
        }
        fan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::blend::fade;

    fn hexagon(lift: impl Fn(f32, f32) -> f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let mut points = vec![Vec3::new(0.0, 0.0, lift(0.0, 0.0))];
        for k in 0..6 {
            let (s, c) = (std::f32::consts::TAU * k as f32 / 6.0 + 0.1).sin_cos();
            points.push(Vec3::new(c, s, lift(c, s)));
        }
        (points, (1..=6).map(|k| [0, k, k % 6 + 1]).collect())
    }

    /// A linear s on a tilted plane has its gradient within the plane, exactly.
    #[test]
    fn a_linear_value_has_its_own_gradient() {
        let (points, triangles) = hexagon(|x, y| 0.4 * x - 0.7 * y);
        let wanted = Vec3::new(0.03, -0.05, 0.02);
        let normal = Vec3::new(-0.4, 0.7, 1.0).normalize_or_zero();
        let values: Vec<f32> = points.iter().map(|p| 0.5 + wanted.dot(*p)).collect();
        let surface = Surface::new(&values, fade, &triangles, 0);
        let local: Vec<Vec3> = surface.vertices.iter().map(|&i| points[i as usize]).collect();
        let gradients = surface.gradients(&local, &Run::default());
        let expected = wanted - normal * normal.dot(wanted);
        // The rim too: its fans are open, and three neighbours are enough.
        for k in 0..7 {
            let found = gradients.as_flattened()[k];
            assert!(found.abs_diff_eq(expected, 1e-5), "{k}: {found} {expected}");
        }
    }

    #[test]
    fn neighbours_in_a_line_have_no_gradient() {
        let m = Moments { squares: 2.0 * Vec3::X, products: Vec3::ZERO };
        assert_eq!(m.solve(Vec3::Z, Vec3::X), Vec3::ZERO);
        assert_eq!(m.solve(Vec3::ZERO, Vec3::X), Vec3::ZERO);
    }
}

//! Vertices that move by a field which lives on their surface (thesis, 4.3 and 4.4).
//!
//! # Method
//!
//! s stays with the vertices, so its gradient changes as they move. It is estimated from the neighbours
//! by least squares with no part along the upright u: with offsets d, `M = Σ d dᵀ`, `r = Σ Δs d` and
//! P the projection along u, the best vector is
//!
//! ```text
//! ∇s = (tr(PMP) I − PMP) P r / det        det = uᵀ adj(M) u
//! ```
//!
//! and then averaged over the neighbours. [`upright`] says why u is not just the normal. The velocities
//! that follow keep the volume but for the error of the estimate; [`flux`] takes that out.
//!
//! The velocities of all vertices together are one ordinary differential equation. What costs most, the
//! gradients and what the volume lacks, changes slowly: it is sensed once a step, in the middle, at
//! positions predicted from the last velocities, and continued to the step's start and end as the parabola
//! through the last three middles. With that, Kutta's three stages are of order three. Where the motion
//! has a corner the past is forgotten.
//!
//! Sixteen vertices are worked on at a time, their neighbours in columns padded to the same length.

mod disc;
mod fan;
mod flux;
mod gradient;
mod upright;

use glam::{Vec2, Vec3, Vec4};
use pulp::{Simd, WithSimd};

use self::disc::Discs;
use self::fan::{Fan, fans};
use self::flux::Flux;
use self::gradient::Moments;
use super::guide::Ride;
use crate::Run;
use crate::field::Generator;
use crate::field::lanes::{Lanes, ScalarLanes, WIDTH};
use crate::run::Cancelled;

/// Blocks a thread works on at a time.
const TASK: usize = 32;

/// Share of a step by which its start and end lie within it: where two pieces of a way meet, each step sees
/// its own.
const WITHIN: f64 = 1e-6;

/// How many middles a step looks back to, its own included.
const MEMORY: usize = 3;

type Block = Lanes<WIDTH>;

/// The vectors of a block side by side, as others gather them.
type Rows = [Vec3; WIDTH];

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
    /// Vertices that are not at rest, the last repeated to fill a block, then their neighbours that are.
    vertices: Vec<u32>,
    moving: usize,
    spokes: Vec<Spoke>,
    blocks: Vec<Still>,
    smoothing: u32,
    discs: Discs,
    flux: Flux,
}

/// What the neighbours of a block's vertices say.
#[derive(Clone, Copy)]
struct Shape {
    /// The cross products around each, added up.
    normal: Block,
    /// See [`Moments`].
    squares: Block,
    products: Block,
    /// `Σ Δs d`.
    right: Block,
}

/// What a surface is like at a time.
struct Sense {
    time: f64,
    gradient: Vec<Block>,
    /// The velocity that the gradient leads to.
    velocity: Vec<Rows>,
    /// The velocity that the volume needs besides.
    push: Vec<Block>,
}

/// What moves a surface.
pub(super) trait Mover: Sync {
    /// The motion at one time.
    type Posed: Sync;

    fn at(&self, t: f64) -> Self::Posed;

    /// Whether the velocity is the curl of the potential. It is not for thin shells.
    fn keeps_volume(&self) -> bool;

    /// The velocity of points whose blend, and its gradient, is known.
    fn velocity(posed: &Self::Posed, x: &Lanes<WIDTH>, beta: &ScalarLanes<WIDTH>) -> Lanes<WIDTH>;

    /// The integral of `½β²(e∇f − f∇e)` along straight ways, with the blend at their start, middle and end.
    fn circulation(
        posed: &Self::Posed,
        from: &Lanes<WIDTH>,
        way: &Lanes<WIDTH>,
        beta: &[[f32; WIDTH]; 3],
    ) -> [f32; WIDTH];
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
    type Posed = Vec<Generator>;

    fn at(&self, t: f64) -> Self::Posed {
        self.generators(t)
    }

    fn keeps_volume(&self) -> bool {
        true
    }

    #[inline(always)]
    fn velocity(motion: &Vec<Generator>, x: &Block, beta: &ScalarLanes<WIDTH>) -> Block {
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

    #[inline(always)]
    fn circulation(
        motion: &Vec<Generator>,
        from: &Block,
        way: &Block,
        beta: &[[f32; WIDTH]; 3],
    ) -> [f32; WIDTH] {
        let mut sum = [0.0; WIDTH];
        for generator in motion {
            generator.add_circulation(from, way, beta, &mut sum);
        }
        sum
    }
}

impl Surface {
    /// With the blend, and its slope, that each of the values stands for.
    pub(super) fn new(
        positions: &[Vec3],
        values: &[f32],
        blend: fn(f32) -> (f32, f32),
        triangles: &[[u32; 3]],
        smoothing: u32,
    ) -> Self {
        let mut vertices: Vec<u32> =
            (0..values.len() as u32).filter(|&i| values[i as usize] < 1.0).collect();
        let moving = vertices.len();
        let mut place = vec![u32::MAX; values.len()];
        (0..).zip(&vertices).for_each(|(k, &i)| place[i as usize] = k);
        if let Some(&last) = vertices.last() {
            vertices.resize(moving.next_multiple_of(WIDTH), last);
        }
        let mut fans = fans(&place, moving, triangles);
        for corner in fans.iter_mut().flat_map(|fan| &mut fan.around) {
            if place[*corner as usize] == u32::MAX {
                place[*corner as usize] = vertices.len() as u32;
                vertices.push(*corner);
            }
            *corner = place[*corner as usize];
        }
        let placed = triangles.iter().map(|t| t.map(|i| place[i as usize]));
        let triangles: Vec<[u32; 3]> = placed.filter(|t| !t.contains(&u32::MAX)).collect();
        let local: Vec<Vec3> = vertices.iter().map(|&i| positions[i as usize]).collect();
        let values: Vec<f32> = vertices.iter().map(|&i| values[i as usize]).collect();
        let mut surface = Self {
            moving,
            spokes: Vec::new(),
            blocks: Vec::new(),
            smoothing,
            discs: Discs::new(&local, &values, &triangles, moving),
            flux: Flux::new(&triangles, moving, &values, blend),
            vertices,
        };
        for start in (0..moving).step_by(WIDTH) {
            surface.add_block(start, &fans, &values, blend);
        }
        surface
    }

    fn add_block(
        &mut self,
        start: usize,
        fans: &[Fan],
        values: &[f32],
        blend: fn(f32) -> (f32, f32),
    ) {
        let (moving, nowhere) = (self.moving, self.padded() as u32);
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
                spoke.rise[lane] = values[to as usize] - values[v];
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
            (still.beta[lane], still.slope[lane]) = blend(values[v]);
            let is_inside = |to: &&u32| (**to as usize) < moving && **to as usize != v;
            let inside = fan.around.iter().filter(is_inside).count();
            if inside > 0 {
                (still.own[lane], still.others[lane]) = (0.5, 0.5 / inside as f32);
            }
        }
        self.blocks.push(still);
    }

    /// How many vertices the blocks have room for.
    fn padded(&self) -> usize {
        self.moving.next_multiple_of(WIDTH)
    }

    /// Moves the vertices along the ride; returns how many steps it took.
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
        let mut past = Vec::new();
        for k in 0..taken {
            run.check()?;
            let t = f64::from(k) * h;
            if k % pace.piece.max(1) == 0 {
                past.clear();
            }
            self.step(&mut local, mover, [t, h.min(pace.until - t)], &mut past, run);
            run.report(u64::from(k) + 1, u64::from(taken));
        }
        for (&i, x) in self.vertices[..self.moving].iter().zip(local) {
            positions[i as usize] = x;
        }
        Ok(taken)
    }

    /// One Runge–Kutta step of all vertices that move. The past is what was sensed last, oldest first.
    fn step<M: Mover>(
        &self,
        local: &mut [Vec3],
        mover: &M,
        [t, h]: [f64; 2],
        past: &mut Vec<Sense>,
        run: &Run<'_>,
    ) {
        let [start, end] = [t + WITHIN * h, t + (1.0 - WITHIN) * h];
        if past.is_empty() {
            past.push(self.sense(local, mover, start, run));
        }
        let middle = self.sense(&self.ahead(local, [t, h], past, run), mover, t + 0.5 * h, run);
        past.push(middle);
        past.drain(..past.len().saturating_sub(MEMORY));
        let [at_start, at_end] = [start, end].map(|t| weights(past, t));
        let [start, middle, end] = [start, t + 0.5 * h, end].map(|t| mover.at(t));
        let (past, h) = (&past[..], h as f32);
        self.move_each(
            local,
            run,
            #[inline(always)]
            |b, x| {
                let k1 = self.full_velocity::<M>(b, x, &mixed(past, &at_start, b), &start);
                let now = past.last().map_or((Block::ZERO, Block::ZERO), |now| now.block(b));
                let k2 = self.full_velocity::<M>(b, &along(x, 0.5 * h, &k1), &now, &middle);
                let next = along(&along(x, -h, &k1), 2.0 * h, &k2);
                let k3 = self.full_velocity::<M>(b, &next, &mixed(past, &at_end, b), &end);
                let moved = along(&along(x, h / 6.0, &k1), 4.0 * h / 6.0, &k2);
                along(&moved, h / 6.0, &k3)
            },
        );
    }

    /// With what the volume needs.
    #[inline(always)]
    fn full_velocity<M: Mover>(
        &self,
        b: usize,
        x: &Block,
        (gradient, push): &(Block, Block),
        posed: &M::Posed,
    ) -> Block {
        along(&self.velocity::<M>(b, x, gradient, posed), 1.0, push)
    }

    /// Where the vertices will be in the middle of a step, from the last velocities continued in a line.
    fn ahead(&self, local: &[Vec3], [t, h]: [f64; 2], past: &[Sense], run: &Run<'_>) -> Vec<Vec3> {
        let last = &past[past.len().saturating_sub(2)..];
        let weights = weights(last, t + 0.25 * h);
        let mut ahead = local.to_vec();
        self.move_each(
            &mut ahead,
            run,
            #[inline(always)]
            |b, x| {
                let mut x = *x;
                for (sense, weight) in last.iter().zip(weights) {
                    let weight = 0.5 * h as f32 * weight;
                    x = along(&x, weight, &in_columns(&sense.velocity[b]));
                    x = along(&x, weight, &sense.push[b]);
                }
                x
            },
        );
        ahead
    }

    /// Gradients, velocities and what the volume lacks.
    fn sense<M: Mover>(&self, local: &[Vec3], mover: &M, time: f64, run: &Run<'_>) -> Sense {
        let posed = mover.at(time);
        let count = self.blocks.len();
        let shapes = self.shapes(local, run);
        let gradient = self.gradients(&shapes, run);
        let velocity = each(
            count,
            run,
            #[inline(always)]
            |b| in_rows(&self.velocity::<M>(b, &block(b, local), &gradient[b], &posed)),
        );
        let push = if mover.keeps_volume() {
            self.flux.pushes::<M>(
                &self.discs,
                [local, velocity.as_flattened()],
                &shapes,
                &posed,
                run,
            )
        } else {
            vec![Block::ZERO; count]
        };
        Sense { time, gradient, velocity, push }
    }

    /// ∇s of all blocks.
    fn gradients(&self, shapes: &[Shape], run: &Run<'_>) -> Vec<Block> {
        let count = self.blocks.len();
        let means = upright::means(&self.discs, shapes, run);
        let mut gradients = each(
            count,
            run,
            #[inline(always)]
            |b| shapes[b].gradient(&upright::block(&self.discs, b, &means, &shapes[b])),
        );
        for _ in 0..self.smoothing {
            let rough = each(
                count,
                run,
                #[inline(always)]
                |b| in_rows(&gradients[b]),
            );
            gradients = each(
                count,
                run,
                #[inline(always)]
                |b| self.averaged(b, rough.as_flattened()),
            );
        }
        gradients
    }

    /// Replaces the positions of each block.
    fn move_each(
        &self,
        local: &mut [Vec3],
        run: &Run<'_>,
        f: impl Fn(usize, &Block) -> Block + Send + Sync,
    ) {
        let (moving, _) = local[..self.padded()].as_chunks_mut();
        over(
            moving,
            run,
            #[inline(always)]
            |b, rows| *rows = in_rows(&f(b, &in_columns(rows))),
        );
    }

    fn spokes(&self, b: usize) -> &[Spoke] {
        let end = self.blocks.get(b + 1).map_or(self.spokes.len(), |next| next.spokes);
        &self.spokes[self.blocks[b].spokes..end]
    }

    /// The shapes of all blocks, and one that is zero.
    fn shapes(&self, local: &[Vec3], run: &Run<'_>) -> Vec<Shape> {
        each(
            self.blocks.len(),
            run,
            #[inline(always)]
            |b| self.shape(b, local),
        )
    }

    #[inline(always)]
    fn shape(&self, b: usize, local: &[Vec3]) -> Shape {
        let x = block(b, local);
        let mut last = offset(&self.blocks[b].before, local, &x);
        let mut shape = Shape::NOTHING;
        let Shape { normal, squares, products, right } = &mut shape;
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
        shape
    }

    #[inline(always)]
    fn averaged(&self, b: usize, gradients: &[Vec3]) -> Block {
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
        mean
    }

    #[inline(always)]
    fn velocity<M: Mover>(&self, b: usize, x: &Block, gradient: &Block, posed: &M::Posed) -> Block {
        let still = &self.blocks[b];
        let mut beta = ScalarLanes { value: still.beta, gradient: *gradient };
        for i in 0..WIDTH {
            let sloped = still.slope[i] * gradient.get(i);
            beta.gradient.set(i, sloped);
        }
        M::velocity(posed, x, &beta)
    }
}

impl Shape {
    #[inline(always)]
    fn gradient(&self, uprights: &Block) -> Block {
        let mut gradient = Block::ZERO;
        for i in 0..WIDTH {
            let moments = Moments { squares: self.squares.get(i), products: self.products.get(i) };
            gradient.set(i, moments.solve(uprights.get(i), self.right.get(i)));
        }
        gradient
    }
}

impl Sense {
    /// The gradient and the push of a block.
    #[inline(always)]
    fn block(&self, b: usize) -> (Block, Block) {
        (self.gradient[b], self.push[b])
    }
}

/// A result for each block, and one that is zero.
fn each<T: Nothing>(count: usize, run: &Run<'_>, f: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
    let mut done = vec![T::NOTHING; count + 1];
    over(
        &mut done[..count],
        run,
        #[inline(always)]
        |b, one| *one = f(b),
    );
    done
}

/// Works on each block with the widest vectors there are.
///
/// The closures are inlined into the vector code: it would be of no use without.
fn over<T: Send>(blocks: &mut [T], run: &Run<'_>, f: impl Fn(usize, &mut T) + Send + Sync) {
    let arch = pulp::Arch::new();
    run.for_each_piece(blocks, TASK, |start, blocks| {
        arch.dispatch(Blocks { start, blocks, f: &f });
    });
}

/// A value for what has not been worked out.
trait Nothing: Clone + Send {
    const NOTHING: Self;
}

impl Nothing for Block {
    const NOTHING: Self = Self::ZERO;
}

impl Nothing for Rows {
    const NOTHING: Self = [Vec3::ZERO; WIDTH];
}

impl Nothing for [Vec4; WIDTH] {
    const NOTHING: Self = [Vec4::ZERO; WIDTH];
}

impl Nothing for [Vec2; WIDTH] {
    const NOTHING: Self = [Vec2::ZERO; WIDTH];
}

impl Nothing for [f32; WIDTH] {
    const NOTHING: Self = [0.0; WIDTH];
}

impl Nothing for Shape {
    const NOTHING: Self = Self {
        normal: Lanes::ZERO,
        squares: Lanes::ZERO,
        products: Lanes::ZERO,
        right: Lanes::ZERO,
    };
}

/// Some blocks to work out.
struct Blocks<'a, T, F> {
    start: usize,
    blocks: &'a mut [T],
    f: &'a F,
}

impl<T, F: Fn(usize, &mut T)> WithSimd for Blocks<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (b, block) in (self.start..).zip(self.blocks) {
            (self.f)(b, block);
        }
    }
}

/// The positions of a block.
#[inline(always)]
fn block(b: usize, local: &[Vec3]) -> Block {
    in_columns(&local[b * WIDTH..(b + 1) * WIDTH])
}

#[inline(always)]
fn gathered(from: &[u32; WIDTH], local: &[Vec3]) -> Block {
    let mut block = Block::ZERO;
    for i in 0..WIDTH {
        block.set(i, local[from[i] as usize]);
    }
    block
}

/// From the vertices of a block to some others.
#[inline(always)]
fn offset(to: &[u32; WIDTH], local: &[Vec3], x: &Block) -> Block {
    let mut offset = gathered(to, local);
    for i in 0..WIDTH {
        offset.x[i] -= x.x[i];
        offset.y[i] -= x.y[i];
        offset.z[i] -= x.z[i];
    }
    offset
}

#[inline(always)]
fn in_rows(block: &Block) -> Rows {
    std::array::from_fn(|i| block.get(i))
}

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

/// The weights of the polynomial through what was sensed, at a time; of the first [`MEMORY`].
fn weights(past: &[Sense], t: f64) -> [f32; MEMORY] {
    let factor = |i: usize, j: usize| (t - past[j].time) / (past[i].time - past[j].time);
    std::array::from_fn(|i| {
        let others = (0..past.len()).filter(|&j| j != i && i < past.len());
        others.map(|j| factor(i, j)).product::<f64>() as f32
    })
}

/// The gradients and pushes of a block from what was sensed.
#[inline(always)]
fn mixed(past: &[Sense], weights: &[f32; MEMORY], b: usize) -> (Block, Block) {
    let mut sum = (Block::ZERO, Block::ZERO);
    for (sense, &weight) in past.iter().zip(weights) {
        sum.0 = along(&sum.0, weight, &sense.gradient[b]);
        sum.1 = along(&sum.1, weight, &sense.push[b]);
    }
    sum
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
        let surface = Surface::new(&points, &values, fade, &triangles, 0);
        let local: Vec<Vec3> = surface.vertices.iter().map(|&i| points[i as usize]).collect();
        let shapes = surface.shapes(&local, &Run::default());
        let gradients = surface.gradients(&shapes, &Run::default());
        let expected = wanted - normal * normal.dot(wanted);
        // The rim too: its fans are open, and three neighbours are enough.
        for k in 0..7 {
            let found = gradients[k / WIDTH].get(k % WIDTH);
            assert!(found.abs_diff_eq(expected, 1e-5), "{k}: {found} {expected}");
        }
    }
}

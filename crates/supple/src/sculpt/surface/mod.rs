//! Vertices that move by a field which lives on their surface (thesis, 4.3 and 4.4).
//!
//! # Method
//!
//! s stays with the vertices, so its gradient changes as they move. It is estimated from the neighbours
//! by least squares with no part along the disc normal u: with offsets d, `M = Σ d dᵀ`, `r = Σ Δs d` and
//! P the projection along u, the best vector for (4.1) is
//!
//! ```text
//! ∇s = (tr(PMP) I − PMP) P r / det        det = uᵀ adj(M) u
//! ```
//!
//! and then averaged over the neighbours. [`disc_normal`] says why u is not just the normal. The velocities
//! that follow keep the volume but for the error of the estimate; [`flux`] takes that out.
//!
//! The velocities of all vertices together are one ordinary differential equation. What costs most, the
//! gradients and what the volume lacks, changes slowly: it is sensed once a step, in the middle, at
//! positions predicted from the last velocities, and continued to the step's start and end as the parabola
//! through the last three middles; where the predictor foretells it well, once in several steps ([`predictor`]). With
//! that, Kutta's three stages are of order three. Where the motion has a corner the predictor is forgotten. What volume the steps in time
//! have cost is given back at the end, spread over the fade.
//!
//! What needs neighbours is worked out vertex by vertex, a vector in a register; what needs none, sixteen
//! vertices at a time.

mod disc;
mod disc_normal;
mod fan;
mod flux;
mod gradient;
mod predictor;
mod table;

use glam::{Vec3, Vec4, Vec4Swizzles as _};
use pulp::{Simd, WithSimd};

use self::disc::{Discs, fade_width};
use self::fan::Fans;
use self::flux::Flux;
use self::gradient::Moments;
use self::predictor::{Predictor, Sample, Weights};
use super::guide::Ride;
use crate::Run;
use crate::field::Generator;
use crate::lanes::{Lanes, ScalarLanes, WIDTH};
use crate::lengths::Lengths as _;
use crate::run::Cancelled;

/// Blocks a thread works on at a time.
const TASK: usize = 32;

/// Vertices a thread works on at a time, where each is worked out by itself.
const ROWS: usize = 256;

/// Share of a step by which its start and end lie within it: where two pieces of a way meet, each step sees
/// its own.
const WITHIN: f64 = 1e-6;

/// How far a vertex may move for the volume that is given back, as a share of the fade's width. What needs more
/// has too few steps: it stays as it is, and its volume says so.
const GIVEN_BACK: f32 = 1e-3;

type Block = Lanes<WIDTH>;

/// A vector whose fourth component is zero: it fills a register.
type Row = Vec4;

/// The vectors of a block side by side, as others gather them.
type Rows = [Row; WIDTH];

/// β of a block's vertices and its slope.
struct Blend {
    beta: [f32; WIDTH],
    slope: [f32; WIDTH],
}

/// A surface with s on it.
pub(super) struct EditedSurface {
    /// Vertices that are not at rest, the last repeated to fill a block, then their neighbours that are.
    vertices: Vec<u32>,
    moving: usize,
    blends: Vec<Blend>,
    triangles: Vec<[u32; 3]>,
    fans: Fans,
    smoothing: u32,
    /// How far it is across the fade.
    width: f64,
    discs: Discs,
    flux: Flux,
}

/// What the neighbours of the vertices say.
struct Shapes {
    normals: Vec<Normal>,
    fits: Vec<Fit>,
}

/// The cross products around a vertex, added up; the fourth component is how long that is.
#[derive(Clone, Copy, Default)]
struct Normal(Row);

/// Where the gradient of a vertex comes from.
#[derive(Clone, Copy, Default)]
struct Fit {
    moments: Moments,
    /// `Σ Δs d`.
    right: Row,
}

impl Normal {
    /// Six times the area that belongs to the vertex.
    #[inline(always)]
    fn size(self) -> f32 {
        self.0.w
    }

    /// Its direction; zero where there is no area.
    #[inline(always)]
    fn direction(self) -> Row {
        self.0.with_w(0.0) / self.0.w.max(f32::MIN_POSITIVE)
    }
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

/// A Runge–Kutta step: the motion at its three stages, and the weights of what was sensed. Vertices do not
/// know of one another within it, so a block takes all steps that one sensing serves at once.
struct Step<M: Mover> {
    length: f32,
    posed: [M::Posed; 3],
    weights: [Weights; 3],
}

impl<M: Mover> Step<M> {
    fn new([from, to]: [f64; 2], mover: &M, predictor: &Predictor) -> Self {
        let times = [WITHIN, 0.5, 1.0 - WITHIN].map(|share| from + share * (to - from));
        Self {
            length: (to - from) as f32,
            posed: times.map(|t| mover.at(t)),
            weights: times.map(|t| predictor.weights(t)),
        }
    }
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

impl Pace {
    /// When a step begins.
    fn time(&self, step: u32) -> f64 {
        (f64::from(step) / f64::from(self.steps)).min(self.until)
    }
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

impl EditedSurface {
    /// With the blend, and its slope, that each of the values stands for.
    pub(super) fn new(
        positions: &[Vec3],
        values: &[f32],
        blend: fn(f32) -> (f32, f32),
        triangles: &[[u32; 3]],
        smoothing: u32,
        run: &Run<'_>,
    ) -> Self {
        let mut vertices: Vec<u32> =
            (0..values.len() as u32).filter(|&i| values[i as usize] < 1.0).collect();
        let moving = vertices.len();
        let mut place = vec![u32::MAX; values.len()];
        (0..).zip(&vertices).for_each(|(k, &i)| place[i as usize] = k);
        if let Some(&last) = vertices.last() {
            vertices.resize(moving.next_multiple_of(WIDTH), last);
        }
        let mut placed = |i: u32| {
            let place = &mut place[i as usize];
            if *place == u32::MAX {
                *place = vertices.len() as u32;
                vertices.push(i);
            }
            *place
        };
        let moves = |t: &&[u32; 3]| t.iter().any(|&i| values[i as usize] < 1.0);
        let triangles: Vec<[u32; 3]> =
            triangles.iter().filter(moves).map(|t| t.map(&mut placed)).collect();
        let local: Vec<Vec3> = vertices.iter().map(|&i| positions[i as usize]).collect();
        let values: Vec<f32> = vertices.iter().map(|&i| values[i as usize]).collect();
        let width = fade_width(&local, &values, &triangles);
        let blends = values[..moving.next_multiple_of(WIDTH)].chunks(WIDTH).map(|values| Blend {
            beta: std::array::from_fn(|i| blend(values[i]).0),
            slope: std::array::from_fn(|i| blend(values[i]).1),
        });
        let (discs, (fans, flux)) = run.join(
            || Discs::new(&local, &triangles, moving, width),
            || {
                let fans = Fans::new(&triangles, moving, &values);
                (fans, Flux::new(&triangles, moving, &values, blend))
            },
        );
        Self {
            moving,
            blends: blends.collect(),
            fans,
            smoothing,
            width: f64::from(width),
            discs,
            flux,
            triangles,
            vertices,
        }
    }

    /// The positions of its vertices.
    fn local(&self, positions: &[Vec3]) -> Vec<Row> {
        self.vertices.iter().map(|&i| positions[i as usize].extend(0.0)).collect()
    }

    /// Moves the vertices along the ride; returns how many steps it took.
    pub(super) fn follow(
        &self,
        positions: &mut [Vec3],
        mover: &impl Mover,
        pace: Pace,
        run: &Run<'_>,
    ) -> Result<u32, Cancelled> {
        let taken = (pace.until * f64::from(pace.steps)).ceil() as u32;
        let mut local = self.local(positions);
        let start = |k: u32| pace.time(k) + WITHIN * (pace.time(k + 1) - pace.time(k));
        let mut predictor = Predictor::new(self.sense(&local, mover, start(0), run), 0);
        let mut k = 0;
        while k < taken {
            run.check()?;
            if k > 0 && k % pace.piece.max(1) == 0 {
                predictor = Predictor::new(self.sense(&local, mover, start(k), run), k);
            }
            while predictor.due == k {
                self.look_ahead(&local, mover, pace, &mut predictor, run);
            }
            let next = predictor.due.min(taken);
            let steps: Vec<_> = (k..next)
                .map(|k| Step::new([k, k + 1].map(|k| pace.time(k)), mover, &predictor))
                .collect();
            self.move_each(
                &mut local,
                run,
                #[inline(always)]
                |b, x| {
                    let mut x = *x;
                    for step in &steps {
                        x = self.stepped(b, &x, step, &predictor);
                    }
                    x
                },
            );
            k = next;
            run.report(u64::from(k), u64::from(taken));
        }
        self.put_back(&local, positions);
        Ok(taken)
    }

    /// Gives back the volume that the steps in time have cost, where the motion is neither full nor none.
    pub(super) fn give_back(&self, before: &[Vec3], positions: &mut [Vec3], run: &Run<'_>) {
        if !self.fans.are_closed() {
            return;
        }
        let mut local = self.local(positions);
        let origin = local.first().map_or(Vec3::ZERO, |x| x.truncate());
        let lost = self.volume(&self.local(before), origin, run) - self.volume(&local, origin, run);
        let shapes = self.shapes(&local, run);
        let most = GIVEN_BACK * self.width as f32;
        self.flux.add_volume(&mut local, &shapes.normals, lost, most);
        self.put_back(&local, positions);
    }

    /// What lies between its triangles and a place that is not far.
    fn volume(&self, local: &[Row], origin: Vec3, run: &Run<'_>) -> f64 {
        let origin = origin.as_dvec3();
        run.sum(self.triangles.len(), |t| {
            let corner = |v: u32| local[v as usize].truncate().as_dvec3() - origin;
            let [a, b, c] = self.triangles[t].map(corner);
            a.dot(b.cross(c)) / 6.0
        })
    }

    fn put_back(&self, local: &[Row], positions: &mut [Vec3]) {
        for (&i, x) in self.vertices[..self.moving].iter().zip(local) {
            positions[i as usize] = x.truncate();
        }
    }

    /// Senses the surface where it will be in the middle of the next steps.
    fn look_ahead<M: Mover>(
        &self,
        local: &[Row],
        mover: &M,
        pace: Pace,
        predictor: &mut Predictor,
        run: &Run<'_>,
    ) {
        let piece = pace.piece.max(1);
        let steps = predictor.stride().min(piece - predictor.due % piece);
        let [start, end] = [predictor.due, predictor.due + steps].map(|k| pace.time(k));
        let middle = 0.5 * (start + end);
        let sense =
            self.sense(&self.ahead(local, [start, middle], predictor, run), mover, middle, run);
        predictor.take_in(sense, steps, self.width / pace.until, run);
    }

    /// A block after a Runge–Kutta step.
    #[inline(always)]
    fn stepped<M: Mover>(
        &self,
        b: usize,
        x: &Block,
        step: &Step<M>,
        predictor: &Predictor,
    ) -> Block {
        let Step { length: h, posed: [start, middle, end], weights: [first, second, third] } = step;
        let k1 = self.full_velocity::<M>(b, x, &predictor.mixed(first, b), start);
        let ahead = along(x, 0.5 * h, &k1);
        let k2 = self.full_velocity::<M>(b, &ahead, &predictor.mixed(second, b), middle);
        let ahead = along(&along(x, -h, &k1), 2.0 * h, &k2);
        let k3 = self.full_velocity::<M>(b, &ahead, &predictor.mixed(third, b), end);
        let moved = along(&along(x, h / 6.0, &k1), 4.0 * h / 6.0, &k2);
        along(&moved, h / 6.0, &k3)
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

    /// Where the vertices will be at the second of two times, from the velocities so far.
    fn ahead(
        &self,
        local: &[Row],
        times: [f64; 2],
        predictor: &Predictor,
        run: &Run<'_>,
    ) -> Vec<Row> {
        let weights = predictor.line(0.5 * (times[0] + times[1]));
        let mut ahead = local.to_vec();
        self.move_each(
            &mut ahead,
            run,
            #[inline(always)]
            |b, x| along(x, (times[1] - times[0]) as f32, &predictor.velocity(&weights, b)),
        );
        ahead
    }

    /// Gradients, velocities and what the volume lacks.
    fn sense<M: Mover>(&self, local: &[Row], mover: &M, time: f64, run: &Run<'_>) -> Sample {
        let posed = mover.at(time);
        let keeps_volume = mover.keeps_volume();
        let (shapes, along) = run.join(
            || self.shapes(local, run),
            || if keeps_volume { self.flux.along::<M>(local, &posed, run) } else { Vec::new() },
        );
        let nearly = self.nearly_smooth(&shapes, run);
        let mut gradient = vec![Block::ZERO; self.blends.len()];
        let mut velocity = vec![[Row::ZERO; WIDTH]; self.blends.len()];
        over_both(
            &mut gradient,
            &mut velocity,
            run,
            #[inline(always)]
            |b, gradient, velocity| {
                *gradient = in_columns(&self.smoother(b, &nearly));
                *velocity = in_rows(&self.velocity::<M>(b, &block(b, local), gradient, &posed));
            },
        );
        let push = if keeps_volume {
            let motion = [local, velocity.as_flattened()];
            self.flux.pushes(&self.discs, motion, &along, &shapes.normals, run)
        } else {
            vec![Block::ZERO; gradient.len()]
        };
        Sample { time, gradient, velocity, push }
    }

    /// ∇s of all blocks, averaged over the neighbours once less than it should be.
    fn nearly_smooth(&self, shapes: &Shapes, run: &Run<'_>) -> Vec<Rows> {
        let means = disc_normal::means(&self.discs, &shapes.normals, run);
        let mut gradients = vec![[Row::ZERO; WIDTH]; self.blends.len()];
        over(
            &mut gradients,
            run,
            #[inline(always)]
            |b, rows| *rows = in_rows(&self.rough_gradient(b, shapes, &means)),
        );
        for _ in 1..self.smoothing {
            let mut next = vec![[Row::ZERO; WIDTH]; gradients.len()];
            over(
                &mut next,
                run,
                #[inline(always)]
                |b, rows| *rows = self.smoother(b, &gradients),
            );
            gradients = next;
        }
        gradients
    }

    /// The gradients of a block, averaged once more, unless they are to stay as they are.
    #[inline(always)]
    fn smoother(&self, b: usize, gradients: &[Rows]) -> Rows {
        if self.smoothing == 0 {
            return gradients[b];
        }
        let mut rows = [Row::ZERO; WIDTH];
        for (i, row) in rows.iter_mut().enumerate() {
            let v = (b * WIDTH + i).min(self.moving - 1);
            *row = self.fans.averaging.sum(v, gradients.as_flattened());
        }
        rows
    }

    /// ∇s of a block, not averaged.
    #[inline(always)]
    fn rough_gradient(&self, b: usize, shapes: &Shapes, means: &[Row]) -> Block {
        let at = |i: usize| (b * WIDTH + i).min(self.moving - 1);
        let mut sums = [Row::ZERO; WIDTH];
        for (i, sum) in sums.iter_mut().enumerate() {
            *sum = self.discs.mean(at(i), means);
        }
        let mut gradient = Block::ZERO;
        for (i, sum) in sums.into_iter().enumerate() {
            let disc_normal = disc_normal::regularized(sum, shapes.normals[at(i)].direction());
            let fit = &shapes.fits[at(i)];
            gradient.set(i, fit.moments.solve(disc_normal, fit.right).truncate());
        }
        gradient
    }

    /// Replaces the positions of each block.
    fn move_each(
        &self,
        local: &mut [Row],
        run: &Run<'_>,
        f: impl Fn(usize, &Block) -> Block + Send + Sync,
    ) {
        let (moving, _) = local[..self.blends.len() * WIDTH].as_chunks_mut();
        over(
            moving,
            run,
            #[inline(always)]
            |b, rows| *rows = in_rows(&f(b, &in_columns(rows))),
        );
    }

    fn shapes(&self, local: &[Row], run: &Run<'_>) -> Shapes {
        let mut shapes = Shapes {
            normals: vec![Normal::default(); self.moving],
            fits: vec![Fit::default(); self.moving],
        };
        let normals = shapes.normals.chunks_mut(ROWS);
        let mut pieces: Vec<_> = normals.zip(shapes.fits.chunks_mut(ROWS)).collect();
        run.for_each_piece(&mut pieces, 1, |piece, pieces| {
            for (normals, fits) in pieces {
                for (v, (normal, fit)) in (piece * ROWS..).zip(normals.iter_mut().zip(&mut **fits))
                {
                    (*normal, *fit) = self.shape(v, local);
                }
            }
        });
        shapes
    }

    #[inline(always)]
    fn shape(&self, v: usize, local: &[Row]) -> (Normal, Fit) {
        let x = local[v];
        let mut last = local[self.fans.before[v] as usize] - x;
        let (mut normal, mut fit) = (Row::ZERO, Fit::default());
        for spoke in self.fans.spokes.row(v) {
            let d = local[spoke.of as usize] - x;
            normal += cross(last, d);
            fit.moments.add(d);
            fit.right += spoke.weight * d;
            last = d;
        }
        (Normal(normal.with_w(normal.norm())), fit)
    }

    #[inline(always)]
    fn velocity<M: Mover>(&self, b: usize, x: &Block, gradient: &Block, posed: &M::Posed) -> Block {
        let blend = &self.blends[b];
        let mut beta = ScalarLanes { value: blend.beta, gradient: *gradient };
        for i in 0..WIDTH {
            let sloped = blend.slope[i] * gradient.get(i);
            beta.gradient.set(i, sloped);
        }
        M::velocity(posed, x, &beta)
    }
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

/// Works on two lists of blocks at once.
fn over_both<A: Send, B: Send>(
    ones: &mut [A],
    others: &mut [B],
    run: &Run<'_>,
    f: impl Fn(usize, &mut A, &mut B) + Send + Sync,
) {
    let mut pairs: Vec<_> = ones.iter_mut().zip(others).collect();
    over(
        &mut pairs,
        run,
        #[inline(always)]
        |b, (one, other)| f(b, one, other),
    );
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

#[inline(always)]
fn cross(a: Row, b: Row) -> Row {
    a.yzxw() * b.zxyw() - a.zxyw() * b.yzxw()
}

/// The positions of a block.
#[inline(always)]
fn block(b: usize, local: &[Row]) -> Block {
    in_columns(&local[b * WIDTH..(b + 1) * WIDTH])
}

#[inline(always)]
fn gathered(from: &[u32; WIDTH], local: &[Row]) -> Block {
    let mut block = Block::ZERO;
    for i in 0..WIDTH {
        block.set(i, local[from[i] as usize].truncate());
    }
    block
}

/// From the vertices of a block to some others.
#[inline(always)]
fn offset(to: &[u32; WIDTH], local: &[Row], x: &Block) -> Block {
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
    std::array::from_fn(
        #[inline(always)]
        |i| block.get(i).extend(0.0),
    )
}

#[inline(always)]
fn in_columns(rows: &[Row]) -> Block {
    let mut block = Block::ZERO;
    for (i, row) in rows.iter().enumerate() {
        block.set(i, row.truncate());
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
        let surface = EditedSurface::new(&points, &values, fade, &triangles, 0, &Run::default());
        let local = surface.local(&points);
        let shapes = surface.shapes(&local, &Run::default());
        let gradients = surface.nearly_smooth(&shapes, &Run::default());
        let expected = wanted - normal * normal.dot(wanted);
        // The rim too: its fans are open, and three neighbours are enough.
        for k in 0..7 {
            let found = gradients[k / WIDTH][k % WIDTH].truncate();
            assert!(found.abs_diff_eq(expected, 1e-5), "{k}: {found} {expected}");
        }
    }
}

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
use crate::field::blend::fade;
use crate::field::lanes::{Lanes, WIDTH};
use crate::run::Cancelled;

/// Blocks a thread works on at a time.
const TASK: usize = 32;

/// Neighbours in nearly one line have no gradient across it.
const FLAT: f32 = 1e-6;

type Block = Lanes<WIDTH>;

/// The next neighbour of each vertex of a block.
struct Spoke {
    /// The neighbour, and the one after it around the vertex; the vertex itself if there are no more.
    first: [u32; WIDTH],
    second: [u32; WIDTH],
    /// The neighbour as a place for gradients; the last place, which is zero, if it has none.
    near: [u32; WIDTH],
    /// How much larger s is there.
    rise: [f32; WIDTH],
}

/// What does not change for a block.
struct Still {
    /// Where its spokes start.
    spokes: usize,
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
    middle: Vec<Block>,
}

impl Surface {
    pub(super) fn new(values: &[f32], triangles: &[[u32; 3]], smoothing: u32) -> Self {
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
        for corner in fans.iter_mut().flatten().flatten() {
            if place[*corner as usize] == u32::MAX {
                place[*corner as usize] = surface.vertices.len() as u32;
                surface.vertices.push(*corner);
            }
            *corner = place[*corner as usize];
        }
        for start in (0..surface.moving).step_by(WIDTH) {
            surface.add_block(start, &fans, values);
        }
        surface
    }

    fn value(&self, values: &[f32], place: u32) -> f32 {
        values[self.vertices[place as usize] as usize]
    }

    fn add_block(&mut self, start: usize, fans: &[Vec<[u32; 2]>], values: &[f32]) {
        let (moving, nowhere) = (self.moving, self.moving.next_multiple_of(WIDTH) as u32);
        let mut still = Still {
            spokes: self.spokes.len(),
            beta: [0.0; WIDTH],
            slope: [0.0; WIDTH],
            own: [1.0; WIDTH],
            others: [0.0; WIDTH],
        };
        // Lanes beyond the last vertex repeat it, without neighbours.
        let of = |lane: usize| (start + lane).min(moving - 1);
        let lanes = start..(start + WIDTH).min(moving);
        let longest = fans[lanes.clone()].iter().map(Vec::len).max().unwrap_or(0);
        for k in 0..longest {
            let itself: [u32; WIDTH] = std::array::from_fn(|lane| of(lane) as u32);
            let mut spoke =
                Spoke { first: itself, second: itself, near: [nowhere; WIDTH], rise: [0.0; WIDTH] };
            for v in lanes.clone().filter(|&v| k < fans[v].len()) {
                let [first, second] = fans[v][k];
                let lane = v - start;
                spoke.first[lane] = first;
                spoke.second[lane] = second;
                spoke.rise[lane] = self.value(values, first) - self.value(values, v as u32);
                if (first as usize) < moving {
                    spoke.near[lane] = first;
                }
            }
            self.spokes.push(spoke);
        }
        for v in lanes {
            let lane = v - start;
            (still.beta[lane], still.slope[lane]) = fade(self.value(values, v as u32));
            let inside = fans[v].iter().filter(|[first, _]| (*first as usize) < moving).count();
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
        ride: &Ride,
        steps: u32,
        run: &Run<'_>,
    ) -> Result<u32, Cancelled> {
        let h = 1.0 / f64::from(steps);
        let taken = (ride.until * f64::from(steps)).ceil() as u32;
        let mut local: Vec<Vec3> = self.vertices.iter().map(|&i| positions[i as usize]).collect();
        let mut past = None;
        for k in 0..taken {
            run.check()?;
            let t = f64::from(k) * h;
            let last = f64::from(k + 1) * h > ride.until;
            if last || k % (steps / ride.pieces()).max(1) == 0 {
                past = None;
            }
            let length = if last { ride.until - t } else { h };
            past = Some(self.step(&mut local, ride, [t, length], past.as_ref(), run));
            run.report(u64::from(k) + 1, u64::from(taken));
        }
        for (&i, x) in self.vertices[..self.moving].iter().zip(local) {
            positions[i as usize] = x;
        }
        Ok(taken)
    }

    /// One Runge–Kutta step of all vertices that move.
    fn step(
        &self,
        local: &mut [Vec3],
        ride: &Ride,
        [t, h]: [f64; 2],
        past: Option<&Past>,
        run: &Run<'_>,
    ) -> Past {
        let motion = [t, t + 0.5 * h, t + h].map(|t| ride.generators(t));
        let h = h as f32;
        let start = self.gradients(local, run);
        let velocity =
            self.each(run, |b| self.velocity(b, &self.gather(b, local), &start[b], &motion[0]));
        let mut ahead = local.to_vec();
        let half = self.each(run, |b| {
            let x = self.gather(b, local);
            match past {
                Some(past) => {
                    along(&along(&x, 0.625 * h, &velocity[b]), -0.125 * h, &past.velocity[b])
                }
                None => along(&x, 0.5 * h, &velocity[b]),
            }
        });
        self.scatter(&half, &mut ahead);
        let middle = self.gradients(&ahead, run);
        let end = self.each(run, |b| {
            let x = self.gather(b, local);
            let last = continued(&start[b], &middle[b], past.map(|p| &p.middle[b]));
            let k1 = &velocity[b];
            let k2 = self.velocity(b, &along(&x, 0.5 * h, k1), &middle[b], &motion[1]);
            let k3 = self.velocity(b, &along(&x, 0.5 * h, &k2), &middle[b], &motion[1]);
            let k4 = self.velocity(b, &along(&x, h, &k3), &last, &motion[2]);
            let mut next = along(&x, h / 6.0, k1);
            for (k, weight) in [(k2, h / 3.0), (k3, h / 3.0), (k4, h / 6.0)] {
                next = along(&next, weight, &k);
            }
            next
        });
        self.scatter(&end, local);
        Past { velocity, middle }
    }

    /// ∇s of all blocks, and one that is zero.
    fn gradients(&self, local: &[Vec3], run: &Run<'_>) -> Vec<Block> {
        let mut gradients = self.each(run, |b| self.gradient(b, local));
        for _ in 0..self.smoothing {
            gradients.push(Lanes::ZERO);
            let rough = gradients;
            gradients = self.each(run, |b| self.averaged(b, &rough));
        }
        gradients
    }

    /// A result for each block, worked out with the widest vectors there are.
    fn each(&self, run: &Run<'_>, f: impl Fn(usize) -> Block + Send + Sync) -> Vec<Block> {
        let (count, arch) = (self.blocks.len(), pulp::Arch::new());
        let task = |k: usize| {
            let range = k * TASK..((k + 1) * TASK).min(count);
            arch.dispatch(Blocks { range, f: &f })
        };
        let mut parts = run.map_tasks(count.div_ceil(TASK), task);
        if parts.len() == 1 { parts.swap_remove(0) } else { parts.concat() }
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
    fn gradient(&self, b: usize, local: &[Vec3]) -> Block {
        let x = self.gather(b, local);
        let mut normal = Block::ZERO;
        let mut right = Block::ZERO;
        let mut squares = Block::ZERO;
        let mut products = Block::ZERO;
        for spoke in self.spokes(b) {
            let mut first = Block::ZERO;
            let mut second = Block::ZERO;
            for i in 0..WIDTH {
                first.set(i, local[spoke.first[i] as usize]);
                second.set(i, local[spoke.second[i] as usize]);
            }
            for i in 0..WIDTH {
                let (p, q) = (first.get(i) - x.get(i), second.get(i) - x.get(i));
                let n = normal.get(i) + p.cross(q);
                normal.set(i, n);
                let r = right.get(i) + spoke.rise[i] * p;
                right.set(i, r);
                let square = squares.get(i) + p * p;
                squares.set(i, square);
                let product = products.get(i) + Vec3::new(p.y * p.z, p.x * p.z, p.x * p.y);
                products.set(i, product);
            }
        }
        let mut gradient = Block::ZERO;
        for i in 0..WIDTH {
            let moments = Moments { squares: squares.get(i), products: products.get(i) };
            gradient.set(i, moments.solve(normal.get(i), right.get(i)));
        }
        gradient
    }

    #[inline(always)]
    fn averaged(&self, b: usize, gradients: &[Block]) -> Block {
        let mut sum = Block::ZERO;
        for spoke in self.spokes(b) {
            for i in 0..WIDTH {
                let near = spoke.near[i] as usize;
                let g = sum.get(i) + gradients[near / WIDTH].get(near % WIDTH);
                sum.set(i, g);
            }
        }
        let still = &self.blocks[b];
        let mut mean = Block::ZERO;
        for i in 0..WIDTH {
            mean.set(i, still.own[i] * gradients[b].get(i) + still.others[i] * sum.get(i));
        }
        mean
    }

    #[inline(always)]
    fn velocity(&self, b: usize, x: &Block, gradient: &Block, motion: &[Generator; 2]) -> Block {
        let still = &self.blocks[b];
        let mut v = Block::ZERO;
        for generator in motion {
            for i in 0..WIDTH {
                let (e, grad_e, f, grad_f) = generator.eval(x.get(i));
                let grad_beta = still.slope[i] * gradient.get(i);
                let sideways = grad_beta.cross(e * grad_f - f * grad_e);
                let beta = still.beta[i];
                let sum = v.get(i) + beta * (beta * grad_e.cross(grad_f) + sideways);
                v.set(i, sum);
            }
        }
        v
    }
}

/// Some blocks to work out.
struct Blocks<'a, F> {
    range: std::ops::Range<usize>,
    f: &'a F,
}

impl<F: Fn(usize) -> Block> WithSimd for Blocks<'_, F> {
    type Output = Vec<Block>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<Block> {
        let mut done = Vec::with_capacity(self.range.len() + 1);
        for b in self.range {
            done.push((self.f)(b));
        }
        done
    }
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
fn continued(start: &Block, middle: &Block, before: Option<&Block>) -> Block {
    let mut end = Block::ZERO;
    for i in 0..WIDTH {
        let (a, b) = (start.get(i), middle.get(i));
        end.set(
            i,
            match before {
                Some(before) => 3.0 * (b - a) + before.get(i),
                None => 2.0 * b - a,
            },
        );
    }
    end
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

/// For each moving vertex its triangles, as the two other corners in order. A neighbour that is never
/// the first of the two, at the border of an open surface, comes with the vertex itself.
fn fans(place: &[u32], moving: usize, triangles: &[[u32; 3]]) -> Vec<Vec<[u32; 2]>> {
    let mut fans: Vec<Vec<[u32; 2]>> = vec![Vec::new(); moving];
    for &[a, b, c] in triangles {
        for [apex, next, last] in [[a, b, c], [b, c, a], [c, a, b]] {
            if let Some(fan) = fans.get_mut(place[apex as usize] as usize) {
                fan.push([next, last]);
            }
        }
    }
    let mut apexes = vec![0; moving];
    for (i, &k) in (0..).zip(place) {
        if let Some(apex) = apexes.get_mut(k as usize) {
            *apex = i;
        }
    }
    for (fan, apex) in fans.iter_mut().zip(apexes) {
        let open: Vec<u32> = fan
            .iter()
            .map(|[_, last]| *last)
            .filter(|last| fan.iter().all(|[next, _]| next != last))
            .collect();
        fan.extend(open.into_iter().map(|last| [last, apex]));
    }
    fans
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let surface = Surface::new(&values, &triangles, 0);
        let local: Vec<Vec3> = surface.vertices.iter().map(|&i| points[i as usize]).collect();
        let gradients = surface.gradients(&local, &Run::default());
        let expected = wanted - normal * normal.dot(wanted);
        // The rim too: its fans are open, and three neighbours are enough.
        for k in 0..7 {
            let found = gradients[k / WIDTH].get(k % WIDTH);
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

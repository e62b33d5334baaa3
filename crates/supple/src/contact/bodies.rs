//! Bodies in each other: found through bounds, resolved through the distance fields of their shapes at rest.
//!
//! # Method
//!
//! Boxes around the bodies are swept along one axis; what overlaps, also in the bodies' own axes, is a pair. A particle `x` of one body within the
//! bounds of the other is carried back to that body's rest shape by the map `x = (1 + M) x⁰ + t` of its nearest
//! particle `r`. With the distance `φ(x⁰) < 0` and `g = (1 + M)⁻ᵀ ∇φ`, the depth is `−φ/|g|` and the way out `n = g/|g|`:
//! exact where the map is affine and the surface flat.
//!
//! All that was found is resolved as planes, in a fixed order, a few sweeps long: a plane knows by how much its
//! particles moved since and pushes what is left, `Δ = λ n/m` for the particle and the other way for `r`, so that the
//! momentum is kept. Tangential motion is braked by the push times the coefficient of friction.

use glam::{DQuat, Mat3, Vec3};

use super::search::{self, Close, Finds, Near};
use super::{Lent, Party, Touch, Whose};
use crate::Run;
use crate::mesh::measure::Bounds;

/// No push of a pass is longer than this share of the smaller body: a body that begins inside another comes out over
/// some ticks.
const LONGEST_PUSH: f32 = 0.05;

/// How far a bent skin may stand out beyond the box around its particles, as a share of the body's size.
const BULGE: f32 = 0.01;

/// Sweeps over the planes of a pass: each takes out what neighbouring planes pushed in. With two, worms of a heap are
/// pressed 2.1 % of a length into the ground, with four 1.4 %.
const SWEEPS: usize = 4;

/// Pairs that one task looks at.
const PAIRS_A_TASK: usize = 8;

/// Two bodies whose bounds overlap: points of the first against the inside of the second.
pub(super) struct Pair {
    pub(super) point: usize,
    pub(super) inside: usize,
    /// From the space of the first to that of the second.
    pub(super) turn: Mat3,
    pub(super) shift: Vec3,
    /// Around the second, in its space.
    pub(super) around: Bounds,
    /// Their patches that may touch.
    pub(super) near: Vec<Near>,
    /// Those of the second, each once.
    pub(super) entered: Vec<u32>,
    longest: f32,
}

/// A point of one body inside another.
#[derive(Debug)]
pub(super) struct Found {
    /// The particles that the point is between, and how far it is from the first to the second.
    of: [u32; 2],
    share: f32,
    /// The particle of the other body that gives way.
    against: u32,
    /// The way out, in the space of the first body and in that of the second.
    normal: Vec3,
    out: Vec3,
    depth: f32,
    /// How far pushes had parted the two along the way out when it was found.
    parted: f32,
    /// The share of the push that changes velocities.
    came: f32,
}

/// A lender in the world.
struct Posed {
    low: Vec3,
    high: Vec3,
    around: Bounds,
}

/// The pairs that may touch, in a fixed order.
pub(super) fn pairs(parties: &mut [Party<'_>], run: &Run<'_>) -> Vec<Pair> {
    if parties.iter().filter(|p| p.others).count() < 2 {
        return Vec::new();
    }
    let posed: Vec<Option<Posed>> =
        parties.iter().map(|p| if p.others { posed(p.lent) } else { None }).collect();
    let mut order: Vec<usize> = (0..parties.len()).filter(|&i| posed[i].is_some()).collect();
    let low = |i: usize| posed[i].as_ref().map_or(0.0, |p| p.low.x);
    order.sort_by(|&a, &b| low(a).total_cmp(&low(b)).then(a.cmp(&b)));
    let mut found = Vec::new();
    for (k, &a) in order.iter().enumerate() {
        let Some(first) = &posed[a] else { continue };
        for &b in &order[k + 1..] {
            let Some(second) = &posed[b] else { continue };
            if second.low.x > first.high.x {
                break;
            }
            let apart = first.low.cmpgt(second.high) | second.low.cmpgt(first.high);
            if !apart.any() {
                let (a, b) = (a.min(b), a.max(b));
                found.extend([(a, b), (b, a)]);
            }
        }
    }
    found.sort_unstable();
    let enters = |&(_, b): &(usize, usize)| parties[b].lent.interior.field.is_some();
    found.retain(enters);
    let mut meets = vec![false; parties.len()];
    found.iter().for_each(|&(a, b)| (meets[a], meets[b]) = (true, true));
    run.for_each_piece(parties, PAIRS_A_TASK, |first, parties| {
        let parties = parties.iter_mut().zip(&meets[first..]);
        parties.filter(|(_, meets)| **meets).for_each(|(party, _)| party.lent.lay_out());
    });
    let (lents, tasks) = (&*parties, found.len().div_ceil(PAIRS_A_TASK));
    let both = |a: usize, b: usize| Some((posed[a].as_ref()?, posed[b].as_ref()?));
    let pairs: Vec<Vec<Pair>> = run.map_tasks(tasks, |t| {
        let range = t * PAIRS_A_TASK..((t + 1) * PAIRS_A_TASK).min(found.len());
        let pair = |&(a, b): &(usize, usize)| pair(lents, (a, b), both(a, b)?);
        found[range].iter().filter_map(pair).collect()
    });
    let pairs: Vec<Pair> = pairs.into_iter().flatten().collect();
    for pair in &pairs {
        let blocks = &mut parties[pair.point].lent.blocks;
        pair.near.iter().for_each(|near| blocks.want(near[0]));
    }
    run.for_each_piece(parties, PAIRS_A_TASK, |_, parties| {
        parties.iter_mut().for_each(|party| party.lent.place_points());
    });
    pairs
}

fn pair(
    parties: &[Party<'_>],
    (a, b): (usize, usize),
    (points, inside): (&Posed, &Posed),
) -> Option<Pair> {
    let (first, second) = (&*parties[a].lent, &*parties[b].lent);
    let back: DQuat = second.space.rotation.conjugate();
    let turn = Mat3::from_quat((back * first.space.rotation).as_quat());
    let shift = (back * (first.space.translation - second.space.translation)).as_vec3();
    let longest = LONGEST_PUSH * first.particles.size.min(second.particles.size);
    let is_near = shift.is_finite() && !are_apart((&points.around, &inside.around), &turn, shift);
    if !is_near || longest.is_nan() || longest <= 0.0 {
        return None;
    }
    let (around, near, entered) = (inside.around, Vec::new(), Vec::new());
    let mut pair = Pair { point: a, inside: b, turn, shift, around, near, entered, longest };
    pair.near = search::near(&pair, first, second);
    pair.entered.extend(pair.near.iter().map(|near| near[1]));
    pair.entered.sort_unstable();
    pair.entered.dedup();
    (!pair.near.is_empty()).then_some(pair)
}

/// Whether some plane parts two boxes, the first turned and moved into the space of the second: along one of their
/// edges, or across one of each (the separating axes of two boxes).
fn are_apart((first, second): (&Bounds, &Bounds), turn: &Mat3, shift: Vec3) -> bool {
    let (a, b) = (0.5 * first.size(), 0.5 * second.size());
    let way = *turn * first.center() + shift - second.center();
    let own = [turn.x_axis, turn.y_axis, turn.z_axis];
    // Rounding must not make a plane of edges that are parallel.
    let size = own.map(|e| e.abs() + 1e-6);
    for k in 0..3 {
        let reach = a.x * size[0][k] + a.y * size[1][k] + a.z * size[2][k];
        if way[k].abs() > b[k] + reach || way.dot(own[k]).abs() > a[k] + b.dot(size[k]) {
            return true;
        }
    }
    for i in 0..3 {
        let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            // Along own[i] × e_j.
            let parted = way[j2] * own[i][j1] - way[j1] * own[i][j2];
            let reach = a[i1] * size[i2][j] + a[i2] * size[i1][j];
            let other = b[j1] * size[i][j2] + b[j2] * size[i][j1];
            if parted.abs() > reach + other {
                return true;
            }
        }
    }
    false
}

/// The box around a body in the world and in its own space; `None` for one that is nowhere.
fn posed(lent: &Lent) -> Option<Posed> {
    let around = Bounds::of(&lent.particles.places)?.grown(BULGE * lent.particles.size);
    let (center, half) = (around.center(), 0.5 * around.size());
    let middle = lent.space.point(center).as_vec3();
    let m = Mat3::from_quat(lent.space.rotation.as_quat());
    let reach = m.x_axis.abs() * half.x + m.y_axis.abs() * half.y + m.z_axis.abs() * half.z;
    // Rounding to f32 far from the origin.
    let reach = reach + 1e-6 * middle.abs();
    let finite = middle.is_finite() && reach.is_finite();
    finite.then_some(Posed { low: middle - reach, high: middle + reach, around })
}

/// Points that were close in the first round of a tick, pair by pair.
pub(super) type Memory = Vec<Vec<Close>>;

/// Takes pairs apart; rounds after the first look at what was close then.
pub(super) fn part(
    parties: &mut [Party<'_>],
    pairs: &[Pair],
    memory: &mut Option<Memory>,
    run: &Run<'_>,
) {
    if pairs.is_empty() {
        return;
    }
    let (tasks, lents, known) = (pairs.len().div_ceil(PAIRS_A_TASK), &*parties, &*memory);
    let finds: Vec<Vec<Finds>> = run.map_tasks(tasks, |t| {
        let range = t * PAIRS_A_TASK..((t + 1) * PAIRS_A_TASK).min(pairs.len());
        let of = |k: usize| {
            let (points, inside) = (&*lents[pairs[k].point].lent, &*lents[pairs[k].inside].lent);
            let close = known.as_ref().map(|known| known[k].as_slice());
            search::search(&pairs[k], points, inside, close)
        };
        range.map(of).collect()
    });
    let (found, close): (Vec<_>, Vec<_>) =
        finds.into_iter().flatten().map(|finds| (finds.found, finds.close)).unzip();
    memory.get_or_insert(close);
    for sweep in 0..SWEEPS {
        for (pair, found) in pairs.iter().zip(&found) {
            if found.is_empty() {
                continue;
            }
            let both = parties.get_disjoint_mut([pair.point, pair.inside]);
            let Ok([first, second]) = both else { continue };
            let (first, second) = (&mut *first.lent, &mut *second.lent);
            found.iter().for_each(|touch| push((first, second), pair, touch, sweep == 0));
        }
    }
}

impl Found {
    /// In which order those of a pair are resolved: a share is not negative, so that its bits are in its order.
    #[inline(always)]
    pub(super) fn order(&self) -> (bool, [u32; 2], u32) {
        (self.of[0] != self.of[1], self.of, self.share.to_bits())
    }
}

impl Pair {
    /// A point of the first body and the particle of the second that it is nearest to, so deep in it.
    #[inline(always)]
    pub(super) fn found(
        &self,
        points: &Lent,
        inside: &Lent,
        (point, against): (&Close, usize),
        (depth, out): (f32, Vec3),
    ) -> Found {
        let &Close { of, share, .. } = point;
        let depth = depth.min(self.longest);
        let normal = self.turn.transpose() * out;
        let mix = |values: &[Vec3]| {
            let (a, b) = (values[of[0] as usize], values[of[1] as usize]);
            a + share * (b - a)
        };
        let own = mix(&points.particles.motions).dot(normal);
        let rate = inside.particles.motions[against].dot(out) - own;
        let came = (rate / depth).clamp(0.0, 1.0);
        let parted = mix(&points.pushes).dot(normal) - inside.pushes[against].dot(out);
        Found { of, share, against: against as u32, normal, out, depth, parted, came }
    }
}

/// Parts one point and what it entered, by what is left of its depth.
fn push((first, second): (&mut Lent, &mut Lent), pair: &Pair, touch: &Found, is_first: bool) {
    let [i, j, r] = [touch.of[0] as usize, touch.of[1] as usize, touch.against as usize];
    let weights = [1.0 - touch.share, touch.share];
    let mix = |values: &[Vec3]| weights[0] * values[i] + weights[1] * values[j];
    let (pushed, other_pushed) = (mix(&first.pushes), second.pushes[r]);
    let parted = pushed.dot(touch.normal) - other_pushed.dot(touch.out);
    let depth = touch.depth + touch.parted - parted;
    let is_inside = depth > 0.0;
    if !is_inside {
        return;
    }
    let own = [first.particles.inverse_masses[i], first.particles.inverse_masses[j]];
    let other = second.particles.inverse_masses[r];
    let total = weights[0] * weights[0] * own[0] + weights[1] * weights[1] * own[1] + other;
    let gives_way = total > 0.0;
    if !gives_way {
        return;
    }
    let motion = mix(&first.particles.motions) + pushed
        - pair.turn.transpose() * (second.particles.motions[r] + other_pushed);
    let sliding = motion - motion.dot(touch.normal) * touch.normal;
    let forward = first.forward(if touch.share > 0.5 { j } else { i }, touch.normal);
    let share = first.particles.friction.share(depth, sliding, forward);
    let braked = -share * sliding;
    let (whole, gain) = (depth * touch.normal + braked, touch.came * depth * touch.normal + braked);
    for (k, p) in [i, j].into_iter().enumerate() {
        let part = weights[k] * own[k] / total;
        first.pushes[p] += part * whole;
        first.gains[p] += part * gain;
    }
    let part = other / total;
    second.pushes[r] -= part * (pair.turn * whole);
    second.gains[r] -= part * (pair.turn * gain);
    if is_first {
        tell(first, second, pair, touch);
    }
}

/// Tells both sides of the plane between them.
fn tell(first: &mut Lent, second: &mut Lent, pair: &Pair, touch: &Found) {
    let nearer = touch.of[usize::from(touch.share > 0.5)];
    let point = first.place(nearer as usize);
    let (friction, normal) = (first.particles.friction, touch.normal);
    let whose = Whose::Body(pair.inside as u32);
    first.touches.push(Touch { particle: nearer, point, normal, friction, whose });
    let (point, normal) = (pair.turn * point + pair.shift, -touch.out);
    let (friction, whose) = (second.particles.friction, Whose::Body(pair.point as u32));
    second.touches.push(Touch { particle: touch.against, point, normal, friction, whose });
}

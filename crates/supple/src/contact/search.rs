//! Points of one body in another, sixteen at a time.
//!
//! # Method
//!
//! Surfaces are divided into patches ([`Patches`]) about as wide as they are long. What is inside a body and nearest to a
//! particle at rest is in a box; maps carry the boxes along, and those of a patch together are in one. Patches whose
//! points meet no such box are never looked at; of the others, points that are in none are dropped at once. For sixteen
//! of those left at a time the nearest particle of the boxes that they are in is found, and its map carries the point
//! back to the shape at rest, where the distance field decides.
//!
//! What is inside, or nearly, is all that later rounds of a tick look at.

#![expect(
    clippy::needless_range_loop,
    reason = "plain loops over several lanes at once are what becomes one instruction each"
)]

use std::sync::Arc;

use glam::{Mat3, Vec3};
use pulp::{Arch, Simd, WithSimd};

use super::bodies::{Found, Pair};
use super::patches::{Cell, Patches, Span, share};
use super::{DistanceField, Lent};
use crate::lanes::{Lanes, WIDTH, columns, greatest, rows};
use crate::lengths::Lengths as _;
use crate::mesh::measure::Bounds;

/// Below this length of the distance's gradient there is no way out: a point on the middle of a body is as near to one
/// side as to the other, and is left to its neighbours.
const LEAST_GRADIENT: f32 = 0.1;

/// Below this determinant a map has no inverse: the body is flat there.
const FLAT: f32 = 1e-4;

/// How far outside a point may be to be looked at again in the next round of a tick, as a share of how deep the body is.
const NEARLY: f32 = 0.5;

/// How much farther than a push of the world a point may come at rest, where a body is pressed together.
const LONGEST_WAY: f32 = 2.0;

/// A number in each lane.
type Numbers = [f32; WIDTH];

/// A body in the form in which it is searched.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    /// Boxes that, together, hold the inside of the body where the tick left it: one a patch.
    around: Vec<Bounds>,
    /// Boxes around the points of each patch before any push.
    boxes: Vec<Bounds>,
    /// From where the tick left the body back to rest, around each particle: rows of `[N | s]` of `x⁰ = N x + s`.
    backs: Vec<[f32; 12]>,
    /// How far the middle of each edge of a span is from the straight line, four times: `(M₁ − M₂) e`.
    bulges: Vec<Lanes<WIDTH>>,
    /// Points of the patches that are near others, before any push.
    points: Vec<Lanes<WIDTH>>,
    /// Whether others are near the points of a patch.
    wanted: Vec<bool>,
    /// No push of a particle in earlier rounds of the tick is longer.
    farthest_push: f32,
}

/// A point that is inside another body, or may soon be: what the next round of a tick looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Close {
    /// The particles that it is between, and how far from the first to the second.
    pub(super) of: [u32; 2],
    pub(super) share: f32,
    /// How far it is from the straight line between them.
    bent: Vec3,
    /// How far outside it was, carried back to the shape at rest; negative inside.
    gap: f32,
    /// The bits of the patches whose boxes it is in.
    patches: u32,
}

/// A patch of points near a patch of another body, by their numbers.
pub(super) type Near = [u32; 2];

impl Blocks {
    pub(super) fn clear(&mut self) {
        let Self { around, boxes, backs, bulges, points, wanted, farthest_push } = self;
        *farthest_push = 0.0;
        around.clear();
        boxes.clear();
        backs.clear();
        bulges.clear();
        points.clear();
        wanted.clear();
    }

    /// Takes note that others are near the points of a patch.
    pub(super) fn want(&mut self, patch: u32) {
        self.wanted[patch as usize] = true;
    }
}

impl Lent {
    /// Prepares patches for the search.
    pub(super) fn lay_out(&mut self) {
        if self.interior.patches.particles != self.len() {
            self.interior.patches = Arc::new(Patches::plain(self.len()));
        }
        self.blocks.clear();
        Arch::new().dispatch(LayOut(self));
    }

    /// Takes note of how far a round pushed its particles.
    pub(super) fn measure_pushes(&mut self) {
        let square = self.pushes.iter().map(|push| push.length_squared()).fold(0.0, f32::max);
        self.blocks.farthest_push = square.sqrt();
    }

    /// Works out where the points are that others are near to.
    pub(super) fn place_points(&mut self) {
        if self.blocks.wanted.contains(&true) {
            Arch::new().dispatch(PlacePoints(self));
        }
    }
}

struct LayOut<'a>(&'a mut Lent);

impl WithSimd for LayOut<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let mut blocks = std::mem::take(&mut self.0.blocks);
        let lent = &*self.0;
        let maps = &lent.interior.maps;
        let patches = &*lent.interior.patches;
        let mut cells = Vec::with_capacity(maps.len());
        for (maps, rest) in maps.chunks(WIDTH).zip(patches.cells.chunks(WIDTH)) {
            let map = columns(|lane| &maps[lane.min(maps.len() - 1)]);
            let back = rows(&inverse(&map));
            blocks.backs.extend_from_slice(&back[..maps.len()]);
            cells.extend_from_slice(&moved(&map, rest)[..maps.len()]);
        }
        let places = &lent.particles.places;
        let grow = |b: Bounds, &p: &u32| {
            let x = places[p as usize];
            Bounds { min: b.min.min(x), max: b.max.max(x) }
        };
        let join = |b: Bounds, &p: &u32| match cells.get(p as usize) {
            Some(cell) => b.union(cell),
            None => b,
        };
        blocks.bulges.extend(patches.spans.iter().map(|span| bulge(span, maps)));
        for patch in &patches.patches {
            blocks.around.push(patch.own.iter().fold(Bounds::EMPTY, join));
            let bulges = &blocks.bulges[patch.spans[0]..patch.spans[1]];
            let farthest = 0.25 * bulges.iter().map(farthest).fold(0.0, f32::max);
            let own = patch.own.iter().fold(Bounds::EMPTY, grow);
            blocks.boxes.push(patch.ends.iter().fold(own, grow).grown(farthest));
        }
        blocks.wanted.resize(patches.patches.len(), false);
        blocks.points.resize(patches.blocks, Lanes::ZERO);
        self.0.blocks = blocks;
    }
}

/// Boxes around boxes at rest, each carried by a map.
#[inline(always)]
fn moved(map: &[Numbers; 12], rest: &[Cell]) -> [Bounds; WIDTH] {
    let (mut center, mut half) = (Lanes::<WIDTH>::ZERO, Lanes::<WIDTH>::ZERO);
    for (lane, cell) in rest.iter().enumerate() {
        center.set(lane, cell[0]);
        half.set(lane, cell[1]);
    }
    let (c, h) = (&center, &half);
    let mut low = Lanes::<WIDTH>::ZERO;
    let mut high = Lanes::<WIDTH>::ZERO;
    for i in 0..WIDTH {
        let row = |k: usize| [map[k][i], map[k + 1][i], map[k + 2][i], map[k + 3][i]];
        let middle = |[a, b, d, t]: [f32; 4]| a * c.x[i] + b * c.y[i] + d * c.z[i] + t;
        let around =
            |[a, b, d, _]: [f32; 4]| a.abs() * h.x[i] + b.abs() * h.y[i] + d.abs() * h.z[i];
        let [mut x, mut y, mut z] = [row(0), row(4), row(8)];
        (x[0], y[1], z[2]) = (1.0 + x[0], 1.0 + y[1], 1.0 + z[2]);
        (low.x[i], high.x[i]) = (middle(x) - around(x), middle(x) + around(x));
        (low.y[i], high.y[i]) = (middle(y) - around(y), middle(y) + around(y));
        (low.z[i], high.z[i]) = (middle(z) - around(z), middle(z) + around(z));
    }
    std::array::from_fn(|lane| Bounds { min: low.get(lane), max: high.get(lane) })
}

/// The ways back of maps; nowhere where they are flat.
#[inline(always)]
fn inverse(map: &[Numbers; 12]) -> [Numbers; 12] {
    let mut back = [[0.0; WIDTH]; 12];
    for i in 0..WIDTH {
        let a = [1.0 + map[0][i], map[1][i], map[2][i]];
        let b = [map[4][i], 1.0 + map[5][i], map[6][i]];
        let c = [map[8][i], map[9][i], 1.0 + map[10][i]];
        let t = [map[3][i], map[7][i], map[11][i]];
        // Columns of the adjugate.
        let u = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
        let v = [c[1] * a[2] - c[2] * a[1], c[2] * a[0] - c[0] * a[2], c[0] * a[1] - c[1] * a[0]];
        let w = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
        let volume = a[0] * u[0] + a[1] * u[1] + a[2] * u[2];
        // Of what is flat all is infinite or no number, and thus beyond every grid.
        let share = if volume < FLAT { f32::INFINITY } else { 1.0 / volume };
        for k in 0..3 {
            let row = [u[k] * share, v[k] * share, w[k] * share];
            back[4 * k][i] = row[0];
            back[4 * k + 1][i] = row[1];
            back[4 * k + 2][i] = row[2];
            back[4 * k + 3][i] = -(row[0] * t[0] + row[1] * t[1] + row[2] * t[2]);
        }
    }
    back
}

/// `(M₁ − M₂) e` for the edges of a span.
#[inline(always)]
pub(super) fn bulge(span: &Span, maps: &[[f32; 12]]) -> Lanes<WIDTH> {
    if maps.is_empty() {
        return Lanes::ZERO;
    }
    let one = columns(|lane| &maps[span.of[0][lane] as usize]);
    let other = columns(|lane| &maps[span.of[1][lane] as usize]);
    let (mut out, e) = (Lanes::ZERO, &span.along);
    for i in 0..WIDTH {
        let along = |k: usize| {
            (one[k][i] - other[k][i]) * e.x[i]
                + (one[k + 1][i] - other[k + 1][i]) * e.y[i]
                + (one[k + 2][i] - other[k + 2][i]) * e.z[i]
        };
        (out.x[i], out.y[i], out.z[i]) = (along(0), along(4), along(8));
    }
    out
}

/// The longest of some vectors.
#[inline(always)]
fn farthest(x: &Lanes<WIDTH>) -> f32 {
    let mut squares = [0.0; WIDTH];
    for i in 0..WIDTH {
        squares[i] = x.x[i] * x.x[i] + x.y[i] * x.y[i] + x.z[i] * x.z[i];
    }
    greatest(&squares).sqrt()
}

struct PlacePoints<'a>(&'a mut Lent);

impl WithSimd for PlacePoints<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let mut points = std::mem::take(&mut self.0.blocks.points);
        let lent = &*self.0;
        let patches = &*lent.interior.patches;
        for (patch, _) in patches.patches.iter().zip(&lent.blocks.wanted).filter(|(_, w)| **w) {
            let mut next = patch.first;
            for own in patch.own.chunks(WIDTH) {
                let mut block = NOWHERE;
                own.iter()
                    .enumerate()
                    .for_each(|(lane, &p)| block.set(lane, lent.place(p as usize)));
                points[next] = block;
                next += 1;
            }
            for k in patch.spans[0]..patch.spans[1] {
                let span = &patches.spans[k];
                spread(lent, (span, &lent.blocks.bulges[k]), &mut points[next..]);
                next += span.most as usize;
            }
        }
        self.0.blocks.points = points;
    }
}

/// What fills a block is in no box.
const NOWHERE: Lanes<WIDTH> =
    Lanes { x: [f32::NAN; WIDTH], y: [f32::NAN; WIDTH], z: [f32::NAN; WIDTH] };

/// The points of a span, a block for the first of every edge, one for the second, and so on.
#[inline(always)]
pub(super) fn spread(
    lent: &Lent,
    (span, bulge): (&Span, &Lanes<WIDTH>),
    points: &mut [Lanes<WIDTH>],
) {
    let (mut a, mut b) = (Lanes::<WIDTH>::ZERO, Lanes::<WIDTH>::ZERO);
    for lane in 0..WIDTH {
        a.set(lane, lent.place(span.of[0][lane] as usize));
        b.set(lane, lent.place(span.of[1][lane] as usize));
    }
    for (k, point) in (1..=span.most).zip(points) {
        for i in 0..WIDTH {
            let share = if k <= span.points[i] { share(k, span.points[i]) } else { f32::NAN };
            let bent = share * (1.0 - share);
            point.x[i] = a.x[i] + share * (b.x[i] - a.x[i]) + bent * bulge.x[i];
            point.y[i] = a.y[i] + share * (b.y[i] - a.y[i]) + bent * bulge.y[i];
            point.z[i] = a.z[i] + share * (b.z[i] - a.z[i]) + bent * bulge.z[i];
        }
    }
}

/// The patches of a pair that may touch, patches of points in their order.
pub(super) fn near(pair: &Pair, points: &Lent, inside: &Lent) -> Vec<Near> {
    let own = [pair.turn.x_axis, pair.turn.y_axis, pair.turn.z_axis].map(Vec3::abs);
    let mut found = Vec::new();
    for (i, patch) in points.blocks.boxes.iter().enumerate() {
        let (center, half) = (pair.turn * patch.center() + pair.shift, 0.5 * patch.size());
        let half = half.x * own[0] + half.y * own[1] + half.z * own[2];
        let patch = Bounds { min: center - half, max: center + half };
        if !patch.overlaps(&pair.around) {
            continue;
        }
        let near = inside.blocks.around.iter().enumerate().filter(|(_, b)| b.overlaps(&patch));
        found.extend(near.map(|(j, _)| [i as u32, j as u32]));
    }
    found
}

/// What is found of a pair.
#[derive(Debug, Default)]
pub(super) struct Finds {
    /// Points of the first body that are in the second.
    pub(super) found: Vec<Found>,
    /// Those, and those that are nearly.
    pub(super) close: Vec<Close>,
}

/// Finds the points of the first body of a pair that are in the second: among all, or among those that were close.
pub(super) fn search(pair: &Pair, points: &Lent, inside: &Lent, close: Option<&[Close]>) -> Finds {
    match inside.interior.field.as_deref() {
        Some(field) => {
            Arch::new().dispatch(Search { pair, points, inside: (inside, field), close })
        }
        None => Finds::default(),
    }
}

struct Search<'a> {
    pair: &'a Pair,
    points: &'a Lent,
    inside: (&'a Lent, &'a DistanceField),
    close: Option<&'a [Close]>,
}

impl WithSimd for Search<'_> {
    type Output = Finds;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Finds {
        let mut finds = Finds::default();
        match self.close {
            Some(close) => self.again(close, &mut finds),
            None => self.all(&mut finds),
        }
        // Particles first, then edge by edge: planes are resolved one after the other, and slice by slice worms went through each
        // other.
        finds.found.sort_unstable_by_key(|found| found.order());
        finds
    }
}

impl Search<'_> {
    /// Looks at all points of patches that are near.
    #[inline(always)]
    fn all(&self, finds: &mut Finds) {
        let Self { pair, points, .. } = self;
        let patches = &*points.interior.patches;
        let mut batch = Batch::EMPTY;
        for near in pair.near.chunk_by(|a, b| a[0] == b[0]) {
            let patch = &patches.patches[near[0][0] as usize];
            for block in patch.blocks(patches) {
                let x = carried(&pair.turn, pair.shift, &points.blocks.points[block]);
                let within = within(&self.inside.0.blocks, near, &x);
                for lane in (0..WIDTH).filter(|&lane| within[lane] != 0) {
                    let of = [near[0][0], (block - patch.first) as u32, lane as u32];
                    batch.add(of, within[lane], x.get(lane));
                    self.finish_full(&mut batch, finds);
                }
            }
        }
        self.finish(&mut batch, finds, |of| point(points, of));
    }

    /// Looks at points that were close and may be inside by what pushes did since.
    #[inline(always)]
    fn again(&self, close: &[Close], finds: &mut Finds) {
        let Self { pair, points, .. } = self;
        let pushed = points.blocks.farthest_push + self.inside.0.blocks.farthest_push;
        let reach = LONGEST_WAY * pushed;
        let mut batch = Batch::EMPTY;
        for (k, point) in (0..).zip(close).filter(|(_, point)| point.gap <= reach) {
            let (a, b) = (points.place(point.of[0] as usize), points.place(point.of[1] as usize));
            let x = a + point.share * (b - a) + point.bent;
            batch.add([k, 0, 0], point.patches, pair.turn * x + pair.shift);
            if batch.count == WIDTH {
                self.finish(&mut batch, finds, |[k, ..]| close[k as usize]);
            }
        }
        self.finish(&mut batch, finds, |[k, ..]| close[k as usize]);
    }

    /// Finishes a batch of points of patches that has no room left.
    #[inline(always)]
    fn finish_full(&self, batch: &mut Batch, finds: &mut Finds) {
        if batch.count == WIDTH {
            self.finish(batch, finds, |of| point(self.points, of));
        }
    }

    /// Finds those of a batch that are inside, and empties it.
    #[inline(always)]
    fn finish(&self, batch: &mut Batch, finds: &mut Finds, point: impl Fn([u32; 3]) -> Close) {
        if batch.count == 0 {
            return;
        }
        let (inside, field) = self.inside;
        let near = self.pair.entered.iter().filter(|k| bit(**k) & batch.all != 0);
        let nearest = nearest(inside, near, &batch.x);
        let home = home(inside, &nearest, &batch.x);
        let nearly = NEARLY * field.deepest();
        if self.close.is_none() {
            finds.close.reserve(batch.count);
            finds.found.reserve(batch.count);
        }
        for lane in 0..batch.count {
            let Some(at) = field.near(home.get(lane), nearly) else { continue };
            let close = Close { patches: batch.patches[lane], gap: at.0, ..point(batch.of[lane]) };
            if self.close.is_none() {
                finds.close.push(close);
            }
            let against = nearest[lane] as usize;
            let is_inside = at.0 < 0.0;
            let Some(out) = depth(inside, against, at).filter(|_| is_inside) else { continue };
            finds.found.push(self.pair.found(self.points, inside, (&close, against), out));
        }
        *batch = Batch::EMPTY;
    }
}

/// Points turned and moved into another space.
#[inline(always)]
pub(super) fn carried(turn: &Mat3, shift: Vec3, x: &Lanes<WIDTH>) -> Lanes<WIDTH> {
    let mut y = Lanes::ZERO;
    for i in 0..WIDTH {
        let along = |a: f32, b: f32, c: f32| a * x.x[i] + b * x.y[i] + c * x.z[i];
        y.x[i] = along(turn.x_axis.x, turn.y_axis.x, turn.z_axis.x) + shift.x;
        y.y[i] = along(turn.x_axis.y, turn.y_axis.y, turn.z_axis.y) + shift.y;
        y.z[i] = along(turn.x_axis.z, turn.y_axis.z, turn.z_axis.z) + shift.z;
    }
    y
}

/// The bit that stands for a patch: that of others, too, in bodies of more than 32.
#[inline(always)]
fn bit(patch: u32) -> u32 {
    1 << (patch % u32::BITS)
}

/// The bits of patches in whose boxes points are.
#[inline(always)]
fn within(inside: &Blocks, near: &[Near], x: &Lanes<WIDTH>) -> [u32; WIDTH] {
    let mut within = [0; WIDTH];
    for &[_, k] in near {
        let Bounds { min, max } = inside.around[k as usize];
        for i in 0..WIDTH {
            let out = |x: f32, low: f32, high: f32| (low - x).max(x - high);
            let (a, b) = (out(x.x[i], min.x, max.x), out(x.y[i], min.y, max.y));
            let beyond = a.max(b).max(out(x.z[i], min.z, max.z));
            within[i] |= if beyond <= 0.0 { bit(k) } else { 0 };
        }
    }
    within
}

/// Points that may be inside, by their patch, its block and the lane there.
struct Batch {
    count: usize,
    of: [[u32; 3]; WIDTH],
    /// Where they are in the space of the second body.
    x: Lanes<WIDTH>,
    /// The bits of the patches that each is near to.
    patches: [u32; WIDTH],
    /// And those of all.
    all: u32,
}

impl Batch {
    const EMPTY: Self =
        Self { count: 0, of: [[0; 3]; WIDTH], x: Lanes::ZERO, patches: [0; WIDTH], all: 0 };

    #[inline(always)]
    fn add(&mut self, of: [u32; 3], patches: u32, x: Vec3) {
        self.of[self.count] = of;
        self.x.set(self.count, x);
        self.patches[self.count] = patches;
        self.all |= patches;
        self.count += 1;
    }
}

/// A point of a body, by its patch, its block and the lane there.
#[inline(always)]
fn point(lent: &Lent, [patch, block, lane]: [u32; 3]) -> Close {
    let patches = &*lent.interior.patches;
    let (patch, lane) = (&patches.patches[patch as usize], lane as usize);
    let own = patch.own.len().div_ceil(WIDTH);
    let mut close = Close { of: [0; 2], share: 0.0, bent: Vec3::ZERO, gap: 0.0, patches: 0 };
    if (block as usize) < own {
        close.of = [patch.own[block as usize * WIDTH + lane]; 2];
        return close;
    }
    let mut k = block - own as u32;
    for number in patch.spans[0]..patch.spans[1] {
        let span = &patches.spans[number];
        if k < span.most {
            close.of = [span.of[0][lane], span.of[1][lane]];
            close.share = share(k + 1, span.points[lane]);
            let bent = close.share * (1.0 - close.share);
            close.bent = bent * lent.blocks.bulges[number].get(lane);
            return close;
        }
        k -= span.most;
    }
    close
}

/// For each point the nearest particle of some patches.
#[inline(always)]
fn nearest<'a>(
    inside: &Lent,
    near: impl Iterator<Item = &'a u32>,
    x: &Lanes<WIDTH>,
) -> [u32; WIDTH] {
    let mut best = ([0_u32; WIDTH], [f32::INFINITY; WIDTH]);
    for &k in near {
        for &p in &inside.interior.patches.patches[k as usize].own {
            best = nearer(best, (p, inside.particles.places[p as usize]), x);
        }
    }
    best.0
}

/// The nearer of what was found and another particle. (By value: kept in registers, not behind masked stores.)
#[inline(always)]
fn nearer(
    (mut at, mut best): ([u32; WIDTH], Numbers),
    (number, p): (u32, Vec3),
    x: &Lanes<WIDTH>,
) -> ([u32; WIDTH], Numbers) {
    for i in 0..WIDTH {
        let (dx, dy, dz) = (p.x - x.x[i], p.y - x.y[i], p.z - x.z[i]);
        let d = dx * dx + dy * dy + dz * dz;
        at[i] = if d < best[i] { number } else { at[i] };
        best[i] = best[i].min(d);
    }
    (at, best)
}

/// Points carried back to the shape at rest, each by the map of a particle.
#[inline(always)]
fn home(inside: &Lent, nearest: &[u32; WIDTH], x: &Lanes<WIDTH>) -> Lanes<WIDTH> {
    let back = columns(|lane| &inside.blocks.backs[nearest[lane] as usize]);
    let mut push = Lanes::<WIDTH>::ZERO;
    for lane in 0..WIDTH {
        push.set(lane, inside.pushes[nearest[lane] as usize]);
    }
    let mut home = Lanes::ZERO;
    for i in 0..WIDTH {
        let (x, y, z) = (x.x[i] - push.x[i], x.y[i] - push.y[i], x.z[i] - push.z[i]);
        home.x[i] = back[0][i] * x + back[1][i] * y + back[2][i] * z + back[3][i];
        home.y[i] = back[4][i] * x + back[5][i] * y + back[6][i] * z + back[7][i];
        home.z[i] = back[8][i] * x + back[9][i] * y + back[10][i] * z + back[11][i];
    }
    home
}

/// How deep a point is in a body and the way out, by the distance at rest, its gradient there, and the map of a particle; `None`
/// where there is no way out.
#[inline(always)]
fn depth(inside: &Lent, against: usize, (distance, g): (f32, Vec3)) -> Option<(f32, Vec3)> {
    if g.length_squared() < LEAST_GRADIENT * LEAST_GRADIENT {
        return None;
    }
    let n = &inside.blocks.backs[against];
    let along = |k: usize| n[k] * g.x + n[k + 4] * g.y + n[k + 8] * g.z;
    let way = Vec3::new(along(0), along(1), along(2));
    let steep = way.norm();
    Some((-distance / steep, way / steep))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Run;
    use crate::contact::{Edge, Party, bodies};
    use crate::zoo::tet_bodies;

    /// A worm at rest, with points between its particles.
    struct Shape {
        positions: Vec<Vec3>,
        field: Arc<DistanceField>,
        patches: Arc<Patches>,
    }

    fn shape() -> Shape {
        let surface = tet_bodies::build("worm", Some(73)).unwrap().surface();
        let (positions, triangles) = (surface.positions, &surface.triangles);
        let halves = triangles.iter().map(|&[a, b, _]| Edge {
            of: [a, b],
            along: positions[b as usize] - positions[a as usize],
            points: 1,
        });
        let halves: Vec<Edge> = halves.collect();
        let field = DistanceField::new(&positions, triangles, &Run::default()).unwrap();
        let patches = Patches::new(&positions, triangles, &halves, &field, &Run::default());
        Shape { positions, field: Arc::new(field), patches: Arc::new(patches) }
    }

    /// A worm turned and stretched by one map, and moved.
    fn worm(shape: &Shape, map: Mat3, shift: Vec3) -> Lent {
        let count = shape.positions.len();
        let mut lent = Lent::default();
        lent.particles.places = shape.positions.iter().map(|x| map * *x + shift).collect();
        lent.particles.motions = vec![Vec3::ZERO; count];
        lent.particles.inverse_masses = vec![1.0; count].into();
        lent.particles.size = 1.0;
        lent.interior.patches = Arc::clone(&shape.patches);
        lent.interior.field = Some(Arc::clone(&shape.field));
        let m = (map - Mat3::IDENTITY).transpose().to_cols_array();
        let map = [m[0], m[1], m[2], shift.x, m[3], m[4], m[5], shift.y, m[6], m[7], m[8], shift.z];
        lent.interior.maps = vec![map; count];
        lent.begin();
        lent
    }

    /// All points against all particles.
    fn plainly(points: &Lent, inside: &Lent) -> usize {
        let field = inside.interior.field.as_deref().unwrap();
        let particles = (0..points.len()).map(|p| points.place(p));
        let spans = points.interior.patches.spans.iter();
        let edges = spans.flat_map(|span| (0..WIDTH).map(|lane| span.edge(lane)));
        let halves =
            edges.filter(|edge| edge.points > 0).map(|edge| points.place_between(&edge, 0.5));
        let is_inside = |x: &Vec3| {
            let square = |p: &usize| inside.particles.places[*p].distance_squared(*x);
            let nearest = (0..inside.len()).min_by(|a, b| square(a).total_cmp(&square(b)));
            let map = &inside.interior.maps[nearest.unwrap()];
            let rows = [0, 4, 8].map(|k| Vec3::new(map[k], map[k + 1], map[k + 2]));
            let linear = Mat3::IDENTITY + Mat3::from_cols(rows[0], rows[1], rows[2]).transpose();
            let home = linear.inverse() * (*x - Vec3::new(map[3], map[7], map[11]));
            field
                .at(home)
                .is_some_and(|at| at.0 < 0.0 && depth(inside, nearest.unwrap(), at).is_some())
        };
        particles.chain(halves).filter(is_inside).count()
    }

    #[test]
    fn blocks_find_what_a_plain_search_finds() {
        let (shape, mut total) = (shape(), 0);
        for k in 0..200 {
            let share = |by: f32| (0.5 + k as f32 * by).fract();
            let turn = Mat3::from_rotation_y(6.0 * share(0.618_034));
            let turn = turn * Mat3::from_rotation_x(3.0 * share(0.754_878));
            // Up to five times as long or as thick.
            let [a, b] = [share(0.569_84), share(0.426_15)].map(|s| 5.0_f32.powf(2.0 * s - 1.0));
            let stretched = turn * Mat3::from_diagonal(Vec3::new(a, b, b));
            let shift = 0.2 * Vec3::new(share(0.3) - 0.5, share(0.7) - 0.5, share(0.11) - 0.5);
            let still = worm(&shape, Mat3::IDENTITY, Vec3::ZERO);
            let mut lents = [still, worm(&shape, stretched, shift)];
            let mut parties =
                lents.each_mut().map(|lent| Party { lent, others: true, obstacles: false });
            let pairs = bodies::pairs(&mut parties, &Run::default());
            let mut found = [0; 2];
            for pair in &pairs {
                let [points, inside] = [pair.point, pair.inside];
                let finds = search(pair, parties[points].lent, parties[inside].lent, None);
                found[points] += finds.found.len();
            }
            let expected = [plainly(&lents[0], &lents[1]), plainly(&lents[1], &lents[0])];
            assert_eq!(found, expected, "{k}: stretched by {a}, {b}");
            total += found[0] + found[1];
        }
        assert!(total > 1_000, "{total}");
    }

    #[test]
    fn later_rounds_pass_over_nothing_that_pushes_brought_inside() {
        let (shape, mut total) = (shape(), 0);
        for k in 0..200 {
            let share = |by: f32| (0.5 + k as f32 * by).fract();
            let turn = Mat3::from_rotation_y(6.0 * share(0.618_034));
            let shift = 0.12 * Vec3::new(share(0.3) - 0.5, share(0.7) - 0.5, share(0.11) - 0.5);
            let still = worm(&shape, Mat3::IDENTITY, Vec3::ZERO);
            let mut lents = [worm(&shape, turn, shift), still];
            let mut parties =
                lents.each_mut().map(|lent| Party { lent, others: true, obstacles: false });
            let pairs = bodies::pairs(&mut parties, &Run::default());
            let Some(pair) = pairs.iter().find(|pair| pair.point == 0) else { continue };
            let first = search(pair, parties[0].lent, parties[1].lent, None);
            // Less than half of how far outside points are remembered.
            let way = 0.2 * shape.field.deepest() * share(0.23);
            let push = way * Vec3::new(share(0.9) - 0.5, share(0.37) - 0.5, share(0.77) - 0.5);
            parties[0].lent.pushes.fill(push.normalize_or_zero() * way);
            parties[0].lent.measure_pushes();
            let found = |parties: &[Party<'_>]| {
                let close = Some(first.close.as_slice());
                search(pair, parties[0].lent, parties[1].lent, close).found.len()
            };
            let some = found(&parties);
            // Of a push that long nothing is passed over.
            parties[0].lent.blocks.farthest_push = f32::INFINITY;
            assert_eq!(some, found(&parties), "{k}: first {}", first.found.len());
            total += some.abs_diff(first.found.len());
        }
        assert!(total > 100, "{total} points came in or went out");
    }
}

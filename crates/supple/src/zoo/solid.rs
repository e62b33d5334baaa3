//! Solids as signed-distance fields: round cones, ellipsoids and boxes, smoothly united.
//!
//! # Method
//!
//! A [`Solid`] is a list of limbs, a [`Limb`] a list of parts. Within a limb parts blend one after
//! the other by the polynomial smooth minimum
//!
//! ```text
//! smin(a, b, k) = min(a, b) − k h²/4     h = max(k − |a − b|, 0) / k
//! ```
//!
//! so that a blend reaches no farther than `k`; limbs then join each other the same way. Two fingers
//! are two limbs that meet with a small `k`, while the parts of one finger blend softly. An
//! [`Atlas`] lists, for each cell of a coarse grid, the few parts that matter there.
//!
//! # Limits
//!
//! The field is a distance only to first order at the surface (an ellipsoid is a scaled sphere); the polygoniser asks for no more.
//!
//! # References
//!
//! - I. Quilez. Smooth minimum, and distance functions. Articles, 2008–2013.

use glam::{DMat3, DVec3};

use crate::rows::Rows;

/// Distance that stands for nothing at all.
const FAR: f64 = 1e9;

/// A colour, linear RGB.
pub(super) type Rgb = [f64; 3];

/// What a part is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Primitive {
    /// The hull of two spheres.
    Cone { a: DVec3, b: DVec3, ra: f64, rb: f64 },
    /// An ellipsoid; `local` turns the world's axes to its own.
    Ellipsoid { center: DVec3, radii: DVec3, local: DMat3 },
    /// An axis-aligned box whose edges are rounded by `round`.
    Block { center: DVec3, half: DVec3, round: f64 },
}

impl Primitive {
    /// Signed distance, to first order at the surface.
    fn distance(&self, p: DVec3) -> f64 {
        match *self {
            Self::Cone { a, b, ra, rb } => cone(p, a, b, ra, rb),
            Self::Ellipsoid { center, radii, local } => ellipsoid(local * (p - center), radii),
            Self::Block { center, half, round } => {
                let q = (p - center).abs() - (half - DVec3::splat(round));
                q.max(DVec3::ZERO).length() + q.max_element().min(0.0) - round
            }
        }
    }

    /// A sphere around it.
    fn bound(&self) -> (DVec3, f64) {
        match *self {
            Self::Cone { a, b, ra, rb } => (0.5 * (a + b), 0.5 * (b - a).length() + ra.max(rb)),
            Self::Ellipsoid { center, radii, .. } => (center, radii.max_element()),
            Self::Block { center, half, .. } => (center, half.length()),
        }
    }

    fn mirrored(&self) -> Self {
        let flip = DVec3::new(-1.0, 1.0, 1.0);
        match *self {
            Self::Cone { a, b, ra, rb } => Self::Cone { a: a * flip, b: b * flip, ra, rb },
            Self::Ellipsoid { center, radii, local } => {
                let mirror = DMat3::from_diagonal(flip);
                Self::Ellipsoid { center: center * flip, radii, local: mirror * local * mirror }
            }
            Self::Block { center, half, round } => {
                Self::Block { center: center * flip, half, round }
            }
        }
    }
}

/// Distance to the hull of two spheres.
fn cone(p: DVec3, a: DVec3, b: DVec3, ra: f64, rb: f64) -> f64 {
    let axis = b - a;
    let (len2, dr) = (axis.length_squared(), ra - rb);
    let slope2 = len2 - dr * dr;
    if slope2 <= 1e-12 {
        let (c, r) = if ra > rb { (a, ra) } else { (b, rb) };
        return (p - c).length() - r;
    }
    let (pa, inv) = (p - a, 1.0 / len2);
    let y = pa.dot(axis);
    let z = y - len2;
    let x2 = (pa * len2 - axis * y).length_squared();
    let (y2, z2) = (y * y * len2, z * z * len2);
    let k = dr.signum() * dr * dr * x2;
    if z.signum() * slope2 * z2 > k {
        return (x2 + z2).sqrt() * inv - rb;
    }
    if y.signum() * slope2 * y2 < k {
        return (x2 + y2).sqrt() * inv - ra;
    }
    ((x2 * slope2 * inv).sqrt() + y * dr) * inv - ra
}

/// Distance to an ellipsoid at the origin, to first order at its surface.
fn ellipsoid(p: DVec3, radii: DVec3) -> f64 {
    let k0 = (p / radii).length();
    let k1 = (p / (radii * radii)).length();
    if k1 < 1e-9 { -radii.min_element() } else { k0 * (k0 - 1.0) / k1 }
}

/// Smooth minimum; blends where the two differ by less than `k`.
fn smooth_min(a: f64, b: f64, k: f64) -> f64 {
    if k <= 0.0 {
        return a.min(b);
    }
    let h = (k - (a - b).abs()).max(0.0) / k;
    a.min(b) - 0.25 * k * h * h
}

/// What a part does to the limb so far.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Deed {
    Add,
    Carve,
}

/// One shape of a limb.
#[derive(Clone, Copy, Debug)]
struct Part {
    shape: Primitive,
    deed: Deed,
    /// Reach of the blend.
    blend: f64,
    color: Rgb,
    bound: (DVec3, f64),
}

impl Part {
    /// The distance `d` to the parts before, with this one added or carved.
    fn onto(&self, d: f64, p: DVec3) -> f64 {
        let (center, radius) = self.bound;
        let reach = radius + self.blend + if self.deed == Deed::Add { d } else { -d };
        if reach <= 0.0 || (p - center).length_squared() >= reach * reach {
            return d;
        }
        match self.deed {
            Deed::Add => smooth_min(d, self.shape.distance(p), self.blend),
            Deed::Carve => -smooth_min(-d, self.shape.distance(p), self.blend),
        }
    }
}

/// Parts that blend among themselves; limbs then join one another.
#[derive(Clone, Debug)]
pub(super) struct Limb {
    parts: Vec<Part>,
    /// Reach of the blend with the limbs before.
    join: f64,
    color: Rgb,
    blend: f64,
}

impl Limb {
    /// A limb without parts yet; parts take its colour and blend.
    pub(super) fn new(join: f64, blend: f64, color: Rgb) -> Self {
        Self { parts: Vec::new(), join, color, blend }
    }

    /// The following parts have this colour.
    pub(super) fn color(mut self, color: Rgb) -> Self {
        self.color = color;
        self
    }

    /// The following parts blend this far.
    pub(super) fn blend(mut self, blend: f64) -> Self {
        self.blend = blend;
        self
    }

    /// Adds the hull of two spheres.
    pub(super) fn cone(self, a: [f64; 3], ra: f64, b: [f64; 3], rb: f64) -> Self {
        self.part(Primitive::Cone { a: a.into(), b: b.into(), ra, rb }, Deed::Add)
    }

    /// Adds a chain of hulls through `(point, radius)` pairs.
    pub(super) fn tube(mut self, points: &[([f64; 3], f64)]) -> Self {
        for pair in points.windows(2) {
            self = self.cone(pair[0].0, pair[0].1, pair[1].0, pair[1].1);
        }
        self
    }

    /// Adds an ellipsoid along the axes.
    pub(super) fn ball(self, center: [f64; 3], radii: [f64; 3]) -> Self {
        self.turned(center, radii, DMat3::IDENTITY)
    }

    /// Adds an ellipsoid; `local` turns the world's axes to its own.
    pub(super) fn turned(self, center: [f64; 3], radii: [f64; 3], local: DMat3) -> Self {
        let shape = Primitive::Ellipsoid { center: center.into(), radii: radii.into(), local };
        self.part(shape, Deed::Add)
    }

    /// Adds a rounded box.
    pub(super) fn block(self, center: [f64; 3], half: [f64; 3], round: f64) -> Self {
        let shape = Primitive::Block { center: center.into(), half: half.into(), round };
        self.part(shape, Deed::Add)
    }

    /// Takes an ellipsoid away from what is there so far.
    pub(super) fn carve(self, center: [f64; 3], radii: [f64; 3]) -> Self {
        let (center, radii) = (center.into(), radii.into());
        let shape = Primitive::Ellipsoid { center, radii, local: DMat3::IDENTITY };
        self.part(shape, Deed::Carve)
    }

    /// Adds the last `count` parts again, mirrored in x.
    pub(super) fn and_mirrored(mut self, count: usize) -> Self {
        let from = self.parts.len() - count;
        for i in from..from + count {
            let part = mirrored(&self.parts[i]);
            self.parts.push(part);
        }
        self
    }

    /// The limb on the other side.
    pub(super) fn mirrored(&self) -> Self {
        let mut other = Self::new(self.join, self.blend, self.color);
        for part in &self.parts {
            other.parts.push(mirrored(part));
        }
        other
    }

    fn part(mut self, shape: Primitive, deed: Deed) -> Self {
        let (blend, color, bound) = (self.blend, self.color, shape.bound());
        self.parts.push(Part { shape, deed, blend, color, bound });
        self
    }

    /// Signed distance to this limb alone.
    pub(super) fn distance(&self, p: DVec3) -> f64 {
        self.parts.iter().fold(FAR, |d, part| part.onto(d, p))
    }
}

fn mirrored(part: &Part) -> Part {
    let flip = DVec3::new(-1.0, 1.0, 1.0);
    Part { shape: part.shape.mirrored(), bound: (part.bound.0 * flip, part.bound.1), ..*part }
}

/// Turns by `degrees` about y: z towards x.
pub(super) fn turn_y(degrees: f64) -> DMat3 {
    let (s, c) = sin_cos(degrees);
    DMat3::from_cols(DVec3::new(c, 0.0, -s), DVec3::Y, DVec3::new(s, 0.0, c))
}

/// Turns by `degrees` about z: x towards y.
pub(super) fn turn_z(degrees: f64) -> DMat3 {
    let (s, c) = sin_cos(degrees);
    DMat3::from_cols(DVec3::new(c, s, 0.0), DVec3::new(-s, c, 0.0), DVec3::Z)
}

fn sin_cos(degrees: f64) -> (f64, f64) {
    let radians = degrees * (std::f64::consts::PI / 180.0);
    (libm::sin(radians), libm::cos(radians))
}

/// A spot of colour: an ellipsoid that paints the surface inside it.
#[derive(Clone, Copy, Debug)]
struct Spot {
    center: DVec3,
    radii: DVec3,
    color: Rgb,
    /// Width of its edge relative to its size.
    soft: f64,
}

/// A shape as limbs that join smoothly, with colours.
#[derive(Clone, Debug)]
pub(super) struct Solid {
    pub(super) limbs: Vec<Limb>,
    spots: Vec<Spot>,
    /// Cell size at which every feature is resolved.
    pub(super) finest: f64,
    /// Width over which the colours of neighbouring parts mix.
    mix: f64,
    atlas: Atlas,
}

impl Solid {
    /// A solid of these limbs, whose features are resolved by cells of size `finest`.
    pub(super) fn new(finest: f64, limbs: Vec<Limb>) -> Self {
        let atlas = Atlas::new(&limbs);
        Self { limbs, spots: Vec::new(), finest, mix: 0.4 * finest, atlas }
    }

    /// Paints the surface inside an ellipsoid.
    pub(super) fn spot(mut self, center: [f64; 3], radii: [f64; 3], color: Rgb) -> Self {
        let (center, radii) = (center.into(), radii.into());
        self.spots.push(Spot { center, radii, color, soft: 0.12 });
        self
    }

    /// Paints the surface inside an ellipsoid and inside its mirror image.
    pub(super) fn spots(self, center: [f64; 3], radii: [f64; 3], color: Rgb) -> Self {
        let other = [-center[0], center[1], center[2]];
        self.spot(center, radii, color).spot(other, radii, color)
    }

    /// Signed distance, to first order at the surface.
    pub(super) fn distance(&self, p: DVec3) -> f64 {
        let Some(parts) = self.atlas.parts_near(p) else {
            return joined(&self.limbs, p);
        };
        let (mut d, mut limb_d, mut limb) = (FAR, FAR, 0);
        for &(of, part) in parts {
            if of != limb {
                d = smooth_min(d, limb_d, self.limbs[limb as usize].join);
                (limb_d, limb) = (FAR, of);
            }
            limb_d = self.limbs[limb as usize].parts[part as usize].onto(limb_d, p);
        }
        smooth_min(d, limb_d, self.limbs[limb as usize].join)
    }

    /// Gradient by differences over the corners of a tetrahedron.
    pub(super) fn gradient(&self, p: DVec3) -> DVec3 {
        self.tangent(p).1
    }

    /// Distance and gradient from the four corners of a small tetrahedron.
    fn tangent(&self, p: DVec3) -> (f64, DVec3) {
        const STEP: f64 = 1e-5;
        const CORNERS: [DVec3; 4] = [
            DVec3::new(1.0, -1.0, -1.0),
            DVec3::new(-1.0, -1.0, 1.0),
            DVec3::new(-1.0, 1.0, -1.0),
            DVec3::new(1.0, 1.0, 1.0),
        ];
        let (mut sum, mut slope) = (0.0, DVec3::ZERO);
        for corner in CORNERS {
            let d = self.distance(p + STEP * corner);
            sum += d;
            slope += corner * d;
        }
        (0.25 * sum, slope / (4.0 * STEP))
    }

    /// The surface point that Newton steps along the gradient reach from `p`.
    pub(super) fn project(&self, mut p: DVec3, steps: usize) -> DVec3 {
        for _ in 0..steps {
            let (distance, gradient) = self.tangent(p);
            p -= gradient * (distance / gradient.length_squared().max(0.04));
        }
        p
    }

    /// The colour at a surface point.
    pub(super) fn color_at(&self, p: DVec3) -> Rgb {
        let parts = || self.limbs.iter().flat_map(|l| &l.parts).filter(|q| q.deed == Deed::Add);
        let nearest = parts().map(|q| q.shape.distance(p)).fold(FAR, f64::min);
        let (mut sum, mut total) = (DVec3::ZERO, 0.0);
        for part in parts() {
            let t = 1.0 - (part.shape.distance(p) - nearest) / self.mix;
            if t > 0.0 {
                sum += t * t * DVec3::from(part.color);
                total += t * t;
            }
        }
        let mut color = sum / total;
        for spot in &self.spots {
            let r = ((p - spot.center) / spot.radii).length();
            let t = ((1.0 - r) / spot.soft + 0.5).clamp(0.0, 1.0);
            color = color.lerp(DVec3::from(spot.color), t);
        }
        color.into()
    }

    /// A box around the surface, a little larger.
    pub(super) fn bounds(&self) -> (DVec3, DVec3) {
        bounds(&self.limbs)
    }
}

/// Signed distance to limbs, each looked at.
fn joined(limbs: &[Limb], p: DVec3) -> f64 {
    limbs.iter().fold(FAR, |d, limb| smooth_min(d, limb.distance(p), limb.join))
}

fn bounds(limbs: &[Limb]) -> (DVec3, DVec3) {
    let (mut min, mut max) = (DVec3::splat(FAR), DVec3::splat(-FAR));
    for part in limbs.iter().flat_map(|l| &l.parts).filter(|q| q.deed == Deed::Add) {
        let (low, high) = part_box(part);
        min = min.min(low - DVec3::splat(0.25 * part.blend));
        max = max.max(high + DVec3::splat(0.25 * part.blend));
    }
    (min, max)
}

/// Which parts matter where: a coarse grid over the solid, with a list of parts a cell.
///
/// At the surface leaving parts out changes nothing; far from it the field may change, its sign
/// never.
#[derive(Clone, Debug)]
struct Atlas {
    origin: DVec3,
    cell: f64,
    size: [usize; 3],
    /// For each cell limb and part within it, in order.
    parts: Rows<(u16, u16)>,
}

impl Atlas {
    /// Cells along the longest side.
    const CELLS: f64 = 56.0;

    fn new(limbs: &[Limb]) -> Self {
        let (min, max) = bounds(limbs);
        let cell = (max - min).max_element() / Self::CELLS;
        let origin = min - DVec3::splat(2.0 * cell);
        let size = ((max - min) / cell).to_array().map(|n| n as usize + 5);
        let mut atlas = Self { origin, cell, size, parts: Rows::default() };
        let [nx, ny, nz] = size;
        for k in 0..nx * ny * nz {
            let at = [k % nx, k / nx % ny, k / (nx * ny)].map(|i| i as f64 + 0.5);
            atlas.parts.push(atlas.reaching(limbs, origin + cell * DVec3::from(at)));
        }
        atlas
    }

    /// The parts that can reach any point of the cell around `middle`: those not farther from it
    /// than the surface, given the size of the cell and how far blends reach.
    fn reaching(&self, limbs: &[Limb], middle: DVec3) -> Vec<(u16, u16)> {
        let radius = 0.867 * self.cell;
        // Half as much again for the field's own distance, which is no exact one.
        let reach = joined(limbs, middle).abs() + 2.5 * radius;
        let mut reaching = Vec::new();
        for (l, limb) in limbs.iter().enumerate() {
            for (q, part) in limb.parts.iter().enumerate() {
                let (center, around) = part.bound;
                if (middle - center).length() < around + reach + part.blend + limb.join {
                    reaching.push((l as u16, q as u16));
                }
            }
        }
        reaching
    }

    /// The parts that matter at `p`; `None` outside the grid.
    fn parts_near(&self, p: DVec3) -> Option<&[(u16, u16)]> {
        let at = (p - self.origin) / self.cell;
        let [nx, ny, nz] = self.size;
        let inside =
            at.min_element() >= 0.0 && at.x < nx as f64 && at.y < ny as f64 && at.z < nz as f64;
        if !inside {
            return None;
        }
        let k = ((at.z as usize) * ny + at.y as usize) * nx + at.x as usize;
        Some(self.parts.row(k))
    }
}

fn part_box(part: &Part) -> (DVec3, DVec3) {
    match part.shape {
        Primitive::Cone { a, b, ra, rb } => {
            let (ra, rb) = (DVec3::splat(ra), DVec3::splat(rb));
            ((a - ra).min(b - rb), (a + ra).max(b + rb))
        }
        Primitive::Ellipsoid { center, radii, local } => {
            let m = local.transpose();
            let cols = [m.x_axis * radii.x, m.y_axis * radii.y, m.z_axis * radii.z];
            let squares = cols[0] * cols[0] + cols[1] * cols[1] + cols[2] * cols[2];
            let half = DVec3::new(squares.x.sqrt(), squares.y.sqrt(), squares.z.sqrt());
            (center - half, center + half)
        }
        Primitive::Block { center, half, .. } => (center - half, center + half),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cone_of_equal_radii_is_a_capsule() {
        let capsule = |p: DVec3| {
            let t = p.y.clamp(0.0, 2.0);
            (p - DVec3::Y * t).length() - 0.5
        };
        for p in [[0.9, 0.3, 0.0], [0.1, 2.9, 0.2], [0.3, -1.0, 0.4], [0.1, 1.0, 0.1]] {
            let p = DVec3::from(p);
            let d = cone(p, DVec3::ZERO, DVec3::Y * 2.0, 0.5, 0.5);
            assert!((d - capsule(p)).abs() < 1e-12, "at {p}: {d}");
        }
    }

    #[test]
    fn a_blend_only_adds_and_reaches_no_farther_than_k() {
        for (a, b) in [(0.0, 0.0), (0.3, -0.1), (1.0, 0.2), (-0.5, 0.6)] {
            let s = smooth_min(a, b, 0.5);
            assert!(s <= a.min(b), "smin({a}, {b}) = {s}");
            assert!(a.min(b) - s <= 0.125, "smin({a}, {b}) = {s}");
        }
        assert_eq!(smooth_min(1.0, 0.2, 0.5).to_bits(), 0.2_f64.to_bits(), "out of reach");
    }

    #[test]
    fn projection_lands_on_the_surface() {
        let limb = Limb::new(0.0, 0.2, [1.0; 3]).ball([0.0, 0.0, 0.0], [1.0, 0.5, 0.7]).cone(
            [0.5, 0.0, 0.0],
            0.3,
            [1.8, 0.4, 0.0],
            0.2,
        );
        let solid = Solid::new(0.1, vec![limb]);
        for start in [[1.2, 0.1, 0.3], [0.0, 0.6, 0.1], [2.1, 0.5, 0.0]] {
            let p = solid.project(start.into(), 6);
            assert!(solid.distance(p).abs() < 1e-9, "{} at {p}", solid.distance(p));
        }
    }

    #[test]
    fn the_atlas_leaves_out_nothing_that_matters() {
        let solid = crate::zoo::cow::solid();
        for k in 0..4000 {
            let t = f64::from(k) * 0.618_034;
            let p = DVec3::new(
                0.5 * libm::sin(3.1 * t),
                0.85 + 0.9 * libm::sin(4.7 * t),
                0.2 + 1.3 * libm::sin(5.9 * t),
            );
            let (near, all) = (solid.distance(p), joined(&solid.limbs, p));
            assert_eq!(near < 0.0, all < 0.0, "{near} for {all} at {p}");
            if all.abs() < 0.08 {
                assert!((near - all).abs() < 1e-12, "{near} for {all} at {p}");
            }
        }
    }

    #[test]
    fn mirroring_mirrors_the_distance() {
        let limb =
            Limb::new(0.0, 0.2, [1.0; 3]).turned([0.4, 0.0, 0.1], [0.5, 0.2, 0.3], turn_z(30.0));
        let other = limb.mirrored();
        for p in [[0.7, 0.1, 0.3], [1.4, 0.6, -0.2], [0.1, -0.3, 0.2]] {
            let p = DVec3::from(p);
            let q = p * DVec3::new(-1.0, 1.0, 1.0);
            assert!((limb.distance(p) - other.distance(q)).abs() < 1e-12, "at {p}");
        }
    }
}

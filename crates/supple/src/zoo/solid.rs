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
//! are two limbs that meet with a small `k`, while the parts of one finger blend softly. What is
//! farther away than a blend reaches is skipped by its bounding sphere.
//!
//! # Limits
//!
//! The field is a distance only to first order at the surface (an ellipsoid is a scaled sphere); the polygoniser asks for no more.
//!
//! # References
//!
//! - I. Quilez. Smooth minimum, and distance functions. Articles, 2008–2013.

use glam::{DMat3, DVec3};

/// Distance that stands for nothing at all.
const FAR: f64 = 1e9;

/// A colour, linear RGB.
pub(super) type Rgb = [f64; 3];

/// What a part is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// The hull of two spheres.
    Cone { a: DVec3, b: DVec3, ra: f64, rb: f64 },
    /// An ellipsoid; `local` turns the world's axes to its own.
    Ellipsoid { center: DVec3, radii: DVec3, local: DMat3 },
    /// An axis-aligned box whose edges are rounded by `round`.
    Block { center: DVec3, half: DVec3, round: f64 },
}

impl Shape {
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
    shape: Shape,
    deed: Deed,
    /// Reach of the blend.
    blend: f64,
    color: Rgb,
    bound: (DVec3, f64),
}

impl Part {
    /// True if the part may be nearer to `p` than `reach`.
    fn may_reach(&self, p: DVec3, reach: f64) -> bool {
        within(p, self.bound, reach)
    }
}

/// Parts that blend among themselves; limbs then join one another.
#[derive(Clone, Debug)]
pub(super) struct Limb {
    parts: Vec<Part>,
    /// Reach of the blend with the limbs before.
    join: f64,
    bound: (DVec3, f64),
    color: Rgb,
    blend: f64,
}

impl Limb {
    /// A limb without parts yet; parts take its colour and blend.
    pub(super) fn new(join: f64, blend: f64, color: Rgb) -> Self {
        Self { parts: Vec::new(), join, bound: (DVec3::ZERO, 0.0), color, blend }
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
        self.part(Shape::Cone { a: a.into(), b: b.into(), ra, rb }, Deed::Add)
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
        let shape = Shape::Ellipsoid { center: center.into(), radii: radii.into(), local };
        self.part(shape, Deed::Add)
    }

    /// Adds a rounded box.
    pub(super) fn block(self, center: [f64; 3], half: [f64; 3], round: f64) -> Self {
        let shape = Shape::Block { center: center.into(), half: half.into(), round };
        self.part(shape, Deed::Add)
    }

    /// Takes an ellipsoid away from what is there so far.
    pub(super) fn carve(self, center: [f64; 3], radii: [f64; 3]) -> Self {
        let (center, radii) = (center.into(), radii.into());
        let shape = Shape::Ellipsoid { center, radii, local: DMat3::IDENTITY };
        self.part(shape, Deed::Carve)
    }

    /// Adds the last `count` parts again, mirrored in x.
    pub(super) fn and_mirrored(mut self, count: usize) -> Self {
        let from = self.parts.len() - count;
        for i in from..from + count {
            let part = mirrored(&self.parts[i]);
            self.push(part);
        }
        self
    }

    /// The limb on the other side.
    pub(super) fn mirrored(&self) -> Self {
        let mut other = Self::new(self.join, self.blend, self.color);
        for part in &self.parts {
            other.push(mirrored(part));
        }
        other
    }

    fn part(mut self, shape: Shape, deed: Deed) -> Self {
        let (blend, color, bound) = (self.blend, self.color, shape.bound());
        self.push(Part { shape, deed, blend, color, bound });
        self
    }

    fn push(&mut self, part: Part) {
        if part.deed == Deed::Add {
            self.bound = enclose(self.bound, (part.bound.0, part.bound.1 + part.blend));
        }
        self.parts.push(part);
    }

    /// Signed distance to this limb alone.
    pub(super) fn distance(&self, p: DVec3) -> f64 {
        let mut d = FAR;
        for part in &self.parts {
            match part.deed {
                Deed::Add if part.may_reach(p, d + part.blend) => {
                    d = smooth_min(d, part.shape.distance(p), part.blend);
                }
                Deed::Carve if part.may_reach(p, part.blend - d) => {
                    d = -smooth_min(-d, part.shape.distance(p), part.blend);
                }
                _ => {}
            }
        }
        d
    }
}

fn mirrored(part: &Part) -> Part {
    let flip = DVec3::new(-1.0, 1.0, 1.0);
    Part { shape: part.shape.mirrored(), bound: (part.bound.0 * flip, part.bound.1), ..*part }
}

/// True if `p` is nearer than `reach` to the sphere.
fn within(p: DVec3, (center, radius): (DVec3, f64), reach: f64) -> bool {
    let limit = radius + reach;
    limit > 0.0 && (p - center).length_squared() < limit * limit
}

/// A sphere around two; the first counts only once it has a radius.
fn enclose(a: (DVec3, f64), b: (DVec3, f64)) -> (DVec3, f64) {
    let apart = (b.0 - a.0).length();
    if a.1 <= 0.0 || apart + a.1 <= b.1 {
        return b;
    }
    if apart + b.1 <= a.1 {
        return a;
    }
    let radius = 0.5 * (apart + a.1 + b.1);
    (a.0 + (b.0 - a.0) * ((radius - a.1) / apart), radius)
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
}

impl Solid {
    /// A solid of these limbs, whose features are resolved by cells of size `finest`.
    pub(super) fn new(finest: f64, limbs: Vec<Limb>) -> Self {
        Self { limbs, spots: Vec::new(), finest, mix: finest }
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
        let mut d = FAR;
        for limb in &self.limbs {
            if within(p, limb.bound, d + limb.join) {
                d = smooth_min(d, limb.distance(p), limb.join);
            }
        }
        d
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
        let (mut min, mut max) = (DVec3::splat(FAR), DVec3::splat(-FAR));
        for part in self.limbs.iter().flat_map(|l| &l.parts).filter(|q| q.deed == Deed::Add) {
            let (low, high) = part_box(part);
            min = min.min(low - DVec3::splat(0.25 * part.blend));
            max = max.max(high + DVec3::splat(0.25 * part.blend));
        }
        (min, max)
    }
}

fn part_box(part: &Part) -> (DVec3, DVec3) {
    match part.shape {
        Shape::Cone { a, b, ra, rb } => {
            let (ra, rb) = (DVec3::splat(ra), DVec3::splat(rb));
            ((a - ra).min(b - rb), (a + ra).max(b + rb))
        }
        Shape::Ellipsoid { center, radii, local } => {
            let m = local.transpose();
            let cols = [m.x_axis * radii.x, m.y_axis * radii.y, m.z_axis * radii.z];
            let squares = cols[0] * cols[0] + cols[1] * cols[1] + cols[2] * cols[2];
            let half = DVec3::new(squares.x.sqrt(), squares.y.sqrt(), squares.z.sqrt());
            (center - half, center + half)
        }
        Shape::Block { center, half, .. } => (center - half, center + half),
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

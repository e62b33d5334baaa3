//! Convex solids: how deep a point is inside, which way is out, and where a ray passes through.

use glam::{Quat, Vec3};
use pulp::{Simd, WithSimd};

use crate::lanes::{Lanes, least};
use crate::lengths::Lengths as _;
use crate::mesh::measure::Bounds;

/// A convex piece of collision geometry, in the space of its collider.
#[derive(Clone, Debug, PartialEq)]
pub enum Solid {
    /// All points within a distance of a segment: a capsule, or a sphere if its ends are the same.
    Round {
        /// The ends of the segment.
        ends: [Vec3; 2],
        /// The distance.
        radius: f32,
    },
    /// All points behind every face: a convex polyhedron, or a half-space if there is only one.
    Hull {
        /// Its faces.
        faces: Vec<Face>,
        /// Its corners; none for a half-space.
        corners: Vec<Vec3>,
    },
}

/// A face of a convex polyhedron: the points `x` with `normal · x = offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// Unit vector that points out.
    pub normal: Vec3,
    /// Its distance from the origin along the normal.
    pub offset: f32,
    /// True if another part of the same collider lies behind it: nothing leaves through it.
    pub inner: bool,
}

impl Face {
    fn distance(&self, x: Vec3) -> f32 {
        self.normal.dot(x) - self.offset
    }
}

/// What a solid says about a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Distance to the surface: negative inside; outside a polyhedron it may be too small.
    pub distance: f32,
    /// The way out, a unit vector.
    pub normal: Vec3,
}

/// A box with rounded edges that contains a solid: the region that moves as one with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundedBox {
    /// The middle.
    pub center: Vec3,
    /// From the box's axes to those of the space.
    pub rotation: Quat,
    /// Half the edges of the box inside; zero for a sphere.
    pub half: Vec3,
    /// How far around that box.
    pub radius: f32,
}

/// Parts at most this many times longer than thick are compact: the paper's sphere suits them.
const COMPACT: f32 = 2.0;

impl Solid {
    /// The half-space below a plane.
    #[must_use]
    pub fn half_space(normal: Vec3, offset: f32) -> Self {
        Self::Hull { faces: vec![Face { normal, offset, inner: false }], corners: Vec::new() }
    }

    /// A box, centred at the origin.
    #[must_use]
    pub fn cuboid(half: Vec3) -> Self {
        let face =
            |normal: Vec3| Face { normal, offset: (normal * half).dot(normal), inner: false };
        let axes = [Vec3::X, Vec3::Y, Vec3::Z];
        let corner = |i: u32| {
            let sign = |bit: u32| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
            half * Vec3::new(sign(0), sign(1), sign(2))
        };
        Self::Hull {
            faces: axes.iter().flat_map(|&a| [face(a), face(-a)]).collect(),
            corners: (0..8).map(corner).collect(),
        }
    }

    /// The box around it; `None` for a half-space.
    #[must_use]
    pub fn bounds(&self) -> Option<Bounds> {
        match self {
            Self::Round { ends, radius } => {
                let around = Bounds::of(ends)?;
                let r = Vec3::splat(*radius);
                Some(Bounds { min: around.min - r, max: around.max + r })
            }
            Self::Hull { corners, .. } => Bounds::of(corners),
        }
    }

    /// True if it is plain that no point of a box is inside or within `by`, nor would be on the way if the
    /// solid moved by `shift`.
    pub(crate) fn is_beyond(&self, points: &Bounds, shift: Vec3, by: f32) -> bool {
        match self {
            Self::Round { ends: [a, b], radius } => {
                let ends = [*a, *b, *a + shift, *b + shift];
                let by = radius + by;
                Bounds::of(&ends).is_some_and(|around| !around.grown(by).overlaps(points))
            }
            Self::Hull { faces, .. } => {
                let (center, half) = (points.center(), 0.5 * points.size());
                faces.iter().any(|f| {
                    let nearest = f.distance(center) - f.normal.abs().dot(half);
                    nearest > by + f.normal.dot(shift).max(0.0)
                })
            }
        }
    }

    /// True for a point inside or on the surface.
    #[must_use]
    pub fn contains(&self, x: Vec3) -> bool {
        match self {
            Self::Round { ends, radius } => {
                (x - nearest_on_segment(*ends, x)).length_squared() <= radius * radius
            }
            Self::Hull { faces, .. } => faces.iter().all(|f| f.distance(x) <= 0.0),
        }
    }

    /// How far points are outside: their distance, or less, outside a polyhedron; negative inside.
    #[must_use]
    pub(crate) fn gaps<const L: usize>(&self, x: &Lanes<L>) -> Gaps<L> {
        pulp::Arch::new().dispatch(Measure { solid: self, x })
    }

    /// Distance and the way out. Of a point inside, the nearest way that does not go against
    /// `toward` (a unit vector, or zero for any way).
    #[must_use]
    pub fn probe(&self, x: Vec3, toward: Vec3) -> Probe {
        match self {
            Self::Round { ends, radius } => {
                let out = x - nearest_on_segment(*ends, x);
                let length = out.norm();
                let normal = if length > 1e-6 * radius {
                    out / length
                } else if toward == Vec3::ZERO {
                    (ends[1] - ends[0]).any_orthogonal_vector().normalize_or(Vec3::Y)
                } else {
                    toward
                };
                Probe { distance: length - radius, normal }
            }
            Self::Hull { faces, .. } => self.probe_hull(faces, x, toward),
        }
    }

    fn probe_hull(&self, faces: &[Face], x: Vec3, toward: Vec3) -> Probe {
        let (mut outside, mut out) = (f32::NEG_INFINITY, Vec3::ZERO);
        let (mut inside, mut way) = (f32::NEG_INFINITY, Vec3::ZERO);
        for face in faces {
            let distance = face.distance(x);
            outside = outside.max(distance);
            out += distance.max(0.0) * face.normal;
            if !face.inner && face.normal.dot(toward) >= -1e-3 && distance > inside {
                (inside, way) = (distance, face.normal);
            }
        }
        if outside > 0.0 {
            return Probe { distance: outside, normal: out.normalize_or(Vec3::Y) };
        }
        if inside == f32::NEG_INFINITY {
            let normal = toward.normalize_or(Vec3::Y);
            let exit = self.ray(x, normal).map_or(0.0, |s| s[1]);
            return Probe { distance: -exit, normal };
        }
        Probe { distance: inside, normal: way }
    }

    /// The distances along the unit vector `along` at which a ray from `x` enters and leaves, either of
    /// them negative if that is behind `x`; `None` if it passes by.
    #[must_use]
    pub fn ray(&self, x: Vec3, along: Vec3) -> Option<[f32; 2]> {
        let mut lanes = Lanes::<1>::ZERO;
        lanes.set(0, x);
        chords(self, &lanes, along).get(0)
    }

    /// As [`ray`](Self::ray), from many points.
    #[must_use]
    pub(crate) fn rays<const L: usize>(&self, x: &Lanes<L>, along: Vec3) -> Chords<L> {
        pulp::Arch::new().dispatch(Rays { solid: self, x, along })
    }

    /// The region that must move with the solid: the smallest sphere about its centre if it is compact,
    /// otherwise a box, cut down to what `body`, a ball of that radius about a point, can reach.
    #[must_use]
    pub fn region(&self, body: Vec3, reach: f32) -> RoundedBox {
        match self {
            Self::Round { ends, radius } => {
                let [a, b] = *ends;
                let middle = nearest_on_segment(*ends, body);
                let along = (b - a).unit_or_zero();
                let cut = |end: Vec3| (end - middle).clamp_length_max(reach) + middle;
                let (a, b) = (cut(a), cut(b));
                RoundedBox {
                    center: 0.5 * (a + b),
                    rotation: Quat::from_rotation_arc(Vec3::X, along.normalize_or(Vec3::X)),
                    half: 0.5 * (b - a).norm() * Vec3::X,
                    radius: *radius,
                }
            }
            Self::Hull { faces, corners } if corners.is_empty() => {
                let (normal, offset) =
                    faces.first().map_or((Vec3::Y, 0.0), |f| (f.normal, f.offset));
                let top = body + (offset - normal.dot(body)) * normal;
                let deep = 4.0 * reach;
                RoundedBox {
                    center: top - deep * normal,
                    rotation: Quat::from_rotation_arc(Vec3::Y, normal),
                    half: Vec3::new(reach, deep, reach),
                    radius: 0.0,
                }
            }
            Self::Hull { corners, .. } => hull_region(corners, body, reach),
        }
    }
}

/// How far points are outside a solid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gaps<const L: usize> {
    pub(crate) all: [f32; L],
    pub(crate) least: f32,
}

struct Measure<'a, const L: usize> {
    solid: &'a Solid,
    x: &'a Lanes<L>,
}

impl<const L: usize> WithSimd for Measure<'_, L> {
    type Output = Gaps<L>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Gaps<L> {
        let Self { solid, x } = self;
        let mut gaps = [f32::NEG_INFINITY; L];
        match solid {
            Solid::Round { ends: [a, b], radius } => {
                let along = *b - *a;
                let per_square = 1.0 / along.length_squared().max(f32::MIN_POSITIVE);
                for (i, gap) in gaps.iter_mut().enumerate() {
                    let (dx, dy, dz) = (x.x[i] - a.x, x.y[i] - a.y, x.z[i] - a.z);
                    let s = (dx * along.x + dy * along.y + dz * along.z) * per_square;
                    let s = s.clamp(0.0, 1.0);
                    let (ox, oy, oz) = (dx - s * along.x, dy - s * along.y, dz - s * along.z);
                    *gap = (ox * ox + oy * oy + oz * oz).sqrt() - radius;
                }
            }
            Solid::Hull { faces, .. } => {
                for face in faces {
                    let (n, offset) = (face.normal, face.offset);
                    for (i, gap) in gaps.iter_mut().enumerate() {
                        *gap = gap.max(n.x * x.x[i] + n.y * x.y[i] + n.z * x.z[i] - offset);
                    }
                }
            }
        }
        Gaps { all: gaps, least: least(&gaps) }
    }
}

fn nearest_on_segment([a, b]: [Vec3; 2], x: Vec3) -> Vec3 {
    let along = b - a;
    let length = along.length_squared();
    if length == 0.0 {
        return a;
    }
    a + ((x - a).dot(along) / length).clamp(0.0, 1.0) * along
}

/// Where rays enter and leave a solid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chords<const L: usize> {
    /// Not before it leaves if the ray passes by.
    enter: [f32; L],
    leave: [f32; L],
}

struct Rays<'a, const L: usize> {
    solid: &'a Solid,
    x: &'a Lanes<L>,
    along: Vec3,
}

impl<const L: usize> WithSimd for Rays<'_, L> {
    type Output = Chords<L>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Chords<L> {
        chords(self.solid, self.x, self.along)
    }
}

#[inline(always)]
fn chords<const L: usize>(solid: &Solid, x: &Lanes<L>, along: Vec3) -> Chords<L> {
    match solid {
        Solid::Round { ends, radius } => {
            // The pieces overlap and their union is convex: one interval.
            let mut chords = Chords { enter: [f32::INFINITY; L], leave: [f32::NEG_INFINITY; L] };
            chords.join_ball(ends[0], *radius, x, along);
            chords.join_ball(ends[1], *radius, x, along);
            chords.join_tube(*ends, *radius, x, along);
            chords
        }
        Solid::Hull { faces, .. } => {
            let mut chords = Chords { enter: [f32::NEG_INFINITY; L], leave: [f32::INFINITY; L] };
            for face in faces {
                chords.cut(face, x, along);
            }
            chords
        }
    }
}

impl<const L: usize> Chords<L> {
    /// Where the ray of a lane enters and leaves; `None` if it passes by.
    #[inline(always)]
    pub(crate) fn get(&self, lane: usize) -> Option<[f32; 2]> {
        let (enter, leave) = (self.enter[lane], self.leave[lane]);
        (enter < leave).then_some([enter, leave])
    }

    #[inline(always)]
    fn join(&mut self, lane: usize, [enter, leave]: [f32; 2], passes: bool) {
        let (first, last) = (self.enter[lane].min(enter), self.leave[lane].max(leave));
        self.enter[lane] = if passes { first } else { self.enter[lane] };
        self.leave[lane] = if passes { last } else { self.leave[lane] };
    }

    #[inline(always)]
    fn join_ball(&mut self, center: Vec3, radius: f32, x: &Lanes<L>, along: Vec3) {
        for i in 0..L {
            let (dx, dy, dz) = (x.x[i] - center.x, x.y[i] - center.y, x.z[i] - center.z);
            let half = -(dx * along.x + dy * along.y + dz * along.z);
            let (ax, ay, az) = (dx + half * along.x, dy + half * along.y, dz + half * along.z);
            let chord = radius * radius - (ax * ax + ay * ay + az * az);
            let reach = chord.max(0.0).sqrt();
            self.join(i, [half - reach, half + reach], chord > 0.0);
        }
    }

    #[inline(always)]
    fn join_tube(&mut self, ends: [Vec3; 2], radius: f32, x: &Lanes<L>, along: Vec3) {
        let (axis, length) = (ends[1] - ends[0]).normalize_and_length();
        if length == 0.0 {
            return;
        }
        let (from, speed) = (ends[0], along.dot(axis));
        let flat = along - speed * axis;
        let a = flat.length_squared();
        let (is_along, is_across) = (a < 1e-12, speed.abs() < 1e-7);
        let per_a = 1.0 / a.max(1e-12);
        let per_speed = 1.0 / if is_across { 1.0 } else { speed };
        for i in 0..L {
            let (dx, dy, dz) = (x.x[i] - from.x, x.y[i] - from.y, x.z[i] - from.z);
            let height = dx * axis.x + dy * axis.y + dz * axis.z;
            let (fx, fy, fz) = (dx - height * axis.x, dy - height * axis.y, dz - height * axis.z);
            let out = fx * fx + fy * fy + fz * fz - radius * radius;
            let half = -(fx * flat.x + fy * flat.y + fz * flat.z) * per_a;
            let chord = half * half - out * per_a;
            let reach = chord.max(0.0).sqrt();
            let (half, reach) = if is_along { (0.0, f32::INFINITY) } else { (half, reach) };
            let (s, t) = (-height * per_speed, (length - height) * per_speed);
            let (s, t) = if is_across { (f32::NEG_INFINITY, f32::INFINITY) } else { (s, t) };
            let (enter, leave) = ((half - reach).max(s.min(t)), (half + reach).min(s.max(t)));
            let beside = if is_along { out <= 0.0 } else { chord > 0.0 };
            let between = !is_across | ((height >= 0.0) & (height <= length));
            self.join(i, [enter, leave], beside & between & (enter < leave));
        }
    }

    /// Leaves what is behind a face.
    #[inline(always)]
    fn cut(&mut self, face: &Face, x: &Lanes<L>, along: Vec3) {
        let (n, speed) = (face.normal, face.normal.dot(along));
        let per_speed = 1.0 / speed;
        for i in 0..L {
            let distance = n.x * x.x[i] + n.y * x.y[i] + n.z * x.z[i] - face.offset;
            if speed.abs() < 1e-7 {
                let enter = if distance > 0.0 { f32::INFINITY } else { f32::NEG_INFINITY };
                self.enter[i] = self.enter[i].max(enter);
            } else if speed > 0.0 {
                self.leave[i] = self.leave[i].min(-distance * per_speed);
            } else {
                self.enter[i] = self.enter[i].max(-distance * per_speed);
            }
        }
    }
}

/// A sphere for compact hulls; for others the box of least volume among some, cut to the reach.
fn hull_region(corners: &[Vec3], body: Vec3, reach: f32) -> RoundedBox {
    let center = corners.iter().sum::<Vec3>() / corners.len() as f32;
    let rotation = principal_axes(corners, center);
    let inverse = rotation.inverse();
    let local: Vec<Vec3> = corners.iter().map(|&x| inverse * (x - center)).collect();
    let around = Bounds::of(&local).unwrap_or(Bounds { min: Vec3::ZERO, max: Vec3::ZERO });
    let half = 0.5 * around.size();
    let middle = center + rotation * around.center();
    let farthest = corners.iter().map(|&x| x.distance_to(middle)).fold(0.0, f32::max);
    if half.max_element() <= COMPACT * half.min_element() && farthest <= reach {
        return RoundedBox { center: middle, rotation, half: Vec3::ZERO, radius: farthest };
    }
    let at = inverse * (body - middle);
    let (low, high) = ((-half).max(at - reach).min(half), half.min(at + reach).max(-half));
    RoundedBox {
        center: middle + rotation * (0.5 * (low + high)),
        rotation,
        half: 0.5 * (high - low),
        radius: 0.0,
    }
}

/// Axes along which a set of points is longest, by squarings of its covariance.
fn principal_axes(points: &[Vec3], center: Vec3) -> Quat {
    let first = longest_axis(points, center, Vec3::ZERO);
    let second = longest_axis(points, center, first);
    let third = first.cross(second);
    Quat::from_mat3(&glam::Mat3::from_cols(first, second, third)).normalize()
}

/// The direction, at right angles to `without`, in which the points spread most.
fn longest_axis(points: &[Vec3], center: Vec3, without: Vec3) -> Vec3 {
    let flat = |v: Vec3| v - without * without.dot(v);
    let seeds = [Vec3::X, Vec3::Y, Vec3::Z].map(flat);
    let spread = |axis: Vec3| points.iter().map(|&x| (x - center).dot(axis).powi(2)).sum::<f32>();
    let mut axis = seeds
        .into_iter()
        .filter_map(Vec3::try_normalize)
        .fold((f32::NEG_INFINITY, Vec3::X), |best, a| {
            if spread(a) > best.0 * 1.0001 { (spread(a), a) } else { best }
        })
        .1;
    for _ in 0..24 {
        let pulled: Vec3 =
            points.iter().map(|&x| (x - center).dot(axis) * (x - center)).sum::<Vec3>();
        axis = flat(pulled).normalize_or(axis);
    }
    flat(axis).normalize_or(axis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_out_of_a_box_is_its_nearest_face() {
        let solid = Solid::cuboid(Vec3::new(1.0, 2.0, 3.0));
        let probe = solid.probe(Vec3::new(0.9, 0.0, 0.0), Vec3::ZERO);
        assert_eq!(probe.normal, Vec3::X);
        assert!((probe.distance + 0.1).abs() < 1e-6, "{probe:?}");
        let against = solid.probe(Vec3::new(0.9, 0.0, 0.0), -Vec3::X);
        assert_eq!(against.normal, -Vec3::X, "not against the wanted way");
        let corner = solid.probe(Vec3::new(2.0, 3.0, 4.0), Vec3::ZERO);
        assert!(corner.normal.abs_diff_eq(Vec3::ONE.normalize_or_zero(), 1e-6), "{corner:?}");
    }

    #[test]
    fn rays_enter_and_leave_where_the_surface_is() {
        let capsule = Solid::Round { ends: [-Vec3::Y, Vec3::Y], radius: 0.5 };
        assert_eq!(capsule.ray(Vec3::ZERO, Vec3::Y), Some([-1.5, 1.5]));
        assert_eq!(capsule.ray(Vec3::new(-2.0, 0.0, 0.0), Vec3::X), Some([1.5, 2.5]));
        assert_eq!(capsule.ray(Vec3::new(-2.0, 1.6, 0.0), Vec3::X), None);
        let slab = Solid::half_space(Vec3::Y, 1.0);
        assert_eq!(slab.ray(Vec3::ZERO, Vec3::Y), Some([f32::NEG_INFINITY, 1.0]));
        assert_eq!(slab.ray(2.0 * Vec3::Y, Vec3::X), None);
        // Whatever the direction, the ends of the chord are on the surface.
        for solid in [capsule, Solid::cuboid(Vec3::new(0.3, 1.0, 0.2))] {
            for i in 0..40 {
                let a = 0.7 * i as f32;
                let along =
                    Vec3::new(a.sin(), (1.3 * a).cos(), (0.4 * a).sin()).normalize_or_zero();
                let [enter, leave] = solid.ray(Vec3::ZERO, along).unwrap();
                for s in [enter, leave] {
                    let distance = solid.probe(s * along, Vec3::ZERO).distance;
                    assert!(distance.abs() < 1e-5, "{distance} at {s} along {along}");
                }
            }
        }
    }

    #[test]
    fn what_is_beyond_a_solid_is_never_inside() {
        let solids = [
            Solid::Round { ends: [-Vec3::Y, Vec3::Y], radius: 0.5 },
            Solid::cuboid(Vec3::new(0.3, 1.0, 0.2)),
            Solid::half_space(Vec3::new(0.6, 0.8, 0.0), 0.1),
        ];
        let mut beyond = 0;
        for (k, solid) in solids.iter().enumerate() {
            for i in 0..400 {
                let a = 0.7 * i as f32;
                let x = 3.0 * Vec3::new(a.sin(), (1.3 * a).cos(), (0.4 * a).sin());
                let shift = Vec3::new((0.3 * a).cos(), (0.9 * a).sin(), 0.5);
                let points = Bounds { min: x - 0.1, max: x + 0.1 };
                if solid.is_beyond(&points, shift, 0.0) {
                    beyond += 1;
                    let on_the_way = (0..=8).map(|s| x - s as f32 / 8.0 * shift);
                    assert!(on_the_way.into_iter().all(|x| !solid.contains(x)), "{k}, {x}");
                }
            }
        }
        assert!(beyond > 300, "{beyond} are seen to be beyond");
    }

    #[test]
    fn regions_contain_their_solids() {
        let turn = Quat::from_rotation_z(0.5) * Quat::from_rotation_x(0.3);
        let Solid::Hull { corners, .. } = Solid::cuboid(Vec3::new(3.0, 0.2, 1.0)) else {
            unreachable!("a box is a hull")
        };
        let corners: Vec<Vec3> = corners.iter().map(|&x| turn * x).collect();
        let region = hull_region(&corners, Vec3::ZERO, 10.0);
        for x in corners {
            let local = region.rotation.inverse() * (x - region.center);
            let out = local - local.clamp(-region.half, region.half);
            assert!(out.length() <= region.radius + 1e-4, "{local} in {region:?}");
        }
        assert!(region.half.min_element() < 0.3, "a flat part keeps flat: {region:?}");
        let compact = Solid::cuboid(Vec3::ONE).region(Vec3::ZERO, 10.0);
        assert!((compact.radius - 3.0_f32.sqrt()).abs() < 1e-5, "the paper's sphere: {compact:?}");
        let far =
            hull_region(&[-50.0 * Vec3::X, 50.0 * Vec3::X, Vec3::Y, Vec3::Z], Vec3::ZERO, 1.0);
        assert!(far.half.max_element() <= 1.001, "cut to what the body reaches: {far:?}");
    }
}

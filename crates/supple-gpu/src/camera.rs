//! Where a picture is taken from, and how the subject is framed by itself.
//!
//! # Method
//!
//! For a fixed viewing direction a point `p` is inside the picture if it lies on the inner side of
//! the four planes through the eye that bound it. Only the *largest* `n·p` over all points matters
//! for each of the four plane normals `n`, so a [`Framing`] keeps four numbers however many points
//! and frames it has seen, and the eye follows in closed form: the left and right supports meet in
//! one point, the top and bottom supports in another, and the eye stands at the farther of the two.

use glam::{Mat3, Mat4, Quat, Vec3};

/// How far apart things appear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// As an eye or a camera sees.
    Perspective {
        /// Angle from the bottom to the top of the picture, in radians.
        fov_y: f32,
    },
    /// Parallel lines stay parallel.
    Orthographic {
        /// What fits between the bottom and the top of the picture, in scene units.
        height: f32,
    },
}

/// Where a picture is taken from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where the camera stands.
    pub eye: Vec3,
    /// What it looks at; turntables turn about this point.
    pub target: Vec3,
    /// Which way is up in the scene; the floor is perpendicular to it.
    pub up: Vec3,
    /// How far apart things appear.
    pub projection: Projection,
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            eye: Vec3::new(0.0, 0.0, 4.0),
            target: Vec3::ZERO,
            up: Vec3::Y,
            projection: Projection::Perspective { fov_y: DEFAULT_FOV_Y },
        }
    }
}

/// A short telephoto lens (about 55 mm on a full frame): little distortion, some depth.
pub const DEFAULT_FOV_Y: f32 = 0.42;

/// From the subject to the camera when nothing else is asked: a three-quarter view from a little
/// above, in a frame whose z axis is the subject's front and whose y axis is up.
pub const THREE_QUARTER: Vec3 = Vec3::new(0.55, 0.32, 1.0);

impl Camera {
    /// From scene space to the camera's: x right, y up, looking along −z.
    #[must_use]
    pub fn view_from_world(&self) -> Mat4 {
        let (back, up) = (self.back(), self.picture_up());
        glam::camera::rh::view::look_to_mat4(self.eye, -back, up)
    }

    /// The camera of a file: it looks along −z of its own space with y up. `distance` says how far
    /// away the subject is, for turntables.
    #[must_use]
    pub fn from_matrix(world_from_camera: Mat4, projection: Projection, distance: f32) -> Self {
        let eye = world_from_camera.transform_point3(Vec3::ZERO);
        let axis = |v: Vec3| world_from_camera.transform_vector3(v).normalize_or_zero();
        Self { eye, target: eye - distance * axis(Vec3::Z), up: axis(Vec3::Y), projection }
    }

    /// The same camera for a picture of so much width over height: what it sees from top to bottom it
    /// sees from side to side where the picture is taller than wide, so that nothing in the middle is cut
    /// off.
    #[must_use]
    pub fn fitted(&self, aspect: f32) -> Self {
        let narrow = aspect.clamp(1e-3, 1.0);
        let projection = match self.projection {
            Projection::Perspective { fov_y } => {
                Projection::Perspective { fov_y: 2.0 * ((0.5 * fov_y).tan() / narrow).atan() }
            }
            Projection::Orthographic { height } => {
                Projection::Orthographic { height: height / narrow }
            }
        };
        if narrow < 1.0 { Self { projection, ..*self } } else { *self }
    }

    /// Unit vector from the target to the eye.
    #[must_use]
    pub fn back(&self) -> Vec3 {
        (self.eye - self.target).try_normalize().unwrap_or(Vec3::Z)
    }

    /// Unit vector to the right of the picture.
    #[must_use]
    pub fn right(&self) -> Vec3 {
        let back = self.back();
        self.up.cross(back).try_normalize().unwrap_or_else(|| back.any_orthonormal_vector())
    }

    /// Unit vector to the top of the picture.
    #[must_use]
    pub fn picture_up(&self) -> Vec3 {
        self.back().cross(self.right())
    }

    /// The same camera turned by `angle` radians about the scene's up axis through its target.
    #[must_use]
    pub fn turned(&self, angle: f32) -> Self {
        let axis = self.up.try_normalize().unwrap_or(Vec3::Y);
        let turn = Quat::from_axis_angle(axis, angle);
        Self { eye: self.target + turn * (self.eye - self.target), ..*self }
    }

    /// The cameras of a full turn in `frames` equal steps, starting with this one.
    pub fn turntable(&self, frames: u32) -> impl ExactSizeIterator<Item = Self> + use<> {
        let camera = *self;
        (0..frames).map(move |i| camera.turned(std::f32::consts::TAU * i as f32 / frames as f32))
    }

    /// Where a point appears, in pixels from the top left, and its distance along the view; `None`
    /// behind the camera.
    #[must_use]
    pub fn pixel_of(&self, point: Vec3, size: [u32; 2]) -> Option<(glam::Vec2, f32)> {
        let p = self.view_from_world().transform_point3(point);
        let half_height = match self.projection {
            Projection::Perspective { fov_y } => -p.z * (0.5 * fov_y).tan(),
            Projection::Orthographic { height } => 0.5 * height,
        };
        if !(-p.z > 0.0 && half_height > 0.0) {
            return None;
        }
        let [w, h] = size.map(|s| s as f32);
        let scale = 0.5 * h / half_height;
        Some((glam::Vec2::new(0.5 * w + p.x * scale, 0.5 * h - p.y * scale), -p.z))
    }
}

/// Finds the camera that just holds everything it has been shown.
///
/// ```
/// use glam::Vec3;
/// use supple_gpu::camera::Framing;
///
/// let mut framing = Framing::new(Vec3::Z, Vec3::Y, 16.0 / 9.0);
/// framing.add(&[Vec3::new(-1.0, -1.0, 0.0), Vec3::new(1.0, 1.0, 0.0)]);
/// let camera = framing.camera();
/// assert!(camera.eye.z > 2.0 && camera.target.length() < 1e-5);
/// ```
#[derive(Clone, Debug)]
pub struct Framing {
    /// Columns: right, picture-up and back.
    axes: Mat3,
    up: Vec3,
    projection: Lens,
    /// Width over height of the picture.
    aspect: f32,
    /// Share of the picture's half height left free on every side.
    margin: f32,
    /// Share of the picture's width left free at the right.
    room: f32,
    /// The first point shown to it. Everything is measured from there: far from the scene's origin,
    /// coordinates are coarse.
    origin: Option<Vec3>,
    /// Largest `n·p` for the right, left, top and bottom planes.
    supports: [f32; 4],
    /// Smallest and largest coordinate along the axes.
    reach: Option<(Vec3, Vec3)>,
    /// What the subject turns about, if it turns.
    pivot: Option<Vec3>,
}

#[derive(Clone, Copy, Debug)]
enum Lens {
    Perspective(f32),
    Orthographic,
}

impl Framing {
    /// A framing that looks from `direction` (from the subject to the camera) with `up` in the
    /// picture's vertical and `aspect` the width over the height.
    #[must_use]
    pub fn new(direction: Vec3, up: Vec3, aspect: f32) -> Self {
        let guide = Camera { eye: direction, target: Vec3::ZERO, up, ..Camera::default() };
        let axes = Mat3::from_cols(guide.right(), guide.picture_up(), guide.back());
        Self {
            axes,
            up,
            projection: Lens::Perspective(DEFAULT_FOV_Y),
            aspect,
            margin: 0.12,
            room: 0.0,
            origin: None,
            supports: [f32::NEG_INFINITY; 4],
            reach: None,
            pivot: None,
        }
    }

    /// The view nobody asked for: three quarters from the front and a little above. `up` is the
    /// scene's up axis; the front is z where y is up (glTF), and −y where z is up.
    #[must_use]
    pub fn three_quarter(up: Vec3, aspect: f32) -> Self {
        let up = up.try_normalize().unwrap_or(Vec3::Y);
        let front = if up.z.abs() > 0.9 { -Vec3::Y } else { Vec3::Z };
        let side = up.cross(front);
        let d = THREE_QUARTER;
        Self::new(d.x * side + d.y * up + d.z * front, up, aspect)
    }

    /// The same framing through a lens of another angle, in radians. Call before [`Self::add`].
    #[must_use]
    pub fn with_fov(mut self, fov_y: f32) -> Self {
        self.projection = Lens::Perspective(fov_y.clamp(0.01, 3.0));
        self
    }

    /// The same framing without perspective. Call before [`Self::add`].
    #[must_use]
    pub fn orthographic(mut self) -> Self {
        self.projection = Lens::Orthographic;
        self
    }

    /// The same framing with `margin` of the half height left free on every side.
    #[must_use]
    pub fn with_margin(mut self, margin: f32) -> Self {
        self.margin = margin.clamp(0.0, 0.9);
        self
    }

    /// The same framing with `share` of the width left free at the right, for a legend; not for a
    /// turntable. Call before [`Self::add`].
    #[must_use]
    pub fn with_room(mut self, share: f32) -> Self {
        self.room = share.clamp(0.0, 0.8);
        self
    }

    /// The same framing for a subject that turns about the vertical axis through `pivot`, as on a
    /// turntable: it fits at every angle, and the camera's target is on the axis. Call before
    /// [`Self::add`].
    #[must_use]
    pub fn turning_about(mut self, pivot: Vec3) -> Self {
        self.pivot = Some(pivot);
        self
    }

    /// Shows it the points of a body in one frame; points that are not finite are passed over.
    pub fn add(&mut self, points: &[Vec3]) {
        let to_axes = self.axes.transpose();
        for &p in points.iter().filter(|p| p.is_finite()) {
            let origin = *self.origin.get_or_insert(p);
            match self.pivot {
                Some(pivot) => self.add_circle(pivot - origin, p - origin),
                None => self.add_within(to_axes * (p - origin), Vec3::ZERO, 0.0),
            }
        }
    }

    /// The circle a point describes when it turns about the vertical axis through the pivot.
    fn add_circle(&mut self, pivot: Vec3, p: Vec3) {
        let up = self.up.try_normalize().unwrap_or(Vec3::Y);
        let height = (p - pivot).dot(up);
        let radius = (p - pivot - height * up).length();
        let to_axes = self.axes.transpose();
        self.add_within(to_axes * (pivot + height * up), to_axes * up, radius);
    }

    /// Everything on the circle of radius `radius` about `center`, in the plane normal to `axis`; a
    /// point if the radius is zero.
    fn add_within(&mut self, center: Vec3, axis: Vec3, radius: f32) {
        // How far the circle reaches along a vector: the part of the vector in its plane.
        let reach = |n: Vec3| radius * (n - n.dot(axis) * axis).length();
        let normals = self.plane_normals();
        for (support, n) in self.supports.iter_mut().zip(normals) {
            *support = support.max(n.dot(center) + reach(n));
        }
        let extent = Vec3::new(reach(Vec3::X), reach(Vec3::Y), reach(Vec3::Z));
        let (lo, hi) = self.reach.unwrap_or((center, center));
        self.reach = Some((lo.min(center - extent), hi.max(center + extent)));
    }

    /// Outward normals of the right, left, top and bottom planes, in the framing's axes.
    fn plane_normals(&self) -> [Vec3; 4] {
        let [right, left, y] = match self.projection {
            Lens::Perspective(fov_y) => self.sides().map(|side| (0.5 * fov_y).tan() * side),
            Lens::Orthographic => [0.0; 3],
        };
        [
            Vec3::new(1.0, 0.0, right),
            Vec3::new(-1.0, 0.0, left),
            Vec3::new(0.0, 1.0, y),
            Vec3::new(0.0, -1.0, y),
        ]
    }

    /// How far the subject may reach right, left, and up or down of the middle of the picture, in
    /// half heights.
    fn sides(&self) -> [f32; 3] {
        let up = 1.0 - self.margin;
        let across = up * self.aspect;
        [across * (1.0 - 2.0 * self.room), across, up]
    }

    /// Where the line of sight crosses the axis the subject turns about.
    fn on_axis(&self, eye: Vec3) -> Option<Vec3> {
        let (up, back) = (self.up.try_normalize()?, self.axes.z_axis);
        let flat = back - back.dot(up) * up;
        let to_pivot = eye - (self.pivot? - self.origin?);
        // Not from straight above: there the line of sight is the axis.
        let along = to_pivot.dot(flat) / flat.length_squared();
        (flat.length() > 1e-3).then_some(eye - along * back)
    }

    /// The camera that holds everything shown so far; the default camera if that is nothing.
    #[must_use]
    pub fn camera(&self) -> Camera {
        let Some((lo, hi)) = self.reach else { return Camera { up: self.up, ..Camera::default() } };
        let [right, left, top, bottom] = self.supports;
        let [to_right, to_left, to_top] = self.sides();
        let (origin, extent) = (self.origin.unwrap_or_default(), (hi - lo).max_element());
        // A single point is seen from where it can be told from the eye.
        let smallest = 1e-3 * if extent > 0.0 { extent } else { origin.length().max(1.0) };
        // The half height of what is seen at the depth where the supports were taken: what holds the
        // subject across, and what holds it upright.
        let half = ((right + left) / (to_right + to_left)).max((top + bottom) / (2.0 * to_top));
        let (eye_z, half, projection) = match self.projection {
            Lens::Perspective(fov_y) => {
                let t = (0.5 * fov_y).tan();
                let z = (half / t).max(hi.z + smallest);
                (z, z * t, Projection::Perspective { fov_y })
            }
            Lens::Orthographic => {
                let half = half.max(smallest);
                let z = hi.z + (hi - lo).length().max(smallest);
                (z, half, Projection::Orthographic { height: 2.0 * half })
            }
        };
        // In the middle of what is left free.
        let x = 0.5 * ((right - to_right * half) + (to_left * half - left));
        let y = 0.5 * (top - bottom);
        let place = |z: f32| self.axes * Vec3::new(x, y, z);
        let target = self.on_axis(place(eye_z)).unwrap_or_else(|| place(0.5 * (lo.z + hi.z)));
        Camera { eye: origin + place(eye_z), target: origin + target, up: self.up, projection }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corners(lo: Vec3, hi: Vec3) -> Vec<Vec3> {
        (0..8)
            .map(|i| {
                let pick = |axis: usize| if i >> axis & 1 == 0 { lo[axis] } else { hi[axis] };
                Vec3::new(pick(0), pick(1), pick(2))
            })
            .collect()
    }

    /// What a wide picture shows between top and bottom, a tall one shows between its sides.
    #[test]
    fn a_tall_picture_cuts_nothing_off() {
        let lenses =
            [Projection::Perspective { fov_y: 0.7 }, Projection::Orthographic { height: 3.0 }];
        for projection in lenses {
            let camera = Camera { projection, ..Camera::default() };
            let (top, _) = camera.pixel_of(Vec3::new(0.0, 0.9, 0.5), [200, 100]).unwrap();
            let tall = camera.fitted(0.5);
            let (side, _) = tall.pixel_of(Vec3::new(-0.9, 0.0, 0.5), [100, 200]).unwrap();
            assert!((top.y - side.x).abs() < 1e-3, "{top} and {side}");
            assert_eq!(camera.fitted(2.0), camera);
        }
    }

    /// Every point is inside, and the tightest ones touch the margin.
    #[test]
    fn framing_is_tight() {
        let points = corners(Vec3::new(-3.0, 1.0, 2.0), Vec3::new(1.0, 2.5, 9.0));
        for framing in [
            Framing::three_quarter(Vec3::Y, 1.5),
            Framing::three_quarter(Vec3::Z, 0.7).orthographic(),
            Framing::new(Vec3::new(0.1, 1.0, 0.0), Vec3::Y, 1.0).with_fov(1.2),
        ] {
            let mut framing = framing.with_margin(0.1);
            framing.add(&points);
            let (w, h) = (framing.aspect * 1000.0, 1000.0);
            let camera = framing.camera();
            let mut reach = glam::Vec2::ZERO;
            for &p in &points {
                let (pixel, _) = camera.pixel_of(p, [w as u32, h as u32]).unwrap();
                reach = reach.max((pixel / glam::Vec2::new(0.5 * w, 0.5 * h) - 1.0).abs());
            }
            let tight = reach.max_element();
            assert!((tight - 0.9).abs() < 2e-3, "reaches {tight} of the half picture");
        }
    }

    /// Room for a legend stays free, and no more than that.
    #[test]
    fn framing_leaves_room() {
        let points = corners(Vec3::new(-3.0, 1.0, 2.0), Vec3::new(1.0, 2.5, 9.0));
        for framing in [
            Framing::three_quarter(Vec3::Y, 1.2),
            Framing::new(Vec3::Z, Vec3::Y, 1.2).orthographic(),
        ] {
            let mut framing = framing.with_margin(0.0).with_room(0.25);
            framing.add(&points);
            let camera = framing.camera();
            let xs = points.iter().map(|&p| camera.pixel_of(p, [1200, 1000]).unwrap().0.x);
            let (lo, hi) = xs.fold((f32::MAX, f32::MIN), |(l, h), x| (l.min(x), h.max(x)));
            assert!((hi - 900.0).abs() < 3.0 && lo.abs() < 3.0, "from {lo} to {hi}");
        }
    }

    /// On a turntable the subject fits at every angle, and at some angle just so.
    #[test]
    fn framing_for_a_turntable_fits_all_around() {
        let points = corners(Vec3::new(-3.0, 1.0, 2.0), Vec3::new(1.0, 2.5, 9.0));
        let pivot = Vec3::new(-1.0, 0.0, 5.5);
        let mut framing =
            Framing::three_quarter(Vec3::Y, 1.5).with_margin(0.1).turning_about(pivot);
        framing.add(&points);
        let camera = framing.camera();
        assert!((camera.target - pivot).with_y(0.0).length() < 1e-3, "target {}", camera.target);
        let mut tight = 0.0_f32;
        for turned in camera.turntable(90) {
            for &p in &points {
                let (pixel, _) = turned.pixel_of(p, [1500, 1000]).unwrap();
                tight =
                    tight.max((pixel / glam::Vec2::new(750.0, 500.0) - 1.0).abs().max_element());
            }
        }
        assert!(tight < 0.901 && tight > 0.88, "reaches {tight} of the half picture");
    }

    #[test]
    fn a_camera_of_a_file_looks_along_its_axis() {
        let matrix = Mat4::from_rotation_translation(Quat::from_rotation_y(1.0), Vec3::ONE);
        let lens = Projection::Perspective { fov_y: 0.5 };
        let camera = Camera::from_matrix(matrix, lens, 2.0);
        assert!(camera.view_from_world().abs_diff_eq(matrix.inverse(), 1e-5), "{camera:?}");
    }

    #[test]
    fn nothing_to_frame_gives_a_camera() {
        assert!(Framing::three_quarter(Vec3::Y, 1.0).camera().eye.is_finite(), "a default camera");
        let mut one = Framing::three_quarter(Vec3::Y, 1.0);
        one.add(&[Vec3::ONE, Vec3::NAN]);
        let camera = one.camera();
        assert!(camera.eye.is_finite() && camera.eye != camera.target, "{camera:?}");
    }

    #[test]
    fn a_turntable_comes_back() {
        let camera = Camera { eye: Vec3::new(1.0, 2.0, 3.0), ..Camera::default() };
        let all: Vec<_> = camera.turntable(4).collect();
        assert!(all[2].eye.abs_diff_eq(Vec3::new(-1.0, 2.0, -3.0), 1e-5), "{}", all[2].eye);
        assert!(
            camera.turned(std::f32::consts::TAU).eye.abs_diff_eq(camera.eye, 1e-5),
            "full turn"
        );
    }
}

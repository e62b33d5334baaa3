//! What is in a picture: plain data, no GPU.
//!
//! ```
//! use supple::TriMesh;
//! use supple_gpu::camera::Framing;
//! use supple_gpu::view::{Body, Scalars, View};
//!
//! let mesh = TriMesh::default();
//! let heights: Vec<f32> = mesh.positions.iter().map(|p| p.y).collect();
//! let body = Body { field: Some(Scalars::new("height", &heights)), ..Body::new(&mesh) };
//! let view = View::of(vec![body], [1280, 720]);
//! assert!(view.camera.eye.is_finite());
//! ```

use std::sync::Arc;

use glam::{Mat4, Vec3};
use supple::TriMesh;
use supple::asset::Alpha;
use supple::mesh::measure::Bounds;

use crate::camera::{Camera, Framing};
use crate::colormap::Colormap;
use crate::overlay::Overlay;
use crate::texture::Texture;

/// A picture to be taken.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Where it is taken from.
    pub camera: Camera,
    /// What is in it.
    pub bodies: Vec<Body<'a>>,
    /// What is drawn over it: curves, dots, springs, skeletons.
    pub overlays: Vec<Overlay>,
    /// Words over everything.
    pub labels: Vec<Label>,
    /// What stands behind and below.
    pub backdrop: Backdrop,
    /// What the bodies fill over all frames; `None` takes this frame's. Set it for an animation, so
    /// that the floor and the softness of the light stay as they are.
    pub stage: Option<Bounds>,
    /// Which way is up in the scene: there the floor lies level and the light comes from above.
    /// `None` takes the camera's, which is right unless it is held at a slant.
    pub up: Option<Vec3>,
    /// Where the floor is along the scene's up axis; `None` puts it under the lowest point of the
    /// stage.
    pub floor: Option<f32>,
}

impl<'a> View<'a> {
    /// The bodies in a three-quarter view with y up, framed by themselves.
    #[must_use]
    pub fn of(bodies: Vec<Body<'a>>, size: [u32; 2]) -> Self {
        let framing = Framing::three_quarter(Vec3::Y, aspect(size));
        Self::framed(bodies, Vec::new(), framing, size)
    }

    /// The bodies and overlays in a framing that has not seen them yet: they are shown to it. A legend
    /// gets room at the right.
    #[must_use]
    pub fn framed(
        bodies: Vec<Body<'a>>,
        overlays: Vec<Overlay>,
        framing: Framing,
        size: [u32; 2],
    ) -> Self {
        let legend = bodies.iter().any(|b| b.field.as_ref().is_some_and(|f| f.legend));
        let mut framing = if legend { framing.with_room(legend_room(size)) } else { framing };
        for body in &bodies {
            framing.add(&body.placed());
        }
        for overlay in &overlays {
            framing.add(&overlay.points());
        }
        Self { bodies, overlays, ..Self::through(framing.camera(), size) }
    }

    /// An empty picture from a given camera.
    #[must_use]
    pub fn through(camera: Camera, size: [u32; 2]) -> Self {
        Self {
            size,
            camera,
            bodies: Vec::new(),
            overlays: Vec::new(),
            labels: Vec::new(),
            backdrop: Backdrop::default(),
            stage: None,
            up: None,
            floor: None,
        }
    }

    /// The same picture of a scene moved to the origin, if it is so far away that coordinates are too
    /// coarse to light it there.
    pub(crate) fn moved_near(&self) -> Option<Self> {
        let boxes = self.bodies.iter().filter_map(|body| Bounds::of(&body.placed()));
        let filled = self.stage.or_else(|| boxes.reduce(|a, b| a.union(&b)))?;
        let center = 0.5 * (filled.min + filled.max);
        if center.abs().max_element() < FAR_REL_SIZE * filled.diagonal() {
            return None;
        }
        let mut view = self.clone();
        view.camera.eye -= center;
        view.camera.target -= center;
        for body in &mut view.bodies {
            body.transform = Mat4::from_translation(-center) * body.transform;
        }
        for overlay in &mut view.overlays {
            overlay.for_each_point(|p| *p -= center);
        }
        view.stage = self.stage.map(|b| Bounds { min: b.min - center, max: b.max - center });
        let up = crate::frame::up_of(self);
        let off = center.as_dvec3().dot(up.as_dvec3());
        view.floor = self.floor.map(|height| (f64::from(height) - off) as f32);
        Some(view)
    }
}

/// A scene is far away if its distance from the origin is more than this multiple of its size.
const FAR_REL_SIZE: f32 = 100.0;

/// Width over height; 1 for an empty picture.
#[must_use]
pub fn aspect(size: [u32; 2]) -> f32 {
    if size[0] == 0 || size[1] == 0 { 1.0 } else { size[0] as f32 / size[1] as f32 }
}

/// Share of the width that a legend takes, for [`Framing::with_room`].
#[must_use]
pub fn legend_room(size: [u32; 2]) -> f32 {
    0.15 / aspect(size)
}

/// What stands behind and below.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Backdrop {
    /// A light studio: the floor takes shadows and fades into the background without a horizon.
    #[default]
    Studio,
    /// The studio with a wall close behind the subject that takes shadows too.
    Wall,
    /// The same background without a floor.
    Plain,
    /// Nothing: the picture is transparent except for the subject and its shadow on the floor.
    Clear,
    /// A dark background without a floor: for white smoke.
    Dark,
}

/// A mesh in a picture.
#[derive(Clone, Debug)]
pub struct Body<'a> {
    /// Triangles, attributes (`color`, `uv`, `normal`), corner attributes and groups.
    pub mesh: &'a TriMesh,
    /// Where the vertices are in this frame, if not where the mesh has them.
    pub positions: Option<&'a [Vec3]>,
    /// Normals of this frame, one a vertex; computed if absent.
    pub normals: Option<&'a [Vec3]>,
    /// From the mesh's space to the scene's.
    pub transform: Mat4,
    /// Where normals come from.
    pub shading: NormalSource,
    /// What the groups' materials index; a missing one is `paint`.
    pub paints: Vec<Paint>,
    /// How triangles without a material look.
    pub paint: Paint,
    /// Colours by a number a vertex, in place of the paint's colour.
    pub field: Option<Scalars<'a>>,
    /// Draws the edges of the triangles.
    pub wireframe: Option<Wireframe>,
    /// 1 for what its paint says, less to see through it.
    pub opacity: f32,
}

impl<'a> Body<'a> {
    /// A mesh as it is, in a neutral paint.
    #[must_use]
    pub fn new(mesh: &'a TriMesh) -> Self {
        Self {
            mesh,
            positions: None,
            normals: None,
            transform: Mat4::IDENTITY,
            shading: NormalSource::default(),
            paints: Vec::new(),
            paint: Paint::default(),
            field: None,
            wireframe: None,
            opacity: 1.0,
        }
    }

    /// Where the vertices are in this frame, in the mesh's space.
    #[must_use]
    pub fn frame_positions(&self) -> &'a [Vec3] {
        self.positions.unwrap_or(&self.mesh.positions)
    }

    /// Where the vertices are in this frame, in the scene.
    #[must_use]
    pub fn placed(&self) -> Vec<Vec3> {
        self.frame_positions().iter().map(|&p| self.transform.transform_point3(p)).collect()
    }
}

/// Where normals come from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum NormalSource {
    /// The normals given with the frame, else those of the file if the positions are the file's,
    /// else smooth with creases at edges sharper than [`DEFAULT_CREASE`].
    #[default]
    Auto,
    /// Smooth everywhere.
    Smooth,
    /// Smooth except across edges where the triangles meet at about this angle or more, in radians.
    Crease(f32),
    /// One normal a triangle.
    Flat,
}

/// Edges sharper than this are creases, in radians (80°): a box has them, a scanned animal has none
/// but at the rims of its ears.
pub const DEFAULT_CREASE: f32 = 1.4;

/// How a surface looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Paint {
    /// Linear RGBA.
    pub color: [f32; 4],
    /// Multiplied with `color`; uses the attribute `uv`.
    pub texture: Option<Arc<Texture>>,
    /// 0 for a dielectric, 1 for a metal.
    pub metallic: f32,
    /// 0 for a mirror, 1 for chalk.
    pub roughness: f32,
    /// What the alpha of the colour means.
    pub alpha: Alpha,
    /// Smoke: light is scattered to all sides, without gloss. How much is seen follows from the attributes of the
    /// mesh, see [`Paint::smoke`].
    pub smoke: bool,
}

impl Default for Paint {
    fn default() -> Self {
        Self {
            color: [0.56, 0.53, 0.50, 1.0],
            texture: None,
            metallic: 0.0,
            roughness: 0.55,
            alpha: Alpha::Opaque,
            smoke: false,
        }
    }
}

impl Paint {
    /// Smoke of a colour, linear RGB.
    ///
    /// The vertex attribute `density` is its opacity seen face on; at a slant the way through it is longer,
    /// `1 − (1 − density)^(1/|cos γ|)`. That is then multiplied with what hides it, the attributes `shape`, `curvature` and
    /// `fade`. A mesh without `density` takes the alpha of its colours.
    #[must_use]
    pub fn smoke([r, g, b]: [f32; 3]) -> Self {
        Self { color: [r, g, b, 1.0], alpha: Alpha::Blend, smoke: true, ..Self::default() }
    }

    /// The default surface in another colour, sRGB as in a colour picker.
    #[must_use]
    pub fn srgb(r: u8, g: u8, b: u8) -> Self {
        let [r, g, b] = [r, g, b].map(crate::colormap::linear_from_srgb);
        Self { color: [r, g, b, 1.0], ..Self::default() }
    }

    /// The `i`-th of a few colours that go well together, for scenes of several bodies.
    #[must_use]
    pub fn palette(i: usize) -> Self {
        let colors = [
            [205, 200, 194],
            [120, 160, 196],
            [214, 152, 108],
            [140, 178, 140],
            [196, 130, 140],
            [166, 148, 196],
            [210, 190, 120],
        ];
        let [r, g, b] = colors[i % colors.len()];
        Self::srgb(r, g, b)
    }
}

/// A number a vertex, shown as colour.
#[derive(Clone, Debug)]
pub struct Scalars<'a> {
    /// What the legend calls it.
    pub name: String,
    /// One number a vertex; what is not finite is drawn grey.
    pub values: &'a [f32],
    /// The values at the ends of the colour map; `None` takes them from the values. Set it for an
    /// animation, so that colours keep their meaning.
    pub range: Option<[f32; 2]>,
    /// The colours; `None` takes a diverging map about zero if the range has both signs.
    pub colormap: Option<Colormap>,
    /// Lines of equal value; at most [`MAX_CONTOURS`] are drawn.
    pub contours: Vec<Contour>,
    /// Whether the picture explains the colours.
    pub legend: bool,
}

/// How many lines of equal value a field can have.
pub const MAX_CONTOURS: usize = 8;

/// A line of equal value on a surface, such as the boundary of a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contour {
    /// At which value.
    pub value: f32,
    /// Linear RGB.
    pub color: [f32; 3],
    /// Width in pixels.
    pub width_px: f32,
}

impl<'a> Scalars<'a> {
    /// A field over its own range, with a legend.
    #[must_use]
    pub fn new(name: impl Into<String>, values: &'a [f32]) -> Self {
        Self {
            name: name.into(),
            values,
            range: None,
            colormap: None,
            contours: Vec::new(),
            legend: true,
        }
    }

    /// The values at the ends of the colour map: as set, or from the values, symmetric about zero
    /// if they have both signs. Never empty.
    #[must_use]
    pub fn shown_range(&self) -> [f32; 2] {
        self.range.map_or_else(|| range_of(self.values), |[lo, hi]| widened(lo, hi))
    }

    /// The colours: as set, or diverging if the range is symmetric about zero.
    #[must_use]
    pub fn shown_colormap(&self) -> Colormap {
        let [lo, hi] = self.shown_range();
        let signed = lo < 0.0 && hi > 0.0 && (lo + hi).abs() <= 1e-3 * (hi - lo);
        self.colormap.unwrap_or(if signed { Colormap::Diverging } else { Colormap::Sequential })
    }
}

/// The range a field over `values` is shown in: smallest to largest finite value, symmetric about
/// zero if both signs occur to a fair part.
#[must_use]
pub fn range_of(values: &[f32]) -> [f32; 2] {
    let finite = values.iter().copied().filter(|v| v.is_finite());
    let (lo, hi) =
        finite.fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if lo > hi {
        return [0.0, 1.0];
    }
    let both_signs = lo < 0.0 && hi > 0.0 && (-lo).min(hi) > 0.05 * (-lo).max(hi);
    if both_signs {
        let reach = hi.max(-lo);
        return [-reach, reach];
    }
    widened(lo, hi)
}

fn widened(lo: f32, hi: f32) -> [f32; 2] {
    let wide = hi - lo > 1e-6 * lo.abs().max(hi.abs());
    if wide { [lo, hi] } else { [lo, lo + lo.abs().max(1e-6) * 1e-3] }
}

/// The edges of the triangles, drawn on the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wireframe {
    /// Linear RGB.
    pub color: [f32; 3],
    /// Width in pixels.
    pub width_px: f32,
    /// 1 for solid lines.
    pub opacity: f32,
}

impl Default for Wireframe {
    fn default() -> Self {
        Self { color: [0.01, 0.012, 0.02], width_px: 1.1, opacity: 0.75 }
    }
}

/// Words in a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// What it says; may have several lines.
    pub text: String,
    /// Where it stands.
    pub place: LabelPlace,
    /// Height of the letters, in pixels; `None` takes a size that suits the picture.
    pub size_px: Option<f32>,
}

/// Where a label stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LabelPlace {
    /// In a corner or in the middle of an edge of the picture.
    Edge(Edge),
    /// Beside a point of the scene.
    At(Vec3),
}

/// A place at the edge of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Top left.
    TopLeft,
    /// Top middle.
    Top,
    /// Top right.
    TopRight,
    /// Bottom left.
    BottomLeft,
    /// Bottom middle.
    Bottom,
    /// Bottom right.
    BottomRight,
}

impl Label {
    /// Words at an edge of the picture.
    #[must_use]
    pub fn edge(edge: Edge, text: impl Into<String>) -> Self {
        Self { text: text.into(), place: LabelPlace::Edge(edge), size_px: None }
    }

    /// Words beside a point of the scene.
    #[must_use]
    pub fn at(point: Vec3, text: impl Into<String>) -> Self {
        Self { text: text.into(), place: LabelPlace::At(point), size_px: None }
    }
}

//! Colliders: what bodies must not enter, as convex solids.
//!
//! # Method
//!
//! A collider is a list of convex [`Solid`]s: a sphere, capsule, box or half-space as it is, a convex hull
//! of a mesh, or a closed mesh split into convex parts by volumetric decomposition. Solids answer three
//! questions: how deep is a point inside and which way is out ([`Solid::probe`]), where does a ray pass
//! through ([`Solid::ray`]), and which simple region contains it ([`Solid::region`]). Faces between two
//! parts of one collider are marked, since nothing can leave through them.
//!
//! # Limits
//!
//! The parts of a split mesh may stand out of it by about a voxel, 1/64 of its longest edge. Hulls and
//! splitting need the feature `rigid`.
//!
//! # References
//!
//! - K. Mamou, F. Ghorbel. A Simple and Efficient Approach for 3D Mesh Approximate Convex
//!   Decomposition. IEEE International Conference on Image Processing, 2009.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::contact::collider::{Collider, ColliderShape};
//!
//! let wall = Collider::new("wall", &ColliderShape::Box { size: [4.0, 2.0, 0.1] }, None, Vec3::ONE)?;
//! let probe = wall.parts[0].probe(Vec3::new(0.0, 0.0, 0.04), Vec3::ZERO);
//! assert_eq!(probe.normal, Vec3::Z);
//! # Ok::<(), supple::contact::collider::ColliderError>(())
//! ```

#[cfg(feature = "rigid")]
pub mod convex;
mod shapes;
mod solid;

use glam::{Affine3A, DAffine3, Mat3, Quat, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use solid::Gaps;
pub use solid::{Face, Probe, RoundedBox, Solid};

use crate::Run;
use crate::lanes::Lanes;
use crate::mesh::TriMesh;
use crate::mesh::adjacency::{coincident, renamed, topology};
use crate::mesh::measure::Bounds;

/// What a collider looks like, in its own space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ColliderShape {
    /// A sphere about the origin.
    Sphere {
        /// In scene units.
        #[schemars(range(min = 1e-6, max = 1e6), extend("unit" = "m"))]
        radius: f64,
    },
    /// A capsule along y, about the origin.
    Capsule {
        /// In scene units.
        #[schemars(range(min = 1e-6, max = 1e6), extend("unit" = "m"))]
        radius: f64,
        /// From the middle of one end to the middle of the other.
        #[schemars(range(min = 1e-6, max = 1e6), extend("unit" = "m"))]
        length: f64,
    },
    /// A box about the origin.
    Box {
        /// Its edges along x, y and z.
        #[schemars(inner(range(min = 1e-6, max = 1e6)), extend("unit" = "m"))]
        size: [f64; 3],
    },
    /// A ring about y, around the origin, of short capsules.
    Ring {
        /// From the origin to the middle of the ring's tube.
        #[schemars(range(min = 1e-6, max = 1e6), extend("unit" = "m"))]
        radius: f64,
        /// The radius of the tube: less than `radius`.
        #[schemars(range(min = 1e-6, max = 1e6), extend("unit" = "m"))]
        thickness: f64,
    },
    /// All below the plane through the origin with the normal y: a floor without end.
    Plane,
    /// The convex hull of a mesh.
    Convex,
    /// A closed mesh, split into convex parts.
    Mesh {
        /// At most so many. More follow the shape more closely and cost more.
        #[serde(default = "parts")]
        #[schemars(range(min = 1, max = 256))]
        parts: u32,
    },
}

fn parts() -> u32 {
    16
}

/// Why a shape cannot be a collider.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ColliderError {
    /// A measure is zero, negative or not finite.
    #[error("collider '{name}': its {what} is {value}; a number above 0 is needed")]
    Size {
        /// Which collider.
        name: String,
        /// Which measure.
        what: &'static str,
        /// What it is.
        value: f64,
    },
    /// A ring without a hole.
    #[error("collider '{name}': a ring of radius {radius} and thickness {thickness} has no hole")]
    NoHole {
        /// Which collider.
        name: String,
        /// Its radius.
        radius: f32,
        /// The radius of its tube.
        thickness: f32,
    },
    /// A round shape is stretched.
    #[error(
        "collider '{name}' is round and cannot be scaled by {scale}; use one factor for all axes, or a \
         mesh"
    )]
    Stretched {
        /// Which collider.
        name: String,
        /// How it is scaled.
        scale: Vec3,
    },
    /// A mesh without an inside.
    #[error(
        "collider '{name}': its mesh is open ({edges} border edges): close it, or use kind = \"convex\""
    )]
    Open {
        /// Which collider.
        name: String,
        /// How many edges have only one triangle.
        edges: usize,
    },
    /// A vertex is not finite.
    #[error("collider '{name}': vertex {vertex} is not finite")]
    NotFinite {
        /// Which collider.
        name: String,
        /// Which vertex.
        vertex: usize,
    },
    /// The mesh is flat or empty.
    #[error("collider '{name}': its mesh encloses no volume")]
    Flat {
        /// Which collider.
        name: String,
    },
    /// A shape that needs a mesh has none.
    #[error("collider '{name}' needs a mesh: give it file = \"…\" or zoo = \"…\"")]
    NoMesh {
        /// Which collider.
        name: String,
    },
    /// This build has no convex hulls.
    #[error("collider '{name}': meshes as colliders need the feature 'rigid'")]
    NoHulls {
        /// Which collider.
        name: String,
    },
}

/// A collider, ready to be asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// What reports call it.
    pub name: String,
    /// Its convex parts.
    pub parts: Vec<Solid>,
    /// What to draw.
    pub mesh: TriMesh,
    /// Diagonal of its bounding box; `None` if it has no end.
    pub size: Option<f32>,
}

impl Collider {
    /// Builds a collider, scaled; `mesh` is for the shapes that need one.
    ///
    /// # Errors
    ///
    /// [`ColliderError`] if it would have no inside.
    pub fn new(
        name: &str,
        shape: &ColliderShape,
        mesh: Option<&TriMesh>,
        scale: Vec3,
    ) -> Result<Self, ColliderError> {
        let builder = Builder { name, scale };
        let (parts, mesh) = match *shape {
            ColliderShape::Sphere { radius } => {
                let radius = builder.round("radius", radius)?;
                (vec![Solid::Round { ends: [Vec3::ZERO; 2], radius }], shapes::capsule(radius, 0.0))
            }
            ColliderShape::Capsule { radius, length } => {
                let radius = builder.round("radius", radius)?;
                let half = 0.5 * builder.round("length", length)?;
                let solid = Solid::Round { ends: [-half * Vec3::Y, half * Vec3::Y], radius };
                (vec![solid], shapes::capsule(radius, half))
            }
            ColliderShape::Box { size } => {
                let mut half = Vec3::ZERO;
                for (axis, edge) in size.into_iter().enumerate() {
                    half[axis] = 0.5 * builder.measure("size", edge)? * scale[axis].abs();
                }
                (vec![Solid::cuboid(half)], shapes::cuboid(half))
            }
            ColliderShape::Ring { radius, thickness } => builder.ring(radius, thickness)?,
            ColliderShape::Plane => (vec![Solid::half_space(Vec3::Y, 0.0)], shapes::plane()),
            ColliderShape::Convex => builder.convex(mesh)?,
            ColliderShape::Mesh { parts } => builder.split(mesh, parts)?,
        };
        let bounds: Option<Vec<Bounds>> = parts.iter().map(Solid::bounds).collect();
        let size = bounds.and_then(|b| b.into_iter().reduce(|a, b| a.union(&b)));
        Ok(Self { name: name.to_owned(), parts, mesh, size: size.map(|b| b.diagonal()) })
    }
}

struct Builder<'a> {
    name: &'a str,
    scale: Vec3,
}

impl Builder<'_> {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn measure(&self, what: &'static str, value: f64) -> Result<f32, ColliderError> {
        let usable = value.is_finite() && value > 1e-9 && value < 1e9;
        let wrong = || ColliderError::Size { name: self.name(), what, value };
        usable.then_some(value as f32).ok_or_else(wrong)
    }

    /// A measure of something round, scaled.
    fn round(&self, what: &'static str, value: f64) -> Result<f32, ColliderError> {
        let scale = self.scale.abs();
        if scale.max_element() - scale.min_element() > 1e-5 * scale.max_element() {
            return Err(ColliderError::Stretched { name: self.name(), scale: self.scale });
        }
        Ok(self.measure(what, value)? * scale.x)
    }

    fn ring(&self, radius: f64, thickness: f64) -> Result<(Vec<Solid>, TriMesh), ColliderError> {
        let radius = self.round("radius", radius)?;
        let thickness = self.round("thickness", thickness)?;
        if thickness >= radius {
            return Err(ColliderError::NoHole { name: self.name(), radius, thickness });
        }
        let corners = shapes::circle(radius);
        let next = corners.iter().cycle().skip(1);
        let solid = |(a, b): (&Vec3, &Vec3)| Solid::Round { ends: [*a, *b], radius: thickness };
        Ok((corners.iter().zip(next).map(solid).collect(), shapes::ring(&corners, thickness)))
    }

    /// The mesh, scaled and checked.
    fn mesh(&self, mesh: Option<&TriMesh>) -> Result<TriMesh, ColliderError> {
        let mesh = mesh.ok_or_else(|| ColliderError::NoMesh { name: self.name() })?;
        if let Some(vertex) = mesh.positions.iter().position(|x| !x.is_finite()) {
            return Err(ColliderError::NotFinite { name: self.name(), vertex });
        }
        let mut triangles = renamed(&mesh.triangles, &coincident(&mesh.positions));
        if self.scale.element_product() < 0.0 {
            triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        let positions = mesh.positions.iter().map(|x| *x * self.scale).collect();
        Ok(TriMesh::new(positions, triangles))
    }

    #[cfg(feature = "rigid")]
    fn convex(&self, mesh: Option<&TriMesh>) -> Result<(Vec<Solid>, TriMesh), ColliderError> {
        let mesh = self.mesh(mesh)?;
        let flat = || ColliderError::Flat { name: self.name() };
        let (corners, triangles) = convex::hull_mesh(&mesh.positions).ok_or_else(flat)?;
        let solid = convex::hull(&corners).ok_or_else(flat)?;
        Ok((vec![solid], TriMesh::new(corners, triangles)))
    }

    #[cfg(feature = "rigid")]
    fn split(
        &self,
        mesh: Option<&TriMesh>,
        parts: u32,
    ) -> Result<(Vec<Solid>, TriMesh), ColliderError> {
        let mesh = self.mesh(mesh)?;
        let edges = topology(mesh.positions.len(), &mesh.triangles, &Run::default()).boundary_edges;
        if edges > 0 {
            return Err(ColliderError::Open { name: self.name(), edges });
        }
        if convex::hull_mesh(&mesh.positions).is_none() {
            return Err(ColliderError::Flat { name: self.name() });
        }
        let solids = convex::split(&mesh, parts);
        if solids.is_empty() {
            return Err(ColliderError::Flat { name: self.name() });
        }
        Ok((solids, mesh))
    }

    #[cfg(not(feature = "rigid"))]
    fn convex(&self, mesh: Option<&TriMesh>) -> Result<(Vec<Solid>, TriMesh), ColliderError> {
        self.mesh(mesh)?;
        Err(ColliderError::NoHulls { name: self.name() })
    }

    #[cfg(not(feature = "rigid"))]
    fn split(
        &self,
        mesh: Option<&TriMesh>,
        _parts: u32,
    ) -> Result<(Vec<Solid>, TriMesh), ColliderError> {
        let mesh = self.mesh(mesh)?;
        let edges = topology(mesh.positions.len(), &mesh.triangles, &Run::default()).boundary_edges;
        if edges > 0 {
            return Err(ColliderError::Open { name: self.name(), edges });
        }
        Err(ColliderError::NoHulls { name: self.name() })
    }
}

/// Where a rigid thing is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Isometry {
    /// How it is turned; a unit quaternion.
    pub rotation: Quat,
    /// Where its origin is.
    pub translation: Vec3,
}

impl Default for Isometry {
    fn default() -> Self {
        Self { rotation: Quat::IDENTITY, translation: Vec3::ZERO }
    }
}

impl Isometry {
    /// The rotation and translation of an affine map; its scale is lost.
    #[must_use]
    pub fn of(affine: &DAffine3) -> Self {
        let (_, rotation, translation) = affine.to_scale_rotation_translation();
        Self { rotation: rotation.as_quat().normalize(), translation: translation.as_vec3() }
    }

    /// From its own space to the world.
    #[must_use]
    pub fn to_world(self, x: Vec3) -> Vec3 {
        self.rotation * x + self.translation
    }

    /// From the world to its own space.
    #[must_use]
    pub fn to_local(self, x: Vec3) -> Vec3 {
        self.rotation.inverse() * (x - self.translation)
    }

    /// Itself, then `next`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        Self {
            rotation: (next.rotation * self.rotation).normalize(),
            translation: next.to_world(self.translation),
        }
    }

    /// The way back.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.inverse();
        Self { rotation, translation: -(rotation * self.translation) }
    }

    /// Its own space, for many points.
    pub(crate) fn frame(&self) -> Frame {
        Frame { turn: Mat3::from_quat(self.rotation.inverse()), origin: self.translation }
    }

    /// As a matrix.
    #[must_use]
    pub fn affine(&self) -> Affine3A {
        Affine3A::from_rotation_translation(self.rotation, self.translation)
    }

    /// The box around a box that is carried along.
    #[must_use]
    pub fn bounds(&self, b: &Bounds) -> Bounds {
        let center = self.to_world(b.center());
        let half = 0.5 * b.size();
        let m = Mat3::from_quat(self.rotation);
        let around = m.x_axis.abs() * half.x + m.y_axis.abs() * half.y + m.z_axis.abs() * half.z;
        Bounds { min: center - around, max: center + around }
    }
}

/// The space of an [`Isometry`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    turn: Mat3,
    origin: Vec3,
}

impl Frame {
    /// A direction of the world in this space.
    pub(crate) fn turned(&self, direction: Vec3) -> Vec3 {
        self.turn * direction
    }

    /// A point of the world in this space.
    pub(crate) fn to_local(self, x: Vec3) -> Vec3 {
        self.turn * (x - self.origin)
    }

    /// Points of the world in this space.
    #[inline(always)]
    pub(crate) fn lanes<const L: usize>(&self, x: &Lanes<L>) -> Lanes<L> {
        let (a, b, c, from) = (self.turn.x_axis, self.turn.y_axis, self.turn.z_axis, self.origin);
        let mut local = Lanes::ZERO;
        for i in 0..L {
            let (dx, dy, dz) = (x.x[i] - from.x, x.y[i] - from.y, x.z[i] - from.z);
            local.x[i] = a.x * dx + b.x * dy + c.x * dz;
            local.y[i] = a.y * dx + b.y * dy + c.y * dz;
            local.z[i] = a.z * dx + b.z * dy + c.z * dz;
        }
        local
    }

    /// The box around a box of the world.
    pub(crate) fn bounds(&self, b: &Bounds) -> Bounds {
        let (center, half) = (self.to_local(b.center()), 0.5 * b.size());
        let m = self.turn;
        let around = m.x_axis.abs() * half.x + m.y_axis.abs() * half.y + m.z_axis.abs() * half.z;
        Bounds { min: center - around, max: center + around }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(shape: &ColliderShape, mesh: Option<&TriMesh>) -> Result<Collider, ColliderError> {
        Collider::new("thing", shape, mesh, Vec3::ONE)
    }

    #[test]
    fn shapes_without_an_inside_are_refused_with_the_reason() {
        let says = |result: Result<Collider, ColliderError>, words: &str| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("'thing'"), "{error}");
        };
        says(build(&ColliderShape::Sphere { radius: 0.0 }, None), "radius is 0");
        says(build(&ColliderShape::Sphere { radius: f64::NAN }, None), "NaN");
        says(build(&ColliderShape::Box { size: [1.0, -1.0, 1.0] }, None), "size is -1");
        says(build(&ColliderShape::Capsule { radius: 1.0, length: f64::INFINITY }, None), "length");
        says(build(&ColliderShape::Mesh { parts: 8 }, None), "needs a mesh");
        let stretched = Collider::new(
            "thing",
            &ColliderShape::Sphere { radius: 1.0 },
            None,
            Vec3::new(1.0, 2.0, 1.0),
        );
        says(stretched, "round");
        let mut mesh = shapes::cuboid(Vec3::ONE);
        mesh.triangles.pop();
        says(build(&ColliderShape::Mesh { parts: 8 }, Some(&mesh)), "open");
        mesh.positions[3].x = f32::NAN;
        says(build(&ColliderShape::Convex, Some(&mesh)), "vertex 3");
        #[cfg(feature = "rigid")]
        says(build(&ColliderShape::Convex, Some(&shapes::plane())), "no volume");
    }

    #[test]
    fn drawn_shapes_lie_on_their_solids() {
        let shapes = [
            ColliderShape::Sphere { radius: 0.7 },
            ColliderShape::Capsule { radius: 0.3, length: 2.0 },
            ColliderShape::Box { size: [1.0, 2.0, 3.0] },
        ];
        for shape in shapes {
            let collider = Collider::new("thing", &shape, None, Vec3::splat(2.0)).unwrap();
            for x in &collider.mesh.positions {
                let distance = collider.parts[0].probe(*x, Vec3::ZERO).distance;
                assert!(distance.abs() < 1e-5, "{shape:?}: {distance}");
            }
            let topology =
                topology(collider.mesh.positions.len(), &collider.mesh.triangles, &Run::default());
            assert!(topology.is_closed() && topology.is_oriented(), "{shape:?}");
        }
    }

    #[test]
    fn places_compose() {
        let a = Isometry { rotation: Quat::from_rotation_x(0.4), translation: Vec3::X };
        let b = Isometry { rotation: Quat::from_rotation_z(-1.1), translation: Vec3::Y };
        let x = Vec3::new(0.3, -0.2, 0.9);
        assert!(a.then(&b).to_world(x).abs_diff_eq(b.to_world(a.to_world(x)), 1e-6), "composed");
        assert!(a.inverse().to_world(a.to_world(x)).abs_diff_eq(x, 1e-6), "there and back");
        assert!(a.to_local(a.to_world(x)).abs_diff_eq(x, 1e-6), "there and back");
        assert!(a.frame().to_local(x).abs_diff_eq(a.to_local(x), 1e-6), "the same space");
    }
}

//! What a blend must not enter.

use glam::{DQuat, DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::Error;
use crate::Run;
use crate::contact::collider::Solid as Convex;
use crate::mesh::bvh::Bvh;
use crate::mesh::measure::Bounds;
use crate::mesh::normals::vertex_normals;
use crate::mesh::volume;
use crate::mesh::winding::Winding;

/// A solid.
#[derive(Clone, Debug)]
pub enum Solid {
    /// A ball about the origin.
    Ball {
        /// Radius.
        radius: f64,
    },
    /// A cylinder without ends along an axis through the origin.
    Cylinder {
        /// Direction of the axis; of any length but none.
        axis: DVec3,
        /// Radius.
        radius: f64,
    },
    /// All that is behind a plane through the origin.
    HalfSpace {
        /// Normal, which points out.
        normal: DVec3,
    },
    /// Convex parts, together.
    Parts(Vec<Convex>),
    /// A closed mesh.
    Mesh(Box<MeshSolid>),
}

/// A closed mesh as a solid.
#[derive(Clone, Debug)]
pub struct MeshSolid {
    winding: Winding,
    triangles: Vec<[u32; 3]>,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    thickness: f64,
}

/// Where a solid is: `x ↦ turn x + at`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Rotation.
    pub turn: DQuat,
    /// Where its origin is.
    pub at: DVec3,
}

impl Default for Pose {
    fn default() -> Self {
        Self { turn: DQuat::IDENTITY, at: DVec3::ZERO }
    }
}

/// A solid that stands still or moves during a solve.
#[derive(Clone, Debug)]
pub struct Obstacle {
    /// What it is.
    pub solid: Solid,
    /// Where it was at the last solve, and where it is now.
    pub poses: [Pose; 2],
}

/// The nearest point of a surface: how far outside a point is, and which way is out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Probe {
    pub(super) distance: f64,
    pub(super) normal: DVec3,
}

impl Solid {
    /// A closed mesh, its triangles seen counter-clockwise from outside.
    ///
    /// # Errors
    ///
    /// [`Error::ObstacleEmpty`], [`Error::ObstacleInsideOut`].
    pub fn mesh(positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> Result<Self, Error> {
        let size = Bounds::of(positions).map_or(Vec3::ZERO, |b| b.size());
        if triangles.is_empty() || !size.is_finite() {
            return Err(Error::ObstacleEmpty);
        }
        if volume::volume(positions, triangles, run) < 0.0 {
            return Err(Error::ObstacleInsideOut);
        }
        let bvh = Bvh::new(positions, triangles, run);
        Ok(Self::Mesh(Box::new(MeshSolid {
            winding: Winding::with_bvh(bvh, run),
            triangles: triangles.to_vec(),
            normals: vertex_normals(positions, triangles, run),
            positions: positions.to_vec(),
            thickness: f64::from(size.min_element()),
        })))
    }

    /// How far it may move at once: half of how thick it is.
    fn reach(&self) -> f64 {
        match self {
            Self::Ball { radius } | Self::Cylinder { radius, .. } => 0.5 * radius,
            Self::HalfSpace { .. } => f64::INFINITY,
            Self::Parts(parts) => {
                let boxes = parts.iter().filter_map(Convex::bounds);
                let thinnest = boxes.map(|b| f64::from(b.size().min_element()));
                0.25 * thinnest.fold(f64::INFINITY, f64::min)
            }
            Self::Mesh(mesh) => 0.25 * mesh.thickness,
        }
    }

    /// The nearest point of the surface to a point in its own frame; `None` where a mesh is far away.
    fn probe(&self, x: DVec3) -> Option<Probe> {
        let round = |away: DVec3, radius: f64| {
            let size = away.length_squared().sqrt();
            let normal = if size > 0.0 { away / size } else { DVec3::X };
            Some(Probe { distance: size - radius, normal })
        };
        match self {
            Self::Ball { radius } => round(x, *radius),
            Self::Cylinder { axis, radius } => {
                let axis = axis.normalize_or_zero();
                round(x - axis.dot(x) * axis, *radius)
            }
            Self::HalfSpace { normal } => {
                let normal = normal.normalize_or_zero();
                Some(Probe { distance: normal.dot(x), normal })
            }
            Self::Parts(parts) => {
                let probes = parts.iter().map(|part| part.probe(x.as_vec3(), Vec3::ZERO));
                let nearest = probes.min_by(|a, b| a.distance.total_cmp(&b.distance))?;
                let normal = nearest.normal.as_dvec3();
                Some(Probe { distance: f64::from(nearest.distance), normal })
            }
            Self::Mesh(mesh) => mesh.probe(x),
        }
    }
}

impl MeshSolid {
    fn probe(&self, x: DVec3) -> Option<Probe> {
        let point = x.as_vec3();
        let bounds = self.winding.bvh().bounds()?;
        let near = bounds.grown(0.25 * bounds.diagonal());
        if point.cmplt(near.min).any() || point.cmpgt(near.max).any() {
            return None;
        }
        let closest = self.winding.bvh().closest_point(point)?;
        let is_inside = self.winding.inside(point);
        let away = (x - closest.point.as_dvec3()) * if is_inside { -1.0 } else { 1.0 };
        let distance = away.length_squared().sqrt();
        // On the surface itself the way to it has no direction: the normal does.
        let corners = self.triangles[closest.triangle as usize];
        let flat: DVec3 = corners.iter().map(|&v| self.normals[v as usize].as_dvec3()).sum();
        let small = 1e-6 * f64::from(bounds.diagonal());
        let normal = if distance > small { away / distance } else { flat.normalize_or_zero() };
        debug_assert!(self.positions.len() >= 3, "a mesh has corners");
        Some(Probe { distance: if is_inside { -distance } else { distance }, normal })
    }
}

impl Obstacle {
    /// One that stands still.
    #[must_use]
    pub fn still(solid: Solid, pose: Pose) -> Self {
        Self { solid, poses: [pose; 2] }
    }

    pub(super) fn moves(&self) -> bool {
        self.poses[0] != self.poses[1]
    }

    /// Solves into which its motion is cut, so that none moves it by more than half its thickness.
    pub(super) fn sub_steps(&self) -> usize {
        let way = (self.poses[1].at - self.poses[0].at).length_squared().sqrt();
        let turn = self.poses[0].turn.angle_between(self.poses[1].turn) / 0.2;
        (way / self.solid.reach()).max(turn).ceil().clamp(1.0, 1000.0) as usize
    }

    /// The nearest point of its surface, part of its way on.
    pub(super) fn probe(&self, x: DVec3, part: f64) -> Option<Probe> {
        let turn = self.poses[0].turn.slerp(self.poses[1].turn, part);
        let at = self.poses[0].at.lerp(self.poses[1].at, part);
        let found = self.solid.probe(turn.inverse() * (x - at))?;
        Some(Probe { normal: turn * found.normal, ..found })
    }
}

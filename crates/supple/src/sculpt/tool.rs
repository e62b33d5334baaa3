//! Tools, what protects from them, and mirrors.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{
    Problem, check_fade, check_list, check_point, check_positive, check_share, direction,
};
use super::stamp::ToolShape;
use crate::Run;
use crate::field::smooth_distance::{CurveDistance, PointsDistance};
use crate::field::solid::SolidDistance;
use crate::field::{Fade, Field, Generator, Influence, Region, RigidMotion};
use crate::mesh::measure::Bounds;

/// The shape of a tool, about its centre.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// Radii are distances from the centre.
    #[default]
    Sphere,
    /// Radii are distances from a segment.
    Capsule {
        /// From the centre to one end of the segment; the other end is opposite.
        #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
        half: Vec3,
    },
    /// Radii are distances from an axis-aligned box; everything in the box follows.
    Box {
        /// From the centre to a corner.
        #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
        half: Vec3,
    },
    /// Radii are heights above a plane through the centre; everything below it follows.
    Plane {
        /// Its normal, of any length: from what follows to what stays.
        #[schemars(with = "[f32; 3]")]
        normal: Vec3,
    },
    /// Radii are smooth distances from a curve, however densely it is drawn.
    Curve {
        /// Its corners, from the centre; at least two.
        #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
        points: Vec<Vec3>,
        /// Whether it returns to the first. Not by default.
        #[serde(default)]
        closed: bool,
    },
    /// Radii are smooth distances from a few points, as printed: each one more makes the tool larger.
    Points {
        /// They, from the centre; at least one.
        #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
        points: Vec<Vec3>,
    },
    /// Radii are smooth distances from a closed mesh; everything in it follows.
    Solid {
        /// The mesh, about the centre.
        mesh: ToolShape,
        /// How much larger it is made. 1 by default.
        #[serde(default = "unscaled")]
        scale: f32,
    },
}

fn unscaled() -> f32 {
    1.0
}

impl Tool {
    /// The region of the tool at a centre, for a fade that begins at `inner`.
    pub(super) fn region(&self, center: Vec3, inner: f32) -> Result<Region, Problem> {
        let at = |points: &[Vec3]| points.iter().map(|&p| center + p).collect::<Vec<Vec3>>();
        Ok(match self {
            Self::Sphere => Region::Point(center),
            Self::Capsule { half } => Region::Segment([center - *half, center + *half]),
            Self::Box { half } => {
                let half = half.abs();
                Region::Box(Bounds { min: center - half, max: center + half })
            }
            Self::Plane { normal } => {
                let normal = direction("the normal of the plane", *normal)?;
                Region::Plane { origin: center, normal }
            }
            Self::Curve { points, closed } => {
                check_list("the curve of the tool", points, 2)?;
                Region::Curve(CurveDistance::new(at(points), *closed))
            }
            Self::Points { points } => {
                check_list("the points of the tool", points, 1)?;
                Region::Points(PointsDistance::new(at(points)))
            }
            Self::Solid { mesh, scale } => {
                check_positive("the scale of the tool", *scale)?;
                let (positions, triangles) = mesh.loaded()?;
                let placed: Vec<Vec3> = positions.iter().map(|&p| center + *scale * p).collect();
                let solid = SolidDistance::new(&placed, triangles, inner);
                Region::Solid(solid.map_err(|fine| Problem::InTheSolid { least: fine.least })?)
            }
        })
    }

    /// Where it has its middle, from the centre: what it moves turns about it.
    pub(super) fn middle(&self) -> Vec3 {
        match self {
            Self::Curve { points, .. } | Self::Points { points } => {
                points.iter().sum::<Vec3>() / points.len().max(1) as f32
            }
            _ => Vec3::ZERO,
        }
    }

    /// The mesh it is made of, if it is.
    pub(super) fn mesh_mut(&mut self) -> Option<&mut ToolShape> {
        if let Self::Solid { mesh, .. } = self { Some(mesh) } else { None }
    }

    /// Checks it as far as it can be without its mesh.
    pub(super) fn check(&self) -> Result<(), Problem> {
        match self {
            Self::Solid { mesh, scale } => {
                check_positive("the scale of the tool", *scale)?;
                mesh.check(&Run::default())
            }
            _ => Ok(()),
        }
    }
}

/// A place that an edit must leave alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Keep {
    /// Middle of the place.
    #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
    pub center: Vec3,
    /// Its shape. A sphere by default.
    pub tool: Tool,
    /// Up to this distance nothing moves. 0.5 by default.
    #[schemars(extend("unit" = "m"))]
    pub inner: f32,
    /// From this distance the edit acts in full. 1 by default.
    #[schemars(extend("unit" = "m"))]
    pub outer: f32,
}

impl Default for Keep {
    fn default() -> Self {
        Self { center: Vec3::ZERO, tool: Tool::Sphere, inner: 0.5, outer: 1.0 }
    }
}

impl Keep {
    pub(super) fn fade(&self) -> Result<Fade, Problem> {
        check_fade(self.inner, self.outer)?;
        check_point("the centre of what is kept", self.center)?;
        let region = self.tool.region(self.center, self.inner)?;
        Ok(Fade { region, motion: RigidMotion::Still, inner: self.inner, outer: self.outer })
    }
}

/// A plane on whose other side the mirror image of an edit happens at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mirror {
    /// A point of the plane. The origin by default.
    #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
    pub origin: Vec3,
    /// Its normal, of any length. The x axis by default.
    #[schemars(with = "[f32; 3]")]
    pub normal: Vec3,
}

impl Default for Mirror {
    fn default() -> Self {
        Self { origin: Vec3::ZERO, normal: Vec3::X }
    }
}

/// What dragged tools have in common.
pub(super) struct Drag<'a> {
    pub(super) region: Region,
    pub(super) center: Vec3,
    pub(super) inner: f32,
    pub(super) outer: f32,
    pub(super) lateral: f32,
    pub(super) keep: &'a [Keep],
    pub(super) mirror: Option<Mirror>,
}

impl Drag<'_> {
    /// The tool moving with a velocity; with its mirror image, if there is one.
    pub(super) fn fields(
        &self,
        velocity: Vec3,
        motion: RigidMotion,
    ) -> Result<Vec<Field>, Problem> {
        check_fade(self.inner, self.outer)?;
        check_share("the share of the sideways flow", self.lateral)?;
        let fade =
            Fade { region: self.region.clone(), motion, inner: self.inner, outer: self.outer };
        let generator = Generator::translation(self.center, velocity);
        let mut field = Field::new(Influence::Fade(fade), generator, motion);
        field.lateral = self.lateral;
        for keep in self.keep {
            field.masks.push(keep.fade()?);
        }
        let Some(mirror) = self.mirror else { return Ok(vec![field]) };
        let normal = direction("the mirror's normal", mirror.normal)?;
        let image = field.mirrored(mirror.origin, normal);
        Ok(std::iter::once(field).chain(image).collect())
    }
}

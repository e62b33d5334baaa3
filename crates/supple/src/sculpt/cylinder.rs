//! The cylinder that limits a twist or a bend to one part of a shape.
//!
//! Who is inside is decided once, on the shape before the edit. Where an edge leads out of the cylinder
//! and its inner end moves, the mesh would tear: that is an error.

use glam::{DVec3, Vec3};

use super::error::Problem;

/// Points nearer than `radius` to the line through `center` along the unit `axis`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cylinder {
    pub(super) center: DVec3,
    pub(super) axis: DVec3,
    /// No limit if there is none.
    pub(super) radius: Option<f32>,
}

impl Cylinder {
    pub(super) fn contains(&self, x: Vec3) -> bool {
        let Some(radius) = self.radius else { return true };
        let xi = x.as_dvec3() - self.center;
        xi.cross(self.axis).length() <= f64::from(radius)
    }

    /// Fails if an edge between a point that moved and one outside exists.
    pub(super) fn check(
        &self,
        rest: &[Vec3],
        moved: &[Vec3],
        triangles: &[[u32; 3]],
    ) -> Result<(), Problem> {
        let Some(radius) = self.radius else { return Ok(()) };
        let leaves = |[inside, outside]: &[u32; 2]| {
            let inside = *inside as usize;
            rest[inside] != moved[inside] && !self.contains(rest[*outside as usize])
        };
        let edges = triangles
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, a], [b, c], [c, b], [c, a], [a, c]]);
        if let Some([inside, outside]) = edges.into_iter().find(leaves) {
            return Err(Problem::CrossesTheCylinder { radius, inside, outside });
        }
        Ok(())
    }
}

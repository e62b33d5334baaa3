//! Point clouds: vertices without triangles.

use glam::Vec3;

use super::Attributes;

/// Points with named attributes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointCloud {
    /// Name in the file, or empty.
    pub name: String,
    /// Where the points are.
    pub positions: Vec<Vec3>,
    /// One value a point each.
    pub attributes: Attributes,
}

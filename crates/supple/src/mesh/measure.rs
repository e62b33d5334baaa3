//! Bounds and area.

use glam::Vec3;

use crate::Run;

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Smallest coordinates.
    pub min: Vec3,
    /// Largest coordinates.
    pub max: Vec3,
}

impl Bounds {
    /// The smallest box around the points; `None` if there are none.
    #[must_use]
    pub fn of(points: &[Vec3]) -> Option<Self> {
        let first = *points.first()?;
        let grow = |b: Self, &p: &Vec3| Self { min: b.min.min(p), max: b.max.max(p) };
        Some(points.iter().fold(Self { min: first, max: first }, grow))
    }

    /// Middle of the box.
    #[must_use]
    pub fn center(&self) -> Vec3 {
        0.5 * (self.min + self.max)
    }

    /// Edge lengths.
    #[must_use]
    pub fn size(&self) -> Vec3 {
        self.max - self.min
    }

    /// Length of the diagonal.
    #[must_use]
    pub fn diagonal(&self) -> f32 {
        self.size().length()
    }
}

/// Surface area.
#[must_use]
pub fn area(positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) -> f64 {
    let twice = run.sum(triangles.len(), |t| {
        let [a, b, c] = triangles[t].map(|i| positions[i as usize].as_dvec3());
        (b - a).cross(c - a).length()
    });
    0.5 * twice
}

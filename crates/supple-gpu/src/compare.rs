//! Before and after: the same camera, and what changed as colour.

use glam::Vec3;

use crate::camera::Framing;
use crate::colormap::Colormap;
use crate::picture::Image;
use crate::renderer::{RenderError, Renderer};
use crate::sheet::side_by_side;
use crate::view::{Body, Field, View, aspect, legend_room};

/// Why two shapes cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// They have no vertices in common.
    #[error(
        "cannot compare shapes of {before} and {after} vertices: the same vertices in the same order are needed"
    )]
    DifferentVertices {
        /// Vertices before.
        before: usize,
        /// Vertices after.
        after: usize,
    },
    /// A picture could not be taken.
    #[error(transparent)]
    Render(#[from] RenderError),
}

/// How far each vertex moved, in the scene.
///
/// # Errors
///
/// [`CompareError::DifferentVertices`] if the bodies do not have the same number of vertices.
pub fn displacement(before: &Body<'_>, after: &Body<'_>) -> Result<Vec<f32>, CompareError> {
    let (p, q) = (before.placed(), after.placed());
    if p.len() != q.len() {
        return Err(CompareError::DifferentVertices { before: p.len(), after: q.len() });
    }
    Ok(p.iter().zip(&q).map(|(a, b)| a.distance(*b)).collect())
}

/// How two bodies are compared.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// Width and height of one panel, in pixels.
    pub panel: [u32; 2],
    /// Which way is up.
    pub up: Vec3,
    /// From the subject to the camera; `None` for a three-quarter view.
    pub direction: Option<Vec3>,
}

impl Default for Comparison {
    fn default() -> Self {
        Self { panel: [640, 720], up: Vec3::Y, direction: None }
    }
}

/// Two panels from the same camera: before, and after with how far each vertex moved as colour.
///
/// # Errors
///
/// If the bodies do not have the same vertices, or a picture cannot be taken.
pub fn before_after(
    renderer: &mut Renderer,
    before: &Body<'_>,
    after: &Body<'_>,
    how: &Comparison,
) -> Result<Image, CompareError> {
    let moved = displacement(before, after)?;
    let ratio = aspect(how.panel);
    let mut framing = match how.direction {
        Some(direction) => Framing::new(direction, how.up, ratio),
        None => Framing::three_quarter(how.up, ratio),
    };
    framing = framing.with_room(legend_room(how.panel));
    let (p, q) = (before.placed(), after.placed());
    framing.add(&p);
    framing.add(&q);
    let up = how.up.try_normalize().unwrap_or(Vec3::Y);
    let floor = p.iter().chain(&q).map(|x| x.dot(up)).fold(f32::INFINITY, f32::min);
    let panel = |body: Body<'_>, renderer: &mut Renderer| {
        let floor = floor.is_finite().then_some(floor);
        renderer.render(&View {
            bodies: vec![body],
            floor,
            ..View::through(framing.camera(), how.panel)
        })
    };
    let field = Field { colormap: Some(Colormap::Heat), ..Field::new("moved by", &moved) };
    let left = panel(before.clone(), renderer)?;
    let right = panel(Body { field: Some(field), ..after.clone() }, renderer)?;
    Ok(side_by_side(&[("before", &left), ("after", &right)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple::TriMesh;

    #[test]
    fn displacement_is_measured_in_the_scene() {
        let mesh = TriMesh::new(vec![Vec3::ZERO, Vec3::X], vec![]);
        let moved = [Vec3::Y, Vec3::X];
        let transform = glam::Mat4::from_scale(Vec3::splat(3.0));
        let before = Body { transform, ..Body::new(&mesh) };
        let after = Body { positions: Some(&moved), ..before.clone() };
        assert_eq!(displacement(&before, &after).unwrap(), [3.0, 0.0]);
        let other = TriMesh::default();
        assert!(displacement(&before, &Body::new(&other)).is_err(), "no vertices in common");
    }
}
